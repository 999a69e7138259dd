/* math_complex.h - complex numbers as pairs of vectors, for one floating type: what complex.h makes
 * words of. */

typedef struct TNI_FNT(tni_complex) {
    V re, im;
} TNI_FNT(tni_complex);
typedef M TNI_FNT(tni_mask);
#define C TNI_FNT(tni_complex)
#define C_FN(name) TNI_INLINE C TNI_FNT(tni_c_##name)
#define C_CALL(name) TNI_FNT(tni_c_##name)

/* Memory has pairs (re, im); V_LD2 and V_ST2 part and join W of them. */
C_FN(make)(V re, V im) {
    C z;
    z.re = re;
    z.im = im;
    return z;
}
C_FN(load)(const void *p) {
    C z;
    V_LD2(p, &z.re, &z.im);
    return z;
}
TNI_INLINE void TNI_FNT(tni_c_store)(void *p, C z) { V_ST2(p, z.re, z.im); }
TNI_INLINE void TNI_FNT(tni_c_store_real)(void *p, C z) { V_ST(p, z.re); }
C_FN(set)(const T *p) { return C_CALL(make)(V_SET(p[0]), V_SET(p[1])); }
C_FN(real)(double s) { return C_CALL(make)(V_SET(s), V_ZERO()); }
C_FN(add)(C a, C b) { return C_CALL(make)(V_ADD(a.re, b.re), V_ADD(a.im, b.im)); }
C_FN(sub)(C a, C b) { return C_CALL(make)(V_SUB(a.re, b.re), V_SUB(a.im, b.im)); }
C_FN(neg)(C a) { return C_CALL(make)(V_NEG(a.re), V_NEG(a.im)); }
C_FN(conj)(C a) { return C_CALL(make)(a.re, V_NEG(a.im)); }
/* The formula alone: (inf + inf i) * 1 is NaN in both parts, which Annex G of C99 would mend. */
C_FN(mul)(C a, C b) {
    return C_CALL(make)(V_SUB(V_MUL(a.re, b.re), V_MUL(a.im, b.im)),
                        V_ADD(V_MUL(a.re, b.im), V_MUL(a.im, b.re)));
}
C_FN(square)(C a) { return C_CALL(mul)(a, a); }
/* both scaled by the larger part of b, so that |b|^2 neither overflows nor vanishes */
C_FN(div)(C a, C b) {
    V s = V_MAX(V_ABS(b.re), V_ABS(b.im)), x = V_DIV(b.re, s), y = V_DIV(b.im, s),
      n = V_ADD(V_MUL(x, x), V_MUL(y, y));
    V re = V_DIV(a.re, s), im = V_DIV(a.im, s);
    return C_CALL(make)(V_DIV(V_ADD(V_MUL(re, x), V_MUL(im, y)), n),
                        V_DIV(V_SUB(V_MUL(im, x), V_MUL(re, y)), n));
}
/* A truth is one mask for both parts. */
C_FN(sel)(M m, C a, C b) { return C_CALL(make)(V_SEL(m, a.re, b.re), V_SEL(m, a.im, b.im)); }
TNI_INLINE M TNI_FNT(tni_c_eq)(C a, C b) { return M_AND(V_EQ(a.re, b.re), V_EQ(a.im, b.im)); }
TNI_INLINE M TNI_FNT(tni_c_ne)(C a, C b) { return M_OR(V_NE(a.re, b.re), V_NE(a.im, b.im)); }
TNI_INLINE M TNI_FNT(tni_c_isnan)(C a) { return M_OR(V_ISNAN(a.re), V_ISNAN(a.im)); }
TNI_INLINE M TNI_FNT(tni_c_isinf)(C a) { return M_OR(V_ISINF(a.re), V_ISINF(a.im)); }
TNI_INLINE M TNI_FNT(tni_c_isfinite)(C a) { return M_AND(V_ISFINITE(a.re), V_ISFINITE(a.im)); }
TNI_INLINE M TNI_FNT(tni_m_and)(M a, M b) { return M_AND(a, b); }
TNI_INLINE M TNI_FNT(tni_m_or)(M a, M b) { return M_OR(a, b); }
TNI_INLINE M TNI_FNT(tni_m_xor)(M a, M b) { return M_XOR(a, b); }
TNI_INLINE M TNI_FNT(tni_m_not)(M a) { return M_NOT(a); }
TNI_INLINE M TNI_FNT(tni_m_load)(const void *p) { return M_LD(p); }
TNI_INLINE void TNI_FNT(tni_m_store)(void *p, M m) { V_MST(p, m); }

