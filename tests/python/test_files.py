"""Files: torch's .pt both ways, what they refuse, damage."""

import io
import os
import pathlib
import pickle
import random
import struct
import sys
import tracemalloc
import zipfile
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

import tensorh as torch

DATA = pathlib.Path(__file__).parent / "data"
sys.path.insert(0, str(DATA))
import make_files  # noqa: E402


def is_tensor(o):
    return hasattr(o, "storage_offset")


def plain(t):
    """Elements as numbers that compare: float8 and bfloat16 through float32."""
    m = sys.modules["torch"] if type(t).__module__ == "torch" and "torch" in sys.modules else torch
    name = str(t.dtype)
    t = t.detach()
    if "float8" in name or "bfloat16" in name:
        t = t.to(torch.float32 if isinstance(t, torch.Tensor) else m.float32)
    return t.tolist()


def same(a, b, at="", seen=None):
    """Asserts that two objects are alike, of either library, strides and types included."""
    seen = seen or set()
    if id(a) in seen:
        return
    seen = seen | {id(a)}
    if is_tensor(a):
        assert tuple(a.shape) == tuple(b.shape) and str(a.dtype) == str(b.dtype), at
        assert tuple(a.stride()) == tuple(b.stride()), at
        assert a.storage_offset() == b.storage_offset(), at
        assert a.requires_grad == b.requires_grad, at
        assert plain(a) == plain(b), at
        return
    assert type(a).__name__ == type(b).__name__, at
    if isinstance(a, dict):
        assert list(a) == list(b), at
        for k in a:
            same(a[k], b[k], f"{at}/{k}", seen)
        if isinstance(a, OrderedDict):
            same(vars(a), vars(b), at + "/attributes", seen)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), at
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{at}/{i}", seen)
    else:
        assert a == b or str(a) == str(b), at


def through(o, **options):
    f = io.BytesIO()
    torch.save(o, f)
    f.seek(0)
    return torch.load(f, **options)


def sharing(r):
    x, t = r["views"][:2]
    assert r["same"] is x and r["ordered"]["b"] is x
    assert r["shared"][0] is r["shared"][1] and r["loop"][1] is r["loop"]
    x[0, 1] = 50
    assert t[1, 0].item() == 50
    x[0, 1] = 1


def test_everything_comes_back():
    made = make_files.zoo(torch)
    r = through(made)
    same(made, r)
    sharing(r)


def test_files_of_torch_are_read():
    r = torch.load(DATA / "torch_zoo.pt")
    same(make_files.zoo(torch), r)
    sharing(r)
    assert torch.load(DATA / "torch_nocrc.pt")["x"].tolist() == [1, 1]


def test_optimizer_state_of_torch_goes_on():
    stored, ours = torch.load(DATA / "torch_adam.pt"), make_files.optimizer_state(torch)
    same(stored["schedule"], ours["schedule"])
    assert stored["optimizer"]["param_groups"] == ours["optimizer"]["param_groups"]
    for k, v in stored["optimizer"]["state"][0].items():
        np.testing.assert_allclose(v.tolist(), ours["optimizer"]["state"][0][k].tolist(), rtol=1e-6)
    p = stored["param"]
    o = torch.optim.Adam([p])
    o.load_state_dict(stored["optimizer"])
    p.grad = torch.tensor([1.0, 1.0])
    o.step()
    assert o.state[p]["step"].item() == 2


def test_modules_of_torch_are_read():
    nn = pytest.importorskip("tensorh.nn")
    r = torch.load(DATA / "torch_module.pt")
    assert type(r["state"]) is OrderedDict and r["state"]._metadata[""] == {"version": 1}
    assert r["state"]["weight"].tolist() == [[0, 1, 2], [3, 4, 5]]
    w = r["list"][0]
    assert isinstance(w, nn.Parameter) and w.requires_grad and w.note == "kept"
    again = through(r)
    assert isinstance(again["list"][1], nn.Parameter) and again["list"][0].note == "kept"
    assert again["list"][1].tolist() == [0.5, -0.5]


