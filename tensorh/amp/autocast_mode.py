"""torch.amp.autocast, a context or a decorator, and the state of it that a thread has."""

import functools
import threading
import warnings

from .. import _C

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


class _State(threading.local):
    """What torch keeps for a thread: per kind of device whether it is on and its dtype."""

    def __init__(self):
        self.enabled = dict.fromkeys(("cpu", "cuda", "mps", "xpu"), False)
        self.dtype = dict.fromkeys(self.enabled, _C.float16) | {"cpu": _C.bfloat16}
        self.cache, self.nesting = True, 0


_state = _State()


def _tell():
    """Lets the library know."""
    _C._set_autocast_cache(_state.cache)
    _C._set_autocast(_state.dtype["cpu"] if _state.enabled["cpu"] else None)
    _C._set_device_autocast(_state.dtype["cuda"] if _state.enabled["cuda"] else None)


# --- the state ------------------------------------------------------------------------------------


def _kind(function, device_type):
    if not isinstance(device_type, str):
        raise TypeError(
            f"{function}(): argument 'device_type' (position 1) must be str, "
            f"not {type(device_type).__name__}"
        )
    if device_type not in _state.enabled:
        _C.device(device_type)  # torch's error for a kind that does not exist
        raise RuntimeError(f"unknown device type for autocast: {device_type}")
    return device_type


def _check(function, name, position, value, kind):
    if type(value) is not kind:
        want = "bool" if kind is bool else "torch.dtype"
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be {want}, "
            f"not {type(value).__name__}"
        )


def is_autocast_available(device_type):
    """Whether autocast knows this kind of device. That of "cuda" is off without a GPU."""
    if not isinstance(device_type, str):
        raise TypeError(
            "_is_autocast_available(): argument 'device_type' (position 1) must be str, "
            f"not {type(device_type).__name__}"
        )
    _C.device(device_type)
    return device_type in _state.enabled


def is_autocast_enabled(device_type="cuda"):
    """Whether autocast is on in this thread; of "cuda" where no kind is given."""
    return _state.enabled[_kind("is_autocast_enabled", device_type)]


def set_autocast_enabled(device_type, enabled=None):
    """Turns autocast on or off; set_autocast_enabled(True) is that of "cuda"."""
    if enabled is None:
        _check("set_autocast_enabled", "enabled", 1, device_type, bool)
        device_type, enabled = "cuda", device_type
    _check("set_autocast_enabled", "enabled", 2, enabled, bool)
    _state.enabled[_kind("set_autocast_enabled", device_type)] = enabled
    _tell()


def get_autocast_dtype(device_type):
    """The dtype in which autocast computes."""
    return _state.dtype[_kind("get_autocast_dtype", device_type)]


def set_autocast_dtype(device_type, dtype):
    """Sets the dtype in which autocast computes."""
    _check("set_autocast_dtype", "dtype", 2, dtype, _C.dtype)
    _state.dtype[_kind("set_autocast_dtype", device_type)] = dtype
    _tell()


def is_autocast_cache_enabled():
    """Whether casts of weights are kept until autocast is off."""
    return _state.cache


def set_autocast_cache_enabled(enabled):
    """Whether casts of weights are kept from now on."""
    _check("set_autocast_cache_enabled", "enabled", 1, enabled, bool)
    _state.cache = enabled
    _tell()


def clear_autocast_cache():
    """Forgets the casts of weights."""
    _C._clear_autocast_cache()


def autocast_increment_nesting():
    """One block more; how many there are."""
    _state.nesting += 1
    return _state.nesting


def autocast_decrement_nesting():
    """One block less; how many there are."""
    _state.nesting -= 1
    return _state.nesting


def _old(name, now, call):
    """A function of one kind of device that torch has deprecated."""

    def old(*args):
        warnings.warn(
            f"torch.{name} is deprecated. Please use torch.{now} instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return call(*args)

    old.__name__ = old.__qualname__ = name.split("(")[0]
    return old


is_autocast_cpu_enabled = _old(
    "is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')", lambda: is_autocast_enabled("cpu")
)
set_autocast_cpu_enabled = _old(
    "set_autocast_cpu_enabled(enabled)",
    "set_autocast_enabled('cpu', enabled)",
    lambda enabled: set_autocast_enabled("cpu", enabled),
)
get_autocast_cpu_dtype = _old(
    "get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')", lambda: get_autocast_dtype("cpu")
)
set_autocast_cpu_dtype = _old(
    "set_autocast_cpu_dtype(dtype)",
    "set_autocast_dtype('cpu', dtype)",
    lambda dtype: set_autocast_dtype("cpu", dtype),
)
get_autocast_gpu_dtype = _old(
    "get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')", lambda: get_autocast_dtype("cuda")
)
set_autocast_gpu_dtype = _old(
    "set_autocast_gpu_dtype(dtype)",
    "set_autocast_dtype('cuda', dtype)",
    lambda dtype: set_autocast_dtype("cuda", dtype),
)


# --- blocks ---------------------------------------------------------------------------------------


class autocast:
    """A block in which products of matrices and convolutions compute in half precision, and what
    loses too much in it in float32. "cuda" is off where there is no GPU."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = _state.cache if cache_enabled is None else cache_enabled
        self._enabled = bool(enabled) and self._may_be_on()

    def _may_be_on(self):
        from .. import cuda

        if self.device == "cuda":
            if cuda.is_available():
                if self.fast_dtype in (_C.bfloat16, _C.float16):
                    return True
                warnings.warn(
                    "In CUDA autocast, but the target dtype is not supported. Disabling autocast.\n"
                    "CUDA Autocast only supports dtypes of torch.bfloat16, torch.float16 "
                    "currently.",
                    stacklevel=3,
                )
                return False
            warnings.warn(
                "User provided device_type of 'cuda', but CUDA is not available. Disabling",
                stacklevel=3,
            )
            return False
        if self.fast_dtype in (_C.bfloat16, _C.float16):
            return True
        warnings.warn(
            "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
            "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
            stacklevel=3,
        )
        return False

    def __enter__(self):
        self.prev_cache_enabled = _state.cache
        self.prev = _state.enabled[self.device]
        self.prev_fastdtype = _state.dtype[self.device]
        _state.enabled[self.device] = self._enabled
        _state.dtype[self.device] = self.fast_dtype
        _state.cache = self._cache_enabled
        autocast_increment_nesting()
        _tell()
        return self

    def __exit__(self, *exc):
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        _state.enabled[self.device] = self.prev
        _state.dtype[self.device] = self.prev_fastdtype
        _state.cache = self.prev_cache_enabled
        _tell()
        return False

    def __call__(self, func):
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. "
                "Did you mean to use autocast as a context manager?"
            )

        @functools.wraps(func)
        def inside(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return inside


# --- functions of autograd ------------------------------------------------------------------------


def _cast(value, device_type, dtype):
    if isinstance(value, _C.Tensor):
        cast = value.is_floating_point() and value.dtype != _C.float64
        return value.to(dtype) if cast and value.device.type == device_type else value
    if isinstance(value, dict):
        return {k: _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def custom_fwd(fwd=None, *, device_type="cuda", cast_inputs=None):
    """Decorates forward of a Function, whose backward then runs as forward did. cast_inputs: within
    autocast its tensors are cast to this dtype, and forward runs without autocast."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx, *args, **kwargs):
        on = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if cast_inputs is None or not on:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            args = _cast(args, device_type, cast_inputs)
            return fwd(ctx, *args, **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd=None, *, device_type="cuda"):
    """Decorates backward of a Function: it runs with the autocast of forward (custom_fwd)."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx, *grads):
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *grads)

    return backward
