"""torch.distributed: messages that are not waited for, and stores, between threads; the same
program runs in processes of torch by gloo, where it is installed."""

import _thread
import datetime
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from test_collectives import MAIN
from test_distributed import spawn

import tensorh as torch
import tensorh.distributed as dist

PROGRAM = """
def fails(kind, call, *arguments):
    try:
        call(*arguments)
    except kind as e:
        return str(e)

def program(torch, dist, rank, size):
    seen = []
    right, left = (rank + 1) % size, (rank - 1) % size
    # a ring: all send first, and none waits
    x, y = torch.arange(6.0).view(3, 2) + rank, torch.zeros(3, 2)
    sent, got = dist.isend(x, right), dist.irecv(y, left)
    seen += [sent.wait(), got.wait(), y.tolist(), got.is_completed(), got.is_success()]
    # tags choose, whatever the order; of one tag the first comes first
    if rank == 0:
        works = [dist.isend(torch.tensor([float(i)]), 1, tag=i % 2) for i in range(6)]
        seen += [w.wait() for w in works]
    if rank == 1:
        to = [torch.zeros(1) for _ in range(6)]
        for tag in (1, 0):
            for w in [dist.irecv(to[i], 0, tag=tag) for i in range(6) if i % 2 == tag]:
                w.wait()
        seen.append([t.item() for t in to])
    # those that wait meet those that do not
    z = torch.zeros(2, dtype=torch.int64)
    if rank == 2:
        dist.send(torch.tensor([7, 8]), 0, tag=3)
        work = dist.irecv(z, group_src=0)
        seen += [work.wait(datetime.timedelta(seconds=30)), z.tolist()]
    if rank == 0:
        work = dist.irecv(z, tag=3)  # of any rank
        seen += [work.wait(), z.tolist(), work.source_rank()]
        dist.send(z + 1, 2)
        seen += [dist.recv(z, tag=4), z.tolist()]
    if rank == 1:
        dist.isend(torch.tensor([3, 4]), group_dst=0, tag=4).wait()
    # a batch
    to = [torch.zeros(2), torch.zeros(2)]
    others = [r for r in range(size) if r != rank]
    batch = [dist.P2POp(dist.isend, torch.full((2,), 10.0 * rank + r), r) for r in others]
    batch += [dist.P2POp(dist.irecv, t, r) for t, r in zip(to, others)]
    seen.append(len([w.wait() for w in dist.batch_isend_irecv(batch)]))
    seen.append([t.tolist() for t in to])
    # groups have messages of their own
    pair = dist.new_group([0, 2])
    if rank != 1:
        other = torch.zeros(1)
        works = [dist.isend(torch.tensor([rank + 0.5]), 2 - rank, group=pair),
                 dist.irecv(other, group_src=1 if rank == 0 else 0, group=pair)]
        seen += [[w.wait() for w in works], other.item(), works[1].source_rank()]
    else:
        seen += [dist.isend(x, 0, group=pair), dist.irecv(x, 0, group=pair)]
    p = dist.P2POp(dist.isend, x, right)
    seen += [
        fails(ValueError, dist.P2POp, dist.send, x, right),
        fails(ValueError, dist.batch_isend_irecv, [3]),
        fails(TypeError, dist.isend, 3, right) and "TypeError",
        p.peer, p.tag, p.op is dist.isend, p.tensor is x,
    ]
    # a store that all ranks have, by its file
    store = dist.FileStore(STORE, size)
    part = dist.PrefixStore("a", store)
    part.set(f"from{rank}", str(rank))
    seen.append([part.get(f"from{r}").decode() for r in range(size)])
    part.wait(["from0"], datetime.timedelta(seconds=30))
    total = part.add("sum", rank + 1)
    dist.barrier()
    seen += [total > 0, part.add("sum", 0), store.get("a/sum").decode(), store.check(["a/no"])]
    dist.barrier()
    if rank == 0:
        seen += [store.delete_key("a/from1"), store.check(["a/from1"]), store.path == STORE]
        seen.append(fails(RuntimeError, store.wait, ["no"], datetime.timedelta(seconds=0.1))[:12])
        seen += values(dist.HashStore(), dist)
    return seen

def values(s, dist):
    import datetime

    s.set("a", "1")
    seen = [s.get("a"), s.add("n", 5), s.add("n", -2), s.get("n"), s.num_keys()]
    seen += [s.compare_set("a", "1", "2"), s.compare_set("a", "9", "3"), s.get("a")]
    seen += [s.compare_set("new", "", "v"), s.compare_set("other", "x", "v"), s.check(["other"])]
    s.append("q", "ab")
    s.append("q", "cd")
    s.multi_set(["k1", "k2"], ["v1", b"\\x00\\xff"])
    seen += [s.get("q"), s.multi_get(["k1", "k2"]), s.has_extended_api(), sorted(s.list_keys())]
    seen += [s.delete_key("a"), s.delete_key("a"), s.clone().get("n"), str(s.timeout)]
    s.set_timeout(datetime.timedelta(seconds=0.1))
    seen += [fails(dist.DistStoreError, s.get, "no")[:12], fails(ValueError, s.add, "q", 1) and 1]
    p = dist.PrefixStore("p", s)
    p.set("a", "7")
    seen += [s.get("p/a"), p.get("a"), p.add("c", 2), p.num_keys() == s.num_keys()]
    seen += [p.compare_set("a", "7", "8"), p.check(["a"]), p.delete_key("a"), p.check(["a"])]
    return [[b.decode("latin1") for b in v] if isinstance(v, list) and isinstance(v[0], bytes)
            else v.decode("latin1") if isinstance(v, bytes) else v for v in seen]
"""


