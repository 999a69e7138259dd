"""Writes tests/unit/data/accuracy.inc: special functions at drawn points, with mpmath at 300 bits; tests/unit/accuracy.c measures
the error of ours beside them.

    python tests/oracle/accuracy.py      needs mpmath; the test needs only what this writes

A line: row, arguments, value as two doubles (h + l), the size that an error is relative to. That is the value's own, or for
functions with zeros the modulus of the oscillation there.
"""

import os
import random

from mpmath import mp, mpf
import mpmath as m

mp.prec = 300
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(os.path.dirname(HERE), "unit", "data", "accuracy.inc")
EACH = 12


def bessel_size(n):
    return lambda x: m.hypot(m.besselj(n, x), m.bessely(n, x)) if abs(x) > 2 else None


def airy_size(x):
    return m.hypot(m.airyai(x), m.airybi(x)) if x < 0 else None


def at_least_one(x, *rest):
    return mpf(1)


def above_zero(x):  # of lgamma: below 0 at least 1
    return mpf(1) if x < 0 else None


def grown(x, n):  # of polynomials: at least 1
    return 1 + abs(m.re(m.chebyt(m.floor(n), x))) * (1 + abs(n * m.re(m.acosh(x + 0j))))


GROWS = "1 + |log|"  # of values that are e^t: an error of t counts in units of t


def root(f, y, start):
    return m.findroot(lambda x: f(x) - y, start)


def erfinv(x):
    return m.erfinv(x) if abs(x) < 0.99 else (1 if x > 0 else -1) * log_root(1 - abs(x))


def log_root(q):  # erfc(y) = q
    return root(lambda y: m.log(m.erfc(y)), m.log(q), m.sqrt(-m.log(q)))


def ndtri(p):
    return -m.sqrt(2) * log_root(2 * p) if p < 0.4 else m.sqrt(2) * m.erfinv(2 * p - 1)


def chebyshev_v(x, n):
    return m.cos((n + mpf(1) / 2) * m.acos(x)) / m.cos(m.acos(x) / 2)


def chebyshev_w(x, n):
    return m.sin((n + mpf(1) / 2) * m.acos(x)) / m.sin(m.acos(x) / 2)


def of_degree(f):
    return lambda x, n: m.re(f(x, m.floor(n)))


