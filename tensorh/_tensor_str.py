"""torch._tensor_str: how tensors are printed, for programs that print parts of one."""

from . import _C
from ._functions.settings import _printing

__all__ = ["PRINT_OPTS"]


class _Options:
    """The settings of set_printoptions."""

    def __getattr__(self, name):
        if name in _printing:
            return _printing[name]
        raise AttributeError(name)


PRINT_OPTS = _Options()


def _tensor_str(self, indent):
    """The elements of a tensor, with `indent` blanks before each line but the first."""
    text = repr(self.detach().to(device="cpu", copy=True).as_subclass(_C.Tensor))
    if self.dim() == 0:
        return text[7:-1].partition(",")[0]
    elements = text[7:].rpartition("]")[0] + "]"
    first, *more = elements.split("\n")  # lines begin under the first one, behind "tensor("
    return "\n".join([first, *(" " * indent + line[7:] if line else "" for line in more)])
