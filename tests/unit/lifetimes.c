/* lifetimes.c - a freed tensor is named wherever it is given to the library, as long as its header
 * has not become another tensor's: by operators, lists, in place, out=, short ways, backward,
 * reads, owners. Nothing stays of the call. */
#include "../../src/api/extend.h"
#include "../../src/api/io.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>

/* The pending error has the words; it is taken. */
static bool said(const char *words) {
    tn_error_info e;
    if (!CHECK(tn_error_take(&e))) return false;
    if (CHECK(strstr(e.message, words) != NULL)) return true;
    printf("    \"%s\"\n    in \"%s\"\n", words, e.message);
    return false;
}

static int made_line;
/* A tensor that is freed, of 2 x 3 elements. */
static tn_tensor *freed_tensor(void) {
    tn_tensor *t = tn_ones(TN_DIMS(2, 3)); /* its line: */
    made_line = __LINE__ - 1;
    tn_free(t);
    return t;
}
/* "argument 'self' of mul is freed (it was made at .../lifetimes.c:N)" is the error's beginning. */
static bool names(const char *begin) {
    char line[64];
    tn_error_info e;
    snprintf(line, sizeof line, "lifetimes.c:%d)", made_line);
    if (!CHECK(tn_error_peek(&e))) return false;
    CHECK_EQ(e.code, TN_INVALID);
    CHECK(strstr(e.message, line) != NULL);
    return said(begin);
}

static void operators_name_the_argument_that_is_freed(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2, 3)), *bad = freed_tensor();
        int64_t live = tn_memory().live_tensors;
        CHECK(!tn_mul(bad, x) && names("argument 'self' of mul is freed (it was made at "));
        CHECK(!tn_mul(x, bad) && names("argument 'other' of mul is freed (it was made at "));
        CHECK(!tn_mul_(bad, x) && names("argument 'self' of mul is freed"));
        CHECK(!tn_mul_(x, bad) && names("argument 'other' of mul is freed"));
        CHECK(!tn_mul_scalar(bad, 2) && names("argument 'self' of mul is freed"));
        CHECK(!tn_exp(bad) && names("argument 'self' of exp is freed"));
        CHECK(!tn_exp(x, .out = bad) && names("argument 'out' of exp is freed"));
        CHECK(!tn_sum(bad) && names("argument 'self' of sum is freed"));
        CHECK(!tn_matmul(x, bad) && names("argument 'other' of matmul is freed"));
        CHECK(!tn_linear(bad, x) && names("argument 'input' of linear is freed"));
        CHECK(!tn_linear(x, bad) && names("argument 'weight' of linear is freed"));
        CHECK(!tn_where(x, bad, x) && names("argument 'self' of where is freed"));
        /* rows of views have a short way of their own */
        CHECK(!tn_transpose(bad, 0, 1) && names("argument 'self' of transpose is freed"));
        CHECK(!tn_reshape(bad, TN_DIMS(6)) && names("argument 'self' of reshape is freed"));
        CHECK(!tn_select(bad, 0, 0) && names("argument 'self' of select is freed"));
        CHECK_EQ(tn_memory().live_tensors, live);
    }
}

static void members_of_lists_are_named_by_their_position(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2, 3)), *bad = freed_tensor();
        CHECK(!tn_cat(TN_LIST(x, x, bad), .dim = 0) &&
              names("argument 'tensors[2]' of cat is freed"));
        CHECK(!tn_stack(TN_LIST(bad, x)) && names("argument 'tensors[0]' of stack is freed"));
    }
}

static void the_text_of_the_call_says_which_arguments_are_freed(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2, 3)), *bad = freed_tensor();
        CHECK(!tn_mul(x, bad) && said("in mul(self=float32 (2, 3), other=freed)"));
    }
}

static void results_of_an_ended_scope_are_freed(void) {
    tn_tensor *y = NULL, *z = NULL;
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(2, 3)));
        y = tn_mul(x, x);
        z = tn_transpose(x, 0, 1);
    }
    CHECK(!tn_exp(y) && said("argument 'self' of exp is freed (it was made at "));
    CHECK(!tn_exp(z) && said("argument 'self' of exp is freed (it was made at "));
    CHECK(!tn_backward(tn_sum(y)) && said("argument 'self' of sum is freed"));
}

static void backward_names_roots_inputs_and_gradients(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(2, 3))), *y = tn_sum(tn_mul(x, x));
        tn_tensor *bad = freed_tensor(), *grads[1];
        CHECK(!tn_backward(bad) && names("backward: the tensor is freed"));
        CHECK(!tn_backward(y, .gradient = bad) && names("backward: the tensor is freed"));
        CHECK(!tn_backward(y, .inputs = TN_LIST(bad)) && names("inputs: the tensor is freed"));
        CHECK(!tn_grads(TN_LIST(y), TN_LIST(bad), grads, NULL) &&
              names("inputs: the tensor is freed"));
        CHECK(!tn_requires_grad(bad) && names("tn_requires_grad: the tensor is freed"));
        CHECK(!tn_set_grad(bad, x) && names("tn_set_grad: the tensor is freed"));
        CHECK(!tn_set_grad(x, bad) && names("tn_set_grad: the tensor is freed"));
        CHECK(!tn_retain_grad(bad) && names("tn_retain_grad: the tensor is freed"));
        CHECK(tn_backward(y)); /* which nothing has spent */
    }
}

