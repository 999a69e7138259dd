/* unscoped.c - a loop without TN_SCOPE is told of, once, with a line, before memory runs out: by
 * the handler, by tn_warning_take, by tn_error_print, and in the error of the memory. Nothing fails
 * for it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../src/api/extend.h"
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

static int told, told_line;
static char told_text[800];
static jmp_buf out;
static bool jumps;
static void note(const tn_error_info *e, void *user) {
    (void)user;
    told++;
    CHECK_EQ(e->code, TN_WARNING);
    CHECK(e->file && strcmp(e->file, __FILE__) == 0);
    told_line = e->line;
    snprintf(told_text, sizeof told_text, "%s", e->message);
    if (jumps) longjmp(out, 1);
}

static tn_context *begin(int64_t tensors, bool handler) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    tn_context_use(c = tn_context_new(&o));
    if (handler) tn_set_error_handler(note, NULL);
    if (tensors) tn_set_unscoped_warning(tensors);
    told = told_line = 0;
    told_text[0] = 0;
    jumps = false;
    return c;
}
static void end(tn_context *c) {
    CHECK(tn_ok());
    tn_context_use(NULL);
    tn_context_free(c);
}

static int leak_line;
/* n tensors that nobody frees. */
static void leak(int n) {
    for (int i = 0; i < n; i++) leak_line = __LINE__, (void)!tn_ones(TN_DIMS(1));
}
/* "N tensors outside of TN_SCOPE are alive, the last made at FILE:LINE: .." */
static bool says(const char *text, int n) {
    char wants[400];
    snprintf(wants, sizeof wants,
             "%d tensors outside of TN_SCOPE are alive, the last made at %s:%d: a loop without "
             "TN_SCOPE?",
             n, __FILE__, leak_line);
    return strstr(text, wants) != NULL;
}

static void the_handler_is_told_once_at_the_bound(void) {
    tn_context *c = begin(500, true);
    leak(500);
    CHECK_EQ(told, 0);
    leak(1);
    CHECK_EQ(told, 0); /* it has seen that there are 500, and has not ended */
    leak(1);
    CHECK_EQ(told, 1);
    if (!CHECK(says(told_text, 500))) printf("    %s\n", told_text);
    CHECK_EQ(told_line, leak_line);
    CHECK(tn_ok() && !tn_error_peek(NULL) && !tn_warning_take(NULL));
    leak(5000);
    CHECK_EQ(told, 1);
    tn_set_unscoped_warning(600); /* once more */
    leak(100);
    CHECK_EQ(told, 2);
    end(c);
}

static void the_default_is_100000(void) {
    tn_context *c = begin(0, true);
    leak(100001);
    CHECK_EQ(told, 0);
    leak(1);
    CHECK(told == 1 && says(told_text, 100000));
    end(c);
}

static void it_can_be_switched_off(void) {
    tn_context *c = begin(-1, true);
    leak(101000);
    CHECK_EQ(told, 0);
    tn_set_unscoped_warning(0);
    leak(10);
    CHECK_EQ(told, 1);
    end(c);
}

static void tensors_in_scopes_do_not_count(void) {
    tn_context *c = begin(500, true);
    TN_SCOPE {
        leak(5000);
        TN_SCOPE
            leak(5000);
    }
    for (int i = 0; i < 100; i++)
        TN_SCOPE
            leak(50);
    CHECK_EQ(told, 0);
    end(c);
}

static void what_is_held_out_of_its_scope_counts(void) {
    tn_context *c = begin(500, true);
    for (int i = 0; i < 600; i++)
        TN_SCOPE
            tn_hold(tn_ones(TN_DIMS(1)));
    CHECK_EQ(told, 1);
    end(c);
}

static void without_a_handler_it_waits_and_nothing_fails(void) {
    tn_context *c = begin(500, false);
    tn_error_info e;
    leak(600);
    CHECK(tn_ok() && !tn_error_peek(NULL) && !tn_error_take(NULL));
    TN_SCOPE
        CHECK(tn_item(tn_ones(TN_DIMS(1))) == 1);
    if (CHECK(tn_warning_take(&e))) {
        CHECK(e.code == TN_WARNING && e.file && e.line == leak_line && says(e.message, 500));
        CHECK(strcmp(tn_code_name(e.code), "warning") == 0);
    }
    CHECK(!tn_warning_take(&e));
    end(c);
}

