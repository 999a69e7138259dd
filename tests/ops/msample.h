/* msample.h - a module's row as values of calls, from its `.sample`, "options: inputs | ..": the
 * constructor and the forward, each as a sample of an operator.
 *
 * A row without a sample has one: all options at their defaults, each required tensor (2,3); a
 * list of modules is three that fit it. */
#ifndef TNI_TESTS_MSAMPLE_H
#define TNI_TESTS_MSAMPLE_H

#include "../../src/nn/nn.h"
#include "sample.h"

typedef struct msample {
    const tn_mrow *row;
    tn_row make, call; /* what sample.h reads: name, tables, text */
    char make_text[400], call_text[400];
    sample options, inputs;
} msample;

int msample_count(const tn_mrow *row);
/* Options and inputs of sample i, in the current scope; false with an error in one of them. */
bool msample_make(msample *m, const tn_mrow *row, int i, tn_dtype dtype);
/* The module that the options ask for; NULL with an error. */
tn_module *msample_module(msample *m);
bool msample_call(msample *m, tn_module *module, tn_tensor **out, int room, int *n);

#endif
