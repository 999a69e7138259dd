/* random.c - random numbers as torch draws them on the CPU: equal seeds give equal numbers.
 *
 * Elements are drawn in the order of memory. One thread draws the generator's words, which is
 * cheap; all threads convert them. Numbers equal torch's to the bit, except where torch calls libm
 * in double precision.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "../../call/arguments.h"
#include "../../cpu/lanes.h"
#include "../../cpu/walk.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"

enum {
    RANDOM_TILE = 4096,    /* elements that are converted at once, in a buffer on the stack */
    RANDOM_BLOCK = 1 << 16 /* elements between two polls of a loop over single ones */
};
TNI_INLINE bool random_stopped(int64_t i) { return !(i & (RANDOM_BLOCK - 1)) && tni_stopped(); }

/* Refuses devices other than the CPU and meta. */
static bool random_on(tn_frame *f, tn_device_id device) {
    if (device != TN_NO_DEVICE && device != TN_CPU && device != TN_META)
        return tn_fail(f, TN_UNSUPPORTED, "device number %d does not exist", (int)device);
    f->meta = device == TN_META;
    return true;
}

/* Announces a new tensor for random numbers; `floating`: of a floating dtype alone. */
static bool random_new(tn_frame *f, tn_ints size, tn_dtype dtype, tn_device_id device,
                       bool floating) {
    if (!dtype) dtype = tni_tensors(f->block->context)->default_dtype;
    if (floating && (!tni_is_float((int)dtype) || !tni_dtype((int)dtype)->computes))
        return tn_fail(f, TN_TYPE, "expected a floating dtype, got %s",
                       tni_dtype((int)dtype)->text);
    if (!tni_dtype((int)dtype)->computes || tni_is_complex((int)dtype))
        return tn_fail(f, TN_TYPE, "random numbers of dtype %s are not supported",
                       tni_dtype((int)dtype)->text);
    return tni_sizes_given(f, size, "size") && random_on(f, device) &&
           tn_announce(f, 0, dtype, (int)size.n, size.at);
}

/* Announces a result like self, in place or new: dense, in self's order of dimensions, so that
 * elements can be drawn in the order of memory. */
static bool random_self(tn_frame *f, bool floating) {
    const tn_tensor *self = f->in[0];
    tni_shape s;
    if (floating && (!tni_is_float(self->dtype) || !tni_dtype(self->dtype)->computes))
        return tn_fail(f, TN_TYPE, "expected a floating dtype, got %s",
                       tni_dtype(self->dtype)->text);
    if (!tni_dtype(self->dtype)->computes || tni_is_complex(self->dtype))
        return tn_fail(f, TN_TYPE, "random numbers of dtype %s are not supported",
                       tni_dtype(self->dtype)->text);
    s.ndim = self->ndim;
    memcpy(s.size, self->size, sizeof(int64_t) * (size_t)s.ndim);
    tni_like_strides(&s, &self, 1);
    return tn_announce_strided(f, 0, (tn_dtype)self->dtype, s.ndim, s.size, s.stride);
}

/* What was overwritten has no part in the result. */
static void random_zero_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_zeros_like(g->incoming[0], TN_NO_DTYPE, TN_NO_DEVICE));
}

/* --- uniform ---------------------------------------------------------------------------------- */

typedef struct random_job {
    const tni_kernels *kernels;
    float *at;
    int64_t n;
    float a, b;
    bool normal;
} random_job;

/* Tile i of the words that random_floats drew becomes numbers, in place. */
static void random_task(void *arg, int64_t i) {
    const random_job *j = (const random_job *)arg;
    int64_t first = i * RANDOM_TILE,
            n = j->n - first < RANDOM_TILE ? j->n - first : (int64_t)RANDOM_TILE;
    /* a and b are the bounds, or mean and standard deviation; the normal kernel takes uniform
     * numbers in blocks of 16. */
    if (!j->normal)
        TNI_K(j->kernels, uniform_f32)(j->at + first, n, j->a, j->b);
    else {
        TNI_K(j->kernels, uniform_f32)(j->at + first, n, 0, 1);
        TNI_K(j->kernels, normal_f32)(j->at + first, n / 16, j->a, j->b);
    }
}

/* n floats at `to`: draws their 32-bit words there, then converts them in place. For normal numbers
 * only whole blocks of 16 are converted. */
static void random_floats(tn_frame *f, void *to, int64_t n, float a, float b, bool normal) {
    random_job j = {f->block->context->kernels, (float *)to, n, a, b, normal};
    for (int64_t i = 0; i < n && !tni_stopped(); i += RANDOM_BLOCK)
        tni_random_fill(f->generator, (uint32_t *)to + i,
                        n - i < RANDOM_BLOCK ? n - i : (int64_t)RANDOM_BLOCK);
    tni_lanes_spread(f->block->context, (n + RANDOM_TILE - 1) / RANDOM_TILE, n, random_task, &j);
}

