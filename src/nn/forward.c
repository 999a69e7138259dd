/* forward.c - the door of modules: the chain of calls, hooks, shapes that are taken, ownership
 * of results. */
#include "nn.h"
#include "../api/ops/shape.h"

/* --- shapes that are taken -------------------------------------------------------------------- */

/* One input: where it lies in the forward's arguments, and its sizes; -1: any. */
typedef struct expect_input {
    const char *name;
    uint32_t offset;
    int n, star, most; /* before size `star` stand up to `most` that may be any; star -1: none */
    int64_t size[TN_MAX_DIMS];
} expect_input;
struct tni_expect {
    int n;
    int64_t bytes;
    expect_input input[1];
};

/* Reads "name(items)" off the text and moves *at behind it; false at the end, or with *why set. */
static bool expect_next(const char **at, tni_span *name, tni_span *items, const char **why) {
    tni_part_text t;
    int more = tni_part_next(at, &t, why);
    *name = t.name;
    *items = t.items;
    return more > 0;
}

/* The tensor parameter of forward that is called so; NULL if there is none. */
static const tn_param *expect_param(const tn_module *m, tni_span name) {
    const tn_gen *call = tni_call_of(m);
    for (int i = 0; i < call->nfixed; i++)
        if (tni_span_is(name, tn_gen_tensor(call, i)->name)) return tn_gen_tensor(call, i);
    return NULL;
}

/* Compiles each input of the text into m->expect, whose room tni_expect_make has counted. */
static bool expect_fill(tn_module *m, const char *text) {
    tni_span name, items;
    const char *why = NULL;
    while (expect_next(&text, &name, &items, &why)) {
        /* Where the tensor lies in the forward's arguments. */
        const tn_param *p = expect_param(m, name);
        expect_input *e = &m->expect->input[m->expect->n];
        if (!p)
            return tni_nn_error(TN_INVALID, "takes: forward has no tensor \"%.*s\"", name.n,
                                name.at);
        e->name = p->name;
        e->offset = p->offset;
        /* Sizes are expressions over the options, which do not change any more. */
        if (!tni_sizes_of(m, m->row->takes, items, e->size, &e->n, &e->star, &e->most))
            return false;
        m->expect->n++;
    }
    return !why || tni_nn_error(TN_INVALID, "takes: %s at \"%s\"", why, text);
}

TN_PRIV bool tni_expect_make(tn_module *m) {
    int64_t n = 1, bytes;
    if (!m->row->takes) return true;
    /* One input more than there are semicolons, at most: the text may end in one. */
    for (const char *c = m->row->takes; *c; c++) n += *c == ';';
    bytes = (int64_t)sizeof(struct tni_expect) + n * (int64_t)sizeof(expect_input);
    m->expect = (struct tni_expect *)tn_alloc((size_t)bytes);
    if (!m->expect) return false;
    memset(m->expect, 0, (size_t)bytes);
    m->expect->bytes = bytes;
    return expect_fill(m, m->row->takes);
}

/* Compiled shapes hold offsets and numbers, and names of the tables, so a bytewise
 * copy is whole. */
TN_PRIV bool tni_expect_copy(tn_module *to, const tn_module *from) {
    to->expect = NULL;
    if (!from->expect) return true;
    to->expect = (struct tni_expect *)tn_alloc((size_t)from->expect->bytes);
    if (!to->expect) return false;
    memcpy(to->expect, from->expect, (size_t)from->expect->bytes);
    return true;
}

TN_PRIV void tni_expect_free(tn_module *m) {
    if (m->expect) tn_alloc_free(m->expect, (size_t)m->expect->bytes);
    m->expect = NULL;
}

/* Whether t has the sizes of e. The sizes before `star` are t's first, those from `star` on its
 * last; the `skip` sizes between them are not looked at. */
static bool expect_fits(const expect_input *e, const tn_tensor *t) {
    tn_ints shape = tn_shape(t);
    int64_t skip = shape.n - e->n;
    /* most is 0 without a star, so the number of sizes is then exact. */
    if (skip < 0 || skip > e->most) return false;
    for (int i = 0; i < e->n; i++)
        if (e->size[i] >= 0 && e->size[i] != shape.at[e->star >= 0 && i >= e->star ? skip + i : i])
            return false;
    return true;
}

/* "input: expected (*, 4), got float32 (2, 3)". Both texts have room for TN_MAX_DIMS sizes
 * of any length. */
