/* math_normal.h - uniform numbers become normal and exponential ones, for f32 and f64.
 *
 * Normal numbers: G. Box, M. Muller, "A note on the generation of random normal deviates", 1958. In
 * f32 with functions of the Cephes library (S. Moshier) in the association that torch's AVX2 build
 * has; those of math_float.h round otherwise. */
#if defined(TNI_TYPE_F32)
/* log x of a normal positive number, by the polynomial of S. Moshier's Cephes (logf) */
TNI_INLINE V TNI_FNT(tni_normal_log)(V x) {
    /* x = f * 2^e, 0.5 <= f < 1 */
    V e = V_ADD(V_EXPO(x), V_ONE), f = V_MUL(V_MANT(x), V_SET(0.5)), y, z;
    M low = V_LT(f, V_SET(0.707106781186547524f));
    e = V_SEL(low, V_SUB(e, V_ONE), e);
    f = V_SEL(low, V_ADD(V_SUB(f, V_ONE), f), V_SUB(f, V_ONE));
    z = V_MUL(f, f);
    y = V_SET(7.0376836292E-2f);
    y = V_FMA(y, f, V_SET(-1.1514610310E-1f));
    y = V_FMA(y, f, V_SET(1.1676998740E-1f));
    y = V_FMA(y, f, V_SET(-1.2420140846E-1f));
    y = V_FMA(y, f, V_SET(1.4249322787E-1f));
    y = V_FMA(y, f, V_SET(-1.6668057665E-1f));
    y = V_FMA(y, f, V_SET(2.0000714765E-1f));
    y = V_FMA(y, f, V_SET(-2.4999993993E-1f));
    y = V_FMA(y, f, V_SET(3.3333331174E-1f));
    y = V_FMA(V_MUL(y, f), z, V_MUL(e, V_SET(-2.12194440e-4f)));
    y = V_FNMA(z, V_SET(0.5), y);
    return V_FMA(e, V_SET(0.693359375f), V_ADD(f, y));
}

/* Sine and cosine of 0 <= x <= 2 pi: k is the even octant that x is nearest to. pi / 4 in three
 * parts and the polynomials are those of Cephes (sinf, cosf). */
TNI_INLINE void TNI_FNT(tni_normal_sincos)(V x, V *sine, V *cosine) {
    V k =
        V_MUL(V_FLOOR(V_MUL(V_ADD(V_TRUNC(V_MUL(x, V_SET(1.27323954473516f))), V_ONE), V_SET(0.5))),
              V_SET(2));
    M two = V_EQ(k, V_SET(2)), four = V_EQ(k, V_SET(4)), six = V_EQ(k, V_SET(6)),
      odd = M_OR(two, six);
    V z, c, s;
    x = V_FMA(k, V_SET(-0.78515625f), x);
    x = V_FMA(k, V_SET(-2.4187564849853515625e-4f), x);
    x = V_FMA(k, V_SET(-3.77489497744594108e-8f), x);
    z = V_MUL(x, x);
    c = V_FMA(V_SET(2.443315711809948E-005f), z, V_SET(-1.388731625493765E-003f));
    c = V_FMA(c, z, V_SET(4.166664568298827E-002f));
    c = V_ADD(V_FMA(V_MUL(c, z), z, V_NEG(V_MUL(z, V_SET(0.5)))), V_ONE);
    s = V_FMA(V_SET(-1.9515295891E-4f), z, V_SET(8.3321608736E-3f));
    s = V_FMA(s, z, V_SET(-1.6666654611E-1f));
    s = V_FMA(V_MUL(s, z), x, x);
    *sine = V_SEL(odd, c, s);
    *cosine = V_SEL(odd, s, c);
    *sine = V_SEL(M_OR(four, six), V_NEG(*sine), *sine);
    *cosine = V_SEL(M_OR(two, four), V_NEG(*cosine), *cosine);
}

/* Two uniform numbers of [0, 1) become two normal ones. */
TNI_INLINE void TNI_FNT(tni_normal_pair)(V u, V t, V std, V mean, V *a, V *b) {
    V radius = V_SQRT(V_MUL(V_SET(-2), TNI_FNT(tni_normal_log)(V_SUB(V_ONE, u)))), sine, cosine;
    TNI_FNT(tni_normal_sincos)(V_MUL(V_SET(6.283185307179586), t), &sine, &cosine);
    *a = V_FMA(V_MUL(radius, cosine), std, mean);
    *b = V_FMA(V_MUL(radius, sine), std, mean);
}
#else
/* The same with mean 0 and standard deviation 1. swap: the radius comes from t, as in torch's draws
 * of single numbers. */
TNI_INLINE void TNI_FNT(tni_normal_pair)(V u, V t, bool swap, V *a, V *b) {
    V r = swap ? V_LOG1P(V_NEG(t)) : V_LOG(V_SUB(V_ONE, u)),
      angle = V_MUL(V_SET(6.283185307179586), swap ? u : t);
    r = V_SQRT(V_MUL(V_SET(-2), r));
    *a = V_MUL(r, V_COS(angle));
    *b = V_MUL(r, V_SIN(angle));
}

/* -log(1 - u): of rate 1. */
TNI_INLINE V TNI_FNT(tni_exponential)(V u) { return V_NEG(V_LOG1P(V_NEG(u))); }
#endif
