"""What marks functions of torch and methods of Tensor that are a few calls of rows."""

from .. import _C
from .._C import Tensor

_METHODS = {}
_NO_FUNCTIONS = {
    "Tensor", "both", "both_of_numbers", "method", "function", "with_out", "written",
}  # fmt: skip


def _overridable(f):
    """f, or what a class with __torch_function__ among its arguments makes of the call."""

    def call(*args, **kwargs):
        given = [*args, *kwargs.values()]
        for a in args:
            if type(a) in (tuple, list):
                given += a
        if _C._has_torch_function(given):
            return _C._handle_torch_function(call, given, args, kwargs)
        return f(*args, **kwargs)

    call.__name__, call.__doc__, call.__wrapped__ = f.__name__, f.__doc__, f
    call.__qualname__, call.__module__ = f.__qualname__, f.__module__
    return call


def both(f, others=()):
    call = _overridable(_of_a_tensor(f, others))
    plain = getattr(f, "plain", None)  # without the out= of a function, see _out
    own = call if plain is None else _overridable(_of_a_tensor(plain, others))
    _METHODS[f.__name__] = own
    return call


def _of_a_tensor(f, others=()):
    """f, which refuses a first argument that is no tensor as rows do."""
    of = (Tensor, *others)

    def call(*args, **kwargs):
        if args and not isinstance(args[0], of):
            raise TypeError(
                f"{f.__name__}(): argument 'input' (position 1) must be Tensor, "
                f"not {type(args[0]).__name__}"
            )
        return f(*args, **kwargs)

    call.__name__, call.__doc__, call.__wrapped__ = f.__name__, f.__doc__, f
    call.__qualname__, call.__module__ = f.__qualname__, f.__module__
    return call


def both_of_numbers(f):
    """The same, where a number may be the first argument."""
    return both(f, (bool, int, float, complex))


def method(f):
    _METHODS[f.__name__] = call = _overridable(f)
    _NO_FUNCTIONS.add(f.__name__)
    return call


function = _overridable
