/* plans.c - for backends: how the CPU walks, converts and reduces, so that a device's kernels give
 * its bits without a second text of its rules (api/device.h). */
#include "drive.h"
#include "lanes.h"
#include "../call/arguments.h"
#include "matmul.h"

/* --- tensors ---------------------------------------------------------------------------------- */

TN_API tn_operand tn_operand_of(const tn_tensor *t) {
    tn_operand o;
    memset(&o, 0, sizeof o);
    if (!t) return o;
    o.at = t->storage && t->storage->data ? tni_bytes_at(t) : NULL;
    o.size = t->size;
    o.stride = t->stride;
    o.numel = t->numel;
    o.ndim = t->ndim;
    o.dtype = t->dtype;
    o.bytes = (uint8_t)tni_dtype_size(t);
    o.on_host = t->device == TN_CPU;
    o.row_major = t->flags & TNI_CONTIGUOUS;
    return o;
}

TN_API void tn_operand_number(const tn_tensor *t, tn_dtype dtype, void *to) {
    tni_number_put((char *)to, (int)dtype, tni_element(tni_bytes_at(t), t->dtype));
}

/* --- walks ------------------------------------------------------------------------------------ */

static void plan_walk(tn_walk_plan *p, const tni_iterate *it) {
    p->n = it->n;
    p->ndim = it->ndim;
    p->numel = it->numel;
    memcpy(p->size, it->size, sizeof p->size);
    for (int k = 0; k < it->n; k++) {
        memcpy(p->stride[k], it->stride[k], sizeof p->stride[k]);
        p->at[k] = it->at[k];
    }
}

TN_API void tn_walk_plan_of(tn_walk_plan *p, tn_tensor *const *t, int n) {
    tni_iterate it;
    tni_iterate_init(&it, t[0]->ndim, t[0]->size, t, n);
    plan_walk(p, &it);
}

/* --- expressions ------------------------------------------------------------------------------ */

/* Input k, if it is a number for the kernel: in the type that elements are computed in, rounded to
 * the common dtype on the way unless it is a float among floats (drive.c). */
static void plan_input_number(tn_pointwise_plan *p, const tn_frame *f, int k) {
    const tn_tensor *t = f->in[k];
    const bool keeps = t->flags & TNI_NUMBER && tni_is_float((int)p->common);
    char at[16] = {0};
    p->number[k] = true;
    if (p->mask && k == 0) {
        tn_operand_number(t, TN_BOOL, p->one[k]);
    } else if (keeps || p->common == p->native) {
        tn_operand_number(t, p->native, p->one[k]);
    } else {
        tn_operand_number(t, p->common, at);
        tni_number_put((char *)p->one[k], (int)p->native, tni_element(at, (int)p->common));
    }
}

TN_API void tn_pointwise_plan_of(tn_pointwise_plan *p, const tn_frame *f) {
    const tni_pointwise_note *note = (const tni_pointwise_note *)(const void *)f->note.bytes;
    tn_tensor *operand[1 + TNI_NUMBERS], *out = f->out[0];
    tni_iterate it;
    memset(p->number, 0, sizeof p->number);
    p->common = (tn_dtype)note->common;
    p->native = (tn_dtype)tni_pointwise_native(f, note->common);
    p->made = (tn_dtype)tni_pointwise_makes(f->row->rules, (int)p->native);
    p->rounded = (tn_dtype)tni_pointwise_makes(f->row->rules, note->common);
    p->mask = f->row->rules & TN_TAKES_MASK;
    tni_pointwise_numbers(f, (int)p->native, (char *)p->numbers);
    operand[0] = out;
    for (int k = 0; k < f->nin; k++) {
        operand[k + 1] = f->in[k];
        if (f->in[k]->device == TN_CPU) plan_input_number(p, f, k);
    }
    tni_iterate_init(&it, out->ndim, out->size, operand, 1 + f->nin);
    plan_walk(&p->walk, &it);
    p->flat = it.ndim == 1;
    for (int k = 0; k <= f->nin; k++)
        if (!k || !p->number[k - 1])
            p->flat = p->flat && (it.stride[k][0] == it.bytes[k] || it.size[0] == 1);
}

/* --- reductions ------------------------------------------------------------------------------- */

