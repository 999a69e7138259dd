/* checked.c - TN_CHECK: a freed tensor is never taken for another one, and the error of every
 * function that is given it says which line freed it and which made it. The Makefile builds it with
 * the files that know TN_CHECK; they keep 64 KiB of headers here. */
#include "../../src/api/extend.h"
#include "../../src/api/data.h"
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../check.h"

#ifndef TN_CHECK /* other lanes link every program of this folder with a library without it */
int main(int argc, char **argv) {
    (void)argc, (void)argv;
    printf("0 passed, 0 failed\n");
    return 0;
}
#else
#include <pthread.h>

/* The pending error, which is taken, begins like this: %d is a line of this file. */
static bool says(const char *format, int first, int second) {
    char wants[600];
    const char *at = format;
    size_t n = 0;
    int k = 0;
    tn_error_info e;
    for (; *at; at++) {
        if (at[0] == '%')
            n += (size_t)snprintf(wants + n, sizeof wants - n, "%s:%d", __FILE__,
                                  k++ ? second : first);
        else
            wants[n++] = *at;
    }
    wants[n] = 0;
    if (!CHECK(tn_error_take(&e))) return false;
    CHECK_EQ(e.code, TN_INVALID);
    if (CHECK(strncmp(e.message, wants, n) == 0)) return true;
    printf("    \"%s\"\n    got \"%s\"\n", wants, e.message);
    return false;
}

static int made, freed;
static tn_tensor *freed_tensor(void) {
    tn_tensor *t = (made = __LINE__, tn_ones(TN_DIMS(2, 3)));
    freed = __LINE__, tn_free(t);
    return t;
}

static void the_line_of_tn_free_is_named(void) {
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2, 3)), *bad = freed_tensor();
        CHECK(!tn_mul(bad, x) &&
              says("argument 'self' of mul was freed at % (it was made at %)\n  in mul(self=freed, "
                   "other=float32 (2, 3))",
                   freed, made));
        CHECK(!tn_cat(TN_LIST(x, bad), .dim = 0) &&
              says("argument 'tensors[1]' of cat was freed at % (it was made at %)", freed, made));
        CHECK(!tn_exp(x, .out = bad) &&
              says("argument 'out' of exp was freed at % (it was made at %)", freed, made));
        CHECK(!tn_linear(bad, x) &&
              says("argument 'input' of linear was freed at % (it was made at %)", freed, made));
    }
}

static void the_line_where_its_scope_begins_is_named(void) {
    tn_tensor *x = tn_ones(TN_DIMS(2)), *inner = NULL, *outer = NULL;
    int begins, begins_inner, of_inner = 0, of_outer = 0;
    begins = __LINE__ + 1;
    TN_SCOPE {
        begins_inner = __LINE__ + 1;
        TN_SCOPE {
            inner = (of_inner = __LINE__, tn_exp(x));
            outer = (of_outer = __LINE__, tn_keep(tn_exp(x)));
        }
        CHECK(tn_exp(outer));
        CHECK(!tn_exp(inner) &&
              says("argument 'self' of exp was freed at the end of the scope that "
                   "begins at % (it was made at %)",
                   begins_inner, of_inner));
    }
    CHECK(!tn_exp(outer) && says("argument 'self' of exp was freed at the end of the scope that "
                                 "begins at % (it was made at %)",
                                 begins, of_outer));
    tn_free(x);
}

static void the_line_of_tn_scope_end_is_named(void) {
    tn_tensor *x = tn_ones(TN_DIMS(2)), *y;
    int64_t mark = tn_scope_begin();
    y = (made = __LINE__, tn_exp(x));
    freed = __LINE__, tn_scope_end(mark);
    CHECK(!tn_exp(y) &&
          says("argument 'self' of exp was freed at % (its scope ended there; it was made at %)",
               freed, made));
    tn_free(x);
}

/* A scope of a program without lines, as deep as one that had one. */
static void a_line_is_forgotten_with_its_scope(void) {
    tn_tensor *x = tn_ones(TN_DIMS(2)), *y;
    int64_t mark;
    int last;
    TN_SCOPE (void) !tn_exp(x);
    mark = (tn_scope_begin)();
    last = __LINE__ + 1;
    y = tn_exp(x);
    (tn_scope_end)(mark);
    CHECK(!tn_exp(y) && says("argument 'self' of exp was freed after the call at % (it was made at "
                             "%)",
                             last, last));
    tn_free(x);
}

