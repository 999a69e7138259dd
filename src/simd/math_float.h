/* math_float.h - the functions of math.h for one floating type.
 *
 * Polynomials are minimax fits (Remez), evaluated by Horner's scheme. V_FMA is written out wherever
 * it rounds once instead of twice: compilers contract differently, explicit words do not. A value
 * that needs more digits than the type has is kept as h + l, |l| at most half a unit of h:
 *   of a sum      h = a + b,  l = (a - h) + b      exact if |a| >= |b| (Dekker, 1971)
 *   of a product  h = a * b,  l = fma(a, b, -h)    exact
 *   of a quotient q = a / b,  remainder a - q b = fnma(q, b, a), exact; q + remainder / b corrects
 * All lanes go all ways, so special values are selected at the end, the strongest rule last. */

#if defined(TNI_TYPE_F32)
#define K(f, d) V_SET(f)
#else
#define K(f, d) V_SET(d)
#endif
#define H(c) p = V_FMA(p, z, V_SET(c)) /* a step of Horner's scheme */
#define K_INF V_SET(INFINITY)
#define K_NAN V_SET(NAN)
#if defined(TNI_TYPE_F32)
#define K_LIMIT 32768.0f /* beyond it three constants of pi / 2 are too few digits: lane by lane */
#else
#define K_LIMIT 1048576.0
#endif
/* ln 2 as two numbers of the type */
#define LN2_HI K(6.931471825e-01, 6.93147180559945286e-01)
#define LN2_LO K(-1.904654212e-09, 2.31904681384629956e-17)

/* Classes of numbers, by comparison: a NaN is not equal to itself, and no comparison but NE holds
 * of it. */
TNI_INLINE M TNI_FNT(tni_isnan)(V x) { return V_NE(x, x); }
TNI_INLINE M TNI_FNT(tni_isinf)(V x) { return V_EQ(V_ABS(x), K_INF); }
TNI_INLINE M TNI_FNT(tni_isfinite)(V x) { return V_LT(V_ABS(x), K_INF); }
TNI_INLINE V TNI_FNT(tni_square)(V x) { return V_MUL(x, x); }
TNI_INLINE V TNI_FNT(tni_copysign)(V x, V sign) { return V_OR(V_ABS(x), V_AND(sign, V_SET(-0.0))); }
/* of -0 and NaN as well: the sign is moved to a 1, which compares */
TNI_INLINE M TNI_FNT(tni_signbit)(V x) { return V_LT(TNI_FNT(tni_copysign)(V_ONE, x), V_ZERO()); }
TNI_INLINE V TNI_FNT(tni_sign)(V x) { /* -1, 0, 1; 0 of NaN */
    V above = V_SEL(V_GT(x, V_ZERO()), V_ONE, V_ZERO());
    return V_SEL(V_LT(x, V_ZERO()), V_SET(-1), above);
}

/* pi of negative numbers, 0 of others; NaN stays */
TNI_INLINE V TNI_FNT(tni_angle)(V x) {
    V side = V_SEL(V_LT(x, V_ZERO()), V_SET(3.14159265358979323846), V_ZERO());
    return V_SEL(V_NE(x, x), x, side);
}

/* The larger and the smaller; NaN where either is. V_NE(a, a) picks a where a is NaN, and a
 * comparison that fails picks b, which may be. */
TNI_INLINE V TNI_FNT(tni_maximum)(V a, V b) { return V_SEL(M_OR(V_GT(a, b), V_NE(a, a)), a, b); }
TNI_INLINE V TNI_FNT(tni_minimum)(V a, V b) { return V_SEL(M_OR(V_LT(a, b), V_NE(a, a)), a, b); }
TNI_INLINE V TNI_FNT(tni_truncdiv)(V a, V b) { return V_TRUNC(V_DIV(a, b)); }

/* sqrt(x^2 + y^2), x and y scaled by 2^100 or 2^600 where their squares overflow or vanish; the
 * root less half of its square's error over it: Borges, "An improved algorithm for
 * hypot(a, b)", 2019 */
TNI_HELPER V TNI_FNT(tni_hypot)(V x, V y) {
    V a = V_ABS(x), b = V_ABS(y), large = V_MAX(a, b), little = V_MIN(a, b), zero = V_ZERO();
    V huge = K(1.2676506002282294e+30, 4.1495155688809930e+180),
      tiny = K(7.8886090522101181e-31, 2.4099198651028841e-181);
    /* 2^60, 2^500 and 2^-40, 2^-400: between them squares are normal numbers */
    M high = V_GT(large, K(1152921504606846976.0, 3.2733906078961419e+150)),
      deep = V_LT(large, K(9.0949470177292824e-13, 3.8725919148493183e-121));
    V up = V_SEL(high, tiny, V_SEL(deep, huge, V_ONE)),
      down = V_SEL(high, huge, V_SEL(deep, tiny, V_ONE));
    V l = V_MUL(large, up), s = V_MUL(little, up), h = V_SQRT(V_FMA(l, l, V_MUL(s, s)));
    /* off = h^2 - l^2 - s^2, with the rounding errors of h^2 and l^2 */
    V hh = V_MUL(h, h), ll = V_MUL(l, l), off = V_FNMA(s, s, V_SUB(hh, ll));
    off = V_ADD(off, V_SUB(V_FMA(h, h, V_NEG(hh)), V_FMA(l, l, V_NEG(ll))));
    h = V_MUL(V_SUB(h, V_DIV(off, V_ADD(h, h))), down); /* a step of Newton */
    h = V_SEL(V_EQ(large, zero), zero, h);              /* 0 / 0 above */
    h = V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), h);
    return V_SEL(M_OR(V_EQ(a, K_INF), V_EQ(b, K_INF)), K_INF, h); /* Annex F: of (inf, NaN) too */
}

/* The number after x on the way to y. Of normal numbers a (1 +- u (1 + 2 u)), rounded, u half a
 * unit: Rump, Zimmermann, Boldo, Melquiond, "Computing predecessor and successor", 2009 */
