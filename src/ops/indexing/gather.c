/* gather.c - one index for each element: gather, scatter, masks over elements, embedding.
 *
 * Writes happen in row-major order of the index: of two to one place the later stays, additions
 * keep that order.
 * Ranges are checked in look, before the first write. */
#include "index.h"
#include "../../call/arguments.h"
#include "../../cpu/walk.h"
#include "../shape/copy.h"
#include "../shape/geometry.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* --- gather, scatter -------------------------------------------------------------------------- */

/* index against t: as many dimensions (0 counts as 1), nowhere but along d larger than t. */
static bool gather_fits(tn_frame *f, const tn_tensor *index, const tn_tensor *t, int d,
                        const char *what) {
    char has[160], wants[160];
    int n = index->ndim ? index->ndim : 1, m = t->ndim ? t->ndim : 1;
    if (index->numel == 0) return true;
    if (n != m)
        return tn_fail(f, TN_INVALID,
                       "Index tensor must have the same number of dimensions as %s tensor", what);
    for (int i = 0; i < n; i++)
        if (i != d && (index->ndim ? index->size[i] : 1) > (t->ndim ? t->size[i] : 1))
            return tn_fail(f, TN_INVALID,
                           "Size does not match at dimension %d expected index %s to be no larger "
                           "than %s %s%s",
                           i, tni_shape_text(has, sizeof has, index->ndim, index->size), what,
                           tni_shape_text(wants, sizeof wants, t->ndim, t->size),
                           d < 0 ? "" : " apart from the dimension indexed");
    return true;
}
static bool gather_arguments(tn_frame *f, int64_t dim, const char *name) {
    tn_tensor *self = f->in[0], *index = f->in[1];
    TN_NOTE(tni_dim_note, note, f);
    if (!tni_dim_of(f, self->ndim, dim, &note->dim) || !tni_index_dtype(f, index, name))
        return false;
    return gather_fits(f, index, self, note->dim, "self");
}
static bool gather_look(tn_frame *f) {
    tn_tensor *self = f->in[0];
    TN_NOTE(tni_dim_note, note, f);
    return tni_index_range(f, f->in[1], 0, self->ndim ? self->size[note->dim] : 1, note->dim);
}
/* A header for walks over the index's shape: t's strides but 0 along d. */
static void gather_line(tn_tensor *v, const tn_tensor *t, const tn_tensor *index, int d,
                        int64_t *stride) {
    for (int i = 0; i < index->ndim; i++) stride[i] = i == d || i >= t->ndim ? 0 : t->stride[i];
    tni_stack_view(v, t, index->ndim, index->size, stride, t->offset);
}
static int64_t gather_step(const tn_tensor *t, int d) {
    return t->ndim ? t->stride[d] * tni_dtype_size(t) : 0;
}

static bool gather_check(tn_frame *f) {
    TN_ARGS(gather, a, f);
    return gather_arguments(f, a->dim, "gather") &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, f->in[1]->ndim, f->in[1]->size);
}
static void gather_run(tn_frame *f) {
    tn_tensor *self = f->in[0], *index = f->in[1], *out = f->out[0], line;
    const tn_tensor *all[3];
    TN_NOTE(tni_dim_note, note, f);
    const int d = note->dim, dtype = index->dtype;
    int64_t stride[TN_MAX_DIMS], step = gather_step(self, d), bytes = tni_dtype_size(self);
    tni_walk w;
    if (out->numel == 0) return;
    gather_line(&line, self, index, d, stride);
    all[0] = out;
    all[1] = index;
    all[2] = &line;
    tni_walk_start(&w, index->ndim, index->size, all, 3);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            const char *from =
                w.at[2] + i * w.row[2] + tni_index_at(w.at[1] + i * w.row[1], dtype) * step;
            tni_move_one(w.at[0] + i * w.row[0], from, bytes);
        }
}
static void gather_grad(tn_gradient *g) {
    TN_ARGS(gather, a, g);
    tn_tensor *d = g->incoming[0], *z = tni_zeros_of(d, g->in[0]->ndim, g->in[0]->size);
    if (z) tn_give(g, 0, tnp_scatter_add(z, a->dim, g->in[1], d));
}
/* out[i][j] = self[index[i][j]][j] for dim 0, and likewise for other dims. */
TN_OPERATOR(gather,
            "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
            TN_DOC(.shapes = "self (*), index (*) -> index's shape",
                   .example = "tn_gather(x, 1, index)"),
            .forms = TN_OUT, .needs = "self:index", .check = gather_check, .look = gather_look,
            .run = gather_run, .grad = gather_grad,
            .sample = "(5,3) 0 (2,3):i64<5 | (5,3) 1 (5,7):i64<3 | (2,3,4) -2 (2,2,3):i64<3 | (4) "
                      "0 (6):i64<4 | () 0 ():i64<1 | "
                      "(3,2) 0 (0,2):i64<3 | (5,3):i64 1 (4,1):i32<3")

