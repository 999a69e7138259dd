"""torch.overrides: __torch_function__ for code written in Python."""
from . import _C
from ._C import Tensor

DisableTorchFunctionSubclass = _C.DisableTorchFunctionSubclass


def has_torch_function(relevant_args):
    """Whether one of the arguments has a __torch_function__ that wants to be asked."""
    return _C._has_torch_function(relevant_args)


def has_torch_function_unary(arg):
    """The same of one argument."""
    return _C._has_torch_function((arg,))


def has_torch_function_variadic(*args):
    """The same of arguments one by one."""
    return _C._has_torch_function(args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Calls the __torch_function__ of those arguments for public_api(*args, **kwargs)."""
    return _C._handle_torch_function(public_api, relevant_args, args, kwargs)


def is_tensor_like(inp):
    """Whether inp is a tensor or has a __torch_function__."""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


def is_tensor_method_or_property(func):
    """Whether func belongs to Tensor."""
    return getattr(Tensor, getattr(func, "__name__", ""), None) is func or (
        getattr(func, "__name__", "") == "__get__"
    )


def resolve_name(f):
    """The name by which f is called, "torch.add" or "torch.Tensor.add"."""
    name = getattr(f, "__name__", None)
    if name is None:
        return None
    if name == "__get__":
        return f"torch.Tensor.{f.__self__.__name__}.__get__"
    owner = "torch.Tensor" if getattr(Tensor, name, None) is f else "torch"
    return f"{owner}.{name}"


class TorchFunctionMode:
    """A block in which every call would be given to __torch_function__ of the mode. To enter one is
    refused: only classes of arguments are asked here."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        raise NotImplementedError(
            f"{type(self).__name__}: calls are not given to a mode; a class of tensors may have a "
            "__torch_function__"
        )

    def __exit__(self, *exc):
        return None


BaseTorchFunctionMode = TorchFunctionMode


def get_default_nowrap_functions():
    """Functions whose results keep their class."""
    return {Tensor.grad.__get__}


# --- classes with a __torch_function__ of their own -----------------------------------------------


def _method(name, f):
    def call(self, *args, **kwargs):
        if _C._has_torch_function((self,)):
            return _C._handle_torch_function(f, (self,), (self, *args), kwargs)
        return f(self, *args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f.__doc__
    return call


def _attribute(descriptor):
    def part(how):
        f = getattr(descriptor, how)

        def call(self, *value):
            if _C._has_torch_function((self,)):
                return _C._handle_torch_function(f, (self,), (self, *value), {})
            return f(self, *value)

        return call

    return property(part("__get__"), part("__set__"), None, descriptor.__doc__)


def _dress(cls):
    """Gives cls methods and attributes that ask its __torch_function__: those of Tensor that do
    not do so by themselves, as what rows give and indexing do."""
    from ._missing import Missing
    from ._tensor import _SILENT, load

    load()
    taken = {name for c in cls.__mro__[: cls.__mro__.index(Tensor)] for name in vars(c)}
    for name, f in list(vars(Tensor).items()):
        if name in _SILENT or name in taken or type(f) is Missing:
            continue
        if type(f) is type(Tensor.shape):
            setattr(cls, name, _attribute(f))
        elif callable(f) and not _asks(name, f):
            setattr(cls, name, _method(name, f))


def _asks(name, f):
    """Whether a method asks __torch_function__ by itself: rows, what is marked in _functions, and
    operators, which are rows."""
    if type(f) is type(int.__add__):
        return name not in _OWN_SLOTS
    if hasattr(f, "__wrapped__"):
        return True
    try:
        return name not in ("to", "contiguous") and _C._row(name) is not None
    except AttributeError:
        return False


_OWN_SLOTS = ("__len__", "__bool__", "__float__", "__int__", "__index__", "__repr__")


def __getattr__(name):
    from ._missing import error

    raise error("torch.overrides", name)
