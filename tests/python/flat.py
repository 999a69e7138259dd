"""Memory stays as it is: each loop runs 10,000 times; prints by how many KiB the process grew in
each, beyond the first 3,000. test_memory.py runs this; a new loop is a function in LOOPS."""

import copy
import gc
import pickle
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import numpy as np  # noqa: E402

import tensorh as th  # noqa: E402
from tensorh.utils.data import DataLoader, TensorDataset  # noqa: E402

X = th.ones(3, 4)
ARRAY = np.ones((3, 4), "float32")


def simple_calls():
    y = th.add(X, X, alpha=2).sum(dim=1, keepdim=True)
    y.mul_(2).clamp_(min=0)
    th.add(X, 1, out=th.empty(3, 4))
    return th.max(X, 1).values, th.cat([X, X]), X.view(4, 3), X.split(2)


def operators():
    return 2 * X + X / 3 - X**2, X == 1, -X, X @ X.T, bool(X[0, 0]), float(X[0, 0])


def indexing():
    X[0, 1:3] = 2.0
    X[[0, 1], [1, 2]] = th.tensor([1.0, 2.0])
    return X[1], X[..., 1], X[X > 0], X[None, 1:], X[[0, 2]], list(X)


def data():
    return th.tensor([[1.0, 2.0]]), th.from_numpy(ARRAY), X.tolist(), np.asarray(X), repr(X)


def exceptions():
    for wrong in (
        lambda: th.add(X, object()),
        lambda: th.add(X),
        lambda: th.add(X, 1, no_such=2),
        lambda: th.add(X, 1, input=X),
        lambda: th.max(X, object()),
        lambda: th.mm(X, X),
        lambda: X.sum(7),
        lambda: X[9],
        lambda: X.no_such,
        lambda: th.zeros(2**62),
        lambda: th.zeros(2**70),
        lambda: th.tensor(["a"]),
    ):
        try:
            wrong()
        except Exception:
            continue
        raise AssertionError("not refused")


def cycles():
    y = X.clone()
    y.me = y
    y.list = [y, X + 1]
    z = X[0]
    z.other = y
    y.other = z


def recorded():
    w = th.ones(3, 4, requires_grad=True)
    y = (w * X).sum()
    w.mine = [w]  # (w.name = y is a cycle through the tape, which no collector sees, as in torch)
    return (y * 2).requires_grad


NET = th.nn.Sequential(th.nn.Linear(4, 3), th.nn.ReLU(), th.nn.Linear(3, 1))
ADAM = th.optim.Adam(NET.parameters(), lr=1e-3)
SET = TensorDataset(th.arange(4.0), th.arange(4))


def training():
    ADAM.zero_grad()
    th.nn.functional.mse_loss(NET(X), X[:, :1]).backward()
    th.nn.utils.clip_grad_norm_(NET.parameters(), 1.0)
    ADAM.step()


def new_modules():
    m = th.nn.Linear(4, 2)
    m.mine = m
    o = th.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    m(X).sum().backward()
    o.step()


def hooks_that_raise():
    w = th.ones(3, 4, requires_grad=True)
    y = w * 2
    y.register_hook(lambda g: 1 / 0)
    m = th.nn.ReLU()
    m.register_forward_hook(lambda m, i, o: {}["none"])
    for call in (y.sum().backward, lambda: m(y)):
        try:
            call()
        except (ZeroDivisionError, KeyError):
            continue
        raise AssertionError("no exception")


class Double(th.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.mine = ctx
        if n > 1:
            raise ValueError
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 + 0 * ctx.saved_tensors[0], None


def functions():
    w = th.ones(3, 4, requires_grad=True)
    Double.apply(w, 1).sum().backward()
    try:
        Double.apply(w, 2)
    except ValueError:
        return
    raise AssertionError("no exception")


def hooked_cycles():
    x = th.ones(3, requires_grad=True)
    x.register_hook(lambda g, x=x: x)
    x.me = x


def epochs():
    for a, b in DataLoader(SET, 2, shuffle=True):
        a + b


def new_classes():
    class Sub(th.Tensor):
        pass

    class Net(th.nn.Module):
        pass

    X.as_subclass(Sub) + X
    Net().sub = th.nn.ReLU()


def pickles():
    pickle.loads(pickle.dumps([X, th.nn.Parameter(X)]))
    copy.deepcopy(NET)


def new_code():
    exec("y = w * 2\ny.sum().backward()", {"w": NET[0].bias})


LOOPS = [
    simple_calls, operators, indexing, data, exceptions, cycles, recorded, training, new_modules,
    hooks_that_raise, functions, hooked_cycles, epochs, new_classes, pickles, new_code,
]  # fmt: skip


def resident():
    """KiB that the process has in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def growth(loop, times):
    for _ in range(times // 3):
        loop()
    before = resident()
    for _ in range(times):
        loop()
    return resident() - before


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for loop in LOOPS:
        print(loop.__name__, growth(loop, times), flush=True)


if __name__ == "__main__":
    main()
