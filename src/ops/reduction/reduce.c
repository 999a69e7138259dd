/* reduce.c - what plain reductions share: shapes, the reducer of sums, products and extrema, check
 * and run of their rows.
 *
 * A reducer (lanes.h) says what is known of a block and how two neighbours join; order and
 * threads are the plan's. Sums of f16 and bf16 are made in f32 and rounded once; sums of integers
 * are int64.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "reduction.h"

TN_PRIV bool tni_reduced(tn_frame *f, const tn_tensor *x, tn_ints dim, bool keepdim, tni_shape *to,
                         bool *gone) {
    /* gone marks each dimension of dim once; then the others are copied in their order. */
    bool all = dim.n <= 0;
    for (int d = 0; d < TN_MAX_DIMS; d++) gone[d] = all;
    for (int64_t i = 0; i < dim.n; i++) {
        int d = tni_dim(x->ndim, dim.at[i]);
        if (d < 0)
            return tn_fail(f, TN_INDEX,
                           "Dimension out of range (expected to be in range of [%d, %d], but got "
                           "%lld)",
                           x->ndim ? -x->ndim : -1, x->ndim ? x->ndim - 1 : 0,
                           (long long)dim.at[i]);
        if (gone[d])
            return tn_fail(f, TN_INVALID, "dim %d appears multiple times in the list of dims", d);
        gone[d] = true;
    }
    /* Those that go leave nothing, or a 1. */
    to->ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (!gone[d])
            to->size[to->ndim++] = x->size[d];
        else if (keepdim)
            to->size[to->ndim++] = 1;
    }
    return true;
}

TN_PRIV bool tni_reduce_not_empty(tn_frame *f, const tn_tensor *x, const bool *gone) {
    for (int d = 0; d < x->ndim; d++)
        if (gone[d] && x->size[d] == 0)
            return tn_fail(f, TN_INDEX, "Expected reduction dim %d to have non-zero size.", d);
    return true;
}

TN_PRIV void tni_plain_block(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                             int64_t many, int64_t n, int64_t first, void *to) {
    /* Sums need no place in the lane, nor do other plain reductions. */
    (void)first;
    r->op->many(r->kernels, l->compute, x, step, many, n, to);
}

TN_PRIV void tni_plain_rows(const tni_reducer *r, const tni_lanes *l, const void *x, int64_t step,
                            int64_t rows, int64_t n, int64_t first, void *to) {
    (void)first;
    tni_fill_lanes(to, l->compute, tni_identity(r->op), n);
    tni_reduce_rows(r->kernels, r->op, l->compute, x, step, rows, n, to);
}

TN_PRIV void tni_plain_merge(const tni_reducer *r, const tni_lanes *l, void *a, const void *b,
                             int64_t n, int64_t na, int64_t nb) {
    /* One more row: b's parts are combined with a's. */
    (void)na, (void)nb;
    tni_reduce_rows(r->kernels, r->op, l->compute, b, 0, 1, n, a);
}

/* A mean ends in a division in the compute type. */
static void plain_finish(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n) {
    float *s = (float *)parts;
    double *d = (double *)parts;
    bool single = l->compute == TN_F32;
    if (r->finish == TNI_MEAN) {
        for (int64_t i = 0; i < n; i++)
            if (single)
                s[i] = s[i] / (float)l->n;
            else
                d[i] = d[i] / (double)l->n;
    }
}

static void plain_store(const tni_reducer *r, const tni_lanes *l, void *parts, int64_t n,
                        int64_t at) {
    int64_t bytes = tni_dtype(r->out_dtype)->bytes;
    if (r->finish) plain_finish(r, l, parts, n);
    tni_lanes_write(r->kernels, (char *)r->out[0] + at * bytes, l->width_out * bytes, r->out_dtype,
                    parts, l->compute, n);
}