def run(folder):
    def body(rank):
        space = {"datetime": datetime, "STORE": str(folder / "shared")}
        exec(PROGRAM, space)
        return space["program"](torch, dist, rank, 3)

    return spawn(3, body)


def test_each_call_gives_what_torch_documents(tmp_path):
    seen = run(tmp_path)
    for rank, s in enumerate(seen):
        left = (rank - 1) % 3
        assert s[:2] == [True, True] and s[3:5] == [True, True]
        assert s[2] == [[left + i, left + i + 1] for i in (0, 2, 4)]
    assert seen[0][5:15] == [True] * 7 + [[7, 8], 2, 1] and seen[0][15] == [3, 4]
    assert seen[1][5] == [0, 1, 2, 3, 4, 5] and seen[2][5:7] == [True, [8, 9]]


def test_each_call_gives_what_torch_gives(tmp_path):
    pytest.importorskip("torch")
    shared = tmp_path / "theirs"
    (tmp_path / "main.py").write_text(f"STORE = {str(shared)!r}\n" + PROGRAM + MAIN)
    command = [sys.executable, str(tmp_path / "main.py"), str(tmp_path)]
    usual = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=usual, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    real = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(3)]
    assert json.loads(json.dumps(run(tmp_path))) == real


def test_what_differs_is_an_error_on_both_sides():
    def body(rank):
        x = torch.zeros(2 + rank)
        work = dist.isend(x, 1) if rank == 0 else dist.irecv(x, 0)
        text = r"rank 0 sends float32 \(2,\), but rank 1 receives float32 \(3,\)"
        with pytest.raises(RuntimeError, match=text):
            work.wait()
        assert work.is_completed() and not work.is_success() and work.exception() is not None
        dist.barrier()

    spawn(2, body)


def test_who_waits_for_nobody_is_told():
    def body(rank):
        x = torch.zeros(1)
        if rank == 0:
            work = dist.irecv(x, 1, tag=9)
            assert not work.is_completed() and not work.is_success()
            with pytest.raises(RuntimeError, match="rank 0 has waited 0.1 seconds for rank 1"):
                work.wait(datetime.timedelta(seconds=0.1))
            dist.barrier()
            with pytest.raises(RuntimeError, match="rank 1 has left the group"):
                dist.recv(x, 1)
            with pytest.raises(RuntimeError, match="has left the group"):
                dist.isend(x, 1).wait()
        else:
            dist.barrier()

    spawn(2, body)


LATER = datetime.timedelta(seconds=40)  # more than "soon"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("way", ["returns", "raises", "sends", "destroys"])
def test_a_rank_that_is_gone_is_noticed(way):
    def body(rank):
        dist.init_process_group("threads", rank=rank, world_size=2, group_name=way, timeout=LATER)
        x, group = torch.zeros(1), None
        if way == "destroys":
            group = dist.new_group([0, 1])
        if rank == 0:
            since = time.monotonic()
            with pytest.raises(RuntimeError, match="rank 0 of 2: rank 1 has left the group"):
                dist.recv(x, 1, group=group, tag=1)
            soon.append(time.monotonic() - since < 20)
            if way == "destroys":  # the world is still there
                dist.recv(x, 1)
                assert x.item() == 5
            if way == "sends":  # it lies there
                dist.recv(x, 1)
                assert x.item() == 5
            soon.append(True)
            dist.destroy_process_group()
        elif way == "raises":
            raise KeyError(way)
        elif way == "sends":
            dist.isend(x + 5, 0)
        elif way == "destroys":
            dist.destroy_process_group(group)
            dist.send(x + 5, 0)
            ended.wait(60)

    soon, ended = [], threading.Event()
    threads = [threading.Thread(target=body, args=(r,)) for r in range(2)]
    for t in threads:
        t.start()
    threads[0].join(60)
    ended.set()
    threads[1].join(60)
    assert soon == [True, True]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_copy_is_an_error_on_both_sides(kind):
    class Stopped(torch.Tensor):
        def copy_(self, other):
            raise kind

    def body(rank):
        if rank == 0:
            work = dist.isend(torch.zeros(1), 1)
            dist.barrier()
            with pytest.raises(RuntimeError, match="the copy of rank 1 was interrupted"):
                work.wait(LATER)
        else:
            dist.barrier()
            with pytest.raises(kind):
                dist.irecv(Stopped([0.0]), 0)
        dist.barrier()

    spawn(2, body)


