"""torch.compiler and torch.compile: nothing is compiled; functions and modules stay as they are."""

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
    "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_stance",
    "substitute_in_graph",
]  # fmt: skip


def compile(
    model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None,
    disable=False,
):  # fmt: skip
    """model as it is; also a decorator, with or without arguments."""
    return model if model is not None else compile


def disable(fn=None, recursive=True, *, reason=None):
    """fn as it is; also a decorator."""
    return fn if fn is not None else disable


def allow_in_graph(fn):
    """fn as it is."""
    return fn


def assume_constant_result(fn):
    """fn as it is."""
    return fn


def substitute_in_graph(original_fn, **kwargs):
    """A decorator that changes nothing."""
    return lambda fn: fn


def reset():
    """Nothing is kept, so nothing is forgotten."""


def cudagraph_mark_step_begin():
    """There is no graph whose step could begin."""


def list_backends(exclude_tags=()):
    """An empty list."""
    return []


def is_compiling():
    """False."""
    return False


def is_dynamo_compiling():
    """False."""
    return False


def is_exporting():
    """False."""
    return False


class set_stance:
    """How a compiler would treat code: kept for nobody. A statement, a context or a decorator."""

    def __init__(self, stance="default", **kwargs):
        stances = (
            "default", "eager_on_recompile", "fail_on_recompile", "force_eager",
            "aot_eager_then_compile", "eager_then_compile",
        )  # fmt: skip
        if stance not in stances:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return None

    def __call__(self, fn):
        return fn


def __getattr__(name):
    from ._missing import error

    raise error("torch.compiler", name)
