/* scatter_reduce.c - elements combined at the places that an index names: scatter_reduce, and
 * index_reduce, which is it with one index for a whole slice.
 *
 * Elements arrive in row-major order of the index, in one thread; each step is rounded to the
 * dtype. */
#include "index.h"
#include "../../call/arguments.h"
#include "../../cpu/walk.h"
#include "../elementwise/gradients.h"
#include "../shape/copy.h"
#include "../shape/geometry.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

#include "../../base/rounded_begin.inl"

typedef enum reduce_way {
    REDUCE_SUM,
    REDUCE_PROD,
    REDUCE_MEAN,
    REDUCE_AMAX,
    REDUCE_AMIN,
    REDUCE_WAYS
} reduce_way;

/* What check tells run. */
typedef struct reduce_note {
    tni_dim_note at;
    reduce_way way;
} reduce_note;

static reduce_way reduce_way_of(const char *word) {
    static const char *const words[REDUCE_WAYS] = {"sum", "prod", "mean", "amax", "amin"};
    int way = 0;
    while (way < REDUCE_WAYS && (!word || strcmp(word, words[way]) != 0)) way++;
    return (reduce_way)way;
}

/* --- loops ------------------------------------------------------------------------------------ */

static float reduce_float(float a, float b, reduce_way way) {
    switch (way) {
    case REDUCE_PROD: return a * b;
    case REDUCE_AMAX: return b != b || b > a ? b : a; /* a NaN stays: nothing is above it */
    case REDUCE_AMIN: return b != b || b < a ? b : a;
    default: return a + b;
    }
}
/* Numbers of any dtype. In double, a sum or product of narrower floats is rounded as in their own
 * type. */
static tn_scalar reduce_scalar(tn_scalar a, tn_scalar b, reduce_way way) {
    tn_scalar y = a;
    const uint64_t m = (uint64_t)a.integer, n = (uint64_t)b.integer; /* they wrap */
    if (way == REDUCE_AMAX || way == REDUCE_AMIN) {
        if (a.kind != TN_KIND_FLOAT) return (way == REDUCE_AMAX) == (b.integer > a.integer) ? b : a;
        return b.real != b.real || (way == REDUCE_AMAX ? b.real > a.real : b.real < a.real) ? b : a;
    }
    if (a.kind == TN_KIND_BOOL) {
        y.integer = way == REDUCE_PROD ? a.integer && b.integer : a.integer || b.integer;
    } else if (a.kind == TN_KIND_INT) {
        y.integer = (int64_t)(way == REDUCE_PROD ? m * n : m + n);
    } else if (way == REDUCE_PROD) {
        y.real = a.real * b.real - a.imaginary * b.imaginary;
        y.imaginary = a.real * b.imaginary + a.imaginary * b.real;
        if (a.kind == TN_KIND_FLOAT) y.real = a.real * b.real;
    } else {
        y.real = a.real + b.real;
        y.imaginary = a.imaginary + b.imaginary;
    }
    return tni_exact(y);
}
static void reduce_one(char *to, const char *from, int dtype, reduce_way way) {
    if (dtype == TN_F32) {
        float a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        a = reduce_float(a, b, way);
        memcpy(to, &a, sizeof a);
        return;
    }
    tni_element_set(to, dtype,
                    reduce_scalar(tni_element(to, dtype), tni_element(from, dtype), way));
}
/* The first element that comes to a place whose own does not count: added to 0, or itself. */
static void reduce_first(char *to, const char *from, int dtype, reduce_way way) {
    if (way == REDUCE_SUM || way == REDUCE_MEAN) {
        tni_element_set(to, dtype, tn_int(0));
        reduce_one(to, from, dtype, way);
    } else {
        tni_move_one(to, from, tni_dtype(dtype)->bytes);
    }
}
/* The element divided by count: floats exactly rounded, integers down. */
static void reduce_divide(char *at, int dtype, int64_t count) {
    tn_scalar v = tni_element(at, dtype);
    if (v.kind == TN_KIND_INT) {
        const int64_t q = v.integer / count;
        v.integer = v.integer % count < 0 ? q - 1 : q;
    }
    v.real /= (double)count;
    v.imaginary /= (double)count;
    tni_element_set(at, dtype, v.kind == TN_KIND_INT ? tn_int(v.integer) : v);
}

