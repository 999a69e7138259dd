/* state.c - changing all tensors of a tree at once: load, to, copy, and their files.
 *
 * Load and to prepare every new tensor first and then exchange data with the old ones, which cannot
 * fail: the tensors stay the same objects, and a failure changes nothing. */
#include "nn.h"
#include "../api/vmap.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/shape.h"

/* --- exchanges that wait ---------------------------------------------------------------------- */

typedef struct state_swap {
    tn_tensor *old, *fresh;
} state_swap;

/* What tn_swap_data refuses is refused here, so that the exchange cannot fail. */
static bool state_may_swap(const char *name, const tn_tensor *t) {
    /* A view shares its memory, and the tape refers to the data of a recorded result. */
    return (!tn_is_view(t) && tn_is_leaf(t) && !tn_batch_depth(t)) ||
           tni_nn_error(TN_AUTOGRAD,
                        "%s is a view or a recorded result; its data cannot be replaced", name);
}

/* Adds the exchange of old and fresh to the plan, which becomes one more owner of fresh. false with
 * an error; fresh may be NULL, for a call that failed. */
static bool state_add(tni_plan *plan, const char *name, tn_tensor *old, tn_tensor *fresh) {
    state_swap s = {old, fresh};
    if (!state_may_swap(name, old) || !fresh || !tni_buffer_add(&plan->swaps, &s, sizeof s))
        return false;
    tn_retain(fresh);
    return true;
}

/* Exchanging cannot fail: state_may_swap has refused what tn_swap_data would, and `fresh` has
 * memory of its own. The plan then releases `fresh`, which holds the old data after an exchange. */
TN_PRIV void tni_plan_end(tni_plan *plan, bool commit) {
    state_swap *s = (state_swap *)(void *)plan->swaps.at;
    int64_t n = plan->swaps.n / (int64_t)sizeof *s;
    for (int64_t i = 0; i < n; i++) {
        if (commit) tn_swap_data(s[i].old, s[i].fresh);
        tn_release(s[i].fresh);
    }
    tni_buffer_free(&plan->swaps);
}

/* A new dense tensor of src's values in dtype on device. */
static tn_tensor *state_convert(tn_tensor *src, tn_dtype dtype, tn_device_id device) {
    tn_tensor *t = tnp_empty(tn_shape(src), dtype, device);
    return t ? tnp_copy_(t, src) : NULL;
}

/* --- load ------------------------------------------------------------------------------------- */

enum { STATE_SHOWN = 8 }; /* names listed in a message */

typedef struct state_report {
    tni_buffer missing, unexpected, mismatch;
    int64_t nmissing, nunexpected, nmismatch;
} state_report;

/* Appends a name to a message's list and counts it; only the first STATE_SHOWN are written. */
static void state_note(tni_buffer *b, int64_t *count, const char *name) {
    if ((*count)++ < STATE_SHOWN) tni_buffer_text(b, "%s\"%s\"", *count > 1 ? ", " : "", name);
}

static bool state_same_shape(const tn_tensor *a, const tn_tensor *b) {
    tn_ints x = tn_shape(a), y = tn_shape(b);
    return x.n == y.n && (x.n == 0 || memcmp(x.at, y.at, (size_t)x.n * sizeof *x.at) == 0);
}

/* Adds "size mismatch for .." to the message, for the first STATE_SHOWN tensors. */
static void state_mismatch(state_report *r, const char *name, const tn_tensor *file,
                           const tn_tensor *here) {
    char a[TN_MAX_DIMS * 22 + 40], b[TN_MAX_DIMS * 22 + 40];
    if (r->nmismatch++ >= STATE_SHOWN) return;
    tni_buffer_text(&r->mismatch, "; size mismatch for %s: got %s, the module has %s", name,
                    tni_nn_shape_text(a, sizeof a, file), tni_nn_shape_text(b, sizeof b, here));
}

/* The n tensors given, findable by name: a hash table of at least 2 n places with open addressing.
 * used[k] says that the module has a part for entry k. */
typedef struct state_names {
    int64_t *place; /* index + 1; 0: free */
    bool *used;
    int64_t room, n;
    const tn_named *at;
} state_names;

/* The place of a name, or the free place where it belongs. */
static int64_t state_slot(const state_names *t, const char *name) {
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    int64_t i;
    for (const char *c = name; *c; c++) h = (h ^ (unsigned char)*c) * 0x100000001b3u;
    for (i = (int64_t)(h >> 8) & (t->room - 1); t->place[i]; i = (i + 1) & (t->room - 1))
        if (strcmp(t->at[t->place[i] - 1].name, name) == 0) break;
    return i;
}

