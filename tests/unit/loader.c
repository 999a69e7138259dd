/* loader.c - promises of data sets and loaders at their edges: the end of a context, epochs left
 * early, sizes that overflow, memory that runs out. */
#define _XOPEN_SOURCE 700 /* nanosleep */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdlib.h>
#include <time.h>

static int fetched, destroyed;
static void sleep_ms(long ms) {
    struct timespec t = {0, 0};
    t.tv_nsec = ms * 1000000;
    nanosleep(&t, NULL);
}
static bool slow_get(const tn_dataset *d, int64_t index, void *const *to) {
    (void)d, (void)index;
    __atomic_fetch_add(&fetched, 1, __ATOMIC_RELAXED);
    sleep_ms(2);
    memset(to[0], 1, 4096);
    return true;
}
static void slow_destroy(tn_dataset *d) {
    (void)d;
    destroyed++;
}
static tn_dataset *slow(void) {
    tn_dataset like;
    memset(&like, 0, sizeof like);
    like.size = 1000;
    like.nfields = 1;
    like.field[0].dtype = TN_U8;
    like.field[0].ndim = 1;
    like.field[0].size[0] = 4096;
    like.get = slow_get;
    like.destroy = slow_destroy;
    return tn_dataset_new(&like);
}

static void loaders_end_with_their_context(void) {
    tn_context *before = tn_context_current(), *c = tn_context_new(NULL);
    tn_loader *l[3];
    tn_batch b;
    int64_t mark;
    int fetches;
    tn_context_use(c);
    for (int i = 0; i < 3; i++) l[i] = tn_loader_new(slow(), .batch_size = 4, .workers = 2);
    mark = tn_scope_begin();
    for (int i = 0; i < 3; i++) CHECK(tn_loader_next(l[i], &b));
    tn_scope_end(mark);
    tn_loader_free(l[1]);
    CHECK_EQ(destroyed, 1);
    CHECK(tn_loader_next(l[0], &b)); /* its tensors are still there when the context ends */
    tn_context_use(before);
    tn_context_free(c);
    CHECK_EQ(destroyed, 3);
    fetches = __atomic_load_n(&fetched, __ATOMIC_RELAXED);
    sleep_ms(50);
    CHECK_EQ(__atomic_load_n(&fetched, __ATOMIC_RELAXED), fetches);
}

static int ended[4], nended;
typedef struct thing {
    tn_ending ending;
    int number;
} thing;
static void thing_end(tn_ending *e) {
    CHECK(tn_ok() && tn_zeros(TN_DIMS(2)));
    ended[nended++] = ((thing *)(void *)e)->number;
}
static void endings_are_called_newest_first_once(void) {
    tn_context *before = tn_context_current(), *c = tn_context_new(NULL);
    thing t[4];
    memset(t, 0, sizeof t);
    tn_context_use(c);
    for (int i = 0; i < 4; i++) {
        t[i].ending.end = thing_end;
        t[i].number = i;
        CHECK(tn_ending_add(&t[i].ending));
    }
    tn_ending_remove(&t[1].ending);
    tn_ending_remove(&t[1].ending);
    tn_ending_remove(&t[3].ending);
    tn_context_use(before);
    tn_context_free(c);
    CHECK(nended == 2 && ended[0] == 2 && ended[1] == 0);
}

/* --- sizes and memory ------------------------------------------------------------------------- */

static bool says(tn_code code, const char *text) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    bool ok;
    tn_error_take(&e);
    ok = e.code == code && strstr(e.message, text);
    if (!ok) printf("    got %s: %s\n", tn_code_name(e.code), e.message);
    return ok;
}

