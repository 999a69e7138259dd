/* emu_block.h - how the threads of a block run, meet and share memory, and how the blocks of a grid
 * follow each other.
 *
 * All threads that can go on run one after another, each up to its next barrier or warp operation;
 * then what is complete is let go. The order is EMU_ORDER's. One block runs at a time. */
#ifndef EMU_BLOCK_H
#define EMU_BLOCK_H

#include "emu_fiber.h"

enum {
    EMU_SHARED_STATIC = 48 << 10, /* bytes of a block; with dynamic ones, unless it may have more */
    EMU_SHARED_OPTIN = 227 << 10, /* with cudaFuncSetAttribute */
    EMU_SHARED_EDGE = 64,         /* watched bytes behind a piece, where ASan does not */
    EMU_EDGE_BYTE = 0xa5
};
struct emu_shared_piece {
    const void *key; /* a declaration in a kernel */
    char *at;
    size_t bytes;
};
struct emu_launch_of { /* what a launch says */
    const char *kernel, *file;
    int line;
    dim3 grid, block;
    size_t dynamic; /* bytes of shared memory */
    size_t allowed; /* by cudaFuncSetAttribute; 0: EMU_SHARED_STATIC, less what is static */
    bool plain;     /* promises: no barrier, no shared memory, no warp operation */
};
struct emu_block_state {
    const emu_launch_of *launch = NULL;
    std::vector<emu_shared_piece> shared;
    size_t shared_bytes = 0;
};
inline emu_block_state &emu_block() {
    static emu_block_state *state = new emu_block_state;
    return *state;
}
[[noreturn]] inline void emu_promised(const char *what, int line) {
    static char why[128];
    snprintf(why, sizeof why, "%s in line %%lld of a kernel that promised none", what);
    emu_stop(why, line);
}
/* The fiber that runs; stops a plain kernel and what is called outside kernels. */
inline emu_fiber *emu_self(const char *what, int line) {
    if (!emu_block().launch) emu_stop("a word of kernels in line %lld outside a kernel", line);
    if (emu_block().launch->plain) emu_promised(what, line);
    return emu_threads().now;
}

/* --- shared memory --------------------------------------------------------------------------- */

inline char *emu_shared_piece_new(const void *key, size_t bytes) {
    const size_t edge = EMU_ASAN ? 0 : EMU_SHARED_EDGE;
    char *at = (char *)aligned_alloc(16, (bytes + edge + 15) / 16 * 16);
    if (!at) emu_stop("no memory for a block's shared memory");
    memset(at, 0xff, bytes);
    memset(at + bytes, EMU_EDGE_BYTE, edge);
#if EMU_ASAN
    ASAN_POISON_MEMORY_REGION(at + bytes, (bytes + 15) / 16 * 16 - bytes);
#endif
    emu_block().shared.push_back({key, at, bytes});
    return at;
}
inline void emu_shared_free() {
    emu_block_state &b = emu_block();
    for (const emu_shared_piece &p : b.shared) {
        for (size_t i = 0; !EMU_ASAN && i < EMU_SHARED_EDGE; i++)
            if ((unsigned char)p.at[p.bytes + i] != EMU_EDGE_BYTE)
                emu_stop("a kernel wrote %lld bytes behind %lld bytes of shared memory",
                         (long long)i + 1, (long long)p.bytes);
        ASAN_UNPOISON_MEMORY_REGION(p.at, (p.bytes + 15) / 16 * 16);
        free(p.at);
    }
    b.shared.clear();
    b.shared_bytes = 0;
}
inline char *emu_shared_find(const void *key) {
    for (const emu_shared_piece &p : emu_block().shared)
        if (p.key == key) return p.at;
    return NULL;
}
/* The block's memory for this declaration; the first thread that comes makes it. */
inline char *emu_shared(const void *key, size_t bytes, int line) {
    emu_self("shared memory", line);
    emu_block_state &b = emu_block();
    char *at = emu_shared_find(key);
    if (at) return at;
    b.shared_bytes += (bytes + 15) / 16 * 16;
    if (b.shared_bytes > EMU_SHARED_STATIC)
        emu_stop("%lld bytes of static shared memory: a block has %lld", (long long)b.shared_bytes,
                 (long long)EMU_SHARED_STATIC);
    const size_t most = b.launch->allowed ? EMU_SHARED_OPTIN : EMU_SHARED_STATIC;
    if (b.shared_bytes + b.launch->dynamic > most)
        emu_stop("%lld bytes of static and dynamic shared memory: a block has %lld",
                 (long long)(b.shared_bytes + b.launch->dynamic), (long long)most);
    return emu_shared_piece_new(key, bytes);
}
/* All of a block's dynamic memory, of the size that the launch gave; of every type the same. */
inline char *emu_shared_dynamic(int line) {
    emu_self("shared memory", line);
    static const char key = 0;
    char *at = emu_shared_find(&key);
    return at ? at : emu_shared_piece_new(&key, emu_block().launch->dynamic);
}

