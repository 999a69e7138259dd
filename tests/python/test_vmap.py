"""torch.vmap and what stands on it beside loops; a program beside torch, where it is installed."""

import numpy as np
import pytest

import tensorh as torch
from tensorh import func, nn
from tensorh.autograd import Function, functional
from tensorh.nn import functional as F

X = torch.arange(12, dtype=torch.float64).reshape(3, 4) / 7
Y = torch.arange(8, dtype=torch.float64).reshape(2, 4) / 3
IMAGES = torch.arange(108, dtype=torch.float64).reshape(3, 1, 6, 6) / 50


def close(a, b):
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b, strict=True))
    return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b)


def looped(f, *args):
    """f of one sample after another, stacked."""
    rows = [f(*(a[i] for a in args)) for i in range(len(args[0]))]
    if isinstance(rows[0], (tuple, list)):
        return tuple(torch.stack(list(column)) for column in zip(*rows, strict=True))
    return torch.stack(rows)


FUNCTIONS = {
    "numbers": lambda a: a.sin() * 2 + a.sum(),
    "cumsum": lambda a: a.cumsum(0),
    "sort": lambda a: tuple(torch.sort(a, descending=True)),
    "slices": lambda a: a[1:] * a[0],
    "last": lambda a: a[..., -1],
    "mask": lambda a: torch.where(a > 1, a, -a).masked_fill(a > 1.3, 5.0),
    "products": lambda a: torch.outer(a, a) @ a,
    "einsum": lambda a: torch.einsum("i,j->ij", a, a),
    "views": lambda a: a.view(2, 2).t().reshape(4).unsqueeze(0).expand(3, 4),
    "pieces": lambda a: torch.cat([a.chunk(2)[1], torch.stack(a.unbind())]),
    "norms": lambda a: F.layer_norm(a, (4,), a * 0 + 2, a * 0 + 1),
    "softmax": lambda a: F.log_softmax(a, -1),
    "extremes": lambda a: (a.max(), a.argmin(), a.max(0).values, a.amax(0)),
    "truth": lambda a: ((a > 1).any(), (a > 1).all()),
    "in place": lambda a: a.clone().mul_(2).add_(a),
    "new": lambda a: a.new_zeros(3) + torch.zeros_like(a)[0] + a[:3],
    "one by one": lambda a: torch.searchsorted(a, a),
    "solve": lambda a: torch.linalg.solve(torch.outer(a, a) + torch.eye(4, dtype=a.dtype), a),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_sample(name):
    f = FUNCTIONS[name]
    assert close(torch.vmap(f)(X), looped(f, X))
    assert close(torch.vmap(f, in_dims=1)(X.t()), looped(f, X))


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("truth", "one by one")])
def test_gradients_pass_through(name):
    f = FUNCTIONS[name]

    def total(x, run):
        out = run(f, x)
        outs = out if isinstance(out, tuple) else (out,)
        return sum((o * o).sum() for o in outs if o.is_floating_point())

    x, z = X.clone().requires_grad_(), X.clone().requires_grad_()
    total(x, lambda g, a: torch.vmap(g)(a)).backward()
    total(z, looped).backward()
    assert close(x.grad, z.grad)


@pytest.mark.parametrize("f", [
    lambda i: F.max_pool2d(F.conv2d(i, torch.ones(2, 1, 3, 3, dtype=i.dtype)), 2),
    lambda i: F.conv2d(i.unsqueeze(0), i[:, :3, :3].unsqueeze(0)),
    lambda i: F.avg_pool2d(i.unsqueeze(0), 2),
    lambda i: F.adaptive_avg_pool2d(i, 2),
    lambda i: F.scaled_dot_product_attention(i, i * 2, i * 3),
])  # fmt: skip
def test_images(f):
    assert close(torch.vmap(f)(IMAGES), looped(f, IMAGES))


