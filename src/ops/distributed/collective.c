/* collective.c - what all ranks of a group do together: broadcast, sums and other reductions,
 * gathering, scattering, waiting.
 *
 * Elements that meet are combined in a fixed binary tree of the ranks, (0 1) (2 3) .. and so on, in
 * float for 16-bit types, which are rounded once at the end. A result is computed by one rank and
 * copied to the others: each rank reduces a part of the elements, as in the algorithm of Thakur,
 * Rabenseifner and Gropp (2005, "Optimization of collective communication operations in MPICH",
 * section 4.5: reduce-scatter, then allgather), which moves twice the data whatever the number of
 * ranks. */
#include "distributed.h"

/* --- the tree --------------------------------------------------------------------------------- */

typedef union sum_tile {
    float f[1024];
    double d[512];
    int64_t i[512];
} sum_tile;

typedef struct distributed_sum {
    const tni_kernels *kernels;
    const char *parts; /* of each rank, `step` bytes apart */
    char *to;
    int64_t step, n, bytes; /* n elements (of complex ones, twice as many reals), bytes of one */
    int64_t each;           /* elements of a tile */
    int32_t ranks, op;
    int dtype, compute;
} distributed_sum;

/* to[i] = to[i] op x[i] */
static void sum_combine(const distributed_sum *s, sum_tile *to, const sum_tile *x, int64_t n) {
    switch (s->op) {
    case TN_REDUCE_OP_PRODUCT: tni_prod.rows(s->kernels, s->compute, x, 0, 1, n, to); return;
    case TN_REDUCE_OP_MIN: tni_min.rows(s->kernels, s->compute, x, 0, 1, n, to); return;
    case TN_REDUCE_OP_MAX: tni_max.rows(s->kernels, s->compute, x, 0, 1, n, to); return;
    case TN_REDUCE_OP_BAND:
        for (int64_t i = 0; i < n; i++) to->i[i] &= x->i[i];
        return;
    case TN_REDUCE_OP_BOR:
        for (int64_t i = 0; i < n; i++) to->i[i] |= x->i[i];
        return;
    case TN_REDUCE_OP_BXOR:
        for (int64_t i = 0; i < n; i++) to->i[i] ^= x->i[i];
        return;
    default: tni_sum.rows(s->kernels, s->compute, x, 0, 1, n, to); return;
    }
}

/* Elements at .. at + n of the ranks lo .. hi - 1, combined. */
static void sum_tree(const distributed_sum *s, int32_t lo, int32_t hi, int64_t at, int64_t n,
                     sum_tile *to) {
    sum_tile right;
    int32_t half = 1;
    if (hi - lo == 1) {
        tni_lanes_read(s->kernels, to, s->compute, s->parts + lo * s->step + at * s->bytes,
                       s->bytes, s->dtype, n);
        return;
    }
    while (2 * half < hi - lo) half *= 2;
    sum_tree(s, lo, lo + half, at, n, to);
    sum_tree(s, lo + half, hi, at, n, &right);
    sum_combine(s, to, &right, n);
}

/* The mean of what is a sum, of floats. */
static void sum_divide(const distributed_sum *s, sum_tile *t, int64_t n) {
    if (s->compute == TN_F32)
        for (int64_t i = 0; i < n; i++) t->f[i] /= (float)s->ranks;
    else
        for (int64_t i = 0; i < n; i++) t->d[i] /= s->ranks;
}

static void sum_task(void *arg, int64_t tile) {
    const distributed_sum *s = (const distributed_sum *)arg;
    const int64_t at = tile * s->each, n = s->n - at < s->each ? s->n - at : s->each;
    sum_tile t;
    sum_tree(s, 0, s->ranks, at, n, &t);
    if (s->op == TN_REDUCE_OP_AVG) sum_divide(s, &t, n);
    tni_lanes_write(s->kernels, s->to + at * s->bytes, s->bytes, s->dtype, &t, s->compute, n);
}

