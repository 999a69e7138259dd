/* hooks.c - hooks and custom functions may do anything: whatever one does in the midst of a
 * backward or a forward, nothing hangs, nothing is lost, and the same call without it gives the
 * same bits afterwards. Runs under AddressSanitizer. */
#define _GNU_SOURCE
#include "../keep.h"
#include "life.h"

#include <unistd.h>

/* --- the program around the hook -------------------------------------------------------------- */

/* x -> h = w x -> f = function(h) -> loss; a module m has made h. */
typedef struct graph {
    tn_module *m;
    tn_tensor *x, *h, *f, *loss;
    int64_t number; /* of the hook */
} graph;

enum { PLACES = 6 };
enum { AT_RESULT, AT_LEAF, AT_FUNCTION, AT_FORWARD, BEFORE_MODULE, AFTER_MODULE };
static const char *const places[PLACES] = {"a hook of a result",     "a hook of a leaf",
                                           "a function's gradient",  "a function's forward",
                                           "a hook before a module", "a hook after a module"};
typedef struct deed {
    const char *name;
    bool (*act)(graph *g); /* what the hook does; false: it fails, with an error set */
    int ok;                /* the call around it: 1 succeeds, 0 fails, -1 either */
} deed;

static graph *here; /* of the hook that runs */
static const deed *doing;
static int place, acts, act_limit = 1;

static bool act_now(void) {
    if (!doing || acts >= act_limit) return true;
    acts++;
    return doing->act(here);
}
static tn_tensor *on_tensor(tn_tensor *grad, void *user) {
    (void)user;
    return act_now() ? grad : NULL;
}
static bool on_module(tn_mframe *f, void *user) {
    (void)f, (void)user;
    return act_now();
}
static bool scale_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)nin;
    if (place == AT_FORWARD && !act_now()) return false;
    return (out[0] = tn_mul_scalar(in[0], 3)) != NULL && tn_function_save(f, in[0]);
}
static bool scale_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    (void)f;
    if (place == AT_FUNCTION && !act_now()) return false;
    return (grad_in[0] = tn_mul_scalar(grad_out[0], 3)) != NULL;
}
static const tn_function_row scale = {"scale", 1, scale_forward, scale_backward, NULL};

/* Builds and runs it; the bits of the gradients, 0 when it fails. */
static uint64_t graph_run(graph *g, bool hooked) {
    uint64_t bits = 0;
    bool ok;
    here = g;
    g->number = 0;
    tn_manual_seed(4);
    g->x = tn_requires_grad(tn_randn(TN_DIMS(5, 4)));
    g->f = g->h = g->loss = NULL;
    if (hooked && place >= BEFORE_MODULE)
        g->number =
            tn_module_hook(g->m, place == BEFORE_MODULE ? TN_BEFORE_FORWARD : TN_AFTER_FORWARD,
                           on_module, g, NULL);
    g->h = tn_forward(g->m, g->x);
    ok = g->h && tn_function_call(&scale, TN_LIST(g->h), NULL, &g->f);
    if (ok && hooked && place <= AT_LEAF)
        g->number = tn_hook_add(place == AT_LEAF ? g->x : g->h, on_tensor, g, NULL);
    g->loss = ok ? tn_sum(tn_mul(g->f, g->f)) : NULL;
    ok = g->loss && tn_backward(g->loss);
    if (ok) {
        tn_tensors p = tn_parameters(g->m);
        bits = life_bits(tn_grad_of(g->x));
        for (int64_t i = 0; i < p.n; i++) bits = bits * 31 + life_bits(tn_grad_of(p.at[i]));
    }
    return bits;
}
static void graph_clear(graph *g) {
    tn_tensors p = tn_parameters(g->m);
    for (int64_t i = 0; i < p.n; i++) tn_zero_grad(p.at[i]);
    if (place >= BEFORE_MODULE && g->number && !tn_module_hook_remove(g->m, g->number))
        tn_error_take(NULL);
}

/* --- what it does ----------------------------------------------------------------------------- */

static bool act_nothing(graph *g) { return (void)g, true; }
static bool act_fails(graph *g) {
    (void)g;
    return tn_error_set(TN_INVALID, NULL, 0, "no");
}
static bool act_fails_silently(graph *g) { return (void)g, false; }
static bool act_calls_wrongly(graph *g) {
    (void)!tn_matmul(g->x, g->x); /* shapes do not fit: the error stays */
    return true;
}
static bool act_takes_its_error(graph *g) {
    (void)!tn_matmul(g->x, g->x);
    return tn_error_take(NULL);
}
static bool act_frees(graph *g) {
    tn_free(g->h), tn_free(g->f), tn_free(g->loss);
    g->h = g->f = g->loss = NULL;
    return true;
}
static bool act_frees_the_leaf(graph *g) {
    tn_free(g->x);
    g->x = NULL;
    return true;
}
static bool act_removes_itself(graph *g) {
    if (place <= AT_LEAF) CHECK(tn_hook_remove(place == AT_LEAF ? g->x : g->h, g->number));
    if (place >= BEFORE_MODULE) CHECK(tn_module_hook_remove(g->m, g->number));
    return true;
}
static int64_t added;
static tn_tensor *added_tensor(tn_tensor *grad, void *user) {
    (void)user;
    if (here) CHECK(tn_hook_add(place == AT_LEAF ? here->x : here->h, added_tensor, NULL, NULL));
    added++;
    return grad;
}
static bool added_module(tn_mframe *f, void *user) {
    (void)user;
    return added++ < 1000 && tn_module_hook(f->m, TN_AFTER_FORWARD, added_module, NULL, NULL);
}
/* Another hook, which adds itself again: none of them runs this time. */
static bool act_adds(graph *g) {
    added = 0;
    if (place == AT_FUNCTION || place == AT_RESULT)
        return tn_hook_add(g->x, added_tensor, NULL, NULL) > 0;
    if (place == AT_LEAF) return tn_hook_add(g->x, added_tensor, NULL, NULL) > 0;
    return tn_module_hook(g->m, TN_AFTER_FORWARD, added_module, NULL, NULL) > 0;
}
static bool act_runs_another_backward(graph *g) {
    bool ok = true;
    (void)g;
    tn_set_grad_mode(true);
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(3), 2.0)), *y = tn_mul(x, x);
        ok = tn_backward(tn_sum(y)) && tn_item(tn_sum(tn_grad_of(x))) == 12;
    }
    return ok;
}
static bool act_runs_the_same_backward(graph *g) {
    if (!g->loss) return true;
    tn_backward(g->loss, .retain_graph = true); /* refused: it is running */
    return tn_error_take(NULL);
}
static bool act_runs_a_part_of_it(graph *g) { /* claims and frees what the outer one still needs */
    if (!g->h) return true;
    TN_SCOPE
        tn_backward(tn_sum(g->h));
    tn_error_take(NULL);
    return true;
}
static bool act_differentiates_twice(graph *g) {
    (void)g;
    bool ok = true;
    tn_set_grad_mode(true);
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(1), 2.0)), *d[1], *e[1];
        tn_grads_options o = {NULL, true, true, false};
        ok = tn_grads(TN_LIST(tn_mul(tn_mul(x, x), x)), TN_LIST(x), d, &o) &&
             tn_grads(TN_LIST(d[0]), TN_LIST(x), e, NULL) && tn_item(e[0]) == 12;
    }
    return ok;
}
static const char *file_path(void) {
    static char path[400];
    const char *at = getenv("LIFE_FOLDER");
    snprintf(path, sizeof path, "%s/hook.safetensors", at ? at : ".");
    return path;
}
static bool act_saves(graph *g) {
    tn_named all[1] = {{"x", g->x}};
    bool ok = tn_safetensors_save(file_path(), all, 1);
    tn_named_list l = tn_safetensors_load(file_path());
    ok = ok && l.n == 1;
    tn_named_free(l);
    unlink(file_path());
    return ok;
}
static bool act_resizes_the_pool(graph *g) {
    bool ok = true;
    (void)g;
    for (int n = 4; n > 0 && ok; n--)
        TN_SCOPE {
            tn_tensor *t = tn_ones(TN_DIMS(150, 150));
            ok = tn_set_threads(n) && tn_item(tn_sum(tn_matmul(t, t))) == 150. * 150 * 150;
        }
    return ok;
}
static bool act_cancels(graph *g) {
    (void)g;
    tn_cancel(tn_context_current());
    return true;
}
static bool act_cancels_and_clears(graph *g) {
    (void)g;
    tn_cancel(NULL);
    (void)!tn_ones(TN_DIMS(3));
    tn_cancel_clear(NULL);
    return tn_error_take(NULL);
}
static bool act_uses_another_context(graph *g) {
    tn_context_options o = life_options(2);
    tn_context *c = tn_context_new(&o), *before = tn_context_use(c);
    (void)g;
    tn_requires_grad(tn_ones(TN_DIMS(3)));
    tn_context_use(before);
    tn_context_free(c);
    return true;
}
static bool act_stays_in_another_context(graph *g) {
    tn_context_options o = life_options(2);
    tn_context *c = tn_context_new(&o);
    (void)g;
    tn_context_use(c);
    (void)!tn_ones(TN_DIMS(3));
    tn_context_free(c); /* the one that is used: the default one is, then */
    return true;
}
static void *thread_frees_context(void *arg) {
    tn_context_use((tn_context *)arg);
    (void)!tn_ones(TN_DIMS(3));
    tn_context_free((tn_context *)arg);
    return NULL;
}
static bool act_lets_a_thread_free_a_context(graph *g) {
    tn_context_options o = life_options(2);
    (void)g;
    life_thread(thread_frees_context, tn_context_new(&o), 0);
    return true;
}
static bool act_exchanges_data(graph *g) {
    tn_tensor *t = tn_ones(TN_DIMS(5, 4));
    bool ok = tn_swap_data(g->x, t) && tn_swap_data(g->x, t); /* and back */
    tn_free(t);
    return ok;
}
static bool act_exchanges_data_for_good(graph *g) {
    tn_tensor *t = tn_ones(TN_DIMS(5, 4), .dtype = TN_F64);
    tn_swap_data(g->x, t);
    tn_free(t);
    return true;
}
static bool act_ends_scopes(graph *g) {
    (void)g;
    tn_scope_end(0);
    return true;
}
static bool act_leaves_scopes_open(graph *g) {
    (void)g;
    for (int i = 0; i < 100; i++) tn_scope_begin(), (void)!tn_ones(TN_DIMS(2));
    return true;
}
static bool act_changes_modes(graph *g) {
    (void)g;
    tn_set_grad_mode(false);
    tn_set_inference_mode(true);
    return true;
}
static bool act_turns_modes_over(graph *g) {
    (void)g;
    tn_set_grad_mode(true);
    tn_set_inference_mode(false);
    return true;
}
static bool act_writes_leaf_and_gradient(graph *g) {
    tn_zero_grad(g->x);
    TN_SCOPE
        tn_set_grad(g->x, tn_ones(TN_DIMS(5, 4)));
    tn_zero_grad(g->x);
    return true;
}
static bool act_records(graph *g) {
    (void)g;
    bool ok = tn_record_begin();
    TN_SCOPE {
        tn_tensor *t = tn_mul_scalar(tn_ones(TN_DIMS(3)), 2);
        tn_recording *r = tn_record_end();
        ok = ok && t && r && tn_replay(r);
        tn_recording_free(r);
    }
    return ok;
}
static bool act_profiles(graph *g) {
    (void)g;
    bool ok = tn_profile_begin();
    TN_SCOPE
        tn_ones(TN_DIMS(3));
    ok = tn_profile_end(file_path()) && ok;
    unlink(file_path());
    return ok;
}
static bool act_trims(graph *g) {
    (void)g;
    tn_memory_trim();
    return true;
}
static bool act_runs_the_module(graph *g) {
    bool ok = true;
    tn_set_grad_mode(false);
    TN_SCOPE
        ok = tn_forward(g->m, tn_ones(TN_DIMS(2, 4))) != NULL;
    return ok;
}