/* What scatter does at each place: writes, adds, or writes one value. */
static void scatter_run_all(tn_frame *f, const tn_tensor *src, bool add, const void *unit) {
    tn_tensor *self = f->in[0], *index = f->in[1], *out = f->out[0], line, values;
    const tn_tensor *all[3];
    TN_NOTE(tni_dim_note, note, f);
    const int d = note->dim, dtype = index->dtype;
    int64_t stride[2][TN_MAX_DIMS], step = gather_step(out, d), bytes = tni_dtype_size(out);
    tni_walk w;
    if (out != self && self->numel) tni_copy_elements(f->block, out, self);
    if (index->numel == 0 || out->numel == 0) return;
    gather_line(&line, out, index, d, stride[0]);
    all[0] = &line;
    all[1] = index;
    if (src) {
        for (int i = 0; i < index->ndim; i++) stride[1][i] = i < src->ndim ? src->stride[i] : 0;
        tni_stack_view(&values, src, index->ndim, index->size, stride[1], src->offset);
        all[2] = &values;
    }
    tni_walk_start(&w, index->ndim, index->size, all, src ? 3 : 2);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            char *to = w.at[0] + i * w.row[0] + tni_index_at(w.at[1] + i * w.row[1], dtype) * step;
            const char *from = unit ? (const char *)unit : w.at[2] + i * w.row[2];
            if (add)
                tni_add_row(to, bytes, from, bytes, 1, out->dtype);
            else
                tni_move_one(to, from, bytes);
        }
}
static bool scatter_announce(tn_frame *f) {
    tn_tensor *self = f->in[0];
    if (f->inplace)
        return tn_announce_strided(f, 0, (tn_dtype)self->dtype, self->ndim, self->size,
                                   self->stride);
    return tn_announce(f, 0, (tn_dtype)self->dtype, self->ndim, self->size);
}
static bool scatter_source(tn_frame *f, const char *name) {
    tn_tensor *self = f->in[0], *src = f->in[2];
    if (self->dtype != src->dtype)
        return tn_fail(f, TN_TYPE, "%s(): Expected self.dtype to be equal to src.dtype", name);
    return gather_fits(f, f->in[1], src, -1, "src") && scatter_announce(f);
}
/* The gradient of src: what came in at the places written; zero for the rest of a src larger than
 * the index. */
static void scatter_give_source(tn_gradient *g, int64_t dim) {
    tn_tensor *d = tnp_gather(g->incoming[0], dim, g->in[1], false), *src = g->in[2];
    tni_geometry v;
    if (!d || tni_same_shape(d, src)) {
        tn_give(g, 2, d);
        return;
    }
    tni_geometry_of(&v, src);
    for (int i = 0; i < v.ndim && i < d->ndim; i++) v.size[i] = d->size[i];
    if (d->ndim != v.ndim) d = tnp_reshape(d, tni_ints(v.size, v.ndim));
    if (d) tn_give(g, 2, tni_place_at(g->block, tni_zeros_of(d, src->ndim, src->size), d, &v));
}

static bool scatter_check(tn_frame *f) {
    TN_ARGS(scatter, a, f);
    return gather_arguments(f, a->dim, "scatter") && scatter_source(f, "scatter");
}
static void scatter_run(tn_frame *f) { scatter_run_all(f, f->in[2], false, NULL); }
static void scatter_grad(tn_gradient *g) {
    TN_ARGS(scatter, a, g);
    if (g->want[0]) tn_give(g, 0, tnp_scatter_value(g->incoming[0], a->dim, g->in[1], tn_int(0)));
    if (g->want[2]) scatter_give_source(g, a->dim);
}
/* A copy of self with out[index[i][j]][j] = src[i][j] for dim 0, and likewise for other dims. */
TN_OPERATOR(scatter, "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
            TN_DOC(.shapes = "self (*), index and src (*) of no larger sizes -> self's shape",
                   .example = "tn_scatter(x, 1, index, src)"),
            .forms = TN_OUT | TN_INPLACE, .needs = "self:index src:index", .check = scatter_check,
            .look = gather_look, .run = scatter_run, .grad = scatter_grad,
            .sample = "(5,3) 0 (1,3):i64<5 (1,3) | (3,5) 1 (3,1):i64<5 (3,1) | (4) 0 (1):i64<4 (1) "
                      "| () 0 ():i64<1 () | (2,3) 0 (0,3):i64<2 (0,3)")

