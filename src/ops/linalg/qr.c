/* qr.c - A = Q R by Householder reflections: linalg.qr. */
#include "../../cpu/householder.h"
#include "../../cpu/lapack.h"
#include "factor.h"

/* --- the row ---------------------------------------------------------------------------------- */

enum { QR_REDUCED, QR_COMPLETE, QR_R };
typedef struct qr_sizes {
    int64_t m, n, least, q; /* A is m x n, least the smaller one; Q is m x q */
} qr_sizes;

static qr_sizes qr_sizes_of(const tn_frame *f) {
    const tn_tensor *a = f->in[0];
    qr_sizes s = {a->size[a->ndim - 2], a->size[a->ndim - 1], 0, 0};
    s.least = s.m < s.n ? s.m : s.n;
    s.q = f->type == QR_R ? 0 : f->type == QR_COMPLETE ? s.m : s.least;
    return s;
}

static bool qr_mode(tn_frame *f) {
    static const char *const words[] = {"reduced", "complete", "r"};
    TN_ARGS(linalg_qr, a, f);
    for (uint8_t i = 0; i < 3; i++)
        if (a->mode && !strcmp(a->mode, words[i])) {
            f->type = i;
            return true;
        }
    return tn_fail(f, TN_INVALID,
                   "qr received unrecognized mode '%s' but expected one of reduced (default), r "
                   "or complete",
                   a->mode ? a->mode : "NULL");
}

static bool qr_check(tn_frame *f) {
    const tn_tensor *a = f->in[0];
    int64_t size[TN_MAX_DIMS];
    const int64_t none = 0;
    int64_t more;
    qr_sizes s;
    if (a->ndim < 2)
        return tn_fail(f, TN_INVALID,
                       "linalg.qr: The input tensor A must have at least 2 dimensions.");
    if (!tni_matrix_fits(f, a, "A", false) || !qr_mode(f)) return false;
    s = qr_sizes_of(f);
    if (f->recording && (f->type == QR_R || s.q > s.n))
        return tn_fail(f, TN_AUTOGRAD, "argument 'mode': %s",
                       f->type == QR_R
                           ? "r computes no Q, which the gradient needs"
                           : "complete has no gradient if A has more rows than columns");
    memcpy(size, a->size, (size_t)a->ndim * sizeof *size);
    size[a->ndim - 1] = s.q;
    if (f->type == QR_R ? !tn_announce(f, 0, (tn_dtype)a->dtype, 1, &none)
                        : !tn_announce_columns(f, 0, (tn_dtype)a->dtype, a->ndim, size))
        return false;
    size[a->ndim - 2] = f->type == QR_R ? s.least : s.q;
    size[a->ndim - 1] = s.n;
    if (!tni_reflectors_size(s.m, s.n > s.q ? s.n : s.q, &more) || !tni_add(more, s.least, &more))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_announce_columns(f, 1, (tn_dtype)a->dtype, a->ndim, size) &&
           tni_planes_ask(f, a->dtype, s.m, s.n, s.m, s.q, more);
}
/* The first columns of Q: one reflection after another where a was factored so. */
static void qr_product(tni_reflectors *r, const tni_planes *a, const tni_planes *taus,
                       const tni_planes *q) {
    if (a->n > TNI_COLUMNS_ALONE || q->n > TNI_COLUMNS_ALONE) {
        tni_reflections_product(r, a, taus->m, 0, taus, q);
        return;
    }
    if (tni_lapack_product(a, taus->m, taus, q)) return;
    tni_planes_unit(q);
    for (int64_t j = taus->m - 1; j >= 0; j--)
        for (int64_t c = j; c < q->n; c++) tni_reflect(a, j, j, q, c, tni_planes_get(taus, j, 0));
}
static void qr_task(tn_frame *f, int64_t i, void *scratch) {
    const qr_sizes s = qr_sizes_of(f);
    const int dtype = f->in[0]->dtype;
    const tni_planes a = tni_planes_in(f, &scratch, dtype, s.m, s.n),
                     q = tni_planes_in(f, &scratch, dtype, s.m, s.q),
                     taus = tni_planes_in(f, &scratch, dtype, s.least, 1);
    tni_reflectors r = tni_reflectors_in(f, &scratch, dtype, s.m, s.n > s.q ? s.n : s.q);
    tni_planes_load(&a, f->in[0], f->in[0], i, TNI_AS_IS);
    tni_qr_factor(&r, &a, &taus);
    if (f->type != QR_R) {
        qr_product(&r, &a, &taus, &q);
        tni_planes_store(&q, f->out[0], i, TNI_AS_IS);
    }
    tni_planes_clear(&a, true);
    tni_planes_store(&a, f->out[1], i, TNI_AS_IS);
}
static void qr_run(tn_frame *f) {
    const qr_sizes s = qr_sizes_of(f);
    const double columns = (double)s.n + (double)s.q;
    tn_each(f, tni_batches(f->in[0]), tni_effort(4.0 * (double)s.m * columns * (double)s.least),
            qr_task);
}

