/* twin.c - nothing uninitialised leaks out: every sample of every row, forward and backward, in two
 * contexts whose fresh memory is filled with 0x00 and with 0xFF, gives the same bits.
 *
 *     twin [rows.h] */
#include "../rows.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>

static void *fill_alloc(size_t bytes, void *user) {
    void *at = malloc(bytes);
    if (at) memset(at, *(const uint8_t *)user, bytes);
    return at;
}
static void fill_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    free(at);
}

/* A sample in the current context; false where it is refused. */
static bool run(const tn_row *row, int i, tn_dtype dtype, int layout, record *r) {
    static sample s;
    r->n = 0;
    return sample_make(&s, row, i, dtype, false) && record_run(r, &s, layout);
}

int main(int argc, char **argv) {
    static const uint8_t fills[2] = {0x00, 0xff};
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16, TN_I64, TN_BOOL, TN_C64};
    tn_context *context[2];
    record r[2];
    int64_t passed = 0, failed = 0;
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int k = 0; k < 2; k++) {
        tn_context_options o;
        memset(&o, 0, sizeof o);
        o.threads = -1;
        o.no_cache = true;
        o.allocator.alloc = fill_alloc;
        o.allocator.free = fill_free;
        o.allocator.user = (void *)(uintptr_t)&fills[k];
        context[k] = tn_context_new(&o);
        r[k] = record_new(1 << 22);
    }
    for (int64_t j = 0; j < tn_row_count(); j++) {
        const tn_row *row = tn_row_at(j);
        if (!rows_take(0, j) || record_leaves_out(row)) continue;
        for (int i = 0; i < sample_count(row); i++)
            for (int d = 0; d < (int)(sizeof dtypes / sizeof *dtypes); d++)
                for (int layout = 0; layout < 4; layout += 2) {
                    bool ok[2];
                    if (layout && sample_reads_memory(row)) continue;
                    for (int k = 0; k < 2; k++) {
                        tn_context_use(context[k]);
                        TN_SCOPE
                            ok[k] = run(row, i, dtypes[d], layout, &r[k]);
                        tn_error_take(NULL);
                    }
                    if (ok[0] == ok[1] && record_same(&r[0], &r[1])) {
                        passed++;
                        continue;
                    }
                    failed++;
                    printf("FAILED twin %s, sample %d, %s, layout %d\n", row->name, i,
                           tn_dtype_name(dtypes[d]), layout);
                }
    }
    tn_context_use(NULL);
    for (int k = 0; k < 2; k++) tn_context_free(context[k]), free(r[k].at);
    printf(
        "promise 24: %lld calls in twin contexts, memory filled with 0x00 and 0xFF, %lld differ\n",
        (long long)(passed + failed), (long long)failed);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
