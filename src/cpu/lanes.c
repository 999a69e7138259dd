/* lanes.c - plans and runs reductions (lanes.h). Knows blocks, trees and threads; what is done with
 * a block is the reducer's. */
#include "lanes.h"

/* --- elements as a plan reads them ------------------------------------------------------------ */

/* to[i] = x[i] != 0; a NaN is not zero. */
static void lanes_nonzero(int64_t *to, const char *x, int64_t step, int dtype, int64_t n) {
    int64_t bytes = tni_dtype(dtype)->bytes;
    int category = tni_dtype(dtype)->category;
    /* Bytes of a part: of a complex element half of it, else the whole element. */
    int64_t half = category == TNI_CAT_COMPLEX ? bytes / 2 : bytes;
    uint64_t mask = ~(uint64_t)0 >> 8 * (8 - half);
    if (category >= TNI_CAT_FLOAT) mask >>= 1; /* -0 is zero */
    for (int64_t i = 0; i < n; i++, x += step) {
        /* An element is nonzero if a bit of it is, the sign aside: exact for every dtype, without a
         * load as a number. */
        uint64_t v = tni_bits_at(x, half);
        if (half != bytes) v |= tni_bits_at(x + half, half);
        to[i] = (v & mask) != 0;
    }
}

/* to[i] = |x[i]| of complex numbers, in f64; nothing overflows that need not. */
static void lanes_magnitude(void *to, int compute, const char *x, int64_t step, int dtype,
                            int64_t n) {
    for (int64_t i = 0; i < n; i++, x += step) {
        /* |x| = large sqrt(1 + (little / large)^2): the quotient is at most 1, so its square
         * cannot overflow. */
        double part[2], large, little, q;
        float narrow[2];
        if (dtype == TN_C64) {
            memcpy(narrow, x, sizeof narrow);
            part[0] = narrow[0];
            part[1] = narrow[1];
        } else
            memcpy(part, x, sizeof part);
        /* The larger part divides the smaller one. */
        large = fabs(part[0]);
        little = fabs(part[1]);
        if (little > large) {
            q = large;
            large = little;
            little = q;
        }
        /* 0 and infinity need no quotient, which would be NaN; a NaN in either part wins
         * over infinity. */
        q = large > 0 && large < HUGE_VAL ? little / large : 0;
        large = part[0] != part[0] || part[1] != part[1] ? part[0] + part[1]
                                                         : large * sqrt(fma(q, q, 1));
        if (compute == TN_F32)
            ((float *)to)[i] = (float)large;
        else
            ((double *)to)[i] = large;
    }
}

/* n elements, `step` bytes apart, as the plan reads them. */
static void lanes_take(const tni_kernels *k, const tni_lanes *l, void *to, const char *x,
                       int64_t step, int64_t n) {
    if (l->how & TNI_LANES_NONZERO)
        lanes_nonzero((int64_t *)to, x, step, l->dtype, n);
    else if (l->how & TNI_LANES_MAGNITUDE)
        lanes_magnitude(to, l->compute, x, step, l->dtype, n);
    else
        tni_lanes_read(k, to, l->compute, x, step, l->dtype, n);
}

/* --- the plan --------------------------------------------------------------------------------- */

typedef struct lanes_dim {
    int64_t size, step, out;
} lanes_dim;

/* Sorts dimensions by falling step, stable, and merges neighbours that lie end to end; returns
 * their number. */
static int lanes_merge(lanes_dim *d, int n, bool sort) {
    /* Insertion sort: there are at most TNI_LANE_DIMS dimensions, and equal steps
     * keep their order. */
    int m = 0;
    for (int i = 1; sort && i < n; i++)
        for (int j = i; j > 0 && d[j].step > d[j - 1].step; j--) {
            lanes_dim t = d[j];
            d[j] = d[j - 1];
            d[j - 1] = t;
        }
    for (int i = 0; i < n; i++) {
        /* d[i] is one with the dimension outside of it if stepping over all of d[i] is that one's
         * step, in memory and in the result. */
        lanes_dim *last = d + m - 1;
        if (m && last->step == d[i].step * d[i].size && last->out == d[i].out * d[i].size) {
            last->size *= d[i].size;
            last->step = d[i].step;
            last->out = d[i].out;
        } else
            d[m++] = d[i];
    }
    return m;
}

