/* rowwise.h - kernel entries of this family: K(ret, name, params). */
#ifndef TNI_KERNELS_ROWWISE_H
#define TNI_KERNELS_ROWWISE_H

#include "../base/base.h"

#define TNI_KERNELS_ROWWISE(K)

#endif
