/* dims.h - what rows about shapes share: dimension arguments with torch's messages, headers on the
 * stack. */
#ifndef TNI_OPS_DIMS_H
#define TNI_OPS_DIMS_H

#include "../gen/rows.h"

/* dim in [-ndim, ndim) as [0, ndim); a 0-dim tensor has one virtual dimension. false with an
 * error. */
TNI_INLINE bool tni_dim_of(tn_frame *f, int ndim, int64_t dim, int *to) {
    int n = ndim ? ndim : 1;
    *to = tni_dim(ndim, dim);
    return *to >= 0 ||
           tn_fail(f, TN_INDEX,
                   "Dimension out of range (expected to be in range of [%d, %d], but got %lld)", -n,
                   n - 1, (long long)dim);
}

/* A required list of at most TN_MAX_DIMS ints. */
TNI_INLINE bool tni_dims_given(tn_frame *f, tn_ints l, const char *name) {
    if (l.n < 0 || !l.at) return tn_fail(f, TN_INVALID, "argument '%s' is not a list", name);
    return l.n <= TN_MAX_DIMS ||
           tn_fail(f, TN_INVALID, "'%s' has %lld members, a tensor has at most %d dimensions", name,
                   (long long)l.n, TN_MAX_DIMS);
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

/* One number for both dimensions, or two, from low to INT32_MAX. */
TNI_INLINE bool tni_pair_of(tn_frame *f, tn_ints l, const char *name, int64_t low, int64_t *a,
                            int64_t *b) {
    if (l.n != 1 && l.n != 2)
        return tn_fail(f, TN_INVALID, "%s must have 1 or 2 numbers, got %lld", name,
                       (long long)l.n);
    *a = l.at[0], *b = l.at[l.n - 1];
    if (*a < low || *b < low || *a > INT32_MAX || *b > INT32_MAX)
        return tn_fail(f, TN_INVALID, "%s (%lld, %lld) must be at least %lld", name, (long long)*a,
                       (long long)*b, (long long)low);
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
    return tn_fail(f, TN_TYPE, "'%s' is %.17g, the tensors are %s", name, v,
                   tni_dtype(dtype)->text);
}

/* A header over of's storage that lives on the caller's stack: uncounted, for loops that take
 * tensors. */
TNI_INLINE void tni_stack_view(tn_tensor *v, const tn_tensor *of, int ndim, const int64_t *size,
                               const int64_t *stride, int64_t offset) {
    memset(v, 0, offsetof(tn_tensor, dims));
    v->refs = 1;
    v->dtype = of->dtype;
    v->ndim = (uint8_t)ndim;
    v->device = of->device;
    v->owner = of->owner;
    v->storage = of->storage;
    v->offset = offset;
    v->size = (int64_t *)(uintptr_t)size;
    v->stride = (int64_t *)(uintptr_t)stride;
    v->numel = 1;
    for (int i = 0; i < ndim; i++) v->numel *= size[i];
    v->flags = (uint16_t)(TNI_STACK | (tni_is_row_major(ndim, size, stride) ? TNI_CONTIGUOUS : 0));
}

/* --- dimensions that a reduction takes away: those in dim, all where it is absent or empty --- */

TNI_INLINE void tni_dims_gone(const tn_tensor *x, tn_ints dim, bool *gone) {
    for (int d = 0; d < TN_MAX_DIMS; d++) gone[d] = dim.n <= 0;
    for (int64_t i = 0; i < dim.n; i++) gone[tni_dim(x->ndim, dim.at[i])] = true;
}
/* A result t (or its gradient) with ones where dimensions went, to meet x by broadcasting. */
TN_PRIV tn_tensor *tni_dims_keep(tn_tensor *t, const tn_tensor *x, tn_ints dim, bool keepdim);
/* Elements of x that meet in one result. */
TN_PRIV double tni_dims_count(const tn_tensor *x, tn_ints dim);

/* --- geometries ------------------------------------------------------------------------------- */

/* Sizes, strides and offset of a view, in elements. */
typedef struct tni_geometry {
    int ndim;
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS], offset;
} tni_geometry;
TN_PRIV void tni_geometry_of(tni_geometry *v, const tn_tensor *t);
TN_PRIV void tni_geometry_remove(tni_geometry *v, int d);
TN_PRIV void tni_geometry_insert(tni_geometry *v, int d, int64_t size, int64_t stride);
/* Output k is the view v of f->in[0]. */
TN_PRIV bool tni_announce_geometry(tn_frame *f, int k, const tni_geometry *v);
/* The run of a row whose outputs are all views. */
TN_PRIV void tni_run_nothing(tn_frame *f);
/* into, a new row-major tensor, with src written at v (recorded where gradients are). NULL passes
 * errors on. */
TN_PRIV tn_tensor *tni_place_at(tni_block *b, tn_tensor *into, tn_tensor *src,
                                const tni_geometry *v);
TN_PRIV tn_tensor *tni_zeros_of(tn_tensor *like, int ndim, const int64_t *size);

/* Sizes and strides of a clone of self: torch's preserve_format. */
TN_PRIV void tni_copy_strides(tni_shape *s, const tn_tensor *self);

/* --- walks ------------------------------------------------------------------------------------ */

/* Rows of up to 4 tensors of one (broadcast) shape in row-major order; neighbouring dimensions
 * that lie alike in all
 * of them are one. for (r = 0; r < w.rows; r++, tni_walk_next(&w)) the n elements of a row lie at
 * w.at[k] + i * w.row[k]. Long rows come in pieces; a call that is to stop has no more rows. */
enum { TNI_WALK = 4 };
typedef struct tni_walk {
    int ndim, operands;
    int64_t n, rows;
    int64_t whole, done, since; /* of a long row, done before this piece; since the last poll */
    int64_t size[TN_MAX_DIMS], index[TN_MAX_DIMS],
        step[TNI_WALK][TN_MAX_DIMS]; /* outer dimensions; steps in bytes */
    int64_t row[TNI_WALK];
    char *at[TNI_WALK];
} tni_walk;
TN_PRIV void tni_walk_start(tni_walk *w, int ndim, const int64_t *size,
                            const tn_tensor *const *operands, int n);
TN_PRIV void tni_walk_next(tni_walk *w);
/* n elements of `bytes` bytes, steps in bytes, of any sign. */
TN_PRIV void tni_move_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                          int64_t bytes);
/* One element of 1, 2, 4, 8 or 16 bytes. */
TNI_INLINE void tni_move_one(char *to, const char *from, int64_t bytes) {
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 1)
        *to = *from;
    else if (bytes == 2)
        memcpy(to, from, 2);
    else
        memcpy(to, from, 16);
}
/* prod of complex numbers; conjugate products of the others along d for each element of x. */
TN_PRIV void tni_prod_complex(tn_frame *f, tn_ints dim);
TN_PRIV tn_tensor *tni_prod_others(tn_tensor *x, int d);
/* Whether value can be a tensor's element without overflow, with torch's error; and every element
 * of t = value. */
TN_PRIV bool tni_fill_check(tn_frame *f, tn_scalar value, int dtype);
TN_PRIV void tni_fill(tn_tensor *t, tn_scalar value);
/* n copies of the element at `unit`. */
TN_PRIV void tni_fill_row(char *to, int64_t step, const void *unit, int64_t n, int64_t bytes);

#endif