def test_torch_reads_our_files():
    real = pytest.importorskip("torch")
    f = io.BytesIO()
    made = make_files.zoo(torch)
    torch.save(made, f)
    for mapped in (False, True):
        f.seek(0)
        r = real.load(f, weights_only=True)
        same(made, r)
        sharing(r)
        if mapped:
            break
    f = io.BytesIO()
    state = make_files.optimizer_state(torch)
    torch.save(state, f)
    f.seek(0)
    p = real.tensor([1.0, 2.0], requires_grad=True)
    real.optim.Adam([p]).load_state_dict(real.load(f, weights_only=True)["optimizer"])


def test_paths_objects_and_atomic_files(tmp_path):
    path = tmp_path / "a.pt"
    torch.save({"x": torch.ones(2)}, path)
    torch.save({"x": torch.zeros(3)}, str(path))
    assert torch.load(os.fsencode(path))["x"].tolist() == [0, 0, 0]
    assert os.listdir(tmp_path) == ["a.pt"]
    with pytest.raises(pickle.PicklingError):
        torch.save(lambda: 1, path)
    with pytest.raises(RuntimeError, match=r"Parent directory .*no does not exist\."):
        torch.save(1, tmp_path / "no" / "such")

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        torch.save(1, Full())
    assert torch.load(path)["x"].tolist() == [0, 0, 0] and os.listdir(tmp_path) == ["a.pt"]
    link = tmp_path / "b.pt"
    link.symlink_to(path)
    torch.save(5, link)
    assert link.is_symlink() and torch.load(path) == 5
    with pytest.raises(AttributeError):
        torch.load(3)
    with pytest.raises(AttributeError):
        torch.save(1, 3)
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "none.pt")


@pytest.mark.skipif(sys.platform == "win32", reason="rights are those of POSIX")
def test_a_new_file_has_the_rights_of_the_process_and_an_old_one_its_own(tmp_path, monkeypatch):
    path = tmp_path / "a.pt"
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as m:
            m.delattr(os, "umask")  # what it changes is every thread's
            torch.save(1, path)
            assert path.stat().st_mode & 0o777 == 0o640
            for mode in (0o600, 0o604):
                path.chmod(mode)
                torch.save(2, os.fsencode(path))
                assert path.stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)
    assert torch.load(path) == 2 and os.listdir(tmp_path) == ["a.pt"]


def test_mapped_files_stay_as_they_are(tmp_path):
    path = tmp_path / "a.pt"
    torch.save(make_files.zoo(torch), path)
    r = torch.load(path, mmap=True)
    same(make_files.zoo(torch), r)
    r["views"][0][0] = 9
    same(make_files.zoo(torch), torch.load(path))


def test_members_are_stored_at_multiples_of_64():
    f = io.BytesIO()
    torch.save([torch.ones(3), torch.ones(5)], f)
    data = f.getvalue()
    with zipfile.ZipFile(f) as z:
        assert z.testzip() is None
        for i in z.infolist():
            names, extras = struct.unpack_from("<2H", data, i.header_offset + 26)
            assert (i.header_offset + 30 + names + extras) % 64 == 0
            assert i.compress_type == zipfile.ZIP_STORED
        assert z.read("archive/data/1") == np.ones(5, "f").tobytes()


def test_a_small_view_saves_what_lies_before_its_end():
    big = torch.zeros(1000)
    f = io.BytesIO()
    torch.save(big[2:4], f)
    assert len(f.getvalue()) < 2000
    r = through(big[2:4])
    assert r.storage_offset() == 2 and r.tolist() == [0, 0]


