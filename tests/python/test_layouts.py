"""Where elements lie: strides of gradients and of joined images, as torch 2.15 lays them out."""

import json
import pathlib
import sys

import pytest

import tensorh as torch
from tensorh.utils.data import default_collate

DATA = pathlib.Path(__file__).with_name("data")
sys.path.insert(0, str(DATA))
import make_layouts  # noqa: E402


def images(last=True):
    x = torch.arange(120.0).view(2, 3, 4, 5)
    return x.to(memory_format=torch.channels_last) if last else x


def columns(n, m):
    return torch.arange(float(n * m)).view(m, n).t()


# A leaf, and what makes a loss of it whose backward leaves a gradient of other strides.
LEAVES = {
    "rows": (lambda: torch.ones(3, 4), lambda x: x.t() * columns(3, 4).t().contiguous(), (4, 1)),
    "columns": (lambda: columns(3, 4), lambda x: x * torch.ones(3, 4), (1, 3)),
    "columns, expanded": (lambda: columns(3, 4), lambda x: x, (1, 3)),
    "gaps": (lambda: torch.ones(4, 6)[:, ::2], lambda x: (x * x).t(), (3, 1)),
    "overlap": (lambda: torch.ones(4, 1, 1).expand(4, 3, 2), lambda x: x * x, (6, 2, 1)),
    "channels last": (images, lambda x: x * images(False), (60, 1, 15, 3)),
    "channels first": (lambda: images(False), lambda x: x * images(), (60, 20, 5, 1)),
    "one channel": (lambda: torch.ones(3, 1, 4), lambda x: x.permute(2, 1, 0) * 2, (4, 4, 1)),
}


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("name", LEAVES)
def test_grad_lies_as_its_leaf(name, create):
    make, use, strides = LEAVES[name]
    x = make().requires_grad_()
    use(x).sum().backward(create_graph=create)
    assert x.grad.stride() == strides
    (g,) = torch.autograd.grad(use(x).sum(), x)
    assert torch.equal(x.grad, g)
    x.grad = None


def test_grad_of_a_seed_lies_as_its_leaf():
    x = torch.ones(3, 4, requires_grad=True)
    seed = columns(3, 4)
    x.backward(seed)
    assert x.grad.stride() == (4, 1) and torch.equal(x.grad, seed)
    assert x.grad.view(-1).tolist() == seed.flatten().tolist()
    x.backward(seed)
    assert x.grad.stride() == (4, 1) and torch.equal(x.grad, 2 * seed)


def test_a_retained_gradient_is_row_major():
    x = columns(3, 4).requires_grad_()
    y = x * 1
    y.retain_grad()
    (y * columns(3, 4)).sum().backward()
    assert y.stride() == (1, 3) and y.grad.stride() == (4, 1)
    assert x.grad.stride() == (1, 3) and torch.equal(x.grad, y.grad)


def test_first_gradients_of_chosen_inputs():
    x = columns(3, 4).requires_grad_()
    y = x * 1
    (y * columns(3, 4)).sum().backward(inputs=[x, y])
    assert x.grad.stride() == (1, 3) and y.grad.stride() == (4, 1)
    assert torch.equal(x.grad, y.grad) and torch.equal(x.grad, columns(3, 4))


def test_grad_does_not_share_the_seed():
    x = torch.ones(3, 4, requires_grad=True)
    seed = torch.ones(3, 4)
    x.backward(seed)
    seed.zero_()
    assert x.grad.sum() == 12


@pytest.mark.parametrize(
    ("joined", "strides"),
    [
        (lambda a: torch.cat([a, a]), (60, 1, 15, 3)),
        (lambda a: torch.cat([a, a], 1), (120, 1, 30, 6)),
        (lambda a: torch.cat([a, a], 3), (120, 1, 30, 3)),
        (lambda a: torch.cat([a, a.contiguous()]), (60, 20, 5, 1)),
        (lambda a: torch.cat([a.contiguous(), a]), (60, 20, 5, 1)),
        (lambda a: torch.cat([a[:1], a[:, :, :, :]]), (60, 1, 15, 3)),
        (lambda a: torch.stack([a[0], a[1]]), (60, 20, 5, 1)),
        (lambda a: torch.stack([a[0], a[1]], 1), (40, 20, 5, 1)),
        (lambda a: torch.cat([a[0].unsqueeze(0), a[1].unsqueeze(0)]), (60, 20, 5, 1)),
        (lambda a: default_collate([a[0], a[1]]), (60, 20, 5, 1)),
        (lambda a: default_collate([a[0].mul(2), a[1]]), (60, 20, 5, 1)),
    ],
)
def test_joined_images(joined, strides):
    a = images()
    made = joined(a)
    assert made.stride() == strides
    plain = joined(images(False))
    assert torch.equal(made, plain)


