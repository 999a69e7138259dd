"""Forms of torch's past, which programs still use; each gives what torch 2.15 gives."""

import numpy as np
import pytest

import tensorh as torch
from tensorh import nn
from tensorh.autograd import Variable


def test_variable():
    x = torch.ones(3)
    v = Variable(x, requires_grad=True)
    assert type(v) is torch.Tensor and v.is_leaf and v.requires_grad and not x.requires_grad
    assert v.data_ptr() == x.data_ptr() and isinstance(x, Variable) and not isinstance(3, Variable)
    (v * v).sum().backward()
    assert v.grad.tolist() == [2, 2, 2] and x.grad is None
    assert not Variable(v * 2).requires_grad and type(Variable(nn.Parameter(x))) is torch.Tensor
    assert Variable().numel() == 0 and torch.autograd.variable.Variable is Variable
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        Variable([1.0])
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del x.data
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got .*NoneType"):
        x.data = None
    assert x.tolist() == [1, 1, 1]
    with pytest.warns(UserWarning, match="volatile was removed"):
        Variable(x, volatile=True)


def test_a_number_before_the_tensors():
    a, b = torch.tensor([1.0, 5.0]), torch.tensor([2.0, 3.0])
    c, m = torch.tensor([1.0, 6.0]), torch.ones(2, 2)
    assert a.add(2, b).tolist() == torch.add(a, 2, b).tolist() == [5, 11]
    assert torch.addcmul(a, 0.5, a, b).tolist() == a.clone().addcmul_(0.5, a, b).tolist()
    assert a.addcmul(0.5, a, b).tolist() == [2, 12.5]
    assert a.clone().addcdiv_(-2, b, c).tolist() == a.addcdiv(-2, b, c).tolist() == [-3, 4]
    assert torch.addmm(0.5, m, 2, m, m).tolist() == [[4.5, 4.5]] * 2
    assert m.addmm(0.5, m, m).tolist() == torch.addmm(0.5, m, m, m).tolist() == [[2.5, 2.5]] * 2
    assert m.clone().addmm_(3, 2, m, m).tolist() == [[7, 7]] * 2
    e = torch.ones(1, 2, 2)
    assert torch.addmv(2, a, 3, m, b).tolist() == a.addmv(2, 3, m, b).tolist() == [17, 25]
    assert torch.addmv(2, a, m, b).tolist() == a.clone().addmv_(2, m, b).tolist() == [7, 15]
    assert torch.addr(2, m, 3, a, b).tolist() == [[8, 11], [32, 47]]
    assert m.addr(2, a, b).tolist() == m.clone().addr_(2, a, b).tolist() == [[4, 5], [12, 17]]
    assert torch.baddbmm(2, e, 3, e, e).tolist() == e.clone().baddbmm_(2, 3, e, e).tolist()
    assert torch.baddbmm(2, e, 3, e, e, out=e) is e and e.tolist() == [[[8, 8], [8, 8]]]
    assert torch.addbmm(2, m, 3, e, e).tolist() == [[386, 386]] * 2
    assert m.addbmm(2, e, e).tolist() == [[130, 130]] * 2
    for wrong in (
        lambda: torch.addmv(2, 3, m, b),
        lambda: torch.addmv(2, a, m, b, alpha=3),
        lambda: torch.addr(a, 2, 3, a, b, b),
        lambda: a.addcmul("1", a, b),
        lambda: a.addcmul(a, 0.5, b),
        lambda: torch.addmm(0.5, 2, m, m),
        lambda: torch.addmm(m, m),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_randint_like():
    x = torch.zeros(3)
    torch.manual_seed(0)
    drawn = torch.randint_like(x, 9, memory_format=torch.preserve_format)
    torch.manual_seed(0)
    assert torch.randint_like(x, high=9).tolist() == drawn.tolist()
    y = torch.randint_like(x, 2, high=5, requires_grad=True)
    assert y.requires_grad and bool((y >= 2).all()) and bool((y < 5).all())
    with pytest.raises(TypeError, match="high"):
        torch.randint_like(x)


def test_out_may_be_an_operand_of_what_goes_element_by_element():
    for f in (torch.maximum, torch.minimum, torch.max, torch.min, torch.clamp, torch.fmod):
        for k in (0, 1):
            pair = [torch.tensor([1.0, 5.0, -2.0] * 30), torch.tensor([2.0, 3.0, 0.5] * 30)]
            expected = f(*pair)
            assert f(*pair, out=pair[k]) is pair[k]
            assert torch.equal(pair[k], expected)
    x = torch.arange(6.0)
    with pytest.raises(RuntimeError, match="overlaps"):
        torch.maximum(x[1:], torch.ones(5), out=x[:5])


@pytest.mark.parametrize(
    ("make", "size", "stride", "offset"),
    [
        (lambda x: x.t(), (2, 3), (1, 2), None),
        (lambda x: x[1:, 1], (2,), (1,), 5),
        (lambda x: x[:, 1:], (3, 2), (3, 1), 1),
        (lambda x: x[2, 1], (), (), None),
        (lambda x: x.t()[1:], (2, 2), (1, 1), 0),
        (lambda x: x[0].expand(4, 3), (2, 3), (1, 1), None),
        (lambda x: x[1:, 1:2].expand(3, 2), (3,), (2,), 4),
        (lambda x: x.view(-1).unfold(0, 3, 2), (5,), (1,), 1),
    ],
)
def test_gradient_of_as_strided_of_a_view(make, size, stride, offset):
    whole = torch.arange(12.0, dtype=torch.float64).view(4, 3)
    leaf = make(whole).detach().requires_grad_()
    weights = torch.arange(1.0, 7.0, dtype=torch.float64)
    part = torch.as_strided(leaf, size, stride, offset)
    (part * weights[: part.numel()].view(size)).sum().backward()
    at = np.zeros(12)
    part_of = np.lib.stride_tricks.as_strided
    start = leaf.storage_offset() if offset is None else offset
    np.add.at(
        at,
        part_of(np.arange(12)[start:], size, [8 * s for s in stride]).reshape(-1),
        weights[: part.numel()].numpy(),
    )
    mine = part_of(
        np.arange(12)[leaf.storage_offset() :], leaf.shape, [8 * s for s in leaf.stride()]
    )
    times = np.bincount(mine.reshape(-1), minlength=12)  # an element that leaf shows several times
    assert leaf.grad.numpy().tolist() == (at[mine] / times[mine]).tolist()


def test_derivatives_of_as_strided_of_expanded_tensors():
    def f(x):
        return torch.as_strided(x.expand(2, 3), (2, 2), (1, 1)).exp()

    def g(x):
        return torch.view_as_real(x.expand(2, 2)).as_strided((3,), (1,)).exp()

    for h, x in ((f, torch.rand(3)), (g, torch.rand(2, dtype=torch.complex128))):
        x = x.to(torch.promote_types(x.dtype, torch.float64)).requires_grad_()
        assert torch.autograd.gradcheck(h, x) and torch.autograd.gradgradcheck(h, x)


def test_yes_and_no_as_numbers():
    assert repr(nn.Linear(2, 3, 1)) == "Linear(in_features=2, out_features=3, bias=True)"
    assert nn.Linear(2, 3, bias=0).bias is None and nn.Linear(2, 3, bias=None).bias is None
    assert nn.Conv2d(1, 2, 3, bias=0).bias is None and nn.BatchNorm2d(3, affine=0).weight is None
    assert nn.ReLU(1).inplace and nn.MultiheadAttention(4, 2, batch_first=1).batch_first
    with pytest.raises(TypeError, match="must be bool, not str"):
        nn.Linear(2, 3, bias="no")


def test_numpys_names_of_arguments():
    x = torch.tensor([[1.0, 2.0, 4.0], [4.0, 5.0, 9.0]])
    std, mean = torch.std_mean(x, axis=1, keepdims=True)
    assert torch.equal(std, x.std(1, keepdim=True)) and torch.equal(mean, x.mean(1, keepdim=True))
    assert torch.diff(a=x, axis=0).tolist() == x.diff(axis=0).tolist() == [[3, 3, 5]]
    assert torch.nanmean(x, axis=0, keepdims=True).shape == (1, 3)
    assert torch.linalg.norm(x, axis=1).shape == (2,)
    assert torch.deg2rad(x=x).shape == (2, 3)
    with pytest.raises(TypeError, match="axes"):
        torch.diff(x, axes=0)


def test_assert_allclose():
    x = torch.tensor([1.0, 2.0])
    close = torch.testing.assert_allclose
    with pytest.warns(FutureWarning, match="deprecated"):
        close(x, x + 1e-4)
        close([1.0, 2.0], x.double())
        close(x, [1, 2])
        close(torch.tensor([float("nan")]), torch.tensor([float("nan")]))
        close(x, x + 0.1, rtol=0.2, atol=0)
        for wrong in ((x + 1e-3,), (x[:1],), (x + 1, None, None, True, "no")):
            with pytest.raises(AssertionError):
                close(x, *wrong)
        with pytest.raises(ValueError, match="atol"):
            close(x, x, rtol=0.2)
