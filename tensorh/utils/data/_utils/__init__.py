"""torch.utils.data._utils: what programs reach for there."""

from . import collate, worker

__all__ = ["collate", "worker"]
