"""Shapes and memory in Python's own words: paddings, views of other dtypes, layouts, sizes that
change, copies of views."""

import pytest

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn

X = torch.arange(5.0).reshape(1, 1, 5)


@pytest.mark.parametrize(
    "pad, mode, row",
    [
        ((1, 2), "constant", [0, 0, 1, 2, 3, 4, 0, 0]),
        ((2, -1), "constant", [0, 0, 0, 1, 2, 3]),
        ((2, 1), "reflect", [2, 1, 0, 1, 2, 3, 4, 3]),
        ((-2, 4), "reflect", [2, 3, 4, 3, 2, 1, 0]),
        ((1, 2), "replicate", [0, 0, 1, 2, 3, 4, 4, 4]),
        ((-2, 1), "replicate", [2, 3, 4, 4]),
        ((2, 1), "circular", [3, 4, 0, 1, 2, 3, 4, 0]),
        ((2, -1), "circular", [2, 3, 0, 1, 2, 3]),
    ],
)
def test_pad_by_each_mode(pad, mode, row):
    assert F.pad(X, pad, mode).tolist() == [[row]]
    assert F.pad(X, list(pad), mode=mode).tolist() == [[row]]


@pytest.mark.parametrize(
    "pad, mode, value, error, text",
    [
        ((1, 1), "mirror", None, NotImplementedError, "Unrecognised padding mode mirror"),
        ((1,), "constant", None, RuntimeError, "must be divisible by 2"),
        ((1, 1, 1, 1, 1, 1, 1, 1), "constant", None, RuntimeError, "less than or equal to two"),
        ((5, 0), "reflect", None, RuntimeError, "less than the corresponding input dimension"),
        ((6, 0), "circular", None, RuntimeError, "wrapping around more than once"),
        ((2, -4), "circular", None, RuntimeError, "wrapping around more than once"),
        ((-3, -2), "replicate", None, RuntimeError, "too small"),
        ((1, 1), "reflect", 2.0, RuntimeError, "doesn't take in value argument"),
        ((), "reflect", None, NotImplementedError, "Padding size 0 is not supported"),
        ((-4, -4), "constant", None, RuntimeError, "leaves out more"),
    ],
)
def test_paddings_that_are_refused(pad, mode, value, error, text):
    with pytest.raises(error, match=text):
        F.pad(X, pad, mode, value)


def test_a_module_that_pads_keeps_all_sides():
    m = nn.ReflectionPad2d(1)
    assert m.padding == (1, 1, 1, 1) and repr(m) == "ReflectionPad2d((1, 1, 1, 1))"
    assert repr(nn.ConstantPad1d((1, 0), 2)) == "ConstantPad1d(padding=(1, 0), value=2)"
    m.padding = (0, 2, 1, 0)
    assert m(torch.ones(1, 3, 4)).shape == (1, 4, 6)


def test_a_view_as_another_dtype_has_the_same_bytes():
    x = torch.tensor([1.0, -2.0])
    bits = x.view(torch.int32)
    assert bits.tolist() == [0x3F800000, -0x40000000]
    bits[0] = 0x40000000
    assert x.tolist() == [2, -2]
    assert x.view(torch.int16).shape == (4,) and x.view(dtype=torch.float64).shape == (1,)
    assert not torch.ones(2, requires_grad=True).view(torch.float64).requires_grad
    with pytest.raises(RuntimeError, match=r"self.size\(-1\) must be divisible by 2"):
        torch.ones(3).view(torch.float64)
    with pytest.raises(RuntimeError, match=r"self.stride\(-1\) must be 1"):
        torch.ones(4, 4).t().view(torch.int16)


def test_resize_keeps_elements_in_memory():
    x = torch.arange(6.0)
    assert x.resize_(2, 2) is x and x.tolist() == [[0, 1], [2, 3]]
    assert x.resize_((3, 2)).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert x.resize_(9)[:6].tolist() == [0, 1, 2, 3, 4, 5] and x.shape == (9,)
    part = x[1:3]
    assert part.resize_(12).tolist()[:5] == [1, 2, 3, 4, 5]
    like = torch.ones(1, 2, 2, 2).to(memory_format=torch.channels_last)
    assert x.resize_as_(like).stride() == (8, 4, 2, 1)
    assert x.resize_as_(like, memory_format=torch.preserve_format).stride() == (8, 1, 4, 2)
    assert torch.resize_as_(x, torch.ones(0)).shape == (0,)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.ones(2, requires_grad=True).resize_(3)
    with pytest.raises(TypeError, match="missing 1 required"):
        x.resize_()


def test_layouts_are_told_and_made():
    x = torch.empty_permuted((2, 3, 4, 5), (0, 2, 3, 1))
    assert x.stride() == (60, 1, 15, 3) and x.dim_order() == (0, 2, 3, 1)
    assert torch.ones(2, 3).t().dim_order() == (1, 0) and torch.tensor(1.0).dim_order() == ()
    y = x.new_empty_strided((2, 3), (1, 2), dtype=torch.int8)
    assert y.stride() == (1, 2) and y.dtype is torch.int8
    with pytest.raises(RuntimeError, match="unique dim order"):
        torch.ones(2, 3).expand(4, 2, 3).dim_order(ambiguity_check=True)
    with pytest.raises(RuntimeError, match="one of the given memory formats"):
        torch.ones(1, 3, 1, 1).dim_order(
            ambiguity_check=[torch.contiguous_format, torch.channels_last]
        )
    with pytest.raises(TypeError, match="must be a bool or a list"):
        x.dim_order(ambiguity_check="yes")


