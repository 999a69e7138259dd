/* inverse.c - systems and inverses by LU: linalg.solve_ex, solve, inv_ex, inv, matrix_power,
 * tensorinv, tensorsolve. */
#include "../../cpu/lu.h"
#include "factor.h"

/* --- solve ------------------------------------------------------------------------------------ */

static bool solve_check(tn_frame *f) {
    TN_ARGS(linalg_solve_lu, o, f);
    const tn_tensor *a = f->in[0], *b = f->in[1];
    tni_shape s;
    int64_t n, k;
    if (!tni_matrix_fits(f, a, "A", true) || !tni_matrix_fits(f, b, "B", false)) return false;
    n = b->size[b->ndim - (o->left ? 2 : 1)];
    k = b->size[b->ndim - (o->left ? 1 : 2)];
    if (n != a->size[a->ndim - 1])
        return tn_fail(f, TN_INVALID, "B has %lld %s, but A is %lld x %lld", (long long)n,
                       o->left ? "rows" : "columns", (long long)a->size[a->ndim - 1],
                       (long long)a->size[a->ndim - 1]);
    if (!tni_batches_fit(f, &s, a, "A", b, "B") || !tn_announce(f, 1, TN_I32, a->ndim - 2, a->size))
        return false;
    s.size[s.ndim++] = b->size[b->ndim - 2];
    s.size[s.ndim++] = b->size[b->ndim - 1];
    return tni_planes_ask(f, a->dtype, n, n, n, k, n) &&
           (o->left ? tn_announce_columns(f, 0, (tn_dtype)a->dtype, s.ndim, s.size)
                    : tn_announce(f, 0, (tn_dtype)a->dtype, s.ndim, s.size));
}
/* Task i: the systems of matrix i of A, which is factored once. */
static void solve_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_solve_lu, o, f);
    const tn_tensor *in = f->in[0];
    const int64_t n = in->size[in->ndim - 1], each = tni_batches(f->out[0]) / tni_batches(in),
                  k = f->in[1]->size[f->in[1]->ndim - (o->left ? 1 : 2)];
    const int turned = o->left ? TNI_AS_IS : TNI_TRANSPOSED; /* x a = b is a^T x^T = b^T */
    const tni_planes a = tni_planes_in(f, &scratch, in->dtype, n, n),
                     x = tni_planes_in(f, &scratch, in->dtype, n, k);
    int32_t *pivots = (int32_t *)scratch;
    tni_planes_load(&a, in, in, i, turned);
    ((int32_t *)(void *)tni_bytes_at(f->out[1]))[i] = tni_lu_factor(&a, pivots);
    for (int64_t q = 0; q < each; q++) {
        const int64_t at = tni_batch_of(in, f->out[0], i, q);
        tni_planes_load(&x, f->in[1], f->out[0], at, turned);
        tni_lu_solve(&a, pivots, &x, false);
        tni_planes_store(&x, f->out[0], at, turned);
    }
}
static void solve_run(tn_frame *f) {
    const tn_tensor *x = f->out[0];
    const int64_t count = tni_batches(f->in[0]);
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1],
                 k = (double)x->numel / (double)(count ? count : 1);
    tn_each(f, count, tni_effort(2 * n * (n * n / 3 + k)), solve_task);
}
static bool solve_verdict(tn_frame *f) {
    TN_ARGS(linalg_solve_lu, a, f);
    return !a->check_errors ||
           tn_info_verdict(f, 1, "The solver failed because the input matrix is singular.");
}
/* gB = A^-H gX; gA = -gB X^H, from the right -X^H gB. */
static void solve_grad(tn_gradient *g) {
    TN_ARGS(linalg_solve_lu, o, g);
    tn_tensor *b =
                  tnp_linalg_solve_lu(tni_adjoint(g->in[0]), g->incoming[0], o->left, false).result,
              *x;
    if (g->want[1]) tn_give(g, 1, b);
    if (!g->want[0]) return;
    x = tni_adjoint(g->out[0]);
    tn_give(g, 0, tnp_neg(o->left ? tnp_matmul(b, x) : tnp_matmul(x, b)));
}
/* linalg_solve_ex of matrices B alone. */
TN_OPERATOR(linalg_solve_lu,
            "_linalg_solve_matrices(Tensor A, Tensor B, *, bool left=True, bool "
            "check_errors=False) -> (Tensor result, Tensor info)",
            TN_DOC(.shapes = "(*, n, n), (*, n, k) -> (*, n, k), (*), float32, float64 or complex",
                   .example = "tn_linalg_solve_lu(x, y)",
                   .differs = "signature: torch's returns the factors, too"),
            .needs = "A:A,result B:A", .check = solve_check, .run = solve_run,
            .verdict = solve_verdict, .grad = solve_grad,
            .sample =
                "(3,3):invertible (3,2) | (2,4,4):invertible (4,3) check_errors=True | "
                "(3,3):invertible (2,2,3):distinct left=False | (0,0) (0,3) | (1,1):pd (1,1) | "
                "(60,60):pd (60,20)")

