/* random.cu - random numbers, permutations, elements chosen by chance.
 *
 * Element i of a result takes word i of its draw, or two of them from 2 i on; the place in memory
 * counts, so neither strides nor the launch change what is drawn. A thread makes four words and the
 * two or four elements that need them.
 *
 * Where the CPU's bits count (tnc_exact) the host draws as the CPU does, and what it has drawn is
 * copied up, so that a training gives the same losses on both. */
#include "families.cuh"
#include "elements.cuh"
#include "here.cuh"
#include "memory.cuh"
#include "places.cuh"
#include "random.cuh"
#include "../api/extend.h"

#include <new>

/* --- by words --------------------------------------------------------------------------------- */

/* The elements of one draw, one after another in memory. */
struct tnc_drawing {
    tn_draw draw;
    char *to;
    int64_t n;
    int32_t dtype, bytes;
    bool whole;  /* elements of the type that is made, 16-byte aligned */
    double a, b; /* bounds; mean and standard deviation; or a factor */
    int64_t low;
    uint64_t range; /* of integers; or the bound of what happens */
};

/* What is made of four words: `each` values v. */
struct tnc_uniform_f32 {
    enum { each = 4 };
    typedef float V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        const float from = (float)d.a, to = (float)d.b;
        /* What rounding has brought to the upper bound becomes the lower one. */
        const float low = tnc_through(from, d.dtype), high = tnc_through(to, d.dtype);
        for (int k = 0; k < each; k++) {
            v[k] = fmaf(tnc_u24(word[k]), to - from, from);
            if (v[k] == to) v[k] = from;
            v[k] = tnc_through(v[k], d.dtype);
            if (d.dtype != TN_F32 && v[k] == high) v[k] = low;
        }
    }
};
struct tnc_uniform_f64 {
    enum { each = 2 };
    typedef double V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++) {
            v[k] = fma(tnc_u53(word + 2 * k), d.b - d.a, d.a);
            if (v[k] == d.b) v[k] = d.a;
        }
    }
};
/* Two neighbours are a pair of Box and Muller's. */
struct tnc_normal_f32 {
    enum { each = 4 };
    typedef float V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k += 2)
            tni_normal_pair_f32_cuda(tnc_u24(word[k]), tnc_u24(word[k + 1]), (float)d.b, (float)d.a,
                                     &v[k], &v[k + 1]);
    }
};
struct tnc_normal_f64 {
    enum { each = 2 };
    typedef double V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        tni_normal_pair_f64_cuda(tnc_u53(word), tnc_u53(word + 2), false, &v[0], &v[1]);
        for (int k = 0; k < each; k++) v[k] = fma(v[k], d.b, d.a);
    }
};
struct tnc_exponential {
    enum { each = 2 };
    typedef double V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++) v[k] = tni_exponential_f64_cuda(tnc_u53(word + 2 * k)) * d.a;
    }
};
struct tnc_integers_32 {
    enum { each = 4 };
    typedef int64_t V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++)
            v[k] = (int64_t)((uint64_t)(word[k] % (uint32_t)d.range) + (uint64_t)d.low);
    }
};
struct tnc_integers_64 {
    enum { each = 2 };
    typedef int64_t V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++)
            v[k] = (int64_t)(tnc_wide(word + 2 * k) % d.range + (uint64_t)d.low);
    }
};
TNC_FN bool tnc_happens(const uint32_t *word, uint64_t below) {
    return (tnc_wide(word) & 0x1fffffffffffffu) < below;
}
struct tnc_chance {
    enum { each = 2 };
    typedef int64_t V;
    TNC_FN void make(const tnc_drawing &d, const uint32_t *word, V *v) {
        for (int k = 0; k < each; k++) v[k] = tnc_happens(word + 2 * k, d.range);
    }
};

