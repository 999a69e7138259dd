/* record.c - record the calls of a thread and run them again on the same tensors: look and run, no
 * allocation, no lock.
 *
 * Composed rows vanish: what they called is recorded. Every tensor that takes part is counted until
 * the recording is freed, so the user rewrites the data of inputs and reads the data of outputs. */
#include "record.h"

/* Lists, texts and tensors of the copied arguments lie in the record. */
static void record_copy_lists(record_call *r) {
    const tn_gen *gen = r->f.row->gen;
    char *args = (char *)r + r->args_at;
    tni_args_copy(gen, args, (int64_t *)(void *)((char *)r + r->lists_at));
    tni_args_members(gen, args, r->f.in + gen->nfixed);
}

/* A number given as an argument becomes a tensor of its own, with the number's low rank
 * in promotion. */
static tn_tensor *record_number(tni_block *b, const tn_tensor *n) {
    tn_tensor *t = tni_new(b, n->dtype, 0, NULL);
    if (!t) return NULL;
    memcpy(t->storage->data, n->storage->data, (size_t)tni_dtype_size(n));
    t->flags |= TNI_NUMBER;
    return tni_move(b, t, 0);
}

/* A ghost dies with its gradient; of it rows read the shape alone. */
static tn_tensor *record_ghost(tni_block *b, const tn_tensor *ghost) {
    tn_tensor *t = tni_header(b, ghost->dtype, ghost->ndim, ghost->size, NULL);
    if (!t) return NULL;
    tni_set_device(t, ghost->device, (ghost->flags & TNI_META) != 0);
    t->flags |= TNI_GHOST;
    return tni_move(b, t, 0);
}

static bool record_inputs(tni_block *b, record_call *r, const tn_frame *f) {
    /* Outputs, given tensors and inputs are counted: they must outlive the user's scopes. */
    memset((void *)r->f.in, 0, (size_t)f->nin * sizeof *r->f.in); /* what a failure releases */
    for (int k = 0; k < f->nout; k++) {
        r->f.out[k] = f->out[k];
        tni_retain(f->out[k]);
        if (r->redirected >> k & 1) tni_retain(f->given[k]);
    }
    for (int i = 0; i < f->nin; i++) {
        tn_tensor *t = f->in[i];
        /* These die with the call, which gets others of its own. */
        if (t && t->flags & TNI_STACK) {
            r->f.in[i] = t->flags & TNI_GHOST ? record_ghost(b, t) : record_number(b, t);
            if (!r->f.in[i]) return false;
        } else {
            r->f.in[i] = t;
            tni_retain(t);
        }
    }
    return true;
}

/* b: the caller's; owner: of the memory. */
static void record_free_call(tni_block *b, tni_block *owner, record_call *r) {
    for (int i = 0; i < r->f.nin; i++) tni_release(b, r->f.in[i]);
    for (int k = 0; k < r->f.nout; k++) {
        tni_release(b, r->f.out[k]);
        if (r->redirected >> k & 1) tni_release(b, r->f.given[k]);
    }
    tni_row_use(r->f.row, -1);
    if (r->f.scratch) tni_put(b, owner, r->f.scratch, (int64_t)r->f.scratch_bytes);
    tni_put(b, owner, r, r->bytes);
}

TN_PRIV bool tni_record_call(tni_call *c) {
    tn_frame *f = &c->f;
    tni_block *b = f->block;
    tn_recording *to = tni_calls(b)->recording;
    const tn_gen *gen = f->row->gen;
    /* One block: the record, its slots, lists, and last the argument struct. */
    int64_t lists = (int64_t)sizeof(record_call) + (f->nin + f->nout) * (int64_t)sizeof(int64_t);
    int64_t args = lists + tni_args_words(gen, f->args) * (int64_t)sizeof(int64_t);
    record_call *r;
    if (tni_state(b)->deferred && !tni_elsewhere(f)) return true;
    r = (record_call *)tni_need(b, args + gen->args_size);
    if (!r) return false;
    r->next = NULL;
    r->graph = NULL;
    if (tni_elsewhere(f)) to->elsewhere = true;
    /* The frame is copied and then points into the record. */
    r->f = *f;
    tni_row_use(f->row, 1);
    r->bytes = args + gen->args_size;
    r->args_at = args;
    r->lists_at = lists;
    r->redirected = c->redirected;
    r->f.in = (tn_tensor **)(void *)(r + 1);
    r->f.out = r->f.in + f->nin;
    r->f.args = (char *)r + args;
    /* A replay records nothing on the tape. */
    r->f.recording = false;
    r->f.node = NULL;
    r->f.scratch = NULL;
    memcpy((char *)r + args, f->args, gen->args_size);
    /* Scratch belongs to the record, so a replay takes no memory. */
    if (!record_inputs(b, r, f) ||
        (f->scratch_bytes && !(r->f.scratch = tni_need(b, (int64_t)f->scratch_bytes)))) {
        record_free_call(b, b, r);
        return false;
    }
    record_copy_lists(r);
    /* Appended at the end: a replay runs calls in the order in which they were made. */
    if (to->last)
        to->last->next = r;
    else
        to->first = r;
    to->last = r;
    return true;
}

