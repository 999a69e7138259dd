"""Threads and Ctrl-C. Nothing here reads a clock: threads count, and what would last for hours
unless it were stopped has no end that a test could mistake for a stop."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import tensorh as th

posix = pytest.mark.skipif(os.name != "posix", reason="no SIGINT to send")


@pytest.fixture
def never_forced():
    """A thread has the GIL until it gives it away itself."""
    was = sys.getswitchinterval()
    sys.setswitchinterval(1e3)
    yield
    sys.setswitchinterval(was)


def rounds_beside(call):
    """How often another thread has come round during the call."""
    counts, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1
            time.sleep(1e-5)  # gives the GIL away

    thread = threading.Thread(target=count)
    thread.start()
    before = counts[0]
    call()
    after = counts[0]
    stop.set()
    thread.join()
    return after - before


def rounds_at_last(call, tries):
    """The same, until the system has let the other thread run."""
    return next(filter(None, (rounds_beside(call) for _ in range(tries))), 0)


X = th.ones(700, 700)
W = th.full((700, 700), 1e-3, requires_grad=True)
LASTING = {
    "matmul": lambda: X @ X,
    "in place": lambda: X.clone().exp_(),
    "sort": lambda: X.flatten().sort(),
    "backward": lambda: (W @ W @ W).sum().backward(),
    "module": lambda: th.nn.Linear(700, 700)(X),
    "randn": lambda: th.randn(10**6),
}


@pytest.mark.parametrize("name", LASTING)
def test_another_thread_runs_while_a_call_lasts(name, never_forced):
    assert rounds_at_last(LASTING[name], 2000) > 0


def test_without_a_call_that_lasts_no_other_thread_runs(never_forced):
    """So that the test above means what it says."""
    small = th.ones(4)
    assert rounds_at_last(lambda: [small @ small for _ in range(1000)], 5) == 0


def test_threads_calculate_at_the_same_time():
    def work(k):
        results[k] = [(a @ a).sum().item() for _ in range(5)]

    a = th.arange(300 * 300.0).reshape(300, 300).remainder(7)
    results, expected = {}, (a @ a).sum().item()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: 5 * [expected] for k in range(4)}


# --- Ctrl-C ---------------------------------------------------------------------------------------

# The signal comes when the main thread first gives the GIL away after soon(): in the call that
# lasts. The elements of `endless`, all the same one, keep a reduction busy for hours.
HERE = '''
import os, signal, sys, threading, time
import tensorh as torch

# a job in the background inherits that SIGINT is ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.setswitchinterval(1e3)
gate = threading.Semaphore(0)
endless = torch.ones(1).expand(10**13)


def interrupt():
    while True:
        gate.acquire()
        os.kill(os.getpid(), signal.SIGINT)


threading.Thread(target=interrupt, daemon=True).start()


def soon():
    gate.release()


def interrupted(call):
    """Whether the call ends in KeyboardInterrupt, and all is as before after it."""
    count = torch._C._memory()[1]
    try:
        call()
    except KeyboardInterrupt:
        pass
    else:
        raise SystemExit("it went on to its end")
    assert not torch._C._pending()
    assert torch._C._memory()[1] == count, "tensors are left"
    assert torch.ones(300, 300).sum().item() == 90000


'''


def program(text):
    """Runs it with what HERE has; it says "right" at its end."""
    done = subprocess.run(
        [sys.executable, "-c", HERE + text],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr or done.stdout


@posix
@pytest.mark.parametrize(
    "call",
    [
        "endless.sum()",
        "endless.max()",
        "endless.var()",
        "torch.equal(endless, endless)",
        "endless.argmax()",
        "endless.nonzero()",
    ],
)
def test_ctrl_c_stops_a_call_that_would_last_for_hours(call):
    program(f"""
def call():
    soon()
    {call}

for _ in range(3):
    interrupted(call)
print("right")
""")


@posix
def test_ctrl_c_while_functions_are_loaded_leaves_them_to_be_loaded():
    program("""
import builtins

once, real = [1], builtins.__import__

def stopped(name, *args, **kwargs):
    module = real(name, *args, **kwargs)
    if once and "_functions" in (args[2] or ()):
        once.pop()
        raise KeyboardInterrupt
    return module

builtins.__import__ = stopped
interrupted(lambda: torch.einsum)
assert torch.einsum("i,i->", torch.ones(2), torch.ones(2)).item() == 2
print("right")
""")


@posix
def test_what_a_stopped_call_read_is_as_it_was_and_what_is_written_is_written_whole():
    program("""
x = torch.arange(9e6).reshape(3000, 3000).remainder(5)
before = x.clone()

def matmul():
    soon()
    torch.matmul(x, x)

def in_place():
    soon()
    x.exp_().exp_().exp_()

def out():
    soon()
    torch.sin(before, out=x)

interrupted(matmul)
assert torch.equal(x, before)
interrupted(in_place)
one = before.exp()
assert any(torch.equal(x, y) for y in (before, one, one.exp(), one.exp().exp()))
after = x.clone()
interrupted(out)
assert torch.equal(x, before.sin()) or torch.equal(x, after)
print("right")
""")


@posix
def test_ctrl_c_in_backward_leaves_no_gradient_and_the_next_one_is_right():
    program("""
