"""torch.nn.attention: which way scaled_dot_product_attention goes. Here there is one."""

import contextlib
import enum

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "sdpa_kernel"]
WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """torch's ways to compute attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_enabled = {  # by torch.backends.cuda's word: what a program would allow; it changes nothing
    name: True for name in ("cudnn", "flash", "mem_efficient", "math", "overrideable")
}
_WAYS = {
    SDPBackend.CUDNN_ATTENTION: "cudnn",
    SDPBackend.FLASH_ATTENTION: "flash",
    SDPBackend.EFFICIENT_ATTENTION: "mem_efficient",
    SDPBackend.MATH: "math",
    SDPBackend.OVERRIDEABLE: "overrideable",
}


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """A block, or a function, in which torch would go one of these ways, as
    torch.backends.cuda.flash_sdp_enabled and its like say; it changes nothing else: there is one
    way here."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            + type(backends).__name__
        )
    backends = [backends] if isinstance(backends, SDPBackend) else backends
    before = dict(_enabled)
    _enabled.update({name: way in backends for way, name in _WAYS.items()})
    try:
        yield {}
    finally:
        _enabled.update(before)


def __getattr__(name):
    if name in ("bias", "flex_attention"):
        import importlib

        return importlib.import_module("." + name, __name__)
    from ..._missing import error

    raise error("torch.nn.attention", name)
