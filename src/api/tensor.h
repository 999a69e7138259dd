/* tensor.h - tensors: lifetime, reading, making them from memory, printing.
 *
 * A tensor is a reference-counted header over shared storage. Any thread may read it and use it as
 * input. Writing while another thread reads or writes is a data race. Hold a tensor (tn_hold)
 * before you hand it to another thread. */
#ifndef TNI_API_TENSOR_H
#define TNI_API_TENSOR_H

#include "context.h"

TNI_EXTERN_C_BEGIN

/* --- lifetime --------------------------------------------------------------------------------- */

/* A scope frees at its end every tensor that was made inside and not kept. Outside of all scopes
 * the caller frees what it makes. Who is given a freed tensor fails with INVALID, as in "argument
 * 'self' of mul is freed (it was made at game.c:28)", as long as no new tensor has its memory;
 * functions that cannot fail do not look.
 *     TN_SCOPE { y = tn_keep(tn_exp(tn_mul(x, x))); }
 * TN_SCOPE also ends at return and goto (gcc, clang, C++); `break` and `continue` inside it leave
 * the scope, not a loop around it. The plain calls work with every compiler: tn_scope_end closes
 * all scopes opened since the mark was returned (in a hook or custom function only its own). */
TN_API int64_t tn_scope_begin(void);
TN_API void tn_scope_end(int64_t mark);
/* Moves t to the next outer scope, or to the caller if there is none. Returns t; NULL for NULL, and
 * with an error for a tensor of another thread. */
TN_API tn_tensor *tn_keep(tn_tensor *t);
/* Takes t out of its scope: the caller owns it and frees it with tn_free. If t is in no scope, or
 * belongs to another thread, it gets one more owner. Returns t. */
TN_API tn_tensor *tn_hold(tn_tensor *t);
/* Drops one owner; NULL is allowed. A tensor in a scope leaves it. */
TN_API void tn_free(tn_tensor *t);
TN_API void tn_list_free(tn_list list); /* tn_free of all members and of the array */
/* The same with the caller's line. With TN_CHECK the plain names are macros of these, and the
 * library remembers which line freed a tensor (not with TN_PREFIX and TN_IMPORT). */
TN_API int64_t tn_scope_begin_at(const char *file, int line);
TN_API void tn_scope_end_at(const char *file, int line, int64_t mark);
TN_API void tn_free_at(const char *file, int line, tn_tensor *t);
TN_API void tn_list_free_at(const char *file, int line, tn_list list);
#if defined(TN_CHECK) && !defined(TN_PREFIX) && !defined(TN_IMPORT)
#define tn_scope_begin() tn_scope_begin_at(__FILE__, __LINE__)
#define tn_scope_end(mark) tn_scope_end_at(__FILE__, __LINE__, mark)
#define tn_free(t) tn_free_at(__FILE__, __LINE__, t)
#define tn_list_free(list) tn_list_free_at(__FILE__, __LINE__, list)
#endif

/* A block that is a scope: TN_SCOPE { .. } */
#if defined(__cplusplus)
TNI_EXTERN_C_END
TNI_NAMESPACE_BEGIN
struct tn_scope_guard {
    int64_t mark;
    bool once;
    explicit tn_scope_guard(int64_t begun = (tn_scope_begin)()) : mark(begun), once(true) {}
    ~tn_scope_guard() { (tn_scope_end)(mark); }
    tn_scope_guard(const tn_scope_guard &) = delete;
    tn_scope_guard &operator=(const tn_scope_guard &) = delete;
};
TNI_NAMESPACE_END
#define TN_SCOPE                                                          \
    for (tn_scope_guard TNI_JOIN(tni_scope_, __LINE__)(tn_scope_begin()); \
         TNI_JOIN(tni_scope_, __LINE__).once; TNI_JOIN(tni_scope_, __LINE__).once = false)
TNI_EXTERN_C_BEGIN
#elif defined(__GNUC__)
typedef struct tn_scope_guard {
    int64_t mark;
    bool once;
} tn_scope_guard;
TNI_INLINE void tni_scope_leave(tn_scope_guard *guard) { (tn_scope_end)(guard->mark); }
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

/* Many calls come in two forms: tn_item(t) is a macro that adds the caller's file and line for
 * errors; tnp_item(t) is a function without them, for function pointers and other languages. */

