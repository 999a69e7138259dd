/* matmul_integers.c - products of integers, which wrap: c = [c +] alpha * a * b along rows of c,
 * in 64 bits, whose low ones are kept. */
#include "matmul.h"

typedef struct mm_integers {
    const tni_matmul_plan *plan;
    tni_gemm g;
} mm_integers;

#define MM_INTEGER(name, T)                                                                       \
    static void mm_task_##name(void *arg, int64_t i) {                                            \
        const mm_integers *j = (const mm_integers *)arg;                                          \
        const tni_matmul_plan *p = j->plan;                                                       \
        const T *a =                                                                              \
            (const T *)j->g.a + tni_matmul_offset(p, p->a_batch, i / p->m) + i % p->m * p->a_row; \
        const T *b = (const T *)j->g.b + tni_matmul_offset(p, p->b_batch, i / p->m);              \
        T *c = (T *)j->g.c + i * p->n;                                                            \
        for (int64_t n = 0; n < p->n && !j->g.add; n++) c[n] = 0;                                 \
        for (int64_t k = 0; k < p->k; k++) {                                                      \
            const uint64_t x = (uint64_t)(int64_t)j->g.alpha * (uint64_t)a[k * p->a_col];         \
            const T *y = b + k * p->b_row;                                                        \
            for (int64_t n = 0; n < p->n; n++)                                                    \
                c[n] = (T)((uint64_t)c[n] + x * (uint64_t)y[n * p->b_col]);                       \
        }                                                                                         \
    }
MM_INTEGER(u8, uint8_t)
MM_INTEGER(i8, int8_t)
MM_INTEGER(i16, int16_t)
MM_INTEGER(i32, int32_t)
MM_INTEGER(i64, int64_t)
#undef MM_INTEGER

TN_PRIV void tni_matmul_integers(tn_context *context, const tni_matmul_plan *p, const tni_gemm *g,
                                 int dtype) {
    mm_integers j;
    void (*task)(void *, int64_t) = dtype == TN_U8    ? mm_task_u8
                                    : dtype == TN_I8  ? mm_task_i8
                                    : dtype == TN_I16 ? mm_task_i16
                                    : dtype == TN_I32 ? mm_task_i32
                                                      : mm_task_i64;
    j.plan = p;
    j.g = *g;
    TNI_PATH(gemm_integers);
    /* A task is a row of c; too little work stays in this thread. */
    if ((double)p->m * (double)p->n * (double)p->k * (double)p->batches < (double)TNI_MATMUL_WORK)
        for (int64_t i = 0; i < p->batches * p->m; i++) task(&j, i);
    else {
        TNI_PATH(gemm_integers_threads);
        tni_parallel(context, p->batches * p->m, task, &j);
    }
}
