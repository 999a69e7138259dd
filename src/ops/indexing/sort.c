/* sort.c - sort, argsort, topk along one dimension: stable, NaN the largest, the same order for
 * any number of threads.
 *
 * Elements become 64-bit keys that compare as unsigned numbers; (key, place) pairs are merged from
 * sorted runs (Knuth, The Art of Computer Programming 3, 5.2.4). A descending order has the keys'
 * bits inverted, so equal elements keep their order there as well.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "sort.h"
#include "../../call/arguments.h"
#include "../../cpu/walk.h"
#include "../../kernels/kernels.h"
#include "../shape/copy.h"
#include "../shape/geometry.h"
#include "../../api/ops/indexing.h"
#include "../../call/rowform.h"

enum {
    SORT_RUN = 12,      /* elements that insertion sorts faster than merges do */
    SORT_POLL = 0xffff, /* a mask: requests to stop are polled each 65536 elements */
};

/* A key for the bits v of a float of `bits` bits: all NaN above infinity, the zeros equal. Floats
 * of one sign order as their bits without it; negative ones count down from the middle. */
static uint64_t sort_float(uint64_t v, int bits, uint64_t infinity) {
    uint64_t sign = UINT64_C(1) << (bits - 1), size = v & (sign - 1);
    if (size > infinity) return TNI_SORT_NAN;
    return v & sign && size ? sign - size : sign + size;
}
/* Integers: the sign bit is flipped, so that negative numbers come first among unsigned ones. */
static uint64_t sort_key(const char *at, int dtype) {
    const uint64_t v = tni_is_float(dtype) ? tni_bits_at(at, tni_dtype(dtype)->bytes) : 0;
    switch (dtype) {
    case TN_F32: return sort_float(v, 32, UINT64_C(0x7f800000));
    case TN_F64: return sort_float(v, 64, UINT64_C(0x7ff0000000000000));
    case TN_F16: return sort_float(v, 16, 0x7c00);
    case TN_BF16: return sort_float(v, 16, 0x7f80);
    default:
        return (uint64_t)tni_element(at, dtype).integer ^
               (tni_dtype(dtype)->is_signed ? UINT64_C(1) << 63 : 0);
    }
}

TN_PRIV bool tni_sort_keys(tni_sort_pair *p, const char *from, int64_t step, int64_t n, int dtype) {
    for (int64_t i = 0; i < n; i++) {
        if (!(i & SORT_POLL) && tni_stopped()) return false;
        p[i].key = sort_key(from + i * step, dtype);
        p[i].place = i;
    }
    return true;
}

/* The order of pairs. No two are equal, since places differ, so every sort by it is stable. */
static bool sort_before(tni_sort_pair a, tni_sort_pair b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
}

/* Sorts each run of SORT_RUN pairs by insertion. */
static void sort_runs(tni_sort_pair *p, int64_t n) {
    for (int64_t run = 0, since = 0; run < n; run += SORT_RUN, since += SORT_RUN) {
        int64_t end = run + SORT_RUN < n ? run + SORT_RUN : n;
        if (run == 0 || since > SORT_POLL) {
            since = 0;
            if (tni_stopped()) return;
        }
        /* Pairs that come after x move up by one place. */
        for (int64_t i = run + 1; i < end; i++) {
            tni_sort_pair x = p[i];
            int64_t k = i;
            for (; k > run && sort_before(x, p[k - 1]); k--) p[k] = p[k - 1];
            p[k] = x;
        }
    }
}
/* Sorts n pairs at p by merging runs of doubling width to and fro between p and room, which has as
 * many places. Returns where they lie at last. A call that is to stop leaves them as they are. */