template <class Make>
__global__ void __launch_bounds__(TNC_THREADS) tnc_draw_kernel(tnc_drawing d) {
    typedef typename Make::V V;
    enum { each = Make::each };
    for (int64_t i = TNC_FIRST(); i * each < d.n; i += TNC_STEP()) {
        uint32_t word[4];
        V v[each];
        char *to = d.to + i * each * d.bytes;
        tnc_philox(d.draw, (uint64_t)i, word);
        Make::make(d, word, v);
        if (d.whole && (i + 1) * each <= d.n) {
            enum { N = 16 / sizeof(V) };
            for (int k = 0; k < each; k += N) {
                tnc_pack<V, N> pack;
                for (int j = 0; j < N; j++) pack.e[j] = v[k + j];
                ((tnc_pack<V, N> *)to)[k / N] = pack;
            }
            continue;
        }
        for (int k = 0; k < each; k++)
            if (i * each + k < d.n) tnc_store_real(to + k * d.bytes, d.dtype, v[k]);
    }
}

static bool random_is(float, int dtype) { return dtype == TN_F32; }
static bool random_is(double, int dtype) { return dtype == TN_F64; }
static bool random_is(int64_t, int dtype) { return dtype == TN_I64; }

template <class Make>
static void random_go(const tn_frame *f, tnc_drawing *d) {
    const tn_operand out = tn_operand_of(f->out[0]);
    if (!out.numel) return;
    d->draw = tn_draw_next(f);
    const bool parts = out.dtype == TN_C64 || out.dtype == TN_C128; /* two floats each */
    d->to = out.at;
    d->n = parts ? out.numel * 2 : out.numel;
    d->dtype = out.dtype == TN_C64 ? (int)TN_F32 : out.dtype == TN_C128 ? (int)TN_F64 : out.dtype;
    d->bytes = parts ? out.bytes / 2 : out.bytes;
    d->whole = random_is(typename Make::V(), d->dtype) && (uintptr_t)out.at % 16 == 0;
    TNC_LAUNCH_PLAIN((tnc_draw_kernel<Make>),
                     tnc_blocks((d->n + Make::each - 1) / Make::each, TNC_THREADS), TNC_THREADS,
                     tnc_stream(f), *d);
}

static bool random_in_doubles(const tn_frame *f) {
    return tn_dtype_of(f->out[0]) == TN_F64 || tn_dtype_of(f->out[0]) == TN_C128;
}
static void random_uniform_in(const tn_frame *f, double from, double to) {
    tnc_drawing d = {};
    d.a = from;
    d.b = to;
    if (random_in_doubles(f))
        random_go<tnc_uniform_f64>(f, &d);
    else
        random_go<tnc_uniform_f32>(f, &d);
}
static void random_normal_of(const tn_frame *f, double mean, double std) {
    tnc_drawing d = {};
    d.a = mean;
    d.b = std;
    if (tn_dtype_of(f->out[0]) == TN_C64 || tn_dtype_of(f->out[0]) == TN_C128) d.b /= sqrt(2.0);
    if (random_in_doubles(f))
        random_go<tnc_normal_f64>(f, &d);
    else
        random_go<tnc_normal_f32>(f, &d);
}
static void random_rand(tn_frame *f) { random_uniform_in(f, 0, 1); }
static void random_randn(tn_frame *f) { random_normal_of(f, 0, 1); }
static void random_uniform(tn_frame *f) {
    TN_ARGS(uniform, a, f);
    random_uniform_in(f, a->from, a->to);
}
static void random_normal(tn_frame *f) {
    TN_ARGS(normal, a, f);
    random_normal_of(f, a->mean, a->std);
}
static void random_exponential(tn_frame *f) {
    TN_ARGS(exponential, a, f);
    tnc_drawing d = {};
    d.a = 1 / a->lambd;
    random_go<tnc_exponential>(f, &d);
}
static void random_integers(tn_frame *f) {
    tn_integers_plan p;
    tnc_drawing d = {};
    tn_integers_plan_of(&p, f);
    d.low = p.low;
    d.range = p.range;
    if (p.wide)
        random_go<tnc_integers_64>(f, &d);
    else
        random_go<tnc_integers_32>(f, &d);
}
static void random_chance(tn_frame *f) {
    tn_chance_plan p;
    tnc_drawing d = {};
    tn_chance_plan_of(&p, f);
    d.range = p.below;
    random_go<tnc_chance>(f, &d);
}

