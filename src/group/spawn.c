/* spawn.c - a function of the program, run in several ranks that are threads. */
#include "group.h"
#include "../tensor/tensor.h"

#if TNI_THREADS
#include "../base/sync.h"

typedef struct spawn_call {
    tn_context *context;
    tn_group *place;
    tn_group_body body;
    void *user;
    uint32_t lock;  /* of what follows */
    int32_t failed; /* the first rank with an error; -1: none */
    tn_code code;
    char text[TNI_ERROR_TEXT];
} spawn_call;
typedef struct spawn_task {
    spawn_call *of;
    int32_t rank;
    tni_thread thread;
} spawn_task;

/* What rank r leaves is the error of all if it is the first. */
static void spawn_report(spawn_call *s, int32_t r) {
    tn_error_info e;
    const bool any = tn_error_take(&e);
    tni_lock(&s->lock);
    if (s->failed < 0) {
        s->failed = r;
        s->code = any ? e.code : TN_INTERNAL;
        if (any && e.file)
            snprintf(s->text, sizeof s->text, "%s:%d: %s", e.file, e.line, e.message);
        else
            snprintf(s->text, sizeof s->text, "%s", any ? e.message : "it returned false");
    }
    tni_unlock(&s->lock);
}

static void spawn_run(spawn_call *s, int32_t rank) {
    tn_generator *own;
    tn_group *g;
    int64_t mark;
    bool ok;
    tn_context_use(s->context);
    g = tn_group_join_at(NULL, 0, s->place, rank);
    tn_group_use(g);
    own = tn_generator_new(TNI_DEFAULT_SEED);
    tn_set_default_generator(own);
    mark = tn_scope_begin_at(NULL, 0);
    ok = g && own && mark >= 0 && s->body(rank, s->user);
    if (!ok || !tn_ok()) spawn_report(s, rank);
    tn_scope_end(mark);
    tn_group_free(g);
    tn_generator_free(own);
    tn_context_use(NULL);
}
TNI_THREAD_MAIN(spawn_main, task) {
    spawn_task *t = (spawn_task *)task;
    spawn_run(t->of, t->rank);
    return 0;
}

/* Starts the ranks and waits for all. */
static bool spawn_all(tni_block *b, spawn_call *s, spawn_task *task, int32_t ranks) {
    int32_t started = 0;
    for (; started < ranks; started++) {
        task[started].of = s;
        task[started].rank = started;
        if (!tni_thread_start(&task[started].thread, spawn_main, &task[started])) break;
    }
    if (started < ranks) /* the others would wait for it */
        tni_threads_over(s->place, "the system has refused a thread");
    for (int32_t r = 0; r < started; r++) tni_thread_join(task[r].thread);
    if (started < ranks)
        return tni_error(b, TN_UNSUPPORTED, "the system has refused thread %d of %d", (int)started,
                         (int)ranks);
    return s->failed < 0 || tni_error(b, s->code, "rank %d: %s", (int)s->failed, s->text);
}

static bool spawn_ranks(tni_block *b, int32_t ranks, tn_group_body body, void *user) {
    spawn_call s;
    spawn_task *task;
    const int64_t bytes = ranks * (int64_t)sizeof *task;
    bool ok;
    memset(&s, 0, sizeof s);
    s.context = b->context;
    s.body = body;
    s.user = user;
    s.failed = -1;
    if (!(s.place = tni_threads_place(b, ranks, "tn_group_spawn"))) return false;
    task = (spawn_task *)tni_need(b, bytes);
    ok = task && spawn_all(b, &s, task, ranks);
    if (task) tni_put(b, b, task, bytes);
    tn_group_free(s.place);
    return ok;
}

TN_API bool tn_group_spawn_at(const char *file, int line, int32_t ranks, tn_group_body body,
                              void *user) {
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return false;
    if (!body) return tni_leave(b, tni_error(b, TN_INVALID, "tn_group_spawn: expected a function"));
    return tni_leave(b, spawn_ranks(b, ranks, body, user));
}
#else
TN_API bool tn_group_spawn_at(const char *file, int line, int32_t ranks, tn_group_body body,
                              void *user) {
    tni_block *b = tni_here();
    (void)ranks, (void)body, (void)user;
    return tni_enter(b, file, line) &&
           tni_leave(b, tni_error(b, TN_UNSUPPORTED, "this build has no threads"));
}
#endif
