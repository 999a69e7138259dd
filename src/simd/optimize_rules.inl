/* optimize_rules.inl - the rules of fused_step, for one type: of each the loop over n elements.
 * TNI_RULE says whose functions they are: the CPU's, or a device's (cuda/optimize.cu). */

/* c[0]: nonzero to maximise; c[1]: decay, which is added to the gradient; c[2]: the factor of the
 * parameter before the step. The other factors are named at each rule, in their order. */

/* n <= W elements of a gradient, with its sign and decay. */
TNI_RULE V TNI_FNT(step_gradient)(const void *g, V x, int64_t i, int64_t k, const double *c) {
    V d = V_LDN((const T *)g + i, k);
    if (c[0] != 0) d = V_NEG(d);
    return c[1] != 0 ? V_FMA(x, V_SET(c[1]), d) : d;
}
/* torch's lerp, which goes out from the nearer end. */
TNI_RULE V TNI_FNT(step_lerp)(V a, V d, double weight) {
    const bool below = weight < 0.5;
    const V w = below ? V_SET(weight) : V_SUB(V_SET(weight), V_ONE);
    return V_FMA(w, V_SUB(d, a), below ? a : d);
}
/* beta a + (1 - beta) d^2 */
TNI_RULE V TNI_FNT(step_square)(V a, V d, double beta) {
    return V_FMA(V_MUL(V_SET(1 - beta), d), d, V_MUL(a, V_SET(beta)));
}
/* x + rate a / b */
TNI_RULE V TNI_FNT(step_divided)(V x, double rate, V a, V b) {
    return V_ADD(x, V_DIV(V_MUL(V_SET(rate), a), b));
}

/* rate, eps; state: the sum of squares (J. Duchi et al., 2011). */
TNI_RULE void TNI_FNT(adagrad)(void *const *at, int64_t n, const double *c) {
    T *p = (T *)at[0], *sum = (T *)at[2];
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        const V x = V_LDN(p + i, k), d = TNI_FNT(step_gradient)(at[1], x, i, k, c);
        const V s = V_FMA(d, d, V_LDN(sum + i, k));
        V_STN(sum + i, s, k);
        V_STN(p + i, TNI_FNT(step_divided)(x, c[3], d, V_ADD(V_SQRT(s), V_SET(c[4]))), k);
    }
}

/* rate, alpha, eps, momentum; states: average of squares, then, where not NULL, the momentum's
 * buffer and the average that is subtracted (T. Tieleman, G. Hinton, 2012; centred: A. Graves,
 * 2013). */
TNI_RULE void TNI_FNT(rmsprop)(void *const *at, int64_t n, const double *c) {
    T *p = (T *)at[0], *square = (T *)at[2], *buffer = (T *)at[3], *mean = (T *)at[4];
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        const V x = V_LDN(p + i, k), d = TNI_FNT(step_gradient)(at[1], x, i, k, c);
        V b = TNI_FNT(step_square)(V_LDN(square + i, k), d, c[4]);
        V_STN(square + i, b, k);
        if (mean) {
            const V a = TNI_FNT(step_lerp)(V_LDN(mean + i, k), d, 1 - c[4]);
            V_STN(mean + i, a, k);
            b = V_FNMA(a, a, b);
        }
        b = V_ADD(V_SQRT(b), V_SET(c[5]));
        if (buffer) {
            const V m = V_ADD(V_MUL(V_LDN(buffer + i, k), V_SET(c[6])), V_DIV(d, b));
            V_STN(buffer + i, m, k);
            V_STN(p + i, V_FMA(m, V_SET(c[3]), x), k);
        } else {
            V_STN(p + i, TNI_FNT(step_divided)(x, c[3], d, b), k);
        }
    }
}

/* rate, rho, eps; states: averages of squares, of gradients and of steps (M. Zeiler, 2012). */
TNI_RULE void TNI_FNT(adadelta)(void *const *at, int64_t n, const double *c) {
    T *p = (T *)at[0], *square = (T *)at[2], *step = (T *)at[3];
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        const V x = V_LDN(p + i, k), d = TNI_FNT(step_gradient)(at[1], x, i, k, c);
        const V a = V_LDN(step + i, k), b = TNI_FNT(step_square)(V_LDN(square + i, k), d, c[4]);
        const V eps = V_SET(c[5]);
        const V delta = V_MUL(V_DIV(V_SQRT(V_ADD(a, eps)), V_SQRT(V_ADD(b, eps))), d);
        V_STN(square + i, b, k);
        V_STN(step + i, TNI_FNT(step_square)(a, delta, c[4]), k);
        V_STN(p + i, V_FMA(delta, V_SET(c[3]), x), k);
    }
}

/* rate, beta1, beta2, eps; states: average of gradients, their decaying maximum (D. Kingma, J. Ba,
 * 2015, section 7.1). */
