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
