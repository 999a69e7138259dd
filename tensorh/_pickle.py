"""Writes the pickle of a torch file, in the words that torch's own reader knows: data, and objects
of other classes as pickle writes them."""

import copyreg
import struct
import sys
from collections import Counter, OrderedDict
from pickle import PicklingError
from types import FunctionType

from . import _C

# torch's name of a storage by dtype; other dtypes are bytes with a dtype beside them.
STORAGES = {
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "int64": "LongStorage",
    "int32": "IntStorage",
    "int16": "ShortStorage",
    "int8": "CharStorage",
    "uint8": "ByteStorage",
    "bool": "BoolStorage",
    "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
}
_MARK = b"("


def _found(module, name):
    """What a module that is imported has by a name, which may lead through classes."""
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


class Storage:
    """Memory that is written: the tensor that reaches furthest into it stands for it."""

    def __init__(self, key, tensor):
        self.key = key
        self.dtype = tensor.dtype
        self.each = 1 if name_of(tensor.dtype) in STORAGES else tensor.itemsize  # else bytes count
        self.tensor = tensor
        self.numel = 0
        self.places = []  # where the pickle says how large it is

    def cover(self, tensor):
        end = 0
        if tensor.numel():
            end = tensor.storage_offset() + 1
            end += sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
        if end > self.numel:
            self.numel, self.tensor = end, tensor


def name_of(dtype):
    """ "float32" of torch.float32."""
    return str(dtype).removeprefix("torch.")


