/* walk.c - rows of strided tensors in row-major order, for operators that move elements
 * as bytes. */
#include "walk.h"
#include "../kernels/kernels.h"

enum { WALK_BLOCK = 1 << 16 }; /* elements between two polls; of a longer row a piece is one */

/* Merges dimension d + 1 into d where every operand steps from one into the other. */
static bool walk_joins(const tni_walk *w, int d) {
    for (int k = 0; k < w->operands; k++)
        if (w->step[k][d] != w->step[k][d + 1] * w->size[d + 1]) return false;
    return true;
}

/* Takes dimension d out. */
static void walk_drop(tni_walk *w, int d) {
    for (w->ndim--; d < w->ndim; d++) {
        w->size[d] = w->size[d + 1];
        for (int k = 0; k < w->operands; k++) w->step[k][d] = w->step[k][d + 1];
    }
}

TN_PRIV int64_t tni_offset_of(int n, const int64_t *size, const int64_t *stride, int64_t i) {
    int64_t at = 0;
    for (int d = n - 1; d > 0; d--) {
        at += i % size[d] * stride[d];
        i /= size[d];
    }
    return n > 0 ? at + i * stride[0] : 0; /* the outermost needs no remainder */
}

TN_PRIV void tni_walk_start(tni_walk *w, int ndim, const int64_t *size,
                            const tn_tensor *const *operands, int n) {
    w->ndim = ndim;
    w->operands = n;
    w->rows = 1;
    w->since = 0;
    for (int d = 0; d < ndim; d++) {
        w->size[d] = size[d];
        w->index[d] = 0;
    }
    /* Operands align at the right; where one has no dimension, or a single element along it, it is
     * repeated: step 0. */
    for (int k = 0; k < n; k++) {
        const tn_tensor *t = operands[k];
        int64_t bytes = tni_dtype_size(t);
        w->at[k] = tni_bytes_at(t);
        for (int d = 0; d < ndim; d++) {
            int at = d - (ndim - t->ndim);
            w->step[k][d] =
                at < 0 || (t->size[at] == 1 && size[d] != 1) ? 0 : t->stride[at] * bytes;
        }
    }
    /* Dimensions of size 1 go, neighbours that lie alike in all operands become one. */
    for (int d = w->ndim - 1; d >= 0; d--)
        if (w->size[d] == 1) walk_drop(w, d);
    for (int d = w->ndim - 2; d >= 0; d--) {
        if (!walk_joins(w, d)) continue;
        w->size[d] *= w->size[d + 1];
        for (int k = 0; k < n; k++) w->step[k][d] = w->step[k][d + 1];
        walk_drop(w, d + 1);
    }
    /* The innermost dimension that is left is the row. */
    w->n = w->ndim ? w->size[--w->ndim] : 1;
    for (int k = 0; k < n; k++) w->row[k] = w->n > 1 ? w->step[k][w->ndim] : 0;
    for (int d = 0; d < w->ndim; d++) w->rows *= w->size[d];
    if (w->n == 0) w->rows = 0;
    /* Long rows are handed out in pieces, each of which counts as a row. */
    w->whole = w->n;
    w->done = 0;
    if (w->whole <= WALK_BLOCK) return;
    w->n = WALK_BLOCK;
    w->rows *= (w->whole + WALK_BLOCK - 1) / WALK_BLOCK;
}

/* On to the next piece of a long row; false: to the next row. */
static bool walk_piece(tni_walk *w) {
    /* On by a piece, or back to where the row began. */
    const bool more = w->done + w->n < w->whole;
    const int64_t by = more ? w->n : -w->done;
    for (int k = 0; k < w->operands; k++) w->at[k] += by * w->row[k];
    w->done = more ? w->done + w->n : 0;
    w->n = w->whole - w->done < WALK_BLOCK ? w->whole - w->done : (int64_t)WALK_BLOCK;
    return more;
}

TN_PRIV void tni_walk_next(tni_walk *w) {
    w->since += w->n;
    if (TNI_UNLIKELY(w->since >= WALK_BLOCK)) {
        w->since = 0;
        if (tni_stopped()) w->rows = 0; /* the last row was this one */
    }
    if (TNI_UNLIKELY(w->whole > WALK_BLOCK) && walk_piece(w)) return;
    /* Counts like a clock: a dimension that has run over goes back to 0 and moves
     * the next one on. */
    for (int d = w->ndim - 1; d >= 0; d--) {
        for (int k = 0; k < w->operands; k++) w->at[k] += w->step[k][d];
        if (++w->index[d] < w->size[d]) return;
        for (int k = 0; k < w->operands; k++) w->at[k] -= w->step[k][d] * w->size[d];
        w->index[d] = 0;
    }
}

/* A loop with the size of an element known: the copies become single moves. */
#define WALK_MOVE(size)                                                                       \
    case size:                                                                                \
        for (int64_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, size); \
        return

TN_PRIV void tni_move_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                          int64_t bytes) {
    if (n == 1 || (to_step == bytes && from_step == bytes)) {
        TNI_PATH(move_row_dense);
        memcpy(to, from, (size_t)(n * bytes));
        return;
    }
    /* A loop for each size of an element. */
    TNI_PATH(move_row_steps);
    switch (bytes) {
        WALK_MOVE(1);
        WALK_MOVE(2);
        WALK_MOVE(4);
        WALK_MOVE(8);
        WALK_MOVE(16);
    default: return;
    }
}
#undef WALK_MOVE

TN_PRIV void tni_fill_row(char *to, int64_t step, const void *unit, int64_t n, int64_t bytes) {
    const char *u = (const char *)unit;
    bool even = true;
    int64_t done = bytes, all = n * bytes;
    if (n > 1 && step != bytes) {
        TNI_PATH(fill_row_steps);
        tni_move_row(to, step, u, 0, n, bytes);
        return;
    }
    /* even: all bytes of the element are equal, as those of zero: memset is the fastest. */
    for (int64_t i = 1; i < bytes; i++) even = even && u[i] == u[0];
    if (even) {
        TNI_PATH(fill_row_bytes);
        memset(to, u[0], (size_t)all);
        return;
    }
    TNI_PATH(fill_row_doubling);
    /* The part filled so far is copied behind itself, doubling each time. */
    if (n > 0) memcpy(to, u, (size_t)bytes);
    for (; done < all; done *= 2)
        memcpy(to + done, to, (size_t)(all - done < done ? all - done : done));
}