def test_arguments_of_any_structure():
    f = torch.vmap(lambda d, k: {"s": d["a"].sum() + d["b"], "k": (k,)},
                   in_dims=({"a": 0, "b": None}, 1))
    out = f({"a": X, "b": torch.tensor(1.0)}, X.t())
    assert close(out["s"], X.sum(1) + 1) and close(out["k"][0], X)
    a, b = torch.vmap(lambda a: (a.sum(), a * 2), out_dims=(0, 1))(X)
    assert close(a, X.sum(1)) and close(b, (X * 2).t())
    assert torch.vmap(lambda a: (a, 7), out_dims=(0, None))(X)[1] == 7
    assert close(torch.vmap(lambda a, *, b: a + b)(X, b=X), X * 2)
    assert close(torch.vmap(lambda a: a.cumsum(0), chunk_size=2)(X), X.cumsum(1))
    assert type(torch.vmap(torch.sort)(X)) is type(torch.sort(X[0]))


def test_indices_and_tables():
    at = torch.tensor([[0, 1], [2, 3], [1, 1]])
    assert close(torch.vmap(lambda a, i: a[i])(X, at), X.gather(1, at))
    assert close(torch.vmap(lambda i: X[0][i])(at), X[0][at])
    assert close(torch.vmap(lambda a: a[torch.tensor([0, 2])])(X), X[:, [0, 2]])
    tables, words = torch.stack([X, X + 1]), torch.tensor([[0, 1], [2, 2]])
    assert close(torch.vmap(lambda w, i: F.embedding(i, w))(tables, words),
                 torch.stack([X[words[0]], X[words[1]] + 1]))
    assert close(torch.vmap(lambda a, i: a.index_select(0, i))(X, at), X.gather(1, at))


def test_batches_nest():
    pairs = torch.vmap(torch.vmap(torch.dot, in_dims=(None, 0)), in_dims=(0, None))
    assert close(pairs(X, Y), X @ Y.t())
    three = torch.vmap(torch.vmap(torch.vmap(torch.mul, (None, 0)), (0, None)), (None, 0))
    a, b, c = X[:, 0], X[0], None
    assert three(torch.ones(2), X).shape == (3, 2, 4) and c is None and a.shape != b.shape


def test_the_dtype_is_that_of_one_sample():
    two = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert torch.vmap(lambda s, a: s * a)(two, torch.ones(2, 3)).dtype == torch.float32
    assert torch.vmap(lambda s: s * torch.tensor(2.0, dtype=torch.float64))(
        two.float()).dtype == torch.float64
    assert torch.vmap(lambda s: s * 2.5)(torch.arange(3)).dtype == torch.float32


# --- functions of functions -----------------------------------------------------------------------


def f(a):
    return (a.sin() * a).sum()


def test_gradients_of_each_sample():
    assert close(torch.vmap(func.grad(f))(X), looped(func.grad(f), X))
    assert close(torch.vmap(func.hessian(f))(X), looped(func.hessian(f), X))
    assert close(torch.vmap(func.jacrev(lambda a: a * a.sum()))(X),
                 looped(func.jacrev(lambda a: a * a.sum()), X))
    assert close(torch.vmap(lambda t: func.vjp(lambda a: a.sin() * a, t)[1](t)[0])(X),
                 looped(lambda t: func.vjp(lambda a: a.sin() * a, t)[1](t)[0], X))
    assert close(torch.vmap(lambda t: func.jvp(torch.sin, (X[0],), (t,))[1])(X), X[0].cos() * X)


@pytest.mark.parametrize("shared", [True, False])
def test_gradients_of_shared_parameters(shared):
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(8, 3)).double()
    params = {k: p.detach() for k, p in model.named_parameters()}
    labels = torch.tensor([0, 2, 1])

    def loss(p, image, label):
        out = func.functional_call(model, p, (image.unsqueeze(0),))
        return F.cross_entropy(out, label.unsqueeze(0))

    if shared:
        got = torch.vmap(func.grad(loss), in_dims=(None, 0, 0))(params, IMAGES, labels)
    else:
        many = {k: torch.stack([p, p, p]) for k, p in params.items()}
        got = torch.vmap(func.grad(loss))(many, IMAGES, labels)
    for i in range(3):
        want = func.grad(loss)(params, IMAGES[i], labels[i])
        assert all(close(got[k][i], want[k]) for k in want)


