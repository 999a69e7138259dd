"""torch.cuda.sparse: types of sparse tensors of devices, for old programs."""

from .._functions.dtypes import types_of

globals().update(types_of("torch.cuda.sparse"))
