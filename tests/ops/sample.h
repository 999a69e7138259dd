/* sample.h - a row's `.sample` text as values of a call.
 *
 *     samples  separated by " | ", each a list of items `[name=]value`, positional in schema order
 *     value    tensor `(2,3)` `():i64` `(4):i64<3` `(9):bool<0.2` `(2,4,4):pd` (a structure of
 *              elements.h), tensor list `{(2,3),(4,3)}`, ints `[1,-1]`, floats `[0.5,2.0]`, `3`
 *              `0.5` `True` `False` `None`, or a word (an enum, a dtype)
 *
 * Elements are those of elements.h, which the oracle also reads. */
#ifndef TNI_TESTS_SAMPLE_H
#define TNI_TESTS_SAMPLE_H

#include "../../src/api/ops.h"
#include "../../src/call/call.h"

enum { SAMPLE_VALUES = 24, SAMPLE_TENSORS = 16, SAMPLE_INTS = 32, SAMPLE_OUTS = 40 };
enum sample_layout {
    SAMPLE_CONTIGUOUS,
    SAMPLE_TRANSPOSED,
    SAMPLE_SLICED,
    SAMPLE_EXPANDED,
    SAMPLE_LAYOUTS,
    SAMPLE_LAST = SAMPLE_LAYOUTS,
    SAMPLE_MIXED
};

typedef struct sample {
    const tn_row *row;
    char text[400]; /* of this sample */
    int nvalues, ntensors, nints, nlists;
    tn_value value[SAMPLE_VALUES];
    char name[SAMPLE_VALUES][40], word[SAMPLE_VALUES][40];
    tn_tensor *tensor[SAMPLE_TENSORS]; /* in order of appearance, list members included */
    bool under_test[SAMPLE_TENSORS];   /* has the dtype under test */
    int structure[SAMPLE_TENSORS];     /* of elements.h; 0: none */
    int64_t ints[SAMPLE_INTS];
    double floats[SAMPLE_INTS];
    tn_tensor *list[SAMPLE_TENSORS];
    tn_dtype dtype;
    bool meta;
    char error[200];
} sample;

/* Number of samples of a row. */
int sample_count(const tn_row *row);
/* Makes sample i of the row with tensors of `dtype` where none is written; tensors are row-major,
 * new, in the current scope. false with s->error. meta: tensors without data. */
bool sample_make(sample *s, const tn_row *row, int i, tn_dtype dtype, bool meta);
/* Calls the row; results through out, their number through n. */
bool sample_call(sample *s, unsigned how, tn_tensor **out, int room, int *n);
/* Gradients of sum(w . outputs) by the tensors under test, NULL for others: w as the oracles weigh
 * outputs, by sample_weight of the element's number. TN_IN_PLACE: a copy of the first is written.
 * false: the call fails, or no gradient. */
bool sample_grads(sample *s, unsigned how, tn_tensor **grads);
uint64_t sample_hash(uint64_t x);        /* splitmix64 */
double sample_weight(uint64_t i);        /* in +-[0.5, 1.5), as gradcheck weighs outputs */
double sample_epsilon(int dtype);        /* between 1 and the next number */
tn_dtype sample_dtype(const char *word); /* "f32", or a dtype's name */
/* Floating elements at coarse places, where gradients are special: 0 none; 1 zeros, ones and their
 * neighbours, 2 mostly zeros, 3 all the same, 4 as 1 within the row's domain, 5 and 6 what is not
 * finite; 7 the ends of integers, floats of which one in eight is not finite or -0. */
enum { SAMPLE_GRIDS = 7, SAMPLE_ENDS = SAMPLE_GRIDS };
extern int sample_grid;

/* Puts every tensor into another layout with the same elements: SAMPLE_TRANSPOSED (first dimension
 * innermost), SAMPLE_SLICED (every second element of larger memory), SAMPLE_LAST (second dimension
 * innermost: channels last), SAMPLE_MIXED (every second tensor so, the others columns of wider
 * tensors). */
bool sample_relayout(sample *s, int layout);
/* Puts `by` where `old` stands in the call. */
void sample_replace(sample *s, tn_tensor *old, tn_tensor *by);
/* Rows that draw numbers, whose order follows the memory's, and rows that mean the memory itself.
 */
bool sample_draws(const tn_row *row);
bool sample_reads_memory(const tn_row *row);
/* Why .differs of the row leaves out a place in samples of this text; NULL: it does not. text NULL:
 * in all samples. */
const char *sample_differs(const tn_row *row, const char *place, const char *text);
/* The row's .oracle (clauses.h), NULL: element by element; whether a clause names result k. */
const char *sample_oracle(const tn_row *row);
bool sample_oracle_has(const tn_row *row, const char *clause, int k);
/* Samples whose gradient is another than that of the function by definition, as torch's. */
bool sample_has_no_difference(const sample *s);
/* Whether tensor t is given for a parameter that the call writes, as batch_norm's running_mean. */
bool sample_is_written(const sample *s, int t);
/* The gradient of tensor t is refused by name ("refused grad of tensor T" of .differs). */
bool sample_is_refused(const sample *s, int t);

#endif
