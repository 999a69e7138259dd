"""Sparse tensors: their class, constructors, text and pickles.

A sparse tensor is a shape over parts, which are ordinary tensors (api/sparse.h): indices and values
of COO; crow_indices, col_indices and values of CSR. All that computes is calls of rows over parts,
so gradients reach the values. What a call does with a sparse argument stands in _sparse_calls; any
other call is refused and names its layout."""

from . import _C
from ._C import Tensor
from ._tensor import check_leaf

STRIDED, COO, CSR, CSC = range(4)
_PARTS = {COO: 2, CSR: 3, CSC: 3}  # how many tensors one is made of; the last are its values
LAYOUTS = (_C.strided, _C.sparse_coo, _C.sparse_csr, _C.sparse_csc)
NAMES = ("Strided", "Sparse", "SparseCsr", "SparseCsc")  # as torch's messages call them
_check = [None]  # check_sparse_tensor_invariants.enable()


class _Sparse(Tensor):
    """A tensor of which only some elements are held."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        from . import _sparse_calls

        return _sparse_calls.call(func, args, kwargs or {})

    # --- what it is made of -----------------------------------------------------------------------

    @property
    def layout(self):
        """torch.sparse_coo, torch.sparse_csr or torch.sparse_csc."""
        return LAYOUTS[_C._sparse_layout(self)]

    @property
    def is_sparse(self):
        """Whether the layout is torch.sparse_coo."""
        return _C._sparse_layout(self) == COO

    @property
    def is_sparse_csr(self):
        """Whether the layout is torch.sparse_csr."""
        return _C._sparse_layout(self) == CSR

    def _part(self, k, name, *layouts):
        if _C._sparse_layout(self) not in layouts:
            what = {COO: "sparse coordinate", CSR: "sparse row compressed",
                    CSC: "sparse column compressed"}[layouts[0]]  # fmt: skip
            has = NAMES[_C._sparse_layout(self)]
            raise RuntimeError(f"{name} expected {what} tensor layout but got {has}")
        return _C._sparse_part(self, k)

    def _indices(self):
        return self._part(0, "_indices", COO)

    def _values(self):
        return self._elements().detach()

    def _elements(self):
        """The values with their history: the leaf, if self is one."""
        return _C._sparse_part(self, _PARTS[_C._sparse_layout(self)] - 1)

    def _of_coalesced(self, name):
        if not self.is_coalesced():
            raise RuntimeError(
                f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
            )

    def indices(self):
        """The places of the elements, of a coalesced tensor."""
        part = self._part(0, "indices", COO)
        self._of_coalesced("indices")
        return part.detach()

    def values(self):
        """The elements in the order of their places, of a coalesced tensor."""
        if _C._sparse_layout(self) == COO:
            self._of_coalesced("values")
        return self._elements()

    def crow_indices(self):
        """Where each row of a CSR matrix begins, and the end of the last."""
        return self._part(0, "crow_indices", CSR).detach()

    def col_indices(self):
        """The columns of the elements of a CSR matrix."""
        return self._part(1, "col_indices", CSR).detach()

    def ccol_indices(self):
        """Where each column of a CSC matrix begins, and the end of the last."""
        return self._part(0, "ccol_indices", CSC).detach()

    def row_indices(self):
        """The rows of the elements of a CSC matrix."""
        return self._part(1, "row_indices", CSC).detach()

    def is_coalesced(self):
        """Whether the places are known to be in order, each once."""
        if _C._sparse_layout(self) != COO:
            raise RuntimeError(
                "is_coalesced expected sparse coordinate tensor layout but got "
                + NAMES[_C._sparse_layout(self)]
            )
        return _C._sparse_coalesced(self)

    def _coalesced_(self, coalesced):
        _C._sparse_coalesced(self, coalesced)
        return self

    def _nnz(self):
        return self._elements().shape[0]

    def sparse_dim(self):
        """The number of dimensions that have indices."""
        return self._indices().shape[0] if _C._sparse_layout(self) == COO else 2

    def dense_dim(self):
        """The number of dimensions of an element of values."""
        return self._elements().dim() - 1

    _dimI, _dimV = sparse_dim, dense_dim

    # --- gradients --------------------------------------------------------------------------------

    @property
    def grad(self):
        """The gathered gradient at the places of the elements, or None."""
        g = self._elements().grad
        return None if g is None else again(self, g.detach())._each_once()

    def _each_once(self):
        return _each_once(self)

    @grad.setter
    def grad(self, grad):
        if isinstance(grad, _Sparse):
            grad = _as_pattern(grad, self)
        self._elements().grad = grad

    @grad.deleter
    def grad(self):
        self._elements().grad = None

    @property
    def grad_fn(self):
        """The call that made its values, or None."""
        return self._elements().grad_fn

    @property
    def data(self):
        """The same elements without history."""
        return again(self, self._elements().detach())

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Backward through the values; gradient: a sparse tensor of the same places, or dense."""
        if gradient is None:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        self._elements().backward(_as_pattern(gradient, self), retain_graph, create_graph, inputs)

    def retain_grad(self):
        """Keeps .grad though it is no leaf."""
        self._elements().retain_grad()

    def register_hook(self, hook):
        """hook(gradient) in each backward."""

        def of_values(grad):
            made = hook(again(self, grad)._each_once())
            return None if made is None else _as_pattern(made, self)

        return self._elements().register_hook(of_values)

    # --- Python's protocols -----------------------------------------------------------------------

    def __repr__(self, *, tensor_contents=None):
        return text(self)

    __str__ = __repr__

    def __format__(self, spec):
        return object.__format__(self, spec)

    def __len__(self):
        if not self.dim():
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __bool__(self):
        if self.numel() != 1:
            what = "no values" if not self.numel() else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self.item())

    def __iter__(self):
        if not self.dim():
            raise TypeError("iteration over a 0-d tensor")
        return iter([self[i] for i in range(self.shape[0])])

    def __copy__(self):
        return again(self, self._elements())

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        check_leaf(self)
        parts = tuple(p.detach().clone() for p in parts_of(self))
        memo[id(self)] = other = make(
            _C._sparse_layout(self), parts, self.shape, _C._sparse_coalesced(self)
        )
        if self.grad is not None:
            import copy

            other.grad = copy.deepcopy(self.grad, memo)
        return other.requires_grad_(self.requires_grad)

    def __reduce_ex__(self, protocol):
        parts = tuple(p.detach() for p in parts_of(self))
        coalesced = _C._sparse_coalesced(self)
        return _rebuild, (
            _C._sparse_layout(self), parts, tuple(self.shape), coalesced, self.requires_grad,
        )  # fmt: skip


