"""torch.utils.data._utils.worker: who a worker of a loader is."""

from .. import get_worker_info

__all__ = ["get_worker_info"]
