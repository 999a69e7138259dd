/* saved.c - hooks of what calls keep for their gradients: what they are given, what comes back,
 * what is left where they fail, and what a recorded call says that it keeps. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"
#include "../keep.h"

/* Values are kept halved; counts of what was called. */
typedef struct keeper {
    int packed, unpacked, dropped, released, fails_at, of_wrong_shape;
} keeper;

static void *halve(tn_tensor *t, void *user) {
    keeper *k = (keeper *)user;
    CHECK(!tn_needs_grad(t) && !tn_grad_mode());
    if (k->fails_at && k->packed + 1 == k->fails_at) {
        tn_error_set(TN_INVALID, NULL, 0, "the disk is full");
        return NULL;
    }
    k->packed++;
    return tn_take(tn_mul_scalar(t, 0.5));
}
static tn_tensor *twice(void *value, void *user) {
    keeper *k = (keeper *)user;
    k->unpacked++;
    if (k->of_wrong_shape) return tn_ones(TN_DIMS(7));
    return tn_mul_scalar((tn_tensor *)value, 2);
}
static void forget(void *value, void *user) {
    ((keeper *)user)->dropped++;
    tn_free((tn_tensor *)value);
}
static void ended(void *user) { ((keeper *)user)->released++; }

static bool taken(tn_code code) {
    tn_error_info info;
    return tn_error_take(&info) && info.code == code;
}
static bool same(tn_tensor *a, tn_tensor *b) { return a && b && tn_item(tn_allclose(a, b)) == 1; }

static bool push(keeper *k) {
    tn_saved_hooks h = {halve, twice, forget, ended, k};
    return tn_saved_hooks_push(&h);
}
static tn_tensor *leaf(void) {
    return tn_requires_grad(tn_add_scalar(tn_arange(3, .dtype = TN_F64), 1));
}

static void gradients_read_what_was_packed(void) {
    keeper k = {0};
    int64_t live = tn_memory().live_tensors;
    TN_SCOPE {
        tn_tensor *x = leaf(), *y, *z;
        CHECK(push(&k));
        y = tn_mul(x, x);
        z = tn_exp(tn_mul_scalar_(tn_clone(y), 0.125));
        CHECK(tn_saved_hooks_pop() && !tn_saved_hooks_pop());
        CHECK(k.packed == 3 && k.unpacked == 0 && k.released == 0);
        CHECK(tn_backward(tn_sum(z), .retain_graph = true) && k.unpacked == 3 && k.dropped == 0);
        CHECK(same(tn_grad_of(x),
                   tn_mul_scalar(tn_mul(tn_exp(tn_mul_scalar(tn_mul(x, x), 0.125)), x), 0.25)));
        CHECK(tn_backward(tn_sum(z)) && k.dropped == 3 && k.released == 1);
        CHECK(!tn_backward(tn_sum(z)) && taken(TN_AUTOGRAD));
    }
    CHECK(tn_memory().live_tensors == live);
}

static void second_derivatives_pass_through(void) {
    keeper k = {0};
    TN_SCOPE {
        tn_tensor *x = leaf(), *y, *g = NULL, *h = NULL;
        tn_grads_options o = {NULL, false, true, false};
        CHECK(push(&k));
        y = tn_sum(tn_mul(tn_mul(x, x), x));
        CHECK(tn_grads(tn_tensors_of(&y, 1), tn_tensors_of(&x, 1), &g, &o));
        CHECK(tn_saved_hooks_pop() && k.packed > 0 && k.unpacked > 0);
        g = tn_sum(g);
        k.unpacked = 0;
        CHECK(tn_grads(tn_tensors_of(&g, 1), tn_tensors_of(&x, 1), &h, NULL));
        CHECK(same(h, tn_mul_scalar(x, 6)) && k.unpacked > 0);
    }
    CHECK(k.packed == k.dropped && k.released == 1);
}

static void the_innermost_hooks_count(void) {
    keeper a = {0}, b = {0};
    TN_SCOPE {
        tn_tensor *x = leaf();
        CHECK(push(&a) && push(&b));
        CHECK(tn_backward(tn_sum(tn_mul(x, x))));
        CHECK(tn_saved_hooks_pop() && b.released == 1);
        CHECK(tn_backward(tn_sum(tn_exp(x))));
        CHECK(tn_saved_hooks_pop() && a.released == 1);
    }
    CHECK(a.packed == 1 && a.dropped == 1 && b.packed == 2 && b.dropped == 2);
}

