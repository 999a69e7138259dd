/* run.c - look and run of a prepared call, and what they have done: versions advance, a request to
 * stop or a verdict takes random numbers back. Prepares nothing. */
#include "call.h"

/* tni_frame_has reads two of these at once. */
typedef char run_neighbours[offsetof(tn_frame, elsewhere) == offsetof(tn_frame, recording) + 1 &&
                                    offsetof(tn_frame, ngiven) == offsetof(tn_frame, elsewhere) + 1
                                ? 1
                                : -1];

enum { RUN_FEW = 4096 }; /* smaller draws ignore cancellation */

/* It reads only, so it is stopped even where run is not. */
TN_PRIV bool tni_look(tn_frame *f) {
    bool ok;
    if (tni_elsewhere(f)) return tni_device_look(f);
    f->work.stop.seen = 0;
    f->work.stop.request = f->block->unstopped ? NULL : &f->block->context->cancel;
    ok = f->row->look(f);
    return f->work.stop.seen ? tn_fail(f, TN_CANCELLED, "the call was cancelled") : ok;
}

/* A load and a store, not one atomic step: one thread at a time writes a tensor. */
static void run_bump(tn_tensor *t) {
    uint32_t *version = tni_version_of(t);
    tni_store_relaxed(version, tni_load_relaxed(version) + 1);
}

TN_PRIV void tni_bump_written(tn_frame *f) {
    const tn_gen *gen = f->row->gen;
    /* Given tensors, single arguments that are written, then members of lists. */
    tn_tensors l;
    int slot = gen->nfixed;
    for (int k = 0; k < f->ngiven; k++) run_bump(f->given[k]);
    if (!(gen->props & TN_PROP_MUTATED)) return;
    for (int i = 0; i < gen->nfixed; i++)
        if (tn_gen_tensor(gen, i)->flags & TN_P_MUTATED && f->in[i] && !(f->unwritten >> i & 1))
            run_bump(f->in[i]);
    /* slot: the first member of the list among the inputs. */
    TNI_EACH_LIST(i, l, gen, f->args) {
        if (gen->param[i].flags & TN_P_MUTATED)
            for (int64_t k = 0; k < l.n; k++)
                if (f->in[slot + k]) run_bump(f->in[slot + k]);
        slot += (int)l.n;
    }
}

/* Whether what run wrote may be published. */
static bool run_approves(tn_frame *f) {
    return !tni_load_relaxed(&f->work.stop.seen) && (!f->row->verdict || f->row->verdict(f));
}

/* A stream of random numbers advances only where they are published. */
static bool run_drawing(tn_frame *f) {
    tn_generator before;
    int64_t most = 0;
    /* The largest output says how much is drawn. */
    for (int k = 0; k < f->nout; k++)
        if (f->out[k] && f->out[k]->numel > most) most = f->out[k]->numel;
    if (most <= RUN_FEW) f->work.stop.request = NULL;
    if (!f->work.stop.request && !f->row->verdict) {
        f->row->run(f);
        return true;
    }
    /* The whole state, for it goes back if the numbers are not published. */
    before = *f->generator;
    f->row->run(f);
    if (run_approves(f)) return true;
    *f->generator = before;
    return false;
}

/* A call that writes what was there before it, or is a part of what must happen as a whole, goes on
 * to its end; what a row with a verdict writes was not. */
TN_PRIV TNI_NOINLINE bool tni_run_rare(tn_frame *f) {
    uint32_t *cancel = &f->block->context->cancel;
    const bool whole = (f->ngiven && !f->row->verdict) || f->row->gen->props & TN_PROP_MUTATED;
    if (tni_elsewhere(f)) return tni_device_run(f);
    if (!f->block->unstopped && tni_load_relaxed(cancel)) return false;
    f->work.stop.request = whole || f->block->unstopped ? NULL : cancel;
    if (f->generator) return run_drawing(f);
    f->row->run(f);
    return run_approves(f);
}
