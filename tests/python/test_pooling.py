"""Pools that give the places of their maxima, in functions and modules."""

import copy
import pickle

import pytest

import tensorh as torch
from tensorh import nn
from tensorh.nn import functional as F


def image(*shape):
    torch.manual_seed(1)
    return torch.randn(*shape)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_indices_choose_what_the_pool_gives(dims):
    x = image(2, 3, *(6,) * dims)
    pool = getattr(F, f"max_pool{dims}d")
    y, at = pool(x, 2, return_indices=True)
    assert at.dtype is torch.int64 and y.equal(pool(x, 2))
    assert x.flatten(2).gather(2, at.flatten(2)).equal(y.flatten(2))
    back = getattr(F, f"max_unpool{dims}d")(y, at, 2)
    assert back.shape == x.shape and back.sum().allclose(y.sum()) and (back != 0).sum() == y.numel()
    both = getattr(F, f"max_pool{dims}d_with_indices")(x, 2)
    assert isinstance(both, tuple) and both[1].equal(at)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_adaptive_maxima(dims):
    x = image(2, 3, *(5,) * dims)
    pool = getattr(F, f"adaptive_max_pool{dims}d")
    y, at = pool(x, 1, return_indices=True)
    assert y.flatten(1).equal(x.flatten(2).amax(2)) and at.flatten(1).equal(x.flatten(2).argmax(2))
    assert pool(x, 5).equal(x)
    if dims > 1:
        assert pool(x, (None,) * dims).equal(x)


def test_modules_give_indices_and_are_copied_with_that_option():
    x = image(2, 3, 6, 6)
    for m in (nn.MaxPool2d(2, return_indices=True), nn.AdaptiveMaxPool2d(3, True)):
        for other in (m, copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
            y, at = other(x)
            assert nn.MaxUnpool2d(2)(y, at, output_size=x.shape[2:]).shape == x.shape
        m.return_indices = False
        assert m(x).equal(y)


def test_windows_at_random_places():
    x = image(2, 3, 9, 9)
    y, at = F.fractional_max_pool2d(x, 2, output_ratio=(0.5, 0.5), return_indices=True)
    assert y.shape == (2, 3, 4, 4)
    assert x.flatten(2).gather(2, at.flatten(2)).equal(y.flatten(2))
    samples = torch.full((2, 3, 2), 0.25)
    again = F.fractional_max_pool2d(x, 2, 4, _random_samples=samples)
    assert again.equal(F.fractional_max_pool2d(x, 2, 4, _random_samples=samples))
    with pytest.raises(ValueError, match="requires specifying either"):
        F.fractional_max_pool3d(x, 2)
    with pytest.raises(RuntimeError, match="too large relative to"):
        F.fractional_max_pool2d(x, 3, 8)


def test_gradients_go_to_the_chosen_elements():
    x = image(1, 2, 4, 4, 4).requires_grad_()
    y, at = F.max_pool3d(x, 2, return_indices=True)
    y.sum().backward()
    assert x.grad.sum() == y.numel()
    assert x.grad.flatten(2).gather(2, at.flatten(2)).eq(1).all()


def test_sizes_that_stay_and_bytes():
    x = torch.rand(2, 3, 8, 6)
    assert F.adaptive_avg_pool2d(x, (None, 4)).shape == (2, 3, 8, 4)
    with pytest.raises(ValueError, match="at least 3"):
        F.adaptive_avg_pool2d(x[0, 0], (2, 2))
    y = (x * 255).to(torch.uint8)
    assert F.interpolate(y, (4, 3)).tolist() == y[:, :, ::2, ::2].tolist()
    assert F.interpolate(y, scale_factor=1.5, mode="bilinear").dtype is torch.uint8
    with pytest.warns(UserWarning, match="deprecated"):
        assert torch.equal(F.upsample_nearest(x, (4, 3)), F.interpolate(x, (4, 3)))
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    input, weight, target = torch.rand(4, 3), torch.rand(5, 3), torch.tensor([0, 4, 2, 1])
    loss = F.linear_cross_entropy(input, weight, target, options=options)
    assert torch.equal(loss, F.linear_cross_entropy(input, weight, target))


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool1d", "avg_pool3d", "conv2d"])
def test_wrong_strides_and_sizes_are_refused_in_torch_s_words(name):
    dims = int(name[-2])
    x, few = torch.ones(1, 1, *(5,) * dims), torch.ones(1, 1, *(2,) * dims)
    for stride in (0, -1, -3, (0,) * dims):
        zero = stride in (0, (0,) * dims)
        words = "should not be zero" if zero else "should be greater than zero"
        call = getattr(F, name)
        with pytest.raises(RuntimeError, match="non-positive" if name == "conv2d" else words):
            call(x, few if name == "conv2d" else 2, stride=stride)
    if name != "conv2d":
        for size in (-1, -2, (3,) * (dims - 1) + (-7,)):
            with pytest.raises(RuntimeError, match="must be greater than or equal to 0"):
                getattr(F, f"adaptive_avg_pool{dims}d")(x, size)


def test_fractional_sizes_are_one_number_or_one_a_dimension():
    for dims, many in ((2, "Ints"), (3, "three Ints")):
        x, call = torch.rand(1, 2, *(7,) * dims), getattr(F, f"fractional_max_pool{dims}d")
        for sizes in ((), (1,), (1,) * (5 - dims)):
            with pytest.raises(RuntimeError, match=f"kernel_size must either be .* of {many}"):
                call(x, sizes, output_size=3)
            with pytest.raises(RuntimeError, match=f"output_size must either be .* of {many}"):
                call(x, 2, output_size=sizes)
        assert call(x, (2,) * dims, output_size=3).shape == (1, 2, *(3,) * dims)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_unpooling_of_an_empty_batch_keeps_the_history(dims):
    x = torch.rand(0, 2, *(4,) * dims, requires_grad=True)
    y, at = getattr(F, f"max_pool{dims}d")(x, 2, return_indices=True)
    back = getattr(nn, f"MaxUnpool{dims}d")(2)(y, at)
    assert back.shape == x.shape and back.requires_grad and not back.is_leaf
    back.sum().backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("dims", [2, 3])
def test_adaptive_modules_want_more_dimensions_than_sizes(dims):
    for sizes in ((2,) * dims, (None,) * dims):
        for kind in ("Avg", "Max"):
            pool = getattr(nn, f"Adaptive{kind}Pool{dims}d")(sizes)
            for given in range(dims + 1):
                with pytest.raises(ValueError, match=f"should be at least {dims + 1}"):
                    pool(torch.rand((3,) * given))
            assert pool(torch.rand((3,) * (dims + 1))).dim() == dims + 1
    with pytest.raises(RuntimeError):
        getattr(nn, f"AdaptiveAvgPool{dims}d")(2)(torch.rand((3,) * dims))


def test_windows_too_large_name_the_dimension():
    for dims, names in ((2, ("height", "width")), (3, ("time", "height", "width"))):
        x, call = torch.rand(1, 2, *(7,) * dims), getattr(F, f"fractional_max_pool{dims}d")
        for i, name in enumerate(names):
            sizes = [3] * dims
            sizes[i] = 9
            with pytest.raises(RuntimeError, match=f"too large relative to input {name}"):
                call(x, 2, output_size=sizes)
