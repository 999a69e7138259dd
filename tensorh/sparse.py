"""torch.sparse: functions of sparse tensors.

torch.sparse_coo_tensor and torch.sparse_csr_tensor make them; most functions of torch that take
them (add, mul, mm, transpose, cat, ..) have their usual names."""

from . import _C
from . import _sparse as _of
from . import _sparse_calls as _calls
from . import _sparse_products as _products
from ._C import Tensor
from ._sparse import _Sparse

__all__ = [
    "addmm", "as_sparse_gradcheck", "check_sparse_tensor_invariants", "log_softmax", "mm",
    "sampled_addmm", "softmax", "solve", "spdiags", "spsolve", "sum",
]  # fmt: skip


def __getattr__(name):
    from ._missing import error

    raise error("torch.sparse", name)


def _taken(name, *tensors):
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(f"torch.sparse.{name}: expected Tensor, not {type(t).__name__}")


class _Named(type):
    """torch.sparse.FloatTensor and its like: constructors of old programs."""

    def __call__(cls, *args):
        dtype = cls._dtype
        if len(args) > 1 and all(isinstance(a, int) for a in args) or not args:
            return _of.sparse_coo_tensor(args or (0,), dtype=dtype)
        if len(args) == 1:
            return _of.sparse_coo_tensor(tuple(args[0]), dtype=dtype)
        return _of.sparse_coo_tensor(*args)

    def __instancecheck__(cls, o):
        return isinstance(o, _Sparse) and o.is_sparse and o.dtype is cls._dtype


for _name, _dtype in (
    ("Float", "float32"), ("Double", "float64"), ("Half", "float16"), ("BFloat16", "bfloat16"),
    ("Long", "int64"), ("Int", "int32"), ("Short", "int16"), ("Char", "int8"), ("Byte", "uint8"),
):  # fmt: skip
    globals()[_name + "Tensor"] = _Named(_name + "Tensor", (), {"_dtype": getattr(_C, _dtype)})


def mm(mat1, mat2, reduce=None):
    """The product of a sparse and a dense matrix (dense), or of two sparse ones (sparse). Gradients
    reach both."""
    _taken("mm", mat1, mat2)
    if not isinstance(mat1, _Sparse) and not isinstance(mat2, _Sparse):
        return _C.mm(mat1, mat2)
    return _products.mm(mat1, mat2, reduce)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta mat + alpha mat1 mat2, where mat1 is sparse."""
    _taken("addmm", mat, mat1, mat2)
    if not isinstance(mat1, _Sparse):
        raise RuntimeError("torch.sparse.addmm: expected mat1 to be sparse")
    return _products.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """beta input + alpha mat1 mat2 at the places of input, of layout CSR."""
    _taken("sampled_addmm", input, mat1, mat2)
    return _products.sampled_addmm(input, mat1, mat2, beta=beta, alpha=alpha, out=out)


def sum(input, dim=None, dtype=None):
    """The sum of all elements, or a sparse tensor of the sums along dimensions."""
    _taken("sum", input)
    if not isinstance(input, _Sparse):
        raise RuntimeError("torch.sparse.sum: expected a sparse tensor")
    if dim in (None, (), []):
        return _calls.sum_of(input.coalesce() if input.is_sparse else input, dtype=dtype)
    return _calls.sum_of(input, dim, dtype=dtype, whole=False)


def softmax(input, dim, *, dtype=None):
    """The softmax along dim of the elements that are there; all others count as -infinity."""
    _taken("softmax", input)
    return _calls.softmax_of(input, dim, dtype, False)


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of softmax."""
    _taken("log_softmax", input)
    return _calls.softmax_of(input, dim, dtype, True)


def spdiags(diagonals, offsets, shape, layout=None):
    """A matrix with the rows of diagonals on its diagonals, which offsets count from the main one:
    column j of a diagonal is its element j."""
    _taken("spdiags", diagonals, offsets)
    d = diagonals.reshape(1, -1) if diagonals.dim() == 1 else diagonals
    o = offsets.reshape(-1)
    if d.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    rows, columns = shape
    if o.shape[0] != d.shape[0]:
        raise RuntimeError(
            f"Number of diagonals ({d.shape[0]}) does not match the number of offsets "
            f"({o.shape[0]})"
        )
    if o.dtype != _C.int64:
        raise RuntimeError("Offset Tensor must have dtype Long but got "
                           f"{o.dtype}".replace("torch.", ""))  # fmt: skip
    if o.unique().numel() != o.numel():
        raise RuntimeError("Offset tensor contains duplicate values")
    if layout not in (None, _C.sparse_coo, _C.sparse_csr, _C.sparse_csc):
        raise RuntimeError("Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got "
                           f"{layout}")  # fmt: skip
    o = o.to(d.device)
    j = _C.arange(min(d.shape[1], columns), device=d.device)
    i = j - o.unsqueeze(1)
    inside = ((i >= 0) & (i < rows)).nonzero().t()
    indices = _C.stack((i[tuple(inside)], inside[1]))
    values = _C.sparse_take(d, inside)
    t = _of.make(_of.COO, (indices, values), shape, False, "SpdiagsBackward0")
    return t if layout in (None, _C.sparse_coo) else _calls.to_sparse(t, layout=layout)


class check_sparse_tensor_invariants:
    """torch's switch of checks. Ranges of indices are checked here in any case."""

    def __init__(self, enable=True):
        self.state = enable
        self.saved = None

    @staticmethod
    def is_enabled():
        """What enable or disable has said; False at first."""
        return bool(_of._check[0])

    @staticmethod
    def enable():
        """Says that checks are on."""
        _of._check[0] = True

    @staticmethod
    def disable():
        """Says that checks are off."""
        _of._check[0] = False

    def __enter__(self):
        if self.saved is not None:
            raise RuntimeError("This context manager is not re-entrant")
        self.saved = [_of._check[0]]
        _of._check[0] = self.state

    def __exit__(self, *exc):
        _of._check[0] = self.saved[0]
        self.saved = None

    def __call__(self, f):
        """f, run within."""
        import functools

        @functools.wraps(f)
        def within(*args, **kwargs):
            with type(self)(self.state):
                return f(*args, **kwargs)

        return within


def as_sparse_gradcheck(gradcheck):
    """gradcheck of the values of sparse inputs, at their places."""

    def check(func, inputs, **kwargs):
        kwargs.pop("masked", None)
        one = isinstance(inputs, Tensor)
        given = (inputs,) if one else tuple(inputs)
        plain = [x._elements().detach().requires_grad_(x.requires_grad) if isinstance(x, _Sparse)
                 else x for x in given]  # fmt: skip

        def of_values(*values):
            r = func(*(_of.again(x, v) if isinstance(x, _Sparse) else v
                       for x, v in zip(given, values, strict=True)))  # fmt: skip
            return r._elements() if isinstance(r, _Sparse) else r

        return gradcheck(of_values, tuple(plain), **kwargs)

    return check


def solve(input, other, left=True):
    """Refused: there is no solver of sparse systems."""
    raise NotImplementedError("torch.sparse: there is no solver of sparse systems; "
                              "torch.linalg.solve takes input.to_dense()")  # fmt: skip


spsolve = solve
