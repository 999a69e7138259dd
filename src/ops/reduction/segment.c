/* segment.c - reductions of segments of a dimension, whose lengths or ends a tensor gives:
 * segment_reduce.
 *
 * Elements meet in their order, in one thread; each step is rounded to float32 or float64. */
#include "../../call/arguments.h"
#include "../../call/rowform.h"
#include "../../cpu/drive.h"
#include "../../cpu/walk.h"
#include "../elementwise/gradients.h"
#include "../indexing/index.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"

#include "../../base/rounded_begin.inl"

typedef enum segment_way {
    SEGMENT_SUM,
    SEGMENT_MEAN,
    SEGMENT_PROD,
    SEGMENT_MAX,
    SEGMENT_MIN,
    SEGMENT_WAYS
} segment_way;

static segment_way segment_way_of(const char *word) {
    static const struct {
        const char *word;
        segment_way way;
    } words[] = {{"sum", SEGMENT_SUM}, {"mean", SEGMENT_MEAN}, {"prod", SEGMENT_PROD},
                 {"max", SEGMENT_MAX}, {"amax", SEGMENT_MAX},  {"min", SEGMENT_MIN},
                 {"amin", SEGMENT_MIN}};
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0) return words[i].way;
    return SEGMENT_WAYS;
}

/* What check tells look and run. */
typedef struct segment_note {
    segment_way way;
    int axis;
    bool ends; /* offsets are given: one more number a line than segments */
    int64_t segments;
} segment_note;

/* --- checks ----------------------------------------------------------------------------------- */

static bool segment_options(tn_frame *f, segment_note *note) {
    TN_ARGS(segment_reduce, a, f);
    const int dtype = a->data->dtype;
    note->way = segment_way_of(a->reduce);
    note->ends = a->offsets != NULL;
    if (note->way == SEGMENT_WAYS)
        return tn_fail(f, TN_INVALID,
                       "reduce argument must be either sum, prod, mean, amax or amin, got %s",
                       a->reduce ? a->reduce : "None");
    if (!tni_is_float(dtype))
        return tn_fail(f, TN_UNSUPPORTED, "not implemented for %s", tni_dtype(dtype)->text);
    if (a->initial.kind == TN_KIND_COMPLEX)
        return tn_fail(f, TN_TYPE, "initial must be a real number");
    if (a->indices)
        return tn_fail(f, TN_INVALID,
                       "segment_reduce(): indices based reduction is not supported yet.");
    return a->lengths || a->offsets ||
           tn_fail(f, TN_INVALID, "segment_reduce(): Either lengths or offsets must be defined.");
}
static bool segment_shapes(tn_frame *f, segment_note *note) {
    TN_ARGS(segment_reduce, a, f);
    const tn_tensor *x = a->data, *by = note->ends ? a->offsets : a->lengths;
    const char *name = note->ends ? "offsets" : "lengths";
    char has[160], other[160];
    if (!tni_dim_of(f, x->ndim, a->axis, &note->axis) || !tni_index_dtype(f, by, name))
        return false;
    if (x->ndim == 0 || by->ndim != note->axis + 1)
        return tn_fail(f, TN_INVALID,
                       "segment_reduce(): Expected axis to be the last dimension of %s but got %d.",
                       name, note->axis);
    note->segments = by->size[note->axis] - note->ends;
    for (int i = 0; i < note->axis; i++)
        if (by->size[i] != x->size[i])
            return tn_fail(f, TN_INVALID, "%s of sizes %s do not fit data of sizes %s", name,
                           tni_shape_text(has, sizeof has, by->ndim, by->size),
                           tni_shape_text(other, sizeof other, x->ndim, x->size));
    return note->segments >= 0 ||
           tn_fail(f, TN_INVALID, "Trying to create tensor with negative dimension -1: [-1]");
}
static bool segment_reduce_check(tn_frame *f) {
    TN_NOTE(segment_note, note, f);
    const tn_tensor *x = f->in[0];
    int64_t size[TN_MAX_DIMS], lines = 1, count;
    if (!segment_options(f, note) || !segment_shapes(f, note)) return false;
    for (int i = 0; i < x->ndim; i++) size[i] = i == note->axis ? note->segments : x->size[i];
    for (int i = 0; i < note->axis; i++) lines *= x->size[i];
    /* Sums' and means' gradients read no elements. */
    if (note->way == SEGMENT_SUM || note->way == SEGMENT_MEAN) f->unneeded |= 1;
    if (!tni_mul(lines, note->segments, &count) || !tni_mul(count, 2, &count))
        return tn_fail(f, TN_MEMORY, "there are too many segments");
    return tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim, size) &&
           tn_scratch(f, count, sizeof(int64_t));
}

