"""torch.nn.modules.loss: the bases of a program's own losses; torch's are rows of the library."""

import math

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


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross-entropy of linear(input); out_features are the dimensions of a loss that has
    several. options is None: torch's chunks, which save memory, are not supported."""

    def __init__(
        self,
        in_features,
        num_classes,
        *,
        out_features=(),
        bias=False,
        device=None,
        dtype=None,
        reduction="mean",
        weight=None,
        ignore_index=None,
        label_smoothing=0.0,
        options=None,
    ):
        if weight is not None and weight.shape != (num_classes,):
            found = tuple(weight.shape)
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {found}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight=weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        width = math.prod(out_features, start=num_classes)
        linear = __getattr__("Linear")
        self.linear = linear(in_features, width, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input, target):
        """The loss of samples and their classes, or distributions over them."""
        from ..functional import linear_cross_entropy

        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return linear_cross_entropy(
            input,
            self.linear.weight.reshape((*shape, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self):
        shown = "reduction", "ignore_index", "label_smoothing", "options"
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
        ) + ", ".join(f"{name}={getattr(self, name)}" for name in shown)