/* A double in [0, 1) of 53 random bits, as torch's. */
static double random_u53(tn_generator *g) {
    return (double)(int64_t)(tni_random64(g) & 0x1fffffffffffffu) * (1.0 / 9007199254740992.0);
}

/* Numbers that rounding has brought to the upper bound, which is excluded, become the lower one.
 * Both bounds are rounded to the dtype, a half type, as the numbers were. */
static void random_below(char *at, int dtype, double from, double to, int64_t n) {
    uint16_t low[4], high[4], v; /* the first of each counts; room for any dtype */
    tni_lanes_save(low, 2, dtype, &from, TN_F64, 1);
    tni_lanes_save(high, 2, dtype, &to, TN_F64, 1);
    for (int64_t i = 0; i < n; i++) {
        memcpy(&v, at + i * 2, 2);
        if (v == high[0]) memcpy(at + i * 2, low, 2);
    }
}

/* Fills out[0] with uniform numbers in [from, to): floats of 24 random bits, doubles of 53, half
 * types from floats. */
static void random_uniform(tn_frame *f, double from, double to) {
    tn_tensor *t = f->out[0];
    char *at;
    if (!t->numel) return;
    at = tni_bytes_at(t);
    if (t->dtype == TN_F32) {
        TNI_PATH(uniform_f32);
        random_floats(f, at, t->numel, (float)from, (float)to, false);
    } else if (t->dtype == TN_F64) {
        double *d = (double *)(void *)at, range = to - from;
        TNI_PATH(uniform_f64);
        for (int64_t i = 0; i < t->numel && !random_stopped(i); i++) {
            d[i] = fma(random_u53(f->generator), range, from);
            if (d[i] == to) d[i] = from;
        }
    } else {
        float tile[RANDOM_TILE];
        TNI_PATH(uniform_half);
        for (int64_t i = 0; i < t->numel && !tni_stopped(); i += RANDOM_TILE) {
            int64_t n = t->numel - i < RANDOM_TILE ? t->numel - i : (int64_t)RANDOM_TILE;
            random_floats(f, tile, n, (float)from, (float)to, false);
            tni_lanes_write(f->block->context->kernels, at + i * 2, 2, t->dtype, tile, TN_F32, n);
            random_below(at + i * 2, t->dtype, from, to, n);
        }
    }
}

static bool rand_check(tn_frame *f) {
    TN_ARGS(rand, a, f);
    return random_new(f, a->size, a->dtype, a->device, true);
}
static void rand_run(tn_frame *f) { random_uniform(f, 0, 1); }
/* Random numbers, uniform in [0, 1). */
TN_OPERATOR(rand,
            "rand(int[] size, *, Generator? generator=None, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_rand(TN_DIMS(2, 3))"), .forms = TN_OUT,
            .check = rand_check, .run = rand_run,
            .sample = "[2,3] | [] | [0] | [70000] | [5] dtype=float64 | [5] dtype=float16 | [5000] "
                      "dtype=bfloat16")

static bool rand_like_check(tn_frame *f) { return random_self(f, true); }
static void rand_like_run(tn_frame *f) { random_uniform(f, 0, 1); }
/* Uniform random numbers in [0, 1), with self's sizes and dtype. */
TN_OPERATOR(rand_like, "rand_like(Tensor self, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_rand_like(x)"),
            .forms = TN_SHAPE_ONLY, .check = rand_like_check, .run = rand_like_run,
            .grad = tn_grad_zero, .sample = "(2,3) | (3):f16")

static bool uniform_check(tn_frame *f) {
    TN_ARGS(uniform, a, f);
    if (!(a->from <= a->to))
        return tn_fail(f, TN_INVALID, "from (%g) is greater than to (%g)", a->from, a->to);
    return random_self(f, true);
}
static void uniform_run(tn_frame *f) {
    TN_ARGS(uniform, a, f);
    random_uniform(f, a->from, a->to);
}
/* Fills self with random numbers, uniform in [from, to). */
TN_OPERATOR(
    uniform,
    "uniform_(Tensor self, float from=0.0, float to=1.0, *, Generator? generator=None) -> Tensor",
    TN_DOC(.shapes = "self (*) -> self", .example = "tn_uniform_(x, .from = -1, .to = 1)"),
    .forms = TN_INPLACE, .check = uniform_check, .run = uniform_run, .grad = random_zero_grad,
    .sample = "(2,3) -1.0 2.0 | (5):f64 | (5000):f16 | ()")

