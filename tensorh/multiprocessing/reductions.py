"""How tensors go from process to process: as the descriptor of their shared memory."""

import mmap
import os
import threading
import weakref
from multiprocessing import reduction
from multiprocessing.context import get_spawning_popen
from multiprocessing.util import register_after_fork

from .. import _C
from .._functions.creation import empty_strided

_shared = {}  # by the address of shared memory: (its map as a weak reference, descriptor, bytes)
_known = weakref.WeakValueDictionary()  # by (device, inode) of a descriptor: its map
_lock = threading.RLock()


def _descriptor(bytes_):
    """A descriptor of new memory without a name."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("tensorh", os.MFD_CLOEXEC)
    else:
        import _posixshmem

        name = f"/tensorh-{os.getpid()}-{os.urandom(8).hex()}"
        fd = _posixshmem.shm_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode=0o600)
        _posixshmem.shm_unlink(name)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(fd, 0, bytes_)  # no memory: an error here, not a signal later
        else:
            os.ftruncate(fd, bytes_)
    except OSError:
        os.close(fd)
        raise
    return fd


def _forget(address, fd):
    with _lock:
        _shared.pop(address, None)
    os.close(fd)


def _map(fd, bytes_):
    """The map of a descriptor, which it takes; the same one if this process has it already."""
    facts = os.fstat(fd)
    key = (facts.st_dev, facts.st_ino)
    with _lock:
        found = _known.get(key)
        if found is not None:
            os.close(fd)
            return found
        try:
            made = _Map(fd, bytes_)
        except BaseException:
            os.close(fd)
            raise
        _known[key] = made
        address = _C.frombuffer(made, dtype=_C.uint8).data_ptr()
        _shared[address] = (weakref.ref(made), fd, bytes_)
        weakref.finalize(made, _forget, address, fd).atexit = False
        return made


class _Map(mmap.mmap):
    """A map that weak references may hold."""


def _memory(t):
    """(map, descriptor, bytes) of t's memory if it is shared, or None."""
    if t.device.type != "cpu":
        return None
    address = t.data_ptr() - t.storage_offset() * t.element_size()
    with _lock:
        found = _shared.get(address)
        made = found and found[0]()
        return (made, *found[1:]) if made is not None else None


def is_shared(self):
    """Whether other processes may have this tensor's memory. True on a GPU, as in torch."""
    return self.is_cuda or _memory(self) is not None


def share_memory_(self):
    """Moves the tensor to memory that other processes may have; does nothing if it is there, or on
    a GPU. Views of the tensor that were made before keep the old memory; a view is refused."""
    if self.is_cuda or _memory(self) is not None:
        return self
    if self.device.type != "cpu":
        raise RuntimeError(f"a tensor of the device {self.device} cannot be shared")
    if self._is_view():
        raise RuntimeError("share_memory_: the tensor is a view: share the tensor it is a view of, "
                           "before the view is made")  # fmt: skip
    self.data = _copy(self)
    return self


def _copy(t):
    """A copy of all the memory of t in shared memory, as t shows it."""
    bytes_ = _C._memory_bytes(t)
    made = _map(_descriptor(max(bytes_, 1)), max(bytes_, 1))
    with _C.no_grad():
        old = t.detach().as_strided((bytes_ // t.element_size(),), (1,), 0)
        new = _over(made, t.dtype, old.shape, old.stride(), 0)
        new.copy_(old)
        return new.as_strided(t.shape, t.stride(), t.storage_offset())


def _over(made, dtype, shape, stride, offset):
    size = _C.empty((), dtype=dtype).element_size()
    if len(made) < size:  # memory of a tensor without elements
        return empty_strided(shape, stride, dtype=dtype)
    with _C.no_grad():
        return _C.frombuffer(made, dtype=dtype, count=len(made) // size).as_strided(
            shape, stride, offset
        )


# --- pickles between processes --------------------------------------------------------------------


def rebuild_tensor(is_parameter, handle, bytes_, dtype, shape, stride, offset, requires_grad):
    """The tensor over memory that another process has sent."""
    t = _over(_map(handle.detach(), bytes_), dtype, shape, stride, offset)
    if is_parameter:
        return _C.Parameter(t, requires_grad=requires_grad)
    return t.requires_grad_(requires_grad)


def _handle(fd):
    """What detach() of the other process makes a descriptor of its own of."""
    process = get_spawning_popen()
    if process is None:
        return reduction.DupFd(fd)
    copy = os.dup(fd)  # a process that is started takes each descriptor once
    weakref.finalize(process, os.close, copy).atexit = False
    return reduction.DupFd(copy)


def reduce_tensor(t):
    """What a pickle between processes holds of a tensor."""
    if t.requires_grad and not t.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries.  If you just want to transfer the "
            "data, call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    if t.device.type != "cpu" or _C._memory_bytes(t) == 0:
        return t.__reduce_ex__(2)
    sent = t
    if _memory(t) is None:
        if t._is_view() and get_spawning_popen() is not None:
            raise RuntimeError(
                "a process would get a copy of this view, whose writes nobody sees: call "
                "share_memory_() of the tensor it is a view of first"
            )
        sent = _copy(t) if t._is_view() else share_memory_(t)
    made, fd, bytes_ = _memory(sent)
    handle = _handle(fd)
    return rebuild_tensor, (type(t) is _C.Parameter, handle, bytes_, t.dtype, tuple(t.shape),
                            t.stride(), t.storage_offset(), t.requires_grad)  # fmt: skip


def init_reductions():
    """Makes Python's multiprocessing send tensors as shared memory."""
    for cls in (_C.Tensor, _C.Parameter):
        reduction.ForkingPickler.register(cls, reduce_tensor)


def _after_fork(_):
    global _lock
    _lock = threading.RLock()  # another thread may have held it


register_after_fork(_shared_owner := type("_Owner", (), {})(), _after_fork)
