"""torch.distributed: lists of tensors, objects, groups of groups, between threads; the same program
runs in processes of torch by gloo, where it is installed."""

import datetime
import json
import os
import subprocess
import sys

import pytest
from test_distributed import spawn

import tensorh as torch
import tensorh.distributed as dist
from tensorh import nn

# What each rank runs; `seen` are its answers.
PROGRAM = """
def program(torch, dist, rank, size):
    seen = []
    x = torch.tensor([rank, 10 * rank])
    to = [torch.zeros_like(x) for _ in range(size)] if rank == 1 else None
    dist.gather(x, to, dst=1)
    seen.append(to and [t.tolist() for t in to])
    given = [torch.tensor([r + 0.5]) for r in range(size)] if rank == 0 else None
    y = torch.zeros(1)
    assert dist.scatter(y, given) is None
    work = dist.scatter(z := torch.zeros(1), given, src=0, async_op=True)
    seen += [y.item(), z.item() if work.wait() is not False else None]
    part = torch.zeros(2)
    dist.reduce_scatter(part, [torch.full((2,), float(rank + r)) for r in range(size)])
    seen.append(part.tolist())
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank, "text": "x" * rank, "t": torch.ones(rank)})
    seen.append([(o["rank"], o["text"], o["t"].tolist()) for o in objects])
    gathered = [None] * size if rank == 2 else None
    dist.gather_object((rank, "a"), gathered, dst=2)
    seen.append(gathered and [list(o) for o in gathered])
    some = [1, "b", {"c": [2]}] if rank == 1 else [None] * 3
    dist.broadcast_object_list(some, src=1)
    seen.append(some)
    out = [None, "stays"]
    dist.scatter_object_list(out, [f"to {r}" for r in range(size)] if rank == 0 else None, src=0)
    seen.append(out)
    if rank == 0:
        dist.send_object_list(["s", 3], dst=2)
    if rank == 2:
        got = [None, None]
        seen += [dist.recv_object_list(got, src=0), got]
    own, every = dist.new_subgroups_by_enumeration([[0, 2], [1]])
    total = torch.tensor([rank + 1])
    dist.all_reduce(total, group=own)
    seen += [total.item(), len(every), dist.get_world_size(own)]
    everyone, all_of_them = dist.new_subgroups(size)
    dist.all_reduce(total, group=everyone)
    seen += [total.item(), len(all_of_them)]
    dist.monitored_barrier()
    both = [torch.ones(2) * rank, torch.ones(1)]
    for name, arguments in (
        ("new_subgroups", (2,)), ("new_subgroups", (0,)), ("new_subgroups", (9,)),
        ("new_subgroups_by_enumeration", ([],)), ("new_subgroups_by_enumeration", ([[0], [0]],)),
        ("scatter_object_list", ([], None)),
    ):
        try:
            getattr(dist, name)(*arguments)
        except ValueError as e:
            seen.append(str(e))
    seen.append([dist.supports_complex(op) for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX)])
    return seen
"""
MAIN = """
import datetime, json, os, sys
import torch, torch.distributed as dist
from torch import multiprocessing
def main(rank, size, store, folder):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size,
                            timeout=datetime.timedelta(seconds=60))
    with open(os.path.join(folder, str(rank)), "w") as f:
        json.dump(program(torch, dist, rank, size), f)
    dist.destroy_process_group()
if __name__ == "__main__":
    folder = sys.argv[1]
    multiprocessing.spawn(main, (3, os.path.join(folder, "store"), folder), nprocs=3)
"""


def run(rank):
    space = {}
    exec(PROGRAM, space)
    return space["program"](torch, dist, rank, 3)


def test_each_call_gives_what_torch_documents():
    seen = spawn(3, run)
    assert [s[0] for s in seen] == [None, [[0, 0], [1, 10], [2, 20]], None]
    assert [s[1:3] for s in seen] == [[0.5, 0.5], [1.5, 1.5], [2.5, 2.5]]
    assert [s[3] for s in seen] == [[3, 3], [6, 6], [9, 9]]
    assert seen[0][4] == seen[2][4] == [(0, "", []), (1, "x", [1]), (2, "xx", [1, 1])]
    assert [s[5] for s in seen] == [None, None, [[0, "a"], [1, "a"], [2, "a"]]]
    assert [s[6] for s in seen] == [[1, "b", {"c": [2]}]] * 3
    assert [s[7] for s in seen] == [[f"to {r}", "stays"] for r in range(3)]
    assert seen[2][8:10] == [0, ["s", 3]] and seen[2][10] == 4 == seen[0][8] and seen[1][8] == 2


def test_each_call_gives_what_torch_gives(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "main.py").write_text(PROGRAM + MAIN)
    command = [sys.executable, str(tmp_path / "main.py"), str(tmp_path)]
    usual = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=usual, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    real = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(3)]
    assert json.loads(json.dumps(spawn(3, run))) == real