TNI_HELPER V TNI_FNT(tni_nextafter)(V x, V y) {
    V a = V_ABS(x), zero = V_ZERO(), least = K(1.401298464e-45, 4.9406564584124654e-324);
    M fixed = V_LT(a, K(2.350988702e-38, 4.4501477170144028e-308)), /* units are the least number */
        shrinks = M_XOR(V_GT(x, y), V_LT(x, zero));
    V by = V_SEL(fixed, least, K(5.960465188e-08, 1.1102230246251568e-16));
    V next = V_FMA(V_SEL(shrinks, V_NEG(by), by), V_SEL(fixed, V_ONE, a), a);
    /* infinity to the largest number, 0 to the least one on the side of y, the rest by x's sign */
    next = V_SEL(M_AND(shrinks, V_EQ(a, K_INF)), K(3.402823466e+38, 1.7976931348623157e+308), next);
    next = V_SEL(V_EQ(a, zero), TNI_FNT(tni_copysign)(least, y), TNI_FNT(tni_copysign)(next, x));
    next = V_SEL(V_EQ(x, y), y, next);
    return V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), next);
}

/* --- exp -------------------------------------------------------------------------------------- */

/* e^x is 0 below and infinite above: V_LDEXP's count stays in its range */
#if defined(TNI_TYPE_F32)
#define EXP_LOW -104
#define EXP_HIGH 90
#else
#define EXP_LOW -746
#define EXP_HIGH 711
#endif

/* (e^r - 1 - r) / r^2 for |r| <= ln2 / 2 */
TNI_INLINE V TNI_FNT(tni_exp_poly)(V z) {
#if defined(TNI_TYPE_F32)
    V p = V_SET(1.990770397e-04);
    H(1.393373590e-03);
    H(8.333286270e-03);
    H(4.166646302e-02);
    H(1.666666716e-01);
    H(0.5);
#else
    V p = V_SET(1.60912871270460349e-10);
    H(2.09182131858799360e-09);
    H(2.50520557039157981e-08);
    H(2.75572630747015386e-07);
    H(2.75573192657052891e-06);
    H(2.48015873366336929e-05);
    H(1.98412698412535836e-04);
    H(1.38888888888790015e-03);
    H(8.33333333333333369e-03);
    H(4.16666666666666782e-02);
    H(1.66666666666666657e-01);
    H(0.5);
#endif
    return p;
}
/* x = n ln2 + r; e^x = 2^n (1 + r + s). x is clamped to where the result is 0 or infinite anyway;
 * NaN stays. */
TNI_INLINE V TNI_FNT(tni_exp_parts)(V x, V *r, V *s) {
    x = V_MAX(V_SET(EXP_LOW), V_MIN(V_SET(EXP_HIGH), x));
    V n = V_ROUND(V_MUL(x, V_SET(1.44269504088896339))); /* x / ln2 */
    V a = V_FNMA(n, LN2_HI, x), b = V_MUL(n, LN2_LO);
    /* r = a - b; what it loses, (a - r) - b, goes into s = r^2 P(r) + .. */
    *r = V_SUB(a, b);
    *s = V_FMA(V_MUL(*r, *r), TNI_FNT(tni_exp_poly)(*r), V_SUB(V_SUB(a, *r), b));
    return n;
}
TNI_HELPER V TNI_FNT(tni_exp)(V x) {
    V r, s, n = TNI_FNT(tni_exp_parts)(x, &r, &s);
    return V_LDEXP(V_ADD(V_ONE, V_ADD(r, s)), n);
}
/* e^x / 2, which overflows later */
TNI_HELPER V TNI_FNT(tni_exp_half)(V x) {
    V r, s, n = TNI_FNT(tni_exp_parts)(x, &r, &s);
    return V_LDEXP(V_ADD(V_ONE, V_ADD(r, s)), V_SUB(n, V_ONE));
}
/* e^x - 1 = 2 (hi + lo), halved lest 2^128 overflow; hi is the sum rounded */
TNI_INLINE V TNI_FNT(tni_expm1_parts)(V x, V *lo) {
    V r, s, n = TNI_FNT(tni_exp_parts)(x, &r, &s), t = V_LDEXP(V_ONE, V_SUB(n, V_ONE));
    /* t (1 + r + s) - 1/2 = (a + al) + t r + t s with a + al = t - 1/2; t may be the smaller, so al
     * is computed as Knuth does for any two numbers */
    V a = V_SUB(t, V_SET(0.5)), c = V_SUB(a, t),
      al = V_SUB(V_SUB(t, V_SUB(a, c)), V_ADD(V_SET(0.5), c));
    V b = V_MUL(t, r), sum = V_ADD(a, b), rest = V_FMA(t, s, V_ADD(V_ADD(V_SUB(a, sum), b), al));
    V hi = V_ADD(sum, rest);
    *lo = V_ADD(V_SUB(sum, hi), rest);
    return hi;
}
TNI_HELPER V TNI_FNT(tni_expm1)(V x) {
    V lo, y = TNI_FNT(tni_expm1_parts)(x, &lo);
    y = V_SEL(V_LT(x, V_SET(EXP_HIGH)), V_ADD(y, y), V_ADD(x, K_INF)); /* NaN stays NaN */
    return V_SEL(V_LT(V_ABS(x), V_SET(1e-20)), x, y); /* -0 and denormals are their own */
}
/* 1 / (1 + e^-x) = t / (1 + e) with e = e^-|x| and t = 1 or e; one division, and its remainder
 * corrects it */
TNI_HELPER V TNI_FNT(tni_sigmoid)(V x) {
    V r, s, n = TNI_FNT(tni_exp_parts)(V_NEG(V_ABS(x)), &r, &s);
    /* h + l = 1 + r + s, e + el = 2^n (h + l), d + dl = 1 + e + el */
    V u = V_ADD(r, s), h = V_ADD(V_ONE, u),
      l = V_ADD(V_ADD(V_SUB(V_ONE, h), u), V_ADD(V_SUB(r, u), s));
    V e = V_LDEXP(h, n), el = V_LDEXP(l, n), d = V_ADD(V_ONE, e),
      dl = V_ADD(V_ADD(V_SUB(V_ONE, d), e), el);
    M positive = V_GE(x, V_ZERO());
    /* q = t / d by the reciprocal, and the remainder t + tl - q (d + dl) times the reciprocal */
    V t = V_SEL(positive, V_ONE, e), tl = V_SEL(positive, V_ZERO(), el), i = V_DIV(V_ONE, d),
      q = V_MUL(t, i);
    return V_FMA(V_FNMA(q, dl, V_ADD(V_FNMA(q, d, t), tl)), i, q);
}
/* -m / (2 + m) with m = e^(-2|x|) - 1, corrected by the remainder as above. Both halved: h + l =
 * m / 2, d + dl = 1 + h + l. From 10 and 20 on the result rounds to 1. */
