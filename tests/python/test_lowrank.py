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
