/* statistics.c - variance and standard deviation, and p-norms, over dimensions. */
#include "reduction.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* Refuses dtypes that are neither floating nor complex. */
static bool stat_floating(tn_frame *f, const tn_tensor *x) {
    if (tni_dtype(x->dtype)->category >= TNI_CAT_FLOAT && tni_dtype(x->dtype)->computes)
        return true;
    return tn_fail(f, TN_TYPE, "expected a floating or complex dtype, got %s",
                   tni_dtype(x->dtype)->text);
}
static tn_dtype stat_real(int dtype) {
    return tni_is_complex(dtype) ? tni_real_of(dtype) : (tn_dtype)dtype;
}

/* --- variance --------------------------------------------------------------------------------- */

/* Mean and sum of squared deviations of a block, in two sweeps over it; blocks join as in T. Chan,
 * G. Golub, R. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
 * variances", 1979. */
typedef struct var_part {
    double mean, m2;
} var_part;

static double var_read(int compute, const tni_room *at, int64_t i) {
    return compute == TN_F32 ? (double)at->f[i] : at->d[i];
}

/* What the deviations from a rounded mean say: one = sum d, two = sum d^2 over n. */
static var_part var_correct(double mean, double one, double two, double n) {
    var_part p;
    /* If the mean was exact, one is 0; otherwise both sums are moved to the true mean (two-pass
     * algorithm with correction). m2 cannot be negative but by rounding. */
    p.mean = mean + one / n;
    p.m2 = fma(-one, one / n, two);
    if (p.m2 < 0) p.m2 = 0;
    return p;
}

static void var_kernel(const tni_kernels *k, int compute, const void *x, int64_t step, int64_t rows,
                       int64_t n, const void *mean, void *one, void *two) {
    (compute == TN_F32 ? TNI_K(k, deviation_rows_f32)
                       : TNI_K(k, deviation_rows_f64))(x, step, rows, n, mean, one, two);
}

static void var_rows(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                     int64_t rows, int64_t n, int64_t first, void *to) {
    tni_room mean, one, two;
    var_part *part = (var_part *)to;
    (void)first;
    /* First sweep: sums of columns and their means; second: deviations from these. */
    tni_fill_lanes(&mean, l->compute, 0, n);
    tni_fill_lanes(&one, l->compute, 0, n);
    tni_fill_lanes(&two, l->compute, 0, n);
    tni_reduce_rows(r->kernels, &tni_sum, l->compute, x, step, rows, n, &mean);
    for (int64_t i = 0; i < n && rows; i++)
        if (l->compute == TN_F32)
            mean.f[i] /= (float)rows;
        else
            mean.d[i] /= (double)rows;
    /* Deviations and their squares, a chain a column. */
    var_kernel(r->kernels, l->compute, x, step, rows, n, &mean, &one, &two);
    for (int64_t i = 0; i < n; i++)
        part[i] = var_correct(var_read(l->compute, &mean, i), var_read(l->compute, &one, i),
                              var_read(l->compute, &two, i), rows ? (double)rows : 1);
}

/* Sums of the deviations of the n elements at x from `mean`, and of their squares, in lanes. */
static void var_lanes(const tni_kernels *k, int compute, const char *x, int64_t n, double mean,
                      tni_room *one, tni_room *two) {
    const int64_t lanes = TNI_LANE_BYTES / (compute == TN_F32 ? 4 : 8), full = n / lanes;
    tni_room centre;
    memset(one, 0, sizeof *one);
    memset(two, 0, sizeof *two);
    /* One lane for each element of a row of lanes, all with the same centre. */
    tni_fill_lanes(&centre, compute, mean, n < lanes ? n : lanes);
    if (full) var_kernel(k, compute, x, TNI_LANE_BYTES, full, lanes, &centre, one, two);
    if (n % lanes)
        var_kernel(k, compute, x + full * TNI_LANE_BYTES, 0, 1, n % lanes, &centre, one, two);
}

