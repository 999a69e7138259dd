"""torch.cuda: NVIDIA's GPUs. Their kernels are in a module of their own, libtensor_cuda.so, which
is looked for when a program asks (docs/python.md says where); without it there is no device."""

from .. import _C, _cuda
from .graphs import (
    CUDAGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
)
from .streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

__all__ = [
    "CUDAGraph",
    "Event",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "graph",
    "graph_pool_handle",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "make_graphed_callables",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_stream",
    "stream",
    "synchronize",
]
_number = _cuda.number
OutOfMemoryError = _C.OutOfMemoryError

# --- devices --------------------------------------------------------------------------------------


def is_available():
    """Whether there is a device; never an error."""
    return device_count() > 0


def device_count():
    """How many devices there are."""
    return _C._cuda_state()[0] if _cuda.why_not() is None else 0


def is_initialized():
    """Whether a device was asked for."""
    return _C._cuda_state()[1]


def init():
    """Finds the devices now; an error says why there is none."""
    _C._cuda_index(-1)


def current_device():
    """The number of the thread's current device, which "cuda" means."""
    return _C._cuda_index(-1)


def set_device(device):
    """Makes a device the thread's current one; a negative number changes nothing."""
    number = _number(device, default=None)
    if number is None:
        raise ValueError(
            "Expected a torch.device with a specified index or an integer, but got:" + str(device)
        )
    if number >= 0:
        _C._cuda_set(number)


class device:
    """A block in which a device is the thread's current one. None, a negative number: no change."""

    def __init__(self, device):
        self.idx = _number(device)
        self.prev_idx = -1

    def __enter__(self):
        if self.idx >= 0 and is_available():
            self.prev_idx = _C._cuda_set(self.idx)

    def __exit__(self, type, value, traceback):
        if self.prev_idx >= 0:
            _C._cuda_set(self.prev_idx)
        return False


class device_of(device):
    """The same with a tensor's device."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else None)


class _Properties:
    """What a device is."""

    def __init__(self, **facts):
        self.__dict__.update(facts)

    def __repr__(self):
        return (
            f"_CudaDeviceProperties(name={self.name!r}, major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, "
            f"multi_processor_count={self.multi_processor_count}, "
            f"L2_cache_size={self.L2_cache_size >> 20}MB)"
        )


def get_device_properties(device=None):
    """name, major, minor, total_memory, multi_processor_count, max_threads_per_multi_processor,
    L2_cache_size; sizes in bytes."""
    facts = _C._cuda_properties(_number(device))
    del facts["runtime"], facts["left"]
    return _Properties(warp_size=32, **facts)


def get_device_name(device=None):
    """The maker's name of a device."""
    return get_device_properties(device).name


def get_device_capability(device=None):
    """The compute capability, (major, minor)."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def is_bf16_supported(including_emulation=True):
    """Whether there is a device: all of them compute in bfloat16."""
    return is_available()


def is_tf32_supported():
    """False: no product is computed in TF32."""
    return False


def synchronize(device=None):
    """Waits until a device has done all that was asked, in all streams; an index out of range is
    told here."""
    _C._cuda_wait(_number(device))


# --- memory ---------------------------------------------------------------------------------------


def _memory(device):
    """(in use, at most, reserved, calls of the driver): zeros before the first use of a device."""
    return _C._cuda_memory(_number(device)) if is_initialized() else (0, 0, 0, 0)


def memory_allocated(device=None):
    """Bytes in use by tensors and workspaces."""
    return _memory(device)[0]


def max_memory_allocated(device=None):
    """The most bytes that were in use at a time."""
    return _memory(device)[1]


def memory_reserved(device=None):
    """Bytes taken from the driver: those in use, and those kept for the next tensors."""
    return _memory(device)[2]


def reset_peak_memory_stats(device=None):
    """max_memory_allocated begins again at what is in use."""
    _C._cuda_reset_peak(_number(device))


def empty_cache():
    """Gives back to the driver what is kept for the next tensors."""
    if is_initialized():
        _C._memory_trim()


def mem_get_info(device=None):
    """(free, all): bytes of a device's memory; free ones are those that no program uses."""
    number = _number(device)
    _C.empty(1, device=_C.device("cuda", _C._cuda_index(number)))  # it is asked of devices in use
    facts = _C._cuda_properties(number)
    return facts["left"], facts["total_memory"]


def memory_stats(device=None):
    """Those of torch's numbers that the library counts, by their names."""
    used, most, reserved, calls = _memory(device)
    return {
        "allocated_bytes.all.current": used,
        "allocated_bytes.all.peak": most,
        "num_device_alloc": calls,
        "reserved_bytes.all.current": reserved,
    }


def memory_summary(device=None, abbreviated=False):
    """The same as a text of a few lines."""
    return "\n".join(f"{name:<30}{n:>20,}" for name, n in memory_stats(device).items())


# --- random numbers -------------------------------------------------------------------------------


def manual_seed(seed):
    """Seeds the default generator, from which devices draw, too; nothing where there is none."""
    if is_available():
        _C.manual_seed(seed)


manual_seed_all = manual_seed


def seed():
    """The same with a random number."""
    if is_available():
        _C.default_generator.seed()


seed_all = seed


def get_rng_state(device="cuda"):
    """The state of the default generator, from which devices draw, too."""
    _C._cuda_index(_number(device))
    return _C.default_generator.get_state()


def set_rng_state(new_state, device="cuda"):
    """Sets it; nothing where there is no device."""
    if is_available():
        _C.default_generator.set_state(new_state)


def get_rng_state_all():
    """A state for each device."""
    return [get_rng_state(i) for i in range(device_count())]


def set_rng_state_all(new_states):
    """Sets a state for each device."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)


def initial_seed():
    """The seed of the default generator."""
    return _C.default_generator.initial_seed()


def __getattr__(name):
    if name == "amp":
        import importlib

        return importlib.import_module(".amp", __name__)
    from .._absent import name_of

    return name_of("cuda", name)
