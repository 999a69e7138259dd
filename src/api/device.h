/* device.h - devices beside the CPU: how a backend plugs in, and what a program asks of one.
 *
 * A backend is a struct of functions and a list of kernels by the names of rows. The library knows
 * it by this struct alone, and the backend knows the library by its public functions alone:
 *
 *     tn_backend_add(my_backend()); // of kind "null", say: null:0 exists now
 *     tn_tensor *x = tn_rand(TN_DIMS(2, 3), .device = tn_device("null:0"));
 *     tn_print(tn_to(tn_exp(x), TN_CPU));
 *
 * Rows that give a view, rows that only move elements (TN_MOVES), composed rows and all gradients
 * need nothing of a backend. A row for which it has no kernel is refused by name, or runs on copies
 * on the CPU if the program says so (tn_device_fallback).
 *
 * Order: what is asked of one device (kernels, copies, fills, reuse of freed memory) happens in the
 * order of the calls, unless the program makes streams. The host waits in tn_device_wait, in copies
 * to it, and where elements are read: tn_item, tn_read_.., printing. */
#ifndef TNI_API_DEVICE_H
#define TNI_API_DEVICE_H

#include "row.h"

TNI_EXTERN_C_BEGIN

/* --- programs --------------------------------------------------------------------------------- */

/* Waits until all that was asked of the device is done. False with INTERNAL if it broke meanwhile,
 * INVALID if there is no such device; of the CPU and meta always true. Any thread. */
TN_API bool tn_device_wait_at(const char *file, int line, tn_device_id device);
#define tn_device_wait(device) tn_device_wait_at(__FILE__, __LINE__, device)
TN_API bool tnp_device_wait(tn_device_id device);
/* Bytes of a device's memory. */
typedef struct tn_device_memory_info {
    int64_t used, peak; /* by tensors and workspaces, now and at most since tn_device_reset_peak */
    int64_t reserved;   /* taken from the driver: used, and kept for the next */
    int64_t calls;      /* to the driver for memory, so far */
    int64_t limit;      /* of reserved; 0: none */
    int64_t most;       /* reserved at most since tn_device_reset_peak */
} tn_device_memory_info;
/* What the memory of a device holds. All 0 of a device that was not used yet, of one whose backend
 * does not count, of the CPU (tn_memory) and of no device. Any thread. */
TN_API tn_device_memory_info tn_device_memory(tn_device_id device);
/* Peak and most begin again at what is in use and reserved. Any thread. */
TN_API void tn_device_reset_peak(tn_device_id device);
/* So many bytes at most are taken from the driver, by all contexts of the process; 0: no limit.
 * What is taken stays. A tensor that does not fit is an error with MEMORY, which says what is in
 * use and which tensors are the largest. False with INVALID for a negative number and no such
 * device, UNSUPPORTED where the backend has no limit (the CPU: tn_set_memory_cap). Any thread. */
TN_API bool tn_device_memory_limit_at(const char *file, int line, tn_device_id device,
                                      int64_t bytes);
#define tn_device_memory_limit(device, bytes) \
    tn_device_memory_limit_at(__FILE__, __LINE__, device, bytes)
TN_API bool tnp_device_memory_limit(tn_device_id device, int64_t bytes);
/* A piece of a device's memory. Neighbours of one segment follow each other in address. */
typedef struct tn_device_piece {
    const void *at, *segment; /* the segment's first byte is what the driver gave */
    int64_t bytes;
    bool used; /* false: kept for reuse */
} tn_device_piece;
/* Calls each(piece, user) for every piece of a device's memory as it is now; each may call the
 * library. The result is their number: 0 also of a device that was not used yet, of one whose
 * backend does not tell, and without memory for the list. Any thread. */
TN_API int64_t tn_device_snapshot(tn_device_id device,
                                  void (*each)(const tn_device_piece *piece, void *user),
                                  void *user);
/* A copy of t, a tensor of the CPU, in memory that devices reach by themselves (torch: pin_memory);
 * it is new and has no history. tn_to with .non_blocking does not wait for a copy from such memory
 * or to it: t must stay as it is until tn_device_wait. tn_to(x, TN_CPU, .non_blocking = true) makes
 * its result there, which may be read behind tn_device_wait. Freeing such tensors at once is right:
 * their memory is used again when the copy is done. NULL with INVALID if t is elsewhere,
 * UNSUPPORTED if no device has such memory, MEMORY. */