/* --- scatter_reduce --------------------------------------------------------------------------- */

static bool scatter_reduce_check(tn_frame *f) {
    TN_ARGS(scatter_reduce, a, f);
    const int dtype = f->in[0]->dtype;
    const reduce_way way = reduce_way_of(a->reduce);
    TN_NOTE(reduce_note, note, f);
    if (!tni_gather_arguments(f, a->dim, "scatter_reduce")) return false;
    note->way = way;
    if (way == REDUCE_WAYS)
        return tn_fail(f, TN_INVALID,
                       "reduce argument must be either sum, prod, mean, amax or amin, got %s",
                       a->reduce ? a->reduce : "None");
    if ((tni_is_complex(dtype) && way >= REDUCE_AMAX) || (dtype == TN_BOOL && way == REDUCE_MEAN) ||
        !tni_dtype(dtype)->computes)
        return tn_fail(f, TN_UNSUPPORTED, "reduce %s is not supported for %s", a->reduce,
                       tni_dtype(dtype)->text);
    /* Sums' and means' gradients read no elements. */
    if (way == REDUCE_SUM || way == REDUCE_MEAN) f->unneeded |= 5;
    if (!tni_scatter_source(f, "scatter_reduce")) return false;
    return (a->include_self && way != REDUCE_MEAN) ||
           tn_scratch(f, f->in[0]->numel, sizeof(int64_t));
}
/* How many elements came to each place of the result, row-major. */
typedef struct reduce_counts {
    tni_storage memory;
    tn_tensor all; /* a header over it, of the result's shape */
    int64_t stride[TN_MAX_DIMS];
} reduce_counts;
static void reduce_counts_of(reduce_counts *c, tn_frame *f) {
    const tn_tensor *out = f->out[0];
    tn_tensor of;
    memset(&c->memory, 0, sizeof c->memory);
    memset(&of, 0, sizeof of);
    memset(f->scratch, 0, (size_t)out->numel * sizeof(int64_t));
    c->memory.data = f->scratch;
    of.dtype = TN_I64;
    of.storage = &c->memory;
    tni_row_major(out->ndim, out->size, c->stride);
    tni_stack_view(&c->all, &of, out->ndim, out->size, c->stride, 0);
}
/* Sums become means. */
static void reduce_means(const tn_tensor *out, const tn_tensor *counts, bool include_self) {
    const tn_tensor *pair[2];
    tni_walk w;
    pair[0] = out;
    pair[1] = counts;
    tni_walk_start(&w, out->ndim, out->size, pair, 2);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            const int64_t n = tni_index_at(w.at[1] + i * w.row[1], TN_I64) + include_self;
            if (n > 1) reduce_divide(w.at[0] + i * w.row[0], out->dtype, n);
        }
}
static void scatter_reduce_run(tn_frame *f) {
    TN_ARGS(scatter_reduce, a, f);
    tn_tensor *self = f->in[0], *index = f->in[1], *src = f->in[2], *out = f->out[0], line[3];
    const tn_tensor *all[4] = {&line[0], index, &line[1], &line[2]};
    TN_NOTE(reduce_note, note, f);
    const int d = note->at.dim, dtype = index->dtype, kind = out->dtype;
    const bool counted = !a->include_self || note->way == REDUCE_MEAN;
    int64_t stride[3][TN_MAX_DIMS], step = tni_gather_step(out, d), each = 0;
    reduce_counts counts;
    tni_walk w;
    if (out != self && self->numel) tni_copy_elements(f->block, out, self);
    if (index->numel == 0 || out->numel == 0) return;
    tni_gather_line(&line[0], out, index, d, stride[0]);
    for (int i = 0; i < index->ndim; i++) stride[1][i] = i < src->ndim ? src->stride[i] : 0;
    tni_stack_view(&line[1], src, index->ndim, index->size, stride[1], src->offset);
    if (counted) {
        reduce_counts_of(&counts, f);
        tni_gather_line(&line[2], &counts.all, index, d, stride[2]);
        each = tni_gather_step(&counts.all, d);
    }
    tni_walk_start(&w, index->ndim, index->size, all, counted ? 4 : 3);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            const int64_t at = tni_index_at(w.at[1] + i * w.row[1], dtype);
            char *to = w.at[0] + i * w.row[0] + at * step;
            const char *from = w.at[2] + i * w.row[2];
            int64_t came = 1;
            if (counted) {
                char *count = w.at[3] + i * w.row[3] + at * each;
                memcpy(&came, count, sizeof came);
                came++;
                memcpy(count, &came, sizeof came);
                came -= !a->include_self;
            }
            if (came)
                reduce_one(to, from, kind, note->way);
            else
                reduce_first(to, from, kind, note->way);
        }
    if (note->way == REDUCE_MEAN) reduce_means(out, &counts.all, a->include_self);
}

