/* parallel.c - one model on several ranks: rank 0's parameters to all, gradients averaged behind
 * each backward (Li et al. 2020, "PyTorch Distributed", arXiv:2006.15704, section 3.2: buckets in
 * the reverse order of the parameters).
 *
 * A hook of each parameter sees in backward that its gradient is ready; the hook that runs when
 * .grad of all is there averages, bucket by bucket. Not earlier: a backward that fails has changed
 * no .grad, so what ranks exchange is what they keep. */
#include "nn.h"
#include "../api/parallel.h"
#include "../api/ops/creation.h"
#include "../api/ops/distributed.h"
#include "../api/ops/shape.h"

enum { PARALLEL_BUCKET = 25 << 20 };

/* A parameter. */
typedef struct parallel_slot {
    tn_parallel *of;
    tn_tensor *t;        /* counted */
    int64_t seen, after; /* numbers of its hooks */
    bool ready;          /* this backward has a gradient for it */
} parallel_slot;

struct tn_parallel {
    tn_group *group;
    tn_module *module;   /* held; or NULL */
    parallel_slot *slot; /* in the order of the buckets */
    int64_t n, nready;
    tn_tensor **buffer;     /* counted */
    int64_t nbuffers, hook; /* of the module */
    int64_t bucket_bytes;
    size_t slot_bytes, buffer_bytes;
    bool sync;
};

/* --- what ranks exchange ---------------------------------------------------------------------- */

/* A stretch of calls in p's group, of which nothing is recorded. */
typedef struct parallel_quiet {
    tn_group *group;
    int64_t mark;
    bool mode;
} parallel_quiet;
static parallel_quiet parallel_begin(const tn_parallel *p) {
    parallel_quiet q;
    q.mark = tn_scope_begin_at(NULL, 0);
    q.mode = tn_set_grad_mode(false);
    q.group = tn_group_use(p->group);
    return q;
}
static void parallel_end(const parallel_quiet *q) {
    tn_group_use(q->group);
    tn_set_grad_mode(q->mode);
    tn_scope_end(q->mark);
}

static bool parallel_share(tn_parallel *p) {
    const parallel_quiet q = parallel_begin(p);
    bool ok = true;
    for (int64_t i = 0; ok && i < p->nbuffers; i++) ok = tnp_distributed_broadcast(p->buffer[i], 0);
    parallel_end(&q);
    return ok;
}

/* Where a bucket that begins with parameter `from` ends; its elements in *numel. */
static int64_t parallel_bucket(const tn_parallel *p, int64_t from, int64_t *numel) {
    const tn_tensor *first = p->slot[from].t;
    const int64_t each = tn_dtype_bytes(tn_dtype_of(first));
    int64_t i = from;
    for (*numel = 0; i < p->n; i++) {
        const tn_tensor *t = p->slot[i].t;
        if (i > from &&
            (tn_dtype_of(t) != tn_dtype_of(first) || tn_device_of(t) != tn_device_of(first) ||
             *numel * each >= p->bucket_bytes))
            break;
        *numel += tn_numel(t);
    }
    return i;
}

/* The n elements of flat from `at` on, in the sizes of t. */
static tn_tensor *parallel_piece(tn_tensor *flat, int64_t at, const tn_tensor *t) {
    tn_tensor *piece = tnp_narrow(flat, 0, at, tn_numel(t));
    return tnp_view(piece, tn_shape(t));
}

/* Gradients of the parameters from .. to - 1 into flat, and behind them a 1 for each that there
 * is. */
static bool parallel_pack(const tn_parallel *p, int64_t from, int64_t to, tn_tensor *flat,
                          int64_t numel) {
    int64_t at = 0;
    for (int64_t i = from; i < to; i++) {
        tn_tensor *t = p->slot[i].t, *grad = tn_grad_of(t);
        if (grad && (!tnp_copy_(parallel_piece(flat, at, t), grad) ||
                     !tnp_fill_(tnp_narrow(flat, 0, numel + i - from, 1), tn_float(1))))
            return false;
        at += tn_numel(t);
    }
    return tn_ok();
}

/* And back: a new .grad for each that some rank has. `any` has room for a number each. */
static bool parallel_unpack(const tn_parallel *p, int64_t from, int64_t to, tn_tensor *flat,
                            int64_t numel, double *any) {
    int64_t at = 0;
    if (!tnp_read_f64(tnp_narrow(flat, 0, numel, to - from), any, to - from)) return false;
    for (int64_t i = from; i < to; i++) {
        tn_tensor *t = p->slot[i].t, *grad;
        if (any[i - from] > 0) {
            /* It lies in memory as its parameter does. */
            grad = tnp_empty_like(t, TN_NO_DTYPE, TN_NO_DEVICE);
            if (!grad || !tnp_copy_(grad, parallel_piece(flat, at, t)) || !tnp_set_grad(t, grad))
                return false;
        }
        at += tn_numel(t);
    }
    return true;
}

