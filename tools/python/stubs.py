"""Writes tensorh/_C.pyi, __init__.pyi, nn/modules/__init__.pyi and the stubs of namespaces in which
rows stand (linalg.pyi, nn/functional.pyi, ..): types for editors and checkers.

    PYTHONPATH=. python tools/python/stubs.py [--check] [FOLDER]

Functions and methods of rows come from the rows as the built extension tells them
(tensorh._C._rows); what is no row is looked at as it is. --check writes nothing and fails when the
files in FOLDER (default: tensorh/ beside tools/) are not what would be written.
"""

import difflib
import functools
import inspect
import pkgutil
import re
import sys
from pathlib import Path

import tensorh as th
from tensorh import _C

HEAD = '''"""{what} Written by tools/python/stubs.py."""
# ruff: noqa
'''
IMPORTS = """
from builtins import bool as _bool, bytes as _bytes, complex as _complex, float as _float
from builtins import int as _int, str as _str, tuple as _tuple
from collections.abc import Iterator as _Iterator, Sequence as _Sequence
from typing import Any as _Any, Literal as _Literal, NamedTuple as _NamedTuple
from typing import overload as _overload

_Number = _bool | _int | _float | _complex
"""
# Types of the schema; a `?` adds None.
TYPES = {
    "Tensor": "Tensor", "Tensor|Scalar": "Tensor | _Number", "Tensor[]": "_Sequence[Tensor]",
    "Tensor?[]": "_Sequence[Tensor | None]", "int": "_int", "int[]": "_int | _Sequence[_int]",
    "float": "_float", "float[]": "_Sequence[_float]", "bool": "_bool", "Scalar": "_Number",
    "ScalarType": "_dtype", "Device": "_device | _str", "Generator": "Generator", "str": "_str",
}  # fmt: skip
BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
COMPARED = "lt le eq ne gt ge".split()
SLOTS = {
    "__getitem__": "(self, index: _Any) -> Tensor", "__len__": "(self) -> _int",
    "__setitem__": "(self, index: _Any, value: _Any) -> None", "__bool__": "(self) -> _bool",
    "__int__": "(self) -> _int", "__float__": "(self) -> _float", "__index__": "(self) -> _int",
    "__complex__": "(self) -> _complex", "__iter__": "(self) -> _Iterator[Tensor]",
    "__neg__": "(self) -> Tensor", "__pos__": "(self) -> Tensor", "__abs__": "(self) -> Tensor",
    "__invert__": "(self) -> Tensor", "__contains__": "(self, item: _Any) -> _bool",
}  # fmt: skip


def type_of(text, words):
    """Python's type of a schema's type."""
    plain = re.sub(r"\([a-z]!?\)", "", text)
    plain = re.sub(r"\[\d+\]", "[]", plain)
    optional = plain.endswith("?")
    plain = plain.removesuffix("?")
    made = f"_Literal[{', '.join(map(repr, words))}]" if words else TYPES[plain]
    return made + " | None" if optional else made


def default_of(text, words):
    """A default of the schema as Python writes it."""
    return repr(text) if words and text in words else text


def parameters(row, method):
    """The parameters of a row, as torch documents them."""
    parts, star = [], False
    for name, kind, default, _, keyword, words in row["params"]:
        if method and not parts:
            parts.append("self")
            continue
        if keyword and not star:
            parts.append("*")
            star = True
        if default is None and "Generator" in kind:
            default = "None"
        value = "" if default is None else f" = {default_of(default, words)}"
        reserved = name in ("from", "lambda")
        name = "input" if name == "self" else name + "_" * reserved
        parts.append(f"{name}: {type_of(kind, words)}{value}")
        if reserved:
            parts.append("/")
    more = []
    if row["out"] and not method and not row["in place"]:
        more.append(
            f"out: {'Tensor' if row['results'] == 1 else '_tuple[Tensor, ...]'} | None = None"
        )
    if row["creates"]:
        more.append("requires_grad: _bool = False")
    return parts + ["*"] * bool(more and not star) + more


def result_class(row):
    return f"_{row['name']}_result"


def result_of(row):
    """Python's type of what a row gives."""
    given = row["schema"].split("-> ")[1]
    if row["results"] == -1:
        return "_tuple[Tensor, ...]"
    if row["results"] > 1:
        return result_class(row)
    return {"()": "None", "bool": "_bool"}.get(given, "Tensor")


def ints_by_place(row, method):
    """The row with its only parameter by place, ints, written as x.view(2, 3)."""
    parts = parameters(row, method)
    place = parts[: parts.index("*")] if "*" in parts else parts
    at = 1 if method else 0
    if len(place) != at + 1 or "_int | _Sequence[_int]" not in place[at]:
        return None
    rest = [p for p in parts[at + 1 :] if p != "*"]
    return [*parts[:at], f"*{place[at].split(':')[0]}: _int", *rest]


