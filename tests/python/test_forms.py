"""Forms of calls that torch's own samples met (tests/samples)."""

import pytest

import tensorh as torch


def test_what_torchs_own_samples_met():
    v = torch.tensor(2.0, requires_grad=True)
    torch.zeros(5).index_fill(0, torch.tensor([0, 4, 4, 1]), v).sum().backward()
    assert v.grad == 3  # a place that is named twice is one
    x = torch.arange(6).reshape(2, 3)
    assert torch.take_along_dim(x, torch.tensor([[-1, -2]]), 1).tolist() == [[2, 1], [5, 4]]
    with pytest.raises(RuntimeError, match="index -4 is out of bounds"):
        torch.take_along_dim(x, torch.tensor([[-7]]), 1)
    assert torch.gather(x, 1, torch.empty(0, 2, dtype=torch.uint8)).shape == (0, 2)
    with pytest.raises(RuntimeError, match="index 3 is out of bounds"):
        torch.gather(x, 1, torch.tensor([[3]]))
    with pytest.raises(IndexError):
        torch.tensor(1).unbind()
    yes = torch.ones(2, dtype=torch.bool)
    assert torch.addr(~yes.outer(yes), yes, yes, alpha=2, beta=3).dtype is torch.bool
    small = torch.ones(2, 2, 2, dtype=torch.int16)
    assert torch.addbmm(small[0], small, small).dtype is torch.int16
    assert torch.tensordot(small[:1], small, [[0, 1], [0, 1]]).dtype is torch.int16
    assert torch.einsum("...ik, ...j -> ij", small, small[0, 0]).dtype is torch.int64
    assert torch.diff(torch.ones(3), n=0, prepend=torch.ones(2)).shape == (3,)
    assert torch.ones((), dtype=torch.bool).sum_to_size(()).dtype is torch.int64
    for ord in (1, 2, torch.inf, "nuc"):
        assert torch.linalg.norm(torch.ones(0, 0), ord) == 0
    assert torch.linalg.vander(torch.tensor(2.0), N=3).tolist() == [[1, 2, 4]]
    assert torch.linalg.matrix_rank(
        torch.ones(2, 3, 3), atol=torch.tensor([0.1, 0.1]), rtol=torch.tensor([0.1, 10])
    ).tolist() == [1, 0]
    for a, b in ((torch.ones(5, 3), torch.ones(5, 1)), (torch.ones(5, 5, 3), torch.ones(5, 3))):
        with pytest.raises(RuntimeError, match="linalg.cross"):
            torch.linalg.cross(a, b)
    with pytest.raises(RuntimeError, match="0-dimensional"):
        torch.logspace(torch.ones(2), 2, 3)
    with pytest.raises(RuntimeError, match="integral"):
        torch.ones(3).narrow(0, torch.tensor(True), 1)
    with pytest.raises(RuntimeError, match="total dims"):
        torch.ones(3).rot90()
    out = torch.empty(0)
    assert torch.masked_select(torch.ones(2), yes, out=out) is out and out.tolist() == [1, 1]


def test_unsigned_numbers_are_floats_of_functions():
    for dtype in (torch.uint16, torch.uint32, torch.uint64):
        x = torch.tensor([0, 1, 40000], dtype=dtype)
        assert x.sqrt().tolist() == [0, 1, 200] and torch.special.i0e(x).dtype is torch.float32
        assert (x == x).all() and (x != 1).tolist() == [True, False, True]
    big = torch.tensor([2**63, 2**64 - 1], dtype=torch.uint64)
    assert (big == torch.tensor([2**63, 5], dtype=torch.uint64)).tolist() == [True, False]


def test_complex_random_numbers():
    g = torch.Generator().manual_seed(0)
    close = torch.testing.assert_close
    x = torch.randn(2, dtype=torch.complex64, generator=g)  # torch's
    close(x, torch.tensor([1.0896 - 0.2075j, -1.5406 + 0.4019j]), rtol=0, atol=1e-4)
    x = torch.rand(2, dtype=torch.complex64, generator=g.manual_seed(0))
    close(x, torch.tensor([0.4963 + 0.7682j, 0.0885 + 0.1320j]), rtol=0, atol=1e-4)
    x = torch.empty(2, dtype=torch.complex128).normal_(1, 2, generator=g.manual_seed(0))
    assert x.dtype is torch.complex128
    with pytest.raises(RuntimeError, match="not supported|floating"):
        torch.empty(2, dtype=torch.complex64).exponential_()
    a = torch.normal(1.0, 2.0, (3,), layout=torch.strided, requires_grad=True)
    assert a.requires_grad


def test_arguments_that_torch_refuses():
    with pytest.raises(IndexError, match="no dimensions"):
        torch.fft.irfftn(torch.tensor(1.0), dim=[0])
    x = torch.ones(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="argument 'out'"):
        torch.complex(x, x, out=torch.empty(2, dtype=torch.complex64))
