/* device.c - calls on devices beside the CPU: where a call is, which kernels it has there, and what
 * the door does there in place of the row's own look and run. Knows no backend. */
#include "../api/ops/shape.h"
#include "call.h"

/* --- where a call is -------------------------------------------------------------------------- */

TN_PRIV bool tni_frame_place(tn_frame *f, tn_device_id device) {
    if (device != TN_CPU && device != TN_META && !tni_device_of(f->block, device))
        return tn_fail(f, TN_UNSUPPORTED, "device number %d does not exist", (int)device);
    f->device = device;
    f->meta = tni_without_data(f->block, device);
    if (device > TN_META && f->elsewhere != TNI_IN_BATCH) f->elsewhere = TNI_ON_DEVICE;
    return true;
}

/* "'other'", or "'tensors[1]'" of a list: what input i of the call is called. */
static const char *device_input(const tn_frame *f, int i, char *text, size_t room) {
    const tn_gen *gen = f->row->gen;
    int slot = gen->nfixed;
    tn_tensors l;
    if (i < slot) {
        snprintf(text, room, "'%s'", tn_gen_tensor(gen, i)->name);
        return text;
    }
    *text = 0;
    TNI_EACH_LIST(k, l, gen, f->args) {
        if (i < slot + l.n) {
            snprintf(text, room, "'%s[%d]'", gen->param[k].name, i - slot);
            break;
        }
        slot += (int)l.n;
    }
    return text;
}

/* Whether input i may stand beside tensors of another device: a number, or what has one element and
 * is read as one; beside meta tensors also an index. */
static bool device_stands_beside(const tn_frame *f, int i) {
    const tn_tensor *t = f->in[i];
    const bool meta = f->device == TN_META;
    char name[80];
    if (t->flags & TNI_NUMBER) return true;
    if (t->device != TN_CPU && !(t->device == TN_META && tni_is_planning(f->block))) return false;
    if (!t->ndim && (meta || f->row->rules || f->row->compose)) return true;
    return meta && tni_dtype(t->dtype)->category <= TNI_CAT_INT &&
           !strncmp(device_input(f, i, name, sizeof name), "'ind", 4);
}

/* A row that moves tensors between devices is where it writes. */
static bool device_enter_across(tn_frame *f) {
    const tn_tensor *from = f->in[f->nin - 1];
    f->device = f->in[0]->device;
    f->meta = (f->in[0]->flags & TNI_META) != 0;
    for (int i = 0; i < f->nin; i++)
        if (f->in[i] && f->in[i]->device > TN_META) f->elsewhere = TNI_ON_DEVICE;
    return f->meta || !from || !(from->flags & TNI_META) ||
           tn_fail(f, TN_UNSUPPORTED, "Cannot copy out of meta tensor; no data!");
}

TN_PRIV bool tni_device_enter(tn_frame *f) {
    char a[80], c[80];
    int first = -1;
    if (f->row->forms & TN_ACROSS) return device_enter_across(f);
    /* The first that is on a device says where the call is, or else the first of meta. */
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        if (!t || t->device == TN_CPU) continue;
        f->meta = f->meta || t->flags & TNI_META;
        if (first < 0 || (f->in[first]->device == TN_META && t->device > TN_META)) first = i;
    }
    f->device = f->in[first]->device;
    f->elsewhere = f->device > TN_META ? TNI_ON_DEVICE : 0;
    f->meta = f->meta || tni_without_data(f->block, f->device);
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        if (!t || t->device == f->device || device_stands_beside(f, i)) continue;
        return tn_fail(f, TN_INVALID, "arguments are on different devices, %s and %s: %s and %s",
                       tn_device_name(f->device), tn_device_name(t->device),
                       device_input(f, first, a, sizeof a), device_input(f, i, c, sizeof c));
    }
    return true;
}

/* --- kernels by row --------------------------------------------------------------------------- */

/* What a device's backend has for expressions, and for the rows that were called, each in the slot
 * of its number: so a call finds its kernels at once, and no list of all rows is needed, which
 * would keep them in each program. */
enum { DEVICE_SLOTS = 1024, SLOT_FREE = 0, SLOT_TAKEN, SLOT_FULL };
typedef struct tni_device_slot {
    uint32_t state; /* atomic */
    const tn_row *row;
    const tn_device_row *on; /* NULL: nothing */
} tni_device_slot;
typedef struct tni_device_table {
    const tn_device_row *expressions;
    tni_device_slot slot[DEVICE_SLOTS];
} tni_device_table;

/* What the backend has under that name; NULL: for expressions. */
static const tn_device_row *device_named(const tn_backend *k, const char *name) {
    for (int32_t i = 0; i < k->nrows; i++) {
        const char *has = k->rows[i].name;
        if (name ? has && strcmp(has, name) == 0 : !has) return &k->rows[i];
    }
    return NULL;
}

