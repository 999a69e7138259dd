"""torch.serialization - files of torch (.pt, .pth): written, and read as data.

A file is a zip archive of a pickle and of the storages as they lie in memory. It is untrusted: any
bytes are a file or an error, nothing in them is imported or run, and sizes are checked before
memory is made. So it gives tensors, parameters, numbers, texts, bytes, dtypes, devices, sizes and
containers of them, and what add_safe_globals names. Objects of other classes, whole modules too,
are saved as pickle saves them, and read with weights_only=False alone, which imports and runs what
the file names.
"""

import io
import os
import pickle
import re
from collections.abc import Callable
from typing import IO, Any

from . import _C
from ._cuda import usable as _usable
from ._pickle import STORAGES, Writer
from ._unpickle import Machine, Maker, refuse, set_attributes
from ._zip import DamagedError
from ._zip import Reader as _ZipReader
from ._zip import Writer as _ZipWriter

__all__ = [
    "add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save",
]  # fmt: skip
MAP_LOCATION = Callable[[Any, str], Any] | _C.device | str | dict[str, str] | None
FILE_LIKE = str | os.PathLike | IO[bytes]

_DTYPES = {name: getattr(_C, name) for name in dir(_C) if isinstance(getattr(_C, name), _C.dtype)}
_DTYPE_OF_STORAGE = {storage: _DTYPES[name] for name, storage in STORAGES.items()}


_CPU = _C.device("cpu")


def _is_path(f):
    return isinstance(f, (str, bytes, os.PathLike))


# --- saving ---------------------------------------------------------------------------------------


def save(
    obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True, **unknown
):
    """Saves an object to a path or a file that is open for writing.

    A path holds the old file or the new one, also where the program ends in between. Tensors that
    share memory share it in the file; of a storage everything up to its last element that is used
    is written. The pickle is of protocol 2, which torch.load reads with weights_only=True.
    _use_new_zipfile_serialization=False writes the format of torch before 1.6.
    """
    if unknown.keys() - {"_disable_byteorder_record"}:
        raise TypeError(f"save(): unknown arguments {sorted(unknown)}")
    if pickle_module not in (None, pickle):
        raise ValueError("save(): the pickle is written by tensorh; pickle_module is not supported")
    if not _is_path(f) and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    writer = Writer(legacy=not _use_new_zipfile_serialization)
    data = writer.dump(obj)
    if _is_path(f):
        _save_to_path(os.fsdecode(os.path.realpath(f)), data, writer)
        return
    _write(f, data, writer)
    if hasattr(f, "flush"):
        f.flush()


