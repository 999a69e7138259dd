/* arg.c - extrema with their places: the index of the first largest or smallest element.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "reduction.h"
#include "../../autograd/give.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/arguments.h"
#include "../../call/rowform.h"

/* What is known of one result: the best value so far and its number in the order of dimensions. */
typedef struct arg_part {
    double value; /* of an I64, its bits */
    int64_t index;
} arg_part;

/* Which extremum, a reducer's `finish`; no value is worse than its identity. */
enum { ARG_OF_MAX, ARG_OF_MIN };
static double arg_identity(const tni_reducer *r) {
    return r->finish == ARG_OF_MIN ? HUGE_VAL : -HUGE_VAL;
}

/* Whether v beats a: strictly, so the first of equals stays, and a NaN beats all but a NaN. */
static bool arg_better_f64(double v, double a, bool least) {
    return (least ? v < a : v > a) || (v != v && a == a);
}
/* The integer whose bits are those of v. */
static int64_t arg_bits(double v) {
    int64_t k;
    memcpy(&k, &v, sizeof k);
    return k;
}
static bool arg_better(const tni_lanes *l, bool least, double v, double a) {
    if (l->compute != TN_I64) return arg_better_f64(v, a, least);
    return least ? arg_bits(v) < arg_bits(a) : arg_bits(v) > arg_bits(a);
}
/* Element i of the lanes' values as arg_part holds it, and of their row numbers. */
static double arg_value(const tni_lanes *l, const void *values, int64_t i) {
    double v;
    if (l->compute == TN_F32) return (double)((const float *)values)[i];
    memcpy(&v, (const char *)values + 8 * i, 8);
    return v;
}
static int64_t arg_index(const tni_lanes *l, const void *indices, int64_t i) {
    if (l->compute == TN_I64) return ((const int64_t *)indices)[i];
    return (int64_t)(l->compute == TN_F32 ? (double)((const float *)indices)[i]
                                          : ((const double *)indices)[i]);
}

/* Rows of n lanes: value and index keep the best of each lane; index counts rows
 * from `first` on. */
static void arg_kernel(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                       int64_t rows, int64_t n, int64_t first, void *value, void *index) {
    bool least = r->finish == ARG_OF_MIN;
    if (l->compute != TN_I64) {
        (l->compute == TN_F32 ? TNI_K(r->kernels, arg_rows_f32) : TNI_K(r->kernels, arg_rows_f64))(
            x, step, rows, n, first, least, value, index);
        return;
    }
    /* Integers: exact comparisons, which doubles could not make. */
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < n; c++) {
            int64_t v, *a = (int64_t *)value + c;
            memcpy(&v, (const char *)x + i * step + 8 * c, 8);
            if (least ? v < *a : v > *a) {
                *a = v;
                ((int64_t *)index)[c] = first + i;
            }
        }
}

/* The first of n elements at x that is element i of `most`, or the first NaN if that is one. */
#define ARG_FIND(type)                                                \
    {                                                                 \
        const type m = ((const type *)most)[i];                       \
        type v = m;                                                   \
        for (; part.index < n; part.index++) {                        \
            memcpy(&v, x + part.index * (int64_t)sizeof v, sizeof v); \
            if (v == m || (v != v && m != m)) break;                  \
        }                                                             \
        put = v;                                                      \
    }
static arg_part arg_find(const tni_lanes *l, const char *x, int64_t n, const void *most,
                         int64_t i) {
    arg_part part = {0, 0};
    if (l->compute == TN_I64) {
        int64_t put;
        ARG_FIND(int64_t)
        memcpy(&part.value, &put, sizeof put);
    } else {
        double put;
        if (l->compute == TN_F32)
            ARG_FIND(float)
        else
            ARG_FIND(double)
        part.value = put;
    }
    return part;
}
#undef ARG_FIND
/* The extrema of many rows, then the place of each. */
static void arg_block(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                      int64_t many, int64_t n, int64_t first, void *to) {
    const char *at = (const char *)x;
    arg_part *part = (arg_part *)to;
    tni_room most;
    for (int64_t some; many > 0; many -= some) {
        some = many < l->lanes ? many : l->lanes;
        r->op->many(r->kernels, l->compute, at, step, some, n, &most);
        for (int64_t i = 0; i < some; i++, part++, at += step) {
            *part = arg_find(l, at, n, &most, i);
            part->index += first;
        }
    }
}