/* --- normal ----------------------------------------------------------------------------------- */

/* A normal number for small and strided tensors: pairs by Box and Muller's transform in double. The
 * generator keeps the second number of a pair for the next call, as torch's does. */
static double random_normal(tn_frame *f) {
    tn_generator *g = f->generator;
    double u, v;
    if (g->has_normal) {
        g->has_normal = false;
        return g->normal;
    }
    u = random_u53(g);
    v = random_u53(g);
    TNI_K(f->block->context->kernels, normal_f64)(&u, &v, 1, true);
    g->has_normal = true;
    g->normal = v;
    return u;
}

/* 16 uniform doubles become normal ones: the first 8 are paired with the last 8, as in
 * torch's vector code. */
static void random_normal_16(tn_frame *f, double *d, double mean, double std) {
    TNI_K(f->block->context->kernels, normal_f64)(d, d + 8, 8, false);
    for (int i = 0; i < 16; i++) d[i] = fma(d[i], std, mean);
}

/* torch's order for n >= 16: all words first, then blocks of 16. A rest that is no block draws anew
 * for the last 16 places, so some of these are overwritten. */
static void random_normal_f64(tn_frame *f, double *d, int64_t n, double mean, double std) {
    TNI_PATH(normal_f64);
    for (int64_t i = 0; i < n && !random_stopped(i); i++) d[i] = random_u53(f->generator);
    for (int64_t i = 0; i + 16 <= n && !random_stopped(i); i += 16)
        random_normal_16(f, d + i, mean, std);
    if (n % 16 == 0) return;
    for (int64_t i = n - 16; i < n; i++) d[i] = random_u53(f->generator);
    random_normal_16(f, d + n - 16, mean, std);
}

/* The same for floats, whose blocks random_floats converts. */
static void random_normal_f32(tn_frame *f, float *d, int64_t n, float mean, float std) {
    const tni_kernels *k = f->block->context->kernels;
    TNI_PATH(normal_f32);
    random_floats(f, d, n, mean, std, true);
    if (n % 16 == 0) return;
    TNI_PATH(normal_f32_tail);
    tni_random_fill(f->generator, (uint32_t *)(void *)(d + n - 16), 16);
    TNI_K(k, uniform_f32)(d + n - 16, 16, 0, 1);
    TNI_K(k, normal_f32)(d + n - 16, 1, mean, std);
}

/* The same for half types: whole blocks of 16 are drawn as floats and rounded. For the rest nothing
 * is drawn before the last 16 places are. */
static void random_normal_half(tn_frame *f, char *at, int dtype, int64_t n, float mean, float std) {
    float tile[RANDOM_TILE];
    TNI_PATH(normal_half);
    for (int64_t i = 0; i < n / 16 * 16 && !tni_stopped(); i += RANDOM_TILE) {
        int64_t left = n / 16 * 16 - i, m = left < RANDOM_TILE ? left : (int64_t)RANDOM_TILE;
        random_floats(f, tile, m, mean, std, true);
        tni_lanes_write(f->block->context->kernels, at + i * 2, 2, dtype, tile, TN_F32, m);
    }
    if (n % 16 == 0) return;
    random_normal_f32(f, tile, 16, mean, std);
    tni_lanes_save(at + (n - 16) * 2, 2, dtype, tile, TN_F32, 16);
}

/* Fills out[0] with normal numbers. Which way is taken, and so which numbers come, depends on size,
 * dtype and layout as in torch. */
static void random_gauss(tn_frame *f, double mean, double std, bool contiguous) {
    tn_tensor *t = f->out[0];
    char *at;
    int64_t bytes = tni_dtype_size(t);
    if (!t->numel) return;
    at = tni_bytes_at(t);
    if (t->numel < 16 || !contiguous) {
        TNI_PATH(normal_one_by_one);
        for (int64_t i = 0; i < t->numel && !random_stopped(i); i++) {
            double v = fma(random_normal(f), std, mean);
            tni_lanes_save(at + i * bytes, bytes, t->dtype, &v, TN_F64, 1);
        }
    } else if (t->dtype == TN_F32) {
        random_normal_f32(f, (float *)(void *)at, t->numel, (float)mean, (float)std);
    } else if (t->dtype == TN_F64) {
        random_normal_f64(f, (double *)(void *)at, t->numel, mean, std);
    } else {
        random_normal_half(f, at, t->dtype, t->numel, (float)mean, (float)std);
    }
}