/* --- bernoulli: probabilities are elements ---------------------------------------------------- */

/* Elements count row-major. Strides in bytes. */
struct tnc_bernoulli {
    tn_draw draw;
    const char *p;
    char *to;
    uint32_t *bad; /* for the check */
    int64_t n;
    int32_t ndim, dtype;
    int64_t size[TN_MAX_DIMS], from_step[TN_MAX_DIMS], to_step[TN_MAX_DIMS];
};

template <int each>
__global__ void __launch_bounds__(TNC_THREADS) tnc_bernoulli_kernel(tnc_bernoulli a) {
    for (int64_t i = TNC_FIRST(); i * each < a.n; i += TNC_STEP()) {
        uint32_t word[4];
        tnc_philox(a.draw, (uint64_t)i, word);
        for (int k = 0; k < each && i * each + k < a.n; k++) {
            const double u = each == 2 ? tnc_u53(word + 2 * k % 4) : (double)tnc_u24(word[k]);
            int64_t rest = i * each + k, from = 0, to = 0;
            for (int d = a.ndim - 1; d >= 0; d--) {
                from += rest % a.size[d] * a.from_step[d];
                to += rest % a.size[d] * a.to_step[d];
                rest /= a.size[d];
            }
            tnc_store_real(a.to + to, a.dtype,
                           (int64_t)(u < tnc_load_real<double>(a.p + from, a.dtype)));
        }
    }
}

/* Any thread that finds what is no probability says so. */
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_bernoulli_check(tnc_walk<1> w, int dtype, uint32_t *bad) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[1];
        tnc_walk_to(w, (uint32_t)i, at);
        const double v = tnc_load_real<double>(w.at[0] + at[0], dtype);
        if (!(v >= 0 && v <= 1)) *bad = 1;
    }
}

static void random_bernoulli(tn_frame *f) {
    const tn_operand p = tn_operand_of(f->in[0]), out = tn_operand_of(f->out[0]);
    cudaStream_t s = tnc_stream(f);
    tnc_bernoulli a;
    if (!out.numel) return;
    memset(&a, 0, sizeof a);
    a.draw = tn_draw_next(f);
    a.p = p.at;
    a.to = out.at;
    a.n = out.numel;
    a.ndim = out.ndim;
    a.dtype = out.dtype;
    for (int d = 0; d < out.ndim; d++) {
        a.size[d] = out.size[d];
        a.from_step[d] = p.stride[d] * p.bytes;
        a.to_step[d] = out.stride[d] * out.bytes;
    }
    if (a.dtype == TN_F64)
        TNC_LAUNCH_PLAIN((tnc_bernoulli_kernel<2>), tnc_blocks((a.n + 1) / 2, TNC_THREADS),
                         TNC_THREADS, s, a);
    else
        TNC_LAUNCH_PLAIN((tnc_bernoulli_kernel<4>), tnc_blocks((a.n + 3) / 4, TNC_THREADS),
                         TNC_THREADS, s, a);
}

/* --- dropout ---------------------------------------------------------------------------------- */

struct tnc_dropout {
    tnc_walk<2> walk; /* the result, the input; element i of the result lies at i */
    tn_draw draw;
    int64_t begin; /* number of the walk's first element */
    uint64_t below;
    const uint8_t *drawn; /* NULL: by words */
    uint8_t *kept;        /* NULL: nobody asks */
    double scale;
    int32_t dtype;
};

/* What is not kept is multiplied by 0, which keeps its sign and NaN. */
template <class V>
TNC_FN void tnc_dropout_one(const tnc_dropout &a, char *to, const char *from, bool keep) {
    const V scale = keep ? (V)a.scale : 0;
    if (a.dtype == TN_C64) {
        tnc_put<float>(to, tnc_get<float>(from) * (float)scale);
        tnc_put<float>(to + 4, tnc_get<float>(from + 4) * (float)scale);
    } else if (a.dtype == TN_C128) {
        tnc_put<double>(to, tnc_get<double>(from) * (double)scale);
        tnc_put<double>(to + 8, tnc_get<double>(from + 8) * (double)scale);
    } else {
        tnc_store_real(to, a.dtype, (V)(tnc_load_real<V>(from, a.dtype) * scale));
    }
}

