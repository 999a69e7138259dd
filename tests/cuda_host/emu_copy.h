/* emu_copy.h - allocation, copies and fills of the runtime.
 *
 * Pinned memory is read and written when the stream comes to the copy. Pageable memory is read at
 * the call, and a copy to it has ended when the call returns. */
#ifndef EMU_COPY_H
#define EMU_COPY_H

#include "emu_runtime.h"

/* --- device memory --------------------------------------------------------------------------- */

inline cudaError_t cudaMalloc(void **at, size_t bytes) {
    emu_call call;
    cudaError_t e = emu_state(emu_current);
    if (e || (e = emu_forbidden())) return e;
    *at = NULL;
    if (emu_fails(EMU_ALLOC)) return emu_error(cudaErrorMemoryAllocation);
    if (!bytes) return cudaSuccess;
    *at = emu_allocate(emu_current, bytes);
    if (!*at) return emu_error(cudaErrorMemoryAllocation);
    emu_counted.allocs++;
    return cudaSuccess;
}
/* Waits for all of the device, as CUDA's. */
inline cudaError_t cudaFree(void *at) {
    emu_call call;
    cudaError_t e = emu_forbidden();
    if (e || !at) return e;
    const int device = emu_device_of(at);
    if (device < 0) emu_stop("cudaFree of memory of no device");
    emu_finish(device);
    if ((e = emu_state(device))) return e;
    emu_deallocate(device, at);
    emu_counted.frees++;
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    emu_call call;
    const cudaError_t e = emu_state(emu_current);
    if (e) return e;
    *total = emu_settings().bytes;
    *free_bytes = *total - emu_memory().device[emu_current].live;
    return cudaSuccess;
}

/* --- pinned memory of the host --------------------------------------------------------------- */

enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
inline cudaError_t cudaHostAlloc(void **at, size_t bytes, unsigned) {
    emu_call call;
    cudaError_t e = emu_state(emu_current);
    if (e || (e = emu_forbidden())) return e;
    *at = NULL;
    if (emu_fails(EMU_ALLOC)) return emu_error(cudaErrorMemoryAllocation);
    if (!bytes) return cudaSuccess;
    *at = malloc(bytes);
    if (!*at) return emu_error(cudaErrorMemoryAllocation);
    memset(*at, 0xff, bytes);
    emu_memory().pinned[(const char *)*at] = bytes;
    emu_counted.pinned++;
    return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void **at, size_t bytes) {
    return cudaHostAlloc(at, bytes, cudaHostAllocDefault);
}
/* Work that still is to read or write it is a bug: under ASan it ends the process. */
inline cudaError_t cudaFreeHost(void *at) {
    emu_call call;
    const cudaError_t e = emu_forbidden();
    if (e || !at) return e;
    auto pinned = emu_memory().pinned.find((const char *)at);
    if (pinned == emu_memory().pinned.end()) emu_stop("cudaFreeHost of memory that is not pinned");
    memset(at, 0xff, pinned->second);
    free(at);
    emu_memory().pinned.erase(pinned);
    emu_counted.unpinned++;
    return cudaSuccess;
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *at) {
    emu_call call;
    const int device = emu_device_of(at);
    void *p = (void *)(uintptr_t)at;
    if (device >= 0)
        *a = {cudaMemoryTypeDevice, device, p, NULL};
    else if (emu_is_pinned(at))
        *a = {cudaMemoryTypeHost, emu_current, p, p};
    else
        *a = {cudaMemoryTypeUnregistered, -2, NULL, p};
    return cudaSuccess;
}

/* --- copies ---------------------------------------------------------------------------------- */

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
/* Bits of the devices that the two sides are on; stops sides that are not what the kind says. */
inline unsigned emu_copy_sides(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    const bool down = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
    const bool up = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
    unsigned devices = 0;
    if (kind == cudaMemcpyDefault ? emu_device_of(to) >= 0 : !down)
        devices |= 1u << emu_check_range(to, n, "the destination of a copy");
    else if (emu_device_of(to) >= 0)
        emu_stop("the destination of a copy to the host is on device %lld", emu_device_of(to));
    if (kind == cudaMemcpyDefault ? emu_device_of(from) >= 0 : !up)
        devices |= 1u << emu_check_range(from, n, "the source of a copy");
    else if (emu_device_of(from) >= 0)
        emu_stop("the source of a copy from the host is on device %lld", emu_device_of(from));
    return devices;
}
/* What copies and fills begin with. */
inline cudaError_t emu_copy_begin(emu_stream *s) {
    const cudaError_t e = emu_state(s->device);
    if (e) return e;
    emu_counted.copies++;
    if (emu_fails(EMU_COPY)) return emu_error(cudaErrorUnknown);

    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    cudaError_t e = emu_copy_begin(s);
    if (e || !n) return e;
    const unsigned devices = emu_copy_sides(to, from, n, kind);
    const bool read_now = emu_device_of(from) < 0 && !emu_is_pinned(from);
    const bool wait = emu_device_of(to) < 0 && !emu_is_pinned(to);
    if ((read_now || wait) && (e = emu_forbidden(s))) return e;
    if (read_now) {
        const std::vector<char> held((const char *)from, (const char *)from + n);
        emu_enqueue(s, [=] {
            emu_access open(devices);
            memcpy(to, held.data(), n);
        });
    } else
        emu_enqueue(s, [=] {
            emu_access open(devices);
            memmove(to, from, n);
        });
    if (!wait) return cudaSuccess;
    emu_finish(s);
    return emu_state(s->device);
}
inline cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                       size_t n, cudaStream_t stream) {
    if (n && (emu_device_of(to) != to_device || emu_device_of(from) != from_device))
        emu_stop("cudaMemcpyPeerAsync: memory is not on devices %lld and %lld", to_device,
                 from_device);
    return cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, stream);
}
inline cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t stream) {
    emu_call call;
    emu_stream *s = emu_check(stream);
    const cudaError_t e = emu_copy_begin(s);
    if (e || !n) return e;
    const int device = emu_check_range(to, n, "the destination of a fill");
    emu_enqueue(s, [=] {
        emu_access open(1u << device);
        memset(to, value, n);
    });
    return cudaSuccess;
}
#endif
