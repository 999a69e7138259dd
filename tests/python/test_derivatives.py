"""gradcheck, torch.autograd.functional and torch.func beside closed formulas; a program beside
torch, where it is installed."""

import numpy as np
import pytest

import tensorh as torch
from tensorh import func, nn
from tensorh.autograd import Function, functional
from tensorh.nn import functional as F


def leaf(*values, dtype=torch.float64):
    return torch.tensor(list(values), dtype=dtype, requires_grad=True)


def numbers(t):
    return t.tolist()


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


def made(forward, backward):
    return type("Made", (Function,), {"forward": staticmethod(forward),
                                      "backward": staticmethod(backward)})


# --- gradcheck -----------------------------------------------------------------------------------


def test_gradcheck_agrees():
    x, y = leaf(0.3, 0.8), leaf(1.2, 0.4)
    c = torch.tensor([1 + 2j, 0.5 - 1j], dtype=torch.complex128, requires_grad=True)
    for fn, inputs in [(lambda a, b: (a * b).sin(), (x, y)), (lambda a: (a.sum(), a * 2), (x,)),
                       (Square.apply, (x,)), (lambda a: a * a, (c,)), (lambda a: a.abs(), (c,))]:
        assert torch.autograd.gradcheck(fn, inputs)
        assert torch.autograd.gradgradcheck(fn, inputs)
    assert torch.autograd.gradcheck(torch.sin, x)
    assert x.grad is None and numbers(x) == [0.3, 0.8]


def test_gradcheck_notices():
    wrong = made(lambda c, x: (c.save_for_backward(x), x * x)[1],
                 lambda c, g: g * 3 * c.saved_tensors[0])
    twice = made(lambda c, x: (c.save_for_backward(x), x**3)[1],
                 lambda c, g: g * 3 * c.saved_tensors[0].detach() ** 2)
    x = leaf(0.5, 1.5)
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input"):
        torch.autograd.gradcheck(wrong.apply, (x,))
    assert torch.autograd.gradcheck(wrong.apply, (x,), raise_exception=False) is False
    assert torch.autograd.gradcheck(twice.apply, (x,))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradgradcheck(twice.apply, (x,))
    with pytest.raises(ValueError, match="requires_grad"):
        torch.autograd.gradcheck(torch.sin, (x.detach(),))
    batches = {"check_batched_grad": True, "check_batched_forward_grad": True}
    assert torch.autograd.gradcheck(torch.sin, (x,), check_forward_ad=True, **batches)
    assert torch.autograd.gradgradcheck(torch.sin, (x,), check_batched_grad=True)
    with pytest.raises(AssertionError, match="requires check_forward_ad"):
        torch.autograd.gradcheck(torch.sin, (x,), **batches)


def test_gradcheck_notices_in_its_other_modes():
    x = leaf(0.5, 1.5)
    wrong = made(lambda c, x: (c.save_for_backward(x), x * x)[1],
                 lambda c, g: g * 3 * c.saved_tensors[0])
    with pytest.raises(RuntimeError, match="Jacobian"):
        torch.autograd.gradcheck(wrong.apply, (x,), fast_mode=True)
    assert torch.autograd.gradcheck(Square.apply, (x,), fast_mode=True)
    # right for one gradient, wrong for several at once
    several = made(lambda c, x: (c.save_for_backward(x), x * x)[1],
                   lambda c, g: g * (3 if torch._C._vmap_depth() else 2) * c.saved_tensors[0])
    assert torch.autograd.gradcheck(several.apply, (x,))
    with pytest.raises(RuntimeError, match="batched gradient"):
        torch.autograd.gradcheck(several.apply, (x,), check_batched_grad=True)


# --- what is linear in pieces --------------------------------------------------------------------

