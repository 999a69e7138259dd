"""Modules: the base class, containers, and the classes of the library's rows."""

import sys as _sys

from . import rows as _rows
from .container import Identity, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .module import Module

_class_of = _rows.class_of

_ELSEWHERE = {  # classes in Python, and their files
    "AdaptiveLogSoftmaxWithLoss": "adaptive",
    "Container": "_older",
    "LinearCrossEntropyLoss": "loss",
    "NLLLoss2d": "_older",
    "SyncBatchNorm": "sync",
    "TripletMarginWithDistanceLoss": "loss",
    **dict.fromkeys(
        (
            "FractionalMaxPool2d", "FractionalMaxPool3d", "Upsample", "UpsamplingBilinear2d",
            "UpsamplingNearest2d",
        ),
        "_upsampling",
    ),
    **dict.fromkeys(
        (
            "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
            "TransformerEncoderLayer",
        ),
        "transformer",
    ),
    **dict.fromkeys(
        (
            "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d",
            "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
            "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
        ),
        "lazy",
    ),
}  # fmt: skip

_BASES = (
    "RNNBase", "RNNCellBase", "_AvgPoolNd", "_BatchNorm", "_ConvNd", "_ConvTransposeNd",
    "_DropoutNd", "_InstanceNorm", "_Loss", "_MaxPoolNd", "_NormBase", "_WeightedLoss",
)  # fmt: skip

__all__ = [
    "Identity",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    *_ELSEWHERE,
    *_rows.names(),
]

# Files of torch that programs import classes from: here this module has them all.
for _file in (
    "activation batchnorm conv distance dropout flatten fold instancenorm linear normalization "
    "pooling rnn sparse upsampling".split()
):
    _sys.modules[f"{__name__}.{_file}"] = globals()[_file] = _sys.modules[__name__]


def __getattr__(name):
    if name in _BASES:
        from . import _bases

        return globals().setdefault(name, getattr(_bases, name))
    if name in ("adaptive", "loss", "utils") or name in _ELSEWHERE:
        import importlib

        module = importlib.import_module("." + _ELSEWHERE.get(name, name), __name__)
        return getattr(module, name) if name in _ELSEWHERE else module
    cls = None if name.startswith("_") else _rows.get(name)
    if cls is None:
        from ..._missing import error

        raise error("torch.nn.modules", name)
    globals()[name] = cls
    return cls


def __dir__():
    return sorted({*globals(), *__all__})
