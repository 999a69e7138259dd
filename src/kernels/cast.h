/* cast.h - elements of one dtype to another, contiguous. cast(from, to) is the loop of a direct
 * conversion or NULL; cpu/drive.c goes from any dtype to any other by a chain of them. Values as
 * tni_element_set gives them. */
#ifndef TNI_KERNELS_CAST_H
#define TNI_KERNELS_CAST_H

#include "../tensor/tensor.h"

typedef void (*tni_cast)(void *to, const void *from, int64_t n);

#define TNI_KERNELS_CAST(K) K(tni_cast, cast, (int from, int to))

#endif
