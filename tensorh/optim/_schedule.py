"""What all schedules of learning rates share."""

import warnings
from contextlib import contextmanager
from functools import wraps
from weakref import ref

from .. import _C
from .optimizer import Optimizer

_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. They are called in the "
    "opposite order: `optimizer.step()` before `lr_scheduler.step()`; else the first value of the "
    "learning rate schedule is skipped. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
    "initialization. Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. "
    "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. With an epoch the closed form "
    "is used in place of the one that goes on from the last rate, where there is one."
)
_GET_LR = "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."


# --- values of groups: numbers, or tensors that are written in place ------------------------------


def _copy(value):
    return value.clone() if isinstance(value, _C.Tensor) else value


def _values(optimizer, key):
    return [_copy(group[key]) for group in optimizer.param_groups]


def _put(group, key, value):
    if isinstance(group[key], _C.Tensor):
        group[key].fill_(value.item() if isinstance(value, _C.Tensor) else value)
    else:
        group[key] = value


def _by_group(name, optimizer, value):
    """A list with a value a group, from one value or a list."""
    n = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * n
    elif len(value) != n:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(value)} values, param_groups has {n}."
        )
    return [_copy(v) for v in value]


def _check_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _watch_step(optimizer):
    """Lets the optimizer's step note that it was called."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    func, owner = optimizer.step.__func__, ref(optimizer)

    @wraps(func)
    def step(*args, **kwargs):
        opt = owner()
        opt._opt_called = True
        return func(opt, *args, **kwargs)

    step._wrapped_by_lr_sched = True
    optimizer.step = step


class LRScheduler:
    """Base of all schedules: a subclass gives get_lr(), the rates at self.last_epoch.

    last_epoch: -1 for a new schedule, else the number of steps that were made before.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0."
                )
        self.base_lrs = _values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch_step(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        """All that is not the optimizer, as a dictionary."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict):
        """Goes on from state_dict()."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates that the last step has set, one a group."""
        return self._last_lr

    def get_lr(self):
        """The rates at self.last_epoch, one a group."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Sets the next rates; after the optimizer's step."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(_OVERRIDDEN, UserWarning, stacklevel=2)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(_ORDER, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        with self._asking():
            if epoch is not None and hasattr(self, "_get_closed_form_lr"):
                values = self._get_closed_form_lr()
            else:
                values = self.get_lr()
        self._set(values)

    def _set(self, values):
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            _put(group, "lr", lr)
        self._last_lr = _values(self.optimizer, "lr")

    @contextmanager
    def _asking(self):
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside(self):
        if not self._get_lr_called_within_step:
            warnings.warn(_GET_LR, UserWarning, stacklevel=3)

    def _lrs(self):
        return _values(self.optimizer, "lr")

    def _times(self, factor):
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class _LRScheduler(LRScheduler):
    """The old name of LRScheduler."""
