/* loader.c - batches in order, read ahead by threads.
 *
 * The thread that calls tn_loader_next draws the order, owns all memory, and makes the tensors;
 * workers only fill buffers, so what comes out does not depend on their number. A batch's buffer
 * returns to the loader when its tensors are gone: in a steady loop nothing is allocated. A child
 * of fork has none of the workers, so its thread fills the buffers itself; the locks are made anew
 * before any thread of it runs. */
#include "data.h"
#include "../api/ops/creation.h"

#include <stdlib.h>

#if !defined(TN_NO_THREADS) && !defined(_WIN32) && !defined(__TINYC__)
#include <pthread.h>
#define LOADER_THREADS 1
#else
#define LOADER_THREADS 0
#endif

enum { LOADER_ALIGN = 64, LOADER_WORKERS = 256, LOADER_TEXT = 600 };
enum { LOADER_IDLE, LOADER_FILLING, LOADER_READY, LOADER_FAILED }; /* states of a slot */

/* Memory of a batch: this header, then its fields. */
typedef struct loader_buffer {
    struct loader_core *core;
    struct loader_buffer *next; /* in the list of free ones */
    int32_t refs;               /* tensors over it, and the slot that has it */
} loader_buffer;

/* What outlives the loader while batches are in use. */
typedef struct loader_core {
#if LOADER_THREADS
    pthread_mutex_t lock;
    struct loader_core *next; /* in loader_cores */
#endif
    loader_buffer *free;
    int64_t buffer_bytes, at[TN_MAX_FIELDS]; /* at: of field i in a buffer */
    int64_t out;                             /* buffers that are not in `free` */
    bool closed;                             /* the loader is gone */
} loader_core;

/* A batch on its way. Its worker owns the buffer until the state is READY or FAILED; then code and
 * text hold the error that get set. */
typedef struct loader_slot {
    loader_buffer *buffer;
    int64_t batch;
    int state;
    tn_code code;
    char text[LOADER_TEXT];
} loader_slot;

struct tn_loader {
    tn_ending ending; /* first: a context that ends frees its loaders */
    loader_core *core;
    tn_dataset *dataset;
    tn_generator *generator;
    tn_context *context;
    int64_t batch_size, batches;
    bool shuffle, running; /* running: inside an epoch */
    bool exhausted;        /* see loader_exhaust */
    int64_t *order;        /* dataset->size */
    int64_t position;      /* next batch to hand out */
    loader_slot *slot;
    int32_t nslots, nworkers, threads_room;
    /* shared with the workers, under core->lock */
    int64_t todo, end; /* next batch to fill, and the epoch's last + 1 */
    int32_t filling;
    bool quit;
#if LOADER_THREADS
    pthread_cond_t work, ready;
    pthread_t *thread;
    uint32_t forks; /* loader_forks of the process that the workers belong to */
#endif
};

#if LOADER_THREADS
static pthread_mutex_t loader_registry = PTHREAD_MUTEX_INITIALIZER;
static loader_core *loader_cores; /* all, newest first; going forward it is right at any moment */
static uint32_t loader_forks;     /* between the first process and this one */

#ifdef __EMSCRIPTEN__
static bool loader_handler(void) { return true; } /* there is no fork */
#else
static bool loader_has_handler;

/* In a child of fork that has one thread: locks may be held by threads that are not here. */
static void loader_child(void) {
    loader_forks++;
    pthread_mutex_init(&loader_registry, NULL);
    for (loader_core *c = loader_cores; c; c = c->next) pthread_mutex_init(&c->lock, NULL);
}
static bool loader_handler(void) { /* under the registry's lock; libc drops it at an unload */
    if (!loader_has_handler) loader_has_handler = pthread_atfork(NULL, NULL, loader_child) == 0;
    return loader_has_handler;
}
#endif
/* Makes c's lock known to the handler of fork. The list is read by a child without a lock, so it is
 * right at any moment: a core is linked in by one store. */
