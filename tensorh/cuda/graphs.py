"""Graphs of torch.cuda: calls of a thread that are captured, which computes nothing, and then
carried out again and again by replays. A graph keeps all tensors of its calls, so each has memory
of its own, and pools have no meaning; random numbers are drawn anew by each replay."""

import functools
import gc
import itertools

from .. import _C
from .streams import current_stream, default_stream, stream

_pools = itertools.count(1)
_MODES = ("global", "thread_local", "relaxed")


def is_current_stream_capturing():
    """Whether calls of this thread are captured, in whichever stream."""
    return _C._graph_captures()


def graph_pool_handle():
    """A token that graphs take as their pool; they share no memory."""
    return 0, next(_pools)


class CUDAGraph:
    """A graph, empty until calls were captured into it. keep_graph changes nothing: CUDA's own
    graphs are made by the first replay in any case."""

    def __init__(self, keep_graph=False):
        self._at = self._stream = self._made = self._pool = None

    def capture_begin(self, pool=None, capture_error_mode="global", check_input_liveness=False):
        """What this thread asks of devices from now on is captured. The modes are torch's and mean
        the same here: only what this thread does in a way that no replay could repeat is refused.
        The graph keeps its inputs, so there is nothing to check of their liveness."""
        if capture_error_mode not in _MODES:
            raise RuntimeError(
                "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, "
                f"got {capture_error_mode}"
            )
        if self._at is not None or self._stream is not None:
            raise RuntimeError(
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, "
                "create a new instance."
            )
        now = current_stream()
        if now == default_stream():
            raise RuntimeError(
                "CUDA graphs must be captured on a non-default stream. (However, after capture, "
                "it's ok to replay them on the default stream.)"
            )
        _C._graph_begin()
        self._stream = now
        self._pool = graph_pool_handle() if pool is None else getattr(pool, "id", pool)

    def capture_end(self):
        """Until here."""
        if self._stream is None:
            raise RuntimeError("capture_end: no capture into this graph is under way")
        if current_stream() != self._stream:
            raise RuntimeError("Capture must end on the same stream it began on.")
        began, self._stream = self._stream, None
        self._at = _C._graph_end()
        self._made = began.record_event()  # behind which its memory is the graph's own

    def instantiate(self):
        """Nothing: the first replay does it."""
        self._captured("instantiate")

    def replay(self):
        """What was captured is carried out, in the current stream of the capturing thread."""
        self._captured("replay")
        if self._made is not None:
            if self._made.query():
                self._made = None
            else:
                self._made.wait()
        _C._graph_replay(self._at)

    def reset(self):
        """Gives up what was captured, and the memory of tensors that nobody else has."""
        if self._stream is not None:
            _C._graph_end()
        self._at = self._stream = self._made = self._pool = None

    def register_generator_state(self, generator):
        """Nothing: a replay draws from each generator that the calls were given."""

    def pool(self):
        """The token of its pool, for other graphs."""
        self._captured("pool()")
        return self._pool

    def _captured(self, name):
        if self._at is None:
            raise RuntimeError(f"Called CUDAGraph::{name} without a preceding successful capture.")


class graph:
    """with torch.cuda.graph(g): the block's calls are captured into g, in a stream of their own or
    the given one. A block that ends by an exception leaves g empty."""

    default_capture_stream = None

    def __init__(
        self,
        cuda_graph,
        pool=None,
        stream=None,
        capture_error_mode="global",
        check_input_liveness=False,
    ):
        from . import Stream

        if stream is None and graph.default_capture_stream is None:
            graph.default_capture_stream = Stream()
        self.cuda_graph = cuda_graph
        self.pool = () if pool is None else (pool,)
        self.capture_stream = graph.default_capture_stream if stream is None else stream
        self.capture_error_mode = capture_error_mode

    def __enter__(self):
        from . import empty_cache, synchronize

        synchronize()
        gc.collect()
        empty_cache()
        self._within = stream(self.capture_stream)
        self._within.__enter__()
        try:
            self.cuda_graph.capture_begin(*self.pool, capture_error_mode=self.capture_error_mode)
        except BaseException as e:
            self._within.__exit__(type(e), e, e.__traceback__)
            raise

    def __exit__(self, type, value, traceback):
        try:
            if type is None:
                self.cuda_graph.capture_end()
            else:
                self.cuda_graph.reset()
        finally:
            self._within.__exit__(type, value, traceback)
        return False


# --- callables ------------------------------------------------------------------------------------


