"""Shapes: views, parts, copies side by side."""

from .. import _C
from .._C import Tensor
from ._marks import both, function, listed, members, method
from ._out import with_out, written
from .dtypes import _common, _kind, _scalar_type

_MANY = 60000  # tensors in a list, as the library has it
_CHANNELS = {4: _C.channels_last, 5: _C.channels_last_3d}


@both
def adjoint(input):
    """The last two dimensions exchanged, conjugated."""
    return input.mT.conj() if input.is_complex() else input.mT


@both
def ravel(input):
    """input in one dimension."""
    return input.contiguous().flatten()


@method
def view_as(self, other: Tensor):
    """A view of other's shape."""
    return self.view(other.shape)


@method
def reshape_as(self, other: Tensor):
    """In the shape of another tensor."""
    return self.reshape(other.shape)


@method
def sum_to_size(self, *size):
    """Summed to a size from which self broadcasts."""
    size = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    if not size:
        return self.sum()
    lead = self.dim() - len(size)
    kept = self.shape[max(lead, 0) :]
    if lead < 0 or any(n not in (1, have) for n, have in zip(size, kept, strict=True)):
        raise RuntimeError(f"size {list(size)} is not expandable to size {list(self.shape)}.")
    dims = list(range(lead))
    dims += [i for i in range(lead, self.dim()) if size[i - lead] == 1 and self.shape[i] != 1]
    r = self.sum(dims, keepdim=True) if dims else self
    return r.reshape(size) if lead else r


@both
def tile(input, *sizes, dims=None):
    """Repeated sizes or dims times; they are completed by ones in front."""
    if sizes and dims is not None:
        raise TypeError("tile() got multiple values for argument 'dims'")
    if isinstance(dims, int):
        raise TypeError("tile(): argument 'dims' must be tuple of ints, not int")
    dims = tuple(_each(sizes) if dims is None else dims)
    return input.repeat((1,) * (input.dim() - len(dims)) + dims)


@both
def fliplr(input):
    """The order of the columns reversed."""
    if input.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return input.flip(1)


@both
def flipud(input):
    """The order of the rows reversed."""
    if input.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return input.flip(0)


@both
def rot90(input, k=1, dims=(0, 1)):
    """Turned k times by 90 degrees in the plane of two dimensions."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    a, b = dims
    if input.dim() < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.dim()}")
    if _dim(a, input.dim()) == _dim(b, input.dim()):
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {a} and dim1 = {b}"
        )
    k %= 4
    if k == 2:
        return input.flip(dims)
    if k == 0:
        return input.clone()
    return input.flip(b).transpose(a, b) if k == 1 else input.flip(a).transpose(a, b)


@both
@with_out
def diag(input, diagonal=0):
    """The diagonal of a matrix, a copy; or the matrix with that diagonal."""
    if input.dim() == 2:
        return input.diagonal(diagonal).clone()
    if input.dim() != 1:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.dim()}D")
    return diag_embed(input, diagonal)


@both
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices whose diagonals are the last dimension of input."""
    n = input.shape[-1] + abs(offset)
    ndim = input.dim() + 1
    r = input.new_zeros((*input.shape[:-1], n, n))
    r.diagonal(offset, -2, -1).copy_(input)
    return r.movedim((-2, -1), (_dim(dim1, ndim), _dim(dim2, ndim)))


@both
def diagflat(input, offset=0):
    """The matrix whose diagonal is input in one dimension."""
    return diag_embed(input.reshape(-1), offset)


@both
def diagonal_scatter(input, src: Tensor, offset=0, dim1=0, dim2=1):
    """A copy of input with src on its diagonal."""
    r = input.clone()
    _fill_with(r.diagonal(offset, dim1, dim2), src)
    return r


def _fill_with(part, src):
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
        )
    part.copy_(src)


@both
def select_scatter(input, src: Tensor, dim, index):
    """A copy of input with src at index."""
    r = input.clone()
    _fill_with(r.select(dim, index), src)
    return r


@both
def slice_scatter(input, src: Tensor, dim=0, start=None, end=None, step=1):
    """A copy of input with src in the slice."""
    r = input.clone()
    _fill_with(_C.slice(r, dim, start, end, step), src)
    return r


@both
@with_out
def narrow_copy(input, dim, start, length):
    """narrow, a copy."""
    if dim >= input.dim():
        raise RuntimeError(f"narrow_copy(): dim {dim} of a tensor of {input.dim()} dimensions")
    return input.narrow(dim, start, length).clone()