static bool parallel_average(tn_parallel *p, double *any) {
    int64_t numel;
    bool ok = true;
    for (int64_t from = 0, to; ok && from < p->n; from = to) {
        to = parallel_bucket(p, from, &numel);
        const int64_t mark = tn_scope_begin_at(NULL, 0), all = numel + to - from;
        const tn_tensor *first = p->slot[from].t;
        const tn_ints size = {&all, 1};
        tn_tensor *flat = tnp_zeros(size, tn_dtype_of(first), tn_device_of(first));
        ok = flat && parallel_pack(p, from, to, flat, numel) &&
             tnp_distributed_all_reduce(flat, TN_REDUCE_OP_AVG) &&
             parallel_unpack(p, from, to, flat, numel, any);
        tn_scope_end(mark);
    }
    return ok;
}

/* --- hooks ------------------------------------------------------------------------------------ */

static tn_tensor *parallel_seen(tn_tensor *grad, void *user) {
    parallel_slot *s = (parallel_slot *)user;
    if (s->of->sync && !s->ready) {
        s->ready = true;
        s->of->nready++;
    }
    return grad;
}

/* The first parameter whose .grad has changed speaks for all. */
static tn_tensor *parallel_after(tn_tensor *t, void *user) {
    tn_parallel *p = ((parallel_slot *)user)->of;
    const size_t bytes = (size_t)p->n * sizeof(double);
    parallel_quiet q;
    double *any;
    if (!p->sync || !p->nready) return t;
    for (int64_t i = 0; i < p->n; i++) p->slot[i].ready = false;
    p->nready = 0;
    if (!(any = (double *)tni_alloc_each(p->n, sizeof *any))) return NULL;
    q = parallel_begin(p);
    parallel_average(p, any);
    parallel_end(&q);
    tn_alloc_free(any, bytes);
    return t;
}

