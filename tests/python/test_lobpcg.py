"""lobpcg: eigenpairs beside those of eigh, of dense and sparse matrices, and their gradients."""

import pytest

import tensorh as torch

METHODS = pytest.mark.parametrize("method", ["ortho", "basic"])
LARGEST = pytest.mark.parametrize("largest", [True, False])


def symmetric(m, dtype=torch.float64):
    """A matrix with the eigenvalues 1 to 50."""
    torch.manual_seed(m)
    Q = torch.linalg.qr(torch.randn(m, m, dtype=dtype))[0]
    A = (Q * torch.linspace(1, 50, m, dtype=dtype)) @ Q.mH
    return (A + A.mH) / 2


def check(A, E, X, largest, B=None, rtol=1e-9):
    """E are the extreme values of A x = e B x, X their vectors, orthonormal in B."""
    k = E.shape[-1]
    L = torch.linalg.eigvalsh(A) if B is None else torch.linalg.eigvals(torch.linalg.solve(B, A))
    L = L.real.sort(descending=largest)[0][..., :k]
    torch.testing.assert_close(E, L, rtol=rtol, atol=rtol)
    BX = X if B is None else B @ X
    residual = (A @ X - BX * E.unsqueeze(-2)).norm(dim=-2)
    assert (residual < 1e3 * rtol**0.5 * X.norm(dim=-2)).all()
    unit = torch.eye(k, dtype=X.dtype).expand(*X.shape[:-2], k, k)
    torch.testing.assert_close(X.mH @ BX, unit, rtol=0, atol=10 * rtol)


@METHODS
@LARGEST
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex128])
def test_pairs_are_those_of_eigh(method, largest, dtype):
    A = symmetric(60, dtype)
    for k, n in ((1, None), (3, None), (3, 5)):
        E, X = torch.lobpcg(A, k, n=n, largest=largest, method=method)
        assert E.shape == (k,) and X.shape == (60, k) and X.dtype == dtype
        check(A, E, X, largest, rtol=1e-4 if dtype == torch.float32 else 1e-9)


@METHODS
@LARGEST
def test_sparse_matrices(method, largest):
    m = 90  # the Laplacian of a line: its values are known
    A = 2 * torch.eye(m, dtype=torch.float64)
    for offset in (1, -1):
        A = A - torch.ones(m - 1, dtype=torch.float64).diag_embed(offset)
    for S in (A.to_sparse(), A.to_sparse_csr()):
        E, X = torch.lobpcg(S, 2, n=4, largest=largest, method=method, tol=1e-7, niter=2000)
        check(A, E, X, largest)


@METHODS
@LARGEST
def test_general_problems_and_preconditioners(method, largest):
    A = symmetric(60)
    G = torch.randn(60, 60, dtype=torch.float64)
    B = G @ G.mT / 60 + torch.eye(60, dtype=torch.float64)
    check(A, *torch.lobpcg(A, 3, B, largest=largest, method=method), largest, B)
    steps = []
    for K in (None, torch.linalg.inv(A)):
        E, X = torch.lobpcg(A, 3, iK=K, largest=False, method=method, tracker=steps.append)
        check(A, E, X, False)
        steps.append(None)
    assert len(steps) - steps.index(None) < steps.index(None)  # fewer with the inverse


def test_batches_are_solved_one_after_another():
    A = torch.stack((symmetric(20), 3 * symmetric(20), symmetric(20) - 9)).reshape(3, 1, 20, 20)
    seen = []
    E, X = torch.lobpcg(A, 2, n=3, tracker=lambda w: seen.append(w.iparams["batch_index"]))
    assert E.shape == (3, 1, 2) and X.shape == (3, 1, 20, 2)
    check(A, E, X, True)
    assert sorted(set(seen)) == [0, 1, 2] and seen == sorted(seen)
    E, X = torch.lobpcg(A[:0], 2)
    assert E.shape == (0, 1, 2) and X.shape == (0, 1, 20, 2)