TN_PRIV void tni_var_block(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t many, int64_t n, double *pairs) {
    enum { ROWS = 16 };
    const int64_t lanes = TNI_LANE_BYTES / (compute == TN_F32 ? 4 : 8);
    const char *at = (const char *)x;
    tni_room one[ROWS], two[ROWS], mean, ones, twos;
    int64_t h = 1; /* lanes that are folded, a power of two that covers those in use */
    while (h < n && h < lanes) h *= 2;
    for (int64_t some; many > 0; many -= some, pairs += 2 * some, at += some * step) {
        double c[ROWS];
        some = many < (int)ROWS ? many : (int)ROWS;
        /* The means in the compute type, then their lanes of the second sweep. */
        tni_sum.many(k, compute, at, step, some, n, &mean);
        for (int64_t i = 0; i < some; i++) {
            c[i] = !n                  ? 0
                   : compute == TN_F32 ? (double)(mean.f[i] / (float)n)
                                       : mean.d[i] / (double)n;
            var_lanes(k, compute, at + i * step, n, c[i], one + i, two + i);
        }
        tni_sum.many(k, compute, one, sizeof *one, some, h, &ones);
        tni_sum.many(k, compute, two, sizeof *two, some, h, &twos);
        for (int64_t i = 0; i < some; i++) {
            const var_part p = var_correct(c[i], var_read(compute, &ones, i),
                                           var_read(compute, &twos, i), n ? (double)n : 1);
            pairs[2 * i] = p.mean;
            pairs[2 * i + 1] = p.m2;
        }
    }
}

TN_PRIV void tni_var_join(double *mean, double *m2, double na, double mean_b, double m2_b,
                          double nb) {
    /* Chan et al.: m2 = m2a + m2b + d^2 na nb / n, mean = mean_a + d nb / n. */
    double d = mean_b - *mean, n = na + nb;
    if (nb <= 0) return;
    *m2 = fma(d * d, na * (nb / n), *m2 + m2_b);
    *mean = fma(d, nb / n, *mean);
}

static void var_block(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                      int64_t many, int64_t n, int64_t first, void *to) {
    (void)first; /* a part is a pair */
    tni_var_block(r->kernels, l->compute, x, step, many, n, (double *)to);
}

static void var_merge(const tni_reducer *r, const tni_lanes *l, void *a, const void *b, int64_t n,
                      int64_t na, int64_t nb) {
    var_part *x = (var_part *)a;
    const var_part *y = (const var_part *)b;
    (void)r, (void)l;
    for (int64_t i = 0; i < n; i++)
        tni_var_join(&x[i].mean, &x[i].m2, (double)na, y[i].mean, y[i].m2, (double)nb);
}

enum { VAR_VARIANCE, VAR_DEVIATION };

/* out[0]: variance or deviation, out[1]: mean or NULL; `scale` is the correction. */
static void var_store(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                      int64_t at) {
    const var_part *p = (const var_part *)parts;
    int64_t bytes = tni_dtype(r->out_dtype)->bytes;
    /* n - correction; nothing left gives infinity or NaN, and no elements give NaN, as in torch. */
    double left = (double)l->n - r->scale;
    for (int64_t i = 0; i < n; i++, at += l->width_out) {
        double v = l->n ? p[i].m2 / (left > 0 ? left : 0) : (double)NAN,
               mean = l->n ? p[i].mean : (double)NAN;
        if (r->finish == VAR_DEVIATION) v = sqrt(v);
        tni_lanes_save((char *)r->out[0] + at * bytes, bytes, r->out_dtype, &v, TN_F64, 1);
        if (r->out[1])
            tni_lanes_save((char *)r->out[1] + at * bytes, bytes, r->out_dtype, &mean, TN_F64, 1);
    }
}

