"""torch.legacy: modules whose backward is called by hand, beside derivatives from calls; optimizers
of one vector beside torch.optim."""

import copy
import math
import pickle

import pytest

import tensorh as torch
import tensorh.legacy.nn as nn
import tensorh.legacy.optim as optim
from tensorh import nn as new
from tensorh.nn import functional as F


def randn(*size):
    return torch.randn(*size, dtype=torch.float64)


LAYERS = {
    "Linear": ((4, 3), (5, 4)),
    "SpatialConvolution": ((2, 3, 3, 2, 2, 1, 1), (2, 2, 7, 6)),
    "SpatialMaxPooling": ((2, 3), (2, 2, 6, 6)),
    "SpatialAveragePooling": ((2, 2, 1, 1), (2, 2, 5, 6)),
    "BatchNormalization": ((4,), (5, 4)),
    "SpatialBatchNormalization": ((2, 1e-3, 0.2, False), (3, 2, 4, 4)),
    "PReLU": ((3,), (2, 3)), "Add": ((4,), (2, 4)), "Mul": ((), (2, 3)), "CMul": ((1, 3), (2, 3)),
    "CAdd": ((1, 3), (2, 3)), "Tanh": ((), (2, 3)), "Sigmoid": ((), (2, 3)), "ReLU": ((), (2, 3)),
    "ReLU6": ((), (2, 3)), "LeakyReLU": ((0.2,), (2, 3)), "ELU": ((0.5,), (2, 3)),
    "HardTanh": ((-0.5, 0.5), (2, 3)), "Clamp": ((-0.5, 0.5), (2, 3)),
    "Threshold": ((0.1, -1), (2, 3)), "SoftPlus": ((2,), (2, 3)), "SoftSign": ((), (2, 3)),
    "SoftShrink": ((0.3,), (2, 3)), "HardShrink": ((0.3,), (2, 3)), "TanhShrink": ((), (2, 3)),
    "LogSigmoid": ((), (2, 3)), "SoftMax": ((), (2, 3)), "LogSoftMax": ((), (3, 2, 2)),
    "SoftMin": ((), (2, 3)), "Identity": ((), (2, 3)), "Abs": ((), (2, 3)), "Exp": ((), (2, 3)),
    "Square": ((), (2, 3)), "Negative": ((), (2, 3)), "Power": ((3,), (2, 3)),
    "AddConstant": ((2,), (2, 3)), "MulConstant": ((2,), (2, 3)), "View": ((-1,), (2, 3)),
    "Reshape": ((3, 2), (2, 3)), "Transpose": (((0, 1), (1, 2)), (2, 3, 4)),
    "Select": ((1, 2), (2, 3)), "Narrow": ((1, 1, -1), (2, 3)), "Unsqueeze": ((1,), (2, 3)),
    "Squeeze": ((1,), (2, 1, 3)), "Mean": ((1,), (2, 3)), "Sum": ((0, True), (2, 3)),
    "Max": ((1,), (2, 3)), "Min": ((0,), (2, 3)), "Contiguous": ((), (2, 3)),
    "CAddTable": ((), [(2, 3)] * 3), "CSubTable": ((), [(2, 3)] * 2),
    "CMulTable": ((), [(2, 3)] * 3), "CDivTable": ((), [(2, 3)] * 2),
    "CMaxTable": ((), [(2, 3)] * 2), "CMinTable": ((), [(2, 3)] * 2),
    "JoinTable": ((0, 1), [(2, 3), (2, 1)]), "SplitTable": ((0, 1), (2, 3)),
    "SelectTable": ((-1,), [(2, 3)] * 2), "NarrowTable": ((1, 2), [(2,)] * 4),
    "FlattenTable": ((), [(2,), [(3,), [(1,)]]]), "DotProduct": ((), [(2, 3)] * 2),
}  # fmt: skip


def of_sizes(sizes):
    if isinstance(sizes, list):
        return [of_sizes(s) for s in sizes]
    return randn(*sizes)


def leaves(tree):
    return [t for x in tree for t in leaves(x)] if isinstance(tree, list) else [tree]


