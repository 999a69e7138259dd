/* hip.h - the names of CUDA's runtime that the backend uses, for AMD's GPUs: hipcc compiles the
 * same sources. Nothing was run on such a GPU.
 *
 * A warp of 32 is half a wavefront of 64: shuffles stay within 32 lanes, a vote is that half's.
 * Kernels give full masks, so none is passed on. Devices are still called "cuda:0", as torch calls
 * them. There is no cuBLASLt and no cuDNN: products and convolutions are the backend's own; ranks
 * meet by rccl, NCCL's double. */
#ifndef TNC_CUDA_HIP_H
#define TNC_CUDA_HIP_H

#ifdef __HIP__
#include <hip/hip_runtime.h>

/* --- kernels ---------------------------------------------------------------------------------- */

enum { TNC_HIP_WARP = 32 };
template <class T>
static __device__ __forceinline__ T tnc_hip_down(T v, unsigned by, int width = TNC_HIP_WARP) {
    return __shfl_down(v, by, width);
}
template <class T>
static __device__ __forceinline__ T tnc_hip_from(T v, int lane, int width = TNC_HIP_WARP) {
    return __shfl(v, lane, width);
}
#define __shfl_down_sync(mask, ...) tnc_hip_down(__VA_ARGS__)
#define __shfl_sync(mask, ...) tnc_hip_from(__VA_ARGS__)
static __device__ __forceinline__ unsigned __ballot_sync(unsigned, int vote) {
    return (unsigned)(__ballot(vote) >> (__lane_id() / TNC_HIP_WARP * TNC_HIP_WARP));
}
/* The lanes of a wavefront go together; what they have written is seen by all of them. */
static __device__ __forceinline__ void __syncwarp() {
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
}

/* --- the runtime ------------------------------------------------------------------------------ */

typedef hipError_t cudaError_t;
typedef hipStream_t cudaStream_t;
typedef hipEvent_t cudaEvent_t;
typedef hipGraph_t cudaGraph_t;
typedef hipGraphExec_t cudaGraphExec_t;
typedef hipDeviceProp_t cudaDeviceProp;
typedef hipFuncAttributes cudaFuncAttributes;

#define cudaSuccess hipSuccess
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorUnknown hipErrorUnknown
#define cudaErrorNoKernelImageForDevice hipErrorNoBinaryForGpu
#define cudaErrorInvalidDeviceFunction hipErrorInvalidDeviceFunction
#define cudaErrorStreamCaptureUnsupported hipErrorStreamCaptureUnsupported
#define cudaErrorCapturedEvent hipErrorCapturedEvent
#define cudaDevAttrMultiProcessorCount hipDeviceAttributeMultiprocessorCount
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamCaptureModeRelaxed hipStreamCaptureModeRelaxed
#define cudaEventDefault hipEventDefault
#define cudaEventDisableTiming hipEventDisableTiming
#define cudaHostAllocDefault hipHostMallocDefault
#define cudaHostAllocPortable hipHostMallocPortable
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice

#define cudaFuncGetAttributes hipFuncGetAttributes
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaPeekAtLastError hipPeekAtLastError
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDevice hipGetDevice
#define cudaSetDevice hipSetDevice
#define cudaDeviceGetAttribute hipDeviceGetAttribute
#define cudaDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cudaDeviceEnablePeerAccess hipDeviceEnablePeerAccess
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaRuntimeGetVersion hipRuntimeGetVersion
#define cudaMemGetInfo hipMemGetInfo
#define cudaMalloc hipMalloc
#define cudaFree hipFree
#define cudaHostAlloc hipHostMalloc
#define cudaFreeHost hipHostFree
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyPeerAsync hipMemcpyPeerAsync
#define cudaMemsetAsync hipMemsetAsync
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamQuery hipStreamQuery
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaStreamBeginCapture hipStreamBeginCapture
#define cudaStreamEndCapture hipStreamEndCapture
#define cudaEventCreateWithFlags hipEventCreateWithFlags
#define cudaEventDestroy hipEventDestroy
#define cudaEventRecord hipEventRecord
#define cudaEventSynchronize hipEventSynchronize
#define cudaEventQuery hipEventQuery
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaGraphLaunch hipGraphLaunch
#define cudaGraphDestroy hipGraphDestroy
#define cudaGraphExecDestroy hipGraphExecDestroy
static inline hipError_t cudaGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph,
                                              unsigned long long) {
    return hipGraphInstantiate(exec, graph, NULL, NULL, 0);
}

/* Memory that HIP does not know is an error there, and here a type. */
enum { cudaMemoryTypeUnregistered, TNC_HIP_KNOWN };
typedef struct cudaPointerAttributes {
    int type;
} cudaPointerAttributes;
static inline hipError_t cudaPointerGetAttributes(cudaPointerAttributes *to, const void *at) {
    hipPointerAttribute_t known;
    to->type = hipPointerGetAttributes(&known, at) ? cudaMemoryTypeUnregistered : TNC_HIP_KNOWN;
    (void)hipGetLastError();
    return hipSuccess;
}

#endif
#endif
