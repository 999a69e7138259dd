"""Results that go into a tensor which is there: out= of functions of torch, and f_."""

from .. import _C
from .._C import Tensor
from .dtypes import _scalar_type, can_cast


def with_out(f):
    """f, which as a function of torch writes its result into out=; as a method it has no out."""
    return _WithOut(f)


class _WithOut:
    def __init__(self, f):
        self.plain, self.__doc__, self.__module__ = f, f.__doc__, f.__module__
        self.__name__, self.__qualname__ = f.__name__, f.__qualname__

    def __call__(self, *args, out=None, **kwargs):
        result = self.plain(*args, **kwargs)
        return result if out is None else written(out, result, self.__name__)

    @property
    def __signature__(self):
        import inspect

        plain = inspect.signature(self.plain)
        out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
        return plain.replace(parameters=[*plain.parameters.values(), out])


def written(out, result, name):
    """out with the result in it, as where a row writes: of another shape it is resized."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if _C.is_grad_enabled() and (out.requires_grad or result.requires_grad):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    result = fitting(result, out.dtype)
    if name == "range_" and out.numel() == result.numel():
        return out.copy_(result.view(out.shape))  # as src/py/resize.c fills what arange gives
    if out.shape == result.shape:
        return out.copy_(result)
    if out.numel():
        import warnings

        warnings.warn(_RESIZED.format(list(out.shape), list(result.shape)), stacklevel=3)
    out.data = result.detach().to(out.dtype, copy=True)
    return out


_RESIZED = (  # as src/py/resize.c says it of rows
    "An output with one or more elements was resized since it had shape {}, which does not match "
    "the required output shape {}. This behavior is deprecated, and in a future PyTorch release "
    "outputs will not be resized unless they have zero elements. You can explicitly reuse an out "
    "tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
)


def fitting(result, dtype):
    """The result, if a tensor of that dtype can take it."""
    if not can_cast(result.dtype, dtype):
        raise RuntimeError(
            f"result type {_scalar_type(result.dtype)} can't be cast to the desired output type "
            f"{_scalar_type(dtype)}"
        )
    return result