static bool scatter_value_check(tn_frame *f) {
    TN_ARGS(scatter_value, a, f);
    return gather_arguments(f, a->dim, "scatter") && tni_fill_check(f, a->value, f->in[0]->dtype) &&
           scatter_announce(f);
}
static void scatter_value_run(tn_frame *f) {
    TN_ARGS(scatter_value, a, f);
    char unit[16];
    tni_element_set(unit, f->out[0]->dtype, tni_exact(a->value));
    scatter_run_all(f, NULL, false, unit);
}
static void scatter_value_grad(tn_gradient *g) {
    TN_ARGS(scatter_value, a, g);
    tn_give(g, 0, tnp_scatter_value(g->incoming[0], a->dim, g->in[1], tn_int(0)));
}
/* A copy of self with out[index[i][j]][j] = value for dim 0, and likewise for other dims. */
TN_OPERATOR(scatter_value,
            "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
            TN_DOC(.shapes = "self (*), index (*) of no larger sizes -> self's shape",
                   .example = "tn_scatter_value(x, 1, index, 1)"),
            .forms = TN_OUT | TN_INPLACE, .needs = "self:index", .check = scatter_value_check,
            .look = gather_look, .run = scatter_value_run, .grad = scatter_value_grad,
            .sample = "(5,3) 0 (2,3):i64<5 0.5 | (3,5) -1 (3,2):i64<5 2 | () 0 ():i64<1 1 | (2,3) "
                      "0 (0,3):i64<2 1 | (5):i64 0 (9):i64<5 7",
            .node = "ScatterBackward1")

static bool scatter_add_check(tn_frame *f) {
    TN_ARGS(scatter_add, a, f);
    return gather_arguments(f, a->dim, "scatter_add") && scatter_source(f, "scatter_add");
}
static void scatter_add_run(tn_frame *f) { scatter_run_all(f, f->in[2], true, NULL); }
static void scatter_add_grad(tn_gradient *g) {
    TN_ARGS(scatter_add, a, g);
    tn_give(g, 0, g->incoming[0]);
    if (g->want[2]) scatter_give_source(g, a->dim);
}
/* A copy of self with out[index[i][j]][j] += src[i][j] for dim 0, and likewise for other dims,
 * added in row-major order. */
TN_OPERATOR(scatter_add, "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
            TN_DOC(.shapes = "self (*), index and src (*) of no larger sizes -> self's shape",
                   .example = "tn_scatter_add(x, 1, index, src)"),
            .forms = TN_OUT | TN_INPLACE, .needs = "src:index", .check = scatter_add_check,
            .look = gather_look, .run = scatter_add_run, .grad = scatter_add_grad,
            .sample = "(5,3) 0 (7,3):i64<5 (7,3) | (3,5) 1 (2,9):i64<5 (2,9) | (4) 0 (6):i64<4 (6) "
                      "| () 0 ():i64<1 () | "
                      "(2,3) 0 (0,3):i64<2 (0,3) | (5):i64 0 (9):i64<5 (9):i64")

