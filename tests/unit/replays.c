/* replays.c - the edges of calls: recordings that cannot be made or run again, exchanged data,
 * written tensors that overlap, the deepest scope, graphs that another thread began. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <pthread.h>
#include <stdlib.h>

static tn_tensor *of(int64_t n, double v) { return tn_full(TN_DIMS(n), v, .dtype = TN_F64); }
static void in_thread(void *(*run)(void *), void *arg) {
    pthread_t t;
    if (CHECK(pthread_create(&t, NULL, run, arg) == 0)) pthread_join(t, NULL);
}

/* --- recordings ------------------------------------------------------------------------------- */

static void *replays(void *recording) {
    REFUSED(tn_replay((tn_recording *)recording), TN_INVALID,
            "tn_replay: the recording must belong to this thread");
    return NULL;
}
static void recordings_are_made_and_run_in_one_thread(void) {
    TN_SCOPE {
        tn_tensor *x = of(3, 1), *narrow = tn_empty(TN_DIMS(3)), *y;
        tn_recording *r;
        REFUSED(tn_record_end(), TN_INVALID, "tn_record_end: no recording is in progress");
        REFUSED(tn_replay(NULL), TN_INVALID, "tn_replay: the recording must belong to this thread");
        CHECK(tn_record_begin());
        REFUSED(tn_record_begin(), TN_INVALID,
                "tn_record_begin: a recording is already in progress");
        CHECK(tn_cumsum(x, 0, .out = narrow));
        y = tn_add(x, x);
        CHECK(tn_empty(TN_DIMS(2), .device = TN_META) &&
              tn_relu(tn_empty(TN_DIMS(2), .device = TN_META)));
        r = tn_record_end();
        CHECK(tn_fill_(x, 4.0) && tn_replay(r) && at(y, 2) == 8);
        CHECK(at(narrow, 2) == 12 && tn_version(narrow) == 2); /* written through a temporary */
        in_thread(replays, r);
        tn_cancel(NULL);
        REFUSED(tn_replay(r), TN_CANCELLED, "the replay was cancelled");
        tn_cancel_clear(NULL);
        tn_recording_free(r);
        tn_recording_free(NULL);
    }
}
static void a_write_through_a_temporary_runs_again(void) {
    TN_SCOPE {
        tn_tensor *y = tn_full(TN_DIMS(4, 3), 2.0, .dtype = TN_F64), *x = of(4, 1),
                  *out = tn_select(y, -1, 1);
        tn_recording *r;
        CHECK(tn_record_begin() && tn_cumsum(x, 0, .out = out));
        r = tn_record_end();
        tn_free(out);
        CHECK(tn_fill_(y, 0.0) && tn_fill_(x, 2.0) && tn_replay(r));
        CHECK(at(y, 4) == 4 && at(y, 10) == 8 && at(y, 9) == 0 && at(y, 11) == 0);
        tn_recording_free(r);
    }
}
static void a_replay_looks_at_its_indices_again(void) {
    static const int64_t good[] = {2, 0}, bad[] = {2, 9};
    TN_SCOPE {
        tn_tensor *x = tn_arange(3, .dtype = TN_F64), *i = tn_from(good, TN_DIMS(2), TN_I64), *y;
        tn_recording *r;
        CHECK(tn_record_begin());
        y = tn_index_select(x, 0, i);
        r = tn_record_end();
        CHECK(r && at(y, 0) == 2);
        memcpy(tn_data(i), bad, sizeof bad);
        CHECK(!tn_replay(r));
        says(TN_INDEX, "in index_select", __LINE__);
        CHECK(at(y, 0) == 2);
        memcpy(tn_data(i), good, sizeof good);
        CHECK(tn_fill_(x, 5.0) && tn_replay(r) && at(y, 1) == 5);
        tn_recording_free(r);
    }
}

/* --- exchanged data --------------------------------------------------------------------------- */

static bool swap(tn_tensor *a, tn_tensor *b) { return tn_swap_data_at(NULL, 0, a, b); }
/* The gradient of w reads what x was, of which the call keeps a copy. */
static void a_replay_copies_what_it_overwrites_again(void) {
    TN_SCOPE {
        tn_tensor *x = of(2, 1), *w = tn_requires_grad(of(2, 3)), *y;
        tn_recording *r;
        CHECK(tn_record_begin());
        y = tn_mul_scalar(x, 1);
        CHECK(tn_mul_(y, w) && tn_backward(tn_sum(y)));
        r = tn_record_end();
        CHECK(at(tn_grad_of(w), 0) == 1);
        CHECK(tn_fill_(x, 5) && tn_replay(r) && at(y, 1) == 15);
        CHECK(at(tn_grad_of(w), 0) == 5);
        tn_recording_free(r);
    }
}

