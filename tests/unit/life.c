/* life.c - who keeps whom alive: hooks that remove themselves, gradients retained over a write,
 * data exchanged under a view, work for one context while another is current, threads that end.
 * Freed memory is filled and kept until the test ends, so that whoever still reads it falls. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <stdlib.h>

/* --- an allocator that keeps what is freed ---------------------------------------------------- */

typedef struct freed {
    struct freed *next;
    size_t bytes;
} freed;
static freed *freed_list;
static int64_t live;

static void *keep_alloc(size_t bytes, void *user) {
    char *p = (char *)malloc(bytes + 64);
    (void)user;
    if (!p) return NULL;
    __atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
    return p + 64;
}
static void keep_free(void *at, size_t bytes, void *user) {
    freed *f;
    (void)user;
    if (!at) return;
    __atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
    memset(at, 0xa5, bytes);
    f = (freed *)(void *)((char *)at - 64);
    f->bytes = bytes;
    do f->next = __atomic_load_n(&freed_list, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&freed_list, &f->next, f, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
}

static tn_context *context_made(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = keep_alloc;
    o.allocator.free = keep_free;
    o.threads = -1;
    o.no_cache = true;
    return tn_context_new(&o);
}
static tn_context *begin(void) {
    tn_context *c = context_made();
    tn_context_use(c);
    return c;
}
static void end(tn_context *c) {
    CHECK(!tn_error_print());
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(live, 0);
    while (freed_list) { /* nobody wrote there either */
        freed *f = freed_list;
        const unsigned char *at = (const unsigned char *)f + 64;
        for (size_t i = 0; i < f->bytes; i++)
            if (!CHECK_EQ(at[i], 0xa5)) break;
        freed_list = f->next;
        free(f);
    }
}

static tn_tensor *ones(int64_t n) { return tn_requires_grad(tn_ones(TN_DIMS(n))); }
static double at(const tn_tensor *t, int i) {
    double v[512];
    if (!t || tn_numel(t) > 512 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}
static const char *taken(void) {
    static char text[1700];
    tn_error_info e;
    text[0] = 0;
    if (tn_error_take(&e)) snprintf(text, sizeof text, "%s", e.message);
    return text;
}

/* --- hooks ------------------------------------------------------------------------------------ */

typedef struct remover {
    tn_tensor *t;
    int64_t number[3];
    int calls, released, inside;
} remover;

static void note_release(void *user) {
    remover *r = (remover *)user;
    CHECK(!r->inside); /* what a running hook was given lives until it returns */
    r->released++;
}
static tn_tensor *removes_itself(tn_tensor *grad, void *user) {
    remover *r = (remover *)user;
    (void)grad;
    r->calls++;
    r->inside = 1;
    CHECK(tn_hook_remove(r->t, r->number[0]));
    CHECK(!tn_hook_remove(r->t, r->number[0]));
    r->inside = 0;
    return NULL;
}
static tn_tensor *removes_the_others(tn_tensor *grad, void *user) {
    remover *r = (remover *)user;
    (void)grad;
    r->calls++;
    CHECK(tn_hook_remove(r->t, r->number[0]));
    CHECK(tn_hook_remove(r->t, r->number[2]));
    return NULL;
}
static tn_tensor *counts(tn_tensor *grad, void *user) {
    (void)grad;
    ++*(int *)user;
    return NULL;
}

static void removal(bool leaf) {
    tn_context *c = begin();
    remover r = {NULL, {0, 0, 0}, 0, 0, 0}, q = r;
    int first = 0, last = 0;
    TN_SCOPE {
        tn_tensor *x = ones(3), *t = leaf ? x : tn_mul_scalar(x, 2), *u;
        r.t = t;
        r.number[0] = tn_hook_add(t, removes_itself, &r, note_release);
        CHECK(tn_hook_add(t, counts, &last, NULL) > 0);
        CHECK(tn_backward(tn_sum(t)));
        CHECK(r.calls == 1 && r.released == 1 && last == 1);
        x = ones(3), u = leaf ? x : tn_mul_scalar(x, 2);
        q.t = u;
        q.number[0] = tn_hook_add(u, counts, &first, NULL);
        q.number[1] = tn_hook_add(u, removes_the_others, &q, note_release);
        q.number[2] = tn_hook_add(u, counts, &last, NULL);
        CHECK(tn_backward(tn_sum(u)));
        CHECK(q.calls == 1 && first == 1 && last == 1 && q.released == 0);
    }
    CHECK_EQ(q.released, 1);
    end(c);
}
static void a_hook_of_a_leaf_removes_itself_and_others(void) { removal(true); }
static void a_hook_of_a_result_removes_itself_and_others(void) { removal(false); }

static tn_tensor *again(tn_tensor *grad, void *user) {
    remover *r = (remover *)user;
    (void)grad;
    if (r->calls++) return NULL;
    tn_set_grad_mode(true);
    CHECK(tn_backward(tn_sum(tn_mul(r->t, r->t)))); /* this hook runs inside of itself, */
    tn_set_grad_mode(false);
    CHECK(tn_hook_remove(r->t, r->number[0])); /* and goes when the outer one returns */
    return NULL;
}
static void a_hook_may_run_inside_of_itself(void) {
    tn_context *c = begin();
    TN_SCOPE {
        remover r = {ones(2), {0, 0, 0}, 0, 0, 0};
        r.number[0] = tn_hook_add(r.t, again, &r, note_release);
        CHECK(tn_backward(tn_sum(r.t)));
        CHECK(r.calls == 2 && r.released == 1);
        CHECK(at(tn_grad_of(r.t), 0) == 3);
    }
    end(c);
}

/* --- retained gradients ----------------------------------------------------------------------- */

static void a_written_tensor_that_retains_its_gradient_may_be_freed(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = ones(3), *t = tn_mul_scalar(x, 2), *z;
        CHECK(tn_retain_grad(t) && tn_mul_scalar_(t, 3));
        z = tn_sum(t);
        tn_free(t);
        CHECK(tn_backward(z));
        CHECK(at(tn_grad_of(x), 0) == 6);
    }
    end(c);
}

static void a_retained_gradient_is_of_the_value_after_a_write(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = ones(3), *t = tn_mul_scalar(x, 2);
        CHECK(!tn_retains_grad(t) && tn_retain_grad(t) && tn_retains_grad(t));
        CHECK(tn_mul_scalar_(t, 3) && tn_retains_grad(t));
        CHECK(tn_retain_grad(x) && !tn_retains_grad(x) && !tn_retains_grad(NULL));
        CHECK(tn_backward(tn_sum(tn_mul(t, t))));
        CHECK(at(tn_grad_of(t), 0) == 12 && at(tn_grad_of(x), 0) == 72);
    }
    end(c);
}

