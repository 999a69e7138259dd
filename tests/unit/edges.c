/* edges.c - the ends of backward, custom functions and checks: lists that are none, views whose
 * base was written or exchanged, inputs written by a function, scopes without end, and each
 * allocation failing in turn. What fails says so, changes no .grad and keeps nothing. */
#include "../refused.h"
#include "exact.h"

static tn_tensor *leaf(double v) {
    return tn_requires_grad(tn_full(TN_DIMS(2), v, .dtype = TN_F64));
}
static tn_tensor *filled(int64_t n, double v) { return tn_full(TN_DIMS(n), v, .dtype = TN_F64); }
static tn_tensor *keeps_grad(tn_tensor *grad, void *user) { return (void)user, grad; }

/* The deed in fresh states, with the first, second, ... allocation failing until none does: each
 * failure is MEMORY and leaves .grad of x as it was. The deed itself checks what it made. */
typedef struct state {
    tn_tensor *x, *y, *z, *many[40];
} state;
static void each_allocation_fails(void (*build)(state *), bool (*deed)(state *), int least) {
    bool ok = false;
    int64_t k = 1;
    for (; !ok && k < 500; k++) {
        tn_context *c = begin();
        TN_SCOPE {
            state s;
            memset(&s, 0, sizeof s);
            build(&s);
            CHECK(tn_ok());
            allowed = k;
            ok = deed(&s);
            allowed = 0;
            if (!ok) {
                says(TN_MEMORY, "", __LINE__);
                CHECK(!tn_grad_of(s.x));
                CHECK(deed(&s)); /* and may be made again */
            }
        }
        end(c);
    }
    if (!CHECK(ok && k - 2 >= least)) printf("%d of %d allocations\n", (int)k - 2, least);
}

/* --- lists ------------------------------------------------------------------------------------ */

static void lists_that_are_none_are_refused(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = tn_sum(x), *grads[1] = {y};
        tn_tensors nowhere = {NULL, 1}, less = {&x, -1}, none = {NULL, 0};
        tn_backward_args o;
        memset(&o, 0, sizeof o);
        REFUSED(tn_backward_all(nowhere, NULL, NULL), TN_INVALID,
                "backward: expected a list of tensors");
        REFUSED(tn_backward_all(less, NULL, NULL), TN_INVALID,
                "backward: expected a list of tensors");
        o.inputs = less;
        REFUSED(tn_backward_all(TN_LIST(y), NULL, &o), TN_INVALID,
                "inputs: expected a list of tensors");
        REFUSED(tn_grads(less, TN_LIST(x), grads, NULL), TN_INVALID, "outputs: expected a list");
        CHECK(!grads[0]);
        REFUSED(tn_grads(nowhere, TN_LIST(x), grads, NULL), TN_INVALID, "outputs: expected a list");
        REFUSED(tn_grads(TN_LIST(y), less, grads, NULL), TN_INVALID, "inputs: expected a list");
        REFUSED(tn_grads(TN_LIST(y), nowhere, grads, NULL), TN_INVALID, "inputs: expected a list");
        CHECK(tn_grads(TN_LIST(y), none, NULL, NULL) && tn_backward_all(none, NULL, NULL));
        CHECK(!tn_grad_of(x) && tn_backward_all(TN_LIST(tn_sum(x)), NULL, NULL));
        CHECK(at(tn_grad_of(x), 0) == 1);
        CHECK(!tn_checkpoint(NULL, less, NULL));
        says(TN_INVALID, "checkpoint: expected a list of tensors", __LINE__);
    }
    end(c);
}

/* --- what a function writes ------------------------------------------------------------------- */

typedef struct plan {
    int input;  /* written and given back */
    bool marks; /* says so */
    int released;
} plan;
static bool triples(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    plan *p = (plan *)tn_function_user(f);
    CHECK(p->input < nin);
    out[0] = in[p->input];
    if (!p->marks) return true;
    return tn_mul_scalar_(out[0], 3) && tn_function_written(f, p->input);
}
static bool triples_back(tn_function *f, tn_tensor *const *g, tn_tensor **grad_in) {
    plan *p = (plan *)tn_function_user(f);
    grad_in[p->input] = p->marks ? tn_mul_scalar(g[0], 3) : tn_mul_scalar(g[0], 1);
    return tn_ok();
}
static void plan_released(void *user) { ((plan *)user)->released++; }
static const tn_function_row triples_row = {"tripled", 1, triples, triples_back, plan_released};

