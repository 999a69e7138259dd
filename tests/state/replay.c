/* replay.c - a recording that is run again on other values gives what the same program gives
 * eagerly: random programs of new results, views, writes in place, random numbers, lists, indices,
 * gradients and calls that fail.
 *
 *     replay [SEED [COUNT]]
 *
 * A program is run on tensors A while it is recorded, and eagerly on tensors B of other values. A's
 * inputs get B's values, the generator B's state, and the replay must leave B's bits in all of A
 * and the generator where it was; it may fail only where a size depends on values and differs. What
 * was written has a new version, what was not keeps its own; the replay allocates nothing.
 *
 * Where the inputs require grad, backward goes from a result of A after the replay, too: the graph
 * is that of the first run, so a gradient is that of a world that nobody replays, or is refused. (A
 * view whose base was rewritten has another history then, and a sum over its gradient another
 * order: a rounding may differ.) */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 18, INPUTS = 4, TENSORS = INPUTS + STEPS, KINDS = 28, DATA = 3200 };

typedef struct step {
    int kind, a, b;
    int64_t k;
    double number;
    bool left_out; /* no call that can be recorded */
} step;
typedef struct world {
    tn_tensor *t[TENSORS]; /* NULL: the call has failed */
    int64_t version[TENSORS];
} world;

static struct {
    uint64_t random;
    int shape[INPUTS];
    step step[STEPS];
    bool wrong, grads;
} m;
static struct { /* of one result of the first run by the inputs */
    int root;
    bool used[INPUTS];
    double at[INPUTS][DATA / INPUTS], most[INPUTS]; /* and the largest of each */
} want;
static int64_t replays, refusals, failures, right, refused;

static int below(int n) {
    uint64_t z = m.random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z ^ z >> 31) % (uint64_t)n);
}
static void wrong(const char *what, int64_t a, int64_t b) {
    if (!m.wrong) printf("%s: %lld, %lld\n", what, (long long)a, (long long)b);
    m.wrong = true;
}

/* --- the program ------------------------------------------------------------------------------ */

static tn_tensor *gradient(tn_tensor *a) {
    tn_tensor *x = tn_requires_grad(tnp_detach(a)), *y, *g = NULL;
    tn_grads_options o = {NULL, false, false, false};
    y = tnp_sum(tnp_mul(tnp_sin(x), x), tn_ints_of(NULL, -1), false, TN_NO_DTYPE);
    if (!y || !tn_grads(tn_tensors_of(&y, 1), tn_tensors_of(&x, 1), &g, &o)) return NULL;
    return g;
}

static tn_tensor *view(const step *s, tn_tensor *a) {
    int64_t flat = -1;
    switch (s->kind) {
    case 0: return tnp_transpose(a, 0, 1);
    case 1: return tnp_slice(a, 0, s->k % 2, INT64_MAX, 1 + s->k % 3);
    case 2: return tnp_reshape(a, tn_ints_of(&flat, 1));
    case 3: return tnp_unsqueeze(a, 0);
    default: return tnp_select(a, -1, s->k % 3);
    }
}

static tn_tensor *made(const step *s, tn_tensor *a, tn_tensor *b) {
    tn_tensor *three[3];
    int64_t last = -1;
    three[0] = a, three[1] = b, three[2] = a;
    switch (s->kind) {
    case 5: return tnp_add(a, b, s->number);
    case 6: return tnp_mul(a, b);
    case 7: return tnp_sin(a);
    case 8: return tnp_mul_scalar(a, tn_float(s->number));
    case 9: return tnp_sum(a, tn_ints_of(&last, 1), true, TN_NO_DTYPE);
    case 10: return tnp_rand_like(a, NULL);
    case 11: return tnp_dropout(a, 0.5, true);
    case 12: return tnp_cat(tn_tensors_of(three, 3), 0);
    case 13: return tnp_clone(a, (tn_memory_format)0);
    case 14: return tnp_where(tnp_gt(a, b), a, b);
    case 15: return tnp_cumsum(a, -1, TN_NO_DTYPE);
    case 16: return tnp_softmax(a, -1, TN_NO_DTYPE);
    case 17: return tnp_masked_select(a, tnp_gt_scalar(a, tn_float(s->number)));
    case 18: return tnp_index_select(a, 0, tnp_argsort(tnp_select(b, 0, 0), -1, s->k % 2));
    case 19: return gradient(a);
    case 20: return tnp_matmul(a, b);
    default: return tnp_add(a, tn_to_dtype(b, TN_F64), 1);
    }
}

static tn_tensor *written(const step *s, tn_tensor *a, tn_tensor *b) {
    switch (s->kind) {
    case 22: return tnp_add_(a, b, s->number);
    case 23: return tnp_mul_scalar_(a, tn_float(s->number));
    case 24: return tnp_copy_(a, b);
    case 25: return tnp_normal_(a, 0, 1, NULL);
    case 26: return tnp_sin_(a);
    default: return tnp_mul_(a, b);
    }
}

/* A call that fails is part of the program: its result is missing, nothing else. */
static void execute(world *w) {
    for (int i = 0; i < STEPS; i++) {
        step *s = &m.step[i];
        tn_tensor *a = w->t[s->a], *b = w->t[s->b], *t = NULL;
        tn_error_info e;
        if (s->left_out) a = NULL;
        if (a && b) t = s->kind < 5 ? view(s, a) : s->kind < 22 ? made(s, a, b) : written(s, a, b);
        if (a && b && !t) {
            if (!tn_error_take(&e)) wrong("no error", s->kind, i);
            s->left_out = e.code == TN_UNSUPPORTED;
            failures++;
        }
        w->t[INPUTS + i] = t;
    }
}

static void make_program(void) {
    for (int i = 0; i < INPUTS; i++) m.shape[i] = below(5);
    for (int i = 0; i < STEPS; i++) {
        step *s = &m.step[i];
        s->kind = below(KINDS), s->k = below(6), s->number = (below(9) - 4) / 4.0;
        if (s->kind == 17 && below(2)) s->kind = 7;
        s->a = below(INPUTS + i);
        s->b = below(3) ? s->a : below(INPUTS + i);
        if (below(3) == 0 && i) s->a = INPUTS + i - 1;
    }
}

/* --- two worlds ------------------------------------------------------------------------------- */

static void values(float *to) {
    for (int i = 0; i < DATA; i++) to[i] = (float)(below(4001) - 2000) / 1000;
}
static tn_tensor *input(int i, const float *data) {
    static const int64_t sizes[5][2] = {{3, 4}, {4, 3}, {4, 4}, {1, 4}, {50, 16}};
    return tn_from_f32(data + 800 * i, tn_ints_of(sizes[m.shape[i]], 2));
}
static void make_inputs(world *w, const float *data) {
    for (int i = 0; i < INPUTS; i++) {
        w->t[i] = input(i, data);
        if (m.grads) tn_requires_grad(w->t[i]);
    }
}
/* Past all versions, or as a graph is to notice it. */
static void rewrite_inputs(const world *w, const float *data) {
    const bool was = tn_set_grad_mode(false);
    for (int i = 0; i < INPUTS; i++)
        if (m.grads)
            tnp_copy_(w->t[i], input(i, data));
        else
            memcpy(tn_data(w->t[i]), data + 800 * i, (size_t)tn_numel(w->t[i]) * 4);
    tn_set_grad_mode(was);
}

/* The first result whose size differs; TENSORS: none. */
static int differing_size(const world *a, const world *b) {
    for (int i = 0; i < TENSORS; i++) {
        if (!a->t[i] != !b->t[i]) return i;
        if (!a->t[i]) continue;
        if (tn_numel(a->t[i]) != tn_numel(b->t[i])) return i;
    }
    return TENSORS;
}

