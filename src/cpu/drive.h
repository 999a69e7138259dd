/* drive.h - runs loops over whole vectors on strided tensors of any dtype; copies tensors with
 * conversion of dtypes. */
#ifndef TNI_CPU_DRIVE_H
#define TNI_CPU_DRIVE_H

#include "../call/rowform.h"
#include "../kernels/kernels.h"

/* torch.result_type of n tensors (NULLs skipped): tensors with dimensions count before 0-dim ones,
 * those before numbers, where a lower tier decides only by a higher category. `only`: no tensor is
 * in the call. TN_NO_DTYPE where torch refuses. */
TN_PRIV tn_dtype tni_result_type(tni_block *b, tn_tensor *const *t, int n, bool only);
/* "self and other" of operands in messages: sets TYPE, names the dtypes. Returns false. */
TN_PRIV bool tni_no_common_type(tn_frame *f, tn_tensor *const *t, int n);
/* Shape of n tensors broadcast together; false with an error that shows both shapes. */
TN_PRIV bool tni_broadcast_all(tn_frame *f, tni_shape *s, tn_tensor *const *t, int n);

/* n contiguous elements to another dtype, as tni_element_set converts. */
TN_PRIV void tni_convert(const tni_kernels *k, void *to, int to_dtype, const void *from,
                         int from_dtype, int64_t n);
/* Copies src into dst with conversion, broadcasting src from the right; any strides, no overlap.
 * Threads of c. */
TN_PRIV void tni_copy_run(tn_context *c, tn_tensor *dst, tn_tensor *src);
/* All of t, on a device and not empty, becomes the element at unit (across.c). */
TN_PRIV void tni_across_fill(tn_tensor *t, const void *unit);
/* As tni_copy_elements, but copies between a device and memory that it reaches by itself are not
 * waited for. */
TN_PRIV void tni_copy_later(tni_block *b, tn_tensor *dst, const tn_tensor *src);
/* Memory for t, a header of the CPU without storage, that the device reaches by itself, if it has
 * such. False with an error. */
TN_PRIV bool tni_pin_result(tni_block *b, tn_tensor *t, int device);

/* What the check of a pointwise row tells its look and run. */
typedef struct tni_pointwise_note {
    int32_t common; /* the dtype that elements are promoted to */
    int32_t flat; /* the operand whose row-major elements all others match; -1: none, any layout */
} tni_pointwise_note;

/* A number in a dtype of the computation. A float among floats is rounded once, to float. */
TNI_INLINE void tni_number_put(char *to, int dtype, tn_scalar s) {
    if (dtype == TN_F32 && s.kind == TN_KIND_FLOAT) {
        const float v = (float)s.real;
        memcpy(to, &v, sizeof v);
    } else {
        tni_element_set(to, dtype, s);
    }
}
/* The type that the row of f computes dtype d in; its number parameters in that type, one after
 * another. */
TN_PRIV int tni_pointwise_native(const tn_frame *f, int d);
TN_PRIV void tni_pointwise_numbers(const tn_frame *f, int dtype, char *to);

/* The dtype of what a pointwise row of these rules computes in dtype. */
TNI_INLINE int tni_pointwise_makes(uint32_t rules, int dtype) {
    if (rules & TN_GIVES_BOOL) return TN_BOOL;
    return rules & TN_GIVES_REAL && tni_is_complex(dtype) ? (int)tni_real_of(dtype) : dtype;
}

/* Index tensors are int64 or int32. */
TNI_INLINE bool tni_is_index(const tn_tensor *t) {
    return t->dtype == TN_I64 || t->dtype == TN_I32;
}
/* Of the tensors that index takes; uint8 is a mask as well, an old rule of torch. */
TNI_INLINE bool tni_index_is_mask(const tn_tensor *t) {
    return t->dtype == TN_BOOL || t->dtype == TN_U8;
}

#endif