/* A thread has two neighbours of the result, whose words are made together. */
template <class V>
__global__ void __launch_bounds__(TNC_THREADS) tnc_dropout_kernel(tnc_dropout a) {
    const int64_t odd = a.begin % 2; /* the walk begins with the second of two */
    for (int64_t i = TNC_FIRST(); i * 2 - odd < a.walk.n; i += TNC_STEP()) {
        uint32_t word[4] = {0, 0, 0, 0};
        if (!a.drawn && a.below) tnc_philox(a.draw, (uint64_t)(a.begin / 2 + i), word);
        for (int k = 0; k < 2; k++) {
            const int64_t e = i * 2 + k - odd;
            if (e < 0 || e >= a.walk.n) continue;
            const bool keep =
                a.drawn ? a.drawn[a.begin + e] != 0 : tnc_happens(word + 2 * k, a.below);
            int64_t at[2];
            tnc_walk_to(a.walk, (uint32_t)e, at);
            tnc_dropout_one<V>(a, a.walk.at[0] + at[0], a.walk.at[1] + at[1], keep);
            if (a.kept && a.kept != a.drawn) a.kept[a.begin + e] = keep;
        }
    }
}

/* drawn: bytes of the device; NULL: by words. */
static void random_dropout_by(tn_frame *f, const tn_chance_plan &c, const uint8_t *drawn) {
    const tn_operand out = tn_operand_of(f->out[0]);
    tn_tensor *both[2] = {f->out[0], f->in[0]};
    cudaStream_t s = tnc_stream(f);
    tnc_dropout a;
    tn_walk_plan p;
    memset(&a, 0, sizeof a);
    if (!drawn && !c.none) a.draw = tn_draw_next(f);
    a.below = c.none ? 0 : c.below;
    a.drawn = drawn;
    a.kept = f->nout > 1 && f->out[1] ? (uint8_t *)tn_device_data(f->out[1]) : NULL;
    a.scale = c.scale;
    a.dtype = out.dtype;
    tn_walk_plan_of(&p, both, 2);
    tnc_walk_pieces<2>(p, [&](const tnc_walk<2> &w) {
        const unsigned blocks = tnc_blocks(w.n / 2 + 1, TNC_THREADS);
        a.walk = w;
        a.begin = (w.at[0] - out.at) / out.bytes;
        if (a.dtype == TN_F64 || a.dtype == TN_C128)
            TNC_LAUNCH_PLAIN((tnc_dropout_kernel<double>), blocks, TNC_THREADS, s, a);
        else
            TNC_LAUNCH_PLAIN((tnc_dropout_kernel<float>), blocks, TNC_THREADS, s, a);
    });
}

/* The result is a view of the input, or in place perhaps a copy. */
static void random_pass(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    if (f->inplace && out.numel && out.at != tn_operand_of(f->in[0]).at)
        f->row->run(f); /* is a copy of a whole tensor */
}
static void random_dropout(tn_frame *f) {
    tn_chance_plan c;
    tn_chance_plan_of(&c, f);
    if (c.idle)
        random_pass(f);
    else
        random_dropout_by(f, c, NULL);
}

/* --- permutations ----------------------------------------------------------------------------- */

/* The numbers are sorted by random keys of 64 bits, equal ones by the numbers: a bitonic network
 * (K. Batcher, 1968) over the next power of two, of which a block does the steps within
 * RANDOM_SORT. */