TN_API void tn_reduce_plan_of(tn_reduce_plan *p, const tn_tensor *x, const bool *gone,
                              tn_dtype compute, int how) {
    tni_lanes l;
    tni_lanes_init(&l, x, gone, (int)compute, how);
    p->x = l.x;
    p->n = l.n;
    p->outer = l.outer;
    p->width = l.width;
    p->width_out = l.width_out;
    p->nred = l.nred;
    p->nkeep = l.nkeep;
    p->dtype = (tn_dtype)l.dtype;
    p->compute = compute;
    p->columns = l.columns;
    memcpy(p->red, l.red, sizeof p->red);
    memcpy(p->red_step, l.red_step, sizeof p->red_step);
    memcpy(p->keep, l.keep, sizeof p->keep);
    memcpy(p->keep_step, l.keep_step, sizeof p->keep_step);
    memcpy(p->keep_out, l.keep_out, sizeof p->keep_out);
}

/* --- indices ---------------------------------------------------------------------------------- */

/* Joins the shape of one index into the index shape; a mask is a vector of unknown size. */
static bool plan_broaden(tn_index_plan *p, const tn_tensor *t, bool *has_mask) {
    tni_shape s;
    int64_t one[1] = {1};
    bool mask = tni_index_is_mask(t), fits;
    s.ndim = p->index_ndim;
    memcpy(s.size, p->index_size, sizeof(int64_t) * (size_t)s.ndim);
    fits = tni_broadcast(&s, mask ? 1 : t->ndim, mask ? one : t->size);
    p->index_ndim = s.ndim;
    memcpy(p->index_size, s.size, sizeof(int64_t) * (size_t)s.ndim);
    if (mask) *has_mask = true;
    return fits;
}

/* Whether mask i, of k dimensions, has the sizes of self's dimensions at..at + k - 1. */
static bool plan_mask_fits(tn_frame *f, const tn_tensor *self, const tn_tensor *mask, int at,
                           int i) {
    char has[160], wants[160];
    bool fits = mask->ndim > 0 && at + mask->ndim <= self->ndim;
    for (int k = 0; fits && k < mask->ndim; k++) fits = mask->size[k] == self->size[at + k];
    return fits || tn_fail(f, TN_INDEX,
                           "The shape of the mask %s at index %d does not match the shape of the "
                           "indexed tensor %s "
                           "at index %d",
                           tni_shape_text(has, sizeof has, mask->ndim, mask->size), i,
                           tni_shape_text(wants, sizeof wants, self->ndim, self->size), at);
}

/* Matches the indices with self's dimensions: finds those that stay, where the others were, and
 * the index shape. */
static bool plan_indices(tn_frame *f, const tn_tensor *self, tn_tensor *const *index, int n,
                         tn_index_plan *p, bool *has_mask) {
    int at = 0, first = -1, last = -1;
    bool gaps = false;
    /* `at` is the dimension of self that index i begins at; `first` counts the kept ones before the
     * first index, `last` is where the previous index ended. */
    for (int i = 0; i < n; i++) {
        const tn_tensor *t = index[i];
        int takes = t && tni_index_is_mask(t) ? t->ndim : 1;
        if (t && !tni_index_is_mask(t) && !tni_is_index(t))
            return tn_fail(f, TN_INDEX,
                           "tensors used as indices must be long, int, byte or bool tensors");
        if (t && tni_index_is_mask(t) && !plan_mask_fits(f, self, t, at, i)) return false;
        if (at + takes > self->ndim)
            return tn_fail(f, TN_INDEX, "too many indices for tensor of dimension %d (got %d)",
                           self->ndim, n);
        /* An absent index keeps its dimension whole. */
        if (!t) {
            p->keep[p->kept++] = at++;
            continue;
        }
        if (first < 0)
            first = p->kept;
        else if (last != at)
            gaps = true;
        at += takes;
        last = at;
        if (!plan_broaden(p, t, has_mask))
            return tn_fail(f, TN_INDEX,
                           "shape mismatch: indexing tensors could not be broadcast together");
        if (tni_index_is_mask(t) && t->numel > p->masks) p->masks = t->numel;
    }
    if (first < 0) return tn_fail(f, TN_INDEX, "at least one index must be a tensor");
    /* As numpy and torch: where indices are not neighbours, their shape comes first. */
    p->place = gaps ? 0 : first;
    while (at < self->ndim) p->keep[p->kept++] = at++;
    return true;
}