/* The gradient of ceil makes zeros as its input, of which only the shape is known. */
static void a_replay_has_gradients_that_know_shapes_alone(void) {
    TN_SCOPE {
        tn_tensor *w = tn_requires_grad(of(3, 1.5));
        tn_recording *r;
        CHECK(tn_record_begin());
        CHECK(tn_backward(tn_sum(tn_add(tn_ceil(w), w))));
        r = tn_record_end();
        CHECK(at(tn_grad_of(w), 2) == 1);
        CHECK(tn_zero_(tn_grad_of(w)) && tn_replay(r) && at(tn_grad_of(w), 0) == 1);
        tn_recording_free(r);
    }
}

/* The window's place of its maximum is an output that only the gradient reads. */
static void a_replay_finds_maxima_at_their_new_places(void) {
    TN_SCOPE {
        tn_tensor *x = of(4, 0), *w = tn_requires_grad(of(4, 1)), *y;
        tn_recording *r;
        CHECK(tn_fill_(tn_slice(x, .end = 1), 7) && tn_record_begin());
        y = tn_max_pool2d(tn_reshape(tn_mul(x, w), TN_DIMS(1, 2, 2)), TN_DIMS(2, 2));
        CHECK(tn_backward(tn_sum(y)));
        r = tn_record_end();
        CHECK(at(tn_grad_of(w), 0) == 7);
        CHECK(tn_zero_(x) && tn_fill_(tn_slice(x, .start = 3), 5));
        CHECK(tn_zero_(tn_grad_of(w)) && tn_replay(r));
        CHECK(at(tn_grad_of(w), 0) == 0 && at(tn_grad_of(w), 3) == 5);
        tn_recording_free(r);
    }
}

static void data_are_exchanged_where_all_can_see_it(void) {
    static double fixed[2] = {3, 4};
    tn_wrap_options o;
    memset(&o, 0, sizeof o);
    o.read_only = true;
    TN_SCOPE {
        tn_tensor *a = of(2, 1), *b = of(2, 2), *view = tn_view(a, TN_DIMS(2)), *x;
        tn_tensor *wrapped = tn_wrap(fixed, TN_DIMS(2), TN_F64, &o);
        tn_tensor *strided = tn_clone(tn_t(tn_full(TN_DIMS(3, 2), 7.0))), *plain;
        CHECK(swap(a, b) && at(a, 0) == 2 && at(b, 0) == 1 && at(view, 0) == 2); /* bytes */
        CHECK(swap(a, wrapped) && at(a, 0) == 3 && at(wrapped, 0) == 2 && at(view, 0) == 2);
        CHECK(fixed[0] == 3 && swap(a, a) && at(a, 1) == 4);
        plain = tn_full(TN_DIMS(2, 3), 1.0), x = tn_view(plain, TN_DIMS(6));
        CHECK(swap(plain, strided) && at(plain, 5) == 7 && at(x, 0) == 1); /* other strides */
        CHECK(swap(b, tn_empty(TN_DIMS(2), .device = TN_META)) && tn_device_of(b) == TN_META);
        REFUSED(swap(NULL, a), TN_INVALID, "tn_swap_data: a tensor is NULL");
        REFUSED(swap(a, NULL), TN_INVALID, "tn_swap_data: a tensor is NULL");
        REFUSED(swap(a, of(3, 1)), TN_INVALID, "tn_swap_data: the shapes differ");
        x = tn_requires_grad(of(2, 1));
        REFUSED(swap(x, tn_mul(x, x)), TN_AUTOGRAD, "a view or a recorded result");
        REFUSED(swap(tn_mul(x, x), x), TN_AUTOGRAD, "a view or a recorded result");
        REFUSED(swap(x, view), TN_AUTOGRAD, "a view or a recorded result");
        REFUSED(swap(view, x), TN_AUTOGRAD, "a view or a recorded result");
    }
}
static void gradients_of_another_kind_are_added_all_the_same(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(of(2, 1));
        CHECK(tn_set_grad(x, of(2, 5)) && swap(tn_grad_of(x), tn_full(TN_DIMS(2), 6.0)));
        CHECK(tn_dtype_of(tn_grad_of(x)) == TN_F32 && tn_backward(tn_sum(x)));
        CHECK(tn_dtype_of(tn_grad_of(x)) == TN_F64 && at(tn_grad_of(x), 1) == 7);
        CHECK(swap(tn_grad_of(x), tn_empty(TN_DIMS(2), .device = TN_META)));
        CHECK(!tn_backward(tn_sum(x)) && tn_error_take(NULL));
        CHECK(tn_device_of(tn_grad_of(x)) == TN_META);
    }
}
static void scopes_are_left_with_what_is_taken_along(void) {
    tn_tensor *some[3];
    int64_t outer = tn_scope_begin(), inner;
    some[0] = NULL, some[1] = of(1, 1);
    inner = tn_scope_begin();
    some[2] = of(1, 2);
    tn_scope_leave(inner, some, 3);
    CHECK(at(some[1], 0) == 1 && at(some[2], 0) == 2);
    tn_scope_end(outer);
    CHECK_EQ(tn_memory().live_tensors, 0);
    CHECK(tn_random64(NULL) != tn_random64(NULL));
}

