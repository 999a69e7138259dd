"""torch.nn.utils.parametrizations: weight_norm, spectral_norm, orthogonal as parametrizations."""

from enum import Enum, auto

from ... import _C
from .. import functional as F
from ..modules.module import Module
from . import parametrize
from ._norms import normed, power_iteration, start_vectors, unrolled

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
_qr = _C._spaces["linalg"]


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return normed(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        from ._norms import norm_but

        return norm_but(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """The weight as a size and a direction: original0 is the norm over all dimensions but dim,
    original1 the direction (Salimans and Kingma 2016)."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def older(state_dict, prefix, *others):
        for key, new in (f"{prefix}{name}_g", 0), (f"{prefix}{name}_v", 1):
            if f"{prefix}{name}_g" not in state_dict and key not in state_dict:
                return
            target = f"{prefix}parametrizations.{name}.original{new}"
            state_dict[target] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(older)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if dim >= weight.ndim or dim < -weight.ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = unrolled(weight.detach(), self.dim)
            u, v = start_vectors(matrix, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            power_iteration(matrix, self._u, self._v, 15, eps)

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = unrolled(weight, self.dim)
        if self.training:
            power_iteration(matrix.detach(), self._u, self._v, self.n_power_iterations, self.eps)
        u, v = self._u.clone(), self._v.clone()
        return weight / _C.dot(u, _C.mv(matrix, v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """The weight divided by its largest singular value, which power iteration finds (Miyato et al.
    2018)."""
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        kind = type(module).__name__
        dim = 1 if "ConvTranspose" in kind else 0
    parametrize.register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps)
    )
    return module


class _Map(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def _is_orthogonal(q, eps=None):
    n, k = q.size(-2), q.size(-1)
    gram = q.mH @ q
    if eps is None:
        eps = 10 * n * _finfo(q.dtype).eps
    return bool(_C.allclose(gram, _C.eye(k, dtype=q.dtype, device=q.device), atol=eps))


def _finfo(dtype):
    from ..._functions.dtypes import finfo

    return finfo(dtype)


def _orthogonal_of(a):
    """The Q of A = Q R, with R's diagonal positive."""
    x, tau = _C.geqrf(a)
    q = _qr["householder_product"](x, tau)
    return q * x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == _Map.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        n, k = X.size(-2), X.size(-1)
        transposed = n < k
        if transposed:
            X, n, k = X.mT, k, n
        if self.orthogonal_map == _Map.householder:
            A = X.tril(-1)
            tau = 2.0 / (1.0 + (A * A).sum(-2))
            eye = _C.eye(n, k, dtype=X.dtype, device=X.device)
            Q = _qr["householder_product"](A + eye, tau)
            Q = Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            A = X.tril()
            if n != k:
                A = _C.cat([A, A.new_zeros((*A.shape[:-2], n, n - k))], -1)
            A = A - A.mH
            if self.orthogonal_map == _Map.matrix_exp:
                Q = _C.matrix_exp(A)
            else:
                eye = _C.eye(n, dtype=A.dtype, device=A.device)
                Q = _qr["solve"](_C.add(eye, A, alpha=-0.5), _C.add(eye, A, alpha=0.5))
            Q = Q[..., :k] if n != k else Q
        if getattr(self, "base", None) is not None:
            Q = self.base @ Q
        return Q.mT if transposed else Q

    def right_inverse(self, Q):
        with _C.no_grad():
            if Q.shape != self.shape:
                raise ValueError(
                    f"Expected a matrix or batch of matrices of shape {tuple(self.shape)}. "
                    f"Got a tensor of shape {tuple(Q.shape)}."
                )
            given, n, k = Q, Q.size(-2), Q.size(-1)
            transposed = n < k
            if transposed:
                Q, n, k = Q.mT, k, n
            if not hasattr(self, "base"):
                if self.orthogonal_map != _Map.householder:
                    raise NotImplementedError(
                        "It is not possible to assign to the matrix exponential or the Cayley "
                        "parametrizations when use_trivialization=False."
                    )
                A, tau = _C.geqrf(Q)
                A.diagonal(dim1=-2, dim2=-1).sign_()
                A.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
                return A.mT if transposed else A
            if n == k:
                Q = Q.clone() if _is_orthogonal(Q) else _orthogonal_of(Q)
            else:
                more = _C.randn((*Q.shape[:-2], n, n - k), dtype=Q.dtype, device=Q.device)
                Q = _orthogonal_of(_C.cat([Q, more], -1))
            self.base = Q
            neg = _C.zeros_like(given)
            neg.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return neg


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """A matrix with orthonormal columns, or rows where it is wide. orthogonal_map: matrix_exp,
    cayley or householder; by default the first of square and complex ones, else the last."""
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in _Map.__members__:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    one = _Orthogonal(weight, _Map[orthogonal_map], use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, one, unsafe=True)
    return module
