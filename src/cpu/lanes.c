/* lanes.c - plans and runs reductions (lanes.h). Knows blocks, trees and threads only. */
#include "drive.h"
#include "lanes.h"

/* --- elements --------------------------------------------------------------------------------- */

TN_PRIV int tni_lanes_compute(int dtype) {
    if (dtype == TN_F64 || dtype == TN_C128) return TN_F64;
    return tni_dtype(dtype)->category >= TNI_CAT_FLOAT ? TN_F32 : TN_I64;
}

/* An exact conversion: a multiplication moves the exponent, which also turns denormals into normal
 * numbers. */
TNI_INLINE float lanes_half(uint16_t h) {
    uint32_t u = (uint32_t)(h & 0x7fffu) << 13;
    float f;
    memcpy(&f, &u, sizeof f);
    f *= 5192296858534827628530496329220096.0f; /* 2^112 */
    memcpy(&u, &f, sizeof u);
    u |= ((h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0) | (uint32_t)(h & 0x8000u) << 16;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* All loads and saves but those of 16-bit floats: C's conversions, but where floats become integers
 * and numbers bool. X(NAME, type, to int64, of a float, of int64) */
#define LANES_TYPES(X)                                           \
    X(BOOL, uint8_t, (int64_t), 0 !=, 0 !=)                      \
    X(U8, uint8_t, (int64_t), (uint8_t)tni_truncate, (uint8_t))  \
    X(I8, int8_t, (int64_t), (int8_t)tni_truncate, (int8_t))     \
    X(I16, int16_t, (int64_t), (int16_t)tni_truncate, (int16_t)) \
    X(I32, int32_t, (int64_t), (int32_t)tni_truncate, (int32_t)) \
    X(I64, int64_t, (int64_t), tni_truncate, (int64_t))          \
    X(F32, float, tni_truncate, (float), (float))                \
    X(F64, double, tni_truncate, (double), (double))

#define LANES_LOAD(NAME, type, whole, cut, put)  \
    case TN_##NAME:                              \
        for (int64_t i = 0; i < n; i++) {        \
            type v;                              \
            memcpy(&v, at + i * step, sizeof v); \
            if (compute == TN_F32)               \
                f[i] = (float)v;                 \
            else if (compute == TN_F64)          \
                d[i] = (double)v;                \
            else                                 \
                k[i] = whole(v);                 \
        }                                        \
        break;

TN_PRIV void tni_lanes_load(void *to, int compute, const void *from, int64_t step, int dtype,
                            int64_t n) {
    const char *at = (const char *)from;
    float *f = (float *)to;
    double *d = (double *)to;
    int64_t *k = (int64_t *)to;
    int64_t bytes = tni_dtype(dtype)->bytes;
    if (dtype == compute && step == bytes) {
        memcpy(to, from, (size_t)(n * bytes));
        return;
    }
    switch (dtype) {
        LANES_TYPES(LANES_LOAD)
    case TN_F16:
    case TN_BF16:
        for (int64_t i = 0; i < n; i++) {
            uint16_t h;
            memcpy(&h, at + i * step, sizeof h);
            float v = dtype == TN_F16 ? lanes_half(h) : tni_bf16_to_f32(h);
            if (compute == TN_F32)
                f[i] = v;
            else if (compute == TN_F64)
                d[i] = (double)v;
            else
                k[i] = tni_truncate((double)v);
        }
        break;
    default: /* dtypes that nothing is computed in */
        for (int64_t i = 0; i < n; i++)
            tni_element_set((char *)to + i * tni_dtype(compute)->bytes, compute,
                            tni_element(at + i * step, dtype));
    }
}

#define LANES_SAVE(NAME, type, whole, cut, put)                                                 \
    case TN_##NAME:                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                       \
            type v = compute == TN_F32 ? cut(f[i]) : compute == TN_F64 ? cut(d[i]) : put(k[i]); \
            memcpy(at + i * step, &v, sizeof v);                                                \
        }                                                                                       \
        break;

TN_PRIV void tni_lanes_save(void *to, int64_t step, int dtype, const void *from, int compute,
                            int64_t n) {
    char *at = (char *)to;
    const float *f = (const float *)from;
    const double *d = (const double *)from;
    const int64_t *k = (const int64_t *)from;
    switch (dtype) {
        LANES_TYPES(LANES_SAVE)
    case TN_F16:
    case TN_BF16:
        for (int64_t i = 0; i < n; i++) {
            float v = compute == TN_F32 ? f[i] : compute == TN_F64 ? (float)d[i] : (float)k[i];
            uint16_t h = dtype == TN_F16 ? tni_f32_to_f16(v) : tni_f32_to_bf16(v);
            memcpy(at + i * step, &h, sizeof h);
        }
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            tni_element_set(
                at + i * step, dtype,
                tni_element((const char *)from + i * tni_dtype(compute)->bytes, compute));
    }
}

TN_PRIV void tni_lanes_read(const tni_kernels *k, void *to, int compute, const void *from,
                            int64_t step, int dtype, int64_t n) {
    if (step == tni_dtype(dtype)->bytes && n > 4)
        tni_convert(k, to, compute, from, dtype, n);
    else
        tni_lanes_load(to, compute, from, step, dtype, n);
}

TN_PRIV void tni_lanes_write(const tni_kernels *k, void *to, int64_t step, int dtype,
                             const void *from, int compute, int64_t n) {
    if (step == tni_dtype(dtype)->bytes && n > 4)
        tni_convert(k, to, dtype, from, compute, n);
    else
        tni_lanes_save(to, step, dtype, from, compute, n);
}

/* to[i] = x[i] != 0; a NaN is not zero. */
static void lanes_nonzero(int64_t *to, const char *x, int64_t step, int dtype, int64_t n) {
    int64_t bytes = tni_dtype(dtype)->bytes;
    int category = tni_dtype(dtype)->category;
    int64_t half = category == TNI_CAT_COMPLEX ? bytes / 2 : bytes;
    uint64_t mask = ~(uint64_t)0 >> 8 * (8 - half);
    if (category >= TNI_CAT_FLOAT) mask >>= 1; /* -0 is zero */
    for (int64_t i = 0; i < n; i++, x += step) {
        uint64_t v = tni_bits_at(x, half);
        if (half != bytes) v |= tni_bits_at(x + half, half);
        to[i] = (v & mask) != 0;
    }
}

/* to[i] = |x[i]| of complex numbers, in f64; nothing overflows that need not. */
static void lanes_magnitude(void *to, int compute, const char *x, int64_t step, int dtype,
                            int64_t n) {
    for (int64_t i = 0; i < n; i++, x += step) {
        double part[2], large, little, q;
        float narrow[2];
        if (dtype == TN_C64)
            memcpy(narrow, x, sizeof narrow), part[0] = narrow[0], part[1] = narrow[1];
        else
            memcpy(part, x, sizeof part);
        large = fabs(part[0]);
        little = fabs(part[1]);
        if (little > large) {
            q = large;
            large = little;
            little = q;
        }
        q = large > 0 && large < HUGE_VAL ? little / large : 0;
        large = part[0] != part[0] || part[1] != part[1] ? part[0] + part[1]
                                                         : large * sqrt(fma(q, q, 1));
        if (compute == TN_F32)
            ((float *)to)[i] = (float)large;
        else
            ((double *)to)[i] = large;
    }
}

/* n elements, `step` bytes apart, as the plan reads them. */
static void lanes_take(const tni_kernels *k, const tni_lanes *l, void *to, const char *x,
                       int64_t step, int64_t n) {
    if (l->how & TNI_LANES_NONZERO)
        lanes_nonzero((int64_t *)to, x, step, l->dtype, n);
    else if (l->how & TNI_LANES_MAGNITUDE)
        lanes_magnitude(to, l->compute, x, step, l->dtype, n);
    else
        tni_lanes_read(k, to, l->compute, x, step, l->dtype, n);
}

/* --- the plan --------------------------------------------------------------------------------- */

typedef struct lanes_dim {
    int64_t size, step, out;
} lanes_dim;

/* Sorts dimensions by falling step, stable, and merges neighbours that lie end to end; returns
 * their number. */
static int lanes_merge(lanes_dim *d, int n, bool sort) {
    int m = 0;
    for (int i = 1; sort && i < n; i++)
        for (int j = i; j > 0 && d[j].step > d[j - 1].step; j--) {
            lanes_dim t = d[j];
            d[j] = d[j - 1];
            d[j - 1] = t;
        }
    for (int i = 0; i < n; i++) {
        lanes_dim *last = d + m - 1;
        if (m && last->step == d[i].step * d[i].size && last->out == d[i].out * d[i].size) {
            last->size *= d[i].size;
            last->step = d[i].step;
            last->out = d[i].out;
        } else
            d[m++] = d[i];
    }
    return m;
}

static void lanes_dims(tni_lanes *l, lanes_dim *keep, int nkeep, lanes_dim *red, int nred,
                       bool ordered) {
    l->nkeep = lanes_merge(keep, nkeep, true);
    l->nred = lanes_merge(red, nred, !ordered);
    l->width = l->width_out = 1;
    if (l->nkeep && keep[l->nkeep - 1].step == l->bytes) { /* results side by side */
        l->columns = true;
        l->width = keep[--l->nkeep].size;
        l->width_out = keep[l->nkeep].out;
    }
    for (int i = 0; i < l->nkeep; i++) {
        l->keep[i] = keep[i].size;
        l->keep_step[i] = keep[i].step;
        l->keep_out[i] = keep[i].out;
        l->outer *= keep[i].size;
    }
    for (int i = 0; i < l->nred; i++) {
        l->red[i] = red[i].size;
        l->red_step[i] = red[i].step;
    }
}

static void lanes_turn(lanes_dim *d, int n) {
    for (int i = 0; i < n / 2; i++) {
        lanes_dim t = d[i];
        d[i] = d[n - 1 - i];
        d[n - 1 - i] = t;
    }
}

TN_PRIV void tni_lanes_init(tni_lanes *l, const tn_tensor *x, const bool *gone, int compute,
                            int how) {
    lanes_dim keep[TNI_LANE_DIMS], red[TNI_LANE_DIMS];
    int nkeep = 0, nred = 0;
    int64_t out = 1;
    memset(l, 0, offsetof(tni_lanes, red));
    l->how = how & (tni_is_complex(x->dtype) ? TNI_LANES_NONZERO | TNI_LANES_MAGNITUDE
                                             : TNI_LANES_NONZERO);
    bool pairs = tni_is_complex(x->dtype) && !l->how;
    int64_t whole = tni_dtype_size(x);
    l->x = x->storage && x->storage->data ? tni_bytes_at(x) : NULL;
    l->dtype = pairs ? (int)tni_real_of(x->dtype) : x->dtype;
    l->bytes = pairs ? whole / 2 : whole;
    l->compute = compute;
    l->size = tni_dtype(compute)->bytes;
    l->lanes = TNI_LANE_BYTES / l->size;
    l->n = l->outer = 1;
    if (pairs) {
        lanes_dim two = {2, whole / 2, 1};
        keep[nkeep++] = two;
        out = 2;
    }
    for (int i = x->ndim - 1; i >= 0; i--) { /* innermost first; turned round below */
        lanes_dim d = {x->size[i], x->stride[i] * whole, out};
        if (gone[i])
            l->n *= d.size;
        else
            out *= d.size;
        if (d.size == 1) continue;
        if (gone[i])
            red[nred++] = d, red[nred - 1].out = red[nred - 1].step;
        else
            keep[nkeep++] = d;
    }
    lanes_turn(keep, nkeep);
    lanes_turn(red, nred);
    lanes_dims(l, keep, nkeep, red, nred, (how & TNI_LANES_ORDERED) != 0);
    l->blocks = (l->n + (l->columns ? TNI_BLOCK_ROWS : TNI_BLOCK) - 1) /
                (l->columns ? TNI_BLOCK_ROWS : TNI_BLOCK);
    if (l->blocks < 1) l->blocks = 1;
    l->subtrees = (l->blocks + TNI_SUBTREE - 1) / TNI_SUBTREE;
}

TN_PRIV bool tni_lanes_scratch(tn_frame *f, tni_lanes *l, int64_t part) {
    int64_t count;
    if (l->subtrees < 2) return true;
    if (!tni_mul(l->outer, l->width, &count) || !tni_mul(count, l->subtrees, &count))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_scratch(f, count, part);
}

/* --- the run ---------------------------------------------------------------------------------- */

enum {
    LANES_PARTS = 16384
}; /* bytes of partial results that a task holds: TNI_SUBTREE blocks of a chunk */

typedef struct lanes_job {
    tn_context *context;
    const tni_lanes *l;
    const tni_reducer *r;
    char *scratch;
} lanes_job;

static int64_t lanes_offset(int n, const int64_t *size, const int64_t *step, int64_t i) {
    int64_t at = 0;
    for (int d = n - 1; d > 0; d--) {
        at += i % size[d] * step[d];
        i /= size[d];
    }
    return n ? at + i * step[0] : 0;
}

#define LANES_MAP(type)                                         \
    for (type *at = (type *)x, *end = at + n; at < end; at++) { \
        type v = *at;                                           \
        *at = l->map == TNI_MAP_SQUARE ? v * v                  \
              : l->map == TNI_MAP_ABS  ? (v <= 0 ? 0 - v : v)   \
                                       : (type)(v != 0);         \
    }
static void lanes_map(const tni_kernels *k, const tni_lanes *l, void *x, int64_t n) {
    if (l->map == TNI_MAP_POWER)
        (l->compute == TN_F32 ? TNI_K(k, power_f32) : TNI_K(k, power_f64))(x, n, l->p);
    else if (l->compute == TN_F32)
        LANES_MAP(float)
    else
        LANES_MAP(double)
}
#undef LANES_MAP

/* `n` elements from number `first` on, `from` being element 0 of the lane: in place, or gathered
 * into `tile`. */
static const void *lanes_fetch(const lanes_job *job, const char *from, int64_t first, int64_t n,
                               void *tile) {
    const tni_lanes *l = job->l;
    int last = l->nred - 1;
    int64_t run = l->nred ? l->red[last] : 1, step = l->nred ? l->red_step[last] : l->bytes,
            done = 0;
    bool plain = !l->how && !l->map;
    if (!n) return tile;
    if (plain && l->dtype == l->compute && step == l->bytes && first % run + n <= run) {
        TNI_PATH(lanes_in_place);
        return from + lanes_offset(l->nred, l->red, l->red_step, first);
    }
    TNI_PATH(lanes_gather);
    while (done < n) {
        int64_t in = (first + done) % run, now = run - in < n - done ? run - in : n - done;
        const char *at = from + lanes_offset(l->nred, l->red, l->red_step, first + done);
        char *to = (char *)tile + done * l->size;
        lanes_take(job->context->kernels, l, to, at, step, now);
        done += now;
    }
    if (l->map) TNI_PATH(lanes_map_row);
    if (l->map) lanes_map(job->context->kernels, l, tile, n);
    return tile;
}

/* Rows `first` to first + rows of n columns; their step in *step. */
static const void *lanes_fetch_rows(const lanes_job *job, const char *from, int64_t first,
                                    int64_t rows, int64_t n, void *tile, int64_t *step) {
    const tni_lanes *l = job->l;
    *step = 0;
    if (!rows) return tile;
    if (!l->how && !l->map && l->dtype == l->compute && l->nred <= 1) {
        TNI_PATH(lanes_rows_in_place);
        *step = l->nred ? l->red_step[0] : 0;
        return from + first * *step;
    }
    TNI_PATH(lanes_gather_rows);
    *step = n * l->size;
    for (int64_t r = 0; r < rows; r++) {
        const char *at = from + lanes_offset(l->nred, l->red, l->red_step, first + r);
        char *to = (char *)tile + r * *step;
        lanes_take(job->context->kernels, l, to, at, l->bytes, n);
    }
    if (l->map) TNI_PATH(lanes_map_rows);
    if (l->map) lanes_map(job->context->kernels, l, tile, rows * n);
    return tile;
}

/* Combines `count` neighbours of `n` parts each, `apart` bytes from one to the next, into the
 * first. A part stands for `each` elements, the last one for what is left of `elements`. */
static void lanes_tree(const lanes_job *job, char *parts, int64_t count, int64_t apart, int64_t n,
                       int64_t each, int64_t elements) {
    for (int64_t half = 1; half < count; half *= 2)
        for (int64_t i = 0; i + half < count; i += 2 * half) {
            int64_t left = elements - (i + half) * each,
                    nb = left < half * each ? left : half * each;
            job->r->merge(job->r, job->l, parts + i * apart, parts + (i + half) * apart, n,
                          half * each, nb);
        }
}

/* Subtree s of results [col, col + n) of lane o into parts[0..n). */
static void lanes_subtree(const lanes_job *job, int64_t o, int64_t col, int64_t n, int64_t s,
                          char *parts) {
    const tni_lanes *l = job->l;
    const tni_reducer *r = job->r;
    double tile[TNI_BLOCK];
    int64_t each = l->columns ? TNI_BLOCK_ROWS : TNI_BLOCK, apart = n * r->part;
    int64_t b = s * TNI_SUBTREE, end = b + TNI_SUBTREE < l->blocks ? b + TNI_SUBTREE : l->blocks,
            begin = b;
    const char *from = l->x + lanes_offset(l->nkeep, l->keep, l->keep_step, o) + col * l->bytes;
    for (; b < end; b++) {
        int64_t first = b * each, count = l->n - first < each ? l->n - first : each;
        char *to = parts + (b - begin) * apart;
        if (!l->columns) {
            r->block(r, l, lanes_fetch(job, from, first, count, tile), count, first, to);
            continue;
        }
        for (int64_t c = 0; c < n; c += l->lanes) {
            int64_t m = n - c < l->lanes ? n - c : l->lanes, step;
            const void *x =
                lanes_fetch_rows(job, from + c * l->bytes, first, count, m, tile, &step);
            r->rows(r, l, x, step, count, m, first, to + c * r->part);
        }
    }
    lanes_tree(job, parts, end - begin, apart, n, each, l->n - begin * each);
}

static void lanes_task(void *arg, int64_t i) {
    const lanes_job *job = (const lanes_job *)arg;
    const tni_lanes *l = job->l;
    int64_t s = i % l->subtrees, j = i / l->subtrees % l->chunks, o = i / l->subtrees / l->chunks;
    int64_t col = j * l->chunk, n = l->width - col < l->chunk ? l->width - col : l->chunk;
    double parts[LANES_PARTS / 8];
    lanes_subtree(job, o, col, n, s, (char *)parts);
    if (l->subtrees == 1)
        job->r->store(job->r, l, parts, n,
                      lanes_offset(l->nkeep, l->keep, l->keep_out, o) + col * l->width_out);
    else
        memcpy(job->scratch + ((o * l->subtrees + s) * l->width + col) * l->part, parts,
               (size_t)(n * l->part));
}

static void lanes_join_task(void *arg, int64_t i) {
    const lanes_job *job = (const lanes_job *)arg;
    const tni_lanes *l = job->l;
    int64_t j = i % l->chunks, o = i / l->chunks, col = j * l->chunk;
    int64_t n = l->width - col < l->chunk ? l->width - col : l->chunk;
    int64_t each = TNI_SUBTREE * (l->columns ? TNI_BLOCK_ROWS : TNI_BLOCK);
    char *parts = job->scratch + (o * l->subtrees * l->width + col) * l->part;
    lanes_tree(job, parts, l->subtrees, l->width * l->part, n, each, l->n);
    job->r->store(job->r, l, parts, n,
                  lanes_offset(l->nkeep, l->keep, l->keep_out, o) + col * l->width_out);
}

TN_PRIV void tni_lanes_run(tn_context *c, tni_lanes *l, const tni_reducer *r, void *scratch) {
    lanes_job job = {c, l, r, (char *)scratch};
    int64_t results = l->outer * l->width;
    if (!results) return;
    l->part = r->part;
    l->chunk = l->columns ? (int)LANES_PARTS / TNI_SUBTREE / r->part : 1;
    l->chunks = (l->width + l->chunk - 1) / l->chunk;
    tni_lanes_spread(c, l->outer * l->chunks * l->subtrees, results * l->n, lanes_task, &job);
    if (l->subtrees > 1) {
        TNI_PATH(lanes_subtrees);
        tni_lanes_spread(c, l->outer * l->chunks, results * l->subtrees, lanes_join_task, &job);
    }
}

/* --- work for threads ------------------------------------------------------------------------- */

enum { LANES_GRAIN = 16384 }; /* elements that are worth a task */

typedef struct lanes_group {
    void (*task)(void *arg, int64_t i);
    void *arg;
    int64_t each, count;
} lanes_group;

static void lanes_group_task(void *arg, int64_t i) {
    const lanes_group *g = (const lanes_group *)arg;
    int64_t end = (i + 1) * g->each < g->count ? (i + 1) * g->each : g->count;
    for (int64_t k = i * g->each; k < end && !tni_stopped(); k++) g->task(g->arg, k);
}

TN_PRIV void tni_lanes_spread(tn_context *c, int64_t count, int64_t elements,
                              void (*task)(void *, int64_t), void *arg) {
    lanes_group g = {task, arg, 1, count};
    int64_t groups = elements / LANES_GRAIN;
    if (groups < 2 || count < 2) {
        for (int64_t i = 0; i < count && !tni_stopped(); i++) task(arg, i);
        return;
    }
    if (groups > 256) groups = 256;
    g.each = (count + groups - 1) / groups;
    if (g.each < 1) g.each = 1;
    TNI_PATH(lanes_threads);
    tni_parallel(c, (count + g.each - 1) / g.each, lanes_group_task, &g);
}

/* --- plain reductions ------------------------------------------------------------------------- */

/* Products and integers: to[i] = to[i] op x[r][i]. Vector code would gain little here. */
#define LANES_ROWS(type, expression)                          \
    for (int64_t r = 0; r < rows; r++, at += step)            \
        for (int64_t i = 0; i < n; i++) {                     \
            type a = ((type *)to)[i], v;                      \
            memcpy(&v, at + i * (int64_t)sizeof v, sizeof v); \
            ((type *)to)[i] = expression;                     \
        }                                                     \
    return

static void lanes_rows_i64(int op, const char *at, int64_t step, int64_t rows, int64_t n,
                           void *to) {
    switch (op) {
    case TNI_SUM: LANES_ROWS(int64_t, (int64_t)((uint64_t)a + (uint64_t)v));
    case TNI_PROD: LANES_ROWS(int64_t, (int64_t)((uint64_t)a * (uint64_t)v));
    case TNI_MAX: LANES_ROWS(int64_t, v > a ? v : a);
    default: LANES_ROWS(int64_t, v < a ? v : a);
    }
}

static void lanes_prod_f32(const char *at, int64_t step, int64_t rows, int64_t n, void *to) {
    LANES_ROWS(float, a *v);
}
static void lanes_prod_f64(const char *at, int64_t step, int64_t rows, int64_t n, void *to) {
    LANES_ROWS(double, a *v);
}

TN_PRIV void tni_reduce_rows(const tni_kernels *k, int op, int compute, const void *x, int64_t step,
                             int64_t rows, int64_t n, void *to) {
    const char *at = (const char *)x;
    if (compute == TN_I64)
        lanes_rows_i64(op, at, step, rows, n, to);
    else if (op == TNI_PROD)
        (compute == TN_F32 ? lanes_prod_f32 : lanes_prod_f64)(at, step, rows, n, to);
    else if (op == TNI_SUM)
        (compute == TN_F32 ? TNI_K(k, sum_rows_f32) : TNI_K(k, sum_rows_f64))(x, step, rows, n, to);
    else
        (compute == TN_F32 ? TNI_K(k, extreme_rows_f32)
                           : TNI_K(k, extreme_rows_f64))(x, step, rows, n, op == TNI_MIN, to);
}

TN_PRIV void tni_fill_lanes(void *to, int compute, double value, int64_t n) {
    int64_t k =
        value == HUGE_VAL ? INT64_MAX : tni_truncate(value); /* of integers: where they begin */
    for (int64_t i = 0; i < n; i++)
        if (compute == TN_F32)
            ((float *)to)[i] = (float)value;
        else if (compute == TN_F64)
            ((double *)to)[i] = value;
        else
            ((int64_t *)to)[i] = k;
}

/* The last few lanes, where vectors do not pay. */
#define LANES_FOLD(type)                                                        \
    for (type *a = (type *)acc; h; h /= 2)                                      \
        for (int64_t i = 0; i < h; i++) {                                       \
            type v = a[i + h];                                                  \
            a[i] = op == TNI_SUM                                     ? a[i] + v \
                   : op == TNI_PROD                                  ? a[i] * v \
                   : (op == TNI_MAX ? v > a[i] : v < a[i]) || v != v ? v        \
                                                                     : a[i];    \
        }
static void lanes_fold_f32(int op, char *acc, int64_t h) { LANES_FOLD(float) }
static void lanes_fold_f64(int op, char *acc, int64_t h){LANES_FOLD(double)}

TN_PRIV double tni_reduce_identity(int op) {
    return op == TNI_SUM ? 0 : op == TNI_PROD ? 1 : op == TNI_MAX ? -HUGE_VAL : HUGE_VAL;
}

/* Lanes past n hold the identity, so folding may start at the power of two that covers them. */
TN_PRIV void tni_reduce_block(const tni_kernels *k, int op, int compute, const void *x, int64_t n,
                              void *to) {
    int64_t size = compute == TN_F32 ? 4 : 8, lanes = TNI_LANE_BYTES / size, h = 1,
            used = n < lanes ? n : lanes;
    tni_room room;
    char *acc = (char *)&room;
    while (h < used) h *= 2;
    tni_fill_lanes(acc, compute, tni_reduce_identity(op), h);
    if (n >= lanes) tni_reduce_rows(k, op, compute, x, TNI_LANE_BYTES, n / lanes, lanes, acc);
    if (n % lanes)
        tni_reduce_rows(k, op, compute, (const char *)x + n / lanes * TNI_LANE_BYTES, 0, 1,
                        n % lanes, acc);
    tni_reduce_fold(k, op, compute, acc, h);
    memcpy(to, acc, (size_t)size);
}

TN_PRIV void tni_reduce_fold(const tni_kernels *k, int op, int compute, void *lanes, int64_t n) {
    int64_t size = compute == TN_F32 ? 4 : 8, h = n / 2;
    char *acc = (char *)lanes;
    for (; h > 8 || (h && compute == TN_I64); h /= 2)
        tni_reduce_rows(k, op, compute, acc + h * size, 0, 1, h, acc);
    if (compute == TN_F32)
        lanes_fold_f32(op, acc, h);
    else if (compute == TN_F64)
        lanes_fold_f64(op, acc, h);
}

/* A tree that is filled from the left, as a binary counter: the entry that waits at depth d stands
 * for 2^k blocks. */
TN_PRIV void tni_tree_begin(tni_tree *t, const tni_kernels *k, int compute, int64_t n) {
    t->kernels = k;
    t->compute = compute;
    t->n = n;
    t->depth = 0;
    t->count = 0;
}

TN_PRIV void *tni_tree_next(tni_tree *t) {
    memset(&t->part[t->depth], 0, sizeof t->part[0]);
    return &t->part[t->depth];
}

static void tree_join(tni_tree *t) {
    t->depth--;
    tni_reduce_rows(t->kernels, TNI_SUM, t->compute, &t->part[t->depth], 0, 1, t->n,
                    &t->part[t->depth - 1]);
}

TN_PRIV void tni_tree_push(tni_tree *t) {
    t->depth++;
    for (int64_t c = t->count++; c & 1; c >>= 1) tree_join(t);
}

TN_PRIV void *tni_tree_end(tni_tree *t) {
    if (!t->depth) tni_tree_next(t), t->depth++;
    while (t->depth > 1) tree_join(t);
    return &t->part[0];
}

/* --- dense copies ----------------------------------------------------------------------------- */

TN_PRIV bool tni_dense_scratch(tn_frame *f, const tn_tensor *t) {
    return !t || t->flags & TNI_CONTIGUOUS || tn_scratch(f, t->numel, tni_dtype_size(t));
}

TN_PRIV const char *tni_dense(tn_frame *f, const tn_tensor *t, char **room) {
    int64_t stride[TN_MAX_DIMS];
    tni_storage storage;
    tn_tensor to;
    if (!t) return NULL;
    if (t->flags & TNI_CONTIGUOUS) return t->numel ? tni_bytes_at(t) : NULL;
    TNI_PATH(dense_copy);
    memset(&storage, 0, sizeof storage);
    storage.data = *room;
    tni_row_major(t->ndim, t->size, stride);
    tni_stack_view(&to, t, t->ndim, t->size, stride, 0);
    to.storage = &storage;
    tni_copy_elements(f->block, &to, t);
    *room += (t->numel * tni_dtype_size(t) + TNI_ALIGN - 1) & -TNI_ALIGN;
    return (const char *)storage.data;
}

#undef LANES_TYPES
#undef LANES_LOAD
#undef LANES_SAVE
#undef LANES_ROWS
#undef LANES_FOLD
