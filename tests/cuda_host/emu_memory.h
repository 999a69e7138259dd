/* emu_memory.h - memory of the devices, and pinned memory of the host.
 *
 * Each device has a span of addresses, in which an allocation takes whole pages and a free page
 * behind them. They can be read and written while something runs on the device and at no other
 * time; what was freed, at none. Fresh memory is all ones (NaN), and what lies behind an allocation
 * in its last page is poisoned for ASan. */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include "emu_base.h"
#include <map>
#include <signal.h>
#include <errno.h>
#include <sys/mman.h>

enum { EMU_MOST_DEVICES = 16, EMU_PAGE = 4096 };
inline constexpr size_t emu_span = (size_t)64 << 30; /* addresses, not memory */

struct emu_device {
    char *region = NULL;
    size_t live = 0, cursor = 0;     /* bytes; where the next allocation is looked for */
    std::map<size_t, size_t> pieces; /* offset: bytes, as asked */
    unsigned peers = 0;              /* whose memory its kernels may touch */
    bool open = false;
    cudaError_t failed = cudaSuccess; /* for good */
};
struct emu_memories {
    emu_device device[EMU_MOST_DEVICES];
    std::map<const char *, size_t> pinned; /* bytes */
    struct sigaction before[2];            /* of SIGSEGV and SIGBUS */
};
inline emu_memories &emu_memory() {
    static emu_memories *memories = new emu_memories;
    return *memories;
}
inline int emu_devices() {
    const int n = emu_settings().devices;
    return n < 0 ? 0 : n > EMU_MOST_DEVICES ? EMU_MOST_DEVICES : n;
}
/* The device whose memory this would be; -1: of none. */
inline int emu_device_of(const void *at) {
    for (int d = 0; d < EMU_MOST_DEVICES; d++) {
        const char *region = emu_memory().device[d].region;
        if (region && (const char *)at >= region && (const char *)at < region + emu_span) return d;
    }
    return -1;
}
/* The allocation that has this byte, or pieces.end(). */
inline std::map<size_t, size_t>::iterator emu_piece_of(int device, const void *at) {
    emu_device &d = emu_memory().device[device];
    const size_t offset = (size_t)((const char *)at - d.region);
    auto i = d.pieces.upper_bound(offset);
    if (i == d.pieces.begin()) return d.pieces.end();
    --i;
    return offset - i->first < i->second ? i : d.pieces.end();
}
inline bool emu_is_pinned(const void *at) {
    std::map<const char *, size_t> &pinned = emu_memory().pinned;
    auto i = pinned.upper_bound((const char *)at);
    if (i == pinned.begin()) return false;
    --i;
    return (size_t)((const char *)at - i->first) < i->second;
}
/* Stops what is not a part of one allocation of a device. */
inline int emu_check_range(const void *at, size_t n, const char *what) {
    const int device = emu_device_of(at);
    static char why[160];
    const char *wrong = NULL;
    if (device < 0)
        wrong = "is not memory of a device";
    else {
        auto piece = emu_piece_of(device, at);
        const size_t offset = (size_t)((const char *)at - emu_memory().device[device].region);
        if (piece == emu_memory().device[device].pieces.end())
            wrong = "is not allocated";
        else if (n > piece->second - (offset - piece->first))
            wrong = "goes beyond its allocation";
    }
    if (!wrong) return device;
    snprintf(why, sizeof why, "%s %s: %%lld bytes on device %%lld", what, wrong);
    emu_stop(why, (long long)n, device);
}

/* --- the guard ------------------------------------------------------------------------------- */

