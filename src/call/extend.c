/* extend.c - what code that builds on the library needs beside operators (api/extend.h). */
#include "call.h"
#include "schema.h"

/* --- the chain of module calls ---------------------------------------------------------------- */

TN_API void tn_path_push(tn_path *path) {
    tni_block *b = tni_here();
    if (!b) return;
    path->caller = b->path;
    if (!b->path && !b->frame && !b->place_hold)
        b->place_file = path->file, b->place_line = path->line;
    b->path = path;
    b->place_hold++;
}

TN_API void tn_path_pop(tn_path *path) {
    tni_block *b = tni_here();
    if (!b || b->path != path) return;
    b->path = path->caller;
    b->place_hold--;
    if (!b->path && !b->frame && !b->place_hold) tni_error_tell(b);
}

TN_API tn_path *tn_path_current(void) {
    tni_block *b = tni_here();
    return b ? b->path : NULL;
}

TN_API void tn_lines_on(int (*decode)(const char *file, int line)) {
    tni_block *b = tni_here();
    if (b) b->context->decode = decode;
}

/* --- ownership -------------------------------------------------------------------------------- */

TN_API void tn_scope_leave(int64_t mark, tn_tensor *const *tensors, int64_t n) {
    tni_block *b = tni_here();
    if (!b || mark < 0) return;
    if (mark < (int64_t)b->floor) mark = (int64_t)b->floor;
    for (int64_t i = 0; i < n; i++)
        if (tensors[i] && tensors[i]->owner == b && tensors[i]->depth > mark)
            tni_move(b, tensors[i], mark);
    tni_end(b, mark);
}

TN_API tn_guard tn_guard_begin(void) {
    tni_block *b = tni_here();
    tn_guard g = {b, 0, 0, 0, 0};
    if (!b) return g;
    g.depth = b->depth;
    g.floor = b->floor;
    g.inference = b->inference;
    g.no_grad = b->no_grad;
    b->floor = b->depth;
    return g;
}
TN_API void tn_guard_end(const tn_guard *g, tn_tensor *const *returned, int64_t n) {
    tni_block *b = g->block;
    if (!b) return;
    if (tni_here() != b) tn_context_use(b->context);
    tn_scope_leave(g->depth, returned, n);
    b->floor = g->floor;
    b->inference = g->inference;
    b->no_grad = g->no_grad;
}

TN_API bool tn_whole_begin(void) {
    tni_block *b = tni_here();
    if (!b || b->failed) return false;
    if (!b->unstopped && tni_stop_asked(b->context))
        return tni_error(b, TN_CANCELLED, "the call was asked to stop");
    b->unstopped++;
    return true;
}
TN_API void tn_whole_end(void) {
    tni_block *b = tni_here();
    if (b && b->unstopped) b->unstopped--;
}
TN_API uint32_t tn_whole_pause(void) {
    tni_block *b = tni_here();
    const uint32_t paused = b ? b->unstopped : 0;
    if (b) b->unstopped = 0;
    return paused;
}
TN_API void tn_whole_resume(uint32_t paused) {
    tni_block *b = tni_here();
    if (b) b->unstopped = paused;
}

TN_API tn_tensor *tn_retain(tn_tensor *t) {
    tni_retain(t);
    return t;
}

TN_API void tn_release(tn_tensor *t) {
    tni_block *b = t ? tni_here() : NULL;
    if (b) tni_release(b, t);
}

TN_API tn_tensor *tn_lend(tn_tensor *t) {
    tni_block *b = t ? tni_here() : NULL;
    tn_tensor *header;
    if (!b || !b->depth) return t;
    if (t->owner == b && !t->depth) return tni_move(b, t, b->depth);
    header = t;
    if (t->owner != b && (header = tni_share(b, t->storage, t)) != NULL && t->node)
        tni_node_hang(b, t->node, header, (int)t->node_out);
    tni_release(b, t);
    return header;
}

TN_API tn_tensor *tn_base_of(const tn_tensor *t) { return t ? t->base : NULL; }

