"""torch.return_types: the classes of results with names, as torch.max(x, 0) gives them."""
from . import _C


def __getattr__(name):
    return _C._return_type(name)
