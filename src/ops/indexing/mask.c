/* mask.c - elements where a mask is true: masked_fill, masked_select, masked_scatter.
 *
 * self and mask broadcast; elements are taken and written in row-major order. How many are true is
 * counted in look, before the first write. */
#include "../../api/ops/elementwise.h"
#include "index.h"
#include "../../cpu/walk.h"
#include "../shape/copy.h"
#include "../shape/geometry.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/shape.h"
#include "../../call/whole.h"

/* Here a uint8 mask is refused, as by torch; index takes both. */
static bool masked_mask(tn_frame *f, const char *name) {
    return f->in[1]->dtype == TN_BOOL ||
           tn_fail(f, TN_TYPE, "%s: expected BoolTensor for mask, got %s", name,
                   tni_dtype(f->in[1]->dtype)->text);
}
/* s: the shape that self and mask broadcast to; in place it must be self's. */
static bool masked_shape(tn_frame *f, tni_shape *s) {
    const tn_tensor *self = f->in[0], *mask = f->in[1];
    char has[160], wants[160];
    s->ndim = self->ndim;
    memcpy(s->size, self->size, sizeof(int64_t) * (size_t)s->ndim);
    /* In place the mask may broadcast to self, but self not to the mask. */
    if (tni_broadcast(s, mask->ndim, mask->size) &&
        (!f->inplace || (s->ndim == self->ndim &&
                         !memcmp(s->size, self->size, sizeof(int64_t) * (size_t)s->ndim))))
        return true;
    return tn_fail(f, TN_INVALID, "the mask %s does not broadcast with self %s",
                   tni_shape_text(has, sizeof has, mask->ndim, mask->size),
                   tni_shape_text(wants, sizeof wants, self->ndim, self->size));
}
/* The result, of the broadcast shape; in place with self's strides, which the
 * row writes through. */
static bool masked_announce(tn_frame *f, const tni_shape *s) {
    const int64_t *stride = f->inplace ? f->in[0]->stride : NULL;
    return tn_announce_strided(f, 0, (tn_dtype)f->in[0]->dtype, s->ndim, s->size, stride);
}

static bool masked_fill_check(tn_frame *f) {
    const tn_tensor *self = f->in[0], *value = f->in[2];
    tni_shape s;
    if (!masked_mask(f, "masked_fill")) return false;
    if (value->ndim)
        return tn_fail(f, TN_INVALID,
                       "masked_fill only supports a 0-dimensional value tensor, but got tensor "
                       "with %d dimension(s).",
                       value->ndim);
    /* A number must fit self's dtype; a 0-dim tensor's dtype must convert to it,
     * whatever its value. */
    if (value->flags & TNI_NUMBER) {
        if (!tni_fill_check(f, tni_element(tni_bytes_at(value), value->dtype), self->dtype))
            return false;
    } else if (!tni_can_cast(value->dtype, self->dtype))
        return tn_fail(f, TN_TYPE, "value cannot be converted to type %s without overflow",
                       tni_dtype(self->dtype)->text);
    return masked_shape(f, &s) && masked_announce(f, &s);
}
static void masked_fill_run(tn_frame *f) {
    tn_tensor *self = f->in[0], *value = f->in[2], *out = f->out[0];
    const tn_tensor *all[3];
    int64_t bytes = tni_dtype_size(self);
    char unit[16];
    tni_walk w;
    if (out->numel == 0) return;
    tni_element_set(unit, self->dtype, tni_element(tni_bytes_at(value), value->dtype));
    all[0] = out;
    all[1] = f->in[1];
    all[2] = self;
    tni_walk_start(&w, out->ndim, out->size, all, 3);
    /* A row is copied first, unless out is self, then filled where the mask is true. */
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w)) {
        if (w.at[0] != w.at[2]) tni_move_row(w.at[0], w.row[0], w.at[2], w.row[2], w.n, bytes);
        for (int64_t i = 0; i < w.n; i++)
            if (w.at[1][i * w.row[1]]) tni_move_one(w.at[0] + i * w.row[0], unit, bytes);
    }
}
/* value's gradient is what came in under the mask; the engine sums it to value's shape. */
static void masked_fill_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, tnp_masked_fill_scalar(d, g->in[1], tn_int(0)));
    if (g->want[2]) tn_give(g, 2, tnp_masked_select(d, g->in[1]));
}
/* Mask and value broadcast with self in each sample. */
static tn_tensor *masked_fill_batched(tn_frame *f, tn_tensor *const *whole) {
    const int ndim = f->in[0]->ndim > f->in[1]->ndim ? f->in[0]->ndim : f->in[1]->ndim;
    tn_tensor *in[3];
    for (int i = 0; i < 3; i++) {
        in[i] = whole[i] ? tni_whole_align(whole[i], f->in[i]->ndim, ndim) : f->in[i];
        if (!in[i]) return NULL;
    }
    if (f->in[2]->flags & TNI_NUMBER)
        return tnp_masked_fill_scalar(in[0], in[1], tni_element(tni_bytes_at(in[2]), in[2]->dtype));
    if (!whole[2]) return tnp_masked_fill(in[0], in[1], in[2]);
    in[2] = tnp_to_dtype(in[2], (tn_dtype)in[0]->dtype, false, false);
    return in[2] ? tnp_where(in[1], in[2], in[0]) : NULL;
}
/* A copy of self with value where the mask is true. */
TN_OPERATOR(masked_fill,
            "masked_fill.Scalar(Tensor self, Tensor mask, Tensor|Scalar value) -> Tensor",
            TN_DOC(.shapes = "self (*), mask (*) broadcast, value number or 0-dim -> (*)",
                   .example = "tn_masked_fill_scalar(x, mask, -INFINITY)"),
            .forms = TN_OUT | TN_INPLACE | TN_ALIAS, .needs = "self:mask value:mask",
            .check = masked_fill_check, .run = masked_fill_run, .grad = masked_fill_grad,
            .sample = "(2,3) (2,3):bool 0.5 | (2,3) (3):bool () | (3) (2,1):bool 2 | () ():bool -1 "
                      "| (0,3) (3):bool 1 | "
                      "(2,3):i64 (2,3):bool 7 | (2,3):bool (2,3):bool True",
            .node = "MaskedFillBackward0 value=number | MaskedFillBackward1",
            .batched = TN_BATCHED(masked_fill_batched))