/* Whether B is a vector, or a batch of vectors for A's batch, as torch tells them apart. */
static bool solve_of_vectors(const tn_tensor *a, const tn_tensor *b) {
    return b->ndim == 1 || (a->ndim > 1 && b->ndim == a->ndim - 1 &&
                            !memcmp(a->size, b->size, (size_t)b->ndim * sizeof *b->size));
}
static bool solve_ex_compose(tn_frame *f) {
    TN_ARGS(linalg_solve_ex, o, f);
    tn_tensor *a = f->in[0], *b = f->in[1];
    const bool vectors = solve_of_vectors(a, b);
    tn_result_info r;
    if (vectors && !o->left)
        return tn_fail(f, TN_INVALID,
                       "linalg.solve: Vector broadcasting of the left hand side is "
                       "not supported for left=False. In this case linalg.solve is "
                       "equivalent to B / A.squeeze(-1)");
    r = tnp_linalg_solve_lu(a, vectors ? tnp_unsqueeze(b, -1) : b, o->left, o->check_errors);
    f->out[0] = vectors ? tnp_squeeze_dim(r.result, -1) : r.result;
    if (vectors && b->ndim > 1) f->out[0] = tni_in_columns(f->out[0]); /* as torch's */
    f->out[1] = r.info;
    return f->out[0] != NULL;
}
/* X of A X = B, or with left=False of X A = B. B is a vector if it has one dimension, or if it has
 * the shape of A without the last dimension. info is 0, or the place of the first zero pivot from
 * 1; with check_errors the latter is an error. */
TN_OPERATOR(linalg_solve_ex,
            "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
            "(Tensor result, Tensor info)",
            TN_DOC(.shapes = "(*, n, n), (*, n, k) or (*, n) -> B's, (*)",
                   .example = "tn_linalg_solve_ex(x, y)"),
            .forms = TN_OUT, .compose = solve_ex_compose,
            .sample =
                "(3,3):invertible (3,2) | (3,3):invertible (3) | (2,4,4):invertible (2,4) | "
                "(3,3):invertible (2,2,3):distinct left=False check_errors=True | (0,0) (0,3)")

static bool linalg_solve_compose(tn_frame *f) {
    TN_ARGS(linalg_solve, o, f);
    f->out[0] = tnp_linalg_solve_ex(f->in[0], f->in[1], o->left, true).result;
    return f->out[0] != NULL;
}
/* As linalg_solve_ex, but a matrix that is singular is an error. */
TN_OPERATOR(linalg_solve, "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
            TN_DOC(.shapes = "(*, n, n), (*, n, k) or (*, n) -> B's",
                   .example = "tn_linalg_solve(x, y)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = linalg_solve_compose,
            .sample = "(3,3):invertible (3,2) | (3,3):invertible (3)")

/* --- inverses --------------------------------------------------------------------------------- */

static bool inv_check(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    const int64_t n = a->ndim < 2 ? 0 : a->size[a->ndim - 1];
    return tni_matrix_fits(f, a, "A", true) &&
           tn_announce_columns(f, 0, (tn_dtype)a->dtype, a->ndim, a->size) &&
           tn_announce(f, 1, TN_I32, a->ndim - 2, a->size) &&
           tni_planes_ask(f, a->dtype, n, n, n, n, n);
}
static void inv_task(tn_frame *f, int64_t i, void *scratch) {
    const tn_tensor *in = f->in[0];
    const int64_t n = in->size[in->ndim - 1];
    const tni_planes a = tni_planes_in(f, &scratch, in->dtype, n, n),
                     x = tni_planes_in(f, &scratch, in->dtype, n, n);
    int32_t *pivots = (int32_t *)scratch;
    tni_planes_load(&a, in, in, i, TNI_AS_IS);
    tni_planes_unit(&x);
    ((int32_t *)(void *)tni_bytes_at(f->out[1]))[i] = tni_lu_factor(&a, pivots);
    tni_lu_solve(&a, pivots, &x, false);
    tni_planes_store(&x, f->out[0], i, TNI_AS_IS);
}
static void inv_run(tn_frame *f) {
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1];
    tn_each(f, tni_batches(f->in[0]), tni_effort(3 * n * n * n), inv_task);
}
static bool inv_verdict(tn_frame *f) {
    TN_ARGS(linalg_inv_ex, a, f);
    return !a->check_errors ||
           tn_info_verdict(f, 1,
                           "The diagonal element # is zero, the inversion could not be completed "
                           "because the input matrix is singular.");
}
/* gA = -A^-H g A^-H. */
static void inv_grad(tn_gradient *g) {
    tn_tensor *x = tni_adjoint(g->out[0]);
    tn_give(g, 0, tnp_neg(tnp_matmul(x, tnp_matmul(g->incoming[0], x))));
}
/* The inverses of square matrices. info is 0, or the place of the first zero pivot from 1; with
 * check_errors the latter is an error. */