/* A sentence for a touch of guarded memory; other faults go on to who was asked before. */
inline void emu_fault(int number, siginfo_t *info, void *context) {
    const int device = emu_device_of(info->si_addr);
    if (device >= 0) {
        if (emu_piece_of(device, info->si_addr) == emu_memory().device[device].pieces.end())
            emu_stop("memory of device %lld is touched that is not allocated", device);
        if (emu_now_at.kernel) emu_stop("a kernel touches memory of another device, %lld", device);
        emu_stop("the host touches memory of device %lld", device);
    }
    struct sigaction &before = emu_memory().before[number == SIGBUS];
    if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(number, info, context);
    sigaction(number, &before, NULL); /* the same touch again ends the process */
}
inline void emu_catch_faults() {
    static bool caught = false;
    struct sigaction action;
    if (caught) return;
    caught = true;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = emu_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &emu_memory().before[0]);
    sigaction(SIGBUS, &action, &emu_memory().before[1]);
}
inline size_t emu_pages(size_t bytes) { return (bytes + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE; }
/* The key of a device's pages, with which a thread opens them by one instruction; -1: the machine
 * has no keys, and the protection of the pages is changed. */
inline int emu_key(int device) {
#ifdef PKEY_DISABLE_ACCESS
    static int keys[EMU_MOST_DEVICES];
    if (!keys[device]) {
        const int was = errno, key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
        keys[device] = key > 0 ? key : -1;
        errno = was; /* a machine without keys is no error of the program's */
    }
    return keys[device];
#else
    (void)device;
    return -1;
#endif
}
/* Pages of a device as they are while it is closed or open. */
inline bool emu_protect(int device, char *at, size_t bytes, bool open) {
    const int both = PROT_READ | PROT_WRITE;
#ifdef PKEY_DISABLE_ACCESS
    if (emu_key(device) > 0 && emu_settings().guard)
        return pkey_mprotect(at, bytes, both, emu_key(device)) == 0;
#endif
    return mprotect(at, bytes, open || !emu_settings().guard ? both : PROT_NONE) == 0;
}
inline void emu_open(int device, bool open) {
    emu_device &d = emu_memory().device[device];
    d.open = open;
    if (!emu_settings().guard) return;
#ifdef PKEY_DISABLE_ACCESS
    if (emu_key(device) > 0) {
        pkey_set(emu_key(device), open ? 0 : PKEY_DISABLE_ACCESS);
        return;
    }
#endif
    for (const auto &piece : d.pieces)
        mprotect(d.region + piece.first, emu_pages(piece.second),
                 open ? PROT_READ | PROT_WRITE : PROT_NONE);
}
/* While it lives, memory of these devices is open: those of the bits in `devices`. */
struct emu_access {
    unsigned devices;
    explicit emu_access(unsigned bits) : devices(0) {
        for (int d = 0; d < EMU_MOST_DEVICES; d++) {
            if (!(bits >> d & 1) || emu_memory().device[d].open) continue;
            devices |= 1u << d;
            emu_open(d, true);
        }
    }
    ~emu_access() {
        for (int d = 0; d < EMU_MOST_DEVICES; d++)
            if (devices >> d & 1) emu_open(d, false);
    }
    emu_access(const emu_access &) = delete;
};
inline unsigned emu_reach(int device) { /* of what runs there */
    return 1u << device | emu_memory().device[device].peers;
}

/* --- allocation ------------------------------------------------------------------------------ */

/* A free range of whole pages with a free page behind it, looked for from where the last one ended:
 * addresses of freed memory come again as late as possible. */
inline size_t emu_free_range(emu_device *d, size_t bytes) {
    const size_t need = emu_pages(bytes) + EMU_PAGE;
    for (int round = 0; round < 2; round++) {
        for (auto i = d->pieces.lower_bound(d->cursor);; ++i) {
            const size_t end = i == d->pieces.end() ? emu_span : i->first;
            if (end >= d->cursor && end - d->cursor >= need) return d->cursor;
            if (i == d->pieces.end()) break;
            d->cursor = i->first + emu_pages(i->second) + EMU_PAGE;
        }
        d->cursor = 0;
    }
    emu_stop("no more addresses for memory of a device");
}
/* NULL: the device is full. */
inline void *emu_allocate(int device, size_t bytes) {
    emu_device *d = &emu_memory().device[device];
    emu_catch_faults();
    if (!d->region) {
        void *at =
            mmap(NULL, emu_span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) emu_stop("no addresses for memory of device %lld", device);
        d->region = (char *)at;
    }
    if (bytes > emu_settings().bytes || d->live > emu_settings().bytes - bytes) return NULL;
    const size_t start = emu_free_range(d, bytes), pages = emu_pages(bytes);
    char *at = d->region + start;
    d->cursor = start + pages + EMU_PAGE;
    d->live += bytes;
    d->pieces[start] = bytes;
    if (!emu_protect(device, at, pages, true)) emu_stop("no memory for device %lld", device);
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
    if (!d->open)
        emu_open(device, true), memset(at, 0xff, bytes), emu_open(device, false);
    else
        memset(at, 0xff, bytes);
    ASAN_POISON_MEMORY_REGION(at + bytes, pages - bytes);
    if (!d->open) emu_protect(device, at, pages, false);
    return at;
}
inline void emu_deallocate(int device, void *at) {
    emu_device *d = &emu_memory().device[device];
    auto piece = d->pieces.find((size_t)((char *)at - d->region));
    if (piece == d->pieces.end()) emu_stop("cudaFree of memory that is not allocated");
    const size_t pages = emu_pages(piece->second);
    ASAN_UNPOISON_MEMORY_REGION(at, pages);
    madvise(at, pages, MADV_DONTNEED);
    mprotect(at, pages, PROT_NONE);
    d->live -= piece->second;
    d->pieces.erase(piece);
}
#endif
