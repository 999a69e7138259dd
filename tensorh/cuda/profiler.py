"""torch.cuda.profiler: where a profiler of NVIDIA's begins and ends to look, told by the driver."""

import ctypes
from contextlib import contextmanager

from .. import _C

__all__ = ["profile", "start", "stop"]


def _tell(name):
    _C._cuda_wait(-1)  # the device's context is the thread's
    failed = getattr(ctypes.CDLL("libcuda.so.1"), name)()
    if failed:
        from . import CudaError

        raise CudaError(failed)


def start():
    """A profiler begins here."""
    _tell("cuProfilerStart")


def stop():
    """A profiler ends here."""
    _tell("cuProfilerStop")


@contextmanager
def profile():
    """A block that a profiler looks at."""
    start()
    try:
        yield
    finally:
        stop()
