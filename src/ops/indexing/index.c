/* index.c - elements chosen by tensors of indices and masks: index, index_put, nonzero.
 *
 * If an index occurs twice, additions happen in the order of the index, and the later of two writes
 * stays. look checks all ranges before the first write. */
#include "../../api/ops/creation.h"
#include "../../api/ops/shape.h"
#include "index.h"
#include "../shape/copy.h"
#include "../../cpu/walk.h"
#include "../../kernels/kernels.h"
#include "../shape/copy.h"
#include "../shape/geometry.h"
#include "../../api/ops/indexing.h"
#include "../../call/whole.h"

/* --- shared ----------------------------------------------------------------------------------- */

TN_PRIV bool tni_index_dtype(tn_frame *f, const tn_tensor *index, const char *name) {
    return tni_is_index(index) ||
           tn_fail(f, TN_TYPE, "%s(): Expected dtype int32 or int64 for index, got %s", name,
                   tni_dtype(index->dtype)->text);
}

TN_PRIV bool tni_index_range(tn_frame *f, const tn_tensor *index, int64_t low, int64_t size,
                             int d) {
    return tni_index_range_or(f, index, low, size, d, TN_INDEX);
}
TN_PRIV bool tni_index_range_or(tn_frame *f, const tn_tensor *index, int64_t low, int64_t size,
                                int d, tn_code code) {
    tni_walk w;
    if (index->numel == 0) return true;
    /* All indices are read before anything is written, so a failed call has changed nothing. */
    tni_walk_start(&w, index->ndim, index->size, &index, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            int64_t v = tni_index_at(w.at[0] + i * w.row[0], index->dtype);
            if (size == 0)
                return tn_fail(f, code,
                               "index %lld is out of bounds for dimension with size 0, number %d",
                               (long long)v, d);
            if (v < low || v >= size)
                return tn_fail(f, code,
                               "index %lld is out of bounds for dimension %d with size %lld",
                               (long long)v, d, (long long)size);
        }
    return true;
}

TN_PRIV bool tni_true_at(const char *at, int dtype) {
    int64_t bytes = tni_dtype(dtype)->bytes;
    /* True if either part is not zero. */
    if (tni_is_complex(dtype))
        return tni_is_true(at, bytes / 2, true) || tni_is_true(at + bytes / 2, bytes / 2, true);
    return tni_is_true(at, bytes, tni_is_float(dtype));
}

TN_PRIV int64_t tni_count_true(const tn_tensor *t, int ndim, const int64_t *size) {
    int64_t count = 0;
    int dtype = t->dtype;
    tni_walk w;
    if (t->numel == 0) return 0;
    tni_walk_start(&w, ndim, size, &t, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w)) {
        /* Bytes alone: a loop that the compiler turns into vector code. */
        if (dtype == TN_BOOL)
            for (int64_t i = 0; i < w.n; i++) count += w.at[0][i * w.row[0]] != 0;
        else
            for (int64_t i = 0; i < w.n; i++) count += tni_true_at(w.at[0] + i * w.row[0], dtype);
    }
    return count;
}

#define INDEX_ADD_STEPS(T, a, b)              \
    for (int64_t i = 0; i < n; i++) {         \
        T x, y;                               \
        memcpy(&x, to + i * (a), sizeof x);   \
        memcpy(&y, from + i * (b), sizeof y); \
        x = (T)(x + y);                       \
        memcpy(to + i * (a), &x, sizeof x);   \
    }
#define INDEX_ADD(T) /* dense rows apart: known steps become vector code */ \
    if (to_step == (int64_t)sizeof(T) && from_step == (int64_t)sizeof(T)) { \
        TNI_PATH(add_row_dense);                                            \
        INDEX_ADD_STEPS(T, (int64_t)sizeof(T), (int64_t)sizeof(T))          \
    } else {                                                                \
        TNI_PATH(add_row_steps);                                            \
        INDEX_ADD_STEPS(T, to_step, from_step)                              \
    }                                                                       \
    return
