"""The format of torch.save before torch 1.6, which _use_new_zipfile_serialization=False writes.

A file is a row of pickles, a magic number, a version, what the machine was, the object and the keys
of its storages, and behind them each storage: the number of its elements and their bytes. How many
bytes an element has stands in the object's pickle alone. So the pickle is skimmed first: its
opcodes run, but nothing is made.
"""

import io
import pickle
import pickletools
from pickle import UnpicklingError

from ._unpickle import Machine, Maker, refuse

MAGIC = 0x1950A86A20F9469CFC6C
VERSION = 1001
_HEAD = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
_SYSTEM = (  # {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, ..}}
    b"\x80\x02}q\x00(X\x10\x00\x00\x00protocol_versionq\x01M\xe9\x03X\r\x00\x00\x00little_endian"
    b"q\x02\x88X\n\x00\x00\x00type_sizesq\x03}q\x04(X\x05\x00\x00\x00shortq\x05K\x02X\x03\x00\x00"
    b"\x00intq\x06K\x04X\x04\x00\x00\x00longq\x07K\x04uu."
)
_CHUNK = 1 << 20


# --- reading --------------------------------------------------------------------------------------


class _Nothing:
    """What a call in a pickle that is skimmed gives."""

    def __hash__(self):
        return 0


class _Skim(Machine):
    """Runs a pickle for its persistent ids: calls give nothing, and nothing takes all members."""

    def __init__(self, data):
        self.storages = {}  # key: (its class, elements)
        super().__init__(data, Maker, self._note, coding="latin1")

    def _note(self, pid):
        if type(pid) is tuple and len(pid) >= 5 and pid[0] == "storage":
            kind, key, numel = pid[1], pid[2], pid[4]
            if type(kind) is not Maker or type(key) is not str or type(numel) is not int:
                refuse("persistent id: expected a storage")
            self.storages.setdefault(key, (kind.name, numel))
        return _Nothing()

    def _top(self, *kinds):
        return None if type(self._stack[-1]) is _Nothing else super()._top(*kinds)

    def _append(self):
        item = self._pop()
        if self._top(list) is not None:
            self._stack[-1].append(item)

    def _appends(self):
        items = self._since_mark()
        if self._top(list) is not None:
            self._stack[-1].extend(items)

    def _add_items(self):
        self._since_mark()

    def _set_items(self, items):
        """Keys are not looked at again."""

    def _global_of(self, module, name):
        self._push(Maker(f"{module}.{name}"))

    def _reduce(self):
        self._pop()
        self._stack[-1] = _Nothing()

    def _new_with_names(self):
        self._pop()
        self._reduce()

    def _build(self):
        self._pop()

    operations = {
        **Machine.operations, ord("a"): _append, ord("e"): _appends, 0x90: _add_items,
        ord("R"): _reduce, 0x81: _reduce, 0x92: _new_with_names, ord("b"): _build,
    }  # fmt: skip


class _Any(type):
    """Classes that are all that a pickle asks of what it has made: their objects, too."""

    def __call__(cls, *args, **kwargs):
        return cls

    def _take(cls, *args):
        """Members and states, which are of no use."""

    append = extend = add = __setitem__ = __setstate__ = _take


class _Stubs(pickle.Unpickler):
    """Runs a pickle that is trusted, of any opcodes, for its persistent ids: nothing is called."""

    def __init__(self, data):
        super().__init__(io.BytesIO(data), encoding="latin1")
        self._made = {}
        self.storages = {}  # as _Skim's

    def find_class(self, module, name):
        full = f"{module}.{name}"
        if full not in self._made:
            own = {"full": full, "__new__": lambda cls, *args, **kwargs: cls}
            self._made[full] = _Any("_Stub", (), own)
        return self._made[full]

    def persistent_load(self, pid):
        if type(pid) is tuple and len(pid) >= 5 and pid[0] == "storage":
            kind, key, numel = pid[1], pid[2], pid[4]
            if type(kind) is not _Any or type(key) is not str or type(numel) is not int:
                refuse("persistent id: expected a storage")
            self.storages.setdefault(key, (kind.full, numel))
        return self.find_class("a persistent", "id")


