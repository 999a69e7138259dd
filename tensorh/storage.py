"""torch.storage: the memory that a tensor and its views share, for programs that ask where it lies
and how large it is."""

import mmap as _mmap
import os as _os
import sys as _sys

from . import _C
from ._pickle import STORAGES as _STORAGES

__all__ = ["TypedStorage", "UntypedStorage", "from_file"]


def _whole(t):
    """All of the memory of t as a flat tensor of t's dtype."""
    with _C.no_grad():
        return t.detach().as_strided((_C._memory_bytes(t) // t.element_size(),), (1,), 0)


def _named(dtype):
    """The name of the storage class of a dtype: FloatStorage of float32."""
    return _NAMES[dtype]


_NAMES = {getattr(_C, dtype): storage for dtype, storage in _STORAGES.items()}


def _dtype_to_storage_type_map():
    """dtype -> the name of its storage class."""
    return dict(_NAMES)


def _place(device):
    """A device that can have memory."""
    device = _C.device("cpu" if device is None else device)
    if device.type not in ("cpu", "cuda", "meta"):
        raise RuntimeError(f"Storage device not recognized: {device}")
    return device


def _made(args, dtype, device, wrong):
    """The flat tensor that () or (size) or (sequence) describes."""
    if len(args) > 1:
        raise RuntimeError(f"{wrong}\nToo many positional arguments")
    first = args[0] if args else 0
    if isinstance(first, int):
        return _C.empty(first, dtype=dtype, device=device)
    if isinstance(first, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(first, _C.Tensor) or not hasattr(first, "__len__"):
        raise TypeError(f"{wrong}\nArgument type not recognized: {type(first)}")
    return _C.tensor(list(first), dtype=dtype, device=device)


def _no_meta(device):
    if device.type == "meta":
        raise NotImplementedError("Not available for 'meta' device type")


def _no_resize(storage):
    if storage.device.type == "meta":
        raise RuntimeError("UntypedStorage.resize_: got unexpected device type meta")
    raise RuntimeError("Trying to resize storage that is not resizable")


def _only_of_the_cpu(storage, name):
    if storage.device.type != "cpu":
        raise RuntimeError(f"{name}: only available on CPU")
    raise NotImplementedError(f"{name}: torch.multiprocessing shares tensors")


class _Copied:
    """What storages of both kinds have of their clone() and nbytes()."""

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        """Over the memory that the copies of its tensors have."""
        from ._tensor import _copied

        if id(self) not in memo:
            t = (self if isinstance(self, UntypedStorage) else self._untyped_storage)._tensor
            storage = UntypedStorage._of(_copied(t.detach(), memo, _C.Tensor))
            if not isinstance(self, UntypedStorage):
                storage = TypedStorage(wrap_storage=storage, dtype=self.dtype)
            memo[id(self)] = storage
        return memo[id(self)]

    def __sizeof__(self):
        return object.__sizeof__(self) + self.nbytes()


class UntypedStorage(_Copied):
    """Bytes. Made by t.untyped_storage(), or UntypedStorage(size), UntypedStorage(sequence)."""

    filename = None

    def __init__(self, *args, device=None):
        wrong = (
            "UntypedStorage(): expected no arguments, (int size) or (Sequence data), and a device"
        )
        self._tensor = self._flat = _made(args, _C.uint8, _place(device), wrong)

    @classmethod
    def _of(cls, t):
        self = cls.__new__(cls)
        self._tensor, self._flat = t, _whole(t)
        return self

    @classmethod
    def _flat_of(cls, flat):
        self = cls.__new__(cls)
        self._tensor = self._flat = flat
        return self

    @classmethod
    def from_buffer(cls, buffer, byte_order="native", count=-1, offset=0, *, dtype=None):
        """A copy of count elements of dtype behind offset bytes of a buffer."""
        return TypedStorage.from_buffer(
            buffer, byte_order, count, offset, dtype=dtype or _C.uint8
        ).untyped()

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The bytes of a file, mapped."""
        self = from_file(filename, shared, nbytes, dtype=_C.uint8).untyped_storage()
        self.filename = filename
        return self

    def untyped(self):
        """The storage itself."""
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
        return self._flat.nbytes

    size = nbytes
    __len__ = nbytes

    def element_size(self):
        """1: a storage without a type has bytes."""
        return 1

    def data_ptr(self):
        """The address of the first byte."""
        return self._flat.data_ptr()

    _cdata = property(data_ptr)

    def __getitem__(self, index):
        _no_meta(self.device)
        if isinstance(index, slice):
            return UntypedStorage._flat_of(self._bytes()[index])
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
        if source.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        if self.nbytes() != source.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was "
                f"{source.nbytes()} bytes"
            )
        self._bytes().copy_(source._bytes())
        return self

    def clone(self):
        """A copy."""
        return UntypedStorage._flat_of(self._bytes().clone())

    def get_device(self):
        """The number of the device, -1 of the CPU."""
        return self._tensor.get_device()

    def share_memory_(self):
        """Moves the bytes to memory that other processes may have."""
        if self.device.type == "meta":
            _only_of_the_cpu(self, "share_memory_")
        self._flat = self._tensor = share_memory_(self._flat)
        return self

    def cpu(self):
        """The storage itself, if it is in the CPU's memory, else a copy there."""
        if self.device.type == "cpu":
            return self
        return UntypedStorage._of(self._flat.cpu())

    def tolist(self):
        """The bytes as numbers."""
        _no_meta(self.device)
        return self._bytes().tolist()

    def is_pinned(self, device="cuda"):
        """Whether copies to a GPU need not wait."""
        return self._tensor.is_pinned()

    def is_shared(self):
        """Whether other processes may have this memory."""
        return is_shared(self._flat)

    def _as_tensor(self, dtype=None):
        """The bytes as a flat tensor of dtype in the same memory."""
        return self._flat if self._flat.dtype is dtype else self._bytes().view(dtype or _C.uint8)

    def resize_(self, size):
        """Refused: a tensor's memory keeps its size."""
        _no_resize(self)

    def _share_fd_cpu_(self):
        _only_of_the_cpu(self, "_share_fd_cpu_")

    def _share_filename_cpu_(self):
        _only_of_the_cpu(self, "_share_filename_cpu_")

    def _write_file(self, f, is_real_file, save_size, element_size):
        """Writes the bytes, behind the number of elements if save_size."""
        _no_meta(self.device)
        if save_size:
            f.write((self.nbytes() // element_size).to_bytes(8, "little"))
        f.write(memoryview(self._bytes()))

    def byteswap(self, dtype):
        """Turns the bytes of each element of dtype around, in place."""
        flat = self._bytes()
        flat.copy_(flat.view(-1, dtype.itemsize).flip(1).reshape(-1))

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
        meta = self.device.type == "meta"
        body = "..." if meta else "".join(f"\n {b}" for b in self.tolist())
        return f"{body}\n[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


class TypedStorage(_Copied):
    """The memory as elements of a dtype: t.storage(), which torch has deprecated."""

    is_sparse = False

    def __init__(self, *args, device=None, dtype=None, wrap_storage=None, _internal=False):
        wrong = (
            "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
            " * (*, torch.device device, torch.dtype dtype)\n"
            " * (int size, *, torch.device device, torch.dtype dtype)\n"
            " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
            " * (*, UntypedStorage wrap_storage, torch.dtype dtype)"
        )
        if wrap_storage is None:
            self.dtype = dtype or _C.get_default_dtype()
            flat = _made(args, self.dtype, _place(device), wrong)
            self._untyped_storage = UntypedStorage._of(flat)
            return
        if args:
            raise RuntimeError(
                f"{wrong}\nNo positional arguments should be given when using 'wrap_storage'"
            )
        if dtype is None:
            raise RuntimeError(f"{wrong}\nArgument 'dtype' must be specified")
        if not isinstance(dtype, _C.dtype):
            raise TypeError(f"{wrong}\nArgument 'dtype' must be torch.dtype, not {type(dtype)}")
        if device is not None:
            raise RuntimeError(
                f"{wrong}\nArgument 'device' should not be specified when 'wrap_storage' is given"
            )
        if not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(
                f"{wrong}\nArgument 'wrap_storage' must be UntypedStorage, but got "
                f"{type(wrap_storage)}"
            )
        self._untyped_storage, self.dtype = wrap_storage, dtype

    @classmethod
    def _of(cls, flat):
        return TypedStorage(wrap_storage=UntypedStorage._of(flat), dtype=flat.dtype)

    @classmethod
    def from_buffer(cls, buffer, byte_order="native", count=-1, offset=0, *, dtype=None):
        """A copy of count elements of dtype behind offset bytes of a buffer."""
        dtype = dtype or _C.get_default_dtype()
        size, whole = dtype.itemsize, memoryview(buffer).cast("B")
        if byte_order not in ("native", "little", "big"):
            raise ValueError(
                f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')"
            )
        if not 0 <= offset <= len(whole):
            raise ValueError(
                f"offset must be non-negative and no greater than buffer length ({len(whole)}), "
                f"but got {offset}"
            )
        whole = whole[offset:]
        if count < 0 and len(whole) % size:
            raise ValueError(f"buffer size ({len(whole)}) must be a multiple of {size}")
        if count * size > len(whole):
            raise ValueError(
                f"buffer has only {len(whole) // size} elements after offset {offset}, but "
                f"specified a size of {count}"
            )
        count = len(whole) // size if count < 0 else count
        flat = _C.empty(0, dtype=_C.uint8)
        if count:
            flat = _C.frombuffer(bytearray(whole[: count * size]), dtype=_C.uint8)
        if byte_order not in ("native", _sys.byteorder):
            flat = flat.view(count, size).flip(1).reshape(-1)
        return cls._of(flat != 0 if dtype is _C.bool else flat.view(dtype))

    @classmethod
    def from_file(cls, filename, shared=False, size=0):
        """The elements of a file, mapped; of a class with a dtype, as torch.FloatStorage."""
        raise RuntimeError("from_file can only be called on derived classes")

    def _flat(self):
        flat = self._untyped_storage._flat
        if flat.dtype is self.dtype:
            return flat
        return self._untyped_storage._bytes().view(self.dtype)

    @property
    def device(self):
        """Where the memory is."""
        return self._untyped_storage.device

    @property
    def _cdata(self):
        return self._untyped_storage._cdata

    @property
    def filename(self):
        """The file that is mapped, or None."""
        return self._untyped_storage.filename

    is_cuda = property(lambda self: self._untyped_storage.is_cuda)

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
        return self.dtype.itemsize

    def data_ptr(self):
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    def get_device(self):
        """The number of the device, -1 of the CPU."""
        return self._untyped_storage.get_device()

    def __getitem__(self, index):
        _no_meta(self.device)
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        return self._flat()[index].item()

    def __setitem__(self, index, value):
        if not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if is_storage(value):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._flat()[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def fill_(self, value):
        """Sets all elements."""
        self[:] = value
        return self

    def copy_(self, source, non_blocking=None):
        """Copies the elements of a storage of the same size."""
        if source.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        source = source._flat() if isinstance(source, TypedStorage) else source._bytes()
        self._flat().copy_(source)
        return self

    def clone(self):
        """A copy."""
        return self._of(self._flat().clone())

    def type(self, dtype=None, non_blocking=False):
        """The name of the class, torch.FloatStorage; of dtype, a storage of that."""
        if dtype is None:
            return f"torch.{_named(self.dtype)}"
        return self.to_dtype(getattr(dtype, "dtype", dtype))

    def to_dtype(self, dtype):
        """A copy with the elements cast."""
        return self._of(self._flat().to(dtype).clone())

    def to(self, *, device, non_blocking=False):
        """The storage on a device."""
        return self._of(self._flat().to(device))

    def cuda(self, device=None, non_blocking=False):
        """A copy on a GPU."""
        return self._of(self._flat().cuda(device))

    def cpu(self):
        """The storage itself, if it is in the CPU's memory, else a copy there."""
        return self if self.device.type == "cpu" else self._of(self._flat().cpu())

    def is_pinned(self, device="cuda"):
        """Whether copies to a GPU need not wait."""
        return self._untyped_storage.is_pinned()

    def tolist(self):
        """The elements as numbers."""
        _no_meta(self.device)
        return self._flat().tolist()

    def is_shared(self):
        """Whether other processes may have this memory."""
        return self._untyped_storage.is_shared()

    def share_memory_(self):
        """Moves the elements to memory that other processes may have."""
        self._untyped_storage.share_memory_()
        return self

    def resizable(self):
        """False: a tensor's memory keeps its size."""
        return False

    def resize_(self, size):
        """Refused: a tensor's memory keeps its size."""
        _no_resize(self)

    def _share_fd_cpu_(self):
        _only_of_the_cpu(self, "_share_fd_cpu_")

    def _share_filename_cpu_(self):
        _only_of_the_cpu(self, "_share_filename_cpu_")

    def _write_file(self, *args):
        self._untyped_storage._write_file(*args)

    def _as_tensor(self, dtype=None):
        """The elements as a flat tensor in the same memory, for tensor() and set_()."""
        if dtype is not None and self.dtype is not dtype:
            raise RuntimeError(
                f"Expected a Storage of type {_named(dtype)} or an UntypedStorage, but got type "
                f"{_named(self.dtype)} for argument 1 'storage'"
            )
        return self._flat()

    def pickle_storage_type(self):
        """The name of the class."""
        return _named(self.dtype)

    def __eq__(self, other):
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self.dtype is other.dtype and self._untyped_storage == other._untyped_storage

    def __hash__(self):
        return hash(self._untyped_storage)

    def __repr__(self):
        meta = self.device.type == "meta"
        body = "..." if meta else "".join(f"\n {x}" for x in self.tolist())
        return (
            f"{body}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of "
            f"size {len(self)}]"
        )


def _cast(dtype):
    def cast(self):
        return self.to_dtype(dtype)

    cast.__doc__ = f"A copy with elements of {dtype}."
    return cast


for _name in "double float half long int short char byte bool bfloat16".split():
    _dtype = {"char": _C.int8, "byte": _C.uint8}.get(_name) or getattr(_C, _name)
    setattr(TypedStorage, _name, _cast(_dtype))
TypedStorage.complex_double = _cast(_C.complex128)
TypedStorage.complex_float = _cast(_C.complex64)


class _LegacyMeta(type):
    """Of the classes FloatStorage, ..: objects are typed storages of their dtype."""

    dtype = None

    def __instancecheck__(cls, value):
        if type(value) is not TypedStorage:
            return False
        return cls.dtype is None or value.dtype is cls.dtype and value.is_cuda == bool(cls._where)


class _LegacyStorage(TypedStorage, metaclass=_LegacyMeta):
    """What FloatStorage(..) and its like have in common; they make typed storages."""

    _where = None  # "cuda": torch.cuda.FloatStorage

    def __new__(cls, *args, wrap_storage=None, **kwargs):
        wrong = (
            f"{cls}.__new__ received an invalid combination of arguments. Expected one of:\n"
            " * no arguments\n * (int size)\n * (Sequence data)\n"
            " * (*, UntypedStorage wrap_storage)"
        )
        if cls.dtype is None:
            raise RuntimeError("Only child classes of _LegacyStorage can be instantiated")
        for word in ("device", "dtype"):
            if word in kwargs:
                raise RuntimeError(f"{wrong}\nKeyword argument '{word}' cannot be specified")
        for word in kwargs:
            raise TypeError(f"{cls}.__new__() got an unexpected keyword argument '{word}'")
        if wrap_storage is None:
            return TypedStorage._of(_made(args, cls.dtype, _place(cls._where), wrong))
        if args:
            raise RuntimeError(
                f"{wrong}\nNo positional arguments should be given when using 'wrap_storage'"
            )
        if not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(
                f"{wrong}\nArgument 'wrap_storage' must be UntypedStorage, but got "
                f"{type(wrap_storage)}"
            )
        return TypedStorage(wrap_storage=wrap_storage, dtype=cls.dtype)

    @classmethod
    def from_buffer(cls, buffer, byte_order="native", count=-1, offset=0):
        """A copy of count elements behind offset bytes of a buffer."""
        if cls._where:
            raise RuntimeError("from_buffer: Not available for CUDA storage")
        return TypedStorage.from_buffer(buffer, byte_order, count, offset, dtype=cls.dtype)

    @classmethod
    def from_file(cls, filename, shared=False, size=0):
        """The elements of a file, mapped."""
        made = TypedStorage._of(from_file(filename, shared, size, dtype=cls.dtype))
        made._untyped_storage.filename = filename
        return made


def legacy(module="torch", where=None):
    """name -> class, of all dtypes."""
    found = {}
    for dtype, name in _NAMES.items():
        own = {"dtype": dtype, "_where": where, "__doc__": f"Storages of {dtype}."}
        own["__module__"] = module
        found[name] = _LegacyMeta(name, (_LegacyStorage,), own)
    return found


LEGACY = legacy()
_storage_classes = {UntypedStorage, TypedStorage, *LEGACY.values()}


def __getattr__(name):
    if name in LEGACY:
        return LEGACY[name]
    raise AttributeError(f"module 'torch.storage' has no attribute {name!r}")


def from_file(
    filename,
    shared=False,
    size=0,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
):
    """A tensor of size elements whose memory is the file's, mapped.

    shared: what is written reaches the file, which is made if there is none and is as long as the
    tensor at least. Without shared the file is read, and what is written stays in this process."""
    if layout not in (None, _C.strided):
        raise NotImplementedError(f"from_file(): a file is strided, not {layout}")
    if device is not None and _C.device(device).type != "cpu":
        raise NotImplementedError(f"from_file(): a file is mapped on the CPU, not on {device}")
    if pin_memory:
        raise RuntimeError("tensors constructed from a file cannot be pinned")
    dtype = dtype or _C.get_default_dtype()
    mapped = _mapped(filename, shared, size, dtype)
    return mapped.requires_grad_(True) if requires_grad else mapped


def _mapped(filename, shared, size, dtype):
    bytes_ = (size or 0) * dtype.itemsize
    if not bytes_:
        return _C.empty(0, dtype=dtype)
    with open(filename, "r+b" if shared and _os.path.exists(filename) else
              "w+b" if shared else "rb") as f:  # fmt: skip
        have = _os.fstat(f.fileno()).st_size
        if have < bytes_ and not shared:
            raise RuntimeError(f"file {filename} has {have} bytes, too few for {bytes_}")
        if have < bytes_:
            f.truncate(bytes_)
        access = _mmap.ACCESS_WRITE if shared else _mmap.ACCESS_COPY
        return _C.frombuffer(_mmap.mmap(f.fileno(), bytes_, access=access), dtype=dtype)


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
    reductions = _sys.modules.get(f"{__package__}.multiprocessing.reductions")
    return self.is_cuda or (reductions is not None and reductions.is_shared(self))


def storage_type(self):
    """The class of torch.FloatStorage's kind for the tensor's dtype."""
    return LEGACY[_named(self.dtype)]


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Lets the tensor have the memory of source, a tensor or a storage, with that one's shape or
    the one given; of no source, none. Views of the tensor keep what they had."""
    if source is None:
        new = _C.empty(0, dtype=self.dtype, device=self.device)
    elif is_storage(source):
        new = source._as_tensor(self.dtype)
    elif source.dtype is not self.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}"
        )
    else:
        new = source.detach()
    if size is not None or storage_offset:
        size = tuple(new.shape) if size is None else tuple(size)
        if stride is None:
            stride, step = [], 1
            for n in reversed(size):
                stride.insert(0, step)
                step *= max(n, 1)
        new = new.as_strided(size, tuple(stride), storage_offset)
    try:
        self.data = new
    except MemoryError:
        raise
    except RuntimeError:  # self is a view
        self._become(new)
    return self


def is_set_to(self, tensor):
    """Whether both are the same elements of the same memory."""
    return (
        self.untyped_storage() == tensor.untyped_storage()
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


METHODS = {
    "storage_type": storage_type, "set_": set_, "is_set_to": is_set_to,
    "untyped_storage": untyped_storage, "storage": storage, "share_memory_": share_memory_,
    "is_shared": is_shared,
}  # fmt: skip
