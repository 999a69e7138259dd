"""The operator rows as the extension tells them, and arguments made of their samples.

The grammar of samples is in docs/rows.md. Arguments are made anew at each call, with the same
bits, so that a call may change them.
"""

import ctypes
import dataclasses
import math
import os
import re
import sys

import numpy as np

import tensorh as th

SHORT = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64",
    "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8", "c64": "complex64",
    "c128": "complex128", "bool": "bool",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Param:
    """A parameter: its type as the schema spells it; default: text of the schema, or None."""

    name: str
    type: str
    default: str | None
    optional: bool
    keyword: bool
    words: list | None

    @property
    def required(self):
        return self.default is None and "Generator" not in self.type

    @property
    def default_value(self):
        """The default as a Python value."""
        return self.words and self.default in self.words and self.default or number(self.default)


@dataclasses.dataclass(frozen=True)
class Row:
    """A row; creates: it takes requires_grad, too; results: how many tensors it gives, -1: a list;
    places: its names below torch; method: whether it is one of Tensor."""

    torch: str
    name: str
    schema: str
    sample: str
    domain: str | None
    out: bool
    inplace: bool
    creates: bool
    results: int
    params: tuple
    places: str | None
    method: bool

    @property
    def function(self):
        """As a program calls it; a name with _ is not the package's."""
        return getattr(th._C if self.torch.startswith("_") else th, self.torch)

    @property
    def samples(self):
        """The texts of the samples."""
        return self.sample.split(" | ") if self.sample or not self.params else []

    @property
    def defined(self):
        """Whether the same arguments give the same values."""
        return not re.match("(new_)?empty", self.torch)

    def range(self, name):
        """Between which numbers the values of an argument are drawn."""
        match = re.search(rf"\b{name}:(\S+?)\.\.(\S+)", self.domain or "")
        return (float(match[1]), float(match[2])) if match else (-2.0, 2.0)

    def param(self, name):
        return next(p for p in self.params if p.name == name)


def rows():
    """All rows of the extension."""
    return [Row(**{**r, "params": tuple(Param(*p) for p in r["params"])}) for r in th._C._rows()]


def number(text):
    """A word of a sample or a default: None, a bool, a number, a list, or itself."""
    known = {"None": None, "True": True, "False": False, "inf": math.inf, "-inf": -math.inf}
    if text in known:
        return known[text]
    if text.startswith("["):
        inside = text[1:-1]
        return [number(t) for t in inside.split(",")] if inside else []
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text.strip("'")


def structured(size, name, structure, which, below):
    """The elements of a structure, as all lanes have them."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../oracle"))
    from elements import tensor_elements

    kind = "complex" if name.startswith("complex") else "float" if "float" in name else "int"
    parts = np.array(tensor_elements(which, kind, size, structure, below)).reshape(-1, 2)
    values = parts[:, 0] + 1j * parts[:, 1] if kind == "complex" else parts[:, 0]
    return values.reshape(size).astype("float32" if name == "bfloat16" else name)


def tensor(text, which, low=-2.0, high=2.0):
    """The tensor of an item such as (2,3):i64<4 or (3,3):pd; which seeds its values."""
    match = re.fullmatch(r"\(([^)]*)\)((?::\w+)*)(?:<([\d.]+))?", text)
    size = [int(n) for n in match[1].split(",") if n]
    words = match[2].split(":")[1:]
    name = next((SHORT[w] for w in words if w in SHORT), "float32")
    structure = next((w for w in words if w not in SHORT), "")
    random = np.random.default_rng(which)
    if structure:
        values = structured(size, name, structure, which, float(match[3] or 0))
    elif name == "bool":
        values = random.integers(0, 2, size).astype(bool)
    elif name.startswith(("int", "uint")):
        least, below = (0, int(match[3])) if match[3] else (0 if name[0] == "u" else -5, 6)
        values = random.integers(least, below, size).astype(name)
    elif name.startswith("complex"):
        values = random.uniform(low, high, size) + 1j * random.uniform(low, high, size)
        values = values.astype(name)
    else:
        values = random.uniform(low, high, size)
        values = values.astype("float32" if name == "bfloat16" else name)
    made = th.from_numpy(np.ascontiguousarray(values).reshape(size))
    return made.to(th.bfloat16) if name == "bfloat16" else made


def value(text, param, which, domain):
    """The value of an item for a parameter."""
    if text.startswith("("):
        return tensor(text, which, *domain)
    if text.startswith("{"):
        members = re.findall(r"\([^)]*\)(?::\w+)*(?:<[\d.]+)?|None", text)
        return [
            None if m == "None" else tensor(m, which + i, *domain) for i, m in enumerate(members)
        ]
    if "ScalarType" in param.type and text != "None":
        return getattr(th, SHORT.get(text, text))
    if "Device" in param.type and text != "None":
        return th.device(text)
    return number(text)


def arguments(row, sample):
    """The arguments of a sample by name, in the order of the schema."""
    given = {}
    for place, item in enumerate(sample.split()):
        match = re.match(r"(\w+)=(.*)", item)
        param = row.param(match[1]) if match else row.params[place]
        text = match[2] if match else item
        given[param.name] = value(text, param, 16 * place, row.range(param.name))
    return {p.name: given[p.name] for p in row.params if p.name in given}


def split(row, given):
    """Arguments by place as far as torch allows, and the rest by keyword."""
    place = []
    for p in row.params:
        if p.keyword or p.name not in given:
            break
        place.append(given[p.name])
    names = list(given)[len(place) :]
    return place, {n: given[n] for n in names}


def bits(x):
    """What a call gave, or was given, as values that can be compared: dtype, sizes, bytes."""
    if isinstance(x, th.Tensor):
        if x.device.type != "cpu":
            return x.dtype, tuple(x.shape), x.device
        flat = x.detach().contiguous() if hasattr(x, "detach") else x.contiguous()
        return x.dtype, tuple(x.shape), ctypes.string_at(flat.data_ptr(), flat.nbytes)
    if isinstance(x, (list, tuple)):
        return [bits(one) for one in x]
    if isinstance(x, dict):
        return {name: bits(one) for name, one in x.items()}
    return x if x == x else "nan"
