"""torch.utils.tensorboard: scalars, histograms, pictures and texts for TensorBoard.

Event files are written by this package alone: TensorBoard is needed to look at them, not here."""

from .record import FileWriter, RecordWriter
from .writer import SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