class Writer:
    """One pickle: dump(o) gives its bytes, storages are what has to be written beside it.

    legacy: for a file of the format before torch 1.6."""

    def __init__(self, legacy=False):
        self.legacy = legacy
        self._out = bytearray(b"\x80\x02")
        self._memo = {}
        self._kept = []  # objects whose id is in the memo
        self.storages = {}  # by address and device

    def dump(self, o):
        """The pickle of o."""
        self._save(o)
        self._out += b"."
        for s in self.storages.values():
            for at in s.places:
                struct.pack_into("<q", self._out, at, s.numel * s.each)
        return bytes(self._out)

    def _save(self, o):
        if self._known(o):
            return
        save = _SAVERS.get(type(o))
        if save is None:
            save = self._other(o)
        save(self, o)

    def _other(self, o):
        kind = type(o)
        if isinstance(o, _C.Tensor) and _C._sparse_layout(o):
            return Writer._sparse
        if kind.__module__ == "numpy" and isinstance(o, float):
            return lambda s, x: s._float(float(x))
        if isinstance(o, (type, FunctionType)):
            return Writer._named
        storage = sys.modules.get(f"{__package__}.storage")
        if storage is not None and storage.is_storage(o):
            return Writer._storage_object
        return Writer._object

    # --- memo -------------------------------------------------------------------------------------

    def _known(self, o):
        i = self._memo.get(id(o))
        if i is None:
            return False
        self._out += b"h" + bytes((i,)) if i < 256 else b"j" + struct.pack("<I", i)
        return True

    def _remember(self, o):
        i = self._memo[id(o)] = len(self._memo)
        self._kept.append(o)
        self._out += b"q" + bytes((i,)) if i < 256 else b"r" + struct.pack("<I", i)

    def _global(self, module, name):
        key = (module, name)
        word = _WORDS.setdefault(key, key)
        if not self._known(word):
            self._out += f"c{module}\n{name}\n".encode()
            self._remember(word)

    # --- objects of any class ---------------------------------------------------------------------

    def _named(self, o, name=None):
        """A class or a function, by the name where it is found again; tensorh's by torch's name."""
        name = name or getattr(o, "__qualname__", o.__name__)
        module = getattr(o, "__module__", None) or "builtins"
        if _found(module, name) is not o and (
            module.partition(".")[0] != "torch" or _found("tensorh" + module[5:], name) is not o
        ):
            raise PicklingError(f"Can't pickle {o!r}: it's not found as {module}.{name}")
        if module == "tensorh" or module.startswith("tensorh."):
            module = "torch" + module[len("tensorh") :]
        module, *rest = ("__builtin__" if module == "builtins" else module), *name.split(".")
        if len(rest) > 1:  # a class within a class: protocol 2 has getattr for it
            self._global("__builtin__", "getattr")
        self._global(module, rest[0])
        for i, part in enumerate(rest[1:]):
            if i:
                raise PicklingError(f"Can't pickle {o!r}: it is too deep in other classes")
            self._str(part)
            self._out += b"\x86R"

    def _object(self, o):
        """An object as its class tells pickle to make it again."""
        kind = type(o)
        reduce = copyreg.dispatch_table.get(kind)
        made = reduce(o) if reduce else o.__reduce_ex__(2)
        if isinstance(made, str):
            self._named(o, made)
            return
        if any(x is not None for x in made[5:]):
            raise PicklingError(f"Can't pickle an object of {kind.__qualname__}: its own function "
                                "for the state is not written")  # fmt: skip
        func, args, state, items, pairs = (*made, None, None, None)[:5]
        if func is copyreg.__newobj__:
            self._save(args[0])
            self._save(tuple(args[1:]))
            self._out += b"\x81"
        else:
            self._save(func)
            self._save(tuple(args))
            self._out += b"R"
        self._remember(o)
        for x in items or ():
            self._save(x)
            self._out += b"a"
        for k, v in pairs or ():
            self._save(k)
            self._save(v)
            self._out += b"s"
        if state is not None:
            self._save(state)
            self._out += b"b"

    # --- plain ------------------------------------------------------------------------------------

    def _none(self, o):
        self._out += b"N"

    def _bool(self, o):
        self._out += b"\x88" if o else b"\x89"

    def _int(self, o):
        if 0 <= o < 256:
            self._out += b"K" + bytes((o,))
        elif 0 <= o < 65536:
            self._out += b"M" + struct.pack("<H", o)
        elif -(1 << 31) <= o < 1 << 31:
            self._out += b"J" + struct.pack("<i", o)
        else:
            data = o.to_bytes(o.bit_length() // 8 + 1, "little", signed=True)
            if len(data) > 255:
                raise PicklingError("cannot save an int of more than 2039 bits")
            self._out += b"\x8a" + bytes((len(data),)) + data

    def _float(self, o):
        self._out += b"G" + struct.pack(">d", o)

    def _str(self, o):
        data = o.encode("utf-8", "surrogatepass")
        if len(data) > 0xFFFFFFFF:
            raise PicklingError("cannot save a str of more than 4 GiB")
        self._out += b"X" + struct.pack("<I", len(data)) + data
        self._remember(o)

    def _encoded(self, data):
        self._global("_codecs", "encode")
        self._str(data.decode("latin1"))
        self._save("latin1")
        self._out += b"\x86R"

    def _bytes(self, o):
        self._encoded(o)
        self._remember(o)

    def _bytearray(self, o):
        self._global("__builtin__", "bytearray")
        self._encoded(bytes(o))
        self._out += b"\x85R"
        self._remember(o)

    def _complex(self, o):
        self._global("__builtin__", "complex")
        self._float(o.real)
        self._float(o.imag)
        self._out += b"\x86R"

    # --- containers -------------------------------------------------------------------------------

    def _tuple(self, o):
        if not o:
            self._out += b")"
            return
        self._out += _MARK
        for x in o:
            self._save(x)
        if id(o) in self._memo:  # a member of it leads back to it
            self._out += b"1"
            self._known(o)
            return
        self._out += b"t"
        self._remember(o)

    def _list(self, o):
        self._out += b"]"
        self._remember(o)
        if o:
            self._out += _MARK
            for x in list(o):
                self._save(x)
            self._out += b"e"

    def _items(self, o):
        if o:
            self._out += _MARK
            for k, v in list(o.items()):
                self._save(k)
                self._save(v)
            self._out += b"u"

    def _dict(self, o):
        self._out += b"}"
        self._remember(o)
        self._items(o)

    def _ordered(self, o):
        self._global("collections", "OrderedDict")
        self._out += b")R"
        self._remember(o)
        self._items(o)
        if vars(o):
            self._save(dict(vars(o)))
            self._out += b"b"

    def _counter(self, o):
        self._global("collections", "Counter")
        self._save(dict(o))
        self._out += b"\x85R"
        self._remember(o)

    def _set(self, o):
        self._global("__builtin__", type(o).__name__)
        self._save(list(o))
        self._out += b"\x85R"
        self._remember(o)

    # --- torch's ----------------------------------------------------------------------------------

    def _size(self, o):
        self._global("torch", "Size")
        self._save(tuple(o))
        self._out += b"\x85R"
        self._remember(o)

    def _dtype(self, o):
        self._global("torch", name_of(o))

    def _layout(self, o):
        self._global("torch.serialization", "_get_layout")
        self._save(str(o))
        self._out += b"\x85R"

    def _device(self, o):
        self._global("torch", "device")
        self._save(o.type)
        if o.index is None:
            self._out += b"\x85R"
        else:
            self._save(o.index)
            self._out += b"\x86R"
        self._remember(o)

    def _no_hooks(self):
        self._global("collections", "OrderedDict")
        self._out += b")R"

    def _storage_object(self, o):
        """A storage that is no tensor's: all of it."""
        if o.device.type == "meta":
            raise PicklingError("cannot save a storage without data (device meta)")
        typed = hasattr(o, "dtype")
        self._storage(o._flat() if typed else o._bytes(), typed)

    def _storage(self, t, typed=True):
        """The persistent id of the memory of t, whose size is filled in at the end."""
        device, name = str(t.device), name_of(t.dtype)
        start = t.data_ptr() - t.storage_offset() * t.itemsize
        where = (start, device) if t.numel() else (id(t), "empty")
        s = self.storages.get(where)
        if s is None:
            s = self.storages[where] = Storage(str(len(self.storages)), t)
            self._kept.append(t)
        if s.dtype is not t.dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types"
            )
        s.cover(t)
        self._out += _MARK
        self._save("storage")
        if typed and name in STORAGES:
            self._global("torch", STORAGES[name])
        else:
            self._global("torch.storage", "UntypedStorage")
        self._save(s.key)
        self._save(device)
        self._out += b"\x8a\x08" + bytes(8)
        s.places.append(len(self._out) - 8)
        self._out += b"NtQ" if self.legacy else b"tQ"

    def _rebuild(self, t, requires_grad):
        """The arguments of torch's function that makes t again, as a tuple; returns its name."""
        plain = name_of(t.dtype) in STORAGES
        self._out += _MARK
        if t.is_meta:
            self._dtype(t.dtype)
            self._save(tuple(t.shape))
            self._save(tuple(t.stride()))
            self._bool(requires_grad)
            self._out += b"t"
            return
        self._storage(t)
        self._int(t.storage_offset())
        self._save(tuple(t.shape))
        self._save(tuple(t.stride()))
        self._bool(requires_grad)
        self._no_hooks()
        if not plain:
            self._dtype(t.dtype)
        self._out += b"t"

    @staticmethod
    def _rebuild_name(t):
        if t.is_meta:
            return "_rebuild_meta_tensor_no_storage"
        return "_rebuild_tensor_v2" if name_of(t.dtype) in STORAGES else "_rebuild_tensor_v3"

    def _tensor(self, t):
        state = vars(t)
        if state:
            self._global("torch._tensor", "_rebuild_from_type_v2")
            self._out += _MARK
            self._global("torch._utils", self._rebuild_name(t))
            self._global("torch", "Tensor")
            self._rebuild(t, t.requires_grad)
            self._save(dict(state))
            self._out += b"tR"
        else:
            self._global("torch._utils", self._rebuild_name(t))
            self._rebuild(t, t.requires_grad)
            self._out += b"R"
        self._remember(t)

    def _sparse(self, t):
        """The parts of a sparse tensor, its size and, of COO, whether it is coalesced."""
        from ._sparse import parts_of

        more = (t.shape, t.is_coalesced()) if t.is_sparse else (t.shape,)
        self._global("torch._utils", "_rebuild_sparse_tensor")
        self._out += _MARK
        self._layout(t.layout)
        self._save((*(p.detach() for p in parts_of(t)), *more))
        self._out += b"tR"
        self._remember(t)

    def _parameter(self, t):
        state = vars(t)
        name = "_rebuild_parameter_with_state" if state else "_rebuild_parameter"
        self._global("torch._utils", name)
        self._out += _MARK
        self._global("torch._utils", self._rebuild_name(t))
        self._rebuild(t, False)
        self._out += b"R"
        self._bool(t.requires_grad)
        self._no_hooks()
        if state:
            self._save(dict(state))
        self._out += b"tR"
        self._remember(t)


_WORDS = {}  # (module, name): one object a global, for the memo
_SAVERS = {
    type(None): Writer._none,
    bool: Writer._bool,
    int: Writer._int,
    float: Writer._float,
    complex: Writer._complex,
    str: Writer._str,
    bytes: Writer._bytes,
    bytearray: Writer._bytearray,
    tuple: Writer._tuple,
    list: Writer._list,
    dict: Writer._dict,
    OrderedDict: Writer._ordered,
    Counter: Writer._counter,
    set: Writer._set,
    frozenset: Writer._set,
    _C.Size: Writer._size,
    _C.dtype: Writer._dtype,
    type(_C.strided): Writer._layout,
    _C.device: Writer._device,
    _C.Tensor: Writer._tensor,
    _C.Parameter: Writer._parameter,
}
