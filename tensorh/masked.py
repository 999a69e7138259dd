"""torch.masked: reductions and normalizations over the elements at which a mask is true.

What is masked out is replaced by a value that has no part in the result; where nothing is left, the
result is that of no elements."""

from math import inf as _inf
from math import nan as _nan

from . import _C
from ._C import Tensor
from ._functions.dtypes import iinfo as _iinfo

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp",
    "logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum",
    "var",
]  # fmt: skip


def __getattr__(name):
    from ._missing import error

    raise error("torch.masked", name)


def _tensor(input, name):
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    return input


def _whole(input, mask):
    """The mask in input's shape."""
    if mask.dim() > input.dim():
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher "
                         "than of the input)")  # fmt: skip
    return mask.to(_C.bool).expand(input.shape)


def _filled(input, mask, value):
    if mask is None:
        return input
    return _C.where(_whole(input, mask), input, _C.full((), value, dtype=input.dtype,
                                                        device=input.device))  # fmt: skip


def _dims(dim, ndim):
    """All dimensions, or those of a number or a list, each once."""
    if dim is None or dim == () or dim == []:
        return tuple(range(ndim))
    dims = []
    for d in (dim,) if isinstance(dim, int) else dim:
        bound = max(ndim, 1)
        if not -bound <= d < bound:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but "
                f"got {d})"
            )
        if d % bound in dims:
            raise RuntimeError(f"dim={d % bound} appears multiple times in the list of dims")
        dims.append(d % bound)
    return tuple(sorted(dims))


def _summed_dtype(input, dtype):
    if dtype is None and not (input.is_floating_point() or input.is_complex()):
        return _C.int64
    return dtype or input.dtype


def _least(dtype):
    """What is not above anything."""
    if dtype is _C.bool:
        return False
    return -_inf if dtype.is_floating_point else _iinfo(dtype).min


def _most(dtype):
    if dtype is _C.bool:
        return True
    return _inf if dtype.is_floating_point else _iinfo(dtype).max


def _real_only(input, name):
    if input.is_complex():
        raise NotImplementedError(f"masked {name} is not defined for complex numbers")


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum of what the mask leaves."""
    dtype = _summed_dtype(_tensor(input, "sum"), dtype)
    x = _filled(input.to(dtype), mask, 0)
    return x.sum(_dims(dim, x.dim()), keepdim, dtype=dtype) if x.dim() else x + 0


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product of what the mask leaves."""
    dtype = _summed_dtype(_tensor(input, "prod"), dtype)
    r = _filled(input.to(dtype), mask, 1)
    if not r.dim():
        return r.clone()
    for d in reversed(_dims(dim, input.dim())):
        r = r.prod(d, keepdim, dtype=dtype)
    return r


