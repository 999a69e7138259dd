/* context.c - contexts, and how a thread finds its block in one.
 *
 * What is process-wide stands here: the registry of live contexts, the default one, the epoch, a
 * thread key. All of it is gone when the last context is freed, so a library that is unloaded
 * then leaves nothing behind. A block has the token of the thread that uses it; a thread that
 * ends gives its tokens back (destructor of the key), and the next new thread adopts the block
 * with all memory in it. */
#include "base.h"

#if TNI_THREADS == 1
#include <pthread.h>
#elif TNI_THREADS == 2
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#endif

static uint32_t context_lock; /* guards what follows, and the lists of blocks with their tokens */
static tn_context *context_live; /* the registry, newest first */
static tn_context *context_default;
static uint64_t context_numbers; /* ids of contexts and tokens of threads given out */

/* --- the end of a thread ---------------------------------------------------------------------- */

/* The blocks of a thread, fiber or guest that ends are free for adoption. */
static void context_token_ends(uint64_t token) {
    if (!token) return;
    tni_lock(&context_lock);
    for (tn_context *c = context_live; c; c = c->next)
        for (tni_block *b = c->blocks; b; b = b->next)
            if (b->token == token) b->token = 0;
    tni_unlock(&context_lock);
}

#if TNI_THREADS
/* The value of the key is the token: not NULL. A thread that still calls the library afterwards,
 * from a later destructor, attaches anew. */
static void context_thread_ends(uintptr_t token) {
    context_token_ends(token);
    if (tni_this_thread.token == token) {
        tni_this_thread.epoch = 0;
        tni_this_thread.block = NULL;
    }
}
#endif

#if TNI_THREADS == 1
static pthread_key_t context_key;
static bool context_has_key;
static void context_destructor(void *token) { context_thread_ends((uintptr_t)token); }
static void context_key_make(void) {
    if (!context_has_key)
        context_has_key = pthread_key_create(&context_key, context_destructor) == 0;
}
static void context_key_set(uint64_t token) {
    if (context_has_key) pthread_setspecific(context_key, (void *)(uintptr_t)token);
}
static void context_key_free(void) {
    if (context_has_key) pthread_key_delete(context_key);
    context_has_key = false;
}
#elif TNI_THREADS == 2
static DWORD context_key;
static bool context_has_key;
static void WINAPI context_destructor(void *token) {
    if (token) context_thread_ends((uintptr_t)token);
}
static void context_key_make(void) {
    if (!context_has_key)
        context_has_key = (context_key = FlsAlloc(context_destructor)) != FLS_OUT_OF_INDEXES;
}
static void context_key_set(uint64_t token) {
    if (context_has_key) FlsSetValue(context_key, (void *)(uintptr_t)token);
}
static void context_key_free(void) { /* it calls the destructor, which finds no context */
    if (context_has_key) FlsFree(context_key);
    context_has_key = false;
}
#else
static void context_key_make(void) {}
static void context_key_set(uint64_t token) { (void)token; }
static void context_key_free(void) {}
#endif

/* --- making a context ------------------------------------------------------------------------- */

/* Why a context is not made: out of memory, or one of these. */
static const tn_error_info context_refusals[] = {
    {TN_UNSUPPORTED, "options.isa: this CPU cannot run that instruction set", NULL, 0},
    {TN_UNSUPPORTED, "options.isa: that instruction set is not in this build", NULL, 0},
    {TN_UNSUPPORTED, "TN_ISA: this CPU cannot run that instruction set", NULL, 0},
    {TN_UNSUPPORTED, "TN_ISA: that instruction set is not in this build", NULL, 0},
    {TN_UNSUPPORTED, "this build has kernels for AVX2 only, which this CPU cannot run", NULL, 0}};

/* Chooses the instruction set; why there is none, or NULL. */
static const tn_error_info *context_isa_refused(tn_context *c) {
    const char *name = c->options.isa, *set = getenv("TN_ISA");
    c->isa = tni_isa_pick(name);
    if (c->isa >= 0) return NULL;
    if (!name && !(set && *set)) return &context_refusals[4];
    return &context_refusals[(name ? 0 : 2) + tni_isa_left_out(name)];
}

/* The context's own memory, back to the allocator that it came from. */
static void context_put(tn_context *c) {
    const size_t bytes = (size_t)tni_rooms_above()->context_bytes;
    c->options.allocator.free(c, bytes, c->options.allocator.user);
}

/* Blocks with their slabs, large blocks, then the context itself: nobody uses it any more. */
static void context_free_memory(tn_context *c) {
    while (c->blocks) {
        tni_block *b = c->blocks;
        c->blocks = b->next;
        tni_memory_leave_block(b);
        tni_raw_put(c, b, tni_rooms_above()->block_bytes);
    }
    tni_memory_end(c);
    context_put(c);
}

