/* modes.c - grad mode and inference mode: they nest, and what is made in inference mode stays out
 * of graphs. Autocast: which calls cast. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

static tn_tensor *ones(int64_t n) { return tn_requires_grad(tn_ones(TN_DIMS(n))); }
static bool refused(const char *part) {
    tn_error_info e;
    return tn_error_take(&e) && e.code == TN_AUTOGRAD && strstr(e.message, part);
}
static tn_tensor *made_in_inference(int64_t n) {
    bool was = tn_set_inference_mode(true);
    tn_tensor *t = tn_ones(TN_DIMS(n));
    tn_set_inference_mode(was);
    return t;
}

static void modes_nest_in_any_order(void) {
    bool grad, inference;
    CHECK(tn_grad_mode());
    grad = tn_set_grad_mode(false);
    CHECK(grad && !tn_grad_mode());
    inference = tn_set_inference_mode(true);
    CHECK(!inference && !tn_grad_mode());
    CHECK(tn_set_inference_mode(true)); /* inside of itself */
    tn_set_inference_mode(true);
    tn_set_inference_mode(inference);
    CHECK(!tn_grad_mode()); /* no-grad mode goes on */
    tn_set_grad_mode(grad);
    CHECK(tn_grad_mode());
    inference = tn_set_inference_mode(true);
    grad = tn_set_grad_mode(false);
    tn_set_grad_mode(grad);
    CHECK(!tn_grad_mode()); /* inference mode goes on, */
    grad = tn_set_grad_mode(true);
    CHECK(!tn_grad_mode()); /* whatever grad mode is */
    tn_set_grad_mode(grad);
    tn_set_inference_mode(inference);
    CHECK(tn_grad_mode());
}

static void nothing_is_recorded_in_inference_mode(void) {
    TN_SCOPE {
        tn_tensor *x = ones(2), *y;
        bool was = tn_set_inference_mode(true);
        tn_set_grad_mode(true);
        y = tn_mul_scalar(x, 2);
        tn_set_inference_mode(was);
        CHECK(y && !tn_needs_grad(y) && tn_is_leaf(y));
    }
}

static void what_is_made_in_inference_mode_is_not_saved_for_backward(void) {
    TN_SCOPE {
        tn_tensor *x = ones(2), *i = made_in_inference(2), *y;
        CHECK(!tn_mul(x, i) && refused("inference"));
        CHECK(!tn_mul(x, tn_slice(i)) && refused("inference")); /* a view of it is the same */
        CHECK(!tn_mul(x, tn_detach(i)) && refused("inference"));
        y = tn_mul(tn_add(x, i), tn_clone(i)); /* a sum saves nothing; a clone is a new tensor */
        CHECK(y && tn_backward(tn_sum(y)));
        CHECK(tn_grad_of(x) != NULL);
        tn_set_grad_mode(false);
        CHECK(tn_mul(x, i) != NULL);
        tn_set_grad_mode(true);
    }
}

static void what_is_made_in_inference_mode_is_written_only_there(void) {
    TN_SCOPE {
        tn_tensor *i = made_in_inference(2), *n = tn_ones(TN_DIMS(2)), *v;
        bool was;
        CHECK(!tn_add_scalar_(i, 1) && refused("inference"));
        CHECK(!tn_mul(n, n, .out = i) && refused("inference"));
        CHECK(!tn_requires_grad(i) && refused("inference"));
        was = tn_set_inference_mode(true);
        CHECK(tn_add_scalar_(i, 1) && tn_add_scalar_(n, 1));
        v = tn_slice(n, .end = 1); /* a view of an ordinary tensor is one */
        CHECK(tn_requires_grad(made_in_inference(2)) != NULL);
        tn_set_inference_mode(was);
        CHECK(tn_add_scalar_(v, 1) && tn_requires_grad(n));
        CHECK(tn_item(tn_sum(n)) == 5 && tn_item(tn_sum(i)) == 4);
    }
}

static void a_view_of_a_weight_taken_in_inference_mode_is_ordinary(void) {
    TN_SCOPE {
        tn_tensor *w = ones(4), *x = ones(2), *v;
        bool was = tn_set_inference_mode(true);
        v = tn_slice(w, .end = 2);
        tn_set_inference_mode(was);
        CHECK(tn_mul(x, v) != NULL && tn_ok());
    }
}

static void gradients_of_backward_in_inference_mode_are_ordinary(void) {
    TN_SCOPE {
        tn_tensor *x = ones(2), *y = tn_sum(tn_mul(x, x));
        bool was = tn_set_inference_mode(true);
        CHECK(tn_backward(y, .retain_graph = true));
        tn_set_inference_mode(was);
        CHECK(tn_backward(y));
        CHECK(tn_item(tn_sum(tn_grad_of(x))) == 8);
        CHECK(tn_add_scalar_(tn_grad_of(x), 1) != NULL);
    }
    TN_SCOPE { /* .grad that the user made there is not written, but replaced */
        tn_tensor *x = ones(2);
        CHECK(tn_set_grad(x, made_in_inference(2)));
        CHECK(tn_backward(tn_sum(x)) && tn_item(tn_sum(tn_grad_of(x))) == 4);
    }
}

static void autocast_casts_products_and_losses(void) {
    TN_SCOPE {
        tn_tensor *w = tn_requires_grad(tn_full(TN_DIMS(2, 2), 0.5)), *x, *y, *loss;
        CHECK(tn_set_autocast(TN_BF16) == TN_NO_DTYPE && tn_autocast() == TN_BF16);
        y = tn_matmul(w, w);
        loss = tn_mse_loss(y, tn_zeros(TN_DIMS(2, 2)));
        CHECK(tn_dtype_of(y) == TN_BF16 && tn_dtype_of(loss) == TN_F32);
        CHECK(tn_dtype_of(tn_add(w, w)) == TN_F32);
        x = tn_zeros(TN_DIMS(2, 2));
        CHECK(tn_mm(tn_detach(w), tn_detach(w), .out = x) && tn_dtype_of(x) == TN_F32);
        CHECK(tn_backward(loss) && tn_dtype_of(tn_grad_of(w)) == TN_F32);
        CHECK(tn_autocast() == TN_BF16);
        CHECK(!tn_matmul(w, tn_ones(TN_DIMS(3, 3)))); /* an error, and the mode stays */
        CHECK(tn_error_take(NULL) && tn_autocast() == TN_BF16);
        CHECK(tn_set_autocast(TN_F16) == TN_BF16 && tn_dtype_of(tn_mm(w, w)) == TN_F16);
        CHECK(tn_set_autocast(TN_F32) == TN_F16 && tn_autocast() == TN_NO_DTYPE);
        CHECK(tn_dtype_of(tn_mm(w, w)) == TN_F32);
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(modes_nest_in_any_order),
        CHECK_TEST(nothing_is_recorded_in_inference_mode),
        CHECK_TEST(what_is_made_in_inference_mode_is_not_saved_for_backward),
        CHECK_TEST(what_is_made_in_inference_mode_is_written_only_there),
        CHECK_TEST(a_view_of_a_weight_taken_in_inference_mode_is_ordinary),
        CHECK_TEST(gradients_of_backward_in_inference_mode_are_ordinary),
        CHECK_TEST(autocast_casts_products_and_losses),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    failed |= !CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_free(NULL);
    return failed;
}