/* A vector whose size look will find. */
static bool masked_select_check(tn_frame *f) {
    int64_t size[1] = {TN_UNKNOWN};
    tni_shape s;
    return masked_mask(f, "masked_select") && masked_shape(f, &s) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, 1, size);
}
/* The result's size: true elements over the broadcast shape. A mask may be true and yet stand for
 * no element, if self has a dimension of 0. */
static bool masked_select_look(tn_frame *f) {
    tni_shape s;
    if (!masked_shape(f, &s)) return false;
    f->count = 0;
    for (int d = 0; d < s.ndim; d++)
        if (s.size[d] == 0) return true;
    f->count = tni_count_true(f->in[1], s.ndim, s.size);
    return true;
}
static void masked_select_run(tn_frame *f) {
    const tn_tensor *all[2];
    int64_t bytes = tni_dtype_size(f->in[0]);
    char *to = tni_bytes_at(f->out[0]);
    tni_shape s;
    tni_walk w;
    if (f->out[0]->numel == 0 || !masked_shape(f, &s)) return;
    all[0] = f->in[0];
    all[1] = f->in[1];
    /* Both operands over the broadcast shape; the result is new and dense, so `to`
     * only moves on. */
    tni_walk_start(&w, s.ndim, s.size, all, 2);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++)
            if (w.at[1][i * w.row[1]]) {
                tni_move_one(to, w.at[0] + i * w.row[0], bytes);
                to += bytes;
            }
}
/* The gradient has the broadcast shape; the engine sums it to self's. */
static void masked_select_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *z;
    tni_shape s;
    s.ndim = g->in[0]->ndim;
    memcpy(s.size, g->in[0]->size, sizeof(int64_t) * (size_t)s.ndim);
    if (!tni_broadcast(&s, g->in[1]->ndim, g->in[1]->size)) return;
    z = tni_zeros_of(d, s.ndim, s.size);
    if (z) tn_give(g, 0, tnp_masked_scatter(z, g->in[1], d));
}
/* The elements where the mask is true, in row-major order. */
TN_OPERATOR(masked_select, "masked_select(Tensor self, Tensor mask) -> Tensor",
            TN_DOC(.shapes = "self (*), mask (*) broadcast -> (true ones)",
                   .example = "tn_masked_select(x, mask)"),
            .needs = "self:mask", .check = masked_select_check, .look = masked_select_look,
            .run = masked_select_run, .grad = masked_select_grad,
            .sample = "(2,3) (2,3):bool | (2,3) (3):bool | (3) (2,1):bool | () ():bool | (0,3) "
                      "(3):bool | (5):i64 (5):bool")

