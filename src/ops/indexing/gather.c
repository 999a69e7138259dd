/* gather.c - one index for each element: gather, scatter, take_along_dim.
 *
 * Writes happen in row-major order of the index: of two to one place the later stays, additions
 * keep that order. Ranges are checked in look, before the first write.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "index.h"
#include "../../call/arguments.h"
#include "../../cpu/walk.h"
#include "../shape/copy.h"
#include "../shape/geometry.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* --- gather, scatter -------------------------------------------------------------------------- */

/* Whether index fits t: as many dimensions (a 0-dim tensor counts as one of size 1), and no larger
 * than t except along d, whose values it names. d = -1: nowhere larger. An empty index fits all. */
static bool gather_fits(tn_frame *f, const tn_tensor *index, const tn_tensor *t, int d,
                        const char *what) {
    char has[160], wants[160];
    int n = index->ndim ? index->ndim : 1, m = t->ndim ? t->ndim : 1;
    if (index->numel == 0) return true;
    if (n != m)
        return tn_fail(f, TN_INVALID,
                       "Index tensor must have the same number of dimensions as %s tensor", what);
    /* Along d the index may be longer or shorter: it says which places to take. */
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
TN_PRIV bool tni_gather_arguments(tn_frame *f, int64_t dim, const char *name) {
    tn_tensor *self = f->in[0], *index = f->in[1];
    TN_NOTE(tni_dim_note, note, f);
    if (!tni_dim_of(f, self->ndim, dim, &note->dim)) return false;
    if (index->numel && !tni_index_dtype(f, index, name)) return false;
    return gather_fits(f, index, self, note->dim, "self");
}
TN_PRIV bool tni_gather_look(tn_frame *f) {
    tn_tensor *self = f->in[0];
    TN_NOTE(tni_dim_note, note, f);
    return tni_index_range_or(f, f->in[1], 0, self->ndim ? self->size[note->dim] : 1, note->dim,
                              TN_INVALID);
}
TN_PRIV void tni_gather_line(tn_tensor *v, const tn_tensor *t, const tn_tensor *index, int d,
                             int64_t *stride) {
    for (int i = 0; i < index->ndim; i++) stride[i] = i == d || i >= t->ndim ? 0 : t->stride[i];
    tni_stack_view(v, t, index->ndim, index->size, stride, t->offset);
}
TN_PRIV int64_t tni_gather_step(const tn_tensor *t, int d) {
    return t->ndim ? t->stride[d] * tni_dtype_size(t) : 0;
}

/* The result has the index's shape. */
static bool gather_check(tn_frame *f) {
    TN_ARGS(gather, a, f);
    return tni_gather_arguments(f, a->dim, "gather") &&
           tni_given_is(f, 0, (tn_dtype)f->in[0]->dtype) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, f->in[1]->ndim, f->in[1]->size);
}
static void gather_run(tn_frame *f) {
    tn_tensor *self = f->in[0], *index = f->in[1], *out = f->out[0], line;
    const tn_tensor *all[3];
    TN_NOTE(tni_dim_note, note, f);
    const int d = note->dim, dtype = index->dtype;
    int64_t stride[TN_MAX_DIMS], step = tni_gather_step(self, d), bytes = tni_dtype_size(self);
    tni_walk w;
    if (out->numel == 0) return;
    /* Walks over result, index, and self's lines along d. */
    tni_gather_line(&line, self, index, d, stride);
    all[0] = out;
    all[1] = index;
    all[2] = &line;
    tni_walk_start(&w, index->ndim, index->size, all, 3);
    /* look has checked that every index lies in [0, size of d). */
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            const char *from =
                w.at[2] + i * w.row[2] + tni_index_at(w.at[1] + i * w.row[1], dtype) * step;
            tni_move_one(w.at[0] + i * w.row[0], from, bytes);
        }
}
static void gather_grad(tn_gradient *g) {
    TN_ARGS(gather, a, g);
    /* out = self at the index, so the gradient is added there; a place read twice gets both. */
    tn_tensor *d = g->incoming[0], *z = tni_zeros_of(d, g->in[0]->ndim, g->in[0]->size);
    if (z) tn_give(g, 0, tnp_scatter_add(z, a->dim, g->in[1], d));
}
/* out[i][j] = self[index[i][j]][j] for dim 0, and likewise for other dims. */
TN_OPERATOR(gather,
            "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
            TN_DOC(.shapes = "self (*), index (*) -> index's shape",
                   .example = "tn_gather(x, 1, index)"),
            .forms = TN_OUT | TN_LEADING, .needs = "self:index", .check = gather_check,
            .look = tni_gather_look, .run = gather_run, .grad = gather_grad,
            .sample = "(5,3) 0 (2,3):i64<5 | (5,3) 1 (5,7):i64<3 | (2,3,4) -2 (2,2,3):i64<3 | (4) "
                      "0 (6):i64<4 | () 0 ():i64<1 | "
                      "(3,2) 0 (0,2):i64<3 | (5,3):i64 1 (4,1):i32<3")

