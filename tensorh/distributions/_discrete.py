"""Discrete distributions: Bernoulli, Categorical and their kin, and the relaxed forms of both."""

import math
from math import nan

import tensorh as torch

from .._C import Tensor
from ..nn import functional as F
from . import constraints
from ._continuous import Gamma, _shape_of
from ._transformed import _Of
from .distribution import Distribution, ExponentialFamily
from .transforms import ExpTransform, SigmoidTransform
from .utils import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)

_unit, _real, _vector = constraints.unit_interval, constraints.real, constraints.real_vector


def _given(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class _Odds(Distribution):
    """A distribution with probs, the probability of one, or logits, its log odds."""

    arg_constraints = {"probs": _unit, "logits": _real}
    _names = ("probs", "logits")

    def _set(self, probs, logits, *others):
        """Sets the one that is given, broadcast with others, which are returned."""
        _given(probs, logits)
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        values = broadcast_all(*others, given)
        setattr(self, name, values[-1])
        self._shape = _shape_of((given, *others), values[-1])
        return values[:-1]

    @lazy_property
    def logits(self):
        """Log odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _param(self):
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.logits

    @property
    def param_shape(self):
        """The shape of probs or logits."""
        return self._param.size()

    def _check(self, value):
        if self._validate_args:
            self._validate_sample(value)


class Bernoulli(ExponentialFamily, _Odds):
    """1 with probability probs, else 0."""

    arg_constraints = {"probs": _unit, "logits": _real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _names = ("probs", "logits")

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._set(probs, logits)
        Distribution.__init__(self, self._shape, validate_args=validate_args)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        """The likelier value; NaN where both are as likely."""
        mode = (self.probs >= 0.5).to(self.probs)
        return torch.where(self.probs == 0.5, nan, mode)

    def sample(self, sample_shape=()):
        """Draws of torch.bernoulli."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(shape))

    def log_prob(self, value):
        """Less the binary cross entropy."""
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        """-p log p - (1 - p) log(1 - p)."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        """0 and 1."""
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values

    @property
    def _natural_params(self):
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x):
        return torch.log1p(torch.exp(x))


class Geometric(_Odds):
    """How many trials fail before the first that succeeds with probability probs."""

    support = constraints.nonnegative_integer
    _names = ("probs", "logits")

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._set(probs, logits)
        super().__init__(self._shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape "
                f"{tuple(self.probs.shape)}) of distribution {self!r} to be positive but found "
                f"invalid values:\n{self.probs[~(self.probs > 0)]}"
            )

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: torch.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape=()):
        """By the inverse of the cdf."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            u = torch.empty(shape, dtype=self.probs.dtype, device=self.probs.device)
            u.uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        """value log(1 - p) + log p."""
        self._check(value)
        value, probs = broadcast_all(value, self.probs)
        probs = torch.where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        """The binary entropy over p."""
        cross = F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return cross / self.probs


class Binomial(_Odds):
    """How many of total_count trials succeed, each with probability probs."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, "probs": _unit, "logits": _real,
    }  # fmt: skip
    has_enumerate_support = True
    _names = ("total_count", "probs", "logits")

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        (count,) = self._set(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size() if self._shape or isinstance(total_count, Tensor)
                         else self._shape, validate_args=validate_args)  # fmt: skip

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """From 0 to total_count."""
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(
        max=self.total_count))  # fmt: skip
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        """Draws of torch.binomial."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        """log C(n, value) + value log p + (n - value) log(1 - p)."""
        self._check(value)
        log_n = torch.lgamma(self.total_count + 1)
        log_k = torch.lgamma(value + 1)
        log_rest = torch.lgamma(self.total_count - value + 1)
        # max(logits, 0), whose slope at 0 is 1/2
        positive = (self.logits.clamp(min=0) + self.logits - self.logits.clamp(max=0)) / 2
        normalizer = (
            self.total_count * positive
            + self.total_count * torch.log1p(torch.exp(-torch.abs(self.logits)))
            - log_n
        )
        return value * self.logits - log_k - log_rest - normalizer

    def entropy(self):
        """Summed over all values; all total_counts must be equal."""
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `entropy`."
            )
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        """0 to total_count, which must be the same for all."""
        n = int(self.total_count.max())
        if not self.total_count.min() == n:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        values = torch.arange(1 + n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values


class NegativeBinomial(_Odds):
    """How many trials succeed, each with probability probs, before total_count have failed."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0), "logits": _real,
    }  # fmt: skip
    support = constraints.nonnegative_integer
    _names = ("total_count", "probs", "logits")

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        (count,) = self._set(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    mean = property(lambda self: self.total_count * torch.exp(self.logits))
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(
        min=0.0))  # fmt: skip
    variance = property(lambda self: self.mean / torch.sigmoid(-self.logits))

    @lazy_property
    def _gamma(self):
        return Gamma(self.total_count, torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=()):
        """Poisson numbers with gamma rates."""
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value):
        """Of the distribution's formula."""
        self._check(value)
        n = self.total_count
        log_unnormalized = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        normalizer = -torch.lgamma(n + value) + torch.lgamma(1.0 + value) + torch.lgamma(n)
        normalizer = normalizer.masked_fill(n + value == 0.0, 0.0)
        return log_unnormalized - normalizer