static void arg_rows(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                     int64_t rows, int64_t n, int64_t first, void *to) {
    tni_room value, index;
    arg_part *part = (arg_part *)to;
    tni_fill_lanes(&value, l->compute, arg_identity(r), n);
    tni_fill_lanes(&index, l->compute, 0, n);
    arg_kernel(r, l, x, step, rows, n, 0, &value, &index);
    /* Columns: row numbers are numbers of elements. */
    for (int64_t i = 0; i < n; i++) {
        part[i].value = arg_value(l, &value, i);
        part[i].index = first + arg_index(l, &index, i);
    }
}

/* b comes after a, so on equality a stays. */
static void arg_merge(const tni_reducer *r, const tni_lanes *l, void *a, const void *b, int64_t n,
                      int64_t na, int64_t nb) {
    arg_part *x = (arg_part *)a;
    const arg_part *y = (const arg_part *)b;
    (void)na, (void)nb;
    for (int64_t i = 0; i < n; i++)
        if (arg_better(l, r->finish == ARG_OF_MIN, y[i].value, x[i].value)) x[i] = y[i];
}

/* out[0]: indices, out[1]: values, or NULL. */
static void arg_store(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                      int64_t at) {
    const arg_part *p = (const arg_part *)parts;
    int64_t *index = (int64_t *)r->out[0] + at, bytes = tni_dtype(r->out_dtype)->bytes;
    /* Values are saved from doubles, or from integers that lie in doubles' bits. */
    int as = l->compute == TN_I64 ? TN_I64 : TN_F64;
    for (int64_t i = 0; i < n; i++, at += l->width_out) {
        index[i * l->width_out] = p[i].index;
        if (r->out[1])
            tni_lanes_save((char *)r->out[1] + at * bytes, bytes, r->out_dtype, &p[i].value, as, 1);
    }
}

static void arg_run(tn_frame *f, tn_ints dim, int which, tn_tensor *index, tn_tensor *value) {
    tn_context *c = f->block->context;
    tni_reducer r = {sizeof(arg_part), arg_block, arg_rows, arg_merge, arg_store, c->kernels, NULL,
                     {NULL, NULL},     0,         0,        0,         which};
    tni_lanes l;
    /* ORDERED: numbers of elements count along the dimensions, not in memory. */
    if (!index->numel) return;
    tni_plain_lanes(f, &l, dim, TNI_LANES_ORDERED);
    r.op = which == ARG_OF_MIN ? &tni_min : &tni_max;
    r.out[0] = tni_bytes_at(index);
    r.out[1] = value ? tni_bytes_at(value) : NULL;
    r.out_dtype = f->in[0]->dtype;
    tni_lanes_run(c, &l, &r, f->scratch);
}

static bool arg_check(tn_frame *f, tn_ints dim, bool keepdim, bool values) {
    const tn_tensor *x = f->in[0];
    int compute = tni_lanes_compute(x->dtype);
    tni_shape to;
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    if (!tni_extreme_dtype(f, x) || !tni_reduced(f, x, dim, keepdim, &to, gone)) return false;
    if (!tni_reduce_not_empty(f, x, gone)) return false;
    if (values && !tni_given_is(f, 0, (tn_dtype)x->dtype)) return false;
    if (!tni_given_is(f, values, TN_I64)) return false;
    /* Over all elements with keepdim: every dimension is 1. */
    if (keepdim && dim.n < 0)
        for (int d = 0; d < to.ndim; d++) to.size[d] = 1;
    tni_lanes_init(&l, x, gone, compute, TNI_LANES_ORDERED);
    f->type = (uint8_t)compute;
    if (values && !tn_announce(f, 0, (tn_dtype)x->dtype, to.ndim, to.size)) return false;
    return tn_announce(f, values, TN_I64, to.ndim, to.size) &&
           tni_lanes_scratch(f, &l, sizeof(arg_part));
}

TN_PRIV void tni_arg_grad(tn_gradient *g, int64_t dim, bool keepdim) {
    tn_tensor *x = g->in[0], *index, *d, *zeros;
    if (!g->incoming[0]) return;
    if (!x->ndim) {
        tn_give(g, 0, g->incoming[0]);
        return;
    }
    /* Zeros of x's shape, with d put at the chosen places. */
    index = tni_dims_keep(g->out[1], x, tni_ints(&dim, 1), keepdim);
    d = tni_dims_keep(g->incoming[0], x, tni_ints(&dim, 1), keepdim);
    zeros = tnp_mul_scalar(tnp_expand(d, tni_sizes(x), false), tn_int(0));
    tn_give(g, 0, tnp_scatter(zeros, dim, index, d));
}

