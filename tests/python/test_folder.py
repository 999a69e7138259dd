"""Folders of pictures, and the readers of PGM, PPM and PNG."""

import random
import struct
import zlib

import pytest

import tensorh as torch
from tensorh.utils.data import DataLoader
from tensorh.utils.data.folder import DatasetFolder, ImageFolder, decode_image, read_image


def pnm(kind, width, height, most, values):
    head = f"P{kind}\n# a comment\n{width} {height}\n{most}\n".encode()
    if kind < 4:
        return head + " ".join(map(str, values)).encode()
    return head + b"".join(v.to_bytes(2 if most > 255 else 1, "big") for v in values)


def filtered(row, above, kind, step):
    out = bytearray()
    for i, v in enumerate(row):
        left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
        up = above[i]
        guess = left + up - corner
        near = min((left, up, corner), key=lambda p: abs(guess - p))
        out.append((v - (0, left, up, (left + up) // 2, near)[kind]) & 255)
    return bytes(out)


def png(width, height, depth, colour, rows, kinds, palette=b"", interlaced=0):
    """A PNG file of packed rows, row i by filter kinds[i % len(kinds)]."""

    def part(name, body):
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    step = max(1, {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour] * depth // 8)
    above, data = bytes(len(rows[0])), b""
    for i, row in enumerate(rows):
        kind = kinds[i % len(kinds)]
        data += bytes((kind,)) + filtered(row, above, kind, step)
        above = row
    packed = zlib.compress(data)
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", struct.pack(">2I5B", width, height, depth, colour, 0, 0, interlaced))
        + (part(b"PLTE", palette) if palette else b"")
        + part(b"tEXt", b"nothing")
        + part(b"IDAT", packed[:9])
        + part(b"IDAT", packed[9:])
        + part(b"IEND", b"")
    )


def test_pnm_of_numbers_and_bytes_is_read():
    gray, rgb = [0, 128, 255, 7, 8, 9], list(range(0, 180, 10))
    for kind in (2, 5):
        t = decode_image(pnm(kind, 3, 2, 255, gray))
        assert t.dtype is torch.uint8 and t.tolist() == [[[0, 128, 255], [7, 8, 9]]]
    for kind in (3, 6):
        t = decode_image(pnm(kind, 3, 2, 255, rgb))
        assert t.shape == (3, 2, 3) and t.is_contiguous()
        assert t.permute(1, 2, 0).flatten().tolist() == rgb
    for kind in (2, 5):
        assert decode_image(pnm(kind, 2, 1, 15, [15, 3])).tolist() == [[[255, 51]]]
        assert decode_image(pnm(kind, 2, 1, 65535, [65535, 257])).tolist() == [[[255, 1]]]


def test_modes_of_pictures():
    gray = decode_image(pnm(5, 2, 1, 255, [3, 200]), "RGB")
    assert gray.tolist() == [[[3, 200]]] * 3
    t = decode_image(pnm(6, 2, 1, 255, [255, 0, 0, 10, 10, 10]), "GRAY")
    assert t.tolist() == [[[76, 10]]]  # 0.299 of red
    with pytest.raises(ValueError, match="mode"):
        decode_image(pnm(5, 1, 1, 255, [3]), "CMYK")


@pytest.mark.parametrize("kinds", [(0,), (1,), (2,), (3,), (4,), (4, 3, 2, 1, 0)])
@pytest.mark.parametrize("colour, channels", [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_png_of_each_filter_is_read(kinds, colour, channels):
    rng = random.Random(colour)
    width, height = 7, 6
    for each in (1, 2):
        n = width * channels * each
        rows = [bytes(rng.randrange(256) for _ in range(n)) for _ in range(height)]
        t = decode_image(png(width, height, 8 * each, colour, rows, kinds))
        assert t.shape == (channels, height, width)
        got = t.permute(1, 2, 0).flatten().tolist()
        if each == 1:
            assert got == list(b"".join(rows))
        else:
            all_rows = b"".join(rows)
            want = [
                int.from_bytes(all_rows[i : i + 2], "big") / 257 for i in range(0, n * height, 2)
            ]
            assert max(abs(a - b) for a, b in zip(got, want, strict=True)) <= 0.5
    if channels in (2, 4):
        data = png(width, height, 16, colour, rows, (0,))
        assert decode_image(data, "RGB").shape == (3, height, width)


def test_png_of_few_bits_and_palettes_is_read():
    assert decode_image(png(5, 1, 1, 0, [b"\xa8"], (0,))).tolist() == [[[255, 0, 255, 0, 255]]]
    assert decode_image(png(3, 1, 2, 0, [b"\x1b"], (0,))).tolist() == [[[0, 85, 170]]]
    assert decode_image(png(2, 1, 4, 0, [b"\x1f"], (0,))).tolist() == [[[17, 255]]]
    colours = bytes((1, 2, 3, 40, 50, 60, 7, 8, 9))
    for depth, row in ((2, b"\x18"), (8, b"\0\1\2")):
        t = decode_image(png(3, 1, depth, 3, [row], (0,), colours))
        assert t.tolist() == [[[1, 40, 7]], [[2, 50, 8]], [[3, 60, 9]]]


def test_pictures_that_are_none_are_refused(tmp_path):
    good = png(3, 2, 8, 2, [bytes(range(9)), bytes(range(9, 18))], (4, 1))
    refused = {
        b"GIF89a": "neither PGM, PPM nor PNG",
        b"": "neither",
        good[:-14]: "too early",
        good[:60] + b"\0" + good[61:]: "CRC|unknown|malformed|too early",
        png(3, 1, 8, 0, [b"abc"], (0,), interlaced=1): "interlaced",
        png(3, 1, 3, 0, [b"abc"], (0,)): "header is malformed",
        png(3, 2, 8, 0, [b"abc"], (0,)): "lacks pixels",
        png(2, 1, 8, 3, [b"\0\1"], (0,), b"abc"): "palette lacks",
        png(40000, 40000, 8, 6, [b"abc"], (0,)): "too many",
        png(0, 1, 8, 0, [b""], (0,)): "none or too many",
        b"P5\n2 2\n255\nabc": "lacks pixels",
        b"P5\n2 2\n0\nabcd": "largest number",
        b"P5\n2 x\n255\nabcd": "header",
        b"P5\n# no end": "ends within",
        b"P2\n2 1\n9\n1": "lacks numbers",
        b"P2\n2 1\n9\n1 10": "too large",
        b"P6\n99999 99999\n255\n": "too many",
    }
    for data, words in refused.items():
        with pytest.raises(ValueError, match=words):
            decode_image(data)
    for n in range(len(good)):
        with pytest.raises(ValueError):
            decode_image(good[:n])
    rng = random.Random(6)
    for _ in range(3000):
        data = bytearray(good)
        data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            decode_image(data)
        except ValueError:
            pass
    path = tmp_path / "a.png"
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="a.png: it is neither"):
        read_image(path)


@pytest.fixture
def root(tmp_path):
    for i, name in enumerate(
        ("dog/b.PGM", "dog/a.ppm", "cat/deep/z.png", "cat/c.pgm", "cat/n.txt")
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pnm(5, 2, 3, 255, [i] * 6))
    (tmp_path / "cat/deep/z.png").write_bytes(png(2, 3, 8, 0, [b"\7\7"] * 3, (0,)))
    return tmp_path


def test_image_folder_has_torchvisions_attributes(root):
    d = ImageFolder(root, transform=lambda t: t[:1].float(), target_transform=lambda i: -i)
    assert d.classes == ["cat", "dog"] and d.class_to_idx == {"cat": 0, "dog": 1}
    paths = [path[len(str(root)) + 1 :].replace("\\", "/") for path, _ in d.samples]
    assert paths == ["cat/c.pgm", "cat/deep/z.png", "dog/a.ppm", "dog/b.PGM"]
    assert d.targets == [0, 0, 1, 1] and d.imgs is d.samples and len(d) == 4
    assert (
        d.root == str(root) and ".png" in d.extensions and d.loader(d.samples[0][0]).shape[0] == 3
    )
    x, y = d[1]
    assert x.shape == (1, 3, 2) and x.unique().tolist() == [7] and y == 0 and d[2][1] == -1
    assert "Number of datapoints: 4" in repr(d)
    batches = list(DataLoader(ImageFolder(root), batch_size=4))
    assert batches[0][0].shape == (4, 3, 3, 2) and batches[0][1].tolist() == [0, 0, 1, 1]


def test_folders_that_lack_something(root):
    (root / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no valid file for the classes empty.*pgm"):
        ImageFolder(root)
    assert ImageFolder(root, allow_empty=True).classes == ["cat", "dog", "empty"]
    with pytest.raises(FileNotFoundError, match="any class folder"):
        ImageFolder(root / "empty")
    with pytest.raises(ValueError, match="both|Both"):
        DatasetFolder(root, len)
    texts = ImageFolder(
        root, loader=len, is_valid_file=lambda p: p.endswith("txt"), allow_empty=True
    )
    assert len(texts) == 1 and texts.extensions is None and texts[0][1] == 0
    assert len(DatasetFolder(root, len, ".txt", allow_empty=True)) == 1
