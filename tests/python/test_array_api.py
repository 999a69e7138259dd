"""tensorh.array_api, where the standard differs from torch. The suite of the standard itself runs
in array_api.sh; special values here are those of C99's Annex G, as Python's cmath has them."""

import cmath
import math

import numpy as np
import pytest

import tensorh as torch
from tensorh import array_api as xp

inf, nan = math.inf, math.nan


def equal(a, b):
    """The same dtype, shape, elements and signs of zeros."""
    a, b = (x.numpy() if isinstance(x, torch.Tensor) else x for x in (a, b))
    return (
        a.dtype == b.dtype
        and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        and (a.dtype.kind != "f" or np.array_equal(np.signbit(a), np.signbit(b)))
    )


def test_namespace():
    x = torch.ones(2)
    assert x.__array_namespace__() is xp is torch.array_api
    assert x.__array_namespace__(api_version="2022.12") is xp
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999.12")
    assert x.to_device("cpu").device == x.device
    with pytest.raises(ValueError, match="streams"):
        x.to_device("cpu", stream=1)
    assert {"add", "take", "unique_all", "linalg", "float32", "__array_namespace_info__"} <= set(
        dir(xp)
    )
    assert all(hasattr(xp, name) for name in dir(xp))


def test_names_without_rows_say_so():
    for name, why in (("sparse_bsr_tensor", "layouts are"), ("uint32", None), ("hardswish", None)):
        with pytest.raises(AttributeError, match=why or name):
            getattr(xp, name)


def test_fft():
    x = xp.asarray([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, -1.0]], dtype=xp.float64)
    assert xp.fft.fft(x, axis=0).tolist() == [[1, 3, 3, 3], [1, 1, 3, 5]]
    assert xp.fft.rfft(x[0, :], norm="forward").tolist() == [2.5, -0.5 + 0.5j, -0.5]
    assert xp.fft.irfftn(xp.fft.rfftn(x), s=(2, 4), axes=(0, 1)).tolist() == x.tolist()
    assert xp.fft.fftfreq(4, d=0.5).tolist() == [0, 0.5, -1, -0.5]
    assert xp.fft.ifftshift(xp.fft.fftshift(x, axes=1), axes=1).tolist() == x.tolist()
    with pytest.raises(TypeError):
        xp.fft.fft(x, 4)


def test_dtypes():
    zero = xp.asarray(1, dtype=xp.float64)
    line = xp.ones(2, dtype=xp.float32)
    assert xp.add(line, zero).dtype == xp.float64 and (line + zero).dtype == xp.float32
    assert xp.result_type(line, zero, 1) == xp.float64
    assert xp.result_type(xp.int8, xp.uint8) == xp.int16
    assert xp.result_type(xp.float32, 1j) == xp.complex64
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.int16, xp.int8)
    assert xp.isdtype(xp.int8, ("bool", "integral")) and not xp.isdtype(xp.int8, "real floating")
    assert xp.sum(xp.ones(2, dtype=xp.int8)).dtype == xp.int64
    assert xp.where(xp.asarray([True]), line, zero).dtype == xp.float64
    with pytest.raises(TypeError, match="real"):
        xp.astype(xp.ones(1, dtype=xp.complex64), xp.float32)


def test_floor_divide_and_remainder_of_infinities_and_zeros():
    a = np.array([inf, -inf, 1, -1, 7, -0.0, 0.0])
    b = np.array([2, 2, -inf, inf, -2, 2, -2])
    found = xp.floor_divide(torch.from_numpy(a), torch.from_numpy(b))
    assert equal(found, np.array([inf, -inf, -0.0, -0.0, -4, -0.0, -0.0]))
    found = xp.remainder(torch.from_numpy(a[4:]), torch.from_numpy(b[4:]))
    assert equal(found, np.array([-1, 0.0, -0.0]))


def test_sorting_sets_and_places():
    x = xp.asarray([3, 1, 3, 2])
    u = xp.unique_all(x)
    assert [a.tolist() for a in u] == [[1, 2, 3], [1, 3, 0], [2, 0, 2, 1], [1, 1, 2]]
    assert xp.argsort(x, descending=True, stable=True).tolist() == [0, 2, 3, 1]
    assert xp.take(x, xp.asarray([-1, 0])).tolist() == [2, 3]
    assert xp.take_along_axis(x, xp.asarray([-1, 0])).tolist() == [2, 3]
    assert xp.repeat(x, xp.asarray([0, 1, 0, 2], dtype=xp.int8)).tolist() == [1, 2, 2]
    assert xp.cumulative_sum(x, include_initial=True).tolist() == [0, 3, 4, 7, 9]
    assert xp.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]]
    with pytest.raises(ValueError, match="length 1"):
        xp.squeeze(x, 0)


