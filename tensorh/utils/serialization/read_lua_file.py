"""Files of Torch7 (.t7), binary or ascii, read as data: nothing in them is run.

A file is a tree of objects. Each begins with the number of its kind; tables, functions and objects
of Torch have an index, by which later places of the file mean the same object. Any bytes are a file
or a T7ReaderException: each size is compared with what is left of the file before memory is made,
and the tree may be 100,000 objects deep."""

import os
import re
import struct

from ... import _C

__all__ = [
    "BooleanKey", "T7Reader", "T7ReaderException", "TorchFunction", "TorchObject", "load_lua",
]  # fmt: skip

NIL, NUMBER, STRING, TABLE, TORCH, BOOLEAN, FUNCTION, OLD_FUNCTION, CLOSURE = range(9)
_DEEPEST = 100_000
_MOST_DIMENSIONS = 16
# By the name of a tensor or storage without "Cuda" (which are read to the CPU): dtype, bytes of an
# element, and what an element is in an ascii file.
_KINDS = {
    "Byte": (_C.uint8, 1, None), "Char": (_C.int8, 1, None), "Short": (_C.int16, 2, "h"),
    "Int": (_C.int32, 4, "i"), "Long": (_C.int64, 8, "q"), "Half": (_C.float16, 2, "e"),
    "Float": (_C.float32, 4, "f"), "Double": (_C.float64, 8, "d"),
}  # fmt: skip
_CLASS = re.compile(r"torch\.(Cuda)?([A-Z][a-z]+)?(Tensor|Storage)")


class T7ReaderException(Exception):  # noqa: N818 - torch's name
    """The bytes are no file of Torch7, or a damaged one."""


class Table(dict):
    """A table that is no list. It may be a key, as itself alone."""

    __hash__ = object.__hash__


