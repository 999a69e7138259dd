/* returned.c - memory that goes back to its owner from several threads at once: no block is lost,
 * none is handed out twice.
 *
 * Makers make small tensors, each with a pattern that follows from who made it for whom and its
 * number, and go on making and checking some of their own; takers get them over rings without a
 * lock, check them, keep them a while, and all free those of one maker at the same moment. At the
 * end the free lists of each block (white box) and the slabs they stand for must come out even.
 * The argument is the number of bursts of frees; TSan sees each access of a list as atomic, so
 * much of this is for the plain build with many bursts. */
#ifdef __linux__
#define _GNU_SOURCE /* sched_setaffinity */
#endif
#include "../../src/tensor/tensor.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <stdint.h>
#include <unistd.h>

enum {
    MAKERS = 4,
    TAKERS = 4,
    OWN = TAKERS, /* for whom a maker makes what it keeps */
    BATCH = 32,   /* that a taker frees in one burst */
    RING = 2 * BATCH,
    LIVE = 24,    /* that a maker keeps of its own */
    SLAB = 65536, /* as in alloc.c, and what of it is not the slab's own */
    IN_SLAB = SLAB - TNI_ALIGN,
    MOST_SLABS = 96, /* what all rings, batches and own tensors need at once, twice */
    LONGEST = 1500   /* seconds: a list that has become a ring never ends */
};

static int64_t bursts = 400;
static int64_t made, freed_in_bursts; /* of all tests, for the promise */

/* --- patterns --------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
static uint64_t name_of(int maker, int taker, int64_t number) {
    return (uint64_t)maker << 56 | (uint64_t)taker << 48 | (uint64_t)number;
}
/* Words: mostly inside the storage's block, then in a small one of its own, some in a large one. */
static int64_t words_of(uint64_t name) {
    uint64_t h = mixed(name);
    return 1 + (int64_t)((h >> 8) % (h % 8 ? 64 : 160));
}

static int64_t wrapped, unwrapped; /* memory of the test's own */
static void unwrap(void *data, void *user) {
    (void)user;
    free(data);
    tni_fetch_add_relaxed(&unwrapped, 1);
}

static tn_tensor *make(uint64_t name) {
    int64_t n = words_of(name);
    tn_tensor *t;
    if (mixed(name) >> 60 == 0) {
        tn_wrap_options o;
        memset(&o, 0, sizeof o);
        o.release = unwrap;
        t = tn_wrap(malloc((size_t)n * 8), TN_DIMS(n), TN_I64, &o);
        tni_fetch_add_relaxed(&wrapped, 1);
    } else {
        t = tn_empty(TN_DIMS(n), .dtype = TN_I64);
    }
    uint64_t *at = (uint64_t *)tn_data(t), first = mixed(~name);
    if (!CHECK(at != NULL)) return NULL;
    for (int64_t i = 0; i < n; i++) at[i] = first + (uint64_t)i;
    tni_fetch_add_relaxed(&made, 1);
    return t;
}

static bool is_whole(const tn_tensor *t, uint64_t name) {
    const int64_t n = words_of(name);
    if (tn_numel(t) != n || tn_owners(t) < 1) return false;
    const uint64_t *at = (const uint64_t *)tn_data(t), first = mixed(~name);
    for (int64_t i = 0; i < n; i++)
        if (at[i] != first + (uint64_t)i) return false;
    return true;
}

/* --- meeting ---------------------------------------------------------------------------------- */

/* The calling thread stays on one core, for threads that wait for each other else gather on one. */
static void stay_on_core(int index) {
#ifdef __linux__
    static cpu_set_t all; /* those of the first call, by the main thread */
    cpu_set_t one;
    if (index < 0) {
        sched_getaffinity(0, sizeof all, &all);
        return;
    }
    size_t at = 0;
    for (int left = index % CPU_COUNT(&all); left || !CPU_ISSET(at, &all); at++)
        left -= CPU_ISSET(at, &all) != 0;
    CPU_ZERO(&one);
    CPU_SET(at, &one);
    sched_setaffinity(0, sizeof one, &one);
#else
    (void)index;
#endif
}

