/* generator.c - random streams: MT19937 word for word as torch's CPU generator has it, and Philox.
 *
 * M. Matsumoto, T. Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998 (mt19937ar: initialisation
 * by 1812433253). J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011
 * (Philox4x32-10). How words become numbers is decided by the operators that draw (random.c). */
#include "tensor.h"

enum {
    MT_WORDS = 624,
    MT_MIDDLE = 397,
    MT_FRESH = MT_WORDS + 1 /* seeded, nothing drawn: torch's state bytes tell it from MT_WORDS */
};

/* The recurrence of MT19937: the upper bit of one word and the lower bits of the next, times
 * the matrix A. */
static uint32_t mt_mix(uint32_t high, uint32_t low) {
    uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (y >> 1) ^ ((0u - (low & 1u)) & 0x9908b0dfu);
}

/* The next 624 words in place. Loops of fixed lengths, which compilers vectorise: word i
 * reads i + 1, not written yet, and i + 397 (not written yet) or i - 227 (new, farther away
 * than a vector). */
static void mt_twist(uint32_t *m) {
    enum { SPLIT = MT_WORDS - MT_MIDDLE, WHOLE = SPLIT / 16 * 16 };
    int i;
    for (i = 0; i < WHOLE; i++) m[i] = m[i + MT_MIDDLE] ^ mt_mix(m[i], m[i + 1]);
    for (i = WHOLE; i < SPLIT; i++) m[i] = m[i + MT_MIDDLE] ^ mt_mix(m[i], m[i + 1]);
    for (i = SPLIT; i < MT_WORDS - 1; i++) m[i] = m[i - SPLIT] ^ mt_mix(m[i], m[i + 1]);
    m[MT_WORDS - 1] = m[MT_MIDDLE - 1] ^ mt_mix(m[MT_WORDS - 1], m[0]);
}

