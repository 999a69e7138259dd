/* tensor.h - a tensor in the hand: accessors, memory of one's own, scopes, printing.
 *
 * A tensor is a reference-counted header over shared storage. Any thread may read it and use it as
 * input; who writes to it while another thread reads has a race. A tensor that goes to another
 * thread is held first (tn_hold). */
#ifndef TNI_API_TENSOR_H
#define TNI_API_TENSOR_H

#include "context.h"

TNI_EXTERN_C_BEGIN

/* --- lifetime --------------------------------------------------------------------------------- */

/* A scope releases at its end what was made inside and not kept. TN_SCOPE { ... } also ends by
 * break, return and goto (gcc, clang, C++); `continue` and `break` inside it leave the scope, not a
 * loop around it. The plain form works everywhere and closes every scope opened above the mark (in
 * a hook or a custom function: those that it has opened itself). */
TN_API int64_t tn_scope_begin(void);
TN_API void tn_scope_end(int64_t mark);
/* Hands t one scope outward; the caller owns it when there is none. Returns t; NULL for NULL. */
TN_API tn_tensor *tn_keep(tn_tensor *t);
/* Takes t out of all scopes: the caller owns it and frees it with tn_free. One more owner if it was
 * held. */
TN_API tn_tensor *tn_hold(tn_tensor *t);
/* Drops one owner; NULL is fine. In a scope, a tensor of that scope leaves it. */
TN_API void tn_free(tn_tensor *t);
TN_API void tn_list_free(tn_list list);

#if defined(__cplusplus)
TNI_EXTERN_C_END
TNI_NAMESPACE_BEGIN
struct tn_scope_guard {
    int64_t mark;
    bool once;
    tn_scope_guard() : mark(tn_scope_begin()), once(true) {}
    ~tn_scope_guard() { tn_scope_end(mark); }
    tn_scope_guard(const tn_scope_guard &) = delete;
    tn_scope_guard &operator=(const tn_scope_guard &) = delete;
};
TNI_NAMESPACE_END
#define TN_SCOPE                                                                             \
    for (tn_scope_guard TNI_JOIN(tni_scope_, __LINE__); TNI_JOIN(tni_scope_, __LINE__).once; \
         TNI_JOIN(tni_scope_, __LINE__).once = false)
TNI_EXTERN_C_BEGIN
#elif defined(__GNUC__)
typedef struct tn_scope_guard {
    int64_t mark;
    bool once;
} tn_scope_guard;
TNI_INLINE void tni_scope_leave(tn_scope_guard *guard) { tn_scope_end(guard->mark); }
#define TN_SCOPE                                                                   \
    for (tn_scope_guard TNI_JOIN(tni_scope_, __LINE__)                             \
             __attribute__((cleanup(tni_scope_leave))) = {tn_scope_begin(), true}; \
         TNI_JOIN(tni_scope_, __LINE__).once; TNI_JOIN(tni_scope_, __LINE__).once = false)
#else
typedef struct tn_scope_guard {
    int64_t mark;
    bool once;
} tn_scope_guard;
#define TN_SCOPE                                                                           \
    for (tn_scope_guard TNI_JOIN(tni_scope_, __LINE__) = {tn_scope_begin(), true};         \
         TNI_JOIN(tni_scope_, __LINE__).once; TNI_JOIN(tni_scope_, __LINE__).once = false, \
                                             tn_scope_end(TNI_JOIN(tni_scope_, __LINE__).mark))
#endif

/* tn_item(t) and its like bring the caller's file and line for errors; tnp_item is the function
 * without them, for pointers to it and other languages, as with operators. */

/* --- reading a tensor: none of these fails on a valid tensor; NULL gives 0, NULL or false ----- */

TN_API int tn_ndim(const tn_tensor *t);
TN_API int64_t tn_size(const tn_tensor *t,
                       int dim); /* dim may be negative; out of range: 0 and an error */
TN_API int64_t tn_stride(const tn_tensor *t, int dim); /* in elements */
TN_API tn_ints tn_shape(const tn_tensor *t);           /* borrowed, lives as long as t */
TN_API tn_ints tn_strides(const tn_tensor *t);
TN_API int64_t tn_numel(const tn_tensor *t);
TN_API tn_dtype tn_dtype_of(const tn_tensor *t);
TN_API tn_device_id tn_device_of(const tn_tensor *t);
TN_API bool tn_is_contiguous(const tn_tensor *t);
TN_API int64_t tn_storage_offset(const tn_tensor *t); /* in elements */
/* The first element in CPU memory: numel elements lie at the strides. NULL on other devices.
 * Writing through it is not seen by autograd: call tn_touch afterwards. */
TN_API void *tn_data(const tn_tensor *t);
TN_API bool tn_touch(tn_tensor *t);
TN_API int64_t tn_version(const tn_tensor *t);
TN_API bool tn_is_view(const tn_tensor *t);      /* of another tensor, whose memory it shares */
TN_API bool tn_is_read_only(const tn_tensor *t); /* memory of others that may not be written */
TN_API bool tn_same_storage(const tn_tensor *a, const tn_tensor *b);
TN_API int64_t tn_storage_bytes(const tn_tensor *t); /* of the memory that t and its views share */

/* The only element of a one-element tensor. Errors: INVALID for another count, TYPE for complex in
 * tn_item; tn_item_int is exact for integers and truncates floats. */
