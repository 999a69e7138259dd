"""out= that is an input; what index rows take: bools, fractions, zeros, meta tensors; dtypes and
layouts of two tensors."""

import pytest

import tensorh as torch

F = torch.nn.functional
D = torch.float64
T = torch.tensor
Z = torch.zeros(3)
nan = float("nan")


@pytest.mark.parametrize("f", [
    lambda x, **out: torch.cumsum(x, 0, **out), lambda x, **out: torch.cumsum(x, 1, **out),
    lambda x, **out: torch.logcumsumexp(x, 1, **out), lambda x, **out: torch.softmax(x, 0, **out),
    lambda x, **out: torch.log_softmax(x, 1, **out), lambda x, **out: torch.mm(x, x, **out),
    lambda x, **out: torch.addmm(x, x, x, **out), lambda x, **out: torch.matmul(x, x, **out),
    lambda x, **out: torch.linalg.inv(x, **out), lambda x, **out: torch.cumprod(x, 1, **out),
])  # fmt: skip
def test_out_may_be_an_input(f):
    torch.manual_seed(1)
    for x in (torch.randn(5, 5, dtype=D), torch.randn(5, 5, dtype=D).t()):
        want, version = f(x.clone()), x._version
        assert f(x, out=x) is x and torch.equal(x, want) and x._version == version + 1
    wide = torch.randn(5, 9, dtype=D)
    kept, part = wide[:, 5:].clone(), wide[:, :5]
    want = f(part.clone())
    assert torch.equal(f(part, out=wide[:, :5]), want)
    assert torch.equal(part, want) and torch.equal(wide[:, 5:], kept)


def test_out_that_overlaps_an_input_is_refused():
    x = torch.ones(5, 6)
    with pytest.raises(RuntimeError, match="overlap|memory location"):
        torch.cumsum(x[:, :5], 0, out=x[:, 1:])


def test_values_and_places_of_an_input():
    x = torch.tensor([[3.0, 1.0], [2.0, 5.0]])
    places = torch.zeros(2, 2, dtype=torch.int64)
    torch.cummax(x, 0, out=(x, places))
    assert x.tolist() == [[3, 1], [3, 5]] and places.tolist() == [[0, 0], [0, 1]]
    with pytest.raises(RuntimeError, match="partly overlaps"):
        torch.max(x, 1, out=(x[:, 0], places[0]))


def test_an_element_of_self_as_the_value():
    for f, want in (
        (lambda x: x.masked_fill_(x > 2, x[3]), [0, 1, 2, 3, 3, 3]),
        (lambda x: x[1:].masked_fill_(x[1:] < 3, x[4]), [0, 4, 4, 3, 4, 5]),
        (lambda x: x.__setitem__(x > 2, x[3]), [0, 1, 2, 3, 3, 3]),
        (lambda x: x[::2].copy_(x[4]), [4, 1, 4, 3, 4, 5]),
    ):
        x = torch.arange(6.0)
        f(x)
        assert x.tolist() == want
    x = torch.arange(6.0).to(torch.int32)
    with pytest.raises(RuntimeError, match="overlap"):  # of another dtype
        x.masked_fill_(x > 2, x.view(torch.int16)[3])


def test_rows_that_read_an_index_refuse_it():
    x, i = torch.arange(3.0), torch.tensor([2, 1, 0])
    for call in (
        lambda: torch.gather(x, 0, i, out=x), lambda: torch.index_select(x, 0, i, out=x),
        lambda: torch.scatter(x, 0, i, x, out=x), lambda: torch.index_add(x, 0, i, x, out=x),
        lambda: torch.cat((x[:0], x), out=x),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="memory location|clone"):
            call()
    assert x.tolist() == [0, 1, 2]


def test_index_add_of_bools_and_fractions():
    x, i = torch.tensor([True, False, False]), torch.tensor([1, 2])
    for alpha in (False, 0, 0.0):
        assert x.index_add(0, i, x[:2], alpha=alpha).tolist() == [True, False, False]
    for alpha in (True, 2, 0.5, -1):
        assert x.index_add(0, i, x[:2], alpha=alpha).tolist() == [True, True, False]
    n = torch.tensor([1, 2, 3])
    for alpha, want in ((0.5, [1, 2, 3]), (1.9, [1, 3, 5]), (-2.5, [1, 0, -1])):
        assert n.index_add(0, i, n[:2], alpha=alpha).tolist() == want
    with pytest.raises(RuntimeError, match="alpha"):
        n.index_add(0, i, n[:2], alpha=1e18)