TNI_HELPER V TNI_FNT(tni_tanh)(V x) {
    V a = V_MIN(K(10, 20), V_ABS(x)), l, h = TNI_FNT(tni_expm1_parts)(V_MUL(a, V_SET(-2)), &l);
    V d = V_ADD(V_ONE, h), dl = V_ADD(V_ADD(V_SUB(V_ONE, d), h), l), i = V_DIV(V_ONE, d),
      q = V_NEG(V_MUL(h, i));
    V rest = V_FNMA(q, dl, V_SUB(V_FNMA(q, d, V_NEG(h)), l));
    q = V_SEL(V_LT(a, V_SET(1e-20)), a, V_FMA(rest, i, q));
    return TNI_FNT(tni_copysign)(q, x);
}
/* sinh = h + h / (2 h + 1) with h = (e^|x| - 1) / 2, cosh = e / 2 + 1 / (2 e); from 20 on both are
 * e / 2. At most 2 ULP. */
TNI_HELPER V TNI_FNT(tni_sinh)(V x) {
    V a = V_ABS(x), l, h = TNI_FNT(tni_expm1_parts)(V_MIN(V_SET(20), a), &l);
    V y = V_ADD(h, V_ADD(V_DIV(h, V_FMA(V_SET(2), h, V_ONE)), l));
    y = V_SEL(V_LT(a, V_SET(20)), y, TNI_FNT(tni_exp_half)(a));
    return TNI_FNT(tni_copysign)(V_SEL(V_LT(a, V_SET(1e-20)), a, y), x);
}
TNI_HELPER V TNI_FNT(tni_cosh)(V x) {
    V a = V_ABS(x), h = TNI_FNT(tni_exp_half)(a), y = V_ADD(h, V_DIV(V_SET(0.25), h));
    return V_SEL(V_LT(a, V_SET(20)), y, h);
}

/* --- log -------------------------------------------------------------------------------------- */

/* x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), of a positive finite number, denormals included */
TNI_INLINE V TNI_FNT(tni_log_split)(V x, V *f) {
    /* denormals are scaled by 2^24 and 2^54, as V_EXPO and V_MANT are of normal numbers */
    M little = V_LT(x, K(1.17549435e-38, 2.2250738585072014e-308));
    x = V_SEL(little, V_MUL(x, K(16777216, 18014398509481984.0)), x);
    V e = V_SUB(V_EXPO(x), V_SEL(little, K(24, 54), V_ZERO())), m = V_MANT(x);
    M upper = V_GT(m, V_SET(1.41421356237309505)); /* halved, so that f is small */
    *f = V_SUB(V_SEL(upper, V_MUL(m, V_SET(0.5)), m), V_ONE);
    return V_SEL(upper, V_ADD(e, V_ONE), e);
}
/* log(1 + f) - f: -f^2 / 2 apart from the polynomial, which is small beside it */
TNI_INLINE V TNI_FNT(tni_log_tail)(V f) {
#if defined(TNI_TYPE_F32)
    V z = f, p = V_SET(7.332568616e-02), sq = V_MUL(f, f);
    H(-1.165995449e-01);
    H(1.163465753e-01);
    H(-1.239669621e-01);
    H(1.425115615e-01);
    H(-1.666915119e-01);
    H(2.000068873e-01);
    H(-2.499998063e-01);
    H(3.333333135e-01);
    return V_FMA(V_SET(-0.5), sq, V_MUL(V_MUL(sq, f), p));
#else /* by s = f / (2 + f): log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + 2 s^2 P(s^2)) */
    V s = V_DIV(f, V_ADD(V_SET(2), f)), z = V_MUL(s, s), p = V_SET(6.54404508035778126e-02);
    H(6.63431221028847606e-02);
    H(7.69312281805563519e-02);
    H(9.09089776139465899e-02);
    H(1.11111111964524001e-01);
    H(1.42857142853989288e-01);
    H(2.00000000000004424e-01);
    H(3.33333333333333315e-01);
    V half = V_MUL(V_SET(0.5), V_MUL(f, f));
    return V_FMA(s, V_FMA(V_ADD(z, z), p, half), V_NEG(half));
#endif
}
/* log(x) is y but of infinities, NaN, 0 and negative numbers (Annex F) */
TNI_INLINE V TNI_FNT(tni_log_specials)(V x, V y) {
    y = V_SEL(V_LT(x, K_INF), y, x); /* infinite or NaN: itself */
    y = V_SEL(V_EQ(x, V_ZERO()), V_NEG(K_INF), y);
    return V_SEL(V_LT(x, V_ZERO()), K_NAN, y);
}
/* e ln2 + f + tail: hi + lo = e LN2_HI + f, and hi is added last */
TNI_HELPER V TNI_FNT(tni_log)(V x) {
    V f, e = TNI_FNT(tni_log_split)(x, &f), hi = V_FMA(e, LN2_HI, f);
    V lo = V_ADD(V_FMA(e, LN2_HI, V_NEG(hi)), f);
    V y = V_ADD(hi, V_ADD(V_ADD(lo, TNI_FNT(tni_log_tail)(f)), V_MUL(e, LN2_LO)));
    return TNI_FNT(tni_log_specials)(x, y);
}
/* 1 + x = u + c exactly; log(u + c) = log(u) + c / u, with c / u = d / (1 + f) = d (1 - f + f^2) */
TNI_HELPER V TNI_FNT(tni_log1p)(V x) {
    V u = V_ADD(V_ONE, x), b = V_SUB(u, V_ONE), c = V_ADD(V_SUB(V_ONE, V_SUB(u, b)), V_SUB(x, b));
    V f, e = TNI_FNT(tni_log_split)(u, &f), d = V_LDEXP(c, V_NEG(e));
    V tail = V_FMA(d, V_FMA(f, V_SUB(f, V_ONE), V_ONE), TNI_FNT(tni_log_tail)(f));
    V hi = V_FMA(e, LN2_HI, f), lo = V_ADD(V_FMA(e, LN2_HI, V_NEG(hi)), f);
    V y = TNI_FNT(tni_log_specials)(u, V_ADD(hi, V_ADD(V_ADD(lo, tail), V_MUL(e, LN2_LO))));
    return V_SEL(V_EQ(x, V_ZERO()), x, y); /* -0 stays */
}
/* asinh|x| = log1p(|x| + x^2 / (1 + sqrt(1 + x^2))); log 2|x| far out */
TNI_HELPER V TNI_FNT(tni_asinh)(V x) {
    V a = V_MIN(V_SET(1e9), V_ABS(x)), s = V_MUL(a, a);
    V y = TNI_FNT(tni_log1p)(V_ADD(a, V_DIV(s, V_ADD(V_ONE, V_SQRT(V_ADD(V_ONE, s))))));
    V away = V_ADD(TNI_FNT(tni_log)(V_ABS(x)), V_SET(0.69314718055994530942));
    return V_COPYSIGN(V_SEL(V_LT(V_ABS(x), V_SET(1e9)), y, away), x);
}
/* log(e^x + e^y): the larger and log(1 + e^-distance). Two equal infinities have no distance. */
TNI_HELPER V TNI_FNT(tni_logaddexp)(V x, V y) {
    V gap = V_SEL(V_EQ(x, y), V_ZERO(), V_ABS(V_SUB(x, y)));
    return V_ADD(V_MAXIMUM(x, y), TNI_FNT(tni_log1p)(TNI_FNT(tni_exp)(V_NEG(gap))));
}
/* log2(2^x + 2^y): the larger and log2(1 + 2^-distance) */
TNI_HELPER V TNI_FNT(tni_logaddexp2)(V x, V y) {
    V gap = V_SEL(V_EQ(x, y), V_ZERO(), V_ABS(V_SUB(x, y)));
    V r = TNI_FNT(tni_log1p)(TNI_FNT(tni_exp)(V_MUL(gap, V_SET(-0.69314718055994531))));
    return V_FMA(r, V_SET(1.44269504088896339), V_MAXIMUM(x, y));
}

