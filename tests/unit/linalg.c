/* linalg.c - promises of factorizations beside those of the lanes: backward errors in units of
 * eps |A| on matrices that are large or hard, and what is singular is an error. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <float.h>
#include <math.h>

static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_C64, TN_C128};
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
static tn_tensor *random_matrix(int64_t m, int64_t n, tn_dtype dtype) {
    if (dtype == TN_F32 || dtype == TN_F64) return tn_randn(TN_DIMS(m, n), .dtype = dtype);
    return tn_view_as_complex(
        tn_randn(TN_DIMS(m, n, 2), .dtype = dtype == TN_C64 ? TN_F32 : TN_F64));
}

static void large_systems_are_solved_by_blocks(void) {
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            const int64_t n = 150;
            tn_tensor *a = random_matrix(n, n, dtypes[k]), *b = random_matrix(n, 70, dtypes[k]), *x;
            tn_P_L_U f = tn_linalg_lu(a);
            CHECK(units_off(tn_matmul(f.P, tn_matmul(f.L, f.U)), a, n) < 1);
            CHECK(largest(f.L) == 1 || k > 1);
            f = tn_linalg_lu(tn_narrow(a, 0, 0, 60));
            CHECK(units_off(tn_matmul(f.P, tn_matmul(f.L, f.U)), tn_narrow(a, 0, 0, 60), n) < 1);
            f = tn_linalg_lu(tn_narrow(a, 1, 0, 60));
            CHECK(units_off(tn_matmul(f.P, tn_matmul(f.L, f.U)), tn_narrow(a, 1, 0, 60), n) < 1);
            x = tn_linalg_solve(a, b);
            CHECK(units_off(tn_matmul(a, x), b, n) < 10 * (1 + largest(x)));
            x = tn_linalg_solve(a, adjoint(b), .left = false);
            CHECK(units_off(tn_matmul(x, a), adjoint(b), n) < 10 * (1 + largest(x)));
            x = tn_matmul(a, adjoint(a));
            f.L = tn_linalg_cholesky(x);
            CHECK(units_off(tn_matmul(f.L, adjoint(f.L)), x, n) < 1);
            CHECK(largest(tn_triu(f.L, .diagonal = 1)) == 0);
            CHECK(units_off(tn_matmul(f.L, tn_linalg_solve_triangular(f.L, b, false)), b, n) < 100);
        }
}
static void hilbert_has_a_small_backward_error(void) {
    TN_SCOPE {
        const int64_t n = 60; /* its condition is far beyond 1 / eps */
        tn_tensor *i = tn_arange(n, .dtype = TN_F64),
                  *h = tn_reciprocal(tn_add_scalar(tn_add(tn_unsqueeze(i, 1), i), 1));
        tn_P_L_U f = tn_linalg_lu(h);
        CHECK(units_off(tn_matmul(f.P, tn_matmul(f.L, f.U)), h, n) < 1);
        CHECK(isfinite(tn_item(tn_logdet(h))) || isnan(tn_item(tn_logdet(h))));
    }
}
/* Of Hermitian a: A V = V L and V^H V = I. */
static void eigenvectors_hold(tn_tensor *a) {
    const int64_t n = tn_size(a, 0);
    const tn_eigenvalues_eigenvectors r = tn_linalg_eigh(a);
    tn_tensor *v = r.eigenvectors, *l = tn_to_dtype(r.eigenvalues, tn_dtype_of(a));
    CHECK(largest(tn_sub(tn_matmul(a, v), tn_mul(v, l))) <=
          4 * (double)n * unit_of(tn_dtype_of(a)) * largest(tn_linalg_eigvalsh(a)));
    CHECK(units_off(tn_matmul(adjoint(v), v), tn_eye(n, .dtype = tn_dtype_of(a)), n) < 4);
}
/* A = U S V^H with orthonormal U and V. */
static void singular_vectors_hold(tn_tensor *a) {
    const tn_U_S_Vh r = tn_linalg_svd(a, .full_matrices = false);
    const tn_dtype dtype = tn_dtype_of(a);
    const int64_t k = tn_size(r.S, 0);
    tn_tensor *us = tn_mul(r.U, tn_to_dtype(r.S, dtype)), *unit = tn_eye(k, .dtype = dtype);
    CHECK(largest(tn_sub(tn_matmul(us, r.Vh), a)) <= 4 * (double)k * unit_of(dtype) * largest(r.S));
    CHECK(units_off(tn_matmul(adjoint(r.U), r.U), unit, k) < 4);
    CHECK(units_off(tn_matmul(r.Vh, adjoint(r.Vh)), unit, k) < 4);
}
static void decompositions_of_large_and_hard_matrices_hold(void) {
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *a = random_matrix(130, 130, dtypes[k]);
            eigenvectors_hold(tn_add(a, adjoint(a)));
            singular_vectors_hold(a);
            singular_vectors_hold(tn_narrow(a, 0, 0, 70));
            singular_vectors_hold(tn_narrow(a, 1, 0, 70));
        }
    TN_SCOPE {
        const int64_t n = 41;
        tn_tensor *i = tn_arange(n, .dtype = TN_F64), *d, *off,
                  *h = tn_reciprocal(tn_add_scalar(tn_add(tn_unsqueeze(i, 1), i), 1));
        eigenvectors_hold(h); /* Hilbert */
        singular_vectors_hold(h);
        d = tn_mul(tn_eye(n, .dtype = TN_F64), tn_exp(tn_mul_scalar(i, -1.5))); /* graded */
        d = tn_matmul(tn_matmul(tn_linalg_qr(random_matrix(n, n, TN_F64)).Q, d), h);
        eigenvectors_hold(tn_add(d, adjoint(d)));
        singular_vectors_hold(d);
        eigenvectors_hold(tn_eye(n, .dtype = TN_F64)); /* one value n times */
        singular_vectors_hold(tn_ones(TN_DIMS(n, n), .dtype = TN_F64));
        singular_vectors_hold(tn_zeros(TN_DIMS(n, n), .dtype = TN_F64));
        /* Wilkinson's W+, whose largest eigenvalues are pairs that agree to working precision */
        off = tn_sub(tn_unsqueeze(i, 1), i);
        d = tn_to_dtype(tn_eq_scalar(tn_abs(off), 1), TN_F64);
        d = tn_add(d, tn_mul(tn_eye(n, .dtype = TN_F64), tn_abs(tn_sub_scalar(i, 20))));
        eigenvectors_hold(d);
        singular_vectors_hold(d);
        singular_vectors_hold(tn_mul_scalar(d, 1e-300));
        eigenvectors_hold(tn_mul_scalar(d, 1e290));
    }
}
/* A V = V diag(L) within `units` of n eps |A|, and columns of norm 1; eigvals has the same bits. */
static void general_eigenvectors_hold(tn_tensor *a, double units) {
    const int64_t n = tn_size(a, 0);
    const tn_dtype wide = tn_dtype_of(a) == TN_F32 || tn_dtype_of(a) == TN_C64 ? TN_C64 : TN_C128;
    const tn_eigenvalues_eigenvectors r = tn_linalg_eig(a);
    tn_tensor *av = tn_matmul(tn_to_dtype(a, wide), r.eigenvectors),
              *vl = tn_mul(r.eigenvectors, r.eigenvalues);
    const double size = tn_item(tn_linalg_vector_norm(a));
    CHECK(largest(tn_sub(av, vl)) <= units * (double)n * unit_of(tn_dtype_of(a)) * size);
    av = tn_linalg_vector_norm(r.eigenvectors, .dim = TN_DIMS(0));
    CHECK(largest(tn_sub_scalar(av, 1)) <= 4 * (double)n * unit_of(tn_dtype_of(a)));
    CHECK(tn_item(tn_equal(tn_linalg_eigvals(a), r.eigenvalues)));
}
static void eigenvectors_of_large_and_hard_matrices_hold(void) {
    const int64_t n = 40;
    for (int k = 0; k < 4; k++)
        TN_SCOPE
            general_eigenvectors_hold(random_matrix(130, 130, dtypes[k]), 1);
    for (int64_t m = 15; m < 38; m++) /* about the sizes of blocks of reflections */
        TN_SCOPE {
            general_eigenvectors_hold(random_matrix(m, m, TN_F64), 1);
            general_eigenvectors_hold(random_matrix(m, m, TN_C128), 1);
        }
    TN_SCOPE {
        tn_tensor *i = tn_arange(n, .dtype = TN_F64), *off = tn_sub(i, tn_unsqueeze(i, 1)),
                  *above = tn_to_dtype(tn_eq_scalar(off, 1), TN_F64),
                  *under = tn_to_dtype(tn_eq_scalar(off, -1), TN_F64), *a, *q,
                  *unit = tn_eye(n, .dtype = TN_F64);
        a = tn_add(unit, above); /* a Jordan block */
        general_eigenvectors_hold(a, 1);
        general_eigenvectors_hold(adjoint(a), 1);
        q = tn_linalg_qr(random_matrix(n, n, TN_F64)).Q;
        general_eigenvectors_hold(tn_matmul(tn_matmul(q, a), adjoint(q)), 1);
        a = tn_sub(tn_triu(tn_tril(tn_ones_like(a), .diagonal = 3)), under); /* Grcar */
        general_eigenvectors_hold(a, 1);
        general_eigenvectors_hold(tnp_mul_scalar(a, tn_complex(1, 2)), 1);
        a = tn_rsub_scalar(tn_maximum(tn_expand_as(i, a), tn_unsqueeze(i, 1)), (double)n);
        general_eigenvectors_hold(tn_triu(a, .diagonal = -1), 1); /* Frank */
        a = random_matrix(n, n, TN_F64);
        general_eigenvectors_hold(tn_mul(a, tn_exp(tn_mul_scalar(i, -1.5))), 1); /* graded */
        general_eigenvectors_hold(tnp_mul_scalar(under, tn_complex(0, 1)), 1);
        a = tn_add(under, tn_mul(tn_narrow(unit, 1, n - 1, 1), tn_narrow(unit, 0, 0, 1)));
        general_eigenvectors_hold(a, 1); /* its eigenvalues are the roots of 1 */
        general_eigenvectors_hold(tn_mul_scalar(a, 1e290), 1);
        general_eigenvectors_hold(tn_mul_scalar(a, 1e-290), 1);
        general_eigenvectors_hold(tn_zeros_like(a), 1);
        general_eigenvectors_hold(tn_ones_like(a), 1);
    }
    TN_SCOPE {
        REFUSED(tn_linalg_eigvals(tn_full(TN_DIMS(3, 3), NAN)), TN_INVALID, "infs or NaNs");
        REFUSED(tn_linalg_eig(tn_full(TN_DIMS(2, 2), INFINITY)).eigenvalues, TN_INVALID, "infs or");
    }
}
/* A X = B by the factors of the lower triangle of a; factors of zero are named. */
static void symmetric_systems_are_solved(void) {
    static const double swap[] = {0, 1, 2, 1, 0, 1, 2, 1, 0};
    for (int k = 0; k < 4; k++)
        for (int hermitian = 0; hermitian < 2; hermitian++)
            TN_SCOPE {
                tn_tensor *a = random_matrix(70, 70, dtypes[k]), *b, *x, *t;
                tn_LD_pivots f;
                t = hermitian ? adjoint(a) : tn_transpose(a, -2, -1);
                a = tn_add(a, t);
                b = random_matrix(70, 3, dtypes[k]);
                f = tn_linalg_ldl_factor(tn_tril(a), .hermitian = hermitian);
                CHECK(tn_item(tn_amin(f.pivots, .dim = TN_EMPTY_DIMS)) < 0);
                x = tn_linalg_ldl_solve(f.LD, f.pivots, b, .hermitian = hermitian);
                CHECK(units_off(tn_matmul(a, x), b, 70) < 30 * (1 + largest(x)));
                t = tn_stack(TN_LIST(b, x));
                t = tn_linalg_ldl_solve(f.LD, f.pivots, t, .hermitian = hermitian);
                CHECK(tn_item(tn_equal(tn_select(t, 0, 0), x)));
            }
    TN_SCOPE {
        tn_tensor *zero = tn_zeros(TN_DIMS(2, 2)), *a = tn_from(swap, TN_DIMS(3, 3), TN_F64);
        const tn_LD_pivots f = tn_linalg_ldl_factor(a);
        CHECK(tn_item(tn_linalg_ldl_factor_ex(zero).info) == 1);
        CHECK(at(f.LD, 0) == 0 && at(f.pivots, 0) == -3 && at(f.pivots, 1) == -3);
        CHECK(at(f.pivots, 2) == 3);
        REFUSED(tn_linalg_ldl_factor(zero).LD, TN_LINALG, "i = 1, is zero");
        a = tn_zeros(TN_DIMS(3), .dtype = TN_I64);
        REFUSED(tn_linalg_ldl_solve(f.LD, a, f.LD), TN_INVALID, "|pivot| >= 1");
        a = tn_full(TN_DIMS(3), -4, .dtype = TN_I64);
        REFUSED(tn_linalg_ldl_solve(f.LD, a, f.LD), TN_INVALID, "|pivot| <= LD.size(-2)");
    }
}
static void small_singular_values_keep_their_digits(void) {
    /* (1 1; 0 1e-18) has the singular values sqrt(2) and 1e-18 / sqrt(2). */
    static const double v[] = {1, 1, 0, 1e-18};
    TN_SCOPE {
        tn_tensor *s = tn_linalg_svdvals(tn_from(v, TN_DIMS(2, 2), TN_F64));
        CHECK(fabs(at(s, 0) / sqrt(2) - 1) < 1e-15);
        CHECK(at(s, 1) >= 0 && at(s, 1) < 1e-15);
    }
}
static void least_squares_of_any_rank(void) {
    TN_SCOPE {
        tn_tensor *a = random_matrix(20, 7, TN_F64), *b = random_matrix(20, 2, TN_F64), *x, *p;
        tn_solution_residuals_rank_singular_values r;
        a = tn_matmul(a, random_matrix(7, 12, TN_F64)); /* rank 7 of 12 */
        p = tn_matmul(tn_linalg_pinv_float(a), b);
        r = tn_linalg_lstsq(a, b);
        CHECK(tn_item(r.rank) == 7 && largest(tn_sub(r.solution, p)) < 1e-10);
        r = tn_linalg_lstsq(adjoint(a), tn_narrow(a, 0, 0, 12), .driver = "gelsd");
        CHECK(tn_item(r.rank) == 7 && tn_numel(r.singular_values) == 12);
        CHECK(tn_item(tn_linalg_matrix_rank_float(a)) == 7);
        x = random_matrix(20, 7, TN_F64);
        r = tn_linalg_lstsq(x, b, .driver = "gels");
        p = tn_sub(tn_matmul(x, r.solution), b);
        CHECK(largest(tn_matmul(adjoint(x), p)) < 1e-12 && tn_numel(r.residuals) == 2);
        REFUSED(tn_linalg_lstsq(x, b, .driver = "best").solution, TN_INVALID, "should be one of");
        REFUSED(tn_linalg_svdvals(tn_full(TN_DIMS(3, 3), NAN)), TN_LINALG, "failed to converge");
        REFUSED(tn_linalg_eigvalsh(tn_full(TN_DIMS(3, 3), NAN)), TN_LINALG, "failed to converge");
    }
}
static void exponentials_are_those_of_numbers(void) {
    for (double x = 1e-3; x < 600; x *= 3)
        TN_SCOPE {
            tn_tensor *e = tn_linalg_matrix_exp(tn_full(TN_DIMS(1, 1), -x, .dtype = TN_F64));
            CHECK(fabs(at(e, 0) / exp(-x) - 1) < 1e-13 * (1 + x));
        }
}

