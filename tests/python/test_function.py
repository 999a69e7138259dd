"""torch.autograd.Function: calls whose gradient is written in Python."""

import gc
import math
import sys

import numpy as np
import pytest

import tensorh as torch
from tensorh.autograd import Function


def leaf(*values, dtype=torch.float64):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


def numbers(t):
    return t.tolist()


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


# --- Function ------------------------------------------------------------------------------------


def test_function_forward_and_backward():
    x = leaf(1, 2)
    y = Square.apply(x)
    assert numbers(y) == [1, 4] and not y.is_leaf
    assert repr(y).endswith("grad_fn=<SquareBackward>)")
    assert y.grad_fn.name() == "SquareBackward"
    assert y.grad_fn.saved_tensors[0] is x
    y.sum().backward()
    assert numbers(x.grad) == [2, 4]
    with pytest.raises(RuntimeError, match="second time"):
        _ = y.grad_fn.saved_tensors
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_function_double_backward():
    x = leaf(3)
    (first,) = torch.autograd.grad(Square.apply(Square.apply(x)).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert numbers(first) == [108] and numbers(second) == [108]


def test_function_that_saves_its_output():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(None, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            nothing, y = ctx.saved_tensors
            assert nothing is None
            return grad * y

    x = leaf(0.5)
    y = Exp.apply(x)
    saved = y.grad_fn.saved_tensors[1]
    assert numbers(saved) == numbers(y) and saved.grad_fn is y.grad_fn
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert np.allclose(numbers(second), math.exp(0.5), rtol=1e-15)


def test_function_with_several_outputs_and_arguments_that_are_no_tensors():
    class Mixed(Function):
        @staticmethod
        def forward(ctx, x, factor, y, name=None):
            assert ctx.needs_input_grad == (True, False, False, False)
            ctx.factor = factor
            return x * factor, name, y + 1, x.shape

        @staticmethod
        def backward(ctx, *grads):
            assert grads[1] is None and grads[3] is None
            assert numbers(grads[2]) == [0, 0]
            return grads[0] * ctx.factor, None, None, None

    x = leaf(1, 2)
    a, name, b, shape = Mixed.apply(x, 3.0, torch.ones(2, dtype=torch.float64), "n")
    assert name == "n" and tuple(shape) == (2,) and b.requires_grad
    a.sum().backward()
    assert numbers(x.grad) == [3, 3]


def test_function_without_materialized_gradients():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            assert a is None
            return b * 3

    x = leaf(1)
    Two.apply(x)[1].sum().backward()
    assert numbers(x.grad) == [3]


def test_function_marks_outputs_as_not_differentiable():
    class Split(Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2, x * 3
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx, a, b):
            assert numbers(b) == [0, 0]
            return a * 2

    x = leaf(1, 2)
    a, b = Split.apply(x)
    assert a.requires_grad and not b.requires_grad and b.grad_fn is None
    a.sum().backward()
    assert numbers(x.grad) == [2, 2]


class AddOne(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.add_(1)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 7


def test_function_that_writes_its_input():
    x = leaf(1, 2)
    y = x * 1
    z = AddOne.apply(y)
    assert z is y and y.grad_fn.name() == "AddOneBackward" and y._version == 1
    y.sum().backward()
    assert numbers(x.grad) == [7, 7]
    with pytest.raises(RuntimeError, match="leaf"):
        AddOne.apply(leaf(1))


def test_function_that_writes_a_view():
    x = leaf(1, 2, 3)
    y = x * 1
    AddOne.apply(y[1:])
    assert numbers(y) == [1, 3, 4]
    y.sum().backward()
    assert numbers(x.grad) == [1, 7, 7]


def test_function_that_returns_its_input_makes_another_tensor():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = leaf(1)
    y = Same.apply(x)
    assert y is not x and x.is_leaf and not y.is_leaf
    y.sum().backward()
    assert numbers(x.grad) == [3]
    with torch.no_grad():
        assert Same.apply(x) is not x


def test_function_that_returns_a_foreign_leaf_leaves_it_one():
    w = leaf(5)

    class Take(Function):
        @staticmethod
        def forward(ctx, x):
            return w

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(1)
    y = Take.apply(x)
    y.sum().backward()
    assert w.is_leaf and w.grad is None and numbers(x.grad) == [2] and numbers(y) == [5]


def test_function_with_setup_context():
    class Scale(Function):
        @staticmethod
        def forward(x, factor=2.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.factor = inputs
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad):
            assert len(ctx.saved_tensors) == 1
            return grad * ctx.factor, None

    x = leaf(1, 2)
    Scale.apply(x, 3.0).sum().backward()
    Scale.apply(x).sum().backward()
    Scale.apply(x, factor=10.0).sum().backward()
    assert numbers(x.grad) == [15, 15]


def test_function_runs_without_recording():
    states = []

    class Watch(Function):
        @staticmethod
        def forward(ctx, x):
            states.append(torch.is_grad_enabled())
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            states.append(torch.is_grad_enabled())
            return grad * 2

    x = leaf(1)
    Watch.apply(x).sum().backward()
    torch.autograd.grad(Watch.apply(x).sum(), x, create_graph=True)
    assert states == [False, False, False, True]
    with torch.no_grad():
        assert not Watch.apply(x).requires_grad
    assert not Watch.apply(x.detach()).requires_grad


def test_once_differentiable():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad):
            assert not torch.is_grad_enabled()
            return grad * 2 * ctx.saved_tensors[0]

    x = leaf(3)
    assert numbers(torch.autograd.grad(Once.apply(x).sum(), x)[0]) == [6]
    (g,) = torch.autograd.grad((Once.apply(x) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def made(forward, backward):
    return type("Made", (Function,), {"forward": staticmethod(forward),
                                      "backward": staticmethod(backward)})


@pytest.mark.parametrize("forward, backward, arguments, error, text", [
    (lambda c, x: x * 2, lambda c, g: (g, g), (), RuntimeError,
     "function MadeBackward returned an incorrect number of gradients (expected 1, got 2)"),
    (lambda c, x, k: x * k, lambda c, g: g, (2,), RuntimeError,
     "function MadeBackward returned an incorrect number of gradients (expected 2, got 1)"),
    (lambda c, x, k: x * k, lambda c, g: (g, g), (2,), RuntimeError,
     "function MadeBackward returned a gradient different than None at position 2, but the "
     "corresponding forward input was not a Variable"),
    (lambda c, x: x * 2, lambda c, g: 3, (), RuntimeError, "expected Variable or None (got int)"),
    (lambda c, x: x * 2, lambda c, g: [g], (), RuntimeError,
     "expected Variable or None (got list)"),
    (lambda c, x: x * 2, lambda c, g: torch.ones(5), (), RuntimeError,
     "Function MadeBackward returned an invalid gradient at index 0 - got [5] but expected shape "
     "compatible with [2]"),
    (lambda c, x: c.save_for_backward(3), None, (), TypeError,
     "save_for_backward can only save variables, but argument 0 is of type int"),
    (lambda c, x: (c.mark_dirty(x), x * 2)[1], None, (), RuntimeError, "leaf Variable"),
    (lambda c, x: 1 / 0, None, (), ZeroDivisionError, "division by zero"),
    (lambda c, x: x * 2, lambda c, g: 1 / 0, (), ZeroDivisionError, "division by zero"),
])
def test_wrong_functions(forward, backward, arguments, error, text):
    x = leaf(1, 2)
    with pytest.raises(error) as caught:
        made(forward, backward).apply(x, *arguments).sum().backward()
    assert text in str(caught.value)
    assert x.grad is None
    (x * 2).sum().backward()


def test_gradients_that_nobody_asks_for_need_not_fit():
    x, t = leaf(1, 2), torch.ones(5)
    two = made(lambda c, x, t: x * 2, lambda c, g: (g * 2, torch.ones(3)))
    two.apply(x, t).sum().backward()
    assert x.grad.tolist() == [2, 2] and t.grad is None
    with pytest.raises(RuntimeError, match=r"index 1 - got \[3\] but expected"):
        two.apply(x, t.requires_grad_()).sum().backward()


def test_functions_that_are_not_finished():
    class Nothing(Function):
        pass

    class Half(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = leaf(1)
    with pytest.raises(NotImplementedError, match="forward function"):
        Nothing.apply(x)
    with pytest.raises(NotImplementedError, match="backward or vjp"):
        Half.apply(x).sum().backward()
    with pytest.raises(RuntimeError, match="Legacy"):
        Half()(x)
    with pytest.raises(TypeError):
        Function.apply(x)
    with pytest.raises(TypeError):
        Half.apply(x, y=3)


def test_trailing_none_gradients_and_broadcast_ones():
    x = leaf(1, 2)
    made(lambda c, x: x * 2, lambda c, g: (g * 2, None, None)).apply(x).sum().backward()
    made(lambda c, x: x * 2, lambda c, g: torch.ones(3, 2)).apply(x).sum().backward()
    made(lambda c, x: x * 2, lambda c, g: None).apply(x).sum().backward()
    assert numbers(x.grad) == [5, 5]


def test_a_functions_context_goes_with_its_graph():
    gone = []

    class Mark:
        def __del__(self):
            gone.append(1)

    class Keep(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark = Mark()
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad

    y = Keep.apply(leaf(1))
    gc.collect()
    assert not gone
    del y
    assert gone == [1]


# --- nothing is kept -----------------------------------------------------------------------------

BIG = 1 << 16


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


class BigExp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y, x

    @staticmethod
    def backward(ctx, grad, same):
        x, y = ctx.saved_tensors
        return grad * y + same


class BigError(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise KeyError(grad)


def second_order():
    x = torch.ones(BIG, requires_grad=True)
    y, _ = BigExp.apply(x)
    assert y.grad_fn.saved_tensors[1].requires_grad
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (g * g).sum().backward()


def failing():
    x = torch.ones(BIG, requires_grad=True)
    with pytest.raises(KeyError):
        (BigError.apply(x) * x).sum().backward()


def hooked():
    x = torch.ones(BIG, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 2 if y is not None else g)
    x.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(2))
    y.sum().backward()


def refused():
    x = torch.ones(BIG, requires_grad=True)
    other = torch.ones(1, requires_grad=True)
    for call in (lambda: (x * 2).backward(), lambda: (x * 2).sum().backward(inputs=[other, 3]),
                 lambda: torch.autograd.grad((x * 2).sum(), [x, other])):
        with pytest.raises((RuntimeError, TypeError)):
            call()


def looked_at():
    x = torch.ones(BIG, requires_grad=True)
    y = BigExp.apply(x)[0] + 1
    node, _ = y.grad_fn.next_functions[0]
    assert node.next_functions[0][0].variable is x and len(node.saved_tensors) == 2
    x.data = torch.zeros(BIG)
    y.detach_()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("work", [second_order, failing, hooked, refused, looked_at])
def test_no_tensor_is_kept(work):
    for _ in range(5):
        work()
    gc.collect()
    before = resident()
    for k in range(60):
        work()
        if k % 10 == 9:
            gc.collect()
    assert resident() - before < 20 * 4 * BIG


@pytest.mark.parametrize("recorded", [True, False])
def test_inputs_that_are_returned_are_other_tensors(recorded):
    class Both(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x, y, 3

        @staticmethod
        def backward(ctx, gx, gy, gz):
            return gx, gy

    x, y = torch.ones(2, requires_grad=True), torch.ones(2)
    with torch.set_grad_enabled(recorded):
        a, b, three = Both.apply(x, y)
    assert a is not x and b is not y and three == 3
    assert a.requires_grad is recorded
    a.detach().add_(1)
    assert x.tolist() == [2.0, 2.0]  # over the same memory


def test_save_for_backward_after_forward_changes_nothing():
    class Saves(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append([t.tolist() for t in ctx.saved_tensors])
            ctx.save_for_backward(g, g)
            seen.append([t.tolist() for t in ctx.saved_tensors])
            return g

    seen = []
    x = torch.ones(2, requires_grad=True)
    y = Saves.apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert seen == [[[1.0, 1.0]]] * 4


def test_a_gradient_has_one_name():
    class Both(Square):
        @staticmethod
        def vjp(ctx, grad):
            return grad

    class Vjp(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def vjp(ctx, grad):
            return grad * 3

    class More(Both):
        pass

    x = leaf(2.0)
    for both in (Both, More):
        y = both.apply(x)
        with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
            y.backward()
    Vjp.apply(x).backward()
    assert numbers(x.grad) == [3.0]


def test_a_backward_within_a_backward_is_refused_before_the_stack_ends():
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, left):
            ctx.left = left
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.left:
                with torch.enable_grad():
                    y = torch.ones(1, requires_grad=True)
                    Nested.apply(y, ctx.left - 1).sum().backward()
            return g, None

    def nested(levels):
        x = torch.ones(1, requires_grad=True)
        Nested.apply(x, levels).sum().backward()
        return x.grad.item()

    assert nested(100) == 1
    with pytest.raises(RecursionError):
        nested(2000)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10 * limit + 100000)
    try:
        assert nested(900) == 1
        with pytest.raises(RuntimeError, match="1000 calls of backward, each within"):
            nested(2000)
    finally:
        sys.setrecursionlimit(limit)
    assert nested(1) == 1
