"""Images at other places and in other sizes, bags of embeddings, bilinear forms."""

import warnings

import pytest

import tensorh as torch
from tensorh import nn
from tensorh.nn import functional as F


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 2, 3, 4, 2)])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("align", [True, False])
def test_the_grid_of_the_identity_gives_the_input(shape, mode, align):
    torch.manual_seed(1)
    x, dims = torch.randn(*shape, dtype=torch.float64), len(shape) - 2
    theta = torch.eye(dims, dims + 1, dtype=torch.float64).expand(shape[0], -1, -1)
    grid = F.affine_grid(theta, shape, align_corners=align)
    assert grid.shape == (shape[0], *shape[2:], dims)
    assert F.grid_sample(x, grid, mode, "border", align).allclose(x)


def test_beyond_the_input():
    x = torch.arange(4.0).reshape(1, 1, 1, 4)
    grid = torch.tensor([[[[-1.75, 0.0], [1.25, 0.0]]]])
    at = {p: F.grid_sample(x, grid, "nearest", p, False).flatten().tolist() for p in
          ("zeros", "border", "reflection")}  # fmt: skip
    assert at == {"zeros": [0, 0], "border": [0, 3], "reflection": [1, 3]}


def test_sampling_warns_and_refuses_as_torch():
    x, grid = torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2)
    with pytest.warns(UserWarning, match="align_corners=False since 1.3.0"):
        F.grid_sample(x, grid)
    with pytest.raises(ValueError, match="expected mode to be"):
        F.grid_sample(x, grid, "area", align_corners=True)
    with pytest.raises(RuntimeError, match="same batch size"):
        F.grid_sample(x, grid.expand(2, 1, 1, 2), align_corners=True)
    with pytest.raises(NotImplementedError, match="only supports 4D and 5D sizes"):
        F.affine_grid(torch.ones(1, 2, 3), (1, 2, 3), False)
    grid.requires_grad_()
    F.grid_sample(x, grid, "nearest", align_corners=True).sum().backward()
    assert not grid.grad.any()


def test_upsample_is_interpolate():
    x = torch.arange(12.0).reshape(1, 1, 3, 4)
    m = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
    assert repr(m) == "Upsample(scale_factor=2.0, mode='bilinear')"
    assert m(x).equal(nn.UpsamplingBilinear2d(scale_factor=2)(x))
    assert nn.UpsamplingNearest2d((6, 8))(x).equal(nn.Upsample((6, 8))(x))
    assert nn.Upsample(6, mode="nearest-exact")(x).shape == (1, 1, 6, 6)
    assert repr(nn.Upsample((6, 8))) == "Upsample(size=(6, 8), mode='nearest')"


def test_bags_are_reduced_rows():
    table, numbers = torch.arange(15.0).reshape(5, 3), torch.tensor([1, 2, 4, 3, 0, 2])
    offsets = torch.tensor([0, 2, 2])
    for mode in ("sum", "mean"):
        bags = F.embedding_bag(numbers, table, offsets, mode=mode)
        reduce = getattr(torch, mode)
        assert bags[0].equal(reduce(table[numbers[:2]], 0)) and not bags[1].any()
        assert bags[2].allclose(reduce(table[numbers[2:]], 0))
    assert F.embedding_bag(numbers, table, offsets, mode="max")[2].equal(table[4])
    bags = F.embedding_bag(numbers.reshape(2, 3), table, mode="sum", padding_idx=2)
    assert bags.equal(torch.stack([table[[1, 4]].sum(0), table[[3, 0]].sum(0)]))
    weights = torch.tensor([[1.0, 2, 3], [0, 1, 0]])
    bags = F.embedding_bag(numbers.reshape(2, 3), table, mode="sum", per_sample_weights=weights)
    assert bags[1].equal(table[0])


def test_embedding_bag_module():
    m = nn.EmbeddingBag(5, 3, mode="sum", padding_idx=-1)
    assert repr(m) == "EmbeddingBag(5, 3, mode='sum', padding_idx=4)"
    assert not m.weight[4].any()
    assert m(torch.tensor([[1, 4]]))[0].equal(m.weight[1])
    table = torch.ones(4, 2)
    assert nn.EmbeddingBag.from_pretrained(table)(torch.tensor([[0, 3]])).equal(table[:1])


def test_rows_longer_than_max_norm_are_shortened_in_place():
    table = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    F.embedding(torch.tensor([0, 1]), table, max_norm=1.0)
    assert table[0].norm().allclose(torch.tensor(1.0))
    assert table[1].norm().allclose(torch.tensor(0.5))
    assert table[2].norm() == 10
    F.embedding_bag(torch.tensor([[2]]), table, max_norm=5.0)
    assert table[2].norm().allclose(torch.tensor(5.0))


def test_bilinear():
    m = nn.Bilinear(3, 4, 2)
    x, y = torch.ones(5, 3), torch.ones(5, 4)
    assert m(x, y).allclose(m.weight.sum((1, 2)) + m.bias)
    assert repr(m) == "Bilinear(in1_features=3, in2_features=4, out_features=2, bias=True)"
    assert m.weight.abs().max() <= 3**-0.5


def test_ranges_of_random_numbers_that_the_dtype_does_not_hold():
    x = torch.empty(3)
    for low, high, words in (
        (3, 1, "expects to return"), (-3e38, 3e38, "to-from"), (0, 1e39, "to is out of bounds"),
        (float("nan"), 1, "from is out of bounds"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=words):
            x.uniform_(low, high)
    with pytest.raises(RuntimeError, match="to-from"):
        x.double().uniform_(-1e308, 1e308)
    for draw, words in (
        (lambda: x.random_(-(2**30), 2), "from is out of bounds"),
        (lambda: x.random_(0, 2**30), "to - 1 is out of bounds"),
        (lambda: x.half().random_(5000), "to - 1 is out of bounds"),
    ):
        with pytest.warns(UserWarning, match=words):
            draw()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.random_(-(2**24), 2**24)
        x.random_()
