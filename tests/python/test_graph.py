"""torch.autograd.graph and grad_fn: what calls keep for backward, and hooks of it."""

import sys
import threading

import pytest

import tensorh as torch
from tensorh.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, None, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, none, y = ctx.saved_tensors
        assert none is None and x.shape == y.shape
        return grad * y


def test_kept_tensors_go_through_the_hooks():
    x, seen = leaf(1, 2, 3), []

    def pack(t):
        assert not t.requires_grad and not torch.is_grad_enabled()
        seen.append(t.tolist())
        return "box", t * 2

    def unpack(value):
        assert value[0] == "box"
        return value[1] / 2

    with saved_tensors_hooks(pack, unpack):
        y = (x * x).sin()
    assert seen == [[1, 2, 3], [1, 2, 3], [1, 4, 9]]
    y.sum().backward()
    assert torch.allclose(x.grad, 2 * x * (x * x).cos())
    with saved_tensors_hooks(pack, lambda value: value[1]):
        z = x * x
    assert torch.allclose(torch.autograd.grad(z.sum(), x)[0], 4 * x)


def test_hooks_and_derivatives_of_derivatives():
    x = leaf(1, 2)
    with saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        first = torch.autograd.grad((x**3).sum(), x, create_graph=True)[0]
        first.sum().backward()
    assert torch.allclose(x.grad, 6 * x)
    x.grad = None
    with saved_tensors_hooks(lambda t: t / 4, lambda t: t * 4):
        y = Exp.apply(x)
    torch.autograd.grad(y.sum(), x, create_graph=True)[0].sum().backward()
    assert torch.allclose(x.grad, x.exp())


def test_hooks_that_fail():
    x = leaf(1, 2)
    with pytest.raises(ZeroDivisionError), saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
        torch.mul(x, x)
    with saved_tensors_hooks(lambda t: t, lambda t: 5):
        y = x * x
    with pytest.raises(TypeError, match="expected to be a Tensor"):
        y.sum().backward()
    with (
        pytest.raises(RuntimeError, match="in-place operations"),
        saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t),
    ):
        torch.mul(x.exp(), x.exp())
    with pytest.raises(TypeError, match="function arguments"), saved_tensors_hooks(1, 2):
        pass
    assert torch.equal((x * x).detach(), (x * x).detach())  # none is left open


def test_inner_hooks_and_none():
    x = leaf(3)
    with saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):  # noqa: SIM117
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            y = x * x
    y.backward()
    assert x.grad.item() == 6
    with disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), save_on_cpu():
            pass
        torch.autograd.grad(x * x, x)
    with save_on_cpu(pin_memory=True):
        y = x.exp()
    y.backward()
    assert x.grad.item() == pytest.approx(6 + x.exp().item())


def test_hooks_are_of_their_thread():
    x, seen = leaf(3), []

    def other():
        (x * x).exp()

    with saved_tensors_hooks(lambda t: seen.append(1) or t, lambda t: t):
        t = threading.Thread(target=other)
        t.start()
        t.join()
    assert not seen


def test_a_call_says_what_it_keeps():
    x = leaf(1, 2)
    y, z = x * x, x.exp()
    assert y.grad_fn._saved_self is x and y.grad_fn._saved_other is x
    assert z.grad_fn._saved_result.grad_fn is z.grad_fn
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t)
    assert torch.equal(y.grad_fn._saved_self, 2 * x) and y.grad_fn._saved_other is x
    with pytest.raises(RuntimeError, match="already been set"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(TypeError, match="function arguments"):
        y.grad_fn._raw_saved_other.register_hooks(lambda t: t)
    y.sum().backward()
    assert torch.allclose(x.grad, 3 * x)
    with pytest.raises(RuntimeError, match="already been freed"):
        str(y.grad_fn._saved_self)
    with pytest.raises(AttributeError):
        str(y.grad_fn._saved_nothing)


def test_a_call_has_a_class_of_torchs_name():
    x = leaf(1, 2)
    y = (x * x).sum()
    names = [type(y.grad_fn).__name__]
    product = y.grad_fn.next_functions[0][0]
    names += [type(product).__name__, type(product.next_functions[0][0]).__name__]
    assert names == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    assert isinstance(product, torch.autograd.graph.Node) and type(product) is type(
        (x * 3).grad_fn
    )
    before = sys.getrefcount(type(product))
    for _ in range(100):
        (x * 3).grad_fn.name()
    assert sys.getrefcount(type(product)) < before + 20  # none is kept for each call
    with pytest.raises(TypeError, match="cannot create"):
        type(product)()
    with torch.no_grad():
        assert x.numpy().tolist() == [1, 2]
    with pytest.raises(TypeError, match="expected to be a Tensor or None"):
        x.grad = 3