TN_PRIV bool tni_record_defers(tn_frame *f) {
    bool reads;
    if (!tni_elsewhere(f) || f->meta) return true;
    reads = f->row->verdict || tni_device_looks(f) || f->device == TN_CPU;
    for (int k = 0; k < f->nout; k++) reads = reads || (f->out[k] && f->out[k]->device == TN_CPU);
    return !reads || tn_fail(f, TN_UNSUPPORTED,
                             "a graph is captured: the host cannot read what this call makes "
                             "or takes");
}

TN_PRIV void tni_record_undo(const tn_frame *f) {
    tni_block *b = f->block;
    tn_recording *from = tni_calls(b)->recording;
    record_call *last = from ? from->last : NULL, *before = NULL;
    if (!last || (tni_state(b)->deferred && !tni_elsewhere(f))) return;
    /* The list is singly linked: taking the last one off is rare. */
    for (record_call *r = from->first; r != last; r = r->next) before = r;
    if (before)
        before->next = NULL;
    else
        from->first = NULL;
    from->last = before;
    record_free_call(b, b, last);
}

TN_PRIV void tni_record_redirect(record_call *r) {
    tn_frame *f = &r->f;
    for (int k = 0; TNI_UNLIKELY(r->redirected >> k); k++)
        if (r->redirected >> k & 1) tni_copy_elements(f->block, f->given[k], f->out[k]);
}

TN_PRIV void tni_record_written(record_call *r, bool ok) {
    tn_frame *f = &r->f;
    if (ok) tni_bump_written(f);
    for (int k = f->ngiven; k < f->nout; k++) {
        const tn_tensor *t = r->redirected >> k & 1 ? f->given[k] : f->out[k];
        bool view = !t;
        for (int i = 0; i < f->nin && !view; i++)
            view = f->in[i] && f->in[i]->storage == t->storage;
        if (!view) tni_fetch_add_relaxed(tni_version_of(t), 1u);
    }
}

static bool record_look(record_call *r) {
    tn_frame *f = &r->f;
    /* A size that depends on data was fixed when it was recorded. */
    int64_t count = f->count, now;
    bool ok;
    f->count = 0;
    ok = !f->row->look || tni_look(f);
    now = f->count;
    f->count = count;
    if (!ok) return false;
    return !f->row->look || now == count ||
           tn_fail(f, TN_INVALID, "the result has %lld entries, but %lld were recorded",
                   (long long)now, (long long)count);
}

TN_PRIV bool tni_record_replay(tni_block *b, record_call *r) {
    tn_frame *f = &r->f;
    bool ok;
    f->work.caller = b->work;
    b->work = &f->work;
    ok = !tni_stop_asked(b->context) || b->unstopped ||
         tn_fail(f, TN_CANCELLED, "the replay was cancelled");
    ok = ok && record_look(r);
    if (ok) {
        b->unstopped++; /* it writes tensors that were there before */
        ok = tni_run(f, f->row, b);
        b->unstopped--;
        if (ok) tni_record_redirect(r);
        tni_record_written(r, ok);
    }
    if (!ok) tni_call_error(f);
    b->work = f->work.caller;
    return ok;
}

static bool record_begin(const char *function) {
    tni_block *b = tni_here();
    if (!b || b->failed) return false;
    /* One recording a thread; from here on the hook sends every call the long way. */
    if (tni_calls(b)->recording)
        return tni_error_apart(b, TN_INVALID, "%s: a recording is already in progress", function);
    tni_calls(b)->recording = (tn_recording *)tni_need(b, (int64_t)sizeof(tn_recording));
    if (!tni_calls(b)->recording) return false;
    memset(tni_calls(b)->recording, 0, sizeof(tn_recording));
    tni_calls(b)->recording->b = b;
    tni_hook_set(b, TNI_HOOK_RECORD, true);
    return true;
}

TN_API bool tn_record_begin(void) { return record_begin("tn_record_begin"); }
TN_API bool tn_capture_begin(void) {
    const bool ok = record_begin("tn_capture_begin");
    if (ok) tni_state(tni_here())->deferred = true;
    return ok;
}
TN_API bool tn_is_capturing(void) {
    const tni_block *b = tni_here();
    return b && tni_state(b)->deferred;
}

TN_API tn_recording *tn_record_end(void) {
    tni_block *b = tni_here();
    /* The recording goes to the caller, who frees it. */
    tn_recording *r = b ? tni_calls(b)->recording : NULL;
    if (!r) {
        if (b) tni_error_apart(b, TN_INVALID, "tn_record_end: no recording is in progress");
        return NULL;
    }
    tni_calls(b)->recording = NULL;
    tni_state(b)->deferred = false;
    tni_hook_set(b, TNI_HOOK_RECORD, false);
    return r;
}

TN_PRIV void tni_record_drop(tni_block *b) {
    tn_recording *r = tni_calls(b)->recording;
    tni_calls(b)->recording = NULL;
    tni_state(b)->deferred = false;
    tn_recording_free(r);
}

TN_API void tn_recording_free(tn_recording *recording) {
    tni_block *b = recording ? tni_here() : NULL;
    if (!b) return;
    if (recording->drop) recording->drop(b, recording);
    /* Any thread may free it: counts are atomic, and memory goes back to its owner. */
    while (recording->first) {
        record_call *r = recording->first;
        recording->first = r->next;
        record_free_call(b, recording->b, r);
    }
    tni_put(b, recording->b, recording, (int64_t)sizeof *recording);
}
