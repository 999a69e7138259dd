"""Memory: none left behind by what fails, none gained by what is repeated."""

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

import tensorh as th

HERE = Path(__file__).parent
FULL = bool(os.environ.get("TN_FULL"))


def child(script, *args, **env):
    """What a script beside this one prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, HERE / script, *map(str, args)],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:] or done.stdout[-3000:]
    return done.stdout


def test_every_allocation_that_fails_is_a_memory_error_and_nothing_is_left():
    first, second = child("failing.py", TENSORH_TEST_ALLOCATOR="1").splitlines()
    assert int(first.split()[0]) >= 250 and int(first.split()[2]) >= 1000
    assert second.startswith("no _testcapi") or int(second.split()[2]) >= 500


def test_allocations_fail_only_where_that_was_asked_for_at_import():
    with pytest.raises(RuntimeError, match="TENSORH_TEST_ALLOCATOR"):
        th._C._fail_after(0)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc/self/statm")
def test_the_process_does_not_grow_in_ten_thousand_rounds():
    for line in child("flat.py").splitlines():
        loop, kib = line.split()
        assert int(kib) <= 64, line


@pytest.mark.parametrize("seed", range(1, 21 if FULL else 3))
def test_random_calls_give_results_or_torchs_errors(seed):
    said = child("fuzz.py", "--calls", 20_000 if FULL else 5_000, "--seed", seed)
    assert said.endswith("0 faults\n")


def living():
    gc.collect()
    return th._C._memory()[1]


def test_tensors_go_with_their_last_name():
    before = living()
    x = th.ones(3)
    y = [x[i] for i in range(3)]
    assert living() == before + 4
    del x, y
    assert living() == before


def test_a_cycle_through_attributes_is_collected():
    before = living()
    x = th.ones(3)
    x.me, x.view = x, x[1:]
    x.view.base = x
    seen = weakref.ref(x)
    del x
    assert seen() is not None
    assert living() == before
    assert seen() is None


def gradient():
    x = th.zeros(3, requires_grad=True)
    x.sum().backward()
    return x


def test_a_callback_of_a_weak_reference_sees_the_tensor_in_another_wrapper():
    x, seen = gradient(), []
    gone = weakref.ref(x.grad, lambda _: seen.append(x.grad))
    assert gone() is None and seen[0] is x.grad
    others = [th.ones(2) for _ in range(300)]  # wrappers come again from the list of free ones
    assert seen[0].tolist() == [1.0] * 3 and all(o is not seen[0] for o in others)
    x.grad.tag = 5  # it goes over to the tensor, but for a callback that takes the tensor again
    seen.clear()
    gone = weakref.ref(x.grad, lambda _: seen.append(x.grad))
    assert gone() is None and seen[0] is x.grad and not hasattr(x.grad, "tag")


@pytest.mark.parametrize("type_of", [th.Tensor, type("Sub", (th.Tensor,), {})])
def test_nothing_leads_to_a_wrapper_that_its_tensor_keeps(type_of):
    x, before = th.zeros(3, requires_grad=True), living()
    x.grad = th.ones(3).as_subclass(type_of)
    x.grad.tag = 5
    gone = weakref.ref(x.grad)
    assert gone() is None and x.grad.tag == 5
    assert not [o for o in gc.get_objects() if isinstance(o, th.Tensor) and hasattr(o, "tag")]
    back = x.grad
    x.grad = None
    assert gc.is_tracked(back) and back.tag == 5 and back.tolist() == [1.0] * 3
    back.me = back
    del back
    assert living() == before


def test_in_place_results_outlive_the_name_of_their_tensor():
    def make():
        return th.zeros(5).abs_()

    first = make()
    for _ in range(300):  # wrappers come again from the list of free ones
        first = make()
        assert first.dtype is th.float32 and first.tolist() == [0.0] * 5


def test_a_list_that_empties_itself_while_it_is_read():
    class Eater:
        def __index__(self):
            size.clear()
            return 1

    size = [Eater(), 2, 3]
    with pytest.raises((TypeError, IndexError)):
        th.zeros(size)