def test_an_interrupted_wait_takes_its_message_back():
    def other():
        dist.init_process_group("threads", rank=1, world_size=2, group_name="interrupt")
        while not dist._world()._post.expected:
            time.sleep(0.01)
        time.sleep(0.3)  # it waits by then
        _thread.interrupt_main()
        dist.barrier()
        dist.send(torch.ones(1), 0)
        dist.destroy_process_group()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    thread = threading.Thread(target=other, daemon=True)
    thread.start()
    dist.init_process_group("threads", rank=0, world_size=2, group_name="interrupt", timeout=LATER)
    try:
        x, y = torch.zeros(1), torch.zeros(1)
        with pytest.raises(KeyboardInterrupt):
            dist.recv(x, 1)
        dist.barrier()
        dist.recv(y, 1)
        assert x.item() == 0 and y.item() == 1
    finally:
        signal.signal(signal.SIGINT, before)
        dist.destroy_process_group()
        thread.join(60)


def test_nobody_sends_to_himself():
    def body(rank):
        x = torch.zeros(1)
        for call in (dist.send, dist.isend):
            with pytest.raises(ValueError, match="Invalid destination rank: destination rank sho"):
                call(x, rank)
        for call in (dist.recv, dist.irecv):
            with pytest.raises(ValueError, match="Invalid source rank: source rank should not be"):
                call(x, group_src=rank)
        with pytest.raises(ValueError, match="destination rank"):
            dist.send_object_list([1], rank)
        with pytest.raises(ValueError, match="source rank"):
            dist.recv_object_list([1], rank)

    spawn(2, body)


def test_a_message_is_there_when_both_have_called():
    def body(rank):
        x = torch.full((3,), float(rank + 1))
        if rank == 0:
            work = dist.isend(x, 1)
            dist.barrier()
            dist.barrier()
            assert work.is_completed()  # without a wait
        else:
            y = torch.zeros(3)
            dist.barrier()
            assert y.tolist() == [0, 0, 0]  # sent, but not asked for
            work = dist.irecv(y, 0)
            assert work.is_completed() and y.tolist() == [1, 1, 1] and work.result()[0] is y
            dist.barrier()

    spawn(2, body)


def test_a_store_wakes_who_waits_and_lets_ranks_meet():
    store = dist.HashStore()
    later = threading.Timer(0.05, lambda: store.clone().set("k", "v"))
    later.start()
    since = time.monotonic()
    assert store.get("k") == b"v" and time.monotonic() - since < 60
    other = dist.PrefixStore("x", dist.HashStore())

    def body(rank, at, ranks):
        dist.init_process_group("threads", rank=rank, world_size=ranks, store=at)
        x = torch.ones(1)
        dist.all_reduce(x)
        seen.append((ranks, x.item()))
        dist.destroy_process_group()

    seen = []
    worlds = [(store, 2), (other, 3)]
    threads = [
        threading.Thread(target=body, args=(r, at.clone(), n)) for at, n in worlds for r in range(n)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert sorted(seen) == [(2, 2)] * 2 + [(3, 3)] * 3
    with pytest.raises(NotImplementedError):
        dist.Store().clone()


def stores(tmp_path):
    return dist.HashStore(), dist.FileStore(tmp_path / "f"), dist.PrefixStore("p", dist.HashStore())


def test_values_of_a_store_are_text_or_bytes(tmp_path):
    for store in stores(tmp_path):
        for bad in (3, None, [1, 2], 2.5):
            with pytest.raises(TypeError, match=f"str or bytes, not {type(bad).__name__}"):
                store.set("k", bad)
            with pytest.raises(TypeError, match="str or bytes"):
                store.multi_set(["k"], [bad])
        assert not store.check(["k"])
        for good in ("é", "é".encode(), bytearray("é".encode()), memoryview("é".encode())):
            store.set("k", good)
            assert store.get("k") == "é".encode()
        store.set("k", "")
        assert store.get("k") == b""


@pytest.mark.parametrize("kind", [dist.HashStore, dist.FileStore])
def test_a_key_that_goes_behind_a_look_was_found(kind, tmp_path):
    class Fleeting(kind):
        def _look(self):
            values = super()._look()
            if taken and "k" in values:
                taken.clear()
                self.delete_key("k")
            return values

    taken = []
    store = Fleeting(*([tmp_path / "f"] if kind is dist.FileStore else []))
    for call in (store.get, lambda key: store.multi_get([key])[0]):
        store.set("k", "v")
        taken.append(True)
        assert call("k") == b"v" and not taken and not store.check(["k"])


def test_a_killed_change_loses_nothing(tmp_path, monkeypatch):
    store = dist.FileStore(tmp_path / "f")
    store.set("a", "1")

    def killed(*names):
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setattr(os, "replace", killed)  # all is written by then, but not in its place
        with pytest.raises(KeyboardInterrupt):
            store.set("b", "2")
    assert store.list_keys() == ["a"] and store.get("a") == b"1"
    store.set("b", "3")
    assert dist.FileStore(tmp_path / "f").multi_get(["a", "b"]) == [b"1", b"3"]


def test_a_store_that_is_gone_is_not_met_again():
    first = dist.HashStore()
    before = first._meeting()
    assert before == first.clone()._meeting()
    del first
    assert all(dist.HashStore()._meeting() != before for _ in range(10))
