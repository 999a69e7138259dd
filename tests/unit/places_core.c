/* places_core.c - an error names the user's line: of the call that failed, never of the last one
 * before it; where a function is not told its caller's line, there is no place. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

static int told, told_line;
static void note(const tn_error_info *e, void *user) {
    (void)user;
    told++;
    told_line = e->line;
}

/* The pending error is of that line of this file (0: of no place), and the handler has heard of it;
 * it is taken. */
static void placed(int line) {
    tn_error_info e;
    int heard = told;
    told = 0;
    if (!CHECK(tn_error_take(&e))) return;
    CHECK_EQ(heard, 1);
    CHECK_EQ(e.line, line);
    CHECK_EQ(told_line, line);
    if (line)
        CHECK(e.file && strstr(e.file, "places_core.c"));
    else
        CHECK(e.file == NULL);
}
/* gcc warns of dropped results even of (void). */
#pragma GCC diagnostic ignored "-Wunused-result"
#define HERE(call) ((void)(call), placed(__LINE__))
#define NOWHERE(call) ((void)(call), placed(0))

static tn_tensor *pass(tn_tensor *grad, void *user) {
    (void)user;
    return grad;
}
static bool square(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    *nout = 1;
    return (out[0] = tn_mul(in[0], in[0])) != NULL;
}

static void errors_name_the_line_of_the_call(void) {
    float room[3] = {0, 0, 0};
    double wide[3] = {0, 0, 0};
    int64_t whole[3] = {0, 0, 0};
    tn_set_error_handler(note, NULL);
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2)), *y = tn_ones(TN_DIMS(3)), *many[65];
        HERE(tn_item(x));
        HERE(tn_item_int(x));
        HERE(tn_item_scalar(x));
        HERE(tn_read_f32(x, room, 3));
        HERE(tn_read_f64(x, wide, 3));
        HERE(tn_read_i64(x, whole, 3));
        HERE(tn_print(NULL));
        HERE(tn_to_text(NULL, NULL));
        HERE(tn_device("no such device"));
        HERE(tn_tensor_of(TN_DIMS(2), 1));
        HERE(tn_set_grad(x, y));
        HERE(tn_retain_grad(x));
        HERE(tn_hook_add(x, pass, NULL, NULL));
        HERE(tn_swap_data(x, y));
        HERE(tn_gradcheck(square, TN_LIST(x), NULL, NULL));
        HERE(tn_gradgradcheck(square, TN_LIST(x), NULL, NULL));
        HERE(tn_requires_grad(NULL));
        HERE(tn_backward(x));
        for (int i = 0; i < 65; i++) many[i] = x;
        HERE(tn_checkpoint(NULL, tn_tensors_of(many, 65), NULL));
    }
    tn_set_error_handler(NULL, NULL);
}

static void what_is_not_told_a_line_names_none(void) {
    double (*item)(const tn_tensor *) = tnp_item;
    bool (*set)(tn_tensor *, tn_tensor *) = tnp_set_grad;
    tn_set_error_handler(note, NULL);
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2)), *one = tn_ones(TN_DIMS(1));
        NOWHERE(tn_size(x, 7));
        NOWHERE(tn_stride(NULL, 0));
        NOWHERE(tn_touch(NULL));
        NOWHERE(tn_set_default_dtype(TN_I64));
        NOWHERE(tn_record_end());
        NOWHERE(tn_replay(NULL));
        NOWHERE(item(x));
        NOWHERE(set(x, one));
        CHECK(item(one) == 1 && set(x, NULL));
    }
    tn_set_error_handler(NULL, NULL);
}

static void a_tensor_is_printed_while_an_error_is_pending(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2));
        char *text;
        tn_error_set(TN_INVALID, "a.c", 5, "first");
        text = tn_to_text(x, NULL);
        CHECK_TEXT(text, "tensor([1., 1.])");
        tn_alloc_free(text, strlen(text) + 1);
        tn_error_info e;
        CHECK(tn_error_take(&e) && e.line == 5);
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(errors_name_the_line_of_the_call),
        CHECK_TEST(what_is_not_told_a_line_names_none),
        CHECK_TEST(a_tensor_is_printed_while_an_error_is_pending),
    };
    return CHECK_MAIN(tests, argc, argv);
}