/* Whether others see the data of a or b, and all can see the exchange: the bytes lie alike. */
static bool extend_exchanges_bytes(const tn_tensor *a, const tn_tensor *b) {
    if (tni_load(&a->storage->refs) == 1 && tni_load(&b->storage->refs) == 1) return false;
    if (a->storage == b->storage || a->dtype != b->dtype || a->device != b->device) return false;
    if ((a->flags | b->flags) & (TNI_META | TNI_READ_ONLY) || !tni_is_dense(a)) return false;
    return a->device == TN_CPU &&
           memcmp(a->stride, b->stride, (size_t)a->ndim * sizeof *a->stride) == 0;
}

static void extend_exchange_bytes(char *a, char *b, int64_t bytes) {
    char room[1024];
    for (int64_t at = 0; at < bytes; at += (int64_t)sizeof room) {
        int64_t rest = bytes - at;
        size_t n = rest < (int64_t)sizeof room ? (size_t)rest : sizeof room;
        memcpy(room, a + at, n);
        memcpy(a + at, b + at, n);
        memcpy(b + at, room, n);
    }
}

static void extend_exchange(tn_tensor *a, tn_tensor *b) {
    uint16_t layout = TNI_CONTIGUOUS | TNI_META | TNI_READ_ONLY, flags;
    tni_storage *storage = a->storage;
    int64_t offset = a->offset, stride;
    uint8_t other;
    a->storage = b->storage, b->storage = storage;
    a->offset = b->offset, b->offset = offset;
    other = a->dtype, a->dtype = b->dtype, b->dtype = other;
    other = a->device, a->device = b->device, b->device = other;
    for (int i = 0; i < a->ndim; i++)
        stride = a->stride[i], a->stride[i] = b->stride[i], b->stride[i] = stride;
    flags = (uint16_t)((a->flags ^ b->flags) & layout);
    a->flags ^= flags;
    b->flags ^= flags;
}

static bool extend_swap(tni_block *here, tn_tensor *a, tn_tensor *b) {
    if (!a || !b) return tni_error(here, TN_INVALID, "tn_swap_data: NULL");
    if (!tni_same_shape(a, b))
        return tni_error(here, TN_INVALID, "tn_swap_data: the shapes differ");
    if (a->base || b->base || a->node || b->node)
        return tni_error(here, TN_AUTOGRAD, "tn_swap_data: a view or a recorded result");
    if (!tni_belongs(here, a, "tn_swap_data") || !tni_belongs(here, b, "tn_swap_data"))
        return false;
    if (extend_exchanges_bytes(a, b))
        extend_exchange_bytes(tni_bytes_at(a), tni_bytes_at(b), a->numel * tni_dtype_size(a));
    else
        extend_exchange(a, b);
    tni_fetch_add_relaxed(&a->storage->version, 1u);
    tni_fetch_add_relaxed(&b->storage->version, 1u);
    return true;
}

/* A pending error does not stop it: it is how a plan is carried out or taken back. */
TN_API bool tn_swap_data_at(const char *file, int line, tn_tensor *a, tn_tensor *b) {
    tni_block *here = tni_here();
    bool mine = tni_enter(here, file, line), ok = here && extend_swap(here, a, b);
    return mine ? tni_leave(here, ok) : ok;
}
TN_API bool tnp_swap_data(tn_tensor *a, tn_tensor *b) { return tn_swap_data_at(NULL, 0, a, b); }

static bool extend_may_set(tni_block *here, const tn_tensor *t, const tn_tensor *from) {
    if (!t || !from) return tni_error(here, TN_INVALID, "tn_set_data: NULL");
    if (t->base) return tni_error(here, TN_AUTOGRAD, "tn_set_data: the tensor is a view");
    if (t->flags & TNI_REQUIRES && tni_dtype(from->dtype)->category < TNI_CAT_FLOAT)
        return tni_error(here, TN_TYPE,
                         "data set to a tensor that requires gradients must be floating point or "
                         "complex dtype");
    if ((t->flags ^ from->flags) & TNI_INFERENCE)
        return tni_error(here, TN_AUTOGRAD,
                         "tn_set_data: one of the tensors was made in inference mode");
    if (from->ndim > t->capacity)
        return tni_error(here, TN_UNSUPPORTED, "tn_set_data: %d dimensions in place of %d",
                         from->ndim, t->ndim);
    return tni_belongs(here, t, "tn_set_data") && tni_belongs(here, from, "tn_set_data");
}