/* The op as it is computed: that of bools is or, and. */
static int32_t sum_op(int dtype, int32_t op) {
    if (dtype != TN_BOOL) return op;
    return op == TN_REDUCE_OP_SUM       ? (int32_t)TN_REDUCE_OP_MAX
           : op == TN_REDUCE_OP_PRODUCT ? (int32_t)TN_REDUCE_OP_MIN
                                        : op;
}

/* n elements of each rank, `step` bytes apart, to one. */
static void sum_parts(const tn_frame *f, const tn_collective *c, const char *parts, int64_t step,
                      int64_t n, void *to) {
    const int dtype = c->input->dtype;
    distributed_sum s;
    s.kernels = f->block->context->kernels;
    s.parts = parts;
    s.to = (char *)to;
    s.step = step;
    s.n = tni_is_complex(dtype) ? 2 * n : n;
    s.dtype = dtype == TN_C64 ? TN_F32 : dtype == TN_C128 ? TN_F64 : dtype;
    s.bytes = tni_dtype(s.dtype)->bytes;
    s.compute = tni_lanes_compute(dtype);
    s.each = s.compute == TN_F32 ? 1024 : 512;
    s.ranks = c->size;
    s.op = sum_op(dtype, c->op);
    tni_lanes_spread(f->block->context, (s.n + s.each - 1) / s.each, s.n * c->size, sum_task, &s);
}

/* --- looking: all that other ranks take part in ----------------------------------------------- */

/* A call under way. */
typedef struct distributed_call {
    tn_collective c;
    distributed_note *note;
    tn_group *g;
    tni_block *b;
    const char *input;   /* row-major */
    char *room;          /* the memory that was asked for */
    int64_t numel, each; /* of the input, bytes of an element */
} distributed_call;

static void call_of(tn_frame *f, distributed_call *d) {
    TN_NOTE(distributed_note, note, f);
    tn_collective_of(&d->c, f);
    d->note = note;
    d->g = d->c.group;
    d->b = f->block;
    d->numel = d->c.input ? d->c.input->numel : 0;
    d->each = d->c.input ? tni_dtype_size(d->c.input) : 0;
    note->result = NULL;
}

/* Gets memory and meets the other ranks. False with an error of all ranks. */
static bool call_begin(tn_frame *f, distributed_call *d, int64_t bytes) {
    const tn_tensor *t = d->c.input;
    const bool copied = t && !(t->flags & TNI_CONTIGUOUS);
    const int64_t copy = copied ? (d->numel * d->each + TNI_ALIGN - 1) & -TNI_ALIGN : 0;
    char *room = (char *)tni_group_room(d->b, d->g, copy + bytes + TNI_ALIGN);
    if (!tni_distributed_meet(f, &d->c, room != NULL)) return false;
    d->input = tni_dense(f, t, &room);
    d->room = room;
    return true;
}

/* Where the part of each rank begins, in bytes: as equal as whole elements can be. */
static void call_divide(const distributed_call *d, int64_t *at) {
    const int64_t n = d->c.size, least = d->numel / n, more = d->numel % n;
    for (int64_t r = 0; r <= n; r++) at[r] = (r * least + (r < more ? r : more)) * d->each;
}

/* This rank's part of the elements, reduced over all ranks, where it lies in `all`. `theirs` has
 * room for a part of each. give becomes where the parts begin. */
