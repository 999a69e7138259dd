"""Statistics that are written in Python: integrals, slopes, distinct slices, histograms."""

import pytest

import tensorh as torch


def test_cumulative_trapezoid():
    y = torch.arange(4.0)
    assert torch.cumulative_trapezoid(y, dx=2).tolist() == [1, 4, 9]
    assert torch.cumulative_trapezoid(y, y * 2).tolist() == [1, 4, 9]
    assert torch.cumulative_trapezoid(torch.zeros(0)).shape == (0,)
    assert torch.cumulative_trapezoid(torch.zeros(3, 0)).shape == (3, 0)
    assert torch.trapezoid(y, dx=2).item() == 9
    with pytest.raises(RuntimeError, match="one `x` value"):
        torch.cumulative_trapezoid(y, torch.zeros(3))
    with pytest.raises(NotImplementedError):
        torch.cumulative_trapezoid(torch.zeros(3, dtype=torch.bool))
    with pytest.raises(IndexError):
        torch.cumulative_trapezoid(torch.tensor(2.0))


def test_gradient_is_exact_for_parabolas():
    x = torch.tensor([0.0, 1, 3, 4, 7], dtype=torch.float64)
    (slope,) = torch.gradient(x * x, spacing=[x], edge_order=2)
    assert torch.allclose(slope, 2 * x)
    (slope,) = torch.gradient(x * x, spacing=(x,))
    assert slope.tolist() == pytest.approx([1, 2, 6, 8, 11])
    even = torch.arange(5, dtype=torch.float64) * 0.5
    (slope,) = torch.gradient(even * even, spacing=0.5, edge_order=2)
    assert torch.allclose(slope, 2 * even)
    y = torch.arange(12.0).reshape(3, 4)
    down, across = torch.gradient(y)
    assert down.tolist() == [[4.0] * 4] * 3 and across.tolist() == [[1.0] * 4] * 3
    assert torch.gradient(y, dim=-1, spacing=2.0)[0].tolist() == [[0.5] * 4] * 3


@pytest.mark.parametrize(
    "kwargs, error",
    [
        ({"edge_order": 3}, RuntimeError),
        ({"dim": (0, 0)}, RuntimeError),
        ({"dim": 3}, IndexError),
        ({"spacing": [1.0, 2.0, 3.0]}, RuntimeError),
        ({"spacing": "a"}, TypeError),
        ({"dim": 0, "edge_order": 2}, RuntimeError),
    ],
)
def test_gradient_refuses(kwargs, error):
    with pytest.raises(error):
        torch.gradient(torch.ones(2, 3), **kwargs)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_unique_of_unsigned(bits):
    """Compared with torch: a number with the top bit is larger than one without."""
    top, half = 2**bits - 1, 2 ** (bits - 1)
    x = torch.tensor([half, top, 1, 1, top], dtype=getattr(torch, f"uint{bits}"))
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1, half, top] and values.dtype == x.dtype
    assert inverse.tolist() == [1, 2, 0, 0, 2] and counts.tolist() == [2, 1, 2]
    assert torch.unique_consecutive(x).tolist() == [half, top, 1, top]
    assert x[1:].reshape(2, 2).unique(dim=0).tolist() == [[1, top], [top, 1]]
    assert x[:0].unique().dtype == x.dtype


def test_unique_slices():
    x = torch.tensor([[2, 1], [1, 2], [2, 1]])
    values, inverse, counts = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    assert values.tolist() == [[1, 2], [2, 1]]
    assert inverse.tolist() == [1, 0, 1] and counts.tolist() == [1, 2]
    assert torch.unique(x, dim=1).tolist() == [[1, 2], [2, 1], [1, 2]]
    y = torch.tensor([[1, 1], [1, 1], [2, 1], [1, 1]])
    values, inverse, counts = y.unique_consecutive(True, True, dim=0)
    assert values.tolist() == [[1, 1], [2, 1], [1, 1]]
    assert inverse.tolist() == [0, 0, 1, 2] and counts.tolist() == [2, 1, 1]
    assert torch.unique(torch.zeros(0, 3), dim=0).shape == (0, 3)
    wrong = ((0, 3), 1, RuntimeError), ((), 0, IndexError), ((2,), 1, IndexError)
    for shape, dim, error in wrong:
        with pytest.raises(error):
            torch.unique(torch.zeros(shape), dim=dim)