def _save_to_path(path, data, writer):
    if os.path.exists(path) and not os.path.isfile(path):  # a device, a pipe
        with open(path, "wb") as f:
            _write(f, data, writer)
        return
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else None
    fd, temporary = _temporary(folder, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(fd, "wb") as f:
            _write(f, data, writer)
            f.flush()
            os.fsync(f.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _temporary(folder, mode):
    """A new file in a folder, with the rights that the process gives of these; and its path."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = os.path.join(folder, f".tmp{os.urandom(8).hex()}")
        try:
            return os.open(path, flags, mode), path
        except FileExistsError:
            continue


def _bytes_of(s):
    """What the file has of a storage."""
    t = s.tensor
    if not t.is_cpu:  # all of the storage that the file has, in its order
        t = t.detach().as_strided((s.numel,), (1,), 0).cpu()
    return memoryview(_C._storage_bytes(t.detach()))


def _write(f, data, writer):
    if writer.legacy:
        from . import _legacy

        storages = sorted(writer.storages.values(), key=lambda s: s.key)
        keys = Writer().dump([s.key for s in storages])
        _legacy.write(f, data, keys, ((s.numel * s.each, _bytes_of(s)) for s in storages))
        return
    archive = _ZipWriter(f)
    archive.add("archive/data.pkl", data)
    archive.add("archive/byteorder", b"little")
    for s in writer.storages.values():
        archive.add(f"archive/data/{s.key}", _bytes_of(s))
    archive.add("archive/version", b"3\n")
    archive.finish()


# --- loading --------------------------------------------------------------------------------------


class _Storage:
    """A storage of a file; its memory is made when a tensor asks for it."""

    def __init__(self, key, dtype, numel, location):
        self.key = key
        self.dtype = dtype  # None: bytes, whose dtype the tensor says
        self.numel = numel
        self.location = location
        self.tensor = None
        self.root = None  # (storage, offset): of what torch 0.3 saved as a part of another storage
        self.given = 0  # how often it is an object of its own, not a tensor's
        self.placed = _CPU  # where a function of map_location wants it
        self.twins = {}  # {bits: the storage as torch reads it with them}

    @property
    def device(self):
        return _C.device(self.location)

    def cpu(self):
        self.placed = _CPU
        return self

    def cuda(self, device=None):
        self.placed = _usable("cuda" if device is None else _C.device(device))
        return self

    def size(self):
        return self.numel


def _word(o):
    """A text of a file, which Python 2 may have written as bytes."""
    return o.decode("ascii", "replace") if type(o) is bytes else o


def _count(*values):
    for v in values:
        if type(v) is not int:
            refuse(f"expected a size, not a {type(v).__name__}")
        if not 0 <= v < 1 << 62:
            refuse("a size is out of range")


def _device_finder(map_location):
    """A function (storage, location) -> device that map_location asks for."""
    if map_location is None:
        return lambda storage, location: _restore(location)
    if isinstance(map_location, (str, _C.device)):
        device = _C.device(map_location)
        return lambda storage, location: device
    if isinstance(map_location, dict):
        return lambda storage, location: _restore(map_location.get(location, location))
    if callable(map_location):

        def call(storage, location):
            given = map_location(storage, location)
            return _restore(location) if given is None else getattr(given, "placed", _CPU)

        return call
    raise TypeError(f"map_location: {map_location!r} is not supported")


def _restore(location):
    try:
        return _usable(location)
    except MemoryError:
        raise
    except RuntimeError as e:
        from . import cuda

        if location.partition(":")[0] != "cuda":
            where = f"device {location!r}, which is not there"
        elif cuda.is_available():
            where = f"{location} but torch.cuda.device_count() is {cuda.device_count()}"
        else:
            where = "a CUDA device but torch.cuda.is_available() is False"
        raise RuntimeError(
            f"Attempting to deserialize object on {where}. If you are running on a CPU-only "
            "machine, please use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU."
        ) from e


# What a trusted file has as classes, which it may call, too.
_BYTES = ("torch.storage.UntypedStorage", "torch.UntypedStorage")
_CLASSES = ("torch.Tensor", "torch.nn.parameter.Parameter", "torch.Size", "torch.device")


class _Call:
    """A function of torch's that a trusted file calls: what a Maker makes of its arguments."""

    def __init__(self, loader, maker):
        self.loader = loader
        self.maker = maker

    def __call__(self, *args):
        return self.maker.make(self.loader, args)


class _Loader:
    """One file being read."""

    def __init__(self, archive, prefix, map_location, mapped, coding="utf-8"):
        self._archive = archive
        self._coding = coding
        self._prefix = prefix
        self._device_of = _device_finder(map_location)
        self._mapped = mapped  # the file as memory, or None
        self._storages = {}
        self._makers = {
            "torch._utils._rebuild_tensor": self._tensor_plain,
            "torch._utils._rebuild_tensor_v2": self._tensor,
            "torch._utils._rebuild_tensor_v3": self._tensor_of_bytes,
            "torch._utils._rebuild_meta_tensor_no_storage": self._tensor_of_none,
            "torch._utils._rebuild_sparse_tensor": self._sparse,
            "torch.serialization._get_layout": self._layout,
            "torch._utils._rebuild_parameter": self._parameter,
            "torch._utils._rebuild_parameter_with_state": self._parameter,
            "torch._tensor._rebuild_from_type_v2": self._typed,
            "torch.Size": self._size,
            "torch.device": self._device,
        }

    def _machine(self, allowed):
        data = self._archive.read(f"{self._prefix}/data.pkl")
        return Machine(data, self._find, self._persistent, allowed, self._coding)

    def load(self, trusted=False):
        if trusted:
            data = self._archive.read(f"{self._prefix}/data.pkl")
            made = _Unpickler(io.BytesIO(data), self, self._coding).load()
        else:
            made = self._machine(_allowed()).load()
        for s in self._storages.values():
            if s.given:
                self._become_object(s)
        return made

    # --- globals ----------------------------------------------------------------------------------

    def spend(self, n):
        """What the makers ask of a Machine, where the file is trusted."""

    def call(self, full):
        """What a global of torch's own is where the file is trusted: a function that makes what the
        file says, a dtype, a type of storages; None for a class and for what is none of them."""
        found = None if full in _CLASSES else self._find(full)
        if type(found) is not Maker or found.make is None:
            return found
        return _Call(self, found)

    def _find(self, full):
        module, _, name = full.rpartition(".")
        if full in self._makers:
            return Maker(full, self._makers[full])
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        if module == "torch" and name in _DTYPE_OF_STORAGE:
            return Maker(full, None, _DTYPE_OF_STORAGE[name])
        if full in _BYTES or full == "torch.Tensor":
            return Maker(full)
        return Maker(full) if full == "torch.nn.parameter.Parameter" else None

    def _persistent(self, pid):
        part = None
        if self._archive.legacy and type(pid) is tuple:
            if len(pid) == 4 and _word(pid[0]) == "module":
                return pid[1]  # a class, with the text of its source
            *pid, part = (_word(x) for x in pid)
            pid = tuple(pid)
        if type(pid) is not tuple or len(pid) != 5 or pid[0] != "storage":
            refuse("persistent id: expected a storage")
        s = self._storage(*pid[1:])
        s = s if part is None else self._part(s, part)
        s.given += 1
        return s

    def _storage(self, kind, key, location, numel):
        if type(kind) is not Maker or "Storage" not in kind.name:
            refuse("persistent id: expected a storage type")
        if type(key) is not str or type(location) is not str:
            refuse("persistent id: key and location must be str")
        _count(numel)
        each = kind.state.itemsize if kind.state else 1
        if numel * each != self._archive.size(f"{self._prefix}/data/{key}"):
            refuse(f"storage {key} and its data differ in size")
        s = self._storages.get(key)
        if s is None:
            s = self._storages[key] = _Storage(key, kind.state, numel, location)
        elif s.dtype is not kind.state:
            if numel == 0:
                empty = _Storage(key, kind.state, 0, location)
                return self._storages.setdefault((key, kind.state), empty)
            refuse(f"storage {key} is of two types")
        return s

    def _part(self, s, part):
        """A storage that torch 0.3 saved as a part of another one: (key, offset, elements)."""
        if type(part) is not tuple or len(part) != 3 or type(_word(part[0])) is not str:
            refuse("persistent id: expected the part of a storage")
        key, offset, numel = part
        _count(offset, numel)
        if offset + numel > s.numel:
            refuse("a part reaches beyond its storage")
        key = ("part", _word(key))
        if key not in self._storages:
            self._storages[key] = _Storage(key, s.dtype, numel, s.location)
            self._storages[key].root = (s, offset)
        return self._storages[key]

    def _become_object(self, s):
        """Makes a storage that is in the data itself what programs know as a storage."""
        from .storage import TypedStorage, UntypedStorage

        root, start = s.root or (s, 0)
        dtype = root.dtype or _C.uint8
        if root.tensor is None and root.numel:
            root.tensor = self._memory(root, dtype, (root.numel,))
        if not s.numel:
            flat = _C.empty(0, dtype=dtype).to(self._device_of(s, s.location))
        else:
            whole = root.tensor.detach()
            whole = whole.as_strided((whole.numel(),), (1,), 0)
            whole = whole if whole.dtype is dtype else whole.view(dtype)
            flat = whole[start : start + s.numel]
        vars(s).clear()
        s.__class__ = TypedStorage
        s._untyped_storage, s.dtype = UntypedStorage._flat_of(flat), dtype

    # --- tensors ----------------------------------------------------------------------------------

    def _memory(self, s, dtype, size):
        """Makes the memory of a storage, shaped like a tensor that is all of it."""
        name = f"{self._prefix}/data/{s.key}"
        numel = s.numel if s.dtype else s.numel // dtype.itemsize
        t = None
        if self._mapped is not None:
            self._archive.take(name)
            t = _C._from_memory(self._mapped, dtype, self._archive.offset(name), numel)
            t = t if t is None else t.reshape(size)
        if t is None:
            if self._mapped is None:
                self._archive.take(name)
            t = _C.empty(size, dtype=dtype)
            with memoryview(_C._storage_bytes(t)) as to:
                self._archive.read_into(name, to)
        device = self._device_of(s, s.location)
        return t if device == t.device else t.to(device)

    def _view(self, s, offset, size, stride, dtype):
        if type(s) is not _Storage or type(size) not in (tuple, _C.Size, list):
            refuse("a tensor: expected storage, offset, size and stride")
        if type(stride) not in (tuple, list) or len(stride) != len(size):
            refuse("a tensor: expected as many strides as sizes")
        _count(offset, *size, *stride)
        s.given -= 1
        if s.root is not None:
            if self._end(size, stride, offset) > s.numel:
                refuse("a tensor reaches beyond its storage")
            s, offset = s.root[0], offset + s.root[1]
        if s.dtype not in (None, dtype) or (s.dtype is None and s.numel % dtype.itemsize):
            refuse("a tensor: its dtype is not the storage's")
        held = s.numel if s.dtype else s.numel // dtype.itemsize
        numel, dense = 1, 1
        contiguous = True
        for n, step in zip(reversed(size), reversed(stride), strict=True):
            numel *= n
            contiguous = contiguous and (n == 1 or step == dense)
            dense *= n
        if not numel:
            return self._empty(s, size, dtype)
        end = self._end(size, stride, offset)
        if end > held:
            refuse(f"a tensor reaches beyond its storage: {end} of {held} elements")
        whole = contiguous and offset == 0 and numel == held
        if s.tensor is None:
            s.tensor = self._memory(s, dtype, tuple(size) if whole else (held,))
            if whole:
                return s.tensor
        if s.tensor.dtype is not dtype:
            refuse("two tensors of different dtypes share a storage")
        return s.tensor.as_strided(tuple(size), tuple(stride), offset)

    @staticmethod
    def _end(size, stride, offset):
        """Elements up to the last one of a tensor; 0 of an empty one."""
        if 0 in size:
            return 0
        return offset + 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))

    def _empty(self, s, size, dtype):
        return _C.empty(tuple(size), dtype=dtype).to(self._device_of(s, s.location))

    def _finish(self, t, requires_grad):
        if type(requires_grad) is not bool:
            refuse("requires_grad must be a bool")
        return t.requires_grad_(True) if requires_grad else t

    def _tensor_plain(self, machine, args):
        if len(args) != 4 or type(args[0]) is not _Storage:
            refuse("_rebuild_tensor: wrong arguments")
        return self._view(*args, args[0].dtype)

    def _tensor(self, machine, args):
        if len(args) not in (5, 6, 7) or type(args[0]) is not _Storage or not args[0].dtype:
            refuse("_rebuild_tensor_v2: wrong arguments")
        s = args[0]
        if args[6:] and args[6]:
            s = self._twin(s, args[6])
            args[0].given -= s is not args[0]
        return self._finish(self._view(s, *args[1:4], s.dtype), args[4])

    def _tensor_of_bytes(self, machine, args):
        if len(args) not in (7, 8) or type(args[6]) is not _C.dtype:
            refuse("_rebuild_tensor_v3: wrong arguments")
        if args[7:] and args[7]:
            refuse("_rebuild_tensor_v3: a conjugate or negative bit is not supported")
        return self._finish(self._view(*args[:4], args[6]), args[4])

    def _twin(self, s, bits):
        """A storage that torch reads conjugated or negated: what it reads there, made once."""
        if type(bits) is not dict or bits.keys() - {"conj", "neg"}:
            refuse("the metadata of a tensor is its conjugate and its negative bit")
        names = tuple(name for name in bits if bits[name] is True)
        if not s.dtype.is_complex and (not s.dtype.is_floating_point or "conj" in names):
            refuse(f"{s.dtype}: no dtype of a conjugate or negative bit")
        if names not in s.twins and s.numel:
            if s.tensor is None:
                s.tensor = self._memory(s, s.dtype, (s.numel,))
            twin = s.twins[names] = _Storage(s.key, s.dtype, s.numel, s.location)
            flat = s.tensor.reshape(-1)
            flat = flat.conj() if "conj" in names else flat
            twin.tensor = -flat if "neg" in names else flat
        return s.twins.get(names, s)

    def _tensor_of_none(self, machine, args):
        if len(args) != 4 or type(args[0]) is not _C.dtype:
            refuse("_rebuild_meta_tensor_no_storage: wrong arguments")
        dtype, size, stride, requires_grad = args
        if any(type(of) not in (tuple, _C.Size, list) for of in (size, stride)):
            refuse("a tensor: expected size and stride")
        _count(*size, *stride)
        from . import empty_strided

        t = empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta")
        return self._finish(t, requires_grad)

    def _layout(self, machine, args):
        if len(args) != 1 or type(args[0]) is not str:
            refuse("_get_layout: wrong arguments")
        layout = getattr(_C, args[0].removeprefix("torch."), None)
        if type(layout) is not type(_C.strided):
            refuse("a layout that is not known")
        return layout

    def _sparse(self, machine, args):
        from ._sparse import LAYOUTS, check, make

        if len(args) != 2 or args[0] not in LAYOUTS[1:] or type(args[1]) is not tuple:
            refuse("_rebuild_sparse_tensor: wrong arguments, or a layout that is not supported")
        coo = args[0] is _C.sparse_coo
        n = 2 if coo else 3
        parts, more = args[1][:n], args[1][n:]
        if len(more) not in ((1, 2) if coo else (1,)) or type(more[0]) not in (tuple, _C.Size):
            refuse("_rebuild_sparse_tensor: wrong arguments")
        if any(type(p) is not _C.Tensor for p in parts) or any(type(k) is not int for k in more[0]):
            refuse("_rebuild_sparse_tensor: expected tensors and a size")
        number = LAYOUTS.index(args[0])
        t = make(number, parts, more[0])
        check(number, parts, more[0])
        if more[1:] and more[1] is True:  # a file may say it of what is not in order
            keys = _C.sparse_keys(parts[0], list(more[0][: parts[0].shape[0]]))
            t._coalesced_(not bool((keys[1:] <= keys[:-1]).any()))
        return t

    def _parameter(self, machine, args):
        if len(args) not in (2, 3, 4) or not isinstance(args[0], _C.Tensor):
            refuse("_rebuild_parameter: wrong arguments")
        if type(args[1]) is not bool:
            refuse("requires_grad must be a bool")
        from .nn import Parameter

        p = Parameter(args[0], requires_grad=args[1])
        if len(args) == 4:
            self._attributes(p, args[3])
        return p

    @staticmethod
    def _attributes(t, state):
        if type(state) is not dict:
            refuse("the attributes of a tensor must be a dict")
        set_attributes(t, state)

    def _typed(self, machine, args):
        """A tensor with attributes: (function, class, arguments, attributes)."""
        if len(args) != 4 or type(args[2]) is not tuple:
            refuse("_rebuild_from_type_v2: wrong arguments")
        known = ("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3")
        make = args[0].maker if type(args[0]) is _Call else args[0]
        if type(make) is not Maker or make.name not in known:
            refuse("_rebuild_from_type_v2: wrong arguments")
        kind = args[1]
        if type(kind) is Maker:
            kind = {"torch.Tensor": _C.Tensor, "torch.nn.parameter.Parameter": _C.Parameter}.get(
                kind.name)  # fmt: skip
        if not isinstance(kind, type) or not issubclass(kind, _C.Tensor):
            refuse(f"{getattr(args[1], 'name', 'what it names')} is no class of tensors")
        t = make.make(machine, args[2])
        if kind is _C.Parameter:
            t = self._parameter(machine, (t, t.requires_grad))
        elif kind is not _C.Tensor:
            t = t.as_subclass(kind)
        self._attributes(t, args[3])
        return t

    # --- small things -----------------------------------------------------------------------------

    def _size(self, machine, args):
        if len(args) != 1 or type(args[0]) not in (tuple, list, _C.Size):
            refuse("torch.Size: a tuple is expected")
        machine.spend(len(args[0]))
        if any(type(n) is not int for n in args[0]):
            refuse("torch.Size: integers are expected")
        return _C.Size(args[0])

    def _device(self, machine, args):
        """A device that is there; for another one that on which its tensors are."""
        if len(args) not in (1, 2) or type(args[0]) is not str:
            refuse("torch.device: wrong arguments")
        _count(*args[1:])
        name = ":".join(map(str, args))
        try:
            return _usable(name)
        except MemoryError:
            raise
        except RuntimeError:
            return self._device_of(_Storage("", None, 0, name), name)


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **unknown):
    """Loads what save() or torch.save has written, from a path or a file that can seek.

    map_location: None, a device, {location: location}, or a function (storage, location); devices
    that are not there are asked of it, too, where a file read as data holds them as objects.
    weights_only: None and True read the file as data; False also makes objects of any class, which
    imports and runs what the file names: for files that you trust. mmap=True (paths): tensors lie
    over the file, read when used, and what is written to them stays out of it.
    """
    if pickle_module not in (None, pickle):
        raise ValueError("load(): the pickle is read by tensorh; pickle_module is not supported")
    trusted = weights_only is not None and not weights_only
    coding = unknown.pop("encoding", "utf-8")
    if unknown:
        raise TypeError(f"load(): unknown arguments {sorted(unknown)}")
    if type(coding) is not str:
        raise TypeError(f"load(): encoding must be str, not {type(coding).__name__}")
    if _is_path(f):
        with open(f, "rb") as file:
            try:
                return _load(file, map_location, mmap, trusted, coding)
            except (pickle.UnpicklingError, DamagedError, EOFError) as e:
                _named_in(e, f)
                raise
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not all(hasattr(f, name) for name in ("read", "seek", "tell")):
        raise AttributeError(
            "You can only torch.load from a file that is seekable. Please pre-load the data into a "
            "buffer like io.BytesIO and try to load from it instead."
        )
    return _load(f, map_location, mmap, trusted, coding)


