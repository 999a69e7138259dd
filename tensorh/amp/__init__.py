"""torch.amp: autocast of the CPU, and GradScaler. Where no GPU can be used, those of "cuda" are
switched off with torch's warning, so that programs for a GPU run in float32."""

from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
