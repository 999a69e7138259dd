/* nn_memory.c - any allocation may fail: constructors, calls, copies, to, load, optimizer steps,
 * loaders, checkpoints. Each program runs with its k-th allocation failing, k = 1, 2, ..: an error,
 * nothing leaks, what promises all or nothing has changed nothing, and a retry gives the same bits.
 */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdlib.h>

static int64_t allowed, live, points, held; /* points: runs in which an allocation failed */
static bool for_ever;
static void *count_alloc(size_t bytes, void *user) {
    void *p;
    (void)user;
    if (__atomic_load_n(&allowed, __ATOMIC_RELAXED) > 0 &&
        __atomic_sub_fetch(&allowed, 1, __ATOMIC_RELAXED) == 0) {
        if (for_ever) allowed = 1;
        return NULL;
    }
    p = malloc(bytes);
    __atomic_fetch_add(&live, p != NULL, __ATOMIC_RELAXED);
    return p;
}
static void count_free(void *at, size_t bytes, void *user) {
    (void)user, (void)bytes;
    __atomic_fetch_sub(&live, at != NULL, __ATOMIC_RELAXED);
    free(at);
}

/* --- programs: true when everything worked ---------------------------------------------------- */

typedef struct {
    tn_module base;
    tn_module *inner;
    tn_tensor *scale;
} own;
static bool own_forward(tn_mframe *f) {
    own *s = (own *)(void *)f->m;
    return (f->out[0] = tnp_mul(tn_forward(s->inner, tn_input(f, 0)), s->scale)) != NULL;
}
static const tn_mrow own_row = {.name = "Own", .size = sizeof(own), .forward = own_forward};
static tn_module *own_new(void) {
    own *s = (own *)tn_module_new(&own_row);
    TN_ADD_CHILD(s, inner, tn_nn_linear(4, 4));
    TN_ADD_PARAM(s, scale, TN_DIMS(4));
    return tn_module_finish((tn_module *)s);
}
static tn_module *network(void) {
    tn_manual_seed(1);
    return tn_sequential(tn_nn_linear(3, 4), tn_nn_batch_norm1d(4), tn_nn_relu(), own_new(),
                         tn_nn_dropout(.p = 0.5), tn_nn_layer_norm(TN_DIMS(4)), tn_nn_linear(4, 2));
}
static uint64_t hash(uint64_t h, const tn_tensor *t) {
    const uint8_t *at = (const uint8_t *)tn_data(t);
    int64_t n = tn_numel(t) * tn_dtype_bytes(tn_dtype_of(t));
    for (int64_t k = 0; at && k < n; k++) h = (h ^ at[k]) * 0x100000001b3u;
    return h;
}
static uint64_t hash_module(tn_module *m) {
    tn_named_list list = tn_module_state_dict(m);
    uint64_t h = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < list.n; i++) h = hash(h, list.at[i].tensor);
    tn_named_free(list);
    return h;
}

static uint64_t result; /* what a program that worked leaves */

static bool make_all(void) {
    tn_module *m = tn_nn_module_list(
        TN_MODULES(network(), tn_nn_conv2d(2, 4, TN_DIMS(3), .groups = 2),
                   tn_nn_embedding(5, 3, .padding_idx = 1), tn_nn_lstm(2, 3, .bidirectional = true),
                   tn_nn_multihead_attention(4, 2), tn_nn_max_pool2d(TN_DIMS(2))));
    char *text = tn_module_text(m);
    if (text) tn_alloc_free(text, strlen(text) + 1);
    if (tn_ok()) result = hash_module(m);
    tn_module_free(m);
    return m && text && tn_ok();
}

static bool call_and_learn(void) {
    static const float x[] = {1, 2, 3, 4, 5, 6, -1, -2, -3};
    bool ok = false;
    tn_module *m = network();
    tn_optimizer *o = tn_optim_adam(tn_parameters(m), .lr = 0.01);
    TN_SCOPE {
        tn_tensor *y = tn_forward(m, tn_from(x, TN_DIMS(3, 3), TN_F32));
        if (y && tn_backward(tnp_sum(y, tn_no_dims(), false, TN_NO_DTYPE))) {
            uint64_t before = hash_module(m);
            ok = tn_ok() && tn_optimizer_step(o);
            if (!ok) {
                int64_t k = allowed;
                allowed = 0;
                tn_error_take(NULL);
                CHECK(before == 0xcbf29ce484222325u ||
                      hash_module(m) == before); /* all or nothing */
                allowed = k;
                tn_error_set(TN_MEMORY, NULL, 0, "again");
            }
        }
    }
    if (ok && tn_ok()) result = hash_module(m);
    tn_optimizer_free(o);
    tn_module_free(m);
    return ok && tn_ok();
}

static tn_module *target; /* made before allocations fail */
static tn_named_list source;

static bool copy_it(void) {
    tn_module *c = tn_module_copy(target);
    if (c && tn_ok()) result = hash_module(c);
    tn_module_free(c);
    return c && tn_ok();
}
static bool convert_it(void) {
    bool ok = tn_module_to(target, TN_F64, TN_NO_DEVICE);
    int64_t rest = allowed;
    allowed = 0;
    if (ok) tn_module_to(target, TN_F32, TN_NO_DEVICE);
    allowed = rest;
    return ok;
}
static bool load_it(void) { return tn_module_load(target, source); }
static bool walk_it(void) {
    tn_named_list a = tn_module_parameters(target), b = tn_module_state_dict(target);
    bool ok = a.n > 0 && b.n > 0;
    tn_named_free(a);
    tn_named_free(b);
    return ok && tn_parameters(target).n > 0;
}

