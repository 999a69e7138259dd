"""torch.utils.data.DataLoader: batches in torch's order, read ahead by threads.

Workers are threads of this process, not processes: items need not be picklable, and the set is one
for all workers. NumPy, files and the library's larger calls leave the interpreter to others; pure
Python code of a set does not become faster by workers, and what it draws at random comes from the
generators that all share. Batches of a TensorDataset are gathered in C.

Seeds, order and the number of batches that are asked ahead are torch's, so the state of a generator
is torch's at each point of an epoch.
"""

import atexit
import itertools
import os
import queue
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from types import GenericAlias
from typing import Any

from ... import _C
from .collate import default_collate, default_convert
from .dataset import IterableDataset, TensorDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

_collate_fn_t = Callable[[list], Any]  # for annotations
_worker_init_fn_t = Callable[[int], None]
_LARGE = 1 << 20  # bytes of a batch of tensors from which on a thread gathers it

# --- what a worker knows --------------------------------------------------------------------------


class WorkerInfo:
    """id, num_workers, seed and dataset of the worker that asks."""

    def __init__(self, id, num_workers, seed, dataset):  # noqa: A002 - torch's name
        self.id = id
        self.num_workers = num_workers
        self.seed = seed
        self.dataset = dataset

    def __repr__(self):
        return (
            f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed}, "
            f"dataset={self.dataset!r})"
        )


_local = threading.local()


def get_worker_info():
    """The WorkerInfo of the worker in which this is called; None outside of workers."""
    return getattr(_local, "info", None)


# --- fetching: an index, or a list of them, into what the loader yields ---------------------------


class _FetchMap:
    def __init__(self, dataset, batched, collate):
        self._dataset, self._batched, self._collate = dataset, batched, collate
        self._tensors = self._gathered()

    def _gathered(self):
        """The tensors whose rows are the batch, where that is all there is to it."""
        if not self._batched or self._collate is not default_collate:
            return None
        if type(self._dataset) is not TensorDataset:
            return None
        tensors = tuple(self._dataset.tensors)
        plain = all(
            type(t) is _C.Tensor and not t.requires_grad and t.device.type == "cpu" for t in tensors
        )
        return tensors if plain else None

    def fetch(self, index):
        if self._tensors is not None and type(index) is list and index:
            try:
                return _C._gather(self._tensors, index)
            except TypeError:
                pass  # indices that are no numbers
        if not self._batched:
            data = self._dataset[index]
        elif callable(getattr(self._dataset, "__getitems__", None)):
            data = self._dataset.__getitems__(index)
        else:
            data = [self._dataset[i] for i in index]
        return self._collate(data)


class _FetchIterable:
    def __init__(self, dataset, batched, collate, drop_last):
        self._items = iter(dataset)
        self._batched, self._collate, self._drop_last = batched, collate, drop_last
        self._ended = False

    def fetch(self, index):
        if self._ended:
            raise StopIteration
        if not self._batched:
            return self._collate(next(self._items))
        data = list(itertools.islice(self._items, len(index)))
        self._ended = len(data) < len(index)
        if not data or (self._drop_last and self._ended):
            raise StopIteration
        return self._collate(data)


class _Ended:
    """What a worker answers whose iterable set has no more items, to this task and all later."""

    def __init__(self, worker):
        self.worker = worker


class _Failed:
    """What a worker answers where its code has raised."""

    def __init__(self, error):
        self.error = error


_RESUME = object()  # another epoch of a persistent worker begins


def _serve(info, tasks, init, make, results, stop):
    """The life of a worker: answers tasks until None comes."""
    _local.info = info
    failed, fetcher = None, None
    try:
        if init is not None:
            init(info.id)
        fetcher = make()
    except BaseException as e:
        failed = _Failed(e)
    while (task := tasks.get()) is not None and not stop.is_set():
        number, index = task
        if number is _RESUME:
            fetcher = None
            continue
        answer = failed
        if answer is None:
            try:
                if fetcher is None:
                    fetcher = make()
                answer = fetcher.fetch(index)
            except BaseException as e:
                ended = isinstance(e, StopIteration) and isinstance(fetcher, _FetchIterable)
                answer = _Ended(info.id) if ended else _Failed(e)
        failed = None
        results.put((number, answer))
        del answer, task, index


class _Worker(threading.Thread):
    """A thread with what programs ask of worker processes."""

    def __init__(self, info, tasks, *more):
        name = f"DataLoader worker {info.id}"
        super().__init__(target=_serve, args=(info, tasks, *more), name=name, daemon=True)
        self._tasks = tasks

    @property
    def exitcode(self):
        return None if self.is_alive() else 0

    def terminate(self):
        """Ends the thread behind the tasks that it has."""
        self._tasks.put(None)


