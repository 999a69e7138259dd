"""torch.utils.data._utils.worker: who a worker of a loader is."""

from .. import get_worker_info

__all__ = ["get_worker_info"]


def _generate_state(base_seed, worker_id):
    """Four words for numpy.random.seed in a worker."""
    from numpy.random import SeedSequence

    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return SeedSequence(words).generate_state(4).tolist()
