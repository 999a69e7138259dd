"""Files of named tensors (.safetensors), spelled as the package safetensors and safetensors.torch.

Reading and writing is the library's: a file is checked before anything is made of it, and a path
holds the old file or the new one. `from tensorh.safetensors.torch import save_file` works, too.
"""

import json
import os
import struct
import sys
import tempfile

from . import _C

__all__ = [
    "SafetensorError",
    "load",
    "load_file",
    "load_index",
    "load_model",
    "safe_open",
    "save",
    "save_file",
    "save_model",
]


class SafetensorError(Exception):
    """A file or a name that is not right."""


def _check(tensors):
    if not isinstance(tensors, dict):
        raise ValueError(
            f"Expected a dict of [str, torch.Tensor] but received {type(tensors).__name__}"
        )


def save_file(tensors, filename, metadata=None):
    """Saves {name: tensor}, with texts {key: value} in the header."""
    _check(tensors)
    _C._safetensors_save(filename, tensors, metadata)


def load_file(filename, device="cpu"):
    """{name: tensor} of a file."""
    return _to(_call(_C._safetensors_load, filename), device)


def load_index(filename, device="cpu"):
    """{name: tensor} of the files that an index names, such as model.safetensors.index.json.

    The package safetensors has no such function. The files lie beside the index; a name that leads
    elsewhere, and a file or a tensor that is missing, is an error that names it.
    """
    return _to(_call(_C._safetensors_load_index, filename), device)


def save(tensors, metadata=None):
    """The bytes of the file that save_file would write."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tensors")
        save_file(tensors, path, metadata)
        with open(path, "rb") as f:
            return f.read()


def load(data):
    """{name: tensor} of the bytes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tensors")
        with open(path, "wb") as f:
            f.write(data)
        return load_file(path)


def save_model(model, filename, metadata=None, force_contiguous=True):
    """Saves model.state_dict(); a tensor that stands there twice is written once.

    force_contiguous: accepted; a file holds the elements of each tensor in their order.
    """
    names, tensors, metadata = {}, {}, dict(metadata or {})
    for name, t in model.state_dict().items():
        key = (t.data_ptr(), tuple(t.shape), t.stride(), t.dtype) if t.numel() else id(t)
        if key in names:
            metadata[name] = names[key]
        else:
            names[key] = name
            tensors[name] = t
    save_file(tensors, filename, metadata or None)


def load_model(model, filename, strict=True, device="cpu"):
    """Loads a file of save_model into a model; returns missing and unexpected names."""
    with safe_open(filename, device=device) as f:
        tensors = {name: f.get_tensor(name) for name in f.keys()}
        for name, other in (f.metadata() or {}).items():
            if other in tensors:
                tensors.setdefault(name, tensors[other])
    missing, unexpected = model.load_state_dict(tensors, strict=strict)
    return set(missing), list(unexpected)


def _call(function, *args):
    """The library's error about a file, in the words of safetensors."""
    try:
        return function(*args)
    except OSError as e:
        if args and isinstance(args[0], (str, bytes, os.PathLike)) and not os.path.exists(args[0]):
            raise FileNotFoundError(f"No such file or directory: {args[0]}") from e
        raise
    except MemoryError:
        raise
    except RuntimeError as e:
        raise SafetensorError(str(e)) from e


def _to(tensors, device):
    if str(device) == "cpu":
        return tensors
    return {name: t.to(device) for name, t in tensors.items()}


class safe_open:  # noqa: N801 - the name is safetensors'
    """An open file: names and sizes are read, tensors when they are asked for."""

    def __init__(self, filename, framework="pt", device="cpu", **_):
        if framework not in ("pt", "torch", "pytorch"):
            raise SafetensorError(f"framework {framework!r} is not supported")
        self._file = _call(_C._safetensors_open, filename)
        self._names = _C._safetensors_names(self._file)
        self._device = device
        with open(filename, "rb") as f:
            (n,) = struct.unpack("<Q", f.read(8))
            self._header = json.loads(f.read(n))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self._file = None

    def keys(self):
        """The names of the tensors."""
        return sorted(self._names)

    def offset_keys(self):
        """The names in the order of the file."""
        return list(self._names)

    def metadata(self):
        """The texts of the header, or None."""
        return self._header.get("__metadata__")

    def get_tensor(self, name):
        """A new tensor with the data of that name."""
        if self._file is None:
            raise SafetensorError("File is closed")
        if name not in self._names:
            raise SafetensorError(f"File does not contain tensor {name}")
        t = _call(_C._safetensors_get, self._file, name)
        return t if str(self._device) == "cpu" else t.to(self._device)

    def get_slice(self, name):
        """A tensor that is read when it is indexed."""
        if name not in self._names:
            raise SafetensorError(f"File does not contain tensor {name}")
        return _Slice(self, name, self._header[name])


class _Slice:
    def __init__(self, file, name, header):
        self._file, self._name, self._header = file, name, header

    def get_shape(self):
        """Its sizes, as a list."""
        return list(self._header["shape"])

    def get_dtype(self):
        """Its dtype in the words of the format, "F32"."""
        return self._header["dtype"]

    def __getitem__(self, index):
        return self._file.get_tensor(self._name)[index]


torch = sys.modules[__name__]
sys.modules[__name__ + ".torch"] = torch
