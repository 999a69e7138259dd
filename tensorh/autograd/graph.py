"""torch.autograd.graph: what there is to see and to hook of recorded calls."""

import threading
from contextlib import contextmanager
from typing import NamedTuple

from .. import _C

__all__ = [
    "GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


Node = _C._Node


class GradientEdge(NamedTuple):
    """A result of a recorded call: its node, and which of the node's results it is."""

    node: object
    output_nr: int
    ownership_token: object = None


def get_gradient_edge(tensor):
    """The edge of a tensor that has a grad_fn."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does "
                           "not require gradients")  # fmt: skip
    return GradientEdge(tensor.grad_fn, tensor.output_nr)


def increment_version(tensor):
    """Counts a write to a tensor or to each of several, which autograd then knows of."""
    for t in [tensor] if isinstance(tensor, _C.Tensor) else tensor:
        if t.is_inference():  # of which autograd knows nothing
            continue
        if t.layout is not _C.strided:
            _C._sparse_set(t, t)
            continue
        with _C.no_grad():  # a write to none of its elements
            t.detach().as_strided((0,), (1,)).zero_()


_disabled = threading.local()


class saved_tensors_hooks:
    """A block in which each tensor that a call keeps for backward goes through pack_hook, and what
    that returned through unpack_hook when backward reads it. Inner blocks count."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        message = getattr(_disabled, "message", None)
        if message is not None:
            raise RuntimeError(message)
        _C._push_saved_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc):
        _C._pop_saved_hooks()


class save_on_cpu(saved_tensors_hooks):
    """A block whose kept values are moved to the CPU, and back in backward."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        from .. import cuda, empty

        def pack(tensor):
            if not pin_memory:
                return tensor.device, tensor.cpu()
            packed = empty(tensor.size(), dtype=tensor.dtype,
                           pin_memory=cuda.is_available())  # fmt: skip
            packed.copy_(tensor)
            return tensor.device, packed

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message):
    """A block in which saved_tensors_hooks raises RuntimeError(error_message)."""
    before = getattr(_disabled, "message", None)
    _disabled.message = error_message
    try:
        yield
    finally:
        _disabled.message = before


def _hooks_are_enabled():
    return getattr(_disabled, "message", None) is None


class _Handle:
    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        """Takes the hooks away."""
        for h in self.handles:
            h.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """fn(grads) when the gradients of all tensors are known. Each backward has to reach all of
    them, for when one ends is not seen here; so mode="any" is refused."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        raise NotImplementedError('register_multi_grad_hook: mode="any" is not here')
    tensors, lock = list(tensors), threading.Lock()
    state = {"grads": [None] * len(tensors), "count": 0}

    def hook_of(i):
        def hook(grad):
            with lock:
                state["grads"][i] = grad
                state["count"] += 1
                call = state["count"] == len(tensors)
                grads = state["grads"]
                if call:
                    state.update(grads=[None] * len(tensors), count=0)
            if call:
                fn(grads)

        return hook

    return _Handle([t.register_hook(hook_of(i)) for i, t in enumerate(tensors)])


def __getattr__(name):
    from .._missing import error

    raise error("torch.autograd.graph", name)
