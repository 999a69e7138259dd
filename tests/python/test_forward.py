"""torch.autograd.forward_ad: tangents beside Jacobians of backward, its levels, and its errors."""

import pytest

import tensorh as torch
import tensorh.autograd.forward_ad as fwAD
import tensorh.nn.functional as F


def numbers(*shape, dtype=torch.float64):
    return torch.randn(shape, dtype=dtype)


def tangent_of(f, x, t):
    with fwAD.dual_level():
        return fwAD.unpack_dual(f(fwAD.make_dual(x, t))).tangent


FUNCTIONS = {
    "sin": torch.sin,
    "matmul": lambda x: x @ x.T,
    "softmax": lambda x: F.softmax(x, 1),
    "max": lambda x: x.max(1).values,
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "index": lambda x: x[[2, 0]],
    "svdvals": torch.linalg.svdvals,
    "solve": lambda x: torch.linalg.solve(x[:, :3], x[:, 3]),
    "cumsum": lambda x: x.cumsum(0),
    "in place": lambda x: torch.zeros(4, dtype=x.dtype).copy_(x[1]).mul_(x[0]),
    "conv": lambda x: F.conv1d(x[None], x[:, None, :2], groups=3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_tangent_is_the_jacobian_times_the_tangent(name):
    f, x, t = FUNCTIONS[name], numbers(3, 4), numbers(3, 4)
    whole = torch.autograd.functional.jacobian(f, x)
    want = torch.tensordot(whole, t, dims=2)
    got = tangent_of(f, x, t)
    assert got.dtype == torch.float64 and not got.requires_grad
    assert torch.allclose(got, want, rtol=1e-10, atol=1e-12)


def test_primals_keep_the_callers_history_alone():
    x, t, w = numbers(3), numbers(3), numbers(3).requires_grad_()
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        primal, tangent = fwAD.unpack_dual(dual * 2)
        assert not primal.requires_grad and not tangent.requires_grad
        primal, tangent = fwAD.unpack_dual((dual * w).sum())
        assert primal.requires_grad and tangent.requires_grad
        tangent.backward()  # of sum(t w)
    assert w.grad.equal(t)
    assert not x.requires_grad


def test_a_dual_of_what_is_recorded():
    w, t = numbers(3).requires_grad_(), numbers(3)
    with fwAD.dual_level():
        tangent = fwAD.unpack_dual(fwAD.make_dual(w, t) ** 3).tangent
        assert torch.allclose(tangent, 3 * w**2 * t)
        (gradient,) = torch.autograd.grad(tangent.sum(), w)
    assert torch.allclose(gradient, 6 * w * t)


def test_several_duals_add_up():
    x, y, s, t = (numbers(2, 2) for _ in range(4))
    with fwAD.dual_level():
        product = fwAD.make_dual(x, s) @ fwAD.make_dual(y, t)
        assert torch.allclose(fwAD.unpack_dual(product).tangent, s @ y + x @ t)


def test_complex_numbers():
    def complex_numbers():
        return torch.complex(numbers(3), numbers(3))

    x, t = complex_numbers(), complex_numbers()
    assert torch.allclose(tangent_of(torch.exp, x, t), x.exp() * t)
    assert torch.allclose(tangent_of(torch.abs, x, t), (x.conj() * t).real / x.abs())


def test_what_has_no_tangent():
    x = numbers(3)
    assert fwAD.unpack_dual(x) == (x, None)
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, x)
        assert fwAD.unpack_dual(x.sin()).tangent is None
        assert fwAD.unpack_dual(dual > 0).tangent is None
        assert fwAD.unpack_dual(dual).tangent.equal(x)
    assert fwAD.unpack_dual(dual).tangent is None


def test_levels_and_bad_input():
    x = numbers(3)
    with pytest.raises(RuntimeError, match="no level exists"):
        fwAD.make_dual(x, x)
    with pytest.raises(RuntimeError, match="Dual level must be"):
        fwAD.exit_dual_level()
    level = fwAD.enter_dual_level()
    try:
        with pytest.raises(RuntimeError, match="Nested forward mode"):
            fwAD.enter_dual_level()
        with pytest.raises(ValueError, match="primal to be floating point or complex"):
            fwAD.make_dual(x.int(), x)
        with pytest.raises(ValueError, match="tangent to be floating point or complex"):
            fwAD.make_dual(x, x.int())
        with pytest.raises(RuntimeError, match=r"size \[3\] .* size \[2\]"):
            fwAD.make_dual(x, x[:2])
        with pytest.raises(RuntimeError, match="was not the last one"):
            fwAD.exit_dual_level(level=7)
    finally:
        fwAD.exit_dual_level(level=level)
    with pytest.raises(ZeroDivisionError), fwAD.dual_level():
        _ = 1 / 0
    with fwAD.dual_level():  # the error ended its level
        assert fwAD.unpack_dual(fwAD.make_dual(x, x)).tangent.equal(x)


def test_gradcheck_sees_a_wrong_tangent():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 3 * g * ctx.saved_tensors[0]

    x = numbers(3).requires_grad_()
    z = torch.complex(numbers(2), numbers(2)).requires_grad_()
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(Wrong.apply, (x,), check_forward_ad=True, check_backward_ad=False)
    assert torch.autograd.gradcheck(lambda a, b: (a * b[0], b.exp()), (x, z), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(torch.exp, (z,), check_fwd_over_rev=True)


def test_the_text_of_dual_tensors():
    """As torch 2.15 writes them."""
    x, t = torch.ones(2), torch.tensor([3.0, 4.0])
    with fwAD.dual_level():
        d = fwAD.make_dual(x, t)
        assert repr(d) == "tensor([1., 1.], tangent=tensor([3., 4.]))"
        assert str(d * 2) == "tensor([2., 2.], tangent=tensor([6., 8.]))"
        assert repr(x) == "tensor([1., 1.])"
        own = torch.ones(2, requires_grad=True)
        assert repr(own) == "tensor([1., 1.], requires_grad=True)"
        long = repr(fwAD.make_dual(torch.ones(9), torch.ones(9)))
        assert long == f"tensor({torch.ones(9).tolist()}".replace(".0", ".") + (
            ",\n       tangent=tensor([1., 1., 1., 1., 1., 1., 1., 1., 1.]))"
        )
    assert repr(d) == "tensor([1., 1.], requires_grad=True)"
