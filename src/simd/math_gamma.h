/* math_gamma.h - the logarithm of the gamma function and its derivative, for one floating type.
 * Part of math_float.h, whose macros it uses.
 *
 * Formulas: Abramowitz, Stegun, "Handbook of mathematical functions", 1964: 6.1.15 and 6.3.5
 * (recurrence), 6.1.17 and 6.3.7 (reflection), 6.1.40 and 6.3.18 (Stirling's series). The
 * polynomials interpolate at Chebyshev's points, computed with 60 digits. */

#define PI K(3.141592741e+00, 3.14159265358979312e+00)

/* Q of log(gamma(a)) = (a - 1) (a - 2) Q: by t = a - 1 in [-0.3, 0.7] where `low`, else by
 * t = a - 2 in the same range. The factors have the zeros, so Q keeps all its digits. */
#define P(a, b) p = V_FMA(p, t, V_SEL(low, V_SET(a), V_SET(b)))
TNI_INLINE V TNI_FNT(tni_lgamma_poly)(V t, M low) {
#if defined(TNI_TYPE_F32)
    V p = V_SEL(low, V_SET(-8.506976276e-03), V_ZERO());
    P(2.973177123e-02, 0);
    P(-4.872852666e-02, 0);
    P(5.603092611e-02, 9.229908710e-05);
    P(-5.959743166e-02, -3.727420098e-04);
    P(6.652609180e-02, 9.234284926e-04);
    P(-7.723170744e-02, -2.115186075e-03);
    P(9.224153405e-02, 4.998957632e-03);
    P(-1.151493381e-01, -1.238381440e-02);
    P(1.554343039e-01, 3.296497284e-02);
    P(-2.452513445e-01, -1.003173070e-01);
    P(5.772156647e-01, 4.227843353e-01);
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
    P(1.55434265863949761e-01, 3.29650006211557670e-02);
    P(-2.45251368522580393e-01, -1.00317301674353918e-01);
    P(5.77215664901532866e-01, 4.22784335098467134e-01);
#endif
    return p;
}
#undef P
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
/* |sin(pi x)|, x less the nearest integer being exact */
TNI_INLINE V TNI_FNT(tni_sin_pi_abs)(V x) {
    return V_ABS(TNI_FNT(tni_sin)(V_MUL(V_SUB(x, V_ROUND(x)), PI)));
}
/* log|gamma(x)|. Below 0.7 by log(gamma(x + 1)) - log(x), from 2.7 to 8 by the steps down to
 * [1.7, 2.7) and the logarithm of their product, from 8 on by Stirling's series. Negative x by
 * reflection: relative to the larger of 1 and the result, as the function has zeros there. */
TNI_HELPER V TNI_FNT(tni_lgamma)(V x) {
    V a = V_ABS(x), b = a, product = V_ONE, zero = V_ZERO();
    M little = V_LT(a, V_SET(0.7)), large = V_GE(a, V_SET(8)), low = V_LT(a, V_SET(1.7));
    /* a less an integer below 8 is exact */
    for (int i = 0; i < 6; i++) {
        M down = V_GE(b, V_SET(2.7));
        b = V_SEL(down, V_SUB(b, V_ONE), b);
        product = V_SEL(down, V_MUL(product, b), product);
    }
    /* the argument less 1 and less 2; it is b, or a + 1 where a is little */
    V first = V_SEL(little, a, V_SUB(b, V_ONE)),
      second = V_SUB(V_SEL(little, a, b), V_SEL(little, V_ONE, V_SET(2)));
    V t = V_SEL(low, first, second);
    V base = V_MUL(V_MUL(first, second), TNI_FNT(tni_lgamma_poly)(t, low));
    /* h + l = log of what the range asks for */
    V l, h = TNI_FNT(tni_log_long)(V_SEL(M_OR(little, large), a, product), &l), i = V_DIV(V_ONE, a),
         rest = V_FMA(TNI_FNT(tni_lgamma_tail)(V_MUL(i, i)), i,
                      K(4.189385474e-01, 4.18938533204672742e-01));
    V half = V_SUB(a, V_SET(0.5)), beyond = V_FMA(half, V_SUB(h, V_ONE), V_FMA(half, l, rest));
    V y = V_SEL(little, V_ADD(V_NEG(h), V_SUB(base, l)), V_ADD(h, V_ADD(base, l)));
    y = V_SEL(V_LT(a, V_SET(2.7)), V_SEL(little, y, base), y);
    y = V_SEL(large, beyond, y);
    /* log(pi / (a |sin(pi a)|)) - log(gamma(a)); little ones: a cancels, log(gamma(a + 1)) */
    M under = M_AND(V_LT(x, zero), V_GT(a, V_SET(1e-20)));
    if (M_ANY(under)) {
        V s = TNI_FNT(tni_sin_pi_abs)(a);
        s = TNI_FNT(tni_log)(V_DIV(PI, V_SEL(little, s, V_MUL(s, a))));
        y = V_SEL(under, V_SUB(s, V_SEL(little, base, y)), y);
    }
    /* poles, infinities; Stirling's factors overflow to NaN only there */
    M pole = M_AND(V_LE(x, zero), V_EQ(V_TRUNC(x), x));
    y = V_SEL(M_OR(pole, V_EQ(a, K_INF)), K_INF, y);
    return V_SEL(V_ISNAN(x), x, V_ADD(y, zero)); /* 0 at 1, not -0 */
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
