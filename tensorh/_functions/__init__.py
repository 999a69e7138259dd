"""Functions and methods of torch that are a few calls of rows: what a training loop does not call.

A function marked `both` is torch.f and Tensor.f, `method` Tensor.f alone, the rest torch.f alone.
Names in IN_PLACE are methods f_, too. Those marked hear of __torch_function__ as rows do.
"""

from .._C import Tensor, is_grad_enabled
from . import creation, dtypes, elements, indexing, products, reductions, settings, shapes, spectra
from ._marks import _METHODS, _NO_FUNCTIONS
from ._out import fitting

_FILES = (shapes, creation, elements, reductions, products, indexing, dtypes, settings, spectra)

# Functions that are methods f_, too, and functions torch.f_ where torch has them.
IN_PLACE = (
    "acosh arccosh arctanh atanh conj_physical addbmm addmm addmv addr baddbmm "
    "cumsum index_copy index_fill put"
).split()


def _in_place(name):
    f = _METHODS.get(name) or getattr(Tensor, name)
    older = getattr(f, "older", None)

    def method(self, *args, **kwargs):
        if older is not None:
            (self, *args), kwargs = older(name + "_", (self, *args), kwargs)
        given = self.clone() if _recorded(self, *args, *kwargs.values()) else self
        return self.copy_(fitting(f(given, *args, **kwargs), self.dtype))

    method.__name__ = method.__qualname__ = name + "_"
    method.__doc__ = f"{name}, in place."
    return method


def _recorded(*args):
    """Whether a gradient may ask for self as it was."""
    return is_grad_enabled() and any(isinstance(x, Tensor) and x.requires_grad for x in args)


def _methods():
    """The methods of Tensor that these files give, by name."""
    return {**_METHODS, **{name + "_": _in_place(name) for name in IN_PLACE}}


def _names():
    """The functions of torch that these files give, by name."""
    own = {
        name: value
        for file in _FILES
        for name, value in vars(file).items()
        if name[0] != "_" and name not in _NO_FUNCTIONS
    }
    own["range"] = own.pop("range_")
    for name in IN_PLACE:
        if name not in ("index_copy", "index_fill", "put", "cumsum"):
            own[name + "_"] = _in_place(name)
    for name in dtypes._LEGACY:
        own[name] = dtypes._legacy(name)
    return own
