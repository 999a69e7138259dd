"""Neural networks: Module, built-in modules from the library's rows, functional, init, utils."""

from . import modules
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    *modules.__all__,
]

_LAZY = (
    "attention", "common_types", "functional", "grad", "init", "parallel", "parameter", "utils",
)  # fmt: skip


def __getattr__(name):
    if name in _LAZY:
        import importlib

        return importlib.import_module("." + name, __name__)
    if name in ("RNNBase", "RNNCellBase"):  # torch has them here, too
        return getattr(modules, name)
    if name == "LinearCrossEntropyOptions":
        from ._losses import LinearCrossEntropyOptions

        return LinearCrossEntropyOptions
    if name == "DataParallel":  # torch has it here, too
        from .parallel import DataParallel

        return DataParallel
    from .._missing import error

    raise error("torch.nn", name)


def __dir__():
    return sorted({*globals(), *_LAZY, *__all__})