static void an_input_that_a_function_has_written_gets_its_history(void) {
    tn_context *c = begin();
    plan p = {0, true, 0}, second = {1, true, 0}, other = {0, false, 0};
    TN_SCOPE {
        tn_tensor *x = leaf(1), *y = tn_mul_scalar(x, 2), *z = tn_mul_scalar(x, 2), *out;
        CHECK(tn_function_call(&triples_row, TN_LIST(y), &p, &out) && out == y);
        CHECK_TEXT(tn_grad_fn(y), "tripled");
        CHECK(at(y, 0) == 6 && tn_backward(tn_sum(y)) && at(tn_grad_of(x), 0) == 6);
        CHECK(tn_function_call(&triples_row, TN_LIST(NULL, z), &second, &out) && out == z);
        CHECK(at(z, 1) == 6 && tn_backward(tn_sum(z)) && at(tn_grad_of(x), 0) == 12);
        second.input = 1, z = tn_mul_scalar(x, 2), tn_zero_grad(x); /* twice among the inputs */
        CHECK(tn_function_call(&triples_row, TN_LIST(z, z), &second, &out) && out == z);
        CHECK(tn_backward(tn_sum(z)) && at(tn_grad_of(x), 0) == 6);
        z = tn_mul_scalar(x, 2); /* an input that is handed on is another tensor on its data */
        CHECK(tn_function_call(&triples_row, TN_LIST(z), &other, &out) && out != z);
        CHECK_TEXT(tn_grad_fn(z), "mul");
        CHECK(tn_same_storage(out, z) && tn_backward(tn_sum(out)) && at(tn_grad_of(x), 0) == 8);
    }
    CHECK(p.released == 1 && second.released == 2 && other.released == 1);
    end(c);
}
static void a_view_that_a_function_has_written_leads_its_base_there(void) {
    tn_context *c = begin();
    plan p = {0, true, 0};
    TN_SCOPE {
        tn_tensor *x = leaf(1), *b = tn_mul_scalar(x, 2), *v = tn_slice(b, .end = 1), *out;
        tn_tensor *bare = filled(2, 1), *w = tn_slice(bare, .end = 1);
        CHECK(tn_function_call(&triples_row, TN_LIST(v), &p, &out) && out == v);
        CHECK_TEXT(tn_grad_fn(v), "tripled");
        CHECK_TEXT(tn_grad_fn(b), "as_strided_scatter");
        CHECK(tn_backward(tn_sum(b)));
        CHECK(at(tn_grad_of(x), 0) == 6 && at(tn_grad_of(x), 1) == 2);
        CHECK(tn_requires_grad(w)); /* a leaf, and a view of what is none */
        REFUSED(tn_function_call(&triples_row, TN_LIST(w), &p, &out), TN_AUTOGRAD,
                "tripled: input 0 is a leaf that requires grad and must not be written in place");
        CHECK(!out && tn_is_leaf(w) && !tn_needs_grad(bare) && p.released == 1);
        w = tn_slice(x, .end = 1);
        REFUSED(tn_function_call(&triples_row, TN_LIST(w), &p, &out), TN_AUTOGRAD,
                "tripled: input 0 is a view of a leaf that requires grad and must not be written "
                "in place");
        CHECK_TEXT(tn_grad_fn(w), "slice");
        CHECK(!out && tn_is_leaf(x));
    }
    CHECK_EQ(p.released, 3);
    end(c);
}