/* --- log2, log10, pow ------------------------------------------------------------------------- */

/* log(a) = hi + lo with about twice the digits: 2 atanh(q) + e ln2 with q = f / (2 + f) in two
 * parts, and 2 atanh(q) = 2 (q + q^3 (1/3 + q^2 P(q^2))) */
TNI_HELPER V TNI_FNT(tni_log_long)(V a, V *lo) {
    V f, e = TNI_FNT(tni_log_split)(a, &f), two = V_ADD(V_SET(2), f),
         low = V_ADD(V_SUB(V_SET(2), two), f);
    /* two + low = 2 + f; q + ql = f / (two + low), from the reciprocal and the remainder */
    V i = V_DIV(V_ONE, two), q = V_MUL(f, i), z = V_MUL(q, q);
    V ql = V_MUL(i, V_FNMA(q, low, V_FNMA(q, two, f)));
#if defined(TNI_TYPE_F32)
    V p = V_SET(1.152505055e-01);
    H(1.428109109e-01);
    H(2.000000775e-01);
#else
    V p = V_SET(5.86219340885594797e-02);
    H(5.85305641745502217e-02);
    H(6.66740482646310251e-02);
    H(7.69229743189867865e-02);
    H(9.09090916820070871e-02);
    H(1.11111111108254904e-01);
    H(1.42857142857146874e-01);
    H(2.00000000000000011e-01);
#endif
    /* c + cl = 1/3 + z P, z + zl = q^2, cube + cubel = q^3, w + wl = their product */
    V t = V_MUL(z, p), third = K(3.333333433e-01, 3.33333333333333315e-01), c = V_ADD(third, t);
    V cl = V_ADD(V_ADD(V_SUB(third, c), t), K(-9.934107759e-09, 1.85037170770859413e-17));
    V zl = V_FMA(q, V_ADD(ql, ql), V_FMA(q, q, V_NEG(z))), cube = V_MUL(z, q);
    V cubel = V_FMA(z, ql, V_FMA(zl, q, V_FMA(z, q, V_NEG(cube))));
    V w = V_MUL(cube, c), wl = V_FMA(cube, cl, V_FMA(cubel, c, V_FMA(cube, c, V_NEG(w))));
    V h = V_ADD(q, w), l = V_ADD(V_ADD(V_SUB(q, h), w), V_ADD(ql, wl));
    h = V_ADD(h, h);
    l = V_ADD(l, l);
    /* n + nl = e ln2, the larger part unless e is 0 */
    V n = V_MUL(e, LN2_HI), nl = V_FMA(e, LN2_LO, V_FMA(e, LN2_HI, V_NEG(n))), s = V_ADD(n, h);
    l = V_ADD(V_ADD(V_SEL(V_EQ(e, V_ZERO()), V_ZERO(), V_ADD(V_SUB(n, s), h)), nl), l);
    h = V_ADD(s, l);
    *lo = V_ADD(V_SUB(s, h), l);
    return h;
}
/* log(x) / ln(base) with 1 / ln(base) = c + cl; exact for powers of the base */
TNI_HELPER V TNI_FNT(tni_log_base)(V x, V c, V cl) {
    V l, h = TNI_FNT(tni_log_long)(x, &l), p = V_MUL(h, c);
    return TNI_FNT(tni_log_specials)(x, V_ADD(p, V_FMA(l, c, V_FMA(h, cl, V_FMA(h, c, V_NEG(p))))));
}
TNI_INLINE V TNI_FNT(tni_log2)(V x) {
    return TNI_FNT(tni_log_base)(x, K(1.442695022e+00, 1.44269504088896339e+00),
                                 K(1.925963034e-08, 2.03552737409310331e-17));
}
TNI_INLINE V TNI_FNT(tni_log10)(V x) {
    return TNI_FNT(tni_log_base)(x, K(4.342944920e-01, 4.34294481903251817e-01),
                                 K(-1.010304995e-08, 1.09831965021676507e-17));
}
/* e^(h + l) = 2^n (y + yl), |l| small against h: as tni_exp, with r + rl and 1 + r + .. = y + yl */
TNI_INLINE V TNI_FNT(tni_exp_two)(V h, V l, V *low, V *power) {
    V n = V_ROUND(V_MUL(h, V_SET(1.44269504088896339))), a = V_FNMA(n, LN2_HI, h),
      b = V_FNMA(n, LN2_LO, l);
    V r = V_ADD(a, b), rl = V_ADD(V_SUB(a, r), b), s = V_MUL(V_MUL(r, r), TNI_FNT(tni_exp_poly)(r));
    V y = V_ADD(V_ONE, r), yl = V_ADD(V_ADD(V_SUB(V_ONE, y), r), V_ADD(s, V_FMA(rl, r, rl)));
    V sum = V_ADD(y, yl);
    *low = V_ADD(V_SUB(y, sum), yl);
    *power = n;
    return sum;
}
TNI_INLINE V TNI_FNT(tni_exp_long)(V h, V l) {
    V low, n, y = TNI_FNT(tni_exp_two)(h, l, &low, &n);
    return V_LDEXP(y, n);
}
/* x^y as C's pow; y = 2 and 3 are products, so x^3 has 1.3 ULP */
TNI_HELPER V TNI_FNT(tni_pow)(V x, V y) {
    /* a vector of squares and cubes needs no logarithm */
    M square = V_EQ(y, V_SET(2)), cube = V_EQ(y, V_SET(3));
    V sq = V_MUL(x, x), product = V_SEL(square, sq, V_MUL(sq, x));
    if (!M_ANY(M_NOT(M_OR(square, cube)))) return product;
    V a = V_ABS(x), l, h = TNI_FNT(tni_log_long)(a, &l), zero = V_ZERO(), inf = K_INF;
    /* |x|^y = e^(ph + pl), clamped where that is 0 or infinite; `above` is true of NaN, too */
    V ph = V_MUL(y, h), pl = V_FMA(y, l, V_FMA(y, h, V_NEG(ph)));
    M above = M_NOT(V_LE(V_ABS(ph), K(105, 750)));
    ph = V_MAX(K(-105, -750), V_MIN(K(105, 750), ph));
    V r = TNI_FNT(tni_exp_long)(ph, V_SEL(above, zero, pl));
    /* Annex F: |x| = 1, 0, infinite; the sign of x where y is odd; negative x where y is not whole;
     * NaN; and last x^0 = 1^y = 1, even of NaN */
    r = V_SEL(V_EQ(a, V_ONE), V_ONE, r);
    M under = V_LT(y, zero);
    r = V_SEL(V_EQ(a, zero), V_SEL(under, inf, zero), r);
    r = V_SEL(V_EQ(a, inf), V_SEL(under, zero, inf), r);
    V half = V_MUL(y, V_SET(0.5));
    M whole = V_EQ(V_TRUNC(y), y), odd = M_AND(whole, V_NE(V_TRUNC(half), half));
    r = V_OR(r, V_AND(V_SEL(odd, x, zero), V_SET(-0.0)));
    r = V_SEL(M_AND(M_AND(V_LT(x, zero), V_GT(x, V_NEG(inf))), M_NOT(whole)), K_NAN, r);
    r = V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), r);
    r = V_SEL(M_OR(V_EQ(y, zero), V_EQ(x, V_ONE)), V_ONE, r);
    return V_SEL(M_OR(square, cube), product, r);
}

