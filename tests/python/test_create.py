"""New tensors: of Python's data, of sizes, of numbers; torch's functions that make, join and split;
what is refused and how."""
import copy
import itertools
import operator
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorh as torch

FEW = settings(max_examples=80, deadline=None)


@st.composite
def nested(draw, numbers):
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    n = int(np.prod(shape, dtype=int))
    flat = draw(st.lists(numbers, min_size=n, max_size=n))
    a = np.empty(shape, dtype=object)
    a.reshape(-1)[:] = flat
    return a.tolist(), tuple(shape)


def seen_shape(shape):
    """A list does not show what is inside of an empty one."""
    return shape[: shape.index(0) + 1] if 0 in shape else shape


@FEW
@given(nested(st.floats(width=32)))
def test_floats(case):
    data, shape = case
    t = torch.tensor(data)
    assert t.shape == seen_shape(shape) and t.dtype is torch.float32
    np.testing.assert_array_equal(t.numpy(), np.array(data, np.float32).reshape(t.shape))


@FEW
@given(nested(st.integers(-(2**63), 2**63 - 1)))
def test_integers_are_exact(case):
    data, shape = case
    t = torch.tensor(data)
    assert t.tolist() == data
    assert 0 in shape or t.dtype is torch.int64


@FEW
@given(nested(st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.just(1j)))
def test_the_widest_number_gives_the_dtype(case):
    data, shape = case
    flat = list(np.array(data, dtype=object).reshape(-1))
    kinds = [bool, int, float, complex]
    widest = max((kinds.index(type(v)) for v in flat), default=2)
    dtype = [torch.bool, torch.int64, torch.float32, torch.complex64][widest]
    assert torch.tensor(data).dtype is dtype


