"""torch.nn.grad: gradients of convolutions by themselves."""

from .. import _C

__all__ = [f"conv{n}d_{of}" for n in (1, 2, 3) for of in ("input", "weight")]


def _gradient(dims, x, weight, grad_output, options, wanted):
    """The gradient of conv{dims}d for x or weight, whichever is wanted."""
    with _C.enable_grad():
        again = wanted.detach().requires_grad_()
        given = [again if t is wanted else t for t in (x, weight)]
        y = getattr(_C, f"conv{dims}d")(*given, None, *options)
        recorded = grad_output.requires_grad or any(t.requires_grad for t in (x, weight))
        (grad,) = _C._grad(y, [again], grad_output, create_graph=recorded)
    return grad if recorded else grad.detach()


def _input(dims):
    def of(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        x = _C.zeros(tuple(input_size), dtype=weight.dtype, device=weight.device)
        return _gradient(dims, x, weight, grad_output, (stride, padding, dilation, groups), x)

    of.__name__ = of.__qualname__ = f"conv{dims}d_input"
    of.__doc__ = f"The gradient of conv{dims}d with respect to its input, of the sizes input_size."
    return of


def _weight(dims):
    def of(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        w = _C.zeros(tuple(weight_size), dtype=input.dtype, device=input.device)
        return _gradient(dims, input, w, grad_output, (stride, padding, dilation, groups), w)

    of.__name__ = of.__qualname__ = f"conv{dims}d_weight"
    of.__doc__ = f"The gradient of conv{dims}d with respect to its weight, of sizes weight_size."
    return of


conv1d_input, conv2d_input, conv3d_input = _input(1), _input(2), _input(3)
conv1d_weight, conv2d_weight, conv3d_weight = _weight(1), _weight(2), _weight(3)
