"""torch.utils.data.distributed - each rank's part of a data set."""

from math import ceil

from ... import _C
from .sampler import Sampler, _check_positive

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler):
    """Every num_replicas-th item from number `rank` on; the same order on all ranks, as torch's.

    The last items are left out (drop_last), or the first ones come again, so that all ranks have
    equally many. With shuffle, set_epoch(n) before each epoch gives it another order.
    """

    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False
    ):
        if num_replicas is None or rank is None:
            from ... import distributed

            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        _check_positive("num_replicas", num_replicas)
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0
        n = len(dataset)
        if drop_last and n % num_replicas:
            self.num_samples = ceil((n - num_replicas) / num_replicas)
        else:
            self.num_samples = ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        n = len(self.dataset)
        if self.shuffle:
            g = _C.Generator()
            g.manual_seed(self.seed + self.epoch)
            indices = _C.randperm(n, generator=g).tolist()
        else:
            indices = list(range(n))
        while not self.drop_last and len(indices) < self.total_size:
            indices += indices[: self.total_size - len(indices)]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """The number of the epoch, which with the seed gives the order."""
        self.epoch = epoch
