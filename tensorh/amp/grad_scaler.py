"""torch.amp.GradScaler: scales a loss so that small gradients of half precision survive, and
skips steps whose gradients overflow (P. Micikevicius et al., Mixed Precision Training, 2018)."""

import warnings
from collections import defaultdict

from .. import _C

__all__ = ["GradScaler", "OptState"]


class OptState:
    """How far an optimizer is within a step."""

    READY, UNSCALED, STEPPED = 0, 1, 2


def _fresh():
    return {"stage": OptState.READY, "found_inf": False}


class GradScaler:
    """scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()

    init_scale, growth_factor (> 1), backoff_factor (< 1), growth_interval: steps without an
    overflow before the scale grows. enabled=False: every method passes its argument through.
    """

    def __init__(
        self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5,
        growth_interval=2000, enabled=True,
    ):  # fmt: skip
        self._device = device
        if enabled and device == "cuda":
            from .. import cuda

            if not cuda.is_available():
                warnings.warn(
                    "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                    stacklevel=2,
                )
                enabled = False
        self._enabled = enabled
        if not enabled:
            return
        if not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._scale, self._growth_tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._per_optimizer_states = defaultdict(_fresh)

    def scale(self, outputs):
        """outputs, a tensor or nested lists and tuples of them, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, _C.Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            parts = [self.scale(x) for x in outputs]
            if hasattr(outputs, "_fields"):
                return type(outputs)(*parts)
            return type(outputs)(parts)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer):
        """Divides the gradients of the optimizer's parameters by the scale, once a step."""
        if not self._enabled:
            return
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] == OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] == OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        finite, by = True, 1.0 / self._scale
        with _C.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if p.grad.dtype == _C.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    finite = finite and bool(_C.isfinite(p.grad).all())
                    p.grad.mul_(by)
        state.update(found_inf=not finite, stage=OptState.UNSCALED)

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(*args, **kwargs), unless a gradient is infinite or NaN; then None."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] == OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] == OptState.READY:
            self.unscale_(optimizer)
        result = None if state["found_inf"] else optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """The scale for the next step: smaller after an overflow, larger after a long time without
        one, or new_scale, a number or a tensor of one."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            states = self._per_optimizer_states.values()
            if not any(s["stage"] != OptState.READY for s in states):
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(s["found_inf"] for s in states):
                self._scale *= self._backoff_factor
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    grown = self._scale * self._growth_factor
                    self._scale = grown if grown < float("inf") else self._scale
                    self._growth_tracker = 0
        self._per_optimizer_states = defaultdict(_fresh)

    def is_enabled(self):
        """Whether the scaler does anything."""
        return self._enabled

    def get_scale(self):
        """The scale; 1 where the scaler is not enabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self):
        """By what the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Sets by what the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """By what the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Sets by what the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """Steps without an overflow before the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Sets the steps without an overflow before the scale grows."""
        self._growth_interval = new_interval

    def state_dict(self):
        """Scale, factors and counter; empty where the scaler is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict):
        """What state_dict gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from "
                               "a disabled instance of GradScaler.")  # fmt: skip
        self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
