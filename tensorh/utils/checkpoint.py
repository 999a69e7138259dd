"""torch.utils.checkpoint - parts of a model that keep no graph, and run again in backward."""

import copy

from .. import _C, autograd

__all__ = ["checkpoint", "checkpoint_sequential"]


class _Input:
    """Stands among arguments for the tensor of that number."""

    def __init__(self, number):
        self.number = number


def _replace(tree, change):
    """The tree of tuples, lists and dictionaries with change(leaf) in the place of each leaf. What
    holds nothing that changes is the same object."""
    if isinstance(tree, (tuple, list)):
        members = [_replace(t, change) for t in tree]
        if all(a is b for a, b in zip(members, tree, strict=True)):
            return tree
        return type(tree)(*members) if hasattr(tree, "_fields") else type(tree)(members)
    if isinstance(tree, dict):
        changed = {k: t for k, old in tree.items() if (t := _replace(old, change)) is not old}
        if changed:
            tree = copy.copy(tree)
            for k, t in changed.items():
                tree[k] = t
        return tree
    return change(tree)


def _take_tensors(args):
    """The arguments without their tensors, and those."""
    inputs = []

    def take(a):
        if not isinstance(a, _C.Tensor):
            return a
        inputs.append(a)
        return _Input(len(inputs) - 1)

    return _replace(args, take), inputs


class _Call:
    """A call that can run again: it holds the function and what is no tensor of its arguments."""

    def __init__(self, function, args, preserve):
        self._function, self._args = function, args
        self._state = _C.default_generator.get_state() if preserve else None
        self._autocast = _C._set_autocast(None)
        _C._set_autocast(self._autocast)

    def __call__(self, inputs):
        """What the function returns of these tensors, with a graph that ends at them."""
        given = [t.detach().requires_grad_() if t.requires_grad else t for t in inputs]
        args, kwargs = _replace(self._args, lambda a: given[a.number] if type(a) is _Input else a)
        with autograd.enable_grad():
            return given, self._function(*args, **kwargs)

    def again(self, inputs):
        """The same, with the random numbers and the autocast of the first time."""
        autocast = _C._set_autocast(self._autocast)
        try:
            if self._state is None:
                return self(inputs)
            now = _C.default_generator.get_state()
            _C.default_generator.set_state(self._state)
            try:
                return self(inputs)
            finally:
                _C.default_generator.set_state(now)
        finally:
            _C._set_autocast(autocast)


class _Checkpoint(autograd.Function):
    """Stands for a call in the graph: outputs are those tensors of its result that have one."""

    @staticmethod
    def forward(ctx, call, outputs, place, *inputs):
        ctx.call = call
        ctx.save_for_backward(*inputs)
        return outputs

    @staticmethod
    def backward(ctx, *grads):
        given, result = ctx.call.again(ctx.saved_tensors)
        outputs = _recorded(result)
        if len(outputs) != len(grads):
            raise RuntimeError("checkpoint: the function does not return the same tensors again")
        wanted = [(o, g) for o, g in zip(outputs, grads, strict=True) if g is not None]
        if wanted:
            autograd.backward([o for o, _ in wanted], [g for _, g in wanted])
        return None, None, None, *(t.grad if t.requires_grad else None for t in given)


def _recorded(result):
    """The tensors of a result that have a gradient."""
    outputs = []

    def look(o):
        if isinstance(o, _C.Tensor) and o.requires_grad:
            outputs.append(o)
        return o

    _replace(result, look)
    return outputs


def _lost(grad):
    raise RuntimeError(
        "checkpoint: a gradient comes from a tensor that the function has kept, or has returned "
        "in an object that is no tuple, list or dict"
    )


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    preserve_rng_state=True,
    context_fn=None,
    determinism_check="default",
    debug=False,
    early_stop=True,
    **kwargs,
):
    """function(*args, **kwargs), computed again in backward instead of being kept.

    Tensors in args, kwargs and the result, also in tuples, lists and dictionaries, and parameters
    that the function uses get their gradients. The random state of the second run is that of the
    first, unless preserve_rng_state is False. As with torch's use_reentrant=True, whatever is asked
    for, parameters gather .grad also in autograd.grad, and gradients cannot be differentiated
    again.
    """
    if context_fn is not None:
        raise NotImplementedError("checkpoint: context_fn is not supported")
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    taken, inputs = _take_tensors((args, kwargs))
    call = _Call(function, taken, preserve_rng_state)
    given, result = call(inputs)
    for t in given:
        if t.requires_grad:
            t.register_hook(_lost)
    outputs = tuple(o.detach() for o in _recorded(result))
    if not outputs:
        return result
    place = _C.zeros(0, requires_grad=True)  # parameters alone may be what has a gradient
    outputs = _Checkpoint.apply(call, outputs, place, *inputs)
    left = iter(outputs if isinstance(outputs, tuple) else (outputs,))
    return _replace(
        result, lambda o: next(left) if isinstance(o, _C.Tensor) and o.requires_grad else o
    )


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):  # noqa: A002
    """Modules one after the other, in segments of which all but the last are checkpoints."""
    functions = list(functions.children() if hasattr(functions, "children") else functions)
    size = len(functions) // segments

    def part(begin, end):
        def run(x):
            for f in functions[begin:end]:
                x = f(x)
            return x

        return run

    at = 0
    for _ in range(segments - 1):
        input = checkpoint(part(at, at + size), input, **kwargs)  # noqa: A001
        at += size
    return part(at, len(functions))(input)


def __getattr__(name):
    from .._missing import error

    raise error("torch.utils.checkpoint", name)
