"""torch.nn.utils.prune: parts of a parameter that a mask sets to zero before each forward."""

import numbers
from abc import ABC, abstractmethod

from ... import _C


class BasePruningMethod(ABC):
    """A way to choose the mask; the hook that multiplies by it."""

    _tensor_name: str

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask of t, of which default_mask has chosen already."""

    def apply_mask(self, module):
        """The parameter times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes a parameter, further if it is pruned already; the hook."""
        old = [
            (key, hook)
            for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(old) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module "
                f"{module}. Use a PruningContainer."
            )
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if old:
            container = PruningContainer(old[0][1])
            container.add_pruning_method(method)
            method = container
            del module._forward_pre_hooks[old[0][0]]
        original = getattr(module, name + "_orig") if old else getattr(module, name)
        if importance_scores is not None:
            if importance_scores.shape != original.shape:
                raise AssertionError(
                    f"importance_scores should have the same shape as parameter {name} of {module}"
                )
        else:
            importance_scores = original
        if not old:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default = _C.ones_like(original)
        else:
            default = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(importance_scores.detach(), default_mask=default)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not old:
                module.register_parameter(name, original)
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """t with what the method chooses set to zero."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        scores = t if importance_scores is None else importance_scores
        default_mask = _C.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module):
        """The pruned parameter is a plain one again; the zeros stay."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.data
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other, on one tensor."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1 and not isinstance(args[0], (list, tuple)):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            methods = args[0] if len(args) == 1 else args
            self._tensor_name = methods[0]._tensor_name if methods else None
            for method in methods:
                self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """One more, for the same tensor."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found "
                f"'{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """The last method's choice among what the others have left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            rest = mask == 1
        elif kind == "structured":
            dim = method.dim if method.dim >= 0 else method.dim + t.dim()
            others = tuple(d for d in range(t.dim()) if d != dim)
            keep = mask.sum(others) != 0 if others else mask != 0
            rest = [slice(None)] * t.dim()
            rest[dim] = keep
            rest = tuple(rest)
        elif kind == "global":
            rest = tuple([slice(None)] * t.dim())
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        chosen = method.compute_mask(t[rest], default_mask=mask[rest])
        mask = mask.clone()
        mask[rest] = chosen.to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        """The mask as it is."""
        return default_mask

    @classmethod
    def apply(cls, module, name):
        """See identity."""
        return super().apply(module, name)


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if (whole and amount < 0) or (not whole and not 0.0 <= amount <= 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _count(amount, size):
    """How many of size are pruned."""
    if isinstance(amount, numbers.Integral):
        if amount > size:
            raise ValueError(
                f"amount={amount} should be smaller than the number of parameters to prune={size}"
            )
        return amount
    return round(amount * size)


class _ByAmount(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def _chosen(self, t, count):
        raise NotImplementedError

    def compute_mask(self, t, default_mask):
        """Zero for `amount` of the elements."""
        count = _count(self.amount, t.nelement())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[self._chosen(t, count)] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        """See random_unstructured and l1_unstructured."""
        if importance_scores is None:
            return super().apply(module, name, amount=amount)
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomUnstructured(_ByAmount):
    """Elements by chance."""

    def _chosen(self, t, count):
        return _C.topk(_C.rand_like(t).view(-1), count).indices


class L1Unstructured(_ByAmount):
    """The elements of the smallest magnitude."""

    def _chosen(self, t, count):
        return _C.topk(t.abs().view(-1), count, largest=False).indices


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def _check(self, t):
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")

    def _mask(self, t, default_mask, keep):
        mask = _C.zeros_like(t)
        at = [slice(None)] * t.dim()
        at[self.dim] = keep
        mask[tuple(at)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Channels of dimension dim by chance."""

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        """Zero for `amount` of the channels."""
        self._check(t)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        prob = _C.rand(size)
        bound = _C.kthvalue(prob, count).values
        return self._mask(t, default_mask, prob > bound)

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        """See random_structured."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Channels of dimension dim with the smallest n-norm."""

    def __init__(self, amount, n, dim=-1):
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t, default_mask):
        """Zero for `amount` of the channels."""
        self._check(t)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        keep = _C.topk(_C.norm(t, self.n, others), size - count).indices
        return self._mask(t, default_mask, keep)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        """See ln_structured."""
        return super().apply(
            module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
        )


class CustomFromMask(BasePruningMethod):
    """A mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        """Both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError("default_mask and mask must have the same shape")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        """See custom_from_mask."""
        return super().apply(module, name, mask=mask)


def identity(module, name):
    """Makes `name`_orig and `name`_mask, and prunes nothing."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes elements by chance: a part of them, or as many as an int says."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the elements of the smallest magnitude."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes channels of dimension dim by chance."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the channels of dimension dim with the smallest n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes all parameters, (module, name) each, as if they were one tensor."""
    if not hasattr(parameters, "__iter__"):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if not isinstance(parameters, (list, tuple)):
        parameters = list(parameters)
    scores = importance_scores if importance_scores is not None else {}
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    values = [scores.get((m, n), getattr(m, n)) for m, n in parameters]
    flat = _C.cat([v.reshape(-1) for v in values]).detach()
    masks = [getattr(m, n + "_mask", None) for m, n in parameters]
    masks = [_C.ones_like(getattr(m, n)) if k is None else k
             for k, (m, n) in zip(masks, parameters, strict=True)]  # fmt: skip
    default = _C.cat([k.reshape(-1) for k in masks]).detach()
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    final, at = container.compute_mask(flat, default), 0
    for m, n in parameters:
        t = getattr(m, n)
        custom_from_mask(m, n, final[at : at + t.numel()].view_as(t))
        at += t.numel()


def custom_from_mask(module, name, mask):
    """Prunes by a mask: what is 0 goes."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module, name):
    """Makes the pruning permanent: the parameter is a plain one with zeros."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module):
    """Whether the module or one below has a pruned parameter."""
    return any(
        isinstance(hook, BasePruningMethod)
        for _, below in module.named_modules()
        for hook in below._forward_pre_hooks.values()
    )
