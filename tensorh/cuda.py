"""torch.cuda for programs that ask whether there is a GPU: there is none in this build."""

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "set_device",
    "synchronize",
]


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def manual_seed(seed):
    """Nothing, as torch does where there is no GPU."""


def manual_seed_all(seed):
    """Nothing, as torch does where there is no GPU."""


def empty_cache():
    """Nothing, as torch does before a GPU is used."""


def _refuse(*args, **kwargs):
    """Raises, as torch that was built without CUDA."""
    raise AssertionError("tensorh is not compiled with CUDA enabled")


current_device = get_device_name = set_device = synchronize = _refuse


def __getattr__(name):
    from ._missing import error

    raise error("torch.cuda", name)