static void a_view_retains_its_gradient_when_the_base_is_written(void) {
    tn_context *c = begin();
    TN_SCOPE { /* b = 2x, v = b[:2], b *= 3: the sum of v * v has 2v = 12 at v */
        tn_tensor *x = ones(4), *b = tn_mul_scalar(x, 2), *v = tn_slice(b, .end = 2);
        CHECK(tn_retain_grad(v) && tn_retain_grad(b) && tn_mul_scalar_(b, 3));
        CHECK(tn_backward(tn_sum(tn_mul(v, v))));
        CHECK(at(tn_grad_of(v), 1) == 12);
        CHECK(at(tn_grad_of(b), 0) == 12 && at(tn_grad_of(b), 3) == 0);
        CHECK(at(tn_grad_of(x), 0) == 72 && at(tn_grad_of(x), 2) == 0);
    }
    end(c);
}

static tn_tensor *frees(tn_tensor *grad, void *user) {
    tn_tensor **t = (tn_tensor **)user;
    (void)grad;
    tn_free(*t);
    *t = NULL;
    return NULL;
}
static void a_hook_may_free_a_tensor_that_retains_its_gradient(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = ones(3), *t = tn_mul_scalar(x, 2), *z = tn_sum(t);
        CHECK(tn_hook_add(t, frees, &t, NULL) > 0 && tn_retain_grad(t));
        CHECK(tn_backward(z));
        CHECK(at(tn_grad_of(x), 0) == 2);
    }
    end(c);
}

