/* parallel.h - training on several ranks: each computes the gradients of its part of a batch, and
 * backward leaves their mean on all.
 *
 *     static bool rank(int32_t r, void *user) {               // in tn_group_spawn(4, rank, ..)
 *         tn_module *net = tn_nn_linear(8, 1);
 *         tn_parallel *all = tn_data_parallel(net);            // all ranks begin with rank 0's
 *         tn_optimizer *opt = tn_optim_sgd(tn_parameters(net), .lr = 0.1);
 *         ..                                                   // a loop as for one rank
 *         tn_parallel_free(all);
 *
 * A mean over n ranks of a mean over equal parts is the mean over the whole batch; in floats it
 * differs from it by rounding alone. All ranks get the same bits, so weights that begin equal stay
 * equal, whatever their order of arrival. */
#ifndef TNI_API_PARALLEL_H
#define TNI_API_PARALLEL_H

#include "group.h"
#include "train.h"

TNI_EXTERN_C_BEGIN

typedef struct tn_parallel tn_parallel;

typedef struct tn_data_parallel_args {
    tn_group *group; /* NULL: the calling thread's. It must live as long as the result */
    /* gradients are averaged in pieces of about so many bytes; 0: 25 MiB, as torch */
    int64_t bucket_bytes;
    bool keep_buffers;     /* buffers stay each rank's own */
    tn_tensors parameters; /* if module is NULL: these, and buffers */
    tn_tensors buffers;
    tn_module *module;
    TNI_NAMED_OPTIONS
} tn_data_parallel_args;
/* Makes a module of each rank one model; all ranks call it. It copies rank 0's parameters and
 * buffers to the others, and from then on a backward of this rank that changes .grad of some
 * parameter waits for the same of all others. Then .grad of every parameter that has one on some
 * rank is the mean over all ranks, zeros where a rank has none. Running statistics and other
 * buffers are copied from rank 0 before each forward of a module that trains.
 *
 * The result is the caller's, who frees it; the module is held till then. NULL with an error, on
 * all ranks, if their models differ. Errors of the ranks' exchange come out of backward and
 * forward; a backward that fails in it leaves .grad as this rank has computed it. */
TN_API tn_parallel *tn_data_parallel_at(const char *file, int line,
                                        const tn_data_parallel_args *args);
#ifndef __cplusplus
#define tn_data_parallel(...) TNI_CALL(tn_data_parallel, .module = __VA_ARGS__)
#else
TNI_EXTERN_C_END
TNI_NAMESPACE_BEGIN
inline tn_parallel *tn_data_parallel(tn_module *module,
                                     tn_data_parallel_args options = tn_data_parallel_args(),
                                     tn::site at = tn::site::here()) {
    options.module = module;
    return tn_data_parallel_at(at.file, at.line, &options);
}
TNI_NAMESPACE_END
TNI_EXTERN_C_BEGIN
#endif
TN_API void tn_parallel_free(tn_parallel *p); /* NULL is allowed */

/* Whether backward exchanges gradients, and forward buffers: true at the start. Returns what was
 * set before. With false, gradients add up on each rank; the next exchange averages the sums:
 *     tn_parallel_set_sync(all, i % 4 == 3); // a step for every 4 batches */
TN_API bool tn_parallel_set_sync(tn_parallel *p, bool sync);
/* Copies rank 0's buffers to the other ranks now, as forward does. All ranks call it. */
TN_API bool tn_parallel_share_at(const char *file, int line, tn_parallel *p);
#define tn_parallel_share(p) tn_parallel_share_at(__FILE__, __LINE__, p)

TNI_EXTERN_C_END
#endif
