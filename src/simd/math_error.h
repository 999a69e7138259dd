/* math_error.h - the inverse of erf, and 1 - erf with all digits where it is small. Part of
 * math_float.h. The polynomials interpolate at Chebyshev's points, with 50 digits. */

/* erfinv(x) / x by w = -log(1 - x^2), and beyond 5 or 6.25 by its root s: M. Giles, "Approximating
 * the erfinv function", 2010. Up to w = 16.8 in f32, 38 in f64. */
TNI_HELPER V TNI_FNT(tni_erfinv_by)(V w) {
    V z = V_SUB(w, K(2.5, 3.125)), p;
#if defined(TNI_TYPE_F32)
    p = V_SET(4.671932509e-10);
    H(-8.739010703e-09);
    H(1.598430613e-08);
    H(4.654174105e-07);
    H(-3.423414274e-06);
    H(-4.959691794e-06);
    H(2.182577240e-04);
    H(-1.252748503e-03);
    H(-4.177320041e-03);
    H(2.466402894e-01);
    H(1.501409351e+00);
#else
    p = V_SET(-3.59320289270206934e-22);
    H(3.19401554813627101e-21);
    H(1.99925998886153485e-20);
    H(-3.47347938885380362e-19);
    H(6.07505070207241414e-19);
    H(1.55107870099025256e-17);
    H(-1.22156371924041717e-16);
    H(-3.94018812230432025e-17);
    H(6.52133351150223883e-15);
    H(-4.00200310875584962e-14);
    H(-8.07192593899004061e-14);
    H(2.63052683125951832e-12);
    H(-1.29788053699325650e-11);
    H(-5.41430328391950415e-11);
    H(1.05122337705042901e-09);
    H(-4.11266043716321846e-09);
    H(-2.90703912756413199e-08);
    H(4.23478816822245981e-07);
    H(-1.36546917587856564e-06);
    H(-1.38825233939574828e-05);
    H(1.86734208019811857e-04);
    H(-7.40702534154643135e-04);
    H(-6.03367087142685134e-03);
    H(2.40158182425588340e-01);
    H(1.65365456268310274e+00);
#endif
    return p;
}
TNI_HELPER V TNI_FNT(tni_erfinv_by_root)(V s) {
    V z = V_SUB(s, K(3.15, 3.25)), p;
#if defined(TNI_TYPE_F32)
    p = V_SET(-3.223768640e-05);
    H(1.148630248e-04);
    H(-8.399446238e-05);
    H(-3.323869718e-04);
    H(1.211040119e-03);
    H(-2.340503553e-03);
    H(3.489574465e-03);
    H(-4.935998725e-03);
    H(6.664218854e-03);
    H(1.004061336e+00);
    H(2.983417441e+00);
#else
    p = V_SET(-1.51026954233350647e-08);
    H(6.96924197762969446e-10);
    H(1.31043514999720141e-07);
    H(-2.71345110543945607e-07);
    H(-2.70042192808689472e-08);
    H(1.49871307841861273e-06);
    H(-3.98608439521475597e-06);
    H(2.92572919017898230e-06);
    H(1.24651671570872510e-05);
    H(-4.73189841201124517e-05);
    H(6.82870865475337664e-05);
    H(2.40312570150925250e-05);
    H(-3.55037809759638136e-04);
    H(9.53289363743563766e-04);
    H(-1.68827553573370711e-03);
    H(2.49144209698176069e-03);
    H(-3.75120850821556101e-03);
    H(5.37091455357167988e-03);
    H(1.00525896769416523e+00);
    H(3.08388561049222076e+00);
#endif
    return p;
}
#if !defined(TNI_TYPE_F32)
TNI_HELPER V TNI_FNT(tni_erfinv_by_large)(V s) { /* s from 4 on */
    V z = V_SUB(s, V_SET(5.1)), p;
    p = V_SET(-1.15448640422678982e-11);
    H(1.86739166188982216e-11);
    H(7.82250029046668804e-11);
    H(-3.32656855035035201e-10);
    H(8.17913670842828732e-10);
    H(-1.96409524454356803e-09);
    H(4.27757224701922699e-09);
    H(-8.22010329142241332e-09);
    H(1.65493167626308452e-08);
    H(-4.53985626852458901e-08);
    H(1.79132788295728417e-07);
    H(-8.31081300177887618e-07);
    H(3.88993882349677098e-06);
    H(-1.71626315676750459e-05);
    H(6.68000683630883945e-05);
    H(-1.86513017385748868e-04);
    H(-1.98858868620612991e-04);
    H(1.01026656450229280e+00);
    H(4.95093485307887438e+00);
    return p;
}
#endif
TNI_HELPER V TNI_FNT(tni_erfinv_ratio)(V w) {
    const M beyond = V_GT(w, K(5, 6.25));
    const V s = V_SQRT(w), first = TNI_FNT(tni_erfinv_by)(w);
    V p;
    if (!M_ANY(beyond)) return first;
    p = TNI_FNT(tni_erfinv_by_root)(s);
#if !defined(TNI_TYPE_F32)
    const M large = V_GT(w, V_SET(16));
    if (M_ANY(large)) p = V_SEL(large, TNI_FNT(tni_erfinv_by_large)(s), p);
#endif
    return V_SEL(beyond, p, first);
}
/* Infinite at -1 and 1, NaN beyond; within 2 ULP */
TNI_HELPER V TNI_FNT(tni_erfinv)(V x) {
    const V w = V_NEG(TNI_FNT(tni_log)(V_MUL(V_SUB(V_ONE, x), V_ADD(V_ONE, x))));
    const V y = V_MUL(x, TNI_FNT(tni_erfinv_ratio)(w));
    return V_SEL(V_EQ(V_ABS(x), V_ONE), V_MUL(x, K_INF), y);
}
/* The rounding error of s = a + b (Knuth) */
TNI_INLINE V TNI_FNT(tni_sum_error)(V a, V b, V s) {
    const V c = V_SUB(s, a);
    return V_ADD(V_SUB(a, V_SUB(s, c)), V_SUB(b, c));
}
/* (1 + 2 a) erfcx(a) but for its constant term and a factor z: M. Shepherd, J. Laframboise,
 * "Chebyshev approximation of (1 + 2 x) exp(x^2) erfc x", 1981 */
