"""torch.masked: what a mask leaves out has no part in the results."""

import pytest

import tensorh as torch
from tensorh import masked

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
MASK = torch.tensor([[True, False, True], [False, False, False]])


@pytest.mark.parametrize("name, kwargs, want", [
    ("sum", {"dim": 1}, [4.0, 0.0]), ("prod", {"dim": (0, 1)}, 3.0),
    ("amax", {"dim": 1}, [3.0, -torch.inf]), ("amin", {"dim": 1}, [1.0, torch.inf]),
    ("argmax", {"dim": 1}, [2.0, 0.0]), ("argmin", {"dim": 1}, [0.0, 0.0]), ("mean", {}, 2.0),
    ("norm", {"ord": 1.0}, 4.0), ("var", {}, 2.0), ("std", {"unbiased": False}, 1.0),
    ("cumsum", {"dim": 1}, [[1.0, 1.0, 4.0], [0.0, 0.0, 0.0]]),
    ("cumprod", {"dim": 1}, [[1.0, 1.0, 3.0], [1.0, 1.0, 1.0]]),
    ("normalize", {"ord": 1.0, "dim": 1}, [[0.25, 0.0, 0.75], [0.0, 0.0, 0.0]]),
])  # fmt: skip
def test_what_is_masked_out_has_no_part(name, kwargs, want):
    f = getattr(masked, name)
    assert f(X, mask=MASK, **kwargs).tolist() == want
    kept = getattr(torch, name, None)
    if kept is not None and name not in ("norm", "std", "prod"):
        torch.testing.assert_close(f(X, **kwargs), kept(X, **kwargs), check_dtype=False)


def test_softmax_and_logarithms():
    s = masked.softmax(X, 1, mask=MASK)
    torch.testing.assert_close(s[0], torch.tensor([0.1192, 0, 0.8808]), rtol=0, atol=1e-4)
    assert s[1].isnan().all() and masked.log_softmax(X, 1, mask=MASK)[0, 1] == -torch.inf
    assert masked.softmin(X, 1, mask=MASK)[0, 0] > 0.8
    one = masked.logsumexp(X, 1, mask=MASK)
    torch.testing.assert_close(one[0], X[0, ::2].logsumexp(0))
    assert one[1] == -torch.inf
    assert torch.equal(masked.logaddexp(X, X, other_mask=~MASK)[0, ::2], X[0, ::2])
    small = masked.logsumexp(X.to(torch.int8), 1, mask=MASK)
    assert small.dtype is torch.int8 and small.tolist() == [3, -126]  # -128 thrice
    assert masked.logsumexp(X.bool(), 1).tolist() == [True, True]
    with pytest.raises(NotImplementedError, match="bool"):
        masked.logsumexp(X.bool(), 1, mask=MASK)


def test_medians_means_of_integers_and_errors():
    assert masked.median(X, 1, mask=~MASK).tolist() == [2, 5]
    assert masked.median(X.int(), 1).dtype is torch.int32
    with pytest.raises(ValueError, match="fully masked"):
        masked.median(X.int(), 1, mask=MASK)
    assert masked.mean(X.int()).item() == 3.5 and masked.sum(X.to(torch.int8)).dtype is torch.int64
    with pytest.raises(IndexError, match="broadcastable mask"):
        masked.sum(X, mask=MASK[None])
    with pytest.raises(RuntimeError, match="multiple times"):
        masked.sum(X, (0, 0))
    with pytest.raises(AttributeError, match="prototype"):
        masked.MaskedTensor  # noqa: B018
    assert sorted(masked.__all__) == masked.__all__ and "sum" in dir(masked)
    x = X.clone().requires_grad_()
    masked.mean(x, mask=MASK).backward()
    assert x.grad.tolist() == [[0.5, 0, 0.5], [0, 0, 0]]


def test_addmm_with_complex_factors():
    a = torch.ones(2, 2, dtype=torch.complex64)
    r = torch.addmm(a, a, a, beta=1j, alpha=2 + 1j)
    assert (r == 4 + 3j).all() and torch.equal(a.clone().addmm_(a, a, beta=1j, alpha=2 + 1j), r)
    with pytest.raises(RuntimeError, match="complex"):
        torch.addmm(X, X, X.T[:, :1].expand(3, 3), alpha=1j)
