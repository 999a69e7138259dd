"""torch.multiprocessing: Python's multiprocessing, which sends tensors as shared memory.

A tensor that is put into a queue, a pipe or the arguments of a process moves to shared memory
(`share_memory_`), and the other process gets a tensor over the same bytes. Of a view of a tensor
that is not shared a queue or pipe sends a copy; a process refuses it. The memory has no name:
it goes with the last process that has it, however that one ends.
"""

import multiprocessing as _multiprocessing
import sys as _sys
from multiprocessing import *  # noqa: F403

from .reductions import init_reductions
from .spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *_multiprocessing.__all__, "ProcessContext", "ProcessException", "ProcessExitedException",
    "ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies",
    "get_sharing_strategy", "init_reductions", "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip
init_reductions()


def get_all_sharing_strategies():
    """{"file_descriptor"}: memory without a name, whose descriptor is sent."""
    return {"file_descriptor"}


def get_sharing_strategy():
    """ "file_descriptor"."""
    return "file_descriptor"


def set_sharing_strategy(new_strategy):
    """Accepts "file_descriptor", and "file_system", which changes nothing: memory that has a name
    stays behind when processes are killed."""
    if new_strategy not in ("file_descriptor", "file_system"):
        raise AssertionError(f"there is no sharing strategy {new_strategy!r}")


def __getattr__(name):
    if name in ("pool", "queue", "queues", "reduction"):
        import importlib

        return importlib.import_module("multiprocessing." + ("queues" if name == "queue" else name))
    if hasattr(_multiprocessing, name):
        return getattr(_multiprocessing, name)
    from .._missing import error

    raise error("torch.multiprocessing", name)


_spawn = _sys.modules[__name__ + ".spawn"]
