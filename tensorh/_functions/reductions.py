"""Reductions, differences, counts."""

from math import nan as _nan

from .. import _C
from .._C import Tensor
from ._casts import wide
from ._marks import both, function
from ._out import with_out
from .dtypes import _scalar_type
from .shapes import _dim


@both
def trace(input):
    """The sum of the diagonal of a matrix."""
    if input.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}")
    return wide(input)[0].diagonal().sum()


@both
def dist(input, other: Tensor, p=2):
    """The p-norm of input - other."""
    return _C.norm(input - other, p)


@both
@with_out
def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum without NaN."""
    if input.is_complex():
        raise NotImplementedError("nansum on CPU does not support complex inputs")
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
    for t in (prepend, append):
        if t is not None and t.dim() != input.dim():
            raise RuntimeError(
                "diff expects prepend or append to be the same dimension as input"
            )
        for d in range(input.dim()) if t is not None else ():
            if d != dim and t.shape[d] != input.shape[d]:
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input "
                    f"except along the differencing dimension; input.size({d}) = {input.shape[d]}, "
                    f"but got tensor.size({d}) = {t.shape[d]}"
                )
    parts = [t for t in (prepend, input, append) if t is not None] if n else [input]
    r = _C.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, r.shape[dim])):
        a, b = r.narrow(dim, 1, r.shape[dim] - 1), r.narrow(dim, 0, r.shape[dim] - 1)
        r = a.logical_xor(b) if r.dtype == _C.bool else a - b
    return r.clone() if r is input else r


def _trapezoids(name, y, x, dx, dim):
    """Twice the areas between neighbours along dim, which is not negative; and dim."""
    if x is not None and dx is not None:
        raise TypeError(f"{name}() takes x or dx, not both")
    if y.dtype is _C.bool:
        raise NotImplementedError(
            f"{name}: received a bool input for `y`, but bool is not supported"
        )
    dim = _dim(dim, y.dim())
    n = y.shape[dim]
    pairs = y.narrow(dim, 1, max(n - 1, 0)) + y.narrow(dim, 0, max(n - 1, 0)) if n else y
    if x is None:
        return pairs * (1 if dx is None else dx), dim
    if x.dim() == 1:
        if x.numel() != n:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = x.reshape((-1,) + (1,) * (y.dim() - 1 - dim))
    along = dim - y.dim()
    if x.dim() < -along or x.shape[along] != n:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
    return (pairs * diff(x, dim=along) if n else pairs), dim


@function
def trapezoid(y: Tensor, x: Tensor = None, *, dx=None, dim=-1):
    """The integral along dim by the trapezoid rule, over x or with steps of dx (1)."""
    areas, dim = _trapezoids("trapezoid", y, x, dx, dim)
    return areas.sum(dim) / 2 if y.shape[dim] else areas.sum(dim)


@function
def cumulative_trapezoid(y: Tensor, x: Tensor = None, *, dx=None, dim=-1):
    """The integrals from the first point to each other one, as trapezoid has them."""
    if not y.dim():
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    areas, dim = _trapezoids("cumulative_trapezoid", y, x, dx, dim)
    return areas.cumsum(dim) / 2


trapz = trapezoid


@both
def bincount(input, weights: Tensor = None, minlength=0):
    """How often each number occurs, or the sum of its weights."""
    if input.dtype is _C.bool or input.is_floating_point() or input.is_complex():
        kind = _scalar_type(input.dtype)
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{kind}'")
    if input.dim() != 1 or (input.numel() and input.min() < 0):
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


def _slices(input, dim):
    """The slices of input along dim as rows of a matrix."""
    if not input.dim():
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = _dim(dim, input.dim())
    if input.is_complex():
        raise NotImplementedError("unique along a dimension is not implemented for complex numbers")
    zeros = sum(n == 0 for n in input.shape)
    if zeros > 1:
        raise RuntimeError(
            "Number of zero sized dimensions is more than one, so unique cannot be applied "
        )
    if zeros and input.shape[dim]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    rows = input.movedim(dim, 0)
    return rows.reshape(rows.shape[0], -1 if rows.numel() else 0), dim


def _unique_dim(input, dim, sorted_, return_inverse, return_counts):
    """Distinct slices along dim: sorted, or without repetitions of the one before."""
    rows, dim = _slices(input, dim)
    n = rows.shape[0]
    order = _C.arange(n)
    if sorted_:  # stable sorts, from the last column to the first
        for j in range(rows.shape[1] - 1, -1, -1):
            order = order[rows[:, j][order].sort(stable=True)[1]]
    rows = rows[order]
    new = _C.ones(n, dtype=_C.bool)
    if n > 1:
        new[1:] = (rows[1:] != rows[:-1]).any(1)
    starts = new.nonzero().reshape(-1)
    r = [input.index_select(dim, order[starts])]
    if return_inverse:
        number = new.to(_C.int64).cumsum(0) - 1
        r.append(_C.empty(n, dtype=_C.int64).scatter_(0, order, number))
    if return_counts:
        r.append(diff(starts, append=_C.tensor([n])) if n else starts)
    return r[0] if len(r) == 1 else tuple(r)


def _ordered(input):
    """An unsigned tensor as integers that can be sorted, in the same order."""
    if input.dtype != _C.uint64:
        return input.to(_C.int64)
    return input.contiguous().view(_C.int64) ^ -(2**63)


def _unsigned(found, dtype):
    """What was found among _ordered integers, with the values in dtype again."""
    values = found if isinstance(found, Tensor) else found[0]
    if dtype == _C.uint64:
        values = (values ^ -(2**63)).view(dtype)
    else:
        values = values.to(dtype)
    return values if isinstance(found, Tensor) else (values, *found[1:])


@both
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements, or slices along dim, in ascending order."""
    if input.dtype in (_C.uint16, _C.uint32, _C.uint64):
        found = unique(_ordered(input), True, return_inverse, return_counts, dim)
        return _unsigned(found, input.dtype)
    if dim is not None:
        return _unique_dim(input, dim, True, return_inverse, return_counts)
    return _unique(input.reshape(-1), True, return_inverse, return_counts, input.shape)