TNI_INLINE V TNI_FNT(tni_erfcx_poly)(V z) {
    V p;
#if defined(TNI_TYPE_F32)
    p = V_SET(-2.287472336e-04);
    H(3.967046383e-04);
    H(1.688662231e-03);
    H(-9.845491095e-03);
    H(2.839648212e-02);
    H(-5.864598287e-02);
    H(9.229636796e-02);
    H(-1.088145850e-01);
    H(8.227741756e-02);
    H(3.586310102e-03);
    H(-1.402406080e-01);
#else
    p = V_SET(-3.79806472359002845e-11);
    H(4.24330382510967556e-10);
    H(5.48508452008362498e-10);
    H(-5.16908064481593161e-09);
    H(-4.39692191676290562e-09);
    H(3.86624206628379175e-08);
    H(2.43018394845030839e-08);
    H(-2.58648991071832202e-07);
    H(-5.82750186276869130e-08);
    H(1.75161894069436773e-06);
    H(-9.72841345181507702e-07);
    H(-1.14441343896584753e-05);
    H(2.23839082766003804e-05);
    H(5.16490938858217037e-05);
    H(-2.90153978137838383e-04);
    H(2.93713666984613073e-04);
    H(1.75562583219153554e-03);
    H(-9.74657955827515181e-03);
    H(2.83622774215439785e-02);
    H(-5.86933985896111593e-02);
    H(9.23043211601963787e-02);
    H(-1.08803930141750230e-01);
    H(8.22767384901510884e-02);
    H(3.58541548546445835e-03);
    H(-1.40240598585547022e-01);
#endif
    return p;
}
/* erfcx(a) = h + l, a >= 0: by z = (a - 15/4) / (a + 15/4), over d = 1 + 2 a. What z lacks is moved
 * along the slope 2 h - (2 / sqrt(pi) - 2 a h) d of the polynomial. */
