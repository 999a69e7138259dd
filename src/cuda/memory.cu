/* memory.cu - a caching allocator: segments from the driver, cut into pieces and joined again, the
 * best fit first. A segment belongs to the stream that was current when it was asked for, in whose
 * order its pieces are used: one that is freed may be given out again at once. One that other
 * streams have used waits for events of theirs first. Methods: PyTorch's CUDA caching allocator
 * (documentation). */
#include "memory.cuh"

#include <functional>
#include <map>
#include <new>
#include <set>
#include <vector>

enum : int64_t {
    MEMORY_SMALL = 1 << 20, /* up to this, pieces come from segments of their own */
    MEMORY_SMALL_SEGMENT = 2 << 20,
    MEMORY_LARGE_SEGMENT =
        20 << 20 /* of large pieces up to half of it; others have their own size */
};

struct memory_use { /* in another stream */
    cudaStream_t stream;
    cudaEvent_t done; /* behind the last use; NULL: the piece is in use still */
};
struct memory_piece {
    char *at;
    int64_t bytes;
    bool used, small;
    memory_piece *before, *after; /* of the same segment */
    cudaStream_t stream;          /* in whose order it is used */
    std::vector<memory_use> uses;
};
struct memory_by_size {
    bool operator()(const memory_piece *a, const memory_piece *b) const {
        if (a->stream != b->stream) return std::less<cudaStream_t>()(a->stream, b->stream);
        return a->bytes != b->bytes ? a->bytes < b->bytes : a->at < b->at;
    }
};
struct memory_cache {
    std::mutex lock;
    std::set<memory_piece *, memory_by_size> idle[2]; /* [1]: small */
    std::map<void *, memory_piece *> used;
    std::vector<memory_piece *> waiting; /* freed, but other streams are not done with them */
    tn_device_memory_info info;
};
static memory_cache *memory_cache_of(int32_t device) {
    static tnc_lasting<memory_cache> caches[TNC_DEVICES];
    return &caches[device].value;
}

/* --- pieces ----------------------------------------------------------------------------------- */

/* p waits for its next user. Without memory for the list it is lost until the process ends. */
static void memory_keep(memory_cache *c, memory_piece *p) {
    try {
        c->idle[p->small].insert(p);
    } catch (const std::bad_alloc &) {}
}

/* What lies behind the first `bytes` of p becomes an idle piece, if it is worth one. */
static void memory_cut(memory_cache *c, memory_piece *p, int64_t bytes) {
    memory_piece *rest;
    if (p->bytes - bytes < (p->small ? TNC_MEMORY_GRAIN : MEMORY_SMALL)) return;
    rest = new (std::nothrow) memory_piece(*p);
    if (!rest) return; /* p stays whole */
    rest->at += bytes;
    rest->bytes -= bytes;
    rest->before = p;
    p->after = rest;
    if (rest->after) rest->after->before = rest;
    p->bytes = bytes;
    memory_keep(c, rest);
}

/* The piece behind a, which is idle, becomes a part of it. */
static void memory_join(memory_cache *c, memory_piece *a) {
    memory_piece *b = a->after;
    if (!b || b->used) return;
    c->idle[b->small].erase(b);
    a->bytes += b->bytes;
    a->after = b->after;
    if (b->after) b->after->before = a;
    delete b;
}

/* p, which is used no more, is there for the next call of its stream. */
static void memory_give_back(memory_cache *c, memory_piece *p) {
    p->used = false;
#ifdef TNC_EMULATED
    emu_piece(p->at, 0, (size_t)p->bytes, false, p->stream);
#endif
    memory_join(c, p);
    if (p->before && !p->before->used) {
        p = p->before;
        c->idle[p->small].erase(p);
        memory_join(c, p);
    }
    memory_keep(c, p);
}

/* --- pieces that several streams use ---------------------------------------------------------- */

/* Whether the other streams are done with p, for which it may wait; their events are given up. */
static bool memory_is_over(memory_piece *p, bool wait) {
    while (!p->uses.empty()) {
        const cudaEvent_t done = p->uses.back().done;
        const cudaError_t e = wait ? cudaEventSynchronize(done) : cudaEventQuery(done);
        if (e == cudaErrorNotReady) {
            (void)cudaGetLastError();
            return false;
        }
        cudaEventDestroy(done); /* also of a device that has failed */
        p->uses.pop_back();
    }
    return true;
}

/* Pieces with which the other streams are done are given back. */
static void memory_look(memory_cache *c, bool wait) {
    for (size_t i = 0; i < c->waiting.size();) {
        memory_piece *p = c->waiting[i];
        if (!memory_is_over(p, wait)) {
            i++;
            continue;
        }
        c->waiting[i] = c->waiting.back();
        c->waiting.pop_back();
        memory_give_back(c, p);
    }
}

