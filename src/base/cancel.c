/* cancel.c - requests to stop: made from any thread or a signal handler, put off while what must
 * happen as a whole is under way. Who polls them is thread.c and the loops. */
#include "base.h"

TN_API void tn_cancel(tn_context *context) {
    tn_context *c = context ? context : tni_context_known();
    if (c) tni_store(&c->cancel, 1u);
}

TN_API void tn_cancel_clear(tn_context *context) {
    tn_context *c = context ? context : tni_context_known();
    if (c) tni_store(&c->cancel, 0u);
}

TN_API bool tn_whole_begin(void) {
    tni_block *b = tni_here();
    if (!b || b->failed) return false;
    if (!b->unstopped && tni_stop_asked(b->context))
        return tni_error(b, TN_CANCELLED, "the call was cancelled");
    b->unstopped++;
    return true;
}
TN_API void tn_whole_end(void) {
    tni_block *b = tni_here();
    if (b && b->unstopped) b->unstopped--;
}
TN_API uint32_t tn_whole_pause(void) {
    tni_block *b = tni_here();
    const uint32_t paused = b ? b->unstopped : 0;
    if (b) b->unstopped = 0;
    return paused;
}
TN_API void tn_whole_resume(uint32_t paused) {
    tni_block *b = tni_here();
    if (b) b->unstopped = paused;
}