/* --- its gradient ----------------------------------------------------------------------------- */

/* src cut to the index's shape. */
static tn_tensor *reduce_part(tn_tensor *src, const tn_tensor *index) {
    tn_tensor *t = src;
    for (int i = 0; t && i < index->ndim && i < src->ndim; i++)
        if (index->size[i] != src->size[i]) t = tnp_slice(t, i, 0, index->size[i], 1);
    return t && t->ndim != index->ndim ? tnp_reshape(t, tni_sizes(index)) : t;
}
static tn_tensor *reduce_equal(tn_tensor *a, tn_tensor *b) {
    return tnp_to_dtype(tnp_eq(a, b), (tn_dtype)a->dtype, false, false);
}
/* The gradients of self and of src's part. */
typedef struct reduce_grads {
    tn_tensor *self, *part;
} reduce_grads;

/* A place's gradient is divided among its elements. */
static reduce_grads reduce_mean_grads(tn_gradient *g, const tn_scatter_reduce_args *a) {
    tn_tensor *d = g->incoming[0], *index = g->in[1], *n, *ones;
    reduce_grads to = {NULL, NULL};
    ones = tnp_ones(tni_sizes(index), (tn_dtype)d->dtype, d->device);
    n = tnp_full(tni_sizes(g->in[0]), tn_int(a->include_self), (tn_dtype)d->dtype, d->device);
    n = tnp_scatter_add(n, a->dim, index, ones);
    n = tnp_where(tnp_eq_scalar(n, tn_int(0)), tnp_ones_like(n, TN_NO_DTYPE, TN_NO_DEVICE), n);
    to.self = tnp_div(d, n);
    to.part = tnp_gather(to.self, a->dim, index, false);
    return to;
}
/* A place's gradient is shared by all elements that are its result. */
static reduce_grads reduce_extreme_grads(tn_gradient *g, const tn_scatter_reduce_args *a) {
    tn_tensor *d = g->incoming[0], *index = g->in[1], *y = g->out[0], *mine, *theirs, *each;
    reduce_grads to = {NULL, NULL};
    mine = reduce_equal(g->in[0], y);
    if (!a->include_self) mine = tnp_scatter_value(mine, a->dim, index, tn_int(0));
    theirs = reduce_part(g->in[2], index);
    theirs = theirs ? reduce_equal(theirs, tnp_gather(y, a->dim, index, false)) : NULL;
    each = tnp_div(d, tnp_scatter_add(mine, a->dim, index, theirs));
    to.self = tnp_mul(mine, each);
    to.part = tnp_mul(theirs, tnp_gather(each, a->dim, index, false));
    return to;
}
/* The product of the others of each zero of src where two meet: all that is not 0, times the other
 * one. It is 0, but its own gradient is not; of more than two even that is. */