IMAGE, CLASSES = (1, 1, 2, 4), (2, 4)
FLAT = {  # torch 2.15's second derivatives of these are zeros
    "relu": F.relu, "relu_": lambda x: (x * 1).relu_(), "leaky_relu": F.leaky_relu,
    "threshold": lambda x: F.threshold(x, 0.1, 2.0), "hardtanh": F.hardtanh, "relu6": F.relu6,
    "hardtanh_": lambda x: F.hardtanh(x * 1, inplace=True), "hardshrink": F.hardshrink,
    "softshrink": F.softshrink, "prelu": lambda x: F.prelu(x, leaf(0.25).detach()),
    "max_pool2d": lambda x: F.max_pool2d(x.reshape(IMAGE), 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x.reshape(IMAGE), 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x.reshape(IMAGE), (1, 2)),
    "nll_loss": lambda x: F.nll_loss(x.reshape(CLASSES), torch.tensor([1, 2])),
    "abs": torch.abs,
}  # fmt: skip
NONE = {  # and these have none: torch's gradient does not require grad
    "clamp": lambda x: x.clamp(-1, 1), "max": torch.max, "min": torch.min,
    "mean": lambda x: F.adaptive_avg_pool2d(x.reshape(IMAGE), 1), "hardsigmoid": F.hardsigmoid,
    "cumsum": lambda x: x.cumsum(0), "where": lambda x: torch.where(x > 0, x, -x),
}  # fmt: skip
POINTS = (0.3, -0.7, 1.2, -1.4, 0.5, -0.5, 0.0, 3.3)