/* --- sin, cos, tan ---------------------------------------------------------------------------- */

/* Lanes beyond K_LIMIT, one by one, by Payne and Hanek (math.h). x - x is not 0 of infinities and
 * NaN, which the caller settles. */
TNI_HELPER V TNI_FNT(tni_trig_lanes)(V x, V r, V *rl, V *q) {
    T xs[W], rs[W], ls[W], qs[W];
    V_ST(xs, x);
    V_ST(rs, r);
    V_ST(ls, *rl);
    V_ST(qs, *q);
    for (int i = 0; i < W; i++) {
        double hi, lo;
        if (!(xs[i] > K_LIMIT || xs[i] < -K_LIMIT) || xs[i] - xs[i] != 0) continue;
        qs[i] = (T)TNI_FN(tni_trig_large)((double)xs[i], &hi, &lo);
        rs[i] = (T)hi;
        ls[i] = (T)((hi - (double)rs[i]) + lo);
    }
    *rl = V_LD(ls);
    *q = V_LD(qs);
    return V_LD(rs);
}
/* x = n pi/2 + r + rl; q = n mod 4. Infinite and NaN give NaN. pi / 2 in three numbers (Cody and
 * Waite): x less n times the first is one fma, pe is the error of n times the second. */
TNI_INLINE V TNI_FNT(tni_trig_reduce)(V x, V *rl, V *q) {
    V n = V_ROUND(V_MUL(x, V_SET(6.36619772367581382e-01)));
    V p2 = K(-4.371138829e-08, 6.12323399573676604e-17),
      p3 = K(-1.715124510e-15, -1.49738490485916983e-33);
    V r = V_FNMA(n, K(1.570796371, 1.57079632679489656), x), p = V_MUL(n, p2),
      pe = V_FMA(n, p2, V_NEG(p));
    V s = V_SUB(r, p), b = V_SUB(s, r);
    V e = V_SUB(V_SUB(r, V_SUB(s, b)), V_ADD(p, b)); /* s + e = r - p, either may be the larger */
    V l = V_FNMA(n, p3, V_SUB(e, pe));
    r = V_ADD(s, l);
    *rl = V_ADD(V_SUB(s, r), l);
    *q = V_FNMA(V_SET(4), V_FLOOR(V_MUL(n, V_SET(0.25))), n);
    if (M_ANY(V_GT(V_ABS(x), V_SET(K_LIMIT)))) r = TNI_FNT(tni_trig_lanes)(x, r, rl, q);
    return r;
}
/* sin(r + rl) = return + low = r + (r^3 P(r^2) + rl cos r), cos r = 1 - r^2 / 2 being enough */
TNI_INLINE V TNI_FNT(tni_sin_parts)(V r, V rl, V *low) {
    V z = V_MUL(r, r);
#if defined(TNI_TYPE_F32)
    V p = V_SET(2.724938895e-06);
    H(-1.984008268e-04);
    H(8.333331905e-03);
    H(-1.666666716e-01);
#else
    V p = V_SET(-7.58658048790459093e-13);
    H(1.60585296445810500e-10);
    H(-2.50521062200247380e-08);
    H(2.75573192193035283e-06);
    H(-1.98412698412650193e-04);
    H(8.33333333333333148e-03);
    H(-1.66666666666666657e-01);
#endif
    *low = V_FMA(V_MUL(z, r), p, V_FMA(V_MUL(z, V_SET(-0.5)), rl, rl));
    return r;
}
/* cos(r + rl) = return + low: w = 1 - r^2 / 2 and its rounding error, r^4 P(r^2), and -r rl */
TNI_INLINE V TNI_FNT(tni_cos_parts)(V r, V rl, V *low) {
    V z = V_MUL(r, r), half = V_MUL(z, V_SET(0.5)), w = V_SUB(V_ONE, half);
#if defined(TNI_TYPE_F32)
    V p = V_SET(-2.730050426e-07);
    H(2.480059629e-05);
    H(-1.388888806e-03);
    H(4.166666791e-02);
#else
    V p = V_SET(4.74580684080214986e-14);
    H(-1.14704597858538745e-11);
    H(2.08767557841456125e-09);
    H(-2.75573192213829243e-07);
    H(2.48015873015846216e-05);
    H(-1.38888888888888873e-03);
    H(4.16666666666666644e-02);
#endif
    *low = V_ADD(V_SUB(V_SUB(V_ONE, w), half), V_FNMA(r, rl, V_MUL(V_MUL(z, z), p)));
    return w;
}
/* Both are computed, and the quarter of the circle says which one, and its sign. */
TNI_HELPER V TNI_FNT(tni_trig)(V x, int cosine) {
    V rl, q, r = TNI_FNT(tni_trig_reduce)(x, &rl, &q), sl, cl;
    V s = TNI_FNT(tni_sin_parts)(r, rl, &sl), c = TNI_FNT(tni_cos_parts)(r, rl, &cl);
    s = V_ADD(s, sl);
    c = V_ADD(c, cl);
    M one = V_EQ(q, V_ONE), two = V_EQ(q, V_SET(2)), three = V_EQ(q, V_SET(3)),
      odd = M_OR(one, three);
    V y = cosine ? V_SEL(odd, s, c) : V_SEL(odd, c, s);
    y = V_SEL(cosine ? M_OR(one, two) : M_OR(two, three), V_NEG(y), y);
    y = cosine ? y : V_SEL(V_EQ(x, V_ZERO()), x, y); /* sin(-0) = -0 */
    return V_SEL(V_LT(V_ABS(x), K_INF), y, K_NAN);
}
TNI_INLINE V TNI_FNT(tni_sin)(V x) { return TNI_FNT(tni_trig)(x, 0); }
TNI_INLINE V TNI_FNT(tni_cos)(V x) { return TNI_FNT(tni_trig)(x, 1); }
/* sin / cos or -cos / sin, corrected by the remainder of the division */
TNI_HELPER V TNI_FNT(tni_tan)(V x) {
    V rl, q, r = TNI_FNT(tni_trig_reduce)(x, &rl, &q), sl, cl;
    V s = TNI_FNT(tni_sin_parts)(r, rl, &sl), c = TNI_FNT(tni_cos_parts)(r, rl, &cl);
    V sh = V_ADD(s, sl), ch = V_ADD(c, cl);
    sl = V_ADD(V_SUB(s, sh), sl); /* sh + sl and ch + cl: sums with their errors again */
    cl = V_ADD(V_SUB(c, ch), cl);
    M odd = M_OR(V_EQ(q, V_ONE), V_EQ(q, V_SET(3)));
    V a = V_SEL(odd, V_NEG(ch), sh), al = V_SEL(odd, V_NEG(cl), sl), b = V_SEL(odd, sh, ch);
    V bl = V_SEL(odd, sl, cl), y = V_DIV(a, b);
    y = V_ADD(y, V_DIV(V_FNMA(y, bl, V_ADD(V_FNMA(y, b, a), al)), b));
    y = V_SEL(V_LT(V_ABS(x), V_SET(1e-20)), x, y);
    return V_SEL(V_LT(V_ABS(x), K_INF), y, K_NAN);
}

