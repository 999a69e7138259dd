/* walk.h - rows of strided tensors in row-major order, and moving their elements as bytes. */
#ifndef TNI_CPU_WALK_H
#define TNI_CPU_WALK_H

#include "../tensor/tensor.h"

/* Rows of up to 4 tensors of one (broadcast) shape in row-major order; neighbouring dimensions that
 * lie alike in all of them are one. In for (r = 0; r < w.rows; r++, tni_walk_next(&w)) the n
 * elements of a row lie at w.at[k] + i * w.row[k]. Long rows come in pieces; a call that is to stop
 * has no more rows. */
enum { TNI_WALK = 4 };
typedef struct tni_walk {
    int ndim, operands;
    int64_t n, rows;
    int64_t whole, done, since; /* of a long row, done before this piece; since the last poll */
    int64_t size[TN_MAX_DIMS], index[TN_MAX_DIMS],
        step[TNI_WALK][TN_MAX_DIMS]; /* outer dimensions; steps in bytes */
    int64_t row[TNI_WALK];
    char *at[TNI_WALK];
} tni_walk;
TN_PRIV void tni_walk_start(tni_walk *w, int ndim, const int64_t *size,
                            const tn_tensor *const *operands, int n);
TN_PRIV void tni_walk_next(tni_walk *w);
/* The offset of element i of n dimensions, counted row-major, in the unit of the strides; i is one
 * of them. */
TN_PRIV int64_t tni_offset_of(int n, const int64_t *size, const int64_t *stride, int64_t i);
/* n elements of `bytes` bytes, steps in bytes, of any sign. */
TN_PRIV void tni_move_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                          int64_t bytes);
/* One element of 1, 2, 4, 8 or 16 bytes. */
TNI_INLINE void tni_move_one(char *to, const char *from, int64_t bytes) {
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 1)
        *to = *from;
    else if (bytes == 2)
        memcpy(to, from, 2);
    else
        memcpy(to, from, 16);
}
/* n copies of the element at `unit`. */
TN_PRIV void tni_fill_row(char *to, int64_t step, const void *unit, int64_t n, int64_t bytes);

#endif