_Sparse.__name__ = _Sparse.__qualname__ = "Tensor"
_Sparse.__module__ = "torch"
_C._sparse_class(_Sparse)


def _rebuild(layout, parts, size, coalesced, requires_grad):
    """What a pickle calls."""
    check(layout, parts, size)
    return make(layout, parts, size, coalesced).requires_grad_(requires_grad)


def make(layout, parts, size, coalesced=False, name=None):
    """A sparse tensor over parts; name: of the call that made it, for its text."""
    *places, values = parts
    if name is not None and values.requires_grad and values.is_leaf and _C.is_grad_enabled():
        values = values.view(values.shape)  # the result is no leaf, as values is
    t = _C._sparse_new(layout, (*places, values), tuple(size), bool(coalesced))
    if name is not None:
        t.__dict__["_made"] = name
    return t


def parts_of(t):
    """indices and values, or the three parts of the other layouts."""
    return tuple(_C._sparse_part(t, k) for k in range(_PARTS[_C._sparse_layout(t)]))


def again(t, values, name=None):
    """t with other values, which may have another dtype."""
    layout = _C._sparse_layout(t)
    return make(layout, (*parts_of(t)[:-1], values), t.shape, _C._sparse_coalesced(t), name)


def _each_once(grad):
    """A gradient at the places of a tensor, in which a place may stand several times, all with the
    same gradient: each place once."""
    if _C._sparse_layout(grad) != COO or grad.is_coalesced():
        return grad
    size = list(grad.shape[: grad.sparse_dim()])
    keys, order = _C.sort(_C.sparse_keys(grad._indices(), size))
    each, _ = _C.sparse_distinct(keys)
    if each.numel() == keys.numel():
        return grad
    order = order[_C.searchsorted(keys, each)]
    parts = grad._indices()[:, order], grad._elements()[order]
    return make(COO, parts, grad.shape, True)


