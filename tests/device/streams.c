/* streams.c - streams and events of a device: which one a thread's calls go into, that a missing
 * wait is seen (order.h) and none is missing where the library promises an order: memory, copies,
 * backwards; wrong arguments, and every allocation failing. */
#define _XOPEN_SOURCE 700
#include "../../src/api/ops.h"
#include "../../src/api/extend.h"
#include "../refused.h"
#include "null.h"
#include "order.h"

#include <pthread.h>

static tn_device_id null0, null1, bare;

static tn_context *begin(void) {
    tn_context *c = tn_context_new(NULL);
    tn_context_use(c);
    CHECK(tn_backend_add(tn_null_backend()) && tn_backend_add(tn_bare_backend()));
    null0 = tn_device("null:0");
    null1 = tn_device("null:1");
    bare = tn_device("bare");
    order_begin();
    return c;
}
static void end(tn_context *c) {
    tn_error_info e;
    CHECK(!tn_error_take(&e));
    CHECK_EQ(order_untold, 0);
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(null_blocks, 0);
    CHECK_EQ(null_events, 0);
}
static tn_tensor *range(tn_device_id device, int64_t n) {
    return tn_to(tn_arange((double)n, .dtype = TN_F32), device);
}
/* Since the last call. */
static int64_t races(void) {
    const int64_t n = order_races;
    order_races = 0;
    return n;
}

/* --- which one -------------------------------------------------------------------------------- */

static void a_thread_has_a_current_stream_of_each_device(void) {
    tn_context *c = begin();
    tn_stream *a = tn_stream_new(null0, 0), *b = tn_stream_new(null0, -1),
              *other = tn_stream_new(null1, 0), *own = tn_stream_default(null0);
    CHECK(a && b && other && own && a != b && a != own);
    CHECK(tn_stream_device(a) == null0 && tn_stream_device(other) == null1);
    CHECK(tn_stream_device(NULL) == TN_NO_DEVICE);
    CHECK(tn_stream_priority(b) == -1 && tn_stream_priority(own) == 0);
    CHECK(tn_stream_handle(a) && !tn_stream_handle(own) && !tn_stream_handle(NULL));
    CHECK(tn_stream_current(null0) == own && tn_stream_current(null1) == tn_stream_default(null1));
    TN_STREAM(a) {
        CHECK(tn_stream_current(null0) == a && tn_stream_current(null1) != other);
        TN_STREAM(other) {
            TN_STREAM(b) { CHECK(tn_stream_current(null0) == b); }
            CHECK(tn_stream_current(null0) == a && tn_stream_current(null1) == other);
            TN_STREAM(own) { CHECK(tn_stream_current(null0) == own); }
            TN_STREAM(NULL) { CHECK(tn_stream_current(null0) == a); }
        }
    }
    CHECK(tn_stream_current(null0) == own);
    CHECK(tn_stream_use(a) == own && tn_stream_use(own) == a && !tn_stream_use(NULL));
    CHECK(!tn_stream_current(TN_CPU) && !tn_stream_default(TN_META) && !tn_stream_current(77));
    tn_stream_free(a);
    CHECK(tn_stream_new(null0, -1) != a && tn_stream_new(null0, 0) == a); /* it waited */
    tn_stream_free(own);
    tn_stream_free(NULL);
    CHECK(tn_stream_current(null0) == own);
    end(c);
}

static tn_stream *leaves_by_return(tn_stream *s) {
    TN_STREAM(s) return tn_stream_current(tn_stream_device(s));
    return NULL;
}
static void *asks_for_the_current(void *context) {
    tn_context_use((tn_context *)context);
    return tn_stream_current(null0);
}
static void a_block_ends_in_any_way_and_threads_have_their_own(void) {
    tn_context *c = begin();
    tn_stream *a = tn_stream_new(null0, 0);
    pthread_t thread;
    void *said = NULL;
    CHECK(leaves_by_return(a) == a && tn_stream_current(null0) == tn_stream_default(null0));
    TN_STREAM(a) {
        CHECK(!pthread_create(&thread, NULL, asks_for_the_current, c));
        pthread_join(thread, &said);
        CHECK(said == tn_stream_default(null0) && tn_stream_current(null0) == a);
        tn_error_set(TN_INVALID, NULL, 0, "waits"); /* a block ends beside an error, too */
    }
    CHECK(tn_error_take(NULL) && tn_stream_current(null0) == tn_stream_default(null0));
    end(c);
}

