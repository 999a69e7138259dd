"""torch.backends for programs that ask what there is and set switches: no library of a vendor is in
this build, so nothing changes what is computed."""

import sys as _sys


class _Backend:
    """Switches that are kept; `is_available` says False."""

    def __init__(self, name, **switches):
        self.__name__ = f"torch.backends.{name}"
        self.__dict__.update(switches)

    def is_available(self):
        """False."""
        return False

    def is_built(self):
        """False."""
        return False

    def version(self):
        """None."""

    def __getattr__(self, name):
        from ._missing import error

        raise error(self.__name__, name)


cudnn = _Backend("cudnn", enabled=False, benchmark=False, deterministic=True, allow_tf32=False)
mps = _Backend("mps")
mkldnn = _Backend("mkldnn", enabled=False)
cuda = _Backend("cuda", matmul=_Backend("cuda.matmul", allow_tf32=False))
mkl = _Backend("mkl")
openmp = _Backend("openmp")

for _one in (cudnn, mps, mkldnn, cuda, mkl, openmp):  # import torch.backends.cudnn as cudnn
    _sys.modules[f"{__name__}.{_one.__name__.rpartition('.')[2]}"] = _one


def __getattr__(name):
    from ._missing import error

    raise error("torch.backends", name)
