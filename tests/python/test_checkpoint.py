"""torch.utils.checkpoint: the same gradients as without, no graph kept."""

import gc

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
    with pytest.raises(TypeError, match="returns tensors"):
        checkpoint(lambda a: 3, x)
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
