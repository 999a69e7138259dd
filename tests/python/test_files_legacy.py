"""Files of torch before 1.6, and storages in files."""

import gzip
import io
import pathlib
import pickle
import struct

import pytest

import tensorh as torch

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
DATA = pathlib.Path(__file__).parent / "data"
HEAD = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
SYSTEM = b"\x80\x02}q\x01U\rlittle_endianq\x02\x88s."


def saved(o, **options):
    f = io.BytesIO()
    torch.save(o, f, _use_new_zipfile_serialization=False)
    return f.getvalue()


def legacy(pickled, keys, data, system=SYSTEM):
    return HEAD + system + b"\x80\x02" + pickled + pickle.dumps(keys, 2) + data


def tensor(key=b"k", numel=2, size=2, offset=0, kind=b"FloatStorage", view=b"N"):
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\n" + kind + b"\nU"
        + bytes((len(key),)) + key + b"U\x03cpuK" + bytes((numel,)) + view + b"tQK"
        + bytes((offset,)) + b"K" + bytes((size,)) + b"\x85K\x01\x85\x89NtR."
    )  # fmt: skip


def floats(*values):
    return struct.pack(f"<q{len(values)}f", len(values), *values)


def both(data):
    """What a file is, read as data and trusted."""
    for weights_only in (True, False):
        yield torch.load(io.BytesIO(data), weights_only=weights_only)


def test_a_file_of_torch_is_read():
    assert torch.load(DATA / "torch_old.pt")["x"].tolist() == [1, 1]


def test_what_is_written_comes_back():
    x = torch.arange(12.0).reshape(3, 4)
    o = {
        "x": x, "t": x.t(), "p": torch.nn.Parameter(x[1]), "half": x.half(), "i": torch.arange(3),
        "f8": torch.ones(3).to(torch.float8_e5m2), "none": [None, 2.5, "s", b"b"],
        "empty": torch.zeros(0, 3), "bool": x > 4, "meta": torch.empty(3, device="meta"),
    }  # fmt: skip
    for r in both(saved(o)):
        assert list(r) == list(o) and r["none"] == o["none"]
        assert r["t"].stride() == (1, 4) and r["p"].requires_grad
        assert r["empty"].shape == (0, 3) and r["meta"].is_meta
        for name in ("x", "t", "p", "half", "i", "bool"):
            assert torch.equal(r[name], o[name]) and r[name].dtype is o[name].dtype
        assert r["f8"].float().tolist() == [1, 1, 1]
        r["x"][0, 1] = 50
        assert r["t"][1, 0] == 50


def test_torch_itself_reads_it():
    theirs = pytest.importorskip("torch")
    f = io.BytesIO(saved({"w": torch.arange(6.0).reshape(2, 3).t(), "s": torch.ones(2).storage()}))
    if theirs is not torch:
        r = theirs.load(f)
        assert r["w"].tolist() == [[0, 3], [1, 4], [2, 5]] and r["s"].tolist() == [1, 1]


def test_several_objects_of_one_file_follow_each_other(tmp_path):
    path = tmp_path / "several.pt"
    for opened in (open, gzip.open):
        with opened(path, "wb") as f:
            pickle.dump(41, f)
            torch.save(torch.ones(3), f, _use_new_zipfile_serialization=False)
            torch.save([torch.zeros(2)], f, _use_new_zipfile_serialization=False)
        with opened(path, "rb") as f:
            assert pickle.load(f) == 41
            assert torch.load(f).tolist() == [1, 1, 1]
            assert torch.load(f)[0].tolist() == [0, 0]


def test_whole_modules():
    m = torch.nn.Linear(2, 3)
    data = saved(m)
    r = torch.load(io.BytesIO(data), weights_only=False)
    assert torch.equal(r.weight, m.weight)
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global"):
        torch.load(io.BytesIO(data))


def test_strings_of_python_2():
    pickled = b"]q\x01(U\x02\xc5\xbcq\x02" + tensor(b"456")[:-1] + b"K\x02e."
    data = legacy(pickled, ["456"], floats(1, 0))
    for coding, text in (("utf-8", "ż"), ("bytes", b"\xc5\xbc"), ("latin1", "Å¼")):
        for trusted in (False, True):
            r = torch.load(io.BytesIO(data), encoding=coding, weights_only=not trusted)
            assert r[0] == text and r[1].tolist() == [1, 0] and r[2] == 2
    with pytest.raises(ValueError, match="ascii"):
        torch.load(io.BytesIO(data), encoding="ascii", weights_only=False)