static tn_tensor *frees_all(tn_tensor *grad, void *user) {
    tn_tensor **t = (tn_tensor **)user;
    (void)grad;
    for (int i = 0; i < 3; i++) tn_free(t[i]), t[i] = NULL;
    return NULL;
}
/* Roots and inputs are counted to the end, leaves that are roots themselves too. */
static void a_hook_may_free_the_roots_and_the_inputs(void) {
    for (int k = 0; k < 4; k++) {
        tn_context *c = begin();
        TN_SCOPE {
            tn_tensor *x = ones(1), *t[3] = {NULL, NULL, NULL}, *g[3], *y, *z;
            tn_grads_options o = {NULL, true, k == 3, true};
            if (k == 0) { /* one leaf, root and input */
                t[0] = x;
                CHECK(tn_hook_add(x, frees_all, t, NULL) > 0);
                CHECK(tn_backward(x, .inputs = TN_LIST(x)));
            } else if (k == 1) {
                t[0] = x;
                CHECK(tn_hook_add(x, frees_all, t, NULL) > 0 && tn_backward(x));
            } else {
                y = tn_mul_scalar(x, 2), z = tn_mul(y, y);
                t[0] = x, t[1] = y, t[2] = z;
                CHECK(tn_hook_add(y, frees_all, t, NULL) > 0);
                CHECK(tn_grads(TN_LIST(z, x, y), TN_LIST(x, y, z), g, &o));
                CHECK(at(g[0], 0) == 11 && at(g[1], 0) == 5 && at(g[2], 0) == 1);
            }
            CHECK(!t[0] && !t[1] && !t[2]);
        }
        CHECK_EQ(tn_memory().live_tensors, 0);
        end(c);
    }
}

/* --- exchanged data --------------------------------------------------------------------------- */

static void a_view_outlives_an_exchange_of_data(void) {
    tn_context *c = begin();
    for (int64_t n = 4; n <= 400; n *= 100)
        TN_SCOPE {
            tn_tensor *a = tn_ones(TN_DIMS(n)), *b = tn_zeros(TN_DIMS(n)),
                      *d = tn_full(TN_DIMS(n), 5.0, .dtype = TN_F64), *v = tn_slice(a, .end = 2);
            CHECK(tn_swap_data(a, b)); /* of one dtype and layout: views see it, too */
            CHECK(at(v, 0) == 0 && at(a, 0) == 0 && at(b, 0) == 1);
            CHECK(tn_swap_data(a, d)); /* else they stay with the data */
            CHECK(at(v, 0) == 0 && at(a, 0) == 5 && at(d, 0) == 0);
            tn_free(d), tn_free(a), tn_free(b);
            CHECK(tn_item(tn_sum(v)) == 0);
            CHECK(tn_add_scalar_(v, 1) && at(v, 1) == 1);
        }
    end(c);
}

static void a_view_left_behind_is_no_view_to_the_tape(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *w = ones(4), *v = tn_slice(w, .end = 2);
        tn_tensor *d = tn_full(TN_DIMS(4), 5.0, .dtype = TN_F64);
        CHECK(tn_swap_data(w, d));
        CHECK(tn_backward(tn_sum(v)) && at(tn_grad_of(w), 0) == 1); /* its own history stays */
        tn_free(d);
        CHECK(at(v, 0) == 1);
    }
    TN_SCOPE { /* a write to it is no write to the base: refused, not lost */
        tn_tensor *h = tn_zeros(TN_DIMS(4)), *v = tn_slice(h, .end = 2), *x = ones(2);
        tn_tensor *d = tn_full(TN_DIMS(4), 5.0, .dtype = TN_F64);
        CHECK(tn_swap_data(h, d));
        CHECK(!tn_mul_(v, x));
        CHECK(strstr(taken(), "tn_swap_data") != NULL);
    }
    end(c);
}

