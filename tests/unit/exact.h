/* exact.h - for tests of what is kept and given back: an allocator that fills new memory with
 * rubbish, knows how many bytes live, whether each block comes back with its size and unspoilt
 * around, and fails where it is told to. */
#ifndef TNI_TESTS_EXACT_H
#define TNI_TESTS_EXACT_H

#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../check.h"

#include <stdlib.h>

enum { EXACT_APART = 64 };
static int64_t live, wrong, allowed; /* allowed: the k-th allocation from here on fails; 0: none */

static void *exact_alloc(size_t bytes, void *user) {
    char *p;
    (void)user;
    if (allowed > 0 && --allowed == 0) return NULL;
    if (bytes > (size_t)1 << 30 || !(p = (char *)malloc(bytes + 2 * EXACT_APART))) return NULL;
    memset(p, 0xa5, bytes + 2 * EXACT_APART);
    memcpy(p, &bytes, sizeof bytes);
    live += (int64_t)bytes;
    return p + EXACT_APART;
}
static void exact_free(void *at, size_t bytes, void *user) {
    size_t had;
    unsigned char *behind;
    (void)user;
    if (!at) return;
    memcpy(&had, (char *)at - EXACT_APART, sizeof had);
    behind = (unsigned char *)at + had;
    for (int i = 0; i < EXACT_APART; i++) wrong += behind[i] != 0xa5;
    wrong += had != bytes;
    live -= (int64_t)had;
    free((char *)at - EXACT_APART);
}

TNI_INLINE tn_context *begin(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = exact_alloc;
    o.allocator.free = exact_free;
    o.threads = -1;
    o.no_cache = true;
    c = tn_context_new(&o);
    tn_context_use(c);
    return c;
}
TNI_INLINE void end(tn_context *c) {
    CHECK(!tn_error_print());
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_use(NULL);
    tn_context_free(c);
    CHECK_EQ(live, 0);
    CHECK_EQ(wrong, 0);
}

TNI_INLINE tn_value named(const char *name, int type) {
    tn_value v;
    memset(&v, 0, sizeof v);
    v.name = name, v.type = type;
    return v;
}
TNI_INLINE tn_value tensor(const char *name, tn_tensor *t) {
    tn_value v = named(name, t ? TN_T_TENSOR : 0);
    v.as.tensor = t;
    return v;
}
TNI_INLINE tn_value of_list(tn_tensor **at, int64_t n) {
    tn_value v = named(NULL, TN_T_TENSORS);
    v.as.tensors = tn_tensors_of(at, n);
    return v;
}
TNI_INLINE tn_tensor *of(int64_t rows, int64_t n, double v) {
    return tn_full(TN_DIMS(rows, n), v, .dtype = TN_F64);
}
static tn_tensor *result[6];
TNI_INLINE tn_tensor *call(const tn_row *row, const tn_value *v, int n) {
    int count = 0;
    return tn_call_row("exact", 42, row, TN_PLAIN, v, n, result, 6, &count) ? result[0] : NULL;
}
/* Writes zeros into all outputs. */
TNI_INLINE void fill_run(tn_frame *f) {
    for (int k = 0; k < f->nout; k++)
        if (f->out[k])
            memset(tn_data(f->out[k]), 0, (size_t)(f->out[k]->numel * tni_dtype_size(f->out[k])));
}

#endif
