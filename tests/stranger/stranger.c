/* stranger.c - the three operators that a stranger added, in every form that follows from their
 * rows. Values are computed here with the C library alone. C99; as C++ the overloads are called. */
#include "tensor.h"
#include "../check.h"

#include <math.h>

enum { N = 6, ROOM = 64 };

static double element(tn_tensor *t, int64_t i) {
    double v[ROOM * 4];
    if (!t || tn_numel(t) > ROOM * 4 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}
static int is_near(double got, double want, double epsilon) {
    if (got == want || (got != got && want != want)) return 1;
    if (fabs(got - want) <= epsilon * (fabs(want) > 1 ? fabs(want) : 1)) return 1;
    return printf("  %.17g, wanted %.17g\n", got, want), 0;
}
static const double left[N] = {-1.5, 0.25, 3, 0, -700, 40},
                    right[N] = {2, 0.25, -3, 1e-9, -701, 39.5};

static tn_tensor *pair(const double *v, tn_dtype dtype) { /* (2, 3) */
    static const int64_t size[2] = {2, 3};
    tn_tensor *t = tn_from_f64(v, tn_ints_of(size, 2));
    return dtype == TN_F64 ? t : tnp_to_dtype(t, dtype, false, false);
}
static double logaddexp_of(double a, double b) {
    double most = a > b ? a : b, least = a > b ? b : a;
    return (double)((long double)most + log1pl(expl((long double)least - (long double)most)));
}
static int64_t only(int64_t n) { return n; }

/* --- by name, for all three ------------------------------------------------------------------- */

static tn_value tensor_value(tn_tensor *t) {
    tn_value v;
    memset(&v, 0, sizeof v);
    v.type = TN_T_TENSOR, v.as.tensor = t;
    return v;
}
static tn_value ints_value(const char *name, const int64_t *at, int64_t n) {
    tn_value v;
    memset(&v, 0, sizeof v);
    v.type = TN_T_INTS, v.name = name, v.as.ints = tn_ints_of(at, n);
    return v;
}
static int named(const char *name, const tn_value *v, int n, tn_tensor **out) {
    int count = 0;
    out[0] = out[1] = NULL;
    return tn_call_named(__FILE__, __LINE__, name, v, n, out, 2, &count) ? count : 0;
}
static tn_tensor *on_meta(int64_t a, int64_t b) {
    int64_t size[2];
    size[0] = a, size[1] = b;
    return tnp_zeros(tn_ints_of(size, 2), TN_F32, TN_META);
}

/* --- logaddexp -------------------------------------------------------------------------------- */

static void logaddexp_has_its_values(void) {
    static const struct {
        tn_dtype dtype;
        double epsilon;
    } types[] = {{TN_F64, 4e-16}, {TN_F32, 3e-7}, {TN_BF16, 8e-3}, {TN_F16, 1e-3}};
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *a = pair(left, types[k].dtype), *b = pair(right, types[k].dtype),
                      *y = tn_stranger_logaddexp(a, b);
            CHECK(y && tn_dtype_of(y) == types[k].dtype);
            for (int i = 0; i < N; i++)
                CHECK(is_near(element(y, i), logaddexp_of(element(a, i), element(b, i)),
                              types[k].epsilon));
        }
    TN_SCOPE {
        const double inf[N] = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL, NAN, 1};
        const double other[N] = {HUGE_VAL, -HUGE_VAL, -HUGE_VAL, 2, 1, NAN};
        const double want[N] = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, 2, NAN, NAN};
        tn_tensor *y = tn_stranger_logaddexp(pair(inf, TN_F64), pair(other, TN_F64));
        for (int i = 0; i < N; i++) CHECK(is_near(element(y, i), want[i], 0));
        y = tn_stranger_logaddexp(pair(left, TN_F32), pair(right, TN_F64)); /* promotion */
        CHECK(y && tn_dtype_of(y) == TN_F64);
        tn_tensor *row = tnp_select(pair(right, TN_F64), 0, 1); /* broadcasting */
        y = tn_stranger_logaddexp(pair(left, TN_F64), row);
        CHECK(y && is_near(element(y, 1), logaddexp_of(left[1], right[4]), 4e-16));
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void logaddexp_has_its_forms(void) {
    TN_SCOPE {
        tn_tensor *a = pair(left, TN_F64), *b = pair(right, TN_F64),
                  *want = tn_stranger_logaddexp(a, b), *z = pair(left, TN_F64), *out[2];
        tn_value v[3];
        v[0] = tensor_value(a), v[1] = tensor_value(b), v[2] = tensor_value(z), v[2].name = "out";
        CHECK(is_near(element(tnp_stranger_logaddexp(a, b), 0), element(want, 0), 0));
        CHECK(named("stranger_logaddexp", v, 2, out) == 1 &&
              is_near(element(out[0], 2), element(want, 2), 0));
        CHECK(named("stranger_logaddexp", v, 3, out) == 1 && out[0] == z &&
              is_near(element(z, 5), element(want, 5), 0));
        z = pair(left, TN_F64), v[0] = tensor_value(z);
        CHECK(named("stranger_logaddexp_", v, 2, out) == 1 && out[0] == z &&
              is_near(element(z, 3), element(want, 3), 0));
        z = pair(left, TN_F64);
        CHECK(tn_stranger_logaddexp_(z, b) == z && is_near(element(z, 1), element(want, 1), 0));
        z = pair(left, TN_F64);
        CHECK(tnp_stranger_logaddexp_(z, b) == z && is_near(element(z, 4), element(want, 4), 0));
#ifndef __cplusplus
        z = pair(left, TN_F64);
        CHECK(tn_stranger_logaddexp(a, b, .out = z) == z &&
              is_near(element(z, 2), element(want, 2), 0));
#endif
        tn_tensor *m = tn_stranger_logaddexp(on_meta(2, 1), on_meta(1, 5));
        CHECK(m && tn_device_of(m) == TN_META && tn_size(m, 0) == 2 && tn_size(m, 1) == 5 &&
              tn_dtype_of(m) == TN_F32);
        tn_error_info e;
        CHECK(tn_stranger_logaddexp(on_meta(2, 3), on_meta(4, 5)) == NULL && tn_error_take(&e));
        CHECK(e.line == __LINE__ - 1 &&
              strstr(e.message, "stranger_logaddexp(self=float32 (2, 3)") != NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- count_nonzero ---------------------------------------------------------------------------- */

static void count_nonzero_counts(void) {
    static const tn_dtype types[] = {TN_F32, TN_F64, TN_I32, TN_BOOL, TN_C64, TN_BF16, TN_U8};
    static const int64_t size[3] = {3, 4, 5}, over[2] = {0, -1}, one[1] = {1};
    for (int k = 0; k < 7; k++)
        TN_SCOPE {
            double v[ROOM];
            int all = 0, column[4] = {0, 0, 0, 0};
            for (int i = 0; i < 60; i++) {
                v[i] = i % 3 == 0 ? 0 : i % 7 == 0 ? 0 : i;
                all += v[i] != 0;
                column[i / 5 % 4] += v[i] != 0;
            }
            tn_tensor *x =
                          tnp_to_dtype(tn_from_f64(v, tn_ints_of(size, 3)), types[k], false, false),
                      *y, *out[2];
            tn_value named_values[2];
            y = tn_stranger_count_nonzero(x);
            CHECK(y && tn_ndim(y) == 0 && tn_dtype_of(y) == TN_I64 && element(y, 0) == all);
            y = tnp_stranger_count_nonzero(x, tn_ints_of(over, 2));
            CHECK(y && tn_ndim(y) == 1 && tn_size(y, 0) == 4);
            for (int i = 0; i < 4; i++) CHECK(element(y, i) == column[i]);
#ifdef __cplusplus
            y = tn_stranger_count_nonzero(x, {0, 2});
#else
            y = tn_stranger_count_nonzero(x, .dim = TN_DIMS(0, 2));
            CHECK(tn_stranger_count_nonzero(x, .dim = TN_DIMS(0, 2),
                                            .out = tnp_zeros(TN_DIMS(4), TN_I64, TN_CPU)) != NULL);
#endif
            for (int i = 0; i < 4; i++) CHECK(element(y, i) == column[i]);
            named_values[0] = tensor_value(x), named_values[1] = ints_value("dim", one, 1);
            CHECK(named("stranger_count_nonzero", named_values, 2, out) == 1 &&
                  tn_size(out[0], 0) == 3 && tn_size(out[0], 1) == 5);
            CHECK(named("stranger_count_nonzero.dim_IntList", named_values, 1, out) == 1 &&
                  element(out[0], 0) == all);
        }
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(pair(left, TN_F64)), *y = tn_stranger_count_nonzero(x),
                  *m = tnp_stranger_count_nonzero(on_meta(2, 5), tn_ints_of(one, 1));
        CHECK(element(y, 0) == 5 && !tn_needs_grad(y)); /* its gradient is zero by definition */
        CHECK(m && tn_device_of(m) == TN_META && tn_numel(m) == only(2) &&
              tn_dtype_of(m) == TN_I64);
        tn_error_info e;
        CHECK(tnp_stranger_count_nonzero(x, tn_ints_of(over + 1, 1)) &&
              tnp_stranger_count_nonzero(x, tn_ints_of(size, 1)) == NULL && tn_error_take(&e));
        CHECK(e.code == TN_INDEX &&
              strstr(e.message, "stranger_count_nonzero(self=float64 (2, 3), dim=[3])") != NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- std_mean --------------------------------------------------------------------------------- */

static void naive(const double *v, int64_t n, int64_t step, double correction, double *deviation,
                  double *mean) {
    long double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i * step];
    sum /= n;
    for (int64_t i = 0; i < n; i++) squares += (v[i * step] - sum) * (v[i * step] - sum);
    *mean = (double)sum;
    *deviation = (double)sqrtl(squares / ((double)n - correction));
}

static void std_mean_has_its_values_and_forms(void) {
    static const int64_t one[1] = {1}, zero[1] = {0};
    TN_SCOPE {
        double v[N] = {1, 2, 4, -3, 0.5, 7}, deviation, mean;
        tn_tensor *x = pair(v, TN_F64), *out[2], *given[2];
        tn_value values[4];
        tn_spread_mean r = tn_stranger_std_mean(x);
        naive(v, 6, 1, 1, &deviation, &mean);
        CHECK(r.spread && is_near(element(r.spread, 0), deviation, 1e-15) &&
              is_near(element(r.mean, 0), mean, 1e-15));
        r = tnp_stranger_std_mean(x, tn_ints_of(one, 1), tn_int(0), true);
        naive(v + 3, 3, 1, 0, &deviation, &mean);
        CHECK(r.spread && tn_ndim(r.spread) == 2 &&
              is_near(element(r.spread, 1), deviation, 1e-15) &&
              is_near(element(r.mean, 1), mean, 1e-15));
#ifdef __cplusplus
        r = tn_stranger_std_mean(x, {0}, 0);
#else
        r = tn_stranger_std_mean(x, .dim = TN_DIMS(0), .correction = TN_INT(0));
#endif
        naive(v + 2, 2, 3, 0, &deviation, &mean);
        CHECK(r.spread && tn_ndim(r.spread) == 1 &&
              is_near(element(r.spread, 2), deviation, 1e-15) &&
              is_near(element(r.mean, 2), mean, 1e-15));
        naive(v + 2, 2, 3, 1, &deviation, &mean);
        values[0] = tensor_value(x), values[1] = ints_value("dim", zero, 1);
        CHECK(named("stranger_std_mean", values, 2, out) == 2 &&
              is_near(element(out[0], 2), deviation, 1e-15));
        given[0] = tnp_mul_scalar(out[0], tn_int(0)), given[1] = tnp_mul_scalar(out[0], tn_int(0));
        memset(&values[2], 0, sizeof values[2]);
        values[2].type = TN_T_TENSORS, values[2].name = "out",
        values[2].as.tensors = tn_tensors_of(given, 2);
        CHECK(named("stranger_std_mean", values, 3, out) == 2 && out[1] == given[1] &&
              is_near(element(given[1], 2), mean, 1e-15));
#ifndef __cplusplus
        r = tn_stranger_std_mean(x, .dim = TN_DIMS(0), .out = {given[1], given[0]});
        CHECK(r.spread == given[1] && is_near(element(given[1], 2), deviation, 1e-15));
#endif
        r = tnp_stranger_std_mean(on_meta(4, 5), tn_ints_of(one, 1), tn_none(), false);
        CHECK(r.mean && tn_device_of(r.mean) == TN_META && tn_numel(r.mean) == 4 &&
              tn_numel(r.spread) == 4);
        tn_error_info e;
        r = tn_stranger_std_mean(tnp_to_dtype(x, TN_I64, false, false));
        CHECK(r.spread == NULL && r.mean == NULL && tn_error_take(&e));
        CHECK(e.code == TN_TYPE && e.line == __LINE__ - 2 &&
              strstr(e.message, "stranger_std_mean(self=int64 (2, 3))") != NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- all three -------------------------------------------------------------------------------- */

static bool of_logaddexp(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    *nout = 1;
    return (out[0] = tnp_stranger_logaddexp(in[0], in[1])) != NULL;
}
static bool of_std_mean(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    static const int64_t one[1] = {1};
    tn_spread_mean r =
        tnp_stranger_std_mean(in[0], user ? tn_no_dims() : tn_ints_of(one, 1), tn_none(), false);
    (void)nin;
    out[0] = r.spread, out[1] = r.mean;
    *nout = 2;
    return r.spread != NULL;
}
static void gradients_are_right_twice(void) {
    static const double v[N] = {0.3, -0.7, 1.1, 0.2, -0.4, 0.9};
    TN_SCOPE {
        tn_tensor *in[2];
        int all = 1;
        in[0] = tn_requires_grad(pair(v, TN_F64));
        in[1] =
            tn_requires_grad(tnp_contiguous(tnp_select(pair(left, TN_F64), 0, 0))); /* broadcast */
        CHECK(tn_gradcheck(of_logaddexp, tn_tensors_of(in, 2), NULL, NULL));
        CHECK(tn_gradgradcheck(of_logaddexp, tn_tensors_of(in, 2), NULL, NULL));
        for (int k = 0; k < 2; k++) {
            CHECK(tn_gradcheck(of_std_mean, tn_tensors_of(in, 1), k ? &all : NULL, NULL));
            CHECK(tn_gradgradcheck(of_std_mean, tn_tensors_of(in, 1), k ? &all : NULL, NULL));
        }
        tn_error_print();
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_recording_runs_again(void) {
    TN_SCOPE {
        tn_tensor *a = pair(left, TN_F64), *b = pair(right, TN_F64), *y, *n;
        tn_spread_mean r;
        CHECK(tn_record_begin());
        y = tn_stranger_logaddexp(a, b);
        r = tn_stranger_std_mean(y);
        n = tn_stranger_count_nonzero(a);
        tn_recording *recording = tn_record_end();
        for (int i = 0; i < N; i++) ((double *)tn_data(a))[i] = i, ((double *)tn_data(b))[i] = 2;
        CHECK(tn_replay(recording));
        double v[N], deviation, mean;
        for (int i = 0; i < N; i++) v[i] = logaddexp_of(i, 2);
        naive(v, N, 1, 1, &deviation, &mean);
        CHECK(is_near(element(y, 5), v[5], 4e-16) &&
              is_near(element(r.spread, 0), deviation, 1e-14) &&
              is_near(element(r.mean, 0), mean, 1e-15));
        CHECK(element(n, 0) == 5);
        tn_recording_free(recording);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(logaddexp_has_its_values),  CHECK_TEST(logaddexp_has_its_forms),
        CHECK_TEST(count_nonzero_counts),      CHECK_TEST(std_mean_has_its_values_and_forms),
        CHECK_TEST(gradients_are_right_twice), CHECK_TEST(a_recording_runs_again),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
