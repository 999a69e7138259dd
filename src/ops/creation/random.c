/* random.c - random numbers of continuous distributions, as torch draws them on the CPU: equal
 * seeds give equal numbers. And what all rows that draw share (random.h).
 *
 * Elements are drawn in the order of memory. One thread draws the generator's words, which is
 * cheap; all threads convert them. Numbers equal torch's to the bit, except where torch calls libm
 * in double precision.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include <float.h>
#include "random.h"
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "../shape/copy.h"

/* Whether numbers of these kinds are drawn in a dtype; out: it is that of the given tensor. */
static bool random_takes(tn_frame *f, int dtype, int kinds, bool out) {
    const tni_dtype_info *info = tni_dtype(dtype);
    const char *of = out ? "out: " : "";
    const bool wide = tni_is_complex(dtype);
    if (kinds == TNI_RANDOM_WHOLE && tni_is_int(dtype)) return true;
    if (kinds >= TNI_RANDOM_FLOATS && (!info->computes || !(tni_is_float(dtype) || wide)))
        return tn_fail(f, TN_TYPE, "%sexpected a floating dtype, got %s", of, info->text);
    if (!info->computes || (wide && kinds != TNI_RANDOM_COMPLEX))
        return tn_fail(f, TN_TYPE, "%srandom numbers of dtype %s are not supported", of,
                       info->text);
    return true;
}

TN_PRIV bool tni_random_new(tn_frame *f, tn_ints size, tn_dtype dtype, tn_device_id device,
                            int kinds) {
    const bool out = !dtype && f->ngiven;
    if (out) dtype = (tn_dtype)f->given[0]->dtype;
    if (!dtype) dtype = tni_tensors(f->block->context)->default_dtype;
    if (!random_takes(f, (int)dtype, kinds, out)) return false;
    /* 0: the CPU, where a call without tensors begins */
    if (device == TN_NO_DEVICE) device = tni_state(f->block)->device;
    return tni_sizes_given(f, size, "size") && (!device || tni_frame_place(f, device)) &&
           tn_announce(f, 0, dtype, (int)size.n, size.at);
}

TN_PRIV bool tni_random_self(tn_frame *f, int kinds) {
    const tn_tensor *self = f->in[0];
    tni_shape s;
    /* Draws are floating numbers, or integers that the dtype can compute with. */
    if (!random_takes(f, self->dtype, kinds, false)) return false;
    tni_copy_strides(&s, self);
    return tn_announce_strided(f, 0, (tn_dtype)self->dtype, s.ndim, s.size, s.stride);
}

TN_PRIV void tni_random_zero_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_zeros_like(g->incoming[0], TN_NO_DTYPE, TN_NO_DEVICE));
}

TN_PRIV double tni_random_u53(tn_generator *g) {
    return (double)(int64_t)(tni_random64(g) & 0x1fffffffffffffu) * (1.0 / 9007199254740992.0);
}

/* --- uniform ---------------------------------------------------------------------------------- */

typedef struct random_job {
    const tni_kernels *kernels;
    float *at;
    int64_t n;
    float a, b; /* the bounds, or mean and standard deviation */
} random_job;

/* The numbers of tile i from number `first` on. */
static int64_t random_tile(const random_job *j, int64_t i, int64_t *first) {
    *first = i * TNI_RANDOM_TILE;
    return j->n - *first < TNI_RANDOM_TILE ? j->n - *first : (int64_t)TNI_RANDOM_TILE;
}

/* Tile i of the words that random_floats drew becomes numbers, in place. */
static void random_task_uniform(void *arg, int64_t i) {
    const random_job *j = (const random_job *)arg;
    int64_t first, n = random_tile(j, i, &first);
    TNI_K(j->kernels, uniform_f32)(j->at + first, n, j->a, j->b);
}
/* The same for normal numbers, whose kernel takes uniform ones in blocks of 16; a rest stays. */
static void random_task_normal(void *arg, int64_t i) {
    const random_job *j = (const random_job *)arg;
    int64_t first, n = random_tile(j, i, &first);
    TNI_K(j->kernels, uniform_f32)(j->at + first, n, 0, 1);
    TNI_K(j->kernels, normal_f32)(j->at + first, n / 16, j->a, j->b);
}

