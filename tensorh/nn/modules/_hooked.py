"""The call of a module that has hooks (torch's order and rules)."""

import warnings

from .module import _hooks_of_all


def _hooks(module, name):
    """(number, hook) of a kind: those of all modules, then the module's own."""
    return [*getattr(_hooks_of_all, name).items(), *module.__dict__.get(name, {}).items()]


def _marked(module, name, number):
    return number in getattr(_hooks_of_all, name) or number in module.__dict__.get(name, ())


def _before(module, args, kwargs):
    named = module.__dict__.get("_forward_pre_hooks_with_kwargs", ())
    for number, hook in _hooks(module, "_forward_pre_hooks"):
        if number in named:
            out = hook(module, args, kwargs)
            if out is None:
                continue
            if not isinstance(out, tuple) or len(out) != 2:
                raise RuntimeError(
                    "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                    f"but got {out}."
                )
            args, kwargs = out
        else:
            out = hook(module, args)
            if out is not None:
                args = out if isinstance(out, tuple) else (out,)
    return args, kwargs


def _after(module, number, hook, args, kwargs, result):
    if _marked(module, "_forward_hooks_with_kwargs", number):
        out = hook(module, args, kwargs, result)
    else:
        out = hook(module, args, result)
    return result if out is None else out


def _failed(module, args, kwargs, result, called):
    """Hooks that are called always, after an error."""
    for number, hook in _hooks(module, "_forward_hooks"):
        if number not in called and _marked(module, "_forward_hooks_always_called", number):
            try:
                result = _after(module, number, hook, args, kwargs, result)
            except Exception as error:
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {error}",
                    stacklevel=3,
                )


def call(module, args, kwargs):
    """forward between its hooks."""
    _hooks_of_all.look()
    result, called, backward = None, set(), None
    try:
        args, kwargs = _before(module, args, kwargs)
        hooks, pre_hooks = _hooks(module, "_backward_hooks"), _hooks(module, "_backward_pre_hooks")
        if hooks or pre_hooks:
            from ._backward import Backward

            backward = Backward(module, [f for _, f in hooks], [f for _, f in pre_hooks])
            args = backward.inputs(args)
        result = module.forward(*args, **kwargs)
        for number, hook in _hooks(module, "_forward_hooks"):
            called.add(number)
            result = _after(module, number, hook, args, kwargs, result)
        if backward:
            result = backward.outputs(result)
        return result
    except Exception:
        _failed(module, args, kwargs, result, called)
        raise
