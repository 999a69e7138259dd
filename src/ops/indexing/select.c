/* select.c - slices along a dimension chosen by a list of indices: index_select, index_add. Where
 * an index stands twice, additions happen in the order of the index. */
#include "index.h"
#include "../../call/arguments.h"
#include "../../cpu/walk.h"
#include "../shape/geometry.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/shape.h"
#include "../../call/whole.h"

/* The sizes around dimension d of a row-major tensor, which is outer x n x inner elements. */
typedef struct index_slices {
    int64_t outer, inner, n;
} index_slices;
/* A 0-dim tensor is 1 x 1 x 1. */
static index_slices index_slices_of(const tn_tensor *t, int d) {
    index_slices s = {1, 1, 1};
    for (int i = 0; i < t->ndim; i++) {
        if (i < d)
            s.outer *= t->size[i];
        else if (i > d)
            s.inner *= t->size[i];
        else
            s.n = t->size[i];
    }
    return s;
}
/* A list of indices: one dimension, or a 0-dim tensor, which counts as a list of one. */
static bool index_vector(tn_frame *f, const tn_tensor *index, const char *name) {
    if (index->ndim > 1)
        return tn_fail(f, TN_INDEX, "%s(): Index is supposed to be a vector", name);
    return tni_index_dtype(f, index, name);
}
/* v becomes a header of t without dimension d, at place k of it; size and stride are its memory. A
 * 0-dim t has a single slice, itself. */
static void index_slice(tn_tensor *v, const tn_tensor *t, int d, int64_t k, int64_t *size,
                        int64_t *stride) {
    int n = 0;
    for (int i = 0; i < t->ndim; i++)
        if (i != d) {
            size[n] = t->size[i];
            stride[n++] = t->stride[i];
        }
    tni_stack_view(v, t, n, size, stride, t->offset + (t->ndim ? k * t->stride[d] : 0));
}

static bool index_select_check(tn_frame *f) {
    TN_ARGS(index_select, a, f);
    tn_tensor *self = f->in[0], *index = f->in[1];
    int64_t size[TN_MAX_DIMS];
    int d;
    TN_NOTE(tni_dim_note, note, f);
    if (!tni_dim_of(f, self->ndim, a->dim, &d) || !index_vector(f, index, "index_select") ||
        !tni_given_is(f, 0, (tn_dtype)self->dtype))
        return false;
    if (self->ndim == 0 && index->numel != 1)
        return tn_fail(f, TN_INDEX,
                       "index_select(): Index to scalar can have only 1 value, got %lld value(s)",
                       (long long)index->numel);
    /* self's shape, with as many places along dim as there are indices. */
    memcpy(size, self->size, sizeof(int64_t) * (size_t)self->ndim);
    if (self->ndim) size[d] = index->numel;
    note->dim = d;
    return tn_announce(f, 0, (tn_dtype)self->dtype, self->ndim, size);
}
static bool index_select_look(tn_frame *f) {
    tn_tensor *self = f->in[0];
    TN_NOTE(tni_dim_note, note, f);
    return tni_index_range(f, f->in[1], 0, self->ndim ? self->size[note->dim] : 1, note->dim);
}
/* Index i of the list. */
static int64_t index_vector_at(const tn_tensor *index, int64_t i) {
    return tni_index_at(tni_bytes_at(index) +
                            (index->ndim ? i * index->stride[0] : 0) * tni_dtype_size(index),
                        index->dtype);
}
static void index_select_run(tn_frame *f) {
    tn_tensor *self = f->in[0], *index = f->in[1], *out = f->out[0], to, from;
    TN_NOTE(tni_dim_note, note, f);
    const int d = note->dim;
    int64_t bytes = tni_dtype_size(self), size[TN_MAX_DIMS], stride[2][TN_MAX_DIMS],
            n = index->numel;
    if (out->numel == 0) return;
    /* Both row-major: each slice is one move of inner elements for each outer place. */
    if (self->flags & TNI_CONTIGUOUS && out->flags & TNI_CONTIGUOUS) {
        index_slices s = index_slices_of(self, d);
        const char *base = tni_bytes_at(self);
        char *at = tni_bytes_at(out);
        /* The result's slices in order, so `at` only moves on. */
        for (int64_t o = 0; o < s.outer; o++)
            for (int64_t i = 0; i < n; i++, at += s.inner * bytes) {
                if (!((o * n + i) & 0xff) && tni_stopped()) return;
                tni_move_row(at, bytes,
                             base + (o * s.n + index_vector_at(index, i)) * s.inner * bytes, bytes,
                             s.inner, bytes);
            }
        return;
    }
    /* Any strides: copies one slice after another. */
    for (int64_t i = 0; i < n && !tni_stopped(); i++) {
        index_slice(&to, out, d, i, size, stride[0]);
        index_slice(&from, self, d, index_vector_at(index, i), size, stride[1]);
        tni_copy_elements(f->block, &to, &from);
    }
}
static void index_select_grad(tn_gradient *g) {
    TN_ARGS(index_select, a, g);
    /* Added at the places that were read; one read twice gets both. */
    tn_tensor *d = g->incoming[0], *z = tni_zeros_of(d, g->in[0]->ndim, g->in[0]->size);
    if (z) tn_give(g, 0, tnp_index_add(z, a->dim, g->in[1], d, 1));
}
/* Indices of each sample are gathered. */
static tn_tensor *index_select_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(index_select, a, f);
    const tn_tensor *self = f->in[0];
    const int dim = self->ndim ? (int)(a->dim < 0 ? a->dim : a->dim - self->ndim) : -1;
    int64_t sizes[TN_MAX_DIMS + 1];
    tn_tensor *x, *at;
    if (!self->ndim) return NULL;
    if (!whole[1]) return tnp_index_select(whole[0], dim, f->in[1]);
    if (f->in[1]->ndim != 1) return NULL;
    x = tni_whole_each(f, whole, 0, whole[1]->size[0]);
    if (!x) return NULL;
    for (int d = 0; d < x->ndim; d++) sizes[d] = d && d != x->ndim + dim ? 1 : -2;
    sizes[0] = whole[1]->size[0];
    sizes[x->ndim + dim] = whole[1]->size[1];
    at = tnp_reshape(whole[1], tni_ints(sizes, x->ndim));
    memcpy(sizes, x->size, (size_t)x->ndim * sizeof *sizes);
    sizes[x->ndim + dim] = whole[1]->size[1];
    at = at ? tnp_expand(tnp_to_dtype(at, TN_I64, false, false), tni_ints(sizes, x->ndim), false)
            : NULL;
    return at ? tnp_gather(x, dim, at, false) : NULL;
}
/* The parts of self at the places index[i] along dim, as a copy. */
TN_OPERATOR(index_select, "index_select(Tensor self, int dim, Tensor index) -> Tensor",
            TN_DOC(.shapes = "self (5, 3), index (n) -> (n, 3)",
                   .example = "tn_index_select(x, 0, rows)"),
            .forms = TN_OUT, .needs = "self:index", .check = index_select_check,
            .look = index_select_look, .run = index_select_run, .grad = index_select_grad,
            .sample = "(5,3) 0 (2):i64<5 | (2,3,4) 1 (5):i64<3 | (2,3) -1 (4):i32<3 | (5,3) 0 "
                      "(0):i64<5 | (4) 0 ():i64<4 | () 0 (1):i64<1",
            .batched = TN_BATCHED(index_select_batched))

