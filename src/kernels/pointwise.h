/* pointwise.h - loops of the pointwise rows, made from their expressions (gen/loops.inl).
 *
 * A loop sees whole vectors only: `vectors` of them, of lanes[type] elements. Operand k advances by
 * step[k] bytes a vector: the bytes of a vector, or 0 for a number that fills one block of
 * TNI_VECTOR_BYTES. `numbers` holds the row's number parameters, of the compute type one after
 * another. Output and inputs may be the same memory. */
#ifndef TNI_KERNELS_POINTWISE_H
#define TNI_KERNELS_POINTWISE_H

#include "../base/base.h"

/* The types of the computation; other dtypes are converted (kernels/cast.h). */
enum tni_loop_type {
    TNI_IN_F32,
    TNI_IN_F64,
    TNI_IN_I32,
    TNI_IN_I64,
    TNI_IN_C64,
    TNI_IN_C128,
    TNI_IN_BOOL,
    TNI_LOOP_TYPES
};
enum { TNI_VECTOR_BYTES = 128 }; /* the largest vector: complex ones are two of 64 */

typedef void (*tni_loop)(char *out, const char *const *in, const int64_t *step, int64_t vectors,
                         const void *numbers);

#define TNI_KERNELS_POINTWISE(K)

#endif