/* The loops of the plan: keep over results, red over the elements of one. */
static void lanes_dims(tni_lanes *l, lanes_dim *keep, int nkeep, lanes_dim *red, int nred,
                       bool ordered) {
    l->nkeep = lanes_merge(keep, nkeep, true);
    l->nred = lanes_merge(red, nred, !ordered);
    l->width = l->width_out = 1;
    /* Innermost kept elements are neighbours in memory: columns. Their dimension leaves the loops
     * and becomes the width. */
    if (l->nkeep && keep[l->nkeep - 1].step == l->bytes) { /* results side by side */
        l->columns = true;
        l->width = keep[--l->nkeep].size;
        l->width_out = keep[l->nkeep].out;
    }
    /* The dimensions that stay become a loop over `outer` results. */
    for (int i = 0; i < l->nkeep; i++) {
        l->keep[i] = keep[i].size;
        l->keep_step[i] = keep[i].step;
        l->keep_out[i] = keep[i].out;
        l->outer *= keep[i].size;
    }
    for (int i = 0; i < l->nred; i++) {
        l->red[i] = red[i].size;
        l->red_step[i] = red[i].step;
    }
}

/* Reverses the order of n dimensions. */
static void lanes_turn(lanes_dim *d, int n) {
    for (int i = 0; i < n / 2; i++) {
        lanes_dim t = d[i];
        d[i] = d[n - 1 - i];
        d[n - 1 - i] = t;
    }
}

TN_PRIV void tni_lanes_init(tni_lanes *l, const tn_tensor *x, const bool *gone, int compute,
                            int how) {
    lanes_dim keep[TNI_LANE_DIMS], red[TNI_LANE_DIMS];
    int nkeep = 0, nred = 0;
    int64_t out = 1;
    memset(l, 0, offsetof(tni_lanes, red));
    l->how = how & (tni_is_complex(x->dtype) ? TNI_LANES_NONZERO | TNI_LANES_MAGNITUDE
                                             : TNI_LANES_NONZERO);
    /* Complex numbers are reduced as two reals, except where one number is made of both. */
    bool pairs = tni_is_complex(x->dtype) && !l->how;
    int64_t whole = tni_dtype_size(x);
    /* A tensor on meta has no data; its check asks only for sizes. */
    l->x = x->storage && x->storage->data ? tni_bytes_at(x) : NULL;
    l->dtype = pairs ? (int)tni_real_of(x->dtype) : x->dtype;
    l->bytes = pairs ? whole / 2 : whole;
    l->compute = compute;
    l->size = tni_dtype(compute)->bytes;
    l->lanes = TNI_LANE_BYTES / l->size;
    l->n = l->outer = 1;
    if (pairs) {
        /* The parts are one more dimension, the innermost, which always stays. */
        lanes_dim two = {2, whole / 2, 1};
        keep[nkeep++] = two;
        out = 2;
    }
    /* out: the row-major step of this dimension in the result, which only kept ones have. */
    for (int i = x->ndim - 1; i >= 0; i--) { /* innermost first; turned round below */
        lanes_dim d = {x->size[i], x->stride[i] * whole, out};
        if (gone[i])
            l->n *= d.size;
        else
            out *= d.size;
        if (d.size == 1) continue;
        if (gone[i]) {
            /* Merging compares out, too; for a dimension that goes, it repeats the step. */
            red[nred++] = d;
            red[nred - 1].out = red[nred - 1].step;
        } else
            keep[nkeep++] = d;
    }
    lanes_turn(keep, nkeep);
    lanes_turn(red, nred);
    lanes_dims(l, keep, nkeep, red, nred, (how & TNI_LANES_ORDERED) != 0);
    /* Even no element is a block: it gives the identity. */
    l->blocks = (l->n + (l->columns ? TNI_BLOCK_ROWS : TNI_BLOCK) - 1) /
                (l->columns ? TNI_BLOCK_ROWS : TNI_BLOCK);
    if (l->blocks < 1) l->blocks = 1;
    l->subtrees = (l->blocks + TNI_SUBTREE - 1) / TNI_SUBTREE;
}

/* With one subtree the parts lie on the task's stack. */
TN_PRIV bool tni_lanes_scratch(tn_frame *f, tni_lanes *l, int64_t part) {
    int64_t count;
    if (l->subtrees < 2) return true;
    if (!tni_mul(l->outer, l->width, &count) || !tni_mul(count, l->subtrees, &count))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_scratch(f, count, part);
}