TN_API bool tn_set_data_at(const char *file, int line, tn_tensor *t, const tn_tensor *from) {
    const uint16_t layout = TNI_CONTIGUOUS | TNI_META | TNI_READ_ONLY;
    tni_block *here = tni_here();
    tni_storage *old;
    if (!tni_enter(here, file, line)) return false;
    if (!extend_may_set(here, t, from)) return tni_leave(here, false);
    old = t->storage;
    t->storage = from->storage;
    tni_fetch_add_relaxed(&t->storage->refs, 1u);
    t->offset = from->offset;
    t->numel = from->numel;
    t->ndim = from->ndim;
    t->dtype = from->dtype;
    t->device = from->device;
    for (int i = 0; i < from->ndim; i++) t->size[i] = from->size[i], t->stride[i] = from->stride[i];
    t->flags = (uint16_t)((t->flags & ~layout) | (from->flags & layout));
    tni_storage_release(here, old);
    return tni_leave(here, true);
}

/* --- schemas at run time ---------------------------------------------------------------------- */

typedef struct extend_gen {
    tn_gen gen; /* first: what the user sees */
    tni_block *b;
    tn_gen *made;
    size_t bytes;
} extend_gen;

static void *extend_get(void *user, size_t bytes) {
    return tni_need((tni_block *)user, (int64_t)bytes);
}

TN_API tn_gen *tn_schema_new(const char *schema) {
    tni_block *b = tni_here();
    extend_gen *g;
    tn_row row;
    char error[200];
    if (!b || b->failed) return NULL;
    if (!(g = (extend_gen *)tni_need(b, (int64_t)sizeof *g))) return NULL;
    memset(&row, 0, sizeof row);
    row.name = row.schema = schema;
    g->b = b;
    if (schema && tni_schema_gen(&row, extend_get, b, &g->made, &g->bytes, error, sizeof error)) {
        g->gen = *g->made;
        return &g->gen;
    }
    tni_put(b, b, g, (int64_t)sizeof *g);
    tni_error(b, TN_INVALID, "schema \"%.200s\": %s", schema ? schema : "NULL",
              schema ? error : "missing");
    return NULL;
}

TN_API void tn_schema_free(tn_gen *gen) {
    extend_gen *g = (extend_gen *)(void *)gen;
    tni_block *b = gen ? tni_here() : NULL;
    if (!b) return;
    tni_put(b, g->b, g->made, (int64_t)g->bytes);
    tni_put(b, g->b, g, (int64_t)sizeof *g);
}

TN_API bool tn_bind(const char *file, int line, const char *what, const tn_gen *gen,
                    const tn_value *values, int nvalues, bool with_defaults, void *args) {
    tni_block *b = tni_here();
    char reason[200];
    if (!b || b->failed) return false;
    if (!b->frame && !b->place_hold) b->place_file = file, b->place_line = line;
    if (tni_bind_values(gen, values, nvalues, with_defaults, args, reason, sizeof reason))
        return true;
    return tni_error(b, TN_TYPE, "%s: %s", what, reason);
}

/* --- small things ----------------------------------------------------------------------------- */

TN_API uint64_t tn_random64(tn_generator *generator) {
    tni_block *b = tni_here();
    tn_generator *g = generator ? generator : b ? tni_generator_default(b) : NULL;
    return g ? tni_random64(g) : 0;
}

TN_API double tn_now(void) {
    tni_block *b = tni_here();
    return b ? tni_now(b->context) : 0;
}
