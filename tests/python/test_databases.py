"""What torch's databases of modules and optimizers ask: errors, options, complex numbers."""

import pytest

import tensorh as torch


def test_sizes_of_adaptive_pools_may_be_those_of_the_input():
    x = torch.arange(24.0).reshape(1, 1, 4, 6)
    assert torch.nn.AdaptiveAvgPool2d((2, None))(x).shape == (1, 1, 2, 6)
    y, places = torch.nn.AdaptiveMaxPool2d((None, 3), return_indices=True)(x)
    assert y.shape == places.shape == (1, 1, 4, 3)
    assert repr(torch.nn.AdaptiveAvgPool2d((2, None))) == "AdaptiveAvgPool2d(output_size=(2, None))"


def test_errors_are_of_torchs_kind():
    nn = torch.nn
    with pytest.raises(ValueError, match="divisible"):
        nn.GroupNorm(3, 10)
    with pytest.raises(TypeError, match="bias should be of type bool"):
        nn.RNN(2, 3, bias=0)
    with pytest.raises(ValueError, match="does not match weight dtype"):
        nn.GRU(2, 3)(torch.ones(4, 1, 2, dtype=torch.float64))
    with pytest.raises(ValueError, match="eps must be positive"):
        nn.BatchNorm1d(2, eps=-1.0)(torch.ones(3, 2))


# --- optimizers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad", "RMSprop", "Rprop", "ASGD", "NAdam"])
def test_complex_parameters_step_as_their_parts(name):
    z = torch.tensor([1 + 2j, -1j]).requires_grad_()
    r = torch.view_as_real(z.detach().clone()).requires_grad_()
    a = getattr(torch.optim, name)([z], lr=0.1)
    b = getattr(torch.optim, name)([r], lr=0.1)
    for _ in range(3):
        for o, loss in ((a, lambda: (z.abs() ** 2).sum()), (b, lambda: (r**2).sum())):
            o.zero_grad()
            loss().backward()
            o.step()
    assert torch.allclose(torch.view_as_real(z.detach()), r.detach(), atol=1e-6)
    for value in a.state[z].values():
        assert value.dim() == 0 or value.is_complex()


def test_options_of_optimizers_are_checked_as_torch_does():
    p = [torch.nn.Parameter(torch.ones(2))]
    adam = torch.optim.Adam
    with pytest.raises(ValueError, match="1-element"):
        adam(p, lr=torch.tensor([0.1, 0.1]))
    with pytest.raises(ValueError, match="capturable=False and foreach=True"):
        adam(p, lr=torch.tensor(0.1), foreach=True)
    with pytest.raises(ValueError, match="both floats or both Tensors"):
        adam(p, betas=(0.9, torch.tensor(0.9)))
    with pytest.raises(RuntimeError, match="cannot be `True` together"):
        adam(p, foreach=True, fused=True)
    o = adam(p, capturable=True)
    p[0].sum().backward()
    with pytest.raises(AssertionError, match="capturable=True"):
        o.step()


def test_differentiable_sgd_without_momentum_keeps_no_state():
    p = torch.ones(2, requires_grad=True)
    o = torch.optim.SGD([p.clone()], lr=0.1, differentiable=True)
    o.param_groups[0]["params"][0].grad = torch.ones(2)
    o.step()
    assert o.state_dict()["state"] == {}


def test_sparse_adam_refuses_complex_parameters():
    with pytest.raises(ValueError, match="does not support complex"):
        torch.optim.SparseAdam([torch.ones(2, dtype=torch.complex64)])


def test_sizes_of_recurrent_modules_are_ints():
    with pytest.raises(TypeError, match="input_size should be of type int, got: str"):
        torch.nn.GRU("2", 3)
    with pytest.raises(TypeError, match="hidden_size should be of type int, got: float"):
        torch.nn.LSTM(2, 3.0)
