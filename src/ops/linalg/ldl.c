/* ldl.c - A = L D L^T of symmetric matrices and systems by it: linalg.ldl_factor_ex, ldl_factor,
 * ldl_solve. */
#include "../../cpu/ldl.h"
#include "factor.h"

/* --- the factorization ------------------------------------------------------------------------ */

static bool ldl_check(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    if (!tni_matrix_fits(f, a, "self", true)) return false;
    return tn_announce_columns(f, 0, (tn_dtype)a->dtype, a->ndim, a->size) &&
           tn_announce(f, 1, TN_I32, a->ndim - 1, a->size) &&
           tni_planes_ask(f, a->dtype, a->size[a->ndim - 1], a->size[a->ndim - 1], 0, 0, 0);
}
static bool ldl_ex_check(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    return ldl_check(f) && tn_announce(f, 2, TN_I32, a->ndim - 2, a->size);
}
/* Matrix i; returns its info. */
static int32_t ldl_matrix(tn_frame *f, int64_t i, void *scratch, bool hermitian) {
    const tn_tensor *in = f->in[0];
    const int64_t n = in->size[in->ndim - 1];
    const tni_planes a = tni_planes_in(f, &scratch, in->dtype, n, n);
    int32_t *pivots = (int32_t *)(void *)tni_bytes_at(f->out[1]) + i * n, info;
    tni_planes_load(&a, in, in, i, TNI_AS_IS);
    info = tni_ldl_factor(&a, pivots, hermitian && a.at[1]);
    tni_planes_clear(&a, false);
    tni_planes_store(&a, f->out[0], i, TNI_AS_IS);
    return info;
}
static int64_t ldl_work(const tn_frame *f) {
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1];
    return tni_effort(n * n * n);
}
static void ldl_ex_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_ldl_factor_ex, o, f);
    ((int32_t *)(void *)tni_bytes_at(f->out[2]))[i] = ldl_matrix(f, i, scratch, o->hermitian);
}
static void ldl_ex_run(tn_frame *f) { tn_each(f, tni_batches(f->in[0]), ldl_work(f), ldl_ex_task); }
static bool ldl_ex_verdict(tn_frame *f) {
    TN_ARGS(linalg_ldl_factor_ex, a, f);
    return !a->check_errors ||
           tn_info_verdict(
               f, 2, "D[i,i], i = #, is zero, and what is solved by these factors divides by zero");
}
/* A = L D L^T, with hermitian L D L^H, of symmetric matrices whose lower triangle is read, by the
 * pivoting of Bunch and Kaufman. LD has the unit lower triangular L below the blocks of 1 and 2
 * rows of D. pivots are LAPACK's: p > 0, row i was exchanged with row p - 1; two equal p < 0, the
 * rows i and i + 1 are a block, and row i + 1 was exchanged with row -p - 1. info is 0, or the
 * number of the first block that is zero, counted from 1; with check_errors the latter is an
 * error. */
TN_OPERATOR(
    linalg_ldl_factor_ex,
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> "
    "(Tensor LD, Tensor pivots, Tensor info)",
    TN_DOC(.shapes = "(*, n, n) -> (*, n, n), (*, n), (*), float32, float64 or complex",
           .example = "tn_linalg_ldl_factor_ex(x)"),
    .forms = TN_OUT | TN_LEADING, .check = ldl_ex_check, .run = ldl_ex_run,
    .verdict = ldl_ex_verdict,
    .sample = "(3,3):symmetric | (2,4,4):distinct | (4,4):symmetric hermitian=True "
              "check_errors=True | (0,0):f64 | (2,0,3,3):f64 | (1,1):pd | "
              "(7,7):symmetric | (35,35):distinct")

static void ldl_factor_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_ldl_factor, o, f);
    ldl_matrix(f, i, scratch, o->hermitian);
}
static void ldl_factor_run(tn_frame *f) {
    tn_each(f, tni_batches(f->in[0]), ldl_work(f), ldl_factor_task);
}
/* A block of one row that is zero stands alone in its column. */
static bool ldl_regular(tn_frame *f, const tn_tensor *ld, const tn_tensor *pivots) {
    const int64_t n = ld->size[ld->ndim - 1],
                  step = (ld->stride[ld->ndim - 2] + ld->stride[ld->ndim - 1]) * tni_dtype_size(ld);
    for (int64_t i = 0; n > 0 && i < tni_batches(ld); i++) {
        const int32_t *p = (const int32_t *)(const void *)tni_bytes_at(pivots) + i * n;
        for (int64_t k = 0; k < n; k++) {
            const tn_scalar d = tni_element(tni_batch_at(ld, 2, ld, i) + k * step, ld->dtype);
            if (p[k] < 0 || d.real != 0 || (tni_is_complex(ld->dtype) && d.imaginary != 0))
                continue;
            if (ld->ndim > 2)
                return tn_fail(f, TN_LINALG, "(Batch element %lld): D[i,i], i = %lld, is zero",
                               (long long)i, (long long)k + 1);
            return tn_fail(f, TN_LINALG, "D[i,i], i = %lld, is zero", (long long)k + 1);
        }
    }
    return true;
}
static bool ldl_factor_verdict(tn_frame *f) {
    tn_tensor *ld = f->out[0], *pivots = f->out[1];
    bool ok;
    if (!(ld->flags & TNI_DEVICE)) return ldl_regular(f, ld, pivots);
    ld = tni_device_down(f->block, ld);
    pivots = tni_device_down(f->block, pivots);
    ok = ld && pivots && ldl_regular(f, ld, pivots);
    if (ld) tni_drop(f->block, ld);
    if (pivots) tni_drop(f->block, pivots);
    return ok;
}
/* As linalg_ldl_factor_ex, but a block of D that is zero is an error. */
TN_OPERATOR(linalg_ldl_factor,
            "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
            TN_DOC(.shapes = "(*, n, n) -> (*, n, n), (*, n), float32, float64 or complex",
                   .example = "tn_linalg_ldl_factor(x)"),
            .forms = TN_OUT | TN_LEADING, .check = ldl_check, .run = ldl_factor_run,
            .verdict = ldl_factor_verdict,
            .sample = "(3,3):symmetric | (2,4,4):symmetric hermitian=True")

