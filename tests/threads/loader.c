/* loader.c - loaders with workers, driven at random: every batch arrives once, in order, with the
 * items that the generator's order says, whatever happens beside it: epochs left early, items that
 * cannot be read, the generator's state taken and given back inside an epoch, loaders and contexts
 * that end while workers read. Under ThreadSanitizer; a round that hangs ends by alarm.
 *
 *     loader [rounds]
 */
#define _XOPEN_SOURCE 700 /* alarm */
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { ITEMS = 60, WIDTH = 5, SECONDS = 120 /* a round, at most */ };
static int rounds = 60;

static uint64_t state;
static int64_t below(int64_t n) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int64_t)((z ^ z >> 31) % (uint64_t)n);
}

/* --- the data set ----------------------------------------------------------------------------- */

/* Item i: the number i, and WIDTH bytes that follow from it. */
typedef struct items {
    int fetched[ITEMS]; /* how often each was asked for */
    int64_t bad;        /* this one cannot be read; -1: none */
    bool says_why;
    int *destroyed;
} items;

static uint8_t byte_of(int64_t i, int k) { return (uint8_t)(i * 37 + k * 11 + 1); }
static bool items_get(const tn_dataset *d, int64_t index, void *const *to) {
    items *s = (items *)d->user;
    __atomic_fetch_add(&s->fetched[index], 1, __ATOMIC_RELAXED);
    if (index % 7 == 3) sched_yield();
    memcpy(to[0], &index, sizeof index);
    for (int k = 0; k < WIDTH; k++) ((uint8_t *)to[1])[k] = byte_of(index, k);
    if (index != s->bad) return true;
    return s->says_why && tn_error_set(TN_FORMAT, __FILE__, __LINE__, "a torn page");
}
static void items_destroy(tn_dataset *d) {
    items *s = (items *)d->user;
    ++*s->destroyed;
    free(s);
}
static tn_dataset *items_new(int64_t n, int *destroyed, items **at) {
    tn_dataset like;
    memset(&like, 0, sizeof like);
    like.size = n;
    like.nfields = 2;
    like.field[0].dtype = TN_I64;
    like.field[1].dtype = TN_U8;
    like.field[1].ndim = 1;
    like.field[1].size[0] = WIDTH;
    like.get = items_get;
    like.destroy = items_destroy;
    like.user = *at = (items *)calloc(1, sizeof **at);
    (*at)->bad = -1;
    (*at)->destroyed = destroyed;
    return tn_dataset_new(&like);
}

/* --- a loader and what it has to give --------------------------------------------------------- */

typedef struct driven {
    tn_loader *l;
    items *set;
    int64_t n, batch, batches;
    bool shuffle, drop_last;
    tn_generator *generator, *model; /* model: the state from which the next order is drawn */
    int64_t order[ITEMS], at;        /* at: next batch; -1: no epoch in progress */
} driven;

static int ended, heard;

static driven driven_new(int64_t n) {
    driven d;
    tn_dataset *set;
    int32_t workers = (int32_t)below(4);
    memset(&d, 0, sizeof d);
    d.n = n;
    d.batch = 1 + below(5);
    d.shuffle = below(3) != 0;
    d.drop_last = below(4) == 0;
    d.batches = d.drop_last ? n / d.batch : (n + d.batch - 1) / d.batch;
    d.generator = tn_generator_new((uint64_t)below(1000));
    d.model = tn_generator_new(0);
    d.at = -1;
    set = items_new(n, &ended, &d.set);
    d.l = tn_loader_new(set, .batch_size = d.batch, .shuffle = d.shuffle, .drop_last = d.drop_last,
                        .workers = workers ? workers + 1 : 0, .prefetch = 1 + (int32_t)below(3),
                        .generator = d.generator);
    CHECK(d.l && tn_loader_batches(d.l) == d.batches);
    return d;
}
static void driven_free(driven *d) {
    tn_loader_free(d->l);
    tn_generator_free(d->generator);
    tn_generator_free(d->model);
}