static bool call_reduce_part(const tn_frame *f, distributed_call *d, char *theirs, char *all) {
    int64_t *at = d->g->give, mine;
    call_divide(d, at);
    mine = at[d->c.rank + 1] - at[d->c.rank];
    tni_group_even(d->g->take, d->c.size, mine);
    if (!tni_group_exchange(d->b, d->g, d->input, at, theirs, d->g->take)) return false;
    sum_parts(f, &d->c, theirs, mine, mine / d->each, all + at[d->c.rank]);
    return true;
}
/* Bytes of `theirs` there. */
static int64_t call_part_bytes(const distributed_call *d) {
    const int64_t most = (d->numel / d->c.size + 1) * d->each * d->c.size;
    return (most + TNI_ALIGN - 1) & -TNI_ALIGN;
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool broadcast_look(tn_frame *f) {
    distributed_call d;
    call_of(f, &d);
    if (d.c.size == 1) return true;
    if (!call_begin(f, &d, d.numel * d.each)) return false;
    for (int32_t r = 0; r <= d.c.size; r++) d.g->take[r] = r > d.c.peer ? d.numel * d.each : 0;
    if (!tni_group_gather(d.b, d.g, d.input, d.room, d.g->take)) return false;
    if (d.c.rank != d.c.peer) d.note->result = d.room;
    return true;
}
/* Every rank's tensor becomes that of rank src of the group. */
TN_OPERATOR(distributed_broadcast, "_distributed_broadcast(Tensor(a!) tensor, int src) -> ()",
            TN_DOC(.shapes = "tensor (*), the same on all ranks",
                   .example = "tn_distributed_broadcast(x, 0)"),
            .check = tni_distributed_check, .look = broadcast_look, .run = tni_distributed_run,
            .sample = "(2,3) 0 | () 0 | (0,3) 0 | (300) 0")

static bool all_reduce_look(tn_frame *f) {
    distributed_call d;
    int64_t parts;
    call_of(f, &d);
    if (d.c.size == 1) return true;
    parts = call_part_bytes(&d);
    if (!call_begin(f, &d, parts + d.numel * d.each)) return false;
    if (!call_reduce_part(f, &d, d.room, d.room + parts)) return false;
    if (!tni_group_gather(d.b, d.g, d.room + parts + d.g->give[d.c.rank], d.room + parts,
                          d.g->give))
        return false;
    d.note->result = d.room + parts;
    return true;
}
/* Every rank's tensor becomes the sum, or what op says, of all ranks' tensors, element by element,
 * with the same bits on all. Integers wrap and have no avg; the sum and product of bools are or and
 * and; a NaN wins min and max. Complex numbers have sum and avg alone, bits (band, bor, bxor)
 * integers and bools. */
TN_OPERATOR(distributed_all_reduce,
            "_distributed_all_reduce(Tensor(a!) tensor, *, ReduceOp op=sum) -> ()",
            TN_DOC(.shapes = "tensor (*), the same on all ranks",
                   .example = "tn_distributed_all_reduce(x, .op = TN_REDUCE_OP_AVG)"),
            .check = tni_distributed_check, .look = all_reduce_look, .run = tni_distributed_run,
            .sample = "(2,3) | () op=avg | (0,3) | (300) op=max | (4):i64 op=bxor")

static bool reduce_look(tn_frame *f) {
    distributed_call d;
    int64_t parts, mine;
    char *all;
    call_of(f, &d);
    if (d.c.size == 1) return true;
    parts = call_part_bytes(&d);
    if (!call_begin(f, &d, parts + d.numel * d.each)) return false;
    all = d.room + parts;
    if (!call_reduce_part(f, &d, d.room, all)) return false;
    /* The root takes the parts of all; the others give it theirs and take nothing. */
    all += d.g->give[d.c.rank];
    mine = d.g->give[d.c.rank + 1] - d.g->give[d.c.rank];
    for (int32_t r = 0; r <= d.c.size; r++) {
        d.g->take[r] = d.c.rank == d.c.peer ? d.g->give[r] : 0;
        d.g->give[r] = r > d.c.peer ? mine : 0;
    }
    if (!tni_group_exchange(d.b, d.g, all, d.g->give, d.room + parts, d.g->take)) return false;
    if (d.c.rank == d.c.peer) d.note->result = d.room + parts;
    return true;
}
/* The same for rank dst alone: its tensor becomes the sum, those of the other ranks stay. */
TN_OPERATOR(distributed_reduce,
            "_distributed_reduce(Tensor(a!) tensor, int dst, *, ReduceOp op=sum) -> ()",
            TN_DOC(.shapes = "tensor (*), the same on all ranks",
                   .example = "tn_distributed_reduce(x, 0)"),
            .check = tni_distributed_check, .look = reduce_look, .run = tni_distributed_run,
            .sample = "(2,3) 0 | () 0 op=avg | (0,3) 0 op=min | (300) 0 op=product | (4):i64 0 "
                      "op=band")

static bool all_gather_look(tn_frame *f) {
    distributed_call d;
    call_of(f, &d);
    if (d.c.size == 1) return true;
    if (!call_begin(f, &d, d.numel * d.each * d.c.size)) return false;
    if (!tni_group_share(d.b, d.g, d.input, d.room, d.numel * d.each)) return false;
    d.note->result = d.room;
    return true;
}
/* The inputs of all ranks, one after the other in the order of ranks, into every rank's output. */
TN_OPERATOR(distributed_all_gather,
            "_distributed_all_gather(Tensor(a!) output, Tensor input) -> ()",
            TN_DOC(.shapes = "input (n, *), output (ranks n, *) or (ranks, n, *), of one dtype",
                   .example = "tn_distributed_all_gather(y, x)"),
            .check = tni_distributed_check, .look = all_gather_look, .run = tni_distributed_run,
            .sample = "(2,3) (2,3) | () () | (0,3) (0,3) | (1,300) (300)")

static bool reduce_scatter_look(tn_frame *f) {
    distributed_call d;
    int64_t parts;
    call_of(f, &d);
    if (d.c.size == 1) return true;
    parts = call_part_bytes(&d);
    if (!call_begin(f, &d, parts + d.numel * d.each)) return false;
    if (!call_reduce_part(f, &d, d.room, d.room + parts)) return false;
    d.note->result = d.room + parts + d.g->give[d.c.rank];
    return true;
}
/* The sum, or what op says, of all ranks' inputs; rank r gets the r-th of as many equal parts as
 * there are ranks. */
TN_OPERATOR(
    distributed_reduce_scatter,
    "_distributed_reduce_scatter(Tensor(a!) output, Tensor input, *, ReduceOp op=sum) -> ()",
    TN_DOC(.shapes = "input (ranks n, *) or (ranks, n, *), output (n, *), of one dtype",
           .example = "tn_distributed_reduce_scatter(y, x)"),
    .check = tni_distributed_check, .look = reduce_scatter_look, .run = tni_distributed_run,
    .sample = "(2,3) (2,3) | () () op=avg | (0,3) (0,3) | (300) (300) op=min | (4):i64 "
              "(1,4):i64 op=bor")

static bool all_to_all_look(tn_frame *f) {
    distributed_call d;
    call_of(f, &d);
    if (d.c.size == 1) return true;
    if (!call_begin(f, &d, d.numel * d.each)) return false;
    tni_group_even(d.g->give, d.c.size, d.numel / d.c.size * d.each);
    if (!tni_group_exchange(d.b, d.g, d.input, d.g->give, d.room, d.g->give)) return false;
    d.note->result = d.room;
    return true;
}
/* Part r of the input, of as many equal parts along dim 0 as there are ranks, goes to rank r; part
 * r of the output is what came from rank r. */
TN_OPERATOR(distributed_all_to_all,
            "_distributed_all_to_all(Tensor(a!) output, Tensor input) -> ()",
            TN_DOC(.shapes = "input (ranks n, *), output (ranks n, *), of one dtype",
                   .example = "tn_distributed_all_to_all(y, x)"),
            .check = tni_distributed_check, .look = all_to_all_look, .run = tni_distributed_run,
            .sample = "(2,3) (2,3) | () () | (0,3) (0,3) | (300) (300)")

static bool barrier_look(tn_frame *f) {
    distributed_call d;
    call_of(f, &d);
    return tn_collective_meet(f, &d.c);
}
/* Returns when all ranks of the group have called it. */
TN_OPERATOR(distributed_barrier, "_distributed_barrier() -> ()",
            TN_DOC(.shapes = "none", .example = "tn_distributed_barrier()"),
            .check = tni_distributed_check, .look = barrier_look, .run = tni_distributed_run,
            .sample = "")
