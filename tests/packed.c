/* packed.c - both headers as a user's program has them, for the tests that link with it. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"