static bool expect_error(const expect_input *e, const tn_tensor *t) {
    char wanted[TN_MAX_DIMS * 22 + 16], got[TN_MAX_DIMS * 22 + 40];
    size_t at = (size_t)snprintf(wanted, sizeof wanted, "(");
    /* One step more than there are sizes: the star may stand behind the last one. */
    for (int i = 0; i <= e->n; i++) {
        const char *comma = at > 1 ? ", " : "";
        if (i == e->star)
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s%c", comma,
                                   e->most > 1 ? '*' : '?');
        comma = at > 1 ? ", " : "";
        if (i == e->n) break;
        /* A size of -1 takes any. */
        if (e->size[i] < 0)
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s_", comma);
        else
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, "%s%lld", comma,
                                   (long long)e->size[i]);
    }
    snprintf(wanted + at, sizeof wanted - at, ")");
    return tni_nn_error(TN_INVALID, "%s: expected %s, got %s", e->name, wanted,
                        tni_nn_shape_text(got, sizeof got, t));
}

/* As Python prints a tuple: "(3,)" for one size. Cut where room ends. */
TN_PRIV const char *tni_nn_shape_text(char *text, size_t room, const tn_tensor *t) {
    tn_ints shape = tn_shape(t);
    size_t at = (size_t)snprintf(text, room, "%s (", tn_dtype_name(tn_dtype_of(t)));
    for (int64_t i = 0; i < shape.n && at < room; i++)
        at +=
            (size_t)snprintf(text + at, room - at, "%s%lld", i ? ", " : "", (long long)shape.at[i]);
    if (at < room) snprintf(text + at, room - at, "%s", shape.n == 1 ? ",)" : ")");
    return text;
}

/* The tensor at an offset of the forward's arguments. */
static tn_tensor *forward_tensor(const void *args, uint32_t offset) {
    tn_tensor *t;
    memcpy(&t, (const char *)args + offset, sizeof t);
    return t;
}

/* What forward may rely on: required tensors are there, and those that .takes names
 * have its shapes. */
static bool forward_check(const tn_mframe *f) {
    for (int i = 0; i < f->call->nfixed; i++) {
        const tn_param *p = tn_gen_tensor(f->call, i);
        if (!(p->flags & TN_P_OPTIONAL) && !forward_tensor(f->args, p->offset))
            return tni_nn_error(TN_INVALID, "argument '%s' is NULL", p->name);
    }
    for (int i = 0; f->m->expect && i < f->m->expect->n; i++) {
        const expect_input *e = &f->m->expect->input[i];
        const tn_tensor *t = forward_tensor(f->args, e->offset);
        if (t && !expect_fits(e, t)) return expect_error(e, t);
    }
    return true;
}

/* --- the chain -------------------------------------------------------------------------------- */

/* "layers.3.attn (Linear)": where the innermost module lies below the outermost. Trees know no
 * parents, so the path is searched for when an error is made, and a call keeps nothing for it. */
static void forward_text(const tn_path *path, char *to, size_t room) {
    const tn_module *chain[64];
    int n = 0;
    size_t at = 0;
    /* Forwards in progress, innermost first. Links of other kinds end the chain. */
    for (const tn_path *p = path; p && p->text == forward_text && n < 64; p = p->caller)
        chain[n++] = ((const tn_mframe *)(const void *)p)->m;
    to[0] = 0;
    /* From the outermost call inwards: the path of each module below its caller. */
    for (int i = n - 2; i >= 0; i--) {
        char step[256];
        /* A module that is not below its caller begins a path of its own. */
        if (!tni_tree_path(chain[i + 1], chain[i], step, sizeof step)) {
            at = 0;
            to[0] = 0;
        } else if (step[0] && at + strlen(step) + 2 < room) {
            at += (size_t)snprintf(to + at, room - at, "%s%s", at ? "." : "", step);
        }
    }
    if (at) /* forward_text cannot be called without a forward in progress, so chain[0] exists. */
        snprintf(to + at, room - at, " (%s)", chain[0]->type);
    else
        snprintf(to, room, "%s", chain[0]->type);
}

/* --- hooks ------------------------------------------------------------------------------------ */

struct tn_mhook {
    tn_module_hook_fn call;
    void *user;
    void (*release)(void *user);
    int64_t number;
    int when;
    struct tn_mhook *next;
};

/* Appends a hook and returns its number; 0 with an error. Numbers rise along the list and are never
 * given twice, so one names at most one hook. */
static int64_t forward_hook_add(tn_module *m, int when, tn_module_hook_fn hook, void *user,
                                void (*release)(void *user)) {
    struct tn_mhook *h, **at;
    if (!m || !hook || (when != TN_BEFORE_FORWARD && when != TN_AFTER_FORWARD))
        return tni_nn_error(
            TN_INVALID,
            "a hook needs a module, TN_BEFORE_FORWARD or TN_AFTER_FORWARD, and a function");
    h = (struct tn_mhook *)tn_alloc(sizeof *h);
    if (!h) return 0;
    for (at = &m->hooks; *at; at = &(*at)->next) continue;
    memset(h, 0, sizeof *h);
    h->call = hook;
    h->user = user;
    h->release = release;
    h->number = ++m->last_hook;
    h->when = when;
    *at = h;
    return h->number;
}
TN_API int64_t tn_module_hook_at(const char *file, int line, tn_module *m, int when,
                                 tn_module_hook_fn hook, void *user, void (*release)(void *user)) {
    int64_t number;
    tni_step step;
    if (!tn_ok()) return 0;
    tni_place_begin(&step, file, line);
    number = forward_hook_add(m, when, hook, user, release);
    tni_step_end(&step);
    return number;
}

