"""Products and quotients of sparse tensors, and calls that give them other shapes: more of the
table of _sparse_calls."""

from . import _C
from ._sparse import COO, _Sparse, again, make, nothing, sparse_coo_tensor
from ._sparse_calls import (
    _as,
    _become,
    _call,
    _coalesced,
    _dims,
    _is_number,
    _no_out,
    _none,
    _refused,
    _t,
    add,
    as_coo,
    to_sparse,
    values_at,
)

# --- products and quotients -----------------------------------------------------------------------


@_call("div", "divide", "true_divide", "__truediv__")
def div(input, other, *, rounding_mode=None):
    """By a number."""
    if not isinstance(input, _Sparse) or not _is_number(other):
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor "
                           f"(got shape {list(getattr(other, 'shape', ()))} for divisor)"
                           )  # fmt: skip
    t = input
    if rounding_mode is not None and _C._sparse_layout(t) == COO:
        t = _coalesced(t)
    return again(t, _C.div(t._elements(), other, rounding_mode=rounding_mode), "DivBackward0")


@_call("floor_divide", "__floordiv__")
def _floor_divide(input, other):
    return div(input, other, rounding_mode="floor")


@_call("div_", "divide_", "__itruediv__")
def _div_(self, other, *, rounding_mode=None):
    return _become(self, div(self, other, rounding_mode=rounding_mode))


def _inner(name, a, b):
    if a.dim() != 2 or b.dim() != 2:
        raise RuntimeError(f"{name}: expected matrices, but got {a.dim()}-D and {b.dim()}-D ones")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} "
                           f"and {b.shape[0]}x{b.shape[1]})")  # fmt: skip
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected mat1 and mat2 to have the same dtype, but got: {a.dtype} != "
                           f"{b.dtype}")  # fmt: skip
    for t in (a, b):
        if isinstance(t, _Sparse) and t.dense_dim():
            raise RuntimeError(f"{name}: expected 2 sparse dimensions, but got {t.sparse_dim()}")


@_call("mm", "_sparse_mm")
def mm(input, mat2, reduce=None):
    """The product of two matrices, of which one or both are sparse."""
    _inner("mm", input, mat2)
    if reduce is not None:
        return _reduced(input, mat2, reduce)
    if isinstance(input, _Sparse) and isinstance(mat2, _Sparse):
        return _as(_two(as_coo(input), as_coo(mat2)), _C._sparse_layout(input), "MmBackward0")
    if isinstance(input, _Sparse):
        t = as_coo(input)
        return _C.sparse_mm(t._indices(), t._elements(), t.shape[0], mat2)
    return mm(_t(mat2), input.t()).t()


def _reduced(a, b, reduce):
    """Where mm adds the products of a row and a column, their mean, or the largest or smallest."""
    if not isinstance(a, _Sparse) or a.is_sparse or isinstance(b, _Sparse):
        raise RuntimeError("torch.sparse.mm: reduce expects a CSR and a dense matrix")
    if reduce not in ("sum", "mean", "amax", "amin"):
        raise RuntimeError(f"torch.sparse.mm: reduce={reduce!r} is none of sum, mean, amax, amin")
    t = as_coo(a)
    if reduce == "sum":
        return _C.sparse_mm(t._indices(), t._elements(), t.shape[0], b)
    row, col = t._indices()
    products = t._elements().unsqueeze(1) * b.index_select(0, col)
    zeros = products.new_zeros((t.shape[0], b.shape[1]))
    return zeros.index_reduce(0, row, products, reduce, include_self=False)


def _two(a, b):
    """Of two COO matrices: each element of a meets the row of b that its column names."""
    a, b = _coalesced(a), _coalesced(b)
    (i, k), (row, col) = a._indices(), b._indices()
    ends = _C._convert_indices_from_coo_to_csr(row, b.shape[0])
    count = (ends[1:] - ends[:-1])[k]
    first = ends[:-1][k]
    of_a = _C.arange(k.numel(), device=k.device).repeat_interleave(count)
    begin = count.cumsum(0) - count
    of_b = _C.arange(of_a.numel(), device=k.device) - begin[of_a] + first[of_a]
    values = a._elements().index_select(0, of_a) * b._elements().index_select(0, of_b)
    indices = _C.stack((i[of_a], col[of_b]))
    size = (a.shape[0], b.shape[1])
    return _coalesced(make(COO, (indices, values), size), "MmBackward0")