/* --- reading a tensor: cannot fail if t is valid; for NULL the result is 0, NULL or false ----- */

TN_API int tn_ndim(const tn_tensor *t);
/* dim may be negative; out of range: 0 and INDEX. */
TN_API int64_t tn_size(const tn_tensor *t, int dim);
TN_API int64_t tn_stride(const tn_tensor *t, int dim); /* in elements */
TN_API tn_ints tn_shape(const tn_tensor *t);           /* borrowed from t */
TN_API tn_ints tn_strides(const tn_tensor *t);
TN_API int64_t tn_numel(const tn_tensor *t);
TN_API tn_dtype tn_dtype_of(const tn_tensor *t);
TN_API tn_device_id tn_device_of(const tn_tensor *t);
TN_API bool tn_is_contiguous(const tn_tensor *t);
TN_API int64_t tn_storage_offset(const tn_tensor *t); /* in elements */
/* The first element in CPU memory, borrowed from t; the others lie at the strides. NULL on other
 * devices. Autograd does not see writes through the pointer: call tn_touch after them. */
TN_API void *tn_data(const tn_tensor *t);
TN_API bool tn_touch(tn_tensor *t);            /* counts a write */
TN_API int64_t tn_version(const tn_tensor *t); /* number of counted writes */
/* From now on writes through t and through what is made of it are not counted for the tensors that
 * it shares memory with: autograd does not see them there, as through x.data of PyTorch. t must be
 * no view and have none yet, such as a result of tn_detach. */
TN_API bool tn_count_apart(tn_tensor *t);
TN_API bool tn_is_view(const tn_tensor *t);      /* shares the memory of another tensor */
TN_API bool tn_is_wrapped(const tn_tensor *t);   /* lies in memory that is not the library's */
TN_API bool tn_is_read_only(const tn_tensor *t); /* wrapped memory that must not be written */
TN_API bool tn_same_storage(const tn_tensor *a, const tn_tensor *b);
TN_API int64_t tn_storage_bytes(const tn_tensor *t); /* of all memory that t shares */

/* The element of a tensor that has only one. tn_item_int is exact for integers and truncates
 * floats. Errors, with result 0: INVALID for another number of elements; TYPE for a complex
 * element, which tn_item_scalar returns. */
TN_API double tn_item_at(const char *file, int line, const tn_tensor *t);
TN_API int64_t tn_item_int_at(const char *file, int line, const tn_tensor *t);
TN_API tn_scalar tn_item_scalar_at(const char *file, int line, const tn_tensor *t);
#define tn_item(t) tn_item_at(__FILE__, __LINE__, t)
#define tn_item_int(t) tn_item_int_at(__FILE__, __LINE__, t)
#define tn_item_scalar(t) tn_item_scalar_at(__FILE__, __LINE__, t)
TN_API double tnp_item(const tn_tensor *t);
TN_API int64_t tnp_item_int(const tn_tensor *t);
TN_API tn_scalar tnp_item_scalar(const tn_tensor *t);
/* Copies all elements to an array of `count`, in row-major order, converted to its type. False and
 * INVALID if count is not numel.     float v[6]; tn_read_f32(t, v, 6); */
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

/* A new tensor with a copy of row-major elements of that dtype. NULL with an error.
 *     float v[2][3] = {{1, 2, 3}, {4, 5, 6}};
 *     tn_tensor *t = tn_from(v, TN_DIMS(2, 3), TN_F32); */
TN_USE_RESULT TN_API tn_tensor *tn_from_at(const char *file, int line, const void *data,
                                           tn_ints shape, tn_dtype dtype);
/* The same of memory with `room` bytes: INVALID if the shape needs more. */
TN_USE_RESULT TN_API tn_tensor *tn_from_room_at(const char *file, int line, const void *data,
                                                size_t room, tn_ints shape, tn_dtype dtype);
/* The same on a device; TN_NO_DEVICE: the default one, as tn_from. UNSUPPORTED if there is no such
 * device. */
TN_USE_RESULT TN_API tn_tensor *tnp_from(const void *data, tn_ints shape, tn_dtype dtype,
                                         tn_device_id device);
