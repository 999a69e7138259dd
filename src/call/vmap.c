/* vmap.c - calls on batched tensors: one call for all samples of a batch.
 *
 * A batched tensor is a header with the shape and strides of one sample; the whole batch, with the
 * samples in dimension 0, hangs on it (tni_extra.batch) and is an ordinary tensor, or a sample of
 * an outer batch. The door checks a call as of one sample, which makes all errors of shapes and
 * says what the results of one are, and leaves the rest to this file. Its ways: the row itself on
 * whole batches (loops over elements; rows that take leading dimensions), a view of the whole batch
 * with the strides that check found, or the row for one sample after another. All are calls of rows
 * on whole batches, so gradients are recorded there and nowhere else. */
#include "../api/ops/creation.h"
#include "../api/ops/shape.h"
#include "../api/vmap.h"
#include "whole.h"

typedef struct vmap_lift {
    tn_frame *f;
    tni_batch *batch;
    tn_tensor **whole; /* of each input: the whole batch; NULL: the same for all, or absent */
    tn_tensor **slot;  /* the inputs of a call that is made */
    char *args;        /* its arguments */
    void *memory;
    int64_t bytes;
} vmap_lift;

/* --- a call on whole batches ------------------------------------------------------------------ */

static bool vmap_open(vmap_lift *l, tni_call *c) {
    tn_frame *f = l->f = &c->f;
    const int64_t args = (f->row->gen->args_size + 15) & ~15;
    if (!tni_bytes(f->nin ? f->nin : 1, 2 * (int64_t)sizeof(tn_tensor *), &l->bytes) ||
        !tni_add(l->bytes, args, &l->bytes) || !(l->memory = tni_need(f->block, l->bytes)))
        return false;
    l->args = (char *)l->memory;
    l->whole = (tn_tensor **)(void *)(l->args + args);
    l->slot = l->whole + f->nin;
    return true;
}

/* The batch that the call is made for: the innermost that an argument is of; where random numbers
 * are drawn, the innermost that is open. */
static bool vmap_find(vmap_lift *l) {
    const tn_frame *f = l->f;
    uint64_t number = 0;
    l->batch = tni_calls(f->block)->batch;
    if (f->generator) number = l->batch->number;
    for (int i = 0; i < f->nin; i++)
        if (f->in[i] && tni_batch_number(f->in[i]) > number) number = tni_batch_number(f->in[i]);
    while (l->batch && l->batch->number != number) l->batch = l->batch->outer;
    for (int i = 0; l->batch && i < f->nin; i++) l->whole[i] = tni_whole_of(l->batch, f->in[i]);
    return l->batch ||
           tn_fail(l->f, TN_INVALID, "an argument is of a batch that has ended in this thread");
}

/* Calls the row, with the inputs in l->slot and arguments that begin as those of f. */
static bool vmap_make(vmap_lift *l, void *results) {
    tn_frame *f = l->f;
    const tn_gen *gen = f->row->gen;
    for (int i = 0; i < gen->nfixed; i++)
        if (f->in[i] && !(f->in[i]->flags & TNI_NUMBER))
            memcpy(l->args + tn_gen_tensor(gen, i)->offset, &l->slot[i], sizeof l->slot[i]);
    tni_args_members(gen, l->args, l->slot + gen->nfixed);
    return tn_call(f->row, f->inplace ? TN_IN_PLACE : TN_PLAIN, f->work.file, f->work.line, l->args,
                   results);
}

static void vmap_args(vmap_lift *l) { memcpy(l->args, l->f->args, l->f->row->gen->args_size); }

typedef union vmap_results {
    tn_tensor *one[TNI_RESULTS];
    tn_list list;
} vmap_results;

static tn_tensor *const *vmap_at(const vmap_lift *l, const vmap_results *r) {
    return l->f->row->gen->props & TN_PROP_RETURNS_LIST ? r->list.at : r->one;
}

/* How many results the caller sees. */
static int vmap_count(const vmap_lift *l) {
    const tn_gen *gen = l->f->row->gen;
    return gen->props & TN_PROP_RETURNS_LIST || l->f->nout < gen->nresults ? l->f->nout
                                                                           : gen->nresults;
}

/* Result k is a sample of `whole`, or nothing, as it was not asked for; what check announced goes.
 */
static bool vmap_give(vmap_lift *l, int k, tn_tensor *whole) {
    tn_frame *f = l->f;
    const bool none = whole && f->out[k] && !whole->numel && whole->ndim == f->out[k]->ndim;
    tn_tensor *t = none ? whole : whole ? tni_sample_of(f->block, l->batch, whole) : NULL;
    if (!t) return false;
    if (f->out[k]) tni_drop(f->block, f->out[k]);
    f->out[k] = t;
    return true;
}