def smm(input, mat2):
    """mm of a sparse and a dense matrix, as a sparse one."""
    return to_sparse(mm(input, mat2))


def hspmm(mat1, mat2, *, out=None):
    """The same with one sparse dimension, the rows."""
    _no_out("hspmm", out)
    return to_sparse(mm(mat1, mat2), 1)


def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """beta input + alpha mat1 mat2, all but mat2 sparse."""
    _no_out("sspaddmm", out)
    return add(input if beta == 1 else input * beta, smm(mat1, mat2), alpha=alpha)


for _f in (smm, hspmm, sspaddmm):
    _call(_f.__name__)(_f)
hsmm, saddmm = hspmm, sspaddmm
spmm = dsmm = _C.mm  # as torch's


@_call("svd_lowrank")
def _svd_lowrank(A, q=6, niter=2, M=None):
    from ._functions.products import lowrank

    adjoint = A.mH
    if M is None:
        return lowrank(A, 6 if q is None else q, niter, lambda X: A @ X, lambda X: adjoint @ X)
    M = M.broadcast_to(A.shape)
    return lowrank(A, 6 if q is None else q, niter, lambda X: A @ X - M @ X,
                   lambda X: adjoint @ X - M.mH @ X)  # fmt: skip


@_call("pca_lowrank")
def _pca_lowrank(A, q=None, center=True, niter=2):
    """Of A - 1 c, where c are the means of the columns; the difference is not formed."""
    from ._functions.products import lowrank, pca_rank

    if A.dim() != 2:
        raise ValueError("pca_lowrank input is expected to be 2-dimensional tensor")
    q = pca_rank(A, q, niter)
    if not center:
        return _svd_lowrank(A, q, niter)
    adjoint, rows = A.mH, A.shape[0]
    c = _C.mm(adjoint, _C.ones(rows, 1, dtype=A.dtype, device=A.device)).mH / rows
    return lowrank(A, q, niter, lambda X: A @ X - c @ X,
                   lambda X: adjoint @ X - c.mH @ X.sum(-2, keepdim=True))  # fmt: skip


@_call("bmm")
def _bmm(input, mat2):
    if not isinstance(input, _Sparse) or isinstance(mat2, _Sparse):
        raise _refused("bmm", (input, mat2), {})
    if input.dim() != 3 or mat2.dim() != 3 or input.dense_dim():
        raise RuntimeError("bmm: batches of matrices are expected")
    (n, rows, inner), (k, other, columns) = input.shape, mat2.shape
    if n != k or inner != other:
        raise RuntimeError(f"bmm: Expected size for first two dimensions of mat2 to be [{n}, "
                           f"{inner}] but got: [{k}, {other}]")  # fmt: skip
    batch, i, j = input._indices()
    indices = _C.stack((batch * rows + i, batch * inner + j))
    flat = mat2.reshape(n * inner, columns)
    return _C.sparse_mm(indices, input._elements(), n * rows, flat).reshape(n, rows, columns)


@_call("mv")
def _mv(input, vec):
    if input.dim() != 2 or vec.dim() != 1:
        raise RuntimeError("mv: Expected a matrix and a vector, but got "
                           f"{input.dim()}-D and {vec.dim()}-D")  # fmt: skip
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(f"mv: expected self.size(-1) == vec.size(-1), got {input.shape[1]} and "
                           f"{vec.shape[0]}")  # fmt: skip
    return mm(input, vec.unsqueeze(1)).squeeze(1)


@_call("matmul", "__matmul__")
def matmul(input, other):
    """mm or mv."""
    if input.dim() == 2 and other.dim() == 1 and isinstance(input, _Sparse):
        return _mv(input, other)
    if input.dim() == 1 and other.dim() == 2 and isinstance(other, _Sparse):
        return _mv(_t(other), input)
    if input.dim() != 2 or other.dim() != 2:
        raise NotImplementedError("torch.matmul of sparse tensors: matrices are expected, but got "
                                  f"{input.dim()}-D and {other.dim()}-D")  # fmt: skip
    return mm(input, other)


@_call("__rmatmul__")
def _rmatmul(self, other):
    return matmul(other, self)


@_call("linear")
def _linear(input, weight, bias=None):
    if isinstance(input, _Sparse) or isinstance(bias, _Sparse):
        raise _refused("nn.functional.linear", (input, weight, bias), {})
    flat = input.reshape(-1, input.shape[-1])
    y = mm(flat, _t(weight)).reshape(*input.shape[:-1], weight.shape[0])
    return y if bias is None else y + bias