@both
def tensor_split(input, indices_or_sections, dim=0):
    """Split into nearly equal sections, or at the indices."""
    if input.dim() == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a "
                           "tensor with 0 dims")  # fmt: skip
    many = input.dim()
    if not -many <= dim < many:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-many}, "
                         f"{many - 1}], but got {dim})")  # fmt: skip
    n = input.shape[dim]
    if isinstance(indices_or_sections, Tensor):
        asked = "tensor_split expected tensor_indices_or_sections to "
        if indices_or_sections.dtype is not _C.int64:
            kind = _scalar_type(indices_or_sections.dtype)
            raise RuntimeError(f"{asked}have dtype of long, but got {kind}")
        if indices_or_sections.dim() > 1:
            raise RuntimeError(f"{asked}be a zero-dimensional or one-dimensional tensor, but got a "
                               f"tensor with {indices_or_sections.dim()} dims")  # fmt: skip
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, int):
        k = indices_or_sections
        if k <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {k}")
        if k > _MANY:
            raise RuntimeError(f"number of sections must be at most {_MANY}, got {k}")
        sizes = [n // k + (i < n % k) for i in range(k)]
        return input.split_with_sizes(sizes, dim)
    starts = [0, *indices_or_sections]
    ends = [*indices_or_sections, n]
    return tuple(
        _C.slice(input, dim, a, b) if b > a or a < 0 or b < 0 else input.narrow(dim, 0, 0)
        for a, b in zip(starts, ends, strict=True)
    )


def _split_along(name, dim_of, least):
    def f(input, indices_or_sections):
        if input.dim() < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a "
                f"tensor with {input.dim()} dimensions!"
            )
        dim = dim_of(input)
        k = indices_or_sections
        if isinstance(k, int) and (k <= 0 or input.shape[dim] % k):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                f"dimension {input.shape[dim]} is not divisible by the split_size {k}!"
            )
        return tensor_split(input, k, dim)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"tensor_split along dimension {least - 1} into equal sections, or at the indices."
    return both(f)


hsplit = _split_along("hsplit", lambda x: 0 if x.dim() == 1 else 1, 1)
vsplit = _split_along("vsplit", lambda x: 0, 2)
dsplit = _split_along("dsplit", lambda x: 2, 3)


def _each(tensors):
    """What f(a, b) or f([a, b]) is given."""
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors


def _tensors_of(tensors):
    return members(_each(tensors))


def _each_made(f, tensors):
    """f of the only tensor, or of each."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return f(tensors[0])
    return tuple(map(f, _tensors_of(tensors)))


@function
def atleast_1d(*tensors):
    """With at least one dimension."""
    return _each_made(_one, tensors)


def _one(t):
    return t if t.dim() else t.reshape(1)


@function
def atleast_2d(*tensors):
    """With at least two dimensions."""
    return _each_made(_two, tensors)


def _two(t):
    return t if t.dim() > 1 else t.reshape(1, -1)


def _three(t):
    if t.dim() < 2:
        return t.reshape(1, -1, 1)
    return t.unsqueeze(-1) if t.dim() == 2 else t


@function
def atleast_3d(*tensors):
    """With at least three dimensions."""
    return _each_made(_three, tensors)


@function
def hstack(tensors, *, out=None):
    """Joined along the second dimension; along the first where there is one alone."""
    tensors = [_one(t) for t in listed(tensors, "hstack")]
    return _C.cat(tensors, 0 if tensors[0].dim() == 1 else 1, out=out)


@function
def vstack(tensors, *, out=None):
    """Joined along the first dimension, of rows."""
    return _C.cat([_two(t) for t in listed(tensors, "vstack")], 0, out=out)


row_stack = vstack


@function
def dstack(tensors, *, out=None):
    """Joined along the third dimension."""
    return _C.cat([_three(t) for t in listed(tensors, "dstack")], 2, out=out)


@function
def column_stack(tensors, *, out=None):
    """Joined as columns."""
    tensors = listed(tensors, "column_stack")
    return _C.cat([t if t.dim() > 1 else t.reshape(-1, 1) for t in tensors], 1, out=out)


@function
def block_diag(*tensors):
    """The matrix with the tensors on its diagonal."""
    for i, t in enumerate(members(tensors)):
        _check_block(i, t)
    blocks = [t if t.dim() == 2 else t.reshape(1, -1) for t in tensors]
    if not blocks:
        return _C.empty(1, 0)
    size = [sum(b.shape[d] for b in blocks) for d in (0, 1)]
    r = _C.zeros(size, dtype=_common(tensors))
    row = column = 0
    for b in blocks:
        r[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return r


def _check_block(i, t):
    if t.dim() > 2:
        raise RuntimeError(
            "torch.block_diag: Input tensors must have 2 or fewer dimensions. "
            f"Input {i} has {t.dim()} dimensions"
        )


@function
def broadcast_tensors(*tensors):
    """The tensors expanded to one shape."""
    tensors = _tensors_of(tensors)
    shape = tensors[0].shape if tensors else ()
    for t in tensors[1:]:
        shape = _two_shapes(shape, t.shape)
    return tuple(t.expand(shape) for t in tensors)


def _two_shapes(a, b):
    """The shape to which both broadcast."""
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    for d in reversed(range(n)):
        if a[d] != b[d] and 1 not in (a[d], b[d]):
            raise RuntimeError(
                f"The size of tensor a ({a[d]}) must match the size of tensor b ({b[d]}) at "
                f"non-singleton dimension {d}"
            )
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def broadcast_shapes(*shapes):
    """The shape to which all the shapes broadcast."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    n = max(map(len, shapes), default=0)
    r = [1] * n
    for s in shapes:
        for i, size in enumerate(s, n - len(s)):
            if size not in (1, r[i]):
                if r[i] != 1:
                    raise RuntimeError(
                        "Shape mismatch: objects cannot be broadcast to a single shape"
                    )
                r[i] = size
    return _C.Size(r)


