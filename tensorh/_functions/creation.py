"""New tensors."""

from .. import _C
from .._C import Tensor
from ._marks import function, method
from ._out import with_out, written
from .dtypes import iinfo
from .shapes import broadcast_tensors


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    """A 0-dim tensor of the default dtype."""
    dtype = dtype or _C.get_default_dtype()
    return _C.full((), s, dtype=dtype, device=device, requires_grad=requires_grad)


def logspace(
    start, end, steps, base=10.0, *, out=None, dtype=None, device=None, requires_grad=False
):  # fmt: skip
    """steps numbers from base**start to base**end, evenly spaced in the exponent."""
    dtype = dtype or (_C.get_default_dtype() if out is None else out.dtype)
    r = _C.pow(base, _C.linspace(start, end, steps, dtype=_C.float64)).to(dtype)
    r = r.to(device) if device else r
    r = r if out is None else written(out, r, "logspace")
    return r.requires_grad_() if requires_grad else r


@with_out
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
@with_out
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
@with_out
def polar(abs, angle):
    """abs * exp(i angle)."""
    return complex(abs * angle.cos(), abs * angle.sin())


def vander(x, N=None, increasing=False):
    """Powers of x as columns."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
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
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        r = _C.as_tensor(obj, dtype=dtype)
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
        if not (b >= 0).all():
            raise RuntimeError("normal expects all elements of std >= 0.0")
        r = _C.empty(a.shape, dtype=a.dtype).normal_(generator=generator) * b + a
    return r if out is None else written(out, r, "normal")


def _tensor_of(x, like):
    return x if isinstance(x, Tensor) else _C.tensor(float(x), dtype=like.dtype)


@function
def randint_like(input, low, high=None, *, dtype=None, device=None):
    """Random integers in [low, high) of input's shape and dtype."""
    low, high = (0, low) if high is None else (low, high)
    return _C.randint(low, high, input.shape, dtype=dtype or input.dtype, device=device)


@method
def random_(self, *bounds, generator=None, **named):
    """Random integers in [from, to), in place; without to, up to the largest that the dtype holds
    (of floats: that it holds exactly)."""
    low, high = _bounds_of(*bounds, **named)
    whole = {_C.float32: 2**24, _C.float64: 2**53, _C.float16: 2**11, _C.bfloat16: 2**8}
    least, most = (-(2**63), whole[self.dtype]) if self.dtype in whole else _ends_of(self.dtype)
    if high is None:
        high = most + 1
    if self.dtype not in whole:
        for name, at in ("from", low), ("to - 1", high - 1):
            if not least <= at <= most:
                raise RuntimeError(f"{name} is out of bounds for {self.dtype}")
    shift = 0
    if high == 2**63:  # no int64: what begins at 0 or above is drawn lower and moved up
        shift = 2**62 if low >= 0 else 0
        low, high = low - shift, high - shift if shift else high - 1
    r = _C.randint(low, high, self.shape, generator=generator, dtype=_C.int64)
    return self.copy_(r + shift if shift else r)


def _ends_of(dtype):
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