@_call("addmm", "_sparse_addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta input + alpha mat1 mat2."""
    if not isinstance(mat1, _Sparse) and not isinstance(mat2, _Sparse):
        raise _refused("addmm", (input, mat1, mat2), {})
    product = mm(mat1, mat2)
    if not product.dtype.is_floating_point and not product.dtype.is_complex:
        alpha, beta = int(alpha), int(beta)  # as torch has it
    product = product if alpha == 1 else (product * alpha).to(product.dtype)
    if beta == 0 and not isinstance(input, _Sparse):
        input.expand(product.shape)  # must fit all the same
        return product
    input = input if beta == 1 else (input * beta).to(input.dtype)
    return add(input, product) if isinstance(product, _Sparse) else input + product


@_call("sparse_sampled_addmm")
def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """beta input + alpha mat1 mat2 at the places of input."""
    _no_out("sparse_sampled_addmm", out)
    if not isinstance(input, _Sparse) or input.is_sparse:
        raise RuntimeError("sampled_addmm: Expected input to be of layout torch.sparse_csr")
    _inner("sampled_addmm", mat1, mat2)
    if input.shape != (mat1.shape[0], mat2.shape[1]):
        raise RuntimeError("sampled_addmm: self and mat1 @ mat2 differ in shape")
    indices = as_coo(input)._indices()
    row, col = indices
    if mat1.is_cpu and mat1.dtype in (_C.float32, _C.float64):
        values = _C.sparse_dots(indices, mat1, mat2.t())
    else:
        values = (mat1.index_select(0, row) * mat2.t().index_select(0, col)).sum(1)
    return again(input, input._elements() * beta + values * alpha, "SparseSampledAddmmBackward0")


@_call("sparse_mask", "_sparse_mask_helper")
def sparse_mask(self, mask):
    """The elements of self at the places of mask."""
    if not isinstance(mask, _Sparse):
        raise RuntimeError("sparse_mask: mask must be sparse")
    if self.shape != mask.shape:
        raise RuntimeError("sparse_mask(): operands have incompatible sizes; self has size "
                           f"{list(self.shape)} but mask has size {list(mask.shape)}")  # fmt: skip
    if mask.is_sparse and not mask.is_coalesced():
        raise RuntimeError("sparse_mask: mask is uncoalesced")
    indices = as_coo(mask)._indices()
    values = (values_at if isinstance(self, _Sparse) else _C.sparse_take)(self, indices)
    return again(mask, values, "SparseMaskBackward0")


# --- shapes ---------------------------------------------------------------------------------------


@_call("unsqueeze")
def _unsqueeze(self, dim):
    n = self.dim()
    if not -n - 1 <= dim <= n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n - 1}, {n}], but "
                         f"got {dim})")  # fmt: skip
    t, dim = as_coo(self, "unsqueeze"), dim % (n + 1)
    indices, values, sd = t._indices(), t._elements(), t.sparse_dim()
    if dim <= sd:
        zeros = _C.zeros((1, indices.shape[1]), dtype=_C.int64, device=indices.device)
        indices = _C.cat((indices[:dim], zeros, indices[dim:]))
    else:
        values = values.unsqueeze(dim - sd + 1)
    size = [*t.shape[:dim], 1, *t.shape[dim:]]
    return make(COO, (indices, values), size, t.is_coalesced(), "UnsqueezeBackward0")


@_call("squeeze")
def _squeeze(self, dim=None):
    t = as_coo(self, "squeeze")
    n, sd = t.dim(), t.sparse_dim()
    drop = [d for d in (range(n) if dim is None else _dims(dim, n)) if t.shape[d] == 1]
    keep = [d for d in range(sd) if d not in drop]
    values = t._elements()
    for d in reversed([d for d in drop if d >= sd]):
        values = values.squeeze(d - sd + 1)
    indices = t._indices()[keep]
    size = [s for d, s in enumerate(t.shape) if d not in drop]
    return make(COO, (indices, values), size, t.is_coalesced(), "SqueezeBackward0")


def _at(index, n, dim):
    if not -n <= index < n:
        raise IndexError(f"select(): index {index} out of range for tensor of size {n} at "
                         f"dimension {dim}")  # fmt: skip
    return index % n


