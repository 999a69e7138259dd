/* math_lanes.h - a vector function `to` made of name_one(T, T), lane by lane. */
#define TNI_LANES(name, to)                                                 \
    TNI_HELPER V to(V a, V b) {                                             \
        T x[W], y[W];                                                       \
        V_ST(x, a);                                                         \
        V_ST(y, b);                                                         \
        for (int i = 0; i < W; i++) x[i] = TNI_FNT(name##_one)(x[i], y[i]); \
        return V_LD(x);                                                     \
    }