def test_functions_that_change_the_tensor_itself():
    x = torch.arange(6.0)
    assert torch.as_strided_(x, (2, 2), (1, 2)) is x and x.tolist() == [[0, 2], [1, 3]]
    y = torch.ones(2, requires_grad=True) * 2
    assert torch.detach_(y) is y and not y.requires_grad


def test_copies_of_views_have_memory_of_their_own():
    x = torch.arange(6.0).reshape(2, 3)
    y = torch.t_copy(x)
    assert y.tolist() == x.t().tolist() and y.is_contiguous()
    y[0, 0] = 9
    assert x[0, 0] == 0
    assert torch.view_copy(x, (3, 2)).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert torch.view_copy(x, torch.int16).shape == (2, 6)
    assert [t.tolist() for t in torch.unbind_copy(x)] == x.tolist()
    assert torch.slice_copy(x, 1, 0, 2).tolist() == [[0, 1], [3, 4]]
    out = torch.empty(0)
    assert torch.expand_copy(torch.ones(1, 2), (3, 2), out=out) is out and out.shape == (3, 2)
    z = x.clone().requires_grad_()
    torch.transpose_copy(z, 0, 1).sum().backward()
    assert z.grad.tolist() == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        torch.t_copy([1])


def test_reductions_at_indices():
    x, at = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0, 0, 2])
    src = torch.tensor([5.0, -1.0, 4.0])
    assert x.scatter_reduce(0, at, src, "amax").tolist() == [5, 2, 4]
    assert x.scatter_reduce(0, at, src, "mean", include_self=False).tolist() == [2, 2, 4]
    assert x.index_reduce(0, at, src, "prod").tolist() == [-5, 2, 12]
    assert x.scatter(0, at, src, reduce="add").tolist() == [5, 2, 7]
    assert torch.scatter(x, 0, at, 2.0, reduce="multiply").tolist() == [4, 2, 6]
    assert x.scatter_reduce_(0, at, src, "sum") is x and x.tolist() == [5, 2, 7]
    with pytest.raises(RuntimeError, match="either add or multiply"):
        x.scatter(0, at, src, reduce="max")
    with pytest.raises(RuntimeError, match="one of prod, mean, amax or amin"):
        x.index_reduce(0, at, src, "sum")


def test_resizing_to_the_same_shape_keeps_strides_and_splits_name_dimensions():
    x = torch.empty(2, 3).t()
    assert x.resize_(3, 2).stride() == x.resize_as_(x).stride() == (1, 3)
    assert x.resize_(2, 3).stride() == (3, 1)
    for dim in (1, -2):
        with pytest.raises(IndexError, match=r"Dimension out of range .*\[-1, 0\], but got"):
            torch.tensor_split(torch.rand(10), 2, dim)
    with pytest.raises(RuntimeError, match="at least a 1-dimensional tensor"):
        torch.tensor_split(torch.tensor(1.0), 2)
    with pytest.raises(RuntimeError, match="<= 2 sparse and 0 dense dimensions, but got 2 sparse"):
        torch.rand(2, 3, 4).to_sparse(2).t()


def test_what_is_given_back_as_it_is():
    for t in (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.int64), torch.ones(2, 3) > 0):
        for same in (t.conj(), torch.conj(t), torch.real(t), t.flatten(1, 1),
                     torch.flatten(t, 0, 0), t.flatten(start_dim=-1)):  # fmt: skip
            assert same is t
    row = torch.ones(4)
    assert row.flatten() is row and row.ravel() is row and torch.ravel(row) is row
    z = torch.ones(2, dtype=torch.complex64)
    for other in (z.conj(), torch.conj(z), torch.real(z)):
        assert other is not z
    t, one = torch.ones(2, 3), torch.tensor(1.0)
    flat = t.flatten()
    assert flat.shape == (6,) and flat._is_view() and flat.data_ptr() == t.data_ptr()
    assert one.flatten().shape == (1,) and t.t().flatten().data_ptr() != t.data_ptr()
    assert torch.arange(10)[::2].ravel().is_contiguous()

    class Other(torch.Tensor):
        pass

    assert type(t.as_subclass(Other).flatten(1, 1)) is Other


def test_copies_of_views_into_tensors():
    a, out = torch.arange(4.0), [torch.empty(2), torch.empty(2)]
    for f, args in ((torch.split_copy, (2,)), (torch.split_with_sizes_copy, ([2, 2],))):
        assert f(a, *args, out=out) is None
        assert [t.tolist() for t in out] == [[0, 1], [2, 3]]
    torch.unbind_copy(a.view(2, 2) + 5, out=out)
    assert out[1].tolist() == [7, 8]
    with pytest.raises(RuntimeError, match="out= argument of size 4, got size 2"):
        torch.split_copy(a, 1, out=out)


def test_tensors_of_places_to_split_at():
    t = torch.arange(6)
    assert [p.tolist() for p in t.tensor_split(torch.tensor([1, 4]))] == [[0], [1, 2, 3], [4, 5]]
    assert len(t.tensor_split(torch.tensor(3))) == 3
    for places, said in ((torch.tensor(1.1), "dtype of long, but got Float"),
                         (torch.tensor([[1]]), "one-dimensional tensor, but got a")):  # fmt: skip
        with pytest.raises(RuntimeError, match=said):
            t.tensor_split(places)
