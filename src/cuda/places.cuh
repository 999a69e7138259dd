/* places.cuh - what rows with index tensors share: walks over dimensions that the row chooses, and
 * tables of places, in bytes from a tensor's first element, by tensors of indices and masks. */
#ifndef TNC_CUDA_PLACES_CUH
#define TNC_CUDA_PLACES_CUH

#include "elements.cuh"
#include "fault.cuh"

/* --- walks ------------------------------------------------------------------------------------ */

/* A walk over dimensions that are added from the outermost to the innermost, with the steps of up
 * to four operands in bytes; neighbours that lie alike in all become one. */
static inline void tnc_plan_begin(tn_walk_plan *p, int n) {
    memset(p, 0, sizeof *p);
    p->n = n;
    p->ndim = 1;
    p->numel = p->size[0] = 1;
}
static inline void tnc_plan_within(tn_walk_plan *p, int64_t size, int64_t a, int64_t b, int64_t c,
                                   int64_t d = 0) {
    const int64_t step[4] = {a, b, c, d};
    const bool first = p->size[0] == 1;
    bool joins = true;
    p->numel *= size;
    if (size == 1) return;
    for (int k = 0; k < p->n; k++) joins = joins && p->stride[k][0] == size * step[k];
    if (!first && !joins) {
        for (int i = p->ndim++; i > 0; i--) {
            p->size[i] = p->size[i - 1];
            for (int k = 0; k < p->n; k++) p->stride[k][i] = p->stride[k][i - 1];
        }
    }
    p->size[0] = !first && joins ? p->size[0] * size : size;
    for (int k = 0; k < p->n; k++) p->stride[k][0] = step[k];
}
/* For operands 0 and 1, which are only moved: the bytes of the largest unit, up to 16, in which
 * they can be. All their places must be multiples of it, and `step`, whose multiples are added to
 * them. The innermost dimension then counts units. */
static inline int tnc_plan_widen(tn_walk_plan *p, int bytes, int64_t step) {
    int unit = 16;
    for (int k = 0; k < 2; k++)
        if (p->stride[k][0] != bytes) return bytes;
    if (p->stride[2][0]) return bytes;
    for (; unit > bytes; unit /= 2) {
        bool fits = p->size[0] * bytes % unit == 0 && step % unit == 0;
        for (int k = 0; k < 2; k++) {
            fits = fits && (uintptr_t)p->at[k] % (uintptr_t)unit == 0;
            for (int d = 1; d < p->ndim; d++) fits = fits && p->stride[k][d] % unit == 0;
        }
        if (!fits) continue;
        p->size[0] = p->size[0] * bytes / unit;
        p->numel = p->numel * bytes / unit;
        p->stride[0][0] = p->stride[1][0] = unit;
        return unit;
    }
    return bytes;
}

/* A walk of any number of elements for kernels that number them across blocks. */
template <int operands>
struct tnc_far {
    int64_t n;
    int32_t ndim;
    bool near; /* 32-bit numbers reach all */
    int64_t size[TN_MAX_DIMS], step[operands][TN_MAX_DIMS];
};
template <int operands>
static inline tnc_far<operands> tnc_far_of(const tn_walk_plan &p) {
    tnc_far<operands> w;
    memset(&w, 0, sizeof w);
    w.n = p.numel;
    w.ndim = p.ndim;
    w.near = p.numel <= UINT32_MAX;
    for (int d = 0; d < p.ndim; d++) {
        w.size[d] = p.size[d];
        for (int k = 0; k < operands && k < p.n; k++) w.step[k][d] = p.stride[k][d];
    }
    return w;
}
template <int operands>
TNC_FN void tnc_far_to(const tnc_far<operands> &w, int64_t i, int64_t *at) {
    for (int k = 0; k < operands; k++) at[k] = 0;
    for (int d = 0; d < w.ndim; d++) {
        int64_t q = 0, r = i;
        if (d + 1 < w.ndim) {
            q = w.near ? (int64_t)((uint32_t)i / (uint32_t)w.size[d]) : i / w.size[d];
            r = i - q * w.size[d];
        }
        for (int k = 0; k < operands; k++) at[k] += r * w.step[k][d];
        i = q;
    }
}

/* --- reading what is on the device, in look --------------------------------------------------- */

/* Waits, then has `bytes` from the device. False with an error. */
TNC_PRIV bool tnc_look_at(tn_frame *f, void *to, const void *from, int64_t bytes);

/* --- tables of places ------------------------------------------------------------------------- */

/* A tensor of indices, walked beside the table. */
struct tnc_indices {
    int64_t step;       /* bytes from one index to the next */
    int64_t low, bound; /* those in low..bound - 1 are right; negative ones count from the end */
    int64_t skip;       /* of this index the place is -1, too; INT64_MIN: of none */
    const char *base;   /* what places count from; operand 2 walks from it */
    tnc_watch watch;
    uint8_t dtype;
    bool marks; /* the place of a wrong index is -1; else it is read as 0 */
    bool adds;  /* to what is there, if that is not negative */
};
/* Operand 0: the table, int64; 1: the indices; 2: addresses that places begin with. */
TNC_PRIV void tnc_place_indices(cudaStream_t s, const tn_walk_plan &p, const tnc_indices &x);

/* The table of a call of index or index_put: of each place in the index shape, row-major, where it
 * lies in t, self or the result. `room`: tnc_table_bytes behind the table. */
struct tnc_table {
    int64_t *at;
    int64_t n;
};
/* The number of places, once masks are counted; sets the plan's sizes that were unknown. */
TNC_PRIV int64_t tnc_table_size(tn_index_plan *p, int64_t count);
/* Bytes of the table and what masks need to make it. False: too many. */
TNC_PRIV bool tnc_table_bytes(const tn_index_plan *p, int64_t n, int64_t *bytes);
TNC_PRIV void tnc_table_run(tn_frame *f, const tn_operand &t, tn_tensor *const *index, int n,
                            const tn_index_plan *p, const tnc_table &table, bool marks);
/* For look: counts masks, which waits; the same errors as on the CPU. */
TNC_PRIV bool tnc_table_look(tn_frame *f, tn_tensor *const *index, int n, const tn_index_plan *p,
                             int64_t *count);
/* Bool and uint8. */
static inline bool tnc_is_mask(const tn_tensor *t) {
    return tn_dtype_of(t) == TN_BOOL || tn_dtype_of(t) == TN_U8;
}

/* The number of dimension dim of ndim; a 0-dim tensor counts as one of 1. */
static inline int tnc_dim(int64_t dim, int ndim) {
    return (int)(dim < 0 ? dim + (ndim ? ndim : 1) : dim);
}

/* Calls a macro with the type of elements of so many bytes that are only moved. */
#define TNC_MOVED(bytes, X)      \
    switch (bytes) {             \
    case 1: X(uint8_t); break;   \
    case 2: X(uint16_t); break;  \
    case 4: X(uint32_t); break;  \
    case 8: X(uint64_t); break;  \
    default: X(tnc_pair); break; \
    }

#endif