def _as_pattern(grad, t):
    """The values of a gradient at the places of t: of one that holds a place several times, their
    sum."""
    if not isinstance(grad, _Sparse):
        from ._sparse_calls import as_coo

        return _C.sparse_take(grad, as_coo(t)._indices())
    once = _C._sparse_layout(grad) != COO or grad.is_coalesced()
    if once and grad.layout is t.layout and grad._nnz() == t._nnz():
        if all((a == b).all() for a, b in zip(parts_of(grad)[:-1], parts_of(t)[:-1], strict=True)):
            return grad._elements()
    from ._sparse_calls import as_coo, values_at

    return values_at(grad, as_coo(t)._indices())


# --- constructors ---------------------------------------------------------------------------------


def _tensor(data, dtype=None, device=None):
    if isinstance(data, Tensor):
        t = data if device is None else data.to(device)
        return t if dtype is None else t.to(dtype)
    t = _C.tensor(data, device=device) if dtype is None else _C.tensor(data, dtype=dtype,
                                                                       device=device)  # fmt: skip
    return t


def _whole(t, name):
    if t.dtype.is_complex or t.dtype == _C.bool:
        raise TypeError(f"{name} must be integers, not {t.dtype}")
    return t.long() if t.dtype.is_floating_point else t


def _made(t, requires_grad, values):
    """The constructor's result: over values without history, unless they have one."""
    if requires_grad:
        return again(t, values.detach()).requires_grad_(True)
    return t


