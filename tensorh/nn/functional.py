"""torch.nn.functional: rows of the library, and what torch spells otherwise or composes of them."""

import math
import warnings

from .. import _C
from .._spaces import space

__getattr__, __dir__ = space(__name__)


def _unsupported(function, argument):
    raise NotImplementedError(f"{function}: {argument} is not supported yet")


# --- activations ---------------------------------------------------------------------------------


def relu(input, inplace=False):
    """max(input, 0)."""
    return _C.relu_(input) if inplace else _C.relu(input)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """input where it is positive, else negative_slope * input."""
    f = _C.leaky_relu_ if inplace else _C.leaky_relu
    return f(input, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """input where it is positive, else alpha * (exp(input) - 1)."""
    return _C.elu_(input, alpha) if inplace else _C.elu(input, alpha)


def celu(input, alpha=1.0, inplace=False):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    f = _C.celu_ if inplace else _C.celu
    return f(input, alpha)


def selu(input, inplace=False):
    """A scaled elu."""
    return _C.selu_(input) if inplace else _C.selu(input)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """input where it is positive, else times a slope; in training one drawn for each element."""
    f = _C.rrelu_ if inplace else _C.rrelu
    return f(input, lower, upper, training)


def silu(input, inplace=False):
    """input * sigmoid(input)."""
    return _C.silu_(input) if inplace else _C.silu(input)


def threshold(input, threshold, value, inplace=False):
    """input where it is greater than threshold, else value."""
    f = _C.threshold_ if inplace else _C.threshold
    return f(input, threshold, value)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """input within [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    f = _C.hardtanh_ if inplace else _C.hardtanh
    return f(input, min_val, max_val)


def relu6(input, inplace=False):
    """input within [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


def _wide(input):
    """input; of float16 and bfloat16 in float32, where more than one step rounds."""
    return input.float() if input.dtype in (_C.float16, _C.bfloat16) else input


def hardsigmoid(input, inplace=False):
    """relu6(input + 3) / 6."""
    return _C.hardsigmoid_(input) if inplace else _C.hardsigmoid(input)


def hardswish(input, inplace=False):
    """input * relu6(input + 3) / 6."""
    return _C.hardswish_(input) if inplace else _C.hardswish(input)


def mish(input, inplace=False):
    """input * tanh(softplus(input))."""
    return _C.mish_(input) if inplace else _C.mish(input)


def hardshrink(input, lambd=0.5):
    """input where its magnitude is more than lambd, else 0."""
    return _C.hardshrink(input, lambd)


def softshrink(input, lambd=0.5):
    """input moved by lambd towards 0."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    if not lambd <= 65504 and input.is_floating_point():  # what every dtype has
        _check_lambda(input, lambd)
    return _C.softshrink(input, lambd)


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


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, L) or (C, L)."""
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _feature_dropout(input, p, training, inplace, 2)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, H, W)."""
    return _feature_dropout(input, p, training, inplace, 0)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    return _feature_dropout(input, p, training, inplace, 4)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean 0 and variance 1, for networks of selu."""
    _check_probability(p)
    f = _C.alpha_dropout_ if inplace else _C.alpha_dropout
    return f(input, p, training)


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
    if max_norm is not None:
        _unsupported("embedding", "max_norm")
    rows = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += rows
    return _C.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def max_pool1d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """The largest element of each window of a line."""
    if return_indices:
        _unsupported("max_pool1d", "return_indices")
    return _C.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


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
    return _C.interpolate(
        input,
        size,
        scale_factor,
        mode.replace("-", "_"),
        bool(align_corners),
        bool(recompute_scale_factor),
        antialias,
    )


def max_pool2d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """The largest element of each window."""
    if return_indices:
        _unsupported("max_pool2d", "return_indices")
    return _C.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Normalises groups of channels of each sample."""
    each = _check_groups(input, num_groups, weight, bias)
    x = input.reshape(input.shape[0], num_groups, each)
    y = _C.layer_norm(x, (each,), None, None, eps).reshape(input.shape)
    return _scale_and_shift(y, weight, bias)


def _check_groups(input, num_groups, weight, bias):
    """How many elements each group of a sample has."""
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
    each = c // num_groups * math.prod(rest)
    if n * each == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {shape}"
        )
    for name, t in ("weight", weight), ("bias", bias):
        if t is not None and tuple(t.shape) != (c,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(t.shape)} and input of shape {shape}"
            )
    return each


def _scale_and_shift(y, weight, bias):
    shape = (1, -1, *(1,) * (y.ndim - 2))
    if weight is not None:
        y = y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """input / sqrt(mean(input^2) + eps) * weight over the last dimensions."""
    _check_normalized(normalized_shape, weight)
    n = len(normalized_shape)
    if tuple(input.shape[-n:]) != tuple(normalized_shape):
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape "
            f"[*, {', '.join(map(str, normalized_shape))}], but got input of size"
            f"{list(input.shape)}"
        )
    x = _wide(input)
    if eps is None:
        eps = 2.0**-52 if x.dtype in (_C.float64, _C.complex128) else 2.0**-23
    y = x * _C.rsqrt(_C.mean(x * x, tuple(range(-n, 0)), True) + eps)
    return (y if weight is None else y * weight).to(input.dtype)


def _check_normalized(shape, weight):
    given = list(shape) if isinstance(shape, (tuple, list)) else type(shape).__name__
    if isinstance(given, str) or not all(hasattr(n, "__index__") for n in given):
        raise TypeError(
            "rms_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{given}"
        )
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    if weight is not None and tuple(weight.shape) != tuple(shape):
        raise RuntimeError(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{list(weight.shape)} and normalized_shape = {list(shape)}"
        )


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input / max(its p-norm along dim, eps)."""
    denominator = _C.clamp_min(_C.norm(input, p, dim, True), eps)
    return _C.div(input, denominator, out=out) if out is not None else input / denominator


# --- losses --------------------------------------------------------------------------------------


def _reduction(size_average, reduce, reduction):
    """torch's older arguments as a word."""
    if size_average is None and reduce is None:
        return reduction
    mean = size_average is None or size_average
    word = "none" if reduce is not None and not reduce else "mean" if mean else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.",
        stacklevel=3,
    )
    return word