class BooleanKey:
    """The key true or false of a table that has the number 1 or 0 as a key, too: in Python these
    are one key."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value

    def __eq__(self, other):
        return isinstance(other, BooleanKey) and self.value is other.value

    def __hash__(self):
        return hash((BooleanKey, self.value))

    def __repr__(self):
        return f"BooleanKey({self.value})"


class TorchObject:
    """An object of a class of Lua: torch_typename() names it, its fields are attributes."""

    def __init__(self, typename, fields=None):
        self.__dict__["_typename"] = typename
        self.__dict__["_obj"] = {} if fields is None else fields

    def torch_typename(self):
        """The name of its class."""
        return self._typename

    def __getattr__(self, name):
        fields = self.__dict__.get("_obj")
        if isinstance(fields, dict) and name in fields:
            return fields[name]
        raise AttributeError(f"the {self.__dict__.get('_typename')} has no field {name!r}")

    def __getitem__(self, key):
        return self._obj[key]

    def __dir__(self):
        fields = self._obj if isinstance(self._obj, dict) else ()
        return [*super().__dir__(), *(k for k in fields if isinstance(k, str))]

    def __repr__(self):
        return f"TorchObject({self._typename})"


class TorchFunction:
    """A function of Lua: its code, which is not run, as `dumped`, and what it closes over."""

    def __init__(self, dumped):
        self.dumped, self.upvalues, self.size = dumped, None, len(dumped)

    def __repr__(self):
        return f"TorchFunction({self.size} bytes)"


def _fail(why):
    raise T7ReaderException(why)


# --- numbers and bytes ----------------------------------------------------------------------------


class _Binary:
    """Numbers as they lie in memory, little endian."""

    least = 4  # bytes of an object

    def __init__(self, data, long_size):
        self.data, self.at = data, 0
        self.long = {4: "<i", 8: "<q"}[long_size or 8]

    def left(self):
        return len(self.data) - self.at

    def chars(self, n):
        if not 0 <= n <= self.left():
            _fail(f"{n} bytes at {self.at} are beyond the end of the file")
        self.at += n
        return self.data[self.at - n : self.at]

    def _one(self, form):
        return struct.unpack(form, self.chars(struct.calcsize(form)))[0]

    def integer(self):
        return self._one("<i")

    def double(self):
        return self._one("<d")

    def longs(self, n):
        if not 0 <= n <= self.left() // struct.calcsize(self.long):
            _fail(f"{n} numbers at {self.at} are beyond the end of the file")
        return [self._one(self.long) for _ in range(n)]

    def elements(self, n, bytes_, form):
        """n elements as their bytes."""
        if not 0 <= n <= self.left() // bytes_:
            _fail(f"a storage of {n} elements at {self.at} is beyond the end of the file")
        return self.chars(n * bytes_)


class _Ascii:
    """Numbers as text with space between them; bytes as they are."""

    least = 1
    _space, _token = re.compile(rb"\s*"), re.compile(rb"\S{1,65}")

    def __init__(self, data, long_size):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def _end(self):
        """One end of line belongs to what stands before it."""
        if self.data[self.at : self.at + 1] == b"\n":
            self.at += 1

    def _word(self):
        begin = self._space.match(self.data, self.at).end()
        found = self._token.match(self.data, begin)
        if found is None or len(found[0]) > 64:
            _fail(f"expected a number at {begin}")
        self.at = found.end()
        return found[0]

    def _whole(self, least, most):
        word = self._word()
        if not re.fullmatch(rb"[+-]?[0-9]+", word) or not least <= int(word) <= most:
            _fail(f"expected a whole number before {self.at}, not {word!r}")
        return int(word)

    def _real(self):
        word = self._word()
        try:
            return float(word.decode("ascii").replace("_", "x"))
        except ValueError:
            if re.fullmatch(rb"[+-]?nan(\(.*\))?", word.lower()):
                return float("nan")
            _fail(f"expected a number before {self.at}, not {word!r}")

    def chars(self, n):
        if not 0 <= n <= self.left():
            _fail(f"{n} bytes at {self.at} are beyond the end of the file")
        self.at += n
        data = self.data[self.at - n : self.at]
        if n:
            self._end()
        return data

    def integer(self):
        value = self._whole(-(1 << 31), (1 << 31) - 1)
        self._end()
        return value

    def double(self):
        value = self._real()
        self._end()
        return value

    def longs(self, n):
        return self._several(n, lambda: self._whole(-(1 << 63), (1 << 63) - 1))

    def _several(self, n, one):
        if not 0 <= n <= (self.left() + 1) // 2:
            _fail(f"{n} numbers at {self.at} are beyond the end of the file")
        values = [one() for _ in range(n)]
        if n:
            self._end()
        return values

    def elements(self, n, bytes_, form):
        if form is None:
            return self.chars(n)
        if form in "efd":
            return _packed(form, self._several(n, self._real))
        least = -(1 << (8 * bytes_ - 1))
        return _packed(form, self._several(n, lambda: self._whole(least, ~least)))


def _packed(form, values):
    try:
        return struct.pack(f"<{len(values)}{form}", *values)
    except OverflowError:  # what is too large for a half or a float is infinite there
        most = {"e": 65504.0, "f": 3.4028234663852886e38}[form]
        return struct.pack(
            f"<{len(values)}{form}",
            *(v if abs(v) <= most or v != v else v * float("inf") for v in values),
        )


# --- objects --------------------------------------------------------------------------------------


class _Storage:
    """The memory of tensors: a flat tensor."""

    def __init__(self, flat):
        self.flat = flat


class T7Reader:
    """Reads the objects of a file or of bytes one after the other.

    list_heuristic: a table with the keys 1 to n is a list, unless it holds itself. int_heuristic: a
    whole number is an int. unknown_classes=False refuses objects that are no tensors; else they are
    TorchObjects. long_size: bytes of a size, 8, or 4 where the file comes from such a machine.
    mode: "binary", "ascii", or None, which looks."""

    def __init__(
        self,
        fileobj,
        list_heuristic=True,
        int_heuristic=True,
        unknown_classes=True,
        long_size=None,
        mode=None,
    ):
        data = fileobj.read() if hasattr(fileobj, "read") else bytes(fileobj)
        if long_size not in (None, 4, 8):
            raise ValueError(f"long_size: 4 or 8, not {long_size!r}")
        if mode not in (None, "binary", "ascii"):
            raise ValueError(f"mode: binary or ascii, not {mode!r}")
        if mode is None:
            mode = "ascii" if re.match(rb"[0-8]\s", data) else "binary"
        self._source = (_Ascii if mode == "ascii" else _Binary)(data, long_size)
        self._lists, self._ints = list_heuristic, int_heuristic
        self._unknown = unknown_classes
        self._made = {}  # by index
        self._open = set()  # indices of tables that are being read
        self._cyclic = set()  # those of them that were met inside
        self._tuples = {}  # by id of a list that is a key: the list, and the key
        self._room = 16 * len(data) + (1 << 20)  # members of such keys, each time one is used

    def read(self):
        """The next object. What reads an object that holds others waits on a list, not on the
        interpreter's stack."""
        waiting, given = [self._object()], None
        while waiting:
            try:
                inner = waiting[-1].send(given)
            except StopIteration as e:
                waiting.pop()
                given = e.value
                continue
            if len(waiting) >= 2 * _DEEPEST:  # an object, and what reads its content
                _fail("the objects are nested too deep")
            waiting.append(inner)
            given = None
        return given.flat if isinstance(given, _Storage) else given

    def _object(self):
        """Reads one object; yields what reads another that it needs, and gets that."""
        source, at = self._source, self._source.at
        kind = source.integer()
        if kind == NIL:
            return None
        if kind == NUMBER:
            value = source.double()
            return int(value) if self._ints and value.is_integer() else value
        if kind == BOOLEAN:
            return source.integer() == 1
        if kind == STRING:
            return self._string()
        if kind == FUNCTION:
            made = TorchFunction(source.chars(source.integer()))
            made.upvalues = _shown((yield self._object()))
            return made
        if kind not in (TABLE, TORCH, OLD_FUNCTION, CLOSURE):
            _fail(f"there is no kind {kind} of objects, at {at}")
        index = source.integer()
        if index in self._made:
            if index in self._open:
                self._cyclic.add(index)
            return self._made[index]
        if kind == TABLE:
            return (yield self._table(index))
        if kind == TORCH:
            return (yield self._torch(index))
        made = self._made[index] = TorchFunction(source.chars(source.integer()))
        made.upvalues = _shown((yield self._object()))
        return made

    def _string(self):
        data = self._source.chars(self._source.integer())
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data

    def _table(self, index):
        n = self._source.integer()
        if not 0 <= n <= (self._source.left() + 1) // (2 * self._source.least):
            _fail(f"a table of {n} pairs at {self._source.at} is beyond the end of the file")
        made = self._made[index] = Table()
        self._open.add(index)
        yield from self._pairs(made, n)
        self._open.discard(index)
        if self._lists and index not in self._cyclic and _is_list(made):
            made = self._made[index] = [made[i + 1] for i in range(n)]
        return made

    def _pairs(self, made, n):
        """Reads n keys and values. What a key is stays out of errors: it may have no end."""
        booleans = {}
        for _ in range(n):
            at = self._source.at
            key = _shown((yield self._object()))
            value = _shown((yield self._object()))
            key = self._tuple(key) if isinstance(key, list) else key
            to = booleans if type(key) is bool else made
            try:
                if key is None or key in to:
                    _fail(f"a table has a key twice, or none: a {type(key).__name__}, at {at}")
            except TypeError:
                _fail(f"a table has a table of tables as its key, at {at}")
            to[key] = value
        for key, value in booleans.items():
            made[BooleanKey(key) if key in made else key] = value

    def _tuple(self, list_):
        """A list as a key: one tuple, however many tables have it."""
        self._room -= len(list_)
        if self._room < 0:
            _fail(f"lists are keys too often, before {self._source.at}")
        if id(list_) not in self._tuples:
            self._tuples[id(list_)] = list_, tuple(list_)
        return self._tuples[id(list_)][1]

    def _members(self, each):
        """How many members a container of Lua's package tds has, whose values or pairs follow."""
        (n,) = self._source.longs(1)
        if not 0 <= n <= (self._source.left() + 1) // (each * self._source.least):
            _fail(f"{n} members at {self._source.at} are beyond the end of the file")
        return n

    def _tds(self, name, index):
        if name == "tds.Hash":
            made = self._made[index] = Table()
            yield from self._pairs(made, self._members(2))
            return made
        made = self._made[index] = []
        for _ in range(self._members(1)):
            made.append(_shown((yield self._object())))
        return made

    def _torch(self, index):
        version = name = self._string()
        if isinstance(version, str) and version.startswith("V "):
            name = self._string()
        if not isinstance(name, str):
            _fail("the name of a class is no text")
        found = _CLASS.fullmatch(name)
        kind = found and _KINDS.get(found[2] or ("Float" if found[1] else ""))
        if kind is not None:
            made = self._storage(kind) if found[3] == "Storage" else (yield self._tensor(kind))
            self._made[index] = made
            return made
        if name in ("tds.Hash", "tds.Vec"):
            return (yield from self._tds(name, index))
        if not self._unknown:
            _fail(f"don't know how to deserialize Lua class {name}")
        made = self._made[index] = TorchObject(name)
        fields = _shown((yield self._object()))
        made.__dict__["_obj"] = fields
        return made

    def _storage(self, kind):
        dtype, bytes_, form = kind
        (n,) = self._source.longs(1)
        data = bytearray(self._source.elements(n, bytes_, form))
        return _Storage(_C.frombuffer(data, dtype=dtype) if n else _C.empty(0, dtype=dtype))

    def _tensor(self, kind):
        source = self._source
        n = source.integer()
        if not 0 <= n <= _MOST_DIMENSIONS:
            _fail(f"a tensor has {n} dimensions")
        sizes, strides, (offset,) = source.longs(n), source.longs(n), source.longs(1)
        storage = yield self._object()
        if storage is None:
            flat = _C.empty(0, dtype=kind[0])
        elif isinstance(storage, _Storage) and storage.flat.dtype is kind[0]:
            flat = storage.flat
        else:
            _fail("a tensor has no storage of its kind")
        return _view(flat, sizes, strides, offset - 1)