static bool randn_check(tn_frame *f) {
    TN_ARGS(randn, a, f);
    return random_new(f, a->size, a->dtype, a->device, true);
}
static void randn_run(tn_frame *f) { random_gauss(f, 0, 1, true); }
/* Normal random numbers with mean 0 and standard deviation 1. */
TN_OPERATOR(randn,
            "randn(int[] size, *, Generator? generator=None, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_randn(TN_DIMS(2, 3))"), .forms = TN_OUT,
            .check = randn_check, .run = randn_run,
            .sample = "[2,3] | [] | [0] | [16] | [17] | [70003] | [20] dtype=float64 | [5] "
                      "dtype=float16 | [5000] dtype=bfloat16")

static bool randn_like_check(tn_frame *f) { return random_self(f, true); }
static void randn_like_run(tn_frame *f) {
    random_gauss(f, 0, 1, (f->out[0]->flags & TNI_CONTIGUOUS) != 0);
}
/* Normal random numbers with mean 0 and standard deviation 1, with self's sizes and dtype. */
TN_OPERATOR(randn_like, "randn_like(Tensor self, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_randn_like(x)"),
            .forms = TN_SHAPE_ONLY, .check = randn_like_check, .run = randn_like_run,
            .grad = tn_grad_zero, .sample = "(2,3) | (20):f16")

static bool normal_check(tn_frame *f) {
    TN_ARGS(normal, a, f);
    if (!(a->std >= 0)) return tn_fail(f, TN_INVALID, "std (%g) is negative", a->std);
    return random_self(f, true);
}
static void normal_run(tn_frame *f) {
    TN_ARGS(normal, a, f);
    random_gauss(f, a->mean, a->std, (f->in[0]->flags & TNI_CONTIGUOUS) != 0);
}
/* Fills self with normal random numbers of the given mean and standard deviation. */
TN_OPERATOR(
    normal,
    "normal_(Tensor self, float mean=0.0, float std=1.0, *, Generator? generator=None) -> Tensor",
    TN_DOC(.shapes = "self (*) -> self", .example = "tn_normal_(x, .std = 0.02)"),
    .forms = TN_INPLACE, .check = normal_check, .run = normal_run, .grad = random_zero_grad,
    .sample = "(2,3) 1.0 0.5 | (20) | (20):f64 | (33):bf16 | ()")

/* --- exponential ------------------------------------------------------------------------------ */

static bool exponential_check(tn_frame *f) {
    TN_ARGS(exponential, a, f);
    if (!(a->lambd > 0)) return tn_fail(f, TN_INVALID, "lambd (%g) is not positive", a->lambd);
    return random_self(f, true);
}
/* -log(1 - u) / lambd, the inverse of the distribution function, in double. */
static void exponential_run(tn_frame *f) {
    TN_ARGS(exponential, a, f);
    tn_tensor *t = f->out[0];
    double tile[RANDOM_TILE], scale = 1 / a->lambd;
    int64_t bytes = tni_dtype_size(t);
    for (int64_t i = 0; i < t->numel && !tni_stopped(); i += RANDOM_TILE) {
        int64_t n = t->numel - i < RANDOM_TILE ? t->numel - i : (int64_t)RANDOM_TILE;
        for (int64_t k = 0; k < n; k++) tile[k] = random_u53(f->generator);
        TNI_K(f->block->context->kernels, exponential_f64)(tile, n);
        for (int64_t k = 0; k < n; k++) tile[k] *= scale;
        tni_lanes_save(tni_bytes_at(t) + i * bytes, bytes, t->dtype, tile, TN_F64, n);
    }
}
/* Fills self with exponentially distributed random numbers of rate lambd. */
TN_OPERATOR(exponential,
            "exponential_(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_exponential_(x)"),
            .forms = TN_INPLACE, .check = exponential_check, .run = exponential_run,
            .grad = random_zero_grad, .sample = "(2,3) | (5):f64 2.0 | (20):f16")

/* --- integers --------------------------------------------------------------------------------- */

/* Integers in [low, high), 512 at a time: 32 bits for each while the range is below 2^28, else 64,
 * as torch draws them. */
static void random_integers(tn_frame *f, int64_t low, int64_t high) {
    tn_tensor *t = f->out[0];
    uint64_t range = (uint64_t)high - (uint64_t)low;
    int64_t bytes = tni_dtype_size(t), tile[512];
    for (int64_t i = 0; i < t->numel && !tni_stopped(); i += 512) {
        int64_t n = t->numel - i < 512 ? t->numel - i : 512;
        for (int64_t k = 0; k < n; k++) {
            uint64_t v = range < (uint64_t)1 << 28 ? tni_random32(f->generator) % (uint32_t)range
                                                   : tni_random64(f->generator) % range;
            tile[k] = (int64_t)(v + (uint64_t)low);
        }
        tni_lanes_save(tni_bytes_at(t) + i * bytes, bytes, t->dtype, tile, TN_I64, n);
    }
}

