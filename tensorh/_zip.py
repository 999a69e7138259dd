"""Zip archives as torch's files are: members stored as they are, with data at multiples of 64.

The reader takes nothing from a file on trust: every offset and size is checked against the file's
size before memory is made for it, and members together are no larger than the file. Programs of
TorchScript alone may be deflated.
"""

import struct
import zlib

ALIGNMENT = 64
_CHUNK = 1 << 20
_PROGRAMS = 1 << 24  # bytes of all programs of an archive, unpacked
_STORED, _DEFLATED = 0, 8
_END, _END64, _LOCATOR = b"PK\5\6", b"PK\6\6", b"PK\6\7"
_DIRECTORY, _LOCAL = b"PK\1\2", b"PK\3\4"
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF


class DamagedError(RuntimeError):
    """The file is no archive that can be read."""


def _damaged(why):
    return DamagedError(f"failed reading zip archive: {why}")


# --- reading --------------------------------------------------------------------------------------


class Reader:
    """The members of an archive in a file that can seek: {name: (offset of header, size, crc)}.

    deflated: {name: (offset of header, packed size, crc, size)} of those that are."""

    legacy = False

    def __init__(self, file):
        self._file = file
        file.seek(0, 2)
        self._size = file.tell()
        count, at, size = self._find_directory()
        if at + size > self._size or count * 46 > size:
            raise _damaged("central directory out of range")
        self.members, self.deflated = self._directory(self._at(at, size), count)
        self._left = self._size  # bytes that may still be asked for
        self._programs_left = _PROGRAMS

    def _at(self, offset, n):
        if offset < 0 or offset + n > self._size:
            raise _damaged("invalid offset")
        self._file.seek(offset)
        data = self._file.read(n)
        if len(data) != n:
            raise _damaged("file ends too early")
        return data

    def _find_directory(self):
        """Number of members, offset and size of the directory."""
        n = min(self._size, 22 + _FULL16)
        tail = self._at(self._size - n, n)
        end = tail.rfind(_END)
        if end < 0 or end + 22 > len(tail):
            raise _damaged("failed finding central directory")
        disk, disk2, here, count, size, at, _ = struct.unpack_from("<4H2IH", tail, end + 4)
        if disk or disk2 or here != count:
            raise _damaged("multi-volume archives are not supported")
        if count == _FULL16 or size == _FULL32 or at == _FULL32:
            return self._find_directory64(self._size - n + end)
        return count, at, size

    def _find_directory64(self, end):
        if end < 20:
            raise _damaged("failed finding central directory")
        magic, _, at, _ = struct.unpack("<4sIQI", self._at(end - 20, 20))
        if magic != _LOCATOR:
            raise _damaged("failed finding central directory")
        head = struct.unpack("<4sQ2H2I4Q", self._at(at, 56))
        if head[0] != _END64:
            raise _damaged("failed finding central directory")
        return head[7], head[9], head[8]

    @staticmethod
    def _directory(data, count):
        members, deflated, at = {}, {}, 0
        for _ in range(count):
            if data[at : at + 4] != _DIRECTORY or at + 46 > len(data):
                raise _damaged("invalid central directory")
            _, _, flags, method = struct.unpack_from("<4H", data, at + 4)
            crc, packed, size, names, extras, notes = struct.unpack_from("<3I3H", data, at + 16)
            (header,) = struct.unpack_from("<I", data, at + 42)
            name, extra = at + 46, at + 46 + names
            at = extra + extras + notes
            if at > len(data):
                raise _damaged("invalid central directory")
            try:
                text = data[name:extra].decode("utf-8")
            except UnicodeDecodeError:
                raise _damaged("a member's name is not UTF-8") from None
            wide = _wide(data[extra : extra + extras], (size, packed, header))
            if text in members or text in deflated:
                raise _damaged(f"'{text}' appears twice")
            if method == _DEFLATED and not flags & 1:
                deflated[text] = (wide[2], wide[1], crc, wide[0])
                continue
            if method != _STORED or flags & 1 or wide[0] != wide[1]:
                raise _damaged(f"'{text}' is compressed or encrypted")
            members[text] = (wide[2], wide[0], crc)
        return members, deflated

    def size(self, name):
        """Bytes of a member; DamagedError where there is none."""
        if name in self.deflated:
            raise _damaged(f"'{name}' is compressed")
        if name not in self.members:
            raise _damaged(f"file not found: {name}")
        return self.members[name][1]

    def offset(self, name):
        """Where the data of a member begin in the file."""
        size = self.size(name)
        return self._data_at(name, self.members[name][0], size)

    def _data_at(self, name, header, size):
        local = self._at(header, 30)
        names, extras = struct.unpack_from("<2H", local, 26)
        at = header + 30 + names + extras
        if local[:4] != _LOCAL or at + size > self._size:
            raise _damaged(f"'{name}' is out of range")
        return at

    def take(self, name):
        """Counts a member as read: all that are read are no larger than the file."""
        size = self.size(name)
        self._left -= size
        if self._left < 0:
            raise _damaged("members overlap")
        return size

    def read(self, name):
        """The bytes of a member."""
        to = bytearray(self.take(name) if self.offset(name) else 0)
        self.read_into(name, memoryview(to))
        return bytes(to)

    def program(self, name):
        """The bytes of a member that may be deflated."""
        if name not in self.deflated:
            return self.read(name)
        header, packed, crc, size = self.deflated[name]
        self._programs_left -= size
        if self._programs_left < 0 or packed > self._size:
            raise _damaged(f"'{name}' is too large")
        data = self._at(self._data_at(name, header, packed), packed)
        try:
            text = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, size + 1)
        except zlib.error:
            raise _damaged(f"'{name}' does not unpack") from None
        if len(text) != size or zlib.crc32(text) != crc:
            raise _damaged(f"'{name}' does not unpack to what it was")
        return text

    def read_into(self, name, to):
        """Writes the data of a member to a memoryview of its size."""
        self._file.seek(self.offset(name))
        crc = 0
        for at in range(0, len(to), _CHUNK):
            part = to[at : at + _CHUNK]
            if hasattr(self._file, "readinto"):
                n = self._file.readinto(part)
            else:
                data = self._file.read(len(part))
                n = len(data)
                part[:n] = data[: len(part)]
            if n != len(part):
                raise _damaged("file ends too early")
            crc = zlib.crc32(part, crc)
        stored = self.members[name][2]
        if stored and stored != crc:  # 0: written without
            raise _damaged(f"'{name}': bad CRC-32")