/* The order of the epoch that begins now, from a copy of the generator: a draw for workers, then a
 * permutation, as torch.utils.data makes it. */
static void driven_begin(driven *d) {
    static uint8_t bytes[TN_GENERATOR_BYTES];
    int64_t mark = tn_scope_begin();
    tn_generator_state(d->generator, bytes);
    CHECK(tn_generator_set_state(d->model, bytes));
    tn_random64(d->model);
    for (int64_t i = 0; i < d->n; i++) d->order[i] = i;
    if (d->shuffle) {
        tn_tensor *t = tnp_randperm(d->n, d->model, TN_I64, TN_NO_DEVICE);
        CHECK(t && tn_read_i64(t, d->order, d->n));
    }
    tn_scope_end(mark);
    for (int i = 0; i < ITEMS; i++) __atomic_store_n(&d->set->fetched[i], 0, __ATOMIC_RELAXED);
    d->at = 0;
}

static bool batch_is(const driven *d, const tn_batch *b) {
    int64_t first = d->at * d->batch, left = d->n - first;
    int64_t n = left < d->batch ? left : d->batch;
    const int64_t *number = (const int64_t *)tn_data(b->field[0]);
    const uint8_t *bytes = (const uint8_t *)tn_data(b->field[1]);
    bool ok = b->index == d->at && b->n == n && b->nfields == 2 && tn_size(b->field[0], 0) == n &&
              tn_size(b->field[1], 1) == WIDTH;
    for (int64_t i = 0; ok && i < n; i++) {
        ok = number[i] == d->order[first + i];
        for (int k = 0; ok && k < WIDTH; k++) ok = bytes[i * WIDTH + k] == byte_of(number[i], k);
    }
    return ok;
}
static bool batch_is_bad(const driven *d) {
    for (int64_t i = d->at * d->batch; i < (d->at + 1) * d->batch && i < d->n; i++)
        if (d->order[i] == d->set->bad) return true;
    return false;
}

/* The error of the item that cannot be read: its number, the set's own text, heard once. */
static bool says_bad(const driven *d, int heard_before) {
    char text[80];
    tn_error_info e = {TN_OK, "", NULL, 0};
    if (!tn_error_take(&e)) return false;
    snprintf(text, sizeof text, "item %d of the data set: %s", (int)d->set->bad,
             d->set->says_why ? "a torn page" : "get failed");
    return strstr(e.message, text) && e.code == (d->set->says_why ? TN_FORMAT : TN_INTERNAL) &&
           heard == heard_before + 1;
}

/* One call; false when the epoch has ended, by its end or by an error. */
static bool driven_next(driven *d, tn_batch *b) {
    const int before = heard;
    bool more;
    if (d->at < 0) driven_begin(d);
    more = tn_loader_next(d->l, b);
    if (d->at == d->batches) {
        CHECK(!more && tn_ok());
        for (int64_t i = 0; i < d->n; i++) /* each item once; what is dropped never */
            CHECK_EQ(d->set->fetched[d->order[i]], i < d->batches * d->batch);
    } else if (batch_is_bad(d)) {
        CHECK(!more && says_bad(d, before) && !b->n && !b->field[0]);
    } else if (CHECK(more && batch_is(d, b))) {
        d->at++;
        return true;
    }
    tn_error_take(NULL);
    d->at = -1;
    return false;
}

/* --- programs --------------------------------------------------------------------------------- */

static void some_of(driven *d, int64_t n) {
    tn_batch b;
    for (int64_t i = 0; i < n; i++) {
        int64_t mark = tn_scope_begin();
        bool more = driven_next(d, &b);
        tn_scope_end(mark);
        if (!more) return;
    }
}