/* How many integers from 0 on may be drawn: all that an integer dtype holds, or all that a floating
 * dtype holds exactly. */
static uint64_t random_most(int dtype) {
    const tni_dtype_info *info = tni_dtype(dtype);
    if (info->digits) return ((uint64_t)1 << info->digits) + 1;
    return dtype == TN_BOOL ? 2 : (uint64_t)1 << (info->bytes * 8 - info->is_signed);
}
static bool random_check(tn_frame *f) { return random_self(f, false); }
static void random_run(tn_frame *f) {
    tn_tensor *t = f->out[0];
    const uint64_t most = random_most(t->dtype);
    int64_t bytes = tni_dtype_size(t), tile[512];
    for (int64_t i = 0; i < t->numel && !tni_stopped(); i += 512) {
        int64_t n = t->numel - i < 512 ? t->numel - i : 512;
        for (int64_t k = 0; k < n; k++)
            tile[k] =
                (int64_t)((bytes == 8 ? tni_random64(f->generator) : tni_random32(f->generator)) %
                          most);
        tni_lanes_save(tni_bytes_at(t) + i * bytes, bytes, t->dtype, tile, TN_I64, n);
    }
}
/* Fills self with random integers from 0 to the largest that its dtype can hold. For floating
 * dtypes the largest is that up to which they hold all integers exactly. */
TN_OPERATOR(random, "random_(Tensor self, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_random_(x)"), .forms = TN_INPLACE,
            .check = random_check, .run = random_run, .grad = random_zero_grad,
            .sample = "(2,3) | (5):f64 | (20):i32 | (4):i64 | (5):bool | (600):u8 | (0):i16",
            .node = "RandomBackward2")

/* Whether integers from low to last are elements of dtype, as torch asks. */
static bool random_holds(tn_frame *f, int dtype, int64_t low, int64_t last, const char *what) {
    const tni_dtype_info *info = tni_dtype(dtype);
    const int bits = dtype == TN_BOOL ? 1 : (int)info->bytes * 8 - info->is_signed;
    const int64_t most =
        dtype == TN_F16 ? (int64_t)info->largest : ((int64_t)1 << (bits > 62 ? 62 : bits)) - 1;
    const int64_t least = dtype == TN_F16 ? -most : info->is_signed ? -most - 1 : 0;
    if ((info->category >= TNI_CAT_FLOAT && dtype != TN_F16) || bits > 62 ||
        (low >= least && last <= most))
        return true;
    return tn_fail(f, TN_INVALID, "%s is out of bounds for %s", what, info->text);
}

static bool randint_range(tn_frame *f, int64_t low, int64_t high, tn_ints size, tn_dtype dtype,
                          tn_device_id device) {
    if (low >= high)
        return tn_fail(f, TN_INVALID, "from (%lld) is not less than to (%lld)", (long long)low,
                       (long long)high);
    if (!random_holds(f, dtype ? (int)dtype : TN_I64, low, high - 1, "low or high - 1"))
        return false;
    return random_new(f, size, dtype ? dtype : TN_I64, device, false);
}

static bool randint_check(tn_frame *f) {
    TN_ARGS(randint, a, f);
    return randint_range(f, 0, a->high, a->size, a->dtype, a->device);
}
static void randint_run(tn_frame *f) {
    TN_ARGS(randint, a, f);
    random_integers(f, 0, a->high);
}
/* Random integers in [0, high), int64 unless a dtype is given. */
TN_OPERATOR(randint,
            "randint(int high, int[] size, *, Generator? generator=None, ScalarType? dtype=None, "
            "Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_randint(10, TN_DIMS(2, 3))",
                   .differs = "parameter dtype: None means int64 here as well"),
            .forms = TN_OUT, .check = randint_check, .run = randint_run,
            .sample = "10 [2,3] | 5 [0] | 1000000000000 [3] | 7 [4] dtype=float32")

static bool randint_low_check(tn_frame *f) {
    TN_ARGS(randint_low, a, f);
    return randint_range(f, a->low, a->high, a->size, a->dtype, a->device);
}
static void randint_low_run(tn_frame *f) {
    TN_ARGS(randint_low, a, f);
    random_integers(f, a->low, a->high);
}
/* Random integers in [low, high), int64 unless a dtype is given. */
TN_OPERATOR(randint_low,
            "randint.low(int low, int high, int[] size, *, Generator? generator=None, ScalarType? "
            "dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_randint_low(-5, 5, TN_DIMS(2, 3))",
                   .differs = "parameter dtype: None means int64 here as well"),
            .forms = TN_OUT, .check = randint_low_check, .run = randint_low_run,
            .sample = "-3 10 [2,3] | 5 6 [] | -9 9 [4] dtype=int8")

