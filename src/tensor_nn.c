/* tensor_nn.c - the root of tensor_nn.h: modules, optimizers, data, training on the public part of
 * tensor.h. It compiles alone, and tools/amalgamate packs it into tensor_nn.h, which includes
 * tensor.h. A new file gets its line here. */
#include "api/nn_first.h"

#include "api/nn.h"
#include "api/modules.h"
#include "api/optim.h"
#include "api/data.h"
#include "api/train.h"

#include "nn/memory.c"
#include "nn/text.c"
#include "nn/parts.c"
#include "nn/tree.c"
#include "nn/make.c"
#include "nn/make_text.c"
#include "nn/forward.c"
#include "nn/state.c"
#include "nn/init.c"
#include "nn/activation.c"
#include "nn/attention.c"
#include "nn/container.c"
#include "nn/conv.c"
#include "nn/linear.c"
#include "nn/loss.c"
#include "nn/norm.c"
#include "nn/recurrent.c"

#include "optim/adam.c"
#include "optim/clip.c"
#include "optim/optim_state.c"
#include "optim/optimizer.c"
#include "optim/schedule.c"
#include "optim/sgd.c"

#include "data/dataset.c"
#include "data/loader.c"
#include "data/checkpoint.c"
#include "data/train.c"

#include "gen/modules.c"
