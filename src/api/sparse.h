/* sparse.h - sparse tensors: a shape over the tensors of which its elements are made.
 *
 *     tn_tensor *s = tn_sparse_coo(indices, values, TN_DIMS(3, 4)); // indices (2, n), values (n)
 *     tn_tensor *y = tn_sparse_mm(tn_sparse_part(s, 0), tn_sparse_part(s, 1), 3, x);
 *
 * The parts are ordinary tensors, and all that computes is operators of parts (tn_sparse_mm,
 * tn_sparse_to_dense, tn_sparse_coalesce), so gradients reach the values. The sparse tensor itself
 * is for what has one tensor to give: .grad of a table whose embedding has .sparse = true, and
 * bindings. Operators refuse it with UNSUPPORTED; backward adds sparse gradients. It requires grad
 * if its values do; tn_requires_grad asks them, and tn_grads gives their gradients at its places.
 * tn_data is NULL. A sparse gradient that backward is given, or .grad, is COO; other layouts are
 * refused. Threads may read one sparse tensor together; tn_sparse_set and tn_set_coalesced write
 * it. */
#ifndef TNI_API_SPARSE_H
#define TNI_API_SPARSE_H

#include "autograd.h"

TNI_EXTERN_C_BEGIN

/* How elements lie. COO: indices, int64 (sparse dimensions, n), and values (n, dense dimensions..);
 * an index may stand there several times, and its values are added. CSR of a matrix: crow_indices
 * (rows + 1), col_indices (n), both int64 or both int32, and values (n). CSC: the same by
 * columns. */
typedef enum tn_layout { TN_STRIDED, TN_SPARSE_COO, TN_SPARSE_CSR, TN_SPARSE_CSC } tn_layout;

/* A sparse tensor of that layout and shape over parts: 2 of COO, 3 of the others. The result is of
 * the current scope, as that of an operator, and one more owner of each part. Nothing is copied and
 * no index is read: operators of COO refuse one out of range by name, but nothing checks that the
 * ends of CSR and CSC rise from 0 to n, or that their places are within the size. NULL with an
 * error: INVALID where shapes do not fit, TYPE where dtypes do not, UNSUPPORTED where a part is
 * itself sparse or CSR and CSC are no matrix. */
TN_USE_RESULT TN_API tn_tensor *tn_sparse_new_at(const char *file, int line, tn_layout layout,
                                                 tn_tensors parts, tn_ints size);
#define tn_sparse_new(layout, parts, ...) \
    TNI_RESULT(tn_tensor, tn_sparse_new_at(__FILE__, __LINE__, layout, parts, __VA_ARGS__))
TN_USE_RESULT TN_API tn_tensor *tn_sparse_coo_at(const char *file, int line, tn_tensor *indices,
                                                 tn_tensor *values, tn_ints size);
#define tn_sparse_coo(indices, values, ...) \
    TNI_RESULT(tn_tensor, tn_sparse_coo_at(__FILE__, __LINE__, indices, values, __VA_ARGS__))
TN_API tn_layout tn_sparse_layout(const tn_tensor *t); /* TN_STRIDED: t is not sparse */
/* Part k in the order above, borrowed from t until it is freed or tn_sparse_set gives it others
 * (tn_retain keeps it longer); NULL: there is none. */
TN_API tn_tensor *tn_sparse_part(const tn_tensor *t, int k);
/* Whether the indices of a sparse tensor are known to be in order and distinct; who knows says it.
 * tn_set_coalesced is false for a tensor that is no COO. */
TN_API bool tn_is_coalesced(const tn_tensor *t);
TN_API bool tn_set_coalesced(tn_tensor *t, bool coalesced);
/* t gets the parts of another sparse tensor of its layout, shape, dtype and device, as one more
 * owner of each, and releases its own: no other thread may read t meanwhile, nor a part that it has
 * borrowed from t. False with an error: INVALID where they differ. */
TN_API bool tn_sparse_set_at(const char *file, int line, tn_tensor *t, const tn_tensor *from);
#define tn_sparse_set(t, ...) tn_sparse_set_at(__FILE__, __LINE__, t, __VA_ARGS__)

TNI_EXTERN_C_END

#endif
