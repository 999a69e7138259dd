"""Gradients from Python: backward, grad, leaves, modes, hooks, grad_fn, places of errors."""

import gc
import math
import signal
import threading
import time
import traceback
import warnings
import weakref

import numpy as np
import pytest

import tensorh as torch
from tensorh.autograd import Function


def leaf(*values, dtype=torch.float64):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


def numbers(t):
    return t.tolist()


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


# --- backward and grad ---------------------------------------------------------------------------


def test_backward_adds_to_grad_of_leaves():
    x = leaf(1, 2)
    (x * x).sum().backward()
    (x * x).sum().backward()
    assert numbers(x.grad) == [4, 8]
    assert x.grad is x.grad
    del x.grad
    assert x.grad is None
    x.grad = torch.ones(2, dtype=torch.float64)
    x.grad = None
    assert x.grad is None


def test_backward_takes_a_gradient_by_position_and_name():
    x = leaf(1, 2)
    (x * x).backward(torch.tensor([1.0, 10.0], dtype=torch.float64))
    assert numbers(x.grad) == [2, 40]
    (x * x).backward(gradient=torch.tensor([1.0, 1.0], dtype=torch.float64))
    assert numbers(x.grad) == [4, 44]


def test_backward_of_inputs_leaves_others_alone():
    x, y = leaf(1, 2), leaf(3, 4)
    (x * y).sum().backward(inputs=[x])
    assert numbers(x.grad) == [3, 4] and y.grad is None
    (x * y).sum().backward(inputs=y)
    assert numbers(x.grad) == [3, 4] and numbers(y.grad) == [1, 2]


def test_backward_of_inputs_that_are_no_leaves():
    x = leaf(1, 2)
    y = x * 3
    (y * y).sum().backward(inputs=[y])
    assert x.grad is None
    assert numbers(y.grad) == [6, 12]
    (y * y).sum().backward(inputs=[y])
    assert numbers(y.grad) == [12, 24]


def test_second_backward_needs_retain_graph_where_something_was_saved():
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert numbers(x.grad) == [4, 8]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    z = (x + 1).sum()
    z.backward()
    z.backward()
    assert numbers(x.grad) == [6, 10]


def test_create_graph_keeps_the_graph():
    x = leaf(2)
    y = (x**3).sum()
    y.backward(create_graph=True)
    first = x.grad
    assert first.requires_grad
    x.grad = None
    first.sum().backward()
    assert numbers(x.grad) == [12]
    y.backward()


@pytest.mark.parametrize("build, error", [
    (lambda x: (x * 2).backward(), RuntimeError),
    (lambda x: x.detach().sum().backward(), RuntimeError),
    (lambda x: x.sum().backward(3), TypeError),
    (lambda x: x.sum().backward(nonsense=1), TypeError),
    (lambda x: x.sum().backward(None, None, False, None, 1), TypeError),
    (lambda x: x.sum().backward(None, gradient=None), TypeError),
    (lambda x: x.sum().backward(torch.ones(3)), RuntimeError),
    (lambda x: x.sum().backward(inputs=[]), RuntimeError),
    (lambda x: x.sum().backward(inputs=[3]), TypeError),
    (lambda x: x.sum().backward(inputs=3), TypeError),
    (lambda x: torch.autograd.grad(x.sum()), TypeError),
    (lambda x: torch.autograd.grad(x.sum(), []), RuntimeError),
    (lambda x: torch.autograd.grad(x.sum(), [x, 3]), TypeError),
    (lambda x: torch.autograd.grad(x.sum(), leaf(1)), RuntimeError),
    (lambda x: torch.autograd.grad(x.sum(), x.detach()), RuntimeError),
    (lambda x: torch.autograd.grad([x.sum()], x, [None, None]), RuntimeError),
    (lambda x: torch.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True),
     ValueError),
    (lambda x: torch.autograd.grad(x.sum(), x, is_grads_batched=True), RuntimeError),
    (lambda x: torch.autograd.backward([x * 2], [torch.ones(2), None]), RuntimeError),
    (lambda x: torch.autograd.backward(), TypeError),
])
def test_wrong_calls_raise_and_change_nothing(build, error):
    x = leaf(1, 2)
    with pytest.raises(error):
        build(x)
    assert x.grad is None


