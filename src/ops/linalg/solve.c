/* solve.c - triangular systems: linalg.solve_triangular, triangular_solve. */
#include "../../cpu/matrix.h"
#include "factor.h"
#include "../../call/whole.h"

static bool triangular_check(tn_frame *f) {
    TN_ARGS(linalg_solve_triangular, o, f);
    const tn_tensor *a = f->in[0], *b = f->in[1];
    tni_shape s;
    int64_t n, k;
    if (!tni_matrix_fits(f, a, "self", true) || !tni_matrix_fits(f, b, "B", false)) return false;
    /* n: the size of self; k: the number of systems. */
    n = b->size[b->ndim - (o->left ? 2 : 1)];
    k = b->size[b->ndim - (o->left ? 1 : 2)];
    if (n != a->size[a->ndim - 1])
        return tn_fail(f, TN_INVALID, "B has %lld %s, but self is %lld x %lld", (long long)n,
                       o->left ? "rows" : "columns", (long long)a->size[a->ndim - 1],
                       (long long)a->size[a->ndim - 1]);
    if (!tni_batches_fit(f, &s, a, "self", b, "B")) return false;
    s.size[s.ndim++] = b->size[b->ndim - 2];
    s.size[s.ndim++] = b->size[b->ndim - 1];
    return tni_planes_ask(f, a->dtype, n, n, n, k, 0) &&
           tn_announce_columns(f, 0, (tn_dtype)a->dtype, s.ndim, s.size);
}
static void triangular_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(linalg_solve_triangular, o, f);
    const int turned = o->left ? TNI_AS_IS : TNI_TRANSPOSED; /* x a = b is a^T x^T = b^T */
    const int64_t n = f->in[0]->size[f->in[0]->ndim - 1],
                  k = f->in[1]->size[f->in[1]->ndim - (o->left ? 1 : 2)];
    tni_planes t = tni_planes_in(f, &scratch, f->in[0]->dtype, n, n),
               x = tni_planes_in(f, &scratch, f->in[0]->dtype, n, k);
    tni_planes_load(&t, f->in[0], f->out[0], i, turned);
    tni_planes_load(&x, f->in[1], f->out[0], i, turned);
    tni_planes_solve(&t, &x, o->upper == o->left, o->unitriangular);
    tni_planes_store(&x, f->out[0], i, turned);
}
static void triangular_run(tn_frame *f) {
    const tn_tensor *x = f->out[0];
    const double n = (double)f->in[0]->size[f->in[0]->ndim - 1];
    tn_each(f, tni_batches(x),
            tni_effort(n * (double)x->size[x->ndim - 2] * (double)x->size[x->ndim - 1]),
            triangular_task);
}
/* gB = A^-H gX; gA = -gB X^H, of the triangle that is read. */
static void triangular_grad(tn_gradient *g) {
    TN_ARGS(linalg_solve_triangular, o, g);
    tn_tensor *b = tnp_linalg_solve_triangular(tni_adjoint(g->in[0]), g->incoming[0], !o->upper,
                                               o->left, o->unitriangular),
              *x, *a;
    const int unit = o->unitriangular ? 1 : 0;
    if (g->want[1]) tn_give(g, 1, b);
    if (!g->want[0]) return;
    x = tni_adjoint(g->out[0]);
    a = tnp_neg(o->left ? tnp_matmul(b, x) : tnp_matmul(x, b));
    tn_give(g, 0, o->upper ? tnp_triu(a, unit) : tnp_tril(a, -unit));
}
static tn_tensor *triangular_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(linalg_solve_triangular, a, f);
    const int ndim = f->in[0]->ndim > f->in[1]->ndim ? f->in[0]->ndim : f->in[1]->ndim;
    tn_tensor *x = whole[0] ? tni_whole_align(whole[0], f->in[0]->ndim, ndim) : f->in[0],
              *y = whole[1] ? tni_whole_align(whole[1], f->in[1]->ndim, ndim) : f->in[1];
    return x && y ? tnp_linalg_solve_triangular(x, y, a->upper, a->left, a->unitriangular) : NULL;
}
/* X of A X = B, or with left=False of X A = B, where A is triangular. Only that triangle is read;
 * with unitriangular=True its diagonal is not read and counts as ones. */
TN_OPERATOR(linalg_solve_triangular,
            "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
            "bool unitriangular=False) -> Tensor",
            TN_DOC(.shapes = "(*, n, n), (*, n, k) -> (*, n, k), float32, float64 or complex",
                   .example = "tn_linalg_solve_triangular(x, y, false)"),
            .forms = TN_OUT, .needs = "self:self,result B:self", .check = triangular_check,
            .run = triangular_run, .grad = triangular_grad,
            .sample = "(3,3):lower (3,2) upper=False | (2,4,4):upper (4,3) upper=True | "
                      "(3,3):lower (2,2,3) upper=False left=False unitriangular=True | "
                      "(3,3):upper (2,3) upper=True left=False | (0,0) (0,3) upper=True | "
                      "(35,35):lower (35,20) upper=False",
            .batched = TN_BATCHED(triangular_batched))

static bool old_triangular_compose(tn_frame *f) {
    TN_ARGS(triangular_solve, o, f);
    tn_tensor *b = f->in[0], *a = f->in[1], *x;
    tni_shape s;
    if (!tni_matrix_fits(f, b, "self", false) || !tni_matrix_fits(f, a, "A", true) ||
        !tni_batches_fit(f, &s, b, "self", a, "A"))
        return false;
    x = tnp_linalg_solve_triangular(o->transpose ? tnp_transpose(a, -2, -1) : a, b,
                                    o->upper != o->transpose, true, o->unitriangular);
    s.size[s.ndim++] = a->size[a->ndim - 2];
    s.size[s.ndim++] = a->size[a->ndim - 1];
    f->out[0] = x;
    f->out[1] = tni_in_columns(tnp_expand(a, tni_ints(s.size, s.ndim), false));
    return x && f->out[1];
}
/* X of A X = self, of the triangle of A or, with transpose, of A^T; and a copy of A. torch keeps it
 * for old programs: linalg_solve_triangular. */
TN_OPERATOR(triangular_solve,
            "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
            "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
            TN_DOC(.shapes = "(*, n, k), (*, n, n) -> (*, n, k), (*, n, n)",
                   .example = "tn_triangular_solve(y, x)"),
            .autocast = TN_WIDE_CPU, .compose = old_triangular_compose,
            .sample = "(3,2) (3,3):upper | (2,4,3) (4,4):lower upper=False transpose=True | "
                      "(3,2) (3,3):upper unitriangular=True")