class _Unpickler(pickle.Unpickler):
    """Reads a pickle that is trusted: torch's globals are those of the data, or tensorh's."""

    def __init__(self, file, loader, coding):
        super().__init__(file, encoding=coding)
        self._loader = loader

    def find_class(self, module, name):
        found = self._loader.call(f"{module}.{name}")
        if found is not None:
            return found
        if module == "torch" or module.startswith("torch."):
            module = "tensorh" + module[len("torch") :]
        return super().find_class(module, name)

    def persistent_load(self, pid):
        return self._loader._persistent(pid)


class _From:
    """A file from its position on, as a file of its own."""

    def __init__(self, file):
        self._file = file
        self._start = file.tell()
        self.read = file.read
        for name in ("readinto", "readline"):
            if hasattr(file, name):
                setattr(self, name, getattr(file, name))

    def seek(self, to, whence=0):
        self._file.seek(to + (0 if whence else self._start), whence)

    def tell(self):
        return self._file.tell() - self._start


def _named_in(error, f):
    """Names the file in an error."""
    error.args = (f"{os.fsdecode(f)}: {error}",)


def _load(file, map_location, mmap, trusted, coding):
    file = _From(file) if file.tell() else file
    head = file.read(4)
    if not head:
        raise EOFError("Ran out of input")
    if head[:1] == b"\x80":
        return _load_legacy(file, map_location, mmap, trusted, coding)
    if re.fullmatch(rb"[\x01-\x08]\0\0\0|[1-8]\n[0-9+-].?", head, re.S):
        raise pickle.UnpicklingError(
            "this is a file of Torch7 (.t7): read it by torch.utils.serialization.load_lua"
        )
    if head[:2] != b"PK":
        raise pickle.UnpicklingError("invalid load key: this is no file of torch.save")
    archive = _ZipReader(file)
    prefix = _prefix(archive)
    if f"{prefix}/constants.pkl" in archive.members:
        if trusted:
            from .jit import load as load_script

            return load_script(file, map_location)
        raise RuntimeError("this is a TorchScript archive: torch.jit.load reads its weights")
    order = f"{prefix}/byteorder"
    if order in archive.members and archive.size(order) <= 16:
        if archive.read(order) != b"little":
            raise ValueError("the file has another byte order")
    mapped = _map(file) if mmap else None
    return _Loader(archive, prefix, map_location, mapped, coding).load(trusted)


