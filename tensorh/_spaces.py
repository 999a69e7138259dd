"""Namespaces below torch: beside its own functions a module has rows and exceptions, which say
themselves where they stand (docs/rows.md, `.python`; _C._spaces has them all)."""

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


class Finder:
    """Finds the modules of namespaces of rows alone, which no file has: `import tensorh.fft` where
    some row stands there; and those of _absent.py. It is the last of sys.meta_path: files come
    first."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        package, _, name = fullname.partition(".")
        below = any(space.startswith(name + ".") for space in _C._spaces)
        if package != __package__:
            return None
        if not (name in _C._spaces or below):
            from ._absent import Loader

            return Loader.spec(fullname)
        return type(__spec__)(fullname, Finder, is_package=below)

    @staticmethod
    def create_module(spec):
        return None  # a plain module

    @staticmethod
    def exec_module(made):
        made.__doc__ = f"torch.{made.__name__.partition('.')[2]}: rows of the library."
        made.__getattr__, made.__dir__ = space(made.__name__)


sys.meta_path.append(Finder)
