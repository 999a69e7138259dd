/* histories.c - recorded calls as something to look at: what they came from, who keeps them, how
 * they are given up; hooks that see a leaf behind its .grad; a binding's object on a tensor. All
 * memory comes back, also where an allocation fails. */
#include "../refused.h"
#include "../keep.h"
#include "exact.h"

static tn_tensor *leaf(double v) {
    return tn_requires_grad(tn_full(TN_DIMS(2), v, .dtype = TN_F64));
}

/* --- what a call came from -------------------------------------------------------------------- */

/* A function with two results, 2 x and 3 x; user counts its releases. */
static bool pair_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f, (void)nin;
    out[0] = tn_mul_scalar(in[0], 2), out[1] = tn_mul_scalar(in[0], 3);
    return tn_ok();
}
static bool pair_backward(tn_function *f, tn_tensor *const *g, tn_tensor **grad_in) {
    (void)f;
    grad_in[0] = g[1] ? tn_mul_scalar(g[1], 3) : NULL;
    return tn_ok();
}
static void counted_release(void *user) { ++*(int *)user; }
static void other_release(void *user) { (void)user; }
static const tn_function_row pair_row = {"pair", 2, pair_forward, pair_backward, counted_release};

static bool comes_from(const tn_history *h, int i, tn_history *call, int number, tn_tensor *x) {
    tn_history *c = (tn_history *)(uintptr_t)&pair_row; /* overwritten, as the others are */
    tn_tensor *l = x ? NULL : (tn_tensor *)(uintptr_t)&pair_row;
    int k = -7;
    return tn_history_input(h, i, &c, &k, &l) && c == call && k == number && l == x;
}
static bool has_no_input(const tn_history *h, int i) {
    tn_history *c = (tn_history *)(uintptr_t)&pair_row;
    tn_tensor *l = (tn_tensor *)(uintptr_t)&pair_row;
    int k = -7;
    return !tn_history_input(h, i, &c, &k, &l) && !c && !k && !l;
}

/* The text is cut to the room, of any size. */
static bool names(const tn_history *h, const char *text) {
    char whole[64] = "?", part[64];
    tn_history_text(h, whole, sizeof whole);
    for (size_t room = 1; room < sizeof part; room++) {
        memset(part, '#', sizeof part);
        tn_history_text(h, part, room);
        if (strlen(part) >= room || strncmp(part, whole, strlen(part)) || part[room] != '#')
            return false;
    }
    part[0] = '#';
    tn_history_text(h, part, 0);
    return part[0] == '#' && !strcmp(whole, text);
}

static void a_history_names_its_call_and_where_its_inputs_came_from(void) {
    tn_context *c = begin();
    int released = 0;
    TN_SCOPE {
        tn_tensor *x = leaf(1), *two[2], *y, *z, *fixed = tn_detach(x);
        tn_history *of_two, *of_y, *of_z;
        CHECK(tn_function_call(&pair_row, TN_LIST(x), &released, two));
        y = tn_add(two[1], x), z = tn_mul(fixed, y);
        of_two = tn_history_of(two[0]), of_y = tn_history_of(y), of_z = tn_history_of(z);
        CHECK(of_two && of_two == tn_history_of(two[1]) && of_y && of_z && of_y != of_z);
        CHECK(!tn_history_of(x) && !tn_history_of(NULL) && !tn_history_of(fixed));
        CHECK_TEXT(tn_history_name(of_two), "pair");
        CHECK_TEXT(tn_history_name(of_y), "add");
        CHECK_TEXT(tn_history_name(of_z), tn_grad_fn(z));
        CHECK(!tn_history_name(NULL));
        CHECK(names(of_two, "pair") && names(of_y, "AddBackward0") && names(NULL, ""));
        CHECK(names(tn_history_of(tn_pow_scalar(x, 2)), "PowBackward0"));
        CHECK(names(tn_history_of(tn_pow(x, x)), "PowBackward1"));
        CHECK(names(tn_history_of(tn_mse_loss(y, fixed)), "MseLossBackward0"));
        CHECK(tn_history_output(two[0]) == 0 && tn_history_output(two[1]) == 1);
        CHECK(tn_history_output(x) == 0 && tn_history_output(NULL) == 0);
        CHECK(comes_from(of_two, 0, NULL, 0, x) && has_no_input(of_two, 1));
        CHECK(comes_from(of_y, 0, of_two, 1, NULL) && comes_from(of_y, 1, NULL, 0, x));
        CHECK(comes_from(of_z, 0, NULL, 0, NULL) && comes_from(of_z, 1, of_y, 0, NULL));
        CHECK(has_no_input(of_z, 2) && has_no_input(of_z, -1) && has_no_input(NULL, 0));
        CHECK(tn_history_user(of_two, counted_release) == &released);
        CHECK(!tn_history_user(of_two, other_release) && !tn_history_user(of_two, NULL));
        CHECK(!tn_history_user(of_y, counted_release) && !tn_history_user(NULL, counted_release));
        CHECK(tn_backward(tn_sum(z)) && at(tn_grad_of(x), 0) == 4 && released == 0);
    }
    CHECK_EQ(released, 1);
    end(c);
}