def test_jacobians_by_one_backward():
    def g(a):
        return a.sin() * a.sum()

    want = torch.stack([torch.autograd.grad(g(x)[i], x)[0] for i in range(4)
                        for x in [X[0].clone().requires_grad_()]])
    assert close(func.jacrev(g)(X[0]), want) and close(func.jacrev(g, chunk_size=3)(X[0]), want)
    assert close(functional.jacobian(g, X[0], vectorize=True), want)
    assert close(functional.hessian(f, X[0], vectorize=True), functional.hessian(f, X[0]))
    twice = func.jacrev(func.jacrev(g))(X[0])
    assert close(twice, functional.jacobian(lambda a: functional.jacobian(g, a, True), X[0]))
    none = func.jacrev(lambda a: torch.ones(2, dtype=a.dtype))(X[0])
    assert close(none, torch.zeros(2, 4).double())


def test_a_batch_of_seeds():
    h = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    out = h**2
    (got,) = torch.autograd.grad(out, h, torch.eye(3), is_grads_batched=True)
    assert close(got, torch.diag(2 * h.detach()))
    with pytest.raises(RuntimeError, match="as many samples"):
        torch.autograd.grad(h**2, h, None, is_grads_batched=True)


def test_models_stacked():
    models = [nn.Linear(3, 2) for _ in range(3)]
    params, buffers = func.stack_module_state(models)
    base = nn.Linear(3, 2)
    x = torch.randn(4, 3)
    out = torch.vmap(lambda p, b: func.functional_call(base, (p, b), (x,)))(params, buffers)
    assert close(out, torch.stack([m(x) for m in models])) and not buffers
    assert all(p.is_leaf and p.requires_grad for p in params.values())
    net = func.replace_all_batch_norm_modules_(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    assert net[1].running_mean is None
    value, product = func.linearize(lambda a: a**3, X[0])
    assert close(value, X[0] ** 3) and close(product(X[1]), 3 * X[0] ** 2 * X[1])


# --- autograd.Function ----------------------------------------------------------------------------


class Square(Function):
    @staticmethod
    def forward(a):
        return a * a

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] * grad


class Looped(Square):
    generate_vmap_rule = True


class Ruled(Square):
    @staticmethod
    def vmap(info, in_dims, a):
        assert info.batch_size == 3 and in_dims == (0,) and a.shape == (3, 4)
        return Square.apply(a), 0


def test_functions_of_ones_own():
    for kind in (Looped, Ruled):
        x = X.clone().requires_grad_()
        out = torch.vmap(kind.apply)(x)
        out.sum().backward()
        assert close(out, X * X) and close(x.grad, 2 * X)
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        torch.vmap(Square.apply)(X)


# --- random numbers, errors -----------------------------------------------------------------------


def test_random_numbers():
    def draw(a):
        return torch.rand(5), F.dropout(torch.ones(40) + a.sum() * 0)

    with pytest.raises(RuntimeError, match="random numbers in a batch"):
        torch.vmap(draw)(X)
    for a in torch.vmap(draw, randomness="same")(X):
        assert torch.equal(a[0], a[1])
    for a in torch.vmap(draw, randomness="different")(X):
        assert not torch.equal(a[0], a[1])