static uint32_t arrived, turn;
static void pause_at(int *spins) {
    const struct timespec moment = {0, 20000};
    if (++*spins > 1000) /* the system is busy */
        nanosleep(&moment, NULL);
    else if (*spins > 300)
        sched_yield();
}
static void meet(void) { /* all takers go on from here at the same moment */
    uint32_t now = tni_load(&turn);
    if (tni_fetch_add(&arrived, 1u) + 1 == TAKERS) {
        tni_store(&arrived, 0u);
        tni_store(&turn, now + 1);
    } else {
        for (int spins = 0; tni_load(&turn) == now;) pause_at(&spins);
    }
}

static tn_tensor *ring[MAKERS][TAKERS][RING]; /* slot NUMBER % RING; NULL: empty */
static void hand_over(tn_tensor **slot, tn_tensor *t) {
    for (int spins = 0; tni_load(slot) != NULL;) pause_at(&spins);
    tni_store(slot, t);
}
static tn_tensor *receive(tn_tensor **slot) {
    tn_tensor *t;
    for (int spins = 0; (t = tni_load(slot)) == NULL;) pause_at(&spins);
    tni_store(slot, (tn_tensor *)NULL);
    return t;
}

/* --- makers and takers ------------------------------------------------------------------------ */

static tn_context *home[MAKERS]; /* where a maker makes */
static int makers;               /* MAKERS or fewer */
static int generations;          /* threads that are one maker, one after another */
static int together;             /* tensors of a burst: BATCH, or 1: freed when they come */

typedef struct maker {
    int index;
    int64_t from, to; /* numbers */
} maker;

static void *makes(void *arg) {
    const maker *m = (const maker *)arg;
    tn_tensor *own[LIVE] = {NULL};
    uint64_t name[LIVE] = {0};
    tn_context_use(home[m->index]);
    for (int64_t i = m->from; i < m->to; i++) {
        for (int k = 0; k < TAKERS; k++)
            hand_over(&ring[m->index][k][i % RING], make(name_of(m->index, k, i)));
        int at = (int)(mixed((uint64_t)i) % LIVE);
        if (own[at] && CHECK(is_whole(own[at], name[at]))) tn_free(own[at]);
        name[at] = name_of(m->index, OWN, i);
        own[at] = make(name[at]);
    }
    for (int i = 0; i < LIVE; i++)
        if (own[i] && CHECK(is_whole(own[i], name[i]))) tn_free(own[i]);
    return NULL;
}

static void *is_maker(void *arg) {
    int index = (int)(intptr_t)arg;
    stay_on_core(index + 1); /* its threads, too */
    int64_t all = bursts * BATCH / makers, each = all / generations;
    for (int i = 0; i < generations; i++) { /* takers still have what the last one made */
        pthread_t t;
        maker m = {index, each * i, i == generations - 1 ? all : each * (i + 1)};
        if (CHECK(pthread_create(&t, NULL, makes, &m) == 0)) pthread_join(t, NULL);
    }
    return NULL;
}

typedef struct batch {
    int64_t from;
    tn_tensor *at[BATCH];
} batch;

static void batch_check(const batch *b, int from, int taker) {
    for (int i = 0; i < together; i++) CHECK(is_whole(b->at[i], name_of(from, taker, b->from + i)));
}

static void batch_free(const batch *b, int from, int taker) {
    batch_check(b, from, taker);
    if (together > 1) meet();
    for (int i = 0; i < together; i++) tn_free(b->at[i]);
    tni_fetch_add_relaxed(&freed_in_bursts, together);
}

