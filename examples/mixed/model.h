/* model.h - the interface between the two halves. */
#ifndef MIXED_MODEL_H
#define MIXED_MODEL_H

#include "tensor_nn.h"

#ifdef __cplusplus
extern "C" {
#endif
tn_module *model_new(void);
double model_learn(tn_module *m, tn_tensor *x, tn_tensor *y, int steps);
#ifdef __cplusplus
}
#endif

#endif