static bool take_along_dim_compose(tn_frame *f) {
    TN_ARGS(take_along_dim, a, f);
    static const int64_t all[1] = {-1};
    tn_tensor *self = f->in[0], *index = f->in[1];
    tni_shape s, i;
    int d;
    if (a->dim == TN_NONE) {
        self = tnp_reshape(self, tni_ints(all, 1));
        index = tnp_reshape(index, tni_ints(all, 1));
        return self && index && (f->out[0] = tnp_gather(self, 0, index, false)) != NULL;
    }
    if (self->ndim != index->ndim)
        return tn_fail(f, TN_INVALID,
                       "torch.take_along_dim(): input and indices should have the same number of "
                       "dimensions, but got "
                       "%d dimensions for input, and %d dimensions for indices",
                       self->ndim, index->ndim);
    if (self->ndim == 0)
        return tn_fail(f, TN_INDEX, "Dimension specified as %lld but tensor has no dimensions",
                       (long long)a->dim);
    if (!tni_dim_of(f, self->ndim, a->dim, &d)) return false;
    if (self->ndim) { /* all dimensions but dim broadcast against each other */
        s.ndim = i.ndim = self->ndim;
        memcpy(s.size, self->size, sizeof(int64_t) * (size_t)s.ndim);
        s.size[d] = 1;
        memcpy(i.size, index->size, sizeof(int64_t) * (size_t)s.ndim);
        i.size[d] = 1;
        if (!tni_broadcast(&s, i.ndim, i.size))
            return tn_fail(f, TN_INVALID, "the shapes of self and indices do not broadcast");
        memcpy(i.size, s.size, sizeof(int64_t) * (size_t)s.ndim);
        s.size[d] = self->size[d];
        i.size[d] = index->size[d];
        self = tnp_expand(self, tni_ints(s.size, s.ndim), false);
        index = tnp_expand(index, tni_ints(i.size, i.ndim), false);
    }
    return self && index && (f->out[0] = tnp_gather(self, d, index, false)) != NULL;
}
/* gather, but all dimensions except dim broadcast. Without dim it takes from the flattened tensor.
 * With the result of argsort as indices it gives the sorted tensor. */
TN_OPERATOR(
    take_along_dim, "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    TN_DOC(.shapes = "self (5, 3), indices (2, 3) -> (2, 3)",
           .example = "tn_take_along_dim(x, tn_argsort(x), .dim = -1)"),
    .forms = TN_OUT, .compose = take_along_dim_compose,
    .sample =
        "(5,3) (2,3):i64<5 0 | (5,3) (1,2):i64<3 dim=1 | (2,3) (4):i64<6 | (1,3) (4,2):i64<3 -1")

/* --- masks ------------------------------------------------------------------------------------ */

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
    if (tni_broadcast(s, mask->ndim, mask->size) &&
        (!f->inplace || (s->ndim == self->ndim &&
                         !memcmp(s->size, self->size, sizeof(int64_t) * (size_t)s->ndim))))
        return true;
    return tn_fail(f, TN_INVALID, "the mask %s does not broadcast with self %s",
                   tni_shape_text(has, sizeof has, mask->ndim, mask->size),
                   tni_shape_text(wants, sizeof wants, self->ndim, self->size));
}
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
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w)) {
        if (w.at[0] != w.at[2]) tni_move_row(w.at[0], w.row[0], w.at[2], w.row[2], w.n, bytes);
        for (int64_t i = 0; i < w.n; i++)
            if (w.at[1][i * w.row[1]]) tni_move_one(w.at[0] + i * w.row[0], unit, bytes);
    }
}
static void
masked_fill_grad(tn_gradient *g) { /* value's is the sum of what came in under the mask */
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, tnp_masked_fill_scalar(d, g->in[1], tn_int(0)));
    if (g->want[2]) tn_give(g, 2, tnp_masked_select(d, g->in[1]));
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
            .node = "MaskedFillBackward0 value=number | MaskedFillBackward1")

static bool masked_select_check(tn_frame *f) {
    int64_t size[1] = {TN_UNKNOWN};
    tni_shape s;
    return masked_mask(f, "masked_select") && masked_shape(f, &s) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, 1, size);
}
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
    tni_walk_start(&w, s.ndim, s.size, all, 2);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++)
            if (w.at[1][i * w.row[1]]) tni_move_one(to, w.at[0] + i * w.row[0], bytes), to += bytes;
}
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
    tni_walk_start(&w, out->ndim, out->size, all, 3);
    tni_walk_start(&s, source->ndim, source->size, &one, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w)) {
        if (w.at[0] != w.at[2]) tni_move_row(w.at[0], w.row[0], w.at[2], w.row[2], w.n, bytes);
        for (int64_t i = 0; i < w.n; i++) {
            if (!w.at[1][i * w.row[1]]) continue;
            tni_move_row(w.at[0] + i * w.row[0], bytes, s.at[0] + taken * s.row[0], bytes, 1,
                         bytes);
            if (++taken == s.n) taken = 0, tni_walk_next(&s);
        }
    }
}
static void masked_scatter_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *source = g->in[2], *taken, *flat;
    tni_geometry v;
    if (g->want[0]) tn_give(g, 0, tnp_masked_fill_scalar(d, g->in[1], tn_int(0)));
    if (!g->want[2]) return;
    taken = tnp_masked_select(d, g->in[1]);
    if (!taken) return;
    v.ndim = 1;
    v.size[0] = taken->numel;
    v.stride[0] = 1;
    v.offset = 0;
    flat = tni_place_at(g->block, tni_zeros_of(d, 1, &source->numel), taken, &v);
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