class _Graphed:
    """A function or module, its forward and backward as graphs over inputs that stay."""

    def __init__(self, call, args):
        from ..nn import Module
        from ..utils import _pytree

        self.call, self.args = call, args
        own = []
        if isinstance(call, Module):
            if call._backward_hooks or call._forward_hooks or call._forward_pre_hooks:
                raise AssertionError(
                    "Modules must not have hooks registered at the time they are passed. However, "
                    "registering hooks on modules after passing them through "
                    "make_graphed_callables is allowed."
                )
            if any(b.requires_grad for b in call.buffers()):
                raise AssertionError(
                    "only parameters of a module may require a gradient, no buffers"
                )
            own = list(call.parameters())
        given = _pytree.tree_leaves(args)
        if not all(isinstance(a, _C.Tensor) for a in given):
            raise AssertionError(
                "In the beta API, sample_args for each callable must contain only Tensors. Other "
                "types are not allowed."
            )
        self.given, self.own, self.inputs = len(given), own, [*given, *own]
        self.wanted = [i for i in self.inputs if i.requires_grad]
        self.forward, self.backward = CUDAGraph(), CUDAGraph()

    def warm_up(self, times, unused):
        from ..autograd import grad
        from ..utils import _pytree

        for _ in range(times):
            outputs = [o for o in _pytree.tree_leaves(self.call(*self.args)) if o.requires_grad]
            if outputs:
                with_grads = [_C.ones_like(o) for o in outputs]
                grad(outputs, self.wanted, with_grads, allow_unused=unused)

    def capture_forward(self, **how):
        from ..utils import _pytree

        with graph(self.forward, **how):
            result = self.call(*self.args)
        self.outputs, self.form = _pytree.tree_flatten(result)

    def capture_backward(self, unused, **how):
        from ..autograd import grad

        self.coming = [_C.empty_like(o) if o.requires_grad else None for o in self.outputs]
        outputs = [o for o in self.outputs if o.requires_grad]
        found = ()
        if outputs:
            with graph(self.backward, **how):
                coming = [g for g in self.coming if g is not None]
                found = grad(outputs, self.wanted, coming, allow_unused=unused)
        found = iter(found)
        self.grads = [next(found, None) if i.requires_grad else None for i in self.inputs]

    def __call__(self, *args):
        from ..utils import _pytree

        results = _replay().apply(self, *_pytree.tree_leaves(args), *self.own)
        results = list(results) if isinstance(results, tuple) else [results]
        return _pytree.tree_unflatten(results, self.form)


@functools.cache
def _replay():
    """The function of autograd that replays a callable."""
    from ..autograd.function import Function, once_differentiable

    class Replay(Function):
        @staticmethod
        def forward(ctx, of, *inputs):
            ctx.of = of
            for mine, other in zip(of.inputs[: of.given], inputs, strict=False):
                if mine.data_ptr() != other.data_ptr():
                    mine.copy_(other)
            of.forward.replay()
            return tuple(o.detach() for o in of.outputs)

        @staticmethod
        @once_differentiable
        def backward(ctx, *grads):
            of = ctx.of
            for mine, other in zip(of.coming, grads, strict=True):
                if mine is not None and mine.data_ptr() != other.data_ptr():
                    mine.copy_(other)
            of.backward.replay()
            return (None, *(None if g is None else g.detach() for g in of.grads))

    return Replay


def _as_module(module, graphed):
    """The module, whose forward replays in the mode in which it was captured."""
    training, forward = module.training, module.forward

    def call(*args, **kwargs):
        return (graphed if module.training == training else forward)(*args, **kwargs)

    module.forward = call
    return module


def make_graphed_callables(
    callables,
    sample_args,
    num_warmup_iters=3,
    allow_unused_input=False,
    pool=None,
    capture_error_mode="global",
):
    """Functions or modules of tensors, or a tuple of them with a tuple of sample_args each: their
    forward and backward are captured, and each call replays them. What a call returns holds until
    the next one."""
    from .. import is_autocast_cache_enabled, is_autocast_enabled
    from ..nn import Module
    from . import Stream, synchronize

    if is_autocast_enabled() and is_autocast_cache_enabled():
        raise RuntimeError(
            "make_graphed_callables does not support the autocast caching. Please set "
            "`cache_enabled=False`."
        )
    several = isinstance(callables, tuple)
    pairs = zip(callables, sample_args, strict=True) if several else [(callables, sample_args)]
    all_of = [_Graphed(call, args) for call, args in pairs]
    how = {
        "stream": Stream(),
        "pool": graph_pool_handle() if pool is None else pool,
        "capture_error_mode": capture_error_mode,
    }
    synchronize()
    with stream(how["stream"]):
        for one in all_of:
            one.warm_up(num_warmup_iters, allow_unused_input)
    for one in all_of:
        one.capture_forward(**how)
    for one in reversed(all_of):
        one.capture_backward(allow_unused_input, **how)
    made = [_as_module(one.call, one) if isinstance(one.call, Module) else one for one in all_of]
    return tuple(made) if several else made[0]