# --- what the suite found -------------------------------------------------------------------------

PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, inf, -inf, nan]
GRID = [complex(a, b) for a in PARTS for b in PARTS]


def alike(found, expected, of):
    """Whether a function of z gave what is expected; of NaN zeros and infinities have any sign."""
    for x, y in zip((found.real, found.imag), (expected.real, expected.imag), strict=True):
        if cmath.isnan(of) or cmath.isnan(expected):
            x, y = abs(x), abs(y)
        if x == y == 0 and math.copysign(1, x) != math.copysign(1, y):
            return False
        if not (x == y or (math.isnan(x) and math.isnan(y)) or abs(x - y) <= 2e-6 * max(1, abs(y))):
            return False
    return True


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize(
    "name", "exp sin cos sinh cosh tan asin acos atan asinh acosh atanh sqrt log".split()
)
def test_complex_special_values(name, dtype):
    found = getattr(torch, name)(torch.tensor(GRID, dtype=dtype)).tolist()
    for z, w in zip(GRID, found, strict=True):
        try:
            expected = getattr(cmath, name)(z)
        except (ValueError, OverflowError):
            continue  # where C99 raises invalid
        if name == "tan" and math.isnan(z.real) and z.imag == 0:
            continue  # later editions of C keep the zero, cmath does not
        if name == "acosh" and z.real == 0 and math.isnan(z.imag):
            continue  # pi / 2, as acos has it
        assert alike(w, expected, z), (z, w, expected)


@pytest.mark.parametrize(
    "name, z, expected",
    [
        ("exp", complex(-inf, inf), complex(0, 0)),
        ("exp", complex(inf, inf), complex(inf, nan)),
        ("expm1", complex(-inf, nan), complex(-1, 0)),
        ("sinh", complex(0, inf), complex(0, nan)),
        ("cosh", complex(inf, inf), complex(inf, nan)),
        ("tanh", complex(inf, inf), complex(1, 0)),
        ("tanh", complex(0, nan), complex(0, nan)),
        ("acos", complex(0, nan), complex(math.pi / 2, nan)),
        ("sqrt", complex(-1, inf), complex(inf, inf)),
        ("sqrt", complex(nan, -inf), complex(inf, -inf)),
    ],
)
def test_complex_infinities_without_an_angle(name, z, expected):
    w = getattr(torch, name)(torch.tensor(z, dtype=torch.complex128)).item()
    assert alike(w, expected, z), w


@pytest.mark.parametrize("name", ["asinh", "acosh", "atanh"])
def test_inverse_hyperbolic_of_real_numbers(name):
    values = [0.0, -0.0, 1, -1, 0.5, 1e-20, -1e-6, 3, -100, 1e9, 2e9, 1e30, -1e30, inf, -inf, nan]
    x = np.array(values)
    with np.errstate(all="ignore"):
        expected = getattr(np, "arc" + name[1:])(x)
    found = getattr(torch, name)(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert np.array_equal(np.signbit(found[:2]), np.signbit(expected[:2]))


def test_gradients_of_inverse_hyperbolic_functions_at_their_ends():
    x = torch.tensor([0.0, -0.0, 2e9, inf], dtype=torch.float64, requires_grad=True)
    x.asinh().sum().backward()
    assert x.grad.tolist() == [1, 1, 5e-10, 0]
    x = torch.tensor([0.0, 1.0, -1.0], requires_grad=True)
    x.atanh().sum().backward()
    assert x.grad.tolist() == [1, inf, inf]


def test_where_of_two_numbers_has_the_default_dtype():
    c = torch.tensor([True, False])
    assert torch.where(c, 1.0, 2).dtype == torch.float32
    assert torch.where(c, 1.0, 2j).dtype == torch.complex64
    assert torch.where(c, 1, True).dtype == torch.int64


def test_dtypes_that_do_not_promote():
    with pytest.raises(RuntimeError, match="uint16"):
        torch.promote_types(torch.uint16, torch.int8)


def test_repeats_of_any_integers():
    x = torch.tensor([1, 2])
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32):
        assert x.repeat_interleave(torch.tensor([2, 1], dtype=dtype)).tolist() == [1, 1, 2]
    with pytest.raises(NotImplementedError):
        x.repeat_interleave(torch.tensor([2.0, 1.0]))
    with pytest.raises(RuntimeError, match="1-dim"):
        x.repeat_interleave(torch.tensor([[2, 1]]))