static void compare(const world *a, const world *b) {
    for (int i = 0; i < TENSORS && !m.wrong; i++) {
        tn_tensor *x = a->t[i], *y = b->t[i];
        if (!x || !y) continue;
        x = tnp_contiguous(x), y = tnp_contiguous(y);
        size_t n = (size_t)tn_numel(x) * (size_t)tn_dtype_bytes(tn_dtype_of(x));
        if (tn_dtype_of(x) != tn_dtype_of(y) || (n && memcmp(tn_data(x), tn_data(y), n)))
            wrong("tensor differs; made by kind", i, i < INPUTS ? -1 : m.step[i - INPUTS].kind);
    }
}

static void keep_versions(world *w) {
    for (int i = 0; i < TENSORS; i++) w->version[i] = tn_version(w->t[i]);
}
/* Storages that a call has made or written have moved on; others have not. */
static void compare_versions(const world *w) {
    for (int i = 0; i < TENSORS; i++) {
        bool moves = false;
        if (!w->t[i]) continue;
        for (int k = 0; k < STEPS; k++) {
            const tn_tensor *t = w->t[INPUTS + k];
            if (!t || !tn_same_storage(t, w->t[i])) continue;
            moves = moves || m.step[k].kind >= 22 || (m.step[k].kind >= 5 && !tn_is_view(t));
            if (m.step[k].kind == 2 && !tn_is_view(t)) moves = true; /* a reshape that has copied */
        }
        if (moves == (tn_version(w->t[i]) == w->version[i]))
            wrong("version of tensor; moves", i, moves);
    }
}

/* --- gradients of what was replayed ----------------------------------------------------------- */

static bool gradients(const world *w, tn_tensor **found) {
    static float weight[2 * DATA];
    tn_tensor *root = w->t[want.root], *seed;
    tn_grads_options o = {&seed, true, false, true};
    int64_t size[TN_MAX_DIMS], n = tn_numel(root);
    for (int i = 0; i < tn_ndim(root); i++) size[i] = tn_size(root, i);
    for (int64_t i = 0; i < n; i++) weight[i] = (float)(i % 7 - 3);
    seed = tn_from_f32(weight, tn_ints_of(size, tn_ndim(root)));
    seed = tn_to_dtype(seed, tn_dtype_of(root));
    return tn_grads(tn_tensors_of(&root, 1), tn_tensors_of(w->t, INPUTS), found, &o);
}

/* Of a result by chance, in a world of the same values that is run once. */
static void want_gradients(const float *data, const uint8_t *state) {
    world once;
    tn_tensor *found[INPUTS];
    want.root = 0;
    if (!m.grads) return;
    TN_SCOPE {
        tn_generator_set_state(tn_default_generator(), state);
        make_inputs(&once, data);
        execute(&once);
        for (int i = INPUTS; i < TENSORS; i++) {
            const tn_tensor *t = once.t[i];
            if (t && tn_needs_grad(t) && tn_numel(t) <= 2 * DATA && (!want.root || below(3)))
                want.root = i;
        }
        if (want.root && !gradients(&once, found)) /* the program has overwritten what it reads */
            want.root = 0, tn_error_take(NULL);
        for (int i = 0; i < INPUTS && want.root && !m.wrong; i++) {
            want.used[i] = found[i] != NULL;
            if (!found[i]) continue;
            found[i] = tnp_contiguous(found[i]);
            want.most[i] = 1;
            for (int64_t k = 0; k < tn_numel(found[i]); k++) {
                want.at[i][k] = (double)((const float *)tn_data(found[i]))[k];
                if (fabs(want.at[i][k]) > want.most[i]) want.most[i] = fabs(want.at[i][k]);
            }
        }
    }
}

static void compare_gradients(const world *a) {
    tn_tensor *found[INPUTS];
    tn_error_info e;
    if (!want.root || m.wrong) return;
    if (!gradients(a, found)) {
        if (!tn_error_take(&e) || e.code != TN_AUTOGRAD || !strstr(e.message, "modified"))
            wrong("backward fails, the error's code", e.code, want.root);
        refused++;
        return;
    }
    right++;
    for (int i = 0; i < INPUTS && !m.wrong; i++) {
        if (!found[i] != !want.used[i]) wrong("an input is used", i, want.used[i]);
        if (!found[i] || m.wrong) continue;
        found[i] = tnp_contiguous(found[i]);
        for (int64_t k = 0; k < tn_numel(found[i]); k++) {
            const double x = (double)((const float *)tn_data(found[i]))[k], y = want.at[i][k];
            if (!(fabs(x - y) <= 1e-6 * want.most[i]) && x != y && !(x != x && y != y))
                wrong("gradient of input; by tensor", i, want.root);
        }
    }
}

