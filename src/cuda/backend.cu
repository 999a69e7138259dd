/* backend.cu - what the core asks of the backend (api/device.h): devices, waits, bytes up and down,
 * the rows of all families, and the function that a module exports. */
#include "copy.cuh"
#include "families.cuh"
#include "memory.cuh"

#include <stdlib.h>

#include <map>
#include <new>
#include <vector>

static tnc_device backend_devices[TNC_DEVICES];
static std::mutex backend_lock; /* of opening, of faults, and of making the list of rows */

TNC_PRIV tnc_device *tnc_device_at(int32_t device) { return &backend_devices[device]; }

TNC_PRIV cudaStream_t tnc_stream_of(int32_t device) {
    cudaSetDevice(device); /* if it fails, so does the launch */
    return tnc_stream_now(device);
}

TNC_PRIV void tnc_asked() {
    const cudaError_t e = cudaPeekAtLastError();
    int device = 0, none = 0;
    if (e == cudaSuccess || cudaGetDevice(&device) != cudaSuccess) return;
    backend_devices[device].broken.compare_exchange_strong(none, (int)e);
}

static bool backend_exact(void) {
    const char *said = getenv("TN_CUDA_EXACT");
#ifdef TNC_EMULATED
    return !said || strcmp(said, "0") != 0;
#else
    return said && strcmp(said, "1") == 0;
#endif
}
TNC_PRIV bool tnc_exact(void) {
    static const bool exact = backend_exact();
    return exact;
}
static bool backend_tf32(void) {
    const char *said = getenv("TN_CUDA_TF32");
    return said && *said && strcmp(said, "0") != 0;
}
TNC_PRIV bool tnc_tf32(void) {
    static const bool fast = backend_tf32();
    return fast;
}

/* The driver's text; false. */
static bool backend_failed(cudaError_t e, char *why, size_t room) {
    snprintf(why, room, "%s", cudaGetErrorString(e));
    return false;
}

/* --- faults ----------------------------------------------------------------------------------- */

/* A context that has opened a device has a place for its faults there until it ends. Kernels of one
 * that has ended may still write there, so its place waits until the device has done all. */
struct backend_faults {
    struct place {
        tnc_fault *at;
        int contexts; /* more than one: numbers have come round */
    };
    std::map<uint64_t, place> of; /* by the context's number */
    std::vector<tnc_fault *> idle, left;
};
static backend_faults &backend_faults_of(int32_t device) {
    static tnc_lasting<backend_faults> all[TNC_DEVICES];
    return all[device].value;
}
TNC_PRIV tnc_fault *tnc_fault_of(int32_t device, uint64_t owner) {
    std::lock_guard<std::mutex> hold(backend_lock);
    return backend_faults_of(device).of[owner].at;
}