TN_API double tn_item_at(const char *file, int line, const tn_tensor *t);
TN_API int64_t tn_item_int_at(const char *file, int line, const tn_tensor *t);
TN_API tn_scalar tn_item_scalar_at(const char *file, int line, const tn_tensor *t);
#define tn_item(t) tn_item_at(__FILE__, __LINE__, t)
#define tn_item_int(t) tn_item_int_at(__FILE__, __LINE__, t)
#define tn_item_scalar(t) tn_item_scalar_at(__FILE__, __LINE__, t)
TN_API double tnp_item(const tn_tensor *t);
TN_API int64_t tnp_item_int(const tn_tensor *t);
TN_API tn_scalar tnp_item_scalar(const tn_tensor *t);
/* Copies numel elements in row-major order, converted to the array's type; false and INVALID when
 * count differs from numel. */
TN_API bool tn_read_f32_at(const char *file, int line, const tn_tensor *t, float *to,
                           int64_t count);
TN_API bool tn_read_f64_at(const char *file, int line, const tn_tensor *t, double *to,
                           int64_t count);
TN_API bool tn_read_i64_at(const char *file, int line, const tn_tensor *t, int64_t *to,
                           int64_t count);
#define tn_read_f32(t, ...) tn_read_f32_at(__FILE__, __LINE__, t, __VA_ARGS__)
#define tn_read_f64(t, ...) tn_read_f64_at(__FILE__, __LINE__, t, __VA_ARGS__)
#define tn_read_i64(t, ...) tn_read_i64_at(__FILE__, __LINE__, t, __VA_ARGS__)
TN_API bool tnp_read_f32(const tn_tensor *t, float *to, int64_t count);
TN_API bool tnp_read_f64(const tn_tensor *t, double *to, int64_t count);
TN_API bool tnp_read_i64(const tn_tensor *t, int64_t *to, int64_t count);

/* --- from memory ------------------------------------------------------------------------------ */

/* A new tensor with a copy of row-major elements of that dtype. */
TN_API tn_tensor *tn_from_at(const char *file, int line, const void *data, tn_ints shape,
                             tn_dtype dtype);
#define tn_from_f32(data, ...) \
    tn_from_at(__FILE__, __LINE__, TNI_CHECKED(const float *, data), __VA_ARGS__, TN_F32)
#define tn_from_f64(data, ...) \
    tn_from_at(__FILE__, __LINE__, TNI_CHECKED(const double *, data), __VA_ARGS__, TN_F64)
#define tn_from_i64(data, ...) \
    tn_from_at(__FILE__, __LINE__, TNI_CHECKED(const int64_t *, data), __VA_ARGS__, TN_I64)
#define tn_from(data, shape, dtype) tn_from_at(__FILE__, __LINE__, data, shape, dtype)
#define TNI_CHECKED(type, value) (0 ? (type)0 : (value))

/* The caller's memory as a tensor, without a copy. It must stay until `release(data, user)` is
 * called, once, when the last tensor over it goes; release may be NULL. It has to lie at a multiple
 * of what an element is made of (8 bytes for double and its complex numbers). */
typedef struct tn_wrap_options {
    tn_ints strides; /* in elements, >= 0; n = 0: row-major */
    int64_t bytes;   /* length of the memory from data on; 0: just what shape and strides need */
    void (*release)(void *data, void *user);
    void *user;
    bool read_only; /* in-place calls and out= are refused */
} tn_wrap_options;
TN_API tn_tensor *tn_wrap_at(const char *file, int line, void *data, tn_ints shape, tn_dtype dtype,
                             const tn_wrap_options *options);
#define tn_wrap(data, shape, dtype, options) \
    tn_wrap_at(__FILE__, __LINE__, data, shape, dtype, options)

/* --- dtypes and devices ----------------------------------------------------------------------- */

TN_API const char *tn_dtype_name(tn_dtype dtype); /* "float32" */
TN_API tn_dtype tn_dtype_named(const char *name); /* TN_NO_DTYPE when unknown */
TN_API int tn_dtype_bytes(tn_dtype dtype);
TN_API tn_dtype tn_promote(tn_dtype a, tn_dtype b); /* torch.promote_types */
TN_API tn_dtype tn_default_dtype(void);             /* TN_F32 at first */
TN_API bool tn_set_default_dtype(tn_dtype dtype);   /* floating only */
/* The device of a name; TN_NO_DEVICE and an error when unknown. */
TN_API tn_device_id tn_device_at(const char *file, int line, const char *name);
#define tn_device(name) tn_device_at(__FILE__, __LINE__, name)
TN_API tn_device_id tnp_device(const char *name);
TN_API const char *tn_device_name(tn_device_id device);

/* --- printing --------------------------------------------------------------------------------- */

typedef struct tn_print_options { /* torch.set_printoptions; zero: its default */
    int precision;                /* 4; -1: no digits */
    int threshold;                /* 1000 */
    int edgeitems;                /* 3 */
    int linewidth;                /* 80 */
    int sci_mode;                 /* 0: by the values, 1: always, -1: never */
} tn_print_options;
/* The text torch would print, NUL-terminated; free it with tn_alloc_free(text, strlen(text) + 1).
 */
TN_API char *tn_to_text_at(const char *file, int line, const tn_tensor *t,
                           const tn_print_options *options);
#define tn_to_text(t, ...) tn_to_text_at(__FILE__, __LINE__, t, __VA_ARGS__)
TN_API char *tnp_to_text(const tn_tensor *t, const tn_print_options *options);
/* Writes that text and a newline to stdout. */
TN_API bool tn_print_at(const char *file, int line, const tn_tensor *t);
#define tn_print(t) tn_print_at(__FILE__, __LINE__, t)
TN_API bool tnp_print(const tn_tensor *t);

TNI_EXTERN_C_END
#endif
