"""torch.distributions.kl: Kullback-Leibler divergences, by the classes of both distributions."""

import math
from functools import total_ordering
from math import inf

import tensorh as torch

from ._continuous import (
    Cauchy,
    Exponential,
    Gamma,
    Laplace,
    Normal,
    Uniform,
)
from ._discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    ContinuousBernoulli,
    Geometric,
    OneHotCategorical,
    Poisson,
)
from ._multivariate import (
    Beta,
    Dirichlet,
    LowRankMultivariateNormal,
    MultivariateNormal,
    batch_mahalanobis,
)
from ._transformed import Gumbel, HalfNormal, Independent, Pareto, TransformedDistribution
from .distribution import ExponentialFamily
from .utils import _sum_rightmost, euler_constant

__all__ = ["kl_divergence", "register_kl"]
_registered, _found = {}, {}


def register_kl(type_p, type_q):
    """A decorator: the function computes KL(p || q) of these classes and of what derives from
    them, unless a function of nearer classes is registered."""
    if not isinstance(type_p, type):  # classes of others that act as distributions are fine
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def add(fun):
        _registered[type_p, type_q] = fun
        _found.clear()
        return fun

    return add


@total_ordering
class _Match:
    """Classes; the smaller match is the nearer one."""

    def __init__(self, *types):
        self.types = types

    def __eq__(self, other):
        return self.types == other.types

    def __le__(self, other):
        for x, y in zip(self.types, other.types, strict=True):
            if not issubclass(x, y):
                return False
            if x is not y:
                break
        return True


