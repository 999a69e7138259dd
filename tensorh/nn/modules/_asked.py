"""Built-in modules whose inputs are of a subclass of Tensor: the class hears of the function that
torch's module calls, with the module's options; of the others it hears of `forward`."""

from ... import _C
from .. import functional as F

_CALLS = {
    "ReLU": "relu inplace", "ReLU6": "relu6 inplace", "SiLU": "silu inplace",
    "Mish": "mish inplace",
    "Hardswish": "hardswish inplace", "Hardsigmoid": "hardsigmoid inplace", "SELU": "selu inplace",
    "ELU": "elu alpha inplace", "CELU": "celu alpha inplace",
    "GELU": "gelu approximate=approximate",
    "LeakyReLU": "leaky_relu negative_slope inplace", "PReLU": "prelu weight",
    "Softsign": "softsign",
    "Hardtanh": "hardtanh min_val max_val inplace", "GLU": "glu dim",
    "Softplus": "softplus beta threshold", "Softshrink": "softshrink lambd",
    "Hardshrink": "hardshrink lambd", "Tanhshrink": "tanhshrink", "Softmax": "softmax dim",
    "LogSoftmax": "log_softmax dim", "Softmin": "softmin dim",
    "Dropout": "dropout p training inplace", "AlphaDropout": "alpha_dropout p training",
    "Linear": "linear weight bias",
    "Bilinear": "bilinear weight bias", "LayerNorm": "layer_norm normalized_shape weight bias eps",
    "GroupNorm": "group_norm num_groups weight bias eps",
    "RMSNorm": "rms_norm normalized_shape weight eps",
    "MSELoss": "mse_loss reduction=reduction", "L1Loss": "l1_loss reduction=reduction",
    "SmoothL1Loss": "smooth_l1_loss reduction=reduction beta=beta",
    "HuberLoss": "huber_loss reduction=reduction delta=delta",
    "CrossEntropyLoss": "cross_entropy weight=weight ignore_index=ignore_index reduction=reduction "
                        "label_smoothing=label_smoothing",
    "NLLLoss": "nll_loss weight=weight ignore_index=ignore_index reduction=reduction",
    "BCELoss": "binary_cross_entropy weight=weight reduction=reduction",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits weight=weight pos_weight=pos_weight "
                         "reduction=reduction",
}  # fmt: skip


def _forward(module, *args, **kwargs):
    return _C._Module._row_forward(module, *args, **kwargs)


_forward.__name__ = _forward.__qualname__ = "forward"


def call(module, args, kwargs):
    """The result, or NotImplemented where no class asks."""
    given = [*args, *kwargs.values()]
    if not _C._has_torch_function(given):
        return NotImplemented
    names = [c.__name__ for c in type(module).__mro__]
    known = next((_CALLS[name] for name in names if name in _CALLS), "")
    if not known:
        return _C._handle_torch_function(_forward, given, (module, *args), kwargs)
    name, *options = known.split()
    words = [o.split("=") for o in options]
    more = [getattr(module, w[0]) for w in words if len(w) == 1]
    named = {w[0]: getattr(module, w[1]) for w in words if len(w) == 2}
    function = getattr(F, name)
    return _C._handle_torch_function(function, given, (*args, *more), {**kwargs, **named})