static void who_holds_a_history_keeps_it(void) {
    tn_context *c = begin();
    int released = 0;
    TN_SCOPE {
        tn_tensor *x = leaf(1), *two[2], *y = tn_mul_scalar(x, 2);
        tn_history *h = tn_history_of(y), *pair;
        CHECK(tn_history_only(h, y) && !tn_history_only(h, x) && !tn_history_only(NULL, y));
        CHECK(!tn_history_only(h, NULL) && !tn_history_only(NULL, NULL));
        CHECK(!tn_history_only(NULL, x)); /* a leaf was made by no call */
        CHECK(tn_history_hold(h) == h && !tn_history_hold(NULL) && !tn_history_only(h, y));
        tn_history_free(NULL);
        tn_history_free(h);
        CHECK(tn_history_only(h, y));
        CHECK(tn_neg(y) && !tn_history_only(h, y)); /* its call leads here, too */
        CHECK(tn_function_call(&pair_row, TN_LIST(x), &released, two));
        pair = tn_history_hold(tn_history_of(two[0]));
        tn_free(two[0]), tn_free(two[1]);
        CHECK(released == 0 && comes_from(pair, 0, NULL, 0, x));
        CHECK_TEXT(tn_history_name(pair), "pair");
        tn_history_free(pair);
        CHECK_EQ(released, 1);
    }
    end(c);
}

static void the_history_of_a_view_is_that_of_its_base_now(void) {
    tn_context *c = begin();
    for (int fails = 0; fails < 2; fails++)
        TN_SCOPE {
            tn_tensor *x = leaf(1), *b = tn_mul_scalar(x, 2), *v = tn_slice(b, .end = 1);
            tn_history *before = tn_history_of(v), *now;
            CHECK_TEXT(tn_history_name(before), "slice");
            CHECK(tn_mul_(b, b));
            tn_error_set(TN_INDEX, NULL, 0, "pending"); /* nothing is recorded meanwhile */
            CHECK(tn_history_of(v) == before && tn_error_take(NULL));
            allowed = fails;
            now = tn_history_of(v);
            allowed = 0;
            CHECK(now && (now == before) == fails);
            if (fails) says(TN_MEMORY, "", __LINE__);
            CHECK_TEXT(tn_history_name(tn_history_of(v)), "as_strided");
            CHECK(tn_backward(tn_sum(v)) && at(tn_grad_of(x), 0) == 8 && !at(tn_grad_of(x), 1));
        }
    end(c);
}

static tn_tensor *chain(tn_tensor *t, int calls) {
    for (int i = 0; i < calls; i++) t = tn_neg(t);
    return t;
}
static void a_backward_may_last_where_elements_or_calls_are_many(void) {
    tn_context *c = begin();
    int released = 0;
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(2, 5))), *y = tn_mul_scalar(x, 2), *two[2];
        tn_tensor *none = tn_requires_grad(tn_ones(TN_DIMS(0, 5)));
        CHECK(!tn_history_lasts(NULL, 0) && !tn_history_lasts(x, 0)); /* no call at all */
        CHECK(tn_history_lasts(y, 9) && !tn_history_lasts(y, 10) && tn_history_lasts(y, 0));
        CHECK(tn_history_lasts(tn_sum(y), 9) && !tn_history_lasts(tn_sum(y), 10));
        CHECK(!tn_history_lasts(tn_mul_scalar(none, 2), 0)); /* whatever its other sizes */
        CHECK(!tn_history_lasts(tn_relu(tn_linear(x, tn_ones(TN_DIMS(3, 5)))), 15));
        CHECK(tn_history_lasts(tn_relu(tn_linear(x, tn_ones(TN_DIMS(3, 5)))), 14));
        CHECK(!tn_history_lasts(chain(y, 20), 10) && tn_history_lasts(chain(y, 200), 10));
        CHECK(tn_history_lasts(chain(tn_add(y, y), 20), 9));
        CHECK(tn_function_call(&pair_row, TN_LIST(y), &released, two));
        CHECK(!tn_history_lasts(two[0], 10) && tn_history_lasts(two[0], 9));
    }
    CHECK_EQ(released, 1);
    end(c);
}