/* --- order ------------------------------------------------------------------------------------ */

static void a_missing_wait_is_seen(void) {
    tn_context *c = begin();
    tn_stream *s = tn_stream_new(null0, 0), *own = tn_stream_default(null0);
    TN_SCOPE {
        tn_tensor *x = tn_exp(range(null0, 5)), *y = NULL;
        CHECK_EQ(races(), 0);
        TN_STREAM(s) y = tn_add_scalar(x, 1);
        CHECK(races() > 0);
        CHECK(at(y, 0) == 2 && races() > 0); /* the host waits for another stream */
        CHECK(tn_stream_wait_stream(s, own));
        TN_STREAM(s) {
            y = tn_add_scalar(x, 1);
            CHECK(at(y, 0) == 2 && races() == 0); /* for this one it does */
        }
        TN_STREAM(s) y = tn_mul(y, y);
        tn_zero_(x);
        CHECK_EQ(races(), 0); /* the last read of x was waited for */
        TN_STREAM(s) tn_add_(x, y);
        CHECK(races() > 0);
        CHECK(tn_device_wait(null0) && at(x, 0) == 4 && races() == 0); /* all streams */
        tn_zero_(x);
        TN_STREAM(s) {
            CHECK(at(tn_zeros(TN_DIMS(2), .device = null0), 0) == 0); /* waits for s alone */
            CHECK(at(x, 0) == 0 && races() > 0);
        }
    }
    end(c);
}

static void events_make_an_order(void) {
    tn_context *c = begin();
    tn_stream *a = tn_stream_new(null0, 0), *b = tn_stream_new(null0, 0);
    tn_stream_event *e = tn_event_new(true), *z = tn_event_new(true), *plain = tn_event_new(false);
    TN_SCOPE {
        tn_tensor *x = NULL, *y = NULL;
        CHECK(tn_event_query(e) && tn_event_synchronize(e) && tn_stream_wait_event(a, e));
        TN_STREAM(a) x = tn_full(TN_DIMS(4), 3, .device = null0);
        CHECK(tn_event_record(e, a));
        TN_STREAM(a) tn_add_scalar_(x, 1);
        CHECK(tn_stream_wait_event(b, e));
        TN_STREAM(b) y = tn_exp(x);
        CHECK(races() > 0); /* the addition came behind the event */
        CHECK(tn_event_record(e, a) && tn_stream_wait_event(b, e));
        TN_STREAM(b) y = tn_mul(x, x);
        CHECK_EQ(races(), 0);
        CHECK(tn_event_record(z, b) && !tn_event_query(z) && tn_event_query(z));
        CHECK(at(y, 3) == 16 && races() == 0); /* the host knows */
        CHECK(tn_event_elapsed_ms(e, z) >= 0);
        TN_STREAM(b) tn_zero_(y);
        CHECK(!tn_stream_query(b) && tn_stream_query(b) && tn_stream_synchronize(b));
        CHECK(tn_event_record(z, b));
        REFUSED(tn_event_elapsed_ms(e, z) >= 0, TN_INVALID, "one of the events is not done");
        CHECK(tn_event_synchronize(z) && tn_event_elapsed_ms(e, z) >= 0 && at(y, 0) == 0);
        CHECK_EQ(races(), 0);
        REFUSED(tn_event_elapsed_ms(e, plain) >= 0, TN_INVALID, "made with timing");
    }
    tn_event_free(plain);
    plain = tn_event_new(true);
    REFUSED(tn_event_elapsed_ms(e, plain) >= 0, TN_INVALID, "recorded first");
    CHECK(tn_event_record(plain, tn_stream_default(null1)));
    REFUSED(tn_event_elapsed_ms(e, plain) >= 0, TN_INVALID, "of two devices");
    REFUSED(tn_event_record(plain, a), TN_INVALID,
            "tn_event_record: the event is of null:1, the stream of null:0");
    CHECK(tn_stream_wait_event(a, plain)); /* between devices */
    tn_event_free(e);
    tn_event_free(z);
    tn_event_free(plain);
    tn_event_free(NULL);
    end(c);
}

