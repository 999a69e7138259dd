/* tensor_nn.h - modules, losses, optimizers, data loading and training, on top of tensor.h.
 *
 * Do this: in ONE C or C++ file write
 *     #define TENSOR_IMPLEMENTATION
 *     #define TENSOR_NN_IMPLEMENTATION
 *     #include "tensor_nn.h"
 * and in all others a plain #include "tensor_nn.h". It includes tensor.h. Names, state dicts and
 * initial weights are PyTorch's. Licence: MIT or public domain, at your choice (file LICENSE). */
