"""worker.py PACKAGE FILE OUT SECONDS [REGEX]: runs the tests of a file, many to a forked child.

A child that dies or hangs costs the test that it was at; another child goes on behind it. OUT gets
a line of JSON for each test: id, outcome, message, seconds."""

import functools
import itertools
import json
import os
import re
import resource
import select
import signal
import sys
import time
import traceback
import types
import unittest
import warnings

import stage

CHUNK = 40


class Outcome(unittest.TestResult):
    """The outcome of one test."""

    what, why = "pass", ""

    def note(self, what, why):
        if self.what in ("pass", "skip") or what in ("fail", "error"):
            self.what, self.why = what, why

    def addError(self, test, err):
        self.note("fail", text(err))

    def addFailure(self, test, err):
        self.note("fail", text(err))

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.note("fail", text(err))

    def addSkip(self, test, reason):
        self.note("skip", str(reason))

    def addExpectedFailure(self, test, err):
        self.note("xfail", "")

    def addUnexpectedSuccess(self, test):
        self.note("xpass", "unexpected success")


def text(err):
    kind, value, trace = err
    lines = [f.lineno for f in traceback.extract_tb(trace)
             if os.path.basename(f.filename).startswith("test_")]  # fmt: skip
    line = f" [line {lines[-1]}]" if lines else ""
    return f"{kind.__name__}: {value}"[:600] + line


def functions_of(module):
    """pytest's tests: functions of a file, with each set of values that they are marked with."""
    class Functions(unittest.TestCase):
        pass

    for name, f in list(vars(module).items()):
        if not name.startswith("test_") or not isinstance(f, types.FunctionType):
            continue
        marks = [m for m in getattr(f, "pytestmark", ()) if m.name == "parametrize"]
        for k, values in enumerate(itertools.product(*(m.args[1] for m in marks))):
            given = {}
            for mark, value in zip(marks, values, strict=True):
                names = [n.strip() for n in mark.args[0].split(",")]
                given.update(zip(names, value if len(names) > 1 else [value], strict=True))
            method = functools.partial(f, **given)
            setattr(Functions, f"{name}__{k}", lambda self, method=method: method())
    return Functions


def tests_of(module):
    loader = unittest.TestLoader()
    module.Functions = functions_of(module)
    found = {}
    for name in sorted(vars(module)):
        cls = getattr(module, name)
        if isinstance(cls, type) and issubclass(cls, unittest.TestCase):
            for method in loader.getTestCaseNames(cls):
                found[f"{name}.{method}"] = (cls, method)
    return found


def child(tests, names, pipe):
    """Runs the tests one after another, and tells of each before and after."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    for name in names:
        os.write(pipe, (json.dumps(["at", name]) + "\n").encode())
        cls, method = tests[name]
        outcome, begin = Outcome(), time.time()
        try:
            unittest.TestSuite([cls(method)]).run(outcome)
        except BaseException as e:
            outcome.note("fail", text((type(e), e, e.__traceback__)))
        line = ["did", name, outcome.what, outcome.why, round(time.time() - begin, 2)]
        os.write(pipe, (json.dumps(line) + "\n").encode())
    os._exit(0)


def heard(read, seconds):
    """What the child says, a line at a time, and None at its end; it stops where the child says
    nothing for so many seconds."""
    begun, buffer = time.time(), b""
    while select.select([read], [], [], max(seconds - (time.time() - begun), 0))[0]:
        data = os.read(read, 65536)
        if not data:
            yield None
            return
        *lines, buffer = (buffer + data).split(b"\n")
        for line in lines:
            begun = time.time()
            yield json.loads(line)


def kill(pid):
    """Ends the child and what it started."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(pid, signal.SIGKILL)


def chunk(tests, names, seconds, record):
    """Runs the names in a child; returns those that it did not reach."""
    sys.stdout.flush()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.close(read)
        child(tests, names, write)
    os.close(write)
    rest, at, over = list(names), None, True
    for told in heard(read, seconds):
        if told is None:  # the child has ended
            over = False
        elif told[0] == "at":
            at = told[1]
        else:
            record(told[1:])
            rest.remove(told[1])
            at = None
    if over:
        kill(pid)
    os.close(read)
    status = os.waitpid(pid, 0)[1]
    if at is not None:
        sig = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        ended = signal.Signals(sig).name if sig else status
        why = f"hang: over {seconds} s" if over else f"crash: {ended}"
        record([at, "crash" if not over else "hang", why, seconds if over else 0])
        rest.remove(at)
    return rest


def main(package, path, out, seconds, pattern=""):
    warnings.simplefilter("default")
    resource.setrlimit(resource.RLIMIT_AS, (24 << 30,) * 2)
    stage.prepare(package)
    try:
        module = stage.load(path)
    except BaseException:
        with open(out, "w") as f:
            f.write(json.dumps(["", "load", traceback.format_exc()[-2000:], 0]) + "\n")
        raise
    stage.running = True
    tests = tests_of(module)
    names = [n for n in tests if re.search(pattern, n)]
    with open(out, "w") as f:

        def record(line):
            f.write(json.dumps(line) + "\n")
            f.flush()

        while names:
            head, names = names[:CHUNK], names[CHUNK:]
            while head:
                head = chunk(tests, head, float(seconds), record)


if __name__ == "__main__":
    main(*sys.argv[1:])
