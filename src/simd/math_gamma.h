/* math_gamma.h - the logarithm of the gamma function and its derivative, for one floating type.
 * Part of math_float.h, whose macros it uses.
 *
 * Formulas: Abramowitz, Stegun, "Handbook of mathematical functions", 1964: 6.1.15 and 6.3.5
 * (recurrence), 6.1.17 and 6.3.7 (reflection), 6.1.40 and 6.3.18 (Stirling's series). The
 * polynomials interpolate at Chebyshev's points, computed with 60 digits. */

#define PI K(3.141592741e+00, 3.14159265358979312e+00)

/* Q + *low of log(gamma(a)) = (a - 1) (a - 2) Q: by t = a - 1 in [-0.3, 0.7] where `low`, else by
 * t = a - 2 in the same range. The factors have the zeros, so Q keeps all its digits. The last
 * steps are of two numbers. */
#define P(a, b) p = V_FMA(p, t, V_SEL(low, V_SET(a), V_SET(b)))
#define PL(a, al, b, bl)                                             \
    p = TNI_FNT(tni_step_long)(p, t, V_SEL(low, V_SET(a), V_SET(b)), \
                               V_SEL(low, V_SET(al), V_SET(bl)), rest)
TNI_INLINE V TNI_FNT(tni_lgamma_poly)(V t, M low, V *rest) {
    *rest = V_ZERO();
#if defined(TNI_TYPE_F32)
    V p = V_SEL(low, V_SET(6.879948080e-03), V_ZERO());
    P(-2.536851354e-02, 0);
    P(4.352198541e-02, 0);
    P(-5.108280107e-02, -3.871028821e-05);
    P(5.369467661e-02, 1.630016195e-04);
    P(-5.860822648e-02, -4.083759850e-04);
    P(6.660661846e-02, 9.196312749e-04);
    P(-7.731475681e-02, -2.108638408e-03);
    P(9.224385023e-02, 4.998387769e-03);
    P(-1.151468456e-01, -1.238415111e-02);
    P(1.554342061e-01, 3.296500444e-02);
    PL(-2.452513725e-01, 6.995941961e-09, -1.003172994e-01, -2.908488894e-09);
    PL(5.772156715e-01, -6.485233007e-09, 4.227843285e-01, 6.618798492e-09);
#else
    V p = V_SEL(low, V_SET(7.16128887432693748e-04), V_ZERO());
    P(-4.32868225045595582e-03, 0);
    P(1.19977040921419517e-02, 0);
    P(-2.05730485994505864e-02, 0);
    P(2.54685213282892231e-02, 0);
    P(-2.62457562143149081e-02, 0);
    P(2.59934613315612496e-02, 2.03543194235487442e-08);
    P(-2.67732359110658159e-02, -1.20246322938877928e-07);
    P(2.84097989635010428e-02, 3.68760773570019424e-07);
    P(-3.02711409430873324e-02, -8.55071032952096192e-07);
    P(3.22402656712209648e-02, 1.81932860534393095e-06);
    P(-3.44465081988993144e-02, -3.85140834194856484e-06);
    P(3.69888500654800695e-02, 8.22153710688832972e-06);
    P(-3.99426703173661329e-02, -1.76609739734722678e-05);
    P(4.34108935095814524e-02, 3.81688270327341236e-05);
    P(-4.75431457032850502e-02, -8.30951745842269205e-05);
    P(5.25563250544585567e-02, 1.82552648277783366e-04);
    P(-5.87779409775654529e-02, -4.05707395944930865e-04);
    P(6.67317282157256914e-02, 9.15376921826351010e-04);
    P(-7.73181685365842558e-02, -2.10813083397834878e-03);
    P(9.22390084651253106e-02, 4.99864116470570118e-03);
    P(-1.15146542563809490e-01, -1.23841921933711616e-02);
    PL(1.55434265863949761e-01, -6.72409870112291146e-18, 3.29650006211557670e-02,
       -1.33897711041698572e-18);
    PL(-2.45251368522580393e-01, -8.79283841216735823e-18, -1.00317301674353918e-01,
       -3.75360697800352448e-18);
    PL(5.77215664901532866e-01, -4.01580963156441046e-18, 4.22784335098467134e-01,
       5.01332526375208941e-18);
#endif
    return p;
}
#undef P
#undef PL
/* x (log(gamma(x)) - (x - 1/2) (log(x) - 1) - c) by z = 1 / x^2, from x = 8 on */
TNI_INLINE V TNI_FNT(tni_lgamma_tail)(V z) {
#if defined(TNI_TYPE_F32)
    V p = V_SET(7.800338592e-04);
    H(-2.777698528e-03);
    H(8.333333326e-02);
#else
    V p = V_SET(-2.08553692146075387e-02);
    H(6.20811025803577696e-03);
    H(-1.91496528961363302e-03);
    H(8.41732519353673983e-04);
    H(-5.95238023381374523e-04);
    H(7.93650793511570924e-04);
    H(-2.77777777777767467e-03);
    H(8.33333333333333287e-02);
#endif
    return p;
}
/* sin(pi r) / (pi r) + *low by z + zl = r^2, |r| <= 1/2 */
TNI_INLINE V TNI_FNT(tni_sinc_long)(V r, V *low) {
    V z = V_MUL(r, r), zl = V_FMA(r, r, V_NEG(z)), l = V_ZERO();
    V p;
#if defined(TNI_TYPE_F32)
    p = V_SET(1.432849094e-04);
    H(-2.344642300e-03);
    H(2.614766173e-02);
    H(-1.907518059e-01);
#else
    p = V_SET(1.67517785666606491e-10);
    H(-7.30252311370706216e-09);
    H(2.53121097910884291e-07);
    H(-6.97587354758910830e-06);
    H(1.48428793018532524e-04);
    H(-2.34608103545498430e-03);
    H(2.61478478176547686e-02);
    H(-1.90751824122084218e-01);
#endif
    p = TNI_FNT(tni_step_long)(p, z, K(8.117424250e-01, 8.11742425283353608e-01),
                               K(8.535200849e-11, 3.56090672218622842e-17), &l);
    p = TNI_FNT(tni_step_long)(p, z, K(-1.644934058e+00, -1.64493406684822641e+00),
                               K(-8.658025085e-09, -3.04067175377333650e-17), &l);
    const V y = TNI_FNT(tni_step_long)(p, z, V_ONE, V_ZERO(), &l);
    *low = V_FMA(zl, p, l);
    return y;
}
/* log|gamma(x)| of a negative x as y + *low, by log(gamma(a)) = y + *low, a = -x: less the
 * logarithm of a r sin(pi r) / (pi r), r = a less the nearest integer. Of little ones y + *low is
 * that of a + 1, whose logarithm is larger by that of a. */