static void *takes(void *arg) {
    int taker = (int)(intptr_t)arg;
    stay_on_core(taker);
    batch have[MAKERS]; /* kept until all the others' have come */
    const int64_t rounds = bursts * BATCH / makers / together;
    for (int64_t i = 0; i <= rounds; i++)
        for (int m = 0; m < makers; m++) {
            batch *b = &have[m];
            tn_context_use(home[m]);
            if (i) batch_free(b, m, taker);
            if (i == rounds) continue;
            b->from = i * together;
            for (int k = 0; k < together; k++)
                b->at[k] = receive(&ring[m][taker][(b->from + k) % RING]);
            batch_check(b, m, taker);
        }
    return NULL;
}

static void run_all(int n, void *(*maker_runs)(void *), void *(*taker_runs)(void *)) {
    pthread_t t[MAKERS + TAKERS];
    for (intptr_t i = 0; i < TAKERS; i++) pthread_create(&t[i], NULL, taker_runs, (void *)i);
    for (intptr_t i = 0; i < n; i++) pthread_create(&t[TAKERS + i], NULL, maker_runs, (void *)i);
    for (int i = 0; i < TAKERS + n; i++) pthread_join(t[i], NULL);
}

/* --- the census ------------------------------------------------------------------------------- */

typedef struct census {
    int64_t live;  /* headers that nobody has given back */
    int64_t taken; /* bytes of blocks that stand in no free list */
    int64_t slabs;
} census;

/* A list in which a block stands twice is longer than its slabs have room, or never ends. */
static int64_t list_length(const void *at, int64_t most) {
    int64_t n = 0;
    for (; at && n <= most; n++) at = *(void *const *)at;
    CHECK(n <= most);
    return n;
}

