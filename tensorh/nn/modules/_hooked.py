"""The call of a module that has hooks (torch's order and rules)."""

import warnings


def _before(module, args, kwargs):
    named = module._forward_pre_hooks_with_kwargs
    for number, hook in list(module._forward_pre_hooks.items()):
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
    if number in module._forward_hooks_with_kwargs:
        out = hook(module, args, kwargs, result)
    else:
        out = hook(module, args, result)
    return result if out is None else out


def _failed(module, args, kwargs, result, called):
    """Hooks that are called always, after an error."""
    for number, hook in list(module._forward_hooks.items()):
        if number in module._forward_hooks_always_called and number not in called:
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
    result, called, backward = None, set(), None
    try:
        args, kwargs = _before(module, args, kwargs)
        if module._backward_hooks or module._backward_pre_hooks:
            from ._backward import Backward

            backward = Backward(module)
            args = backward.inputs(args)
        result = module.forward(*args, **kwargs)
        for number, hook in list(module._forward_hooks.items()):
            called.add(number)
            result = _after(module, number, hook, args, kwargs, result)
        if backward:
            result = backward.outputs(result)
        return result
    except Exception:
        _failed(module, args, kwargs, result, called)
        raise
