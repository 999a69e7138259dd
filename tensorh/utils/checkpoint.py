"""torch.utils.checkpoint - parts of a model that keep no graph, and run again in backward."""

import contextlib
import copy
import warnings
import weakref

from .. import _C, autograd, cuda

__all__ = [
    "CheckpointError", "check_backward_validity", "checkpoint", "checkpoint_sequential",
    "detach_variable", "get_device_states", "noop_context_fn", "set_checkpoint_early_stop",
    "set_device_states",
]  # fmt: skip


class CheckpointError(RuntimeError):
    """The second run of a function does not keep what the first one did."""


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
        with self.first_time():
            return self(inputs)

    def run(self):
        """The function with its arguments as they are."""
        return self._function(*self._args[0], **self._args[1])

    @contextlib.contextmanager
    def first_time(self):
        """A block with the random numbers and the autocast that were when this was made."""
        autocast = _C._set_autocast(self._autocast)
        try:
            if self._state is None:
                yield
                return
            now = _C.default_generator.get_state()
            _C.default_generator.set_state(self._state)
            try:
                yield
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


class _Kept:
    """Stands in the graph for a tensor that the first run would have kept."""

    __slots__ = ("__weakref__", "about")

    def __init__(self, about):
        self.about = about


def _about(t):
    """What the tensor of a second run has to be like."""
    return t.shape, t.dtype, t.device


class _Frame:
    """A checkpoint with use_reentrant=False: what calls keep is given up, and computed again at
    once where backward first asks for some of it."""

    def __init__(self, call, again, compares):
        self._call, self._again, self._compares = call, again, compares
        self._kept = []  # a weak reference to each place, in the order in which calls keep
        self._values = weakref.WeakKeyDictionary()

    def pack(self, t):
        """Of the first run."""
        kept = _Kept(_about(t) if self._compares else None)
        self._kept.append(weakref.ref(kept))
        return kept

    def unpack(self, kept):
        """Of backward."""
        if kept not in self._values:
            self._run_again()
        return self._values.pop(kept)

    def _run_again(self):
        count = 0

        def pack(t):
            nonlocal count
            place = self._kept[count]() if count < len(self._kept) else None
            if place is not None:
                if place.about is not None and place.about != _about(t):
                    raise CheckpointError(
                        "torch.utils.checkpoint: Recomputed values for the following tensors have "
                        "different metadata than during the forward pass.\n"
                        f"tensor at position {count}:\nsaved metadata: {place.about}\n"
                        f"recomputed metadata: {_about(t)}"
                    )
                self._values[place] = t.detach()
            count += 1
            return None

        def unpack(packed):
            raise CheckpointError("torch.utils.checkpoint: a tensor of the second run is read")

        from ..autograd.graph import saved_tensors_hooks

        with self._call.first_time(), autograd.enable_grad(), self._again():
            with saved_tensors_hooks(pack, unpack):
                self._call.run()
        if count != len(self._kept):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self._kept)}\n"
                f"Number of tensors saved during recomputation: {count}."
            )


def _checkpoint_by_hooks(function, args, kwargs, preserve, context_fn, compares):
    from ..autograd.graph import saved_tensors_hooks

    first, again = context_fn() if context_fn else (contextlib.nullcontext(),) * 2
    call = _Call(function, (args, kwargs), preserve)
    frame = _Frame(call, lambda: again, compares)
    with first, saved_tensors_hooks(frame.pack, frame.unpack):
        return call.run()


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
    first, unless preserve_rng_state is False.

    With use_reentrant=False the function is recorded as ever, but what its calls keep is given up;
    backward runs the function again for it. context_fn() gives two blocks, around the first and the
    second run; determinism_check="none" leaves out that shapes and dtypes are compared. Else, as
    with torch's use_reentrant=True, parameters gather .grad also in autograd.grad, and gradients
    cannot be differentiated again.
    """
    if use_reentrant is not False and (context_fn is not None or debug):
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    if use_reentrant is False and determinism_check not in ("default", "none"):
        raise ValueError(
            "determinism_check should be one of ['default', 'none'] but got "
            f"{determinism_check}"
        )
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    if use_reentrant is False:
        compares = determinism_check != "none"
        return _checkpoint_by_hooks(
            function, args, kwargs, preserve_rng_state, context_fn, compares
        )
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
        input = checkpoint(  # noqa: A001
            part(at, at + size), input, use_reentrant=use_reentrant, **kwargs
        )
        at += size
    return part(at, len(functions))(input)


# --- for programs that write checkpoints of their own ---------------------------------------------


def detach_variable(inputs):
    """A tuple whose tensors are leaves of a new graph, which require what they required."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(
        t.detach().requires_grad_(t.requires_grad) if isinstance(t, _C.Tensor) else t
        for t in inputs
    )


def check_backward_validity(inputs):
    """A warning if no tensor among the inputs requires a gradient."""
    if not any(t.requires_grad for t in inputs if isinstance(t, _C.Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


def get_device_states(*args):
    """The numbers of the GPUs that the tensors among args lie on, and their random states."""
    places = [t.device for t in _take_tensors(args)[1] if t.device.type == "cuda"]
    return [p.index for p in places], [cuda.get_rng_state(p) for p in places]


def set_device_states(devices, states, *, device_type=None):
    """Gives the GPUs of these numbers those random states."""
    if device_type in (None, "cuda"):
        for number, state in zip(devices, states, strict=False):
            cuda.set_rng_state(state, number)


def noop_context_fn():
    """Two blocks that change nothing: a context_fn of checkpoint."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """A block that changes nothing: the second run always goes on to the function's end."""
    yield


def __getattr__(name):
    from .._missing import error

    raise error("torch.utils.checkpoint", name)