def test_autograd_backward_of_several_tensors():
    x = leaf(1, 2)
    shared = x * x
    torch.autograd.backward([shared.sum(), shared * 2], [None, torch.ones(2, dtype=x.dtype)])
    assert numbers(x.grad) == [6, 12]
    torch.autograd.backward((x * 3).sum(), inputs=x)
    assert numbers(x.grad) == [9, 15]


def test_grad_returns_a_tuple_and_leaves_grad_alone():
    x, y = leaf(1, 2), leaf(3, 4)
    got = torch.autograd.grad((x * y).sum(), [x, y])
    assert isinstance(got, tuple) and [numbers(g) for g in got] == [[3, 4], [1, 2]]
    assert x.grad is None and y.grad is None
    (one,) = torch.autograd.grad(x * y, x, torch.ones(2, dtype=x.dtype))
    assert numbers(one) == [3, 4] and not one.requires_grad
    many = [leaf(i) for i in range(20)]
    got = torch.autograd.grad(sum((m * m).sum() for m in many), many)
    assert [g.item() for g in got] == [2 * i for i in range(20)]


def test_grad_of_unused_inputs():
    x, y = leaf(1, 2), leaf(3, 4)
    assert torch.autograd.grad(x.sum(), [x, y], allow_unused=True)[1] is None
    got = torch.autograd.grad(x.sum(), [x, y], materialize_grads=True)
    assert numbers(got[1]) == [0, 0]


