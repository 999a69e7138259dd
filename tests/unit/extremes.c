/* extremes.c - arguments at the ends of their ranges: large windows, strides, sizes and lists, and
 * numbers that a dtype does not hold. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>
#include <pthread.h>

static double at(tn_tensor *t, int64_t i) {
    double v[128] = {0};
    if (!t || tn_numel(t) > 128 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}
static tn_code taken(const char *what) {
    tn_error_info e;
    if (!tn_error_take(&e)) return TN_OK;
    if (!strstr(e.message, what)) printf("    %s\n", e.message);
    return strstr(e.message, what) ? e.code : TN_ERROR_COUNT;
}
static tn_value int_value(const char *name, int64_t v) {
    tn_value r;
    memset(&r, 0, sizeof r);
    r.type = TN_T_INT, r.name = name, r.as.integer = v;
    return r;
}
static tn_value tensor_value(tn_tensor *t) {
    tn_value r;
    memset(&r, 0, sizeof r);
    r.type = TN_T_TENSOR, r.as.tensor = t;
    return r;
}

/* --- windows ---------------------------------------------------------------------------------- */

static void a_large_window_costs_what_it_covers(void) {
    TN_SCOPE {
        tn_tensor *x =
            tn_requires_grad(tn_reshape(tn_arange(60, .dtype = TN_F32), TN_DIMS(3, 2, 2, 5)));
        tn_tensor *y =
            tn_max_pool2d(x, TN_DIMS(46000), .padding = TN_DIMS(23000), .ceil_mode = true);
        CHECK_EQ(tn_numel(y), 6);
        CHECK(at(y, 0) == 9 && at(y, 5) == 59);
        CHECK(tn_backward(tn_sum(y)));
        CHECK(at(tn_grad_of(x), 8) == 0 && at(tn_grad_of(x), 9) == 1 && at(tn_grad_of(x), 59) == 1);
        y = tn_max_pool2d(x, TN_DIMS(2, 2), .stride = TN_DIMS(1, 1), .padding = TN_DIMS(1, 1),
                          .dilation = TN_DIMS(1, 3));
        CHECK_EQ(tn_size(y, 3), 4);
        CHECK(at(y, 0) == 2 && at(y, 3) == 2 && at(y, 4) == 7 && at(y, 7) == 7);
    }
}

/* As in torch: dilated windows may miss the input, and half of a kernel is not counted dilated. */
static void a_window_without_elements_has_the_least_number(void) {
    static const tn_dtype dtypes[] = {TN_F32, TN_I8, TN_U8, TN_I16, TN_I32, TN_I64};
    static const double least[] = {-INFINITY, INT8_MIN, 0, INT16_MIN, INT32_MIN, (double)INT64_MIN};
    for (int i = 0; i < 6; i++)
        TN_SCOPE {
            tn_tensor *x = tn_reshape(tn_arange(3, .dtype = dtypes[i]), TN_DIMS(1, 1, 3)), *y;
            y = tn_max_pool2d(x, TN_DIMS(1, 2), .stride = TN_DIMS(1, 1), .padding = TN_DIMS(0, 1),
                              .dilation = TN_DIMS(1, 4));
            CHECK(tn_numel(y) == 1 && at(y, 0) == least[i]);
            y = tn_max_pool2d_with_indices(x, TN_DIMS(1, 2), .stride = TN_DIMS(1, 1),
                                           .padding = TN_DIMS(0, 1), .dilation = TN_DIMS(1, 4))
                    .result;
            CHECK(tn_numel(y) == 1 && at(y, 0) == least[i]);
            CHECK(!tn_max_pool2d(x, TN_DIMS(1, 3), .stride = TN_DIMS(1, 1),
                                 .padding = TN_DIMS(0, 2), .dilation = TN_DIMS(1, 3)));
            CHECK_EQ(taken("padding 2 must be at most half of kernel size 3"), TN_INVALID);
        }
}