static bool parallel_forward(tn_mframe *f, void *user) {
    tn_parallel *p = (tn_parallel *)user;
    return !p->sync || !f->m->training || parallel_share(p);
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* Whether all ranks' models have as many tensors and elements. */
static bool parallel_alike(tn_tensors parameters, tn_tensors buffers) {
    enum { FACTS = 3 };
    int64_t fact[2 * FACTS] = {parameters.n, 0, buffers.n, 0, 0, 0};
    const int64_t all = 2 * FACTS;
    const tn_ints size = {&all, 1};
    tn_tensor *most;
    for (int64_t i = 0; i < parameters.n; i++) fact[1] += tn_numel(parameters.at[i]);
    for (int i = 0; i < FACTS; i++) fact[FACTS + i] = -fact[i];
    /* The largest, and with the sign turned the smallest. */
    most = tnp_from(fact, size, TN_I64, TN_CPU);
    if (!most || !tnp_distributed_all_reduce(most, TN_REDUCE_OP_MAX)) return false;
    if (!tnp_read_i64(most, fact, all)) return false;
    if (fact[0] == -fact[3] && fact[1] == -fact[4] && fact[2] == -fact[5]) return true;
    return tni_nn_error(TN_INVALID,
                        "tn_data_parallel: the models of the ranks differ: they have %lld to %lld "
                        "parameters of %lld to %lld elements, and %lld to %lld buffers",
                        (long long)-fact[3], (long long)fact[0], (long long)-fact[4],
                        (long long)fact[1], (long long)-fact[5], (long long)fact[2]);
}

/* A slot with hooks for each parameter that requires grad, the last one first. */
static bool parallel_hooks(tn_parallel *p, tn_tensors parameters) {
    p->slot = (parallel_slot *)tni_alloc_each(parameters.n + 1, sizeof *p->slot);
    if (!p->slot) return false;
    p->slot_bytes = ((size_t)parameters.n + 1) * sizeof *p->slot;
    for (int64_t i = parameters.n - 1; i >= 0; i--) {
        tn_tensor *t = parameters.at[i];
        parallel_slot *s = &p->slot[p->n];
        if (!tn_needs_grad(t)) continue;
        s->of = p;
        s->t = tn_retain(t);
        s->ready = false;
        s->after = 0;
        p->n++;
        if (!(s->seen = tn_hook_add_at(NULL, 0, t, parallel_seen, s, NULL)) ||
            !(s->after = tn_hook_after_at(NULL, 0, t, parallel_after, s, NULL)))
            return false;
    }
    return true;
}

static bool parallel_buffers(tn_parallel *p, tn_tensors buffers) {
    if (!buffers.n) return true;
    p->buffer = (tn_tensor **)tni_alloc_each(buffers.n, sizeof *p->buffer);
    p->buffer_bytes = (size_t)buffers.n * sizeof *p->buffer;
    for (; p->buffer && p->nbuffers < buffers.n; p->nbuffers++)
        p->buffer[p->nbuffers] = tn_retain(buffers.at[p->nbuffers]);
    return p->buffer != NULL;
}

/* All that is exchanged at the beginning. */
static bool parallel_meet(tn_parallel *p, tn_tensors parameters, tn_tensors buffers) {
    const parallel_quiet q = parallel_begin(p);
    bool ok = parallel_alike(parameters, buffers);
    for (int64_t i = 0; ok && i < parameters.n; i++)
        ok = tnp_distributed_broadcast(parameters.at[i], 0);
    parallel_end(&q);
    return ok && parallel_share(p);
}

static tn_parallel *parallel_make(const tn_data_parallel_args *args, tn_tensors parameters,
                                  tn_tensors buffers) {
    tn_parallel *p = (tn_parallel *)tni_alloc_each(1, sizeof *p);
    if (!p) return NULL;
    memset(p, 0, sizeof *p);
    p->group = args->group ? args->group : tn_group_current();
    p->module = args->module ? tn_module_hold(args->module) : NULL;
    p->bucket_bytes = args->bucket_bytes > 0 ? args->bucket_bytes : (int64_t)PARALLEL_BUCKET;
    p->sync = true;
    if (parallel_buffers(p, buffers) && parallel_meet(p, parameters, buffers) &&
        parallel_hooks(p, parameters) &&
        (!p->module || !p->nbuffers ||
         (p->hook = tn_module_hook_at(NULL, 0, p->module, TN_BEFORE_FORWARD, parallel_forward, p,
                                      NULL)) != 0))
        return p;
    tn_parallel_free(p);
    return NULL;
}

/* The tensors of a list; NULL without memory. */
static tn_tensor **parallel_tensors(tn_named_list l) {
    tn_tensor **t = (tn_tensor **)tni_alloc_each(l.n + 1, sizeof *t);
    for (int64_t i = 0; t && i < l.n; i++) t[i] = l.at[i].tensor;
    return t;
}

static tn_parallel *parallel_of_module(const tn_data_parallel_args *args) {
    tn_named_list all = tn_module_parameters_at(NULL, 0, args->module),
                  kept = tn_module_buffers_at(NULL, 0, args->module);
    tn_parallel *p = NULL;
    if (all.n >= 0 && kept.n >= 0) {
        tn_tensor **t = parallel_tensors(all), **b = parallel_tensors(kept);
        if (t && b)
            p = parallel_make(args, tn_tensors_of(t, all.n),
                              tn_tensors_of(b, args->keep_buffers ? 0 : kept.n));
        if (t) tn_alloc_free(t, ((size_t)all.n + 1) * sizeof *t);
        if (b) tn_alloc_free(b, ((size_t)kept.n + 1) * sizeof *b);
    }
    tn_named_free(all);
    tn_named_free(kept);
    return p;
}

TN_API tn_parallel *tn_data_parallel_at(const char *file, int line,
                                        const tn_data_parallel_args *args) {
    tni_step step;
    tn_parallel *p = NULL;
    tni_place_begin(&step, file, line);
    if (!tn_ok()) { /* stays */
    } else if (args->bucket_bytes < 0)
        tni_nn_error(TN_INVALID, "tn_data_parallel: bucket_bytes is negative: %lld",
                     (long long)args->bucket_bytes);
    else if (args->module)
        p = parallel_of_module(args);
    else if (args->parameters.n < 1)
        tni_nn_error(TN_INVALID, "tn_data_parallel: expected a module or parameters");
    else
        p = parallel_make(args, args->parameters, args->buffers);
    tni_step_end(&step);
    return p;
}

TN_API void tn_parallel_free(tn_parallel *p) {
    if (!p) return;
    for (int64_t i = 0; i < p->n; i++) {
        parallel_slot *s = &p->slot[i];
        if (s->seen) tn_hook_remove(s->t, s->seen);
        if (s->after) tn_hook_remove(s->t, s->after);
        tn_release(s->t);
    }
    for (int64_t i = 0; i < p->nbuffers; i++) tn_release(p->buffer[i]);
    if (p->hook) tn_module_hook_remove_at(NULL, 0, p->module, p->hook);
    tn_module_free(p->module);
    if (p->slot) tn_alloc_free(p->slot, p->slot_bytes);
    if (p->buffer) tn_alloc_free(p->buffer, p->buffer_bytes);
    tn_alloc_free(p, sizeof *p);
}

TN_API bool tn_parallel_set_sync(tn_parallel *p, bool sync) {
    const bool before = p->sync;
    p->sync = sync;
    return before;
}

TN_API bool tn_parallel_share_at(const char *file, int line, tn_parallel *p) {
    tni_step step;
    bool ok;
    tni_place_begin(&step, file, line);
    ok = tn_ok() && parallel_share(p);
    tni_step_end(&step);
    return ok;
}