def _function(type_p, type_q):
    matches = [
        (p, q) for p, q in _registered if issubclass(type_p, p) and issubclass(type_q, q)
    ]
    if not matches:
        return None
    left_p, left_q = min(_Match(*m) for m in matches).types
    right_q, right_p = min(_Match(*reversed(m)) for m in matches).types
    left, right = _registered[left_p, left_q], _registered[right_p, right_q]
    if left is not right:
        import warnings

        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({left_p.__name__}, {right_q.__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return left


def kl_divergence(p, q):
    """KL(p || q), the mean under p of log p - log q, of each distribution of the batch."""
    key = type(p), type(q)
    if key not in _found:
        _found[key] = _function(*key)
    if _found[key] is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type "
            f"{q.__class__.__name__}"
        )
    return _found[key](p, q)


def _infinite(t):
    return torch.full_like(t, inf)


def _x_log_x(t):
    return torch.xlogy(t, t)


# --- one class ------------------------------------------------------------------------------------


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    softplus = torch.nn.functional.softplus
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1 = torch.where(q.probs == 0, inf, t1)
    t1 = torch.where(p.probs == 0, 0.0, t1)
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2 = torch.where(q.probs == 1, inf, t2)
    return t1 + torch.where(p.probs == 1, 0.0, t2)


@register_kl(Beta, Beta)
def _beta(p, q):
    digamma = torch.digamma
    sum_p, sum_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + sum_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + sum_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * digamma(p.concentration0)
    return t1 - t2 + t3 + t4 + (sum_q - sum_p) * digamma(sum_p)


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    kl = p.total_count * (
        p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    )
    return torch.where(p.total_count > q.total_count, inf, kl)


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t = torch.where((q.probs == 0).expand_as(t), inf, t)
    return torch.where((p.probs == 0).expand_as(t), 0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    t1 = p.mean * (p.logits - q.logits)
    t2 = p._log_norm() + torch.log1p(-p.probs)
    return t1 + t2 - (q._log_norm() + torch.log1p(-q.probs))


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    sum_p, sum_q = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = sum_p.lgamma() - sum_q.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    digamma = torch.digamma
    t3 = p.concentration - q.concentration
    t4 = digamma(p.concentration) - digamma(sum_p).unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _family(p, q):
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    from ..autograd import grad

    params = [t.detach().requires_grad_() for t in p._natural_params]
    with torch.enable_grad():
        normalizer = p._log_normalizer(*params)
        gradients = grad(normalizer.sum(), params, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for mine, theirs, g in zip(params, q._natural_params, gradients, strict=True):
        result = result - _sum_rightmost((theirs - mine) * g, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ct1, ct2, ct3 = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    t1 = -ct1.log() - ct2 + ct3
    t2 = ct1 * euler_constant
    t3 = torch.exp(ct2 + (1 + ct1).lgamma() - ct3)
    return t1 + t2 + t3 - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    t1, t2 = -ratio.log(), distance / q.scale
    return t1 + t2 + ratio * torch.exp(-distance / p.scale) - 1


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + t1 - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio, alpha = p.scale / q.scale, q.alpha / p.alpha
    result = q.alpha * ratio.log() - alpha.log() + alpha - 1
    return torch.where(p.support.lower_bound < q.support.lower_bound, inf, result)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), inf, result)


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    # F. Chyzak, F. Nielsen, A closed-form formula for the Kullback-Leibler divergence between
    # Cauchy distributions, 2019.
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return t1 - (4 * p.scale * q.scale).log()


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# --- normal vectors -------------------------------------------------------------------------------


def _check_events(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {type(q).__name__} with different event shapes cannot be "
            "computed"
        )


def _trace(a):
    """The trace of A A^T."""
    return a.pow(2).sum((-2, -1))


def _solved(factor, x):
    from .. import linalg

    shape = torch.broadcast_shapes(factor.shape[:-2], x.shape[:-2])
    return linalg.solve_triangular(
        factor.expand(shape + factor.shape[-2:]), x.expand(shape + x.shape[-2:]), upper=False
    )


def _log_det(d):
    """Half the logarithm of the covariance's determinant."""
    if isinstance(d, LowRankMultivariateNormal):
        return d._log_det() / 2
    return d._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _root(d):
    """Factors whose A A^T add up to the covariance."""
    if isinstance(d, LowRankMultivariateNormal):
        return [d._factor, torch.diag_embed(d._diag.sqrt())]
    return [d._unbroadcasted_scale_tril]


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _to_normal_vectors(p, q):
    _check_events(p, q)
    tril = q._unbroadcasted_scale_tril
    t2 = sum(_trace(_solved(tril, a)) for a in _root(p))
    t3 = batch_mahalanobis(tril, q.loc - p.loc)
    return _log_det(q) - _log_det(p) + 0.5 * (t2 + t3 - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _to_low_rank(p, q):
    _check_events(p, q)
    scaled = q._factor.mT / q._diag.unsqueeze(-2)
    a = _solved(q._capacitance_tril, scaled)  # the precision is 1 / diagonal - A^T A
    root = q._diag.rsqrt().unsqueeze(-1)
    t2 = sum(_trace(b * root) - _trace(torch.matmul(a, b)) for b in _root(p))
    diff = q.loc - p.loc
    t3 = (diff.pow(2) / q._diag).sum(-1)
    t3 = t3 - batch_mahalanobis(q._capacitance_tril, _mv(scaled, diff))
    return _log_det(q) - _log_det(p) + 0.5 * (t2 + t3 - p.event_shape[0])


def _mv(matrix, vector):
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


# --- two classes ----------------------------------------------------------------------------------


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p, q):
    mean = p.mean
    return -p.entropy() - mean * q.logits - torch.log1p(-q.probs) - q._log_norm()


@register_kl(Beta, Exponential)
def _beta_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    t1 = -p.entropy()
    t2 = q.concentration.lgamma() - q.concentration * q.rate.log()
    digamma = torch.digamma
    t3 = (q.concentration - 1) * (
        digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0)
    )
    return t1 + t2 - t3 + q.rate * p.mean


def _against_normal(p, q):
    """Of p with a mean and a variance, against a normal distribution."""
    var = q.scale.pow(2)
    return (
        -p.entropy()
        + 0.5 * (var * 2 * math.pi).log()
        + (p.variance + (p.mean - q.loc).pow(2)) / (2 * var)
    )


for _kind in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register_kl(_kind, Normal)(_against_normal)


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p, q):
    return -p.entropy() - torch.log(q.rate) + q.rate * p.mean


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    ratio = q.rate / p.rate
    t1 = -q.concentration * torch.log(ratio)
    return t1 + ratio + q.concentration.lgamma() + q.concentration * euler_constant - (
        1 + euler_constant
    )


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    product = p.rate * q.scale
    loc = q.loc / q.scale
    t1 = product.log() - 1
    t3 = torch.exp(loc) * product / (product + 1)
    return t1 + product.reciprocal() - loc + t3


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    beta = p.rate * q.scale
    loc = q.loc / q.scale
    a, digamma = p.concentration, torch.digamma
    t1 = (a - 1) * digamma(a) - a.lgamma() - a
    t2 = beta.log() + a / beta
    return t1 + t2 + torch.exp(loc) * (1 + beta.reciprocal()).pow(-a) - loc


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    mean, scale = p.loc / q.scale, (p.scale / q.scale).pow(2)
    loc = q.loc / q.scale
    t1 = -0.5 * scale.log() - (0.5 * (1 + math.log(2 * math.pi)))
    return mean - loc + torch.exp(-mean + 0.5 * scale + loc) + t1


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    diff = p.loc - q.loc
    ratio = diff / p.scale
    t1 = torch.log(q.scale)
    t2 = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * ratio.pow(2))
    t3 = diff * torch.erf(math.sqrt(0.5) * ratio)
    return -p.entropy() + math.log(2) + t1 + (t2 + t3) / q.scale