/* The state inside an epoch, given back before another: that draws the same order again. */
static void state_again(driven *d) {
    static uint8_t bytes[TN_GENERATOR_BYTES];
    int64_t first[ITEMS];
    tn_loader_stop(d->l);
    d->at = -1;
    some_of(d, 1 + below(3));
    tn_generator_state(d->generator, bytes);
    tn_loader_stop(d->l);
    d->at = -1;
    some_of(d, below(d->batches + 1) + 1);
    memcpy(first, d->order, sizeof first);
    CHECK(tn_generator_set_state(d->generator, bytes));
    tn_loader_stop(d->l);
    d->at = -1;
    some_of(d, d->batches + 1);
    CHECK(memcmp(first, d->order, (size_t)d->n * sizeof *first) == 0);
}

/* A thread that has one field of a batch for longer than the loop has the batch. */
typedef struct reader {
    pthread_t thread;
    tn_context *context;
    tn_tensor *bytes; /* held */
    const int64_t *number;
    int64_t n;
} reader;
static void *reader_run(void *user) {
    reader *r = (reader *)user;
    const uint8_t *at = (const uint8_t *)tn_data(r->bytes);
    tn_context_use(r->context);
    for (int turn = 0; turn < 4; turn++) {
        for (int64_t i = 0; i < r->n * WIDTH; i++)
            CHECK(at[i] == byte_of(r->number[i / WIDTH], (int)(i % WIDTH)));
        sched_yield();
    }
    tn_release(r->bytes);
    return NULL;
}

/* Batches that are kept, wholly or one field, here or by a thread, do not change while others are
 * read into the buffers of the loader. */
static void keep_some(driven *d) {
    tn_batch b[4];
    int64_t order[ITEMS], mark = tn_scope_begin();
    reader r;
    int n = 0;
    if (d->at >= 0) tn_loader_stop(d->l);
    d->at = -1;
    while (n < 4 && driven_next(d, &b[n])) n++;
    memcpy(order, d->order, sizeof order);
    if (n) {
        r.context = tn_context_current();
        r.n = b[0].n, r.number = order, r.bytes = tn_retain(b[0].field[1]);
        tn_free(b[0].field[0]), tn_free(b[0].field[1]);
        CHECK(pthread_create(&r.thread, NULL, reader_run, &r) == 0);
    }
    if (n == 4) some_of(d, d->batches + 1 - d->at + below(3));
    for (int i = 1; i < n; i++) {
        driven then = *d;
        then.at = i;
        memcpy(then.order, order, sizeof order);
        CHECK(batch_is(&then, &b[i]));
    }
    if (n) pthread_join(r.thread, NULL);
    tn_scope_end(mark);
}

static void spoil(driven *d) {
    if (d->at >= 0) tn_loader_stop(d->l); /* no worker reads `bad` now */
    d->at = -1;
    d->set->says_why = below(2) != 0;
    d->set->bad = below(d->n);
    some_of(d, d->batches + 1);
    some_of(d, below(4));
    tn_loader_stop(d->l);
    d->at = -1;
    d->set->bad = -1;
}

static void drive(driven *d, int64_t steps) {
    for (int64_t i = 0; i < steps; i++) switch (below(7)) {
        case 0: some_of(d, d->batches + 1); break; /* to the end, or beyond the next one's begin */
        case 1:
            some_of(d, below(5));
            tn_loader_stop(d->l);
            d->at = -1;
            break;
        case 2: some_of(d, below(3)); break;
        case 3:
            if (d->n) spoil(d);
            break;
        case 4:
            if (d->n) state_again(d);
            break;
        case 5:
            if (d->n) keep_some(d);
            break;
        default: tn_loader_stop(d->l), tn_loader_stop(d->l), d->at = -1;
        }
}