@pytest.mark.parametrize("name", FLAT)
def test_second_derivatives_of_what_is_linear_in_pieces_are_zeros(name):
    x = leaf(*POINTS)
    for of in (x, x * 2, torch.sin(x)):  # a leaf, and what a call made
        (g,) = torch.autograd.grad(FLAT[name](of).sum(), of, create_graph=True)
        (second,) = torch.autograd.grad(g.sum(), of)
        assert numbers(second) == [0.0] * len(POINTS)
    (g,) = torch.autograd.grad(FLAT[name](x).exp().sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    (slope,) = torch.autograd.grad(FLAT[name](x).sum(), x)
    if FLAT[name](x).shape == x.shape:  # e^f has (f')^2 e^f where f is linear
        near(second, (slope**2 * FLAT[name](x).exp()).detach().numpy())
    meta = torch.ones(8, device="meta", dtype=torch.float64).requires_grad_()
    if name not in ("prelu", "nll_loss"):
        (g,) = torch.autograd.grad(FLAT[name](meta).sum(), meta, create_graph=True)
        assert torch.autograd.grad(g.sum(), meta)[0].shape == (8,)


@pytest.mark.parametrize("name", NONE)
def test_second_derivatives_that_torch_has_not(name):
    x = leaf(*POINTS)
    (g,) = torch.autograd.grad(NONE[name](x).sum(), x, create_graph=True)
    assert not g.requires_grad


AT_NAN = {  # the gradient at a NaN as torch's formulas have it one element at a time
    "hardtanh": (F.hardtanh, 1.0), "relu6": (F.relu6, 1.0), "hardshrink": (F.hardshrink, 1.0),
    "softshrink": (F.softshrink, 1.0), "hardswish": (F.hardswish, 1.0), "elu": (F.elu, 1.0),
    "celu": (F.celu, 1.0), "selu": (F.selu, 1.0507009873554805), "relu": (F.relu, 1.0),
    "leaky_relu": (F.leaky_relu, 0.01), "hardsigmoid": (F.hardsigmoid, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_NAN)
@pytest.mark.parametrize("count", [1, 3, 65])
def test_gradients_at_nan_do_not_depend_on_the_place(name, count):
    f, expected = AT_NAN[name]
    x = leaf(*[float("nan")] * count)
    y = f(x)
    y.sum().backward()
    assert bool(torch.isnan(y).all()) and numbers(x.grad) == [expected] * count


INF, NAN = float("inf"), float("nan")


def test_acosh_where_it_is_none():
    x = leaf(-3.0, -1.0, -0.5, 1.0, 2.0)
    y = torch.acosh(x)
    y.sum().backward()
    assert numbers(y)[3:] == [0, 1.3169578969248166] and bool(y[:3].isnan().all())
    np.testing.assert_allclose(numbers(x.grad), [8**-0.5, INF, NAN, INF, 3**-0.5], rtol=1e-12)


def test_second_derivatives_of_acosh_and_logit_where_they_end():
    x = leaf(1.0, -1.0, 2.0, 0.5, -3.0)
    (g,) = torch.autograd.grad(torch.acosh(x).sum(), x, create_graph=True)
    (g2,) = torch.autograd.grad(g.sum(), x)
    wanted = [-INF, INF, -2 * 27**-0.5, NAN, 3 * 512**-0.5]
    np.testing.assert_allclose(numbers(g2), wanted, rtol=1e-12)
    x = leaf(-3.0, 2.0, 0.5, 0.2)
    (g,) = torch.autograd.grad(torch.logit(x).sum(), x, create_graph=True)
    (g2,) = torch.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(numbers(g), [NAN, NAN, 4, 6.25], rtol=1e-12)
    np.testing.assert_allclose(numbers(g2), [0, 0, 0, -23.4375], rtol=1e-12)


@pytest.mark.parametrize("loss", [F.huber_loss, F.smooth_l1_loss])
def test_the_line_of_a_loss_goes_on_to_infinity(loss):
    x = leaf(INF, -INF, 1e300, -2.0, 1.0, 0.5, NAN)
    target = leaf(*[0.0] * 7)
    value = loss(x, target, reduction="none")
    assert numbers(value)[:6] == [INF, INF, 1e300, 1.5, 0.5, 0.125]
    value.sum().backward()
    slopes = [1.0, -1.0, 1.0, -1.0, 1.0, 0.5]
    assert numbers(x.grad)[:6] == slopes and numbers(-target.grad)[:6] == slopes
    assert bool(value[6].isnan()) and bool(x.grad[6].isnan())


@pytest.mark.parametrize(
    "values, largest, least, norm",
    [
        ([NAN, 1.0, -2.0], [1, 0, 0], [1, 0, 0], [0, 0, 0]),
        ([NAN, NAN, INF], [0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]),
        ([INF, -INF, 1.0], [1, 0, 0], [0, 1, 0], [0.5, -0.5, 0]),
        ([-INF, -INF, -INF, -INF], [0.25] * 4, [0.25] * 4, [-0.25] * 4),
        ([2.0, 2.0, -3.0, -3.0], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0, 0, -0.5, -0.5]),
        ([NAN], [1], [1], [0]),
    ],
)
def test_gradients_of_extrema_at_nan_and_ties(values, largest, least, norm):
    for dtype in (torch.float64, torch.float32, torch.float16):
        for f, expected in [(torch.max, largest), (torch.min, least),
                            (lambda t: torch.norm(t, INF), norm)]:
            x = leaf(*values, dtype=dtype)
            f(x).backward()
            assert x.grad.dtype == dtype and numbers(x.grad) == expected
    x = leaf(*[1.0] * 100_000, dtype=torch.float16)
    x.max().backward()
    assert 0 < x.grad[0].item() < 2e-5 and x.grad[0] == x.grad[-1]


# --- functional and func -------------------------------------------------------------------------

X = np.array([[0.3, -0.2], [1.1, 0.7]])
Y = np.array([0.5, 1.5])


def pair():
    return torch.tensor(X.tolist(), dtype=torch.float64), torch.tensor(Y.tolist(),
                                                                       dtype=torch.float64)


def near(t, expected):
    assert tuple(t.shape) == np.shape(expected)
    assert np.allclose(numbers(t), expected, rtol=1e-12, atol=1e-14)


def test_jacobian():
    x, y = pair()
    near(functional.jacobian(torch.sin, y), np.diag(np.cos(Y)))
    a, b = functional.jacobian(lambda a, b: a @ b, (x, y))
    near(b, X)
    near(a, np.einsum("ik,j->ikj", np.eye(2), Y))
    near(functional.jacobian(lambda t: torch.ones(3, dtype=torch.float64), y), np.zeros((3, 2)))
    with pytest.raises(RuntimeError, match="strict"):
        functional.jacobian(lambda t: torch.ones(3), y, strict=True)
    with pytest.raises(TypeError):
        functional.jacobian(lambda t: 3, y)
    y.requires_grad_()
    assert not functional.jacobian(torch.sin, y).requires_grad
    functional.jacobian(torch.sin, y, create_graph=True).sum().backward()
    near(y.grad, -np.sin(Y))


def test_hessian_and_products():
    x, y = pair()

    def f(a, b):
        return (torch.sin(a) * b).sum()

    v = (x * 2, y + 1)
    (haa, hab), (hba, hbb) = functional.hessian(f, (x, y))
    near(haa, np.einsum("ij,ik,jl->ijkl", -np.sin(X) * Y, np.eye(2), np.eye(2)))
    near(hab, np.einsum("ij,jk->ijk", np.cos(X), np.eye(2)))
    near(hba, np.einsum("ij,jk->kij", np.cos(X), np.eye(2)))
    near(hbb, np.zeros((2, 2)))
    expected = (-np.sin(X) * Y * 2 * X + np.cos(X) * (Y + 1), (np.cos(X) * 2 * X).sum(0))
    for product in (functional.vhp, functional.hvp):
        out, got = product(f, (x, y), v)
        near(out, (np.sin(X) * Y).sum())
        for g, e in zip(got, expected, strict=True):
            near(g, e)
    out, got = functional.vjp(lambda a: a @ y, x, y)
    near(got, np.outer(Y, Y))
    out, got = functional.jvp(lambda a: a @ y, x, x)
    near(got, X @ Y)
    near(out, X @ Y)
    with pytest.raises(RuntimeError):
        functional.vjp(torch.sin, y)
    with pytest.raises(RuntimeError):
        functional.vjp(torch.sin, y, x)
    with pytest.raises(RuntimeError):
        functional.hessian(torch.sin, y)


def test_func():
    from tensorh import func

    _, y = pair()

    def cube(t):
        return (t**3).sum()

    near(func.grad(cube)(y), 3 * Y**2)
    near(func.grad(lambda t: func.grad(cube)(t).sum())(y), 6 * Y)
    near(func.hessian(cube)(y), np.diag(6 * Y))
    near(func.jacrev(torch.sin)(y), np.diag(np.cos(Y)))
    gradient, value = func.grad_and_value(cube)(y)
    near(gradient, 3 * Y**2)
    near(value, (Y**3).sum())
    gradient, (value, aux) = func.grad_and_value(lambda t: (cube(t), {"t": t}), has_aux=True)(y)
    assert not aux["t"].requires_grad and not gradient.requires_grad
    out, pull = func.vjp(torch.sin, y)
    near(pull(y)[0], np.cos(Y) * Y)
    tree = func.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": y, "b": (y * 2,)})
    near(tree["a"], 2 * Y)
    near(tree["b"][0], Y)
    a, b = func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(y, y * 3)
    near(b, Y)
    assert not func.grad(cube)(y).requires_grad
    w = leaf(2)
    func.grad(lambda t: (t * t * w).sum())(y).sum().backward()
    assert w.grad.item() == 2 * Y.sum()
    with pytest.raises(RuntimeError, match="scalar"):
        func.grad(torch.sin)(y)
    with pytest.raises(AttributeError, match="inside"):
        _ = func.rearrange


def small_net():
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    return net, {name: p.detach() * 2 for name, p in net.named_parameters()}


def test_a_module_with_other_tensors():
    func = torch.func
    net, other = small_net()
    mine = dict(net.named_parameters())
    x = torch.arange(6.0).reshape(2, 3)
    plain = torch.tanh(x @ other["0.weight"].T + other["0.bias"])
    plain = plain @ other["2.weight"].T + other["2.bias"]
    assert torch.allclose(func.functional_call(net, other, x), plain)
    some = func.functional_call(net, ({"2.bias": other["2.bias"]}, {}), (x,))
    assert torch.allclose(some, net(x) + mine["2.bias"])
    grads = func.grad(lambda p: func.functional_call(net, p, x).sum())(other)
    assert grads["2.bias"].item() == 2 and not grads["0.weight"].requires_grad
    assert all(p is mine[name] and p.grad is None for name, p in net.named_parameters())
    with pytest.raises(RuntimeError, match="Unexpected key.*nope(.|\n)*Missing key.*0.bias"):
        func.functional_call(net, {"nope": x}, x, strict=True)
    with pytest.raises(RuntimeError):
        func.functional_call(net, other, torch.zeros(2, 4))
    assert all(p is mine[name] for name, p in net.named_parameters())


def test_a_module_with_tied_tensors():
    func = torch.func
    net = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    x, eye = torch.ones(1, 2), torch.eye(2)
    near(func.functional_call(net, {"0.weight": 3 * eye}, x), 9 * np.ones((1, 2)))
    loose = func.functional_call(net, {"0.weight": 3 * eye}, x, tie_weights=False)
    assert torch.allclose(loose, 3 * (x @ net[1].weight.T))
    with pytest.raises(ValueError, match="tied"):
        func.functional_call(net, {"0.weight": eye, "1.weight": 2 * eye}, x)


def test_products_of_a_jacobian_with_a_vector():
    func = torch.func
    y = torch.tensor(Y)
    out, product = func.jvp(torch.sin, (y,), (torch.ones_like(y),))
    near(out, np.sin(Y))
    near(product, np.cos(Y))
    both = (y, torch.ones_like(y))
    _, (first, second) = func.jvp(lambda a, b: (a * b, a.sum()), (y, y * 2), both)
    near(first, 2 * Y**2 + Y)
    near(second, Y.sum())
    _, twice = func.jvp(lambda a: func.jvp(torch.sin, (a,), (torch.ones_like(a),))[1], (y,),
                        (torch.ones_like(y),))
    near(twice, -np.sin(Y))
    near(func.jacfwd(lambda t: t**2)(y), np.diag(2 * Y))
    with pytest.raises(RuntimeError, match="shapes"):
        func.jvp(torch.sin, (y,), (torch.ones(7),))


# --- beside torch, where it is -------------------------------------------------------------------


def test_the_same_program_under_torch():
    other = pytest.importorskip("torch")

    def program(torch):
        class Cube(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, k):
                ctx.save_for_backward(x)
                ctx.k = k
                return x**3 * k, x + 1

            @staticmethod
            def backward(ctx, a, b):
                return a * 3 * ctx.saved_tensors[0] ** 2 * ctx.k + b, None

        x = torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64, requires_grad=True)
        y = x.sin()
        h = y.register_hook(lambda g: g * 2)
        a, b = Cube.apply(y, 2.0)
        (g,) = torch.autograd.grad((a * b).sum(), x, create_graph=True)
        h.remove()
        ((g**2).sum() + a.sum()).backward()
        names = [n.grad_fn.name() for n in (y, a, g, a.sum(), x[0], x.view(3, 1), x + 1)]
        return g.tolist(), x.grad.tolist(), names

    mine, theirs = program(torch), program(other)
    assert np.allclose(mine[0], theirs[0], rtol=1e-13)
    assert np.allclose(mine[1], theirs[1], rtol=1e-13)
    assert mine[2][:2] + mine[2][3:] == theirs[2][:2] + theirs[2][3:]