def test_members_may_be_tensors_and_numpys():
    t = torch.tensor([torch.tensor(1), 2.5])
    assert t.dtype is torch.float32 and t.tolist() == [1, 2.5]
    assert torch.tensor([np.float64(1)]).dtype is torch.float64
    assert torch.tensor(np.float32(1)).dtype is torch.float32
    assert torch.tensor([np.int32(1), np.int32(2)]).dtype is torch.int32
    assert torch.tensor([np.ones(2), np.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    assert torch.tensor([[torch.tensor(1.0), 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert torch.tensor(range(3)).tolist() == [0, 1, 2]


def test_a_tensor_of_one_element_among_members_is_its_number():
    one, two = torch.tensor([1.0]), torch.tensor([[2]])
    assert torch.tensor([one, two]).shape == (2,) and torch.tensor([3, one]).tolist() == [3, 1]
    assert torch.tensor([[one], [4.5]]).tolist() == [[1], [4.5]]
    for more in (torch.ones(2), torch.ones(0)):
        with pytest.raises(ValueError, match="only one element"):
            torch.tensor([more, more])


def test_integers_of_64_bits_without_a_sign():
    most = 2**64 - 1
    t = torch.tensor([most, 2**63, 7], dtype=torch.uint64)
    assert t.tolist() == [most, 2**63, 7] == list(map(int, t)) and t[0].item() == most
    assert t.tolist() == t.numpy().tolist() and float(t[1]) == 2.0**63
    assert operator.index(t[0]) == most and int(torch.tensor(True)) == 1
    assert torch.tensor([2**70, 1.5]).tolist() == [2.0**70, 1.5]
    assert torch.tensor(2**70, dtype=torch.complex64).item() == 2.0**70
    assert torch.tensor(2**63, dtype=torch.bool).item() is True
    for bad, dtype in ((2**64, torch.uint64), (-1, torch.uint64), (10**400, torch.float32)):
        with pytest.raises(OverflowError):
            torch.tensor([bad], dtype=dtype)
    for bad in (2**63, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow"):
            torch.tensor([bad])


@pytest.mark.parametrize(
    "data, error",
    [
        ([[1, 2], [3]], ValueError), ([1, [2]], ValueError), ([[1], 2], (TypeError, ValueError)),
        ("a", TypeError), (["a"], ValueError), (b"ab", TypeError), (None, RuntimeError),
        ([None], RuntimeError), ({"a": 1}, RuntimeError), (object(), RuntimeError),
        ([1, "a"], TypeError), (2**64, ValueError), ([[[]] * 2, [[]]], ValueError),
    ],
)  # fmt: skip
def test_what_is_no_tensor(data, error):
    with pytest.raises(error):
        torch.tensor(data)


def test_numbers_that_a_dtype_does_not_have():
    for value in (300, -300):
        with pytest.raises(RuntimeError, match="overflow"):
            torch.tensor([value], dtype=torch.uint8)
    assert torch.tensor([-1], dtype=torch.uint8).item() == 255
    assert torch.tensor([-128, 127], dtype=torch.int8).tolist() == [-128, 127]
    with pytest.raises(TypeError, match="complex"):
        torch.tensor([1j], dtype=torch.float32)
    assert torch.tensor([1.7, -1.7], dtype=torch.int64).tolist() == [1, -1]
    wrong = [
        (float("inf"), torch.int64), (float("nan"), torch.int32), (2.0**63, torch.int64),
        (300.0, torch.int8), (-128.5, torch.int8), (-0.5, torch.uint8), (256.0, torch.uint8),
        (2.0**64, torch.uint64),
    ]  # fmt: skip
    for value, dtype in wrong:
        for data in (value, [value], [[0, value]]):
            with pytest.raises(RuntimeError, match=f"type {str(dtype)[6:]} without overflow"):
                torch.tensor(data, dtype=dtype)
    assert torch.tensor([127.5, -128.0], dtype=torch.int8).tolist() == [127, -128]
    assert torch.tensor([255.5, -0.0], dtype=torch.uint8).tolist() == [255, 0]
    assert torch.tensor([-(2.0**63)], dtype=torch.int64).tolist() == [-(2**63)]
    assert torch.tensor([float("nan"), 0.0], dtype=torch.bool).tolist() == [True, False]


@pytest.mark.parametrize(
    "named, text",
    [
        ({"layout": "x"}, "'layout' must be torch.layout, not str"),
        ({"pin_memory": "x"}, "'pin_memory' must be bool, not str"),
        ({"requires_grad": 1}, "'requires_grad' must be bool, not int"),
        ({"requires_grad": True, "out": 3}, "'out' must be Tensor, not int"),
    ],
)
def test_keywords_of_all_that_make_tensors(named, text):
    with pytest.raises(TypeError, match=text):
        torch.zeros(2, **named)
    usual = {"layout": torch.strided, "pin_memory": False, "requires_grad": True}
    assert torch.zeros(2, **usual).requires_grad
    assert torch.zeros(2, layout=None, pin_memory=None).tolist() == [0, 0]


def test_deep_and_strange_sequences_do_not_crash():
    deep = 1
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ValueError, match="dimensions"):
        torch.tensor(deep)
    cycle = []
    cycle.append(cycle)
    with pytest.raises((ValueError, RecursionError)):
        torch.tensor(cycle)

    class Shrinking(list):
        def __getitem__(self, i):
            self.clear()
            return 1

    class Lying:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            raise ZeroDivisionError

    for bad in (Shrinking([1, 2, 3]), Lying(), [Lying()]):
        with pytest.raises((ValueError, RuntimeError, ZeroDivisionError, IndexError, TypeError)):
            torch.tensor(bad)


def test_a_copy_or_the_same_memory():
    a = np.ones(3, dtype=np.float32)
    t = torch.ones(3)
    for f, shares in ((torch.tensor, False), (torch.as_tensor, True), (torch.asarray, True)):
        assert np.shares_memory(f(a).numpy(), a) == shares
        assert (f(t).data_ptr() == t.data_ptr()) == shares
    assert torch.as_tensor(t) is t
    assert torch.asarray(t, copy=True).data_ptr() != t.data_ptr()
    assert torch.asarray(a, dtype=torch.float64).dtype is torch.float64
    assert torch.asarray([1, 2]).tolist() == [1, 2] and torch.asarray(3.5).item() == 3.5
    with pytest.raises(ValueError):
        torch.asarray(a, dtype=torch.float64, copy=False)
    assert torch.tensor([1.0], requires_grad=True).is_leaf
    with pytest.raises(RuntimeError):
        torch.tensor([1], requires_grad=True)


def test_the_class_itself():
    for bad in (1.5, None, {}):
        with pytest.raises(TypeError, match="must be a sequence"):
            torch.Tensor(bad)
    assert torch.Tensor().shape == (0,) and torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor([1, 2]).dtype is torch.float32
    assert torch.Tensor(torch.Size([2, 3])).shape == (2, 3)
    assert torch.Tensor((2, 3)).tolist() == [2, 3]
    assert torch.LongTensor([1, 2]).dtype is torch.int64 and torch.FloatTensor(2).shape == (2,)
    assert isinstance(torch.ones(1), torch.FloatTensor)
    assert not isinstance(torch.ones(1), torch.LongTensor)
    for bad in (("a",), (1, "a"), (None,), (object(),)):
        with pytest.raises((TypeError, RuntimeError)):
            torch.Tensor(*bad)
    with pytest.raises((TypeError, RuntimeError)):
        torch.Tensor(-1)
    with pytest.raises(TypeError):
        torch.Tensor(2, dtype=torch.int8)


@FEW
@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(1, 7))
def test_arange(start, end, step):
    if end < start:
        with pytest.raises(RuntimeError):
            torch.arange(start, end, step)
        return
    assert torch.arange(start, end, step).tolist() == list(range(start, end, step))
    assert torch.arange(start, end, step, dtype=torch.float64).tolist() == np.arange(
        start, end, step, dtype=float).tolist()  # fmt: skip


@pytest.mark.parametrize(
    "mine, numpys",
    [
        (lambda: torch.arange(0.0, 1.0, 0.25), lambda: np.arange(0, 1, 0.25, np.float32)),
        (lambda: torch.arange(5), lambda: np.arange(5)),
        (lambda: torch.linspace(0, 1, 5), lambda: np.linspace(0, 1, 5, dtype=np.float32)),
        (lambda: torch.logspace(0, 3, 4, base=2), lambda: np.logspace(0, 3, 4, base=2)),
        (lambda: torch.range(0, 2, 0.5), lambda: np.arange(0, 2.5, 0.5)),
        (lambda: torch.eye(3, 4), lambda: np.eye(3, 4)),
        (lambda: torch.tril(torch.ones(3, 4), -1), lambda: np.tril(np.ones((3, 4)), -1)),
        (lambda: torch.triu(torch.ones(3, 4), 1), lambda: np.triu(np.ones((3, 4)), 1)),
        (lambda: torch.tril_indices(3, 4), lambda: np.array(np.tril_indices(3, 0, 4))),
        (lambda: torch.triu_indices(3, 4, 1), lambda: np.array(np.triu_indices(3, 1, 4))),
        (lambda: torch.full((2, 3), 7), lambda: np.full((2, 3), 7)),
        (lambda: torch.vander(torch.tensor([2.0, 3.0]), 3), lambda: np.vander([2.0, 3.0], 3)),
        (lambda: torch.scalar_tensor(2.5), lambda: np.array(2.5)),
        (lambda: torch.empty_strided((2, 3), (1, 2)).fill_(1), lambda: np.ones((2, 3))),
        (lambda: torch.complex(torch.ones(2), torch.zeros(2)), lambda: np.array([1 + 0j, 1 + 0j])),
        (lambda: torch.cartesian_prod(torch.arange(2), torch.arange(3)),
         lambda: np.array(list(itertools.product(range(2), range(3))))),
        (lambda: torch.combinations(torch.arange(4)),
         lambda: np.array(list(itertools.combinations(range(4), 2)))),
        (lambda: torch.block_diag(torch.ones(1, 2), torch.ones(2, 1)),
         lambda: np.array([[1, 1, 0], [0, 0, 1], [0, 0, 1]])),
    ],
)  # fmt: skip
def test_numbers_by_formula(mine, numpys):
    np.testing.assert_allclose(mine().numpy(), numpys(), rtol=1e-6)


def test_like_another():
    t = torch.ones(2, 3, dtype=torch.int16)
    for name in ("zeros_like", "ones_like", "empty_like"):
        u = getattr(torch, name)(t)
        assert u.shape == t.shape and u.dtype is torch.int16
        assert getattr(torch, name)(t, dtype=torch.float64).dtype is torch.float64
    assert torch.full_like(t, 3).tolist() == [[3] * 3] * 2
    assert torch.rand_like(t, dtype=torch.float32).dtype is torch.float32
    assert torch.randint_like(t, 5).max() < 5
    assert t.new_zeros(2).dtype is torch.int16 and t.new_ones((2, 1)).shape == (2, 1)
    assert t.new_full((2,), 9).tolist() == [9, 9] and t.new_empty(4).shape == (4,)
    assert t.new_tensor([1, 2]).dtype is torch.int16 and t.new(3).dtype is torch.int16
    assert torch.zeros(2, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: torch.zeros("a"), TypeError), (lambda: torch.zeros(2.5), TypeError),
        (lambda: torch.zeros(-1), RuntimeError), (lambda: torch.zeros((2, 2.5)), TypeError),
        (lambda: torch.zeros(2, dtype="float32"), TypeError),
        (lambda: torch.zeros(2, device="nowhere"), RuntimeError),
        (lambda: torch.zeros(2, nothing=1), TypeError), (lambda: torch.full(), TypeError),
        (lambda: torch.arange(), TypeError), (lambda: torch.eye(-1), RuntimeError),
        (lambda: torch.linspace(0, 1, -1), RuntimeError),
        (lambda: torch.zeros(2**40, 2**40), RuntimeError),
        (lambda: torch.tensor(), TypeError), (lambda: torch.tensor(1, 2), TypeError),
        (lambda: torch.tensor(1, dtype=3), TypeError), (lambda: torch.cat([]), ValueError),
        (lambda: torch.tensor(1, device=3.5), TypeError), (lambda: torch.cat(3), TypeError),
        (lambda: torch.stack([torch.ones(1), torch.ones(2)]), RuntimeError),
        (lambda: torch.cat([torch.ones(1), 2]), TypeError),
    ],
)  # fmt: skip
def test_wrong_arguments(call, error):
    with pytest.raises(error):
        call()


# --- joining and splitting ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 2)])
def test_stacks_are_numpys(name, shape):
    a = [np.arange(np.prod(shape)).reshape(shape) + k for k in range(3)]
    mine = getattr(torch, name)([torch.tensor(x) for x in a])
    np.testing.assert_array_equal(mine.numpy(), getattr(np, name)(a))


@pytest.mark.parametrize("sections", [1, 2, 3, 5, (1, 3), (0, 2), (2, 1), (-1,), (7,)])
@pytest.mark.parametrize("dim", [0, 1])
def test_splits_are_numpys(sections, dim):
    a = np.arange(20).reshape(4, 5)
    mine = torch.tensor(a).tensor_split(sections, dim)
    theirs = np.array_split(a, sections, dim)
    assert [t.tolist() for t in mine] == [x.tolist() for x in theirs]


def test_split_forms():
    x = torch.arange(10)
    assert [t.tolist() for t in x.split(4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [t.numel() for t in torch.split(x, [3, 7])] == [3, 7]
    assert [t.numel() for t in x.split(split_size=5, dim=0)] == [5, 5]
    assert [t.numel() for t in x.chunk(3)] == [4, 4, 2]
    assert [t.tolist() for t in torch.hsplit(torch.arange(4), 2)] == [[0, 1], [2, 3]]
    assert torch.vsplit(torch.ones(4, 2), 2)[0].shape == (2, 2)
    for bad in (lambda: x.split("a"), lambda: x.split([1, 2]), lambda: x.split(-1),
                lambda: torch.vsplit(torch.ones(3, 2), 2), lambda: torch.hsplit(torch.tensor(1), 1),
                lambda: x.tensor_split(0), lambda: x.split(), lambda: x.split(2.5)):  # fmt: skip
        with pytest.raises((RuntimeError, TypeError)):
            bad()


def test_broadcasting():
    a, b = torch.broadcast_tensors(torch.ones(2, 1), torch.ones(3))
    assert a.shape == b.shape == torch.broadcast_shapes((2, 1), (3,)) == (2, 3)
    assert isinstance(torch.broadcast_shapes((2, 1), 3), torch.Size)
    with pytest.raises(RuntimeError):
        torch.broadcast_shapes((2,), (3,))
    assert torch.atleast_2d(torch.tensor(1)).shape == (1, 1)
    assert [t.dim() for t in torch.atleast_3d(torch.ones(2), torch.ones(2, 2))] == [3, 3]
    x, y = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="xy")
    assert x.shape == (3, 2) and torch.meshgrid([torch.arange(2)], indexing="ij")[0].shape == (2,)


# --- random ---------------------------------------------------------------------------------------


def test_seeds_and_devices_of_generators():
    assert torch.manual_seed(1.5).initial_seed() == 1
    assert torch.manual_seed(-1).initial_seed() == 2**64 - 1
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow"):
            torch.Generator().manual_seed(seed)
    with pytest.raises(RuntimeError, match="expected a long"):
        torch.Generator().manual_seed(1.5)
    assert torch.Generator("cpu").device == torch.Generator(device=None).device
    for device in ("nowhere", "meta"):
        with pytest.raises(RuntimeError):
            torch.Generator(device)


def test_states_repeat():
    torch.manual_seed(7)
    assert torch.initial_seed() == 7
    state = torch.get_rng_state()
    a = torch.rand(3), torch.randn(20), torch.randperm(5), torch.normal(1.0, 2.0, (3,))
    torch.set_rng_state(state)
    b = torch.rand(3), torch.randn(20), torch.randperm(5), torch.normal(1.0, 2.0, (3,))
    assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))
    g = torch.Generator().manual_seed(7)
    assert torch.equal(torch.rand(3, generator=g), a[0]) and g.initial_seed() == 7
    h = g.clone_state()
    assert torch.equal(torch.rand(3, generator=g), torch.rand(3, generator=h))
    assert g.seed() == g.initial_seed() and repr(g).startswith("<torch._C.Generator object at 0x")
    with pytest.raises((TypeError, RuntimeError)):
        torch.set_rng_state(torch.zeros(3))


def test_torchs_numbers():
    """Stored from torch 2.15."""
    torch.manual_seed(0)
    assert torch.rand(2).tolist() == pytest.approx([0.49625658988952637, 0.7682217955589294])
    torch.manual_seed(0)
    assert torch.empty(3).random_(10).tolist() == [4, 9, 3]
    torch.manual_seed(0)
    assert torch.randint(5, (4,)).tolist() == [4, 4, 3, 0]
    torch.manual_seed(3)
    whole = torch.empty(2, dtype=torch.int64).random_()
    assert whole.tolist() == [937055941807507096, 3839649608876091011]
    torch.manual_seed(3)
    bits = torch.empty(6, dtype=torch.bool).random_()
    assert bits.int().tolist() == [0, 0, 1, 1, 0, 0]
    torch.manual_seed(7)
    words = torch.empty(3, dtype=torch.int32).random_()
    assert words.tolist() == [327741615, 976413892, 1202242073]
    torch.manual_seed(7)
    whole = torch.empty(2, dtype=torch.int64).random_(-(2**63), None)
    assert whole.tolist() == [1407639518939636932, -4059781650074555914]


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.float64])
def test_bernoulli_draws_a_tensor_of_probabilities_in_its_dtype(dtype):
    """Stored from torch 2.15."""
    two, one = "11000010001111101010", "01001010000011000101"  # words of an element
    for p, expected in [
        (0.3, two), (torch.tensor(0.3, dtype=torch.float64), two), (torch.tensor(0.3), one),
        (torch.tensor(0.3, dtype=torch.float16), one), (torch.tensor([0.3]), one),
    ]:  # fmt: skip
        torch.manual_seed(7)
        x = torch.empty(20, dtype=dtype).bernoulli_(p)
        assert "".join(str(int(v)) for v in x) == expected
        after = 0.7405239939689636 if expected == two else 0.8828775882720947
        assert torch.rand(1).item() == pytest.approx(after, rel=1e-7)
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.empty(20).bernoulli_(torch.tensor(1))