TN_PRIV tni_sort_pair *tni_sort_pairs(tni_sort_pair *p, tni_sort_pair *room, int64_t n) {
    sort_runs(p, n);
    for (int64_t width = SORT_RUN; width < n; width *= 2) {
        for (int64_t low = 0; low < n; low += 2 * width) {
            if (tni_stopped()) return p;
            /* p[low..mid) and p[mid..high) are sorted; the last ones may be short or empty. */
            int64_t mid = low + width < n ? low + width : n,
                    high = mid + width < n ? mid + width : n;
            int64_t i = low, k = mid, to = low;
            if (mid == high || sort_before(p[mid - 1], p[mid])) { /* in order already */
                TNI_PATH(sort_in_order);
                memcpy(room + low, p + low, (size_t)(high - low) * sizeof *p);
                continue;
            }
            TNI_PATH(sort_merge);
            while (i < mid && k < high) {
                room[to++] = sort_before(p[k], p[i]) ? p[k++] : p[i++];
                if (!(to & SORT_POLL) && tni_stopped()) return p;
            }
            while (i < mid) room[to++] = p[i++];
            while (k < high) room[to++] = p[k++];
        }
        tni_sort_pair *other = p;
        p = room;
        room = other;
    }
    return p;
}

/* Moves the k smallest of n pairs to the front, in any order: Hoare's FIND (CACM 4,
 * 1961, algorithm 65). */
