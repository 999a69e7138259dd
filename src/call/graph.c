/* graph.c - replays. On devices neighbouring calls that only launch become one graph of the backend
 * at the first replay, which a launch carries out without the host's part of each call. What the
 * host has to do for a call each time stays outside: looks, verdicts, draws, copies between
 * devices, numbers that it reads. So a replay draws new numbers, and looks again.
 *
 * The recording counts all tensors of its calls, so a graph's addresses stay; a tensor whose data
 * were exchanged has its graph made anew. Workspace and tickets belong to the graph. */
#include "record.h"

typedef struct tni_graph {
    struct tni_graph *next; /* of the recording */
    tni_device *device;
    record_call *first, *last;
    tn_stream *in;     /* that has launched it last, or NULL */
    void *handle;      /* the backend's; NULL: the calls run one by one */
    bool refused;      /* the backend has made none of them */
    tni_held *held;    /* what it keeps */
    int64_t n;         /* tensors of its calls */
    const void *at[1]; /* where their data were */
} tni_graph;

/* --- which calls ------------------------------------------------------------------------------ */

/* The device that can take the call into a graph, or NULL. */
static tni_device *graph_device(const tni_block *b, const record_call *r) {
    const tn_frame *f = &r->f;
    tni_device *d = tni_device_of(b, f->device);
    const tn_backend_streams *k = d ? d->backend->streams : NULL;
    if (!k || !k->capture_begin) return NULL;
    if (f->row->verdict || f->generator || tni_device_looks(f)) return NULL;
    for (int i = 0; i < f->nout; i++)
        if (f->out[i] && f->out[i]->device != f->device) return NULL;
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        if (t && t->device != f->device && !(t->flags & TNI_NUMBER)) return NULL;
    }
    return d;
}

/* The last call of the graph that begins with r; *n: tensors of its calls. */
static record_call *graph_end(const tni_block *b, record_call *r, const tni_device *d, int64_t *n) {
    record_call *last = r;
    for (*n = 0; r && graph_device(b, r) == d; r = r->next) {
        *n += r->f.nin + r->f.nout;
        last = r;
    }
    return last;
}

static int64_t graph_bytes(int64_t n) {
    return (int64_t)sizeof(tni_graph) + n * (int64_t)sizeof(void *);
}

static bool graphs_make(tni_block *b, tn_recording *recording) {
    for (record_call *r = recording->first; r; r = r->next) {
        tni_device *d = graph_device(b, r);
        tni_graph *g;
        record_call *last;
        int64_t n;
        if (!d) continue;
        last = graph_end(b, r, d, &n);
        g = (tni_graph *)tni_need(b, graph_bytes(n));
        if (!g) return false;
        memset(g, 0, sizeof *g);
        g->device = d;
        g->first = r;
        g->last = last;
        g->n = n;
        g->next = recording->graphs;
        recording->graphs = r->graph = g;
        r = last;
    }
    return true;
}

/* --- made and given up ------------------------------------------------------------------------ */

static void graph_clear(tni_block *b, tni_block *owner, tni_graph *g) {
    tni_device *d = g->device;
    if (g->handle) d->backend->streams->graph_free(d->index, g->handle);
    tni_held_free(b, owner, d, g->held);
    g->handle = NULL;
    g->held = NULL;
    g->in = NULL;
}

static void graphs_drop(tni_block *b, tn_recording *recording) {
    while (recording->graphs) {
        tni_graph *g = recording->graphs;
        recording->graphs = g->next;
        g->first->graph = NULL;
        graph_clear(b, recording->b, g);
        tni_put(b, recording->b, g, graph_bytes(g->n));
    }
    recording->drop = NULL;
}

/* Whether all data are where they were; keep: they are from now on. */
static bool graph_stays(tni_graph *g, bool keep) {
    int64_t n = 0;
    for (record_call *r = g->first;; r = r->next) {
        for (int i = 0; i < r->f.nin + r->f.nout; i++) {
            const tn_tensor *t = i < r->f.nin ? r->f.in[i] : r->f.out[i - r->f.nin];
            const void *at = t && t->storage ? tni_bytes_at(t) : NULL;
            if (keep)
                g->at[n] = at;
            else if (g->at[n] != at)
                return false;
            n++;
        }
        if (r == g->last) return true;
    }
}

/* The call becomes a part of the graph. False: it could not, with an error. */
static bool graph_ask(tni_block *b, record_call *r) {
    tn_frame *f = &r->f;
    bool ok;
    f->work.caller = b->work;
    b->work = &f->work;
    b->unstopped++;
    ok = tni_device_run(f);
    if (ok) tni_record_redirect(r);
    ok = ok && !b->failed;
    b->unstopped--;
    if (!ok && b->failed == TN_INTERNAL) tni_state(b)->capture->spoiled = true; /* prepare waits */
    if (!ok && !tni_state(b)->capture->spoiled) tni_call_error(f);
    b->work = f->work.caller;
    return ok;
}

/* In a stream of its own, so that no other thread's work gets into it. The graph stays without a
 * handle where a call cannot be a part of one. False with an error. */
