"""torch.utils.data.sampler - orders of items; random ones draw what torch draws."""

from bisect import bisect_left
from itertools import accumulate, islice
from types import GenericAlias

from ... import _C


class Sampler:
    """An order: a subclass gives __iter__ over indices, or over lists of them."""

    __class_getitem__ = classmethod(GenericAlias)

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """All items, in their order."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def _check_bool(name, value, kind=TypeError):
    if not isinstance(value, bool):
        raise kind(f"{name} should be a boolean value, but got {name}={value}")


def _check_positive(name, value):
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


class RandomSampler(Sampler):
    """Items at random: permutations, or (replacement) each item drawn by itself.

    Without a generator each epoch takes a seed from the default one.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _check_bool("replacement", replacement)
        _check_positive("num_samples", self.num_samples)

    @property
    def num_samples(self):
        """How many are drawn in an epoch."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n, generator = len(self.data_source), self.generator
        if generator is None:
            generator = _C.Generator()
            generator.manual_seed(_C._draw(None))
        if self.replacement:
            for _ in range(self.num_samples // 32):
                yield from _draw(n, 32, generator)
            yield from _draw(n, self.num_samples % 32, generator)
        else:
            for _ in range(self.num_samples // n):
                yield from _C.randperm(n, generator=generator).tolist()
            # The last permutation is drawn also where nothing of it is taken, as torch does.
            yield from _C.randperm(n, generator=generator).tolist()[: self.num_samples % n]

    def __len__(self):
        return self.num_samples


def _draw(high, n, generator):
    return _C.randint(high, (n,), dtype=_C.int64, generator=generator).tolist()


class SubsetRandomSampler(Sampler):
    """The given indices in a random order."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in _C.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with the probabilities of the weights, with replacement or without."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _check_positive("num_samples", num_samples)
        _check_bool("replacement", replacement, ValueError)
        self.weights = _C.as_tensor(weights, dtype=_C.float64)
        if self.weights.ndim != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        # A generator, as torch's: it draws when the first index is asked for.
        yield from self._with_replacement() if self._bisects() else self._without_replacement()

    def _bisects(self):
        return self.replacement and self.num_samples > 1

    def _without_replacement(self):
        """The largest quotients of weights and exponential numbers."""
        weights = _check_weights(self.weights.tolist())
        if self.num_samples > len(weights):
            raise RuntimeError(
                "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
            )
        q = _C.empty(len(weights), dtype=_C.float64).exponential_(1, generator=self.generator)
        return (self.weights / q).topk(self.num_samples)[1].tolist()

    def _with_replacement(self):
        """By bisection of the running sums, with a uniform number of 53 bits each."""
        sums = list(accumulate(_check_weights(self.weights.tolist())))
        sums = [s / sums[-1] for s in sums]
        sums[-1] = 1.0
        mask, unit = (1 << 53) - 1, 2.0**-53
        return [
            bisect_left(sums, (_C._draw(self.generator) & mask) * unit)
            for _ in range(self.num_samples)
        ]

    def __len__(self):
        return self.num_samples


def _check_weights(weights):
    if not all(0 <= w < float("inf") for w in weights):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not sum(weights) > 0:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    return weights


class BatchSampler(Sampler):
    """Lists of batch_size indices of another sampler."""

    def __init__(self, sampler, batch_size, drop_last):
        _check_positive("batch_size", batch_size)
        _check_bool("drop_last", drop_last, ValueError)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self):
        more = 0 if self.drop_last else self.batch_size - 1
        return (len(self.sampler) + more) // self.batch_size