def signatures(rows, method):
    """Lines of all ways in which the rows of one name are called."""
    found = []
    for row in rows:
        for parts in (parameters(row, method), ints_by_place(row, method)):
            if parts is not None:
                found.append(f"({', '.join(parts)}) -> {result_of(row)}: ...")
    return list(dict.fromkeys(found))


def define(name, found, indent=""):
    """A function with one signature, or overloads."""
    mark = f"{indent}@_overload\n" if len(found) > 1 else ""
    return [f"{mark}{indent}def {name}{one}" for one in found]


def plain_signature(function, method):
    """What `inspect` says of a function that is no row; names without types."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return f"({'self, ' if method else ''}*args: _Any, **kwargs: _Any) -> _Any: ..."
    signature = signature.replace(
        parameters=[p.replace(annotation=p.empty) for p in signature.parameters.values()],
        return_annotation=signature.empty,
    )
    if any(not simple(p.default) for p in signature.parameters.values()):
        return f"({'self, ' if method else ''}*args: _Any, **kwargs: _Any) -> _Any: ..."
    return f"{signature} -> _Any: ..."


def simple(value):
    """Whether repr(value) is the value in any module."""
    return value is inspect.Parameter.empty or isinstance(
        value, (bool, int, float, str, type(None))
    )


def type_of_value(value):
    """The type of an attribute, as its value on a small tensor shows it."""
    name = type(value).__name__
    if name in ("bool", "int", "float", "complex", "str", "dtype", "device"):
        return "_" + name
    return name if name in ("Tensor", "Size", "Generator") else "_Any"


def groups():
    """Rows by the name under which they are called, in-place forms among them."""
    by_name = {}
    for row in _C._rows():
        own = row["torch"].endswith("_")
        by_name.setdefault(row["torch"], []).append({**row, "in place": own})
        if row["inplace"] and not own:
            by_name.setdefault(row["torch"] + "_", []).append({**row, "in place": True})
    return by_name


def slots(cls):
    for name in sorted(n for n in vars(cls) if n.startswith("__")):
        core = name.strip("_").removeprefix("r") if name.startswith("__r") else name.strip("_")
        if name in SLOTS:
            yield f"    def {name}{SLOTS[name]}: ..."
        elif core in COMPARED and name == f"__{core}__":
            yield f"    def {name}(self, other: _Any) -> Tensor: ...  # type: ignore[override]"
        elif core in BINARY or core.removeprefix("i") in BINARY:
            yield f"    def {name}(self, other: _Any) -> Tensor: ..."


def tensor_class(by_name):
    """The class Tensor."""
    lines = ["class Tensor:"]
    lines.append("    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...")
    probe = th.zeros(2, 2)
    for name, thing in sorted(vars(th.Tensor).items()):
        if name.startswith("_"):
            continue
        if inspect.isgetsetdescriptor(thing) or isinstance(thing, property):
            try:
                made = type_of_value(getattr(probe, name))
            except Exception:  # x.imag of a real tensor
                made = "Tensor"
            lines += ["    @property", f"    def {name}(self) -> {made}: ..."]
            if name in ("grad", "requires_grad", "data"):
                lines += [f"    @{name}.setter", f"    def {name}(self, to: _Any) -> None: ..."]
        elif callable(thing):
            rows = [r for r in by_name.get(name, []) if r["method"]]
            found = signatures(rows, True) if rows and own(thing, rows) else None
            lines += define(name, found or [plain_signature(thing, True)], "    ")
    return lines + list(slots(th.Tensor)) + ["    __hash__: _Any"]


def own(thing, rows):
    """Whether a function is made of these rows, not written by hand."""
    return rows[0]["schema"] in (getattr(thing, "__doc__", None) or "")


def other_class(cls):
    """A class of the extension that is no Tensor."""
    base = f"({cls.__base__.__name__})" if cls.__base__ in (tuple, th.Tensor) else ""
    base = "(_tuple[_int, ...])" if cls.__base__ is tuple else base
    lines = [f"class {cls.__name__}{base}:"]
    probe = {th.dtype: th.float32, th.device: th.device("cpu"), th.Generator: th.default_generator}
    lines.append("    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...")
    for name, thing in sorted(vars(cls).items()):
        if name.startswith("_"):
            continue
        if callable(thing):
            lines += define(name, [plain_signature(thing, True)], "    ")
        else:
            made = type_of_value(getattr(probe.get(cls), name, None))
            lines += ["    @property", f"    def {name}(self) -> {made}: ..."]
    return lines


def extension():
    """The text of _C.pyi."""
    by_name = groups()
    lines = [HEAD.format(what="tensorh._C."), IMPORTS]
    public = {n: v for n, v in sorted(vars(_C).items()) if not n.startswith("_")}
    classes = {n: v for n, v in public.items() if isinstance(v, type)}
    for name, cls in classes.items():
        if name == cls.__name__ and cls is not th.Tensor:
            lines += other_class(cls)
    lines += ["_dtype = dtype", "_device = device"]
    for row in _C._rows():
        if row["results"] > 1:
            fields = row["schema"].split("-> (")[1].rstrip(")").split(", ")
            lines.append(f"class {result_class(row)}(_NamedTuple):")
            lines += [f"    {field.split()[1]}: Tensor" for field in fields]
    lines += tensor_class(by_name)
    for name, thing in public.items():
        if name in classes and classes[name].__name__ != name:
            lines.append(f"{name} = {classes[name].__name__}")
        elif name in by_name and own(thing, by_name[name]):
            lines += define(name, signatures(by_name[name], False))
        elif callable(thing) and name not in classes:
            lines += define(name, [plain_signature(thing, False)])
        elif name not in classes:
            lines.append(f"{name}: {type_of_value(thing)}")
    return "\n".join(lines) + "\n"


def package():
    """The text of __init__.pyi."""
    lines = [HEAD.format(what="tensorh."), "from typing import Any as _Any\n"]
    modules = [m.name for m in pkgutil.iter_modules(th.__path__) if not m.name.startswith("_")]
    lines += [f"from . import {name} as {name}" for name in sorted(modules)]
    lines.append("from ._C import *")
    lines.append("__version__: str")
    for name in sorted(dir(th)):
        if name.startswith("_") or name in modules or hasattr(_C, name):
            continue
        thing = getattr(th, name)
        home = getattr(thing, "__module__", None) or ""
        if inspect.ismodule(thing):
            continue
        if home.startswith("tensorh.") and getattr(thing, "__name__", None) == name:
            lines.append(f"from .{home.removeprefix('tensorh.')} import {name} as {name}")
        elif isinstance(thing, type):
            lines.append(f"{name}: type")
        elif inspect.isfunction(thing):
            lines += define(name, [plain_signature(thing, False)])
        else:
            lines.append(f"{name}: _Any")
    return "\n".join(lines) + "\n"


def space(name, by_name):
    """The stub of a namespace: the rows that stand there, and the module's own functions."""
    rows, dots = _C._spaces[name], "." * (name.count(".") + 1)
    module = functools.reduce(getattr, name.split("."), th)
    body = []
    for word in sorted(w for w in dir(module) if not w.startswith("_")):
        thing = getattr(module, word)
        home = getattr(thing, "__module__", None) or ""
        if isinstance(thing, type) and word in rows:
            body.append(f"class {word}({thing.__base__.__name__}): ...")
        elif home == module.__name__ or home.startswith("tensorh.nn._"):
            body += define(word, [plain_signature(thing, False)])
        elif word in rows:
            body += define(word, signatures(by_name[thing.__name__], False))
        elif module is th.special and home.startswith("tensorh._functions."):
            body.append(f"from {dots}{home.removeprefix('tensorh.')} import {word} as {word}")
    results = [result_class(row) for row in _C._rows() if row["results"] > 1]
    lines = [HEAD.format(what=f"tensorh.{name}."), IMPORTS]
    lines.append(f"from {dots}_C import Generator, Tensor, device as _device, dtype as _dtype")
    lines += [f"from {dots}_C import {c}" for c in results if any(c in line for line in body)]
    return "\n".join(lines + body) + "\n"


