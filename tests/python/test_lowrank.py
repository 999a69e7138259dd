"""svd_lowrank and pca_lowrank: products with random vectors, beside whole factorizations."""

import pytest

import tensorh as torch


def low(m, n, rank, dtype=torch.float64):
    torch.manual_seed(1)
    return torch.randn(m, rank, dtype=dtype) @ torch.randn(rank, n, dtype=dtype)


@pytest.mark.parametrize("shape", [(20, 9), (9, 20)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_low_rank_is_found(shape, dtype):
    a = low(*shape, 4, dtype)
    U, S, V = torch.svd_lowrank(a, q=5)
    assert U.shape == (shape[0], 5) and S.shape == (5,) and V.shape == (shape[1], 5)
    assert torch.allclose((U * S) @ V.mH, a)
    assert torch.allclose(S, torch.linalg.svdvals(a)[:5], atol=1e-10)
    assert torch.allclose(U.mH @ U, torch.eye(5, dtype=dtype))


def test_mean_is_subtracted():
    a = low(12, 8, 3)
    mean = a.mean(0, keepdim=True)
    whole = torch.linalg.svdvals(a - mean)[:3]
    assert torch.allclose(torch.svd_lowrank(a, 3, M=mean)[1], whole)
    assert torch.allclose(torch.pca_lowrank(a, 3)[1], whole)
    assert torch.allclose(torch.pca_lowrank(a, 3, center=False, niter=4)[1],
                          torch.linalg.svdvals(a)[:3])  # fmt: skip
    assert torch.pca_lowrank(a)[0].shape == (12, 6)
    both = torch.stack((a, 2 * a))
    U, S, V = torch.pca_lowrank(both, 3)
    assert torch.allclose((U * S.unsqueeze(-2)) @ V.mH, both - both.mean(-2, keepdim=True))
    assert torch.allclose(S[1], 2 * whole)


def test_draws_are_torch_s():
    torch.manual_seed(0)
    a = torch.arange(12.0).reshape(4, 3) ** 2
    torch.svd_lowrank(a, 2, niter=0)
    after = torch.rand(())
    torch.manual_seed(0)
    torch.randn(3, 2)
    assert after == torch.rand(())


def test_wrong_ranks_are_refused():
    with pytest.raises(ValueError, match="must be non-negative integer and not greater than"):
        torch.pca_lowrank(torch.ones(3, 2), 3)
    with pytest.raises(ValueError, match="niter"):
        torch.pca_lowrank(torch.ones(3, 2), 1, niter=-1)


def test_gradient_passes_through():
    a = low(7, 5, 5).requires_grad_()
    torch.svd_lowrank(a, 5)[1].sum().backward()
    b = a.detach().requires_grad_()
    torch.linalg.svdvals(b).sum().backward()
    assert torch.allclose(a.grad, b.grad)


@pytest.mark.parametrize("shape", [(7, 12), (12, 7)])
@pytest.mark.parametrize("layout", ["to_sparse_coo", "to_sparse_csr", "to_sparse_csc"])
def test_sparse_matrices(shape, layout):
    torch.manual_seed(5)
    a = torch.randn(*shape, dtype=torch.float64) * (torch.rand(*shape) < 0.4)
    s, m = getattr(a, layout)(), torch.randn(1, shape[1], dtype=torch.float64)
    for q, f in (
        (7, lambda x: torch.svd_lowrank(x, 7)), (7, lambda x: torch.svd_lowrank(x, 7, M=m)),
        (7, lambda x: torch.pca_lowrank(x, 7)), (6, lambda x: torch.pca_lowrank(x, center=False)),
    ):  # fmt: skip
        torch.manual_seed(6)
        whole = f(a)
        torch.manual_seed(6)
        parts = f(s)
        assert parts[0].shape == (shape[0], q) and parts[2].shape == (shape[1], q)
        assert torch.allclose(parts[1], whole[1], rtol=1e-10, atol=1e-12)
        if q == 7:
            back = [u @ x.diag() @ v.mH for u, x, v in (parts, whole)]
            assert torch.allclose(*back, rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match="greater than min"):
        torch.pca_lowrank(s, 8)
