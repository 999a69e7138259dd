"""torch.autograd.graph and grad_fn: what calls keep for backward, and hooks of it."""

import sys
import threading
import weakref

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


# --- hooks of recorded calls ----------------------------------------------------------------------


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, y):
        return x * factor, factor, y * 2

    @staticmethod
    def backward(ctx, first, none, second):
        assert none is None
        return first * 2, None, second * 2


def test_hooks_see_what_comes_and_what_is_given():
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    seen = []
    handles = [
        y.grad_fn.register_hook(lambda given, came: seen.append(("behind", given, came))),
        y.grad_fn.register_prehook(lambda came: seen.append(("before", came))),
        y.grad_fn.register_prehook(lambda came: (came[0] * 10,)),
        y.grad_fn.register_hook(lambda given, came: (given[0] + 1, *given[1:])),
    ]
    y.register_hook(lambda grad: grad * 2)
    y.sum().backward(retain_graph=True)
    assert [s[0] for s in seen] == ["before", "behind"]
    assert seen[0][1][0].tolist() == [2, 2]
    assert seen[1][1][0].tolist() == [60, 60] and seen[1][2][0].tolist() == [20, 20]
    assert len(seen[1][1]) == len(y.grad_fn.next_functions)
    assert x.grad.tolist() == [61, 61]
    for handle in handles:
        handle.remove()
        handle.remove()
    y.sum().backward()
    assert x.grad.tolist() == [67, 67] and len(seen) == 2


def test_hooks_of_calls_of_several_results():
    x = torch.rand(3, 4, requires_grad=True)
    var, mean = torch.var_mean(x, dim=0)
    var.grad_fn.register_prehook(lambda came: tuple(g * 2 for g in came))
    (var + mean).sum().backward()
    once = x.detach().requires_grad_()
    sum(r.sum() for r in torch.var_mean(once, dim=0)).backward()
    assert torch.allclose(x.grad, once.grad * 2)
    for came in ((None, 1), (0, None)):  # None where there was one: zero
        x.grad = None
        var, mean = torch.var_mean(x, dim=0)
        var.grad_fn.register_prehook(lambda g, came=came: tuple(
            None if c is None else g[i] for i, c in enumerate(came)))  # fmt: skip
        (var + mean).sum().backward()
        kept = torch.var_mean(once, dim=0)[1 if came[0] is None else 0]
        assert torch.allclose(x.grad, torch.autograd.grad(kept.sum(), once)[0])


def test_hooks_of_a_function():
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    a, factor, b = Twice.apply(x, 3, y)
    seen = []
    a.grad_fn.register_prehook(lambda came: seen.append(came) or (came[0] * 5, None, came[2]))
    a.grad_fn.register_hook(lambda given, came: seen.append((given, came)))
    (a + b).sum().backward()
    assert factor == 3 and [g is None for g in seen[0]] == [False, True, False]
    assert x.grad.tolist() == [10, 10] and y.grad.tolist() == [2, 2]
    assert [g is None for g in seen[1][1]] == [False, True, False]
    assert a.grad_fn.metadata is a.grad_fn.metadata == {}


def test_a_call_that_is_not_recorded_has_no_hooks():
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            kept.append(ctx)
            return x * 2

    kept = []
    Keeps.apply(torch.ones(2))
    for use in (lambda c: c.metadata, lambda c: c.register_hook(print)):
        with pytest.raises(RuntimeError, match="not on the tape"):
            use(kept[0])


def test_hooks_of_a_leaf():
    p = torch.ones(2, requires_grad=True)
    gather = p.expand_as(p).grad_fn.next_functions[0][0]
    seen = []
    handle = gather.register_hook(lambda *a: seen.append((*a, p.grad.tolist())))
    gather.register_prehook(lambda came: (came[0] * 2,))
    (p * 3).sum().backward()
    given, came, grad = seen[0]
    assert given == () and len(came) == 1 and grad == [6, 6]
    handle.remove()
    (p * 3).sum().backward()
    assert p.grad.tolist() == [12, 12] and len(seen) == 1
    gather.register_prehook(lambda came: (None,))
    (p * 3).sum().backward()
    assert p.grad.tolist() == [12, 12]


def test_hooks_that_go_while_they_run():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    seen = []

    def first(came):
        seen.append(1)
        one.remove()
        second.remove()
        y.grad_fn.register_prehook(lambda came: seen.append(3))  # from the next backward on

    one = y.grad_fn.register_prehook(first)
    second = y.grad_fn.register_prehook(lambda came: seen.append(2))
    y.sum().backward(retain_graph=True)
    assert seen == [1]
    y.sum().backward()
    assert seen == [1, 3]


def test_hooks_end_with_their_call():
    class Counted:
        def __call__(self, *args):
            pass

    hook, x = Counted(), torch.ones(2, requires_grad=True)
    there = weakref.ref(hook)
    y = x * 2
    handle = y.grad_fn.register_hook(hook)
    del hook
    assert there() is not None
    del y, handle
    assert there() is None


@pytest.mark.parametrize(
    "hook, kind, said",
    [
        (lambda came: came[0], TypeError, "expected tuple, but hook returned 'Tensor'"),
        (lambda came: (came[0],) * 2, RuntimeError, "number of values .got 2, but expected 1"),
        (lambda came: (came[0].new_ones(3),), RuntimeError, "different shape"),
        (lambda came: (came[0].double(),), RuntimeError, "dtype float64, expected float32"),
        (lambda came: (5,), TypeError, "expected Variable, but hook returned 'int'"),
        (lambda came: came[7], IndexError, "out of range"),
    ],
)
def test_hooks_of_calls_that_fail(hook, kind, said):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_prehook(hook)
    with pytest.raises(kind, match=said):
        y.sum().backward()
    assert x.grad is None
    with pytest.raises(TypeError, match="callable"):
        y.grad_fn.register_hook(5)


def test_metadata_is_kept_for_the_call():
    class Thing:
        pass

    x = torch.ones(2, requires_grad=True)
    y, thing = x * 2, Thing()
    there = weakref.ref(thing)
    y.grad_fn.metadata["thing"] = thing
    y.sum().grad_fn.next_functions[0][0].metadata["more"] = 1
    del thing
    assert set(y.grad_fn.metadata) == {"thing", "more"} and there() is not None
    assert (x * 2).grad_fn.metadata == {}
    y.sum().backward()
    leaf = x.expand_as(x).grad_fn.next_functions[0][0]
    leaf.metadata["a"] = 1
    assert x.expand_as(x).grad_fn.next_functions[0][0].metadata == {"a": 1}
    del y
    assert there() is None
