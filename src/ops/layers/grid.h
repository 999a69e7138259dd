/* grid.h - gradients of grid_sample (grid_grad.c). */
#ifndef TNI_OPS_LAYERS_GRID_H
#define TNI_OPS_LAYERS_GRID_H

#include "../../call/rowform.h"

TN_PRIV void tni_grid_sample_grad(tn_gradient *g);

#endif