#define INDEX_ADD_HALF(widen, narrow)               \
    for (int64_t i = 0; i < n; i++) {               \
        uint16_t x, y;                              \
        memcpy(&x, to + i * to_step, sizeof x);     \
        memcpy(&y, from + i * from_step, sizeof y); \
        x = narrow(widen(x) + widen(y));            \
        memcpy(to + i * to_step, &x, sizeof x);     \
    }                                               \
    return

TN_PRIV void tni_add_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                         int dtype) {
    switch (dtype) {
    case TN_F32: INDEX_ADD(float);
    case TN_F64: INDEX_ADD(double);
    case TN_U8: INDEX_ADD(uint8_t);
    case TN_I8:  /* as their unsigned twins, which wrap; signed overflow is undefined */
    case TN_I16: /* fall through */
        if (dtype == TN_I8) {
            INDEX_ADD(uint8_t);
        } else {
            INDEX_ADD(uint16_t);
        }
    case TN_I32: INDEX_ADD(uint32_t);
    case TN_I64: INDEX_ADD(uint64_t);
    case TN_F16: INDEX_ADD_HALF(tni_f16_to_f32, tni_f32_to_f16);
    case TN_BF16: INDEX_ADD_HALF(tni_bf16_to_f32, tni_f32_to_bf16);
    case TN_C64:
    case TN_C128: {
        /* Real parts, then imaginary ones, which lie `bytes` behind them. */
        int part = (int)tni_real_of(dtype);
        int64_t bytes = tni_dtype(part)->bytes;
        tni_add_row(to, to_step, from, from_step, n, part);
        tni_add_row(to + bytes, to_step, from + bytes, from_step, n, part);
        return;
    }
    case TN_BOOL:
        /* For bool addition is "or", as torch. */
        for (int64_t i = 0; i < n; i++)
            to[i * to_step] = (char)(to[i * to_step] || from[i * from_step]);
        return;
    default: return;
    }
}
#undef INDEX_ADD
#undef INDEX_ADD_STEPS
#undef INDEX_ADD_HALF

/* --- the plan of index and index_put: tn_index_plan_of ---------------------------------------- */

/* Room for the offsets of all places, and for those of the largest mask. */
static bool index_scratch(tn_frame *f, const tn_index_plan *p) {
    return tn_scratch(f, p->max_places, (int64_t)sizeof(int64_t)) &&
           tn_scratch(f, p->masks, (int64_t)sizeof(int64_t));
}

/* Counts the masks' true elements and checks ranges. *count is the size that the masks have in the
 * broadcast shape. */
static bool index_look(tn_frame *f, const tn_tensor *self, tn_tensor *const *index, int n,
                       const tn_index_plan *p, int64_t *count) {
    int at = 0;
    *count = 1;
    for (int i = 0; i < n; i++) {
        const tn_tensor *t = index[i];
        if (t && tni_index_is_mask(t)) {
            int64_t found = tni_count_true(t, t->ndim, t->size);
            if (tn_cancelled(f)) return false; /* not all were counted */
            if (!tn_index_mask(f, p, found, count)) return false;
            at += t->ndim;
        } else {
            /* an empty result reads nothing, but torch checks all the same */
            if (t && !tni_index_range(f, t, -self->size[at], self->size[at], at)) return false;
            at++;
        }
    }
    return true;
}

/* Counts the masks of a call on the device meta, where no look follows, if all lie on the CPU. */
static bool index_meta(tn_frame *f, tn_tensor *const *index, int n, tn_index_plan *p) {
    int64_t count = 1;
    for (int i = 0; i < n; i++) {
        const tn_tensor *t = index[i];
        if (!t || !tni_index_is_mask(t)) continue;
        if (t->device != TN_CPU) return true;
        if (!tn_index_mask(f, p, tni_count_true(t, t->ndim, t->size), &count)) return false;
    }
    for (int d = 0; d < p->ndim; d++)
        if (p->size[d] == TN_UNKNOWN) p->size[d] = count;
    return true;
}

