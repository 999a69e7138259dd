/* random.h - kernel entries of this family: K(ret, name, params). */
#ifndef TNI_KERNELS_RANDOM_H
#define TNI_KERNELS_RANDOM_H

#include "../base/base.h"

#define TNI_KERNELS_RANDOM(K)

#endif
