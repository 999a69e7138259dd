/* device.h (room) - backends beside the CPU: their devices by name and number, memory, bytes up and
 * down. Knows rows by name alone. */
#ifndef TNI_DEVICE_DEVICE_H
#define TNI_DEVICE_DEVICE_H

#include "../api/device.h"
#include "../tensor/tensor.h"

enum { DEVICE_WHY = 300 }; /* bytes of a backend's sentence */

/* A call that a kernel may complain of later. */
typedef struct tni_ticket {
    const char *row, *file;
    int32_t line;
} tni_ticket;
enum { TNI_TICKETS = 256 }; /* the latest calls; of an older one the error says that it was one */

struct tn_stream {
    tn_context *context;
    struct tni_device *device;
    void *handle; /* the backend's; NULL: the device's own */
    int32_t priority;
    tn_device_id id; /* the device's */
    uint8_t number;  /* in its context; 0: the device's own */
    bool taken;      /* a program has it */
};
enum { TNI_STREAMS = 256 };
/* Those of a context. One that was given up waits for the next program that asks for such a one, so
 * that a number always names a stream. */
typedef struct tni_streams {
    uint32_t lock, n;          /* n: numbers given out, atomic */
    tn_stream at[TNI_STREAMS]; /* by number; [0] is none */
} tni_streams;
/* A thread's current ones. */
typedef struct tni_streams_now {
    uint8_t of[TNI_STREAMS]; /* numbers, by device */
    bool ran[TNI_STREAMS];   /* joins: in which calls were made */
    bool joins;              /* a backward: calls wait for streams that wrote what they read */
} tni_streams_now;

/* What a graph keeps while it lives: workspace of its calls, and tickets that do not grow old. */
typedef struct tni_held {
    struct tni_held *next, *next_ticket; /* of the graph; of the device */
    void *scratch;                       /* NULL: a ticket */
    uint64_t number;
    tni_ticket ticket;
} tni_held;
#define TNI_HELD_TICKET ((uint64_t)1 << 63) /* their numbers begin here */
/* A capture that a thread has begun: what it asks of a device becomes a part of a graph. */
typedef struct tni_capture {
    struct tni_device *device;
    tni_held *held;
    bool scratch; /* memory that is asked for is workspace, which the graph keeps */
    bool spoiled; /* something was asked that a graph cannot hold: there will be none */
} tni_capture;

/* A device of a context. */
typedef struct tni_device {
    char name[32]; /* "null:0" */
    const tn_backend *backend;
    struct tni_device_table *table; /* its backend's rows; NULL until a call asks (call/device.c) */
    int32_t index;                  /* among its backend's */
    uint32_t opened;                /* atomic */
    tni_wide tickets;               /* given out */
    tni_ticket ticket[TNI_TICKETS];
    uint32_t held_lock; /* of the list below, and of opening */
    tni_held *held; /* tickets of its graphs */
    struct tni_device *next;
    tn_stream own; /* where all goes that no other stream is current for */
} tni_device;

/* The device of that number; NULL: the CPU, meta, or none. */
TN_PRIV tni_device *tni_device_of(const tni_block *b, tn_device_id device);
/* Opens d at its first use; false with an error that says why it cannot be used. */
TN_PRIV bool tni_device_open(tni_block *b, tni_device *d);
/* Copies bytes to d or from it. False with an error. */
TN_PRIV bool tni_device_bytes(tni_block *b, tni_device *d, void *to, const void *from,
                              int64_t bytes, enum tn_copy how);
/* Bytes of `from` to d, two devices of one backend that copies so: behind what was asked of both in
 * their current streams, and both go on behind it. False with an error. */
TN_PRIV bool tni_device_across(tni_block *b, tni_device *d, void *to, tni_device *from,
                               const void *at, int64_t bytes);
/* Waits for the thread's current stream; false with an error. */
TN_PRIV bool tni_device_wait(tni_block *b, tni_device *d);
/* The same for s; NULL: for all of d. */
TN_PRIV bool tni_device_wait_for(tni_block *b, tni_device *d, const tn_stream *s);
/* The stream of that number, as d's storages and nodes have it. */
TN_PRIV tn_stream *tni_stream_numbered(const tni_block *b, tni_device *d, uint8_t number);
/* The thread's current stream of d. */
TN_PRIV tn_stream *tni_stream_now(const tni_block *b, tni_device *d);
/* d is about to read t, or to write it, in its current stream: its memory stays until that is
 * done. In a backward the stream waits for the one that wrote t. t may be NULL, and of the CPU.
 * False with an error. */
TN_PRIV bool tni_stream_reads(tni_block *b, tni_device *d, const tn_tensor *t);
TN_PRIV bool tni_stream_writes(tni_block *b, tni_device *d, const tn_tensor *t);
/* What is asked in s comes behind what was asked in `other`. False with an error. */
TN_PRIV bool tni_stream_join(tni_block *b, const tn_stream *s, const tn_stream *other);
/* Whether the context has streams beside its devices' own. */
TNI_INLINE bool tni_streams_any(const tni_block *b) {
    return TNI_DEVICE != 0 && tni_load(&tni_tensors(b->context)->streams) != NULL;
}
/* A backward of the thread begins: its current streams go to *before. In between, node by node, the
 * current stream becomes that of a number on a device. The end is in the order of the streams that
 * were current at the beginning. False with an error. */
TN_PRIV bool tni_streams_begin(tni_block *b, tni_streams_now *before);
TN_PRIV void tni_streams_go(tni_block *b, tn_device_id device, uint8_t number);
TN_PRIV bool tni_streams_end(tni_block *b, const tni_streams_now *before);
/* The capture that is under way keeps d's workspace at `scratch`. */
TN_PRIV void tni_capture_keep(tni_block *b, tni_device *d, void *scratch);
/* All that a graph of d kept goes; owner: of the list's memory. */
TN_PRIV void tni_held_free(tni_block *b, tni_block *owner, tni_device *d, tni_held *held);
/* Where a capture is under way: it is spoiled, with an error; false. */
TN_PRIV bool tni_capture_refuse(tni_block *b, const tni_device *d);
/* New memory for t, a header of the CPU without storage, that d reaches by itself; plain memory if
 * d has no such. False with an error. */
TN_PRIV bool tni_pinned_storage(tni_block *b, tn_tensor *t, tni_device *d);
/* The device from which t's memory comes in this way, or NULL. */
TN_PRIV tni_device *tni_pinned_by(const tn_tensor *t);
/* Devices give back to their drivers what no tensor uses: bytes. */
TN_PRIV int64_t tni_devices_trim(tni_block *b);
#endif
