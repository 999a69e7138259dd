"""Writes tests/oracle/strides.inc: strides that torch gives a sum of two tensors, and which dtypes it promotes and
casts to which: python tests/oracle/strides.py

A case is dimensions, sizes, strides of either operand, then the sum's. Sizes are those of the sum; an operand that is
broadcast along a dimension has stride 0 there (expand)."""
import os
import random
import torch

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
          "BOOL": torch.bool, "C64": torch.complex64, "C128": torch.complex128, "U16": torch.uint16,
          "U32": torch.uint32, "U64": torch.uint64, "F8E4M3": torch.float8_e4m3fn, "F8E5M2": torch.float8_e5m2}
random.seed(5)


def strided(size):
    n = len(size)
    order = random.sample(range(n), n) if random.random() < 0.7 else list(range(n))
    step, stride = 1, [0] * n
    for d in reversed(order):
        stride[d] = step
        step *= size[d] * random.choice([1, 1, 1, 2])
    for d in range(n):
        if random.random() < 0.15:
            stride[d] = 0
    return stride


def channels_last(size):
    n, c, h, w = size
    return [h * w * c, 1, w * c, c]


def row(values):
    return "{" + ", ".join(map(str, list(values) or [0])) + "}"


path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "strides.inc")
with open(path, "w") as f:
    f.write("/* What torch %s does (strides.py). */\nstatic const stride_case sums[] = {\n" % torch.__version__.split("+")[0])
    for k in range(600):
        n = random.randint(1, 5)
        size = [random.choice([1, 2, 3, 3, 4]) for _ in range(n)]
        if n == 4 and k % 3 == 0:
            a = channels_last(size)
            b = random.choice([channels_last(size), strided(size)])
        else:
            a = strided(size)
            b = a if random.random() < 0.3 else strided(size)
        store = torch.zeros(1 << 14)
        out = torch.as_strided(store, size, a) + torch.as_strided(store, size, b)
        f.write("    {%d, %s, %s, %s, %s},\n" % (n, row(size), row(a), row(b), row(out.stride())))
    f.write("};\nstatic const dtype_case pairs[] = {\n")
    for a in DTYPES:
        for b in DTYPES:
            try:
                p = torch.promote_types(DTYPES[a], DTYPES[b])
            except RuntimeError:
                p = None
            name = "TN_" + next((k for k in DTYPES if DTYPES[k] == p), "NO_DTYPE")
            cast = torch.can_cast(DTYPES[a], DTYPES[b])
            f.write("    {TN_%s, TN_%s, %s, %d},\n" % (a, b, name, cast))
    f.write("};\n")
