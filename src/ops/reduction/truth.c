/* truth.c - any, all and count_nonzero: whether, and how many, elements are nonzero.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "reduction.h"
#include "../../autograd/give.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

/* An empty list is one of no dimensions, as torch has it here: each element by itself. */
static bool truth_of_each(tn_ints dim) { return dim.at && dim.n == 0; }
/* bool; uint8 of uint8, unless out is bool. */
static tn_dtype truth_dtype(const tn_frame *f) {
    const bool into_bool = f->ngiven && f->given[0]->dtype == TN_BOOL;
    return f->in[0]->dtype == TN_U8 && !into_bool ? TN_U8 : TN_BOOL;
}
static bool truth_check(tn_frame *f, tn_ints dim, bool keepdim) {
    /* any is a maximum of 0 and 1, all a minimum. */
    const tn_tensor *x = f->in[0];
    tni_shape to;
    tni_lanes l;
    bool gone[TN_MAX_DIMS], each = truth_of_each(dim);
    if (!tni_reduced(f, x, dim, keepdim || each, &to, gone)) return false;
    if (each) memset(gone, 0, sizeof gone);
    if (each) memcpy(to.size, x->size, (size_t)x->ndim * sizeof *to.size);
    tni_lanes_init(&l, x, gone, TN_I64, TNI_LANES_NONZERO);
    f->type = TN_I64;
    return tn_announce(f, 0, truth_dtype(f), to.ndim, to.size) && tni_lanes_scratch(f, &l, l.size);
}
/* Contiguous bytes in one result: the first that decides. */
static bool truth_bytes(tn_frame *f, bool any) {
    const tn_tensor *x = f->in[0];
    const char *at = tni_bytes_at(x);
    if (x->dtype != TN_BOOL || !(x->flags & TNI_CONTIGUOUS) || f->out[0]->numel != 1) return false;
    TNI_PATH(truth_bytes);
    const bool found = x->numel && memchr(at, any ? 1 : 0, (size_t)x->numel) != NULL;
    *(bool *)tni_bytes_at(f->out[0]) = found == any;
    return true;
}
/* The identity of max is the smallest integer, so results are clamped to 0 and 1. */
static void truth_store(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                        int64_t at) {
    const int64_t *p = (const int64_t *)parts;
    for (int64_t i = 0; i < n; i++) ((uint8_t *)r->out[0])[at + i * l->width_out] = p[i] > 0;
}
static void truth_run(tn_frame *f, tn_ints dim, const tni_reduction *op) {
    /* A result is one byte: bool, or uint8 of uint8. */
    tn_context *c = f->block->context;
    tni_reducer r = {8,
                     tni_plain_block,
                     tni_plain_rows,
                     tni_plain_merge,
                     truth_store,
                     c->kernels,
                     op,
                     {NULL, NULL},
                     0,
                     0,
                     0,
                     0};
    tni_lanes l;
    bool none[TN_MAX_DIMS] = {false};
    /* Bytes in a row need no plan. */
    if (!f->out[0]->numel || truth_bytes(f, op == &tni_any)) return;
    if (truth_of_each(dim))
        tni_lanes_init(&l, f->in[0], none, f->type, TNI_LANES_NONZERO);
    else
        tni_plain_lanes(f, &l, dim, TNI_LANES_NONZERO);
    r.out[0] = tni_bytes_at(f->out[0]);
    tni_lanes_run(c, &l, &r, f->scratch);
}

static bool any_dims_check(tn_frame *f) {
    TN_ARGS(any_dims, a, f);
    return truth_check(f, a->dim, a->keepdim);
}
static void any_dims_run(tn_frame *f) {
    TN_ARGS(any_dims, a, f);
    truth_run(f, a->dim, &tni_any);
}
/* Whether any element over dim is nonzero; NaN counts as nonzero. If dim is absent, over all
 * elements; if it is empty, for each element. uint8 gives uint8, all other dtypes bool. */
TN_OPERATOR(any_dims, "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> bool, self's shape without dim, 1 there when keepdim",
                   .example = "tn_any_dims(mask, .dim = TN_DIMS(0))"),
            .forms = TN_OUT | TN_LEADING, .check = any_dims_check, .run = any_dims_run,
            .grad = tn_grad_zero,
            .sample = "(2,3):bool | (2,3):bool [1] | (2,3,4) [0,2] keepdim=True | (0):bool | (3,0) "
                      "[1] | (4,5):u8 [0] | (9000):bool | (2,3):c64")

