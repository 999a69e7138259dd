"""Brings samples, functions and results of torch to tensorh and back, within one process."""

import dataclasses
import functools
import types

import torch

import tensorh as th

SPACES = (
    "", "Tensor", "nn.functional", "linalg", "fft", "special", "signal.windows", "masked",
    "nn.init", "nn", "random", "testing",
)  # fmt: skip


class Absent(Exception):
    """tensorh has not what a sample is made of; the text says what."""


def attribute(root, path):
    for part in path.split(".") if path else ():
        root = getattr(root, part)
    return root


@functools.cache
def names():
    """id -> dotted name below torch, of all that its namespaces hold."""
    found = {}
    for space in SPACES:
        owner = attribute(torch, space)
        for name in dir(owner):
            value = getattr(owner, name, None)
            if callable(value) and not (space and value is getattr(object, name, None)):
                path = f"{space}.{name}" if space else name
                known = found.get(id(value))
                if known is None or known.rpartition(".")[2].startswith("_"):
                    found[id(value)] = path
    return found


class Bridge:
    """Translates values; what is one object there is one object here."""

    def __init__(self):
        self.memo = {}
        self.kept = []

    def __call__(self, value):
        key = id(value)
        if key not in self.memo:
            self.kept.append(value)  # its id stays its own
            self.memo[key] = self.translate(value)
        return self.memo[key]

    def translate(self, value):
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return value
        if isinstance(value, torch.Tensor):
            return tensor(value)
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            return self.named(str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return th.device(str(value))
        if isinstance(value, torch.Size):
            return th.Size(value)
        if isinstance(value, torch.Generator):
            return th.Generator()
        if isinstance(value, types.ModuleType):
            name = value.__name__
            return self.named(name.removeprefix("torch.").removeprefix("torch")) \
                if name.split(".")[0] == "torch" and "testing._internal" not in name else value
        if isinstance(value, tuple):
            items = [self(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, list):
            return [self(v) for v in value]
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, torch.nn.LinearCrossEntropyOptions):
            fields = [self(getattr(value, f.name)) for f in dataclasses.fields(value)]
            return th.nn.LinearCrossEntropyOptions(*fields)
        if isinstance(value, torch.nn.Module):
            return self.named("nn." + type(value).__name__)()
        if isinstance(value, functools.partial):
            return functools.partial(self(value.func), *self(value.args), **self(value.keywords))
        return self.function(value)

    def named(self, path):
        try:
            return attribute(th, path)
        except AttributeError:
            raise Absent(f"no torch.{path}") from None

    def function(self, value):
        if getattr(value, "__name__", "") == "wrapper_set_seed":
            return seeded
        if not callable(value) or getattr(value, "__name__", "") == "":
            return value
        if id(value) in names():
            return self.named(names()[id(value)])
        if isinstance(value, types.MethodType):
            return types.MethodType(self(value.__func__), value.__self__)
        if not isinstance(value, types.FunctionType):
            if str(getattr(value, "__module__", "")).startswith("torch._ops"):
                raise Absent(f"no torch.ops.{value}")
            return value
        if not str(value.__module__).startswith("torch"):
            return value
        return self.rebuilt(value)

    def rebuilt(self, f):
        """A Python function of torch's tests, whose globals and closure are translated."""
        scope = {"__builtins__": __builtins__}
        new = types.FunctionType(f.__code__, scope, f.__name__, None, None if not f.__closure__
                                 else tuple(types.CellType() for _ in f.__closure__))  # fmt: skip
        self.memo[id(f)] = new  # it may call itself
        new.__defaults__ = self(f.__defaults__)
        new.__kwdefaults__ = self(f.__kwdefaults__)
        for name in used(f.__code__):
            if name in f.__globals__:
                scope[name] = self(f.__globals__[name])
        for cell, old in zip(new.__closure__ or (), f.__closure__ or (), strict=True):
            cell.cell_contents = self(old.cell_contents)
        return new


def seeded(f, *args, **kwargs):
    """wrapper_set_seed of torch's tests."""
    th.manual_seed(42)
    return f(*args, **kwargs)


def used(code):
    found = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            found |= used(const)
    return found


def tensor(t):
    """The same elements, sizes, strides and offset; a leaf again where it was one."""
    if t.layout != torch.strided:
        raise Absent(f"no layout {t.layout}")
    if t.device.type not in ("cpu", "meta"):
        raise Absent(f"no device {t.device}")
    name = str(t.dtype).removeprefix("torch.")
    if not hasattr(th, name):
        raise Absent(f"no dtype {name}")
    dtype = getattr(th, name)
    plain = t.detach()
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    if t.device.type == "meta":
        new = th.empty(tuple(t.shape), dtype=dtype, device="meta")
    elif plain.numel() == 0:
        new = th.empty(tuple(t.shape), dtype=dtype)
    else:
        flat = memory(plain).clone()
        new = th.from_dlpack(flat) if plain.dtype != torch.bool else th.from_numpy(flat.numpy())
        new = new.as_strided(plain.shape, plain.stride(), plain.storage_offset())
    if type(t) is torch.nn.Parameter:
        return th.nn.Parameter(new, requires_grad=t.requires_grad)
    return new.requires_grad_() if t.requires_grad else new


def memory(plain):
    """All that a tensor's storage holds, as one dimension."""
    return plain.as_strided((plain.untyped_storage().nbytes() // plain.itemsize,), (1,), 0)


def twin(t):
    """A copy in torch, with its own memory of the same layout; a leaf."""
    if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.device.type == "meta":
        return t
    plain = t.detach()
    if plain.is_conj() or plain.is_neg() or not plain.numel():
        new = plain.clone()
    else:
        new = memory(plain).clone().as_strided(plain.shape, plain.stride(), plain.storage_offset())
    return new.requires_grad_(t.requires_grad)


def back(value):
    """What tensorh gave, in torch's types."""
    if isinstance(value, th.Tensor):
        value = value.detach()
        if value.numel() == 0 or str(value.device) == "meta":
            dtype = getattr(torch, str(value.dtype).removeprefix("torch."))
            return torch.empty(tuple(value.shape), dtype=dtype, device=str(value.device))
        if value.dtype == th.bool:
            return torch.from_numpy(value.contiguous().numpy())
        return torch.from_dlpack(value)
    if isinstance(value, th.Size):
        return tuple(value)
    if isinstance(value, (tuple, list)):
        return [back(v) for v in value]
    if isinstance(value, dict):
        return {k: back(v) for k, v in value.items()}
    if isinstance(value, th.dtype):
        return getattr(torch, str(value).removeprefix("torch."))
    return value


def leaves(value, kind=torch.Tensor):
    """All tensors within lists, tuples and dicts, in order."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in leaves(v, kind)]
    if isinstance(value, dict):
        return [t for v in value.values() for t in leaves(v, kind)]
    return []