def test_joined_volumes():
    a = torch.arange(120.0).view(1, 3, 4, 5, 2).permute(0, 4, 1, 2, 3)
    assert torch.cat([a, a]).stride() == (120, 1, 40, 10, 2)
    assert torch.cat([a, a.contiguous()]).stride() == (120, 60, 20, 5, 1)
    assert torch.equal(torch.cat([a, a]), torch.cat([a.contiguous(), a.contiguous()]))


def test_data_of_another_shape_since_the_call():
    for shape in ((1, 1, 2, 3), (2,), (3, 1)):
        x = torch.ones(1, 1, 3, 2, requires_grad=True)
        x.data = torch.ones(3)
        y = x * 2
        x.data = torch.ones(shape).transpose(0, -1)
        with pytest.raises(RuntimeError, match="its data was replaced after the call that used it"):
            y.sum().backward()
        assert x.grad is None


# Where the layout of a result is not torch's (docs/differences.md), and where only that of a
# gradient which the backward passes on is not.
RESULTS = {
    "stack 2d", "stack 3d", "where 2d", "where 3d", "conv 3d", "conv biased 3d", "conv of last 3d",
    "conv padded 3d", "conv_transpose 3d", "conv_transpose of last 3d",
}  # fmt: skip
GRADIENTS = {
    "max_pool 3d", "max_pool places 2d", "max_pool places 3d", "adaptive_avg_pool 1 2d",
    "adaptive_avg_pool 1 3d", "adaptive_max_pool 2d", "lp_pool 2d", "group_norm 2d",
    "group_norm 3d", "roll 2d", "roll 3d", "pad replicate 2d", "pad replicate 3d", "bicubic 2d",
    "nearest 3d", "nearest exact 3d", "grid_sample 2d",
}  # fmt: skip
ANSWERS = json.loads((DATA / "layouts.json").read_text())


@pytest.fixture(scope="module")
def made():
    return make_layouts.run(torch)


@pytest.mark.parametrize("name", sorted(set(ANSWERS) - RESULTS))
def test_images_lie_as_those_of_torch(made, name):
    for inputs, answer in ANSWERS[name].items():
        got, want = made[name][inputs].split(), answer.split()
        assert got[0] == want[0], inputs
        # of one channel or one pixel both layouts are the same memory
        if got[0] == "refused" or inputs in ("one permuted", "permuted", "thin last", "point last"):
            continue
        assert got[2:] == want[2:], inputs
        assert name in GRADIENTS or got == want, inputs


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_images_that_lie_otherwise(made, name):
    assert any(made[name][k].split()[0] != v.split()[0] for k, v in ANSWERS[name].items())


@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_gradients_that_lie_otherwise(made, name):
    assert any(made[name][k] != v for k, v in ANSWERS[name].items())


def test_images_of_meta_lie_as_those_of_the_cpu(made):
    with torch.device("meta"):
        meta = make_layouts.run(torch)
    assert {k: v for k, v in meta.items() if v != made[k]} == {}


POOLS = {
    "max": lambda x: torch.nn.functional.max_pool2d(x, 3, 2, 1),
    "max of pairs": lambda x: torch.nn.functional.max_pool2d(x, 2),
    "max between rows of padding": lambda x: torch.nn.functional.max_pool2d(
        x, 2, 1, 1, dilation=7),
    "mean": lambda x: torch.nn.functional.avg_pool2d(x, 3, 2, 1),
    "mean of what is inside": lambda x: torch.nn.functional.avg_pool2d(
        x, 2, 3, 1, ceil_mode=True, count_include_pad=False),
    "mean by a divisor": lambda x: torch.nn.functional.avg_pool2d(x, 2, divisor_override=3),
    "adaptive mean": lambda x: torch.nn.functional.adaptive_avg_pool2d(x, (3, 4)),
}  # fmt: skip


@pytest.mark.parametrize("channels", [2, 67, 130])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize("name", POOLS)
def test_pools_of_channels_last_images_have_the_bits_of_others(name, dtype, channels):
    x = torch.randint(-2, 3, (2, channels, 7, 6)).to(dtype) / 3
    x.view(-1)[::11], x.view(-1)[5::13], x.view(-1)[::97] = 0.0, -0.0, torch.nan
    last = POOLS[name](x.to(memory_format=torch.channels_last))
    rows = POOLS[name](x)
    assert last.is_contiguous(memory_format=torch.channels_last) and not last.is_contiguous()
    assert torch.equal(last.isnan(), rows.isnan())
    assert torch.equal(last.nan_to_num(), rows.nan_to_num())
    assert torch.equal(last.signbit() & ~last.isnan(), rows.signbit() & ~rows.isnan())
    out = torch.empty_like(rows)
    if name == "mean":
        torch._C._nn.avg_pool2d(x.to(memory_format=torch.channels_last), 3, 2, 1, out=out)
        assert out.is_contiguous() and torch.equal(out.nan_to_num(), rows.nan_to_num())


