/* sparse.c - sparse tensors: headers with a shape over parts, which are ordinary tensors.
 *
 * The header has the flags of a meta tensor and TNI_SPARSE, so whoever reads data finds none and
 * the door's test of what is rare finds it. The parts hang among the extras, counted. */
#include "../api/sparse.h"
#include "tensor.h"

TN_PRIV const char *tni_layout_text(int layout) {
    static const char *const text[] = {"strided", "sparse_coo", "sparse_csr", "sparse_csc"};
    return text[layout];
}

/* Integers in one dimension, of that length. */
static bool sparse_is_vector(tni_block *b, const char *name, const tn_tensor *t, int64_t n) {
    if (t->dtype != TN_I64 && t->dtype != TN_I32)
        return tni_error(b, TN_TYPE, "%s must be int32 or int64, but got %s", name,
                         tni_dtype(t->dtype)->text);
    if (t->ndim != 1)
        return tni_error(b, TN_INVALID, "%s must have 1 dimension, but got %d", name, t->ndim);
    return t->size[0] == n || tni_error(b, TN_INVALID, "%s must have length %lld, but got %lld",
                                        name, (long long)n, (long long)t->size[0]);
}

static bool sparse_coo_fits(tni_block *b, tn_tensor *const *part, tn_ints size) {
    const tn_tensor *indices = part[0], *values = part[1];
    char has[160], wants[160];
    int64_t want[TN_MAX_DIMS];
    int dims;
    if (indices->dtype != TN_I64)
        return tni_error(b, TN_TYPE, "indices must be an int64 tensor, but got %s",
                         tni_dtype(indices->dtype)->text);
    if (indices->ndim != 2)
        return tni_error(b, TN_INVALID, "indices must be sparse_dim x nnz, but got: %s",
                         tni_shape_text(has, sizeof has, indices->ndim, indices->size));
    if (values->ndim < 1) return tni_error(b, TN_INVALID, "values must have a dimension, nnz");
    dims = (int)(size.n - indices->size[0]);
    if (size.n != indices->size[0] + values->ndim - 1)
        return tni_error(b, TN_INVALID,
                         "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = "
                         "%lld, sparse_dim = %lld, dense_dim = %d",
                         (long long)size.n, (long long)indices->size[0], values->ndim - 1);
    if (indices->size[1] != values->size[0])
        return tni_error(b, TN_INVALID,
                         "indices and values must have same nnz, but got nnz from indices: %lld, "
                         "nnz from values: %lld",
                         (long long)indices->size[1], (long long)values->size[0]);
    want[0] = values->size[0];
    for (int i = 0; i < dims; i++) want[i + 1] = size.at[indices->size[0] + i];
    return !memcmp(want, values->size, (size_t)values->ndim * sizeof *want) ||
           tni_error(b, TN_INVALID, "values has incorrect size, expected %s, got %s",
                     tni_shape_text(wants, sizeof wants, dims + 1, want),
                     tni_shape_text(has, sizeof has, values->ndim, values->size));
}

static bool sparse_rows_fit(tni_block *b, tn_layout layout, tn_tensor *const *part, tn_ints size) {
    const bool csr = layout == TN_SPARSE_CSR;
    const char *ends = csr ? "crow_indices" : "ccol_indices";
    const char *places = csr ? "col_indices" : "row_indices";
    if (size.n != 2)
        return tni_error(b, TN_UNSUPPORTED,
                         "a tensor of layout sparse_csr or sparse_csc is a matrix, but the size "
                         "has %lld dimensions",
                         (long long)size.n);
    if (part[2]->ndim != 1)
        return tni_error(b, TN_UNSUPPORTED, "values must have 1 dimension, but got %d",
                         part[2]->ndim);
    if (part[0]->dtype != part[1]->dtype)
        return tni_error(b, TN_TYPE, "%s and %s dtype must match, but got %s and %s", ends, places,
                         tni_dtype(part[0]->dtype)->text, tni_dtype(part[1]->dtype)->text);
    return sparse_is_vector(b, ends, part[0], size.at[csr ? 0 : 1] + 1) &&
           sparse_is_vector(b, places, part[1], part[2]->size[0]);
}

/* So many parts has a tensor of that layout; the last one is its values. */
static int sparse_parts(int layout) { return layout == TN_SPARSE_COO ? 2 : 3; }

