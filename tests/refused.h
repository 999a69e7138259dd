/* refused.h - calls that are refused, with the code and a part of the message; one element. Not for
 * several threads. */
#ifndef TESTS_REFUSED_H
#define TESTS_REFUSED_H

#include "../src/api/tensor.h"
#include "check.h"

static inline void says(tn_code code, const char *text, int line) {
    tn_error_info e;
    if (!tn_error_take(&e)) e.code = TN_OK, e.message = "no error";
    if (e.code != code || !strstr(e.message, text)) {
        printf("line %d: %s: %s\n", line, tn_code_name(e.code), e.message);
        CHECK(e.code == code && strstr(e.message, text));
    }
}
#define REFUSED(call, code, text) (CHECK(!(call)), says(code, text, __LINE__))

/* Element i of at most 64 in row-major order, as a number. */
static inline double at(const tn_tensor *t, int64_t i) {
    double v[64];
    if (!t || tn_numel(t) > 64 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}

#endif