static void reads_and_files_name_the_tensor(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2, 3)), *bad = freed_tensor();
        const tn_named list = {"w", bad};
        float room[6];
        CHECK(tn_item(bad) == 0 && names("tn_item: the tensor is freed"));
        CHECK(!tn_read_f32(bad, room, 6) && names("tn_read: the tensor is freed"));
        CHECK(!tn_print(bad) && names("tn_print: the tensor is freed"));
        CHECK(!tn_to_text(bad, NULL) && names("tn_to_text: the tensor is freed"));
        CHECK(!tn_swap_data(x, bad) && names("tn_swap_data: the tensor is freed"));
        CHECK(!tn_set_data(x, bad) && names("tn_set_data: the tensor is freed"));
        CHECK(!tn_safetensors_save("never", &list, 1) && names("w: the tensor is freed"));
    }
}

/* Nothing of these may touch the lists of headers: what follows would fall. */
static void owners_of_a_freed_tensor_are_refused(void) {
    tn_tensor *many[64];
    int64_t live = tn_memory().live_tensors;
    for (int kind = 0; kind < 5; kind++)
        TN_SCOPE {
            tn_tensor *bad = freed_tensor(), *again;
            switch (kind) {
            case 0: tn_free(bad), names("freed twice: the tensor is freed"); break;
            case 1: CHECK(!tn_keep(bad) && names("tn_keep: the tensor is freed")); break;
            case 2: CHECK(!tn_hold(bad) && names("tn_hold: the tensor is freed")); break;
            case 3: CHECK(!tn_retain(bad) && names("tn_retain: the tensor is freed")); break;
            case 4: CHECK(!tn_lend(bad) && names("tn_lend: the tensor is freed")); break;
            }
            CHECK_EQ(tn_owners(bad), 0);
            again = tn_ones(TN_DIMS(3));
            for (int i = 0; i < 64; i++) many[i] = tn_add_scalar(again, i);
            for (int i = 0; i < 64; i++) {
                CHECK_EQ(tn_item(tn_select(many[i], 0, 2)), i + 1);
                for (int k = 0; k < i; k++) CHECK(many[k] != many[i]);
            }
        }
    CHECK_EQ(tn_memory().live_tensors, live);
}

static void *free_it(void *t) {
    tn_free((tn_tensor *)t);
    return NULL;
}
static void a_tensor_that_another_thread_freed_is_named(void) {
    pthread_t other;
    tn_tensor *x = tn_ones(TN_DIMS(2, 3)), *y = tn_ones(TN_DIMS(2, 3));
    int64_t live = tn_memory().live_tensors;
    pthread_create(&other, NULL, free_it, y);
    pthread_join(other, NULL);
    CHECK(!tn_mul(x, y) && said("argument 'other' of mul is freed (it was made at "));
    tn_free(y);
    said("freed twice: the tensor is freed");
    tn_free(tn_ones(TN_DIMS(1))); /* takes y's header back */
    CHECK(!tn_mul(x, y) && said("argument 'other' of mul is freed"));
    CHECK_EQ(tn_memory().live_tensors, live - 1);
    tn_free(x);
}

/* Data of the size of a header does not take its memory, which stays a header's. */
static void freed_headers_are_not_used_for_data(void) {
    enum { MANY = 64 };
    tn_tensor *bad[MANY], *like[1];
    TN_SCOPE {
        int named = 0;
        like[0] = tn_ones(TN_DIMS(32)); /* data of 128 bytes behind 64: as large as a header */
        for (int i = 0; i < MANY; i++) bad[i] = tn_ones(TN_DIMS(2));
        for (int i = 0; i < MANY; i++) tn_free(bad[i]);
        for (int i = 0; i < MANY / 2; i++) CHECK(tn_add(like[0], like[0])); /* take half of them */
        for (int i = 0; i < MANY; i++) {
            bool ok = tn_exp(bad[i]) != NULL;
            named += !ok && said("argument 'self' of exp is freed");
        }
        CHECK(named > 0);
    }
}

static const check_test tests[] = {
    CHECK_TEST(operators_name_the_argument_that_is_freed),
    CHECK_TEST(members_of_lists_are_named_by_their_position),
    CHECK_TEST(the_text_of_the_call_says_which_arguments_are_freed),
    CHECK_TEST(results_of_an_ended_scope_are_freed),
    CHECK_TEST(backward_names_roots_inputs_and_gradients),
    CHECK_TEST(reads_and_files_name_the_tensor),
    CHECK_TEST(owners_of_a_freed_tensor_are_refused),
    CHECK_TEST(a_tensor_that_another_thread_freed_is_named),
    CHECK_TEST(freed_headers_are_not_used_for_data),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
