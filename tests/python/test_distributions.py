"""torch.distributions beside what torch gave (data/make_distributions.py), and its refusals."""

import json
import math
import pathlib
import sys

import pytest

import tensorh as torch

DATA = pathlib.Path(__file__).with_name("data")
sys.path.insert(0, str(DATA))
import make_distributions  # noqa: E402

WANTED = json.loads((DATA / "distributions.json").read_text())
D, constraints = torch.distributions, torch.distributions.constraints
# Functions that a method may ask for and that are planned.
PLANNED = [n for n in ("digamma", "erfinv", "mvlgamma", "special.i0e", "special.gammainc")
           if not hasattr(torch.special if "." in n else torch, n.rpartition(".")[2])]  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return json.loads(json.dumps(make_distributions.results(torch)))


def _number(x):
    try:
        return float(x) if isinstance(x, str) else None
    except ValueError:
        return None


def _same(x, y, near=1e-7):
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(_same(a, b, near) for a, b in zip(x, y, strict=True))
    a, b = _number(x), _number(y)
    if a is None or b is None:
        return x == y
    return a == b or (a != a and b != b) or abs(a - b) <= near * max(abs(a), abs(b), 1e-3)


def _differences(wanted, found, near=1e-7):
    for name in wanted.keys() | found.keys():
        if name not in wanted or name not in found:
            yield f"{name}: only in {'torch' if name in wanted else 'tensorh'}"
        elif found[name] == "AttributeError" and PLANNED:
            continue
        elif not _same(wanted[name], found[name], near):
            yield f"{name}: torch {wanted[name]}, tensorh {found[name]}"


@pytest.mark.parametrize("name", [n for n in WANTED if n not in ("torch", "kl", "transforms")])
def test_a_distribution(found, name):
    near = 1e-5 if name in ("generalized_pareto", "lkj") else 1e-7  # the two in float32
    near = 1e-6 if name == "von_mises" else near  # torch's Bessel functions there are approximate
    assert list(_differences(WANTED[name], found[name], near)) == []


def test_divergences(found):
    assert list(_differences(WANTED["kl"], found["kl"])) == []


@pytest.mark.parametrize("name", WANTED["transforms"])
def test_a_transform(found, name):
    assert list(_differences(WANTED["transforms"][name], found["transforms"][name])) == []


def test_gradients_flow_through_draws():
    loc, scale = torch.tensor(0.5, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    torch.manual_seed(0)
    x = D.Normal(loc, scale).rsample((1000,))
    x.sum().backward()
    noise = (x.detach() - 0.5) / 2
    assert loc.grad == 1000 and torch.isclose(scale.grad, noise.sum(), rtol=1e-5)
    assert not D.Normal(loc, scale).sample().requires_grad


def test_draws_have_the_mean_and_variance():
    torch.manual_seed(3)
    for d in (
        D.Laplace(1.0, 2.0), D.Uniform(-1.0, 3.0), D.Gumbel(0.5, 1.5), D.Bernoulli(0.3),
        D.Geometric(0.4), D.Kumaraswamy(2.0, 3.0), D.Pareto(1.0, 6.0), D.Weibull(2.0, 1.5),
        D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2)),
    ):  # fmt: skip
        x = d.sample((40000,))
        bound = 6 * d.stddev / math.sqrt(40000)
        assert ((x.mean(0) - d.mean).abs() <= bound).all(), d
        assert ((x.var(0) / d.variance - 1).abs() <= 0.2).all(), d


def test_draws_of_gamma_numbers_and_their_kin_are_torch_s():
    t = torch.tensor
    draws = {
        D.Gamma(t([2.0, 0.5]), t([3.0, 1.0])): [
            0.4947490692138672, 0.2638314664363861, 0.7702956795692444, 0.03130996599793434
        ],
        D.Beta(t(2.0), t(3.0)): [0.2626194655895233, 0.7723865509033203],
        D.Dirichlet(t([1.0, 2, 3])): [
            0.05568761005997658, 0.2917376756668091, 0.6525747179985046, 0.06138079613447189,
            0.6667504906654358, 0.27186867594718933,
        ],
        D.Poisson(t([4.0, 40.0])): [6, 41, 2, 33],
        D.StudentT(t(4.0)): [-0.11583143472671509, 1.4325748682022095],
        D.Binomial(20, t([0.3, 0.9])): [9, 20, 2, 19],
        D.NegativeBinomial(5.0, t(0.3)): [3, 2],
        D.Chi2(t(3.0)): [2.0303685665130615, 4.476923942565918],
    }  # fmt: skip
    for distribution, wanted in draws.items():
        torch.manual_seed(7)
        assert distribution.sample((2,)).reshape(-1).tolist() == pytest.approx(wanted, rel=1e-6)