/* Unlinks e; under the lock. */
static void context_unlink(tn_ending *e) {
    tn_context *c = e->context;
    if (e->newer)
        e->newer->older = e->older;
    else
        c->ending = e->older;
    if (e->older) e->older->newer = e->newer;
    e->context = NULL;
}

/* A child of fork may take the lock over half way through a change: see storage_lock. */
static void context_lock_endings(tn_context *c) {
    if (TNI_LIKELY(!tni_lock_repair(&c->ending_lock))) return;
    tn_ending *before = NULL;
    for (tn_ending *e = c->ending; e; before = e, e = e->older) e->newer = before;
}

/* Newest first, each without the lock, for an ending may add or remove others. */
static void context_call_endings(tn_context *c) {
    for (;;) {
        context_lock_endings(c);
        tn_ending *e = c->ending;
        if (e) context_unlink(e);
        tni_unlock(&c->ending_lock);
        if (!e) return;
        e->end(e);
    }
}

/* What was registered to be called at the end, in the order that unwinds: endings, rooms above
 * base, threads. */
static void context_leave(tn_context *c) {
    context_call_endings(c);
    while (c->nleave) c->leave[--c->nleave](c);
    tni_pool_free(c);
}

/* A context that no thread sees yet; NULL without memory, or for the reason given. */
static tn_context *context_make(const tn_context_options *options, const tn_error_info **reason) {
    /* The context's own memory already comes from the allocator of the options. */
    tn_context_options o;
    memset(&o, 0, sizeof o);
    if (options) o = *options;
    *reason = NULL;
    const size_t bytes = (size_t)tni_rooms_above()->context_bytes;
    tn_context *c = o.allocator.alloc ? (tn_context *)o.allocator.alloc(bytes, o.allocator.user)
                                      : (tn_context *)malloc(bytes);
    if (!c) return NULL;
    memset(c, 0, bytes);
    c->options = o;
    c->token_ends = context_token_ends;
    if (!tni_memory_begin(c)) { /* has set the allocator */
        context_put(c);
        return NULL;
    }
    tni_files_fill(&c->options.files);
    /* Threads that work at one operator: the host's, none but the caller, those asked for and the
     * caller, or one for each core. */
    c->threads = o.jobs.run      ? o.jobs.threads
                 : o.threads < 0 ? 1
                 : o.threads > 0 ? o.threads + 1
                                 : tni_cores();
    if (c->threads < 1) c->threads = 1;
    /* The rooms above base complete it; what they began is ended again if they cannot. */
    *reason = context_isa_refused(c);
    if (*reason || !tni_rooms_above()->ready(c)) {
        context_leave(c);
        context_free_memory(c);
        return NULL;
    }
    return c;
}

static void context_register(tn_context *c) { /* under the lock */
    context_key_make();
    c->id = ++context_numbers;
    c->next = context_live;
    tni_store(&context_live, c);
}

static bool context_is_live(const tn_context *c) { /* under the lock */
    const tn_context *at = context_live;
    while (at && at != c) at = at->next;
    return at != NULL;
}

TN_API tn_context *tn_context_new(const tn_context_options *options) {
    const tn_error_info *reason;
    tn_context *c = context_make(options, &reason);
    /* Linked only when it is complete. A refusal becomes an error in the caller's
     * current context. */
    if (c) {
        tni_lock(&context_lock);
        context_register(c);
        tni_unlock(&context_lock);
    } else if (reason) {
        tni_block *b = tni_here();
        if (!b) return NULL;
        tni_place_unknown(b);
        tni_error(b, reason->code, "tn_context_new: %s", reason->message);
        tni_error_tell(b);
    }
    return c;
}

/* The default context, made when there is none. */
static tn_context *context_of_default(void) {
    tni_lock(&context_lock);
    tn_context *c = context_default;
    tni_unlock(&context_lock);
    if (c) return c;
    const tn_error_info *reason;
    /* Made without the lock, which the allocator and handlers may not be called under; so two
     * threads may make one each, and the second gives its back. */
    tn_context *made = context_make(NULL, &reason);
    tni_error_without_context(reason);
    if (!made) return NULL;
    tni_lock(&context_lock);
    c = context_default;
    if (!c) {
        context_register(made);
        tni_store(&context_default, made);
        c = made;
        made = NULL;
    }
    tni_unlock(&context_lock);
    /* Another thread was first: its context is the default one. */
    if (made) {
        context_leave(made);
        context_free_memory(made);
    }
    return c;
}