static void count_block(census *all, const tni_block *b) {
    int64_t slabs = list_length(b->slabs, MOST_SLABS), most = slabs * (SLAB / TNI_ALIGN);
    int64_t steps = 0, available = b->slab_end - b->slab;
    for (int i = 1; i < TNI_BINS; i++) available += list_length(b->bin[i], most) * i * TNI_ALIGN;
    for (int i = 0; i < 3; i++) { /* freed headers, of 4, 8 and 16 dimensions */
        const int64_t bytes =
            ((int64_t)offsetof(tn_tensor, dims) + (64 << i) + TNI_ALIGN - 1) & -(int64_t)TNI_ALIGN;
        int64_t n = 0;
        for (const tn_tensor *t = tni_state(b)->spare[i]; t && n <= most; t = t->next) n++;
        CHECK(n <= most);
        available += n * bytes;
    }
    list_length(b->returned, most);
    for (void **at = (void **)b->returned; at && steps++ <= most; at = (void **)*at)
        available += (int64_t)(uintptr_t)at[1] * TNI_ALIGN;
    all->live += b->live_count;
    steps = 0;
    for (const tn_tensor *t = tni_state(b)->returned; t && steps++ <= b->live_count;
         t = (const tn_tensor *)(const void *)t->storage) {
        int64_t bytes = (int64_t)offsetof(tn_tensor, dims) + 16 * t->capacity;
        available += b->binned ? (bytes + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN : bytes;
        all->live--;
    }
    all->slabs += slabs;
    all->taken += slabs * IN_SLAB - available;
}

static census count(tn_context *c) { /* no thread is in c */
    census all = {0, 0, 0};
    for (const tni_block *b = c->blocks; b; b = b->next) count_block(&all, b);
    tn_context_use(c);
    all.taken += tn_memory().bytes_used - all.slabs * SLAB;
    return all;
}

static int64_t given; /* bytes from the allocator of the contexts here */
static void *give(size_t bytes, void *user) {
    (void)user;
    tni_fetch_add_relaxed(&given, (int64_t)bytes);
    return malloc(bytes);
}
static void take_back(void *at, size_t bytes, void *user) {
    (void)user;
    tni_fetch_add_relaxed(&given, -(int64_t)bytes);
    free(at);
}

/* Runs `run` in n contexts and counts them before and after. */
static void in_contexts(int n, bool no_cache, void (*run)(void)) {
    tn_context_options o;
    census before[2], after;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = no_cache;
    o.allocator.alloc = give;
    o.allocator.free = take_back;
    given = wrapped = unwrapped = 0;
    for (int i = 0; i < MAKERS; i++) home[i] = i < n ? tn_context_new(&o) : home[i % n];
    for (int i = 0; i < n; i++) before[i] = count(home[i]);
    run();
    for (int i = 0; i < n; i++) {
        after = count(home[i]);
        CHECK_EQ(after.live, before[i].live);
        CHECK_EQ(after.taken, before[i].taken);
        CHECK(after.slabs <= MOST_SLABS);
        CHECK(!tn_error_print());
        tn_context_free(home[i]);
    }
    tn_context_use(NULL);
    CHECK_EQ(given, 0);
    CHECK_EQ(wrapped, unwrapped);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void make_and_take(void) { run_all(makers, is_maker, takes); }
static void play(int contexts, bool no_cache, int threads_each) {
    makers = MAKERS;
    together = BATCH;
    generations = threads_each;
    in_contexts(contexts, no_cache, make_and_take);
}
static void blocks_of_living_threads_return(void) { play(1, false, 1); }
static void blocks_of_threads_that_have_ended_return(void) { play(1, false, 10); }
static void blocks_return_in_two_contexts(void) { play(2, false, 2); }
static void blocks_return_without_a_cache(void) { play(1, true, 2); }

/* Few are on their way, so that the maker takes its list at nearly each tensor. */
static void blocks_return_while_their_list_is_taken(void) {
    makers = generations = together = 1;
    in_contexts(1, false, make_and_take);
}

/* Counts: all takers hold and free the same tensors, and share their storages; the first one has
 * made them. */
static tn_tensor *common[BATCH];
static void hold_again(tn_tensor *t, uint64_t name) {
    tn_tensor *alias[BATCH];
    for (int again = 0; again < 100; again++) {
        for (int i = 0; i < BATCH; i++) alias[i] = tn_detach(tn_hold(t));
        CHECK(is_whole(alias[again % BATCH], name));
        for (int i = 0; i < BATCH; i++) tn_free(alias[i]), tn_free(t);
    }
}
static void *holds(void *arg) {
    stay_on_core((int)(intptr_t)arg);
    tn_context_use(home[0]);
    for (int64_t i = 0; i < bursts / 40 + 1; i++) {
        for (int k = 0; k < BATCH && arg == NULL; k++) {
            common[k] = make(name_of(0, OWN, i * BATCH + k));
            for (int owner = 1; owner < TAKERS; owner++) tn_hold(common[k]);
        }
        meet();
        hold_again(common[i % BATCH], name_of(0, OWN, i * BATCH + i % BATCH));
        meet();
        for (int k = 0; k < BATCH; k++) tn_free(common[k]);
        meet();
    }
    return NULL;
}
static void hold_and_free(void) { run_all(0, NULL, holds); }
static void tensors_of_all_are_freed_once(void) { in_contexts(1, false, hold_and_free); }

static const check_test tests[] = {
    CHECK_TEST(blocks_of_living_threads_return),
    CHECK_TEST(blocks_of_threads_that_have_ended_return),
    CHECK_TEST(blocks_return_in_two_contexts),
    CHECK_TEST(blocks_return_without_a_cache),
    CHECK_TEST(blocks_return_while_their_list_is_taken),
    CHECK_TEST(tensors_of_all_are_freed_once),
};

int main(int argc, char **argv) {
    if (argc > 1) bursts = atoll(argv[1]);
    alarm(LONGEST);
    stay_on_core(-1);
    int status = CHECK_MAIN(tests, 1, argv);
    if (!status)
        printf("promise 15: %lld small tensors, %lld of them freed by %d threads in bursts beside "
               "%d that make more: 0 blocks lost or handed out twice\n",
               (long long)made, (long long)freed_in_bursts, TAKERS, MAKERS);
    return status;
}