static void a_window_of_too_many_places_is_refused(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(1, 1, 2, 2)), *none;
        CHECK(!tn_max_pool2d(x, TN_DIMS(65536)));
        CHECK_EQ(taken("kernel size 65536"), TN_INVALID);
        CHECK(!tn_max_pool2d(x, TN_DIMS(65536), .ceil_mode = true));
        CHECK_EQ(taken("has more than 2^31 - 1 elements"), TN_INVALID);
        CHECK(!tn_max_pool2d(x, TN_DIMS(2147483647), .padding = TN_DIMS((1 << 30) - 1),
                             .stride = TN_DIMS(1)));
        CHECK_EQ(taken("has more than 2^31 - 1 elements"), TN_INVALID);
        none = tn_zeros(TN_DIMS(0, 1, INT64_C(1) << 36, 1 << 21));
        CHECK(tn_max_pool2d(none, TN_DIMS(3, 3), .stride = TN_DIMS(1)) != NULL);
        CHECK(tn_avg_pool2d(none, TN_DIMS(3, 3), .stride = TN_DIMS(1)) != NULL);
    }
}

static void a_stride_beyond_the_input_costs_nothing(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(1, 1, 10, 10))), *y;
        tn_tensor *w = tn_requires_grad(tn_full(TN_DIMS(1, 1, 1, 1), 3.0));
        int64_t before = tn_memory().bytes_used;
        tn_memory_reset_peak();
        y = tn_conv2d(x, w, .stride = TN_DIMS(100000, 2147483647), .padding = TN_DIMS(0, 1));
        CHECK(tn_memory().bytes_peak - before < 1 << 20);
        CHECK_EQ(tn_numel(y), 1);
        CHECK(at(y, 0) == 0); /* of the padding */
        CHECK(!tn_conv2d(x, w, .stride = TN_DIMS(1, INT64_C(1) << 33)));
        CHECK_EQ(taken("stride (1, 8589934592) must be from 1 to 2147483647"), TN_INVALID);
        CHECK(!tn_conv2d(x, w, .padding = TN_DIMS(-1)));
        CHECK_EQ(taken("padding (-1, -1) must be from 0 to 2147483647"), TN_INVALID);
        y = tn_conv2d(x, w, .stride = TN_DIMS(100000));
        CHECK(at(y, 0) == 3 && tn_backward(tn_sum(y)));
        CHECK(at(tn_grad_of(w), 0) == 1);
        CHECK(tn_item(tn_sum(tn_grad_of(x))) == 3);
    }
}

/* --- sizes and strides ------------------------------------------------------------------------ */

static void sizes_that_overflow_are_refused(void) {
    uint8_t state[TN_GENERATOR_BYTES] = {0};
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(3));
        CHECK(!tn_zeros(TN_DIMS(INT64_C(1) << 31, INT64_C(1) << 62), .out = x));
        CHECK_EQ(taken("too large"), TN_INVALID);
        CHECK(!tn_generator_set_state(tn_default_generator(), NULL));
        CHECK_EQ(taken("the state is NULL"), TN_INVALID);
        CHECK(!tn_generator_set_state(NULL, state));
        CHECK_EQ(taken("the generator is NULL"), TN_INVALID);
        (void)!tn_eye_m(0, INT64_MAX);
        tn_error_take(NULL);
    }
}

static void strides_of_views_stay_in_range(void) {
    TN_SCOPE {
        tn_tensor *none = tn_zeros(TN_DIMS(0)), *one = tn_ones(TN_DIMS(1)),
                  *x = tn_ones(TN_DIMS(3, 4));
        CHECK(!tn_as_strided(none, TN_DIMS(0, 2), TN_DIMS(1, 1), .storage_offset = INT64_MAX));
        CHECK_EQ(taken("invalid storage offset"), TN_INVALID);
        CHECK(!tn_as_strided(none, TN_DIMS(0, INT64_C(1) << 40), TN_DIMS(1, INT64_C(1) << 40)));
        CHECK_EQ(taken("is too large"), TN_INVALID);
        CHECK(!tn_as_strided(one, TN_DIMS(1), TN_DIMS(INT64_MAX)));
        CHECK_EQ(taken("is too large"), TN_INVALID);
        x = tn_slice(x, .dim = 1, .step = INT64_MAX); /* one column: its stride stays */
        CHECK_EQ(tn_stride(x, 1), 1);
        CHECK(tn_item(tn_sum(tn_unsqueeze(x, 1))) == 3);
        CHECK_EQ(tn_stride(tn_slice(tn_ones(TN_DIMS(4)), .step = 9), 0), 9);
    }
}

/* --- dtypes that do not hold a number --------------------------------------------------------- */

