"""Products of vectors and matrices."""

from math import inf as _inf
from math import prod as _prod

from .. import _C
from .._C import Tensor, promote_types
from ._casts import lower
from ._marks import beta_first, both, function, members
from ._out import with_out, written
from .dtypes import _kind, _scalar_type
from .shapes import _dim, _tensors_of


@both
@with_out
def ger(input, vec2: Tensor):
    """outer."""
    return _C.outer(input, vec2)


@both
@with_out
def inner(input, other: Tensor):
    """Sums of products along the last dimensions."""
    if not input.dim() or not other.dim():
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got "
                           f"shapes {list(input.shape)} and {list(other.shape)}")  # fmt: skip
    return tensordot(input, other, ([-1], [-1]))


@both
@with_out
def vdot(input, other: Tensor):
    """The dot product with the conjugate of input."""
    return (input.conj() if input.is_complex() else input).dot(other)


@both
@with_out
def kron(input, other: Tensor):
    """The Kronecker product."""
    n = max(input.dim(), other.dim())
    a = input.reshape((1,) * (n - input.dim()) + tuple(input.shape))
    b = other.reshape((1,) * (n - other.dim()) + tuple(other.shape))
    shape = [x * y for x, y in zip(a.shape, b.shape, strict=True)]
    a = a.reshape([s for size in a.shape for s in (size, 1)])
    b = b.reshape([s for size in b.shape for s in (1, size)])
    return (a * b).reshape(shape)


@both
@with_out
@beta_first
def addmv(input, mat: Tensor, vec: Tensor, *, beta=1, alpha=1):
    """beta * input + alpha * (mat @ vec)."""
    _check_same("addmv", input, mat, vec)
    return _plus(input, _C.mv(mat, vec), beta, alpha)


@both
@with_out
@beta_first
def addr(input, vec1: Tensor, vec2: Tensor, *, beta=1, alpha=1):
    """beta * input + alpha * outer(vec1, vec2)."""
    product = _C.outer(vec1, vec2)
    dtype = promote_types(input.dtype, product.dtype)
    _check_factor("beta", beta, dtype)
    _check_factor("alpha", alpha, dtype)
    if dtype is _C.bool:
        product = product & (alpha != 0)
        return product | input if beta != 0 else product | _C.zeros_like(input)
    return _plus(input, product, beta, alpha)


@both
@with_out
@beta_first
def baddbmm(input, batch1: Tensor, batch2: Tensor, *, beta=1, alpha=1):
    """beta * input + alpha * bmm(batch1, batch2)."""
    input, batch1, batch2 = lower(input, batch1, batch2)
    _check_same("baddbmm", input, batch1, batch2)
    return _plus(input, _C.bmm(batch1, batch2), beta, alpha)


@both
@with_out
@beta_first
def addbmm(input, batch1: Tensor, batch2: Tensor, *, beta=1, alpha=1):
    """beta * input + alpha * the sum of bmm(batch1, batch2)."""
    input, batch1, batch2 = lower(input, batch1, batch2)
    _check_same("addbmm", input, batch1, batch2)
    return _plus(input, _C.bmm(batch1, batch2).sum(0, dtype=batch1.dtype), beta, alpha)


def _check_same(name, *tensors):
    """Refuses tensors of several dtypes."""
    if len({t.dtype for t in tensors}) > 1:
        a, b, c = (_scalar_type(t.dtype) for t in tensors)
        raise RuntimeError(
            f"{name} input tensors must have the same dtype, but got {a}, {b}, and {c}"
        )


def _plus(input, product, beta, alpha):
    input = input.expand(product.shape)
    dtype = promote_types(input.dtype, product.dtype)
    beta = _factor("beta", beta, dtype)
    alpha = _factor("alpha", alpha, dtype)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product.to(dtype)
    return (input if beta == 1 else input * beta) + product


def _factor(name, factor, dtype):
    """The factor; beside integers it loses its fraction."""
    if isinstance(factor, complex) and not dtype.is_complex:
        raise RuntimeError(f"{name} cannot be a complex number beside {dtype}")
    return int(factor) if isinstance(factor, float) and _kind(dtype) < 2 else factor


