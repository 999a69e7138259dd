"""x[key] and x[key] = value against NumPy, over random keys; iteration and unpacking.

torch applies integers first and moves the dimensions of arrays to the front by what is left, so
the oracle applies a key in two steps: numbers, slices and None, then arrays and masks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorh as torch

SHAPES = [(), (3,), (4, 3), (2, 3, 4), (0, 3), (3, 0, 2), (1, 3), (2, 2, 2, 2)]
PLAIN = settings(max_examples=300, deadline=None)


def _bound(size):
    return st.none() | st.integers(-size - 1, size + 1)


def _slices(size):
    return st.builds(slice, _bound(size), _bound(size), st.none() | st.integers(1, 3))


def _arrays(size):
    shapes = st.sampled_from([(1,), (2,), (3,), (2, 1), (2, 2), (1, 3), (0,)])
    elements = st.integers(-size, size - 1) if size else st.nothing()
    return shapes.flatmap(
        lambda shape: st.lists(
            elements, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))
        ).map(lambda v: np.array(v, dtype=np.int64).reshape(shape))
        if size or 0 in shape
        else st.just(np.zeros((0,), dtype=np.int64))
    )


@st.composite
def keys(draw, shape):
    """Members of a key; arrays that broadcast together, or one mask."""
    key, dim, arrays, dots = [], 0, [], False
    while dim < len(shape) and draw(st.integers(0, 5)):
        kind = draw(st.sampled_from(["int", "slice", "array", "list", "mask", "none", "dots"]))
        size = shape[dim]
        if kind == "none":
            key.append(None)
        elif kind == "dots" and not dots:
            rest = draw(st.integers(0, len(shape) - dim))
            key.append((Ellipsis, rest))
            dim, dots = dim + rest, True
        elif kind == "int" and size:
            key.append(draw(st.integers(-size, size - 1)))
            dim += 1
        elif kind in ("array", "list"):
            a = draw(_arrays(size))
            key.append(a.tolist() if kind == "list" and a.ndim == 1 and a.size else a)
            arrays.append(a.shape)
            dim += 1
        elif kind == "mask":
            ndim = draw(st.integers(1, min(2, len(shape) - dim)))
            part = shape[dim : dim + ndim]
            n = int(np.prod(part))
            values = draw(st.lists(st.booleans(), min_size=n, max_size=n))
            mask = np.array(values, dtype=bool).reshape(part)
            key.append(mask)
            arrays.append((int(mask.sum()),))
            dim += ndim
        else:
            key.append(draw(_slices(size)))
            dim += 1
    return _settle(key, dim, len(shape))


def _settle(key, dim, ndim):
    """An ellipsis takes what is left: members after it stand where they were drawn."""
    out = []
    for k in key:
        if isinstance(k, tuple):
            rest = k[1]
            out += [Ellipsis] if rest + ndim - dim == rest else [slice(None)] * rest
        else:
            out.append(k)
    return out


def taken(key):
    """Dimensions that the members of a key take, but for an ellipsis."""
    n = 0
    for k in key:
        if isinstance(k, np.ndarray) and k.dtype == bool:
            n += k.ndim
        elif k is not None and k is not Ellipsis:
            n += 1
    return n


def oracle(x, key):
    """x[key] as torch has it, and the two keys."""
    first, second = [], []
    for k in key:
        is_array = isinstance(k, (np.ndarray, list))
        if is_array:
            n = np.asarray(k)
            takes = n.ndim if n.dtype == bool else 1
            first += [slice(None)] * takes
            second.append(n)
        else:
            first.append(k)
            if k is Ellipsis:  # of no dimension it separates arrays in NumPy alone
                second += [slice(None)] * (x.ndim - taken(key))
            elif not isinstance(k, int):
                second.append(slice(None))
    if not any(k is Ellipsis for k in first):
        first.append(Ellipsis)  # an array, never a number of NumPy's
    return x[tuple(first)], tuple(second)


def as_tensors(key):
    return tuple(torch.tensor(k) if isinstance(k, np.ndarray) else k for k in key)


def data(shape):
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def outcome(f):
    try:
        return f()
    except (IndexError, ValueError, RuntimeError):
        return "refused"


shaped_keys = st.sampled_from(SHAPES).flatmap(lambda s: st.tuples(st.just(s), keys(s)))


@PLAIN
@given(shaped_keys, st.booleans())
def test_reading_is_numpys(case, arrays_stay):
    shape, key = case
    x = data(shape)
    view, second = oracle(x, key)
    expected = outcome(lambda: view[second])
    got = outcome(lambda: torch.tensor(x)[tuple(key) if arrays_stay else as_tensors(key)])
    if isinstance(expected, str) or isinstance(got, str):
        assert isinstance(expected, str) == isinstance(got, str)
    else:
        assert tuple(got.shape) == expected.shape
        assert got.tolist() == expected.tolist()


@PLAIN
@given(shaped_keys, st.sampled_from(["number", "same", "tail", "one", "row"]), st.data())
def test_writing_is_numpys(case, kind, draws):
    shape, key = case
    x = data(shape)
    view, second = oracle(x, key)
    target = outcome(lambda: view[second])
    if isinstance(target, str):
        return
    if kind == "number":
        value = draws.draw(st.sampled_from([5, -2.5, True]))
    else:
        shapes = {
            "same": target.shape,
            "tail": target.shape[1:],
            "one": (1,) * target.ndim,
            "row": (1, *target.shape),
        }
        size = shapes[kind]
        value = -np.arange(1, int(np.prod(size)) + 1, dtype=np.float32).reshape(size)
    places = np.arange(x.size).reshape(shape)
    at = oracle(places, key)[0][second]
    if len(np.unique(at)) != at.size:
        return  # written twice: any of the values may stay
    view, second = oracle(x, key)
    plain = value
    while not isinstance(value, (int, float)) and plain.ndim > target.ndim:
        plain = plain[0]
    view[second] = plain
    t = torch.tensor(data(shape))
    t[as_tensors(key)] = value if isinstance(value, (int, float)) else torch.tensor(value)
    assert t.tolist() == x.tolist()


@PLAIN
@given(st.sampled_from(SHAPES), st.data())
def test_what_is_written_is_read(shape, draws):
    key = draws.draw(keys(shape))
    t = torch.tensor(data(shape))
    got = outcome(lambda: t[as_tensors(key)])
    if isinstance(got, str):
        return
    t[as_tensors(key)] = 77
    assert bool((t[as_tensors(key)] == 77).all())


def test_a_view_shares_memory_and_an_array_does_not():
    x = torch.zeros(3, 4)
    x[1][2] = 5
    x[:, 1:][0, 0] = 6
    x[[0, 1]][0, 3] = 7
    assert x[1, 2] == 5 and x[0, 1] == 6 and x[0, 3] == 0


@pytest.mark.parametrize(
    "key, error",
    [
        (5, IndexError), (-4, IndexError), ((0, 0, 0), IndexError), (1.5, IndexError),
        (slice(None, None, -1), ValueError), (slice(None, None, 0), ValueError),
        ("a", TypeError), ([3], IndexError), ([True, False], IndexError), (object(), IndexError),
        (slice("a"), TypeError), (slice(None, None, -(2**63)), ValueError),
        (2**70, ValueError), (1j, IndexError),
    ],
)  # fmt: skip
def test_a_wrong_key_is_refused(key, error):
    x = torch.zeros(3, 4)
    with pytest.raises(error):
        x[key]
    with pytest.raises(error):
        x[key] = 1
    assert not x.any()


def test_float_tensors_are_no_index():
    with pytest.raises(IndexError, match="must be long"):
        torch.zeros(3)[torch.tensor([0.5])]


def test_a_mask_of_another_shape_is_refused():
    with pytest.raises(IndexError, match="mask"):
        torch.zeros(3)[torch.tensor([True, False])]
    with pytest.raises(IndexError, match="0-dim"):
        torch.tensor(1)[0]


@pytest.mark.parametrize("value", [[1.0, 2.0], "a", None, torch.zeros(7), object()])
def test_a_wrong_value_is_refused(value):
    x = torch.zeros(3, 4)
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        x[0] = value
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        x[[0, 1]] = value
    assert x.shape == (3, 4) and not x.any()


def test_numbers_and_values_are_converted():
    x = torch.zeros(3, dtype=torch.int64)
    x[0], x[1:] = 2.9, torch.tensor([3.7, -1.2])
    assert x.tolist() == [2, 3, -1]
    x[torch.tensor([True, False, False])] = 7.9
    assert x.tolist() == [7, 3, -1]
    x[[1]] = torch.tensor(9.5)
    assert x.tolist() == [7, 9, -1]


def test_bools_add_a_dimension():
    x = torch.arange(3)
    assert x[True].shape == (1, 3) and x[False].shape == (0, 3)
    assert x[torch.tensor(True)].shape == (1, 3)
    for truth, n in ((0, 0), (1, 1)):
        mask = torch.tensor(truth, dtype=torch.uint8)
        assert x[mask].shape == (n, 3) and x[..., mask].shape == (3, n)
    x[False] = 9
    x[True] = torch.tensor([4, 5, 6])
    assert x.tolist() == [4, 5, 6]


def test_numpys_numbers_and_zero_dim_tensors_are_numbers():
    x = torch.arange(12).reshape(3, 4)
    assert x[np.int64(1), torch.tensor(2)] == 6
    assert x[np.int32(1) :, 0].tolist() == [4, 8]
    assert x[: torch.tensor(1)].shape == (1, 4)
    assert x[False:True].shape == (1, 4) == x[:-2][::True].shape
    assert x[: -(2**63)].shape == (0, 4) and x[-(2**63) : 2**63].shape == (3, 4)
    assert x[range(2)].shape == (2, 4) and x[(1,)].tolist() == x[1].tolist()
    assert x[[0, 1], [1, 2]].tolist() == [1, 6]
    assert x[[slice(0, 1), 2]].tolist() == [2]


@pytest.mark.parametrize(
    "key", [(0, 9), (None, 0, 9), (slice(None), 9), (..., 9), (True, 0, 9), (0, None, 9)]
)
def test_an_index_out_of_bounds_names_the_dimension_of_the_tensor(key):
    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension 1 with size 4"):
        torch.zeros(3, 4)[key]


def test_nothing_cannot_be_assigned():
    x = torch.ones(3)
    for key in (0, slice(None), x > 0, [0, 1]):
        with pytest.raises(TypeError, match="can't assign a NoneType"):
            x[key] = None
    assert x.tolist() == [1, 1, 1]


def test_exceptions_of_index_methods():
    class Fails:
        def __init__(self, error):
            self.error = error

        def __index__(self):
            raise self.error

    x = torch.ones(3)
    for error in (ValueError("mine"), KeyboardInterrupt(), MemoryError()):
        with pytest.raises(type(error)):
            x[Fails(error) :]
    for error in (KeyboardInterrupt(), MemoryError()):
        with pytest.raises(type(error)):
            x[Fails(error)]
        with pytest.raises(type(error)):
            x.sum(Fails(error))
    with pytest.raises(IndexError, match="only integers, slices"):
        x[Fails(ValueError("mine"))]


def test_iteration_and_unpacking():
    x = torch.arange(6).reshape(3, 2)
    a, b, c = x
    assert c.tolist() == [4, 5] and [r.tolist() for r in x] == x.tolist()
    first, *rest = torch.tensor([1, 2, 3])
    assert first == 1 and len(rest) == 2
    assert dict(enumerate(torch.tensor([5])))[0] == 5 and list(torch.zeros(0, 2)) == []
    with pytest.raises(TypeError, match="0-d"):
        iter(torch.tensor(1))
    with pytest.raises(TypeError, match="0-d"):
        len(torch.tensor(1))
    with pytest.raises(TypeError):
        del x[0]


def test_more_rows_than_one_unbind_returns_are_iterated():
    x = torch.arange(120001.0, requires_grad=True)
    kept, n = {}, 0
    for i, v in enumerate(x):
        n += 1
        if i in (0, 50000, 120000):
            kept[i] = v
    assert n == 120001 and {i: v.item() for i, v in kept.items()} == {i: i for i in kept}
    (kept[0] + 2 * kept[50000] + 3 * kept[120000]).backward()
    assert x.grad.nonzero().flatten().tolist() == [0, 50000, 120000]
    assert x.grad[x.grad != 0].tolist() == [1, 2, 3]

    class Mine(torch.Tensor):
        pass

    assert {type(v) for v in torch.zeros(60001).as_subclass(Mine)} == {Mine}
    assert max(torch.arange(60001)).item() == 60000


def test_several_ellipses_each_take_what_is_left():
    x = torch.arange(24).reshape(2, 3, 4)
    assert x[..., ...].tolist() == x.tolist()
    assert x[..., 0, ...].tolist() == x[..., 0].tolist()
    assert x[0, ..., 1, ..., 2].item() == 6
    assert x[..., [0, 1], ...].tolist() == x[..., :2].tolist()
    assert x[..., None, ...].shape == (2, 3, 4, 1)
    x[0, ..., ...] = 7
    assert x[0].unique().tolist() == [7] and x[1, 0].tolist() == [12, 13, 14, 15]
    for key in ((..., ..., 0), (..., [0], ..., 0), (..., ..., slice(1)), (0, ..., 1, ..., 2, 3)):
        with pytest.raises(IndexError):
            x[key]


@pytest.mark.parametrize(
    "dtype, value, given",
    [
        (torch.float16, 1e6, math.inf),
        (torch.float16, -70000, -math.inf),
        (torch.float16, 65519, 65504),
        (torch.bfloat16, 1e39, math.inf),
    ],
)
def test_an_element_of_16_bits_takes_a_number_beyond_them(dtype, value, given):
    x = torch.zeros(3, dtype=dtype)
    x[0] = value
    assert x.tolist() == [given, 0, 0]
    assert x.index_fill(0, torch.tensor([1]), 1).tolist() == [given, 1, 0]
    for i in (slice(1, None), [1], torch.tensor([True, False, False])):
        with pytest.raises(RuntimeError, match="without overflow"):
            x[i] = value
    assert x.tolist() == [given, 0, 0]


DTYPES = [torch.float32, torch.int64, torch.complex64, torch.bool]


@pytest.mark.parametrize("i", [0, [0], slice(1, 2), torch.tensor([True, False])], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_number_that_is_too_large_is_not_written(dtype, i):
    x = torch.zeros(2, dtype=dtype)
    for value in (10**40, 2**63, 10**400):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            x[i] = value
    if dtype != torch.bool:
        for value in (1e39, -1e40):
            with pytest.raises(RuntimeError, match="without overflow"):
                x[i] = value
    if dtype.is_complex:
        with pytest.raises(RuntimeError, match="without overflow"):
            x[i] = 2 + 1e40j
        x[i] = complex(math.inf, 1e38)
        x[i] = complex(1, -math.inf)
        x[i] = 0
    assert x.tolist() == [0, 0]


def test_an_element_of_uint64_takes_all_that_it_holds():
    x = torch.zeros(2, dtype=torch.uint64)
    x[0] = 2**63
    assert x.tolist() == [2**63, 0]
    with pytest.raises(OverflowError):
        x[0] = 2**64


def test_masks_of_the_cpu_index_tensors_of_the_device_meta():
    x, mask = torch.empty(3, 2, device="meta"), torch.tensor([True, False, True])
    assert x[mask].shape == (2, 2) and x[mask].is_meta
    assert x[mask.byte().bool() & False].shape == (0, 2)
    assert x[mask, torch.tensor([1, 0])].shape == (2,)
    x[mask] = torch.empty(2, 2, device="meta")
    x[mask] = 1
    for wrong in (3, 1):
        with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
            x[mask] = torch.empty(wrong, 3, device="meta")
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        x[torch.tensor([0, 1])] = torch.empty(3, 2, device="meta")
    with pytest.raises(IndexError, match="a mask of 2 true elements"):
        x[mask, torch.tensor([0, 1, 0])]
    with pytest.raises(NotImplementedError, match="a meta tensor does not have"):
        x[mask.to("meta")]


def test_gradients_pass_through_indices():
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    y = x[1:, [0, 2]] * torch.tensor([1.0, 10.0])
    assert y.requires_grad and y.shape == (2, 2)
    z = torch.zeros(2, 2)
    z[0] = y[1]
    assert z.requires_grad


def test_what_is_smaller_may_lie_where_it_is_written():
    x = torch.arange(6).view(2, 3)
    x[1] = x[1, 1]
    assert x.tolist() == [[0, 1, 2], [4, 4, 4]]
    x[:] = x[0]
    assert x.tolist() == [[0, 1, 2], [0, 1, 2]]
    x = torch.arange(3.0)
    with pytest.raises(RuntimeError, match="overlaps"):
        x[1:] = x[:-1]