static bool loader_register(loader_core *c) {
    bool ok;
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_lock(&loader_registry);
    ok = loader_handler();
    c->next = loader_cores;
    __atomic_store_n(&loader_cores, c, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&loader_registry);
    return ok;
}
static void loader_unregister(loader_core *c) {
    loader_core **at = &loader_cores;
    pthread_mutex_lock(&loader_registry);
    while (*at != c) at = &(*at)->next;
    /* One store again: a child of fork sees the list with c or without it. */
    __atomic_store_n(at, c->next, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&loader_registry);
    pthread_mutex_destroy(&c->lock);
}
#endif

static void loader_lock(loader_core *c) {
#if LOADER_THREADS
    pthread_mutex_lock(&c->lock);
#else
    (void)c;
#endif
}
static void loader_unlock(loader_core *c) {
#if LOADER_THREADS
    pthread_mutex_unlock(&c->lock);
#else
    (void)c;
#endif
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* Where the fields of a batch lie in a buffer: each begins at a multiple of 64 bytes. */
static bool loader_layout(loader_core *c, const tn_dataset *d, int64_t batch_size) {
    int64_t at = (int64_t)(sizeof(loader_buffer) + LOADER_ALIGN - 1) / LOADER_ALIGN * LOADER_ALIGN;
    for (int i = 0; i < d->nfields; i++) {
        int64_t each = tni_field_bytes(&d->field[i]);
        if (each > 0 && batch_size > (PTRDIFF_MAX / 2 - at) / each)
            return tni_nn_error(TN_MEMORY, "a batch is too large");
        c->at[i] = at;
        at += (each * batch_size + LOADER_ALIGN - 1) / LOADER_ALIGN * LOADER_ALIGN;
    }
    c->buffer_bytes = at;
    return true;
}

/* Of a core that has no loader and no buffer in use. */
static void loader_core_free(loader_core *c) {
#if LOADER_THREADS
    loader_unregister(c);
#endif
    while (c->free) {
        loader_buffer *b = c->free;
        c->free = b->next;
        tn_alloc_free(b, (size_t)c->buffer_bytes);
    }
    tn_alloc_free(c, sizeof *c);
}

/* Drops one user of a buffer; from any thread. */
static void loader_buffer_drop(loader_buffer *b) {
    loader_core *c = b->core;
    bool last = false;
    loader_lock(c);
    if (--b->refs == 0) {
        b->next = c->free;
        c->free = b;
        last = --c->out == 0 && c->closed;
    }
    loader_unlock(c);
    if (last) loader_core_free(c);
}
static void loader_release(void *data, void *user) {
    (void)data;
    loader_buffer_drop((loader_buffer *)user);
}

/* A free buffer with one user; NULL with an error set. */
static loader_buffer *loader_buffer_take(loader_core *c) {
    loader_buffer *b;
    loader_lock(c);
    b = c->free;
    if (b) c->free = b->next;
    /* Counted before it exists, so that no other thread takes the core for unused meanwhile. */
    c->out++;
    loader_unlock(c);
    /* The first epoch makes the buffers; later ones find them in the list. */
    if (!b) {
        b = (loader_buffer *)tn_alloc((size_t)c->buffer_bytes);
        if (b) b->core = c;
    }
    if (b) {
        b->refs = 1;
    } else {
        loader_lock(c);
        c->out--;
        loader_unlock(c);
    }
    return b;
}

/* --- filling ---------------------------------------------------------------------------------- */

/* The items of a batch; the last one may have fewer. */
static int64_t loader_items(const tn_loader *l, int64_t batch) {
    int64_t left = l->dataset->size - batch * l->batch_size;
    return left < l->batch_size ? left : l->batch_size;
}

/* Writes the items of the slot's batch; false: code and text of the slot say why. */
static bool loader_fill(const tn_loader *l, loader_slot *s) {
    const tn_dataset *d = l->dataset;
    int64_t bytes[TN_MAX_FIELDS], first = s->batch * l->batch_size;
    tn_error_info error;
    tni_step step;
    bool ok = true;
    for (int k = 0; k < d->nfields; k++) bytes[k] = tni_field_bytes(&d->field[k]);
    /* A link of the chain keeps the error handler waiting: errors are reported in the caller's
     * thread, by loader_next. */
    tni_step_begin(&step, NULL, 0, "");
    for (int64_t i = 0; ok && i < loader_items(l, s->batch); i++) {
        void *to[TN_MAX_FIELDS] = {NULL, NULL, NULL, NULL};
        int64_t index = l->shuffle ? l->order[first + i] : first + i;
        for (int k = 0; k < d->nfields; k++)
            to[k] = (char *)s->buffer + l->core->at[k] + i * bytes[k];
        ok = d->get(d, index, to);
        if (ok) continue;
        s->code = tn_error_take(&error) ? error.code : TN_INTERNAL;
        snprintf(s->text, sizeof s->text, "item %lld of the data set: %s", (long long)index,
                 s->code == TN_INTERNAL ? "get failed" : error.message);
    }
    tni_step_end(&step);
    return ok;
}

#if LOADER_THREADS
/* A worker takes the next batch that has a slot: batch k goes to slot k % nslots, so at most nslots
 * batches are filled ahead. It waits when there is none. */
static void *loader_worker(void *user) {
    tn_loader *l = (tn_loader *)user;
    tn_context_use(l->context);
    pthread_mutex_lock(&l->core->lock);
    while (!l->quit) {
        loader_slot *s;
        bool ok;
        /* Nothing left in the epoch, or the slot of the batch is not free yet. */
        if (l->todo >= l->end || l->todo >= l->position + l->nslots) {
            pthread_cond_wait(&l->work, &l->core->lock);
            continue;
        }
        s = &l->slot[l->todo % l->nslots];
        s->batch = l->todo++;
        s->state = LOADER_FILLING;
        l->filling++;
        /* The slot is this worker's now: it fills without the lock. */
        pthread_mutex_unlock(&l->core->lock);
        ok = loader_fill(l, s);
        pthread_mutex_lock(&l->core->lock);
        s->state = ok ? LOADER_READY : LOADER_FAILED;
        l->filling--;
        /* The caller may wait for this batch, or for all workers to be quiet. */
        pthread_cond_broadcast(&l->ready);
    }
    pthread_mutex_unlock(&l->core->lock);
    return NULL;
}
#endif

/* Waits for the slot of the next batch, or fills it here. */
static loader_slot *loader_await(tn_loader *l) {
    loader_slot *s = &l->slot[l->position % l->nslots];
    if (l->nworkers == 0) {
        s->batch = l->position;
        s->state = loader_fill(l, s) ? LOADER_READY : LOADER_FAILED;
        return s;
    }
#if LOADER_THREADS
    pthread_mutex_lock(&l->core->lock);
    /* The slot may still hold an earlier state; its number says whose it is. */
    while (s->batch != l->position || (s->state != LOADER_READY && s->state != LOADER_FAILED))
        pthread_cond_wait(&l->ready, &l->core->lock);
    pthread_mutex_unlock(&l->core->lock);
#endif
    return s;
}

/* --- epochs ----------------------------------------------------------------------------------- */

/* A permutation of the data set drawn from a generator; order NULL: drawn and not used. */
static bool loader_permute(tn_loader *l, tn_generator *from, int64_t *order) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = tnp_randperm(l->dataset->size, from, TN_I64, TN_CPU);
    bool ok = t && (!order || tn_read_i64(t, order, l->dataset->size));
    tn_scope_end(mark);
    return ok;
}

/* torch's sampler draws one more permutation, of which it takes nothing, when it is asked beyond
 * its last item: for the last batch if that is short, else at the end. Only a generator that was
 * given shows it. */
static bool loader_exhaust(tn_loader *l) {
    if (l->exhausted || !l->shuffle || !l->generator) return true;
    l->exhausted = loader_permute(l, l->generator, NULL);
    return l->exhausted;
}

/* The draws at the start of an epoch, as in torch.utils.data: the iterator draws a base seed for
 * its workers; then the sampler draws a seed of its own from the default generator, or takes the
 * generator that was given. Both draws are int64 random_(): 63 bits. */
static bool loader_draw(tn_loader *l) {
    tn_generator *from = l->generator ? l->generator : tn_default_generator(), *own = NULL;
    bool ok;
    if (!from) return false;
    l->exhausted = false;
    /* The base seed, which nothing here needs. */
    tn_random64(from);
    if (!l->shuffle) return true;
    if (!l->generator) {
        own = tn_generator_new(tn_random64(from) & INT64_MAX);
        if (!own) return false;
    }
    ok = loader_permute(l, own ? own : from, l->order);
    if (own) tn_generator_free(own);
    return ok;
}

/* In a child of fork, before anything else: there are no workers. */
static void loader_forked(tn_loader *l) {
#if LOADER_THREADS
    if (l->forks == loader_forks) return;
    l->forks = loader_forks;
    l->nworkers = 0;
    /* The workers of the parent are not here, so nobody will count down. */
    l->filling = 0;
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->ready, NULL);
#else
    (void)l;
