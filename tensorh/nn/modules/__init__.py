"""Modules: the base class, containers, and the classes of the library's rows."""

from . import rows as _rows
from .container import Identity, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .module import Module

_class_of = _rows.class_of

__all__ = [
    "Identity",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
    *_rows.names(),
]


def __getattr__(name):
    cls = None if name.startswith("_") else _rows.get(name)
    if cls is None:
        from ..._missing import error

        raise error("torch.nn.modules", name)
    globals()[name] = cls
    return cls


def __dir__():
    return sorted({*globals(), *__all__})
