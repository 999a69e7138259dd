/* device.h (room) - backends beside the CPU, each a table with a name and a number. Knows operators
 * by their index alone. */
#ifndef TNI_DEVICE_DEVICE_H
#define TNI_DEVICE_DEVICE_H

#include "../tensor/tensor.h"

/* A backend beside the CPU. Functions marked optional may be NULL. */
typedef struct tni_device {
    const char *name;                                            /* "cuda:0" */
    void *(*alloc)(struct tni_device *d, int64_t bytes);         /* required */
    void (*free)(struct tni_device *d, void *at, int64_t bytes); /* required */
    bool (*copy)(struct tni_device *d, void *to, const void *from, int64_t bytes,
                 int direction);               /* required */
    void (*synchronize)(struct tni_device *d); /* optional */
    void (*const *run)(tn_frame *);            /* by row index; NULL entry: no kernel */
    uint32_t nrun;
    void *user;
    struct tni_device *next;
} tni_device;

#endif
