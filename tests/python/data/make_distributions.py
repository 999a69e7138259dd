"""Writes distributions.json: what torch.distributions gives, for test_distributions.py.

    python tests/python/data/make_distributions.py        needs torch

results(torch) is asked of both packages. Numbers are float64; a refusal is its class's name.
"""

import json
import os
import warnings


def cases(T):
    """name: (a distribution, values of it)."""
    D = T.distributions

    def f(*v):
        return T.tensor(v, dtype=T.float64)

    a, b, unit = f(0.5, 1.5, 3.0), f(2.0, 0.7, 4.0), f(0.1, 0.5, 0.8)
    simplex = f(0.2, 0.3, 0.5)
    matrix = T.tensor([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.5]], dtype=T.float64)
    tril = T.tensor([[1.2, 0, 0], [0.3, 0.9, 0], [-0.4, 0.2, 1.1]], dtype=T.float64)
    corr = T.tensor([[1.0, 0, 0], [0.6, 0.8, 0], [0.0, 0.6, 0.8]], dtype=T.float64)
    return {
        "normal": (D.Normal(a, b), f(-1.0, 0.3, 5.0)),
        "laplace": (D.Laplace(a, b), f(-1.0, 0.3, 5.0)),
        "cauchy": (D.Cauchy(a, b), f(-1.0, 0.3, 5.0)),
        "uniform": (D.Uniform(a, a + b), f(0.7, 1.6, 5.0)),
        "exponential": (D.Exponential(a), f(0.0, 0.3, 5.0)),
        "gamma": (D.Gamma(a, b), f(0.1, 0.3, 5.0)),
        "chi2": (D.Chi2(a), f(0.1, 0.3, 5.0)),
        "student": (D.StudentT(a + 2, f(0.1, 0.2, 0.3), b), f(-1.0, 0.3, 5.0)),
        "snedecor": (D.FisherSnedecor(a + 4, b + 4), f(0.1, 0.3, 5.0)),
        "von_mises": (D.VonMises(a, b), f(-1.0, 0.3, 2.0)),
        "generalized_pareto": (  # torch's fails in float64
            D.GeneralizedPareto(a.float(), b.float(), f(0.2, 0.3, -0.1).float()),
            f(0.7, 1.6, 5.0).float(),
        ),
        "beta": (D.Beta(a, b), unit),
        "dirichlet": (D.Dirichlet(T.stack([a, b])), T.stack([simplex, simplex])),
        "log_normal": (D.LogNormal(a, b), f(0.1, 0.3, 5.0)),
        "gumbel": (D.Gumbel(a, b), f(-1.0, 0.3, 5.0)),
        "half_normal": (D.HalfNormal(b), f(0.1, 0.3, 5.0)),
        "half_cauchy": (D.HalfCauchy(b), f(0.1, 0.3, 5.0)),
        "pareto": (D.Pareto(a, b), f(0.7, 1.6, 5.0)),
        "weibull": (D.Weibull(a, b), f(0.1, 0.3, 5.0)),
        "kumaraswamy": (D.Kumaraswamy(a, b), unit),
        "inverse_gamma": (D.InverseGamma(a + 2, b), f(0.1, 0.3, 5.0)),
        "logistic_normal": (D.LogisticNormal(a[:2], b[:2]), simplex),
        "bernoulli": (D.Bernoulli(unit), f(0, 1, 1)),
        "bernoulli_logits": (D.Bernoulli(logits=a - 1), f(0, 1, 1)),
        "geometric": (D.Geometric(unit), f(0, 2, 5)),
        "binomial": (D.Binomial(5, unit), f(0, 2, 5)),
        "negative_binomial": (D.NegativeBinomial(f(1, 2, 5), unit), f(0, 2, 5)),
        "poisson": (D.Poisson(a), f(0, 2, 5)),
        "categorical": (D.Categorical(T.stack([a, b])), f(0, 2)),
        "categorical_logits": (D.Categorical(logits=T.stack([a, b])), f(0, 2)),
        "one_hot": (D.OneHotCategorical(a), f(0, 0, 1)),
        "multinomial": (D.Multinomial(4, a), f(1, 0, 3)),
        "continuous_bernoulli": (D.ContinuousBernoulli(unit), f(0.2, 0.4, 0.9)),
        "relaxed_bernoulli": (D.RelaxedBernoulli(f(0.7), unit), f(0.2, 0.4, 0.9)),
        "relaxed_one_hot": (D.RelaxedOneHotCategorical(f(0.7), a), simplex),
        "normal_vectors": (D.MultivariateNormal(a, matrix), T.stack([a * 0, b])),
        "normal_vectors_precision": (D.MultivariateNormal(a, precision_matrix=matrix), b),
        "normal_vectors_tril": (D.MultivariateNormal(T.stack([a, b]), scale_tril=tril), b),
        "low_rank": (D.LowRankMultivariateNormal(a, matrix[:, :2], b), T.stack([a * 0, b])),
        "wishart": (D.Wishart(f(4.0)[0], covariance_matrix=matrix), matrix + T.eye(3).double()),
        "lkj": (D.LKJCholesky(3, 1.5), corr.float()),
        "independent": (D.Independent(D.Normal(T.stack([a, b]), b), 1), T.stack([b, a])),
        "transformed": (
            D.TransformedDistribution(D.Normal(a, b), [
                D.transforms.TanhTransform(), D.transforms.AffineTransform(1.0, -2.0),
            ]), f(-0.3, 0.3, 2.0),
        ),
        "mixture": (D.MixtureSameFamily(D.Categorical(simplex), D.Normal(a, b)), f(-1.0, 0.3)),
    }  # fmt: skip


