"""Calls that are no rows, for fuzz.py: modules, optimizers, autograd, pickles, files, DLPack, the
loader, and what only the package's own Python code calls. Each function gives (function, arguments,
keywords) of one call; what it prepares is small and may refuse itself.
"""

import copy
import inspect
import io
import itertools
import pickle
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import tensorh as th
from tensorh import nn, optim, safetensors
from tensorh.nn import functional
from tensorh.optim import lr_scheduler
from tensorh.utils import data

NUMBERS = itertools.count()
FOLDER = tempfile.TemporaryDirectory(prefix="fuzz")
# set what the whole process depends on, or are asked by fuzz.py itself
PRIVATE_NOT = {"_fail_after", "_package", "_pending", "_memory", "_rows", "_C"}
PRIVATE = [n for n in dir(th._C) if n[0] == "_" and n[1] != "_" and n not in PRIVATE_NOT]
MODULES = [c for c in vars(nn).values() if isinstance(c, type) and issubclass(c, nn.Module)]
OPTIMIZERS = [c for c in map(vars(optim).get, ("SGD", "Adam", "AdamW")) if c]
SCHEDULES = [
    c for c in vars(lr_scheduler).values()
    if isinstance(c, type) and c.__module__.startswith("tensorh")
]  # fmt: skip
PLACES = [
    functional, nn.init, nn.utils, th.linalg, th.func, th.autograd, th.autograd.functional,
    th.testing, data, th.utils.checkpoint, th.overrides, th.backends, th.cuda,
]  # fmt: skip
NOT = {"gradcheck", "gradgradcheck", "set_grad_enabled", "set_detect_anomaly", "detect_anomaly"}
USUAL = {
    "Linear": (3, 2), "Conv2d": (2, 3, 3), "BatchNorm1d": (3,), "BatchNorm2d": (2,),
    "LayerNorm": (3,), "Embedding": (4, 3), "LSTM": (3, 2), "MultiheadAttention": (4, 2),
    "MaxPool2d": (2,), "AvgPool2d": (2,), "AdaptiveAvgPool2d": (1,),
}  # fmt: skip
OPTIONS = "bias inplace dim eps momentum p batch_first device dtype weight reduction".split()
FUNCTIONS = [
    getattr(place, n) for place in PLACES for n in dir(place)
    if n[0] != "_" and n not in NOT and callable(getattr(place, n, None))
]  # fmt: skip


def _path():
    """Of a file of its own: what is mapped may not be cut."""
    return Path(FOLDER.name) / f"{next(NUMBERS)}.safetensors"


def private(f):
    """Something of tensorh._C that no user should call, with arguments near to right ones."""
    r, t = f.random, f.tensor
    buffers = [bytearray(64), b"x" * 33, memoryview(bytearray(24))[1:], np.zeros(5), t()]
    path = str(_path())
    near = {
        "_from_memory": lambda: [r.choice(buffers), t().dtype, f.integer(), f.integer()],
        "_gather": lambda: [(t(), t()), [f.integer() for _ in range(3)]],
        "_optim_step": lambda: [0, f.integer(), [{"params": [t()]}], {}],
        "_optim_check": lambda: [f.small(), {"lr": f.number(), "betas": [f.number()] * 2}],
        "_optim_zero_grad": lambda: [[t(), t()], r.choice([True, False])],
        "_rebuild_parameter": lambda: [r.choice([None, nn.Parameter, t]), t(), f.thing()],
        "_safetensors_save": lambda: [path, {"a": t(), "b": t()}, f.thing()],
        "_safetensors_load": lambda: [path],
        "_safetensors_open": lambda: [path],
        "_take_data": lambda: [t(), t()],
        "_clip_grad_norm": lambda: [[t(), t()], 1.0, f.number()],
        "_tap": lambda: [(t(), t()), r.choice([lambda g: g, lambda g: None, f.thing()])],
        "_without_grad": lambda: [r.choice([t, f.thing]), *([f.thing()] * f.random.choice([0, 1]))],
        "_backward": lambda: [(t(), t()), (t(), None)],
        "_grad": lambda: [(t(),), (t(),), (t(),)],
        "_raw": lambda: [t()],
        "_storage_bytes": lambda: [t()],
        "_set_printing": lambda: [f.small() for _ in range(5)],
        "_handle_torch_function": lambda: [th.add, [t()], f.thing()],
        "_has_torch_function": lambda: [f.thing()],
        "_module_kind": lambda: ["Linear"],
        "_return_type": lambda: ["max"],
        "_row": lambda: ["add"],
        "_registered": lambda: ["add"],
        "_dtype": lambda: ["float32"],
        "_size": lambda: [[1, 2]],
    }
    name = r.choice(PRIVATE)
    args = near[name]() if name in near and r.random() < 0.8 else []
    if not args:
        args = [f.thing() for _ in range(r.choice([0, 1, 2, 3, 4]))]
    if args and r.random() < 0.4:
        args[r.randrange(len(args))] = f.thing()
    return getattr(th._C, name), args, {}


