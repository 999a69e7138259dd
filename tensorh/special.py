"""torch.special: rows, which say their names here themselves, and functions that are composed."""

import tensorh

from ._spaces import space

exp2, logit, sinc, xlogy = tensorh.exp2, tensorh.logit, tensorh.sinc, tensorh.xlogy

__getattr__, __dir__ = space(__name__)