/* All scatters: out is self with elements of src written or added at the index, or `unit`, one
 * element, written everywhere. src may be larger than the index: its first elements count. */
static void scatter_run_all(tn_frame *f, const tn_tensor *src, bool add, const void *unit) {
    tn_tensor *self = f->in[0], *index = f->in[1], *out = f->out[0], line, values;
    const tn_tensor *all[3];
    TN_NOTE(tni_dim_note, note, f);
    const int d = note->dim, dtype = index->dtype;
    int64_t stride[2][TN_MAX_DIMS], step = tni_gather_step(out, d), bytes = tni_dtype_size(out);
    tni_walk w;
    /* A new result begins as a copy; in place self is the result. */
    if (out != self && self->numel) tni_copy_elements(f->block, out, self);
    if (index->numel == 0 || out->numel == 0) return;
    tni_gather_line(&line, out, index, d, stride[0]);
    all[0] = &line;
    all[1] = index;
    /* The walk's third operand: src cut to the index's shape. */
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
/* The result is like self, in place with self's strides, which the row writes through. */
static bool scatter_announce(tn_frame *f) {
    tn_tensor *self = f->in[0];
    if (f->inplace)
        return tn_announce_strided(f, 0, (tn_dtype)self->dtype, self->ndim, self->size,
                                   self->stride);
    return tn_announce(f, 0, (tn_dtype)self->dtype, self->ndim, self->size);
}
TN_PRIV bool tni_scatter_source(tn_frame *f, const char *name) {
    tn_tensor *self = f->in[0], *src = f->in[2];
    if (self->dtype != src->dtype)
        return tn_fail(f, TN_TYPE, "%s(): Expected self.dtype to be equal to src.dtype", name);
    return gather_fits(f, f->in[1], src, -1, "src") && scatter_announce(f);
}
TN_PRIV void tni_scatter_give(tn_gradient *g, tn_tensor *d) {
    tn_tensor *src = g->in[2];
    tni_geometry v;
    if (!d || tni_same_shape(d, src)) {
        tn_give(g, 2, d);
        return;
    }
    /* The part that was read, in a row-major tensor of src's sizes. */
    tni_geometry_of(&v, src);
    tni_row_major(src->ndim, src->size, v.stride);
    v.offset = 0;
    for (int i = 0; i < v.ndim && i < d->ndim; i++) v.size[i] = d->size[i];
    if (d->ndim != v.ndim) d = tnp_reshape(d, tni_ints(v.size, v.ndim));
    if (d) tn_give(g, 2, tni_place_at(g->block, tni_zeros_of(d, src->ndim, src->size), d, &v));
}
/* The gradient of src: what came in at the places written. */
static void scatter_give_source(tn_gradient *g, int64_t dim) {
    tni_scatter_give(g, tnp_gather(g->incoming[0], dim, g->in[1], false));
}

static bool scatter_check(tn_frame *f) {
    TN_ARGS(scatter, a, f);
    return tni_gather_arguments(f, a->dim, "scatter") && tni_scatter_source(f, "scatter");
}
static void scatter_run(tn_frame *f) { scatter_run_all(f, f->in[2], false, NULL); }
static void scatter_grad(tn_gradient *g) {
    TN_ARGS(scatter, a, g);
    /* What was overwritten has no part in the result. */
    if (g->want[0]) tn_give(g, 0, tnp_scatter_value(g->incoming[0], a->dim, g->in[1], tn_int(0)));
    if (g->want[2]) scatter_give_source(g, a->dim);
}
/* A copy of self with out[index[i][j]][j] = src[i][j] for dim 0, and likewise for other dims. */
TN_OPERATOR(scatter, "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
            TN_DOC(.shapes = "self (*), index and src (*) of no larger sizes -> self's shape",
                   .example = "tn_scatter(x, 1, index, src)"),
            .forms = TN_OUT | TN_INPLACE | TN_LEADING, .needs = "self:index src:index",
            .check = scatter_check, .look = tni_gather_look, .run = scatter_run,
            .grad = scatter_grad,
            .sample = "(5,3) 0 (1,3):i64<5 (1,3) | (3,5) 1 (3,1):i64<5 (3,1) | (4) 0 (1):i64<4 (1) "
                      "| () 0 ():i64<1 () | (2,3) 0 (0,3):i64<2 (0,3)")

static bool scatter_value_check(tn_frame *f) {
    TN_ARGS(scatter_value, a, f);
    /* The value must fit self's dtype, as in fill_. */
    return tni_gather_arguments(f, a->dim, "scatter") &&
           tni_fill_check(f, a->value, f->in[0]->dtype) && scatter_announce(f);
}
static void scatter_value_run(tn_frame *f) {
    TN_ARGS(scatter_value, a, f);
    /* The value in out's dtype; 16 bytes hold the largest element, of complex128. */
    char unit[16];
    tni_element_set(unit, f->out[0]->dtype, tni_exact(a->value));
    scatter_run_all(f, NULL, false, unit);
}
/* What was overwritten has no part in the result. */
static void scatter_value_grad(tn_gradient *g) {
    TN_ARGS(scatter_value, a, g);
    tn_give(g, 0, tnp_scatter_value(g->incoming[0], a->dim, g->in[1], tn_int(0)));
}
/* A copy of self with out[index[i][j]][j] = value for dim 0, and likewise for other dims. */
TN_OPERATOR(scatter_value,
            "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
            TN_DOC(.shapes = "self (*), index (*) of no larger sizes -> self's shape",
                   .example = "tn_scatter_value(x, 1, index, 1)"),
            .forms = TN_OUT | TN_INPLACE | TN_LEADING, .needs = "self:index",
            .check = scatter_value_check, .look = tni_gather_look, .run = scatter_value_run,
            .grad = scatter_value_grad,
            .sample = "(5,3) 0 (2,3):i64<5 0.5 | (3,5) -1 (3,2):i64<5 2 | () 0 ():i64<1 1 | (2,3) "
                      "0 (0,3):i64<2 1 | (5):i64 0 (9):i64<5 7",
            .node = "ScatterBackward1")

static bool scatter_add_check(tn_frame *f) {
    TN_ARGS(scatter_add, a, f);
    return tni_gather_arguments(f, a->dim, "scatter_add") && tni_scatter_source(f, "scatter_add");
}
static void scatter_add_run(tn_frame *f) { scatter_run_all(f, f->in[2], true, NULL); }
/* Every element of self stays in the result, so its gradient passes whole. */
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
            .forms = TN_OUT | TN_INPLACE | TN_LEADING, .autocast = TN_WIDEST_CUDA,
            .needs = "src:index", .check = scatter_add_check, .look = tni_gather_look,
            .run = scatter_add_run, .grad = scatter_add_grad,
            .sample = "(5,3) 0 (7,3):i64<5 (7,3) | (3,5) 1 (2,9):i64<5 (2,9) | (4) 0 (6):i64<4 (6) "
                      "| () 0 ():i64<1 () | "
                      "(2,3) 0 (0,3):i64<2 (0,3) | (5):i64 0 (9):i64<5 (9):i64")

