"""torch.nn.functional: rows of the library, and what torch spells otherwise or composes of them."""

import functools
import math
import warnings

from .. import _C
from .._spaces import space
from ._attention import multi_head_attention_forward  # noqa: F401
from ._losses import (  # noqa: F401
    _reduction,
    _unlike,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    linear_cross_entropy,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from ._pooling import (  # noqa: F401
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
)

_of_space, __dir__ = space(__name__)


def __getattr__(name):
    if name == "grad":  # torch has it here, too
        from . import grad

        return grad
    return _of_space(name)


def _unsupported(function, argument):
    raise NotImplementedError(f"{function}: {argument} is not supported yet")


def _heard(f):
    """f, of which a subclass that overrides functions hears under its own name, not of the row in
    place that it calls."""

    @functools.wraps(f)
    def call(input, *args, **kwargs):
        kind = type(input)
        if kind is not _C.Tensor and kind is not _C.Parameter and _C._has_torch_function((input,)):
            return _C._handle_torch_function(call, (input,), (input, *args), kwargs)
        return f(input, *args, **kwargs)

    return call


# --- activations ---------------------------------------------------------------------------------


@_heard
def relu(input, inplace=False):
    """max(input, 0)."""
    return _C.relu_(input) if inplace else _C.relu(input)


@_heard
def leaky_relu(input, negative_slope=0.01, inplace=False):
    """input where it is positive, else negative_slope * input."""
    f = _C.leaky_relu_ if inplace else _C.leaky_relu
    return f(input, negative_slope)


@_heard
def elu(input, alpha=1.0, inplace=False):
    """input where it is positive, else alpha * (exp(input) - 1)."""
    return _C.elu_(input, alpha) if inplace else _C.elu(input, alpha)


@_heard
def celu(input, alpha=1.0, inplace=False):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    f = _C.celu_ if inplace else _C.celu
    return f(input, alpha)


@_heard
def selu(input, inplace=False):
    """A scaled elu."""
    return _C.selu_(input) if inplace else _C.selu(input)


@_heard
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """input where it is positive, else times a slope; in training one drawn for each element."""
    f = _C.rrelu_ if inplace else _C.rrelu
    return f(input, lower, upper, training)


@_heard
def silu(input, inplace=False):
    """input * sigmoid(input)."""
    return _C.silu_(input) if inplace else _C.silu(input)


@_heard
def threshold(input, threshold, value, inplace=False):
    """input where it is greater than threshold, else value."""
    f = _C.threshold_ if inplace else _C.threshold
    return f(input, threshold, value)


@_heard
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input within [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    f = _C.hardtanh_ if inplace else _C.hardtanh
    return f(input, min_val, max_val)


@_heard
def relu6(input, inplace=False):
    """input within [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


@_heard
def hardsigmoid(input, inplace=False):
    """relu6(input + 3) / 6."""
    return _C.hardsigmoid_(input) if inplace else _C.hardsigmoid(input)


@_heard
def hardswish(input, inplace=False):
    """input * relu6(input + 3) / 6."""
    return _C.hardswish_(input) if inplace else _C.hardswish(input)


@_heard
def mish(input, inplace=False):
    """input * tanh(softplus(input))."""
    return _C.mish_(input) if inplace else _C.mish(input)


def hardshrink(input, lambd=0.5):
    """input where its magnitude is more than lambd, else 0."""
    return _C.hardshrink(input, lambd)


def softshrink(input, lambd=0.5, *, out=None):
    """input moved by lambd towards 0."""
    if not lambd <= 65504 and input.is_floating_point():  # what every dtype has
        _check_lambda(input, lambd)
    return _C.softshrink(input, lambd, out=out)


def _check_lambda(input, lambd):
    from .._functions.dtypes import finfo

    most = finfo(input.dtype).max
    if not lambd <= most:
        raise RuntimeError(
            f"lambda must be in range [0, {most:g}] for input dtype {input.dtype}, found {lambd}."
        )


def _softmax_dim(name, input, dim, stacklevel):
    if dim is None:
        warnings.warn(
            f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
            "dim=X as an argument.",
            stacklevel=stacklevel,
        )
        dim = 0 if input.ndim in (0, 1, 3) else 1
    return dim


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x_i) / sum_j exp(x_j) along dim."""
    if dim is None:
        dim = _softmax_dim("softmax", input, dim, _stacklevel)
    return _C.softmax(input, dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """The logarithm of softmax."""
    if dim is None:
        dim = _softmax_dim("log_softmax", input, dim, _stacklevel)
    return _C.log_softmax(input, dim, dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax of -input."""
    return _C.softmax(-input, _softmax_dim("softmin", input, dim, _stacklevel), dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the Gumbel-softmax distribution; hard: one-hot, with the soft one's gradient."""
    noise = -_C.empty(logits.shape, dtype=logits.dtype).exponential_().log()  # drawn in order
    soft = _C.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = _C.argmax(soft, dim, keepdim=True)
    one = _C.zeros_like(logits).scatter_(dim, index, 1.0)
    return one - soft.detach() + soft


# --- dropout -------------------------------------------------------------------------------------


def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@_heard
def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements with probability p and scales the others by 1 / (1 - p)."""
    _check_probability(p)
    if not training or p == 0:
        return input
    return _C.dropout_(input, p, training) if inplace else _C.dropout(input, p, training)


def _feature_dropout(input, p, training, inplace, ndim):
    """Whole channels; ndim: dimensions of an input without a batch."""
    _check_probability(p)
    if not training or p == 0:
        return input
    if input.ndim < 2 and not ndim:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    batched = input.ndim != ndim
    shape = input.shape[: 2 if batched else 1]
    shape = (*shape, *(1,) * (input.ndim - len(shape)))
    mask = _C.dropout(_C.new_ones(input, shape), p, True)
    return _C.mul_(input, mask) if inplace else input * mask


@_heard
def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, L) or (C, L)."""
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _feature_dropout(input, p, training, inplace, 2)


@_heard
def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, H, W)."""
    if input.ndim not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is deprecated and "
            "will result in an error in a future release. To retain the behavior and silence this "
            "warning, please use dropout instead. Note that dropout2d exists to provide "
            "channel-wise dropout on inputs with 2 spatial dimensions, a channel dimension, and an "
            "optional batch dimension (i.e. 3D or 4D inputs).",
            stacklevel=2,
        )
    elif input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _feature_dropout(input, p, training, inplace, 0)


@_heard
def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    if input.ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.ndim}-D input to dropout3d, which is deprecated and "
            "will result in an error in a future release. To retain the behavior and silence this "
            "warning, please use dropout instead. Note that dropout3d exists to provide "
            "channel-wise dropout on inputs with 3 spatial dimensions, a channel dimension, and an "
            "optional batch dimension (i.e. 4D or 5D inputs).",
            stacklevel=2,
        )
    return _feature_dropout(input, p, training, inplace, 4)


@_heard
def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean 0 and variance 1, for networks of selu."""
    _check_probability(p)
    f = _C.alpha_dropout_ if inplace else _C.alpha_dropout
    return f(input, p, training)


@_heard
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    _check_probability(p)
    f = _C.feature_alpha_dropout_ if inplace else _C.feature_alpha_dropout
    return f(input, p, training)


# --- layers --------------------------------------------------------------------------------------


def embedding(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """Rows of weight by number."""
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    rows = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += rows
    return _C.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _renorm(weight, input, max_norm, norm_type):
    """Shrinks in place the rows of weight at input whose norm is more than max_norm."""
    with _C.no_grad():
        at = input.reshape(-1).long()
        rows = weight[at]
        norms = rows.norm(norm_type, dim=1, keepdim=True)
        scale = _C.where(norms > max_norm, max_norm / (norms + 1e-7), _C.ones_like(norms))
        weight[at] = rows * scale


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Sums, means or maxima of rows of weight, one for each bag of numbers."""
    if weight.dtype is _C.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
            "`embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        input, weight = weight, input  # noqa: A001
    _bags_checked(input, offsets)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and (scale_grad_by_freq or sparse):
        what = "scaling the gradient by the frequency" if scale_grad_by_freq else "sparse weights"
        raise ValueError(f"max mode does not support {what}")
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({tuple(per_sample_weights.shape)}) is not "
            f"None, then it must have the same shape as the input ({tuple(input.shape)})"
        )
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    return _C._embedding_bags(
        input, weight, offsets, scale_grad_by_freq, mode, per_sample_weights,
        include_last_offset, padding_idx, sparse,
    )  # fmt: skip


def _bags_checked(input, offsets):
    """That offsets cuts input into bags: of rows there are none, of a vector they rise from 0."""
    if input.dim() == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
            f"fixed length sequences. However, found offsets of type {type(offsets)}"
        )
    if input.dim() == 1 and (offsets is None or offsets.dim() != 1):
        raise ValueError(
            f"offsets has to be a 1D Tensor{' but got None' if offsets is None else ''}"
        )
    if offsets is not None and offsets.is_cpu and offsets.nelement() and not _C._vmap_depth():
        first, last = int(offsets[0]), int(offsets[-1])
        if first != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                f"from position 0. However, got {first}"
            )
        if last > input.nelement():
            raise RuntimeError(
                "offsets[-1] can not be greater than input's length, but got offsets[-1] of "
                f"{last} and a length of {input.nelement()}"
            )
    if input.dim() not in (1, 2):
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )


_LINEAR = ("linear", "bilinear", "trilinear", "bicubic")


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """The input's planes in another size."""
    if mode not in _LINEAR and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if scale_factor is not None and not isinstance(scale_factor, (tuple, list)):
        scale_factor = (scale_factor,) * (input.dim() - 2)
    if antialias and not (mode in ("bilinear", "bicubic") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D "
            "tensor as input"
        )
    bytes_ = isinstance(input, _C.Tensor) and input.dtype is _C.uint8
    r = _C.interpolate(
        input.float() if bytes_ else input,
        size,
        scale_factor,
        mode.replace("-", "_"),
        bool(align_corners),
        bool(recompute_scale_factor),
        antialias,
    )
    return r.round().clamp(0, 255).to(_C.uint8) if bytes_ else r


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """interpolate, which torch recommends instead."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with mode="nearest"."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with mode="bilinear" and align_corners=True."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _deprecated(name):
    text = "`nn.functional.{}` is deprecated. Use `nn.functional.interpolate` instead."
    warnings.warn(text.format(name), stacklevel=3)


def _corners(align_corners):
    """align_corners, with torch's warning where none is given."""
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
            "documentation of grid_sample for details.",
            stacklevel=3,
        )
    return bool(align_corners)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The input at the places of a grid."""
    for name, value, words in (
        ("mode", mode, ("bilinear", "nearest", "bicubic")),
        ("padding_mode", padding_mode, ("zeros", "border", "reflection")),
    ):
        if value not in words:
            raise ValueError(
                f"nn.functional.grid_sample(): expected {name} to be '{words[0]}', '{words[1]}', "
                f"or '{words[2]}', but got: '{value}'"
            )
    return _C.grid_sample(input, grid, mode, padding_mode, _corners(align_corners))


def affine_grid(theta, size, align_corners=None):
    """The grid of grid_sample for affine maps theta and a result of this size."""
    align_corners = _corners(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size "
            f"{size}. Got {theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return _C.affine_grid(theta, size, align_corners)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Normalises groups of channels of each sample."""
    _check_groups(input, num_groups, weight, bias)
    return _C.group_norm(input, num_groups, weight, bias, eps)


def _check_groups(input, num_groups, weight, bias):
    """The errors of group_norm, in torch's words."""
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    shape = list(input.shape)
    n, c, *rest = shape
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {shape} and num_groups={num_groups}"
        )
    if n * (c // num_groups * math.prod(rest)) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {shape}"
        )
    for name, t in ("weight", weight), ("bias", bias):
        if t is not None and tuple(t.shape) != (c,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(t.shape)} and input of shape {shape}"
            )


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """input / sqrt(mean(input^2) + eps) * weight over the last dimensions."""
    shape = normalized_shape
    given = list(shape) if isinstance(shape, (tuple, list)) else type(shape).__name__
    if isinstance(given, str) or not all(hasattr(n, "__index__") for n in given):
        raise TypeError(
            "rms_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{given}"
        )
    return _C.rms_norm(input, shape, weight, eps)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input / max(its p-norm along dim, eps)."""
    denominator = _C.clamp_min(_C.norm(input, p, dim, True), eps)
    return _C.div(input, denominator, out=out) if out is not None else input / denominator
