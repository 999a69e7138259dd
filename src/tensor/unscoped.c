/* unscoped.c - a loop without TN_SCOPE: its tensors stay until memory runs out, and nothing fails
 * before. A thread that makes a header of new memory, not of one that was freed, has more tensors
 * alive than ever; only then the count is compared, and only near the bound the list of those that
 * no scope holds is walked. So calls pay nothing for it. */
#include "tensor.h"

enum { UNSCOPED_DEFAULT = 100000, UNSCOPED_WORTH_SAYING = 1000 };
#define UNSCOPED_BYTES ((int64_t)4 << 30) /* in use: a tenth of the tensors is enough */

static int64_t unscoped_count(const tni_block *b) {
    int64_t n = 0;
    for (const tn_tensor *t = tni_state(b)->scope[0]; t; t = t->next) n++;
    return n;
}

/* "1000 tensors outside of TN_SCOPE are alive, the last made at game.c:28: a loop .." */
static const char *unscoped_text(char *text, size_t room, const tni_block *b, int64_t n) {
    const tn_tensor *last = tni_state(b)->scope[0]; /* the newest */
    char place[TNI_WARNING_TEXT / 2];
    place[0] = 0;
    if (last && last->file)
        snprintf(place, sizeof place, ", the last made at %s:%d", last->file,
                 tni_line(b, last->file, last->line));
    snprintf(text, room, "%lld tensors outside of TN_SCOPE are alive%s: a loop without TN_SCOPE?",
             (long long)n, place);
    return text;
}

/* From how many tensors on the context warns; 0: never. */
static int64_t unscoped_bound(tn_context *c) {
    const int64_t set = (int64_t)tni_load_relaxed(&tni_tensors(c)->unscoped);
    return set < 0 ? 0 : set ? set : (int64_t)UNSCOPED_DEFAULT;
}

TN_PRIV void tni_unscoped_look(tni_block *b) {
    tni_tensor_block *s = tni_state(b);
    tn_context *c = b->context;
    const int64_t bound = unscoped_bound(c), live = b->live_count;
    const int64_t step = bound / 100 + 1, tenth = bound / 10 + 1;
    char text[TNI_WARNING_TEXT];
    int64_t enough = bound, n;
    uint32_t untold = 0;
    /* Looked at again when so many more are alive that a bound could be reached. */
    if (!bound || tni_load_relaxed(&tni_tensors(c)->unscoped_told)) {
        s->unscoped_look = live + UNSCOPED_DEFAULT;
        return;
    }
    if (live >= tenth && tni_memory_used(c) >= UNSCOPED_BYTES) enough = tenth;
    n = live < enough ? 0 : unscoped_count(b);
    if (n < enough) {
        /* Not before the bound can be reached. After a walk not at once either, and before it is
         * reached a few times, as more bytes may be in use by then. */
        const int64_t missing = enough - (n ? n : live);
        s->unscoped_look = live + (n && missing < step ? step : missing < tenth ? missing : tenth);
        return;
    }
    s->unscoped_look = live + UNSCOPED_DEFAULT;
    /* Once, whichever thread comes first. */
    if (!tni_swap_if(&tni_tensors(c)->unscoped_told, &untold, 1u)) return;
    tni_warning(b, "%s", unscoped_text(text, sizeof text, b, n));
}

TN_PRIV void tni_unscoped_explain(tni_block *b) {
    const int64_t n = unscoped_bound(b->context) ? unscoped_count(b) : 0;
    char text[TNI_WARNING_TEXT];
    if (n < UNSCOPED_WORTH_SAYING) return;
    tni_error_more(b, "; %s", unscoped_text(text, sizeof text, b, n));
}

TN_API void tn_set_unscoped_warning(int64_t tensors) {
    tni_block *b = tni_here();
    if (!b) return;
    tni_store(&tni_tensors(b->context)->unscoped, (uint64_t)(tensors < 0 ? -1 : tensors));
    tni_store(&tni_tensors(b->context)->unscoped_told, 0u);
    tni_state(b)->unscoped_look = 0;
}
