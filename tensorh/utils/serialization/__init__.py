"""torch.utils.serialization: files of Torch7, as torch once read them."""

from .read_lua_file import (
    BooleanKey,
    T7Reader,
    T7ReaderException,
    TorchFunction,
    TorchObject,
    load_lua,
)

__all__ = [
    "BooleanKey", "T7Reader", "T7ReaderException", "TorchFunction", "TorchObject", "load_lua",
]  # fmt: skip


def __getattr__(name):
    from ..._missing import error

    raise error("torch.utils.serialization", name)