/* --- finding the block ------------------------------------------------------------------------ */

/* A block of c that belongs to nobody, or this thread's own one. */
static tni_block *context_find_block(tn_context *c, uint64_t token) { /* under the lock */
    tni_block *unused = NULL;
    for (tni_block *b = c->blocks; b; b = b->next) {
        if (b->token == token) return b;
        if (!b->token) unused = b;
    }
    return unused;
}

static tni_block *context_new_block(tn_context *c) {
    /* Behind base's part a block has those of the rooms above, all zero at first. */
    const int64_t bytes = tni_rooms_above()->block_bytes;
    tni_block *b = (tni_block *)tni_raw_get(c, bytes);
    if (!b) return NULL;
    memset(b, 0, (size_t)bytes);
    b->context = c;
    b->binned = !c->options.no_cache;
    return b;
}

/* What a thread that has ended left behind: its error is reported, its calls and modes are over,
 * its tensors stay but for those in scopes. The profiler's hook belongs to the context. */
static void context_adopt(tni_block *b) {
    b->work = NULL;
    b->quiet = 0;
    b->unstopped = 0;
    b->no_alloc = false;
    b->place_file = NULL;
    b->place_hold = 0;
    b->path = NULL;
    b->group = NULL;
    b->autocast = b->autocast_device = 0;
    tni_hook_set(b, TNI_HOOK_RECORD | TNI_HOOK_CAST, false);
    tni_rooms_above()->adopt(b);
    tni_error_leave(b);
}

TN_PRIV void tni_context_hook(tn_context *c, uint32_t hook, bool on) {
    tni_lock(&context_lock);
    c->hooks = on ? c->hooks | hook : c->hooks & ~hook;
    for (tni_block *b = c->blocks; b; b = b->next) tni_hook_set(b, hook, on);
    tni_unlock(&context_lock);
}

/* The context that the thread has chosen, if it lives; NULL: the default one. */
static tn_context *context_chosen(void) { /* under the lock */
    tn_context *c = tni_this_thread.context;
    if (c && context_is_live(c) && c->id == tni_this_thread.context_id) return c;
    return tni_this_thread.context = NULL;
}

static bool context_attach(tn_context *c, tni_block *fresh,
                           bool *adopted) { /* under the lock; false: needs a fresh one */
    /* Its own block, or one whose thread has ended, or the fresh one. */
    tni_tls *t = &tni_this_thread;
    if (!t->token) t->token = ++context_numbers;
    tni_block *b = context_find_block(c, t->token);
    if (!b && fresh) {
        b = fresh;
        tni_store_relaxed(&b->hooks, c->hooks);
        b->token = t->token;
        b->next = c->blocks;
        tni_store(&c->blocks, b);
    }
    if (!b) return false;
    /* The thread remembers block and epoch: tni_here compares the epoch and needs no lock. */
    *adopted = b->token == 0;
    b->token = t->token;
    t->block = b;
    t->epoch = tni_load(&tni_epoch);
    if (!t->guest) context_key_set(t->token);
    return true;
}

TN_PRIV tni_block *tni_here_slow(void) {
    tni_this_thread.block = NULL;
    tni_block *fresh = NULL;
    for (;;) { /* the second time with a block of its own */
        bool done = false, adopted = false;
        tni_lock(&context_lock);
        tn_context *c = context_chosen();
        if (!c) c = context_default;
        if (c && (!fresh || fresh->context == c)) done = context_attach(c, fresh, &adopted);
        tni_unlock(&context_lock);
        /* A fresh block that another one made needless goes back. */
        if (done) {
            if (fresh && fresh != tni_this_thread.block)
                tni_raw_put(c, fresh, tni_rooms_above()->block_bytes);
            if (adopted) context_adopt(tni_this_thread.block);
            return tni_this_thread.block;
        }
        if (!c) c = context_of_default();
        if (!c || fresh || !(fresh = context_new_block(c))) return NULL;
    }
}

TN_API tn_context *tn_context_current(void) {
    tni_block *b = tni_here();
    return b ? b->context : NULL;
}

TN_API tn_context *tn_context_use(tn_context *context) {
    tni_lock(&context_lock);
    tn_context *before = context_chosen();
    /* The default context needs no choice, and an ended context cannot be chosen. */
    bool live = context && context != context_default && context_is_live(context);
    tni_this_thread.context = live ? context : NULL;
    tni_this_thread.context_id = live ? context->id : 0;
    tni_unlock(&context_lock);
    tni_this_thread.epoch = 0; /* the next call looks for the block */
    tni_this_thread.block = NULL;
    return before;
}