@function
def cartesian_prod(*tensors):
    """All combinations of one element each, as rows."""
    if len(members(tensors)) == 1:
        return tensors[0]
    grids = _C.meshgrid(list(tensors), indexing="ij")
    return _C.stack([g.reshape(-1) for g in grids], 1)


@function
def combinations(input: Tensor, r=2, with_replacement=False):
    """Combinations of length r of the elements, as rows."""
    import itertools

    if not 0 <= r <= _MANY:
        raise RuntimeError(f"Expect a non-negative number of elements, at most {_MANY}, got {r}")
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r == 0:
        return input.new_empty(0)
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    at = [i for one in pick(range(input.numel()), r) for i in one]
    return input[_C.tensor(at, dtype=_C.int64)].reshape(-1, r)


def _diagonal_indices(row, col, offset, dtype, device, upper):
    ones = _C.ones(row, col, dtype=_C.bool)
    keep = ones.triu(offset) if upper else ones.tril(offset)
    at = keep.nonzero().t().contiguous()
    return at.to(device=_C._device_or_default(device), dtype=dtype or _C.int64)


def tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """Row and column numbers of the lower triangle."""
    return _diagonal_indices(row, col, offset, dtype, device, False)


def triu_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """Row and column numbers of the upper triangle."""
    return _diagonal_indices(row, col, offset, dtype, device, True)


@both
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each element repeated."""
    if repeats is None:
        places = _C.arange(input.numel()).to(input.dtype)
        return repeat_interleave(places, input, output_size=output_size)
    if dim is None:
        input, dim = input.reshape(-1), 0
    n = input.shape[dim]
    if not isinstance(repeats, Tensor):
        if isinstance(repeats, bool) or not hasattr(repeats, "__index__"):
            kind = type(repeats).__name__
            raise TypeError(f"repeat_interleave(): repeats must be Tensor or int, not {kind}")
        if output_size not in (None, n * repeats):
            raise RuntimeError(
                f"repeat_interleave: Invalid output_size, expected {n * repeats} but got "
                f"{output_size}"
            )
        repeats = _C.full((n,), repeats, dtype=_C.int64)
    if _kind(repeats.dtype) != 1:
        raise NotImplementedError(f"repeat_interleave(): repeats of {repeats.dtype}")
    if repeats.dim() > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    times = repeats.to(_C.int64).reshape(-1)
    times = times.expand(n) if times.numel() == 1 else times
    if times.numel() != n:
        raise RuntimeError("repeats must have the same size as input along dim")
    if n and times.amin().item() < 0:
        raise RuntimeError("repeats can not be negative")
    ends = times.cumsum(0)  # element i stands from ends[i - 1] to ends[i]
    total = ends[-1].item() if n else 0
    if output_size not in (None, total):
        raise RuntimeError("allocated size does not match required size")
    marks = _C.zeros(total + 1, dtype=_C.int64).index_add(0, ends, _C.ones(n, dtype=_C.int64))
    return input.index_select(dim, marks.cumsum(0)[:total])


def _dim(d, n):
    """The number of dimension d of n, which may be negative."""
    if not -n <= d < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})"
        )
    return d % n


# --- layouts --------------------------------------------------------------------------------------


@function
def detach_(input):
    """Makes input a leaf that does not require grad."""
    return input.detach_()


@function
def as_strided_(input, size, stride, storage_offset=None):
    """as_strided, of the tensor itself."""
    return input.as_strided_(size, stride, storage_offset)


@method
def new_empty_strided(
    self, size, stride, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False
):
    """Not initialised, of that size and stride, with self's dtype and device."""
    from .creation import empty_strided

    dtype, device = dtype or self.dtype, device or self.device
    return empty_strided(size, stride, dtype=dtype, device=device, requires_grad=requires_grad)


