/* tensor_cuda.cu.h - NVIDIA's GPUs as devices of tensor.h.
 *
 * Do this: in ONE .cu file write
 *     #define TENSOR_CUDA_IMPLEMENTATION
 *     #include "tensor_cuda.cu.h"
 * and compile it by nvcc -std=c++17 -fmad=false; tensor.h's own implementation is compiled in
 * another file. It includes tensor.h. Licence: MIT or public domain, at your choice (file
 * LICENSE). */