/* In the macros the type of the elements must be right, and an array that is too short is an error
 * where the compiler knows its length (gcc and clang with -O1 or more).
 *     tn_from_f32((float[]){1, 2, 3}, TN_DIMS(3)), tn_from_f32(v[0], TN_DIMS(2, 3)) */
TN_USE_RESULT TNI_INLINE tn_tensor *tni_from(const char *file, int line, const void *data,
                                             tn_ints shape, tn_dtype dtype) {
    return tn_from_room_at(file, line, data, TNI_ROOM(data), shape, dtype);
}
TN_USE_RESULT TNI_INLINE tn_tensor *tni_from_f32(const char *file, int line, const float *data,
                                                 tn_ints shape) {
    return tni_from(file, line, data, shape, TN_F32);
}
TN_USE_RESULT TNI_INLINE tn_tensor *tni_from_f64(const char *file, int line, const double *data,
                                                 tn_ints shape) {
    return tni_from(file, line, data, shape, TN_F64);
}
TN_USE_RESULT TNI_INLINE tn_tensor *tni_from_i64(const char *file, int line, const int64_t *data,
                                                 tn_ints shape) {
    return tni_from(file, line, data, shape, TN_I64);
}
#define tn_from(...) tni_from(__FILE__, __LINE__, __VA_ARGS__)
#define tn_from_f32(...) \
    TNI_RESULT(tn_tensor, TNI_STRICT(tni_from_f32(__FILE__, __LINE__, __VA_ARGS__)))
#define tn_from_f64(...) \
    TNI_RESULT(tn_tensor, TNI_STRICT(tni_from_f64(__FILE__, __LINE__, __VA_ARGS__)))
#define tn_from_i64(...) \
    TNI_RESULT(tn_tensor, TNI_STRICT(tni_from_i64(__FILE__, __LINE__, __VA_ARGS__)))

/* A new tensor of the numbers in the call, 1 to 64, row-major; their count must be that of the
 * shape. The dtype is torch.tensor's: int64 if all are integers (by their C type: 1, not 1.0), else
 * the default dtype; or the one that tn_tensor_of_dtype is given. Each number is evaluated once.
 * NULL with an error.
 *     tn_tensor *t = tn_tensor_of(TN_DIMS(2, 2), 1, 2, 3, 4.5);
 *     tn_tensor *u = tn_tensor_of_dtype(TN_BOOL, TN_DIMS(3), 1, 0, 1); */
enum { TN_MOST_NUMBERS = 64 };
TN_USE_RESULT TN_API tn_tensor *tn_tensor_of_at(const char *file, int line, tn_dtype dtype,
                                                tn_ints shape, const tn_scalar *numbers, int64_t n);
/* One such number, without dimensions, on the CPU whatever the default device: there it stands
 * beside tensors of every device. */
TN_USE_RESULT TN_API tn_tensor *tn_number_at(const char *file, int line, tn_dtype dtype,
                                             const tn_scalar *number);
#ifndef __cplusplus
#define tn_tensor_of(shape, ...) tn_tensor_of_dtype(TN_NO_DTYPE, shape, __VA_ARGS__)
#define tn_tensor_of_dtype(dtype, shape, ...)                                   \
    tn_tensor_of_at(__FILE__, __LINE__, dtype, shape, TNI_NUMBERS(__VA_ARGS__), \
                    (int64_t)(sizeof((const long double[]){__VA_ARGS__}) / sizeof(long double)))
#endif

/* A tensor over the caller's memory, without a copy. The memory must stay valid until
 * release(data, user) is called, once, when the last tensor over it is freed; release may be NULL.
 * It must be aligned for its elements (8 bytes for f64 and complex128). options may be NULL. NULL
 * with an error, and release is not called. */
typedef struct tn_wrap_options {
    tn_ints strides; /* in elements, >= 0; n = 0: row-major */
    int64_t bytes;   /* length of the memory from data on; 0: as shape and strides need */
    void (*release)(void *data, void *user);
    void *user;
    bool read_only; /* refuse in-place calls and out= */
} tn_wrap_options;
TN_USE_RESULT TN_API tn_tensor *tn_wrap_at(const char *file, int line, void *data, tn_ints shape,
                                           tn_dtype dtype, const tn_wrap_options *options);
#define tn_wrap(...) tn_wrap_at(__FILE__, __LINE__, __VA_ARGS__)

/* --- dtypes and devices ----------------------------------------------------------------------- */

