/* lapack.c - the factorizations with TN_USE_LAPACK, in all four dtypes: what is factored comes
 * back, errors are the same, and LAPACK computed. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../refused.h"
#include "seen.h"

#include <float.h>
#include <math.h>

static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_C64, TN_C128};
static const char letters[] = "sdcz";
static double unit_of(tn_dtype t) {
    return t == TN_F32 || t == TN_C64 ? (double)FLT_EPSILON : DBL_EPSILON;
}
static double largest(tn_tensor *t) {
    return tn_numel(t) ? tn_item(tn_amax(tn_abs(t), .dim = TN_EMPTY_DIMS)) : 0;
}
/* |has - want| in units of n eps |want|. */
static double units_off(tn_tensor *has, tn_tensor *want, int64_t n) {
    const double size = largest(want);
    return largest(tn_sub(has, want)) /
           ((size > 0 ? size : 1) * (double)n * unit_of(tn_dtype_of(want)));
}
static tn_tensor *adjoint(tn_tensor *t) { return tn_conj(tn_transpose(t, -2, -1)); }
static tn_tensor *random_matrices(int64_t batch, int64_t m, int64_t n, tn_dtype dtype) {
    if (dtype == TN_F32 || dtype == TN_F64) return tn_randn(TN_DIMS(batch, m, n), .dtype = dtype);
    return tn_view_as_complex(
        tn_randn(TN_DIMS(batch, m, n, 2), .dtype = dtype == TN_C64 ? TN_F32 : TN_F64));
}
static void unit(tn_tensor *q, int64_t n) { /* Q^H Q = I */
    CHECK(units_off(tn_matmul(adjoint(q), q),
                    tn_add(tn_eye(tn_size(q, -1), .dtype = tn_dtype_of(q)),
                           tn_zeros_like(tn_matmul(adjoint(q), q))),
                    n) < 8);
}

