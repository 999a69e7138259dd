/* lu.c - A = P L U and systems by it: linalg.lu_factor_ex, lu_factor, lu, lu_solve, lu_unpack. */
#include "../../cpu/lu.h"
#include "factor.h"

static int64_t lu_least(const tn_tensor *a) {
    const int64_t m = a->size[a->ndim - 2], n = a->size[a->ndim - 1];
    return m < n ? m : n;
}
static double lu_work(const tn_tensor *a) {
    const double least = (double)lu_least(a);
    return 2 * least * (double)a->size[a->ndim - 2] * (double)a->size[a->ndim - 1];
}

/* --- the factorization ------------------------------------------------------------------------ */

static bool lu_pivots(tn_frame *f, bool pivot) {
    return pivot || tn_fail(f, TN_INVALID, "LU without pivoting is not implemented on the CPU");
}
static bool lu_check(tn_frame *f) {
    TN_ARGS(linalg_lu_factor_ex, o, f);
    const tn_tensor *a = f->in[0];
    int64_t size[TN_MAX_DIMS];
    if (!tni_matrix_fits(f, a, "A", false) || !lu_pivots(f, o->pivot)) return false;
    memcpy(size, a->size, (size_t)a->ndim * sizeof *size);
    size[a->ndim - 2] = lu_least(a);
    return tn_announce_columns(f, 0, (tn_dtype)a->dtype, a->ndim, a->size) &&
           tn_announce(f, 1, TN_I32, a->ndim - 1, size) &&
           tn_announce(f, 2, TN_I32, a->ndim - 2, size) &&
           tni_planes_ask(f, a->dtype, a->size[a->ndim - 2], a->size[a->ndim - 1], 0, 0,
                          size[a->ndim - 2]);
}
static void lu_task(tn_frame *f, int64_t i, void *scratch) {
    const tn_tensor *in = f->in[0];
    const int64_t least = lu_least(in);
    const tni_planes a =
        tni_planes_in(f, &scratch, in->dtype, in->size[in->ndim - 2], in->size[in->ndim - 1]);
    int32_t *pivots = (int32_t *)(void *)tni_bytes_at(f->out[1]) + i * least;
    tni_planes_load(&a, in, in, i, TNI_AS_IS);
    ((int32_t *)(void *)tni_bytes_at(f->out[2]))[i] = tni_lu_factor(&a, pivots);
    tni_planes_store(&a, f->out[0], i, TNI_AS_IS);
}
static void lu_run(tn_frame *f) {
    tn_each(f, tni_batches(f->in[0]), tni_effort(lu_work(f->in[0])), lu_task);
}
static bool lu_verdict(tn_frame *f) {
    TN_ARGS(linalg_lu_factor_ex, a, f);
    return !a->check_errors ||
           tn_info_verdict(
               f, 2, "U[i,i], i = #, is zero, and what is solved by these factors divides by zero");
}

/* gA of A = P L U. With square L and U it is P L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H; of a
 * tall A = P (L1; L2) U and a wide A = P L (U1 U2) what dU, dL owe to the rest is subtracted first
 * (torch, plu_backward_base). */