# What draws the same numbers as torch for a seed.
DRAWN = (
    "normal", "laplace", "uniform", "log_normal", "gumbel", "half_normal", "kumaraswamy",
    "bernoulli", "geometric", "continuous_bernoulli", "relaxed_bernoulli", "relaxed_one_hot",
    "normal_vectors", "low_rank", "independent", "transformed", "exponential", "pareto",
    "generalized_pareto", "logistic_normal", "categorical", "categorical_logits", "one_hot",
    "multinomial",
)  # fmt: skip


def shown(x):
    """As JSON has it."""
    if isinstance(x, bool) or x is None or isinstance(x, (str, int)):
        return x
    if isinstance(x, (list, tuple)):
        return [shown(v) for v in x]
    x = x.detach()
    if x.dtype.is_floating_point:
        return [list(x.shape), [repr(v) for v in x.double().reshape(-1).tolist()]]
    return [list(x.shape), x.reshape(-1).tolist()]


def asked(f):
    try:
        return shown(f())
    except (NotImplementedError, ValueError, RuntimeError, AttributeError) as e:
        return type(e).__name__


def gradients(T, make, value):
    """Of log_prob and of the value itself."""
    value = value.clone().requires_grad_()
    (g,) = T.autograd.grad(make().log_prob(value).sum(), value)
    return g


def expanded(d, value):
    return d.expand((2,) + tuple(d.batch_shape)).log_prob(value)


def results(T):
    """All that is compared."""
    warnings.simplefilter("ignore")
    D, found = T.distributions, {}
    made = cases(T)
    for name, (d, value) in made.items():
        one = found[name] = {
            "log_prob": asked(lambda d=d, v=value: d.log_prob(v)),
            "cdf": asked(lambda d=d, v=value: d.cdf(v)),
            "entropy": asked(lambda d=d: d.entropy()),
            "mean": asked(lambda d=d: d.mean),
            "mode": asked(lambda d=d: d.mode),
            "variance": asked(lambda d=d: d.variance),
            "stddev": asked(lambda d=d: d.stddev),
            "shapes": shown([list(d.batch_shape), list(d.event_shape)]),
            "support": asked(lambda d=d, v=value: d.support.check(v)),
            "repr": repr(d), "rsample": d.has_rsample,
            "discrete": asked(lambda d=d: d.support.is_discrete),
            "enumerated": asked(lambda d=d: d.enumerate_support()),
            "expanded": asked(lambda d=d, v=value: expanded(d, v)),
        }  # fmt: skip
        if not one["discrete"]:
            one["gradient"] = asked(lambda d=d, v=value: gradients(T, lambda: d, v))
        quantiles = T.full(d.batch_shape + d.event_shape, 0.3, dtype=T.float64)
        one["icdf"] = asked(lambda d=d, q=quantiles: d.icdf(q))
        if name in DRAWN:
            T.manual_seed(11)
            one["draws"] = asked(lambda d=d: d.sample((2,)))
    found["kl"] = {}
    for p, (one, _) in made.items():
        for q, (other, _) in made.items():
            r = asked(lambda a=one, b=other: D.kl_divergence(a, b))
            if r != "NotImplementedError":
                found["kl"][f"{p} {q}"] = r
    found["transforms"] = transforms(T)
    return found