def _reduce(loss, reduction):
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss


def _weighted(loss, input, weight, reduction):
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    loss = loss * weight
    return loss.sum() / weight.sum() if reduction == "mean" else _reduce(loss, reduction)


_SIZES = "Using a target size ({}) that is different to the input size ({})"
_UNLIKE = {  # by the word of a row's .unlike (docs/modules.md)
    "warns": _SIZES + ". This will likely lead to incorrect results due to broadcasting. "
    "Please ensure they have the same size.",
    "deprecated": _SIZES + " is deprecated. Please ensure they have the same size.",
    "refused": "Target size ({}) must be the same as input size ({})",
}


def _unlike(word, input, target, stacklevel=2):
    """What a loss says to tensors of two shapes."""
    text = _UNLIKE[word].format(target.shape, input.shape)
    if word != "warns":
        raise ValueError(text)
    warnings.warn(text, stacklevel=stacklevel)


def _broadcast(a, b):
    """The shape to which a and b broadcast."""
    n = max(len(a), len(b))
    pairs = list(zip((1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b), strict=True))
    for i, (x, y) in enumerate(pairs):
        if x != y and 1 not in (x, y):
            raise RuntimeError(
                f"The size of input ({x}) must match the size of target ({y}) at non-singleton "
                f"dimension {i}: input has shape {tuple(a)}, but target has shape {tuple(b)}"
            )
    return [y if x == 1 else x for x, y in pairs]


def _pair(kind, input, target):
    """Both of one shape, if the row of the module `kind` lets them be of two."""
    if input.shape == target.shape:
        return input, target
    from .modules import rows

    _unlike(rows.get(kind)._unlike, input, target, stacklevel=4)
    shape = _broadcast(input.shape, target.shape)
    return input.expand(shape), target.expand(shape)