def test_second_derivatives():
    x = leaf(0.3, 0.7)
    (first,) = torch.autograd.grad(torch.sin(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert np.allclose(numbers(second), [-math.sin(0.3), -math.sin(0.7)], rtol=1e-14)


# --- leaves --------------------------------------------------------------------------------------


def test_leaf_rules():
    x = leaf(1, 2)
    y = x * 2
    assert x.is_leaf and not y.is_leaf and y.requires_grad
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="leaf|leaves"):
        y.requires_grad = False
    assert y.requires_grad_() is y
    with pytest.raises(RuntimeError):
        torch.tensor([1]).requires_grad_()
    with pytest.raises(TypeError):
        x.requires_grad_(3)
    with pytest.raises(TypeError):
        x.requires_grad_(value=True)
    assert not x.requires_grad_(requires_grad=False).requires_grad
    with pytest.raises(RuntimeError, match="does not require|doesn't require"):
        x.sum().backward()


def test_a_saved_tensor_that_is_written_is_noticed():
    x = leaf(1, 2)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified in place"):
        y.sum().backward()


def test_detach_in_place():
    x = leaf(1, 2)
    y = x * 2
    assert y.detach_() is y and y.is_leaf and not y.requires_grad and y.grad_fn is None
    with pytest.raises(RuntimeError, match="views"):
        (x * 2)[1:].detach_()


def test_data_shares_memory_without_history():
    x = leaf(1, 2)
    x.data.add_(1)
    x.data[0] = 7
    assert numbers(x) == [7, 3] and x.requires_grad and not x.data.requires_grad
    x.data = torch.zeros(2, 3)
    assert tuple(x.shape) == (2, 3) and x.dtype == torch.float32 and x.requires_grad and x.is_leaf
    (x * 2).sum().backward()
    assert numbers(x.grad) == [[2, 2, 2]] * 2
    with pytest.raises(TypeError):
        x.data = 3
    with pytest.raises(RuntimeError):
        x.data = torch.zeros(2, dtype=torch.int64)


def test_base_and_output_number():
    x = torch.zeros(3, 2)
    assert x._base is None and x[1:]._base is x
    values, _ = leaf(1, 2).max(0)
    assert values.output_nr == 0
    assert [t.output_nr for t in leaf(1, 2).unbind(0)] == [0, 1]


# --- modes ---------------------------------------------------------------------------------------


def test_no_grad_and_enable_grad_nest():
    x = leaf(1)
    with torch.no_grad():
        assert not torch.is_grad_enabled() and not (x * 2).requires_grad
        with torch.enable_grad():
            assert torch.is_grad_enabled() and (x * 2).requires_grad
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    mode = torch.no_grad()
    with mode, torch.enable_grad(), mode:
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_one_mode_object_keeps_what_was_before_each_use():
    mode = torch.enable_grad()
    with torch.no_grad():
        with mode:
            with mode:
                pass
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()


def test_a_mode_ends_with_an_exception():
    with pytest.raises(KeyError), torch.no_grad():
        raise KeyError
    assert torch.is_grad_enabled()


def test_set_grad_enabled_acts_at_once():
    before = torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    with before:
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    with torch.set_grad_enabled(mode=False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def inside():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled() and not inside() and torch.is_grad_enabled()
    for wrong in ((), (3,), (True, False)):
        with pytest.raises(TypeError):
            torch.set_grad_enabled(*wrong)


@pytest.mark.parametrize("decorator", [torch.no_grad(), torch.no_grad, torch.inference_mode(),
                                       torch.inference_mode, torch.autograd.no_grad()])
def test_modes_decorate_functions(decorator):
    @decorator
    def inside(depth):
        """doc"""
        return torch.is_grad_enabled() if depth == 0 else inside(depth - 1)

    assert inside(0) is False and inside(depth=3) is False and torch.is_grad_enabled()
    assert inside.__name__ == "inside" and inside.__doc__ == "doc"


def test_modes_decorate_generators():
    seen = []

    @torch.no_grad()
    def steps(n):
        try:
            for i in range(n):
                assert not torch.is_grad_enabled()
                try:
                    got = yield i
                except KeyError:
                    got = "caught"
                seen.append((got, torch.is_grad_enabled()))
        finally:
            seen.append(("closed", torch.is_grad_enabled()))
        return "end"

    g = steps(3)
    assert next(g) == 0 and torch.is_grad_enabled()
    assert g.send("a") == 1 and torch.is_grad_enabled()
    assert g.throw(KeyError()) == 2 and torch.is_grad_enabled()
    with pytest.raises(StopIteration) as end:
        next(g)
    assert end.value.value == "end"
    assert seen == [("a", False), ("caught", False), (None, False), ("closed", False)]
    g = steps(3)
    next(g)
    g.close()
    assert seen[-1] == ("closed", False) and torch.is_grad_enabled()


def test_inference_mode():
    x = leaf(1)
    with torch.inference_mode():
        y = x * 2
        assert torch.is_inference_mode_enabled() and y.is_inference() and not y.requires_grad
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    assert not x.is_inference()
    for use in (lambda: y.requires_grad_(), lambda: y.add_(1), lambda: x * y):
        with pytest.raises(RuntimeError, match="inference"):
            use()
    with torch.inference_mode(mode=False):
        assert (x * 2).requires_grad
    with torch.no_grad(), torch.inference_mode(False):
        assert torch.is_grad_enabled()


def test_modes_belong_to_their_thread():
    seen = []
    with torch.no_grad():
        t = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        t.start()
        t.join()
    assert seen == [True]


# --- hooks ---------------------------------------------------------------------------------------


def test_a_hook_sees_and_replaces_the_gradient():
    x = leaf(1, 2)
    y = x * 3
    seen = []
    y.register_hook(lambda g: seen.append(numbers(g)))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(numbers(g)))
    x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert seen == [[1, 1], [10, 10]] and numbers(x.grad) == [31, 31]


def test_a_handle_removes_its_hook():
    x = leaf(1)
    seen = []
    first = x.register_hook(lambda g: seen.append(1))
    with x.register_hook(lambda g: seen.append(2)) as second:
        (x * 1).sum().backward()
    assert first.id != second.id
    (x * 1).sum().backward()
    first.remove()
    first.remove()
    (x * 1).sum().backward()
    assert seen == [1, 2, 1]


def test_a_hook_outlives_the_tensors_wrapper():
    x = leaf(1)
    y = x * 2
    seen = []
    handle = y.register_hook(lambda g: seen.append(1))
    z = y.sum()
    del y
    gc.collect()
    z.backward(retain_graph=True)
    handle.remove()
    z.backward()
    assert seen == [1]


def test_exceptions_of_hooks_come_out_unchanged():
    class Mine(Exception):
        pass

    def hook(grad):
        raise error

    error = Mine("x")
    x = leaf(1)
    y = x * 2
    y.register_hook(hook)
    with pytest.raises(Mine) as caught:
        y.sum().backward()
    assert caught.value is error and x.grad is None
    assert traceback.extract_tb(caught.tb)[-1].name == "hook"
    x = leaf(1)
    x.register_hook(lambda g: 3)
    with pytest.raises(TypeError, match="int"):
        x.sum().backward()
    x = leaf(1)
    x.register_hook(lambda g: torch.ones(7))
    with pytest.raises(RuntimeError, match="shape"):
        x.sum().backward()


def test_hooks_may_free_remove_and_run_backward():
    x = leaf(2)
    other = leaf(3)
    kept = [x * 2]
    handles = []

    def hook(grad):
        kept.clear()
        handles[0].remove()
        with torch.enable_grad():
            (other * other).sum().backward()
        gc.collect()
        return grad * 5

    handles.append(kept[0].register_hook(hook))
    z = kept[0].sum()
    z.backward(retain_graph=True)
    z.backward()
    assert numbers(x.grad) == [12] and numbers(other.grad) == [6]


def test_register_hook_refuses():
    with pytest.raises(RuntimeError, match="require"):
        torch.ones(2).register_hook(print)
    with pytest.raises(TypeError):
        leaf(1).register_hook(3)
    with pytest.raises(RuntimeError, match="leaf"):
        (leaf(1) * 2).register_post_accumulate_grad_hook(print)


def test_post_accumulate_hooks_see_grad():
    x, y = leaf(1, 2), leaf(3, 4)
    seen = []

    def step(t):
        seen.append(numbers(t.grad))
        assert t is x
        with torch.no_grad():
            t -= t.grad
        t.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * y).sum().backward()
    assert seen == [[3, 4]] and x.grad is None and numbers(x) == [-2, -2]
    handle.remove()
    (x * y).sum().backward()
    assert len(seen) == 1 and numbers(x.grad) == [3, 4]
    x.register_post_accumulate_grad_hook(lambda t: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * y).sum().backward()
    assert numbers(x.grad) == [6, 8]


