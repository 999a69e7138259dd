"""Modules that stand on the library's rows: what Python adds to them, and torch's answers."""

import pytest

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn

X = torch.tensor([-4.0, -1.0, -0.25, 0.0, 0.5, 2.0, 7.0])

# --- activations ---------------------------------------------------------------------------------

ACTIVATIONS = {  # module: what torch gives for X
    "ELU()": [-0.981684, -0.632121, -0.221199, 0.0, 0.5, 2.0, 7.0],
    "CELU(0.5)": [-0.499832, -0.432332, -0.196735, 0.0, 0.5, 2.0, 7.0],
    "SELU()": [-1.725899, -1.111331, -0.38889, 0.0, 0.525351, 2.101402, 7.354907],
    "Hardshrink()": [-4.0, -1.0, 0.0, 0.0, 0.0, 2.0, 7.0],
    "Softshrink(1)": [-3.0, 0.0, 0.0, 0.0, 0.0, 1.0, 6.0],
    "Hardsigmoid()": [0.0, 0.333333, 0.458333, 0.5, 0.583333, 0.833333, 1.0],
    "Hardswish()": [0.0, -0.333333, -0.114583, 0.0, 0.291667, 1.666667, 7.0],
    "Hardtanh(-2, 3)": [-2.0, -1.0, -0.25, 0.0, 0.5, 2.0, 3.0],
    "LogSigmoid()": [-4.01815, -1.313262, -0.825939, -0.693147, -0.474077, -0.126928, -0.000911],
    "Mish()": [-0.072592, -0.303401, -0.129927, 0.0, 0.375245, 1.943959, 6.999989],
    "ReLU6()": [0.0, 0.0, 0.0, 0.0, 0.5, 2.0, 6.0],
    "Tanhshrink()": [-3.000671, -0.238406, -0.005081, 0.0, 0.037883, 1.035972, 6.000002],
    "Threshold(0.5, 20)": [20.0, 20.0, 20.0, 20.0, 20.0, 2.0, 7.0],
    "Softmin(0)": [0.904793, 0.045047, 0.021279, 0.016572, 0.010051, 0.002243, 1.5e-05],
    "RReLU().eval()": [-0.916667, -0.229167, -0.057292, 0.0, 0.5, 2.0, 7.0],
}


@pytest.mark.parametrize("text", ACTIVATIONS)
def test_activations_give_what_torch_gave(text):
    torch.testing.assert_close(
        eval("nn." + text)(X), torch.tensor(ACTIVATIONS[text]), rtol=1e-5, atol=1e-6
    )


def test_rrelu_draws_where_torch_draws():
    torch.manual_seed(1)
    y = nn.RReLU()(torch.tensor([-1.0, 2.0, -3.0]))
    after = torch.rand(1).item()
    torch.manual_seed(1)
    u = torch.rand(2, dtype=torch.float64) * (1 / 3 - 1 / 8) + 1 / 8  # two are not above 0
    assert after == torch.rand(1).item()
    torch.testing.assert_close(y, torch.tensor([-u[0].item(), 2.0, -3 * u[1].item()]))


def test_alpha_dropout_keeps_mean_and_variance():
    torch.manual_seed(0)
    y = F.alpha_dropout(torch.randn(20000), 0.3, True)
    assert abs(y.mean().item()) < 0.05 and abs(y.std().item() - 1) < 0.05
    y = F.feature_alpha_dropout(torch.ones(50, 4, 5), 0.5, True)
    assert all(len(set(channel.tolist())) == 1 for channel in y.flatten(0, 1))
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
        F.alpha_dropout(X, 2)


def test_hardtanh_takes_what_its_limits_were_called_once():
    with pytest.warns(FutureWarning, match="min_value"):
        assert repr(nn.Hardtanh(min_value=-3)) == "Hardtanh(min_val=-3, max_val=1.0)"
    with pytest.raises(AssertionError, match="must be greater than min_val"):
        nn.Hardtanh(2, 1)


def test_softmax2d_takes_images_alone():
    assert nn.Softmax2d()(torch.zeros(4, 2, 2)).unique().tolist() == [0.25]
    with pytest.raises(ValueError, match="expected input to be 3D or 4D, got 1D instead"):
        nn.Softmax2d()(X)
    with pytest.warns(UserWarning, match="softmin"):
        nn.Softmin()(X)


