/* math_draws.h - how a gamma or beta number moves with its parameter at a fixed value of the
 * distribution function F: -(dF / da) / f. Part of math_special.h.
 *
 * M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients", 2018. dF / da is that
 * of F's own series, continued fraction or expansion. With psi(a) the mean of the logarithm, the
 * integral below x is a sum of positive parts up to about e^psi(a), the integral above x from there
 * on, so no digits cancel. */

/* log(x) - 1 / (2 x) - psi(x) is P(1 / x^2) from x = 10 on. Returns P(z), and in *slope
 * (P(z) - P(w)) / (z - w). */
TNI_SPECIAL double TNI_FN(tni_psi_tail)(double z, double w, double *slope) {
    static const double c[] = {8.33333333333333333e-02, -8.33333333333333333e-03,
                               3.96825396825396825e-03, -4.16666666666666667e-03,
                               7.57575757575757576e-03, -2.10927960927960928e-02,
                               8.33333333333333333e-02};
    double p = 0, q = 0;
    for (int k = (int)(sizeof c / sizeof *c); k > 0; k--) {
        q = fma(q, w, p);
        p = fma(p, z, c[k - 1]);
    }
    *slope = fma(q, w, p);
    return p * z;
}
/* log(a) - psi(a) */
TNI_SPECIAL double TNI_FN(tni_log_less_psi)(double a) {
    double slope;
    if (a < 10) return TNI_FNT(tni_log)(a) - TNI_FNT(tni_digamma)(a);
    return TNI_FN(tni_psi_tail)(1 / a / a, 0, &slope) + 0.5 / a;
}
/* (psi(a + b) - psi(a)) / b, at b = 0 the slope: steps up to a = 10, then the difference of the two
 * series divided by b */
TNI_SPECIAL double TNI_FN(tni_psi_slope)(double a, double b) {
    double sum = 0, slope, u, v, log;
    for (; a < 10; a++) sum += 1 / (a * (a + b));
    u = 1 / a;
    v = 1 / (a + b);
    TNI_FN(tni_psi_tail)(u * u, v * v, &slope);
    log = b * u < 1e-17 ? u : TNI_FNT(tni_log1p)(b * u) / b;
    return log + u * v * (0.5 + (u + v) * slope) + sum;
}

/* --- gamma numbers ---------------------------------------------------------------------------- */

/* F = front (1 + x / (a + 1) + ...), whose terms grow by -1 / (a + 1) - 1 / (a + 2) - ... */
TNI_SPECIAL double TNI_FN(tni_gamma_move_series)(double a, double x) {
    const double far_off = TNI_FNT(tni_log)(a + 1) - TNI_FNT(tni_log)(x),
                 log = (x < 0.1 ? far_off : TNI_FNT(tni_log)((a + 1) / x)) -
                       TNI_FN(tni_log_less_psi)(a + 1);
    double sum = log, term = 1, shift = 0;
    for (double k = 1; term * (fabs(log) + shift) > 1e-17 * fabs(sum) && k < 1000; k++) {
        term *= x / (a + k);
        shift += 1 / (a + k);
        sum += term * (log + shift);
    }
    return x / a * sum;
}
/* 1 - F = front a / y, y = x + 1 - a - (1 - a) / (x + 3 - a - ...), with y's slope in a. From x = a
 * and x = 1 on so many steps are enough. */
TNI_SPECIAL double TNI_FN(tni_gamma_move_fraction)(double a, double x) {
    const double first = x + 1 - a, log = TNI_FNT(tni_log)(x / a) + TNI_FN(tni_log_less_psi)(a);
    double k = floor(36 + 72 / x), y = first + 2 * k, slope = -1;
    for (; k > 0; k--) {
        const double r = 1 / y, q = k * (k - a) * r;
        slope = fma(r, fma(q, slope, k), -1.0);
        y = first + 2 * (k - 1) - q;
    }
    return x / y * (log - slope / y);
}
/* N. Temme's expansion of tni_igamma_near, differentiated: with d(eta) / da = -m / (a eta), e^(-a
 * eta^2 / 2) and the error function are gone */
TNI_SPECIAL double TNI_FN(tni_gamma_move_near)(double a, double m) {
    const double gap = TNI_FN(tni_log_gap)(m), root = sqrt(2 * gap), eta = m < 0 ? -root : root;
    const double ratio = root == 0 ? 1 : m / eta, tail = TNI_FNT(tni_lgamma_tail)(1 / a / a) / a;
    double sum, by_eta, by_a;
    sum = TNI_FN(tni_igamma_near_sum)(a, eta, &by_eta, &by_a);
    sum = sum * (TNI_FNT(tni_log1p)(m) - 0.5 / a) + by_a - by_eta * ratio / a;
    return TNI_FNT(tni_exp)(tail) * (1 + m) * (ratio - 0.5 * eta + sum);
}
/* of a gamma number x of shape a */
TNI_SPECIAL double TNI_FN(tni_gamma_move)(double a, double x) {
    const double m = (x - a) / a;
    if (!(a > 0 && x >= 0) || a == INF) return (double)NAN;
    if (x == 0 || x == INF) return x;
    if (a >= 64 && fabs(m) < 0.38) return TNI_FN(tni_gamma_move_near)(a, m);
    return x < a || x < 1 ? TNI_FN(tni_gamma_move_series)(a, x)
                          : TNI_FN(tni_gamma_move_fraction)(a, x);
}