/* --- embedding -------------------------------------------------------------------------------- */

static bool embedding_check(tn_frame *f) {
    tn_tensor *weight = f->in[0], *indices = f->in[1];
    int64_t size[TN_MAX_DIMS];
    if (weight->ndim != 2) return tn_fail(f, TN_INVALID, "argument 'weight' must be 2-D");
    if (!tni_is_index(indices))
        return tn_fail(f, TN_TYPE,
                       "Expected tensor for argument #1 'indices' to have one of the following "
                       "scalar types: Long, Int; "
                       "but got %s instead (while checking arguments for embedding)",
                       tni_dtype(indices->dtype)->text);
    if (indices->ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID, "expected at most %d dimensions", TN_MAX_DIMS);
    memcpy(size, indices->size, sizeof(int64_t) * (size_t)indices->ndim);
    size[indices->ndim] = weight->size[1];
    return tn_announce(f, 0, (tn_dtype)weight->dtype, indices->ndim + 1, size);
}
static bool embedding_look(tn_frame *f) {
    return tni_index_range(f, f->in[1], 0, f->in[0]->size[0], 0);
}
static void embedding_run(tn_frame *f) {
    tn_tensor *weight = f->in[0], *out = f->out[0];
    const tn_tensor *index = f->in[1];
    int64_t bytes = tni_dtype_size(weight), row = weight->stride[0] * bytes,
            col = weight->stride[1] * bytes, n = weight->size[1];
    const char *table = tni_bytes_at(weight);
    char *to = tni_bytes_at(out);
    tni_walk w;
    if (out->numel == 0) return;
    tni_walk_start(&w, index->ndim, index->size, &index, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++, to += n * bytes)
            tni_move_row(to, bytes,
                         table + tni_index_at(w.at[0] + i * w.row[0], index->dtype) * row, col, n,
                         bytes);
}
static void embedding_grad(tn_gradient *g) {
    TN_ARGS(embedding, a, g);
    tn_give(g, 0,
            tnp_embedding_dense_backward(g->incoming[0], g->in[1], g->in[0]->size[0],
                                         a->padding_idx, a->scale_grad_by_freq));
}
/* The rows of the table weight at indices. Row padding_idx gets no gradient (-1: every row does);
 * scale_grad_by_freq divides a row's gradient by how often the row was taken. */
TN_OPERATOR(
    embedding,
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool "
    "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    TN_DOC(.shapes = "weight (n, d), indices (*) -> (*, d)",
           .example = "tn_embedding(table, tokens)",
           .differs = "gradcheck [padding_idx]: the padding row's gradient is zero by definition | "
                      "parameter padding_idx: -1 is none, as in torch's schema"),
    .needs = "weight:indices", .check = embedding_check, .look = embedding_look,
    .run = embedding_run, .grad = embedding_grad,
    .sample = "(5,3) (4):i64<5 | (5,3) (2,7):i64<5 padding_idx=2 | (4,2) ():i64<4 | (3,2) "
              "(0):i64<3 | (5,3) (3):i32<5")