# --- recurrent networks --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_a_cell_is_one_step_of_its_network(kind):
    torch.manual_seed(0)
    deep, cell = getattr(nn, kind)(3, 4), getattr(nn, kind + "Cell")(3, 4)
    cell.load_state_dict({k.replace("_l0", ""): v for k, v in deep.state_dict().items()})
    x, h = torch.randn(5, 2, 3), None
    for t in range(5):
        h = cell(x[t], h)
    last = h if kind != "LSTM" else h[0]
    torch.testing.assert_close(deep(x)[0][-1], last)
    torch.testing.assert_close(cell(x[0, 0]), [s[0] for s in cell(x[0])] if kind == "LSTM"
                               else cell(x[0])[0])  # fmt: skip
    with pytest.raises(ValueError, match=f"{kind}Cell: Expected input to be 1D or 2D, got 3D"):
        cell(x)
    with pytest.raises(ValueError, match=f"{kind}: Expected input to be 2D or 3D, got 1D"):
        deep(x[0, 0])


@pytest.mark.parametrize("text", [
    "nn.GRU(3, 4, 2, bidirectional=True)", "nn.RNN(3, 4, nonlinearity='relu', batch_first=True)",
    "nn.LSTM(3, 4, 2, proj_size=2)",
])  # fmt: skip
def test_packed_sequences_have_the_results_that_they_have_alone(text):
    torch.manual_seed(0)
    m, parts = eval(text), [torch.randn(n, 3) for n in (2, 4, 1)]
    packed, last = m(nn.utils.rnn.pack_sequence(parts, enforce_sorted=False))
    last = last if isinstance(last, torch.Tensor) else last[0]
    for i, (one, x) in enumerate(
        zip(nn.utils.rnn.unpack_sequence(packed), parts, strict=True)
    ):
        y, h = m(x)
        torch.testing.assert_close(one, y)
        torch.testing.assert_close(last[:, i], h if isinstance(h, torch.Tensor) else h[0])


def test_options_of_recurrent_networks():
    m = nn.LSTM(3, 4, 2, proj_size=2)
    assert repr(m) == "LSTM(3, 4, proj_size=2, num_layers=2)"
    assert [tuple(w.shape) for w in m.all_weights[1]] == [(16, 2), (16, 2), (16,), (16,), (2, 4)]
    assert nn.RNN(3, 4, nonlinearity="relu").mode == "RNN_RELU" and nn.GRU(3, 4).proj_size == 0
    assert repr(nn.RNNCell(3, 4, False, "relu")) == "RNNCell(3, 4, bias=False, nonlinearity=relu)"
    for text, words in [
        ("nn.GRU(3, 4, proj_size=2)", "only supported for LSTM"),
        ("nn.LSTM(3, 4, proj_size=4)", "has to be smaller than hidden_size"),
        ("nn.LSTM(3, 4, proj_size=-1)", "positive integer or zero"),
        ("nn.RNN(3, 4, nonlinearity='elu')", "Unknown nonlinearity 'elu'"),
        ("nn.GRU(3, 0)", "hidden_size must be greater than zero"),
        ("nn.GRU(3, 4, 0)", "num_layers must be greater than zero"),
    ]:
        with pytest.raises(ValueError, match=words):
            eval(text)


# --- norms ---------------------------------------------------------------------------------------


def test_norms_of_groups_and_of_the_mean_square():
    x = torch.arange(12.0).reshape(1, 4, 3)
    y = nn.GroupNorm(2, 4)(x).reshape(2, 6)
    torch.testing.assert_close(y.mean(1), torch.zeros(2))
    torch.testing.assert_close(y.var(1, correction=0), torch.ones(2))
    assert repr(nn.GroupNorm(2, 4)) == "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"
    y = nn.RMSNorm(3)(x)
    torch.testing.assert_close((y * y).mean(-1), torch.ones(1, 4))
    assert repr(nn.RMSNorm(4)) == "RMSNorm((4,), eps=None, elementwise_affine=True)"