/* --- the deepest scope ------------------------------------------------------------------------ */

static bool square(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    *nout = 1;
    return (out[0] = tn_mul(in[0], in[0])) != NULL;
}
static tn_tensor *squared(tn_tensor *const *in, int nin, void *user) {
    (void)nin, (void)user;
    return tn_mul(in[0], in[0]);
}
static void what_needs_a_scope_fails_in_the_deepest_one(void) {
    static const char text[] = "more than 65535 scopes are open";
    for (int left = 0; left < 3; left++) {
        int64_t first = tn_scope_begin();
        tn_tensor *x = tn_requires_grad(of(1, 3)), *y = tn_mul(x, x), *c;
        c = tn_checkpoint(squared, TN_LIST(x), NULL);
        for (int64_t i = first; i < 65534 - left; i++) CHECK(tn_scope_begin() == i + 1);
        CHECK(!tn_gradgradcheck(square, TN_LIST(x), NULL, NULL));
        says(TN_INVALID, text, __LINE__);
        CHECK(!tn_backward(c));
        says(TN_INVALID, text, __LINE__);
        if (left < 2) REFUSED(tn_backward(y), TN_INVALID, text);
        if (left < 2) REFUSED(tn_gradcheck(square, TN_LIST(x), NULL, NULL), TN_INVALID, text);
        if (left < 1) REFUSED(tn_checkpoint(squared, TN_LIST(x), NULL), TN_INVALID, text);
        if (left < 1) REFUSED(tn_linear(x, x), TN_INVALID, text); /* is composed */
        CHECK(left < 2 || tn_backward(y));
        CHECK(tn_item(x) == 3 && !tn_grad_of(x) == (left < 2));
        tn_scope_end(first);
        CHECK_EQ(tn_memory().live_tensors, 0);
    }
}

/* --- written tensors -------------------------------------------------------------------------- */

static void written_tensors_that_overlap_are_refused(void) {
    TN_SCOPE {
        tn_tensor *x = tn_arange(8, .dtype = TN_F64), *a, *b, *m = tn_view(x, TN_DIMS(4, 2)), *i;
        tn_tensor *none = tn_empty(TN_DIMS(0)), *meta = tn_empty(TN_DIMS(2), .device = TN_META);
        a = tn_slice(x, .end = 2), b = tn_slice(x, .start = 1, .end = 3);
        REFUSED(tn_add(a, a, .out = b), TN_INVALID, "out partly overlaps input 0");
        CHECK(tn_add(a, a, .out = a) == a && at(a, 1) == 2);
        CHECK(tn_add_(tn_view(a, TN_DIMS(1, 2)), a) && at(a, 1) == 4); /* the same, broadcast */
        b = tn_slice(x, .step = 3); /* what is written between its elements is not out's */
        REFUSED(tn_as_strided_scatter(tn_slice(tn_zeros(TN_DIMS(8), .dtype = TN_F64), .step = 3),
                                      tn_zeros(TN_DIMS(2), .dtype = TN_F64), TN_DIMS(2), TN_DIMS(1),
                                      .out = b),
                TN_INVALID, "gaps between their elements");
        i = tn_arange(6, .dtype = TN_F64); /* made apart */
        CHECK(tn_cumsum(i, 0, .out = i) == i && at(i, 5) == 15);
        CHECK(tn_cumsum(tn_slice(i, .step = 2), 0, .out = tn_slice(i, .step = 2)));
        CHECK(at(i, 2) == 3 && at(i, 4) == 13 && at(i, 5) == 15);
        REFUSED(tn_index_select(m, 0, tn_arange(4), .out = m), TN_INVALID, "is also input 0");
        REFUSED(tn_softmax(tn_slice(x, .end = 4), 0, .out = tn_slice(x, .start = 1, .end = 5)),
                TN_INVALID, "out partly overlaps input 0");
        REFUSED(tn_cumsum(a, 0, .out = meta), TN_INVALID, "out is on a different device");
        CHECK(tn_cumsum(none, 0, .out = none) == none);
        i = tn_empty(TN_DIMS(2), .dtype = TN_I64);
        b = tn_slice(x, .start = 6);
        CHECK(tn_max_dim(m, 0, .out = {b, i}).values == NULL && tn_error_take(NULL));
        a = tn_full(TN_DIMS(4), 1.0, .dtype = TN_I64);
        CHECK(tn_max_dim(tn_zeros(TN_DIMS(3, 2), .dtype = TN_I64), 0,
                         .out = {tn_slice(a, .end = 2), tn_slice(a, .start = 2)})
                  .values);
        CHECK(at(a, 0) == 0 && at(a, 3) == 0); /* one memory, side by side */
        CHECK(tn_max_dim(tn_zeros(TN_DIMS(3, 2), .dtype = TN_I64), 0,
                         .out = {tn_slice(a, .end = 2), tn_slice(a, .start = 1, .end = 3)})
                  .values == NULL);
        says(TN_INVALID, "out tensors 0 and 1 overlap", __LINE__);
        meta = tn_empty(TN_DIMS(2), .dtype = TN_F32, .device = TN_META);
        CHECK(tn_cumsum(tn_empty(TN_DIMS(2), .dtype = TN_F64, .device = TN_META), 0, .out = meta) ==
              meta);
    }
}
static void lists_of_tensors_have_limits(void) {
    static tn_tensor *many[(1 << 24) + 1];
    tn_tensors lost = {NULL, 3}, less = {NULL, -1}, beyond;
    TN_SCOPE {
        many[0] = of(1, 1);
        beyond = tn_tensors_of(many, (1 << 24) + 1);
        REFUSED(tn_cat(beyond), TN_INVALID, "expected at most 16777216");
        many[1] = NULL;
        REFUSED(tn_cat(tn_tensors_of(many, 2)), TN_INVALID, "has NULL at position 1");
        REFUSED(tn_cat(lost), TN_INVALID, "");
        REFUSED(tn_cat(less), TN_INVALID, "");
    }
}

