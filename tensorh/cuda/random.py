"""torch.cuda.random: seeds and states of the default generator, from which devices draw, too."""

from .. import _C, _cuda

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]


def _there():
    return _cuda.count() > 0


def manual_seed(seed):
    """Seeds the default generator, from which devices draw, too; nothing where there is none."""
    if _there():
        _C.manual_seed(seed)


manual_seed_all = manual_seed


def seed():
    """The same with a random number."""
    if _there():
        _C.default_generator.seed()


seed_all = seed


def get_rng_state(device="cuda"):
    """The state of the default generator, from which devices draw, too."""
    _C._cuda_index(_cuda.number(device))
    return _C.default_generator.get_state()


def set_rng_state(new_state, device="cuda"):
    """Sets it; nothing where there is no device."""
    if _there():
        _C.default_generator.set_state(new_state)


def get_rng_state_all():
    """A state for each device."""
    return [get_rng_state(i) for i in range(_cuda.count())]


def set_rng_state_all(new_states):
    """Sets a state for each device."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)


def initial_seed():
    """The seed of the default generator."""
    return _C.default_generator.initial_seed()
