"""Files of other programs: NumPy's .npy and .npz and tables as text, NumPy being the oracle."""

import io
import struct
import zipfile

import numpy as np
import pytest

import tensorh as torch
from tensorh.formats import load_csv, load_npy, load_npz, save_npy, save_npz

NAMES = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 float32 float64 complex64"
NAMES = (NAMES + " complex128").split()
SHAPES = [(), (1,), (3,), (0,), (2, 3), (3, 0, 2), (2, 3, 4), (1,) * 16]


def array(name, shape, seed=0):
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    bits = rng.integers(0, 256, n * np.dtype(name).itemsize, dtype=np.uint8)
    if name == "bool":
        bits &= 1
    a = bits.view(name).reshape(shape)
    return np.nan_to_num(a) if a.dtype.kind in "fc" else a


def same(t, a):
    assert str(t.dtype) == "torch." + a.dtype.name and tuple(t.shape) == a.shape
    assert t.contiguous().numpy().tobytes() == a.astype(a.dtype.newbyteorder("=")).tobytes()


def npy(a, version=None):
    f = io.BytesIO()
    np.lib.format.write_array(f, a, version)
    return f.getvalue()


def with_header(text, data=b"", version=1):
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes((version, 0)) + size + text + data


# --- .npy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_npy_of_numpy_is_read(name, tmp_path):
    for i, shape in enumerate(SHAPES):
        a = array(name, shape, i)
        for order in "<>=":
            b = a.astype(a.dtype.newbyteorder(order))
            for version in ((1, 0), (2, 0), (3, 0)):
                same(load_npy(io.BytesIO(npy(b, version))), a)
            same(load_npy(io.BytesIO(npy(np.array(b, order="F")))), a)
        np.save(tmp_path / "a.npy", a)
        same(load_npy(tmp_path / "a.npy"), a)


@pytest.mark.parametrize("name", NAMES)
def test_npy_is_read_by_numpy(name, tmp_path):
    for i, shape in enumerate(SHAPES):
        a = array(name, shape, i)
        f = io.BytesIO()
        save_npy(f, torch.from_numpy(a.copy()))
        save_npy(tmp_path / "a.npy", torch.from_numpy(a.copy()))
        assert (tmp_path / "a.npy").read_bytes() == f.getvalue()
        assert (len(f.getvalue()) - a.nbytes) % 64 == 0 and f.getvalue()[6:8] == b"\1\0"
        got = np.load(tmp_path / "a.npy")
        assert got.dtype == a.dtype and got.shape == a.shape and got.flags.c_contiguous
        assert got.tobytes() == a.tobytes()