def test_all_to_all_of_unequal_parts():
    """Rank r sends r + s + 1 elements to rank s."""

    def body(rank):
        there = [torch.full((rank + s + 1,), 10.0 * rank + s) for s in range(3)]
        here = [torch.zeros(s + rank + 1) for s in range(3)]
        dist.all_to_all(here, there)
        assert [y.tolist() for y in here] == [[10.0 * s + rank] * (s + rank + 1) for s in range(3)]
        wrong = [torch.zeros(1 + (rank == s == 2)) for s in range(3)]
        with pytest.raises(ValueError, match="another number of elements"):
            dist.all_to_all(wrong, [torch.zeros(1)] * 3)
        assert dist.all_to_all(here, there, async_op=True).wait()

    spawn(3, body)


def test_tensors_one_after_the_other():
    def body(rank):
        every = torch.zeros(6, dtype=torch.int32) if rank == 0 else None
        dist.gather_into_tensor(torch.tensor([rank, -rank], dtype=torch.int32), every)
        assert rank or every.tolist() == [0, 0, 1, -1, 2, -2]
        both = [torch.tensor([1.0 * rank]), torch.tensor([2.0 * rank])]
        dist.all_reduce_coalesced(both)
        assert [t.item() for t in both] == [3, 6]
        to = [[torch.zeros(1) for _ in range(3)] for _ in range(2)]
        dist.all_gather_coalesced(to, [torch.tensor([1.0 * rank]), torch.tensor([5.0])])
        assert [[t.item() for t in one] for one in to] == [[0, 1, 2], [5, 5, 5]]
        with pytest.raises(ValueError, match="rank dst, and no other"):
            dist.gather_into_tensor(torch.ones(1), torch.zeros(3) if rank else None)

    spawn(3, body)


@pytest.mark.parametrize("weights_only", (False, True))
def test_objects_are_copies(weights_only):
    def body(rank):
        mine = {"w": torch.full((2,), float(rank)), "n": rank}
        found = [None, None]
        dist.all_gather_object(found, mine, weights_only=weights_only)
        assert [o["n"] for o in found] == [0, 1] and found[1]["w"].tolist() == [1, 1]
        assert found[rank] is not mine and found[rank]["w"].data_ptr() != mine["w"].data_ptr()
        kept = [mine] if rank == 0 else [None]
        dist.broadcast_object_list(kept, weights_only=weights_only)
        assert kept[0]["n"] == 0 and (kept[0] is mine) == (rank == 0)
        return found

    spawn(2, body)


def test_weights_only_refuses_what_is_no_data():
    def body(rank):
        with pytest.raises(Exception, match="Linear"):
            dist.all_gather_object([None, None], nn.Linear(1, 1), weights_only=True)

    spawn(2, body)


def test_wrong_lists_are_told():
    def body(rank):
        x = torch.ones(1)
        with pytest.raises(ValueError, match="gather_list.*must (NOT )?be specified"):
            dist.gather(x, None if rank == 0 else [x, x])
        with pytest.raises(ValueError, match="expected 2 tensors"):
            dist.reduce_scatter(x, [x])
        with pytest.raises(RuntimeError, match="gives 2 objects, the list has 1|gives 2"):
            dist.broadcast_object_list([1, 2] if rank == 0 else [None])
            assert rank == 0
            raise RuntimeError("gives 2")
        dist.barrier()

    spawn(2, body)


def test_a_group_that_a_rank_is_not_in_changes_nothing():
    def body(rank):
        group = dist.new_group([1])
        x, objects = torch.full((1,), 5.0), [7]
        for call in (
            lambda: dist.gather(x, [torch.zeros(1)] if rank else None, dst=1, group=group),
            lambda: dist.scatter(x, [x.clone()] if rank else None, src=1, group=group),
            lambda: dist.reduce_scatter(x, [x.clone()], group=group),
            lambda: dist.all_to_all([x], [x.clone()], group=group),
            lambda: dist.all_gather_object(objects, 7, group=group),
            lambda: dist.broadcast_object_list(objects, src=1, group=group),
            lambda: dist.monitored_barrier(group),
        ):
            assert call() is None
        return x.item(), objects

    assert spawn(2, body) == [(5, [7])] * 2


def test_a_barrier_names_who_does_not_come():
    def body(rank):
        if rank == 0:
            with pytest.raises(RuntimeError, match="rank 1"):
                dist.monitored_barrier(timeout=datetime.timedelta(seconds=0.2))

    spawn(2, body)


def test_questions_of_a_program(monkeypatch):
    assert dist.get_debug_level() == dist.DebugLevel.OFF
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert dist.get_node_local_rank() == 3
    monkeypatch.delenv("LOCAL_RANK")
    assert dist.get_node_local_rank(fallback_rank=1) == 1
    with pytest.raises(RuntimeError, match="LOCAL_RANK is not in the environment"):
        dist.get_node_local_rank()
    assert issubclass(dist.DistNetworkError, dist.DistError) and "gather" in dir(dist)
    with pytest.raises(AttributeError, match="torch.distributed"):
        dist.TCPStore  # noqa: B018