static tn_tensor *reduce_of_two(tn_gradient *g, const tn_scatter_reduce_args *a, tn_tensor *part,
                                tn_tensor *zero) {
    tn_tensor *self = g->in[0], *index = g->in[1], *both, *rest;
    both = tnp_masked_fill_scalar(part, tnp_logical_not(zero), tn_int(0));
    both = tnp_scatter_add(tnp_zeros_like(self, TN_NO_DTYPE, TN_NO_DEVICE), a->dim, index, both);
    both = tnp_sub(tnp_gather(both, a->dim, index, false), part, 1);
    rest = tnp_masked_fill_scalar(part, zero, tn_int(1));
    rest = tnp_scatter_reduce(self, a->dim, index, rest, "prod", a->include_self);
    return tnp_mul(both, tnp_gather(rest, a->dim, index, false));
}
/* The product of all others. Where one element is 0 it is the product with 1 in its place; where
 * several of src are, each has gradient 0. */
static reduce_grads reduce_prod_grads(tn_gradient *g, const tn_scatter_reduce_args *a, bool again) {
    tn_tensor *d = g->incoming[0], *self = g->in[0], *index = g->in[1], *y = g->out[0];
    tn_tensor *part = reduce_part(g->in[2], index), *zero, *zeros, *single, *rest, *others;
    reduce_grads to = {NULL, NULL};
    if (!part) return to;
    rest = tnp_masked_fill_scalar(self, tnp_eq_scalar(self, tn_int(0)), tn_int(1));
    others = tnp_scatter_reduce(rest, a->dim, index, part, "prod", a->include_self);
    to.self = tnp_mul(d, tni_conj_of(tnp_div(others, rest)));
    zero = tnp_eq_scalar(part, tn_int(0));
    zeros = tnp_to_dtype(zero, (tn_dtype)d->dtype, false, false);
    zeros = tnp_scatter_add(tnp_zeros(tni_sizes(self), (tn_dtype)d->dtype, d->device), a->dim,
                            index, zeros);
    zeros = tnp_gather(zeros, a->dim, index, false);
    single = tnp_logical_and(zero, tnp_eq_scalar(zeros, tn_int(1)));
    rest = tnp_masked_fill_scalar(part, single, tn_int(1));
    others = tnp_scatter_reduce(self, a->dim, index, rest, "prod", a->include_self);
    others = tnp_gather(tnp_mul(d, tni_conj_of(others)), a->dim, index, false);
    rest = tnp_masked_fill_scalar(part, zero, tn_int(1));
    y = tnp_gather(tnp_mul(d, tni_conj_of(y)), a->dim, index, false);
    to.part = tnp_where(single, others, tnp_div(y, tni_conj_of(rest)));
    if (!again) return to;
    others = tni_conj_of(reduce_of_two(g, a, part, zero));
    others = tnp_mul(tnp_gather(d, a->dim, index, false), others);
    zero = tnp_logical_and(zero, tnp_eq_scalar(zeros, tn_int(2)));
    to.part = tnp_where(zero, others, to.part);
    return to;
}
/* again: the gradients may be differentiated. */
static void reduce_grad(tn_gradient *g, bool again) {
    TN_ARGS(scatter_reduce, a, g);
    tn_tensor *d = g->incoming[0];
    const reduce_way way = reduce_way_of(a->reduce);
    reduce_grads to;
    if (way == REDUCE_SUM) {
        to.self = d;
        to.part = g->want[2] ? tnp_gather(d, a->dim, g->in[1], false) : NULL;
    } else if (way == REDUCE_PROD) {
        to = reduce_prod_grads(g, a, again);
    } else {
        to = way == REDUCE_MEAN ? reduce_mean_grads(g, a) : reduce_extreme_grads(g, a);
    }
    if (!a->include_self) to.self = tnp_scatter_value(to.self, a->dim, g->in[1], tn_int(0));
    if (g->want[0]) tn_give(g, 0, to.self);
    if (g->want[2]) tni_scatter_give(g, to.part);
}
static void scatter_reduce_grad(tn_gradient *g) { reduce_grad(g, true); }
static void scatter_reduce_fused(tn_gradient *g) { reduce_grad(g, false); }
/* A copy of self with out[index[i][j]][j] combined with src[i][j] for dim 0, and likewise for other
 * dims: reduce is sum, prod, mean, amax or amin. Without include_self an element of self does not
 * count where one of src comes. Means of integers are rounded down. The gradient of amax and amin
 * is shared by equal elements. */
