"""torch.optim - the optimizers of tensor.h.

Each class follows from an optimizer row of the library: its name, options, defaults and the names
of its state. Groups and state are Python's, as torch's; a step is one call for all parameters.
"""

import sys as _sys

from .. import _C
from . import _sparse
from ._sparse import SparseAdam as SparseAdam
from .lbfgs import LBFGS as LBFGS
from .optimizer import Optimizer

_NONE, _FLAG = (None, False, True), (False, True)
# torch's options that no row has: default, and what is accepted. foreach and fused choose among
# implementations with the same results: a step is fused in any case.
_TORCH = {
    "foreach": (None, _NONE),
    "capturable": (False, _FLAG),
    "differentiable": (False, _FLAG),
    "fused": (None, _NONE),
    "decoupled_weight_decay": (False, _FLAG),
}
# Those of a class in torch's order, behind the row's options; those before * are positional.
_TORCH_OF = {
    "SGD": "* maximize foreach differentiable fused",
    "Adam": "* foreach maximize capturable differentiable fused decoupled_weight_decay",
    "AdamW": "* maximize foreach capturable differentiable fused",
    "Adagrad": "foreach * maximize differentiable fused",
    "RMSprop": "capturable foreach maximize differentiable *",
    "Adadelta": "foreach * capturable maximize differentiable",
    "Adamax": "foreach * maximize differentiable capturable",
    "ASGD": "foreach maximize differentiable capturable *",
    "Rprop": "* capturable foreach maximize differentiable",
    "Adafactor": "* foreach maximize",
    "Muon": "*",
}
_TORCH_ELSE = "* foreach maximize capturable differentiable"
# Options that torch keeps in the groups, though its constructor has them not.
_FIXED = {"AdamW": {"decoupled_weight_decay": True}}
# Defaults that torch writes as a float, not as 0.
_FLOATS = {"Adafactor": ("weight_decay",)}


class _RowOptimizer(Optimizer):
    """An optimizer of the library: _row is the number of its row."""

    _row = -1
    _fixed = {}
    _counts = False
    _torch = ()

    def _begin(self, params, defaults):
        defaults.update(self._fixed)
        self._check_tensors(defaults)
        adjust = defaults.get("adjust_lr_fn")
        if adjust not in (None, "original", "match_rms_adamw", "spectral_unclamped"):
            raise ValueError(f"Adjust learning rate function {adjust} is not supported")
        if defaults.get("fused") and defaults.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("fused") and defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        super().__init__(params, defaults)
        if "initial_accumulator_value" in defaults:
            self._begin_sums(defaults["initial_accumulator_value"])
        for p in (p for group in self.param_groups for p in group["params"]):
            if "ns_steps" in defaults and p.ndim != 2:
                raise ValueError(
                    "Muon only supports 2D parameters whereas we found a parameter with size: "
                    f"{p.size()}"
                )

    def _check_tensors(self, defaults):
        """torch's rules of options that are tensors."""
        plain = defaults.get("foreach") and not defaults.get("capturable")
        lr, betas = defaults.get("lr"), defaults.get("betas", ())
        if isinstance(lr, _C.Tensor):
            if plain and "capturable" in self._torch:
                raise ValueError(
                    "lr as a Tensor is not supported for capturable=False and foreach=True"
                )
            if lr.numel() != 1:
                raise ValueError("Tensor lr must be 1-element")
        tensors = [isinstance(b, _C.Tensor) for b in betas if isinstance(b, (float, _C.Tensor))]
        if any(tensors) and not all(tensors):
            raise ValueError("betas must be either both floats or both Tensors")
        for i, beta in enumerate(betas):
            if not isinstance(beta, _C.Tensor):
                continue
            if plain:
                raise ValueError(
                    f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True"
                )
            if beta.numel() != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element")

    def _begin_sums(self, value):
        """Adagrad's state, which is there before the first step."""
        from .. import full_like, tensor

        for group in self.param_groups:
            for p in group["params"]:
                first = complex(value, value) if p.is_complex() else value
                self.state[p] = {
                    "step": tensor(0.0),
                    "sum": full_like(p, first, requires_grad=False),
                }

    def add_param_group(self, param_group):
        """Another group: a dict with "params" and options that differ from the defaults."""
        super().add_param_group(param_group)
        try:
            for name in self._torch:
                if param_group[name] not in _TORCH[name][1]:
                    raise ValueError(
                        f"{type(self).__name__}: {name}={param_group[name]!r} is not supported"
                    )
            recorded = self.defaults.get("differentiable")
            _C._optim_check(self._row, _numbers(param_group) if recorded else param_group)
        except BaseException:
            self.param_groups.pop()
            raise

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._options.items():
                group.setdefault(name, value)

    def step(self, closure=None):
        """One step of all parameters that have a gradient: all change, or none.

        closure, where given, computes the loss again; its value is returned.
        """
        loss = None if closure is None else _C._optim_closure(closure)
        self._check_capturable()
        if self._counts and _C._graph_captures() and not self._all_capturable():
            raise RuntimeError(
                "Attempting CUDA graph capture of step() for an instance of "
                f"{type(self).__name__} but param_groups' capturable is False."
            )
        if self.defaults.get("differentiable"):
            from ._differentiable import step

            step(type(self), self.param_groups, self.state)
        elif any(p.is_complex() for group in self.param_groups for p in group["params"]):
            names = [c.__name__ for c in type(self).__mro__]
            refuses = [name for name in names if name in ("Adafactor", "Muon")]
            if refuses:
                raise RuntimeError(f"{refuses[0]} does not support complex parameters")
            self._step_as_real()
        elif any(_C._sparse_layout(p) for group in self.param_groups for p in group["params"]):
            _sparse.step(self, self._step_of_row)
        else:
            try:
                self._step_of_row()
            except NotImplementedError:  # nothing has changed
                if not _sparse.parts(self.param_groups):
                    raise
                _sparse.step(self, self._step_of_row)
        return loss

    def _step_of_row(self):
        self._step_of_groups(self.param_groups, self.state)

    def _step_of_groups(self, groups, state):
        """The row's step; of groups whose steps can be captured by themselves."""
        captured = [bool(group.get("capturable")) for group in groups]
        for kind in dict.fromkeys(captured):
            of_kind = [g for g, c in zip(groups, captured, strict=True) if c is kind]
            _C._optim_step(self._number(), of_kind, state, kind)

    def _all_capturable(self):
        return all(group.get("capturable") for group in self.param_groups)

    def _check_capturable(self):
        for group in self.param_groups:
            if group.get("capturable") and any(p.device.type == "cpu" for p in group["params"]):
                raise AssertionError(
                    "If capturable=True, params and state_steps must be on supported devices: "
                    "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla']."
                )

    def _step_as_real(self):
        """The step over the real and imaginary parts of complex parameters, as torch makes it."""
        groups, states, parts = [], {}, []
        for group in self.param_groups:
            params = [self._parts(p, states, parts) for p in group["params"]]
            groups.append({**group, "params": params})
        self._step_of_groups(groups, states)
        for p, real in parts:
            if real not in states:
                continue
            if p is real:
                self.state[p] = states[real]
                continue
            self.state[p] = {
                k: _C.view_as_complex(v)
                if isinstance(v, _C.Tensor) and v.shape == real.shape
                else v
                for k, v in states[real].items()
            }

    def _parts(self, p, states, parts):
        """p, or the real numbers of which it is made; its state goes to states."""
        if not p.is_complex():
            real, state = p, self.state.get(p)
        else:
            real = _C.view_as_real(p.detach())
            if p.grad is not None:
                real.grad = _C.view_as_real(p.grad.detach())
            state = {
                k: _C.view_as_real(v) if isinstance(v, _C.Tensor) and v.is_complex() else v
                for k, v in self.state.get(p, {}).items()
            }
        if state:
            states[real] = state
        parts.append((p, real))
        return real

    def _number(self):
        """Its row; of Adam with decoupled_weight_decay that of AdamW."""
        if "decoupled_weight_decay" not in self._torch:
            return self._row
        kinds = {bool(group["decoupled_weight_decay"]) for group in self.param_groups}
        if len(kinds) > 1:
            raise ValueError("decoupled_weight_decay must be the same in all groups")
        return globals()["AdamW"]._row if True in kinds else self._row


