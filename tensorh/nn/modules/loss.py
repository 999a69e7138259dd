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


class TripletMarginWithDistanceLoss(_Loss):
    """triplet_margin_loss with a distance of the program's own; PairwiseDistance if it is None."""

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(reduction=reduction)
        if margin <= 0:
            name = type(self).__name__
            raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")
        if distance_function is None:
            distance_function = __getattr__("PairwiseDistance")()
        self.distance_function = distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor, positive, negative):
        """The loss of vectors that should be close and away."""
        from ..functional import triplet_margin_with_distance_loss

        return triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
