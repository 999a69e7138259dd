/* stream_order.cc - streams and events of a CUDA device in emulation, where work runs as late as
 * the host's waits allow and streams go on in any order: what the program orders has its values,
 * what it leaves out shows; backwards and memory that several streams use need no wait of its. */
#include "../../src/api/cuda.h"
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"
#include "watch.h"

static tn_device_id cuda;

static tn_ints dims(int64_t a, int64_t b) {
    static int64_t at[2];
    at[0] = a;
    at[1] = b;
    tn_ints l = {at, 2};
    return l;
}
static tn_tensor *full(int64_t rows, int64_t cols, double value, tn_device_id device) {
    return tnp_full(dims(rows, cols), tn_float(value), TN_F32, device);
}
static tn_tensor *sum(tn_tensor *t) { return tnp_sum(t, tn_no_dims(), false, TN_NO_DTYPE); }
static bool backward(tn_tensor *t) {
    tn_tensors all = {&t, 1};
    return tn_backward_all(all, NULL, NULL);
}
/* Runs what with streams in several orders. */
template <class What>
static void in_orders(const What &what) {
    for (int order = 0; order < 8; order++) {
        take_order(order);
        TN_SCOPE
            what();
    }
    take_order(0);
    CHECK(tn_device_wait(cuda));
}

#ifdef TNC_EMULATION
static void a_missing_wait_shows(void) {
    tn_stream *s = tn_stream_new(cuda, 0);
    TN_SCOPE {
        tn_tensor *x = full(10, 10, 2, cuda), *y = NULL;
        CHECK(tn_device_wait(cuda));
        tnp_add_(x, x, 1);
        TN_STREAM(s) y = tnp_mul(x, x);
        CHECK(tn_stream_synchronize(s)); /* runs s alone: x is what it was */
        TN_STREAM(s) CHECK(tn_item(sum(y)) == 400);
        CHECK(tn_item(sum(x)) == 400);
    }
    tn_stream_free(s);
}
#endif

static void waits_and_events_make_an_order(void) {
    tn_stream *s = tn_stream_new(cuda, -1), *own = tn_stream_default(cuda);
    tn_stream_event *e = tn_event_new(true), *z = tn_event_new(true);
    CHECK(tn_stream_priority(s) == -1);
    in_orders([&] {
        tn_tensor *x = full(10, 10, 2, cuda), *y = NULL;
        tnp_add_(x, x, 1);
        CHECK(tn_event_record(e, own) && tn_stream_wait_event(s, e));
        TN_STREAM(s) y = tnp_mul(x, x);
        CHECK(tn_event_record(z, s) && tn_stream_wait_stream(own, s));
        tnp_add_(x, y, 1);
        CHECK(tn_item(sum(x)) == 2000);
        CHECK(tn_event_query(z) && tn_event_elapsed_ms(e, z) >= 0);
        CHECK(tn_stream_query(s) && tn_stream_query(own));
        TN_STREAM(s) tnp_zero_(y);
        CHECK(tn_event_record(z, s));
        while (!tn_event_query(z)) {}
        CHECK(tn_event_synchronize(z) && tn_item(sum(y)) == 0);
    });
    tn_event_free(e);
    tn_event_free(z);
    tn_stream_free(s);
}

/* Each tensor is freed while the other stream still has to read it, and its stream goes on to fill
 * new ones. */
static void memory_is_not_used_again_too_early(void) {
    tn_stream *s = tn_stream_new(cuda, 0), *own = tn_stream_default(cuda);
    in_orders([&] {
        tn_tensor *total = NULL;
        TN_STREAM(s) total = full(30, 40, 0, cuda);
        for (int i = 0; i < 12; i++) {
            tn_tensor *x = full(30, 40, i, cuda);
            CHECK(tn_stream_wait_stream(s, own));
            TN_STREAM(s) tnp_add_(total, x, 1);
            tn_free(x);
            tn_free(full(30, 40, 99, cuda)); /* would be x's memory */
        }
        CHECK(tn_stream_synchronize(s));
        TN_STREAM(s) CHECK(tn_item(sum(total)) == 66 * 1200);
    });
    CHECK(tn_device_wait(cuda) && tn_memory_trim() >= 0);
    TN_SCOPE
        CHECK(full(2, 2, 1, cuda) && tn_device_memory(cuda).used == 512);
    tn_stream_free(s);
}

/* The same, where another context frees them and fills new ones, also in a stream of its own, and
 * ends with work under way. */
