"""Event files: records in TFRecord's frames, each an Event.

A record is its length (8 bytes), the checksum of those, the data and its checksum, all little
endian. A checksum is CRC-32C, rotated right by 15 bits and moved by 0xa282ead8, so that data that
hold checksums themselves do not weaken it."""

import itertools
import os
import socket
import struct
import threading
import time
import weakref

from ... import _C
from ._proto import encode

__all__ = ["FileWriter", "RecordWriter"]
_numbers = itertools.count()


def _checksum(data):
    c = _C._crc32c(data)
    return struct.pack("<I", ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(data):
    """A record of these bytes."""
    length = struct.pack("<Q", len(data))
    return b"".join((length, _checksum(length), data, _checksum(data)))


class RecordWriter:
    """Writes records to a file that has write, flush and close."""

    def __init__(self, writer):
        self._writer = writer

    def write(self, data):
        self._writer.write(frame(data))

    def flush(self):
        self._writer.flush()

    def close(self):
        self._writer.close()

    @property
    def closed(self):
        return self._writer.closed


class _Pending:
    """Records that wait, and their file. A child of fork does not write those of its parent."""

    def __init__(self, path):
        self.file = open(path, "ab", buffering=0)
        self._start()

    def _start(self):
        self.lock = threading.Lock()
        self.data, self.count, self.since = bytearray(), 0, time.monotonic()
        self.process = os.getpid()

    def add(self, record, most, seconds):
        if self.process != os.getpid():
            self._start()
        with self.lock:
            if self.file.closed:
                raise ValueError("the file of events is closed")
            self.data += record
            self.count += 1
            if self.count >= most or time.monotonic() - self.since >= seconds:
                self._write()

    def flush(self):
        if self.process == os.getpid():
            with self.lock:
                self._write()

    def _write(self):
        """What cannot be written stays, so that a later call goes on with the same byte."""
        while self.data:
            written = self.file.write(self.data)
            self.data = self.data[written:]
        self.count, self.since = 0, time.monotonic()

    def close(self):
        if self.process != os.getpid():
            self._start()
        with self.lock:
            try:
                if not self.file.closed:
                    self._write()
            finally:
                self.file.close()


class FileWriter:
    """Writes events to a new file in a folder, which is made.

    Events wait until there are max_queue of them, until an event comes flush_secs after the last
    write, or until flush(), close() or the end of the program."""

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self._folder = os.fspath(log_dir)
        if "://" in self._folder:
            raise ValueError(f"log_dir: {self._folder} is no local folder")
        self.max_queue, self.flush_secs = max_queue, flush_secs
        os.makedirs(self._folder, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        self.path = os.path.join(self._folder, f"{name}.{next(_numbers)}{filename_suffix}")
        self._pending = _Pending(self.path)
        self._end = weakref.finalize(self, self._pending.close)
        self.add_event(encode("Event", file_version="brain.Event:2"))
        self.flush()

    def get_logdir(self):
        """The folder of the file."""
        return self._folder

    def add_event(self, event, step=None, walltime=None):
        """Adds an event: the bytes of an Event, or a protobuf object that makes them."""
        if hasattr(event, "SerializeToString"):
            event = event.SerializeToString()
        now = time.time() if walltime is None else float(walltime)
        head = encode("Event", wall_time=now, step=None if step is None else int(step))
        self._pending.add(frame(event + head), self.max_queue, self.flush_secs)

    def add_summary(self, summary, global_step=None, walltime=None):
        """Adds an event with a Summary, bytes or a protobuf object."""
        if hasattr(summary, "SerializeToString"):
            summary = summary.SerializeToString()
        self.add_event(encode("Event", summary=summary), global_step, walltime)

    def flush(self):
        """Writes what waits."""
        self._pending.flush()

    def close(self):
        """Writes what waits and closes the file."""
        self._end()
