/* distributed.h - what the rows of several ranks share: what a call asks for, its errors, the
 * agreement of the ranks, and where a result waits for run.
 *
 * All that other ranks take part in happens in look, into memory of the group; run copies from
 * there alone. So a call that fails on the way has changed nothing. */
#ifndef TNI_OPS_DISTRIBUTED_DISTRIBUTED_H
#define TNI_OPS_DISTRIBUTED_DISTRIBUTED_H

#include "../../cpu/lanes.h"
#include "../../group/group.h"
#include "../../api/ops/distributed.h"
#include "../../call/rowform.h"

/* From look to run: the result, row-major; NULL: there is none. */
typedef struct distributed_note {
    const void *result;
} distributed_note;

/* What describes a call to the other ranks; compared as bytes. */
typedef struct distributed_word {
    int32_t kind, op, dtype, peer, ndim, failed;
    int64_t size[TN_MAX_DIMS];
    char why[160];
} distributed_word;
typedef char distributed_word_fits[sizeof(distributed_word) <= TNI_GROUP_WORD ? 1 : -1];

/* For check of all rows but send and recv: errors of the arguments, which the other ranks
 * learn. */
TN_PRIV bool tni_distributed_check(tn_frame *f);
/* The error of a call's arguments; TN_OK: none. */
TN_PRIV tn_code tni_distributed_fault(const tn_frame *f, const tn_collective *c, char *why,
                                      size_t room);
/* Waits until all ranks, more than one, are in this call; false with an error of all of them: they
 * differ, or one has no memory for it. */
TN_PRIV bool tni_distributed_meet(tn_frame *f, const tn_collective *c, bool memory);
TN_PRIV void tni_distributed_describe(distributed_word *w, const tn_collective *c);
/* "all_reduce(op=sum) of float32 (2, 3)"; returns text. */
TN_PRIV const char *tni_distributed_text(char *text, size_t room, const distributed_word *w);
/* Copies the result of look to the output, and gives its memory back. */
TN_PRIV void tni_distributed_run(tn_frame *f);

#endif
