/* pool_type.inl - the maxima of a row of windows, for one type. */

/* Every second element of two vectors, and W elements of memory that lie s apart. */
#if (TNI_ISA == 1 || TNI_ISA == 2) && defined(TNI_TYPE_F32)
#define POOL_EIGHT(p, s) \
    _mm256_setr_ps(p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s])
#endif
#if TNI_ISA == 1 && defined(TNI_TYPE_F32)
#define POOL_EVEN(a, b) \
    _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88)), 0xd8))
#define POOL_APART(p, s) POOL_EIGHT(p, s)
#elif TNI_ISA == 1
#define POOL_EVEN(a, b) _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), 0xd8)
#define POOL_APART(p, s) _mm256_setr_pd(p[0], p[s], p[2 * s], p[3 * s])
#elif TNI_ISA == 2 && defined(TNI_TYPE_F32)
#define POOL_EVEN(a, b)     \
    _mm512_permutex2var_ps( \
        a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b)
#define POOL_APART(p, s)                                                \
    _mm512_insertf32x8(_mm512_castps256_ps512(POOL_EIGHT((p), s)), POOL_EIGHT((p + 8 * s), s), 1)
#elif TNI_ISA == 2
#define POOL_EVEN(a, b) _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b)
#define POOL_APART(p, s) \
    _mm512_setr_pd(p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s])
#endif

/* One tap of W windows that lie `step` apart, or of one in all lanes, 0; `more`: an element lies
 * behind those of W windows. */
TNI_INLINE V TNI_FNT(pool_tap)(const T *p, int64_t step, bool more) {
    if (!step) return V_SET(*p);
    if (step == 1) return V_LD(p);
#ifdef POOL_EVEN
    if (step == 2) return POOL_EVEN(V_LD(p), more ? V_LD(p + W) : V_LDN(p + W, W - 1));
#endif
    (void)more;
#ifdef POOL_APART
    return POOL_APART(p, step);
#else
    T part[W];
    for (int64_t k = 0; k < W; k++) part[k] = p[k * step];
    return V_LD(part);
#endif
}
#undef POOL_EVEN
#undef POOL_EIGHT
#undef POOL_APART

#ifdef TNI_TYPE_F32
#define POOL_NUMBER int32_t
#else
#define POOL_NUMBER int64_t
#endif
/* A whole number in a lane, which is moved but never computed with. */
TNI_INLINE T TNI_FNT(pool_lane)(int64_t place) {
    const POOL_NUMBER number = (POOL_NUMBER)place;
    T lane;
    memcpy(&lane, &number, sizeof lane);
    return lane;
}
/* The largest elements of W windows, the first of which begins at `row`; unless at is NULL, their
 * places. */
TNI_INLINE V TNI_FNT(pool_best)(const T *row, const tni_pool_row *r, int64_t step, bool more,
                                V *at) {
    V best = V_SET(-INFINITY);
    for (int64_t y = 0; y < r->rows; y++, row += r->down) {
        int64_t place = r->first + y * r->width;
        const T *p = row;
        for (int64_t x = 0; x < r->taps; x++, p += r->apart) {
            const V v = TNI_FNT(pool_tap)(p, step, more);
            const M above = V_GT(v, best), nan = V_NE(v, v);
            best = V_SEL(nan, v, V_SEL(above, v, best));
            if (!at) continue;
            const V number = V_SET(TNI_FNT(pool_lane)(place++));
            *at = V_SEL(nan, number, V_SEL(above, number, *at));
        }
    }
    return best;
}
/* W windows at a time, the last W again where n is no multiple; fewer than W one by one. */
static void TNI_FNT(max_pool_row)(void *to, void *index, const void *from, const tni_pool_row *r) {
    const bool one = r->n < W;
    const int64_t n = r->n, group = one ? 1 : W, step = one ? 0 : r->step;
    T part[W];
    POOL_NUMBER places[W];
    for (int64_t i = 0; i < n; i += group) {
        if (i > n - group) i = n - group;
        const T *row = (const T *)from + i * r->step;
        V best, at = V_SET(TNI_FNT(pool_lane)(r->first));
        const bool more = i + W < n;
        if (index) {
            best = TNI_FNT(pool_best)(row, r, step, more, &at);
        } else if (step == 1) { /* a loop each, for torch's are as short */
            best = TNI_FNT(pool_best)(row, r, 1, more, NULL);
        } else if (step == 2) {
            best = TNI_FNT(pool_best)(row, r, 2, more, NULL);
        } else {
            best = TNI_FNT(pool_best)(row, r, step, false, NULL);
        }
        V_ST(one ? part : (T *)to + i, best);
        if (one) ((T *)to)[i] = part[0];
        if (!index) continue;
        V_ST(part, at);
        memcpy(places, part, sizeof places);
        for (int64_t k = 0; k < group; k++)
            if (r->bytes)
                ((uint8_t *)index)[i + k] = (uint8_t)places[k];
            else
                ((int32_t *)index)[i + k] = (int32_t)places[k];
    }
}
#undef POOL_NUMBER