/* out[0]: (mean, sum of squared deviations) pairs, row-major over the dimensions that stay. */
static void var_store_parts(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                            int64_t at) {
    const var_part *p = (const var_part *)parts;
    for (int64_t i = 0; i < n; i++, at += l->width_out) ((var_part *)r->out[0])[at] = p[i];
}

TN_PRIV void tni_var_parts(tn_context *c, tni_lanes *l, void *scratch, double *pairs) {
    tni_reducer r = {sizeof(var_part),
                     var_block,
                     var_rows,
                     var_merge,
                     var_store_parts,
                     c->kernels,
                     0,
                     {NULL, NULL},
                     0,
                     0,
                     0,
                     0};
    /* As a variance, with another end: the parts themselves are stored. */
    r.out[0] = pairs;
    tni_lanes_run(c, l, &r, scratch);
}

static bool var_check_as(tn_frame *f, tn_ints dim, bool keepdim, tn_scalar correction, bool mean) {
    const tn_tensor *x = f->in[0];
    tni_shape to;
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    if (correction.kind == TN_KIND_COMPLEX)
        return tn_fail(f, TN_TYPE, "correction must not be complex");
    if (!stat_floating(f, x) || !tni_reduced(f, x, dim, keepdim, &to, gone)) return false;
    f->type = (uint8_t)tni_lanes_compute(x->dtype);
    tni_lanes_init(&l, x, gone, f->type, 0);
    if (!tn_announce(f, 0, stat_real(x->dtype), to.ndim, to.size)) return false;
    if (mean && !tn_announce(f, 1, (tn_dtype)x->dtype, to.ndim, to.size)) return false;
    /* The parts of complex numbers are reduced apart, two pairs a result, before
     * they are joined. */
    if (tni_is_complex(x->dtype) && !tn_scratch(f, f->out[0]->numel, 2 * sizeof(var_part)))
        return false;
    return tni_lanes_scratch(f, &l, sizeof(var_part));
}

static double var_correction(tn_scalar c) {
    return c.kind == TN_KIND_NONE ? 1 : c.kind == TN_KIND_FLOAT ? c.real : (double)c.integer;
}

/* Of complex numbers: the sum of the parts' variances, and the mean of each part. */
static void var_run_complex(tn_frame *f, tni_lanes *l, double left, int finish, tn_tensor *mean) {
    const int64_t results = f->out[0]->numel, bytes = tni_dtype_size(f->out[0]);
    double *parts = (double *)f->scratch;
    tni_var_parts(f->block->context, l,
                  (char *)f->scratch + ((results * 32 + TNI_ALIGN - 1) & -TNI_ALIGN), parts);
    /* parts: (mean, m2) of the real parts, then of the imaginary ones. */
    for (int64_t i = 0; i < results; i++, parts += 4) {
        double v = l->n ? (parts[1] + parts[3]) / (left > 0 ? left : 0) : (double)NAN;
        double centre[2];
        centre[0] = l->n ? parts[0] : (double)NAN;
        centre[1] = l->n ? parts[2] : (double)NAN;
        if (finish == VAR_DEVIATION) v = sqrt(v);
        tni_lanes_save(tni_bytes_at(f->out[0]) + i * bytes, bytes, f->out[0]->dtype, &v, TN_F64, 1);
        if (mean)
            tni_lanes_save(tni_bytes_at(mean) + i * 2 * bytes, bytes, f->out[0]->dtype, centre,
                           TN_F64, 2);
    }
}

static void var_run_as(tn_frame *f, tn_ints dim, tn_scalar correction, int finish,
                       tn_tensor *mean) {
    tn_context *c = f->block->context;
    tni_reducer r = {sizeof(var_part), var_block, var_rows, var_merge, var_store, c->kernels, 0,
                     {NULL, NULL},     0,         0,        0,         0};
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    /* The plan of check once more; complex numbers go through pairs of parts. */
    if (!f->out[0]->numel) return;
    tni_dims_gone(f->in[0], dim, gone);
    tni_lanes_init(&l, f->in[0], gone, f->type, 0);
    if (tni_is_complex(f->in[0]->dtype)) {
        var_run_complex(f, &l, (double)l.n - var_correction(correction), finish, mean);
        return;
    }
    /* A mean is stored only for var_mean. */
    r.out[0] = tni_bytes_at(f->out[0]);
    r.out[1] = mean ? tni_bytes_at(mean) : NULL;
    r.out_dtype = f->out[0]->dtype;
    r.scale = var_correction(correction);
    r.finish = finish;
    tni_lanes_run(c, &l, &r, f->scratch);
}

