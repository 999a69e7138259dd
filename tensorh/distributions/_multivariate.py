"""Distributions of vectors and matrices: Dirichlet, Beta, MultivariateNormal, the same of low rank,
Wishart, LKJCholesky."""

import math
import warnings

import tensorh as torch

from ..autograd import Function
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import _standard_normal, broadcast_all, lazy_property

_positive = constraints.positive


class _DirichletDraws(Function):
    """Draws whose gradient follows from that of the distribution functions (M. Figurnov et al.,
    Implicit reparameterization gradients, 2018)."""

    @staticmethod
    def forward(ctx, concentration):
        """Draws of each row."""
        x = torch._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        """By _dirichlet_grad."""
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        grad = torch._dirichlet_grad(x, concentration, total)
        return grad * (grad_output - (x * grad_output).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """The simplex, with density proportional to prod x^(concentration - 1)."""

    arg_constraints = {"concentration": constraints.independent(_positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _names = ("concentration",)

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape=()):
        """Draws with implicit gradients."""
        shape = self._extended_shape(sample_shape)
        return _DirichletDraws.apply(self.concentration.expand(shape))

    def log_prob(self, value):
        """Of the density's formula."""
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return (
            torch.xlogy(a - 1.0, value).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)
        )

    @property
    def mean(self):
        """concentration over its sum."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        """(concentration - 1) over its sum; a corner where all concentrations are below 1."""
        less = (self.concentration - 1).clamp(min=0.0)
        mode = less / less.sum(-1, True)
        corner = (self.concentration < 1).all(dim=-1)
        best = torch.nn.functional.one_hot(mode.argmax(dim=-1), self.concentration.shape[-1])
        return torch.where(corner.unsqueeze(-1), best.to(mode), mode)

    @property
    def variance(self):
        """a (s - a) / (s^2 (s + 1)) of the sum s."""
        s = self.concentration.sum(-1, True)
        return self.concentration * (s - self.concentration) / (s.pow(2) * (s + 1))

    def entropy(self):
        """Of the density's formula."""
        k, a0, digamma = self.concentration.size(-1), self.concentration.sum(-1), torch.digamma
        a = self.concentration
        return (
            torch.lgamma(a).sum(-1)
            - torch.lgamma(a0)
            - (k - a0) * digamma(a0)
            - ((a - 1.0) * digamma(a)).sum(-1)
        )

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """Between 0 and 1, with density proportional to x^(c1 - 1) (1 - x)^(c0 - 1)."""

    arg_constraints = {"concentration1": _positive, "concentration0": _positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        both = torch.stack(list(broadcast_all(concentration1, concentration0)), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With both concentrations expanded."""
        new = self._get_checked_instance(Beta, _instance)
        batch_shape = torch.Size(batch_shape)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        Distribution.__init__(new, batch_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])
    mean = property(
        lambda self: self.concentration1 / (self.concentration1 + self.concentration0)
    )
    mode = property(lambda self: self._dirichlet.mode[..., 0])

    @property
    def variance(self):
        """c1 c0 / (s^2 (s + 1)) of the sum s."""
        s = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (s.pow(2) * (s + 1))

    def rsample(self, sample_shape=()):
        """The first of Dirichlet's two numbers."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        """Dirichlet's of value and 1 - value."""
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self):
        """Dirichlet's."""
        return self._dirichlet.entropy()

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y)


# --- normal vectors -------------------------------------------------------------------------------


def batch_mv(matrix, vector):
    """Products of matrices (*, n, n) and vectors (*, n), which broadcast."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def batch_mahalanobis(factor, x):
    """x^T (L L^T)^-1 x of lower triangular L (*, n, n) and x (*, n), which broadcast."""
    from .. import linalg

    shape = torch.broadcast_shapes(factor.shape[:-2], x.shape[:-1])
    n = factor.shape[-1]
    # One solve for each L: what of x broadcasts over it becomes columns.
    if factor.dim() == 2:
        columns = x.reshape(-1, n).T
        solved = linalg.solve_triangular(factor, columns, upper=False)
        return solved.pow(2).sum(-2).reshape(shape)
    solved = linalg.solve_triangular(
        factor.expand(shape + (n, n)), x.expand(shape + (n,)).unsqueeze(-1), upper=False
    )
    return solved.squeeze(-1).pow(2).sum(-1)


def _half_log_det(factor):
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def precision_to_scale_tril(precision):
    """L of the inverse of a precision matrix, by the Cholesky factor of it turned round."""
    from .. import linalg

    turned = linalg.cholesky(torch.flip(precision, (-2, -1)))
    inverse = torch.flip(turned, (-2, -1)).mT
    eye = torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return linalg.solve_triangular(inverse, eye.expand(precision.shape), upper=False)


class MultivariateNormal(Distribution):
    """The normal distribution of vectors with mean loc and one of covariance_matrix,
    precision_matrix and scale_tril, the lower Cholesky factor of the covariance."""

    arg_constraints = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None,
        validate_args=None,
    ):  # fmt: skip
        given = {
            "covariance_matrix": covariance_matrix, "scale_tril": scale_tril,
            "precision_matrix": precision_matrix,
        }  # fmt: skip
        given = {k: v for k, v in given.items() if v is not None}
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        from .. import linalg

        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)

    def expand(self, batch_shape, _instance=None):
        """With the mean and the matrices expanded."""
        new = self._get_checked_instance(MultivariateNormal, _instance)
        batch_shape = torch.Size(batch_shape)
        new.loc = self.loc.expand(batch_shape + self.event_shape)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        matrix = batch_shape + self.event_shape + self.event_shape
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand(matrix)
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _matrix(self, t):
        return t.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance."""
        return self._matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        tril = self._unbroadcasted_scale_tril
        return self._matrix(torch.matmul(tril, tril.mT))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return self._matrix(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self):
        """The diagonal of the covariance."""
        tril = self._unbroadcasted_scale_tril
        return tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        """loc + L times standard draws."""
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value):
        """-(n log(2 pi) + d^T covariance^-1 d) / 2 - log |L| of d = value - loc."""
        if self._validate_args:
            self._validate_sample(value)
        m = batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        n = self._event_shape[0]
        half = _half_log_det(self._unbroadcasted_scale_tril)
        return -0.5 * (n * math.log(2 * math.pi) + m) - half

    def entropy(self):
        """n (1 + log(2 pi)) / 2 + log |L|."""
        half = _half_log_det(self._unbroadcasted_scale_tril)
        h = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half
        return h if len(self._batch_shape) == 0 else h.expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with covariance cov_factor cov_factor^T + diag(cov_diag),
    by the Woodbury identity and the matrix determinant lemma."""

    arg_constraints = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(_positive, 1),
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        from .. import linalg

        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m"
            )
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        batch = torch.broadcast_shapes(
            loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
        )
        self.loc = loc.expand(batch + (-1,))
        self.cov_factor = cov_factor.expand(batch + (-1, -1))
        self.cov_diag = cov_diag.expand(batch + (-1,))
        self._factor, self._diag = cov_factor, cov_diag
        # The capacitance matrix I + W^T D^-1 W.
        scaled = cov_factor.mT / cov_diag.unsqueeze(-2)
        k = torch.matmul(scaled, cov_factor).contiguous()
        eye = torch.eye(k.shape[-1], dtype=k.dtype, device=k.device)
        self._capacitance_tril = linalg.cholesky(k + eye)
        super().__init__(batch, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        """With all parameters expanded."""
        new = self._get_checked_instance(LowRankMultivariateNormal, _instance)
        batch_shape = torch.Size(batch_shape)
        vector = batch_shape + self.event_shape
        new.loc, new.cov_diag = self.loc.expand(vector), self.cov_diag.expand(vector)
        new.cov_factor = self.cov_factor.expand(vector + self.cov_factor.shape[-1:])
        new._factor, new._diag = self._factor, self._diag
        new._capacitance_tril = self._capacitance_tril
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    mean = mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self):
        """The diagonal of the covariance."""
        v = self._factor.pow(2).sum(-1) + self._diag
        return v.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        c = torch.matmul(self._factor, self._factor.mT) + torch.diag_embed(self._diag)
        return c.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance."""
        from .. import linalg

        root = self._diag.sqrt()
        scaled = self._factor / root.unsqueeze(-1)
        k = torch.matmul(scaled, scaled.mT)
        eye = torch.eye(k.shape[-1], dtype=k.dtype, device=k.device)
        tril = root.unsqueeze(-1) * linalg.cholesky(k + eye)
        return tril.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        from .. import linalg

        scaled = self._factor.mT / self._diag.unsqueeze(-2)
        a = linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        p = torch.diag_embed(self._diag.reciprocal()) - torch.matmul(a.mT, a)
        return p.expand(self._batch_shape + self._event_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        """loc, plus the factor times draws, plus the root of the diagonal times draws."""
        shape = self._extended_shape(sample_shape)
        w_shape = shape[:-1] + self.cov_factor.shape[-1:]
        eps_w = _standard_normal(w_shape, self.loc.dtype, self.loc.device)
        eps_d = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + batch_mv(self._factor, eps_w) + self._diag.sqrt() * eps_d

    def _log_det(self):
        return 2 * _half_log_det(self._capacitance_tril) + self._diag.log().sum(-1)

    def log_prob(self, value):
        """As MultivariateNormal's."""
        if self._validate_args:
            self._validate_sample(value)
        diff = value - self.loc
        scaled = self._factor.mT / self._diag.unsqueeze(-2)
        m = (diff.pow(2) / self._diag).sum(-1)
        m = m - batch_mahalanobis(self._capacitance_tril, batch_mv(scaled, diff))
        n = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + self._log_det() + m)

    def entropy(self):
        """(n (1 + log(2 pi)) + log |covariance|) / 2."""
        h = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return h if len(self._batch_shape) == 0 else h.expand(self._batch_shape)


# --- matrices -------------------------------------------------------------------------------------


class Wishart(ExponentialFamily):
    """Positive definite matrices: sums of df outer products of normal vectors (S. Sawyer, Wishart
    distributions and inverse-Wishart sampling, 2007). One of covariance_matrix, precision_matrix
    and scale_tril."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        """df is at least the size less 1."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None,
        validate_args=None,
    ):  # fmt: skip
        given = {
            "covariance_matrix": covariance_matrix, "scale_tril": scale_tril,
            "precision_matrix": precision_matrix,
        }  # fmt: skip
        given = {k: v for k, v in given.items() if v is not None}
        if len(given) != 1:
            raise AssertionError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        df = torch.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
        event = matrix.shape[-2:]
        self.df = df.expand(batch)
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        if self.df.le(event[-1] - 1).any():
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}."
            )
        super().__init__(batch, event, validate_args=validate_args)
        if self.df.lt(event[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 "
                "< df < ndim.",
                stacklevel=2,
            )
        from .. import linalg

        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)
        self._make_chi2()

    def _make_chi2(self):
        from ._continuous import Chi2

        n = self._event_shape[-1]
        steps = torch.arange(n, dtype=self._unbroadcasted_scale_tril.dtype, device=self.df.device)
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - steps.expand(self._batch_shape + (-1,)))

    def expand(self, batch_shape, _instance=None):
        """With df and the matrices expanded."""
        new = self._get_checked_instance(Wishart, _instance)
        batch_shape = torch.Size(batch_shape)
        matrix = batch_shape + self.event_shape
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(matrix)
        new.df = self.df.expand(batch_shape)
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand(matrix)
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._make_chi2()
        new._validate_args = self._validate_args
        return new

    def _matrix(self, t):
        return t.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance."""
        return self._matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        tril = self._unbroadcasted_scale_tril
        return self._matrix(tril @ tril.mT)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return self._matrix(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    mean = property(lambda self: self.df.view(self._batch_shape + (1, 1)) * self.covariance_matrix)

    @property
    def mode(self):
        """(df - n - 1) covariance; NaN where that is not positive."""
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = torch.where(factor <= 0, math.nan, factor)
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        """df (v_ij^2 + v_ii v_jj) of the covariance v."""
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view(self._batch_shape + (1, 1)) * (v.pow(2) + outer)

    def rsample(self, sample_shape=(), max_try_correction=None):
        """Samples that rounding made singular are drawn again, up to max_try_correction times."""
        sample_shape = torch.Size(sample_shape)
        sample = self._bartlett(sample_shape)
        for k in range(10 if max_try_correction is None else max_try_correction):
            singular = self.support.check(sample).logical_not()
            if not singular.any():
                break
            if k == 0:
                warnings.warn("Singular sample detected.", stacklevel=2)
            sample = torch.where(singular[..., None, None], self._bartlett(sample_shape), sample)
        return sample

    def _bartlett(self, sample_shape):
        """By Bartlett's decomposition: a triangle of normal numbers with roots of chi-squared ones
        on its diagonal."""
        n = self._event_shape[-1]
        diagonal = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = torch.diag_embed(diagonal)
        i, j = torch.tril_indices(n, n, offset=-1)
        shape = sample_shape + self._batch_shape + (n * (n - 1) // 2,)
        noise[..., i, j] = torch.randn(shape, dtype=noise.dtype, device=noise.device)
        chol = self._unbroadcasted_scale_tril @ noise
        return chol @ chol.mT

    def log_prob(self, value):
        """Of the density's formula."""
        from .. import linalg

        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        tril = self._unbroadcasted_scale_tril
        log_det = linalg.slogdet(value).logabsdet
        trace = torch.cholesky_solve(value, tril).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (
            -nu * (p * math.log(2) / 2 + _half_log_det(tril))
            - torch.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * log_det
            - trace / 2
        )

    def entropy(self):
        """Of the density's formula."""
        nu, p = self.df, self._event_shape[-1]
        steps = torch.arange(p, dtype=nu.dtype, device=nu.device)
        digamma = torch.digamma(nu.unsqueeze(-1) / 2 - steps / 2).sum(-1)
        return (
            (p + 1) * (p * math.log(2) / 2 + _half_log_det(self._unbroadcasted_scale_tril))
            + torch.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * digamma
            + nu * p / 2
        )

    @property
    def _natural_params(self):
        p = self._event_shape[-1]
        return -self.precision_matrix / 2, (self.df - p - 1) / 2

    def _log_normalizer(self, x, y):
        from .. import linalg

        p = self._event_shape[-1]
        return (y + (p + 1) / 2) * (
            -linalg.slogdet(-2 * x).logabsdet + math.log(2) * p
        ) + torch.mvlgamma(y + (p + 1) / 2, p=p)


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices whose density is proportional to
    det^(concentration - 1), by the onion method (D. Lewandowski, D. Kurowicka, H. Joe, 2009)."""

    arg_constraints = {"concentration": _positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        batch = self.concentration.size()
        # Row by row the squared length below the diagonal is a beta number.
        c = self.concentration + 0.5 * (self.dim - 2)
        offset = torch.arange(dim - 1, dtype=self.concentration.dtype,
                           device=self.concentration.device)  # fmt: skip
        offset = torch.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, c.unsqueeze(-1) - 0.5 * offset)
        super().__init__(batch, torch.Size((dim, dim)), validate_args)

    def expand(self, batch_shape, _instance=None):
        """With the concentration expanded."""
        new = self._get_checked_instance(LKJCholesky, _instance)
        batch_shape = torch.Size(batch_shape)
        new.dim, new.concentration = self.dim, self.concentration.expand(batch_shape)
        new._beta = self._beta.expand(batch_shape + (self.dim,))
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape=()):
        """Draws by the onion method."""
        with torch.no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            u = torch.randn(shape, dtype=y.dtype, device=y.device).tril(-1)
            sphere = u / (u * u).sum(-1, keepdim=True).sqrt()
            sphere[..., 0, :].fill_(0.0)
            w = torch.sqrt(y) * sphere
            tiny = torch.finfo(w.dtype).tiny
            diagonal = (1 - (w**2).sum(-1)).clamp(min=tiny).sqrt()
            return w + torch.diag_embed(diagonal)

    def log_prob(self, value):
        """Of the density's formula (Stan's reference manual)."""
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalized = (order * diagonal.log()).sum(-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        denominator = torch.lgamma(alpha) * less
        numerator = torch.mvlgamma(alpha - 0.5, less)
        return unnormalized - (0.5 * less * math.log(math.pi) + numerator - denominator)