TNI_INLINE V TNI_FNT(tni_lgamma_below)(V a, M little, V y, V *low) {
    V r = V_ABS(V_SUB(a, V_ROUND(a))), sl, s = TNI_FNT(tni_sinc_long)(r, &sl);
    V by = V_SEL(little, V_ONE, a), b = V_MUL(r, by), p = V_MUL(b, s);
    V pl = V_FMA(b, s, V_NEG(p));
    pl = V_FMA(V_FMA(r, by, V_NEG(b)), s, V_FMA(b, sl, pl));
    V l, h = TNI_FNT(tni_log_long)(p, &l), t = V_ADD(h, y);
    l = V_ADD(V_DIV(pl, p), l);
    *low = V_NEG(V_ADD(V_ADD(TNI_FNT(tni_sum_error)(h, y, t), *low), l));
    return V_NEG(t);
}
/* a less steps of 1 down to below 2.7, which is exact below 8, and their product + *rest */
TNI_INLINE V TNI_FNT(tni_lgamma_steps)(V a, V *product, V *rest) {
    *product = V_ONE;
    *rest = V_ZERO();
    for (int i = 0; i < 6; i++) {
        const M down = V_GE(a, V_SET(2.7));
        if (!M_ANY(down)) break;
        a = V_SEL(down, V_SUB(a, V_ONE), a);
        const V next = V_MUL(*product, a), off = V_FMA(*product, a, V_NEG(next));
        *rest = V_SEL(down, V_FMA(*rest, a, off), *rest);
        *product = V_SEL(down, next, *product);
    }
    return a;
}
/* (a - 1) (a - 2) Q + *low at b, which is a, or a + 1 where a is `little` */
TNI_INLINE V TNI_FNT(tni_lgamma_base)(V a, V b, M little, V *low) {
    const M lower = V_LT(a, V_SET(1.7));
    const V first = V_SEL(little, a, V_SUB(b, V_ONE)), less = V_SEL(little, V_ONE, V_SET(2)),
            second = V_SUB(b, less), off = V_SUB(b, V_ADD(second, less));
    V ql, q = TNI_FNT(tni_lgamma_poly)(V_SEL(lower, first, second), lower, &ql);
    const V m = V_MUL(first, second), base = V_MUL(m, q),
            ml = V_FMA(first, off, V_FMA(first, second, V_NEG(m)));
    *low = V_FMA(m, ql, V_FMA(ml, q, V_FMA(m, q, V_NEG(base))));
    return base;
}
/* Stirling's (a - 1/2) (log(a) - 1) and rest but for its constant, by log(a) = h + *low and i,
 * which is 1 / a */
TNI_INLINE V TNI_FNT(tni_lgamma_stirling)(V a, V i, V h, V *low) {
    const V half = V_SUB(a, V_SET(0.5)), g = V_SUB(h, V_ONE), p = V_MUL(half, g);
    V l = V_FMA(half, *low, V_FMA(half, g, V_NEG(p)));
    l = V_FMA(V_SUB(V_SUB(a, half), V_SET(0.5)), g, l);
    *low = V_ADD(l, V_FMA(TNI_FNT(tni_lgamma_tail)(V_MUL(i, i)), i,
                          K(-1.416814525e-08, 1.67282096505854125e-17)));
    return p;
}
/* log|gamma(x)|. Below 0.7 by log(gamma(x + 1)) - log(x), from 2.7 to 8 by the steps down to
 * [1.7, 2.7) and the logarithm of their product, from 8 on by Stirling's series. Negative x by
 * reflection. Each is a sum h + base and a rest l, and is rounded once: within 0.52 units of the
 * larger of 1 and the result, above 0 of the result. */
