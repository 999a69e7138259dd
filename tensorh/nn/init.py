"""Initial values: each function writes into a tensor, without recording, and returns it.

Formulas and the order of draws are torch's: a seed gives torch's numbers.
"""

import math
import warnings

from .. import _C

_quiet = _C._without_grad


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the variance through a nonlinearity."""
    linear = ("linear", "conv1d", "conv2d", "conv3d", "sigmoid")
    transposed = ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
    if nonlinearity in linear or nonlinearity in transposed:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + param**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform draws within [a, b)."""
    return _quiet(lambda: tensor.uniform_(a, b, generator=generator))


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal draws."""
    return _quiet(lambda: tensor.normal_(mean, std, generator=generator))


def constant_(tensor, val):
    """val everywhere."""
    return _quiet(tensor.fill_, val)


def ones_(tensor):
    """1 everywhere."""
    return _quiet(tensor.fill_, 1.0)


def zeros_(tensor):
    """0 everywhere."""
    return _quiet(tensor.zero_)


# Of the same, by the names that torch's file has inside.
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_
_no_grad_uniform_, _no_grad_normal_ = uniform_, normal_


def eye_(tensor):
    """The identity matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _quiet(lambda: tensor.copy_(_C.eye(*tensor.shape, dtype=tensor.dtype)))


def dirac_(tensor, groups=1):
    """Kernels of a convolution that gives its input back."""
    shape = tuple(tensor.shape)
    if len(shape) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    out = shape[0] // groups
    middle = tuple(n // 2 for n in shape[2:])

    def fill():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(out, shape[1])):
                tensor[(g * out + d, d, *middle)] = 1
        return tensor

    return _quiet(fill)


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of {['fan_in', 'fan_out']}")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform within gain * sqrt(6 / (fan_in + fan_out)) of 0."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal with std gain * sqrt(2 / (fan_in + fan_out))."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _nothing_to_draw(tensor):
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform within gain * sqrt(3 / fan) of 0."""
    if _nothing_to_draw(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal with std gain / sqrt(fan)."""
    if _nothing_to_draw(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal, but for a part `sparsity` of each column, which is zero."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)

    def fill():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[_C.randperm(rows)[:zeros], column] = 0
        return tensor

    return _quiet(fill)


def orthogonal_(tensor, gain=1, generator=None):
    """gain times a matrix with orthonormal rows or columns (Saxe et al. 2013); all dimensions but
    the first count as columns."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows

    def fill():
        flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        q, r = _C._spaces["linalg"]["qr"](flat.t() if rows < columns else flat)
        q = q * r.diagonal().sign()  # uniform, as R's diagonal is positive
        q = q.t() if rows < columns else q
        return tensor.copy_(q.reshape(tensor.shape)).mul_(gain)

    return _quiet(fill)


def _cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _trunc_by_normal(tensor, mean, std, a, b, generator):
    low, high = _C.tensor([a, b], dtype=tensor.dtype).tolist()
    result = tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (result < low) | (result > high)
        if not outside.any():
            return tensor if result is tensor else tensor.copy_(result)
        again = _C.empty_like(result).normal_(mean, std, generator=generator)
        result = _C.where(outside, again, result)


def _trunc_by_uniform(tensor, mean, std, a, b, generator):
    """Rejection from a uniform: where [a, b] is a small part of the normal."""
    mode = max(a, min(mean, b))
    log_peak = -0.5 * ((mode - mean) / std) ** 2
    accept = _C.empty_like(tensor)

    def refused(candidates):
        log_pdf = candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        return accept.uniform_(generator=generator).log_().gt(log_pdf)

    result = tensor.uniform_(a, b, generator=generator)
    candidates = tensor.clone()
    pending = refused(candidates)
    while pending.any():
        candidates.uniform_(a, b, generator=generator)
        result = _C.where(pending, candidates, result)
        pending = pending & refused(candidates)
    return tensor if result is tensor else tensor.copy_(result)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal draws within [a, b]; others are drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    often = _cdf((b - mean) / std) - _cdf((a - mean) / std) > 0.3
    draw = _trunc_by_normal if often else _trunc_by_uniform
    return _quiet(draw, tensor, mean, std, a, b, generator)


_OLDER = (
    "constant", "dirac", "eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal",
    "sparse", "uniform", "xavier_normal", "xavier_uniform",
)  # fmt: skip


def _older(name):
    """The function of a name that torch has deprecated: without the _ at its end."""
    new = globals()[name + "_"]

    def call(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.",
            FutureWarning,
            stacklevel=2,
        )
        return new(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The older name of {name}_."
    return call


def __getattr__(name):
    if name in _OLDER:
        return globals().setdefault(name, _older(name))
    from .._missing import error

    raise error("torch.nn.init", name)
