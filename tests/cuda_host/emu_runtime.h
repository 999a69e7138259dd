/* emu_runtime.h - the functions of the runtime for devices, streams and events, with CUDA's return
 * values. Where an error could only be a bug of the caller (a stale handle, a stream of another
 * device), a sentence ends the process instead. */
#ifndef EMU_RUNTIME_H
#define EMU_RUNTIME_H

#include "emu_graph.h"

/* --- errors, devices ------------------------------------------------------------------------- */

inline thread_local int emu_current; /* device of this host thread */

/* What most functions return once a device has failed for good. */
inline cudaError_t emu_state(int device) { return emu_error(emu_memory().device[device].failed); }
inline cudaError_t cudaPeekAtLastError() {
    emu_hold hold;
    const cudaError_t failed = emu_memory().device[emu_current].failed;
    return failed ? failed : emu_last;
}
inline cudaError_t cudaGetLastError() {
    const cudaError_t e = cudaPeekAtLastError();
    emu_last = cudaSuccess;
    return e;
}
inline cudaError_t cudaGetDeviceCount(int *n) {
    emu_call call;
    *n = emu_devices();
    return emu_error(*n ? cudaSuccess : cudaErrorNoDevice);
}
inline cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= emu_devices()) return emu_error(cudaErrorInvalidDevice);
    emu_current = device;
    return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int *device) {
    *device = emu_current;
    return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
    int major, minor, multiProcessorCount, warpSize, maxThreadsPerBlock;
    int maxThreadsPerMultiProcessor, regsPerBlock, l2CacheSize;
};
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
    emu_call call;
    if (device < 0 || device >= emu_devices()) return emu_error(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "emulated device %d", device);
    p->totalGlobalMem = emu_settings().bytes;
    p->sharedMemPerBlock = EMU_SHARED_STATIC;
    p->sharedMemPerBlockOptin = EMU_SHARED_OPTIN;
    p->major = 9;
    p->minor = 0;
    p->multiProcessorCount = (int)emu_number("EMU_PROCESSORS", 4);
    p->warpSize = EMU_WARP;
    p->maxThreadsPerBlock = EMU_MOST_THREADS;
    p->maxThreadsPerMultiProcessor = 2 * EMU_MOST_THREADS;
    p->regsPerBlock = 65536;
    p->l2CacheSize = 50 << 20;
    return cudaSuccess;
}
enum cudaDeviceAttr { /* CUDA's numbers */
                      cudaDevAttrMaxThreadsPerBlock = 1,
                      cudaDevAttrMaxSharedMemoryPerBlock = 8,
                      cudaDevAttrWarpSize = 10,
                      cudaDevAttrMultiProcessorCount = 16,
                      cudaDevAttrL2CacheSize = 38,
                      cudaDevAttrMaxThreadsPerMultiProcessor = 39,
                      cudaDevAttrComputeCapabilityMajor = 75,
                      cudaDevAttrComputeCapabilityMinor = 76,
                      cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    const cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (e) return e;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    }
    return cudaSuccess;
}
/* Any two devices reach each other unless EMU_PEERS=0. */
inline cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    if (device < 0 || device >= emu_devices() || peer < 0 || peer >= emu_devices())
        return emu_error(cudaErrorInvalidDevice);
    *can = device != peer && emu_number("EMU_PEERS", 1) != 0;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    emu_call call;
    int can;
    const cudaError_t e = cudaDeviceCanAccessPeer(&can, emu_current, peer);
    if (e) return e;
    if (!can || flags) return emu_error(flags ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
    unsigned *peers = &emu_memory().device[emu_current].peers;
    if (*peers >> peer & 1) return emu_error(cudaErrorPeerAccessAlreadyEnabled);
    *peers |= 1u << peer;
    return cudaSuccess;
}

/* --- streams --------------------------------------------------------------------------------- */

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };

