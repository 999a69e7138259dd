"""The class Tensor and torch's functions over rows: against NumPy; __torch_function__; what is
printed; assert_close; small types."""
import contextlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorh as torch
from tensorh._missing import PLANNED

rng = np.random.default_rng(0)
V = np.array([3.0, -1.0, 2.0, 0.5], np.float32)
A = rng.standard_normal((3, 4)).astype(np.float32)
B = rng.standard_normal((3, 4)).astype(np.float32)
S = rng.standard_normal((4, 4)).astype(np.float32)
Z = rng.standard_normal((2, 3, 4)).astype(np.float32)
v, a, b, s, z = map(torch.tensor, (V, A, B, S, Z))
i = torch.tensor([0, 2, 1])

CASES = {
    "sum": (lambda: a.sum(0, keepdim=True), lambda: A.sum(0, keepdims=True)),
    "sum axis": (lambda: a.sum(axis=1, keepdims=True), lambda: A.sum(1, keepdims=True)),
    "sum dtype": (lambda: a.sum((0, 1), dtype=torch.float64), lambda: A.sum(dtype=np.float64)),
    "mean": (lambda: a.mean([0], True), lambda: A.mean(0, keepdims=True)),
    "std": (lambda: a.std(0), lambda: A.std(0, ddof=1)),
    "std unbiased": (lambda: a.std(0, True), lambda: A.std(0, ddof=1)),
    "std biased": (lambda: torch.std(a, dim=0, unbiased=False), lambda: A.std(0)),
    "std flag": (lambda: a.std(False), lambda: A.std()),
    "var": (lambda: a.var((0, 1), False, True), lambda: A.var(keepdims=True)),
    "var correction": (lambda: a.var(1, correction=2), lambda: A.var(1, ddof=2)),
    "std_mean": (lambda: torch.std_mean(a, 1)[1], lambda: A.mean(1)),
    "var_mean": (lambda: torch.var_mean(a, 1, False)[0], lambda: A.var(1)),
    "max": (lambda: torch.max(a, b), lambda: np.maximum(A, B)),
    "min": (lambda: a.min(other=b), lambda: np.minimum(A, B)),
    "max dim": (lambda: a.max(1, True).values, lambda: A.max(1, keepdims=True)),
    "where": (lambda: torch.where(a > 0)[1], lambda: np.where(A > 0)[1]),
    "where numbers": (lambda: torch.where(a > 0, 1.0, 0.0), lambda: np.where(A > 0, 1.0, 0.0)),
    "where method": (lambda: a.where(a > 0, b), lambda: np.where(A > 0, A, B)),
    "nonzero": (lambda: (a > 0).nonzero(as_tuple=True)[0], lambda: (A > 0).nonzero()[0]),
    "argwhere": (lambda: torch.argwhere(a > 0), lambda: np.argwhere(A > 0)),
    "swapaxes": (lambda: z.swapaxes(0, 2), lambda: Z.swapaxes(0, 2)),
    "moveaxis": (lambda: torch.moveaxis(z, (0, 1), (2, 0)), lambda: np.moveaxis(Z, (0, 1), (2, 0))),
    "movedim": (lambda: z.movedim(0, 2), lambda: np.moveaxis(Z, 0, 2)),
    "adjoint": (lambda: z.mH, lambda: Z.swapaxes(1, 2)),
    "T": (lambda: a.T, lambda: A.T),
    "ravel": (lambda: a.T.ravel(), lambda: A.T.ravel()),
    "tile": (lambda: a.tile(2, 1), lambda: np.tile(A, (2, 1))),
    "tile short": (lambda: torch.tile(a, (2,)), lambda: np.tile(A, 2)),
    "flip": (lambda: a.flip(0, 1), lambda: A[::-1, ::-1]),
    "fliplr": (lambda: torch.fliplr(a), lambda: np.fliplr(A)),
    "flipud": (lambda: a.flipud(), lambda: np.flipud(A)),
    "rot90": (lambda: torch.rot90(a), lambda: np.rot90(A)),
    "rot90 back": (lambda: a.rot90(-1, (0, 1)), lambda: np.rot90(A, -1)),
    "roll": (lambda: a.roll(1, 0), lambda: np.roll(A, 1, 0)),
    "roll flat": (lambda: torch.roll(a, 5), lambda: np.roll(A, 5)),
    "diag": (lambda: torch.diag(v, 1), lambda: np.diag(V, 1)),
    "diag of matrix": (lambda: a.diag(-1), lambda: np.diag(A, -1)),
    "diagflat": (lambda: torch.diagflat(a[:, :1]), lambda: np.diagflat(A[:, :1])),
    "trace": (lambda: s.trace(), lambda: np.trace(S)),
    "clip": (lambda: a.clip(-0.5, 0.5), lambda: A.clip(-0.5, 0.5)),
    "clamp mixed": (lambda: a.clamp(min=b, max=2), lambda: A.clip(B, 2)),
    "absolute": (lambda: torch.absolute(v), lambda: np.absolute(V)),
    "divide": (lambda: v.divide(2, rounding_mode="floor"), lambda: V // 2),
    "subtract": (lambda: torch.subtract(v, 2, alpha=3), lambda: V - 6),
    "fix": (lambda: v.fix(), lambda: np.fix(V)),
    "greater": (lambda: v.greater(1), lambda: V > 1),
    "not_equal": (lambda: torch.not_equal(v, 2), lambda: V != 2),
    "older add": (lambda: torch.add(v, 2, v), lambda: V + 2 * V),
    "round": (lambda: torch.round(v * 1.2345, decimals=2), lambda: (V * 1.2345).round(2)),
    "number first": (lambda: torch.remainder(7, i + 2), lambda: 7 % (i.numpy() + 2)),
    "outer": (lambda: torch.outer(v, v), lambda: np.outer(V, V)),
    "inner": (lambda: torch.inner(a, b), lambda: np.inner(A, B)),
    "vdot": (lambda: torch.vdot(v, v), lambda: np.vdot(V, V)),
    "kron": (lambda: torch.kron(a, s), lambda: np.kron(A, S)),
    "tensordot": (lambda: torch.tensordot(z, z, ([0, 2], [0, 2])),
                  lambda: np.tensordot(Z, Z, ([0, 2], [0, 2]))),
    "tensordot n": (lambda: torch.tensordot(a, a.T, 1), lambda: np.tensordot(A, A.T, 1)),
    "cross": (lambda: torch.linalg.cross(a.T, b.T), lambda: np.cross(A.T, B.T)),
    "matrix_power": (lambda: torch.linalg.matrix_power(s, 5), lambda: np.linalg.matrix_power(S, 5)),
    "multi_dot": (lambda: torch.linalg.multi_dot([a, s, a.T, v[:3]]),
                  lambda: np.linalg.multi_dot([A, S, A.T, V[:3]])),
    "norm": (lambda: torch.linalg.norm(a), lambda: np.linalg.norm(A)),
    "norm 1": (lambda: torch.linalg.norm(a, 1), lambda: np.linalg.norm(A, 1)),
    "norm -inf": (lambda: torch.linalg.norm(a, -np.inf), lambda: np.linalg.norm(A, -np.inf)),
    "norm dim": (lambda: torch.linalg.norm(a, 3, 0), lambda: np.linalg.norm(A, 3, 0)),
    "norm fro": (lambda: a.norm("fro", dim=1), lambda: np.linalg.norm(A, axis=1)),
    "norm inf": (lambda: torch.norm(a, dim=0, p=np.inf), lambda: np.abs(A).max(0)),
    "cumsum": (lambda: a.clone().cumsum_(1), lambda: A.cumsum(1)),
    "cumprod": (lambda: a.clone().cumprod_(1), lambda: A.cumprod(1)),
    "searchsorted": (lambda: torch.searchsorted(torch.arange(3), a, right=True),
                     lambda: np.searchsorted([0, 1, 2], A, "right")),
    "searchsorted number": (lambda: torch.searchsorted(v.sort()[0], 2, side="right"),
                            lambda: np.searchsorted(np.sort(V), 2, "right")),
    "searchsorted sorter": (lambda: torch.searchsorted(v, a, sorter=v.argsort()),
                            lambda: np.searchsorted(V, A, sorter=V.argsort())),
    "bucketize": (lambda: torch.bucketize(a, v.sort()[0]),
                  lambda: np.digitize(A, np.sort(V), True)),
    "diff": (lambda: torch.diff(a, 2, 1), lambda: np.diff(A, 2, 1)),
    "diff ends": (lambda: v.diff(prepend=v, append=v), lambda: np.diff(V, prepend=V, append=V)),
    "trapezoid": (lambda: torch.trapezoid(v, dx=0.5), lambda: np.trapezoid(V, dx=0.5)),
    "trapezoid x": (lambda: torch.trapezoid(a, b, dim=0), lambda: np.trapezoid(A, B, axis=0)),
    "bincount": (lambda: torch.bincount(i, minlength=5), lambda: np.bincount([0, 2, 1], None, 5)),
    "bincount weights": (lambda: i.bincount(v[:3]), lambda: np.bincount([0, 2, 1], V[:3])),
    "count_nonzero": (lambda: (a > 0).count_nonzero(0), lambda: np.count_nonzero(A > 0, 0)),
    "isin": (lambda: torch.isin(i, torch.tensor([0, 1])), lambda: np.isin([0, 2, 1], [0, 1])),
    "repeat_interleave": (lambda: a.repeat_interleave(2, 1), lambda: A.repeat(2, 1)),
    "repeat_interleave n": (lambda: a.repeat_interleave(i, 0), lambda: A.repeat([0, 2, 1], 0)),
    "take": (lambda: torch.take(a, i), lambda: A.take([0, 2, 1])),
    "sinc": (lambda: torch.sinc(v - 2), lambda: np.sinc(V - 2)),
    "logaddexp": (lambda: torch.logaddexp(v, v * 2), lambda: np.logaddexp(V, V * 2)),
    "float_power": (lambda: torch.float_power(i, 2), lambda: np.float_power([0, 2, 1], 2)),
    "heaviside": (lambda: torch.heaviside(v - 2, v[3:]), lambda: np.heaviside(V - 2, 0.5)),
    "deg2rad": (lambda: torch.deg2rad(v), lambda: np.deg2rad(V)),
    "asinh": (lambda: torch.asinh(v), lambda: np.arcsinh(V)),
    "acosh": (lambda: (v + 2).arccosh(), lambda: np.arccosh(V + 2)),
    "atanh": (lambda: torch.atanh(v / 4), lambda: np.arctanh(V / 4)),
    "arctan2": (lambda: torch.arctan2(v - 2, -v), lambda: np.arctan2(V - 2, -V)),
    "copysign": (lambda: torch.copysign(v, -1), lambda: np.copysign(V, -1)),
    "hypot": (lambda: v.hypot(v * 2), lambda: np.hypot(V, V * 2)),
    "nextafter": (lambda: (v.nextafter(v[:1]) - v) * 2**24,
                  lambda: (np.nextafter(V, V[:1]) - V) * 2**24),
    "signbit": (lambda: torch.signbit(v - 2), lambda: np.signbit(V - 2)),
    "exp2": (lambda: v.exp2(), lambda: np.exp2(V)),
    "ldexp": (lambda: torch.ldexp(v[:3], i), lambda: np.ldexp(V[:3], [0, 2, 1])),
    "unfold": (lambda: v.unfold(0, 2, 1),
               lambda: np.lib.stride_tricks.sliding_window_view(V, 2)),
    "unravel": (lambda: torch.stack(torch.unravel_index(i * 3, (3, 4))),
                lambda: np.stack(np.unravel_index([0, 6, 3], (3, 4)))),
    "cdist": (lambda: torch.cdist(a, b), lambda: np.linalg.norm(A[:, None] - B, axis=-1)),
    "msort": (lambda: torch.msort(a), lambda: np.sort(A, 0)),
    "sort": (lambda: a.sort(stable=True, descending=True).values, lambda: np.sort(A)[:, ::-1]),
    "sum_to_size": (lambda: z.sum_to_size(3, 1), lambda: Z.sum(0).sum(1, keepdims=True)),
    "addr": (lambda: torch.addr(a, v[:3], v, beta=2), lambda: 2 * A + np.outer(V[:3], V)),
    "addmv": (lambda: v[:3].addmv(a, v, alpha=3), lambda: V[:3] + 3 * A @ V),
    "baddbmm": (lambda: torch.baddbmm(torch.ones(1), z, z.mT), lambda: 1 + Z @ Z.swapaxes(1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_function_is_numpys(name):
    mine, numpys = (f() for f in CASES[name])
    assert mine.shape == numpys.shape
    np.testing.assert_allclose(mine.numpy(), numpys, rtol=3e-5, atol=1e-6)


IN_PLACE = {
    "masked_fill_": (lambda x: x.masked_fill_(x > 0, 9), lambda x: np.where(x > 0, 9, x)),
    "index_copy_": (lambda x: x.index_copy_(0, i[:2], torch.ones(2, 4)),
                    lambda x: np.stack([np.ones(4), x[1], np.ones(4)])),
    "index_fill_": (lambda x: x.index_fill_(1, i, 7), lambda x: np.hstack([np.full((3, 3), 7),
                                                                           x[:, 3:]])),
    "fill_diagonal_": (lambda x: x.fill_diagonal_(5), lambda x: np.where(np.eye(3, 4), 5, x)),
    "put_": (lambda x: x.put_(i, v[:3]),
             lambda x: np.concatenate([V[[0, 2, 1]], x.ravel()[3:]]).reshape(3, 4)),
    "clip_": (lambda x: x.clip_(-1, 1), lambda x: x.clip(-1, 1)),
    "multiply_": (lambda x: x.multiply_(3), lambda x: x * 3),
    "t_": (lambda x: x.t_(), lambda x: x.T), "squeeze_": (lambda x: x[None].squeeze_(0),
                                                          lambda x: x),
    "transpose_": (lambda x: x.transpose_(0, 1), lambda x: x.T),
    "unsqueeze_": (lambda x: x.unsqueeze_(-1), lambda x: x[..., None]),
    "nan_to_num_": (lambda x: x.div_(0).nan_to_num_(0, 1, -1), lambda x: np.sign(x)),
    "round_": (lambda x: x.round_(decimals=1), lambda x: x.round(1)),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name):
    x = torch.tensor(A)
    mine, numpys = IN_PLACE[name]
    y = mine(x)
    np.testing.assert_allclose(y.numpy(), numpys(A), rtol=1e-6, atol=1e-7)
    assert y is x or name == "squeeze_"


def test_views_in_place_keep_memory_graph_and_refuse_leaves():
    x = torch.zeros(2, 3)
    base = x.view(6)
    x.t_()[2, 1] = 5
    assert base[5] == 5 and x.shape == (3, 2)
    y = torch.ones(3, requires_grad=True) * 2
    y.unsqueeze_(0)
    assert y.shape == (1, 3) and y.requires_grad and not y.is_leaf
    with pytest.raises(RuntimeError, match="leaf"):
        torch.ones(3, requires_grad=True).unsqueeze_(0)
    with pytest.raises(IndexError):
        x.transpose_(0, 5)


def test_special_values():
    inf, nan = torch.inf, torch.nan
    x = torch.tensor([inf, -inf, nan, 1.0])
    assert torch.isposinf(x).tolist() == [True, False, False, False]
    assert torch.isneginf(x).tolist() == [False, True, False, False]
    assert torch.fmax(x, torch.zeros(4)).tolist() == [inf, 0, 0, 1]
    assert torch.fmin(torch.zeros(4), x).tolist() == [0, -inf, 0, 0]
    assert torch.nansum(x[2:]).item() == 1 and torch.nanmean(x[2:]).item() == 1
    top = torch.finfo(torch.float32).max
    assert torch.nan_to_num(x).tolist() == [top, -top, 0, 1]
    assert torch.logaddexp(x[:2], x[:2]).tolist() == [inf, -inf]
    assert torch.xlogy(torch.zeros(2), torch.tensor([0.0, nan]))[0] == 0
    assert torch.sinc(torch.zeros(1)).item() == 1
    assert torch.isreal(torch.tensor([1j, 1 + 0j])).tolist() == [False, True]


def test_unique():
    x = torch.tensor([[3, 1], [1, 2]])
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    expected = np.unique(x.numpy(), return_inverse=True, return_counts=True)
    assert values.tolist() == expected[0].tolist() and counts.tolist() == expected[2].tolist()
    assert torch.equal(values[inverse], x)
    assert torch.unique_consecutive(torch.tensor([1, 1, 2, 1])).tolist() == [1, 2, 1]
    assert x.new_empty(0).unique().shape == (0,)


# --- einsum ---------------------------------------------------------------------------------------


@st.composite
def equations(draw):
    sizes = {c: draw(st.integers(0, 3)) for c in "abcde"}
    terms = draw(st.lists(st.text("abcde", max_size=3), min_size=1, max_size=3))
    every = "".join(terms)
    result = draw(st.permutations(sorted(set(every))))
    result = "".join(result[: draw(st.integers(0, len(result)))])
    if "..." and draw(st.booleans()):
        terms, result, lead = [t + "..." for t in terms], result + "...", draw(st.integers(0, 2))
    else:
        lead = 0
    arrays = []
    for t in terms:
        shape = [sizes[c] for c in t if c != "."] + [2] * (lead if "." in t else 0)
        arrays.append(rng.integers(-3, 4, shape).astype(float))
    arrow = draw(st.booleans())
    return ",".join(terms) + ("->" + result if arrow else ""), arrays


@settings(max_examples=200, deadline=None)
@given(equations())
def test_einsum_is_numpys(case):
    equation, arrays = case
    expected = np.einsum(equation, *arrays)
    mine = torch.einsum(equation, *map(torch.tensor, arrays))
    assert mine.shape == expected.shape
    np.testing.assert_array_equal(mine.numpy(), expected)


def test_einsum_forms():
    x = torch.tensor(A)
    assert torch.equal(torch.einsum(x, [0, 1], x, [2, 1], [0, 2]), torch.einsum("ij,kj->ik", x, x))
    assert torch.equal(torch.einsum("i j, k j", (x, x)), torch.einsum("ij,kj", x, x))
    assert torch.einsum("ij,ij->ij", x, x[:1]).shape == (3, 4)
    with pytest.raises(ValueError, match="at least one operand"):
        torch.einsum("")
    for bad in (("ij", x, x), ("ijk", x), ("ij->ik", x), ("ij->ii", x), ("i,i", x, x), ("i1", x),
                ("ij,jk", x, x), ("ii", x)):  # fmt: skip
        with pytest.raises(RuntimeError):
            torch.einsum(*bad)


# --- __torch_function__ ---------------------------------------------------------------------------


class Plain(torch.Tensor):
    pass


class Heard(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})


class Wrapper:
    """Holds a tensor and answers for all functions."""

    def __init__(self, t):
        self.t = t

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        bare = [x.t if isinstance(x, cls) else x for x in args]
        return cls(func(*bare, **(kwargs or {})))


class Refuses:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def heard(call):
    Heard.calls.clear()
    result = call()
    return Heard.calls.copy(), result


def test_results_of_a_subclass_are_of_it():
    p, t = Plain([1.0, 2.0]), torch.ones(2)
    for r in (p + 1, 1 + p, t + p, p.sum(), p.T, p[0], p[None], p.float(), p.double(), p.detach(),
              torch.cat([t, p]), torch.vstack([p, p]), p.max(0).values, p.split(1)[1], -p, p == 1,
              torch.max(p, t), next(iter(p)), p.clone(), p.std(0, True)):  # fmt: skip
        assert type(r) is Plain
    assert type(p.shape) is torch.Size and type(p.max(0)).__name__ == "max"
    assert repr(p) == "Plain([1., 2.])" and type(t + t) is torch.Tensor and p.tolist() == [1, 2]
    assert type(t.as_subclass(Plain)) is Plain and t.as_subclass(Plain).data_ptr() == t.data_ptr()
    p.note = 1
    assert (p.add_(1)) is p and p.note == 1 and not hasattr(p + 1, "note")


def test_a_subclass_hears_of_functions_methods_operators_indexing_attributes():
    h, t, T = Heard([1.0, 2.0]), torch.ones(2), torch.Tensor
    table = [
        (lambda: torch.add(h, 1, alpha=2), torch.add), (lambda: h.add(1), T.add),
        (lambda: h + 1, T.add), (lambda: 1 + h, T.add), (lambda: t + h, T.add),
        (lambda: 1 - h, T.__rsub__), (lambda: 1 / h, T.__rtruediv__), (lambda: 2**h, T.__rpow__),
        (lambda: -h, T.neg), (lambda: h[0], T.__getitem__), (lambda: h.shape, T.shape.__get__),
        (lambda: h.T, T.T.__get__), (lambda: torch.cat([t, h]), torch.cat), (lambda: len(h), None),
        (lambda: h.size(0), T.size), (lambda: h.tolist(), T.tolist), (lambda: h.numpy(), T.numpy),
        (lambda: h.__setitem__(0, 5), T.__setitem__), (lambda: t.__setitem__(0, h[1]), None),
        (lambda: torch.vstack([h, t]), torch.vstack), (lambda: torch.max(h, t), torch.max),
        (lambda: h.requires_grad, T.requires_grad.__get__), (lambda: h.float(), T.float),
        (lambda: torch.einsum("i,i", h, t), torch.einsum), (lambda: h.unsqueeze_(0), None),
    ]  # fmt: skip
    for call, func in table:
        calls, _ = heard(call)
        assert calls, call
        assert func is None or calls[0] == func
    assert type(h + 1) is Heard


def test_disabled():
    h = Heard([1.0])
    with torch._C.DisableTorchFunctionSubclass():
        calls, r = heard(lambda: (h + 1, h.shape, h[0], h.tolist()))
    assert calls == [] and type(r[0]) is torch.Tensor and type(r[2]) is torch.Tensor
    assert heard(lambda: h + 1)[0]

    class Off(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    assert type(Off([1.0]) + 1) is torch.Tensor and Off([1.0]).shape == (1,)


def test_wrappers():
    w, t = Wrapper(torch.ones(2)), torch.ones(2)
    for r in (torch.add(w, 1), torch.add(1, w), t + w, t.mul(w), torch.sum(w), torch.vstack([t]),
              torch.where(torch.tensor(True), w, t)):  # fmt: skip
        assert isinstance(r, (Wrapper, torch.Tensor))
    assert (t + w).t.tolist() == [2, 2] and torch.max(t, w).t.tolist() == [1, 1]
    assert torch.overrides.is_tensor_like(w) and not torch.overrides.is_tensor_like(3)


def test_who_is_asked_first():
    class Sub(Heard):
        calls = []

    class Other:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return types

    torch.add(Heard([1.0]), Sub([1.0]))
    assert Sub.calls and torch.add(torch.ones(1), Other()) == (Other,)
    assert torch.add(Refuses(), Other()) == (Refuses, Other)
    with pytest.raises(TypeError, match="torch.add"):
        torch.add(Refuses(), 1)
    with pytest.raises(TypeError, match="torch.Tensor.add"):
        torch.ones(1).add(Refuses())
    with pytest.raises(TypeError):
        torch.add(object(), 1)


def test_exceptions_come_through():
    class Raises(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise KeyError(func.__name__)

    r = torch.Tensor._make_subclass(Raises, torch.ones(2))
    for call in (lambda: r + 1, lambda: r[0], lambda: r.shape, lambda: torch.cat([r]), lambda: -r,
                 lambda: r.tolist(), lambda: 1 - r, lambda: list(r), lambda: repr(r)):  # fmt: skip
        with pytest.raises(KeyError):
            call()


def test_for_code_in_python():
    from tensorh.overrides import handle_torch_function, has_torch_function

    def public(x):
        if has_torch_function((x,)):
            return handle_torch_function(public, (x,), x)
        return x

    assert public(3) == 3 and not has_torch_function((torch.ones(1), None))
    calls, _ = heard(lambda: public(Heard([1.0])))
    assert calls[0] is public
    with pytest.raises(TypeError):
        public(Refuses())


# --- printing -------------------------------------------------------------------------------------


def test_printing():
    """As torch 2.15 prints."""
    t = torch.tensor([[1.0, 2.5], [1e-3, 100.0]])
    assert repr(t) == "tensor([[1.0000e+00, 2.5000e+00],\n        [1.0000e-03, 1.0000e+02]])"
    assert repr(torch.max(t, 0)) == (
        "torch.return_types.max(\nvalues=tensor([  1., 100.]),\nindices=tensor([0, 1]))"
    )
    assert repr(torch.return_types.max) == "<class 'torch.return_types.max'>"
    assert f"{torch.tensor(1.5):.3f}" == "1.500" and f"{t[0]}" == "tensor([1.0000, 2.5000])"
    with pytest.raises(TypeError):
        format(t, ".3f")
    meta = torch.empty((), device="meta")
    assert format(meta) == repr(meta)
    long = Plain(torch.arange(30.0))
    assert repr(long).splitlines()[1].startswith("       1")
    assert all(len(line) <= 80 for line in repr(long).splitlines())


@contextlib.contextmanager
def printing(**options):
    torch.set_printoptions(**options)
    try:
        yield
    finally:
        torch.set_printoptions(profile="default")


def test_printing_without_digits():
    with printing(precision=0):
        texts = [repr(torch.tensor(v)) for v in ([1.5, 2.25, 3.0], [1.0, 2.0], [1e-6, 1.5])]
    assert texts == ["tensor([2, 2, 3])", "tensor([1., 2.])", "tensor([1e-06, 2e+00])"]


def test_printing_options():
    t = torch.arange(2000.0)
    assert "..." in repr(t)
    with printing(profile="full"):
        assert "..." not in repr(t)
    with printing(edgeitems=1, threshold=5):
        assert repr(t) == "tensor([   0.,  ..., 1999.])"
    with printing(precision=2, sci_mode=False):
        assert repr(t[:2] + 0.5) == "tensor([0.50, 1.50])"
    with printing(sci_mode=True):
        assert repr(t[:2]) == "tensor([0.0000e+00, 1.0000e+00])"
    with printing(linewidth=30):
        assert max(map(len, repr(t[:40]).splitlines())) <= 30


def test_small_types():
    assert repr(torch.float32) == "torch.float32" and torch.float is torch.float32
    assert repr(torch.device("cpu")) == "device(type='cpu')" and str(torch.device("cpu")) == "cpu"
    assert torch.device("cpu") == torch.device(type="cpu") and torch.device("cpu").index is None
    assert repr(torch.Tensor) == "<class 'torch.Tensor'>"
    assert torch.typename(torch.ones(1)) == "torch.FloatTensor"
    assert (torch.pi, torch.inf, torch.newaxis) == (np.pi, np.inf, None)
    with pytest.raises(RuntimeError):
        torch.device("nowhere")
    with pytest.raises(TypeError):
        torch.device(3.5)


def test_size():
    z = torch.Size([2, 3, 4])
    assert repr(z) == "torch.Size([2, 3, 4])" and z == (2, 3, 4) and hash(z) == hash((2, 3, 4))
    for r in (z[1:], z + (1,), (1,) + z, z * 2, 2 * z, torch.Size(z), z + z, z[:0]):
        assert type(r) is torch.Size
    assert z[-1] == 4 and z.numel() == 24 and (*z, 1) == (2, 3, 4, 1) and torch.Size() == ()
    assert torch.Size([torch.tensor(2), np.int64(3)]) == (2, 3)
    assert repr(torch.Size([True]) + (False,)) == "torch.Size([1, 0])"
    for bad in ((["a"],), ([2.5],), (3,)):
        with pytest.raises(TypeError):
            torch.Size(*bad)
    for bad in (("a",), (2.5,)):
        with pytest.raises(TypeError):
            z + bad
    with pytest.raises(IndexError):
        z[3]


# --- what Python asks of an object ----------------------------------------------------------------


def test_protocols():
    t = torch.tensor([1.0, 2.0])
    assert len(t) == 2 and 2 in t and 5 not in t and t in t
    assert [x.item() for x in reversed(t)] == [2, 1]
    assert complex(torch.tensor(1j)) == 1j and int(torch.tensor(2.7)) == 2
    assert [1, 2, 3][torch.tensor(1)] == 2 and hash(t) == hash(t)
    assert {"numpy", "shape", "add"} <= set(dir(t)) and t.__array_priority__ == 1000
    assert (t != None) is True and (t == "a") is False  # noqa: E711
    for bad in (lambda: "a" in t, lambda: bool(t), lambda: int(t), lambda: float(t),
                lambda: t + "a",
                lambda: [1][torch.tensor(0.0)], lambda: t < "a", lambda: t @ 2, lambda: t + None,
                lambda: complex(t), lambda: int(torch.tensor(1 + 2j)),
                lambda: len(torch.tensor(1))):  # fmt: skip
        with pytest.raises((TypeError, RuntimeError, ValueError)):
            bad()


@pytest.mark.parametrize("name", ["bool", "uint8", "int64", "float16", "float64", "complex64"])
def test_lists_and_items(name):
    x = np.arange(6).astype(name).reshape(2, 3)
    t = torch.tensor(x)
    assert t.tolist() == x.tolist() and t.t().tolist() == x.T.tolist()
    assert type(t[0, 1].item()) is type(x[0, 1].item()) and t[0, 1].item() == x[0, 1].item()
    assert torch.zeros(0, 2).tolist() == [] and torch.zeros(2, 0).tolist() == [[], []]
    assert torch.tensor([1.5], dtype=torch.bfloat16).tolist() == [1.5]


def test_a_number_before_a_tensor_does_not_widen_it():
    for dtype in (torch.uint8, torch.int8, torch.int64, torch.float16, torch.float32):
        for shape in ((), (2,)):
            x = torch.full(shape, 3, dtype=dtype)
            assert (7 // x).dtype is dtype is (7 % x).dtype and (7 % x).max() == 1
            if not dtype.is_floating_point:
                assert (2 << x).dtype is dtype is (64 >> x).dtype and (2 << x).max() == 16
            wide = dtype if dtype.is_floating_point else torch.float32
            assert (7.5 // x).dtype is wide is (7.5 % x).dtype and (7.5 % x).max() == 1.5
    assert (300 // torch.tensor(7, dtype=torch.uint8)) == 6  # 300 is 44 there


def test_attributes():
    t = torch.ones(2, 3, dtype=torch.float64)
    assert (t.is_cpu, t.is_cuda, t.is_meta, t.get_device()) == (True, False, False, -1)
    assert (t.size(dim=1), t.stride(dim=0), t.element_size(), t.nbytes) == (3, 3, 8, 48)
    assert torch.tensor([1 + 2j]).real.tolist() == [1] and t.real is not None
    assert torch.is_tensor(t) and not torch.is_tensor(3) and torch.numel(t) == 6
    assert torch.is_floating_point(t) and not torch.is_complex(t) and t.is_signed()
    t.note = 1
    assert t.note == 1
    for name, ndim in (("H", 1), ("H", 3), ("mT", 1), ("mH", 1)):
        with pytest.raises(RuntimeError, match=f"tensor.{name} is only"):
            getattr(torch.ones((2,) * ndim), name)
    assert all(getattr(torch.tensor(2.0), name) == 2 for name in ("T", "mT", "H", "mH"))
    assert torch.ones(2, 3).H.shape == (3, 2) and torch.ones(4, 2, 3).mH.shape == (4, 3, 2)
    with pytest.raises(AttributeError):
        t.nothing  # noqa: B018
    with pytest.raises(AttributeError):
        t.shape = (3, 2)


def test_wrong_calls_name_the_argument():
    t = torch.ones(2)
    for call, text in (
        (lambda: torch.add(t, 1, beta=2), "beta"), (lambda: t.sum(dim="a"), "dim"),
        (lambda: torch.matmul(t, 2), "other"), (lambda: t.reshape("a"), "shape"),
        (lambda: t.split("a"), "split_size"), (lambda: t.add(1, 2, 3), "takes|combination"),
        (lambda: torch.add(), "missing|combination"), (lambda: t.norm(p="x"), "norm"),
        (lambda: t.clamp("a"), "clamp"), (lambda: t.max("a", "b"), "max"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=text):
            call()


@pytest.mark.parametrize("path, text", [
    ("cuda.gds", "CUDA"), ("nn.utils.init", "stands in"),
    ("utils.benchmark", "timeit"), ("utils.data.IterDataPipe", "deprecated"),
    ("utils.checkpoint.CheckpointFunction", "inside"),
    ("backends.cuda.cublas_workspace_size", "CUDA"), ("overrides.get_ignored_functions", "inside"),
    ("nn.functional.native_layer_norm", "inside"),
])  # fmt: skip
def test_names_that_are_missing_below_torch_say_so(path, text):
    *spaces, name = path.split(".")
    space = torch
    for part in spaces:
        space = getattr(space, part)
    with pytest.raises(AttributeError, match=text):
        getattr(space, name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'(?! .planned| .left)"):
        _ = space.nonsense


def test_special_functions_by_their_other_names():
    assert torch.special.expit is torch.sigmoid and "xlogy" in dir(torch.special)
    x = torch.arange(3.0)
    assert torch.equal(torch.special.log_softmax(x, 0), x.log_softmax(0))
    assert torch.special.gammainc is torch.igamma and torch.special.psi is torch.digamma


def test_what_is_drawn_in_a_fork_leaves_the_generator():
    torch.manual_seed(3)
    want = torch.rand(4)
    torch.manual_seed(3)
    with torch.random.fork_rng():
        torch.rand(9)
    assert torch.equal(torch.rand(4), want)


def test_names_that_are_missing_are_counted(tmp_path):
    def counted(*args):
        command = [sys.executable, "-m", "tensorh._missing", *args]
        return subprocess.run(command, capture_output=True, text=True)

    for args in ([], ["--help"], ["a", "b"]):
        run = counted(*args)
        assert run.returncode == 1 and "usage: " in run.stderr and "Traceback" not in run.stderr
    names = tmp_path / "names.txt"
    planned = PLANNED["torch"].split()[-1]
    names.write_text(f"## torch.* (3)\nadd\n{planned}\nno_such_name\n")
    run = counted(str(names))
    assert run.returncode == 0 and "torch 1 present, 1 planned, 0 left out, 1 unknown" in run.stdout


def test_names_that_are_missing_say_so():
    for name, text in (
        (PLANNED["torch"].split()[-1], "planned"), ("sparse_bsr_tensor", "purpose"),
        ("nonsense", "attribute"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=text):
            getattr(torch, name)
    with pytest.raises(AttributeError, match="built inside"):
        torch.linalg.common_notes  # noqa: B018
    assert not hasattr(torch.Tensor, "grad_dtype")
    with pytest.raises(AttributeError, match="planned"):
        torch.ones(1).grad_dtype  # noqa: B018


def test_what_is_loaded_later_is_all_there_is():
    from tensorh import _functions, _tensor

    assert sorted(_functions._methods()) == sorted(_tensor.LATER)
    assert set(_functions._names()) <= set(dir(torch))
    for name in _tensor.LATER:
        assert callable(getattr(torch.Tensor, name))


def test_what_programs_ask_about_gpus():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert torch.ones(1, device=device).is_cpu and torch.cuda.device_count() == 0
    torch.cuda.manual_seed_all(0)
    torch.backends.cudnn.deterministic = True
    assert not torch.backends.mps.is_available()
    with pytest.raises(RuntimeError, match="cuda"):
        torch.cuda.synchronize()
    with pytest.raises(RuntimeError):
        torch.ones(1).cuda()


# --- assert_close ---------------------------------------------------------------------------------


def test_assert_close():
    close = torch.testing.assert_close
    close(torch.ones(2), torch.ones(2) + 1e-7)
    close([torch.ones(2), 1.0], [torch.ones(2), 1.0 + 1e-9])
    close({"a": np.ones(2)}, {"a": np.ones(2)})
    close(torch.tensor(torch.nan), torch.tensor(torch.nan), equal_nan=True)
    close(torch.ones(2), torch.ones(2, dtype=torch.float64), check_dtype=False)
    close(torch.tensor([1, 2]), torch.tensor([1, 3]), rtol=0, atol=1)
    for a, b, text in (
        (torch.ones(3), torch.tensor([1.0, 1, 3]), r"Mismatched elements: 1 / 3 \(33.3%\)"),
        (torch.ones(3), torch.tensor([1.0, 1, 3]), r"absolute difference: 2.0 at index \(2,\)"),
        (torch.ones(2), torch.ones(3), "shape"), (torch.ones(1), torch.ones(1).double(), "dtype"),
        (1.0, 1.1, "Scalars are not close"), ([1.0], [1.0, 2.0], "length"), (1, 1.0, r"\(d\)types"),
        ({"a": 1}, {"b": 1}, "keys"), ([torch.ones(1)], [torch.zeros(1)], r"item \[0\]"),
        (torch.tensor(torch.nan), torch.tensor(torch.nan), "close"), (None, 1, "None"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "not equal"),
    ):  # fmt: skip
        with pytest.raises(AssertionError, match=text):
            close(a, b)
    with pytest.raises(AssertionError, match="mine"):
        close(1.0, 2.0, msg="mine")
    with pytest.raises(ValueError):
        close(1.0, 1.0, rtol=1)
    with pytest.raises(TypeError):
        close("a", "a")


def test_isin_of_many_needs_no_table_of_all_pairs():
    x, tests = torch.arange(200_000), torch.arange(0, 400_000, 3)
    found = torch.isin(x, tests)
    assert found.tolist() == (np.arange(200_000) % 3 == 0).tolist()
    assert torch.isin(x, tests, invert=True).sum().item() == 200_000 - found.sum().item()
    y = torch.tensor([1.0, float("nan"), 2.0]).repeat(1000).view(30, 100)
    assert torch.isin(y, torch.tensor([2.0, float("nan")]).repeat(50)).sum().item() == 1000


def test_shapes_that_do_not_fit_are_refused():
    x = torch.arange(6.0).view(2, 3)
    for size in ((3, 3), (2, 2), (1, 1, 2, 3)):
        with pytest.raises(RuntimeError, match="not expandable"):
            x.sum_to_size(size)
    assert x.sum_to_size(1, 3).tolist() == [[3.0, 5.0, 7.0]]
    assert x.sum_to_size(3).tolist() == [3.0, 5.0, 7.0]
    for dims in ((0, 0), (1, -1), (0,)):
        with pytest.raises(RuntimeError, match="rotation dims"):
            torch.rot90(x, 1, dims)
    with pytest.raises(RuntimeError, match="non-empty"):
        torch.hstack([])
    assert torch.block_diag().shape == (1, 0)


def test_real_and_imaginary_parts_are_set():
    z = torch.tensor([1 + 2j, 3 - 4j])
    z.imag = torch.tensor([5.0, 6.0])
    z.real = 7
    assert z.tolist() == [7 + 5j, 7 + 6j]
    x = torch.tensor([1.0, 2.0])
    x.real = torch.tensor([3.0, 4.0])
    assert x.tolist() == [3, 4]
    with pytest.raises(RuntimeError):
        x.imag = 1
    with pytest.raises(AttributeError, match="cannot delete 'real'"):
        del z.real
    y = torch.ones(2, dtype=torch.complex128, requires_grad=True) * 1
    part = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y.imag = part * 3
    torch.view_as_real(y).sum().backward()
    assert part.grad.tolist() == [3, 3]


def test_warn_only_is_what_was_told_last():
    try:
        for mode, warn in (True, True), (False, True), (True, False), (False, False):
            torch.use_deterministic_algorithms(mode, warn_only=warn)
            assert torch.are_deterministic_algorithms_enabled() is mode
            assert torch.is_deterministic_algorithms_warn_only_enabled() is warn
            assert torch.get_deterministic_debug_mode() == (2 - warn if mode else 0)
        for wrong in ((1,), {}), ((True,), {"warn_only": 1}):
            with pytest.raises(TypeError, match="must be bool, not int"):
                torch.use_deterministic_algorithms(*wrong[0], **wrong[1])
    finally:
        torch.use_deterministic_algorithms(False)