TN_OPERATOR(linalg_inv_ex,
            "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
            TN_DOC(.shapes = "(*, n, n) -> (*, n, n), (*), float32, float64 or complex",
                   .example = "tn_linalg_inv_ex(x)"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CPU, .needs = "inverse",
            .check = inv_check, .run = inv_run, .verdict = inv_verdict, .grad = inv_grad,
            .sample = "(3,3):invertible | (2,4,4):invertible check_errors=True | (0,0) | "
                      "(2,0,3,3) | (1,1):pd | (60,60):pd")

static bool linalg_inv_compose(tn_frame *f) {
    if (!tni_out_takes(f, 0, NULL, f->in[0]->dtype)) return false;
    f->out[0] = tnp_linalg_inv_ex(f->in[0], true).inverse;
    return f->out[0] != NULL;
}
/* As linalg_inv_ex, but a matrix that is singular is an error. */
TN_OPERATOR(linalg_inv, "linalg_inv(Tensor A) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n, n), float32, float64 or complex",
                   .example = "tn_linalg_inv(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = linalg_inv_compose,
            .sample = "(3,3):invertible | (2,4,4):invertible")
static bool inverse_compose(tn_frame *f) {
    if (!tni_out_takes(f, 0, NULL, f->in[0]->dtype)) return false;
    f->out[0] = tnp_linalg_inv_ex(f->in[0], true).inverse;
    return f->out[0] != NULL;
}
/* linalg_inv. */
TN_OPERATOR(inverse, "inverse(Tensor self) -> Tensor",
            TN_DOC(.shapes = "(*, n, n) -> (*, n, n), float32, float64 or complex",
                   .example = "tn_inverse(x)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = inverse_compose,
            .sample = "(3,3):invertible")

/* --- powers ----------------------------------------------------------------------------------- */

/* By squaring; a negative power is that of the inverse. */
static bool power_of(tn_frame *f, tn_tensor *a, int64_t n) {
    char shape[128];
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    tn_tensor *r = NULL;
    if (a->ndim < 2 || a->size[a->ndim - 1] != a->size[a->ndim - 2])
        return tn_fail(f, TN_INVALID, "self must be batches of square matrices, but got %s",
                       tni_shape_text(shape, sizeof shape, a->ndim, a->size));
    if (n == 0) {
        const int64_t side = a->size[a->ndim - 1];
        /* Of a, too, whose gradient is zero. */
        r = tnp_where(tnp_full(tn_empty_dims(), tn_int(1), TN_BOOL, (tn_device_id)a->device),
                      tni_unit_of(a, side), a);
        f->out[0] = r;
        return r != NULL;
    }
    if (n < 0) a = tnp_linalg_inv(a);
    for (; left && a; left >>= 1) {
        if (left & 1) r = r ? tnp_matmul(r, a) : a;
        if (left > 1) a = tnp_matmul(a, a);
    }
    if (r == f->in[0]) r = tnp_clone(r, TN_MEMORY_FORMAT_PRESERVE_FORMAT);
    f->out[0] = r;
    return r != NULL && a != NULL;
}
static bool linalg_matrix_power_compose(tn_frame *f) {
    TN_ARGS(linalg_matrix_power, o, f);
    return power_of(f, f->in[0], o->n);
}
/* The n-th power of square matrices, for n < 0 of their inverses. */
TN_OPERATOR(linalg_matrix_power, "linalg_matrix_power(Tensor self, int n) -> Tensor",
            TN_DOC(.shapes = "(*, m, m) -> (*, m, m)", .example = "tn_linalg_matrix_power(x, 3)"),
            .forms = TN_OUT, .compose = linalg_matrix_power_compose,
            .sample = "(3,3) 3 | (2,3,3) 0 | (3,3):invertible -2 | (3,3) 1 | (0,0) 5 | (3,3) 7")
static bool matrix_power_compose(tn_frame *f) {
    TN_ARGS(matrix_power, o, f);
    return power_of(f, f->in[0], o->n);
}
/* linalg_matrix_power. */
TN_OPERATOR(matrix_power, "matrix_power(Tensor self, int n) -> Tensor",
            TN_DOC(.shapes = "(*, m, m) -> (*, m, m)", .example = "tn_matrix_power(x, 3)"),
            .forms = TN_OUT, .compose = matrix_power_compose, .sample = "(3,3) 3 | (2,3,3) 0")

/* --- tensors as matrices ---------------------------------------------------------------------- */

static int64_t product_of(const int64_t *size, int n) {
    int64_t p = 1;
    for (int i = 0; i < n; i++) p *= size[i]; /* divides a tensor's numel */
    return p;
}
static bool tensorinv_compose(tn_frame *f) {
    TN_ARGS(linalg_tensorinv, o, f);
    tn_tensor *a = f->in[0], *r;
    const int at = o->ind > a->ndim ? a->ndim : (int)o->ind;
    int64_t size[TN_MAX_DIMS], flat[2];
    if (o->ind < 1) return tn_fail(f, TN_INVALID, "Expected a strictly positive integer for 'ind'");
    flat[0] = product_of(a->size, at);
    flat[1] = product_of(a->size + at, a->ndim - at);
    if (flat[0] != flat[1])
        return tn_fail(f, TN_INVALID,
                       "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                       "prod(self.shape[:ind]), but got %lld != %lld",
                       (long long)flat[1], (long long)flat[0]);
    if (!tni_out_takes(f, 0, "result", a->dtype)) return false;
    memcpy(size, a->size + at, (size_t)(a->ndim - at) * sizeof *size);
    memcpy(size + a->ndim - at, a->size, (size_t)at * sizeof *size);
    r = tnp_linalg_inv(tnp_reshape(a, tni_ints(flat, 2)));
    f->out[0] = tnp_reshape(r, tni_ints(size, a->ndim));
    return f->out[0] != NULL;
}
/* The inverse of self as a matrix whose rows are its first ind dimensions. */
TN_OPERATOR(linalg_tensorinv, "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
            TN_DOC(.shapes = "self with prod(shape[:ind]) = prod(shape[ind:]) -> shape[ind:] + "
                             "shape[:ind]",
                   .example = "tn_linalg_tensorinv(x, .ind = 1)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = tensorinv_compose,
            .sample = "(4,4):invertible ind=1 | (1,4,4):invertible")

static bool tensorsolve_compose(tn_frame *f) {
    TN_ARGS(linalg_tensorsolve, o, f);
    tn_tensor *a = f->in[0], *b = f->in[1], *r;
    int64_t size[TN_MAX_DIMS], flat[2], last[TN_MAX_DIMS];
    int rest;
    if (o->dims.n > 0 && o->dims.at) {
        for (int64_t i = 0; i < o->dims.n && i < TN_MAX_DIMS; i++) last[i] = i - o->dims.n;
        a = tnp_movedim(a, o->dims, tni_ints(last, o->dims.n));
        if (!a) return false;
    }
    rest = a->ndim - b->ndim;
    if (rest < 0) rest = 0;
    memcpy(size, a->size + b->ndim, (size_t)rest * sizeof *size);
    flat[0] = b->numel;
    flat[1] = product_of(size, rest);
    if (a->ndim < b->ndim || flat[0] != flat[1] || a->numel != flat[0] * flat[1])
        return tn_fail(f, TN_INVALID,
                       "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                       "prod(self.shape[:other.ndim]), but got %lld != %lld",
                       (long long)flat[1], (long long)flat[0]);
    if (!tni_out_takes(f, 0, "result", a->dtype)) return false;
    r = tnp_linalg_solve(tnp_reshape(a, tni_ints(flat, 2)), tnp_flatten(b, 0, -1), true);
    f->out[0] = tnp_reshape(r, tni_ints(size, rest));
    return f->out[0] != NULL;
}
/* X of tensordot(self, X, X.ndim) = other, after dims of self are moved to its end. */
TN_OPERATOR(linalg_tensorsolve,
            "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
            TN_DOC(.shapes = "self (other's sizes, rest), other (*) -> (rest)",
                   .example = "tn_linalg_tensorsolve(x, y)"),
            .forms = TN_OUT, .autocast = TN_WIDE_CPU, .compose = tensorsolve_compose,
            .sample = "(1,4,4):invertible (1,4) | (4,4):invertible (4) dims=[0]")