TN_API tn_tensor *tn_pin_at(const char *file, int line, tn_tensor *t);
#define tn_pin(t) tn_pin_at(__FILE__, __LINE__, t)
TN_API tn_tensor *tnp_pin(tn_tensor *t);
TN_API bool tn_is_pinned(const tn_tensor *t); /* whether t's data are there */
/* Loads a backend from a module of its own and adds its devices to the current context. "cuda"
 * opens libtensor_cuda.so (tensor_cuda.dll) by the system's search path; a name with a slash, that
 * file. The module stays loaded. It calls the program's own functions, so the program defines
 * TN_EXPORT where it calls this and where it compiles the implementation. False with UNSUPPORTED if
 * there is no such file, it was compiled for another version of this header, or it finds no device,
 * and says why. Call it before other threads use the context. */
TN_API bool tn_device_load_at(const char *file, int line, const char *name, const void *exports);
#ifdef TN_EXPORT
#define tn_device_load(name) tn_device_load_at(__FILE__, __LINE__, name, tn_exported())
#else
#define tn_device_load(name) tn_device_load_at(__FILE__, __LINE__, name, NULL)
#endif
/* Whether rows without a kernel run on the CPU, on copies of their arguments, in the current
 * context: false at the start, when such a call is an error. Gradients follow. In place, with out=
 * and with lists of tensors such a call stays an error. Returns what was set before. Any thread. */
TN_API bool tn_device_fallback(bool on);
/* What a device is. */
typedef struct tn_device_properties {
    char name[128];        /* the maker's, as "NVIDIA H100 80GB HBM3"; "": it is not known */
    int32_t major, minor;  /* the version of what it can do: CUDA's compute capability */
    int32_t processors;    /* that work side by side: multiprocessors */
    int32_t threads;       /* at most at a time on one of them */
    int32_t runtime;       /* version of the library that drives it: 13020 is CUDA 13.2 */
    int64_t memory, cache; /* bytes in all: of its memory, of the cache before it */
    int64_t left;          /* bytes of memory that no program uses; 0 before the first use here */
} tn_device_properties;
/* What a device is. All 0 if its backend does not say, of the CPU and of no device. Any thread.
 *     printf("%s\n", tn_device_properties_of(tn_device("cuda")).name); */
TN_API tn_device_properties tn_device_properties_of(tn_device_id device);

/* --- streams and events ----------------------------------------------------------------------- */

/* What is asked of a device goes into the calling thread's current stream of that device: at the
 * start into the device's own. In one stream all happens in the order of the calls. Between streams
 * only events and waits make an order; the program asks for them where one stream reads or writes
 * what another one does. Memory needs none: a tensor's is used again when all streams are done with
 * it in which a call has read or written it.
 *
 * A backward runs each recorded call's gradient in the stream of the call, waits where gradients
 * go from one stream to another, and its end is in the order of the caller's current stream, which
 * then may read .grad.
 *
 *     tn_stream *s = tn_stream_new(device, 0);
 *     tn_stream_wait_stream(s, tn_stream_current(device)); // x is made there
 *     TN_STREAM(s) y = tn_exp(x);
 *     tn_stream_wait_stream(tn_stream_current(device), s); // y may be read from here on
 *
 * A backend without streams has the device's own alone, and no events. */
typedef struct tn_stream tn_stream;
typedef struct tn_stream_event tn_stream_event;

/* A stream of a device, of the current context; a lower priority is served first, where the device
 * knows priorities. A context makes at most 255; one that was freed is given again to who asks for
 * its device and priority. NULL with INVALID for no such device,
 * UNSUPPORTED if it has no streams or too many, MEMORY. */
TN_API tn_stream *tn_stream_new_at(const char *file, int line, tn_device_id device, int priority);
#define tn_stream_new(device, priority) tn_stream_new_at(__FILE__, __LINE__, device, priority)
TN_API tn_stream *tnp_stream_new(tn_device_id device, int priority);
/* Gives s up; what was asked goes on. A device's own stream stays, and NULL is allowed. No thread
 * may use it any more. */
