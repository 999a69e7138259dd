"""torch.nn.modules.loss: the bases of a program's own losses; torch's are rows of the library."""

from . import __getattr__  # noqa: F401
from .module import Module


class _Loss(Module):
    """A loss with a reduction."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        if size_average is not None or reduce is not None:
            from ..functional import _reduction

            reduction = _reduction(size_average, reduce, reduction)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss with a weight of each class, which is a buffer."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