static void copies_go_into_the_current_stream(void) {
    tn_context *c = begin();
    tn_stream *a = tn_stream_new(null0, 0), *b = tn_stream_new(null1, 0);
    TN_SCOPE {
        tn_tensor *x = tn_arange(6, .dtype = TN_F32), *y = NULL, *z = NULL;
        TN_STREAM(a) y = tn_to(x, null0);
        TN_STREAM(a) z = tn_clone(tn_t(tn_reshape(y, TN_DIMS(2, 3))));
        CHECK_EQ(races(), 0);
        TN_STREAM(a) CHECK(at(z, 1) == 3 && races() == 0);
        TN_STREAM(a) {
            TN_STREAM(b) { /* waits for a, and goes on in b */
                z = tn_to(z, null1);
                z = tn_add_scalar(z, 1);
            }
        }
        CHECK_EQ(races(), 0);
        TN_STREAM(b) CHECK(at(z, 1) == 4);
        TN_STREAM(a) tn_fill_(y, 2);
        tn_copy_(y, x);
        CHECK(races() > 0); /* the fill was asked elsewhere */
        CHECK(tn_device_wait(null0));
        TN_STREAM(a) y = tn_to(tn_pin(x), null0, .non_blocking = true);
        TN_STREAM(a) x = tn_to(tn_add(y, y), TN_CPU, .non_blocking = true);
        CHECK(tn_stream_synchronize(a) && at(x, 5) == 10 && races() == 0);
    }
    end(c);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* x of `own` is read in s and freed at once: its memory is not given out again before s is done. */
static void devices_of_a_backend_copy_to_each_other(void) {
    tn_context *c = begin();
    tn_stream *a = tn_stream_new(null0, 0), *b = tn_stream_new(null1, 0);
    TN_SCOPE {
        tn_tensor *x, *y, *z, *t;
        int64_t before = null_copies, made = null_across_copies;
        TN_STREAM(a) {
            x = tn_exp(tn_zeros(TN_DIMS(40, 30), .device = null0));
            tn_add_scalar_(x, 1);
            TN_STREAM(b) {
                y = tn_mul_scalar(tn_to(x, null1), 2); /* as it lies */
                z = tn_to(tn_transpose(tn_slice(x, .dim = 1, .end = 7), 0, 1), null1,
                          .dtype = TN_F64); /* over a dense one */
                t = tn_zeros(TN_DIMS(30, 40), .device = null1);
                tn_copy_(tn_transpose(t, 0, 1), x); /* and the other way */
            }
            tn_free(x);
            x = tn_full(TN_DIMS(40, 30), 5, .device = null0); /* where x was */
        }
        CHECK(null_copies == before && null_across_copies == made + 3);
        CHECK_EQ(races(), 0);
        TN_STREAM(b) {
            CHECK(tn_item(tn_sum(y)) == 4 * 1200 && tn_item(tn_sum(z)) == 2 * 280);
            CHECK(tn_item(tn_sum(t)) == 2 * 1200 && tn_dtype_of(z) == TN_F64);
        }
        /* others go through the host */
        before = null_copies;
        CHECK(tn_item(tn_sum(tn_to(tn_ones(TN_DIMS(3), .device = bare), null0))) == 3);
        CHECK(null_copies > before && null_across_copies == made + 3);
    }
    CHECK_EQ(races(), 0);
    end(c);
}

static void a_copy_between_devices_may_fail(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = range(null0, 6), *y = tn_zeros(TN_DIMS(6), .device = null1);
        null_fail_copy = 0;
        REFUSED(tn_to(x, null1), TN_INTERNAL,
                "a copy from null:0 to null:1 failed: the bus is on fire");
        null_fail_copy = -1;
        for (int64_t k = 0; k < 2; k++) {
            null_fail_alloc = k; /* an event each */
            REFUSED(tn_copy_(y, x), TN_MEMORY, "for an event");
            null_fail_alloc = -1;
        }
        CHECK(tn_copy_(y, x) && tn_item(tn_sum(y)) == 15);
    }
    end(c);
}

