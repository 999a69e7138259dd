"""Without memory: every allocation of a call fails once, then for good; first the library's, then
Python's. test_memory.py runs this where TENSORH_TEST_ALLOCATOR=1 gives us the library's.

Each failure has to be a MemoryError that leaves nothing behind, and the call made again has to give
what it gave before. Prints "N calls, N allocations failed", and the same for Python's.
"""

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import rows  # noqa: E402

import tensorh as th  # noqa: E402

C = th._C
X = th.ones(3, 4)


def attribute():
    """A wrapper that is part of a cycle."""
    x = X.clone()
    x.me = [x]
    return x[1]


CALLS = [
    ("attribute", attribute),
    ("attributes", lambda: (X.shape, X.device, X.dtype, X.stride())),
    ("index", lambda: X[1, 1:3]),
    ("index by lists", lambda: X[[0, 2], [1, 1]]),
    ("assign", lambda: X.__setitem__(0, 2.0)),
    ("assign a list", lambda: X.__setitem__(0, [1.0, 2.0, 3.0, 4.0])),
    ("iterate", lambda: list(X)),
    ("tensor", lambda: th.tensor([[1.0, 2.0], [3.0, 4.0]])),
    ("tolist", lambda: X.tolist()),
    ("buffer", lambda: memoryview(X).tolist()),
    ("repr", lambda: repr(X)),
    ("arithmetic", lambda: 2 * X + X / 3 - X**2),
    ("generator", lambda: th.Generator().get_state()),
    # training, modules and what else is no row: a line each
]


def calls():
    """(name, function, its arguments anew)"""
    for row in rows.rows():
        yield row.name, row.function, lambda row=row: rows.arguments(row, row.samples[0])
    for name, call in CALLS:
        yield name, call, dict


def state():
    """What is in use, nothing being underway."""
    gc.collect()
    return C._memory()[:2]


def bits(call, given):
    th.manual_seed(7)
    return rows.bits(call(**given))


def library(name, call, make):
    """Fails each allocation of the library; how many."""
    failed = 0
    bits(call, make())
    before = C._memory()[2]
    expected = bits(call, given := make())
    n = C._memory()[2] - before  # those of the arguments, too
    defined = not name.startswith(("empty", "new_empty"))
    del given
    for once in (False, True):
        for k in range(n):
            before = state()
            given = make()
            C._fail_after(k, once)
            try:
                call(**given)
            except MemoryError:
                failed += 1
            finally:
                C._fail_after(-1)
            assert C._pending() is None, (name, k)
            del given
            assert bits(call, make()) == expected or not defined, (name, k, once)
            assert state() == before, (name, k, once, before, state())
    return failed


def python(name, call, make, hooks):
    """Fails each allocation of Python's, one at a time, until 16 calls go well; how many."""
    failed = well = k = 0
    given = make()
    call(**given)
    while well < 16:
        k += 1
        before = state()[1]
        well += 1
        try:
            hooks.set_nomemory(k, k + 1)
            call(**given)
            hooks.remove_mem_hooks()
        except MemoryError:
            hooks.remove_mem_hooks()
            failed += 1
            well = 0
        assert C._pending() is None, (name, k)
        assert state()[1] == before, (name, k)
    return failed


def main():
    gc.collect()
    gc.freeze()  # what the interpreter has is not looked at again and again
    failed = [library(*one) for one in calls()]
    print(f"{len(failed)} calls, {sum(failed)} allocations of the library failed")
    try:
        import _testcapi
    except ImportError:
        print("no _testcapi: Python's own allocations are not made to fail")
        return
    failed = [python(*one, _testcapi) for one in calls()]
    print(f"{len(failed)} calls, {sum(failed)} allocations of Python failed")


if __name__ == "__main__":
    main()
