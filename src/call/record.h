/* record.h - recordings, as record.c makes them and graph.c sees them. */
#ifndef TNI_CALL_RECORD_H
#define TNI_CALL_RECORD_H

#include "call.h"

typedef struct record_call {
    struct record_call *next;
    tn_frame f;
    int64_t bytes, args_at, lists_at;
    uint32_t redirected;     /* of tni_call */
    struct tni_graph *graph; /* that begins with this call, or NULL */
} record_call;

struct tn_recording {
    tni_block *b;
    record_call *first, *last;
    bool elsewhere; /* some calls are not of the CPU */
    /* with graphs, which go first: so that only programs that replay have them */
    struct tni_graph *graphs;
    void (*drop)(tni_block *b, tn_recording *r);
};

/* Looks and runs again. False with an error. */
TN_PRIV bool tni_record_replay(tni_block *b, record_call *r);
/* Results that were made apart go where they belong. */
TN_PRIV void tni_record_redirect(record_call *r);
/* Versions count up of what a call that ran again has rewritten: all but views, which share an
 * input's data. A call that failed (not ok) has written its own results alone. */
TN_PRIV void tni_record_written(record_call *r, bool ok);

#endif
