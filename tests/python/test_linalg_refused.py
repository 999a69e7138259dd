"""What linear algebra refuses: torch's texts and classes, and out= of dtypes that do not fit."""

from math import inf, nan

import pytest

import tensorh as torch

T = torch.tensor
X, V, Z = T([[1.0, 2.0], [3.0, 4.0]]), T([0.5, 0.25]), torch.zeros(3)
B = X.reshape(1, 2, 2)
SINGULAR = T([1.0, 1.0, 1.0, 0.0]).reshape(4, 1, 1)  # the last one
REFUSED = [
    (r"mat1 and mat2 shapes cannot be multiplied \(2x1 and 2x2\)", lambda: X[:, :1] @ X),
    ("1D tensors expected", lambda: torch.dot(X, V)),
    ("dot : expected both vectors to have same dtype", lambda: torch.dot(V, V.double())),
    ("inconsistent tensor size", lambda: torch.dot(V, Z)),
    ("Tensor dimension is 1, expected 2", lambda: torch.chain_matmul(V, V)),
    ("expected at least 2 tensors but got 0", lambda: torch.linalg.multi_dot([])),
    ("first tensor must be 1D or 2D but got 0D", lambda: torch.linalg.multi_dot([T(1.0), V])),
    ("tensor 1 must be 2D but got 3D", lambda: torch.linalg.multi_dot([V, B, V])),
    ("must have be the same dtype", lambda: torch.linalg.multi_dot([V, V.double()])),
    ("expected out tensor to have dt", lambda: torch.linalg.multi_dot([V, V], out=V.double())),
    (r"shapes \[2\] and \[3\] cannot be", lambda: torch.linalg.multi_dot([V, Z])),
    ("If dim is not specified but ord is.*Got 3D", lambda: torch.linalg.norm(B, "fro")),
    ("last dimension must match on both input tensors", lambda: torch.inner(X, Z)),
    ("must be of length 1 or 2. Got .0, 1, 2", lambda: torch.linalg.norm(B, 1, (0, 1, 2))),
    ("dim 0 appears multiple times", lambda: torch.linalg.vector_norm(X, 2, (0, -2))),
    ("cannot compute the inf norm on an empty", lambda: torch.linalg.vector_norm(Z[:0], inf)),
    ("linalg.qr: The input tensor A must have at least 2 ", lambda: torch.linalg.qr(V)),
    ("unrecognized mode 'full'", lambda: torch.linalg.qr(X, "full")),
    ("input must have at least 2 dimensions", lambda: torch.linalg.lstsq(V, V)),
    ("other must have at least 1 dimension", lambda: torch.linalg.lstsq(X, T(1.0))),
    (r"size\(-2\) should match other.size\(-1\)", lambda: torch.linalg.lstsq(X, Z)),
    (r"size\(-2\) should match other.size\(-2\)", lambda: torch.linalg.lstsq(X, Z[:, None])),
    ("the same dtype", lambda: torch.linalg.lstsq(X, X.double())),
    ("a tensor with 2 or more dimensions", lambda: torch.linalg.pinv(V)),
    ("rcond tensor of complex type", lambda: torch.linalg.pinv(X, rcond=T(1j))),
    ("rtol tensor of complex type", lambda: torch.linalg.pinv(X, rtol=T(1j))),
    ("atol tensor of complex type", lambda: torch.linalg.matrix_rank(X, tol=T(1j))),
    ("Low precision dtypes not supported", lambda: torch.linalg.slogdet(X.bfloat16())),
    ("Expected a floating point or complex tensor", lambda: torch.linalg.inv(X.long())),
    ("torch.linalg.eig: input tensor should not", lambda: torch.linalg.eig(X * nan)),
    ("self to satisfy the requirement", lambda: torch.linalg.tensorinv(torch.ones(2, 3, 4), 1)),
    ("self to satisfy the requirement", lambda: torch.linalg.tensorsolve(torch.ones(2, 3), V)),
    ("input must have at least 2", lambda: torch.linalg.householder_product(V, V)),
    (r"input.shape\[-1\] must be", lambda: torch.linalg.householder_product(X, Z)),
    (r"input.shape\[-2\] must be", lambda: torch.linalg.householder_product(X[:1], Z[:1])),
    ("tau dtype Int does not", lambda: torch.linalg.householder_product(X, V.int())),
    ("other must have at least 2 dimensions", lambda: torch.ormqr(X, V, V)),
    (r"other.shape\[-2\] must be greater", lambda: torch.ormqr(X, Z, X)),
    (r"other.shape\[-2\] must be equal to", lambda: torch.ormqr(X, V, torch.ones(3, 3))),
    (r"of tau to be equal to input.shape\[:-2\]", lambda: torch.ormqr(B, X, B)),
    (r"of other to be equal to input.shape", lambda: torch.ormqr(B, V[None], B.expand(2, 2, 2))),
    (r"between 1 and LU.size\(-2\)", lambda: torch.lu_unpack(X, T([0, 1], dtype=torch.int32))),
    (r"smaller or equal to LU.size", lambda: torch.linalg.lu_solve(X, T([3, 1]).int(), X)),
    (r"Batch element 1\): The diagonal", lambda: torch.linalg.inv(SINGULAR[2:])),
    (r"\(Batch element 3\)", lambda: torch.linalg.inv(SINGULAR.reshape(2, 2, 1, 1))),
    ("found '.' for operand 0 that is not part", lambda: torch.einsum(". ..", V)),
    ("operand 0 for which an ellipsis was", lambda: torch.einsum("... ...", V)),
    ("invalid subscript given at index 0", lambda: torch.einsum("1", V)),
    ("is more than the number of dimensions", lambda: torch.einsum("ai...", V)),
    (r"\(1\) for operand 0 and no ellipsis", lambda: torch.einsum("ab", V)),
    ("found '.' for output but an ellipsis", lambda: torch.einsum("a->... .", V)),
    ("found '.' for output that is not part", lambda: torch.einsum("a->..", V)),
    ("invalid subscript given at index 3", lambda: torch.einsum("a->1", V)),
    ("output subscript a appears more than once", lambda: torch.einsum("a->aa", V)),
    ("repeated for operand 0", lambda: torch.einsum("aa", torch.ones(2, 3))),
    ("size 3 for operand 1 which does not", lambda: torch.einsum("a, ba", V, torch.ones(2, 3))),
    (r"element 1\): The factorization could not", lambda: torch.linalg.cholesky(PAIR)),
]
PAIR = torch.stack([torch.eye(2), -torch.eye(2)])


