"""torch.accelerator for programs that ask for one: there is none in this build."""

__all__ = ["current_accelerator", "device_count", "is_available", "set_device_index", "synchronize"]


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def current_accelerator(check_available=False):
    """None."""


def set_device_index(device):
    """An error: there is none to set."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def synchronize(device=None):
    """An error: there is none to wait for."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def __getattr__(name):
    from ._missing import error

    raise error("torch.accelerator", name)
