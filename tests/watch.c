/* watch.c - after a public call that has failed the thread is as before it: scopes, modes, what may
 * be stopped, who holds the place of errors, the chain of modules, the call in progress, recording;
 * and no memory has stayed: neither bytes in use nor tensors alive are more than before the call
 * that the program has made (what calls inside of it leave is that one's to give back).
 *
 * No program calls this. The library of the sanitizers is compiled with -finstrument-functions
 * (tests/shared.sh), so that every function of it tells here that it begins and ends, and each of
 * its public ones (watched.inc, from its symbols) is compared; a difference ends the program.
 * TN_WATCH=FILE: the number of failed calls that were compared is added to FILE.
 * TN_TEXTS=FILE: the texts of their errors, too, with the function that the program called, for
 * tests/errors/texts.c. */
#include "../src/call/call.h"

#include <fcntl.h>
#include <unistd.h>

#ifndef TNI_OBJECTS
#error "for the library as objects"
#endif
#pragma GCC diagnostic ignored "-Wframe-address" /* the caller has one: shared.sh sees to that */
#define WATCH_OFF __attribute__((no_instrument_function))
void __cyg_profile_func_enter(void *function, void *from) WATCH_OFF;
void __cyg_profile_func_exit(void *function, void *from) WATCH_OFF;

/* --- public functions by address -------------------------------------------------------------- */

/* Weak: what a program does not use is not pulled from the library. */
#define WATCHED(name) extern char watch_of_##name[] __asm__(#name) __attribute__((weak));
#include "watched.inc"
#undef WATCHED
static const struct watch_public {
    const char *at, *name;
} watch_publics[] = {
#define WATCHED(name) {watch_of_##name, #name},
#include "watched.inc"
#undef WATCHED
    {NULL, NULL}};
enum { WATCH_SLOTS = 1 << 14, WATCH_DEEP = 64 };
static struct {
    const void *at;
    const char *name;
} watch_table[WATCH_SLOTS];
static long watch_failures;
static int watch_texts = -1; /* file */

static size_t WATCH_OFF watch_slot(const void *at) {
    size_t i = (size_t)((uintptr_t)at * 0x9e3779b97f4a7c15u >> 50);
    while (watch_table[i].at && watch_table[i].at != at) i = (i + 1) % WATCH_SLOTS;
    return i;
}
static void WATCH_OFF __attribute__((constructor)) watch_begin(void) {
    const char *texts = getenv("TN_TEXTS");
    if (texts) watch_texts = open(texts, O_WRONLY | O_CREAT | O_APPEND, 0666);
    for (size_t k = 0; k < sizeof watch_publics / sizeof *watch_publics; k++) {
        const void *at = watch_publics[k].at;
        const size_t i = watch_slot(at);
        if (!at) continue;
        watch_table[i].at = at;
        watch_table[i].name = watch_publics[k].name;
    }
}
static void WATCH_OFF __attribute__((destructor)) watch_end(void) {
    const char *path = getenv("TN_WATCH");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f) return;
    fprintf(f, "%ld\n", watch_failures);
    fclose(f);
}

/* --- what is compared ------------------------------------------------------------------------- */

enum { WATCH_MEMBERS = 12 };
static const char *const watch_members[WATCH_MEMBERS] = {
    "depth",     "floor",      "no_grad", "inference", "quiet", "frame",
    "recording", "place_hold", "path",    "unstopped", "stop",  "inside"};
typedef struct watch_state {
    uintptr_t member[WATCH_MEMBERS];
    int64_t bytes, tensors, nodes; /* bytes -1: not to be compared */
} watch_state;

/* tests/keep.h: not 0 while calls keep what they make though they fail. */
extern int watch_callbacks_keep __attribute__((weak));

/* Bytes in use, without what is made once for all calls: tables of scopes, the default generator.
 * -1 where another thread may move them, too. */
static int64_t WATCH_OFF watch_bytes(const tni_block *b) {
    const tn_context *c = b->context;
    const tni_block *k = __atomic_load_n(&c->blocks, __ATOMIC_ACQUIRE);
    if (&watch_callbacks_keep && watch_callbacks_keep) return -1;
    for (; k; k = k->next)
        if (k != b && __atomic_load_n(&k->token, __ATOMIC_RELAXED)) return -1;
    return __atomic_load_n(&c->used, __ATOMIC_RELAXED) -
           (int64_t)tni_state(b)->scope_room * (int64_t)sizeof *tni_state(b)->scope_more -
           (tni_tensors(c)->generator ? (int64_t)sizeof *tni_tensors(c)->generator : 0);
}

static watch_state WATCH_OFF watch_take(const tni_block *b) {
    watch_state s = {{tni_state(b)->depth, tni_state(b)->floor, tni_state(b)->no_grad,
                      tni_state(b)->inference, b->quiet, (uintptr_t)b->work,
                      (uintptr_t)tni_calls(b)->recording, b->place_hold, (uintptr_t)b->path,
                      b->unstopped, (uintptr_t)tni_this_thread.stop,
                      (uintptr_t)tni_this_thread.inside},
                     watch_bytes(b),
                     b->live_count,
                     (int64_t)tni_calls(b)->next_id};
    return s;
}