static tn_tensor *lu_back(tn_tensor *p, tn_tensor *l, tn_tensor *u, tn_tensor *gl, tn_tensor *gu) {
    const int64_t m = l ? l->size[l->ndim - 2] : 0, n = u ? u->size[u->ndim - 1] : 0,
                  k = m < n ? m : n;
    tn_tensor *l1 = tnp_narrow(l, -2, 0, k), *u1 = tnp_narrow(u, -1, 0, k),
              *gl1 = tnp_narrow(gl, -2, 0, k), *gu1 = tnp_narrow(gu, -1, 0, k), *s, *t, *parts[2];
    s = tnp_matmul(tni_adjoint(l1), gl1);
    t = tnp_matmul(gu1, tni_adjoint(u1));
    if (m < n)
        s = tnp_sub(
            s, tnp_matmul(tnp_narrow(gu, -1, k, n - k), tni_adjoint(tnp_narrow(u, -1, k, n - k))),
            1);
    if (m > n)
        t = tnp_sub(
            t, tnp_matmul(tni_adjoint(tnp_narrow(l, -2, k, m - k)), tnp_narrow(gl, -2, k, m - k)),
            1);
    s = tnp_add(tnp_tril(s, -1), tnp_triu(t, 0), 1);
    s = tnp_linalg_solve_triangular(tni_adjoint(l1), s, true, true, true);
    if (m > n) {
        parts[0] = s;
        parts[1] = tnp_narrow(gl, -2, k, m - k);
        s = tnp_cat(tn_tensors_of(parts, 2), -2);
    }
    s = tnp_linalg_solve_triangular(tni_adjoint(u1), s, false, false, false);
    if (m < n) {
        parts[0] = s;
        parts[1] = tnp_linalg_solve_triangular(tni_adjoint(l1), tnp_narrow(gu, -1, k, n - k), true,
                                               true, true);
        s = tnp_cat(tn_tensors_of(parts, 2), -1);
    }
    return tnp_matmul(p, s);
}
static void lu_factor_ex_grad(tn_gradient *g) {
    /* L and U as they are packed: the gradient of what lies above and below the diagonal. */
    tn_tensor *lu = g->out[0], *glu = g->incoming[0];
    const int64_t k = lu_least(lu);
    const tn_P_L_U parts = tnp_lu_unpack(lu, g->out[1], true, true);
    tn_give(g, 0,
            lu_back(parts.P, parts.L, parts.U, tnp_tril(tnp_narrow(glu, -1, 0, k), -1),
                    tnp_triu(tnp_narrow(glu, -2, 0, k), 0)));
}
/* A = P L U with partial pivoting, packed: L below the diagonal (its own is ones), U on and above
 * it. Row i was exchanged with row pivots[i] - 1. info is 0, or the number of the first zero on U's
 * diagonal, counted from 1; with check_errors the latter is an error. */
TN_OPERATOR(linalg_lu_factor_ex,
            "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor "
            "LU, Tensor pivots, Tensor info)",
            TN_DOC(.shapes = "(*, m, n) -> (*, m, n), (*, min(m, n)), (*), float32, float64 or "
                             "complex",
                   .example = "tn_linalg_lu_factor_ex(x)"),
            .forms = TN_OUT | TN_LEADING, .needs = "LU,pivots", .check = lu_check, .run = lu_run,
            .verdict = lu_verdict, .grad = lu_factor_ex_grad,
            .sample = "(3,3):invertible | (2,4,3):distinct | (3,5):invertible check_errors=True "
                      "| (0,0):f64 | (2,0,3):f64 | (1,1):invertible | (60,60):invertible | "
                      "(35,20):invertible")

static bool linalg_lu_factor_compose(tn_frame *f) {
    TN_ARGS(linalg_lu_factor, a, f);
    const tn_LU_pivots_info r = tnp_linalg_lu_factor_ex(f->in[0], a->pivot, true);
    f->out[0] = r.LU;
    f->out[1] = r.pivots;
    return r.LU != NULL;
}
/* As linalg_lu_factor_ex, but a zero on the diagonal of U is an error. */
TN_OPERATOR(linalg_lu_factor,
            "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
            TN_DOC(.shapes = "(*, m, n) -> (*, m, n), (*, min(m, n)), float32, float64 or complex",
                   .example = "tn_linalg_lu_factor(x)"),
            .forms = TN_OUT, .compose = linalg_lu_factor_compose,
            .sample = "(3,3):invertible | (2,4,3):distinct | (3,5):invertible")

/* --- P, L and U ------------------------------------------------------------------------------- */

