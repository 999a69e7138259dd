"""torch.version for programs that print it: the package's version, and what it is built without."""

from ._C import __version__

__all__ = ["__version__", "cuda", "debug", "hip", "xpu"]
debug = False
cuda = hip = xpu = None
