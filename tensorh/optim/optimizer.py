"""torch.optim.optimizer - the base of all optimizers: groups, state, hooks, saving and loading."""

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from .. import _C
from ..utils.hooks import RemovableHandle

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
]


class _Required:
    """The default of an option that every group has to give."""

    def __repr__(self):
        return "<required parameter>"


required = _Required()
ParamsT = _params_t = (
    Iterable[_C.Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, _C.Tensor]]
)


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(fused, foreach) for optimizers that a program wrote: False, False, one tensor at a time."""
    return False, False


def _get_capturable_supported_devices(supports_xla=True):
    """Kinds of devices whose steps can be captured."""
    return ["cuda"]


def _use_grad_for_differentiable(func):
    """A step that records nothing, unless the defaults say differentiable."""

    @functools.wraps(func)
    def step(self, *args, **kwargs):
        with _C.set_grad_enabled(self.defaults.get("differentiable", False)):
            return func(self, *args, **kwargs)

    return step

_global_pre_hooks = OrderedDict()
_global_post_hooks = OrderedDict()


def _register(hooks, hook, prepend=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook):
    """A hook(optimizer, args, kwargs) before each step of any optimizer."""
    return _register(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """A hook(optimizer, args, kwargs) after each step of any optimizer."""
    return _register(_global_post_hooks, hook)


_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def _typename(o):
    kind = type(o)
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


class Optimizer:
    """Base of all optimizers.

    params: tensors, (name, tensor) pairs, or dicts with a list "params" and options of that group.
    defaults: options of groups that do not give them.
    A subclass defines step(); self.state[p] is a dictionary of whatever it keeps for p.
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in _HOOKS:
            self.__dict__[name] = OrderedDict()
        self._patch_step_function()
        if isinstance(params, _C.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {_typename(params)}"
            )
        if isinstance(params, set):
            warnings.warn(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead.",
                FutureWarning,
                stacklevel=2,
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params")
        return text + ")"

    # --- hooks ------------------------------------------------------------------------------------

    @staticmethod
    def profile_hook_step(func):
        """func, a step method, with the hooks of its optimizer around it."""

        @functools.wraps(func)
        def step(*args, **kwargs):
            self = args[0]
            if not (
                self._optimizer_step_pre_hooks
                or self._optimizer_step_post_hooks
                or _global_pre_hooks
                or _global_post_hooks
            ):
                return func(*args, **kwargs)
            for hook in chain(_global_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
                result = hook(self, args, kwargs)
                if result is None:
                    continue
                if not isinstance(result, tuple) or len(result) != 2:
                    raise RuntimeError(
                        f"{func} must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {result}."
                    )
                args, kwargs = result
            out = func(*args, **kwargs)
            for hook in chain(
                self._optimizer_step_post_hooks.values(), _global_post_hooks.values()
            ):
                hook(self, args, kwargs)
            return out

        step.hooked = True
        return step

    def _patch_step_function(self):
        kind = type(self)
        if not getattr(kind.step, "hooked", False):
            kind.step = self.profile_hook_step(kind.step)

    def register_step_pre_hook(self, hook):
        """A hook(optimizer, args, kwargs) before each step; it may return other (args, kwargs)."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """A hook(optimizer, args, kwargs) after each step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """A hook(optimizer) before state_dict()."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """A hook(optimizer, state_dict) after state_dict(); it may return another dictionary."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """A hook(optimizer, state_dict) before loading; it may return another dictionary."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """A hook(optimizer) after loading."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # --- saving and loading -----------------------------------------------------------------------

    def state_dict(self):
        """{"state": {number: {..}}, "param_groups": [{.., "params": [number, ..]}]}.

        Parameters are numbered through the groups. Tensors are shared with the optimizer.
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        number, groups = {}, []
        start = 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], start):
                number.setdefault(id(p), i)
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [number[id(p)] for p in group["params"]]
            groups.append(packed)
            start += len(packed["params"])
        state = {
            (number[id(k)] if isinstance(k, _C.Tensor) else k): v for k, v in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            if changed is not None:
                result = changed
        return result

    @staticmethod
    def _cast(param, value, key=None):
        """A state of param: floating states take its dtype and device, but for the step count."""
        if isinstance(value, _C.Tensor):
            if key == "step":
                return value
            if param.dtype.is_floating_point:
                return value.to(dtype=param.dtype, device=param.device)
            return value.to(device=param.device)
        if isinstance(value, dict):
            return {k: Optimizer._cast(param, v, k) for k, v in value.items()}
        if isinstance(value, (list, tuple, set)):
            return type(value)(Optimizer._cast(param, v) for v in value)
        return value

    def load_state_dict(self, state_dict):
        """Takes groups and state of state_dict(), whose tensors it shares where they fit."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        param_of = dict(
            zip(
                chain.from_iterable(s["params"] for s in saved),
                chain.from_iterable(g["params"] for g in groups),
                strict=True,
            )
        )
        state = defaultdict(dict)
        for k, v in state_dict["state"].items():
            if k in param_of:
                state[param_of[k]] = self._cast(param_of[k], v)
            else:
                state[k] = v
        for group, new in zip(groups, saved, strict=True):
            new["params"] = group["params"]
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # --- training ---------------------------------------------------------------------------------

    def zero_grad(self, set_to_none=True):
        """Drops the gradients of all parameters, or (set_to_none=False) fills them with zero."""
        for group in self.param_groups:
            params = group["params"]
            if any(map(_C._sparse_layout, params)):  # whose values have the gradient
                params = [p._elements() if _C._sparse_layout(p) else p for p in params]
            _C._optim_zero_grad(params, set_to_none)

    def step(self, closure=None):
        """One step; closure computes the loss again and returns it."""
        raise NotImplementedError

    def add_param_group(self, param_group):
        """Another group: a dict with "params" and options that differ from the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _set_params(param_group)
        for p in param_group["params"]:
            if not isinstance(p, _C.Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is " + _typename(p)
                )
            kept = p.is_leaf or getattr(p, "retains_grad", False)
            if not kept and not self.defaults.get("differentiable"):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    + name
                )
            param_group.setdefault(name, default)
        params = param_group["params"]
        if len(params) != len({id(p) for p in params}):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "in future, this will cause an error",
                stacklevel=3,
            )
        known = set()
        for group in self.param_groups:
            known.update(id(p) for p in group["params"])
            if ("param_names" in param_group) != ("param_names" in group):
                names = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {names} to the optimizer"
                )
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)


def _set_params(group):
    """Makes group["params"] a list of tensors; names of pairs go to "param_names"."""
    params = group["params"]
    if isinstance(params, _C.Tensor):
        params = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering "
            "of tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    names = [p[0] for p in params if isinstance(p, tuple)]
    group["params"] = [p[1] if isinstance(p, tuple) else p for p in params]
    if names:
        if len(names) != len(params):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        group["param_names"] = names