@_call("select")
def select(self, dim, index):
    """One place of a dimension."""
    t = as_coo(self, "select")
    dim = _dims(dim, t.dim())[0]
    index, sd = _at(index, t.shape[dim], dim), t.sparse_dim()
    size = [s for d, s in enumerate(t.shape) if d != dim]
    if dim >= sd:
        values = t._elements().select(dim - sd + 1, index)
        return make(COO, (t._indices(), values), size, t.is_coalesced(), "SelectBackward0")
    picked = (t._indices()[dim] == index).nonzero()[:, 0]
    values = t._elements().index_select(0, picked)
    if sd == 1:
        kind = None if values.dtype == _C.bool else values.dtype
        return values.sum(0, dtype=kind).to(values.dtype)
    rows = [d for d in range(sd) if d != dim]
    indices = t._indices()[rows][:, picked]
    return make(COO, (indices, values), size, t.is_coalesced(), "SelectBackward0")


@_call("narrow_copy", "narrow")
def _narrow(self, dim, start, length):
    t = as_coo(self, "narrow")
    dim = _dims(dim, t.dim())[0]
    start = start + t.shape[dim] if start < 0 else start
    if length < 0 or start < 0 or start + length > t.shape[dim]:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size "
                           f"({t.shape[dim]}).")  # fmt: skip
    sd = t.sparse_dim()
    size = [length if d == dim else s for d, s in enumerate(t.shape)]
    indices, values = t._indices(), t._elements()
    if dim >= sd:
        values = values.narrow(dim - sd + 1, start, length)
        return make(COO, (indices, values), size, t.is_coalesced(), "NarrowBackward0")
    row = indices[dim]
    picked = ((row >= start) & (row < start + length)).nonzero()[:, 0]
    indices = indices[:, picked].clone()
    indices[dim] -= start
    values = values.index_select(0, picked)
    return make(COO, (indices, values), size, t.is_coalesced(), "NarrowBackward0")


@_call("index_select")
def _index_select(self, dim, index):
    t = as_coo(self, "index_select")
    dim = _dims(dim, t.dim())[0]
    if index.dim() > 1:
        raise IndexError("index_select() argument index must be 1-D LongTensor-like.")
    index, n, sd = index.reshape(-1), t.shape[dim], t.sparse_dim()
    if index.numel() and bool(((index < -n) | (index >= n)).any()):
        raise IndexError("index_select(): index out of bounds")
    index = _C.where(index < 0, index + n, index).long()
    size = [index.numel() if d == dim else s for d, s in enumerate(t.shape)]
    if dim >= sd:
        values = t._elements().index_select(dim - sd + 1, index)
        return make(COO, (t._indices(), values), size, t.is_coalesced(), "IndexSelectBackward0")
    t = _coalesced(t)
    order = t._indices()[dim].argsort()
    row = t._indices()[dim][order]
    first, last = _C.searchsorted(row, index), _C.searchsorted(row, index, right=True)
    count = last - first
    new = _C.arange(index.numel(), device=row.device).repeat_interleave(count)
    begin = count.cumsum(0) - count
    picked = order[_C.arange(new.numel(), device=row.device) - begin[new] + first[new]]
    rows = [new if d == dim else r[picked] for d, r in enumerate(t._indices())]
    values = t._elements().index_select(0, picked)
    return make(COO, (_C.stack(rows), values), size, False, "IndexSelectBackward0")


@_call("__getitem__")
def _getitem(self, key):
    if not isinstance(self, _Sparse):
        raise _refused("Tensor.__getitem__", (self, key), {})
    t, dim, keys = self, 0, key if isinstance(key, tuple) else (key,)
    for i, k in enumerate(keys):
        if isinstance(k, bool) or not isinstance(k, (int, slice)) and k not in (None, ...):
            raise NotImplementedError(
                f"a tensor of layout {self.layout} is not indexed with {type(k).__name__}"
            )
        if k is None:
            t, dim = _unsqueeze(t, dim), dim + 1
        elif k is ...:
            dim += self.dim() - sum(x is not None and x is not ... for x in keys)
        elif isinstance(k, slice):
            start, stop, step = k.indices(t.shape[dim])
            if step != 1:
                raise NotImplementedError("a slice of a sparse tensor has step 1")
            if (start, stop) != (0, t.shape[dim]):
                t = _narrow(t, dim, start, max(stop - start, 0))
            dim += 1
        else:
            if dim >= t.dim():
                raise IndexError(f"too many indices for tensor of dimension {self.dim()}")
            t = select(t, dim, k)
            if not isinstance(t, _Sparse):  # it had one sparse dimension
                rest = keys[i + 1 :]
                _enough(self, keys)
                return t[(slice(None),) * dim + rest] if rest else t
    return t


