"""Files of Torch7 (.t7), binary and ascii, by a writer of our own: what comes back, and that any
other bytes are an error."""

import io
import math
import os
import pickle
import random
import struct
import subprocess
import sys

import pytest

import tensorh as torch
from tensorh.utils.serialization import (
    BooleanKey,
    T7Reader,
    T7ReaderException,
    TorchFunction,
    TorchObject,
    load_lua,
)

# --- a writer -------------------------------------------------------------------------------------


class Storage:
    def __init__(self, kind, values):
        self.kind, self.values = kind, values


class Tensor:
    def __init__(self, kind, sizes, strides, offset, storage):
        self.kind, self.sizes, self.strides = kind, sizes, strides
        self.offset, self.storage = offset, storage


class Obj:
    def __init__(self, name, fields, version="V 1", many=None):
        self.name, self.fields, self.version, self.many = name, fields, version, many


class Function:
    def __init__(self, code, upvalues, kind=8):
        self.code, self.upvalues, self.kind = code, upvalues, kind


FORMS = {"Byte": "B", "Char": "b", "Short": "h", "Int": "i", "Long": "q", "Half": "e", "Float": "f",
         "Double": "d", "Cuda": "f", "CudaLong": "q", "CudaHalf": "e"}  # fmt: skip


class Writer:
    """Writes as Torch7's File.lua does; its files are dropped in the order of the objects."""

    def __init__(self, ascii_=False, long="q"):
        self.out, self.ascii, self.long, self.seen = [], ascii_, long, {}

    def numbers(self, form, values):
        if not self.ascii:
            self.out.append(struct.pack(f"<{len(values)}{form}", *values))
        elif values:
            text = " ".join(repr(v) if form in "efd" else str(v) for v in values)
            self.out.append(text.encode() + b"\n")

    def integer(self, *values):
        self.numbers("i", values)

    def chars(self, data):
        self.out.append(data + (b"\n" if self.ascii and data else b""))

    def string(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.integer(len(data))
        self.chars(data)

    def known(self, o, kind):
        """Writes the kind and index of an object; whether it was written before."""
        self.integer(kind)
        before = id(o) in self.seen
        index, _ = self.seen.setdefault(id(o), (len(self.seen) + 1, o))
        self.integer(index)
        return before

    def write(self, o):
        if o is None:
            self.integer(0)
        elif isinstance(o, bool):
            self.integer(5)
            self.integer(int(o))
        elif isinstance(o, (int, float)):
            self.integer(1)
            self.numbers("d", [o])
        elif isinstance(o, (str, bytes)):
            self.integer(2)
            self.string(o)
        elif isinstance(o, (list, dict)):
            if not self.known(o, 3):
                pairs = o.items() if isinstance(o, dict) else enumerate(o, 1)
                self.integer(len(o))
                for pair in pairs:
                    for x in pair:
                        self.write(x)
        elif isinstance(o, Function):
            if o.kind == 6 or not self.known(o, o.kind):
                if o.kind == 6:
                    self.integer(6)
                self.string(o.code)
                self.write(o.upvalues)
        elif not self.known(o, 4):
            self.torch(o)
        return self

    def torch(self, o):
        name = o.name if isinstance(o, Obj) else f"torch.{o.kind}{type(o).__name__}"
        version = getattr(o, "version", "V 1")
        if version:
            self.string(version)
        self.string(name)
        if name.startswith("tds.") if isinstance(name, str) else False:
            pairs = o.fields.items() if isinstance(o.fields, dict) else ((x,) for x in o.fields)
            self.numbers(self.long, [len(o.fields) if o.many is None else o.many])
            for pair in pairs:
                for x in pair:
                    self.write(x)
        elif isinstance(o, Obj):
            self.write(o.fields)
        elif isinstance(o, Storage):
            self.numbers(self.long, [len(o.values)])
            if o.kind in ("Byte", "Char"):
                self.chars(struct.pack(f"{len(o.values)}{FORMS[o.kind]}", *o.values))
            else:
                self.numbers(FORMS[o.kind], o.values)
        else:
            self.integer(len(o.sizes))
            for numbers in (o.sizes, o.strides, [o.offset]):
                self.numbers(self.long, numbers)
            self.write(o.storage)

    def bytes(self):
        return b"".join(self.out)


def written(o, ascii_=False, **more):
    return Writer(ascii_, **more).write(o).bytes()


def read(o, ascii_=False, **more):
    return T7Reader(written(o, ascii_), **more).read()


modes = pytest.mark.parametrize("ascii_", [False, True], ids=["binary", "ascii"])


# --- what comes back ------------------------------------------------------------------------------


@modes
def test_plain_values(ascii_):
    for o in (None, True, False, 0, -3, 2.5, 1e300, -1e-300, "text", "", "two\nlines \n", "\u00e9",
              b"\xff\xfe", [], [1, "a", [None]], {"a": 1, "b": {"c": [2.5]}}, {2: 1, 3: 4},
              {0.5: 1}, {"x": True}, [1.5] * 50):  # fmt: skip
        got = read(o, ascii_)
        kind = int(o) if type(o) is float and o.is_integer() else o
        assert got == o and repr(got) == repr(kind)  # the types, too
    assert type(read(3, ascii_)) is int and type(read(3, ascii_, int_heuristic=False)) is float
    assert read([7, 8], ascii_, list_heuristic=False) == {1: 7, 2: 8}
    assert math.isnan(read(math.nan, ascii_)) and read(-math.inf, ascii_) == -math.inf


@modes
def test_tensors_of_all_kinds(ascii_):
    dtypes = {"Byte": torch.uint8, "Char": torch.int8, "Short": torch.int16, "Int": torch.int32,
              "Long": torch.int64, "Half": torch.float16, "Float": torch.float32,
              "Double": torch.float64, "Cuda": torch.float32, "CudaLong": torch.int64,
              "CudaHalf": torch.float16}  # fmt: skip
    for kind, dtype in dtypes.items():
        storage = Storage(kind, [10, 11, 12, 13, 14, 15, 32])  # 10 and 32 are spaces as bytes
        t = read(Tensor(kind, [2, 3], [3, 1], 2, storage), ascii_)
        assert t.dtype is dtype and t.tolist() == [[11, 12, 13], [14, 15, 32]]
        t = read(Tensor(kind, [3, 2], [1, 3], 1, storage), ascii_)
        assert t.tolist() == [[10, 13], [11, 14], [12, 15]] and t.stride() == (1, 3)
        assert read(storage, ascii_).tolist() == storage.values
        assert read(Tensor(kind, [], [], 1, None), ascii_).shape == (0,)
        assert read(Tensor(kind, [], [], 1, Storage(kind, [])), ascii_).dtype is dtype
        assert read(Tensor(kind, [2, 0], [0, 1], 1, None), ascii_).shape == (2, 0)
        assert read(Tensor(kind, [4], [0], 3, storage), ascii_).tolist() == [12] * 4
    big = [0.1, -1e30, math.inf, math.nan]
    got = read(Tensor("Double", [4], [1], 1, Storage("Double", big)), ascii_).tolist()
    assert got[:3] == big[:3] and math.isnan(got[3])
    got = read(Tensor("Long", [2], [1], 1, Storage("Long", [-(1 << 63), (1 << 63) - 1])), ascii_)
    assert got.tolist() == [-(1 << 63), (1 << 63) - 1]


@modes
def test_shared_objects_are_shared(ascii_):
    storage = Storage("Float", [1.0, 2.0, 3.0, 4.0])
    whole, part = Tensor("Float", [4], [1], 1, storage), Tensor("Float", [2], [1], 3, storage)
    a, b, table, again, flat = read([whole, part, {"x": whole}, whole, storage], ascii_)
    assert a is again and table["x"] is a
    b[0] = 9
    assert a.tolist() == flat.tolist() == [1, 2, 9, 4]
    inner = [1]
    got = read({"a": inner, "b": inner}, ascii_)
    assert got["a"] is got["b"] and got["a"] == [1]
    cycle = {"name": "x"}
    cycle["self"] = cycle
    got = read(cycle, ascii_)
    assert got["self"] is got and got["name"] == "x"
    ring = [1]
    ring.append(ring)
    got = read(ring, ascii_)  # a list would not be the one inside
    assert got[2] is got and got[1] == 1
    parent = Obj("nn.Parent", {})
    parent.fields["child"] = Obj("nn.Child", {"parent": parent})
    got = read(parent, ascii_)
    assert got.child.parent is got


@modes
def test_objects_have_the_names_of_their_classes(ascii_):
    weight = Tensor("Double", [2], [1], 1, Storage("Double", [1.0, 2.0]))
    linear = Obj("nn.Linear", {"weight": weight, "train": True, 3: "three"})
    net = Obj("nn.Sequential", {"modules": [linear, Obj("nn.Tanh", {}, version=None)]})
    got = read(net, ascii_)
    assert isinstance(got, TorchObject) and got.torch_typename() == "nn.Sequential"
    one, two = got.modules
    assert one.torch_typename() == "nn.Linear" and one.weight.tolist() == [1, 2]
    assert one.train is True and one[3] == "three" and "weight" in dir(one)
    assert two.torch_typename() == "nn.Tanh" and repr(two) == "TorchObject(nn.Tanh)"
    with pytest.raises(AttributeError, match="nn.Tanh has no field 'weight'"):
        two.weight  # noqa: B018
    with pytest.raises(T7ReaderException, match="nn.Sequential"):
        read(net, ascii_, unknown_classes=False)
    assert read(weight, ascii_, unknown_classes=False).tolist() == [1, 2]
    copied = pickle.loads(pickle.dumps(two))
    assert copied.torch_typename() == "nn.Tanh"


@modes
@pytest.mark.parametrize("kind", [6, 7, 8])
def test_functions_are_not_run(ascii_, kind):
    code = b"\x1bLJ\x01 os.execute('touch /tmp/x')\n"
    f = Function(code, [{"name": "up", "value": 3}], kind)
    got = read([f, f], ascii_)
    assert isinstance(got[0], TorchFunction) and got[0].dumped == code
    assert got[0].upvalues == [{"name": "up", "value": 3}] and (got[0] is got[1]) == (kind != 6)
    assert not callable(got[0])


@modes
def test_keys_may_be_objects(ascii_):
    weight = Tensor("Float", [1], [1], 1, Storage("Float", [1.0]))

    class Pairs(dict):
        def items(self):
            return [([1, 2], "list"), ({"a": 1}, "table"), (weight, "tensor"), (True, "bool")]

        def __len__(self):
            return 4

    got = read(Pairs(), ascii_)
    assert sorted(got.values()) == ["bool", "list", "table", "tensor"] and got[1, 2] == "list"


class Pairs(dict):
    """A table of any keys, also those that Python takes for one."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def items(self):
        return self.pairs

    def __len__(self):
        return len(self.pairs)


@modes
def test_booleans_are_keys_of_their_own(ascii_):
    for pairs in ([(1, "a"), (True, "b")], [(True, "b"), (1, "a")]):
        got = read(Pairs(*pairs), ascii_)
        assert len(got) == 2 and got[1] == "a" and got[BooleanKey(True)] == "b"
    got = read(Pairs((0, "a"), (False, "b"), (True, "c")), ascii_)
    assert got[0] == "a" and got[BooleanKey(False)] == "b" and got[True] == "c"
    assert not BooleanKey(False) and BooleanKey(True) != 1 and str(BooleanKey(True))[-5:] == "True)"
    with pytest.raises(T7ReaderException, match="twice.* bool"):
        read(Pairs((True, 1), (True, 2)), ascii_)


class Tds(Obj):
    """A container of the package tds: its length, and what it holds."""


@modes
def test_containers_of_tds(ascii_):
    vec, hash_ = Tds("tds.Vec", [1, "x", [2]]), Tds("tds.Hash", {1: "one", "two": 2})
    a, b, again = read([vec, hash_, vec], ascii_)
    assert a == [1, "x", [2]] and b == {1: "one", "two": 2} and again is a
    assert read([Tds("tds.Hash", {}), Tds("tds.Vec", []), 3], ascii_) == [{}, [], 3]
    for name in ("tds.Vec", "tds.Hash"):
        with pytest.raises(T7ReaderException, match="beyond the end"):
            read(Tds(name, [], many=1 << 60), ascii_)


def test_files(tmp_path):
    path = tmp_path / "a.t7"
    for ascii_ in (False, True):
        path.write_bytes(written({"x": [1, 2]}, ascii_))
        assert load_lua(path) == load_lua(str(path)) == {"x": [1, 2]}
        with open(path, "rb") as f:
            assert load_lua(f) == {"x": [1, 2]}
        with pytest.raises(pickle.UnpicklingError, match="a.t7: .*Torch7.*load_lua"):
            torch.load(path)
        with pytest.raises(pickle.UnpicklingError, match="Torch7"):
            torch.load(io.BytesIO(written("x", ascii_)), weights_only=False)
    several = T7Reader(Writer().write(1).write("two").write([3]).bytes())
    assert [several.read() for _ in range(3)] == [1, "two", [3]]
    with pytest.raises(T7ReaderException):
        several.read()
    x = Tensor("Double", [2], [1], 1, Storage("Double", [1.0, 2.0]))
    path.write_bytes(written(x, long="i"))
    assert load_lua(path, long_size=4).tolist() == [1, 2]
    with pytest.raises(T7ReaderException, match="a.t7"):
        load_lua(path)
    assert load_lua(io.BytesIO(b"1\n5\n"), mode="ascii") == 5
    assert load_lua(io.BytesIO(b"1 5"), mode="ascii") == 5  # spaces are as good
    for wrong in ({"long_size": 3}, {"mode": "text"}):
        with pytest.raises(ValueError):
            load_lua(path, **wrong)
    with pytest.raises(FileNotFoundError):
        load_lua(tmp_path / "none.t7")


# --- other bytes ----------------------------------------------------------------------------------


def sample():
    storage = Storage("Float", [1.0, 2.5, -3.0, 4.0])
    byte = Storage("Byte", [1, 2, 3])
    return {
        "net": Obj("nn.Sequential", {"modules": [Obj("nn.Linear", {
            "weight": Tensor("Float", [2, 2], [2, 1], 1, storage),
            "bias": Tensor("Float", [2], [1], 3, storage), "name": "linear"})]}),
        "list": [1, 2, "three", None, True], "bytes": Tensor("Byte", [3], [1], 1, byte),
        "function": Function(b"code", [1]), "number": 0.5, "last": "text",
    }  # fmt: skip


def errors_only(data, mode=None):
    """Reads any bytes: an object or a T7ReaderException."""
    try:
        return T7Reader(data, mode=mode).read()
    except T7ReaderException as e:
        return e


@modes
def test_files_that_are_cut(ascii_):
    data = written(sample(), ascii_)
    assert isinstance(errors_only(data), dict)
    for n in range(len(data) - ascii_):  # an ascii file without its last end of line is whole
        assert isinstance(errors_only(data[:n]), T7ReaderException), n


@modes
def test_files_that_are_damaged(ascii_):
    data, chance = written(sample(), ascii_), random.Random(1)
    for _ in range(20000 if os.environ.get("TN_FULL") else 3000):
        wrong = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 5))):
            at = chance.randrange(len(wrong))
            how = chance.randrange(4)
            if how == 0:
                wrong[at] = chance.randrange(256)
            elif how == 1:
                wrong[at : at + 4] = struct.pack("<i", chance.choice((-1, 1 << 30, 8, 3, 4, 0)))
            elif how == 2:
                wrong[at : at + 8] = struct.pack("<q", chance.choice((-1, 1 << 62, 1 << 40, 5)))
            else:
                wrong[at : at + 1] = chance.choice((b"9", b"-", b"99999999999999999999", b""))
        got = errors_only(bytes(wrong))
        if not isinstance(got, Exception):
            walk(got)


def walk(o, seen=None):
    """Looks at all of an object, tensors too."""
    seen = set() if seen is None else seen
    if id(o) in seen:
        return
    seen.add(id(o))
    if isinstance(o, torch.Tensor):
        if math.prod(max(n, 1) for n in o.shape) < 1000:
            o.tolist()
    elif isinstance(o, dict):
        for k, v in o.items():
            walk(k, seen), walk(v, seen)
    elif isinstance(o, (list, tuple)):
        for v in o:
            walk(v, seen)
    elif isinstance(o, (TorchObject, TorchFunction)):
        walk(o._obj if isinstance(o, TorchObject) else o.upvalues, seen)


@modes
def test_random_bytes(ascii_):
    chance = random.Random(2)
    for _ in range(2000):
        n = chance.randrange(60)
        if ascii_:
            parts = (b"1", b"3", b"4\n", b" ", b"\n", b"V 1", b"nan", b"-", b"x")
            data = b"".join(chance.choice(parts) for _ in range(n))
            walk(errors_only(data, "ascii"))
        else:
            errors_only(bytes(chance.choice((0, 0, 0, 1, 2, 3, 4, 8, 255)) for _ in range(n)))


def wrong_tensor(sizes, strides, offset, n=4, kind="Float", of="Float"):
    return Tensor(kind, sizes, strides, offset, Storage(of, [0] * n))


@modes
@pytest.mark.parametrize(
    "o",
    [
        wrong_tensor([5], [1], 1),
        wrong_tensor([4], [1], 2),
        wrong_tensor([2], [1], 0),
        wrong_tensor([2], [-1], 2),
        wrong_tensor([-2], [1], 1),
        wrong_tensor([2], [1 << 62], 1),
        wrong_tensor([1 << 40, 1 << 40], [0, 0], 1),
        wrong_tensor([1 << 40, 1 << 40, 0], [0, 0, 0], 1),
        wrong_tensor([2], [1], (1 << 63) - 1),
        wrong_tensor([1] * 65, [1] * 65, 1),
        wrong_tensor([1] * 64, [1] * 64, 1),
        wrong_tensor([1] * 17, [1] * 17, 1),
        wrong_tensor([1] * 16 + [0], [1] * 17, 1),
        wrong_tensor([2], [1], 1, of="Double"),
        Tensor("Float", [1], [1], 1, None),
        Tensor("Float", [1], [1], 1, [1]),
        Obj(b"\xff", {}),
    ],
)
def test_tensors_that_lie(o, ascii_):
    with pytest.raises(T7ReaderException):
        read(o, ascii_)


DOUBLES = struct.pack("<iii", 4, 1, 19) + b"torch.DoubleStorage"
LARGE = {
    "a text": struct.pack("<ii", 2, (1 << 31) - 1),
    "a text of less than nothing": struct.pack("<ii", 2, -1),
    "a table": struct.pack("<iii", 3, 1, (1 << 31) - 1),
    "a storage": DOUBLES + struct.pack("<q", 1 << 60),
    "one of -1": DOUBLES + struct.pack("<q", -1),
    "code": struct.pack("<iii", 8, 1, 1 << 30),
    "a kind": struct.pack("<i", 9),
    "nothing": b"",
    "two keys": struct.pack("<iii", 3, 1, 2) + 2 * (struct.pack("<id", 1, 1) + bytes(4)),
    "no key": struct.pack("<iii", 3, 1, 1) + bytes(8),
    "ascii text": b"2\n2147483647\nabc",
    "ascii table": b"3\n1\n2147483647\n",
    "ascii storage": b"4\n1\n18\ntorch.FloatStorage\n1152921504606846976\n1\n",
    "ascii number": b"1\n1_0\n",
    "ascii whole number": b"2\n\xd9\xa1\n",
    "ascii number that is long": b"1\n0" + b".25" + b"0" * 80 + b"\n",
    "ascii whole number that is long": b"2\n" + b"0" * 63 + b"11\na\n",
    "ascii out of range": b"2\n99999999999999999999999\n",
}


@pytest.mark.parametrize("name", LARGE)
def test_sizes_are_checked_first(name):
    with pytest.raises(T7ReaderException):
        T7Reader(LARGE[name]).read()


def table(index, *pairs):
    """The bytes of a table; an integer is a place of the file that was there before."""
    parts = [struct.pack("<ii", 3, p) if isinstance(p, int) else p for p in pairs]
    return struct.pack("<iii", 3, index, len(parts) // 2) + b"".join(parts)


ONE, TWO = struct.pack("<id", 1, 1), struct.pack("<id", 1, 2)


def test_errors_do_not_print_keys():
    """Each table holds the one before twice: all of them would be 2 ** 20 words."""
    data = table(1, ONE, ONE, b"\2\0\0\0\1\0\0\0x", ONE)
    for i in range(2, 22):
        data = table(i, b"\2\0\0\0\1\0\0\0a", data, b"\2\0\0\0\1\0\0\0b", i - 1)
    twice = table(100, ONE, data, 21, ONE, 21, ONE)
    with pytest.raises(T7ReaderException, match="twice.*Table.* at [0-9]+$") as e:
        T7Reader(twice).read()
    assert len(str(e.value)) < 100


def test_lists_that_are_keys_often():
    numbers = [struct.pack("<id", 1, i) for i in range(1, 2001)]
    long = table(1, *(n for n in numbers for _ in (0, 1)))
    few = [table(i, 1, ONE) for i in range(3, 200)]
    got = T7Reader(table(2, ONE, long, TWO, table(300, *(
        x for i, t in enumerate(few) for x in (numbers[i], t))))).read()  # fmt: skip
    keys = [next(iter(t)) for t in got[1]]
    assert len(got[0]) == 2000 and all(k is keys[0] for k in keys) and keys[0][-1] == 2000
    many = [table(i, 1, ONE) for i in range(3, 6000)]
    pairs = (x for i, t in enumerate(many) for x in (struct.pack("<id", 1, i + 1), t))
    data = table(2, ONE, long, TWO, table(6001, *pairs))
    with pytest.raises(T7ReaderException, match="keys too often"):
        T7Reader(data).read()


def test_depth():
    tables = [struct.pack("<iiiid", 3, i, 1, 1, 1) for i in range(150000)]
    got, n = T7Reader(b"".join(tables[:50000]) + bytes(4)).read(), 0
    while got is not None:
        got, n = got[0], n + 1
    assert n == 50000
    with pytest.raises(T7ReaderException, match="deep"):
        T7Reader(b"".join(tables) + bytes(4)).read()


def test_what_it_imports():
    """Reading needs neither pickle's machine nor NumPy."""
    program = (
        "import sys, tensorh\nfrom tensorh.utils.serialization import T7Reader\n"
        f"print(T7Reader({written([1, 'x'])!r}).read(), 'numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[1, 'x'] False\n"