@pytest.mark.parametrize("at", range(len(REFUSED)), ids=lambda i: REFUSED[i][0].replace(" ", "_"))
def test_refused(at):
    text, call = REFUSED[at]
    with pytest.raises(RuntimeError, match=text):
        call()


def test_a_dimension_out_of_range_is_an_index_error():
    for call in (
        lambda: X.sum((0, 4)),
        lambda: torch.linalg.matrix_norm(X, dim=(0, 4)),
        lambda: torch.linalg.vector_norm(V, 0, (4,)),
    ):
        with pytest.raises(IndexError, match="Dimension out of range .*, but got 4"):
            call()


def test_a_subscript_of_a_list_is_below_52():
    for i in -1, 52:
        with pytest.raises(ValueError, match=r"not within the valid range \[0, 52\)"):
            torch.einsum(V, [i])


OUTS = [  # the call, which result, what the text says of it
    (torch.linalg.cholesky, (torch.eye(2),), "Expected out tensor to have dtype float"),
    (torch.linalg.inv, (torch.eye(2),), "Expected out tensor to have dtype float, but got int"),
    (torch.linalg.eigvalsh, (torch.eye(2),), "have dtype float, but got int instead"),
    (torch.linalg.eigvals, (X,), "Expected eigenvalues to be safely castable from ComplexFloat"),
    (torch.cholesky_solve, (X, torch.eye(2)), "from Float dtype, but got result with dtype Int"),
    (torch.cholesky_inverse, (torch.eye(2),), "but got result with dtype Int"),
    (torch.linalg.pinv, (X,), "but got result with dtype Int"),
    (torch.linalg.tensorinv, (X.reshape(2, 1, 2),), "but got result with dtype Int"),
    (torch.linalg.tensorsolve, (X, V), "but got result with dtype Int"),
    (torch.linalg.householder_product, (X, V), "but got result with dtype Int"),
]


@pytest.mark.parametrize("call, args, text", OUTS, ids=lambda x: getattr(x, "__name__", ""))
def test_out_of_a_dtype_that_does_not_fit(call, args, text):
    with pytest.raises(RuntimeError, match=text):
        call(*args, out=torch.empty(0, dtype=torch.int32))


def test_each_out_of_several_is_named():
    for k, name in (0, "eigenvalues"), (1, "eigenvectors"):
        out = [torch.empty(0, dtype=torch.complex64), torch.empty(0, dtype=torch.complex64)]
        out[k] = torch.empty(0, dtype=torch.int32)
        with pytest.raises(RuntimeError, match=f"but got {name} with dtype Int"):
            torch.linalg.eig(X, out=tuple(out))
    with pytest.raises(RuntimeError, match="but got int instead"):
        torch.linalg.eigh(X, out=(torch.empty(0), torch.empty(0).int()))
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        torch.triangular_solve(V[:, None], X, out=(torch.empty(0).int(), torch.empty(0)))
    with pytest.raises(RuntimeError, match="but got result with dtype Bool"):
        torch.linalg.matrix_rank(X, out=torch.empty(0, dtype=torch.bool))


def test_the_condition_of_a_singular_matrix_is_infinite_in_each_norm():
    for p in 1, -1, "fro", "nuc", inf:
        assert torch.linalg.cond(torch.ones(2, 2), p) == inf
        regular, singular = torch.linalg.cond(torch.stack([X, torch.zeros(2, 2)]), p)
        assert regular < 30 and singular == inf


def test_a_deprecated_overload_in_place_is_named_so():
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="This overload of addbmm_ is deprecated"):
            assert X.clone().addbmm_(1, B, B).equal(X + X @ X)
        with pytest.warns(UserWarning, match="This overload of baddbmm is deprecated"):
            assert torch.baddbmm(0.5, B, 2, B, B).equal(0.5 * B + 2 * B @ B)
    finally:
        torch.set_warn_always(always)


def test_multi_dot_and_einsum_name_what_they_take():
    for tensors in X, None:
        with pytest.raises(TypeError, match="must be tuple of Tensors"):
            torch.linalg.multi_dot(tensors)
    for out in [-1], [52]:
        with pytest.raises(ValueError, match="not within the valid range"):
            torch.einsum(X, [0, 1], out)