@both
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements, or slices along dim, without repetitions of the one before."""
    if input.dtype in (_C.uint16, _C.uint32, _C.uint64):
        found = unique_consecutive(_ordered(input), return_inverse, return_counts, dim)
        return _unsigned(found, input.dtype)
    if dim is not None:
        return _unique_dim(input, dim, False, return_inverse, return_counts)
    return _unique(input.reshape(-1), False, return_inverse, return_counts, input.shape)


def _spacings(input, spacing, dims, given):
    """A number, or a vector of coordinates, for each of dims."""
    if isinstance(spacing, Tensor) and not spacing.dim():
        spacing = spacing.item()
    if spacing is None:
        return [1] * len(dims)
    if isinstance(spacing, (bool, int, float, complex)):
        return [spacing] * len(dims)
    if not isinstance(spacing, (list, tuple)):
        raise TypeError(
            f"gradient(): argument 'spacing' must be a number or a list, not "
            f"{type(spacing).__name__}"
        )
    if len(spacing) != len(dims):
        said = "" if given else ", since dim argument was not given"
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to {'the number of dims' if given else repr('self.dim()')} = "
            f"{len(dims)}{said}, but got a list of length {len(spacing)}"
        )
    for x in spacing:
        if isinstance(x, Tensor) and x.dim() != 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an "
                f"element with {x.dim()} dimensions!"
            )
    return list(spacing)


def _slope(x, h, dim, edge_order):
    """Differences of second order in the middle, of edge_order at both ends; h: a number, or the
    coordinates. The weights are those of parabolas through three points."""
    n = x.shape[dim]

    def part(t, first, count):
        return t.narrow(dim if t is x else 0, first, count)

    if isinstance(h, Tensor):
        if h.numel() != n:
            raise RuntimeError(
                f"torch.gradient expected one coordinate for each of {n} points, but got "
                f"{h.numel()}"
            )
        shape = (-1,) + (1,) * (x.dim() - 1 - dim)
        steps = diff(h)
        one, two = (s.reshape(shape) for s in (steps[:-1], steps[1:]))
        a, b, c = -two / (one * (one + two)), (two - one) / (one * two), one / (two * (one + two))
        inner = a * part(x, 0, n - 2) + b * part(x, 1, n - 2) + c * part(x, 2, n - 2)
        first, last = steps[0], steps[-1]
    else:
        inner = (part(x, 2, n - 2) - part(x, 0, n - 2)) / (2 * h)
        first = last = h
    if edge_order == 1:
        begin = (part(x, 1, 1) - part(x, 0, 1)) / first
        end = (part(x, n - 1, 1) - part(x, n - 2, 1)) / last
    else:
        second, before = (steps[1], steps[-2]) if isinstance(h, Tensor) else (h, h)
        begin = _edge(part(x, 0, 1), part(x, 1, 1), part(x, 2, 1), first, second)
        end = -_edge(part(x, n - 1, 1), part(x, n - 2, 1), part(x, n - 3, 1), last, before)
    return _C.cat([begin, inner, end], dim)


def _edge(x0, x1, x2, h1, h2):
    """The slope at x0 of the parabola through three points, h1 and h2 from one to the next."""
    a, b, c = -(2 * h1 + h2) / (h1 * (h1 + h2)), (h1 + h2) / (h1 * h2), -h1 / (h2 * (h1 + h2))
    return a * x0 + b * x1 + c * x2


@function
def gradient(input: Tensor, *, spacing=None, dim=None, edge_order=1):
    """Estimates of the slopes along dim (None: all), at points spacing apart: a number, or a number
    or a vector of coordinates for each dim."""
    if input.dtype is _C.uint8:
        raise NotImplementedError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = range(input.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = [_dim(d, input.dim()) for d in dims]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.shape[d] <= edge_order:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
    spacings = _spacings(input, spacing, dims, dim is not None)
    return tuple(_slope(input, h, d, edge_order) for d, h in zip(dims, spacings, strict=True))


class _Histogramdd(tuple):
    """The named results of histogramdd."""

    __slots__ = ()
    hist = property(lambda self: self[0])
    bin_edges = property(lambda self: self[1])


def _edges(input, bins, range):
    """The edges of bins along each column of a matrix."""
    columns = input.shape[1]
    if isinstance(bins, int):
        bins = [bins] * columns
    if len(bins) != columns:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    if range is not None and len(range) != 2 * columns:
        raise RuntimeError(
            f"torch.histogramdd: for a {columns}-dimensional histogram range should have "
            f"{2 * columns} elements, but got {len(range)}"
        )
    edges = []
    for i, b in enumerate(bins):
        column = input.detach()[:, i]
        if isinstance(b, Tensor):
            edges.append(_C.histogram(column, b)[1])
        elif range is not None:
            edges.append(_C.histogram(column, b, range=list(range[2 * i : 2 * i + 2]))[1])
        else:
            edges.append(_C.histogram(column, b)[1])
    return edges


@function
def histogramdd(input: Tensor, bins, range=None, weight: Tensor = None, density=False):
    """A histogram of points, the vectors of the last dimension: (hist, bin_edges)."""
    if input.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if not input.is_floating_point():
        raise NotImplementedError(f"histogramdd is not implemented for {input.dtype}")
    if weight is not None:
        if weight.dtype is not input.dtype:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
                "should have the same dtype"
            )
        if weight.shape != input.shape[:-1]:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided it should have the same shape as "
                "the input tensor excluding its innermost dimension"
            )
    points = input.reshape(-1, input.shape[-1])
    edges = _edges(points, bins, range)
    weight = _C.ones_like(points[:, 0]) if weight is None else weight.reshape(-1)
    place, count = _C.zeros(points.shape[0], dtype=_C.int64), 1
    for i, e in enumerate(edges):
        x = points[:, i].contiguous()
        inside = (x >= e[0]).logical_and(x <= e[-1])
        bin_ = (_C.searchsorted(e, x, right=True) - 1).clamp(0, e.numel() - 2)
        place = place * (e.numel() - 1) + bin_.masked_fill(inside.logical_not(), 0)
        weight = weight.masked_fill(inside.logical_not(), 0)
        count *= e.numel() - 1
    hist = _C.zeros(count, dtype=input.dtype).index_add_(0, place, weight)
    hist = hist.reshape([e.numel() - 1 for e in edges])
    if density:
        hist = hist / hist.sum()
        for i, e in enumerate(edges):
            hist = hist / diff(e).reshape((-1,) + (1,) * (len(edges) - 1 - i))
    return _Histogramdd((hist, tuple(edges)))


@both
@with_out
def msort(input):
    """Sorted along the first dimension."""
    return input.sort(0).values
