/* nccl.cu - several ranks with a device each, by NCCL: the one file that knows it. The library is
 * opened when a group first needs it.
 *
 * The ranks meet on the host first, as on the CPU, so calls in which they differ fail on all; then
 * each asks its own device. NCCL adds in an order of its own: exact mode refuses sums of floats. */
#include "families.cuh"

#include "../api/group.h"

#include <new>
#ifndef TNC_EMULATED
#ifndef _WIN32
#include <dlfcn.h>
#endif
#else
#include "elements.cuh"

#include <condition_variable>
#include <map>
#include <vector>
#endif

/* As in nccl.h of NCCL 2. */
typedef struct nccl_comm *nccl_comm_t;
struct nccl_id {
    char bytes[128];
};
enum { NCCL_SUM, NCCL_PRODUCT, NCCL_MAX, NCCL_MIN, NCCL_AVG };
enum {
    NCCL_I8,
    NCCL_U8,
    NCCL_I32,
    NCCL_I64 = 4,
    NCCL_F16 = 6,
    NCCL_F32,
    NCCL_F64,
    NCCL_BF16,
    NCCL_NONE
};

/* The functions that are used; each returns 0, or the number of an error. */
#define NCCL_FUNCTIONS(X)                                                                          \
    X(GetUniqueId, (nccl_id *))                                                                    \
    X(CommInitRank, (nccl_comm_t *, int ranks, nccl_id, int rank))                                 \
    X(CommDestroy, (nccl_comm_t))                                                                  \
    X(AllReduce,                                                                                   \
      (const void *, void *, size_t count, int type, int op, nccl_comm_t, cudaStream_t))           \
    X(Reduce,                                                                                      \
      (const void *, void *, size_t count, int type, int op, int root, nccl_comm_t, cudaStream_t)) \
    X(Broadcast,                                                                                   \
      (const void *, void *, size_t count, int type, int root, nccl_comm_t, cudaStream_t))         \
    X(AllGather, (const void *, void *, size_t count, int type, nccl_comm_t, cudaStream_t))        \
    X(ReduceScatter,                                                                               \
      (const void *, void *, size_t count, int type, int op, nccl_comm_t, cudaStream_t))           \
    X(GroupStart, (void))                                                                          \
    X(GroupEnd, (void))                                                                            \
    X(Send, (const void *, size_t count, int type, int peer, nccl_comm_t, cudaStream_t))           \
    X(Recv, (void *, size_t count, int type, int peer, nccl_comm_t, cudaStream_t))
struct nccl_library {
#define NCCL_MEMBER(name, parameters) int(*name) parameters;
    NCCL_FUNCTIONS(NCCL_MEMBER)
#undef NCCL_MEMBER
};
static nccl_library nccl;

#ifdef TNC_EMULATED
/* --- in emulation: a stand-in, by copies to the host ------------------------------------------ */

struct emu_world {
    std::mutex lock;
    std::condition_variable turned;
    int ranks = 0, arrived = 0;
    unsigned turn = 0;
    std::vector<const char *> at;
    void meet() {
        std::unique_lock<std::mutex> held(lock);
        const unsigned now = turn;
        if (++arrived == ranks) {
            arrived = 0;
            turn++;
            turned.notify_all();
        }
        turned.wait(held, [&] { return turn != now; });
    }
};
struct nccl_comm {
    emu_world *world;
    int rank;
};
static std::mutex emu_worlds_lock;
static std::map<int, emu_world> emu_worlds;

static const int emu_types[] = {TN_I8, TN_U8,  TN_I32, 0,      TN_I64,
                                0,     TN_F16, TN_F32, TN_F64, TN_BF16};
static size_t emu_bytes(int type) { return (size_t)tnc_dtype_bytes(emu_types[type]); }

