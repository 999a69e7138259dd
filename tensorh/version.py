"""torch.version for programs that print it: torch's version with the package's own behind it, and
what it is built without."""

from . import __version__

__all__ = ["__version__", "cuda", "debug", "hip", "xpu"]  # noqa: F822 cuda is asked for
debug = False
hip = xpu = None


def __getattr__(name):
    """cuda: the version of CUDA, "13.2", which drives the devices; None where there is none."""
    if name != "cuda":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _C
    from .cuda import is_available

    number = _C._cuda_properties(0)["runtime"] if is_available() else 0
    return f"{number // 1000}.{number % 1000 // 10}" if number else None