/* Walks the lines of lengths or offsets; where each segment begins and ends goes to `to`, if it is
 * there. False with an error if a segment does not lie in the line. */
static bool segment_places(tn_frame *f, int64_t *to) {
    TN_ARGS(segment_reduce, a, f);
    TN_NOTE(segment_note, note, f);
    const tn_tensor *by = f->in[note->ends ? 3 : 1], *all[1]; /* a device may have copied them */
    const int64_t n = f->in[0]->size[note->axis];
    const int d = note->axis;
    int64_t stride[TN_MAX_DIMS];
    tn_tensor heads;
    tni_walk w;
    for (int i = 0; i < d; i++) stride[i] = by->stride[i];
    tni_stack_view(&heads, by, d, by->size, stride, by->offset);
    all[0] = &heads;
    if (heads.numel == 0) return true;
    tni_walk_start(&w, d, by->size, all, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            const char *line = w.at[0] + i * w.row[0];
            const int64_t step = by->stride[d] * tni_dtype(by->dtype)->bytes;
            int64_t end = note->ends ? tni_index_at(line, by->dtype) : 0;
            for (int64_t s = 0; s < note->segments; s++) {
                const int64_t begin = end,
                              v = tni_index_at(line + (s + note->ends) * step, by->dtype);
                if (!note->ends && v < 0)
                    return tn_fail(f, TN_INVALID, "lengths contains negative value!");
                end = note->ends ? v : v > n - begin ? n + 1 : begin + v;
                if (begin < 0 || end < begin || (note->ends && end > n))
                    return tn_fail(f, TN_INVALID,
                                   "offsets must not fall, and lie in 0..%lld, but %lld follows "
                                   "%lld",
                                   (long long)n, (long long)end, (long long)begin);
                if (end > n) break;
                if (to) *to++ = begin, *to++ = end;
            }
            if (!note->ends && (end > n || (end < n && !a->unsafe)))
                return tn_fail(f, TN_INVALID,
                               "segment_reduce(): Expected all rows of lengths along axis to sum "
                               "to data.size(lengths.dim()-1) when !unsafe.");
        }
    return true;
}
static bool segment_reduce_look(tn_frame *f) { return segment_places(f, NULL); }

/* --- the loop --------------------------------------------------------------------------------- */

static double segment_step(double a, double b, segment_way way) {
    switch (way) {
    case SEGMENT_PROD: return a * b;
    case SEGMENT_MAX: return b != b || b > a ? b : a; /* a NaN stays: nothing is above it */
    case SEGMENT_MIN: return b != b || b < a ? b : a;
    default: return a + b;
    }
}
/* The n elements from x on, joined to v. Sums and products of two floats are exact in double, or
 * rounded as in float. */
static double segment_chain(const char *x, int64_t step, int64_t n, int dtype, double v,
                            segment_way way) {
    if (dtype == TN_F32)
        for (int64_t i = 0; i < n; i++) {
            float e;
            memcpy(&e, x + i * step, sizeof e);
            v = (double)(float)segment_step(v, (double)e, way);
        }
    else if (dtype == TN_F64)
        for (int64_t i = 0; i < n; i++) {
            double e;
            memcpy(&e, x + i * step, sizeof e);
            v = segment_step(v, e, way);
        }
    else
        for (int64_t i = 0; i < n; i++)
            v = (double)(float)segment_step(v, tni_element(x + i * step, dtype).real, way);
    return v;
}
/* The number that a segment's elements are joined to. */
static double segment_first(const tn_segment_reduce_args *a, segment_way way, int dtype) {
    if (a->initial.kind != TN_KIND_NONE) {
        const double v =
            a->initial.kind == TN_KIND_FLOAT ? a->initial.real : (double)a->initial.integer;
        return dtype == TN_F64 ? v : (double)(float)v;
    }
    return way == SEGMENT_MAX ? -HUGE_VAL : way == SEGMENT_MIN ? HUGE_VAL : way == SEGMENT_PROD;
}
/* The mean of n elements and `first`: their sum divided by n. An empty segment's is `first`, or NaN
 * where none is given. */