# Sizes of images and weights, then options.
CONVOLUTIONS = {
    "pixels": ((2, 16, 9, 10), (24, 16, 1, 1), {}),
    "pixels, more channels than a block": ((3, 400, 5, 6), (33, 400, 1, 1), {}),
    "every second pixel": ((2, 16, 9, 10), (24, 16, 1, 1), {"stride": (2, 3)}),
    "pixels in a frame": ((2, 16, 9, 10), (24, 16, 1, 1), {"padding": (2, 1), "stride": (3, 2)}),
    "pixels of groups": ((2, 16, 9, 10), (24, 4, 1, 1), {"groups": 4}),
    "channels apart": ((2, 35, 11, 13), (35, 1, 3, 3), {"padding": 1, "groups": 35}),
    "channels apart, strides": (
        (2, 20, 11, 13), (20, 1, 2, 2), {"stride": 3, "dilation": 2, "padding": 1, "groups": 20}),
    "channels apart, without a frame": ((1, 17, 5, 6), (17, 1, 2, 2), {"groups": 17}),
    "channels apart, large kernel": ((1, 16, 20, 21), (16, 1, 20, 20), {"groups": 16}),
    "few channels apart": ((2, 5, 11, 13), (5, 1, 3, 3), {"padding": 1, "groups": 5}),
    "windows": ((2, 44, 9, 10), (13, 44, 3, 3), {"padding": 2, "dilation": 2}),
    "windows, strides": ((2, 3, 30, 31), (16, 3, 7, 7), {"padding": 3, "stride": 2}),
}  # fmt: skip


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_of_channels_last_images_have_the_bits_of_others(name, dtype, bias):
    image, kernel, options = CONVOLUTIONS[name]
    x, w = torch.randn(*image).to(dtype), torch.randn(*kernel).to(dtype)
    b = torch.randn(kernel[0]).to(dtype) if bias else None
    made = {}
    for last in (False, True):
        leaves = [t.clone().requires_grad_() for t in (x, w)]
        if last:
            leaves[0] = x.to(memory_format=torch.channels_last).requires_grad_()
        y = torch.nn.functional.conv2d(*leaves, b, **options)
        made[last] = [y, *torch.autograd.grad(y, leaves, y)]
    for t in made[True][:2]:
        assert t.is_contiguous(memory_format=torch.channels_last) and not t.is_contiguous()
    for one, other in zip(made[True], made[False], strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize("channels", [3, 16, 37])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area", "antialias"])
def test_resized_channels_last_images_have_the_bits_of_others(mode, channels, dtype):
    x = torch.randn(2, channels, 6, 7).to(dtype)
    options = {"mode": mode} if mode != "antialias" else {"mode": "bilinear", "antialias": True}
    for size in ((11, 15), (4, 5), (6, 7)):
        rows = torch.nn.functional.interpolate(x, size, **options)
        last = torch.nn.functional.interpolate(
            x.to(memory_format=torch.channels_last), size, **options
        )
        assert last.is_contiguous(memory_format=torch.channels_last) and not last.is_contiguous()
        assert torch.equal(last, rows)


def test_states_of_optimizers_lie_as_parameters_and_momentum_as_the_gradient():
    p = torch.nn.Parameter(images())
    for optimizer, key in ((torch.optim.Adam, "exp_avg"), (torch.optim.Adagrad, "sum")):
        o = optimizer([p])
        p.grad = images()
        o.step()
        assert o.state[p][key].stride() == p.stride()
    o = torch.optim.SGD([p], momentum=0.9)
    for grad, strides in ((images(), (60, 1, 15, 3)), (images(False), (60, 20, 5, 1))):
        o = torch.optim.SGD([p], momentum=0.9)
        p.grad = grad
        before = p.detach().clone()
        o.step()
        assert o.state[p]["momentum_buffer"].stride() == strides
        assert torch.equal(p, before - 0.001 * images())
        o.step()
        assert torch.equal(o.state[p]["momentum_buffer"], 0.9 * images() + images())


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("channels, groups", [(4, 1), (16, 16)])
def test_a_volume_without_a_batch_is_no_image(depth, channels, groups):
    """(C, D, H, W) whose second step is 1: the depth lies innermost, not the channels."""
    torch.manual_seed(1)
    x = torch.randn(channels, 4, 3, 5)
    weight = torch.randn(16, channels // groups, depth, 1, 1)

    def run(x):
        x, w = x.detach().requires_grad_(), weight.detach().requires_grad_()
        y = torch.nn.functional.conv3d(x, w, padding=(depth // 2, 0, 0), groups=groups)
        y.backward(torch.cos(torch.arange(y.numel()).reshape(y.shape)).contiguous(
            memory_format=torch.channels_last if last else torch.contiguous_format))  # fmt: skip
        return y, x.grad, w.grad

    last = False
    expected = run(x)
    last = True
    for a, b in zip(run(x.to(memory_format=torch.channels_last)), expected, strict=True):
        assert torch.equal(a, b)
