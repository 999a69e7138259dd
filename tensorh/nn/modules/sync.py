"""torch.nn.SyncBatchNorm: one rank alone normalizes over its own batch."""

from ._bases import _BatchNorm


class SyncBatchNorm(_BatchNorm):
    """BatchNorm over the batches of all ranks. Of one rank; more of them that train are refused."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True,
                 process_group=None, device=None, dtype=None, *, bias=True):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)  # fmt: skip
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def forward(self, input):
        """The input, normalized over all but its channels."""
        from ... import distributed

        if self.training and distributed.is_initialized():
            if distributed.get_world_size(self.process_group) > 1:
                raise NotImplementedError(
                    "SyncBatchNorm: statistics over several ranks are not here; DistributedData"
                    "Parallel shares rank 0's buffers of BatchNorm"
                )
        return super().forward(input)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with a SyncBatchNorm in place of each BatchNorm."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(module.num_features, module.eps, module.momentum, module.affine,
                       module.track_running_stats, process_group)  # fmt: skip
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                setattr(made, name, getattr(module, name))
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


__all__ = ["SyncBatchNorm"]
