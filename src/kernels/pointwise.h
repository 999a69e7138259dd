/* pointwise.h - kernel entries of this family: K(ret, name, params). */
#ifndef TNI_KERNELS_POINTWISE_H
#define TNI_KERNELS_POINTWISE_H

#include "../base/base.h"

#define TNI_KERNELS_POINTWISE(K)

#endif