static void without_a_line_the_last_call_before_is_named(void) {
    void (*drop)(tn_tensor *) = tn_free;
    tn_tensor *x = tn_ones(TN_DIMS(2)), *y = (made = __LINE__, tn_exp(x));
    int last = (tn_item(tn_sum(x)), __LINE__);
    drop(y);
    CHECK(!tn_exp(y) && says("argument 'self' of exp was freed after the call at % (it was made at "
                             "%)",
                             last, made));
    tn_free(x);
}

/* Every function that reads or takes a tensor; the result is that of NULL. */
static void every_function_finds_it(void) {
    tn_tensor *bad = freed_tensor(), *x = tn_ones(TN_DIMS(2, 3));
    float room[6];
    tn_tensor *leaf = tn_requires_grad(tn_ones(TN_DIMS(2, 3)));
#define FINDS(name, call) CHECK((call) && says(name ": the tensor was freed at %", freed, 0))
    FINDS("tn_ndim", tn_ndim(bad) == 0);
    FINDS("tn_size", tn_size(bad, 0) == 0);
    FINDS("tn_stride", tn_stride(bad, 0) == 0);
    FINDS("tn_shape", tn_shape(bad).n == 0);
    FINDS("tn_strides", tn_strides(bad).n == 0);
    FINDS("tn_numel", tn_numel(bad) == 0);
    FINDS("tn_dtype_of", tn_dtype_of(bad) == TN_NO_DTYPE);
    FINDS("tn_device_of", tn_device_of(bad) == TN_NO_DEVICE);
    FINDS("tn_is_contiguous", !tn_is_contiguous(bad));
    FINDS("tn_storage_offset", tn_storage_offset(bad) == 0);
    FINDS("tn_data", tn_data(bad) == NULL);
    FINDS("tn_touch", !tn_touch(bad));
    FINDS("tn_count_apart", !tn_count_apart(bad));
    FINDS("tn_version", tn_version(bad) == 0);
    FINDS("tn_is_view", !tn_is_view(bad));
    FINDS("tn_is_read_only", !tn_is_read_only(bad));
    FINDS("tn_is_wrapped", !tn_is_wrapped(bad));
    FINDS("tn_same_storage", !tn_same_storage(x, bad));
    FINDS("tn_storage_bytes", tn_storage_bytes(bad) == 0);
    FINDS("tn_base_of", tn_base_of(bad) == NULL);
    FINDS("tn_item", tn_item(bad) == 0);
    FINDS("tn_item", tn_item_int(bad) == 0);
    FINDS("tn_item", tn_item_scalar(bad).kind == TN_KIND_NONE);
    FINDS("tn_read", !tn_read_f32(bad, room, 6));
    FINDS("tn_print", !tn_print(bad));
    FINDS("tn_to_text", !tn_to_text(bad, NULL));
    FINDS("tn_requires_grad", !tn_requires_grad(bad));
    FINDS("tn_needs_grad", !tn_needs_grad(bad));
    FINDS("tn_is_leaf", !tn_is_leaf(bad));
    FINDS("tn_grad_fn", !tn_grad_fn(bad));
    FINDS("tn_is_inference", !tn_is_inference(bad));
    FINDS("tn_grad_of", !tn_grad_of(bad));
    FINDS("tn_set_grad", !tn_set_grad(leaf, bad));
    FINDS("tn_zero_grad", (tn_zero_grad(bad), true));
    FINDS("tn_retain_grad", !tn_retain_grad(bad));
    FINDS("tn_retains_grad", !tn_retains_grad(bad));
    FINDS("tn_hook_remove", !tn_hook_remove(bad, 1));
    FINDS("tn_history_of", !tn_history_of(bad));
    FINDS("tn_history_output", tn_history_output(bad) == 0);
    FINDS("backward", !tn_backward(bad));
    FINDS("tn_binding", !tn_binding(bad));
    FINDS("tn_set_binding", !tn_set_binding(bad, NULL, NULL));
    FINDS("tn_swap_data", !tn_swap_data(bad, x));
    FINDS("tn_keep", !tn_keep(bad));
    FINDS("tn_hold", !tn_hold(bad));
    FINDS("tn_retain", !tn_retain(bad));
    FINDS("freed twice", (tn_free(bad), true));
    FINDS("freed twice", (tn_release(bad), true));
#undef FINDS
    CHECK_EQ(tn_owners(bad), 0);
    tn_free(x);
    tn_free(leaf);
}

static void a_second_tn_free_is_an_error_at_its_line(void) {
    tn_tensor *bad = freed_tensor();
    int64_t live = tn_memory().live_tensors;
    tn_error_info e;
    int line = __LINE__ + 1;
    tn_free(bad);
    CHECK(tn_error_peek(&e) && e.line == line && e.file && strcmp(e.file, __FILE__) == 0);
    says("freed twice: the tensor was freed at % (it was made at %)", freed, made);
    CHECK_EQ(tn_memory().live_tensors, live);
}