/* How often LAPACK's routine of that dtype was called. */
static long calls_of(int dtype, const char *name) {
    char text[16];
    snprintf(text, sizeof text, "%c%s", letters[dtype], name);
    return seen(text);
}
static const int64_t sizes[][2] = {{1, 1}, {5, 5}, {7, 4}, {4, 7}, {90, 90}, {90, 55}, {55, 90}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void cholesky_gives_the_matrix_back(void) {
    for (int k = 0; k < 4; k++)
        for (int64_t n = 1; n < 200; n = 3 * n + 1)
            TN_SCOPE {
                const long before = calls_of(k, "potrf");
                tn_tensor *a = random_matrices(3, n, n, dtypes[k]), *l;
                a = tn_matmul(a, adjoint(a));
                l = tn_linalg_cholesky(a);
                CHECK(units_off(tn_matmul(l, adjoint(l)), a, n) < 4);
                CHECK(largest(tn_triu(l, .diagonal = 1)) == 0);
                l = tn_linalg_cholesky(a, .upper = true);
                CHECK(units_off(tn_matmul(adjoint(l), l), a, n) < 4);
                CHECK_EQ(calls_of(k, "potrf") - before, 6);
            }
}
static void lu_gives_the_matrix_back(void) {
    for (int k = 0; k < 4; k++)
        for (int s = 0; s < SIZES; s++)
            TN_SCOPE {
                const long before = calls_of(k, "getrf");
                tn_tensor *a = random_matrices(3, sizes[s][0], sizes[s][1], dtypes[k]);
                const tn_P_L_U f = tn_linalg_lu(a);
                CHECK(units_off(tn_matmul(f.P, tn_matmul(f.L, f.U)), a, sizes[s][1]) < 4);
                CHECK_EQ(calls_of(k, "getrf") - before, 3);
            }
}
static void systems_are_solved(void) {
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *a = random_matrices(3, 90, 90, dtypes[k]),
                      *b = random_matrices(3, 90, 4, dtypes[k]), *x = tn_linalg_solve(a, b),
                      *tall = random_matrices(3, 90, 7, dtypes[k]);
            CHECK(units_off(tn_matmul(a, x), b, 90) < 10 * (1 + largest(x)));
            x = tn_linalg_inv(a);
            CHECK(units_off(tn_matmul(a, tn_matmul(x, b)), b, 90) < 100 * (1 + largest(x)));
            x = tn_linalg_lstsq(tall, b).solution; /* what is left is orthogonal to the columns */
            x = tn_matmul(adjoint(tall), tn_sub(tn_matmul(tall, x), b));
            CHECK(largest(x) < 1000 * unit_of(dtypes[k]));
        }
}
static void qr_gives_the_matrix_back(void) {
    static const char *const modes[] = {"reduced", "complete"};
    for (int k = 0; k < 4; k++)
        for (int s = 0; s < 2 * SIZES; s++)
            TN_SCOPE {
                const int64_t m = sizes[s / 2][0], n = sizes[s / 2][1];
                const long before = calls_of(k, "geqrf"),
                           products = calls_of(k, k < 2 ? "orgqr" : "ungqr");
                tn_tensor *a = random_matrices(3, m, n, dtypes[k]);
                const tn_Q_R f = tn_linalg_qr(a, .mode = modes[s % 2]);
                CHECK(units_off(tn_matmul(f.Q, f.R), a, n) < 8);
                CHECK(largest(tn_tril(f.R, .diagonal = -1)) == 0);
                unit(f.Q, m);
                CHECK_EQ(calls_of(k, "geqrf") - before, 3);
                CHECK_EQ(calls_of(k, k < 2 ? "orgqr" : "ungqr") - products, 3);
            }
}
static void householder_product_is_q(void) {
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *a = random_matrices(2, 9, 6, dtypes[k]), *q;
            const tn_a_tau f = tn_geqrf(a);
            q = tn_linalg_householder_product(f.a, f.tau);
            CHECK(units_off(tn_matmul(q, tn_triu(tn_narrow(f.a, -2, 0, 6))), a, 6) < 8);
            q = tn_ormqr(f.a, f.tau, a, .transpose = true); /* of this library: the same factors */
            CHECK(units_off(tn_narrow(q, -2, 0, 6), tn_triu(tn_narrow(f.a, -2, 0, 6)), 9) < 8);
        }
}
static void hermitian_eigenvectors_hold(void) {
    for (int k = 0; k < 4; k++)
        for (int64_t n = 1; n < 200; n = 3 * n + 1)
            TN_SCOPE {
                const long before = seen(k < 2 ? "dsyevd" : "zheevd");
                tn_tensor *a = random_matrices(3, n, n, dtypes[k]), *v, *l;
                tn_eigenvalues_eigenvectors r;
                a = tn_add(a, adjoint(a));
                r = tn_linalg_eigh(a);
                v = r.eigenvectors;
                l = tn_unsqueeze(tn_to_dtype(r.eigenvalues, dtypes[k]), -2);
                CHECK(largest(tn_sub(tn_matmul(a, v), tn_mul(v, l))) <=
                      8 * (double)n * unit_of(dtypes[k]) * largest(l));
                unit(v, n);
                CHECK(tn_item(tn_equal(tn_sort(r.eigenvalues).values, r.eigenvalues)) == 1);
                CHECK(units_off(tn_linalg_eigvalsh(a), r.eigenvalues, n) < 8);
                CHECK_EQ(seen(k < 2 ? "dsyevd" : "zheevd") - before, 6);
            }
}
static void singular_vectors_hold(void) {
    for (int k = 0; k < 4; k++)
        for (int s = 0; s < 2 * SIZES; s++)
            TN_SCOPE {
                const int64_t m = sizes[s / 2][0], n = sizes[s / 2][1], least = m < n ? m : n;
                const long before = seen(k < 2 ? "dgesdd" : "zgesdd");
                tn_tensor *a = random_matrices(3, m, n, dtypes[k]), *back;
                const tn_U_S_Vh r = tn_linalg_svd(a, .full_matrices = s % 2);
                CHECK_EQ(tn_size(r.U, -1), s % 2 ? m : least);
                CHECK_EQ(tn_size(r.Vh, -2), s % 2 ? n : least);
                back = tn_mul(tn_narrow(r.U, -1, 0, least),
                              tn_unsqueeze(tn_to_dtype(r.S, dtypes[k]), -2));
                back = tn_matmul(back, tn_narrow(r.Vh, -2, 0, least));
                CHECK(largest(tn_sub(back, a)) <=
                      8 * (double)n * unit_of(dtypes[k]) * largest(r.S));
                unit(r.U, m);
                unit(adjoint(r.Vh), n);
                CHECK(units_off(tn_linalg_svdvals(a), r.S, n) < 8);
                CHECK_EQ(seen(k < 2 ? "dgesdd" : "zgesdd") - before, 6);
            }
}
static void eigenvectors_hold(void) {
    for (int k = 0; k < 4; k++)
        for (int64_t n = 1; n < 70; n = 3 * n + 1)
            TN_SCOPE {
                const long before = seen(k < 2 ? "dgeev" : "zgeev");
                tn_tensor *a = random_matrices(3, n, n, dtypes[k]), *v, *l;
                const tn_eigenvalues_eigenvectors r = tn_linalg_eig(a);
                v = r.eigenvectors;
                l = tn_unsqueeze(r.eigenvalues, -2);
                CHECK(largest(tn_sub(tn_matmul(tn_to_dtype(a, tn_dtype_of(v)), v), tn_mul(v, l))) <=
                      40 * (double)n * unit_of(dtypes[k]) * largest(a));
                CHECK(largest(tn_sub_scalar(tn_linalg_vector_norm(v, .dim = TN_DIMS(-2)), 1)) <
                      10 * unit_of(dtypes[k]));
                /* The same sum as the diagonal's: all eigenvalues are there. */
                CHECK(largest(tn_sub(
                          tn_sum(tn_linalg_eigvals(a), .dim = TN_DIMS(-1)),
                          tn_sum(tn_diagonal(a, .dim1 = -2, .dim2 = -1), .dim = TN_DIMS(-1)))) <
                      40 * (double)n * unit_of(dtypes[k]) * largest(a));
                CHECK_EQ(seen(k < 2 ? "dgeev" : "zgeev") - before, 6);
            }
}
static void errors_are_the_same(void) {
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *a = tn_eye(4, .dtype = dtypes[k]), *b = tn_clone(a), *c = tn_clone(a);
            tn_fill_(tn_narrow(tn_narrow(a, 0, 2, 1), 1, 2, 1), 0); /* A[2, 2] */
            tn_fill_(tn_narrow(tn_narrow(b, 0, 2, 1), 1, 2, 1), NAN);
            tn_fill_(tn_narrow(tn_narrow(c, 0, 1, 1), 1, 1, 1), NAN);
            REFUSED(tn_linalg_cholesky(a), TN_LINALG, "");
            CHECK(tn_item(tn_linalg_cholesky_ex(a).info) == 3);
            CHECK(tn_item(tn_linalg_cholesky_ex(b).info) == 3);
            CHECK(tn_item(tn_linalg_lu_factor_ex(a).info) == 3);
            REFUSED(tn_linalg_inv(a), TN_LINALG, "");
            REFUSED(tn_linalg_eigh(c).eigenvalues, TN_LINALG, "");
            REFUSED(tn_linalg_svd(c).S, TN_LINALG, "");
            REFUSED(tn_linalg_eig(c).eigenvalues, TN_INVALID, "");
        }
}
static void an_iteration_without_end_is_an_error(void) {
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *a = tn_eye(4, .dtype = dtypes[k]);
            seen_answer = 2;
            REFUSED(tn_linalg_eigh(a).eigenvalues, TN_LINALG, "");
            REFUSED(tn_linalg_svd(a).S, TN_LINALG, "");
            REFUSED(tn_linalg_eig(a).eigenvalues, TN_LINALG, "");
            REFUSED(tn_linalg_eigvals(a), TN_LINALG, "");
            seen_answer = 0;
        }
}
/* Where LAPACK does nothing the library computes by itself. */
static void a_refusal_changes_nothing(void) {
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *a = random_matrices(2, 60, 60, dtypes[k]), *h = tn_matmul(a, adjoint(a)), *l,
                      *us;
            tn_P_L_U f;
            tn_Q_R q;
            tn_U_S_Vh s;
            seen_answer = -1;
            f = tn_linalg_lu(a);
            q = tn_linalg_qr(a);
            s = tn_linalg_svd(a);
            l = tn_linalg_cholesky(h);
            CHECK(tn_linalg_eigvalsh(h) != NULL && tn_linalg_eigvals(a) != NULL);
            seen_answer = 0;
            us = tn_mul(s.U, tn_unsqueeze(tn_to_dtype(s.S, dtypes[k]), -2));
            CHECK(units_off(tn_matmul(f.P, tn_matmul(f.L, f.U)), a, 60) < 4);
            CHECK(units_off(tn_matmul(q.Q, q.R), a, 60) < 8);
            CHECK(units_off(tn_matmul(l, adjoint(l)), h, 60) < 4);
            CHECK(units_off(tn_matmul(us, s.Vh), a, 60) < 30);
        }
}
static void matrices_without_elements_are_none(void) {
    const long before = seen("");
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *none = tn_zeros(TN_DIMS(2, 0, 0), .dtype = dtypes[k]),
                      *no_rows = tn_zeros(TN_DIMS(0, 3), .dtype = dtypes[k]);
            CHECK_EQ(tn_numel(tn_linalg_cholesky(none)), 0);
            CHECK_EQ(tn_numel(tn_linalg_lu_factor_ex(no_rows).LU), 0);
            CHECK_EQ(tn_numel(tn_linalg_qr(no_rows).Q), 0);
            CHECK_EQ(tn_size(tn_linalg_svd(no_rows).Vh, 0), 3);
            CHECK_EQ(tn_numel(tn_linalg_eigh(none).eigenvalues), 0);
            CHECK_EQ(tn_numel(tn_linalg_eig(none).eigenvalues), 0);
        }
    CHECK_EQ(seen("") - before, 0);
}
/* The last test: each routine has computed. */
static void lapack_was_used(void) {
    for (int i = 0; i < SEEN_ROUTINES; i++) {
        printf("%s%s %ld", i ? ", " : "LAPACK computed: ", seen_names[i], seen_calls[i]);
        CHECK(seen_calls[i] > 0);
    }
    printf("\n");
}

static const check_test tests[] = {
    CHECK_TEST(cholesky_gives_the_matrix_back),
    CHECK_TEST(lu_gives_the_matrix_back),
    CHECK_TEST(systems_are_solved),
    CHECK_TEST(qr_gives_the_matrix_back),
    CHECK_TEST(householder_product_is_q),
    CHECK_TEST(hermitian_eigenvectors_hold),
    CHECK_TEST(singular_vectors_hold),
    CHECK_TEST(eigenvectors_hold),
    CHECK_TEST(errors_are_the_same),
    CHECK_TEST(an_iteration_without_end_is_an_error),
    CHECK_TEST(a_refusal_changes_nothing),
    CHECK_TEST(matrices_without_elements_are_none),
    CHECK_TEST(lapack_was_used),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
