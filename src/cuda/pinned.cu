/* pinned.cu - memory of the host that devices copy from and to by themselves. Blocks of powers of 2
 * are kept for the next; one that a copy may still use waits for its events first. */
#include "memory.cuh"

#include <map>
#include <new>
#include <vector>

enum : int64_t { PINNED_LEAST = 4096 }; /* bytes */

struct pinned_use {
    cudaStream_t stream;
    cudaEvent_t done; /* of the last copy there */
};
struct pinned_block {
    char *at;
    int64_t bytes;
    std::vector<pinned_use> uses;
};
struct pinned_cache {
    std::mutex lock;
    std::map<const char *, pinned_block *> used;
    std::multimap<int64_t, pinned_block *> idle; /* by bytes */
    std::vector<pinned_block *> waiting;         /* freed, but not yet done with */
};
static pinned_cache &pinned_all() {
    static tnc_lasting<pinned_cache> cache;
    return cache.value;
}

/* Whether the copies of p are done, also because their device has failed; their events are given
 * up. */
static bool pinned_done(pinned_block *p) {
    while (!p->uses.empty()) {
        const cudaError_t e = cudaEventQuery(p->uses.back().done);
        if (e) (void)cudaGetLastError();
        if (e == cudaErrorNotReady) return false;
        cudaEventDestroy(p->uses.back().done);
        p->uses.pop_back();
    }
    return true;
}

/* Blocks whose copies are done are free for the next. */
static void pinned_look() {
    for (size_t i = 0; i < pinned_all().waiting.size();) {
        pinned_block *p = pinned_all().waiting[i];
        if (!pinned_done(p)) {
            i++;
            continue;
        }
        pinned_all().idle.emplace(p->bytes, p);
        pinned_all().waiting[i] = pinned_all().waiting.back();
        pinned_all().waiting.pop_back();
    }
}

static void pinned_release_idle() {
    for (auto &i : pinned_all().idle) {
        cudaFreeHost(i.second->at);
        delete i.second;
    }
    pinned_all().idle.clear();
}

/* NULL with *e. */
static pinned_block *pinned_new(int64_t bytes, cudaError_t *e) {
    pinned_block *p = new (std::nothrow) pinned_block();
    void *at = NULL;
    if (!p) return NULL;
    *e = cudaHostAlloc(&at, (size_t)bytes, cudaHostAllocPortable);
    if (*e == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        pinned_release_idle();
        *e = cudaHostAlloc(&at, (size_t)bytes, cudaHostAllocPortable);
    }
    if (*e) {
        (void)cudaGetLastError();
        delete p;
        return NULL;
    }
    p->bytes = bytes;
    p->at = (char *)at;
    return p;
}

/* The block that holds `at`; end: none. */
static std::map<const char *, pinned_block *>::iterator pinned_find(const void *at) {
    auto i = pinned_all().used.upper_bound((const char *)at);
    if (i == pinned_all().used.begin()) return pinned_all().used.end();
    --i;
    return (const char *)at < i->first + i->second->bytes ? i : pinned_all().used.end();
}

TNC_PRIV void *tnc_host_alloc(int32_t device, int64_t bytes, char *why, size_t room) {
    std::lock_guard<std::mutex> hold(pinned_all().lock);
    int64_t whole = PINNED_LEAST;
    pinned_block *p = NULL;
    cudaError_t e = cudaSetDevice(device);
    while (whole < bytes && whole < INT64_MAX / 2) whole *= 2;
    if (whole < bytes) return NULL;
    if (e) {
        tnc_no_memory(e, why, room);
        return NULL;
    }
    e = cudaErrorMemoryAllocation;
    try {
        pinned_look();
        auto i = pinned_all().idle.find(whole);
        if (i != pinned_all().idle.end()) {
            p = i->second;
            pinned_all().idle.erase(i);
        } else if (!(p = pinned_new(whole, &e))) {
            tnc_no_memory(e, why, room);
            return NULL;
        }
        pinned_all().used[p->at] = p;
    } catch (const std::bad_alloc &) {
        return NULL; /* p, if it is there, is lost until the process ends */
    }
    return p->at;
}

/* Without memory for the lists the block is lost until the process ends. */
TNC_PRIV void tnc_host_free(int32_t device, void *at) {
    std::lock_guard<std::mutex> hold(pinned_all().lock);
    auto i = pinned_all().used.find((const char *)at);
    (void)device;
    if (i == pinned_all().used.end()) return;
    pinned_block *p = i->second;
    pinned_all().used.erase(i);
    try {
        pinned_all().waiting.push_back(p);
        pinned_look();
    } catch (const std::bad_alloc &) {}
}

TNC_PRIV bool tnc_host_is(const void *at) {
    std::lock_guard<std::mutex> hold(pinned_all().lock);
    return pinned_find(at) != pinned_all().used.end();
}

/* The event of the stream's last copy with p, recorded anew; without one there is none to make. */
static bool pinned_record(pinned_block *p, cudaStream_t stream) {
    pinned_use use = {stream, NULL};
    for (pinned_use &u : p->uses)
        if (u.stream == stream) return cudaEventRecord(u.done, stream) == cudaSuccess;
    p->uses.reserve(p->uses.size() + 1);
    if (cudaEventCreateWithFlags(&use.done, cudaEventDisableTiming) != cudaSuccess) return false;
    if (cudaEventRecord(use.done, stream) != cudaSuccess) {
        cudaEventDestroy(use.done);
        return false;
    }
    p->uses.push_back(use);
    return true;
}

TNC_PRIV bool tnc_host_busy(const void *at, cudaStream_t stream) {
    std::lock_guard<std::mutex> hold(pinned_all().lock);
    auto i = pinned_find(at);
    bool recorded = false;
    if (i == pinned_all().used.end()) return false;
    try {
        recorded = pinned_record(i->second, stream);
    } catch (const std::bad_alloc &) {}
    if (!recorded) (void)cudaGetLastError(); /* the caller waits instead */
    return recorded;
}

TNC_PRIV void tnc_host_trim() {
    std::lock_guard<std::mutex> hold(pinned_all().lock);
    for (pinned_block *p : pinned_all().waiting)
        for (const pinned_use &u : p->uses) cudaEventSynchronize(u.done);
    try {
        pinned_look();
    } catch (const std::bad_alloc &) {}
    pinned_release_idle();
}
