"""Cycles of learning rates, with momentum against them."""

import math
import types
from functools import partial

from ._schedule import LRScheduler, _by_group, _check_optimizer, _put


class _MomentumScheduler(LRScheduler):
    """Moves the momentum, or the first of betas, against the rate."""

    def _begin_momentum(self, optimizer, base, most, last_epoch):
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults
        most = _by_group("max_momentum", optimizer, most)
        base = _by_group("base_momentum", optimizer, base)
        if last_epoch == -1:
            for high, low, group in zip(most, base, optimizer.param_groups, strict=True):
                self._put_momentum(group, high)
                group["max_momentum"] = high
                group["base_momentum"] = low
        return base, most

    def _put_momentum(self, group, momentum):
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_MomentumScheduler):
    """From base_lr up to max_lr and down again, in cycles whose height scale_fn may change."""

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        last_epoch=-1,
    ):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = _by_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                _put(group, "lr", lr)
        self.max_lrs = _by_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(
                optimizer, base_momentum, max_momentum, last_epoch
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self):
        if self._scale_fn_custom is not None:
            return
        self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"
        self._scale_fn_ref = {
            "triangular": _scale_triangular,
            "triangular2": _scale_triangular2,
            "exp_range": partial(_scale_exp_range, self.gamma),
        }[self.mode]

    def scale_fn(self, x):
        """The height of cycle number x, or at iteration x, as scale_mode says."""
        return (self._scale_fn_custom or self._scale_fn_ref)(x)

    def get_lr(self):
        """The rates at self.last_epoch; sets the momentum."""
        self._warn_outside()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        if x <= self.step_ratio:
            part = x / self.step_ratio
        else:
            part = (x - 1) / (self.step_ratio - 1)
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        lrs = [
            base + (most - base) * part * self.scale_fn(at)
            for base, most in zip(self.base_lrs, self.max_lrs, strict=True)
        ]
        if self.cycle_momentum:
            momentums = [
                most - (most - base) * part * self.scale_fn(at)
                for base, most in zip(self.base_momentums, self.max_momentums, strict=True)
            ]
            for group, momentum in zip(self.optimizer.param_groups, momentums, strict=True):
                self._put_momentum(group, momentum)
        return lrs

    def state_dict(self):
        """A function for the scale is left out; of another callable the attributes are kept."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        fn = state["_scale_fn_custom"]
        if fn is not None:
            function = isinstance(fn, types.FunctionType)
            state["_scale_fn_custom"] = None if function else fn.__dict__.copy()
        return state

    def load_state_dict(self, state_dict):
        """Goes on from state_dict()."""
        state_dict = dict(state_dict)
        state = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if state is not None:
            self._scale_fn_custom.__dict__.update(state)
        self._init_scale_fn()


def _scale_triangular(x):
    return 1.0


def _scale_triangular2(x):
    return 1 / (2.0 ** (x - 1))


def _scale_exp_range(gamma, x):
    return gamma**x


def _anneal_cos(start, end, part):
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _anneal_linear(start, end, part):
    return (end - start) * part + start


def _phase(end, lr, momentum):
    return {
        "end_step": end,
        "start_lr": lr[0],
        "end_lr": lr[1],
        "start_momentum": momentum[0],
        "end_momentum": momentum[1],
    }


class OneCycleLR(_MomentumScheduler):
    """One cycle: up to max_lr, then down far below the initial lr (Smith, Topin, 2017)."""

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = self._total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or pct_start < 0 or pct_start > 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._schedule_phases = self._phases(pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        max_lrs = _by_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for most, group in zip(max_lrs, optimizer.param_groups, strict=True):
                group["initial_lr"] = most / div_factor
                group["max_lr"] = most
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _total(total_steps, epochs, steps_per_epoch):
        if total_steps is not None:
            if not isinstance(total_steps, int) or total_steps <= 0:
                raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
            return total_steps
        if epochs is None or steps_per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        for name, value in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        return epochs * steps_per_epoch

    def _phases(self, pct_start, three):
        n = self.total_steps
        up = ("max_momentum", "base_momentum")
        first = _phase(float(pct_start * n) - 1, ("initial_lr", "max_lr"), up)
        if not three:
            return [first, _phase(n - 1, ("max_lr", "min_lr"), up[::-1])]
        second = _phase(float(2 * pct_start * n) - 2, ("max_lr", "initial_lr"), up[::-1])
        return [first, second, _phase(n - 1, ("initial_lr", "min_lr"), (up[0], up[0]))]

    def get_lr(self):
        """The rates at self.last_epoch; sets the momentum."""
        self._warn_outside()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        part = (step - start) / (phase["end_step"] - start)
        anneal = _anneal_cos if self._anneal_func_type == "cos" else _anneal_linear
        lrs = []
        for group in self.optimizer.param_groups:
            lrs.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._put_momentum(group, anneal(*ends, part))
        return lrs
