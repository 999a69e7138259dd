"""Parameter and Buffer: tensors that a module registers when they are assigned to it."""

from .._C import Parameter, Tensor

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


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


# What may be called of a tensor without a shape.
_ALLOWED = frozenset(
    """__hash__ size copy_ is_complex is_floating_point half float double char short int long cuda
    cpu to get_device""".split()
)
_ROOM = (0,) * 5  # for the sizes of any convolution's weight


class UninitializedTensorMixin:
    """What has no shape yet: materialize gives it one."""

    cls_to_become = None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if type(func).__name__ != "method-wrapper" and func.__name__ not in _ALLOWED:
            raise ValueError(
                f"Attempted to use an uninitialized parameter in {func}. This error happens when "
                "you are using a `LazyModule` or explicitly manipulating "
                f"`torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call "
                "`forward` with a dummy batch to initialize the parameters before calling torch "
                "functions"
            )
        return super().__torch_function__(func, types, args, kwargs)

    def materialize(self, shape, device=None, dtype=None):
        """Becomes a tensor of this shape, whose values are not set."""
        from .._C import empty

        device = self.data.device if device is None else device
        dtype = self.data.dtype if dtype is None else dtype
        self.data = empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        """An error."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def share_memory_(self):
        """An error."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __deepcopy__(self, memo):
        new = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        memo[id(self)] = new
        return new

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, self.data.device, self.data.dtype)

    def __repr__(self):
        return f"<{self.__class__.__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape the first call of its module says."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        from .._C import empty

        return super().__new__(cls, empty(_ROOM, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape the first call of its module says."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        from .._C import empty

        new = Tensor._make_subclass(cls, empty(_ROOM, device=device, dtype=dtype), requires_grad)
        new.persistent, new._is_buffer = persistent, True
        return new


def is_lazy(param):
    """Whether it has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)