/* Frees a hook that runs nowhere and is in no list. */
static void forward_hook_free(struct tn_mhook *h) {
    if (h->release) h->release(h->user);
    tn_alloc_free(h, sizeof *h);
}

/* Frees a hook that is in no list any more. If it runs in this thread, the outermost forward that
 * runs it frees it when it returns: by then the inner calls of it are over. */
static void forward_hook_drop(struct tn_mhook *h) {
    tn_mframe *runs = NULL;
    for (tn_path *p = tn_path_current(); p; p = p->caller)
        if (p->text == forward_text && ((tn_mframe *)(void *)p)->hook == h)
            runs = (tn_mframe *)(void *)p;
    if (runs)
        runs->hook_removed = true;
    else
        forward_hook_free(h);
}

TN_API bool tn_module_hook_remove_at(const char *file, int line, tn_module *m, int64_t number) {
    tni_step step;
    for (struct tn_mhook **at = m ? &m->hooks : NULL; at && *at; at = &(*at)->next) {
        struct tn_mhook *h = *at;
        if (h->number != number) continue;
        /* Out of the list first: the hook may be the one that runs. */
        *at = h->next;
        forward_hook_drop(h);
        return true;
    }
    tni_place_begin(&step, file, line);
    tni_nn_error(TN_INVALID, "hook %lld does not exist", (long long)number);
    tni_step_end(&step);
    return false;
}

/* All hooks of a module that dies. None runs: a hook must not free the last owner of its module. */
TN_PRIV void tni_hooks_free(tn_module *m) {
    while (m->hooks) {
        struct tn_mhook *h = m->hooks;
        m->hooks = h->next;
        forward_hook_free(h);
    }
}

/* Runs one hook between guards, which restore scopes and modes and keep the results in f->out. */
static bool forward_hook_call(tn_mframe *f, struct tn_mhook *h) {
    tn_guard guard = tn_guard_begin();
    bool ok;
    f->hook = h;
    f->hook_removed = false;
    ok = h->call(f, h->user);
    tn_guard_end(&guard, f->out, ok ? f->nout : 0);
    f->hook = NULL;
    if (f->hook_removed) forward_hook_free(h);
    return ok || !tn_ok() ? ok
                          : tni_nn_error(TN_INTERNAL, "a hook failed without setting an error");
}

/* Runs the hooks of one kind. A hook may remove itself and others, so no pointer into the list
 * lives through a call: the next hook is that with the next number. Hooks with numbers above `last`
 * were added during this forward and wait for the next one. */
static bool forward_hooks(tn_mframe *f, int when, int64_t last) {
    for (struct tn_mhook *h = f->m->hooks; h && h->number <= last;) {
        const int64_t at = h->number;
        if (h->when == when && !forward_hook_call(f, h)) return false;
        /* Finds the place again from the list's start. */
        for (h = f->m->hooks; h && h->number <= at;) h = h->next;
    }
    return true;
}

/* --- calling ---------------------------------------------------------------------------------- */

TN_API tn_tensor *tn_input(const tn_mframe *f, int k) {
    if (k < 0 || k >= f->call->nfixed) return NULL; /* Tensor parameters alone, absent ones too */
    return forward_tensor(f->args, tn_gen_tensor(f->call, k)->offset);
}

/* Result k, if it is one of the inputs, becomes a view of it: the caller may then free the result
 * and keep the input. A module that lends (a binding's, whose objects are counted) skips this. */
static bool forward_own(tn_mframe *f, int k) {
    for (int i = 0; f->out[k] && !f->m->lends && i < f->call->nfixed; i++)
        if (tn_input(f, i) == f->out[k])
            return (f->out[k] = tnp_view(f->out[k], tn_shape(f->out[k]))) != NULL;
    return true;
}

/* The steps of a forward: hooks before it, checks of what they may have changed, forward, hooks
 * after it, ownership of the results. */
static bool forward_run(tn_mframe *f) {
    const int64_t last = f->m->last_hook;
    bool ok;
    if (!f->m->row->forward) return tni_nn_error(TN_UNSUPPORTED, "has no forward");
    ok = (!f->m->hooks || forward_hooks(f, TN_BEFORE_FORWARD, last)) && forward_check(f);
    if (!ok) return false;
    /* A user's forward may break its contract: these two are errors and not crashes later. */
    ok = f->m->row->forward(f);
    if (!ok && tn_ok()) return tni_nn_error(TN_INTERNAL, "forward failed without setting an error");
    if (ok && !f->out[0] && tn_ok()) return tni_nn_error(TN_INTERNAL, "forward returned no result");
    ok = ok && (!f->m->hooks || forward_hooks(f, TN_AFTER_FORWARD, last)) && tn_ok();
    for (int k = 0; ok && k < f->nout; k++) ok = forward_own(f, k);
    return ok;
}

/* One forward in a scope of its own: what it made is freed at the end, except the results, which
 * move to the caller's scope. All results are NULL if it fails. */
static bool forward_enter(const char *file, int line, tn_module *m, const tn_gen *call,
                          const void *args, tn_tensor **out, int nout) {
    tn_mframe f;
    int64_t mark;
    bool ok;
    /* The link of the chain is the frame itself: forward_text finds the module by it. */
    f.path.text = forward_text;
    f.path.file = file;
    f.path.line = line;
    f.m = m;
    f.hook = NULL;
    f.hook_removed = false;
    f.call = call;
    f.args = args;
    f.out = out;
    f.nout = nout;
    mark = tn_scope_begin();
    tn_path_push(&f.path);
    ok = forward_run(&f);
    for (int k = 0; !ok && k < nout; k++) out[k] = NULL;
    /* Leaves the scope: the results go to the scope around it. */
    tn_scope_leave(mark, out, nout);
    tn_path_pop(&f.path);
    return ok;
}

/* Errors before there is a frame carry the caller's line. */
static bool forward_refuse(const char *file, int line, const char *what) {
    tn_path *p = tn_path_current();
    /* The outermost link has the user's line. */
    while (p && p->caller) p = p->caller;
    return tn_error_set(TN_INVALID, p ? p->file : file, p ? p->line : line, "%s", what);
}

TN_API bool tn_module_call(const char *file, int line, tn_module *m, const tn_mrow *row,
                           const void *args, tn_tensor **out, int nout) {
    const tn_gen *call = m ? tni_call_of(m) : NULL;
    for (int k = 0; k < nout; k++) out[k] = NULL;
    if (!tn_ok()) return false;
    if (!m) return forward_refuse(file, line, "module is NULL");
    /* A typed forward of another class would read the arguments at wrong offsets. */
    if (row && m->row != row)
        return forward_refuse(file, line, "forward belongs to another kind of module");
    if (!args || nout != call->nresults)
        return forward_refuse(
            file, line, "forward: expected arguments and room for as many results as the row has");
    return forward_enter(file, line, m, call, args, out, nout);
}

TN_API tn_tensor *tn_forward_at(const char *file, int line, tn_module *m, tn_tensor *input) {
    const tn_gen *call = m ? tni_call_of(m) : NULL;
    tn_tensor *out = NULL;
    tni_args args;
    int first = -1, required = 0;
    if (!tn_ok()) return NULL;
    if (!m) return forward_refuse(file, line, "module is NULL"), (tn_tensor *)NULL;
    /* The one required parameter gets the input; all others have defaults. */
    for (int i = 0; i < call->nparam; i++) {
        if (call->param[i].flags & TN_P_DEFAULT) continue;
        required++;
        if (call->param[i].type == TN_T_TENSOR) first = i;
    }
    /* A module with more inputs or results has a typed function of its own. */
    if (required != 1 || first < 0 || call->nresults != 1 || call->args_size > sizeof args.at) {
        forward_refuse(
            file, line,
            "tn_forward needs one required tensor and one result; call this module's own forward");
        return NULL;
    }
    memcpy(args.at, call->defaults, call->args_size);
    memcpy(args.at + call->param[first].offset, &input, sizeof input);
    return forward_enter(file, line, m, call, args.at, &out, 1) ? out : NULL;
}

TN_API bool tn_module_call_values(const char *file, int line, tn_module *m, const tn_value *values,
                                  int nvalues, tn_tensor **out, int nout) {
    const tn_gen *call = m ? tni_call_of(m) : NULL;
    tni_args args;
    for (int k = 0; k < nout; k++) out[k] = NULL;
    if (!tn_ok()) return false;
    if (!m) return forward_refuse(file, line, "module is NULL");
    if (call->args_size > sizeof args.at)
        return forward_refuse(file, line, "forward has too many arguments");
    /* tn_bind sets an error with the class's name for values that do not fit. */
    return tn_bind(file, line, m->type, call, values, nvalues, true, args.at) &&
           tn_module_call(file, line, m, NULL, args.at, out, nout);
}
