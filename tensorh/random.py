"""torch.random: the default generator's state and seeds."""

import contextlib

from . import _C, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
           "set_rng_state"]  # fmt: skip
default_generator = _C.default_generator


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, device_type="cpu"):
    """What is drawn inside leaves the default generator as it was. devices: none is there."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
