"""Trainings (killed.py) that are killed at random moments: those that go on end with the same bits,
and nothing of them is left. TN_FULL=1: 20 kills each, else 5."""

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

import tensorh as torch
from tensorh import multiprocessing as mp

PROGRAM = Path(__file__).with_name("killed.py")
KILLS, STEPS = (20 if os.environ.get("TN_FULL") else 5), 40
PROC = Path("/proc")
pytestmark = pytest.mark.skipif(
    not (PROC / "self" / "environ").exists(), reason="/proc does not tell of processes"
)


def marked(mark):
    """The processes that descend from those with this mark in their environment."""
    found = []
    for p in PROC.iterdir():
        try:
            if p.name.isdigit() and mark in (p / "environ").read_bytes():
                found.append(int(p.name))
        except OSError:  # it has ended, or is another user's
            pass
    return found


def left(look, limit=60):
    """What look() still finds after a while."""
    end = time.monotonic() + limit
    while (found := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def end_all(mark, process):
    """What a failing test leaves."""
    process.kill()
    process.wait()
    process.stdout.close()
    for pid in marked(mark):
        os.kill(pid, signal.SIGKILL)


SHARED = Path("/dev/shm")


def shared():
    """Names of shared memory and semaphores that no living process has mapped."""
    if not SHARED.is_dir():
        return set()
    names = {p.name for p in SHARED.iterdir()}
    for p in PROC.iterdir() if names else ():
        try:
            maps = (p / "maps").read_text() if p.name.isdigit() else ""
        except OSError:
            continue
        names = {n for n in names if f"/dev/shm/{n}" not in maps}
    return {n for n in names if n.startswith(("tensorh", "torch", "sem.mp-", "psm_", "mp-"))}


def flat(path):
    """All of a file of torch.save as bytes and numbers."""

    def walk(o):
        if isinstance(o, torch.Tensor):
            yield str(o.dtype), tuple(o.shape), bytes(memoryview(o.reshape(-1).numpy()))
        elif isinstance(o, dict):
            for k, v in o.items():
                yield k
                yield from walk(v)
        else:
            yield o

    return list(walk(torch.load(path)))


class Runs:
    """Runs of the program in a folder, marked."""

    def __init__(self, folder, kind):
        self.folder, self.kind, self.mark = folder, kind, uuid.uuid4().hex.encode()
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)

    def start(self):
        env = {**os.environ, "TENSORH_TEST_MARK": self.mark.decode(), "TMPDIR": str(self.temporary)}
        return subprocess.Popen(
            [sys.executable, PROGRAM, self.folder, self.kind, str(STEPS)],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def end(self, process):
        said, _ = process.communicate(timeout=120)
        assert process.returncode == 0, said.decode()
        return flat(self.folder / "end")

    def clean(self):
        (self.folder / "now.pt").unlink(missing_ok=True)
        (self.folder / "end").unlink(missing_ok=True)


@pytest.mark.parametrize("kind", ["loader", "sets", "processes"])
def test_a_killed_training_goes_on(tmp_path, kind):
    before = shared()
    whole = Runs(tmp_path / "whole", kind)
    begin = time.monotonic()
    expected = whole.end(whole.start())
    took = time.monotonic() - begin
    runs, kills, moment = Runs(tmp_path / "broken", kind), 0, random.Random()
    for _ in range(50 * KILLS):
        process = runs.start()
        try:
            process.wait(moment.uniform(0, took))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        try:
            assert left(lambda: marked(runs.mark)) == []
        finally:
            end_all(runs.mark, process)
        if (runs.folder / "end").exists():  # one that came to its end: from the beginning again
            assert flat(runs.folder / "end") == expected
            runs.clean()
        elif kills >= KILLS:
            break
    assert kills >= KILLS
    assert runs.end(runs.start()) == expected
    assert left(lambda: marked(runs.mark) + marked(whole.mark)) == []
    assert left(lambda: shared() - before) == set()
    # a save that was killed may leave what it had written beside the file
    files = {p.name for p in runs.folder.iterdir()} - {"tmp", "now.pt", "end"}
    assert all(name.startswith(".tmp") for name in files) and len(files) <= kills
    # Python's own, of queues
    assert all(p.name.startswith("pymp-") for p in runs.temporary.iterdir())


CHILDREN = """
import os, signal, sys, time
from tensorh import multiprocessing as mp

def say(text):
    os.write(1, text.encode() + b"\\n")  # print may write a line in pieces, between another's

def wait(rank):
    say(f"child {os.getpid()}")
    time.sleep(600)

def wait_through_interrupts(rank):
    if rank:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    wait(rank)

def clean(rank):
    try:
        wait(rank)
    finally:
        say("cleaned")

def fail(rank):
    parent = os.getppid()
    say(f"child {os.getpid()}")
    while os.getppid() == parent:
        time.sleep(0.001)
    raise ValueError("without a parent")

if __name__ == "__main__":
    method, what = sys.argv[1:]
    context = mp.start_processes(globals()[what], nprocs=2, join=False, start_method=method)
    time.sleep(600)
"""


class Starter:
    """A program that starts two processes and waits; interrupts: whether SIGINT is not ignored."""

    def __init__(self, folder, method, what, interrupts):
        (folder / "tmp").mkdir()
        (folder / "program.py").write_text(CHILDREN)
        self.mark, self.temporary = uuid.uuid4().hex.encode(), folder / "tmp"
        env = {**os.environ, "TENSORH_TEST_MARK": self.mark.decode()}
        handler = signal.SIG_DFL if interrupts else signal.SIG_IGN
        self.process = subprocess.Popen(
            [sys.executable, folder / "program.py", method, what], stdout=subprocess.PIPE,
            env={**env, "TMPDIR": str(self.temporary)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
        )  # fmt: skip

    def __enter__(self):
        said = [self.process.stdout.readline().split() for _ in range(2)]
        assert [s[0] for s in said] == [b"child"] * 2
        self.children = [int(s[1]) for s in said]
        return self

    def __exit__(self, *error):
        end_all(self.mark, self.process)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL

    def left(self, limit):
        """The processes that are there after so many seconds."""
        return left(lambda: marked(self.mark), limit)


# A program in the background of a shell that has no job control ignores SIGINT.
@pytest.mark.parametrize("interrupts", [True, False])
@pytest.mark.parametrize("method", mp.get_all_start_methods())
def test_processes_end_with_the_one_that_started_them(tmp_path, method, interrupts):
    with Starter(tmp_path, method, "clean", interrupts) as starter:
        starter.kill()
        assert starter.left(20) == []  # 30 s would be the end of those that do not listen
        assert starter.process.stdout.read() == b"cleaned\n" * 2
    assert all(p.name.startswith("pymp-") for p in starter.temporary.iterdir())


forks = pytest.mark.skipif("fork" not in mp.get_all_start_methods(), reason="there is no fork")


@forks
def test_a_process_does_not_wait_for_those_that_were_forked_later(tmp_path):
    with Starter(tmp_path, "fork", "wait_through_interrupts", True) as starter:
        starter.kill()
        assert len(left(lambda: marked(starter.mark)[1:], 20)) == 0
        assert len(marked(starter.mark)) == 1  # the one that ignores the interrupt


@forks
def test_an_ignored_interrupt_stays_so_while_the_parent_lives(tmp_path):
    with Starter(tmp_path, "fork", "wait", False) as starter:
        for pid in starter.children:
            os.kill(pid, signal.SIGINT)
        time.sleep(0.3)
        assert len(marked(starter.mark)) == 3
        starter.kill()
        assert starter.left(20) == []


@forks
def test_a_failure_without_a_parent_leaves_no_file(tmp_path):
    with Starter(tmp_path, "fork", "fail", True) as starter:
        starter.kill()
        assert starter.left(20) == []
    assert list(starter.temporary.iterdir()) == []