/* n floats at `to`: draws their 32-bit words there, then the task converts them in place. */
static void random_floats(tn_frame *f, void *to, int64_t n, float a, float b,
                          void (*task)(void *arg, int64_t i)) {
    random_job j = {f->block->context->kernels, (float *)to, n, a, b};
    for (int64_t i = 0; i < n && !tni_stopped(); i += TNI_RANDOM_BLOCK)
        tni_random_fill(f->generator, (uint32_t *)to + i,
                        n - i < TNI_RANDOM_BLOCK ? n - i : (int64_t)TNI_RANDOM_BLOCK);
    tni_lanes_spread(f->block->context, (n + TNI_RANDOM_TILE - 1) / TNI_RANDOM_TILE, n, task, &j);
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

/* The result itself; of complex numbers its real and imaginary parts, one after the other. */
static tn_tensor *random_parts(tn_tensor *parts, tn_tensor *t) {
    if (!tni_is_complex(t->dtype)) return t;
    *parts = *t;
    parts->dtype = t->dtype == TN_C64 ? TN_F32 : TN_F64;
    parts->numel = t->numel * 2;
    parts->offset = t->offset * 2;
    return parts;
}

/* Fills out[0] with uniform numbers in [from, to): floats of 24 random bits, doubles of 53, half
 * types from floats. */
static void random_uniform(tn_frame *f, double from, double to) {
    tn_tensor parts, *t = random_parts(&parts, f->out[0]);
    char *at;
    if (!t->numel) return;
    at = tni_bytes_at(t);
    if (t->dtype == TN_F32) {
        TNI_PATH(uniform_f32);
        /* Drawn by one thread, converted by all. */
        random_floats(f, at, t->numel, (float)from, (float)to, random_task_uniform);
    } else if (t->dtype == TN_F64) {
        double *d = (double *)(void *)at, range = to - from;
        TNI_PATH(uniform_f64);
        for (int64_t i = 0; i < t->numel && !tni_stopped_at(i); i++) {
            /* One rounding; what rounds to `to` becomes `from`, as in the float kernel. */
            d[i] = fma(tni_random_u53(f->generator), range, from);
            if (d[i] == to) d[i] = from;
        }
    } else {
        float tile[TNI_RANDOM_TILE];
        TNI_PATH(uniform_half);
        for (int64_t i = 0; i < t->numel && !tni_stopped(); i += TNI_RANDOM_TILE) {
            int64_t n = t->numel - i < TNI_RANDOM_TILE ? t->numel - i : (int64_t)TNI_RANDOM_TILE;
            /* Half types: floats are rounded tile by tile. */
            random_floats(f, tile, n, (float)from, (float)to, random_task_uniform);
            tni_lanes_write(f->block->context->kernels, at + i * 2, 2, t->dtype, tile, TN_F32, n);
            random_below(at + i * 2, t->dtype, from, to, n);
        }
    }
}

static bool rand_check(tn_frame *f) {
    TN_ARGS(rand, a, f);
    return tni_random_new(f, a->size, a->dtype, a->device, TNI_RANDOM_COMPLEX);
}
static void rand_run(tn_frame *f) { random_uniform(f, 0, 1); }
/* Random numbers, uniform in [0, 1). */
TN_OPERATOR(rand,
            "rand(int[] size, *, Generator? generator=None, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_rand(TN_DIMS(2, 3))"), .forms = TN_OUT,
            .check = rand_check, .run = rand_run,
            .sample = "[2,3] | [] | [0] | [70000] | [5] dtype=float64 | [5] dtype=complex64 | [5] "
                      "dtype=complex128 | [5] dtype=float16 | [5000] "
                      "dtype=bfloat16")

static bool rand_like_check(tn_frame *f) { return tni_random_self(f, TNI_RANDOM_COMPLEX); }
static void rand_like_run(tn_frame *f) { random_uniform(f, 0, 1); }
/* Uniform random numbers in [0, 1), with self's sizes and dtype. */
TN_OPERATOR(rand_like, "rand_like(Tensor self, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_rand_like(x)"),
            .forms = TN_SHAPE_ONLY, .check = rand_like_check, .run = rand_like_run,
            .grad = tn_grad_zero, .sample = "(2,3) | (3):f16")

