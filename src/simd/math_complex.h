/* math_complex.h - complex numbers as pairs of vectors, for one floating type: what complex.h makes
 * words of. */

typedef struct TNI_FNT(tni_complex) {
    V re, im;
} TNI_FNT(tni_complex);
typedef M TNI_FNT(tni_mask);
#define C TNI_FNT(tni_complex)
#define C_FN(name) TNI_INLINE C TNI_FNT(tni_c_##name)
#define C_CALL(name) TNI_FNT(tni_c_##name)

C_FN(make)(V re, V im) {
    C z;
    z.re = re, z.im = im;
    return z;
}
C_FN(load)(const void *p) {
    C z;
    V_LD2(p, &z.re, &z.im);
    return z;
}
TNI_INLINE void TNI_FNT(tni_c_store)(void *p, C z) { V_ST2(p, z.re, z.im); }
C_FN(set)(const T *p) { return C_CALL(make)(V_SET(p[0]), V_SET(p[1])); }
C_FN(real)(double s) { return C_CALL(make)(V_SET(s), V_ZERO()); }
C_FN(add)(C a, C b) { return C_CALL(make)(V_ADD(a.re, b.re), V_ADD(a.im, b.im)); }
C_FN(sub)(C a, C b) { return C_CALL(make)(V_SUB(a.re, b.re), V_SUB(a.im, b.im)); }
C_FN(neg)(C a) { return C_CALL(make)(V_NEG(a.re), V_NEG(a.im)); }
C_FN(conj)(C a) { return C_CALL(make)(a.re, V_NEG(a.im)); }
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

/* atan2(y, x) from atan of the smaller part over the larger one */
TNI_INLINE V TNI_FNT(tni_c_angle)(V y, V x) {
    V a = V_ABS(x), b = V_ABS(y), pi = V_SET(3.14159265358979324),
      half = V_SET(1.57079632679489662);
    M steep = V_GT(b, a);
    V q = V_DIV(V_SEL(steep, a, b), V_SEL(steep, b, a));
    q = V_SEL(V_EQ(a, b), V_SEL(V_EQ(a, V_ZERO()), V_ZERO(), V_ONE), q);
    V t = TNI_FNT(tni_atan)(q);
    t = V_SEL(steep, V_SUB(half, t), t);
    t = V_SEL(V_LT(V_COPYSIGN(V_ONE, x), V_ZERO()), V_SUB(pi, t), t);
    return V_SEL(M_OR(V_ISNAN(x), V_ISNAN(y)), V_ADD(x, y), V_COPYSIGN(t, y));
}
/* sqrt(re^2 + im^2) without overflow */
TNI_INLINE V TNI_FNT(tni_c_abs)(C z) {
    V a = V_ABS(z.re), b = V_ABS(z.im), large = V_MAX(a, b), small = V_MIN(a, b),
      q = V_DIV(small, large);
    V r = V_MUL(large, V_SQRT(V_FMA(q, q, V_ONE)));
    r = V_SEL(V_EQ(large, V_ZERO()), large, r);
    r = V_SEL(M_OR(V_ISNAN(a), V_ISNAN(b)), V_ADD(a, b), r);
    return V_SEL(M_OR(V_ISINF(a), V_ISINF(b)), V_SET(INFINITY), r);
}
/* functions: e^x (cos y + i sin y) and what follows; accurate to a few ULP of |result|, not of each
 * part */
TNI_HELPER C TNI_FNT(tni_c_exp)(C z) {
    V e = TNI_FNT(tni_exp)(z.re), im = V_MUL(e, TNI_FNT(tni_sin)(z.im));
    return C_CALL(make)(V_MUL(e, TNI_FNT(tni_cos)(z.im)), V_SEL(V_EQ(z.im, V_ZERO()), z.im, im));
}
TNI_HELPER C TNI_FNT(tni_c_log)(C z) {
    return C_CALL(make)(TNI_FNT(tni_log)(TNI_FNT(tni_c_abs)(z)), TNI_FNT(tni_c_angle)(z.im, z.re));
}
TNI_HELPER C
TNI_FNT(tni_c_sqrt)(C z) { /* t = sqrt((|z| + |re|) / 2): (t, im / 2t) or (|im| / 2t, +-t) */
    V r = TNI_FNT(tni_c_abs)(z), t = V_SQRT(V_MUL(V_SET(0.5), V_ADD(r, V_ABS(z.re))));
    V u = V_DIV(V_MUL(V_SET(0.5), V_ABS(z.im)), t);
    M left = V_LT(z.re, V_ZERO());
    u = V_SEL(V_EQ(t, V_ZERO()), V_ZERO(), u);
    return C_CALL(make)(V_SEL(left, u, t), V_COPYSIGN(V_SEL(left, t, u), z.im));
}
TNI_HELPER C TNI_FNT(tni_c_sin)(C z) {
    return C_CALL(make)(V_MUL(TNI_FNT(tni_sin)(z.re), TNI_FNT(tni_cosh)(z.im)),
                        V_MUL(TNI_FNT(tni_cos)(z.re), TNI_FNT(tni_sinh)(z.im)));
}
TNI_HELPER C TNI_FNT(tni_c_cos)(C z) {
    return C_CALL(make)(V_MUL(TNI_FNT(tni_cos)(z.re), TNI_FNT(tni_cosh)(z.im)),
                        V_NEG(V_MUL(TNI_FNT(tni_sin)(z.re), TNI_FNT(tni_sinh)(z.im))));
}
/* (sinh 2x + i sin 2y) / (cosh 2x + cos 2y), as tanh x (1 + tan^2 y) and tan y (1 - tanh^2 x) over
 * 1 + tanh^2 x tan^2 y */
TNI_HELPER C TNI_FNT(tni_c_tanh)(C z) {
    V t = TNI_FNT(tni_tanh)(z.re), u = TNI_FNT(tni_tan)(z.im), tt = V_MUL(t, t), uu = V_MUL(u, u);
    V d = V_FMA(tt, uu, V_ONE);
    return C_CALL(make)(V_DIV(V_MUL(t, V_ADD(V_ONE, uu)), d), V_DIV(V_MUL(u, V_SUB(V_ONE, tt)), d));
}
TNI_HELPER C TNI_FNT(tni_c_sigmoid)(C z) { /* (1 + tanh(z / 2)) / 2 */
    V half = V_SET(0.5);
    z = C_CALL(tanh)(C_CALL(make)(V_MUL(half, z.re), V_MUL(half, z.im)));
    return C_CALL(make)(V_FMA(half, z.re, half), V_MUL(half, z.im));
}
TNI_HELPER C TNI_FNT(tni_c_pow)(C a, C b) { /* e^(b log a); 0^0 = 1, 0^b = 0 */
    C z = C_CALL(exp)(C_CALL(mul)(b, C_CALL(log)(a))), zero = C_CALL(real)(0),
      one = C_CALL(real)(1);
    z = C_CALL(sel)(C_CALL(eq)(a, zero), zero, z);
    z = C_CALL(sel)(C_CALL(eq)(b, C_CALL(real)(2)), C_CALL(square)(a), z);
    z = C_CALL(sel)(C_CALL(eq)(b, one), a, z);
    return C_CALL(sel)(C_CALL(eq)(b, zero), one, z);
}
#undef C
#undef C_FN
#undef C_CALL
