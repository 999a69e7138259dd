"""The grad modes as decorators; the classes themselves are written in C."""

import functools
import inspect

from .._C import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]


def _decorate(mode, function):
    """`function` with every call of it, or every step of its generator, inside of the mode."""
    if inspect.isclass(function):
        function.__init__ = _decorate(mode, function.__init__)
        return function
    if inspect.isgeneratorfunction(function):
        return _decorate_generator(mode, function)

    @functools.wraps(function)
    def decorated(*args, **kwargs):
        with mode.clone():
            return function(*args, **kwargs)

    return decorated


def _decorate_generator(mode, function):
    """Between the steps the mode is the caller's."""

    @functools.wraps(function)
    def decorated(*args, **kwargs):
        generator = function(*args, **kwargs)
        step, given = generator.send, None
        while True:
            try:
                with mode.clone():
                    value = step(given)
            except StopIteration as end:
                return end.value
            try:
                given = yield value
                step = generator.send
            except GeneratorExit:
                with mode.clone():
                    generator.close()
                raise
            except BaseException as error:
                step, given = generator.throw, error

    return decorated
