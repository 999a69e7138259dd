"""Folders of pictures as data sets, as torchvision's ImageFolder, and readers of PGM, PPM, PNG.

torch has no such module; torchvision's classes have these names, arguments and attributes. A
picture is a uint8 tensor (C, H, W). JPEG is not read: give a `loader` that does.
"""

import os
import struct
import zlib

from ... import _C
from .dataset import Dataset

__all__ = ["DatasetFolder", "ImageFolder", "decode_image", "read_image"]

IMG_EXTENSIONS = (".pgm", ".ppm", ".pnm", ".png")
_LIMIT = 1 << 30  # bytes of a picture


class DatasetFolder(Dataset):
    """Items root/class/../file: (loader(path), number of the class), transformed.

    classes       names of the folders in root, sorted
    class_to_idx  {class: its number}
    samples       (path, number of the class) of each item, in the order of paths
    targets       the numbers of samples

    A file belongs to it by its ending (extensions) or by is_valid_file(path).
    """

    def __init__(self, root, loader, extensions=None, transform=None, target_transform=None,
                 is_valid_file=None, allow_empty=False):  # fmt: skip
        if (extensions is None) == (is_valid_file is None):
            raise ValueError(
                "Both extensions and is_valid_file cannot be None or not None at the same time"
            )
        self.root = os.fspath(root)
        self.loader, self.extensions = loader, extensions
        self.transform, self.target_transform = transform, target_transform
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self.make_dataset(
            self.root, self.class_to_idx, extensions, is_valid_file, allow_empty
        )
        self.targets = [target for _, target in self.samples]

    def find_classes(self, directory):
        """The classes of a folder, sorted, and their numbers; subclasses may choose others."""
        classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        if not classes:
            raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
        return classes, {name: i for i, name in enumerate(classes)}

    @staticmethod
    def make_dataset(directory, class_to_idx, extensions=None, is_valid_file=None,
                     allow_empty=False):  # fmt: skip
        """(path, number of the class) of each valid file, class by class, by path."""
        if is_valid_file is None:
            endings = (extensions,) if isinstance(extensions, str) else tuple(extensions)

            def is_valid_file(path):
                return path.lower().endswith(endings)

        samples, empty = [], []
        for name in sorted(class_to_idx):
            before = len(samples)
            for folder, _, files in sorted(
                os.walk(os.path.join(directory, name), followlinks=True)
            ):
                paths = (os.path.join(folder, file) for file in sorted(files))
                samples += [(path, class_to_idx[name]) for path in paths if is_valid_file(path)]
            if len(samples) == before:
                empty.append(name)
        if empty and not allow_empty:
            text = f"Found no valid file for the classes {', '.join(empty)}."
            if extensions is not None:
                text += f" Supported extensions are: {', '.join(endings)}"
            raise FileNotFoundError(text)
        return samples

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    def __len__(self):
        return len(self.samples)

    def __repr__(self):
        head = f"Dataset {type(self).__name__}"
        return f"{head}\n    Number of datapoints: {len(self)}\n    Root location: {self.root}"


def default_loader(path):
    """The picture at path with three channels."""
    return read_image(path, "RGB")


class ImageFolder(DatasetFolder):
    """Pictures root/class/../name.png: items (uint8 (3, H, W), number of the class).

    Another loader may read other files; then is_valid_file says which.
    """

    def __init__(self, root, transform=None, target_transform=None, loader=default_loader,
                 is_valid_file=None, allow_empty=False):  # fmt: skip
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(root, loader, extensions, transform, target_transform, is_valid_file,
                         allow_empty)  # fmt: skip
        self.imgs = self.samples


# --- pictures -------------------------------------------------------------------------------------


