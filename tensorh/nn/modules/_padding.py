"""Paddings of a convolution that its row does not take: 'same', 'valid', modes beside zeros."""

from operator import index

from ... import _C

WORDS = ("same", "valid")
MODES = ("zeros", "reflect", "replicate", "circular")


def _each(value, dims):
    """A number for each dimension; others where a row refuses what was given."""
    value = (value,) if hasattr(value, "__index__") else value
    try:
        value = tuple(map(index, value))
    except TypeError:
        return ()
    return value * dims if len(value) == 1 else value


def _sides(padding, kernel, dilation, dims):
    """(left, right) of each dimension; what is odd of 'same' is on the right."""
    if padding == "valid":
        return [(0, 0)] * dims
    if padding != "same":
        return [(p, p) for p in _each(padding, dims)]
    each = zip(_each(kernel, dims), _each(dilation, dims), strict=False)
    totals = [d * (k - 1) for k, d in each]
    return [(total // 2, total - total // 2) for total in totals]


def _check_word(padding, stride, error):
    if isinstance(padding, str) and padding not in WORDS:
        words = ", ".join(map(repr, WORDS))
        raise error(f"Invalid padding string {padding!r}, should be one of {{{words}}}")
    if padding == "same" and any(s != 1 for s in _each(stride, 1)):
        raise error("padding='same' is not supported for strided convolutions")


def _check_mode(mode, error):
    if mode not in MODES:
        modes = ", ".join(map(repr, MODES))
        raise error(f"padding_mode must be one of {{{modes}}}, but got padding_mode={mode!r}")


def _padded(input, sides, mode):
    """The input with elements of its own around it."""
    return _C.pad(input, [n for side in reversed(sides) for n in side], mode)


# --- what Conv1d, Conv2d and Conv3d have beside their rows ----------------------------------------


def check_groups(given):
    """Refuses groups that do not divide the channels."""
    groups = given.get("groups", 1)
    if type(groups) is not int:
        return
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    for name in ("in_channels", "out_channels"):
        if type(given.get(name)) is int and given[name] % groups:
            raise ValueError(f"{name} must be divisible by groups")


def init_transposed(self, *args, **kwargs):
    """As the row's, of a transposed convolution."""
    given = {**dict(zip(self._options, args, strict=False)), **kwargs}
    if given.get("padding_mode", "zeros") != "zeros":
        kind = next(cls for cls in type(self).__mro__ if "_row" in cls.__dict__).__name__
        raise ValueError(f'Only "zeros" padding mode is supported for {kind}')
    check_groups(given)
    self._row_init(*args, **kwargs)


def _init(self, *args, **kwargs):
    """As the row's, which is given 0 and 'zeros' where it does not take what was given."""
    given = {**dict(zip(self._options, args, strict=False)), **kwargs}
    padding, mode = given.get("padding", 0), given.get("padding_mode", "zeros")
    _check_mode(mode, ValueError)
    check_groups(given)
    for_row = {"padding_mode": "zeros"}
    if isinstance(padding, str):
        for_row["padding"] = 0
        _check_word(padding, given.get("stride", 1), ValueError)
    names = [*self._options, *[None] * len(args)]
    args = [for_row.get(name, a) for name, a in zip(names, args, strict=False)]
    self._row_init(*args, **{name: for_row.get(name, a) for name, a in kwargs.items()})
    if isinstance(padding, str):
        self.padding = padding
    self.padding_mode = mode


def _conv_forward(self, input, weight, bias):
    """forward with another weight and bias."""
    padding, mode = self.padding, self.padding_mode
    _check_mode(mode, NotImplementedError)
    _check_word(padding, 1, RuntimeError)
    dims = self.weight.dim() - 2
    sides = _sides(padding, self.kernel_size, self.dilation, dims)
    picture = isinstance(input, _C.Tensor) and input.dim() in (dims + 1, dims + 2)
    if mode != "zeros" and picture and len(sides) == dims:  # else the row refuses in its own words
        input, padding = _padded(input, sides, mode), 0
    others = (self.stride, padding, self.dilation, self.groups)
    return getattr(_C, f"conv{dims}d")(input, weight, bias, *others)


def _forward(self, input):
    return self._conv_forward(input, self.weight, self.bias)


def _otherwise(self, *args, **kwargs):
    """forward where padding or its mode is none of the row's."""
    if not isinstance(self.padding, str) and self.padding_mode == "zeros":
        return NotImplemented
    return _forward(self, *args, **kwargs)


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


CONV = {
    "__init__": _init,
    "_conv_forward": _conv_forward,
    "_otherwise": _otherwise,
    "reset_parameters": _reset,
}
