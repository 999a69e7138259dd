"""torch.nn.parallel: one model on several ranks (torch.distributed), or on one device."""

import sys as _sys
from contextlib import contextmanager

from ... import _C
from ... import distributed as dist
from ..modules.module import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A model that the ranks of a process group train together, each on its part of a batch.

    It begins with rank 0's parameters on all ranks. backward() waits for the other ranks and leaves
    the mean of their gradients in .grad, the same bits on all; while it trains, each forward first
    takes rank 0's buffers. A parameter that only some ranks use counts as zeros on the others, so
    find_unused_parameters has nothing to do.
    """

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=True,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
    ):
        super().__init__()
        parameters, buffers = tuple(module.parameters()), tuple(module.buffers())
        if not any(p.requires_grad for p in parameters):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        if not init_sync:
            raise NotImplementedError("the ranks always begin with the parameters of rank 0")
        group = dist._group(process_group)
        self.process_group = group
        self.module = module
        self.broadcast_buffers = bool(broadcast_buffers and buffers)
        self.require_backward_grad_sync = True
        bytes_ = int((25 if bucket_cap_mb is None else bucket_cap_mb) * 1024 * 1024)
        shared = buffers if broadcast_buffers else ()
        self._parallel = _C._parallel(parameters, shared, group._handle, bytes_)

    def forward(self, *inputs, **kwargs):
        """The module's, behind rank 0's buffers if it trains."""
        if self.broadcast_buffers and self.training and self.require_backward_grad_sync:
            _C._parallel_share(self._parallel)
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self):
        """Inside, gradients add up on each rank; the next backward outside averages the sums."""
        before = _C._parallel_sync(self._parallel, False)
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            _C._parallel_sync(self._parallel, before)
            self.require_backward_grad_sync = before


class DataParallel(Module):
    """The module on the device where it is: one device does what torch divides among several."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        if device_ids is not None and len(device_ids) > 1:
            raise NotImplementedError(
                "DataParallel uses one device; for several ranks see DistributedDataParallel"
            )
        self.module = module
        self.device_ids = [] if device_ids is None else list(device_ids)
        self.output_device, self.dim = output_device, dim

    def forward(self, *inputs, **kwargs):
        """The module's."""
        return self.module(*inputs, **kwargs)


def scatter(inputs, target_gpus, dim=0):
    """The parts of the tensors in inputs, one for each device; other objects are in each part."""
    from ...utils._pytree import tree_flatten, tree_unflatten

    leaves, spec = tree_flatten(inputs)
    n = len(target_gpus)
    parts = [x.chunk(n, dim) if isinstance(x, _C.Tensor) else [x] * n for x in leaves]
    n = min((len(p) for p in parts), default=n)
    made = [[p[i] for p in parts] for i in range(n)]
    for part, device in zip(made, target_gpus, strict=False):
        part[:] = [x.to(device) if isinstance(x, _C.Tensor) else x for x in part]
    return [tree_unflatten(part, spec) for part in made]


def gather(outputs, target_device, dim=0):
    """One output of those of all devices, which become one along dim."""
    from ...utils._pytree import tree_flatten, tree_unflatten

    each = [tree_flatten(o) for o in outputs]
    columns = zip(*(leaves for leaves, _ in each), strict=True)
    whole = [_C.cat([x.to(target_device) if x.dim() else x.to(target_device).view(1) for x in c],
                    dim) for c in columns]  # fmt: skip
    return tree_unflatten(whole, each[0][1])


def replicate(network, devices, detach=False):
    """The module on one device. Several are refused unless detach is given: gradients of copies do
    not reach the module."""
    import copy

    if len(devices) == 1:
        return [network.to(devices[0])]
    if not detach:
        raise NotImplementedError(
            "replicate: gradients of copies do not reach the module; use DistributedDataParallel"
        )
    return [copy.deepcopy(network).to(d) for d in devices]


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """What each module gives for its input."""
    kwargs_tup = kwargs_tup or [{}] * len(modules)
    calls = zip(modules, inputs, kwargs_tup, strict=True)
    return [m(*(i if isinstance(i, (list, tuple)) else (i,)), **k) for m, i, k in calls]


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """DataParallel(module)(inputs), without the object."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return DataParallel(module, device_ids)(*inputs, **(module_kwargs or {}))


for _file in "distributed data_parallel scatter_gather replicate parallel_apply".split():
    _sys.modules[f"{__name__}.{_file}"] = _sys.modules[__name__]
distributed = _sys.modules[__name__]