@pytest.mark.parametrize("draw", [
    lambda y, q: y.random_(), lambda y, q: y.random_(5), lambda y, q: y.random_(2, 9),
    lambda y, q: y.bernoulli_(0.3), lambda y, q: y.bernoulli_(q),
])  # fmt: skip
def test_what_is_drawn_over_has_gradients_of_zero(draw):
    torch.manual_seed(3)
    q = torch.full((2, 3), 0.4)
    want = draw(torch.ones(2, 3), q)
    for turned in (False, True):
        torch.manual_seed(3)
        x, q = torch.ones(2, 3).requires_grad_(), torch.full((3,), 0.4).requires_grad_()
        y = torch.cat((x, x))[1:3] if turned else x * 2
        assert draw(y, q) is y and y.requires_grad and torch.equal(y, want)
        y.sum().backward()
        assert x.grad.abs().sum() == 0 and (q.grad is None or not q.grad.any())
    with pytest.raises(RuntimeError, match="leaf"):
        draw(x, q)
    with torch.no_grad():
        assert draw(x, q).is_leaf
    z = torch.zeros(2, 3).bernoulli_(q)
    z.sum().backward()
    assert z.requires_grad and q.grad.tolist() == [0, 0, 0]
    for f in (torch.bernoulli, torch.poisson):
        r = torch.full((3,), 0.4).requires_grad_()
        y = f(r)
        y.sum().backward()
        assert y.requires_grad and r.grad.tolist() == [0, 0, 0], f