TN_PRIV bool tni_sparse_may_be(tni_block *b, int layout, tn_tensors parts, tn_ints size) {
    int64_t numel;
    const int n = sparse_parts(layout);
    if (layout <= TN_STRIDED || layout > TN_SPARSE_CSC)
        return tni_error(b, TN_INVALID, "the layout of a sparse tensor is none of tn_layout");
    if (parts.n != n || !parts.at)
        return tni_error(b, TN_INVALID, "expected %d parts of a sparse tensor", n);
    if (size.n < 0 || size.n > TN_MAX_DIMS || (size.n && !size.at) ||
        !tni_numel_of((int)size.n, size.at, &numel))
        return tni_error(b, TN_INVALID, "the size of a sparse tensor is negative or too large");
    for (int i = 0; i < n; i++) {
        if (!parts.at[i]) return tni_error(b, TN_INVALID, "a part of a sparse tensor is NULL");
        if (!tni_belongs(b, parts.at[i], "tn_sparse_new")) return false;
        if (parts.at[i]->flags & (TNI_SPARSE | TNI_BATCHED))
            return tni_error(b, TN_UNSUPPORTED,
                             "a part of a sparse tensor is sparse, or a sample of a batch");
        if (parts.at[i]->device != parts.at[0]->device)
            return tni_error(b, TN_INVALID, "the device of indices must be that of values");
    }
    return layout == TN_SPARSE_COO ? sparse_coo_fits(b, parts.at, size)
                                   : sparse_rows_fit(b, (tn_layout)layout, parts.at, size);
}

TN_PRIV tn_tensor *tni_sparse_header(tni_block *b, int layout, tn_tensor *const *part, int ndim,
                                     const int64_t *size, const struct tni_sparse_ways *ways) {
    const int n = sparse_parts(layout);
    tn_tensor *t = tni_header(b, part[n - 1]->dtype, ndim, size, NULL);
    tni_extra *e;
    if (!t) return NULL;
    t->flags = (uint16_t)((t->flags & ~(unsigned)TNI_CONTIGUOUS) | TNI_META | TNI_SPARSE);
    t->device = part[0]->device;
    t->storage = tni_storage_wrap(b, NULL, 0, NULL, NULL);
    e = t->storage ? tni_extra_of(b, t) : NULL;
    if (!e) {
        t->flags &= (uint16_t)~TNI_SPARSE;
        tni_drop(b, t);
        return NULL;
    }
    e->ways = ways;
    e->layout = (uint8_t)layout;
    for (int i = 0; i < n; i++) {
        tni_retain(part[i]);
        e->part[i] = part[i];
    }
    return t;
}

/* What a sparse tensor holds beside its header; NULL: it is strided, or none. */
static tni_extra *sparse_extra(const tn_tensor *t, const char *function) {
    return tni_there(t, function) && t->flags & TNI_SPARSE ? tni_extra_there(t) : NULL;
}
TN_API tn_layout tn_sparse_layout(const tn_tensor *t) {
    const tni_extra *e = sparse_extra(t, "tn_sparse_layout");
    return e ? (tn_layout)e->layout : TN_STRIDED;
}
TN_API tn_tensor *tn_sparse_part(const tn_tensor *t, int k) {
    const tni_extra *e = sparse_extra(t, "tn_sparse_part");
    return e && k >= 0 && k <= 2 ? e->part[k] : NULL;
}
TN_API bool tn_is_coalesced(const tn_tensor *t) {
    const tni_extra *e = sparse_extra(t, "tn_is_coalesced");
    return e && (e->coalesced || e->layout != TN_SPARSE_COO);
}
TN_API bool tn_set_coalesced(tn_tensor *t, bool coalesced) {
    tni_extra *e = sparse_extra(t, "tn_set_coalesced");
    if (!e || e->layout != TN_SPARSE_COO) return false;
    e->coalesced = coalesced;
    return true;
}

static bool sparse_set(tni_block *b, tn_tensor *t, const tn_tensor *from) {
    tni_extra *to, *of;
    tn_tensor *old;
    if (!t || !from) return tni_error(b, TN_INVALID, "tn_sparse_set: a tensor is NULL");
    if (!tni_belongs(b, t, "tn_sparse_set") || !tni_belongs(b, from, "tn_sparse_set")) return false;
    if (!(t->flags & from->flags & TNI_SPARSE) || tn_sparse_layout(t) != tn_sparse_layout(from) ||
        t->dtype != from->dtype || t->device != from->device || !tni_same_shape(t, from))
        return tni_error(b, TN_INVALID,
                         "tn_sparse_set: both must be sparse, of one layout, shape and dtype");
    to = sparse_extra(t, "tn_sparse_set");
    of = sparse_extra(from, "tn_sparse_set");
    if (!to || !of) return false; /* not reached: both are sparse */
    for (int i = 0; i < 3; i++) {
        old = to->part[i];
        tni_retain(of->part[i]);
        to->part[i] = of->part[i];
        tni_release(b, old);
    }
    to->coalesced = of->coalesced;
    tni_fetch_add_relaxed(tni_version_of(t), 1u);
    return true;
}
TN_API bool tn_sparse_set_at(const char *file, int line, tn_tensor *t, const tn_tensor *from) {
    tni_block *b = tni_here();
    return tni_enter(b, file, line) && tni_leave(b, sparse_set(b, t, from));
}
