/* pool_type.inl - the maxima of a row of windows, for one type. */

/* Every second element of two vectors. */
#if TNI_ISA == 1 && defined(TNI_TYPE_F32)
#define POOL_EVEN(a, b) \
    _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88)), 0xd8))
#elif TNI_ISA == 1
#define POOL_EVEN(a, b) _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), 0xd8)
#elif TNI_ISA == 2 && defined(TNI_TYPE_F32)
#define POOL_EVEN(a, b)     \
    _mm512_permutex2var_ps( \
        a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b)
#elif TNI_ISA == 2
#define POOL_EVEN(a, b) _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b)
#endif

/* One tap of up to TNI_POOL_BLOCK windows: its elements are gathered first. */
static void TNI_FNT(pool_apart)(T *to, const T *at, int64_t step, int64_t n) {
    T part[TNI_POOL_BLOCK];
    int64_t i = 0;
    for (const T *from = at; i + 4 <= n; i += 4, from += 4 * step) {
        const T *next = from + 2 * step;
        part[i] = from[0];
        part[i + 1] = from[step];
        part[i + 2] = next[0];
        part[i + 3] = next[step];
    }
    for (; i < n; i++) part[i] = at[i * step];
    for (i = 0; i < n; i += W) {
        const int64_t m = n - i < W ? n - i : W;
        V_STN(to + i, V_MAXIMUM(V_LDN(part + i, m), V_LDN(to + i, m)), m);
    }
}
static void TNI_FNT(max_pool_row)(void *to, const void *from, const tni_pool_row *r) {
    const T *at = (const T *)from;
    T *best = (T *)to;
    const int64_t n = r->n, apart = r->apart;
    const V least = V_SET(-INFINITY);
    int64_t i = 0;
    for (; r->step == 1 && i + W <= n; i += W) {
        V v = r->fresh ? least : V_LD(best + i);
        for (int64_t c = 0; c < r->taps; c++) v = V_MAXIMUM(V_LD(at + i + c * apart), v);
        V_ST(best + i, v);
    }
#ifdef POOL_EVEN
    for (; r->step == 2 && i + W < n; i += W) { /* one more follows, so all that is read is there */
        V v = r->fresh ? least : V_LD(best + i);
        for (int64_t c = 0; c < r->taps; c++) {
            const T *x = at + 2 * i + c * apart;
            v = V_MAXIMUM(POOL_EVEN(V_LD(x), V_LD(x + W)), v);
        }
        V_ST(best + i, v);
    }
#undef POOL_EVEN
#endif
    for (; i < n; i += TNI_POOL_BLOCK) {
        const int64_t m = n - i < TNI_POOL_BLOCK ? n - i : (int64_t)TNI_POOL_BLOCK;
        for (int64_t k = 0; r->fresh && k < m; k += W)
            V_STN(best + i + k, least, m - k < W ? m - k : W);
        for (int64_t c = 0; c < r->taps; c++)
            TNI_FNT(pool_apart)(best + i, at + i * r->step + c * apart, r->step, m);
    }
}