static bool vmap_give_all(vmap_lift *l, const vmap_results *r) {
    bool ok = true;
    for (int k = 0; ok && k < vmap_count(l); k++) ok = vmap_give(l, k, vmap_at(l, r)[k]);
    return ok;
}

/* --- loops over elements ---------------------------------------------------------------------- */

/* The dtype of what has dimensions among the inputs; none if nothing has. */
static tn_dtype vmap_main_dtype(const vmap_lift *l) {
    tn_dtype d = TN_NO_DTYPE;
    for (int i = 0; i < l->f->nin; i++) {
        const tn_tensor *t = l->f->in[i];
        if (t && t->ndim) d = d ? tn_promote(d, (tn_dtype)t->dtype) : (tn_dtype)t->dtype;
    }
    return d;
}

/* A number in each sample is a vector of the batch, which would weigh more in the dtype. So
 * beside what has dimensions in a sample it takes the dtype that one number would get there, and
 * beside other numbers these become vectors too. */
static tn_tensor *vmap_as_number(tn_tensor *whole, tn_dtype beside) {
    const int mine = tni_dtype(whole->dtype)->category, his = tni_dtype((int)beside)->category;
    tn_dtype to = beside;
    if (!beside || mine == TNI_CAT_BOOL || his == TNI_CAT_BOOL) return whole;
    if (mine > his) {
        if (mine != TNI_CAT_COMPLEX || his != TNI_CAT_FLOAT) return whole;
        to = tni_complex_of((int)beside);
    }
    return (int)to == whole->dtype ? whole : tnp_to_dtype(whole, to, false, false);
}

/* Samples in front, then as many dimensions as the result of a sample has. */
static tn_tensor *vmap_aligned(const vmap_lift *l, int i, int ndim, tn_dtype beside) {
    const tn_tensor *t = l->f->in[i];
    tn_tensor *whole = l->whole[i];
    if (!whole)
        return t->ndim || beside ? (tn_tensor *)(uintptr_t)t
                                 : tni_whole_each(l->f, l->whole, i, l->batch->size);
    if (i == 0 && l->f->inplace) return whole;
    if (!t->ndim) whole = vmap_as_number(whole, beside);
    return tni_whole_align(whole, t->ndim, ndim);
}

static bool vmap_elements(vmap_lift *l) {
    const tn_frame *f = l->f;
    const tn_dtype beside = vmap_main_dtype(l);
    vmap_results r;
    int ndim = 0;
    for (int i = 0; i < f->nin; i++)
        if (f->in[i] && f->in[i]->ndim > ndim) ndim = f->in[i]->ndim;
    for (int i = 0; i < f->nin; i++) {
        const bool given = f->in[i] && !(f->in[i]->flags & TNI_NUMBER);
        l->slot[i] = given ? vmap_aligned(l, i, ndim, beside) : NULL;
        if (given && !l->slot[i]) return false;
    }
    vmap_args(l);
    return vmap_make(l, &r) && (f->inplace || vmap_give_all(l, &r));
}

static bool vmap_too_many(tn_frame *f) {
    return tn_fail(f, TN_INVALID, "the whole batch has more than %d dimensions", (int)TN_MAX_DIMS);
}

/* --- views ------------------------------------------------------------------------------------ */

/* The row on whole batches as they are: it takes any dimensions and leaves those in front. */
static bool vmap_direct(vmap_lift *l) {
    vmap_results r;
    for (int i = 0; i < l->f->nin; i++) l->slot[i] = l->whole[i] ? l->whole[i] : l->f->in[i];
    vmap_args(l);
    return vmap_make(l, &r) && vmap_give_all(l, &r);
}

/* Whether samples lie one behind the other, so that a view may stay within its own. */
static bool vmap_is_apart(const tn_tensor *whole) {
    int64_t last = 0;
    for (int d = 1; d < whole->ndim; d++) last += (whole->size[d] - 1) * whole->stride[d];
    return whole->size[0] < 2 || !whole->numel || whole->stride[0] > last;
}

/* A batch that is repeated, as one that is copied, if its view is to be recorded: gradients of its
 * elements must not meet. */
static tn_tensor *vmap_unrepeated(vmap_lift *l, tn_tensor *whole, const tn_tensor *self) {
    if (vmap_is_apart(whole) || !(whole->flags & TNI_REQUIRES) || !(self->flags & TNI_CONTIGUOUS) ||
        tni_state(l->f->block)->no_grad)
        return whole;
    for (int k = 0; k < vmap_count(l); k++) l->f->out[k]->offset -= self->offset;
    return tnp_clone(whole, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
}

static bool vmap_same_geometry(const tn_tensor *a, const tn_tensor *b) {
    return tni_same_shape(a, b) && a->offset == b->offset &&
           (!a->ndim || !memcmp(a->stride, b->stride, sizeof *a->stride * (size_t)a->ndim));
}

/* check found the strides of one sample; those of the whole batch have one more in front. */
static bool vmap_view(vmap_lift *l, tn_tensor *self) {
    tn_frame *f = l->f;
    tn_tensor *whole = tni_whole_of(l->batch, self);
    bool ok = true;
    if (f->nout == 1 && vmap_same_geometry(f->out[0], self)) return vmap_give(l, 0, whole);
    whole = vmap_unrepeated(l, whole, self);
    if (!whole) return false;
    for (int k = 0; ok && k < vmap_count(l); k++) {
        const tn_tensor *t = f->out[k];
        int64_t size[TN_MAX_DIMS + 1], stride[TN_MAX_DIMS + 1];
        if (t->ndim >= TN_MAX_DIMS) return vmap_too_many(f);
        size[0] = l->batch->size;
        stride[0] = whole->stride[0];
        memcpy(size + 1, t->size, (size_t)t->ndim * sizeof *size);
        memcpy(stride + 1, t->stride, (size_t)t->ndim * sizeof *stride);
        ok = vmap_give(l, k,
                       tnp_as_strided(whole, tni_ints(size, t->ndim + 1),
                                      tni_ints(stride, t->ndim + 1), t->offset, tn_no_dims(), 0));
    }
    return ok;
}

/* The input that all results are views of; NULL: they are none. */
static tn_tensor *vmap_viewed(const vmap_lift *l) {
    const tn_frame *f = l->f;
    for (int i = 0; !f->inplace && i < f->nin; i++)
        if (l->whole[i] && f->nout && f->out[0] && f->out[0]->storage == f->in[i]->storage)
            return f->in[i];
    return NULL;
}

/* --- leading dimensions ----------------------------------------------------------------------- */

/* Whether p counts dimensions, which a row that takes leading ones has counted from the end. */
static bool vmap_is_dim(const tn_param *p) { return strstr(p->name, "dim") != NULL; }

static int vmap_ndim(const vmap_lift *l) {
    for (int i = 0; i < l->f->nin; i++)
        if (l->f->in[i] && !(l->f->in[i]->flags & TNI_NUMBER)) return l->f->in[i]->ndim;
    return 0;
}

/* Whether all have as many dimensions. */
static bool vmap_same_ndim(const vmap_lift *l) {
    const int ndim = vmap_ndim(l);
    for (int i = 0; i < l->f->nin; i++)
        if (l->f->in[i] && l->f->in[i]->ndim != ndim) return false;
    return true;
}

/* The list of dimensions p, from the end, in `to`: of none given, all. */
static tn_ints vmap_dims(tn_ints given, int ndim, int64_t *to) {
    int64_t n = given.n;
    if (n < 0 || (n == 0 && !given.at)) {
        for (n = 0; n < ndim; n++) to[n] = n - ndim;
        return tni_ints(to, n);
    }
    for (int64_t i = 0; i < n; i++) to[i] = given.at[i] < 0 ? given.at[i] : given.at[i] - ndim;
    return tni_ints(to, n);
}

/* Arguments for whole batches: dimensions from the end, sizes with the samples in front. False: the
 * call cannot be made so. */
static bool vmap_leading_args(vmap_lift *l, int64_t *room) {
    const tn_gen *gen = l->f->row->gen;
    const int ndim = vmap_ndim(l);
    vmap_args(l);
    if (gen->props & TN_PROP_LISTS && !vmap_same_ndim(l)) return false;
    for (int i = 0; i < l->f->nin; i++) /* one element, which stands for a list of one */
        if (l->f->in[i] && !(l->f->in[i]->flags & TNI_NUMBER) && ndim && !l->f->in[i]->ndim)
            return false;
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        char *at = l->args + p->offset;
        tn_ints list;
        int64_t dim;
        if (p->type == TN_T_INTS && l->f->row->forms & TN_SHAPE_ONLY &&
            strcmp(p->name, "size") == 0) {
            memcpy(&list, at, sizeof list);
            if (list.n >= TN_MAX_DIMS) return false;
            room[0] = l->batch->size;
            memcpy(room + 1, list.at, (size_t)list.n * sizeof *room);
            list = tni_ints(room, list.n + 1);
            memcpy(at, &list, sizeof list);
            continue;
        }
        if (!vmap_is_dim(p) || (p->type != TN_T_INT && p->type != TN_T_INTS)) continue;
        if (!ndim) return false; /* its one dimension is of no number */
        if (p->type == TN_T_INT) {
            memcpy(&dim, at, sizeof dim);
            if (dim == TN_NONE) return false;
            if (dim >= 0) dim -= ndim;
            memcpy(at, &dim, sizeof dim);
            continue;
        }
        memcpy(&list, at, sizeof list);
        if (list.n > TN_MAX_DIMS || (list.n == 0 && list.at)) return false;
        list = vmap_dims(list, ndim, room);
        memcpy(at, &list, sizeof list);
    }
    return true;
}