def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """-log softmax(input)[target]; target: class numbers or probabilities."""
    reduction = _reduction(size_average, reduce, reduction)
    return _C.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
):
    """-input[target], of log-probabilities."""
    reduction = _reduction(size_average, reduce, reduction)
    return _C.nll_loss(input, target, weight, ignore_index, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target)^2."""
    reduction = _reduction(size_average, reduce, reduction)
    input, target = _pair("MSELoss", input, target)
    if weight is not None:
        return _weighted(_C.mse_loss(input, target, "none"), input, weight, reduction)
    return _C.mse_loss(input, target, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """|input - target|."""
    reduction = _reduction(size_average, reduce, reduction)
    input, target = _pair("L1Loss", input, target)
    if weight is not None:
        return _weighted(_C.l1_loss(input, target, "none"), input, weight, reduction)
    return _C.l1_loss(input, target, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Squared below beta, linear above."""
    reduction = _reduction(size_average, reduce, reduction)
    input, target = _pair("SmoothL1Loss", input, target)
    return _C.smooth_l1_loss(input, target, reduction, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Squared below delta, linear above, delta * smooth_l1_loss."""
    input, target = _pair("HuberLoss", input, target)
    if weight is not None:
        if weight.size() != input.size():
            raise ValueError("Weights and input must have the same size.")
        return _reduce(_C.huber_loss(input, target, "none", delta) * weight, reduction)
    return _C.huber_loss(input, target, reduction, delta)


def binary_cross_entropy(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """-(t log x + (1 - t) log(1 - x)), of probabilities."""
    reduction = _reduction(size_average, reduce, reduction)
    _pair("BCELoss", input, target)
    return _C.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input,
    target,
    weight=None,
    size_average=None,
    reduce=None,
    reduction="mean",
    pos_weight=None,
):
    """binary_cross_entropy of sigmoid(input), without overflow."""
    reduction = _reduction(size_average, reduce, reduction)
    _pair("BCEWithLogitsLoss", input, target)
    return _C.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input); input: log-probabilities."""
    reduction = _reduction(size_average, reduce, reduction)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL math definition.",
            stacklevel=2,
        )
    return _C.kl_div(input, target, reduction, log_target=log_target)


def poisson_nll_loss(
    input,
    target,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-8,
    reduce=None,
    reduction="mean",
):
    """exp(input) - target * input, or with log_input False input - target * log(input + eps)."""
    reduction = _reduction(size_average, reduce, reduction)
    if log_input:
        loss = _C.exp(input) - target * input
    else:
        loss = input - target * _C.log(input + eps)
    if full:
        stirling = target * _C.log(target) - target + 0.5 * _C.log(2 * math.pi * target)
        loss = loss + _C.where(target <= 1, 0.0, stirling)
    return _reduce(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input - target)^2 / var) / 2, var at least eps."""
    if not isinstance(var, _C.Tensor):
        var = _C.full_like(input, var)
    if (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if tuple(input.shape[:-1]) == tuple(var.shape):
            var = var.unsqueeze(-1)
        elif (
            var.ndim != input.ndim
            or sum(y for x, y in zip(input.shape, var.shape, strict=True) if x != y) != 1
        ):
            raise ValueError("var is of incorrect size")
    var = var + (_C.clamp_min(var.detach(), eps) - var.detach())
    loss = 0.5 * (_C.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce(loss, reduction)


def margin_ranking_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """max(0, -target * (input1 - input2) + margin)."""
    reduction = _reduction(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return _C.margin_ranking_loss(input1, input2, target, margin, reduction)


def hinge_embedding_loss(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """input where target is 1, max(0, margin - input) where it is -1."""
    reduction = _reduction(size_average, reduce, reduction)
    return _C.hinge_embedding_loss(input, target, margin, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input))."""
    return _C.soft_margin_loss(input, target, _reduction(size_average, reduce, reduction))


def cosine_embedding_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """1 - cos where target is 1, max(0, cos - margin) where it is -1."""
    reduction = _reduction(size_average, reduce, reduction)
    return _C.cosine_embedding_loss(input1, input2, target, margin, reduction)


def triplet_margin_loss(
    anchor,
    positive,
    negative,
    margin=1.0,
    p=2,
    eps=1e-6,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin)."""
    reduction = _reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _C.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)