/* Adds to offset[b] what a mask contributes: the bytes from self's first element to each true
 * place. self's dimensions from `at` on are the mask's, which is bool or uint8; its last dimension
 * is the inner loop. last_size is the last one of the index shape, along which the true places
 * count. room holds the offsets found. */
static void index_add_mask(const tn_tensor *self, int at, const tn_tensor *mask, int64_t *offset,
                           int64_t places, int64_t last_size, int64_t *room) {
    TNI_PATH(index_mask);
    int64_t found = 0, index[TN_MAX_DIMS] = {0}, bytes = tni_dtype_size(self), in_mask = 0,
            in_self = 0;
    int inner = mask->ndim - 1;
    for (int64_t row = 0; mask->numel && row < mask->numel / mask->size[inner]; row++) {
        const char *m = tni_bytes_at(mask) + in_mask;
        for (int64_t i = 0; i < mask->size[inner]; i++)
            if (m[i * mask->stride[inner]])
                room[found++] = (in_self + i * self->stride[at + inner]) * bytes;
        for (int d = inner - 1; d >= 0; d--) {
            in_mask += mask->stride[d];
            in_self += self->stride[at + d];
            if (++index[d] < mask->size[d]) break;
            in_mask -= mask->stride[d] * mask->size[d];
            in_self -= self->stride[at + d] * mask->size[d];
            index[d] = 0;
        }
    }
    /* Place b counts row-major over the index shape, so b % last_size is its place along the
     * masks. */
    for (int64_t b = 0; b < places; b++) offset[b] += room[found == 1 ? 0 : b % last_size];
}

/* Sets offset[b] to the bytes from self's first element to the element that place b of the indices
 * names. Returns the number of places. */
static int64_t index_offsets(const tn_tensor *self, tn_tensor *const *index, int n,
                             tn_index_plan *p, int64_t count, int64_t *offset) {
    int64_t places = 1, *room, last_size;
    int at = 0;
    /* The second scratch, of the largest mask: scratches begin at multiples of 64 bytes. */
    room = offset ? offset + (p->max_places + 7) / 8 * 8 : NULL;
    /* By now look has counted the masks. */
    if (p->index_ndim && p->index_size[p->index_ndim - 1] == TN_UNKNOWN)
        p->index_size[p->index_ndim - 1] = count;
    for (int i = 0; i < p->index_ndim; i++) places *= p->index_size[i];
    last_size = p->index_ndim ? p->index_size[p->index_ndim - 1] : 1;
    for (int64_t b = 0; b < places; b++) offset[b] = 0;
    if (places == 0) return 0;
    for (int i = 0; i < n; i++) {
        const tn_tensor *t = index[i];
        if (t && tni_index_is_mask(t)) {
            index_add_mask(self, at, t, offset, places, last_size, room);
            at += t->ndim;
            continue;
        }
        /* An index tensor is walked over the index shape: row-major, as b counts. */
        if (t) {
            int64_t step = self->stride[at] * tni_dtype_size(self), b = 0;
            tni_walk w;
            tni_walk_start(&w, p->index_ndim, p->index_size, &t, 1);
            for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
                for (int64_t k = 0; k < w.n; k++, b++) {
                    int64_t v = tni_index_at(w.at[0] + k * w.row[0], t->dtype);
                    offset[b] += (v < 0 ? v + self->size[at] : v) * step;
                }
        }
        at++;
    }
    return places;
}

/* What happens at each chosen place: elements are read from self, written, or added to it. */
typedef enum index_do { INDEX_GET, INDEX_SET, INDEX_SUM } index_do;

/* The innermost step: n elements of self, self_step bytes apart, are read into, written or summed
 * from `other`. A single element is common (every dimension indexed) and has a shorter way. */
