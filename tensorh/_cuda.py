"""Where the module of CUDA's devices is: libtensor_cuda.so, which `_C` opens when a program first
uses one of them. Looked for: the file that the environment's TENSORH_CUDA_LIBRARY names; else this
package's folder, then a package tensorh_cuda."""

import os
import sys

from . import _C

FILE = {"win32": "tensor_cuda.dll", "darwin": "libtensor_cuda.dylib"}.get(
    sys.platform, "libtensor_cuda.so"
)
_reasons = {}  # {path: why the module there gave no device}; "": it did


def path():
    """The path of the module, or None."""
    named = os.environ.get("TENSORH_CUDA_LIBRARY")
    if named:
        return os.path.abspath(named)
    folders = [os.path.dirname(os.path.abspath(__file__))]
    from importlib.util import find_spec

    package = find_spec("tensorh_cuda")
    folders += package.submodule_search_locations or [] if package else []
    return next((p for p in (os.path.join(f, FILE) for f in folders) if os.path.isfile(p)), None)


def why_not():
    """None: there are devices, of which _C knows. Else the reason why there is none."""
    if _C._cuda_state()[0]:
        return None
    found = path()
    if found is None:
        return (
            f"there is no {FILE} in the package's folder ({os.path.dirname(__file__)}) or in a "
            "package tensorh_cuda, and TENSORH_CUDA_LIBRARY names none"
        )
    if found not in _reasons:
        _reasons[found] = _C._cuda_load(found) or ""
        if not _reasons[found] and hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_C._cuda_forked)
    return _reasons[found] or None


def count():
    """How many devices there are."""
    return _C._cuda_state()[0] if why_not() is None else 0


def open():
    """Finds the devices, or raises and says why there is none."""
    why = why_not()
    if why is not None:
        raise RuntimeError(f"there is no device 'cuda' here: {why}")


def usable(name):
    """The device of that name, which can be used; RuntimeError: it cannot."""
    device = _C.device(name)
    if device.type == "cuda":
        _C._cuda_index(-1 if device.index is None else device.index)
    return device


def number(given, default=-1):
    """The number of a device that is given as one, by name or as torch.device; -1: the current."""
    if given is None:
        return default
    if isinstance(given, int):
        return given
    given = _C.device(given)
    if given.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {given}")
    return default if given.index is None else given.index


def managed(given):
    """(a device's handle of NVIDIA's management library, the device's number there)."""
    import pynvml

    pynvml.nvmlInit()
    at = number(given)
    at = (_C._cuda_index(-1) if count() else 0) if at < 0 else at
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    name = seen.split(",")[at].strip() if seen else str(at)
    if not name.isdigit():  # a UUID
        handle = pynvml.nvmlDeviceGetHandleByUUID(name)
        return handle, pynvml.nvmlDeviceGetIndex(handle)
    return pynvml.nvmlDeviceGetHandleByIndex(int(name)), int(name)


def nvml(given):
    """(NVIDIA's management library, a device's handle)."""
    try:
        import pynvml
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "nvidia-ml-py does not seem to be installed or it can't be imported."
        ) from None
    try:
        return pynvml, managed(given)[0]
    except pynvml.NVMLError_DriverNotLoaded:
        raise RuntimeError("cuda driver can't be loaded, is cuda enabled?") from None