/* --- history that goes ------------------------------------------------------------------------ */

static void a_tensor_that_forgets_is_a_leaf_and_its_graph_goes_on(void) {
    tn_context *c = begin(), *other;
    TN_SCOPE {
        tn_tensor *x = leaf(3), *y = tn_mul_scalar(x, 2), *z = tn_mul(y, y), *v, *w;
        CHECK(tn_retain_grad(y) && tn_detach_(y) && tn_is_leaf(y) && !tn_needs_grad(y));
        CHECK(!tn_retains_grad(y) && !tn_grad_fn(y) && tn_history_output(y) == 0);
        CHECK(tn_backward(tn_sum(z)) && at(tn_grad_of(x), 0) == 24 && !tn_grad_of(y));
        CHECK(tn_requires_grad(y) && tn_backward(tn_sum(tn_mul(y, y))));
        CHECK(at(tn_grad_of(y), 1) == 12 && at(tn_grad_of(x), 1) == 24);
        CHECK(tn_detach_(x) && !tn_needs_grad(x) && at(tn_grad_of(x), 0) == 24);
        w = tn_mul_scalar(y, 2);
        CHECK(tn_detach_(w) && tn_is_leaf(w) && !tn_needs_grad(w) && at(w, 0) == 12);
        v = tn_slice(y, .end = 1), w = tn_slice(tn_ones(TN_DIMS(2)), .end = 1);
        REFUSED(tn_detach_(v), TN_AUTOGRAD, "Can't detach views in-place");
        CHECK_TEXT(tn_grad_fn(v), "slice");
        CHECK(tn_detach_(w) && tn_is_leaf(w));
        REFUSED(tn_detach_(NULL), TN_INVALID, "tn_detach_: the tensor is NULL");
        tn_error_set(TN_INDEX, NULL, 0, "pending");
        CHECK(!tn_detach_(z) && tn_error_take(NULL) && tn_needs_grad(z));
        other = tn_context_new(NULL);
        tn_context_use(other);
        REFUSED(tn_detach_(z), TN_INVALID, "tn_detach_: a tensor belongs to another context");
        tn_context_use(c);
        tn_context_free(other);
    }
    end(c);
}

static void tensors_of_inference_say_so(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = leaf(1), *made, *of_x;
        bool was = tn_set_inference_mode(true);
        made = tn_mul_scalar(x, 2), of_x = tn_slice(x, .end = 1);
        CHECK(tn_set_inference_mode(was));
        CHECK(tn_is_inference(made) && tn_is_inference(tn_slice(made, .end = 1)));
        CHECK(!tn_is_inference(of_x) && !tn_is_inference(x) && !tn_is_inference(NULL));
        CHECK(!tn_is_inference(tn_clone(made)) && !tn_is_inference(tn_add(x, x)));
    }
    end(c);
}

/* --- hooks behind .grad ----------------------------------------------------------------------- */

typedef struct watcher {
    tn_tensor *x, *y;
    int calls, released, mode, inner;
    int64_t number, second;
    double seen_x, seen_y;
} watcher;
static void watcher_release(void *user) { ((watcher *)user)->released++; }
static tn_tensor *sees(tn_tensor *t, void *user) {
    watcher *w = (watcher *)user;
    CHECK(t == w->x);
    w->calls++;
    w->seen_x = at(tn_grad_of(t), 0);
    w->seen_y = w->y && tn_grad_of(w->y) ? at(tn_grad_of(w->y), 0) : 0;
    return w->y; /* not read */
}
static tn_tensor *counts_calls(tn_tensor *t, void *user) {
    (void)t;
    ++*(int *)user;
    return NULL;
}
static tn_tensor *halves(tn_tensor *grad, void *user) {
    (void)user;
    return tn_mul_scalar(grad, 0.5);
}