static void random_integers_fit_their_dtype(void) {
    TN_SCOPE {
        CHECK(!tn_randint(1000, TN_DIMS(3), .dtype = TN_I8));
        CHECK_EQ(taken("out of bounds for int8"), TN_INVALID);
        CHECK(!tn_randint_low(-129, 5, TN_DIMS(3), .dtype = TN_I8));
        CHECK_EQ(taken("out of bounds for int8"), TN_INVALID);
        CHECK(!tn_randint(3, TN_DIMS(3), .dtype = TN_BOOL));
        CHECK_EQ(taken("out of bounds for bool"), TN_INVALID);
        CHECK(!tn_randint(70000, TN_DIMS(3), .dtype = TN_F16));
        CHECK_EQ(taken("out of bounds for float16"), TN_INVALID);
        CHECK(tn_randint(128, TN_DIMS(3), .dtype = TN_I8) &&
              tn_randint(256, TN_DIMS(3), .dtype = TN_U8));
        CHECK(tn_randint_low(-128, 128, TN_DIMS(3), .dtype = TN_I8) != NULL);
        CHECK(tn_randint_low(INT64_MIN + 1, INT64_MAX, TN_DIMS(3)) != NULL);
        CHECK(tn_randint(2, TN_DIMS(3), .dtype = TN_BOOL) != NULL);
        CHECK(!tn_randperm(300, .dtype = TN_I8));
        CHECK_EQ(taken("out of bounds for int8"), TN_INVALID);
        CHECK(!tn_randperm(2050, .dtype = TN_F16));
        CHECK_EQ(taken("at most 2049"), TN_INVALID);
        CHECK(!tn_randperm(2, .dtype = TN_BOOL));
        CHECK_EQ(taken("dtype bool"), TN_TYPE);
        CHECK(tn_randperm(128, .dtype = TN_I8) && tn_randperm(256, .dtype = TN_U8));
        CHECK(tn_randperm(0, .dtype = TN_I8) && tn_randperm(258, .dtype = TN_BF16));
    }
}

static void an_integer_has_no_negative_power(void) {
    TN_SCOPE {
        tn_tensor *x = tn_arange(4), *minus = tn_full_like(x, -1);
        CHECK(!tn_pow_scalar(x, -1));
        CHECK_EQ(taken("negative integer powers"), TN_INVALID);
        CHECK(!tn_pow_scalar_(x, -2));
        CHECK_EQ(taken("negative integer powers"), TN_INVALID);
        CHECK(at(tn_pow(x, minus), 1) == 1 && at(tn_pow(x, minus), 2) == 0); /* as torch */
        CHECK(at(tn_pow_scalar(x, -1.0), 2) == 0.5 && at(tn_pow_scalar(x, 0), 0) == 1);
    }
}

static void classes_are_int64_or_uint8(void) {
    TN_SCOPE {
        tn_tensor *x = tn_zeros(TN_DIMS(2, 3));
        CHECK(!tn_nll_loss(x, tn_zeros(TN_DIMS(2), .dtype = TN_I16)));
        CHECK_EQ(taken("int64 or uint8"), TN_TYPE);
        CHECK(tn_nll_loss(x, tn_zeros(TN_DIMS(2), .dtype = TN_U8)) != NULL);
    }
}

static void words_by_number_are_not_cut(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(3)), *result[2];
        tn_value v[3];
        int count = 0;
        v[0] = v[1] = tensor_value(x);
        v[2] = int_value("reduction", INT64_C(4294967297));
        CHECK(!tn_call_named(__FILE__, __LINE__, "mse_loss", v, 3, result, 2, &count));
        CHECK_EQ(taken("4294967297 is not a valid value"), TN_TYPE);
        memset(&v[1], 0, sizeof v[1]);
        v[1].type = TN_T_SCALAR, v[1].as.scalar = tn_none();
        CHECK(!tn_call_named(__FILE__, __LINE__, "unsqueeze", v, 2, result, 2, &count));
        CHECK_EQ(taken("expected an int"), TN_TYPE);
        v[1] = tensor_value(x), v[2].type = TN_T_TENSORS, v[2].name = "out";
        v[2].as.tensors.at = NULL, v[2].as.tensors.n = 1;
        CHECK(!tn_call_named(__FILE__, __LINE__, "mul", v, 3, result, 2, &count));
        CHECK_EQ(taken("out= expects 1 tensors"), TN_TYPE);
    }
}

/* --- recording -------------------------------------------------------------------------------- */