static void a_hook_that_fails_fails_the_call(void) {
    keeper k = {0};
    int64_t live = tn_memory().live_tensors;
    tn_error_info info;
    k.fails_at = 2;
    TN_SCOPE {
        tn_tensor *x = leaf(), *y;
        CHECK(push(&k));
        CHECK(!tn_mul(x, x) && tn_error_peek(&info) && strstr(info.message, "the disk is full"));
        tn_error_take(NULL);
        CHECK(k.packed == 1 && k.dropped == 1);
        k.fails_at = 0, k.of_wrong_shape = 1;
        y = tn_sum(tn_exp(x));
        CHECK(tn_saved_hooks_pop());
        CHECK(!tn_backward(y) && tn_error_peek(&info) &&
              strstr(info.message, "not the shape that was packed"));
        tn_error_take(NULL);
        CHECK(!tn_grad_of(x));
    }
    CHECK(k.packed == k.dropped && k.released == 1 && tn_memory().live_tensors == live);
    CHECK(!tn_saved_hooks_push(NULL) && taken(TN_INVALID));
}

/* --- custom functions ------------------------------------------------------------------------- */

static bool cube(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)nin;
    out[0] = tn_mul(tn_mul(in[0], in[0]), in[0]);
    return tn_function_save(f, in[0]) && tn_function_save(f, out[0]);
}
static bool cube_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    tn_tensor *x = tn_function_saved(f, 0), *y = tn_function_saved(f, 1);
    CHECK(x && y && tn_needs_grad(x) == tn_grad_mode());
    grad_in[0] = tn_mul(grad_out[0], tn_mul_scalar(tn_div(y, x), 3));
    return grad_in[0] != NULL;
}

static void a_function_of_ones_own_is_packed_too(void) {
    static const tn_function_row row = {"Cube", 1, cube, cube_back, NULL};
    keeper k = {0};
    TN_SCOPE {
        tn_tensor *x = leaf(), *y = NULL, *g = NULL, *h = NULL;
        tn_grads_options o = {NULL, false, true, false};
        CHECK(push(&k));
        CHECK(tn_function_call(&row, tn_tensors_of(&x, 1), NULL, &y));
        CHECK(tn_saved_hooks_pop() && k.packed == 2);
        y = tn_sum(y);
        CHECK(tn_grads(tn_tensors_of(&y, 1), tn_tensors_of(&x, 1), &g, &o));
        CHECK(same(g, tn_mul_scalar(tn_mul(x, x), 3)));
        g = tn_sum(g);
        CHECK(tn_grads(tn_tensors_of(&g, 1), tn_tensors_of(&x, 1), &h, NULL));
        CHECK(same(h, tn_mul_scalar(x, 6)));
    }
    CHECK(k.packed == 2 && k.dropped == 2 && k.released == 1);
}

/* --- what a call keeps ------------------------------------------------------------------------ */

static void a_call_says_what_it_keeps(void) {
    keeper k = {0};
    tn_saved_hooks h = {halve, twice, forget, ended, &k};
    TN_SCOPE {
        tn_tensor *x = leaf(), *y = tn_mul(x, tn_mul_scalar(x, 2)), *z = tn_exp(x);
        tn_history *of = tn_history_of(y);
        CHECK(tn_history_keeps(of, "self") && !tn_history_keeps(of, "result"));
        CHECK(!tn_history_keeps(of, "") && !tn_history_keeps(NULL, "self"));
        CHECK(tn_history_saved(of, "self") == x && !tn_history_saved(of, "nothing") && tn_ok());
        CHECK(tn_history_of(tn_history_saved(tn_history_of(z), "result")) == tn_history_of(z));
        CHECK(tn_history_pack(of, "self", &h) && k.packed == 1 && k.released == 0);
        CHECK(same(tn_history_saved(of, "self"), x));
        CHECK(!tn_history_pack(of, "self", &h) && taken(TN_INVALID));
        CHECK(!tn_history_pack(of, "result", &h) && taken(TN_INVALID));
        CHECK(k.released == 2); /* of the two that failed */
        CHECK(tn_backward(tn_sum(y)) && same(tn_grad_of(x), tn_mul_scalar(x, 4)));
        CHECK(k.dropped == 1 && k.released == 3);
        CHECK(!tn_history_saved(of, "self") && taken(TN_AUTOGRAD));
    }
}

/* --- hooks that meddle ------------------------------------------------------------------------ */

typedef struct meddler {
    tn_history *of;
    tn_tensor *root;
    keeper *inner;
    int pops, dropped, released;
    bool ran;
} meddler;

static void *meddle(tn_tensor *t, void *user) {
    meddler *m = (meddler *)user;
    if (m->inner) {
        tn_saved_hooks h = {halve, twice, forget, ended, NULL};
        h.user = m->inner;
        m->ran = tn_history_pack(m->of, "self", &h);
    }
    if (m->root) m->ran = tn_backward(m->root);
    for (; m->pops; m->pops--) m->ran = tn_saved_hooks_pop();
    return tn_take(tn_clone(t));
}
static tn_tensor *back(void *value, void *user) {
    meddler *m = (meddler *)user;
    tn_tensor *root = m->root;
    m->root = NULL;
    if (root) m->ran = tn_backward(root);
    return tn_clone((tn_tensor *)value);
}
static void lost(void *value, void *user) {
    ((meddler *)user)->dropped++;
    tn_free((tn_tensor *)value);
}
static void gone(void *user) { ((meddler *)user)->released++; }
static tn_saved_hooks meddling(meddler *m) {
    tn_saved_hooks h = {meddle, back, lost, gone, NULL};
    h.user = m;
    return h;
}