/* Makes the table of d, unless another thread has. False with MEMORY. */
static bool device_table(tni_block *b, tni_device *d) {
    tni_device_table *t = (tni_device_table *)tni_need(b, (int64_t)sizeof *t), *none = NULL;
    if (!t) return false;
    memset(t, 0, sizeof *t);
    t->expressions = device_named(d->backend, NULL);
    if (!tni_swap_if(&d->table, &none, t)) tni_put(b, b, t, (int64_t)sizeof *t);
    return true;
}

/* What d has for the row, or NULL. */
static const tn_device_row *device_row_of(const tni_device *d, const tn_row *row) {
    tni_device_table *t = tni_load(&d->table);
    tni_device_slot *s = &t->slot[row->gen->index % DEVICE_SLOTS];
    const tn_device_row *on;
    uint32_t free = SLOT_FREE;
    if (tni_load(&s->state) == SLOT_FULL && s->row == row) {
        on = s->on;
    } else {
        on = device_named(d->backend, row->name);
        /* A row that may be unregistered is looked up each time. */
        if (!row->uses && tni_swap_if(&s->state, &free, (uint32_t)SLOT_TAKEN)) {
            s->row = row;
            s->on = on;
            tni_store(&s->state, (uint32_t)SLOT_FULL);
        }
    }
    return on || !row->rules ? on : t->expressions;
}

/* --- look and run there ----------------------------------------------------------------------- */

/* Before anything reads: what the call reads is there in its stream. */
TN_PRIV bool tni_device_reads(tn_frame *f, tni_device *d) {
    for (int i = 0; tni_streams_any(f->block) && i < f->nin; i++)
        if (!tni_stream_reads(f->block, d, f->in[i])) return false;
    return true;
}

/* Does it for all inputs that the schema marks as written, members of lists too. */
static bool device_mutates(tn_frame *f, tni_device *d,
                           bool (*it)(tni_block *b, tni_device *d, const tn_tensor *t)) {
    const tn_gen *gen = f->row->gen;
    tn_tensors l;
    if (!(gen->props & TN_PROP_MUTATED)) return true;
    for (int i = 0; i < gen->nfixed; i++)
        if (tn_gen_tensor(gen, i)->flags & TN_P_MUTATED && !it(f->block, d, f->in[i])) return false;
    if (!(gen->props & TN_PROP_LISTS)) return true;
    TNI_EACH_LIST(i, l, gen, f->args) {
        for (int64_t k = 0; gen->param[i].flags & TN_P_MUTATED && k < l.n; k++)
            if (!it(f->block, d, l.at[k])) return false;
    }
    return true;
}

/* A call that computes nothing would leave old values in tensors with data. */
static bool device_may_plan(tni_block *b, tni_device *d, const tn_tensor *t) {
    if (!t || !(t->flags & TNI_DEVICE)) return true;
    return tni_error(b, TN_INVALID,
                     "a plan of memory cannot write a tensor of %s that has data; make it while "
                     "the plan is in progress",
                     d->name);
}
static bool device_plans(tn_frame *f, tni_device *d) {
    for (int k = 0; k < f->ngiven; k++)
        if (!device_may_plan(f->block, d, f->given[k])) return false;
    return device_mutates(f, d, device_may_plan);
}

/* What the call writes: results, and inputs that are marked so. Its node keeps the stream. */
TN_PRIV bool tni_device_writes(tn_frame *f, tni_device *d) {
    for (int k = 0; f->on && k < f->nout; k++)
        if (!tni_stream_writes(f->block, d, f->out[k])) return false;
    if (f->on && !device_mutates(f, d, tni_stream_writes)) return false;
    if (!tni_is_recorded(f)) return true;
    f->node->streamed = 1;
    f->node->stream = tni_stream_now(f->block, d)->number;
    return true;
}

TN_PRIV bool tni_device_find(tn_frame *f) {
    tni_device *d = tni_device_of(f->block, f->device);
    const tn_row *row = f->row;
    f->on = NULL;
    if (d && !tni_device_open(f->block, d)) return false;
    if (!d || row->run == tni_run_nothing) return true; /* nothing but a view */
    if (row->forms & TN_ACROSS) return !tni_is_planning(f->block) || device_plans(f, d);
    if (!tni_load(&d->table) && !device_table(f->block, d)) return false;
    if (f->meta && !device_plans(f, d)) return false;
    f->on = device_row_of(d, row);
    if (!f->on || !f->on->scratch) f->scratch_bytes = 0;
    if (f->on && !tni_device_reads(f, d)) return false;
    if (f->on || row->forms & TN_MOVES) return true;
    if (tni_load_relaxed(&tni_tensors(f->block->context)->device_fallback)) {
        f->elsewhere = TNI_FALLS_BACK;
        return false;
    }
    return tn_fail(f, TN_UNSUPPORTED,
                   "%s has no kernel on %s; copy its arguments to the CPU, or call "
                   "tn_device_fallback(true)",
                   row->name, d->name);
}

TN_PRIV bool tni_device_look(tn_frame *f) { return !f->on || !f->on->look || f->on->look(f); }
/* Expressions look at numbers alone, and at tensors of the CPU. */
TN_PRIV bool tni_device_looks(const tn_frame *f) {
    return f->row->look && f->on && f->on->look && f->on->name;
}

/* The device takes its workspace back in the order of its calls, so it may be in use still. */
static void device_scratch_free(tn_frame *f) {
    const tni_device *d = tni_device_of(f->block, f->device);
    if (!d || !f->on || f->on->scratch || !f->scratch) return;
    if (TNI_UNLIKELY(tni_state(f->block)->capture != NULL))
        tni_capture_keep(f->block, tni_device_of(f->block, f->device), f->scratch);
    else
        d->backend->free(d->index, f->scratch);
    f->scratch = NULL;
    f->scratch_bytes = 0;
}

/* What was asked of a device is done, so a request to stop is seen before it only. A copy between
 * devices may fail, and then the call does. */
TN_PRIV bool tni_device_run(tn_frame *f) {
    tni_block *b = f->block;
    tni_device *d = tni_streams_any(b) ? tni_device_of(b, f->device) : NULL;
    f->work.stop.request = NULL;
    if (!b->unstopped && tni_load_relaxed(&b->context->cancel)) return false;
    if (TNI_UNLIKELY(d) && !tni_device_writes(f, d)) return false;
    if (TNI_UNLIKELY(tni_state(b)->deferred)) return true;
    if (f->on && f->on->prepare && !f->on->prepare(f)) {
        device_scratch_free(f);
        return false;
    }
    if (f->on)
        f->on->run(f);
    else
        f->row->run(f);
    device_scratch_free(f);
    return !b->failed && (!f->row->verdict || f->row->verdict(f));
}

TN_PRIV bool tni_device_plan(tn_frame *f) {
    const bool ok = !tni_elsewhere(f) || !f->on || !f->on->prepare || f->on->prepare(f);
    f->scratch = NULL;
    return ok;
}

/* --- a row without a kernel, on copies -------------------------------------------------------- */

TN_PRIV bool tni_device_take_copies(tn_frame *f, void *args, size_t room) {
    const tn_gen *gen = f->row->gen;
    const tn_device_id cpu = TN_CPU;
    if (f->ngiven || gen->props & (TN_PROP_LISTS | TN_PROP_RETURNS_LIST | TN_PROP_MUTATED) ||
        gen->args_size > room)
        return tn_fail(f, TN_UNSUPPORTED,
                       "%s has no kernel on %s; in place, with out= and with lists it does not run "
                       "on copies",
                       f->row->name, tn_device_name(f->device));
    /* The same arguments, but for tensors and options that name the device. */
    memcpy(args, f->args, gen->args_size);
    for (int i = 0; i < gen->nparam; i++)
        if (gen->param[i].type == TN_T_DEVICE)
            memcpy((char *)args + gen->param[i].offset, &cpu, sizeof cpu);
    for (int i = 0; i < gen->nfixed; i++) {
        tn_tensor *t = f->in[i];
        if (!t || t->device == TN_CPU) continue;
        t = tnp_to(t, TN_CPU, TN_NO_DTYPE, false, false);
        if (!t) return false;
        memcpy((char *)args + tn_gen_tensor(gen, i)->offset, &t, sizeof t);
    }
    return true;
}

TN_PRIV bool tni_device_give_copies(tn_frame *f, tn_tensor *const *result) {
    for (f->nout = 0; f->nout < f->row->gen->nresults; f->nout++) {
        f->out[f->nout] = tnp_to(result[f->nout], f->device, TN_NO_DTYPE, false, false);
        if (!f->out[f->nout]) return false;
    }
    return true;
}

/* --- for backends ----------------------------------------------------------------------------- */

TN_API void *tn_device_scratch(tn_frame *f, int64_t bytes) {
    tni_device *d = tni_device_of(f->block, f->device);
    void (*release)(void *data, void *user);
    void *user;
    uint8_t stream;
    tni_capture *capture = tni_state(f->block)->capture;
    if (!d || !f->on || f->on->scratch || f->scratch) return NULL;
    if (TNI_UNLIKELY(f->meta)) { /* counted, and not used: the device itself is no host memory */
        if (tni_plan_scratch(f->block, f->device, bytes > 0 ? bytes : 1)) f->scratch = d;
        return f->scratch;
    }
    if (TNI_UNLIKELY(capture != NULL)) capture->scratch = true;
    f->scratch =
        tni_device_get(f->block, f->device, bytes > 0 ? bytes : 1, &release, &user, &stream);
    if (TNI_UNLIKELY(capture != NULL)) capture->scratch = false;
    f->scratch_bytes = f->scratch ? (size_t)bytes : 0;
    return f->scratch;
}

TN_API int32_t tn_frame_device(const tn_frame *f) {
    const tni_device *d = tni_device_of(f->block, f->device);
    return d ? d->index : -1;
}