/* Room for more contexts of the current device: places that were left, else new ones. */
static cudaError_t backend_more_faults(backend_faults *f) {
    enum { EACH = 64 };
    void *made = NULL;
    cudaError_t e = cudaSuccess;
    if (!f->left.empty() && !cudaDeviceSynchronize()) {
        f->idle.swap(f->left);
    } else {
        const size_t all = f->of.size() + f->left.size() + EACH;
        f->idle.reserve(all); /* room first: leaving one cannot fail then */
        f->left.reserve(all);
        e = cudaHostAlloc(&made, EACH * sizeof(tnc_fault), cudaHostAllocDefault);
        for (int i = 0; !e && i < EACH; i++) f->idle.push_back((tnc_fault *)made + i);
    }
    for (tnc_fault *at : f->idle) memset(at, 0, sizeof *at);
    return e;
}
static cudaError_t backend_take_fault(int32_t device, uint64_t owner) {
    backend_faults &f = backend_faults_of(device);
    try {
        cudaError_t e = cudaSuccess;
        if (!f.of.count(owner) && f.idle.empty() && (e = backend_more_faults(&f)) != cudaSuccess)
            return e;
        backend_faults::place &p = f.of[owner];
        if (p.contexts++) return cudaSuccess;
        p.at = f.idle.back();
        f.idle.pop_back();
    } catch (const std::bad_alloc &) {
        return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}
static void backend_close(int32_t device, uint64_t owner) {
    std::lock_guard<std::mutex> hold(backend_lock);
    backend_faults &f = backend_faults_of(device);
    backend_faults::place &p = f.of[owner];
    if (--p.contexts) return;
    f.left.push_back(p.at);
    f.of.erase(owner);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Nothing: whether it can be launched says whether the module has code for a device. */
static __global__ void backend_nothing() {}

/* What does not depend on the context. */
static cudaError_t backend_begin(int32_t device) {
    tnc_device *d = &backend_devices[device];
    cudaFuncAttributes a;
    cudaError_t e = cudaDeviceGetAttribute(&d->processors, cudaDevAttrMultiProcessorCount, device);
    if (!e) e = cudaFuncGetAttributes(&a, (const void *)backend_nothing);
    if (!e) e = cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking);
    d->open = !e;
    return e;
}
static bool backend_has_no_code(int32_t device, char *why, size_t room) {
    cudaDeviceProp p;
    (void)cudaGetLastError(); /* nothing is broken */
    memset(&p, 0, sizeof p);
    (void)cudaGetDeviceProperties(&p, device);
    snprintf(why, room, "the backend was compiled without code for compute capability %d.%d",
             p.major, p.minor);
    return false;
}

static bool backend_open(int32_t device, uint64_t owner, char *why, size_t room) {
    std::lock_guard<std::mutex> hold(backend_lock);
    tnc_device *d = &backend_devices[device];
    cudaError_t e = cudaSetDevice(device);
    if (!e && !d->open) e = backend_begin(device);
    if (!e) e = backend_take_fault(device, owner);
    if (e == cudaErrorNoKernelImageForDevice || e == cudaErrorInvalidDeviceFunction)
        return backend_has_no_code(device, why, room);
    return !e || backend_failed(e, why, room);
}

TNC_PRIV bool tnc_waited(int32_t device, cudaError_t e, tn_fault *fault, char *why, size_t room) {
    tnc_device *d = &backend_devices[device];
    if (!e) e = (cudaError_t)d->broken.load();
    if (!e) e = cudaGetLastError();
    if (e) return backend_failed(e, why, room);
    tnc_fault *told = tnc_fault_of(device, fault->owner);
    std::lock_guard<std::mutex> hold(backend_lock); /* one of several threads tells a fault */
    const uint64_t ticket = __atomic_load_n(&told->ticket, __ATOMIC_ACQUIRE);
    if (!ticket) return true;
    fault->ticket = ticket;
    fault->value = (int64_t)told->value;
    fault->bound = (int64_t)told->bound;
    told->ticket = told->value = told->bound = 0;
    /* last: a kernel of another stream may claim it from here on */
    __atomic_store_n(&told->claim, 0, __ATOMIC_RELEASE);
    return true;
}

static bool backend_wait(int32_t device, tn_fault *fault, char *why, size_t room) {
    cudaError_t e = cudaSetDevice(device);
    if (!e)
        e = tnc_one_stream() ? cudaStreamSynchronize(backend_devices[device].stream)
                             : cudaDeviceSynchronize();
    return tnc_waited(device, e, fault, why, room);
}

/* What is left is asked of a device in use alone: the driver would begin a context for it. */
static void backend_properties(int32_t device, tn_device_properties *to) {
    cudaDeviceProp p;
    int runtime = 0;
    size_t left = 0, all = 0;
    if (cudaGetDeviceProperties(&p, device) || cudaRuntimeGetVersion(&runtime)) {
        (void)cudaGetLastError(); /* it stays unknown */
        return;
    }
    snprintf(to->name, sizeof to->name, "%.120s", p.name);
    to->major = p.major;
    to->minor = p.minor;
    to->processors = p.multiProcessorCount;
    to->threads = p.maxThreadsPerMultiProcessor;
    to->runtime = runtime;
    to->memory = (int64_t)p.totalGlobalMem;
    to->cache = p.l2CacheSize;
    if (!backend_devices[device].open || cudaSetDevice(device)) return;
    if (!cudaMemGetInfo(&left, &all)) to->left = (int64_t)left;
}

/* Whether a copy from there may go on when the call returns: pinned memory, of this cache or of
 * others. Pageable memory the driver has read by then. */
static bool backend_reads_later(const void *host) {
    cudaPointerAttributes a;
    if (tnc_host_is(host)) return true;
    if (cudaPointerGetAttributes(&a, host) == cudaSuccess)
        return a.type != cudaMemoryTypeUnregistered;
    (void)cudaGetLastError();
    return true;
}

static bool backend_copy(int32_t device, void *to, const void *from, int64_t bytes,
                         enum tn_copy how, char *why, size_t room) {
    cudaStream_t s = tnc_stream_now(device);
    const bool up = (how & TN_COPY_UP) != 0;
    const void *host = up ? from : to;
    cudaError_t e = cudaSetDevice(device);
    if (!e)
        e = cudaMemcpyAsync(to, from, (size_t)bytes,
                            up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, s);
    if (e) return backend_failed(e, why, room);
    if (how & TN_COPY_LATER && tnc_host_busy(host, s)) return true;
    if (!up || backend_reads_later(host)) e = cudaStreamSynchronize(s);
    return !e || backend_failed(e, why, room);
}

/* A device may read another one's memory by itself where there is a link; without one the driver
 * copies through the host. */
static void backend_link(int32_t device, int32_t from) {
    static std::atomic<uint64_t> asked[TNC_DEVICES];
    const uint64_t bit = (uint64_t)1 << from;
    int can = 0;
    if (asked[device].fetch_or(bit) & bit) return;
    if (!cudaDeviceCanAccessPeer(&can, device, from) && can) cudaDeviceEnablePeerAccess(from, 0);
    (void)cudaGetLastError(); /* also: the program has done so */
}

static bool backend_across(int32_t device, void *to, int32_t from_device, const void *from,
                           int64_t bytes, char *why, size_t room) {
    cudaError_t e = cudaSetDevice(device);
    if (!e) {
        backend_link(device, from_device);
        e = cudaMemcpyPeerAsync(to, device, from, from_device, (size_t)bytes,
                                tnc_stream_now(device));
    }
    return !e || backend_failed(e, why, room);
}

/* The rows of all families, side by side. NULL: no memory. */
static const tn_device_row *backend_rows(int32_t *count) {
    static tnc_lasting<std::vector<tn_device_row>> all;
    std::vector<tn_device_row> &rows = all.value;
    std::lock_guard<std::mutex> hold(backend_lock);
#define BACKEND_ADD(name)                                \
    {                                                    \
        int n;                                           \
        const tn_device_row *of = tnc_##name##_rows(&n); \
        rows.insert(rows.end(), of, of + n);             \
    }
    try {
        if (rows.empty()) {
            TNC_FAMILIES(BACKEND_ADD)
        }
    } catch (const std::bad_alloc &) {
        rows.clear();
    }
#undef BACKEND_ADD
    *count = (int32_t)rows.size();
    return rows.empty() ? NULL : rows.data();
}

static tn_backend backend_cuda;
TNC_PRIV const tn_backend *tnc_backend() { return &backend_cuda; }

/* The backend, or NULL and why there is none. */
static const tn_backend *backend_find(char *why, size_t room) {
    tn_backend &cuda = backend_cuda;
    int n = 0;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e || !n) {
        snprintf(why, room, "%s", e ? cudaGetErrorString(e) : "the driver knows no device");
        return NULL;
    }
    cuda.rows = backend_rows(&cuda.nrows);
    if (!cuda.rows) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    cuda.version = TN_BACKEND_VERSION;
    cuda.bytes = sizeof cuda;
    cuda.kind = "cuda";
    cuda.count = n > TNC_DEVICES ? (int)TNC_DEVICES : n;
    cuda.open = backend_open;
    cuda.alloc = tnc_alloc;
    cuda.free = tnc_free;
    cuda.copy = backend_copy;
    cuda.elements = tnc_elements;
    cuda.fill = tnc_fill;
    cuda.wait = backend_wait;
    cuda.trim = tnc_trim;
    cuda.memory = tnc_memory;
    cuda.reset_peak = tnc_reset_peak;
    cuda.limit = tnc_limit;
    cuda.snapshot = tnc_snapshot;
    cuda.host_alloc = tnc_host_alloc;
    cuda.host_free = tnc_host_free;
    cuda.properties = backend_properties;
    cuda.streams = tnc_streams();
    cuda.close = backend_close;
    cuda.across = backend_across;
    cuda.grain = TNC_MEMORY_GRAIN;
    return &cuda;
}

#ifndef TN_IMPORT
TN_API const tn_backend *tn_cuda_backend(char *why, size_t room) { return backend_find(why, room); }
#else
/* What tn_device_load looks for in a module. */
extern "C" __attribute__((visibility("default"))) const tn_backend *
tn_backend_of_module(const void *exports, char *why, size_t room) {
    if (!tn_import((const tn_exports *)exports)) {
        snprintf(why, room, "its module was compiled for another version of tensor.h");
        return NULL;
    }
    return backend_find(why, room);
}
#endif