static bool doubles(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f, (void)nin; /* no operator sees the input */
    return (out[0] = filled(1, 2 * *(double *)tn_data(in[0]))) != NULL;
}
static bool doubles_back(tn_function *f, tn_tensor *const *g, tn_tensor **grad_in) {
    (void)f;
    return (grad_in[0] = tn_mul_scalar(g[0], 2)) != NULL;
}
static const tn_function_row doubles_row = {"doubled", 1, doubles, doubles_back, NULL};
static void a_view_goes_into_a_function_with_the_history_of_its_base_now(void) {
    tn_context *c = begin();
    TN_SCOPE { /* b = (2x)(2x), its view times 2: 16 x */
        tn_tensor *x = leaf(1), *b = tn_mul_scalar(x, 2), *v = tn_slice(b, .end = 1), *out;
        CHECK(tn_mul_(b, b) && tn_function_call(&doubles_row, TN_LIST(v), NULL, &out));
        CHECK(at(out, 0) == 8 && tn_backward(tn_sum(out)) && at(tn_grad_of(x), 0) == 16);
        tn_zero_grad(x);
        b = tn_clone(tn_detach(x)), v = tn_slice(b, .end = 1); /* no history before the write */
        CHECK(tn_mul_(b, x) && tn_function_call(&doubles_row, TN_LIST(v), NULL, &out));
        CHECK(at(out, 0) == 2 && tn_needs_grad(out) && tn_backward(tn_sum(out)));
        CHECK(at(tn_grad_of(x), 0) == 2);
    }
    end(c);
}

/* --- each allocation -------------------------------------------------------------------------- */

/* y = 2 x, z a view of it, which is written: z = 4 x * x on its own next use. */
static void build_stale(state *s) {
    s->x = leaf(1), s->y = tn_mul_scalar(s->x, 2), s->z = tn_slice(s->y, .end = 1);
    CHECK(tn_mul_(s->y, s->y));
}
static bool stale_backward(state *s) {
    tn_backward_args o;
    memset(&o, 0, sizeof o);
    o.retain_graph = true;
    if (!tn_backward_all(TN_LIST(s->z), NULL, &o)) return false;
    return CHECK(at(tn_grad_of(s->x), 0) == 8 && at(tn_grad_of(s->x), 1) == 0);
}
static bool stale_grads(state *s) { /* with respect to itself: 1; a view as an input */
    tn_grads_options o = {NULL, true, false, true};
    tn_tensor *grads[2] = {NULL, NULL};
    tn_tensor *loss = tn_sum(tn_mul_scalar(s->x, 3));
    if (!loss || !tn_grads(TN_LIST(loss), TN_LIST(s->z, s->x), grads, &o)) return false;
    return CHECK(!grads[0] && at(grads[1], 0) == 3 && tn_retains_grad(s->z) == false);
}
static bool stale_retain(state *s) {
    if (!tn_retain_grad(s->z)) return CHECK(!tn_retains_grad(s->z)) && false;
    return CHECK(tn_retains_grad(s->z)) && !strcmp(tn_grad_fn(s->z), "as_strided");
}
static bool stale_hook(state *s) {
    int64_t number = tn_hook_add(s->z, keeps_grad, NULL, NULL);
    return number && CHECK(tn_hook_remove(s->z, number));
}
static bool stale_function(state *s) {
    tn_tensor *out = s->x;
    if (!tn_function_call(&doubles_row, TN_LIST(s->z), NULL, &out)) return CHECK(!out) && false;
    return CHECK(at(out, 0) == 8);
}
static void views_learn_of_their_base_or_there_is_no_memory(void) {
    each_allocation_fails(build_stale, stale_backward, 3);
    each_allocation_fails(build_stale, stale_grads, 3);
    each_allocation_fails(build_stale, stale_retain, 2);
    each_allocation_fails(build_stale, stale_hook, 2);
    each_allocation_fails(build_stale, stale_function, 3);
}