/* --- meeting --------------------------------------------------------------------------------- */

inline void emu_barrier(emu_line at) {
    emu_fiber *f = emu_self("a barrier", at.line);
    f->state = EMU_AT_BARRIER;
    f->at = at;
    emu_switch_back();
}
inline int emu_lane(const emu_fiber *f) {
    return (int)(f - emu_threads().all.data()) & (EMU_WARP - 1);
}
inline uint64_t emu_warp(emu_warp_op op, unsigned mask, uint64_t value, int from, emu_line at) {
    emu_fiber *f = emu_self("a warp operation", at.line);
    if (!(mask >> emu_lane(f) & 1))
        emu_stop("line %lld: lane %lld is not in its own mask", at.line, emu_lane(f));
    f->state = EMU_AT_WARP;
    f->at = at;
    f->mask = mask;
    f->op = op;
    f->value = value;
    f->from = from;
    emu_switch_back();
    return f->got;
}

/* The lanes `here` have met: each takes its value. What a lane outside them would give is undefined
 * on the device, and all ones (a NaN) here. */
inline void emu_warp_complete(emu_fiber *lanes, unsigned here) {
    uint64_t ballot = 0;
    for (int i = 0; i < EMU_WARP; i++)
        if (here >> i & 1 && lanes[i].value) ballot |= 1ull << i;
    for (int i = 0; i < EMU_WARP; i++) {
        if (!(here >> i & 1)) continue;
        emu_fiber *f = &lanes[i];
        if (f->op == EMU_BALLOT)
            f->got = ballot;
        else if (f->op == EMU_SYNC || f->from < 0)
            f->got = f->value;
        else
            f->got = here >> f->from & 1 ? lanes[f->from].value : ~0ull;
        f->state = EMU_RUNS;
    }
    emu_counted.shuffles++;
}
/* Whether a group of lanes has met in the warp that begins here: same mask, same line. Several
 * groups of a warp may wait at once. */
inline bool emu_warp_ready(size_t first) {
    std::vector<emu_fiber> &all = emu_threads().all;
    emu_fiber *lanes = &all[first];
    const size_t n = all.size() - first < EMU_WARP ? all.size() - first : (size_t)EMU_WARP;
    const unsigned exist = n < EMU_WARP ? (1u << n) - 1 : ~0u;
    for (size_t one = 0; one < n; one++) {
        if (lanes[one].state != EMU_AT_WARP) continue;
        const unsigned wanted = lanes[one].mask & exist;
        unsigned here = 0;
        for (size_t i = 0; i < n; i++) {
            const emu_fiber *f = &lanes[i];
            if (!(wanted >> i & 1)) continue;
            if (f->state == EMU_DONE)
                emu_stop("line %lld: lane %lld of the mask has ended", lanes[one].at.line,
                         (long long)i);
            if (f->state == EMU_AT_WARP && f->mask == lanes[one].mask && f->at == lanes[one].at)
                here |= 1u << i;
        }
        if (here != wanted) continue;
        emu_warp_complete(lanes, here);
        return true;
    }
    return false;
}
/* Lets the block go on when all threads are at one barrier. False: they are not. */
inline bool emu_barrier_ready(size_t *done) {
    std::vector<emu_fiber> &all = emu_threads().all;
    const emu_fiber *one = NULL;
    size_t waits = 0;
    *done = 0;
    for (const emu_fiber &f : all) {
        *done += f.state == EMU_DONE;
        if (f.state != EMU_AT_BARRIER) continue;
        waits++;
        if (one && one->at != f.at)
            emu_stop("threads wait at different barriers, lines %lld and %lld", one->at.line,
                     f.at.line);
        one = &f;
    }
    if (!waits || waits + *done < all.size()) return false;
    if (*done)
        emu_stop("threads wait at the barrier of line %lld while %lld have ended", one->at.line,
                 (long long)*done);
    for (emu_fiber &f : all) f.state = EMU_RUNS;
    emu_counted.barriers++;
    return true;
}
/* Nobody can go on: some wait at a barrier, or in a warp operation of another line or mask. */
[[noreturn]] inline void emu_deadlock() {
    const emu_fiber *one = NULL, *other = NULL;
    for (const emu_fiber &f : emu_threads().all) {
        if (f.state == EMU_DONE) continue;
        if (!one) one = &f;
        if (!other && (f.at != one->at || f.mask != one->mask)) other = &f;
    }
    emu_stop("threads wait for each other for ever, in lines %lld and %lld", one->at.line,
             other ? other->at.line : one->at.line);
}

