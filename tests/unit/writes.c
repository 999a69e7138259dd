/* writes.c - calls that write into tensors that are there: which may be inputs as well, what a
 * cancelled call says, which versions a replay moves on. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

static tn_tensor *ints(const int64_t *v, int64_t n) { return tn_from(v, TN_DIMS(n), TN_I64); }
static double at(tn_tensor *t, int64_t i) {
    double v[64] = {0};
    if (!t || tn_numel(t) > 64 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}
/* The error of the call before: its code, once its text has said `what`. */
static tn_code taken(const char *what) {
    tn_error_info e;
    if (!tn_error_take(&e)) return TN_OK;
    if (!strstr(e.message, what)) printf("    %s\n", e.message);
    return strstr(e.message, what) ? e.code : TN_ERROR_COUNT;
}

/* --- the written tensor among the inputs ------------------------------------------------------ */

static void an_index_is_not_written(void) {
    static const int64_t index[3] = {1, 0, 2}, far[3] = {1000000, 5, 7};
    TN_SCOPE {
        tn_tensor *x = ints(index, 3), *src = ints(far, 3);
        CHECK(!tn_scatter_add_(x, 0, x, src));
        CHECK_EQ(taken("self is also input 1"), TN_INVALID);
        CHECK(!tn_scatter_(x, 0, x, src));
        CHECK_EQ(taken("self is also input 1"), TN_INVALID);
        CHECK(!tn_scatter_value_(x, 0, x, 1000000));
        CHECK_EQ(taken("self is also input 1"), TN_INVALID);
        CHECK(!tn_index_add_(x, 0, x, src));
        CHECK_EQ(taken("self is also input 1"), TN_INVALID);
        CHECK(!tn_scatter_add(src, 0, x, src, .out = x));
        CHECK_EQ(taken("out is also input 1"), TN_INVALID);
        CHECK(!tn_scatter_add_(tn_detach(x), 0, x, src));
        CHECK_EQ(taken("self is also input 1"), TN_INVALID);
        CHECK(at(x, 0) == 1 && at(x, 1) == 0 && at(x, 2) == 2);
    }
}

static void values_that_are_read_while_it_writes_are_not_written(void) {
    static const int64_t back[3] = {2, 1, 0};
    static const bool some[3] = {false, true, true};
    TN_SCOPE {
        tn_tensor *i = ints(back, 3), *x = tn_arange(3, .dtype = TN_F32);
        tn_tensor *mask = tn_from(some, TN_DIMS(3), TN_BOOL);
        CHECK(!tn_scatter_(x, 0, i, x));
        CHECK_EQ(taken("self is also input 2"), TN_INVALID);
        CHECK(!tn_index_add_(x, 0, i, x));
        CHECK_EQ(taken("self is also input 2"), TN_INVALID);
        CHECK(!tn_index_put_(x, TN_LIST(i), x));
        CHECK_EQ(taken("self is also input 1"), TN_INVALID);
        CHECK(!tn_masked_scatter_(x, mask, x));
        CHECK_EQ(taken("self is also input 2"), TN_INVALID);
        CHECK(tn_masked_fill_scalar(tn_eq_scalar(i, 1), mask, 1, .out = mask) == mask);
        CHECK(at(mask, 0) == 0 && at(mask, 1) == 1 && at(mask, 2) == 1); /* made apart */
        CHECK(at(x, 0) == 0 && at(x, 1) == 1 && at(x, 2) == 2);
    }
}

static void self_and_the_operands_of_pointwise_rows_are(void) {
    static const int64_t back[3] = {2, 1, 0};
    TN_SCOPE {
        tn_tensor *x = tn_arange(3, .dtype = TN_F32), *i = ints(back, 3),
                  *one = tn_ones(TN_DIMS(3));
        CHECK(tn_mul_(x, x) && at(x, 2) == 4);
        CHECK(tn_sub(one, x, .out = x) && at(x, 2) == -3);
        CHECK(tn_add_(tn_detach(x), x) && at(x, 2) == -6);
        CHECK(tn_scatter_add(x, 0, i, one, .out = x) && at(x, 2) == -5);
        CHECK(tn_copy_(x, x) && tn_copy_(x, tn_detach(x)) && at(x, 2) == -5);
        CHECK(tn_ok());
    }
}