def _load_legacy(file, map_location, mmap, trusted, coding):
    """A file of torch before 1.6."""
    from ._legacy import Reader

    if mmap:
        raise RuntimeError(
            "mmap can only be used with files saved with `torch.save(_use_new_zipfile_"
            "serialization=True), please torch.save your checkpoint with this option in order to "
            "use mmap."
        )

    def itemsize(kind):
        dtype = _DTYPE_OF_STORAGE.get(kind.removeprefix("torch."))
        return dtype.itemsize if dtype else kind in _BYTES

    archive = Reader(file, itemsize, trusted)
    made = _Loader(archive, "archive", map_location, None, coding).load(trusted)
    archive.finish()
    return made


def _is_zipfile(f):
    """Whether a file is a zip archive from its position on, which stays."""
    at = f.tell()
    head = f.read(4)
    f.seek(at)
    return head == b"PK\3\4"


def _prefix(archive):
    for name in [*archive.members, *archive.deflated]:
        top, _, rest = name.partition("/")
        if rest == "data.pkl":
            return top
    raise DamagedError("failed reading zip archive: no data.pkl")


def _map(file):
    import mmap

    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


# --- globals that a program would allow -----------------------------------------------------------

_safe = []


def add_safe_globals(safe_globals):
    """Classes and functions that a program trusts: files read as data may name them, too, make
    objects of these classes and call these functions. An item may be (function, name in files)."""
    _safe.extend(g for g in safe_globals if g not in _safe)


def _allowed():
    """{name in files: class or function} of those."""
    names = {}
    for g in _safe:
        if isinstance(g, tuple):
            names[g[1]] = g[0]
            continue
        module = g.__module__
        if module == "tensorh" or module.startswith("tensorh."):
            module = "torch" + module[len("tensorh") :]
        names[f"{module}.{g.__qualname__}"] = g
    return names


def get_safe_globals():
    """What add_safe_globals has noted."""
    return list(_safe)


def clear_safe_globals():
    """Forgets it."""
    _safe.clear()


class safe_globals:
    """add_safe_globals for a block."""

    def __init__(self, safe_globals):
        self.given = list(safe_globals)

    def __enter__(self):
        self.before = list(_safe)
        add_safe_globals(self.given)
        return self

    def __exit__(self, *exc):
        _safe[:] = self.before


def __getattr__(name):
    from ._missing import error

    raise error("torch.serialization", name)
