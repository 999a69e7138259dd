/* memory.cuh - the backend's memory: a cache of what the driver gave. */
#ifndef TNC_CUDA_MEMORY_CUH
#define TNC_CUDA_MEMORY_CUH

#include "cuda.cuh"

constexpr int64_t TNC_MEMORY_GRAIN = 512; /* bytes; all pieces begin and end at whole grains */

TNC_PRIV void *tnc_alloc(int32_t device, int64_t bytes, char *why, size_t room);
/* What that and tnc_host_alloc say of e: nothing if it means that none is left. */
TNC_PRIV void tnc_no_memory(cudaError_t e, char *why, size_t room);
/* For looks: memory of the call's device. NULL with an error. */
TNC_PRIV void *tnc_alloc_for(tn_frame *f, int64_t bytes);
TNC_PRIV void tnc_free(int32_t device, void *at);
/* A piece of tnc_alloc is used in this stream, too, from now until it is freed. */
TNC_PRIV void tnc_used(int32_t device, void *at, cudaStream_t stream);
TNC_PRIV void tnc_trim(int32_t device);
TNC_PRIV void tnc_memory(int32_t device, tn_device_memory_info *to);
TNC_PRIV void tnc_reset_peak(int32_t device);
TNC_PRIV void tnc_limit(int32_t device, int64_t bytes);
TNC_PRIV void *tnc_host_alloc(int32_t device, int64_t bytes, char *why, size_t room);
TNC_PRIV void tnc_host_free(int32_t device, void *at);
/* Whether that is memory of tnc_host_alloc. */
TNC_PRIV bool tnc_host_is(const void *at);
/* A copy from there or to it was asked of the stream: until it is done the memory stays. */
TNC_PRIV bool tnc_host_busy(const void *at, cudaStream_t stream);
TNC_PRIV void tnc_host_trim();
TNC_PRIV int64_t tnc_snapshot(int32_t device,
                              void (*each)(const tn_device_piece *piece, void *user), void *user);

#endif
