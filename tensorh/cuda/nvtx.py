"""torch.cuda.nvtx: marks for NVIDIA's profilers. None is told of them, so the answers are those
that torch gives where no profiler listens; torch.profiler.record_function has names of its own."""

from contextlib import contextmanager

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]
_NOBODY_LISTENS = -2  # of NVTX, in place of a depth


def range_push(msg):
    """-2: no profiler listens."""
    return _NOBODY_LISTENS


def range_pop():
    """-2: no profiler listens."""
    return _NOBODY_LISTENS


def range_start(msg):
    """0: no profiler listens."""
    return 0


def range_end(range_id):
    """Returns: no profiler listens."""


def mark(msg):
    """Returns: no profiler listens."""


@contextmanager
def range(msg, *args, **kwargs):
    """A block, or a function, by a name, whose places args and kwargs fill."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