def test_npy_in_fortrans_order_keeps_its_strides():
    a = np.asfortranarray(array("int16", (2, 3, 4)))
    t = load_npy(io.BytesIO(npy(a)))
    assert t.stride() == tuple(s // 2 for s in a.strides) and not t.is_contiguous()
    t[1, 2, 3] = 7
    assert t[1, 2, 3] == 7


def test_npy_of_any_strides_is_written_row_major():
    a = array("float32", (4, 6))
    f = io.BytesIO()
    save_npy(f, torch.from_numpy(a)[:, ::2].T)
    same(torch.from_numpy(np.load(io.BytesIO(f.getvalue()))), a[:, ::2].T)


def test_npy_headers_are_read_as_data():
    data = np.arange(6, dtype="<i4").tobytes()
    for text in (
        b"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n",
        b"{'shape':(2,3),'descr':'<i4','fortran_order':False}",
        b'{"shape": (2L, 3L,), "fortran_order": False, "descr": "i4"}   ',
        b" { 'fortran_order' : False , 'shape' : [ 2 , 3 ] , 'descr' : '=i4' , } ",
    ):
        for version in (1, 2, 3):
            t = load_npy(io.BytesIO(with_header(text, data, version)))
            assert t.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "text, words",
    [
        (b"{'descr': '<i4', 'fortran_order': False}", "lacks a key"),
        (b"{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': ()}", "twice"),
        (b"{'descr': '<i4', 'fortran_order': 0, 'shape': ()}", "malformed"),
        (b"{'descr': '<i4', 'fortran_order': Falsy, 'shape': ()}", "malformed"),
        (b"{'descr': '<i4', 'fortran_order': False, 'shape': (1, -1)}", "list of up to 16 sizes"),
        (b"{'descr': '<i4', 'fortran_order': False, 'shape': (1,) * 2}", "lacks a key"),
        (b"{'descr': '<i4', 'fortran_order': False, 'shape': (), 'more': 1}", "malformed"),
        (b"{'descr': '<i4', 'fortran_order': False, 'shape': ()} + {}", "lacks a key|follows"),
        (b"__import__('os').abort()", "no dictionary"),
        (b"", "no dictionary"),
        (b"{'descr': '|O', 'fortran_order': False, 'shape': ()}", "Python objects"),
        (b"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': ()}", "structured"),
        (b"{'descr': '<U5', 'fortran_order': False, 'shape': ()}", "'U5', which is none"),
        (b"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': ()}", "none of tensors"),
        (b"{'descr': '<f16', 'fortran_order': False, 'shape': ()}", "'f16', which is none"),
        (b"{'descr': '<f1', 'fortran_order': False, 'shape': ()}", "'f1', which is none"),
        (b"{'descr': '', 'fortran_order': False, 'shape': ()}", "which is none"),
        (b"{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", "other than 0 and 1"),
        (b"{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", "shorter or longer"),
        (b"{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387905,)}", "shorter"),
        (b"{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}" + b" " * 5000, "longer than"),
    ],
)
def test_npy_headers_that_are_refused(text, words):
    for version in (1, 2, 3):
        with pytest.raises(RuntimeError, match=words):
            load_npy(io.BytesIO(with_header(text, b"\1\2\1\0", version)))


def test_npy_that_is_none_is_refused(tmp_path):
    good = npy(np.arange(5, dtype=np.int16))
    for n in range(len(good)):
        with pytest.raises((RuntimeError, OSError)):
            load_npy(io.BytesIO(good[:n]))
    with pytest.raises(RuntimeError, match="shorter or longer"):
        load_npy(io.BytesIO(good + b"\0"))
    with pytest.raises(RuntimeError, match="version"):
        load_npy(io.BytesIO(good[:6] + b"\4" + good[7:]))
    with pytest.raises(OSError, match="nothing"):
        load_npy(tmp_path / "nothing.npy")
    for dtype in (torch.bfloat16, torch.float8_e5m2):
        with pytest.raises(RuntimeError, match="NumPy has no"):
            save_npy(tmp_path / "a.npy", torch.zeros(2).to(dtype))
    with pytest.raises(RuntimeError, match="CPU"):
        save_npy(tmp_path / "a.npy", torch.zeros(2, device="meta"))
    assert list(tmp_path.iterdir()) == []


# --- .npz -----------------------------------------------------------------------------------------


def npz(arrays, save=np.savez):
    f = io.BytesIO()
    save(f, **arrays)
    return f.getvalue()


