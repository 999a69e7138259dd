"""torch.save and torch.load of objects of any class: whole modules, and what a file may name."""

import io
import pickle
from collections import Counter, defaultdict, namedtuple

import numpy as np
import pytest

import tensorh as torch

Point = namedtuple("Point", "x y")


class Kept(dict):
    """A class of the program."""


def through(o, **options):
    f = io.BytesIO()
    torch.save(o, f)
    f.seek(0)
    return torch.load(f, **options)


def whole(o):
    return through(o, weights_only=False)


def test_objects_of_any_class_are_read_where_the_file_is_trusted():
    x = torch.arange(6.0).reshape(2, 3)
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LSTM(2, 2), torch.nn.BatchNorm1d(2))
    net.same, net.view = net[0].weight, x
    again, tied = whole([net, x.t()])
    assert repr(again) == repr(net) and again.same is again[0].weight
    assert all(a.equal(b) for a, b in zip(again.parameters(), net.parameters(), strict=True))
    assert tied.data_ptr() == again.view.data_ptr()  # memory is shared as it was
    optimizer = whole(torch.optim.SGD(net.parameters(), lr=0.5))
    assert optimizer.param_groups[0]["lr"] == 0.5
    o = [Point(1, x), Kept(a=x), defaultdict(list), range(3), torch.add, torch.nn.Linear, print]
    assert [type(a) for a in whole(o)] == [type(a) for a in o]
    assert whole(o)[0].y.equal(x) and whole(o)[1]["a"].equal(x) and whole(o)[4:] == o[4:]
    for o in (lambda: 1, torch):
        with pytest.raises((pickle.PicklingError, TypeError), match="pickle"):
            whole({"x": [o]})


def test_a_file_read_as_data_has_no_other_classes():
    for o in (torch.nn.Linear(2, 2), Kept(a=1), Point(1, 2), torch.optim.SGD([torch.ones(1)])):
        with pytest.raises(pickle.UnpicklingError, match="not an allowed global"):
            through({"x": [o]})
    with torch.serialization.safe_globals([Kept]):
        r = through([Kept(a=torch.ones(1))])
        assert type(r[0]) is Kept and r[0]["a"].equal(torch.ones(1))
        with pytest.raises(pickle.UnpicklingError, match="Point"):
            through(Point(1, 2))
    with torch.serialization.safe_globals([(Point, f"{__name__}.Point")]):
        assert through(Point(1, 2)) == (1, 2)
    assert torch.serialization.get_safe_globals() == []
    assert through(np.float64(1.5)) == 1.5
    o = torch.optim.SGD([torch.ones(1)])
    assert through(o.state_dict())["param_groups"][0]["params"] == [0]
    assert through(Counter("aab")) == Counter("aab")


class Parameter(torch.Tensor):
    """A class of the program that has the name of torch's."""


class WithFunction:
    """An object whose state a function of its own sets."""

    def __reduce_ex__(self, protocol):
        return WithFunction, (), {"x": 1}, None, None, setattr


def test_tensors_with_attributes_and_classes():
    x, p = torch.ones(2), torch.nn.Parameter(torch.ones(3))
    x.note, p.note = {"a": 1}, "p"
    sizes = [torch.Size([2, 3]), torch.device("cpu"), torch.float32, torch.ones(2).to(torch.uint16)]
    net = torch.nn.Linear(2, 2)
    net.held, net.weight.tag = x, "w"
    net.kinds = (torch.Size, torch.device, torch.nn.Parameter, torch.Tensor)
    for trusted in (True, False):
        r = through([x, x, p, *sizes], weights_only=not trusted)
        assert r[0] is r[1] and r[0].note == {"a": 1} and type(r[0]) is torch.Tensor
        assert r[2].note == "p" and type(r[2]) is torch.nn.Parameter and r[2].requires_grad
        assert r[3:6] == sizes[:3] and r[6].equal(sizes[3])
    again = whole(net)
    assert again.held.note == {"a": 1} and again.weight.tag == "w" and again.kinds == net.kinds
    own = torch.ones(2).as_subclass(Parameter)
    own.note = 1
    assert type(whole(own)) is Parameter and whole(own).note == 1
    with pytest.raises(pickle.UnpicklingError, match="not an allowed global"):
        through(own)
    with pytest.raises(pickle.PicklingError, match="WithFunction: its own function"):
        through(WithFunction())


def test_tensors_with_attributes_of_torch():
    real = pytest.importorskip("torch")
    x, p = real.ones(2), real.nn.Parameter(real.ones(3))
    x.note, p.note = {"a": 1}, "p"
    net = real.nn.Linear(2, 2)
    net.held, net.kinds = x, (real.Size, real.device, real.nn.Parameter, real.Tensor)
    f = io.BytesIO()
    real.save([x, x, p, net], f)
    f.seek(0)
    r = torch.load(f, weights_only=False)
    assert r[0] is r[1] is r[3].held and r[0].note == {"a": 1} and r[2].note == "p"
    assert type(r[2]) is torch.nn.Parameter and type(r[3]) is torch.nn.Linear
    assert r[3].kinds == (torch.Size, torch.device, torch.nn.Parameter, torch.Tensor)