/* d var / d x = 2 (x - mean) / (n - correction) */
static tn_tensor *var_gradient(tn_tensor *d, tn_tensor *x, tn_ints dim, bool keepdim,
                               tn_scalar correction) {
    double left = tni_dims_count(x, dim) - var_correction(correction);
    tn_tensor *centred = tnp_sub(x, tnp_mean(x, dim, true, TN_NO_DTYPE), 1);
    return tnp_mul(tnp_mul_scalar(tni_dims_keep(d, x, dim, keepdim), tn_float(2 / left)), centred);
}

static bool var_check(tn_frame *f) {
    TN_ARGS(var, a, f);
    return var_check_as(f, a->dim, a->keepdim, a->correction, false);
}
static void var_run(tn_frame *f) {
    TN_ARGS(var, a, f);
    var_run_as(f, a->dim, a->correction, VAR_VARIANCE, NULL);
}
static void var_grad(tn_gradient *g) {
    TN_ARGS(var, a, g);
    tn_give(g, 0, var_gradient(g->incoming[0], g->in[0], a->dim, a->keepdim, a->correction));
}
/* The sum of squared deviations from the mean over dim, divided by n - correction (1 if absent).
 * The variance of complex numbers is real. */
TN_OPERATOR(
    var,
    "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
    "keepdim=False) -> Tensor",
    TN_DOC(.shapes =
               "self (*) floating or complex -> self's shape without dim, 1 there when keepdim",
           .example = "tn_var(x, .dim = TN_DIMS(0))",
           .differs = "grad of tensor 0 at ties [dim=[]]: torch's of an empty list is not that of "
                      "the value"),
    .forms = TN_OUT | TN_LEADING, .needs = "self", .check = var_check, .run = var_run,
    .grad = var_grad,
    .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] correction=0 | "
              "(70,3) [0] | (9000) | "
              "(2,5000) [1] | (1100,40) [0] | (70000) | (3,6):f16 [1] | (4,5) [1] correction=2")

static bool std_check(tn_frame *f) {
    TN_ARGS(std, a, f);
    return var_check_as(f, a->dim, a->keepdim, a->correction, false);
}
static void std_run(tn_frame *f) {
    TN_ARGS(std, a, f);
    var_run_as(f, a->dim, a->correction, VAR_DEVIATION, NULL);
}
static void std_grad(tn_gradient *g) { /* through var: dy / (2 y), 0 where y is 0 */
    TN_ARGS(std, a, g);
    tn_tensor *y = g->out[0], *d = tnp_div(g->incoming[0], tnp_mul_scalar(y, tn_int(2)));
    d = tnp_masked_fill_scalar(d, tnp_eq_scalar(y, tn_int(0)), tn_int(0));
    tn_give(g, 0, var_gradient(d, g->in[0], a->dim, a->keepdim, a->correction));
}
/* The standard deviation: the square root of var. */
TN_OPERATOR(
    std,
    "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
    "keepdim=False) -> Tensor",
    TN_DOC(.shapes =
               "self (*) floating or complex -> self's shape without dim, 1 there when keepdim",
           .example = "tn_std(x, .keepdim = true)",
           .differs = "grad of tensor 0 at ties [dim=[]]: torch's of an empty list is not that of "
                      "the value"),
    .forms = TN_OUT | TN_LEADING, .needs = "self,result", .check = std_check, .run = std_run,
    .grad = std_grad,
    .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] "
              "correction=0 | (9000) | (3,6):bf16 [1]")

