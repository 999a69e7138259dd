/* multinomial.c - indices drawn by weights, by torch's methods for one thread: exponential races
 * without replacement (P. Efraimidis, P. Spirakis, Weighted random sampling with a reservoir,
 * 2006), the inverse of the distribution function with it. */
#include "random.h"
#include "../../cpu/walk.h"
#include "../../api/ops/creation.h"
#include "../../call/arguments.h"

enum { MULTI_MOST = 1 << 24 }; /* categories: a float32 tells so many apart */

static bool multinomial_check(tn_frame *f) {
    TN_ARGS(multinomial, a, f);
    const tn_tensor *p = f->in[0];
    int64_t size[2], n;
    if (p->ndim != 1 && p->ndim != 2) return tn_fail(f, TN_INVALID, "prob_dist must be 1 or 2 dim");
    if (!tni_is_float(p->dtype))
        return tn_fail(f, TN_TYPE,
                       "multinomial only supports floating-point dtypes for input, got: %s",
                       tni_dtype(p->dtype)->text);
    if (!tni_given_is(f, 0, TN_I64)) return false;
    n = p->size[p->ndim - 1];
    if (a->num_samples <= 0) return tn_fail(f, TN_INVALID, "cannot sample n_sample <= 0 samples");
    if (!a->replacement && a->num_samples > n)
        return tn_fail(f, TN_INVALID,
                       "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    if (n > MULTI_MOST) return tn_fail(f, TN_INVALID, "number of categories cannot exceed 2^24");
    size[0] = p->size[0];
    size[p->ndim - 1] = a->num_samples;
    /* A key and an index for each category. */
    return tn_scratch(f, n, 2 * (int64_t)sizeof(double)) &&
           tn_announce(f, 0, TN_I64, p->ndim, size);
}

/* The weights are data: all are checked before one number is drawn. */
static bool multinomial_look(tn_frame *f) {
    const tn_tensor *p = f->in[0];
    const int64_t bytes = tni_dtype_size(p);
    tni_walk w;
    tni_walk_start(&w, p->ndim, p->size, &p, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            double v;
            tni_lanes_load(&v, TN_F64, w.at[0] + i * w.row[0], bytes, p->dtype, 1);
            if (!(v >= 0 && v - v == 0))
                return tn_fail(f, TN_INVALID,
                               "probability tensor contains either `inf`, `nan` or element < 0");
        }
    for (int64_t r = 0; r < (p->ndim == 2 ? p->size[0] : 1); r++) {
        const int64_t n = p->size[p->ndim - 1], step = p->stride[p->ndim - 1] * bytes;
        const char *at = tni_bytes_at(p) + (p->ndim == 2 ? r * p->stride[0] * bytes : 0);
        bool some = false;
        for (int64_t i = 0; i < n && !some; i++) {
            double v;
            tni_lanes_load(&v, TN_F64, at + i * step, bytes, p->dtype, 1);
            some = v > 0;
        }
        if (!some)
            return tn_fail(f, TN_INVALID,
                           "invalid multinomial distribution (sum of probabilities <= 0)");
    }
    return true;
}

/* v rounded to a floating dtype, as a double. */
static double multi_rounded(double v, int dtype) {
    uint64_t cell = 0;
    if (dtype == TN_F64) return v;
    tni_lanes_save(&cell, 1, dtype, &v, TN_F64, 1);
    tni_lanes_load(&v, TN_F64, (const char *)&cell, 1, dtype, 1);
    return v;
}

/* --- without replacement, or one draw --------------------------------------------------------- */

/* keys[i] = weight / a number of the exponential distribution: the largest win. */
static void multi_race(tn_frame *f, const char *at, int64_t step, int64_t n, double *keys) {
    const int dtype = f->in[0]->dtype;
    double tile[TNI_RANDOM_TILE / 8];
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < TNI_RANDOM_TILE / 8 ? n - i : TNI_RANDOM_TILE / 8;
        for (int64_t k = 0; k < m; k++) tile[k] = tni_random_u53(f->generator);
        TNI_K(f->block->context->kernels, exponential_f64)(tile, m);
        for (int64_t k = 0; k < m; k++) {
            double v;
            tni_lanes_load(&v, TN_F64, at + (i + k) * step, 1, dtype, 1);
            v /= multi_rounded(tile[k], dtype);
            keys[i + k] = multi_rounded(v, dtype);
        }
    }
}
/* Whether index a comes before b: by the larger key, then by the smaller index. NaN comes first. */
static bool multi_before(const double *keys, int64_t a, int64_t b) {
    const bool x = keys[a] != keys[a], y = keys[b] != keys[b];
    if (x != y) return x;
    return keys[a] > keys[b] || (!(keys[a] < keys[b]) && a < b);
}
/* Moves the index at the root of the heap down to its place. */
static void multi_sink(const double *keys, int64_t *heap, int64_t i, int64_t n) {
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        const int64_t held = heap[i];
        if (child + 1 < n && multi_before(keys, heap[child + 1], heap[child])) child++;
        if (!multi_before(keys, heap[child], held)) return;
        heap[i] = heap[child];
        heap[child] = held;
    }
}
/* The indices of the `count` largest keys, largest first. */
static void multi_largest(const double *keys, int64_t *heap, int64_t n, char *to, int64_t step,
                          int64_t count) {
    for (int64_t i = 0; i < n; i++) heap[i] = i;
    for (int64_t i = n / 2; i-- > 0;) multi_sink(keys, heap, i, n);
    for (int64_t k = 0; k < count; k++) {
        memcpy(to + k * step, &heap[0], sizeof heap[0]);
        heap[0] = heap[--n];
        multi_sink(keys, heap, 0, n);
    }
}

