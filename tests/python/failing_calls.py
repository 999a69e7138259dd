"""Calls that are no rows, for failing.py: training, modules, files, what is Python in the package.
Each gives the same bits each time, and is quick.
"""

import copy
import io
import pickle

import numpy as np

import tensorh as th
from tensorh import nn, safetensors
from tensorh.utils import data
from tensorh.utils.checkpoint import checkpoint

X = th.ones(3, 4)
SMALL = np.ones((2, 2), "float32")


def attribute():
    """A wrapper that is part of a cycle."""
    x = X.clone()
    x.me = [x]
    return x[1]


def leaf():
    return th.arange(12.0).view(3, 4).requires_grad_()


def backward(**flags):
    w = leaf()
    ((w * X).exp() * 1e-3).sum().backward(**flags)
    return w.grad


def twice():
    w = leaf()
    g = th.autograd.grad((w**3).sum(), w, create_graph=True)[0]
    return g, th.autograd.grad(g.sum(), w)


def to_what_is_no_leaf():
    w = leaf()
    y = w * 2
    y.sum().backward(inputs=[y, w])
    return y.grad, w.grad


def hooks():
    w, seen = leaf(), []
    y = w * 2
    y.register_hook(lambda g: g * 3)
    y.register_hook(lambda g: seen.append(g.sum())).remove()
    w.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.sum()))
    y.retain_grad()
    y.sum().backward()
    return w.grad, y.grad, seen


def graph():
    y = (leaf() * 2).sum()
    return y.grad_fn.name(), [f.name() for f, _ in y.grad_fn.next_functions], repr(y)


class Double(th.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, n):
        ctx.save_for_backward(x, y)
        ctx.mark_non_differentiable(y)
        ctx.n = n
        return x * n, y

    @staticmethod
    def backward(ctx, g, h):
        x, _ = ctx.saved_tensors
        return g * ctx.n + x * 0, None, None


def function():
    w = leaf()
    a, b = Double.apply(w, X.clone(), 2)
    a.sum().backward()
    return w.grad, b


def recomputed():
    w = leaf()
    checkpoint(lambda x: (x * 2).exp().sum() * 1e-9, w, use_reentrant=True).backward()
    return w.grad


def linear():
    m = nn.Sequential(nn.Linear(4, 3), nn.ReLU(inplace=True), nn.Linear(3, 2))
    m(X).sum().backward()
    return [p.grad for p in m.parameters()], repr(m)


def images():
    m = nn.Sequential(nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2), nn.MaxPool2d(2), nn.Flatten())
    y = m(th.ones(2, 1, 5, 5))
    y.sum().backward()
    return y, list(m.buffers())


def sequences():
    y, (h, c) = nn.LSTM(4, 2, batch_first=True)(X[None])
    return y, h, c, nn.MultiheadAttention(4, 2)(X, X, X)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(4, 2)
        self.scale = nn.Parameter(th.ones(1))
        self.register_buffer("steps", th.zeros(1))
        self.parts = nn.ModuleList([nn.Dropout(0.0)])

    def forward(self, x):
        self.steps += 1
        return self.parts[0](self.one(x)) * self.scale


def own_module():
    m = Net()
    m.register_forward_hook(lambda m, i, o: o * 2)
    m.register_full_backward_hook(lambda m, i, o: None)
    x = X.clone().requires_grad_()
    m(x).sum().backward()
    other = copy.deepcopy(m)
    other.load_state_dict(m.state_dict())
    return other.double().eval()(X.double()), x.grad, [n for n, _ in m.named_modules()]


def hooked_by_all():
    m, seen = nn.Linear(4, 3), []
    with nn.modules.module.register_module_forward_hook(lambda m, i, o: seen.append(o.sum())):
        m(X)
    return m(X), seen


def training(kind, **options):
    m = nn.Linear(4, 1)
    o = kind(m.parameters(), lr=0.1, **options)
    schedule = th.optim.lr_scheduler.StepLR(o, 1)
    for _ in range(2):
        o.zero_grad()
        nn.functional.mse_loss(m(X), th.zeros(3, 1)).backward()
        nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        o.step()
        schedule.step()
    again = kind(m.parameters(), lr=0.1, **options)
    again.load_state_dict(o.state_dict())
    return list(m.parameters()), again.state_dict()["state"], repr(o)


