/* pool.inl - 2 x 2 windows of float; with AVX2, eight at a time: even and odd columns are parted
 * by shuffles. */
#if TNI_ISA == 1
/* columns 0 2 4 ... or 1 3 5 ... of a, b: shuffled within halves, then quarters put in order */
static __m256 TNI_FN(pool_part)(__m256 a, __m256 b, int odd) {
    const __m256 s = odd ? _mm256_shuffle_ps(a, b, 0xdd) : _mm256_shuffle_ps(a, b, 0x88);
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(s), 0xd8));
}
/* n <= 8 windows from 2 n columns; `to` and `index` have room for 8. The places 0 1 / 2 3 of a
 * window are compared in order, and a later one wins if it is larger or NaN. */
static void TNI_FN(pool_eight)(const float *upper, const float *lower, int64_t n, float *to,
                               uint8_t *index) {
    const __m256i first = tni_avx2_mask32(n > 4 ? 8 : 2 * n),
                  second = tni_avx2_mask32(n > 4 ? 2 * n - 8 : 0);
    const __m256 a = _mm256_maskload_ps(upper, first), b = _mm256_maskload_ps(upper + 8, second);
    const __m256 c = _mm256_maskload_ps(lower, first), d = _mm256_maskload_ps(lower + 8, second);
    const __m256 v[3] = {TNI_FN(pool_part)(a, b, 1), TNI_FN(pool_part)(c, d, 0),
                         TNI_FN(pool_part)(c, d, 1)};
    __m256 best = TNI_FN(pool_part)(a, b, 0);
    __m256i at = _mm256_setzero_si256();
    for (int k = 0; k < 3; k++) {
        const __m256 m = _mm256_or_ps(_mm256_cmp_ps(v[k], best, _CMP_GT_OQ),
                                      _mm256_cmp_ps(v[k], v[k], _CMP_UNORD_Q));
        best = _mm256_blendv_ps(best, v[k], m);
        at = _mm256_blendv_epi8(at, _mm256_set1_epi32(k + 1), _mm256_castps_si256(m));
    }
    _mm256_storeu_ps(to, best);
    const __m128i h = _mm_packs_epi32(_mm256_castsi256_si128(at), _mm256_extracti128_si256(at, 1));
    _mm_storel_epi64((__m128i *)(void *)index, _mm_packs_epi16(h, h));
}
static void TNI_FN(max_pool_pairs)(const float *upper, const float *lower, int64_t n, float *to,
                                   uint8_t *index) {
    for (int64_t i = 0; i < n; i += 8) {
        const int64_t left = n - i < 8 ? n - i : 8;
        float value[8];
        uint8_t at[8];
        TNI_FN(pool_eight)(upper + 2 * i, lower + 2 * i, left, value, at);
        memcpy(to + i, value, (size_t)left * sizeof *value);
        if (index) memcpy(index + i, at, (size_t)left);
    }
}
static void TNI_FN(max_pool_pairs_grad)(const float *grad, const uint8_t *index, int64_t n,
                                        float *upper, float *lower) {
    for (int64_t i = 0; i < n; i += 8) {
        const int64_t left = n - i < 8 ? n - i : 8;
        uint8_t at[8] = {0};
        float value[2][16];
        memcpy(at, index + i, (size_t)left);
        const __m256i place =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)at));
        const __m256 g = _mm256_maskload_ps(grad + i, tni_avx2_mask32(left));
        for (int k = 0; k < 2; k++) {
            const __m256 v = _mm256_and_ps(
                g, _mm256_castsi256_ps(_mm256_cmpeq_epi32(place, _mm256_set1_epi32(2 * k))));
            const __m256 w = _mm256_and_ps(
                g, _mm256_castsi256_ps(_mm256_cmpeq_epi32(place, _mm256_set1_epi32(2 * k + 1))));
            const __m256 x = _mm256_unpacklo_ps(v, w), y = _mm256_unpackhi_ps(v, w);
            _mm256_storeu_ps(value[k], _mm256_permute2f128_ps(x, y, 0x20));
            _mm256_storeu_ps(value[k] + 8, _mm256_permute2f128_ps(x, y, 0x31));
        }
        memcpy(upper + 2 * i, value[0], (size_t)left * 2 * sizeof(float));
        memcpy(lower + 2 * i, value[1], (size_t)left * 2 * sizeof(float));
    }
}
#elif TNI_ISA != 2 /* conv.inl says what AVX-512 takes from AVX2 */
static void TNI_FN(max_pool_pairs)(const float *upper, const float *lower, int64_t n, float *to,
                                   uint8_t *index) {
    for (int64_t i = 0; i < n; i++) {
        const float v[3] = {upper[2 * i + 1], lower[2 * i], lower[2 * i + 1]};
        float best = upper[2 * i];
        int at = 0;
        for (int k = 0; k < 3; k++)
            if (v[k] > best || v[k] != v[k]) {
                best = v[k];
                at = k + 1;
            }
        to[i] = best;
        if (index) index[i] = (uint8_t)at;
    }
}
static void TNI_FN(max_pool_pairs_grad)(const float *grad, const uint8_t *index, int64_t n,
                                        float *upper, float *lower) {
    for (int64_t i = 0; i < n; i++) {
        upper[2 * i] = index[i] == 0 ? grad[i] : 0;
        upper[2 * i + 1] = index[i] == 1 ? grad[i] : 0;
        lower[2 * i] = index[i] == 2 ? grad[i] : 0;
        lower[2 * i + 1] = index[i] == 3 ? grad[i] : 0;
    }
}
#endif