static void singular_matrices_are_named(void) {
    static const double v[] = {1, 0, 0, 1, 1, 1, 1, 1};
    TN_SCOPE {
        tn_tensor *a = tn_from(v, TN_DIMS(2, 2, 2), TN_F64), *one = tn_select(a, 0, 1),
                  *b = tn_ones(TN_DIMS(2, 1), .dtype = TN_F64);
        REFUSED(tn_linalg_inv(a), TN_LINALG,
                "(Batch element 1): The diagonal element 2 is zero, the inversion");
        REFUSED(tn_linalg_solve(one, b), TN_LINALG, "because the input matrix is singular");
        REFUSED(tn_linalg_lu_factor(one).LU, TN_LINALG, "i = 2, is zero");
        CHECK(at(tn_linalg_inv_ex(a).info, 0) == 0 && at(tn_linalg_inv_ex(a).info, 1) == 2);
        CHECK(tn_item(tn_det(one)) == 0 && tn_item(tn_slogdet(one).sign) == 0);
        CHECK(tn_item(tn_slogdet(one).logabsdet) == -HUGE_VAL);
        REFUSED(tn_linalg_lu_factor(one, .pivot = false).LU, TN_INVALID, "without pivoting");
    }
}
static void pivots_are_checked(void) {
    static const int32_t pivots[] = {1, 3};
    TN_SCOPE {
        tn_tensor *a = tn_ones(TN_DIMS(2, 2)), *p = tn_from(pivots, TN_DIMS(2), TN_I32);
        REFUSED(tn_linalg_lu_solve(a, p, a), TN_INVALID, "Pivots given to lu_solve must all be");
        REFUSED(tn_lu_unpack(a, p).P, TN_INVALID, "between 1 and LU.size(-2)");
        REFUSED(tn_lu_unpack(a, a).P, TN_TYPE, "int32");
        REFUSED(tn_linalg_lu_solve(a, a, a), TN_TYPE, "int32");
    }
}
static void tensors_are_inverted_as_matrices(void) {
    TN_SCOPE {
        tn_tensor *a = tn_randn(TN_DIMS(2, 3, 6), .dtype = TN_F64), *x = tn_linalg_tensorinv(a),
                  *b = tn_randn(TN_DIMS(2, 3), .dtype = TN_F64), *y;
        CHECK(tn_ndim(x) == 3 && tn_size(x, 0) == 6 && tn_size(x, 2) == 3);
        x = tn_matmul(tn_reshape(a, TN_DIMS(6, 6)), tn_reshape(x, TN_DIMS(6, 6)));
        CHECK(largest(tn_sub(x, tn_eye(6, .dtype = TN_F64))) < 1e-10);
        y = tn_linalg_tensorsolve(tn_movedim(a, TN_DIMS(2), TN_DIMS(0)), b, .dims = TN_DIMS(0));
        x = tn_linalg_tensorsolve(a, b);
        CHECK(largest(tn_sub(x, y)) == 0);
        REFUSED(tn_linalg_tensorinv(a, .ind = 1), TN_INVALID, "but got 18 != 2");
        REFUSED(tn_linalg_tensorinv(a, .ind = 0), TN_INVALID, "strictly positive");
        REFUSED(tn_linalg_tensorsolve(a, tn_select(b, 0, 0)), TN_INVALID, "but got");
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(large_systems_are_solved_by_blocks),
        CHECK_TEST(hilbert_has_a_small_backward_error),
        CHECK_TEST(decompositions_of_large_and_hard_matrices_hold),
        CHECK_TEST(eigenvectors_of_large_and_hard_matrices_hold),
        CHECK_TEST(symmetric_systems_are_solved),
        CHECK_TEST(small_singular_values_keep_their_digits),
        CHECK_TEST(least_squares_of_any_rank),
        CHECK_TEST(exponentials_are_those_of_numbers),
        CHECK_TEST(singular_matrices_are_named),
        CHECK_TEST(pivots_are_checked),
        CHECK_TEST(tensors_are_inverted_as_matrices),
    };
    return CHECK_MAIN(tests, argc, argv);
}