static bool var_mean_check(tn_frame *f) {
    TN_ARGS(var_mean, a, f);
    return var_check_as(f, a->dim, a->keepdim, a->correction, true);
}
static void var_mean_run(tn_frame *f) {
    TN_ARGS(var_mean, a, f);
    var_run_as(f, a->dim, a->correction, VAR_VARIANCE, f->out[1]);
}
static void var_mean_grad(tn_gradient *g) {
    TN_ARGS(var_mean, a, g);
    /* The gradient of the mean is spread evenly. */
    tn_tensor *x = g->in[0], *d = g->incoming[1];
    if (g->incoming[0])
        tn_give(g, 0, var_gradient(g->incoming[0], x, a->dim, a->keepdim, a->correction));
    if (!d) return;
    d = tnp_div_scalar(tni_dims_keep(d, x, a->dim, a->keepdim),
                       tn_float(tni_dims_count(x, a->dim)));
    tn_give(g, 0, tnp_expand(d, tni_sizes(x), false));
}
/* The variance and the mean over dim, in one pass. */
TN_OPERATOR(
    var_mean,
    "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
    "keepdim=False) -> (Tensor var, Tensor mean)",
    TN_DOC(.shapes = "self (*) floating or complex -> var, mean: self's shape without dim",
           .example = "tn_var_mean_results m = tn_var_mean(x, .dim = TN_DIMS(0));",
           .differs = "grad of tensor 0 [dim=[]]: torch's of an empty list is not that of "
                      "the value"),
    .forms = TN_LEADING, .needs = "self", .check = var_mean_check, .run = var_mean_run,
    .grad = var_mean_grad,
    .sample = "(2,3,4) | (2,3,4) [1] | (2,3,4) [0,2] keepdim=True | (3,70) [0] correction=0")

/* --- p-norms ---------------------------------------------------------------------------------- */

/* How a norm is reduced: an operation over mapped elements, and whether a root follows. */
typedef struct norm_way {
    const tni_reduction *op;
    int kind; /* TNI_NORM_..., or -1: a power for each element */
    bool root;
} norm_way;

static norm_way norm_way_of(double p) {
    norm_way w = {&tni_sum, -1, true};
    /* Extrema need no root, nor do counts and sums of magnitudes. */
    if (p == HUGE_VAL || p == -HUGE_VAL) {
        w.op = p > 0 ? &tni_max : &tni_min;
        w.kind = TNI_NORM_ABS;
        w.root = false;
    } else if (p == 0) {
        w.kind = TNI_NORM_NONZERO;
        w.root = false;
    } else if (p == 1) {
        w.kind = TNI_NORM_ABS;
        w.root = false;
    } else if (p == 2)
        w.kind = TNI_NORM_SQUARE;
    return w;
}

/* What becomes of elements before they meet. */
static void norm_map(const tni_kernels *k, const tni_lanes *l, void *to, const void *x, int64_t n) {
    const int kind = norm_way_of(l->p).kind;
    if (kind >= 0) {
        (l->compute == TN_F32 ? TNI_K(k, norm_map_f32) : TNI_K(k, norm_map_f64))(x, n, kind, to);
        return;
    }
    if (to != x) memcpy(to, x, (size_t)(n * l->size));
    (l->compute == TN_F32 ? TNI_K(k, power_f32) : TNI_K(k, power_f64))(to, n, l->p);
}

static void norm_store(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                       int64_t at) {
    /* The root of order p, in the compute type. */
    int64_t bytes = tni_dtype(r->out_dtype)->bytes;
    /* A square root is correctly rounded, which a power is not. */
    if (r->finish && r->p == 2)
        for (int64_t i = 0; i < n; i++)
            if (l->compute == TN_F32)
                ((float *)parts)[i] = sqrtf(((float *)parts)[i]);
            else
                ((double *)parts)[i] = sqrt(((double *)parts)[i]);
    else if (r->finish)
        (l->compute == TN_F32 ? TNI_K(r->kernels, power_f32)
                              : TNI_K(r->kernels, power_f64))(parts, n, 1 / r->p);
    tni_lanes_write(r->kernels, (char *)r->out[0] + at * bytes, l->width_out * bytes, r->out_dtype,
                    parts, l->compute, n);
}