class _Threads:
    """Workers, and the ways to them. They know nothing of the iterator that asks them."""

    def __init__(self, loader, make, seed):
        n = loader.num_workers
        self._results = queue.SimpleQueue()
        self._tasks = [queue.SimpleQueue() for _ in range(n)]
        self._stop = threading.Event()
        self.threads = [
            _Worker(
                WorkerInfo(i, n, seed + i, loader.dataset),
                self._tasks[i],
                loader.worker_init_fn,
                make,
                self._results,
                self._stop,
            )
            for i in range(n)
        ]
        for t in self.threads:
            t.start()
        _alive.add(self)

    def put(self, worker, number, index):
        self._tasks[worker].put((number, index))

    def get(self, timeout):
        return self._results.get(timeout=timeout or None)

    def stop(self):
        self._stop.set()
        for tasks in self._tasks:
            tasks.put(None)

    def join(self):
        for t in self.threads:
            t.join(1.0)


_alive = weakref.WeakSet()


@atexit.register
def _stop_all():
    for threads in list(_alive):
        threads.stop()
    for threads in list(_alive):
        threads.join()


class _Inline:
    """Workers that are none: a task is done when its answer is asked for."""

    threads = ()

    def __init__(self, make):
        self._fetcher = make()
        self._tasks = deque()

    def put(self, worker, number, index):
        if number is not _RESUME:
            self._tasks.append((number, index))

    def get(self, timeout):
        number, index = self._tasks.popleft()
        try:
            return number, self._fetcher.fetch(index)
        except Exception as e:
            return number, _Failed(e)

    def stop(self):
        self._tasks.clear()


# --- iterators ------------------------------------------------------------------------------------


class _LoaderIter:
    """One pass over a loader; without workers."""

    _beyond = ""  # the reason of too many samples, perhaps

    def __init__(self, loader):
        # a loader with persistent workers keeps its iterator, so this does not keep the loader
        self._dataset = loader.dataset
        self._iterable = isinstance(loader.dataset, IterableDataset)
        kind, more = _FetchMap, ()
        if self._iterable:
            kind, more = _FetchIterable, (loader.drop_last,)
        arguments = loader.dataset, loader._auto_collation, loader.collate_fn, *more
        self._make = lambda: kind(*arguments)
        self._index_sampler = loader._index_sampler
        self._restart(loader)
        self._base_seed = _C._draw(loader.generator)
        self._begin(loader)

    def _restart(self, loader):
        self._indices = iter(self._index_sampler)
        self._said = loader._IterableDataset_len_called
        self._yielded = 0

    def _begin(self, loader):
        self._fetcher = self._make()

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._index_sampler)

    def _next_data(self):
        return self._fetcher.fetch(next(self._indices))

    def __next__(self):
        data = self._next_data()
        self._yielded += 1
        said = self._said
        if self._iterable and said is not None and self._yielded > said:
            warnings.warn(
                f"Length of IterableDataset {self._dataset} was reported to be {said} (when "
                f"accessing len(dataloader)), but {self._yielded} samples have been fetched."
                f"{self._beyond}",
                stacklevel=2,
            )
        return data

    def __getstate__(self):
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


class _WorkerIter(_LoaderIter):
    """With workers: batch k goes to the workers in turn, and comes out as number k."""

    _beyond = (
        " For multiprocessing data-loading, this could be caused by not properly configuring the "
        "IterableDataset replica at each worker."
    )

    @property
    def _workers(self):
        return list(self._crew.threads)

    def _begin(self, loader):
        self._timeout, self._persistent = loader.timeout, loader.persistent_workers
        self._num_workers, self._prefetch_factor = loader.num_workers, loader.prefetch_factor
        if _gathers_inline(loader):
            self._crew = _Inline(self._make)
        else:
            self._crew = _Threads(loader, self._make, self._base_seed)
        self._finish = weakref.finalize(self, self._crew.stop)
        self._finish.atexit = False
        self._reset_counts()

    def _reset(self, loader):
        """Another epoch of persistent workers."""
        while self._outstanding:  # of an epoch that was left early
            self._crew.get(None)
            self._outstanding -= 1
        self._restart(loader)
        for w in range(self._num_workers):
            self._crew.put(w, _RESUME, None)
        self._reset_counts()

    def _reset_counts(self):
        n = self._num_workers
        self._sent = self._received = self._outstanding = 0
        self._known = {}  # number: [worker], and its answer where that came early
        self._serving = [True] * n
        self._turn = itertools.cycle(range(n))
        for _ in range(self._prefetch_factor * n):
            self._ask()

    def _ask(self):
        """Hands the next index to the next worker that has not ended."""
        index = next(self._indices, self)
        if index is self:
            return
        for _ in self._serving:
            worker = next(self._turn)
            if self._serving[worker]:
                break
        else:
            return
        self._crew.put(worker, self._sent, index)
        self._known[self._sent] = [worker]
        self._sent += 1
        self._outstanding += 1

    def _skip_ended(self):
        """The next number whose answer is there or will come; false at the end."""
        while self._received < self._sent:
            known = self._known.get(self._received)
            if known is not None and (len(known) == 2 or self._serving[known[0]]):
                return True
            self._known.pop(self._received, None)
            self._received += 1
        return False

    def _get(self):
        """(number, answer); no frame keeps them, as an answer may be an error with this frame."""
        try:
            return self._crew.get(self._timeout)
        except queue.Empty:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds") from None

    def _next_data(self):
        while self._skip_ended():
            known = self._known[self._received]
            if len(known) == 1:
                number, answer = self._get()
                self._outstanding -= 1
                if isinstance(answer, _Ended):
                    if self._serving[answer.worker]:
                        self._serving[answer.worker] = False
                        self._ask()
                    continue
                self._known[number].append(answer)
                if number != self._received:
                    continue
            answer = self._known.pop(self._received)[1]
            self._received += 1
            self._ask()
            if isinstance(answer, _Failed):
                try:
                    raise answer.error
                finally:
                    del answer, known  # else its traceback would hold itself
            return answer
        if not self._persistent:
            self._finish()
        raise StopIteration


