"""Several threads at once: operators, modules, backward, loaders, files, hooks, shared tensors.
What each computes is what it computes alone; the interpreter switches as often as it can."""

import gc
import io
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import tensorh as th
from tensorh import nn
from tensorh.utils import data

ROUNDS = 400 if os.environ.get("TN_FULL") else 25
THREADS = 4
LARGE = th.ones(300, 300)  # its calls release the interpreter
SHARED = th.arange(12.0).view(3, 4)
MODEL = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def operators(k):
    x = SHARED * k
    y = (x @ x.T).sum() + LARGE.add(k)[0, 0] + th.cat([x, x])[0, 1]
    return y.item()


def gradients(k):
    w = th.full((3, 4), float(k), requires_grad=True)
    seen = []
    y = w * SHARED
    y.register_hook(lambda g: seen.append(g.sum().item()))
    (y * y).sum().backward()
    return w.grad.sum().item(), seen


def large_gradients(k):
    w = LARGE.clone().requires_grad_()
    (w.tanh() * k).sum().backward()
    return w.grad[0, 0].item()


def shared_leaf(k):
    """All threads ask for gradients of the same parameters."""
    grads = th.autograd.grad(MODEL(SHARED * k).sum(), list(MODEL.parameters()))
    return [g.sum().item() for g in grads]


def training(k):
    th.Generator().manual_seed(k)
    m = nn.Linear(4, 1)
    nn.init.constant_(m.weight, 0.1 * k)
    nn.init.zeros_(m.bias)
    o = th.optim.Adam(m.parameters(), lr=0.1)
    for _ in range(2):
        o.zero_grad()
        m(SHARED).pow(2).mean().backward()
        o.step()
    return [p.tolist() for p in m.parameters()]


def loading(k):
    whole = data.TensorDataset(th.arange(8.0) * k, th.arange(8))
    g = th.Generator().manual_seed(k)
    loader = data.DataLoader(whole, 3, shuffle=True, generator=g, num_workers=k % 2)
    return [[x.tolist() for x in batch] for batch in loader]


def files(k):
    stream = io.BytesIO()
    th.save({"k": SHARED * k}, stream)
    stream.seek(0)
    return th.load(stream)["k"].tolist()


class Twice(th.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 + 0 * ctx.saved_tensors[0]


def functions(k):
    w = th.full((3,), float(k), requires_grad=True)
    Twice.apply(w).sum().backward()
    return w.grad.tolist()


def refusals(k):
    said = []
    for wrong in (lambda: SHARED @ SHARED, lambda: SHARED[k + 9], lambda: th.add(SHARED, "x")):
        try:
            wrong()
        except (RuntimeError, IndexError, TypeError) as error:
            said.append(str(error).split("\n")[0])
    return said


def attributes(k):
    """A wrapper that Python drops and takes up again, and a cycle."""
    w = nn.Parameter(SHARED * k)
    w.me = [w]
    holder = nn.Linear(4, 3)
    holder.weight.name_of_mine = k
    return holder.weight.name_of_mine, SHARED.T.shape


WORK = [operators, gradients, large_gradients, shared_leaf, training, loading, files, functions,
        refusals, attributes]  # fmt: skip


@pytest.fixture
def switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_compute_what_one_does(switching):
    alone = {(f, k): f(k) for f in WORK for k in range(THREADS)}
    wrong, barrier = [], threading.Barrier(THREADS)

    def run(k):
        barrier.wait()
        try:
            for i in range(ROUNDS):
                f = WORK[(i + k) % len(WORK)]
                if f(k) != alone[f, k]:
                    wrong.append((f.__name__, k))
                if i % 50 == k:
                    gc.collect()
        except BaseException as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_tensor_that_turns_in_another_thread_is_there_until_the_call_ends(switching):
    """x is another tensor all the time, while calls read it; each sees one of the two shapes.
    (x.data = .. beside a call is a race, as in torch.)"""
    x = th.ones(300, 300)
    stop, wrong = threading.Event(), []

    def turn():
        while not stop.is_set():
            x.unsqueeze_(0)
            x.squeeze_(0)

    turning = threading.Thread(target=turn)
    turning.start()
    for _ in range(4 * ROUNDS):
        y = x.add(1)
        if y.shape not in ((300, 300), (1, 300, 300)) or y.sum().item() != 180000:
            wrong.append(y.shape)
    stop.set()
    turning.join()
    assert not wrong


LOADING = """
import sys
import threading

sys.setswitchinterval(1e-6)
import tensorh as torch

names = "fliplr einsum isin outer unique hstack vstack finfo".split()
barrier, wrong = threading.Barrier(2 * len(names)), []

def look(k):
    barrier.wait()
    try:
        if k % 2:
            getattr(torch, names[k // 2])
        else:
            torch.Tensor.outer, torch.Tensor.exp2_, torch.ones(2).tile
    except BaseException as error:
        wrong.append(repr(error))

threads = [threading.Thread(target=look, args=(k,)) for k in range(2 * len(names))]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert not wrong, wrong
"""


def test_functions_that_several_threads_load_at_once_are_there_for_all():
    for _ in range(3):
        subprocess.run([sys.executable, "-c", LOADING], check=True, timeout=60)


def module_call(x):
    m = nn.GELU()
    return lambda: m(x), x


def built_in_weight(x):
    m, y = nn.Linear(1000, 2000), th.ones(300, 1000)
    m.weight = nn.Parameter(x.view(2000, 1000))
    return lambda: m(y), m.weight


def optimizer_step(x):
    p = nn.Parameter(x)
    p.grad = th.ones_like(x)
    return th.optim.Adam([p]).step, p


@pytest.mark.parametrize("prepared", [module_call, built_in_weight, optimizer_step])
def test_memory_that_a_tensor_gives_up_stays_until_the_call_ends(prepared):
    """Another thread sets x.data while a call reads the memory that x had."""
    alive = []

    def turn():
        other = th.ones(x.shape)  # of the same shape, as the call may look at x after this
        ready.set()
        go.wait()
        time.sleep(0.003)
        x.data = other
        if under_way:
            alive.append(memory() is not None)

    for _ in range(3):
        array = np.ones(2_000_000, dtype="float32")
        memory = weakref.ref(array)
        call, x = prepared(th.from_numpy(array))
        del array
        ready, go, under_way = threading.Event(), threading.Event(), [True]
        turning = threading.Thread(target=turn)
        turning.start()
        ready.wait()
        go.set()
        call()
        under_way.clear()
        turning.join()
    assert all(alive)