/* --- with replacement ------------------------------------------------------------------------- */

/* The distribution function of the weights, summed in the dtype, in float for 16-bit floats. */
static void multi_function(const char *at, int64_t step, int64_t n, int dtype, double *sums) {
    const bool wide = dtype == TN_F64;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double v;
        tni_lanes_load(&v, TN_F64, at + i * step, 1, dtype, 1);
        sum = wide ? sum + v : (double)(float)(sum + v);
        sums[i] = sum;
    }
    for (int64_t i = 0; i < n; i++) sums[i] = wide ? sums[i] / sum : (double)(float)(sums[i] / sum);
    sums[n - 1] = 1;
}
static void multi_draw(tn_frame *f, const double *sums, int64_t n, char *to, int64_t step,
                       int64_t count) {
    for (int64_t k = 0; k < count && !tni_stopped_at(k); k++) {
        const double u = tni_random_u53(f->generator);
        int64_t from = 0, end = n;
        while (from < end) { /* the first that is not below u */
            const int64_t middle = from + (end - from) / 2;
            if (sums[middle] < u)
                from = middle + 1;
            else
                end = middle;
        }
        memcpy(to + k * step, &from, sizeof from);
    }
}

static void multinomial_run(tn_frame *f) {
    TN_ARGS(multinomial, a, f);
    const tn_tensor *p = f->in[0], *out = f->out[0];
    const int last = p->ndim - 1;
    const int64_t n = p->size[last], bytes = tni_dtype_size(p), rows = last ? p->size[0] : 1;
    const int64_t step = p->stride[last] * bytes, by = out->stride[last] * (int64_t)sizeof(int64_t);
    double *keys = (double *)f->scratch;
    int64_t *heap = (int64_t *)(void *)(keys + n);
    for (int64_t r = 0; r < rows && !tni_stopped(); r++) {
        const char *at = tni_bytes_at(p) + (last ? r * p->stride[0] * bytes : 0);
        char *to = tni_bytes_at(out) + (last ? r * out->stride[0] * (int64_t)sizeof(int64_t) : 0);
        if (a->replacement && a->num_samples > 1) {
            multi_function(at, step, n, p->dtype, keys);
            multi_draw(f, keys, n, to, by, a->num_samples);
        } else {
            multi_race(f, at, step, n, keys);
            multi_largest(keys, heap, n, to, by, a->num_samples);
        }
    }
}
/* Indices of the last dimension, drawn by its weights, which need not add up to 1; num_samples for
 * each row. Without replacement no index comes twice. */
TN_OPERATOR(multinomial,
            "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? "
            "generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*, m), floating, 1-d or 2-d -> (*, num_samples), int64",
                   .example = "tn_multinomial(p, 2)"),
            .forms = TN_OUT, .check = multinomial_check, .look = multinomial_look,
            .run = multinomial_run, .grad = tn_grad_zero, .domain = "self:0.1..1",
            .sample = "(5) 1 | (2,3) 2 | (35) 35 | (4,6) 9 True | (7):f64 3 True | (0,3) 2 | "
                      "(3,4):f64 4")
