"""New tensors."""

from math import isfinite as _isfinite
from operator import index as _index
from warnings import warn as _warn

from .. import _C
from .._C import Tensor
from ._casts import wide
from ._marks import function, method
from ._out import with_out, written
from .dtypes import _scalar_type, finfo, iinfo
from .shapes import broadcast_tensors


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    """A 0-dim tensor of the default dtype."""
    dtype, device = dtype or _C.get_default_dtype(), _C._device_or_default(device)
    return _C.full((), s, dtype=dtype, device=device, requires_grad=requires_grad)


@with_out
def range_(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """start, start + step, .. to end, which belongs to it."""
    _warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        stacklevel=3,
    )
    if end is None:
        start, end = 0, start
    for name, x in ("start", start), ("end", end), ("step", step):
        if not hasattr(x, "__float__"):
            kind = type(x).__name__
            raise TypeError(f"range(): argument '{name}' must be Number, not {kind}")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not _isfinite(start) or not _isfinite(end):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is not None and (dtype is _C.bool or dtype.is_complex):
        kind = _scalar_type(dtype)
        raise NotImplementedError(f"\"range_cpu\" not implemented for '{kind}'")
    n = int((end - start) / step) + 1
    r = _C.arange(n, dtype=_C.float64) * step + start
    r = r.to(device=device, dtype=dtype or _C.get_default_dtype())
    return r.requires_grad_() if requires_grad else r


def empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False):
    """Not initialised, of that size and stride."""
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    n = 1 + sum((a - 1) * b for a, b in zip(size, stride, strict=True)) if 0 not in size else 0
    device = _C._device_or_default(device)
    r = _C.empty(n, dtype=dtype, device=device).as_strided(size, stride)
    return r.requires_grad_() if requires_grad else r


@function
def complex(real: Tensor, imag: Tensor, *, out=None):
    """The complex tensor of two real ones."""
    _check_parts(real, imag)
    r = _C.view_as_complex(_C.stack(_alike(real, imag), -1).contiguous())
    if out is not None and isinstance(out, Tensor) and out.dtype is not r.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {_scalar_type(r.dtype)} but got scalar type "
            f"{_scalar_type(out.dtype)} for argument 'out'"
        )
    return r if out is None else written(out, r, "complex")


def _check_parts(a, b):
    one, two = _scalar_type(a.dtype), _scalar_type(b.dtype)
    if a.dtype not in (_C.float32, _C.float64) or not b.dtype.is_floating_point:
        raise NotImplementedError(
            f"Expected both inputs to be Half, Float or Double tensors but got {one} and {two}"
        )
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {one} but got scalar type {two} for second argument"
        )


def _alike(*tensors):
    return list(broadcast_tensors(*tensors))


@function
@with_out
def polar(abs: Tensor, angle: Tensor):
    """abs * exp(i angle)."""
    abs, angle = wide(abs, angle)
    _check_parts(abs, angle)
    return complex(abs * angle.cos(), abs * angle.sin())


@function
def vander(x: Tensor, N=None, increasing=False):
    """Powers of x as columns."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.numel() if N is None else N
    if not hasattr(n, "__index__"):
        kind = type(n).__name__
        raise TypeError(f"vander(): argument 'N' (position 2) must be int, not {kind}")
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    ends = (0, n, 1) if increasing else (n - 1, -1, -1)
    powers = _C.arange(*ends, device=x.device)
    return x.unsqueeze(-1) ** powers


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """obj as a tensor, over the same memory where that is possible."""
    if type(obj).__name__ == "PyCapsule":
        obj = _C.from_dlpack(obj)
    if isinstance(obj, Tensor):
        r = obj.detach() if requires_grad is False and obj.requires_grad else obj
    elif not isinstance(obj, (bool, int, float, list, tuple)) and hasattr(obj, "__dlpack__"):
        over = _C.from_numpy if copy is False else _C.as_tensor  # that copies what is not aligned
        r = over(obj) if _is_buffer(obj) else _C.from_dlpack(obj)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        r = _C.frombuffer(obj, dtype=dtype or _C.from_numpy(memoryview(obj)).dtype)
    else:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        r = _C.as_tensor(obj, dtype=dtype)
    given, device = r, device if copy is False else _C._device_or_default(device)
    if dtype is not None or device is not None:
        r = r.to(device=r.device if device is None else device, dtype=dtype or r.dtype)
    if copy is False and r is not given:
        was, now = _scalar_type(given.dtype), _scalar_type(r.dtype)
        if was != now:
            raise ValueError(f"can't alias tensor with dtype '{was}' into dtype '{now}'.")
        raise ValueError(f"can't alias tensor from device '{given.device}' to '{r.device}'.")
    if copy and r is given:
        r = r.clone()
    return r.requires_grad_() if requires_grad and not r.requires_grad else r


def _is_buffer(obj):
    try:
        memoryview(obj)
    except (TypeError, ValueError, BufferError):
        return False
    return True


@function
def normal(
    mean, std=1.0, size=None, *, generator=None, dtype=None, device=None, out=None, layout=None,
    pin_memory=False, requires_grad=False,
):  # fmt: skip
    """Normal random numbers of that mean and standard deviation, which may be tensors."""
    if size is not None:
        r = _C.empty(size, dtype=dtype, device=device).normal_(mean, std, generator=generator)
    elif not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        raise TypeError("normal(): argument 'size' is required if mean and std are numbers")
    elif not all(hasattr(x, "__float__") for x in (mean, std)):
        raise TypeError("normal(): arguments 'mean' and 'std' must be Tensor or float")
    else:
        a, b = _alike(_tensor_of(mean, std), _tensor_of(std, mean))
        if b.is_complex():
            if isinstance(std, Tensor):
                raise RuntimeError("normal expects standard deviation to be non-complex")
        elif not (b >= 0).all():
            raise RuntimeError("normal expects all elements of std >= 0.0")
        r = _C.empty(a.shape, dtype=a.dtype).normal_(generator=generator) * b + a
        r = r.to(a.dtype)
    r = r if out is None else written(out, r, "normal")
    return r.requires_grad_() if requires_grad else r


def _tensor_of(x, like):
    return x if isinstance(x, Tensor) else _C.tensor(float(x), dtype=like.dtype)


@function
def randint_like(
    input: Tensor, low=None, high=None, *, dtype=None, device=None, generator=None, layout=None,
    memory_format=_C.preserve_format, requires_grad=False,
):  # fmt: skip
    """Random integers in [low, high) of input's shape and dtype; one bound is the upper one."""
    if low is None and high is None:
        raise TypeError('randint_like() missing 1 required positional arguments: "high"')
    low, high = (0, low) if high is None else (low or 0, high)
    device = input.device if device is None else device
    r = _C.empty_like(input, dtype=dtype or input.dtype, device=device)
    if memory_format is not _C.preserve_format:
        r = r.contiguous(memory_format=memory_format)
    return r.random_(low, high, generator=generator).requires_grad_(requires_grad)


