/* copy.cuh - copies and fills of whole tensors on a device. */
#ifndef TNC_CUDA_COPY_CUH
#define TNC_CUDA_COPY_CUH

#include "cuda.cuh"

/* As tn_backend's. */
TNC_PRIV void tnc_elements(int32_t device, tn_tensor *dst, const tn_tensor *src);
/* Operand 1 of a plan to operand 0, elements of so many bytes as they are. */
TNC_PRIV void tnc_move_by(cudaStream_t s, const tn_walk_plan &p, int bytes);
TNC_PRIV void tnc_fill(int32_t device, tn_tensor *dst, const void *unit);
/* One element of the device to another place of it, in another dtype. */
TNC_PRIV void tnc_convert_one(cudaStream_t s, char *to, int to_dtype, const char *from,
                              int from_dtype);

#endif
