"""torch.accelerator: the GPUs of torch.cuda, for programs that do not name the kind."""

from . import _C, cuda

__all__ = [
    "Graph",
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "empty_host_cache",
    "get_device_capability",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
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


def set_device_index(device, /):
    """Makes a device the thread's current one."""
    _there()
    cuda.set_device(device)


current_device_idx, set_device_idx = current_device_index, set_device_index


def synchronize(device=None, /):
    """Waits until a device has done all that was asked."""
    _there()
    cuda.synchronize(device)


def current_stream(device=None, /):
    """The thread's current stream of a device."""
    _there()
    return cuda.current_stream(device)


def set_stream(stream):
    """Makes a stream of a device current in this thread."""
    if not isinstance(stream, cuda.Stream):
        raise TypeError(f"set_stream(): expected a torch.cuda.Stream, got {type(stream).__name__}")
    cuda.set_stream(stream)


def get_device_capability(device=None, /):
    """{"supported_dtypes": the dtypes that a device computes in}: all of the CPU."""
    from ._functions.dtypes import _TYPE_NAMES

    _there()
    cuda.get_device_properties(device)  # an error where it is not there
    return {"supported_dtypes": set(_TYPE_NAMES)}


class Graph(cuda.CUDAGraph):
    """A graph of calls; a block captures them, in the current stream, which is not the default."""

    def __init__(self, keep_graph=False, *, pool=None, capture_error_mode="default"):
        super().__init__(keep_graph)
        self.graph_pool, self.capture_error_mode = pool, capture_error_mode

    def capture_begin(self):
        """What this thread asks of devices from now on is captured."""
        mode = self.capture_error_mode
        mode = "global" if mode == "default" else mode
        super().capture_begin(pool=self.graph_pool, capture_error_mode=mode)

    def __enter__(self):
        synchronize()
        empty_cache()
        self.capture_begin()

    def __exit__(self, type, value, traceback):
        if type is None:
            self.capture_end()
        else:
            self.reset()


def empty_host_cache():
    """empty_cache: it gives back pinned memory, too."""
    cuda.empty_cache()


def reset_peak_memory_stats(device_index=None, /):
    """max_memory_allocated and max_memory_reserved begin again; nothing where no device is used."""
    if cuda.is_initialized():
        cuda.reset_peak_memory_stats(device_index)


def reset_accumulated_memory_stats(device_index=None, /):
    """Returns: no number of memory_stats is one that torch begins again here."""
    if cuda.is_initialized():
        cuda.reset_accumulated_memory_stats(device_index)


device_index = cuda.device
empty_cache = cuda.empty_cache
get_memory_info = cuda.mem_get_info
max_memory_allocated = cuda.max_memory_allocated
max_memory_reserved = cuda.max_memory_reserved
memory_allocated = cuda.memory_allocated
memory_reserved = cuda.memory_reserved
memory_stats = cuda.memory_stats


def __getattr__(name):
    from ._missing import error

    raise error("torch.accelerator", name)