def _check_factor(name, factor, dtype):
    """What addr alone refuses."""
    if isinstance(factor, bool) and dtype is not _C.bool:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if isinstance(factor, float) and _kind(dtype) < 2:
        raise RuntimeError(
            f"For integral input tensors, argument {name} must not be a floating point number."
        )


@function
@with_out
def chain_matmul(*matrices):
    """The product of the matrices."""
    from ..linalg import multi_dot

    matrices = _tensors_of(matrices)
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for m in matrices:
        if m.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {m.dim()}, expected 2 instead.")
    return multi_dot(matrices) if len(matrices) > 1 else matrices[0]


@function
def tensordot(a: Tensor, b: Tensor, dims=2, out=None):
    """Sums of products over dims: the last of a and the first of b, or two lists."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.dim(), b.dim()):
            bound = "dims >= 0" if dims < 0 else "dims < ndim_a or ndim_b"
            raise RuntimeError(f"tensordot expects {bound}, but got dims={dims}")
        dims = list(range(a.dim() - dims, a.dim())), list(range(dims))
    da, db = ([d] if isinstance(d, int) else list(d) for d in _pair(dims))
    da, db = [_dim(d, a.dim()) for d in da], [_dim(d, b.dim()) for d in db]
    a, b = _contracted(a, b, da, db)
    ra = [d for d in range(a.dim()) if d not in da]
    rb = [d for d in range(b.dim()) if d not in db]
    shape = [a.shape[d] for d in ra] + [b.shape[d] for d in rb]
    n = _prod(a.shape[d] for d in da)
    m = _C.mm(
        a.permute(ra + da).reshape(_prod(shape[: len(ra)]), n),
        b.permute(db + rb).reshape(n, _prod(shape[len(ra) :])),
    )
    r = m.reshape(shape)
    return r if out is None else written(out, r, "tensordot")


def _pair(dims):
    if not isinstance(dims, (tuple, list)) or len(dims) != 2:
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
            f"containing two lists, but got dims={dims}"
        )
    return dims


def _contracted(a, b, da, db):
    """a and b, where they can be contracted; what meets a dimension of size 1 is summed first."""
    if len(da) != len(db):
        raise RuntimeError("both dimension lists should have same length")
    for d in [*da, *db]:
        if da.count(d) > 1 or db.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    for i, j in zip(da, db, strict=True):
        n, m = a.shape[i], b.shape[j]
        if n != m and 1 not in (n, m):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {i} and "
                f"second has size {m} in dim {j}"
            )
        a = a.sum(i, keepdim=True, dtype=a.dtype) if m == 1 != n else a
        b = b.sum(j, keepdim=True, dtype=b.dtype) if n == 1 != m else b
    return a, b


@function
def einsum(*args):
    """Sums of products as Einstein wrote them: einsum("bij,bjk->bik", x, y)."""
    if args and isinstance(args[0], str):
        members(args[1] if len(args) == 2 and isinstance(args[1], (tuple, list)) else args[1:], 1)
    from .._einsum import einsum

    return einsum(*args)


_MODES = {  # of cdist: from how many rows on the Euclidean distance is a product
    None: 26, "use_mm_for_euclid_dist_if_necessary": 26, "use_mm_for_euclid_dist": 0,
    "donot_use_mm_for_euclid_dist": _inf,
}  # fmt: skip


@function
def cdist(x1: Tensor, x2: Tensor, p=2.0, compute_mode=None):
    """The p-norms of all differences of rows."""
    _check_cdist(x1, x2, p, compute_mode)
    rows, others, columns = x1.shape[-2], x2.shape[-2], x1.shape[-1]
    if p == 2 and max(rows, others) >= _MODES[compute_mode] and rows and others and columns:
        return _euclidean(x1, x2)
    return _C._cdist(x1, x2, float(p))


def _check_cdist(x1, x2, p, compute_mode):
    for name, x in ("X1", x1), ("X2", x2):
        if not x.is_floating_point():
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {_scalar_type(x.dtype)}"
            )
        if x.dim() < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.dim()}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if x1.dtype is not x2.dtype:
        one, two = _scalar_type(x1.dtype), _scalar_type(x2.dtype)
        raise RuntimeError(f"expected scalar type {one} but found {two}")
    if not hasattr(p, "__float__"):
        raise TypeError(f"cdist(): argument 'p' (position 3) must be float, not {type(p).__name__}")
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")


def _euclidean(x1, x2):
    """sqrt(|a|^2 - 2 a b + |b|^2) of all rows; at 0 without a gradient."""
    squares = [(x * x).sum(-1, keepdim=True) for x in (x1, x2)]
    one, two = (_C.ones_like(s) for s in squares)
    left = _C.cat([x1 * -2, squares[0], one], -1)
    r = left.matmul(_C.cat([x2, two, squares[1]], -1).mT)
    if not r.requires_grad:
        return r.clamp_(0).sqrt_()
    here = r <= 0
    return _C.where(here, 0, _C.where(here, 1, r).sqrt())


@both
@with_out
def cross(input, other: Tensor, dim=None):
    """The cross product of vectors of length 3 along dim; None: the first of that length."""
    if dim is None:
        dims = [i for i, n in enumerate(input.shape) if n == 3]
        if not dims:
            raise RuntimeError("no dimension of size 3 in input")
        dim = dims[0]
    from ..linalg import cross as along

    return along(input, other, dim=dim)


def lowrank(A, q, niter, times, back):
    """U, S and V of about the q largest singular values of a matrix like A; times(X) and back(X)
    are its products, and those of its adjoint, with X. Its range is near that of powers of it on
    random vectors: N. Halko, P. G. Martinsson and J. A. Tropp, Finding structure with randomness,
    2011, algorithm 4.4."""
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        times, back = back, times
    Q = times(_C.randn(min(A.shape[-2:]), q, dtype=A.dtype, device=A.device))
    Q = _orthonormal(Q)
    for _ in range(niter):
        Q = _orthonormal(times(_orthonormal(back(Q))))
    U, S, Vh = _C._spaces["linalg"]["svd"](back(Q).mH, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


def _orthonormal(X):
    return _C._spaces["linalg"]["qr"](X)[0]


@function
def svd_lowrank(A: Tensor, q=6, niter=2, M: Tensor = None):
    """U, S and V of about the q largest singular values of A, or of A - M."""
    q = 6 if q is None else q
    A = A if M is None else A - M
    adjoint = A.mH
    return lowrank(A, q, niter, lambda X: A @ X, lambda X: adjoint @ X)


def pca_rank(A, q, niter):
    """q of pca_lowrank."""
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)="
                         f"{min(m, n)}")  # fmt: skip
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return q


@function
def pca_lowrank(A: Tensor, q=None, center=True, niter=2):
    """svd_lowrank of A, of whose columns the means are taken off."""
    q = pca_rank(A, q, niter)
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


@function
def lobpcg(
    A: Tensor, k=None, B: Tensor = None, X: Tensor = None, n=None, iK: Tensor = None, niter=None,
    tol=None, largest=None, method=None, tracker=None, ortho_iparams=None, ortho_fparams=None,
    ortho_bparams=None,
):  # fmt: skip
    """k eigenvalues of symmetric matrices, the largest ones or not, and their eigenvectors, found
    by products with A (and B, for A x = e B x) alone; iK is a preconditioner."""
    from .._lobpcg import lobpcg as found

    return found(A, k, B, X, n, iK, niter, tol, largest, method, tracker, ortho_iparams,
                 ortho_fparams, ortho_bparams)  # fmt: skip


@both
def lu(A: Tensor, pivot=True, get_infos=False, out=None):
    """linalg.lu_factor_ex as a tuple, with get_infos of three."""
    got = _C._spaces["linalg"]["lu_factor_ex"](A, pivot=pivot)
    got = tuple(got) if get_infos else tuple(got)[:2]
    if out is None:
        return got
    return tuple(written(to, value, "lu") for to, value in zip(out, got, strict=True))