/* sqrt(re^2 + im^2) without overflow */
TNI_INLINE V TNI_FNT(tni_c_abs)(C z) {
    V a = V_ABS(z.re), b = V_ABS(z.im), large = V_MAX(a, b), little = V_MIN(a, b),
      q = V_DIV(little, large);
    V r = V_MUL(large, V_SQRT(V_FMA(q, q, V_ONE)));
    r = V_SEL(V_EQ(large, V_ZERO()), large, r); /* 0 / 0 above */
    r = V_SEL(M_OR(V_ISNAN(a), V_ISNAN(b)), V_ADD(a, b), r);
    return V_SEL(M_OR(V_ISINF(a), V_ISINF(b)), V_SET(INFINITY), r);
}
/* functions: e^x (cos y + i sin y) and what follows; accurate to a few ULP of |result|, not of each
 * part. Infinities and NaN as in C99's Annex G: a part that is 0 or infinite whatever the angle is
 * stays so without an angle. */
TNI_HELPER C TNI_FNT(tni_c_exp)(C z) {
    V e = TNI_FNT(tni_exp)(z.re), im = V_MUL(e, TNI_FNT(tni_sin)(z.im));
    /* any: re is infinite, im no angle; e^-inf is 0 in both parts, e^inf infinite in the real */
    M any = M_AND(V_ISINF(z.re), M_NOT(V_ISFINITE(z.im)));
    im = V_SEL(M_AND(any, V_EQ(e, V_ZERO())), e, im);
    return C_CALL(make)(V_SEL(any, e, V_MUL(e, TNI_FNT(tni_cos)(z.im))),
                        V_SEL(V_EQ(z.im, V_ZERO()), z.im, im));
}
/* The rest for pairs of doubles, one at a time: rows whose kinds have a c */
#if TNI_ISA == 0 && defined(TNI_TYPE_F64)
/* t = sqrt((|z| + |re|) / 2): (t, im / 2t) or (|im| / 2t, +-t). Nothing cancels, as the larger part
 * is the root. */