def closure():
    w = leaf()
    o = th.optim.SGD([w], lr=0.1)
    return o.step(lambda: (w * w).sum())


def batches():
    whole = data.TensorDataset(th.arange(6.0), th.arange(6))
    g = th.Generator().manual_seed(3)
    return [list(data.DataLoader(whole, 2, shuffle=True, generator=g)), whole[1]]


def collated():
    return list(data.DataLoader([{"a": th.ones(2), "b": (1, 2.5)}] * 3, 2))


def saved():
    stream = io.BytesIO()
    th.save({"a": X, "p": nn.Parameter(X), "n": [1, 2.5, "x"]}, stream)
    stream.seek(0)
    return th.load(stream)


def safe():
    return safetensors.load(safetensors.save({"a": X, "b": th.arange(3)}, {"k": "v"}))


class Sub(th.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs)


def subclass():
    s = X.as_subclass(Sub)
    return (s + X).as_subclass(th.Tensor), type(s[0]).__name__, s.sum().item()


def refused():
    """What is refused is refused, or there is no memory for that."""
    said = []
    for wrong in (
        lambda: th.add(X, object()),
        lambda: th.max(X, 1, no_such=2),
        lambda: X[9],
        lambda: th.mm(X, X),
        lambda: X.view(5),
        lambda: X.no_such,
        lambda: nn.Linear(4, 2)(th.ones(3)),
    ):
        try:
            wrong()
        except (TypeError, RuntimeError, IndexError, AttributeError) as error:
            if isinstance(error, MemoryError):
                raise
            said.append(type(error).__name__)
    return said


def inputs_in_place():
    w = leaf()
    y = w * 1
    y[0] = 5.0
    y[:, 1].mul_(2)
    y.unsqueeze_(0).t_ if y.ndim < 3 else None
    y.sum().backward()
    return w.grad


NAMES = iter(sorted({row["torch"] for row in th._C._rows()}))  # a function is made once for each

CALLS = [
    ("attribute", attribute),
    ("attributes", lambda: (X.shape, X.device, X.dtype, X.stride(), X.T, X.mT)),
    ("index", lambda: X[1, 1:3]),
    ("index by lists", lambda: X[[0, 2], [1, 1]]),
    ("index by a mask", lambda: (X[X > 0], X[None, ..., [0, 1]], X[True])),
    ("assign", lambda: X.__setitem__(0, 1.0)),
    ("assign a list", lambda: X.__setitem__(0, [1.0, 1.0, 1.0, 1.0])),
    ("assign by lists", lambda: X.__setitem__(([0, 1], [1, 2]), th.ones(2))),
    ("iterate", lambda: list(X)),
    ("tensor", lambda: th.tensor([[1.0, 2.0], [3.0, 4.0]])),
    ("tensor of arrays", lambda: th.tensor([SMALL, SMALL])),
    ("tensor of bytes", lambda: th.tensor([bytearray(b"ab"), bytearray(b"cd")])),
    (
        "device",
        lambda: (th.device("cpu", 0), repr(th.device("cpu:0")), th.device("cpu") == X.device),
    ),
    ("tolist", X.tolist),
    ("buffer", lambda: memoryview(X).tolist()),
    ("array", lambda: (np.asarray(X).tolist(), th.from_numpy(SMALL), X + SMALL[0, 0])),
    ("dlpack", lambda: (th.from_dlpack(X), np.from_dlpack(X).tolist())),
    ("frombuffer", lambda: th.frombuffer(bytearray(16), dtype=th.float32)),
    ("repr", lambda: (repr(X), repr(leaf()), repr(nn.Parameter(X)), f"{X[0, 0]:.2f}")),
    ("arithmetic", lambda: 2 * X + X / 3 - X**2),
    ("comparison", lambda: (X == 1, X < 2, 2 > X, bool((X == 1).all()))),
    ("generator", lambda: th.Generator().manual_seed(1).get_state()),
    ("conversion", lambda: (X.double(), X.to(th.int64), X.to("cpu"), X.float(), X.type_as(X))),
    ("einsum", lambda: th.einsum("ij,kj->ik", X, X)),
    ("forms in Python", lambda: (th.where(X > 0)[0], X.max(1, True), th.split(X, [1, 2]))),
    ("long lists", lambda: (th.stack([X] * 40), X.expand(*[1] * 12, 3, 4), th.cat([X] * 50))),
    ("many keywords", lambda: th.zeros(size=(2,), dtype=th.int32, device="cpu")),
    ("a method of many arguments", lambda: X[None].repeat(*[1] * 13).shape),
    ("copies", lambda: (copy.copy(X), copy.deepcopy([X, leaf()]))),
    ("pickles", lambda: pickle.loads(pickle.dumps([X, nn.Parameter(X)]))),
    ("parameter", lambda: nn.Parameter(X, requires_grad=False)),
    ("backward", backward),
    ("backward, retained", lambda: backward(retain_graph=True)),
    ("twice", twice),
    ("inputs", to_what_is_no_leaf),
    ("hooks", hooks),
    ("grad_fn", graph),
    ("Function", function),
    ("checkpoint", recomputed),
    ("func", lambda: th.func.grad(lambda x: (x * x).sum())(X)),
    ("jacobian", lambda: th.autograd.functional.jacobian(lambda x: x * 2, X[0])),
    ("no_grad", lambda: th.no_grad()(lambda: leaf() * 2)()),
    ("in place", inputs_in_place),
    ("Linear", linear),
    ("Conv2d", images),
    ("padding", lambda: nn.Conv2d(1, 2, 2, padding="same", padding_mode="reflect")(X[None])),
    ("LSTM", sequences),
    ("own module", own_module),
    ("hooks of all modules", hooked_by_all),
    ("SGD", lambda: training(th.optim.SGD, momentum=0.9)),
    ("Adam", lambda: training(th.optim.Adam)),
    ("AdamW", lambda: training(th.optim.AdamW, amsgrad=True)),
    ("closure", closure),
    ("DataLoader", batches),
    ("collate", collated),
    ("save", saved),
    ("safetensors", safe),
    ("subclass", subclass),
    ("refused", refused),
    ("a function by its name", lambda: th._C._row(next(NAMES)) and None),
]