static bool uniform_check(tn_frame *f) {
    TN_ARGS(uniform, a, f);
    const double most = fmin(tni_dtype(f->in[0]->dtype)->largest, DBL_MAX);
    if (!tni_random_self(f, TNI_RANDOM_COMPLEX)) return false;
    if (!(fabs(a->from) <= most) || !(fabs(a->to) <= most))
        return tn_fail(f, TN_INVALID, "%s is out of bounds for %s",
                       fabs(a->from) <= most ? "to" : "from", tni_dtype(f->in[0]->dtype)->text);
    if (a->from > a->to)
        return tn_fail(f, TN_INVALID,
                       "uniform_ expects to return a [from, to) range, but found from=%g > to=%g",
                       a->from, a->to);
    return a->to - a->from <= most ||
           tn_fail(f, TN_INVALID,
                   "uniform_ expects to-from to be at most %g, but found to=%g and from=%g", most,
                   a->to, a->from);
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
    .forms = TN_INPLACE, .check = uniform_check, .run = uniform_run, .grad = tni_random_zero_grad,
    .sample = "(2,3) -1.0 2.0 | (5):f64 | (5000):f16 | () | (5):c128")

/* --- normal ----------------------------------------------------------------------------------- */

/* A normal number for small and strided tensors: pairs by Box and Muller's transform in double. The
 * generator keeps the second number of a pair for the next call, as torch's does. */
TN_PRIV double tni_random_normal(tn_frame *f) {
    tn_generator *g = f->generator;
    double u, v;
    if (g->has_normal) {
        g->has_normal = false;
        return g->normal;
    }
    u = tni_random_u53(g);
    v = tni_random_u53(g);
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
    for (int64_t i = 0; i < n && !tni_stopped_at(i); i++) d[i] = tni_random_u53(f->generator);
    for (int64_t i = 0; i + 16 <= n && !tni_stopped_at(i); i += 16)
        random_normal_16(f, d + i, mean, std);
    if (n % 16 == 0) return;
    for (int64_t i = n - 16; i < n; i++) d[i] = tni_random_u53(f->generator);
    random_normal_16(f, d + n - 16, mean, std);
}

/* The same for floats, whose blocks random_floats converts. */
static void random_normal_f32(tn_frame *f, float *d, int64_t n, float mean, float std) {
    const tni_kernels *k = f->block->context->kernels;
    TNI_PATH(normal_f32);
    random_floats(f, d, n, mean, std, random_task_normal);
    if (n % 16 == 0) return;
    TNI_PATH(normal_f32_tail);
    tni_random_fill(f->generator, (uint32_t *)(void *)(d + n - 16), 16);
    TNI_K(k, uniform_f32)(d + n - 16, 16, 0, 1);
    TNI_K(k, normal_f32)(d + n - 16, 1, mean, std);
}

/* The same for half types: whole blocks of 16 are drawn as floats and rounded. For the rest nothing
 * is drawn before the last 16 places are. */
static void random_normal_half(tn_frame *f, char *at, int dtype, int64_t n, float mean, float std) {
    float tile[TNI_RANDOM_TILE];
    TNI_PATH(normal_half);
    for (int64_t i = 0; i < n / 16 * 16 && !tni_stopped(); i += TNI_RANDOM_TILE) {
        int64_t left = n / 16 * 16 - i,
                m = left < TNI_RANDOM_TILE ? left : (int64_t)TNI_RANDOM_TILE;
        random_floats(f, tile, m, mean, std, random_task_normal);
        tni_lanes_write(f->block->context->kernels, at + i * 2, 2, dtype, tile, TN_F32, m);
    }
    if (n % 16 == 0) return;
    random_normal_f32(f, tile, 16, mean, std);
    tni_lanes_save(at + (n - 16) * 2, 2, dtype, tile, TN_F32, 16);
}

/* Fills t with normal numbers. Which way is taken, and so which numbers come, depends on size,
 * dtype and layout as in torch. */
