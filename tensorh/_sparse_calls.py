"""What calls do with sparse arguments, by their names. A call that stands here with none of these
names is refused with its name and the layout: no call takes a sparse tensor for a dense one.

Results of a matrix of layout CSR or CSC have that layout where the places stay; all else is
computed as COO."""

from . import _C
from ._C import Tensor
from ._functions.dtypes import _scalar_type, can_cast, result_type
from ._sparse import COO, CSC, CSR, LAYOUTS, _Sparse, again, make, parts_of

_CALLS = {}


def call(func, args, kwargs):
    """func(*args, **kwargs), of which an argument is sparse."""
    name = getattr(func, "__name__", str(func))
    if name in ("__get__", "__set__", "__delete__"):
        return _attribute(func, name, args, kwargs)
    if name in _PLAIN:
        with _C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)
    f = _CALLS.get(name)
    if f is None:
        raise _refused(name, args, kwargs)
    out = kwargs.get("out")
    if out is None or name in _OWN_OUT:
        return f(*args, **kwargs)
    kwargs = {k: v for k, v in kwargs.items() if k != "out"}
    return _written(out, call(func, args, kwargs), name)


_OWN_OUT = ("hspmm", "sspaddmm", "sampled_addmm")


def _written(out, result, name):
    """The result in out=, which is as sparse as it is."""
    if isinstance(out, _Sparse) != isinstance(result, _Sparse):
        raise RuntimeError(f"{name}(): the result has layout {result.layout}, but out= has layout "
                           f"{out.layout}")  # fmt: skip
    if isinstance(out, _Sparse):
        return _become(out, _castable(result, out))
    from ._functions._out import written

    return written(out, result, name)


def _castable(result, to):
    """result, which can be written into a tensor of to's dtype."""
    if not can_cast(result.dtype, to.dtype):
        raise RuntimeError(f"result type {_scalar_type(result.dtype)} can't be cast to the desired "
                           f"output type {_scalar_type(to.dtype)}")  # fmt: skip
    return result


def _refused(name, args, kwargs):
    found = []

    def look(a):
        if isinstance(a, _Sparse):
            found.append(a.layout)
        elif isinstance(a, (list, tuple)):
            for x in a:
                look(x)

    look([*args, *kwargs.values()])
    layout = found[0] if found else _C.sparse_coo
    return NotImplementedError(
        f"torch.{name} is not computed for tensors of layout {layout}; to_dense() gives a dense one"
    )


# Calls that read the header alone, or ask the values by themselves.
_PLAIN = frozenset(
    """size dim ndimension numel nelement element_size is_complex is_floating_point is_signed
    is_inference is_same_size get_device requires_grad_ storage_offset detach_ is_neg is_conj
    is_pinned is_tensor is_storage __hash__ __sizeof__ __dir__ _make_subclass is_distributed
    result_type can_cast""".split()
)
_PLAIN_ATTRIBUTES = frozenset(
    """shape dtype device ndim itemsize requires_grad is_leaf is_cpu is_cuda is_meta is_mps is_xpu
    is_mkldnn is_nested is_quantized _version nbytes __dict__""".split()
)


def _attribute(func, kind, args, kwargs):
    name = getattr(func.__self__, "__name__", "")
    if name in _PLAIN_ATTRIBUTES:
        with _C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)
    if kind == "__get__" and name in ("T", "mT"):
        return _t(args[0])
    if kind == "__get__" and name in ("H", "mH"):
        return again(_t(args[0]), _t(args[0])._elements().conj())
    if kind == "__get__" and name == "retains_grad":
        return args[0]._elements().retains_grad
    if kind == "__get__" and name == "real":
        return again(args[0], args[0]._elements().real)
    raise _refused(f"Tensor.{name}", args, kwargs)


def _call(*names):
    def known(f):
        for name in names:
            _CALLS[name] = f
        return f

    return known


def _layout(t):
    return _C._sparse_layout(t) if isinstance(t, _Sparse) else 0


def _no_out(name, out):
    if out is not None:
        raise NotImplementedError(f"{name}(): out= is not supported for sparse tensors")


# --- between layouts ------------------------------------------------------------------------------


