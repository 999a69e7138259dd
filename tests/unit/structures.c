/* structures.c - promises of tests/ops/elements.h: a structured tensor of a sample is what its name
 * says, in every batch and at every size. */
#include "../check.h"
#include "../ops/elements.h"

#include <complex.h>

enum { MOST = 9, BATCH = 3 };
typedef double complex number;
static number x[BATCH][MOST][MOST]; /* [batch][row][column] */

static void make(int structure, int kind, int64_t m, int64_t n) {
    const int64_t size[3] = {BATCH, m, n};
    elements e;
    memset(&e, 0, sizeof e);
    e.tensor = 1, e.kind = kind, e.structure = structure, e.ndim = 3, e.size = size;
    e.lo = -2, e.hi = 2;
    for (int64_t i = 0; i < BATCH * m * n; i++) {
        double v[2];
        elements_at(&e, i, BATCH * m * n, v);
        x[i / (m * n)][i / n % m][i % n] = v[0] + v[1] * I;
    }
}

/* The smallest and the largest pivot of Gaussian elimination with row pivots; a pivot of Cholesky's
 * is one without. */
static void pivots(number a[MOST][MOST], int64_t n, bool search, double *least, double *most) {
    number u[MOST][MOST];
    memcpy(u, a, sizeof u);
    *least = 1e300, *most = 0;
    for (int64_t j = 0; j < n; j++) {
        int64_t best = j;
        for (int64_t r = j; search && r < n; r++)
            if (cabs(u[r][j]) > cabs(u[best][j])) best = r;
        for (int64_t c = 0; c < n; c++) {
            const number v = u[j][c];
            u[j][c] = u[best][c];
            u[best][c] = v;
        }
        const double size = search ? cabs(u[j][j]) : creal(u[j][j]);
        *least = size < *least ? size : *least;
        *most = size > *most ? size : *most;
        for (int64_t r = j + 1; r < n; r++)
            for (int64_t c = n - 1; c >= j; c--) u[r][c] -= u[r][j] / u[j][j] * u[j][c];
    }
}

#define EACH                                                          \
    for (int kind = ELEMENTS_FLOAT; kind <= ELEMENTS_COMPLEX; kind++) \
        for (int64_t n = 1; n <= MOST; n++)                           \
            for (int64_t b = (make(structure, kind, n, n), 0); b < BATCH; b++)