static bool norm_check(tn_frame *f) {
    TN_ARGS(linalg_vector_norm, a, f);
    const tn_tensor *x = a->self;
    int dtype = a->dtype ? (int)a->dtype : x->dtype;
    tni_shape to;
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    if (!stat_floating(f, x) || !tni_reduced(f, x, a->dim, a->keepdim, &to, gone)) return false;
    if (tni_dtype(dtype)->category != tni_dtype(x->dtype)->category ||
        (int)tn_promote((tn_dtype)x->dtype, (tn_dtype)dtype) != dtype)
        return tn_fail(f, TN_TYPE, "dtype %s would be narrower than self, %s",
                       tni_dtype(dtype)->text, tni_dtype(x->dtype)->text);
    /* These orders are a minimum or a maximum, which an empty set does not have. */
    if (a->ord < 0 || a->ord == HUGE_VAL)
        for (int d = 0; d < x->ndim; d++)
            if (gone[d] && !x->size[d])
                return tn_fail(f, TN_INVALID,
                               "linalg.vector_norm cannot compute the %g norm on an empty tensor "
                               "because the operation does not have an identity",
                               a->ord);
    f->type = (uint8_t)tni_lanes_compute(dtype);
    tni_lanes_init(&l, x, gone, f->type, TNI_LANES_MAGNITUDE);
    return tn_announce(f, 0, stat_real(dtype), to.ndim, to.size) &&
           tni_lanes_scratch(f, &l, l.size);
}
/* The norms of x over the dimensions that go, in `dtype`. */
static void norm_into(tn_frame *f, const tn_tensor *x, const bool *gone, int compute, double order,
                      void *to, int dtype, void *scratch) {
    tn_context *c = f->block->context;
    norm_way w = norm_way_of(order);
    tni_reducer r = {compute == TN_F32 ? 4 : 8,
                     tni_plain_block,
                     tni_plain_rows,
                     tni_plain_merge,
                     norm_store,
                     c->kernels,
                     w.op,
                     {NULL, NULL},
                     0,
                     0,
                     0,
                     0};
    tni_lanes l;
    /* The plan reads elements mapped; a complex one counts as its magnitude. */
    tni_lanes_init(&l, x, gone, compute, TNI_LANES_MAGNITUDE);
    l.map = norm_map;
    l.p = r.p = order;
    r.finish = w.root;
    r.out[0] = to;
    r.out_dtype = dtype;
    tni_lanes_run(c, &l, &r, scratch);
}
static void norm_run(tn_frame *f) {
    TN_ARGS(linalg_vector_norm, a, f);
    tn_tensor *out = f->out[0];
    bool gone[TN_MAX_DIMS];
    if (!out->numel) return;
    tni_dims_gone(a->self, a->dim, gone);
    norm_into(f, a->self, gone, f->type, a->ord, tni_bytes_at(out), out->dtype, f->scratch);
}
/* d|x|_p = sgn(x) |x|^(p-1) / |x|_p^(p-1), zero where that is not defined (the norm, or an
 * element, is 0). */