/* What these keep when they fail, something else gives back: a loader its buffers, which are for
 * the next batch; a module that is being made the table of its parts, a scaler that of its
 * optimizers. A training that breaks off, or a step of L-BFGS, whose closure is the user's, leaves
 * gradients and the optimizer's state. */
static const char *const watch_keepers[] = {
    "tn_loader_next_at", "tn_evaluate_at",       "tn_part_tensor_at", "tn_part_give_at",
    "tn_part_child_at",  "tn_scaler_unscale_at", "tn_scaler_step_at", NULL};
/* A view of a base that was written since gets its history from whoever asks first, and keeps it:
 * bytes are not compared where nodes were made. */
static bool WATCH_OFF watch_balance(const char *name, const watch_state *was,
                                    const watch_state *is) {
    bool keeps = is->nodes != was->nodes;
    for (int k = 0; watch_keepers[k]; k++) keeps = keeps || strcmp(name, watch_keepers[k]) == 0;
    if (was->bytes < 0 || is->bytes < 0) return true;
    if (!strcmp(name, "tn_train_at") || !strcmp(name, "tn_lbfgs_step_at")) return true;
    if (is->tensors <= was->tensors && (keeps || is->bytes <= was->bytes)) return true;
    fprintf(stderr, "FAILED %s has failed and kept %lld bytes and %lld tensors\n", name,
            (long long)(is->bytes - was->bytes), (long long)(is->tensors - was->tensors));
    return false;
}
static void WATCH_OFF watch_compare(const char *name, const watch_state *was, const tni_block *b,
                                    bool outermost) {
    const watch_state is = watch_take(b);
    /* a recording keeps what ran inside a call that failed until it ends */
    bool same = !outermost || tni_calls(b)->recording || watch_balance(name, was, &is);
    __atomic_fetch_add(&watch_failures, 1, __ATOMIC_RELAXED);
    for (int k = 0; k < WATCH_MEMBERS; k++)
        if (is.member[k] != was->member[k]) {
            fprintf(stderr, "FAILED %s has failed and left %s %#llx, which was %#llx before it\n",
                    name, watch_members[k], (unsigned long long)is.member[k],
                    (unsigned long long)was->member[k]);
            same = false;
        }
    if (same) return;
    fprintf(stderr, "  its error: %s\n", b->error_text);
    abort();
}

/* "function <tab> text", as one write: a row's child process may end at any moment. */
static void WATCH_OFF watch_tell(const char *name, const char *text) {
    char line[TNI_ERROR_TEXT + 200];
    size_t n = 0;
    ssize_t written;
    if (watch_texts < 0) return;
    n = (size_t)snprintf(line, 180, "%s\t", name);
    for (; *text && n < sizeof line - 4; text++) {
        if (*text == '\n') line[n++] = '\\';
        line[n++] = *text == '\n' ? 'n' : *text;
    }
    line[n++] = '\n';
    written = write(watch_texts, line, n);
    (void)written;
}

/* --- calls in progress ------------------------------------------------------------------------ */

/* By frame: a handler that leaves with longjmp never tells of the end. Public calls that are deeper
 * than WATCH_DEEP in each other are not compared. */
static TNI_THREAD_LOCAL struct {
    int n;
    struct watch_call {
        void *function;
        uintptr_t frame;
        tni_block *block; /* NULL: not to be compared */
        watch_state was;
    } call[WATCH_DEEP];
} watch;

static tni_block *WATCH_OFF watch_block(void) {
    return tni_this_thread.epoch == tni_load_relaxed(&tni_epoch) ? tni_this_thread.block : NULL;
}

void __cyg_profile_func_enter(void *function, void *from) {
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(1);
    struct watch_call *c;
    (void)from;
    if (!watch_table[watch_slot(function)].at) return;
    while (watch.n && (watch.call[watch.n - 1].frame < frame ||
                       (watch.call[watch.n - 1].frame == frame &&
                        watch.call[watch.n - 1].function == function)))
        watch.n--;
    if (watch.n == WATCH_DEEP) return;
    c = &watch.call[watch.n++];
    c->function = function;
    c->frame = frame;
    c->block = watch_block();
    if (c->block && c->block->failed) c->block = NULL;
    if (c->block) c->was = watch_take(c->block);
}

void __cyg_profile_func_exit(void *function, void *from) {
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(1);
    const size_t slot = watch_slot(function);
    int k = watch.n;
    (void)from;
    if (!watch_table[slot].at) return;
    while (k && (watch.call[k - 1].function != function || watch.call[k - 1].frame > frame)) k--;
    if (!k) return;
    watch.n = k - 1;
    tni_block *b = watch.call[k - 1].block;
    if (!b || b != watch_block() || !b->failed) return;
    watch_compare(watch_table[slot].name, &watch.call[k - 1].was, b, k == 1);
    if (k == 1) watch_tell(watch_table[slot].name, b->error_text);
}