static void random_gauss_in(tn_frame *f, const tn_tensor *t, double mean, double std,
                            bool contiguous) {
    char *at = tni_bytes_at(t);
    int64_t bytes = tni_dtype_size(t);
    if (t->numel < 16 || !contiguous) {
        /* Few elements, or strides that torch's blocks do not serve: one draw after the other. */
        TNI_PATH(normal_one_by_one);
        for (int64_t i = 0; i < t->numel && !tni_stopped_at(i); i++) {
            double v = fma(tni_random_normal(f), std, mean);
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

/* Fills out[0] with normal numbers; of complex ones each part has half of the variance, and the
 * mean, as torch's. */
static void random_gauss(tn_frame *f, double mean, double std, bool contiguous) {
    tn_tensor parts, *t = random_parts(&parts, f->out[0]);
    if (t->numel) random_gauss_in(f, t, mean, t == &parts ? std / sqrt(2.0) : std, contiguous);
}

static bool randn_check(tn_frame *f) {
    TN_ARGS(randn, a, f);
    return tni_random_new(f, a->size, a->dtype, a->device, TNI_RANDOM_COMPLEX);
}
static void randn_run(tn_frame *f) { random_gauss(f, 0, 1, true); }
/* Normal random numbers with mean 0 and standard deviation 1. */
TN_OPERATOR(randn,
            "randn(int[] size, *, Generator? generator=None, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_randn(TN_DIMS(2, 3))"), .forms = TN_OUT,
            .check = randn_check, .run = randn_run,
            .sample = "[2,3] | [] | [0] | [16] | [17] | [70003] | [20] dtype=float64 | [9] "
                      "dtype=complex64 | [3] dtype=complex128 | [5] "
                      "dtype=float16 | [5000] dtype=bfloat16")

static bool randn_like_check(tn_frame *f) { return tni_random_self(f, TNI_RANDOM_COMPLEX); }
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
    if (!(a->std >= 0))
        return tn_fail(f, TN_INVALID, "normal expects std >= 0.0, but found std %g", a->std);
    return tni_random_self(f, TNI_RANDOM_COMPLEX);
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
    .forms = TN_INPLACE, .check = normal_check, .run = normal_run, .grad = tni_random_zero_grad,
    .sample = "(2,3) 1.0 0.5 | (20) | (20):f64 | (33):bf16 | () | (9):c64 1.0 0.5")

/* --- exponential, cauchy, geometric, log_normal ----------------------------------------------- */

static bool exponential_check(tn_frame *f) {
    TN_ARGS(exponential, a, f);
    if (!(a->lambd > 0)) return tn_fail(f, TN_INVALID, "lambd (%g) is not positive", a->lambd);
    return tni_random_self(f, TNI_RANDOM_FLOATS);
}
/* Fills out[0] tile by tile: `draw` makes n doubles, which are rounded to the dtype. */
static void random_tiles(tn_frame *f, void (*draw)(tn_frame *f, double *to, int64_t n)) {
    tn_tensor *t = f->out[0];
    double tile[TNI_RANDOM_TILE];
    int64_t bytes = tni_dtype_size(t);
    for (int64_t i = 0; i < t->numel && !tni_stopped(); i += TNI_RANDOM_TILE) {
        int64_t n = t->numel - i < TNI_RANDOM_TILE ? t->numel - i : (int64_t)TNI_RANDOM_TILE;
        draw(f, tile, n);
        tni_lanes_save(tni_bytes_at(t) + i * bytes, bytes, t->dtype, tile, TN_F64, n);
    }
}

static void random_u53s(tn_frame *f, double *to, int64_t n) {
    for (int64_t k = 0; k < n; k++) to[k] = tni_random_u53(f->generator);
}

/* -log(1 - u) / lambd, the inverse of the distribution function, in double. */
static void exponential_draw(tn_frame *f, double *to, int64_t n) {
    TN_ARGS(exponential, a, f);
    double scale = 1 / a->lambd;
    random_u53s(f, to, n);
    TNI_K(f->block->context->kernels, exponential_f64)(to, n);
    for (int64_t k = 0; k < n; k++) to[k] *= scale;
}
static void exponential_run(tn_frame *f) { random_tiles(f, exponential_draw); }
/* Fills self with exponentially distributed random numbers of rate lambd. */
TN_OPERATOR(exponential,
            "exponential_(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_exponential_(x)"),
            .forms = TN_INPLACE, .check = exponential_check, .run = exponential_run,
            .grad = tni_random_zero_grad, .sample = "(2,3) | (5):f64 2.0 | (20):f16")

