"""torch.amp.autocast, a context or a decorator."""

import functools
import warnings

from .. import _C

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def is_autocast_available(device_type):
    """Whether autocast of that kind of device computes in half precision: never yet."""
    _check_kind(device_type)
    return False


def _check_kind(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if device_type not in ("cpu", "cuda", "meta"):
        raise RuntimeError(
            f"User specified an unsupported autocast device_type '{device_type}'"
        )


class autocast:
    """A block in which suitable operators compute in half precision. enabled=False, and "cuda"
    where there is no GPU, compute as always; all else is refused, for it is planned."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        _check_kind(device_type)
        from .. import cuda

        if enabled and device_type == "cuda" and not cuda.is_available():
            warnings.warn(
                "User provided device_type of 'cuda', but CUDA is not available. Disabling",
                stacklevel=2,
            )
            enabled = False
        if enabled:
            raise NotImplementedError(f"autocast of {device_type} is planned")
        self.device, self._enabled = device_type, False
        self.fast_dtype = dtype or (_C.bfloat16 if device_type == "cpu" else _C.float16)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def __call__(self, func):
        @functools.wraps(func)
        def inside(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return inside


def custom_fwd(fwd=None, *, device_type="cuda", cast_inputs=None):
    """forward of a Function, as it is: outside of autocast nothing is cast."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    return fwd


def custom_bwd(bwd=None, *, device_type="cuda"):
    """backward of a Function, as it is."""
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd
