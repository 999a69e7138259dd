/* emu_base.h - what every part of the emulation needs: settings of the environment, the sentence
 * that ends the process, counters, errors, the one lock. */
#ifndef EMU_BASE_H
#define EMU_BASE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <mutex>
#include <set>
#include <string>
#include <vector>
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#endif
#ifdef EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define EMU_ASAN 0
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline unsigned long long emu_volume(dim3 d) { return 1ull * d.x * d.y * d.z; }

/* --- a violation ----------------------------------------------------------------------------- */

/* Where a kernel stands, for the sentence: emu_block.h sets it. */
struct emu_place {
    const char *kernel; /* NULL: none runs */
    const char *file;   /* of the launch */
    int line;
    bool in_thread;
    dim3 block, thread;
};
inline emu_place emu_now_at;

/* Ends the process. `why` may have two %lld, for a and b. */
[[noreturn]] inline void emu_stop(const char *why, long long a = 0, long long b = 0) {
    const emu_place &p = emu_now_at;
    fprintf(stderr, "emulation: ");
    fprintf(stderr, why, a, b);
    if (p.kernel) fprintf(stderr, "; kernel %s, launched at %s:%d", p.kernel, p.file, p.line);
    if (p.kernel && p.in_thread)
        fprintf(stderr, ", block (%u, %u, %u), thread (%u, %u, %u)", p.block.x, p.block.y,
                p.block.z, p.thread.x, p.thread.y, p.thread.z);
    fprintf(stderr, "\n");
    abort();
}

/* --- settings -------------------------------------------------------------------------------- */

inline long long emu_number(const char *name, long long otherwise) {
    const char *v = getenv(name);
    return v ? atoll(v) : otherwise;
}
enum emu_kind { EMU_ALLOC, EMU_COPY, EMU_LAUNCH, EMU_CREATE, EMU_ALL };

/* Read when first asked for. A program may change them between two calls. */
struct emu_options {
    int order = (int)emu_number("EMU_ORDER", 0);     /* 0 rising, 1 falling, 2.. shuffled */
    bool lazy = emu_number("EMU_LAZY", 0) != 0;      /* work runs when something waits for it */
    bool guard = emu_number("EMU_GUARD", 1) != 0;    /* the host cannot read device memory */
    bool sticky = emu_number("EMU_STICKY", 0) != 0;  /* a failed launch ends its device */
    int devices = (int)emu_number("EMU_DEVICES", 1); /* at most EMU_MOST_DEVICES */
    size_t bytes = (size_t)emu_number("EMU_BYTES", 1 << 30); /* of memory, each device */
    bool code = true; /* false: the program has no code for these devices */
    long long fail = emu_number("EMU_FAIL", 0);              /* this call fails; 0: none */
    emu_kind fail_kind = kind_of(getenv("EMU_FAIL_KIND"));
    long long fallible = 0; /* calls of this kind up to now */

    static emu_kind kind_of(const char *name) {
        static const char *const names[] = {"alloc", "copy", "launch", "create", "all"};
        for (int k = 0; name && k <= EMU_ALL; k++)
            if (strcmp(name, names[k]) == 0) return (emu_kind)k;
        if (name) emu_stop("EMU_FAIL_KIND is alloc, copy, launch, create or all");
        return EMU_ALL;
    }
};
inline emu_options &emu_settings() {
    static emu_options options;
    return options;
}
inline bool emu_lazy() { return emu_settings().lazy; }

/* From now on, the k-th call of this kind fails (0: none). */
inline void emu_fail_at(long long k, emu_kind kind = EMU_ALL) {
    emu_settings().fail = k;
    emu_settings().fail_kind = kind;
    emu_settings().fallible = 0;
}
inline bool emu_fails(emu_kind kind) {
    emu_options &o = emu_settings();
    if (o.fail_kind != EMU_ALL && o.fail_kind != kind) return false;
    return ++o.fallible == o.fail;
}

/* --- counters, lock, chance ------------------------------------------------------------------ */