def moved(make, *parameters):
    """The gradients in the parameters of a weighted sum of two draws."""
    leaves = [torch.tensor(p, dtype=torch.float64, requires_grad=True) for p in parameters]
    torch.manual_seed(3)
    x = make(*leaves).rsample((2,))
    weights = torch.arange(1, x.numel() + 1, dtype=torch.float64).reshape(x.shape)
    return [g.tolist() for g in torch.autograd.grad((x * weights).sum(), leaves)]


def test_draws_of_gamma_numbers_and_their_kin_carry_torch_s_gradients():
    # made by the same calls of torch 2.15, whose gradients have 3 digits and more
    wanted = {
        (D.Gamma, (0.5, 4.0), (1.0, 2.0)): [
            [4.29364249581138, 3.9664667839233263], [-1.4608072055717363, -9.915580505863812]
        ],
        (D.Beta, (0.5, 4.0), (1.0, 2.0)): [
            [1.3725462975348037, 0.31279721882798245], [-0.34238052523174023, -0.74936857757873]
        ],
        (D.Dirichlet, (0.5, 4.0, 2.0)): [
            [-0.3990432864750292, -0.07007199604190338, 0.2209984276047627]
        ],
        (D.Chi2, (3.0, 9.0)): [[4.369154529064282, 4.73570132751301]],
        (D.StudentT, (3.0, 9.0)): [[-0.22135158455745496, -0.0316329048269269]],
        (D.FisherSnedecor, (3.0, 9.0), (4.0, 2.0)): [
            [0.2497211894939504, 0.11244966541087442], [-3.1033976356989026, -0.11373188753481567]
        ],
        (D.InverseGamma, (3.0, 9.0), (4.0, 2.0)): [
            [-1.8932245598159168, -0.2730251552695322], [1.3315725440136335, 0.9823437838973945]
        ],
    }  # fmt: skip
    for (make, *parameters), gradients in wanted.items():
        for got, known in zip(moved(make, *parameters), gradients, strict=True):
            assert got == pytest.approx(known, rel=1e-3), make


def test_moves_of_draws_have_the_digits_of_mpmath():
    # -(dF / da) / f with 40 digits, by mpmath
    gamma = [
        (0.001, 1e-30, 6.850198085801108e-26), (0.3, 0.01, 0.14920695356145888),
        (0.5, 3.0, 2.9129424164403646), (1.0, 1.0, 1.1735630272247268),
        (2.0, 0.5, 0.4980267179922236), (7.5, 12.0, 1.2814150454308808),
        (63.0, 70.0, 1.056396053462455), (64.0, 64.0, 1.0026081991371523),
        (500.0, 480.0, 0.9800544901961619), (90.0, 40.0, 0.6499205256916258),
        (90.0, 150.0, 1.279411807568437), (100000.0, 100300.0, 1.001500171411301),
    ]  # fmt: skip
    beta = [
        (0.3, 0.5, 1.5, 1.0319766894222309), (0.9, 0.5, 0.75, 3.2848093477708984),
        (0.999, 5.0, 5.01, 0.22096478969769465), (0.5, 2.0, 2.01, 0.431074410884206),
        (0.25, 0.01, 20.0, 4.53604424103721), (0.6, 30.0, 50.0, 0.02024627480860128),
        (0.98, 1000.0, 1020.0, 0.0009806798703257864), (0.97, 1.0, 2.0, 0.9848477086722429),
        (0.002, 3.0, 2000.0, 0.0006083567646514384), (0.5, 3000.0, 6000.0, 0.0001666851864196943),
    ]  # fmt: skip
    for points, move in ((gamma, torch._standard_gamma_grad), (beta, torch._dirichlet_grad)):
        *columns, known = torch.tensor(points, dtype=torch.float64).unbind(1)
        assert move(*columns).tolist() == pytest.approx(known.tolist(), rel=1e-14)
        got = move(*(c.float() for c in columns))
        assert got.dtype == torch.float32
    nan = [torch._standard_gamma_grad(torch.tensor(a), torch.tensor(x)).isnan().item()
           for a, x in ((0.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, math.nan))]  # fmt: skip
    assert nan == [True] * 4
    assert torch._standard_gamma_grad(torch.tensor(2.0), torch.tensor(0.0)).item() == 0
    one = torch.tensor([3.0], requires_grad=True)  # a row of one number is 1
    D.Dirichlet(one).rsample().sum().backward()
    assert one.grad.abs().item() < 1e-6


