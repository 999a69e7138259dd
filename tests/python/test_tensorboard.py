"""torch.utils.tensorboard: event files by a reader of our own, and by TensorBoard where it is."""

import math
import os
import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import tensorh as torch
from tensorh.utils.tensorboard import FileWriter, RecordWriter, SummaryWriter, summary

# --- a reader of the format -----------------------------------------------------------------------


def crc32c(data):
    c = 0xFFFFFFFF
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    return c ^ 0xFFFFFFFF


def masked(data):
    c = crc32c(data)
    return ((c >> 15 | c << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """The records of a file, which must end with one."""
    at, found = 0, []
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked(data[at : at + 8])
        body = data[at + 12 : at + 12 + length]
        assert len(body) == length
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body)
        found.append(body)
        at += 16 + length
    return found


def varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 128:
            return n, at


def fields(data):
    """{number: [values]} of a message: integers, or bytes of all else."""
    at, found = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                assert key & 7 == 2
                size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size
        found.setdefault(key >> 3, []).append(value)
    return found


def doubles(data):
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def files(folder):
    return sorted(Path(folder).glob("events.out.tfevents.*"))


def events(folder):
    return [fields(r) for f in files(folder) for r in records(f.read_bytes())]


def values(folder):
    """(tag, step, fields of the value) of each."""
    found = []
    for e in events(folder):
        for s in e.get(5, ()):
            for v in fields(s).get(1, ()):
                v = fields(v)
                found.append((v[1][0].decode(), e.get(2, [0])[0], v))
    return found


def pixels(data):
    """(height, width, channels) of a PNG without filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + content)
        if kind == b"IHDR":
            w, h, depth, color = struct.unpack_from(">IIBB", content)
        body += content if kind == b"IDAT" else b""
        at += 12 + size
    channels = {2: 3, 4: 2, 6: 4}[color]
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(h, 1 + w * channels)
    assert depth == 8 and kind == b"IEND" and not rows[:, 0].any()
    return rows[:, 1:].reshape(h, w, channels)


# --- frames and files -----------------------------------------------------------------------------


def test_checksums():
    assert torch._C._crc32c(b"123456789") == 0xE3069283 == crc32c(b"123456789")
    assert torch._C._crc32c(b"") == 0 and torch._C._crc32c(bytes(32)) == 0x8A9136AA
    with pytest.raises(TypeError):
        torch._C._crc32c("text")


def test_a_file_begins_with_its_version(tmp_path):
    with SummaryWriter(tmp_path / "a" / "b", filename_suffix=".end") as w:
        assert w.get_logdir() == str(tmp_path / "a" / "b")
        first = events(tmp_path / "a" / "b")  # it is there at once
        w.add_scalar("x", 1.5, 3, walltime=12.25)
    (path,) = files(tmp_path / "a" / "b")
    assert path.name.endswith(".end") and f".{os.getpid()}." in path.name
    version, one = events(tmp_path / "a" / "b")
    assert first == [version] and version[3] == [b"brain.Event:2"]
    assert doubles(one[1][0]) == [12.25] and one[2] == [3]
    (value,) = fields(one[5][0])[1]
    assert fields(value) == {1: [b"x"], 2: [struct.pack("<f", 1.5)]}


def test_the_folder_of_torch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SummaryWriter(comment="_tail").close()
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("_tail") and len(files(folder)) == 1
    with pytest.raises(ValueError, match="local"):
        SummaryWriter("s3://bucket/runs")


def test_what_waits_is_written(tmp_path):
    w = SummaryWriter(tmp_path, max_queue=3)
    for i in range(4):
        w.add_scalar("x", i, i)
        assert len(values(tmp_path)) == (3 if i >= 2 else 0)
    w.flush()
    assert len(values(tmp_path)) == 4
    w.close()
    w.close()
    w.flush()
    w.add_scalar("x", 5, 5)  # another file
    w.close()
    assert len(values(tmp_path)) == 5 and len(files(tmp_path)) == 2
    w = SummaryWriter(tmp_path / "now", flush_secs=0)
    w.add_scalar("x", 1)
    assert len(values(tmp_path / "now")) == 1
    w.add_scalar("x", 2)
    del w
    assert len(values(tmp_path / "now")) == 2


def test_a_purge(tmp_path):
    with SummaryWriter(tmp_path, purge_step=5) as w:
        w.add_scalar("x", 1, 6)
    one, two, three, four = events(tmp_path)
    assert 2 not in one and two[2] == three[2] == [5] and four[2] == [6]
    assert two[3] == [b"brain.Event:2"] and fields(three[7][0]) == {1: [1]}


PROGRAM = """
import os, signal, sys
from tensorh.utils.tensorboard import SummaryWriter
w = SummaryWriter(sys.argv[1])
for i in range(25):
    w.add_scalar("x", i, i)
"""


@pytest.mark.parametrize(
    "end, n", [("", 25), ("sys.exit(3)", 25), ("os.kill(os.getpid(), signal.SIGKILL)", 20)]
)
def test_the_end_of_a_program(tmp_path, end, n):
    subprocess.run([sys.executable, "-c", PROGRAM + end, tmp_path], check=False, timeout=120)
    assert [step for _, step, _ in values(tmp_path)] == list(range(n))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_does_not_write_what_its_parent_has(tmp_path):
    w = SummaryWriter(tmp_path)
    w.add_scalar("parent", 1)
    child = os.fork()
    if not child:
        try:
            w.add_scalar("child", 2)
            w.flush()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    w.close()
    assert sorted(tag for tag, _, _ in values(tmp_path)) == ["child", "parent"]


def test_a_file_that_fails(tmp_path):
    """What could not be written comes later, once."""

    class Full:
        closed = False

        def write(self, data):
            if self.room < 1:
                raise OSError(28, "No space left on device")
            n, self.room = min(len(data), self.room), self.room - len(data)
            self.data += data[:n]
            return n

        data, room = b"", 10

    w = FileWriter(tmp_path)
    real, w._pending.file = w._pending.file, Full()
    w.add_summary(summary.scalar("x", 1), 1)
    with pytest.raises(OSError, match="No space"):
        w.flush()
    w._pending.file.room = 1000
    w.flush()
    assert len(records(w._pending.file.data)) == 1
    w._pending.file = real
    w.close()


def test_nothing_is_added_to_a_closed_file(tmp_path):
    w = FileWriter(tmp_path)
    w.add_summary(summary.scalar("x", 1), 1)
    w.close()
    with pytest.raises(ValueError, match="closed"):
        w.add_summary(summary.scalar("x", 2), 2)
    w.close()
    w.flush()
    assert [step for _, step, _ in values(tmp_path)] == [1]


def test_texts_are_str_or_bytes(tmp_path):
    with SummaryWriter(tmp_path) as w:
        for wrong in (3, [3], bytearray(b"x"), ["x", 3], torch.ones(2, dtype=torch.uint8)):
            with pytest.raises(TypeError, match="a text must be a str or bytes, not"):
                w.add_text("t", wrong)
        with pytest.raises(TypeError, match="not int"):
            w.add_scalar(7, 1.0)
        w.add_text("t", ["a", b"b"])
    ((_, _, value),) = values(tmp_path)
    assert fields(value[8][0])[8] == [b"a", b"b"]


def test_records(tmp_path):
    with open(tmp_path / "f", "wb") as f:
        w = RecordWriter(f)
        w.write(b"")
        w.write(bytes(1000))
        w.flush()
        w.close()
        assert w.closed
    assert records((tmp_path / "f").read_bytes()) == [b"", bytes(1000)]


# --- what is in them ------------------------------------------------------------------------------


def test_scalars(tmp_path):
    given = [1, True, torch.tensor([[2.5]]), np.float64(1e39), "3.5", torch.tensor(7), math.nan]
    with SummaryWriter(tmp_path) as w:
        for i, x in enumerate(given):
            w.add_scalar("x", x, torch.tensor(i))
            w.add_scalar("new", x, -i, new_style=True)
            w.add_scalar("double", x, np.int64(i), new_style=True, double_precision=True)
        for wrong, error in ((torch.ones(2), AssertionError), ([1], NotImplementedError),
                             ("word", ValueError), (None, NotImplementedError)):  # fmt: skip
            with pytest.raises(error):
                w.add_scalar("x", wrong)
        with pytest.raises(ValueError, match="64 bits"):
            w.add_scalar("x", 1, 1 << 64)
    got = values(tmp_path)
    assert [s for t, s, _ in got if t == "x"] == list(range(7))
    assert [s for t, s, _ in got if t == "new"][1] == (1 << 64) - 1  # -1 as 64 bits
    numbers = [struct.unpack("<f", v[2][0])[0] for t, _, v in got if t == "x"]
    assert numbers[:6] == [1, 1, 2.5, math.inf, 3.5, 7] and math.isnan(numbers[6])
    tensor = fields([v for t, _, v in got if t == "double"][3][8][0])
    assert tensor == {1: [2], 6: [struct.pack("<d", 1e39)]}
    assert fields([v for t, _, v in got if t == "new"][2][8][0])[5] == [struct.pack("<f", 2.5)]


def test_several_scalars_have_folders(tmp_path):
    with SummaryWriter(tmp_path) as w:
        w.add_scalars("a/b", {"p": 1, "q": 2.0}, 4)
        w.add_scalars("a/b", {"p": 3}, 5)
    assert [(t, s) for t, s, _ in values(tmp_path / "a_b_p")] == [("a/b", 4), ("a/b", 5)]
    assert len(values(tmp_path / "a_b_q")) == 1 and not values(tmp_path)


def histogram(folder, n=-1):
    got = fields(values(folder)[n][2][5][0])
    names = "min", "max", "num", "sum", "squares", "limits", "counts"
    all_of_it = {name: doubles(got[i + 1][0]) for i, name in enumerate(names)}
    return {k: v if k in names[5:] else v[0] for k, v in all_of_it.items()}


def test_histograms(tmp_path):
    w = SummaryWriter(tmp_path, max_queue=1)
    w.add_histogram("h", torch.arange(10), bins=5)
    got = histogram(tmp_path)
    assert [got[k] for k in ("min", "max", "num", "sum", "squares")] == [0, 9, 10, 45, 285]
    assert got["limits"] == pytest.approx([0, 1.8, 3.6, 5.4, 7.2, 9])
    assert got["counts"] == [0, 2, 2, 2, 2, 2]
    x = torch.randn(1000, dtype=torch.float64)
    for bins in (w.default_bins, 7, np.linspace(-1, 2, 6), "fd"):
        for most in (None, 3, 50):
            w.add_histogram("h", x, bins=bins, max_bins=most)
            counts, limits = np.histogram(x.numpy(), bins)
            got = histogram(tmp_path)
            assert sum(got["counts"]) == counts.sum() and got["counts"][0] == 0
            assert all(abs(limits - v).min() < 1e-14 for v in got["limits"])
            if most is None:
                used = np.nonzero(counts)[0]
                assert got["counts"][1:] == counts[used[0] : used[-1] + 1].tolist()
                assert got["limits"] == pytest.approx(limits[used[0] : used[-1] + 2], rel=1e-13)
    w.add_histogram("h", x)
    assert sum(histogram(tmp_path)["counts"]) == 1000
    w.add_histogram("h", torch.tensor([math.nan, 1.0]))
    got = histogram(tmp_path)
    assert math.isnan(got["sum"]) and got["counts"] == [0, 1]
    w.add_histogram_raw("h", 0, 1, 3, 2, 2, [1, 2], torch.tensor([1, 2]))
    assert histogram(tmp_path)["counts"] == [1, 2]
    for wrong, bins in ((torch.empty(0), 3), (torch.tensor([1e30]), "tensorflow"),
                        (torch.ones(2), 0), (torch.tensor([math.inf]), 3),
                        (torch.ones(2), [0, 2, 1]), (torch.ones(2), [0, math.nan, 2]),
                        (torch.ones(2), [1]), (torch.ones(2), [[0, 2]])):  # fmt: skip
        with pytest.raises(ValueError):
            w.add_histogram("h", wrong, bins=bins)
    with pytest.raises(ValueError, match="len"):
        w.add_histogram_raw("h", 0, 1, 3, 2, 2, [1, 2], [1])
    w.close()


def test_pictures(tmp_path):
    w = SummaryWriter(tmp_path, max_queue=1)

    def last():
        got = fields(values(tmp_path)[-1][2][4][0])
        image = pixels(got[4][0])
        assert (got[1][0], got[2][0], got[3][0]) == image.shape
        return image

    x = torch.rand(3, 4, 5) * 2 - 0.5
    expected = (x.permute(1, 2, 0).numpy() * np.float32(255)).clip(0, 255).astype(np.uint8)
    w.add_image("i", x)
    assert (last() == expected).all()
    w.add_image("i", x.permute(1, 2, 0).double(), dataformats="hwc")
    assert (last() == expected).all()
    w.add_image("i", x[0], dataformats="HW")
    assert (last() == expected[:, :, :1]).all() and last().shape == (4, 5, 3)
    w.add_image("i", np.arange(40, dtype=np.uint8).reshape(2, 4, 5))
    assert (last() == np.arange(40).reshape(2, 4, 5).transpose(1, 2, 0)).all()
    w.add_image("i", torch.full((4, 2, 2), math.nan))
    assert not last().any()
    several = torch.randint(0, 256, (11, 3, 4, 5), dtype=torch.uint8)
    w.add_images("i", several)
    grid = last()
    assert grid.shape == (8, 40, 3) and not grid[4:, 15:].any()
    for i in range(11):
        y, z = i // 8 * 4, i % 8 * 5
        assert (grid[y : y + 4, z : z + 5] == several[i].permute(1, 2, 0).numpy()).all()
    for wrong, how, error in (
        (x, "CHH", AssertionError), (x, "HW", AssertionError), (x, "CHX", ValueError),
        (torch.ones(5, 2, 2), "CHW", ValueError), (torch.ones(3, 0, 2), "CHW", ValueError),
        (torch.ones(2, 2, 4, 4), "NCHW", AssertionError), (torch.ones(2), "C", ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            w.add_image("i", wrong, dataformats=how)
    w.close()


def test_boxes(tmp_path):
    with SummaryWriter(tmp_path) as w:
        boxes = torch.tensor([[1.9, 2, 4, 5], [-3, 7, 1, 20], [20, 20, 30, 30]])
        w.add_image_with_boxes("b", torch.zeros(3, 9, 7), boxes)
    image = pixels(fields(values(tmp_path)[0][2][4][0])[4][0])
    assert not image[..., 1:].any()
    expected = [
        "0000000", "0111100", "0111100", "0111100", "0111100", "0111100", "1111100", "1100000",
        "1100000"]  # fmt: skip
    assert ["".join(str(int(v > 0)) for v in r) for r in image[..., 0]] == expected


def test_figures(tmp_path):
    matplotlib = pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    matplotlib.use("agg")
    from matplotlib import pyplot

    w = SummaryWriter(tmp_path)
    made = [pyplot.figure(figsize=(1, 2), dpi=50) for _ in range(2)]
    w.add_figure("f", made[0], close=False)
    assert pyplot.fignum_exists(made[0].number)
    w.add_figure("f", made)
    assert not pyplot.get_fignums()
    w.close()
    shapes = [pixels(fields(v[4][0])[4][0]).shape for _, _, v in values(tmp_path)]
    assert shapes == [(100, 50, 3), (100, 100, 3)]


def test_texts_tensors_and_sounds(tmp_path):
    with SummaryWriter(tmp_path) as w:
        w.add_text("t", "h\u00e9", 2)
        w.add_tensor("x", torch.arange(6).view(2, 3)[:, 1:])
        w.add_audio("s", torch.tensor([[0.5, -2.0, 1.0]]), sample_rate=8000)
        with pytest.raises(AssertionError):
            w.add_audio("s", torch.ones(2, 2))
        with pytest.raises(ValueError, match="2GB"):
            w.add_tensor("x", torch.empty(1 << 31, dtype=torch.uint8, device="meta"))
    text, tensor, sound = (v for _, _, v in values(tmp_path))
    assert text[1] == [b"t/text_summary"]
    assert fields(fields(text[9][0])[1][0])[1] == [b"text"]
    assert fields(text[8][0])[8] == ["h\u00e9".encode()]
    got = fields(tensor[8][0])
    assert got[1] == [9] and got[4] == [struct.pack("<4q", 1, 2, 4, 5)]
    assert [fields(d)[1] for d in fields(got[2][0])[2]] == [[2], [2]]
    wav = fields(sound[6][0])[4][0]
    assert wav[:4] == b"RIFF" and struct.unpack("<3h", wav[44:]) == (16383, -32767, 32767)


def test_curves(tmp_path):
    labels, predictions = torch.tensor([0, 1, 1, 0]), torch.tensor([0.1, 0.4, 0.9, 0.6])
    with SummaryWriter(tmp_path) as w:
        w.add_pr_curve("p", labels, predictions, num_thresholds=5)
        w.add_pr_curve("p", labels, predictions, num_thresholds=5, weights=np.array([1, 2, 3, 4]))
        w.add_custom_scalars({"c": {"m": ["Margin", ["a", "b", "c"]], "l": ["Multiline", ["a"]]}})
        w.add_custom_scalars_multilinechart(["a"])
        w.add_custom_scalars_marginchart(["a", "b", "c"])
        with pytest.raises(AssertionError):
            w.add_custom_scalars_marginchart(["a"])
        w.add_mesh("m", torch.ones(1, 4, 3), faces=torch.zeros(1, 2, 3, dtype=torch.int64))
        with pytest.raises(ValueError, match="BxNx3"):
            w.add_mesh("m", torch.ones(4, 3))
    got = values(tmp_path)
    tensors = [fields(got[i][2][8][0])[5][0] for i in (0, 1)]
    one, two = (np.frombuffer(t, "<f4").reshape(6, 5) for t in tensors)
    assert one[:4].tolist() == [
        [2, 2, 1, 1, 0], [2, 1, 1, 0, 0], [0, 1, 1, 2, 2], [0, 0, 1, 1, 2]]  # fmt: skip
    assert two[:2].tolist() == [[5, 5, 3, 3, 0], [5, 4, 4, 0, 0]]
    assert [t for t, _, _ in got[2:]] == ["custom_scalars__config__"] * 3 + ["m_VERTEX", "m_FACE"]


def test_hyperparameters(tmp_path):
    given = {"lr": 0.5, "name": "x", "on": True, "t": torch.tensor(2.0), "none": None}
    with SummaryWriter(tmp_path) as w:
        w.add_hparams(given, {"loss": 0.25}, {"lr": [0.5, 1.0]}, "one", 3)
        w.add_hparams({}, {"loss": 0.25})
        for wrong in ({"lr": [1]}, {"other": []}, {"lr": 0.5}):
            with pytest.raises(TypeError):
                w.add_hparams(given, {}, wrong)
        with pytest.raises(TypeError):
            w.add_hparams(given, None)
        with pytest.raises(ValueError):
            w.add_hparams({"x": [1]}, {})
    assert len([p for p in tmp_path.iterdir() if p.is_dir()]) == 2
    experiment, start, end, loss = values(tmp_path / "one")
    assert [v[0] for v in (experiment, start, end, loss)] == [
        "_hparams_/experiment", "_hparams_/session_start_info", "_hparams_/session_end_info",
        "loss"]  # fmt: skip
    plugin = fields(fields(start[2][9][0])[1][0])
    assert plugin[1] == [b"hparams"]
    entries = [fields(e) for e in fields(fields(plugin[2][0])[3][0])[1]]
    assert {e[1][0]: fields(e[2][0]) for e in entries} == {
        b"lr": {2: [struct.pack("<d", 0.5)]}, b"name": {3: [b"x"]}, b"on": {4: [1]},
        b"t": {2: [struct.pack("<d", 2)]}}  # fmt: skip
    assert loss[1] == 3


def test_embeddings(tmp_path):
    with SummaryWriter(tmp_path) as w:
        images = torch.rand(5, 3, 6, 4)
        w.add_embedding(torch.ones(5, 2), list("abcd\u00e9"), images, 2, 'a/b"')
        w.add_embedding(torch.ones(2, 2), [["x", 1], ["y", 2]], metadata_header=["n", "k"])
        with pytest.raises(AssertionError):
            w.add_embedding(torch.ones(2, 2), ["a"])
    folder = tmp_path / "00002" / 'a%2fb"'
    assert (folder / "tensors.tsv").read_text() == "1.0\t1.0\n" * 5
    assert (folder / "metadata.tsv").read_text(encoding="utf-8") == "a\nb\nc\nd\n\u00e9\n"
    sprite = pixels((folder / "sprite.png").read_bytes())
    assert sprite.shape == (12, 12, 3)
    assert (sprite[:6, :4] == (images[0] * 255).to(torch.uint8).permute(1, 2, 0).numpy()).all()
    assert (tmp_path / "00000/default/metadata.tsv").read_text() == "n\tk\nx\t1\ny\t2\n"
    config = (tmp_path / "projector_config.pbtxt").read_text()
    assert config.count("embeddings {") == 2 and '"a/b\\042:00002"' in config


def test_what_is_refused(tmp_path):
    with SummaryWriter(tmp_path) as w:
        for name in ("graph", "onnx_graph", "video"):
            with pytest.raises(NotImplementedError):
                getattr(w, f"add_{name}")("x", None)
        with pytest.raises(NotImplementedError):
            w.add_image_with_boxes("x", torch.ones(3, 4, 4), torch.ones(1, 4), labels=["a"])


# --- TensorBoard itself ---------------------------------------------------------------------------


def test_tensorboard_reads_them(tmp_path):
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import plugin_data_pb2
    from tensorboard.util.tensor_util import make_ndarray

    x = torch.randn(100)
    with SummaryWriter(tmp_path) as w:
        for i in range(5):
            w.add_scalar("x", i * i, i)
        w.add_histogram("h", x, 7)
        w.add_image("i", torch.zeros(3, 4, 5), 8)
        w.add_audio("s", torch.zeros(10), 9)
        w.add_text("t", "text", 10)
        for i, dtype in enumerate((torch.float32, torch.float64, torch.int8, torch.uint8,
                                   torch.int64, torch.bool, torch.float16)):  # fmt: skip
            w.add_tensor(f"x{i}", torch.arange(4).view(2, 2).to(dtype), i)
        w.add_pr_curve("p", torch.ones(3), torch.tensor([0.1, 0.5, 0.9]), 11)
        w.add_hparams({"lr": 0.5}, {"loss": 0.25}, run_name="run")
    got = EventAccumulator(str(tmp_path)).Reload()
    assert [(s.step, s.value) for s in got.Scalars("x")] == [(i, i * i) for i in range(5)]
    (h,) = got.Histograms("h")
    assert h.step == 7 and h.histogram_value.num == 100
    assert sum(h.histogram_value.bucket) == 100
    assert h.histogram_value.sum == pytest.approx(x.double().sum().item())
    (image,) = got.Images("i")
    assert (image.width, image.height) == (5, 4) and got.Audio("s")[0].step == 9
    assert make_ndarray(got.Tensors("t/text_summary")[0].tensor_proto).tolist() == [b"text"]
    for i in range(7):
        assert make_ndarray(got.Tensors(f"x{i}")[0].tensor_proto).tolist() == (
            [[0, 1], [2, 3]] if i != 5 else [[False, True], [True, True]]
        )
    assert make_ndarray(got.Tensors("p")[0].tensor_proto).shape == (6, 127)
    run = EventAccumulator(str(tmp_path / "run")).Reload()
    content = run.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    start = plugin_data_pb2.HParamsPluginData.FromString(content).session_start_info
    assert start.hparams["lr"].number_value == 0.5