/* Means of both types are in the words of f64. AVX-512 takes AVX2's. */
#if TNI_ISA == 2
#define pool_mean_f32_avx512 pool_mean_f32_avx2
#define pool_mean_f64_avx512 pool_mean_f64_avx2
#elif defined(TNI_TYPE_F64)
enum { TNI_FN(pool_parts) = TNI_POOL_CHAINS / W };
/* The first n of W elements, 0 behind them. */
TNI_INLINE V TNI_FN(pool_load_f32)(const float *p, int64_t n) {
    n = n < 0 ? 0 : n < W ? n : W;
#if TNI_ISA == 1
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)(tni_avx2_first + 8 - n));
    return _mm256_cvtps_pd(n == W ? _mm_loadu_ps(p) : _mm_maskload_ps(p, first));
#else
    T part[W] = {0};
    for (int64_t k = 0; k < n; k++) part[k] = (T)p[k];
    return V_LD(part);
#endif
}
TNI_INLINE V TNI_FN(pool_load_f64)(const double *p, int64_t n) {
    return n >= W ? V_LD(p) : V_LDN(p, n < 0 ? 0 : n);
}
#if defined(__GNUC__) && !defined(__clang__) && TNI_ISA != 0 /* clang unrolls by itself */
#define POOL_UNROLLED _Pragma("GCC unroll 16")
#else
#define POOL_UNROLLED
#endif
#define POOL_EACH POOL_UNROLLED for (int k = 0; k < TNI_FN(pool_parts); k++)
#define POOL_MEAN(S, E)                                                                       \
    static void TNI_FN(pool_mean_##S)(void *to, const void *from, int64_t n) {                \
        const E *x = (const E *)from;                                                         \
        V sum[TNI_FN(pool_parts)];                                                            \
        T part[W];                                                                            \
        int64_t i = 0;                                                                        \
        POOL_EACH { sum[k] = V_ZERO(); }                                                      \
        for (; i + TNI_POOL_CHAINS <= n; i += TNI_POOL_CHAINS)                                \
            POOL_EACH { sum[k] = V_ADD(sum[k], TNI_FN(pool_load_##S)(x + i + k * W, W)); }    \
        if (i < n)                                                                            \
            POOL_EACH {                                                                       \
                sum[k] = V_ADD(sum[k], TNI_FN(pool_load_##S)(x + i + k * W, n - i - k * W));  \
            }                                                                                 \
        POOL_UNROLLED for (int h = TNI_FN(pool_parts) / 2; h; h /= 2) {                       \
            POOL_UNROLLED for (int k = 0; k < h; k++) { sum[k] = V_ADD(sum[k], sum[k + h]); } \
        }                                                                                     \
        V_ST(part, sum[0]);                                                                   \
        POOL_UNROLLED for (int h = W / 2; h; h /= 2) {                                        \
            POOL_UNROLLED for (int k = 0; k < h; k++) { part[k] = part[k] + part[k + h]; }    \
        }                                                                                     \
        *(E *)to = (E)(part[0] / (double)n);                                                  \
    }
POOL_MEAN(f32, float)
POOL_MEAN(f64, double)
#undef POOL_MEAN
#undef POOL_EACH
#undef POOL_UNROLLED
#endif

#if TNI_ISA != 2
static void TNI_FNT(resample_pixel)(void *to, const void *from, const tni_pool_pixel *p) {
    const T *wy = (const T *)p->wy, *wx = (const T *)p->wx;
    for (int64_t i = 0; i < p->n; i += W) {
        const int64_t at = i + W <= p->n ? i : p->n - W; /* the last vector may overlap */
        const T *x = (const T *)from + at;
        const int64_t *offset = p->offset;
        V sum = V_ZERO();
        for (int k = 0; k < p->nx; k++) {
            V line = V_MUL(V_LD(x + *offset), V_SET(*wy));
            offset++;
            for (int l = 1; l < p->ny; l++, offset++)
                line = V_ADD(line, V_MUL(V_LD(x + *offset), V_SET(wy[l])));
            line = V_MUL(line, V_SET(wx[k]));
            sum = k ? V_ADD(sum, line) : line;
        }
        V_ST((T *)to + at, sum);
    }
}
#endif