enum { RANDOM_SORT = 1024 };
struct tnc_key {
    uint64_t key;
    int64_t i;
};
TNC_FN bool tnc_key_less(const tnc_key &a, const tnc_key &b) {
    return a.key != b.key ? a.key < b.key : a.i < b.i;
}
TNC_FN void tnc_key_step(tnc_key *a, tnc_key *b, bool up) {
    if (tnc_key_less(*b, *a) == up) {
        const tnc_key c = *a;
        *a = *b;
        *b = c;
    }
}
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_key_make(tnc_key *to, int64_t n, int64_t all, tn_draw draw) {
    for (int64_t i = TNC_FIRST(); i * 2 < all; i += TNC_STEP()) {
        uint32_t word[4];
        tnc_philox(draw, (uint64_t)i, word);
        for (int k = 0; k < 2 && i * 2 + k < all; k++) {
            to[i * 2 + k].key = i * 2 + k < n ? tnc_wide(word + 2 * k) : ~(uint64_t)0;
            to[i * 2 + k].i = i * 2 + k; /* those behind n are the last of their key */
        }
    }
}
/* One step over all: pairs `apart`, runs of `run` that rise and fall by turns. */
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_key_far(tnc_key *at, int64_t all, int64_t run, int64_t apart) {
    for (int64_t j = TNC_FIRST(); j < all / 2; j += TNC_STEP()) {
        const int64_t i = j / apart * apart * 2 + j % apart;
        tnc_key_step(at + i, at + i + apart, (i & run) == 0);
    }
}
/* Steps within RANDOM_SORT elements: for runs from `first` to `last`. */
__global__ void __launch_bounds__(RANDOM_SORT / 2)
    tnc_key_near(tnc_key *at, int64_t all, int64_t first, int64_t last) {
    TNC_SHARED(tnc_key, held, RANDOM_SORT);
    const int n = (int)(all < RANDOM_SORT ? all : (int64_t)RANDOM_SORT), t = (int)threadIdx.x;
    for (int64_t begin = (int64_t)blockIdx.x * RANDOM_SORT; begin < all;
         begin += (int64_t)gridDim.x * RANDOM_SORT) {
        for (int i = t; i < n; i += RANDOM_SORT / 2) held[i] = at[begin + i];
        __syncthreads();
        for (int64_t run = first; run <= last; run *= 2)
            for (int apart = (int)(run / 2 < n / 2 ? run / 2 : (int64_t)(n / 2)); apart;
                 apart /= 2) {
                const int i = t / apart * apart * 2 + t % apart;
                if (t < n / 2) tnc_key_step(held + i, held + i + apart, ((begin + i) & run) == 0);
                __syncthreads();
            }
        for (int i = t; i < n; i += RANDOM_SORT / 2) at[begin + i] = held[i];
        __syncthreads();
    }
}
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_key_take(char *to, const tnc_key *from, int64_t n, int dtype, int bytes) {
    for (int64_t i = TNC_FIRST(); i < n; i += TNC_STEP())
        tnc_store_real(to + i * bytes, dtype, from[i].i);
}

static int64_t random_power(int64_t n) {
    int64_t all = 1;
    while (all < n) all *= 2;
    return all;
}
static bool random_permute_prepare(tn_frame *f) {
    const int64_t n = tn_operand_of(f->out[0]).numel;
    if (n >= (int64_t)1 << 56)
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return !n || tn_device_scratch(f, random_power(n) * (int64_t)sizeof(tnc_key)) != NULL;
}
static void random_permute(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    const int64_t n = out.numel, all = random_power(n);
    tnc_key *at = (tnc_key *)f->scratch;
    cudaStream_t s = tnc_stream(f);
    const unsigned near = tnc_blocks(all, RANDOM_SORT);
    if (!n) return;
    TNC_LAUNCH_PLAIN((tnc_key_make), tnc_blocks((all + 1) / 2, TNC_THREADS), TNC_THREADS, s, at, n,
                     all, tn_draw_next(f));
    if (all > 1)
        TNC_LAUNCH((tnc_key_near), near, RANDOM_SORT / 2, s, at, all, (int64_t)2,
                   (int64_t)(all < RANDOM_SORT ? all : (int64_t)RANDOM_SORT));
    for (int64_t run = RANDOM_SORT * 2; run <= all; run *= 2) {
        for (int64_t apart = run / 2; apart > RANDOM_SORT / 2; apart /= 2)
            TNC_LAUNCH_PLAIN((tnc_key_far), tnc_blocks(all / 2, TNC_THREADS), TNC_THREADS, s, at,
                             all, run, apart);
        TNC_LAUNCH((tnc_key_near), near, RANDOM_SORT / 2, s, at, all, run, run);
    }
    TNC_LAUNCH_PLAIN((tnc_key_take), tnc_blocks(n, TNC_THREADS), TNC_THREADS, s, out.at, at, n,
                     (int)out.dtype, (int)out.bytes);
}

