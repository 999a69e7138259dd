/* accuracy.c - special functions beside mpmath's values of 300 bits (tests/oracle/accuracy.py): the
 * largest error of each row in units of the value, or of the modulus where it oscillates, is within
 * its bound in f64. The figures are printed. */
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../refused.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct point {
    const char *row;
    double x, y, h, l, size;
} point;
static const point points[] = {
#define POINT(row, x, y, h, l, size) {#row, x, y, h, l, size},
#include "data/accuracy.inc"
#undef POINT
};
enum { POINTS = sizeof points / sizeof *points };

/* The largest error that a row may have, in units. */
static const struct bound {
    const char *row;
    double units;
} bounds[] = {
    {"erfinv", 0.55},
    {"lgamma", 0.55},
    {"special_ndtr", 4},
    {"special_ndtri", 4},
    {"special_modified_bessel_k0", 4},
    {"special_scaled_modified_bessel_k0", 4},
    {"igamma", 4},
    {"igammac", 4},
    {"special_chebyshev_polynomial_w", 4},
    {"special_laguerre_polynomial_l", 20},
    {"special_legendre_polynomial_p", 8},
};

static double bound_of(const char *row) {
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (strcmp(bounds[i].row, row) == 0) return bounds[i].units;
    return 2;
}

/* The row's value at p in f64. */
static double value_at(const tn_row *row, const point *p) {
    tn_value v[2];
    tn_tensor *out[1] = {NULL};
    int count = 0;
    double y = NAN;
    memset(v, 0, sizeof v);
    TN_SCOPE {
        for (int i = 0; i < row->gen->nparam && i < 2; i++) {
            v[i].name = row->gen->param[i].name;
            v[i].type = TN_T_TENSOR;
            v[i].as.tensor = tn_full(TN_DIMS(1), i ? p->y : p->x, .dtype = TN_F64);
        }
        if (tn_call_row(__FILE__, __LINE__, row, TN_PLAIN, v, row->gen->nparam, out, 1, &count))
            y = at(out[0], 0);
    }
    return y;
}

static void rows_are_within_their_units_of_exact_values(void) {
    for (int from = 0, to; from < POINTS; from = to) {
        const char *name = points[from].row;
        const tn_row *row = tn_row_named(name);
        double most = 0, sum = 0;
        int worst = from;
        CHECK(row != NULL);
        for (to = from; row && to < POINTS && strcmp(points[to].row, name) == 0; to++) {
            const point *p = &points[to];
            const double off = fabs((value_at(row, p) - p->h) - p->l) / p->size / DBL_EPSILON;
            sum += off;
            if (!(off <= most)) {
                most = off;
                worst = to;
            }
        }
        if (!row) return;
        printf("    %-36s %5.2f units, mean %.2f, at %g %g\n", name, most, sum / (to - from),
               points[worst].x, points[worst].y);
        CHECK(most <= bound_of(name));
    }
}

static const check_test tests[] = {CHECK_TEST(rows_are_within_their_units_of_exact_values)};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
