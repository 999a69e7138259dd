/* optimize.h - kernel entries of this family: K(ret, name, params). */
#ifndef TNI_KERNELS_OPTIMIZE_H
#define TNI_KERNELS_OPTIMIZE_H

#include "../base/base.h"

#define TNI_KERNELS_OPTIMIZE(K)

#endif
