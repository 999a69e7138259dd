/* random_type.inl - the loops of random.h that need vectors, for one type. */
#include "../simd/math_normal.h"
#if defined(TNI_TYPE_F32)
static void TNI_FN(normal_f32)(float *x, int64_t blocks, float mean, float std) {
    for (; blocks > 0; blocks--, x += 16)
        for (int64_t c = 0; c < 8; c += W) {
            int64_t m = 8 - c < W ? 8 - c : W;
            V a, b;
            TNI_FNT(tni_normal_pair)
            (V_LDN(x + c, m), V_LDN(x + 8 + c, m), V_SET(std), V_SET(mean), &a, &b);
            V_STN(x + c, a, m);
            V_STN(x + 8 + c, b, m);
        }
}
#else
static void TNI_FN(normal_f64)(double *a, double *b, int64_t n, bool swap) {
    for (int64_t i = 0; i < n; i += W) {
        int64_t m = n - i < W ? n - i : W;
        V x, y;
        TNI_FNT(tni_normal_pair)(V_LDN(a + i, m), V_LDN(b + i, m), swap, &x, &y);
        V_STN(a + i, x, m);
        V_STN(b + i, y, m);
    }
}

static void TNI_FN(exponential_f64)(double *x, int64_t n) {
    for (int64_t i = 0; i < n; i += W) {
        int64_t m = n - i < W ? n - i : W;
        V_STN(x + i, TNI_FNT(tni_exponential)(V_LDN(x + i, m)), m);
    }
}

static void TNI_FN(cauchy_f64)(double *x, int64_t n, double median, double sigma) {
    const V half = V_SET(0.5), pi = V_SET(3.14159265358979323846);
    for (int64_t i = 0; i < n; i += W) {
        int64_t m = n - i < W ? n - i : W;
        V t = V_TAN(V_MUL(pi, V_SUB(V_LDN(x + i, m), half)));
        V_STN(x + i, V_FMA(V_SET(sigma), t, V_SET(median)), m);
    }
}

static void TNI_FN(geometric_f64)(double *x, int64_t n, double p) {
    const V fail = V_LOG1P(V_SET(-p)); /* the logarithm of a failure's chance */
    for (int64_t i = 0; i < n; i += W) {
        int64_t m = n - i < W ? n - i : W;
        V_STN(x + i, V_CEIL(V_DIV(V_LOG(V_LDN(x + i, m)), fail)), m);
    }
}

static void TNI_FN(log_normal_f64)(double *x, int64_t n, double mean, double std) {
    for (int64_t i = 0; i < n; i += W) {
        int64_t m = n - i < W ? n - i : W;
        V_STN(x + i, V_EXP(V_FMA(V_LDN(x + i, m), V_SET(std), V_SET(mean))), m);
    }
}
#endif
