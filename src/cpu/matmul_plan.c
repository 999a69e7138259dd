/* matmul_plan.c - the plan of a product: batches of m x k times k x n, of any strides. */
#include "matmul.h"
#include "walk.h"

/* t as a batch of matrices, rows x cols with their steps: a vector is a row on the left, a column
 * on the right, whose other step is 0. */
static void mm_matrix(const tn_tensor *t, bool left, int64_t *rows, int64_t *cols, int64_t *row,
                      int64_t *col) {
    const int d = t->ndim;
    if (d > 1) {
        *rows = t->size[d - 2];
        *cols = t->size[d - 1];
        *row = t->stride[d - 2];
        *col = t->stride[d - 1];
    } else if (left) {
        *rows = 1;
        *cols = t->size[0];
        *row = 0;
        *col = t->stride[0];
    } else {
        *rows = t->size[0];
        *cols = 1;
        *row = t->stride[0];
        *col = 0;
    }
}

/* Batch stride of dimension d (from the left) among nbatch broadcast ones; 0 where t repeats. */
static int64_t mm_batch_stride(const tn_tensor *t, int nbatch, int d) {
    /* Batches align at the right; at: the dimension of t, negative where t has none. */
    const int at = d - (nbatch - (t->ndim - 2));
    return t->ndim > 2 && at >= 0 && t->size[at] != 1 ? t->stride[at] : 0;
}

/* Batches that share b and lie row under row in a are one taller matrix. */
static void mm_fold(tni_matmul_plan *p) {
    while (p->nbatch > 0) {
        /* From the innermost batch outwards. A single row becomes as many rows as the batch
         * has matrices. */
        const int d = p->nbatch - 1;
        if (p->b_batch[d] != 0 || (p->m > 1 && p->a_batch[d] != p->m * p->a_row)) break;
        if (p->m == 1) p->a_row = p->a_batch[d];
        p->m *= p->size[d];
        p->nbatch = d;
    }
    p->batches = 1;
    for (int d = 0; d < p->nbatch; d++) p->batches *= p->size[d];
}

/* Fills p for a * b; false when shapes do not fit. Vectors lose their dimension in the result. */
TN_PRIV bool tni_matmul_plan_of(tni_matmul_plan *p, const tn_tensor *a, const tn_tensor *b) {
    int64_t inner;
    tni_shape s;
    if (a->ndim == 0 || b->ndim == 0) return false;
    mm_matrix(a, true, &p->m, &p->k, &p->a_row, &p->a_col);
    mm_matrix(b, false, &inner, &p->n, &p->b_row, &p->b_col);
    s.ndim = 0;
    /* s is the shape of the batches, to which both operands broadcast. */
    if (inner != p->k || (a->ndim > 2 && !tni_broadcast(&s, a->ndim - 2, a->size)) ||
        (b->ndim > 2 && !tni_broadcast(&s, b->ndim - 2, b->size)))
        return false;
    /* The result: batches, then the dimensions that are no vector's. */
    p->nbatch = p->ndim = s.ndim;
    for (int d = 0; d < s.ndim; d++) {
        p->size[d] = p->result[d] = s.size[d];
        p->a_batch[d] = mm_batch_stride(a, s.ndim, d);
        p->b_batch[d] = mm_batch_stride(b, s.ndim, d);
    }
    if (a->ndim > 1) p->result[p->ndim++] = p->m;
    if (b->ndim > 1) p->result[p->ndim++] = p->n;
    mm_fold(p);
    return true;
}

TN_PRIV void tni_matmul_turned(tn_tensor *t, const tn_tensor *matrix, int64_t dims[4]) {
    memset(t, 0, offsetof(tn_tensor, dims));
    dims[0] = matrix->size[1];
    dims[1] = matrix->size[0];
    dims[2] = matrix->stride[1];
    dims[3] = matrix->stride[0];
    t->dtype = matrix->dtype;
    t->ndim = 2;
    t->size = dims;
    t->stride = dims + 2;
}

TNI_NOINLINE TN_PRIV int64_t tni_matmul_offset(const tni_matmul_plan *p, const int64_t *stride,
                                               int64_t batch) { /* in several loops */
    return tni_offset_of(p->nbatch, p->size, stride, batch);
}

TN_PRIV bool tni_matmul_half_floats(int64_t m, int64_t k, int64_t n, int64_t *floats) {
    int64_t mk, kn, mn;
    return tni_mul(m, k, &mk) && tni_mul(k, n, &kn) && tni_mul(m, n, &mn) &&
           tni_add(mk, kn, floats) && tni_add(*floats, mn, floats) && tni_add(*floats, 48, floats);
}
