"""The elements of a row's samples: tests/ops/elements.h, which the C lanes include, as a library.

    tensor_elements(2, "float", (2, 4, 4), "pd")      of the third tensor of a sample, real and imaginary parts in turn
"""

import ctypes
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("bool", "int", "uint", "float", "complex")
SOURCE = """
#include "%s/../ops/elements.h"
uint64_t hash_of(uint64_t x) { return elements_hash(x); }
int structure_of(const char *word) { return elements_structure_named(word); }
bool fits(int structure, int ndim, const int64_t *size) { return elements_fit(structure, ndim, size); }
void fill(const elements *e, int64_t numel, double *to) {
    for (int64_t i = 0; i < numel; i++) elements_at(e, i, numel, to + 2 * i);
}
"""


class _Elements(ctypes.Structure):
    _fields_ = [("tensor", ctypes.c_int), ("kind", ctypes.c_int), ("structure", ctypes.c_int), ("grid", ctypes.c_int),
                ("ndim", ctypes.c_int), ("size", ctypes.POINTER(ctypes.c_int64)), ("below", ctypes.c_double),
                ("lo", ctypes.c_double), ("hi", ctypes.c_double)]


def _compiled():
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "elements.c"), os.path.join(folder, "elements.so")
        with open(source, "w", encoding="utf-8") as f:
            f.write(SOURCE % HERE)
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-std=gnu99", "-O2", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        return ctypes.CDLL(library)


_library = _compiled()
_library.hash_of.restype = ctypes.c_uint64
_library.fits.restype = ctypes.c_bool


def splitmix(x):
    return _library.hash_of(ctypes.c_uint64(x))


def is_structure(word):
    return _library.structure_of(word.encode()) != 0


def tensor_elements(which, kind, size, structure="", below=0.0, lo=-2.0, hi=2.0, grid=0):
    sizes, numel = (ctypes.c_int64 * max(1, len(size)))(*size), 1
    for s in size:
        numel *= s
    number = _library.structure_of(structure.encode())
    if not _library.fits(number, len(size), sizes):
        raise ValueError(f"a tensor of sizes {size} cannot be {structure}")
    e = _Elements(which, KINDS.index(kind), number, grid, len(size), sizes, below, lo, hi)
    to = (ctypes.c_double * (2 * numel + 1))()
    _library.fill(ctypes.byref(e), ctypes.c_int64(numel), to)
    return list(to[:2 * numel])
