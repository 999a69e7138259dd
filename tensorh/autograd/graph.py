"""torch.autograd.graph: what there is to see and to hook of recorded calls."""

import threading
from contextlib import contextmanager
from typing import NamedTuple

from .. import _C

__all__ = [
    "GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu",
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
        with _C.no_grad():
            whole = t.detach()
            whole.copy_(whole)


class save_on_cpu:
    """A block whose kept values torch moves to the CPU. Those of tensors on the CPU are there;
    pin_memory and other devices are refused."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        if pin_memory:
            raise NotImplementedError("save_on_cpu: kept values are not pinned")

    def __enter__(self):
        from .. import cuda

        if cuda.is_initialized():
            raise NotImplementedError("save_on_cpu: kept values of a GPU stay there")

    def __exit__(self, *exc):
        return None


@contextmanager
def disable_saved_tensors_hooks(error_message):
    """A block without hooks of kept values, of which there are none."""
    yield


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
