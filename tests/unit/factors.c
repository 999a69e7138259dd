/* factors.c - promises of src/ops/linalg beside those of the lanes: what is no factor is an error,
 * and nothing overflows on the way. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <math.h>

static tn_tensor *matrix(const double *v, int64_t batches, int64_t m, int64_t n) {
    return batches ? tn_from(v, TN_DIMS(batches, m, n), TN_F64) : tn_from(v, TN_DIMS(m, n), TN_F64);
}
static double largest(tn_tensor *t) { return tn_item(tn_amax(tn_abs(t), .dim = TN_EMPTY_DIMS)); }

static const double two[] = {4, 2, 2, 3, 1, 2, 2, 1}; /* the second is not positive definite */

static void the_matrix_and_its_minor_are_named(void) {
    TN_SCOPE {
        tn_tensor *x = matrix(two, 2, 2, 2), *out = tn_ones(TN_DIMS(2, 2, 2), .dtype = TN_F64);
        tn_L_info both = tn_linalg_cholesky_ex(x);
        CHECK(at(both.info, 0) == 0 && at(both.info, 1) == 2);
        REFUSED(tn_linalg_cholesky_ex(x, .check_errors = true).L, TN_LINALG,
                "(Batch element 1): The factorization could not be completed because the input is "
                "not positive-definite (the leading minor of order 2 is not positive-definite)");
        REFUSED(tn_linalg_cholesky(x, .out = out), TN_LINALG, "order 2");
        CHECK(at(out, 0) == 1 && tn_version(out) == 0);
        x = tn_select(x, 0, 1);
        REFUSED(tn_linalg_cholesky(x), TN_LINALG, "called by linalg_cholesky");
        x = tn_full(TN_DIMS(2, 2), NAN);
        REFUSED(tn_linalg_cholesky(x), TN_LINALG, "order 1");
    }
}
static void a_replay_finds_it_too(void) {
    TN_SCOPE {
        tn_tensor *x = matrix(two, 0, 2, 2), *l;
        CHECK(tn_record_begin());
        l = tn_linalg_cholesky(x);
        tn_recording *r = tn_record_end();
        CHECK(tn_replay(r) && at(l, 0) == 2 && at(l, 2) == 1);
        ((double *)tn_data(x))[3] = 1;
        REFUSED(tn_replay(r), TN_LINALG, "the leading minor of order 2");
        ((double *)tn_data(x))[3] = 10;
        CHECK(tn_replay(r) && at(l, 3) == 3);
        tn_recording_free(r);
    }
}
static void one_triangle_is_read(void) {
    static const double lower[] = {4, NAN, 2, 10}, upper[] = {4, 2, NAN, 10};
    TN_SCOPE {
        tn_tensor *l = tn_linalg_cholesky(matrix(lower, 0, 2, 2)),
                  *u = tn_linalg_cholesky(matrix(upper, 0, 2, 2), .upper = true);
        CHECK(at(l, 2) == 1 && at(l, 3) == 3 && at(l, 1) == 0);
        CHECK(at(u, 1) == 1 && at(u, 3) == 3 && at(u, 2) == 0);
        l = tn_linalg_solve_triangular(matrix(lower, 0, 2, 2),
                                       tn_ones(TN_DIMS(2, 1), .dtype = TN_F64), false);
        CHECK(at(l, 0) == 0.25 && at(l, 1) == 0.05);
    }
}
static void no_square_overflows(void) {
    static const double v[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
    for (double scale = 1e-300; scale < 1e301; scale *= 1e150)
        TN_SCOPE {
            tn_tensor *a = tn_mul_scalar(matrix(v, 0, 4, 3), scale);
            tn_Q_R f = tn_linalg_qr(a);
            tn_tensor *off = tn_sub(tn_matmul(f.Q, f.R), a), *q = tn_matmul(tn_t(f.Q), f.Q);
            CHECK(largest(off) < 1e-14 * scale);
            CHECK(largest(tn_sub(q, tn_eye(3, .dtype = TN_F64))) < 1e-15 * 4);
        }
}
static void modes_have_their_shapes(void) {
    static const double v[] = {3, 1, 4, 1, 5, 9};
    TN_SCOPE {
        tn_tensor *a = matrix(v, 0, 3, 2);
        tn_Q_R all = tn_linalg_qr(a, .mode = "complete"), r = tn_linalg_qr(a, .mode = "r"),
               f = tn_linalg_qr(a);
        CHECK(tn_size(all.Q, 1) == 3 && tn_size(all.R, 0) == 3 && tn_numel(r.Q) == 0);
        CHECK(at(r.R, 1) == at(f.R, 1) && at(all.R, 5) == 0 && at(all.Q, 4) == at(f.Q, 3));
        CHECK(fabs(tn_item(tn_sum(tn_square(tn_select(all.Q, 1, 2)))) - 1) < 1e-15);
        REFUSED(tn_linalg_qr(a, .mode = "full").Q, TN_INVALID, "unrecognized mode 'full'");
        tn_requires_grad(a);
        REFUSED(tn_linalg_qr(a, .mode = "r").R, TN_AUTOGRAD, "r computes no Q");
        REFUSED(tn_linalg_qr(a, .mode = "complete").R, TN_AUTOGRAD, "more rows than columns");
    }
}
static void what_does_not_fit_is_refused(void) {
    TN_SCOPE {
        tn_tensor *a = tn_ones(TN_DIMS(2, 3)), *s = tn_ones(TN_DIMS(2, 2));
        REFUSED(tn_linalg_cholesky(a), TN_INVALID,
                "must be batches of square matrices, but they are 2 by 3 matrices");
        REFUSED(tn_linalg_cholesky(tn_ones(TN_DIMS(2))), TN_INVALID,
                "must have at least 2 dimensions, got 1");
        REFUSED(tn_linalg_cholesky(tn_ones(TN_DIMS(2, 2), .dtype = TN_I64)), TN_TYPE, "is int64");
        REFUSED(tn_linalg_cholesky(tn_ones(TN_DIMS(2, 2), .dtype = TN_F16)), TN_TYPE, "is float16");
        REFUSED(tn_linalg_solve_triangular(s, tn_ones(TN_DIMS(3, 1)), true), TN_INVALID,
                "B has 3 rows, but self is 2 x 2");
        REFUSED(
            tn_linalg_solve_triangular(tn_ones(TN_DIMS(2, 2, 2)), tn_ones(TN_DIMS(3, 2, 1)), true),
            TN_INVALID, "cannot be broadcast");
        REFUSED(tn_linalg_solve_triangular(s, tn_ones(TN_DIMS(2, 1), .dtype = TN_F64), true),
                TN_TYPE, "self is float32, but B is float64");
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(the_matrix_and_its_minor_are_named),
        CHECK_TEST(a_replay_finds_it_too),
        CHECK_TEST(one_triangle_is_read),
        CHECK_TEST(no_square_overflows),
        CHECK_TEST(modes_have_their_shapes),
        CHECK_TEST(what_does_not_fit_is_refused),
    };
    return CHECK_MAIN(tests, argc, argv);
}
