/* loader.c - promises of data sets and loaders at their edges: the end of a context, epochs left
 * early, sizes that overflow, memory that runs out. */
#define _XOPEN_SOURCE 700 /* nanosleep */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
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

static const check_test tests[] = {
    CHECK_TEST(loaders_end_with_their_context),
    CHECK_TEST(endings_are_called_newest_first_once),
};

int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