/* --- running --------------------------------------------------------------------------------- */

inline dim3 emu_index(size_t i, dim3 of) {
    return dim3((unsigned)(i % of.x), (unsigned)(i / of.x % of.y), (unsigned)(i / of.x / of.y));
}
inline void emu_fibers_begin(size_t n) {
    static std::vector<char *> *stacks = new std::vector<char *>; /* kept for the next block */
    while (stacks->size() < n) stacks->push_back((char *)malloc(EMU_STACK));
    std::vector<emu_fiber> &all = emu_threads().all;
    all.resize(n);
    for (size_t i = 0; i < n; i++) {
        all[i].stack = (*stacks)[i];
        all[i].index = emu_index(i, emu_block_dim);
        all[i].state = EMU_RUNS;
        emu_make(&all[i].context, all[i].stack, emu_enter);
    }
}
inline void emu_run_block(const std::function<void()> &body, std::vector<int> &order) {
    const size_t n = order.size();
    emu_threads().body = &body;
    emu_fibers_begin(n);
    for (size_t done = 0; done < n;) {
        bool went = false;
        emu_shuffle_order(order);
        for (int i : order) {
            emu_fiber *f = &emu_threads().all[(size_t)i];
            if (f->state != EMU_RUNS) continue;
            emu_switch_to(f);
            went = true;
        }
        for (size_t w = 0; w < n; w += EMU_WARP)
            while (emu_warp_ready(w)) went = true;
        if (!emu_barrier_ready(&done) && !went) emu_deadlock();
    }
    emu_shared_free();
}
inline void emu_run_plain_block(const std::function<void()> &body, std::vector<int> &order) {
    emu_shuffle_order(order);
    for (int i : order) {
        emu_thread_index = emu_index((size_t)i, emu_block_dim);
        emu_now_at.thread = emu_thread_index;
        body();
    }
}
/* One launch, with its arguments in `body`. */
inline void emu_run_grid(const emu_launch_of &launch, const std::function<void()> &body) {
    std::vector<int> blocks((size_t)emu_volume(launch.grid));
    std::vector<int> threads((size_t)emu_volume(launch.block));
    emu_grid_dim = launch.grid;
    emu_block_dim = launch.block;
    emu_block().launch = &launch;
    emu_now_at = {launch.kernel, launch.file, launch.line, launch.plain, dim3(), dim3()};
    emu_shuffle_order(blocks);
    for (int i : blocks) {
        emu_block_index = emu_index((size_t)i, launch.grid);
        emu_now_at.block = emu_block_index;
        if (launch.plain)
            emu_run_plain_block(body, threads);
        else
            emu_run_block(body, threads);
    }
    emu_block().launch = NULL;
    emu_now_at.kernel = NULL;
    emu_counted.kernels++;
}
/* The limits of every device of today. */
inline void emu_check_launch(const emu_launch_of &l) {
    const unsigned long long blocks = emu_volume(l.grid), threads = emu_volume(l.block);
    const size_t most = l.allowed ? l.allowed : (size_t)EMU_SHARED_STATIC;
    if (!blocks) emu_stop("line %lld launches an empty grid", l.line);
    if (!threads) emu_stop("line %lld launches empty blocks", l.line);
    if (threads > EMU_MOST_THREADS || l.block.z > 64)
        emu_stop("line %lld launches %lld threads a block: at most 1024, and 64 in z", l.line,
                 (long long)threads);
    if (l.grid.x > INT32_MAX || l.grid.y > 65535 || l.grid.z > 65535)
        emu_stop("line %lld launches %lld blocks: at most 2^31 - 1 in x, 65535 in y and in z",
                 l.line, (long long)blocks);
    if (blocks > 1 << 28) emu_stop("line %lld launches more blocks than can run here", l.line);
    if (l.dynamic > most)
        emu_stop("line %lld launches %lld bytes of dynamic shared memory: more than the kernel may",
                 l.line, (long long)l.dynamic);
}
#endif