static void contexts_share_memory_in_the_order_of_streams(void) {
    tn_stream *s = tn_stream_new(cuda, 0), *own = tn_stream_default(cuda);
    tn_context *first = tn_context_current();
    in_orders([&] {
        char why[200] = "";
        tn_context *other = tn_context_new(NULL);
        tn_tensor *total = NULL;
        tn_context_use(other);
        CHECK(tn_backend_add(tn_cuda_backend(why, sizeof why)));
        tn_stream *theirs = tn_stream_new(cuda, 0);
        tn_context_use(first);
        TN_STREAM(s) total = full(30, 40, 0, cuda);
        for (int i = 0; i < 12; i++) {
            tn_tensor *x = full(30, 40, i, cuda);
            CHECK(tn_stream_wait_stream(s, own));
            TN_STREAM(s) tnp_add_(total, x, 1);
            tn_context_use(other);
            tn_free(x);
            tn_free(full(30, 40, 99, cuda)); /* would be x's memory */
            TN_STREAM(theirs) tn_free(full(30, 40, 98, cuda));
            tn_context_use(first);
        }
        tn_context_use(other);
        TN_STREAM(theirs) full(30, 40, 97, cuda);
        tn_context_use(first);
        tn_context_free(other);
        CHECK(tn_stream_synchronize(s));
        TN_STREAM(s) CHECK(tn_item(sum(total)) == 66 * 1200);
    });
    CHECK(tn_device_wait(cuda) && tn_memory_trim() >= 0);
    tn_stream_free(s);
}

static void memory_of_a_limit_is_waited_for(void) {
    tn_stream *s = tn_stream_new(cuda, 0), *own = tn_stream_default(cuda);
    TN_SCOPE {
        CHECK(tn_device_wait(cuda) && tn_memory_trim() >= 0);
        const int64_t before = tn_device_memory(cuda).reserved;
        CHECK(tn_device_memory_limit(cuda, before + (5 << 20)));
        tn_tensor *x = full(1024, 1024, 1, cuda), *y = NULL;
        CHECK(x && tn_stream_wait_stream(s, own));
        TN_STREAM(s) y = sum(x);
        tn_free(x);
        x = full(1024, 1024, 2, cuda); /* the only memory that there is */
        CHECK(x && tn_item(sum(x)) == 2 << 20);
        TN_STREAM(s) CHECK(tn_item(y) == 1 << 20);
        CHECK(tn_device_memory_limit(cuda, 0));
    }
    tn_stream_free(s);
}

/* The loss of two towers, each in a stream of its own; its gradients as sums. */
static bool towers(tn_device_id device, tn_stream *a, tn_stream *b, double *to) {
    tn_tensor *x = tn_requires_grad(full(5, 6, 0.5, device)),
              *w = tn_requires_grad(full(6, 5, 0.25, device)),
              *v = tn_requires_grad(full(5, 6, 0.75, device)), *p = NULL, *q = NULL, *loss;
    tn_stream *own = tn_stream_current(device);
    if (a && !(tn_stream_wait_stream(a, own) && tn_stream_wait_stream(b, own))) return false;
    TN_STREAM(a) {
        p = tnp_tanh(tnp_transpose(tnp_matmul(x, w), 0, 1));
        p = sum(tnp_mul(p, p));
    }
    TN_STREAM(b) q = sum(tnp_sigmoid(tnp_add(tnp_mul(x, v), x, 1)));
    if (a && !(tn_stream_wait_stream(own, a) && tn_stream_wait_stream(own, b))) return false;
    loss = tnp_add(p, q, 1);
    if (!loss || !backward(loss)) return false;
    to[0] = tn_item(loss);
    to[1] = tn_item(sum(tn_grad_of(x)));
    to[2] = tn_item(sum(tn_grad_of(w)));
    to[3] = tn_item(sum(tn_grad_of(v)));
    return true;
}
static void a_backward_in_several_streams_has_the_cpus_gradients(void) {
    tn_stream *a = tn_stream_new(cuda, 0), *b = tn_stream_new(cuda, 0);
    double want[4];
    TN_SCOPE
        CHECK(towers(TN_CPU, NULL, NULL, want));
    in_orders([&] {
        double got[4] = {0, 0, 0, 0};
        CHECK(towers(cuda, a, b, got) && !memcmp(got, want, sizeof got));
    });
    tn_stream_free(a);
    tn_stream_free(b);
}

