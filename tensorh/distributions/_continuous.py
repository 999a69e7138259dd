"""Continuous distributions of numbers: Normal and its kin, by location and scale."""

import math
from math import inf, nan

import tensorh as torch

from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import _standard_normal, broadcast_all

_real, _positive = constraints.real, constraints.positive
_LOC_SCALE = {"loc": _real, "scale": _positive}


def _shape_of(given, *values):
    """The batch's shape: () where all parameters were given as numbers."""
    if all(isinstance(v, (int, float)) for v in given):
        return torch.Size()
    return values[0].size()


class _LocScale(Distribution):
    """A distribution with loc and scale, numbers or tensors that broadcast."""

    arg_constraints = _LOC_SCALE
    support = _real
    has_rsample = True
    _names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        shape = _shape_of((loc, scale), self.loc)
        super().__init__(shape, validate_args=validate_args)

    def _check(self, value):
        if self._validate_args:
            self._validate_sample(value)


class Normal(ExponentialFamily, _LocScale):
    """The normal distribution with mean loc and standard deviation scale."""

    _mean_carrier_measure = 0
    _names = ("loc", "scale")

    def __init__(self, loc, scale, validate_args=None):
        _LocScale.__init__(self, loc, scale, validate_args)

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def sample(self, sample_shape=()):
        """Draws of torch.normal."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()):
        """loc + scale times standard draws."""
        shape = self._extended_shape(sample_shape)
        return self.loc + _standard_normal(shape, self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value):
        """-(value - loc)^2 / (2 scale^2) - log scale - log sqrt(2 pi)."""
        self._check(value)
        var = self.scale**2
        return (
            -((value - self.loc) ** 2) / (2 * var)
            - self.scale.log()
            - math.log(math.sqrt(2 * math.pi))
        )

    def cdf(self, value):
        """(1 + erf((value - loc) / (scale sqrt 2))) / 2."""
        self._check(value)
        return 0.5 * (1 + torch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        """loc + scale sqrt(2) erfinv(2 value - 1)."""
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        """1/2 + log(2 pi) / 2 + log scale."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)

    @property
    def _natural_params(self):
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x, y):
        return -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y)


