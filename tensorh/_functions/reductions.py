"""Reductions, differences, counts."""

from math import nan as _nan

from .. import _C
from .._C import Tensor
from ._marks import both, function
from ._out import with_out
from .shapes import _dim


@both
def trace(input):
    """The sum of the diagonal of a matrix."""
    if input.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}")
    return input.diagonal().sum()


@both
def dist(input, other: Tensor, p=2):
    """The p-norm of input - other."""
    return _C.norm(input - other, p)


@both
@with_out
def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum without NaN."""
    x = input.masked_fill(input.isnan(), 0) if input.is_floating_point() else input
    return x.sum(dim, keepdim, dtype=dtype)


@both
@with_out
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean without NaN."""
    there = input.isnan().logical_not().sum(dim, keepdim)
    r = nansum(input, dim, keepdim, dtype=dtype) / there
    if not r.requires_grad:
        return r
    none = there == 0  # there the gradient is NaN, too
    factor = _C.ones_like(r).masked_fill(none, _nan)
    return _C.where(none, input.sum(dim, keepdim, dtype=dtype) * factor, r)


@function
def std_mean(input: Tensor, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """(standard deviation, mean)."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = int(unbiased)
    std = _C.std(input, dim, correction=correction, keepdim=keepdim)
    return std, _C.mean(input, dim, keepdim)


@both
@with_out
def diff(input, n=1, dim=-1, prepend: Tensor = None, append: Tensor = None):
    """Differences of neighbours along dim, n times."""
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if not input.dim():
        raise RuntimeError("diff expects input to be at least one-dimensional")
    dim = _dim(dim, input.dim())
    parts = [t for t in (prepend, input, append) if t is not None]
    r = _C.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, r.shape[dim])):
        a, b = r.narrow(dim, 1, r.shape[dim] - 1), r.narrow(dim, 0, r.shape[dim] - 1)
        r = a.logical_xor(b) if r.dtype == _C.bool else a - b
    return r.clone() if r is input else r


@function
def trapezoid(y: Tensor, x: Tensor = None, *, dx=None, dim=-1):
    """The integral along dim by the trapezoid rule, over x or with steps of dx (1)."""
    if x is not None and dx is not None:
        raise TypeError("trapezoid() takes x or dx, not both")
    if y.dtype is _C.bool:
        raise NotImplementedError(
            "trapezoid: received a bool input for `y`, but bool is not supported"
        )
    dim = _dim(dim, y.dim())
    n = y.shape[dim]
    if n == 0:
        return y.sum(dim)
    pairs = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)
    if x is None:
        return pairs.sum(dim) * ((1 if dx is None else dx) / 2)
    if x.dim() == 1:
        if x.numel() != n:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        x = x.reshape((-1,) + (1,) * (y.dim() - 1 - dim))
    along = dim - y.dim()
    if x.dim() < -along or x.shape[along] != n:
        raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
    return (pairs * diff(x, dim=along)).sum(dim) / 2


trapz = trapezoid


@both
def bincount(input, weights: Tensor = None, minlength=0):
    """How often each number occurs, or the sum of its weights."""
    if input.dim() != 1 or input.is_floating_point():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if input.numel() and input.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    n = max(minlength, int(input.max()) + 1 if input.numel() else 0)
    if weights is None:
        weights = _C.ones(input.numel(), dtype=_C.int64)
    elif weights.dtype != _C.float32:
        weights = weights.to(_C.float64)
    return _C.zeros(n, dtype=weights.dtype).index_add_(0, input.to(_C.int64), weights)


def _unique(flat, sorted_, return_inverse, return_counts, shape):
    values, order = flat.sort(stable=True) if sorted_ else (flat, _C.arange(flat.numel()))
    n = values.numel()
    new = _C.ones(n, dtype=_C.bool)
    if n > 1:
        new[1:] = values[1:] != values[:-1]
    r = [values[new]]
    if return_inverse:
        number = new.to(_C.int64).cumsum(0) - 1
        r.append(_C.empty(n, dtype=_C.int64).scatter_(0, order, number).reshape(shape))
    if return_counts:
        starts = new.nonzero().reshape(-1)
        r.append(diff(starts, append=_C.tensor([n])) if n else starts)
    return r[0] if len(r) == 1 else tuple(r)


@both
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements in ascending order."""
    if dim is not None:
        raise NotImplementedError("unique() along a dimension is planned")
    return _unique(input.reshape(-1), True, return_inverse, return_counts, input.shape)


@both
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements without repetitions of the one before."""
    if dim is not None:
        raise NotImplementedError("unique_consecutive() along a dimension is planned")
    return _unique(input.reshape(-1), False, return_inverse, return_counts, input.shape)


@both
@with_out
def msort(input):
    """Sorted along the first dimension."""
    return input.sort(0).values
