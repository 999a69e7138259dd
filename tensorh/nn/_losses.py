"""The losses of torch.nn.functional: rows of the library under torch's older options, too."""

import warnings
from dataclasses import dataclass

from .. import _C


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


def _known(reduction, what="valid"):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not {what}")


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
    _known(reduction, "a valid value for reduction")
    return _C.poisson_nll_loss(input, target, log_input, full, eps, reduction)


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
    _known(reduction)
    return _C.gaussian_nll_loss(input, target, var, full, eps, reduction)


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


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """triplet_margin_loss with a distance of the program's own; pairwise_distance if it is None."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = anchor.ndim, positive.ndim, negative.ndim
    if not dims[0] == dims[1] == dims[2]:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            "dimensions, but got: anchor {}D, positive {}D, and negative {}D inputs".format(*dims)
        )
    distance = _C.pairwise_distance if distance_function is None else distance_function
    close, away = distance(anchor, positive), distance(anchor, negative)
    if swap:
        away = _C.minimum(away, distance(positive, negative))
    return _reduce(_C.clamp_min(margin + close - away, 0), reduction)


def multi_margin_loss(
    input,
    target,
    p=1,
    margin=1.0,
    weight=None,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """The sum over other classes i of max(0, margin - input[target] + input[i])^p, over C."""
    reduction = _reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _C.multi_margin_loss(input, target, p, margin, weight, reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """The sum over labels y and other classes i of max(0, 1 - input[y] + input[i]), over C."""
    reduction = _reduction(size_average, reduce, reduction)
    return _C.multilabel_margin_loss(input, target, reduction)


def multilabel_soft_margin_loss(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """The mean over classes of binary_cross_entropy_with_logits."""
    reduction = _reduction(size_average, reduce, reduction)
    return _C.multilabel_soft_margin_loss(input, target, weight, reduction)


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How torch divides the work, which has no part in the result."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: object = None


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """cross_entropy of linear(input, linear_weight, linear_bias)."""
    if not isinstance(options, (LinearCrossEntropyOptions, type(None))):
        raise TypeError("linear_cross_entropy: options is a LinearCrossEntropyOptions or None")
    return _C.linear_cross_entropy(
        input,
        linear_weight,
        target,
        linear_bias=linear_bias,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )
