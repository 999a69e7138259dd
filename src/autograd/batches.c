/* batches.c - batches: opening and closing them, tensors into and out of them, gradients of what
 * is batched, a function for all samples. */
#include "../api/ops/creation.h"
#include "../api/ops/shape.h"
#include "../api/vmap.h"
#include "../call/whole.h"
#include "autograd.h"

/* t with the samples in dimension 0: the whole batch, or t repeated. */
static tn_tensor *batches_repeated(const tni_batch *batch, tn_tensor *t) {
    tn_tensor *whole = tni_whole_of(batch, t);
    return whole ? whole : tni_whole_repeat(t, batch->size);
}

/* --- gradients -------------------------------------------------------------------------------- */

/* The innermost open batch that one of these is of. */
static tni_batch *batches_innermost(tni_block *b, tn_tensors a, tn_tensors c) {
    uint64_t number = 0;
    tni_batch *batch = tni_calls(b)->batch;
    for (int64_t i = 0; i < a.n + c.n; i++) {
        const tn_tensor *t = i < a.n ? a.at[i] : c.at[i - a.n];
        if (t && tni_batch_number(t) > number) number = tni_batch_number(t);
    }
    while (batch && batch->number != number) batch = batch->outer;
    if (!batch) tni_error(b, TN_INVALID, "a tensor is of a batch that has ended in this thread");
    return batch;
}

/* --- batches within the one whose samples are taken together: seeds may be of some ------------ */

static const tni_batch *batches_of_number(const tni_block *b, uint64_t number) {
    const tni_batch *at = tni_calls(b)->batch;
    while (at && at->number != number) at = at->outer;
    return at;
}

/* t with the samples of `batch` in dimension 0, a sample of the batches within it as before. The
 * recursion is as deep as batches nest. */
static tn_tensor *batches_without(tni_block *b, const tni_batch *batch, tn_tensor *t) {
    const tni_batch *inner;
    if (tni_batch_number(t) <= batch->number) return batches_repeated(batch, t);
    inner = batches_of_number(b, tni_batch_number(t));
    t = inner ? batches_without(b, batch, tni_batch_of_sample(t)) : NULL;
    t = t ? tnp_transpose(t, 0, 1) : NULL;
    return t ? tni_sample_of(b, inner, t) : NULL;
}
/* The way back. */
static tn_tensor *batches_within(tni_block *b, const tni_batch *batch, tn_tensor *t) {
    const tni_batch *inner;
    if (tni_batch_number(t) <= batch->number) return tni_sample_of(b, batch, t);
    inner = batches_of_number(b, tni_batch_number(t));
    t = inner ? tnp_transpose(tni_batch_of_sample(t), 0, 1) : NULL;
    t = t ? batches_within(b, batch, t) : NULL;
    return t ? tni_sample_of(b, inner, t) : NULL;
}

/* Where backward begins in all samples at output i. */
static tn_tensor *batches_seed(tni_block *b, const tni_batch *batch, tn_tensor *whole,
                               tn_tensor *seed, int64_t i) {
    if (seed) return batches_without(b, batch, seed);
    if (whole->ndim == 1) return tnp_ones_like(whole, TN_NO_DTYPE, TN_NO_DEVICE);
    tni_error(b, TN_AUTOGRAD, "output %lld has more than one element a sample: it needs a seed",
              (long long)i);
    return NULL;
}

static bool batches_grads_of(tni_block *b, const tni_batch *batch, tn_tensors outputs,
                             tn_tensors inputs, tn_tensor **grads, const tn_grads_options *o,
                             tn_tensor **room) {
    tn_tensor **from = room, **seed = room + outputs.n, **to = seed + outputs.n;
    tn_grads_options options = *o;
    for (int64_t i = 0; i < outputs.n; i++) {
        tn_tensor *whole = tni_whole_of(batch, outputs.at[i]),
                  *given = o->seeds ? o->seeds[i] : NULL;
        from[i] = whole ? whole : outputs.at[i];
        seed[i] = whole ? batches_seed(b, batch, whole, given, i) : given;
        if (whole && !seed[i]) return false;
    }
    for (int64_t i = 0; i < inputs.n; i++)
        if (!(to[i] = tni_whole_of(batch, inputs.at[i])))
            return tni_error(b, TN_UNSUPPORTED,
                             "input %lld is the same for all samples of the batch: one that has a "
                             "gradient of its own in each is made by tn_batch_each",
                             (long long)i);
    options.seeds = seed;
    if (!tn_grads_at(NULL, 0, tn_tensors_of(from, outputs.n), tn_tensors_of(to, inputs.n), grads,
                     &options))
        return false;
    for (int64_t i = 0; i < inputs.n; i++)
        if (grads[i] && !(grads[i] = batches_within(b, batch, grads[i]))) return false;
    return true;
}

/* As tn_grads, of samples: each output depends on inputs of its own sample alone, so the gradients
 * of all samples are those of the whole batch. */
static bool batches_grads(tni_block *b, tn_tensors outputs, tn_tensors inputs, tn_tensor **grads,
                          const tn_grads_options *options) {
    tni_batch *batch = batches_innermost(b, outputs, inputs), **at = &tni_calls(b)->batch;
    int64_t bytes, mark;
    tn_tensor **room;
    bool ok;
    if (!batch || !tni_bytes(2 * outputs.n + inputs.n + 1, (int64_t)sizeof *room, &bytes) ||
        !(room = (tn_tensor **)tni_need(b, bytes)))
        return false;
    mark = tni_begin(b);
    /* Batches within it, of which seeds may be, stay open. */
    while (*at != batch) at = &(*at)->outer;
    *at = batch->outer;
    ok = mark >= 0 && batches_grads_of(b, batch, outputs, inputs, grads, options, room);
    *at = batch;
    for (int64_t i = 0; i < inputs.n; i++) {
        if (!ok) grads[i] = NULL;
        if (grads[i]) tni_move(b, grads[i], mark);
    }
    tni_end(b, mark);
    tni_put(b, b, room, bytes);
    return ok;
}

/* --- for programs ----------------------------------------------------------------------------- */

/* what: the function that the program called, for messages; of the next two as well. */
static bool batches_begin(tni_block *b, const char *what, int64_t size, tn_randomness randomness) {
    tni_batch *batch;
    if (size < 0 || size > TNI_MOST)
        return tni_error(b, TN_INVALID, "%s: a batch of %lld samples", what, (long long)size);
    if ((int)randomness < TN_RANDOM_ERROR || randomness > TN_RANDOM_DIFFERENT)
        return tni_error(b, TN_INVALID, "%s: the randomness is none of tn_randomness", what);
    batch = (tni_batch *)tni_need(b, (int64_t)sizeof *batch);
    if (!batch) return false;
    batch->outer = tni_calls(b)->batch;
    batch->number = tni_fetch_add_relaxed(&tni_library(b->context)->batches, (uint64_t)1) + 1;
    batch->size = size;
    batch->randomness = (int)randomness;
    batch->call = tni_vmap_call;
    batch->grads = batches_grads;
    tni_calls(b)->batch = batch;
    return true;
}

TN_API bool tn_vmap_begin_at(const char *file, int line, int64_t size, tn_randomness randomness) {
    tni_block *b = tni_here();
    return tni_enter(b, file, line) &&
           tni_leave(b, batches_begin(b, "tn_vmap_begin", size, randomness));
}

TN_API bool tn_vmap_end(void) {
    tni_block *b = tni_here();
    tni_batch *batch = b ? tni_calls(b)->batch : NULL;
    if (!batch) return false;
    tni_calls(b)->batch = batch->outer;
    tni_put(b, b, batch, (int64_t)sizeof *batch);
    return true;
}

/* The open batch, and dim counted from 0 in ndim dimensions; NULL with an error. */
static tni_batch *batches_asked(tni_block *b, const char *what, const tn_tensor *t, int64_t *dim,
                                int more) {
    tni_batch *batch = tni_calls(b)->batch;
    char text[128];
    const int ndim = t ? t->ndim + more : 0;
    if (!t)
        tni_error(b, TN_INVALID, "%s: the tensor is NULL", what);
    else if (!batch)
        tni_error(b, TN_INVALID, "%s: no batch is open in this thread", what);
    else if (tni_belongs(b, t, what)) {
        if (*dim < -ndim || *dim >= ndim)
            tni_error(b, TN_INDEX, "%s: dimension %lld of %s", what, (long long)*dim,
                      tni_tensor_text(text, sizeof text, t));
        else {
            if (*dim < 0) *dim += ndim;
            return batch;
        }
    }
    return NULL;
}

static tn_tensor *batches_enter(tni_block *b, const char *what, tn_tensor *t, int64_t dim) {
    tni_batch *batch = batches_asked(b, what, t, &dim, 0);
    const int64_t first = 0;
    tn_tensor *whole, *sample = NULL;
    if (!batch) return NULL;
    if (t->size[dim] != batch->size) {
        tni_error(b, TN_INVALID, "%s: dimension %lld has size %lld, the batch %lld samples", what,
                  (long long)dim, (long long)t->size[dim], (long long)batch->size);
        return NULL;
    }
    if (tni_whole_of(batch, t)) {
        tni_error(b, TN_INVALID, "%s: the tensor is a sample of this batch already", what);
        return NULL;
    }
    tni_calls(b)->batch = batch->outer;
    whole = tnp_movedim(t, tni_ints(&dim, 1), tni_ints(&first, 1));
    if (whole) {
        sample = tni_sample_of(b, batch, whole);
        tni_drop(b, whole);
    }
    tni_calls(b)->batch = batch;
    return sample;
}

TN_API tn_tensor *tn_batched_at(const char *file, int line, tn_tensor *t, int64_t dim) {
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return NULL;
    t = batches_enter(b, "tn_batched", t, dim);
    return tni_leave(b, t != NULL) ? t : NULL;
}

static tn_tensor *batches_exit(tni_block *b, const char *what, tn_tensor *t, int64_t dim) {
    tni_batch *batch = batches_asked(b, what, t, &dim, 1);
    const int64_t first = 0;
    int64_t mark;
    if (!batch) return NULL;
    tni_calls(b)->batch = batch->outer;
    mark = tni_begin(b);
    t = mark < 0 ? NULL : batches_repeated(batch, t);
    if (t) t = tnp_movedim(t, tni_ints(&first, 1), tni_ints(&dim, 1));
    if (t) tni_move(b, t, mark);
    tni_end(b, mark);
    tni_calls(b)->batch = batch;
    return t;
}

TN_API tn_tensor *tn_unbatched_at(const char *file, int line, tn_tensor *t, int64_t dim) {
    tni_block *b = tni_here();
    if (!tni_enter(b, file, line)) return NULL;
    t = batches_exit(b, "tn_unbatched", t, dim);
    return tni_leave(b, t != NULL) ? t : NULL;
}

/* The recursion is as deep as batches nest. */
static tn_tensor *batches_each(tni_block *b, tni_batch *batch, tn_tensor *t) {
    if (!batch) return t;
    tni_calls(b)->batch = batch->outer;
    t = batches_repeated(batch, t);
    t = t ? batches_each(b, batch->outer, t) : NULL;
    tni_calls(b)->batch = batch;
    return t ? tni_sample_of(b, batch, t) : NULL;
}

TN_API tn_tensor *tn_batch_each_at(const char *file, int line, tn_tensor *t) {
    tni_block *b = tni_here();
    int64_t dim = 0, mark;
    if (!tni_enter(b, file, line)) return NULL;
    if (!batches_asked(b, "tn_batch_each", t, &dim, 1)) return tni_leave(b, false) ? t : NULL;
    mark = tni_begin(b);
    t = mark < 0 ? NULL : batches_each(b, tni_calls(b)->batch, t);
    if (t) tni_move(b, t, mark);
    tni_end(b, mark);
    return tni_leave(b, t != NULL) ? t : NULL;
}

TN_API tn_randomness tn_vmap_randomness(void) {
    const tni_block *b = tni_here();
    return b && tni_calls(b)->batch ? (tn_randomness)tni_calls(b)->batch->randomness
                                    : TN_RANDOM_ERROR;
}

TN_API int tn_vmap_depth(void) {
    const tni_block *b = tni_here();
    int depth = 0;
    for (const tni_batch *at = b ? tni_calls(b)->batch : NULL; at; at = at->outer) depth++;
    return depth;
}

TN_API tn_tensor *tn_batch_whole(const tn_tensor *t) {
    return tni_there(t, "tn_batch_whole") ? tni_all_of(t) : NULL;
}

TN_API bool tn_is_batched(const tn_tensor *t) {
    const tni_block *b = tni_here();
    const tni_batch *batch = b ? tni_calls(b)->batch : NULL;
    return batch && tni_there(t, "tn_is_batched") && tni_whole_of(batch, t);
}

