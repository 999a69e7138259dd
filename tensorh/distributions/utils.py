"""Helpers of torch.distributions: numbers and tensors of one shape, logits and probabilities."""

import tensorh as torch

from .._C import Tensor
from ..nn import functional as F

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits",
    "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip
euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    """The values as tensors of their common shape; numbers get the dtype of the first tensor, or
    the default one."""
    if not all(isinstance(v, (Tensor, int, float, complex)) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
            "__torch_function__."
        )
    first = next((v for v in values if isinstance(v, Tensor)), None)
    options = {"dtype": torch.get_default_dtype()}
    if first is not None:
        options = {"dtype": first.dtype, "device": first.device}
    values = [v if isinstance(v, Tensor) else torch.tensor(v, **options) for v in values]
    from .._functions.shapes import broadcast_tensors

    return broadcast_tensors(*values)


def _standard_normal(shape, dtype, device):
    """Numbers of the normal distribution with mean 0 and variance 1."""
    zeros = torch.zeros(shape, dtype=dtype, device=device)
    return torch.normal(zeros, torch.ones_like(zeros))


def _sum_rightmost(value, dim):
    """The sum over the last dim dimensions."""
    if dim == 0:
        return value
    return value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


def clamp_probs(probs):
    """Probabilities that keep away from 0 and 1 by the resolution of their dtype."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits, is_binary=False):
    """Probabilities of log odds, or of logarithms of weights along the last dimension."""
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def probs_to_logits(probs, is_binary=False):
    """Log odds of probabilities, or their logarithms."""
    ps = clamp_probs(probs)
    return torch.log(ps) - torch.log1p(-ps) if is_binary else torch.log(ps)


class lazy_property:
    """An attribute that is computed when it is first asked for, with gradients, and then kept."""

    def __init__(self, wrapped):
        self.wrapped, self.__doc__, self.__name__ = wrapped, wrapped.__doc__, wrapped.__name__

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat, diag=0):
    """The elements on and below a diagonal of matrices, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows = torch.arange(n, device=mat.device)
    return mat[..., rows < rows.view(-1, 1) + (diag + 1)]


def vec_to_tril_matrix(vec, diag=0):
    """Matrices whose elements on and below a diagonal are given row by row, and else 0."""
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1))
         ** 0.5) / 2  # fmt: skip
    eps = torch.finfo(vec.dtype).eps
    if round(n) - n > eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    n = round(n)
    mat = vec.new_zeros(vec.shape[:-1] + (n, n))
    rows = torch.arange(n, device=vec.device)
    mat[..., rows < rows.view(-1, 1) + (diag + 1)] = vec
    return mat
