"""Optimizers with differentiable=True: the step is a function of what was before it."""

import pytest

import tensorh as torch

CASES = {
    "SGD": [{}, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}, {"momentum": 0.8},
            {"weight_decay": 0.1, "maximize": True}],
    "Adam": [{}, {"amsgrad": True, "weight_decay": 0.1}, {"maximize": True}],
    "AdamW": [{"weight_decay": 0.2}],
    "NAdam": [{"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [{"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "Adamax": [{"weight_decay": 0.1}],
    "Adagrad": [{"lr_decay": 0.1, "weight_decay": 0.1}],
    "Adadelta": [{"weight_decay": 0.1}],
    "RMSprop": [{"momentum": 0.5, "centered": True, "weight_decay": 0.1}],
    "ASGD": [{"weight_decay": 0.1}],
    "Rprop": [{}],
}  # fmt: skip
EACH = [(name, options) for name, cases in CASES.items() for options in cases]
# SGD's buffer begins as a copy of the gradient without history, so its slopes are not its numbers'.
SLOPES = [(name, options) for name, options in EACH if name != "SGD" or "momentum" not in options]


def start(steps, dtype=torch.float64):
    torch.manual_seed(4)
    p = torch.randn(3, 2, dtype=dtype)
    return p, [torch.randn(3, 2, dtype=dtype) for _ in range(steps)]


def after(name, options, p, gradients):
    p = p.clone()
    o = getattr(torch.optim, name)([p], lr=0.3, **options)
    for g in gradients:
        p.grad = g
        o.step()
    return p, o.state[p]


@pytest.mark.parametrize("dtype", (torch.float64, torch.complex128))
@pytest.mark.parametrize(("name", "options"), EACH)
def test_a_recorded_step_gives_the_numbers_of_a_plain_one(name, options, dtype):
    p, gradients = start(4, dtype)
    one, state = after(name, {**options, "differentiable": True}, p, gradients)
    with torch.no_grad():
        other, wanted = after(name, options, p, gradients)
    torch.testing.assert_close(one, other, rtol=1e-4, atol=2e-5)  # Adam corrects in float32
    assert list(state) == list(wanted)
    for key, value in wanted.items():
        torch.testing.assert_close(state[key], value, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "options"), SLOPES)
def test_two_recorded_steps_have_the_slopes_of_their_numbers(name, options):
    p, gradients = start(2)
    given = [t.requires_grad_() for t in (p, *gradients)]

    def end(p, *gradients):
        return after(name, {**options, "differentiable": True}, p, gradients)[0]

    assert torch.autograd.gradcheck(end, tuple(given), rtol=1e-4, atol=1e-5)


def test_the_momentum_of_sgd_begins_without_history():
    p, gradients = start(3)
    given = [t.requires_grad_() for t in (p, *gradients)]
    options = {"momentum": 0.9, "dampening": 0.25, "differentiable": True}
    end, _ = after("SGD", options, p, gradients)
    slopes = list(torch.autograd.grad(end.sum(), given, allow_unused=True))
    # end = p - 0.3 (b1 + b2 + b3), b2 = 0.9 b1 + 0.75 g2, b3 = 0.9 b2 + 0.75 g3, b1 a constant
    assert slopes.pop(1) is None
    for slope, wanted in zip(slopes, (1, -0.3 * 0.75 * 1.9, -0.3 * 0.75), strict=True):
        torch.testing.assert_close(slope, torch.full_like(slope, wanted))


def test_a_rate_has_a_gradient():
    p, (g,) = start(1)
    rate = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    w = p.clone()
    o = torch.optim.SGD([w], lr=rate, differentiable=True)
    w.grad = g
    o.step()
    (slope,) = torch.autograd.grad(w.sum(), rate)
    torch.testing.assert_close(slope, -g.sum())


def test_an_inner_loop_is_learned_through():
    """The starting point from which two steps of SGD end at 3: its gradient by the chain rule."""
    begin = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    w = begin.clone()
    o = torch.optim.SGD([w], lr=0.25, differentiable=True)
    for _ in range(2):
        (w.grad,) = torch.autograd.grad((w * w).sum(), w, create_graph=True)
        o.step()
    ((w - 3) ** 2).sum().backward()
    assert w.item() == 0.25 and begin.grad.item() == 2 * (0.25 - 3) * 0.25


def test_a_leaf_is_refused_as_by_torch():
    p = torch.ones(2, requires_grad=True)
    o = torch.optim.Adam([p], differentiable=True)
    p.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="a leaf that requires grad"):
        o.step()
    with pytest.raises(ValueError, match="non-leaf"):
        torch.optim.Adam([p * 2])


@pytest.mark.parametrize(
    ("name", "options", "text"),
    (
        ("Adam", {"betas": (1.0, 0.0)}, "Invalid beta parameter at index 0: 1.0"),
        ("Adamax", {"betas": (0.0, 1.0)}, "Invalid beta parameter at index 1: 1.0"),
        ("SGD", {"momentum": -0.5}, "Invalid momentum value: -0.5"),
        ("SGD", {"lr": -1}, "Invalid learning rate: -1.0"),
        ("Rprop", {"etas": (1.0, 0.5)}, "Invalid eta values: 1.0, 0.5"),
        ("Adafactor", {"d": 0.0}, "Clipping threshold d should be >= 1 but is: 0.0"),
        ("Adadelta", {"rho": 1.1}, "Invalid rho value: 1.1"),
    ),
)
def test_options_are_refused_in_torchs_words(name, options, text):
    with pytest.raises(ValueError, match=text):
        getattr(torch.optim, name)([torch.ones(2)], **options)