static bool cauchy_check(tn_frame *f) {
    TN_ARGS(cauchy, a, f);
    if (!(a->sigma > 0))
        return tn_fail(f, TN_INVALID, "cauchy_ expects sigma > 0.0, but found sigma=%g", a->sigma);
    return tni_random_self(f, TNI_RANDOM_FLOATS);
}
/* The inverse of the distribution function, in double. */
static void cauchy_draw(tn_frame *f, double *to, int64_t n) {
    TN_ARGS(cauchy, a, f);
    random_u53s(f, to, n);
    TNI_K(f->block->context->kernels, cauchy_f64)(to, n, a->median, a->sigma);
}
static void cauchy_run(tn_frame *f) { random_tiles(f, cauchy_draw); }
/* Fills self with random numbers of the Cauchy distribution around median, of width sigma. */
TN_OPERATOR(cauchy,
            "cauchy_(Tensor self, float median=0.0, float sigma=1.0, *, Generator? "
            "generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_cauchy_(x, .sigma = 2)"),
            .forms = TN_INPLACE, .check = cauchy_check, .run = cauchy_run,
            .grad = tni_random_zero_grad,
            .sample = "(2,3) | (5):f64 -1.0 2.0 | (20):f16 | (0) | (5000):f64 | ()")

static bool geometric_check(tn_frame *f) {
    TN_ARGS(geometric, a, f);
    if (!(a->p > 0 && a->p < 1))
        return tn_fail(f, TN_INVALID, "geometric_ expects p to be in (0, 1), but got p=%g", a->p);
    if (f->in[0]->dtype == TN_BOOL)
        return tn_fail(f, TN_UNSUPPORTED, "geometric_ is not implemented for bool");
    return tni_random_self(f, TNI_RANDOM_ANY);
}
/* The inverse of the distribution function: the first trial whose chance u does not exceed. */
static void geometric_draw(tn_frame *f, double *to, int64_t n) {
    TN_ARGS(geometric, a, f);
    random_u53s(f, to, n);
    TNI_K(f->block->context->kernels, geometric_f64)(to, n, a->p);
}
static void geometric_run(tn_frame *f) { random_tiles(f, geometric_draw); }
/* Fills self with numbers of trials, 1 or more, until one succeeds with probability p. */
TN_OPERATOR(geometric, "geometric_(Tensor self, float p, *, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_geometric_(x, 0.3)"),
            .forms = TN_INPLACE, .check = geometric_check, .run = geometric_run,
            .grad = tni_random_zero_grad,
            .sample = "(2,3) 0.3 | (5):f64 0.9 | (20):i64 0.1 | (0) 0.5 | (5000):i32 0.2 | () 0.5")

static bool log_normal_check(tn_frame *f) {
    TN_ARGS(log_normal, a, f);
    if (!(a->std > 0))
        return tn_fail(f, TN_INVALID, "log_normal_ expects std > 0.0, but found std=%g", a->std);
    return tni_random_self(f, TNI_RANDOM_FLOATS);
}
/* Normal numbers one by one, of any size and layout, as torch draws them for this row. */
static void log_normal_draw(tn_frame *f, double *to, int64_t n) {
    TN_ARGS(log_normal, a, f);
    for (int64_t k = 0; k < n; k++) to[k] = tni_random_normal(f);
    TNI_K(f->block->context->kernels, log_normal_f64)(to, n, a->mean, a->std);
}
static void log_normal_run(tn_frame *f) { random_tiles(f, log_normal_draw); }
/* Fills self with numbers whose logarithm is normal, of the given mean and standard deviation. */
TN_OPERATOR(
    log_normal,
    "log_normal_(Tensor self, float mean=1.0, float std=2.0, *, Generator? "
    "generator=None) -> Tensor",
    TN_DOC(.shapes = "self (*) -> self", .example = "tn_log_normal_(x, .std = 0.5)"),
    .forms = TN_INPLACE, .check = log_normal_check, .run = log_normal_run,
    .grad = tni_random_zero_grad,
    .sample = "(2,3) | (5):f64 -1.0 0.5 | (20):f16 0.0 1.0 | (0):f32 | (5000):f64 0.0 0.5 | ()")
