/* order.c - elements by their place in the order of a lane: kthvalue, median, nanmedian, mode.
 *
 * keys.c finds the place. NaN counts as the largest; of equal elements the first has the smaller
 * place, so every choice is one that a stable sort makes. Lanes are spread over threads. */
#include "sort.h"
#include "../../call/arguments.h"
#include "../reduction/reduction.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

enum { ORDER_KTH, ORDER_MEDIAN, ORDER_NANMEDIAN, ORDER_MODE };

typedef struct order_note {
    int64_t k, n; /* k: counted from 0, of ORDER_KTH; n: elements of a lane */
    int dim, kind;
} order_note;

/* The place of the median: the lower one of two. A NaN wins, or none counts. */
static int64_t order_median(const tni_sort_lane *l, bool skip, void *scratch) {
    const uint64_t *key = tni_sort_keys(l, scratch), nan = tni_sort_nan(l->dtype);
    int64_t nans = 0, first = 0;
    if (!key) return 0;
    for (int64_t i = 0; tni_is_float(l->dtype) && i < l->n && !tni_stopped_at(i); i++)
        nans += key[i] == nan;
    if (tni_stopped()) return 0;
    if (!nans || (skip && nans < l->n)) return tni_sort_kth(l, (l->n - nans - 1) / 2, scratch);
    while (key[first] != nan && !tni_stopped_at(first)) first++;
    return first;
}
/* Whether two elements are equal, by their bytes. A NaN equals nothing, and zeros are equal. */
static bool order_same(const tni_sort_lane *l, uint64_t i, uint64_t k) {
    const char *a = l->at + (int64_t)i * l->step, *b = l->at + (int64_t)k * l->step;
    if (tni_is_float(l->dtype))
        return tni_element(a, l->dtype).real == tni_element(b, l->dtype).real;
    return !memcmp(a, b, (size_t)tni_dtype(l->dtype)->bytes);
}
/* The last place of the commonest element, the smallest among equally common ones. */
static int64_t order_mode(const tni_sort_lane *l, void *scratch) {
    const uint64_t *sorted = tni_sort_order(l, scratch);
    int64_t most = 0, place = 0;
    for (int64_t i = 0, run = 0; sorted && i < l->n && !tni_stopped_at(i); i++) {
        run = i > 0 && order_same(l, sorted[i - 1], sorted[i]) ? run + 1 : 1;
        if (run > most) {
            most = run;
            place = (int64_t)sorted[i];
        }
    }
    return place;
}
static int64_t order_choose(const order_note *note, const tni_sort_lane *l, void *scratch) {
    switch (note->kind) {
    case ORDER_KTH: return tni_sort_keys(l, scratch) ? tni_sort_kth(l, note->k, scratch) : 0;
    case ORDER_MODE: return order_mode(l, scratch);
    default: return order_median(l, note->kind == ORDER_NANMEDIAN, scratch);
    }
}

/* Lane i, numbered row-major over the dimensions that stay. */
static void order_lane(tn_frame *f, int64_t i, void *scratch) {
    TN_NOTE(order_note, note, f);
    const tn_tensor *x = f->in[0];
    const int64_t bytes = tni_dtype_size(x);
    const char *at = tni_sort_lane_at(x, note->dim, i);
    int64_t place;
    tni_sort_lane l;
    l = tni_sort_lane_of(x, note->dim, at, false);
    place = order_choose(note, &l, scratch);
    memcpy(tni_bytes_at(f->out[0]) + i * bytes, at + place * l.step, (size_t)bytes);
    memcpy(tni_bytes_at(f->out[1]) + i * (int64_t)sizeof place, &place, sizeof place);
}
static void order_run(tn_frame *f) {
    TN_NOTE(order_note, note, f);
    if (f->out[0]->numel)
        tn_each(f, f->out[0]->numel, note->n < (1 << 20) ? 16 * note->n : 1 << 24, order_lane);
}