TN_API void tn_stream_free(tn_stream *s);
/* The device's own stream; NULL: there is no such device beside the CPU. */
TN_API tn_stream *tn_stream_default(tn_device_id device);
/* The calling thread's current stream of the device; NULL: there is no such device. */
TN_API tn_stream *tn_stream_current(tn_device_id device);
/* Makes s current in the calling thread, and returns the stream of its device that was so before;
 * NULL changes nothing. */
TN_API tn_stream *tn_stream_use(tn_stream *s);
TN_API tn_device_id tn_stream_device(const tn_stream *s); /* TN_NO_DEVICE of NULL */
TN_API int tn_stream_priority(const tn_stream *s);
/* What the backend calls it (CUDA: a cudaStream_t), for kernels of the program's own. */
TN_API void *tn_stream_handle(const tn_stream *s);
/* Waits until all that was asked in s is done. False with INTERNAL if the device broke meanwhile,
 * INDEX for an index out of range, INVALID for NULL. */
TN_API bool tn_stream_synchronize_at(const char *file, int line, tn_stream *s);
#define tn_stream_synchronize(s) tn_stream_synchronize_at(__FILE__, __LINE__, s)
TN_API bool tnp_stream_synchronize(tn_stream *s);
TN_API bool tn_stream_query(tn_stream *s); /* whether it is done, without a wait */
/* What is asked in s from now on comes after what was asked in `other` by now. The host does not
 * wait. False with INVALID for NULL and for streams of two backends, MEMORY, INTERNAL. */
TN_API bool tn_stream_wait_stream_at(const char *file, int line, tn_stream *s, tn_stream *other);
#define tn_stream_wait_stream(s, other) tn_stream_wait_stream_at(__FILE__, __LINE__, s, other)
TN_API bool tnp_stream_wait_stream(tn_stream *s, tn_stream *other);
/* The same for what comes before the last record of the event; nothing if there is none. */
TN_API bool tn_stream_wait_event_at(const char *file, int line, tn_stream *s, tn_stream_event *e);
#define tn_stream_wait_event(s, e) tn_stream_wait_event_at(__FILE__, __LINE__, s, e)
TN_API bool tnp_stream_wait_event(tn_stream *s, tn_stream_event *e);

/* An event of the current context; timing: tn_event_elapsed_ms is asked of it. NULL with MEMORY. */
TN_API tn_stream_event *tn_event_new_at(const char *file, int line, bool timing);
#define tn_event_new(timing) tn_event_new_at(__FILE__, __LINE__, timing)
TN_API tn_stream_event *tnp_event_new(bool timing);
TN_API void tn_event_free(tn_stream_event *e); /* who waits for it still does; NULL is allowed */
/* The event is when s is done with what was asked by now; an earlier record is forgotten. An event
 * belongs to the device of its first record. False with INVALID for NULL and for another device,
 * UNSUPPORTED, MEMORY, INTERNAL. */
TN_API bool tn_event_record_at(const char *file, int line, tn_stream_event *e, tn_stream *s);
#define tn_event_record(e, s) tn_event_record_at(__FILE__, __LINE__, e, s)
TN_API bool tnp_event_record(tn_stream_event *e, tn_stream *s);
TN_API bool tn_event_query(tn_stream_event *e); /* whether it has been; true without a record */
/* The host waits for it; true without a record. False with INVALID for NULL, INTERNAL. */
TN_API bool tn_event_synchronize_at(const char *file, int line, tn_stream_event *e);
#define tn_event_synchronize(e) tn_event_synchronize_at(__FILE__, __LINE__, e)
TN_API bool tnp_event_synchronize(tn_stream_event *e);
/* Milliseconds from one event to another, both of one device, with timing, and done. -1 with
 * INVALID if not. */
TN_API double tn_event_elapsed_ms_at(const char *file, int line, tn_stream_event *begin,
                                     tn_stream_event *end);
#define tn_event_elapsed_ms(begin, end) tn_event_elapsed_ms_at(__FILE__, __LINE__, begin, end)
TN_API double tnp_event_elapsed_ms(tn_stream_event *begin, tn_stream_event *end);
/* t's memory is used in s by other code than the library's: it is given out again when what was
 * asked in s before t is freed is done. False with INVALID for NULL or another device. */
TN_API bool tn_record_stream_at(const char *file, int line, tn_tensor *t, tn_stream *s);
#define tn_record_stream(t, s) tn_record_stream_at(__FILE__, __LINE__, t, s)
TN_API bool tnp_record_stream(tn_tensor *t, tn_stream *s);