/* --- drawn by the host ------------------------------------------------------------------------ */

typedef struct random_note {
    tn_tensor *host; /* what was drawn, on its way up */
    uint8_t *drawn;
} random_note;

/* The row's own run on memory of the host, which reads the first n inputs. */
static bool random_draw_from(tn_frame *f, int n) {
    tn_tensor *out = f->out[0], *host;
    tnc_here inputs;
    TN_NOTE(random_note, note, f);
    note->host = NULL;
    if (!tn_operand_of(out).numel) return true;
    if (!tnc_here_begin(f, &inputs, (1u << n) - 1)) return false;
    host = tnc_here_like(f, out);
    if (host) {
        f->out[0] = host;
        f->row->run(f);
        f->out[0] = out;
        note->host = host;
    }
    tnc_here_end(f, &inputs);
    return host != NULL;
}
/* Asks nothing of the device. */
static bool random_draw_here(tn_frame *f) { return random_draw_from(f, 0); }
static bool random_read_here(tn_frame *f) { return random_draw_from(f, f->nin); }
static bool random_look_here(tn_frame *f) { return tnc_here_look(f, ~0u); }
/* The driver has read the host's memory when an upward copy returns. */
static void random_up(tn_frame *f) {
    const tn_operand out = tn_operand_of(f->out[0]);
    TN_NOTE(random_note, note, f);
    if (!note->host) return;
    cudaMemcpyAsync(out.at, tn_data(note->host), (size_t)(out.numel * out.bytes),
                    cudaMemcpyHostToDevice, tnc_stream(f));
    tnc_asked();
    tn_free_at(NULL, 0, note->host);
}

/* Whether all are probabilities; the error is the row's own look's, on a copy. */
static bool random_bernoulli_look(tn_frame *f) {
    const int32_t device = tn_frame_device(f);
    const tn_operand p = tn_operand_of(f->in[0]);
    cudaStream_t s = tnc_stream(f);
    uint32_t bad = 0, *flag;
    tn_walk_plan w;
    bool ok;
    if (!p.numel) return true;
    flag = (uint32_t *)tnc_alloc_for(f, sizeof *flag);
    if (!flag) return false;
    cudaMemsetAsync(flag, 0, sizeof *flag, s);
    tnc_asked();
    tn_walk_plan_of(&w, f->in, 1);
    tnc_walk_pieces<1>(w, [=](const tnc_walk<1> &piece) {
        TNC_LAUNCH_PLAIN((tnc_bernoulli_check), tnc_blocks(piece.n, TNC_THREADS), TNC_THREADS, s,
                         piece, (int)p.dtype, flag);
    });
    ok = tnc_look_at(f, &bad, flag, sizeof bad);
    tnc_free(device, flag);
    return ok && (!bad || tnc_here_look(f, ~0u));
}