def _swaps(t, a, b):
    """Whether dimension a stands inside of b in memory (1), outside (-1), or either (0)."""
    (one, two), (m, n) = (t.stride(a), t.stride(b)), (t.shape[a], t.shape[b])
    if not one or not two:
        return 0
    if one == two:
        return 1 if m > n else 0
    return -1 if one < two else 1


@method
def dim_order(self, *, ambiguity_check=False):
    """The dimensions in the order in which they lie in memory, the outermost first."""
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, (bool, list)) or not all(
        isinstance(f, _C.memory_format) for f in formats
    ):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    strides = self.stride()
    equal = any(a == b for a, b in zip(strides, strides[1:], strict=False)) or 1 in self.shape
    fitting = sum(self.is_contiguous(memory_format=f) for f in formats)
    if ambiguity_check and equal and fitting != 1:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given "
            "memory formats."
        )
    if self.dim() > 1 and self.is_contiguous():
        plain = list(range(self.dim()))
        if self.dim() != 4 or not self.is_contiguous(memory_format=_C.channels_last):
            return tuple(plain)
    order = list(reversed(range(self.dim())))  # the innermost first, by insertion
    for i in range(1, len(order)):
        for k in range(i, 0, -1):
            how = _swaps(self, order[k - 1], order[k])
            if how < 0:
                break
            if how > 0:
                order[k - 1], order[k] = order[k], order[k - 1]
    pairs = zip(order, order[1:], strict=False)
    if ambiguity_check and any(_swaps(self, a, b) != -1 for a, b in pairs):
        raise RuntimeError("The tensor does not have unique dim order.")
    return tuple(reversed(order))


def _take_shape(t, size, stride):
    """t in that shape, over its memory, or over more with the same elements in front."""
    if t.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    last = sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    offset, room = t.storage_offset(), t.untyped_storage().nbytes() // t.element_size()
    if 0 in size or offset + last < room:
        return t._become(t.as_strided(size, stride, offset))
    more = _C.empty(offset + last + 1, dtype=t.dtype, device=t.device)
    more[:room].copy_(t.as_strided((room,), (1,), 0))
    return t._become(more.as_strided(size, stride, offset))


@method
def resize_(self, *size, memory_format=None):
    """self in another shape: its elements in memory, then others that are not initialised."""
    if not size:
        raise TypeError('resize_() missing 1 required positional arguments: "size"')
    size = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    like = _C.empty(size, dtype=self.dtype, device="meta")
    if memory_format is _C.preserve_format:
        raise RuntimeError("Unsupported memory format Preserve")
    if memory_format is not None:
        like = like.contiguous(memory_format=memory_format)
    elif tuple(size) == tuple(self.shape) and not self.requires_grad:
        return self
    return _take_shape(self, tuple(size), like.stride())


@both
def resize_as_(input, the_template: Tensor, *, memory_format=None):
    """input in the shape of another tensor, as resize_."""
    if memory_format is _C.preserve_format:
        last = _CHANNELS.get(the_template.dim())
        kept = last is not None and the_template.is_contiguous(memory_format=last)
        memory_format = last if kept and not the_template.is_contiguous() else None
    return input.resize_(tuple(the_template.shape), memory_format=memory_format)


# --- copies of views ------------------------------------------------------------------------------


def _copy_of(name):
    """torch's NAME_copy: what the view NAME shows, in memory of its own."""

    def copy(input, *args, out=None, **kwargs):
        row = getattr(Tensor, name, None) or getattr(_C, name)
        r = row(input, *args, **kwargs)
        if isinstance(r, (tuple, list)):
            if out is None:
                return tuple(t.clone(memory_format=_C.contiguous_format) for t in r)
            if len(out) != len(r):
                raise RuntimeError(f"{name}_copy_out() expected an out= argument of size {len(r)}, "
                                   f"got size {len(out)}")  # fmt: skip
            for to, t in zip(out, r, strict=True):
                to.copy_(t)
            return None  # as torch
        r = r.clone(memory_format=_C.contiguous_format)
        return r if out is None else written(out, r, name + "_copy")

    copy.__name__ = copy.__qualname__ = name + "_copy"
    copy.__doc__ = f"{name}, a copy."
    return function(copy, (Tensor,))


for _name in (
    "as_strided detach diagonal expand permute select slice split split_with_sizes squeeze t "
    "transpose unbind unfold unsqueeze view view_as_complex view_as_real"
).split():
    globals()[_name + "_copy"] = _copy_of(_name)
