"""What torch's views share and where their elements lie: writes tests/oracle/views.txt. A line is a call,

    ROW DTYPE SIZES STRIDES OFFSET | ARGUMENT ... | RESULT ...

lists with commas, `-` the empty one; an argument is i3 (a number), l2,3 (a list), d and a dtype, t2,3 (a tensor of these
sizes), n (None); a result `view SIZES STRIDES OFFSET`, which shares the input's memory, `copy SIZES STRIDES`, which does
not, or `error`. Rows are those of src/ops whose result may be a view, by their schemas, and some that copy; one without
arguments below is an error here. Run with torch: python tests/oracle/views.py"""

import glob
import os
import random
import re
import warnings

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
EACH = 60  # cases a row; those that work out strides themselves have more
MORE = {"view": 500, "reshape": 500, "flatten.using_ints": 200, "unflatten.int": 150, "contiguous": 150, "clone": 150,
        "squeeze": 100, "view_as_complex": 120, "neg": 150, "empty_like": 150}
COPIES = ["clone", "neg", "flip", "roll", "empty_like"]
ROOM = 1 << 13


def geometry(dims=None):
    n = random.choice([0, 1, 2, 3, 3, 4, 4, 5]) if dims is None else dims
    size = [random.choice([1, 1, 2, 2, 3, 4] + [0] * (random.random() < 0.15)) for _ in range(n)]
    order = random.sample(range(n), n) if random.random() < 0.5 else list(range(n))
    stride, step = [0] * n, 1
    for d in reversed(order):
        stride[d] = step
        step *= max(size[d], 1) * random.choice([1, 1, 1, 1, 1, 2])
    for d in range(n):
        if size[d] == 1 and random.random() < 0.5:
            stride[d] = random.choice([0, 1, 2, 5, 77])
        elif random.random() < 0.06:
            stride[d] = 0
    return size, stride, random.choice([0, 0, 0, 3])


def dim(n):
    return random.randrange(-n, n) if n else random.choice([0, -1])


