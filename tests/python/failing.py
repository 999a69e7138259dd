"""Without memory: every allocation of a call fails once, then for good; first the library's and
the shim's, then Python's. test_memory.py runs this where TENSORH_TEST_ALLOCATOR=1 gives us the
library's.

Each failure has to be a MemoryError that leaves nothing behind, and the call made again has to give
what it gave before. Prints "N calls, N allocations failed", and the same for Python's. Names of
calls as arguments: those alone.
"""

import gc
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import failing_calls  # noqa: E402
import rows  # noqa: E402

import tensorh as th  # noqa: E402

C = th._C
FULL = bool(os.environ.get("TN_FULL"))
def calls():
    """(name, function, its arguments anew)"""
    for row in rows.rows():
        yield row.name, row.function, lambda row=row: rows.arguments(row, row.samples[0])
    for name, call in failing_calls.CALLS:
        yield name, call, dict


def of_c():
    """The same of those that run no Python code; the name of what is no row ends with "()"."""
    for name, call, make in calls():
        if name not in dict(failing_calls.CALLS):
            yield name, call, make
        elif name in failing_calls.OF_C:
            yield name + "()", call, make
    for name, call, make in failing_calls.METHODS:
        yield name + "()", call, make


def state():
    """What is in use, nothing being underway."""
    gc.collect()
    return C._memory()[:2]


def bits(call, given):
    th.manual_seed(7)
    return rows.bits(call(**given))


def step(k):
    """Which allocation fails next: the first 300 of a call, then each seventh; all with TN_FULL."""
    return k + 1 if k < 300 or FULL else k + 7


def library(name, call, make):
    """Fails each allocation of the library and the shim, until there is none; how many."""
    failed = 0
    bits(call, make())
    expected = bits(call, make())
    defined = not name.startswith(("empty", "new_empty"))
    for once in (False, True):
        k, left = 0, 0
        while left <= 0:  # until the call needs no more than k allocations
            before = state()
            th.manual_seed(7)
            given = make()
            C._fail_after(k, once)
            try:
                call(**given)
            except MemoryError:
                failed += 1
            finally:
                left = C._fail_after(-1)
            assert C._pending() is None, (name, k)
            del given
            assert bits(call, make()) == expected or not defined, (name, k, once)
            assert state() == before, (name, k, once, before, state())
            k = step(k)
    return failed


REFUSALS = (TypeError, IndexError, RuntimeError, OSError)


def fails(call, args, kwargs, k, hooks):
    """Whether Python's allocation k was one of the call, which was a MemoryError then; other
    refusals are its answer."""
    try:
        try:
            hooks.set_nomemory(k, k + 1)
            call(*args, **kwargs)
        except REFUSALS:
            pass
        hooks.remove_mem_hooks()
    except MemoryError:  # of the call, or of the handler here
        hooks.remove_mem_hooks()
        return True
    except BaseException:
        hooks.remove_mem_hooks()
        raise
    return False


def python(name, call, make, hooks):
    """Fails each allocation of Python's, one at a time, until 16 calls go well; how many."""
    failed = well = k = 0
    given = make()
    place = [v for n, v in given.items() if n not in failing_calls.KEYWORDS]
    named = {n: v for n, v in given.items() if n in failing_calls.KEYWORDS}
    if not name.endswith(")"):  # a row: by keyword
        place, named = (), given
    for _ in range(3):
        fails(call, place, named, 10**9, hooks)
    while well < 16:
        k = step(k)
        before = state()
        try:
            bad = fails(call, place, named, k, hooks)
        except BaseException:
            print(f"{name}: allocation {k} of Python's", file=sys.stderr)
            raise
        failed += bad
        well = 0 if bad else well + 1
        assert C._pending() is None, (name, k)
        assert state() == before, (name, k, before, state())
    return failed


def main():
    gc.collect()
    gc.freeze()  # what the interpreter has is not looked at again and again
    chosen = [one for one in calls() if not sys.argv[1:] or one[0] in sys.argv[1:]]
    failed = [library(*one) for one in chosen]
    print(f"{len(failed)} calls, {sum(failed)} allocations of the library failed")
    try:
        import _testcapi
    except ImportError:
        print("no _testcapi: Python's own allocations are not made to fail")
        return
    chosen = [one for one in of_c() if not sys.argv[1:] or one[0] in sys.argv[1:]]
    failed = [python(*one, _testcapi) for one in chosen]
    print(f"{len(failed)} calls, {sum(failed)} allocations of Python failed")


if __name__ == "__main__":
    main()
