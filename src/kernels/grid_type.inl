/* grid_type.inl - images at the places of a grid, for one type. AVX-512 takes AVX2's: loads one by
 * one are what they wait for. */
#if TNI_ISA == 2
#define grid_taps_f32_avx512 grid_taps_f32_avx2
#define grid_taps_f64_avx512 grid_taps_f64_avx2
#define grid_sums_f32_avx512 grid_sums_f32_avx2
#define grid_sums_f64_avx512 grid_sums_f64_avx2
#else
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#if TNI_ISA == 0 /* not "Os": gcc 12 then compiles all that is cold behind it as if it were hot */
#pragma GCC optimize("O1", "expensive-optimizations", "fp-contract=off")
#else
#pragma GCC optimize("O2", "tree-vectorize", "fp-contract=off")
#endif
#endif

#define TNI_TABLE TNI_HELPER
#include "../simd/grid_place.inl"
#undef TNI_TABLE

enum { TNI_FNT(grid_group) = 8 }; /* loops of so many are vectors without an end */

/* Numbers along a dimension as those in the plane. */
static void TNI_FNT(grid_numbers)(const T *at, int32_t *to, int64_t count, int32_t n,
                                  int32_t step) {
    for (int64_t i = 0; i < count; i += TNI_FNT(grid_group), at += TNI_FNT(grid_group))
        for (int k = 0; k < TNI_FNT(grid_group); k++, to++) {
            const int32_t number = (int32_t)(at[k] == at[k] ? at[k] : -1);
            *to = number < 0 || number >= n ? INT32_MIN : number * step;
        }
}
/* to[i] += more[i]; negative if either was. */
static void TNI_FNT(grid_join)(int32_t *to, const int32_t *more, T *weight, const T *by,
                               int64_t count) {
    for (int64_t i = 0; i < count; i += TNI_FNT(grid_group)) {
        for (int k = 0; k < TNI_FNT(grid_group); k++) {
            const uint32_t a = (uint32_t)to[i + k], b = (uint32_t)more[i + k];
            to[i + k] = (int32_t)((a + b) | ((a | b) & 0x80000000u));
        }
        for (int k = 0; k < TNI_FNT(grid_group); k += W)
            V_ST(weight + i + k, V_MUL(V_LD(weight + i + k), V_LD(by + i + k)));
    }
}
/* Negative numbers become -1 in none and 0 in index, others 0 in none. */
static void TNI_FNT(grid_part)(int32_t *none, uint32_t *index, int64_t count) {
    for (int64_t i = 0; i < count; i += TNI_FNT(grid_group))
        for (int k = 0; k < TNI_FNT(grid_group); k++) {
            const int32_t number = none[i + k], outside = -(int32_t)(number < 0);
            index[i + k] = (uint32_t)(number & ~outside);
            none[i + k] = outside;
        }
}
typedef struct TNI_FNT(grid_lines) {
    T c[TNI_GRID_PLACES], at[4][TNI_GRID_PLACES], by[3][4][TNI_GRID_PLACES];
    int32_t to[3][4][TNI_GRID_PLACES];
} TNI_FNT(grid_lines);
/* The taps along dimension k. */
static void TNI_FNT(grid_line)(const tni_grid_plan *g, int k, const T *place, int64_t count,
                               TNI_FNT(grid_lines) * l) {
    int64_t i = 0;
    for (; g->dims == 2 && i + W <= count; i += W) {
        V x, y;
        V_LD2(place + 2 * i, &x, &y);
        V_ST(l->c + i, k ? y : x);
    }
    for (; i < count; i++) l->c[i] = place[i * g->dims + k];
    for (; i % TNI_FNT(grid_group); i++) l->c[i] = 0;
    count = i;
    for (i = 0; i < count; i += W) {
        V at[4], weight[4];
        TNI_FNT(grid_axis)(g, k, V_LD(l->c + i), at, weight);
        for (int t = 0; t < g->taps; t++) {
            V_ST(l->at[t] + i, at[t]);
            V_ST(l->by[k][t] + i, weight[t]);
        }
    }
    for (int t = 0; t < g->taps; t++)
        TNI_FNT(grid_numbers)(l->at[t], l->to[k][t], count, (int32_t)g->n[k], (int32_t)g->step[k]);
}
static void TNI_FNT(grid_taps)(const tni_grid_plan *p, const void *places, int64_t count,
                               tni_grid_taps *g) {
    TNI_FNT(grid_lines) l;
    for (int k = 0; k < p->dims; k++) TNI_FNT(grid_line)(p, k, (const T *)places, count, &l);
    for (int32_t t = 0; t < p->count; t++) {
        int32_t *to = g->none + t * g->every, rest = t;
        T *by = (T *)g->weight + t * g->every;
        memcpy(to, l.to[0][t % p->taps], (size_t)g->every * sizeof *to);
        memcpy(by, l.by[0][t % p->taps], (size_t)g->every * sizeof *by);
        for (int k = 1; k < p->dims; k++) {
            rest /= p->taps;
            TNI_FNT(grid_join)(to, l.to[k][rest % p->taps], by, l.by[k][rest % p->taps], count);
        }
        TNI_FNT(grid_part)(to, g->index + t * g->every, count);
    }
}

