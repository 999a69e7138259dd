"""torch.cuda.memory: what devices hold, by the numbers that the library's cache counts: 0 before a
device is used."""

import warnings

from .. import _C, _cuda

__all__ = [
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "list_gpu_processes",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]
_number = _cuda.number


def _memory(device):
    """(in use, at most, reserved, calls of the driver, reserved at most, limit): zeros before the
    first use of a device."""
    return _C._cuda_memory(_number(device)) if _C._cuda_state()[1] else (0,) * 6


def memory_allocated(device=None):
    """Bytes in use by tensors and workspaces."""
    return _memory(device)[0]


def max_memory_allocated(device=None):
    """The most bytes that were in use at a time."""
    return _memory(device)[1]


def memory_reserved(device=None):
    """Bytes taken from the driver: those in use, and those kept for the next tensors."""
    return _memory(device)[2]


def max_memory_reserved(device=None):
    """The most bytes that were taken from the driver at a time."""
    return _memory(device)[4]


def _renamed(old, new):
    warnings.warn(
        f"`torch.cuda.{old}` has been renamed to `torch.cuda.{new}`", FutureWarning, stacklevel=3
    )


def memory_cached(device=None):
    """memory_reserved."""
    _renamed("memory_cached", "memory_reserved")
    return memory_reserved(device)


def max_memory_cached(device=None):
    """max_memory_reserved."""
    _renamed("max_memory_cached", "max_memory_reserved")
    return max_memory_reserved(device)


def reset_peak_memory_stats(device=None):
    """max_memory_allocated and max_memory_reserved begin again at what is in use and reserved."""
    _C._cuda_reset_peak(_number(device))


def _resets_all(name):
    warnings.warn(
        f"torch.cuda.{name} now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak "
        "memory stats.",
        FutureWarning,
        stacklevel=3,
    )


def reset_max_memory_allocated(device=None):
    """reset_peak_memory_stats."""
    _resets_all("reset_max_memory_allocated")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device=None):
    """reset_peak_memory_stats."""
    _resets_all("reset_max_memory_cached")
    reset_peak_memory_stats(device)


def reset_accumulated_memory_stats(device=None):
    """Returns: no number of memory_stats is one that torch begins again here."""
    _C._cuda_index(_number(device))


def empty_cache():
    """Gives back to the driver what is kept for the next tensors."""
    if _C._cuda_state()[1]:
        _C._memory_trim()


def mem_get_info(device=None):
    """(free, all): bytes of a device's memory; free ones are those that no program uses."""
    number = _number(device)
    _C.empty(1, device=_C.device("cuda", _C._cuda_index(number)))  # it is asked of devices in use
    facts = _C._cuda_properties(number)
    return facts["left"], facts["total_memory"]


def set_per_process_memory_fraction(fraction, device=None):
    """At most this part of a device's memory is taken from the driver; 1: no limit."""
    number = _C._cuda_index(_number(device))
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    whole = _C._cuda_properties(number)["total_memory"]
    _C._cuda_limit(number, 0 if fraction == 1 else max(1, int(fraction * whole)))


def get_per_process_memory_fraction(device=None):
    """The part of a device's memory that may be taken from the driver; 1: there is no limit."""
    number = _C._cuda_index(_number(device))
    limit = _memory(number)[5]
    return limit / _C._cuda_properties(number)["total_memory"] if limit else 1.0


def memory_stats(device=None):
    """Those of torch's numbers that the library counts, by their names."""
    used, peak, reserved, calls, most, _ = _memory(device)
    return {
        "allocated_bytes.all.current": used,
        "allocated_bytes.all.peak": peak,
        "num_device_alloc": calls,
        "reserved_bytes.all.current": reserved,
        "reserved_bytes.all.peak": most,
    }


def memory_stats_as_nested_dict(device=None):
    """The same as dictionaries of dictionaries."""
    nested = {}
    for name, n in memory_stats(device).items():
        *path, last = name.split(".")
        here = nested
        for word in path:
            here = here.setdefault(word, {})
        here[last] = n
    return nested


def memory_summary(device=None, abbreviated=False):
    """The same as a text of a few lines."""
    return "\n".join(f"{name:<30}{n:>20,}" for name, n in memory_stats(device).items())


def memory_snapshot(mempool_id=None, include_traces=True):
    """The segments that were taken from the driver, of all devices, and the blocks in them."""
    if mempool_id is not None:
        raise NotImplementedError("torch.cuda.memory_snapshot: there are no pools of memory")
    count, used = _C._cuda_state()
    found = {}
    for device in range(count if used else 0):
        for segment, at, size, in_use in sorted(_C._cuda_snapshot(device)):
            one = found.setdefault((device, segment), {
                "device": device, "address": segment, "total_size": 0, "allocated_size": 0,
                "active_size": 0, "blocks": [],
            })  # fmt: skip
            state = "active_allocated" if in_use else "inactive"
            one["blocks"].append({"address": at, "size": size, "state": state})
            one["total_size"] += size
            one["allocated_size"] += size if in_use else 0
            one["active_size"] = one["allocated_size"]
    return list(found.values())


def get_allocator_backend():
    """ "native": the library's own cache."""
    return "native"


def host_memory_stats():
    """An empty dictionary: pinned memory is not counted."""
    return {}


host_memory_stats_as_nested_dict = host_memory_stats


def reset_accumulated_host_memory_stats():
    """Returns: pinned memory is not counted."""


reset_peak_host_memory_stats = reset_accumulated_host_memory_stats


def list_gpu_processes(device=None):
    """The programs that use a device, as NVIDIA's management library says."""
    try:
        import pynvml
    except ModuleNotFoundError:
        return "pynvml module not found, please install nvidia-ml-py"
    try:
        handle, number = _cuda.managed(device)
    except pynvml.NVMLError_DriverNotLoaded:
        return "cuda driver can't be loaded, is cuda enabled?"
    found = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    lines = [f"GPU:{number}"] + ([] if found else ["no processes are running"])
    lines += [
        f"process {p.pid:>10d} uses {p.usedGpuMemory / (1 << 20):>12.3f} MB GPU memory"
        for p in found
    ]
    return "\n".join(lines)


def __getattr__(name):
    from .._missing import error

    raise error("torch.cuda", name)
