/* gamma.c - lgamma and digamma beside models of 64 bits: the units that docs/numerics.md allows,
 * poles, infinities and NaN, the same bits by scalar code, and the slope of digamma. */
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../../src/tensor/tensor.h"
#include "../refused.h"

#include <float.h>
#include <math.h>

enum { POINTS = 4096 };

typedef tn_tensor *(*one)(tn_tensor *);
typedef long double (*model)(long double);

static tn_context *by_set[2]; /* scalar, and the best that there is */

static tn_tensor *log_gamma(tn_tensor *x) { return tn_lgamma(x); }
static tn_tensor *its_slope(tn_tensor *x) { return tn_digamma(x); }

/* psi by steps up to 40 and Stirling's series there; its next term is below 1e-20. */
static long double psi(long double x) {
    long double s = 0, z;
    if (x < 0) return psi(1 - x) - acosl(-1) / tanl(acosl(-1) * (x - roundl(x)));
    for (; x < 40; x++) s -= 1 / x;
    z = 1 / (x * x);
    return s + logl(x) - 1 / (2 * x) -
           z * (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z / 132))));
}
/* The farthest of f from m among points drawn from low..high, in units of the larger of |m| and
 * `least`. */
static double worst_of(one f, model m, tn_dtype dtype, double low, double high, double least) {
    static double v[POINTS], got[2][POINTS];
    double worst = 0;
    for (int set = 0; set < 2; set++) {
        tn_context_use(by_set[set]);
        TN_SCOPE {
            tn_tensor *x = tn_linspace(low, high, POINTS, .dtype = dtype), *y = f(x);
            CHECK(y && tn_read_f64(x, v, POINTS) && tn_read_f64(y, got[set], POINTS));
            for (int i = 0; i < POINTS; i++) {
                const long double due = m((long double)v[i]);
                const double unit = dtype == TN_F32 ? FLT_EPSILON : DBL_EPSILON;
                const double size = fabsl(due) > least ? (double)fabsl(due) : least;
                const double off = (double)fabsl((long double)got[set][i] - due);
                if (!(off / size / unit <= worst)) worst = off / size / unit;
            }
        }
        tn_context_use(NULL);
    }
    CHECK(memcmp(got[0], got[1], sizeof got[0]) == 0);
    return worst;
}
static void values_are_within_their_units(void) {
    const bool wide = LDBL_MANT_DIG > DBL_MANT_DIG; /* else C has no better f64 than ours */
    for (int k = 0; k < (wide ? 2 : 1); k++) {
        const tn_dtype d = k ? TN_F64 : TN_F32;
        const double near = worst_of(log_gamma, lgammal, d, 1e-3, 3, 0),
                     up = worst_of(log_gamma, lgammal, d, 2.5, 70, 0),
                     far = worst_of(log_gamma, lgammal, d, 1e10, 1e30, 0),
                     under = worst_of(log_gamma, lgammal, d, -19.9375, -0.0625, 1),
                     slope = worst_of(its_slope, psi, d, 2, 70, 0),
                     low = worst_of(its_slope, psi, d, 1e-3, 2, 1);
        printf("    lgamma %.3f %.3f %.3f, below 0 %.3f; digamma %.3f, below 2 %.3f\n", near, up,
               far, under, slope, low);
        CHECK(near <= 0.55 && up <= 0.55 && far <= 0.55 && under <= 0.55);
        CHECK(slope <= 2 && low <= 2);
    }
}
static double of(one f, double x) {
    double y = 0;
    TN_SCOPE
        y = at(f(tn_full(TN_DIMS(1), x, .dtype = TN_F64)), 0);
    return y;
}
static void poles_infinities_and_nan(void) {
    const double inf = HUGE_VAL, poles[] = {0, -0.0, -1, -2, -1e300, HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 7; i++) CHECK(of(log_gamma, poles[i]) == inf);
    CHECK(isnan(of(log_gamma, NAN)) && isnan(of(its_slope, NAN)));
    CHECK(of(log_gamma, 1) == 0 && !signbit(of(log_gamma, 1)) && of(log_gamma, 2) == 0);
    CHECK(of(log_gamma, 3e305) == inf && of(log_gamma, 2.5e305) < inf);
    CHECK(fabs(of(log_gamma, -5e-324) - 744.44007192138122) < 1e-12);
    CHECK(of(its_slope, 0) == -inf && of(its_slope, -0.0) == inf && of(its_slope, inf) == inf);
    CHECK(isnan(of(its_slope, -3)) && of(its_slope, ldexp(1, -100)) == -ldexp(1, 100));
}
/* psi'(1) = pi^2 / 6, psi'(-1/2) = pi^2 / 2 + 4 */
static void the_slope_of_digamma_is_known(void) {
    const double x[] = {1, -0.5}, due[] = {1.6449340668482264, 8.934802200544679};
    for (int i = 0; i < 2; i++)
        TN_SCOPE {
            tn_tensor *t = tn_requires_grad(tn_full(TN_DIMS(1), x[i], .dtype = TN_F64));
            CHECK(tn_backward(tn_sum(tn_digamma(t))));
            CHECK(fabs(at(tn_grad_of(t), 0) - due[i]) < 1e-13);
        }
}

static const check_test tests[] = {CHECK_TEST(values_are_within_their_units),
                                   CHECK_TEST(poles_infinities_and_nan),
                                   CHECK_TEST(the_slope_of_digamma_is_known)};

int main(int argc, char **argv) {
    tn_context_options o;
    int status;
    memset(&o, 0, sizeof o);
    by_set[1] = tn_context_new(&o);
    o.isa = "scalar";
    by_set[0] = tn_context_new(&o);
    status = CHECK_MAIN(tests, argc, argv);
    tn_context_free(by_set[0]);
    tn_context_free(by_set[1]);
    return status;
}