/* W elements of a plane, or 0. Loads one by one are faster than instructions that gather, on most
 * machines. */
#if TNI_ISA == 1 && defined(TNI_TYPE_F32)
#define GRID_PART(p, i) \
    _mm256_setr_ps(p[i[0]], p[i[1]], p[i[2]], p[i[3]], p[i[4]], p[i[5]], p[i[6]], p[i[7]])
#elif TNI_ISA == 1
#define GRID_PART(p, i) _mm256_setr_pd(p[i[0]], p[i[1]], p[i[2]], p[i[3]])
#endif
TNI_INLINE V TNI_FNT(grid_load)(const T *x, const uint32_t *index, const int32_t *none) {
#if TNI_ISA == 1 && defined(TNI_TYPE_F32)
    const __m256i zero = _mm256_loadu_si256((const __m256i *)(const void *)none);
    return _mm256_andnot_ps(_mm256_castsi256_ps(zero), GRID_PART(x, index));
#elif TNI_ISA == 1
    const __m128i zero = _mm_loadu_si128((const __m128i *)(const void *)none);
    return _mm256_andnot_pd(_mm256_castsi256_pd(_mm256_cvtepi32_epi64(zero)), GRID_PART(x, index));
#else
    T part[W];
    for (int k = 0; k < W; k++) part[k] = none[k] ? 0 : x[index[k]];
    return V_LD(part);
#endif
}
/* Of W places; the nearest has no weight. */
TNI_INLINE V TNI_FNT(grid_sum)(const T *x, const tni_grid_taps *g, int64_t i, int64_t taps) {
    const T *weight = (const T *)g->weight + i;
    V sum = TNI_FNT(grid_load)(x, g->index + i, g->none + i);
    if (taps == 1) return sum;
    sum = V_MUL(sum, V_LD(weight));
    for (int64_t t = 1; t < taps; t++) {
        i += g->every;
        weight += g->every;
        sum = V_ADD(sum, V_MUL(TNI_FNT(grid_load)(x, g->index + i, g->none + i), V_LD(weight)));
    }
    return sum;
}
static void TNI_FNT(grid_sums)(void *y, const void *x, int64_t count, int64_t taps,
                               const tni_grid_taps *g) {
    const T *from = (const T *)x;
    T *to = (T *)y;
    for (int64_t i = 0; i < count; i += W) {
        const V sum = taps == 1   ? TNI_FNT(grid_sum)(from, g, i, 1)
                      : taps == 4 ? TNI_FNT(grid_sum)(from, g, i, 4)
                                  : TNI_FNT(grid_sum)(from, g, i, taps);
        if (i + W <= count)
            V_ST(to + i, sum);
        else
            V_STN(to + i, sum, count - i);
    }
}
#undef GRID_PART
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#endif