/* Of m x n with m >= n: gA = (gQ + Q M) R^-H, where M mirrors the upper triangle of
 * gR R^H - Q^H gQ (S. Walter, L. Lehmann, 2012). */
static tn_tensor *qr_tall_grad(tn_tensor *q, tn_tensor *r, tn_tensor *gq, tn_tensor *gr) {
    tn_tensor *m = tnp_sub(tnp_matmul(gr, tni_adjoint(r)), tnp_matmul(tni_adjoint(q), gq), 1);
    m = tnp_add(gq, tnp_matmul(q, tni_mirror_upper(m)), 1);
    return tnp_linalg_solve_triangular(tni_adjoint(r), m, false, false, false);
}
/* A wide A is (A1 A2) with A1 = Q R1 square and R2 = Q^H A2. */
static void qr_grad(tn_gradient *g) {
    tn_tensor *q = g->out[0], *r = g->out[1], *gq = tn_incoming(g, 0), *gr = tn_incoming(g, 1);
    const int64_t m = q->size[q->ndim - 2], n = r->size[r->ndim - 1];
    tn_tensor *first, *rest, *parts[2];
    if (m >= n) {
        tn_give(g, 0, qr_tall_grad(q, r, gq, gr));
        return;
    }
    first = tnp_narrow(gr, -1, 0, m);
    rest = tnp_narrow(gr, -1, m, n - m);
    gq = tnp_add(gq, tnp_matmul(tnp_narrow(g->in[0], -1, m, n - m), tni_adjoint(rest)), 1);
    parts[0] = qr_tall_grad(q, tnp_narrow(r, -1, 0, m), gq, first);
    parts[1] = tnp_matmul(q, rest);
    tn_give(g, 0, tnp_cat(tn_tensors_of(parts, 2), -1));
}
/* A = Q R, where Q has orthonormal columns and R is upper triangular with a real diagonal. mode is
 * 'reduced', 'complete' (Q is square) or 'r' (Q is empty and not computed). */
TN_OPERATOR(linalg_qr, "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
            TN_DOC(.shapes = "(*, m, n) -> (*, m, k), (*, k, n), float32, float64 or complex",
                   .example = "tn_linalg_qr(x)",
                   .differs = "gradcheck [mode=r]: Q is not there | "
                              "gradcheck [(3,2):invertible mode=complete]: Q is not unique",
                   .oracle = "phase Q R; Q R = A; orthogonal Q"),
            .forms = TN_OUT | TN_LEADING, .autocast = TN_WIDE_CPU, .needs = "A,Q,R",
            .check = qr_check, .run = qr_run, .grad = qr_grad,
            .sample = "(4,3):invertible | (2,3,3):invertible | (2,5):invertible | "
                      "(2,3):invertible mode=complete | (3,2):invertible mode=complete | "
                      "(4,3):invertible mode=r | (2,0,3) | (3,0) | (40,35):distinct")