/* p is freed, but other streams use it. Where an event cannot be made the host waits, and without
 * memory for the list the piece is lost until the process ends. */
static void memory_leave(memory_cache *c, int32_t device, memory_piece *p) {
    cudaSetDevice(device);
    for (size_t i = 0; i < p->uses.size();) {
        memory_use &u = p->uses[i];
        cudaError_t e = cudaEventCreateWithFlags(&u.done, cudaEventDisableTiming);
        if (!e && !(e = cudaEventRecord(u.done, u.stream))) {
            i++;
            continue;
        }
        (void)cudaGetLastError();
        if (u.done) cudaEventDestroy(u.done);
        cudaStreamSynchronize(u.stream);
        u = p->uses.back();
        p->uses.pop_back();
    }
    if (p->uses.empty()) return memory_give_back(c, p);
    try {
        c->waiting.push_back(p);
    } catch (const std::bad_alloc &) {}
}

/* --- segments --------------------------------------------------------------------------------- */

/* Gives back the segments of which no part is used. */
static void memory_release_idle(memory_cache *c) {
    for (int k = 0; k < 2; k++)
        for (auto i = c->idle[k].begin(); i != c->idle[k].end();) {
            memory_piece *p = *i;
            if (p->before || p->after) {
                ++i;
                continue;
            }
            i = c->idle[k].erase(i);
            cudaFree(p->at);
            c->info.reserved -= p->bytes;
            delete p;
        }
}

static int64_t memory_segment_bytes(int64_t bytes, bool small) {
    if (small) return MEMORY_SMALL_SEGMENT;
    if (bytes < MEMORY_LARGE_SEGMENT / 2) return MEMORY_LARGE_SEGMENT;
    return (bytes + MEMORY_SMALL_SEGMENT - 1) / MEMORY_SMALL_SEGMENT * MEMORY_SMALL_SEGMENT;
}

static cudaError_t memory_ask_driver(memory_cache *c, void **at, int64_t bytes) {
    cudaError_t e;
    if (c->info.limit && c->info.reserved > c->info.limit - bytes) return cudaErrorMemoryAllocation;
    c->info.calls++;
    e = cudaMalloc(at, (size_t)bytes);
    if (e) (void)cudaGetLastError(); /* told by the caller; one that stays stays */
    return e;
}

/* A new segment as one piece; NULL with *e if the driver has none even behind a release, nor one
 * without room for others. */
static memory_piece *memory_new_segment(memory_cache *c, cudaStream_t s, int64_t bytes, bool small,
                                        cudaError_t *e) {
    int64_t whole = memory_segment_bytes(bytes, small);
    void *at = NULL;
    memory_piece *p = new (std::nothrow) memory_piece();
    *e = cudaErrorMemoryAllocation;
    if (!p) return NULL;
    *e = memory_ask_driver(c, &at, whole);
    if (*e == cudaErrorMemoryAllocation) {
        memory_look(c, true);
        memory_release_idle(c);
        *e = memory_ask_driver(c, &at, whole);
    }
    if (*e == cudaErrorMemoryAllocation && whole > bytes) {
        whole = bytes;
        *e = memory_ask_driver(c, &at, whole);
    }
    if (*e) {
        delete p;
        return NULL;
    }
    p->at = (char *)at;
    p->bytes = whole;
    p->small = small;
    p->stream = s;
    c->info.reserved += whole;
    if (c->info.reserved > c->info.most) c->info.most = c->info.reserved;
    return p;
}

/* NULL with *e. */
static void *memory_take(memory_cache *c, cudaStream_t s, int64_t bytes, cudaError_t *e) {
    const int64_t whole = (bytes + TNC_MEMORY_GRAIN - 1) / TNC_MEMORY_GRAIN * TNC_MEMORY_GRAIN;
    const bool small = whole <= MEMORY_SMALL;
    memory_piece key = {NULL, whole, false, small, NULL, NULL, s, {}}, *p;
    memory_look(c, false);
    auto i = c->idle[small].lower_bound(&key);
    if (i != c->idle[small].end() && (*i)->stream == s) {
        p = *i;
        c->idle[small].erase(i);
    } else {
        p = memory_new_segment(c, s, whole, small, e);
    }
    if (!p) return NULL;
    memory_cut(c, p, whole);
    p->used = true;
    c->used[p->at] = p;
    c->info.used += p->bytes;
    if (c->info.used > c->info.peak) c->info.peak = c->info.used;
#ifdef TNC_EMULATED
    emu_piece(p->at, (size_t)bytes, (size_t)p->bytes, true, s);
#endif
    return p->at;
}