static double segment_mean(double sum, int64_t n, bool given) {
    return n ? sum / (double)n : given ? sum : (double)NAN;
}
static void segment_reduce_run(tn_frame *f) {
    TN_ARGS(segment_reduce, a, f);
    TN_NOTE(segment_note, note, f);
    tn_tensor *x = f->in[0], *out = f->out[0], from, places;
    const int d = note->axis, dtype = x->dtype;
    const double first = segment_first(a, note->way, dtype);
    const int64_t step = x->stride[d] * tni_dtype(dtype)->bytes;
    int64_t *const scratch = (int64_t *)f->scratch, stride[2][TN_MAX_DIMS], pair = 2;
    const tn_tensor *all[3] = {out, &from, &places};
    tni_storage memory;
    tn_tensor of;
    tni_walk w;
    if (!out->numel || !segment_places(f, scratch)) return;
    memset(&memory, 0, sizeof memory);
    memset(&of, 0, sizeof of);
    memory.data = scratch;
    of.dtype = TN_I64;
    of.storage = &memory;
    for (int i = x->ndim - 1; i >= 0; i--) {
        stride[0][i] = i == d ? 0 : x->stride[i];
        stride[1][i] = i > d ? 0 : pair;
        if (i <= d) pair *= out->size[i];
    }
    tni_stack_view(&from, x, out->ndim, out->size, stride[0], x->offset);
    tni_stack_view(&places, &of, out->ndim, out->size, stride[1], 0);
    tni_walk_start(&w, out->ndim, out->size, all, 3);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            int64_t at[2];
            double v;
            memcpy(at, w.at[2] + i * w.row[2], sizeof at);
            v = segment_chain(w.at[1] + i * w.row[1] + at[0] * step, step, at[1] - at[0], dtype,
                              first, note->way);
            if (note->way == SEGMENT_MEAN)
                v = segment_mean(v, at[1] - at[0], a->initial.kind != TN_KIND_NONE);
            tni_element_set(w.at[0] + i * w.row[0], dtype, tn_float(v));
        }
}

/* --- the gradient ----------------------------------------------------------------------------- */

/* For each element of data its segment, and whether it is in one. */
typedef struct segment_map {
    int d;
    tn_tensor *index, *inside;
} segment_map;

static segment_map segment_map_of(const tn_segment_reduce_args *a, tn_gradient *g) {
    const tn_tensor *x = g->in[0];
    tn_tensor *ends = a->offsets ? a->offsets : tnp_cumsum(a->lengths, -1, TN_I64), *i;
    int64_t size[TN_MAX_DIMS];
    segment_map m = {tni_dim(x->ndim, a->axis), NULL, NULL};
    const int64_t segments = g->out[0]->size[m.d];
    for (int k = 0; k < x->ndim; k++) size[k] = k > m.d ? 1 : x->size[k];
    i = tnp_arange(tn_int(x->size[m.d]), TN_I64, x->device);
    i = tnp_contiguous(tnp_expand(i, tni_ints(size, m.d + 1), false));
    i = tnp_searchsorted(tnp_to_dtype(ends, TN_I64, false, false), i, false, true, NULL, NULL);
    if (a->offsets) i = tnp_sub_scalar(i, tn_int(1), 1);
    i = tnp_expand(tnp_reshape(i, tni_ints(size, x->ndim)), tni_sizes(x), false);
    m.inside = tnp_logical_and(tnp_ge_scalar(i, tn_int(0)), tnp_lt_scalar(i, tn_int(segments)));
    m.index = tnp_clamp(i, tn_int(0), tn_int(segments - 1));
    return m;
}
/* What a result's tensor has for each element of its segment; 0 outside. */
static tn_tensor *segment_of(const segment_map *m, tn_tensor *t) {
    return tni_where_or_zero(m->inside, tnp_gather(t, m->d, m->index, false));
}
/* How many of `which`, of data's shape, are in each segment, but at least 1. */
static tn_tensor *segment_count(const segment_map *m, tn_tensor *which, tn_gradient *g) {
    tn_tensor *n =
        tnp_zeros(tni_sizes(g->out[0]), (tn_dtype)g->incoming[0]->dtype, g->incoming[0]->device);
    which = tnp_to_dtype(tnp_logical_and(which, m->inside), (tn_dtype)g->incoming[0]->dtype, false,
                         false);
    return tnp_clamp_min_scalar(tnp_scatter_add(n, m->d, m->index, which), tn_int(1));
}
/* Equal elements that are their segment's largest share its gradient. */
static tn_tensor *segment_extreme_grad(const segment_map *m, tn_gradient *g) {
    tn_tensor *x = g->in[0], *y = tnp_gather(g->out[0], m->d, m->index, false), *same;
    same = tnp_logical_or(tnp_eq(x, y), tnp_logical_and(tnp_isnan(x), tnp_isnan(y)));
    return tni_where_or_zero(same,
                             segment_of(m, tnp_div(g->incoming[0], segment_count(m, same, g))));
}
/* The product of all others. Where one element is 0 it is the product with 1 in its place; where
 * several are, each has gradient 0. */
