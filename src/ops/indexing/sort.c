/* sort.c - sort, argsort, topk along one dimension: stable, NaN the largest, the same order for
 * any number of threads. Lanes are spread over threads; keys.c orders one.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "sort.h"
#include "../../call/arguments.h"
#include "../../cpu/walk.h"
#include "../../kernels/kernels.h"
#include "../shape/copy.h"
#include "../shape/geometry.h"
#include "../../api/ops/indexing.h"
#include "../../call/rowform.h"

/* --- lanes ------------------------------------------------------------------------------------ */

typedef struct sort_note {
    int64_t k; /* the first k places of each lane are wanted */
    int dim;   /* as in tni_dim_note */
    bool descending;
} sort_note;

/* The length of a lane: elements along d; a 0-dim tensor is a lane of one. */
static int64_t sort_size(const tn_tensor *t, int d) { return t->ndim ? t->size[d] : 1; }

/* Writes the elements at k places of a lane, and the places. */
static void sort_write(const tni_sort_lane *l, const uint64_t *place, int64_t k, char *values,
                       int64_t values_step, char *indices, int64_t indices_step) {
    const int64_t bytes = tni_dtype(l->dtype)->bytes;
    for (int64_t i = 0; i < k; i++) {
        const char *from = l->at + (int64_t)place[i] * l->step;
        if (tni_stopped_at(i)) return;
        tni_move_one(values + i * values_step, from, bytes);
        memcpy(indices + i * indices_step, &place[i], sizeof place[i]);
    }
}

/* Lane i, numbered row-major over the other dimensions. */
static void sort_lane(tn_frame *f, int64_t i, void *scratch) {
    TN_NOTE(sort_note, note, f);
    const tn_tensor *all[3];
    char *at[3];
    int64_t step[3];
    tni_sort_lane l;
    const uint64_t *place;
    all[0] = f->in[0];
    all[1] = f->out[0];
    all[2] = f->out[1];
    for (int k = 0; k < 3; k++) {
        const tn_tensor *t = all[k];
        at[k] = tni_sort_lane_at(t, note->dim, i);
        step[k] = t->ndim ? t->stride[note->dim] * tni_dtype_size(t) : 0;
    }
    l = tni_sort_lane_of(f->in[0], note->dim, at[0], note->descending);
    place = note->k < l.n ? tni_sort_first(&l, note->k, scratch) : tni_sort_order(&l, scratch);
    if (place) sort_write(&l, place, note->k, at[1], step[1], at[2], step[2]);
}
static void sort_run_lanes(tn_frame *f, int64_t k, bool descending) {
    TN_NOTE(sort_note, note, f);
    const int64_t n = sort_size(f->in[0], note->dim);
    if (f->out[0]->numel == 0) return;
    note->k = k;
    note->descending = descending;
    tn_each(f, f->in[0]->numel / n, n < (1 << 20) ? 16 * n : 1 << 24, sort_lane);
}