static void a_number_has_no_in_place_form(void) {
    TN_SCOPE {
        tn_value v[2];
        tn_tensor *result[1] = {NULL};
        int count = 0, line = __LINE__ + 7;
        tn_error_info e;
        memset(v, 0, sizeof v);
        v[0].type = TN_T_SCALAR;
        v[0].as.scalar = tn_float(2);
        v[1].type = TN_T_TENSOR;
        v[1].as.tensor = tn_ones(TN_EMPTY_DIMS, .dtype = TN_F64);
        CHECK(!tn_call_named(__FILE__, __LINE__, "pow_", v, 2, result, 1, &count));
        CHECK(tn_error_peek(&e) && e.line == line);
        CHECK_EQ(taken("self must be a tensor in the in-place form"), TN_TYPE);
    }
}

/* --- cancelled -------------------------------------------------------------------------------- */

static void cancelled_calls_say_so_though_they_were_given_tensors(void) {
    TN_SCOPE {
        tn_context *c = tn_context_current();
        tn_tensor *a = tn_ones(TN_DIMS(64, 64)), *out = tn_full(TN_DIMS(64, 64), 7.0);
        tn_tensor *row = tn_full(TN_DIMS(64), 7.0), *mean = tn_zeros(TN_DIMS(64)),
                  *var = tn_ones(TN_DIMS(64));
        tn_cancel(c);
        CHECK(!tn_matmul(a, a, .out = out));
        CHECK_EQ(taken("was cancelled"), TN_CANCELLED);
        CHECK(!tn_sum(a, .dim = TN_DIMS(1), .out = row));
        CHECK_EQ(taken("was cancelled"), TN_CANCELLED);
        CHECK(!tn_add_(a, a));
        CHECK_EQ(taken("was cancelled"), TN_CANCELLED);
        CHECK(!tn_batch_norm(a, mean, var, .training = true));
        CHECK_EQ(taken("was cancelled"), TN_CANCELLED);
        tn_cancel_clear(c);
        CHECK(tn_matmul(out, out, .out = a) != NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_cancelled_write_changes_nothing(void) {
    TN_SCOPE {
        tn_context *c = tn_context_current();
        tn_tensor *w = tn_requires_grad(tn_ones(TN_DIMS(3))), *x = tn_ones(TN_DIMS(3));
        tn_tensor *y = tn_sum(tn_mul(w, x));
        tn_cancel(c);
        CHECK(!tn_add_scalar_(x, 1));
        CHECK_EQ(taken("was cancelled"), TN_CANCELLED);
        tn_cancel_clear(c);
        CHECK(tn_item(tn_sum(x)) == 3);
        CHECK(tn_backward(y) && tn_item(tn_sum(tn_grad_of(w))) == 3);
    }
}

static void a_cancelled_replay_says_so(void) {
    TN_SCOPE {
        tn_tensor *a = tn_ones(TN_DIMS(64, 64));
        tn_recording *r;
        tn_record_begin();
        (void)!tn_matmul(a, a);
        r = tn_record_end();
        tn_cancel(tn_context_current());
        CHECK(!tn_replay(r));
        CHECK_EQ(taken("was cancelled"), TN_CANCELLED);
        tn_cancel_clear(tn_context_current());
        CHECK(tn_replay(r));
        tn_recording_free(r);
    }
}

/* --- replay ----------------------------------------------------------------------------------- */

static void a_replay_moves_the_versions_of_what_it_writes_on(void) {
    TN_SCOPE {
        tn_tensor *w = tn_requires_grad(tn_ones(TN_DIMS(3))), *x = tn_ones(TN_DIMS(3)), *y, *v, *z;
        tn_recording *r;
        tn_record_begin();
        y = tn_mul_scalar(x, 2);
        v = tn_slice(x, .end = 2); /* shares x, which is not written */
        r = tn_record_end();
        z = tn_sum(tn_mul(w, x));
        CHECK(v && tn_replay(r) && tn_backward(z));
        z = tn_sum(tn_mul(w, y));
        CHECK(tn_replay(r));
        CHECK(!tn_backward(z));
        CHECK_EQ(taken("in place"), TN_AUTOGRAD);
        tn_recording_free(r);
    }
}

static const check_test tests[] = {
    CHECK_TEST(an_index_is_not_written),
    CHECK_TEST(values_that_are_read_while_it_writes_are_not_written),
    CHECK_TEST(self_and_the_operands_of_pointwise_rows_are),
    CHECK_TEST(a_number_has_no_in_place_form),
    CHECK_TEST(cancelled_calls_say_so_though_they_were_given_tensors),
    CHECK_TEST(a_cancelled_write_changes_nothing),
    CHECK_TEST(a_cancelled_replay_says_so),
    CHECK_TEST(a_replay_moves_the_versions_of_what_it_writes_on),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