def test_random_bounds():
    x = torch.empty(1000)
    assert 0 <= x.random_(3, 7).min() and x.max() == 6
    assert torch.bernoulli(torch.full((1000,), 0.5)).mean() < 0.6
    assert torch.full((1000,), 0.5).bernoulli(0.0).sum() == 0
    assert x.random_(to=3).max() == 2 and x.random_(**{"from": 1, "to": 3}).min() == 1
    for bad in (7, 3), (0,):
        with pytest.raises(RuntimeError):
            x.random_(*bad)
    for bad in (1, 2, 3), (None, 3):
        with pytest.raises(TypeError):
            x.random_(*bad)
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.empty(3, dtype=torch.uint8).random_(257)
    assert torch.empty(9, dtype=torch.int32).random_().min() >= 0


def test_a_bytearray_is_a_list_of_ints():
    a = torch.tensor(bytearray(b"ab"))
    assert a.dtype is torch.int64 and a.tolist() == [97, 98]
    assert torch.tensor([bytearray(b"ab"), bytearray(b"cd")]).tolist() == [[97, 98], [99, 100]]
    assert torch.tensor(bytearray(b"ab"), dtype=torch.uint8).dtype is torch.uint8
    assert torch.tensor(bytearray()).dtype is torch.float32


@pytest.mark.parametrize(
    "data, dtype, want",
    [
        (bytearray(b"ab"), torch.uint8, [97, 98]),
        (b"ab", torch.uint8, [97, 98]),
        (memoryview(b"abc"), torch.uint8, [97, 98, 99]),
        (memoryview(np.arange(4.0).reshape(2, 2)), torch.float64, [0, 1, 2, 3]),
        (memoryview(np.arange(2, dtype=np.int16)), torch.int16, [0, 1]),
    ],
)
def test_bytes_as_an_array_are_of_their_own_format(data, dtype, want):
    a = torch.asarray(data)
    assert a.dtype is dtype and a.tolist() == want
    if not memoryview(data).readonly:
        a[0] = 7
        assert np.frombuffer(data, a.numpy().dtype)[0] == 7  # the same memory
    assert torch.asarray(data, dtype=torch.int8).numel() == memoryview(data).nbytes