/* --- inverse circular functions --------------------------------------------------------------- */

#define PIO2_HI K(1.570796371, 1.57079632679489656)
#define PIO2_LO K(-4.371138829e-08, 6.12323399573676604e-17)
/* atan(t) - t for |t| <= tan(pi / 8) */
TNI_INLINE V TNI_FNT(tni_atan_tail)(V t) {
    V z = V_MUL(t, t);
#if defined(TNI_TYPE_F32)
    V p = V_SET(-6.464754045e-02);
    H(1.074824631e-01);
    H(-1.426445246e-01);
    H(1.999955773e-01);
    H(-3.333333135e-01);
#else
    V p = V_SET(-1.92134085037362623e-02);
    H(3.92637202992664469e-02);
    H(-5.08664575612532144e-02);
    H(5.85839588480056225e-02);
    H(-6.66454226359379925e-02);
    H(7.69218557062620323e-02);
    H(-9.09090469001803680e-02);
    H(1.11111110182789075e-01);
    H(-1.42857142847080232e-01);
    H(1.99999999999957406e-01);
    H(-3.33333333333333315e-01);
#endif
    return V_MUL(V_MUL(z, t), p);
}
/* atan|x| = base + atan(t), |t| <= tan(pi / 8): t = x, (x - 1) / (x + 1) or -1 / x */
TNI_HELPER V TNI_FNT(tni_atan)(V x) {
    V a = V_ABS(x);
    /* tan(3 pi / 8) and tan(pi / 8) */
    M above = V_GT(a, V_SET(2.41421356237309505)), below = V_LE(a, V_SET(0.414213562373095049));
    V less = V_SUB(a, V_ONE), more = V_ADD(a, V_ONE), zero = V_ZERO();
    V lessl = V_ADD(V_SUB(V_SET(-1), less), a),
      morel = V_ADD(V_SUB(V_MAX(a, V_ONE), more), V_MIN(a, V_ONE));
    /* t = up / down; rest: its remainder, with the errors lessl and morel of |x| -+ 1 */
    V up = V_SEL(above, V_SET(-1), V_SEL(below, a, less)),
      down = V_SEL(above, a, V_SEL(below, V_ONE, more));
    V i = V_DIV(V_ONE, down), t = V_MUL(up, i), rest = V_FNMA(t, down, up);
    M mid = M_NOT(M_OR(above, below));
    rest = V_ADD(rest, V_SEL(mid, V_FNMA(t, morel, lessl), zero));
    /* base = step pi / 2: 0, a quarter or half of pi */
    V step = V_SEL(above, V_ONE, V_SEL(below, V_ZERO(), V_SET(0.5))), base = V_MUL(step, PIO2_HI);
    V low = V_FMA(rest, i, V_FMA(step, PIO2_LO, TNI_FNT(tni_atan_tail)(t))), s = V_ADD(base, t);
    low = V_SEL(V_LT(a, K_INF), low, V_MUL(step, PIO2_LO)); /* the remainder was NaN */
    V y = V_ADD(s, V_ADD(V_ADD(V_SUB(base, s), t), low));
    return TNI_FNT(tni_copysign)(V_SEL(below, V_ADD(t, low), y), x);
}
/* The angle of the point (x, y): atan of the smaller part over the larger one, t as in atan, and
 * turned into its octant, step quarters of a circle on. Scaled, so that no quotient overflows and
 * no remainder vanishes. */