class _Limited:
    """A file that reads no more than it has left, whatever length a pickle gives."""

    def __init__(self, file, size):
        self._file, self._size = file, size
        self.tell = file.tell

    def readline(self):
        return self._file.readline()

    def read(self, n):
        return self._file.read(max(0, min(n, self._size - self._file.tell())))


class Reader:
    """The storages of a file as if they were members of an archive.

    itemsize(name) gives the bytes of an element of a class of storages; 0: no such class. trusted:
    the object's pickle may have opcodes that the machine of data does not know.
    """

    legacy = True
    members = ()

    def __init__(self, file, itemsize, trusted=False):
        self._file = file
        file.seek(0, 2)
        self._size = file.tell()
        file.seek(0)
        if self._plain(self._pickle()) != MAGIC:
            raise RuntimeError("Invalid magic number; corrupt file?")
        version = self._plain(self._pickle())
        if version != VERSION:
            raise RuntimeError(f"Invalid protocol version: {version}")
        system = self._plain(self._pickle())
        if type(system) is not dict or system.get("little_endian", True) is not True:
            raise ValueError("the file has another byte order")
        self._data = self._pickle()
        keys = self._plain(self._pickle())
        skim = _Stubs(self._data) if trusted else _Skim(self._data)
        skim.load()
        self._places = self._storages(keys, skim.storages, itemsize)

    @staticmethod
    def _plain(data):
        none = Machine(data, lambda name: None, lambda pid: refuse("no storage is expected"))
        return none.load()

    def _pickle(self):
        """The bytes of the pickle that begins here."""
        begin = self._file.tell()
        try:
            for _ in pickletools.genops(_Limited(self._file, self._size)):
                pass
        except (ValueError, UnicodeError, OverflowError, MemoryError) as e:
            raise UnpicklingError(f"the pickle is damaged: {e}") from e
        end = self._file.tell()
        self._file.seek(begin)
        return self._file.read(end - begin)

    def _storages(self, keys, known, itemsize):
        """{key: (offset, bytes)}; the file is at the end of the last then."""
        places, at = {}, self._file.tell()
        for key in keys if type(keys) is list else refuse("the keys of the storages are no list"):
            if type(key) is not str or key not in known or key in places:
                refuse("the keys of the storages are not those of the object")
            kind, numel = known[key]
            each = itemsize(kind)
            self._file.seek(at)
            stored = int.from_bytes(self._file.read(8), "little")
            if not each or stored != numel or numel * each > self._size - at - 8:
                refuse(f"storage {key} and its data differ in size")
            places[key] = (at + 8, numel * each)
            at += 8 + numel * each
        self._file.seek(at)
        self._end = at
        return places

    def finish(self):
        """The file is behind the object."""
        self._file.seek(self._end)

    # What a zip archive has, too; names are archive/data.pkl and archive/data/KEY.

    def read(self, name):
        """The pickle."""
        return self._data

    def _place(self, name):
        key = name.partition("/data/")[2]
        if key not in self._places:
            refuse(f"storage {key} has no data")
        return self._places[key]

    def offset(self, name):
        """Where the data of a storage begin."""
        return self._place(name)[0]

    def size(self, name):
        """Bytes of a storage."""
        return self._place(name)[1]

    take = size

    def read_into(self, name, to):
        """Writes the data of a storage to a memoryview of its size."""
        self._file.seek(self.offset(name))
        for at in range(0, len(to), _CHUNK):
            part = to[at : at + _CHUNK]
            if hasattr(self._file, "readinto"):
                n = self._file.readinto(part)
            else:
                data = self._file.read(len(part))
                n = len(data)
                part[:n] = data[: len(part)]
            if n != len(part):
                refuse("the file ends too early")


# --- writing --------------------------------------------------------------------------------------


def write(f, data, keys, storages):
    """Writes the pickles of an object and of the keys of its storages, and these: (elements, bytes)
    of each, in the order of the keys."""
    for part in (_HEAD, _SYSTEM, data, keys):
        f.write(part)
    for numel, view in storages:
        f.write(numel.to_bytes(8, "little"))
        for at in range(0, len(view), 64 * _CHUNK):
            f.write(view[at : at + 64 * _CHUNK])