/* --- a run ------------------------------------------------------------------------------------ */

static bool replayed(tn_recording *r, const world *a, const world *b) {
    tn_memory_stats before = tn_memory(), after;
    bool ok = tn_replay(r), should = differing_size(a, b) == TENSORS;
    tn_error_info e;
    after = tn_memory();
    if (ok != should) wrong("replay is done", ok, should);
    if (!ok && (!tn_error_take(&e) || e.code != TN_INVALID)) wrong("the error's code", e.code, 0);
    if (after.bytes_used != before.bytes_used || after.allocations != before.allocations ||
        after.live_tensors != before.live_tensors)
        wrong("the replay allocates", after.allocations, before.allocations);
    if (ok)
        replays++;
    else
        refusals++;
    return ok;
}

static void run_twice(tn_recording *r, world *a, const float *first, const float *data,
                      const uint8_t *state) {
    world b;
    uint8_t eager[TN_GENERATOR_BYTES], here[TN_GENERATOR_BYTES];
    tn_generator *g = tn_default_generator();
    TN_SCOPE {
        tn_generator_set_state(g, state);
        make_inputs(&b, data);
        execute(&b);
        tn_generator_state(g, eager);
        tn_generator_set_state(g, state);
        rewrite_inputs(a, data);
        keep_versions(a);
        if (replayed(r, a, &b) && !m.wrong) {
            tn_generator_state(g, here);
            if (memcmp(here, eager, sizeof here)) wrong("the generator", 0, 0);
            compare(a, &b);
            compare_versions(a);
        } else
            rewrite_inputs(a, first); /* and the next replay is as if nothing had failed */
        compare_gradients(a);
    }
}

static void program(void) {
    static float data[3][DATA];
    uint8_t state[TN_GENERATOR_BYTES];
    tn_generator *g = tn_default_generator();
    tn_recording *r;
    world a;
    for (int i = 0; i < 3; i++) values(data[i]);
    make_program();
    m.grads = below(2);
    tn_generator_state(g, state);
    make_inputs(&a, data[0]);
    if (!tn_record_begin()) wrong("record_begin", 0, 1);
    execute(&a);
    r = tn_record_end();
    if (!r) {
        wrong("record_end", 0, 1);
        return;
    }
    want_gradients(data[0], state);
    for (int i = 0; i < STEPS; i++)
        if (a.t[INPUTS + i] && m.step[i].kind >= 5 && m.step[i].kind < 17 && below(4) == 0)
            tn_free(a.t[INPUTS + i]); /* what the user frees, the recording keeps */
    for (int i = 0; i < 4 && !m.wrong; i++) {
        if (i) tn_manual_seed((uint64_t)below(1000)), tn_generator_state(g, state);
        run_twice(r, &a, data[0], data[i % 3], state);
    }
    tn_recording_free(r);
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 1000, passed = 0, failed = 0;
    for (int i = 0; i < count && failed < 5; i++) {
        int64_t before = tn_memory().live_tensors;
        memset(&m, 0, sizeof m);
        m.random = first + (uint64_t)i;
        TN_SCOPE {
            program();
        }
        if (tn_memory().live_tensors != before) wrong("left", tn_memory().live_tensors, before);
        if (m.wrong)
            printf("seed %llu\n", (unsigned long long)(first + (uint64_t)i)), failed++;
        else
            passed++;
    }
    printf("replay: %d programs, %lld replays, %lld of another size, %lld calls failed; then %lld "
           "gradients of the first run, %lld refused, 0 of rewritten values\n"
           "%d passed, %d failed\n",
           passed + failed, (long long)replays, (long long)refusals, (long long)failures,
           (long long)right, (long long)refused, passed, failed);
    return failed != 0;
}
