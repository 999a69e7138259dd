/* cuda.h - the CUDA backend: NVIDIA's GPUs as devices "cuda:0", "cuda:1".
 *
 *     char why[200];
 *     if (!tn_backend_add(tn_cuda_backend(why, sizeof why))) puts(why);
 *
 * tensor_cuda.cu.h is included in one .cu file, which nvcc compiles with -fmad=false, and linked to
 * the program; or that file is made a module (nvcc -shared), which tn_device_load("cuda") opens. */
#ifndef TNI_API_CUDA_H
#define TNI_API_CUDA_H

#include "device.h"

TNI_EXTERN_C_BEGIN

/* The backend, or NULL if there is no driver or no device, and why: a sentence without a full stop,
 * of at most `room` bytes. It lives as long as the process. Any thread. */
TN_API const tn_backend *tn_cuda_backend(char *why, size_t room);

TNI_EXTERN_C_END
#endif