class Laplace(_LocScale):
    """Density exp(-|x - loc| / scale) / (2 scale)."""

    _names = ("loc", "scale")

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale.pow(2))
    stddev = property(lambda self: 2**0.5 * self.scale)

    def rsample(self, sample_shape=()):
        """By the inverse of the cdf."""
        shape = self._extended_shape(sample_shape)
        finfo = torch.finfo(self.loc.dtype)
        u = torch.empty(shape, dtype=self.loc.dtype, device=self.loc.device)
        u.uniform_(finfo.eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value):
        """-log(2 scale) - |value - loc| / scale."""
        self._check(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value):
        """From the sign and size of value - loc."""
        self._check(value)
        d = value - self.loc
        return 0.5 - 0.5 * d.sign() * torch.expm1(-d.abs() / self.scale)

    def icdf(self, value):
        """The inverse."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * torch.log1p(-2 * term.abs())

    def entropy(self):
        """1 + log(2 scale)."""
        return 1 + torch.log(2 * self.scale)


class Cauchy(_LocScale):
    """Density 1 / (pi scale (1 + ((x - loc) / scale)^2)); it has neither mean nor variance."""

    _names = ("loc", "scale")

    mode = property(lambda self: self.loc)

    @property
    def mean(self):
        """NaN: there is none."""
        return torch.full_like(self.loc, nan)

    variance = property(lambda self: torch.full_like(self.loc, inf))

    def rsample(self, sample_shape=()):
        """loc + scale times draws of the standard distribution."""
        shape = self._extended_shape(sample_shape)
        eps = torch.empty(shape, dtype=self.loc.dtype, device=self.loc.device).cauchy_()
        return self.loc + eps * self.scale

    def log_prob(self, value):
        """-log(pi) - log scale - log(1 + ((value - loc) / scale)^2)."""
        self._check(value)
        z = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (z**2).log1p()

    def cdf(self, value):
        """atan((value - loc) / scale) / pi + 1/2."""
        self._check(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        """tan(pi (value - 1/2)) scale + loc."""
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        """log(4 pi) + log scale."""
        return math.log(4 * math.pi) + self.scale.log()


class Uniform(Distribution):
    """Equal density from low to high."""

    has_rsample = True
    _names = ("low", "high")

    @property
    def arg_constraints(self):
        """Any numbers; low < high is checked apart."""
        return {"low": constraints.dependent, "high": constraints.dependent}

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(_shape_of((low, high), self.low), validate_args=validate_args)
        if self._validate_args and not torch.lt(self.low, self.high).all():
            raise ValueError("Uniform is not defined when low>= high")

    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: nan * self.high)
    stddev = property(lambda self: (self.high - self.low) / 12**0.5)
    variance = property(lambda self: (self.high - self.low).pow(2) / 12)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From low to high."""
        return constraints.interval(self.low, self.high)

    def rsample(self, sample_shape=()):
        """low + (high - low) times draws from 0 to 1."""
        shape = self._extended_shape(sample_shape)
        rand = torch.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + rand * (self.high - self.low)

    def log_prob(self, value):
        """-log(high - low) within, and -infinity outside."""
        if self._validate_args:
            self._validate_sample(value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return torch.log(inside) - torch.log(self.high - self.low)

    def cdf(self, value):
        """The share of the way from low to high."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value):
        """value (high - low) + low."""
        return value * (self.high - self.low) + self.low

    def entropy(self):
        """log(high - low)."""
        return torch.log(self.high - self.low)


class Exponential(ExponentialFamily):
    """Density rate exp(-rate x) for x >= 0."""

    arg_constraints = {"rate": _positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _names = ("rate",)

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(_shape_of((rate,), self.rate), validate_args=validate_args)

    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: torch.zeros_like(self.rate))
    variance = property(lambda self: self.rate.pow(-2))

    def rsample(self, sample_shape=()):
        """Draws of rate 1, divided by rate."""
        shape = self._extended_shape(sample_shape)
        draws = torch.empty(shape, dtype=self.rate.dtype, device=self.rate.device)
        return draws.exponential_() / self.rate

    def log_prob(self, value):
        """log rate - rate value."""
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        """1 - exp(-rate value)."""
        if self._validate_args:
            self._validate_sample(value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value):
        """-log(1 - value) / rate."""
        return -torch.log1p(-value) / self.rate

    def entropy(self):
        """1 - log rate."""
        return 1.0 - torch.log(self.rate)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -torch.log(-x)


class Gamma(ExponentialFamily):
    """Density rate^a x^(a - 1) exp(-rate x) / gamma(a), a the concentration."""

    arg_constraints = {"concentration": _positive, "rate": _positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _names = ("concentration", "rate")

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        shape = _shape_of((concentration, rate), self.concentration)
        super().__init__(shape, validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def rsample(self, sample_shape=()):
        """Standard draws, with implicit gradients, divided by rate."""
        shape = self._extended_shape(sample_shape)
        value = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=torch.finfo(value.dtype).tiny)
        return value

    def log_prob(self, value):
        """a log rate + (a - 1) log value - rate value - log gamma(a)."""
        value = torch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        xlogy = torch.xlogy
        return (
            xlogy(self.concentration, self.rate)
            + xlogy(self.concentration - 1, value)
            - self.rate * value
            - torch.lgamma(self.concentration)
        )

    def entropy(self):
        """a - log rate + log gamma(a) + (1 - a) digamma(a)."""
        a = self.concentration
        return a - torch.log(self.rate) + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return torch.lgamma(x + 1) + (x + 1) * torch.log(-y.reciprocal())

    def cdf(self, value):
        """The regularized incomplete gamma function of rate value."""
        if self._validate_args:
            self._validate_sample(value)
        return torch.special.gammainc(self.concentration, self.rate * value)


class Chi2(Gamma):
    """The sum of df squares of standard normal numbers."""

    arg_constraints = {"df": _positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With df expanded."""
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))

    df = property(lambda self: self.concentration * 2)