def _view(flat, sizes, strides, offset):
    """The tensor of these sizes over a storage, which must hold all of it. In Lua none has no
    dimension and an element."""
    elements = 1 if sizes else 0
    for n in sizes:
        if n < 0:
            _fail(f"a tensor has the sizes {sizes}")
        elements *= n
    if not elements:
        return flat[:0] if not sizes else _C.empty(_small(sizes), dtype=flat.dtype)
    last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if offset < 0 or min(strides) < 0 or last >= len(flat) or elements >= 1 << 56:
        _fail(f"a tensor {sizes} with strides {strides} from {offset} leaves its storage")
    return flat.as_strided(sizes, strides, offset)


def _small(sizes):
    """Sizes of which one is 0; the product of the others fits, too."""
    product = 1
    for n in sizes:
        product *= n or 1
    if product >= 1 << 56:
        _fail(f"a tensor has the sizes {sizes}")
    return sizes


def _is_list(table):
    return all(type(k) is int and 1 <= k <= len(table) for k in table)


def _shown(o):
    """What others see of an object: of a storage a flat tensor."""
    return o.flat if isinstance(o, _Storage) else o


def load_lua(filename, unknown_classes=True, **kwargs):
    """The first object of a .t7 file, a path or an open file: numbers, texts, lists, dictionaries,
    tensors (those of CUDA, too, on the CPU), storages as flat tensors, tds.Vec as lists, tds.Hash
    as dictionaries, and TorchObjects, which have the name of their class in Lua and its fields.
    Other arguments are those of T7Reader."""
    if not isinstance(filename, (str, bytes, os.PathLike)):
        return T7Reader(filename, unknown_classes=unknown_classes, **kwargs).read()
    with open(filename, "rb") as f:
        try:
            return T7Reader(f, unknown_classes=unknown_classes, **kwargs).read()
        except T7ReaderException as e:
            e.args = (f"{os.fsdecode(filename)}: {e}",)
            raise