static bool vmap_leading(vmap_lift *l) {
    vmap_results r;
    for (int i = 0; i < l->f->nin; i++) {
        tn_tensor *t = l->f->in[i];
        const bool given = t && !(t->flags & TNI_NUMBER);
        l->slot[i] = given ? tni_whole_each(l->f, l->whole, i, l->batch->size) : NULL;
        if (given && !l->slot[i]) return false;
    }
    return vmap_make(l, &r) && (l->f->inplace || vmap_give_all(l, &r));
}

/* --- one sample after another ----------------------------------------------------------------- */

/* A tensor that is written must differ from sample to sample where what is written does. */
static bool vmap_may_write(const vmap_lift *l) {
    const tn_frame *f = l->f;
    const tn_gen *gen = f->row->gen;
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_param *p = tn_gen_tensor(gen, i);
        const bool written =
            f->inplace ? i == 0 : p->flags & TN_P_MUTATED && !(f->unwritten >> i & 1);
        if (written && f->in[i] && !l->whole[i])
            return tn_fail(l->f, TN_UNSUPPORTED,
                           "%s is written in place, but it is the same for all samples of the "
                           "batch, and other arguments are not",
                           p->name);
    }
    return true;
}

/* The call for sample s: its results at `made`, n of them. */
static bool vmap_one(vmap_lift *l, int64_t s, tn_tensor **made, int n) {
    const tn_frame *f = l->f;
    vmap_results r;
    for (int i = 0; i < f->nin; i++) {
        l->slot[i] = l->whole[i] ? tnp_select(l->whole[i], 0, s) : f->in[i];
        if (f->in[i] && !l->slot[i]) return false;
    }
    vmap_args(l);
    if (!vmap_make(l, &r)) return false;
    for (int k = 0; k < n; k++) made[k] = vmap_at(l, &r)[k];
    return true;
}

/* Results of no sample: their shapes are known, as they depend on no data. */
static bool vmap_none(vmap_lift *l) {
    tn_frame *f = l->f;
    bool ok = true;
    for (int k = 0; ok && k < vmap_count(l); k++) {
        const tn_tensor *t = f->out[k];
        int64_t size[TN_MAX_DIMS + 1] = {0};
        if (t->ndim >= TN_MAX_DIMS) return vmap_too_many(f);
        memcpy(size + 1, t->size, (size_t)t->ndim * sizeof *size);
        ok = vmap_give(l, k, tnp_zeros(tni_ints(size, t->ndim + 1), (tn_dtype)t->dtype, t->device));
    }
    return ok;
}

static bool vmap_stack(vmap_lift *l, tn_tensor **made, int n) {
    bool ok = true;
    for (int k = 0; ok && k < n; k++)
        ok =
            vmap_give(l, k, tnp_stack(tn_tensors_of(made + k * l->batch->size, l->batch->size), 0));
    return ok;
}

static bool vmap_loop(vmap_lift *l) {
    tn_frame *f = l->f;
    tni_block *b = f->block;
    const int64_t size = l->batch->size;
    const bool same = f->generator && l->batch->randomness == TN_RANDOM_SAME;
    const int n = f->inplace ? 0 : vmap_count(l);
    tn_tensor **made = NULL, *each[TNI_RESULTS];
    tn_generator before;
    int64_t bytes;
    bool ok;
    if (!vmap_may_write(l)) return false;
    if (!size) return f->inplace || vmap_none(l);
    if (n > TNI_RESULTS)
        return tn_fail(f, TN_UNSUPPORTED, "it gives more than %d results, which no batch may have",
                       (int)TNI_RESULTS);
    if (!tni_bytes(n * size + 1, (int64_t)sizeof *made, &bytes) ||
        !(made = (tn_tensor **)tni_need(b, bytes)))
        return false;
    if (same) before = *f->generator;
    ok = true;
    for (int64_t s = 0; ok && s < size; s++) {
        if (same) *f->generator = before;
        ok = vmap_one(l, s, each, n);
        for (int k = 0; ok && k < n; k++) made[k * size + s] = each[k];
    }
    ok = ok && vmap_stack(l, made, n);
    tni_put(b, b, made, bytes);
    return ok;
}