def test_parts_of_a_storage():
    part = b"U\x01pK\x01K\x01\x87"
    data = legacy(tensor(numel=3, size=1, view=part), ["k"], floats(1, 2, 3))
    for r in both(data):
        assert r.tolist() == [2] and r.storage_offset() == 1
    for numel, size in ((3, 2), (1, 1)):
        wrong = legacy(tensor(numel=numel, size=size, view=part), ["k"], floats(*range(numel)))
        with pytest.raises(pickle.UnpicklingError, match="beyond its storage"):
            torch.load(io.BytesIO(wrong))


def test_classes_with_their_source():
    pickled = b"(U\x06modulecbuiltins\nlist\nU\x01fU\x01stQ)R."
    assert torch.load(io.BytesIO(legacy(pickled, [], b"")), weights_only=False) == []


@pytest.mark.parametrize("pickled, keys, data, kind, said", [
    (tensor(), ["k"], floats(1), pickle.UnpicklingError, "differ in size"),
    (tensor(), ["k"], floats(1, 2)[:-1], pickle.UnpicklingError, "differ in size"),
    (tensor(), [], b"", pickle.UnpicklingError, "has no data"),
    (tensor(), ["z"], floats(1, 2), pickle.UnpicklingError, "not those of the object"),
    (tensor(), ["k", "k"], floats(1, 2) * 2, pickle.UnpicklingError, "not those of the object"),
    (tensor(), 5, b"", pickle.UnpicklingError, "no list"),
    (tensor(size=3), ["k"], floats(1, 2), pickle.UnpicklingError, "beyond its storage"),
    (tensor(offset=1), ["k"], floats(1, 2), pickle.UnpicklingError, "beyond its storage"),
    (tensor(kind=b"Module"), ["k"], floats(1, 2), pickle.UnpicklingError, "differ in size"),
    (b"cos\nsystem\nU\x02id\x85R.", [], b"", pickle.UnpicklingError, "Unsupported global"),
    (b"(", [], b"", pickle.UnpicklingError, "damaged"),
])  # fmt: skip
def test_damaged_files(pickled, keys, data, kind, said):
    with pytest.raises(kind, match=said):
        torch.load(io.BytesIO(legacy(pickled, keys, data)))


@pytest.mark.parametrize("pickled, expected", [
    (b"(K\x01K\x02\x91", frozenset((1, 2))),
    (b"\x96\x02" + bytes(7) + b"ab", bytearray(b"ab")),
    (b"\x8f(K\x01\x90", {1}),
    (b"S'text'\n", "text"),
    (b"Vtext\n", "text"),
    (b"ccollections\nOrderedDict\n)\x81(K\x01K\x02u", {1: 2}),
    (b"(ibuiltins\nlist\np1\n0g1\n", []),
    (b"ccollections\ndeque\n)R(K\x01K\x02e", None),
    (b"cfunctools\npartial\ncbuiltins\nlist\n\x85R)R", []),
])  # fmt: skip
def test_trusted_files_have_any_opcodes(pickled, expected):
    data = legacy(pickled + tensor()[:-1] + b"\x86.", ["k"], floats(1, 2))
    got, x = torch.load(io.BytesIO(data), weights_only=False)
    assert x.tolist() == [1, 2]
    assert list(got) == [1, 2] if expected is None else got == expected


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("opcode", [
    b"\x8e" + struct.pack("<Q", 1 << 32), b"\x8d" + struct.pack("<Q", (1 << 63) - 1),
    b"\x96" + struct.pack("<Q", 1 << 62), b"B" + struct.pack("<I", (1 << 32) - 1),
    b"\x8b" + struct.pack("<i", (1 << 31) - 1), b"T" + struct.pack("<i", (1 << 31) - 1),
])  # fmt: skip
def test_lengths_are_those_that_the_file_has(opcode, trusted):
    class File(io.BytesIO):
        def read(self, n=-1):
            asked.append(n)
            return super().read(n)

    asked = []
    with pytest.raises(pickle.UnpicklingError, match="damaged"):
        torch.load(File(b"\x80\x02" + opcode), weights_only=not trusted)
    assert max(asked) < 1000


def test_large_integers_are_no_keys():
    """Their hash costs their length, each time."""
    huge = b"\x8b" + struct.pack("<i", 1000) + b"\1" * 1000
    for key in (huge, b"K\1" + huge + b"\x86"):
        for pickled in (b"}" + key + b"Ns.", b"\x8f(" + key + b"\x90."):
            with pytest.raises(pickle.UnpicklingError, match="too large an integer"):
                torch.load(io.BytesIO(legacy(pickled, [], b"")))
    key = 1 << 200
    assert torch.load(io.BytesIO(saved({key: huge, (1, -key): 1 << 900})))[1, -key] == 1 << 900