#endif
}

/* Waits until no worker fills, and gives them nothing more to do. */
static void loader_quiet(tn_loader *l) {
    loader_lock(l->core);
    l->todo = l->end = 0;
#if LOADER_THREADS
    while (l->filling) pthread_cond_wait(&l->ready, &l->core->lock);
#endif
    for (int32_t i = 0; i < l->nslots; i++) {
        l->slot[i].state = LOADER_IDLE;
        l->slot[i].batch = -1;
    }
    loader_unlock(l->core);
    l->running = false;
}

/* An epoch: buffers for all slots, the order, then work for the workers. */
static bool loader_begin(tn_loader *l) {
    loader_quiet(l);
    for (int32_t i = 0; i < l->nslots; i++)
        if (!l->slot[i].buffer && !(l->slot[i].buffer = loader_buffer_take(l->core))) return false;
    /* The caller's thread draws, so the order does not depend on the workers. */
    if (!loader_draw(l)) return false;
    loader_lock(l->core);
    l->position = l->todo = 0;
    l->end = l->batches;
#if LOADER_THREADS
    if (l->nworkers) pthread_cond_broadcast(&l->work);
#endif
    loader_unlock(l->core);
    l->running = true;
    return true;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Field k of a buffer as a tensor, which is one more user of the buffer. */
static tn_tensor *loader_wrap(const tn_loader *l, loader_buffer *b, int k, int64_t items,
                              const char *file, int line) {
    const tn_field *f = &l->dataset->field[k];
    int64_t size[TN_MAX_DIMS];
    tn_wrap_options options;
    tn_tensor *t;
    memset(&options, 0, sizeof options);
    options.release = loader_release;
    options.user = b;
    /* (items, sizes of the field): fewer items use the front of the buffer. */
    size[0] = items;
    for (int i = 0; i < f->ndim; i++) size[i + 1] = f->size[i];
    t = tn_wrap_at(file, line, (char *)b + l->core->at[k], tn_ints_of(size, f->ndim + 1), f->dtype,
                   &options);
    if (!t) return NULL;
    loader_lock(l->core);
    b->refs++;
    loader_unlock(l->core);
    return t;
}

/* Hands out the slot's batch; the slot gets the spare buffer instead. */
static bool loader_hand_out(tn_loader *l, loader_slot *s, loader_buffer *spare, tn_batch *batch,
                            const char *file, int line) {
    loader_buffer *b = s->buffer;
    batch->n = loader_items(l, s->batch);
    batch->index = s->batch;
    for (batch->nfields = 0; batch->nfields < l->dataset->nfields; batch->nfields++) {
        tn_tensor *t = loader_wrap(l, b, batch->nfields, batch->n, file, line);
        if (!t) {
            while (batch->nfields > 0) tn_free(batch->field[--batch->nfields]);
            return false;
        }
        batch->field[batch->nfields] = t;
    }
    /* The tensors hold the buffer from here on; the slot drops its own use. */
    s->buffer = spare;
    loader_buffer_drop(b);
    loader_lock(l->core);
    s->state = LOADER_IDLE;
    s->batch = -1;
    /* A slot is free again and so is a place ahead: one worker may go on. */
    l->position++;
#if LOADER_THREADS
    if (l->nworkers) pthread_cond_signal(&l->work);
#endif
    loader_unlock(l->core);
    return true;
}

/* The next batch. A spare buffer is taken first, so that handing out cannot fail half way. */
static bool loader_next(tn_loader *l, tn_batch *batch, const char *file, int line) {
    loader_buffer *spare;
    loader_slot *s;
    if (!l->running && !loader_begin(l)) return false;
    /* The end of an epoch: false without an error. */
    if (l->position >= l->batches) {
        loader_quiet(l);
        loader_exhaust(l);
        return false;
    }
    /* The last batch is short. */
    if (l->position + 1 == l->batches && loader_items(l, l->position) < l->batch_size &&
        !loader_exhaust(l))
        return false;
    spare = loader_buffer_take(l->core);
    if (!spare) return false;
    s = loader_await(l);
    if (s->state == LOADER_READY && loader_hand_out(l, s, spare, batch, file, line)) return true;
    loader_buffer_drop(spare);
    /* The worker's error is reported here, in the caller's thread, and ends the epoch. */
    if (s->state == LOADER_FAILED) {
        tni_nn_error(s->code, "%s", s->text);
        loader_quiet(l);
    }
    return false;
}

TN_API bool tn_loader_next_at(const char *file, int line, tn_loader *l, tn_batch *batch) {
    tni_step step;
    bool ok;
    if (batch) memset(batch, 0, sizeof *batch);
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, "");
    /* Before any lock: in a child of fork it may be held for ever. */
    if (l) loader_forked(l);
    ok = l && batch ? loader_next(l, batch, file, line)
                    : tni_nn_error(TN_INVALID, "loader or batch is NULL");
    if (!ok && batch) memset(batch, 0, sizeof *batch);
    tni_step_end(&step);
    return ok;
}

