"""torch.amp: GradScaler, and autocast where it changes nothing. Where no GPU can be used both are
switched off with torch's warning, so that programs for a GPU run in float32; autocast of the CPU is
planned."""

from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
