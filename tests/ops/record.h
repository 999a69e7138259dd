/* record.h - what a call gives, forward and backward, as bytes: to compare runs that must be
 * equal in every bit. */
#ifndef TNI_TESTS_RECORD_H
#define TNI_TESTS_RECORD_H

#include "sample.h"

enum { RECORD_OUTS = 40 };

typedef struct record { /* shapes and elements, one after another; n beyond `room` does not fit */
    int64_t n, room;
    uint8_t *at;
} record;

record record_new(int64_t room);
/* The elements in row-major order, without the padding between them. All NaNs are put as the same
 * bits. */
void record_put(record *r, tn_tensor *t);
bool record_same(const record *a, const record *b);
/* Calls the sample, in another layout if that is not 0, with a fixed seed; its results and the
 * gradients of the sum of their squares go to r. false if the call is refused, without a pending
 * error. */
bool record_run(record *r, sample *s, int layout);
/* Rows whose result is memory as it was. */
bool record_leaves_out(const tn_row *row);

#endif
