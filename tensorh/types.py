"""torch.types: names for annotations."""

import builtins
import os
from typing import Any, TypeAlias

from ._C import Size, Tensor, device, dtype, layout

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | Any
Storage = Any  # a tensor's memory is its own
_bool, _int, _float, _complex = builtins.bool, builtins.int, builtins.float, builtins.complex
_dtype, _device, _layout = dtype, device, layout
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = Tensor | tuple[Tensor, ...] | list[Tensor]