w = torch.ones(1, requires_grad=True)
v = torch.ones(2, requires_grad=True)
many = w.expand(10**13)

def backward():
    soon()
    torch.autograd.backward([v.sum(), many], [torch.ones(()), endless])

def grad():
    soon()
    torch.autograd.grad(many, w, endless)

for _ in range(2):
    interrupted(backward)
    assert w.grad is None and v.grad is None
    many = w.expand(10**13)
    interrupted(grad)
    many = w.expand(10**13)
(3 * w).backward()
assert w.grad.item() == 3
print("right")
""")


@posix
def test_ctrl_c_in_a_hook_goes_through_backward():
    program("""
w = torch.ones(2, requires_grad=True)
seen = []

def in_a_call(g):
    seen.append(1)
    soon()
    endless.sum()

def in_python(g):
    seen.append(2)
    soon()
    while True:
        time.sleep(1e-5)

for hook in (in_a_call, in_python):
    y = w * 2
    y.register_hook(hook)
    loss = y.sum()
    interrupted(loss.backward)
    assert w.grad is None
    del y, loss
assert seen == [1, 2]
(w * 2).sum().backward()
assert w.grad.tolist() == [2, 2]
print("right")
""")


@posix
def test_ctrl_c_in_the_backward_of_a_function_and_of_a_module():
    program("""
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        soon()
        endless.sum()

def slow(*args):
    soon()
    endless.sum()

w = torch.ones(2, requires_grad=True)
layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(slow)
for make in (Slow.apply, layer):
    interrupted(lambda: make(w).sum().backward())
    assert w.grad is None and layer.weight.grad is None
print("right")
""")


@posix
def test_a_call_in_a_hook_goes_on_where_ctrl_c_raises_nothing():
    program("""
seen, sums = [], []
signal.signal(signal.SIGINT, lambda *a: seen.append(1))
ones = torch.ones(3000, 3000)

def hook(g):
    soon()
    sums.append((ones @ ones)[0, 0].item())

w = torch.ones(2, requires_grad=True)
big = torch.ones(300, 300, requires_grad=True)
for x in (w, big):
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()
    assert (x.grad == 2).all()
assert seen == [1, 1] and sums == [3000, 3000], (seen, sums)
print("right")
""")


@posix
@pytest.mark.parametrize("workers", [0, 2])
def test_ctrl_c_in_a_loop_over_a_loader(workers):
    program(f"""
from tensorh.utils.data import DataLoader, Dataset

class Slow(Dataset):
    stop = None

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == self.stop and threading.current_thread() is threading.main_thread():
            soon()
            endless.sum()
        return torch.full((3,), float(i))

data = Slow()
loader = DataLoader(data, batch_size=2, num_workers={workers})
seen = []

def in_the_loop():
    for batch in loader:
        seen.append(batch[:, 0].tolist())
        if len(seen) == 2:
            soon()
            endless.sum()

def in_the_set():
    data.stop = 5
    for batch in loader:
        seen.append(batch[:, 0].tolist())

interrupted(in_the_loop)
assert seen == [[0, 1], [2, 3]], seen
if not {workers}:
    seen.clear()
    interrupted(in_the_set)
    assert seen == [[0, 1], [2, 3]], seen
data.stop = None
assert [batch[:, 0].tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5], [6, 7]]
print("right")
""")


@posix
def test_ctrl_c_in_training_leaves_a_model_that_can_be_trained_on():
    program("""
torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.BatchNorm1d(256), torch.nn.Linear(256, 1))
optimizer = torch.optim.Adam(model.parameters())
x, y = torch.randn(512, 64), torch.randn(512, 1)

def steps(count, where=None):
    for i in range(count):
        if where == i:
            soon()
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()

for where in range(5):
    try:
        steps(10**6, where)
    except KeyboardInterrupt:
        pass
    assert all(p.isfinite().all() for p in model.parameters())
assert steps(60) < 0.2
print("right")
""")


@posix
def test_a_handler_of_ones_own_hears_of_it_and_the_call_goes_on():
    program("""
seen = []
signal.signal(signal.SIGINT, lambda *a: seen.append(1))
x = torch.ones(2000, 2000)
for _ in range(3):
    soon()
    assert (x @ x)[0, 0].item() == 2000
assert seen == [1, 1, 1], seen
print("right")
""")


@posix
def test_another_threads_call_goes_on_when_the_main_thread_is_stopped():
    program("""
results = []
x = torch.ones(1500, 1500)

def work():
    for _ in range(3):
        results.append((x @ x)[0, 0].item())

sys.setswitchinterval(5e-3)
thread = threading.Thread(target=work)
thread.start()

def call():
    soon()
    endless.sum()

try:
    call()
except KeyboardInterrupt:
    thread.join()
    assert results == [1500, 1500, 1500]
    print("right")
""")


@posix
def test_the_program_ends_as_others_do_at_ctrl_c():
    """No handler: the traceback's last line is the call's, and the status is a signal's."""
    done = subprocess.run(
        [sys.executable, "-c", HERE + "soon()\nendless.sum()\n"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n") and done.stdout == ""