def read_image(path, mode=None):
    """The picture in a file (PGM, PPM, PNG) as a uint8 tensor (C, H, W).

    mode: None for the channels of the file, "GRAY" for 1 or "RGB" for 3, without transparency.
    """
    with open(path, "rb") as f:
        data = f.read()
    try:
        return decode_image(data, mode)
    except ValueError as e:
        raise ValueError(f"{os.fspath(path)}: {e}") from None


def decode_image(data, mode=None):
    """The picture in the bytes of a file; see read_image. ValueError for bytes that are none."""
    if mode not in (None, "GRAY", "RGB"):
        raise ValueError(f"mode {mode!r} is not None, 'GRAY' or 'RGB'")
    data = bytes(data)
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        pixels, height, width, channels = _png(data)
    elif data[:1] == b"P" and data[1:2] in (b"2", b"3", b"5", b"6"):
        pixels, height, width, channels = _pnm(data)
    else:
        raise ValueError("it is neither PGM, PPM nor PNG")
    t = _C._from_memory(bytearray(pixels), _C.uint8, 0, height * width * channels)
    t = t.reshape(height, width, channels).permute(2, 0, 1)
    if mode is not None and channels in (2, 4):  # the last one is transparency
        t = t[:-1]
    if mode == "RGB" and t.size(0) == 1:
        t = t.expand(3, height, width)
    if mode == "GRAY" and t.size(0) == 3:  # as ITU-R 601, in 16 bits like PIL
        weights = _C.tensor([19595, 38470, 7471], dtype=_C.int32).reshape(3, 1, 1)
        t = ((t.to(_C.int32) * weights).sum(0, keepdim=True) + 0x8000) // 65536
        t = t.to(_C.uint8)
    return t.contiguous()