def modules():
    """The text of the stub of nn.modules: containers, and the classes of module rows."""
    from tensorh import nn

    lines = [HEAD.format(what="tensorh.nn.modules."), "from typing import Any as _Any\n"]
    lines.append("from . import loss as loss, utils as utils")
    for name in sorted(nn.modules.__all__):
        cls = getattr(nn.modules, name)
        if cls.__module__ != "tensorh.nn":
            home = cls.__module__.rpartition(".")[2]
            lines.append(f"from .{home} import {name} as {name}")
            continue
        made = plain_signature(cls, True).replace("-> _Any", "-> None")
        made = made if made.startswith("(self") else "(self, " + made.removeprefix("(")
        lines += [f"class {name}(Module):", f"    def __init__{made}".replace("(self, )", "(self)")]
    return "\n".join(lines) + "\n"


def stubs():
    """(path below the package, text) of each file."""
    by_name = groups()
    yield "_C.pyi", extension()
    yield "__init__.pyi", package()
    yield "nn/modules/__init__.pyi", modules()
    for name in sorted(_C._spaces):
        yield name.replace(".", "/") + ".pyi", space(name, by_name)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    root = Path(__file__).resolve().parents[2]
    folder = Path(arguments[0]) if arguments else root / "tensorh"
    bad = 0
    for name, text in stubs():
        path = folder / name
        old = path.read_text() if path.exists() else ""
        if "--check" not in sys.argv:
            path.write_text(text)
        elif old != text:
            bad = 1
            print(f"{path} is not current: make stubs")
            difference = difflib.unified_diff(old.splitlines(), text.splitlines(), lineterm="", n=0)
            print("\n".join(list(difference)[:12]))
    return bad


if __name__ == "__main__":
    sys.exit(main())
