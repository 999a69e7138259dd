"""torch.profiler: operator calls, recorded by the library, as tables and as Chrome traces."""

import json
import os
import socket
import sys
import tempfile
import threading
import time
from enum import Enum

from . import _C

__all__ = [
    "ProfilerAction", "ProfilerActivity", "itt", "kineto_available", "profile", "record_function",
    "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(Enum):
    """Where work is done. Only that of the CPU's calls is recorded."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities():
    """{ProfilerActivity.CPU}."""
    return {ProfilerActivity.CPU}


def kineto_available():
    """False: the library records calls itself."""
    return False


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """What to do in step n: skip_first steps nothing, then again and again wait steps nothing,
    warmup steps to warm up, active steps to record; repeat times, 0: without an end."""
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError("Invalid profiler schedule arguments")

    def action(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        length = wait + warmup + active
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == length - 1 else ProfilerAction.RECORD

    return action


def _default_schedule_fn(_):
    return ProfilerAction.RECORD


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """on_trace_ready: writes each trace as a file of dir_name."""

    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        end = ".pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}{end}"))

    return handler


# --- what was recorded ----------------------------------------------------------------------------


class FunctionEvent:
    """A call, or all calls of a name: times in microseconds."""

    def __init__(self, name, start=0.0, total=0.0, own=0.0, count=1, thread=0, shapes="", at=""):
        self.name = self.key = name
        self.start, self.count, self.thread = start, count, thread
        self.cpu_time_total, self.self_cpu_time_total = total, own
        self.input_shapes, self.stack = shapes, [at] if at else []
        self.is_async, self.children = False, []

    device_time_total = self_device_time_total = cuda_time_total = self_cuda_time_total = 0
    device_time = cuda_time = 0

    @property
    def cpu_time(self):
        """The mean of a call."""
        return self.cpu_time_total / self.count

    def __repr__(self):
        return (
            f"<FunctionEvent name={self.name} cpu_time={self.cpu_time:.3f}us count={self.count}>"
        )


FunctionEventAvg = FunctionEvent
_SORTS = {"cpu_time": "cpu_time", "cpu_time_total": "cpu_time_total",
          "self_cpu_time_total": "self_cpu_time_total", "count": "count"}  # fmt: skip


class EventList(list):
    """Calls in the order in which they began."""

    def total_average(self):
        """All calls as one."""
        r = FunctionEvent("Total", count=0)
        for e in self:
            r.count += e.count
            r.cpu_time_total += e.self_cpu_time_total
            r.self_cpu_time_total += e.self_cpu_time_total
        r.count = r.count or 1
        return r

    @property
    def self_cpu_time_total(self):
        """Microseconds of all calls, those within others once."""
        return sum(e.self_cpu_time_total for e in self)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, **unused):
        """One entry a name; also a shape, a line, if asked."""
        found = {}
        for e in self:
            key = (e.name, e.input_shapes if group_by_input_shape else "",
                   str(e.stack) if group_by_stack_n else "")  # fmt: skip
            one = found.get(key)
            if one is None:
                one = found[key] = FunctionEvent(e.name, e.start, count=0, thread=e.thread)
                one.input_shapes, one.stack = key[1], e.stack if group_by_stack_n else []
            one.count += e.count
            one.cpu_time_total += e.cpu_time_total
            one.self_cpu_time_total += e.self_cpu_time_total
        return EventList(found.values())

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75,
              max_name_column_width=55, max_shapes_column_width=80, header=None,
              top_level_events_only=False, **unused):  # fmt: skip
        """A text: name, share and time of the calls alone and with those within them, count."""
        events = list(self)
        if sort_by is not None:
            key = _SORTS.get(sort_by.replace("cuda", "cpu").replace("device", "cpu"))
            if key is None:
                raise AttributeError(f"'FunctionEvent' object has no attribute {sort_by!r}")
            events.sort(key=lambda e: getattr(e, key), reverse=True)
        whole = self.self_cpu_time_total or 1.0
        width = min(max([len(e.key) for e in events] + [4]), max_name_column_width or 200)
        words = ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")
        rule = "  ".join(["-" * width] + ["-" * 12] * len(words))
        lines = [header] if header else []
        lines += [rule, f"{'Name':>{width}}  " + "  ".join(f"{w:>12}" for w in words), rule]
        for e in events[: None if row_limit < 0 else row_limit]:
            cells = (f"{100 * e.self_cpu_time_total / whole:.2f}%", _time(e.self_cpu_time_total),
                     f"{100 * e.cpu_time_total / whole:.2f}%", _time(e.cpu_time_total),
                     _time(e.cpu_time), str(e.count))  # fmt: skip
            lines.append(f"{e.key[:width]:>{width}}  " + "  ".join(f"{c:>12}" for c in cells))
        return "\n".join([*lines, rule, f"Self CPU time total: {_time(whole)}", ""])

    def __str__(self):
        return self.table()


def _time(us):
    if us >= 1e6:
        return f"{us / 1e6:.3f}s"
    return f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


def _events(trace):
    """The calls of a trace, each with the time that no call within it took."""
    made, open_calls = EventList(), {}
    rows = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
    for row in sorted(rows, key=lambda e: (e["ts"], -e["dur"])):
        args = row.get("args", {})
        e = FunctionEvent(row["name"], row["ts"], row["dur"], row["dur"], 1, row["tid"],
                          args.get("call", ""), args.get("at", ""))  # fmt: skip
        above = open_calls.setdefault(row["tid"], [])
        while above and above[-1].start + above[-1].cpu_time_total <= e.start:
            above.pop()
        if above:
            above[-1].self_cpu_time_total = max(0.0, above[-1].self_cpu_time_total - row["dur"])
            above[-1].children.append(e)
        above.append(e)
        made.append(e)
    return made


# --- recording ------------------------------------------------------------------------------------

_running = []  # the profile that records now: one in a process


class record_function:
    """Names a block, or the calls of a function that it decorates, in the profile."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args

    def __enter__(self):
        self.begin = time.perf_counter()
        return self

    def __exit__(self, *exc):
        if _running:
            _running[0]._block(self.name, self.begin, time.perf_counter())

    def __call__(self, f):
        import functools

        @functools.wraps(f)
        def named(*args, **kwargs):
            with record_function(self.name, self.args):
                return f(*args, **kwargs)

        return named


class _Recorder:
    """One stretch that is recorded: begin, end, and what there was."""

    def __init__(self):
        self.trace, self._blocks, self._events = None, [], None

    def begin(self):
        if _running:
            raise RuntimeError("a profile is being recorded already")
        _C._profile_begin()
        self._main = threading.get_ident()  # the thread whose calls are recorded
        self._from = time.perf_counter()
        _running.append(self)

    def _block(self, name, begin, end):
        self._blocks.append((name, begin, end, _thread()))

    def end(self):
        _running.clear()
        fd, path = tempfile.mkstemp(suffix=".json")
        os.close(fd)
        try:
            _C._profile_end(path)
            with open(path, encoding="utf-8") as f:
                self.trace = json.load(f)
        finally:
            os.unlink(path)
        if isinstance(self.trace, list):
            self.trace = {"traceEvents": self.trace}
        numbers = [e["tid"] for e in self.trace["traceEvents"] if e.get("ph") == "X"]
        for name, begin, end, thread in self._blocks:
            self.trace["traceEvents"].append({
                "name": name, "cat": "user_annotation", "ph": "X", "ts": (begin - self._from) * 1e6,
                "dur": (end - begin) * 1e6, "pid": os.getpid(),
                "tid": numbers[0] if numbers and thread == self._main else thread, "args": {},
            })  # fmt: skip

    def events(self):
        if self.trace is None:
            raise AssertionError("Profiler must be initialized before getting events")
        if self._events is None:
            self._events = _events(self.trace)
        return self._events


def _thread():
    return threading.get_ident()


class profile:
    """Records the calls of a block, or of the steps that schedule says.

    on_trace_ready(self) is called behind each stretch. The options of torch that are not named here
    are accepted: shapes and lines of calls are always recorded, memory and flops never."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False,
                 profile_memory=False, with_stack=False, with_flops=False, with_modules=False,
                 experimental_config=None, execution_trace_observer=None, acc_events=False,
                 use_cuda=None, custom_trace_id_callback=None, **unused):  # fmt: skip
        self.activities = set(activities) if activities else supported_activities()
        self.schedule = schedule or _default_schedule_fn
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.with_stack, self.profile_memory = (
            record_shapes, with_stack, profile_memory)  # fmt: skip
        self.step_num, self.metadata = 0, {}
        self.current_action = self.schedule(0)
        self.profiler = None
        self._recording = None
        self._step = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()

    def start(self):
        """Begins."""
        self._to(self.current_action)
        self._begin_step()

    def stop(self):
        """Ends; what was recorded is ready."""
        self._end_step()
        if self._recording is not None:
            self._save()

    def step(self):
        """The next step begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE and self._recording is not None:
            self._save()
        self._to(self.current_action)
        self._begin_step()

    def _begin_step(self):
        if self.record_steps and self._recording is not None:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self):
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _to(self, action):
        recording = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if recording and self._recording is None:
            self._recording = _Recorder()
            self._recording.begin()
        elif not recording and self._recording is not None:
            self._save()

    def _save(self):
        self._recording.end()
        self.profiler, self._recording = self._recording, None
        if self.on_trace_ready:
            self.on_trace_ready(self)

    def events(self):
        """The calls of the last stretch."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before getting events")
        return self.profiler.events()

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, **unused):
        """The same, one entry a name."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def add_metadata(self, key, value):
        """A text in the trace."""
        self.metadata[key] = value

    add_metadata_json = add_metadata

    def export_chrome_trace(self, path):
        """Writes the last stretch for chrome://tracing or Perfetto; packed if path ends in .gz."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before exporting chrome trace")
        import gzip

        opened = gzip.open if os.fspath(path).endswith(".gz") else open
        with opened(path, "wt", encoding="utf-8") as f:
            json.dump(self.profiler.trace | self.metadata, f)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Writes a line "file:line;name microseconds" for each place of a call."""
        found = {}
        for e in self.events():
            key = ";".join([*e.stack, e.name])
            found[key] = found.get(key, 0) + int(getattr(e, metric))
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(f"{key} {time}\n" for key, time in found.items())

    def toggle_collection_dynamic(self, enable, activities):
        """Refused: a profile records all calls from its begin to its end."""
        raise NotImplementedError("a profile records all calls from its begin to its end")


_KinetoProfile = profile


class itt:
    """Marks for Intel's tools, which are not asked."""

    @staticmethod
    def is_available():
        """False."""
        return False


profiler = sys.modules[__name__]  # torch.profiler.profiler is a file of torch
sys.modules[__name__ + ".profiler"] = profiler


def __getattr__(name):
    from ._missing import error

    raise error("torch.profiler", name)
