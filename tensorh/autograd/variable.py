"""torch.autograd.Variable: what tensors that had a history were once, kept for programs of then."""

import warnings

from .. import _C

__all__ = ["Variable"]


class _Meta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.Tensor)


class Variable(metaclass=_Meta):
    """Variable(data, requires_grad=False): a tensor over the elements of `data`, without history.

    Every tensor is an instance of it. Raises TypeError if data is no tensor.
    """

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if volatile:
            text = "volatile was removed and now has no effect. Use `with torch.no_grad():`"
            warnings.warn(f"{text} instead.", stacklevel=2)
        if data is None:
            data = _C.tensor([])
        if not isinstance(data, _C.Tensor):
            kind = type(data).__name__
            raise TypeError(f"Variable data has to be a tensor, but got {kind}")
        return data.detach().as_subclass(_C.Tensor).requires_grad_(requires_grad)
