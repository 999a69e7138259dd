"""Products of vectors and matrices."""

from math import prod as _prod

from .. import _C
from .._C import Tensor
from ._marks import both, function
from ._out import with_out, written
from .shapes import _each, broadcast_shapes


@both
@with_out
def outer(input, vec2):
    """The outer product of two vectors."""
    if input.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError(
            f"outer: Expected 1-D arguments, but got {input.dim()}-D and {vec2.dim()}-D tensors"
        )
    return input.unsqueeze(1) * vec2


@both
@with_out
def ger(input, vec2):
    """outer."""
    return outer(input, vec2)


@both
@with_out
def inner(input, other):
    """Sums of products along the last dimensions."""
    if not input.dim() or not other.dim():
        return input * other
    return tensordot(input, other, ([-1], [-1]))


@both
@with_out
def vdot(input, other):
    """The dot product with the conjugate of input."""
    return (input.conj() if input.is_complex() else input).dot(other)


@both
@with_out
def kron(input, other):
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
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """beta * input + alpha * (mat @ vec)."""
    return _plus(input, _C.mv(mat, vec), beta, alpha)


@both
@with_out
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """beta * input + alpha * outer(vec1, vec2)."""
    return _plus(input, outer(vec1, vec2), beta, alpha)


@both
@with_out
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * bmm(batch1, batch2)."""
    return _plus(input, _C.bmm(batch1, batch2), beta, alpha)


@both
@with_out
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """beta * input + alpha * the sum of bmm(batch1, batch2)."""
    return _plus(input, _C.bmm(batch1, batch2).sum(0), beta, alpha)


def _plus(input, product, beta, alpha):
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product.expand(broadcast_shapes(input.shape, product.shape))
    return (input if beta == 1 else input * beta) + product


@function
@with_out
def chain_matmul(*matrices):
    """The product of the matrices."""
    from ..linalg import multi_dot

    return multi_dot(_each(matrices)[0])


@function
def tensordot(a, b, dims=2, out=None):
    """Sums of products over dims: the last of a and the first of b, or two lists."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        dims = list(range(a.dim() - dims, a.dim())), list(range(dims))
    da, db = ([d] if isinstance(d, int) else list(d) for d in dims)
    for t, ds in ((a, da), (b, db)):
        for d in ds:
            if not -t.dim() <= d < t.dim():
                raise IndexError(f"Dimension out of range: {d} of a tensor of {t.dim()}")
    da, db = [d % a.dim() for d in da], [d % b.dim() for d in db]
    if [a.shape[d] for d in da] != [b.shape[d] for d in db]:
        raise RuntimeError(
            "contracted dimensions need to match, but first has size "
            f"{[a.shape[d] for d in da]} and second has size {[b.shape[d] for d in db]}"
        )
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


@function
def einsum(*args):
    """Sums of products as Einstein wrote them: einsum("bij,bjk->bik", x, y)."""
    from .._einsum import einsum

    return einsum(*args)


@function
def cdist(x1, x2, p=2.0, compute_mode=None):
    """The p-norms of all differences of rows."""
    return _C.linalg_vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


@both
@with_out
def cross(input, other, dim=None):
    """The cross product of vectors of length 3 along dim; None: the first of that length."""
    if dim is None:
        dims = [i for i, n in enumerate(input.shape) if n == 3]
        if not dims:
            raise RuntimeError("no dimension of size 3 in input")
        dim = dims[0]
    from ..linalg import cross as along

    return along(input, other, dim=dim)


@both
@with_out
def matrix_power(input, n):
    """The power n >= 0 of square matrices."""
    from ..linalg import matrix_power as power

    return power(input, n)
