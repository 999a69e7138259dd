/* tensor_of.c - promises of tn_tensor_of: the dtype follows the C types, the count is checked, each
 * number is evaluated once. */
#include "../../src/api/io.h"
#include "../../src/api/ops.h"
#include "../refused.h"

static int calls;
static int next(void) { return ++calls; }

static void dtypes_are_those_of_torch(void) {
    TN_SCOPE {
        const int64_t wide = INT64_MAX;
        const float half = 0.5f;
        tn_tensor *t = tn_tensor_of(TN_DIMS(3), wide, -1, 'a');
        CHECK(tn_dtype_of(t) == TN_I64 && tn_ndim(t) == 1);
        CHECK(((int64_t *)tn_data(t))[0] == INT64_MAX && at(t, 1) == -1 && at(t, 2) == 97);
        t = tn_tensor_of(TN_DIMS(2, 2), 1, 2, half, wide);
        CHECK(tn_dtype_of(t) == TN_F32 && tn_size(t, 1) == 2 && at(t, 1) == 2 && at(t, 2) == 0.5);
        t = tn_tensor_of(TN_DIMS(2), 1.0, 2.0);
        CHECK_EQ(tn_dtype_of(t), TN_F32);
        CHECK(tn_set_default_dtype(TN_F64));
        t = tn_tensor_of(TN_DIMS(1), 0.1);
        CHECK(tn_dtype_of(t) == TN_F64 && at(t, 0) == 0.1);
        CHECK(tn_set_default_dtype(TN_F32));
        t = tn_tensor_of(TN_EMPTY_DIMS, 5);
        CHECK(tn_ndim(t) == 0 && tn_item_int(t) == 5);
    }
}

static void a_dtype_can_be_given(void) {
    TN_SCOPE {
        tn_tensor *t = tn_tensor_of_dtype(TN_BOOL, TN_DIMS(3), 1, 0, 0.5);
        CHECK(tn_dtype_of(t) == TN_BOOL && at(t, 0) == 1 && at(t, 1) == 0 && at(t, 2) == 1);
        t = tn_tensor_of_dtype(TN_C64, TN_DIMS(1), 3);
        CHECK(tn_dtype_of(t) == TN_C64 && tn_item_scalar(t).real == 3);
        t = tn_tensor_of_dtype((tn_dtype)99, TN_DIMS(1), 3);
        REFUSED(t, TN_TYPE, "does not exist");
    }
}

static void numbers_are_evaluated_once(void) {
    TN_SCOPE {
        calls = 0;
        tn_tensor *t = tn_tensor_of(TN_DIMS(3), next(), 0.5 * next(), next());
        CHECK_EQ(calls, 3);
        CHECK(tn_dtype_of(t) == TN_F32 && at(t, 0) + at(t, 2) + 2 * at(t, 1) == 6);
    }
}

#define EIGHT 1, 2, 3, 4, 5, 6, 7, 8
#define SIXTY_THREE EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, 1, 2, 3, 4, 5, 6, 7
static void the_count_must_be_that_of_the_shape(void) {
    TN_SCOPE {
        tn_tensor *t = tn_tensor_of(TN_DIMS(8, 8), SIXTY_THREE, 2.5);
        CHECK(tn_dtype_of(t) == TN_F32 && at(t, 63) == 2.5 && at(t, 62) == 7 && at(t, 8) == 1);
        t = tn_tensor_of(TN_DIMS(8, 8), SIXTY_THREE);
        REFUSED(t, TN_INVALID, "shape (8, 8) has 64 elements, got 63 numbers");
        t = tn_tensor_of(TN_DIMS(65), SIXTY_THREE, 1, 2);
        REFUSED(t, TN_INVALID, "got 65 numbers, expected 1 to 64");
        t = tn_tensor_of(TN_DIMS(66), SIXTY_THREE, 1, 2, 3);
        REFUSED(t, TN_INVALID, "got 66 numbers");
        t = tn_tensor_of(TN_DIMS(1), 1, 2);
        REFUSED(t, TN_INVALID, "got 2 numbers");
        t = tn_tensor_of(TN_DIMS(0), 1);
        REFUSED(t, TN_INVALID, "got 1 numbers");
        t = tn_tensor_of(TN_DIMS(-1), 1);
        REFUSED(t, TN_INVALID, "negative");
        t = tn_tensor_of(TN_DIMS(INT64_MAX, 3), 1);
        REFUSED(t, TN_INVALID, "too large");
        t = tn_tensor_of(TN_NO_DIMS, 1);
        REFUSED(t, TN_INVALID, "expected a shape");
        tn_scalar bad = tn_complex(1, 2);
        int64_t one = 1;
        REFUSED(tn_tensor_of_at(NULL, 0, TN_NO_DTYPE, tn_ints_of(&one, 1), &bad, 1), TN_TYPE,
                "number 0 is not");
    }
}

static const check_test tests[] = {
    CHECK_TEST(dtypes_are_those_of_torch),
    CHECK_TEST(a_dtype_can_be_given),
    CHECK_TEST(numbers_are_evaluated_once),
    CHECK_TEST(the_count_must_be_that_of_the_shape),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
