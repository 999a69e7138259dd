/* frames.c - a host's frame, as a game or an audio plugin has it: what it takes from the allocator
 * while shapes change, memory reserved before the first frame, and the line of a call that
 * allocates where none is expected. */
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdint.h>

enum { WIDE = 24, MOST = 64, FRAMES = 300 };

static int64_t mallocs;
static void *count_alloc(size_t bytes, void *user) {
    (void)user;
    mallocs++;
    return malloc(bytes);
}
static void count_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    free(at);
}
static tn_context *begin(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = count_alloc;
    o.allocator.free = count_free;
    o.threads = -1;
    c = tn_context_new(&o);
    tn_context_use(c);
    tn_manual_seed(1);
    return c;
}
static void end(tn_context *c) {
    CHECK(!tn_error_print());
    tn_context_use(NULL);
    tn_context_free(c);
}
static bool cached(void) { /* a build for sanitizers has no cache */
    int64_t before = mallocs;
    for (int i = 0; i < 2; i++) tn_alloc_free(tn_alloc(3000), 3000);
    return mallocs <= before + 1;
}

/* One frame over `rows` of data, of which every frame has another number. */
static double frame(tn_module *net, int64_t rows) {
    double sum = 0;
    TN_SCOPE
        tn_inference_mode {
            tn_tensor *x = tn_full(TN_DIMS(rows, WIDE), 0.5, .dtype = TN_F32);
            sum = tn_item(tn_sum(tn_forward(net, x)));
        }
    return sum;
}
static tn_module *network(void) {
    return tn_sequential(tn_nn_linear(WIDE, 96), tn_nn_relu(), tn_nn_linear(96, WIDE));
}

static void frames_of_one_size_never_ask_the_allocator(void) {
    tn_context *c = begin();
    tn_module *net = network();
    for (int i = 0; i < 3; i++) CHECK(frame(net, MOST) != 0);
    for (int i = 0; i < FRAMES; i++)
        tn_expect_no_alloc {
            CHECK(frame(net, MOST) != 0);
        }
    CHECK(tn_ok());
    tn_module_free(net);
    end(c);
}
static void frames_of_any_size_ask_until_each_class_was_met(void) {
    tn_context *c = begin();
    tn_module *net = network();
    if (cached()) {
        int64_t before, half = 0;
        CHECK(frame(net, MOST) != 0);
        before = mallocs;
        for (int i = 0; i < FRAMES; i++) {
            if (i == FRAMES / 2) half = mallocs;
            CHECK(frame(net, 1 + i * 29 % MOST) != 0);
        }
        CHECK(half > before && half < before + 100);
        CHECK_EQ(mallocs, half);
    }
    tn_module_free(net);
    end(c);
}
static void a_reserve_serves_from_the_first_frame_on(void) {
    tn_context *c = begin();
    tn_module *net = network();
    CHECK(tn_memory_reserve(4 << 20));
    tn_set_memory_cap(1);
    if (cached()) {
        int64_t before = mallocs;
        for (int i = 0; i < FRAMES; i++)
            tn_expect_no_alloc {
                CHECK(frame(net, 1 + i * 29 % MOST) != 0);
            }
        CHECK_EQ(mallocs, before);
    }
    tn_set_memory_cap(0);
    tn_module_free(net);
    end(c);
}

static tn_error_info last;
static char text[400];
static int told;
static void tell(const tn_error_info *e, void *user) {
    (void)user;
    last = *e;
    snprintf(text, sizeof text, "%s", e->message);
    told++;
}
static void a_call_that_allocates_is_named_with_its_line(void) {
    tn_context *c = begin();
    if (cached()) {
        tn_tensor *x = tn_ones(TN_DIMS(100, 100)), *y = NULL, *sum = tn_sum(x);
        int line = 0;
        tn_set_error_handler(tell, NULL);
        told = 0;
        tn_free(sum);
        tn_expect_no_alloc {
            int64_t before = tn_memory().bytes_used;
            line = __LINE__ + 1;
            y = tn_mul(x, x);
            CHECK(!y && told == 1 && tn_memory().bytes_used == before);
            CHECK(tn_error_take(NULL));
            CHECK((sum = tn_sum(x)) != NULL); /* small: from the thread's own memory */
        }
        CHECK(strstr(last.file, "frames.c") && last.line == line && last.code == TN_MEMORY);
        CHECK(strstr(text, "inside tn_expect_no_alloc 41088 bytes would come from the allocator"));
        CHECK(strstr(text, "mul(self=float32 (100, 100), other=float32 (100, 100))"));
        CHECK_EQ(told, 1);
        y = tn_mul(x, x); /* outside it is as ever, and afterwards cached */
        CHECK(y != NULL);
        tn_free(y);
        tn_expect_no_alloc {
            y = tn_mul(x, x);
            CHECK(y != NULL);
        }
        tn_free(y), tn_free(x), tn_free(sum);
    }
    end(c);
}
static bool leave_early(tn_tensor *x) {
    tn_expect_no_alloc {
        if (x) return tn_mul(x, x) != NULL;
    }
    return false;
}
static tn_tensor *hook(tn_tensor *grad, void *user) {
    (void)user;
    tn_set_no_alloc_mode(true); /* and forgets to set it back */
    return grad;
}
static void the_mode_ends_with_its_block(void) {
    tn_context *c = begin();
    tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(50, 50))), *y;
    CHECK(!tn_set_no_alloc_mode(false));
    leave_early(x);
    tn_error_take(NULL);
    CHECK(!tn_set_no_alloc_mode(false));
    TN_SCOPE {
        y = tn_mul(x, x);
        CHECK(tn_hook_add(y, hook, NULL, NULL) && tn_backward(tn_sum(y)));
    }
    CHECK(!tn_set_no_alloc_mode(false));
    tn_free(x);
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(frames_of_one_size_never_ask_the_allocator),
        CHECK_TEST(frames_of_any_size_ask_until_each_class_was_met),
        CHECK_TEST(a_reserve_serves_from_the_first_frame_on),
        CHECK_TEST(a_call_that_allocates_is_named_with_its_line),
        CHECK_TEST(the_mode_ends_with_its_block),
    };
    return CHECK_MAIN(tests, argc, argv);
}
