/* batch.c - what rows need that compute with one matrix of a batch after another: scratch for each
 * worker, column-major results, and errors that are found by computing. */
#include "call.h"

/* --- scratch of a call, and of each worker ---------------------------------------------------- */

TN_API bool tn_scratch(tn_frame *f, int64_t count, int64_t bytes_each) {
    int64_t bytes;
    if (!tni_bytes(count, bytes_each, &bytes) || !tni_add(bytes, (int64_t)f->scratch_bytes, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    f->scratch_bytes = (size_t)((bytes + TNI_ALIGN - 1) & -TNI_ALIGN);
    return true;
}

enum { EACH_WORK = 1 << 18 }; /* operations that pay for waking a thread */

TN_PRIV bool tni_scratch_each(tn_frame *f, int64_t tasks, int64_t count, int64_t bytes_each) {
    const int32_t threads = tni_load_relaxed(&f->block->context->threads),
                  workers = tasks < 1         ? 1
                            : tasks < threads ? (int32_t)tasks
                                              : threads;
    int64_t bytes;
    if (!tni_bytes(count, bytes_each, &bytes) || !tni_add(bytes, TNI_ALIGN - 1, &bytes))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    /* Behind what the call itself has asked for: a part for each worker, aligned. */
    f->each_at = (int64_t)f->scratch_bytes;
    f->each_bytes = bytes < TNI_ALIGN ? (int64_t)TNI_ALIGN : bytes & -TNI_ALIGN; /* never none */
    f->workers = workers;
    return tn_scratch(f, workers, f->each_bytes);
}
TN_API bool tn_scratch_each(tn_frame *f, int64_t count, int64_t bytes_each) {
    return tni_scratch_each(f, INT64_MAX, count, bytes_each);
}

/* The workers take `grain` tasks at a time from `next`, each into its own part of scratch. */
typedef struct each_job {
    tn_frame *f;
    void (*task)(tn_frame *f, int64_t i, void *scratch);
    int64_t count, grain;
    uint32_t next;
} each_job;

static void each_worker(void *arg, int64_t worker) {
    /* A worker keeps its scratch for all tasks that it takes. */
    each_job *job = (each_job *)arg;
    tn_frame *f = job->f;
    char *scratch = (char *)f->scratch + f->each_at + worker * f->each_bytes;
    for (;;) {
        const int64_t first = (int64_t)tni_fetch_add_relaxed(&job->next, 1u) * job->grain;
        if (first >= job->count) return;
        for (int64_t i = first; i < job->count && i < first + job->grain; i++) {
            if (tni_stopped()) return;
            job->task(f, i, scratch);
        }
    }
}

TN_API void tn_each(tn_frame *f, int64_t count, int64_t work,
                    void (*task)(tn_frame *f, int64_t i, void *scratch)) {
    const int64_t each = work < 1           ? 1
                         : work > EACH_WORK ? (int64_t)EACH_WORK
                                            : work,
                  grain = EACH_WORK / each, most = (int64_t)1 << 30; /* `next` must not wrap */
    each_job job = {f, task, count, grain, 0};
    int64_t workers;
    bool any = false;
    for (int i = 0; i < f->nout; i++) any = any || (f->out[i] && f->out[i]->numel > 0);
    if (count < 1 || !any) return; /* 2^31 empty matrices are no work */
    /* No more workers than there is work, and than have scratch. */
    if (job.grain < (count - 1) / most + 1) job.grain = (count - 1) / most + 1;
    workers = (count - 1) / job.grain + 1;
    if (workers > f->workers) workers = f->workers;
    tni_parallel(f->block->context, workers, each_worker, &job);
}

/* --- column-major results --------------------------------------------------------------------- */

TN_API bool tn_announce_columns(tn_frame *f, int k, tn_dtype dtype, int ndim, const int64_t *size) {
    int64_t stride[TN_MAX_DIMS], numel;
    if (ndim < 2) return tn_announce(f, k, dtype, ndim, size);
    for (int i = 0; i < ndim; i++) {
        if (size[i] != TN_UNKNOWN) continue;
        ((tni_call *)(void *)f)->unknown_columns = true;
        return tn_announce(f, k, dtype, ndim, size);
    }
    if (!tni_numel_of(ndim, size, &numel)) return tn_fail(f, TN_INVALID, "the result is too large");
    /* Row-major batches of column-major matrices. */
    tni_row_major(ndim, size, stride);
    stride[ndim - 2] = 1;
    stride[ndim - 1] = size[ndim - 2] > 1 ? size[ndim - 2] : 1;
    return tn_announce_strided(f, k, dtype, ndim, size, stride);
}

/* --- what went wrong in which matrix ---------------------------------------------------------- */

static bool info_approves(tn_frame *f, const tn_tensor *info, const char *why) {
    const int32_t *at = (const int32_t *)(void *)tni_bytes_at(info); /* the announced strides */
    const int before = (int)strcspn(why, "#");
    char place[48] = "", number[16] = "";
    int64_t i = 0;
    /* The first matrix that went wrong is named; "#" in the message is its number. */
    while (i < info->numel && !at[i]) i++;
    if (i == info->numel) return true;
    if (why[before]) snprintf(number, sizeof number, "%d", (int)at[i]);
    if (info->ndim) snprintf(place, sizeof place, "(Batch element %lld): ", (long long)i);
    return tn_fail(f, TN_LINALG, "%s%.*s%s%s", place, before, why, number,
                   why + before + (why[before] == '#'));
}

TN_API bool tn_info_verdict(tn_frame *f, int k, const char *why) {
    tn_tensor *info = f->out[k];
    bool approved;
    if (!(info->flags & TNI_DEVICE)) return info_approves(f, info, why);
    info = tni_device_down(f->block, info);
    approved = info && info_approves(f, info, why);
    if (info) tni_drop(f->block, info);
    return approved;
}
