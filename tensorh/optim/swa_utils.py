"""torch.optim.swa_utils - averages of a model's weights (P. Izmailov et al., 2018; EMA)."""

import copy
import itertools
import math

from .. import _C, no_grad, tensor
from .. import int64 as _int64
from ..nn import Module
from ._schedule import LRScheduler, _by_group

__all__ = [
    "AveragedModel",
    "SWALR",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


# --- functions of averages ------------------------------------------------------------------------


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def _moves_by_lerp(t):
    return t.is_floating_point() or t.is_complex()


def get_ema_multi_avg_fn(decay=0.999):
    """A function(averages, parameters, n) that sets averages to decay * average + the rest."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for average, p in zip(ema_param_list, current_param_list, strict=True):
            if _moves_by_lerp(ema_param_list[0]):
                average.lerp_(p, 1 - decay)
            else:
                average.copy_(average * decay + p * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    """A function(averages, parameters, n) that sets averages of n models to those of n + 1."""

    @no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        share = 1 / (num_averaged + 1)
        if isinstance(share, _C.Tensor):
            share = share.item()
        for average, p in zip(averaged_param_list, current_param_list, strict=True):
            if _moves_by_lerp(averaged_param_list[0]):
                average.lerp_(p, share)
            elif isinstance(num_averaged, _C.Tensor):
                average.addcdiv_(p - average, num_averaged + 1)
            else:
                average.add_(p - average, alpha=share)

    return swa_update


def get_ema_avg_fn(decay=0.999):
    """A function(average, parameter, n) that gives decay * average + the rest."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """A function(average, parameter, n) that gives the average of n + 1 models from that of n."""

    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


# --- models ---------------------------------------------------------------------------------------


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those that update_parameters() is given.

    avg_fn(average, parameter, n) gives an average; multi_avg_fn(averages, parameters, n) writes
    lists. Without either, all models count the same. use_buffers: buffers are averaged, too; else
    they are the model's.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=_int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        """The copy's."""
        return self.module(*args, **kwargs)

    def _tensors(self, model):
        return itertools.chain(model.parameters(), model.buffers() if self.use_buffers else ())

    def _average(self, averages, params):
        n = self.n_averaged
        if self.multi_avg_fn is None:
            each = self.avg_fn or get_swa_avg_fn()
            for average, p in zip(averages, params, strict=True):
                average.copy_(each(average, p, n.to(average.device)))
            return
        groups = {}
        for average, p in zip(averages, params, strict=True):
            group = groups.setdefault((average.device, average.dtype), ([], []))
            group[0].append(average)
            group[1].append(p)
        for (device, _), (some, others) in groups.items():
            self.multi_avg_fn(some, others, n.to(device))

    def update_parameters(self, model):
        """Counts the model's parameters in; those of the first one are copied."""
        averages, params = [], []
        for average, p in zip(self._tensors(self.module), self._tensors(model), strict=False):
            averages.append(average.detach())
            params.append(p.detach().to(average.device))
        if self.n_averaged == 0:
            for average, p in zip(averages, params, strict=True):
                average.copy_(p)
        else:
            self._average(averages, params)
        if not self.use_buffers:
            for own, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                own.detach().copy_(buffer.detach().to(own.device))
        self.n_averaged += 1


def _is_batch_norm(module):
    from .. import nn

    names = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
    return isinstance(module, tuple(getattr(nn, name) for name in names if hasattr(nn, name)))


@no_grad()
def update_bn(loader, model, device=None):
    """Sets the running statistics of batch norms to those of all batches of loader, in one pass.

    A batch is a tensor, or a list or tuple whose first item is the model's input.
    """
    momenta = {}
    for module in model.modules():
        if _is_batch_norm(module):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


# --- rates ----------------------------------------------------------------------------------------


class SWALR(LRScheduler):
    """From the present lr to swa_lr in anneal_epochs epochs, along a cosine or a line."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for rate, group in zip(
            _by_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True
        ):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t):
        """The share of swa_lr at t of the way, 0 to 1."""
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def _share(self, step):
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self):
        """The rates at self.last_epoch."""
        self._warn_outside()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, share = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            lr, end = group["lr"], group["swa_lr"]
            begin = end if before == 1 else (lr - before * end) / (1 - before)
            rates.append(end * share + begin * (1 - share))
        return rates
