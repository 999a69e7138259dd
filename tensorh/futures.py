"""torch.futures: results that come later, set by another thread of this process."""

import threading
import traceback

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A result or an exception that set_result, set_exception give; wait() waits for it."""

    def __init__(self, *, devices=None):
        self._changed, self._calls = threading.Condition(), []
        self._is_done, self._value, self._error = False, None, None

    def __class_getitem__(cls, item):
        return cls

    def done(self):
        """Whether there is a result or an exception."""
        return self._is_done

    def wait(self):
        """The result; raises the exception."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_done)
        if self._error is not None:
            raise self._error
        return self._value

    def value(self):
        """The result, of a future that is done."""
        if not self._is_done:
            raise RuntimeError("value() called on a future that is not done")
        return self.wait()

    def _finish(self, value, error):
        with self._changed:
            if self._is_done:
                raise RuntimeError("Future can only be marked completed once")
            self._is_done, self._value, self._error = True, value, error
            calls, self._calls = self._calls, []
            self._changed.notify_all()
        for call in calls:
            try:
                call(self)
            except Exception:  # as torch: the others are called, and the result stays
                traceback.print_exc()

    def set_result(self, result):
        """Ends the waiting with a result."""
        self._finish(result, None)

    def set_exception(self, result):
        """Ends the waiting with an exception."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def add_done_callback(self, callback):
        """Calls callback(self) when it is done."""
        with self._changed:
            if not self._is_done:
                self._calls.append(callback)
                return
        callback(self)

    def then(self, callback):
        """A future of what callback(self) gives when this one is done."""
        later = Future()

        def call(done):
            try:
                later.set_result(callback(done))
            except Exception as error:
                later.set_exception(error)

        self.add_done_callback(call)
        return later


def collect_all(futures):
    """A future of the list of futures, when all are done."""
    futures, every = list(futures), Future()
    left, lock = [len(futures)], threading.Lock()

    def one(_):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            every.set_result(futures)

    for f in futures:
        f.add_done_callback(one)
    if not futures:
        every.set_result([])
    return every


def wait_all(futures):
    """The results of all futures; raises the first exception."""
    return [f.wait() for f in futures]