TN_PRIV void tni_sort_select(tni_sort_pair *p, int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    TNI_PATH(sort_select);
    while (low < high && !tni_stopped()) {
        tni_sort_pair a = p[low], c = p[low + (high - low) / 2], d = p[high], middle;
        int64_t i = low, j = high;
        /* The median of first, middle and last one parts the rest, so sorted input
         * falls into halves. */
        if (sort_before(c, a))
            middle = sort_before(a, d) ? a : sort_before(c, d) ? d : c;
        else
            middle = sort_before(c, d) ? c : sort_before(a, d) ? d : a;
        /* Smaller ones to the left of i, larger ones to the right of j. */
        while (i <= j) {
            while (sort_before(p[i], middle)) i++;
            while (sort_before(middle, p[j])) j--;
            if (i > j) break;
            tni_sort_pair x = p[i];
            p[i++] = p[j];
            p[j--] = x;
        }
        /* Goes on in the part in which the k smallest end; between i and j they are done. */
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}

/* --- lanes ------------------------------------------------------------------------------------ */

/* The length of a lane: elements along d; a 0-dim tensor is a lane of one. */
static int64_t sort_size(const tn_tensor *t, int d) { return t->ndim ? t->size[d] : 1; }

/* self, values and indices without dimension d, to walk over the lanes. */
typedef struct sort_lanes {
    tni_walk w;
    tn_tensor head[3];
    int64_t size[TN_MAX_DIMS], stride[3][TN_MAX_DIMS], step[3];
} sort_lanes;
/* Fills l: step[k] is the bytes between a lane's elements in tensor k (self, values, indices). */
static void sort_lanes_of(sort_lanes *l, tn_tensor *self, tn_tensor *values, tn_tensor *indices,
                          int d) {
    tn_tensor *all[3];
    const tn_tensor *head[3];
    int n = 0;
    all[0] = self;
    all[1] = values;
    all[2] = indices;
    for (int k = 0; k < 3; k++) {
        n = 0;
        for (int i = 0; i < self->ndim; i++)
            if (i != d) {
                l->size[n] = self->size[i];
                l->stride[k][n++] = all[k]->stride[i];
            }
        /* A header of tensor k without dimension d, whose elements are the first ones
         * of the lanes. */
        tni_stack_view(&l->head[k], all[k], n, l->size, l->stride[k], all[k]->offset);
        l->step[k] = self->ndim ? all[k]->stride[d] * tni_dtype_size(all[k]) : 0;
        head[k] = &l->head[k];
    }
    tni_walk_start(&l->w, n, l->size, head, 3);
}

/* Writes the first k of the sorted pairs of a lane: the elements, which lie at
 * `from`, and places. */
static void sort_write(const sort_lanes *l, const tni_sort_pair *p, int64_t k, char *values,
                       char *indices, const char *from, int64_t bytes) {
    for (int64_t i = 0; i < k && ((i & SORT_POLL) || !tni_stopped()); i++) {
        tni_move_one(values + i * l->step[1], from + p[i].place * l->step[0], bytes);
        memcpy(indices + i * l->step[2], &p[i].place, sizeof p[i].place);
    }
}

/* The first k places of each lane. all: the lane is sorted whole; else its k smallest are chosen
 * and then, if wanted, sorted. */
static void sort_run_lanes(tn_frame *f, int d, int64_t k, bool descending, bool all, bool ordered) {
    tn_tensor *self = f->in[0];
    int64_t n = sort_size(self, d), bytes = tni_dtype_size(self);
    uint64_t turn = descending ? ~UINT64_C(0) : 0;
    tni_sort_pair *p = (tni_sort_pair *)f->scratch, *room = p ? p + n : NULL;
    sort_lanes l;
    if (f->out[0]->numel == 0) return;
    sort_lanes_of(&l, self, f->out[0], f->out[1], d);
    /* A lane after the other, each through the same scratch. */
    for (int64_t r = 0; r < l.w.rows; r++, tni_walk_next(&l.w)) {
        for (int64_t i = 0; i < l.w.n; i++) {
            const char *from = l.w.at[0] + i * l.w.row[0];
            tni_sort_pair *sorted = p;
            /* The lane's elements as keys; a descending order sorts their complements. */
            for (int64_t j = 0; j < n; j++) {
                if (!(j & SORT_POLL) && tni_stopped()) return;
                p[j].key = sort_key(from + j * l.step[0], self->dtype) ^ turn;
                p[j].place = j;
            }
            /* topk needs only the first k in order. */
            if (!all && k < n) tni_sort_select(p, n, k);
            if (all || ordered) sorted = tni_sort_pairs(p, room, all ? n : k);
            sort_write(&l, sorted, k, l.w.at[1] + i * l.w.row[1], l.w.at[2] + i * l.w.row[2], from,
                       bytes);
        }
    }
}

/* What all rows here check; asks for two lanes of pairs as scratch, to merge to and fro. */
static bool sort_arguments(tn_frame *f, int64_t dim, const char *name) {
    tn_tensor *self = f->in[0];
    TN_NOTE(tni_dim_note, note, f);
    if (tni_is_complex(self->dtype))
        return tn_fail(f, TN_TYPE, "%s(): complex numbers cannot be ordered", name);
    if (!tni_dtype(self->dtype)->computes)
        return tn_fail(f, TN_TYPE, "\"%s\" not implemented for '%s'", name,
                       tni_dtype(self->dtype)->text);
    if (!tni_dim_of(f, self->ndim, dim, &note->dim)) return false;
    return tn_scratch(f, sort_size(self, note->dim), 2 * (int64_t)sizeof(tni_sort_pair));
}
/* The gradient of values goes back to the places they came from; result 1 says which. */
static void sort_give(tn_gradient *g, int64_t dim) {
    tn_tensor *d = g->incoming[0], *z = d ? tni_zeros_of(d, g->in[0]->ndim, g->in[0]->size) : NULL;
    if (z) tn_give(g, 0, tnp_scatter(z, dim, g->out[1], d));
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool sort_check(tn_frame *f) {
    TN_ARGS(sort, a, f);
    tn_tensor *self = f->in[0];
    tni_shape s;
    if (!sort_arguments(f, a->dim, "sort")) return false;
    /* As torch, the results keep self's order of dimensions. */
    tni_copy_strides(&s, self);
    return tn_announce_strided(f, 0, (tn_dtype)self->dtype, s.ndim, s.size, s.stride) &&
           tn_announce_strided(f, 1, TN_I64, s.ndim, s.size, s.stride);
}
static void sort_run(tn_frame *f) {
    TN_ARGS(sort, a, f);
    TN_NOTE(tni_dim_note, note, f);
    sort_run_lanes(f, note->dim, sort_size(f->in[0], note->dim), a->descending, true, true);
}
static void sort_grad(tn_gradient *g) {
    TN_ARGS(sort, a, g);
    sort_give(g, a->dim);
}
/* The elements sorted along dim, and the index of each before. Stable: equal elements keep their
 * order. NaN counts as the largest. */
TN_OPERATOR(
    sort, "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    TN_DOC(.shapes = "self (*) -> values, indices (*)",
           .example = "tn_values_indices s = tn_sort(x, .descending = true);",
           .differs = "result 1: torch's order of equal elements is not stable | grad at ties: as "
                      "its order, of 300 elements"),
    .forms = TN_OUT | TN_LEADING, .needs = "self:indices", .check = sort_check, .run = sort_run,
    .grad = sort_grad,
    .sample = "(7) | (3,5) 0 | (2,3,4) dim=1 descending=True | () | (0,3) | (40):i64<5 | (300) -1 "
              "True | (9):bool | (6):f16 | (5):u8<3")

static bool argsort_compose(tn_frame *f) {
    TN_ARGS(argsort, a, f);
    f->out[0] = tnp_sort(f->in[0], a->dim, a->descending).indices;
    return f->out[0] != NULL;
}
/* The indices that sort self along dim. Stable: equal elements keep their order. */
TN_OPERATOR(argsort, "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*) int64", .example = "tn_argsort(x)",
                   .differs = "result 0: torch's order of equal elements is not stable"),
            .compose = argsort_compose,
            .sample = "(7) | (3,5) 0 | (2,3,4) dim=1 descending=True | () | (0,3) | (40):i64<5")