static void memory_waits_for_the_streams_that_use_it(void) {
    tn_context *c = begin();
    tn_stream *s = tn_stream_new(null0, 0), *own = tn_stream_default(null0);
    TN_SCOPE {
        tn_tensor *x = tn_full(TN_DIMS(100), 2, .device = null0), *y = NULL;
        const void *was = tn_device_data(x);
        CHECK(tn_stream_wait_stream(s, own));
        TN_STREAM(s) y = tn_exp(x);
        tn_free(x);
        x = tn_full(TN_DIMS(100), 3, .device = null0);
        CHECK(tn_device_data(x) != was);
        CHECK(tn_stream_wait_stream(own, s)); /* now own is behind s */
        tn_free(x);
        x = tn_full(TN_DIMS(100), 4, .device = null0);
        CHECK(tn_device_data(x) == was);
        tn_free(x);
        TN_STREAM(s) { /* s has memory of its own */
            x = tn_full(TN_DIMS(100), 5, .device = null0);
            CHECK(tn_device_data(x) != was && tn_device_data(x) != tn_device_data(y));
        }
        CHECK_EQ(races(), 0);
    }
    CHECK_EQ(order_untold, 0);
    TN_SCOPE { /* made in one stream, and never written there; filled in another one */
        tn_tensor *x = NULL, *y = tn_ones(TN_DIMS(3), .device = null0);
        TN_STREAM(s) x = tn_empty(TN_DIMS(3), .device = null0);
        CHECK(tn_stream_wait_stream(own, s) && tn_add_scalar(tn_fill_(x, 2), 1));
        CHECK(tn_stream_wait_stream(s, own));
        TN_STREAM(s) tn_fill_(y, 2);
        CHECK(tn_device_wait(null0) && at(x, 2) == 2 && at(y, 2) == 2);
    }
    CHECK(order_untold == 0 && races() == 0);
    TN_SCOPE { /* used by the program's own code */
        tn_tensor *x = tn_full(TN_DIMS(100), 2, .device = null0);
        const void *was = tn_device_data(x);
        CHECK(tn_record_stream(x, s));
        order_ask(1); /* something is asked of s */
        tn_free(x);
        CHECK(tn_device_data(tn_full(TN_DIMS(100), 3, .device = null0)) != was);
        REFUSED(tn_record_stream(NULL, s), TN_INVALID, "tn_record_stream: the tensor is NULL");
        REFUSED(tn_record_stream(tn_ones(TN_DIMS(2)), s), TN_INVALID,
                "the tensor is on cpu, the stream of null:0");
    }
    end(c);
}

/* --- gradients -------------------------------------------------------------------------------- */

typedef struct seen {
    tn_stream *in;
    int calls;
} seen;
static tn_tensor *sees_its_stream(tn_tensor *g, void *user) {
    seen *s = (seen *)user;
    s->in = tn_stream_current(null0);
    s->calls++;
    return g;
}

/* Two towers over x, each in a stream of its own, whose sum is the loss; their gradients to w, v, x
 * and the loss go to `to`. */
