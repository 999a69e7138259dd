/* fault.cuh - an index out of range: a kernel tells it, and the host reads that when it next waits.
 * The error names row and line of the call by its ticket. Nothing beyond a tensor is touched: a
 * row that reads takes element 0, one that writes leaves the element out. Of several calls the
 * first is told; of several indices of one call, one of them. */
#ifndef TNC_CUDA_FAULT_CUH
#define TNC_CUDA_FAULT_CUH

#include "cuda.cuh"

struct tnc_watch {
    tnc_fault *fault; /* of the device for the context, in memory of the host */
    unsigned long long ticket;
};
/* For run, once a call. */
static inline tnc_watch tnc_watch_of(const tn_frame *f) {
    const uint64_t ticket = tn_device_ticket(f);
    const uint64_t owner = ticket >> TN_OWNER_BIT & TN_OWNER_MOST;
    const tnc_watch w = {tnc_fault_of(tn_frame_device(f), owner), ticket};
    return w;
}

TNC_FN void tnc_tell(const tnc_watch &w, int64_t value, int64_t bound) {
    if (atomicCAS_system(&w.fault->claim, 0ull, w.ticket) != 0ull) return;
    w.fault->value = (unsigned long long)value;
    w.fault->bound = (unsigned long long)bound;
    __threadfence_system(); /* the host that sees the ticket sees these */
    w.fault->ticket = w.ticket;
}

#endif