static void tn_error_print_writes_it_and_finds_no_error(void) {
    char name[] = "/tmp/unscopedXXXXXX", *text;
    tn_context *c = begin(500, false);
    const int file = mkstemp(name), before = dup(2);
    leak(600);
    CHECK(file >= 0 && before >= 0 && dup2(file, 2) == 2);
    const bool first = tn_error_print(), second = tn_error_print();
    CHECK(dup2(before, 2) == 2);
    CHECK(!first && !second);
    text = check_file(name);
    if (CHECK(text)) {
        CHECK(says(text, 500) && strstr(text, ": warning: 500 tensors"));
        CHECK(strchr(text, '\n') && !strchr(text, '\n')[1]); /* one line */
    }
    free(text);
    close(file), close(before), remove(name);
    end(c);
}

/* The handler of many programs jumps. Nothing is in progress where it is called. */
static void the_handler_may_jump(void) {
    tn_context *c = begin(500, true);
    volatile int jumped = 0;
    jumps = true;
    if (setjmp(out)) jumped++;
    if (!jumped) leak(600);
    CHECK_EQ(jumped, 1);
    CHECK_EQ(tn_memory().live_tensors, 501);
    jumps = false;
    TN_SCOPE
        CHECK(tn_item(tn_add_scalar(tn_ones(TN_DIMS(1)), 1)) == 2);
    end(c);
}

static tn_tensor *leaks(tn_tensor *const *in, int nin, void *user) {
    (void)nin, (void)user;
    for (int i = 0; i < 600; i++) leak_line = __LINE__, tn_hold(tn_ones(TN_DIMS(1)));
    CHECK_EQ(told, 0);
    return tn_mul(in[0], in[0]);
}
static void inside_of_a_call_the_handler_is_not_called(void) {
    tn_context *c = begin(500, true);
    tn_tensor *x = tn_ones(TN_DIMS(2)), *y = tn_checkpoint(leaks, tn_tensors_of(&x, 1), NULL);
    CHECK(y != NULL);
    CHECK_EQ(told, 0);
    (void)!tn_exp(x);
    CHECK_EQ(told, 1);
    end(c);
}

static void a_tenth_is_enough_where_gigabytes_are_in_use(void) {
    tn_context *c = begin(500, true);
    const size_t bytes = sizeof(size_t) > 4 ? (size_t)5 << 15 << 15 : 0;
    void *at = bytes ? tn_alloc(bytes) : NULL; /* not written: no memory of the machine */
    if (at) {
        leak(51);
        CHECK_EQ(told, 0);
        leak(2);
        CHECK(told == 1 && says(told_text, 51));
        tn_alloc_free(at, bytes);
    }
    tn_error_take(NULL);
    end(c);
}

static void *other_leaks(void *context) {
    tn_context_use((tn_context *)context);
    leak(600);
    return NULL;
}
static void each_thread_is_counted_and_the_context_told_once(void) {
    tn_context *c = begin(500, true);
    pthread_t other;
    leak(450);
    CHECK_EQ(told, 0);
    pthread_create(&other, NULL, other_leaks, c);
    pthread_join(other, NULL);
    CHECK_EQ(told, 1);
    leak(300);
    CHECK_EQ(told, 1);
    end(c);
}

static void an_error_of_memory_says_it_too(void) {
    tn_context_options o;
    tn_context *c;
    tn_error_info e;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.memory_cap = 4 << 20;
    tn_context_use(c = tn_context_new(&o));
    while (tn_ok()) leak(1);
    if (CHECK(tn_error_take(&e))) {
        CHECK(e.code == TN_MEMORY && strstr(e.message, "out of memory: cannot allocate "));
        CHECK(strstr(e.message, " tensors outside of TN_SCOPE are alive, the last made at "));
    }
    tn_set_unscoped_warning(-1);
    leak(1);
    CHECK(tn_error_take(&e) && !strstr(e.message, "TN_SCOPE"));
    end(c);
}

static const check_test tests[] = {
    CHECK_TEST(the_handler_is_told_once_at_the_bound),
    CHECK_TEST(the_default_is_100000),
    CHECK_TEST(it_can_be_switched_off),
    CHECK_TEST(tensors_in_scopes_do_not_count),
    CHECK_TEST(what_is_held_out_of_its_scope_counts),
    CHECK_TEST(without_a_handler_it_waits_and_nothing_fails),
    CHECK_TEST(tn_error_print_writes_it_and_finds_no_error),
    CHECK_TEST(the_handler_may_jump),
    CHECK_TEST(inside_of_a_call_the_handler_is_not_called),
    CHECK_TEST(a_tenth_is_enough_where_gigabytes_are_in_use),
    CHECK_TEST(each_thread_is_counted_and_the_context_told_once),
    CHECK_TEST(an_error_of_memory_says_it_too),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