/* any: as in torch, a number that stands alone, or nothing, may be of any dtype. */
static bool order_dtype(tn_frame *f, const tn_tensor *x, bool bools, bool any) {
    if (any && tni_dtype(x->dtype)->computes) return true;
    if (!tni_is_complex(x->dtype) && tni_dtype(x->dtype)->computes &&
        (bools || x->dtype != TN_BOOL))
        return true;
    return tn_fail(f, TN_UNSUPPORTED, "not implemented for %s", tni_dtype(x->dtype)->text);
}
static bool order_check(tn_frame *f, int kind, int64_t dim, bool keepdim) {
    const tn_tensor *x = f->in[0];
    TN_NOTE(order_note, note, f);
    tni_shape to;
    bool gone[TN_MAX_DIMS];
    if (!tni_reduced(f, x, tni_ints(&dim, 1), keepdim, &to, gone)) return false;
    note->kind = kind;
    note->dim = tni_dim(x->ndim, dim);
    note->n = x->ndim ? x->size[note->dim] : 1;
    note->k = 0;
    if (!note->n)
        return tn_fail(f, TN_INDEX, "Expected reduction dim %d to have non-zero size.", note->dim);
    return tni_given_is(f, 0, (tn_dtype)x->dtype) && tni_given_is(f, 1, TN_I64) &&
           tn_announce(f, 0, (tn_dtype)x->dtype, to.ndim, to.size) &&
           tn_announce(f, 1, TN_I64, to.ndim, to.size) &&
           tni_sort_scratch(f, note->n, x->numel / note->n);
}

static bool kthvalue_check(tn_frame *f) {
    TN_ARGS(kthvalue, a, f);
    TN_NOTE(order_note, note, f);
    if (!order_check(f, ORDER_KTH, a->dim, a->keepdim)) return false;
    if (a->k < 1 || a->k > note->n)
        return tn_fail(f, TN_INVALID, "selected number k out of range for dimension %d", note->dim);
    note->k = a->k - 1;
    return order_dtype(f, a->self, false, !a->self->ndim);
}
static void kthvalue_grad(tn_gradient *g) {
    TN_ARGS(kthvalue, a, g);
    tni_arg_grad(g, a->dim, a->keepdim);
}
/* The k-th smallest element along dim, counted from 1, and its index: of equal elements the one
 * that a stable sort would put there. NaN counts as the largest. */
TN_OPERATOR(
    kthvalue,
    "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor "
    "indices)",
    TN_DOC(.shapes = "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
           .example = "tn_values_indices v = tn_kthvalue(x, 2);",
           .differs = "result 1: torch's choice among equal elements is not stable | grad at ties: "
                      "as its choice"),
    .forms = TN_OUT, .needs = "indices", .check = kthvalue_check, .run = order_run,
    .grad = kthvalue_grad,
    .sample = "(35) 3 | (3,5) 2 0 | (2,3,4) 2 dim=1 keepdim=True | () 1 | (0,3) 1 | (300) 150 | "
              "(40):i64<5 20 | (6):f16 6")

static bool median_dim_check(tn_frame *f) {
    TN_ARGS(median_dim, a, f);
    return order_check(f, ORDER_MEDIAN, a->dim, a->keepdim) &&
           order_dtype(f, a->self, false, false);
}
static void median_dim_grad(tn_gradient *g) {
    TN_ARGS(median_dim, a, g);
    tni_arg_grad(g, a->dim, a->keepdim);
}
/* The median along dim, the lower one of two, and its index: of equal elements the one that a
 * stable sort would put there. A NaN wins. */
TN_OPERATOR(
    median_dim,
    "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    TN_DOC(.shapes = "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
           .example = "tn_values_indices m = tn_median_dim(x, 0);",
           .differs = "result 1: torch's choice among equal elements is not stable | grad at ties: "
                      "as its choice"),
    .forms = TN_OUT, .needs = "indices", .check = median_dim_check, .run = order_run,
    .grad = median_dim_grad,
    .sample =
        "(35) 0 | (3,6) 0 | (2,3,4) 1 keepdim=True | () 0 | (3,0) 0 | (300) 0 | (40):i64<5 0 | "
        "(6):f16 0")

static bool nanmedian_dim_check(tn_frame *f) {
    TN_ARGS(nanmedian_dim, a, f);
    return order_check(f, ORDER_NANMEDIAN, a->dim, a->keepdim) &&
           order_dtype(f, a->self, false, false);
}
static void nanmedian_dim_grad(tn_gradient *g) {
    TN_ARGS(nanmedian_dim, a, g);
    tni_arg_grad(g, a->dim, a->keepdim);
}
/* The median along dim of the elements that are not NaN, the lower one of two, and its index; NaN
 * where there are none. */
TN_OPERATOR(
    nanmedian_dim,
    "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    TN_DOC(.shapes = "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
           .example = "tn_values_indices m = tn_nanmedian_dim(x, 0);",
           .differs = "result 1: torch's choice among equal elements is not stable | grad at ties: "
                      "as its choice"),
    .forms = TN_OUT, .needs = "indices", .check = nanmedian_dim_check, .run = order_run,
    .grad = nanmedian_dim_grad,
    .sample = "(35) 0 | (3,6) 0 | (2,3,4) 1 keepdim=True | () 0 | (3,0) 0 | (40):i64<5 0")