def as_coo(t, name="a call of sparse tensors"):
    """t in layout COO, over the same values; an error that has the call's name for a dense one."""
    layout = _C._sparse_layout(t) if isinstance(t, Tensor) else 0
    if not layout:
        what = f"a tensor of layout {t.layout}" if isinstance(t, Tensor) else type(t).__name__
        raise TypeError(f"{name}: expected a sparse tensor, but got {what}")
    if layout == COO:
        return t
    ends, places, values = parts_of(t)
    indices = _C._convert_indices_from_csr_to_coo(ends, places, transpose=layout == CSC)
    return make(COO, (indices, values), t.shape, layout == CSR, "ToSparseBackward0")


def _as(t, layout, name=None):
    """A COO tensor in another layout."""
    if layout == COO:
        return t
    if t.dim() != 2 or t.dense_dim():
        raise RuntimeError(
            f"Only tensors with two sparse dimensions and no dense ones can be converted to the "
            f"{LAYOUTS[layout]} layout, but got {t.sparse_dim()} and {t.dense_dim()}"
        )
    if layout == CSC:
        t = _coalesced(_t(t))
        row, col = t._indices()
        ends = _C._convert_indices_from_coo_to_csr(row, t.shape[0])
        return make(CSC, (ends, col, t._elements()), t.shape[::-1], False, name)
    t = _coalesced(t)
    row, col = t._indices()
    ends = _C._convert_indices_from_coo_to_csr(row, t.shape[0])
    return make(CSR, (ends, col, t._elements()), t.shape, False, name)


def _coalesced(t, name="CoalesceBackward0"):
    if t.is_coalesced():
        return t
    indices, values = _C.sparse_coalesce(t._indices(), t._elements(), list(t.shape))
    return make(COO, (indices, values), t.shape, True, name)


@_call("coalesce")
def coalesce(self):
    """The places in order, each once."""
    self._part(0, "coalesce", COO)
    return _coalesced(self)


@_call("to_dense")
def to_dense(self, dtype=None, *, masked_grad=None):
    """The dense tensor."""
    t = as_coo(self)
    made = _C.sparse_to_dense(t._indices(), t._elements(), list(t.shape))
    return made if dtype is None else made.to(dtype)


def _dims_of(t, sparse_dim):
    if sparse_dim is None:
        return t.dim()
    if not 0 <= sparse_dim <= t.dim() or (sparse_dim == 0 and t.dim() > 0):
        raise RuntimeError("sparse_dim argument must be in >0 and <= "
                           f"{t.dim()}, but got {sparse_dim}")  # fmt: skip
    return sparse_dim


@_call("to_sparse", "to_sparse_coo")
def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """Layout COO, or another one."""
    if isinstance(sparse_dim, _C.layout if hasattr(_C, "layout") else type(_C.strided)):
        sparse_dim, layout = None, sparse_dim
    if blocksize is not None or layout in (_C.sparse_bsr, _C.sparse_bsc):
        raise NotImplementedError(f"to_sparse(): layout {layout} is not supported")
    number = COO if layout is None else LAYOUTS.index(layout)
    if isinstance(self, _Sparse):
        if number == _C._sparse_layout(self):
            if sparse_dim not in (None, self.sparse_dim()):
                raise RuntimeError("to_sparse: conversion from Sparse to Sparse with sparse_dim "
                                   "argument !=self.sparse_dim() is not supported")  # fmt: skip
            return self
        t = as_coo(self)
        return _as(t, number, "ToSparseBackward0")
    n = _dims_of(self, sparse_dim)
    picked = self.detach()
    if n < self.dim():
        picked = (picked != 0).flatten(n).any(-1)
    indices = picked.nonzero().t()
    if not self.dim():
        indices = _C.zeros((0, int(picked != 0)), dtype=_C.int64, device=self.device)
    t = make(COO, (indices, _C.sparse_take(self, indices)), self.shape, True,
             "ToSparseBackward0")  # fmt: skip
    return _as(t, number, "ToSparseBackward0")


@_call("to_sparse_csr")
def to_sparse_csr(self, dense_dim=None):
    """Layout CSR."""
    return _matrix(self, _C.sparse_csr, dense_dim)


@_call("to_sparse_csc")
def to_sparse_csc(self, dense_dim=None):
    """Layout CSC."""
    return _matrix(self, _C.sparse_csc, dense_dim)


