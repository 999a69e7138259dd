/* implementation.c - the library, after headers that have fixed the C library's mode. C and C++. */
#include <stdio.h>
#include <stdlib.h>

#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#ifdef WITH_NN
#include "tensor_nn.h"
#else
#include "tensor.h"
#endif