static tn_tensor *segment_prod_grad(const segment_map *m, const tn_segment_reduce_args *a,
                                    tn_gradient *g) {
    tn_tensor *x = g->in[0], *zero = tnp_logical_or(tnp_eq_scalar(x, tn_int(0)), tnp_isnan(x));
    tn_tensor *n = tnp_gather(segment_count(m, zero, g), m->d, m->index, false);
    tn_tensor *single = tnp_logical_and(zero, tnp_eq_scalar(n, tn_int(1))), *others, *y;
    others = tnp_segment_reduce(tnp_masked_fill_scalar(x, single, tn_int(1)), "prod", a->lengths,
                                NULL, a->offsets, a->axis, a->unsafe, a->initial);
    y = tnp_div(segment_of(m, g->out[0]), tnp_masked_fill_scalar(x, zero, tn_int(1)));
    y = tnp_where(single, segment_of(m, others), y);
    return tnp_mul(segment_of(m, g->incoming[0]), y);
}
static void segment_reduce_grad(tn_gradient *g) {
    TN_ARGS(segment_reduce, a, g);
    const segment_way way = segment_way_of(a->reduce);
    tn_tensor *d = g->incoming[0], *x = g->in[0];
    segment_map m;
    if (!g->out[0]->numel) {
        tn_give(g, 0, tnp_zeros(tni_sizes(x), (tn_dtype)x->dtype, x->device));
        return;
    }
    m = segment_map_of(a, g);
    if (way == SEGMENT_SUM)
        tn_give(g, 0, segment_of(&m, d));
    else if (way == SEGMENT_PROD)
        tn_give(g, 0, segment_prod_grad(&m, a, g));
    else if (way == SEGMENT_MEAN)
        tn_give(g, 0, segment_of(&m, tnp_div(d, segment_count(&m, m.inside, g))));
    else
        tn_give(g, 0, segment_extreme_grad(&m, g));
}
/* Segments of data along axis, reduced to one element each: reduce is sum, mean, prod, max or min
 * (or amax, amin). Either lengths says how long they are, one after another, or offsets where each
 * begins and the last ends. initial is joined to each segment; without it an empty one gives 0,
 * NaN, 1, or an infinity. With unsafe, lengths may leave a rest. */
TN_OPERATOR(
    segment_reduce,
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
    "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    TN_DOC(.shapes = "data (*, n, *), lengths (*, S) or offsets (*, S + 1) -> (*, S, *), floating",
           .example = "tn_segment_reduce(x, \"sum\", .offsets = index)",
           .differs = "grad of tensor 0 at ties: torch divides positive gradients alone"),
    .forms = TN_OUT, .needs = "data:data,lengths,offsets,result", .check = segment_reduce_check,
    .look = segment_reduce_look, .run = segment_reduce_run, .grad = segment_reduce_grad,
    .sample = "(6) sum lengths=(4):i64:permutation | (15,3) mean lengths=(6):i64:permutation "
              "initial=0.5 | (2,3,6) prod lengths=(2,3,4):i32:permutation axis=2 | (2,6,3) max "
              "lengths=(2,4):i64:permutation axis=1 initial=-1 | (6,2) min "
              "lengths=(4):i64:permutation initial=1.5 | (36) sum offsets=(6):i64:ascending<37 | "
              "(2,40) mean offsets=(2,5):i64:ascending<30 axis=-1 initial=2 | (9,2) prod "
              "lengths=(4):i64<3 unsafe=True | (9) max offsets=(4):i64:ascending<8 initial=0 | "
              "(0,2) sum lengths=(3):i64<1 | (4,0) sum lengths=(2):i64<2 unsafe=True")

#include "../../base/rounded_end.inl"
