"""torch.nn.modules.adaptive: softmax over many classes, of which most are rare."""

from collections import namedtuple
from itertools import pairwise

from ... import _C
from . import __getattr__ as _class
from .container import ModuleList, Sequential
from .module import Module

_Output = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-softmax of many classes, the frequent ones first (Grave et al. 2017, Efficient
    softmax approximation for GPUs): the head knows those below the first cutoff and clusters of
    the others, and each cluster's tail, which is smaller by div_value, the classes in it."""

    def __init__(
        self,
        in_features,
        n_classes,
        cutoffs,
        div_value=4.0,
        head_bias=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        limits = [0, *cutoffs, n_classes]
        if any(int(c) != c for c in cutoffs) or any(a >= b for a, b in pairwise(limits)):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                "order, where each value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        Linear, made = _class("Linear"), {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            width = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, **made),
                    Linear(width, high - low, bias=False, **made),
                )
            )

    def reset_parameters(self):
        """Draws initial values again."""
        self.head.reset_parameters()
        for narrow, wide in self.tail:
            narrow.reset_parameters()
            wide.reset_parameters()

    def forward(self, input_, target_):
        """(log-probability of each sample's class, the mean of its negative)."""
        if target_.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target_.dim() == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != target_.dim() + 1:
            raise RuntimeError(
                f"{target_.dim()}D target tensor expects {target_.dim() + 1}D input tensors, but "
                f"found inputs with size {input_.size()}"
            )
        if target_.dim() == 0:
            output, loss = self(input_.unsqueeze(0), target_.unsqueeze(0))
            return _Output(output.squeeze(0), loss)
        output = self._log_prob_of(input_, target_)
        return _Output(output, (-output).mean())

    def _log_prob_of(self, input, target):
        if ((target < 0) | (target >= self.n_classes)).any():
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        cluster = sum((target >= c).long() for c in self.cutoffs[:-1])  # 0: the head's own
        column = _C.where(cluster == 0, target, self.shortlist_size - 1 + cluster)
        head = _C.log_softmax(self.head(input), 1)
        output = head.gather(1, column.unsqueeze(1)).squeeze(1)
        for i, tail in enumerate(self.tail):
            rows = (cluster == i + 1).nonzero().squeeze(1)
            if rows.numel():
                at = (target[rows] - self.cutoffs[i]).unsqueeze(1)
                part = _C.log_softmax(tail(input.index_select(0, rows)), 1).gather(1, at)
                output = output.index_add(0, rows, part.squeeze(1))
        return output

    def _log_prob(self, input, head):
        head, size = _C.log_softmax(head, 1), self.shortlist_size
        parts = [head[:, :size]]
        for i, tail in enumerate(self.tail):
            parts.append(_C.log_softmax(tail(input), 1) + head[:, size + i : size + i + 1])
        return _C.cat(parts, 1)

    def log_prob(self, input):
        """The log-probabilities of all classes."""
        return self._log_prob(input, self.head(input))

    def predict(self, input):
        """The likeliest class of each sample."""
        head = self.head(input)
        output = head.argmax(1)
        rows = (output >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel():
            output[rows] = self._log_prob(input[rows], head[rows]).argmax(1)
        return output