def _values(f, n):
    """Arguments of a constructor: mostly small numbers."""
    r = f.random
    return [r.choice([1, 2, 2, 3, 4, 0.1]) if r.random() < 0.8 else f.thing() for _ in range(n)]


def _made(f):
    r = f.random
    kind = r.choice(MODULES)
    args = list(USUAL.get(kind.__name__, ()))
    if r.random() < 0.3:
        args = _values(f, r.choice([0, 1, 2, 2, 3]))
    if kind in (nn.Sequential, nn.ModuleList) and r.random() < 0.8:
        args = [nn.Linear(2, 3), nn.ReLU(inplace=True), nn.Linear(3, r.choice([1, 2]))]
        args = args if kind is nn.Sequential else [args]
    named = {n: f.thing() for n in OPTIONS if r.random() < 0.01}
    return kind, args, named


def module(f):
    """A module is made, or one that is there is called, changed, copied, loaded."""
    r = f.random
    kind, args, named = _made(f)
    if r.random() < 0.2:
        return kind, args, named
    m = kind(*args, **named)
    if r.random() < 0.2:
        m.register_forward_hook(f.thing() if r.random() < 0.5 else lambda m, i, o: f.thing())
    if r.random() < 0.1:
        m.register_full_backward_hook(lambda m, i, o: f.thing())
    names = list(vars(m)) + [n for n, _ in m.named_parameters(recurse=False)]
    for name in names:
        if r.random() < 0.06:
            setattr(m, name, f.thing())
    sizes = [(2, 3), (2, 2), (4, 2, 5, 5), (1, 3, 8, 8), (3,), (2, 3, 4)]
    x = th.randn(r.choice(sizes), requires_grad=r.random() < 0.5)
    if r.random() < 0.6:
        return m, [x if r.random() < 0.8 else f.thing() for _ in range(r.choice([1, 1, 2, 3]))], {}
    methods = [n for n in dir(m) if n[0] != "_" and n not in ("compile", "share_memory")]
    if r.random() < 0.3:
        return setattr, [m, r.choice(names or ["x"]), f.thing()], {}
    if r.random() < 0.3:
        return m.load_state_dict, [{n: f.thing() for n in m.state_dict()}], {"strict": False}
    return getattr(m, r.choice(methods)), _values(f, r.choice([0, 0, 1, 2])), {}


def optimizer(f):
    """A step over parameters with odd gradients, groups and states."""
    r = f.random
    params = [nn.Parameter(th.randn(r.choice([1, 2, 3]))) for _ in range(3)]
    if r.random() < 0.1:
        params.append(f.thing())
    kind = r.choice(OPTIMIZERS)
    named = {"lr": 0.1}
    for name in inspect.signature(kind).parameters:
        if name != "params" and r.random() < 0.02:
            named[name] = f.thing()
    given = params
    if r.random() < 0.2:
        given = r.choice([[{"params": params, "lr": f.number()}], f.thing()])
    o = kind(given, **named)
    for p in params:
        if isinstance(p, nn.Parameter) and r.random() < 0.9:
            p.grad = th.ones_like(p)
            if r.random() < 0.1:
                p.data = f.tensor().detach()
    if r.random() < 0.5:
        o.step()
    for state in list(o.state.values()):
        for name in state:
            if r.random() < 0.1:
                state[name] = f.thing()
    for group in o.param_groups:
        if r.random() < 0.2:
            group[r.choice(list(group))] = f.thing()
    if r.random() < 0.3:
        schedule = r.choice(SCHEDULES)(o, *_values(f, r.choice([0, 1, 2])))
        return r.choice([schedule.step, schedule.state_dict, schedule.get_last_lr]), [], {}

    def closure():
        f.harm()
        return r.choice([f.thing, o.param_groups.clear, o.state.clear, o.step])()

    return r.choice([
        (o.step, [], {}),
        (o.step, [closure], {}),
        (o.step, [f.thing()], {}),
        (o.zero_grad, [f.thing()], {}),
        (o.load_state_dict, [f.thing()], {}),
        (o.load_state_dict, [o.state_dict() | {"state": {0: f.thing()}}], {}),
        (o.add_param_group, [f.thing()], {}),
        (repr, [o], {}),
        (copy.deepcopy, [o], {}),
    ])  # fmt: skip


