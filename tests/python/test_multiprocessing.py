"""torch.multiprocessing: tensors in the memory of several processes."""

import os
import pickle
import signal
import time

import pytest

import tensorh as torch
from tensorh import multiprocessing as mp
from tensorh import nn

METHODS = [m for m in ("fork", "spawn") if m in mp.get_all_start_methods()]


def _add(t, queue, done):
    t += 1
    queue.put({"made": torch.full((3,), 7.0), "view": torch.arange(6).view(2, 3)[:, 1]})
    done.wait(60)


@pytest.mark.parametrize("method", METHODS)
def test_memory_is_shared(method):
    context = mp.get_context(method)
    t, queue, done = torch.zeros(5), context.Queue(), context.Event()
    assert not t.is_shared() and t.share_memory_() is t and t.is_shared()
    process = context.Process(target=_add, args=(t, queue, done))
    process.start()
    got = queue.get(timeout=60)
    assert t.tolist() == [1] * 5
    assert got["made"].tolist() == [7] * 3 and got["made"].is_shared()
    assert got["view"].tolist() == [1, 4] and got["view"].stride() == (3,)
    done.set()
    process.join(60)
    assert process.exitcode == 0


def _step(rank, model, *same):
    with torch.no_grad():
        for p in model.parameters():
            p[rank] += rank + 1


@pytest.mark.parametrize("method", METHODS)
def test_a_model_of_all(method):
    model = nn.Linear(2, 2)
    weight = model.weight
    assert model.share_memory() is model and model.weight is weight
    assert model.bias.is_shared() and isinstance(model.bias, nn.Parameter)
    before = model.bias.detach().clone()
    others = (model.weight, [model.weight])
    mp.start_processes(_step, (model, *others), nprocs=2, start_method=method)
    assert (model.bias - before).tolist() == pytest.approx([1, 2], abs=1e-6)


def _fail(rank):
    if rank == 1:
        raise ValueError("number one")
    time.sleep(60)


def _die(rank):
    os.kill(os.getpid(), signal.SIGKILL)


def test_processes_that_fail():
    begin = time.monotonic()
    with pytest.raises(mp.ProcessRaisedException, match="number one") as e:
        mp.start_processes(_fail, nprocs=2, start_method=METHODS[0])
    assert e.value.error_index == 1 and time.monotonic() - begin < 30
    with pytest.raises(mp.ProcessExitedException, match="SIGKILL") as e:
        mp.start_processes(_die, nprocs=1, start_method=METHODS[0])
    assert pickle.loads(pickle.dumps(e.value)).signal_name == "SIGKILL"


def test_pools():
    with mp.Pool(2) as pool:
        roots = pool.map(torch.sqrt, [torch.tensor(4.0), torch.tensor(9.0)])
    assert [r.item() for r in roots] == [2, 3]


def test_what_is_sent():
    to, end = mp.Pipe()
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Cowardly"):
        to.send(x * 2)
    for t in (x, nn.Parameter(torch.ones(2), requires_grad=False), torch.empty(0, 3),
              torch.tensor(True), torch.ones(2, dtype=torch.bfloat16), torch.ones(1, device="meta"),
              torch.ones(2, 2, dtype=torch.complex64).t()):  # fmt: skip
        to.send(t)
        got = end.recv()
        assert type(got) is type(t) and got.dtype is t.dtype and got.stride() == t.stride()
        assert got.requires_grad == t.requires_grad and got.device == t.device
        if t.device.type == "cpu":
            assert got.equal(t)
    a = torch.zeros(4).share_memory_()
    to.send([a, a[1:]])
    one, two = end.recv()
    a[1] = 5
    assert one[1] == 5 and two[0] == 5 and two.shape == (3,)
    b = torch.zeros(4)
    to.send(b[1:])  # a copy: the tensor keeps its memory
    assert end.recv().shape == (3,) and not b.is_shared()
    with pytest.raises(RuntimeError, match="view"):
        b[1:].share_memory_()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the descriptors are not listed")
def test_nothing_is_left():
    shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    to, end = mp.Pipe()

    def once():
        t = torch.ones(1000).share_memory_()
        to.send(t)
        end.recv()

    once()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        once()
    until = time.monotonic() + 10  # a thread of the sender's closes its last ones
    while len(os.listdir("/proc/self/fd")) > before + 2 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(os.listdir("/proc/self/fd")) <= before + 2
    if shared:
        assert not {n for n in os.listdir("/dev/shm") if "tensorh" in n} - shared


def test_names():
    assert mp.get_all_sharing_strategies() == {mp.get_sharing_strategy()}
    mp.set_sharing_strategy("file_system")
    with pytest.raises(AttributeError):
        mp.nothing  # noqa: B018
    assert mp.pool.Pool and mp.current_process()


def test_a_tensor_without_elements_may_be_shared():
    t = torch.tensor([])
    assert t.share_memory_() is t and t.shape == (0,)


def test_hooks_may_be_marked_as_those_of_one_process():
    @torch.utils.hooks.unserializable_hook
    def hook(gradient):
        return None

    assert hook.__torch_unserializable__ and hook(1) is None
