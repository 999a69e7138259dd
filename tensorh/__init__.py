"""tensorh - tensor.h as a Python package, spelled like torch: `import tensorh as torch`.

Functions, methods, their arguments and defaults follow from the library's operator rows; this file
only gathers them. Subpackages (nn, optim, utils, autograd, ..) are loaded when first used.
"""

import os as _os
from math import e, inf, nan, pi  # noqa: F401

from . import _C
from ._C import *  # noqa: F403

_C._package(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)
__version__ = _C.__version__
newaxis = None

from . import _tensor  # noqa: E402

globals().update(_tensor.aliases())
_loaded = []
_LAZY = (
    "array_api",
    "autograd",
    "backends",
    "cuda",
    "func",
    "linalg",
    "nn",
    "optim",
    "overrides",
    "random",
    "return_types",
    "safetensors",
    "serialization",
    "special",
    "testing",
    "types",
    "utils",
    "version",
)
_LAZY_NAMES = {"load": "serialization", "save": "serialization"}


def get_include():
    """The folder of tensorh.h, for operators of one's own in C."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "include")


def __getattr__(name):
    if name in _LAZY:
        import importlib

        return importlib.import_module("." + name, __name__)
    if name in _LAZY_NAMES:
        import importlib

        value = getattr(importlib.import_module("." + _LAZY_NAMES[name], __name__), name)
        globals()[name] = value
        return value
    if name[0] != "_" and not _loaded:
        _load()
        if name in globals():
            return globals()[name]
    try:
        return _C._registered(name)  # an operator that was registered since
    except AttributeError:
        from ._missing import error

    raise error("torch", name)


def _load():
    """The functions that are not loaded at import."""
    _loaded.append(True)
    try:
        from . import _functions

        own = _functions._names()
        globals().update({k: v for k, v in own.items() if k not in globals()})
    except BaseException:  # Ctrl-C, no memory: the next look begins again
        _loaded.clear()
        raise


def __dir__():
    _load()
    return sorted({*globals(), *_LAZY})
