"""Built-in modules and functions whose input is of a subclass of Tensor: what the class hears."""

import pytest

import tensorh as torch
from tensorh import nn
from tensorh.nn.modules import _asked

F = nn.functional
HEARD = []


class Own(torch.Tensor):
    """Hears of functions."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        HEARD.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})


class Plain(torch.Tensor):
    """Hears of nothing."""


MADE = {
    "Linear": lambda: nn.Linear(4, 3), "Bilinear": lambda: nn.Bilinear(4, 4, 2),
    "LayerNorm": lambda: nn.LayerNorm(4), "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "RMSNorm": lambda: nn.RMSNorm(4), "Softmax": lambda: nn.Softmax(1),
    "LogSoftmax": lambda: nn.LogSoftmax(1), "Softmin": lambda: nn.Softmin(1),
    "Softshrink": lambda: nn.Softshrink(0.3),
    "BatchNorm1d": lambda: nn.BatchNorm1d(4), "Conv1d": lambda: nn.Conv1d(4, 2, 1),
    "CrossEntropyLoss": lambda: nn.CrossEntropyLoss(torch.rand(4), label_smoothing=0.1),
    "SmoothL1Loss": lambda: nn.SmoothL1Loss("none", beta=0.5),
}  # fmt: skip


def inputs(name):
    torch.manual_seed(1)
    x = torch.rand((2, 4, 3) if name == "Conv1d" else (2, 4))
    if name == "Bilinear":
        return x, torch.rand(2, 4)
    if name in ("CrossEntropyLoss", "NLLLoss"):
        return x, torch.tensor([1, 3])
    return (x, torch.rand(2, 4)) if name.endswith("Loss") else (x,)


@pytest.mark.parametrize("name", [*_asked._CALLS, "BatchNorm1d", "Conv1d"])
def test_a_class_hears_of_the_function_of_a_module(name):
    m = MADE.get(name, getattr(nn, name))()
    x, *more = inputs(name)
    torch.manual_seed(2)
    want = m(x, *more)
    for cls in (Own, Plain):
        HEARD.clear()
        torch.manual_seed(2)
        y = m(x.as_subclass(cls), *more)
        assert type(y) is cls and torch.equal(y.as_subclass(torch.Tensor), want)
        if cls is Own:
            called = _asked._CALLS.get(name, "forward").split()[0]
            assert HEARD[0].__name__ == called
            assert called == "forward" or HEARD[0] is getattr(F, called)


def test_a_class_hears_of_functions_under_their_own_names():
    x = torch.rand(2, 4).as_subclass(Own)
    for f, options in (
        (F.relu, {}), (F.hardtanh, {}), (F.relu6, {}), (F.leaky_relu, {}), (F.dropout, {"p": 0.0}),
        (F.alpha_dropout, {}), (F.threshold, {"threshold": 0.1, "value": 0.0}), (F.mish, {}),
    ):  # fmt: skip
        HEARD.clear()
        assert f(x, inplace=True, **options) is x and HEARD == [f]
    assert type(F.relu(torch.rand(2).as_subclass(Plain))) is Plain
