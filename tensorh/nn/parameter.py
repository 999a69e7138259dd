"""Parameter and Buffer: tensors that a module registers when they are assigned to it."""

from .._C import Parameter, Tensor

__all__ = ["Buffer", "Parameter"]


class _BufferType(type):
    """A buffer is a plain Tensor with a mark, so that calls with it cost what others cost."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferType):
    """A tensor that becomes a buffer of the module that it is assigned to.

    `persistent`: whether it is part of the state dict.
    """

    def __new__(cls, data=None, *, persistent=True):
        from .._C import zeros

        t = zeros(0) if data is None else data.detach()
        t.requires_grad_(data is not None and data.requires_grad)
        t.persistent = persistent
        t._is_buffer = True
        return t