static void norm_grad(tn_gradient *g) {
    TN_ARGS(linalg_vector_norm, a, g);
    /* By order: 0 is constant, 1 has the sign, 2 needs no power; infinity goes to the extrema. */
    double p = a->ord;
    tn_tensor *x = g->in[0], *y = tni_dims_keep(g->out[0], x, a->dim, a->keepdim);
    tn_tensor *d = tni_dims_keep(g->incoming[0], x, a->dim, a->keepdim), *mask;
    if (p == 0) {
        tn_give(g, 0, tnp_expand(tnp_mul_scalar(d, tn_int(0)), tni_sizes(x), false));
    } else if (p == 1) {
        tn_give(g, 0, tnp_mul(d, tnp_sgn(x)));
    } else if (p == 2) {
        tn_give(g, 0,
                tnp_mul(d, tnp_masked_fill_scalar(tnp_div(x, y), tnp_eq_scalar(y, tn_int(0)),
                                                  tn_int(0))));
    } else if (p == HUGE_VAL || p == -HUGE_VAL) { /* equal extrema share; NaN has none: 0 */
        mask = tnp_eq(tnp_abs(x), y);
        d = tnp_div(d, tnp_clamp_min_scalar(tnp_sum(mask, a->dim, true, TN_NO_DTYPE), tn_int(1)));
        tn_give(g, 0, tnp_mul(tnp_mul(tnp_sgn(x), mask), d));
    } else {
        /* |x|^(p - 1) of 0 is infinite below p = 1, and below 2 its own derivative would be. */
        tn_tensor *slope = tnp_mul(tnp_sgn(x), tnp_pow_scalar(tnp_abs(x), tn_float(p - 1)));
        if (p < 2) slope = tnp_masked_fill_scalar(slope, tnp_eq_scalar(x, tn_int(0)), tn_int(0));
        d = tnp_div(d, tnp_pow_scalar(y, tn_float(p - 1)));
        tn_give(g, 0,
                tnp_mul(slope, tnp_masked_fill_scalar(d, tnp_eq_scalar(y, tn_int(0)), tn_int(0))));
    }
}
/* (sum |x|^ord)^(1 / ord) over dim, or over all elements if dim is absent. ord inf gives the
 * largest |x|, -inf the smallest, 0 the number of nonzero elements. */
TN_OPERATOR(linalg_vector_norm,
            "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, "
            "*, ScalarType? dtype=None) -> Tensor",
            TN_DOC(.shapes = "self (*) floating or complex -> real, self's shape without dim, 1 "
                             "there when keepdim",
                   .example = "tn_linalg_vector_norm(x, .ord = 1)"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CUDA, .needs = "self,result",
            .check = norm_check, .run = norm_run, .grad = norm_grad,
            .sample = "(2,3,4) | (2,3,4) dim=[1] | (2,3,4) 1 [0,2] keepdim=True | (3,70) 3 [0] | "
                      "(70,3) 0.5 [0] | (9000) | "
                      "(2,5000) dim=[1] | (1100,40) dim=[0] | (5,6) inf | (5,6) -inf [1] | (5,6) 0 "
                      "[1] | () | (3,6):f16 | (0)")

static bool norm_compose(tn_frame *f) {
    TN_ARGS(norm, a, f);
    double p = a->p.kind == TN_KIND_NONE    ? 2
               : a->p.kind == TN_KIND_FLOAT ? a->p.real
                                            : (double)a->p.integer;
    return (f->out[0] = tnp_linalg_vector_norm(a->self, p, a->dim, a->keepdim, a->dtype)) != NULL;
}
/* torch.norm for a vector of any shape: linalg_vector_norm with ord = p (2 if absent). */
TN_OPERATOR(
    norm,
    "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p=None, int[1]? dim=None, bool "
    "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    TN_DOC(.shapes = "self (*) floating or complex -> real, self's shape without dim, 1 "
                     "there when keepdim",
           .example = "tn_norm(x, .dim = TN_DIMS(1))",
           .differs = "parameter p: one row for torch's overloads with and without it | parameter "
                      "dim: one row for torch's overloads with and without it | parameter keepdim: "
                      "one row for torch's overloads with and without it | parameter dtype: one "
                      "row for torch's overloads with and without it"),
    .forms = TN_OUT, .autocast = TN_WIDE_CUDA, .compose = norm_compose,
    .sample = "(2,3) | (2,3,4) 1 [1] | (2,3,4) 3 [0,2] keepdim=True")