static bool no_get(const tn_dataset *d, int64_t index, void *const *to) {
    return (void)d, (void)index, (void)to, false;
}
static void sizes_that_overflow_are_refused(void) {
    static const double one = 1;
    tn_dataset like;
    tn_module *m = tn_nn_linear(2, 2);
    tn_optim_adam_args adam;
    CHECK(!tn_zeros(TN_DIMS(0, INT64_C(1) << 62), .dtype = TN_F64) &&
          says(TN_INVALID, "too large"));
    memset(&like, 0, sizeof like);
    like.size = INT64_MAX;
    like.nfields = 1;
    like.field[0].dtype = TN_U8;
    like.get = no_get;
    CHECK(!tn_loader_new(tn_dataset_new(&like), .shuffle = true) && says(TN_MEMORY, "2^57"));
    like.size = 8, like.field[0].ndim = 1, like.field[0].size[0] = 1 << 22;
    for (int64_t n = PTRDIFF_MAX >> 23; n <= PTRDIFF_MAX >> 20; n *= 2) /* one of them 2^32 bytes */
        CHECK(!tn_loader_new(tn_dataset_new(&like), .batch_size = n + 1) &&
              says(TN_MEMORY, "a batch is too large"));
    memset(&adam, 0, sizeof adam);
    adam.params = tn_parameters(m);
    adam.betas.at = &one;
    adam.betas.n = INT64_MAX / 4 + 1;
    CHECK(!tn_optim_adam_at(__FILE__, __LINE__, &adam) && says(TN_INVALID, "betas"));
    tn_module_free(m);
}

/* A sequence without elements, so long that its steps' results cannot be listed. */
static void sequences_that_overflow_are_refused(void) {
    const int64_t steps = sizeof(void *) == 4 ? (1 << 30) - 2 : INT64_C(1) << 56;
    tn_context *before = tn_context_current(), *c;
    tn_context_options options;
    tn_module *m;
    memset(&options, 0, sizeof options);
    options.memory_cap = 1 << 24;
    c = tn_context_new(&options);
    tn_context_use(c);
    m = tn_nn_lstm(1, 1);
    CHECK(m && !tn_nn_lstm_forward(m, tn_zeros(TN_DIMS(steps, 0, 1))).output &&
          says(TN_MEMORY, ""));
    tn_module_free(m);
    tn_context_use(before);
    tn_context_free(c);
}

static int64_t fail_at, calls;
static void *failing_alloc(size_t bytes, void *user) {
    (void)user;
    return ++calls == fail_at ? NULL : malloc(bytes);
}
static void failing_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    free(at);
}
static void batches_that_fail_are_empty(void) {
    tn_context_options options;
    tn_context *before = tn_context_current(), *c;
    tn_loader *l;
    bool ok = false;
    memset(&options, 0, sizeof options);
    options.allocator.alloc = failing_alloc;
    options.allocator.free = failing_free;
    options.no_cache = true;
    options.threads = -1;
    c = tn_context_new(&options);
    tn_context_use(c);
    {
        tn_tensor *t[3];
        int64_t mark = tn_scope_begin();
        for (int i = 0; i < 3; i++) t[i] = tn_arange(6);
        l = tn_loader_new(tn_dataset_tensors(tn_tensors_of(t, 3)), .batch_size = 2);
        tn_scope_end(mark);
    }
    for (int64_t k = 1; k < 100 && !ok; k++) {
        int64_t mark = tn_scope_begin();
        tn_batch b;
        memset(&b, 1, sizeof b);
        calls = 0;
        fail_at = k;
        ok = tn_loader_next(l, &b);
        fail_at = 0;
        if (ok)
            CHECK(k > 3 && b.index == 0 && b.nfields == 3 && tn_item(tn_sum(b.field[2])) == 1);
        else
            CHECK(says(TN_MEMORY, "") && !b.n && !b.nfields && !b.field[0] && !b.field[1]);
        tn_scope_end(mark);
    }
    CHECK(ok);
    CHECK_EQ(tn_memory().live_tensors, 3);
    tn_context_use(before);
    tn_context_free(c);
}

static const check_test tests[] = {
    CHECK_TEST(loaders_end_with_their_context),  CHECK_TEST(endings_are_called_newest_first_once),
    CHECK_TEST(sizes_that_overflow_are_refused), CHECK_TEST(sequences_that_overflow_are_refused),
    CHECK_TEST(batches_that_fail_are_empty),
};

int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