static bool unpack_check(tn_frame *f) {
    TN_ARGS(lu_unpack, o, f);
    const tn_tensor *a = f->in[0], *pivots = f->in[1];
    const int64_t none = 0;
    int64_t size[TN_MAX_DIMS], m, n, k;
    int d;
    if (a->ndim < 2)
        return tn_fail(f, TN_INVALID,
                       "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got %d",
                       a->ndim);
    m = a->size[a->ndim - 2];
    n = a->size[a->ndim - 1];
    k = lu_least(a);
    if (pivots->dtype != TN_I32)
        return tn_fail(f, TN_TYPE,
                       "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of "
                       "torch.int32 dtype. Note: this function is intended to be used with the "
                       "output produced by torch.linalg.lu_factor");
    if (o->unpack_pivots &&
        (pivots->ndim != a->ndim - 1 || pivots->size[pivots->ndim - 1] != k ||
         memcmp(pivots->size, a->size, (size_t)(a->ndim - 2) * sizeof *size) != 0))
        return tn_fail(f, TN_INVALID, "LU_pivots must have the batches of LU_data and %lld pivots",
                       (long long)k);
    d = tni_matrix_shape(size, a, m, m);
    if (o->unpack_pivots ? !tn_announce(f, 0, (tn_dtype)a->dtype, d, size)
                         : !tn_announce(f, 0, (tn_dtype)a->dtype, 1, &none))
        return false;
    if (!tn_scratch_each(f, m, 4)) return false;
    if (!o->unpack_data)
        return tn_announce(f, 1, (tn_dtype)a->dtype, 1, &none) &&
               tn_announce(f, 2, (tn_dtype)a->dtype, 1, &none);
    d = tni_matrix_shape(size, a, m, k);
    if (!tn_announce(f, 1, (tn_dtype)a->dtype, d, size)) return false;
    d = tni_matrix_shape(size, a, k, n);
    return tn_announce(f, 2, (tn_dtype)a->dtype, d, size);
}
/* Row i of P A' is row order[i] of A' with the rows exchanged back, so P[order[i], i] is 1. */
static bool unpack_look(tn_frame *f) {
    TN_ARGS(lu_unpack, o, f);
    const tn_tensor *a = f->in[0], *pivots = f->in[1];
    const int64_t m = a->size[a->ndim - 2], k = lu_least(a);
    if (!o->unpack_pivots) return true;
    for (int64_t i = 0; i < tni_batches(a); i++) {
        const char *at = tni_batch_at(pivots, 1, a, i);
        for (int64_t j = 0; j < k; j++) {
            const int32_t p =
                *(const int32_t *)(const void *)(at + j * pivots->stride[pivots->ndim - 1] * 4);
            if (p < 1 || p > m)
                return tn_fail(f, TN_INVALID,
                               "LU_pivots must be between 1 and LU.size(-2), which is %lld, got %d",
                               (long long)m, (int)p);
        }
    }
    return true;
}
static void unpack_order(const tn_tensor *pivots, const tn_tensor *a, int64_t i, int32_t *order) {
    const int64_t m = a->size[a->ndim - 2], k = lu_least(a);
    const char *at = tni_batch_at(pivots, 1, a, i);
    for (int64_t j = 0; j < m; j++) order[j] = (int32_t)j;
    for (int64_t j = 0; j < k; j++) {
        const int32_t p =
            *(const int32_t *)(const void *)(at + j * pivots->stride[pivots->ndim - 1] * 4);
        const int32_t x = order[j];
        order[j] = order[p - 1];
        order[p - 1] = x;
    }
}
/* Matrix i of a result of any dtype: `one` on the diagonal or elements of `in`, zeros where `side`
 * (1: below the diagonal, -1: above it) says. */
