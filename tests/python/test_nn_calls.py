"""nn: calls with hooks of all modules."""

import pytest

import tensorh as torch
from tensorh import nn


def test_hooks_of_all_modules_run_before_a_modules_own():
    of_all, seen = nn.modules.module, []

    def note(name):
        return lambda module, *rest: seen.append((name, type(module).__name__, len(rest)))

    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    handles = [
        of_all.register_module_forward_pre_hook(note("before")),
        of_all.register_module_forward_hook(note("after")),
        of_all.register_module_forward_hook(note("with"), with_kwargs=True),
        of_all.register_module_full_backward_pre_hook(note("pre")),
        of_all.register_module_full_backward_hook(note("back")),
        net[0].register_forward_hook(note("own")),
    ]
    net(torch.ones(1, 2, requires_grad=True)).sum().backward()
    linear = [("before", "Linear", 1), ("after", "Linear", 2), ("with", "Linear", 3)]
    forward = [("before", "Sequential", 1), *linear, ("own", "Linear", 2)]
    assert seen[:5] == forward
    assert seen[5:11] == [
        (name, kind, n)
        for kind in ("ReLU", "Sequential")
        for name, n in (("before", 1), ("after", 2), ("with", 3))
        if (name, kind) != ("before", "Sequential")
    ] + [("pre", "Sequential", 1)]
    assert sorted(seen[11:]) == sorted(
        [(name, kind, n) for kind in ("ReLU", "Linear") for name, n in (("pre", 1), ("back", 2))]
        + [("back", "Sequential", 2)]
    )
    for handle in handles:
        handle.remove()
    seen.clear()
    assert net(torch.ones(1, 2)).shape == (1, 2) and not seen
    assert "_hooked" not in net[1].__dict__  # a module without hooks stays as it was


def test_hooks_of_all_modules_change_arguments_and_results():
    of_all = nn.modules.module
    with of_all.register_module_forward_pre_hook(lambda m, args: args[0] + 1):
        assert nn.ReLU()(torch.zeros(1)) == 1
    with of_all.register_module_forward_hook(lambda m, args, y: y * 3):
        assert nn.Identity()(torch.ones(1)) == 3
    called = []
    with of_all.register_module_forward_hook(lambda m, *rest: called.append(m), always_call=True):
        m = nn.Linear(2, 2)
        with pytest.raises(RuntimeError):
            m(torch.ones(3))
    assert called == [m]
    assert nn.Identity()(torch.ones(1)) == 1