/* What all rows here check. */
static bool sort_arguments(tn_frame *f, int64_t dim, const char *name) {
    tn_tensor *self = f->in[0];
    int64_t n;
    TN_NOTE(sort_note, note, f);
    if (tni_is_complex(self->dtype))
        return tn_fail(f, TN_TYPE, "%s(): complex numbers cannot be ordered", name);
    if (!tni_dtype(self->dtype)->computes)
        return tn_fail(f, TN_TYPE, "\"%s\" not implemented for '%s'", name,
                       tni_dtype(self->dtype)->text);
    if (!tni_dim_of(f, self->ndim, dim, &note->dim)) return false;
    n = sort_size(self, note->dim);
    return tni_sort_scratch(f, n, n ? self->numel / n : 1);
}
/* The gradient of values goes back to the places they came from; result 1 says which. */
static void sort_give(tn_gradient *g, int64_t dim) {
    tn_tensor *d = g->incoming[0], *z = d ? tni_zeros_of(d, g->in[0]->ndim, g->in[0]->size) : NULL;
    if (z) tn_give(g, 0, tnp_scatter(z, dim, g->out[1], d));
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Elements and places are written as they are. */
static bool sort_given(tn_frame *f) {
    return tni_given_is(f, 0, (tn_dtype)f->in[0]->dtype) && tni_given_is(f, 1, TN_I64);
}
static bool sort_check(tn_frame *f) {
    TN_ARGS(sort, a, f);
    tn_tensor *self = f->in[0];
    tni_shape s;
    if (!sort_arguments(f, a->dim, "sort") || !sort_given(f)) return false;
    /* As torch, the results keep self's order of dimensions. */
    tni_copy_strides(&s, self);
    return tn_announce_strided(f, 0, (tn_dtype)self->dtype, s.ndim, s.size, s.stride) &&
           tn_announce_strided(f, 1, TN_I64, s.ndim, s.size, s.stride);
}
static void sort_run(tn_frame *f) {
    TN_ARGS(sort, a, f);
    TN_NOTE(sort_note, note, f);
    sort_run_lanes(f, sort_size(f->in[0], note->dim), a->descending);
}
static void sort_grad(tn_gradient *g) {
    TN_ARGS(sort, a, g);
    sort_give(g, a->dim);
}
/* The elements sorted along dim, and the index of each before. Stable: equal elements keep their
 * order. NaN counts as the largest. */
TN_OPERATOR(
    sort, "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    TN_DOC(.shapes = "self (*) -> values, indices (*)",
           .example = "tn_values_indices s = tn_sort(x, .descending = true);",
           .differs = "result 1: torch's order of equal elements is not stable | grad at ties: as "
                      "its order, of 300 elements"),
    .forms = TN_OUT | TN_LEADING, .needs = "self:indices", .check = sort_check, .run = sort_run,
    .grad = sort_grad,
    .sample = "(7) | (3,5) 0 | (2,3,4) dim=1 descending=True | () | (0,3) | (40):i64<5 | (300) -1 "
              "True | (9):bool | (6):f16 | (5):u8<3")

static bool argsort_compose(tn_frame *f) {
    TN_ARGS(argsort, a, f);
    f->out[0] = tnp_sort(f->in[0], a->dim, a->descending).indices;
    return f->out[0] != NULL;
}
/* The indices that sort self along dim. Stable: equal elements keep their order. */
TN_OPERATOR(argsort, "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*) int64", .example = "tn_argsort(x)",
                   .differs = "result 0: torch's order of equal elements is not stable"),
            .compose = argsort_compose,
            .sample = "(7) | (3,5) 0 | (2,3,4) dim=1 descending=True | () | (0,3) | (40):i64<5")

static bool topk_check(tn_frame *f) {
    TN_ARGS(topk, a, f);
    tn_tensor *self = f->in[0];
    int64_t size[TN_MAX_DIMS];
    TN_NOTE(sort_note, note, f);
    if (!sort_arguments(f, a->dim, "topk") || !sort_given(f)) return false;
    if (a->k < 0 || a->k > sort_size(self, note->dim))
        return tn_fail(f, TN_INVALID, "selected index k out of range");
    /* self's shape with k places along dim, row-major. */
    memcpy(size, self->size, sizeof(int64_t) * (size_t)self->ndim);
    if (self->ndim) size[note->dim] = a->k;
    return tn_announce(f, 0, (tn_dtype)self->dtype, self->ndim, size) &&
           tn_announce(f, 1, TN_I64, self->ndim, size);
}
/* The k largest come first in a descending order. They are sorted, whether or not that is asked
 * for. */
static void topk_run(tn_frame *f) {
    TN_ARGS(topk, a, f);
    sort_run_lanes(f, f->in[0]->ndim ? a->k : 1, a->largest);
}
static void topk_grad(tn_gradient *g) {
    TN_ARGS(topk, a, g);
    sort_give(g, a->dim);
}
/* The k largest (or smallest) elements along dim and their indices, sorted if sorted is true. Among
 * equal elements the first ones are taken. */
TN_OPERATOR(topk,
            "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor "
            "values, Tensor indices)",
            TN_DOC(.shapes = "self (.., n, ..) -> values, indices (.., k, ..)",
                   .example = "tn_values_indices best = tn_topk(x, 5);",
                   .differs = "result 1: torch's choice among equal elements is not stable | grad "
                              "at ties: as its choice"),
            .forms = TN_OUT | TN_LEADING, .needs = "self:indices", .check = topk_check,
            .run = topk_run, .grad = topk_grad,
            .sample = "(7) 3 | (3,5) 2 0 | (2,3,4) 2 dim=1 largest=False | () 1 | (4) 0 | (4) 4 | "
                      "(200) 5 | (200):f32 30 | (6):i64 2")