class StudentT(Distribution):
    """Student's distribution with df degrees of freedom, moved to loc and scaled."""

    arg_constraints = {"df": _positive, **_LOC_SCALE}
    support = _real
    has_rsample = True
    _names = ("df", "loc", "scale")

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With all parameters expanded."""
        new = super().expand(batch_shape, _instance)
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    mode = property(lambda self: self.loc)

    @property
    def mean(self):
        """loc; NaN where df <= 1."""
        return torch.where(self.df <= 1, nan, self.loc)

    @property
    def variance(self):
        """scale^2 df / (df - 2); infinite where df <= 2, NaN where df <= 1."""
        wide = self.df > 2
        df = torch.where(wide, self.df, 3.0)
        m = torch.where(wide, self.scale.pow(2) * df / (df - 2), inf)
        return torch.where(self.df <= 1, nan, m)

    def rsample(self, sample_shape=()):
        """Normal draws divided by the root of chi-squared ones over df."""
        shape = self._extended_shape(sample_shape)
        x = _standard_normal(shape, self.df.dtype, self.df.device)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * torch.rsqrt(z / self.df))

    def log_prob(self, value):
        """Of the density's formula."""
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        z = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + torch.lgamma(0.5 * self.df)
            - torch.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - z

    def entropy(self):
        """Of the density's formula."""
        lbeta = torch.lgamma(0.5 * self.df) + math.lgamma(0.5) - torch.lgamma(0.5 * (self.df + 1))
        digamma = torch.digamma
        return (
            self.scale.log()
            + 0.5 * (self.df + 1) * (digamma(0.5 * (self.df + 1)) - digamma(0.5 * self.df))
            + 0.5 * self.df.log()
            + lbeta
        )


class FisherSnedecor(Distribution):
    """The ratio of two chi-squared numbers, each over its degrees of freedom."""

    arg_constraints = {"df1": _positive, "df2": _positive}
    support = _positive
    has_rsample = True
    _names = ("df1", "df2")

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(_shape_of((df1, df2), self.df1), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With all parameters expanded."""
        new = super().expand(batch_shape, _instance)
        new._gamma1 = self._gamma1.expand(batch_shape)
        new._gamma2 = self._gamma2.expand(batch_shape)
        return new

    @property
    def mean(self):
        """df2 / (df2 - 2); NaN where df2 <= 2."""
        df2 = torch.where(self.df2 <= 2, nan, self.df2)
        return df2 / (df2 - 2)

    @property
    def mode(self):
        """(df1 - 2) / df1 df2 / (df2 + 2); NaN where df1 <= 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return torch.where(self.df1 <= 2, nan, mode)

    @property
    def variance(self):
        """Of the distribution's formula; NaN where df2 <= 4."""
        df2 = torch.where(self.df2 <= 4, nan, self.df2)
        top = 2 * df2.pow(2) * (self.df1 + df2 - 2)
        return top / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape=()):
        """The ratio of two gamma draws."""
        shape = torch.Size(sample_shape)
        x1 = self._gamma1.rsample(shape).view(self._extended_shape(shape))
        x2 = self._gamma2.rsample(shape).view(self._extended_shape(shape))
        tiny = torch.finfo(x2.dtype).tiny
        x2.detach().clamp_(min=tiny)
        y = x1 / x2
        y.detach().clamp_(min=tiny)
        return y

    def log_prob(self, value):
        """Of the density's formula."""
        if self._validate_args:
            self._validate_sample(value)
        ct1, ct2, ct3 = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        t1 = torch.lgamma(ct1 + ct2) - torch.lgamma(ct1) - torch.lgamma(ct2)
        t2 = ct1 * ct3.log() + (ct1 - 1) * torch.log(value)
        return t1 + t2 - (ct1 + ct2) * torch.log1p(ct3 * value)


