"""Files of tensors that other programs write and read: NumPy's .npy and .npz, tables as text (CSV).

torch has no such functions. Reading and writing is the library's: a file is data and nothing in it
runs, and a path holds the old file or the new one. A `file` is a path or an open binary file.
"""

import os

from . import _C

__all__ = ["load_csv", "load_npy", "load_npz", "save_npy", "save_npz"]


def _source(file):
    return memoryview(file.read()) if hasattr(file, "read") else os.fsdecode(file)


def _save(function, file, what):
    if hasattr(file, "write"):
        file.write(function(None, what))
    else:
        function(os.fsdecode(file), what)


def load_npy(file):
    """The tensor of a .npy file, with the strides of its order.

    Objects, structured dtypes and texts are a RuntimeError.
    """
    return _C._npy_load(_source(file))


def save_npy(file, tensor):
    """Writes a tensor as a .npy file; bfloat16 and float8, which NumPy lacks, are an error."""
    _save(_C._npy_save, file, tensor)


def load_npz(file):
    """{name: tensor} of a .npz file, compressed or not, in its order."""
    return _C._npz_load(_source(file))


def save_npz(file, tensors):
    """Writes {name: tensor} as np.savez does, without compression."""
    _save(_C._npz_save, file, dict(tensors))


def load_csv(path, delimiter=",", header=None, dtype=None):
    """A table of numbers as text: (tensor of rows and columns, list of the header's names).

    header: whether the first row has names; None: it does if a cell of it is no number. Without a
    header the list is empty. dtype: an integer or floating one; None: the default dtype. An empty
    cell is NaN, and an error in integers. Errors name the line and the column.
    """
    kind = 0 if header is None else 1 if header else 2
    return _C._csv_load(os.fspath(path), delimiter, kind, dtype)
