"""Convolutions and Linear with the BatchNorm behind them as one; modules without initial values."""

import copy

from ... import _C
from ..parameter import Parameter


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """(weight, bias) of the convolution that does what both do in evaluation."""
    conv_b = _C.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = _C.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = _C.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * _C.rsqrt(bn_rv + bn_eps)
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * scale.reshape(shape + [1] * (conv_w.dim() - 2))
    bias = (conv_b - bn_rm) * scale + bn_b
    return (
        Parameter(weight.detach().to(conv_w.dtype), conv_w.requires_grad),
        Parameter(bias.detach().to(conv_b.dtype), conv_b.requires_grad),
    )


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """(weight, bias) of the Linear that does what both do in evaluation."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _fused(layer, bn, transpose):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn must have running statistics")
    new = copy.deepcopy(layer)
    new.weight, new.bias = fuse_conv_bn_weights(
        new.weight, new.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose,
    )  # fmt: skip
    return new


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that does what conv and bn do in evaluation."""
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear, bn):
    """A Linear that does what linear and bn do in evaluation."""
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    return _fused(linear, bn, False)


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters have no values yet, so that no time goes into initial ones."""
    import inspect

    from ..modules.module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)


def convert_conv2d_weight_memory_format(module, memory_format):
    """The weights of convolutions of planes in another order of memory."""
    return _converted(module, memory_format, (4,))


def convert_conv3d_weight_memory_format(module, memory_format):
    """The weights of convolutions of volumes in another order of memory."""
    return _converted(module, memory_format, (5,))


def _converted(module, memory_format, dims):
    for below in module.modules():
        if "Conv" in type(below).__name__ and getattr(below, "weight", None) is not None:
            if below.weight.dim() in dims:
                below.weight.data = below.weight.detach().clone(memory_format=memory_format)
    return module
