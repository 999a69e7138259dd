"""torch.utils.checkpoint - parts of a model that keep no graph, and run again in backward."""

from .. import _C, autograd

__all__ = ["checkpoint", "checkpoint_sequential"]


class _Checkpoint(autograd.Function):
    """Runs `run(inputs)` -> tensors without a graph, and with one when gradients are asked for."""

    @staticmethod
    def forward(ctx, run, preserve, *inputs):
        ctx.run, ctx.state = run, _C.default_generator.get_state() if preserve else None
        ctx.save_for_backward(*inputs)
        return run(inputs)

    @staticmethod
    def backward(ctx, *grads):
        saved = ctx.saved_tensors
        inputs = [t.detach().requires_grad_(t.requires_grad) for t in saved]
        now = _C.default_generator.get_state()
        if ctx.state is not None:
            _C.default_generator.set_state(ctx.state)
        try:
            with autograd.enable_grad():
                outputs = ctx.run(inputs)
        finally:
            if ctx.state is not None:
                _C.default_generator.set_state(now)
        wanted = [
            (o, g) for o, g in zip(outputs, grads, strict=True) if g is not None and o.requires_grad
        ]
        if wanted:
            autograd.backward([o for o, _ in wanted], [g for _, g in wanted])
        return None, None, *(t.grad for t in inputs)


def _is_tensor(o):
    return isinstance(o, _C.Tensor)


class _Call:
    """A call whose tensors among the arguments, and among the results, are taken out."""

    def __init__(self, function, args, kwargs):
        self._function, self._args, self._kwargs = function, args, kwargs
        self.inputs = [a for a in (*args, *kwargs.values()) if _is_tensor(a)]
        self._result = None

    def __call__(self, inputs):
        given = iter(inputs)
        args = [next(given) if _is_tensor(a) else a for a in self._args]
        kwargs = {k: next(given) if _is_tensor(a) else a for k, a in self._kwargs.items()}
        result = self._function(*args, **kwargs)
        members = list(result) if isinstance(result, (tuple, list)) else [result]
        outputs = tuple(m for m in members if _is_tensor(m))
        if not outputs:
            raise TypeError("checkpoint: a function that returns tensors is expected")
        if self._result is None:  # what is no tensor, of the first run
            self._result = type(result), [None if _is_tensor(m) else (m,) for m in members]
        return outputs

    def fill(self, outputs):
        """The result, with these tensors in it."""
        kind, members = self._result
        given = iter(outputs)
        filled = [next(given) if m is None else m[0] for m in members]
        if kind not in (tuple, list) and not hasattr(kind, "_fields"):
            return filled[0]
        return kind(*filled) if hasattr(kind, "_fields") else kind(filled)


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

    Tensors in args and kwargs, in the tuple or list that is returned, and parameters that the
    function uses get their gradients. The random state of the second run is that of the first,
    unless preserve_rng_state is False. As with torch's use_reentrant=True, whatever is asked for,
    parameters gather .grad also in autograd.grad, and gradients cannot be differentiated again.
    """
    if context_fn is not None:
        raise NotImplementedError("checkpoint: context_fn is not supported")
    call = _Call(function, args, kwargs)
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    inputs, run = call.inputs, call
    if not any(t.requires_grad for t in inputs):  # parameters may be what is trained
        inputs = [*inputs, _C.zeros(0, requires_grad=True)]
    outputs = _Checkpoint.apply(run, preserve_rng_state, *inputs)
    return call.fill(outputs if isinstance(outputs, tuple) else (outputs,))


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
