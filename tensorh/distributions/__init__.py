"""torch.distributions: probability distributions with draws, densities and divergences.

They are made of torch's functions, so gradients flow through parameters, and through draws where
has_rsample is true. Shapes: sample_shape + batch_shape + event_shape."""

import sys as _sys

from . import (  # noqa: F401
    constraint_registry,
    constraints,
    distribution,
    kl,
    transforms,
    utils,
)
from ._continuous import (
    Cauchy,
    Chi2,
    Exponential,
    FisherSnedecor,
    Gamma,
    GeneralizedPareto,
    Laplace,
    Normal,
    StudentT,
    Uniform,
    VonMises,
)
from ._discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    ContinuousBernoulli,
    ExpRelaxedCategorical,  # noqa: F401
    Geometric,
    LogitRelaxedBernoulli,  # noqa: F401
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from ._multivariate import (
    Beta,
    Dirichlet,
    LKJCholesky,
    LowRankMultivariateNormal,
    MultivariateNormal,
    Wishart,
)
from ._transformed import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Independent,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogNormal,
    MixtureSameFamily,
    Pareto,
    TransformedDistribution,
    Weibull,
)
from .constraint_registry import biject_to, transform_to
from .distribution import Distribution, ExponentialFamily
from .kl import kl_divergence, register_kl
from .transforms import *  # noqa: F403

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli",
    "Dirichlet", "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
    "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT",
    "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to",
    "kl_divergence", "register_kl", "transform_to",
]  # fmt: skip
__all__.extend(transforms.__all__)

# torch's files of classes, as programs import them: from torch.distributions.normal import Normal.
_FILES = {
    "bernoulli": Bernoulli, "beta": Beta, "binomial": Binomial, "categorical": Categorical,
    "cauchy": Cauchy, "chi2": Chi2, "continuous_bernoulli": ContinuousBernoulli,
    "dirichlet": Dirichlet, "exp_family": ExponentialFamily, "exponential": Exponential,
    "fishersnedecor": FisherSnedecor, "gamma": Gamma, "generalized_pareto": GeneralizedPareto,
    "geometric": Geometric, "gumbel": Gumbel, "half_cauchy": HalfCauchy,
    "half_normal": HalfNormal, "independent": Independent, "inverse_gamma": InverseGamma,
    "kumaraswamy": Kumaraswamy, "laplace": Laplace, "lkj_cholesky": LKJCholesky,
    "log_normal": LogNormal, "logistic_normal": LogisticNormal,
    "lowrank_multivariate_normal": LowRankMultivariateNormal,
    "mixture_same_family": MixtureSameFamily, "multinomial": Multinomial,
    "multivariate_normal": MultivariateNormal, "negative_binomial": NegativeBinomial,
    "normal": Normal, "one_hot_categorical": OneHotCategorical, "pareto": Pareto,
    "poisson": Poisson, "relaxed_bernoulli": RelaxedBernoulli,
    "relaxed_categorical": RelaxedOneHotCategorical, "studentT": StudentT,
    "transformed_distribution": TransformedDistribution, "uniform": Uniform,
    "von_mises": VonMises, "weibull": Weibull, "wishart": Wishart,
}  # fmt: skip
for _name, _class in _FILES.items():
    _class.__module__ = f"{__name__}.{_name}"
    globals()[_name] = _sys.modules[_class.__module__] = _sys.modules[__name__]
del _name, _class
