"""Reading and writing by index."""

from .. import _C
from .._C import Tensor
from ._marks import both, function, method
from ._out import with_out
from .dtypes import _kind, _scalar_type
from .shapes import _dim


@both
def argwhere(input):
    """Indices of the elements that are not 0, as rows."""
    return input.nonzero()


@both
@with_out
def take(input, index: Tensor):
    """Elements at positions in input as one dimension."""
    _check_long("take", index)
    return input.reshape(-1)[index]


def _check_long(name, index):
    if index.dtype is not _C.int64:
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {_scalar_type(index.dtype)}"
        )


@both
def put(input, index: Tensor, source: Tensor, accumulate=False):
    """A copy with source at positions in input as one dimension."""
    _check_long("put_", index)
    if source.dtype is not input.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{_scalar_type(input.dtype)} and source.dtype = {_scalar_type(source.dtype)}"
        )
    if index.numel() != source.numel():
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )
    flat = input.reshape(-1).clone()
    index = index.reshape(-1)
    flat.index_put_((index,), source.reshape(-1), accumulate)
    return flat.reshape(input.shape)


@both
@with_out
def index_copy(input, dim, index: Tensor, source: Tensor):
    """A copy with source's slices at index along dim."""
    dim = _dim(dim, max(input.dim(), 1))
    _check_long("index_copy_", index)
    r = input.clone()
    to = r if r.dim() else r.reshape(1)
    source = source if source.dim() else source.reshape((1,) * to.dim())
    _check_slices(to, dim, index, source)
    to.movedim(dim, 0)[index.reshape(-1)] = source.movedim(dim, 0)
    return r


def _check_slices(to, dim, index, source):
    """Whether source has a slice for each of index, of the shape and dtype of those of `to`."""
    name, n = "index_copy_()", to.shape[dim]
    if index.dim() > 1:
        raise IndexError(f"{name}: Index should have dimension 1 or 0 (got {index.dim()})")
    if source.dim() != to.dim():
        raise IndexError(
            f"{name}: When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({source.dim()}), destination dimensionality "
            f"({to.dim()})"
        )
    if source.dtype is not to.dtype:
        raise RuntimeError(
            f"{name}: self and source expected to have the same dtype, but got (self) "
            f"{_scalar_type(to.dtype)} and (source) {_scalar_type(source.dtype)}"
        )
    if index.numel() != source.shape[dim]:
        raise IndexError(
            f"{name}: Number of indices ({index.numel()}) should be equal to source.size(dim) "
            f"({source.shape[dim]})"
        )
    slices = ([size for d, size in enumerate(x.shape) if d != dim] for x in (to, source))
    if next(slices) != next(slices):
        raise RuntimeError(f"{name}: Source/destination tensor must have same slice shapes.")
    least = int(index.min()) if index.numel() and not index.is_meta else 0
    if least < 0:
        raise IndexError(
            f"{name}: index {least} is out of bounds for dimension {dim} with size {n}"
        )


@both
def index_fill(input, dim, index: Tensor, value):
    """A copy with value at index along dim."""
    dim = _dim(dim, max(input.dim(), 1))
    if index.dtype is not _C.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.dim() > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if isinstance(value, Tensor) and value.dim():
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.dim()} dimension(s)."
        )
    if not input.is_complex() and (
        value.is_complex() if isinstance(value, Tensor) else isinstance(value, complex)
    ):
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    if isinstance(value, Tensor) and value.requires_grad:
        return _filled(input, dim, index, value)  # each place counts once
    r = input.clone()
    (r if r.dim() else r.reshape(1)).movedim(dim, 0)[index] = value
    return r


def _filled(input, dim, index, value):
    here = _C.zeros(input.shape[dim] if input.dim() else 1, dtype=_C.bool, device=input.device)
    here[index] = True
    shape = [-1 if d == dim else 1 for d in range(input.dim())]
    return _C.where(here.reshape(shape), value.to(input.dtype), input)


@method
def fill_diagonal_(self, fill_value, wrap=False):
    """fill_value on the main diagonal; with wrap again below the square of a tall matrix."""
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step, n = sum(self.stride()), min(self.shape)
    self.as_strided((n,), (step,), self.storage_offset()).fill_(fill_value)
    rows, columns = self.shape[0], self.shape[1]
    if wrap and self.dim() == 2:
        for top in range(columns + 1, rows, columns + 1):
            self[top : top + columns].fill_diagonal_(fill_value)
    return self


@function
def unravel_index(indices: Tensor, shape):
    """Coordinates of positions in a tensor of that shape."""
    if _kind(indices.dtype) != 1:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in shape:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if min(shape, default=0) < 0:
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    if 0 in shape and indices.numel():
        raise ValueError(
            f"'shape' cannot have zero dimensions when 'indices' is non-empty, but got {shape}"
        )
    indices, r = indices.to(_C.int64), []
    for n in reversed(shape):
        n = max(n, 1)
        r.append(indices.remainder(n))
        indices = indices.floor_divide(n)
    return tuple(reversed(r))


@function
def numel(input: Tensor):
    """The number of elements."""
    return input.nelement()