static void a_pack_that_frees_what_it_packs_is_refused(void) {
    int64_t live = tn_memory().live_tensors;
    watch_callbacks_keep = 1; /* what the hooks did of their own stays */
    TN_SCOPE {
        keeper k = {0};
        meddler m = {0}, n = {0};
        tn_tensor *x = leaf(), *y = tn_mul(x, tn_mul_scalar(x, 2));
        tn_saved_hooks h = meddling(&m);
        m.of = tn_history_of(y);
        m.inner = &k; /* the hooks of another one come first */
        CHECK(!tn_history_pack(m.of, "self", &h) && taken(TN_AUTOGRAD) && m.ran);
        CHECK(m.dropped == 1 && m.released == 1 && k.packed == 1 && k.released == 0);
        CHECK(same(tn_history_saved(m.of, "self"), x));
        CHECK(tn_backward(tn_sum(y)) && same(tn_grad_of(x), tn_mul_scalar(x, 4)));
        CHECK(k.dropped == 1 && k.released == 1);
        y = tn_exp(x);
        h = meddling(&n);
        n.root = tn_sum(y); /* what it packs is freed by a backward */
        CHECK(!tn_history_pack(tn_history_of(y), "result", &h) && taken(TN_AUTOGRAD) && n.ran);
        CHECK(n.dropped == 1 && n.released == 1);
    }
    watch_callbacks_keep = 0;
    CHECK(tn_memory().live_tensors == live);
}

static void hooks_may_close_themselves(void) {
    meddler m = {0}, n = {0};
    TN_SCOPE {
        tn_tensor *x = leaf(), *y;
        tn_saved_hooks h = meddling(&m);
        m.pops = 1;
        CHECK(tn_saved_hooks_push(&h));
        y = tn_mul(x, tn_add_scalar(x, 1)); /* two are packed */
        CHECK(m.ran && !tn_saved_hooks_pop() && m.released == 0);
        CHECK(tn_backward(tn_sum(y)) && m.dropped == 2 && m.released == 1);
        h = meddling(&n);
        n.pops = 1;
        y = tn_mul(x, x);
        CHECK(tn_history_pack(tn_history_of(y), "self", &h) && !n.ran); /* none are open */
        CHECK(tn_backward(tn_sum(y)) && n.dropped == 1 && n.released == 1);
    }
}

static void an_unpack_may_free_what_it_unpacks(void) {
    int64_t live = tn_memory().live_tensors;
    TN_SCOPE {
        meddler m = {0};
        tn_tensor *x = leaf(), *y = tn_exp(x);
        tn_saved_hooks h = meddling(&m);
        CHECK(tn_history_pack(tn_history_of(y), "result", &h));
        m.root = tn_sum(y);
        CHECK(same(tn_history_saved(tn_history_of(y), "result"), y) && m.ran);
        CHECK(m.dropped == 1 && m.released == 1 && same(tn_grad_of(x), y));
        CHECK(!tn_history_saved(tn_history_of(y), "result") && taken(TN_AUTOGRAD));
    }
    CHECK(tn_memory().live_tensors == live);
}

static void a_function_whose_hooks_close_themselves(void) {
    static const tn_function_row row = {"Cube", 1, cube, cube_back, NULL};
    meddler m = {0};
    TN_SCOPE {
        tn_tensor *x = leaf(), *y = NULL;
        tn_saved_hooks h = meddling(&m);
        m.pops = 1;
        CHECK(tn_saved_hooks_push(&h));
        CHECK(tn_function_call(&row, tn_tensors_of(&x, 1), NULL, &y));
        CHECK(m.ran && !tn_saved_hooks_pop() && m.released == 0);
        CHECK(tn_backward(tn_sum(y)) && m.dropped == 2 && m.released == 1);
        CHECK(same(tn_grad_of(x), tn_mul_scalar(tn_mul(x, x), 3)));
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(gradients_read_what_was_packed),
        CHECK_TEST(second_derivatives_pass_through),
        CHECK_TEST(the_innermost_hooks_count),
        CHECK_TEST(a_hook_that_fails_fails_the_call),
        CHECK_TEST(a_function_of_ones_own_is_packed_too),
        CHECK_TEST(a_call_says_what_it_keeps),
        CHECK_TEST(a_pack_that_frees_what_it_packs_is_refused),
        CHECK_TEST(hooks_may_close_themselves),
        CHECK_TEST(an_unpack_may_free_what_it_unpacks),
        CHECK_TEST(a_function_whose_hooks_close_themselves),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
