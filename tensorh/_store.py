"""torch.distributed's stores: keys with values that the ranks of a program share. HashStore is for
threads, FileStore for processes too, by a file that all of them see; PrefixStore is a part of
another one."""

import contextlib
import os
import threading
import time
from datetime import timedelta

from ._exchange import DistStoreError

_SLICE = 0.02  # seconds between two looks at a file


def _bytes(value):
    if not isinstance(value, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"a store's values are str or bytes, not {type(value).__name__}")
    return value.encode() if isinstance(value, str) else bytes(value)


class Store:
    """Base of stores. A key is text, a value is bytes; text that is given is stored as UTF-8."""

    _timeout = timedelta(seconds=300)

    @property
    def timeout(self):
        """How long get and wait wait for keys."""
        return self._timeout

    def set_timeout(self, timeout):
        """Sets how long get and wait wait for keys, a timedelta."""
        self._timeout = timeout

    # What a subclass has: _change(of), which calls of(values), a dict, while nobody else changes
    # it, and _look(), the values as they are; _slept(seconds), a wait until they may have changed.

    def set(self, key, value):
        """The key has that value from now on."""
        self._change(lambda values: values.__setitem__(key, _bytes(value)))

    def get(self, key):
        """The value of the key, for which it waits."""
        return self.multi_get([key])[0]

    def add(self, key, amount):
        """Adds to the number that the key has, 0 if it is new; the sum."""

        def more(values):
            try:
                total = int(values.get(key, b"0")) + amount
            except ValueError:
                raise ValueError(f"the value of {key!r} is not a number") from None
            values[key] = str(total).encode()
            return total

        return self._change(more)

    def append(self, key, value):
        """Adds to the end of the value; a new key gets it."""
        self._change(lambda values: values.__setitem__(key, values.get(key, b"") + _bytes(value)))

    def compare_set(self, key, expected_value, desired_value):
        """Sets the key if it has the expected value, or is new and that is empty. The value after;
        the expected one if there is none."""
        expected, desired = _bytes(expected_value), _bytes(desired_value)

        def change(values):
            if values.get(key, b"") == expected:
                values[key] = desired
            return values.get(key, expected)

        return self._change(change)

    def delete_key(self, key):
        """Whether there was the key, which goes."""
        return self._change(lambda values: values.pop(key, None) is not None)

    def check(self, keys):
        """Whether all of these keys are there."""
        there = self._look()
        return all(key in there for key in keys)

    def wait(self, keys, timeout=None):
        """Returns when all of these keys are there; DistStoreError after too long."""
        self._found(keys, timeout)

    def _found(self, keys, timeout=None):
        """The values of these keys at one time, for which it waits."""
        end = time.monotonic() + (self._timeout if timeout is None else timeout).total_seconds()
        while True:
            there = self._look()
            if all(key in there for key in keys):
                return [there[key] for key in keys]
            left = end - time.monotonic()
            if left <= 0:
                raise DistStoreError(f"Wait timeout: {', '.join(map(repr, keys))}")
            self._slept(min(left, 1))

    def multi_get(self, keys):
        """The values of these keys, for which it waits."""
        return self._found(keys)

    def multi_set(self, keys, values):
        """Sets several keys at once."""
        if len(keys) != len(values):
            raise ValueError(f"{len(keys)} keys, but {len(values)} values")
        every = {key: _bytes(value) for key, value in zip(keys, values, strict=True)}
        self._change(lambda there: there.update(every))

    def num_keys(self):
        """How many keys there are."""
        return len(self._look())

    def list_keys(self):
        """All keys."""
        return list(self._look())

    def has_extended_api(self):
        """True: append, multi_get and multi_set are there."""
        return True

    def clone(self):
        """Another object of the same store."""
        raise NotImplementedError

    def _meeting(self):
        """What tells whether two objects are of one store."""
        raise NotImplementedError


class HashStore(Store):
    """A store in memory, for threads that have the same object, or a clone of it."""

    def __init__(self):
        self._values, self._changed, self._token = {}, threading.Condition(), object()

    def _change(self, of):
        with self._changed:
            result = of(self._values)
            self._changed.notify_all()
        return result

    def _look(self):
        with self._changed:
            return dict(self._values)

    def _slept(self, seconds):
        with self._changed:
            self._changed.wait(min(seconds, _SLICE))

    def clone(self):
        other = HashStore()
        other._values, other._changed, other._token = self._values, self._changed, self._token
        other._timeout = self._timeout
        return other

    def _meeting(self):
        return "hash", self._token


class FileStore(Store):
    """A store in a file, for threads and processes: a line for each key, in hexadecimal digits. The
    file stays, and beside it one whose name ends in .lock. world_size says nothing."""

    def __init__(self, file_name, world_size=-1):
        self._path, self._world_size = os.path.abspath(file_name), world_size

    @property
    def path(self):
        """The file's name."""
        return self._path

    @contextlib.contextmanager
    def _locked(self):
        import fcntl  # of systems that have it

        with open(self._path + ".lock", "ab") as f:  # which stays: the other one is replaced
            fcntl.flock(f, fcntl.LOCK_EX)
            yield

    def _change(self, of):
        with self._locked():
            values = self._look()
            result = of(values)
            new = self._path + ".new"  # a change that is killed leaves the file as it was
            with open(new, "w", encoding="ascii") as f:
                f.writelines(f"{k.encode().hex()} {v.hex()}\n" for k, v in values.items())
            os.replace(new, self._path)
        return result

    def _look(self):
        try:
            with open(self._path, encoding="ascii") as f:
                pairs = [line.split(" ") for line in f]
        except FileNotFoundError:
            return {}
        return {bytes.fromhex(k).decode(): bytes.fromhex(v) for k, v in pairs}

    def _slept(self, seconds):
        time.sleep(min(seconds, _SLICE))

    def clone(self):
        other = FileStore(self._path, self._world_size)
        other._timeout = self._timeout
        return other

    def _meeting(self):
        return "file", self._path


class PrefixStore(Store):
    """The keys of another store that begin with the prefix and "/"."""

    def __init__(self, prefix, store):
        self._prefix, self._store = prefix, store

    @property
    def underlying_store(self):
        """The store around this one."""
        return self._store

    @property
    def timeout(self):
        return self._store.timeout

    def set_timeout(self, timeout):
        self._store.set_timeout(timeout)

    def _name(self, key):
        return f"{self._prefix}/{key}"

    def set(self, key, value):
        self._store.set(self._name(key), value)

    def get(self, key):
        return self._store.get(self._name(key))

    def add(self, key, amount):
        return self._store.add(self._name(key), amount)

    def append(self, key, value):
        self._store.append(self._name(key), value)

    def compare_set(self, key, expected_value, desired_value):
        return self._store.compare_set(self._name(key), expected_value, desired_value)

    def delete_key(self, key):
        return self._store.delete_key(self._name(key))

    def check(self, keys):
        return self._store.check([self._name(key) for key in keys])

    def wait(self, keys, timeout=None):
        self._store.wait([self._name(key) for key in keys], timeout)

    def multi_get(self, keys):
        return self._store.multi_get([self._name(key) for key in keys])

    def multi_set(self, keys, values):
        self._store.multi_set([self._name(key) for key in keys], values)

    def num_keys(self):
        """How many keys the store around this one has, as in torch."""
        return self._store.num_keys()

    def list_keys(self):
        return [k for k in self._store.list_keys() if k.startswith(self._name(""))]

    def clone(self):
        return PrefixStore(self._prefix, self._store.clone())

    def _meeting(self):
        return self._prefix, self._store._meeting()