def _matrix(self, layout, dense_dim):
    if dense_dim not in (None, 0):
        raise NotImplementedError(f"{layout} with dense dimensions is not supported")
    if self.dim() != 2:
        kind = RuntimeError if self.dim() < 2 else NotImplementedError
        raise kind(f"conversion to {layout} is not supported for {self.dim()} dimensions")
    return to_sparse(self, layout=layout)


def _t(self):
    sparse, dense = self.sparse_dim(), self.dense_dim()
    if sparse > 2 or dense:
        raise RuntimeError(
            "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got "
            f"{sparse} sparse and {dense} dense dimensions"
        )
    return self if self.dim() < 2 else transpose(self, 0, 1)


_call("t")(_t)


@_call("adjoint")
def _adjoint(self):
    t = transpose(self, -2, -1)
    return again(t, t._elements().conj())


@_call("transpose", "swapaxes", "swapdims")
def transpose(input, dim0, dim1):
    """Two dimensions exchanged, both sparse or both dense."""
    n = input.dim()
    a, b = _dims(dim0, n)[0], _dims(dim1, n)[0]
    order = list(range(n))
    order[a], order[b] = b, a
    return _permuted(input, order, "TransposeBackward0")


@_call("permute")
def _permute(self, *dims):
    dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    if len(dims) != self.dim():
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not "
                           f"match the length of the desired ordering of dimensions i.e. "
                           f"input.dim() = {self.dim()} is not equal to len(dims) = {len(dims)}"
                           )  # fmt: skip
    order = [_dims(d, self.dim())[0] for d in dims]
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permuted(self, order, "PermuteBackward0")


def _permuted(t, order, name):
    number = _C._sparse_layout(t)
    if number != COO:
        if order == [0, 1]:
            return t
        return make(CSC if number == CSR else CSR, parts_of(t), t.shape[::-1], False, name)
    sd = t.sparse_dim()
    if sorted(order[:sd]) != list(range(sd)):
        raise RuntimeError("transpose: can only exchange sparse dimensions with sparse ones, and "
                           "dense dimensions with dense ones")  # fmt: skip
    indices = t._indices()[order[:sd]] if sd else t._indices()
    values = t._elements().permute(0, *(d - sd + 1 for d in order[sd:]))
    same = order[:sd] == list(range(sd)) and t.is_coalesced()
    return make(COO, (indices, values), [t.shape[d] for d in order], same, name)


# --- copies ---------------------------------------------------------------------------------------


@_call("detach")
def _detach(self):
    return again(self, self._elements().detach())


@_call("clone")
def _clone(self, *, memory_format=None):
    *places, values = parts_of(self)
    layout = _C._sparse_layout(self)
    parts = (*(p.clone() for p in places), values.clone())
    return make(layout, parts, self.shape, _C._sparse_coalesced(self), "CloneBackward0")


@_call("to")
def _to(self, *args, **kwargs):
    copy = kwargs.pop("copy", False)
    if kwargs.get("memory_format") not in (None, _C.preserve_format):
        raise RuntimeError("sparse tensors have no memory format")
    kwargs.pop("memory_format", None)
    if args and isinstance(args[0], _Sparse):
        args = (args[0].device, args[0].dtype, *args[1:])
    values = self._elements().to(*args, **kwargs)
    if values is self._elements():
        return _clone(self) if copy else self
    places = tuple(p.to(values.device) for p in parts_of(self)[:-1])
    layout = _C._sparse_layout(self)
    return make(layout, (*places, values), self.shape, _C._sparse_coalesced(self),
                "ToCopyBackward0")  # fmt: skip


def _casts():
    names = "double float half bfloat16 long int short bool cfloat cdouble char byte".split()
    for name in names:
        _CALLS[name] = lambda self, *args, _name=name, **kw: _of_values(self, _name, args, kw)


def _of_values(self, name, args, kwargs):
    values = getattr(self._elements(), name)(*args, **kwargs)
    return self if values is self._elements() else again(self, values, "ToCopyBackward0")


_casts()


@_call("cpu")
def _cpu(self):
    return _to(self, "cpu")


@_call("cuda")
def _cuda(self, device=None, non_blocking=False):
    to = _C.device("cuda" if device is None else device)
    if to.type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    return _to(self, to)