typedef struct tni_stream_guard {
    tn_stream *before;
    bool once;
#ifdef __cplusplus
    explicit tni_stream_guard(tn_stream *s) : before(tn_stream_use(s)), once(true) {}
    ~tni_stream_guard() { tn_stream_use(before); }
    tni_stream_guard(const tni_stream_guard &) = delete;
    tni_stream_guard &operator=(const tni_stream_guard &) = delete;
#endif
} tni_stream_guard;
/* A block with another current stream. It ends as tn_no_grad's does, by return and goto too.
 *     TN_STREAM(s) { y = tn_matmul(a, b); } */
#ifdef __cplusplus
#define TNI_STREAM_BLOCK(guard, s) for (tni_stream_guard guard(s); guard.once; guard.once = false)
#else
TNI_INLINE void tni_stream_leave(tni_stream_guard *guard) { tn_stream_use(guard->before); }
#define TNI_STREAM_BLOCK(guard, s)                                                       \
    for (tni_stream_guard guard TNI_AT_END(tni_stream_leave) = {tn_stream_use(s), true}; \
         guard.once; guard.once = false TNI_AT_NEXT(tni_stream_leave, guard))
#endif
#define TN_STREAM(s) TNI_STREAM_BLOCK(TNI_JOIN(tni_stream_, __LINE__), s)

/* --- backends --------------------------------------------------------------------------------- */

/* The kernels of a row on a device. Behind the row's own check, which makes the errors of arguments
 * and announces results, come look, the results' memory, prepare and run, in place of the row's. */
typedef struct tn_device_row {
    /* the row's name in C; NULL: serves every row with an expression (TN_POINTWISE) that has no
     * entry of its own */
    const char *name;
    /* run uses f->scratch, memory of the host that the row's check has asked for */
    bool scratch;
    /* reads elements: f->count, ranges of indices; may wait. NULL: nothing is looked at, so a row
     * whose result's size depends on data must have one */
    bool (*look)(tn_frame *f);
    /* all else that can fail: workspace (tn_device_scratch), plans, handles; asks nothing of the
     * device. NULL: none */
    bool (*prepare)(tn_frame *f);
    /* writes every element of the results; cannot fail, does not wait */
    void (*run)(tn_frame *f);
} tn_device_row;

#define TN_BACKEND_VERSION 5
/* LATER, beside one of the others: the host's side is memory of host_alloc, and the copy happens in
 * the order of what was asked; nobody waits for it. */
enum tn_copy { TN_COPY_UP = 1, TN_COPY_DOWN = 2, TN_COPY_LATER = 4 };

/* What a kernel met a while ago: an index out of range, which it read as 0. */
typedef struct tn_fault {
    uint64_t ticket; /* of the call: tn_device_ticket; 0: there is no fault */
    int64_t value, bound;
    uint64_t owner; /* the number of the context that waits. Faults of others stay */
} tn_fault;
/* A ticket has its context's number, 0 to TN_OWNER_MOST, from this bit on. */
enum { TN_OWNER_BIT = 40, TN_OWNER_MOST = (1 << 23) - 1 };

/* Streams of a backend, all functions or none. A handle is the backend's own; NULL: the device's
 * own stream. The others of the backend's functions, and kernels, work in the calling thread's
 * current stream, which they ask for: tn_backend_stream. False and NULL: it failed. */
typedef struct tn_backend_streams {
    void *(*stream_new)(int32_t device, int32_t priority);
    /* its work goes on, and memory that was used there is used again behind it */
    void (*stream_free)(int32_t device, void *stream);
    /* as tn_backend.wait, for this stream alone */
    bool (*stream_wait)(int32_t device, void *stream, tn_fault *fault, char *why, size_t room);
    bool (*stream_done)(int32_t device, void *stream);
    void *(*event_new)(int32_t device, bool timing);
    void (*event_free)(int32_t device, void *event);
    bool (*event_record)(int32_t device, void *event, void *stream);
    /* the stream, of this device, goes on behind the event, which may be of another one */
    bool (*event_before)(int32_t device, void *event, void *stream);
    bool (*event_wait)(int32_t device, void *event); /* the host does */
    bool (*event_done)(int32_t device, void *event);
    bool (*event_ms)(int32_t device, void *begin, void *end, float *ms); /* false: not done */
    /* memory of alloc is used in this stream, from the call until it is freed: then it is not given
     * out again before the stream is done with what was asked by then. Cannot fail */
    void (*used)(int32_t device, void *at, void *stream);
    /* Graphs for tn_replay, all four or none. What the calling thread asks of the stream, which is
     * its current one and has nothing else to do, is not carried out until capture_end: it becomes
     * a graph. NULL: there is none, for instance because a kernel's run has waited. Frames and
     * memory that the calls were given stay as they are until graph_free */
    bool (*capture_begin)(int32_t device, void *stream);
    void *(*capture_end)(int32_t device, void *stream);
    /* what the graph has taken is carried out in the stream, the thread's current one */
    bool (*graph_launch)(int32_t device, void *graph, void *stream);
    void (*graph_free)(int32_t device, void *graph); /* launches go on */
} tn_backend_streams;