def test_a_device_with_an_index_is_another_device():
    cpu, zero = torch.device("cpu"), torch.device("cpu", 0)
    assert (cpu.index, str(cpu), repr(cpu)) == (None, "cpu", "device(type='cpu')")
    assert (zero.index, str(zero)) == (0, "cpu:0")
    assert repr(zero) == "device(type='cpu', index=0)"
    assert zero == torch.device("cpu:0") == torch.device(zero) == torch.device(type="cpu", index=0)
    assert zero != cpu and not zero == cpu and len({zero, cpu, torch.device("cpu:0")}) == 2
    assert pickle.loads(pickle.dumps(zero)) == copy.deepcopy(zero) == zero
    assert torch.ones(1, device=zero).device == cpu == torch.ones(1).to("cpu:0").device
    meta = torch.device("meta", np.int64(0))
    assert (meta.type, meta.index, str(meta)) == ("meta", 0, "meta:0")
    assert torch.ones(1, device="meta:0").device == torch.device("meta") != meta


@pytest.mark.parametrize(
    "args, error, text",
    [
        (("cpu", -1), RuntimeError, "Device index must not be negative"),
        (("cpu:0", 0), RuntimeError, "type .string. must not include an index"),
        (("cpu", 1), RuntimeError, "device 'cpu:1' does not exist"),
        (("cpu", "0"), TypeError, "argument 'index' must be int"),
        (("cpu", 0.0), TypeError, "argument 'index' must be int"),
        ((3.5,), TypeError, "argument 'type' must be str or device, not <class 'float'>"),
        (("cpu", True), TypeError, "argument 'index' must be int"),
        (("cpu", 2**70), OverflowError, "does not fit into 64 bits"),
        ((torch.device("cpu"), 0), TypeError, "must be str where 'index' is given"),
        ((), TypeError, r"device\(\) missing required argument 'type'"),
        (("cpu\0x",), RuntimeError, "Invalid device string: .cpu.x00x."),
        (("cpu:0:0",), RuntimeError, "device 'cpu:0:0' does not exist"),
        (("cpu:00",), RuntimeError, "device 'cpu:00' does not exist"),
        (("cudas:0",), RuntimeError, "device 'cudas:0' does not exist"),
    ],
)
def test_devices_that_are_refused(args, error, text):
    with pytest.raises(error, match=text):
        torch.device(*args)