TNI_HELPER C TNI_FNT(tni_c_sqrt)(C z) {
    V r = TNI_FNT(tni_c_abs)(z), t = V_SQRT(V_MUL(V_SET(0.5), V_ADD(r, V_ABS(z.re))));
    V u = V_DIV(V_MUL(V_SET(0.5), V_ABS(z.im)), t);
    M left = V_LT(z.re, V_ZERO()), inf = V_ISINF(z.im);
    u = V_SEL(V_EQ(t, V_ZERO()), V_ZERO(), u);
    C w = C_CALL(make)(V_SEL(left, u, t), V_COPYSIGN(V_SEL(left, t, u), z.im));
    return C_CALL(sel)(inf, C_CALL(make)(V_ABS(z.im), z.im), w);
}
/* sin x cosh y + i cos x sinh y; on the imaginary axis no 0 meets an infinity */
TNI_HELPER C TNI_FNT(tni_c_sin)(C z) {
    M axis = V_EQ(z.re, V_ZERO()), any = M_NOT(V_ISFINITE(z.re));
    V re = V_MUL(TNI_FNT(tni_sin)(z.re), TNI_FNT(tni_cosh)(z.im)),
      im = V_MUL(TNI_FNT(tni_cos)(z.re), TNI_FNT(tni_sinh)(z.im));
    any = M_AND(any, M_OR(V_EQ(z.im, V_ZERO()), V_ISINF(z.im)));
    return C_CALL(make)(V_SEL(axis, z.re, re), V_SEL(any, z.im, im));
}
/* cos x cosh y - i sin x sinh y */
TNI_HELPER C TNI_FNT(tni_c_cos)(C z) {
    M axis = V_EQ(z.re, V_ZERO()), any = M_NOT(V_ISFINITE(z.re));
    V re = V_MUL(TNI_FNT(tni_cos)(z.re), TNI_FNT(tni_cosh)(z.im)),
      im = V_MUL(TNI_FNT(tni_sin)(z.re), TNI_FNT(tni_sinh)(z.im));
    im = V_SEL(axis, V_MUL(z.re, V_COPYSIGN(V_ONE, z.im)), im);
    im = V_SEL(M_AND(any, V_EQ(z.im, V_ZERO())), z.im, im);
    return C_CALL(make)(V_SEL(M_AND(any, V_ISINF(z.im)), V_ABS(z.im), re), V_NEG(im));
}
C_FN(magnitude)(C z) { return C_CALL(make)(TNI_FNT(tni_c_abs)(z), V_ZERO()); }
C_FN(angle)(C z) { return C_CALL(make)(TNI_FNT(tni_atan2)(z.im, z.re), V_ZERO()); }
C_FN(sign)(C z) {
    V r = TNI_FNT(tni_c_abs)(z);
    M zero = V_EQ(r, V_ZERO());
    return C_CALL(make)(V_SEL(zero, r, V_DIV(z.re, r)), V_SEL(zero, r, V_DIV(z.im, r)));
}
TNI_INLINE M TNI_FNT(tni_c_within)(C z, double r) {
    return V_LT(V_ADD(V_MUL(z.re, z.re), V_MUL(z.im, z.im)), V_SET(r * r));
}
/* log(1 + z): the real part near 0 is log1p(x (2 + x) + y^2) / 2, where |1 + z| has no digits */
TNI_HELPER C TNI_FNT(tni_c_log_above)(C z, V above) {
    V close_to = TNI_FNT(tni_log1p)(V_FMA(z.re, V_ADD(V_SET(2), z.re), V_MUL(z.im, z.im)));
    V away = TNI_FNT(tni_log)(TNI_FNT(tni_c_abs)(C_CALL(make)(above, z.im)));
    M little = TNI_FNT(tni_c_within)(z, 0.5);
    return C_CALL(make)(V_SEL(little, V_MUL(V_SET(0.5), close_to), away),
                        TNI_FNT(tni_atan2)(z.im, above));
}
TNI_HELPER C TNI_FNT(tni_c_log)(C z) {
    return C_CALL(log_above)(C_CALL(make)(V_SUB(z.re, V_ONE), z.im), z.re);
}
/* (sinh 2x + i sin 2y) / (cosh 2x + cos 2y), as tanh x (1 + tan^2 y) and tan y (1 - tanh^2 x) over
 * 1 + tanh^2 x tan^2 y */
