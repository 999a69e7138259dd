"""torch.backends for programs that ask what there is and set switches: no switch changes what is
computed, on no device."""

import sys as _sys
from contextlib import contextmanager as _contextmanager


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
        from .._missing import error

        raise error(self.__name__, name)


class _WithFlags(_Backend):
    """A backend whose switches may be set for a block."""

    @_contextmanager
    def flags(self, *values, **switches):
        """Sets switches, by torch's names, until the block ends."""
        names = [name for name in self.__dict__ if name != "__name__"]
        switches = dict(zip(names, values, strict=False)) | switches
        before = {name: self.__dict__.get(name) for name in switches}
        self.__dict__.update(switches)
        try:
            yield
        finally:
            self.__dict__.update(before)


class _Cpu(_Backend):
    """torch.backends.cpu."""

    def get_cpu_capability(self):
        """The instruction set of the kernels, as torch names it."""
        from .. import _C

        isa = _C._isa()
        return isa.upper() if isa in ("avx2", "avx512") else "DEFAULT"


cpu = _Cpu("cpu")
cudnn = _WithFlags("cudnn", enabled=False, benchmark=False, deterministic=True, allow_tf32=False)
mps = _Backend("mps")
mkldnn = _WithFlags("mkldnn", enabled=False, deterministic=False, allow_tf32=True)
mkl = _Backend("mkl")
openmp = _Backend("openmp")

for _one in (cpu, cudnn, mps, mkldnn, mkl, openmp):  # import torch.backends.cudnn as cudnn
    _sys.modules[f"{__name__}.{_one.__name__.rpartition('.')[2]}"] = _one


def __getattr__(name):
    if name == "cuda":
        import importlib

        return importlib.import_module(".cuda", __name__)
    from .._missing import error

    raise error("torch.backends", name)