@_call("type", "type_as")
def _type(self, dtype=None, non_blocking=False):
    if dtype is None:
        names = self._elements().type().split(".")
        return f"torch.sparse.{names[-1]}"
    return _to(self, dtype.dtype if isinstance(dtype, Tensor) else dtype)


@_call("item")
def _item(self):
    if self.numel() != 1:
        raise RuntimeError(
            f"a Tensor with {self.numel()} elements cannot be converted to Scalar"
        )
    return to_dense(self).item()


@_call("tolist")
def _tolist(self):
    return to_dense(self.detach()).tolist()


@_call("numpy", "__array__", "__dlpack__")
def _numpy(self, *args, **kwargs):
    raise TypeError(
        "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."
    )


@_call("data_ptr", "storage", "untyped_storage")
def _data_ptr(self):
    raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


@_call("is_contiguous")
def _is_contiguous(self, memory_format=None):
    return False


@_call("stride")
def _stride(self, dim=None):
    raise RuntimeError("sparse tensors do not have strides")


@_call("is_nonzero")
def _is_nonzero(self):
    return bool(self)


def _none(t, dtype=None, device=None):
    """No elements, of t's layout and shape."""
    number, device = _C._sparse_layout(t), device or t.device
    values = t._elements().detach()[:0].to(device=device, dtype=dtype or t.dtype)
    if number == COO:
        indices = _C.zeros((t.sparse_dim(), 0), dtype=_C.int64, device=device)
        return make(COO, (indices, values), t.shape, True)
    ends, places, _ = parts_of(t)
    return make(number, (_C.zeros_like(ends), places[:0], values), t.shape)


def _become(self, other):
    """self with the parts of other, in its own dtype; its values keep their history only where
    nothing records."""
    if self.requires_grad and _C.is_grad_enabled():
        what = "a leaf Variable that requires grad is being used in an in-place operation."
        raise RuntimeError(what if self.is_leaf else "sparse tensors with history are not written")
    if self.requires_grad and self.is_leaf:
        other = _leaf_of(self, other)
    if other.dtype is not self.dtype:
        other = again(other, other._elements().to(self.dtype))
    _C._sparse_set(self, other)
    return self


def _leaf_of(t, other):
    """other as a leaf that stands for the leaf t: with its gradient, at the places of other; more
    places than t has are coalesced, so that steps of an optimizer do not add them up."""
    if other._nnz() > t._nnz() and _C._sparse_layout(other) == COO:
        other = _coalesced(other)
    own = again(other, other._elements().detach()).requires_grad_(True)
    if t.grad is not None:
        own.grad = t.grad.to(other.dtype)
    return own


@_call("zero_")
def _zero_(self):
    return _become(self, _none(self))


@_call("copy_")
def _copy_(self, src, non_blocking=False):
    if not isinstance(self, _Sparse) or not isinstance(src, _Sparse):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self layout = "
            f"{self.layout} and src layout = {src.layout}"
        )
    if self.shape != src.shape or self.layout is not src.layout:
        raise RuntimeError("copy_(): sparse tensors of one shape and layout are expected")
    return _become(self, _clone(_to(src, self.dtype)))


# --- one argument ---------------------------------------------------------------------------------

# Functions of elements that give 0 for 0; linear ones need not add the values of a place first.
_LINEAR = "neg negative positive conj conj_physical resolve_conj resolve_neg".split()
_ZERO = """abs absolute sgn sign signbit ceil floor round trunc fix frac sqrt sin tan sinh tanh asin
asinh atan arcsin arcsinh arctan atanh arctanh erf erfinv expm1 log1p relu isnan isinf isposinf
isneginf square nan_to_num angle deg2rad rad2deg""".split()


def _elementwise():
    for name in _LINEAR + _ZERO:
        linear = name in _LINEAR

        def f(self, *args, _name=name, _linear=linear, **kwargs):
            kwargs.pop("inplace", None)
            t = self if _linear or _C._sparse_layout(self) != COO else _coalesced(self)
            own = getattr(Tensor, _name, None) or getattr(_C, _name)
            return again(t, own(t._elements(), *args, **kwargs), _title(_name))

        _CALLS[name] = f
        _CALLS[name + "_"] = lambda self, *a, _f=f, **kw: _become(
            self, _castable(_f(self, *a, **kw), self)
        )
    _CALLS["__neg__"] = _CALLS["neg"]
    _CALLS["__abs__"] = _CALLS["abs"]
    _CALLS["__pos__"] = _CALLS["positive"]


