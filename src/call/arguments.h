/* arguments.h - what checks of rows share: arguments read with torch's messages. Looks at
 * no element. */
#ifndef TNI_CALL_ARGUMENTS_H
#define TNI_CALL_ARGUMENTS_H

#include "call.h"

/* dim in [-ndim, ndim) as [0, ndim); a 0-dim tensor has one virtual dimension. false with
 * an error. */
TNI_INLINE bool tni_dim_of(tn_frame *f, int ndim, int64_t dim, int *to) {
    int n = ndim ? ndim : 1;
    *to = tni_dim(ndim, dim);
    return *to >= 0 ||
           tn_fail(f, TN_INDEX,
                   "Dimension out of range (expected to be in range of [%d, %d], but got %lld)", -n,
                   n - 1, (long long)dim);
}

/* A row that chooses elements or places writes them as they are: the tensor given for output k
 * must have this dtype. */
TNI_INLINE bool tni_given_is(tn_frame *f, int k, tn_dtype dtype) {
    return k >= f->ngiven || f->given[k]->dtype == dtype ||
           tn_fail(f, TN_TYPE, "Expected out tensor to have dtype %s, but it has %s",
                   tni_dtype((int)dtype)->text, tni_dtype(f->given[k]->dtype)->text);
}

/* A required list of at most TN_MAX_DIMS ints. */
TNI_INLINE bool tni_dims_given(tn_frame *f, tn_ints l, const char *name) {
    if (l.n < 0 || !l.at) return tn_fail(f, TN_INVALID, "argument '%s': expected a list", name);
    return l.n <= TN_MAX_DIMS ||
           tn_fail(f, TN_INVALID, "argument '%s' has %lld elements, expected at most %d dimensions",
                   name, (long long)l.n, TN_MAX_DIMS);
}

/* Sizes of a new tensor: a list without negative members. */
TNI_INLINE bool tni_sizes_given(tn_frame *f, tn_ints size, const char *name) {
    char text[160];
    if (!tni_dims_given(f, size, name)) return false;
    for (int64_t i = 0; i < size.n; i++)
        if (size.at[i] < 0)
            return tn_fail(
                f, TN_INVALID, "Trying to create tensor with negative dimension %lld: %s",
                (long long)size.at[i], tni_shape_text(text, sizeof text, (int)size.n, size.at));
    return true;
}

/* One number for all n dimensions, or n, from low to INT32_MAX. */
TNI_INLINE bool tni_each_of(tn_frame *f, tn_ints l, const char *name, int n, int64_t low,
                            int64_t *to) {
    char text[160];
    bool fits = true;
    if (l.n != 1 && l.n != n)
        return tn_fail(f, TN_INVALID, "%s must have 1 or %d elements, got %lld", name, n,
                       (long long)l.n);
    for (int i = 0; i < n; i++) {
        to[i] = l.at[l.n == 1 ? 0 : i];
        fits = fits && to[i] >= low && to[i] <= INT32_MAX;
    }
    return fits ||
           tn_fail(f, TN_INVALID, "%s %s must be from %lld to %lld", name,
                   tni_shape_text(text, sizeof text, n, to), (long long)low, (long long)INT32_MAX);
}
TNI_INLINE bool tni_pair_of(tn_frame *f, tn_ints l, const char *name, int64_t low, int64_t *a,
                            int64_t *b) {
    int64_t to[2] = {0, 0};
    if (!tni_each_of(f, l, name, 2, low, to)) return false;
    *a = to[0];
    *b = to[1];
    return true;
}

/* A Scalar argument with both fields filled. */
TNI_INLINE tn_scalar tni_exact(tn_scalar s) {
    if (s.kind == TN_KIND_BOOL) s.integer = s.integer != 0;
    if (s.kind == TN_KIND_INT || s.kind == TN_KIND_BOOL) s.real = (double)s.integer;
    return s;
}
/* Whether a number that is kept as double can stand beside tensors of dtype: for integers it is
 * whole, and of a size that a double holds exactly. */
TNI_INLINE bool tni_double_fits(tn_frame *f, const char *name, double v, int dtype) {
    if (tni_dtype(dtype)->category >= TNI_CAT_FLOAT ||
        (v == floor(v) && fabs(v) < 9007199254740992.0))
        return true;
    return tn_fail(f, TN_TYPE,
                   "For integral input tensors, argument %s must not be a floating point number, "
                   "nor from 2^53 on: %.17g beside %s",
                   name, v, tni_dtype(dtype)->text);
}

/* What the check of a row that takes a dimension tells its look and run (TN_NOTE). */
typedef struct tni_dim_note {
    int dim; /* not negative */
} tni_dim_note;

#endif
