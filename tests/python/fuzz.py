"""Random calls of every row, method and slot with random objects: each gives a result or one of
torch's exceptions. Whatever else happens (a crash, a SystemError, a tensor left behind) fails.

    python tests/python/fuzz.py [--calls 5000] [--seed 1] [--from CHUNK] [--trace]

Calls come in chunks of 100, each of which begins with its own random numbers and an empty pool of
tensors, so that a failure is made again by --from with the number that was printed last, and
--calls 100. --trace prints each call before it is made.
"""

import argparse
import faulthandler
import gc
import math
import random
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import rows  # noqa: E402

import tensorh as th  # noqa: E402

CHUNK = 100
REFUSALS = (TypeError, ValueError, IndexError, RuntimeError, OverflowError, MemoryError)
OTHERS = (*REFUSALS, AttributeError, KeyError, StopIteration, AssertionError, BufferError)
# write files, begin threads, wait, end the process, change what all later calls depend on
LEFT_OUT = (
    "save load from_file set_num_threads set_num_interop_threads set_default_dtype "
    "set_default_device set_grad_enabled set_printoptions compile hub"
).split()
ROWS = rows.rows()
DTYPES = [getattr(th, name) for name in rows.SHORT.values()]
SLOTS = [
    "__getitem__", "__setitem__", "__delitem__", "__contains__", "__add__", "__radd__", "__iadd__",
    "__sub__", "__rsub__", "__mul__", "__imul__", "__truediv__", "__rtruediv__", "__floordiv__",
    "__mod__", "__rmod__", "__pow__", "__rpow__", "__ipow__", "__matmul__", "__rmatmul__",
    "__and__", "__or__", "__xor__", "__lshift__", "__rshift__", "__eq__", "__ne__", "__lt__",
    "__ge__", "__neg__", "__invert__", "__abs__", "__bool__", "__int__", "__float__", "__index__",
    "__len__", "__iter__", "__repr__", "__format__", "__array__", "__hash__", "__copy__",
    "__deepcopy__", "__reduce_ex__", "__complex__",
]  # fmt: skip


class Evil:
    """A number that raises when asked."""

    def __index__(self):
        raise KeyError

    def __float__(self):
        raise ZeroDivisionError


class Eater:
    """A number that empties the list it stands in when asked for its value."""

    def __init__(self, home):
        self.home = home

    def __index__(self):
        self.home.clear()
        return 1

    __float__ = __index__