struct emu_counters {
    long long kernels;       /* that have run */
    long long launches;      /* calls of TNC_LAUNCH and its like */
    long long allocs, frees; /* of device memory */
    long long pinned, unpinned;
    long long copies;   /* and fills, that were asked for */
    long long barriers; /* that all threads of a block have reached */
    long long shuffles; /* operations of a warp, all its lanes counted once */
    long long events;   /* records */
    long long waits;    /* of the host, for a stream, an event or a device */
};
inline emu_counters emu_counted;
inline const emu_counters &emu_counts() { return emu_counted; }

/* Every call of the runtime holds it, and so does all that runs on a device. */
inline std::recursive_mutex &emu_lock() {
    static std::recursive_mutex *lock = new std::recursive_mutex; /* outlives static objects */
    return *lock;
}
struct emu_hold {
    std::lock_guard<std::recursive_mutex> held{emu_lock()};
};

inline uint64_t emu_random(uint64_t *s) { /* splitmix64 */
    *s += 0x9e3779b97f4a7c15ull;
    uint64_t z = *s;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
inline uint64_t *emu_seed() {
    static uint64_t seed = (uint64_t)emu_settings().order;
    return &seed;
}
/* 0 .. n - 1 in the order of EMU_ORDER. */
inline void emu_shuffle_order(std::vector<int> &order) {
    const int n = (int)order.size(), kind = emu_settings().order;
    for (int i = 0; i < n; i++) order[(size_t)i] = kind == 1 ? n - 1 - i : i;
    for (int i = n - 1; kind > 1 && i > 0; i--)
        std::swap(order[(size_t)i], order[emu_random(emu_seed()) % (uint64_t)(i + 1)]);
}

/* --- which files run ------------------------------------------------------------------------- */

/* EMU_FILES=PATH: a line "LABEL SECONDS FILE..." for each label, of the files whose kernels were
 * launched, and the time of the processor, until the next one. The program's first label is "-". */
struct emu_file_list {
    const char *path = getenv("EMU_FILES");
    std::string label = "-";
    std::set<std::string> files;
    clock_t since = clock();

    ~emu_file_list() { next(""); }
    void next(const char *to) {
        FILE *f = path && !files.empty() ? fopen(path, "a") : NULL;
        if (f) {
            fprintf(f, "%s %.3f", label.c_str(), (double)(clock() - since) / CLOCKS_PER_SEC);
            for (const std::string &file : files) fprintf(f, " %s", file.c_str());
            fprintf(f, "\n");
            fclose(f);
        }
        label = to;
        files.clear();
        since = clock();
    }
};
inline emu_file_list &emu_files() {
    static emu_file_list list;
    return list;
}

/* --- errors ---------------------------------------------------------------------------------- */

#define EMU_ERRORS(X)                                                                             \
    X(cudaSuccess, 0, "no error")                                                                 \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                               \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                              \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                         \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                               \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                              \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                      \
    X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for the device")         \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                             \
    X(cudaErrorNotReady, 600, "device not ready")                                                 \
    X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")              \
    X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                   \
    X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                     \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                  \
    X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
    X(cudaErrorStreamCaptureInvalidated, 901,                                                     \
      "operation failed due to a previous error during capture")                                  \
    X(cudaErrorStreamCaptureUnmatched, 903, "the capture was not initiated in this stream")       \
    X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                  \
    X(cudaErrorStreamCaptureIsolation, 905,                                                       \
      "dependency created on uncaptured work in another stream")                                  \
    X(cudaErrorCapturedEvent, 907,                                                                \
      "operation not permitted on an event last recorded in a capturing stream")                  \
    X(cudaErrorUnknown, 999, "unknown error")

enum cudaError_t {
#define EMU_X(name, number, text) name = number,
    EMU_ERRORS(EMU_X)
#undef EMU_X
};
inline const char *cudaGetErrorString(cudaError_t e) {
    switch (e) {
#define EMU_X(name, number, text) \
    case name: return text;
        EMU_ERRORS(EMU_X)
#undef EMU_X
    }
    return "unrecognized error code";
}
inline const char *cudaGetErrorName(cudaError_t e) {
    switch (e) {
#define EMU_X(name, number, text) \
    case name: return #name;
        EMU_ERRORS(EMU_X)
#undef EMU_X
    }
    return "unrecognized error code";
}
inline thread_local cudaError_t emu_last; /* of this host thread, as in CUDA */
inline cudaError_t emu_error(cudaError_t e) {
    if (e) emu_last = e;
    return e;
}
#endif