/* Many retained results, more than an engine has room for at first. */
static void build_retained(state *s) {
    s->x = leaf(1), s->y = s->x;
    for (int i = 0; i < 40; i++) {
        s->many[i] = tn_mul_scalar(s->x, i + 1), s->y = tn_add(s->y, s->many[i]);
        CHECK(tn_retain_grad(s->many[i]));
    }
    s->z = tn_sum(s->y);
}
static bool retained_backward(state *s) {
    if (!tn_backward(s->z, .retain_graph = true)) {
        for (int i = 0; i < 40; i++) CHECK(!tn_grad_of(s->many[i]));
        return false;
    }
    for (int i = 0; i < 40; i++) CHECK(at(tn_grad_of(s->many[i]), 1) == 1);
    return CHECK(at(tn_grad_of(s->x), 0) == 821);
}
static void retained_gradients_are_all_there_or_none(void) {
    each_allocation_fails(build_retained, retained_backward, 40);
}

static bool anomaly_backward(state *s) {
    bool was = tn_set_anomaly_mode(true), ok = tn_backward(tn_sum(tn_mul(s->y, s->y)));
    tn_set_anomaly_mode(was);
    return ok && CHECK(at(tn_grad_of(s->x), 0) == 8);
}
static void build_twice(state *s) { s->x = leaf(1), s->y = tn_mul_scalar(s->x, 2); }
static void anomalies_are_looked_for_or_there_is_no_memory(void) {
    each_allocation_fails(build_twice, anomaly_backward, 5);
}

static tn_tensor *noisy(tn_tensor *const *in, int nin, void *user) {
    (void)nin, (void)user;
    return tn_mul(in[0], tn_rand(TN_DIMS(2), .dtype = TN_F64));
}
static bool checkpointed(state *s) { /* in a new context: the generator is made, too */
    tn_tensor *y = tn_checkpoint(noisy, TN_LIST(s->x), NULL);
    if (!y || !tn_backward_all(TN_LIST(y), &s->z, NULL)) return false;
    return CHECK(at(tn_grad_of(s->x), 0) == at(y, 0) && at(y, 0) > 0);
}
static void build_leaf(state *s) { s->x = leaf(1), s->z = filled(2, 1); }
static void a_checkpoint_is_whole_or_there_is_no_memory(void) {
    each_allocation_fails(build_leaf, checkpointed, 10);
}

/* Saves its input five times and writes a view of what it was given. */
static bool saves(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)nin;
    for (int i = 0; i < 5; i++)
        if (!tn_function_save(f, in[1])) return false;
    return tn_mul_scalar_(out[0] = in[0], 3) && tn_function_written(f, 0);
}
static bool saves_back(tn_function *f, tn_tensor *const *g, tn_tensor **grad_in) {
    for (int i = 0; i < 5; i++)
        if (!tn_function_saved(f, i)) return false;
    return (grad_in[0] = tn_mul(tn_function_saved(f, 4), g[0])) != NULL;
}
static const tn_function_row saves_row = {"saves", 1, saves, saves_back, NULL};
static bool saved(state *s) {
    tn_tensor *y = tn_mul_scalar(s->x, 2), *v = y ? tn_slice(y, .end = 1) : NULL, *out;
    tn_tensor *three = v ? filled(1, 3) : NULL, *sum;
    if (!three || !tn_function_call(&saves_row, TN_LIST(v, three), NULL, &out)) return false;
    CHECK(out == v && at(y, 0) == 6);
    if (!(sum = tn_sum(y)) || !tn_backward(sum)) return false;
    return CHECK(at(tn_grad_of(s->x), 0) == 6 && at(tn_grad_of(s->x), 1) == 2);
}
static void what_a_function_writes_and_saves_is_whole_or_there_is_no_memory(void) {
    each_allocation_fails(build_leaf, saved, 10);
}

/* --- views that may not be written ------------------------------------------------------------ */