static bool topk_check(tn_frame *f) {
    TN_ARGS(topk, a, f);
    tn_tensor *self = f->in[0];
    int64_t size[TN_MAX_DIMS];
    TN_NOTE(tni_dim_note, note, f);
    if (!sort_arguments(f, a->dim, "topk")) return false;
    if (a->k < 0 || a->k > sort_size(self, note->dim))
        return tn_fail(f, TN_INVALID, "selected index k out of range");
    /* self's shape with k places along dim, row-major. */
    memcpy(size, self->size, sizeof(int64_t) * (size_t)self->ndim);
    if (self->ndim) size[note->dim] = a->k;
    return tn_announce(f, 0, (tn_dtype)self->dtype, self->ndim, size) &&
           tn_announce(f, 1, TN_I64, self->ndim, size);
}
/* The k largest come first in a descending order; whether they are sorted is
 * the caller's choice. */
static void topk_run(tn_frame *f) {
    TN_ARGS(topk, a, f);
    TN_NOTE(tni_dim_note, note, f);
    const int64_t k = f->in[0]->ndim ? a->k : 1;
    sort_run_lanes(f, note->dim, k, a->largest, false, a->sorted);
}
static void topk_grad(tn_gradient *g) {
    TN_ARGS(topk, a, g);
    sort_give(g, a->dim);
}
/* The k largest (or smallest) elements along dim and their indices, sorted if sorted is true. Among
 * equal elements the first ones are taken. */
TN_OPERATOR(topk,
            "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor "
            "values, Tensor indices)",
            TN_DOC(.shapes = "self (.., n, ..) -> values, indices (.., k, ..)",
                   .example = "tn_values_indices best = tn_topk(x, 5);",
                   .differs = "result 1: torch's choice among equal elements is not stable | grad "
                              "at ties: as its choice"),
            .forms = TN_OUT | TN_LEADING, .needs = "self:indices", .check = topk_check,
            .run = topk_run, .grad = topk_grad,
            .sample = "(7) 3 | (3,5) 2 0 | (2,3,4) 2 dim=1 largest=False | () 1 | (4) 0 | (4) 4 | "
                      "(200) 5 | (200):f32 20 | (6):i64 2")