def _enough(self, keys):
    if sum(k is not None and k is not ... for k in keys) > self.dim():
        raise IndexError(f"too many indices for tensor of dimension {self.dim()}")


@_call("cat", "concat", "concatenate")
def cat(tensors, dim=0):
    """Sparse tensors one behind the other."""
    if not all(isinstance(t, _Sparse) for t in tensors):
        raise RuntimeError("Concatenating sparse tensors, but a dense tensor was found")
    all_ = [as_coo(t) for t in tensors]
    first = all_[0]
    dim, sd = _dims(dim, first.dim())[0], first.sparse_dim()
    for i, t in enumerate(all_):
        same = [a for d, a in enumerate(t.shape) if d != dim]
        if t.sparse_dim() != sd or same != [a for d, a in enumerate(first.shape) if d != dim]:
            raise RuntimeError(f"All tensors must have the same shape: {list(first.shape)} (except "
                               f"in the concatenating dimension), but found shape: {list(t.shape)} "
                               f"at position {i}.")  # fmt: skip
    size, at = list(first.shape), 0
    size[dim] = sum(t.shape[dim] for t in all_)
    rows, values = [], []
    for t in all_:
        indices, v = t._indices(), t._elements()
        if dim < sd:
            indices = indices.clone()
            indices[dim] += at
        else:
            d = dim - sd + 1
            before = v.new_zeros([at if k == d else s for k, s in enumerate(v.shape)])
            rest = size[dim] - at - t.shape[dim]
            after = v.new_zeros([rest if k == d else s for k, s in enumerate(v.shape)])
            v = _C.cat((before, v, after), d)
        at += t.shape[dim]
        rows.append(indices)
        values.append(v)
    return make(COO, (_C.cat(rows, 1), _C.cat(values)), size, False, "CatBackward0")


@_call("stack")
def stack(tensors, dim=0):
    """Sparse tensors side by side in a new dimension."""
    return cat([_unsqueeze(t, dim) for t in tensors], dim)


@_call("sparse_resize_", "sparse_resize_and_clear_")
def _resize(self, size, sparse_dim, dense_dim):
    raise _refused("Tensor.sparse_resize_", (self,), {})


@_call("lobpcg")
def _lobpcg(*args, **kwargs):
    from ._functions.products import lobpcg

    return lobpcg.__wrapped__(*args, **kwargs)


# --- new tensors ----------------------------------------------------------------------------------


@_call("zeros_like", "empty_like")
def _zeros_like(self, *, dtype=None, layout=None, device=None, requires_grad=False,
                pin_memory=False, memory_format=None):  # fmt: skip
    if memory_format is not None and layout is not _C.strided:
        raise RuntimeError("memory format option is only supported by strided tensors")
    if layout is _C.strided:
        t = _C.zeros(self.shape, dtype=dtype or self.dtype, device=device or self.device)
        if memory_format not in (None, _C.preserve_format):
            t = t.contiguous(memory_format=memory_format)
        return t.requires_grad_(requires_grad)
    return _none(self, dtype, device).requires_grad_(requires_grad)


@_call("new_zeros", "new_empty")
def _new_zeros(self, *size, dtype=None, device=None, requires_grad=False, layout=None,
               pin_memory=False):  # fmt: skip
    size = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    indices = _C.zeros((len(size), 0), dtype=_C.int64, device=device or self.device)
    values = _C.zeros(0, dtype=dtype or self.dtype, device=device or self.device)
    return make(COO, (indices, values), size, True).requires_grad_(requires_grad)


@_call("new")
def _new(self, *args, size=None):
    """A tensor of self's dtype: of sizes, without elements, or of indices and values."""
    if _C._sparse_layout(self) != COO:
        raise _refused("new", (self,), {})
    if not args or isinstance(args[0], (int, tuple)):
        return nothing(_C.sparse_coo, size or _sizes(args), dtype=self.dtype, device=self.device)
    return sparse_coo_tensor(*args, dtype=self.dtype, device=self.device)


def _sizes(args):
    return tuple(args[0] if args and not isinstance(args[0], int) else args or (0,))
