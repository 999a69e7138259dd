"""torch.accelerator: the GPUs of torch.cuda, for programs that do not name the kind."""

from . import _C, cuda

__all__ = [
    "current_accelerator",
    "current_device_index",
    "device_count",
    "device_index",
    "empty_cache",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_index",
    "synchronize",
]


def is_available():
    """Whether there is a device; never an error."""
    return cuda.is_available()


def device_count():
    """How many devices there are."""
    return cuda.device_count()


def current_accelerator(check_available=False):
    """torch.device("cuda"), or None where there is none."""
    return _C.device("cuda") if is_available() else None


def _there():
    if not is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def current_device_index():
    """The number of the thread's current device."""
    _there()
    return cuda.current_device()


def set_device_index(device):
    """Makes a device the thread's current one."""
    _there()
    cuda.set_device(device)


def synchronize(device=None):
    """Waits until a device has done all that was asked."""
    _there()
    cuda.synchronize(device)


device_index = cuda.device
empty_cache = cuda.empty_cache
get_memory_info = cuda.mem_get_info
max_memory_allocated = cuda.max_memory_allocated
memory_allocated = cuda.memory_allocated
memory_reserved = cuda.memory_reserved
memory_stats = cuda.memory_stats
reset_peak_memory_stats = cuda.reset_peak_memory_stats


def __getattr__(name):
    from ._missing import error

    raise error("torch.accelerator", name)
