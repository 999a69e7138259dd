"""torch.ops: operators by the names that they have inside torch, torch.ops.aten.add.Tensor."""

from . import _C
from ._C import Tensor


def _to_copy(
    self, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False,
    memory_format=None,
):  # fmt: skip
    """A copy of self, of another dtype, device or layout if that is given."""
    copy = self.to(device=device, dtype=dtype, copy=True, memory_format=memory_format)
    return copy if layout is None or layout is self.layout else copy.to_dense()


# Operators of torch by names that no function or method has.
_INNER = {
    "_pin_memory": Tensor.pin_memory, "_to_copy": _to_copy, "alias": lambda self: self.view_as(self)
}  # fmt: skip


class _Operator:
    """An operator; its overloads, .Tensor or .default, are the same function."""

    def __init__(self, name, function):
        self.__name__, self._function = name, function

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __getattr__(self, overload):
        if overload.startswith("__"):
            raise AttributeError(overload)
        return self

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self.__name__}')>"


class _Namespace:
    """torch.ops.aten: the operators of torch's own namespace."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        if not name.startswith("__"):
            found = self._find(name)
            if found is not None:
                setattr(self, name, _Operator(f"{self.name}.{name}", found))
                return self.__dict__[name]
        raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")

    def _find(self, name):
        from .library import find

        found = find(self.name, name)
        if found is not None or self.name != "aten":
            return found
        if name in _INNER:
            return _INNER[name]
        import sys

        torch = sys.modules[__package__]
        for owner in (torch, torch.nn.functional, Tensor):
            found = getattr(owner, name, None)
            if callable(found):
                return found
        if name == "_sparse_addmm":
            return torch.sparse.addmm
        for space in ("linalg", "special", "fft"):
            found = _C._spaces.get(space, {}).get(name.removeprefix(space + "_"))
            if name.startswith(space + "_") and found is not None:
                return found
        return None


class _Ops:
    """torch.ops."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        space = _Namespace(name)
        setattr(self, name, space)
        return space

    def load_library(self, path):
        """Refused: operators in C are loaded as docs/python.md says."""
        raise OSError(f"{path}: a library for torch cannot be loaded here")


ops = _Ops()
