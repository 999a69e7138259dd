"""torch.profiler: what is recorded, when, and as what it is written."""

import gzip
import json

import pytest

import tensorh as torch
from tensorh.profiler import ProfilerAction, profile, record_function, schedule


def work():
    x = torch.ones(64, 64, requires_grad=True)
    (x @ x).relu().sum().backward()


def test_calls_are_counted(tmp_path):
    with profile(record_shapes=True) as p:
        with record_function("outer"):
            work()
            work()
    found = {e.key: e for e in p.key_averages()}
    assert found["relu"].count == 2 and found["outer"].count == 1
    assert found["outer"].cpu_time_total >= found["matmul"].cpu_time_total > 0
    assert found["outer"].self_cpu_time_total <= found["outer"].cpu_time_total
    relu = next(e for e in p.events() if e.name == "relu")
    assert "float32 (64, 64)" in relu.input_shapes and "test_profiler.py:" in relu.stack[0]
    table = p.key_averages().table(sort_by="self_cpu_time_total", row_limit=3)
    assert "Self CPU %" in table and len(table.splitlines()) == 8
    p.export_chrome_trace(str(tmp_path / "t.json.gz"))
    with gzip.open(tmp_path / "t.json.gz", "rt") as f:
        rows = json.load(f)["traceEvents"]
    assert {"relu", "outer"} <= {r["name"] for r in rows} and all(r["ph"] == "X" for r in rows)
    p.export_stacks(str(tmp_path / "stacks"))
    assert "relu" in (tmp_path / "stacks").read_text()


def test_schedules(tmp_path):
    plan, do = schedule(wait=1, warmup=1, active=2, repeat=1), ProfilerAction
    assert [plan(i) for i in range(6)] == [
        do.NONE, do.WARMUP, do.RECORD, do.RECORD_AND_SAVE, do.NONE, do.NONE,
    ]  # fmt: skip
    saved = []
    ready = torch.profiler.tensorboard_trace_handler(str(tmp_path))

    def on_ready(p):
        saved.append({e.name for e in p.events()})
        ready(p)

    with profile(schedule=plan, on_trace_ready=on_ready) as p:
        for name in ("sin", "cos", "tan", "exp", "log", "sqrt"):
            getattr(torch.ones(3), name)()
            p.step()
    assert len(saved) == 1 and {"tan", "exp", "ProfilerStep#2", "ProfilerStep#3"} <= saved[0]
    assert not saved[0] & {"sin", "cos", "log", "sqrt"}
    assert len(list(tmp_path.glob("*.pt.trace.json"))) == 1


def test_the_older_interface():
    from tensorh.autograd import profiler

    with profiler.profile() as p:
        work()
    assert p.self_cpu_time_total > 0 and "matmul" in p.table() and len(p.function_events) > 3
    with profiler.profile(enabled=False):
        work()


def test_errors():
    with profile():
        with pytest.raises(RuntimeError, match="already"):
            profile().start()
    with pytest.raises(AssertionError):
        profile().events()

    @record_function("named")
    def f():
        return 3

    assert f() == 3
