/* sweeps.c - whichever allocation of a scenario fails, the scenario ends with "out of memory",
 * leaves no tensor and no byte behind, and succeeds when it is tried again. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>

static int64_t allowed, live, bytes_live; /* allowed: the k-th allocation fails; 0: none */
static void *count_alloc(size_t bytes, void *user) {
    void *p;
    (void)user;
    if (allowed > 0 && --allowed == 0) return NULL;
    p = malloc(bytes);
    if (p) live++, bytes_live += (int64_t)bytes;
    return p;
}
static void count_free(void *at, size_t bytes, void *user) {
    (void)user;
    live--, bytes_live -= (int64_t)bytes;
    free(at);
}

/* Runs the scenario with each of its allocations failing in turn. It returns whether it went well;
 * its first run, without a fault, makes what stays: the generator, room for scopes. */
static void sweep(bool (*run)(void), int64_t least) {
    tn_context_options o;
    tn_context *c;
    bool ok = false;
    int64_t k = 1, settled;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = count_alloc, o.allocator.free = count_free;
    o.threads = -1;
    o.no_cache = true;
    c = tn_context_new(&o);
    tn_context_use(c);
    TN_SCOPE
        CHECK(run());
    settled = live;
    for (; !ok && k < 20000; k++) {
        tn_error_info e;
        TN_SCOPE {
            allowed = k;
            ok = run();
            if (allowed > 0) {
                CHECK(ok); /* no allocation failed */
            } else if (!ok) {
                CHECK(tn_error_take(&e) && e.code == TN_MEMORY);
            }
            ok = ok && allowed > 0; /* what is lucky without memory goes on */
            allowed = 0;
        }
        CHECK(!tn_error_print());
        CHECK_EQ(tn_memory().live_tensors, 0);
        if (!CHECK_EQ(live, settled)) break;
    }
    if (!CHECK(ok && k > least)) printf("    %lld allocations\n", (long long)k);
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK(live == 0 && bytes_live == 0);
}

static double at(const tn_tensor *t, int i) {
    double v[16];
    if (!t || tn_numel(t) > 16 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}
static tn_tensor *leaf(double v) {
    return tn_requires_grad(tn_full(TN_DIMS(2), v, .dtype = TN_F64));
}

/* --- gradients -------------------------------------------------------------------------------- */

static bool cube(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    out[0] = tn_mul(tn_mul(in[0], in[0]), in[0]);
    out[1] = tn_argmax(in[0]); /* no gradient */
    *nout = 2;
    return out[0] && out[1];
}
static bool checks(void) {
    tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(1), 1.5, .dtype = TN_F64));
    tn_tensor *z = tn_requires_grad(tn_full(TN_DIMS(1), 0.5, .dtype = TN_C128));
    bool ok = tn_gradcheck(cube, TN_LIST(x), NULL, NULL) &&
              tn_gradgradcheck(cube, TN_LIST(x), NULL, NULL);
    (void)z;
    CHECK(!x || *(const double *)tn_data(x) == 1.5); /* put back, also after a failure */
    return ok;
}

static bool keeps(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    out[0] = tn_mul(in[0], in[1]);
    out[1] = in[0];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < nin; k++)
            if (!tn_function_save(f, in[k])) return false;
    return out[0] && tn_function_save(f, out[0]) && tn_function_save(f, in[2]);
}
static bool keeps_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    tn_tensor *a = tn_function_saved(f, 0), *b = tn_function_saved(f, 1);
    tn_tensor *ab = tn_function_saved(f, 9); /* d/da = b * ab / ab */
    grad_in[0] = tn_div(tn_mul(grad_out[0], tn_mul(b, ab)), ab);
    grad_in[1] = tn_mul(grad_out[0], a);
    return grad_in[0] && grad_in[1];
}
static bool functions(void) {
    static const tn_function_row row = {"keeps", 2, keeps, keeps_back, NULL};
    tn_tensor *x = leaf(2), *y = tn_mul_scalar(leaf(3), 1), *z = leaf(4), *out[2], *g[1];
    tn_grads_options o = {NULL, true, true, false};
    if (!x || !y || !z || !tn_function_call(&row, TN_LIST(x, y, z), NULL, out)) return false;
    if (!tn_grads(TN_LIST(tn_sum(out[0])), TN_LIST(x), g, &o)) return false;
    CHECK(at(g[0], 1) == 3);
    if (!tn_backward(tn_sum(tn_mul(g[0], out[0])))) return false;
    CHECK(at(tn_grad_of(x), 0) == 9);
    return true;
}

