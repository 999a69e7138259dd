/* short_view.c - the short way of a call that gives a view.
 *
 * The check of such a row makes every error and announces the view, and its run does nothing. So
 * where nothing about the call is unusual, what is left of the door's steps is a frame for the
 * check, and perhaps a node. What is unusual goes the long way, which finds all as it was. */
#include "../kernels/kernels.h"
#include "rowform.h"
#include "types.h"

/* Whether the door would take the lists. */
static bool short_view_lists(const tn_gen *gen, const void *args) {
    const tn_param *end = gen->param + gen->nparam;
    for (const tn_param *p = gen->param; p < end; p++)
        if (p->type == TN_T_INTS &&
            TNI_UNLIKELY(!tni_list_is_said(p, (const char *)args + p->offset)))
            return false;
    return true;
}

/* The row's one tensor, if it is of this thread and has data and a history that is up to date. */
TNI_INLINE tn_tensor *short_view_self(const tni_block *b, const tn_gen *gen, const void *args) {
    const unsigned odd = TNI_META | TNI_GHOST | TNI_NUMBER | TNI_STACK;
    tn_tensor *t;
    memcpy(&t, (const char *)args + tn_gen_tensor(gen, 0)->offset, sizeof t);
    if (TNI_UNLIKELY(!t) || TNI_UNLIKELY(t->owner != b) || TNI_UNLIKELY(t->flags & odd) ||
        TNI_UNLIKELY(tni_view_is_stale(t)))
        return NULL;
    return t;
}

TNI_INLINE void short_view_begin(tni_call *c, tni_block *b, const tn_row *row, const char *file,
                                 int line, const void *args, tn_tensor *self) {
    tn_frame *f = &c->f;
    /* What check reads of a frame, and no more. */
    tni_frame_begin(f, b, row, TN_PLAIN, file, line, args);
    f->nin = 1;
    f->in_[0] = self;
    f->recording =
        self->flags & TNI_REQUIRES && !tni_state(b)->no_grad && row->grad != tn_grad_zero;
    tni_frame_enter(f, b);
}

/* As the door leaves after a failure: what was made goes, nothing visible has changed. */
static TNI_NOINLINE bool short_view_failed(tn_frame *f, void *results) {
    tni_block *b = f->block;
    if (f->nout && f->out_[0]) tni_drop(b, f->out_[0]);
    tni_call_error(f);
    b->work = f->work.caller;
    *(tn_tensor **)results = NULL;
    return tni_leave(b, false);
}

TN_PRIV bool tni_view_short(const tn_row *row, unsigned how, const char *file, int line,
                            const void *args, void *results) {
    const tn_gen *gen = row->gen;
    tni_block *b = tni_here();
    tn_tensor *self;
    tni_call c;
    /* Anything unusual: an error, a form, a hook, a request to stop, an odd tensor or list. */
    if (TNI_UNLIKELY(!b) || TNI_UNLIKELY(b->failed | how) ||
        TNI_UNLIKELY(tni_load_relaxed(&b->hooks) | tni_load_relaxed(&b->context->cancel)) ||
        !(self = short_view_self(b, gen, args)) ||
        (TNI_INFERENCE_ONLY && self->flags & TNI_REQUIRES) ||
        (gen->props & TN_PROP_INTS && !short_view_lists(gen, args)))
        return tni_call_long(row, how, file, line, args, results);
    short_view_begin(&c, b, row, file, line, args, self);
    TNI_PATH(short_view);
    /* check makes the view; a node hangs on it if the call is recorded. */
    if (TNI_UNLIKELY(!row->check(&c.f)) ||
        (TNI_UNLIKELY(tni_is_recorded(&c.f)) && !tni_node_view(b, row, args, self, c.f.out_[0])))
        return short_view_failed(&c.f, results);
    b->work = c.f.work.caller;
    *(tn_tensor **)results = c.f.out_[0];
    return true;
}

TN_PRIV bool tni_reshape_short(const tn_row *row, unsigned how, const char *file, int line,
                               const void *args, void *results) {
    const tn_gen *gen = row->gen;
    const tn_tensor *self;
    memcpy(&self, (const char *)args + tn_gen_tensor(gen, 0)->offset, sizeof self);
    if (TNI_LIKELY(self && self->flags & TNI_CONTIGUOUS))
        return tni_view_short(row, how, file, line, args, results);
    return tni_call_long(row, how, file, line, args, results);
}