def test_second_derivatives_of_gamma_draws_are_refused():
    a = torch.tensor([2.0, 3.0], requires_grad=True)
    (g,) = torch.autograd.grad(torch._standard_gamma(a).sum(), a, create_graph=True)
    with pytest.raises(NotImplementedError, match="derivative for '_standard_gamma_grad'"):
        g.sum().backward()


def test_wrong_arguments_are_refused():
    for make, words in (
        (lambda: D.Normal(0.0, -1.0), "Expected parameter scale .* GreaterThan"),
        (lambda: D.Uniform(1.0, 1.0), "not defined when low>= high"),
        (lambda: D.Bernoulli(), "Either `probs` or `logits`"),
        (lambda: D.Bernoulli(torch.tensor(0.1), torch.tensor(0.1)), "Either `probs` or `logits`"),
        (lambda: D.Categorical(torch.tensor(0.3)), "at least one-dimensional"),
        (lambda: D.MultivariateNormal(torch.zeros(2)), "Exactly one of"),
        (lambda: D.MultivariateNormal(torch.zeros(2), -torch.eye(2)), "PositiveDefinite"),
        (lambda: D.Normal(0.0, 1.0).log_prob("x"), "must be a Tensor"),
        (lambda: D.Normal(torch.zeros(3), 1.0).log_prob(torch.ones(2)), "not broadcastable"),
        (lambda: D.Bernoulli(0.5).log_prob(torch.tensor(0.5)), "within the support .Boolean"),
        (lambda: D.Independent(D.Normal(0.0, 1.0), 1), "reinterpreted_batch_ndims"),
        (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3), "must be a Transform or list"),
        (lambda: D.transforms.ReshapeTransform((2,), (3,)), "different numbers"),
        (lambda: constraints.dependent.check(torch.ones(1)), "dependent constraint"),
    ):
        with pytest.raises(ValueError, match=words):
            make()
    D.Normal(0.0, -1.0, validate_args=False)
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Categorical(torch.ones(2)))
    with pytest.raises(TypeError, match="Distribution subclass"):
        D.register_kl(3, D.Normal)


def test_classes_of_ones_own():
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, D.Normal)
    def _mine(p, q):
        return torch.tensor(7.0)

    mine = Mine(0.0, 1.0)
    assert isinstance(mine.expand((2,)), Mine) and mine.expand((2,)).loc.shape == (2,)
    assert D.kl_divergence(mine, D.Normal(0.0, 1.0)) == 7
    from tensorh.distributions.multivariate_normal import MultivariateNormal
    from tensorh.distributions.normal import Normal

    assert Normal is D.Normal and MultivariateNormal.__module__.endswith("multivariate_normal")
    cached = D.transforms.TanhTransform(cache_size=1)
    x = torch.tensor(20.0)
    assert cached.inv(cached(x)) is x and cached.inv.inv is cached


def test_chi2_checks_its_degrees_of_freedom():
    with pytest.raises(ValueError, match="parameter df"):
        D.Chi2(torch.tensor([-2.0]), validate_args=True)


def test_binomial_of_logits_0_has_the_slope_of_both_sides():
    x = torch.tensor(0.0, requires_grad=True)
    D.Binomial(1.0, logits=x).log_prob(torch.tensor(0.0)).backward()
    assert x.grad.item() == -0.5


def test_singular_samples_of_wishart_are_drawn_again(monkeypatch):
    d = D.Wishart(torch.tensor([5.0, 4.0]), torch.eye(3))
    good, singular = d.rsample((4,)), torch.zeros(4, 2, 3, 3)
    draws = [torch.where(torch.arange(2)[:, None, None] == 1, good, singular), singular, good]
    given = []
    monkeypatch.setattr(d, "_bartlett", lambda shape: given.append(shape) or draws[len(given) - 1])
    with pytest.warns(UserWarning, match="Singular sample"):
        assert torch.equal(d.rsample((4,)), good) and len(given) == 3
    given.clear()
    with pytest.warns(UserWarning, match="Singular sample"):
        assert d.rsample((4,), max_try_correction=1)[:, 0].eq(0).all() and len(given) == 2
    given.clear()
    assert d.rsample((4,), 0)[:, 0].eq(0).all() and len(given) == 1