/* --- contexts --------------------------------------------------------------------------------- */

static void another_context_is_refused(void) {
    tn_context *a = begin(), *b = context_made();
    tn_tensor *x = ones(3), *y = tn_mul_scalar(x, 2), *z = tn_sum(y), *g = tn_ones(TN_DIMS(3)),
              *own, *grads[1];
    int calls = 0;
    tn_context_use(b);
    own = tn_ones(TN_DIMS(3));
    CHECK(!tn_hook_add(x, counts, &calls, NULL) && strstr(taken(), "another context"));
    CHECK(!tn_hook_add(y, counts, &calls, NULL) && strstr(taken(), "another context"));
    CHECK(!tn_retain_grad(y) && strstr(taken(), "another context"));
    CHECK(!tn_set_grad(x, g) && strstr(taken(), "another context"));
    CHECK(!tn_set_grad(own, g) && strstr(taken(), "another context"));
    CHECK(!tn_swap_data(own, g) && strstr(taken(), "another context"));
    CHECK(!tn_requires_grad(g) && strstr(taken(), "another context"));
    CHECK(!tn_backward(z) && strstr(taken(), "another context"));
    CHECK(!tn_grads(TN_LIST(z), TN_LIST(x), grads, NULL) && strstr(taken(), "another context"));
    tn_free(own);
    tn_context_use(a);
    CHECK(tn_backward(z) && at(tn_grad_of(x), 0) == 2 && calls == 0);
    tn_context_free(b);
    tn_free(x), tn_free(y), tn_free(z), tn_free(g);
    CHECK_EQ(tn_memory().live_tensors, 0);
    end(a);
}

static void a_recording_goes_back_to_its_context(void) {
    tn_context_options o;
    tn_context *a, *b;
    tn_tensor *x;
    tn_recording *r;
    memset(&o, 0, sizeof o); /* with the cache: small blocks of one context must not feed another */
    o.allocator.alloc = keep_alloc;
    o.allocator.free = keep_free;
    a = tn_context_new(&o), b = tn_context_new(&o);
    tn_context_use(a);
    x = tn_ones(TN_DIMS(3));
    tn_record_begin();
    tn_free(tn_mul_scalar(x, 2));
    r = tn_record_end();
    tn_context_use(b);
    tn_free(tn_ones(TN_DIMS(3)));
    tn_recording_free(r);
    tn_context_use(a);
    tn_context_free(a);
    tn_context_use(b);
    x = tn_ones(TN_DIMS(3));
    for (int i = 0; i < 4; i++) {
        tn_record_begin();
        CHECK(tn_mul_scalar(x, 2) != NULL);
        CHECK((r = tn_record_end()) != NULL);
    }
    end(b);
}

/* The memory of a hook goes back to the context of its tensor, whichever is current. */
static void a_hook_is_removed_while_another_context_is_current(void) {
    for (int k = 0; k < 2; k++) {
        tn_context_options o;
        tn_context *a, *b;
        tn_tensor *x, *t;
        remover r = {NULL, {0, 0, 0}, 0, 0, 0};
        int calls = 0;
        memset(&o, 0, sizeof o);
        o.allocator.alloc = keep_alloc;
        o.allocator.free = keep_free;
        a = tn_context_new(&o), b = tn_context_new(&o);
        tn_context_use(a);
        x = ones(3), t = k ? x : tn_mul_scalar(x, 2);
        r.number[0] = tn_hook_add(t, counts, &r, note_release);
        tn_context_use(b);
        tn_free(tn_ones(TN_DIMS(3)));
        CHECK(tn_hook_remove(t, r.number[0]) && r.released == 1);
        CHECK(!tn_hook_remove(t, r.number[0]));
        tn_context_use(a);
        tn_context_free(a);
        tn_context_use(b);
        x = ones(3);
        for (int i = 0; i < 20; i++) CHECK(tn_hook_add(x, counts, &calls, NULL) > 0);
        CHECK(tn_backward(tn_sum(x)) && calls == 20);
        end(b);
    }
}

