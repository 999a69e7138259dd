/* function.c - gradients of the user's own: a call whose node keeps what the user's functions saved
 * and gives it back in backward. Checkpoints (checkpoint.c) are written with them. */
#include "autograd.h"

/* What a function has saved: a leaf itself, of others a header of our own with their history then.
 * A user's header may get a later history, its own call's first of all, that leads back here. */
typedef struct function_saved {
    tn_tensor *t;         /* counted; of a packed one without its elements */
    tni_storage *storage; /* of t when it was saved, counted */
    tni_packed *packed;   /* what a hook made of it, then without storage; NULL: nothing */
    const tn_tensor *of;  /* what was saved; NULL once the call has ended */
    uint32_t version;
    int32_t out; /* number of the output, -1: not an output */
} function_saved;

static bool function_no_check(tn_frame *f) {
    return tn_fail(f, TN_INTERNAL, "a custom function cannot be called through its row");
}
static void function_no_grad(tn_gradient *g) { (void)g; }
static const tn_gen function_gen = {NULL, NULL, NULL,       NULL, 0, 0,   0,
                                    0,    0,    UINT16_MAX, 0,    0, {0}, 0};

/* One row a call: its name is the user's. It lies behind the function. */
typedef struct function_block {
    tn_function f;
    tn_row row;
} function_block;

static bool function_grow(tni_block *b, tn_function *f) {
    /* Doubles the room for saved tensors. */
    const int64_t each = (int64_t)sizeof(function_saved), room = f->room ? 2 * f->room : 4;
    function_saved *more;
    int64_t bytes;
    if (!tni_bytes(room, each, &bytes) || !(more = (function_saved *)tni_need(b, bytes)))
        return false;
    if (f->nsaved) memcpy(more, f->saved, (size_t)(f->nsaved * each));
    tni_put(b, f->b, f->saved, f->room * each);
    f->saved = more;
    f->room = room;
    return true;
}

TN_API bool tn_function_save(tn_function *f, tn_tensor *t) {
    tni_block *b = tni_here();
    function_saved *e;
    if (!b) return false;
    if (!f || !t) return tni_error(b, TN_INVALID, "tn_function_save: NULL");
    if (!tni_belongs(b, t, "tn_function_save")) return false;
    if (f->nsaved == f->room && !function_grow(b, f)) return false;
    /* The storage is counted as well: the tensor may be given other memory later. */
    e = &f->saved[f->nsaved];
    e->of = t;
    e->out = -1;
    e->packed = NULL;
    e->version = tni_load_relaxed(tni_version_of(t));
    e->t = t;
    e->storage = t->storage;
    /* A leaf stands for itself; of others a header with the history of this moment is kept. */
    if (t->flags & TNI_LEAF) {
        tni_retain(t);
    } else {
        if (!(e->t = tni_share(b, t->storage, t))) return false;
        if (t->node) tni_node_hang(b, t->node, e->t, (int)t->node_out);
        tni_move(b, e->t, 0);
    }
    tni_fetch_add_relaxed(&e->storage->refs, 1u);
    f->nsaved++;
    return true;
}

/* What hooks give back: new, with its history while gradients are recorded. */
static tn_tensor *function_unpack(tni_block *b, const tn_function *f, const function_saved *e) {
    tni_saved_edge edge = {NULL, NULL, 0};
    if (!b) return NULL;
    if (!tni_state(b)->no_grad) {
        edge = *tni_packed_edge(e->packed);
        if (e->out >= 0) {
            edge.node = f->node;
            edge.leaf = NULL;
            edge.out = e->out;
        }
    }
    return tni_unpack(b, e->packed, &edge);
}

TN_API tn_tensor *tn_function_saved(tn_function *f, int i) {
    tni_block *b = tni_here();
    function_saved *e;
    tn_tensor *t;
    if (!f || i < 0 || i >= f->nsaved) {
        tni_error(b, TN_INDEX, "tn_function_saved: index %d is out of range for %lld saved tensors",
                  i, f ? (long long)f->nsaved : 0);
        return NULL;
    }
    e = &f->saved[i];
    if (e->packed) return function_unpack(b, f, e);
    /* The tensor must have the same memory and version as when it was saved. */
    if (e->t->storage != e->storage || tni_load_relaxed(tni_version_of(e->t)) != e->version) {
        tni_error(b, TN_AUTOGRAD, "%s: saved tensor %d was modified in place after it was saved",
                  f->row->name, i);
        return NULL;
    }
    /* While gradients are recorded, a saved output has this call as its history. */
    if (e->out < 0 || !b || tni_state(b)->no_grad) return e->t;
    t = tni_share(b, e->t->storage, e->t); /* an output, with this call as its history */
    if (t) tni_node_hang(b, f->node, t, e->out);
    return t;
}