TNI_HELPER C TNI_FNT(tni_c_tanh)(C z) {
    V t = TNI_FNT(tni_tanh)(z.re), u = TNI_FNT(tni_tan)(z.im), tt = V_MUL(t, t), uu = V_MUL(u, u);
    V d = V_FMA(tt, uu, V_ONE), im = V_DIV(V_MUL(u, V_SUB(V_ONE, tt)), d);
    M any = M_NOT(V_ISFINITE(z.im)), inf = V_ISINF(z.re);
    M fixed = M_AND(any, M_OR(inf, V_EQ(z.re, V_ZERO()))); /* the real part */
    im = V_SEL(M_AND(any, inf), V_ZERO(), V_SEL(V_EQ(z.im, V_ZERO()), z.im, im));
    return C_CALL(make)(V_SEL(fixed, t, V_DIV(V_MUL(t, V_ADD(V_ONE, uu)), d)), im);
}
/* 1 / (1 + e^-z), e^z / (1 + e^z) on the left, where e^-z overflows */
TNI_HELPER C TNI_FNT(tni_c_sigmoid)(C z) {
    M left = V_LT(z.re, V_ZERO());
    C one = C_CALL(real)(1), e = C_CALL(exp)(C_CALL(sel)(left, z, C_CALL(neg)(z)));
    return C_CALL(div)(C_CALL(sel)(left, e, one), C_CALL(add)(one, e));
}
/* e^(b log a); 0^0 = 1, 0^b = 0; a^1 and a^2 exactly as written */
TNI_HELPER C TNI_FNT(tni_c_pow)(C a, C b) {
    C z = C_CALL(exp)(C_CALL(mul)(b, C_CALL(log)(a))), zero = C_CALL(real)(0),
      one = C_CALL(real)(1);
    z = C_CALL(sel)(C_CALL(eq)(a, zero), zero, z);
    z = C_CALL(sel)(C_CALL(eq)(b, C_CALL(real)(2)), C_CALL(square)(a), z);
    z = C_CALL(sel)(C_CALL(eq)(b, one), a, z);
    return C_CALL(sel)(C_CALL(eq)(b, zero), one, z);
}
/* hyperbolic from circular functions and back: f(iz) turned */
C_FN(turn)(C z) { return C_CALL(make)(V_NEG(z.im), z.re); } /* iz */
C_FN(back)(C z) { return C_CALL(make)(z.im, V_NEG(z.re)); } /* -iz */
C_FN(sinh)(C z) { return C_CALL(back)(C_CALL(sin)(C_CALL(turn)(z))); }
C_FN(cosh)(C z) { return C_CALL(cos)(C_CALL(turn)(z)); }
C_FN(tan)(C z) { return C_CALL(back)(C_CALL(tanh)(C_CALL(turn)(z))); }
/* (e^x - 1) cos y - 2 sin^2(y / 2) + i e^x sin y */
TNI_HELPER C TNI_FNT(tni_c_expm1)(C z) {
    C e = C_CALL(exp)(z);
    V s = TNI_FNT(tni_sin)(V_MUL(V_SET(0.5), z.im)), m = V_MUL(V_SET(-2), V_MUL(s, s));
    V x = TNI_FNT(tni_expm1)(z.re);
    M any = M_AND(V_ISINF(z.re), M_NOT(V_ISFINITE(z.im)));
    e.re = V_SEL(any, x, V_FMA(x, TNI_FNT(tni_cos)(z.im), m));
    return e;
}
C_FN(log1p)(C z) { return C_CALL(log_above)(z, V_ADD(V_ONE, z.re)); }
/* log(e^a + e^b): the one of larger real part, and log(1 + e^difference). As torch where both
 * real parts are one infinity: b at -inf, the formula itself at inf. A NaN makes both parts NaN. */
TNI_HELPER C TNI_FNT(tni_c_logaddexp)(C a, C b) {
    M first = V_GE(a.re, b.re), same = M_AND(V_EQ(a.re, b.re), V_ISINF(a.re));
    C top = C_CALL(sel)(first, a, b), low = C_CALL(sel)(first, b, a);
    C y = C_CALL(add)(top, C_CALL(log1p)(C_CALL(exp)(C_CALL(sub)(low, top))));
    C beyond = C_CALL(log)(C_CALL(add)(C_CALL(exp)(a), C_CALL(exp)(b)));
    y = C_CALL(sel)(same, C_CALL(sel)(V_LT(a.re, V_ZERO()), low, beyond), y);
    V n = V_ADD(V_ADD(a.re, a.im), V_ADD(b.re, b.im));
    M none = M_OR(M_OR(V_ISNAN(a.re), V_ISNAN(a.im)), M_OR(V_ISNAN(b.re), V_ISNAN(b.im)));
    return C_CALL(sel)(none, C_CALL(make)(n, n), y);
}
C_FN(log_base)(C z, double scale) {
    C l = C_CALL(log)(z);
    return C_CALL(make)(V_MUL(V_SET(scale), l.re), V_MUL(V_SET(scale), l.im));
}
/* The inverse functions and their cuts as C99 has them (Annex G), by W. Kahan, "Branch cuts for
 * complex elementary functions, or much ado about nothing's sign bit", 1987. With a = sqrt(1 -
 * z) and b = sqrt(1 + z): asin z = atan(x / Re ab) + i asinh Im(a* b), and acos z = 2 atan(Re a
 * / Re b) + i asinh Im(b* a). No sum here cancels. Infinities by their angle. */