def _function(f):
    """A Function whose ctx is used in all wrong ways, some of the time."""
    r = f.random

    def spoil(ctx, *tensors):
        for name in ("save_for_backward", "mark_dirty", "mark_non_differentiable"):
            if r.random() < 0.3:
                getattr(ctx, name)(*[t if r.random() < 0.8 else f.thing() for t in tensors])
        if r.random() < 0.2:
            ctx.set_materialize_grads(r.choice([True, False]))
        if r.random() < 0.3 and not f.tame:
            ctx.mine = r.choice([ctx, *tensors])  # a cycle through the tape stays
        f.harm()

    class Odd(th.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            out = r.choice([args[0], args[0] * 2, args[0].view(-1), tuple(args), f.thing])
            out = out() if callable(out) else out
            spoil(ctx, *args, *(out if isinstance(out, tuple) else [out]))
            if r.random() < 0.2:
                f.odd.append(ctx)
            return out

        @staticmethod
        def backward(ctx, *grads):
            f.harm()
            saved = ctx.saved_tensors
            spoil(ctx, *saved)
            n = len(ctx.needs_input_grad)
            made = [r.choice([grads[0], None, *saved]) for _ in range(n)]
            return tuple(made) if r.random() < 0.85 else f.thing()

    return Odd


def autograd(f):
    """A small graph with hooks that do harm, and a pass over it."""
    r = f.random
    w = th.randn(r.choice([(3,), (2, 3), ()]), requires_grad=True)
    f.pool.append(w)
    x = w * r.choice([2.0, th.ones(3)])
    f.pool.append(x)

    def hook(grad):
        f.harm()
        return r.choice([None, None, grad, grad * 2, f.thing])

    for t in (w, x):
        if r.random() < 0.5:
            handle = t.register_hook(lambda g: h() if callable(h := hook(g)) else h)
            if r.random() < 0.3:
                t.register_hook(lambda g, handle=handle: handle.remove())
    if r.random() < 0.2:
        w.register_post_accumulate_grad_hook(lambda t: f.harm())
    for _ in range(r.choice([0, 1, 2])):
        call = r.choice([
            lambda x: x.mul_(x.detach()), lambda x: x * w, th.exp, th.t, th.sum,
            lambda x: _function(f).apply(x, w), lambda x: _function(f).apply(x, f.thing()),
            lambda x: x[..., 0], lambda x: x.view(-1).mul_(2), lambda x: x.expand(2, *x.shape),
        ])  # fmt: skip
        out = call(x)
        x = out[0] if isinstance(out, tuple) and out else out
        f.keep(x)
    if not isinstance(x, th.Tensor):
        return th.autograd.backward, [x], {}
    seed = r.choice([None, th.ones_like(x.detach()), f.thing()])
    flags = {n: f.thing() if r.random() < 0.1 else r.choice([True, False])
             for n in ("retain_graph", "create_graph") if r.random() < 0.4}  # fmt: skip
    if f.tame:
        flags.pop("create_graph", None)  # .grad would hold its own leaf, as in torch
    name = r.choice(["grad", "data", "requires_grad", "__dict__"])
    return r.choice([
        (x.sum().backward if r.random() < 0.7 else x.backward, [], flags),
        (x.backward, [seed], flags),
        (x.backward, [seed], {**flags, "inputs": [f.tensor(), w]}),
        (th.autograd.grad, [x, [w, f.tensor()], seed], {**flags, "allow_unused": True}),
        (th.autograd.grad, [(x, x), w, (seed, seed)], flags),
        (th.autograd.grad, [f.thing(), f.thing()], flags),
        (th.autograd.backward, [[x, f.tensor()], f.thing()], flags),
        (th.autograd.functional.jacobian, [f.hostile(), x], {}),
        (th.func.grad, [f.hostile()], {}),
        (getattr, [x, r.choice(["grad_fn", "_base", "grad", "output_nr", "data"])], {}),
        (setattr, [w, name, f.attribute(name)], {}),
        (getattr(x.grad_fn, "next_functions", tuple).__class__, [], {}),
    ])  # fmt: skip


def _spoilt(f, blob):
    """Bytes with some changed, cut off or doubled."""
    r = f.random
    blob = bytearray(blob)
    for _ in range(r.choice([0, 1, 1, 2, 8])):
        if blob:
            blob[r.randrange(len(blob))] = r.choice([0, 1, 0x7F, 0x80, 0xFF, r.randrange(256)])
    if r.random() < 0.3:
        del blob[r.randrange(len(blob) + 1):]
    if r.random() < 0.1:
        at = r.randrange(len(blob) + 1)
        blob[at:at] = blob[:at]
    return bytes(blob)


def _spoilt_members(f, blob):
    """A zip archive of which a member is damaged, and which is itself well-formed."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(blob)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            member = old.read(name)
            often = 0.7 if name.endswith(".pkl") else 0.2
            new.writestr(name, _spoilt(f, member) if f.random.random() < often else member)
    return made.getvalue()


def _read(path):
    with safetensors.safe_open(path, "pt") as opened:
        return [opened.get_tensor(name) for name in opened.keys()]


def file(f):
    """torch's files and safetensors, damaged."""
    r = f.random
    named = {"a": f.tensor().detach(), "é": f.tensor().detach(), "p": nn.Parameter(th.ones(2))}
    if r.random() < 0.5:
        plain = {n: t.contiguous() for n, t in named.items() if n != "p"}
        blob = _spoilt(f, safetensors.save(plain, {"k": "v"} if r.random() < 0.3 else None))
        path = _path()
        path.write_bytes(blob)
        return r.choice([
            (safetensors.load, [blob], {}),
            (safetensors.load_file, [str(path)], {}),
            (_read, [path], {}),
            (safetensors.save, [f.thing(), f.thing()], {}),
            (safetensors.load, [f.thing()], {}),
        ])  # fmt: skip
    stream = io.BytesIO()
    state = nn.Linear(2, 2).state_dict()
    what = r.choice([named, named["a"], [named, (1, "x", {2.5: None})], state])
    th.save(what, stream)
    blob = r.choice([_spoilt, _spoilt_members, _spoilt_members])(f, stream.getvalue())
    return r.choice([
        (th.load, [io.BytesIO(blob)], {}),
        (th.load, [io.BytesIO(blob)], {"map_location": f.thing()}),
        (th.load, [io.BytesIO(blob)], {"weights_only": True}),
        (th.save, [f.thing(), io.BytesIO()], {}),
        (th.load, [f.thing()], {}),
    ])  # fmt: skip


def pickled(f):
    """Pickles and copies there and back, and what rebuilds them with wrong arguments."""
    r = f.random
    o = r.choice([f.tensor, lambda: nn.Parameter(f.tensor()), lambda: nn.Linear(2, 2),
                  lambda: f.tensor().dtype, lambda: th.device("cpu"), lambda: th.Size([1]),
                  th.Generator, f.hostile, lambda: th.max(th.ones(2), 0)])()  # fmt: skip
    if r.random() < 0.4:
        return lambda: pickle.loads(pickle.dumps(o, r.choice([2, 5]))), [], {}
    if r.random() < 0.3:
        return r.choice([copy.copy, copy.deepcopy]), [o], {}
    if r.random() < 0.4:
        return getattr(o, "__setstate__", o.__reduce_ex__), [f.thing()], {}
    build, args, *_ = o.__reduce_ex__(2)
    args = list(args)
    if args:
        args[r.randrange(len(args))] = f.thing()
    return build, args, {}


def dlpack(f):
    """Capsules of DLPack, taken twice, by others and in odd ways; buffers and arrays."""
    r, x = f.random, f.tensor().detach()
    capsule = x.__dlpack__(max_version=r.choice([None, (1, 0), (9, 9)]))
    if r.random() < 0.3:
        f.keep(th.from_dlpack(capsule))
    return r.choice([
        (th.from_dlpack, [capsule], {}),
        (np.from_dlpack, [x], {}),
        (th.from_dlpack, [f.thing()],
         {n: f.thing() for n in ("device", "copy") if r.random() < 0.3}),
        (x.__dlpack__, [], {n: f.thing() for n in ("stream", "max_version", "dl_device", "copy")
                            if r.random() < 0.4}),
        (memoryview, [x], {}),
        (lambda: memoryview(x).cast("B"), [], {}),
        (np.add, [x, f.thing()], {}),
        (np.asarray, [f.tensor()], {}),
        (x.__array__, [f.thing()], {}),
        (x.numpy, [], {"force": f.thing()}),
        (th.from_numpy, [f.array()], {}),
        (th.frombuffer, [r.choice([bytearray(9), b"12345678", f.array()])],
         {"dtype": x.dtype, "count": f.integer(), "offset": f.integer()}),
        (th.as_tensor, [f.thing()], {"dtype": x.dtype}),
        (x.__array_wrap__, [f.thing()], {}),
    ])  # fmt: skip


def index(f):
    """x[key], x[key] = value, and the slots beside them."""
    r, x = f.random, f.tensor()

    def part():
        return r.choice([
            f.small, f.small, lambda: ..., lambda: None, lambda: slice(f.small(), f.small()),
            lambda: slice(f.thing(), f.thing(), f.thing()), f.tensor, f.tensor, f.several, f.array,
            f.hostile, lambda: r.choice([True, False]), lambda: x > 0,
            lambda: th.zeros((), dtype=r.choice([th.uint8, th.bool, th.int64]),
                             device=r.choice(["cpu", "meta"])),
        ])()  # fmt: skip

    key = tuple(part() for _ in range(r.choice([0, 1, 2, 3, 5])))
    if r.random() < 0.1:
        key = (part(),) * r.choice([17, 32, 33, 64])
    key = r.choice([key, key, part(), list(key)])
    if r.random() < 0.5:
        return x.__getitem__, [key], {}
    return x.__setitem__, [key, r.choice([f.number, f.tensor, f.thing, f.several, f.hostile])()], {}


def loader(f):
    """A pass over a loader whose set, sampler or collate function does harm."""
    r = f.random

    class Odd(data.Dataset):
        def __len__(self):
            f.harm()
            return r.choice([3, 4, 0, 2**62, -1, "x"]) if r.random() < 0.2 else 4

        def __getitem__(self, i):
            f.harm()
            return f.thing() if r.random() < 0.3 else th.ones(2) * i

    sets = [Odd(), data.TensorDataset(th.ones(4, 2), th.ones(4)), f.thing(), list(range(5))]
    named = {"batch_size": r.choice([1, 2, None]), "shuffle": r.random() < 0.5}
    if r.random() < 0.03:
        named["num_workers"] = 1
    for name in inspect.signature(data.DataLoader).parameters:
        if r.random() < 0.04 and name not in ("num_workers", "timeout", "self", "dataset"):
            named[name] = f.thing()

    def run(given):
        for k, batch in enumerate(data.DataLoader(given, **named)):
            f.keep(batch)
            if k > 5:
                break

    return run, [r.choice(sets)], {}


def place(f):
    """A public function of some module, with anything."""
    r = f.random
    args = [f.tensor() if r.random() < 0.5 else f.thing() for _ in range(r.choice([0, 1, 2, 2, 3]))]
    return r.choice(FUNCTIONS), args, {}


def subclass(f):
    """A subclass or a mode in use."""
    r = f.random
    s, t = f.hostile(), f.tensor()
    name = r.choice(["data", "grad", "requires_grad", "shape", "x"])
    return r.choice([
        (lambda: type("S", (th.Tensor,), {"__torch_function__": f.thing()})(2), [], {}),
        (th.Tensor._make_subclass, [f.thing(), t, f.thing()], {}),
        (t.as_subclass, [r.choice([th.Tensor, nn.Parameter, type(s), f.thing()])], {}),
        (th.Tensor, [f.thing() for _ in range(r.choice([0, 1, 2]))], {}),
        (nn.Parameter, [f.thing(), f.thing()], {}),
        (th.add, [s, t], {}),
        (th.cat, [[s, t, s]], {}),
        (lambda: s + t, [], {}),
        (lambda: t + s, [], {}),
        (lambda: t == s, [], {}),
        (lambda: t @ s, [], {}),
        (t.__setattr__, [name, f.attribute(name)], {}),
        (t._become, [r.choice([f.thing(), f.tensor()])], {}),
        (th.Generator().set_state, [f.thing()], {}),
        (th.Generator, [f.thing()], {}),
        (th.device, [f.thing()], {}),
        (th.Size, [f.thing()], {}),
        (r.choice([th.no_grad, th.enable_grad, th.inference_mode]), [f.thing()], {}),
        (th.finfo if r.random() < 0.5 else th.iinfo, [f.thing()], {}),
        (th.tensor, [f.thing()], {"dtype": t.dtype, "requires_grad": r.choice([True, False])}),
    ])  # fmt: skip


# by weight
CALLS = [
    private, private, module, module, optimizer, autograd, autograd, autograd, file, pickled,
    dlpack, index, index, index, loader, place, place, subclass, subclass,
]  # fmt: skip
