"""Reads the pickle of a torch file as data.

A machine of its own interprets the opcodes: nothing is imported and nothing is called but the few
constructors of this file. Every other global is an error that names it. What a pickle holds is not
printed: a few bytes make an object whose repr has no end.
"""

import struct
from collections import Counter, OrderedDict
from pickle import UnpicklingError

_KEY_NODES = 1000  # members of a key that is a tuple, all levels
_KEY_BITS = 256  # of an integer in a key, whose hash costs its length each time


class Maker:
    """A global that a pickle may name: what is made of it is the machine's affair."""

    __slots__ = ("name", "make", "state")

    def __init__(self, name, make=None, state=None):
        self.name = name
        self.make = make  # make(machine, args), for REDUCE and NEWOBJ
        self.state = state

    def __repr__(self):
        return f"<global {self.name}>"


def refuse(why):
    """Says that a file is not read."""
    raise UnpicklingError(why)


# --- constructors ---------------------------------------------------------------------------------


def _args(args, *kinds):
    if len(args) != len(kinds):
        refuse("wrong number of arguments")
    for a, kind in zip(args, kinds, strict=True):
        if type(a) is not kind:
            refuse(f"expected {kind.__name__}, not {type(a).__name__}")
    return args


def _make_ordered(machine, args):
    if not args:
        return OrderedDict()
    (pairs,) = _args(args, list)
    machine.spend(len(pairs))
    result = OrderedDict()
    for pair in pairs:
        if type(pair) not in (list, tuple) or len(pair) != 2:
            refuse("OrderedDict: expected pairs")
        machine.key(pair[0])
        result[pair[0]] = pair[1]
    return result


def _make_counter(machine, args):
    if not args:
        return Counter()
    (counts,) = _args(args, dict)
    machine.spend(len(counts))
    result = Counter()
    dict.update(result, counts)
    return result


def _make_set(kind):
    def make(machine, args):
        if not args:
            return kind()
        (members,) = _args(args, list)
        machine.spend(len(members))
        for m in members:
            machine.key(m)
        return kind(members)

    return make


def _make_bytes(machine, args):
    text, coding = _args(args, str, str)
    machine.spend(len(text))
    if coding != "latin1":
        refuse(f"coding {coding!r} is not supported")
    return text.encode("latin1")


def _make_no_bytes(machine, args):
    _args(args)
    return b""


def _make_bytearray(machine, args):
    if not args:
        return bytearray()
    (data,) = _args(args, bytes)
    machine.spend(len(data))
    return bytearray(data)


def _make_complex(machine, args):
    return complex(*_args(args, float, float))


_MAKERS = {
    "collections.OrderedDict": _make_ordered,
    "collections.Counter": _make_counter,
    "builtins.set": _make_set(set),
    "builtins.frozenset": _make_set(frozenset),
    "builtins.bytearray": _make_bytearray,
    "builtins.bytes": _make_no_bytes,
    "builtins.complex": _make_complex,
    "_codecs.encode": _make_bytes,
}
_RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg"}


# --- the machine ----------------------------------------------------------------------------------