/* A kind of device. The struct, its texts and rows are the backend's and live as long as the
 * process. All functions may be called by any thread, several at a time; `device` counts from 0.
 * `why` gets a sentence without a full stop, as for printf's %s, of at most `room` bytes. */
typedef struct tn_backend {
    uint32_t version, bytes; /* TN_BACKEND_VERSION, sizeof(tn_backend) */
    const char *kind;        /* "null": its devices are "null:0", "null:1"; "null" is the first */
    int32_t count;           /* devices; 1 to 64 */
    int32_t nrows;
    const tn_device_row *rows;
    /* once for each context, which has this number, before it first uses a device; false: why it
     * cannot be used */
    bool (*open)(int32_t device, uint64_t owner, char *why, size_t room);
    /* new memory, bytes > 0, 64-byte aligned and uninitialised; NULL: none is left, for which the
     * library calls trim and asks once more; or, with a sentence in `why`, the device failed */
    void *(*alloc)(int32_t device, int64_t bytes, char *why, size_t room);
    /* takes memory of alloc back, which what was asked before may still use. Cannot fail */
    void (*free)(int32_t device, void *at);
    /* bytes > 0 from the host (TN_COPY_UP, `from` has been read on return) or to it (TN_COPY_DOWN,
     * waits). False: why it failed */
    bool (*copy)(int32_t device, void *to, const void *from, int64_t bytes, enum tn_copy how,
                 char *why, size_t room);
    /* src's elements, converted, into dst: both on the device, of one shape, any strides and
     * dtypes, no overlap. Cannot fail */
    void (*elements)(int32_t device, tn_tensor *dst, const tn_tensor *src);
    /* the element at `unit`, host memory that has been read on return, in all places of dst */
    void (*fill)(int32_t device, tn_tensor *dst, const void *unit);
    /* waits for all that was asked, in all streams; false: why the device broke. A fault of a
     * kernel goes to *fault, of which the owner alone is set before the call, and is told once */
    bool (*wait)(int32_t device, tn_fault *fault, char *why, size_t room);
    /* may be NULL: gives back to the driver what no tensor uses; says what is used */
    void (*trim)(int32_t device);
    void (*memory)(int32_t device, tn_device_memory_info *to);
    /* may be NULL: what tn_device_reset_peak, .._memory_limit and .._snapshot say */
    void (*reset_peak)(int32_t device);
    void (*limit)(int32_t device, int64_t bytes);
    int64_t (*snapshot)(int32_t device, void (*each)(const tn_device_piece *piece, void *user),
                        void *user);
    /* both or neither may be NULL: memory of the host, bytes > 0, 64-byte aligned, for copies to
     * and from the backend's devices (TN_COPY_LATER); NULL: as alloc's. What is given back is
     * used again when such copies are done; cannot fail, any thread */
    void *(*host_alloc)(int32_t device, int64_t bytes, char *why, size_t room);
    void (*host_free)(int32_t device, void *at);
    /* may be NULL: what tn_device_properties_of says, into a struct of zeros; also before open */
    void (*properties)(int32_t device, tn_device_properties *to);
    /* may be NULL: each device has one stream. Memory of alloc belongs to the stream that is
     * current then, and free gives it back in the order of that one */
    const tn_backend_streams *streams;
    /* may be NULL: the context of this number, which has opened the device, ends. What it asked for
     * may still run */
    void (*close)(int32_t device, uint64_t owner);
    /* may be NULL, and needs streams: bytes > 0 from memory of `from_device` to that of `device`,
     * in the current stream of `device`. The library makes the order: that stream is behind the
     * other device's current one, which goes on behind the copy. False: why it failed. Without this
     * they go through the host */
    bool (*across)(int32_t device, void *to, int32_t from_device, const void *from, int64_t bytes,
                   char *why, size_t room);
    int64_t grain; /* what alloc takes is whole ones of so many bytes, as plans of memory count it;
                    * 0: 64 */
} tn_backend;