static void copies_of_pinned_memory_go_into_a_stream(void) {
    tn_stream *s = tn_stream_new(cuda, 0);
    in_orders([&] {
        tn_tensor *x = tn_pin(full(10, 20, 3, TN_CPU)), *up = NULL, *down = NULL;
        TN_STREAM(s) {
            up = tnp_to(x, cuda, TN_NO_DTYPE, true, false);
            tn_free(x);
            down = tnp_to(tnp_add(up, up, 1), TN_CPU, TN_NO_DTYPE, true, false);
        }
        CHECK(tn_stream_synchronize(s) && tn_item(sum(down)) == 1200);
    });
    tn_stream_free(s);
}

#ifdef TNC_EMULATION
static void another_device_waits_for_an_event(void) {
    const tn_device_id other = tn_device("cuda:1");
    tn_stream *s = tn_stream_new(other, 0), *own = tn_stream_default(cuda);
    in_orders([&] {
        tn_tensor *x = full(4, 4, 2, cuda), *y = NULL;
        TN_STREAM(s) y = full(4, 4, 1, other);
        CHECK(tn_stream_wait_stream(s, own));
        TN_STREAM(s) tnp_add_(y, y, 1);
        CHECK(tn_stream_synchronize(s) && tn_stream_query(own));
        TN_STREAM(s) CHECK(tn_item(sum(y)) == 32 && tn_item(sum(x)) == 32);
    });
    tn_stream_free(s);
}

static void calls_of_the_runtime_may_fail(void) {
    tn_stream *a = tn_stream_new(cuda, 0), *b = tn_stream_new(cuda, 0);
    double want[4], got[4];
    bool done = false;
    int ran = 0;
    TN_SCOPE
        CHECK(towers(cuda, a, b, want));
    for (int k = 1; !done && k < 200; k++, ran++)
        TN_SCOPE {
            tn_error_info e;
            emu_fail_at(k, EMU_CREATE); /* events: a wait is an error, freed memory is waited for */
            done = towers(cuda, a, b, got);
            const bool failed = emu_settings().fallible >= k;
            emu_fail_at(0, EMU_CREATE);
            CHECK(done || (tn_error_take(&e) && e.code == TN_MEMORY));
            done = done && !failed;
            CHECK(tn_device_wait(cuda) && towers(cuda, a, b, got));
            CHECK(!memcmp(got, want, sizeof got));
        }
    CHECK(done && ran > 5);
}

/* Asking again and again comes to an end; the wait has the error. */
static void a_broken_device_is_done(void) {
    const tn_device_id other = tn_device("cuda:1");
    tn_stream *s = tn_stream_new(other, 0);
    tn_stream_event *e = tn_event_new(false);
    tn_error_info why;
    TN_SCOPE {
        TN_STREAM(s) CHECK(full(4, 4, 1, other));
        CHECK(tn_event_record(e, s) && !tn_stream_query(s) && !tn_event_query(e));
        emu_memory().device[1].failed = cudaErrorLaunchFailure;
        CHECK(tn_stream_query(s) && tn_event_query(e));
        CHECK(!tn_stream_synchronize(s) && tn_error_take(&why));
        emu_memory().device[1].failed = cudaSuccess; /* the driver's would last */
        (void)cudaGetLastError();
        CHECK(tn_stream_synchronize(s));
    }
    tn_event_free(e);
    tn_stream_free(s);
}
#endif

int main(void) {
    static const check_test tests[] = {
#ifdef TNC_EMULATION
        CHECK_TEST(a_missing_wait_shows),
        CHECK_TEST(another_device_waits_for_an_event),
        CHECK_TEST(calls_of_the_runtime_may_fail),
        CHECK_TEST(a_broken_device_is_done),
#endif
        CHECK_TEST(waits_and_events_make_an_order),
        CHECK_TEST(memory_is_not_used_again_too_early),
        CHECK_TEST(contexts_share_memory_in_the_order_of_streams),
        CHECK_TEST(memory_of_a_limit_is_waited_for),
        CHECK_TEST(a_backward_in_several_streams_has_the_cpus_gradients),
        CHECK_TEST(copies_of_pinned_memory_go_into_a_stream),
    };
    char why[200] = "";
    setenv("EMU_DEVICES", "2", 1);
    setenv("EMU_LAZY", "1", 1);
    const tn_backend *backend = tn_cuda_backend(why, sizeof why);
    if (!backend || !tn_backend_add(backend)) {
        printf("%s\n0 passed, 1 failed\n", why);
        return 1;
    }
    cuda = tn_device("cuda:0");
    return CHECK_MAIN(tests, 1, NULL);
}