def other_sizes(size):
    """The same elements in another shape: neighbours joined, split, ones put in or left out."""
    to = []
    for s in size:
        if to and random.random() < 0.4:
            to[-1] *= s
        else:
            to.append(s)
    if random.random() < 0.5:
        to = [s for s in to if s != 1 or random.random() < 0.5]
    k = random.randrange(len(to)) if to else 0
    if to and to[k] and to[k] % 2 == 0 and random.random() < 0.5:
        to[k:k + 1] = [2, to[k] // 2]
    while random.random() < 0.3:
        to.insert(random.randrange(len(to) + 1), 1)
    if to and random.random() < 0.2:
        to[random.randrange(len(to))] = -1
    return to


def part(n):
    """Numbers that sum to n."""
    cuts = sorted(random.randrange(n + 1) for _ in range(random.choice([0, 1, 2])))
    return [b - a for a, b in zip([0] + cuts, cuts + [n])]


def split_of(n):
    to = other_sizes([n])
    return to or [n]


def wider(size):
    to = [s if s != 1 else random.choice([1, 2, 3, 0]) for s in size]
    to = [-1 if random.random() < 0.1 else s for s in to]
    return [random.choice([1, 2]) for _ in range(random.choice([0, 0, 1, 2]))] + to


def arguments(row, size, n):
    d = dim(n)
    s = size[d] if n else 1
    dims = random.sample(range(n), random.randrange(n + 1))
    signed = [k - n if random.random() < 0.3 else k for k in dims]
    order = random.sample(range(n), n)
    kind = row.split(".")[0]
    if kind in ("contiguous", "conj", "detach", "real", "imag", "view_as_real", "view_as_complex", "t", "squeeze", "clone",
                "neg", "empty_like") and "." not in row:
        return []
    by_hand = {
        "to.dtype": lambda: [random.choice(["float32", "float64"])],
        "to.device": lambda: [None, random.choice(["float32", "float64", None])],
        "as_strided": lambda: list(geometry()),
        "transpose.int": lambda: [d, dim(n)],
        "permute": lambda: [[k - n if random.random() < 0.3 else k for k in order]],
        "movedim.intlist": lambda: [signed, random.sample(range(n), len(dims))],
        "squeeze.dim": lambda: [d],
        "squeeze.dims": lambda: [signed],
        "unsqueeze": lambda: [random.randrange(-n - 1, n + 1)],
        "expand": lambda: [wider(size)],
        "expand_as": lambda: [torch.zeros([max(k, 0) for k in wider(size)])],
        "broadcast_to": lambda: [wider(size)],
        "slice.Tensor": lambda: [d, random.choice([None, random.randrange(-s - 1, s + 2)]),
                                 random.choice([None, random.randrange(-s - 1, s + 2)]), random.choice([1, 1, 2, 3])],
        "narrow": lambda: [d, random.randrange(s + 1), random.randrange(s + 1)],
        "select.int": lambda: [d, random.randrange(-s - 1, s + 1)],
        "diagonal": lambda: [random.randrange(-3, 4), d, dim(n)],
        "unfold": lambda: [d, random.randrange(s + 2), random.randrange(1, 4)],
        "split.Tensor": lambda: [random.randrange(4), d],
        "split_with_sizes": lambda: [part(s), d],
        "chunk": lambda: [random.randrange(1, 5), d],
        "unbind.int": lambda: [d],
        "view": lambda: [other_sizes(size)],
        "view.dtype": lambda: [random.choice(["float32", "int32", "float64", "int16", "uint8", "complex128"])],
        "reshape": lambda: [other_sizes(size)],
        "flatten.using_ints": lambda: random.choice([[], sorted([dim(n), dim(n)], key=lambda k: k % max(n, 1))]),
        "unflatten.int": lambda: [d, split_of(s)],
        "flip": lambda: [signed],
        "roll": lambda: [[random.randrange(-3, 4) for _ in dims] or [1], dims or []],
    }
    return by_hand[row]()


def text(values):
    return ",".join(map(str, values)) or "-"


def argument(a):
    if a is None:
        return "n"
    if isinstance(a, list):
        return "l" + text(a)
    if isinstance(a, torch.Tensor):
        return "t" + text(a.shape)
    return "d" + a if isinstance(a, str) else "i%d" % a


def result(x, y):
    shares = y.untyped_storage()._cdata == x.untyped_storage()._cdata
    where = text(y.shape) + " " + text(y.stride())
    return f"view {where} {y.storage_offset()}" if shares else "copy " + where


def case(row):
    packet, _, overload = row.partition(".")
    call = getattr(getattr(torch.ops.aten, packet), overload or "default")
    dtype = "float32"
    if packet in ("real", "imag", "view_as_real"):
        dtype = "complex64" if random.random() < 0.8 or packet != "real" else dtype
    size, stride, offset = geometry(2 if packet == "t" and random.random() < 0.7 else None)
    if packet == "view_as_complex" and size and random.random() < 0.9:
        size[-1], stride[-1] = 2, 1
        stride = [2 * s if random.random() < 0.9 else s for s in stride[:-1]] + [1]
        offset = random.choice([0, 2, 3])
    x = torch.zeros(ROOM, dtype=getattr(torch, dtype)).as_strided(size, stride, offset)
    given = arguments(row, size, len(size))
    converted = [getattr(torch, a) if isinstance(a, str) else a for a in given]
    try:
        if row == "to.device":
            y = x.to(device="cpu", dtype=converted[1])
        else:
            y = call(x, *converted)
        results = [result(x, one) for one in (y if isinstance(y, (list, tuple)) else [y])]
    except (RuntimeError, IndexError, ValueError):
        results = ["error"]
    words = [row, dtype, text(size), text(stride), str(offset), "|"] + [argument(a) for a in given] + ["|"] + results
    return " ".join(words)


def main():
    warnings.simplefilter("ignore")
    rows = []
    for path in sorted(glob.glob(os.path.join(HERE, "../../src/ops/*/*.c"))):
        with open(path, encoding="utf-8") as f:
            rows += re.findall(r'"([a-zA-Z0-9_.]+)\(Tensor\(a\) self', f.read())
    lines = [f"# torch {torch.__version__.split('+')[0]}, by tests/oracle/views.py"]
    for row in rows + COPIES:
        random.seed(row)  # another row leaves these cases as they are
        lines += [case(row) for _ in range(MORE.get(row, EACH))]
    with open(os.path.join(HERE, "views.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