def test_histogramdd():
    x = torch.tensor([[0.0, 0], [1, 1], [1, 0.25], [2, 1]])
    hist, edges = torch.histogramdd(x, bins=[2, 2])
    assert hist.tolist() == [[1, 0], [1, 2]]
    assert [e.tolist() for e in edges] == [[0, 1, 2], [0, 0.5, 1]]
    r = torch.histogramdd(x, 2, range=[0.0, 1, 0, 1], weight=torch.arange(4.0))
    assert r.hist.tolist() == [[0, 0], [2, 1]] and r.bin_edges[0].tolist() == [0, 0.5, 1]
    r = torch.histogramdd(x, [torch.tensor([0.0, 2]), torch.tensor([0.0, 1])], density=True)
    assert r.hist.tolist() == [[0.5]]
    with pytest.raises(RuntimeError, match="size of bins"):
        torch.histogramdd(x, bins=[2])
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        torch.histogramdd(x[0], bins=[2])


def test_cdist_of_all_orders():
    x, y = torch.tensor([[0.0, 3]]), torch.tensor([[4.0, 0], [0, 3]])
    for p, wanted in ((0.0, 2), (1.0, 7), (2.0, 5), (float("inf"), 4), (3.0, 91 ** (1 / 3))):
        assert torch.cdist(x, y, p)[0].tolist() == pytest.approx([wanted, 0])


def test_no_dims_are_all_dims():
    x = torch.arange(6.0).view(2, 3)
    for f, wanted in ((torch.amax, 5), (torch.amin, 0)):
        assert f(x, None).item() == wanted == f(x, dim=None, keepdim=True).item()
    assert torch.equal(x.roll(1, None), x.roll(1))
    with pytest.raises(TypeError, match="NoneType"):
        torch.logsumexp(x, None)
    with pytest.raises(IndexError, match="Expected reduction dim 1 to have non-zero size"):
        torch.empty(2, 0).amax(1)


def test_truth_of_uint8_into_bool():
    x = torch.tensor([[0, 1], [1, 1]], dtype=torch.uint8)
    out = torch.empty(2, dtype=torch.bool)
    assert torch.all(x, 1, out=out).tolist() == [False, True] and torch.all(x, 1).dtype is x.dtype
    assert torch.any(x, out=torch.empty((), dtype=torch.bool)).item() is True


def test_numpys_names_of_operands():
    x, y = torch.ones(2), torch.full((2,), 3.0)
    assert torch.sub(x1=x, x2=y).tolist() == [-2, -2] == torch.sub(input=x, other=y).tolist()
    assert x.__rdiv__(2).tolist() == [2, 2]


def test_statistics_refuse_in_torchs_words():
    x = torch.ones(3)
    for f, words in (
        (lambda: torch.bincount(x), "\"bincount_cpu\" not implemented for 'Float'"),
        (lambda: torch.histogram(x, x.double()), "input tensor and bins tensors should have the"),
        (lambda: torch.quantile(x, 2), r"quantile\(\) q must be in the range"),
        (lambda: torch.nansum(x + 1j), "does not support complex"),
        (lambda: torch.heaviside(x + 1j, x), "heaviside is not yet implemented for complex"),
        (lambda: x.bool() - x.bool(), "Subtraction, the `-` operator, with two bool tensors"),
        (lambda: torch.ones(()).pow_(x), "doesn't match the broadcast shape"),
    ):
        with pytest.raises((RuntimeError, NotImplementedError), match=words):
            f()