/* --- two threads ------------------------------------------------------------------------------ */

static tn_tensor *begun, *root;
static void *begins(void *unused) { /* a chain whose nodes have higher numbers than those here */
    tn_tensor *t;
    TN_SCOPE {
        t = root;
        for (int i = 0; i < 100; i++) t = tn_mul_scalar(t, 1.0);
        begun = tn_hold(t);
    }
    return unused;
}
static void a_graph_that_another_thread_began_goes_on_here(void) {
    TN_SCOPE {
        tn_tensor *y;
        root = tn_requires_grad(of(2, 3));
        in_thread(begins, NULL);
        y = tn_mul(begun, tn_mul_scalar(begun, 2));
        CHECK(tn_backward(tn_sum(y)) && at(tn_grad_of(root), 1) == 12);
        tn_free(begun);
    }
}
static void a_stale_view_is_an_input(void) { /* as it is now: what was made of it before is not */
    TN_SCOPE {
        tn_tensor *b = tn_mul_scalar(tn_requires_grad(of(2, 3)), 1), *v = tn_slice(b, .end = 1);
        tn_tensor *before = tn_sum(v), *grads[1];
        CHECK(tn_mul_scalar_(b, 2));
        REFUSED(tn_grads(TN_LIST(before), TN_LIST(v), grads, NULL), TN_AUTOGRAD, "was not used");
        CHECK(tn_grads(TN_LIST(tn_sum(v)), TN_LIST(v), grads, NULL) && at(grads[0], 0) == 1);
    }
}
static void a_stale_view_is_a_root(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(of(2, 3)), *y = tn_mul_scalar(x, 2),
                  *v = tn_slice(y, .end = 1);
        tn_tensor *grads[1];
        CHECK(tn_mul_scalar_(y, 5) && tn_grads(TN_LIST(v), TN_LIST(x), grads, NULL));
        CHECK(at(grads[0], 0) == 10 && at(grads[0], 1) == 0);
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(recordings_are_made_and_run_in_one_thread),
        CHECK_TEST(a_write_through_a_temporary_runs_again),
        CHECK_TEST(a_replay_looks_at_its_indices_again),
        CHECK_TEST(a_replay_copies_what_it_overwrites_again),
        CHECK_TEST(a_replay_has_gradients_that_know_shapes_alone),
        CHECK_TEST(a_replay_finds_maxima_at_their_new_places),
        CHECK_TEST(data_are_exchanged_where_all_can_see_it),
        CHECK_TEST(gradients_of_another_kind_are_added_all_the_same),
        CHECK_TEST(scopes_are_left_with_what_is_taken_along),
        CHECK_TEST(what_needs_a_scope_fails_in_the_deepest_one),
        CHECK_TEST(written_tensors_that_overlap_are_refused),
        CHECK_TEST(lists_of_tensors_have_limits),
        CHECK_TEST(a_graph_that_another_thread_began_goes_on_here),
        CHECK_TEST(a_stale_view_is_a_root),
        CHECK_TEST(a_stale_view_is_an_input),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    failed |= !CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_free(NULL);
    return failed;
}
