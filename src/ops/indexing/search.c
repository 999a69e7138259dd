/* search.c - places of values among sorted boundaries, by bisection: searchsorted, bucketize.
 *
 * A value is compared with the boundary in the middle of what is left, as in torch, so boundaries
 * out of order give torch's places as well. No comparison with a NaN is true: a NaN lies behind all
 * boundaries, and a boundary that is NaN before all values. Elements are read where they lie, and
 * converted one at a time if their dtype is not the common one.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "index.h"
#include "../../cpu/drive.h"
#include "../../cpu/lanes.h"
#include "../../cpu/walk.h"
#include "../../kernels/kernels.h"
#include "../../api/ops/indexing.h"
#include "../../call/rowform.h"

enum { SEARCH_VALUES = 1024 }; /* of a task */

typedef struct search_note {
    int common; /* the dtype that values and edges are compared in */
} search_note;

typedef struct search_job {
    const tn_tensor *edges, *sorter; /* (*, n); sorter of this shape, or NULL */
    const char *values;              /* dense */
    char *to;
    int dtype, values_dtype; /* that of comparisons; of values in memory */
    int64_t n, each, count;  /* boundaries; values a row of them, and in all */
    bool right, narrow;      /* narrow: places are int32 */
} search_job;

/* Row-major row `row` of t's last dimension. */
static const char *search_row(const tn_tensor *t, int64_t row) {
    return tni_bytes_at(t) +
           tni_offset_of(t->ndim - 1, t->size, t->stride, row) * tni_dtype_size(t);
}

/* The element at `at`, of dtype `from`, in dtype `to`, a float or an integer; room is
 * memory for it. */
static const char *search_as(const char *at, int from, int to, char *room) {
    if (from == to) return at;
    tni_element_set(room, to, tni_element(at, from));
    return room;
}
/* The same as a double, which holds all floats, or as an int64_t. f32 and i64 are read without the
 * switch over dtypes that tni_element makes. */
static double search_real(const char *at, int from, int to) {
    char room[16];
    float v;
    at = search_as(at, from, to, room);
    if (to != TN_F32) return tni_element(at, to).real;
    memcpy(&v, at, sizeof v);
    return (double)v;
}
static int64_t search_integer(const char *at, int from, int to) {
    char room[16];
    int64_t v;
    at = search_as(at, from, to, room);
    if (to != TN_I64) return tni_element(at, to).integer;
    memcpy(&v, at, sizeof v);
    return v;
}

/* How many boundaries come before the value at `at`: those below it and, on the right side, those
 * equal to it. edge is a row of j->n boundaries; order the row of the sorter, which says where the
 * k-th smallest boundary lies, or NULL. */
#define SEARCH_PLACE(name, type, load)                                                          \
    static int64_t name(const search_job *j, const char *edge, const char *order,               \
                        const char *at) {                                                       \
        const int64_t step = j->edges->stride[j->edges->ndim - 1] * tni_dtype_size(j->edges);   \
        const type value = load(at, j->values_dtype, j->dtype);                                 \
        int64_t low = 0, high = j->n;                                                           \
        while (low < high) {                                                                    \
            int64_t middle = low + (high - low) / 2, k = middle;                                \
            if (order)                                                                          \
                memcpy(&k,                                                                      \
                       order + middle * j->sorter->stride[j->sorter->ndim - 1] * (int)sizeof k, \
                       sizeof k);                                                               \
            const type e = load(edge + k * step, j->edges->dtype, j->dtype);                    \
            if (j->right ? e > value : e >= value)                                              \
                high = middle;                                                                  \
            else                                                                                \
                low = middle + 1;                                                               \
        }                                                                                       \
        return low;                                                                             \
    }
SEARCH_PLACE(search_reals, double, search_real)
SEARCH_PLACE(search_integers, int64_t, search_integer)

/* Finds the places of values task * SEARCH_VALUES and on. */
static void search_task(void *arg, int64_t task) {
    const search_job *j = (const search_job *)arg;
    const int64_t bytes = tni_dtype(j->values_dtype)->bytes, first = task * SEARCH_VALUES,
                  end = j->count - first < SEARCH_VALUES ? j->count : first + SEARCH_VALUES;
    const char *edge = NULL, *order = NULL;
    for (int64_t i = first, row = -1; i < end; i++) {
        int64_t place;
        /* Values of one row of boundaries follow each other, so it is looked for at
         * their first one. */
        if (j->n && i / j->each != row) {
            row = i / j->each;
            edge = search_row(j->edges, row);
            order = j->sorter ? search_row(j->sorter, row) : NULL;
        }
        place = (tni_is_float(j->dtype) ? search_reals : search_integers)(j, edge, order,
                                                                          j->values + i * bytes);
        if (j->narrow) {
            const int32_t narrow = (int32_t)place;
            memcpy(j->to + i * (int)sizeof narrow, &narrow, sizeof narrow);
        } else
            memcpy(j->to + i * (int)sizeof place, &place, sizeof place);
    }
}

