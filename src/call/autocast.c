/* autocast.c - calls whose inputs are cast first: products of matrices and convolutions to half
 * precision, calls that lose too much in it to float32. What a row's tensors are cast to, its field
 * .autocast says. Casts of weights are kept until autocast is off, as torch keeps them. */
#include "call.h"
#include "../api/autograd.h"
#include "../api/ops/shape.h"

/* Of a row's policies, those of the CPU; of devices after a shift by one. */
enum { CAST_LOWER = 1, CAST_WIDE = 4, CAST_WIDEST = 16, CAST_UNSAFE = 256 };

/* Floating tensors with data, but for float64; a plan's as if they had. */
static bool cast_eligible(const tn_tensor *t) {
    return t && !tni_is_freed(t) && tni_is_float(t->dtype) && t->dtype != TN_F64 &&
           (!(t->flags & TNI_META) || tni_is_planning(t->owner));
}
static bool cast_applies(const tn_tensor *t, tn_dtype to) {
    return cast_eligible(t) && t->dtype != to;
}

/* --- casts that are kept ---------------------------------------------------------------------- */

/* What a weight was cast to, both held. It is cast again after a write. */
typedef struct cast_kept {
    tn_tensor *weight, *cast;
    const tni_storage *storage;
    uint32_t version;
} cast_kept;
/* A table by the weight's address, a power of two, at most half full. */
typedef struct tni_casts {
    int64_t n, room;
    cast_kept at[1];
} tni_casts;

static int64_t cast_bytes(int64_t room) {
    return (int64_t)sizeof(tni_casts) + (room - 1) * (int64_t)sizeof(cast_kept);
}
static cast_kept *cast_place(tni_casts *c, const tn_tensor *weight) {
    const uint64_t mixed = (uint64_t)((uintptr_t)weight >> 4) * 0x9E3779B97F4A7C15u;
    int64_t i = (int64_t)(mixed >> 32) & (c->room - 1);
    while (c->at[i].weight && c->at[i].weight != weight) i = (i + 1) & (c->room - 1);
    return &c->at[i];
}

/* Forgets all; a hook of what is released finds an empty table. */
static void cast_drop(tni_block *b) {
    tni_casts *c = tni_calls(b)->casts;
    tni_calls(b)->casts = NULL;
    if (!c) return;
    for (int64_t i = 0; i < c->room; i++)
        if (c->at[i].weight) {
            tn_release(c->at[i].cast);
            tn_release(c->at[i].weight);
        }
    tni_put(b, b, c, cast_bytes(c->room));
}

/* Room for one more; false without memory, and then nothing is kept. */
static bool cast_grow(tni_block *b) {
    tni_casts *old = tni_calls(b)->casts, *c;
    const int64_t room = old ? 2 * old->room : 16;
    if (old && 2 * (old->n + 1) <= old->room) return true;
    c = (tni_casts *)tni_need(b, cast_bytes(room));
    if (!c) return false;
    memset(c, 0, (size_t)cast_bytes(room));
    c->room = room;
    for (int64_t i = 0; old && i < old->room; i++)
        if (old->at[i].weight) {
            *cast_place(c, old->at[i].weight) = old->at[i];
            c->n++;
        }
    if (old) tni_put(b, b, old, cast_bytes(old->room));
    tni_calls(b)->casts = c;
    return true;
}

/* Keeps a cast that is recorded, so that each use adds to the gradient of one. */
static void cast_keep(tni_block *b, tn_tensor *weight, tn_tensor *cast) {
    cast_kept *k;
    if (!cast_grow(b)) return;
    k = cast_place(tni_calls(b)->casts, weight);
    tn_retain(cast);
    if (k->weight)
        tn_release(k->cast);
    else {
        tni_calls(b)->casts->n++;
        k->weight = tn_retain(weight);
    }
    k->cast = cast;
    k->storage = weight->storage;
    k->version = tni_load(&weight->storage->version) + tni_load(&weight->storage->apart);
}

/* t in another dtype, by a call of a row, so that gradients follow. */
static tn_tensor *cast_of(tni_block *b, tn_tensor *t, tn_dtype to) {
    const tni_call_block *calls = tni_calls(b);
    const bool weight = to != TN_F32 && t->dtype == TN_F32 && !t->base && t->storage &&
                        (t->flags & TNI_LEAF) && (t->flags & TNI_REQUIRES) && !calls->casts_off &&
                        !calls->batch && !calls->recording && !tni_state(b)->inference;
    tn_tensor *cast;
    if (weight && calls->casts) {
        const cast_kept *k = cast_place(calls->casts, t);
        if (k->weight && k->cast->dtype == to && k->storage == t->storage &&
            k->version == tni_load(&t->storage->version) + tni_load(&t->storage->apart))
            return k->cast;
    }
    cast = tnp_to_dtype(t, to, false, false);
    if (weight && cast && !tni_state(b)->no_grad) cast_keep(b, t, cast);
    return b->failed ? NULL : cast;
}

/* --- calls ------------------------------------------------------------------------------------ */

static tn_tensor *cast_argument(const tn_gen *gen, const void *args, int i) {
    tn_tensor *t;
    memcpy(&t, (const char *)args + tn_gen_tensor(gen, i)->offset, sizeof t);
    return t;
}

/* The call with cast inputs. */
static bool cast_call(tni_block *b, const tn_row *row, const char *file, int line, const void *args,
                      tn_dtype to, tn_tensor **results) {
    union {
        int64_t align;
        char bytes[TNI_ARGS_BYTES];
    } own;
    const tn_gen *gen = row->gen;
    const int64_t mark = tni_begin(b);
    bool ok = mark >= 0;
    memcpy(own.bytes, args, gen->args_size);
    for (int i = 0; ok && i < gen->nfixed; i++) {
        tn_tensor *t = cast_argument(gen, args, i);
        if (!cast_applies(t, to)) continue;
        t = cast_of(b, t, to);
        ok = t != NULL;
        memcpy(own.bytes + tn_gen_tensor(gen, i)->offset, &t, sizeof t);
    }
    ok = ok && tn_call(row, TN_PLAIN, file, line, own.bytes, results);
    for (int k = 0; k < gen->nresults; k++)
        if (!ok)
            results[k] = NULL;
        else if (results[k])
            tni_move(b, results[k], mark);
    if (mark >= 0) tni_end(b, mark);
    return ok;
}

/* The dtype to which a call casts; TN_NO_DTYPE: it does not. */
static tn_dtype cast_target(const tn_gen *gen, const void *args, uint32_t policy, tn_dtype half) {
    if (policy & CAST_LOWER) return half;
    if (policy & CAST_WIDE) return TN_F32;
    for (int i = 0; policy & CAST_WIDEST && i < gen->nfixed; i++) {
        const tn_tensor *t = cast_argument(gen, args, i);
        if (cast_eligible(t) && t->dtype == TN_F32) return TN_F32;
    }
    return TN_NO_DTYPE;
}

static bool cast_on_device(const tn_gen *gen, const void *args) {
    bool device = false;
    for (int i = 0; i < gen->nfixed; i++) {
        const tn_tensor *t = cast_argument(gen, args, i);
        device = device || (t && !tni_is_freed(t) && t->device > TN_META);
    }
    return device;
}

static bool cast_refuse(tni_block *b, const tn_row *row, const char *file, int line,
                        tn_tensor **results) {
    for (int k = 0; k < row->gen->nresults; k++) results[k] = NULL;
    if (!tni_enter(b, file, line)) return false;
    tni_error(b, TN_INVALID,
              "%s is unsafe to autocast: take binary_cross_entropy_with_logits, or call it in "
              "float32 where autocast is off",
              row->name);
    tni_leave(b, false);
    return false;
}

static bool cast_or_call(tni_block *b, const tn_row *row, unsigned how, bool given,
                         const char *file, int line, const void *args, void *results, bool *ok) {
    const tn_gen *gen = row->gen;
    const bool device = row->autocast && cast_on_device(gen, args);
    const tn_dtype half = (tn_dtype)(device ? b->autocast_device : b->autocast);
    const uint32_t policy = row->autocast >> device, modes = tni_autocast_modes(b);
    bool any = false;
    tn_dtype to;
    if (b->failed || !half ||
        !(policy & (CAST_LOWER | CAST_WIDE | CAST_WIDEST | TN_UNCAST_CPU | CAST_UNSAFE)))
        return false;
    if (policy & CAST_UNSAFE) {
        *ok = cast_refuse(b, row, file, line, (tn_tensor **)results);
        return true;
    }
    to = how != TN_PLAIN || given ? TN_NO_DTYPE : cast_target(gen, args, policy, half);
    for (int i = 0; to && i < gen->nfixed; i++)
        any = any || cast_applies(cast_argument(gen, args, i), to);
    if (!any && !row->compose) return false;
    /* What the call makes is not cast again. */
    tni_autocast_set(b, 0);
    *ok = any ? cast_call(b, row, file, line, args, to, (tn_tensor **)results)
              : tni_call_long(row, how, file, line, args, results);
    tni_autocast_set(b, modes);
    return true;
}

/* --- the mode --------------------------------------------------------------------------------- */

static tn_dtype cast_mode(uint8_t *mode, tni_block *b, tn_dtype dtype) {
    const tn_dtype before = (tn_dtype)*mode;
    tni_calls(b)->autocast = cast_or_call;
    tni_calls(b)->casts_drop = cast_drop;
    *mode = (uint8_t)(dtype == TN_BF16 || dtype == TN_F16 ? dtype : TN_NO_DTYPE);
    tni_autocast_set(b, tni_autocast_modes(b));
    if (!tni_autocast_modes(b)) cast_drop(b);
    return before;
}
TN_API tn_dtype tn_set_autocast(tn_dtype dtype) {
    tni_block *b = tni_here();
    return b ? cast_mode(&b->autocast, b, dtype) : TN_NO_DTYPE;
}
TN_API tn_dtype tn_set_device_autocast(tn_dtype dtype) {
    tni_block *b = tni_here();
    return b ? cast_mode(&b->autocast_device, b, dtype) : TN_NO_DTYPE;
}
TN_API tn_dtype tn_autocast(void) {
    const tni_block *b = tni_here();
    return b ? (tn_dtype)b->autocast : TN_NO_DTYPE;
}
TN_API tn_dtype tn_device_autocast(void) {
    const tni_block *b = tni_here();
    return b ? (tn_dtype)b->autocast_device : TN_NO_DTYPE;
}
TN_API bool tn_set_autocast_cache(bool enabled) {
    tni_block *b = tni_here();
    const bool before = b && !tni_calls(b)->casts_off;
    if (!b) return true;
    tni_calls(b)->casts_off = !enabled;
    return before;
}
TN_API void tn_clear_autocast_cache(void) {
    tni_block *b = tni_here();
    if (b) cast_drop(b);
}
