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
from .memory import *  # noqa: F403
from .random import *  # noqa: F403
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
    "CudaError",
    "DeferredCudaCallError",
    "Event",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "clock_rate",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_sync_debug_mode",
    "graph",
    "graph_pool_handle",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "make_graphed_callables",
    "memory_usage",
    "power_draw",
    "set_device",
    "set_stream",
    "set_sync_debug_mode",
    "stream",
    "synchronize",
    "temperature",
    "utilization",
]
__all__ += memory.__all__ + random.__all__  # noqa: F405
_number = _cuda.number
_WORDS = "BFloat16 Bool Byte Char Double Float Half Int Long Short".split()
_TYPES = {f"{word}Tensor" for word in _WORDS} | {
    f"{word}Storage" for word in [*_WORDS, "ComplexDouble", "ComplexFloat"]
}
has_half = True
has_magma = False
OutOfMemoryError = _C.OutOfMemoryError


class CudaError(RuntimeError):
    """An error of the driver, by its number; only torch.cuda.profiler raises it."""

    def __init__(self, code):
        super().__init__(f"the driver's error {code}")


class DeferredCudaCallError(Exception):
    """Never raised here: no call is deferred until devices are found."""


# --- devices --------------------------------------------------------------------------------------


def is_available():
    """Whether there is a device; never an error."""
    return device_count() > 0


def device_count():
    """How many devices there are."""
    return _cuda.count()


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


def can_device_access_peer(device, peer_device):
    """False: what goes from device to device goes through the host."""
    init()
    for one, what in ((_number(device), "device"), (_number(peer_device), "peer device")):
        if not 0 <= (current_device() if one == -1 else one) < device_count():
            raise AssertionError(f"Invalid {what} id")
    return False


def ipc_collect():
    """Returns: processes do not share memory of devices."""
    init()


def get_sync_debug_mode():
    """0: waits of the host are not watched."""
    init()
    return 0


def set_sync_debug_mode(debug_mode):
    """Takes 0 or "default" alone: waits of the host are not watched."""
    init()
    known = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str):
        if debug_mode not in known:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`"
            )
        debug_mode = known[debug_mode]
    if debug_mode != 0:
        raise NotImplementedError("torch.cuda.set_sync_debug_mode: waits are not watched")


# --- asked of NVIDIA's management library ---------------------------------------------------------


def memory_usage(device=None):
    """The part of the last second in which memory was read or written, in percent."""
    nvml, handle = _cuda.nvml(device)
    return nvml.nvmlDeviceGetUtilizationRates(handle).memory


def utilization(device=None):
    """The part of the last second in which some kernel ran, in percent."""
    nvml, handle = _cuda.nvml(device)
    return nvml.nvmlDeviceGetUtilizationRates(handle).gpu


def temperature(device=None):
    """Of the chip, in degrees Celsius."""
    nvml, handle = _cuda.nvml(device)
    return nvml.nvmlDeviceGetTemperature(handle, 0)


def power_draw(device=None):
    """In milliwatts."""
    nvml, handle = _cuda.nvml(device)
    return nvml.nvmlDeviceGetPowerUsage(handle)


def clock_rate(device=None):
    """Of the multiprocessors, in MHz."""
    nvml, handle = _cuda.nvml(device)
    return nvml.nvmlDeviceGetClockInfo(handle, 1)


def device_memory_used(device=None):
    """Bytes in use by all programs."""
    nvml, handle = _cuda.nvml(device)
    return nvml.nvmlDeviceGetMemoryInfo(handle).used


def __getattr__(name):
    if name in ("amp", "nvtx", "profiler", "sparse"):
        import importlib

        return importlib.import_module("." + name, __name__)
    if name == "default_generators":  # one generator for all
        return (_C.default_generator,) * device_count()
    if name == "_initialized":
        return is_initialized()
    if name in _TYPES:
        from .._functions.dtypes import types_of
        from ..storage import legacy

        globals().update({**types_of("torch.cuda"), **legacy("torch.cuda", "cuda")})
        return globals()[name]
    from .._absent import name_of

    return name_of("cuda", name)
