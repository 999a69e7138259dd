/* conv.h - kernel entries of this family: K(ret, name, params). */
#ifndef TNI_KERNELS_CONV_H
#define TNI_KERNELS_CONV_H

#include "../base/base.h"

#define TNI_KERNELS_CONV(K)

#endif
