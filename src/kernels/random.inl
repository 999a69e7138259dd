/* random.inl - uniform numbers with torch's bits; those of random_type.inl are made of them. */
static void TNI_FN(uniform_f32)(void *x, int64_t n, float from, float to) {
    char *at = (char *)x;
    float range = to - from;
    for (; n > 0; n -= 16, at += 64) {
        uint32_t word[16];
        float out[16];
        size_t bytes = n < 16 ? (size_t)n * 4 : 64;
        if (bytes < 64) memset(word, 0, sizeof word);
        memcpy(word, at, bytes);
        for (int i = 0; i < 16; i++) {
            float u = (float)(int32_t)(word[i] & 0xffffffu) * (1.0f / 16777216.0f);
            u = TNI_FMA_F32(u, range, from);
            out[i] = u == to ? from : u;
        }
        memcpy(at, out, bytes);
    }
}
