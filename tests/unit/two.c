/* two.c - the functions of two real numbers beside C's: atan2 and hypot within the units that
 * docs/numerics.md allows, all of their cases with zeros, infinities and NaN, overflow and
 * underflow on the way; nextafter, copysign and signbit to the bit, f16 and bf16 in their own
 * steps. */
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../../src/tensor/tensor.h"
#include "../refused.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { PAIRS = 4096 };

typedef tn_tensor *(*two)(tn_tensor *, tn_tensor *);
typedef long double (*model)(long double, long double);

static tn_context *by_set[2]; /* scalar, and the best that there is */

static uint64_t state = 1;
static double drawn(void) { /* 0..1 */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static tn_tensor *column(const double *v, int n, tn_dtype dtype) {
    tn_tensor *t = tn_empty(TN_DIMS(n), .dtype = dtype);
    for (int i = 0; i < n; i++)
        tni_element_set((char *)tn_data(t) + i * tni_dtype_size(t), (int)dtype, tn_float(v[i]));
    return t;
}
static double element(const tn_tensor *t, int i) {
    return tni_element((const char *)tn_data(t) + i * tni_dtype_size(t), t->dtype).real;
}
/* Rounds x and y to the dtype, and gives f of both by instruction set `set`. */
static void values_of(two f, double *x, double *y, int n, tn_dtype dtype, int set, double *to) {
    tn_context_use(by_set[set]);
    TN_SCOPE {
        tn_tensor *a = column(x, n, dtype), *b = column(y, n, dtype), *r = f(a, b);
        CHECK(r && tn_dtype_of(r) == dtype);
        for (int i = 0; i < n; i++)
            x[i] = element(a, i), y[i] = element(b, i), to[i] = r ? element(r, i) : -1;
    }
    tn_context_use(NULL);
}

/* --- how far from the value ------------------------------------------------------------------- */

/* Sizes of all kinds: near 1, far apart, to both ends of the range; one in 8 on a diagonal. */
static void draw(double *x, double *y, tn_dtype dtype) {
    const int most = dtype == TN_F32 ? 127 : 1023, least = dtype == TN_F32 ? -148 : -1073;
    for (int i = 0; i < PAIRS; i++) {
        const int all = most - least, a = least + (int)(drawn() * all),
                  near = (int)(drawn() * 60) - 30,
                  b = i & 1 ? a + near : least + (int)(drawn() * all);
        x[i] = ldexp((1 + drawn()) * (i & 2 ? -1 : 1), i & 4 ? a : (int)(drawn() * 4) - 2);
        y[i] = ldexp((1 + drawn()) * (i & 8 ? -1 : 1), i & 4 ? b : (int)(drawn() * 4) - 2);
        if (fabs(x[i]) > (dtype == TN_F32 ? (double)FLT_MAX : DBL_MAX)) x[i] = 1;
        if (fabs(y[i]) > (dtype == TN_F32 ? (double)FLT_MAX : DBL_MAX)) y[i] = 1;
        if (i % 8 == 7) y[i] = x[i] * (1 + ldexp(drawn() - 0.5, -(int)(drawn() * 24)));
    }
}
/* |is - due| in units of the last place of due. */
static double units(double is, long double due, tn_dtype dtype) {
    const int digits = dtype == TN_F32 ? FLT_MANT_DIG : DBL_MANT_DIG,
              least = dtype == TN_F32 ? FLT_MIN_EXP : DBL_MIN_EXP;
    int e;
    if ((double)due == is || (dtype == TN_F32 && (double)(float)due == is)) return 0;
    frexpl(due, &e);
    if (e < least) e = least;
    return (double)fabsl(((long double)is - due) / ldexpl(1, e - digits));
}
static double worst_of(two f, model m, tn_dtype dtype, int rounds) {
    static double x[PAIRS], y[PAIRS], got[2][PAIRS];
    double worst = 0;
    for (int r = 0; r < rounds; r++) {
        draw(x, y, dtype);
        for (int set = 0; set < 2; set++) values_of(f, x, y, PAIRS, dtype, set, got[set]);
        CHECK(memcmp(got[0], got[1], sizeof got[0]) == 0);
        for (int i = 0; i < PAIRS; i++) {
            const double u = units(got[0][i], m(x[i], y[i]), dtype);
            if (!(u <= worst)) worst = u;
        }
    }
    return worst;
}
static tn_tensor *angle(tn_tensor *a, tn_tensor *b) { return tn_atan2(a, b); }
static tn_tensor *distance(tn_tensor *a, tn_tensor *b) { return tn_hypot(a, b); }
static tn_tensor *both(tn_tensor *a, tn_tensor *b) { return tn_logaddexp(a, b); }
static tn_tensor *next(tn_tensor *a, tn_tensor *b) { return tn_nextafter(a, b); }
static tn_tensor *signed_as(tn_tensor *a, tn_tensor *b) { return tn_copysign(a, b); }

static void angles_and_distances_are_within_a_unit(void) {
    const int rounds = getenv("TN_FULL") ? 2000 : getenv("TN_QUICK") ? 5 : 50;
    const bool wide = LDBL_MANT_DIG > DBL_MANT_DIG; /* else C has no better f64 than ours */
    const double a32 = worst_of(angle, atan2l, TN_F32, rounds),
                 h32 = worst_of(distance, hypotl, TN_F32, rounds),
                 a64 = wide ? worst_of(angle, atan2l, TN_F64, rounds) : 0,
                 h64 = wide ? worst_of(distance, hypotl, TN_F64, rounds) : 0;
    printf("    atan2 %.3f units in f32, %.3f in f64; hypot %.3f, %.3f\n", a32, a64, h32, h64);
    CHECK(a32 <= 1 && a64 <= 1.1);
    CHECK(h32 <= 0.76 && h64 <= 0.76); /* half a unit; denormal ones are rounded twice */
}

/* Units of the result or, near 0, where digits cancel, of 1. */
static void sums_of_exponentials_are_within_a_unit(void) {
    enum { N = 4096 };
    static double x[N], y[N], got[2][N];
    for (int wide = 0; wide < 2; wide++) {
        const tn_dtype dtype = wide ? TN_F64 : TN_F32;
        double worst = 0;
        for (int i = 0; i < N; i++)
            x[i] = (drawn() - 0.5) * (i & 1 ? 4 : 1500), y[i] = x[i] + (drawn() - 0.5) * 60;
        for (int set = 0; set < 2; set++) values_of(both, x, y, N, dtype, set, got[set]);
        CHECK(memcmp(got[0], got[1], sizeof got[0]) == 0);
        for (int i = 0; i < N; i++) {
            const long double top = fmaxl(x[i], y[i]), gap = fabsl((long double)x[i] - y[i]),
                              due = top + log1pl(expl(-gap)), size = fmaxl(fabsl(due), 1);
            const double off = (double)fabsl((got[0][i] - due) / size) * (wide ? 0x1p52 : 0x1p23);
            if (!(off <= worst)) worst = off;
        }
        printf("    logaddexp %.3f units in %s\n", worst, wide ? "f64" : "f32");
        CHECK(worst <= 1);
    }
}

/* --- zeros, infinities, NaN, the ends of the range -------------------------------------------- */

enum { HALF = 12, SPECIALS = 2 * HALF, ALL = SPECIALS * SPECIALS };
static const tn_dtype floats[] = {TN_F32, TN_F64, TN_F16, TN_BF16};

/* All pairs of what is special in dtype. */
static void special_pairs(tn_dtype dtype, double *x, double *y) {
    const double most[] = {FLT_MAX, DBL_MAX, 65504, ldexp(255, 120)},
                 normal[] = {FLT_MIN, DBL_MIN, ldexp(1, -14), FLT_MIN},
                 least[] = {ldexp(1, -149), ldexp(1, -1074), ldexp(1, -24), ldexp(1, -133)};
    int d = 0;
    while (floats[d] != dtype) d++;
    const double half[HALF] = {0,
                               HUGE_VAL,
                               NAN,
                               1,
                               2,
                               0.75,
                               most[d],
                               most[d] / 2,
                               normal[d],
                               2 * normal[d],
                               normal[d] - least[d],
                               least[d]};
    for (int i = 0; i < ALL; i++) {
        const int a = i / SPECIALS, b = i % SPECIALS;
        x[i] = a & 1 ? -half[a / 2] : half[a / 2];
        y[i] = b & 1 ? -half[b / 2] : half[b / 2];
    }
}
static bool same(double a, double b) {
    return (a != a && b != b) || (a == b && !signbit(a) == !signbit(b));
}

static void specials_are_those_of_c(void) {
    static double x[ALL], y[ALL], got[ALL];
    for (int k = 0; k < 8; k++) {
        const tn_dtype dtype = floats[k & 1];
        int wrong = 0;
        const model m = k & 2 ? hypotl : atan2l;
        special_pairs(dtype, x, y);
        values_of(k & 2 ? distance : angle, x, y, ALL, dtype, k >> 2, got);
        for (int i = 0; i < ALL; i++) {
            const long double due = m(x[i], y[i]);
            const double narrow = dtype == TN_F32 ? (double)(float)due : (double)due;
            const bool holds = isfinite(narrow) && narrow != 0 ? units(got[i], due, dtype) <= 1.1
                                                               : same(got[i], narrow);
            wrong += !holds;
            if (!holds && wrong < 9)
                printf("    %d: (%g, %g) gives %g, not %g\n", k, x[i], y[i], got[i], narrow);
        }
        CHECK_EQ(wrong, 0);
    }
}
static void a_sign_is_taken_from_zeros_and_nan(void) {
    static double x[ALL], y[ALL], got[ALL];
    for (int k = 0; k < 8; k++) {
        const tn_dtype dtype = floats[k & 3];
        special_pairs(dtype, x, y);
        values_of(signed_as, x, y, ALL, dtype, k >> 2, got);
        for (int i = 0; i < ALL; i++)
            CHECK(isnan(y[i]) ||
                  same(got[i], copysign(x[i], y[i]))); /* a NaN's sign got lost in y */
        tn_context_use(by_set[k >> 2]);
        TN_SCOPE {
            tn_tensor *t = tn_full(TN_DIMS(2), 2, .dtype = dtype), *r;
            memset(tn_data(t), 0xff, (size_t)tni_dtype_size(t)); /* NaN with a minus */
            CHECK(at(tn_signbit(t), 0) == 1 && at(tn_signbit(t), 1) == 0);
            r = tn_copysign(tn_ones_like(t), t);
            CHECK(at(r, 0) == -1 && at(r, 1) == 1);
            CHECK(at(tn_signbit(tn_neg(tn_zeros_like(t))), 0) == 1);
            CHECK(at(tn_signbit(tn_full(TN_DIMS(1), -3, .dtype = TN_I8)), 0) == 1);
            CHECK(at(tn_copysign_scalar(t, -0.0), 1) == -2);
        }
        tn_context_use(NULL);
    }
}

/* --- the next number -------------------------------------------------------------------------- */

static double values16[0x10000];
static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
/* The numbers of a 16-bit dtype in order, zero twice; returns how many. */
static int numbers_of(tn_dtype dtype) {
    int n = 0;
    for (uint32_t k = 0; k < 0x10000; k++) {
        const uint16_t bits = (uint16_t)k;
        const double v = tni_element((const char *)&bits, (int)dtype).real;
        if (!isnan(v)) values16[n++] = v;
    }
    qsort(values16, (size_t)n, sizeof *values16, compare);
    return n;
}
static double next16(double x, double y, int n) {
    int i = 0;
    if (isnan(x) || isnan(y) || x == y) return x == y ? y : NAN;
    if (x < y)
        while (values16[i] <= x) i++;
    else
        for (i = n - 1; values16[i] >= x;) i--;
    return values16[i] == 0 ? copysign(0, x) : values16[i];
}
static void the_next_number_is_that_of_the_dtype(void) {
    static double x[ALL], y[ALL], got[ALL];
    for (int k = 0; k < 8; k++) {
        const tn_dtype dtype = floats[k & 3];
        int wrong = 0;
        const int n = k & 2 ? numbers_of(dtype) : 0;
        special_pairs(dtype, x, y);
        values_of(next, x, y, ALL, dtype, k >> 2, got);
        for (int i = 0; i < ALL; i++) {
            const double due = dtype == TN_F64   ? nextafter(x[i], y[i])
                               : dtype == TN_F32 ? (double)nextafterf((float)x[i], (float)y[i])
                                                 : next16(x[i], y[i], n);
            wrong += !same(got[i], due);
            if (!same(got[i], due) && wrong < 9)
                printf("    %s: after %g to %g comes %g, not %g\n", tn_dtype_name(dtype), x[i],
                       y[i], got[i], due);
        }
        CHECK_EQ(wrong, 0);
    }
}
static void steps_are_right_for_numbers_of_any_size(void) {
    static double x[PAIRS], y[PAIRS], got[PAIRS];
    for (int k = 0; k < 4; k++) {
        const tn_dtype dtype = floats[k & 1];
        int wrong = 0;
        draw(x, y, dtype);
        values_of(next, x, y, PAIRS, dtype, k >> 1, got);
        for (int i = 0; i < PAIRS; i++)
            wrong += !same(got[i], dtype == TN_F64 ? nextafter(x[i], y[i])
                                                   : (double)nextafterf((float)x[i], (float)y[i]));
        CHECK_EQ(wrong, 0);
    }
}

/* --- dtypes ----------------------------------------------------------------------------------- */

/* In the dtype that both promote to; out and in place; what is refused. */
static void dtypes_are_torchs(void) {
    TN_SCOPE {
        tn_tensor *i = tn_ones(TN_DIMS(3), .dtype = TN_I64),
                  *h = tn_ones(TN_DIMS(3), .dtype = TN_F16),
                  *b = tn_ones(TN_DIMS(3), .dtype = TN_BOOL),
                  *d = tn_ones(TN_DIMS(3), .dtype = TN_F64),
                  *c = tn_ones(TN_DIMS(3), .dtype = TN_C64), *t;
        CHECK(tn_dtype_of(tn_atan2(i, b)) == TN_F32 && tn_dtype_of(tn_copysign(b, i)) == TN_F32);
        CHECK(tn_dtype_of(tn_hypot(h, i)) == TN_F16 && tn_dtype_of(tn_nextafter(i, h)) == TN_F16);
        CHECK(tn_dtype_of(tn_nextafter(h, d)) == TN_F64 && tn_dtype_of(tn_signbit(b)) == TN_BOOL);
        t = tn_nextafter(h, tn_full(TN_DIMS(3), 2, .dtype = TN_I64));
        CHECK(at(t, 2) == 1 + ldexp(1, -10));
        CHECK(tn_nextafter_(h, t) == h && at(h, 0) == 1 + ldexp(1, -10));
        CHECK(tn_nextafter(t, i, .out = d) == d && at(d, 1) == 1); /* steps of f16, kept in f64 */
        REFUSED(tn_hypot(i, b), TN_TYPE, "the operator is not defined for int64");
        REFUSED(tn_nextafter(b, b), TN_TYPE, "the operator is not defined for bool");
        REFUSED(tn_atan2(c, h), TN_TYPE, "the operator is not defined for complex64");
        REFUSED(tn_signbit(c), TN_TYPE, "the operator is not defined for complex64");
        REFUSED(tn_copysign_(i, i), TN_TYPE, "");
    }
}

/* --- gradients where a derivative has a choice ------------------------------------------------ */

static double grad_at(two f, double x, double y, int of) {
    double g = 0;
    TN_SCOPE {
        tn_tensor *v[] = {column(&x, 1, TN_F64), column(&y, 1, TN_F64)};
        tn_requires_grad(v[0]), tn_requires_grad(v[1]);
        CHECK(tn_backward(tn_sum(f(v[0], v[1]))));
        g = at(tn_grad_of(v[of]), 0);
    }
    return g;
}
static void gradients_at_zero_and_far_out(void) {
    CHECK(grad_at(angle, 0, 0, 0) == 0 && grad_at(angle, -0.0, 0, 1) == 0);
    CHECK(grad_at(angle, 0, -2, 0) == -0.5 && grad_at(angle, 4, 0, 1) == -0.25);
    CHECK(fabs(grad_at(angle, 3e200, 4e200, 0) / 1.6e-201 - 1) <
          1e-15); /* their squares are infinite */
    CHECK(fabs(grad_at(angle, 3e-200, 4e-200, 1) / -1.2e199 - 1) < 1e-15);
    CHECK(isnan(grad_at(distance, 0, 0, 0)) && grad_at(distance, 0, -2, 1) == -1);
    CHECK(fabs(grad_at(distance, 3e-200, 4e-200, 0) - 0.6) < 1e-15);
    CHECK(grad_at(signed_as, 0, -1, 0) == 0 && grad_at(signed_as, -2, -0.0, 0) == 1);
    CHECK(grad_at(signed_as, 3, -1, 0) == -1 && grad_at(signed_as, 3, -1, 1) == 0);
    CHECK(grad_at(signed_as, HUGE_VAL, -1, 0) == -1);
    CHECK(grad_at(next, 3, -1, 0) == 1 && grad_at(next, 3, -1, 1) == 0);
    CHECK(grad_at(next, 3, 3, 0) == 0 && grad_at(next, 3, 3, 1) == 0);
}

static const check_test tests[] = {CHECK_TEST(angles_and_distances_are_within_a_unit),
                                   CHECK_TEST(sums_of_exponentials_are_within_a_unit),
                                   CHECK_TEST(specials_are_those_of_c),
                                   CHECK_TEST(a_sign_is_taken_from_zeros_and_nan),
                                   CHECK_TEST(the_next_number_is_that_of_the_dtype),
                                   CHECK_TEST(steps_are_right_for_numbers_of_any_size),
                                   CHECK_TEST(dtypes_are_torchs),
                                   CHECK_TEST(gradients_at_zero_and_far_out)};

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
