"""Names of torch._C, the inside of torch, that programs ask for: the package's own module of C has
other names. Each is true here."""

from . import _C

_TensorMeta = type(_C.Tensor)
_FROM_LIBRARY = ("DispatchKey", "DispatchKeySet", "_ExcludeDispatchKeyGuard")


def _log_api_usage_once(name):
    """Nothing: no use of a name is reported to anyone."""


def _log_api_usage_metadata(name, metadata):
    """Nothing: no use of a name is reported to anyone."""


def _get_tracing_state():
    """None: nothing is traced."""


def _is_tracing():
    """False: nothing is traced."""
    return False


def _get_privateuse1_backend_name():
    """The name of torch for a device of a program's own; there is none."""
    return "privateuseone"


def _get_accelerator(check=False):
    """The kind of the accelerator, or the CPU."""
    from . import cuda

    return _C.device("cuda" if cuda.is_available() else "cpu")


class _Operators:
    """torch._C._nn: operators by their names."""

    def __getattr__(self, name):
        from ._ops import ops

        return getattr(ops.aten, name)

    @staticmethod
    def _parse_to(*args, **kwargs):
        """(device, dtype, non_blocking, memory_format) of the arguments of Tensor.to."""
        found = {"device": None, "dtype": None, "non_blocking": False, "memory_format": None}
        others = iter(("non_blocking", "copy"))
        for a in args:
            if isinstance(a, _C.Tensor):
                found.update(device=a.device, dtype=a.dtype)
            elif isinstance(a, _C.dtype):
                found["dtype"] = a
            elif isinstance(a, bool):
                found[next(others)] = a
            elif a is not None:
                found["device"] = _C.device(a)
        found.update(kwargs)
        if found["device"] is not None:
            found["device"] = _C.device(found["device"])
        return tuple(found[k] for k in ("device", "dtype", "non_blocking", "memory_format"))


_nn = _VariableFunctions = _Operators()


def get(name):
    """The value of a name that _C does not have."""
    if name == "_functorch":
        import importlib

        return importlib.import_module(f"{__package__}._C._functorch")
    if name in _FROM_LIBRARY:
        from . import library

        return getattr(library, name)
    if name[:2] != "__" and name in globals() and name not in ("get",):
        return globals()[name]
    raise AttributeError(f"module 'torch._C' has no attribute '{name}'")
