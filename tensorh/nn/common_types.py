"""torch.nn.common_types: names for annotations of sizes, one number or as many as there are."""

from typing import TypeAlias

_size_1_t: TypeAlias = int | tuple[int]
_size_2_t: TypeAlias = int | tuple[int, int]
_size_3_t: TypeAlias = int | tuple[int, int, int]
_size_4_t: TypeAlias = int | tuple[int, int, int, int]
_size_5_t: TypeAlias = int | tuple[int, int, int, int, int]
_size_6_t: TypeAlias = int | tuple[int, int, int, int, int, int]
_size_any_t: TypeAlias = int | tuple[int, ...]
