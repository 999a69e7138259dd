"""What autocast does to functions that are made of several rows, as torch's rows of these names."""

from .. import _C


def lower(*tensors):
    """tensors, in the dtype of autocast where it is on: a product of matrices."""
    dtype = _C._autocast_of(tensors[0])
    return tensors if dtype is None else _cast(tensors, dtype)


def wide(*tensors):
    """tensors, in float32 where autocast is on: what loses too much in half precision."""
    dtype = _C._autocast_of(tensors[0])
    return tensors if dtype is None else _cast(tensors, _C.float32)


def _cast(tensors, dtype):
    return tuple(
        t.to(dtype) if t.dtype.is_floating_point and t.dtype != _C.float64 else t for t in tensors
    )
