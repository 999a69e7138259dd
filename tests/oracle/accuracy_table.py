"""Writes docs/accuracy.md: the errors of elementary and special functions at drawn points, ours beside torch's, in units.

    make accuracy PYTHON=...      a Python that has torch and mpmath; the package is built in place

A unit is 2^-23 of the value in f32 and 2^-52 in f64; of the larger of 1 and the value, or of the modulus of an oscillation, where
the last column says so.
"""

import os
import random

import mpmath as m
import tensorh
import torch
from mpmath import mp, mpf

mp.prec = 160
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(ROOT, "docs", "accuracy.md")
EACH = 1000  # points of a range


def erfinv(x):
    """Newton's steps for log(1 - erf(y)^2), from 256 bits."""
    a = abs(x)
    if a < mpf(2) ** -30:
        return x * m.sqrt(m.pi) / 2 * (1 + m.pi * x * x / 12)
    w = -m.log((1 - a) * (1 + a))
    y = m.sqrt(w) * (mpf("0.886") if w < 1 else mpf("0.95"))
    for _ in range(80):
        e = m.erfc(y)
        step = (m.log(e) + m.log(2 - e) + w) / (m.exp(-y * y) * 2 / m.sqrt(m.pi) * (1 / (2 - e) - 1 / e))
        y = y - step if y > step else y / 2
        if abs(step) < mpf(2) ** -120 * y:
            break
    return y if x > 0 else -y


def ndtri(p):
    return -m.sqrt(2) * erfinv(1 - 2 * p) if p < 0.5 else m.sqrt(2) * erfinv(2 * p - 1)


def at_least_one(x, y):
    return max(abs(y), mpf(1))


def bessel(n):
    return lambda x, y: m.hypot(m.besselj(n, abs(x)), m.bessely(n, abs(x))) if abs(x) > 2 else abs(y)


# Name: the function, ranges (the ends of f32, then of f64 if they differ), what a unit is of.
FUNCTIONS = {
    "exp": (m.exp, [(-20, 20), (-87, 88)], None),
    "exp2": (lambda x: mpf(2) ** x, [(-20, 20), (-120, 120)], None),
    "expm1": (m.expm1, [(-1, 1), (-20, 80)], None),
    "log": (m.log, [(0.5, 2), (1e-30, 1e30)], None),
    "log2": (lambda x: m.log(x) / m.log(2), [(0.5, 2), (1e-30, 1e30)], None),
    "log10": (m.log10, [(0.5, 2), (1e-30, 1e30)], None),
    "log1p": (m.log1p, [(-0.9, 2), (-1e-3, 1e-3)], None),
    "sqrt": (m.sqrt, [(0, 100)], None),
    "rsqrt": (lambda x: 1 / m.sqrt(x), [(1e-3, 100)], None),
    "sin": (m.sin, [(-3, 3), (-1000, 1000)], None),
    "cos": (m.cos, [(-3, 3), (-1000, 1000)], None),
    "tan": (m.tan, [(-1.5, 1.5), (-1000, 1000)], None),
    "asin": (m.asin, [(-1, 1)], None),
    "acos": (m.acos, [(-1, 1)], None),
    "atan": (m.atan, [(-3, 3), (-1000, 1000)], None),
    "sinh": (m.sinh, [(-2, 2), (-80, 80)], None),
    "cosh": (m.cosh, [(-2, 2), (-80, 80)], None),
    "tanh": (m.tanh, [(-1, 1), (-9, 9)], None),
    "asinh": (m.asinh, [(-2, 2), (-1e6, 1e6)], None),
    "acosh": (m.acosh, [(1, 3), (1, 1e6)], None),
    "atanh": (m.atanh, [(-1, 1)], None),
    "sigmoid": (lambda x: 1 / (1 + m.exp(-x)), [(-10, 10), (-80, 20)], None),
    "sinc": (lambda x: m.sin(m.pi * x) / (m.pi * x), [(-0.9, 0.9)], None),
    "erf": (m.erf, [(-1, 1), (-5, 5)], None),
    "erfc": (m.erfc, [(-3, 3), (3, 9)], None),
    "erfinv": (erfinv, [(-1, 1), (0.999, 1)], None),
    "lgamma": (lambda x: m.re(m.loggamma(x)), [(0, 10), (10, 1000), (-5, 0)], at_least_one),
    "digamma": (m.digamma, [(0, 10), (10, 1000), (-5, 0)], at_least_one),
    "i0": (lambda x: m.besseli(0, x), [(-9, 9), (8, 80)], None),
    "special.erfcx": (lambda x: m.exp(x * x) * m.erfc(x), [(-5, 5), (0, 60)], None),
    "special.ndtr": (m.ncdf, [(-5, 5), (-12, 0)], None),
    "special.ndtri": (ndtri, [(0, 0.5), (0, 0.01), (0.5, 0.9)], None),
    "special.log_ndtr": (lambda x: m.log(m.ncdf(x)), [(-5, 5), (-60, 0)], None),
    "special.entr": (lambda x: -x * m.log(x), [(0, 0.9), (1.1, 100)], None),
    "special.i0e": (lambda x: m.besseli(0, x) * m.exp(-abs(x)), [(-9, 9), (8, 600)], None),
    "special.i1": (lambda x: m.besseli(1, x), [(-9, 9), (8, 80)], None),
    "special.i1e": (lambda x: m.besseli(1, x) * m.exp(-abs(x)), [(-9, 9), (8, 600)], None),
    "special.bessel_j0": (lambda x: m.besselj(0, x), [(-9, 9), (8, 200)], bessel(0)),
    "special.bessel_j1": (lambda x: m.besselj(1, x), [(-9, 9), (8, 200)], bessel(1)),
    "special.bessel_y0": (lambda x: m.bessely(0, x), [(2, 9), (8, 200)], bessel(0)),
    "special.bessel_y1": (lambda x: m.bessely(1, x), [(2, 9), (8, 200)], bessel(1)),
}
OF = {None: "", at_least_one: "the larger of 1 and the value"}


