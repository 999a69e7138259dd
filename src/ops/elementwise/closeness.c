/* closeness.c - whether tensors have equal or close elements: one answer for both tensors, or one
 * for each pair of elements. Close elements have one dtype: a tolerance has a meaning in one
 * precision. */
#include "../../cpu/walk.h"
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

#define TNI_LENGTH static double compare_length
#include "../../base/length.inl"

static bool compare_dtypes(tn_frame *f) {
    const tn_tensor *x = f->in[0], *y = f->in[1];
    return x->dtype == y->dtype ||
           tn_fail(f, TN_TYPE, "expected tensors of one dtype, got %s and %s",
                   tni_dtype(x->dtype)->text, tni_dtype(y->dtype)->text);
}
/* Equality of two elements; integers in full, beyond what a double holds. */
static bool compare_equal(tn_scalar x, tn_scalar y) {
    if (x.kind == TN_KIND_INT || x.kind == TN_KIND_BOOL) return x.integer == y.integer;
    return x.real == y.real && x.imaginary == y.imaginary;
}
static bool equal_check(tn_frame *f) {
    const bool common = tn_promote((tn_dtype)f->in[0]->dtype, (tn_dtype)f->in[1]->dtype) != 0;
    return (common || compare_dtypes(f)) && tn_announce(f, 0, TN_BOOL, 0, NULL);
}
/* An element in another dtype. */
static tn_scalar equal_as(const char *at, int from, tn_dtype to) {
    char unit[16];
    const tn_scalar s = tni_element(at, from);
    if (from == (int)to) return s;
    tni_element_set(unit, (int)to, s);
    return tni_element(unit, (int)to);
}
static void equal_run(tn_frame *f) {
    const tn_tensor *x = f->in[0], *y = f->in[1];
    const tn_dtype common = tn_promote((tn_dtype)x->dtype, (tn_dtype)y->dtype);
    bool same = tni_same_shape(x, y);
    tni_walk w;
    /* Ends at the first pair that differs. */
    if (same && x->numel) {
        tni_walk_start(&w, x->ndim, x->size, (const tn_tensor *const *)f->in, 2);
        for (int64_t r = 0; same && r < w.rows; r++, tni_walk_next(&w))
            for (int64_t i = 0; same && i < w.n; i++)
                same = compare_equal(equal_as(w.at[0] + i * w.row[0], x->dtype, common),
                                     equal_as(w.at[1] + i * w.row[1], y->dtype, common));
    }
    *(uint8_t *)tni_bytes_at(f->out[0]) = same;
}
/* Whether both tensors have the same size and elements, in the dtype common to both, as a 0-dim
 * bool. A NaN equals nothing, not even itself. */
TN_OPERATOR(equal, "equal(Tensor self, Tensor other) -> bool",
            TN_DOC(.shapes = "self (*), other (*) -> bool ()",
                   .example = "tn_item(tn_equal(x, y))"),
            .check = equal_check, .run = equal_run, .grad = tn_grad_zero,
            .sample = "(2,3) (2,3) | (2) (3) | (0) (0) | ():i64<1 ():i64<1 | (2):bool (2):bool | "
                      "(2):i64<1 (2)")

/* |x - y| <= atol + |rtol * y|, or equal; NaN is close to NaN only if equal_nan says so. Of complex
 * numbers, absolute values count. */