static bool embedding_dense_backward_check(tn_frame *f) {
    TN_ARGS(embedding_dense_backward, a, f);
    tn_tensor *d = f->in[0], *indices = f->in[1];
    int64_t size[2];
    bool fits = d->ndim == indices->ndim + 1;
    for (int i = 0; fits && i < indices->ndim; i++) fits = d->size[i] == indices->size[i];
    if (!fits) return tn_fail(f, TN_INVALID, "the shapes of grad_output and indices do not match");
    if (!tni_index_dtype(f, indices, "embedding_dense_backward")) return false;
    if (a->num_weights < 0) return tn_fail(f, TN_INVALID, "num_weights is negative");
    size[0] = a->num_weights;
    size[1] = d->size[indices->ndim];
    if (a->scale_grad_by_freq && !tn_scratch(f, a->num_weights, (int64_t)sizeof(int64_t)))
        return false;
    return tn_announce(f, 0, (tn_dtype)d->dtype, 2, size);
}
static bool embedding_dense_backward_look(tn_frame *f) {
    TN_ARGS(embedding_dense_backward, a, f);
    return tni_index_range(f, f->in[1], 0, a->num_weights, 0);
}
/* Every row of the table divided by the count of its uses. */
static void embedding_scale(tn_tensor *out, const int64_t *count) {
    int64_t bytes = tni_dtype_size(out);
    char *at = tni_bytes_at(out);
    for (int64_t k = 0; k < out->size[0]; k++)
        for (int64_t i = 0; i < out->size[1]; i++, at += bytes) {
            tn_scalar s = tni_element(at, out->dtype);
            if (count[k] < 2) continue;
            s.real /= (double)count[k];
            s.imaginary /= (double)count[k];
            tni_element_set(at, out->dtype, s);
        }
}
static void embedding_dense_backward_run(tn_frame *f) {
    TN_ARGS(embedding_dense_backward, a, f);
    tn_tensor *d = f->in[0], *indices = f->in[1], *out = f->out[0], head;
    const tn_tensor *pair[2];
    int64_t bytes = tni_dtype_size(d), n = out->size[1], step = d->stride[d->ndim - 1] * bytes,
            *count = (int64_t *)f->scratch;
    tni_walk w;
    tni_fill(out, tn_int(0));
    if (indices->numel == 0 || n == 0) return;
    if (a->scale_grad_by_freq) memset(count, 0, (size_t)a->num_weights * sizeof *count);
    tni_stack_view(&head, d, indices->ndim, d->size, d->stride, d->offset);
    pair[0] = indices;
    pair[1] = &head;
    tni_walk_start(&w, indices->ndim, indices->size, pair, 2);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            int64_t k = tni_index_at(w.at[0] + i * w.row[0], indices->dtype);
            if (k == a->padding_idx) continue;
            if (a->scale_grad_by_freq) count[k]++;
            tni_add_row(tni_bytes_at(out) + k * n * bytes, bytes, w.at[1] + i * w.row[1], step, n,
                        d->dtype);
        }
    if (a->scale_grad_by_freq) embedding_scale(out, count);
}
static void
embedding_dense_backward_grad(tn_gradient *g) { /* the rows again; none for the padding */
    TN_ARGS(embedding_dense_backward, a, g);
    tn_tensor *d = g->incoming[0], *padding;
    int64_t row[2];
    if (a->scale_grad_by_freq) {
        tni_error(g->block, TN_AUTOGRAD,
                  "double backward of embedding is not supported with scale_grad_by_freq");
        return;
    }
    if (a->padding_idx >= 0 && a->padding_idx < a->num_weights) {
        tni_geometry v;
        row[0] = 1;
        row[1] = d->size[1];
        v.ndim = 2, v.size[0] = 1, v.size[1] = row[1], v.stride[0] = row[1], v.stride[1] = 1,
        v.offset = a->padding_idx * row[1];
        padding = tni_zeros_of(d, 2, row);
        d = tni_place_at(g->block, tnp_clone(d, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT), padding, &v);
    }
    if (d) tn_give(g, 0, tnp_embedding(d, g->in[1], -1, false, false));
}
/* The gradient of embedding's table: adds the rows of grad_output at their indices, in order. */
TN_OPERATOR(embedding_dense_backward,
            "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int "
            "padding_idx, bool scale_grad_by_freq) "
            "-> Tensor",
            TN_DOC(.shapes = "grad_output (*, d), indices (*) -> (num_weights, d)",
                   .example = "tn_embedding_dense_backward(d, tokens, 1000, -1, false)"),
            .needs = "grad_output:indices", .check = embedding_dense_backward_check,
            .look = embedding_dense_backward_look, .run = embedding_dense_backward_run,
            .grad = embedding_dense_backward_grad,
            .sample = "(4,3) (4):i64<5 5 -1 False | (2,7,3) (2,7):i64<5 5 2 False | (2) ():i64<4 4 "
                      "-1 False | (0,2) (0):i64<3 3 0 False")