static bool index_add_check(tn_frame *f) {
    TN_ARGS(index_add, a, f);
    tn_tensor *self = f->in[0], *index = f->in[1], *source = f->in[2];
    int64_t n;
    bool fits;
    int d;
    TN_NOTE(tni_dim_note, note, f);
    /* A fraction is cut off beside integers; beside bools alpha is one itself. */
    if (!tni_dim_of(f, self->ndim, a->dim, &d) || !index_vector(f, index, "index_add") ||
        (self->dtype != TN_BOOL && !tni_double_fits(f, "alpha", trunc(a->alpha), self->dtype)))
        return false;
    if (self->dtype != source->dtype)
        return tn_fail(f, TN_TYPE,
                       "index_add_(): self (%s) and source (%s) must have the same scalar type",
                       tni_dtype(self->dtype)->text, tni_dtype(source->dtype)->text);
    /* source's size along dim; vectors and 0-dim tensors may stand for each other. */
    n = source->ndim ? source->size[d < source->ndim ? d : 0] : 1;
    if (n != index->numel)
        return tn_fail(
            f, TN_INDEX,
            "index_add_(): Number of indices (%lld) should be equal to source.size(dim): (%lld)",
            (long long)index->numel, (long long)n);
    /* Apart from dim, the shapes are equal. */
    fits = source->ndim == self->ndim || (self->ndim <= 1 && source->ndim <= 1);
    for (int i = 0; fits && i < self->ndim && i < source->ndim; i++)
        fits = i == d || self->size[i] == source->size[i];
    if (!fits)
        return tn_fail(
            f, TN_INVALID,
            "source tensor shape must match self tensor shape, excluding the specified dimension");
    /* run reads the dimension, counted from 0, from the note. */
    note->dim = d;
    if (f->inplace)
        return tn_announce_strided(f, 0, (tn_dtype)self->dtype, self->ndim, self->size,
                                   self->stride);
    return tn_announce(f, 0, (tn_dtype)self->dtype, self->ndim, self->size);
}
/* to[i] += alpha * from[i]; steps in bytes. The product is rounded to the dtype, then added, as
 * torch, which makes a tensor of it. */
