"""torch.utils.serialization: files of Torch7, as torch once read them."""

from .read_lua_file import T7Reader, T7ReaderException, TorchFunction, TorchObject, load_lua

__all__ = ["T7Reader", "T7ReaderException", "TorchFunction", "TorchObject", "load_lua"]


def __getattr__(name):
    from ..._missing import error

    raise error("torch.utils.serialization", name)
