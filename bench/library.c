/* library.c - the implementation, compiled once for all programs here. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"