static void index_run_row(index_do what, char *self, int64_t self_step, char *other,
                          int64_t other_step, int64_t n, int64_t bytes, int dtype) {
    /* Marks for coverage: which way was taken. */
    if (n == 1 && what != INDEX_SUM)
        TNI_PATH(index_one);
    else
        TNI_PATH(index_rows);
    /* self is read, or written from other, or other is added to it. */
    if (n == 1 && what == INDEX_GET)
        tni_move_one(other, self, bytes);
    else if (n == 1 && what == INDEX_SET)
        tni_move_one(self, other, bytes);
    else if (what == INDEX_GET)
        tni_move_row(other, other_step, self, self_step, n, bytes);
    else if (what == INDEX_SET)
        tni_move_row(self, self_step, other, other_step, n, bytes);
    else
        tni_add_row(self, self_step, other, other_step, n, dtype);
}

/* Carries elements between self, at the offsets, and other, which has the result's shape (p->size),
 * perhaps broadcast. Three loops: the leading dimensions that stay (head), the places of the
 * indices in order (at), the other dimensions (tail). */
static void index_run_all(index_do what, const tn_tensor *self, const tn_tensor *other,
                          const tn_index_plan *p, const int64_t *offset, int64_t places) {
    tn_tensor head[2], tail[2];
    int64_t size[TN_MAX_DIMS], stride[2][TN_MAX_DIMS], bytes = tni_dtype_size(self);
    const tn_tensor *pair[2];
    tn_tensor at;
    tni_walk w, v, o;
    /* head and tail: the dimensions that stay, before and behind those of the indices. Entry 0 of
     * each pair is self's, entry 1 other's. */
    for (int i = 0; i < p->kept; i++) {
        int in_other = i < p->place ? i : i + p->index_ndim;
        size[i] = self->size[p->keep[i]];
        stride[0][i] = self->stride[p->keep[i]];
        stride[1][i] = other->stride[in_other];
    }
    for (int k = 0; k < 2; k++) {
        const tn_tensor *t = k ? other : self;
        tni_stack_view(&head[k], t, p->place, size, stride[k], t->offset);
        tni_stack_view(&tail[k], t, p->kept - p->place, size + p->place, stride[k] + p->place,
                       t->offset);
    }
    pair[0] = &head[0];
    pair[1] = &head[1];
    tni_walk_start(&w, p->place, size, pair, 2);
    pair[0] = &tail[0];
    pair[1] = &tail[1];
    tni_walk_start(&v, p->kept - p->place, size + p->place, pair, 2);
    tni_stack_view(&at, other, p->index_ndim, p->index_size, other->stride + p->place,
                   other->offset);
    pair[0] = &at;
    /* The walks give addresses of first elements; as differences from the data's start
     * they add up. */
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            int64_t from = w.at[0] + i * w.row[0] - tni_bytes_at(self),
                    to = w.at[1] + i * w.row[1] - tni_bytes_at(other), b = 0;
            tni_walk_start(&o, p->index_ndim, p->index_size, pair, 1);
            for (int64_t q = 0; q < o.rows && b < places; q++, tni_walk_next(&o))
                for (int64_t k = 0; k < o.n; k++, b++) {
                    int64_t there = o.at[0] + k * o.row[0] - tni_bytes_at(other) + to;
                    /* a whole walk over v ends where it began */
                    for (int64_t s = 0; s < v.rows; s++, tni_walk_next(&v))
                        index_run_row(what, v.at[0] + from + offset[b], v.row[0], v.at[1] + there,
                                      v.row[1], v.n, bytes, self->dtype);
                }
        }
}

/* --- index ------------------------------------------------------------------------------------ */

/* The result's strides, as torch's: it iterates over self, with stride 0 along the indices, and
 * over the broadcast indices. Beyond four index tensors the further ones do not count. */