static bool compare_close(tn_scalar x, tn_scalar y, double rtol, double atol, bool equal_nan) {
    double apart, size;
    if (compare_equal(x, y)) return true;
    if (equal_nan && (x.real != x.real || x.imaginary != x.imaginary) &&
        (y.real != y.real || y.imaginary != y.imaginary))
        return true;
    /* Bools that differ are 1 apart. */
    if (x.kind == TN_KIND_BOOL) return atol + fabs(fma(rtol, y.real, 0)) >= 1;
    apart = x.kind == TN_KIND_COMPLEX ? compare_length(x.real - y.real, x.imaginary - y.imaginary)
                                      : fabs(x.real - y.real);
    size = y.kind == TN_KIND_COMPLEX ? compare_length(y.real, y.imaginary) : fabs(y.real);
    /* An infinity is close to itself alone. fma(.., 0) rounds the product, as torch does, where the
     * compiler might fuse it with the sum. */
    return apart - apart == 0 && apart <= atol + fma(fabs(rtol), size, 0);
}
/* What isclose and allclose check; s becomes the broadcast shape. */
static bool close_check(tn_frame *f, double rtol, double atol, tni_shape *s) {
    const tn_tensor *x = f->in[0], *y = f->in[1];
    if (!compare_dtypes(f)) return false;
    /* NaN is refused as well. */
    if (!(rtol >= 0))
        return tn_fail(f, TN_INVALID, "rtol must be greater than or equal to zero, but got %g",
                       rtol);
    if (!(atol >= 0))
        return tn_fail(f, TN_INVALID, "atol must be greater than or equal to zero, but got %g",
                       atol);
    s->ndim = x->ndim;
    memcpy(s->size, x->size, sizeof(int64_t) * (size_t)x->ndim);
    if (!tni_broadcast(s, y->ndim, y->size))
        return tn_fail(f, TN_INVALID, "the shapes of self and other do not broadcast");
    tni_like_strides(s, (const tn_tensor *const *)f->in, 2);
    return true;
}
/* A bool for each pair, in the order of dimensions that both tensors have. */
static bool isclose_check(tn_frame *f) {
    TN_ARGS(isclose, a, f);
    tni_shape s;
    return close_check(f, a->rtol, a->atol, &s) &&
           tn_announce_strided(f, 0, TN_BOOL, s.ndim, s.size, s.stride);
}
static void isclose_run(tn_frame *f) {
    TN_ARGS(isclose, a, f);
    tn_tensor *out = f->out[0];
    const tn_tensor *all[3];
    int dtype = f->in[0]->dtype;
    tni_walk w;
    if (out->numel == 0) return;
    all[0] = out;
    all[1] = f->in[0];
    all[2] = f->in[1];
    /* Result and both operands, which broadcast, row by row. */
    tni_walk_start(&w, out->ndim, out->size, all, 3);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++)
            *(uint8_t *)(w.at[0] + i * w.row[0]) = compare_close(
                tni_element(w.at[1] + i * w.row[1], dtype),
                tni_element(w.at[2] + i * w.row[2], dtype), a->rtol, a->atol, a->equal_nan);
}
static tn_tensor *isclose_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(isclose, a, f);
    const int ndim = f->in[0]->ndim > f->in[1]->ndim ? f->in[0]->ndim : f->in[1]->ndim;
    tn_tensor *x = whole[0] ? tni_whole_align(whole[0], f->in[0]->ndim, ndim) : f->in[0],
              *y = whole[1] ? tni_whole_align(whole[1], f->in[1]->ndim, ndim) : f->in[1];
    return x && y ? tnp_isclose(x, y, a->rtol, a->atol, a->equal_nan) : NULL;
}
/* For each pair of elements: |self - other| <= atol + rtol * |other|, or both are equal. */
TN_OPERATOR(
    isclose,
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) "
    "-> Tensor",
    TN_DOC(.shapes = "self, other (*) broadcast -> (*) bool", .example = "tn_isclose(x, y)"),
    .check = isclose_check, .run = isclose_run, .grad = tn_grad_zero,
    .sample = "(2,3) (2,3) | (2,3) (3) rtol=0.5 atol=0.1 | () () | (0) (1) | (4):i64<3 (4):i64<3 | "
              "(9) (9) rtol=0 atol=1 | (4):bool (4):bool rtol=0 atol=1",
    .batched = TN_BATCHED(isclose_batched))

static bool allclose_check(tn_frame *f) {
    TN_ARGS(allclose, a, f);
    tni_shape s;
    return close_check(f, a->rtol, a->atol, &s) && tn_announce(f, 0, TN_BOOL, 0, NULL);
}
static void allclose_run(tn_frame *f) {
    TN_ARGS(allclose, a, f);
    const tn_tensor *x = f->in[0], *y = f->in[1];
    int dtype = x->dtype;
    bool close = true;
    tni_shape s;
    tni_walk w;
    int64_t numel = 0;
    /* The walk goes over the broadcast shape, which may have no elements. */
    s.ndim = x->ndim;
    memcpy(s.size, x->size, sizeof(int64_t) * (size_t)x->ndim);
    if (tni_broadcast(&s, y->ndim, y->size) && tni_numel_of(s.ndim, s.size, &numel) && numel) {
        tni_walk_start(&w, s.ndim, s.size, (const tn_tensor *const *)f->in, 2);
        for (int64_t r = 0; close && r < w.rows; r++, tni_walk_next(&w))
            for (int64_t i = 0; close && i < w.n; i++)
                close = compare_close(tni_element(w.at[0] + i * w.row[0], dtype),
                                      tni_element(w.at[1] + i * w.row[1], dtype), a->rtol, a->atol,
                                      a->equal_nan);
    }
    *(uint8_t *)tni_bytes_at(f->out[0]) = close;
}
/* Whether isclose holds for all pairs, as a 0-dim bool. */
TN_OPERATOR(
    allclose,
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) "
    "-> bool",
    TN_DOC(.shapes = "self, other (*) broadcast -> bool ()",
           .example = "tn_item(tn_allclose(x, y, .rtol = 1e-4))"),
    .check = allclose_check, .run = allclose_run, .grad = tn_grad_zero,
    .sample = "(2,3) (2,3) | (2,3) (3) rtol=0.5 atol=9 | () () | (0) (1) | (4):i64<1 (4):i64<1 | "
              "(4):bool (4):bool rtol=0 atol=1")