@pytest.mark.parametrize("own", [False, True])
def test_a_hook_that_holds_its_tensor_is_collected(own):
    gc.collect()
    x = leaf(1)
    y = x * 2 if own else x

    def hook(grad, y=y):
        return None

    y.register_hook(hook)
    gone = weakref.ref(hook)
    del hook
    assert gone() is not None
    del x, y
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("own", [False, True])
def test_a_hook_that_holds_its_tensor_stays_while_a_graph_leads_to_it(own):
    seen = []

    def build():
        x = leaf(1)
        y = x * 2 if own else x

        def hook(grad):
            seen.append(numbers(y))

        y.register_hook(hook)
        return y.sum()

    z = build()
    gc.collect()
    gc.collect()
    z.backward()
    assert len(seen) == 1


def test_retain_grad():
    x = leaf(1, 2)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    assert numbers(y.grad) == [4, 8] and numbers(x.grad) == [8, 16]


# --- grad_fn -------------------------------------------------------------------------------------


def test_grad_fn():
    x = leaf(1, 2)
    y = x * 2
    assert x.grad_fn is None and y.grad_fn is y.grad_fn
    assert y.grad_fn.name() == "MulBackward0"
    assert repr(y.grad_fn).startswith("<MulBackward0 object at 0x")
    (first, number), *_ = y.grad_fn.next_functions
    assert first.name() == "torch::autograd::AccumulateGrad" and first.variable is x
    assert number == 0
    z = Square.apply(y).sum()
    kinds = []
    at = z.grad_fn
    while at is not None:
        kinds.append(at.name())
        at = at.next_functions[0][0] if at.next_functions else None
    assert kinds == ["SumBackward0", "SquareBackward", "MulBackward0",
                     "torch::autograd::AccumulateGrad"]
    with pytest.raises(AttributeError):
        _ = y.grad_fn.variable
    v = x.clone()
    part = v[:1]
    v.mul_(3)
    assert part.grad_fn.name() == "AsStridedBackward0"


