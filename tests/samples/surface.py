"""make coverage: which of torch's public names the package has, by group; why others are absent.

Asks both packages; without torch its side is tests/samples/names.txt, which `--write` makes. A name
that is absent has a reason in tensorh/_missing.py, or is unknown, which fails.
"""

import importlib
import os
import sys
import types
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "names.txt")
GROUPS = """torch Tensor torch.nn torch.nn.Module torch.nn.functional torch.nn.init torch.nn.utils
torch.nn.utils.rnn torch.nn.utils.parametrize torch.nn.utils.parametrizations torch.nn.utils.prune
torch.nn.attention torch.nn.parallel torch.optim torch.optim.Optimizer torch.optim.lr_scheduler
torch.optim.swa_utils torch.linalg torch.fft torch.special torch.signal.windows torch.masked
torch.distributions torch.distributions.constraints torch.distributions.transforms torch.utils.data
torch.utils.checkpoint torch.utils.dlpack torch.utils.hooks torch.amp torch.autograd
torch.autograd.functional torch.autograd.forward_ad torch.autograd.graph torch.autograd.profiler
torch.func torch.random torch.testing torch.serialization torch.overrides torch.library torch.hub
torch.jit torch.compiler torch.onnx torch.backends.cuda torch.accelerator
torch.cuda torch.cpu torch.profiler torch.futures torch.multiprocessing torch.sparse torch.nested
torch.distributed torch.export torch.fx torch.Generator torch.Size""".split()


def owner(package, group):
    """The module or class of a group in torch or tensorh, or None."""
    parts = group.removeprefix("torch").strip(".").split(".") if group != "Tensor" else ["Tensor"]
    here = importlib.import_module(package)
    for k, part in enumerate(p for p in parts if p):
        try:
            here = getattr(here, part)
        except AttributeError:
            try:
                here = importlib.import_module(f"{package}.{'.'.join(parts[: k + 1])}")
            except Exception:
                return None
    return here


def public(value):
    """The names that a namespace means to give: __all__, else what is its own."""
    if isinstance(value, type):
        return [n for n in dir(value) if n[0] != "_" or (
            n.endswith("__") and getattr(value, n) is not getattr(object, n, None)
            and n not in ("__dict__", "__module__", "__doc__", "__weakref__", "__annotations__",
                          "__firstlineno__", "__getattr__", "__setstate__",
                          "__static_attributes__", "__slots__"))]  # fmt: skip
    if hasattr(value, "__all__"):
        names = {n for n in value.__all__ if n[0] != "_" and hasattr(value, n)}
        if value.__name__ != "torch":
            return sorted(names)
    else:
        names = set()
    for name, item in vars(value).items():
        if isinstance(item, types.ModuleType):
            own = item.__name__.startswith(value.__name__ + ".")
        else:
            own = str(getattr(item, "__module__", None) or "torch").startswith("torch")
        if name[0] != "_" and own and type(item).__module__ not in ("typing", "__future__"):
            names.add(name)
    return sorted(names)


def of_torch():
    found = {}
    for group in GROUPS:
        there = owner("torch", group)
        if there is not None:
            found[group] = public(there)
    return found


def of_list():
    found, names = {}, None
    with open(LIST, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("## "):
                names = found[line.split()[1]] = []
            elif line.strip() and line[0] != "#":
                names += line.split()
    return found


def text_of_list():
    with open(LIST, encoding="utf-8") as f:
        return f.read()


def write(found, version):
    lines = [f"# The public names of torch {version}; surface.py --write makes this file."]
    for group, names in found.items():
        lines.append(f"## {group} ({len(names)})")
        row = ""
        for name in names:
            if len(row) + len(name) > 118:
                lines.append(row)
                row = ""
            row += (" " if row else "") + name
        lines.append(row)
    with open(LIST, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def compared(found):
    """group -> (present, {reason: names that are absent})."""
    from tensorh import _missing

    result = {}
    for group, names in found.items():
        here = owner("tensorh", group)
        absent = {}
        for name in names:
            if here is None or not hasattr(here, name):
                why = _missing.reason(group, name) or "unknown"
                absent.setdefault(why, []).append(name)
        result[group] = (len(names) - sum(map(len, absent.values())), absent)
    return result


def main():
    source = "tests/samples/names.txt"
    try:
        import torch

        warnings.simplefilter("ignore")
        found, source = of_torch(), f"torch {torch.__version__}"
        if "--write" in sys.argv:
            write(found, torch.__version__.partition("+")[0])
    except ImportError:
        found = of_list()
    print(f"names of {source}\n\n{'group':34}{'have':>6}{'torch':>7}{'of all':>9}{'meant':>9}")
    unknown = 0
    result = compared(found)
    for group, (have, absent) in result.items():
        names = len(found[group])
        out = sum(len(v) for k, v in absent.items() if k.startswith("left out"))
        meant = names - out
        print(f"{group:34}{have:6}{names:7}{100 * have / max(names, 1):8.1f}%"
              f"{100 * have / meant if meant else 100:8.1f}%")  # fmt: skip
        unknown += len(absent.get("unknown", ()))
    print("\n'meant' leaves out what is left out on purpose.\n")
    for group, (_, absent) in result.items():
        for why, names in sorted(absent.items()):
            print(f"{group}: {why}\n    {' '.join(names)}")
    print(f"\n{unknown} names without a reason")
    return unknown


if __name__ == "__main__":
    sys.exit(main() > 0)
