"""Clipping of gradients; parameters as one vector; what is loaded when it is first used."""

import math
import sys as _sys
import types
import warnings

from ... import _C

_quiet = _C._without_grad
_norm = _C._spaces["linalg"]["vector_norm"]


def _list_of(parameters):
    return [parameters] if isinstance(parameters, _C.Tensor) else list(parameters)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales the gradients so that their common norm is at most max_norm; returns the norm before.

    foreach: accepted; all gradients are always one call.
    """
    generator = isinstance(parameters, types.GeneratorType)
    parameters = _list_of(parameters)
    if generator and not parameters:
        warnings.warn(
            "`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2
        )
    parameters = [p for p in parameters if p.grad is not None]
    if error_if_nonfinite:
        get_total_norm([p.grad for p in parameters], norm_type, True)
    norm = _C._clip_grad_norm(parameters, float(max_norm), float(norm_type))
    return _C.tensor(norm, dtype=_norm_dtype([p.grad for p in parameters]))


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """clip_grad_norm_ under its older name."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def _norm_dtype(tensors):
    """The dtype of the norm of all tensors: the real one that all their dtypes promote to."""
    dtype = tensors[0].dtype if tensors else _C.get_default_dtype()
    for t in tensors:
        dtype = _C.promote_types(dtype, t.dtype)
    return dtype.to_real()


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all elements of the tensors, as the norm of their norms."""
    tensors = _list_of(tensors)
    if not tensors:
        return _C.tensor(0.0)
    norm_type, dtype = float(norm_type), _norm_dtype(tensors)
    norms = [_norm(t.detach(), norm_type).to(dtype) for t in tensors]
    total = _norm(_C.stack(norms), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is "
            "non-finite, so it cannot be clipped. To disable this error and scale the "
            "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients by max_norm / total_norm where that is less than 1."""
    factor = _C.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    for p in _list_of(parameters):
        if p.grad is not None:
            _quiet(p.grad.mul_, factor)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Brings every element of the gradients within clip_value of 0."""
    clip_value = float(clip_value)
    for p in _list_of(parameters):
        if p.grad is not None:
            _quiet(p.grad.clamp_, -clip_value, clip_value)


def parameters_to_vector(parameters):
    """All elements, one parameter after the other, as one dimension."""
    return _C.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Makes the parts of a vector the data of the parameters, which share its memory then."""
    if not isinstance(vec, _C.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    at = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[at : at + n].view(p.shape).data
        at += n


_MODULES = ("fusion", "parametrizations", "parametrize", "prune", "rnn", "stateless")
# Files of torch, whose functions stand here.
for _file in ("clip_grad", "convert_parameters", "memory_format"):
    _sys.modules[f"{__name__}.{_file}"] = globals()[_file] = _sys.modules[__name__]
_NAMES = {
    "_norms": ("remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"),
    "_fusion": (
        "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format",
        "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval",
        "fuse_linear_bn_weights", "skip_init",
    ),
}  # fmt: skip


def __getattr__(name):
    import importlib

    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    for file, names in _NAMES.items():
        if name in names:
            return getattr(importlib.import_module("." + file, __name__), name)
    from ..._missing import error

    raise error("torch.nn.utils", name)


def __dir__():
    return sorted({*globals(), *_MODULES, *(n for names in _NAMES.values() for n in names)})
