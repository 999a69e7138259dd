"""New tensors."""

from .. import _C
from .._C import Tensor
from ._marks import function, method
from .dtypes import iinfo
from .shapes import broadcast_tensors


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    """A 0-dim tensor of the default dtype."""
    dtype = dtype or _C.get_default_dtype()
    return _C.full((), s, dtype=dtype, device=device, requires_grad=requires_grad)


def logspace(start, end, steps, base=10.0, *, dtype=None, device=None, requires_grad=False):
    """steps numbers from base**start to base**end, evenly spaced in the exponent."""
    dtype = dtype or _C.get_default_dtype()
    r = _C.pow(base, _C.linspace(start, end, steps, dtype=_C.float64)).to(dtype)
    r = r.to(device) if device else r
    return r.requires_grad_() if requires_grad else r


def range_(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """start, start + step, .. to end, which belongs to it."""
    if end is None:
        start, end = 0, start
    n = int((end - start) / step) + 1
    r = _C.arange(n, dtype=_C.float64) * step + start
    r = r.to(dtype or _C.get_default_dtype())
    return r.requires_grad_() if requires_grad else r


def empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False):
    """Not initialised, of that size and stride."""
    n = 1 + sum((a - 1) * b for a, b in zip(size, stride, strict=True)) if 0 not in size else 0
    r = _C.empty(n, dtype=dtype, device=device).as_strided(size, stride)
    return r.requires_grad_() if requires_grad else r


@function
def complex(real, imag):
    """The complex tensor of two real ones."""
    if real.dtype != imag.dtype:
        raise RuntimeError(
            "Expected object of scalar type "
            f"{real.dtype} but got scalar type {imag.dtype} for second argument"
        )
    return _C.view_as_complex(_C.stack(_alike(real, imag), -1))


def _alike(*tensors):
    return list(broadcast_tensors(*tensors))


@function
def polar(abs, angle):
    """abs * exp(i angle)."""
    return complex(abs * angle.cos(), abs * angle.sin())


def vander(x, N=None, increasing=False):
    """Powers of x as columns."""
    n = x.numel() if N is None else N
    powers = _C.arange(n) if increasing else _C.arange(n - 1, -1, -1)
    return x.unsqueeze(-1) ** powers


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """obj as a tensor, over the same memory where that is possible."""
    if isinstance(obj, Tensor):
        r = obj if requires_grad else obj.detach() if obj.requires_grad else obj
    elif not isinstance(obj, (bool, int, float, list, tuple)) and hasattr(obj, "__dlpack__"):
        over = _C.from_numpy if copy is False else _C.as_tensor  # that copies what is not aligned
        r = over(obj) if _is_buffer(obj) else _C.from_dlpack(obj)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        r = _C.frombuffer(obj, dtype=dtype or _C.from_numpy(memoryview(obj)).dtype)
    else:
        r, copy = _C.as_tensor(obj, dtype=dtype), None if copy is False else copy
    given = r
    if dtype is not None or device is not None:
        r = r.to(device=device or r.device, dtype=dtype or r.dtype)
    if copy is False and r is not given:
        raise ValueError("can't alias tensor with a different dtype or device")
    if copy and r is given:
        r = r.clone()
    return r.detach().requires_grad_() if requires_grad else r


def _is_buffer(obj):
    try:
        memoryview(obj)
    except (TypeError, ValueError, BufferError):
        return False
    return True


@function
def normal(mean, std=1.0, size=None, *, generator=None, dtype=None, device=None, out=None):
    """Normal random numbers of that mean and standard deviation, which may be tensors."""
    if size is not None:
        r = _C.empty(size, dtype=dtype, device=device).normal_(mean, std, generator=generator)
    elif not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        raise TypeError("normal(): of two numbers argument 'size' must be given")
    else:
        a, b = _alike(_tensor_of(mean, std), _tensor_of(std, mean))
        r = _C.empty(a.shape, dtype=a.dtype).normal_(generator=generator) * b + a
    return r if out is None else out.copy_(r)


def _tensor_of(x, like):
    return x if isinstance(x, Tensor) else _C.tensor(float(x), dtype=like.dtype)


@function
def randint_like(input, low, high=None, *, dtype=None, device=None):
    """Random integers in [low, high) of input's shape and dtype."""
    low, high = (0, low) if high is None else (low, high)
    return _C.randint(low, high, input.shape, dtype=dtype or input.dtype, device=device)


@method
def random_(self, *bounds, generator=None, **named):
    """Random integers in [from, to), in place; without bounds, all that the dtype holds from 0 on
    (of floats: that it holds exactly)."""
    low, high = _bounds_of(*bounds, **named)
    dtype = _C.int64
    if low is None and high is None:
        whole = {_C.float32: 2**24, _C.float64: 2**53, _C.float16: 2**11, _C.bfloat16: 2**8}
        most = 1 if self.dtype is _C.bool else whole.get(self.dtype) or iinfo(self.dtype).max
        low, high = 0, most + 1
        if self.dtype is _C.int64:  # [0, 2^63), whose end is no int64
            half = 2**62
            return self.copy_(
                _C.randint(-half, half, self.shape, generator=generator, dtype=dtype) + half
            )
    elif not self.dtype.is_floating_point:
        least, most = (0, 1) if self.dtype is _C.bool else _ends_of(self.dtype)
        for name, at in ("from", low), ("to - 1", high - 1):
            if not least <= at <= most:
                raise RuntimeError(f"{name} is out of bounds for {self.dtype}")
    return self.copy_(_C.randint(low, high, self.shape, generator=generator, dtype=dtype))


def _ends_of(dtype):
    return iinfo(dtype).min, iinfo(dtype).max


def _bounds_of(*bounds, to=None, **named):
    """What random_ is given: (), (to) or (from, to); from may be a keyword."""
    low = named.pop("from", None)
    if named or len(bounds) > 2 or (low is not None and len(bounds) > 1):
        raise TypeError("random_() takes (), (to) or (from, to), and generator")
    if len(bounds) == 2:
        low, to = bounds
    elif bounds and to is None and low is None:
        low, to = 0, bounds[0]
    elif bounds:
        low, to = (low, bounds[0]) if low is not None else (bounds[0], to)
    if low is not None and to is None:
        raise TypeError("random_(): from is given, to is not")
    return (0 if to is not None and low is None else low), to