TNC_PRIV void *tnc_alloc(int32_t device, int64_t bytes, char *why, size_t room) {
    memory_cache *c = memory_cache_of(device);
    void *at = NULL;
    std::lock_guard<std::mutex> hold(c->lock);
    cudaError_t e = cudaSetDevice(device);
    if (bytes > INT64_MAX - MEMORY_LARGE_SEGMENT) return NULL;
    try {
        if (!e) at = memory_take(c, tnc_stream_now(device), bytes, &e);
    } catch (const std::bad_alloc &) {
        return NULL; /* the host has no memory for the cache's own lists */
    }
    if (!at) tnc_no_memory(e, why, room);
    return at;
}
TNC_PRIV void tnc_no_memory(cudaError_t e, char *why, size_t room) {
    if (e != cudaErrorMemoryAllocation) snprintf(why, room, "%s", cudaGetErrorString(e));
}
TNC_PRIV void *tnc_alloc_for(tn_frame *f, int64_t bytes) {
    char why[160] = "";
    void *at = tnc_alloc(tn_frame_device(f), bytes, why, sizeof why);
    if (!at && *why) tn_fail(f, TN_INTERNAL, "the device failed: %s", why);
    if (!at && !*why) tn_fail(f, TN_MEMORY, "no memory of the device is left");
    return at;
}

TNC_PRIV void tnc_free(int32_t device, void *at) {
    memory_cache *c = memory_cache_of(device);
    std::lock_guard<std::mutex> hold(c->lock);
    auto i = c->used.find(at);
    memory_piece *p;
    if (i == c->used.end()) return;
    p = i->second;
    c->used.erase(i);
    c->info.used -= p->bytes;
    if (p->uses.empty())
        memory_give_back(c, p);
    else
        memory_leave(c, device, p);
}

/* Without memory for the list the piece stays in use until the process ends. */
TNC_PRIV void tnc_used(int32_t device, void *at, cudaStream_t stream) {
    memory_cache *c = memory_cache_of(device);
    std::lock_guard<std::mutex> hold(c->lock);
    auto i = c->used.find(at);
    if (i == c->used.end() || i->second->stream == stream) return;
    for (const memory_use &u : i->second->uses)
        if (u.stream == stream) return;
    try {
        i->second->uses.push_back({stream, NULL});
    } catch (const std::bad_alloc &) {
        c->used.erase(i);
    }
}

/* --- what the core asks ----------------------------------------------------------------------- */

TNC_PRIV void tnc_trim(int32_t device) {
    memory_cache *c = memory_cache_of(device);
    tnc_host_trim();
    std::lock_guard<std::mutex> hold(c->lock);
    memory_look(c, true);
    if (cudaSetDevice(device) == cudaSuccess && tnc_device_at(device)->open)
        tnc_one_stream() ? cudaStreamSynchronize(tnc_device_at(device)->stream)
                         : cudaDeviceSynchronize();
    memory_release_idle(c);
}

TNC_PRIV void tnc_memory(int32_t device, tn_device_memory_info *to) {
    memory_cache *c = memory_cache_of(device);
    std::lock_guard<std::mutex> hold(c->lock);
    *to = c->info;
}

TNC_PRIV void tnc_reset_peak(int32_t device) {
    memory_cache *c = memory_cache_of(device);
    std::lock_guard<std::mutex> hold(c->lock);
    c->info.peak = c->info.used;
    c->info.most = c->info.reserved;
}

TNC_PRIV void tnc_limit(int32_t device, int64_t bytes) {
    memory_cache *c = memory_cache_of(device);
    std::lock_guard<std::mutex> hold(c->lock);
    c->info.limit = bytes;
}

/* The pieces of the segment that begins with p. */
static void memory_list(std::vector<tn_device_piece> *list, const memory_piece *p) {
    const void *segment = p->at;
    for (; p; p = p->after) {
        const bool waits = !p->uses.empty() && p->uses[0].done; /* it is freed */
        tn_device_piece one = {p->at, segment, p->bytes, p->used && !waits};
        list->push_back(one);
    }
}

TNC_PRIV int64_t tnc_snapshot(int32_t device,
                              void (*each)(const tn_device_piece *piece, void *user), void *user) {
    memory_cache *c = memory_cache_of(device);
    std::vector<tn_device_piece> list;
    try {
        std::lock_guard<std::mutex> hold(c->lock);
        for (int k = 0; k < 2; k++)
            for (const memory_piece *p : c->idle[k])
                if (!p->before) memory_list(&list, p);
        for (const auto &i : c->used)
            if (!i.second->before) memory_list(&list, i.second);
        for (const memory_piece *p : c->waiting)
            if (!p->before) memory_list(&list, p);
    } catch (const std::bad_alloc &) {
        return 0;
    }
    for (const tn_device_piece &piece : list) each(&piece, user);
    return (int64_t)list.size();
}