/* Adds the devices of a backend to the current context, behind those that it has; adding it again
 * changes nothing. False with an error: NULL, another version, a kind that is taken, more than 253
 * devices, or MEMORY. Call it before other threads use the context. */
TN_API bool tn_backend_add(const tn_backend *backend);

/* A module that tn_device_load opens has one function: its backend, or NULL and why there is none.
 * `exports` is tn_exported()'s table, for tn_import. */
typedef const tn_backend *(*tn_module_backend)(const void *exports, char *why, size_t room);
#define TN_MODULE_BACKEND "tn_backend_of_module"

/* --- for backends: a call and its tensors ----------------------------------------------------- */

/* The number of the call's device among its backend's; -1: the host. */
TN_API int32_t tn_frame_device(const tn_frame *f);
/* The handle of the calling thread's current stream of a backend's device, in the thread's context;
 * NULL: the device's own. */
TN_API void *tn_backend_stream(const tn_backend *backend, int32_t device);
/* For prepare, at most once, of a row without .scratch: so many bytes of the device's memory, which
 * run finds in f->scratch. NULL with MEMORY. */
TN_API void *tn_device_scratch(tn_frame *f, int64_t bytes);
/* A number for this call, by which a fault of its kernels is told later with row and line. Never
 * 0. */
TN_API uint64_t tn_device_ticket(const tn_frame *f);
/* A tensor's first element in its device's memory; NULL: it has no elements, or no data. */
TN_API void *tn_device_data(const tn_tensor *t);
/* For backends whose memory the host can address: copies src's elements, converted, into dst by the
 * CPU, whatever device both are on; of one shape, any strides, no overlap. Cannot fail. */
TN_API void tn_host_elements(tn_tensor *dst, const tn_tensor *src);

/* A tensor as kernels see it. */
typedef struct tn_operand {
    char *at;                     /* the first element; NULL: there is none */
    const int64_t *size, *stride; /* in elements, the tensor's own */
    int64_t numel;
    int32_t ndim;
    uint8_t dtype, bytes; /* bytes of an element */
    bool on_host;         /* at is the host's: numbers, and 0-dim tensors of the CPU */
    bool row_major;
} tn_operand;
TN_API tn_operand tn_operand_of(const tn_tensor *t); /* of NULL: all 0 */
/* A tensor's one element, converted to dtype, at `to` (at most 16 bytes); it is on the host. */
TN_API void tn_operand_number(const tn_tensor *t, tn_dtype dtype, void *to);

/* Tensors over one shape. Dimension 0 is the innermost; strides in bytes, 0 where broadcast.
 * Neighbouring dimensions that lie alike in all are one, those of size 1 are gone; a single element
 * has one dimension. */
enum { TN_WALK_MOST = 6 };
typedef struct tn_walk_plan {
    int32_t n, ndim;
    int64_t numel;
    int64_t size[TN_MAX_DIMS];
    int64_t stride[TN_WALK_MOST][TN_MAX_DIMS];
    char *at[TN_WALK_MOST];
} tn_walk_plan;
/* 1 to TN_WALK_MOST tensors; the first says the shape, to which the others broadcast. */
TN_API void tn_walk_plan_of(tn_walk_plan *p, tn_tensor *const *t, int n);

/* A call of a row with an expression, as the CPU computes it: the result's and the inputs' walk,
 * and in which dtypes. An element of input k goes from its own dtype to `common` and from there to
 * `native`, the type of the arithmetic; the result from `made` to `rounded` and to its own. */
typedef struct tn_pointwise_plan {
    tn_walk_plan walk; /* 0: the result; k + 1: input k, with strides 0 where `number[k]` */
    tn_dtype common, native, made, rounded;
    bool mask;            /* input 0 is bool and read as a mask */
    bool flat;            /* all that are no number lie row-major alike, `walk` in one dimension */
    bool number[3];       /* input k is one element on the host, in native at one[k] */
    double one[3][2];     /* (a mask: one byte) */
    double numbers[3][2]; /* the row's number parameters in native, 16 bytes each */
} tn_pointwise_plan;
TN_API void tn_pointwise_plan_of(tn_pointwise_plan *p, const tn_frame *f);

