"""Streams and events of torch.cuda. Each thread has a current stream of every device, into which
its calls go; between streams only waits make an order. Memory needs none: it is used again when all
streams are done with it."""

import threading
import weakref

from .. import _C, _cuda

_known = weakref.WeakValueDictionary()  # {identity: Stream}: one object for a stream
_held = threading.local()  # the streams that a thread has made current, by device


class Stream:
    """A stream of a device, new. A lower priority is served first."""

    def __new__(cls, device=None, priority=0, **kwargs):
        if kwargs:
            raise NotImplementedError("torch.cuda.Stream: a handle of another stream is not taken")
        return _of(_C._stream_new(_cuda.number(device), priority), cls)

    @property
    def device(self):
        return self._facts[0]

    @property
    def device_index(self):
        return self.device.index

    @property
    def priority(self):
        return self._facts[1]

    @property
    def cuda_stream(self):
        """The cudaStream_t as a number; 0: the device's own."""
        return self._facts[2]

    @property
    def stream_id(self):
        return self._facts[3]

    def wait_stream(self, stream):
        """What is asked here from now on comes after what was asked there by now."""
        _C._stream_wait_stream(self._at, stream._at)

    def wait_event(self, event):
        """The same for what comes before the event's last record."""
        event.wait(self)

    def record_event(self, event=None):
        """Records the event here, a new one if there is none, and returns it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self):
        """Whether all that was asked is done."""
        return _C._stream_query(self._at)

    def synchronize(self):
        """Waits until it is."""
        _C._stream_wait(self._at)

    def __eq__(self, other):
        return isinstance(other, Stream) and self._facts[3] == other._facts[3]

    def __hash__(self):
        return hash(self._facts[3])

    def __repr__(self):
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


def _of(capsule, cls=Stream):
    """The object of a stream."""
    facts = _C._stream_facts(capsule)
    known = _known.get(facts[3])
    if known is None:
        known = object.__new__(cls)
        known._at, known._facts = capsule, facts
        _known[facts[3]] = known
    return known


class Event:
    """A moment in a stream."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        if interprocess or external:
            raise NotImplementedError("torch.cuda.Event: it is of one process and no graph")
        self._at = _C._event_new(enable_timing)
        self._recorded = False

    def record(self, stream=None):
        """It is when the stream, the current one if none is given, is done with all until now."""
        _C._event_record(self._at, (current_stream() if stream is None else stream)._at)
        self._recorded = True

    def wait(self, stream=None):
        """What is asked in the stream from now on comes after it; nothing without a record."""
        _C._event_before(self._at, (current_stream() if stream is None else stream)._at)

    def query(self):
        """Whether it has been; True without a record."""
        return _C._event_query(self._at)

    def synchronize(self):
        """The host waits for it."""
        _C._event_wait(self._at)

    def elapsed_time(self, end_event):
        """Milliseconds from this one to another; both have been, and were made with timing."""
        if not (self._recorded and end_event._recorded):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return _C._event_ms(self._at, end_event._at)

    def __repr__(self):
        return "<torch.cuda.Event>" if self._recorded else "<torch.cuda.Event uninitialized>"


def current_stream(device=None):
    """The thread's current stream of a device."""
    return _of(_C._stream_current(_cuda.number(device)))


def default_stream(device=None):
    """The device's own stream."""
    return _of(_C._stream_default(_cuda.number(device)))


def set_stream(stream):
    """Makes a stream current in this thread; None changes nothing."""
    if stream is None:
        return
    _C._stream_use(stream._at)
    if not hasattr(_held, "of"):
        _held.of = {}
    _held.of[stream.device] = stream  # it is not given up while it is current


class StreamContext:
    """A block in which a stream is current, and its device; None: no change."""

    def __init__(self, stream):
        self.stream = stream
        self.before = []

    def __enter__(self):
        if self.stream is None:
            return
        index = self.stream.device.index
        self.before.append((_C._cuda_set(index), current_stream(index)))
        set_stream(self.stream)

    def __exit__(self, type, value, traceback):
        if self.stream is not None:
            device, stream = self.before.pop()
            set_stream(stream)
            _C._cuda_set(device)
        return False


def stream(stream):
    """with torch.cuda.stream(s): a block in which s is the current stream."""
    return StreamContext(stream)