static bool randperm_check(tn_frame *f) {
    TN_ARGS(randperm, a, f);
    tn_ints size = tni_ints(&a->n, 1);
    if (a->n < 0) return tn_fail(f, TN_INVALID, "n (%lld) is negative", (long long)a->n);
    if (a->dtype == TN_BOOL)
        return tn_fail(f, TN_TYPE, "permutations of dtype bool are not supported");
    if (!random_holds(f, a->dtype ? (int)a->dtype : TN_I64, 0, a->n - 1, "n - 1")) return false;
    if (a->dtype == TN_F16 && a->n > 2049)
        return tn_fail(f, TN_INVALID, "n must be at most 2049 for float16");
    if (a->dtype && a->dtype != TN_I64 && !tn_scratch(f, a->n, 8)) return false;
    return random_new(f, size, a->dtype ? a->dtype : TN_I64, a->device, false);
}
/* R. Durstenfeld, "Algorithm 235: Random permutation", CACM 7, 1964: each place takes one of those
 * left, itself included. */
static void randperm_run(tn_frame *f) {
    tn_tensor *t = f->out[0];
    int64_t n = t->numel, *p;
    if (!n) return;
    /* Other dtypes are permuted as int64 in scratch and converted at the end. */
    p = (int64_t *)(t->dtype == TN_I64 ? (void *)tni_bytes_at(t) : f->scratch);
    for (int64_t i = 0; i < n; i++) p[i] = i;
    for (int64_t i = 0; i < n - 1 && !random_stopped(i); i++) {
        /* torch's choice: 32 bits serve unless n is large enough to make the remainder uneven. */
        uint64_t left = (uint64_t)(n - i),
                 r = n < 0xffffffff / 20 ? tni_random32(f->generator) : tni_random64(f->generator);
        int64_t k = i + (int64_t)(r % left), v = p[i];
        p[i] = p[k];
        p[k] = v;
    }
    if (t->dtype != TN_I64)
        tni_lanes_save(tni_bytes_at(t), tni_dtype_size(t), t->dtype, p, TN_I64, n);
}
/* The numbers 0 .. n - 1 in random order, int64 unless a dtype is given. */
TN_OPERATOR(randperm,
            "randperm(int n, *, Generator? generator=None, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "-> (n)", .example = "tn_randperm(10)",
                   .differs = "parameter dtype: None means int64 here as well"),
            .forms = TN_OUT, .check = randperm_check, .run = randperm_run,
            .sample = "10 | 0 | 1 | 1000 | 5 dtype=int32")

/* --- truth by chance -------------------------------------------------------------------------- */

/* The smallest integer k with k / 2^53 >= p: a draw of 53 bits below k is a u below p. */
static uint64_t random_threshold(double p) { return (uint64_t)ceil(p * 9007199254740992.0); }

static bool bernoulli_check(tn_frame *f) { return random_self(f, f->in[0]->numel != 0); }
/* The probabilities are data: all are checked before one number is drawn. */
static bool bernoulli_look(tn_frame *f) {
    const tn_tensor *p = f->in[0];
    const int64_t bytes = tni_dtype_size(p);
    tni_walk w;
    tni_walk_start(&w, p->ndim, p->size, &p, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            double v;
            tni_lanes_load(&v, TN_F64, w.at[0] + i * w.row[0], bytes, p->dtype, 1);
            if (!(v >= 0 && v <= 1))
                return tn_fail(f, TN_INVALID, "a probability is %g, not in [0, 1]", v);
        }
    return true;
}
static void bernoulli_run(tn_frame *f) {
    const tn_tensor *p = f->in[0];
    tn_tensor *t = f->out[0];
    int64_t bytes = tni_dtype_size(t);
    /* Element i in row-major order: `at` is its place in p, `to` in the result. */
    for (int64_t i = 0; i < t->numel && !random_stopped(i); i++) {
        int64_t at = p->offset, rest = i;
        double v;
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += rest % p->size[d] * p->stride[d];
            rest /= p->size[d];
        }
        tni_lanes_load(&v, TN_F64, (const char *)p->storage->data + at * bytes, bytes, p->dtype, 1);
        /* As many random bits as torch draws: 53 for doubles, 24 for others. */
        double u = p->dtype == TN_F64
                       ? random_u53(f->generator)
                       : (double)(tni_random32(f->generator) & 0xffffffu) * (1.0 / 16777216.0);
        double one = u < v;
        int64_t to = 0;
        rest = i;
        for (int d = t->ndim - 1; d >= 0; d--) {
            to += rest % t->size[d] * t->stride[d];
            rest /= t->size[d];
        }
        tni_lanes_save(tni_bytes_at(t) + to * bytes, bytes, t->dtype, &one, TN_F64, 1);
    }
}
/* Each element is 1 with the probability given by self's element, in [0, 1], and 0 otherwise. */
TN_OPERATOR(bernoulli, "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_bernoulli(p)"), .forms = TN_OUT,
            .check = bernoulli_check, .look = bernoulli_look, .run = bernoulli_run,
            .grad = tn_grad_zero, .domain = "self:0..1", .sample = "(2,3) | (20) | (5):f64 | (0)")