static void index_strides(const tn_tensor *self, tn_tensor *const *index, int n,
                          const tn_index_plan *p, tni_shape *s) {
    enum { MOST = 5 };
    tn_tensor views[MOST];
    const tn_tensor *operands[MOST];
    int64_t size[MOST][TN_MAX_DIMS], stride[MOST][TN_MAX_DIMS];
    int count = 0;
    for (int i = -1; i < n && count < MOST; i++) {
        const tn_tensor *t = i < 0 ? self : index[i];
        if (!t || tni_index_is_mask(t)) continue;
        /* d is a dimension of the result: `kept` its number among those that stay, `at` its number
         * in t, whose shape is aligned at its end with the index shape. */
        for (int d = 0; d < p->ndim; d++) {
            bool indexed = d >= p->place && d < p->place + p->index_ndim;
            int kept = d < p->place ? d : d - p->index_ndim,
                at = d - p->place - (p->index_ndim - t->ndim);
            size[count][d] = i < 0 || indexed ? p->size[d] : 1;
            stride[count][d] = i < 0 && !indexed ? self->stride[p->keep[kept]] : 0;
            if (i >= 0 && indexed && at >= 0 && t->size[at] == p->size[d])
                stride[count][d] = t->stride[at];
        }
        tni_stack_view(&views[count], t, p->ndim, size[count], stride[count], 0);
        operands[count] = &views[count];
        count++;
    }
    s->ndim = p->ndim;
    memcpy(s->size, p->size, sizeof(int64_t) * (size_t)p->ndim);
    tni_like_strides(s, operands, count);
}
static bool index_check(tn_frame *f) {
    tn_index_plan p;
    tni_shape s;
    if (!tn_index_plan_of(f, f->in[0], f->in + 1, f->nin - 1, &p) || !index_scratch(f, &p))
        return false;
    if (f->device == TN_META && !index_meta(f, f->in + 1, f->nin - 1, &p)) return false;
    /* A size that depends on a mask: the result is row-major. */
    for (int i = 0; i < p.ndim; i++)
        if (p.size[i] == TN_UNKNOWN)
            return tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, p.ndim, p.size);
    index_strides(f->in[0], f->in + 1, f->nin - 1, &p, &s);
    return tn_announce_strided(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size, s.stride);
}
static bool index_tensor_look(tn_frame *f) {
    tn_index_plan p;
    return tn_index_plan_of(f, f->in[0], f->in + 1, f->nin - 1, &p) &&
           index_look(f, f->in[0], f->in + 1, f->nin - 1, &p, &f->count);
}
static void index_run(tn_frame *f) {
    tn_tensor *self = f->in[0], *out = f->out[0];
    int64_t *offset = (int64_t *)f->scratch, places;
    tn_index_plan p;
    if (out->numel == 0 || !tn_index_plan_of(f, self, f->in + 1, f->nin - 1, &p)) return;
    /* First where the elements lie, then moving them. */
    places = index_offsets(self, f->in + 1, f->nin - 1, &p, f->count, offset);
    index_run_all(INDEX_GET, self, out, &p, offset, places);
}
/* Added where the elements came from: a place read twice gets both. */
static void index_grad(tn_gradient *g) {
    TN_ARGS(index, a, g);
    tn_tensor *d = g->incoming[0], *z = tni_zeros_of(d, g->in[0]->ndim, g->in[0]->size);
    if (z) tn_give(g, 0, tnp_index_put(z, a->indices, d, true));
}
/* Indices side by side from dimension 0 on, none of them a mask: of one table for all samples they
 * may be the samples', and of a table in each sample they are its own, numbered in front. */
