"""Transforms of parts of a tensor, side by side or stacked."""

import tensorh as torch

from . import constraints
from .transforms import Transform
from .utils import _sum_rightmost


class _Parts(Transform):
    """Transforms of parts of a tensor along dim."""

    def _checked(self, tseq):
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        return [t.with_cache(self._cache_size) for t in tseq] if self._cache_size else list(tseq)

    bijective = property(lambda self: all(t.bijective for t in self.transforms))


class CatTransform(_Parts):
    """Transforms of parts that lie side by side along dim, with these lengths."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.transforms, self.dim = self._checked(tseq), dim
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError("lengths and tseq must have the same number of elements")

    event_dim = property(lambda self: max(t.event_dim for t in self.transforms))
    length = property(lambda self: sum(self.lengths))

    def with_cache(self, cache_size=1):
        """The same with that cache."""
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _split(self, x):
        if not -x.dim() <= self.dim < x.dim() or x.size(self.dim) != self.length:
            raise AssertionError(f"expected size {self.length} in dim {self.dim}, got {x.shape}")
        return x.split(self.lengths, self.dim)

    def _call(self, x):
        parts = zip(self.transforms, self._split(x), strict=True)
        return torch.cat([t(v) for t, v in parts], self.dim)

    def _inverse(self, y):
        parts = zip(self.transforms, self._split(y), strict=True)
        return torch.cat([t.inv(v) for t, v in parts], self.dim)

    def log_abs_det_jacobian(self, x, y):
        """Of the parts, side by side; summed where dim is one of an event."""
        logs = []
        for t, a, b in zip(self.transforms, self._split(x), self._split(y), strict=True):
            log = t.log_abs_det_jacobian(a, b)
            if t.event_dim < self.event_dim:
                log = _sum_rightmost(log, self.event_dim - t.event_dim)
            logs.append(log)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return torch.cat(logs, dim) if dim < 0 else sum(logs)

    domain = property(
        lambda self: constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)
    )
    codomain = property(
        lambda self: constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)
    )


class StackTransform(_Parts):
    """Transforms of the slices along dim."""

    def __init__(self, tseq, dim=0, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.transforms, self.dim = self._checked(tseq), dim

    def with_cache(self, cache_size=1):
        """The same with that cache."""
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, x):
        if not -x.dim() <= self.dim < x.dim() or x.size(self.dim) != len(self.transforms):
            raise AssertionError(
                f"expected size {len(self.transforms)} in dim {self.dim}, got {x.shape}"
            )
        return x.unbind(self.dim)

    def _call(self, x):
        parts = zip(self.transforms, self._slices(x), strict=True)
        return torch.stack([t(v) for t, v in parts], self.dim)

    def _inverse(self, y):
        parts = zip(self.transforms, self._slices(y), strict=True)
        return torch.stack([t.inv(v) for t, v in parts], self.dim)

    def log_abs_det_jacobian(self, x, y):
        """Of the slices, stacked."""
        parts = zip(self.transforms, self._slices(x), self._slices(y), strict=True)
        return torch.stack([t.log_abs_det_jacobian(a, b) for t, a, b in parts], self.dim)

    domain = property(lambda self: constraints.stack([t.domain for t in self.transforms], self.dim))
    codomain = property(
        lambda self: constraints.stack([t.codomain for t in self.transforms], self.dim)
    )