static void note(void *data, void *user) {
    (void)data;
    ++*(int *)user;
}
static void wrapped_memory_is_released_once_at_the_end(void) {
    static float d[3][4] = {{.1f}, {.2f}, {.3f}};
    int n[3] = {0, 0, 0};
    tn_context *c = begin();
    tn_wrap_options o[3];
    tn_tensor *x[3], *w = ones(4), *s;
    memset(o, 0, sizeof o);
    for (int i = 0; i < 3; i++) {
        o[i].release = note, o[i].user = &n[i];
        x[i] = tn_wrap(d[i], TN_DIMS(4), TN_F32, &o[i]);
        CHECK(tn_slice(x[i], .end = 2) != NULL); /* held by a view, too */
    }
    CHECK(tn_mul_(x[0], w) && tn_sigmoid_(x[0])); /* by a node and its tensor */
    s = tn_sum(tn_sigmoid_(tn_mul_(x[1], w)));
    tn_free(x[1]); /* by a node alone */
    CHECK(s != NULL);
    CHECK(n[0] == 0 && n[1] == 0 && n[2] == 0);
    end(c);
    CHECK(n[0] == 1 && n[1] == 1 && n[2] == 1);
}

/* --- threads ---------------------------------------------------------------------------------- */

static tn_tensor *square_sum(tn_tensor *const *in, int nin, void *user) {
    (void)nin, (void)user;
    return tn_sum(tn_mul(in[0], in[0]));
}
typedef struct job {
    tn_context *c;
    tn_tensor *t;
    bool ok;
    char text[200];
} job;
static void *runs_backward(void *user) {
    job *j = (job *)user;
    tn_context_use(j->c);
    j->ok = tn_backward(j->t);
    snprintf(j->text, sizeof j->text, "%s", tn_ok() ? "" : "failed");
    tn_error_print();
    return NULL;
}
static void *leaves_a_recording(void *user) {
    job *j = (job *)user;
    tn_context_use(j->c);
    j->ok = tn_record_begin() && tn_mul_scalar(j->t, 2);
    return NULL;
}
static void *records(void *user) {
    job *j = (job *)user;
    tn_recording *r;
    tn_context_use(j->c);
    j->ok = tn_record_begin();
    j->ok = tn_mul_scalar(j->t, 3) && j->ok;
    r = tn_record_end();
    j->ok = r && tn_replay(r) && j->ok;
    if (r) tn_recording_free(r);
    tn_error_print();
    return NULL;
}
static bool in_a_thread(void *(*run)(void *), job *j) {
    pthread_t t;
    return pthread_create(&t, NULL, run, j) == 0 && pthread_join(t, NULL) == 0 && j->ok;
}

static void a_checkpoint_is_run_backward_in_another_thread(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = ones(3);
        job j = {c, tn_checkpoint(square_sum, TN_LIST(x), NULL), false, ""};
        CHECK(in_a_thread(runs_backward, &j));
        CHECK(tn_ok());
        CHECK(at(tn_grad_of(x), 0) == 2);
    }
    end(c);
}

static void a_thread_that_ends_takes_its_recording_along(void) {
    tn_context *c = begin();
    job j = {c, tn_ones(TN_DIMS(3)), false, ""};
    CHECK(in_a_thread(leaves_a_recording, &j));
    CHECK(in_a_thread(records, &j));
    tn_free(j.t);
    end(c);
}

/* What another thread takes away goes back to the thread that made it: that one finds it again. */
enum { WATCHES = 2000, WAYS = 5 };
enum { BY_NUMBER, BY_ITSELF, WITH_THE_LEAF, WITH_THE_NODE, WITH_ITS_TENSOR };
typedef struct watched {
    tn_tensor *t[WATCHES], *loss;
    remover hook[WATCHES];
    int way;
} watched;
static watched all;

