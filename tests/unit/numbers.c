/* numbers.c - numbers as arguments: integers reach the operator exactly, each is evaluated once. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>

static int64_t whole(tn_tensor *t) { return t ? ((const int64_t *)tn_data(t))[0] : -12345; }
static tn_code taken(const char *what) {
    tn_error_info e;
    if (!tn_error_take(&e)) return TN_OK;
    if (!strstr(e.message, what)) printf("    %s\n", e.message);
    return strstr(e.message, what) ? e.code : TN_ERROR_COUNT;
}

static void integers_are_exact(void) {
    const int64_t odd = INT64_C(9007199254740993); /* 2^53 + 1 */
    TN_SCOPE {
        tn_tensor *x = tn_zeros(TN_DIMS(1), .dtype = TN_I64);
        CHECK_EQ(whole(tn_full(TN_DIMS(1), odd)), odd);
        CHECK_EQ(whole(tn_full(TN_DIMS(1), INT64_MAX)), INT64_MAX);
        CHECK_EQ(whole(tn_full(TN_DIMS(1), INT64_MIN)), INT64_MIN);
        CHECK_EQ(whole(tn_add_scalar(x, odd)), odd);
        CHECK_EQ(whole(tn_add_scalar(x, INT64_MAX)), INT64_MAX);
        CHECK_EQ(whole(tn_fill_(x, INT64_MAX)), INT64_MAX);
        CHECK_EQ(tn_item(tn_eq_scalar(x, INT64_MAX)), 1);
        CHECK_EQ(tn_item(tn_eq_scalar(x, INT64_MAX - 1)), 0);
        CHECK_EQ(whole(tn_arange_start(odd, odd + 1)), odd);
        CHECK(!tn_add_scalar(x, odd, .out = tn_ones(TN_DIMS(2))));
        CHECK_EQ(taken("other=9007199254740993"), TN_INVALID);
    }
}

static void a_number_is_evaluated_once_and_keeps_its_kind(void) {
    TN_SCOPE {
        int64_t i = 5;
        double d = 0.25;
        float list[2] = {1.5f, 2.5f}, *at = list;
        tn_tensor *z = tn_zeros(TN_DIMS(1), .dtype = TN_I64);
        CHECK_EQ(whole(tn_full(TN_DIMS(1), i++)), 5);
        CHECK_EQ(i, 6);
        CHECK(tn_item(tn_full(TN_DIMS(1), d += 1)) == 1.25 && d == 1.25);
        CHECK(tn_item(tn_full(TN_DIMS(1), *at++)) == 1.5 && at == list + 1);
        CHECK_EQ(whole(tn_add_scalar(z, i++, .alpha = 2)), 12);
        CHECK_EQ(i, 7);
        CHECK_EQ(whole(tn_full(TN_DIMS(1), TN_I64)), TN_I64);
        CHECK_EQ(tn_dtype_of(tn_full(TN_DIMS(1), 3.0)), TN_F32);
        CHECK_EQ(tn_dtype_of(tn_full(TN_DIMS(1), INFINITY)), TN_F32);
        CHECK_EQ(tn_dtype_of(tn_full(TN_DIMS(1), 3, .dtype = TN_F64)), TN_F64);
        CHECK(tn_item(tn_full(TN_DIMS(1), 1e300, .dtype = TN_F64)) == 1e300);
    }
}

static void numbers_kept_as_double_are_whole_and_exact_beside_integers(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(1), .dtype = TN_I64), *i = tn_zeros_like(x);
        tn_tensor *m = tn_ones(TN_DIMS(1, 1), .dtype = TN_I64);
        CHECK(!tn_add(x, x, .alpha = 9007199254740993.0));
        CHECK_EQ(taken("nor from 2^53 on: 9007199254740992"), TN_TYPE);
        CHECK(!tn_add(x, x, .alpha = 0.5));
        CHECK_EQ(taken("nor from 2^53 on: 0.5"), TN_TYPE);
        CHECK(!tn_index_add(x, 0, i, x, .alpha = 1e300));
        CHECK_EQ(taken("nor from 2^53 on: 1.0000000000000001e+300"), TN_TYPE);
        CHECK(!tn_addmm(m, m, m, .beta = 1e300)); /* a product's factors are cut, as in torch */
        CHECK_EQ(taken("nor from 2^53 on: 1.0000000000000001e+300"), TN_TYPE);
        CHECK_EQ(whole(tn_reshape(tn_addmm(m, m, m, .beta = 0.5, .alpha = -2.7), TN_DIMS(1))), -2);
        CHECK_EQ(whole(tn_add(x, x, .alpha = 9007199254740991.0)), INT64_C(9007199254740992));
        CHECK_EQ(whole(tn_index_add(x, 0, i, x, .alpha = -3.5)), -2); /* cut, too */
    }
}

static const check_test tests[] = {
    CHECK_TEST(integers_are_exact),
    CHECK_TEST(a_number_is_evaluated_once_and_keeps_its_kind),
    CHECK_TEST(numbers_kept_as_double_are_whole_and_exact_beside_integers),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