static tn_tensor *noisy(tn_tensor *const *in, int nin, void *user) {
    (void)nin, (void)user;
    return tn_sum(tn_mul(tn_mul(in[0], in[0]), tn_rand(TN_DIMS(2), .dtype = TN_F64)));
}
static bool checkpoints(void) {
    tn_tensor *x = leaf(2), *plain = NULL, *y = x ? tn_checkpoint(noisy, TN_LIST(x), NULL) : NULL;
    if (!y || !tn_backward(tn_mul_scalar(y, 1))) return false;
    plain = tn_sum(tn_grad_of(x)); /* d/dx sum(x x r) = 2 x r, y = sum(4 r) */
    if (!plain) return false;
    CHECK(fabs(tn_item(plain) - tn_item(y)) < 1e-12);
    return true;
}

static tn_tensor *tripled(tn_tensor *grad, void *user) {
    ++*(int *)user;
    return tn_mul_scalar(grad, 3);
}
static bool views(void) { /* a write through a view, a hook on another one that is stale then */
    int called = 0;
    tn_tensor *x = leaf(1), *y = tn_mul_scalar(x, 2), *v, *w, *grads[2];
    tn_grads_options o = {NULL, true, false, false};
    v = tn_slice(y, .end = 1), w = tn_slice(y, .start = 1);
    if (!v || !w || !tn_mul_scalar_(v, 5)) return false;
    if (!tn_hook_add(w, tripled, &called, NULL) || !tn_retain_grad(y)) return false;
    if (!tn_backward(tn_sum(tn_add(tn_sum(w), tn_sum(y))), .retain_graph = true)) return false;
    CHECK(called == 1 && at(tn_grad_of(x), 0) == 10 && at(tn_grad_of(x), 1) == 8);
    CHECK(at(tn_grad_of(y), 1) == 4);
    if (!tn_grads(TN_LIST(tn_sum(y)), TN_LIST(x, y), grads, &o)) return false;
    CHECK(at(grads[0], 0) == 10 && at(grads[1], 0) == 1);
    return tn_set_grad_at(NULL, 0, x, NULL) && tn_backward(tn_sum(y), .inputs = TN_LIST(x)) &&
           at(tn_grad_of(x), 1) == 2;
}

/* --- calls ------------------------------------------------------------------------------------ */