static int emu_GetUniqueId(nccl_id *id) {
    static std::atomic<int> number{1};
    const int mine = number++;
    memcpy(id->bytes, &mine, sizeof mine);
    return !emu_number("EMU_NCCL", 1); /* 0: it fails */
}
static int emu_CommInitRank(nccl_comm_t *c, int ranks, nccl_id id, int rank) {
    int number;
    memcpy(&number, id.bytes, sizeof number);
    std::lock_guard<std::mutex> hold(emu_worlds_lock);
    emu_world *w = &emu_worlds[number];
    w->ranks = ranks;
    w->at.resize((size_t)ranks);
    *c = new nccl_comm{w, rank};
    return 0;
}
static int emu_CommDestroy(nccl_comm_t c) {
    delete c;
    return 0;
}
/* make(all) fills `to` from what all ranks have sent. */
template <class Make>
static int emu_all(nccl_comm_t c, const void *from, size_t bytes, void *to, size_t result,
                   cudaStream_t s, const Make &make) {
    std::vector<char> mine(bytes + 1), made(result + 1);
    if (bytes) cudaMemcpyAsync(mine.data(), from, bytes, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    c->world->at[(size_t)c->rank] = mine.data();
    c->world->meet();
    make(c->world->at, made.data());
    c->world->meet();
    if (result) cudaMemcpyAsync(to, made.data(), result, cudaMemcpyHostToDevice, s);
    return cudaStreamSynchronize(s);
}
/* count elements from number `first` on, in the order of ranks. */
static void emu_reduce(const std::vector<const char *> &all, size_t first, size_t count, int type,
                       int op, char *to) {
    const size_t each = emu_bytes(type);
    const int dtype = emu_types[type];
    for (size_t i = 0; i < count; i++) {
        double v = 0;
        for (size_t r = 0; r < all.size(); r++) {
            const double x = tnc_load_real<double>(all[r] + (first + i) * each, dtype);
            v = !r                   ? x
                : op == NCCL_PRODUCT ? v * x
                : op == NCCL_MAX     ? (x > v ? x : v)
                : op == NCCL_MIN     ? (x < v ? x : v)
                                     : v + x;
        }
        tnc_store_real(to + i * each, dtype, op == NCCL_AVG ? v / (double)all.size() : v);
    }
}
static int emu_AllReduce(const void *from, void *to, size_t n, int type, int op, nccl_comm_t c,
                         cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type);
    return emu_all(c, from, bytes, to, bytes, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       emu_reduce(all, 0, n, type, op, made);
                   });
}
static int emu_Reduce(const void *from, void *to, size_t n, int type, int op, int root,
                      nccl_comm_t c, cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type);
    return emu_all(c, from, bytes, to, root == c->rank ? bytes : 0, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       if (root == c->rank) emu_reduce(all, 0, n, type, op, made);
                   });
}
static int emu_Broadcast(const void *from, void *to, size_t n, int type, int root, nccl_comm_t c,
                         cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type);
    return emu_all(c, from, root == c->rank ? bytes : 0, to, bytes, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       memcpy(made, all[(size_t)root], bytes);
                   });
}
static int emu_AllGather(const void *from, void *to, size_t n, int type, nccl_comm_t c,
                         cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type), ranks = (size_t)c->world->ranks;
    return emu_all(c, from, bytes, to, ranks * bytes, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       for (size_t r = 0; r < ranks; r++) memcpy(made + r * bytes, all[r], bytes);
                   });
}
static int emu_ReduceScatter(const void *from, void *to, size_t n, int type, int op, nccl_comm_t c,
                             cudaStream_t s) {
    const size_t bytes = n * emu_bytes(type), ranks = (size_t)c->world->ranks;
    return emu_all(c, from, ranks * bytes, to, bytes, s,
                   [&](const std::vector<const char *> &all, char *made) {
                       emu_reduce(all, (size_t)c->rank * n, n, type, op, made);
                   });
}
/* Sends and receives of a group, which goes from all ranks to all, in parts that follow each other
 * by rank. */