TN_API int tn_batch_depth(const tn_tensor *t) {
    int depth = 0;
    if (!tni_there(t, "tn_batch_depth")) return 0;
    while ((t = tni_batch_of_sample(t)) != NULL) depth++;
    return depth;
}

/* --- a function for all samples --------------------------------------------------------------- */

/* How many samples there are; -1 with an error. */
static int64_t batches_size(tni_block *b, tn_tensors in, const int64_t *in_dims) {
    int64_t size = -1;
    for (int64_t i = 0; i < in.n; i++) {
        const tn_tensor *t = in.at[i];
        const int64_t dim = in_dims ? in_dims[i] : 0;
        int64_t n;
        if (dim == TN_NONE) continue;
        if (!t || !tni_belongs(b, t, "tn_vmap") || dim < -t->ndim || dim >= t->ndim) {
            if (!b->failed)
                tni_error(b, TN_INVALID, "tn_vmap: input %lld has no dimension %lld", (long long)i,
                          (long long)dim);
            return -1;
        }
        n = t->size[dim < 0 ? dim + t->ndim : dim];
        if (size >= 0 && n != size) {
            tni_error(b, TN_INVALID, "tn_vmap: input %lld has %lld samples, those before it %lld",
                      (long long)i, (long long)n, (long long)size);
            return -1;
        }
        size = n;
    }
    if (size < 0) tni_error(b, TN_INVALID, "tn_vmap: no input is batched");
    return size;
}

static bool batches_function(tni_block *b, tn_vmap_fn fn, tn_tensors in, const int64_t *in_dims,
                             tn_tensor **sample, tn_tensor **out, int64_t nout, void *user) {
    const tni_batch *mine = tni_calls(b)->batch;
    bool ok;
    for (int64_t i = 0; i < in.n; i++) {
        const int64_t dim = in_dims ? in_dims[i] : 0;
        sample[i] = dim == TN_NONE ? in.at[i] : batches_enter(b, "tn_vmap", in.at[i], dim);
        if (dim != TN_NONE && !sample[i]) return false;
    }
    ok = fn(sample, out, user) && !b->failed;
    if (tni_calls(b)->batch != mine && !b->failed)
        return tni_error(b, TN_INVALID,
                         "tn_vmap: the function left other batches open than before");
    if (!ok) return !b->failed && tni_error(b, TN_INVALID, "tn_vmap: the function failed");
    for (int64_t k = 0; k < nout; k++) {
        if (!out[k]) return tni_error(b, TN_INVALID, "tn_vmap: result %lld is NULL", (long long)k);
        if (!(out[k] = batches_exit(b, "tn_vmap", out[k], 0))) return false;
    }
    return true;
}

TN_API bool tn_vmap_at(const char *file, int line, tn_vmap_fn fn, tn_tensors in,
                       const int64_t *in_dims, tn_tensor **out, int64_t nout, void *user,
                       tn_randomness randomness) {
    tni_block *b = tni_here();
    tni_batch *before;
    tn_tensor **sample;
    int64_t bytes, size, mark;
    bool ok;
    for (int64_t k = 0; k < nout; k++) out[k] = NULL;
    if (!tni_enter(b, file, line)) return false;
    if (in.n < 0 || (in.n && !in.at) || nout < 0)
        return tni_leave(b, tni_error(b, TN_INVALID, "tn_vmap: %lld inputs, %lld results",
                                      (long long)in.n, (long long)nout));
    before = tni_calls(b)->batch;
    size = batches_size(b, in, in_dims);
    if (size < 0 || !tni_bytes(in.n, (int64_t)sizeof *sample, &bytes) ||
        !(sample = (tn_tensor **)tni_need(b, bytes)))
        return tni_leave(b, false);
    mark = tni_begin(b);
    ok = mark >= 0 && batches_begin(b, "tn_vmap", size, randomness) &&
         batches_function(b, fn, in, in_dims, sample, out, nout, user);
    while (tni_calls(b)->batch != before && tn_vmap_end()) {}
    for (int64_t k = 0; k < nout; k++) {
        if (!ok) out[k] = NULL;
        if (out[k]) tni_move(b, out[k], mark);
    }
    tni_end(b, mark);
    tni_put(b, b, sample, bytes);
    return tni_leave(b, ok);
}
