/* optimize_type.inl - Adam (D. Kingma, J. Ba, 2015; with decoupled decay: I. Loshchilov, F. Hutter,
 * 2019; maximum: S. Reddi et al., 2018), SGD with momentum, and the rules of fused_step, for one
 * type. */
static void TNI_FNT(adam)(void *p, const void *g, void *m, void *v, void *most, int64_t n,
                          const tni_adam *o) {
    const bool below = o->one_beta1 < 0.5; /* torch's lerp goes out from the nearer end */
    const V weight = below ? V_SET(o->one_beta1) : V_SUB(V_SET(o->one_beta1), V_ONE);
    for (int64_t i = 0; i < n; i += W) {
        int64_t k = n - i < W ? n - i : W;
        V x = V_LDN((T *)p + i, k), d = V_LDN((const T *)g + i, k), a = V_LDN((T *)m + i, k),
          b = V_LDN((T *)v + i, k);
        if (o->maximize) d = V_NEG(d);
        if (o->decays && o->decoupled)
            x = V_MUL(x, V_SET(o->decay));
        else if (o->decays)
            d = V_FMA(x, V_SET(o->decay), d);
        a = V_FMA(weight, V_SUB(d, a), below ? a : d);
        b = V_FMA(V_MUL(V_SET(o->one_beta2), d), d, V_MUL(b, V_SET(o->beta2)));
        V_STN((T *)m + i, a, k);
        V_STN((T *)v + i, b, k);
        if (most) {
            V c = V_LDN((T *)most + i, k);
            b = V_SEL(M_OR(V_GT(b, c), V_NE(b, b)), b, c);
            V_STN((T *)most + i, b, k);
        }
        b = V_ADD(V_DIV(V_SQRT(b), V_SET(o->root)), V_SET(o->eps));
        V_STN((T *)p + i, V_ADD(x, V_DIV(V_MUL(V_SET(o->step), a), b)), k);
    }
}

static void TNI_FNT(sgd)(void *p, const void *g, void *m, int64_t n, const tni_sgd *o) {
    for (int64_t i = 0; i < n; i += W) {
        int64_t k = n - i < W ? n - i : W;
        V x = V_LDN((T *)p + i, k), d = V_LDN((const T *)g + i, k), b;
        if (o->maximize) d = V_NEG(d);
        if (o->decays) d = V_FMA(x, V_SET(o->decay), d);
        if (m) {
            b = o->first ? d
                         : V_FMA(d, V_SET(o->one_dampening),
                                 V_MUL(V_LDN((T *)m + i, k), V_SET(o->momentum)));
            V_STN((T *)m + i, b, k);
            d = o->nesterov ? V_FMA(b, V_SET(o->momentum), d) : b;
        }
        V_STN((T *)p + i, V_FMA(d, V_SET(o->rate), x), k);
    }
}

#define TNI_RULE static
#include "../simd/optimize_rules.inl"
#undef TNI_RULE
