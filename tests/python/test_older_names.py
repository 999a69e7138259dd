"""Names that torch has deprecated, and what programs see of a class: its signature."""

import inspect

import pytest

import tensorh as torch
from tensorh import nn
from tensorh.nn import utils


def test_deprecated_names_warn_and_work():
    with pytest.warns(FutureWarning, match="nn.Container"):
        both = nn.Container(a=nn.Linear(2, 2), b=nn.ReLU())
    assert [name for name, _ in both.named_children()] == ["a", "b"]
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        loss = nn.NLLLoss2d(reduction="sum")
    x, y = torch.zeros(1, 2, 2, 2), torch.zeros(1, 2, 2, dtype=torch.int64)
    assert loss(x, y).item() == 0 and isinstance(loss, nn.NLLLoss)
    with pytest.warns(FutureWarning, match="weight_norm"):
        layer = utils.weight_norm(nn.Linear(2, 2))
    with pytest.warns(FutureWarning, match="torch.func.functional_call"):
        y = utils.stateless.functional_call(nn.Linear(2, 1), {"bias": torch.ones(1)}, x[0, 0])
    assert y.shape == (2, 1) and "weight_g" in layer.state_dict()
    p = nn.Parameter(torch.ones(2))
    p.grad = torch.tensor([3.0, 4.0])
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        assert utils.clip_grad_norm([p], 1.0).item() == 5
    with pytest.warns(UserWarning, match="empty generator"):
        utils.clip_grad_norm_((p for p in ()), 1.0)


def test_a_module_that_is_not_there_is_an_error_of_functional_call():
    layer, x = nn.Linear(2, 2), torch.ones(1, 2)
    kept = torch.func.functional_call(layer, {"other": x}, x)
    assert kept.equal(layer(x))
    with pytest.raises(AttributeError, match="has no attribute `a`"):
        torch.func.functional_call(layer, {"a.weight": x}, x)


@pytest.mark.parametrize(
    ("name", "text"),
    (
        ("ReLU", "(inplace=False)"),
        ("Linear", "(in_features, out_features, bias=True, device=None, dtype=None)"),
        ("AvgPool1d", "(kernel_size, stride=None, padding=0, ceil_mode=False, "
                      "count_include_pad=True)"),
        ("Tanh", "()"),
    ),
)  # fmt: skip
def test_signatures_are_torchs(name, text):
    assert str(inspect.signature(getattr(nn, name))) == text


def test_an_optimizer_steps_other_parameters_for_a_while():
    p = nn.Parameter(torch.ones(2))
    o = torch.optim.SGD([p], lr=0.5, momentum=0.5)
    p.grad = torch.ones(2)
    o.step()
    given, q = o.state_dict(), torch.zeros(2)
    given["param_groups"][0]["lr"] = 0.25
    q.grad = torch.ones(2)
    with torch.optim.swap_in_optimizer_params_and_state(o, {"w": q}, given):
        o.step()
    assert q.tolist() == [-0.375, -0.375] and p.tolist() == [0.5, 0.5]
    assert o.param_groups[0]["lr"] == 0.5 and o.param_groups[0]["params"][0] is p
    with pytest.raises(RuntimeError, match="different number of parameter groups"):
        with torch.optim.swap_in_optimizer_params_and_state(
            o, {"w": q}, {**given, "param_groups": []}
        ):
            pass
    with pytest.raises(RuntimeError, match="initialized optimizer state"):
        with torch.optim.swap_in_optimizer_params_and_state(torch.optim.SGD([p]), {}, {}):
            pass
