"""will_it_fit: the memory that a function would take, found by running it on shapes alone."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass

from . import _C

__all__ = ["Part", "Peak", "Plan", "will_it_fit"]


@dataclass(frozen=True)
class Part:
    """Tensors of one shape and dtype that one operator made at one line.

    bytes: of all of them together. count: how many. tensor: dtype and shape, or "scratch". what:
    the operator's name. file, line: the line of the program; file is None if it is unknown.
    """

    bytes: int
    count: int
    what: str
    tensor: str
    file: str | None
    line: int


@dataclass(frozen=True)
class Peak:
    """What a plan has of one device.

    peak: most bytes at a time. parts: what makes the peak of the tensors' memory, the largest
    first. rest: bytes of tensors then that no part has. memory: bytes that there are, or None.
    str() is a table.
    """

    device: str
    peak: int
    parts: list[Part]
    rest: int
    memory: int | None

    @property
    def fits(self):
        """Whether there is so much memory, as far as it was given."""
        return self.memory is None or self.peak <= self.memory

    def __str__(self):
        rows = [
            (_size(p.bytes), str(p.count), p.tensor, p.what, f"{p.file or '?'}:{p.line}")
            for p in self.parts
        ]
        rows.insert(0, ("memory", "count", "tensor", "made by", "at"))
        if self.rest > 0:
            rows.append((_size(self.rest), "", "smaller ones", "", ""))
        wide = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = [
            f"{row[0]:>{wide[0]}}  {row[1]:>{wide[1]}}  "
            + "  ".join(f"{row[i]:<{wide[i]}}" for i in (2, 3, 4))
            for row in rows
        ]
        return "\n".join([self._head(), *(line.rstrip() for line in lines)])

    def _head(self):
        text = f"peak {_size(self.peak)} on {self.device}"
        if self.memory is None:
            return text
        return f"{text}: {'fits into' if self.fits else 'is more than'} {_size(self.memory)}"


class Plan:
    """What will_it_fit found.

    devices: a Peak for each device, of the CPU first; plan["cuda:0"] is that of cuda:0. peak,
    parts, rest: of the first one. str() is a table for each device; bool() is whether each peak
    fits into the memory that was given.
    """

    def __init__(self, devices, memory):
        self.devices, self._asked = devices, memory is not None

    peak = property(lambda self: self.devices[0].peak)
    parts = property(lambda self: self.devices[0].parts)
    rest = property(lambda self: self.devices[0].rest)

    def __getitem__(self, device):
        for found in self.devices:
            if _device(found.device) == _device(device):
                return found
        raise KeyError(f"the plan has no device '{device}'")

    def __bool__(self):
        if not self._asked:
            raise TypeError("will_it_fit: memory was not given, so there is no yes or no")
        return all(p.fits for p in self.devices)

    def __repr__(self):
        return f"<Plan: {', '.join(p._head() for p in self.devices)}>"

    def __str__(self):
        return "\n".join(str(p) for p in self.devices if p.parts or p is self.devices[0])


def _size(n):
    """n bytes in words: "26.2 MB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n < 999.95 or unit == "GB":
            break
        n /= 1000
    return f"{n} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"


def _tensors(o, found):
    """Collects the tensors of arguments: o, those of a module, members of lists and dicts."""
    from .nn import Module

    if isinstance(o, _C.Tensor):
        found.append(o)
    elif isinstance(o, Module):
        found += [*o.parameters(), *o.buffers()]
    elif isinstance(o, Mapping):
        for value in o.values():
            _tensors(value, found)
    elif isinstance(o, list | tuple):
        for value in o:
            _tensors(value, found)


def _without_data(args):
    """A copy of arguments with tensors without data: of meta in place of the CPU's."""
    found = []
    _tensors(args, found)
    memo = {}
    for t in found:
        if id(t) in memo:
            continue
        here = t.device.type in ("cpu", "meta")
        made = t.detach().to("meta") if here else t.detach().clone()
        if isinstance(t, _C.Parameter):
            made = _C.Parameter(made, t.requires_grad)
        elif t.is_leaf:
            made.requires_grad_(t.requires_grad)
        memo[id(t)] = made
    return copy.deepcopy(args, memo)


def _device(name):
    """The device as text: "cuda" is the current one where there are any, "cpu:0" the CPU."""
    device = _C.device(name)
    if device.type == "cuda" and device.index is None:
        from . import cuda

        return f"cuda:{cuda.current_device() if cuda.is_available() else 0}"
    return "cpu" if device.type == "cpu" else str(device)


def _memory_by_device(memory):
    """A dict by device as one by its text; ValueError for a key that is no device."""
    found = {}
    for key, size in memory.items():
        try:
            name = _device(key)
        except (RuntimeError, TypeError) as e:
            raise ValueError(f"will_it_fit: memory: {key!r} is no device") from e
        if name in found:
            raise ValueError(f"will_it_fit: memory: {name} is given twice")
        found[name] = size
    return found


def will_it_fit(fn, *args, device=None, memory=None):
    """The memory that fn(*args) would take on each device, without taking it: a Plan.

    fn runs inside of `with torch.device("meta")`, so what it makes has shapes and no data; that
    counts as memory of the CPU. What it makes on other devices or moves there has no data either,
    and counts as memory of that device. It gets copies of args, with their tensors and the tensors
    of modules without data. They count as well; make optimizers in fn. It fails where a call needs
    data: `item()`, `nonzero()`, indexing by a mask; and where it writes a tensor that a device had
    before.

    device: where a program that names no device is to run. On "cpu" (None) the peak includes what
    the library takes beside tensors, on others it is that of tensors and scratch memory, which are
    the CPU's. memory: bytes that each device has, or a dict of them by device, for bool(). A
    program that also names `device` itself is a ValueError.

        def step(x):
            net = torch.nn.Linear(4096, 4096)
            net(x).sum().backward()

        plan = torch.will_it_fit(step, torch.empty(256, 4096), memory=1 << 30)
        print(plan if plan else f"too large: {plan}")
    """
    name = "cpu" if device is None else str(device)
    sizes = _memory_by_device(memory) if isinstance(memory, Mapping) else None
    with _C.device("meta"):
        _C._plan_begin()
        try:
            fn(*_without_data(args))
        finally:
            found = _C._plan_end()
    devices = []
    for i, (at, peak, tensors, rest, parts) in enumerate(found):
        at = at if i else name
        if i and _device(at) == _device(name):
            raise ValueError(
                f"will_it_fit: device={name!r}, and the program makes tensors on {at} by its name, "
                "which would count apart; leave the name out, or device="
            )
        there = memory if sizes is None else sizes.get(_device(at))
        parts = [Part(size, n, what, shape, *place) for size, n, what, shape, *place in parts]
        on_cpu = at.partition(":")[0] == "cpu"
        devices.append(Peak(at, peak if on_cpu else tensors, parts, rest, there))
    return Plan(devices, memory)