TN_API bool tn_index_plan_of(tn_frame *f, const tn_tensor *self, tn_tensor *const *index, int n,
                             tn_index_plan *p) {
    bool has_mask = false, last_unknown;
    int64_t *last_size;
    memset(p, 0, sizeof *p);
    if (!plan_indices(f, self, index, n, p, &has_mask)) return false;
    if (p->kept + p->index_ndim > TN_MAX_DIMS)
        return tn_fail(f, TN_INDEX, "the result has more than %d dimensions", TN_MAX_DIMS);
    last_size = p->index_ndim ? &p->index_size[p->index_ndim - 1] : NULL;
    /* Masks broadcast along the last dimension of the index shape. If nothing else gave it a size,
     * look will: until then the largest mask bounds it. */
    last_unknown = has_mask && last_size && *last_size == 1;
    if (last_unknown) *last_size = p->masks;
    if (!tni_numel_of(p->index_ndim, p->index_size, &p->max_places))
        return tn_fail(f, TN_INDEX, "the result is too large");
    if (last_unknown) *last_size = TN_UNKNOWN;
    /* The result's sizes: kept ones before the indices, the index shape, the other kept ones. */
    for (int i = 0; i < p->place; i++) p->size[p->ndim++] = self->size[p->keep[i]];
    for (int i = 0; i < p->index_ndim; i++) p->size[p->ndim++] = p->index_size[i];
    for (int i = p->place; i < p->kept; i++) p->size[p->ndim++] = self->size[p->keep[i]];
    return true;
}
/* A mask with one true element broadcasts like a vector of size 1. */
TN_API bool tn_index_mask(tn_frame *f, const tn_index_plan *p, int64_t found, int64_t *count) {
    const int64_t known = p->index_ndim ? p->index_size[p->index_ndim - 1] : 1,
                  want = known == TN_UNKNOWN ? *count : known;
    if (found != 1 && found != want && !(known == TN_UNKNOWN && want == 1))
        return tn_fail(
            f, TN_INDEX,
            "shape mismatch: a mask of %lld true elements could not be broadcast with %lld",
            (long long)found, (long long)want);
    if (found != 1) *count = found;
    return true;
}

TN_API bool tn_index_values_fit(tn_frame *f, const tn_index_plan *p, const tn_tensor *values,
                                int64_t count) {
    char has[160], wants[160];
    int64_t size[TN_MAX_DIMS];
    tni_shape s;
    bool fits;
    /* A size that was unknown is the masks' count by now. */
    for (int i = 0; i < p->ndim; i++) size[i] = p->size[i] == TN_UNKNOWN ? count : p->size[i];
    s.ndim = p->ndim;
    memcpy(s.size, size, sizeof(int64_t) * (size_t)p->ndim);
    fits = tni_broadcast(&s, values->ndim, values->size) && s.ndim == p->ndim;
    for (int i = 0; fits && i < s.ndim; i++) fits = s.size[i] == size[i];
    return fits || tn_fail(f, TN_INVALID,
                           "shape mismatch: value tensor of shape %s cannot be broadcast to "
                           "indexing result of shape %s",
                           tni_shape_text(has, sizeof has, values->ndim, values->size),
                           tni_shape_text(wants, sizeof wants, p->ndim, size));
}

/* --- numbers, dtypes -------------------------------------------------------------------------- */

TN_API void tn_scalar_element(tn_scalar s, tn_dtype dtype, void *to) {
    tni_element_set(to, (int)dtype, tni_exact(s));
}

TN_API tn_dtype tn_operands_dtype(const tn_frame *f, tn_tensor *const *t, int n) {
    return tni_result_type(f->block, t, n, false);
}

/* --- draws ------------------------------------------------------------------------------------ */

TN_API tn_draw tn_draw_next(const tn_frame *f) {
    tn_draw d;
    d.seed = f->generator->seed;
    d.number = f->generator->draws++;
    return d;
}

/* --- products --------------------------------------------------------------------------------- */

typedef char plan_blocks_agree[(int)TN_PRODUCT_BLOCK == (int)TNI_K_BLOCK ? 1 : -1];

TN_API void tn_product_plan_of(tn_product_plan *p, const tn_tensor *a, const tn_tensor *b,
                               bool turned) {
    int64_t dims[4];
    tn_tensor t;
    if (turned) tni_matmul_turned(&t, b, dims);
    if (!tni_matmul_plan_of(p, a, turned ? &t : b)) memset(p, 0, sizeof *p);
}