/* As torch: source is not converted, and self broadcasts with the mask. */
static bool masked_scatter_check(tn_frame *f) {
    tni_shape s;
    if (!masked_mask(f, "masked_scatter")) return false;
    if (f->in[0]->dtype != f->in[2]->dtype)
        return tn_fail(
            f, TN_TYPE,
            "masked_scatter: expected self and source to have same dtypes but got %s and %s",
            tni_dtype(f->in[0]->dtype)->text, tni_dtype(f->in[2]->dtype)->text);
    return masked_shape(f, &s) && masked_announce(f, &s);
}
/* Counts as masked_select does, but the result's size does not depend on it. */
static bool masked_scatter_look(tn_frame *f) {
    int64_t count;
    if (!masked_select_look(f)) return false;
    count = f->count;
    f->count = 0;
    return count <= f->in[2]->numel ||
           tn_fail(f, TN_INVALID,
                   "masked_scatter: expected source of at least %lld elements, got %lld",
                   (long long)count, (long long)f->in[2]->numel);
}
static void masked_scatter_run(tn_frame *f) {
    tn_tensor *self = f->in[0], *source = f->in[2], *out = f->out[0];
    const tn_tensor *all[3], *one = source;
    int64_t bytes = tni_dtype_size(self), taken = 0;
    tni_walk w, s;
    if (out->numel == 0) return;
    all[0] = out;
    all[1] = f->in[1];
    all[2] = self;
    /* w walks over out; s walks over source beside it, one element for each true one. */
    tni_walk_start(&w, out->ndim, out->size, all, 3);
    tni_walk_start(&s, source->ndim, source->size, &one, 1);
    /* A row is copied first, unless out is self, then written where the mask is true. */
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w)) {
        if (w.at[0] != w.at[2]) tni_move_row(w.at[0], w.row[0], w.at[2], w.row[2], w.n, bytes);
        for (int64_t i = 0; i < w.n; i++) {
            if (!w.at[1][i * w.row[1]]) continue;
            tni_move_row(w.at[0] + i * w.row[0], bytes, s.at[0] + taken * s.row[0], bytes, 1,
                         bytes);
            if (++taken == s.n) {
                taken = 0;
                tni_walk_next(&s);
            }
        }
    }
}
static void masked_scatter_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *source = g->in[2], *d_taken, *flat;
    tni_geometry prefix;
    /* tn_give sums to self's shape if self was broadcast */
    if (g->want[0]) tn_give(g, 0, tnp_masked_fill_scalar(d, g->in[1], tn_int(0)));
    if (!g->want[2]) return;
    /* source's first elements were taken, in row-major order; the rest gets gradient 0 */
    d_taken = tnp_masked_select(d, g->in[1]);
    if (!d_taken) return;
    prefix.ndim = 1;
    prefix.size[0] = d_taken->numel;
    prefix.stride[0] = 1;
    prefix.offset = 0;
    flat = tni_place_at(g->block, tni_zeros_of(d, 1, &source->numel), d_taken, &prefix);
    if (flat) tn_give(g, 2, tnp_reshape(flat, tni_sizes(source)));
}
/* A copy of self in which the places where the mask is true get the elements of
 * source, in order. */
TN_OPERATOR(masked_scatter, "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
            TN_DOC(.shapes = "self (*), mask (*) broadcast, source (n), n at least the number of "
                             "true ones -> (*)",
                   .example = "tn_masked_scatter(x, mask, v)"),
            .forms = TN_OUT | TN_INPLACE, .needs = "self:mask source:mask",
            .check = masked_scatter_check, .look = masked_scatter_look, .run = masked_scatter_run,
            .grad = masked_scatter_grad,
            .sample = "(2,3) (2,3):bool (6) | (2,3) (3):bool (2,4) | () ():bool (1) | (0,3) "
                      "(3):bool (0) | (5):i64 (5):bool (5):i64")
