"""Functions that are a few calls of rows: gradients where two arguments meet, out=, what is
refused, forms of calls. Expected values are those of torch 2.15."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import tensorh as torch
from tensorh.nn import functional as F
from tensorh.testing import assert_close

inf, nan = float("inf"), float("nan")
T = torch.tensor


def gradients(f, *values, dtype=torch.float64):
    """The first result of f and the gradients of its sum."""
    leaves = [T(v, dtype=dtype, requires_grad=True) for v in values]
    y = f(*leaves)
    y = y[0] if isinstance(y, tuple) else y
    y.sum().backward()
    return [y.tolist(), *(x.grad.tolist() for x in leaves)]


def near(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=0)


# --- gradients ------------------------------------------------------------------------------------

GRADIENTS = {
    "logaddexp": (
        torch.logaddexp, ([1.0, 1.0, -inf, 0.0], [1.0, inf, 2.0, 1000.0]),
        ([1.6931471805599454, inf, 2.0, 1000.0], [0.5, 0.0, 0.0, 0.0], [0.5, 1.0, 1.0, 1.0]),
    ),
    "xlogy": (
        torch.xlogy, ([0.0, 0.0, 0.0, 2.0, 2.0], [2.0, -1.0, nan, 3.0, 0.0]),
        ([0.0, 0.0, nan, 2.1972245773362196, -inf],
         [0.6931471805599453, 0.0, nan, 1.0986122886681098, -inf],
         [0.0, 0.0, nan, 0.6666666666666666, inf]),
    ),
    "std_mean": (torch.std_mean, ([1.0, 1.0, 1.0],), (0.0, [0.0, 0.0, 0.0])),
    "fmax": (
        torch.fmax, ([1.0, nan, nan, 2.0, -inf], [1.0, 2.0, nan, nan, -inf]),
        ([1.0, 2.0, nan, 2.0, -inf], [0.5, 0.0, 1.0, 1.0, 0.5], [0.5, 1.0, 0.0, 0.0, 0.5]),
    ),
    "fmin": (
        torch.fmin, ([1.0, nan, nan, 1.0], [1.0, 2.0, nan, 3.0]),
        ([1.0, 2.0, nan, 1.0], [0.5, 0.0, 1.0, 1.0], [0.5, 1.0, 0.0, 0.0]),
    ),
    "logit at eps": (
        lambda x: torch.logit(x, eps=0.1), ([0.1, 0.9, 0.5, 0.05, 0.95, nan],),
        ([-2.197224577336219, 2.1972245773362196, 0.0, -2.197224577336219, 2.1972245773362196, nan],
         [11.111111111111109, 11.111111111111112, 4.0, 0.0, 0.0, nan]),
    ),
    "logit": (torch.logit, ([0.0, 0.5, 1.0],), ([-inf, 0.0, inf], [inf, 4.0, inf])),
    "prelu": (
        F.prelu, ([inf, 1.0, -2.0, 0.0], [0.25]),
        ([inf, 1.0, -0.5, 0.0], [1.0, 1.0, 0.25, 0.25], [-2.0]),
    ),
    "logsigmoid": (
        F.logsigmoid, ([-20.5, 20.5, 0.0, 800.0, -800.0, inf, -inf, nan],),
        ([-20.500000001250154, -1.2501528656053015e-09, -0.6931471805599453, 0.0, -800.0, 0.0,
          -inf, nan],
         [0.9999999987498471, 1.2501528648238605e-09, 0.5, 0.0, 1.0, 0.0, 1.0, nan]),
    ),
    "logit outside of [0, 1]": (
        torch.logit, ([2.0, -1.0, 0.5],), ([nan, nan, 0.0], [nan, nan, 4.0]),
    ),
    "nanmean": (
        lambda x: torch.nanmean(x, 1), ([[nan, nan], [1.0, nan], [1.0, 2.0]],),
        ([nan, 1.0, 1.5], [[nan, nan], [1.0, 0.0], [0.5, 0.5]]),
    ),
    "acosh": (
        torch.acosh, ([1e100, 1e9, 2.0, 1.0, inf, 0.5],),
        ([230.95165647996453, 21.416413017506358, 1.3169578969248166, 0.0, inf, nan],
         [1e-100, 1e-09, 0.5773502691896258, inf, 0.0, nan]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_where_arguments_meet(name):
    f, values, expected = GRADIENTS[name]
    near(gradients(f, *values), expected)


def test_second_derivative_of_logsigmoid():
    x = T([0.0, -1.0], dtype=torch.float64, requires_grad=True)
    (once,) = torch.autograd.grad(F.logsigmoid(x).sum(), x, create_graph=True)
    (twice,) = torch.autograd.grad(once.sum(), x)
    near([twice.tolist()], [[-0.25, -0.19661193324148185]])


def test_special_values():
    assert torch.logaddexp(T([-inf, inf, -inf]), T([-inf, inf, 1.0])).tolist() == [-inf, inf, 1.0]
    assert repr(torch.xlogy(T([0.0, 0.0]), T([0.5, inf]))) == "tensor([0., 0.])"
    assert_close(torch.logit(T([0.1, 0.9]), 0.6), T([0.4054651, -0.4054651]))
    assert torch.acosh(T([3e38, 1e20])).tolist() == [89.28999328613281, 46.74484634399414]
    half = torch.acosh(T([40000.0, 60000.0, 1.5], dtype=torch.float16))
    assert half.tolist() == [11.2890625, 11.6953125, 0.96240234375]


IN_PLACE = {
    "addbmm": [(2, 2), (3, 2, 2), (3, 2, 2)], "addmm": [(2, 2), (2, 2), (2, 2)],
    "addmv": [(2,), (2, 2), (2,)], "addr": [(2, 2), (2,), (2,)],
    "baddbmm": [(1, 2, 2), (1, 2, 2), (1, 2, 2)], "cumsum": [(3,), 0], "float_power": [(3,), 3],
    "index_copy": [(3,), 0, T([1, 0]), (2,)],
    "index_fill": [(3,), 0, T([1, 0]), 2.0], "put": [(3,), T([1, 0]), (2,)],
}  # fmt: skip


@pytest.mark.parametrize("name", torch._functions.IN_PLACE)
def test_backward_through_a_form_in_place(name):
    def run(in_place):
        torch.manual_seed(1)
        given = [
            (torch.rand(x, dtype=torch.float64) + name.endswith("cosh")).requires_grad_()
            if isinstance(x, tuple) else x
            for x in IN_PLACE.get(name, [(3,)])
        ]  # fmt: skip
        x, *more = given
        y = x * 1
        r = getattr(y, name + "_" * in_place)(*more)
        assert (r is y) == in_place
        (r * r).sum().backward()
        leaves = [g for g in given if isinstance(g, torch.Tensor) and g.requires_grad]
        return [r, *(torch.zeros_like(g) if g.grad is None else g.grad for g in leaves)]

    for a, b in zip(run(False), run(True), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("f", [F.hardswish, F.hardsigmoid, F.mish])
def test_backward_through_an_activation_in_place(f):
    found = []
    for inplace in False, True:
        x = T([-1.0, 0.5, 2.0], requires_grad=True)
        f(x * 1, inplace=inplace).sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


# --- dtypes ---------------------------------------------------------------------------------------

# The dtype of f of two tensors: (dtype, number of dimensions) of each, and that of the result.
DTYPES = [
    (torch.fmax, "float32 1", "float64 0", "float32"),
    (torch.fmin, "float64 0", "float32 1", "float32"),
    (torch.fmax, "uint8 1", "int64 0", "uint8"),
    (torch.fmax, "int64 1", "float16 0", "float16"),
    (torch.fmax, "float64 0", "float32 0", "float64"),
    (torch.xlogy, "float32 1", "float64 0", "float32"),
    (torch.xlogy, "float16 1", "int64 1", "float16"),
    (torch.xlogy, "int64 1", "int64 1", "float32"),
    (torch.ldexp, "float16 1", "int64 1", "float16"),
    (torch.ldexp, "int64 1", "int64 1", "float32"),
    (torch.ldexp, "float32 1", "float64 0", "float32"),
    (torch.logaddexp, "int64 1", "float16 1", "float16"),
    (torch.normal, "float32 1", "float64 1", "float32"),
    (torch.normal, "float32 0", "float64 1", "float32"),
    (torch.block_diag, "uint8 1", "int64 0", "uint8"),
    (torch.result_type, "float32 1", "complex128 0", "complex64"),
    (torch.result_type, "float64 1", "complex64 0", "complex128"),
    (torch.result_type, "bool 1", "complex128 0", "complex128"),
    (torch.result_type, "int64 1", "float64 0", "float64"),
    (torch.result_type, "float32 0", "int64 1", "float32"),
    (torch.result_type, "uint8 1", "int16 0", "uint8"),
]


@pytest.mark.parametrize("f, a, b, expected", DTYPES)
def test_dtype_of_two(f, a, b, expected):
    given = []
    for kind, ndim in (a.split(), b.split()):
        given.append(torch.ones((2,) * int(ndim), dtype=getattr(torch, kind)))
    r = f(*given)
    assert (r if f is torch.result_type else r.dtype) is getattr(torch, expected)


def test_dtype_beside_a_number():
    x = torch.ones(1)
    assert torch.result_type(x, 1j) is torch.complex64 is torch.result_type(1j, x)
    assert torch.result_type(torch.ones(1, dtype=torch.int8), 2.5) is torch.float32
    assert torch.result_type(torch.ones(1, dtype=torch.uint8), 2) is torch.uint8
    assert torch.xlogy(T(2.0, dtype=torch.float16), 3).dtype is torch.float16
    y = torch.xlogy(T([2.0]), T([3.0], dtype=torch.float16))
    assert y.dtype is torch.float32 and y.tolist() == [2.1972246170043945]
    assert torch.clamp(T([1, 5]), T([2, 2]), 3.5).tolist() == [2.0, 3.5]


def test_complex_of_tensors_however_they_lie():
    x = torch.arange(24.0).reshape(2, 3, 4).permute(0, 2, 1)
    z = torch.complex(x, -x)
    assert torch.equal(z.real, x) and torch.equal(z.imag, -x)
    assert torch.equal(torch.polar(x, x * 0).real, x)
    for name in "asinh", "acosh", "atanh":
        f = getattr(torch, name)
        assert_close(f(z), f(z.contiguous()))


def test_types_by_name():
    assert T([1], dtype=torch.uint16).type() == "torch.UInt16Tensor"
    assert T([1.0]).to(torch.float8_e5m2).type() == "torch.Float8_e5m2Tensor"
    assert torch.FloatTensor(torch.Size([2, 3])).shape == (2, 3)
    assert torch.FloatTensor((2, 3)).tolist() == [2, 3] and torch.LongTensor(2, 3).shape == (2, 3)
    for bad in (2.5,), (T([1]),), (T([1.0]), 3):
        with pytest.raises(TypeError):
            torch.FloatTensor(*bad)


# --- precision ------------------------------------------------------------------------------------


def test_half_precision_is_computed_in_float32():
    x = T([20000.0, -20000.0, 1.0, -1.0], dtype=torch.float16)
    assert F.hardswish(x).tolist() == [20000.0, 0.0, 0.66650390625, -0.333251953125]
    assert F.hardswish(x, inplace=True) is x and x[0] == 20000 and x.dtype is torch.float16
    assert F.hardsigmoid(T([0.3], dtype=torch.float16)).tolist() == [0.5498046875]


def test_rms_norm():
    small = [[1e-3, 2e-3, 3e-3]]
    half = F.rms_norm(T(small, dtype=torch.float16), (3,))
    assert half.tolist() == [[0.457275390625, 0.91455078125, 1.37109375]]
    y = F.rms_norm(T(small, dtype=torch.bfloat16), (3,), T([1.0, 2.0, 3.0]))
    assert y.dtype is torch.bfloat16 and y.tolist() == [[0.45703125, 1.828125, 4.125]]
    large = F.rms_norm(T([300.0, 300.0, 3.0], dtype=torch.float16), [3])
    assert large.tolist() == [1.224609375, 1.224609375, 0.01224517822265625]
    x = torch.ones(1, 3)
    for shape in 3, "a", [3.0]:
        with pytest.raises(TypeError, match="'normalized_shape' .* must be tuple of ints"):
            F.rms_norm(x, shape)
    for weight in torch.ones(1), torch.ones(1, 3):
        with pytest.raises(RuntimeError, match="weight to be of same shape as normalized_shape"):
            F.rms_norm(x, [3], weight)
    with pytest.raises(RuntimeError, match="at least 1-dimensional"):
        F.rms_norm(x, [])


@pytest.mark.parametrize(
    "number, power, dtype, expected",
    [
        (1e-30, 200, "float32", 1.6069381e30), (1e30, -200, "float32", 6.2230153e-31),
        (1.0, -1074, "float64", 5e-324), (1e-300, 2000, "float64", 1.1481306952742545e302),
        (0.0, 200, "float32", 0.0), (inf, -200, "float32", inf), (1.0, 1024, "float32", inf),
        (1.0, 3, "float16", 8.0),
    ],
)  # fmt: skip
def test_ldexp_has_no_overflow_on_the_way(number, power, dtype, expected):
    dtype = getattr(torch, dtype)
    y = torch.ldexp(T([number], dtype=dtype), T([power]))
    assert y.dtype is dtype and y.item() == pytest.approx(expected, rel=1e-6, abs=0)


def test_new_keeps_integers():
    for x in T([1]), T([1.0], dtype=torch.float64):
        for data in [2**24 + 1], (2**24 + 1,), np.array([2**24 + 1]):
            y = x.new(data)
            assert y.dtype is x.dtype and y.tolist() == [2**24 + 1]
    assert T([1]).new(2, 3).shape == T([1]).new(torch.Size([2, 3])).shape == (2, 3)


# --- out= -----------------------------------------------------------------------------------------

X, V, AT = T([[1.0, 2.0], [3.0, 4.0]]), T([0.5, 0.25]), T([1, 0])
B = X.reshape(1, 2, 2)
OUT = {
    "outer": (V, V), "ger": (V, V), "inner": (V, V), "vdot": (V, V), "kron": (X, X),
    "diag": (V,), "logaddexp": (V, V), "xlogy": (2, V), "heaviside": (V, V), "fmax": (V, V),
    "fmin": (V, V), "nan_to_num": (V,), "exp2": (V,), "asinh": (V,), "acosh": (X,), "atanh": (V,),
    "arcsinh": (V,), "sinc": (V,), "deg2rad": (V,), "rad2deg": (V,), "logit": (V, 0.1),
    "addmv": (V, X, V), "addr": (X, V, V), "baddbmm": (B, B, B), "addbmm": (X, B, B),
    "cross": (T([1.0, 2.0, 3.0]), T([3.0, 2.0, 1.0])), "take": (V, AT), "diff": (V,),
    "msort": (V,), "float_power": (V, 2), "ldexp": (V, AT), "range": (1, 3),
    "isposinf": (V,), "isneginf": (V,), "isin": (V, V), "nansum": (V,), "nanmean": (V,),
    "narrow_copy": (V, 0, 1, 1), "index_copy": (V, 0, AT, V), "polar": (V, V), "complex": (V, V),
    "conj_physical": (V,), "chain_matmul": (X, X), "matrix_power": (X, 2), "tensordot": (X, X, 1),
    "norm": (X, "fro", 0), "nonzero": (X,), "clamp": (X, T([2.0, 2.0]), 3), "linalg.norm": (X, 1),
    "linalg.matrix_norm": (X,), "linalg.matrix_power": (X, 0), "linalg.multi_dot": ([X, X, V],),
    "linalg.vecdot": (V, V),
}  # fmt: skip


@pytest.mark.parametrize("name", OUT)
def test_out(name):
    where, _, last = ("torch." + name).rpartition(".")
    f = getattr(torch.linalg if where == "torch.linalg" else torch, last)
    expected = f(*OUT[name])
    out = torch.zeros_like(expected)
    assert f(*OUT[name], out=out) is out and torch.equal(out, expected)
    other = expected.new_empty((*expected.shape, 2))
    with pytest.warns(UserWarning, match="resized since it had shape"):
        assert f(*OUT[name], out=other) is other
    assert torch.equal(other, expected)


def test_out_of_another_shape_is_resized():
    empty = torch.empty(0, dtype=torch.float64)
    torch.add(V, V, out=empty)
    assert empty.dtype == torch.float64 and empty.tolist() == (V + V).tolist()
    values, places = torch.empty(0), torch.empty(0, dtype=torch.int64)
    assert torch.max(X, 1, out=(values, places))[1] is places
    assert torch.equal(values, X.max(1).values) and torch.equal(places, X.max(1).indices)
    x = torch.arange(4.0)
    for out in (x[:2], torch.empty(0, dtype=torch.int64), torch.empty(0, requires_grad=True)):
        with pytest.raises(RuntimeError):
            torch.add(x, 1.0, out=out)
    assert x.tolist() == [0, 1, 2, 3] and out.shape == (0,)


def test_what_out_may_be():
    assert torch.ger(V, V, out=None).shape == (2, 2)
    wide = torch.ger(V, V, out=torch.empty(2, 2, dtype=torch.float64))
    assert wide.tolist() == [[0.25, 0.125], [0.125, 0.0625]]
    for bad in torch.empty(2, 2, dtype=torch.int64), torch.empty(2, 2, dtype=torch.bool):
        with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired"):
            torch.ger(V, V, out=bad)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.ger(V, V, out=torch.empty(2, 2, requires_grad=True))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.ger(V.clone().requires_grad_(), V, out=torch.empty(2, 2))
    with torch.no_grad():
        torch.ger(V.clone().requires_grad_(), V, out=torch.empty(2, 2))
    with pytest.raises(TypeError, match="argument 'out' must be Tensor, not list"):
        torch.ger(V, V, out=[1])
    with pytest.raises(TypeError, match="out"):
        V.ger(V, out=torch.empty(2, 2))
    with pytest.raises(RuntimeError, match="out kwarg when as_tuple is True"):
        torch.nonzero(X, as_tuple=True, out=torch.empty(4, 2, dtype=torch.int64))
    assert "out" in inspect.signature(torch.ger).parameters
    assert "out" not in inspect.signature(torch.Tensor.ger).parameters


@pytest.mark.parametrize(
    "name, more",
    [
        ("atanh_", ()), ("arccosh_", ()), ("cumsum_", (0, torch.float32)),
    ],
)  # fmt: skip
def test_integers_take_no_floats_in_place(name, more):
    x = T([1, 2])
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
        more = more[:1] if name == "cumsum_" else more
        named = {"dtype": torch.float32} if name == "cumsum_" else {}
        getattr(x, name)(*more, **named)
    assert x.tolist() == [1, 2]


def test_hardtanh_of_integers_is_of_integers():
    """Values of torch 2.15."""
    values = [-3, -1, 0, 1, 3, 9]
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
        x = T(values, dtype=dtype)
        for y, expected in [
            (F.relu6(x), [0, 0, 0, 1, 3, 6]), (F.hardtanh(x), [-1, -1, 0, 1, 1, 1]),
            (F.hardtanh(x, -1.5, 1.5), [-1, -1, 0, 1, 1, 1]),
            (F.hardtanh(x, 0.5, 2.7), [0, 0, 0, 1, 2, 2]),
            (F.hardtanh(x.clone(), -1, 2, inplace=True), [-1, -1, 0, 1, 2, 2]),
        ]:  # fmt: skip
            assert y.dtype == dtype and y.tolist() == expected
    x = T([253, 255, 0, 1, 3, 9], dtype=torch.uint8)
    assert F.relu6(x).tolist() == [6, 6, 0, 1, 3, 6] and F.relu6(x).dtype == torch.uint8
    assert F.hardtanh(x).tolist() == [1, 1, 0, 1, 1, 1]


def test_lerp_and_addcdiv_take_what_torch_takes():
    a, b = T([1, 0]), T([3, 2])
    for weight, dtype in [(T(0.5), torch.float32), (T(0.5).double(), torch.float64)]:
        assert torch.lerp(a, b, weight).dtype == dtype
        assert torch.lerp(a.float(), b.float(), weight).dtype == torch.float32
    assert torch.lerp(Z, Z, 0.5, out=Z.double()).dtype == torch.float64
    assert torch.lerp(Z + 0j, Z + 2 + 0j, 1j)[0].item() == 2j
    assert torch.addcdiv(a, Z[:2] + 3, b).tolist() == [2.0, 1.5]
    assert torch.addcdiv(Z[:2], a, Z[:2] + 2).tolist() == [0.5, 0.0]
    assert torch.linspace(T(1), T(9), 5, dtype=torch.int64).tolist() == [1, 3, 5, 7, 9]


# --- what is refused ------------------------------------------------------------------------------

L3 = torch.arange(16.0).reshape(1, 4, 4)
Z = torch.zeros(3)
REFUSED = [
    (r"tensor a \(3\) must match the size of tensor b \(2\) at non-singl", lambda: Z + Z[:2]),
    (r"tensor a \(4\) must match .* b \(3\) .* dimension 3", lambda: L3 * torch.ones(2, 1, 4, 3)),
    (r"tensor a \(3\) must match .* \(2\) at", lambda: torch.normal(Z, torch.ones(2))),
    (r"tensor a \(3\) must match .* \(4\) at", lambda: torch.broadcast_tensors(Z, L3)),
    ("result type Float can't be cast to the desired output type Long", lambda: T([1]).add_(1.5)),
    (r"got Float and Half\n  in matmul\(self=float32", lambda: L3[0] @ L3[0].half()),
    ("some elements of the input tensor and the written", lambda: L3[0, 0, 1:].add_(L3[0, 0, :3])),
    ("expected scalar type Float but found Double", lambda: F.conv1d(L3[0], L3.double())),
    ("groups=1, .* 2 channels, but got 1", lambda: F.conv2d(L3, L3.expand(1, 2, 4, 4))),
    (r"\(4 x 4\). Kernel size: \(7 x 7\)", lambda: F.conv2d(L3, L3[None], dilation=2)),
    (r"Expected 3D \(unbatched\) or 4D .* to conv2d", lambda: F.conv2d(L3[0], L3[None])),
    ("In-place abs is not supported for complex tensors", lambda: (Z + 0j).abs_()),
    ("parameter numbers = 2 .* size = 3", lambda: F.prelu(torch.ones(2, 3), torch.ones(2))),
    ("parameter numbers = 2 .* size = 1", lambda: F.prelu(torch.ones(2), torch.ones(2))),
    ("scalar or 1D tensor", lambda: F.prelu(torch.ones(2, 3), torch.ones(1, 3))),
    ("zero-dim input", lambda: F.prelu(T(1.0), torch.ones(2))),
    ("Expected weight to be a vector", lambda: F.group_norm(torch.ones(2, 4), 2, torch.ones(1))),
    ("at least 2 dimensions .* received 1", lambda: F.group_norm(torch.ones(4), 2)),
    ("expected dtype float32 for 'end' but", lambda: torch.lerp(Z, Z.double(), 0.5)),
    ("expected dtype float32 for 'end' but", lambda: torch.lerp(Z, T(1.0).double(), 0.5)),
    ("expected dtype float32 for 'end' but", lambda: Z.clone().lerp_(Z.half(), Z)),
    ("expected dtype float32 for 'weight' but", lambda: torch.lerp(Z, Z, Z.double())),
    ("expected dtype complex64 for 'end'", lambda: torch.lerp(Z + 0j, Z, 0.5)),
    ("Found dtype float64 but expected float32", lambda: torch.lerp(Z, Z, Z, out=Z.double())),
    ("dtype float32, but found -1", lambda: torch._C.softshrink(Z, -1.0)),
    ("lambda must be in range", lambda: torch._C.softshrink(Z, float("nan"))),
    ("'weight' is complex", lambda: torch.lerp(Z, Z, 1j)),
    ("not defined for int64", lambda: torch.lerp(T([1]), T([2]), 0.5)),
    ("not defined for int64", lambda: torch.lerp(T([1]), T([2]), T([1]))),
    ("Integer division with addcdiv is no longer", lambda: torch.addcdiv(Z, T([1]), T([2]))),
    ("Integer division with addcdiv is no longer", lambda: T([1]).addcdiv_(T([1]), T([2]))),
    ("Integer division with addcdiv is no longer", lambda: torch.addcdiv(Z, Z > 0, T(2))),
    ("not defined for bool", lambda: F.relu6(Z > 0)),
    ("not defined for int64", lambda: F.hardshrink(T([1]))),
    ("not defined for int64", lambda: F.softshrink(T([1]))),
    ("not defined for int64", lambda: F.hardswish(T([1]))),
    ("num groups to be greater than 0", lambda: F.group_norm(torch.ones(2, 4), -1)),
    ("stride", lambda: F.max_pool2d(L3, 2, 0)),
    ("same dimension", lambda: F.margin_ranking_loss(torch.ones(2, 3), Z, Z)),
    ("2D or 3D input", lambda: F.dropout1d(torch.ones(2, 3, 4, 5))),
    ("alpha cannot be 0", lambda: F.celu(Z, 0)),
    ("does not support scalars", lambda: F.glu(T(1.0))),
    ("dim 1 of a tensor of 1 dim", lambda: Z.narrow_copy(1, 0, 1)),
    ("Input 1 has 3 dim", lambda: torch.block_diag(Z, torch.ones(1, 1, 2))),
    ("Expected a long tensor for index, but got Byte", lambda: Z.take(T([0], dtype=torch.uint8))),
    ("Expected a long tensor for index, but got Bool", lambda: Z.take(Z == 0)),
    ("same slice shapes", lambda: X.index_copy(0, T([1]), T([[5.0]]))),
    ("same dtype", lambda: T([0, 0]).index_copy(0, T([1]), T([5.5]))),
    ("all elements of std >= 0.0", lambda: torch.normal(torch.zeros(2), -torch.ones(2))),
    ("all elements of std >= 0.0", lambda: torch.normal(0.0, T(nan))),
    ("order must be non-negative but got -1", lambda: torch.diff(Z, n=-1)),
    ("at least one-dimensional", lambda: torch.diff(T(1.0))),
    ("minlength should be >= 0", lambda: torch.bincount(T([1, 2]), minlength=-3)),
    ("same length as input", lambda: torch.bincount(T([1, 2]), T([1.0]))),
    ("expected 4 but got 3", lambda: torch.repeat_interleave(T([1, 2]), 2, output_size=3)),
    ("allocated size", lambda: torch.repeat_interleave(T([1, 2]), T([2, 1]), output_size=4)),
    ("allocated size", lambda: torch.repeat_interleave(T([2, 1]), output_size=2)),
    ("1D vector", lambda: torch.combinations(T([[1, 2, 3]]), 2)),
    ("one-dimensional tensor", lambda: torch.vander(T([[1, 2]]))),
    ("N must be greater than 1", lambda: torch.linalg.vander(T([1.0, 2.0]), N=1)),
    ("only supports 0-dimensional", lambda: torch.linspace(T([0.0]), 1, 3)),
    ("one `x` value for each sample", lambda: torch.trapezoid(Z, torch.ones(2))),
    ("one `x` value for each sample", lambda: torch.trapezoid(X, torch.ones(2, 1))),
    ("bool is not supported", lambda: torch.trapezoid(Z == 0)),
    ("self.dtype = Float and source.dtype = Long", lambda: Z.put(T([0]), T([1]))),
    (r"src size = \[1\], slice size = \[2\]", lambda: X.select_scatter(torch.ones(1), 0, 0)),
    (r"src size = \[2\], slice size = \[1, 2\]", lambda: X.slice_scatter(torch.ones(2), 0, 0, 1)),
    (r"src size = \[1\], slice size = \[2\]", lambda: X.diagonal_scatter(torch.ones(1))),
    ("non-negative p values", lambda: torch.cdist(X, X, p=-1)),
    ("X1: 2 X2: 3", lambda: torch.cdist(X, torch.ones(2, 3))),
    ("at least 2D tensors, X1 got: 1D", lambda: torch.cdist(V, X)),
    ("expected scalar type Float but found Double", lambda: torch.cdist(X, X.double())),
    ("X2 got: Long", lambda: torch.cdist(X, X.long())),
    ("N must be non-negative", lambda: torch.vander(V, -1)),
    ("tensors with different dtypes", lambda: torch.heaviside(V, V.double())),
    ("to have the same dtype", lambda: torch.meshgrid(V, V.double())),
    ("got Double, Float, and Float", lambda: torch.addmv(V.double(), X, V)),
    ("got Float, Float, and Double", lambda: torch.baddbmm(B, B, B.double())),
    ("must have the same dtype", lambda: torch.addbmm(X.double(), B, B)),
    ("size", lambda: torch.addmv(torch.ones(2, 2), X, V)),
    ("size", lambda: torch.addr(torch.ones(3, 2, 2), V, V)),
    ("beta must not be a floating", lambda: torch.addr(X.long(), AT, AT, beta=2.5)),
    ("argument alpha must not be a floating", lambda: torch.add(V.long(), V.long(), alpha=1.5)),
    ("must have at least 2 dim", lambda: torch.linalg.matrix_norm(V)),
    ("must have at least 2 dim", lambda: torch.linalg.norm(V, "fro")),
    ("must have at least 2 dim", lambda: torch.linalg.inv(V)),
    ("must be a 2-tuple. Got 0$", lambda: torch.linalg.matrix_norm(X, dim=(0,))),
    (r"must be different. Got \(0, -2\)", lambda: torch.linalg.matrix_norm(X, dim=(0, -2))),
    ("batches of square matrices, but they are 2 by 1", lambda: torch.linalg.det(X[:, :1])),
    ("Expected one or more matrices", lambda: torch.chain_matmul()),
    ("type Float but got scalar type Double", lambda: torch.polar(V, V.double())),
    ("but got Long and Long", lambda: torch.complex(AT, AT)),
    ("both dimension lists", lambda: torch.tensordot(X, X, ([1], [0, 1]))),
    ("dim 1 appears multiple times", lambda: torch.tensordot(X, X, ([1, 1], [0, 1]))),
    ("dims < ndim_a or ndim_b", lambda: torch.tensordot(X, X, 3)),
    ("first has size 2 in dim 1 and second has size 3", lambda: torch.tensordot(X, L3[0, :3], 1)),
    ("step must be nonzero", lambda: torch.range(0, 3, 0)),
    ("unsupported range: 0 -> inf", lambda: torch.range(0, inf)),
    ("inconsistent with step sign", lambda: torch.range(3, 0)),
    (r"sizes \(2\) must match .* strides \(1\)", lambda: torch.empty_strided((2, 2), (1,))),
    ("vstack expects a non-empty TensorList", lambda: torch.vstack([])),
    ("random_", lambda: torch.ones(2, dtype=torch.complex64).random_(3)),
    ("from is out of bounds", lambda: torch.ones(2, dtype=torch.int8).random_(-200, 2)),
    ("to - 1 is out of bounds", lambda: torch.ones(2, dtype=torch.float16).random_(0, 2**20)),
]


# What is no tensor where one has to be, or is no number: a TypeError that names the function.
WRONG_KINDS = [
    (r"kron\(\): argument 'other' \(position 2\) must be Tensor, not", lambda: torch.kron(V, 2)),
    (r"kron\(\): argument 'input' \(position 1\) must be Tensor", lambda: torch.kron(2, V)),
    (r"outer\(\): argument 'vec2' \(position 2\) .* not list", lambda: torch.outer(V, [1, 2])),
    (r"outer\(\): argument 'vec2' \(position 1\) .* not list", lambda: V.outer([1, 2])),
    (r"outer\(\): argument 'vec2' must be Tensor", lambda: torch.outer(V, vec2=3)),
    (r"heaviside\(\): argument 'values'", lambda: torch.heaviside(V, 1.0)),
    (r"complex\(\): argument 'real'", lambda: torch.complex(1.0, 2.0)),
    (r"polar\(\): argument 'abs'", lambda: torch.polar(1.0, 2.0)),
    ("expected Tensor as element 0 in argument 0, but got int", lambda: torch.vstack([1, 2])),
    (r"vstack\(\): argument 'tensors' .* tuple of Tensors", lambda: torch.vstack(X)),
    ("expected Tensor as element 0", lambda: torch.atleast_2d(5)),
    ("expected Tensor as element 1", lambda: torch.atleast_1d(V, 5)),
    ("expected Tensor as element 0", lambda: torch.block_diag([V])),
    ("expected Tensor as element 0", lambda: torch.broadcast_tensors(1, 2)),
    ("expected Tensor as element 0 in argument 1", lambda: torch.einsum("i,i", 3, 4)),
    (r"view_as\(\): argument 'other' \(position 1\)", lambda: Z.view_as(3)),
    (r"finfo\(\): argument 'type' .* not str", lambda: torch.finfo("float32")),
    (r"iinfo\(\): argument 'type' .* not int", lambda: torch.iinfo(3)),
    (r"can_cast\(\): argument 'from_'", lambda: torch.can_cast(1, 2)),
    (r"diff\(\): argument 'prepend' .* not int", lambda: torch.diff(Z, prepend=1)),
    (r"linalg_cross\(\): argument 'other'", lambda: torch.linalg.cross(Z, 3)),
    (r"linalg_matrix_norm\(\)", lambda: torch.linalg.matrix_norm(3)),
    (r"linalg_multi_dot\(\)", lambda: torch.linalg.multi_dot(3)),
    (r"logaddexp\(\): argument 'other' .* not int", lambda: torch.logaddexp(Z, 1)),
    (r"fmax\(\): argument 'other' .* not list", lambda: torch.fmax(Z, [1])),
    (r"ldexp\(\): argument 'other'", lambda: torch.ldexp(Z, 1)),
    (r"xlogy\(\)", lambda: torch.xlogy(2, 3)),
    (r"xlogy\(\)", lambda: torch.xlogy(Z, [1])),
    (r"float_power\(\)", lambda: torch.float_power(2, 3)),
    (r"isin\(\)", lambda: torch.isin(Z, [1])),
    (r"numel\(\): argument 'input'", lambda: torch.numel(3)),
    (r"std_mean\(\): argument 'input'", lambda: torch.std_mean(3)),
    (r"vander\(\): argument 'N' .* not float", lambda: torch.vander(V, 2.5)),
    (r"range\(\): argument 'end'", lambda: torch.range(0, "a")),
    (r"cdist\(\): argument 'p'", lambda: torch.cdist(X, X, "a")),
    ("repeats must be Tensor or int, not float", lambda: AT.repeat_interleave(2.5)),
    ("integer dtype, but got torch.float32", lambda: torch.unravel_index(V, (2, 2))),
    ("only contain ints", lambda: torch.unravel_index(AT, (2.0, 2))),
    ("x or dx, not both", lambda: torch.trapezoid(V, V, dx=2)),
]


@pytest.mark.parametrize("at", range(len(WRONG_KINDS)))
def test_wrong_kinds(at):
    text, call = WRONG_KINDS[at]
    with pytest.raises(TypeError, match=text):
        call()


def test_refused_values():
    for shape in (2, -1), (0, 2):
        with pytest.raises(ValueError, match="'shape' cannot have"):
            torch.unravel_index(AT, shape)
    with pytest.raises(ValueError, match="x is not a valid value for compute_mode"):
        torch.cdist(X, X, compute_mode="x")
    assert torch.unravel_index(T(7, dtype=torch.uint8), (300, 5))[0].dtype is torch.int64


@pytest.mark.parametrize("at", range(len(REFUSED)), ids=lambda i: REFUSED[i][0].replace(" ", "_"))
def test_refused(at):
    text, call = REFUSED[at]
    with pytest.raises(RuntimeError, match=text):
        call()


@pytest.mark.parametrize(
    "index, source, error",
    [
        ([0, 1], [5.0], IndexError), ([0], [5.0, 6.0], IndexError), ([0, 1], 5.0, IndexError),
        ([[0]], [5.0], IndexError), ([-1], [5.0], IndexError), ([3], [5.0], IndexError),
        ([True, False, False], [5.0], RuntimeError),
    ],
)  # fmt: skip
def test_index_copy_wants_a_slice_for_each_place(index, source, error):
    x = torch.zeros(3)
    with pytest.raises(error):
        x.index_copy_(0, T(index), T(source))
    assert x.tolist() == [0, 0, 0]


def test_index_copy_and_fill():
    assert torch.zeros(()).index_copy_(0, T([0, 0]), T([5.0, 1.0])).tolist() == 1.0
    assert torch.zeros(3).index_copy(-1, T(1), T(5.0)).tolist() == [0, 5, 0]
    for bad in (
        lambda: torch.zeros(3).index_fill_(0, T([True, False, False]), 1),
        lambda: torch.zeros(()).index_fill_(0, T([3]), 1),
        lambda: torch.zeros(3).put_(T([0, 1]), T([1.0])),
        lambda: F.glu(torch.ones(2), 1),
    ):
        with pytest.raises(IndexError):
            bad()


def test_group_norm_of_nothing():
    assert F.group_norm(torch.ones(0, 4, 3), 2).shape == (0, 4, 3)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        F.group_norm(torch.ones(1, 2), 2)
    pooled = F.max_pool2d(L3, 2, [])
    assert pooled.tolist() == [[[5, 7], [13, 15]]]


def test_no_memory_of_a_list_is_shared():
    for what in [1, 2], 3, (), [[1.0]]:
        with pytest.raises(ValueError, match="can't alias arbitrary sequence into a tensor"):
            torch.asarray(what, copy=False)
    with pytest.raises(TypeError, match="bogus"):
        torch.linspace(T(0.0), 1, 3, bogus=True)
    with pytest.raises(TypeError, match="as element 1"):
        torch.block_diag(T(1.0), 3)


# --- forms of calls -------------------------------------------------------------------------------


def test_vander_of_linalg_has_increasing_powers():
    assert torch.linalg.vander(T([1, 2, 3])).tolist() == [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    two = torch.linalg.vander(T([[1.0, 2.0], [3.0, 4.0]]), N=3)
    assert two.tolist() == [[[1, 1, 1], [1, 2, 4]], [[1, 3, 9], [1, 4, 16]]]
    assert torch.vander(T([1, 2, 3])).tolist() == [[1, 1, 1], [4, 2, 1], [9, 3, 1]]


def test_forms_of_calls():
    x = torch.arange(3)
    assert torch.tile(x, dims=(2,)).tolist() == x.tile(dims=(2,)).tolist() == [0, 1, 2, 0, 1, 2]
    std, mean = torch.std_mean(T([[1.0, 2.0], [3.0, 5.0]]), 1, True, True)
    assert_close(std, T([[0.70710678], [1.41421356]]))
    assert mean.tolist() == [[1.5], [4.0]]
    assert torch.combinations(x, 0).shape == (0,)
    cos = F.cosine_similarity(T([1.0, 2.0, 3.0]), T([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    assert_close(cos, T([1.0, 0.7142857]))
    ones = F.cosine_similarity(torch.ones(2, 1), torch.ones(1, 3, dtype=torch.int64), 0)
    assert_close(ones, torch.ones(3))
    both = torch.tensordot(torch.ones(2, 1), torch.ones(3, 4), 1)
    assert both.tolist() == [[3.0] * 4] * 2
    assert torch.ones(2).copy_(3).tolist() == [3, 3]
    assert torch.ones(1, dtype=torch.float64).copy_(0.1).item() == 0.1
    assert torch.ones(2, dtype=torch.int64).copy_(2.5).tolist() == [2, 2]
    for bad in [1, 2], None:
        with pytest.raises(TypeError, match="copy_"):
            torch.ones(2).copy_(bad)


def test_random_from_a_number_on():
    """Stored from torch 2.15."""
    torch.manual_seed(3)
    assert torch.zeros(3).random_(5, None).tolist() == [72099.0, 1771237.0, 4796370.0]
    torch.manual_seed(3)
    x = torch.zeros(2, dtype=torch.int64).random_(5, None)
    assert x.tolist() == [937055941807507106, 3839649608876091021]
    torch.manual_seed(3)
    x = torch.zeros(4, dtype=torch.uint8).random_(**{"from": 200, "to": None})
    assert x.tolist() == [226, 224, 217, 211]
    for bad in ((5,), {"from": 1}), ((), {"from": 1}), ((), {"to": None}), ((), {"up": 1}):
        with pytest.raises(TypeError):
            torch.zeros(3).random_(*bad[0], **bad[1])


RANDOM = [
    (lambda: torch.empty(3).random_(0, 2**25), [8325944, 29665988, 18261804]),
    (lambda: torch.empty(3).random_(-(2**25), 2**25), [-25228558, 29665912, 18261712]),
    (lambda: torch.empty(3).random_(2**25 - 9, 2**25), [33554428, 33554426, 33554424]),
    (lambda: torch.empty(3, dtype=torch.float16).random_(0, 2**12), [3262, 1315, 3108]),
    (lambda: torch.empty(2, 3).t().random_(0, 10), [[4, 0], [9, 3], [3, 9]]),
    (lambda: torch.randint_like(torch.ones(2, 3).t(), 0, 10), [[4, 0], [9, 3], [3, 9]]),
    (lambda: torch.bernoulli(torch.ones(2, 3).t(), 0.5), [[0, 0], [1, 0], [0, 0]]),
    (lambda: torch.ones(2, 3).t().bernoulli_(torch.full((3, 2), 0.5)), [[1, 1], [0, 1], [1, 0]]),
]


@pytest.mark.parametrize("at", range(len(RANDOM)))
def test_random_numbers_of_torch(at):
    draw, expected = RANDOM[at]
    assert draw().tolist() == expected
    assert torch.randint_like(torch.ones(2, device="meta"), 3).is_meta
    torch.manual_seed(0)
    assert torch.randint_like(torch.ones(2), 0, T(5)).tolist() == [4, 4]
    with pytest.raises(TypeError):
        torch.ones(2).random_(0, 3.5)


@pytest.mark.parametrize(("dtype", "expected"), [
    (torch.bfloat16, [-0.8984375, 0.75, 29952.0]), (torch.float16, [-0.89990234375, 0.75, 29952.0]),
])  # fmt: skip
def test_decimals_of_16_bits_are_rounded_once(dtype, expected):
    x = torch.tensor([-0.8515625, 0.75, 29952.0], dtype=dtype)
    y = torch.stack([torch.round(x[0], decimals=1), *torch.round(x[1:], decimals=3)])
    assert y.tolist() == expected and x.clone().round_(decimals=3)[1:].tolist() == expected[1:]
    with torch.enable_grad():
        assert torch.round(x.requires_grad_(), decimals=1).dtype is dtype


def test_matrices_in_torchs_other_forms():
    linalg = torch.linalg
    for p in (None, 2, -2, 1, -1, "fro", "nuc", inf):
        assert linalg.cond(torch.ones(0, 0), p).item() == 0, p
        assert linalg.cond(torch.ones(2, 0, 0), p).tolist() == [0, 0], p
    assert torch.equal(torch.chain_matmul(X), X)
    a = torch.tensor([[[4.0, 0], [0, 1]], [[2, 0], [0, 1]]])
    at = T([0.3, 0.3])
    want = [[[0.25, 0], [0, 0]], [[0.5, 0], [0, 1]]]
    for hermitian in (False, True):
        for r in (linalg.pinv(a, at, hermitian), linalg.pinv(a, rtol=at, hermitian=hermitian),
                  linalg.pinv(a, atol=T([1.5, 0.5]), hermitian=hermitian),
                  linalg.pinv(a, rcond=at, hermitian=hermitian, out=torch.empty(0))):  # fmt: skip
            assert torch.allclose(r, torch.tensor(want)), (hermitian, r)
    assert linalg.pinv(torch.ones(2, 0), at[0]).shape == (0, 2)
    x, m = torch.empty(0), torch.empty(0)
    r = torch.triangular_solve(torch.ones(2, 1), torch.eye(2) * 2, out=(x, m))
    assert r.solution is x and r.cloned_coefficient is m and x.tolist() == [[0.5], [0.5]]
    y = torch.arange(24.0).view(2, 3, 4)
    assert torch.einsum(y, [30, 2, 26]).shape == (3, 4, 2)


def test_copies_of_generators():
    g = torch.Generator()
    g.manual_seed(3)
    for other in copy.deepcopy(g), copy.copy(g), pickle.loads(pickle.dumps(g)):
        drawn = torch.rand(2, generator=other).tolist()
        assert other is not g and drawn == [0.004263520240783691, 0.10556936264038086]


def test_cdist():
    a = T([[0.0, 0.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    b = T([[0.0, 0.0], [0.0, 4.0]], dtype=torch.float64)
    mode = "use_mm_for_euclid_dist"
    for more in {}, {"compute_mode": mode}, {"compute_mode": "donot_" + mode}:
        a.grad = None
        d = torch.cdist(a, b, **more)
        assert d.tolist() == [[0.0, 4.0], [5.0, 3.0]]
        d.sum().backward()
        near([a.grad.tolist()], [[[0.0, -1.0], [1.6, 0.8]]])
    x, y = torch.rand(300, 40), torch.rand(2, 290, 40)
    for p in 0.0, 1.0, 2.0, 3.0, inf:
        expected = torch.linalg.vector_norm(x[7] - y[1, 8], p)
        d = torch.cdist(x, y, p)
        assert d.shape == (2, 300, 290)
        assert_close(d[1, 7, 8], expected)


def test_asarray_keeps_what_requires_grad():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert torch.asarray(x) is x and torch.asarray(y) is y
    assert torch.asarray(y, requires_grad=True).grad_fn is not None
    assert torch.asarray(y, dtype=torch.float64).requires_grad
    assert not torch.asarray(x, requires_grad=False).requires_grad
    leaf = torch.asarray([1.0], requires_grad=True)
    assert leaf.is_leaf and leaf.requires_grad


def test_gumbel_softmax_draws_in_the_order_of_indices():
    torch.manual_seed(1)
    a = F.gumbel_softmax(torch.zeros(3, 2).t())
    torch.manual_seed(1)
    assert torch.equal(a, F.gumbel_softmax(torch.zeros(2, 3)))


def test_assert_close_of_unlike_kinds():
    for a, b in (
        (T([1, 2]), [1, 2]), ([1, 2], T([1, 2])), (T(1.0), 1.0), (1.0, T(1.0)),
        (T([1.0]), np.array([1.0], dtype=np.float32)), (T(1.0), [1.0]), (np.array([1.0]), [1.0]),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
            assert_close(a, b)
    with pytest.raises(TypeError, match="occurred for item"):
        assert_close({"a": T(1)}, {"a": 1})
    assert_close(np.array([1.0]), np.array([1.0]))
    assert_close(np.float64(1), 1.0)
    assert_close(np.float32(1), 1.0)
    assert_close(range(3), [0, 1, 2])
    assert_close(torch.nn.Parameter(torch.ones(2)), torch.ones(2))


def test_assert_close_of_meta_tensors():
    a, b = torch.empty(2, device="meta"), torch.empty(2)
    assert_close(a, a)
    assert_close(a, b, check_device=False)
    with pytest.raises(AssertionError, match="'shape'"):
        assert_close(a, torch.empty(3, device="meta"))


# --- pickles --------------------------------------------------------------------------------------


def test_pickles_keep_how_elements_lie():
    x = torch.arange(24.0).reshape(2, 3, 4)
    for t in x, x.permute(2, 0, 1), x.transpose(0, 1):
        u = pickle.loads(pickle.dumps(t))
        assert u.stride() == t.stride() and torch.equal(u, t)
    loose = pickle.loads(pickle.dumps(x[:, ::2].expand(2, 2, 4)))
    assert loose.is_contiguous() and torch.equal(loose, x[:, ::2])
    y = torch.ones(2, requires_grad=True) * 2
    assert pickle.loads(pickle.dumps(y)).requires_grad
    assert copy.deepcopy(x.permute(2, 0, 1)).stride() == (1, 12, 4)


@pytest.mark.parametrize("name", ["celu", "hardshrink", "selu"])
def test_activations_of_nn_are_functions_of_torch(name):
    x = torch.tensor([-2.0, -0.1, 0.0, 3.0])
    assert name in dir(torch)
    assert torch.equal(getattr(torch, name)(x), getattr(torch.nn.functional, name)(x))