def _numbers(options):
    """The options with numbers in the place of tensors of one element, as rows check them."""

    def plain(value):
        if isinstance(value, tuple):
            return tuple(map(plain, value))
        return value.item() if isinstance(value, _C.Tensor) and value.numel() == 1 else value

    return {name: plain(value) for name, value in options.items()}


_DOC = """{name} of the library.

{schema}

params: tensors, (name, tensor) pairs, or dicts with "params" and options of that group.
State of a parameter: {states}.
"""


def _make(number, name, schema, options, states, numbers, counts):
    """The class of a row; its constructor is written from the row, so that it has a signature."""
    order = _TORCH_OF.get(name, _TORCH_ELSE).split()
    torch = tuple(o for o in order if o in _TORCH)
    values = {o: v for o, v, _ in options} | {o: _TORCH[o][0] for o in torch}
    values |= {o: float(values[o]) for o in _FLOATS.get(name, ())}
    names = [o for o, _, _ in options if o not in order] + order
    parts = [o if o == "*" else f"{o}={values[o]!r}" for o in names]
    if parts[-1] == "*":
        parts.pop()
    source = (
        f"def __init__(self, params, {', '.join(parts)}):\n"
        f"    self._begin(params, dict({', '.join(f'{o}={o}' for o in names if o != '*')}))\n"
    )
    space = {}
    exec(source, {"__builtins__": {"dict": dict}}, space)  # names and numbers of the row alone
    fixed = _FIXED.get(name, {})
    defaults = values | fixed
    init = space["__init__"]
    init.__qualname__ = f"{name}.__init__"
    init.__module__ = __name__
    kept = ", ".join(filter(None, ["step" if counts else "", numbers, states])) or "none"
    body = {
        "__init__": init,
        "__doc__": _DOC.format(name=name, schema=schema, states=kept),
        "__module__": __name__,
        "_row": number,
        "_torch": torch,
        "_fixed": fixed,
        "_counts": counts,
        "_options": defaults,
    }
    return type(name, (_RowOptimizer,), body)


_sys.modules[f"{__name__}.sparse_adam"] = _sys.modules[__name__]
for _one in _C._optimizers():
    globals()[_one[1]] = _make(*_one)
    # torch's file of the class: from torch.optim.adam import Adam
    _file = ("_" if _one[1] in ("Adafactor", "Muon") else "") + _one[1].lower()
    _sys.modules[f"{__name__}.{_file}"] = _sys.modules[__name__]
__all__ = [
    "LBFGS",
    "Optimizer",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
    *(_one[1] for _one in _C._optimizers()),
]
del _one


def __getattr__(name):
    if name in ("lr_scheduler", "optimizer", "swa_utils"):
        import importlib

        return importlib.import_module("." + name, __name__)
    if name == "swap_in_optimizer_params_and_state":
        from ._swap import swap_in_optimizer_params_and_state

        return swap_in_optimizer_params_and_state
    from .._missing import error

    raise error("torch.optim", name)
