"""Writes tests/state/texts.txt, hashes of what torch prints: python tests/state/texts.py

Random tensors of all dtypes, specials among their values, under random print options. A line is a case:

    DTYPE POOL SEED HOW DEFAULT PRECISION THRESHOLD EDGEITEMS LINEWIDTH SCI DIMS SIZE.. LENGTH HASH

Element i is value splitmix64(SEED + i) % n of the pool; complex ones take two. HOW: 'c' dense, 't' the first and the
last dimension exchanged, 's' every second of the last one, 'b' the first row expanded, 'r' a leaf that requires grad, 'a' such a leaf
plus itself, 'm' meta. DEFAULT: the default dtype. The pools stand at the head, as hexadecimal floats."""
import os
import random
import torch

FLOATS = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
WHOLE = {"i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool}
STORED = {"u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64, "f8": torch.float8_e4m3fn, "f8e5": torch.float8_e5m2}
PAIRS = {"c64": torch.complex64, "c128": torch.complex128}
inf, nan = float("inf"), float("nan")
POOLS = {
    "small": [0.5, -1.25, 0.0, 3.75, -0.125, 10.0, 0.1],
    "whole": [0.0, 1.0, -2.0, 30.0, 999.0, -0.0],
    "thousand": [1.0, 1000.0, 1000.5, 1001.0, 0.999, 2.0],
    "tiny": [1e-4, 9e-5, 1.1e-4, 1e-3, 0.0, -2e-4],
    "great": [1e8, 99999999.0, 1e7, 100000008.0, 1e5],
    "special": [nan, inf, -inf, 1.5, 0.0, -0.0],
    "nowhere": [nan, inf, -inf],
    "nans": [nan, 0.0, 7.0],
    "wide": [1e-30, 1e30, 1.0, -3.4e38, 1e-38, inf],
    "ties": [0.00005, 0.00015, 0.25, 0.125, 0.375, 2.5, 0.99995, 9.99995],
    "carry": [9.5, 99.5, 999.5, 9.99999, 0.99999, -99.99999],
    "half": [65504.0, 6e-8, 6.1e-5, -2048.0, 0.3333],
    "zero": [0.0, -0.0],
    "int": [0.0, 5.0, -7.0, 100.0, 127.0, -128.0],
    "byte": [0.0, 1.0, 255.0, 17.0],
    "long": [0.0, 1000000.0, -2147483648.0, 9007199254740992.0, 3.0],
}
draw = random.Random(20261123)
MASK = 2**64 - 1


def mixed(x):
    z = x = (x + 0x9e3779b97f4a7c15) & MASK
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
    z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
    return z ^ z >> 31


def fnv(data, h=0xcbf29ce484222325):
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 & MASK
    return h >> 32


def pool_of(dtype):
    if dtype in ("u8", "bool", "u16", "u32", "u64"):
        return "byte"
    if dtype in STORED:
        return draw.choice(["small", "whole", "zero"])
    if dtype in WHOLE:
        return draw.choice(["int", "long"]) if dtype == "i64" else "int"
    return draw.choice([p for p in POOLS if p not in ("int", "byte", "long")])


def numbers(dtype, pool, seed, n):
    kind, values = {**FLOATS, **WHOLE, **PAIRS, **STORED}[dtype], POOLS[pool]
    each = 2 if dtype in PAIRS else 1
    picked = [values[mixed(seed + i) % len(values)] for i in range(n * each)]
    if each == 2:
        return torch.tensor(picked, dtype=torch.float64).view(torch.complex128).to(kind)
    return torch.tensor(picked, dtype=torch.float64).to(kind)


def sizes():
    ndim = draw.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5])
    if draw.random() < 0.08:
        return [draw.choice([0, 1, 2, 3]) for _ in range(ndim)]
    most = [0, 40, 14, 8, 5, 4][ndim]
    return [draw.choice([1, draw.randint(1, most), draw.randint(1, most)]) for _ in range(ndim)]


def made(dtype, pool, seed, how, size):
    n = 1
    for s in size:
        n *= s
    if how == "m":
        return torch.empty(size, dtype={**FLOATS, **WHOLE, **PAIRS, **STORED}[dtype], device="meta")
    if how == "t":
        turned = size[:]
        turned[0], turned[-1] = size[-1], size[0]
        return numbers(dtype, pool, seed, n).reshape(turned).transpose(0, -1)
    if how == "s":
        return numbers(dtype, pool, seed, 2 * n).reshape(size[:-1] + [2 * size[-1]])[..., ::2]
    if how == "b":
        return numbers(dtype, pool, seed, n // size[0]).reshape([1] + size[1:]).expand(size)
    t = numbers(dtype, pool, seed, n).reshape(size)
    if how in "ra":
        t.requires_grad_()
    return t + t if how == "a" else t


def case():
    dtype = draw.choice(list(FLOATS) * 2 + list(WHOLE) + list(PAIRS) * 2 + list(STORED))
    pool, seed, size = pool_of(dtype), draw.randrange(1000000), sizes()
    how = draw.choice("ccccctsb" + ("ra" if dtype in FLOATS or dtype in PAIRS else "") + ("m" if draw.random() < 0.3 else ""))
    if how in "tsb" and (dtype in STORED or not (size and all(size))):
        how = "c"
    usual = draw.choice(["f32", "f32", "f32", "f64"])
    options = [draw.choice([4, 4, 0, 1, 2, 6, 8, 12]), draw.choice([1000, 1000, 5, 20, 60]), draw.choice([3, 3, 1, 2, 4]),
               draw.choice([80, 80, 80, 20, 33, 47, 61, 120, 200, 8]), draw.choice([0, 0, 0, 1, -1])]
    options[0] = options[0] or 4
    if how == "a" and (pool in ("wide", "half") and dtype in ("f16", "c64", "f32", "bf16")):
        how = "r"
    torch.set_default_dtype(FLOATS[usual])
    torch.set_printoptions(precision=options[0], threshold=options[1], edgeitems=options[2], linewidth=options[3],
                           sci_mode={0: None, 1: True, -1: False}[options[4]])
    text = repr(made(dtype, pool, seed, how, size))
    torch.set_default_dtype(torch.float32)
    return "%s %s %d %s %s %s %d %s %d %08x" % (dtype, pool, seed, how, usual, " ".join(map(str, options)), len(size),
                                                " ".join(map(str, size + [1] * (5 - len(size)))), len(text), fnv(text.encode()))


def show(line):
    """What torch prints for one line of the file: python texts.py LINE."""
    f = line.split()
    torch.set_default_dtype(FLOATS[f[4]])
    p, t, e, w, s = map(int, f[5:10])
    torch.set_printoptions(precision=p, threshold=t, edgeitems=e, linewidth=w, sci_mode={0: None, 1: True, -1: False}[s])
    print(repr(made(f[0], f[1], int(f[2]), f[3], list(map(int, f[11:11 + int(f[10])])))))


if __name__ == "__main__":
    import sys
    if len(sys.argv) > 1:
        show(sys.argv[1])
        sys.exit()
    lines = [case() for _ in range(2400)]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "texts.txt"), "w") as f:
        f.write("# what torch %s prints (texts.py)\n" % torch.__version__.split("+")[0])
        for name, values in POOLS.items():
            f.write("pool %s %s\n" % (name, " ".join(float(v).hex() for v in values)))
        f.write("\n".join(lines) + "\n")