static void unpack_triangle(tn_tensor *t, const tn_tensor *in, int64_t i, int side) {
    const int last = in->ndim - 1;
    const size_t bytes = (size_t)tni_dtype_size(in);
    const char *from = tni_batch_at(in, 2, in, i);
    char *to = tni_batch_at(t, 2, t, i), one[sizeof(double) * 2];
    tni_element_set(one, in->dtype, tn_int(1));
    for (int64_t r = 0; r < t->size[last - 1]; r++)
        for (int64_t c = 0; c < t->size[last]; c++) {
            char *at = to + (r * t->stride[last - 1] + c * t->stride[last]) * (int64_t)bytes;
            if (side > 0 ? r > c : r < c)
                memset(at, 0, bytes);
            else if (side < 0 && r == c)
                memcpy(at, one, bytes);
            else
                memcpy(at,
                       from + (r * in->stride[last - 1] + c * in->stride[last]) * (int64_t)bytes,
                       bytes);
        }
}
static void unpack_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(lu_unpack, o, f);
    const tn_tensor *in = f->in[0];
    tn_tensor *p = f->out[0];
    const int64_t m = in->size[in->ndim - 2], bytes = tni_dtype_size(in);
    int32_t *order = (int32_t *)scratch;
    if (o->unpack_data) {
        unpack_triangle(f->out[1], in, i, -1);
        unpack_triangle(f->out[2], in, i, 1);
    }
    if (!o->unpack_pivots) return;
    unpack_order(f->in[1], in, i, order);
    for (int64_t r = 0; r < m; r++)
        for (int64_t c = 0; c < m; c++) {
            char *at = tni_batch_at(p, 2, p, i) +
                       (r * p->stride[p->ndim - 2] + c * p->stride[p->ndim - 1]) * bytes;
            if (r == order[c])
                tni_element_set(at, p->dtype, tn_int(1));
            else
                memset(at, 0, (size_t)bytes);
        }
}
static void unpack_run(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    const double m = (double)a->size[a->ndim - 2], n = (double)a->size[a->ndim - 1];
    tn_each(f, tni_batches(a), tni_effort(m * fma(2, n, m)), unpack_task);
}
/* t with n zeros behind it along dim. */
static tn_tensor *unpack_padded(tn_tensor *t, int dim, int64_t n) {
    int64_t size[TN_MAX_DIMS];
    tn_tensor *parts[2];
    if (n <= 0 || !t) return t;
    memcpy(size, t->size, (size_t)t->ndim * sizeof *size);
    size[t->ndim + dim] = n;
    parts[0] = t;
    parts[1] = tnp_zeros(tni_ints(size, t->ndim), (tn_dtype)t->dtype, (tn_device_id)t->device);
    return tnp_cat(tn_tensors_of(parts, 2), dim);
}
static void unpack_grad(tn_gradient *g) {
    TN_ARGS(lu_unpack, o, g);
    const tn_tensor *a = g->in[0];
    const int64_t k = lu_least(a);
    tn_tensor *l, *u;
    if (!o->unpack_data) return;
    l = unpack_padded(tnp_tril(tn_incoming(g, 1), -1), -1, a->size[a->ndim - 1] - k);
    u = unpack_padded(tnp_triu(tn_incoming(g, 2), 0), -2, a->size[a->ndim - 2] - k);
    tn_give(g, 0, tnp_add(l, u, 1));
}
/* P, L and U of what linalg_lu_factor gives. Without unpack_data L and U are empty, without
 * unpack_pivots P is. */
TN_OPERATOR(lu_unpack,
            "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool "
            "unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
            TN_DOC(.shapes = "(*, m, n), (*, k) -> (*, m, m), (*, m, k), (*, k, n), k = min(m, n)",
                   .example = "tn_lu_unpack(x, pivots)"),
            .forms = TN_OUT | TN_LEADING, .check = unpack_check, .look = unpack_look,
            .run = unpack_run, .grad = unpack_grad,
            .sample = "(3,3) (3):i32:pivots | (2,4,3) (2,3):i32:pivots unpack_pivots=False | "
                      "(3,5) (3):i32:pivots | (3,3) (3):i32:pivots unpack_data=False | (0,0) "
                      "(0):i32:pivots")

