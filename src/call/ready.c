/* ready.c - what the rooms up to this one add to a context that base has made: kernels of its
 * instruction set, what closes when a thread ends, what is freed at its own end. */
#include "../kernels/kernels.h"
#include "call.h"

/* What a thread that has ended left open: its modes, its scopes, its recording. Its other
 * tensors stay. */
static void ready_adopt(tni_block *b) {
    tni_state(b)->device = 0;
    if (tni_state(b)->streams) memset(tni_state(b)->streams, 0, sizeof *tni_state(b)->streams);
    tni_state(b)->generator = NULL;
    tni_state(b)->no_grad = 0;
    tni_state(b)->inference = 0;
    tni_state(b)->floor = 0;
    if (tni_calls(b)->casts_drop) tni_calls(b)->casts_drop(b);
    tni_calls(b)->casts_off = false;
    if (tni_calls(b)->saved_close) tni_calls(b)->saved_close(b);
    tni_end(b, 0);
    tni_record_drop(b);
}

static bool ready_context(tn_context *c) {
    c->kernels = tni_kernels_of(c->isa);
    tni_tensors(c)->default_dtype = TN_F32;
    tni_context_at_end(c, tni_tensors_at_end);
    return c->kernels != NULL;
}

TN_PRIV const tni_rooms *tni_rooms_above(void) {
    static const tni_rooms rooms = {(int64_t)sizeof(tni_call_context),
                                    (int64_t)sizeof(tni_call_block),
                                    ready_context,
                                    ready_adopt,
                                    tni_unscoped_explain,
                                    tni_devices_trim};
    return &rooms;
}