def points(ranges, dtype):
    draw = random.Random(1)
    x = []
    for low, high in ranges:
        for _ in range(EACH):
            spread = low > 0 and high / low > 1e5
            x.append(10 ** draw.uniform(m.log10(low), m.log10(high)) if spread else draw.uniform(low, high))
    t = torch.tensor(x, dtype=dtype)
    return [v for v in t.tolist() if any(low < v < high for low, high in ranges) and v]


def named(package, name):
    for part in name.split("."):
        package = getattr(package, part)
    return package


def measure(name, f, ranges, size, dtype):
    """Largest error, mean, place of the largest: of ours, of torch's."""
    x = points(ranges, dtype)
    t = torch.tensor(x, dtype=dtype)
    unit = mpf(2) ** (-23 if dtype == torch.float32 else -52)
    exact = [f(mpf(v)) for v in x]
    of = [(size(mpf(v), y) if size else abs(y)) * unit for v, y in zip(x, exact)]
    rows = []
    for values in (named(tensorh, name)(tensorh.tensor(x, dtype=getattr(tensorh, str(dtype)[6:]))), named(torch, name)(t)):
        off = [abs(mpf(v) - y) / s if v - v == 0 else mpf("inf") for v, y, s in zip(values.tolist(), exact, of)]
        most = max(range(len(x)), key=lambda i: off[i])
        rows.append((float(off[most]), float(sum(off) / len(off)), x[most]))
    return rows


def main():
    lines = [
        "# Accuracy",
        "",
        f"Errors at {EACH} drawn points of each range, in units of the last place of 1 (2^-23 in f32, 2^-52 in f64) of the value or of",
        "what the last column says, beside mpmath with 160 bits: the largest, the mean, and where the largest is. Written by",
        f"`make accuracy` with torch {torch.__version__.split('+')[0]}, whose figures stand beside. Ours are the same on every machine.",
        "",
        "| function | dtype | largest | mean | at | torch: largest | mean | at | of |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, (f, ranges, size) in FUNCTIONS.items():
        for dtype in (torch.float32, torch.float64):
            ours, theirs = measure(name, f, ranges, size, dtype)
            cells = " | ".join(f"{most:.2f} | {mean:.2f} | {at:.6g}" for most, mean, at in (ours, theirs))
            text = f"| `{name}` | f{str(dtype)[-2:]} | {cells} | {OF.get(size, 'the modulus beyond 2')} |"
            print(text, flush=True)
            lines.append(text)
    with open(OUT, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