/* A reduction as the CPU orders it (kernels/reduce.h): sizes and steps of what is reduced and of
 * what stays, innermost last, steps in bytes; of the result in elements. Results are outer x width;
 * those of the width lie side by side in memory where `columns`. Complex elements are pairs of
 * reals, unless they are read as != 0. */
enum { TN_REDUCE_DIMS = TN_MAX_DIMS + 1 };
enum tn_reduce_how {
    TN_REDUCE_PLAIN,
    TN_REDUCE_ORDERED,
    TN_REDUCE_NONZERO,
    TN_REDUCE_MAGNITUDE = 4
};
typedef struct tn_reduce_plan {
    const char *x;
    int64_t n, outer, width, width_out; /* n elements a result */
    int32_t nred, nkeep;
    tn_dtype dtype, compute; /* of elements in memory; F32, F64 or I64 of the arithmetic */
    bool columns;
    int64_t red[TN_REDUCE_DIMS], red_step[TN_REDUCE_DIMS];
    int64_t keep[TN_REDUCE_DIMS], keep_step[TN_REDUCE_DIMS], keep_out[TN_REDUCE_DIMS];
} tn_reduce_plan;
/* gone[d]: dimension d of x is reduced. how: bits of tn_reduce_how. */
TN_API void tn_reduce_plan_of(tn_reduce_plan *p, const tn_tensor *x, const bool *gone,
                              tn_dtype compute, int how);

/* A call of index or index_put, self[.., i, j, .., mask, ..]: the broadcast shape of the indices
 * replaces the indexed dimensions of self if these are neighbours; otherwise it comes first. A mask
 * (bool or uint8) of k dimensions stands for k index vectors that name its true elements. */
typedef struct tn_index_plan {
    int32_t kept, place; /* dimensions that stay, and how many of them lie before the indices' */
    int32_t keep[TN_MAX_DIMS];
    int32_t index_ndim, ndim;
    int64_t index_size[TN_MAX_DIMS]; /* the index shape: of the indices broadcast together; the last
                                      * may be TN_UNKNOWN: as many as a mask has true elements */
    int64_t size[TN_MAX_DIMS];       /* of the result */
    int64_t max_places, masks; /* places if all of a mask are true; elements of the largest mask */
} tn_index_plan;
/* Plans a call with n indices, NULL where a dimension stays; false with an error. */
TN_API bool tn_index_plan_of(tn_frame *f, const tn_tensor *self, tn_tensor *const *index, int n,
                             tn_index_plan *p);
/* For look, once for each mask in order, with *count 1 before the first: *count becomes the size of
 * the masks in the index shape. False with an error if `found` true elements do not fit. */
TN_API bool tn_index_mask(tn_frame *f, const tn_index_plan *p, int64_t found, int64_t *count);
/* Whether the values of index_put broadcast to the result's shape, and not beyond it; else an
 * error. */
TN_API bool tn_index_values_fit(tn_frame *f, const tn_index_plan *p, const tn_tensor *values,
                                int64_t count);

/* A number argument as an element of dtype at `to` (at most 16 bytes). */
TN_API void tn_scalar_element(tn_scalar s, tn_dtype dtype, void *to);
/* The dtype to which n tensors and numbers are promoted together; TN_NO_DTYPE: there is none. */
TN_API tn_dtype tn_operands_dtype(const tn_frame *f, tn_tensor *const *t, int n);

/* --- for backends: numbers that rows make of their arguments ---------------------------------- */

/* arange and linspace. Element i of n: with `whole` first + i by, which wraps; else in double, with
 * `both_ends` from i = n / 2 on fma(-step, n - 1 - i, end), in all other cases fma(step, i,
 * start). Part 1 is the imaginary part of a complex result. */
typedef struct tn_range_plan {
    double start, end, step;
    int64_t first, by;
    bool whole, both_ends;
    bool exact; /* fma would not round */
} tn_range_plan;
TN_API void tn_range_plan_of(tn_range_plan *p, const tn_frame *f, int part);