TN_PRIV void tni_plain_run(tn_frame *f, tni_lanes *l, const tni_reduction *op, int k, int finish) {
    tn_context *c = f->block->context;
    tn_tensor *out = f->out[k];
    /* A part is one element of the compute type. */
    tni_reducer r = {l->size,
                     tni_plain_block,
                     tni_plain_rows,
                     tni_plain_merge,
                     plain_store,
                     c->kernels,
                     op,
                     {NULL, NULL},
                     0,
                     0,
                     0,
                     finish};
    if (!out->numel) return;
    r.out[0] = tni_bytes_at(out);
    r.out_dtype = tni_is_complex(out->dtype) ? (int)tni_real_of(out->dtype) : out->dtype;
    tni_lanes_run(c, l, &r, f->scratch);
}

/* Whether all elements are reduced and are one block of memory: then one kernel call does it. */
static bool plain_is_block(const tn_tensor *x, tn_ints dim, tn_dtype dtype, int compute) {
    return dim.n <= 0 && x->dtype == compute && (int)dtype == compute && x->numel > 0 &&
           x->numel <= TNI_BLOCK && tni_is_flat(x);
}

static void plain_block_run(tn_frame *f, const tni_reduction *op, int finish) {
    const tn_tensor *x = f->in[0];
    char *out = tni_bytes_at(f->out[0]);
    /* TNI_MEAN divides in the compute type, as plain_finish does. */
    union {
        float f;
        double d;
        int64_t k;
    } part;
    TNI_PATH(reduce_whole_block);
    tni_reduce_block(f->block->context->kernels, op, f->type, tni_bytes_at(x), x->numel, &part);
    if (finish == TNI_MEAN && f->type == TN_F32)
        part.f /= (float)x->numel;
    else if (finish == TNI_MEAN)
        part.d /= (double)x->numel;
    memcpy(out, &part, (size_t)tni_dtype_size(f->out[0]));
}

/* A result in bool is that of elements in bool: a sum or product may wrap to 0. */
static int plain_how(tn_dtype dtype) { return dtype == TN_BOOL ? TNI_LANES_NONZERO : 0; }

typedef struct plain_note {
    bool block; /* all of self is one block of contiguous elements */
} plain_note;

TN_PRIV bool tni_plain_check(tn_frame *f, tn_ints dim, bool keepdim, tn_dtype dtype, int compute,
                             bool choose) {
    tni_shape to;
    tni_lanes l;
    bool gone[TN_MAX_DIMS];
    TN_NOTE(plain_note, note, f);
    /* One block: the result has no dimensions and no scratch is needed. */
    note->block = !keepdim && plain_is_block(f->in[0], dim, dtype, compute);
    f->type = (uint8_t)compute;
    if (note->block) return tn_announce(f, 0, dtype, 0, NULL);
    if (!tni_reduced(f, f->in[0], dim, keepdim, &to, gone)) return false;
    if (choose && dim.n <= 0 && !f->in[0]->numel)
        return tn_fail(f, TN_INVALID, "cannot choose an element of an empty tensor");
    if (choose && !tni_reduce_not_empty(f, f->in[0], gone)) return false;
    /* The same plan is made again by run; here it says how much scratch it needs. */
    tni_lanes_init(&l, f->in[0], gone, compute, plain_how(dtype));
    return tn_announce(f, 0, dtype, to.ndim, to.size) && tni_lanes_scratch(f, &l, l.size);
}

TN_PRIV void tni_plain_lanes(tn_frame *f, tni_lanes *l, tn_ints dim, int how) {
    bool gone[TN_MAX_DIMS];
    tni_dims_gone(f->in[0], dim, gone);
    tni_lanes_init(l, f->in[0], gone, f->type, how);
}

TN_PRIV void tni_plain_reduce(tn_frame *f, tn_ints dim, const tni_reduction *op, int finish) {
    tni_lanes l;
    TN_NOTE(plain_note, note, f);
    /* check has seen that one kernel call does it. */
    if (note->block) {
        plain_block_run(f, op, finish);
        return;
    }
    tni_plain_lanes(f, &l, dim, plain_how((tn_dtype)f->out[0]->dtype));
    tni_plain_run(f, &l, op, 0, finish);
}
