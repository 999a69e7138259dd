/* device.h (room) - backends beside the CPU: their devices by name and number, memory, bytes up and
 * down. Knows rows by name alone. */
#ifndef TNI_DEVICE_DEVICE_H
#define TNI_DEVICE_DEVICE_H

#include "../api/device.h"
#include "../tensor/tensor.h"

/* A call that a kernel may complain of later. */
typedef struct tni_ticket {
    const char *row, *file;
    int32_t line;
} tni_ticket;
enum { TNI_TICKETS = 256 }; /* the latest calls; of an older one the error says that it was one */

/* A device of a context. */
typedef struct tni_device {
    char name[32]; /* "null:0" */
    const tn_backend *backend;
    struct tni_device_table *table; /* its backend's rows; NULL until a call asks (call/device.c) */
    int32_t index;                  /* among its backend's */
    uint32_t opened;                /* atomic */
    tni_wide tickets;               /* given out */
    tni_ticket ticket[TNI_TICKETS];
    struct tni_device *next;
} tni_device;

/* The device of that number; NULL: the CPU, meta, or none. */
TN_PRIV tni_device *tni_device_of(const tni_block *b, tn_device_id device);
/* Opens d at its first use; false with an error that says why it cannot be used. */
TN_PRIV bool tni_device_open(tni_block *b, tni_device *d);
/* Copies bytes to d or from it. False with an error. */
TN_PRIV bool tni_device_bytes(tni_block *b, tni_device *d, void *to, const void *from,
                              int64_t bytes, enum tn_copy how);
TN_PRIV bool tni_device_wait(tni_block *b, tni_device *d); /* false with an error */
/* New memory for t, a header of the CPU without storage, that d reaches by itself; plain memory if
 * d has no such. False with an error. */
TN_PRIV bool tni_pinned_storage(tni_block *b, tn_tensor *t, tni_device *d);
/* The device from which t's memory comes in this way, or NULL. */
TN_PRIV tni_device *tni_pinned_by(const tn_tensor *t);
/* Devices give back to their drivers what no tensor uses: bytes. */
TN_PRIV int64_t tni_devices_trim(tni_block *b);
#endif