static bool index_is_plain(const tn_frame *f) {
    for (int i = 1; i < f->nin; i++)
        if (!f->in[i] || !tni_is_int(f->in[i]->dtype) || f->in[i]->dtype == TN_U8) return false;
    return f->nin < TN_MAX_DIMS;
}
/* The samples' numbers beside indices of ndim dimensions. */
static tn_tensor *index_numbered(tn_tensor *t, int ndim) {
    for (int d = 0; t && d < ndim; d++) t = tnp_unsqueeze(t, -1);
    return t;
}
static tn_tensor *index_batched(tn_frame *f, tn_tensor *const *whole) {
    tn_tensor *at[TN_MAX_DIMS + 1];
    int ndim = 0, n = 0;
    bool any = false;
    for (int i = 1; i < f->nin; i++) any = any || whole[i];
    if (!index_is_plain(f)) return NULL;
    for (int i = 1; i < f->nin; i++) ndim = f->in[i]->ndim > ndim ? f->in[i]->ndim : ndim;
    if (whole[0]) {
        at[n] = any ? tnp_arange(tn_int(whole[0]->size[0]), TN_I64, whole[0]->device) : NULL;
        if (any) at[n] = index_numbered(at[n], ndim);
        if (any && !at[n]) return NULL;
        n++;
    }
    for (int i = 1; i < f->nin; i++) {
        at[n] = whole[i] ? tni_whole_align(whole[i], f->in[i]->ndim, ndim) : f->in[i];
        if (!at[n++]) return NULL;
    }
    return tnp_index(tni_whole_input(f, whole, 0), tn_tensors_of(at, n));
}
/* self[indices[0], indices[1], ..]. An index is int64 or int32 (negative numbers count from the
 * end), a bool mask, or NULL for a whole dimension. The indices broadcast. Their shape replaces the
 * indexed dimensions if these are neighbours; otherwise it comes first. */
TN_OPERATOR(
    index, "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    TN_DOC(.shapes =
               "self (5, 3), {(2)} -> (2, 3); {NULL, (4)} -> (5, 4); {(5, 3) bool} -> (true ones)",
           .example = "tn_index(x, TN_LIST(rows))"),
    .needs = "self:indices", .check = index_check, .look = index_tensor_look, .run = index_run,
    .grad = index_grad,
    .sample = "(5,3) {(2):i64<5} | (5,3) {None,(4):i64<3} | (5,3) {(4):i64<5,(4):i64<3} | (5,3,4) "
              "{(2,2):i64<5,None,(2):i64<4} | "
              "(5,3) {(5):bool} | (5,3) {(5,3):bool} | (3,4,2) {None,(4):bool} | (5,3) {():i64<5} "
              "| (4,3) {(0):i64<4} | "
              "(5,3):i64 {(2,1):i32<5,(3):i32<3} | (4,5) {(4):bool,(1):i64<5} | (0,3) {(0):bool}",
    .batched = TN_BATCHED(index_batched))

/* --- index_put -------------------------------------------------------------------------------- */