inline cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) {
    emu_call call;
    cudaError_t e = emu_state(emu_current);
    if (!e && flags > cudaStreamNonBlocking) e = emu_error(cudaErrorInvalidValue);
    if (!e && emu_fails(EMU_CREATE)) e = emu_error(cudaErrorMemoryAllocation);
    if (e) return e;
    *s = new emu_stream{emu_current, priority, true, {}, NULL, {}};
    emu_queue().streams.emplace_back(*s);
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
    return cudaStreamCreateWithPriority(s, flags, 0);
}
inline cudaError_t cudaStreamCreate(cudaStream_t *s) {
    return cudaStreamCreateWithPriority(s, cudaStreamDefault, 0);
}
/* Its work still runs, at the latest when something of its device is waited for. */
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    if (s->graph) return emu_spoil(s->graph, cudaErrorStreamCaptureUnsupported);
    s->live = false;
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    const cudaError_t e = emu_forbidden(s);
    if (e) return e;
    emu_counted.waits++;
    emu_finish(s);
    return emu_state(s->device);
}
inline cudaError_t cudaDeviceSynchronize() {
    emu_call call;
    const cudaError_t e = emu_forbidden_on(emu_current);
    if (e) return e;
    emu_counted.waits++;
    emu_finish(emu_current);
    return emu_state(emu_current);
}
/* Each question lets the stream go a step on, so that who asks again and again comes to an end. */
inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    cudaError_t e = emu_forbidden(s);
    if (e || (e = emu_state(s->device))) return e;
    if (s->todo.empty()) return cudaSuccess;
    emu_advance(s);
    return emu_error(cudaErrorNotReady);
}

/* --- events ---------------------------------------------------------------------------------- */

enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) {
    emu_call call;
    const cudaError_t failed = emu_state(emu_current);
    if (failed) return failed;
    if (emu_fails(EMU_CREATE)) return emu_error(cudaErrorMemoryAllocation);
    *e = new emu_event{emu_current, flags, true, NULL};
    emu_queue().events.emplace_back(*e);
    return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t *e) {
    return cudaEventCreateWithFlags(e, cudaEventDefault);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { /* a wait for it goes on */
    emu_call call;
    emu_check(event)->live = false;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    emu_call call;
    emu_event *e = emu_check(event);
    emu_stream *s = emu_check(stream);
    if (e->device != s->device)
        emu_stop("an event of device %lld is recorded in a stream of device %lld", e->device,
                 s->device);
    const cudaError_t failed = emu_state(s->device);
    if (failed) return failed;
    emu_counted.events++;
    e->last = std::make_shared<emu_mark>(emu_mark{s, false, 0, s->graph, s->tips});
    if (!s->graph) emu_push(s, {{NULL, s->device, false}, NULL, e->last});
    return cudaSuccess;
}
/* For the record of this moment; a later one changes nothing. */
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    const emu_event *e = emu_check(event);
    const cudaError_t failed = emu_state(s->device);
    if (failed || !e->last) return failed;
    if (s->graph || e->last->graph) return emu_graph_wait(s, *e->last);
    emu_push(s, {{NULL, s->device, false}, e->last, NULL});
    return cudaSuccess;
}
inline cudaError_t emu_event_state(const emu_event *e) {
    const cudaError_t failed = emu_forbidden();
    if (failed) return failed;
    if (e->last && e->last->graph) return emu_error(cudaErrorCapturedEvent);
    return emu_state(e->device);
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    emu_call call;
    const emu_event *e = emu_check(event);
    const cudaError_t failed = emu_event_state(e);
    if (failed || !e->last) return failed;
    const std::shared_ptr<emu_mark> mark = e->last;
    emu_counted.waits++;
    emu_run_until({mark->stream}, [&] { return mark->done; });
    return emu_state(e->device);
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) {
    emu_call call;
    const emu_event *e = emu_check(event);
    const cudaError_t failed = emu_event_state(e);
    if (failed || !e->last || e->last->done) return failed;
    emu_advance(e->last->stream);
    return emu_error(cudaErrorNotReady);
}
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end) {
    emu_call call;
    const emu_event *a = emu_check(begin), *b = emu_check(end);
    if (!a->last || !b->last || (a->flags | b->flags) & cudaEventDisableTiming)
        return emu_error(cudaErrorInvalidResourceHandle);
    if (!a->last->done || !b->last->done) return emu_error(cudaErrorNotReady);
    *ms = (float)(b->last->ms - a->last->ms);
    return cudaSuccess;
}
#endif