TNI_HELPER V TNI_FNT(tni_atan2)(V y, V x) {
    V a = V_ABS(x), b = V_ABS(y), zero = V_ZERO(), large = V_MAX(a, b), little = V_MIN(a, b);
    M steep = V_GT(b, a), left = TNI_FNT(tni_signbit)(x), endless = V_EQ(large, K_INF);
    /* 2^-4 above 2^120, 2^1018; 2^64, 2^600 below 2^40, 2^400 */
    V scale = V_SEL(V_GT(large, K(1.3292279957849159e+36, 2.8088955232223686e+306)), V_SET(0.0625),
                    V_ONE);
    scale = V_SEL(V_LT(large, K(1099511627776, 2.5822498780869086e+120)),
                  K(18446744073709551616.0, 4.1495155688809930e+180), scale);
    /* infinities become 1, so that (inf, inf) is an eighth of the circle; (0, 0) divides by 1 */
    little = V_SEL(endless, V_SEL(V_EQ(a, b), V_ONE, zero), V_MUL(little, scale));
    large = V_SEL(M_OR(endless, V_EQ(large, zero)), V_ONE, V_MUL(large, scale));
    M beyond = V_LE(little, V_MUL(large, V_SET(0.414213562373095049)));
    V less = V_SUB(little, large), lessl = V_SUB(little, V_ADD(less, large)),
      more = V_ADD(little, large), morel = V_SUB(little, V_SUB(more, large));
    V up = V_SEL(beyond, little, less), down = V_SEL(beyond, large, more), i = V_DIV(V_ONE, down),
      t = V_MUL(up, i);
    V rest = V_ADD(V_FNMA(t, down, up), V_SEL(beyond, zero, V_FNMA(t, morel, lessl)));
    V low = V_FMA(rest, i, TNI_FNT(tni_atan_tail)(t)), step = V_SEL(beyond, zero, V_SET(0.5));
    /* mirrored at the diagonal, then at the axis: each time t counts the other way */
    step = V_SEL(steep, V_SUB(V_ONE, step), step);
    step = V_SEL(left, V_SUB(V_SET(2), step), step);
    V turned = V_SEL(M_XOR(steep, left), V_SET(-0.0), zero), base = V_MUL(step, PIO2_HI);
    t = V_XOR(t, turned);
    low = V_ADD(V_XOR(low, turned), V_FMA(step, PIO2_LO, V_FMA(step, PIO2_HI, V_NEG(base))));
    V s = V_ADD(base, t), angle = V_ADD(s, V_ADD(V_ADD(V_SUB(base, s), t), low));
    return V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), TNI_FNT(tni_copysign)(angle, y));
}
/* asin(t) - t for |t| <= 1/2 */
TNI_HELPER V TNI_FNT(tni_asin_tail)(V t) {
    V z = V_MUL(t, t);
#if defined(TNI_TYPE_F32)
    V p = V_SET(3.393080831e-02);
    H(1.700072922e-02);
    H(3.113277815e-02);
    H(4.459657520e-02);
    H(7.500103116e-02);
    H(1.666666567e-01);
#else
    V p = V_SET(2.90203794368872371e-02);
    H(-1.52439645300440768e-02);
    H(1.76570258721838007e-02);
    H(5.36139127846630651e-03);
    H(1.03456814991210854e-02);
    H(1.14755848738593586e-02);
    H(1.39715893764227970e-02);
    H(1.73523667690095619e-02);
    H(2.23721740759968736e-02);
    H(3.03819441093165429e-02);
    H(4.46428571467441110e-02);
    H(7.49999999999823030e-02);
    H(1.66666666666666685e-01);
#endif
    return V_MUL(V_MUL(z, t), p);
}
/* for |x| > 1/2: acos|x| = 2 asin(sqrt((1 - |x|) / 2)), the root in two parts; = return + low */
TNI_HELPER V TNI_FNT(tni_acos_near_one)(V a, V *low) {
    /* s + sl = sqrt(z): the root and half its remainder over it; 1 - a is exact */
    V z = V_MUL(V_SUB(V_ONE, a), V_SET(0.5)), s = V_SQRT(z), i = V_DIV(V_SET(0.5), s);
    V sl = V_SEL(V_GT(s, V_ZERO()), V_MUL(V_FNMA(s, s, z), i), V_ZERO());
    V l = V_ADD(TNI_FNT(tni_asin_tail)(s), sl);
    *low = V_ADD(l, l);
    return V_ADD(s, s);
}
/* pi / 2 - acos|x| beyond 1/2, as PIO2_HI - h with its error and the low parts */
TNI_HELPER V TNI_FNT(tni_asin)(V x) {
    V a = V_ABS(x), l, h = TNI_FNT(tni_acos_near_one)(a, &l), s = V_SUB(PIO2_HI, h);
    V outer = V_ADD(s, V_SUB(V_ADD(V_SUB(V_SUB(PIO2_HI, s), h), PIO2_LO), l));
    V y = V_SEL(V_GT(a, V_SET(0.5)), outer, V_ADD(a, TNI_FNT(tni_asin_tail)(a)));
    return TNI_FNT(tni_copysign)(V_SEL(V_LE(a, V_ONE), y, K_NAN), x);
}
/* acos|x| or pi - acos|x| beyond 1/2, pi / 2 - asin x within */
TNI_HELPER V TNI_FNT(tni_acos)(V x) {
    V a = V_ABS(x), l, h = TNI_FNT(tni_acos_near_one)(a, &l), pi = V_ADD(PIO2_HI, PIO2_HI);
    V pil = V_ADD(PIO2_LO, PIO2_LO), s = V_SUB(pi, h), t = V_SUB(PIO2_HI, x);
    V negative = V_ADD(s, V_SUB(V_ADD(V_SUB(V_SUB(pi, s), h), pil), l));
    V inner = V_SUB(V_ADD(V_SUB(V_SUB(PIO2_HI, t), x), PIO2_LO), TNI_FNT(tni_asin_tail)(x));
    V y = V_SEL(V_LT(x, V_ZERO()), negative, V_ADD(h, l));
    y = V_SEL(V_GT(a, V_SET(0.5)), y, V_ADD(t, inner));
    return V_SEL(V_LE(a, V_ONE), y, K_NAN);
}

