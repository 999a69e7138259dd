"""Lets `import torch` find tensorh, for programs that are not to be changed.

    import tensorh.as_torch  # from here on `import torch`, `import torch.nn` are tensorh's modules
    python -m tensorh.as_torch program.py argument ..

A module of torch that is not here is a ModuleNotFoundError. If the real torch has been imported
before, this import fails: one process has one of them."""

import importlib as _importlib
import sys as _sys
from importlib import metadata as _metadata
from importlib.machinery import ModuleSpec as _ModuleSpec
from pathlib import Path as _Path

import tensorh as _torch

_HERE = __package__
_THERE = "torch"


class Finder:
    """The first of sys.meta_path: `torch.x` is `tensorh.x`, and no other torch is looked for."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        head, dot, rest = fullname.partition(".")
        if head != _THERE:
            return None
        own = _HERE + dot + rest
        try:
            found = _importlib.import_module(own)
        except ModuleNotFoundError as error:
            if error.name is None or not (own + ".").startswith(error.name + "."):
                raise
            raise _missing(fullname) from None
        for name, module in list(_sys.modules.items()):  # also those of a parent that is a file
            if name.startswith(own + "."):
                _sys.modules.setdefault(_THERE + name[len(_HERE) :], module)
        return _ModuleSpec(fullname, _Loader(found))

    @staticmethod
    def find_distributions(context=None):
        """What importlib.metadata.version("torch") reads: the torch whose interface this is."""
        name = getattr(context, "name", None)
        return iter(()) if name is not None and name.lower() != _THERE else iter([_Distribution()])


class _Distribution(_metadata.Distribution):
    """Metadata of the torch that tensorh stands for."""

    def read_text(self, filename):
        if filename == "METADATA":
            return f"Metadata-Version: 2.1\nName: {_THERE}\nVersion: {_torch.__version__}\n"
        return _THERE + "\n" if filename == "top_level.txt" else None

    def locate_file(self, path):
        return _Path(_torch.__file__).parent.parent / path


class _Loader:
    """Puts a module that is there already in the place of the one that would be loaded."""

    def __init__(self, module):
        self.module = module

    def create_module(self, spec):
        return None  # a plain module, which nobody sees

    def exec_module(self, module):
        _sys.modules[module.__name__] = self.module


def _missing(fullname):
    from ._missing import reason

    namespace, _, name = fullname.rpartition(".")
    why = reason(namespace, name)
    text = f"No module named {fullname!r}" + (f" ({why})" if why else "")
    return ModuleNotFoundError(text, name=fullname)


def _install():
    known = _sys.modules.get(_THERE)
    here = _sys.modules[_HERE]
    if known is not None and known is not here:
        raise ImportError("torch has been imported already: import tensorh.as_torch before it")
    if Finder not in _sys.meta_path:
        _sys.meta_path.insert(0, Finder)
    _sys.modules[_THERE] = here.torch = here  # torch has itself as an attribute
    here.__name__ = _THERE


_install()

if __name__ == "__main__":
    import runpy as _runpy

    if len(_sys.argv) < 2:
        _sys.exit("usage: python -m tensorh.as_torch PROGRAM [ARGUMENT ..]")
    _sys.argv = _sys.argv[1:]
    _sys.path[0] = _sys.argv[0].rpartition("/")[0] or "."
    _runpy.run_path(_sys.argv[0], run_name="__main__")