static bool all_dims_check(tn_frame *f) {
    TN_ARGS(all_dims, a, f);
    return truth_check(f, a->dim, a->keepdim);
}
static void all_dims_run(tn_frame *f) {
    TN_ARGS(all_dims, a, f);
    truth_run(f, a->dim, &tni_all);
}
/* Whether all elements over dim are nonzero, by the rules of any_dims. */
TN_OPERATOR(all_dims, "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> bool, self's shape without dim, 1 there when keepdim",
                   .example = "tn_all_dims(mask)"),
            .forms = TN_OUT | TN_LEADING, .check = all_dims_check, .run = all_dims_run,
            .grad = tn_grad_zero,
            .sample = "(2,3):bool | (2,3):bool [1] | (2,3,4) [0,2] keepdim=True | (0):bool | (3,0) "
                      "[1] | (4,5):i32 [0] | (9000):bool")

static bool any_check(tn_frame *f) { return truth_check(f, tn_no_dims(), false); }
static void any_run(tn_frame *f) { truth_run(f, tn_no_dims(), &tni_any); }
static tn_tensor *any_batched(tn_frame *f, tn_tensor *const *whole) {
    const int64_t last = -1;
    tn_tensor *flat = tni_whole_flat(whole[0]);
    (void)f;
    return flat ? tnp_any_dims(flat, tni_ints(&last, 1), false) : NULL;
}
/* Whether any element is nonzero. */
TN_OPERATOR(any, "any(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> bool ()", .example = "tn_any(mask)"), .forms = TN_OUT,
            .check = any_check, .run = any_run, .grad = tn_grad_zero,
            .sample = "(2,3):bool | (0) | (2,3)", .batched = TN_BATCHED(any_batched))

static bool all_check(tn_frame *f) { return truth_check(f, tn_no_dims(), false); }
static void all_run(tn_frame *f) { truth_run(f, tn_no_dims(), &tni_all); }
static tn_tensor *all_batched(tn_frame *f, tn_tensor *const *whole) {
    const int64_t last = -1;
    tn_tensor *flat = tni_whole_flat(whole[0]);
    (void)f;
    return flat ? tnp_all_dims(flat, tni_ints(&last, 1), false) : NULL;
}
/* Whether all elements are nonzero. */
TN_OPERATOR(all, "all(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> bool ()", .example = "tn_all(mask)"), .forms = TN_OUT,
            .check = all_check, .run = all_run, .grad = tn_grad_zero,
            .sample = "(2,3):bool | (0) | (2,3)", .batched = TN_BATCHED(all_batched))

/* A sum of 0 and 1. */
static bool count_nonzero_check(tn_frame *f) {
    TN_ARGS(count_nonzero, a, f);
    tni_shape to;
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    if (!tni_reduced(f, f->in[0], a->dim, false, &to, gone)) return false;
    tni_lanes_init(&l, f->in[0], gone, TN_I64, TNI_LANES_NONZERO);
    f->type = TN_I64;
    return tn_announce(f, 0, TN_I64, to.ndim, to.size) && tni_lanes_scratch(f, &l, l.size);
}
static void count_nonzero_run(tn_frame *f) {
    TN_ARGS(count_nonzero, a, f);
    tni_lanes l;
    tni_plain_lanes(f, &l, a->dim, TNI_LANES_NONZERO);
    tni_plain_run(f, &l, &tni_sum, 0, TNI_PLAIN);
}
/* The number of nonzero elements over dim, or of all if dim is absent or empty; NaN counts as
 * nonzero. */
TN_OPERATOR(count_nonzero, "count_nonzero.dim_IntList(Tensor self, int[1]? dim=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> int64, self's shape without dim",
                   .example = "tn_count_nonzero(mask, .dim = TN_DIMS(0))",
                   .differs = "parameter dim: one row for torch's overloads with and without it"),
            .forms = TN_OUT | TN_LEADING, .check = count_nonzero_check, .run = count_nonzero_run,
            .grad = tn_grad_zero,
            .sample = "(2,3):bool | (2,3,4):i64<2 [0,2] | (3,70):i64<2 [0] | () | (0) | (3,0) [1] "
                      "| (0,3) [1] | (4,5):u8<2 [-1] | (9000):bool | (5000,2):i64<2 [0] | (35)")
