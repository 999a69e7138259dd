"""weight_norm and spectral_norm by hooks, and what they share with the parametrizations."""

import warnings

from ... import _C
from .. import functional as F
from ..parameter import Parameter, is_lazy

_norm = _C._spaces["linalg"]["vector_norm"]

# --- the norm over all dimensions but one --------------------------------------------------------


def norm_but(v, dim):
    """The 2-norm over all dimensions but dim, with the dimensions kept; of all for -1."""
    if dim == -1:
        return _norm(v, 2)
    dim %= v.ndim
    others = tuple(d for d in range(v.ndim) if d != dim)
    return _norm(v, 2, others, True) if others else v.abs()


def normed(v, g, dim):
    """v times g over its norm."""
    return v * (g / norm_but(v, dim))


class WeightNorm:
    """The hook of weight_norm: computes the weight before each forward."""

    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        """The weight of what it consists of."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return normed(v, g, self.dim)

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def _hook_of(module, kind, name):
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return key, hook
    return None, None


def weight_norm(module, name="weight", dim=0):
    """The weight as a size `name`_g and a direction `name`_v (Salimans and Kingma 2016)."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _hook_of(module, WeightNorm, name)[1] is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook, weight = WeightNorm(name, dim), getattr(module, name)
    if is_lazy(weight):
        raise ValueError(
            "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to "
            "run the dummy forward before applying weight normalization"
        )
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_but(weight, hook.dim).detach()))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module, name="weight"):
    """The weight is a parameter again."""
    key, hook = _hook_of(module, WeightNorm, name)
    if hook is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    weight = hook.compute_weight(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    setattr(module, name, Parameter(weight.detach()))
    del module._forward_pre_hooks[key]
    return module


# --- the largest singular value ------------------------------------------------------------------


def unrolled(weight, dim):
    """The weight as a matrix whose rows are dimension dim."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))
    return weight.reshape(weight.size(0), -1)


def start_vectors(matrix, eps):
    """Drawn vectors of length 1, one for each side."""
    n, m = matrix.size()
    u = F.normalize(matrix.new_empty(n).normal_(0, 1), dim=0, eps=eps)
    return u, F.normalize(matrix.new_empty(m).normal_(0, 1), dim=0, eps=eps)


def power_iteration(matrix, u, v, times, eps):
    """Brings u and v nearer to the first singular vectors, in place. Its order is the one of
    parametrizations: u first."""
    with _C.no_grad():
        for _ in range(times):
            u.copy_(F.normalize(_C.mv(matrix, v), dim=0, eps=eps))
            v.copy_(F.normalize(_C.mv(matrix.mH, u), dim=0, eps=eps))


class SpectralNorm:
    """The hook of spectral_norm: divides the weight before each forward."""

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    def compute_weight(self, module, do_power_iteration):
        """The weight over its largest singular value."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = unrolled(weight, self.dim)
        if do_power_iteration:
            with _C.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(_C.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(_C.mv(matrix, v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()
        return weight / _C.dot(u, _C.mv(matrix, v))

    def remove(self, module):
        """The weight is a parameter again."""
        with _C.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for end in "_u", "_v", "_orig":
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """The weight divided by its largest singular value (Miyato et al. 2018)."""
    if dim is None:
        dim = 1 if "ConvTranspose" in type(module).__name__ else 0
    if _hook_of(module, SpectralNorm, name)[1] is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook, weight = SpectralNorm(name, n_power_iterations, dim, eps), module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    if is_lazy(weight):
        raise ValueError(
            "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to "
            "run the dummy forward before applying spectral normalization"
        )
    u, v = start_vectors(unrolled(weight.detach(), dim), eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module, name="weight"):
    """The weight is a parameter again."""
    key, hook = _hook_of(module, SpectralNorm, name)
    if hook is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module