TNI_RULE void TNI_FNT(adamax)(void *const *at, int64_t n, const double *c) {
    T *p = (T *)at[0], *mean = (T *)at[2], *most = (T *)at[3];
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        const V x = V_LDN(p + i, k), d = TNI_FNT(step_gradient)(at[1], x, i, k, c);
        const V a = TNI_FNT(step_lerp)(V_LDN(mean + i, k), d, 1 - c[4]);
        const V b = V_MAXIMUM(V_MUL(V_LDN(most + i, k), V_SET(c[5])), V_ADD(V_ABS(d), V_SET(c[6])));
        V_STN(mean + i, a, k);
        V_STN(most + i, b, k);
        V_STN(p + i, TNI_FNT(step_divided)(x, c[3], a, b), k);
    }
}

/* rate of the gradient, beta1, beta2, eps, rate of the average, correction of the squares; states
 * as Adam's (T. Dozat, 2016). */
TNI_RULE void TNI_FNT(nadam)(void *const *at, int64_t n, const double *c) {
    T *p = (T *)at[0], *mean = (T *)at[2], *square = (T *)at[3];
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        V x = V_LDN(p + i, k), a, b, d;
        if (c[2] != 1) x = V_MUL(x, V_SET(c[2]));
        d = TNI_FNT(step_gradient)(at[1], x, i, k, c);
        a = TNI_FNT(step_lerp)(V_LDN(mean + i, k), d, 1 - c[4]);
        b = TNI_FNT(step_square)(V_LDN(square + i, k), d, c[5]);
        V_STN(mean + i, a, k);
        V_STN(square + i, b, k);
        b = V_ADD(V_SQRT(V_DIV(b, V_SET(c[8]))), V_SET(c[6]));
        x = TNI_FNT(step_divided)(x, c[3], d, b);
        V_STN(p + i, TNI_FNT(step_divided)(x, c[7], a, b), k);
    }
}

/* rate, beta1, beta2, eps, correction of the average, root of the squares' correction, rectifier: 0
 * if the step does not adapt; states as Adam's (L. Liu et al., 2020). */
TNI_RULE void TNI_FNT(radam)(void *const *at, int64_t n, const double *c) {
    T *p = (T *)at[0], *mean = (T *)at[2], *square = (T *)at[3];
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        V x = V_LDN(p + i, k), a, b, d;
        if (c[2] != 1) x = V_MUL(x, V_SET(c[2]));
        d = TNI_FNT(step_gradient)(at[1], x, i, k, c);
        a = TNI_FNT(step_lerp)(V_LDN(mean + i, k), d, 1 - c[4]);
        b = TNI_FNT(step_square)(V_LDN(square + i, k), d, c[5]);
        V_STN(mean + i, a, k);
        V_STN(square + i, b, k);
        a = V_MUL(V_DIV(a, V_SET(c[7])), V_SET(c[3]));
        if (c[9] != 0) {
            b = V_MUL(V_DIV(V_ONE, V_ADD(V_SQRT(b), V_SET(c[6]))), V_SET(c[8]));
            a = V_MUL(V_MUL(a, b), V_SET(c[9]));
        }
        V_STN(p + i, V_SUB(x, a), k);
    }
}

/* etas below and above 1, sizes of a step from and to; states: the gradient before, sizes of steps
 * (M. Riedmiller, H. Braun, 1993). */
TNI_RULE void TNI_FNT(rprop)(void *const *at, int64_t n, const double *c) {
    T *p = (T *)at[0], *before = (T *)at[2], *size = (T *)at[3];
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        const V x = V_LDN(p + i, k);
        V d = TNI_FNT(step_gradient)(at[1], x, i, k, c), s = V_LDN(size + i, k);
        const V turn = V_MUL(d, V_LDN(before + i, k));
        const M back = V_LT(turn, V_ZERO());
        s = V_MUL(s, V_SEL(V_GT(turn, V_ZERO()), V_SET(c[4]), V_SEL(back, V_SET(c[3]), V_ONE)));
        s = V_MINIMUM(V_MAXIMUM(s, V_SET(c[5])), V_SET(c[6]));
        d = V_SEL(back, V_ZERO(), d);
        V_STN(before + i, d, k);
        V_STN(size + i, s, k);
        V_STN(p + i, V_FNMA(V_SIGN(d), s, x), k);
    }
}

/* rate, share of the new parameter in the average (1: all); state: the average (B. Polyak, A.
 * Juditsky, 1992). */
TNI_RULE void TNI_FNT(asgd)(void *const *at, int64_t n, const double *c) {
    T *p = (T *)at[0], *average = (T *)at[2];
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        V x = V_LDN(p + i, k), d = TNI_FNT(step_gradient)(at[1], x, i, k, c), a = x;
        x = V_FMA(d, V_SET(c[3]), V_MUL(x, V_SET(c[2])));
        if (c[4] != 1) a = V_LDN(average + i, k);
        V_STN(p + i, x, k);
        V_STN(average + i, c[4] == 1 ? x : V_ADD(a, V_MUL(V_SUB(x, a), V_SET(c[4]))), k);
    }
}

/* The parameter becomes c[0] times what is given as its gradient. */
TNI_RULE void TNI_FNT(assign)(void *const *at, int64_t n, const double *c) {
    for (int64_t i = 0; i < n; i += W) {
        const int64_t k = n - i < W ? n - i : W;
        V_STN((T *)at[0] + i, V_MUL(V_LDN((const T *)at[1] + i, k), V_SET(c[0])), k);
    }
}