# --- where an error comes from -------------------------------------------------------------------


def place(error):
    return [line for line in str(error).split("\n") if "forward call: " in line]


def test_an_error_in_backward_names_the_line_of_the_forward_call():
    space = {}
    exec(compile("def f(x):\n    pass\n    return (x *\n            x)\n", "made.py", "exec"),
         space)
    x = leaf(1, 2)
    y = space["f"](x)
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert place(caught.value)[0].endswith("mul at made.py:3")
    assert traceback.extract_tb(caught.tb)[-1].filename == __file__
    x = leaf(1, 2)
    here = lambda t: t.exp()  # noqa: E731
    y = here(x)
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    line = here.__code__.co_firstlineno
    assert place(caught.value)[0].endswith(f"exp at {__file__}:{line}")


def test_anomaly_mode_names_operator_and_line():
    assert not torch.is_anomaly_enabled()
    with torch.autograd.detect_anomaly():
        assert torch.is_anomaly_enabled()
        x = leaf(-1)
        y = torch.sqrt(x)
        with pytest.raises(RuntimeError, match="sqrt") as caught:
            y.sum().backward()
    assert not torch.is_anomaly_enabled()
    assert f"{__file__}:" in place(caught.value)[0]
    with torch.autograd.set_detect_anomaly(True):
        assert torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(False)
    with torch.autograd.detect_anomaly(check_nan=False):
        torch.sqrt(leaf(-1)).sum().backward()


# --- threads and signals -------------------------------------------------------------------------


def test_long_backwards_let_other_threads_run_and_hooks_hold_the_lock():
    x = torch.ones(300, 300, requires_grad=True)
    counts, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1

    y = x
    for _ in range(10):
        y = y @ (x * 0.01)
    seen = []
    y.register_hook(lambda g: seen.append(threading.get_ident()))
    t = threading.Thread(target=count)
    t.start()
    y.sum().backward()
    stop.set()
    t.join()
    assert seen == [threading.get_ident()] and counts[0] > 0


def test_a_signal_that_does_not_interrupt_leaves_backward_alone():
    x = torch.ones(400, 400, requires_grad=True)
    y = x
    for _ in range(20):
        y = y @ (x * 0.001)
    seen = []
    before = signal.signal(signal.SIGINT, lambda *a: seen.append(1))
    try:
        timer = threading.Timer(0.01, signal.raise_signal, [signal.SIGINT])
        timer.start()
        y.sum().backward()
        timer.join()
        time.sleep(0)
    finally:
        signal.signal(signal.SIGINT, before)
    assert x.grad is not None and seen == [1]


def test_backward_in_threads():
    def work(k):
        w = leaf(k)
        for _ in range(50):
            Square.apply(w).sum().backward()
        results[k] = w.grad.item()

    results = {}
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: 100.0 * k for k in range(4)}


def test_hooks_of_a_leaf_run_once_where_its_gradient_is_asked_for():
    w, seen = torch.ones(2, requires_grad=True), []
    w.register_hook(lambda g: seen.append(g.tolist()))
    w.register_hook(lambda g: g * 2)
    first, second = torch.autograd.grad((w * 3).sum(), (w, w))
    assert first.tolist() == second.tolist() == [6.0, 6.0]
    assert seen == [[3.0, 3.0]] and w.grad is None


def test_places_are_told_where_code_is_made_all_the_time():
    w = torch.zeros(2, requires_grad=True)
    for _ in range(1500):
        exec("w * 2", {"w": w})
    made = {"w": w}
    exec(compile("\n\ny = (w / w).sum()\n", "<made>", "exec"), made)
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match=r"<made>:3"):
        made["y"].backward()


def test_a_hook_does_not_change_the_dtype():
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g.double())
    with pytest.raises(RuntimeError, match="dtype float64, expected float32"):
        x.sum().backward()
    assert x.grad is None