/* Tempering of MT19937. */
static uint32_t mt_temper(uint32_t y) {
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* Sixteen words at a time, for compilers to vectorise. */
static void mt_temper_all(const uint32_t *TNI_RESTRICT from, uint32_t *TNI_RESTRICT to, int64_t n) {
    for (; n >= 16; n -= 16, from += 16, to += 16)
        for (int j = 0; j < 16; j++) to[j] = mt_temper(from[j]);
    for (int64_t j = 0; j < n; j++) to[j] = mt_temper(from[j]);
}

/* The low 32 bits choose the stream, as in torch; the whole seed is remembered. */
static void mt_seed(tn_generator *g, uint64_t seed) {
    g->seed = seed;
    g->mt[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < MT_WORDS; i++)
        g->mt[i] = 1812433253u * (g->mt[i - 1] ^ g->mt[i - 1] >> 30) + i;
    g->at = MT_FRESH;
    g->seeded = true;
    g->has_normal = false;
    g->draws = 0;
}

TN_PRIV uint32_t tni_random32(tn_generator *g) {
    if (g->at >= MT_WORDS) {
        mt_twist(g->mt);
        g->at = 0;
    }
    return mt_temper(g->mt[g->at++]);
}

TN_PRIV uint64_t tni_random64(tn_generator *g) {
    uint64_t high = tni_random32(g);
    return high << 32 | tni_random32(g);
}

/* The same words as n calls of tni_random32. */
TN_PRIV void tni_random_fill(tn_generator *g, uint32_t *to, int64_t n) {
    while (n > 0) {
        if (g->at >= MT_WORDS) {
            mt_twist(g->mt);
            g->at = 0;
        }
        int64_t now = MT_WORDS - g->at < n ? MT_WORDS - g->at : n;
        mt_temper_all(g->mt + g->at, to, now);
        g->at += (int32_t)now;
        to += now;
        n -= now;
    }
}

/* --- Philox4x32-10 ---------------------------------------------------------------------------- */

/* Four words of the stream `key` at counter (offset, subsequence): a function, no state. */
TN_PRIV void tni_philox(uint64_t key, uint64_t subsequence, uint64_t offset, uint32_t to[4]) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t c0 = (uint32_t)offset, c1 = (uint32_t)(offset >> 32);
    uint32_t c2 = (uint32_t)subsequence, c3 = (uint32_t)(subsequence >> 32);
    for (int round = 0; round < 10; round++) {
        /* A round: two multiplications whose halves are mixed, then the keys move on by the
         * constants of a Weyl sequence. */
        uint64_t a = (uint64_t)0xd2511f53u * c0, b = (uint64_t)0xcd9e8d57u * c2;
        /* High halves meet counter and key, low halves pass. */
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    to[0] = c0;
    to[1] = c1;
    to[2] = c2;
    to[3] = c3;
}

/* --- owning generators ------------------------------------------------------------------------ */

static tn_generator *generator_make(tni_block *b, uint64_t seed) {
    tn_generator *g = (tn_generator *)tni_need(b, (int64_t)sizeof(tn_generator));
    if (!g) return NULL;
    g->context = b->context;
    mt_seed(g, seed);
    return g;
}

static void generator_drop(tni_block *b, tn_generator *g) {
    tni_put(b, b, g, (int64_t)sizeof(tn_generator));
}

/* Two threads may make the context's at once. */
TN_PRIV tn_generator *tni_generator_default(tni_block *b) {
    if (TNI_UNLIKELY(tni_state(b)->generator != NULL)) return tni_state(b)->generator;
    tn_generator *g = tni_load(&tni_tensors(b->context)->generator);
    if (TNI_LIKELY(g != NULL)) return g;
    /* Who comes second drops its own and takes the first one's. */
    tn_generator *mine = generator_make(b, TNI_DEFAULT_SEED);
    if (!mine) return NULL;
    if (tni_swap_if(&tni_tensors(b->context)->generator, &g, mine)) return mine;
    generator_drop(b, mine);
    return g;
}

TN_API tn_generator *tn_default_generator(void) {
    tni_block *b = tni_here();
    return b ? tni_generator_default(b) : NULL;
}

TN_API tn_generator *tn_set_default_generator(tn_generator *generator) {
    tni_block *b = tni_here();
    tn_generator *before = b ? tni_state(b)->generator : NULL;
    if (!b) return NULL;
    if (generator && generator->context != b->context) {
        tni_error_apart(b, TN_INVALID,
                        "tn_set_default_generator: the generator belongs to another context");
        return before;
    }
    tni_state(b)->generator = generator;
    return before;
}

TN_API void tn_manual_seed(uint64_t seed) {
    tn_generator *g = tn_default_generator();
    if (g) mt_seed(g, seed);
}

TN_API tn_generator *tn_generator_new(uint64_t seed) {
    tni_block *b = tni_here();
    return b ? generator_make(b, seed) : NULL;
}

TN_API void tn_generator_free(tn_generator *generator) {
    tn_context *before;
    tni_block *b;
    if (!generator) return;
    before = tn_context_use(generator->context); /* memory goes back to where it came from */
    b = tni_here();
    if (b && tni_state(b)->generator == generator) tni_state(b)->generator = NULL;
    if (b && generator != tni_tensors(b->context)->generator) generator_drop(b, generator);
    tn_context_use(before);
}

TN_API void tn_generator_seed(tn_generator *generator, uint64_t seed) {
    if (generator) mt_seed(generator, seed);
}

/* --- torch's state bytes ---------------------------------------------------------------------- */

/* The layout of torch.get_rng_state(): CPUGeneratorImplState of ATen/CPUGeneratorImpl.cpp,
 * little-endian. `left` counts down to the next twist, `next` is the next word; words are stored in
 * 64 bits each. */
enum {
    STATE_SEED = 0,
    STATE_LEFT = 8,
    STATE_SEEDED = 12,
    STATE_NEXT = 16,
    STATE_WORDS = 24,
    STATE_DRAWS = STATE_WORDS + 8 * MT_WORDS, /* normal_x, which torch does not read */
    STATE_NORMAL = STATE_DRAWS + 8,           /* normal_y, in front of normal_rho */
    STATE_HAS_NORMAL = STATE_NORMAL + 16
};

static void state_put(uint8_t *to, uint64_t v, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t state_take(const uint8_t *from, int bytes) {
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)from[i] << 8 * i;
    return v;
}

TN_API void tn_generator_state(const tn_generator *generator, uint8_t state[TN_GENERATOR_BYTES]) {
    uint64_t bits = 0;
    memset(state, 0, TN_GENERATOR_BYTES);
    if (!generator) return;
    /* torch stores a freshly seeded engine as (left 1, next 0). */
    bool fresh = generator->at == MT_FRESH;
    state_put(state + STATE_SEED, generator->seed, 8);
    state_put(state + STATE_LEFT, fresh ? 1u : (uint64_t)(MT_WORDS + 1 - generator->at), 4);
    state_put(state + STATE_SEEDED, generator->seeded, 4);
    state_put(state + STATE_NEXT, fresh ? 0u : (uint64_t)generator->at, 8);
    for (int i = 0; i < MT_WORDS; i++) state_put(state + STATE_WORDS + 8 * i, generator->mt[i], 8);
    state_put(state + STATE_DRAWS, generator->draws, 8);
    if (generator->has_normal) memcpy(&bits, &generator->normal, 8);
    state_put(state + STATE_NORMAL, bits, 8);
    state_put(state + STATE_HAS_NORMAL, generator->has_normal, 4);
}

static bool state_refused(const char *what) {
    return tn_error_set(TN_FORMAT, NULL, 0, "the state is not that of a random generator: %s",
                        what);
}

TN_API bool tn_generator_set_state(tn_generator *generator,
                                   const uint8_t state[TN_GENERATOR_BYTES]) {
    uint64_t left, next, bits;
    if (!generator || !state)
        return tn_error_set(TN_INVALID, NULL, 0, "tn_generator_set_state: the %s is NULL",
                            generator ? "state" : "generator");
    /* All is read and checked before the generator changes. */
    left = state_take(state + STATE_LEFT, 4);
    next = state_take(state + STATE_NEXT, 8);
    if (state_take(state + STATE_SEEDED, 4) != 1) return state_refused("it was never seeded");
    /* next and left say the same thing twice; they must agree. */
    if (next > MT_WORDS || left < 1 || left > MT_WORDS)
        return state_refused("its position is out of range");
    if (next + left != MT_WORDS + 1 && !(next == 0 && left == 1))
        return state_refused("its position does not match its count of remaining words");
    for (int i = 0; i < MT_WORDS; i++)
        if (state_take(state + STATE_WORDS + 8 * i, 8) >> 32)
            return state_refused("a word has more than 32 bits");
    /* From here on nothing can fail. */
    generator->seed = state_take(state + STATE_SEED, 8);
    for (int i = 0; i < MT_WORDS; i++)
        generator->mt[i] = (uint32_t)state_take(state + STATE_WORDS + 8 * i, 8);
    generator->at = next == 0 ? MT_FRESH : (int32_t)next;
    generator->seeded = true;
    generator->draws = state_take(state + STATE_DRAWS, 8);
    generator->has_normal = state_take(state + STATE_HAS_NORMAL, 4) != 0;
    bits = state_take(state + STATE_NORMAL, 8);
    memcpy(&generator->normal, &bits, 8);
    return true;
}

TN_API uint64_t tn_random64(tn_generator *generator) {
    tni_block *b = tni_here();
    tn_generator *g = generator ? generator : b ? tni_generator_default(b) : NULL;
    return g ? tni_random64(g) : 0;
}