TN_API bool tn_function_written(tn_function *f, int i) {
    if (!f || i < 0 || i >= 64)
        return tni_error(tni_here(), TN_INDEX, "tn_function_written: input %d does not exist", i);
    f->written |= (uint64_t)1 << i;
    return true;
}

TN_API void *tn_function_user(tn_function *f) { return f ? f->user : NULL; }

/* Drops what was saved; the count is 0 first, since a release may run the user's code. */
static bool function_spend(tni_block *b, struct tn_function *f) {
    int64_t n = f->nsaved;
    f->nsaved = 0;
    for (int64_t i = 0; i < n; i++) {
        if (f->saved[i].packed) {
            tni_packed_drop(b, f->saved[i].packed);
            continue;
        }
        tni_release(b, f->saved[i].t);
        tni_storage_release(b, f->saved[i].storage);
    }
    return n > 0;
}

static void function_free(tni_block *b, struct tn_function *f) {
    function_spend(b, f);
    tni_put(b, f->b, f->saved, f->room * (int64_t)sizeof(function_saved));
    if (f->row->release) f->row->release(f->user);
    tni_put(b, f->b, f, (int64_t)sizeof(function_block));
}

TN_API void *tn_history_user(const tn_history *h, void (*release)(void *user)) {
    const tn_function *f = h ? h->function : NULL;
    return f && f->row->release == release ? f->user : NULL;
}

TN_PRIV bool tni_function_backward(tn_gradient *g) {
    /* The user's function fills give; its gradients are then summed and converted as a row's. */
    tn_function *f = g->node->function;
    tn_guard guard = tn_guard_begin();
    bool ok = f->row->backward(f, g->incoming, g->give);
    tn_guard_end(&guard, g->give, ok ? g->nin : 0);
    if (!ok) {
        if (!g->block->failed)
            tni_error(g->block, TN_INVALID, "%s: backward failed without setting an error",
                      f->row->name);
        return false;
    }
    /* give is cleared first, since tn_give adds to what is there. */
    for (int i = 0; i < g->nin; i++) {
        tn_tensor *t = g->give[i];
        g->give[i] = NULL;
        tn_give(g, i, t);
    }
    return !g->block->failed;
}

/* A row of this call's name, which refuses to be called. */
static function_block *function_new(tni_block *b, const tn_function_row *row, void *user) {
    function_block *k = (function_block *)tni_need(b, (int64_t)sizeof *k);
    if (!k) return NULL;
    memset(k, 0, sizeof *k);
    /* What the node calls when saved tensors are spent, and when it dies. */
    k->f.part.spend = function_spend;
    k->f.part.free = function_free;
    k->f.row = row;
    k->f.user = user;
    k->f.b = b;
    k->row.name = row->name;
    k->row.schema = row->name;
    k->row.gen = &function_gen;
    k->row.check = function_no_check;
    k->row.grad = function_no_grad;
    return k;
}

/* Whether out is a view that the forward has written, so that its base gets a history. */
static bool function_rebases(const function_block *k, tn_tensors in, const tn_tensor *out) {
    for (int64_t i = 0; i < in.n && i < 64; i++)
        if (in.at[i] == out && k->f.written >> i & 1) return (out->flags & TNI_VIEW) != 0;
    return false;
}

/* Output j may be recorded; an input given back becomes another header on its data, unless forward
 * has written it. */
static bool function_output(tni_block *b, const function_block *k, tn_tensors in, tn_tensor **out,
                            int j) {
    tn_tensor *t = out[j];
    const char *leaf;
    bool written = false;
    int64_t i = 0;
    /* i: the first input that is this output, in.n if none is. */
    if (!t) return tni_error(b, TN_INVALID, "%s: forward did not set output %d", k->row.name, j);
    while (i < in.n && in.at[i] != t) i++;
    if (i == in.n) return true;
    for (int64_t l = i; l < in.n && l < 64; l++)
        written = written || (in.at[l] == t && k->f.written >> l & 1);
    if (!written) return (out[j] = tni_share(b, t->storage, t)) != NULL;
    if (!(leaf = tni_unwritable(t))) return true;
    return tni_error(b, TN_AUTOGRAD, "%s: input %lld is %s and must not be written in place",
                     k->row.name, (long long)i, leaf);
}

/* Each saved tensor gives way to what the hooks of the thread make of it. */
static bool function_pack(tni_block *b, const tn_function *f) {
    tni_saved_hooks *hooks = tni_calls(b)->saved;
    bool ok = true;
    tni_fetch_add_relaxed(&hooks->refs, 1u); /* a hook may close them */
    for (int64_t i = 0; ok && i < f->nsaved; i++) {
        tni_packed *p = tni_pack_whole(b, hooks, f->saved[i].t);
        function_saved *e = &f->saved[i];
        if (!(ok = p != NULL)) break;
        e->packed = p;
        tni_release(b, e->t);
        tni_storage_release(b, e->storage);
        e->t = NULL;
        e->storage = NULL;
    }
    tni_saved_forget(b, hooks);
    return ok;
}