static void a_hook_behind_sees_the_leaf_when_all_leaves_have_their_grad(void) {
    tn_context *c = begin();
    watcher a = {NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0}, b = a;
    int others = 0;
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = leaf(1), *unused = leaf(1), *grads[2];
        tn_backward_args only_y;
        a.x = b.y = x, a.y = b.x = y;
        CHECK((a.number = tn_hook_after(x, sees, &a, watcher_release)) > 0);
        CHECK((b.number = tn_hook_after(y, sees, &b, watcher_release)) > a.number);
        CHECK(tn_hook_add(x, halves, NULL, NULL) &&
              tn_hook_after(unused, counts_calls, &others, NULL));
        CHECK(tn_backward(tn_sum(tn_add(tn_mul_scalar(x, 4), y))));
        CHECK(a.calls == 1 && a.seen_x == 2 && a.seen_y == 1);
        CHECK(b.calls == 1 && b.seen_x == 1 && b.seen_y == 2 && others == 0);
        CHECK(at(tn_grad_of(x), 1) == 2 && at(tn_grad_of(y), 1) == 1);
        CHECK(tn_grads(TN_LIST(tn_sum(tn_add(x, y))), TN_LIST(x, y), grads, NULL));
        CHECK(a.calls == 1 && b.calls == 1 && at(grads[0], 0) == 0.5); /* .grad is as it was */
        memset(&only_y, 0, sizeof only_y);
        only_y.inputs = TN_LIST(y, unused);
        CHECK(tn_backward_all(TN_LIST(tn_sum(tn_add(x, y))), NULL, &only_y));
        CHECK(a.calls == 1 && b.calls == 2 && b.seen_x == 2 && others == 0);
        CHECK(tn_hook_remove(x, a.number) && a.released == 1 && !tn_hook_remove(x, a.number));
        CHECK(tn_backward(tn_sum(x)) && a.calls == 1 && at(tn_grad_of(x), 0) == 2.5);
        CHECK(b.released == 0);
    }
    CHECK_EQ(b.released, 1);
    end(c);
}

/* Mode 0: an error. 1: removes the hook that follows and adds one. 2: removes itself and runs a
 * backward of the same leaf. */
static tn_tensor *acts(tn_tensor *t, void *user) {
    watcher *w = (watcher *)user;
    w->calls++;
    if (w->mode == 0) tn_error_set(TN_INDEX, NULL, 0, "behind says no");
    if (w->mode == 1) {
        CHECK(tn_hook_remove(w->x, w->second));
        w->second = tn_hook_after(w->x, counts_calls, &w->inner, NULL);
    }
    if (w->mode == 2) {
        CHECK(tn_hook_remove(w->x, w->number));
        tn_set_grad_mode(true);
        CHECK(tn_backward(tn_sum(w->x)));
    }
    return t;
}
static void hooks_of_a_leaf_act_on_each_other(bool behind) {
    tn_context *c = begin();
    int others = 0;
    TN_SCOPE {
        watcher w = {leaf(1), NULL, 0, 0, 1, 0, 0, 0, 0, 0};
        w.number = behind ? tn_hook_after(w.x, acts, &w, watcher_release)
                          : tn_hook_add(w.x, acts, &w, watcher_release);
        w.second = tn_hook_after(w.x, counts_calls, &others, NULL);
        CHECK(w.number > 0 && w.second > w.number && tn_backward(tn_sum(w.x)));
        CHECK(w.calls == 1 && w.inner == 0 && others == 0 && w.second > 0);
        w.mode = 2; /* the inner backward does not run it again, the outer one's end releases it */
        CHECK(tn_backward(tn_sum(w.x)) && w.calls == 2 && w.released == 1);
        CHECK_EQ(w.inner, 2);
        CHECK(at(tn_grad_of(w.x), 0) == 3 && tn_hook_remove(w.x, w.second));
        CHECK(tn_backward(tn_sum(w.x)) && w.calls == 2 && w.inner == 2);
    }
    end(c);
}
static void hooks_behind_may_remove_add_and_run_backward(void) {
    hooks_of_a_leaf_act_on_each_other(true);
}
static void hooks_before_may_remove_add_and_run_backward(void) {
    hooks_of_a_leaf_act_on_each_other(false);
}

static void an_error_behind_stops_hooks_and_no_gradient(void) {
    tn_context *c = begin();
    int others = 0;
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = leaf(1);
        watcher w = {x, NULL, 0, 0, 0, 0, 0, 0, 0, 0};
        CHECK(tn_hook_after(x, acts, &w, NULL) && tn_hook_after(x, counts_calls, &others, NULL));
        watch_callbacks_keep = 1; /* that call keeps gradients */
        REFUSED(tn_backward(tn_sum(tn_add(x, y))), TN_INDEX, "behind says no");
        watch_callbacks_keep = 0;
        CHECK(w.calls == 1 && others == 0);
        CHECK(at(tn_grad_of(x), 0) == 1 && at(tn_grad_of(y), 0) == 1);
    }
    end(c);
}

