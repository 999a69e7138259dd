/* plan.h - how much memory a program would take on each device, found by running it on shapes
 * alone.
 *
 * The device meta has tensors without data. Between tn_plan_begin and tn_plan_end a program makes
 * its model and inputs there and takes a step, which computes nothing; the plan counts the memory
 * that the same calls would take on the CPU. What it makes on other devices meanwhile, or moves to
 * them, has no data there either, and counts as memory of that device:
 *
 *     tn_plan plan;
 *     tn_plan_begin();
 *     TN_SCOPE {
 *         tn_tensor *w = tn_empty(TN_DIMS(1000, 1000), .device = TN_META);
 *         tn_relu_(tn_matmul(w, w));
 *     }
 *     if (tn_plan_end(&plan, 1)) printf("%lld bytes\n", (long long)plan.peak); // about 8 million
 *
 * Counted are storages (of parameters, gradients, an optimizer's state, results, what is saved for
 * backward), each when it is made and when its last owner drops it, the scratch memory of
 * operators, and on the CPU the library's own memory (headers, tapes). Views take nothing. A tensor
 * of the CPU with data is memory in use, like any other; no part names it. Tensors of meta and of
 * devices that were made before tn_plan_begin do not count, and those with data cannot be written.
 * A device has to be usable, for its backend says what workspace its kernels take.
 *
 * tn_to(x, TN_CPU) of a tensor without data gives one of meta while the plan is in progress. What
 * has no data stays so when the plan has ended.
 *
 * A call whose result has a size that depends on data (tn_nonzero), and one that reads an element
 * (tn_item), fail on meta with UNSUPPORTED and the operator's name. */
#ifndef TNI_API_PLAN_H
#define TNI_API_PLAN_H

#include "context.h"

TNI_EXTERN_C_BEGIN

enum { TN_PLAN_PARTS = 16, TN_PLAN_TEXT = 80 };

/* Tensors of one shape and dtype that one operator made at one line of the program, or its scratch
 * memory. */
typedef struct tn_plan_part {
    int64_t bytes, count; /* of all of them together; how many */
    const char *what;     /* the outermost operator's name; "" if no operator made it */
    const char *file;     /* of the outermost call; NULL if unknown */
    int line;
    char shape[TN_PLAN_TEXT]; /* "float32 (64, 1000)", cut where it is too long; "scratch" */
} tn_plan_part;

/* Of one device. */
typedef struct tn_plan {
    tn_device_id device;
    int64_t peak; /* most bytes at a time. CPU: tn_memory().bytes_peak beyond what was in use */
    int64_t tensor_peak; /* most bytes of tensors without data and of scratch alone */
    int64_t end;         /* bytes of such tensors that are alive at tn_plan_end */
    int64_t rest;        /* tensor_peak without the parts below */
    int32_t nparts;
    tn_plan_part part[TN_PLAN_PARTS]; /* what makes tensor_peak, the largest first */
} tn_plan;

/* Begins a plan of the current context, of which all its threads are part. False with INVALID if
 * one is in progress. */
TN_API bool tn_plan_begin_at(const char *file, int line);
#define tn_plan_begin() tn_plan_begin_at(__FILE__, __LINE__)
/* Ends the plan and fills plans[0], of the CPU, and behind it one for each device on which a tensor
 * was made, in the order of their numbers: at most `room`, of which the others are zeros. The
 * result is how many there are, at least 1. 0 with an error if no plan is in progress, or an error
 * is pending, as after a failed step; then the plan ends and plans have what was counted before.
 * plans NULL, room 0: only ends it. Texts of `what` and `file` are the program's own.
 *     tn_plan plans[3]; // of the CPU, cuda:0, cuda:1
 *     const int32_t n = tn_plan_end(plans, 3); */
TN_API int32_t tn_plan_end_at(const char *file, int line, tn_plan *plans, int32_t room);
#define tn_plan_end(plans, room) tn_plan_end_at(__FILE__, __LINE__, plans, room)

TNI_EXTERN_C_END
#endif