/* --- fibers ----------------------------------------------------------------------------------- */

TN_API tn_fiber *tn_fiber_current(void) { return tni_this_thread.fiber; }

TN_API bool tn_fiber_use(tn_fiber *fiber) {
    tn_fiber *now = tni_this_thread.fiber;
    if (fiber == now) return true;
    uint32_t none = 0;
    if (fiber && !tni_swap_if(&fiber->running, &none, 1u))
        return tni_error_apart(tni_here(), TN_INVALID,
                               "tn_fiber_use: another thread runs as this fiber");
    /* The thread's own state waits in the fiber that it runs as. */
    tni_tls thread = now ? now->other : tni_this_thread;
    if (now) {
        now->other = tni_this_thread;
        tni_store(&now->running, 0u);
    }
    if (!fiber) {
        tni_this_thread = thread;
        return true;
    }
    tni_this_thread = fiber->other;
    tni_this_thread.guest = true;
    tni_this_thread.fiber = fiber;
    fiber->other = thread;
    return true;
}

TN_API bool tn_fiber_end(tn_fiber *fiber) {
    if (!fiber) return true;
    if (tni_this_thread.fiber == fiber) tn_fiber_use(NULL);
    if (tni_load(&fiber->running))
        return tni_error_apart(tni_here(), TN_INVALID,
                               "tn_fiber_end: another thread runs as this fiber");
    context_token_ends(fiber->other.token);
    memset(fiber, 0, sizeof *fiber);
    return true;
}

/* --- the end of a context --------------------------------------------------------------------- */

TN_PRIV void tni_context_at_end(tn_context *c, void (*leave)(tn_context *)) {
    const int room = (int)(sizeof c->leave / sizeof *c->leave);
    tni_lock(&c->lock);
    bool known = false;
    for (int i = 0; i < c->nleave; i++) known = known || c->leave[i] == leave;
    if (!known && c->nleave < room) {
        c->leave[c->nleave] = leave;
        tni_store(&c->nleave, c->nleave + 1); /* a child of fork may see us half way */
    }
    tni_unlock(&c->lock);
}

TN_API bool tn_ending_add(tn_ending *e) {
    tni_block *b = tni_here();
    if (!b) return false;
    /* Under a lock of its own: endings come and go with tensors' owners, in any thread. */
    tn_context *c = e->context = b->context;
    e->newer = NULL;
    context_lock_endings(c);
    e->older = c->ending;
    if (e->older) e->older->newer = e;
    tni_store(&c->ending, e);
    tni_unlock(&c->ending_lock);
    return true;
}

TN_API void tn_ending_remove(tn_ending *e) {
    tn_context *c = e->context;
    if (!c) return;
    context_lock_endings(c);
    context_unlink(e);
    tni_unlock(&c->ending_lock);
}

TN_API void tn_context_free(tn_context *context) {
    tni_lock(&context_lock);
    tn_context *c = context ? context : context_default;
    bool live = c && context_is_live(c);
    tni_unlock(&context_lock);
    if (!live) return;
    /* Functions called at the end may use the library: this thread is attached to the
     * context meanwhile. */
    tn_context *before = tn_context_use(c);
    context_call_endings(c); /* first: loaders have threads, whose blocks are read below */
    tn_context_use(before);
    for (tni_block *b = c->blocks; b; b = b->next)
        tni_error_tell(b); /* may jump: nothing else has changed yet */
    tn_context_use(c);
    context_leave(c);
    tn_context_use(before == c ? NULL : before);
    tni_lock(&context_lock);
    /* Out of the registry; a new epoch makes all threads look for their block again. */
    tn_context **at = &context_live;
    while (*at && *at != c) at = &(*at)->next;
    if (*at) tni_store(at, c->next);
    if (context_default == c) tni_store(&context_default, (tn_context *)NULL);
    uint32_t epoch = tni_load(&tni_epoch) + 1;
    tni_store(&tni_epoch, epoch ? epoch : 1); /* 0: a thread that has no block */
    bool last = !context_live;
    tni_unlock(&context_lock);
    if (last) context_key_free();
    context_free_memory(c);
}

TN_PRIV bool tni_context_any(void) { return tni_load(&context_live) != NULL; }
TN_API bool tn_context_exists(void) { return tni_context_any(); }

TN_PRIV tn_context *tni_context_known(void) {
    const tni_tls *t = &tni_this_thread;
    if (t->block && t->epoch == tni_load_relaxed(&tni_epoch)) return t->block->context;
    /* A call in progress keeps its context alive. */
    return t->own && t->own->block ? t->own->block->context : tni_load(&context_default);
}