def _title(name):
    return "".join(w.capitalize() for w in name.strip("_").split("_")) + "Backward0"


_elementwise()


@_call("float_power")
def _float_power(self, exponent):
    if not isinstance(self, _Sparse):
        raise _refused("float_power", (self, exponent), {})
    wide = self.dtype.is_complex or isinstance(exponent, complex)
    return _pow(self.to(_C.complex128 if wide else _C.float64), exponent)


@_call("pow", "__pow__")
def _pow(self, exponent):
    if isinstance(exponent, Tensor) or not isinstance(self, _Sparse):
        raise _refused("pow", (self, exponent), {})
    if exponent == 0:
        raise RuntimeError("pow(): cannot raise to zeroth power on sparse tensor; it would make "
                           "the result tensor dense")  # fmt: skip
    t = _coalesced(self) if _C._sparse_layout(self) == COO else self
    if isinstance(exponent, complex) or exponent < 0:
        raise NotImplementedError("pow(): a negative or complex power of a sparse tensor is dense")
    return again(t, t._elements() ** exponent, "PowBackward0")


def _dims(dim, n):
    dims = [dim] if isinstance(dim, int) else list(dim)
    for d in dims:
        if not -n <= d < max(n, 1):
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], "
                             f"but got {d})")  # fmt: skip
    return sorted({d % max(n, 1) for d in dims})


@_call("sum")
def sum_of(input, dim=None, keepdim=False, *, dtype=None, whole=True):
    """The sum of all elements, or a sparse tensor of the sums along dimensions; whole: of integers
    as int64."""
    t = as_coo(input)
    values = t._elements()
    if dim is None or dim == () or dim == []:
        return values.sum() if dtype is None else values.sum(dtype=dtype)
    dims, sd = _dims(dim, t.dim()), t.sparse_dim()
    inner = [d - sd + 1 for d in dims if d >= sd]
    if inner:
        values = values.sum(inner, keepdim, dtype=dtype or (None if whole else values.dtype))
    elif dtype is not None:
        values = values.to(dtype)
    elif whole and not values.dtype.is_floating_point and not values.dtype.is_complex:
        values = values.to(_C.int64)
    outer = [d for d in dims if d < sd]
    size = [1 if d in dims else s for d, s in enumerate(t.shape) if keepdim or d not in dims]
    if len(outer) == sd:
        return values.sum(0).reshape(size)
    rows = [r * 0 if d in outer else r for d, r in enumerate(t._indices())
            if keepdim or d not in outer]  # fmt: skip
    indices = _C.stack(rows) if rows else _C.zeros(
        (0, values.shape[0]), dtype=_C.int64, device=values.device
    )
    made = make(COO, (indices, values), size, t.is_coalesced() and not outer, "SumBackward1")
    return _as(_coalesced(made) if outer else made, _layout(input) if len(size) == 2 else COO)


@_call("softmax", "log_softmax", "_sparse_softmax", "_sparse_log_softmax")
def _softmax(input, dim=None, *args, **kwargs):
    raise _refused("softmax", (input,), {})


def softmax_of(input, dim, dtype, log):
    """The softmax along dim over the elements that are there."""
    if not isinstance(input, _Sparse) or not input.is_sparse:
        raise NotImplementedError("torch.sparse.softmax: layout torch.sparse_coo is expected")
    t = _coalesced(input if dtype is None else _to(input, dtype))
    values = _C.sparse_softmax(t._indices(), t._elements(), list(t.shape), dim, log)
    return again(t, values, "SparseLogSoftmaxBackward0" if log else "SparseSoftmaxBackward0")


@_call("norm")
def _norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    if dim not in (None, (), []):
        raise _refused("norm along dimensions", (self,), {})
    t = _coalesced(self) if _C._sparse_layout(self) == COO else self
    return t._elements().flatten().norm(p, dtype=dtype)


@_call("any")
def _any(self, *args, **kwargs):
    if args or kwargs:
        raise _refused("any along dimensions", (self,), {})
    return _coalesced(as_coo(self.detach()))._elements().any()


# --- two arguments --------------------------------------------------------------------------------