static tn_tensor *goes(tn_tensor *grad, void *user) {
    remover *r = (remover *)user;
    (void)grad;
    CHECK(tn_hook_remove(r->t, r->number[0]));
    return NULL;
}
static void watch_all(void) {
    for (int i = 0; i < WATCHES; i++) {
        bool own = i == 0 || all.way == WITH_ITS_TENSOR;
        tn_tensor *x = own ? ones(1) : NULL;
        remover *r = &all.hook[i];
        if (own && all.way >= WITH_THE_NODE) {
            all.t[i] = tn_mul_scalar(x, 2);
            tn_free(x);
        } else
            all.t[i] = own ? x : all.t[0];
        memset(r, 0, sizeof *r);
        r->t = all.t[i];
        if (all.way == WITH_ITS_TENSOR)
            CHECK(tn_retain_grad(all.t[i]));
        else
            CHECK((r->number[0] = tn_hook_add(r->t, goes, r, note_release)) > 0);
    }
    all.loss = all.way == BY_ITSELF ? tn_sum(all.t[0]) : NULL;
}
static void *takes_away(void *user) {
    job *j = (job *)user;
    tn_context_use(j->c);
    j->ok = true;
    if (all.way == BY_ITSELF) j->ok = tn_backward(all.loss);
    for (int i = 0; i < WATCHES && all.way == BY_NUMBER; i++)
        j->ok = tn_hook_remove(all.t[0], all.hook[i].number[0]) && j->ok;
    tn_free(all.loss);
    for (int i = 0; i < (all.way == WITH_ITS_TENSOR ? WATCHES : 1); i++) tn_free(all.t[i]);
    return NULL;
}
static void hooks_go_back_to_the_thread_that_made_them(void) {
    for (all.way = 0; all.way < WAYS; all.way++) {
        tn_context_options o;
        job j = {NULL, NULL, false, ""};
        int64_t used[4];
        memset(&o, 0, sizeof o);
        o.allocator.alloc = keep_alloc;
        o.allocator.free = keep_free;
        o.threads = -1;
        tn_context_use(j.c = tn_context_new(&o));
        for (int k = 0; k < 4; k++) {
            watch_all();
            used[k] = tn_memory().bytes_used;
            CHECK(in_a_thread(takes_away, &j));
            for (int i = 0; i < WATCHES && all.way != WITH_ITS_TENSOR; i++)
                CHECK(all.hook[i].released == 1);
        }
        CHECK_EQ(used[2], used[1]);
        if (!CHECK_EQ(used[3], used[1])) printf("    way %d\n", all.way);
        end(j.c);
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_hook_of_a_leaf_removes_itself_and_others),
        CHECK_TEST(a_hook_of_a_result_removes_itself_and_others),
        CHECK_TEST(a_hook_may_run_inside_of_itself),
        CHECK_TEST(a_written_tensor_that_retains_its_gradient_may_be_freed),
        CHECK_TEST(a_retained_gradient_is_of_the_value_after_a_write),
        CHECK_TEST(a_view_retains_its_gradient_when_the_base_is_written),
        CHECK_TEST(a_hook_may_free_a_tensor_that_retains_its_gradient),
        CHECK_TEST(a_hook_may_free_the_roots_and_the_inputs),
        CHECK_TEST(a_view_outlives_an_exchange_of_data),
        CHECK_TEST(a_view_left_behind_is_no_view_to_the_tape),
        CHECK_TEST(another_context_is_refused),
        CHECK_TEST(a_recording_goes_back_to_its_context),
        CHECK_TEST(a_hook_is_removed_while_another_context_is_current),
        CHECK_TEST(wrapped_memory_is_released_once_at_the_end),
        CHECK_TEST(a_checkpoint_is_run_backward_in_another_thread),
        CHECK_TEST(a_thread_that_ends_takes_its_recording_along),
        CHECK_TEST(hooks_go_back_to_the_thread_that_made_them),
    };
    return CHECK_MAIN(tests, argc, argv);
}
