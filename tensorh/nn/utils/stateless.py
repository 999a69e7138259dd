"""torch.nn.utils.stateless: functional_call, which torch.func has."""

from ...func import functional_call

__all__ = ["functional_call"]
