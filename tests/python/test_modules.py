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
