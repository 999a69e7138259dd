"""Bases that torch's built-in modules share: programs ask for them by isinstance, and derive their
own modules from them. The built-in classes come from rows, which set the same attributes."""

from ... import _C
from .loss import _Loss, _WeightedLoss  # noqa: F401
from .module import Module


class _Window(Module):
    """What has a window over images: a convolution or a pool."""


class _ConvNd(_Window):
    """Convolutions."""


class _ConvTransposeNd(_ConvNd):
    """Transposed convolutions."""


class _MaxPoolNd(_Window):
    """Pools of maxima."""


class _AvgPoolNd(_Window):
    """Pools of means."""


class _DropoutNd(Module):
    """Dropouts."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self):
        """p and inplace."""
        return f"p={self.p}, inplace={self.inplace}"


class RNNBase(Module):
    """Recurrent networks."""


class RNNCellBase(Module):
    """Cells of recurrent networks."""


class _NormBase(Module):
    """Normalization with weights and running statistics."""

    _version = 2

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True,
                 device=None, dtype=None, *, bias=True):  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = _C.Parameter(_C.empty(num_features, **options)) if wanted else None
            self.register_parameter(name, made)
        tracked = track_running_stats
        self.register_buffer("running_mean", _C.zeros(num_features, **options) if tracked else None)
        self.register_buffer("running_var", _C.ones(num_features, **options) if tracked else None)
        count = _C.tensor(0, dtype=_C.int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self):
        """Forgets the mean and variance of the batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Weights of 1, biases of 0, no statistics."""
        self.reset_running_stats()
        with _C.no_grad():
            if self.weight is not None:
                self.weight.fill_(1)
            if self.bias is not None:
                self.bias.zero_()

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        """The options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    """Batch normalization of images whose shapes _check_input_dim accepts."""

    def forward(self, input):
        """The input, normalized over all but its channels."""
        from .. import functional

        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        kept = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if kept else None,
            self.running_var if kept else None,
            self.weight,
            self.bias,
            self.training or (self.running_mean is None and self.running_var is None),
            factor,
            self.eps,
        )


class _InstanceNorm(_NormBase):
    """Instance normalization of images whose shapes _check_input_dim accepts."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False,
                 track_running_stats=False, device=None, dtype=None, *, bias=True):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)  # fmt: skip

    def forward(self, input):
        """The input, each channel of each sample normalized."""
        from .. import functional

        self._check_input_dim(input)
        return functional.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )


_WEIGHTED = "CrossEntropyLoss NLLLoss BCELoss MultiLabelSoftMarginLoss MultiMarginLoss".split()


def base_of(name):
    """The class from which a built-in one derives."""
    if name.endswith("Loss"):
        return _WeightedLoss if name in _WEIGHTED else _Loss
    if name in ("RNN", "LSTM", "GRU"):
        return RNNBase
    if name in ("RNNCell", "LSTMCell", "GRUCell"):
        return RNNCellBase
    kind = name[:-2] if name[-2:] in ("1d", "2d", "3d") else name
    if kind.endswith("Dropout"):
        return _DropoutNd
    bases = {
        "Conv": _ConvNd, "ConvTranspose": _ConvTransposeNd, "BatchNorm": _BatchNorm,
        "InstanceNorm": _InstanceNorm, "MaxPool": _MaxPoolNd, "AvgPool": _AvgPoolNd,
    }  # fmt: skip
    return bases.get(kind, Module)