NEAR = [(0, 2), (2, 9), (9, 200)]
ROWS = {
    "asinh": (m.asinh, [(-2, 2), (-1e-3, 1e-3), (2, 1e12)], None),
    "erfc": (m.erfc, [(-3, 3), (3, 26)], None),
    "special_erfcx": (lambda x: m.exp(x * x) * m.erfc(x), [(-5, 5), (0, 60)], None),
    "erfinv": (erfinv, [(-1, 1), (0.9, 1), (-1e-3, 1e-3)], None),
    "lgamma": (lambda x: m.re(m.loggamma(x)), [(0, 0.7), (0.7, 1.7), (1.7, 2.7), (2.7, 8), (8, 1000), (-1, 0), (-20, -1)], above_zero),
    "special_ndtr": (m.ncdf, [(-5, 5), (-37, 0)], None),
    "special_log_ndtr": (lambda x: m.log(m.ncdf(x)), [(-5, 5), (-60, 0)], None),
    "special_ndtri": (ndtri, [(0, 0.5), (0, 0.01), (0.5, 0.9)], None),
    "special_zeta": (m.zeta, [((1.01, 4), (0.1, 3)), ((2, 30), (0.5, 20))], None),
    "i0": (lambda x: m.besseli(0, x), [(-9, 9), (8, 600)], None),
    "special_i0e": (lambda x: m.besseli(0, x) * m.exp(-abs(x)), [(-9, 9), (8, 600)], None),
    "special_i1": (lambda x: m.besseli(1, x), [(-9, 9), (8, 600)], None),
    "special_i1e": (lambda x: m.besseli(1, x) * m.exp(-abs(x)), [(-9, 9), (8, 600)], None),
    "special_modified_bessel_k0": (lambda x: m.besselk(0, x), [(0, 1), (1, 9), (9, 600)], None),
    "special_modified_bessel_k1": (lambda x: m.besselk(1, x), [(0, 1), (1, 9), (9, 600)], None),
    "special_scaled_modified_bessel_k0": (lambda x: m.besselk(0, x) * m.exp(x), [(0, 1), (1, 9), (9, 600)], None),
    "special_scaled_modified_bessel_k1": (lambda x: m.besselk(1, x) * m.exp(x), [(0, 1), (1, 9), (9, 600)], None),
    "special_bessel_j0": (lambda x: m.besselj(0, x), NEAR, bessel_size(0)),
    "special_bessel_j1": (lambda x: m.besselj(1, x), NEAR, bessel_size(1)),
    "special_bessel_y0": (lambda x: m.bessely(0, x), NEAR, lambda x: m.hypot(m.besselj(0, x), m.bessely(0, x))),
    "special_bessel_y1": (lambda x: m.bessely(1, x), NEAR, lambda x: m.hypot(m.besselj(1, x), m.bessely(1, x))),
    "special_spherical_bessel_j0": (lambda x: m.sin(x) / x, NEAR, lambda x: 1 / max(x, mpf(1))),
    "special_airy_ai": (m.airyai, [(-60, 0), (-5, 5), (5, 60)], airy_size),
    "igamma": (lambda a, x: m.gammainc(a, 0, x, regularized=True),
               [((0, 5), (0, 5)), ((5, 60), (5, 60)), ((64, 300), (60, 300)), ((0, 0.1), (0, 1))], GROWS),
    "igammac": (lambda a, x: m.gammainc(a, x, m.inf, regularized=True),
                [((0, 5), (0, 5)), ((5, 60), (5, 60)), ((64, 300), (60, 300)), ((0, 0.1), (0, 1))], GROWS),
    "special_chebyshev_polynomial_t": (of_degree(lambda x, n: m.chebyt(n, x)), [((-1, 1), (0, 30)), ((1.2, 2), (0, 99))], grown),
    "special_chebyshev_polynomial_u": (of_degree(lambda x, n: m.chebyu(n, x)), [((-0.9, 0.9), (0, 30)), ((1.2, 2), (0, 99))], grown),
    "special_chebyshev_polynomial_v": (of_degree(chebyshev_v), [((-0.9, 0.9), (0, 30)), ((1.2, 2), (0, 99))], grown),
    "special_chebyshev_polynomial_w": (of_degree(chebyshev_w), [((-0.9, 0.9), (0, 30)), ((1.2, 2), (0, 99))], grown),
    "special_hermite_polynomial_h": (of_degree(lambda x, n: m.hermite(n, x)), [((6, 9), (0, 12))], None),
    "special_hermite_polynomial_he": (of_degree(lambda x, n: 2 ** (-n / 2) * m.hermite(n, x / m.sqrt(2))), [((8, 12), (0, 12))], None),
    "special_laguerre_polynomial_l": (of_degree(lambda x, n: m.laguerre(n, 0, x)), [((-9, 0), (0, 30)), ((0, 2), (0, 20))], at_least_one),
    "special_legendre_polynomial_p": (of_degree(lambda x, n: m.legendre(n, x)), [((-1, 1), (0, 40)), ((1, 2), (0, 30))], at_least_one),
}
def draw(box, r):
    if isinstance(box[0], tuple):
        return [draw(b, r)[0] for b in box]
    return [r.uniform(*box)]


def main():
    with open(OUT, "w") as out:
        out.write("/* accuracy.inc - made by tests/oracle/accuracy.py with mpmath at 300 bits:\n"
                  " * POINT(row, x, y, h, l, size), the value h + l */\n")
        for name, (f, boxes, size) in ROWS.items():
            r = random.Random(name)
            for box in boxes:
                for _ in range(EACH):
                    args = draw(box, r)
                    exact = [mpf(a) for a in args]
                    v = mpf(f(*exact))
                    h = float(v)
                    if h == 0 or abs(h) < 1e-290 or abs(h) > 1e300:
                        continue
                    s = size(*exact) if size and size != GROWS else None
                    s = abs(v) if s is None else max(abs(v), s)
                    s *= 1 + abs(m.log(abs(v))) if size == GROWS else 1
                    numbers = [args[0], args[1] if len(args) > 1 else 0.0, h, float(v - h), float(s)]
                    out.write("POINT(%s, %s)\n" % (name, ", ".join(float(x).hex() for x in numbers)))


if __name__ == "__main__":
    main()
