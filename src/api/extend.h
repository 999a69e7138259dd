/* extend.h - for module trees and bindings: ownership, data, schemas.
 *
 * A program that only calls operators does not need this chapter. All functions use the calling
 * thread's state. */
#ifndef TNI_API_EXTEND_H
#define TNI_API_EXTEND_H

#include "beside.h"
#include "row.h"

TNI_EXTERN_C_BEGIN

/* --- ownership -------------------------------------------------------------------------------- */

/* Ends the scopes above the mark like tn_scope_end, but first moves those of the n tensors that
 * belong to these scopes to the next outer scope, or to the caller if there is none. Tensors that
 * are NULL, held, or in an outer scope stay as they are. Cannot fail. */
TN_API void tn_scope_leave(int64_t mark, tn_tensor *const *tensors, int64_t n);

/* A guard around a user's code inside a call, such as a hook. Between begin and end, tn_scope_end
 * ends only scopes opened since begin. tn_guard_end restores scopes, modes and the current
 * context, and moves the n tensors that the code returned out of scopes that it left open. The
 * members are private. */
typedef struct tn_guard {
    tni_block *block;
    uint32_t depth, floor;
    uint16_t inference;
    uint8_t no_grad, device;
    bool no_alloc;
} tn_guard;
TN_API tn_guard tn_guard_begin(void);
TN_API void tn_guard_end(const tn_guard *guard, tn_tensor *const *returned, int64_t n);

/* Adds an owner of t, for code that keeps a tensor that it was given; tn_release drops it. Unlike
 * tn_hold and tn_free, which are for the tensor's owner, they leave t in its scope. */
TN_API tn_tensor *tn_retain(tn_tensor *t);    /* returns t; NULL for NULL */
TN_API void tn_release(tn_tensor *t);         /* NULL is allowed; nothing if no context is left */
TN_API int64_t tn_owners(const tn_tensor *t); /* scopes, tapes, holders; 0: NULL, or freed */

/* Takes a new tensor out of its scope, if it is in one, for the caller to own. Returns t. */
TN_API tn_tensor *tn_take(tn_tensor *t);

/* Gives one of the caller's owner counts to the innermost scope, if one is open: a hook or function
 * returns a tensor that has other owners in this way. Returns the tensor to use, which is t unless
 * t belongs to another thread; NULL with MEMORY. */
TN_API tn_tensor *tn_lend(tn_tensor *t);
TN_API tn_tensor *tn_base_of(const tn_tensor *t); /* borrowed; NULL if t is not a view */

/* The object that represents t in another language; NULL: none. Its address must be even. Without
 * release the tensor does not own it: call tn_set_binding(t, NULL, NULL) before the object is
 * freed. With release, the tensor calls it at its own end. False with MEMORY, which can happen only
 * if t has hooks or release is given. */
TN_API void *tn_binding(const tn_tensor *t);
TN_API bool tn_set_binding(tn_tensor *t, void *object, void (*release)(void *object));

/* Exchanges the data of two tensors of the same shape: storage, offset, strides, dtype, device.
 * Headers, owners, requires_grad and .grad stay, so every pointer to one tensor sees the
 * other's data. Their views, and other tensors on their storage, see it as well if dtype,
 * strides and device are the same. Otherwise they keep the old data and are no longer views; a
 * recorded write to one is refused. Both versions advance. Neither tensor may be a view or the
 * result of a recorded call: this, NULL, and shapes that differ are errors, with result false. So
 * is memory of two storages that overlaps, if others see it. Else it cannot fail. */
TN_API bool tn_swap_data_at(const char *file, int line, tn_tensor *a, tn_tensor *b);
#define tn_swap_data(a, b) tn_swap_data_at(__FILE__, __LINE__, a, b)
TN_API bool tnp_swap_data(tn_tensor *a, tn_tensor *b);
/* Makes t share the data of `from`: storage, shape, strides, dtype, device. t keeps its history,
 * requires_grad and .grad; its views keep the old data. False with an error if t is a view, or
 * requires grad and `from` has integers. */
TN_API bool tn_set_data_at(const char *file, int line, tn_tensor *t, const tn_tensor *from);
#define tn_set_data(t, from) tn_set_data_at(__FILE__, __LINE__, t, from)

/* --- schemas at run time ---------------------------------------------------------------------- */

/* The tables of a schema such as "Block(int d, float p=0.1) -> ()" or "f(Tensor input, Tensor?
 * mask=None) -> (Tensor out, Tensor weights)"; the argument struct is laid out as by the
 * generator. The caller frees them with tn_schema_free. NULL and INVALID with the column if it
 * does not parse. */
TN_API tn_gen *tn_schema_new(const char *schema);
TN_API void tn_schema_free(tn_gen *gen);

/* Fills args (gen->args_size bytes) with the defaults, then with the values by position or name;
 * lists and strings are borrowed. False with an error that names `what` and the parameter that is
 * unknown, given twice, missing or of the wrong kind. with_defaults false keeps the contents of
 * args and requires no value. */
TN_API bool tn_bind(const char *file, int line, const char *what, const tn_gen *gen,
                    const tn_value *values, int nvalues, bool with_defaults, void *args);

/* Values in an argument struct, by the types of their parameters (TN_TYPES). */

/* The parameter named by the n characters at `name` (SIZE_MAX: up to its NUL); NULL if there is
 * none, or gen is NULL. */
TN_API const tn_param *tn_param_named(const tn_gen *gen, const char *name, size_t n);
/* True if all values are valid; else writes why the first is not: "argument 'x' is NULL". */
TN_API bool tn_args_check(const tn_gen *gen, const void *args, char *why, size_t room);
/* Reads a number, bool, dtype, device or word as a number; None is TN_KIND_NONE. False if p is of
 * another type. */
TN_API bool tn_param_number(const tn_param *p, const void *args, tn_scalar *to);
/* Sets such a value; false, and no change, if p cannot have it. */
TN_API bool tn_param_set_number(const tn_param *p, void *args, tn_scalar value);
/* True if p has the same value in both. */
TN_API bool tn_param_same(const tn_param *p, const void *args, const void *others);
/* Writes the value as messages do, or as Python's repr. Returns its length, like snprintf. */
TN_API size_t tn_param_text(char *text, size_t room, const tn_param *p, const void *args,
                            bool repr);
/* The 8-byte words that a copy of all lists of numbers and texts takes. */
TN_API int64_t tn_args_words(const tn_gen *gen, const void *args);
/* Copies these lists and texts to `to`, and makes args point there. */
TN_API void tn_args_copy(const tn_gen *gen, void *args, int64_t *to);
/* Makes pointers into the `bytes` at `from` point to the same place after `to`. */
TN_API void tn_args_move(const tn_gen *gen, void *args, const void *from, int64_t bytes, void *to);
/* Sets tensors, modules and generators to NULL, and empties lists of them. */
TN_API void tn_args_forget(const tn_gen *gen, void *args);

/* The element of that dtype at `at`. */
TN_API tn_scalar tn_element(const void *at, tn_dtype dtype);

/* --- random bits, time ------------------------------------------------------------------------ */

/* The next 64 random bits of a generator, like torch's random64: the first 32-bit word is
 * the high half. */
TN_API uint64_t tn_random64(tn_generator *generator);
TNI_EXTERN_C_END
#endif