def test_what_pickles_call_takes_a_name_alone():
    with pytest.raises(TypeError, match="a name"):
        torch._C._device(torch.device("cpu"))


def test_new_tensors_are_no_views():
    for data in (1, True, 1.5, 1j, [1, 2], [[1.5]], []):
        for dtype in (None, torch.complex128) if data == 1j else (None, torch.float64):
            t = torch.tensor(data, dtype=dtype)
            assert not t._is_view() and t._base is None
            assert t.view(-1)._base is t


def test_new_tensors_into_out_have_its_dtype():
    def drawn(**options):
        torch.manual_seed(1)
        return torch.rand(3, **options)

    for begin in (0, 3):
        out = torch.empty(begin, dtype=torch.float64)
        assert torch.equal(drawn(out=out), drawn(dtype=torch.float64))
    for n in (0, 2):
        out = torch.eye(2, out=torch.empty(n, n, dtype=torch.uint8))
        assert out.dtype == torch.uint8 and out.tolist() == [[1, 0], [0, 1]]
    whole = torch.empty(0, dtype=torch.int64)
    assert torch.linspace(0, 4, 3, out=whole).tolist() == [0, 2, 4]
    assert torch.logspace(0, 2, 3, out=whole).tolist() == [1, 10, 100]
    exact = torch.arange(0, 1, 0.1, out=torch.empty(0, dtype=torch.float64))
    assert torch.equal(exact, torch.arange(0, 1, 0.1, dtype=torch.float64))


