"""Random calls with random objects, some hostile: rows, methods, slots, modules, optimizers,
autograd, files, private functions. Each gives a result or one of torch's exceptions. Whatever else
happens (a crash, a SystemError, a tensor left behind, a call that lasts) fails.

    python tests/python/fuzz.py [--calls 5000] [--seed 1] [--from CHUNK] [--trace]

Calls come in chunks of 100, each of which begins with its own random numbers and an empty pool of
tensors, so that a failure is made again by --from with the number that was printed last, and
--calls 100. --trace prints each call before it is made. Chunks of even number are without hostile
objects; nothing of theirs may stay.
"""

import argparse
import faulthandler
import gc
import math
import os
import random
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import fuzz_calls  # noqa: E402
import fuzz_objects  # noqa: E402
import rows  # noqa: E402

import tensorh as th  # noqa: E402

CHUNK = 100
SHAPE = th.Tensor.shape.__get__  # of what a subclass says otherwise
REFUSALS = (TypeError, ValueError, IndexError, RuntimeError, OverflowError, MemoryError)
FAULTS = (SystemError, NameError)  # and no exception of any other kind out of a row's own call
# write files, begin threads, wait, end the process, change what all later calls depend on
LEFT_OUT = (
    "save load from_file set_num_threads set_num_interop_threads set_default_dtype "
    "set_default_device compile hub"
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


class Fuzzer:
    """The random choices and tensors of one chunk. tame: nothing is hostile, so that all tensors
    have to go; harm makes cycles through the tape, which no collector sees."""

    def __init__(self, seed, tame):
        self.random = random.Random(seed)
        self.tame = tame
        self.pool = []
        self.given = []  # lists and dictionaries of the call under way
        self.odd = []  # what a Function's ctx outlives its call in
        self.met = False  # whether the call has met a hostile object

    def end(self):
        """Hooks hold the Fuzzer, which may hold their tensors no longer."""
        for held in (self.pool, self.given, self.odd):
            held.clear()
        fuzz_objects.forget()

    def attribute(self, name):
        """Something to be an attribute of a tensor. A gradient with a history may close a cycle
        through the tape, which nobody sees: in a tame chunk it has none."""
        x = self.thing()
        return x.detach() if self.tame and name == "grad" and isinstance(x, th.Tensor) else x

    def hostile(self):
        if self.tame:
            return self.random.choice([object(), [None], th.nn.ReLU(), lambda *_: 1])
        self.met = True
        return fuzz_objects.hostile(self)

    def harm(self):
        self.met = True
        if not self.tame:
            fuzz_objects.Harm(self).harm()

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
        if type(x) in (list, tuple):
            for one in x[:3]:
                self.keep(one)
        elif isinstance(x, th.Tensor) and math.prod(SHAPE(x)) <= 2000:
            self.pool.append(x)
            del self.pool[:-12]

    def several(self, deep=0):
        r = self.random
        n = r.choice([0, 1, 2, 2, 3, 4, 40]) if deep == 0 else r.choice([1, 2, 3])
        what = r.choice([self.integer, self.number, self.tensor, lambda: self.thing(deep + 1)])
        made = [what() for _ in range(n)]
        if r.random() < 0.05:
            self.given.append(made)
            made.insert(0, self.hostile())
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
            lambda: r.choice([object(), NotImplemented, th.Tensor, th.nn.ReLU(), lambda *_: 1]),
            self.hostile,
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

    def choose(self):
        """(kind of the call, whether only REFUSALS may come of it, what makes it)"""
        chance = self.random.random()
        if chance < 0.6:
            return "row", self.row
        if chance < 0.7:
            return "other", self.other
        make = self.random.choice(fuzz_calls.CALLS)
        return make.__name__, lambda: make(self)

    def call(self, trace, counts):
        """Makes a call, and counts it under its kind: [returned, refused]."""
        self.met = False
        self.given.clear()
        kind, make = self.choose()
        count = counts.setdefault(kind, [0, 0])
        try:
            try:
                function, place, named = make()
                if trace:
                    print(function, brief(place), brief(named), file=sys.stderr, flush=True)
                self.given += [x for x in [*place, *named.values()] if type(x) in (list, dict)]
                result = function(*place, **named)
            finally:
                pending = th._C._pending()
                if pending is not None:
                    raise SystemError(f"{kind} has left an error: {pending}")
        except Exception as error:
            strict = kind == "row" and not self.met and not isinstance(error, fuzz_objects.Mine)
            if strict and not isinstance(error, REFUSALS) or isinstance(error, FAULTS):
                raise
            if "internal error" in str(error):
                raise
            count[1] += 1
            return
        count[0] += 1
        self.keep(result)
        small = isinstance(result, th.Tensor) and math.prod(SHAPE(result)) <= 2000
        if small and self.random.random() < 0.1:
            self.show(result)
        if small and self.random.random() < 0.1:
            self.backward(result)

    def show(self, x):
        try:
            repr(x)
        except FAULTS:
            raise
        except Exception:
            if type(x) is th.Tensor and x.device.type == "cpu":
                raise

    def backward(self, x):
        try:
            if x.requires_grad:
                x.sum().backward()
        except FAULTS:
            raise
        except Exception:  # noqa: S110
            pass


def brief(x):
    """Arguments as a line of text, whatever they are; nothing of them is asked for."""
    if type(x) in (th.Tensor, th.nn.Parameter):
        return f"Tensor({list(x.shape)}, {x.dtype}, {x.device}, {x.requires_grad})"
    if type(x) is dict:
        return {str(n)[:20]: brief(v) for n, v in list(x.items())}
    if type(x) in (list, tuple):
        return [brief(v) for v in list(x)]
    if type(x) in (int, float, complex, str, bytes, bool, slice, type(None), type(...)):
        return repr(x)[:60]
    return object.__repr__(x)[:60]


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


def unraisable(what):
    """What a finalizer raises is nobody's, but a SystemError is a fault."""
    if isinstance(what.exc_value, SystemError):
        faulthandler.dump_traceback()
        os._exit(3)


def living(least=None):
    """Tensors there are when what nobody has is gone: one cycle may free the next, and a loader's
    thread may need its time to end."""
    for k in range(50):
        gc.collect()
        th.zeros(1)  # takes back what other threads have freed
        if k > 3:
            if th._C._memory()[1] <= (least or 0) or least is None:
                break
            time.sleep(0.02)
    return th._C._memory()[1]


def begin(chunk):
    """What calls may have set for all later ones is as it was."""
    th.manual_seed(chunk)
    th.set_grad_enabled(True)
    th.set_default_dtype(th.float32)
    th.set_printoptions(profile="default")
    th._C._set_anomaly(False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    sys.unraisablehook = unraisable
    limit_memory()
    counts = {}
    chunks = -(-options.calls // CHUNK)
    for chunk in range(options.first, options.first + chunks):
        if hasattr(faulthandler, "dump_traceback_later"):
            faulthandler.dump_traceback_later(300, exit=True)  # nothing lasts
        begin(chunk)
        tame = chunk % 2 == 0
        if tame:
            tensors = living()
        fuzzer = Fuzzer(options.seed * 1_000_003 + chunk, tame)
        for i in range(CHUNK):
            try:
                fuzzer.call(options.trace, counts)
            except BaseException:
                print(f"chunk {chunk}, call {i}", file=sys.stderr)
                raise
        if chunk % 10 == 0:
            print(f"chunk {chunk}", flush=True)
        fuzzer.end()
        del fuzzer
        begin(chunk)
        if tame:
            left = living(tensors) - tensors
            assert left == 0, f"{left} tensors left behind after chunk {chunk}"
    faulthandler.cancel_dump_traceback_later()
    report(options, chunks * CHUNK, counts)


def report(options, calls, counts):
    """A line a kind of call, and one of all."""
    for kind, (returned, refused) in sorted(counts.items()):
        print(f"{kind}: {returned} returned, {refused} refused")
    returned = sum(n for n, _ in counts.values())
    print(
        f"{calls} calls, seed {options.seed}: {returned} returned, {calls - returned} were "
        f"refused, 0 faults"
    )


if __name__ == "__main__":
    main()