static void state_names_free(state_names *t) {
    if (t->place) tn_alloc_free(t->place, (size_t)t->room * sizeof *t->place);
    if (t->used) tn_alloc_free(t->used, (size_t)t->n + 1);
}

/* Builds the table; refuses entries without name or tensor, and a name given twice. After a failure
 * state_names_free is due as well. */
static bool state_names_make(state_names *t, const tn_named *at, int64_t n) {
    memset(t, 0, sizeof *t);
    /* The bound keeps 2 n places of 8 bytes, rounded up to a power of two, within PTRDIFF_MAX. */
    if (n < 0 || n > PTRDIFF_MAX / 64 || (n > 0 && !at))
        return tni_nn_error(TN_INVALID, "expected a list of named tensors");
    for (t->room = 16; t->room < 2 * n; t->room *= 2) continue;
    t->n = n;
    t->at = at;
    t->place = (int64_t *)tn_alloc((size_t)t->room * sizeof *t->place);
    /* One byte more than needed, so that an empty list is no request for 0 bytes. */
    t->used = (bool *)tn_alloc((size_t)n + 1);
    if (!t->place || !t->used) return false;
    memset(t->place, 0, (size_t)t->room * sizeof *t->place);
    memset(t->used, 0, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t slot;
        if (!at[i].name || !at[i].tensor)
            return tni_nn_error(TN_INVALID, "entry %lld has no name or no tensor", (long long)i);
        slot = state_slot(t, at[i].name);
        if (t->place[slot])
            return tni_nn_error(TN_INVALID, "the name \"%s\" is given twice", at[i].name);
        t->place[slot] = i + 1;
    }
    return true;
}

/* Whether t can take the place of a module's tensor of this dtype and device as it is. */
static bool state_is_of(const tn_tensor *t, tn_dtype dtype, tn_device_id device) {
    return tn_dtype_of(t) == dtype && tn_device_of(t) == device && tn_is_contiguous(t);
}

/* Plans an exchange for each name of the module, and notes in the report what does not fit. false
 * only for an error, not for entries of the report. */
static bool state_load_each(tni_plan *plan, tn_named_list here, state_names *given, state_report *r,
                            bool take) {
    for (int64_t i = 0; i < here.n; i++) {
        int64_t mark, k = given->place[state_slot(given, here.at[i].name)];
        tn_tensor *to = here.at[i].tensor, *from = k ? given->at[k - 1].tensor : NULL;
        bool ok;
        if (!from) {
            state_note(&r->missing, &r->nmissing, here.at[i].name);
            continue;
        }
        given->used[k - 1] = true;
        if (!state_same_shape(from, to)) {
            state_mismatch(r, here.at[i].name, from, to);
            continue;
        }
        /* The plan owns the new tensor; the scope frees what else the conversion made. */
        mark = tn_scope_begin();
        if (!take || !state_is_of(from, tn_dtype_of(to), tn_device_of(to)))
            from = state_convert(from, tn_dtype_of(to), tn_device_of(to));
        ok = state_add(plan, here.at[i].name, to, from);
        tn_scope_end(mark);
        if (!ok) return false;
    }
    /* What is left over: names that the module does not have. */
    for (int64_t i = 0; i < given->n; i++)
        if (!given->used[i]) state_note(&r->unexpected, &r->nunexpected, given->at[i].name);
    return true;
}

/* One error for all that the report holds; true if nothing in it counts. Shapes count always,
 * names if strict. */
static bool state_judge(state_report *r, bool strict) {
    tni_buffer text = {NULL, 0, 0, false};
    bool bad = r->nmismatch || (strict && (r->nmissing || r->nunexpected));
    /* Memory ran out while the report was written, and the error is set. */
    if (r->missing.failed || r->unexpected.failed || r->mismatch.failed) return false;
    if (!bad) return true;
    tni_buffer_text(&text, "the state does not match");
    if (strict && r->nmissing)
        tni_buffer_text(&text, "; missing (%lld): %.*s", (long long)r->nmissing, (int)r->missing.n,
                        r->missing.at);
    if (strict && r->nunexpected)
        tni_buffer_text(&text, "; unexpected (%lld): %.*s", (long long)r->nunexpected,
                        (int)r->unexpected.n, r->unexpected.at);
    tni_buffer_text(&text, "%.*s", (int)r->mismatch.n, r->mismatch.n ? r->mismatch.at : "");
    if (!text.failed) tni_nn_error(TN_INVALID, "%s", text.at);
    tni_buffer_free(&text);
    return false;
}

TN_PRIV bool tni_plan_load(tni_plan *plan, tn_module *m, const tn_named *at, int64_t n, bool strict,
                           bool take) {
    tn_named_list here = tn_module_state_dict_at(NULL, 0, m);
    state_report r;
    state_names given;
    bool ok;
    memset(&r, 0, sizeof r);
    /* First the report of all that does not fit, then the verdict: one error names everything. */
    ok = state_names_make(&given, at, n) && here.n >= 0 &&
         state_load_each(plan, here, &given, &r, take) && state_judge(&r, strict);
    state_names_free(&given);
    tni_buffer_free(&r.missing);
    tni_buffer_free(&r.unexpected);
    tni_buffer_free(&r.mismatch);
    tn_named_free(here);
    return ok;
}

/* Loads all or nothing. */
static bool state_load(tn_module *m, const tn_named *at, int64_t n, bool strict, bool take) {
    tni_plan plan = {{NULL, 0, 0, false}};
    bool ok = tni_plan_load(&plan, m, at, n, strict, take);
    tni_plan_end(&plan, ok);
    return ok;
}

/* Runs without recording, in a link of the chain. */
typedef struct state_quiet {
    tni_step step;
    int64_t mark;
    bool mode;
} state_quiet;
static void state_quiet_begin(state_quiet *q, const char *file, int line, const tn_module *m) {
    tni_step_begin(&q->step, file, line, m ? m->type : NULL);
    q->mark = tn_scope_begin();
    q->mode = tn_set_grad_mode(false);
}
static void state_quiet_end(state_quiet *q) {
    tn_set_grad_mode(q->mode);
    tn_scope_end(q->mark);
    tni_step_end(&q->step);
}

TN_API bool tn_module_load_at(const char *file, int line, tn_module *m, const tn_named *at,
                              int64_t n, bool strict) {
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    ok = state_load(m, at, n, strict, false);
    state_quiet_end(&q);
    return ok;
}

/* --- to --------------------------------------------------------------------------------------- */

/* Plans the conversion of t, if it is not of this dtype and on this device already. A dtype
 * converts floating tensors alone: counters and complex parts keep theirs. */
static bool state_to_one(tni_plan *plan, const char *name, tn_tensor *t, tn_dtype dtype,
                         tn_device_id device) {
    tn_dtype type =
        dtype != TN_NO_DTYPE && tni_dtype_kind(tn_dtype_of(t)) == 'f' ? dtype : tn_dtype_of(t);
    tn_device_id place = device != TN_NO_DEVICE ? device : tn_device_of(t);
    int64_t mark;
    bool ok;
    if (type == tn_dtype_of(t) && place == tn_device_of(t)) return true;
    mark = tn_scope_begin();
    ok = state_add(plan, name, t, state_convert(t, type, place));
    tn_scope_end(mark);
    return ok;
}

TN_API bool tn_module_to_at(const char *file, int line, tn_module *m, tn_dtype dtype,
                            tn_device_id device) {
    tni_plan plan = {{NULL, 0, 0, false}};
    tn_named_list all;
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    all = tni_module_tensors(m);
    ok = all.n >= 0;
    /* torch refuses integer dtypes as well. */
    if (ok && dtype != TN_NO_DTYPE && tni_dtype_kind(dtype) != 'f')
        ok = tni_nn_error(TN_TYPE, "to: %s is not a floating dtype", tn_dtype_name(dtype));
    for (int64_t i = 0; ok && i < all.n; i++) {
        const char *name = all.at[i].name;
        /* A gradient goes with its tensor: backward would add to it in the new dtype. */
        tn_tensor *t = all.at[i].tensor, *grad = tn_grad_of(t);
        ok = state_to_one(&plan, name, t, dtype, device) &&
             (!grad || state_to_one(&plan, name, grad, dtype, device));
    }
    /* All or nothing: exchanged if all conversions were made, else dropped. */
    tni_plan_end(&plan, ok);
    tn_named_free(all);
    state_quiet_end(&q);
    return ok;
}

/* --- copy ------------------------------------------------------------------------------------- */

typedef struct state_copy {
    tni_map seen;  /* old module or tensor -> its copy */
    uint8_t level; /* of the outermost module, whose copy has no level above it */
} state_copy;
static tn_module *state_copy_module(state_copy *c, const tn_module *m);