def _same_shape(name, a, b):
    if a.shape != b.shape:
        raise RuntimeError(f"{name}: expected 'self' and 'other' to have same sizes, but self "
                           f"{list(a.shape)} and other {list(b.shape)}")  # fmt: skip


def _factor(dtype, alpha):
    """alpha as a number that a result of dtype can be scaled by."""
    alpha = alpha.item() if isinstance(alpha, Tensor) else alpha
    if isinstance(alpha, bool) and dtype != _C.bool:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, complex) and not dtype.is_complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex "
                           "number.")  # fmt: skip
    if isinstance(alpha, float) and not dtype.is_floating_point and not dtype.is_complex:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating "
                           "point number.")  # fmt: skip
    return alpha


def _places(t):
    """How many places its sparse dimensions have."""
    n = 1
    for s in t.shape[: t.sparse_dim()]:
        n *= s
    return n


def _scaled(t, dtype, alpha):
    """The values of t in dtype, times alpha."""
    values, alpha = t._elements().to(dtype), _factor(dtype, alpha)
    return values if alpha == 1 else values * alpha


def _added(a, b, alpha, name):
    _same_shape("add", a, b)
    number = _C._sparse_layout(a)
    x, y = as_coo(a), as_coo(b)
    if x.sparse_dim() != y.sparse_dim():
        raise RuntimeError("add: expected 'self' and 'other' to have same number of sparse "
                           f"dimensions, but {x.sparse_dim()} != {y.sparse_dim()}")  # fmt: skip
    dtype = _C.promote_types(x.dtype, y.dtype)
    other = _scaled(y, dtype, alpha)
    if x._indices() is y._indices():
        return _as(again(x, x._elements().to(dtype) + other, name), number, name)
    values = _C.cat((x._elements().to(dtype), other))
    indices = _C.cat((x._indices(), y._indices()), 1)
    t = make(COO, (indices, values), a.shape, False, name)
    if x.is_coalesced() and y.is_coalesced() or values.shape[0] > _places(t):
        t = _coalesced(t, name)
    return _as(t, number, name)


def _to_dense_add(dense, sparse, alpha):
    """dense with the elements added."""
    t = as_coo(sparse)
    dtype = _C.promote_types(dense.dtype, t.dtype)
    values = _scaled(t, dtype, alpha)
    if dense.shape != t.shape:
        raise RuntimeError("add: expected 'self' and 'other' to have same size, but self has size "
                           f"{list(dense.shape)} while other has size {list(t.shape)} (FYI: "
                           "op2-sparse addition does not currently support broadcasting)"
                           )  # fmt: skip
    sd = t.sparse_dim()
    keys = _C.sparse_keys(t._indices(), list(t.shape[:sd]))
    flat = dense.to(dtype).reshape(_places(t), *t.shape[sd:])
    return flat.index_add(0, keys, values).reshape(dense.shape)


@_call("__radd__")
def _radd(self, other):
    return add(other, self)


@_call("add", "__add__")
def add(input, other, *, alpha=1):
    """Sparse and sparse, or dense and sparse."""
    if isinstance(input, _Sparse) and isinstance(other, _Sparse):
        return _added(input, other, alpha, "AddBackward0")
    if isinstance(input, Tensor) and not isinstance(input, _Sparse):
        return _to_dense_add(input, other, alpha)
    raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")


@_call("sub", "subtract", "__sub__")
def _sub(input, other, *, alpha=1):
    if isinstance(input, _Sparse) and isinstance(other, _Sparse):
        return _added(input, other, -alpha, "SubBackward0")
    return add(input, other, alpha=-alpha)


@_call("__rsub__", "rsub")
def _rsub(self, other, alpha=1):
    return _sub(other, self, alpha=alpha)


def _fits(name, self, other):
    """The dtype of a result that is written into self."""
    dtype = result_type(self, other)
    if not can_cast(dtype, self.dtype):
        raise RuntimeError(f"{name}: a result of {dtype} can't be cast to {self.dtype}, the dtype "
                           "of self")  # fmt: skip
    return dtype