static bool graph_capture_in(tni_block *b, tni_graph *g, tn_stream *s) {
    tni_device *d = g->device;
    const tn_backend_streams *k = d->backend->streams;
    tni_capture capture;
    memset(&capture, 0, sizeof capture);
    capture.device = d;
    g->refused = !k->capture_begin(d->index, s->handle);
    if (g->refused) return true;
    tni_state(b)->capture = &capture;
    for (record_call *r = g->first; graph_ask(b, r) && r != g->last;) r = r->next;
    tni_state(b)->capture = NULL;
    g->handle = k->capture_end(d->index, s->handle);
    g->held = capture.held;
    if (capture.spoiled) tn_error_take(NULL);
    g->refused = !g->handle || capture.spoiled;
    if (g->refused || b->failed) graph_clear(b, b, g);
    if (!b->failed) graph_stays(g, true);
    return !b->failed;
}

static bool graph_capture(tni_block *b, tni_graph *g) {
    tn_stream *s = tnp_stream_new(g->device->own.id, 0), *before;
    bool ok = false;
    if (!s) return false;
    before = tn_stream_use(s);
    if (tni_stream_now(b, g->device) == s) ok = graph_capture_in(b, g, s);
    tn_stream_use(before);
    /* Work asked there before may use the workspace still, of which the graph makes its own. */
    if (ok && g->handle && !tnp_stream_wait_stream(before, s)) {
        graph_clear(b, b, g);
        ok = false;
    }
    tn_stream_free(s);
    return ok;
}

/* --- replay ----------------------------------------------------------------------------------- */

/* The call runs by itself; r is the recording's. */
static bool graph_one(tni_block *b, record_call *r) {
    tn_frame *f = &r->f;
    tni_device *d = f->on ? tni_device_of(b, f->device) : NULL;
    return (!d || tni_device_reads(f, d)) && tni_record_replay(b, r);
}

/* The memory is told the stream, and what it waits for is asked. False with an error. */
static bool graph_touch(tni_block *b, tni_graph *g, tn_stream *now) {
    tni_device *d = g->device;
    for (record_call *r = g->first;; r = r->next) {
        if (!tni_device_reads(&r->f, d) || !tni_device_writes(&r->f, d)) return false;
        for (int k = 0; !r->f.on && r->f.row->run != tni_run_nothing && k < r->f.nout; k++)
            if (!tni_stream_writes(b, d, r->f.out[k])) return false;
        for (int k = 0; TNI_UNLIKELY(r->redirected >> k); k++)
            if (r->redirected >> k & 1 && !tni_stream_writes(b, d, r->f.given[k])) return false;
        if (r == g->last) break;
    }
    if (g->in != now)
        for (const tni_held *h = g->held; h; h = h->next)
            if (h->scratch) d->backend->streams->used(d->index, h->scratch, now->handle);
    g->in = now;
    return true;
}

static bool graph_run(tni_block *b, tni_graph *g) {
    tni_device *d = g->device;
    tn_stream *now = tni_stream_now(b, d);
    if (tni_stop_asked(b->context) && !b->unstopped)
        return tni_error_apart(b, TN_CANCELLED, "the replay was cancelled");
    if (!graph_touch(b, g, now)) return tni_leave(b, false);
    if (!d->backend->streams->graph_launch(d->index, g->handle, now->handle))
        return tni_error_apart(b, TN_INTERNAL, "tn_replay: %s cannot launch a graph", d->name);
    for (record_call *r = g->first;; r = r->next) {
        tni_record_written(r, true);
        if (r == g->last) return true;
    }
}

static bool graph_replay(tni_block *b, tni_graph *g) {
    if (g->handle && !graph_stays(g, false)) graph_clear(b, b, g);
    if (!g->handle && !g->refused && !graph_capture(b, g)) return false;
    if (g->handle) return graph_run(b, g);
    for (record_call *r = g->first;; r = r->next) {
        if (!graph_one(b, r)) return false;
        if (r == g->last) return true;
    }
}

static bool graphs_replay(tni_block *b, tn_recording *recording) {
    if (!recording->drop) {
        recording->drop = graphs_drop;
        if (!graphs_make(b, recording)) {
            graphs_drop(b, recording);
            return tni_leave(b, false);
        }
    }
    for (record_call *r = recording->first; r; r = r->next) {
        tni_graph *g = r->graph;
        if (!(g ? graph_replay(b, g) : graph_one(b, r))) return false;
        if (g) r = g->last;
    }
    return true;
}

TN_API bool tn_replay(tn_recording *recording) {
    tni_block *b = tni_here();
    if (!b || b->failed) return false;
    /* The frames in it name this thread's block. */
    if (!recording || recording->b != b)
        return tni_error_apart(b, TN_INVALID,
                               "tn_replay: the recording must belong to this thread");
    if (tni_state(b)->deferred)
        return tni_error_apart(b, TN_UNSUPPORTED, "tn_replay: a graph is being captured");
    if (TNI_DEVICE != 0 && recording->elsewhere) return graphs_replay(b, recording);
    for (record_call *r = recording->first; r; r = r->next)
        if (!tni_record_replay(b, r)) return false;
    return true;
}