class Fuzzer:
    """The random choices and tensors of one chunk."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pool = []

    def integer(self):
        """Mostly small; else so large that no memory is got for it."""
        big = [2**31, -(2**31), 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, 2**70, -(2**70), 2**500]
        return self.random.choice(big) if self.random.random() < 0.08 else self.small()

    def small(self):
        return self.random.choice([0, 1, 1, 2, 2, 3, 4, 5, -1, -1, -2, -3, 7])

    def number(self):
        odd = [math.nan, math.inf, -math.inf, 1e308, 5e-324, -0.0, True, False, 1j, complex("nan")]
        r = self.random.random()
        if r < 0.4:
            return self.integer()
        return self.random.choice(odd) if r < 0.7 else self.random.uniform(-3, 3)

    def tensor(self):
        r = self.random
        if self.pool and r.random() < 0.5:
            return r.choice(self.pool)
        size = [r.choice([0, 1, 2, 3, 5]) for _ in range(r.choice([0, 1, 1, 2, 2, 3, 4]))]
        device = "meta" if r.random() < 0.05 else "cpu"
        x = th.zeros(size, dtype=r.choice(DTYPES), device=device)
        if device == "cpu" and r.random() < 0.8:
            x = th.randint(-3, 4, size).to(x.dtype)
        if r.random() < 0.2:
            x = x.expand([2, *size])
        if x.ndim > 1 and r.random() < 0.3:
            x = x.transpose(0, -1)
        if x.dtype.is_floating_point and r.random() < 0.3:
            x.requires_grad = True
        self.keep(x)
        return x

    def keep(self, x):
        """What calls give goes into later calls, as long as it is small."""
        if isinstance(x, (list, tuple)):
            for one in x[:3]:
                self.keep(one)
        elif isinstance(x, th.Tensor) and x.numel() <= 2000:
            self.pool.append(x)
            del self.pool[:-12]

    def several(self, deep=0):
        r = self.random
        n = r.choice([0, 1, 2, 2, 3, 4, 40]) if deep == 0 else r.choice([1, 2, 3])
        what = r.choice([self.integer, self.number, self.tensor, lambda: self.thing(deep + 1)])
        made = [what() for _ in range(n)]
        if r.random() < 0.05:
            made.insert(0, Eater(made))
        return tuple(made) if r.random() < 0.3 else made

    def array(self):
        r = self.random
        size = [r.choice([0, 1, 2, 3]) for _ in range(r.choice([0, 1, 2, 3]))]
        a = np.zeros(size, r.choice(["f4", "f8", "i8", "i4", "u1", "?", "c8", "U3", "O", ">i4"]))
        return a[::-1] if a.ndim and r.random() < 0.3 else a

    def thing(self, deep=0):
        """Any object."""
        r = self.random
        makers = [self.integer, self.number, self.tensor, self.tensor, self.array]
        if deep < 3:
            makers += [lambda: self.several(deep), lambda: self.several(deep)]
        makers += [
            lambda: r.choice([None, True, False, "", "mean", "sum", "none", "a\0b", "é" * 200]),
            lambda: r.choice(["cpu", "meta", "cpu:0", "cuda", b"x", {}, {"a": 1}, {1}, ..., print]),
            lambda: r.choice(DTYPES + [float, int, bool, complex, str]),
            lambda: r.choice(
                [np.float32(1.5), np.int64(2), np.bool_(True), np.float16(1), np.int8]
            ),
            lambda: r.choice(
                [slice(0, 2), slice(None, None, -1), slice(2**70), range(3), iter([1])]
            ),
            lambda: r.choice([Evil(), Eater([]), [Evil()], object(), NotImplemented, th.Tensor]),
            lambda: r.choice(
                [th.Generator(), th.default_generator, th.device("cpu"), th.Size([2])]
            ),
        ]
        return r.choice(makers)()

    def result(self, row):
        """Something for out=."""
        if row.results > 1 and self.random.random() < 0.7:
            return tuple(self.tensor() for _ in range(row.results))
        return self.tensor() if self.random.random() < 0.8 else self.thing()

    def row(self):
        """A call of a row: (function, arguments, keywords), made of a sample that is spoilt."""
        r = self.random
        row = r.choice(ROWS)
        given = rows.arguments(row, r.choice(row.samples))
        for x in given.values():
            self.keep(x)
        for p in row.params:
            if r.random() < 0.2:
                given[p.name] = self.tensor() if "Tensor" in p.type else self.thing()
            elif r.random() < 0.03:
                given.pop(p.name, None)
        order = {p.name: given[p.name] for p in row.params if p.name in given}
        place, named = ([], order) if r.random() < 0.3 else rows.split(row, order)
        if r.random() < 0.03:
            place.append(self.thing())
        if r.random() < 0.03:
            named[r.choice(["axis", "input", "no_such", "out", "requires_grad"])] = self.thing()
        if row.out and r.random() < 0.15:
            named["out"] = self.result(row)
        if r.random() < 0.4 and place and isinstance(place[0], th.Tensor):
            name = row.torch + "_" * (row.inplace and r.random() < 0.4)
            if hasattr(place[0], name):
                return getattr(place[0], name), place[1:], named
        return row.function, place, named

    def other(self):
        """A call of something that is no row."""
        r = self.random
        args = [self.thing() for _ in range(r.choice([0, 1, 1, 2, 3]))]
        if r.random() < 0.5:
            method = getattr(self.tensor(), r.choice(SLOTS), None)
        else:
            owner = th if r.random() < 0.4 else self.tensor()
            names = [n for n in dir(owner) if n[0] != "_" and n.rstrip("_") not in LEFT_OUT]
            try:
                method = getattr(owner, r.choice(names))
            except (AttributeError, *REFUSALS):  # planned; x.mT of a vector
                method = None
        return (method if callable(method) else th.tensor), args, {}

    def call(self, trace):
        strict = self.random.random() < 0.8
        function, place, named = self.row() if strict else self.other()
        if trace:
            print(function, brief(place), brief(named), file=sys.stderr, flush=True)
        try:
            try:
                result = function(*place, **named)
            finally:
                pending = th._C._pending()
                if pending is not None:
                    raise SystemError(f"{function} has left an error: {pending}")
        except OTHERS as error:
            if strict and not isinstance(error, REFUSALS) or "internal error" in str(error):
                raise
            return False
        self.keep(result)
        if isinstance(result, th.Tensor) and result.numel() < 1000 and self.random.random() < 0.1:
            repr(result)
        if hasattr(th.Tensor, "backward") and self.random.random() < 0.1:
            self.backward(result)
        return True

    def backward(self, x):
        if not isinstance(x, th.Tensor) or not x.requires_grad or x.numel() > 2000:
            return
        try:
            x.sum().backward()
        except REFUSALS:
            pass


def brief(x):
    """Arguments as a line of text, whatever they are."""
    if isinstance(x, th.Tensor):
        return f"Tensor({list(x.shape)}, {x.dtype}, {x.device}, {x.requires_grad})"
    if isinstance(x, dict):
        return {n: brief(v) for n, v in x.items()}
    return [brief(v) for v in x] if isinstance(x, (list, tuple)) else repr(x)[:60]


def limit_memory():
    """One GiB more than now, where the system can say so; sanitizers need their own limit."""
    try:
        import resource
    except ImportError:
        return
    maps = Path("/proc/self/maps")
    if not maps.exists() or "libasan" in maps.read_text():
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    limit_memory()
    returned = 0
    th.manual_seed(1)
    gc.collect()
    _, tensors, _ = th._C._memory()
    chunks = -(-options.calls // CHUNK)
    for chunk in range(options.first, options.first + chunks):
        fuzzer = Fuzzer(options.seed * 1_000_003 + chunk)
        th.manual_seed(chunk)
        for i in range(CHUNK):
            try:
                returned += fuzzer.call(options.trace)
            except BaseException:
                print(f"chunk {chunk}, call {i}", file=sys.stderr)
                raise
        if chunk % 10 == 0:
            print(f"chunk {chunk}", flush=True)
        del fuzzer
        if chunk % 10 == 0 or chunk == options.first + chunks - 1:
            gc.collect()
            left = th._C._memory()[1] - tensors
            assert left == 0, f"{left} tensors left behind after chunk {chunk}"
    calls = chunks * CHUNK
    print(f"{calls} calls: {returned} returned, {calls - returned} were refused, 0 faults")


if __name__ == "__main__":
    main()
