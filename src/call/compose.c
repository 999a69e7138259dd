/* compose.c - rows that are made of calls of others. */
#include "call.h"
#include "../api/ops/shape.h"

TN_PRIV bool tni_given_apart(tn_frame *f, int k) {
    for (int j = 0; j < k; j++)
        if (f->given[j]->storage == f->given[k]->storage && tni_overlap(f->given[j], f->given[k]))
            return tn_fail(f, TN_INVALID, "out tensors %d and %d overlap", j, k);
    return true;
}

/* Whether the composed result k may be copied into the given tensor. */
static bool compose_fits_given(tn_frame *f, int k) {
    char has[128], wants[128];
    const tn_tensor *t = f->given[k], *made = f->out[k];
    /* As for a primitive row, but only now that the results are known. */
    if (tni_overlaps_itself(t))
        return tn_fail(f, TN_INVALID, "%s overlaps itself; clone it first", tni_written_name(f));
    if (!tni_given_apart(f, k)) return false;
    if (!tni_can_cast(made->dtype, t->dtype))
        return tn_fail(f, TN_TYPE, "result type %s can't be cast to the desired output type %s",
                       tni_dtype(made->dtype)->text, tni_dtype(t->dtype)->text);
    if (t->device != made->device)
        return tn_fail(f, TN_INVALID, "%s is on a different device: %s, but the result is on %s",
                       tni_written_name(f), tn_device_name(t->device),
                       tn_device_name(made->device));
    if (tni_same_shape(t, made)) return true;
    return tn_fail(f, TN_INVALID, "%s has shape %s, but the result has %s", tni_written_name(f),
                   tni_shape_text(has, sizeof has, t->ndim, t->size),
                   tni_shape_text(wants, sizeof wants, made->ndim, made->size));
}

/* Whether compose has made all results. */
static bool compose_made(tn_frame *f, int64_t n) {
    for (int k = 0; k < n; k++)
        if (!f->out[k]) return tn_fail(f, TN_INTERNAL, "result %d was not set", k);
    return true;
}

/* All of the composed results, though the context be asked to stop after the first. */
static bool compose_write_given(tn_frame *f) {
    bool ok = true;
    f->block->unstopped++;
    for (int k = 0; ok && k < f->ngiven; k++) {
        ok = tnp_copy_(f->given[k], f->out[k]) != NULL;
        if (ok) f->out[k] = f->given[k];
    }
    f->block->unstopped--;
    return ok;
}

/* What it calls; all of it, where it writes arguments. */
static bool compose_run(tn_frame *f) {
    tni_block *b = f->block;
    const bool whole = (f->row->gen->props & TN_PROP_MUTATED) != 0;
    /* Whole: a request to stop is heard before the first call or not at all. */
    if (!b->unstopped) f->work.stop.request = &b->context->cancel;
    bool ok = !whole || !tni_stop_seen(&f->work.stop);
    if (whole) f->work.stop.request = NULL;
    b->unstopped += whole;
    ok = ok && f->row->compose(f) && !b->failed;
    b->unstopped -= whole;
    f->work.stop.request = NULL;
    return TNI_UNLIKELY(f->work.stop.seen) ? tn_fail(f, TN_CANCELLED, "the call was cancelled")
                                           : ok;
}

/* What gradients read of the self that is written in the end is a copy. */
static bool compose_keep_self(tn_frame *f) {
    tn_tensor *const self = f->in[0];
    tn_tensor *copy;
    unsigned any = 0;
    /* Only if something is recorded: then gradients may read self after it has been written. */
    if (!f->inplace || tni_state(f->block)->no_grad) return true;
    for (int i = 0; i < f->nin; i++)
        if (f->in[i]) any |= f->in[i]->flags;
    if (!(any & TNI_REQUIRES)) return true;
    if (!(copy = tnp_clone(self, (tn_memory_format)0))) return false;
    for (int i = 0; i < f->nin; i++)
        if (f->in[i] == self) f->in[i] = copy;
    return true;
}

/* The calls that made the results are shown by the row's own .node; first: number of the first call
 * that compose made. */
static void compose_name(const tn_frame *f, uint64_t first) {
    for (int k = 0; f->row->node && k < f->nout; k++) {
        tni_node *n = f->out[k] ? f->out[k]->node : NULL;
        if (!n || n->id < first) continue;
        if (n->named.as) tni_row_use(n->named.as, -1);
        n->named.as = f->row;
        tni_row_use(f->row, 1);
    }
}

/* Everything is computed and checked before a given tensor is written. */
static bool compose_whole(tn_frame *f, int64_t room) {
    bool ok = compose_keep_self(f) && compose_run(f) && compose_made(f, room);
    for (int k = 0; ok && k < f->ngiven; k++) ok = compose_fits_given(f, k);
    return ok && (!f->ngiven || compose_write_given(f));
}

/* The same of a row that draws: random numbers that are not published are not drawn. */
static TNI_NOINLINE bool compose_drawing(tn_frame *f, int64_t room) {
    tn_generator before;
    if (!f->generator && !(f->generator = tni_generator_default(f->block))) return false;
    before = *f->generator;
    if (compose_whole(f, room)) return true;
    *f->generator = before;
    return false;
}

/* A composed row calls operators in a scope of its own and hands its results out. */
TN_PRIV TNI_NOINLINE bool tni_compose(tni_call *c) {
    tn_frame *f = &c->f;
    tni_block *b = f->block;
    /* One slot a result; a list makes its own room (tn_announce_count). */
    int64_t mark = tni_begin(b),
            room = f->row->gen->props & TN_PROP_RETURNS_LIST ? 0 : f->row->gen->nresults;
    const uint64_t first = tni_calls(b)->next_id;
    bool ok = mark >= 0;
    f->out = f->out_;
    f->nout = (int)room;
    for (int64_t k = 0; k < room; k++) f->out_[k] = NULL;
    ok = ok && (f->row->forms & TN_DRAWS ? compose_drawing(f, room) : compose_whole(f, room));
    if (ok) {
        compose_name(f, first);
        for (int k = 0; k < f->nout; k++)
            /* Results leave this scope; a result that is an argument stays where it is. */
            if (f->out[k] && f->out[k]->owner == b && f->out[k]->depth > mark)
                tni_move(b, f->out[k], mark);
        if (c->holder) tni_move(b, c->holder, mark);
    }
    tni_end(b, mark);
    return ok;
}