static bool calls(void) {
    tn_tensor *many[12], *x = tn_arange(6, .dtype = TN_F64), *both[2], *m, *row;
    tn_values_indices vi;
    tn_list list;
    x = tn_view(x, TN_DIMS(2, 3));
    for (int i = 0; i < 12; i++) many[i] = x;
    m = tn_cat(tn_tensors_of(many, 12));
    if (!m || tn_size(m, 0) != 24) return false;
    both[0] = tn_empty(TN_DIMS(3), .dtype = TN_F64),
    both[1] = tn_empty(TN_DIMS(3), .dtype = TN_I64);
    if (!both[0] || !both[1]) return false;
    vi = tn_max_dim(x, 0, .out = {both[0], both[1]});
    if (vi.values != both[0] || vi.indices != both[1]) return false;
    CHECK(at(both[0], 2) == 5 && at(both[1], 0) == 1);
    list = tn_chunk(x, 2);
    if (list.n != 2) return false;
    tn_list_free(list);
    row = tn_select(x, 0, 0); /* overlaps its input: a copy between */
    if (!row || !tn_add(tn_select(x, 0, 1), row, .out = row)) return false;
    CHECK(at(row, 0) == 3);
    return true;
}
static bool texts(void) {
    tn_tensor *x = tn_ones(TN_DIMS(3));
    char *text = tn_to_text(x, NULL);
    if (!text) return false;
    CHECK_TEXT(text, "tensor([1., 1., 1.])");
    tn_alloc_free(text, strlen(text) + 1);
    return true;
}
static bool recordings(void) {
    tn_tensor *x = leaf(2), *y = NULL, *out = tn_empty(TN_DIMS(2), .dtype = TN_F64);
    tn_recording *r;
    bool ok = x && out && tn_record_begin();
    if (!ok) return false;
    y = tn_add(tn_mul(x, x), tn_mul_scalar(x, 2), .alpha = 0.5);
    ok = y && tn_set_grad_mode(false) && tn_mul(x, x, .out = out);
    tn_set_grad_mode(true);
    ok = ok && tn_sum(x, .dim = TN_DIMS(0)) && tn_cumsum(x, 0);
    r = tn_record_end();
    if (ok && r && (ok = tn_replay(r))) CHECK(at(y, 1) == 6 && at(out, 0) == 4);
    tn_recording_free(r);
    return ok;
}
static bool profiles(void) { /* what could not be written is kept, for another try */
    char path[64];
    bool ok;
    snprintf(path, sizeof path, "/tmp/tn_sweeps_%p.json", (void *)tn_context_current());
    if (!tn_profile_begin()) return false;
    ok = tn_add(leaf(1), leaf(2)) != NULL && tn_profile_end(path);
    if (!ok && allowed == 0) {
        CHECK(tn_error_take(NULL));
        CHECK(tn_profile_end(path) || tn_error_take(NULL)); /* nothing was recorded */
        tn_error_set(TN_MEMORY, NULL, 0, "it has failed");
    }
    remove(path);
    return ok;
}
static bool schemas(void) {
    tn_gen *g = tn_schema_new("Block(int d, int[] l=[1,2], str s='x') -> Tensor");
    int64_t args[16];
    tn_value v;
    bool ok;
    memset(&v, 0, sizeof v);
    v.type = TN_T_INT, v.as.integer = 7;
    ok = g && tn_bind(NULL, 0, "Block", g, &v, 1, true, args);
    tn_schema_free(g);
    return ok;
}
static bool generators(void) {
    tn_generator *g = tn_generator_new(3);
    tn_tensor *x = g ? tn_rand(TN_DIMS(2), .generator = g) : NULL, *y;
    tn_generator_free(g);
    y = tn_randperm(5);
    return x && y && tn_swap_data_at(NULL, 0, x, tn_ones(TN_DIMS(2)));
}

#define SWEEP(name, run, least) \
    static void name(void) { sweep(run, least); }
SWEEP(gradient_checks_survive_every_failure, checks, 200)
SWEEP(custom_functions_survive_every_failure, functions, 50)
SWEEP(checkpoints_survive_every_failure, checkpoints, 30)
SWEEP(views_and_hooks_survive_every_failure, views, 50)
SWEEP(calls_survive_every_failure, calls, 15)
SWEEP(texts_survive_every_failure, texts, 2)
SWEEP(recordings_survive_every_failure, recordings, 20)
SWEEP(profiles_survive_every_failure, profiles, 5)
SWEEP(schemas_survive_every_failure, schemas, 1)
SWEEP(generators_survive_every_failure, generators, 5)

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(gradient_checks_survive_every_failure),
        CHECK_TEST(custom_functions_survive_every_failure),
        CHECK_TEST(checkpoints_survive_every_failure),
        CHECK_TEST(views_and_hooks_survive_every_failure),
        CHECK_TEST(calls_survive_every_failure),
        CHECK_TEST(texts_survive_every_failure),
        CHECK_TEST(recordings_survive_every_failure),
        CHECK_TEST(profiles_survive_every_failure),
        CHECK_TEST(schemas_survive_every_failure),
        CHECK_TEST(generators_survive_every_failure),
    };
    return CHECK_MAIN(tests, argc, argv);
}
