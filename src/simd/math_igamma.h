/* math_igamma.h - the incomplete gamma functions. Part of math_special.h.
 *
 * Series and continued fraction (Abramowitz, Stegun, 1964, 6.5.29 and 6.5.31), and near x = a the
 * uniform expansion of N. Temme, "The asymptotic expansion of the incomplete gamma functions",
 * 1979. */

/* m - log(1 + m): by s = m / (2 + m) it is s m - 2 (s^3 / 3 + s^5 / 5 + ...) */
TNI_SPECIAL double TNI_FN(tni_log_gap)(double m) {
    const double s = m / (2 + m), z = s * s;
    double sum = 0, power = 1;
    if (fabs(m) > 0.5) return m - TNI_FNT(tni_log1p)(m);
    for (int k = 3; power > 1e-18; k += 2, power *= z) sum += power / k;
    return s * (m - 2 * z * sum);
}
/* log(gamma(1 + a)) with all digits where a is small */
TNI_SPECIAL double TNI_FN(tni_lgamma_near_one)(double a) {
    double low;
    return a < 0.7 ? a * (a - 1) * TNI_FNT(tni_lgamma_poly)(a, 1, &low)
                   : TNI_FNT(tni_lgamma)(1 + a);
}
/* x^a e^-x / gamma(a + 1), from a = 10 on by Stirling's series */
TNI_SPECIAL double TNI_FN(tni_igamma_front)(double a, double x) {
    if (a < 10) {
        const double half = TNI_FNT(tni_exp)(x < 700 ? -x : -x / 2);
        double f = a, product = 1;
        for (; f >= 1; f -= 1) product *= f;
        product *= TNI_FNT(tni_exp)(TNI_FN(tni_lgamma_near_one)(f));
        return TNI_FNT(tni_pow)(x, a) * half * (x < 700 ? 1 : half) / product;
    }
    const double gap = a * TNI_FN(tni_log_gap)((x - a) / a),
                 tail = TNI_FNT(tni_lgamma_tail)(1 / a / a) / a;
    return TNI_FNT(tni_exp)(-gap - tail) * 0.39894228040143267794 / sqrt(a);
}
/* P = front (1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...) */
TNI_SPECIAL double TNI_FN(tni_igamma_series)(double a, double x) {
    double sum = 1, term = 1;
    for (double k = 1; term > sum * 1e-17 && k < 100000; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return TNI_FN(tni_igamma_front)(a, x) * sum;
}
/* Q = front a / (x + 1 - a - (1 - a) / (x + 3 - a - ...)). The method of W. Lentz, 1976, finds the
 * number of steps; backwards they round least. */
TNI_SPECIAL double TNI_FN(tni_igamma_fraction)(double a, double x) {
    const double first = x + 1 - a;
    double b = first, c = 1e300, d = 1 / b, k = 0, y;
    do {
        const double top = -(k + 1) * (k + 1 - a);
        k++;
        b += 2;
        d = 1 / fma(top, d, b);
        c = b + top / c;
    } while (fabs(c * d - 1) > 1e-16 && k < 100000);
    for (y = b; k > 0; k--) y = first + 2 * (k - 1) - k * (k - a) / y;
    return TNI_FN(tni_igamma_front)(a, x) * a / y;
}
/* Q for small a and x: 1 - x^a / gamma(a + 1), and the sum of the rest */
TNI_SPECIAL double TNI_FN(tni_igamma_little)(double a, double x) {
    const double front = a * TNI_FNT(tni_log)(x) - TNI_FN(tni_lgamma_near_one)(a);
    double sum = 0, factor = 1, term = 1;
    for (double k = 1; fabs(term) > 1e-18 && k < 100; k++) {
        factor *= -x / k;
        term = factor / (a + k);
        sum += term;
    }
    return -TNI_FNT(tni_expm1)(front) - a * TNI_FNT(tni_exp)(front) * sum;
}
/* S(a, eta), the sum of a^-k eta^n c[k][n], and its slopes */
TNI_SPECIAL double TNI_FN(tni_igamma_near_sum)(double a, double eta, double *by_eta, double *by_a) {
    static const double c[] = {
        -3.33333333333333315e-01, 8.33333333333333287e-02,  -1.48148148148148154e-02,
        1.15740740740740734e-03,  3.52733686067019424e-04,  -1.78755144032921798e-04,
        3.91926317852243767e-05,  -2.18544851067999198e-06, -1.85406221071515997e-06,
        8.29671134095308652e-07,  -1.76659527368260782e-07, 6.70785354340149841e-09,
        1.02618097842403086e-08,  -4.38203601845335294e-09, 9.14769958223679021e-10,
        -2.55141939949462482e-11, -5.83077213255042561e-11, 2.43619480206674150e-11,
        -5.02766928011417551e-12, -1.85185185185185192e-03, -3.47222222222222203e-03,
        2.64550264550264536e-03,  -9.90226337448559630e-04, 2.05761316872427979e-04,
        -4.01877572016460897e-07, -1.80985503344899767e-05, 7.64916091608110982e-06,
        -1.61209008945634465e-06, 4.64712780280743402e-09,  1.37863344691572092e-07,
        -5.75254560351770471e-08, 1.19516285997781477e-08,  -1.75432417197476467e-11,
        -1.00915437106004126e-09, 4.16279299184258280e-10,  -8.56390702649298013e-11,
        4.13359788359788337e-03,  -2.68132716049382727e-03, 7.71604938271604895e-04,
        2.00938786008230470e-06,  -1.07366532263651599e-04, 5.29234488291201250e-05,
        -1.27606351886187284e-05, 3.42357873409613781e-08,  1.37219573090629342e-06,
        -6.29899213838005482e-07, 1.42806142060642425e-07,  -2.04770984219908661e-10,
        -1.40925299108675203e-08, 6.22897408492202184e-09,  -1.36704883966171141e-09,
        6.49434156378600773e-04,  2.29472093621399168e-04,  -4.69189494395255702e-04,
        2.67720632062838854e-04,  -7.56180167188397662e-05, -2.39650511386729680e-07,
        1.10826541153473025e-05,  -5.67495282699159655e-06, 1.42309007324358833e-06,
        -2.78610802915281434e-11, -1.69584040919302782e-07, 8.09946490538808268e-08,
        -1.91111684859736545e-08, -8.61888290916711726e-04, 7.84039221720066615e-04,
        -2.99072480303190177e-04, -1.46384525788434181e-06, 6.64149821546512189e-05,
        -3.96836504717943471e-05, 1.13757269706784187e-05,  2.50749722623753294e-10,
        -1.69541495365583054e-06, 8.90750753220530941e-07,  -2.29293483400080494e-07,
        -3.36798553366358131e-04, -6.97281375836585711e-05, 2.77275324495939183e-04,
        -1.99325705161888469e-04, 6.79778047793720800e-05,  1.41906292064396713e-07,
        -1.35940481897686926e-05, 8.01847025633420200e-06,  -2.29148117650809516e-06,
        5.31307936463992249e-04,  -5.92166437353693932e-04, 2.70878209671804500e-04,
        7.90235323266032815e-07,  -8.15396936756196915e-05, 5.61168275310624970e-05,
        -1.83291165828433752e-05, 3.44367606892377652e-04,  5.17179090826059187e-05,
        -3.34931610811422338e-04, 2.81269515476323688e-04,  -6.52623918595309372e-04};
    static const int length[] = {19, 17, 15, 13, 11, 9, 7, 4, 1}; /* of c[k] */
    double sum = 0, slope = 0, rise = 0;
    const double *at = c + sizeof c / sizeof *c;
    for (int k = (int)(sizeof length / sizeof *length) - 1; k >= 0; k--) {
        double p = 0, q = 0;
        for (int n = 0; n < length[k]; n++) {
            q = fma(q, eta, p);
            p = fma(p, eta, *--at);
        }
        rise = rise / a + sum;
        sum = sum / a + p;
        slope = slope / a + q;
    }
    *by_eta = slope;
    *by_a = -rise / a / a;
    return sum;
}
/* The smaller of P and Q for a >= 64 near x = a: e^(-a eta^2 / 2) (erfcx(y) / 2 +- S / sqrt(2 pi
 * a)), eta^2 / 2 = m - log(1 + m) */
TNI_SPECIAL double TNI_FN(tni_igamma_near)(double a, double m) {
    const double gap = TNI_FN(tni_log_gap)(m), y = sqrt(a * gap);
    const double eta = m < 0 ? -sqrt(2 * gap) : sqrt(2 * gap);
    double sum, by_eta, by_a;
    sum = TNI_FN(tni_igamma_near_sum)(a, eta, &by_eta, &by_a) * (0.39894228040143267794 / sqrt(a));
    return TNI_FNT(tni_exp)(-a * gap) * (0.5 * TNI_FN(tni_erfcx)(y) + (m < 0 ? -sum : sum));
}
/* P(a, x), or Q = 1 - P */
TNI_SPECIAL double TNI_FN(tni_igamma_of)(double a, double x, int upper) {
    const double m = (x - a) / a;
    double y;
    int is_upper = 0; /* whether y is Q */
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == INF && x == INF)) return (double)NAN;
    if (a == 0 || x == INF) return upper ? 0 : 1;
    if (x == 0 || a == INF) return upper ? 1 : 0;
    if (a >= 64 && fabs(m) < 0.38) {
        y = TNI_FN(tni_igamma_near)(a, m);
        is_upper = m >= 0;
    } else if (x > 1.1 ? x < a
                       : !upper || (x <= 0.5 ? -0.4 / TNI_FNT(tni_log)(x) < a : x * 1.1 < a)) {
        y = TNI_FN(tni_igamma_series)(a, x);
    } else {
        y = x > 1.1 ? TNI_FN(tni_igamma_fraction)(a, x) : TNI_FN(tni_igamma_little)(a, x);
        is_upper = 1;
    }
    return is_upper == upper ? y : 1 - y;
}
