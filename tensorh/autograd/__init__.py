"""torch.autograd: gradients, their modes, and functions with a gradient of one's own."""

import warnings

from .. import _C
from .._C import enable_grad, inference_mode, no_grad, set_grad_enabled
from .._functions.settings import set_anomaly_enabled
from . import function, functional, grad_mode
from .function import Function
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]

backward = _C._backward
grad = _C._grad
SavedTensor = _C._SavedTensor


class set_detect_anomaly:
    """Backward stops at the first NaN, from now on or until the end of the block.

    The error names the operator and the line of its forward call. `check_nan=False` leaves nothing
    to do: the lines of forward calls are always known.
    """

    def __init__(self, mode, check_nan=True):
        self.prev = _C.is_anomaly_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self):
        return None

    def __exit__(self, *args):
        _C._set_anomaly(self.prev)


class detect_anomaly:
    """Backward stops at the first NaN inside of the block."""

    def __init__(self, check_nan=True):
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self):
        self.prev = _C._set_anomaly(bool(self.check_nan))

    def __exit__(self, *args):
        _C._set_anomaly(self.prev)


def kineto_available():
    """False: what is profiled is measured by the library itself."""
    return False


def __getattr__(name):
    if name in ("forward_ad", "graph", "profiler"):
        import importlib

        return importlib.import_module("." + name, __name__)
    from .._missing import error

    raise error("torch.autograd", name)