/* --- systems ---------------------------------------------------------------------------------- */

static bool ldl_solve_check(tn_frame *f) {
    const tn_tensor *a = f->in[0], *pivots = f->in[1], *b = f->in[2];
    tni_shape s;
    int64_t n, k;
    if (!tni_matrix_fits(f, a, "LD", true) || !tni_matrix_fits(f, b, "B", false)) return false;
    n = b->size[b->ndim - 2];
    k = b->size[b->ndim - 1];
    if (n != a->size[a->ndim - 1])
        return tn_fail(f, TN_INVALID, "B has %lld rows, but LD is %lld x %lld", (long long)n,
                       (long long)a->size[a->ndim - 1], (long long)a->size[a->ndim - 1]);
    if (tni_dtype(pivots->dtype)->category != TNI_CAT_INT)
        return tn_fail(f, TN_TYPE, "pivots are %s, expected integers",
                       tni_dtype(pivots->dtype)->text);
    if (pivots->ndim != a->ndim - 1 ||
        memcmp(pivots->size, a->size, (size_t)(a->ndim - 1) * sizeof(int64_t)) != 0)
        return tn_fail(f, TN_INVALID,
                       "pivots must have the shape of LD without its last dimension");
    if (!tni_batches_fit(f, &s, a, "LD", b, "B")) return false;
    s.size[s.ndim++] = n;
    s.size[s.ndim++] = k;
    return tni_planes_ask(f, a->dtype, n, n, n, k, n) &&
           tn_announce_columns(f, 0, (tn_dtype)a->dtype, s.ndim, s.size);
}
/* Pivot j of those that begin at `at`. */
static int64_t ldl_pivot_at(const tn_tensor *pivots, const char *at, int64_t j) {
    const tn_scalar v = tni_element(
        at + j * pivots->stride[pivots->ndim - 1] * tni_dtype_size(pivots), pivots->dtype);
    return v.integer;
}
static bool ldl_solve_look(tn_frame *f) {
    const tn_tensor *a = f->in[0], *pivots = f->in[1];
    const int64_t n = a->size[a->ndim - 1];
    for (int64_t i = 0; n > 0 && i < tni_batches(a); i++) {
        const char *at = tni_batch_at(pivots, 1, a, i);
        for (int64_t j = 0; j < n; j++) {
            const int64_t p = ldl_pivot_at(pivots, at, j);
            if (p == 0 || p < -n || p > n)
                return tn_fail(f, TN_INVALID,
                               "Pivots given to ldl_solve must all satisfy |pivot| %s, got %lld",
                               p == 0 ? ">= 1" : "<= LD.size(-2)", (long long)p);
        }
    }
    return true;
}
static void ldl_solve_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_ldl_solve, o, f);
    const tn_tensor *in = f->in[0], *pivots = f->in[1];
    const int64_t n = in->size[in->ndim - 1];
    const tni_planes a = tni_planes_in(f, &scratch, in->dtype, n, n),
                     x = tni_planes_in(f, &scratch, in->dtype, n,
                                       f->in[2]->size[f->in[2]->ndim - 1]);
    int32_t *order = (int32_t *)scratch;
    const char *at = tni_batch_at(pivots, 1, f->out[0], i);
    for (int64_t j = 0; j < n; j++) order[j] = (int32_t)ldl_pivot_at(pivots, at, j);
    tni_planes_load(&a, in, f->out[0], i, TNI_AS_IS);
    tni_planes_load(&x, f->in[2], f->out[0], i, TNI_AS_IS);
    tni_ldl_solve(&a, order, &x, o->hermitian && a.at[1]);
    tni_planes_store(&x, f->out[0], i, TNI_AS_IS);
}
static void ldl_solve_run(tn_frame *f) {
    const tn_tensor *x = f->out[0];
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1];
    tn_each(f, tni_batches(x), tni_effort(2 * n * n * (double)x->size[x->ndim - 1]),
            ldl_solve_task);
}
/* X of A X = B, where LD and pivots are linalg_ldl_factor of A, of the same hermitian. */
TN_OPERATOR(
    linalg_ldl_solve,
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    TN_DOC(.shapes = "(*, n, n), (*, n), (*, n, k) -> (*, n, k)",
           .example = "tn_linalg_ldl_solve(x, pivots, y)"),
    .forms = TN_OUT, .check = ldl_solve_check, .look = ldl_solve_look, .run = ldl_solve_run,
    .sample = "(3,3):pd (3):i32:pivots (3,2) | (2,4,4):pd (2,4):i32:pivots (2,4,3) "
              "hermitian=True | (0,0):f64 (0):i32:pivots (0,2):f64 | (1,1):pd (1):i32:pivots (1,1)")
