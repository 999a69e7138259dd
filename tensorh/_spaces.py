"""Namespaces below torch: what a module has beside its own functions are rows and exceptions, which
say themselves where they stand (docs/rows.md, `.python`; _C._spaces has them all)."""

import sys

from . import _C


def space(module):
    """__getattr__ and __dir__ of the module of that name: tensorh.linalg."""
    name = module.partition(".")[2]
    rows, own = _C._spaces.get(name, {}), vars(sys.modules[module])

    def __getattr__(word):
        if word in rows:
            return own.setdefault(word, rows[word])
        from ._missing import error

        raise error("torch." + name, word)

    def __dir__():
        return sorted({*own, *rows})

    return __getattr__, __dir__


def module(name):
    """The module of a namespace of rows alone, as torch.fft; None where no row stands there."""
    if name not in _C._spaces:
        return None
    made = sys.modules.setdefault("tensorh." + name, type(sys)("tensorh." + name))
    made.__doc__ = f"torch.{name}: rows of the library."
    made.__getattr__, made.__dir__ = space(made.__name__)
    return made