/* --- beta numbers ----------------------------------------------------------------------------- */

/* F(p + q, 1; p + 1; z) and its slope in p or, if `second`, in q: the even part of the fraction of
 * DLMF 8.17.22, 1 / (beta0 + alpha1 / (beta1 + ...)), in z, w = 1 - z and gap = p - (p + q) z.
 * Below z = (p + 1) / (p + q + 2) so many steps are enough. */
TNI_SPECIAL double TNI_FN(tni_beta_fraction)(double p, double q, double z, double w, double gap,
                                             int second, double *slope) {
    double steps = 1, y = 1, dy = 0, top = 0, dtop = 0;
    while (steps * steps * steps < p && steps < 4000) steps *= 1.25;
    for (double n = floor(10 + 10 * steps); n >= 0; n--) {
        const double last = p + 2 * n - 1, next = p + 2 * n + 1, c = p + q + n - 1;
        const double all = gap + 1 + n * (1 + w), part = n > 0 ? n * z / last : 0;
        const double share = n > 0 ? (p + n) / next : 1 / next; /* beta0 and alpha1 are over p */
        const double r = 1 / y, rest = top * r;
        const double drest = r * (dtop - dy * rest);
        y = part * (q - n) + share * all + (n > 0 ? n : 0) + rest;
        if (second) {
            dy = part - share * z + drest;
        } else if (n > 0) {
            dy = (n + 1) / (next * next) * all + share * w - part * (q - n) / last + drest;
        } else {
            dy = (w - all / next) / next + drest;
        }
        if (n == 0) break;
        top = (n > 1 ? p + n - 1 : 1) * n * (z / last) * (z / last);
        dtop = second ? top * (c + q - n)
                      : top * (q - n) * (1 + c * ((n > 1 ? 1 / (p + n - 1) : 0) - 2 / last));
        top *= c * (q - n);
    }
    *slope = -dy / (y * y);
    return 1 / y;
}
/* From the integral above x, for b < 1. F(a + b, 1; b + 1; y) is (1 - y)^-(a + b) + b sum of c[n]
 * e[n], c[n] the terms of that power, e[n] = (n! / (b + 1)_n - 1) / b; the power's part of the
 * result cancels in the formula. */
TNI_SPECIAL double TNI_FN(tni_beta_move_above)(double a, double b, double y) {
    const double log = TNI_FNT(tni_log1p)(-y), psi = TNI_FN(tni_psi_slope)(a, b);
    double sum = psi, term = 1, series = 1, e = 0, shift = 0;
    for (double n = 1; term * (psi - e) * (1 + shift) > 1e-17 * sum && n < 1000; n++) {
        const double c = a + b + n - 1;
        term *= y * c / n;
        series *= y * c / (b + n);
        e = (e * n - 1) / (b + n);
        shift += 1 / c;
        sum += psi * series + term * e * (log + shift);
    }
    return (1 - y) * sum;
}
/* of a beta number x, over 1 - x: of parameters a, which moves, and b = total - a. Sums that were
 * rounded may leave a b below 0, which counts as 0. */
TNI_SPECIAL double TNI_FN(tni_beta_move)(double x, double a, double total) {
    const double b = total > a ? total - a : 0, y = 1 - x;
    const double gap = fma(total, x, -a), high = gap / a, low = (gap - 1) / (a + 1);
    double slope, f, log;
    if (!(x >= 0 && x <= 1 && a > 0 && total - total == 0)) return (double)NAN;
    if (x == 0) return 0;
    if (x <= (a + 1) / (a + b + 2)) { /* log = psi(a + 1) - psi(total) - log(x) */
        f = TNI_FN(tni_beta_fraction)(a, b, x, y, -gap, 0, &slope);
        if (fabs(low) < 0.5) {
            log = TNI_FN(tni_log_less_psi)(a + b) - TNI_FN(tni_log_less_psi)(a + 1) -
                  TNI_FNT(tni_log1p)(low);
        } else {
            log = b < 1 ? TNI_FN(tni_psi_slope)(a + b, 1 - b) : TNI_FN(tni_psi_slope)(a + 1, b - 1);
            log = (1 - b) * log - TNI_FNT(tni_log)(x);
        }
        return x / a * (log * f - slope);
    }
    if (b < 1) return TNI_FN(tni_beta_move_above)(a, b, y);
    f = TNI_FN(tni_beta_fraction)(b, a, y, x, gap, 1,
                                  &slope); /* log = log(x) + psi(total) - psi(a) */
    log = fabs(high) < 0.5 ? TNI_FNT(tni_log1p)(high) + TNI_FN(tni_log_less_psi)(a) -
                                 TNI_FN(tni_log_less_psi)(a + b)
                           : TNI_FNT(tni_log)(x) + b * TNI_FN(tni_psi_slope)(a, b);
    return x / b * (log * f + slope);
}
