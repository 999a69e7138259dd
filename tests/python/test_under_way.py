"""What others do while a call is under way: threads give up its tensors, draw or fork, signals
come, the collector runs finalizers. The call sees what it was given."""

import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import pytest

import tensorh as th
from tensorh import nn

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


@pytest.fixture(autouse=True)
def one_thread():
    was = th.get_num_threads()
    th.set_num_threads(1)
    yield
    th.set_num_threads(was)


def program(text):
    """Exit status and output of a program of its own."""
    head = """
import os, signal, threading, time
import tensorh as torch
torch.set_num_threads(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
"""
    command = [sys.executable, "-c", head + text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert not done.stderr or done.returncode, done.stderr
    return done.returncode, done.stdout.split()


# --- tensors that are given up --------------------------------------------------------------------


def test_weights_that_are_replaced_stay_for_the_forward_that_reads_them():
    n = 700
    m = nn.Linear(n, n, bias=False)
    x, seen = th.ones(n, n), []

    def forward():
        with th.no_grad():
            y = m(x)
        seen.append((y.min().item(), y.max().item()))

    with th.no_grad():
        for _ in range(6):
            m.weight = nn.Parameter(th.ones(n, n))
            m(x[:1])
            one = threading.Thread(target=forward)
            one.start()
            while one.is_alive() and len(seen) < 6:
                m.weight = nn.Parameter(th.ones(n, n))
                m(x[:1])
                th.full((n, n), 7.0)  # what the allocator gives next
            one.join()
    assert seen == [(n, n)] * 6


def test_calls_that_overlap_without_end_keep_little():
    x, p, size = th.ones(500, 500), th.zeros(2500), 10000
    stop, given_up, most = [], 0, 0

    def work():
        while not stop:
            x @ x

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    before = th._C._memory()[0]
    for _ in range(40):
        for _ in range(50):
            p.data = th.zeros(2500)
        given_up += 50 * size
        most = max(most, th._C._memory()[0] - before)
        time.sleep(0.01)
    stop.append(True)
    for t in threads:
        t.join()
    assert most < given_up // 2


@pytest.mark.parametrize("view", ["x.T", "x[0]", "list(x)[0]"])
def test_a_finalizer_may_turn_the_tensor_that_is_read(view):
    code, said = program(
        f"""
import gc
gc.disable()
gc.collect()
x = (torch.ones(5, 3, 4, requires_grad=True) * 1)[0]

class Turns:
    def __del__(self):
        global keep
        x.unsqueeze_(0)
        keep = [torch.full((2, 2), 9.0) for _ in range(50)]

def view():
    return {view}

one = Turns()
one.itself = one
del one
gc.set_threshold(1)
gc.enable()
r = view()
gc.disable()
print(r.ndim, set(r.detach().reshape(-1).tolist()))
"""
    )
    assert code == 0 and said[1] == "{1.0}"


def test_a_finalizer_may_replace_a_modules_dictionary():
    class Replaces:
        def __init__(self, m):
            self.m = m

        def __del__(self):
            self.m.__dict__["_modules"] = {}

    m = nn.Module()
    m.__dict__["part"] = Replaces(m)
    m.part = nn.Linear(2, 2)
    gc.collect()
    assert list(m.__dict__["_modules"]) == []


# --- random streams -------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [False, True])
def test_no_number_is_drawn_twice_by_threads(own):
    n, drawn = 1_500_000, [None] * 2
    g = th.Generator() if own else th.default_generator

    def draw(i):
        drawn[i] = th.rand(n, dtype=th.float64, generator=g)

    threads = [threading.Thread(target=draw, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    first, second = (set(x[::3].tolist()) for x in drawn)
    assert not first & set(drawn[1].tolist()) and not second & set(drawn[0].tolist())


def test_dropout_in_threads_draws_one_stream():
    n, drawn = 400_000, [None] * 3
    m, x = nn.Dropout(0.5), th.ones(n)
    th.manual_seed(7)
    expected = {m(x).count_nonzero().item() for _ in range(3)}
    th.manual_seed(7)

    def draw(i):
        drawn[i] = m(x).count_nonzero().item()

    threads = [threading.Thread(target=draw, args=(i,)) for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(drawn) == expected  # in some order


# --- fork and signals -----------------------------------------------------------------------------

BUSY = """
a, stop = torch.ones(900, 900), []
def work():
    while not stop: a @ a; torch.rand(1000000)
t = threading.Thread(target=work, daemon=True)
t.start()
time.sleep(0.2)
"""


@FORKS
def test_the_child_of_a_fork_beside_calls_that_last_goes_on():
    code, said = program(
        BUSY
        + """
child = os.fork()
if not child:
    signal.alarm(30)
    try:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.01)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    torch.manual_seed(1)
    print((torch.ones(10) + 1).sum().item(), torch.rand(3).numel(), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
stop.append(1)
t.join()
"""
    )
    assert code == 0 and said == ["interrupted", "20.0", "3", "0"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_handler_that_is_set_beside_a_call_that_lasts_stays():
    code, said = program(
        """
a = torch.ones(1500, 1500)
t = threading.Thread(target=lambda: a @ a)
t.start()
time.sleep(0.02)
signal.signal(signal.SIGINT, signal.SIG_DFL)
t.join()
print("ends", flush=True)
os.kill(os.getpid(), signal.SIGINT)
time.sleep(1)
print("is still there")
"""
    )
    assert code == -2 and said == ["ends"]


# --- what ends ------------------------------------------------------------------------------------


def test_tied_weights_with_a_hook_that_reaches_them_go():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.weight = a.weight
    a(th.ones(1, 2)), b(th.ones(1, 2))
    a.weight.register_hook(lambda g, m=a: None)
    gone = weakref.ref(a), weakref.ref(b)
    del a, b
    gc.collect()
    assert gone[0]() is None and gone[1]() is None


def test_a_gradient_of_an_output_is_its_own():
    x = th.ones(2, requires_grad=True)
    y, g = x * 2, th.ones(2)
    y.backward(g, inputs=[y])
    y.grad.zero_()
    assert g.tolist() == [1, 1]


def test_a_step_in_memory_that_may_not_be_written_is_replaced():
    p = nn.Parameter(th.ones(2))
    o = th.optim.Adam([p])
    p.grad = th.ones(2)
    o.step()
    memory = bytes(4)
    o.state[p]["step"] = th.frombuffer(memory, dtype=th.float32).reshape(())
    o.step()
    assert memory == bytes(4) and o.state[p]["step"].item() == 1