def test_retain_grad_wants_a_tensor_that_requires_grad():
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        torch.ones(2).retain_grad()
    torch.ones(2, requires_grad=True).retain_grad()


def test_the_gradient_of_what_is_no_leaf_warns():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor") as seen:
        assert y.grad is None
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad is None and y.detach().grad is None and torch.ones(2).grad is None
        with pytest.raises(UserWarning):
            y.grad  # noqa: B018
        z = x * 3
        z.retain_grad()
        assert z.grad is None
        z.sum().backward()
        assert z.grad.tolist() == [1, 1] and x.grad.tolist() == [3, 3]


def test_a_tensor_tells_whether_it_retains_its_gradient():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert not y.retains_grad and not torch.ones(1).retains_grad
    y.retain_grad()
    x.retain_grad()
    assert y.retains_grad and not x.retains_grad  # a leaf has its gradient anyway
    y.mul_(3)
    assert y.retains_grad and not (y * 1).retains_grad
    y.sum().backward()
    assert y.grad.tolist() == [1, 1]
    with pytest.raises(AttributeError):
        y.retains_grad = False


def test_a_retained_gradient_is_known_after_its_wrapper_went():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = y.view(2)
    assert not z.retains_grad and z._base is y
    del y
    assert z._base.retains_grad


def test_gradients_of_inputs_that_are_no_leaves_may_be_written():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.sum().backward(inputs=[y])
    assert y.grad.tolist() == [1, 1] and y.grad.is_contiguous() and x.grad is None
    y.grad.zero_()
    assert y.grad.tolist() == [0, 0]



def test_set_grad_enabled_shows_its_mode():
    with torch.set_grad_enabled(False) as off:
        assert repr(off) == "torch.autograd.grad_mode.set_grad_enabled(mode=False)"
    assert repr(torch.no_grad()).startswith("<torch.autograd.grad_mode.no_grad object at")


def test_a_complex_output_needs_a_gradient_given():
    z = torch.ones(1, dtype=torch.complex64, requires_grad=True)
    text = "grad can be implicitly created only for real scalar outputs but got .*complex64"
    for call in [
        lambda: (z * 2).sum().backward(), z.backward, lambda: torch.autograd.grad((z * 2).sum(), z),
        lambda: torch.autograd.backward([(z * 2).sum(), z.abs().sum()]),
    ]:  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            call()
    for out, given in [((z * 2).sum(), torch.tensor(1.0)), (z.abs().sum(), torch.tensor(1j))]:
        with pytest.raises(RuntimeError, match="both must be real, or both complex"):
            out.backward(given)
    assert z.grad is None
    (z * 2).sum().backward(torch.tensor(1 + 0j, dtype=torch.complex128))
    assert z.grad.tolist() == [2 + 0j]


def test_increment_version_counts_a_write_and_makes_none():
    places = torch.zeros((1, 1), dtype=torch.int64)
    for t in (torch.ones(3), torch.ones(()), torch.ones(0), torch.ones(4)[1::2].t(),
              torch.ones(2, device="meta"), torch.ones(2, dtype=torch.bool),
              torch.sparse_coo_tensor(places, torch.ones(1), (3,))):  # fmt: skip
        before = t._version
        torch.autograd.graph.increment_version(t)
        assert t._version == before + 1
    with torch.inference_mode():
        x = torch.ones(2)
    torch.autograd.graph.increment_version(x)  # which has no version
    x = torch.ones(1 << 20)
    torch.autograd.graph.increment_version((x, x[1:]))
    assert x._version == 2
    y = leaf(1.0, 2.0)
    z = y * y
    torch.autograd.graph.increment_version(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_view_from_before_its_base_became_a_leaf():
    a = torch.ones(2, 3)
    view, part = a[:], a[0]
    part.add_(1)
    a.requires_grad_()
    for t in (a, view, part):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used in"):
            t.add_(5)
    with torch.no_grad():
        view.add_(5)
    assert a.tolist() == [[7.0] * 3, [6.0] * 3]