static tn_loader *three_fields(void) {
    static const float x[40] = {1, 2, 3};
    tn_dataset *d = NULL;
    TN_SCOPE {
        tn_tensor *t[3];
        for (int i = 0; i < 3; i++) t[i] = tn_from(x, TN_DIMS(10, 4), TN_F32);
        d = tn_dataset_tensors(tn_tensors_of(t, 3));
    }
    tn_manual_seed(4);
    return tn_loader_new(d, .batch_size = 3, .shuffle = true, .workers = 1);
}
static bool load_data(void) {
    tn_loader *l = three_fields();
    int64_t batches = 0;
    for (bool more = l != NULL; more;)
        TN_SCOPE {
            tn_batch b;
            more = tn_loader_next(l, &b);
            batches += more;
        }
    tn_loader_free(l);
    return batches == 4 && tn_ok();
}
/* Without a scope, which would take away what a failure leaves: the caller frees what it was
 * given. */
static bool load_freely(void) {
    tn_loader *l = three_fields();
    tn_batch b;
    int64_t batches = 0;
    for (; l && tn_loader_next(l, &b); batches++)
        for (int i = 0; i < b.nfields; i++) tn_free(b.field[i]);
    tn_loader_free(l);
    return batches == 4 && tn_ok();
}

static bool checkpoint_it(void) {
    tn_module *m = network();
    tn_optimizer *o = tn_optim_sgd(tn_parameters(m), .lr = 0.1, .momentum = 0.9);
    tn_schedule *s = tn_optim_step_lr(o, 2, 0.5);
    tn_named_number number = {"epoch", 3};
    tn_state state;
    bool ok;
    memset(&state, 0, sizeof state);
    state.model = m, state.optimizer = o, state.schedule = s,
    state.generator = tn_default_generator();
    state.numbers = &number, state.nnumbers = 1;
    ok = m && o && s && tn_checkpoint_save("/tmp/tn_nn_memory", &state) &&
         tn_checkpoint_load("/tmp/tn_nn_memory", &state);
    tn_schedule_free(s);
    tn_optimizer_free(o);
    tn_module_free(m);
    return ok && tn_ok();
}

/* --- the sweep -------------------------------------------------------------------------------- */

typedef struct program {
    const char *name;
    bool (*run)(void);
    bool needs_target;
} program;

static tn_context *begin(const program *p) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = count_alloc;
    o.allocator.free = count_free;
    o.no_cache = true;
    o.threads = -1;
    allowed = 0;
    c = tn_context_new(&o);
    tn_context_use(c);
    target = NULL;
    source.at = NULL;
    if (p->needs_target) {
        tn_module *other = network();
        target = tn_sequential(network(), tn_nn_embedding(3, 2));
        tn_module_free(other);
        source = tn_module_state_dict(target);
    }
    return c;
}

static int programs;
static void sweep(const program *p) {
    programs++;
    for (int ever = 0; ever < 2; ever++)
        for (int64_t k = 1; k < 100000; k++) {
            tn_context *c = begin(p);
            uint64_t before = target ? hash_module(target) : 0, wanted;
            const int failures = check_failures;
            int64_t tensors = tn_memory().live_tensors;
            bool done;
            for_ever = ever != 0;
            allowed = k;
            done = p->run();
            for_ever = false;
            CHECK(done == tn_ok());
            done = done && allowed != 0;
            allowed = 0;
            tn_error_take(NULL);
            CHECK(!target || hash_module(target) == before);
            if (!CHECK_EQ(tn_memory().live_tensors, tensors))
                printf("    %s, allocation %d\n", p->name, (int)k);
            CHECK(p->run());
            wanted = result;
            CHECK(p->run() && result == wanted); /* a retry gives the same bits */
            if (target) tn_named_free(source), tn_module_free(target);
            CHECK_EQ(tn_memory().live_tensors, 0);
            tn_context_use(NULL);
            tn_context_free(c);
            if (!CHECK_EQ(live, 0)) printf("    %s, allocation %d\n", p->name, (int)k), live = 0;
            if (done) {
                printf("%s: %d allocations\n", p->name, (int)k - 1);
                break;
            }
            points++, held += check_failures == failures;
            if (check_failures > 10) return;
        }
}

#define SWEEP(name, needs_target)                             \
    static void any_allocation_of_##name##_may_fail(void) {   \
        static const program p = {#name, name, needs_target}; \
        sweep(&p);                                            \
    }
SWEEP(make_all, false)
SWEEP(call_and_learn, false)
SWEEP(copy_it, true)
SWEEP(convert_it, true)
SWEEP(load_it, true)
SWEEP(walk_it, true)
SWEEP(load_data, false)
SWEEP(load_freely, false)
SWEEP(checkpoint_it, false)

static void every_point_of_these_held(void) {
    CHECK_EQ(held, points);
    printf("promise 4: %lld of %lld points of %d programs (modules made, trained, copied, "
           "converted, loaded, walked; loaders; checkpoints), once and for ever\n",
           (long long)held, (long long)points, programs);
}

static const check_test tests[] = {
    CHECK_TEST(any_allocation_of_make_all_may_fail),
    CHECK_TEST(any_allocation_of_call_and_learn_may_fail),
    CHECK_TEST(any_allocation_of_copy_it_may_fail),
    CHECK_TEST(any_allocation_of_convert_it_may_fail),
    CHECK_TEST(any_allocation_of_load_it_may_fail),
    CHECK_TEST(any_allocation_of_walk_it_may_fail),
    CHECK_TEST(any_allocation_of_load_data_may_fail),
    CHECK_TEST(any_allocation_of_load_freely_may_fail),
    CHECK_TEST(any_allocation_of_checkpoint_it_may_fail),
    CHECK_TEST(every_point_of_these_held),
};
int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    remove("/tmp/tn_nn_memory");
    tn_context_free(NULL);
    return failed;
}