def _checked(height, width, channels, bits=8):
    """Bytes of a picture of these sizes; ValueError if it has none or too many."""
    n = height * ((width * channels * bits + 7) // 8)
    if height < 1 or width < 1 or n > _LIMIT or height * width * channels > _LIMIT:
        raise ValueError(f"{width} x {height} pixels are none or too many")
    return n


def _bytes16(data, most):
    """Samples of 16 bits, big-endian, as 8 bits."""
    pairs = zip(data[::2], data[1::2], strict=True)
    return bytes(min(255, ((a << 8 | b) * 255 + most // 2) // most) for a, b in pairs)


def _pnm(data):
    """PGM and PPM, of numbers (P2, P3) or bytes (P5, P6)."""
    at, header = 2, []
    while len(header) < 3:
        while data[at : at + 1].isspace() or data[at : at + 1] == b"#":
            at = data.find(b"\n", at) if data[at : at + 1] == b"#" else at + 1
            if at < 0:
                raise ValueError("it ends within its header")
        end = at
        while data[end : end + 1].isdigit() and end < at + 10:
            end += 1
        if end == at:
            raise ValueError("its header is malformed")
        header.append(int(data[at:end]))
        at = end
    width, height, most = header
    channels = 3 if data[1:2] in b"36" else 1
    n = _checked(height, width, channels)
    if not 0 < most < 65536:
        raise ValueError(f"its largest number is {most}")
    if data[1:2] in b"23":
        words = data[at:].split(None, n)
        if len(words) < n or not all(w.isdigit() and len(w) < 6 for w in words[:n]):
            raise ValueError("it lacks numbers")
        numbers = [int(w) for w in words[:n]]
        if max(numbers) > most:
            raise ValueError("a number is too large")
        pixels = bytes((v * 255 + most // 2) // most for v in numbers)
        return pixels, height, width, channels
    each = 2 if most > 255 else 1
    pixels = data[at + 1 : at + 1 + n * each]
    if len(pixels) < n * each or not data[at : at + 1].isspace():
        raise ValueError("it lacks pixels")
    if each == 2:
        pixels = _bytes16(pixels, most)
    elif most < 255:
        pixels = pixels.translate(
            bytes(min(255, (v * 255 + most // 2) // most) for v in range(256))
        )
    return pixels, height, width, channels


_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by the colour type
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}


def _chunks(data):
    """(name, content) of each chunk of a PNG file, whose CRC is checked."""
    at = 8
    while at + 12 <= len(data):
        (n,) = struct.unpack_from(">I", data, at)
        if n > len(data) - at - 12:
            break
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + n]
        if struct.unpack_from(">I", data, at + 8 + n)[0] != zlib.crc32(name + body):
            raise ValueError("a CRC is another")
        yield name, body
        if name == b"IEND":
            return
        at += n + 12
    raise ValueError("it ends too early")


def _png(data):
    """PNG without interlacing (W3C's recommendation, second edition)."""
    head, palette, packed = None, b"", []
    for name, body in _chunks(data):
        if name == b"IHDR" and len(body) == 13:
            head = struct.unpack(">2I5B", body)
        elif name == b"PLTE":
            palette = body
        elif name == b"IDAT":
            packed.append(body)
        elif not name[0] & 32 and name != b"IEND":
            raise ValueError(f"its part {name!r} is unknown")
    if head is None or head[4:6] != (0, 0) or head[2] not in _DEPTHS.get(head[3], ()):
        raise ValueError("its header is malformed")
    width, height, depth, colour, _, _, interlaced = head
    if interlaced:
        raise ValueError("interlaced PNG is not read")
    channels = _CHANNELS[colour]
    n = _checked(height, width, channels, depth) + height
    try:
        rows = zlib.decompressobj().decompress(b"".join(packed), n)
    except zlib.error as e:
        raise ValueError(f"it does not unpack: {e}") from None
    if len(rows) < n:
        raise ValueError("it lacks pixels")
    pixels = _unfiltered(rows, n // height, max(1, channels * depth // 8))
    if depth == 16:
        pixels = _bytes16(pixels, 65535)
    elif depth < 8:
        pixels = _unpacked(pixels, width, depth, 1 if colour == 3 else 255 // ((1 << depth) - 1))
    if colour != 3:
        return pixels, height, width, channels
    if max(pixels) * 3 + 3 > len(palette):
        raise ValueError("its palette lacks a colour")
    parts = (pixels.translate(palette[c:768:3].ljust(256, b"\0")) for c in range(3))
    return bytes(v for rgb in zip(*parts, strict=True) for v in rgb), height, width, 3


def _unpacked(rows, width, depth, scale):
    """Samples of 1, 2 or 4 bits, times scale; each row begins with a byte."""
    n, out = (width * depth + 7) // 8, bytearray()
    for at in range(0, len(rows), n):
        row = rows[at : at + n]
        parts = [
            (b >> s & (1 << depth) - 1) * scale for b in row for s in range(8 - depth, -1, -depth)
        ]
        out += bytes(parts[:width])
    return bytes(out)


def _unfiltered(rows, n, step):
    """Rows of n bytes, of which the first is the filter of those behind it, without that byte."""
    out, above = bytearray(), bytes(n - 1)
    for at in range(0, len(rows), n):
        kind, row = rows[at], bytearray(rows[at + 1 : at + n])
        if kind == 2:
            row = bytearray((a + b) & 255 for a, b in zip(row, above, strict=True))
        elif kind == 1:
            for i in range(step, n - 1):
                row[i] = (row[i] + row[i - step]) & 255
        elif kind == 3:
            for i in range(n - 1):
                left = row[i - step] if i >= step else 0
                row[i] = (row[i] + (left + above[i]) // 2) & 255
        elif kind == 4:
            _paeth(row, above, step)
        elif kind:
            raise ValueError(f"its filter {kind} is unknown")
        out += row
        above = row
    return bytes(out)


def _paeth(row, above, step):
    """Adds the neighbour that is nearest to left + above - corner."""
    for i, up in enumerate(above):
        left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
        a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
        near = left if a <= b and a <= c else up if b <= c else corner
        row[i] = (row[i] + near) & 255