/* A held copy of t, the same one for the same t. */
static tn_tensor *state_copy_tensor(state_copy *c, tn_tensor *t) {
    bool fresh;
    void **at = tni_map_at(&c->seen, t, &fresh);
    tn_tensor *copy;
    int64_t mark;
    if (!at) return NULL;
    /* Shared inside m, so shared inside the copy. */
    if (!fresh) return tn_retain((tn_tensor *)*at);
    /* The copy is held once, for the part that asked first. */
    mark = tn_scope_begin();
    copy = state_convert(t, tn_dtype_of(t), tn_device_of(t));
    /* A tensor that requires grad becomes a leaf that does, whatever made it in m. */
    if (copy && tn_needs_grad(t)) copy = tn_requires_grad_at(NULL, 0, copy, true);
    if (copy) tn_retain(copy);
    *at = copy;
    tn_scope_end(mark);
    return copy;
}

/* A copy of m's struct without parts and hooks. A row's own members of the struct are copied
 * bytewise, which is wrong for what `destroy` would free: such rows are refused. */
static tn_module *state_copy_head(const state_copy *c, const tn_module *m) {
    tn_module *to;
    if (m->row->destroy) {
        tni_nn_error(TN_UNSUPPORTED, "%s cannot be copied because its row has destroy", m->type);
        return NULL;
    }
    to = (tn_module *)tn_alloc((size_t)m->bytes);
    if (!to) return NULL;
    memcpy(to, m, (size_t)m->bytes);
    /* What belongs to m alone is not copied: its owners, hooks, and lent lists. */
    to->count = 1;
    to->hooks = NULL;
    to->last_hook = 0;
    to->parameters = NULL;
    to->part = NULL;
    to->nparts = to->room = 0;
    /* The copy's root has no levels above it. */
    to->level = (uint8_t)(m->level - c->level);
    /* Pointers into m's own block, such as the texts of options, are moved into the copy's. */
    if (tni_expect_copy(to, m)) {
        if (to->gen && to->gen->make) tn_args_move(to->gen->make, tni_options(to), m, m->bytes, to);
        return to;
    }
    tn_alloc_free(to, (size_t)to->bytes);
    return NULL;
}

/* Adds the copy of m's part i to `to`, at the same place; an absent part stays absent. */
static bool state_copy_part(state_copy *c, tn_module *to, const tn_module *m, int i) {
    const tn_part *p = &m->part[i];
    void *old = *tni_part_place(m, i), *copy = NULL;
    if (!tni_part_new(to, (tn_part_kind)p->kind, p->name,
                      p->field ? (void **)(void *)((char *)to + p->field) : NULL))
        return false;
    if (!old) return true;
    if (p->kind == TN_CHILD)
        copy = state_copy_module(c, (const tn_module *)old);
    else
        copy = state_copy_tensor(c, (tn_tensor *)old);
    *tni_part_place(to, to->nparts - 1) = copy;
    return copy != NULL;
}

/* A held copy of m, the same one for the same m. */
static tn_module *state_copy_module(state_copy *c, const tn_module *m) {
    void **found = tni_map_find(&c->seen, m);
    tn_module *to;
    bool fresh, ok = true;
    if (found) return tn_module_hold((tn_module *)*found);
    to = state_copy_head(c, m);
    if (!to) return NULL;
    for (int i = 0; ok && i < m->nparts; i++) ok = state_copy_part(c, to, m, i);
    /* A copy is entered when it is complete; a tree has no cycle that could ask for it before. */
    found = ok ? tni_map_at(&c->seen, m, &fresh) : NULL;
    if (found) {
        *found = to;
        return to;
    }
    /* The map may have failed last; nobody else holds the copy. */
    to->count = 1;
    tn_module_free(to);
    return NULL;
}

TN_API tn_module *tn_module_copy_at(const char *file, int line, const tn_module *m) {
    state_copy c = {{NULL, NULL, 0, 0}, m ? m->level : (uint8_t)0};
    tn_module *copy = NULL;
    state_quiet q;
    if (!tn_ok()) return NULL;
    /* Copying is not recorded; what it makes is held by the copy. */
    state_quiet_begin(&q, file, line, m);
    if (m)
        copy = state_copy_module(&c, m);
    else
        tni_nn_error(TN_INVALID, "module is NULL");
    tni_map_free(&c.seen);
    state_quiet_end(&q);
    return copy;
}

/* --- copy from another tree ------------------------------------------------------------------- */