TNI_HELPER V TNI_FNT(tni_lgamma)(V x) {
    const V a = V_ABS(x), zero = V_ZERO();
    const M little = V_LT(a, V_SET(0.7)), large = V_GE(a, V_SET(8));
    V product, rest, b = TNI_FNT(tni_lgamma_steps)(a, &product, &rest);
    V bl, base = TNI_FNT(tni_lgamma_base)(a, b, little, &bl);
    const V of = V_SEL(M_OR(little, large), a, product), i = V_DIV(V_ONE, V_SEL(little, V_ONE, of));
    V l, h = TNI_FNT(tni_log_long)(of, &l);
    l = V_FMA(V_SEL(large, zero, rest), i, l);
    if (M_ANY(large)) {
        V rl = l, t = TNI_FNT(tni_lgamma_stirling)(a, i, h, &rl);
        h = V_SEL(large, t, h);
        l = V_SEL(large, rl, l);
        base = V_SEL(large, K(4.189385474e-01, 4.18938533204672725e-01), base);
        bl = V_SEL(large, zero, bl);
    }
    const M under = M_AND(V_LT(x, zero), V_GT(a, V_SET(1e-20))), drop = M_AND(under, little);
    h = V_SEL(drop, zero, V_SEL(little, V_NEG(h), h));
    l = V_ADD(V_SEL(drop, zero, V_SEL(little, V_NEG(l), l)), bl);
    V s = V_ADD(h, base);
    l = V_ADD(TNI_FNT(tni_sum_error)(h, base, s), l);
    if (M_ANY(under)) {
        V rl = l, t = TNI_FNT(tni_lgamma_below)(a, little, s, &rl);
        s = V_SEL(under, t, s);
        l = V_SEL(under, rl, l);
    }
    /* overflow, poles, infinities */
    const V y = V_SEL(V_EQ(s, K_INF), s, V_ADD(s, l));
    const M pole = M_AND(V_LE(x, zero), V_EQ(V_TRUNC(x), x));
    const V z = V_SEL(M_OR(pole, V_EQ(a, K_INF)), K_INF, y);
    return V_SEL(V_ISNAN(x), x, V_ADD(z, zero)); /* 0 at 1, not -0 */
}

/* The derivative of lgamma: steps up to 10 (in f32 to 5), their reciprocals summed with the errors
 * of each quotient and sum, then Stirling's series; negative x by reflection. */
TNI_HELPER V TNI_FNT(tni_digamma)(V x) {
    M under = V_LT(x, V_ZERO());
    V from = K(5, 10), a = V_SEL(under, V_SUB(V_ONE, x), x), s = V_ZERO(), e = V_ZERO();
    for (int k = 0; k < 10; k++) {
        M step = V_LT(a, from);
        V q = V_DIV(V_ONE, a), sum = V_ADD(s, q), b = V_SUB(sum, s);
        V off = V_ADD(V_SUB(s, V_SUB(sum, b)), V_SUB(q, b)); /* sum + off = s + q (Knuth) */
        off = V_FMA(q, V_FNMA(q, a, V_ONE), off);
        s = V_SEL(step, sum, s);
        e = V_SEL(step, V_ADD(e, off), e);
        a = V_SEL(step, V_ADD(a, V_ONE), a);
    }
    V l, h = TNI_FNT(tni_log_long)(a, &l), i = V_DIV(V_ONE, a), z = V_MUL(i, i);
    /* the sum of B_2k / (2 k a^2k), up to k = 7 */
    V p = V_SET(8.33333333333333333e-02);
    H(-2.10927960927960928e-02);
    H(7.57575757575757576e-03);
    H(-4.16666666666666667e-03);
    H(3.96825396825396825e-03);
    H(-8.33333333333333333e-03);
    H(8.33333333333333333e-02);
    V y = V_SUB(V_SUB(h, s), V_SUB(V_FMA(p, z, V_FMA(V_SET(0.5), i, e)), l));
    y = V_SEL(V_EQ(a, K_INF), a, y);
    if (M_ANY(under)) {
        V t = TNI_FNT(tni_tan)(V_MUL(V_SUB(x, V_ROUND(x)), PI));
        y = V_SEL(under, V_SUB(y, V_DIV(PI, t)), y);
        y = V_SEL(M_AND(under, V_EQ(V_TRUNC(x), x)), K_NAN, y); /* poles */
    }
    y = V_SEL(V_LT(V_ABS(x), V_SET(1e-20)), V_NEG(V_DIV(V_ONE, x)), y);
    return V_SEL(V_ISNAN(x), x, y);
}

#undef PI
