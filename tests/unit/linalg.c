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
static void singular_matrices_are_named(void) {
    static const double v[] = {1, 0, 0, 1, 1, 1, 1, 1};
    TN_SCOPE {
        tn_tensor *a = tn_from(v, TN_DIMS(2, 2, 2), TN_F64), *one = tn_select(a, 0, 1),
                  *b = tn_ones(TN_DIMS(2, 1), .dtype = TN_F64);
        REFUSED(tn_linalg_inv(a), TN_LINALG,
                "batch element (1): The diagonal element 2 is zero, the inversion");
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
        REFUSED(tn_lu_unpack(a, p).P, TN_INVALID, "LU_pivots has 3");
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
        CHECK_TEST(singular_matrices_are_named),
        CHECK_TEST(pivots_are_checked),
        CHECK_TEST(tensors_are_inverted_as_matrices),
    };
    return CHECK_MAIN(tests, argc, argv);
}