/* --- erf -------------------------------------------------------------------------------------- */

/* x + x P(x^2) near 0, else 1 - e^P(|x|) with P fitted to log(erfc); 1.2 ULP. From 4.2 and 5.95 on
 * the result rounds to 1. In f32 the fits and their border 475 / 512 are of N. Juffa's erff. */
TNI_HELPER V TNI_FNT(tni_erf)(V x) {
    V a = V_MIN(K(4.2, 5.95), V_ABS(x)), sq = V_MUL(a, a), z = sq, below, above;
#if defined(TNI_TYPE_F32)
    V p = V_SET(-5.96761703e-4);
    H(4.99119423e-3);
    H(-2.67681349e-2);
    H(1.12819925e-1);
    H(-3.76125336e-1);
    H(1.28379166e-1);
    below = V_FMA(p, a, a);
    p = V_FMA(V_SET(-1.72853470e-5), a, V_SET(3.83197126e-4));
    p = V_FMA(p, sq, V_FMA(V_SET(-3.88396438e-3), a, V_SET(2.42546219e-2)));
    z = a, H(-1.06777877e-1);
    H(-6.34846687e-1);
    H(-1.28717512e-1);
    above = V_SUB(V_ONE, TNI_FNT(tni_exp)(V_FMA(p, a, V_NEG(a))));
    below = V_SEL(V_GT(a, V_SET(0.927734375)), above, below);
#else
    V p = V_SET(5.94525924018032111e-11);
    H(-1.13656644442390191e-09);
    H(1.46578794420150271e-08);
    H(-1.63500251622660576e-07);
    H(1.64609728112695583e-06);
    H(-1.49255935065289795e-05);
    H(1.20553310368844933e-04);
    H(-8.54832697874178507e-04);
    H(5.22397762478085930e-03);
    H(-2.68661706450728927e-02);
    H(1.12837916709548569e-01);
    H(-3.76126389031837483e-01);
    H(1.28379167095512586e-01);
    below = V_FMA(p, a, a);
    p = V_SET(-4.92764664271337850e-12);
    z = a, H(2.04461847968950888e-10);
    H(-3.93370298216017618e-09);
    H(4.64174168215294386e-08);
    H(-3.73266380401637352e-07);
    H(2.13550226642660655e-06);
    H(-8.66654140982254747e-06);
    H(2.28208460316976323e-05);
    H(-2.02633855765498947e-05);
    H(-1.35055037259412841e-04);
    H(7.70647595429562273e-04);
    H(-1.91594511721922484e-03);
    H(4.10626167723749801e-04);
    H(1.89901825823651053e-02);
    H(-1.02703442811848275e-01);
    H(-6.36643626394099549e-01);
    H(-1.12837408997051125e+00);
    H(-5.02786008329770191e-07);
    above = V_SUB(V_ONE, TNI_FNT(tni_exp)(p));
    below = V_SEL(V_GT(a, V_ONE), above, below);
#endif
    return TNI_FNT(tni_copysign)(below, x);
}

#include "math_error.h"

/* --- lgamma, digamma -------------------------------------------------------------------------- */

#include "math_gamma.h"

/* --- division with a rest --------------------------------------------------------------------- */

#if defined(TNI_TYPE_F32)
TNI_INLINE T TNI_FNT(tni_fmod_one)(T a, T b) { return fmodf(a, b); }
#else
TNI_INLINE T TNI_FNT(tni_fmod_one)(T a, T b) { return fmod(a, b); }
#endif
#include "math_lanes.h"
TNI_LANES(tni_fmod, TNI_FNT(tni_fmod_lanes))
#undef TNI_LANES
/* C's fmod, exact: |a| - q |b| is a number of the type for q < 2^23; larger quotients go lane by
 * lane. The rounded quotient may be one too large, which the sign of r shows. NaN and x % 0 are NaN
 * here already. */
TNI_HELPER V TNI_FNT(tni_fmod)(V x, V y) {
    V a = V_ABS(x), b = V_ABS(y), q = V_TRUNC(V_DIV(a, b));
    M simple = M_AND(V_LT(q, V_SET(8388608)), V_LT(b, K_INF)),
      nan = M_OR(V_ISNAN(q), V_EQ(b, V_ZERO()));
    if (M_ANY(M_NOT(M_OR(simple, nan)))) return TNI_FNT(tni_fmod_lanes)(x, y);
    V r = V_FNMA(q, b, a);
    return TNI_FNT(tni_copysign)(V_SEL(V_LT(r, V_ZERO()), V_ADD(r, b), r), x);
}
/* Whether the rest is not 0 and its sign is not that of b. */
TNI_INLINE M TNI_FNT(tni_rest_differs)(V rest, V b) {
    return M_AND(V_NE(rest, V_ZERO()), M_XOR(V_LT(rest, V_ZERO()), V_LT(b, V_ZERO())));
}
/* a % b of Python: it has the sign of b */
TNI_HELPER V TNI_FNT(tni_remainder)(V a, V b) {
    V rest = TNI_FNT(tni_fmod)(a, b);
    return V_SEL(TNI_FNT(tni_rest_differs)(rest, b), V_ADD(rest, b), rest);
}
/* a // b of Python, as torch computes it: (a - rest) / b is whole but for rounding, so the nearest
 * whole number is it; a quotient of 0 has the sign of a / b */
TNI_HELPER V TNI_FNT(tni_floordiv)(V a, V b) {
    V rest = TNI_FNT(tni_fmod)(a, b), ratio = V_DIV(a, b), q = V_DIV(V_SUB(a, rest), b);
    q = V_SEL(TNI_FNT(tni_rest_differs)(rest, b), V_SUB(q, V_ONE), q);
    V down = V_FLOOR(q), y = V_SEL(V_GT(V_SUB(q, down), V_SET(0.5)), V_ADD(down, V_ONE), down);
    y = V_SEL(V_EQ(q, V_ZERO()), TNI_FNT(tni_copysign)(V_ZERO(), ratio), y);
    return V_SEL(V_EQ(b, V_ZERO()), ratio, y);
}

#if TNI_ISA == 0 && defined(TNI_TYPE_F64)
#include "math_special.h"
#endif

#undef K
#undef H
#undef K_INF
#undef K_NAN
#undef K_LIMIT
#undef LN2_HI
#undef LN2_LO
#undef EXP_LOW
#undef EXP_HIGH
#undef PIO2_HI
#undef PIO2_LO