TN_OPERATOR(
    scatter_reduce,
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
    "include_self=True) -> Tensor",
    TN_DOC(.shapes = "self (*), index and src (*) of no larger sizes -> self's shape",
           .example = "tn_scatter_reduce(x, 1, index, src, \"amax\")"),
    .forms = TN_OUT | TN_INPLACE | TN_LEADING,
    .needs = "self:self,index,src,result src:self,index,src,result", .check = scatter_reduce_check,
    .look = tni_gather_look, .run = scatter_reduce_run, .grad = scatter_reduce_grad,
    .fused = scatter_reduce_fused,
    .sample = "(5,3) 0 (7,3):i64<5 (7,3) sum | (3,5) 1 (2,9):i64<5 (3,9) prod | (4) 0 (6):i64<4 "
              "(6) mean | (5,3) -1 (4,3):i64<3 (4,3) amax | () 0 ():i64<1 () amin | (2,3) 0 "
              "(0,3):i64<2 (0,3) sum | (5):i64 0 (9):i64<5 (9):i64 mean include_self=False | "
              "(3,5) 1 (3,7):i32<5 (3,7) prod include_self=False | (35) 0 (40):i64<35 (41) mean "
              "include_self=False | (4,3) 0 (5,2):i64<4 (6,3) amin include_self=False")

/* The two reductions of scatter. */
static tn_tensor *scatter_by(tn_frame *f, const char *reduce, int64_t dim, tn_tensor *src) {
    tn_tensor *self = f->in[0], *index = f->in[1];
    if (reduce && !strcmp(reduce, "add")) return tnp_scatter_add(self, dim, index, src);
    if (reduce && !strcmp(reduce, "multiply"))
        return tnp_scatter_reduce(self, dim, index, src, "prod", true);
    tn_fail(f, TN_INVALID, "reduce argument must be either add or multiply.");
    return NULL;
}
static bool scatter_src_reduce_compose(tn_frame *f) {
    TN_ARGS(scatter_src_reduce, a, f);
    return (f->out[0] = scatter_by(f, a->reduce, a->dim, f->in[2])) != NULL;
}
/* scatter that adds or multiplies: scatter_add, or scatter_reduce with prod. */
TN_OPERATOR(scatter_src_reduce,
            "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*), index and src (*) of no larger sizes -> self's shape",
                   .example = "tn_scatter_src_reduce(x, 1, index, src, \"multiply\")"),
            .forms = TN_OUT | TN_INPLACE, .compose = scatter_src_reduce_compose,
            .sample = "(5,3) 0 (7,3):i64<5 (7,3) reduce=add | (3,5) 1 (2,9):i64<5 (2,9) "
                      "reduce=multiply | () 0 ():i64<1 () reduce=multiply | (2,3) 0 (0,3):i64<2 "
                      "(0,3) reduce=add | (35) 0 (40):i64<35 (40) reduce=add")

static bool scatter_value_reduce_compose(tn_frame *f) {
    TN_ARGS(scatter_value_reduce, a, f);
    const tn_tensor *self = f->in[0], *index = f->in[1];
    tn_tensor *src;
    if (!tni_fill_check(f, a->value, self->dtype)) return false;
    src = tnp_full(tni_sizes(index), a->value, (tn_dtype)self->dtype, self->device);
    return (f->out[0] = scatter_by(f, a->reduce, a->dim, src)) != NULL;
}
/* A copy of self with value added to, or multiplied with, each place that the index names, as often
 * as it names it. */
TN_OPERATOR(scatter_value_reduce,
            "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) "
            "-> Tensor",
            TN_DOC(.shapes = "self (*), index (*) of no larger sizes -> self's shape",
                   .example = "tn_scatter_value_reduce(x, 1, index, 2, \"multiply\")"),
            .forms = TN_OUT | TN_INPLACE, .compose = scatter_value_reduce_compose,
            .sample = "(5,3) 0 (7,3):i64<5 0.5 reduce=add | (3,5) 1 (2,9):i64<5 2 reduce=multiply "
                      "| () 0 ():i64<1 2 reduce=multiply | (2,3) 0 (0,3):i64<2 1 reduce=add | "
                      "(35) 0 (40):i64<35 3 reduce=add")

