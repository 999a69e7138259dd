/* reduction.h - what reductions share among each other and with norms of layers: the dimensions
 * that go, the plain reducer, products, variances. */
#ifndef TNI_OPS_REDUCTION_REDUCTION_H
#define TNI_OPS_REDUCTION_REDUCTION_H

#include "../../cpu/lanes.h"
#include "../../call/rowform.h"

/* The dimensions that go: those in dim, all where it is absent or empty. */
TNI_INLINE void tni_dims_gone(const tn_tensor *x, tn_ints dim, bool *gone) {
    memset(gone, dim.n <= 0, TN_MAX_DIMS * sizeof *gone);
    for (int64_t i = 0; i < dim.n; i++) gone[tni_dim(x->ndim, dim.at[i])] = true;
}
/* A result t (or its gradient) with ones where dimensions went, to meet x by broadcasting. */
TN_PRIV tn_tensor *tni_dims_keep(tn_tensor *t, const tn_tensor *x, tn_ints dim, bool keepdim);
/* Elements of x that meet in one result. */
TN_PRIV double tni_dims_count(const tn_tensor *x, tn_ints dim);
/* The shape of x after reducing `dim` (absent or empty: all), and which dimensions go. Errors name
 * the dimension. */
TN_PRIV bool tni_reduced(tn_frame *f, const tn_tensor *x, tn_ints dim, bool keepdim, tni_shape *to,
                         bool *gone);

/* A dim that may be absent (TN_NONE), as a list. */
TNI_INLINE tn_ints tni_dim_or_all(const int64_t *dim) {
    return tni_ints(dim, *dim == TN_NONE ? -1 : 1);
}
/* For rows that choose an element: false with an error where a dimension that goes is empty. */
TN_PRIV bool tni_reduce_not_empty(tn_frame *f, const tn_tensor *x, const bool *gone);

/* The functions of a reducer of a plain reduction (its op): a part is one element
 * of the compute type. */
TN_PRIV void tni_plain_block(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                             int64_t many, int64_t n, int64_t first, void *to);
TN_PRIV void tni_plain_rows(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                            int64_t rows, int64_t n, int64_t first, void *to);
TN_PRIV void tni_plain_merge(const tni_reducer *r, const tni_lanes *l, void *a, const void *b,
                             int64_t n, int64_t na, int64_t nb);

/* check and run of a row whose result has the shape of self without dim. `choose`: an empty dim is
 * refused. finish: TNI_MEAN divides by the number of elements. */
enum { TNI_PLAIN, TNI_MEAN };
TN_PRIV bool tni_plain_check(tn_frame *f, tn_ints dim, bool keepdim, tn_dtype dtype, int compute,
                             bool choose);
TN_PRIV void tni_plain_reduce(tn_frame *f, tn_ints dim, const tni_reduction *op, int finish);
/* Their parts: the plan of in[0] over dim; its reduction into out[k]. A complex result is one of
 * twice as many reals. */
TN_PRIV void tni_plain_lanes(tn_frame *f, tni_lanes *l, tn_ints dim, int how);
TN_PRIV void tni_plain_run(tn_frame *f, tni_lanes *l, const tni_reduction *op, int k, int finish);

/* Refuses dtypes that cannot be ordered. */
TN_PRIV bool tni_extreme_dtype(tn_frame *f, const tn_tensor *x);

/* The gradient of rows with results (values, indices) along dim: to the chosen elements alone. */
TN_PRIV void tni_arg_grad(tn_gradient *g, int64_t dim, bool keepdim);

/* prod of complex numbers; conjugate products of the others along d for each element of x. */
TN_PRIV void tni_prod_complex(tn_frame *f, tn_ints dim);
TN_PRIV tn_tensor *tni_prod_others(tn_tensor *x, int d);

/* (mean, sum of squared deviations) of each of `many` rows of at most TNI_BLOCK elements of F32 or
 * F64, `step` bytes apart, into pairs; (mean, m2) of na elements joined with those of nb more. */
TN_PRIV void tni_var_block(const tni_kernels *k, int compute, const void *x, int64_t step,
                           int64_t many, int64_t n, double *pairs);
TN_PRIV void tni_var_join(double *mean, double *m2, double na, double mean_b, double m2_b,
                          double nb);
/* (mean, m2) of every result of the plan, F32 or F64, into pairs; l's scratch is that of parts of
 * 16 bytes. */
TN_PRIV void tni_var_parts(tn_context *c, tni_lanes *l, void *scratch, double *pairs);

#endif
