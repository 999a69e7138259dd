/* grid_place.inl - which elements grid_sample sums for a place of its grid, with which weights.
 * TNI_TABLE says whose functions they are: the CPU's (ops/layers/grid_sample.c), or a device's
 * (cuda/grid_sample.cu). */

/* Dimension k is the k-th from the last, as the grid says x, y, z: n elements, `step` apart in the
 * plane. A place reads `taps` elements along each, `count` in all. */
typedef struct gp_plan {
    int64_t n[3], step[3];
    int32_t dims, taps, count;
    tn_grid_mode mode;
    tn_grid_padding padding;
    bool align_corners;
} gp_plan;

/* What a tap outside has for its number along a dimension: sums of it stay below 0. */
#define GP_NONE (-((int64_t)1 << 60))

/* gp_NAME_axis: of a place's number c along dimension k, taps i have numbers at[i every] times the
 * step, and weights weight[i every]. Positions are cut at 2^30, so that they are whole numbers of
 * 32 bits. NaN stands for -1 where positions are clamped, as in torch, and is a weight else; the
 * nearest place of it is none. Cubic convolution with A = -0.75 (Robert Keys, 1981). */
#define GRID_PLACE(name, T, fmod_of)                                                               \
    TNI_TABLE T gp_##name##_floor(T p) {                                                           \
        const T whole = (T)(int32_t)p;                                                             \
        return whole - (T)(whole > p);                                                             \
    }                                                                                              \
    TNI_TABLE T gp_##name##_round(T p) { /* halves to even */                                      \
        const T whole = gp_##name##_floor(p), part = p - whole;                                    \
        const int odd = (int32_t)whole & 1, up = part > (T)0.5, half = part == (T)0.5;             \
        return whole + (T)(up | (half & odd));                                                     \
    }                                                                                              \
    /* A position beyond the ends, mirrored at these as often as it takes. */                      \
    TNI_TABLE T gp_##name##_mirror(T p, int64_t n, bool align_corners) {                           \
        const double low = align_corners ? 0 : -0.5, span = (double)(align_corners ? n - 1 : n);   \
        if (span <= 0) return 0;                                                                   \
        p = p - (T)low;                                                                            \
        if (p < 0) p = -p;                                                                         \
        if (p >= (T)span) {                                                                        \
            const T rest = fmod_of(p, (T)span),                                                    \
                    odd = fmod_of(gp_##name##_floor(p / (T)span), (T)2);                           \
            p = odd == 0 ? rest : (T)span - rest;                                                  \
        }                                                                                          \
        return p + (T)low;                                                                         \
    }                                                                                              \
    TNI_TABLE T gp_##name##_inside(const gp_plan *g, T p, int64_t n) {                             \
        const T last = (T)(n - 1);                                                                 \
        if (g->padding == TN_GRID_PADDING_ZEROS) return p;                                         \
        if (g->padding == TN_GRID_PADDING_REFLECTION)                                              \
            p = gp_##name##_mirror(p, n, g->align_corners);                                        \
        return p < 0 ? 0 : p > last ? last : p;                                                    \
    }                                                                                              \
    TNI_TABLE T gp_##name##_cubic(T d, bool outer) {                                               \
        const T a = (T)-0.75;                                                                      \
        if (outer) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;                               \
        return ((a + 2) * d - (a + 3)) * (d * d) + 1;                                              \
    }                                                                                              \
    TNI_TABLE void gp_##name##_tap(const gp_plan *g, int k, T at, int64_t *to) {                   \
        const int32_t i = (int32_t)at;                                                             \
        const int64_t inside = -(int64_t)((i >= 0) & (i < g->n[k]));                               \
        *to = (i * g->step[k] & inside) | (GP_NONE & ~inside);                                     \
    }                                                                                              \
    TNI_TABLE void gp_##name##_axis(const gp_plan *g, int k, T c, int64_t *at, T *weight,          \
                                    int64_t every) {                                               \
        const int64_t n = g->n[k];                                                                 \
        const T most = (T)((int64_t)1 << 30);                                                      \
        T p, first, part;                                                                          \
        if (c != c && g->mode != TN_GRID_MODE_BICUBIC && g->padding != TN_GRID_PADDING_ZEROS)      \
            c = -1;                                                                                \
        p = g->align_corners ? (c + 1) * (T)((double)(n - 1) / 2)                                  \
                             : (c + 1) * (T)((double)n / 2) - (T)0.5;                              \
        p = p < -most ? -most : p > most ? most : p;                                               \
        if (g->mode != TN_GRID_MODE_BICUBIC) p = gp_##name##_inside(g, p, n);                      \
        first = p == p ? p : -most;                                                                \
        if (g->mode == TN_GRID_MODE_NEAREST) {                                                     \
            gp_##name##_tap(g, k, gp_##name##_round(first), at);                                   \
            *weight = 1;                                                                           \
            return;                                                                                \
        }                                                                                          \
        first = gp_##name##_floor(first);                                                          \
        part = p - first;                                                                          \
        if (g->mode == TN_GRID_MODE_BILINEAR) {                                                    \
            gp_##name##_tap(g, k, first, at);                                                      \
            gp_##name##_tap(g, k, first + 1, at + every);                                          \
            weight[0] = first + 1 - p;                                                             \
            weight[every] = part;                                                                  \
            return;                                                                                \
        }                                                                                          \
        for (int i = 0; i < 4; i++) {                                                              \
            const T d = i < 2 ? part + (T)(1 - i) : (T)(i - 1) - part;                             \
            gp_##name##_tap(g, k, gp_##name##_inside(g, first + (T)(i - 1), n), at + i * every);   \
            weight[i * every] = gp_##name##_cubic(d, i == 0 || i == 3);                            \
        }                                                                                          \
    }
GRID_PLACE(f32, float, fmodf)
GRID_PLACE(f64, double, fmod)
#undef GRID_PLACE

TNI_TABLE gp_plan gp_plan_of(int dims, const int64_t *size, tn_grid_mode mode,
                             tn_grid_padding padding, bool align_corners) {
    gp_plan g = {{1, 1, 1}, {1, 1, 1}, dims, 1, 1, mode, padding, align_corners};
    g.taps = mode == TN_GRID_MODE_NEAREST ? 1 : mode == TN_GRID_MODE_BILINEAR ? 2 : 4;
    for (int k = 0; k < dims; k++) {
        g.n[k] = size[dims - 1 - k];
        if (k) g.step[k] = g.step[k - 1] * g.n[k - 1];
        g.count *= g.taps;
    }
    return g;
}
