/* complex.c - elementary functions of complex numbers where a careless formula fails: on both
 * sides of branch cuts, beside zeros, far out. Wanted are values of 300 bits, rounded (mpmath); a
 * zero's sign chooses the side of a cut, as in C99, Annex G. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>

typedef struct value {
    const char *name;
    double z[2], want[2];
} value;

static const value values[] = {
    {"tan", {0.5, 20.0}, {7.149733678026063e-18, 1.0}},
    {"tan", {1.5703125, 1e-09}, {2066.8551897377743, 0.00427189137536422}},
    {"tan", {-3.0, -0.25}, {0.13383274251519148, -0.24959107241921713}},
    {"sinh", {1e-09, 3.0}, {-9.899924966004454e-10, 0.1411200080598672}},
    {"sinh", {30.0, -2.0}, {-2223571295471.4263, -4858591919409.123}},
    {"cosh", {1e-09, 1.5703125}, {0.0004838267760202487, 9.999998829558186e-10}},
    {"cosh", {-30.0, 2.0}, {-2223571295471.4263, -4858591919409.123}},
    {"asin", {2.0, 0.0}, {1.5707963267948966, 1.3169578969248168}},
    {"asin", {2.0, -0.0}, {1.5707963267948966, -1.3169578969248168}},
    {"asin", {-3.0, 0.0}, {-1.5707963267948966, 1.762747174039086}},
    {"asin",
     {1.0000000000009095, 9.094947017729282e-13},
     {1.5707957130155874, 1.4817943325328525e-06}},
    {"asin", {1e-09, -1e-09}, {1e-09, -1e-09}},
    {"asin", {1000000000000000.0, -1000000000000.0}, {1.5697963271282298, -35.23192407547038}},
    {"acos", {2.0, 0.0}, {0.0, -1.3169578969248168}},
    {"acos", {2.0, -0.0}, {0.0, 1.3169578969248168}},
    {"acos", {-3.0, -0.0}, {3.141592653589793, 1.762747174039086}},
    {"acos",
     {0.9999999999990905, 9.313225746154785e-10},
     {3.053248292003021e-05, -3.0502680605932175e-05}},
    {"acos", {1e-09, 5.0}, {1.5707963265987805, -2.3124383412727525}},
    {"acos", {-1000000000000000.0, 1000000000000.0}, {3.1405926539231266, -35.23192407547038}},
    {"atan", {0.0, 2.0}, {1.5707963267948966, 0.5493061443340549}},
    {"atan", {-0.0, 2.0}, {-1.5707963267948966, 0.5493061443340549}},
    {"atan", {0.0, -3.0}, {1.5707963267948966, -0.34657359027997264}},
    {"atan", {9.313225746154785e-10, 1.0000000000009095}, {0.7858864447250586, 10.743781060260915}},
    {"atan", {1e-09, 1e-09}, {1e-09, 1e-09}},
    {"atan", {1e+200, -1e+199}, {1.5707963267948966, 0.0}},
    {"expm1", {1e-09, 1e-09}, {1e-09, 1.000000001e-09}},
    {"expm1", {1e-09, 6.283185307179586}, {1.0000000005000001e-09, -2.4492936007439997e-16}},
    {"expm1", {-50.0, 1.0}, {-1.0, 1.6229870340142786e-22}},
    {"log1p", {1e-09, 1e-09}, {1e-09, 9.999999990000001e-10}},
    {"log1p", {-2.0, 0.0}, {0.0, 3.141592653589793}},
    {"log1p", {-2.0, -0.0}, {0.0, -3.141592653589793}},
    {"log1p",
     {-0.9999999990686774, 9.094947017729282e-13},
     {-20.794414939961428, 0.0009765621895593195}},
    {"log1p", {1e+20, 3.0}, {46.051701859880914, 3e-20}},
    {"log",
     {1.0000000000009095, 9.094947017729282e-13},
     {9.094947017729282e-13, 9.094947017721011e-13}},
    {"log", {-1.0, -0.0}, {0.0, -3.141592653589793}},
    {"log", {0.6, 0.8}, {2.2204460492503132e-17, 0.9272952180016123}},
    {"log2",
     {0.9999999999990905, 9.094947017729282e-13},
     {-1.3121234959625903e-12, 1.3121234959637836e-12}},
    {"log2", {8.0, 0.0}, {3.0, 0.0}},
    {"log10", {1.0, 9.094947017729282e-13}, {1.7961998778456582e-25, 3.949885303002264e-13}},
    {"log10", {-1e+300, 1e+290}, {300.0, 1.364376353798412}},
    {"sigmoid", {-60.0, 1.0}, {4.7311629564441126e-27, 7.368349734967186e-27}},
    {"sigmoid", {60.0, -1.0}, {1.0, -7.368349734967186e-27}},
    {"silu", {-60.0, 1.0}, {-2.9123812712161394e-25, -4.37369821141587e-25}},
    {"silu", {700.0, 2.0}, {700.0, 2.0}},
    {"abs", {3e+300, 4e+300}, {5e+300, 0.0}},
    {"abs", {3e-300, -4e-300}, {5e-300, 0.0}},
    {"sgn", {3e+300, 4e+300}, {0.6, 0.8}},
    {"sgn", {0.0, 0.0}, {0.0, 0.0}},
    {"softsign", {-3.0, 4.0}, {-0.5, 0.6666666666666666}},
    {"softsign", {0.0, 0.0}, {0.0, 0.0}},
};
enum { VALUES = (int)(sizeof values / sizeof *values) };

static bool called(const char *name, tn_dtype dtype, const double *z, double *result) {
    tn_tensor *x, *out[1] = {NULL};
    tn_value argument;
    int n = 0;
    memset(&argument, 0, sizeof argument);
    x = tn_to_dtype(tn_view_as_complex(tn_from_f64(z, TN_DIMS(1, 2))), dtype);
    argument.type = TN_T_TENSOR;
    argument.as.tensor = x;
    if (!tn_call_named(__FILE__, __LINE__, name, &argument, 1, out, 1, &n) || n != 1) return false;
    x = tn_view_as_real(tn_to_dtype(out[0], TN_C128));
    return tn_read_f64(x, result, 2);
}

/* |has - want| <= 4 units of |want|. */
static bool near(const double *has, const double *want, double unit) {
    const double size = hypot(want[0], want[1]),
                 off = hypot(has[0] / 2 - want[0] / 2, has[1] / 2 - want[1] / 2);
    return off <= 2 * unit * size;
}