/* Shares the values out among threads, in tasks of SEARCH_VALUES. */
static void search_start(tn_frame *f, const tn_tensor *edges, const tn_tensor *values,
                         const tn_tensor *sorter, bool right) {
    char *room = (char *)f->scratch;
    int64_t work = 1;
    search_job j;
    TN_NOTE(search_note, note, f);
    if (!values->numel) return;
    j.edges = edges;
    j.sorter = sorter;
    j.values = tni_dense(f, values, &room);
    j.to = tni_bytes_at(f->out[0]);
    j.dtype = note->common;
    j.values_dtype = values->dtype;
    j.n = edges->size[edges->ndim - 1];
    j.count = values->numel;
    /* A vector of boundaries serves all values; a matrix has a row for each row of values. */
    j.each = edges->ndim > 1 ? values->size[values->ndim - 1] : j.count;
    j.right = right;
    j.narrow = f->out[0]->dtype == TN_I32;
    /* Comparisons for a value: about log2 of the boundaries. */
    for (int64_t n = j.n; n; n /= 2) work++;
    TNI_PATH(search);
    tni_lanes_spread(f->block->context, (j.count + SEARCH_VALUES - 1) / SEARCH_VALUES,
                     j.count * work, search_task, &j);
}

/* Whether values fit edges, (n) or (.., n): edges are a vector, or both have the same sizes
 * except the last. */
static bool search_shapes(tn_frame *f, const tn_tensor *edges, const tn_tensor *values) {
    char a[128], b[128];
    bool match = values->ndim == edges->ndim;
    if (!values->ndim && edges->ndim != 1)
        return tn_fail(f, TN_INVALID,
                       "torch.searchsorted(): input value can be a scalar only when boundaries "
                       "tensor dimension is 1, but we got boundaries tensor dim(%d)",
                       edges->ndim);
    if (!edges->ndim)
        return tn_fail(f, TN_INVALID,
                       "torch.searchsorted(): boundaries tensor should have positive dimension, "
                       "but got 0 dimension");
    /* All sizes but the last. */
    for (int d = 0; match && d < edges->ndim - 1; d++) match = values->size[d] == edges->size[d];
    return match || edges->ndim == 1 ||
           tn_fail(f, TN_INVALID,
                   "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
                   "dimensions of boundaries tensor and input value tensor must match, but we got "
                   "boundaries tensor %s and input value tensor %s",
                   tni_shape_text(a, sizeof a, edges->ndim, edges->size),
                   tni_shape_text(b, sizeof b, values->ndim, values->size));
}