/* Ones with probability p, else zeros: 512 draws at a time, then converted to t's dtype. */
static void random_chance(tn_frame *f, tn_tensor *t, double p) {
    uint64_t below = random_threshold(p);
    int64_t bytes = tni_dtype_size(t), k[512];
    for (int64_t i = 0; i < t->numel && !tni_stopped(); i += 512) {
        int64_t n = t->numel - i < 512 ? t->numel - i : 512;
        for (int64_t e = 0; e < n; e++)
            k[e] = (tni_random64(f->generator) & 0x1fffffffffffffu) < below;
        tni_lanes_save(tni_bytes_at(t) + i * bytes, bytes, t->dtype, k, TN_I64, n);
    }
}

static bool random_probability(tn_frame *f, double p) {
    return (p >= 0 && p <= 1) || tn_fail(f, TN_INVALID, "p is %g, not in [0, 1]", p);
}

static bool bernoulli_float_check(tn_frame *f) {
    TN_ARGS(bernoulli_float, a, f);
    return random_probability(f, a->p) && random_self(f, false);
}
static void bernoulli_float_run(tn_frame *f) {
    TN_ARGS(bernoulli_float, a, f);
    if (f->out[0]->numel) random_chance(f, f->out[0], a->p);
}
/* Sets each element of self to 1 with probability p and to 0 otherwise. */
TN_OPERATOR(bernoulli_float,
            "bernoulli_.float(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_bernoulli_float_(x, .p = 0.3)",
                   .differs = "gradcheck: what is overwritten by draws has gradient zero; in "
                              "complex the draws are real"),
            .forms = TN_INPLACE, .check = bernoulli_float_check, .run = bernoulli_float_run,
            .grad = random_zero_grad, .sample = "(2,3) 0.3 | (5):bool | (20):i64 0.9 | (0)",
            .node = "BernoulliBackward2")

/* --- dropout ---------------------------------------------------------------------------------- */

typedef struct dropout_note {
    bool idle; /* the result is the input */
} dropout_note;

/* out[1], only while recording: the mask of the elements that were kept. In evaluation and for
 * p = 0 the result is the input itself. */
static bool dropout_check(tn_frame *f) {
    TN_ARGS(dropout, a, f);
    tn_tensor *x = a->input;
    const bool idle = !a->train || a->p == 0 || x->numel == 0;
    TN_NOTE(dropout_note, note, f);
    if (!random_probability(f, a->p)) return false;
    note->idle = idle;
    if (idle && !f->inplace)
        return tn_announce_view(f, 0, x, x->ndim, x->size, x->stride, x->offset);
    if (!idle && ((a->p < 1 && tni_dtype(x->dtype)->category < TNI_CAT_FLOAT) ||
                  !tni_dtype(x->dtype)->computes))
        return tn_fail(f, TN_TYPE, "expected a floating or complex dtype, got %s",
                       tni_dtype(x->dtype)->text);
    if (!tn_announce_like(f, 0, x, (tn_dtype)x->dtype)) return false;
    if (idle) return true;
    f->generator = tni_generator_default(f->block);
    if (!f->generator) return false;
    if (f->recording && !tn_announce_strided(f, 1, TN_BOOL, x->ndim, x->size, f->out[0]->stride))
        return false;
    return tni_is_dense(x) || tn_scratch(f, x->numel, tni_dtype_size(x));
}

/* y = x * scale where keep is 1, else 0, for n elements of a tile: in float, or double for f64. A
 * product with 0 keeps the sign and NaN, as torch's product with its noise. Of complex numbers both
 * parts of an element are kept or not. */