TN_API void tn_loader_stop(tn_loader *l) {
    if (!l) return;
    loader_forked(l);
    loader_quiet(l);
}

/* --- making and freeing ----------------------------------------------------------------------- */

TN_API int64_t tn_loader_batches(const tn_loader *l) { return l ? l->batches : 0; }
TN_API tn_dataset *tn_loader_dataset(const tn_loader *l) { return l ? l->dataset : NULL; }
TN_API tn_generator *tn_loader_generator(const tn_loader *l) { return l ? l->generator : NULL; }

/* Arguments with bounds that keep all counts of slots within an int32_t. */
static bool loader_check(const tn_loader_args *a) {
    if (!a || !a->dataset) return tni_nn_error(TN_INVALID, "dataset is NULL");
    if (a->batch_size < 1) return tni_nn_error(TN_INVALID, "batch_size must be positive");
    if (a->workers < 0 || a->workers > LOADER_WORKERS)
        return tni_nn_error(TN_INVALID, "workers: expected 0 to %d", LOADER_WORKERS);
    if (a->workers && (a->prefetch < 1 || a->prefetch > 1024))
        return tni_nn_error(TN_INVALID, "prefetch: 1 to 1024");
    return true;
}

#if LOADER_THREADS
/* Starts the workers; those that did start are counted. */
static bool loader_start(tn_loader *l, int32_t workers) {
    l->thread = (pthread_t *)tn_alloc((size_t)workers * sizeof *l->thread);
    if (!l->thread) return false;
    l->threads_room = workers;
    for (int32_t i = 0; i < workers; i++, l->nworkers++)
        if (pthread_create(&l->thread[i], NULL, loader_worker, l) != 0)
            return tni_nn_error(TN_MEMORY, "cannot start a worker thread");
    return true;
}
/* Wakes all workers to see that they are to end. */
static void loader_join(tn_loader *l) {
    pthread_mutex_lock(&l->core->lock);
    l->quit = true;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->core->lock);
    for (int32_t i = 0; i < l->nworkers; i++) pthread_join(l->thread[i], NULL);
    if (l->thread) tn_alloc_free(l->thread, (size_t)l->threads_room * sizeof *l->thread);
}
#endif