/* --- the call --------------------------------------------------------------------------------- */

/* Random numbers in a batch. False with an error; *done: the call was made as outside of it. */
static bool vmap_draws(vmap_lift *l, bool *done) {
    tn_frame *f = l->f;
    vmap_results r;
    bool any = false;
    *done = false;
    if (l->batch->randomness == TN_RANDOM_ERROR && !f->meta)
        return tn_fail(f, TN_UNSUPPORTED,
                       "random numbers in a batch: ask for the same or for different ones in each "
                       "sample");
    for (int i = 0; i < f->nin; i++) any = any || l->whole[i];
    if (any || (l->batch->randomness == TN_RANDOM_DIFFERENT && !f->meta)) return true;
    *done = true;
    memcpy(l->slot, f->in, (size_t)f->nin * sizeof *l->slot);
    vmap_args(l);
    if (!vmap_make(l, &r)) return false;
    for (int k = 0; !f->inplace && k < vmap_count(l); k++) {
        tni_drop(f->block, f->out[k]);
        f->out[k] = vmap_at(l, &r)[k];
    }
    return true;
}

static bool vmap_way(vmap_lift *l, const tni_call *c) {
    tn_frame *f = l->f;
    int64_t dims[TN_MAX_DIMS];
    tn_tensor *viewed;
    bool done = false;
    if (f->ngiven && !f->inplace)
        return tn_fail(f, TN_UNSUPPORTED, "out= is not supported for batched tensors");
    if (c->unknown_out >= 0)
        return tn_fail(f, TN_UNSUPPORTED,
                       "the result's size depends on data, which differ from sample to sample");
    if (f->generator) return vmap_draws(l, &done) && (done || vmap_loop(l));
    if (f->row->rules) return vmap_may_write(l) && vmap_elements(l);
    viewed = vmap_viewed(l);
    if (viewed &&
        (f->row->grad == tn_grad_zero || f->out[0]->dtype != tni_whole_of(l->batch, viewed)->dtype))
        return vmap_direct(l);
    if (f->row->forms & TN_LEADING && vmap_leading_args(l, dims))
        return vmap_may_write(l) && vmap_leading(l);
    if (f->row->batched && !f->inplace && l->batch->size) {
        tn_tensor *whole = f->row->batched(f, l->whole);
        if (whole || f->block->failed) return vmap_give(l, 0, whole);
    }
    if (viewed) return vmap_view(l, viewed);
    return vmap_loop(l);
}

/* What a call leaves: its results in the scope it was made in, nothing else. */
static void vmap_finish(tni_call *c, int count, int64_t mark) {
    tn_frame *f = &c->f;
    tni_block *b = f->block;
    if (f->inplace) {
        if (f->out[0] != f->given[0]) tni_drop(b, f->out[0]);
        f->out[0] = f->given[0];
        if (f->given[0]->flags & TNI_BATCHED) tni_sample_follow(f->given[0]);
        return;
    }
    for (int k = 0; k < f->nout; k++) {
        if (k >= count)
            tni_drop(b, f->out[k]);
        else if (f->out[k] && f->out[k]->owner == b && f->out[k]->depth > mark)
            tni_move(b, f->out[k], mark);
    }
    f->nout = count;
}

TN_PRIV bool tni_vmap_call(tni_call *c) {
    tn_frame *f = &c->f;
    tni_block *b = f->block;
    tni_batch *open = tni_calls(b)->batch;
    vmap_lift l = {NULL, NULL, NULL, NULL, NULL, NULL, 0};
    const int64_t mark = tni_begin(b);
    bool ok = mark >= 0 && vmap_open(&l, c) && vmap_find(&l);
    f->recording = false; /* what it calls records itself */
    if (ok) {
        tni_calls(b)->batch = l.batch->outer;
        ok = vmap_way(&l, c);
        tni_calls(b)->batch = open;
    }
    if (ok)
        vmap_finish(c, vmap_count(&l), mark);
    else
        for (int k = 0; mark >= 0 && k < f->nout; k++) /* what goes with the scope */
            if (f->out[k] && f->out[k]->owner == b && f->out[k]->depth > mark) f->out[k] = NULL;
    if (l.memory) tni_put(b, b, l.memory, l.bytes);
    tni_end(b, mark);
    return ok;
}