def test_empty_storages_of_one_key_and_two_types():
    def storage(kind):
        return b"(U\x07storagectorch\n" + kind + b"\nU\x01kU\x03cpuK\x00NtQ"

    pickled = storage(b"FloatStorage") + storage(b"IntStorage") + storage(b"IntStorage")
    for r in both(legacy(pickled + b"\x87.", ["k"], floats())):
        assert [type(s) for s in r] == [torch.storage.TypedStorage] * 3
        assert [s.dtype for s in r] == [torch.float32, torch.int32, torch.int32]
        assert r[1] is r[2] and len(r[1]) == 0


def test_other_heads():
    with pytest.raises(RuntimeError, match="Invalid magic number"):
        torch.load(io.BytesIO(pickle.dumps(5, 2)))
    with pytest.raises(RuntimeError, match="Invalid protocol version"):
        torch.load(io.BytesIO(HEAD[:-4] + b"K\x03." + SYSTEM))
    big = SYSTEM.replace(b"\x88", b"\x89")
    with pytest.raises(ValueError, match="byte order"):
        torch.load(io.BytesIO(legacy(b"N.", [], b"", big)))


def test_no_part_of_a_file_does_anything_but_an_error():
    good = saved({"a": torch.ones(2, 2), "b": [torch.zeros(3, dtype=torch.int64), "text"]})
    for at in range(0, len(good), 7):
        for bad in (good[:at], good[:at] + bytes((good[at] ^ 0x55,)) + good[at + 1 :]):
            try:
                torch.load(io.BytesIO(bad))
            except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError):
                pass


def test_mapped_files_are_zip_files(tmp_path):
    (tmp_path / "a.pt").write_bytes(saved(torch.ones(2)))
    with pytest.raises(RuntimeError, match="mmap can only be used"):
        torch.load(tmp_path / "a.pt", mmap=True)


# --- storages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("zipped", [True, False])
def test_storages_are_saved_with_the_tensors_over_them(zipped):
    x = torch.arange(4.0)
    o = [x, x[1:3].storage(), torch.IntStorage(3).fill_(7), x.storage(), torch.FloatStorage()]
    f = io.BytesIO()
    torch.save(o, f, _use_new_zipfile_serialization=zipped)
    for r in both(f.getvalue()):
        assert type(r[1]) is torch.storage.TypedStorage and r[1].dtype is torch.float32
        assert r[1].tolist() == [0, 1, 2, 3] and r[2].tolist() == [7, 7, 7]
        assert r[2].dtype is torch.int32 and len(r[4]) == 0
        r[0].fill_(9)
        assert r[1].tolist() == [9] * 4 and r[3].data_ptr() == r[0].data_ptr()
        assert torch.empty(0).set_(r[1], 1, (2,), (1,)).tolist() == [9, 9]


def test_bytes_of_a_storage():
    f = io.BytesIO()
    torch.save(torch.ones(1, dtype=torch.int16).untyped_storage(), f)
    r = torch.load(io.BytesIO(f.getvalue()))
    assert type(r) is torch.storage.TypedStorage and r.dtype is torch.uint8 and r.tolist() == [1, 0]


def test_one_memory_has_one_dtype_in_a_file():
    x = torch.ones(3, dtype=torch.complex64)
    for o in ([x, x.imag], [x.storage(), x.imag], [x, x.untyped_storage()]):
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            torch.save(o, io.BytesIO())


def test_tensors_without_data():
    m = torch.nn.Linear(20000, 300000, device="meta")
    f = io.BytesIO()
    torch.save(m.state_dict(), f)
    for r in both(f.getvalue()):
        assert r["weight"].is_meta and r["weight"].shape == (300000, 20000)
    with pytest.raises(pickle.PicklingError, match="without data"):
        torch.save(torch.empty(2, device="meta").untyped_storage(), f)


def test_what_pickles_of_torch_call():
    from tensorh import _utils

    s = torch.arange(4.0).storage()
    t = _utils._rebuild_tensor_v2(s, 1, (2,), (1,), True, None)
    assert t.tolist() == [1, 2] and t.requires_grad
    assert _utils._rebuild_parameter(torch.ones(2), False, None).requires_grad is False
    x = torch.eye(2).to_sparse()
    parts = (x._indices(), x._values(), x.size())
    assert _utils._rebuild_sparse_tensor(x.layout, parts).to_dense().tolist() == [[1, 0], [0, 1]]
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        _utils._rebuild_sparse_tensor(x.layout, (x._indices() + 3, *parts[1:]))


def test_a_file_object_is_flushed(tmp_path):
    with open(tmp_path / "f.pt", "wb") as f:
        torch.save(torch.ones(2), f)
        assert torch.load(tmp_path / "f.pt").tolist() == [1, 1]


def test_whether_a_file_is_an_archive():
    f = io.BytesIO()
    torch.save(torch.ones(2), f)
    f.seek(0)
    assert torch.serialization._is_zipfile(f) and f.tell() == 0
    assert not torch.serialization._is_zipfile(io.BytesIO(saved(1)))