@pytest.mark.parametrize("call, error, text", [
    (lambda: torch.vmap(lambda a: a.item())(torch.ones(3)), RuntimeError, "stands for all samples"),
    (lambda: torch.vmap(lambda a: a if a > 0 else -a)(torch.ones(3)), RuntimeError, "all samples"),
    (lambda: torch.vmap(lambda a: a.numpy())(X), RuntimeError, "numpy"),
    (lambda: torch.vmap(lambda a: a.tolist())(X), RuntimeError, "tolist"),
    (lambda: torch.vmap(lambda a: torch.zeros(4).double().add_(a))(X), RuntimeError, "in place"),
    (lambda: torch.vmap(lambda a: a.nonzero())(X), RuntimeError, "size"),
    (lambda: torch.vmap(lambda a: a @ torch.ones(3, dtype=a.dtype))(X), RuntimeError, "multiplied"),
    (lambda: torch.vmap(lambda a: 3)(X), ValueError, "must only return Tensors"),
    (lambda: torch.vmap(lambda a: a, out_dims=None)(X), ValueError, "out_dim is None"),
    (lambda: torch.vmap(torch.add)(X, Y), ValueError, "same size in the mapped dimension"),
    (lambda: torch.vmap(torch.dot, in_dims=(0, 2))(X, X), ValueError, "dimensionality 2"),
    (lambda: torch.vmap(torch.dot, in_dims=(0,))(X, X), ValueError, "structure"),
    (lambda: torch.vmap(torch.add, in_dims=(0, 0))(X, 2), ValueError, "non-Tensor arguments"),
    (lambda: torch.vmap(torch.neg, in_dims=None)(X), ValueError, "in_dims"),
    (lambda: torch.vmap(torch.neg)(), ValueError, "no inputs"),
    (lambda: torch.vmap(torch.neg, randomness="any"), RuntimeError, "Only allowed values"),
    (lambda: torch.vmap(torch.neg, chunk_size=0), ValueError, "chunk_size"),
    (lambda: torch.vmap(lambda a: a.sum().backward())(X), RuntimeError, "grads"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
    assert torch._C._vmap_depth() == 0
    assert close(torch.vmap(torch.neg)(X), -X)


def test_what_a_sample_refuses():
    """What would be lost, or be of no use behind the batch, is an error."""
    w = torch.ones(4, requires_grad=True)

    def hooked(a):
        a = a.detach().requires_grad_()
        a.register_hook(lambda g: g * 10)
        return a

    def replaced(a):
        b = torch.zeros(4, dtype=a.dtype)
        b.data = a
        return b

    for f, text in ((hooked, "sample of a batch"), (replaced, "sample of a batch"),
                    (lambda a: (w * 2).backward(a) or a, "grads"),
                    (lambda a: setattr(w, "grad", a.float()) or a, "sample of a batch")):
        with pytest.raises(RuntimeError, match=text):
            torch.vmap(f)(X)
    assert w.grad is None and close(w + 1, torch.full((4,), 2.0))


def test_odd_samples():
    one = torch.vmap(lambda a, i: a.gather(0, i))(X, torch.tensor([0, 1, 2]))
    assert close(one, X.gather(1, torch.tensor([[0], [1], [2]]))[:, 0])
    got = torch.vmap(lambda a: func.grad(lambda w: (w.squeeze() * a).sum())(X[:1]))(X)
    assert close(got, X[:, None])
    x = X.clone().requires_grad_()
    assert not torch.vmap(lambda a: (a * 2).detach_())(x).requires_grad
    none = torch.vmap(lambda a: a.sort().values)(X[:0])
    assert none.shape == (0, 4) and none.dtype == X.dtype
    rows = torch.vmap(lambda a: a * 0 + torch.rand(4), randomness="same", chunk_size=2)(X)
    assert torch.equal(rows[0], rows[2])
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        torch.vmap(lambda a, b: a + b, chunk_size=2)(X, b=torch.ones(5))
    with pytest.raises(RuntimeError, match="depends on data"):
        torch.vmap(lambda a: F.one_hot(a.long()))(X)


def test_what_escapes_its_batch():
    kept = []
    torch.vmap(lambda a: kept.append(a) or a)(X)
    with pytest.raises(RuntimeError, match="has ended"):
        kept[0] + 1
    assert kept[0].shape == (4,)


def test_beside_torch():
    other = pytest.importorskip("torch")
    weight, data = np.arange(12.0).reshape(3, 4) / 9 - 0.5, np.arange(20.0).reshape(5, 4) / 11
    got = []
    for t in (torch, other):
        call = t.nn.functional.cross_entropy

        def loss(w, a, label, call=call):
            return call((w @ a).unsqueeze(0), label.unsqueeze(0))

        args = t.tensor(weight), t.tensor(data), t.tensor([0, 2, 1, 0, 2])
        got.append([t.vmap(t.func.grad(loss), in_dims=(None, 0, 0))(*args).numpy(),
                    t.vmap(t.func.hessian(loss), in_dims=(None, 0, 0))(*args).numpy()])
    assert all(np.allclose(a, b) for a, b in zip(*got, strict=True))