def sparse_coo_tensor(indices, values=None, size=None, *, dtype=None, device=None, pin_memory=False,
                      requires_grad=False, check_invariants=None, is_coalesced=None):  # fmt: skip
    """A tensor of layout COO: values[i] is added at the place indices[:, i]. Without size, the
    smallest that has all places; with a size alone, no elements."""
    if pin_memory:
        raise NotImplementedError("sparse_coo_tensor(): memory is not pinned")
    if values is None and size is None:  # sparse_coo_tensor(size)
        size, indices = tuple(indices), None
        indices = _C.zeros((len(size), 0), dtype=_C.int64)
        values = _C.zeros(0, dtype=dtype, device=device)
    elif values is None:
        raise TypeError("sparse_coo_tensor(): missing the argument 'values'")
    values = _tensor(values, dtype, device)
    indices = _whole(_tensor(indices), "indices")
    if not indices.numel() and indices.dim() == 1 and size is None:
        indices = indices.reshape(0, 0)
    if indices.dim() != 2:
        raise RuntimeError(
            f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}"
        )
    indices = indices.to(device=values.device, dtype=_C.int64)
    if not values.dim():
        values = values.expand(indices.shape[1])
    if size is None:
        size = _least(indices, values)
    size = tuple(int(n) for n in size)
    if any(n < 0 for n in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {size}")
    name = "SparseCooTensorWithDimsAndTensorsBackward0"
    t = make(COO, (indices, values), size, is_coalesced or indices.shape[1] < 2, name)
    check(COO, (indices, values), size)
    if is_coalesced and (check_invariants or _check[0]):
        keys = _C.sparse_keys(indices, list(size[: indices.shape[0]]))
        if bool((keys[1:] <= keys[:-1]).any()):
            raise RuntimeError("cannot set is_coalesced to true if indices correspond to "
                               "uncoalesced COO tensor")  # fmt: skip
    return _made(t, requires_grad, values)


def _least(indices, values):
    if not indices.shape[1]:
        return (0,) * indices.shape[0] + tuple(values.shape[1:])
    if bool((indices < 0).any()):
        raise RuntimeError(f"found negative index {int(indices.min())}")
    return tuple(int(n) + 1 for n in indices.amax(1)) + tuple(values.shape[1:])


def check(layout, parts, size):
    """That indices are in their ranges: torch's messages, and its checks are on here always."""
    if layout == COO:
        indices = parts[0]
        if indices.device.type != "meta":
            _C.sparse_keys(indices, list(size[: indices.shape[0]]))
        return
    ends, places, values = parts
    rows, columns = size if layout == CSR else (size[1], size[0])
    (e, p) = ("crow", "col") if layout == CSR else ("ccol", "row")
    nnz = values.shape[0]
    if ends.dim() != 1 or ends.shape[0] != rows + 1:
        raise RuntimeError(f"{e}_indices.shape[-1] must be equal to the number of compressed "
                           f"dimensions + 1 (= {rows + 1}), but got {ends.shape[-1]}")  # fmt: skip
    if int(ends[0]) != 0:
        raise RuntimeError(f"`{e}_indices[..., 0] == 0` is not satisfied.")
    if int(ends[-1]) != nnz:
        raise RuntimeError(f"`{e}_indices[..., -1] == nnz` is not satisfied.")
    steps = ends[1:] - ends[:-1]
    if bool(((steps < 0) | (steps > columns)).any()):
        raise RuntimeError(
            f"`0 <= {e}_indices[..., 1:] - {e}_indices[..., :-1] <= "
            f"{'ncols' if layout == CSR else 'nrows'}` is not satisfied."
        )
    if bool((places < 0).any()):
        raise RuntimeError(f"`0 <= {p}_indices` is not satisfied.")
    if bool((places >= columns).any()):
        raise RuntimeError(
            f"`{p}_indices < {'ncols' if layout == CSR else 'nrows'}` is not satisfied."
        )
    rows_of = _C._convert_indices_from_csr_to_coo(ends, places)[0]
    if nnz > 1 and bool(((rows_of[1:] == rows_of[:-1]) & (places[1:] <= places[:-1])).any()):
        raise RuntimeError(f"`{p}_indices[..., {e}_indices[..., i - 1]:{e}_indices[..., i]] for "
                           "all i = 1, ..., must be sorted and distinct along the last dimension "
                           "values` is not satisfied.")  # fmt: skip


def _compressed(layout, ends, places, values, size, dtype, device, requires_grad):
    values = _tensor(values, dtype, device)
    ends = _whole(_tensor(ends), "compressed indices").to(values.device)
    places = _whole(_tensor(places), "plain indices").to(values.device)
    if ends.dim() != 1 or values.dim() != 1:
        raise NotImplementedError("batches of matrices, or of blocks, of layout "
                                  f"{LAYOUTS[layout]} are not supported")  # fmt: skip
    if size is None:
        columns = int(places.max()) + 1 if places.numel() else 0
        size = (ends.shape[0] - 1, columns)
        size = size if layout == CSR else size[::-1]
    size = tuple(int(n) for n in size)
    if len(size) != 2:
        raise RuntimeError(f"size: expected 2 dimensions of a matrix, but got {len(size)}")
    check(layout, (ends, places, values), size)
    t = make(layout, (ends, places, values), size, False, "SparseCompressedTensorBackward0")
    return _made(t, requires_grad, values)


def nothing(layout, size, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """No elements, of a sparse layout: what zeros and empty give."""
    if layout not in LAYOUTS:
        raise NotImplementedError(f"zeros: layout {layout} is not supported")
    if layout is _C.sparse_coo:
        return sparse_coo_tensor(size, dtype=dtype, device=device, pin_memory=pin_memory,
                                 requires_grad=requires_grad)  # fmt: skip
    number = LAYOUTS.index(layout)
    if len(size) != 2:
        raise RuntimeError(f"size: expected 2 dimensions of a matrix, but got {len(size)}")
    ends = _C.zeros(size[0 if number == CSR else 1] + 1, dtype=_C.int64, device=device)
    values = _C.zeros(0, dtype=dtype, device=device)
    return _compressed(number, ends, ends[:0], values, size, dtype, device, requires_grad)


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, device=None,
                      pin_memory=False, requires_grad=False, check_invariants=None):  # fmt: skip
    """A matrix of layout CSR: row i has what lies from crow_indices[i] to crow_indices[i + 1]."""
    return _compressed(CSR, crow_indices, col_indices, values, size, dtype, device, requires_grad)


def sparse_csc_tensor(ccol_indices, row_indices, values, size=None, *, dtype=None, device=None,
                      pin_memory=False, requires_grad=False, check_invariants=None):  # fmt: skip
    """A matrix of layout CSC: the columns as sparse_csr_tensor has the rows."""
    return _compressed(CSC, ccol_indices, row_indices, values, size, dtype, device, requires_grad)


def sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, dtype=None,
                             layout=None, device=None, pin_memory=False, requires_grad=False,
                             check_invariants=None):  # fmt: skip
    """A matrix of layout torch.sparse_csr or torch.sparse_csc."""
    if layout not in (_C.sparse_csr, _C.sparse_csc):
        raise NotImplementedError(f"sparse_compressed_tensor(): layout {layout} is not supported")
    return _compressed(LAYOUTS.index(layout), compressed_indices, plain_indices, values, size,
                       dtype, device, requires_grad)  # fmt: skip