/* Shapes, dtypes, out=; announces places of the values' shape. narrow: places are int32. */
static bool search_check(tn_frame *f, tn_tensor *edges, tn_tensor *values, bool narrow) {
    TN_NOTE(search_note, note, f);
    tn_tensor *pair[2];
    tn_dtype common, dtype = narrow ? TN_I32 : TN_I64;
    pair[0] = edges;
    pair[1] = values;
    if (!search_shapes(f, edges, values)) return false;
    /* torch's promotion, in which a number gives way to a tensor. */
    common = tni_result_type(f->block, pair, 2, false);
    if (!common) return tni_no_common_type(f, pair, 2);
    if (!tni_dtype((int)common)->computes || common == TN_BOOL || tni_is_complex((int)common))
        return tn_fail(f, TN_TYPE, "the operator is not defined for %s",
                       tni_dtype((int)common)->text);
    /* out= is not converted, as in torch: int32 must be asked for. */
    if (f->ngiven && f->given[0]->dtype != dtype)
        return tn_fail(f, TN_TYPE,
                       "output tensor's dtype is wrong, it can only be int32 or int64 depending on "
                       "whether out_int32 is True, but we got output tensor's dtype %s and "
                       "out_int32 is %s",
                       tni_dtype(f->given[0]->dtype)->text, narrow ? "True" : "False");
    /* A place may be as large as the number of boundaries. */
    if (narrow && edges->size[edges->ndim - 1] >= INT32_MAX)
        return tn_fail(f, TN_INVALID,
                       "the size of boundaries' last dimension should be "
                       "less than %d, but we got %lld",
                       INT32_MAX, (long long)edges->size[edges->ndim - 1]);
    note->common = (int)common;
    return tn_announce(f, 0, dtype, values->ndim, values->size) && tni_dense_scratch(f, values);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* side and right are two spellings of one option, which must agree. */
static bool searchsorted_side(tn_frame *f, const char *side, bool right) {
    if (side && strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
        return tn_fail(f, TN_INVALID,
                       "torch.searchsorted(): side can only be \"left\" or \"right\" but got %s",
                       side);
    return !side || !right || !strcmp(side, "right") ||
           tn_fail(f, TN_INVALID,
                   "torch.searchsorted(): side and right can't be set to opposites, got side of %s "
                   "while right was True",
                   side);
}
static bool searchsorted_check(tn_frame *f) {
    TN_ARGS(searchsorted, a, f);
    const tn_tensor *edges = f->in[0], *sorter = f->in[2];
    char x[128], y[128];
    if (!searchsorted_side(f, a->side, a->right)) return false;
    if (sorter && !tni_same_shape(sorter, edges))
        return tn_fail(f, TN_INVALID,
                       "torch.searchsorted(): boundary and sorter must have the same size, but got "
                       "boundary tensor %s and got sorter tensor %s",
                       tni_shape_text(x, sizeof x, edges->ndim, edges->size),
                       tni_shape_text(y, sizeof y, sorter->ndim, sorter->size));
    /* look checks the sorter's indices. */
    if (sorter && sorter->dtype != TN_I64)
        return tn_fail(f, TN_TYPE,
                       "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                       "%s",
                       tni_dtype(sorter->dtype)->text);
    return search_check(f, f->in[0], f->in[1], a->out_int32);
}
/* The sorter's indices lie among the boundaries; torch checks them even if nothing
 * is searched for. */
static bool searchsorted_look(tn_frame *f) {
    const tn_tensor *sorter = f->in[2];
    const int64_t n = sorter ? sorter->size[sorter->ndim - 1] : 0;
    tni_walk w;
    if (!sorter || !sorter->numel) return true;
    tni_walk_start(&w, sorter->ndim, sorter->size, &sorter, 1);
    /* run reads boundaries at these places. */
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            int64_t k = tni_index_at(w.at[0] + i * w.row[0], TN_I64);
            if (k < 0 || k >= n)
                return tn_fail(f, TN_INDEX,
                               "torch.searchsorted(): sorter index out of range: %lld among %lld "
                               "boundaries",
                               (long long)k, (long long)n);
        }
    return true;
}
/* side "right" says the same as right. */
static void searchsorted_run(tn_frame *f) {
    TN_ARGS(searchsorted, a, f);
    search_start(f, f->in[0], f->in[1], f->in[2],
                 a->right || (a->side && !strcmp(a->side, "right")));
}
/* Where each value of self belongs in sorted_sequence, which is sorted along its last dimension:
 * before equal elements, or behind them with right or side "right". sorter holds the indices that
 * sort it, as argsort gives them. NaN belongs behind all. */
TN_OPERATOR(searchsorted,
            "searchsorted.Tensor(Tensor sorted_sequence, Tensor|Scalar self, *, bool "
            "out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
            TN_DOC(.shapes = "sorted_sequence (n) or (.., n), self (*) or (.., m) -> self's shape, "
                             "int64 or int32",
                   .example = "tn_searchsorted(edges, x, .right = true)"),
            .forms = TN_OUT, .check = searchsorted_check, .look = searchsorted_look,
            .run = searchsorted_run, .grad = tn_grad_zero,
            .sample =
                "(5) (2,3) | (2,7) (2,3) right=True | (5) () side=right | (4):i64 2 | (4) 0.5 "
                "out_int32=True | (3,2,5) (3,2,0) | (0) (3) | (2,0) (2,3) | (6):u8 (70):i32 | "
                "(5):f16 (9) side=left | (6) (7) sorter=(6):i64<6 | (2,6):i64 (2,7):i64 "
                "right=True sorter=(2,6):i64<6 | (9) (40,130) | (7):i64 (5)")

static bool bucketize_check(tn_frame *f) {
    TN_ARGS(bucketize, a, f);
    if (f->in[1]->ndim != 1)
        return tn_fail(f, TN_INVALID, "boundaries tensor must be 1 dimension, but got dim(%d)",
                       f->in[1]->ndim);
    return search_check(f, f->in[1], f->in[0], a->out_int32);
}
/* searchsorted with one vector of boundaries; right has the same meaning in both. */
static void bucketize_run(tn_frame *f) {
    TN_ARGS(bucketize, a, f);
    search_start(f, f->in[1], f->in[0], NULL, a->right);
}
/* The number of each value's bucket: how many of the sorted boundaries are below it, or with right
 * below or equal to it. */
TN_OPERATOR(bucketize,
            "bucketize.Tensor(Tensor|Scalar self, Tensor boundaries, *, bool out_int32=False, bool "
            "right=False) -> Tensor",
            TN_DOC(.shapes = "self (*), boundaries (n) -> (*), int64 or int32",
                   .example = "tn_bucketize(x, edges)"),
            .forms = TN_OUT, .check = bucketize_check, .run = bucketize_run, .grad = tn_grad_zero,
            .sample = "(2,3) (5) | () (4) right=True | (3,4):i32 (6):i32 out_int32=True | 2 (5) | "
                      "0.5 (4):i64 | (0,3) (2) | (3) (0) | (7) (5):f16 right=True | "
                      "(9):i64<5 (6):i64<5 right=True")

#undef SEARCH_PLACE