C_FN(root_below)(C z) { return C_CALL(sqrt)(C_CALL(make)(V_SUB(V_ONE, z.re), V_NEG(z.im))); }
C_FN(root_above)(C z) { return C_CALL(sqrt)(C_CALL(make)(V_ADD(V_ONE, z.re), z.im)); }
TNI_HELPER C TNI_FNT(tni_c_asin)(C z) {
    C a = C_CALL(root_below)(z), b = C_CALL(root_above)(z);
    V re = TNI_FNT(tni_atan)(V_DIV(z.re, C_CALL(mul)(a, b).re)),
      im = TNI_FNT(tni_asinh)(C_CALL(mul)(C_CALL(conj)(a), b).im);
    C away = C_CALL(make)(TNI_FNT(tni_atan2)(z.re, V_ABS(z.im)), V_COPYSIGN(V_SET(INFINITY), z.im));
    re = V_SEL(V_EQ(z.re, V_ZERO()), z.re, re);
    return C_CALL(sel)(TNI_FNT(tni_c_isinf)(z), away, C_CALL(make)(re, im));
}
/* -i asin(i z) */
TNI_HELPER C TNI_FNT(tni_c_asinh)(C z) {
    C r = TNI_FNT(tni_c_asin)(C_CALL(make)(V_NEG(z.im), z.re));
    return C_CALL(make)(r.im, V_NEG(r.re));
}
TNI_HELPER C TNI_FNT(tni_c_acos)(C z) {
    C a = C_CALL(root_below)(z), b = C_CALL(root_above)(z);
    V re = TNI_FNT(tni_atan)(V_DIV(a.re, b.re)),
      im = TNI_FNT(tni_asinh)(C_CALL(mul)(C_CALL(conj)(b), a).im);
    C away = C_CALL(make)(TNI_FNT(tni_atan2)(V_ABS(z.im), z.re),
                          V_COPYSIGN(V_SET(INFINITY), V_NEG(z.im)));
    re = V_SEL(V_EQ(z.re, V_ZERO()), V_SET(1.57079632679489662), V_ADD(re, re));
    return C_CALL(sel)(TNI_FNT(tni_c_isinf)(z), away, C_CALL(make)(re, im));
}
/* atan z = atan2(2 x, (1 - y)(1 + y) - x^2) / 2 + i log1p(4 y / (x^2 + (1 - y)^2)) / 4; far out
 * the imaginary part is y / |z|^2 */
TNI_HELPER C TNI_FNT(tni_c_atan)(C z) {
    V half = V_SET(0.5), y = V_ABS(z.im), below = V_SUB(V_ONE, y), above = V_ADD(V_ONE, y),
      sq = V_MUL(z.re, z.re);
    V re = TNI_FNT(tni_atan2)(V_ADD(z.re, z.re), V_SUB(V_MUL(below, above), sq));
    V q = V_DIV(V_MUL(V_SET(4), y), V_FMA(below, below, sq));
    V im = V_MUL(V_SET(0.25), TNI_FNT(tni_log1p)(q));
    V r = TNI_FNT(tni_c_abs)(z), over = V_DIV(V_DIV(y, r), r);
    M inf = V_ISINF(r);
    im = V_SEL(V_GT(r, V_SET(1e9)), V_SEL(inf, V_ZERO(), over), im);
    im = V_SEL(V_EQ(y, V_ZERO()), y, im);
    re = V_SEL(inf, V_COPYSIGN(V_SET(1.57079632679489662), z.re), V_MUL(half, re));
    return C_CALL(make)(V_SEL(V_ISNAN(z.re), z.re, re), V_COPYSIGN(im, z.im));
}
#endif
#undef C
#undef C_FN
#undef C_CALL