def test_strict_mode_refuses_what_is_independent():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)

    def linear(a):
        return (a * 2).sum()

    twice = r"jacobian of the user-provided function.*independent of (the )?input"
    for f in (functional.hessian, functional.vhp, functional.hvp):
        given = (linear, x) if f is functional.hessian else (linear, x, y)
        with pytest.raises(RuntimeError, match="While computing the hessian.*" + twice):
            f(*given, strict=True)
    functional.jacobian(linear, x, strict=True)
    functional.vjp(linear, x, strict=True)
    for f in (functional.jacobian, functional.vjp):
        with pytest.raises(RuntimeError, match=twice + ".*create_graph=True"):
            f(linear, x, strict=True, create_graph=True)
    with pytest.raises(RuntimeError, match="output .* is independent of input 1"):
        functional.jvp(lambda a, b: a * 2, (x, y), (y, x), strict=True)


def wanting(tree):
    """requires_grad of the tensors of a tree."""
    if isinstance(tree, dict):
        return {k: wanting(t) for k, t in tree.items()}
    return [wanting(t) for t in tree] if isinstance(tree, tuple) else tree.requires_grad


W = torch.tensor([3.0, 4.0], requires_grad=True)
TRANSFORMS = {
    "grad": lambda f, x: func.grad(lambda y: f(y)[0].sum())(x),
    "grad_and_value": lambda f, x: func.grad_and_value(lambda y: f(y)[0].sum())(x),
    "vjp": lambda f, x: func.vjp(lambda y: f(y)[0], x)[1](torch.ones(2)),
    "jvp": lambda f, x: func.jvp(lambda y: f(y)[0], (x,), (torch.ones(2),)),
    "jacrev": lambda f, x: func.jacrev(lambda y: f(y)[0])(x),
    "jacfwd": lambda f, x: func.jacfwd(lambda y: f(y)[0])(x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_in_a_mode_that_records_nothing_gives_no_history(name):
    def f(y):
        return (y * y * W,)

    x = torch.tensor([1.0, 2.0])
    plain = TRANSFORMS[name](f, x)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            for given in (x, x.clone()):
                r = TRANSFORMS[name](f, given)
                assert "True" not in str(wanting(r)) and str(r) == str(detached(plain))
    assert "False" not in str(wanting(plain))


def detached(tree):
    return tuple(map(detached, tree)) if isinstance(tree, tuple) else tree.detach()


@pytest.mark.parametrize("transform", [func.jacrev, func.jacfwd])
def test_what_a_jacobian_returns_beside_itself_keeps_the_callers_history_alone(transform):
    def f(y):
        return y * y, {"own": y * 2, "y": y, "w": W * y, "number": 3}

    x = torch.tensor([1.0, 2.0])
    jacobian, beside = transform(f, has_aux=True)(x)
    assert jacobian.tolist() == [[2, 0], [0, 4]] and beside.pop("number") == 3
    assert wanting(beside) == {"own": False, "y": False, "w": True}
    with torch.no_grad():
        beside = transform(lambda y: (y, (W * y, W)), has_aux=True)(x)[1]
    assert wanting(beside) == [False, True]


# --- names of recorded calls ----------------------------------------------------------------------

# As torch 2.15 names them.
NAMES = {
    "AddBackward0": lambda x: x + 1,
    "RsubBackward1": lambda x: 2 - x,
    "SubBackward0": lambda x: x - 2,
    "PowBackward0": lambda x: (x**2, x.square()),
    "PowBackward1": lambda x: x**x,
    "PowBackward2": lambda x: 2**x,
    "SumBackward0": lambda x: x.sum(),
    "SumBackward1": lambda x: x.sum(0),
    "MeanBackward1": lambda x: x.mean((0, 1)),
    "MaxBackward0": lambda x: x.max(0)[0],
    "MaxBackward1": lambda x: x.max(),
    "ProdBackward1": lambda x: x.prod(1),
    "ClampBackward1": lambda x: (x.clamp(0, 1), x.clamp(max=1), x.clone().clamp_(0)),
    "ClampMinBackward0": lambda x: x.clamp_min(0),
    "ClampMinBackward1": lambda x: x.clamp_min(x),
    "LerpBackward0": lambda x: x.lerp(x, 0.5),
    "LerpBackward1": lambda x: x.lerp(x, x),
    "DivBackward2": lambda x: torch.div(x, x, rounding_mode="floor"),
    "Log1PBackward0": torch.log1p,
    "Expm1Backward0": torch.expm1,
    "LogsumexpBackward0": lambda x: x.logsumexp(1),
    "DotBackward0": lambda x: (x[0] @ x[0], x[0].dot(x[0])),
    "MvBackward0": lambda x: (x @ x[0], x.mv(x[0])),
    "MmBackward0": lambda x: (x @ x.T, x.mm(x.T), F.linear(x, torch.ones(4, 3))),
    "BmmBackward0": lambda x: torch.bmm(x[None], x.T[None]),
    "AddmmBackward0": nn.Linear(3, 4),
    "ConvolutionBackward0": lambda x: nn.Conv2d(1, 1, 2)(x[None, None]),
    "MaxPool2DWithIndicesBackward0": lambda x: F.max_pool2d(x[None, None], 2),
    "AvgPool2DBackward0": lambda x: F.avg_pool2d(x[None, None], 2),
    "NativeBatchNormBackward0": nn.BatchNorm1d(3),
    "NativeLayerNormBackward0": nn.LayerNorm(3),
    "GeluBackward0": lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")),
    "NllLossBackward0": lambda x: F.cross_entropy(x, torch.tensor([0, 1])),
    "NllLoss2DBackward0": lambda x: F.nll_loss(x.reshape(1, 2, 3, 1), torch.zeros(1, 3, 1).long()),
    "MseLossBackward0": lambda x: [
        F.mse_loss(x, x.detach(), reduction=r) for r in ("mean", "sum", "none")
    ],
    "SmoothL1LossBackward0": lambda x: F.smooth_l1_loss(x, x.detach()),
    "HuberLossBackward0": lambda x: F.huber_loss(x, x.detach()),
    "BinaryCrossEntropyBackward0": lambda x: (
        F.binary_cross_entropy(x, x.detach()),
        F.binary_cross_entropy(x, x.detach(), reduction="none"),
    ),
    "BinaryCrossEntropyWithLogitsBackward0": lambda x: nn.BCEWithLogitsLoss()(x, x.detach()),
    "StackBackward0": lambda x: torch.stack([x, x]),
    "RollBackward0": lambda x: x.roll(1),
    "ViewBackward0": lambda x: (x.view(6), x.reshape(-1), x.flatten(), x.unflatten(0, (1, 2))),
    "SliceBackward0": lambda x: (x[1:], x.narrow(0, 0, 1)),
    "SplitBackward0": lambda x: (x.chunk(2)[0], x.split(1)[0]),
    "SqueezeBackward1": lambda x: x[:1].squeeze(0),
    "ToCopyBackward0": lambda x: (x.double(), x.to(torch.float16)),
    "CloneBackward0": lambda x: x.T.contiguous(),
    "FillBackward2": lambda x: x.clone().fill_(2),
    "IndexPutBackward0": lambda x: set_at(x.clone(), [0], torch.ones(3)),
    "torch::autograd::CopySlices": lambda x: (
        set_at(x.clone(), 0, 5.0),
        set_at(x.clone(), slice(1), torch.ones(3)),
    ),
    "torch::autograd::CopyBackwards": lambda x: x.clone().copy_(x),
}


def set_at(x, i, value):
    x[i] = value
    return x


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_call_has_torchs_name(name):
    x = torch.full((2, 3), 0.5, requires_grad=True)
    results = NAMES[name](x)
    for y in [results] if isinstance(results, torch.Tensor) else results:
        assert y.grad_fn.name() == name
        last = name.split("::")[-1]
        assert f"grad_fn=<{last}>)" in repr(y).replace("\n", "").replace("       ", " ")
        assert repr(y.grad_fn).startswith(f"<{last} object at 0x")


def test_a_composed_call_names_its_result_alone():
    x = torch.ones(2, 3, requires_grad=True)
    loss = F.mse_loss(x * 2, torch.zeros(2, 3))
    inner = loss.grad_fn.next_functions[0][0]
    assert [loss.grad_fn.name(), inner.name()] == ["MseLossBackward0", "PowBackward0"]


@pytest.mark.parametrize(
    ("x", "dim", "second", "third"),  # torch 2.15's, of the gradient times 1, 2, 3, ..
    [
        ([2.0, 0, 3, 0, 5], None, [0, 120, 0, 60, 0], [240, 600, 160, 300, 96]),
        ([2.0, 0, 3, 4], None, [24, 60, 16, 12], [96, 96, 48, 36]),
        ([2.0, 3, 4], 0, [17, 10, 7], [12, 6, 4]),
        ([[2.0, 0, 0], [1, 2, 3]], 1, [0, 6, 4, 27, 18, 13], [12, 6, 4, 60, 48, 40]),
    ],
)
def test_further_derivatives_of_products_with_zeros(x, dim, second, third):
    x = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    y = x.prod() if dim is None else x.prod(dim).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    w = torch.arange(1.0, x.numel() + 1, dtype=torch.float64).reshape(x.shape)
    (h,) = torch.autograd.grad((g * w).sum(), x, create_graph=True)
    assert h.flatten().tolist() == second
    assert torch.autograd.grad((h * w).sum(), x)[0].flatten().tolist() == third


def test_products_of_some_may_be_beyond_that_of_all():
    x = torch.tensor([1e-15, 1e-15, 1e20, 1e20], requires_grad=True)
    plain = torch.autograd.grad(x.prod(), x)[0]
    (g,) = torch.autograd.grad(x.prod(), x, create_graph=True)
    assert torch.allclose(g, plain, rtol=1e-6) and torch.isfinite(g).all()
    h = torch.tensor([0.01, 0.01, 0.01, 100, 100, 100], dtype=torch.float16, requires_grad=True)
    (g,) = torch.autograd.grad(h.prod(), h, create_graph=True)
    assert torch.isfinite(g).all()
    empty = torch.zeros(0, requires_grad=True)
    (g,) = torch.autograd.grad(empty.prod(), empty, create_graph=True)
    assert torch.autograd.grad(g.sum(), empty)[0].shape == (0,)


def test_functional_call_tells_of_buffers_that_the_call_sets():
    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls = self.calls + 1
            return x + self.calls

    module, given = Counts(), {"calls": torch.zeros(())}
    assert func.functional_call(module, given, torch.ones(())).item() == 2
    assert given["calls"].item() == 1 and module.calls.item() == 0
