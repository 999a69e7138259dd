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


# What the pickles of torch.save call. Files are read without these; programs call them, too.


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor over the memory of a storage."""
    t = _C.empty(0, dtype=storage.dtype, device=storage.device)
    return t.set_(storage, storage_offset, size, stride)


def _rebuild_tensor_v2(
    storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None
):
    """The same with what a leaf has."""
    if metadata:
        raise NotImplementedError("_rebuild_tensor_v2: a conjugate or negative bit")
    return _rebuild_tensor(storage, storage_offset, size, stride).requires_grad_(requires_grad)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    """A parameter of a tensor."""
    return _C.Parameter(data, requires_grad)


def _rebuild_sparse_tensor(layout, data):
    """A sparse tensor of its parts and its size; RuntimeError: they do not fit."""
    from ._sparse import LAYOUTS, check, make

    if layout not in LAYOUTS[1:]:
        raise NotImplementedError(f"rebuilding sparse tensor for layout {layout}")
    n = 2 if layout is _C.sparse_coo else 3
    parts, (size, *coalesced) = data[:n], data[n:]
    number = LAYOUTS.index(layout)
    check(number, parts, size)
    t = make(number, parts, size)
    if coalesced and coalesced[0]:
        t._coalesced_(True)
    return t