/* Indices of a dimension of size n, where negative ones count from the end. */
static tn_tensor *take_from_end(tn_tensor *index, int64_t n) {
    if (!index || !tni_is_index(index)) return index;
    return tnp_add(index, tnp_mul_scalar(tnp_lt_scalar(index, tn_int(0)), tn_int(n)), 1);
}
static bool take_along_dim_compose(tn_frame *f) {
    TN_ARGS(take_along_dim, a, f);
    static const int64_t all[1] = {-1};
    tn_tensor *self = f->in[0], *index = f->in[1];
    tni_shape s, i;
    int d;
    if (!tni_is_index(index) && index->numel)
        return tn_fail(f, TN_TYPE,
                       "torch.take_along_dim(): dtype of indices should be Long but got %s",
                       tni_dtype(index->dtype)->text);
    /* Without dim, torch flattens both. */
    if (a->dim == TN_NONE) {
        self = tnp_reshape(self, tni_ints(all, 1));
        index = tnp_reshape(index, tni_ints(all, 1));
        index = take_from_end(index, self ? self->numel : 0);
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
    if (self->ndim) {
        /* All dimensions but dim broadcast against each other; dim counts as 1 meanwhile. */
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
        /* Views with stride 0, which gather reads like any others. */
        self = tnp_expand(self, tni_ints(s.size, s.ndim), false);
        index = tnp_expand(index, tni_ints(i.size, i.ndim), false);
    }
    index = take_from_end(index, self ? self->size[d] : 0);
    return self && index && (f->out[0] = tnp_gather(self, d, index, false)) != NULL;
}
/* gather, but negative indices count from the end, and all dimensions except dim broadcast. Without
 * dim it takes from the flattened tensor. With the result of argsort as indices it gives the sorted
 * tensor. */
TN_OPERATOR(
    take_along_dim, "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    TN_DOC(.shapes = "self (5, 3), indices (2, 3) -> (2, 3)",
           .example = "tn_take_along_dim(x, tn_argsort(x), .dim = -1)"),
    .forms = TN_OUT, .compose = take_along_dim_compose,
    .sample =
        "(5,3) (2,3):i64<5 0 | (5,3) (1,2):i64<3 dim=1 | (2,3) (4):i64<6 | (1,3) (4,2):i64<3 -1")