/* The norms of the list as one vector of out's dtype, whose memory is the call's scratch. */
typedef struct norm_vector {
    tni_storage storage;
    int64_t n, step;
    tn_tensor t; /* points at all of these */
} norm_vector;
static void norm_vector_of(norm_vector *v, const tn_frame *f, int dtype) {
    memset(&v->storage, 0, sizeof v->storage);
    v->storage.data = f->scratch;
    v->n = f->nin;
    v->step = 1;
    tni_stack_view(&v->t, f->in[0], 1, &v->n, &v->step, 0);
    v->t.dtype = (uint8_t)dtype;
    v->t.storage = &v->storage;
}
static const bool norm_all_gone[TN_MAX_DIMS] = {true, true, true, true, true, true, true, true,
                                                true, true, true, true, true, true, true, true};
static bool norm_scratch(tn_frame *f, const tn_tensor *x) {
    tni_lanes l;
    tni_lanes_init(&l, x, norm_all_gone, tni_lanes_compute(x->dtype), TNI_LANES_MAGNITUDE);
    return tni_lanes_scratch(f, &l, l.size);
}
static bool total_norm_check(tn_frame *f) {
    TN_ARGS(total_norm, a, f);
    tn_dtype dtype = TN_NO_DTYPE;
    norm_vector norms;
    if (!f->nin) return tn_fail(f, TN_INVALID, "expected a non-empty list of tensors");
    if (!tn_scratch(f, f->nin, (int64_t)sizeof(double))) return false;
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *x = f->in[i];
        if (!stat_floating(f, x)) return false;
        if (!x->numel && (a->norm_type < 0 || a->norm_type == HUGE_VAL))
            return tn_fail(f, TN_INVALID, "the norm of order %g over no elements is not defined",
                           a->norm_type);
        dtype = dtype ? tn_promote(dtype, stat_real(x->dtype)) : stat_real(x->dtype);
        if (!norm_scratch(f, x)) return false;
    }
    norm_vector_of(&norms, f, (int)dtype);
    return norm_scratch(f, &norms.t) && tn_announce(f, 0, dtype, 0, NULL);
}
static void total_norm_run(tn_frame *f) {
    TN_ARGS(total_norm, a, f);
    const int dtype = f->out[0]->dtype;
    const int64_t size = tni_dtype(dtype)->bytes;
    char *vector = (char *)f->scratch, one[sizeof(double)];
    char *scratch = vector + ((f->nin * (int64_t)sizeof one + TNI_ALIGN - 1) & -TNI_ALIGN);
    norm_vector norms;
    norm_vector_of(&norms, f, dtype);
    for (int i = 0; i < f->nin && !tni_stopped(); i++) {
        const tn_tensor *x = f->in[i];
        const int own = (int)stat_real(x->dtype);
        norm_into(f, x, norm_all_gone, tni_lanes_compute(x->dtype), a->norm_type, one, own,
                  scratch);
        tni_element_set(vector + i * size, dtype, tni_element(one, own));
    }
    norm_into(f, &norms.t, norm_all_gone, tni_lanes_compute(dtype), a->norm_type,
              tni_bytes_at(f->out[0]), dtype, scratch);
}
/* The norm of all elements of a list: linalg_vector_norm of the norms, each in its tensor's dtype.
 * Without a gradient, so that a program that clips holds none. */
TN_OPERATOR(total_norm, "_total_norm(Tensor[] tensors, float norm_type=2) -> Tensor",
            TN_DOC(.shapes = "tensors (*) floating or complex -> () real",
                   .example = "tn_total_norm(TN_LIST(x, y))"),
            .check = total_norm_check, .run = total_norm_run,
            .sample = "{(2,3),(4)} | {(5000),(),(3,2)} 1 | {(70000),(3)} 3 | {(5),(2,2)} inf | "
                      "{(0),(3)} | {(6):c64,(3):f32}")
