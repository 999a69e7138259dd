"""What marks functions of torch and methods of Tensor that are a few calls of rows.

A parameter annotated as Tensor takes nothing else (and None where that is the default), as that of
a row; of one marked `both` the first parameter is such without a word."""

from .. import _C
from .._C import Tensor

_METHODS = {}
_NO_FUNCTIONS = {
    "Tensor", "beta_first", "both", "function", "listed", "lower", "members", "method",
    "promote_types", "wide", "with_out", "written",
}  # fmt: skip
_NUMBERS = (bool, int, float, complex)
_OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input"}  # as NumPy's


def function(f, first=None, skip=0):
    """f, which hears of __torch_function__ and refuses what is no tensor; `first`: the kinds of its
    first parameter, `skip`: parameters before those that messages count."""
    name = f.__name__ if f.__module__ != "tensorh.linalg" else "linalg_" + f.__name__
    wanted, names = _wanted(f, first), _names(f)
    older = getattr(getattr(f, "plain", f), "older", None)

    def call(*args, **kwargs):
        if kwargs:
            kwargs = {_name_of(k, names): v for k, v in kwargs.items()}
        given = [*args, *kwargs.values()]
        for a in args:
            if type(a) in (tuple, list):
                given += a
        if _C._has_torch_function(given):
            return _C._handle_torch_function(call, given, args, kwargs)
        if older is not None:
            args, kwargs = older(name, args, kwargs)
        for at, parameter, kinds in wanted:
            if at < len(args):
                if not isinstance(args[at], kinds):
                    place = f" (position {at + 1 - skip})" if at >= skip else ""
                    _refuse(name, parameter + "'" + place, args[at])
            elif parameter in kwargs and not isinstance(kwargs[parameter], kinds):
                _refuse(name, parameter + "'", kwargs[parameter])
        return f(*args, **kwargs)

    call.__name__, call.__doc__, call.__wrapped__ = f.__name__, f.__doc__, f
    call.__qualname__, call.__module__, call.older = f.__qualname__, f.__module__, older
    return call


def beta_first(f):
    """f, which also takes torch's older forms f(beta, input, [alpha,] a, b) and, as a method,
    x.f(beta, [alpha,] a, b)."""
    f.older = _factors_named
    return f


def _factors_named(name, args, kwargs):
    if not 4 <= len(args) <= 5 or not kwargs.keys() <= {"out"}:
        return args, kwargs
    first, second, *rest = args
    alpha = rest.pop(0) if len(rest) == 3 else 1
    input, beta = (second, first) if isinstance(first, _NUMBERS) else (first, second)
    if not (isinstance(beta, _NUMBERS) and isinstance(alpha, _NUMBERS)):
        return args, kwargs
    from .._overloads import _deprecated

    _deprecated(name)
    return (input, *rest), {"beta": beta, "alpha": alpha, **kwargs}


def _names(f):
    code = getattr(f, "plain", f).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _name_of(word, names):
    other = _OTHER_NAMES.get(word)
    return other if other in names and word not in names else word


def _wanted(f, first):
    """(place, name, classes) of the parameters of f that have to be tensors."""
    f = getattr(f, "plain", f)  # without the out= of a function, see _out
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    kinds = {name: (Tensor,) for name, kind in f.__annotations__.items() if kind is Tensor}
    if first is not None:
        kinds[names[0]] = first
    for name in names[len(names) - len(f.__defaults__ or ()) :]:
        if name in kinds:
            kinds[name] += (type(None),)
    return [(names.index(name), name, classes) for name, classes in kinds.items()]


def _refuse(name, parameter, given):
    raise TypeError(f"{name}(): argument '{parameter} must be Tensor, not {type(given).__name__}")


def both(f, first=(Tensor,)):
    _METHODS[f.__name__] = function(getattr(f, "plain", f), first, 1)
    return function(f, first)


def method(f):
    _METHODS[f.__name__] = call = function(f, None, 1)
    _NO_FUNCTIONS.add(f.__name__)
    return call


def members(tensors, place=0):
    """tensors, if they are that."""
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument {place}, but got {type(t).__name__}"
            )
    return tensors


def listed(tensors, name):
    """The tensors of a list that is not empty."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, "
            f"not {type(tensors).__name__}"
        )
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return members(tensors)
