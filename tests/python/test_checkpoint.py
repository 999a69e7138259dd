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
    with pytest.raises(ValueError, match="use_reentrant=False"):
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


# --- use_reentrant=False --------------------------------------------------------------------------


def noisy():
    torch.manual_seed(1)
    first = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5))
    return nn.Sequential(first, nn.LayerNorm(8), nn.Linear(8, 2))


def by_hooks(f, *args, **options):
    return checkpoint(f, *args, use_reentrant=False, **options)


@pytest.mark.parametrize("nested", [False, True])
def test_gradients_of_gradients_are_those_without(nested):
    m, x = noisy(), torch.arange(12.0).reshape(3, 4).requires_grad_()
    inputs = [x, *m.parameters()]

    def second(run):
        torch.manual_seed(3)
        first = torch.autograd.grad(run().pow(2).sum(), inputs, create_graph=True)
        return (*first, *torch.autograd.grad(sum((g**2).sum() for g in first), inputs))

    plain = second(lambda: m(x))
    inner = (lambda z: by_hooks(m, z)) if nested else m
    for a, b in zip(plain, second(lambda: by_hooks(inner, x)), strict=True):
        assert torch.equal(a, b)
    assert all(t.grad is None for t in inputs)  # autograd.grad gathers nothing


def test_the_function_runs_again_only_where_backward_reads():
    runs, x = [], torch.full((2,), 3.0, requires_grad=True)

    def f(a):
        runs.append(torch.is_grad_enabled())
        return (a * a).exp().log() * a

    y = by_hooks(f, x)
    assert len(runs) == 1
    y.sum().backward(retain_graph=True)
    assert runs == [True, True]
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([54.0, 54.0])
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    d = by_hooks(lambda a: torch.exp(a), x)
    assert torch.equal(d.grad_fn._saved_result, d.grad_fn._saved_result)


def test_a_hook_of_a_parameter_runs_once():
    w, count = torch.ones(2, requires_grad=True), []
    w.register_hook(lambda g: count.append(g))
    by_hooks(lambda h: w * h, w * 2).sum().backward()
    assert len(count) == 1 and w.grad.tolist() == [4.0, 4.0]


def test_a_second_run_that_differs_is_an_error():
    from tensorh.utils.checkpoint import CheckpointError

    calls, x = [], torch.ones(3, requires_grad=True)

    def shorter(a):
        calls.append(1)
        return (a * a if len(calls) % 2 else a[:2] * a[:2]).sum()

    y = by_hooks(shorter, x)
    with pytest.raises(CheckpointError, match="different metadata"):
        y.backward()

    def fewer(a):
        calls.append(1)
        return (a * a).exp().sum() if len(calls) % 2 else (a * a).sum()

    y = by_hooks(fewer, x)
    with pytest.raises(CheckpointError, match="A different number of tensors"):
        y.backward()


def test_a_check_that_is_not_known_is_refused():
    x = torch.ones(2, requires_grad=True)
    for name in ("default", "none"):
        assert by_hooks(lambda a: a * 2, x, determinism_check=name).tolist() == [2, 2]
    for wrong in ("None", None, "strict"):
        with pytest.raises(ValueError, match="determinism_check should be one of"):
            by_hooks(lambda a: a * 2, x, determinism_check=wrong)


def test_blocks_around_the_runs():
    from contextlib import contextmanager

    told, x = [], torch.ones(1, requires_grad=True)

    @contextmanager
    def block(name):
        told.append(name)
        yield
        told.append(f"end of {name}")

    y = by_hooks(lambda a: a * a, x, context_fn=lambda: (block("first"), block("second")))
    assert told == ["first", "end of first"]
    y.backward()
    assert told[2:] == ["second", "end of second"]


def test_values_are_not_kept():
    x = torch.ones(100_000, requires_grad=True)

    def held(run):
        before = torch._C._memory()[0]
        y = run()
        after = torch._C._memory()[0]
        y.sum().backward()
        return after - before

    def f(a):
        for _ in range(10):
            a = (a * a).sin()
        return a

    assert held(lambda: by_hooks(f, x)) <= held(lambda: f(x)) / 5
