"""torch.nn.parallel: one model on several ranks (torch.distributed), or on one device."""

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
