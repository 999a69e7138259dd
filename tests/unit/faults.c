/* faults.c - backward is all or nothing: whichever allocation fails, whatever .grad is, no .grad
 * has changed after an error, the graph is as it was, and the next backward is right. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdlib.h>

static int64_t allowed, live; /* allowed: the k-th allocation from here on fails; 0: none */
static void *count_alloc(size_t bytes, void *user) {
    void *p;
    (void)user;
    if (allowed > 0 && --allowed == 0) return NULL;
    p = malloc(bytes);
    live += p != NULL;
    return p;
}
static void count_free(void *at, size_t bytes, void *user) {
    (void)user, (void)bytes;
    live -= at != NULL;
    free(at);
}

static tn_context *begin(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = count_alloc;
    o.allocator.free = count_free;
    o.threads = -1;
    o.no_cache = true;
    c = tn_context_new(&o);
    tn_context_use(c);
    return c;
}
static void end(tn_context *c) {
    CHECK(!tn_error_print());
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(live, 0);
}

static tn_tensor *ones(int64_t n) { return tn_requires_grad(tn_ones(TN_DIMS(n))); }
static double at(const tn_tensor *t, int i) {
    double v[16];
    if (!t || tn_numel(t) > 16 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}

/* --- a graph with all that backward takes memory for ------------------------------------------ */

enum { LEAVES = 10, FAN = 40 };
typedef struct graph {
    tn_tensor *leaf[LEAVES], *middle, *loss, *before[LEAVES];
    double value[LEAVES];
} graph;

static const float fixed[3] = {5, 5, 5};

/* .grad as users set it: none, a sum so far, expanded, read-only, every second element, of a graph,
 * a view of a larger one. */
static void set_grad(tn_tensor *t, int kind) {
    tn_wrap_options o;
    memset(&o, 0, sizeof o);
    o.read_only = true;
    switch (kind) {
    case 1: tn_set_grad(t, tn_full(TN_DIMS(3), 5.0)); break;
    case 2: tn_set_grad(t, tn_expand(tn_full(TN_DIMS(1), 5.0), TN_DIMS(3))); break;
    case 3: tn_set_grad(t, tn_wrap((void *)(uintptr_t)fixed, TN_DIMS(3), TN_F32, &o)); break;
    case 4: tn_set_grad(t, tn_slice(tn_full(TN_DIMS(6), 5.0), .step = 2)); break;
    case 5: tn_set_grad(t, tn_requires_grad(tn_full(TN_DIMS(3), 5.0))); break;
    case 6: tn_set_grad(t, tn_slice(tn_full(TN_DIMS(6), 5.0), .end = 3)); break;
    default: break;
    }
}

/* A copy of each gradient in its place. */
static bool copies(tn_tensor **grads, int n, tn_tensor *const *came, int ncame, void *user) {
    (void)came, (void)ncame, (void)user;
    for (int i = 0; i < n; i++)
        if (grads[i] && !(grads[i] = tn_clone(grads[i]))) return false;
    return true;
}

/* middle = sum of the leaves; loss = the sum over k = 1 .. FAN of k * middle * middle */
static void build(graph *g) {
    tn_tensor *part[FAN];
    g->middle = NULL;
    for (int i = 0; i < LEAVES; i++) {
        g->leaf[i] = ones(3);
        set_grad(g->leaf[i], i % 7);
        g->before[i] = tn_grad_of(g->leaf[i]);
        g->value[i] = g->before[i] ? 5 : 0;
        g->middle = g->middle ? tn_add(g->middle, g->leaf[i]) : tn_mul_scalar(g->leaf[i], 1);
    }
    CHECK(tn_retain_grad(g->middle));
    CHECK(tn_history_hook_add(tn_history_of(g->middle), false, copies, NULL, NULL));
    CHECK(tn_history_hook_add(tn_history_of(g->middle), true, copies, NULL, NULL));
    for (int k = 0; k < FAN; k++) part[k] = tn_mul_scalar(tn_mul(g->middle, g->middle), k + 1);
    g->loss = tn_sum(tn_cat(tn_tensors_of(part, FAN)));
    CHECK(tn_ok());
}

static void unchanged(const graph *g) {
    for (int i = 0; i < LEAVES; i++) {
        CHECK(tn_grad_of(g->leaf[i]) == g->before[i]);
        if (g->before[i]) CHECK(at(g->before[i], 0) == 5 && at(g->before[i], 2) == 5);
    }
    CHECK(tn_grad_of(g->middle) == NULL);
}
static const double slope = 2.0 * LEAVES * FAN * (FAN + 1) / 2; /* of loss by each leaf */

static void any_allocation_of_backward_may_fail(void) {
    tn_context *c = begin();
    bool ok = false;
    int64_t k = 1;
    for (; !ok && k < 3000; k++)
        TN_SCOPE {
            graph g;
            build(&g);
            allowed = k;
            ok = tn_backward(g.loss, .retain_graph = true);
            if (allowed > 0 || ok) allowed = 0;
            if (!ok) {
                tn_error_info e;
                CHECK(tn_error_take(&e) && e.code == TN_MEMORY);
                unchanged(&g);
                CHECK(tn_backward(g.loss));
            }
            for (int i = 0; i < LEAVES; i++)
                CHECK(at(tn_grad_of(g.leaf[i]), 1) == g.value[i] + slope);
            CHECK(at(tn_grad_of(g.middle), 1) == slope);
            CHECK(fixed[0] == 5 && fixed[2] == 5);
        }
    CHECK(ok && k > 100);
    end(c);
}

static void any_allocation_of_grads_may_fail(void) {
    tn_context *c = begin();
    bool ok = false;
    tn_grads_options o = {NULL, true, false, false};
    for (int64_t k = 1; !ok && k < 3000; k++)
        TN_SCOPE {
            graph g;
            tn_tensor *grads[LEAVES];
            build(&g);
            for (int i = 0; i < LEAVES; i++) grads[i] = g.loss;
            allowed = k;
            ok = tn_grads(TN_LIST(g.loss), tn_tensors_of(g.leaf, LEAVES), grads, &o);
            allowed = 0;
            if (!ok) {
                CHECK(tn_error_take(NULL));
                for (int i = 0; i < LEAVES; i++) CHECK(grads[i] == NULL);
                CHECK(tn_grads(TN_LIST(g.loss), tn_tensors_of(g.leaf, LEAVES), grads, &o));
            }
            for (int i = 0; i < LEAVES; i++) CHECK(at(grads[i], 1) == slope);
            unchanged(&g);
        }
    CHECK(ok);
    end(c);
}

static tn_tensor *fails(tn_tensor *grad, void *user) {
    (void)grad, (void)user;
    tn_error_set(TN_INVALID, NULL, 0, "no");
    return NULL;
}
static void a_hook_that_fails_leaves_every_grad(void) {
    tn_context *c = begin();
    for (int leaf = 0; leaf < 2; leaf++)
        TN_SCOPE {
            graph g;
            int64_t number;
            build(&g);
            number = tn_hook_add(leaf ? g.leaf[4] : g.middle, fails, NULL, NULL);
            CHECK(!tn_backward(g.loss, .retain_graph = true));
            CHECK(tn_error_take(NULL));
            unchanged(&g);
            CHECK(tn_hook_remove(leaf ? g.leaf[4] : g.middle, number));
            CHECK(tn_backward(g.loss) && at(tn_grad_of(g.leaf[2]), 0) == 5 + slope);
        }
    end(c);
}

static tn_tensor *keeps_another_header(tn_tensor *grad, void *user) {
    *(tn_tensor **)user = tn_hold(tn_detach(grad));
    return NULL;
}
static void what_a_hook_keeps_of_a_gradient_stays(void) {
    tn_context *c = begin();
    TN_SCOPE { /* the gradient of y goes on to x as it is, and another is added to it there */
        tn_tensor *x = ones(3), *z = tn_mul_scalar(x, 7), *y = tn_add(x, tn_zeros(TN_DIMS(3))),
                  *kept = NULL;
        CHECK(tn_hook_add(y, keeps_another_header, &kept, NULL) > 0);
        CHECK(tn_backward(tn_sum(tn_add(tn_mul_scalar(z, 1), tn_mul_scalar(y, 2)))));
        CHECK(at(tn_grad_of(x), 0) == 9);
        CHECK(at(kept, 0) == 2);
        tn_free(kept);
    }
    end(c);
}

/* --- what a call was given goes once ---------------------------------------------------------- */

static void count(void *user) { ++*(int *)user; }
static bool twice(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)nin;
    return (out[0] = tn_mul_scalar(in[0], 2)) != NULL && tn_function_save(f, in[0]);
}
static bool twice_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    (void)f;
    return (grad_in[0] = tn_mul_scalar(grad_out[0], 2)) != NULL;
}
static tn_tensor *square_sum(tn_tensor *const *in, int nin, void *user) {
    (void)nin, (void)user;
    return tn_sum(tn_mul(in[0], in[0]));
}
static void a_function_that_fails_gives_all_back(void) {
    static const tn_function_row row = {"twice", 1, twice, twice_back, count};
    tn_context *c = begin();
    bool ok = false;
    TN_SCOPE
        tn_checkpoint(square_sum, TN_LIST(ones(3)), NULL); /* makes the generator */
    for (int64_t k = 1; !ok && k < 100; k++) {
        tn_tensor *x = ones(3), *y = NULL, *z = NULL;
        int64_t before = live;
        int released = 0, mode;
        TN_SCOPE {
            allowed = k;
            ok = tn_function_call(&row, TN_LIST(x), &released, &y);
            if (!ok) CHECK(tn_error_take(NULL) && released == 1);
            allowed = k;
            z = tn_checkpoint(square_sum, TN_LIST(x), NULL);
            allowed = 0;
            if (!z) CHECK(tn_error_take(NULL));
            ok = ok && z;
        }
        CHECK(released == 1);
        CHECK_EQ(live, before);
        TN_SCOPE { /* not recorded, and with an error pending */
            mode = tn_set_grad_mode(false);
            CHECK(tn_function_call(&row, TN_LIST(x), &released, &y) && released == 2);
            tn_set_grad_mode(mode);
            tn_error_set(TN_INVALID, NULL, 0, "pending");
            CHECK(!tn_function_call(&row, TN_LIST(x), &released, &y) && released == 3);
            CHECK(tn_error_take(NULL));
        }
        tn_free(x);
    }
    CHECK(ok);
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(any_allocation_of_backward_may_fail),
        CHECK_TEST(any_allocation_of_grads_may_fail),
        CHECK_TEST(a_hook_that_fails_leaves_every_grad),
        CHECK_TEST(what_a_hook_keeps_of_a_gradient_stays),
        CHECK_TEST(a_function_that_fails_gives_all_back),
    };
    return CHECK_MAIN(tests, argc, argv);
}