def test_evenly_spaced_numbers_fill_what_they_are_given():
    wanted = [[0, 1, 2], [3, 4, 5]]
    for into in (torch.empty(2, 3), torch.empty(3, 2).t(), torch.empty(2, 6)[:, ::2]):
        stride = into.stride()
        start = torch.tensor(0.0)
        for make, args in (torch.arange, (6,)), (torch.linspace, (start, 5, 6)):
            r = make(*args, out=into.zero_())
            assert r is into and r.tolist() == wanted and r.stride() == stride
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert torch.range(0, 5, out=torch.empty(2, 3)).tolist() == wanted
    assert torch.logspace(0, 1, 2, out=torch.empty(2, 1)).tolist() == [[1], [10]]
    with pytest.warns(UserWarning, match=r"of shape \[3\] is 3 .* elements 6"):
        assert torch.arange(6, out=torch.empty(3)).shape == (6,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.linspace(0, 5, 6, out=torch.empty(3)).shape == (6,)
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.arange(6, out=torch.empty(2, 3, requires_grad=True))
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.linspace(0, 1, 6, dtype=torch.float32, out=torch.empty(2, 3, dtype=torch.int64))


def test_new_tensors_are_refused_in_torchs_words():
    for make, words in (
        (lambda: torch.randperm(300, out=torch.empty(300, dtype=torch.uint8)), "out of bounds"),
        (lambda: torch.empty(2**62, 2), "Storage size calculation overflowed"),
        (lambda: torch.linspace(0, 1j, 3, dtype=torch.float32), r"torch.linspace\(\): inferred"),
        (lambda: torch.meshgrid(torch.ones(1), torch.ones(1, device="meta")), "the same device"),
        (lambda: torch.asarray(torch.ones(1), dtype=torch.half, copy=False), "'Float' into dtype"),
    ):
        with pytest.raises((RuntimeError, ValueError), match=words):
            make()
    with pytest.raises(ValueError, match="only one element"):
        complex(torch.ones(2))
    assert torch.tensor([0j, 1j, 1], dtype=torch.bool).tolist() == [False, True, True]
    assert torch.cat([torch.empty(0), torch.empty(0)], dim=1).shape == (0,)
    with pytest.raises(IndexError):
        torch.cat([torch.empty(0), torch.empty(2)], dim=1)


def test_complex32_is_a_name_that_calls_refuse():
    half = torch.complex32
    assert isinstance(half, torch.dtype) and half is torch.chalf and str(half) == "torch.complex32"
    assert half.is_complex and not half.is_floating_point and half.itemsize == 4
    assert half.to_real() is torch.float16 and half.to_complex() is half
    assert pickle.loads(pickle.dumps(half)) is half and len({half, torch.complex64, None}) == 3
    x = torch.ones(2)
    for call in (
        lambda: torch.zeros(2, dtype=half), lambda: torch.tensor([1j], dtype=half),
        lambda: x.to(half), lambda: x.type(half), lambda: x.view(half), lambda: x.sum(dtype=half),
        lambda: torch.promote_types(half, torch.float32), lambda: torch.nn.Linear(1, 1, dtype=half),
        lambda: torch.frombuffer(b"abcd", dtype=half), lambda: torch.empty_like(x, dtype=half),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match="the smallest complex dtype is complex64"):
            call()
