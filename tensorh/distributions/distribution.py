"""torch.distributions.distribution: the base of all distributions."""

import warnings

import tensorh as torch

from .._C import Tensor
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution", "ExponentialFamily"]


class Distribution:
    """Independent events of event_shape, batch_shape of them with parameters of their own.

    validate_args: whether parameters, and values whose log_prob is asked for, are checked; None:
    as set_default_validate_args says.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions that are made from now on check their arguments."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_arguments()

    def _check_arguments(self):
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set "
                "`arg_constraints = {}` or initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=4,
            )
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            of = next((vars(c)[name] for c in type(self).__mro__ if name in vars(c)), None)
            if name not in self.__dict__ and isinstance(of, lazy_property):
                continue  # computed of others, which are checked
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    _names = None  # of a class whose expand expands these attributes

    def expand(self, batch_shape, _instance=None):
        """The distribution with parameters expanded to another batch_shape."""
        owner = next((c for c in type(self).__mro__ if "_names" in vars(c)), Distribution)
        if owner._names is None:
            raise NotImplementedError
        return self._expanded(owner, batch_shape, _instance, *owner._names)

    @property
    def batch_shape(self):
        """The shape over which parameters are given."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one event."""
        return self._event_shape

    @property
    def arg_constraints(self):
        """By name, what each parameter may be."""
        raise NotImplementedError

    @property
    def support(self):
        """What values may be."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The value of the largest density."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape=()):
        """Draws of shape sample_shape + batch_shape + event_shape, without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """The same by a function of the parameters, through which gradients flow."""
        raise NotImplementedError

    def sample_n(self, n):
        """sample((n,)); deprecated by torch."""
        warnings.warn(
            "sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2
        )
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, of each event of value."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of no more than value."""
        raise NotImplementedError

    def icdf(self, value):
        """The value below which lies that much probability."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self):
        """The entropy of each distribution of the batch, in nats."""
        raise NotImplementedError

    def perplexity(self):
        """exp(entropy)."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=()):
        return torch.Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value):
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        begin = value.dim() - len(self._event_shape)
        if begin < 0 or tuple(value.shape[begin:]) != tuple(self._event_shape):
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        pairs = zip(reversed(value.shape), reversed(expected), strict=False)
        for i, j in pairs:
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.shape} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls, _instance=None):
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(self, cls, batch_shape, _instance, *names):
        """What expand returns: the same class with the attributes `names` expanded."""
        new = self._get_checked_instance(cls, _instance)
        batch_shape = torch.Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                value = self.__dict__[name]
                own = value.dim() - len(self._batch_shape)
                shape = batch_shape + (value.shape[-own:] if own else ())
                new.__dict__[name] = value.expand(shape)
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def __repr__(self):
        names = [k for k in self.arg_constraints if k in self.__dict__]
        args = (
            f"{k}: {v if v.numel() == 1 else v.size()}"
            for k, v in ((k, self.__dict__[k]) for k in names)
        )
        return f"{self.__class__.__name__}({', '.join(args)})"


class ExponentialFamily(Distribution):
    """Distributions with natural parameters: the entropy follows from the gradient of the log
    normalizer (F. Nielsen, R. Nock, Entropies and cross-entropies of exponential families,
    2010)."""

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        """By Bregman divergences of the log normalizer."""
        from ..autograd import grad

        params = [p.detach().requires_grad_() for p in self._natural_params]
        with torch.enable_grad():
            normalizer = self._log_normalizer(*params)
            gradients = grad(normalizer.sum(), params, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for p, g in zip(params, gradients, strict=True):
            n = len(self.event_shape)
            part = p * g
            result = result - (part.reshape(self._batch_shape + (-1,)).sum(-1) if n else part)
        return result
