"""torch.utils.checkpoint: the same gradients as without, no graph kept."""

import gc
from collections import OrderedDict

import pytest

import tensorh as torch

nn = pytest.importorskip("tensorh.nn")
from tensorh.utils.checkpoint import checkpoint, checkpoint_sequential  # noqa: E402


def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.Linear(8, 2))


def gradients(run, needs):
    m, x = model(), torch.arange(12).reshape(3, 4).to(torch.float32).requires_grad_(needs)
    run(m, x).sum().backward()
    return [p.grad.tolist() for p in m.parameters()] + [x.grad.tolist() if needs else None]


@pytest.mark.parametrize("needs", [True, False])
def test_gradients_are_those_without(needs):
    plain = gradients(lambda m, x: m(x), needs)
    assert gradients(lambda m, x: checkpoint(m, x, use_reentrant=False), needs) == plain
    assert gradients(lambda m, x: checkpoint_sequential(m, 2, x), needs) == plain
    nested = gradients(lambda m, x: checkpoint(lambda y: checkpoint(m, y), x), needs)
    assert nested == plain


def test_several_results_and_keywords():
    x, y = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)

    def f(a, n, *, b):
        return a * b, "text", (a * n).detach(), b**2

    p, text, cut, q = checkpoint(f, x, 5, b=y)
    assert text == "text" and cut.item() == 10 and isinstance(p, torch.Tensor)
    (p * 2 + q).backward()
    assert x.grad.item() == 6 and y.grad.item() == 4 + 6
    x.grad = None
    checkpoint(f, x, 5, b=y)[0].backward()
    assert x.grad.item() == 3
    assert isinstance(checkpoint(lambda a: [a], x), list)


def test_tensors_in_containers_have_their_gradients():
    def x():
        return torch.full((2,), 2.0, requires_grad=True)

    a = x()
    y = checkpoint(lambda a: (a * 2, (a * 3, [a])), a)
    (y[0] + y[1][0] + y[1][1][0]).sum().backward()
    assert a.grad.tolist() == [6.0, 6.0]
    a = x()
    y = checkpoint(lambda a: {"y": a * a, "none": None, "in": OrderedDict(z=a)}, a)
    assert y["none"] is None and type(y["in"]) is OrderedDict
    (y["y"] + y["in"]["z"]).sum().backward()
    assert a.grad.tolist() == [5.0, 5.0]
    a = x()
    h, k = a * 2, a * 3  # not leaves, and used beside the call
    y = checkpoint(lambda two, *, d: two[0] * two[1] + d["k"], [h, 3.0], d={"k": k})
    (y + h + k).sum().backward()
    assert a.grad.tolist() == [6 + 3 + 2 + 3.0] * 2
    a = x()
    values, indices = checkpoint(lambda a: a.sort(), a)
    values.sum().backward()
    assert a.grad.tolist() == [1.0, 1.0] and not indices.requires_grad


def test_what_has_no_gradient_is_what_the_function_returns():
    x, made = torch.ones(2, requires_grad=True), {"a": [None, 3]}
    assert checkpoint(lambda a: made, x) is made
    assert checkpoint(lambda a: None, x) is None
    assert not checkpoint(lambda a: a * 2, torch.ones(2)).requires_grad
    y, z, mask = checkpoint(lambda a, b: (a * b, b * 2, a > 0), x, torch.ones(2))
    assert [t.requires_grad for t in (y, z, mask)] == [True, False, False]


def test_a_tensor_that_is_not_seen_among_the_results_is_an_error_in_backward():
    class Result:
        pass

    def inside(a):
        r.y = a * 2
        return a * 3, r

    x, r = torch.ones(2, requires_grad=True), Result()
    checkpoint(inside, x)[0].sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="in an object that is no tuple"):
        checkpoint(inside, x)[1].y.sum().backward()


def test_a_function_may_ask_for_gradients_itself():
    def slope(a):
        return torch.autograd.grad((a * a * a).sum(), a, create_graph=True)[0]

    x = torch.full((2,), 2.0, requires_grad=True)
    checkpoint(slope, x).sum().backward()
    assert x.grad.tolist() == [12.0, 12.0]


def test_random_numbers_are_the_same_again():
    x = torch.ones(100, requires_grad=True)
    seen = []

    def drop(a):
        mask = (torch.rand(100) > 0.5).to(torch.float32)
        seen.append(mask.tolist())
        return a * mask

    torch.manual_seed(3)
    y = checkpoint(drop, x)
    state = torch.default_generator.get_state().tolist()
    y.sum().backward()
    assert seen[0] == seen[1] == x.grad.tolist()
    assert torch.default_generator.get_state().tolist() == state


def test_errors_of_the_function_come_out():
    x, calls = torch.ones(1, requires_grad=True), []

    def second(a):
        calls.append(1)
        if len(calls) == 2:
            raise KeyError("again")
        return a * 2

    y = checkpoint(second, x)
    with pytest.raises(KeyError, match="again"):
        y.backward()
    answers = iter([(x, x * 2), (x,)])
    y = checkpoint(lambda a: next(answers), x)
    with pytest.raises(RuntimeError, match="the same tensors again"):
        y[1].backward()
    with pytest.raises(NotImplementedError):
        checkpoint(second, x, context_fn=print)


def test_without_gradients_it_is_the_function():
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        assert checkpoint(lambda a: 3, x) == 3


def test_nothing_is_kept():
    class Big:
        pass

    import weakref

    big = Big()
    ref = weakref.ref(big)
    x = torch.ones(1, requires_grad=True)
    y = checkpoint(lambda a, b: a * 2, x, big)
    y.backward()
    del big, y
    gc.collect()
    assert ref() is None