static void views_whose_base_cannot_follow_are_not_written(void) {
    tn_context *c = begin();
    static double eight[8];
    int64_t none = 0;
    plan p = {0, true, 0};
    TN_SCOPE {
        tn_wrap_options o;
        tn_tensor *x = leaf(1), *base, *v, *out, *row = tn_sum(x);
        memset(&o, 0, sizeof o);
        o.strides = tn_ints_of(&none, 1);
        base = tn_wrap(eight, TN_DIMS(4), TN_F64, &o), v = tn_slice(base, .end = 1);
        REFUSED(tn_add_(v, row), TN_AUTOGRAD, "self is a view of an expanded tensor");
        REFUSED(tn_function_call(&triples_row, TN_LIST(v, x), &p, &out), TN_AUTOGRAD,
                "self is a view of an expanded tensor without history");
        base = tn_zeros(TN_DIMS(4), .dtype = TN_F64), v = tn_slice(base, .end = 1);
        CHECK(tn_swap_data(base, tn_zeros(TN_DIMS(4))));
        REFUSED(tn_add_(v, row), TN_AUTOGRAD,
                "self is a view of a tensor whose data tn_swap_data replaced; clone it");
        REFUSED(tn_function_call(&triples_row, TN_LIST(v, x), &p, &out), TN_AUTOGRAD,
                "self is a view of a tensor whose data tn_swap_data replaced; clone it");
        CHECK(!out && p.released == 2 && !tn_needs_grad(v) && !tn_needs_grad(base));
        REFUSED(tn_function_written(NULL, 0), TN_INDEX,
                "tn_function_written: input 0 does not exist");
    }
    end(c);
}
static bool marks_none(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    REFUSED(tn_function_written(f, -1), TN_INDEX, "tn_function_written: input -1 does not exist");
    REFUSED(tn_function_written(f, 64), TN_INDEX, "tn_function_written: input 64 does not exist");
    return (out[0] = in[nin - 1]) != NULL;
}
static bool gives_one(tn_function *f, tn_tensor *const *g, tn_tensor **grad_in) {
    (void)f;
    return (grad_in[64] = tn_mul_scalar(g[0], 5)) != NULL;
}
static void functions_take_any_number_of_inputs(void) {
    tn_context *c = begin(), *other;
    static const tn_function_row row = {"many", 1, marks_none, gives_one, NULL};
    static const tn_function_row less = {"less", -1, marks_none, gives_one, plan_released};
    plan p = {0, true, 0};
    TN_SCOPE {
        tn_tensor *in[65], *out = NULL, *x = leaf(1);
        tn_tensors nowhere = {NULL, 2};
        for (int i = 0; i < 65; i++) in[i] = i < 64 ? NULL : tn_mul_scalar(x, 1);
        CHECK(tn_function_call(&row, tn_tensors_of(in, 65), NULL, &out) && out != in[64]);
        CHECK(tn_backward(tn_sum(out)) && at(tn_grad_of(x), 1) == 5);
        REFUSED(tn_function_call(&less, TN_LIST(x), &p, NULL), TN_INVALID, "less: -1 outputs");
        REFUSED(tn_function_call(&triples_row, nowhere, &p, &out), TN_INVALID,
                "tripled: expected a list");
        CHECK(!out && p.released == 2);
        other = tn_context_new(NULL);
        tn_context_use(other);
        REFUSED(tn_function_call(&triples_row, TN_LIST(x), &p, &out), TN_INVALID, "context");
        TN_SCOPE {
            tn_tensor *of_other = leaf(1), *list[2] = {of_other, x};
            REFUSED(tn_function_save((tn_function *)(void *)list, x), TN_INVALID,
                    "tn_function_save: a tensor belongs to another context");
        }
        tn_context_use(c);
        tn_context_free(other);
        CHECK_EQ(p.released, 3);
    }
    end(c);
}

/* --- .grad and data that were exchanged ------------------------------------------------------- */

static void a_gradient_reads_the_data_of_its_call(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = leaf(3), *y = tn_sum(tn_mul(x, x)), *z = filled(6, 5), *v;
        CHECK(tn_set_data(x, filled(2, 7)) && at(x, 0) == 7);
        REFUSED(tn_backward(y, .create_graph = true), TN_AUTOGRAD,
                "reads, was given other memory after the call");
        CHECK(!tn_grad_of(x) && tn_backward(y) && at(tn_grad_of(x), 0) == 6);
        v = tn_slice(z, .end = 2); /* .grad is a view of what has got a history since */
        CHECK(tn_set_grad(x, v) && tn_mul_(z, tn_sum(tn_mul_scalar(x, 0.5))));
        CHECK(tn_backward(tn_sum(x)) && tn_grad_of(x) != v && at(tn_grad_of(x), 0) == 36);
        CHECK(at(v, 0) == 35);
    }
    end(c);
}

