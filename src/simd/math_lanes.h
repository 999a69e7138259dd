/* math_lanes.h - a word made of a function of single elements: NAME##_one(T, T). */
#define TNI_LANES(name)                                                                                      \
    TNI_HELPER V TNI_FNT(name)(V a, V b) {                                                                   \
        T x[W], y[W];                                                                                        \
        V_ST(x, a), V_ST(y, b);                                                                              \
        for (int i = 0; i < W; i++) x[i] = TNI_FNT(name##_one)(x[i], y[i]);                                  \
        return V_LD(x);                                                                                      \
    }
