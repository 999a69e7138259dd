"""torch.nn.attention: which way scaled_dot_product_attention goes. Here there is one."""

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


class sdpa_kernel:
    """A block, or a function, in which torch would go one of these ways; it changes nothing: all
    ways give the same result here."""

    def __init__(self, backends, set_priority=False):
        backends = [backends] if isinstance(backends, SDPBackend) else list(backends)
        if not backends or not all(isinstance(b, SDPBackend) for b in backends):
            raise AssertionError(f"Backend must be an instance of SDPBackend: {backends}")

    def __enter__(self):
        return {}

    def __exit__(self, *exc):
        return None

    def __call__(self, fn):
        return fn


def __getattr__(name):
    if name in ("bias", "flex_attention"):
        import importlib

        return importlib.import_module("." + name, __name__)
    from ..._missing import error

    raise error("torch.nn.attention", name)