static void values_are_right_to_four_units(void) {
    for (int i = 0; i < VALUES; i++) {
        double has[2] = {NAN, NAN};
        TN_SCOPE {
            if (!CHECK(called(values[i].name, TN_C128, values[i].z, has) &&
                       near(has, values[i].want, 0x1p-52)))
                printf("    %s(%g, %g) is (%.17g, %.17g)\n", values[i].name, values[i].z[0],
                       values[i].z[1], has[0], has[1]);
        }
    }
}

/* gcc 12 takes (double)(float)x of two neighbours for x */
static double rounded(double x) {
    volatile float narrow = (float)x;
    return (double)narrow;
}

static void complex64_agrees_with_complex128(void) {
    for (int i = 0; i < VALUES; i++) {
        double has[2] = {NAN, NAN}, want[2] = {NAN, NAN}, z[2];
        z[0] = rounded(values[i].z[0]), z[1] = rounded(values[i].z[1]);
        if (!(fabs(z[0]) < 1e18) || !(hypot(values[i].want[0], values[i].want[1]) > 1e-25))
            continue;
        TN_SCOPE {
            if (!CHECK(called(values[i].name, TN_C128, z, want) &&
                       called(values[i].name, TN_C64, z, has) && near(has, want, 0x1p-23)))
                printf("    %s(%g, %g) is (%.9g, %.9g), not (%.9g, %.9g)\n", values[i].name, z[0],
                       z[1], has[0], has[1], want[0], want[1]);
        }
    }
}

static void infinities_have_angles(void) {
    static const value far[] = {
        {"asin", {1, HUGE_VAL}, {0, HUGE_VAL}},
        {"asin", {HUGE_VAL, -2}, {1.5707963267948966, -HUGE_VAL}},
        {"acos", {-HUGE_VAL, HUGE_VAL}, {2.3561944901923448, -HUGE_VAL}},
        {"atan", {-HUGE_VAL, 3}, {-1.5707963267948966, 0}},
        {"sinh", {1e5, 0}, {HUGE_VAL, 0}},
        {"cosh", {-1e5, 0}, {HUGE_VAL, 0}},
        {"abs", {NAN, -HUGE_VAL}, {HUGE_VAL, 0}},
    };
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        double has[2] = {NAN, NAN};
        TN_SCOPE {
            if (!CHECK(called(far[i].name, TN_C128, far[i].z, has) && has[0] == far[i].want[0] &&
                       has[1] == far[i].want[1]))
                printf("    %s(%g, %g) is (%.17g, %.17g)\n", far[i].name, far[i].z[0], far[i].z[1],
                       has[0], has[1]);
        }
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {CHECK_TEST(values_are_right_to_four_units),
                                       CHECK_TEST(complex64_agrees_with_complex128),
                                       CHECK_TEST(infinities_have_angles)};
    return CHECK_MAIN(tests, argc, argv);
}