class Poisson(ExponentialFamily):
    """rate^k exp(-rate) / k! of k = 0, 1, .."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _names = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(_shape_of((rate,), self.rate), validate_args=validate_args)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape=()):
        """Draws of torch.poisson."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.poisson(self.rate.expand(shape))

    def log_prob(self, value):
        """value log rate - rate - log value!."""
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return torch.xlogy(value, rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self):
        return (torch.log(self.rate),)

    def _log_normalizer(self, x):
        return torch.exp(x)


class Categorical(Distribution):
    """0 to K - 1 with probabilities probs, which are scaled to the sum 1, or by logits."""

    arg_constraints = {"probs": constraints.simplex, "logits": _vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        _given(probs, logits)
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        shape = self._param.size()[:-1] if self._param.ndimension() > 1 else ()
        super().__init__(shape, validate_args=validate_args)

    @property
    def _param(self):
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.logits

    def expand(self, batch_shape, _instance=None):
        """With the probabilities expanded."""
        new = self._get_checked_instance(Categorical, _instance)
        batch_shape = torch.Size(batch_shape)
        for name in ("probs", "logits"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand(batch_shape + (self._num_events,))
        new._num_events = self._num_events
        Distribution.__init__(new, batch_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """0 to K - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self):
        """Logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        """Probabilities."""
        return logits_to_probs(self.logits)

    param_shape = property(lambda self: self._param.size())

    def _none(self):
        return torch.full(self._extended_shape(), nan, dtype=self.probs.dtype,
                       device=self.probs.device)  # fmt: skip

    mean = variance = property(_none)
    mode = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape=()):
        """Draws of torch.multinomial."""
        sample_shape = torch.Size(sample_shape)
        with torch.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            draws = torch.multinomial(rows, sample_shape.numel(), True).T
            return draws.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        """The logarithm of the probability of each number."""
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, log_pmf = torch.broadcast_tensors(value, self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        """-sum p log p."""
        logits = self.logits.clamp(min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        """0 to K - 1."""
        values = torch.arange(self._num_events, dtype=torch.int64, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values


class OneHotCategorical(Distribution):
    """Categorical's numbers as vectors with a single 1."""

    arg_constraints = {"probs": constraints.simplex, "logits": _vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        base = self._categorical
        super().__init__(base.batch_shape, base.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With the probabilities expanded."""
        new = self._get_checked_instance(OneHotCategorical, _instance)
        batch_shape = torch.Size(batch_shape)
        new._categorical = self._categorical.expand(batch_shape)
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    _param = property(lambda self: self._categorical._param)
    mean = property(lambda self: self._categorical.probs)
    param_shape = property(lambda self: self._categorical.param_shape)
    variance = property(lambda self: self._categorical.probs * (1 - self._categorical.probs))

    def _one_hot(self, indices):
        n = self._categorical._num_events
        return F.one_hot(indices, num_classes=n).to(self._categorical._param)

    mode = property(lambda self: self._one_hot(self._categorical.mode))

    def sample(self, sample_shape=()):
        """Categorical's draws as vectors."""
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value):
        """The logarithm of the probability of the place of the 1."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        """Categorical's."""
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        """The unit vectors."""
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + self.batch_shape + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose draws have the gradients of the probabilities (Y. Bengio et al.,
    Estimating or propagating gradients through stochastic neurons, 2013)."""

    has_rsample = True

    def rsample(self, sample_shape=()):
        """Draws, plus probs less probs without gradients."""
        samples, probs = self.sample(sample_shape), self._categorical.probs
        return samples + (probs - probs.detach())


class Multinomial(Distribution):
    """How often each of K numbers comes in total_count draws of a Categorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": _vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        base = self._categorical
        super().__init__(base.batch_shape, base.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With the probabilities expanded."""
        new = self._get_checked_instance(Multinomial, _instance)
        batch_shape = torch.Size(batch_shape)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch_shape)
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        """Counts whose sum is total_count."""
        return constraints.multinomial(self.total_count)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    _param = property(lambda self: self._categorical._param)
    param_shape = property(lambda self: self._categorical.param_shape)
    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        """The counts of Categorical's draws."""
        sample_shape = torch.Size(sample_shape)
        draws = self._categorical.sample(torch.Size((self.total_count,)) + sample_shape)
        places = draws.permute(list(range(1, draws.dim())) + [0])
        counts = torch.zeros(self._extended_shape(sample_shape), dtype=self.mean.dtype,
                          device=places.device)  # fmt: skip
        return counts.scatter_add_(-1, places, torch.ones_like(places).type_as(counts))

    def entropy(self):
        """By the binomial distributions of the counts."""
        n = self.probs.new_tensor(self.total_count)
        terms = Binomial(self.total_count, self.probs).enumerate_support(expand=False)[1:]
        weights = torch.exp(
            Binomial(self.total_count, self.probs, validate_args=False).log_prob(terms)
        )
        weighted = (weights * torch.lgamma(terms + 1)).sum([0, -1])
        return self.total_count * self._categorical.entropy() - torch.lgamma(n + 1) + weighted

    def log_prob(self, value):
        """log n! - sum log value! + sum value log p."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone()
        log_n = torch.lgamma(value.sum(-1) + 1)
        log_k = torch.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -math.inf)] = 0
        return log_n - log_k + (logits * value).sum(-1)


class ContinuousBernoulli(ExponentialFamily, _Odds):
    """Between 0 and 1, with density proportional to p^x (1 - p)^(1 - x) (G. Loaiza-Ganem,
    J. Cunningham, The continuous Bernoulli, 2019). Within lims of 1/2 the formulas are Taylor's."""

    arg_constraints = {"probs": _unit, "logits": _real}
    support = _unit
    has_rsample = True
    _mean_carrier_measure = 0
    _names = ("probs", "logits")

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._set(probs, logits)
        if probs is not None:
            if validate_args is not None and not _unit.check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        Distribution.__init__(self, self._shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With the parameter expanded."""
        new = super().expand(batch_shape, _instance)
        new._lims = self._lims
        return new

    @lazy_property
    def probs(self):
        """Probabilities, away from 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside(self):
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self):
        return torch.where(self._outside(), self.probs, self._lims[0] * torch.ones_like(self.probs))

    def _log_norm(self):
        cut = self._cut()
        below = torch.where(cut <= 0.5, cut, 0.0)
        above = torch.where(cut >= 0.5, cut, 1.0)
        norm = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut))) - torch.where(
            cut <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0)
        )
        x = torch.pow(self.probs - 0.5, 2)
        taylor = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(self._outside(), norm, taylor)

    @property
    def mean(self):
        """Of the distribution's formula."""
        cut = self._cut()
        mus = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        x = self.probs - 0.5
        taylor = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x
        return torch.where(self._outside(), mus, taylor)

    stddev = property(lambda self: torch.sqrt(self.variance))

    @property
    def variance(self):
        """Of the distribution's formula."""
        cut = self._cut()
        variances = cut * (cut - 1.0) / torch.pow(1.0 - 2.0 * cut, 2) + 1.0 / torch.pow(
            torch.log1p(-cut) - torch.log(cut), 2
        )
        x = torch.pow(self.probs - 0.5, 2)
        taylor = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return torch.where(self._outside(), variances, taylor)

    def sample(self, sample_shape=()):
        """By the inverse of the cdf."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """By the inverse of the cdf."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        """Less the binary cross entropy, with the norm's logarithm."""
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        cross = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return -cross + self._log_norm()

    def cdf(self, value):
        """Of the distribution's formula."""
        self._check(value)
        cut = self._cut()
        cdfs = (
            torch.pow(cut, value) * torch.pow(1.0 - cut, 1.0 - value) + cut - 1.0
        ) / (2.0 * cut - 1.0)
        unbounded = torch.where(self._outside(), cdfs, value)
        return torch.where(value <= 0.0, 0.0, torch.where(value >= 1.0, 1.0, unbounded))

    def icdf(self, value):
        """The inverse."""
        cut = self._cut()
        inverse = (
            torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)
        ) / (torch.log(cut) - torch.log1p(-cut))
        return torch.where(self._outside(), inverse, value)

    def entropy(self):
        """Of the distribution's formula."""
        log0, log1 = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (log0 - log1) - self._log_norm() - log0

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        inside = (x <= torch.logit(torch.tensor(self._lims[0]))) | (
            x > torch.logit(torch.tensor(self._lims[1]))
        )
        cut = torch.where(inside, x, (self._lims[0] - 0.5) * torch.ones_like(x))
        norm = torch.log(torch.abs(torch.expm1(cut))) - torch.log(torch.abs(cut))
        taylor = 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0
        return torch.where(inside, norm, taylor)


# --- relaxed --------------------------------------------------------------------------------------


class LogitRelaxedBernoulli(_Odds):
    """The log odds of RelaxedBernoulli's numbers (C. Maddison et al., The concrete distribution,
    2017)."""

    support = _real
    has_rsample = True
    _names = ("probs", "logits")

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._set(probs, logits)
        super().__init__(self._shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With the parameter expanded."""
        new = super().expand(batch_shape, _instance)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape=()):
        """(logits + logistic noise) / temperature."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(torch.rand(shape, dtype=probs.dtype, device=probs.device))
        noise = u.log() - (-u).log1p() + probs.log() - (-probs).log1p()
        return noise / self.temperature

    def log_prob(self, value):
        """Of the density's formula."""
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value.mul(self.temperature)
        temperature = self.temperature
        log = temperature.log() if isinstance(temperature, Tensor) else math.log(temperature)
        return log + diff - 2 * diff.exp().log1p()


class RelaxedBernoulli(_Of):
    """Numbers between 0 and 1 that come close to Bernoulli's as temperature goes to 0."""

    arg_constraints = {"probs": _unit, "logits": _real}
    support = _unit
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)


class ExpRelaxedCategorical(Distribution):
    """The logarithms of RelaxedOneHotCategorical's vectors."""

    arg_constraints = {"probs": constraints.simplex, "logits": _vector}
    support = _vector
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical, self.temperature = Categorical(probs, logits), temperature
        base = self._categorical
        super().__init__(base.batch_shape, base.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With the probabilities expanded."""
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        batch_shape = torch.Size(batch_shape)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch_shape)
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)

    def rsample(self, sample_shape=()):
        """log softmax of (logits + Gumbel noise) / temperature."""
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(torch.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-(u.log())).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value):
        """Of the density's formula."""
        n = self._categorical._num_events
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        temperature = torch.as_tensor(self.temperature, dtype=logits.dtype)
        scale = torch.full_like(temperature, float(n)).lgamma() - temperature.log().mul(-(n - 1))
        score = logits - value.mul(self.temperature)
        score = (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1)
        return score + scale


class RelaxedOneHotCategorical(_Of):
    """Vectors of the simplex that come close to OneHotCategorical's as temperature goes to 0."""

    arg_constraints = {"probs": constraints.simplex, "logits": _vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)
