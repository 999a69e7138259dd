"""tensorh - tensor.h as a Python package, spelled like torch: `import tensorh as torch`.

Functions, methods, their arguments and defaults follow from the library's operator rows; this file
only gathers them. Subpackages (nn, optim, utils, autograd, ..) are loaded when first used.
"""

import os as _os
from math import e, inf, nan, pi  # noqa: F401

from . import _C
from ._C import *  # noqa: F403

_C._package(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)
from .torch_version import TorchVersion as _TorchVersion  # noqa: E402

__version__ = _TorchVersion("2.15.0+tensorh" + _C.__version__)  # the torch whose interface this is
newaxis = None

from . import _spaces, _tensor  # noqa: E402, F401

globals().update(_tensor.aliases())
_loaded = []
_LAZY = (
    "__config__", "_dynamo", "_utils", "accelerator", "amp", "ao", "array_api", "autograd",
    "backends", "compiler", "cpu", "cuda", "distributed", "distributions", "export", "formats",
    "func", "functional", "futures", "fx", "hub", "jit", "legacy", "library", "linalg", "masked",
    "multiprocessing", "nested", "nn", "onnx", "optim", "overrides", "profiler", "quasirandom",
    "random", "return_types", "safetensors", "serialization", "signal", "sparse", "special",
    "storage", "testing", "torch_version", "types", "utils", "version",
)  # fmt: skip
_LAZY_NAMES = {
    "Future": "futures",
    "vmap": "_vmap",
    "GradScaler": "amp",
    "TypedStorage": "storage",
    "UntypedStorage": "storage",
    "_storage_classes": "storage",
    "from_file": "storage",
    "autocast": "amp",
    "compile": "compiler",
    "is_storage": "storage",
    "load": "serialization",
    "ops": "_ops",
    "save": "serialization",
    "sparse_compressed_tensor": "_sparse",
    "sparse_coo_tensor": "_sparse",
    "sparse_csc_tensor": "_sparse",
    "sparse_csr_tensor": "_sparse",
} | dict.fromkeys("dsmm hsmm hspmm saddmm smm spmm sspaddmm".split(), "_sparse_products") | {
    "will_it_fit": "_plan",
} | dict.fromkeys(
    (
        "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage",
        "ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage",
        "LongStorage", "ShortStorage",
    ),
    "storage",
) | dict.fromkeys(
    (
        "autocast_decrement_nesting",
        "autocast_increment_nesting",
        "clear_autocast_cache",
        "get_autocast_cpu_dtype",
        "get_autocast_dtype",
        "get_autocast_gpu_dtype",
        "is_autocast_cache_enabled",
        "is_autocast_cpu_enabled",
        "is_autocast_enabled",
        "set_autocast_cache_enabled",
        "set_autocast_cpu_dtype",
        "set_autocast_cpu_enabled",
        "set_autocast_dtype",
        "set_autocast_enabled",
        "set_autocast_gpu_dtype",
    ),
    "amp.autocast_mode",
)


def _of_c(name):
    """Names of torch._C that programs ask for, of _inside.py."""
    from ._inside import get

    return get(name)


_C.__getattr__ = _of_c
_C.__path__ = []  # torch._C has modules: torch._C._functorch


def _assert(condition, message):
    """assert, as a function."""
    assert condition, message


def get_include():
    """The folder of tensorh.h, for operators of one's own in C."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "include")


def __getattr__(name):
    if name in _LAZY or name in _C._spaces:  # torch.linalg; torch.fft, if rows stand there
        import importlib

        return importlib.import_module("." + name, __name__)
    if name in _LAZY_NAMES:
        import importlib

        value = getattr(importlib.import_module("." + _LAZY_NAMES[name], __name__), name)
        globals()[name] = value
        return value
    if name[0] != "_":
        if not _loaded:
            _load()
        if name in globals():  # another thread may have loaded it just now
            return globals()[name]
    if name[:9] == "_foreach_":
        from ._foreach import get

        if get(name) is not None:
            return globals().setdefault(name, get(name))
    try:
        return _C._registered(name)  # an operator that was registered since
    except AttributeError:
        from ._absent import top

    return top(name)


def _load():
    """The functions that are not loaded at import. Threads may load them at once: the first value
    of a name is the one of all. After Ctrl-C or without memory the next look begins again."""
    from . import _functions

    names = getattr(_functions, "_names", None)
    if names is None:  # a look from within the loading
        return
    for name, value in names().items():
        globals().setdefault(name, value)
    _loaded.append(True)


def __dir__():
    _load()
    return sorted({*globals(), *_LAZY, *_LAZY_NAMES})