static bool towers(tn_device_id device, tn_stream *a, tn_stream *b, seen *s, double *to) {
    tn_tensor *x = tn_requires_grad(tn_reshape(range(device, 6), TN_DIMS(2, 3))),
              *w = tn_requires_grad(tn_full(TN_DIMS(3, 2), 0.5, .device = device)),
              *v = tn_requires_grad(tn_full(TN_DIMS(2, 3), 0.25, .device = device)), *p = NULL,
              *q = NULL, *loss;
    tn_stream *own = tn_stream_current(device);
    if (a && !(tn_stream_wait_stream(a, own) && tn_stream_wait_stream(b, own))) return false;
    TN_STREAM(a) {
        p = tn_matmul(x, w);
        p = tn_tanh(tn_transpose(p, 0, 1)); /* a view between */
        if (s && !tn_hook_add(p, sees_its_stream, &s[0], NULL)) return false;
        p = tn_sum(tn_mul(p, p));
    }
    TN_STREAM(b) {
        q = tn_mul(x, v);
        if (s && !tn_hook_add(q, sees_its_stream, &s[1], NULL)) return false;
        q = tn_sum(tn_sigmoid(tn_add(q, x)));
    }
    if (a && !(tn_stream_wait_stream(own, a) && tn_stream_wait_stream(own, b))) return false;
    loss = tn_add(p, q);
    if (!loss || !tn_backward(loss)) return false;
    tn_free(p);
    to[0] = tn_item(loss);
    to[1] = tn_item(tn_sum(tn_grad_of(x)));
    to[2] = tn_item(tn_sum(tn_grad_of(w)));
    to[3] = tn_item(tn_sum(tn_grad_of(v)));
    return tn_ok();
}

static void a_backward_runs_in_the_streams_of_the_calls(void) {
    tn_context *c = begin();
    double want[4], got[4];
    tn_stream *a = tn_stream_new(null0, 0), *b = tn_stream_new(null0, 0),
              *third = tn_stream_new(null0, 0);
    seen s[2] = {{NULL, 0}, {NULL, 0}};
    TN_SCOPE
        CHECK(towers(TN_CPU, NULL, NULL, NULL, want));
    for (int i = 0; i < 3; i++)
        TN_SCOPE {
            CHECK(towers(null0, a, b, s, got) && !memcmp(got, want, sizeof got));
            CHECK(s[0].in == a && s[1].in == b && s[0].calls == i + 1 && s[1].calls == i + 1);
            CHECK(tn_stream_current(null0) == tn_stream_default(null0));
            CHECK_EQ(races(), 0);
        }
    TN_STREAM(third)
    TN_SCOPE {
        CHECK(towers(null0, a, b, NULL, got) && !memcmp(got, want, sizeof got));
        CHECK(tn_stream_current(null0) == third && races() == 0);
    }
    end(c);
}

