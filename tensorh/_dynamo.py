"""torch._dynamo for programs that switch its compiler off or ask whether it works: it does not."""

from types import SimpleNamespace as _SimpleNamespace

from .compiler import allow_in_graph, assume_constant_result, disable, is_compiling, reset

__path__ = []  # below it are modules of _absent.py
__all__ = [
    "allow_in_graph", "assume_constant_result", "config", "disable", "disallow_in_graph",
    "graph_break", "is_compiling", "list_backends", "mark_dynamic", "mark_static", "optimize",
    "reset", "run",
]  # fmt: skip
config = _SimpleNamespace(suppress_errors=False, cache_size_limit=8, verbose=False)


def optimize(backend="inductor", **kwargs):
    """A decorator that changes nothing."""
    return lambda fn: fn


def disallow_in_graph(fn):
    """fn as it is."""
    return fn


def run(fn=None):
    """fn as it is."""
    return fn if fn is not None else run


def graph_break(msg=""):
    """There is no graph to break."""


def mark_dynamic(t, index, **kwargs):
    """No size is ever taken for a constant."""


def mark_static(t, index=None):
    """No size is ever taken for a constant."""


def list_backends(exclude_tags=()):
    """An empty list."""
    return []


def __getattr__(name):
    from ._absent import below

    module = below(__name__, name)
    if module is not None:
        return module
    from ._absent import name_of

    return name_of("_dynamo", name)