def test_arange_whose_step_is_no_integer():
    whole = {"dtype": torch.int64}
    assert torch.arange(0, 2, 0.5, **whole).tolist() == [0] * 4
    assert torch.arange(0, 0, 0.1, **whole).tolist() == []
    assert torch.arange(2, 0, -0.5, **whole).tolist() == [2] * 4
    assert torch.arange(0, 3, 1.5, **whole).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="nonzero"):
        torch.arange(0, 3, 0, **whole)


@pytest.mark.parametrize("f", [
    lambda x: torch.ones(2, dtype=D).scatter_reduce(0, x.long() * 0, x, "prod")[0],
    lambda x: torch.ones(2, dtype=D).index_reduce(0, x.long() * 0, x, "prod")[0],
    lambda x: x[:1].scatter_reduce(0, x[1:].long() * 0, x[1:], "prod")[0],
])  # fmt: skip
@pytest.mark.parametrize("numbers", [[2, 0, 0, 7], [0, 0, 5, 3], [0, 0, 0, 7], [3, 0, 5, 7]])
def test_second_derivatives_of_products_where_zeros_meet(f, numbers):
    x = torch.tensor(numbers, dtype=D).requires_grad_()
    hessian = torch.autograd.functional.hessian
    assert torch.equal(hessian(f, x), hessian(torch.prod, x))


def test_meta_tensors_take_indices_of_the_cpu():
    x, i = torch.ones(4, 3, device="meta", requires_grad=True), torch.tensor([0, 2])
    for y, shape in (
        (x[i], (2, 3)), (x[[0, 2]], (2, 3)), (x[:, i], (4, 2)), (x.index_select(0, i), (2, 3)),
        (F.embedding(i, x), (2, 3)), (x.gather(0, i[None]), (1, 2)), (x.take(i), (2,)),
        (x.index_add(0, i, x[:2]), (4, 3)),
    ):  # fmt: skip
        assert y.is_meta and y.shape == shape
        y.sum().backward()
        assert x.grad.is_meta and x.grad.shape == x.shape
    y = x.detach()
    y[i] = 0
    y.index_put_((i,), y[:2])
    with pytest.raises(RuntimeError, match="devices"):
        y + torch.ones(3)
    with pytest.raises(RuntimeError, match="devices"):
        torch.ones(4, 3)[i.to("meta")] + y


def test_equal_of_two_dtypes_compares_in_the_common_one():
    for a, b, want in (
        (Z, Z.int(), True), (T([1, -1]), T([1.0, 1.0]), False), (Z, Z.double()[:2], False),
        (T([0.1]), T([0.1], dtype=torch.float64), False), (T([16777217]), T([16777216.0]), True),
        (T([1 + 0j]), T([1.0]), True), (T([1 + 1j]), T([1.0]), False), (T([True]), T([1]), True),
        (T([255], dtype=torch.uint8), T([-1], dtype=torch.int8), False), (T([nan]), T([1]), False),
    ):  # fmt: skip
        assert torch.equal(a, b) is torch.equal(b, a) is a.equal(b) is want
    with pytest.raises(RuntimeError, match="one dtype"):
        torch.equal(T([1], dtype=torch.uint64), T([1]))


def test_random_numbers_lie_as_the_tensor_that_they_are_like():
    x = torch.ones(4, 3, 8, 8).contiguous(memory_format=torch.channels_last)[..., ::2, ::2]
    for f in (torch.rand_like, torch.randn_like, lambda x, **o: torch.randint_like(x, 9, **o)):
        for options in ({}, {"memory_format": torch.preserve_format}):
            assert f(x, **options).stride() == (48, 1, 12, 3)
        assert f(x, memory_format=torch.contiguous_format).stride() == (48, 16, 4, 1)


def test_apply_wants_numbers_and_types_of_tensors_no_subclass():
    assert T([1, 2]).apply_(lambda x: x * 2.5).tolist() == [2, 5]
    with pytest.raises(TypeError, match="must be real number, not str"):
        T([1]).apply_(str)
    with pytest.raises(TypeError, match="'torch.FloatTensor' is not an acceptable base type"):
        type("Own", (torch.FloatTensor,), {})


def test_dropout_that_drops_nothing_gives_its_input():
    x = torch.ones(2, 3, 4)
    for f in F.dropout, F.dropout1d, F.dropout2d, F.dropout3d:
        assert f(x, training=False) is x and f(x, 0.0) is x


# --- assert_close ---------------------------------------------------------------------------------