static void gradients_of_gradients_and_of_leaves_join_the_caller(void) {
    tn_context *c = begin();
    tn_stream *a = tn_stream_new(null0, 0), *own = tn_stream_default(null0);
    tn_grads_options again;
    memset(&again, 0, sizeof again);
    again.create_graph = true;
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(range(null0, 4)), *y = NULL, *g[1] = {NULL}, *sum;
        CHECK(tn_stream_wait_stream(a, own));
        TN_STREAM(a) y = tn_sum(tn_mul(tn_mul(x, x), x));
        CHECK(tn_stream_wait_stream(own, a));
        CHECK(tn_grads(tn_tensors_of(&y, 1), tn_tensors_of(&x, 1), g, &again) && races() == 0);
        CHECK(at(g[0], 3) == 27 && races() == 0);
        sum = tn_sum(g[0]);
        CHECK(tn_backward(sum) && at(tn_grad_of(x), 3) == 18 && races() == 0);
        TN_STREAM(a) { /* the caller's is a now: .grad may be read and added to there */
            CHECK(tn_stream_wait_stream(a, own));
            CHECK(tn_backward(tn_sum(tn_mul(x, x))) && at(tn_grad_of(x), 3) == 24);
        }
        CHECK_EQ(races(), 0);
        CHECK(tn_stream_current(null0) == own);
    }
    TN_SCOPE { /* what one stream began, another one adds to */
        tn_tensor *x = tn_requires_grad(range(null0, 4)), *h = NULL, *p = NULL, *q = NULL;
        tn_stream *b = tn_stream_new(null0, 0);
        CHECK(tn_stream_wait_stream(a, own));
        TN_STREAM(a) h = tn_exp(x);
        CHECK(tn_stream_wait_stream(b, a));
        TN_STREAM(b) q = tn_sum(tn_sin(h));
        TN_STREAM(a) p = tn_sum(tn_cos(h));
        CHECK(tn_stream_wait_stream(own, a) && tn_stream_wait_stream(own, b));
        CHECK(tn_backward(tn_add(p, q)) && races() == 0);
    }
    TN_SCOPE { /* made in the device's own stream, asked for in another one */
        tn_tensor *x = tn_requires_grad(range(null0, 4)), *y = tn_sum(tn_mul(x, x)), *z = NULL;
        CHECK(tn_stream_wait_stream(a, own));
        TN_STREAM(a) CHECK(tn_backward(y) && at(tn_grad_of(x), 3) == 6 && races() == 0);
        TN_STREAM(a) z = tn_neg(tn_detach(x));
        z = tn_add_scalar(z, 1);
        CHECK(races() > 0); /* calls behind a backward wait for nothing of themselves */
    }
    TN_SCOPE { /* nodes of views have no stream of their own */
        tn_tensor *x = tn_requires_grad(range(null0, 4)), *y = NULL, *v[3] = {NULL, NULL, NULL};
        seen s[3];
        memset(s, 0, sizeof s);
        CHECK(tn_stream_wait_stream(a, own));
        TN_STREAM(a) {
            v[0] = tn_reshape(tn_neg(x), TN_DIMS(2, 2));
            v[1] = tn_select(v[0], 0, 1);
            v[2] = tn_unsqueeze(v[1], 0);
            y = tn_sum(tn_exp(v[2]));
        }
        for (int i = 0; i < 3; i++) CHECK(tn_hook_add(v[i], sees_its_stream, &s[i], NULL));
        CHECK(tn_stream_wait_stream(own, a) && tn_backward(y) && races() == 0);
        for (int i = 0; i < 3; i++) CHECK(s[i].in == a && s[i].calls == 1);
    }
    TN_SCOPE { /* a backward that fails leaves the current stream as it was */
        tn_tensor *x = tn_requires_grad(range(null0, 4)), *y = NULL;
        CHECK(tn_stream_wait_stream(a, own));
        TN_STREAM(a) y = tn_sum(tn_exp(tn_mul(x, x)));
        CHECK(tn_stream_wait_stream(own, a));
        null_fail_alloc = 2;
        CHECK(!tn_backward(y) && tn_error_take(NULL));
        null_fail_alloc = -1;
        CHECK(tn_stream_current(null0) == own && races() == 0);
    }
    end(c);
}

/* --- wrong, and failing ----------------------------------------------------------------------- */

static void wrong_arguments_are_refused(void) {
    tn_context *c = begin(), *other;
    tn_stream *a = tn_stream_new(null0, 0), *made[ORDER_STREAMS];
    tn_stream_event *e = tn_event_new(false);
    REFUSED(tn_stream_new(77, 0), TN_INVALID, "tn_stream_new: device number 77 does not exist");
    REFUSED(tn_stream_new(TN_CPU, 0), TN_UNSUPPORTED, "tn_stream_new: cpu has no streams");
    REFUSED(tn_stream_new(bare, 0), TN_UNSUPPORTED, "tn_stream_new: bare:0 has no streams");
    REFUSED(tn_event_record(e, tn_stream_default(bare)), TN_UNSUPPORTED, "bare:0 has no streams");
    REFUSED(tn_event_record(NULL, a), TN_INVALID, "tn_event_record: the event is NULL");
    REFUSED(tn_event_record(e, NULL), TN_INVALID, "tn_event_record: the stream is NULL");
    REFUSED(tn_stream_wait_event(NULL, e), TN_INVALID, "the stream is NULL");
    REFUSED(tn_stream_wait_event(a, NULL), TN_INVALID, "the event is NULL");
    REFUSED(tn_event_synchronize(NULL), TN_INVALID, "the event is NULL");
    REFUSED(tn_event_elapsed_ms(NULL, e) >= 0, TN_INVALID, "the event is NULL");
    REFUSED(tn_stream_synchronize(NULL), TN_INVALID, "tn_stream_synchronize: the stream is NULL");
    REFUSED(tn_stream_wait_stream(a, NULL), TN_INVALID, "the stream is NULL");
    REFUSED(tn_stream_wait_stream(NULL, a), TN_INVALID, "the stream is NULL");
    CHECK(tn_event_record(e, a));
    CHECK(tn_ones(TN_DIMS(1), .device = bare) != NULL);
    REFUSED(tn_stream_wait_stream(a, tn_stream_default(bare)), TN_INVALID,
            "a stream of null:0 cannot wait for one of bare:0");
    REFUSED(tn_stream_wait_event(tn_stream_default(bare), e), TN_INVALID,
            "the event is of null:0, the stream of bare:0");
    CHECK(tn_stream_query(NULL) && tn_event_query(NULL) && tn_stream_wait_stream(a, a));
    for (int i = 0; i < ORDER_STREAMS - 2; i++) made[i] = tn_stream_new(null0, 0);
    REFUSED(tn_stream_new(null0, 0), TN_MEMORY, "null:0 has no further stream");
    tn_stream_free(made[0]);
    CHECK(tn_stream_new(null0, 0) == made[0]);
    null_broken = "an illegal address was read";
    REFUSED(tn_stream_synchronize(a), TN_INTERNAL, "null:0: an illegal address was read");
    REFUSED(tn_event_synchronize(e), TN_INTERNAL, "null:0: a wait for an event failed");
    null_broken = NULL;
    other = tn_context_new(NULL);
    tn_context_use(other);
    REFUSED(tn_stream_synchronize(a), TN_INVALID, "the stream is of another context");
    REFUSED(tn_event_synchronize(e), TN_INVALID, "the event is of another context");
    CHECK(!tn_stream_use(a));
    tn_context_use(c);
    tn_context_free(other);
    tn_event_free(e);
    end(c);
}