/* Hangs one node on the outputs. */
static bool function_record(tni_block *b, function_block *k, tn_tensors in, tn_tensor **out) {
    tn_frame f;
    tni_node *n, *rebase = NULL;
    /* The node's view of the call: inputs, outputs, no arguments. */
    tni_frame_begin(&f, b, &k->row, TN_PLAIN, NULL, 0, "");
    f.in = (tn_tensor **)(uintptr_t)in.at;
    f.nin = (int)in.n;
    f.out = out;
    f.nout = k->f.row->nout;
    /* Each output is checked, and an input given back gets its own header, before
     * there is a node. */
    for (int j = 0; j < f.nout; j++)
        if (!function_output(b, k, in, out, j)) return false;
    if (TNI_UNLIKELY(tni_load_relaxed(&b->hooks) & TNI_HOOK_SAVED) && !function_pack(b, &k->f))
        return false;
    if (!(n = f.node = tni_node_new(&f))) return false;
    /* A written view gives its base a node as well. */
    if (f.nout && function_rebases(k, in, out[0])) {
        f.inplace = true;
        if (!(rebase = tni_view_rebase(&f, out[0]))) {
            tni_node_abandon(b, n);
            return false;
        }
    }
    n->function = &k->f;
    k->f.node = n;
    /* Which of the saved tensors are outputs, found before the user's headers may change. */
    for (int i = 0; i < k->f.nsaved; i++) {
        function_saved *e = &k->f.saved[i];
        for (int j = 0; j < f.nout; j++)
            if (e->of == out[j]) e->out = j;
        e->of = NULL;
    }
    for (int j = 0; j < f.nout; j++)
        if (tni_dtype(out[j]->dtype)->category >= TNI_CAT_FLOAT) tni_node_hang(b, n, out[j], j);
    if (rebase) tni_node_hang(b, rebase, out[0]->base, 0);
    if (n->refs == 0) tni_node_abandon(b, n);
    return true;
}

/* The function in k, whose forward has made out. k goes, or hangs on the tape. */
static bool function_end(tni_block *b, function_block *k, tn_tensors in, tn_tensor **out, bool ok) {
    /* Recorded if an input requires grad and the caller's mode records. */
    bool record = false;
    for (int64_t i = 0; i < in.n; i++)
        record = record || (in.at[i] && in.at[i]->flags & TNI_REQUIRES && !tni_state(b)->no_grad);
    if (!ok && !b->failed)
        tni_error(b, TN_INVALID, "%s: forward failed without setting an error", k->row.name);
    /* An error that forward left behind is a failure. */
    ok = ok && !b->failed;
    if (ok && record) {
        if (function_record(b, k, in, out)) return true;
        ok = false;
    }
    function_free(b, &k->f);
    return ok;
}

/* Its forward would read one sample of a batch, and its backward have all. */
static bool function_takes(tni_block *b, const tn_function_row *row, const tn_tensor *t) {
    return !(t->flags & TNI_BATCHED) ||
           tni_error(b, TN_UNSUPPORTED, "%s: a function of your own takes no batched tensor",
                     row->name);
}

TN_API bool tn_function_call_at(const char *file, int line, const tn_function_row *row,
                                tn_tensors in, void *user, tn_tensor **out) {
    tni_block *b = tni_here();
    function_block *k = NULL;
    tn_guard guard;
    int nout = row->nout;
    /* release is called on every way out: user is the library's from here on. */
    bool entered = tni_enter(b, file, line), ok = entered;
    for (int j = 0; j < nout; j++) out[j] = NULL;
    ok = ok && tni_list_given(b, in, row->name);
    if (ok && nout < 0) ok = tni_error(b, TN_INVALID, "%s: %d outputs", row->name, nout);
    for (int64_t i = 0; ok && i < in.n; i++)
        if (in.at[i])
            ok = tni_belongs(b, in.at[i], row->name) && function_takes(b, row, in.at[i]) &&
                 (!tni_view_is_stale(in.at[i]) || tni_view_refresh(b, in.at[i]));
    if (!ok || !(k = function_new(b, row, user))) {
        if (row->release) row->release(user);
        return entered ? tni_leave(b, false) : false;
    }
    /* forward runs without recording, in a scope that goes with what it made. */
    guard = tn_guard_begin();
    tni_state(b)->no_grad = TNI_NO_GRAD;
    b->place_hold++;
    ok = tni_begin(b) >= 0 && row->forward(&k->f, in.at, (int)in.n, out);
    b->place_hold--;
    tni_state(b)->no_grad = guard.no_grad;
    nout = row->nout;                     /* which forward may set; row may go with the user */
    ok = function_end(b, k, in, out, ok); /* where it fails, what forward made goes */
    tn_guard_end(&guard, out, ok ? nout : 0);
    for (int j = 0; !ok && j < nout; j++) out[j] = NULL;
    return tni_leave(b, ok);
}