static void index_add_scaled(char *to, int64_t to_step, const char *from, int64_t from_step,
                             int64_t n, int dtype, double alpha) {
    for (int64_t i = 0; i < n; i++) {
        char v[16];
        tn_scalar s = tni_element(from + i * from_step, dtype);
        /* Integers wrap, which unsigned products do without undefined behaviour. */
        if (s.kind == TN_KIND_INT)
            s.integer = (int64_t)((uint64_t)s.integer * (uint64_t)(int64_t)alpha);
        s.real = s.kind == TN_KIND_INT ? (double)s.integer : s.real * alpha;
        s.imaginary *= alpha;
        tni_element_set(v, dtype, s);
        tni_add_row(to + i * to_step, 0, v, 0, 1, dtype);
    }
}
/* The same sums where out, source are row-major and alpha is 1: rows of inner elements. */
static void index_add_rows(const tn_tensor *out, const tn_tensor *index, const tn_tensor *source,
                           int d) {
    const index_slices to = index_slices_of(out, d), from = index_slices_of(source, d);
    const int64_t size = tni_dtype_size(out), row = to.inner * size;
    const char *at = tni_bytes_at(source);
    TNI_PATH(index_add_rows);
    for (int64_t o = 0; o < to.outer; o++)
        for (int64_t i = 0; i < from.n; i++, at += row) {
            if (!((o * from.n + i) & 0xff) && tni_stopped()) return;
            tni_add_row(tni_bytes_at(out) + (o * to.n + index_vector_at(index, i)) * row, size, at,
                        size, to.inner, out->dtype);
        }
}
static void index_add_run(tn_frame *f) {
    TN_ARGS(index_add, a, f);
    tn_tensor *self = f->in[0], *index = f->in[1], *source = f->in[2], *out = f->out[0], slice[2];
    const tn_tensor *pair[2];
    int64_t size[TN_MAX_DIMS], stride[2][TN_MAX_DIMS];
    TN_NOTE(tni_dim_note, note, f);
    const int d = note->dim;
    const double alpha = out->dtype == TN_BOOL ? a->alpha != 0 : a->alpha;
    tni_walk w;
    pair[0] = &slice[0];
    pair[1] = &slice[1];
    if (out != self && self->numel) tni_copy_elements(f->block, out, self);
    if (out->numel == 0 || source->numel == 0) return;
    if (out->dtype == TN_BOOL && alpha == 0) return;
    /* One thread, in the index's order: sums at a place do not depend on the number of threads. */
    if (alpha == 1 && out->flags & source->flags & TNI_CONTIGUOUS && out->ndim == source->ndim) {
        index_add_rows(out, index, source, d);
        return;
    }
    for (int64_t i = 0; i < index->numel && !tni_stopped(); i++) {
        index_slice(&slice[1], source, d, i, size, stride[1]);
        index_slice(&slice[0], out, d, index_vector_at(index, i), size, stride[0]);
        tni_walk_start(&w, slice[0].ndim, size, pair, 2);
        for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w)) {
            /* Without a factor rows are added by vector code. */
            if (alpha == 1)
                tni_add_row(w.at[0], w.row[0], w.at[1], w.row[1], w.n, out->dtype);
            else
                index_add_scaled(w.at[0], w.row[0], w.at[1], w.row[1], w.n, out->dtype, alpha);
        }
    }
}
static void index_add_grad(tn_gradient *g) {
    TN_ARGS(index_add, a, g);
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, d);
    if (!g->want[2]) return;
    /* source may be a vector where self is 0-dim, or the other way round. */
    d = tnp_index_select(d, a->dim, g->in[1]);
    if (d && !tni_same_shape(d, g->in[2])) d = tnp_reshape(d, tni_sizes(g->in[2]));
    tn_give(g, 2, a->alpha == 1 ? d : tnp_mul_scalar(d, tn_float(a->alpha)));
}
/* A copy of self with alpha * source[i] added at place index[i] along dim, in the
 * order of index. */
TN_OPERATOR(
    index_add,
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    TN_DOC(.shapes = "self (5, 3), index (n), source (n, 3) -> (5, 3)",
           .example = "tn_index_add_(x, 0, rows, v)"),
    .forms = TN_OUT | TN_INPLACE, .needs = "source:index", .check = index_add_check,
    .look = index_select_look, .run = index_add_run, .grad = index_add_grad,
    .sample = "(5,3) 0 (4):i64<5 (4,3) | (2,3,4) 1 (5):i64<3 (2,5,4) alpha=0.5 | (3) -1 (2):i32<3 "
              "(2) | (5,3) 0 (0):i64<5 (0,3)")
