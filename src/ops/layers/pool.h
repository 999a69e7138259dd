/* pool.h (layers) - pooling over windows of two dimensions: geometry, the job of a
 * plane (pool.c). */
#ifndef TNI_OPS_LAYERS_POOL_H
#define TNI_OPS_LAYERS_POOL_H

#include "../../cpu/lanes.h"

/* planes of h x w become planes of oh x ow; element (p, q) looks at rows p sh - ph + i dh, i <
 * kh, and columns likewise. A plane may be a volume of depth d, which becomes one of od. */
typedef struct tni_pool_shape {
    int ndim;
    int64_t planes, h, w, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw;
    int64_t d, od, kd, sd, pd;
    int64_t size[5]; /* of the result */
} tni_pool_shape;

/* s from sizes x of an input (N, C, H, W) or (C, H, W), as torch refuses them: N may be 0, C has at
 * least `least`, H and W at least 1. */
TN_PRIV bool tni_pool_planes(tn_frame *f, tni_pool_shape *s, tn_ints x, int64_t least);
/* torch's number of windows along one dimension. With ceil_mode a window must begin inside the
 * input or in the padding in front of it. */
TN_PRIV bool tni_pool_length(tn_frame *f, int64_t in, int64_t k, int64_t stride, int64_t pad,
                             int64_t dilation, bool ceil_mode, int64_t *out);
/* All of s, from sizes x and the arguments of a window; an absent stride is the kernel's size. */
TN_PRIV bool tni_pool_shape_of(tn_frame *f, tni_pool_shape *s, tn_ints x, tn_ints kernel,
                               tn_ints stride, tn_ints padding, tn_ints dilation, bool ceil_mode);
/* All of s for volumes (N, C, D, H, W) or (C, D, H, W), without dilation. */
TN_PRIV bool tni_pool_volumes_of(tn_frame *f, tni_pool_shape *s, tn_ints x, tn_ints kernel,
                                 tn_ints stride, tn_ints padding, bool ceil_mode);
/* Whether t has the result's shape; name is the argument's. */
TN_PRIV bool tni_pool_check_size(tn_frame *f, const tni_pool_shape *s, const tn_tensor *t,
                                 const char *name);
/* Floating dtypes and those that `also` names. */
enum { TNI_POOL_INTEGERS = 1, TNI_POOL_INT64 = 2, TNI_POOL_COMPLEX = 4 };
TN_PRIV bool tni_pool_check_dtype(tn_frame *f, const tn_tensor *t, int also);
/* For check: scratch for a copy of `in` and for a result of these sizes, where their dtype is not
 * one of computation. */
TN_PRIV bool tni_pool_scratch(tn_frame *f, const tn_tensor *in, const int64_t *size, int ndim);

enum { TNI_POOL_BESIDE = 4 }; /* planes that a loop may take side by side */
/* An element of a window: rows, columns and elements of the plane from its first one on. */
typedef struct tni_pool_place {
    int64_t y, x, flat;
} tni_pool_place;
typedef struct tni_pool_job {
    const tni_kernels *kernels;
    void (*row)(void *to, void *index, const void *from, const tni_pool_row *r); /* maxima */
    tni_pool_shape s;
    const void *from;
    void *to;
    const void
        *index; /* uint8_t where windows have at most 256 places, else int32_t; NULL: not wanted */
    void *index_to;
    const tni_pool_place *places; /* of uint8_t indices: 256 */
    int64_t size;                 /* of an element of maxima or runs, in bytes */
    int64_t least;                /* of whole numbers: the maximum of a window without elements */
    int64_t whole[2];             /* which windows of a row of maxima have all their columns */
    bool bytes, include_pad;
    double divisor; /* 0: by the count */
    int64_t each;   /* planes or lines a task */
    void (*plane)(const struct tni_pool_job *j, int64_t plane);
    void (*line)(const struct tni_pool_job *j, int64_t line); /* tni_pool_lines sets it */
} tni_pool_job;

/* Whether in[0] are images whose channels lie innermost without gaps: a row that has a loop over
 * lines takes them as they lie, needs no scratch, and makes a result that lies so. */
TN_PRIV bool tni_pool_by_lines(const tn_frame *f);
/* If in[0] and out[0] are such images: runs `line` for each line (image, row) of the result, of
 * which it makes all channels; s.planes is their number. False: they are not. */
TN_PRIV bool tni_pool_lines(tn_frame *f, tni_pool_job *j,
                            void (*line)(const tni_pool_job *j, int64_t line));

/* The least number of an integer dtype, computed with as int64. */
TNI_INLINE int64_t tni_pool_least(int dtype) {
    return dtype == TN_I64   ? INT64_MIN
           : dtype == TN_I32 ? INT32_MIN
           : dtype == TN_I16 ? INT16_MIN
           : dtype == TN_I8  ? INT8_MIN
                             : 0;
}

/* Runs j over in[0], whose copy comes first in the scratch, into out[0]. */
TN_PRIV void tni_pool_through(tn_frame *f, tni_pool_job *j);

#endif