static void hooks_behind_are_of_leaves_that_require_grad(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = tn_mul_scalar(x, 2);
        watcher w = {x, NULL, 0, 0, 0, 0, 0, 0, 0, 0};
        REFUSED(tn_hook_after(y, sees, &w, NULL), TN_AUTOGRAD, "the tensor is not a leaf");
        REFUSED(tn_hook_after(NULL, sees, &w, NULL), TN_AUTOGRAD,
                ": expected a hook and a tensor that requires grad");
        REFUSED(tn_hook_after(x, NULL, &w, NULL), TN_AUTOGRAD,
                ": expected a hook and a tensor that requires grad");
        REFUSED(tn_hook_after(tn_detach(x), sees, &w, NULL), TN_AUTOGRAD, "requires grad");
        for (int k = 1; k <= 2; k++) {
            allowed = k;
            REFUSED(tn_hook_after(x, sees, &w, watcher_release), TN_MEMORY, "");
            allowed = 0;
        }
        tn_error_set(TN_INDEX, NULL, 0, "pending");
        CHECK(!tn_hook_after(x, sees, &w, NULL) && tn_error_take(NULL));
        CHECK(tn_backward(tn_sum(y)) && w.calls == 0 && w.released == 0);
    }
    end(c);
}

/* --- a binding's object ----------------------------------------------------------------------- */

static void a_binding_is_kept_beside_hooks_and_released_once(void) {
    tn_context *c = begin();
    int first = 0, second = 0, third = 0, calls = 0;
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = leaf(1), *z = leaf(1);
        CHECK(!tn_binding(x) && tn_set_binding(x, &first, NULL) && tn_binding(x) == &first);
        CHECK(tn_hook_remove(x, 1) == false && tn_backward(tn_sum(x)));
        CHECK(tn_hook_add(x, counts_calls, &calls, NULL) && tn_binding(x) == &first);
        CHECK(tn_backward(tn_sum(x)) && calls == 1);
        CHECK(tn_set_binding(x, NULL, NULL) && !tn_binding(x));
        CHECK(tn_set_binding(x, &first, counted_release) && tn_binding(x) == &first);
        CHECK(tn_set_binding(y, &second, NULL) && tn_set_binding(y, NULL, NULL) && !tn_binding(y));
        CHECK(tn_set_binding(y, &second, counted_release) && tn_binding(y) == &second);
        allowed = 1;
        CHECK(!tn_set_binding(z, &third, counted_release) && !tn_binding(z));
        allowed = 0;
        says(TN_MEMORY, "", __LINE__);
        CHECK(tn_set_binding(z, &third, NULL) && tn_binding(z) == &third);
        tn_free(z);
    }
    CHECK(first == 1 && second == 1 && third == 0);
    end(c);
}

static void owners_are_counted_and_a_tensor_is_taken_out_of_its_scope(void) {
    tn_context *c = begin();
    tn_tensor *kept = NULL, *mine;
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2));
        CHECK(tn_owners(NULL) == 0 && tn_owners(x) == 1);
        CHECK(tn_retain(x) == x && tn_owners(x) == 2);
        tn_release(x);
        CHECK(tn_owners(x) == 1 && tn_take(x) == x && tn_take(x) == x && tn_owners(x) == 1);
        CHECK(!tn_take(NULL));
        kept = x;
        mine = tn_hold(tn_ones(TN_DIMS(1)));
        CHECK(tn_hold(mine) == mine && tn_owners(mine) == 2); /* no scope has it: one more owner */
        tn_free(mine), tn_free(mine);
    }
    CHECK(tn_owners(kept) == 1 && at(kept, 1) == 1);
    tn_free(kept);
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_history_names_its_call_and_where_its_inputs_came_from),
        CHECK_TEST(who_holds_a_history_keeps_it),
        CHECK_TEST(the_history_of_a_view_is_that_of_its_base_now),
        CHECK_TEST(a_backward_may_last_where_elements_or_calls_are_many),
        CHECK_TEST(a_tensor_that_forgets_is_a_leaf_and_its_graph_goes_on),
        CHECK_TEST(tensors_of_inference_say_so),
        CHECK_TEST(a_hook_behind_sees_the_leaf_when_all_leaves_have_their_grad),
        CHECK_TEST(hooks_behind_may_remove_add_and_run_backward),
        CHECK_TEST(hooks_before_may_remove_add_and_run_backward),
        CHECK_TEST(an_error_behind_stops_hooks_and_no_gradient),
        CHECK_TEST(hooks_behind_are_of_leaves_that_require_grad),
        CHECK_TEST(a_binding_is_kept_beside_hooks_and_released_once),
        CHECK_TEST(owners_are_counted_and_a_tensor_is_taken_out_of_its_scope),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