static bool linalg_lu_compose(tn_frame *f) {
    TN_ARGS(linalg_lu, a, f);
    const tn_LU_pivots_info r = tnp_linalg_lu_factor_ex(f->in[0], a->pivot, false);
    const tn_P_L_U parts = tnp_lu_unpack(r.LU, r.pivots, true, true);
    f->out[0] = parts.P;
    f->out[1] = parts.L;
    f->out[2] = parts.U;
    return parts.P != NULL;
}
/* A = P L U: P a permutation, L lower triangular with ones on its diagonal, U upper triangular. */
TN_OPERATOR(linalg_lu, "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
            TN_DOC(.shapes = "(*, m, n) -> (*, m, m), (*, m, k), (*, k, n), k = min(m, n)",
                   .example = "tn_linalg_lu(x)"),
            .forms = TN_OUT, .compose = linalg_lu_compose,
            .sample = "(3,3):invertible | (2,4,3):distinct | (3,5):invertible | (0,3):f64 | "
                      "(1,1):invertible")

/* --- systems ---------------------------------------------------------------------------------- */

static bool lu_solve_check(tn_frame *f) {
    TN_ARGS(linalg_lu_solve, o, f);
    const tn_tensor *a = f->in[0], *pivots = f->in[1], *b = f->in[2];
    tni_shape s;
    int64_t n, k;
    if (!tni_matrix_fits(f, a, "LU", true) || !tni_matrix_fits(f, b, "B", false)) return false;
    n = b->size[b->ndim - (o->left ? 2 : 1)];
    k = b->size[b->ndim - (o->left ? 1 : 2)];
    if (pivots->dtype != TN_I32)
        return tn_fail(f, TN_TYPE,
                       "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
    if (n != a->size[a->ndim - 1])
        return tn_fail(f, TN_INVALID, "B has %lld %s, but LU is %lld x %lld", (long long)n,
                       o->left ? "rows" : "columns", (long long)a->size[a->ndim - 1],
                       (long long)a->size[a->ndim - 1]);
    if (pivots->ndim != a->ndim - 1 || pivots->size[pivots->ndim - 1] != n ||
        memcmp(pivots->size, a->size, (size_t)(a->ndim - 2) * sizeof(int64_t)) != 0)
        return tn_fail(f, TN_INVALID,
                       "linalg.lu_solve: Number of pivots per batch should be same "
                       "as the dimension of the matrix");
    if (!tni_batches_fit(f, &s, a, "LU", b, "B")) return false;
    s.size[s.ndim++] = b->size[b->ndim - 2];
    s.size[s.ndim++] = b->size[b->ndim - 1];
    return tni_planes_ask(f, a->dtype, n, n, n, k, n) &&
           (o->left ? tn_announce_columns(f, 0, (tn_dtype)a->dtype, s.ndim, s.size)
                    : tn_announce(f, 0, (tn_dtype)a->dtype, s.ndim, s.size));
}
static bool lu_solve_look(tn_frame *f) {
    const tn_tensor *a = f->in[0], *pivots = f->in[1];
    const int64_t n = a->size[a->ndim - 1];
    for (int64_t i = 0; i < tni_batches(a); i++) {
        const char *at = tni_batch_at(pivots, 1, a, i);
        for (int64_t j = 0; j < n; j++) {
            const int32_t p =
                *(const int32_t *)(const void *)(at + j * pivots->stride[pivots->ndim - 1] * 4);
            if (p < 1 || p > n)
                return tn_fail(f, TN_INVALID,
                               "Pivots given to lu_solve must all be greater or equal to 1 and "
                               "smaller or equal to LU.size(-2), got %d",
                               (int)p);
        }
    }
    return true;
}
static void lu_solve_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_lu_solve, o, f);
    const tn_tensor *in = f->in[0], *pivots = f->in[1];
    const int64_t n = in->size[in->ndim - 1],
                  k = f->in[2]->size[f->in[2]->ndim - (o->left ? 1 : 2)];
    const int turned = o->left ? TNI_AS_IS : TNI_ADJOINT; /* x a = b is a^H x^H = b^H */
    const bool adjoint = o->adjoint == o->left;
    const tni_planes a = tni_planes_in(f, &scratch, in->dtype, n, n),
                     x = tni_planes_in(f, &scratch, in->dtype, n, k);
    int32_t *order = (int32_t *)scratch;
    const char *at = tni_batch_at(pivots, 1, f->out[0], i);
    for (int64_t j = 0; j < n; j++)
        order[j] = *(const int32_t *)(const void *)(at + j * pivots->stride[pivots->ndim - 1] * 4);
    tni_planes_load(&a, in, f->out[0], i, adjoint ? TNI_ADJOINT : TNI_AS_IS);
    tni_planes_load(&x, f->in[2], f->out[0], i, turned);
    tni_lu_solve(&a, order, &x, adjoint);
    tni_planes_store(&x, f->out[0], i, turned);
}
static void lu_solve_run(tn_frame *f) {
    const tn_tensor *x = f->out[0];
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1];
    tn_each(f, tni_batches(x),
            tni_effort(2 * n * (double)x->size[x->ndim - 2] * (double)x->size[x->ndim - 1]),
            lu_solve_task);
}
/* gB solves the adjoint system. gA, of the matrix itself, is -gB X^H (from the right -X^H gB; of
 * the adjoint system the adjoint of that); then gL = tril(P^T gA U^H, -1) and gU = triu(L^H P^T
 * gA). */
