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
    "msort": (V,), "float_power": (V, 2), "ldexp": (V, AT), "logspace": (1, 2, 3), "range": (1, 3),
    "isposinf": (V,), "isneginf": (V,), "isin": (V, V), "nansum": (V,), "nanmean": (V,),
    "narrow_copy": (V, 0, 1, 1), "index_copy": (V, 0, AT, V), "polar": (V, V), "complex": (V, V),
    "conj_physical": (V,), "chain_matmul": (X, X), "matrix_power": (X, 2), "tensordot": (X, X, 1),
    "norm": (X, "fro", 0), "nonzero": (X,), "clamp": (X, T([2.0, 2.0]), 3), "linalg.norm": (X, 1),
    "linalg.matrix_norm": (X,), "linalg.matrix_power": (X, 0), "linalg.multi_dot": ([X, X, V],),
    "linalg.vecdot": (V, V), "linspace": (T(0.0), 1, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", OUT)
def test_out(name):
    where, _, last = ("torch." + name).rpartition(".")
    f = getattr(torch.linalg if where == "torch.linalg" else torch, last)
    expected = f(*OUT[name])
    out = torch.zeros_like(expected)
    assert f(*OUT[name], out=out) is out and torch.equal(out, expected)
    with pytest.raises(RuntimeError, match="shape"):
        f(*OUT[name], out=expected.new_empty((*expected.shape, 2)))


def test_what_out_may_be():
    assert torch.outer(V, V, out=None).shape == (2, 2)
    wide = torch.outer(V, V, out=torch.empty(2, 2, dtype=torch.float64))
    assert wide.tolist() == [[0.25, 0.125], [0.125, 0.0625]]
    for bad in torch.empty(2, 2, dtype=torch.int64), torch.empty(2, 2, dtype=torch.bool):
        with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired"):
            torch.outer(V, V, out=bad)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.outer(V, V, out=torch.empty(2, 2, requires_grad=True))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.outer(V.clone().requires_grad_(), V, out=torch.empty(2, 2))
    with torch.no_grad():
        torch.outer(V.clone().requires_grad_(), V, out=torch.empty(2, 2))
    with pytest.raises(TypeError, match="argument 'out' must be Tensor, not list"):
        torch.outer(V, V, out=[1])
    with pytest.raises(TypeError, match="out"):
        V.outer(V, out=torch.empty(2, 2))
    with pytest.raises(RuntimeError, match="out kwarg when as_tuple is True"):
        torch.nonzero(X, as_tuple=True, out=torch.empty(4, 2, dtype=torch.int64))
    assert "out" in inspect.signature(torch.outer).parameters
    assert "out" not in inspect.signature(torch.Tensor.outer).parameters


@pytest.mark.parametrize(
    "name, more",
    [
        ("deg2rad_", ()), ("exp2_", ()), ("sinc_", ()), ("asinh_", ()), ("arccosh_", ()),
        ("logit_", ()), ("ldexp_", (AT,)), ("xlogy_", (AT,)), ("float_power_", (2,)),
        ("cumsum_", (0, torch.float32)), ("addmv_", (X, V)),
    ],
)  # fmt: skip
def test_integers_take_no_floats_in_place(name, more):
    x = T([1, 2])
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
        more = more[:1] if name == "cumsum_" else more
        named = {"dtype": torch.float32} if name == "cumsum_" else {}
        getattr(x, name)(*more, **named)
    assert x.tolist() == [1, 2]


# --- what is refused ------------------------------------------------------------------------------

L3 = torch.arange(16.0).reshape(1, 4, 4)
Z = torch.zeros(3)
REFUSED = [
    ("parameter numbers = 2 .* size = 3", lambda: F.prelu(torch.ones(2, 3), torch.ones(2))),
    ("parameter numbers = 2 .* size = 1", lambda: F.prelu(torch.ones(2), torch.ones(2))),
    ("scalar or 1D tensor", lambda: F.prelu(torch.ones(2, 3), torch.ones(1, 3))),
    ("zero-dim input", lambda: F.prelu(T(1.0), torch.ones(2))),
    ("Expected weight to be a vector", lambda: F.group_norm(torch.ones(2, 4), 2, torch.ones(1))),
    ("at least 2 dimensions .* received 1", lambda: F.group_norm(torch.ones(4), 2)),
    ("num groups to be greater than 0", lambda: F.group_norm(torch.ones(2, 4), -1)),
    ("stride", lambda: F.max_pool2d(L3, 2, 0)),
    ("same dimension", lambda: F.margin_ranking_loss(torch.ones(2, 3), Z, Z)),
    ("2D or 3D input", lambda: F.dropout1d(torch.ones(2, 3, 4, 5))),
    ("alpha cannot be 0", lambda: F.celu(Z, 0)),
    ("does not support scalars", lambda: F.glu(T(1.0))),
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
]


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


def test_gumbel_softmax_draws_in_the_order_of_indices():
    torch.manual_seed(1)
    a = F.gumbel_softmax(torch.zeros(3, 2).t())
    torch.manual_seed(1)
    assert torch.equal(a, F.gumbel_softmax(torch.zeros(2, 3)))


def test_dropout_that_drops_nothing_gives_its_input():
    x = torch.ones(2, 3, 4)
    for f in F.dropout, F.dropout1d, F.dropout2d, F.dropout3d:
        assert f(x, training=False) is x and f(x, 0.0) is x


# --- assert_close ---------------------------------------------------------------------------------


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
