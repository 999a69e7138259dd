"""torch.autograd.forward_ad: products of Jacobians with tangents, for tensors of a level.

A dual tensor is recorded like a tensor that requires grad. unpack_dual takes the tangent from the
tape by two backward passes, as func.jvp does, so every operator that has a second gradient has a
tangent. Nothing is computed where no tangent is asked for; what is computed under no_grad has none.
"""

from typing import NamedTuple

from .. import _C
from .. import _vmap as _batches
from .._functions.settings import _printing
from ..func import _leaves_of, _ordinary, _pull

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]  # fmt: skip

_duals = None  # (dual tensor, tangent) of the level
_current_level = -1  # 0 within the level
_given = {}  # id of a dual tensor: it, the tangent as it was given, its version then


class UnpackedDualTensor(NamedTuple):
    """A dual tensor's two parts; tangent is None where there is none."""

    primal: object
    tangent: object


def enter_dual_level():
    """Begins the level, number 0. RuntimeError within another: there is one."""
    global _duals, _current_level
    if _duals is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _duals, _current_level = [], 0
    _C._write_duals(_text)
    return 0


def exit_dual_level(*, level=None):
    """Ends the level: its tangents are gone."""
    global _duals, _current_level
    if _duals is None:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This "
            "is not supported."
        )
    _duals, _current_level = None, -1
    _given.clear()
    _C._write_duals(None)


class dual_level:
    """A level as a block: `with dual_level(): ...`"""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *args):
        exit_dual_level()


def _need_float(t, what):
    if not (t.is_floating_point() or t.is_complex()):
        raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")


def make_dual(tensor, tangent, *, level=None):
    """A view of tensor whose derivative in this level is tangent, of the same shape."""
    if _duals is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    _need_float(tensor, "primal")
    _need_float(tangent, "tangent")
    if _given.get(id(tangent), (None,))[0] is tangent:
        raise RuntimeError(
            "Trying to set a forward gradient that itself has a forward gradient at the same level "
            "is not supported."
        )
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}."
        )
    with _C.inference_mode(False), _C.enable_grad():
        whole = _batches.each(tensor)
        if tensor.requires_grad:
            dual = whole.view(whole.shape)
        else:
            dual = _ordinary(whole).detach().requires_grad_()
        _duals.append((dual, _ordinary(tangent).to(tensor.dtype)))
        _given[id(dual)] = dual, tangent, dual._version
    return dual


def _text(t):
    """repr of a dual tensor, which is that of its primal and its tangent; None of another."""
    primal, tangent = unpack_dual(t)
    if tangent is None:
        return None
    text, more = repr(primal)[:-1], f"tangent={tangent}"
    width = len(text) - text.rfind("\n") + len(more) + 3
    joint = ", " if width <= _printing["linewidth"] else ",\n" + " " * (text.index("(") + 1)
    return text + joint + more + ")"


def _primal(t):
    """t without the history that leads to dual tensors alone."""
    if not t.requires_grad:
        return t
    own = {_C._address(dual) for dual, _ in _duals}
    leaves = [t] if t.is_leaf else _leaves_of(t.grad_fn, set())
    return t.detach() if all(_C._address(leaf) in own for leaf in leaves) else t


def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of what was computed from dual tensors in this level."""
    if _duals is None or level not in (None, 0):
        return UnpackedDualTensor(tensor, None)
    if not _duals or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    dual, tangent, version = _given.get(id(tensor), (None, None, 0))
    if dual is tensor and version == tensor._version and tangent.dtype == tensor.dtype:
        return UnpackedDualTensor(_primal(tensor), tangent)
    with _C.inference_mode(False), _C.enable_grad():
        inputs = [dual for dual, _ in _duals]
        seed = _C.zeros_like(tensor).requires_grad_()
        reached = _C._grad([tensor], inputs, [seed], create_graph=True, allow_unused=True)
        ways = [i for i, g in enumerate(reached) if g is not None]
        if not ways:
            return UnpackedDualTensor(tensor, None)
        tangents = [_duals[i][1] for i in ways]
        tangent = _pull([reached[i] for i in ways], [seed], tangents)[0]
    return UnpackedDualTensor(_primal(tensor), _primal(tangent))
