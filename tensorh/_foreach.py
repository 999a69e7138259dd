"""torch._foreach_add, _foreach_mul_ and so on: a method of Tensor for each tensor of a list. They
save nothing here; optimizers of other packages call them."""

from . import _C
from ._C import Tensor

_NAMES = frozenset(
    "abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min clone copy cos cosh div erf "
    "erfc exp expm1 floor frac lerp lgamma log log10 log1p log2 max maximum minimum mul neg norm "
    "pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc zero".split()
)


def get(name):
    """The function _foreach_name, or None."""
    op = name.removeprefix("_foreach_")
    inplace = op.endswith("_")
    if op.removesuffix("_") not in _NAMES or (inplace and op in ("norm_", "max_", "clone_")):
        return None

    def call(self, *args, **kwargs):
        if op == "pow" and isinstance(self, (int, float, complex)):  # _foreach_pow(2.0, exponents)
            return [_C.pow(self, e) for e in args[0]]
        if not isinstance(self, (list, tuple)):
            raise TypeError(
                f"{name}(): argument 'self' must be tuple of Tensors, not {type(self).__name__}"
            )
        n, lists = len(self), [a for a in args if isinstance(a, (list, tuple))]
        for given in lists:
            if len(given) != n:
                raise RuntimeError(
                    f"Tensor lists must have the same number of tensors, got {n} and {len(given)}"
                )
        made = []
        for i, t in enumerate(self):
            one = [a[i] if isinstance(a, (list, tuple)) else a for a in args]
            made.append(_one(op, t, one, i, kwargs))
        return None if inplace else made

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Tensor.{op} for each tensor of a list."
    return call


def _one(op, t, args, i, kwargs):
    if op == "norm":
        order = args[0] if args else kwargs.get("ord", 2)
        return _C._spaces["linalg"]["vector_norm"](t, order, dtype=kwargs.get("dtype"))
    if op.startswith(("addcdiv", "addcmul")):
        value = args[2] if len(args) > 2 else kwargs.get("value", kwargs.get("scalars", 1))
        if isinstance(value, (list, tuple)):
            value = value[i]
        elif isinstance(value, Tensor):
            value = value[i].item() if value.dim() else value.item()
        return getattr(t, op)(args[0], args[1], value=value)
    named = {k: v[i] if isinstance(v, (list, tuple)) else v for k, v in kwargs.items()}
    if op.rstrip("_") in ("maximum", "minimum"):
        how = op.rstrip("_")
        if not isinstance(args[0], Tensor):
            made = t.clamp_min(args[0]) if how == "maximum" else t.clamp_max(args[0])
        else:
            made = getattr(t, how)(*args, **named)
        return t.copy_(made) if op[-1] == "_" else made
    if op == "copy":
        return t.clone().copy_(*args, **named)
    if op == "zero":
        return t.clone().zero_()
    return getattr(t, op)(*args, **named)
