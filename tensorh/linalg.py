"""torch.linalg: rows, which stand here by their names, and what is composed of them."""
from . import _C
from ._C import Tensor
from ._functions._casts import lower
from ._functions._marks import function, listed
from ._functions._out import with_out, written
from ._functions.shapes import broadcast_tensors
from ._spaces import space

_inf = float("inf")
_norm = _C._spaces["linalg"]["vector_norm"]


@function
@with_out
def matrix_norm(A: Tensor, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf."""
    if A.dim() < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    if len(dim) != 2:
        given = " ".join(map(str, dim))
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {given}")
    if -A.dim() <= min(dim) and max(dim) < A.dim() and (dim[0] - dim[1]) % A.dim() == 0:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {tuple(dim)}")
    x = A if dtype is None else A.to(dtype)
    if ord == "fro":
        return _norm(x, 2, tuple(dim), keepdim)
    if ord in ("nuc", 2, -2):
        return _of_singular_values(x, ord, tuple(dim), keepdim)
    if ord not in (1, -1, _inf, -_inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    rows, columns = (d % x.dim() for d in dim)
    first, second = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = x.abs().sum(first, keepdim=True)
    if ord > 0 and not sums.shape[second]:
        r = sums.sum(second, True)  # of nothing: 0
        return r if keepdim else r.squeeze((rows, columns))
    r = sums.amax(second, True) if ord > 0 else sums.amin(second, True)
    return r if keepdim else r.squeeze((rows, columns))


def _of_singular_values(x, ord, dim, keepdim):
    values = _C._spaces["linalg"]["svdvals"](x.movedim(dim, (-2, -1)))
    if ord == 2 and not values.shape[-1]:
        ord = "nuc"  # of nothing: 0
    r = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
    if keepdim:
        for d in sorted(d % x.dim() for d in dim):
            r = r.unsqueeze(d)
    return r


@function
@with_out
def cond(A: Tensor, p=None):
    """The condition number: the quotient of singular values (p None, 2, -2), or of the norms p of A
    and of its inverse."""
    if A.dim() < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if A.numel() == 0 and (p in (None, 2, -2) or A.shape[-1] == A.shape[-2]):
        return A.abs().sum((-2, -1))  # of nothing: 0
    if p in (None, 2, -2):
        values = _C._spaces["linalg"]["svdvals"](A)
        most, least = values[..., 0], values[..., -1]
        return least / most if p == -2 else most / least
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            "linalg.cond(p): A must be batches of square matrices, "
            f"but they are {A.shape[-2]} by {A.shape[-1]} matrices"
        )
    inverse, info = _C._spaces["linalg"]["inv_ex"](A)
    singular = info != 0  # whose inverse has no singular values
    inverse = _C.where(singular[..., None, None], 0, inverse)
    return _C.where(singular, _inf, matrix_norm(A, p) * matrix_norm(inverse, p))


@function
@with_out
def norm(A: Tensor, ord=None, dim=None, keepdim=False, *, dtype=None):
    """The vector or matrix norm, by the number of dimensions given."""
    several = isinstance(dim, (tuple, list))
    if several and len(dim) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
        )
    pair = several and len(dim) == 2
    if ord is not None and (pair or (dim is None and A.dim() == 2)):
        return matrix_norm(A, ord, dim if pair else (-2, -1), keepdim, dtype=dtype)
    if ord is not None and dim is None and A.dim() != 1:
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
            f"Got {A.dim()}D."
        )
    if isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dim is None else (dim,), keepdim)  # an error
    return _norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def matmul(input, other, *, out=None):
    """torch.matmul."""
    return _C.matmul(input, other) if out is None else _C.matmul(input, other, out=out)


@function
def diagonal(A: Tensor, *, offset=0, dim1=-2, dim2=-1):
    """Diagonals of matrices, a view."""
    return _C.diagonal(A, offset, dim1, dim2)


@function
@with_out
def vecdot(x: Tensor, y: Tensor, *, dim=-1):
    """Dot products of vectors along dim, the first conjugated."""
    x, y = lower(x, y)
    return ((x.conj() if x.is_complex() else x) * y).sum(dim)


@function
@with_out
def cross(input: Tensor, other: Tensor, *, dim=-1):
    """Cross products of vectors of length 3 along dim."""
    if input.dim() != other.dim():
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions."
        )
    if 3 not in (input.shape[dim], other.shape[dim]) or input.shape[dim] != other.shape[dim]:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. "
            f"Got {input.shape[dim]} and {other.shape[dim]}"
        )
    a, b = broadcast_tensors(input, other) if input.shape != other.shape else (input, other)
    return a.roll(-1, dim) * b.roll(-2, dim) - a.roll(-2, dim) * b.roll(-1, dim)


@function
def vander(x: Tensor, *, N=None):
    """Powers of x from 0 to N - 1 as columns, of each vector of a batch."""
    n = N if N is not None else x.shape[-1] if x.dim() else 1
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    return (x if x.dim() else x.reshape(1)).unsqueeze(-1) ** _C.arange(n)


@function
def multi_dot(tensors, *, out=None):
    """The product of matrices in the cheapest order; the first and the last may be vectors."""
    none = isinstance(tensors, list | tuple) and not tensors
    x = [] if none else list(listed(tensors, "linalg_multi_dot"))
    _check_chain(x, out)
    left, right = x[0].dim() == 1, x[-1].dim() == 1
    x[0] = x[0].unsqueeze(0) if left else x[0]
    x[-1] = x[-1].unsqueeze(1) if right else x[-1]
    r = _product(x, _order([x[0].shape[0], *(m.shape[1] for m in x)]), 0, len(x) - 1)
    r = r.squeeze(0) if left else r
    r = r.squeeze(-1) if right else r
    return r if out is None else written(out, r, "multi_dot")


def _check_chain(x, out):
    """What multi_dot takes, in torch's words."""
    if len(x) < 2:
        raise RuntimeError("multi_dot(): expected at least 2 tensors but got " + str(len(x)))
    for at, name in (0, "first"), (-1, "last"):
        if x[at].dim() not in (1, 2):
            raise RuntimeError(
                f"multi_dot(): the {name} tensor must be 1D or 2D but got {x[at].dim()}D"
            )
    for k, m in enumerate(x):
        if 0 < k < len(x) - 1 and m.dim() != 2:
            raise RuntimeError(f"multi_dot(): tensor {k} must be 2D but got {m.dim()}D")
        if m.dtype is not x[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{x[0].dtype} and tensor {k} {m.dtype}"
            )
        if k and x[k - 1].shape[-1] != m.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {k - 1} and {k} with shapes {list(x[k - 1].shape)} and "
                f"{list(m.shape)} cannot be multiplied"
            )
    if out is not None and out.dtype is not x[0].dtype:
        raise RuntimeError(
            f"multi_dot(): expected out tensor to have dtype {x[0].dtype} but got {out.dtype}"
        )


def _order(p):
    """Where to split each chain i..j: the dynamic program over costs p[i] p[k+1] p[j+1]."""
    n = len(p) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + p[i] * p[k + 1] * p[j + 1], k) for k in range(i, j)
            )
    return split


def _product(x, split, i, j):
    if i == j:
        return x[i]
    k = split[i][j]
    return _C.mm(_product(x, split, i, k), _product(x, split, k + 1, j))


__getattr__, __dir__ = space(__name__)
