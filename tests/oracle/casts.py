"""torch's conversions at the ends of ranges: writes tests/oracle/casts.txt. A line `DTYPE: ELEMENT ...` gives the bits of
elements, in hexadecimal (a complex one as two words with a comma, a NaN as nan); the lines `DTYPE > OTHER: ELEMENT ...`
below it what each becomes. Floats that an integer type does not hold are left open by C++, and so by torch: the numbers
there are those of the rule of src/tensor/dtype.c (cut to 64 bits, 0 for NaN, -2^63 for what does not fit, the low bits
of that), made with Python's integers. Run with torch: python tests/oracle/casts.py"""

import math
import os
import warnings

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 uint16 uint32 uint64 "
         "float8_e4m3fn float8_e5m2").split()
HOLDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def numbers():
    exact = {0, 127, 128, 129, 255, 256, 257, 259, 448, 449, 464, 465, 480, 2047, 2049, 2051, 4099, 32767, 32768, 57344,
             61439, 61440, 65504, 65519, 65520, 65535, 65536, 2**53 + 2**29 + 1, 2**62 + 2**38 + 1}
    for k in (0, 7, 8, 11, 15, 16, 24, 25, 31, 32, 53, 54, 63, 64):
        exact |= {2**k, 2**k - 1, 2**k + 1, 2**k + 3, 2**k - 2**max(k - 25, 0), 2**k - 2**max(k - 54, 0)}
    return sorted(exact | {-v for v in exact}, key=lambda v: (abs(v), v))


def reals():
    found = [0.0, math.inf, math.nan, 0.5, 1.5, 2.5, 0.99999, 254.7, 65519.996, 1 + 2**-11 + 2**-30, 1 + 2**-24 + 2**-50,
             1 + 2**-8 + 2**-40, 2.0**127 * (2 - 2**-24), 2.0**127 * (2 - 2**-23), 2.0**127 * (2 - 2**-7), 3.4e38, 1e39,
             1.7976931348623157e308]
    for k in (6, 7, 9, 10, 14, 15, 16, 17, 18, 24, 25, 126, 127, 133, 134, 149, 150, 1022, 1074):
        found += [2.0**-k, 2.0**-k * 1.5, 2.0**-k * (1 + 2**-20)]
    return [s * v for v in found for s in (1, -1)] + [float(v) for v in numbers()]


def words(t):
    """The bits of a tensor's elements."""
    if t.dtype.is_complex:
        pairs = torch.view_as_real(t).contiguous()
        flat = words(pairs.reshape(-1))
        return [a + "," + b for a, b in zip(flat[::2], flat[1::2])]
    size = t.element_size()
    bits = t.contiguous().view(HOLDS[size]).tolist() if t.dtype != torch.bool else [int(v) for v in t.tolist()]
    nan = t.to(torch.float64).isnan().tolist() if t.dtype.is_floating_point else [False] * len(bits)
    return ["nan" if n else "%x" % (v % 2**(8 * size)) for v, n in zip(bits, nan)]


def elements(dtype):
    if dtype == torch.bool:
        return torch.tensor([False, True])
    if dtype.is_complex:
        keep = elements(torch.float64 if dtype == torch.complex128 else torch.float32).to(torch.float64)
        keep = keep[::3]
        some = [0.0, -0.0, 1.0, math.inf, math.nan, 1e-320]
        imaginary = torch.tensor([some[i % len(some)] for i in range(len(keep))], dtype=torch.float64)
        return torch.complex(keep, imaginary).to(dtype)
    if dtype.is_floating_point:
        found, seen = [], set()
        for v in torch.tensor(reals(), dtype=torch.float64).to(dtype):
            key = words(v.reshape(1))[0]
            if key not in seen:
                seen.add(key)
                found.append(v.reshape(1))
        return torch.cat([f.view(torch.uint8) for f in found]).view(dtype) if dtype.itemsize == 1 else torch.cat(found)
    least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    kept = [v for v in numbers() if least <= v <= most] + [least, least + 1, most, most - 1]
    return torch.tensor(list(dict.fromkeys(kept)), dtype=dtype)


def cut(value, dtype):
    """The rule for a float that becomes an integer; second: whether C++ defines it."""
    info = torch.iinfo(dtype)
    size = 8 * dtype.itemsize
    if math.isnan(value):
        return 0, False
    whole = None if math.isinf(value) else int(value)
    fits = whole is not None and info.min <= whole <= info.max
    if whole is None or not (-2**63 <= whole < 2**63 or (fits and dtype == torch.uint64)):
        whole = -2**63
    return whole % 2**size, fits


def converted(x, dtype):
    got = words(x.to(dtype))
    from_float = x.dtype.is_floating_point or x.dtype.is_complex
    if not from_float or dtype.is_floating_point or dtype.is_complex or dtype == torch.bool:
        return got
    values = (x.real if x.dtype.is_complex else x).to(torch.float64).tolist()
    for i, v in enumerate(values):
        number, defined = cut(v, dtype)
        assert not defined or got[i] == "%x" % number, (x.dtype, dtype, v, got[i], number)
        got[i] = "%x" % number
    return got


def main():
    warnings.simplefilter("ignore")
    lines = [f"# torch {torch.__version__.split('+')[0]}, by tests/oracle/casts.py"]
    for a in NAMES:
        x = elements(getattr(torch, a))
        lines.append(f"{a}: " + " ".join(words(x)))
        lines += [f"{a} > {b}: " + " ".join(converted(x, getattr(torch, b))) for b in NAMES]
    with open(os.path.join(HERE, "casts.txt"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