def test_large_archives_have_wide_fields():
    from tensorh import _zip

    class Sparse(io.RawIOBase):
        """Remembers what is no zero."""

        def __init__(self):
            self.parts, self.at, self.end = {}, 0, 0

        def write(self, data):
            if data[:1] != b"\0":
                self.parts[self.at] = bytes(data)
            self.at += len(data)
            self.end = max(self.end, self.at)
            return len(data)

    class Zeros:
        """A member of 4 GiB that takes no memory."""

        def __len__(self):
            return (1 << 32) + 5

    f = Sparse()
    w = _zip.Writer(f)
    w._members = [(b"a/data/0", 0, len(Zeros()), 0)]
    w._at = f.at = len(Zeros()) + 64
    w.add("a/data.pkl", b"N.")
    w.finish()
    tail = b"".join(f.parts[k] for k in sorted(f.parts))
    shift = f.end - len(tail)

    class Tail(io.BytesIO):
        def seek(self, at, how=0):
            self.place = f.end + at if how == 2 else at
            return self.place

        def tell(self):
            return self.place

        def read(self, n=-1):
            at, data = self.place - shift, b""
            if at < 0:
                data, at = bytes(min(n, -at)), 0
            return data + tail[at : at + n - len(data)]

    members = _zip.Reader(Tail()).members
    assert members["a/data/0"][:2] == (0, len(Zeros()))
    assert members["a/data.pkl"][0] == len(Zeros()) + 64 and members["a/data.pkl"][1] == 2


def test_map_location():
    o = {"x": torch.ones(2)}
    calls = []

    def stay(storage, location):
        calls.append(location)
        return storage

    for where in (None, "cpu", torch.device("cpu"), {"cpu": "cpu"}, stay, lambda s, w: None):
        assert through(o, map_location=where)["x"].tolist() == [1, 1]
    assert calls == ["cpu"]
    f = io.BytesIO()
    torch.save(o, f)
    data = f.getvalue()
    away = rewritten(data, lambda p: p.replace(b"X\3\0\0\0cpu", b"X\6\0\0\0cuda:0"))
    with pytest.raises(RuntimeError, match="map_location"):
        torch.load(io.BytesIO(away))
    assert torch.load(io.BytesIO(away), map_location="cpu")["x"].tolist() == [1, 1]
    assert torch.load(io.BytesIO(away), map_location={"cuda:0": "cpu"})["x"].tolist() == [1, 1]