def test_the_tracker_sees_the_state_and_may_stop():
    A = symmetric(40)
    X = torch.randn(40, 3, dtype=torch.float64)
    before = X.clone()
    states = []

    def tracker(w):
        states.append((w.ivars["istep"], w.ivars["converged_count"], w.E.clone()))
        torch.testing.assert_close(w.R, w.A @ w.X - w.X * w.E)
        assert w.tvars["rerr"].shape == (3,) and w.S.shape[1] == w.ivars["converged_end"]
        w.bvars["force_stop"] = w.ivars["istep"] == 4

    E, _ = torch.lobpcg(A, X=X, tracker=tracker)
    assert [s[0] for s in states] == [1, 2, 3, 4] and (E == states[-1][2]).all()
    assert (X == before).all()  # what was given stays
    counts = []
    torch.lobpcg(A, X=X, niter=7, tracker=lambda w: counts.append(w.ivars["iterations_left"]))
    assert counts == [6, 5, 4, 3, 2, 1, 0]
    E, X = torch.lobpcg(A, X=X, ortho_bparams={"ortho_use_drop": True})
    check(A, E, X, True)


def test_columns_of_zeros_are_dropped():
    A = torch.eye(12, dtype=torch.float64)  # every vector is one of its: all residuals are zero
    E, X = torch.lobpcg(A, 3)
    torch.testing.assert_close(E, torch.ones(3, dtype=torch.float64))
    assert X.isfinite().all()
    assert torch.lobpcg(torch.ones(9, 9, dtype=torch.int64))[0].dtype == torch.float32


@LARGEST
@pytest.mark.parametrize("shape", [(7, 7), (2, 6, 6)])
def test_gradients(largest, shape):
    torch.manual_seed(2)
    A = torch.randn(shape, dtype=torch.float64)
    A = (A @ A.mT).requires_grad_()

    def pairs(A):
        torch.manual_seed(1)
        E, X = torch.lobpcg(A, 2, largest=largest, tol=1e-14, niter=200)
        return E, X * X.sum(-2, keepdim=True).sign()

    assert torch.autograd.gradcheck(pairs, A)
    if len(shape) == 2:
        assert torch.autograd.gradgradcheck(pairs, A, atol=1e-4)
    E, X = pairs(A)
    (E.sum() + X[..., 0, :].sum()).backward()
    a = A.detach().clone().requires_grad_()  # as of eigh
    L, V = torch.linalg.eigh((a + a.mT) / 2)
    L, V = (L[..., -2:].flip(-1), V[..., -2:].flip(-1)) if largest else (L[..., :2], V[..., :2])
    V = V * V.sum(-2, keepdim=True).sign()
    (L.sum() + V[..., 0, :].sum()).backward()
    torch.testing.assert_close(A.grad, a.grad)


@METHODS
def test_a_recorded_hermitian_matrix(method):
    A = symmetric(30, torch.complex128)
    assert A.imag.abs().max() > 1
    E, X = torch.lobpcg(A.clone().requires_grad_(), 3, method=method)
    check(A, E.detach(), X.detach(), True)
    G = torch.randn(30, 30, dtype=torch.complex128)
    B = G @ G.mH / 30 + torch.eye(30)
    E, X = torch.lobpcg(A, 2, B.clone().requires_grad_(), method=method, largest=False)
    check(A, E.detach(), X.detach(), False, B)
    half = (A + (G - G.mH)).requires_grad_()  # of which the Hermitian part counts
    E, X = torch.lobpcg(half, 3, method=method)
    check(A, E.detach(), X.detach(), True)


def test_wrong_calls():
    A = symmetric(12)
    for wrong, why in (
        ({"k": 0}, "k=0 pairs"), ({"k": -1}, "k=-1 pairs"), ({"n": 0}, "n=0 vectors"),
        ({"X": A[:, :0]}, "k=0 pairs"), ({"X": A[:, :2] * 0}, "the length 0.0"),
        ({"X": A[:, :2] * float("nan")}, "the length nan"), ({"method": "other"}, "'other'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=why):
            torch.lobpcg(A, **wrong)
    with pytest.raises(AssertionError, match="X must be a matrix"):
        torch.lobpcg(A, X=A[0])
    with pytest.raises(AssertionError, match="square"):
        torch.lobpcg(A[:5])
    with pytest.raises(AssertionError, match="same shape"):
        torch.lobpcg(A, B=A[:5])
    with pytest.raises(AssertionError, match="X shape mismatch"):
        torch.lobpcg(A, X=A[:5, :2])
    with pytest.raises(ValueError, match="3 x the number"):
        torch.lobpcg(A, n=5)
    with pytest.raises(TypeError, match="argument 'A'"):
        torch.lobpcg(3)
    for a, b, why in (
        (A.clone().requires_grad_(), A, "B != I"),
        (A.to(torch.complex128).requires_grad_(), None, "complex"),
    ):
        E, _ = torch.lobpcg(a, B=b)
        with pytest.raises(ValueError, match=why):
            E.sum().backward()
