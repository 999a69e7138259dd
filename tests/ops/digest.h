/* digest.h - a tensor against what tests/oracle/pairs.py kept of torch's: "f64 (2,3;3,1) sum sum"
 * with " !hash" of where it is not finite, or "i64 (2,3;3,1) #hash". */
#ifndef TNI_TESTS_DIGEST_H
#define TNI_TESTS_DIGEST_H

#include "sample.h"

typedef struct digest {
    char dtype[16], dims[120], values[120]; /* as written */
} digest;

/* Reads one; false when the text is none. */
bool digest_read(digest *d, const char *text);
/* Whether t has it; else why not, in error. strides: they are compared as well. units: in the last
 * place of the dtype, by which a sum may differ for each element of the largest magnitude. */
bool digest_is(const digest *d, const tn_tensor *t, bool strides, double units, char error[300]);

#endif