/* --- the run ---------------------------------------------------------------------------------- */

enum {
    LANES_PARTS = 16384, /* bytes of partial results of a task: TNI_SUBTREE blocks of a chunk */
    LANES_GRAIN = 16384  /* elements that are worth a task */
};

/* One run of a plan; scratch holds a part for each (outer, subtree, width), in this order. */
typedef struct lanes_job {
    tn_context *context;
    const tni_lanes *l;
    const tni_reducer *r;
    char *scratch;
} lanes_job;

/* `n` elements from number `first` on, `from` being element 0 of the lane: in place, or gathered
 * into `tile`. */
static const void *lanes_fetch(const lanes_job *job, const char *from, int64_t first, int64_t n,
                               void *tile) {
    const tni_lanes *l = job->l;
    /* A run: elements along the innermost dimension that goes, one step apart. */
    int last = l->nred - 1;
    int64_t run = l->nred ? l->red[last] : 1, step = l->nred ? l->red_step[last] : l->bytes,
            done = 0;
    if (!n) return tile;
    /* In place: of the compute type, side by side, within one run. */
    if (!l->how && l->dtype == l->compute && step == l->bytes && first % run + n <= run) {
        const char *at = from + tni_offset_of(l->nred, l->red, l->red_step, first);
        TNI_PATH(lanes_in_place);
        if (!l->map) return at;
        l->map(job->context->kernels, l, tile, at, n);
        return tile;
    }
    TNI_PATH(lanes_gather);
    /* Run after run, each from its own start or from where the last block ended. */
    while (done < n) {
        int64_t in = (first + done) % run, now = run - in < n - done ? run - in : n - done;
        const char *at = from + tni_offset_of(l->nred, l->red, l->red_step, first + done);
        char *to = (char *)tile + done * l->size;
        lanes_take(job->context->kernels, l, to, at, step, now);
        done += now;
    }
    if (l->map) TNI_PATH(lanes_map_row);
    if (l->map) l->map(job->context->kernels, l, tile, tile, n);
    return tile;
}

/* Rows `first` to first + rows of n columns; their step in *step. */
static const void *lanes_fetch_rows(const lanes_job *job, const char *from, int64_t first,
                                    int64_t rows, int64_t n, void *tile, int64_t *step) {
    const tni_lanes *l = job->l;
    *step = 0;
    if (!rows) return tile;
    /* In place: each row is one of contiguous columns, and rows are one step apart. */
    if (!l->how && !l->map && l->dtype == l->compute && l->nred <= 1) {
        TNI_PATH(lanes_rows_in_place);
        *step = l->nred ? l->red_step[0] : 0;
        return from + first * *step;
    }
    TNI_PATH(lanes_gather_rows);
    *step = n * l->size;
    for (int64_t r = 0; r < rows; r++) {
        const char *at = from + tni_offset_of(l->nred, l->red, l->red_step, first + r);
        char *to = (char *)tile + r * *step;
        lanes_take(job->context->kernels, l, to, at, l->bytes, n);
    }
    if (l->map) TNI_PATH(lanes_map_rows);
    if (l->map) l->map(job->context->kernels, l, tile, tile, rows * n);
    return tile;
}

/* Combines `count` neighbours of `n` parts each, `apart` bytes from one to the next, into the
 * first. A part stands for `each` elements, the last one for what is left of `elements`. */
static void lanes_tree(const lanes_job *job, char *parts, int64_t count, int64_t apart, int64_t n,
                       int64_t each, int64_t elements) {
    for (int64_t half = 1; half < count; half *= 2)
        for (int64_t i = 0; i + half < count; i += 2 * half) {
            int64_t left = elements - (i + half) * each,
                    nb = left < half * each ? left : half * each;
            job->r->merge(job->r, job->l, parts + i * apart, parts + (i + half) * apart, n,
                          half * each, nb);
        }
}

/* Subtree s of results [col, col + n) of lane o into parts[0..n): TNI_SUBTREE blocks, joined here
 * whatever thread this is. So the order of additions depends on sizes alone. */
