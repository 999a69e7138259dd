/* math_error.h - the inverse of erf, and 1 - erf with all digits where it is small. Part of
 * math_float.h. The polynomials interpolate at Chebyshev's points, with 50 digits. */

/* The rounding error of s = a + b (Knuth) */
TNI_INLINE V TNI_FNT(tni_sum_error)(V a, V b, V s) {
    const V c = V_SUB(s, a);
    return V_ADD(V_SUB(a, V_SUB(s, c)), V_SUB(b, c));
}
/* h t + c, h and c with lower halves *l and cl; c - s is exact, as s is between c / 2 and 2 c
 * (P. Sterbenz, "Floating-point computation", 1974) */
TNI_INLINE V TNI_FNT(tni_step_long)(V h, V t, V c, V cl, V *l) {
    const V s = V_FMA(h, t, c);
    *l = V_FMA(*l, t, V_ADD(V_FMA(h, t, V_SUB(c, s)), cl));
    return s;
}
/* erfinv(x) / x by w = -log(1 - x^2), and beyond 5 or 6.25 by its root s: M. Giles, "Approximating
 * the erfinv function", 2010. Up to w = 16.8 in f32, 38 in f64. The last two steps, which are of
 * two numbers, stand below. */
TNI_HELPER V TNI_FNT(tni_erfinv_by)(V z) {
    V p;
#if defined(TNI_TYPE_F32)
    p = V_SET(1.234657654e-10);
    H(4.340626747e-10);
    H(-1.086176127e-08);
    H(1.650364467e-08);
    H(4.786896852e-07);
    H(-3.426266176e-06);
    H(-4.995999916e-06);
    H(2.182641183e-04);
    H(-1.252707909e-03);
    H(-4.177324940e-03);
#else
    p = V_SET(-1.91237780453911862e-23);
    H(-3.37955365254852240e-22);
    H(4.35747528024485407e-21);
    H(1.87394348750954618e-20);
    H(-3.78482175211053346e-19);
    H(6.39666485570997122e-19);
    H(1.59925917361993050e-17);
    H(-1.22630574326054808e-16);
    H(-4.41700339366537270e-17);
    H(6.52576792239985836e-15);
    H(-3.99885230954043230e-14);
    H(-8.07466516750701305e-14);
    H(2.63038591480853843e-12);
    H(-1.29786924799948919e-11);
    H(-5.41426095761645651e-11);
    H(1.05122307074876207e-09);
    H(-4.11266126692450300e-09);
    H(-2.90703907487108684e-08);
    H(4.23478817826652621e-07);
    H(-1.36546917641350421e-06);
    H(-1.38825233946373436e-05);
    H(1.86734208020092503e-04);
    H(-7.40702534154430089e-04);
    H(-6.03367087142690859e-03);
#endif
    return p;
}
TNI_HELPER V TNI_FNT(tni_erfinv_by_root)(V z) {
    V p;
#if defined(TNI_TYPE_F32)
    p = V_SET(-5.105907803e-06);
    H(-3.149262920e-05);
    H(1.282205776e-04);
    H(-8.615783736e-05);
    H(-3.449622309e-04);
    H(1.213104697e-03);
    H(-2.335377270e-03);
    H(3.488800256e-03);
    H(-4.936839920e-03);
    H(6.664316170e-03);
#else
    p = V_SET(7.68020047907705305e-09);
    H(-1.53053979641525481e-08);
    H(-2.09145333477312603e-08);
    H(1.31586636831929664e-07);
    H(-2.45498189633398231e-07);
    H(-2.76171622381624115e-08);
    H(1.48159778740225388e-06);
    H(-3.98570594564817299e-06);
    H(2.93257845538534999e-06);
    H(1.24650282242174545e-05);
    H(-4.73206806654469670e-05);
    H(6.82871173925195523e-05);
    H(2.40315128657583568e-05);
    H(-3.55037813785245187e-04);
    H(9.53289341579413693e-04);
    H(-1.68827553544885554e-03);
    H(2.49144209795696021e-03);
    H(-3.75120850822473423e-03);
    H(5.37091455355503261e-03);
#endif
    return p;
}
#if !defined(TNI_TYPE_F32)
TNI_HELPER V TNI_FNT(tni_erfinv_by_large)(V z) {
    V p;
    p = V_SET(-9.03443649513465957e-13);
    H(4.12621971497259916e-12);
    H(-6.35283299485094914e-12);
    H(-5.04858575859058244e-12);
    H(6.56583438535395136e-11);
    H(-2.75233076827938912e-10);
    H(8.34552200812589205e-10);
    H(-2.04010982172303492e-09);
    H(4.26447588818020248e-09);
    H(-8.16030599665729685e-09);
    H(1.65555495659986398e-08);
    H(-4.54269921902810592e-08);
    H(1.79131044945004105e-07);
    H(-8.31073360948809146e-07);
    H(3.88993908781926279e-06);
    H(-1.71626327685327711e-05);
    H(6.68000683448497423e-05);
    H(-1.86513017303193730e-04);
    H(-1.98858868620242410e-04);
    return p;
}
#endif
/* Of z + zl, for w and its root; slopes are within a tenth of the polynomials' */
TNI_INLINE V TNI_FNT(tni_erfinv_first)(V z, V zl, V *low) {
    V p = TNI_FNT(tni_erfinv_by)(z);
    *low = V_ZERO();
    p = TNI_FNT(tni_step_long)(p, z, K(2.466402799e-01, 2.40158182425588312e-01),
                               K(-3.140522515e-09, 1.02993646597476001e-17), low);
    p = TNI_FNT(tni_step_long)(p, z, K(1.501409292e+00, 1.65365456268310274e+00),
                               K(5.952710707e-08, -2.16393398838962229e-17), low);
    *low = V_FMA(zl, V_SET(0.235), *low);
    return p;
}
TNI_INLINE V TNI_FNT(tni_erfinv_second)(V z, V zl, V *low) {
    V p = TNI_FNT(tni_erfinv_by_root)(z);
    *low = V_ZERO();
    p = TNI_FNT(tni_step_long)(p, z, K(1.004061341e+00, 1.00525896769416545e+00),
                               K(3.394044259e-08, -6.76575885974347710e-17), low);
    p = TNI_FNT(tni_step_long)(p, z, K(2.983417511e+00, 3.08388561049222076e+00),
                               K(2.388996187e-08, -8.71749865759262489e-17), low);
    *low = V_ADD(*low, zl);
    return p;
}
#if !defined(TNI_TYPE_F32)
TNI_INLINE V TNI_FNT(tni_erfinv_third)(V z, V zl, V *low) {
    V p = TNI_FNT(tni_erfinv_by_large)(z);
    *low = V_ZERO();
    p = TNI_FNT(tni_step_long)(p, z, V_SET(1.01026656450229102e+00), V_SET(7.57181244133897737e-17),
                               low);
    p = TNI_FNT(tni_step_long)(p, z, V_SET(4.95093485307887438e+00),
                               V_SET(-4.33460919089873108e-16), low);
    *low = V_ADD(*low, zl);
    return p;
}
#endif
/* For w + wl; the result has a lower half, too. Less a constant, w is exact or its rest is kept. */
TNI_HELPER V TNI_FNT(tni_erfinv_ratio)(V w, V wl, V *low) {
    const M beyond = V_GT(w, K(5, 6.25));
    const V c = K(2.5, 3.125), z = V_SUB(w, c), zl = V_ADD(V_SUB(w, V_ADD(z, c)), wl);
    const V first = TNI_FNT(tni_erfinv_first)(z, zl, low);
    if (!M_ANY(beyond)) return first;
    V s = V_SQRT(w), sl = V_DIV(V_MUL(V_SET(0.5), V_ADD(V_FNMA(s, s, w), wl)), s), l, p;
    p = TNI_FNT(tni_erfinv_second)(V_SUB(s, K(3.150000095e+00, 3.25)), sl, &l);
#if !defined(TNI_TYPE_F32)
    const M large = V_GT(w, V_SET(16));
    if (M_ANY(large)) {
        V ll, q = TNI_FNT(tni_erfinv_third)(V_SUB(s, V_SET(5.1)), sl, &ll);
        p = V_SEL(large, q, p);
        l = V_SEL(large, ll, l);
    }
#endif
    *low = V_SEL(beyond, l, *low);
    return V_SEL(beyond, p, first);
}
/* -log(1 - x^2) = w + *low for |x| < 1: as tni_log1p, of u + l = 1 - x^2 */
TNI_INLINE V TNI_FNT(tni_erfinv_log)(V x, V *low) {
    const V u = V_FNMA(x, x, V_ONE), s = V_SUB(V_ONE, u),
            l = V_ADD(V_FNMA(x, x, s), V_SUB(V_SUB(V_ONE, s), u));
    V f, e = TNI_FNT(tni_log_split)(u, &f), d = V_LDEXP(l, V_NEG(e));
    const V tail = V_FMA(d, V_FMA(f, V_SUB(f, V_ONE), V_ONE), TNI_FNT(tni_log_tail)(f));
    const V hi = V_FMA(e, LN2_HI, f), lo = V_ADD(V_FMA(e, LN2_HI, V_NEG(hi)), f),
            rest = V_FMA(e, LN2_LO, V_ADD(lo, tail)), w = V_ADD(hi, rest);
    *low = V_SUB(V_SUB(w, hi), rest);
    return V_NEG(w);
}
/* Infinite at -1 and 1, NaN beyond; within 0.52 ULP */
TNI_HELPER V TNI_FNT(tni_erfinv)(V x) {
    const V a = V_ABS(x);
    V wl, w = TNI_FNT(tni_erfinv_log)(x, &wl), l, h = TNI_FNT(tni_erfinv_ratio)(w, wl, &l);
    h = V_SEL(V_GT(a, V_ONE), K_NAN, V_FMA(x, h, V_MUL(x, l)));
    return TNI_FNT(tni_copysign)(V_SEL(V_EQ(a, V_ONE), K_INF, h), x);
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