def cumsum(input, dim, *, dtype=None, mask=None):
    """The sums of all elements up to each; what is masked out adds nothing."""
    dtype = dtype or _tensor(input, "cumsum").dtype
    return _filled(input.to(dtype), mask, 0).cumsum(dim, dtype=dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """The products of all elements up to each."""
    dtype = dtype or _tensor(input, "cumprod").dtype
    return _filled(input.to(dtype), mask, 1).cumprod(dim, dtype=dtype)


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest element that the mask leaves."""
    _real_only(_tensor(input, "amax"), "amax")
    x = _filled(input if dtype is None else input.to(dtype), mask, _least(dtype or input.dtype))
    return x.amax(_dims(dim, x.dim()), keepdim)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest element that the mask leaves."""
    _real_only(_tensor(input, "amin"), "amin")
    x = _filled(input if dtype is None else input.to(dtype), mask, _most(dtype or input.dtype))
    return x.amin(_dims(dim, x.dim()), keepdim)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The place of the largest element that the mask leaves, in input's dtype, as torch has it."""
    _real_only(_tensor(input, "argmax"), "argmax")
    dtype = dtype or input.dtype
    return _filled(input.to(dtype), mask, _least(dtype)).argmax(dim, keepdim).to(dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The place of the smallest element that the mask leaves, in input's dtype."""
    _real_only(_tensor(input, "argmin"), "argmin")
    dtype = dtype or input.dtype
    return _filled(input.to(dtype), mask, _most(dtype)).argmin(dim, keepdim).to(dtype)


def _counted(input, dim, mask):
    """How many elements the mask leaves, with the reduced dimensions."""
    if mask is None:
        here = _C.ones(input.shape, dtype=_C.int64, device=input.device)
    else:
        here = _whole(input, mask)
    return here.sum(_dims(dim, input.dim()), True) if input.dim() else here.to(_C.int64)


def _floats(input, dtype):
    if dtype is None and not (input.is_floating_point() or input.is_complex()):
        return _C.float32
    return dtype or input.dtype


def _reduced(r, dim, keepdim, ndim):
    return r if keepdim or not ndim else r.squeeze(_dims(dim, ndim))


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean of what the mask leaves; NaN where that is nothing."""
    dtype = _floats(_tensor(input, "mean"), dtype)
    total = sum(input, dim, keepdim=True, dtype=dtype, mask=mask)
    r = total / _counted(input, dim, mask).to(dtype)
    return _reduced(r, dim, keepdim, input.dim())


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The median along dim of what the mask leaves."""
    dtype = dtype or _tensor(input, "median").dtype
    floating = input.is_floating_point()
    x = _filled(input if floating else input.to(_C.float32), mask, _nan)
    r = x.nanmedian(dim, keepdim).values if x.dim() else x.clone()
    if floating:
        return r
    if r.isnan().any():
        raise ValueError(
            "masked_median expected no fully masked out rows if dtype is not floating point"
        )
    return r.to(dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of what the mask leaves."""
    dtype = dtype or _tensor(input, "norm").dtype
    x = _filled(input.to(dtype), mask, _inf if ord == -_inf else 0)
    return _C._spaces["linalg"]["vector_norm"](x, ord, _dims(dim, x.dim()), bool(keepdim))


def _variance(input, dim, unbiased, correction, keepdim, dtype, mask, name):
    if unbiased is not None and correction is not None:
        raise RuntimeError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    dtype = _floats(_tensor(input, name), dtype)
    x = input.to(dtype)
    centred = x - mean(x, dim, keepdim=True, mask=mask)
    total = sum((centred * centred.conj()).real if dtype.is_complex else centred * centred, dim,
                keepdim=True, mask=mask)  # fmt: skip
    count = (_counted(input, dim, mask) - correction).clamp(min=0).to(total.dtype)
    return _reduced(total / count, dim, keepdim, input.dim()).to(dtype)


def var(
    input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None
):  # fmt: skip
    """The variance of what the mask leaves."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask, "var")


def std(
    input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None
):  # fmt: skip
    """The standard deviation of what the mask leaves."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask, "std").sqrt()


def softmax(input, dim, *, dtype=None, mask=None):
    """softmax along dim; what is masked out gets 0."""
    x = _tensor(input, "softmax").to(_floats(input, dtype))
    return _filled(x, mask, -_inf).softmax(dim)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """log_softmax along dim; what is masked out gets -inf."""
    x = _tensor(input, "log_softmax").to(_floats(input, dtype))
    return _filled(x, mask, -_inf).log_softmax(dim)


def softmin(input, dim, *, dtype=None, mask=None):
    """softmin along dim; what is masked out gets 0."""
    x = _tensor(input, "softmin").to(_floats(input, dtype))
    return (-_filled(x, mask, _inf)).softmax(dim)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """What the mask leaves, divided by its norm along dim, or by eps if that is larger."""
    x = _tensor(input, "normalize").to(_floats(input, dtype))
    length = norm(x, ord, dim, keepdim=True, mask=mask)
    return _filled(x, mask, 0) / length.clamp(min=eps)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(e^input + e^other), where what is masked out adds nothing."""
    dtype = dtype or _tensor(input, "logaddexp").dtype
    a, b = _filled(input.to(dtype), input_mask, -_inf), _filled(other.to(dtype), other_mask, -_inf)
    return _C.logaddexp(a, b)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """log of the sum of e^x of what the mask leaves; for the rest integers have their least."""
    dtype = dtype or _tensor(input, "logsumexp").dtype
    if mask is not None and dtype is _C.bool:
        raise NotImplementedError("logsumexp of bool has no value where the mask leaves nothing")
    inexact = dtype.is_floating_point or dtype.is_complex or mask is None
    least = -_inf if inexact else _iinfo(dtype).min
    x = _filled(input.to(_floats(input, dtype if dtype.is_floating_point else None)), mask, least)
    return x.logsumexp(_dims(dim, x.dim()), keepdim).to(dtype)


# --- masks, as torch's programs ask for them ------------------------------------------------------


def _input_mask(input, *args, mask=None, **kwargs):
    """The mask in input's shape; without one all is true."""
    if mask is None:
        return _C.ones(input.shape, dtype=_C.bool, device=input.device)
    return _whole(input, mask)


def _output_mask(op, input, *args, mask=None, dim=None, keepdim=False, **kwargs):
    """At which elements of op's result the mask leaves something."""
    here = _input_mask(input, mask=mask)
    name = op.__name__
    if name in ("softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"):
        return here
    place = 1 if name == "norm" else 0
    dim = args[place] if len(args) > place else dim
    for d in reversed(_dims(dim, input.dim())) if input.dim() else ():
        here = here.any(d, keepdim)
    return here
