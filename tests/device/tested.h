/* tested.h - the device that rows.c tests: of null.c, or CUDA's (tests/cuda_host). */
#ifndef TESTS_DEVICE_TESTED_H
#define TESTS_DEVICE_TESTED_H

#include "../../src/api/device.h"
#include "../../src/api/row.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the backends to the current context; bare: a device with kernels for expressions alone, or
 * TN_NO_DEVICE. False: there is none. */
bool tested_begin(tn_device_id *device, tn_device_id *bare);
int64_t tested_blocks(void);        /* allocations of devices that were not freed */
void tested_row(const tn_row *row); /* comes next */
/* Tensors of kernels that were not in their device's memory since the last call. */
int64_t tested_foreign(void);

#ifdef __cplusplus
}
#endif
#endif