/* Whether the values fit on the device meta, where the size is known. */
static bool index_put_meta(tn_frame *f, tn_index_plan *p) {
    if (!index_meta(f, f->in + 2, f->nin - 2, p)) return false;
    for (int d = 0; d < p->ndim; d++)
        if (p->size[d] == TN_UNKNOWN) return true;
    return tn_index_values_fit(f, p, f->in[1], 1);
}
static bool index_put_check(tn_frame *f) {
    tn_tensor *self = f->in[0], *values = f->in[1];
    tn_index_plan p;
    tni_shape s;
    if (self->dtype != values->dtype)
        return tn_fail(f, TN_TYPE,
                       "Index put requires the source and destination dtypes match, got %s for the "
                       "destination and %s "
                       "for the source.",
                       tni_dtype(self->dtype)->text, tni_dtype(values->dtype)->text);
    /* The plan is made again in look and run: it is cheap and has no place to be kept. */
    if (!tn_index_plan_of(f, self, f->in + 2, f->nin - 2, &p) || !index_scratch(f, &p))
        return false;
    if (f->device == TN_META && !index_put_meta(f, &p)) return false;
    tni_copy_strides(&s, self);
    return tn_announce_strided(f, 0, (tn_dtype)self->dtype, s.ndim, s.size,
                               f->inplace ? self->stride : s.stride);
}
static bool index_put_look(tn_frame *f) {
    tn_index_plan p;
    return tn_index_plan_of(f, f->in[0], f->in + 2, f->nin - 2, &p) &&
           index_look(f, f->in[0], f->in + 2, f->nin - 2, &p, &f->count) &&
           tn_index_values_fit(f, &p, f->in[1], f->count);
}
static void index_put_run(tn_frame *f) {
    TN_ARGS(index_put, a, f);
    tn_tensor *self = f->in[0], *out = f->out[0], *values = f->in[1], wide;
    int64_t *offset = (int64_t *)f->scratch, places, size[TN_MAX_DIMS], stride[TN_MAX_DIMS];
    tn_index_plan p;
    if (out != self && self->numel) tni_copy_elements(f->block, out, self);
    /* The plan is made of self, the offsets of out, whose strides may differ. */
    if (out->numel == 0 || values->numel == 0 ||
        !tn_index_plan_of(f, self, f->in + 2, f->nin - 2, &p))
        return;
    places = index_offsets(out, f->in + 2, f->nin - 2, &p, f->count, offset);
    if (places == 0) return;
    /* values as the result's shape: stride 0 along the dimensions in which they broadcast. */
    for (int d = 0, more = p.ndim - values->ndim; d < p.ndim; d++) {
        size[d] = p.size[d] == TN_UNKNOWN ? f->count : p.size[d];
        stride[d] = d < more || (values->size[d - more] == 1 && size[d] != 1)
                        ? 0
                        : values->stride[d - more];
    }
    tni_stack_view(&wide, values, p.ndim, size, stride, values->offset);
    index_run_all(a->accumulate ? INDEX_SUM : INDEX_SET, out, &wide, &p, offset, places);
}
static void index_put_grad(tn_gradient *g) {
    TN_ARGS(index_put, a, g);
    tn_tensor *d = g->incoming[0], *zero;
    if (g->want[1]) tn_give(g, 1, tnp_index(d, a->indices));
    if (!g->want[0]) return;
    /* What was overwritten has no part in the result; what was added to has. */
    zero = a->accumulate ? NULL : tni_zeros_of(d, 0, d->size);
    if (a->accumulate)
        tn_give(g, 0, d);
    else if (zero)
        tn_give(g, 0, tnp_index_put(d, a->indices, zero, false));
}
/* A copy of self with self[indices] = values, or += values with accumulate, in the order of the
 * indices. values broadcast to the shape that index gives. */
TN_OPERATOR(
    index_put,
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    TN_DOC(.shapes = "self (5, 3), {(2)}, values broadcast to (2, 3) -> (5, 3)",
           .example = "tn_index_put_(x, TN_LIST(rows), v, .accumulate = true)"),
    .forms = TN_OUT | TN_INPLACE, .autocast = TN_WIDEST_CUDA,
    .needs = "self:indices values:indices", .check = index_put_check, .look = index_put_look,
    .run = index_put_run, .grad = index_put_grad,
    .sample = "(5,3) {(2):i64<5} (2,3) accumulate=True | (5,3) {(7):i64<5} (3) accumulate=True | "
              "(5,3) {(5,3):bool} () | "
              "(5,3) {None,(1):i64<3} (5,1) | (5,3) {(4):i64<5,(4):i64<3} (4) accumulate=True | "
              "(5,3) {(5):bool} (3) | "
              "(3,4,2) {(2):i64<3,None,(2):i64<2} (2,4) accumulate=True | (4) {(0):i64<4} (0)")

/* --- nonzero ---------------------------------------------------------------------------------- */

