"""Writes tests/state/streams.txt, what torch draws: python tests/state/streams.py

Random programs over the context's generator and two others. A line is a step:

    OP GENERATOR DTYPE LAYOUT N A B KIND VALUES STATE

GENERATOR 0 is the default one, not named; 1 the default one, named; 2 and 3 others. LAYOUT: 'c' one dimension, '0' none,
't' 2 x N/2 transposed, 's' every second of 2N. KIND '=': VALUES is the hash of the elements' bytes in logical order;
'~' (double precision, whose last bits are libm's): their weighted sum. STATE is the hash of the generator's
bytes after the step, the kept normal number left out. `program` begins anew with a seed; seed, save, restore, fork are steps without
values."""
import os
import random
import torch

TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
         "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
         "c64": torch.complex64, "c128": torch.complex128}
FLOATS = ("f32", "f32", "f64", "f16", "bf16")
LIMITS = {"f64": 2**53, "f32": 2**24, "f16": 2048, "bf16": 256, "i64": 2**62, "i32": 2**31 - 1, "i16": 2**15 - 1, "i8": 127,
          "u8": 255, "bool": 1}
SIZES = list(range(0, 41)) + [15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 155, 156, 311, 312, 313, 511, 512, 513, 623, 624, 625,
                              1023, 1024, 1247, 1248, 1249]
LARGE = [4095, 4096, 4097, 4111, 8192, 8193, 12289, 20000, 20001, 65535, 65536, 65537, 65551]
draw = random.Random(20261122)
out = []


def fnv(data, h=0xcbf29ce484222325):
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return h


def state_hash(g):
    raw = bytes(g.get_state().tolist())
    return "%08x" % (fnv(raw[:24 + 8 * 624 + 8] + raw[24 + 8 * 624 + 16:]) >> 32)


def values(t, near):
    """Kind and text of the elements."""
    if near:
        w = torch.tensor([(i * 40503 % 97 + 1) / 97 for i in range(t.numel())], dtype=torch.float64)
        return "~", "%.13e" % float((t.double().reshape(-1) * w).sum())
    raw = torch.empty(t.numel(), dtype=t.dtype).copy_(t.reshape(-1)).view(torch.uint8)
    return "=", "%016x" % fnv(bytes(raw.tolist()))