/* dropout: only what is kept is drawn here. */
static bool random_dropout_here(tn_frame *f) {
    const int64_t n = tn_operand_of(f->out[0]).numel;
    tn_chance_plan c;
    TN_NOTE(random_note, note, f);
    tn_chance_plan_of(&c, f);
    note->drawn = NULL;
    if (c.idle || c.none) return true;
    if (!(f->nout > 1 && f->out[1]) && !tn_device_scratch(f, n)) return false;
    note->drawn = new (std::nothrow) uint8_t[(size_t)n];
    if (!note->drawn)
        return tn_fail(f, TN_MEMORY, "no memory of the host for %lld bytes", (long long)n);
    for (int64_t i = 0; i < n; i++)
        note->drawn[i] = (tn_random64(f->generator) & 0x1fffffffffffffu) < c.below;
    return true;
}
static void random_dropout_up(tn_frame *f) {
    const int64_t n = tn_operand_of(f->out[0]).numel;
    uint8_t *to = (uint8_t *)(f->nout > 1 && f->out[1] ? tn_device_data(f->out[1]) : f->scratch);
    tn_chance_plan c;
    TN_NOTE(random_note, note, f);
    tn_chance_plan_of(&c, f);
    if (!note->drawn) {
        if (c.idle)
            random_pass(f);
        else
            random_dropout_by(f, c, NULL);
        return;
    }
    cudaMemcpyAsync(to, note->drawn, (size_t)n, cudaMemcpyHostToDevice, tnc_stream(f));
    tnc_asked();
    delete[] note->drawn;
    random_dropout_by(f, c, to);
}

/* --- the tables ------------------------------------------------------------------------------- */

#define RANDOM_HERE(name) \
    { #name, false, NULL, random_draw_here, random_up }
/* Rows that draw until a number is accepted, or one number after another by a rule of the host's,
 * are drawn by it in any case. */
#define RANDOM_DRAWN                                                       \
    RANDOM_HERE(cauchy), RANDOM_HERE(geometric), RANDOM_HERE(log_normal),  \
        {"rrelu_noise", true, NULL, random_read_here, random_up},          \
        {"poisson", false, random_look_here, random_read_here, random_up}, \
        {"binomial", false, NULL, random_read_here, random_up},            \
        {"standard_gamma", false, NULL, random_read_here, random_up},      \
        {"sample_dirichlet", true, NULL, random_read_here, random_up}, {   \
        "multinomial", true, random_look_here, random_read_here, random_up \
    }
static const tn_device_row random_by_words[] = {
    {"rand", false, NULL, NULL, random_rand},
    {"rand_like", false, NULL, NULL, random_rand},
    {"uniform", false, NULL, NULL, random_uniform},
    {"randn", false, NULL, NULL, random_randn},
    {"randn_like", false, NULL, NULL, random_randn},
    {"normal", false, NULL, NULL, random_normal},
    {"exponential", false, NULL, NULL, random_exponential},
    {"random", false, NULL, NULL, random_integers},
    {"randint", false, NULL, NULL, random_integers},
    {"randint_low", false, NULL, NULL, random_integers},
    {"bernoulli_float", false, NULL, NULL, random_chance},
    {"bernoulli", false, random_bernoulli_look, NULL, random_bernoulli},
    {"dropout", false, NULL, NULL, random_dropout},
    {"randperm", false, NULL, random_permute_prepare, random_permute},
    RANDOM_DRAWN};
static const tn_device_row random_by_host[] = {
    RANDOM_HERE(rand),
    RANDOM_HERE(rand_like),
    RANDOM_HERE(uniform),
    RANDOM_HERE(randn),
    RANDOM_HERE(randn_like),
    RANDOM_HERE(normal),
    RANDOM_HERE(exponential),
    RANDOM_HERE(random),
    RANDOM_HERE(randint),
    RANDOM_HERE(randint_low),
    RANDOM_HERE(bernoulli_float),
    {"bernoulli", false, random_bernoulli_look, random_read_here, random_up},
    {"dropout", false, NULL, random_dropout_here, random_dropout_up},
    {"randperm", true, NULL, random_draw_here, random_up},
    RANDOM_DRAWN};
#undef RANDOM_DRAWN
#undef RANDOM_HERE
static_assert(sizeof random_by_words == sizeof random_by_host, "the same rows, two ways");

TNC_PRIV const tn_device_row *tnc_random_rows(int *count) {
    *count = (int)(sizeof random_by_words / sizeof *random_by_words);
    return tnc_exact() ? random_by_host : random_by_words;
}