static bool mode_check(tn_frame *f) {
    TN_ARGS(mode, a, f);
    return order_check(f, ORDER_MODE, a->dim, a->keepdim) &&
           order_dtype(f, a->self, true, !a->self->ndim || !a->self->numel);
}
static void mode_grad(tn_gradient *g) {
    TN_ARGS(mode, a, g);
    tni_arg_grad(g, a->dim, a->keepdim);
}
/* The commonest element along dim, the smallest among equally common ones, and the index where it
 * stands last. NaN equals nothing. */
TN_OPERATOR(
    mode, "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    TN_DOC(.shapes = "self (*) -> values, indices: self's shape without dim, 1 there when keepdim",
           .example = "tn_values_indices m = tn_mode(x);",
           .differs = "result 1: torch's choice among equal elements is not stable | grad at ties: "
                      "as its choice"),
    .forms = TN_OUT, .needs = "indices", .check = mode_check, .run = order_run, .grad = mode_grad,
    .sample =
        "(35) | (3,6) 0 | (2,3,4) 1 True | () | (3,0) 0 | (300):i64<9 | (40):i64<5 | (9):bool "
        "| (6):f16")

/* --- medians of all elements ------------------------------------------------------------------ */

static bool order_all_check(tn_frame *f) {
    const tn_tensor *x = f->in[0];
    return order_dtype(f, x, false, !x->numel && !tni_is_complex(x->dtype)) &&
           tni_dense_scratch(f, x) && tni_sort_scratch(f, x->numel, 0) &&
           tn_announce(f, 0, (tn_dtype)x->dtype, 0, NULL);
}
static void order_all_run(tn_frame *f, bool skip) {
    const tn_tensor *x = f->in[0];
    char *room = (char *)f->scratch, *to = tni_bytes_at(f->out[0]);
    const char *at = tni_dense(f, x, &room);
    const int64_t bytes = tni_dtype_size(x);
    if (x->numel) {
        tni_sort_lane l;
        l.at = at;
        l.n = x->numel;
        l.step = bytes;
        l.turn = 0;
        l.dtype = x->dtype;
        memcpy(to, at + order_median(&l, skip, room) * bytes, (size_t)bytes);
    } else { /* NaN; of integers what it is converted to, as in torch */
        const int64_t least = x->dtype == TN_I64 ? INT64_MIN : x->dtype == TN_I32 ? INT32_MIN : 0;
        const tn_scalar none = tn_float((double)NAN), least_of = tn_int(least);
        tni_element_set(to, x->dtype,
                        tni_dtype(x->dtype)->category == TNI_CAT_INT ? least_of : none);
    }
}
/* The elements that equal the result share the gradient. */
static void order_all_grad(tn_gradient *g) {
    tn_tensor *x = g->in[0], *y = g->out[0], *d;
    tn_tensor *mask = tnp_logical_or(tnp_eq(x, y), tnp_logical_and(tnp_isnan(x), tnp_isnan(y)));
    /* Counted in float or double, for a half type could not hold a large count. */
    const tn_dtype dtype = (tn_dtype)x->dtype, count = dtype == TN_F64 ? TN_F64 : TN_F32;
    if (!x->numel) {
        tn_give(g, 0, tnp_zeros_like(x, TN_NO_DTYPE, TN_NO_DEVICE));
        return;
    }
    d = tnp_div(g->incoming[0], tnp_sum(mask, tn_no_dims(), false, count));
    d = dtype == count ? d : tnp_to_dtype(d, dtype, false, false);
    tn_give(g, 0, tnp_where_scalar(mask, d, tn_int(0)));
}

static void median_run(tn_frame *f) { order_all_run(f, false); }
/* The median of all elements, the lower one of two. A NaN wins, and of no elements it is NaN. */
TN_OPERATOR(median, "median(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> ()", .example = "tn_median(x)"), .forms = TN_OUT,
            .needs = "self,result", .check = order_all_check, .run = median_run,
            .grad = order_all_grad, .sample = "(35) | (2,3,4) | () | (0) | (900) | (40):i64<5")

static void nanmedian_run(tn_frame *f) { order_all_run(f, true); }
/* The median of all elements that are not NaN, the lower one of two; NaN if there are none. */
TN_OPERATOR(nanmedian, "nanmedian(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> ()", .example = "tn_nanmedian(x)"), .forms = TN_OUT,
            .needs = "self,result", .check = order_all_check, .run = nanmedian_run,
            .grad = order_all_grad, .sample = "(35) | (2,3,4) | () | (0) | (40):i64<5")