static void modules_and_optimizers_name_it(void) {
    tn_module *m = tn_nn_linear(3, 2);
    tn_tensor *bad = freed_tensor();
    TN_SCOPE {
        tn_error_info e;
        tn_optimizer *sgd = tn_optim_sgd(TN_LIST(bad), .lr = 0.1);
        CHECK(!sgd && tn_error_peek(&e) && strstr(e.message, "was freed at "));
        tn_error_take(NULL);
        CHECK(!tn_dataset_tensors(TN_LIST(bad)));
        CHECK(tn_error_peek(&e) && strstr(e.message, "was freed at "));
        tn_error_take(NULL);
        CHECK(!tn_forward(m, bad));
        CHECK(tn_error_peek(&e) && strstr(e.message, "was freed at "));
        tn_error_take(NULL);
        CHECK(!tn_module_set_tensor(m, "weight", bad));
        CHECK(tn_error_peek(&e) && strstr(e.message, "was freed at "));
        tn_error_take(NULL);
    }
    tn_module_free(m);
}

/* 64 KiB are some 340 headers. */
static void headers_are_kept_up_to_the_bound(void) {
    tn_tensor *bad = freed_tensor(), *t;
    int64_t bytes;
    for (int i = 0; i < 300; i++) {
        t = tn_ones(TN_DIMS(1));
        CHECK(t != bad);
        tn_free(t);
    }
    CHECK(!tn_exp(bad) && says("argument 'self' of exp was freed at %", freed, 0));
    for (int i = 0; i < 1000; i++) tn_free(tn_ones(TN_DIMS(1)));
    bytes = tn_memory().bytes_used;
    for (int i = 0; i < 10000; i++) tn_free(tn_ones(TN_DIMS(1)));
    CHECK_EQ(tn_memory().bytes_used, bytes);
}

static int freed_there;
static void *free_there(void *t) {
    freed_there = __LINE__, tn_free((tn_tensor *)t);
    return NULL;
}
static void the_line_in_another_thread_is_named(void) {
    tn_tensor *x = tn_ones(TN_DIMS(2)), *y = (made = __LINE__, tn_exp(x));
    pthread_t other;
    pthread_create(&other, NULL, free_there, y);
    pthread_join(other, NULL);
    for (int round = 0; round < 2; round++) { /* in the other's hands, then back here */
        CHECK(!tn_exp(y) &&
              says("argument 'self' of exp was freed at % (it was made at %)", freed_there, made));
        tn_free(tn_ones(TN_DIMS(1)));
    }
    tn_free(x);
}

static void contexts_without_caches_keep_headers_too(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.no_cache = true;
    o.threads = -1;
    tn_context_use(c = tn_context_new(&o));
    the_line_of_tn_free_is_named();
    headers_are_kept_up_to_the_bound();
    tn_context_use(NULL);
    tn_context_free(c);
}

/* What is kept goes before memory runs out: an eighth of the cap, then nothing. */
static void what_is_kept_makes_room(void) {
    tn_context_options o;
    tn_context *c;
    int made_here = 0;
    memset(&o, 0, sizeof o);
    o.no_cache = true;
    o.threads = -1;
    o.memory_cap = 400000;
    tn_context_use(c = tn_context_new(&o));
    for (int i = 0; i < 1000; i++) tn_free(tn_ones(TN_DIMS(1)));
    while (made_here < 3000 && tn_ones(TN_DIMS(1))) made_here++;
    CHECK(tn_error_take(NULL));
    CHECK(made_here > 600); /* of some 600 bytes each, without giving up what is kept 538 */
    tn_context_use(NULL);
    tn_context_free(c);
}

static const check_test tests[] = {
    CHECK_TEST(the_line_of_tn_free_is_named),
    CHECK_TEST(the_line_where_its_scope_begins_is_named),
    CHECK_TEST(the_line_of_tn_scope_end_is_named),
    CHECK_TEST(a_line_is_forgotten_with_its_scope),
    CHECK_TEST(without_a_line_the_last_call_before_is_named),
    CHECK_TEST(every_function_finds_it),
    CHECK_TEST(a_second_tn_free_is_an_error_at_its_line),
    CHECK_TEST(modules_and_optimizers_name_it),
    CHECK_TEST(headers_are_kept_up_to_the_bound),
    CHECK_TEST(the_line_in_another_thread_is_named),
    CHECK_TEST(contexts_without_caches_keep_headers_too),
    CHECK_TEST(what_is_kept_makes_room),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
#endif
