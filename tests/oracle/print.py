"""Writes tests/oracle/print.inc, what torch prints: python tests/oracle/print.py

A case is dtype, sizes, values (element i is value i % n; of complex numbers in pairs), print
options in tn_print_options' order, how it is made (' ' plain, 't' transposed last two dimensions, 'r' a leaf that
requires grad, 'a' such a leaf plus itself, 'm' meta) and the text."""
import os
import torch

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
          "BOOL": torch.bool, "C64": torch.complex64, "C128": torch.complex128}
inf, nan = float("inf"), float("nan")
PLAIN = (0, 0, 0, 0, 0)
SMALL = [1.0, -2.5, 3.25, 0.0, 0.125]
WHOLE = [1.0, -2.0, 30.0, 0.0]

cases = []


def case(dtype, size, values, options=PLAIN, how=" "):
    cases.append((dtype, size, values, options, how))


for dtype in DTYPES:
    values = {"BOOL": [1, 0, 1], "U8": [7, 200, 0]}.get(dtype, [1, -2, 11])
    if dtype.startswith("C"):
        values = [1.0, -2.0, 0.5, 3.0, -4.0, 0.25]
    case(dtype, (5,), values)
    case(dtype, (), values)
    case(dtype, (0,), values)
    case(dtype, (2, 0), values)
    case(dtype, (2, 3), values, how="m")
for values in (SMALL, WHOLE, [nan, 1.0], [nan, inf], [inf, -inf, 2.5], [0.0], [0.0, nan], [1e-5, 1.0], [1e-4, 0.1],
               [1e8, 1.0], [1e8], [2e8], [1000.0, 1.0], [1001.0, 1.0], [1.5, 1500.0], [1.5, 1501.0], [123456.0],
               [0.00011, 0.0002], [0.00009, 0.0002], [-1e-7], [1e300, 1.0], [-1.5, -0.5], [-0.0, 1.0], [1e5, 0.5],
               [99999999.0, 1000000.0], [100000001.0, 50000000.0], [0.5, 500.0], [0.5, 500.5]):
    case("F64", (len(values),), values)
    case("F64", (), values)
    case("F32", (2, len(values)), values)
    case("F64", (len(values),), values, (2, 0, 0, 0, 0))
    case("F64", (len(values),), values, (0, 0, 0, 0, 1))
    if max(map(abs, values)) < 1e18:
        case("F64", (len(values),), values, (7, 0, 0, 0, -1))
for size in ((3,), (7,), (8,), (25,), (2, 3), (3, 2, 2), (2, 2, 2, 2), (1, 1), (1, 4, 1), (6, 7), (8, 8), (3, 8, 1)):
    for options in (PLAIN, (0, 6, 0, 0, 0), (0, 6, 1, 0, 0), (0, 6, 2, 0, 0), (0, 0, 0, 30, 0), (1, 0, 0, 21, 0),
                    (0, 5, 2, 24, 0), (0, 0, 0, 10, 0)):
        case("F32", size, SMALL, options)
        case("I64", size, [5, -60, 700], options)
for how in "tr":
    for size in ((2, 3), (3, 2, 2), (9, 9)):
        case("F32", size, SMALL, (0, 30, 0, 0, 0), how)
        case("F64", size, WHOLE, (0, 30, 0, 40, 0), how)
for width in range(20, 64, 3):
    case("F64", (3,), SMALL, (0, 0, 0, width, 0), "r")
    case("F64", (3,), SMALL, (0, 0, 0, width, 0), "a")
    case("F32", (2, 2), SMALL, (0, 0, 0, width, 0), "a")
    case("C128", (3,), [0.5, -2.0, 100.0, nan, 3.0, inf], (0, 0, 0, width, 0))
for width in range(38, 92):  # the line breaks before a suffix at one width exactly
    case("F64", (2,), [0.5, 2.0], (0, 0, 0, width, 0), "a")
    case("F16", (2, 0), [0.5], (0, 0, 0, width, 0), "r")
case("C64", (2, 4), [1.0, 2.0, -3.0, 0.0, 1e-6, 5.0])
case("C64", (3,), [1.0, 2.0, 3.0, 4.0, 5.0, -6.0])
case("C64", (3,), [1.0, 1e9, 3.0, 4e9, 5.0, -6.0])
case("C128", (12,), [1.0, 2.5, 3.0, 4.25], (0, 6, 2, 0, 0))
case("F32", (1001,), SMALL)
case("F32", (1000,), [1.0, 2.0], (0, 0, 0, 2000, 0))
case("I64", (40, 40), [3, 14])
case("F32", (2, 3, 4, 5), SMALL, (0, 100, 1, 0, 0))


def tensor(dtype, size, values, how):
    kind = DTYPES[dtype]
    if kind.is_complex:
        values = [complex(values[k], values[k + 1]) for k in range(0, len(values), 2)]
    n = 1
    for s in size:
        n *= s
    flat = torch.tensor([values[i % len(values)] for i in range(n)], dtype=kind)
    if how == "t":
        return flat.reshape(size[:-2] + (size[-1], size[-2])).transpose(-1, -2)
    t = flat.reshape(size)
    if how == "m":
        return t.to("meta")
    if how in "ra":
        t.requires_grad_()
    return t + t if how == "a" else t


def number(v):
    if isinstance(v, int):
        return str(v) + ".0"
    return {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(str(v), repr(v))


def text_lines(text):
    out = []
    for line in text.split("\n"):
        while len(line) > 80:
            out.append('     "%s"' % line[:80])
            line = line[80:]
        out.append('     "%s\\n"' % line)
    out[-1] = out[-1][:-3] + '"'
    return "\n".join(out)


path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "print.inc")
with open(path, "w") as f:
    f.write("/* What torch %s prints (print.py). */\n" % torch.__version__.split("+")[0])
    for dtype, size, values, options, how in cases:
        torch.set_printoptions(precision=options[0] or 4, threshold=options[1] or 1000, edgeitems=options[2] or 3,
                               linewidth=options[3] or 80, sci_mode={0: None, 1: True, -1: False}[options[4]])
        text = repr(tensor(dtype, size, values, how))
        f.write("{TN_%s, %d, {%s}, %d, {%s}, {%s}, '%s',\n%s},\n" % (
            dtype, len(size), ", ".join(map(str, size)) or "0", len(values), ", ".join(map(number, values)),
            ", ".join(map(str, options)), how, text_lines(text)))
