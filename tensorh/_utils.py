"""torch._utils: what programs ask for of it, flat copies of tensors and the size of an element."""

from . import _C


def _element_size(dtype):
    """Bytes of an element of dtype."""
    if not isinstance(dtype, _C.dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


def _flatten_dense_tensors(tensors):
    """The elements of all tensors behind each other, in one dimension."""
    return _C.cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """Views of flat with the tensors' shapes, in their order."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple(p.view(t.shape) for p, t in zip(parts, tensors, strict=True))


def _get_device_index(device, optional=False, allow_cpu=False):
    """The number of a GPU; -1 of the CPU, which has to be allowed."""
    if isinstance(device, int):
        return device
    if device is None and optional:
        return 0
    device = _C.device(device)
    if device.type == "cpu" and allow_cpu:
        return -1
    if device.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return device.index or 0