class Machine:
    """One pickle. find(name) gives a value or a Maker for a global, None where there is none.

    persistent(id) gives what a persistent id stands for. allowed: {name: class or function} of what
    the program trusts. coding: of the strings of Python 2; "bytes" leaves them as they are.
    """

    operations = {}  # opcode: function, below

    def __init__(self, data, find, persistent, allowed=None, coding="utf-8"):
        self._allowed = allowed or {}
        self._coding = coding
        self._data = memoryview(data)
        self._at = 0
        self._find = find
        self._persistent = persistent
        self._stack = []
        self._marks = []
        self._memo = {}
        self._room = len(data) + 1024  # what copies of parts may be as large as, together

    def load(self):
        """The object; UnpicklingError for anything that is not one."""
        try:
            while True:
                op = self._byte()
                if op == 0x2E:  # STOP
                    return self._pop()
                run = self.operations.get(op)
                if run is None:
                    refuse(f"Unsupported operand {op}")
                run(self)
        except (IndexError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as e:
            raise UnpicklingError(f"the pickle is damaged: {e}") from e
        except struct.error as e:
            raise UnpicklingError("the pickle is damaged: it ends too early") from e

    def spend(self, n):
        """Counts n members that are copied: no pickle makes more of them than it is long."""
        self._room -= n
        if self._room < 0:
            refuse("the pickle copies more than it holds")

    def key(self, o):
        """Refuses what cannot be a key of a dictionary, or would take long to become one."""
        todo, seen = [o], 0
        while todo:
            one = todo.pop()
            seen += 1
            if seen > _KEY_NODES:
                refuse("a key with too many members")
            if isinstance(one, tuple):
                todo.extend(one[: _KEY_NODES + 1])
            elif type(one) in (list, dict, set, bytearray, OrderedDict, Counter, frozenset, Maker):
                refuse(f"{type(one).__name__} cannot be a key")
            elif isinstance(one, int) and one.bit_length() > _KEY_BITS:
                refuse("a key with too large an integer")

    def _take(self, n):
        at = self._at
        if n > len(self._data) - at:
            refuse("pickle data was truncated")
        self._at = at + n
        return self._data[at : at + n]

    def _byte(self):
        if self._at >= len(self._data):
            raise EOFError("Ran out of input")
        self._at += 1
        return self._data[self._at - 1]

    def _line(self):
        end = bytes(self._data[self._at : self._at + 4096]).find(b"\n")
        if end < 0:
            refuse("pickle data was truncated")
        line = str(self._take(end), "utf-8")
        self._at += 1
        return line

    def _number(self, form):
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    # A mark keeps the stack below it out of reach.
    def _pop(self):
        return self._stack.pop()

    def _push(self, o):
        self._stack.append(o)

    def _mark(self):
        self._marks.append(self._stack)
        self._stack = []

    def _since_mark(self):
        items, self._stack = self._stack, self._marks.pop()
        return items

    def _top(self, *kinds):
        top = self._stack[-1]
        if type(top) not in kinds and type(top) not in self._allowed.values():
            refuse(f"a {type(top).__name__} takes no members this way")
        return top

    # --- operations -------------------------------------------------------------------------------

    def _proto(self):
        if self._byte() > 5:
            refuse("unsupported pickle protocol")

    def _frame(self):
        if self._number("<Q") > len(self._data) - self._at:
            refuse("pickle data was truncated")

    def _tuple(self):
        self._push(tuple(self._since_mark()))

    def _last(self, n):
        if len(self._stack) < n:
            refuse("the stack is empty")
        self._stack[-n:] = [tuple(self._stack[-n:])]

    def _list(self):
        self._push(list(self._since_mark()))

    def _dict(self):
        items = self._since_mark()
        self._push({})
        self._set_items(items)

    def _append(self):
        item = self._pop()
        self._top(list).append(item)

    def _appends(self):
        items = self._since_mark()
        self._top(list).extend(items)

    def _add_items(self):
        items = self._since_mark()
        for i in items:
            self.key(i)
        self._top(set).update(items)

    def _set_items(self, items):
        if len(items) % 2:
            refuse("a key without a value")
        to = self._top(dict, OrderedDict, Counter)
        for i in range(0, len(items), 2):
            self.key(items[i])
            dict.__setitem__(to, items[i], items[i + 1]) if type(to) is Counter else to.__setitem__(
                items[i], items[i + 1]
            )

    def _set_item(self):
        value, key = self._pop(), self._pop()
        self._set_items([key, value])

    def _put(self, i):
        self._memo[i] = self._stack[-1]

    def _get(self, i):
        self._push(self._memo[i])

    def _int(self):
        text = self._line()
        self._push({"00": False, "01": True}[text] if text in ("00", "01") else int(text))

    def _long(self):
        self._push(int(self._line().removesuffix("L")))

    def _long_of(self, n):
        if n < 0:
            refuse("negative length")
        self._push(int.from_bytes(self._take(n), "little", signed=True))

    def _text(self, n):
        self._push(str(self._take(n), "utf-8", "surrogatepass"))

    def _string(self, n):
        """A str of Python 2."""
        data = self._take(n)
        self._push(bytes(data) if self._coding == "bytes" else str(data, self._coding))

    def _bytes(self, n):
        self._push(bytes(self._take(n)))

    def _global_of(self, module, name):
        module = _RENAMED.get(module, module)
        full = f"{module}.{name}"
        make = _MAKERS.get(full)
        found = Maker(full, make) if make else self._find(full)
        if found is None and full in self._allowed:
            trusted = self._allowed[full]
            found = Maker(full, lambda machine, args: trusted(*args), trusted)
        if found is None:
            refuse(
                f"Unsupported global: GLOBAL {full} was not an allowed global. Files are read as "
                "data: tensors, parameters, numbers, texts and containers of them; nothing in a "
                "file is imported or run, unless torch.serialization.add_safe_globals names it, or "
                "weights_only=False says that the file is trusted."
            )
        self._push(found)

    def _global(self):
        module = self._line()
        self._global_of(module, self._line())

    def _stack_global(self):
        name, module = self._pop(), self._pop()
        if type(name) is not str or type(module) is not str:
            refuse("STACK_GLOBAL requires str")
        self._global_of(module, name)

    def _reduce(self):
        args, what = self._pop(), self._pop()
        if type(what) is not Maker or what.make is None or type(args) is not tuple:
            name = what.name if type(what) is Maker else f"a {type(what).__name__}"
            refuse(f"Trying to call {name}, which makes nothing of this")
        self._push(what.make(self, args))

    def _new(self):
        """NEWOBJ: of a class that is trusted, without its __init__."""
        args, what = self._pop(), self._pop()
        if type(what) is Maker and isinstance(what.state, type) and what.name in self._allowed:
            if type(args) is not tuple:
                refuse("NEWOBJ: a tuple is expected")
            self._push(what.state.__new__(what.state, *args))
            return
        self._stack += [what, args]
        self._reduce()

    def _build(self):
        state = self._pop()
        kind = type(self._stack[-1])
        if kind in self._allowed.values():
            inst = self._stack[-1]
            if hasattr(kind, "__setstate__"):
                inst.__setstate__(state)
            elif type(state) is dict:
                vars(inst).update(state)
            else:
                refuse(f"the attributes of a {kind.__name__} must be a dict")
            return
        inst = self._top(OrderedDict)
        if type(state) is not dict:
            refuse("the attributes of an OrderedDict must be a dict")
        set_attributes(inst, state)

    def _persistent_id(self):
        self._push(self._persistent(self._pop()))


def set_attributes(o, state):
    """Attributes from a dictionary: data of its own, never what its class has a meaning for."""
    for name, value in state.items():
        if type(name) is not str:
            refuse(f"an attribute of a {type(o).__name__} has a name, not a {type(name).__name__}")
        if hasattr(type(o), name) or name.startswith("__"):
            refuse(f"attribute {name!r} of a {type(o).__name__} is not data")
        setattr(o, name, value)


def _constant(value):
    return lambda s: s._push(value)


def _made(kind):
    return lambda s: s._push(kind())


def _of_number(form, run):
    return lambda s: run(s, s._number(form))


def _pushed(form):
    return lambda s: s._push(s._number(form))


_m = Machine
_OPERATIONS = {  # by opcode: what stands on the stack, or in the lines behind it
    b"\x80": _m._proto,
    b"\x95": _m._frame,
    b"(": _m._mark,
    b"0": _m._pop,
    b"1": _m._since_mark,
    b"I": _m._int,
    b"L": _m._long,
    b"t": _m._tuple,
    b"l": _m._list,
    b"d": _m._dict,
    b"a": _m._append,
    b"e": _m._appends,
    b"s": _m._set_item,
    b"\x90": _m._add_items,
    b"c": _m._global,
    b"\x93": _m._stack_global,
    b"R": _m._reduce,
    b"\x81": _m._new,
    b"b": _m._build,
    b"Q": _m._persistent_id,
    b"2": lambda s: s._push(s._stack[-1]),
    b"F": lambda s: s._push(float(s._line())),
    b"\x85": lambda s: s._last(1),
    b"\x86": lambda s: s._last(2),
    b"\x87": lambda s: s._last(3),
    b"u": lambda s: s._set_items(s._since_mark()),
    b"\x94": lambda s: s._put(len(s._memo)),
}
_OPERATIONS |= {  # values that are made of nothing
    b"N": _constant(None),
    b"\x88": _constant(True),
    b"\x89": _constant(False),
    b")": _constant(()),
    b"]": _made(list),
    b"}": _made(dict),
    b"\x8f": _made(set),
}
_OPERATIONS |= {  # a number follows: the value, its length or its place
    b"J": _pushed("<i"),
    b"K": _pushed("B"),
    b"M": _pushed("<H"),
    b"G": _pushed(">d"),
    b"\x8a": _of_number("B", _m._long_of),
    b"\x8b": _of_number("<i", _m._long_of),
    b"X": _of_number("<I", _m._text),
    b"\x8c": _of_number("B", _m._text),
    b"\x8d": _of_number("<Q", _m._text),
    b"B": _of_number("<I", _m._bytes),
    b"C": _of_number("B", _m._bytes),
    b"\x8e": _of_number("<Q", _m._bytes),
    b"U": _of_number("B", _m._string),
    b"T": _of_number("<I", _m._string),
    b"q": _of_number("B", _m._put),
    b"r": _of_number("<I", _m._put),
    b"h": _of_number("B", _m._get),
    b"j": _of_number("<I", _m._get),
}
Machine.operations = {op[0]: run for op, run in _OPERATIONS.items()}