/* A row that draws. Words come from Philox4x32-10 with `seed` as key, which a device makes for
 * itself: word j of the draw is word j % 4 at the counter (j / 4, number). */
typedef struct tn_draw {
    uint64_t seed, number;
} tn_draw;
/* For run, once: the next draw of the call's generator. */
TN_API tn_draw tn_draw_next(const tn_frame *f);
/* bernoulli_float and dropout: a draw of 53 bits below `below` is a 1, or kept. */
typedef struct tn_chance_plan {
    uint64_t below;
    double scale; /* of dropout: what is kept is multiplied by it, in float, of 64-bit parts in
                     double */
    bool idle;    /* of dropout: the result is its input; in place it may be a copy */
    bool none;    /* of dropout: nothing is kept, nothing drawn */
} tn_chance_plan;
TN_API void tn_chance_plan_of(tn_chance_plan *p, const tn_frame *f);
/* random, randint, randint_low: low + word % range, wrapping, of words of 32 bits or `wide` ones of
 * 64. */
typedef struct tn_integers_plan {
    int64_t low;
    uint64_t range;
    bool wide;
} tn_integers_plan;
TN_API void tn_integers_plan_of(tn_integers_plan *p, const tn_frame *f);

/* A step of an optimizer for one parameter (kernels/optimize_type.inl and optimize_rules.inl have
 * the formulas). Factors are rounded to the type of the arithmetic. */
enum { TN_STEP_TENSORS = 5 };
typedef struct tn_step_plan {
    tn_tensor *t[TN_STEP_TENSORS]; /* parameter, gradient, states; NULL: not used */
    double decay;
    double momentum, one_dampening, rate;                /* SGD */
    double one_beta1, beta2, one_beta2, step, root, eps; /* Adam */
    bool decays, maximize;
    bool nesterov, first; /* SGD */
    bool adam, decoupled; /* else SGD */
    int rule;             /* of fused_step, a tn_optimizer_rule, with factors of its own; else 0 */
    int nfactors;
    const double *factors;
} tn_step_plan;
/* Of parameter i of fused_sgd, fused_adam, fused_adamw, fused_step. False: there is no such
 * parameter. */
TN_API bool tn_step_plan_of(tn_step_plan *p, const tn_frame *f, int64_t i);

/* A product of matrices as the CPU computes it: batches of (m, k) times (k, n). Each element of the
 * result is a chain of fma over TN_PRODUCT_BLOCK terms from 0, and these sums are added in rising
 * order by one fma with alpha each (kernels/gemm.h). Strides in elements; batch strides are 0 where
 * an operand repeats. The result is row-major, batch after batch. */
enum { TN_PRODUCT_BLOCK = 384 };
typedef struct tn_product_plan {
    int64_t m, n, k, batches;
    int64_t a_row, a_col, b_row, b_col;
    int nbatch; /* dimensions of the batches, outermost first */
    int64_t size[TN_MAX_DIMS], a_batch[TN_MAX_DIMS], b_batch[TN_MAX_DIMS];
    int ndim; /* of the result */
    int64_t result[TN_MAX_DIMS + 2];
} tn_product_plan;
/* a times b, or, if b is `turned`, times the transpose of the matrix b; they fit, as the row's
 * check has seen. */
TN_API void tn_product_plan_of(tn_product_plan *p, const tn_tensor *a, const tn_tensor *b,
                               bool turned);

/* The blocks of pixels whose sums conv2d_weight_grad adds in order, of floating dtypes. Lines of
 * the output are numbered over all images (of conv3d_weight_grad: planes of all volumes); a round
 * is `images` images, fewer at the end of all, and of a volume. A block
 * is `lines` lines, fewer at the end of a round; or, where a line has several `pieces`, one of
 * these: `piece` pixels, fewer at the end of a line. A block's sum is a chain over its pixels; if
 * `lanes`, one in each of 16 lanes: pixel x of a piece is in lane x mod 16, and lanes are folded by
 * halves. */
typedef struct tn_conv_blocks {
    int64_t images, lines, pieces, piece;
    bool lanes;
} tn_conv_blocks;
/* Of a call of conv2d_weight_grad or conv3d_weight_grad, behind its check. */
TN_API void tn_conv_blocks_of(tn_conv_blocks *b, tn_frame *f);

TNI_EXTERN_C_END
#endif