# --- text -----------------------------------------------------------------------------------------


def _contents(part, prefix):
    """The numbers of part, set below prefix, with the size where there are none."""
    from ._functions.settings import _printing, set_printoptions

    part, before, wide = part.detach(), dict(_printing), len(prefix)
    try:
        set_printoptions(linewidth=max(_printing["linewidth"] - wide, 10))
        full = repr(part)
    finally:
        set_printoptions(linewidth=before["linewidth"])
    numbers = full[len("tensor("): full.rindex("]") + 1] if part.numel() else "[]"
    numbers = numbers.replace("\n ", "\n " + " " * wide)
    return numbers if part.numel() else f"{numbers}, size={tuple(part.shape)}"


def text(t):
    """As torch prints it."""
    layout, indent = _C._sparse_layout(t), len("tensor(")
    names = {COO: ("indices", "values"), CSR: ("crow_indices", "col_indices", "values"),
             CSC: ("ccol_indices", "row_indices", "values")}[layout]  # fmt: skip
    parts = [f"{n}=tensor({_contents(p, n + '=tensor(')})"
             for n, p in zip(names, parts_of(t), strict=True)]  # fmt: skip
    whole = "tensor(" + (",\n" + " " * indent).join(parts)
    suffixes = [f"size={tuple(t.shape)}", f"nnz={t._nnz()}"]
    if t.device.type != "cpu":
        suffixes.insert(0, f"device='{t.device}'")
    default = _C.get_default_dtype()
    usual = (default, _C.int64, _C.bool, _C.complex64 if default != _C.float64 else _C.complex128)
    if t.dtype not in usual:
        suffixes.append(f"dtype={t.dtype}")
    suffixes.append(f"layout={t.layout}")
    if t.grad_fn is not None:
        suffixes.append(f"grad_fn=<{t.__dict__.get('_made') or t.grad_fn.name()}>")
    elif t.requires_grad:
        suffixes.append("requires_grad=True")
    return _with_suffixes(whole, suffixes, indent, layout == COO)


def _with_suffixes(whole, suffixes, indent, new_line):
    from ._functions.settings import _printing

    length = len(whole) - whole.rfind("\n") + 1
    for suffix in suffixes:
        if new_line or length + len(suffix) + 2 > _printing["linewidth"]:
            whole += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            whole += ", " + suffix
            length += len(suffix) + 2
        new_line = False
    return whole + ")"


def calls():
    """What calls do with sparse arguments, by their names."""
    from . import _sparse_calls

    return _sparse_calls._CALLS


def _attach():
    """The methods of the class, which need not ask __torch_function__."""
    from . import _sparse_calls, _sparse_products  # noqa: F401

    for name, f in _sparse_calls._CALLS.items():
        if name not in vars(_Sparse) or name in vars(Tensor):
            setattr(_Sparse, name, f)


_attach()
