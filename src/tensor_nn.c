/* tensor_nn.c - the root of tensor_nn.h: modules, optimizers, data and training on the public part of tensor.h.
 *
 * It compiles alone, and tools/amalgamate packs it into tensor_nn.h, which includes tensor.h. A new file gets its
 * line here. */
#include "api/nn_first.h"

#include "api/nn.h"
#include "api/optim.h"
#include "api/modules.h"

#include "nn/nn.h"