static void streams_must_be_whole(void) {
    static tn_backend k, alone;
    static tn_backend_streams some;
    tn_context *c = begin();
    some = *tn_null_backend()->streams;
    some.used = NULL;
    k = *tn_null_backend();
    k.kind = "other";
    k.streams = &some;
    REFUSED(tn_backend_add(&k), TN_INVALID, "one of its streams' functions is NULL");
    alone = k;
    alone.streams = NULL;
    REFUSED(tn_backend_add(&alone), TN_INVALID, "it copies between its devices and has no streams");
    end(c);
}

static void any_allocation_may_fail(void) {
    tn_context *c = begin();
    double want[4], got[4];
    tn_stream *a = tn_stream_new(null0, 0), *b = tn_stream_new(null0, 0);
    bool done = false;
    int ran = 0;
    TN_SCOPE
        CHECK(towers(null0, a, b, NULL, want));
    for (int64_t k = 0; !done && k < 1000; k++, ran++) {
        const int64_t before = null_blocks;
        TN_SCOPE {
            tn_error_info e;
            null_fail_alloc = k;
            done = towers(null0, a, b, NULL, got);
            null_fail_alloc = -1;
            CHECK(done || (tn_error_take(&e) && e.code == TN_MEMORY && e.line));
            CHECK(done || strstr(e.message, "out of memory on null:0"));
            CHECK(tn_stream_current(null0) == tn_stream_default(null0));
        }
        CHECK_EQ(null_blocks, before);
        TN_SCOPE
            CHECK(towers(null0, a, b, NULL, got) && !memcmp(got, want, sizeof got));
        CHECK_EQ(races(), 0);
    }
    CHECK(done && ran > 20);
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_thread_has_a_current_stream_of_each_device),
        CHECK_TEST(a_block_ends_in_any_way_and_threads_have_their_own),
        CHECK_TEST(a_missing_wait_is_seen),
        CHECK_TEST(events_make_an_order),
        CHECK_TEST(copies_go_into_the_current_stream),
        CHECK_TEST(devices_of_a_backend_copy_to_each_other),
        CHECK_TEST(a_copy_between_devices_may_fail),
        CHECK_TEST(memory_waits_for_the_streams_that_use_it),
        CHECK_TEST(a_backward_runs_in_the_streams_of_the_calls),
        CHECK_TEST(gradients_of_gradients_and_of_leaves_join_the_caller),
        CHECK_TEST(wrong_arguments_are_refused),
        CHECK_TEST(streams_must_be_whole),
        CHECK_TEST(any_allocation_may_fail),
    };
    return CHECK_MAIN(tests, argc, argv);
}