/* A hook removes itself and runs a backward through the same leaf: it is not called there. */
typedef struct again {
    tn_tensor *x;
    int64_t number;
    int calls;
} again;
static tn_tensor *runs_again(tn_tensor *grad, void *user) {
    again *a = (again *)user;
    a->calls++;
    CHECK(tn_hook_remove(a->x, a->number));
    tn_set_grad_mode(true);
    CHECK(tn_backward(tn_sum(a->x)));
    return grad;
}
static tn_tensor *says_no(tn_tensor *grad, void *user) {
    ++*(int *)user;
    tn_error_set(TN_INDEX, NULL, 0, "no");
    return grad;
}
static tn_tensor *doubled(tn_tensor *grad, void *user) {
    (void)user;
    return tn_mul_scalar(grad, 2);
}
static void hooks_of_wanted_leaves_run_once(void) {
    tn_context *c = begin();
    TN_SCOPE {
        again a = {leaf(1), 0, 0};
        tn_tensor *x = leaf(1), *y = tn_mul_scalar(x, 3), *grads[3] = {NULL, NULL, NULL};
        int calls = 0;
        a.number = tn_hook_add(a.x, runs_again, &a, NULL);
        CHECK(tn_backward(tn_sum(a.x)) && a.calls == 1 && at(tn_grad_of(a.x), 0) == 2);
        CHECK(tn_hook_add(x, doubled, NULL, NULL));
        CHECK(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(x, y, x), grads, NULL));
        CHECK(at(grads[0], 0) == 6 && at(grads[1], 0) == 1 && at(grads[2], 0) == 6);
        CHECK(tn_hook_add(x, says_no, &calls, NULL));
        y = tn_mul_scalar(x, 3);
        REFUSED(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(x, y, x), grads, NULL), TN_INDEX, "no");
        CHECK(calls == 1 && !grads[0] && !grads[1] && !grads[2] && !tn_grad_of(x));
    }
    end(c);
}

/* --- checks and scopes ------------------------------------------------------------------------ */

