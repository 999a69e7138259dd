"""torch.storage: the memory that a tensor and its views share, for programs that ask where it lies
and how large it is."""

from . import _C

__all__ = ["TypedStorage", "UntypedStorage"]


def _whole(t):
    """All of the memory of t as a flat tensor of t's dtype."""
    with _C.no_grad():
        return t.detach().as_strided((_C._memory_bytes(t) // t.element_size(),), (1,), 0)


class UntypedStorage:
    """Bytes. Made by t.untyped_storage(), or UntypedStorage(size) with zeros."""

    def __init__(self, size=0, *, device=None):
        bytes_ = _C.zeros(int(size), dtype=_C.uint8, device=device)
        self._tensor = self._flat = bytes_

    @classmethod
    def _of(cls, t):
        self = cls.__new__(cls)
        self._tensor, self._flat = t, _whole(t)
        return self

    def _bytes(self):
        return self._flat if self._flat.dtype is _C.uint8 else _C._storage_bytes(self._flat)

    @property
    def device(self):
        """Where the memory is."""
        return self._tensor.device

    is_cuda = property(lambda self: self._tensor.is_cuda)
    is_sparse = is_sparse_csr = False

    def nbytes(self):
        """Bytes of the memory."""
        return _C._memory_bytes(self._tensor)

    size = nbytes
    __len__ = nbytes

    def element_size(self):
        """1: a storage without a type has bytes."""
        return 1

    def data_ptr(self):
        """The address of the first byte."""
        return self._flat.data_ptr()

    def __getitem__(self, index):
        if isinstance(index, slice):
            r = UntypedStorage.__new__(UntypedStorage)
            r._tensor = r._flat = self._bytes()[index]
            return r
        return int(self._bytes()[index])

    def __setitem__(self, index, value):
        self._bytes()[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def fill_(self, value):
        """Sets all bytes."""
        self._bytes().fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        """Copies the bytes of a storage of the same size."""
        if self.nbytes() != source.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was "
                f"{source.nbytes()} bytes"
            )
        self._bytes().copy_(source._bytes())
        return self

    def clone(self):
        """A copy."""
        r = UntypedStorage.__new__(UntypedStorage)
        r._tensor = r._flat = self._bytes().clone()
        return r

    def cpu(self):
        """The storage itself, if it is in the CPU's memory, else a copy there."""
        if self.device.type == "cpu":
            return self
        return UntypedStorage._of(self._flat.cpu())

    def tolist(self):
        """The bytes as numbers."""
        return self._bytes().tolist()

    def is_pinned(self, device="cuda"):
        """Whether copies to a GPU need not wait."""
        return self._tensor.is_pinned()

    def is_shared(self):
        """Whether other processes may have this memory."""
        return is_shared(self._flat)

    def resizable(self):
        """False: a tensor's memory keeps its size."""
        return False

    def __eq__(self, other):
        if not isinstance(other, UntypedStorage):
            return NotImplemented
        return self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self):
        return hash(self.data_ptr())

    def __repr__(self):
        body = "".join(f"\n {b}" for b in self.tolist())
        return f"{body}\n[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


class TypedStorage:
    """The memory as elements of the tensor's dtype: t.storage(), which torch has deprecated."""

    def __init__(self, *, wrap_storage, dtype, _internal=False):
        self._untyped_storage, self.dtype = wrap_storage, dtype

    def _flat(self):
        flat = self._untyped_storage._flat
        if flat.dtype is self.dtype:
            return flat
        return _C.frombuffer(self._untyped_storage._bytes().numpy(), dtype=self.dtype)

    @property
    def device(self):
        """Where the memory is."""
        return self._untyped_storage.device

    is_cuda = property(lambda self: self._untyped_storage.is_cuda)
    is_sparse = False

    def untyped(self):
        """The storage without its type."""
        return self._untyped_storage

    def size(self):
        """How many elements there are."""
        return self._untyped_storage.nbytes() // self.element_size()

    __len__ = size

    def nbytes(self):
        """Bytes of the memory."""
        return self._untyped_storage.nbytes()

    def element_size(self):
        """Bytes of an element."""
        return _C.empty((), dtype=self.dtype).element_size()

    def data_ptr(self):
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._flat()[index].item()

    def __setitem__(self, index, value):
        self._flat()[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def fill_(self, value):
        """Sets all elements."""
        self._flat().fill_(value)
        return self

    def tolist(self):
        """The elements as numbers."""
        return self._flat().tolist()

    def is_shared(self):
        """Whether other processes may have this memory."""
        return self._untyped_storage.is_shared()

    def __eq__(self, other):
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self.dtype is other.dtype and self._untyped_storage == other._untyped_storage

    def __hash__(self):
        return hash(self._untyped_storage)

    def __repr__(self):
        body = "".join(f"\n {x}" for x in self.tolist())
        return (
            f"{body}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of "
            f"size {len(self)}]"
        )


def untyped_storage(self):
    """The memory that this tensor and its views share."""
    return UntypedStorage._of(self)


def storage(self):
    """untyped_storage with the tensor's dtype; deprecated by torch."""
    import warnings

    warnings.warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
        "the only storage class. This should only matter to you if you are using storages "
        "directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
        "tensor.storage()",
        stacklevel=2,
    )
    return TypedStorage(wrap_storage=UntypedStorage._of(self), dtype=self.dtype)


def is_storage(obj):
    """Whether obj is a storage."""
    return isinstance(obj, (UntypedStorage, TypedStorage))


def share_memory_(self):
    """Moves the tensor to memory that other processes may have (torch.multiprocessing)."""
    from .multiprocessing import reductions

    return reductions.share_memory_(self)


def is_shared(self):
    """Whether other processes may have this tensor's memory."""
    import sys

    reductions = sys.modules.get(f"{__package__}.multiprocessing.reductions")
    return self.is_cuda or (reductions is not None and reductions.is_shared(self))


METHODS = {
    "untyped_storage": untyped_storage, "storage": storage, "share_memory_": share_memory_,
    "is_shared": is_shared,
}  # fmt: skip