def _gathers_inline(loader):
    """Whether a batch is some rows of tensors, done sooner than a thread is told of it."""
    if type(loader.dataset) is not TensorDataset or loader.worker_init_fn is not None:
        return False
    if loader.collate_fn is not default_collate or not loader._auto_collation:
        return False
    rows = loader.batch_size or 1
    return sum(t.nbytes // max(1, t.size(0)) * rows for t in loader.dataset.tensors) < _LARGE


# --- the loader -----------------------------------------------------------------------------------


# torch's names: programs ask for the classes of iterators and kinds of data sets.
_BaseDataLoaderIter, _MultiProcessingDataLoaderIter = _LoaderIter, _WorkerIter
_SingleProcessDataLoaderIter = _LoaderIter


class _DatasetKind:
    """Data sets by index, and those that are iterated."""

    Map, Iterable = 0, 1


class _Forever(Sampler):
    """The sampler of a set that has no indices."""

    def __iter__(self):
        return itertools.repeat(None)


_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Batches of a data set, epoch by epoch.

    shuffle draws the order anew in each epoch; sampler or batch_sampler give it instead.
    num_workers: threads that read prefetch_factor batches ahead each. batch_size None: items as
    they are. timeout: seconds to wait for a batch of a worker, 0 for ever. pin_memory,
    multiprocessing_context and in_order are accepted and change nothing.
    """

    __class_getitem__ = classmethod(GenericAlias)
    _ready = False

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        _check_workers(num_workers, prefetch_factor, persistent_workers, timeout)
        _check_context(multiprocessing_context, num_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.generator = generator
        self.persistent_workers = persistent_workers
        iterable = isinstance(dataset, IterableDataset)
        if iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, "
                    "and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None:
            if iterable:
                sampler = _Forever()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self._IterableDataset_len_called = None
        self._iterator = None
        self._ready = True
        _warn_of_many(num_workers)

    def __setattr__(self, name, value):
        if self._ready and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        return _LoaderIter(self) if self.num_workers == 0 else _WorkerIter(self)

    def __iter__(self):
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self):
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return (length + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size


def _check_workers(num_workers, prefetch_factor, persistent_workers, timeout):
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable workers."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified with workers. let num_workers > 0, "
            "otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if num_workers == 0 and timeout:
        raise ValueError("timeout needs num_workers > 0")


def _check_context(context, num_workers):
    """A way to start processes, which threads do not need."""
    if context is None:
        return
    import multiprocessing

    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > "
            f"0), but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        ways = multiprocessing.get_all_start_methods()
        if context not in ways:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{ways!r}, but got multiprocessing_context={context!r}"
            )
    elif not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}"
        )


def _warn_of_many(num_workers):
    """Warns of more workers than cores."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    if cores is not None and num_workers > cores:
        warnings.warn(
            f"This DataLoader will create {num_workers} workers in total. Our suggested max number "
            f"of worker in current system is {cores}, which is smaller than what this DataLoader "
            "is going to create. Please be aware that excessive worker creation might get "
            "DataLoader running slow or even freeze, lower the worker number to avoid potential "
            "slowness/freeze if necessary.",
            stacklevel=3,
        )


def _check_iterable(shuffle, sampler, batch_sampler):
    given = {"shuffle": shuffle, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None and not (name == "shuffle" and value is False):
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, "
                f"but got {name}={value}"
            )