static thread_local struct {
    const void *from;
    void *to;
    size_t bytes;
    nccl_comm_t comm;
    cudaStream_t stream;
} emu_group;
static int emu_GroupStart(void) { return 0; }
static int emu_Send(const void *from, size_t n, int type, int peer, nccl_comm_t c, cudaStream_t s) {
    if (peer == 0) emu_group.from = from;
    emu_group.bytes = n * emu_bytes(type);
    emu_group.comm = c;
    emu_group.stream = s;
    return 0;
}
static int emu_Recv(void *to, size_t n, int type, int peer, nccl_comm_t c, cudaStream_t s) {
    (void)n, (void)type, (void)c, (void)s;
    if (peer == 0) emu_group.to = to;
    return 0;
}
static int emu_GroupEnd(void) {
    const size_t bytes = emu_group.bytes, ranks = (size_t)emu_group.comm->world->ranks;
    const size_t mine = (size_t)emu_group.comm->rank;
    return emu_all(emu_group.comm, emu_group.from, ranks * bytes, emu_group.to, ranks * bytes,
                   emu_group.stream, [&](const std::vector<const char *> &all, char *made) {
                       for (size_t r = 0; r < ranks; r++)
                           memcpy(made + r * bytes, all[r] + mine * bytes, bytes);
                   });
}
static bool nccl_open(void) {
#define NCCL_FIND(name, parameters) nccl.name = emu_##name;
    NCCL_FUNCTIONS(NCCL_FIND)
#undef NCCL_FIND
    return true;
}
#else
/* Opens the library; false: there is none, or it lacks a function. */
static bool nccl_open(void) {
#ifdef _WIN32
    return false;
#else
#ifdef __HIP__
    void *at =
        dlopen("librccl.so.1", RTLD_NOW | RTLD_LOCAL); /* with NCCL's functions and numbers */
#else
    void *at = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
#endif
    bool whole = true;
    if (!at) return false;
#define NCCL_FIND(name, parameters)               \
    {                                             \
        void *found = dlsym(at, "nccl" #name);    \
        memcpy(&nccl.name, &found, sizeof found); \
        whole = whole && found;                   \
    }
    NCCL_FUNCTIONS(NCCL_FIND)
#undef NCCL_FIND
    return whole;
#endif
}
#endif

static bool nccl_there(void) {
    static const bool there = nccl_open();
    return there;
}

/* --- a group's communicator ------------------------------------------------------------------- */

struct nccl_kept {
    nccl_comm_t comm;
    int32_t device;
};
static void nccl_release(void *at) {
    nccl_kept *k = (nccl_kept *)at;
    if (!cudaSetDevice(k->device)) nccl.CommDestroy(k->comm);
    delete k;
}

/* What a rank says of itself before the communicator is made. */
struct nccl_word {
    nccl_id id; /* rank 0's counts */
    int32_t device, ready;
};
enum { NCCL_RANKS = TNC_DEVICES };

/* All ranks have a device of their own and the library: false with the same error on all. */
static bool nccl_words_fit(tn_frame *f, const tn_collective *c, const nccl_word *word) {
    for (int32_t r = 0; r < c->size; r++) {
        if (!word[r].ready)
            return tn_fail(f, TN_UNSUPPORTED,
                           "rank %d has no NCCL (libnccl.so.2), which joins the devices of several "
                           "ranks",
                           (int)r);
        for (int32_t q = 0; q < r; q++)
            if (word[q].device == word[r].device)
                return tn_fail(f, TN_UNSUPPORTED,
                               "ranks %d and %d use the same device: NCCL wants one each", (int)q,
                               (int)r);
    }
    return true;
}

static bool nccl_begin(tn_frame *f, const tn_collective *c) {
    static thread_local nccl_word all[NCCL_RANKS];
    nccl_word mine;
    memset(&mine, 0, sizeof mine);
    mine.device = tn_frame_device(f);
    mine.ready = nccl_there() && (c->rank || !nccl.GetUniqueId(&mine.id));
    if (c->size > NCCL_RANKS)
        return tn_fail(f, TN_UNSUPPORTED, "a group on devices has at most %d ranks",
                       (int)NCCL_RANKS);
    if (!tn_collective_share(f, c, &mine, all, (int64_t)sizeof mine) || !nccl_words_fit(f, c, all))
        return false;
    nccl_kept *k = new (std::nothrow) nccl_kept{NULL, mine.device};
    if (!k) return tn_fail(f, TN_MEMORY, "out of memory");
    if (cudaSetDevice(mine.device) || nccl.CommInitRank(&k->comm, c->size, all[0].id, c->rank)) {
        delete k;
        return tn_fail(f, TN_INTERNAL, "NCCL refuses to join the devices of the ranks");
    }
    tn_group_keep(c->group, k, nccl_release);
    return true;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* NCCL's type, with two elements each for a complex number; bytes where elements are moved. */
static int nccl_type(const tn_collective *c, size_t *each) {
    const tn_dtype d = tn_dtype_of(c->input);
    *each = 1;
    if (!c->op) {
        *each = (size_t)tn_dtype_bytes(d);
        return NCCL_U8;
    }
    switch (d) {
    case TN_BOOL:
    case TN_U8: return NCCL_U8;
    case TN_I8: return NCCL_I8;
    case TN_I32: return NCCL_I32;
    case TN_I64: return NCCL_I64;
    case TN_F16: return NCCL_F16;
    case TN_BF16: return NCCL_BF16;
    case TN_F32: return NCCL_F32;
    case TN_F64: return NCCL_F64;
    case TN_C64: *each = 2; return NCCL_F32;
    case TN_C128: *each = 2; return NCCL_F64;
    default: return NCCL_NONE;
    }
}
static int nccl_op(const tn_collective *c) {
    const bool truth = tn_dtype_of(c->input) == TN_BOOL;
    switch (c->op) {
    case TN_REDUCE_OP_SUM: return truth ? NCCL_MAX : NCCL_SUM;
    case TN_REDUCE_OP_AVG: return NCCL_AVG;
    case TN_REDUCE_OP_PRODUCT: return truth ? NCCL_MIN : NCCL_PRODUCT;
    case TN_REDUCE_OP_MIN: return NCCL_MIN;
    default: return NCCL_MAX;
    }
}

/* What this file has no way for; the same on all ranks, whose calls are the same. */
static bool nccl_takes(tn_frame *f, const tn_collective *c) {
    const char kind = tni_dtype_kind(tn_dtype_of(c->input));
    size_t each;
    if (!tn_operand_of(c->input).row_major || !tn_operand_of(c->output).row_major)
        return tn_fail(f, TN_UNSUPPORTED, "tensors of a device must be contiguous");
    if (c->op >= TN_REDUCE_OP_BAND || nccl_type(c, &each) == NCCL_NONE)
        return tn_fail(f, TN_UNSUPPORTED, "NCCL has no such reduction of %s",
                       tn_dtype_name(tn_dtype_of(c->input)));
    if (tnc_exact() && (kind == 'f' || kind == 'c') && c->op && c->op <= TN_REDUCE_OP_PRODUCT)
        return tn_fail(f, TN_UNSUPPORTED,
                       "NCCL adds in an order of its own, which exact mode refuses");
    return true;
}

static bool nccl_look(tn_frame *f) {
    tn_collective c;
    tn_collective_of(&c, f);
    if (!tn_collective_meet(f, &c) || !nccl_takes(f, &c)) return false;
    if (c.size == 1) return true;
    const nccl_kept *k = (const nccl_kept *)tn_group_kept(c.group);
    if (!k) return nccl_begin(f, &c);
    return k->device == tn_frame_device(f) ||
           tn_fail(f, TN_UNSUPPORTED, "the group has begun on cuda:%d", (int)k->device);
}

/* Parts of the input to all ranks, in one group of messages. */
static int nccl_all_to_all(const tn_collective *c, const char *in, char *out, size_t bytes,
                           nccl_comm_t comm, cudaStream_t s) {
    const size_t part = bytes / (size_t)c->size;
    int bad = nccl.GroupStart();
    for (int32_t r = 0; r < c->size && !bad; r++) {
        bad = nccl.Send(in + (size_t)r * part, part, NCCL_U8, r, comm, s);
        if (!bad) bad = nccl.Recv(out + (size_t)r * part, part, NCCL_U8, r, comm, s);
    }
    return nccl.GroupEnd() || bad;
}

static int nccl_go(const tn_collective *c, const void *in, void *out, size_t n, nccl_comm_t comm,
                   cudaStream_t s) {
    size_t each;
    const int type = nccl_type(c, &each), op = nccl_op(c);
    const size_t count = n * each;
    switch (c->kind) {
    case TN_BROADCAST: return nccl.Broadcast(in, out, count, type, c->peer, comm, s);
    case TN_ALL_REDUCE: return nccl.AllReduce(in, out, count, type, op, comm, s);
    case TN_REDUCE: return nccl.Reduce(in, out, count, type, op, c->peer, comm, s);
    case TN_ALL_GATHER: return nccl.AllGather(in, out, count, type, comm, s);
    case TN_REDUCE_SCATTER:
        return nccl.ReduceScatter(in, out, count / (size_t)c->size, type, op, comm, s);
    default: return nccl_all_to_all(c, (const char *)in, (char *)out, count, comm, s);
    }
}

static void nccl_run(tn_frame *f) {
    tn_collective c;
    tn_collective_of(&c, f);
    const tn_operand in = tn_operand_of(c.input), out = tn_operand_of(c.output);
    const cudaStream_t s = tnc_stream(f);
    int none = 0;
    if (!in.numel) return;
    if (c.size == 1) {
        if (in.at != out.at)
            cudaMemcpyAsync(out.at, in.at, (size_t)in.numel * in.bytes, cudaMemcpyDeviceToDevice,
                            s);
        tnc_asked();
        return;
    }
    const nccl_kept *k = (const nccl_kept *)tn_group_kept(c.group);
    if (nccl_go(&c, in.at, out.at, (size_t)in.numel, k->comm, s)) /* the next wait tells it */
        tnc_device_of(f)->broken.compare_exchange_strong(none, (int)cudaErrorUnknown);
}

static const tn_device_row nccl_rows[] = {
    {"distributed_broadcast", false, nccl_look, NULL, nccl_run},
    {"distributed_all_reduce", false, nccl_look, NULL, nccl_run},
    {"distributed_reduce", false, nccl_look, NULL, nccl_run},
    {"distributed_all_gather", false, nccl_look, NULL, nccl_run},
    {"distributed_reduce_scatter", false, nccl_look, NULL, nccl_run},
    {"distributed_all_to_all", false, nccl_look, NULL, nccl_run},
};
TNC_FAMILY(nccl, nccl_rows)
