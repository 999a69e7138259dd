"""Paddings of a convolution that its row does not take: 'same', 'valid', modes beside zeros."""

from ... import _C

MODES = ("zeros", "reflect", "replicate", "circular")


def _each(value):
    """One number for each of the two dimensions."""
    value = (value,) if isinstance(value, int) else tuple(value)
    return value * 2 if len(value) == 1 else value


def _sides(padding, kernel, dilation):
    """(left, right) of each dimension; what is odd of 'same' is on the right."""
    if padding == "valid":
        return [(0, 0)] * len(kernel)
    if padding != "same":
        return [(p, p) for p in _each(padding)]
    totals = [d * (k - 1) for k, d in zip(kernel, _each(dilation), strict=True)]
    return [(total // 2, total - total // 2) for total in totals]


def conv2d(input, weight, bias=None, stride=1, padding="same", dilation=1, groups=1):
    """A convolution whose padding is a word."""
    if padding not in ("same", "valid"):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if padding == "same" and any(s != 1 for s in _each(stride)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    sides = _sides(padding, weight.shape[-2:], dilation)
    row = _C._row("conv2d")
    y = row(input, weight, bias, stride, [right for _, right in sides], dilation, groups)
    if all(left == right for left, right in sides):
        return y
    for dim, (left, right) in zip((-2, -1), sides, strict=True):
        y = y.narrow(dim, right - left, y.shape[dim] - (right - left))
    return y.contiguous()


def _check(input, dim, left, right, mode):
    n = input.shape[dim]
    if mode == "reflect" and max(left, right) >= n:
        raise RuntimeError(
            "Padding size should be less than the corresponding input dimension, but got: padding "
            f"({left}, {right}) at dimension {dim % input.ndim} of input {list(input.shape)}"
        )
    if mode == "circular" and max(left, right) > n:
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if not n:
        raise RuntimeError(f"{mode}: dimension {dim % input.ndim} of the input has no elements")


def _padded(input, sides, mode):
    """The input with elements of its own around it."""
    for dim, (left, right) in zip((-2, -1), sides, strict=True):
        if not left and not right:
            continue
        _check(input, dim, left, right, mode)
        last = input.shape[dim] - 1
        at = _C.arange(-left, last + 1 + right, device=input.device)
        if mode == "reflect":
            at = last - (last - at.abs()).abs()
        else:
            at = at.clamp(0, last) if mode == "replicate" else at % (last + 1)
        input = input.index_select(dim, at)
    return input


# --- what Conv2d has beside its row ---------------------------------------------------------------


def _init(self, *args, **kwargs):
    given = {**dict(zip(self._options, args, strict=False)), **kwargs}
    padding, mode = given.get("padding", 0), given.get("padding_mode", "zeros")
    if isinstance(mode, str) and mode not in MODES:
        modes = ", ".join(map(repr, MODES))
        raise ValueError(f"padding_mode must be one of {{{modes}}}, but got padding_mode='{mode}'")
    if not isinstance(padding, str) and mode == "zeros":
        return self._row_init(*args, **kwargs)
    if isinstance(padding, str) and padding not in ("same", "valid"):
        raise ValueError(
            f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}"
        )
    if padding == "same" and any(s != 1 for s in _each(given.get("stride", 1))):
        raise ValueError("padding='same' is not supported for strided convolutions")
    given["padding_mode"] = "zeros"
    if isinstance(padding, str):
        given["padding"] = 0
    self._row_init(**given)
    if isinstance(padding, str):
        self.padding = padding
    self.padding_mode = mode


def _otherwise(self, input):
    """forward where padding or its mode is none of the row's."""
    if not isinstance(self.padding, str) and self.padding_mode == "zeros":
        return NotImplemented
    padding = self.padding
    if self.padding_mode != "zeros":
        sides = _sides(padding, _each(self.kernel_size), self.dilation)
        input, padding = _padded(input, sides, self.padding_mode), 0
    others = (self.stride, padding, self.dilation, self.groups)
    return _C.conv2d(input, self.weight, self.bias, *others)


def _reset(self):
    """Draws initial values again."""
    padding, mode = self.padding, self.padding_mode
    if not isinstance(padding, str) and mode == "zeros":
        return self._row_reset()
    self.padding, self.padding_mode = 0, "zeros"
    try:
        self._row_reset()
    finally:
        self.padding, self.padding_mode = padding, mode


CONV = {"__init__": _init, "reset_parameters": _reset, "_otherwise": _otherwise}