ARRAYS = {
    "a": array("float32", (40, 50)),
    "b/c": np.arange(20000, dtype=np.int64) % 17,
    "d": np.asfortranarray(array("complex128", (3, 4))),
    "zero": np.zeros((0, 3)),
    "ones": np.ones((300, 300), dtype=np.uint8),
    "naïve": array("bool", ()),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_numpy_is_read(save, tmp_path):
    (tmp_path / "a.npz").write_bytes(npz(ARRAYS, save))
    got = load_npz(tmp_path / "a.npz")
    assert list(got) == list(ARRAYS)
    for name, a in ARRAYS.items():
        same(got[name], a)
        same(load_npz(io.BytesIO(npz(ARRAYS, save)))[name], a)
    assert load_npz(io.BytesIO(npz({}, save))) == {}


@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_npz_of_any_level_is_read(level, tmp_path):
    rng = np.random.default_rng(level)
    few = rng.integers(0, 4, 70000, dtype=np.uint8)
    far = np.concatenate([rng.integers(0, 256, 32768, dtype=np.uint8)] * 2)
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as z:
        for i, a in enumerate((few, far, few[:7], np.zeros(100000))):
            z.writestr(f"{i}.npy", npy(a))
    for name, a in zip("0123", (few, far, few[:7], np.zeros(100000)), strict=True):
        same(load_npz(io.BytesIO(f.getvalue()))[name], a)


def test_npz_is_read_by_numpy(tmp_path):
    save_npz(tmp_path / "a.npz", {k: torch.from_numpy(a) for k, a in ARRAYS.items()})
    f = io.BytesIO()
    save_npz(f, {k: torch.from_numpy(a) for k, a in ARRAYS.items()})
    assert (tmp_path / "a.npz").read_bytes() == f.getvalue()
    assert zipfile.ZipFile(f).testzip() is None
    f.seek(0)
    with np.load(f) as got:
        assert list(got) == list(ARRAYS)
        for name, a in ARRAYS.items():
            assert got[name].dtype == a.dtype and got[name].tobytes() == a.tobytes()
    save_npz(f := io.BytesIO(), {})
    f.seek(0)
    assert len(np.load(f).files) == 0 and load_npz(io.BytesIO(f.getvalue())) == {}


def test_npz_of_zip64_is_read():
    f = io.BytesIO()
    n = 65537
    one = npy(np.uint8(1))
    with zipfile.ZipFile(f, "w") as z:
        for i in range(n):
            z.writestr(zipfile.ZipInfo(str(i)), one)
    got = load_npz(io.BytesIO(f.getvalue()))
    assert len(got) == n and list(got)[-1] == str(n - 1)
    with pytest.raises(RuntimeError, match="65534"):
        save_npz(io.BytesIO(), got)
    # full fields and their field of zip64, as a writer of streams leaves them
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w") as z, z.open("a.npy", "w", force_zip64=True) as m:
        m.write(npy(np.arange(3)))
    data = bytearray(f.getvalue())
    at, size = data.rindex(b"PK\1\2"), len(npy(np.arange(3)))
    wide = struct.pack("<HHQQQ", 1, 24, size, size, 0)
    struct.pack_into("<II", data, at + 20, 0xFFFFFFFF, 0xFFFFFFFF)
    struct.pack_into("<H", data, at + 30, len(wide))
    struct.pack_into("<I", data, at + 42, 0xFFFFFFFF)
    end = data.rindex(b"PK\5\6")
    struct.pack_into("<I", data, end + 12, end - at + len(wide))
    data[end:end] = wide
    assert load_npz(io.BytesIO(data))["a"].tolist() == [0, 1, 2]


def test_npz_that_is_none_is_refused(tmp_path):
    good = npz({"a": np.arange(9)})
    at, entry = good.index(b"\x93NUMPY"), good.rindex(b"PK\1\2")

    def refused(words, data):
        with pytest.raises(RuntimeError, match=words):
            load_npz(io.BytesIO(data))

    def patched(offset, form, *values):
        data = bytearray(good)
        struct.pack_into(form, data, offset, *values)
        return data

    refused("no directory", b"junk" * 40)
    refused("no directory", b"")
    refused("CRC", patched(at + 130, "<B", 1))
    refused("encrypted", patched(entry + 8, "<H", 1))
    refused("another method", patched(entry + 10, "<H", 12))
    refused("cannot be unpacked|sizes", patched(entry + 10, "<H", 8))
    refused("sizes", patched(entry + 24, "<I", 7))
    refused("a.npy.*ends beyond", patched(entry + 20, "<II", 9999, 9999))
    refused("does not begin where", patched(entry + 42, "<I", 1))
    refused("UTF-8", patched(entry + 46, "<B", 255))
    refused("beyond", patched(len(good) - 6, "<I", len(good)))
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w") as z:
        z.writestr("readme.txt", "no array, which it should be")
    refused("readme.txt.*first bytes", f.getvalue())
    # the same bytes many times: they would be more than the file
    f, n = io.BytesIO(), 20
    with zipfile.ZipFile(f, "w") as z:
        z.writestr("a.npy", npy(np.arange(500)))
    data = f.getvalue()
    entry = data.rindex(b"PK\1\2")
    end = data.rindex(b"PK\5\6")
    many = data[:entry] + data[entry:end] * n
    many += struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, n, n, n * (end - entry), entry, 0)
    refused("overlap", many)
    with pytest.raises(ValueError, match="NULL|expected"):
        save_npz(tmp_path / "a.npz", {"a": 1})
    with pytest.raises(RuntimeError, match="65531 bytes"):
        save_npz(tmp_path / "a.npz", {"a" * 70000: torch.ones(1)})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_that_is_damaged_is_an_error_or_read(save):
    good = npz({"a": np.arange(40) % 7, "b": array("float32", (5,))}, save)
    for n in range(len(good)):
        with pytest.raises((RuntimeError, OSError)):
            load_npz(io.BytesIO(good[:n]))
    rng = np.random.default_rng(1)
    for _ in range(3000):
        data = bytearray(good)
        for _ in range(rng.integers(1, 4)):
            data[rng.integers(len(data))] = rng.integers(256)
        try:
            load_npz(io.BytesIO(data))
        except (RuntimeError, OSError):
            pass