static bool nonzero_check(tn_frame *f) {
    int64_t size[2];
    if (f->ngiven && f->given[0]->dtype != TN_I64)
        return tn_fail(f, TN_TYPE, "Expected out tensor to have scalar type Long but got %s",
                       tni_dtype(f->given[0]->dtype)->text);
    size[0] = TN_UNKNOWN;
    size[1] = f->in[0]->ndim;
    /* torch's order: a vector of places for each dimension */
    return tn_announce_columns(f, 0, TN_I64, 2, size);
}
static bool nonzero_look(tn_frame *f) {
    const tn_tensor *self = f->in[0];
    f->count = tni_count_true(self, self->ndim, self->size);
    return true;
}
/* Writes the places of nonzero elements, the first `most`, in row-major order: coordinate d of
 * place k to to[k * row + d * column]. */
static void nonzero_write(const tn_tensor *self, int64_t *to, int64_t row, int64_t column,
                          int64_t most) {
    int64_t index[TN_MAX_DIMS] = {0}, bytes = tni_dtype_size(self), at = 0;
    const int last = self->ndim - 1;
    for (int64_t r = 0; r < self->numel / self->size[last] && most; r++) {
        const char *x = tni_bytes_at(self) + at * bytes;
        int64_t step = self->stride[last] * bytes;
        for (int64_t i = 0; i < self->size[last] && most; i++) {
            if (tni_stopped_at(i)) return;
            /* A bool needs no conversion. */
            if (self->dtype == TN_BOOL ? !x[i * step] : !tni_true_at(x + i * step, self->dtype))
                continue;
            for (int d = 0; d < last; d++) to[d * column] = index[d];
            to[last * column] = i;
            to += row;
            most--;
        }
        /* The next row of self: `at` moves along by strides, index by one. */
        for (int d = last - 1; d >= 0; d--) {
            at += self->stride[d];
            if (++index[d] < self->size[d]) break;
            at -= self->stride[d] * self->size[d];
            index[d] = 0;
        }
    }
}
static void nonzero_run(tn_frame *f) {
    tn_tensor *out = f->out[0];
    const int64_t n = out->size[0];
    if (out->numel) nonzero_write(f->in[0], (int64_t *)(void *)tni_bytes_at(out), 1, n, n);
}
/* The indices of all nonzero elements, one row for each, in row-major order. */
TN_OPERATOR(nonzero, "nonzero(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (n dimensions) -> (found, n) int64",
                   .example = "tn_nonzero(mask)"),
            .check = nonzero_check, .look = nonzero_look, .run = nonzero_run, .grad = tn_grad_zero,
            .sample = "(2,3):i64<2 | (7):bool | (2,3) | () | (0,2) | (2,2):c64")

static bool nonzero_static_check(tn_frame *f) {
    TN_ARGS(nonzero_static, a, f);
    int64_t size[2];
    if (a->size < 0)
        return tn_fail(f, TN_INVALID, "size must be a non-negative integer, but is %lld",
                       (long long)a->size);
    size[0] = a->size;
    size[1] = f->in[0]->ndim;
    return tn_announce(f, 0, TN_I64, 2, size);
}
static void nonzero_static_run(tn_frame *f) {
    TN_ARGS(nonzero_static, a, f);
    tn_tensor *self = f->in[0], *out = f->out[0];
    if (out->numel == 0) return;
    tni_fill(out, tn_int(a->fill_value));
    if (self->numel)
        nonzero_write(self, (int64_t *)(void *)tni_bytes_at(out), out->stride[0], out->stride[1],
                      out->size[0]);
}
/* The indices of the first `size` nonzero elements, one row for each, in row-major order; rows that
 * are left have fill_value. Its shape does not depend on data, as that of nonzero does. */
TN_OPERATOR(
    nonzero_static, "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
    TN_DOC(.shapes = "self (n dimensions) -> (size, n) int64",
           .example = "tn_nonzero_static(mask, 4)"),
    .forms = TN_OUT, .check = nonzero_static_check, .run = nonzero_static_run, .grad = tn_grad_zero,
    .sample = "(2,3):i64<2 size=2 | (7):bool size=9 | (2,3) size=5 fill_value=7 | () size=2 "
              "| (0,2) size=1 | (2,2):c64 size=0 | (35):bool size=3")