static void lanes_subtree(const lanes_job *job, int64_t o, int64_t col, int64_t n, int64_t s,
                          char *parts) {
    const tni_lanes *l = job->l;
    const tni_reducer *r = job->r;
    double tile[TNI_BLOCK];
    /* each: elements of a result in a block; apart: bytes from a block's parts to the
     * next block's. */
    int64_t each = l->columns ? TNI_BLOCK_ROWS : TNI_BLOCK, apart = n * r->part;
    int64_t b = s * TNI_SUBTREE, end = b + TNI_SUBTREE < l->blocks ? b + TNI_SUBTREE : l->blocks,
            begin = b;
    const char *from = l->x + tni_offset_of(l->nkeep, l->keep, l->keep_step, o) + col * l->bytes;
    for (; b < end; b++) {
        int64_t first = b * each, count = l->n - first < each ? l->n - first : each;
        char *to = parts + (b - begin) * apart;
        /* One result: its elements, in place or gathered, make a block. */
        if (!l->columns) {
            r->block(r, l, lanes_fetch(job, from, first, count, tile), 0, 1, count, first, to);
            continue;
        }
        /* Columns, as many at a time as accumulators fit into a row of lanes. */
        for (int64_t c = 0; c < n; c += l->lanes) {
            int64_t m = n - c < l->lanes ? n - c : l->lanes, step;
            const void *x =
                lanes_fetch_rows(job, from + c * l->bytes, first, count, m, tile, &step);
            r->rows(r, l, x, step, count, m, first, to + c * r->part);
        }
    }
    /* The blocks of this subtree become the part at its beginning. */
    lanes_tree(job, parts, end - begin, apart, n, each, l->n - begin * each);
}

/* Task i is subtree s of chunk j of lane o, numbered (o, j, s). */
static void lanes_task(void *arg, int64_t i) {
    const lanes_job *job = (const lanes_job *)arg;
    const tni_lanes *l = job->l;
    int64_t s = i % l->subtrees, j = i / l->subtrees % l->chunks, o = i / l->subtrees / l->chunks;
    int64_t col = j * l->chunk, n = l->width - col < l->chunk ? l->width - col : l->chunk;
    double parts[LANES_PARTS / 8];
    lanes_subtree(job, o, col, n, s, (char *)parts);
    /* The only subtree is the result. Otherwise it waits in scratch for lanes_join_task. */
    if (l->subtrees == 1)
        job->r->store(job->r, l, parts, n,
                      tni_offset_of(l->nkeep, l->keep, l->keep_out, o) + col * l->width_out);
    else
        memcpy(job->scratch + ((o * l->subtrees + s) * l->width + col) * l->part, parts,
               (size_t)(n * l->part));
}

/* Chunk j of lane o: joins the subtrees of all tasks before and stores the results. */
static void lanes_join_task(void *arg, int64_t i) {
    const lanes_job *job = (const lanes_job *)arg;
    const tni_lanes *l = job->l;
    int64_t j = i % l->chunks, o = i / l->chunks, col = j * l->chunk;
    int64_t n = l->width - col < l->chunk ? l->width - col : l->chunk;
    int64_t each = TNI_SUBTREE * (l->columns ? TNI_BLOCK_ROWS : TNI_BLOCK);
    char *parts = job->scratch + (o * l->subtrees * l->width + col) * l->part;
    lanes_tree(job, parts, l->subtrees, l->width * l->part, n, each, l->n);
    job->r->store(job->r, l, parts, n,
                  tni_offset_of(l->nkeep, l->keep, l->keep_out, o) + col * l->width_out);
}