TNI_INLINE V TNI_FNT(tni_erfcx_long)(V a, V *l) {
    const V c = K(1.237512618e+00, 1.23751263083782748e+00), m = V_SET(-3.75), t = V_ADD(a, a);
    const V low = V_ADD(a, m), high = V_SUB(a, m), d = V_ADD(t, V_ONE), r = V_DIV(V_ONE, high),
            z = V_MUL(low, r), p = TNI_FNT(tni_erfcx_poly)(z), s = V_FMA(p, z, c),
            rest = V_ADD(V_FMA(p, z, V_SUB(c, s)), K(2.936931606e-08, 1.01653530e-16)),
            i = V_DIV(V_ONE, d), h = V_MUL(s, i);
    /* high times what z lacks, and that as a step of a: dz / da = 7.5 / high^2 */
    V off = V_ADD(V_FNMA(z, high, low), TNI_FNT(tni_sum_error)(a, m, low));
    off = V_FNMA(z, TNI_FNT(tni_sum_error)(a, V_NEG(m), high), off);
    off = V_MUL(V_MUL(off, high), K(1.333333333e-01, 1.33333333333333333e-01));
    const V slope =
        V_FNMA(V_FNMA(t, h, K(1.128379167e+00, 1.12837916709551257e+00)), d, V_ADD(h, h));
    V e = V_ADD(V_FNMA(h, d, s), V_SEL(V_LT(a, V_SET(30)), V_FMA(slope, off, rest), rest));
    e = V_FNMA(h, TNI_FNT(tni_sum_error)(t, V_ONE, d), e);
    *l = V_MUL(e, i);
    return h;
}
/* 2^n (e + el) (h + l), and in *rest what its rounding left */
TNI_INLINE V TNI_FNT(tni_tail)(V e, V el, V h, V l, V n, V *rest) {
    const V t = V_FMA(e, l, V_MUL(el, h)), whole = V_FMA(e, h, t);
    *rest = V_LDEXP(V_ADD(V_FMA(e, h, V_NEG(whole)), t), n);
    return V_LDEXP(whole, n);
}
/* whole - (y + rest) for whole = 1 or 2 */
TNI_INLINE V TNI_FNT(tni_rest_of)(V whole, V y, V rest) {
    const V u = V_SUB(whole, y);
    return V_ADD(u, V_SUB(V_SUB(V_SUB(whole, u), y), rest));
}
/* e^(-x^2) erfcx(x) in two parts, rounded once; 2 less that of -x */
TNI_HELPER V TNI_FNT(tni_erfc)(V x) {
    const V a = V_MIN(K(10.5, 28), V_ABS(x)), s = V_MUL(a, a);
    V n, el, l, rest, e = TNI_FNT(tni_exp_two)(V_NEG(s), V_FNMA(a, a, s), &el, &n),
                      h = TNI_FNT(tni_erfcx_long)(a, &l),
                      y = TNI_FNT(tni_tail)(e, el, h, l, n, &rest);
    return V_SEL(V_LT(x, V_ZERO()), TNI_FNT(tni_rest_of)(V_SET(2), y, rest), y);
}
/* e^(x^2) erfc(x); below 0 it is 2 e^(x^2) less that of -x */
TNI_HELPER V TNI_FNT(tni_scaled_erfc)(V x) {
    const V most = K(1e18, 1e100), a = V_MIN(most, V_ABS(x)), b = V_MIN(K(10.2, 27.3), a);
    const V s = V_MUL(b, b);
    V l, h = TNI_FNT(tni_erfcx_long)(a, &l), y = V_ADD(h, l);
    const M under = V_LT(x, V_ZERO());
    if (M_ANY(under)) {
        V n, el, e = TNI_FNT(tni_exp_two)(s, V_FMA(b, b, V_NEG(s)), &el, &n);
        const V first = V_LDEXP(V_ADD(e, e), n), u = V_SUB(first, h);
        const V off = V_SUB(V_SUB(first, u), h);
        const V z = V_ADD(u, V_ADD(V_SUB(off, l), V_LDEXP(V_ADD(el, el), n)));
        y = V_SEL(under, V_SEL(V_EQ(first, K_INF), first, z), y);
    }
    return V_SEL(V_GT(x, most), V_DIV(V_SET(0.56418958354775628695), x), y);
}
/* erfcx(a / sqrt(2)), a >= 0 */
TNI_INLINE V TNI_FNT(tni_normal_long)(V a, V *l) {
    const V c = K(7.071067691e-01, 7.07106781186547573e-01);
    const V t = V_MUL(a, c),
            rest = V_FMA(a, K(1.210161749e-08, -4.83364665672645676e-17), V_FMA(a, c, V_NEG(t)));
    V low, h = TNI_FNT(tni_erfcx_long)(t, &low);
    const V slope = V_FMA(V_ADD(t, t), h, K(-1.128379167e+00, -1.12837916709551257e+00));
    *l = V_SEL(V_LT(a, V_SET(30)), V_FMA(rest, slope, low), low);
    return h;
}
/* erfc(|x| / sqrt(2)) / 2, and what its rounding left */
TNI_INLINE V TNI_FNT(tni_normal_tail)(V x, V *rest) {
    const V a = V_MIN(K(15, 39), V_ABS(x)), s = V_MUL(a, a), half = V_SET(-0.5);
    V n, el, l,
        e = TNI_FNT(tni_exp_two)(V_MUL(half, s), V_MUL(half, V_FMA(a, a, V_NEG(s))), &el, &n),
        h = TNI_FNT(tni_normal_long)(a, &l);
    return TNI_FNT(tni_tail)(e, el, h, l, V_SUB(n, V_ONE), rest);
}
TNI_HELPER V TNI_FNT(tni_normal)(V x) {
    V rest, y = TNI_FNT(tni_normal_tail)(x, &rest);
    return V_SEL(V_LT(x, V_ZERO()), y, TNI_FNT(tni_rest_of)(V_ONE, y, rest));
}
/* Below 0 log(erfcx(-x / sqrt(2)) / 2) - x^2 / 2 */
TNI_HELPER V TNI_FNT(tni_log_normal)(V x) {
    const V a = V_MIN(K(1e18, 1e100), V_ABS(x)), s = V_MUL(x, x), half = V_SET(-0.5);
    V rest, l, h = TNI_FNT(tni_normal_long)(a, &l),
               log = TNI_FNT(tni_log)(V_MUL(V_SET(0.5), V_ADD(h, l)));
    const V low = V_FMA(half, V_FMA(x, x, V_NEG(s)), log);
    const V y = V_FMA(half, s, V_SEL(V_EQ(s, K_INF), V_ZERO(), low));
    const M above = V_GE(x, V_ZERO());
    if (!M_ANY(above)) return y;
    return V_SEL(above, TNI_FNT(tni_log1p)(V_NEG(TNI_FNT(tni_normal_tail)(x, &rest))), y);
}