static void hear(const tn_error_info *e, void *user) {
    (void)e, (void)user;
    heard++;
}
static void batches_arrive_once_and_in_order(void) {
    tn_set_error_handler(hear, NULL);
    for (int r = 0; r < rounds && !check_failures; r++) {
        alarm(SECONDS);
        int before = ended;
        driven d;
        state = (uint64_t)r;
        d = driven_new(below(8) ? below(ITEMS) + 1 : 0);
        drive(&d, 12);
        some_of(&d, below(3)); /* workers read while it ends */
        driven_free(&d);
        CHECK_EQ(ended, before + 1);
        if (check_failures) printf("    round %d\n", r);
    }
    tn_set_error_handler(NULL, NULL);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void loaders_beside_each_other_do_not_mix(void) {
    tn_set_error_handler(hear, NULL);
    for (int r = 0; r < rounds / 4 && !check_failures; r++) {
        alarm(SECONDS);
        driven d[3];
        state = (uint64_t)r + 5000;
        for (int k = 0; k < 3; k++) d[k] = driven_new(below(ITEMS) + 1);
        for (int i = 0; i < 40; i++) some_of(&d[below(3)], below(4));
        for (int k = 0; k < 3; k++) driven_free(&d[k]);
        if (check_failures) printf("    round %d\n", r);
    }
    tn_set_error_handler(NULL, NULL);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void contexts_end_while_workers_read(void) {
    tn_context *first = tn_context_current();
    for (int r = 0; r < rounds / 4 && !check_failures; r++) {
        alarm(SECONDS);
        tn_context *c = tn_context_new(NULL);
        int before = ended;
        driven d[2];
        int64_t mark;
        state = (uint64_t)r + 9000;
        tn_context_use(c);
        mark = tn_scope_begin();
        for (int k = 0; k < 2; k++) {
            d[k] = driven_new(below(ITEMS) + 1);
            some_of(&d[k], below(3));
        }
        tn_scope_end(mark);
        for (int k = 0; k < 2; k++)
            tn_generator_free(d[k].model), tn_generator_free(d[k].generator);
        tn_context_use(first);
        tn_context_free(c); /* with its loaders */
        CHECK_EQ(ended, before + 2);
        if (check_failures) printf("    round %d\n", r);
    }
}

/* The library's own sets, a part of one, and steps of a training loop between the batches. */
static void tensors_are_read_beside_training(void) {
    TN_SCOPE {
        tn_tensor *x = tn_arange(120), *w = tn_requires_grad(tn_zeros(TN_DIMS(4)));
        tn_dataset *all = tn_dataset_tensors(TN_LIST(tn_view(x, TN_DIMS(30, 4))));
        tn_loader *l = tn_loader_new(tn_dataset_slice(all, 3, 28), .batch_size = 4, .workers = 3);
        for (int e = 0; e < rounds / 3; e++) {
            alarm(SECONDS);
            tn_batch b;
            int64_t n = 0, mark = tn_scope_begin();
            for (; tn_loader_next(l, &b) && n < (e % 3 ? 7 : 4); n++) {
                CHECK(tn_item(tn_sum(tn_select(b.field[0], 0, 0))) ==
                      4 * (double)(12 + 16 * n) + 6);
                tn_backward(tn_sum(tn_mul(b.field[0], w)));
                tn_scope_end(mark);
                mark = tn_scope_begin();
            }
            tn_scope_end(mark);
            CHECK_EQ(n, e % 3 ? 7 : 4);
            tn_loader_stop(l);
            CHECK(tn_ok());
        }
        tn_loader_free(l);
    }
}

static const check_test tests[] = {
    CHECK_TEST(batches_arrive_once_and_in_order),
    CHECK_TEST(loaders_beside_each_other_do_not_mix),
    CHECK_TEST(contexts_end_while_workers_read),
    CHECK_TEST(tensors_are_read_beside_training),
};
int main(int argc, char **argv) {
    int failed;
    if (argc > 1) rounds = atoi(argv[1]);
    failed = CHECK_MAIN(tests, 1, argv);
    tn_context_free(NULL);
    return failed;
}