/* Whether each result is one block, and the next one's lies a step further. */
static bool lanes_are_rows(const tni_lanes *l) {
    return !l->columns && l->blocks == 1 && l->nkeep == 1 && l->nred == 1 && l->n > 0;
}
/* Whether elements lie as they are computed with. */
static bool lanes_are_plain(const tni_lanes *l) {
    return !l->how && l->dtype == l->compute && l->red_step[0] == l->bytes;
}
/* Rows that do not: `rows` of them through a tile. */
static void lanes_tile_rows(const lanes_job *job, const char *from, int64_t rows, char *to) {
    const tni_lanes *l = job->l;
    const tni_kernels *k = job->context->kernels;
    const int64_t each = TNI_BLOCK / l->n, row = l->n * l->size;
    const bool dense = l->keep_step[0] == l->n * l->red_step[0],
               direct = dense && l->map && lanes_are_plain(l);
    double tile[TNI_BLOCK];
    for (int64_t some; rows > 0; rows -= some, to += some * l->part) {
        some = rows < each ? rows : each;
        if (dense && !direct) lanes_take(k, l, tile, from, l->red_step[0], some * l->n);
        for (int64_t i = 0; !dense && i < some; i++)
            lanes_take(k, l, (char *)tile + i * row, from + i * l->keep_step[0], l->red_step[0],
                       l->n);
        if (l->map) l->map(k, l, tile, direct ? from : (char *)tile, some * l->n);
        from += some * l->keep_step[0];
        job->r->block(job->r, l, tile, row, some, l->n, 0, to);
    }
}
/* Rows [i chunk, (i + 1) chunk). */
static void lanes_rows_task(void *arg, int64_t i) {
    const lanes_job *job = (const lanes_job *)arg;
    const tni_lanes *l = job->l;
    const int64_t first = i * l->chunk, left = l->outer - first,
                  rows = left < l->chunk ? left : l->chunk;
    const char *from = l->x + first * l->keep_step[0];
    double parts[LANES_PARTS / 8];
    if (!l->map && lanes_are_plain(l))
        job->r->block(job->r, l, from, l->keep_step[0], rows, l->n, 0, parts);
    else
        lanes_tile_rows(job, from, rows, (char *)parts);
    job->r->store(job->r, l, parts, rows, first * l->keep_out[0]);
}
/* Rows of a block each, as many in a task as are worth it and as its parts have room for. */
static void lanes_run_rows(lanes_job *job, tni_lanes *l) {
    TNI_PATH(lanes_many_rows);
    l->width_out = l->keep_out[0];
    l->chunk = LANES_GRAIN / l->n;
    if (l->chunk > (int)LANES_PARTS / l->part) l->chunk = (int)LANES_PARTS / l->part;
    tni_lanes_spread(job->context, (l->outer + l->chunk - 1) / l->chunk, l->outer * l->n,
                     lanes_rows_task, job);
}

TN_PRIV void tni_lanes_run(tn_context *c, tni_lanes *l, const tni_reducer *r, void *scratch) {
    lanes_job job = {c, l, r, (char *)scratch};
    int64_t results = l->outer * l->width;
    if (!results) return;
    l->part = r->part;
    if (lanes_are_rows(l)) {
        lanes_run_rows(&job, l);
        return;
    }
    /* As many results as fit into a task's stack, a part for each of the blocks of a subtree. */
    l->chunk = l->columns ? (int)LANES_PARTS / TNI_SUBTREE / r->part : 1;
    l->chunks = (l->width + l->chunk - 1) / l->chunk;
    tni_lanes_spread(c, l->outer * l->chunks * l->subtrees, results * l->n, lanes_task, &job);
    if (l->subtrees > 1) {
        TNI_PATH(lanes_subtrees);
        tni_lanes_spread(c, l->outer * l->chunks, results * l->subtrees, lanes_join_task, &job);
    }
}

/* --- work for threads ------------------------------------------------------------------------- */

typedef struct lanes_group {
    void (*task)(void *arg, int64_t i);
    void *arg;
    int64_t each, count;
} lanes_group;

/* Group i: tasks [i each, (i + 1) each). */
static void lanes_group_task(void *arg, int64_t i) {
    const lanes_group *g = (const lanes_group *)arg;
    int64_t end = (i + 1) * g->each < g->count ? (i + 1) * g->each : g->count;
    for (int64_t k = i * g->each; k < end && !tni_stopped(); k++) g->task(g->arg, k);
}

TN_PRIV void tni_lanes_spread(tn_context *c, int64_t count, int64_t elements,
                              void (*task)(void *, int64_t), void *arg) {
    lanes_group g = {task, arg, 1, count};
    int64_t groups = elements / LANES_GRAIN;
    /* Too little work for two threads. */
    if (groups < 2 || count < 2) {
        for (int64_t i = 0; i < count && !tni_stopped(); i++) task(arg, i);
        return;
    }
    /* More groups than this would not balance threads any better. */
    if (groups > 256) groups = 256;
    g.each = (count + groups - 1) / groups;
    if (g.each < 1) g.each = 1;
    TNI_PATH(lanes_threads);
    tni_parallel(c, (count + g.each - 1) / g.each, lanes_group_task, &g);
}