#define DEED(name, ok) \
    { #name, act_##name, ok }
static const deed deeds[] = {
    DEED(nothing, 1),
    DEED(fails, 0),
    DEED(fails_silently, -1),
    DEED(calls_wrongly, 0),
    DEED(takes_its_error, 1),
    DEED(frees, 1),
    DEED(frees_the_leaf, -1),
    DEED(removes_itself, 1),
    DEED(adds, 1),
    DEED(runs_another_backward, 1),
    DEED(runs_the_same_backward, -1),
    DEED(runs_a_part_of_it, -1),
    DEED(differentiates_twice, 1),
    DEED(saves, 1),
    DEED(resizes_the_pool, 1),
    DEED(cancels, 0),
    DEED(cancels_and_clears, 1),
    DEED(uses_another_context, 1),
    DEED(stays_in_another_context, -1),
    DEED(lets_a_thread_free_a_context, 1),
    DEED(exchanges_data, -1),
    DEED(exchanges_data_for_good, -1),
    DEED(ends_scopes, 1),
    DEED(leaves_scopes_open, 1),
    DEED(changes_modes, -1),
    DEED(turns_modes_over, -1),
    DEED(writes_leaf_and_gradient, 1),
    DEED(records, 1),
    DEED(profiles, 1),
    DEED(trims, 1),
    DEED(runs_the_module, 1),
};
enum { DEEDS = sizeof deeds / sizeof *deeds };

/* --- the tests -------------------------------------------------------------------------------- */

static int64_t done_deeds;

/* The names of what fits a place only. */
static bool fits(const deed *d) {
    const bool module = place >= BEFORE_MODULE, backward = place <= AT_FUNCTION;
    if (d->act == act_frees && !backward) return false; /* they are not there yet */
    if (d->act == act_frees_the_leaf && place == AT_FORWARD) return false; /* an argument's owner */
    if (d->act == act_frees_the_leaf && module) return false;
    if (d->act == act_adds && place == AT_FORWARD) return false;
    return !(d->act == act_runs_the_module && module && act_limit > 1);
}

static void deed_run(const deed *d, uint64_t right) {
    graph g;
    uint64_t bits = 0;
    bool good = true;
    memset(&g, 0, sizeof g);
    tn_manual_seed(9);
    g.m = tn_nn_linear(4, 3);
    doing = d, acts = 0;
    watch_callbacks_keep = d->act == act_exchanges_data_for_good;
    TN_SCOPE {
        const tn_context *c = tn_context_current();
        bits = graph_run(&g, true);
        good = CHECK(tn_context_current() == c);
        good = CHECK(acts > 0) && good;
        tn_cancel_clear(NULL);
        if (d->act == act_stays_in_another_context) { /* an error may wait there */
            tn_context *mine = tn_context_use(NULL);
            tn_error_take(NULL);
            tn_context_use(mine);
        }
        if (d->ok == 1) good = CHECK(bits == right) && CHECK(tn_ok()) && good;
        if (d->ok == 0) good = CHECK(bits == 0) && CHECK(!tn_ok()) && good;
        tn_error_take(NULL);
        graph_clear(&g);
        here = NULL;
    }
    tn_module_free(g.m);
    watch_callbacks_keep = 0;
    doing = NULL; /* the same without it, in a new graph */
    tn_manual_seed(9);
    g.m = tn_nn_linear(4, 3);
    TN_SCOPE
        good = CHECK(graph_run(&g, false) == right) && good;
    tn_module_free(g.m);
    here = NULL;
    good = CHECK(tn_ok()) && CHECK(tn_grad_mode()) && good;
    good = CHECK_EQ(tn_memory().live_tensors, 0) && good;
    if (!good) printf("    %s: %s\n", places[place], d->name);
    done_deeds++;
}

static void deeds_at(int where) {
    tn_context_options o = life_options(3);
    for (int i = 0; i < DEEDS; i++) {
        tn_context *c = life_begin(&o);
        graph g;
        uint64_t right = 0;
        place = where;
        if (fits(&deeds[i])) {
            memset(&g, 0, sizeof g);
            tn_manual_seed(9);
            g.m = tn_nn_linear(4, 3);
            doing = NULL;
            TN_SCOPE
                right = graph_run(&g, false);
            tn_module_free(g.m);
            CHECK(right != 0);
            deed_run(&deeds[i], right);
        }
        life_end(c);
    }
}
static void hooks_of_results_do_anything(void) { deeds_at(AT_RESULT); }
static void hooks_of_leaves_do_anything(void) { deeds_at(AT_LEAF); }
static void gradients_of_functions_do_anything(void) { deeds_at(AT_FUNCTION); }
static void forwards_of_functions_do_anything(void) { deeds_at(AT_FORWARD); }
static void hooks_before_modules_do_anything(void) { deeds_at(BEFORE_MODULE); }
static void hooks_after_modules_do_anything(void) { deeds_at(AFTER_MODULE); }

/* --- hooks of modules that change the list ---------------------------------------------------- */

typedef struct listed {
    int64_t number[3];
    int calls[3], released, inside;
    tn_module *m;
} listed;
static void listed_release(void *user) {
    listed *l = (listed *)user;
    CHECK(!l->inside);
    l->released++;
}
static bool first_removes_all(tn_mframe *f, void *user) {
    listed *l = (listed *)user;
    l->inside = 1;
    l->calls[0]++;
    for (int i = 2; i >= 0; i--) CHECK(tn_module_hook_remove(f->m, l->number[i]));
    l->inside = 0;
    return true;
}
static bool others_count(tn_mframe *f, void *user) {
    (void)f;
    ((listed *)user)->calls[1]++;
    return true;
}
static void a_hook_of_a_module_removes_itself_and_others(void) {
    tn_context_options o = life_options(1);
    tn_context *c = life_begin(&o);
    listed l;
    memset(&l, 0, sizeof l);
    tn_module *m = tn_nn_relu();
    l.number[0] = tn_module_hook(m, TN_BEFORE_FORWARD, first_removes_all, &l, listed_release);
    l.number[1] = tn_module_hook(m, TN_BEFORE_FORWARD, others_count, &l, NULL);
    l.number[2] = tn_module_hook(m, TN_BEFORE_FORWARD, others_count, &l, NULL);
    TN_SCOPE
        for (int i = 0; i < 2; i++) CHECK(tn_forward(m, tn_ones(TN_DIMS(2))) != NULL);
    CHECK(l.calls[0] == 1 && l.calls[1] == 0 && l.released == 1);
    tn_module_free(m);
    life_end(c);
}
static bool runs_inside_itself(tn_mframe *f, void *user) {
    listed *l = (listed *)user;
    if (++l->calls[0] > 1) { /* the inner one removes what the outer one runs */
        l->inside = 1;
        CHECK(tn_module_hook_remove(f->m, l->number[0]));
        return true;
    }
    TN_SCOPE
        CHECK(tn_forward(f->m, tn_ones(TN_DIMS(2))) != NULL);
    l->inside = 0;
    return true;
}
static void a_hook_of_a_module_runs_inside_itself(void) {
    tn_context_options o = life_options(1);
    tn_context *c = life_begin(&o);
    listed l;
    memset(&l, 0, sizeof l);
    tn_module *m = tn_nn_relu();
    l.number[0] = tn_module_hook(m, TN_AFTER_FORWARD, runs_inside_itself, &l, listed_release);
    TN_SCOPE
        CHECK(tn_forward(m, tn_ones(TN_DIMS(2))) != NULL);
    CHECK(l.calls[0] == 2 && l.released == 1);
    tn_module_free(m);
    life_end(c);
}

static const check_test tests[] = {
    CHECK_TEST(hooks_of_results_do_anything),
    CHECK_TEST(hooks_of_leaves_do_anything),
    CHECK_TEST(gradients_of_functions_do_anything),
    CHECK_TEST(forwards_of_functions_do_anything),
    CHECK_TEST(hooks_before_modules_do_anything),
    CHECK_TEST(hooks_after_modules_do_anything),
    CHECK_TEST(a_hook_of_a_module_removes_itself_and_others),
    CHECK_TEST(a_hook_of_a_module_runs_inside_itself),
};

int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    if (argc > 1) return failed;
    printf("promise 17: %lld deeds (%d kinds) in hooks of results, leaves, modules, in functions "
           "forward and backward: 0 deadlocks, 0 tensors and blocks left, the state usable after\n",
           (long long)done_deeds, (int)DEEDS);
    return failed;
}
