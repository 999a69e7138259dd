/* emu_launch.h - launches of kernels, host functions and graphs, and the macros that launch. */
#ifndef EMU_LAUNCH_H
#define EMU_LAUNCH_H

#include "emu_copy.h"
#include "emu_words.h"

/* --- what a kernel may ----------------------------------------------------------------------- */

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
inline std::map<const void *, size_t> &emu_allowed() {
    static std::map<const void *, size_t> *allowed = new std::map<const void *, size_t>;
    return *allowed;
}
template <class... P>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute a, int value) {
    emu_call call;
    if (value < 0 || value > EMU_SHARED_OPTIN) return emu_error(cudaErrorInvalidValue);
    if (a == cudaFuncAttributeMaxDynamicSharedMemorySize)
        emu_allowed()[(const void *)kernel] = (size_t)value;
    return cudaSuccess;
}

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs;
};
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *kernel) {
    emu_call call;
    if (!kernel) return emu_error(cudaErrorInvalidDeviceFunction);
    if (!emu_settings().code) return emu_error(cudaErrorNoKernelImageForDevice);
    *a = {0, 0, 0, 1024, 0};
    return cudaSuccess;
}

/* --- launches -------------------------------------------------------------------------------- */

/* Whether a launch goes into the stream. One that fails leaves an error as CUDA does: EMU_STICKY=1
 * when the stream comes to it, and the device is lost; else at once, and nothing is lost. */
inline bool emu_launch_begins(emu_stream *s) {
    emu_counted.launches++;
    if (emu_state(s->device)) return false;
    if (!emu_settings().code) {
        emu_error(cudaErrorNoKernelImageForDevice);
        return false;
    }
    if (!emu_fails(EMU_LAUNCH)) return true;
    if (!emu_settings().sticky) {
        emu_error(cudaErrorLaunchOutOfResources);
        return false;
    }
    const int device = s->device;
    emu_enqueue(s, [=] { emu_memory().device[device].failed = cudaErrorLaunchFailure; });
    return false;
}
template <class... P, class... A>
inline void emu_launch(emu_launch_of launch, cudaStream_t stream, void (*kernel)(P...), A... args) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    if (s->device != emu_current)
        emu_stop("line %lld launches on a stream of device %lld, which is not the current one",
                 launch.line, s->device);
    const auto allowed = emu_allowed().find((const void *)kernel);
    launch.allowed = allowed == emu_allowed().end() ? 0 : allowed->second;
    emu_check_launch(launch);
    if (!emu_launch_begins(s)) return;
    emu_enqueue(s, [=] { emu_run_grid(launch, [=] { kernel(args...); }); });
}
inline emu_launch_of emu_launch_at(const char *unit, const char *kernel, const char *file, int line,
                                   dim3 grid, dim3 block, size_t dynamic, bool plain) {
    emu_call call;
    if (emu_files().path) emu_files().files.insert(unit);
    return {kernel, file, line, grid, block, dynamic, 0, plain};
}
#define EMU_LAUNCH_OF(kernel, ...) \
    emu_launch_at(__BASE_FILE__, #kernel, __FILE__, __LINE__, __VA_ARGS__)

/* What kernels are launched by. PLAIN promises that the kernel has no barrier, no shared memory and
 * no warp operation; SHARED gives each block so many bytes of dynamic shared memory. */
#define TNC_LAUNCH(kernel, grid, block, stream, ...) \
    emu_launch(EMU_LAUNCH_OF(kernel, grid, block, 0, false), stream, kernel, __VA_ARGS__)
#define TNC_LAUNCH_PLAIN(kernel, grid, block, stream, ...) \
    emu_launch(EMU_LAUNCH_OF(kernel, grid, block, 0, true), stream, kernel, __VA_ARGS__)
#define TNC_LAUNCH_SHARED(kernel, grid, block, bytes, stream, ...) \
    emu_launch(EMU_LAUNCH_OF(kernel, grid, block, bytes, false), stream, kernel, __VA_ARGS__)
#define TNC_EMULATED 1

typedef void (*cudaHostFn_t)(void *);
/* The function may not call the runtime. */
inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    const cudaError_t e = emu_state(s->device);
    if (e) return e;
    if (emu_fails(EMU_LAUNCH)) return emu_error(cudaErrorMemoryAllocation);
    const auto run = [=] {
        emu_queue().in_host_function = true;
        function(data);
        emu_queue().in_host_function = false;
    };
    emu_enqueue(s, run, true);
    return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    if (!exec || !exec->live)
        emu_stop("an executable graph is used that was destroyed, or never made");
    const cudaError_t e = emu_forbidden(s);
    if (e) return e;
    if (!emu_launch_begins(s)) return cudaPeekAtLastError();
    emu_push(s, {{[=] { emu_graph_run(exec->nodes); }, s->device, true}, NULL, NULL});
    return cudaSuccess;
}
#endif