def text_of(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()


def test_a_device_that_is_not_there_is_that_of_map_location():
    pickled = b"\x80\2(" + b"".join(
        b"ctorch\ndevice\n" + text_of(name) + index
        for name, index in (("cuda", b"K\0\x86R"), ("mps", b"\x85R"), ("meta", b"\x85R"))
    )
    data = io.BytesIO(archive(pickled + b"l."))
    with pytest.raises(RuntimeError, match="on a CUDA device but.*map_location"):
        torch.load(data)
    cpu, meta = torch.device("cpu"), torch.device("meta")
    named = {"cuda:0": "meta", "mps": "cpu", "meta": "cpu"}
    for where, given in (("cpu", [cpu, cpu, meta]), (named, [meta, cpu, meta]),
                         (lambda s, location: s, [cpu, cpu, meta])):  # fmt: skip
        data.seek(0)
        assert torch.load(data, map_location=where) == given


# --- what is refused ------------------------------------------------------------------------------


def archive(pickled, **members):
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w") as z:
        z.writestr("archive/data.pkl", pickled)
        for name, data in members.items():
            z.writestr("archive/data/" + name.removeprefix("_"), data)
        z.writestr("archive/version", "3\n")
    return f.getvalue()


def rewritten(data, change):
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        parts = {n: z.read(n) for n in z.namelist()}
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w") as z:
        for n, part in parts.items():
            z.writestr(n, change(part) if n.endswith("data.pkl") else part)
    return f.getvalue()


class Run:
    def __init__(self, what, *args):
        self.what, self.args = what, args

    def __reduce__(self):
        return self.what, self.args


@pytest.mark.parametrize(
    "name, args",
    [
        (os.system, ("echo ran > /tmp/ran",)),
        (eval, ("1",)),
        (getattr, ({}, "get")),
        (print, ()),
        (OrderedDict.fromkeys, ([1],)),
        (defaultdict, (list,)),
        (type, ("x", (), {})),
    ],
)
def test_nothing_runs(name, args):
    with pytest.raises(pickle.UnpicklingError, match="(?i)global"):
        torch.load(io.BytesIO(archive(pickle.dumps(Run(name, *args), 2))))


STORAGE = b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0000X\3\0\0\0cpuK%ctQ"


def tensor_pickle(numel, offset, size, stride, grad=b"\x89"):
    """_rebuild_tensor_v2 of a storage of numel float32 in data/0."""
    storage = b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0000X\3\0\0\0cpu"
    storage += pickle.dumps(numel, 2)[2:-1] + b"tQ"
    numbers = b"".join(pickle.dumps(v, 2)[2:-1] for v in (offset, size, stride))
    return (
        b"\x80\2ctorch._utils\n_rebuild_tensor_v2\n("
        + storage
        + numbers
        + grad
        + b"ccollections\nOrderedDict\n)RtR."
    )


def test_sizes_are_checked_before_memory_is_made():
    zero = bytes(16)
    t = torch.load(io.BytesIO(archive(tensor_pickle(4, 0, (2, 2), (2, 1)), _0=zero)))
    assert t.tolist() == [[0, 0], [0, 0]]
    huge = 1 << 40
    bad = [
        tensor_pickle(4, 1, (2, 2), (2, 1)),
        tensor_pickle(4, 0, (5,), (1,)),
        tensor_pickle(4, 0, (2, 2), (3, 1)),
        tensor_pickle(4, 0, (huge, huge), (1, 1)),
        tensor_pickle(4, 0, (1 << 70,), (1,)),
        tensor_pickle(4, -1, (2,), (1,)),
        tensor_pickle(4, 0, (-2,), (1,)),
        tensor_pickle(4, 0, (2,), (-1,)),
        tensor_pickle(4, 0, (2, 2), (1,)),
        tensor_pickle(4, 0, 4, 1),
        tensor_pickle(5, 0, (2,), (1,)),
        tensor_pickle(huge, 0, (huge,), (1,)),
        tensor_pickle(4.0, 0, (2,), (1,)),
        tensor_pickle(4, True, (2,), (1,)),
        tensor_pickle(4, 0, (1,) * 200, (1,) * 200),
        tensor_pickle(4, 0, (2,), (1,), b"K\1"),
    ]
    for p in bad:
        with pytest.raises((pickle.UnpicklingError, RuntimeError)):
            torch.load(io.BytesIO(archive(p, _0=zero)))
    t = torch.load(io.BytesIO(archive(tensor_pickle(4, 3, (huge, 2), (0, 0)), _0=zero)))
    assert t.shape == (huge, 2) and t[7, 1].item() == 0


@pytest.mark.parametrize(
    "pickled",
    [
        b"",
        b"\x80\2",
        b"\x80\2.",
        b".",
        b"\x80\2Nu.",
        b"\x80\2(1(u.",
        b"\x80\2]q\0b.",
        b"\x80\2h\7.",
        b"\x80\2(K\1K\2t\x85R.",
        b"\x80\2X\xff\xff\xff\xffa.",
        b"\x80\2\x8d" + b"\xff" * 8 + b".",
        b"\x80\2\x8b\xff\xff\xff\xff.",
        b"\x80\2}]K\1s.",
        b"\x80\2}ctorch\nSize\nK\1s.",
        b"\x80\2ctorch\nSize\n}X\1\0\0\0xK\1sb.",
        b"\x80\2ccollections\nOrderedDict\n)R}X\4\0\0\0keysK\1sb.",
        b"\x80\2ccollections\nOrderedDict\n)R}X\x09\0\0\0__class__K\1sb.",
        b"\x80\2ctorch\nSize\n(K\1X\1\0\0\0at\x85R.",
        b"\x80\2c_codecs\nencode\nX\1\0\0\0aX\3\0\0\0rotR.",
        b"\x80\2ctorch\nFloatStorage\n)R.",
        b"\x80\2ctorch\nfloat32\n)R.",
        b"\x80\2K\1Q.",
        b"\x80\2ctorch._utils\n_rebuild_tensor_v2\n)R.",
        b"\x80\2ctorch._utils\n_rebuild_parameter\n(K\1\x88NtR.",
        b"\x80\2ctorch\ndevice\nX\3\0\0\0foo\x85R.",
        b"\x80\2cos\nsystem\n.",
        b"\x80\2c__builtin__\ngetattr\n.",
        b"\x80\2I" + b"9" * 5000 + b"\n.",
        b"\x80\2]" + b"r\xff\xff\xff\x7f" + b"j\xfe\xff\xff\x7f.",
    ],
)
def test_pickles_that_are_no_data(pickled):
    with pytest.raises((pickle.UnpicklingError, EOFError, RuntimeError)):
        torch.load(io.BytesIO(archive(pickled)))


def test_a_frame_lies_within_the_pickle(tmp_path):
    path = tmp_path / "framed.pt"
    for beyond in (0, 1, 1 << 62, (1 << 64) - 3):
        pickled = b"\x80\4\x95" + struct.pack("<Q", 2 + beyond) + b"N."
        path.write_bytes(archive(pickled))
        if not beyond:
            assert pickle.loads(pickled) is None and torch.load(path) is None
            continue
        with pytest.raises((pickle.UnpicklingError, OverflowError)):
            pickle.loads(pickled)
        for where, name in ((path, "framed.pt: "), (io.BytesIO(path.read_bytes()), "")):
            with pytest.raises(pickle.UnpicklingError, match=f"{name}pickle data was truncated"):
                torch.load(where)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "broken.pt"
    for data, kind in (
        (b"", EOFError),
        (b"PK no archive", RuntimeError),
        (archive(b"\x80\2(."), pickle.UnpicklingError),
    ):
        path.write_bytes(data)
        with pytest.raises(kind, match="broken.pt: "):
            torch.load(path)


def test_pickles_that_would_take_long_or_much():
    deep = b"\x80\2)" + b"\x85" * 300000 + b"."
    assert isinstance(torch.load(io.BytesIO(archive(deep))), tuple)
    doubling = b"\x80\2)" + b"q\0h\0\x86" * 60
    for key in (deep[:-1], doubling):
        with pytest.raises(pickle.UnpicklingError, match="key"):
            torch.load(io.BytesIO(archive(key + b"q\1}h\1K\1s.")))
    text = b"X" + struct.pack("<I", 100000) + b"a" * 100000
    many = b"\x80\2(" + text + b"q\0c_codecs\nencode\nq\1X\6\0\0\0latin1q\2"
    many += b"h\1h\0h\2\x86R" * 1000 + b"t."
    tracemalloc.start()
    with pytest.raises(pickle.UnpicklingError, match="copies more"):
        torch.load(io.BytesIO(archive(many)))
    memo = b"\x80\2]r\xff\xff\xff\x7f."
    torch.load(io.BytesIO(archive(memo)))
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


DOUBLING = b")" + b"2\x86" * 60  # a tuple whose repr has 2^60 members


@pytest.mark.parametrize(
    "pickled, said",
    [
        (DOUBLING + b")R.", "Trying to call a tuple"),
        (b"ctorch\nFloatStorage\n" + DOUBLING + b"R.", "Trying to call torch.FloatStorage"),
        (b"ctorch\ndevice\n(" + text_of("cpu") + DOUBLING + b"tR.", "expected a size, not a tuple"),
        (tensor_pickle(4, 99, (), ()).replace(b"Kc", DOUBLING), "expected a size, not a tuple"),
        (b"(" + text_of("storage") + DOUBLING * 4 + b"tQ.", "a storage type"),
        (b"ccollections\nOrderedDict\n)R}" + b"(K\1" + text_of("a") * 8 + b"tK\1sb.", "a tuple"),
    ],
)
def test_what_a_pickle_holds_is_not_printed(pickled, said):
    with pytest.raises(pickle.UnpicklingError, match=said) as error:
        torch.load(io.BytesIO(archive(b"\x80\2" + pickled.removeprefix(b"\x80\2"), _0=bytes(16))))
    assert len(str(error.value)) < 200


def test_archives_that_are_refused():
    good = archive(b"\x80\2N.")
    assert torch.load(io.BytesIO(good)) is None
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("archive/data.pkl", b"\x80\2N." + bytes(10000))
    with pytest.raises(RuntimeError, match="compressed"):
        torch.load(io.BytesIO(f.getvalue()))
    with pytest.raises(EOFError):
        torch.load(io.BytesIO(b""))
    with pytest.raises(pickle.UnpicklingError, match="no file of torch.save"):
        torch.load(io.BytesIO(b"not a file at all"))
    wrong = bytearray(archive(tensor_pickle(4, 0, (4,), (1,)), _0=b"0123456789abcdef"))
    wrong[bytes(wrong).index(b"0123456789")] ^= 1
    with pytest.raises(RuntimeError, match="CRC"):
        torch.load(io.BytesIO(wrong))
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w") as z:
        z.writestr("archive/other", b"")
    with pytest.raises(RuntimeError, match=r"no data\.pkl"):
        torch.load(io.BytesIO(f.getvalue()))
    with pytest.raises(ValueError, match="pickle_module"):
        torch.load(io.BytesIO(good), pickle_module=os)


def test_members_that_overlap_are_not_read_twice():
    """Many entries of the directory over the same bytes: more tensors than the file has bytes."""
    names = [f"_{i}" for i in range(8)]
    data = archive(b"\x80\2N.", **{n: b"\0" * 4096 if n == "_0" else b"" for n in names})
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        first = z.getinfo("archive/data/0")
    out, at = bytearray(data), data.index(b"PK\1\2")
    while out[at : at + 4] == b"PK\1\2":
        n, extra, note = struct.unpack_from("<3H", out, at + 28)
        name = bytes(out[at + 46 : at + 46 + n])
        if name.startswith(b"archive/data/"):
            struct.pack_into("<3I", out, at + 16, first.CRC, 4096, 4096)
            struct.pack_into("<I", out, at + 42, first.header_offset)
        at += 46 + n + extra + note
    from tensorh._zip import DamagedError, Reader

    reader = Reader(io.BytesIO(out))
    with pytest.raises(DamagedError, match="overlap"):
        for i in range(8):
            reader.read(f"archive/data/{i}")


def test_tensors_with_attributes():
    t = torch.ones(2)
    t.note = {"a": 1}
    r = through([t, t])
    assert r[0] is r[1] and r[0].note == {"a": 1}
    real = pytest.importorskip("torch")
    f = io.BytesIO()
    torch.save(t, f)
    f.seek(0)
    assert real.load(f, weights_only=True).note == {"a": 1}


def test_damaged_files_give_errors():
    """Bytes that are changed, cut off or exchanged: an object or an exception, nothing else."""
    rng = random.Random(7)
    f = io.BytesIO()
    torch.save({"x": torch.ones(3, 4), "l": [1, "a", (2.5, None)], "s": {1, 2}}, f)
    good, opened = f.getvalue(), 0
    for i in range(1500):
        data = bytearray(good)
        for _ in range(rng.choice((1, 1, 2, 8))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if i % 5 == 0:
            del data[rng.randrange(len(data)) :]
        if i % 7 == 0:
            a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
            data[a:b] = data[a:b][::-1]
        opened += survives(bytes(data))
    assert opened < 1500


def survives(data):
    try:
        r = torch.load(io.BytesIO(data))
        repr(r)
        return True
    except (RuntimeError, ValueError, EOFError, OSError, pickle.UnpicklingError):
        return False


def test_damaged_pickles_give_errors():
    """Behind a right checksum: the machine itself meets what is damaged."""
    rng = random.Random(8)
    f = io.BytesIO()
    torch.save({"x": torch.ones(3, 4), "l": [1, "a", (2.5, None)], "s": {1, 2}}, f)
    with zipfile.ZipFile(f) as z:
        pickled, storage = z.read("archive/data.pkl"), z.read("archive/data/0")
    ops = b"(.0123456789]}abcdehjlqrstuRQKMJGXINLUTBC\x80\x81\x85\x86\x87\x88\x89\x8a\x8b\x8c\x94"
    for i in range(1500):
        data = bytearray(pickled)
        for _ in range(rng.choice((1, 2, 4))):
            at = rng.randrange(len(data))
            if i % 2:
                data[at] = rng.choice(ops)
            elif i % 3:
                data[at : at + 1] = bytes((rng.choice(ops), data[at]))
            else:
                data[at] = rng.randrange(256)
        survives(archive(bytes(data), _0=storage))


# --- safetensors ----------------------------------------------------------------------------------


def test_a_file_is_read_from_its_position():
    f = io.BytesIO()
    f.write(b"head")
    torch.save(torch.ones(2), f)
    assert torch.load(io.BytesIO(f.getvalue()[4:])).tolist() == [1, 1]
    f.seek(4)
    assert torch.load(f).tolist() == [1, 1]
    f.seek(0, 2)
    second = f.tell()
    torch.save([torch.zeros(3)], f)
    f.seek(second)
    assert torch.load(f)[0].tolist() == [0, 0, 0]
    f.seek(0, 2)
    with pytest.raises(EOFError):
        torch.load(f)


def of_storage(storage, numel, metadata):
    """_rebuild_tensor_v2 of a whole storage, with the metadata that torch writes."""
    persistent = b"(" + text_of("storage") + b"ctorch\n" + storage + b"\n" + text_of("0")
    persistent += text_of("cpu") + b"K" + bytes((numel,)) + b"tQ"
    sizes = b"K\0K" + bytes((numel,)) + b"\x85K\1\x85\x89ccollections\nOrderedDict\n)R"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + persistent + sizes + metadata + b"tR"


def test_conjugate_and_negative_bits_are_read():
    conj, neg = b"}" + text_of("conj") + b"\x88s", b"}" + text_of("neg") + b"\x88s"
    both = conj + text_of("neg") + b"\x88s"
    each = [of_storage(b"ComplexFloatStorage", 2, bits) for bits in (conj, b"N", neg, both, conj)]
    data = struct.pack("<4f", 1, 2, 3, -1)
    got = torch.load(io.BytesIO(archive(b"\x80\2(" + b"".join(each) + b"t.", _0=data)))
    assert [t.tolist() for t in got] == [
        [1 - 2j, 3 + 1j],
        [1 + 2j, 3 - 1j],
        [-1 - 2j, -3 + 1j],
        [-1 + 2j, -3 - 1j],
        [1 - 2j, 3 + 1j],
    ]
    assert got[0].data_ptr() == got[4].data_ptr() != got[1].data_ptr(), "made once"
    real = archive(b"\x80\2" + of_storage(b"FloatStorage", 4, neg) + b".", _0=data)
    assert torch.load(io.BytesIO(real)).tolist() == [-1, -2, -3, 1]
    other = b"}" + text_of("other") + b"\x88s"
    for storage, numel, bits in (
        (b"FloatStorage", 4, conj),
        (b"IntStorage", 4, neg),
        (b"FloatStorage", 4, other),
        (b"FloatStorage", 4, b"K\1"),
    ):
        bad = archive(b"\x80\2" + of_storage(storage, numel, bits) + b".", _0=data)
        with pytest.raises(pickle.UnpicklingError, match="bit"):
            torch.load(io.BytesIO(bad))


def test_tensors_of_meta_are_read():
    head = b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat64\n"
    got = torch.load(io.BytesIO(archive(b"\x80\2" + head + b"K\3K\2\x86K\1K\3\x86\x88tR.")))
    assert got.is_meta and got.requires_grad and got.dtype is torch.float64
    assert (tuple(got.shape), got.stride()) == ((3, 2), (1, 3))
    for rest in (b"K\3K\2\x86K\1\x85\x89tR.", b"NN\x89tR.", b")J\xff\xff\xff\xff\x85\x89tR."):
        with pytest.raises((pickle.UnpicklingError, RuntimeError)):
            torch.load(io.BytesIO(archive(b"\x80\2" + head + rest)))