class VonMises(Distribution):
    """An angle near loc: density exp(concentration cos(x - loc)) over (-pi, pi]. Draws: D. Best,
    N. Fisher, Efficient simulation of the von Mises distribution, 1979."""

    arg_constraints = {"loc": _real, "concentration": _positive}
    support = _real
    _names = ("loc", "concentration")

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self):
        """1 - I1(k) / I0(k): the circular variance."""
        special, k = torch.special, self.concentration
        return 1 - special.i1e(k) / special.i0e(k)

    def log_prob(self, value):
        """k cos(value - loc) - log(2 pi) - log I0(k)."""
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        r = k * torch.cos(value - self.loc)
        return r - math.log(2 * math.pi) - (torch.special.i0e(k).log() + k)

    def sample(self, sample_shape=()):
        """By rejection from a wrapped Cauchy distribution, in float64."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            loc, k = self.loc.double(), self.concentration.double().expand(shape)
            tau = 1 + (1 + 4 * k**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            r = torch.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))
            x, done = torch.zeros_like(k), torch.zeros(shape, dtype=torch.bool, device=k.device)
            while not done.all():
                u = torch.rand((3,) + tuple(shape), dtype=k.dtype, device=k.device)
                u1, u2, u3 = u.unbind()
                z = torch.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                taken = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = torch.where(taken & ~done, (u3 - 0.5).sign() * f.clamp(min=-1, max=1).acos(), x)
                done = done | taken
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)


class GeneralizedPareto(Distribution):
    """Density (1 + c z)^(-1 - 1 / c) / scale of z = (x - loc) / scale, c the concentration; where
    c is 0 that of Exponential."""

    arg_constraints = {**_LOC_SCALE, "concentration": _real}
    has_rsample = True
    _names = ("loc", "scale", "concentration")

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        shape = _shape_of((loc, scale, concentration), self.loc)
        super().__init__(shape, validate_args=validate_args)

    def _zero(self):
        return torch.isclose(self.concentration, torch.zeros_like(self.concentration))

    def _safe(self, zero):
        return torch.where(zero, 1.0, self.concentration)

    def rsample(self, sample_shape=()):
        """By the inverse of the cdf."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        """Of the density's formula."""
        if self._validate_args:
            self._validate_sample(value)
        z, zero = (value - self.loc) / self.scale, self._zero()
        c = self._safe(zero)
        general = -(1 / c + 1) * torch.log1p(c * z)
        return -torch.log(self.scale) + torch.where(zero, -z, general)

    def cdf(self, value):
        """1 - (1 + c z)^(-1 / c)."""
        if self._validate_args:
            self._validate_sample(value)
        z, zero = (value - self.loc) / self.scale, self._zero()
        c = self._safe(zero)
        return torch.where(zero, 1 - torch.exp(-z), 1 - torch.exp(-torch.log1p(c * z) / c))

    def icdf(self, value):
        """loc + scale ((1 - value)^-c - 1) / c."""
        zero, log1p = self._zero(), torch.log1p(-value)
        c = self._safe(zero)
        return torch.where(
            zero, self.loc - self.scale * log1p, self.loc + self.scale * torch.expm1(-c * log1p) / c
        )

    @property
    def mean(self):
        """loc + scale / (1 - c); infinite where c >= 1."""
        c = self.concentration
        return torch.where(c < 1, self.loc + self.scale / (1 - torch.where(c < 1, c, 0.0)), inf)

    @property
    def variance(self):
        """scale^2 / ((1 - c)^2 (1 - 2 c)); infinite where c >= 1/2."""
        c = self.concentration
        safe = torch.where(c < 0.5, c, 0.0)
        return torch.where(c < 0.5, self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), inf)

    mode = property(lambda self: self.loc)

    def entropy(self):
        """log scale + c + 1."""
        return torch.log(self.scale) + self.concentration + 1

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        """From loc; where c < 0, to loc - scale / c."""
        lower = self.loc
        falls = self.concentration < 0
        c = torch.where(falls, self.concentration, -1.0)
        upper = torch.where(falls, lower - self.scale / c, inf)
        return constraints.interval(lower, upper)


