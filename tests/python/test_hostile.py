"""Objects that change or delete the tensors of a call while it reads its arguments, and memory that
outlives the tensor it was taken from."""

import gc

import numpy as np
import pytest

import tensorh as th


class Turns:
    """A number that gives the tensor another shape when asked for its value."""

    def __init__(self, x, value=0):
        self.x, self.value = x, value

    def __index__(self):
        self.x.unsqueeze_(0)
        th.ones(3, 4), th.ones(3, 4)  # where the former tensor was, if it has gone
        return self.value

    __float__ = __index__


def test_a_tensor_that_turns_during_a_call_is_what_it_was_for_the_call():
    x = th.ones(3, 4)
    assert th.sum(x, Turns(x)).tolist() == [3.0] * 4
    assert x.shape == (1, 3, 4)
    y = th.arange(12.0).view(3, 4)
    assert y[1, Turns(y, 2)].item() == 6.0
    y = th.arange(4.0)
    y[1] = Turns(y, 7)
    assert y.tolist() == [[0.0, 7.0, 2.0, 3.0]]


def test_a_result_that_has_lost_its_name_has_a_count_of_its_own():
    x = th.zeros(3, 4)
    y = x.add_(Turns(x, 1))  # the former tensor, which the view of it holds, too
    assert x.shape == (1, 3, 4) and y.shape == (3, 4)
    x += 1
    assert y[0, 0].item() == 2.0
    del y
    th.full((3, 4), 5.0)
    assert x.tolist() == [[[2.0] * 4] * 3]


def test_nobody_answers_for_a_function_without_a_name():
    class Silent:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(AttributeError, match="__name__"):
        th.overrides.handle_torch_function(3, (Silent(),), Silent())
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch.add'"):
        th.add(Silent(), 1)


def test_a_collection_that_turns_the_tensor_while_it_is_told():
    def collected(phase, info):
        if phase == "start" and len(others) < 200:
            turn()
            others.append([th.full((2, 5000), -1.0) for _ in range(4)])

    others, turn = [], list
    x = th.ones(5000, 2)
    thresholds = gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(1)
    try:
        turn = lambda: setattr(x, "data", th.zeros(1))  # noqa: E731
        assert x.tolist() == [[1.0, 1.0]] * 5000
        for _ in range(100):
            x = th.ones(2, 3)
            turn = lambda: x.unsqueeze_(0)  # noqa: B023, E731
            assert x.shape[-2:] == (2, 3) and x.stride()[-2:] == (3, 1)
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(collected)


def test_a_size_that_raises_when_asked_again_is_asked_once():
    class Once:
        asked = 0

        def __index__(self):
            self.asked += 1
            if self.asked > 1:
                raise ValueError
            return 2

    assert th.zeros(4).view(Once(), 2).shape == (2, 2)
    assert th.zeros(Once(), 3).shape == (2, 3)


def test_what_turns_inside_a_function_was_recorded_as_it_was():
    class Turning(th.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.unsqueeze_(0)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g[0] * 2

    w = th.ones(3, requires_grad=True)
    y = Turning.apply(w * 1)
    y.sum().backward()
    assert w.grad.tolist() == [2.0] * 3


def test_become_leaves_a_view_that_somebody_has_as_it_is():
    x, y = th.ones(2), th.zeros(3, 4)
    x._become(y)
    assert x.shape == (3, 4) and y.shape == (3, 4)
    x[0, 0] = 5
    assert y[0, 0] == 5
    x._become(th.ones(1))
    assert x.shape == (1,) and y.shape == (3, 4)


def test_memory_that_was_given_away_outlives_other_data():
    x = th.arange(1000.0)
    given = [np.asarray(x), memoryview(x), np.from_dlpack(x)]
    given += [th._C._raw(x), th._C._storage_bytes(x)]
    x.data = th.zeros(2)
    gc.collect()
    others = [th.full((1000,), -1.0) for _ in range(20)]
    assert given[0].sum() == given[2].sum() == sum(range(1000))
    assert given[1][999] == 999.0
    assert [np.asarray(raw).view("f4")[999] for raw in given[3:]] == [999.0] * 2
    del others


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_many_masks_without_a_dimension_are_refused(device):
    mask = th.zeros((), dtype=th.uint8, device=device)
    for n in (16, 17, 32):
        with pytest.raises((IndexError, RuntimeError)):
            th.zeros(1, 1, device=device)[(mask,) * n]


def test_a_list_that_empties_itself_while_classes_are_asked():
    class Asked:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            held.clear()
            return NotImplemented

    held = [Asked(), Asked()]
    with pytest.raises(TypeError):
        th.cat(held)


def test_a_list_of_rows_that_empties_itself():
    class Empties:
        def __index__(self):
            rows.clear()
            raise ValueError

        def __repr__(self):
            return "Empties" * 100

    rows = [Empties()]
    with pytest.raises(TypeError, match="expected an index, got Empties"):
        th._C._gather((th.zeros(4),), rows)


def test_fields_of_results_that_a_program_has_set():
    r = th.ones(2, 2).max(0)
    fields = type(r).__match_args__
    try:
        type(r).__match_args__ = (5, 6)
        assert "5=tensor" in repr(r)
        for bad in (5, ()):
            type(r).__match_args__ = bad
            with pytest.raises((TypeError, IndexError)):
                repr(r)
    finally:
        type(r).__match_args__ = fields


def test_a_result_that_holds_itself_is_a_recursion_error():
    around = []
    around.append(around)
    with pytest.raises(RecursionError):
        th.Tensor.__torch_function__(lambda: around, ())


def test_a_gradient_is_not_its_own_tensor():
    x = th.ones(2)
    with pytest.raises(RuntimeError, match="its own grad"):
        x.grad = x


def test_a_truth_that_raises_comes_out():
    m = th.nn.Linear(2, 2)
    m.training = th.ones(2)
    with pytest.raises(RuntimeError, match="ambiguous"):
        m(th.ones(2))
    m.weight.grad = th.ones(2, 2)
    with pytest.raises(ValueError, match="ambiguous"):
        th.optim.SGD([m.weight], lr=0.1).zero_grad(np.ones(2))


def test_an_offset_below_all_is_refused():
    with pytest.raises(ValueError):
        th.frombuffer(bytearray(8), dtype=th.uint8, offset=-(2**63))


def test_saved_tensors_with_places_of_none():
    class Saving(th.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(None, x, None)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            none, x, other = ctx.saved_tensors
            assert none is None and other is None
            return g * 2 * x

    w = th.full((2,), 3.0, requires_grad=True)
    Saving.apply(w).sum().backward()
    assert w.grad.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("kwargs", [5, [1], "a"])
def test_keywords_that_are_no_dictionary_are_refused(kwargs):
    x = th.ones(2)
    with pytest.raises(TypeError, match="kwargs must be a dict"):
        th.Tensor.__torch_function__(th.add, (), (x, x), kwargs)


def test_an_option_that_changes_another_one_when_it_goes():
    class Changes:
        def __del__(self):
            linear.out_features = 7

    linear = th.nn.Linear(3, 4)
    linear.__dict__["in_features"] = Changes()
    linear.__init__(3, 4)
    assert linear.weight.shape == (4, 3)
    assert linear(th.ones(2, 3)).shape == (2, 4)