def numeric(f, t, i):
    """The derivative by an element, from two calls beside it."""
    flat, h = t.view(-1), 1e-6
    old = flat[i].item()
    flat[i] = old + h
    up = f()
    flat[i] = old - h
    down = f()
    flat[i] = old
    return (up - down) / (2 * h)


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    args, sizes = LAYERS[name]
    m = getattr(nn, name)(*args).double()
    x = of_sizes(sizes)
    out = m.forward(x)
    weights = [randn(*t.shape) for t in leaves(out)]
    g = weights if isinstance(out, list) else weights[0]
    m.zeroGradParameters()
    assert m.backward(x, g) is m.gradInput
    once = [t.clone() for t in (m.parameters() or ((), ()))[1]]
    m.accGradParameters(x, g, 0.5)  # adds

    def value():
        made = leaves(copy.deepcopy(m).forward(x))
        return sum((t * w).sum().item() for t, w in zip(made, weights, strict=True))

    for t, d in zip(leaves(x), leaves(m.gradInput), strict=True):
        assert t.shape == d.shape
        for i in range(0, t.numel(), max(1, t.numel() // 5)):
            assert d.reshape(-1)[i].item() == pytest.approx(numeric(value, t, i), abs=1e-6)
    if m.parameters():
        for p, d, total in zip(m.parameters()[0], once, m.parameters()[1], strict=True):
            torch.testing.assert_close(total, d * 1.5)
            for i in range(0, p.numel(), max(1, p.numel() // 5)):
                assert d.reshape(-1)[i].item() == pytest.approx(numeric(value, p, i), abs=1e-6)
    assert repr(m) == f"nn.{name}"
    again = pickle.loads(pickle.dumps(m.clearState()))
    assert type(again) is type(m) and leaves(again.forward(x))[0].shape == leaves(out)[0].shape


def test_layers_are_those_of_nn():
    m, x = nn.Linear(3, 2), torch.randn(4, 3)
    assert m.forward(x).tolist() == F.linear(x, m.weight, m.bias).tolist()
    assert not m.weight.requires_grad and m.gradWeight.tolist() == [[0] * 3] * 2
    m = nn.LookupTable(5, 2)
    i = torch.tensor([1, 1, 4])
    m.forward(i)
    m.backward(i, torch.ones(3, 2))
    assert m.gradWeight.sum(1).tolist() == [0, 4, 0, 0, 2]
    m = nn.BatchNormalization(3)
    m.forward(x)
    assert m.running_mean.tolist() == pytest.approx((x.mean(0) * 0.1).tolist())
    m.evaluate()
    before = m.running_mean.clone()
    m.forward(x)
    assert m.running_mean.equal(before) and m.train is False
    d = nn.Dropout(0.5)
    y = d.forward(torch.ones(100))
    assert d.backward(torch.ones(100), torch.ones(100)).shape == (100,)
    x = torch.ones(100)
    y = d.forward(x)
    assert d.updateGradInput(x, torch.ones(100)).equal(y)  # the same mask
    d.evaluate()
    assert d.forward(x).equal(x)
    with pytest.raises(AttributeError, match="no_such"):
        d.no_such  # noqa: B018
    with pytest.raises(NotImplementedError):
        nn.Module().forward(x)


class Double(nn.Module):
    """A module of one's own, as programs have them."""

    def updateOutput(self, input):
        self.output = input * 2
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.gradInput = gradOutput * 2
        return self.gradInput


def test_containers():
    net = nn.Sequential().add(nn.Linear(4, 6)).add(nn.Tanh()).add(Double())
    both = nn.ConcatTable().add(nn.Linear(6, 3)).add(nn.Sequential(nn.Linear(6, 3), nn.Sigmoid()))
    net.add(both).add(nn.ParallelTable(nn.Identity(), nn.MulConstant(3))).add(nn.CAddTable())
    net.add(nn.Concat(1, nn.Linear(3, 2), nn.Linear(3, 1)))
    net.double()
    x, g = randn(5, 4), randn(5, 3)
    out = net.forward(x)
    d = net.backward(x, g)
    params, grads = net.parameters()
    assert len(params) == 10 and net.size() == len(net) == 7 and net.get(0) is net.modules[0]
    for p, dp in [(x, d), *zip(params, grads, strict=True)]:
        for i in range(0, p.numel(), 3):
            by_hand = numeric(lambda: (net.forward(x) * g).sum().item(), p, i)
            assert dp.reshape(-1)[i].item() == pytest.approx(by_hand, abs=1e-6)
    assert repr(nn.Sequential(nn.Tanh())) == "nn.Sequential(nn.Tanh)"
    assert [type(m).__name__ for m in net.listModules()].count("Linear") == 5
    net.evaluate()
    assert not net.get(1).train
    again = pickle.loads(pickle.dumps(net.clearState()))
    torch.testing.assert_close(again.forward(x), out)
    assert net.type() is torch.float64 and net.float().type() is torch.float32


def test_a_backward_is_of_the_last_forward():
    x, g = torch.randn(40, 3), torch.ones(40, 3)
    d = nn.Dropout(0.5)
    y = d.forward(x)
    assert d.backward(x.clone(), g).equal((y != 0).float() * 2)  # the same mask
    b = nn.BatchNormalization(3)
    b.forward(x)
    before = b.running_mean.clone()
    b.backward(x.clone(), g)
    assert b.running_mean.equal(before)
    m = nn.Sequential(nn.Square(), nn.Linear(3, 1))
    m.zeroGradParameters()
    m.backward(x, g[:, :1])  # without a forward, then at another input
    assert m.get(1).gradWeight[0].tolist() == pytest.approx((x * x).sum(0).tolist(), rel=1e-5)
    assert nn.ConcatTable(nn.Square()).backward(x, [g]).equal(2 * x)
    s = nn.Square()
    s.forward(x)
    assert s.backward(x + 1, g).equal(2 * (x + 1))
    c = nn.MSECriterion()
    c.forward(x, g)
    torch.testing.assert_close(c.backward(x + 1, g), 2 * x / 120)


def test_a_module_twice_in_a_container():
    shared = nn.Linear(3, 3)
    net = nn.Sequential(shared, nn.Tanh(), shared, nn.ConcatTable(shared, shared), nn.CAddTable())
    net.double()
    x, g = randn(4, 3), randn(4, 3)
    net.forward(x)
    net.zeroGradParameters()
    d = net.backward(x, g)
    grads = [t.clone() for t in net.parameters()[1]]
    for p, dp in [(x, d), *zip(net.parameters()[0], grads, strict=True)]:
        for i in range(p.numel()):
            by_hand = numeric(lambda: (net.forward(x) * g).sum().item(), p, i)
            assert dp.reshape(-1)[i].item() == pytest.approx(by_hand, abs=1e-6)


class Three(nn.Linear):
    """Subclasses of what is made from a table."""

    def __init__(self, n):
        super().__init__(3, n)


class Twice(nn.MSECriterion):
    def _compute(self, input, target):
        return 2 * super()._compute(input, target)


def test_subclasses():
    m, x = Three(2), torch.randn(4, 3)
    assert m.forward(x).equal(F.linear(x, m.weight, m.bias)) and repr(m) == "nn.Three"
    assert m.backward(x, torch.ones(4, 2)).shape == (4, 3)
    assert pickle.loads(pickle.dumps(m)).forward(x).equal(m.output)
    c = Twice(sizeAverage=False)
    assert c.forward(x, x + 1) == pytest.approx(24, rel=1e-5)
    assert c.backward(x, x + 1).sum().item() == pytest.approx(-48, rel=1e-5)


def test_defaults_and_empty_containers():
    x = torch.arange(9.0).view(1, 1, 3, 3)
    assert nn.SpatialAveragePooling(2, 2).forward(x).flatten().tolist() == [2, 3, 5, 6]
    assert nn.SpatialMaxPooling(2, 2).forward(x).flatten().tolist() == [4]
    c = nn.L1Cost()
    assert c.forward(-x) == 36 and c.backward(1 - x).flatten().tolist()[:3] == [1, 0, -1]
    empty, g = nn.Sequential(), torch.ones(1)
    assert empty.forward(x) is x and empty.backward(x, g) is g is empty.gradInput


def test_modules_that_are_not_here():
    with pytest.raises(AttributeError, match="not written: a Module"):
        nn.VolumetricConvolution  # noqa: B018
    with pytest.raises(AttributeError, match="'Nonsense'$"):
        nn.Nonsense  # noqa: B018
    assert not set(nn._MISSING.split()) & set(nn.__all__)
    with pytest.raises(AttributeError, match="not written"):
        optim.lbfgs  # noqa: B018


def test_flat_parameters():
    shared = nn.Linear(3, 3)
    net = nn.Sequential(shared, nn.ReLU(), shared, nn.Linear(3, 1))
    x = torch.randn(4, 3)
    before = net.forward(x).clone()
    flat, grads = net.flattenParameters()
    assert flat.shape == grads.shape == (9 + 3 + 3 + 1,)
    assert net.forward(x).equal(before)
    flat.mul_(2)
    assert net.get(0).weight.data_ptr() == flat.data_ptr() and net.get(2).weight is shared.weight
    assert not net.forward(x).equal(before)
    net.zeroGradParameters()
    net.backward(x, torch.ones(4, 1))
    assert grads.abs().sum() > 0
    old = flat.clone()
    net.updateParameters(0.5)
    assert flat.tolist() == pytest.approx((old - grads * 0.5).tolist())
    assert nn.Tanh().flattenParameters()[0].numel() == 0


CRITERIONS = {
    "MSECriterion": ((), F.mse_loss, "like"), "AbsCriterion": ((), F.l1_loss, "like"),
    "SmoothL1Criterion": ((), F.smooth_l1_loss, "like"),
    "SoftMarginCriterion": ((), F.soft_margin_loss, "sign"),
    "HingeEmbeddingCriterion": ((2.0,), lambda x, t, **k: F.hinge_embedding_loss(x, t, 2.0, **k),
                                "sign"),
    "ClassNLLCriterion": ((), F.nll_loss, "class"),
    "CrossEntropyCriterion": ((), F.cross_entropy, "class"),
    "MultiMarginCriterion": ((2,), lambda x, t, **k: F.multi_margin_loss(x, t, 2, **k), "class"),
    "MultiLabelSoftMarginCriterion": ((), F.multilabel_soft_margin_loss, "bit"),
    "MarginCriterion": ((0.5,), lambda x, t, reduction: getattr(
        (0.5 - x * t).clamp_min(0), reduction)(), "sign"),
}  # fmt: skip


@pytest.mark.parametrize("name", CRITERIONS)
@pytest.mark.parametrize("mean", [True, False])
def test_criterions(name, mean):
    args, function, kind = CRITERIONS[name]
    x = randn(4, 3)
    t = {"like": lambda: randn(4, 3), "sign": lambda: randn(4, 3).sign(),
         "class": lambda: torch.tensor([0, 2, 1, 1]),
         "bit": lambda: (randn(4, 3) > 0).double()}[kind]()  # fmt: skip
    c = getattr(nn, name)(*args, sizeAverage=mean)
    y = x.clone().requires_grad_()
    expected = function(y, t, reduction="mean" if mean else "sum")
    expected.backward()
    assert c.forward(x, t) == c.output == expected.item() and type(c.output) is float
    assert c.backward(x, t).equal(y.grad) and c.gradInput.shape == (4, 3)
    assert c.updateGradInput(y.detach(), t).equal(y.grad)


def test_criterions_of_several():
    x, t, w = randn(4, 3), torch.tensor([0, 2, 1, 1]), torch.tensor([1.0, 2, 3]).double()
    assert nn.ClassNLLCriterion(w).forward(x, t) == F.nll_loss(x, t, w).item()
    assert nn.ClassNLLCriterion(weights=w, sizeAverage=False).forward(x, t) == pytest.approx(
        F.nll_loss(x, t, w, reduction="sum").item()
    )
    c = nn.MultiCriterion().add(nn.CrossEntropyCriterion()).add(nn.ClassNLLCriterion(), 0.5)
    assert c.forward(x, t) == pytest.approx((F.cross_entropy(x, t) + F.nll_loss(x, t) / 2).item())
    p = nn.ParallelCriterion().add(nn.MSECriterion()).add(nn.AbsCriterion(), 2)
    xs, ts = [randn(2), randn(3)], [randn(2), randn(3)]
    expected = F.mse_loss(xs[0], ts[0]) + 2 * F.l1_loss(xs[1], ts[1])
    assert p.forward(xs, ts) == pytest.approx(expected.item())
    grads = p.backward(xs, ts)
    assert [g.shape for g in grads] == [(2,), (3,)]
    assert grads[1].tolist() == pytest.approx(((xs[1] - ts[1]).sign() * 2 / 3).tolist())
    y = torch.tensor([1.0, -1]).double()
    assert nn.MarginRankingCriterion(0.1).forward([randn(2), randn(2)], y) >= 0
    assert nn.CosineEmbeddingCriterion(0.1).backward([randn(2, 3), randn(2, 3)], y)[0].ndim == 2
    assert nn.L1Cost().forward(torch.tensor([1.0, -2]), None) == 3
    with pytest.raises(TypeError):
        nn.L1Cost(1)


# --- optimizers -----------------------------------------------------------------------------------

START = [1.0, -2.0, 3.0, 0.5]


def losses(x):
    return ((x - 1) ** 2 * torch.tensor([1.0, 2, 3, 4], dtype=torch.float64)).sum()


def opfunc(x):
    y = x.clone().requires_grad_()
    f = losses(y)
    f.backward()
    return f.item(), y.grad


@pytest.mark.parametrize(
    "name, config, twin",
    [
        ("sgd", {}, lambda p: torch.optim.SGD(p, 1e-3)),
        ("sgd", {"learningRate": 0.1, "momentum": 0.9, "dampening": 0, "weightDecay": 0.1},
         lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.1)),
        ("sgd", {"learningRate": 0.02, "momentum": 0.9, "dampening": 0, "nesterov": True},
         lambda p: torch.optim.SGD(p, 0.02, 0.9, nesterov=True)),
        ("sgd", {"learningRate": 0.02, "momentum": 0.9},
         lambda p: torch.optim.SGD(p, 0.02, 0.9, dampening=0.9)),
        ("adam", {"epsilon": 1e-30}, lambda p: torch.optim.Adam(p, 1e-3, eps=1e-30)),
        ("adagrad", {"learningRate": 0.1}, lambda p: torch.optim.Adagrad(p, 0.1)),
        ("adadelta", {}, lambda p: torch.optim.Adadelta(p, 1.0)),
        ("rmsprop", {}, lambda p: torch.optim.RMSprop(p, 0.01)),
    ],
)  # fmt: skip
def test_optimizers(name, config, twin):
    x = torch.tensor(START, dtype=torch.float64)
    y = new.Parameter(x.clone())
    step, state, given = twin([y]), {}, dict(config)
    for _ in range(5):
        expected = losses(y)
        step.zero_grad()
        expected.backward()
        step.step()
        got = getattr(optim, name)(opfunc, x, given, state)
        assert got[0] is x and got[1] == pytest.approx(expected.item())
        assert x.tolist() == pytest.approx(y.tolist(), rel=1e-9)
    assert given == config and state
    if name != "adam":
        z = torch.tensor(START, dtype=torch.float64)
        for _ in range(5):
            getattr(optim, name)(opfunc, z, given)  # what is kept lies in config
        assert z.equal(x) and "evalCounter" in given


def test_options_of_optimizers():
    x = torch.tensor(START, dtype=torch.float64)
    with pytest.raises(ValueError, match="sgd requires a dictionary"):
        optim.sgd(opfunc, x, None)
    with pytest.raises(ValueError, match="Nesterov"):
        optim.sgd(opfunc, x, {"nesterov": True})
    state, rates = {}, torch.tensor([1.0, 0, 0, 0], dtype=torch.float64)
    optim.sgd(opfunc, x, {"learningRate": 0.1, "learningRates": rates}, state)
    assert x.tolist()[1:] == START[1:]
    slow, fast = (torch.tensor(START, dtype=torch.float64) for _ in range(2))
    for _ in range(3):
        optim.sgd(opfunc, slow, (one := {"learningRateDecay": 1.0}), {})
        optim.sgd(opfunc, fast, {}, {})
    assert slow.equal(fast) and "evalCounter" not in one  # each call is the first
    for name in ("nag", "adam", "rmsprop", "adagrad", "adadelta"):
        x, kept = torch.tensor(START, dtype=torch.float64), {}
        first = losses(x).item()
        for _ in range(200):
            getattr(optim, name)(opfunc, x, {}, kept)
        assert losses(x).item() < first


def test_a_training():
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2), nn.LogSoftMax())
    criterion, x = nn.ClassNLLCriterion(), torch.randn(200, 2)
    t = (x[:, 0] * x[:, 1] > 0).long()
    params, grads = net.flattenParameters()

    def feval(_):
        net.zeroGradParameters()
        loss = criterion.forward(net.forward(x), t)
        net.backward(x, criterion.backward(net.output, t))
        return loss, grads

    state = {"learningRate": 0.02}
    first = feval(params)[0]
    for _ in range(150):
        _, loss = optim.adam(feval, params, state)
    assert loss < 0.25 < first and math.isfinite(loss)