static void long_lists_are_recorded(void) {
    static tn_tensor *part[100000];
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(59990, 3))), *y;
        tn_list l = tn_unbind(x);
        CHECK_EQ(l.n, 59990);
        if (l.n == 59990) {
            CHECK(tn_backward(tn_sum(tn_mul(l.at[59989], l.at[59989]))));
            CHECK(tn_item(tn_sum(tn_grad_of(x))) == 6);
        }
        x = tn_requires_grad(tn_ones(TN_DIMS(1)));
        for (int i = 0; i < 100000; i++) part[i] = x;
        y = tn_cat(tn_tensors_of(part, 100000));
        CHECK(y && tn_backward(tn_sum(y)) && at(tn_grad_of(x), 0) == 100000);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static bool times_check(tn_frame *f) { return tn_announce_like(f, 0, f->in[0], TN_F32); }
static void times_run(tn_frame *f) {
    for (int64_t i = 0; i < tn_numel(f->in[0]); i++)
        ((float *)tn_data(f->out[0]))[i] = ((float *)tn_data(f->in[0]))[i];
}
static char times_seen[32];
static void times_grad(tn_gradient *g) {
    const struct times_args {
        tn_tensor *self;
        const char *text;
    } *a = (const struct times_args *)g->args;
    snprintf(times_seen, sizeof times_seen, "%s", a->text);
    tn_give(g, 0, g->incoming[0]);
}
static void a_text_argument_is_kept_by_the_node(void) {
    static tn_row row;
    row.name = "times", row.schema = "times(Tensor self, str text) -> Tensor";
    row.check = times_check, row.run = times_run, row.grad = times_grad;
    CHECK(tn_register(&row));
    TN_SCOPE {
        char text[32] = "a text of its own";
        tn_tensor *result[1] = {NULL};
        tn_value v[2];
        int count = 0;
        v[0] = tensor_value(tn_requires_grad(tn_ones(TN_DIMS(2))));
        memset(&v[1], 0, sizeof v[1]);
        v[1].type = TN_T_STRING, v[1].as.string = text;
        CHECK(tn_call_named(__FILE__, __LINE__, "times", v, 2, result, 1, &count));
        memset(text, 'x', sizeof text - 1);
        CHECK(tn_backward(tn_sum(result[0])));
        CHECK_TEXT(times_seen, "a text of its own");
    }
}

static tn_row row[2][200];
static char name[2][200][16], schema[2][200][40];
static void *register_all(void *rows) {
    for (int i = 0; i < 200; i++) tn_register((tn_row *)rows + i);
    return NULL;
}
static void threads_may_register_at_once(void) {
    int64_t before = tn_row_count();
    pthread_t thread[2];
    int missing = 0;
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 200; i++) {
            snprintf(name[t][i], sizeof name[t][i], "row%d_%d", t, i);
            snprintf(schema[t][i], sizeof schema[t][i], "row%d_%d(Tensor self) -> Tensor", t, i);
            row[t][i].name = name[t][i], row[t][i].schema = schema[t][i];
            row[t][i].check = times_check, row[t][i].run = times_run;
        }
    for (int t = 0; t < 2; t++) pthread_create(&thread[t], NULL, register_all, row[t]);
    for (int t = 0; t < 2; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 200; i++)
            missing += tn_row_named(name[t][i]) != &row[t][i] ||
                       tn_row_at((int64_t)row[t][i].gen->index) != &row[t][i];
    CHECK_EQ(missing, 0);
    CHECK_EQ(tn_row_count() - before, 400);
}

static const check_test tests[] = {
    CHECK_TEST(a_large_window_costs_what_it_covers),
    CHECK_TEST(a_window_without_elements_has_the_least_number),
    CHECK_TEST(a_window_of_too_many_places_is_refused),
    CHECK_TEST(a_stride_beyond_the_input_costs_nothing),
    CHECK_TEST(sizes_that_overflow_are_refused),
    CHECK_TEST(strides_of_views_stay_in_range),
    CHECK_TEST(random_integers_fit_their_dtype),
    CHECK_TEST(an_integer_has_no_negative_power),
    CHECK_TEST(classes_are_int64_or_uint8),
    CHECK_TEST(words_by_number_are_not_cut),
    CHECK_TEST(long_lists_are_recorded),
    CHECK_TEST(a_text_argument_is_kept_by_the_node),
    CHECK_TEST(threads_may_register_at_once),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
