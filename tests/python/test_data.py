"""Data sets and loaders beside what torch gave (data/data.json), and their interface."""

import collections
import gc
import json
import pathlib
import sys
import threading
import time
import traceback
import weakref

import numpy as np
import pytest

import tensorh as torch

sys.path.insert(0, str(pathlib.Path(__file__).parent / "data"))
import make_data  # noqa: E402

from tensorh.utils.data import (  # noqa: E402
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    StackDataset,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
    random_split,
)

STORED = json.loads((pathlib.Path(__file__).parent / "data" / "data.json").read_text())
CASES = list(make_data.cases())


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if not 0 <= i < self.n:
            raise IndexError(i)
        return i, float(i * i)


class Count(IterableDataset):
    """The numbers below n, shared among workers."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        return iter(range(first, self.n, step))


def items(loader):
    return [b.tolist() if isinstance(b, torch.Tensor) else [x.tolist() for x in b] for b in loader]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_order_and_generators_are_those_of_torch(case):
    assert make_data.epochs(torch, CASES[case]) == STORED["epochs"][case]


def test_splits_are_those_of_torch():
    assert make_data.splits(torch) == STORED["splits"]


def test_beside_torch():
    real = pytest.importorskip("torch")
    for case in CASES:
        if not case[5]:
            assert make_data.epochs(torch, case) == make_data.epochs(real, case), case

    def paired(m):
        m.manual_seed(1)
        data = m.utils.data.TensorDataset(m.arange(9))
        loaders = [m.utils.data.DataLoader(data, 2, shuffle=True) for _ in range(2)]
        return [(a[0].tolist(), b[0].tolist()) for a, b in zip(*loaders, strict=True)]

    assert paired(torch) == paired(real)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_any_set_gives_the_same_batches(workers):
    def epoch(data, **options):
        torch.manual_seed(2)
        return items(DataLoader(data, 4, shuffle=True, num_workers=workers, **options))

    n = 22
    rows = TensorDataset(torch.arange(n), torch.arange(n).to(torch.float64) ** 2)
    gathered, one_by_one = epoch(rows), epoch(Squares(n))
    assert gathered == one_by_one and len(gathered) == 6 and len(gathered[-1][0]) == 2
    assert epoch(rows, drop_last=True) == gathered[:5]
    assert epoch(rows, collate_fn=lambda batch: default_collate(batch)) == gathered
    strided = TensorDataset(torch.arange(2 * n).reshape(n, 2)[:, 0] // 2, rows.tensors[1])
    assert epoch(strided) == gathered


def test_large_batches_are_gathered_by_workers():
    x = torch.arange(1 << 20).reshape(64, 1 << 14).to(torch.float32)
    a, b = (items(DataLoader(TensorDataset(x), 16, num_workers=w)) for w in (0, 2))
    assert a == b


def test_batches_do_not_share_the_set():
    x = torch.zeros(6, 2)
    for batch in DataLoader(TensorDataset(x), 3):
        batch[0].add_(1)
    assert x.sum().item() == 0
    leaf = torch.ones(4, requires_grad=True)
    assert next(iter(DataLoader(TensorDataset(leaf), 2)))[0].requires_grad


def test_iterating_twice_and_leaving_early():
    for workers in (0, 2):
        loader = DataLoader(Squares(20), 2, num_workers=workers)
        assert len(loader) == 10
        for i, _ in enumerate(loader):
            if i == 3:
                break
        assert [b[0][0] for b in items(loader)] == list(range(0, 20, 2))
        a, b = iter(loader), iter(loader)
        assert next(a)[0].tolist() == next(b)[0].tolist() == [0, 1]
        assert next(a)[0].tolist() == [2, 3]
        rest = list(a)
        assert len(rest) == 8 and next(a, "end") == "end" and next(a, "end") == "end"


def test_workers_end_with_their_iterator():
    def threads():
        return [t for t in threading.enumerate() if t.name.startswith("DataLoader")]

    def ended():
        for _ in range(200):
            if not threads():
                return True
            time.sleep(0.01)
        return False

    assert ended()  # those of other tests
    loader = DataLoader(Squares(1000), 2, num_workers=2)
    it = iter(loader)
    next(it)
    assert len(threads()) == 2
    alive = weakref.ref(it)
    del it
    gc.collect()
    assert alive() is None and ended()
    list(loader)
    assert ended()
    # the worker that waits is asked to end when the loader and its iterator go
    for persistent in (False, True):
        loader = DataLoader(Squares(6), 2, num_workers=2, persistent_workers=persistent)
        it = iter(loader)
        workers = it._workers
        del loader, it
        for w in workers:
            w.join(10)
            assert not w.is_alive() and w.exitcode == 0
    kept = DataLoader(Squares(6), 2, num_workers=2, persistent_workers=True)
    list(kept)
    first = threads()
    assert len(first) == 2 and len(list(kept)) == 3 and threads() == first
    for _ in kept:
        break
    assert [b[0][0] for b in items(kept)] == [0, 2, 4] and threads() == first
    del kept
    gc.collect()
    assert ended()


@pytest.mark.parametrize("workers", [0, 2])
def test_exceptions_come_out_with_their_traceback(workers):
    class Bad(Squares):
        def __getitem__(self, i):
            if i == 5:
                raise LookupError("item five")
            return super().__getitem__(i)

    seen = []
    with pytest.raises(LookupError, match="item five") as caught:
        for batch in DataLoader(Bad(20), 2, num_workers=workers):
            seen.append(batch[0].tolist())
    assert seen == [[0, 1], [2, 3]]
    text = "".join(traceback.format_tb(caught.tb))
    assert 'raise LookupError("item five")' in text and "__getitem__" in text


def fails(loader):
    """A weak reference to the iterator of a loader whose set or worker raises."""
    it = iter(loader)
    with pytest.raises(LookupError):
        list(it)
    return weakref.ref(it)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_exception_does_not_keep_the_workers(workers):
    class Bad(Squares):
        def __getitem__(self, i):
            if i == 5:
                raise LookupError("item five")
            return super().__getitem__(i)

    class BadSampler(Sampler):
        def __iter__(self):
            yield from [1] * 12
            raise LookupError("sampler")

    def bad(number):
        raise LookupError("worker")

    loaders = [DataLoader(Bad(20), 2, num_workers=workers)]
    if workers:
        loaders.append(DataLoader(Squares(20), 2, num_workers=2, worker_init_fn=bad))
    gathered = TensorDataset(torch.ones(8))
    loaders.append(DataLoader(gathered, 2, sampler=[0, 1, 2, 9], num_workers=workers))
    loaders.append(DataLoader(gathered, 2, sampler=BadSampler(), num_workers=workers))
    gc.collect()
    gc.disable()
    try:
        for loader in loaders:
            assert fails(loader)() is None
    finally:
        gc.enable()


def test_worker_info_and_init():
    assert get_worker_info() is None
    seen = []

    class Who(Squares):
        def __getitem__(self, i):
            info = get_worker_info()
            assert info.dataset is self and info.num_workers == 2
            return info.id, info.seed

    torch.manual_seed(3)
    loader = DataLoader(Who(8), 2, num_workers=2, worker_init_fn=seen.append)
    got = [(b[0][0].item(), b[1][0].item()) for b in loader]
    assert [i for i, _ in got] == [0, 1, 0, 1] and got[1][1] == got[0][1] + 1
    assert sorted(seen) == [0, 1] and get_worker_info() is None

    def fail(worker):
        raise OSError("no start")

    with pytest.raises(OSError, match="no start"):
        list(DataLoader(Squares(8), 2, num_workers=2, worker_init_fn=fail))


def test_timeout():
    class Slow(Squares):
        def __getitem__(self, i):
            time.sleep(0.5)
            return i

    with pytest.raises(RuntimeError, match="timed out after 0.05"):
        next(iter(DataLoader(Slow(2), num_workers=1, timeout=0.05)))


def test_iterable_sets():
    assert items(DataLoader(Count(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert items(DataLoader(Count(7), 3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    assert list(DataLoader(Count(3), None)) == [0, 1, 2]
    both = DataLoader(Count(7), 2, num_workers=2)
    assert items(both) == [[0, 2], [1, 3], [4, 6], [5]]
    kept = DataLoader(Count(5), 2, num_workers=2, persistent_workers=True)
    assert items(kept) == items(kept) == [[0, 2], [1, 3], [4]]
    chain = ChainDataset([Count(2), Count(3)])
    assert list(chain) == list(Count(2) + Count(3)) == [0, 1, 0, 1, 2]
    for option in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        with pytest.raises(ValueError, match="IterableDataset"):
            DataLoader(Count(3), **option)

    class Uneven(IterableDataset):
        def __iter__(self):
            return iter(range([0, 4, 20][get_worker_info().id]))

    # a worker that has ended answers the tasks that it still has, and is asked no more
    for prefetch in (2, 3, 4):
        it = iter(DataLoader(Uneven(), None, num_workers=3, prefetch_factor=prefetch))
        assert sorted(it) == sorted([*range(4), *range(20)])

    class Said(Count):
        def __len__(self):
            return 2

    loader = DataLoader(Said(3), 1)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="Length of IterableDataset"):
        list(loader)


def test_sets_of_sets():
    a, b = Squares(3), Squares(2)
    both = ConcatDataset([a, b])
    assert (
        len(both) == 5 and both[3] == (0, 0.0) and both[-1] == (1, 1.0) and (a + b)[4] == (1, 1.0)
    )
    with pytest.raises(ValueError):
        both[-6]
    stack = StackDataset(a, Squares(3))
    assert stack[2] == ((2, 4.0), (2, 4.0)) and len(stack) == 3
    named = StackDataset(x=a, y=Subset(Squares(9), [8, 7, 6]))
    assert named[0] == {"x": (0, 0.0), "y": (8, 64.0)}
    batch = next(iter(DataLoader(named, 2)))
    assert batch["y"][0].tolist() == [8, 7]
    for bad in (lambda: StackDataset(), lambda: StackDataset(a, b), lambda: StackDataset(a, x=b)):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(AssertionError):
        ConcatDataset([])
    with pytest.raises(AssertionError):
        ConcatDataset([Count(3)])
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(torch.ones(2), torch.ones(3))
    sub = Subset(Subset(a, [2, 1]), [1])
    assert len(sub) == 1 and sub[0] == (1, 1.0) and sub.__getitems__([0]) == [(1, 1.0)]
    with pytest.raises(ValueError, match="Sum of input lengths"):
        random_split(a, [1, 1])
    with pytest.warns(UserWarning, match="Length of split"):
        random_split(range(1), [0.5, 0.5])

    class Half(Subset):
        def __getitem__(self, i):
            return i

    with pytest.raises(NotImplementedError, match="__getitems__"):
        Half(a, [0])


def test_a_set_that_gives_whole_batches():
    class Whole(Squares):
        def __getitems__(self, indices):
            return [10 * i for i in indices]

    assert items(DataLoader(Whole(5), 2)) == [[0, 10], [20, 30], [40]]


def test_samplers():
    assert list(SequentialSampler(range(3))) == [0, 1, 2]
    assert list(BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert len(BatchSampler(range(5), 2, True)) == 2 and len(BatchSampler(range(5), 2, False)) == 3
    loader = DataLoader(Squares(9), batch_sampler=[[8, 1], [3]])
    assert [b[0] for b in items(loader)] == [[8, 1], [3]] and len(loader) == 2
    rows = TensorDataset(torch.arange(9))
    assert items(DataLoader(rows, batch_sampler=[[8, -1], [3]])) == [[[8, 8]], [[3]]]
    with pytest.raises(IndexError):
        items(DataLoader(rows, batch_sampler=[[9]]))
    for bad in (
        lambda: RandomSampler([]),
        lambda: RandomSampler([1], num_samples=0),
        lambda: BatchSampler([1], 0, False),
        lambda: BatchSampler([1], 1, 1),
        lambda: WeightedRandomSampler([1.0], 0),
        lambda: WeightedRandomSampler([[1.0]], 1),
    ):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(TypeError):
        RandomSampler([1], replacement=3)
    for weights in ([-1.0, 2], [float("nan"), 1], [0.0, 0]):
        with pytest.raises(RuntimeError):
            list(WeightedRandomSampler(weights, 2))
    with pytest.raises(RuntimeError):
        list(WeightedRandomSampler([1.0, 1], 3, replacement=False))


def test_arguments_of_the_loader():
    data = Squares(4)
    bad = [
        {"num_workers": -1},
        {"timeout": -1},
        {"prefetch_factor": 2},
        {"prefetch_factor": -1, "num_workers": 1},
        {"persistent_workers": True},
        {"sampler": [0], "shuffle": True},
        {"batch_sampler": [[0]], "batch_size": 2},
        {"batch_sampler": [[0]], "drop_last": True},
        {"batch_size": None, "drop_last": True},
        {"batch_size": 0},
        {"multiprocessing_context": "spawn"},
        {"multiprocessing_context": "threads", "num_workers": 1},
    ]
    for options in bad:
        with pytest.raises(ValueError):
            DataLoader(data, **options)
    loader = DataLoader(data, pin_memory=True, in_order=True, generator=torch.Generator())
    with pytest.raises(ValueError, match="should not be set"):
        loader.batch_size = 3
    with pytest.raises(TypeError, match="should be a valid context"):
        DataLoader(data, num_workers=1, multiprocessing_context=3)
    with pytest.warns(UserWarning, match="will create 100000 workers"):
        DataLoader(data, num_workers=100000, multiprocessing_context="spawn")
    with pytest.raises(TypeError, match="Generator"):
        iter(DataLoader(data, generator=3))
    assert DataLoader[int] and Dataset[int] and list(DataLoader(data, None))[1] == [1, 1.0]


def test_default_collate():
    Point = collections.namedtuple("Point", "x y")
    assert default_collate([1, 2]).dtype is torch.int64
    assert default_collate([1.0, 2]).dtype is torch.float64
    assert default_collate([True, False]).tolist() == [1, 0]
    assert default_collate(["a", "b"]) == ["a", "b"]
    assert default_collate([torch.ones(2), torch.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    p = default_collate([Point(1, 2.0), Point(3, 4.0)])
    assert isinstance(p, Point) and p.x.tolist() == [1, 3]
    d = default_collate([{"a": 1, "b": [1, "x"]}, {"a": 2, "b": [3, "y"]}])
    assert d["a"].tolist() == [1, 2] and d["b"][0].tolist() == [1, 3] and d["b"][1] == ("x", "y")
    assert type(default_collate([(1, 2), (3, 4)])) is list
    assert default_collate([np.ones(2, "f"), np.zeros(2, "f")]).dtype is torch.float32
    assert default_collate([np.float32(1), np.float32(2)]).tolist() == [1, 2]
    assert default_collate([np.int16(1), np.int16(2)]).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1, 2], [3]])
    with pytest.raises(TypeError, match="found <class 'object'>"):
        default_collate([object()])
    with pytest.raises(TypeError, match="default_collate"):
        default_collate([np.array(["a"])])
    c = default_convert({"a": np.ones(2), "b": (np.float64(1), "x")})
    assert c["a"].tolist() == [1, 1] and c["b"][0].item() == 1 and c["b"][1] == "x"


def test_collate_beside_torch():
    real = pytest.importorskip("torch")
    batches = [
        [np.float32(1), np.float32(2)],
        [np.float64(1), np.float64(2)],
        [np.int32(1), np.int32(2)],
        [np.bool_(True), np.bool_(False)],
        [np.arange(3), np.arange(3)],
        [True, False],
        [1, 2],
        [1.5, 2],
        [range(2), range(2)],
        [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
    ]
    for batch in batches:
        a, b = default_collate(batch), real.utils.data.default_collate(batch)
        assert str(a) == str(b) or type(a) is type(b) is list, batch


def test_collate_stands_where_programs_look_for_it():
    from tensorh.utils.data._utils.collate import default_collate, default_convert

    assert default_collate is torch.utils.data.default_collate
    assert torch.utils.data._utils.collate.default_convert is default_convert
    assert torch.utils.data._utils.worker.get_worker_info() is None