static void dropout_tile(const tn_context *c, int dtype, const char *x, char *y,
                         const uint8_t *keep, double scale, int64_t n) {
    float f[RANDOM_TILE];
    double d[RANDOM_TILE];
    uint8_t pairs[RANDOM_TILE];
    int64_t bytes;
    if (tni_is_complex(dtype)) {
        for (int64_t i = 0; i < n; i++) pairs[2 * i] = pairs[2 * i + 1] = keep[i];
        dtype = (int)tni_real_of(dtype);
        keep = pairs;
        n *= 2;
    }
    bytes = tni_dtype(dtype)->bytes;
    if (dtype == TN_F64) {
        tni_lanes_read(c->kernels, d, TN_F64, x, bytes, dtype, n);
        for (int64_t i = 0; i < n; i++) d[i] *= keep[i] ? scale : 0;
        tni_lanes_write(c->kernels, y, bytes, dtype, d, TN_F64, n);
        return;
    }
    tni_lanes_read(c->kernels, f, TN_F32, x, bytes, dtype, n);
    for (int64_t i = 0; i < n; i++) f[i] *= keep[i] ? (float)scale : 0;
    tni_lanes_write(c->kernels, y, bytes, dtype, f, TN_F32, n);
}

/* 1 / (1 - p), rounded to the dtype, as torch's noise is; 0 for p = 1. */
static double dropout_scale(double p, int dtype) {
    double s = p < 1 ? 1 / (1 - p) : 0;
    float r;
    uint16_t h[4]; /* the first counts; room for any dtype */
    if (dtype == TN_F64 || dtype == TN_C128 || s == 0) return s;
    if (dtype == TN_C64) dtype = TN_F32;
    tni_lanes_save(h, 2, dtype == TN_F32 ? TN_F16 : dtype, &s, TN_F64, 1);
    if (dtype == TN_F32)
        r = (float)s;
    else
        tni_lanes_load(&r, TN_F32, h, 2, dtype, 1);
    return (double)r;
}

static void dropout_run(tn_frame *f) {
    TN_ARGS(dropout, a, f);
    const tn_tensor *x = a->input;
    char *room = (char *)f->scratch, *y;
    const char *from;
    uint8_t tile[RANDOM_TILE],
        *kept = f->nout > 1 && f->out[1] ? (uint8_t *)tni_bytes_at(f->out[1]) : NULL;
    uint64_t below = random_threshold(1 - a->p);
    int64_t bytes = tni_dtype_size(x),
            each = tni_is_complex(x->dtype) ? (int)RANDOM_TILE / 2 : (int)RANDOM_TILE;
    double scale;
    TN_NOTE(dropout_note, note, f);
    if (note->idle) {
        /* In place on strides that no new tensor has, out is a temporary that the door
         * copies back. */
        if (f->inplace && x->numel && tni_bytes_at(f->out[0]) != tni_bytes_at(x))
            tni_copy_elements(f->block, f->out[0], x);
        return;
    }
    scale = dropout_scale(a->p, x->dtype);
    /* A dense x is read as it lies; another one is copied to scratch first. */
    from = tni_is_dense(x) ? tni_bytes_at(x) : tni_dense(f, x, &room);
    y = tni_bytes_at(f->out[0]);
    for (int64_t i = 0; i < x->numel && !tni_stopped(); i += each) {
        int64_t n = x->numel - i < each ? x->numel - i : each;
        if (a->p == 1)
            memset(tile, 0, (size_t)n);
        else
            for (int64_t k = 0; k < n; k++)
                tile[k] = (tni_random64(f->generator) & 0x1fffffffffffffu) < below;
        dropout_tile(f->block->context, x->dtype, from + i * bytes, y + i * bytes, tile, scale, n);
        if (kept) memcpy(kept + i, tile, (size_t)n);
    }
}
/* What was kept passes its gradient, scaled alike. Without a mask the row was idle. */
static void dropout_grad(tn_gradient *g) {
    TN_ARGS(dropout, a, g);
    tn_tensor *d = g->incoming[0];
    if (g->nout < 2 || !g->out[1])
        tn_give(g, 0, d);
    else
        tn_give(g, 0,
                tnp_mul_scalar(tnp_mul(d, g->out[1]), tn_float(dropout_scale(a->p, d->dtype))));
}
/* In training, zeroes each element with probability p and scales the others by 1 / (1 - p).
 * Otherwise returns the input itself. */
TN_OPERATOR(
    dropout, "dropout(Tensor input, float p, bool train) -> Tensor",
    TN_DOC(.shapes = "input (*) -> (*), floating or complex", .example = "tn_dropout(x, 0.5, true)",
           .differs = "parameter p: required, as in torch's schema"),
    .forms = TN_INPLACE, .saves = "kept", .needs = "kept", .check = dropout_check,
    .run = dropout_run, .grad = dropout_grad,
    .sample =
        "(2,3) 0.5 False | (2,3) 0.0 True | (3,4) 1.0 True | (0) 0.5 True | (20):c64 0.5 True "
        "| (2500):c128 0.3 True")
