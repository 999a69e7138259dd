"""torch.special: rows, which say their names here themselves, and functions that are composed."""

from ._spaces import space

__getattr__, __dir__ = space(__name__)