def _wide(extra, values):
    """Values that are full in the directory stand in a zip64 field."""
    values, at = list(values), 0
    while at + 4 <= len(extra):
        kind, n = struct.unpack_from("<2H", extra, at)
        field = extra[at + 4 : at + 4 + n]
        at += 4 + n
        if kind != 1:
            continue
        for i, v in enumerate(values):
            if v == _FULL32:
                if len(field) < 8:
                    raise _damaged("invalid zip64 field")
                (values[i],) = struct.unpack_from("<Q", field)
                field = field[8:]
        break
    return values


# --- writing --------------------------------------------------------------------------------------


class Writer:
    """Writes members one after the other to a file that need not seek."""

    def __init__(self, file):
        self._file = file
        self._at = 0
        self._members = []  # (name, crc, size, offset of header)

    def _put(self, data):
        view = memoryview(data).cast("B") if len(data) else b""
        for i in range(0, len(view), 64 * _CHUNK):
            part, done = view[i : i + 64 * _CHUNK], 0
            while done < len(part):
                n = self._file.write(part[done:])
                done += len(part) if n is None else n
                if n == 0:
                    raise OSError("the file takes no more bytes")
        self._at += len(view)

    def add(self, name, data):
        """A member of the bytes of data."""
        name, size, crc = name.encode(), len(data), 0
        for i in range(0, size, _CHUNK):
            crc = zlib.crc32(data[i : i + _CHUNK], crc)
        self._members.append((name, crc, size, self._at))
        small = min(size, _FULL32)
        wide = struct.pack("<2H2Q", 1, 16, size, size) if size >= _FULL32 else b""
        begin = self._at + 30 + len(name) + len(wide) + 4
        pad = -begin % ALIGNMENT
        extra = wide + struct.pack("<2s1H", b"FB", pad) + b"Z" * pad
        version, date = 45 if wide else 20, (0, 33)  # 1980-01-01
        head = struct.pack("<5H3I", version, 0x800, 0, *date, crc, small, small)
        self._put(_LOCAL + head + struct.pack("<2H", len(name), len(extra)) + name + extra)
        self._put(data)

    def finish(self):
        """The directory and the end."""
        begin = self._at
        for name, crc, size, at in self._members:
            full = [v for v in (size, size, at) if v >= _FULL32]
            if size >= _FULL32 or at >= _FULL32:
                wide = struct.pack(f"<2H{len(full)}Q", 1, 8 * len(full), *full)
            else:
                wide = b""
            version, small = 45 if wide else 20, min(size, _FULL32)
            head = struct.pack("<6H3I", version, version, 0x800, 0, 0, 33, crc, small, small)
            head += struct.pack("<5H2I", len(name), len(wide), 0, 0, 0, 0, min(at, _FULL32))
            self._put(_DIRECTORY + head + name + wide)
        self._put(self._end(begin, self._at - begin))

    def _end(self, at, size):
        n, end = len(self._members), b""
        if n >= _FULL16 or at >= _FULL32 or size >= _FULL32:
            end = _END64 + struct.pack("<Q2H2I4Q", 44, 45, 45, 0, 0, n, n, size, at)
            end += _LOCATOR + struct.pack("<IQI", 0, at + size, 1)
        n, size, at = min(n, _FULL16), min(size, _FULL32), min(at, _FULL32)
        return end + _END + struct.pack("<4H2IH", 0, 0, n, n, size, at, 0)
