/* numbers.cu - what src/cuda/cudnn.cuh writes down are the numbers of cuDNN's own header. */
#include "../../src/cuda/cudnn.cuh"

#include <cudnn_graph.h>

#define SAME(name, value) static_assert((int)CUDNN_##name == value, #name);
DNN_NUMBERS(SAME)
