"""torch.cpu: what torch.cuda has, for programs that do not name the device. Each call has ended
when it returns, so streams make no order and events have always been."""

import sys as _sys
import threading as _threading

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "get_capabilities",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


class Stream:
    """A stream: its calls have ended when they return, so there is nothing to wait for."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        """Returns: all is done."""

    def record_event(self):
        """Returns: all is done."""

    def wait_event(self, event):
        """Returns: all is done."""


class Event:
    """A moment, which has been."""

    def query(self):
        """True: it has been."""
        return True

    def record(self, stream=None):
        """Returns: all is done."""

    def synchronize(self):
        """Returns: it has been."""

    def wait(self, stream=None):
        """Returns: it has been."""


_default = Stream()
_thread = _threading.local()


def current_stream(device=None):
    """The thread's current stream."""
    return getattr(_thread, "stream", _default)


class StreamContext:
    """A block in which a stream is current; None: no change."""

    def __init__(self, stream):
        self.stream = stream
        self.before = []

    def __enter__(self):
        self.before.append(current_stream())
        if self.stream is not None:
            _thread.stream = self.stream

    def __exit__(self, type, value, traceback):
        _thread.stream = self.before.pop()


def stream(stream):
    """A block in which a stream is current."""
    return StreamContext(stream)


def is_available():
    """True."""
    return True


def is_initialized():
    """True."""
    return True


def device_count():
    """1: the CPU is one device, however many cores it has."""
    return 1


def current_device():
    """ "cpu"."""
    return "cpu"


def set_device(device):
    """Returns: there is one CPU."""


def synchronize(device=None):
    """Returns: each call has ended when it returns."""


# What torch names otherwise than Linux.
_X86 = {
    "sse3": "pni", "fma3": "fma", "lzcnt": "abm", "bmi": "bmi1", "sha": "sha_ni",
    **{f"avx512_{one}": f"avx512{one}" for one in "f cd bw dq vl ifma vbmi".split()},
}  # fmt: skip
_X86 |= {
    name: name
    for name in (
        "sse sse2 ssse3 sse4_1 sse4_2 sse4a avx avx2 avx_vnni avx_vnni_int8 avx_vnni_int16 "
        "avx_ne_convert avx512_vbmi2 avx512_bitalg avx512_vpopcntdq avx512_vnni avx512_bf16 "
        "avx512_fp16 avx512_vp2intersect avx512_4vnniw avx512_4fmaps amx_bf16 amx_tile amx_int8 "
        "amx_fp16 fma4 f16c bmi2 popcnt aes clflush clflushopt clwb"
    ).split()
}
_ARM = {
    "neon": "asimd", "fp16_arith": "asimdhp", "dot": "asimddp", "fhm": "asimdfhm",
    "rdm": "asimdrdm", "sve_bf16": "svebf16",
}  # fmt: skip
_ARM |= {n: n for n in "bf16 i8mm sve sve2 sme sme2 atomics crc32 aes sha1 sha2 pmull".split()}


def _processors():
    """Linux's description of each processor: [{word: value}]."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            blocks = f.read().strip().split("\n\n")
    except OSError:
        return []
    pairs = [[line.partition(":") for line in block.splitlines()] for block in blocks]
    return [{word.strip(): value.strip() for word, _, value in block} for block in pairs]


def _caches():
    """{"l1d_cache_size": bytes, ..} of the first processor, as Linux says."""
    from pathlib import Path

    found = {}
    for place in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((place / n).read_text().strip() for n in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            name = f"l{level}{'d' if level == '1' else ''}_cache_size"
            found[name] = int(size.rstrip("K")) << 10
    return found


def _read():
    import os
    import platform

    machine = platform.machine()
    facts = {"architecture": machine, "num_logical_cores": os.cpu_count()}
    every = _processors() if _sys.platform == "linux" else []
    if not every:
        return facts
    first = every[0]
    flags = set(first.get("flags", first.get("Features", "")).split())
    names = _X86 if machine in ("x86_64", "i686") else _ARM if machine == "aarch64" else {}
    facts |= {name: flag in flags for name, flag in names.items()}
    if "model name" in first:
        facts["cpu_name"] = first["model name"]
    if "core id" in first:
        facts["num_physical_cores"] = len({(p.get("physical id"), p["core id"]) for p in every})
        facts["num_sockets"] = len({p.get("physical id") for p in every})
    return facts | _caches()


_capabilities = []


def get_capabilities():
    """What the processor has, by torch's names; True: it has that instruction set. Only Linux is
    asked: elsewhere there are "architecture" and "num_logical_cores" alone."""
    from types import MappingProxyType

    if not _capabilities:
        _capabilities.append(MappingProxyType(_read()))
    return _capabilities[0]


def __getattr__(name):
    if name == "amp":
        import importlib

        return importlib.import_module(".amp", __name__)
    from .._missing import error

    raise error("torch.cpu", name)