# --- tables as text -------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_of_numpy_is_read(delimiter, tmp_path):
    path, rng = tmp_path / "a.csv", np.random.default_rng(2)
    a = rng.standard_normal((40, 5)) * 10.0 ** rng.integers(-200, 200, (40, 5))
    np.savetxt(path, a, fmt="%.17g", delimiter=delimiter)
    t, names = load_csv(path, delimiter, dtype=torch.float64)
    assert t.numpy().tobytes() == a.tobytes() and names == []
    np.savetxt(path, a, fmt='"%.17g"', delimiter=delimiter, header="a" + delimiter * 4, comments="")
    t, names = load_csv(path, delimiter, dtype=torch.float64)
    assert t.numpy().tobytes() == a.tobytes() and names == ["a", "", "", "", ""]
    b = rng.integers(-(2**63), 2**63 - 1, (30, 3))
    np.savetxt(path, b, fmt="%d", delimiter=delimiter, newline="\r\n")
    assert load_csv(path, delimiter, dtype=torch.int64)[0].tolist() == b.tolist()


def test_csv_options_and_errors(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x,"y ""z""",ü\n1,,3\n4,5,nan\n', encoding="utf-8")
    t, names = load_csv(path)
    assert names == ["x", 'y "z"', "ü"] and t.dtype is torch.float32 and t.shape == (2, 3)
    assert t[0].isnan().tolist() == [False, True, False] and t[1, 2].isnan()
    with pytest.raises(RuntimeError, match="line 2, column 2: '' is no int32"):
        load_csv(path, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="line 1, column 1: 'x' is no float32"):
        load_csv(path, header=False)
    path.write_text("1,2\n3,4\n")
    assert load_csv(path, header=True)[1] == ["1", "2"]
    for delimiter in ("", ",,", "ü"):
        with pytest.raises((ValueError, TypeError)):
            load_csv(path, delimiter)
    for delimiter in '"\n.-5':
        with pytest.raises(RuntimeError, match="cannot be a delimiter"):
            load_csv(path, delimiter)
    with pytest.raises(TypeError, match="dtype"):
        load_csv(path, dtype=3)
    with pytest.raises(OSError):
        load_csv(tmp_path / "none.csv")
