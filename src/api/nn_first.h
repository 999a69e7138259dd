/* tensor_nn.h - modules, losses, optimizers, data loading, training on top of tensor.h.
 *
 * Do this: in ONE C or C++ file,
 *     #define TENSOR_IMPLEMENTATION
 *     #define TENSOR_NN_IMPLEMENTATION
 *     #include "tensor_nn.h"
 * and a plain #include "tensor_nn.h" in the others; it includes tensor.h. Names, state dicts and
 * initial weights are PyTorch's. Licence: MIT or public domain, as you like (the file LICENSE). */