TN_API void tn_loader_free(tn_loader *l) {
    bool last;
    if (!l || !tn_context_exists()) return;
    tn_ending_remove(&l->ending);
    loader_forked(l);
    loader_quiet(l);
#if LOADER_THREADS
    /* Workers end before what they use is freed. */
    loader_join(l);
    pthread_cond_destroy(&l->work);
    pthread_cond_destroy(&l->ready);
#endif
    /* Buffers whose tensors live on come back later; the last one frees the core. */
    for (int32_t i = 0; l->slot && i < l->nslots; i++)
        if (l->slot[i].buffer) loader_buffer_drop(l->slot[i].buffer);
    if (l->slot) tn_alloc_free(l->slot, (size_t)l->nslots * sizeof *l->slot);
    if (l->order) tn_alloc_free(l->order, (size_t)(l->dataset->size + 1) * sizeof *l->order);
    loader_lock(l->core);
    l->core->closed = true;
    last = l->core->out == 0;
    loader_unlock(l->core);
    if (last) loader_core_free(l->core);
    tn_dataset_free(l->dataset);
    tn_alloc_free(l, sizeof *l);
}

static void loader_end(tn_ending *e) { tn_loader_free((tn_loader *)(void *)e); }

/* The struct and its core; takes the data set when it succeeds. */
static tn_loader *loader_new(const tn_loader_args *a) {
    tn_loader *l = (tn_loader *)tn_alloc(sizeof *l);
    loader_core *c = l ? (loader_core *)tn_alloc(sizeof *c) : NULL;
    if (!c) {
        if (l) tn_alloc_free(l, sizeof *l);
        return NULL;
    }
    memset(l, 0, sizeof *l);
    memset(c, 0, sizeof *c);
#if LOADER_THREADS
    if (!loader_register(c)) tni_nn_error(TN_MEMORY, "cannot register a fork handler");
    l->forks = loader_forks;
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->ready, NULL);
#endif
    /* From here on tn_loader_free can free the loader, whatever is missing. */
    l->core = c;
    l->ending.end = loader_end;
    tn_ending_add(&l->ending);
    l->dataset = a->dataset;
    l->generator = a->generator;
    l->context = tn_context_current();
    l->batch_size = a->batch_size;
    l->shuffle = a->shuffle;
    /* Rounded up, or down where a short last batch is dropped. */
    l->batches =
        a->dataset->size / a->batch_size + (!a->drop_last && a->dataset->size % a->batch_size != 0);
    return l;
}

/* Slots, order and workers. What was made is freed by tn_loader_free if this fails. */
static bool loader_fit_out(tn_loader *l, const tn_loader_args *a) {
    /* Without threads the loader fills one slot in the caller's thread. */
    int32_t workers = LOADER_THREADS ? a->workers : 0;
    int32_t nslots = workers ? workers * a->prefetch : 1;
    if (!loader_layout(l->core, l->dataset, l->batch_size)) return false;
    if (l->dataset->size > PTRDIFF_MAX / 64)
        return tni_nn_error(TN_MEMORY, "the data set is too large (expected at most 2^57 items)");
    l->slot = (loader_slot *)tn_alloc((size_t)nslots * sizeof *l->slot);
    if (!l->slot) return false;
    memset(l->slot, 0, (size_t)nslots * sizeof *l->slot);
    l->nslots = nslots;
    if (l->shuffle)
        l->order = (int64_t *)tn_alloc((size_t)(l->dataset->size + 1) * sizeof *l->order);
    if (l->shuffle && !l->order) return false;
#if LOADER_THREADS
    /* Threads last: they use all that was made before. */
    if (workers && !loader_start(l, workers)) return false;
#endif
    return true;
}

TN_API tn_loader *tn_loader_new_at(const char *file, int line, const tn_loader_args *args) {
    tn_loader *l = NULL;
    tni_step step;
    tni_step_begin(&step, file, line, "");
    if (tn_ok() && loader_check(args)) l = loader_new(args);
    /* The data set is taken over in any case. */
    if (!l)
        tn_dataset_free(args ? args->dataset : NULL);
    else if (!tn_ok() || !loader_fit_out(l, args)) {
        tn_loader_free(l);
        l = NULL;
    }
    tni_step_end(&step);
    return l;
}
