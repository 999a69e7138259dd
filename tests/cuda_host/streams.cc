/* streams.cc - the memory of a CUDA device in emulation: its limit, its pieces, that a step of
 * training asks the driver for nothing once it has run; and pinned memory, which copies that
 * nobody waits for read and write. */
#include "../../src/api/cuda.h"
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"
#include "watch.h"

#include <unistd.h>

static tn_device_id cuda;

static tn_ints dims(int64_t a, int64_t b) {
    static int64_t at[2];
    at[0] = a;
    at[1] = b;
    tn_ints l = {at, 2};
    return l;
}
static tn_tensor *full(int64_t rows, int64_t cols, double value) {
    return tnp_full(dims(rows, cols), tn_float(value), TN_F32, cuda);
}
static float *data(tn_tensor *t) { return (float *)tn_data(t); }
static double number(tn_tensor *t) { return tn_item(t); }
static bool backward(tn_tensor *t) {
    tn_tensors all = {&t, 1};
    return tn_backward_all(all, NULL, NULL);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* y = sum((x * w).relu() * v), its gradients, and a step of w and v. */
static bool step(tn_tensor *x, tn_tensor *w, tn_tensor *v) {
    bool ok = false;
    TN_SCOPE {
        tn_tensor *h = tnp_relu(tnp_sum(tnp_mul(x, w), tn_no_dims(), false, TN_NO_DTYPE)),
                  *y = tnp_sum(tnp_mul(h, v), tn_no_dims(), false, TN_NO_DTYPE);
        ok = backward(y);
        tn_no_grad {
            ok = ok && tnp_add_(w, tn_grad_of(w), -0.01) && tnp_add_(v, tn_grad_of(v), -0.01);
        }
        tn_zero_grad(w);
        tn_zero_grad(v);
    }
    return ok;
}

static void a_steady_step_asks_the_driver_for_nothing(void) {
    TN_SCOPE {
        tn_tensor *x = full(64, 300, 0.5), *w = tn_requires_grad(full(64, 300, 0.25)),
                  *v = tn_requires_grad(full(64, 300, 2));
        CHECK(step(x, w, v) && step(x, w, v));
        const int64_t calls = tn_device_memory(cuda).calls, peak = tn_device_memory(cuda).peak;
        const long long allocs = runtime_calls().allocs, frees = runtime_calls().frees;
        for (int i = 0; i < 5; i++) CHECK(step(x, w, v));
        CHECK(tn_device_wait(cuda));
        CHECK_EQ(tn_device_memory(cuda).calls, calls);
        CHECK_EQ(tn_device_memory(cuda).peak, peak);
        CHECK(runtime_calls().allocs == allocs && runtime_calls().frees == frees && calls > 0);
    }
}

static void a_limit_holds_and_what_is_kept_is_given_up_for_it(void) {
    tn_error_info e;
    TN_SCOPE {
        tn_tensor *kept = full(1024, 1024, 1); /* 4 MiB of a segment of 20 */
        CHECK(kept && tn_device_memory(cuda).reserved >= 20 << 20);
        tn_free(kept);
        CHECK(tn_memory_trim() >= 20 << 20);
        const int64_t reserved = tn_device_memory(cuda).reserved;
        CHECK(tn_device_memory_limit(cuda, reserved + (9 << 20)));
        kept = full(1024, 1024, 1); /* a segment of its own size */
        CHECK(kept && tn_device_memory(cuda).reserved == reserved + (4 << 20));
        tn_free(kept);
        kept = full(2048, 1024, 1); /* in place of the one that is kept */
        CHECK(kept && tn_device_memory(cuda).reserved == reserved + (8 << 20));
        CHECK(!full(1024, 1024, 1) && tn_error_take(&e) && e.code == TN_MEMORY);
        CHECK(strstr(e.message, "out of memory on cuda:0: 4194304 bytes were requested") &&
              strstr(e.message, "float32 (2048, 1024)"));
        CHECK(number(tnp_sum(kept, tn_no_dims(), false, TN_NO_DTYPE)) == 2048 * 1024);
        CHECK(tn_device_memory_limit(cuda, 0) && full(1024, 1024, 1));
    }
}

static void most_is_what_was_reserved_at_most(void) {
    TN_SCOPE {
        CHECK(tn_device_wait(cuda) && tn_memory_trim() >= 0);
        tn_device_reset_peak(cuda);
        const int64_t before = tn_device_memory(cuda).reserved;
        CHECK_EQ(tn_device_memory(cuda).most, before);
        tn_tensor *x = full(2048, 4096, 1); /* 32 MiB, a segment of its own */
        CHECK(x && tn_device_memory(cuda).reserved == before + (32 << 20));
        CHECK_EQ(tn_device_memory(cuda).most, before + (32 << 20));
        tn_free(x);
        CHECK(tn_device_wait(cuda) && tn_memory_trim() >= 32 << 20);
        CHECK_EQ(tn_device_memory(cuda).reserved, before);
        CHECK_EQ(tn_device_memory(cuda).most, before + (32 << 20));
        CHECK(full(1024, 4096, 1) != NULL); /* reserves less than that */
        CHECK_EQ(tn_device_memory(cuda).most, before + (32 << 20));
        tn_device_reset_peak(cuda);
        CHECK_EQ(tn_device_memory(cuda).most, tn_device_memory(cuda).reserved);
    }
}

struct pieces {
    int64_t used, all;
    const char *end;
    int gaps;
};
static void add_piece(const tn_device_piece *piece, void *user) {
    pieces *p = (pieces *)user;
    const bool first = piece->at == piece->segment;
    p->gaps += !first && p->end != piece->at;
    p->end = (const char *)piece->at + piece->bytes;
    p->all += piece->bytes;
    p->used += piece->used ? piece->bytes : 0;
}
static void a_snapshot_has_each_byte_once(void) {
    TN_SCOPE {
        pieces p = {0, 0, NULL, 0};
        tn_tensor *a = full(10, 10, 1), *b = full(3000, 100, 2), *c = full(20, 10, 3);
        tn_free(a);
        CHECK(b && c && tn_device_snapshot(cuda, add_piece, &p) >= 4);
        CHECK_EQ(p.used, tn_device_memory(cuda).used);
        CHECK_EQ(p.all, tn_device_memory(cuda).reserved);
        CHECK(p.gaps == 0);
        tn_device_reset_peak(cuda);
        CHECK_EQ(tn_device_memory(cuda).peak, tn_device_memory(cuda).used);
    }
}

/* --- pinned memory ---------------------------------------------------------------------------- */

/* Copies up and down again, while the memory of each is freed at once and asked for anew. */
static void pinned_memory_is_used_again_when_its_copy_is_done(void) {
    enum { N = 20, COLS = 1000 };
    tn_tensor *up[N], *down[N];
    const long long waits = runtime_calls().waits;
    TN_SCOPE {
        for (int i = 0; i < N; i++) {
            tn_tensor *p = tn_pin(tnp_full(dims(1, COLS), tn_float(i), TN_F32, TN_CPU));
            up[i] = tnp_to(p, cuda, TN_NO_DTYPE, true, false);
            tn_free(p);
        }
        for (int i = 0; i < N; i++) down[i] = tnp_to(up[i], TN_CPU, TN_NO_DTYPE, true, false);
        CHECK_EQ(runtime_calls().waits, waits); /* the host has waited for nothing */
        CHECK(tn_device_wait(cuda));
        for (int i = 0; i < N; i++) {
            CHECK(tn_is_pinned(down[i]));
            for (int k = 0; k < COLS; k++) CHECK(data(down[i])[k] == (float)i);
        }
    }
}

/* Without non_blocking the source may be changed at once, also in pinned memory. */
static void a_blocking_copy_has_read_its_source(void) {
    TN_SCOPE {
        tn_tensor *p = tn_pin(tnp_full(dims(1, 50), tn_float(3), TN_F32, TN_CPU)),
                  *x = tnp_to(p, cuda, TN_NO_DTYPE, false, false);
        for (int k = 0; k < 50; k++) data(p)[k] = 4;
        CHECK(number(tnp_sum(x, tn_no_dims(), false, TN_NO_DTYPE)) == 150);
    }
}

static void pinned_memory_is_kept(void) {
    CHECK(tn_device_wait(cuda));
    TN_SCOPE
        CHECK(tn_is_pinned(tn_pin(tnp_full(dims(1, 5000), tn_float(1), TN_F32, TN_CPU))));
    const long long before = runtime_calls().pinned;
    for (int i = 0; i < 5; i++)
        TN_SCOPE {
            tn_tensor *p = tn_pin(tnp_full(dims(1, 5000), tn_float(i), TN_F32, TN_CPU)),
                      *x = tnp_to(p, cuda, TN_NO_DTYPE, true, false);
            CHECK(x && tn_device_wait(cuda));
        }
    CHECK_EQ(runtime_calls().pinned, before);
    const long long gone = runtime_calls().unpinned;
    tn_memory_trim();
    CHECK_EMULATED(runtime_calls().unpinned > gone);
}

/* A launch needs the device of its stream to be the thread's current one. */
static void calls_of_two_devices_may_alternate(void) {
    if (!two_devices()) return;
    const tn_device_id other = tn_device("cuda:1");
    TN_SCOPE {
        tn_tensor *x = full(2, 2, 1), *y = tnp_full(dims(2, 2), tn_float(2), TN_F32, other);
        for (int i = 0; i < 3; i++) {
            CHECK(tnp_add_(x, x, 1)); /* takes no memory, which would make the device current */
            CHECK(tnp_add_(y, y, 1) && tnp_zero_(full(1, 1, 3)));
        }
        CHECK(number(tnp_sum(x, tn_no_dims(), false, TN_NO_DTYPE)) == 32);
        CHECK(number(tnp_sum(y, tn_no_dims(), false, TN_NO_DTYPE)) == 64);
    }
}

/* Static objects end in reverse: this one begins before main, so the backend's are over by then. */
static struct after_main {
    tn_tensor *x, *pinned;
    ~after_main() {
        const int64_t used = tn_device_memory(cuda).used;
        if (!x || !pinned) return;
        tn_free(x);
        tn_free(pinned);
        tn_memory_trim();
        if (tn_device_memory(cuda).used == used - 512) return; /* the grain of x */
        printf("FAILED tensors_may_be_freed_when_main_has_ended\n");
        fflush(stdout);
        _exit(1);
    }
} after_main;

int main(void) {
    static const check_test tests[] = {
        CHECK_TEST(calls_of_two_devices_may_alternate),
        CHECK_TEST(a_steady_step_asks_the_driver_for_nothing),
        CHECK_TEST(a_limit_holds_and_what_is_kept_is_given_up_for_it),
        CHECK_TEST(most_is_what_was_reserved_at_most),
        CHECK_TEST(a_snapshot_has_each_byte_once),
        CHECK_TEST(pinned_memory_is_used_again_when_its_copy_is_done),
        CHECK_TEST(a_blocking_copy_has_read_its_source),
        CHECK_TEST(pinned_memory_is_kept),
    };
    char why[200] = "";
    setenv("EMU_DEVICES", "2", 1);
    const tn_backend *backend = tn_cuda_backend(why, sizeof why);
    if (!backend || !tn_backend_add(backend)) {
        printf("%s\n0 passed, 1 failed\n", why);
        return 1;
    }
    cuda = tn_device("cuda:0");
    after_main.x = full(10, 10, 1);
    after_main.pinned = tn_pin(tnp_zeros(dims(10, 10), TN_F32, TN_CPU));
    return CHECK_MAIN(tests, 1, NULL);
}