/* --- index_reduce ----------------------------------------------------------------------------- */

/* Whether source fits self and a list of indices. */
static bool index_reduce_fits(tn_frame *f, int d) {
    const tn_tensor *self = f->in[0], *index = f->in[1], *source = f->in[2];
    char has[160], wants[160];
    bool fits = source->ndim == self->ndim;
    if (index->ndim > 1)
        return tn_fail(f, TN_INDEX, "index_reduce(): Index is supposed to be a vector, but got %s",
                       tni_shape_text(has, sizeof has, index->ndim, index->size));
    if (!tni_index_dtype(f, index, "index_reduce")) return false;
    if (self->dtype != source->dtype)
        return tn_fail(
            f, TN_TYPE,
            "index_reduce(): self and source must have the same scalar type, but they are %s "
            "and %s",
            tni_dtype(self->dtype)->text, tni_dtype(source->dtype)->text);
    for (int i = 0; fits && i < self->ndim; i++) fits = i == d || self->size[i] == source->size[i];
    if (!fits)
        return tn_fail(f, TN_INVALID,
                       "source tensor shape must match self tensor shape, excluding the specified "
                       "dimension. Got self of %s and source of %s",
                       tni_shape_text(wants, sizeof wants, self->ndim, self->size),
                       tni_shape_text(has, sizeof has, source->ndim, source->size));
    return index->numel == (source->ndim ? source->size[d] : 1) ||
           tn_fail(f, TN_INVALID,
                   "index_reduce(): Number of indices should be equal to the size of source along "
                   "dim, but they are %lld and %lld",
                   (long long)index->numel, (long long)(source->ndim ? source->size[d] : 1));
}
static bool index_reduce_compose(tn_frame *f) {
    TN_ARGS(index_reduce, a, f);
    tn_tensor *self = f->in[0], *index = f->in[1], *source = f->in[2];
    const reduce_way way = reduce_way_of(a->reduce);
    int64_t size[TN_MAX_DIMS];
    int d;
    if (!tni_dim_of(f, self->ndim, a->dim, &d)) return false;
    if (way == REDUCE_SUM || way == REDUCE_WAYS)
        return tn_fail(f, TN_INVALID,
                       "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but "
                       "got %s.",
                       a->reduce ? a->reduce : "None");
    if (!index_reduce_fits(f, d)) return false;
    /* The list of indices along d, the same for all other dimensions. */
    for (int i = 0; i < source->ndim; i++) size[i] = i == d ? source->size[i] : 1;
    index = tnp_reshape(index, tni_ints(size, source->ndim));
    index = tnp_expand(index, tni_sizes(source), false);
    f->out[0] = tnp_scatter_reduce(self, d, index, source, a->reduce, a->include_self);
    return f->out[0] != NULL;
}
/* A copy of self whose place index[i] along dim is combined with source[i]: reduce is prod, mean,
 * amax or amin, with the rules of scatter_reduce. */
TN_OPERATOR(index_reduce,
            "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
            "include_self=True) -> Tensor",
            TN_DOC(.shapes = "self (5, 3), index (n), source (n, 3) -> (5, 3)",
                   .example = "tn_index_reduce(x, 0, rows, v, \"amax\")"),
            .forms = TN_OUT | TN_INPLACE, .compose = index_reduce_compose,
            .sample = "(5,3) 0 (4):i64<5 (4,3) prod | (2,3,4) 1 (5):i64<3 (2,5,4) mean | (3) -1 "
                      "(2):i32<3 (2) amax include_self=False | (5,3) 0 (0):i64<5 (0,3) amin | "
                      "() 0 (1):i64<1 () prod include_self=False | (35) 0 (40):i64<35 (40) mean",
            .node = "IndexReduceBackward0")

#include "../../base/rounded_end.inl"