static void lu_solve_grad(tn_gradient *g) {
    TN_ARGS(linalg_lu_solve, o, g);
    tn_tensor *b = tnp_linalg_lu_solve(g->in[0], g->in[1], g->incoming[0], o->left, !o->adjoint),
              *x, *a;
    tn_P_L_U parts;
    if (g->want[2]) tn_give(g, 2, b);
    if (!g->want[0]) return;
    x = tni_adjoint(g->out[0]);
    a = tnp_neg(o->left ? tnp_matmul(b, x) : tnp_matmul(x, b));
    if (o->adjoint) a = tni_adjoint(a);
    parts = tnp_lu_unpack(g->in[0], g->in[1], true, true);
    a = tnp_matmul(tnp_transpose(parts.P, -2, -1), a);
    tn_give(g, 0,
            tnp_add(tnp_tril(tnp_matmul(a, tni_adjoint(parts.U)), -1),
                    tnp_triu(tnp_matmul(tni_adjoint(parts.L), a), 0), 1));
}
/* X of A X = B, or with left=False of X A = B, where LU and pivots are linalg_lu_factor of A; with
 * adjoint of the conjugate transpose of A. */
TN_OPERATOR(
    linalg_lu_solve,
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool "
    "adjoint=False) -> Tensor",
    TN_DOC(.shapes = "(*, n, n), (*, n), (*, n, k) -> (*, n, k)",
           .example = "tn_linalg_lu_solve(x, pivots, y)"),
    .forms = TN_OUT, .needs = "LU:LU,pivots,result B:LU,pivots", .check = lu_solve_check,
    .look = lu_solve_look, .run = lu_solve_run, .grad = lu_solve_grad,
    .sample = "(3,3):pd (3):i32:pivots (3,2) | (2,4,4):pd (2,4):i32:pivots (3,1,3,4) left=False | "
              "(3,3):upper (3):i32:pivots (3,2) adjoint=True | (3,3):lower (3):i32:pivots "
              "(2,3) left=False adjoint=True | (0,0) (0):i32:pivots (0,2) | (1,1):pd "
              "(1):i32:pivots (1,1)")

static bool lu_solve_compose(tn_frame *f) {
    f->out[0] = tnp_linalg_lu_solve(f->in[1], f->in[2], f->in[0], true, false);
    return f->out[0] != NULL;
}
/* linalg_lu_solve with B first. */
TN_OPERATOR(lu_solve, "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
            TN_DOC(.shapes = "(*, n, k), (*, n, n), (*, n) -> (*, n, k)",
                   .example = "tn_lu_solve(y, x, pivots)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = lu_solve_compose,
            .sample = "(3,2) (3,3):pd (3):i32:pivots")