static void hermitian_ones_are_and_have_positive_pivots(void) {
    for (int structure = ELEMENTS_pd; structure <= ELEMENTS_symmetric; structure++) EACH {
            bool same = true;
            double least, most;
            for (int64_t r = 0; r < n; r++)
                for (int64_t c = 0; c < n; c++) same = same && x[b][r][c] == conj(x[b][c][r]);
            CHECK(same);
            pivots(x[b], n, false, &least, &most);
            if (structure == ELEMENTS_pd) CHECK(least > 0.5 && most < 4.5);
        }
}
static void triangular_ones_have_zeros_and_a_diagonal(void) {
    for (int structure = ELEMENTS_lower; structure <= ELEMENTS_unitupper; structure++) {
        const bool upper = structure == ELEMENTS_upper || structure == ELEMENTS_unitupper,
                   unit = structure >= ELEMENTS_unitlower;
        EACH {
            bool right = true;
            int64_t full = 0;
            for (int64_t r = 0; r < n; r++)
                for (int64_t c = 0; c < n; c++) {
                    const double size = cabs(x[b][r][c]);
                    if (r == c)
                        right = right && (unit ? x[b][r][c] == 1 : size >= 1 && size < 2.3);
                    else if ((r < c) == upper)
                        full += size > 0;
                    else
                        right = right && size == 0;
                }
            CHECK(right && full >= n * (n - 1) / 2 - 1);
        }
    }
}
static void columns_are_orthonormal(void) {
    for (int kind = ELEMENTS_FLOAT; kind <= ELEMENTS_COMPLEX; kind++)
        for (int64_t m = 1; m <= MOST; m++)
            for (int64_t n = 1; n <= m; n++) {
                double off = 0;
                make(ELEMENTS_orthogonal, kind, m, n);
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = 0; j < n; j++) {
                        number sum = 0;
                        for (int64_t r = 0; r < m; r++) sum += conj(x[2][r][i]) * x[2][r][j];
                        off = fmax(off, cabs(sum - (i == j)));
                    }
                CHECK(off < 1e-14);
            }
}
static void invertible_ones_ask_for_pivots(void) {
    const int structure = ELEMENTS_invertible;
    EACH {
        double least, most;
        pivots(x[b], n, true, &least, &most);
        CHECK(least > 0.8 && most < 4);
        if (n > 1) CHECK(cabs(x[b][0][0]) < cabs(x[b][n - 1][0]));
    }
}
static void lines_are_permutations_distinct_or_sum_to_one(void) {
    for (int64_t n = 1; n <= MOST; n++) {
        const double numel = (double)(BATCH * n * n);
        double gap = 1e300;
        make(ELEMENTS_permutation, ELEMENTS_INT, n, n);
        for (int64_t b = 0; b < BATCH; b++)
            for (int64_t r = 0; r < n; r++) {
                unsigned each = 0;
                for (int64_t c = 0; c < n; c++) each |= 1u << (int)creal(x[b][r][c]);
                CHECK_EQ(each, (1u << n) - 1);
            }
        make(ELEMENTS_probabilities, ELEMENTS_FLOAT, n, n);
        for (int64_t b = 0; b < BATCH; b++)
            for (int64_t r = 0; r < n; r++) {
                double sum = 0, least = 1;
                for (int64_t c = 0; c < n; c++) {
                    sum += creal(x[b][r][c]);
                    least = fmin(least, creal(x[b][r][c]));
                }
                CHECK(fabs(sum - 1) < 1e-15 * (double)n && least > 0);
            }
        make(ELEMENTS_distinct, ELEMENTS_FLOAT, n, n);
        for (int64_t i = 0; i < BATCH * n * n; i++)
            for (int64_t k = 0; k < i; k++)
                gap = fmin(gap, fabs(creal(x[i / (n * n)][i / n % n][i % n] -
                                           x[k / (n * n)][k / n % n][k % n])));
        CHECK(gap >= 2 / numel);
    }
}
static void ascending_ones_end_with_the_largest(void) {
    const int64_t size[] = {BATCH, MOST};
    elements e;
    memset(&e, 0, sizeof e);
    e.kind = ELEMENTS_INT, e.structure = ELEMENTS_ascending, e.below = 9;
    e.ndim = 2, e.size = size;
    for (int64_t b = 0; b < BATCH; b++)
        for (int64_t i = 0, before = 0; i < MOST; i++) {
            double v[2];
            elements_at(&e, b * MOST + i, BATCH * MOST, v);
            CHECK(v[0] >= (double)before && v[0] == floor(v[0]) && (i < MOST - 1 || v[0] == 8));
            before = (int64_t)v[0];
        }
}
static void batches_differ(void) {
    for (int structure = ELEMENTS_pd; structure <= ELEMENTS_probabilities; structure++) {
        make(structure, ELEMENTS_FLOAT, 5, 5);
        CHECK(memcmp(x[0], x[1], sizeof x[0]) && memcmp(x[1], x[2], sizeof x[0]));
    }
}
static void so_many_are_true(void) {
    const int64_t size = 10000;
    elements e;
    int64_t count = 0;
    memset(&e, 0, sizeof e);
    e.ndim = 1, e.size = &size, e.below = 0.2;
    for (int64_t i = 0; i < size; i++) {
        double v[2];
        elements_at(&e, i, size, v);
        count += v[0] != 0;
    }
    CHECK(count > 1900 && count < 2100);
}
static void shapes_that_have_none_are_refused(void) {
    const int64_t size[] = {2, 3};
    CHECK(!elements_fit(ELEMENTS_pd, 2, size) && !elements_fit(ELEMENTS_pd, 1, size));
    CHECK(elements_fit(ELEMENTS_orthogonal, 2, size) && elements_fit(ELEMENTS_ANY, 0, size));
    CHECK(!elements_fit(ELEMENTS_permutation, 0, size));
    CHECK_EQ(elements_structure_named("pd"), ELEMENTS_pd);
    CHECK_EQ(elements_structure_named("p"), ELEMENTS_ANY);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(hermitian_ones_are_and_have_positive_pivots),
        CHECK_TEST(triangular_ones_have_zeros_and_a_diagonal),
        CHECK_TEST(columns_are_orthonormal),
        CHECK_TEST(invertible_ones_ask_for_pivots),
        CHECK_TEST(lines_are_permutations_distinct_or_sum_to_one),
        CHECK_TEST(ascending_ones_end_with_the_largest),
        CHECK_TEST(batches_differ),
        CHECK_TEST(so_many_are_true),
        CHECK_TEST(shapes_that_have_none_are_refused),
    };
    return CHECK_MAIN(tests, argc, argv);
}
