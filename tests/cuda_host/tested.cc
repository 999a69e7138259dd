/* tested.cc - the CUDA backend in emulation, for tests/device/rows.c. */
#include "../device/tested.h"
#include "../../src/api/cuda.h"
#include "larger.h"
#ifdef TNC_EMULATION
#include "emulation.h"
#endif

#include <stdio.h>

bool tested_begin(tn_device_id *device, tn_device_id *bare) {
    char why[200] = "";
    const tn_backend *cuda = tn_cuda_backend(why, sizeof why);
    *bare = TN_NO_DEVICE;
    if (!cuda) puts(why);
    if (!cuda || !tn_backend_add(cuda)) return false;
    *device = tn_device("cuda:0");
    if (getenv("TN_LARGER")) larger_take((size_t)atoi(getenv("TN_LARGER")));
    larger_beside(getenv("TN_LARGER") != NULL);
    return true;
}
int64_t tested_blocks(void) { return tn_device_memory(tn_device("cuda:0")).used; }
void tested_row(const tn_row *row) {
#ifdef TNC_EMULATION
    emu_files().next(row->name);
#else
    (void)row;
#endif
}
int64_t tested_foreign(void) { return 0; }