/* Whether tensor i is there in both lists, with one name, shape and dtype. */
static bool state_same_part(tn_named_list dst, tn_named_list src, int64_t i) {
    const tn_named *d = i < dst.n ? &dst.at[i] : NULL, *s = i < src.n ? &src.at[i] : NULL;
    char a[TN_MAX_DIMS * 22 + 40], b[TN_MAX_DIMS * 22 + 40];
    if (!d || !s || strcmp(d->name, s->name) != 0)
        return tni_nn_error(TN_INVALID,
                            "copy_from: the structures differ: tensor %lld is %s%.200s%s in dst "
                            "and %s%.200s%s in src",
                            (long long)i, d ? "\"" : "", d ? d->name : "absent", d ? "\"" : "",
                            s ? "\"" : "", s ? s->name : "absent", s ? "\"" : "");
    if (state_same_shape(d->tensor, s->tensor) && tn_dtype_of(d->tensor) == tn_dtype_of(s->tensor))
        return true;
    return tni_nn_error(TN_INVALID, "copy_from: \"%.200s\" is %s in dst and %s in src", d->name,
                        tni_nn_shape_text(a, sizeof a, d->tensor),
                        tni_nn_shape_text(b, sizeof b, s->tensor));
}

/* Plans the new value of one tensor. */
static bool state_blend(tni_plan *plan, const char *name, tn_tensor *dst, tn_tensor *src,
                        double tau) {
    const char kind = tni_dtype_kind(tn_dtype_of(dst));
    int64_t mark;
    tn_tensor *t;
    bool ok;
    if (dst == src) return true; /* shared by both modules */
    mark = tn_scope_begin();
    if (tau == 1 || (kind != 'f' && kind != 'c')) {
        t = state_convert(src, tn_dtype_of(dst), tn_device_of(dst));
    } else {
        if (tn_device_of(src) != tn_device_of(dst))
            src = state_convert(src, tn_dtype_of(dst), tn_device_of(dst));
        t = tnp_mul_scalar(dst, tn_float(1 - tau));
        t = t && src ? tnp_add_(t, src, tau) : NULL;
    }
    ok = state_add(plan, name, dst, t);
    tn_scope_end(mark);
    return ok;
}

static bool state_copy_from(tn_module *dst, const tn_module *src, double tau) {
    tni_plan plan = {{NULL, 0, 0, false}};
    tn_named_list to, from;
    bool ok;
    if (!dst || !src) return tni_nn_error(TN_INVALID, "copy_from: a module is NULL");
    if (!(tau >= 0 && tau <= 1))
        return tni_nn_error(TN_INVALID, "copy_from: tau is %g, expected 0 to 1", tau);
    to = tni_module_tensors(dst);
    from = tni_module_tensors(src);
    ok = to.n >= 0 && from.n >= 0;
    for (int64_t i = 0; ok && (i < to.n || i < from.n); i++) ok = state_same_part(to, from, i);
    for (int64_t i = 0; ok && i < to.n; i++)
        ok = state_blend(&plan, to.at[i].name, to.at[i].tensor, from.at[i].tensor, tau);
    tni_plan_end(&plan, ok);
    tn_named_free(to);
    tn_named_free(from);
    return ok;
}

TN_API bool tn_module_copy_from_at(const char *file, int line, tn_module *dst, const tn_module *src,
                                   double tau) {
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, dst);
    ok = state_copy_from(dst, src, tau);
    state_quiet_end(&q);
    return ok;
}

/* --- reset ------------------------------------------------------------------------------------ */

/* Children first, as constructors draw: a seed gives the values of a new module. */
static bool state_reset(tn_module *m) {
    for (int i = 0; i < m->nparts; i++) {
        tn_module *child = tn_part_child_of(m, i);
        if (child && !state_reset(child)) return false;
    }
    return !m->row->reset || m->row->reset(m);
}

TN_API bool tn_module_reset_at(const char *file, int line, tn_module *m) {
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    ok = m ? state_reset(m) : tni_nn_error(TN_INVALID, "module is NULL");
    state_quiet_end(&q);
    return ok;
}

/* --- files ------------------------------------------------------------------------------------ */

TN_API bool tn_module_save_file_at(const char *file, int line, const tn_module *m,
                                   const char *path) {
    tn_named_list list;
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    /* Borrowed tensors: only the file is written. */
    list = tn_module_state_dict_at(NULL, 0, m);
    ok = list.n >= 0 && tn_safetensors_save_at(file, line, path, list.at, list.n, NULL, 0);
    tn_named_free(list);
    state_quiet_end(&q);
    return ok;
}