# What is made of C alone: the interpreter itself loses arguments and crashes where memory for a
# frame of Python code fails, so that its allocations fail only in these, and in rows.
OF_C = (
    "attributes,index,index by lists,index by a mask,assign,assign a list,assign by lists,iterate,"
    "tensor,tensor of arrays,tensor of bytes,device,tolist,buffer,dlpack,frombuffer,arithmetic,"
    "comparison,generator,conversion,long lists,many keywords,a method of many arguments,parameter"
).split(",")


def _with_hooks():
    w = leaf()
    y = (w * 2).sum()
    y.register_hook(abs)
    return {"self": y}


def _linear():
    return {"self": nn.Linear(4, 3), "x": X}


def _sequential():
    return {"self": nn.Sequential(nn.Linear(4, 3), nn.ReLU()), "x": X}


def _stepping():
    p = leaf()
    p.grad = th.ones(3, 4)
    return {"self": th.optim.Adam([p])}


C = th._C
# (name, function, what makes its argument): one object and one call
METHODS = [
    ("backward", th.Tensor.backward, lambda: {"self": (leaf() * 2).sum(), "retain_graph": True}),
    ("backward with a hook", th.Tensor.backward, lambda: _with_hooks() | {"retain_graph": True}),
    ("grad_fn", C.Tensor.grad_fn.__get__, lambda: {"self": (leaf() * 2).sum()}),
    ("set data", th.Tensor.data.__set__, lambda: {"self": leaf(), "value": X}),
    ("set grad", th.Tensor.grad.__set__, lambda: {"self": leaf(), "value": X}),
    ("Linear", nn.Linear.__call__, _linear),
    ("Sequential", nn.Sequential.__call__, _sequential),
    ("refused", C.add, lambda: {"self": X, "other": object()}),
    ("refused keyword", C.add, lambda: {"self": X, "no": object()}),
    ("refused shape", C.mm, lambda: {"self": X, "mat2": X}),
    ("refused index", X.__getitem__, lambda: {"self": 9}),
    ("_safetensors_load", C._safetensors_load, lambda: {"self": "/no/such/file"}),
    ("_raw", C._raw, lambda: {"self": X}),
    ("_gather", C._gather, lambda: {"self": (X, X), "rows": [0, 2]}),
    ("subclass", C.add, lambda: {"self": X.as_subclass(Plain), "other": X}),
    ("subclass index", C.Tensor.__getitem__, lambda: {"self": X.as_subclass(Plain), "i": 0}),
]
KEYWORDS = ("retain_graph", "no")


class Plain(th.Tensor):
    pass