@register_kl(Pareto, Exponential)
def _pareto_exponential(p, q):
    product = p.scale * q.rate
    t1, t2 = (p.alpha / product).log(), p.alpha.reciprocal()
    t3 = p.alpha * product / (p.alpha - 1)
    return torch.where(p.alpha <= 1, inf, t1 - t2 + t3 - 1)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    common = p.scale.log() + p.alpha.reciprocal()
    t1 = p.alpha.log() - common
    t2 = q.concentration.lgamma() - q.concentration * q.rate.log()
    t3 = (1 - q.concentration) * common
    t4 = q.rate * p.alpha * p.scale / (p.alpha - 1)
    return torch.where(p.alpha <= 1, inf, t1 + t2 + t3 + t4 - 1)


@register_kl(Pareto, Normal)
def _pareto_normal(p, q):
    var = 2 * q.scale.pow(2)
    common = p.scale / (p.alpha - 1)
    t1 = (math.sqrt(2 * math.pi) * q.scale * p.alpha / p.scale).log()
    t2 = p.alpha.reciprocal()
    t3 = p.alpha * common.pow(2) / (p.alpha - 2)
    t4 = (p.alpha * common - q.loc).pow(2)
    return torch.where(p.alpha <= 2, inf, t1 - t2 + (t3 + t4) / var - 1)


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    common = p.high - p.low
    t1 = torch.log(common)
    t2 = (q.concentration1 - 1) * (_x_log_x(p.high) - _x_log_x(p.low) - common) / common
    low, high = 1 - p.low, 1 - p.high
    t3 = (q.concentration0 - 1) * (_x_log_x(high) - _x_log_x(low) + common) / common
    t4 = q.concentration1.lgamma() + q.concentration0.lgamma()
    t4 = t4 - (q.concentration1 + q.concentration0).lgamma()
    return torch.where((p.high > 1) | (p.low < 0), inf, t3 + t4 - t1 - t2)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    result = -p.entropy() - p.mean * q.logits - torch.log1p(-q.probs) - q._log_norm()
    return torch.where((p.high > 1) | (p.low < 0), inf, result)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return torch.where(p.low < 0, inf, result)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    common = p.high - p.low
    t1 = common.log()
    t2 = q.concentration.lgamma() - q.concentration * q.rate.log()
    t3 = (1 - q.concentration) * (_x_log_x(p.high) - _x_log_x(p.low) - common) / common
    t4 = q.rate * (p.high + p.low) / 2
    return torch.where(p.low < 0, inf, -t1 + t2 + t3 + t4)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    common = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    t1 = common.log() + 0.5 * (high + low)
    return t1 - common * (torch.exp(-high) - torch.exp(-low))


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    common = p.high - p.low
    t1 = (q.alpha * q.scale.pow(q.alpha) * common).log()
    t2 = (_x_log_x(p.high) - _x_log_x(p.low) - common) / common
    return torch.where(p.low < q.support.lower_bound, inf, t2 * (q.alpha + 1) - t1)


def _infinity(name):
    """Infinity of the shape of an attribute: p has values to which q gives no density."""
    return lambda p, q: _infinite(getattr(p, name))


_INFINITE = (
    (Beta, "concentration1", (Pareto,)),
    (ContinuousBernoulli, "probs", (Pareto,)),
    (Exponential, "rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, "concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, "scale", (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, "rate", (Bernoulli, Binomial)),
)
for _kind, _name, _others in _INFINITE:
    for _other in _others:
        register_kl(_kind, _other)(_infinity(_name))


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    return torch.where((q.low > 0) | (q.high < 1), inf, result)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    outside = (q.low > p.support.lower_bound) | (q.high < p.support.upper_bound)
    return torch.where(outside, inf, result)