static int says_so; /* outputs that `counted` says it has */
static bool counted(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    int *calls = (int *)user;
    *nout = calls && (*calls)++ ? 2 : says_so;
    (void)nin;
    out[0] = tn_mul(in[0], in[0]);
    if (*nout == 2) out[1] = tn_mul_scalar(in[0], 3);
    if (*nout == 3) out[1] = tn_detach(in[0]), out[2] = tn_exp(in[0]);
    return tn_ok();
}
static void checks_refuse_what_is_no_list(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = leaf(1.5);
        tn_tensors less = {&x, -1}, nowhere = {NULL, 1};
        int calls = 0;
        says_so = 33;
        REFUSED(tn_gradcheck(counted, TN_LIST(x), NULL, NULL), TN_INVALID, "returned 33 outputs");
        says_so = -1;
        REFUSED(tn_gradcheck(counted, TN_LIST(x), NULL, NULL), TN_INVALID, "returned -1 outputs");
        REFUSED(tn_gradgradcheck(counted, TN_LIST(x), NULL, NULL), TN_INVALID, "-1 outputs");
        says_so = 1;
        REFUSED(tn_gradcheck(counted, less, NULL, NULL), TN_INVALID, "gradcheck: expected a list");
        REFUSED(tn_gradcheck(counted, nowhere, NULL, NULL), TN_INVALID,
                "gradcheck: expected a list");
        REFUSED(tn_gradgradcheck(counted, less, NULL, NULL), TN_INVALID,
                "gradgradcheck: expected a list");
        CHECK(tn_gradgradcheck(counted, TN_LIST(x, NULL, tn_detach(x)), NULL, NULL));
        CHECK(tn_gradgradcheck(counted, TN_LIST(x), &calls, NULL) && calls > 1); /* one more then */
        says_so = 3;
        CHECK(tn_gradgradcheck(counted, TN_LIST(x), NULL, NULL));
    }
    end(c);
}
static tn_tensor *scoped(tn_tensor *const *in, int nin, void *user) {
    (void)nin, (void)user;
    return tn_neg(in[0]);
}
/* What opens a scope of its own says so where no more can be opened. */
static void scopes_end_at_their_last(void) {
    tn_context *c = begin();
    int64_t bottom = tn_scope_begin(), depth = bottom + 1, refused[4] = {0, 0, 0, 0};
    tn_tensor *x = leaf(1), *y = tn_sum(tn_mul(x, x)), *grads[1], *out;
    tn_grads_options keep = {NULL, true, false, false};
    says_so = 1;
    while (depth < UINT16_MAX - 8) CHECK(tn_scope_begin() == depth), depth++;
    for (int free_scopes = 8; free_scopes >= 0; free_scopes--) {
        bool ok[4];
        ok[0] = tn_grads(TN_LIST(y), TN_LIST(x), grads, &keep);
        if (!ok[0]) says(TN_INVALID, "more than 65535 scopes are open", __LINE__);
        ok[1] = tn_gradcheck(counted, TN_LIST(x), NULL, NULL);
        if (!ok[1]) says(TN_INVALID, "more than 65535 scopes are open", __LINE__);
        ok[2] = tn_gradgradcheck(counted, TN_LIST(x), NULL, NULL);
        if (!ok[2]) says(TN_INVALID, "more than 65535 scopes are open", __LINE__);
        out = tn_checkpoint(scoped, TN_LIST(x), NULL);
        ok[3] = out != NULL;
        if (!ok[3]) says(TN_INVALID, "more than 65535 scopes are open", __LINE__);
        for (int i = 0; i < 4; i++) refused[i] += !ok[i];
        if (free_scopes) CHECK(tn_scope_begin() == depth), depth++;
    }
    REFUSED(tn_scope_begin() >= 0, TN_INVALID, "more than 65535 scopes are open");
    for (int i = 0; i < 4; i++) CHECK(refused[i] >= 1 && refused[i] <= 8);
    CHECK(!tn_grad_of(x));
    tn_scope_end(bottom);
    end(c);
}
static void scopes_beyond_the_first_take_memory(void) {
    tn_context *c = begin();
    int64_t bottom = tn_scope_begin(), mark = bottom;
    bool failed = false;
    for (int i = 0; i < 300; i++) {
        int64_t now;
        allowed = 1;
        now = tn_scope_begin();
        allowed = 0;
        if (now < 0) {
            says(TN_MEMORY, "", __LINE__);
            failed = true, now = tn_scope_begin();
        }
        CHECK(now == mark + 1);
        mark = now;
    }
    CHECK(failed);
    tn_scope_end(bottom);
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(lists_that_are_none_are_refused),
        CHECK_TEST(an_input_that_a_function_has_written_gets_its_history),
        CHECK_TEST(a_view_that_a_function_has_written_leads_its_base_there),
        CHECK_TEST(a_view_goes_into_a_function_with_the_history_of_its_base_now),
        CHECK_TEST(views_learn_of_their_base_or_there_is_no_memory),
        CHECK_TEST(retained_gradients_are_all_there_or_none),
        CHECK_TEST(anomalies_are_looked_for_or_there_is_no_memory),
        CHECK_TEST(a_checkpoint_is_whole_or_there_is_no_memory),
        CHECK_TEST(what_a_function_writes_and_saves_is_whole_or_there_is_no_memory),
        CHECK_TEST(views_whose_base_cannot_follow_are_not_written),
        CHECK_TEST(functions_take_any_number_of_inputs),
        CHECK_TEST(a_gradient_reads_the_data_of_its_call),
        CHECK_TEST(hooks_of_wanted_leaves_run_once),
        CHECK_TEST(checks_refuse_what_is_no_list),
        CHECK_TEST(scopes_end_at_their_last),
        CHECK_TEST(scopes_beyond_the_first_take_memory),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