def blank(dtype, layout, n):
    kind = TYPES[dtype]
    if layout == "0":
        return torch.zeros((), dtype=kind)
    if layout == "t":
        return torch.zeros((2, n // 2), dtype=kind).t()
    if layout == "s":
        return torch.zeros(2 * n, dtype=kind)[::2]
    return torch.zeros(n, dtype=kind)


def probabilities(dtype, n):
    return torch.tensor([i % 11 / 10 for i in range(n)], dtype=TYPES[dtype])


def size_of(large):
    return draw.choice(LARGE) if large else draw.choice(SIZES)


def shape(large):
    n, layout = size_of(large), draw.choice("cccccts0")
    if layout == "0":
        n = 1
    return layout, n - n % 2 if layout == "t" else n


def reals():
    a = draw.choice([0.0, -1.0, 0.25, -1000.0, 3.0])
    return a, a + draw.choice([1.0, 2.5, 0.125, 1e-3, 0.0])


def integers(dtype):
    most = LIMITS[dtype]
    span = min(draw.choice([1, 2, 3, 10, 100, 2**16, 2**28 - 1, 2**28, 2**28 + 1, 2**32 - 1, 2**32, 2**40, 2**53]), most)
    low = draw.choice([0, 0, -span // 2, 5]) if dtype not in ("bool", "u8") else 0
    return max(low, -most), max(low, -most) + span if max(low, -most) + span - 1 <= most else most


def step(op, g, large):
    """One drawing call: its fields and its result."""
    dtype, (layout, n) = draw.choice(FLOATS), shape(large)
    a, b, chosen = 0, 0, g if g is not None else torch.default_generator
    kw = {"generator": chosen}
    if op in ("rand", "randn"):
        layout = "0" if layout == "0" else "c"
        t = getattr(torch, op)(() if layout == "0" else (n,), dtype=TYPES[dtype], **kw)
    elif op in ("rand_like", "randn_like"):
        t = getattr(torch, op)(blank(dtype, layout, n), **kw)
    elif op in ("uniform", "normal"):
        a, b = reals()
        b = b if op == "uniform" else abs(b)
        t = getattr(blank(dtype, layout, n), op + "_")(a, b, **kw)
    elif op == "exponential":
        a = draw.choice([1.0, 0.5, 3.0, 1e-3])
        t = blank(dtype, layout, n).exponential_(a, **kw)
    elif op == "randint":
        dtype, layout = draw.choice([d for d in TYPES if d[0] != "c"]), "0" if layout == "0" else "c"
        a, b = integers(dtype)
        t = torch.randint(a, b, () if layout == "0" else (n,), dtype=TYPES[dtype], **kw)
    elif op == "randperm":
        dtype, layout = draw.choice(["i64", "i64", "i32", "i16", "f32", "f64"]), "c"
        n = min(n, 30000)
        t = torch.randperm(n, dtype=TYPES[dtype], **kw)
    elif op == "bernoulli":
        layout = "c"
        t = torch.bernoulli(probabilities(dtype, n), **kw)
    elif op == "bernoulli_float":
        dtype, a = draw.choice([d for d in TYPES if d[0] != "c"]), draw.choice([0.0, 0.1, 0.5, 0.9, 1.0])
        t = blank(dtype, layout, n).bernoulli_(a, **kw)
    elif op == "dropout":
        dtype, a = draw.choice(FLOATS + ("c64", "c128")), draw.choice([0.0, 0.1, 0.5, 0.9, 1.0])
        b = draw.choice([0, 1, 1, 1])
        t = torch.nn.functional.dropout(blank(dtype, layout, n) + 1, a, b == 1)
    else:
        dtype, layout, n = draw.choice(["f32", "f64"]), "t", max(2, n - n % 2)
        t = blank(dtype, layout, n) if draw.random() < 0.3 else torch.zeros(n // 2, 2, dtype=TYPES[dtype])
        layout = "t" if not t.is_contiguous() else "m"
        a = draw.choice([1.0, 0.5])
        init = torch.nn.init
        {"xavier_uniform": lambda: init.xavier_uniform_(t, a), "xavier_normal": lambda: init.xavier_normal_(t, a),
         "kaiming_uniform": lambda: init.kaiming_uniform_(t, a), "kaiming_normal": lambda: init.kaiming_normal_(t, a)}[op]()
    near = dtype == "f64" and op in ("randn", "randn_like", "normal", "exponential", "xavier_normal", "kaiming_normal")
    return dtype, layout, n, a, b, values(t, near)


OPS = ["rand", "randn", "rand_like", "randn_like", "uniform", "normal", "exponential", "randint", "randint", "randperm", "bernoulli",
       "bernoulli_float", "dropout", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal"]
UNNAMED = OPS[12:]


def program(steps, large):
    first = draw.getrandbits(40)
    generators = [torch.default_generator, torch.default_generator, torch.Generator(), torch.Generator()]
    torch.manual_seed(first)
    generators[2].manual_seed(first + 1)
    generators[3].manual_seed(first + 2)
    saved = None
    out.append("program %d" % first)
    for _ in range(steps):
        op, which = draw.choice(OPS + ["seed", "save", "restore", "fork"]), draw.randrange(4)
        if op in UNNAMED:
            which = 0
        g = generators[which]
        if op == "seed":
            a = draw.choice([0, 1, 2**32, 2**32 + 1, 2**63 - 1, draw.getrandbits(32)])
            g.manual_seed(a)
            out.append("seed %d - - 0 %d 0 . 0 %s" % (which, a, state_hash(g)))
        elif op == "save" or (op == "restore" and saved is None):
            saved = g.get_state()
            out.append("save %d - - 0 0 0 . 0 %s" % (which, state_hash(g)))
        elif op == "restore":
            g.set_state(saved)
            out.append("restore %d - - 0 0 0 . 0 %s" % (which, state_hash(g)))
        elif op == "fork":  # generator 3 becomes a copy
            generators[3] = torch.Generator()
            generators[3].set_state(g.get_state())
            out.append("fork %d - - 0 0 0 . 0 %s" % (which, state_hash(generators[3])))
        else:
            fields = step(op, None if which == 0 else g, large and draw.random() < 0.5)
            out.append("%s %d %s %s %d %r %r %s %s %s" % ((op, which) + fields[:5] + fields[5] + (state_hash(g),)))


for _ in range(80):
    program(24, False)
for _ in range(4):
    program(14, True)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "streams.txt"), "w") as f:
    f.write("# what torch %s draws (streams.py)\n%s\n" % (torch.__version__.split("+")[0], "\n".join(out)))