static bool max_dim_check(tn_frame *f) {
    TN_ARGS(max_dim, a, f);
    return arg_check(f, tni_ints(&a->dim, 1), a->keepdim, true);
}
static void max_dim_run(tn_frame *f) {
    TN_ARGS(max_dim, a, f);
    arg_run(f, tni_ints(&a->dim, 1), ARG_OF_MAX, f->out[1], f->out[0]);
}
static void max_dim_grad(tn_gradient *g) {
    TN_ARGS(max_dim, a, g);
    tni_arg_grad(g, a->dim, a->keepdim);
}
/* The largest element along dim and its index, the first among equal elements. A NaN wins. */
TN_OPERATOR(
    max_dim, "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    TN_DOC(.shapes = "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
           .example = "tn_values_indices m = tn_max_dim(x, 1);"),
    .forms = TN_OUT | TN_LEADING, .needs = "indices", .check = max_dim_check, .run = max_dim_run,
    .grad = max_dim_grad,
    .sample = "(2,3,4) 1 | (3) -1 keepdim=True | (2,0) 0 | () 0 | (3,70) 0 | (2,5000) 1 | "
              "(200,40) 0 | (4,5):i32 0 | "
              "(5,6):f16 1 | (4,3):bool 0")

static bool min_dim_check(tn_frame *f) {
    TN_ARGS(min_dim, a, f);
    return arg_check(f, tni_ints(&a->dim, 1), a->keepdim, true);
}
static void min_dim_run(tn_frame *f) {
    TN_ARGS(min_dim, a, f);
    arg_run(f, tni_ints(&a->dim, 1), ARG_OF_MIN, f->out[1], f->out[0]);
}
static void min_dim_grad(tn_gradient *g) {
    TN_ARGS(min_dim, a, g);
    tni_arg_grad(g, a->dim, a->keepdim);
}
/* The smallest element along dim and its index, the first among equal elements. A NaN wins. */
TN_OPERATOR(
    min_dim, "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    TN_DOC(.shapes = "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
           .example = "tn_values_indices m = tn_min_dim(x, 1);"),
    .forms = TN_OUT | TN_LEADING, .needs = "indices", .check = min_dim_check, .run = min_dim_run,
    .grad = min_dim_grad,
    .sample = "(2,3,4) 1 | (3) -1 keepdim=True | () 0 | (3,70) 0 | (2,5000) 1 | (4,5):i64 0")

static bool argmax_check(tn_frame *f) {
    TN_ARGS(argmax, a, f);
    return arg_check(f, tni_dim_or_all(&a->dim), a->keepdim, false);
}
static void argmax_run(tn_frame *f) {
    TN_ARGS(argmax, a, f);
    arg_run(f, tni_dim_or_all(&a->dim), ARG_OF_MAX, f->out[0], NULL);
}
/* The index of the largest element along dim, the first among equal elements. Without dim, the
 * index in the flattened tensor. */
TN_OPERATOR(argmax, "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> int64, self's shape without dim, 1 there when keepdim",
                   .example = "tn_argmax(x, .dim = 1)"),
            .forms = TN_OUT | TN_LEADING, .check = argmax_check, .run = argmax_run,
            .grad = tn_grad_zero,
            .sample = "(2,3,4) | (2,3,4) 1 | (3,4) -1 keepdim=True | () | (9000) | (3,70) 0 | "
                      "(200,40) 0 | (70000) | (4,5):u8 0")

static bool argmin_check(tn_frame *f) {
    TN_ARGS(argmin, a, f);
    return arg_check(f, tni_dim_or_all(&a->dim), a->keepdim, false);
}
static void argmin_run(tn_frame *f) {
    TN_ARGS(argmin, a, f);
    arg_run(f, tni_dim_or_all(&a->dim), ARG_OF_MIN, f->out[0], NULL);
}
/* The index of the smallest element along dim, the first among equal elements. Without dim, the
 * index in the flattened tensor. */
TN_OPERATOR(argmin, "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> int64, self's shape without dim, 1 there when keepdim",
                   .example = "tn_argmin(x, .dim = 1)"),
            .forms = TN_OUT | TN_LEADING, .check = argmin_check, .run = argmin_run,
            .grad = tn_grad_zero,
            .sample = "(2,3,4) | (2,3,4) 1 | (3,4) -1 keepdim=True | () | (9000) | (3,70) 0")
