"""Settings: printing, random state, determinism."""

from math import inf as _inf

from .. import _C
from .._C import Tensor
from ._marks import function, method
from .dtypes import _device_of, _dtype_of

_printing = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_profiles = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": _inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """How tensors are printed."""
    o = {**_printing, **_profiles[profile]} if profile is not None else dict(_printing)
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems,
        "linewidth": linewidth,
    }  # fmt: skip
    o.update({k: v for k, v in given.items() if v is not None})
    o["sci_mode"] = sci_mode
    small = [min(max(o[k], 1), 2**31 - 1) for k in given]
    small[0] = small[0] if o["precision"] > 0 else -1  # 0 would be the usual number of digits
    _C._set_printing(*map(int, small), {None: 0, True: 1, False: -1}[sci_mode])
    _printing.update(o)


def set_default_tensor_type(t):
    """Sets the default dtype to a floating type's, and the default device to the type's."""
    if _device_of(t):
        _C.set_default_device(_device_of(t))
    _C.set_default_dtype(_dtype_of(t))


def get_rng_state():
    """The default generator's state."""
    return _C.default_generator.get_state()


def set_rng_state(new_state):
    """Continues the default generator from a state."""
    _C.default_generator.set_state(new_state)


def seed():
    """Seeds the default generator with a random number, which it returns."""
    return _C.default_generator.seed()


def initial_seed():
    """The default generator's seed."""
    return _C.default_generator.initial_seed()


def typename(obj):
    """The name of obj's type."""
    if isinstance(obj, Tensor):
        return obj.type()
    cls = obj if isinstance(obj, type) else type(obj)
    module = getattr(cls, "__module__", "")
    return f"{module}.{cls.__qualname__}" if module not in ("", "builtins") else cls.__qualname__


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Nothing changes: all algorithms here are deterministic."""
    for name, value in ("'mode' (position 1)", mode), ("'warn_only'", warn_only):
        if not isinstance(value, bool):
            raise TypeError(
                f"_set_deterministic_algorithms(): argument {name} must be bool, not "
                f"{type(value).__name__}"
            )
    _settings["deterministic"] = mode
    _settings["warn_only"] = warn_only


def are_deterministic_algorithms_enabled():
    """What use_deterministic_algorithms was told."""
    return _settings["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    """What use_deterministic_algorithms was told."""
    return _settings["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    """Nothing changes: all algorithms are deterministic. "default", "warn", "error" or 0 .. 2."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    words = ("default", "warn", "error")
    if isinstance(debug_mode, str):
        if debug_mode not in words:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = words.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode():
    """0, 1 or 2: what set_deterministic_debug_mode was told."""
    return 0 if not _settings["deterministic"] else 1 if _settings["warn_only"] else 2


def set_warn_always(b):
    """Whether a warning that comes once a process would come each time; is_warn_always_enabled."""
    _settings["warn_always"] = bool(b)


def is_warn_always_enabled():
    """What set_warn_always was told."""
    return _settings["warn_always"]


def set_float32_matmul_precision(precision):
    """Nothing changes: products of float32 are computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f"precision: expected highest, high or medium, not {precision!r}")
    _settings["matmul"] = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision was told."""
    return _settings["matmul"]


def set_flush_denormal(mode):
    """False, and nothing changes: numbers below the smallest normal one are kept."""
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return False


def get_num_interop_threads():
    """1: one operator runs at a time, on get_num_threads() threads."""
    return 1


def set_num_interop_threads(n):
    """Nothing changes: one operator runs at a time, on get_num_threads() threads."""
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(f"set_num_interop_threads expects an int, but got {type(n).__name__}")
    if n < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")


def set_anomaly_enabled(mode, check_nan=True):
    """Backward stops at the first NaN, if both are true; see autograd.set_detect_anomaly."""
    _settings["check_nan"] = bool(check_nan)
    _C._set_anomaly(bool(mode and check_nan))


def is_anomaly_check_nan_enabled():
    """What set_anomaly_enabled was told last."""
    return _settings["check_nan"]


_settings = {
    "deterministic": False, "warn_only": False, "warn_always": False, "matmul": "highest",
    "check_nan": True,
}  # fmt: skip


@function
def get_device(input: Tensor):
    """The number of the device; -1 for the CPU."""
    return input.get_device()


@method
def apply_(self, callable):
    """Each element replaced by callable of it, a Python number."""
    values = [callable(x) for x in self.reshape(-1).tolist()]
    for x in values:
        if not hasattr(x, "__float__") and not isinstance(x, complex):
            raise TypeError(f"must be real number, not {type(x).__name__}")
    return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))