TN_API const char *tn_dtype_name(tn_dtype dtype); /* "float32" */
TN_API tn_dtype tn_dtype_named(const char *name); /* TN_NO_DTYPE if unknown */
TN_API int tn_dtype_bytes(tn_dtype dtype);
TN_API tn_dtype tn_promote(tn_dtype a, tn_dtype b); /* torch.promote_types */
TN_API tn_dtype tn_default_dtype(void);             /* TN_F32 at the start */
TN_API bool tn_set_default_dtype(tn_dtype dtype);   /* floating, else false and an error */
/* The device of that name ("cpu", "meta"); TN_NO_DEVICE and an error if unknown. */
TN_API tn_device_id tn_device_at(const char *file, int line, const char *name);
#define tn_device(name) tn_device_at(__FILE__, __LINE__, name)
TN_API tn_device_id tnp_device(const char *name);
TN_API const char *tn_device_name(tn_device_id device);

/* Where the calling thread makes tensors from nothing (zeros, arange, rand, tn_from, modules) if a
 * call names no device: TN_CPU at the start. Calls that have a tensor (zeros_like, new_zeros) stay
 * on its device; tn_wrap and files give tensors of the CPU. */
TN_API tn_device_id tn_default_device(void);
/* Sets it for the calling thread, in its current context, and returns the one before. TN_NO_DEVICE
 * changes nothing; neither does a device that does not exist, which is INVALID. */
TN_API tn_device_id tn_set_default_device_at(const char *file, int line, tn_device_id device);
#define tn_set_default_device(device) tn_set_default_device_at(__FILE__, __LINE__, device)
TN_API tn_device_id tnp_set_default_device(tn_device_id device);
typedef struct tni_device_guard {
    tn_device_id before;
    bool once;
#ifdef __cplusplus
    tni_device_guard(const char *file, int line, tn_device_id device)
        : before(tn_set_default_device_at(file, line, device)), once(true) {}
    ~tni_device_guard() { tnp_set_default_device(before); }
    tni_device_guard(const tni_device_guard &) = delete;
    tni_device_guard &operator=(const tni_device_guard &) = delete;
#endif
} tni_device_guard;
/* A block with another default device. It ends as tn_no_grad's does, by return and goto too.
 *     tn_with_device(tn_device("null:0")) { net = tn_nn_linear(3, 4); } */
#ifdef __cplusplus
#define TNI_DEVICE_BLOCK(guard, device) \
    for (tni_device_guard guard(__FILE__, __LINE__, device); guard.once; guard.once = false)
#else
TNI_INLINE void tni_device_leave(tni_device_guard *guard) { tnp_set_default_device(guard->before); }
#define TNI_DEVICE_BLOCK(guard, device)                                                        \
    for (tni_device_guard guard TNI_AT_END(tni_device_leave) = {tn_set_default_device(device), \
                                                                true};                         \
         guard.once; guard.once = false TNI_AT_NEXT(tni_device_leave, guard))
#endif
#define tn_with_device(device) TNI_DEVICE_BLOCK(TNI_JOIN(tni_device_, __LINE__), device)

/* --- printing --------------------------------------------------------------------------------- */

typedef struct tn_print_options { /* as torch.set_printoptions; 0: the default */
    int precision;                /* 4; -1: no digits */
    int threshold;                /* 1000 */
    int edgeitems;                /* 3 */
    int linewidth;                /* 80 */
    int sci_mode;                 /* 0: if the values need it, 1: always, -1: never */
} tn_print_options;
/* The text that torch prints, NUL-terminated; free it with tn_alloc_free(text, strlen(text) + 1).
 * options may be NULL. NULL with an error. */
TN_API char *tn_to_text_at(const char *file, int line, const tn_tensor *t,
                           const tn_print_options *options);
#define tn_to_text(t, ...) tn_to_text_at(__FILE__, __LINE__, t, __VA_ARGS__)
TN_API char *tnp_to_text(const tn_tensor *t, const tn_print_options *options);
/* Writes that text and a newline to stdout; false with an error. */
TN_API bool tn_print_at(const char *file, int line, const tn_tensor *t);
#define tn_print(t) tn_print_at(__FILE__, __LINE__, t)
TN_API bool tnp_print(const tn_tensor *t);

TNI_EXTERN_C_END
#endif