@method
def random_(self, *bounds, generator=None, **named):
    """Random integers in [from, to), in place; without to, up to the largest that the dtype holds
    (of floats: that it holds exactly)."""
    if not isinstance(self, Tensor) or not (bounds or named or self.is_complex()):
        return _C._row("random_")(self, generator=generator)
    low, high = (x if x is None else _index(x) for x in _bounds_of(*bounds, **named))
    if self.is_complex():
        raise NotImplementedError(f"random_() of {self.dtype}")
    least, most = _ends_of(self.dtype)
    if high is not None and low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    digits = _DIGITS.get(self.dtype)
    for name, at in ("from", low), ("to - 1", most if high is None else high - 1):
        if not least <= at <= most:
            raise RuntimeError(f"{name} is out of bounds for {self.dtype}")
        if digits is not None and abs(at) > 2**digits and not (name != "from" and high is None):
            _warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations"
                f" {self.dtype} can support discrete uniform distribution only within this range.",
                stacklevel=3,
            )
    full = low == -(2**63) and high is None
    if full:  # all 64 bits, as they are drawn
        high = 2**63
    elif digits is not None:
        low = _rounded(low, 1, self.dtype, digits)
        high = 2**digits + 1 if high is None else _rounded(high, -1, self.dtype, digits)
    elif high is None:
        high = most + 1
    shift = 0
    if high == 2**63:  # no int64: what begins at 0 or above is drawn lower and moved up
        shift = 2**62 if low >= 0 else 0
        low, high = low - shift, high - shift if shift else high - 1
    (lying,) = _as_it_lies(self)
    r = _C.randint(low, high, lying.shape, generator=generator, dtype=_C.int64, device=self.device)
    r = r ^ low if full else r
    return _filled("Random", self, r + shift if shift else r)


@method
def bernoulli_(self, p=0.5, *, generator=None):
    """1 with probability p, else 0, in place; a tensor p is drawn in its own dtype."""
    if not isinstance(p, Tensor):
        return _C._row("bernoulli_")(self, p, generator=generator)
    _, lying = _as_it_lies(self, p.expand(self.shape))
    return _filled("Bernoulli", self, _C.bernoulli(lying.contiguous(), generator=generator), p)


def _filled(name, self, drawn, *others):
    """self with the numbers drawn as it lies; self as it was, and others, get gradients of zero."""
    if not (_C.is_grad_enabled() and any(t.requires_grad for t in (self, *others))):
        _as_it_lies(self)[0].copy_(drawn)
        return self
    from ..autograd.function import Function

    def forward(ctx, self, drawn, *others):
        _as_it_lies(self)[0].copy_(drawn)
        ctx.mark_dirty(self)
        ctx.like = [None if t is None else (t.shape, t.dtype) for t in (self, None, *others)]
        return self

    def backward(ctx, g):
        return tuple(t and _C.zeros(t[0], dtype=t[1], device=g.device) for t in ctx.like)

    of = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (Function,), of).apply(self, drawn.detach(), *others)


def _as_it_lies(x, *others):
    """x with its dimensions as they lie in memory, in which order its random numbers are drawn, and
    others of its shape with theirs so."""
    order = sorted(range(x.dim()), key=lambda d: -x.stride(d))
    return [t.permute(order) for t in (x, *others)]


def _rounded(at, step, dtype, digits):
    """A bound of random_ as torch has it in a floating dtype: where its neighbour within (from + 1,
    to - 1) is rounded to a number without, a unit further in."""
    near = int(_C.tensor(at + step, dtype=_C.int64).to(dtype).item())
    if near < at if step > 0 else near >= at:
        return near + step * (1 << (abs(at + step).bit_length() - digits))
    return at


_DIGITS = {_C.float32: 24, _C.float64: 53, _C.float16: 11, _C.bfloat16: 8}


def _ends_of(dtype):
    if dtype.is_floating_point:
        return int(max(finfo(dtype).min, -(2**63))), int(min(finfo(dtype).max, 2**63 - 1))
    return (0, 1) if dtype is _C.bool else (iinfo(dtype).min, iinfo(dtype).max)


def _bounds_of(*bounds, **named):
    """(from, to) of what random_ is given: (), (to) or (from, to), by name, too; of (from, None)
    and () to is None."""
    if not bounds and not named:
        return 0, None
    if len(bounds) == 1 and not named:
        bounds, named = (), {"to": bounds[0]}
    given = {**dict(zip(("from", "to"), bounds, strict=False)), **named}
    low, high = given.get("from", 0), given.get("to")
    unclear = len(given) < len(bounds) + len(named) or not given.keys() <= {"from", "to"}
    if unclear or "to" not in given or low is None or (high is None and "from" not in given):
        raise TypeError("random_() takes (), (to) or (from, to), and generator")
    return low, high