TN_API bool tn_module_load_file_at(const char *file, int line, tn_module *m, const char *path) {
    char from[256];
    tn_named_list list;
    state_quiet q;
    bool ok;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    list = tn_safetensors_load_at(file, line, path);
    /* What does not fit is told with the file's name. */
    snprintf(from, sizeof from, "%s from '%s'", m ? m->type : "module", path ? path : "");
    q.step.type = from;
    /* The tensors of the list are nobody else's, so loading may take them without a copy. */
    ok = list.n >= 0 && state_load(m, list.at, list.n, true, true);
    tn_named_free(list);
    state_quiet_end(&q);
    return ok;
}

TN_API tn_bytes tn_module_save_memory_at(const char *file, int line, const tn_module *m) {
    tn_bytes bytes = {NULL, 0};
    tn_save_args args;
    tn_named_list list;
    state_quiet q;
    if (!tn_ok()) return bytes;
    state_quiet_begin(&q, file, line, m);
    list = tn_module_state_dict_at(NULL, 0, m);
    memset(&args, 0, sizeof args);
    args.at = list.at;
    args.n = list.n;
    if (list.n >= 0) bytes = tn_save_memory_at(file, line, &args);
    tn_named_free(list);
    state_quiet_end(&q);
    return bytes;
}

/* The release of memory that a module borrows. It is the caller's once the load has succeeded; one
 * that comes before waits for that. */
typedef struct state_loan {
    void (*release)(void *data, void *user);
    void *user;
    bool given, waits;
} state_loan;

static void state_loan_end(void *data, void *user) {
    state_loan *l = (state_loan *)user;
    if (!l->given) {
        l->waits = true;
        return;
    }
    if (l->release) l->release(data, l->user);
    tn_alloc_free(l, sizeof *l);
}

/* How many tensors of m and below lie in the caller's memory; takes no memory, so it cannot
 * fail. */
static int64_t state_borrowed(const tn_module *m, const tn_load_args *a) {
    int64_t n = 0;
    for (int i = 0; i < m->nparts; i++) {
        const tn_module *child = tn_part_child_of(m, i);
        const tn_tensor *t = tn_part_tensor_of(m, i);
        uintptr_t at = (uintptr_t)tn_data(t), begin = (uintptr_t)a->data;
        if (child) n += state_borrowed(child, a);
        n += tn_is_wrapped(t) && at >= begin && at - begin < a->bytes;
    }
    return n;
}

/* Loads a file in memory, which the tensors borrow if `loan` is not NULL. */
static bool state_load_memory(tn_module *m, const tn_load_args *args, state_loan *loan) {
    tn_load_args a = *args;
    tn_named_list list;
    bool ok;
    a.borrowed = NULL;
    a.release = loan ? state_loan_end : NULL;
    a.user = loan;
    list = tn_load_memory_at(NULL, 0, &a);
    ok = list.n >= 0 && state_load(m, list.at, list.n, true, true);
    tn_named_free(list);
    return ok;
}

static bool state_borrow(tn_module *m, const tn_load_args *a) {
    state_loan *loan = (state_loan *)tn_alloc(sizeof *loan);
    bool ok, last;
    if (!loan) return false;
    memset(loan, 0, sizeof *loan);
    loan->release = a->release;
    loan->user = a->user;
    ok = state_load_memory(m, a, loan);
    loan->given = ok;
    /* No tensor is over the memory any more: m has taken none, or nothing was loaded. */
    last = loan->waits || !ok;
    if (ok && a->borrowed) *a->borrowed = last ? 0 : state_borrowed(m, a);
    if (ok && last) state_loan_end((void *)(uintptr_t)a->data, loan);
    if (!ok) tn_alloc_free(loan, sizeof *loan);
    return ok;
}

TN_API bool tn_module_load_memory_at(const char *file, int line, tn_module *m,
                                     const tn_load_args *args) {
    state_quiet q;
    bool ok = false;
    if (!tn_ok()) return false;
    state_quiet_begin(&q, file, line, m);
    if (!m || !args)
        tni_nn_error(TN_INVALID, "load_memory: the module or the arguments are NULL");
    else if (args->writable || (args->release && !args->borrow))
        tni_nn_error(TN_INVALID, "load_memory: a module borrows read-only; release is an option of "
                                 "borrow");
    else
        ok = args->borrow ? state_borrow(m, args) : state_load_memory(m, args, NULL);
    if (ok && args->borrowed && !args->borrow) *args->borrowed = 0;
    state_quiet_end(&q);
    return ok;
}