def transforms(T):
    """Both directions and the slope of each transform, and those of the registries."""
    D = T.distributions
    t, c = D.transforms, D.constraints

    def f(*v):
        return T.tensor(v, dtype=T.float64)

    x, square = f(-1.2, 0.3, 0.9), f(*range(9)).reshape(3, 3) / 9
    many = {
        "exp": (t.ExpTransform(), x), "sigmoid": (t.SigmoidTransform(), x),
        "tanh": (t.TanhTransform(), x), "softplus": (t.SoftplusTransform(), x),
        "power": (t.PowerTransform(f(2.5)), x.abs()), "abs": (t.AbsTransform(), x),
        "affine": (t.AffineTransform(1.0, -2.0), x),
        "affine_event": (t.AffineTransform(x, f(2.0, -3.0, 0.5), event_dim=1), x),
        "compose": (t.ComposeTransform([t.ExpTransform(), t.AffineTransform(1.0, 3.0)]), x),
        "inverse": (t.ExpTransform().inv, x.abs()),
        "independent": (t.IndependentTransform(t.ExpTransform(), 1), x),
        "reshape": (t.ReshapeTransform((3,), (3, 1)), x),
        "softmax": (t.SoftmaxTransform(), x), "stick": (t.StickBreakingTransform(), x),
        "cholesky": (t.LowerCholeskyTransform(), square),
        "definite": (t.PositiveDefiniteTransform(), square),
        "corr": (t.CorrCholeskyTransform(), x),
        "cat": (t.CatTransform([t.ExpTransform(), t.TanhTransform()], 0, [1, 2]), x),
        "stack": (t.StackTransform([t.ExpTransform(), t.TanhTransform(), t.AbsTransform()]), x),
        "cdf": (t.CumulativeDistributionTransform(D.Normal(x, 2.0)), x),
    }
    for i, k in enumerate((
        c.real, c.positive, c.greater_than(1.0), c.less_than(2.0), c.interval(-1.0, 2.0),
        c.unit_interval, c.simplex, c.corr_cholesky, c.independent(c.positive, 1),
    )):  # fmt: skip
        many[f"biject{i}"], many[f"to{i}"] = (D.biject_to(k), x), (D.transform_to(k), x)
    found = {}
    for name, (one, x) in many.items():
        y = one(x)
        found[name] = {
            "y": shown(y), "x": asked(lambda one=one, y=y: one.inv(y)),
            "slope": asked(lambda one=one, x=x, y=y: one.log_abs_det_jacobian(x, y)),
            "shapes": [asked(lambda one=one, x=x: list(one.forward_shape(x.shape))),
                       asked(lambda one=one, y=y: list(one.inverse_shape(y.shape)))],
            "bijective": one.bijective, "sign": asked(lambda one=one: one.sign),
            "codomain": asked(lambda one=one, y=y: one.codomain.check(y)),
            "domain": asked(lambda one=one: repr(one.domain)),
        }  # fmt: skip
    return found


if __name__ == "__main__":
    import torch

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "distributions.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"torch": torch.__version__.split("+")[0]} | results(torch), file, indent=0)
        file.write("\n")
