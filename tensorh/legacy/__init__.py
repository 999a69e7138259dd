"""torch.legacy: Torch7's modules and optimizers, as torch had them before 1.0, over tensorh.nn.

`import tensorh.legacy.nn as nn` and `import tensorh.legacy.optim as optim`."""

from . import nn, optim

__all__ = ["nn", "optim"]