@_call("add_", "__iadd__")
def _add_(self, other, *, alpha=1):
    if not isinstance(other, _Sparse):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    alpha = _factor(_fits("add_", self, other), alpha)
    if isinstance(self, _Sparse):
        return _become(self, add(self, other, alpha=alpha))
    t = as_coo(other)
    if self.shape != t.shape or self.dtype is not t.dtype or not self.is_contiguous():
        return self.copy_(_to_dense_add(self, other, alpha))
    sd = t.sparse_dim()  # in place, of the rows that are there
    keys = _C.sparse_keys(t._indices(), list(t.shape[:sd]))
    self.view(_places(t), *t.shape[sd:]).index_add_(0, keys, t._elements(), alpha=alpha)
    return self


@_call("sub_", "__isub__", "subtract_")
def _sub_(self, other, *, alpha=1):
    return _add_(self, other, alpha=-alpha)


def _is_number(x):
    return isinstance(x, (bool, int, float, complex)) or (
        isinstance(x, Tensor) and not isinstance(x, _Sparse) and not x.dim()
    )


@_call("mul", "multiply", "__mul__", "__rmul__")
def mul(input, other):
    """By a number, elements by elements of a sparse or a dense tensor."""
    if not isinstance(input, _Sparse):
        input, other = other, input
    if _is_number(other):
        return again(input, input._elements() * other, "MulBackward0")
    if isinstance(other, _Sparse) and input.dim() and other.dim():
        return _met(input, other)
    if isinstance(other, _Sparse):  # by one element
        input, other = (input, other) if input.dim() else (other, input)
        return again(input, input._elements() * to_dense(other), "MulBackward0")
    return _by_dense(input, other)


def _by_dense(s, dense):
    if dense.dim() > s.dim():
        raise NotImplementedError("mul: a dense tensor of more dimensions is not supported")
    number, t = _C._sparse_layout(s), as_coo(s)
    try:
        dense = dense.expand(t.shape)
    except MemoryError:
        raise
    except RuntimeError:
        raise RuntimeError(f"mul: the shapes {list(s.shape)} and {list(dense.shape)} do not fit"
                           ) from None  # fmt: skip
    made = again(t, t._elements() * _C.sparse_take(dense, t._indices()), "MulBackward0")
    return again(s, made._elements(), "MulBackward0") if number != COO else made


def _found(t, indices):
    """Which elements of t, which is coalesced and not empty, stand at places; and whether any."""
    size = list(t.shape[: t.sparse_dim()])
    his, mine = (_C.sparse_keys(i, size) for i in (t._indices(), indices))
    at = _C.searchsorted(his, mine).clamp(max=his.numel() - 1)
    return at, his[at] == mine


def values_at(t, indices):
    """The elements of a sparse tensor at places, 0 where it has none."""
    t = _coalesced(as_coo(t))
    if t.sparse_dim() != indices.shape[0]:
        return _C.sparse_take(to_dense(t), indices)
    if not t._nnz():
        return t._elements().new_zeros((indices.shape[1], *t.shape[t.sparse_dim() :]))
    at, hit = _found(t, indices)
    values = t._elements().index_select(0, at)
    return values.masked_fill(~hit.reshape(-1, *[1] * t.dense_dim()), 0)


def _met(a, b):
    """The products at the places that both have."""
    if a.shape != b.shape:
        raise RuntimeError("mul operands have incompatible sizes: the sparse sizes "
                           f"{list(a.shape)} and {list(b.shape)} differ")  # fmt: skip
    number, x, y = _C._sparse_layout(a), _coalesced(as_coo(a)), _coalesced(as_coo(b))
    if x.sparse_dim() != y.sparse_dim():
        raise NotImplementedError("mul: sparse tensors of different dense dimensions")
    if not x._nnz() or not y._nnz():
        none = _none(x, _C.promote_types(x.dtype, y.dtype))
        return _as(none, number)
    at, hit = _found(y, x._indices())
    both = hit.nonzero()[:, 0]
    values = x._elements().index_select(0, both) * y._elements().index_select(0, at[both])
    t = make(COO, (x._indices()[:, both], values), x.shape, True, "MulBackward0")
    return _as(t, number, "MulBackward0")


@_call("mul_", "multiply_", "__imul__")
def _mul_(self, other):
    _fits("mul_", self, other)
    if not isinstance(self, _Sparse):
        return self.copy_(to_dense(mul(self, other)))
    return _become(self, mul(self, other))


@_call("allclose", "equal")
def _equal(input, other, *args, **kwargs):
    raise _refused("equal", (input, other), {})
