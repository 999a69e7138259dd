/* make.c - making and freeing modules: options, parts by call, parts by text, ownership.
 *
 * Errors go one way: a step that fails marks the module as broken, frees what it was given, and
 * tn_module_finish frees the rest. */
#include "nn.h"
#include "../api/ops/creation.h"
#include "../api/ops/shape.h"

/* --- beginning and end ------------------------------------------------------------------------ */

/* An empty module: the struct of the row's size, rounded up to words, then `behind` bytes for what
 * its options point at, all zero. NULL with an error. */
static tn_module *make_new(const tn_mrow *row, const tn_mgen *gen, int64_t behind) {
    tn_module *m;
    size_t bytes = (row->size + 7) / 8 * 8 + (size_t)behind;
    /* A user's row may state a size that does not hold its options. */
    if (row->size < sizeof(tn_module) ||
        (gen && gen->make && row->size < (size_t)gen->options + gen->make->args_size)) {
        tni_nn_error(TN_INVALID, "the row's size (%lld) is too small for its struct",
                     (long long)row->size);
        return NULL;
    }
    /* Far below any overflow in `bytes`. */
    if (row->size > PTRDIFF_MAX / 2) {
        tni_nn_error(TN_MEMORY, "the row's size (%llu) is too large",
                     (unsigned long long)row->size);
        return NULL;
    }
    m = (tn_module *)tn_alloc(bytes);
    if (!m) return NULL;
    memset(m, 0, bytes);
    m->row = row;
    m->gen = gen;
    m->type = gen ? gen->type : row->name;
    m->count = 1;
    m->training = true;
    m->bytes = (int64_t)bytes;
    return m;
}

TN_API void *tn_module_new_at(const char *file, int line, const tn_mrow *row) {
    tn_module *m = NULL;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, row ? row->name : NULL);
    if (!row || !row->name)
        tni_nn_error(TN_INVALID, "expected a row with a name");
    else
        /* No options: parts come by calls. */
        m = make_new(row, tni_mgen_of(row), 0);
    tni_step_end(&step);
    return m;
}

/* The last steps of the making: the shapes that forward takes, then initial values, which
 * are not recorded. */
static bool make_end(tn_module *m) {
    bool mode;
    int64_t mark;
    if (!tni_expect_make(m)) return false;
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    /* Even a reset that returned true is not believed while an error is pending. */
    m->finished = !m->row->reset || m->row->reset(m);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    if (!m->finished && tn_ok()) tni_nn_error(TN_INTERNAL, "reset failed without setting an error");
    return m->finished && tn_ok();
}

TN_API tn_module *tn_module_finish_at(const char *file, int line, tn_module *m) {
    tni_step step;
    bool ok;
    if (!m || m->finished) return m;
    tni_step_begin(&step, file, line, m->type);
    /* A broken module is never finished, even if its error was taken meanwhile. */
    if (m->broken && tn_ok())
        tni_nn_error(TN_INVALID, "a step of its construction failed and its error was cleared");
    ok = !m->broken && tn_ok() && make_end(m);
    if (!ok) tn_module_free(m);
    tni_step_end(&step);
    return ok ? m : NULL;
}

/* A module of a row with a schema: options, parts, the row's build, initial values. NULL with an
 * error; whatever was made is freed. */
static tn_module *make_build(const tn_mrow *row, const void *args) {
    const tn_mgen *gen = tni_mgen_of(row);
    int64_t mark;
    tn_module *m;
    char why[200], *behind;
    bool ok;
    if (!gen || !gen->make) {
        tni_nn_error(TN_INVALID,
                     "the row has no schema or is not registered; make the module by calls");
        return NULL;
    }
    if (!args || !tn_args_check(gen->make, args, why, sizeof why)) {
        tni_nn_error(TN_INVALID, "%s", args ? why : "the arguments are NULL");
        return NULL;
    }
    /* Lists and texts among the options are copied behind the struct: the caller's go away. */
    m = make_new(row, gen, 8 * tn_args_words(gen->make, args));
    if (!m) return NULL;
    memcpy(tni_options(m), args, gen->make->args_size);
    behind = (char *)m + (row->size + 7) / 8 * 8;
    tn_args_copy(gen->make, tni_options(m), (int64_t *)(void *)behind);
    /* Parts and build may make tensors that nobody holds; the scope frees them. */
    mark = tn_scope_begin();
    ok = tni_parts_make(m) && (!row->build || row->build(m)) && !m->broken;
    tn_scope_end(mark);
    if (!ok && tn_ok()) tni_nn_error(TN_INTERNAL, "build failed without setting an error");
    tn_args_forget(gen->make, tni_options(m)); /* what was lent for the making */
    if (ok && tn_ok() && make_end(m)) return m;
    tn_module_free(m);
    return NULL;
}

/* Drops the constructor's hold of the modules among its arguments, whether it succeeded or not; the
 * tree holds them by then. */
static void make_release_given(const tn_gen *gen, const char *args) {
    for (int i = 0; gen && args && i < gen->nparam; i++) {
        /* A parameter is one module, a list of them, or something else. */
        const char *at = args + gen->param[i].offset;
        tn_module *one = NULL;
        tn_modules list = {NULL, 0};
        if (gen->param[i].type == TN_T_MODULE) memcpy(&one, at, sizeof one);
        if (gen->param[i].type == TN_T_MODULES) memcpy(&list, at, sizeof list);
        tn_module_free(one);
        for (int64_t k = 0; list.at && k < list.n; k++) tn_module_free(list.at[k]);
    }
}

TN_API tn_module *tn_module_make(const char *file, int line, const tn_mrow *row, const void *args) {
    const tn_mgen *gen = row ? tni_mgen_of(row) : NULL;
    tn_module *m = NULL;
    tni_step step;
    tni_step_begin(&step, file, line, gen ? gen->type : row ? row->name : NULL);
    if (!row)
        tni_nn_error(TN_INVALID, "the row is NULL");
    else if (tn_ok())
        m = make_build(row, args);
    /* Modules among the arguments are taken over in any case. */
    make_release_given(gen ? gen->make : NULL, (const char *)args);
    tni_step_end(&step);
    return m;
}

TN_API tn_module *tn_module_hold(tn_module *m) {
    if (m) m->count++;
    return m;
}

TN_API void tn_module_free(tn_module *m) {
    if (!m || !tn_context_exists() || --m->count > 0) return;
    /* destroy may still read the parts, so they go after it. */
    if (m->row->destroy) m->row->destroy(m);
    tni_hooks_free(m);
    for (int i = 0; i < m->nparts; i++) {
        void *at = *tni_part_place(m, i);
        if (m->part[i].kind == TN_CHILD)
            tn_module_free((tn_module *)at);
        else
            tn_release((tn_tensor *)at);
        tni_text_free(m->part[i].name);
    }
    if (m->part) tn_alloc_free(m->part, (size_t)m->room * sizeof *m->part);
    tni_expect_free(m);
    if (m->parameters)
        tn_alloc_free(m->parameters, (size_t)(m->nparameters + 1) * sizeof *m->parameters);
    tn_alloc_free(m, (size_t)m->bytes);
}

/* --- parts by call ---------------------------------------------------------------------------- */

/* A step of a constructor failed: marks m, so that finish frees it; false. A finished module only
 * refuses the part. */
static bool make_broken(tn_module *m) {
    if (!m->finished) m->broken = true;
    return false;
}

/* A dot separates the names of a path, so no name has one. */
static bool make_name_fits(const tn_module *m, const char *name) {
    if (!name || !*name || strchr(name, '.'))
        return tni_nn_error(TN_INVALID, "a part's name must not be empty or contain a dot: \"%s\"",
                            name ? name : "NULL");
    for (int i = 0; i < m->nparts; i++)
        if (strcmp(m->part[i].name, name) == 0)
            return tni_nn_error(TN_INVALID, "part \"%s\" already exists", name);
    return true;
}

/* A typed pointer lies in the module's own block behind the tn_module, or there is none. Numbers
 * are compared, since `field` may point anywhere. */
static bool make_field_fits(const tn_module *m, const char *name, const void *field) {
    uintptr_t at = (uintptr_t)field, from = (uintptr_t)m;
    if (!field || (at >= from + sizeof *m && at <= from + (uintptr_t)m->bytes - sizeof(void *)))
        return true;
    return tni_nn_error(TN_INVALID, "the field of part \"%s\" lies outside the module's struct",
                        name);
}

/* Room for one more part, by doubling. */
static bool make_more_parts(tn_module *m) {
    int32_t room = m->room ? 2 * m->room : 4;
    tn_part *part;
    if (m->nparts < m->room) return true;
    if (m->room > INT32_MAX / 4) return tni_nn_error(TN_INVALID, "too many parts");
    part = (tn_part *)tn_alloc((size_t)room * sizeof *part);
    if (!part) return false;
    if (m->nparts) memcpy(part, m->part, (size_t)m->nparts * sizeof *part);
    if (m->part) tn_alloc_free(m->part, (size_t)m->room * sizeof *m->part);
    m->part = part;
    m->room = room;
    return true;
}

TN_PRIV tn_part *tni_part_new(tn_module *m, tn_part_kind kind, const char *name, void **field) {
    tn_part *p;
    if (!make_name_fits(m, name) || !make_field_fits(m, name, field) || !make_more_parts(m))
        return NULL;
    p = &m->part[m->nparts];
    memset(p, 0, sizeof *p);
    p->name = tni_text_copy(name, strlen(name));
    if (!p->name) return NULL;
    p->kind = (uint8_t)kind;
    p->field = field ? (uint32_t)((char *)field - (char *)m) : 0;
    m->nparts++;
    /* Parts may have moved, so the place is asked for after the count. */
    *tni_part_place(m, m->nparts - 1) = NULL;
    return p;
}

/* A new zero tensor in the current scope; a parameter requires grad if its dtype can. */
static tn_tensor *make_tensor(const tn_module *m, tn_part_kind kind, tn_dtype dtype,
                              tn_ints shape) {
    tn_dtype type = dtype == TN_NO_DTYPE ? tni_dtype_option(m) : dtype;
    tn_tensor *t = tnp_zeros(shape, type, tni_device_option(m));
    bool records = tni_dtype_kind(type) == 'f' || tni_dtype_kind(type) == 'c';
    return t && kind == TN_PARAM && records ? tn_requires_grad_at(NULL, 0, t, true) : t;
}

/* A new tensor as a part, held by the module and by no scope. */
static bool make_part_tensor(tn_module *m, tn_part_kind kind, const char *name, void **field,
                             tn_dtype dtype, tn_ints shape) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = make_tensor(m, kind, dtype, shape);
    bool ok = t && tni_part_new(m, kind, name, field);
    if (ok) *tni_part_place(m, m->nparts - 1) = tn_retain(t);
    tn_scope_end(mark);
    return ok;
}

static bool make_kind_fits(tn_part_kind kind) {
    return kind == TN_PARAM || kind == TN_BUFFER || kind == TN_TRANSIENT ||
           tni_nn_error(TN_INVALID, "a part's kind must be TN_PARAM, TN_BUFFER or TN_TRANSIENT");
}

TN_API bool tn_part_tensor_at(const char *file, int line, tn_module *m, tn_part_kind kind,
                              const char *name, tn_tensor **field, tn_dtype dtype, tn_ints shape) {
    tni_step step;
    bool ok;
    /* A chain of steps goes on after a failure and does nothing; finish reports it. */
    if (!m || m->broken) return false;
    if (!tn_ok()) return make_broken(m);
    tni_step_begin(&step, file, line, m->type);
    ok = make_kind_fits(kind) &&
         make_part_tensor(m, kind, name, (void **)(void *)field, dtype, shape);
    tni_step_end(&step);
    return ok || make_broken(m);
}

TN_API bool tn_part_give_at(const char *file, int line, tn_module *m, tn_part_kind kind,
                            const char *name, tn_tensor **field, tn_tensor *t) {
    tni_step step;
    bool ok;
    if (!m || m->broken) return false;
    if (!tn_ok()) return make_broken(m);
    tni_step_begin(&step, file, line, m->type);
    ok = make_kind_fits(kind) && tni_part_new(m, kind, name, (void **)(void *)field);
    /* The module is one more owner of t, whatever scope holds it. */
    if (ok && t) ok = (*tni_part_place(m, m->nparts - 1) = tn_retain(t)) != NULL;
    tni_step_end(&step);
    return ok || make_broken(m);
}

/* A child is whole and does not contain m. m can lie below the child only if it is somebody's
 * child, so the search is left out for a module that never was one. */
static bool make_child_fits(const tn_module *m, const char *name, const tn_module *child) {
    if (!child) return tni_nn_error(TN_INVALID, "child \"%s\" is NULL", name ? name : "");
    if (!child->finished)
        return tni_nn_error(TN_INVALID, "child \"%s\" is not finished", name ? name : "");
    if (child == m || (m->level && tni_tree_contains(child, m)))
        return tni_nn_error(TN_INVALID, "child \"%s\" would make a cycle", name ? name : "");
    return true;
}

/* A level that was changed, to be put back. */
typedef struct make_level {
    tn_module *m;
    uint8_t before;
} make_level;

/* Raises the level of m to `level` at least, and that of its children to one more. What lies below
 * a module has a higher level already, so a module as deep as asked for is not entered. Each change
 * is noted, to be undone if a later step fails. An error if the depth exceeds TN_MODULE_DEPTH. */
static bool make_lower(tni_buffer *changed, tn_module *m, int level) {
    make_level was = {m, m->level};
    if (level <= m->level) return true;
    if (level >= TN_MODULE_DEPTH)
        return tni_nn_error(TN_INVALID, "modules are nested deeper than %d levels",
                            (int)TN_MODULE_DEPTH);
    /* Noted before it is changed, so that it can be put back in any case. */
    if (!tni_buffer_add(changed, &was, sizeof was)) return false;
    m->level = (uint8_t)level;
    for (int i = 0; i < m->nparts; i++) {
        tn_module *child = tn_part_child_of(m, i);
        if (child && !make_lower(changed, child, level + 1)) return false;
    }
    return true;
}

/* Adds a finished module as a part and takes it over; false with everything as before. */
static bool make_child(tn_module *m, const char *name, tn_module **field, tn_module *child) {
    tni_buffer changed = {NULL, 0, 0, false};
    bool ok = make_child_fits(m, name, child) && make_lower(&changed, child, m->level + 1) &&
              tni_part_new(m, TN_CHILD, name, (void **)(void *)field);
    make_level *was = (make_level *)(void *)changed.at;
    /* Undone in reverse: a module that was raised twice gets its first level back. */
    for (int64_t i = changed.n / (int64_t)sizeof *was; !ok && i-- > 0;)
        was[i].m->level = was[i].before;
    tni_buffer_free(&changed);
    if (ok) *tni_part_place(m, m->nparts - 1) = child;
    return ok;
}

/* The child is taken over: each way out that does not add it frees it. */
TN_API bool tn_part_child_at(const char *file, int line, tn_module *m, const char *name,
                             tn_module **field, tn_module *child) {
    tni_step step;
    bool ok = m && !m->broken;
    if (ok && tn_ok()) {
        tni_step_begin(&step, file, line, m->type);
        ok = make_child(m, name, field, child);
        if (!ok) tn_module_free(child);
        tni_step_end(&step);
        return ok || make_broken(m);
    }
    tn_module_free(child);
    return ok ? make_broken(m) : false;
}

TN_API bool tn_module_append_at(const char *file, int line, tn_module *m, tn_module *child) {
    char name[16];
    /* A list's children are its only parts, so their count is the next number. */
    snprintf(name, sizeof name, "%d", m ? (int)m->nparts : 0);
    return tn_part_child_at(file, line, m, name, NULL, child);
}

/* --- children --------------------------------------------------------------------------------- */

/* Writes the value of an expression as an option; false if the option's type cannot hold it. A list
 * of ints becomes the value alone, which lies in *one. */
static bool made_put(const tn_param *p, char *args, tni_figure v, int64_t *one) {
    if (p->type == TN_T_INTS && one && v.kind == TNI_FIGURE_INT) {
        const tn_ints list = tn_ints_of(one, 1);
        *one = v.value;
        memcpy(args + p->offset, &list, sizeof list);
        return true;
    }
    return tn_param_set_number(p, args,
                               v.kind == TNI_FIGURE_NONE    ? tn_none()
                               : v.kind == TNI_FIGURE_FLOAT ? tn_float(v.real)
                                                            : tn_int(v.value));
}

/* The options dtype and device of a parent apply to its children as well. */
static void made_inherit(const tn_module *m, const tn_gen *gen, char *args) {
    const tn_param *dtype = tn_param_named(gen, "dtype", SIZE_MAX),
                   *device = tn_param_named(gen, "device", SIZE_MAX);
    if (dtype) tn_param_set_number(dtype, args, tn_int(tni_dtype_option(m)));
    if (device) tn_param_set_number(device, args, tn_int(tni_device_option(m)));
}

enum { MADE_LISTS = 16 }; /* the options of a child among which lists may be */

/* Fills args from "expr, name=expr": values without a name go to the parameters in order.
 * Expressions read m's options; `gen` describes the child's. ones: room for lists. */
static bool made_args(tn_module *m, const char *what, tni_span items, const tn_gen *gen, char *args,
                      int64_t *ones) {
    tni_span item, name, value;
    const char *why = NULL;
    for (int k = 0; tni_item_next(&items, &item); k++) {
        const tn_param *p;
        tni_figure v;
        /* "name=expr", or an expression for the parameter in this place. */
        tni_item_split(item, &name, &value);
        p = tn_param_named(gen, name.at, (size_t)name.n);
        if (!name.n && k < gen->nparam) p = &gen->param[k];
        if (!p) return tni_row_text_error(what, item, "this option does not exist");
        /* Values are m's options: "bias=bias" hands one down. */
        if (!tni_expression(value, tni_option_number, m, &v, &why))
            return tni_row_text_error(what, item, why);
        if (!made_put(p, args, v, k < MADE_LISTS ? ones + k : NULL))
            return tni_row_text_error(what, item, "the value has the wrong type");
    }
    return true;
}

/* Whether as many constructors are in progress as levels are allowed: a row that names itself among
 * its children would never end. Constructors are the innermost links of one kind. */
static bool made_deep(void) {
    const tn_path *p = tn_path_current(), *last = p;
    int depth = 0;
    for (; p && p->text == last->text && depth < TN_MODULE_DEPTH; p = p->caller) depth++;
    return depth == TN_MODULE_DEPTH;
}

/* Makes a child that .parts describes; NULL with an error. */
static tn_module *made_child(tn_module *m, const tni_part_text *t) {
    char type[64];
    tni_args args;
    int64_t ones[MADE_LISTS]; /* until the constructor has copied them */
    const tn_mrow *row;
    const tn_mgen *gen;
    if (made_deep()) {
        tni_row_text_error(m->row->parts, t->type, "children are nested too deeply");
        return NULL;
    }
    /* Rows are found by class name, built-in or registered. */
    snprintf(type, sizeof type, "%.*s", t->type.n, t->type.at);
    row = tn_mrow_named(type);
    gen = row ? tni_mgen_of(row) : NULL;
    if (!gen || gen->make->args_size > sizeof args.at) {
        tni_row_text_error(m->row->parts, t->type, "this class does not exist" TNI_OR_NOT_BUILT);
        return NULL;
    }
    /* Defaults first, then the parent's dtype and device, then what the text says. */
    memcpy(args.at, gen->make->defaults, gen->make->args_size);
    made_inherit(m, gen->make, args.at);
    if (!made_args(m, m->row->parts, t->items, gen->make, args.at, ones)) return NULL;
    return tn_module_make(NULL, 0, row, args.at);
}

/* --- parts ------------------------------------------------------------------------------------ */

/* The typed pointer for a part in the module's struct; NULL if the struct has none of this name. */
static void **made_field(tn_module *m, const char *name) {
    for (uint32_t i = 0; m->gen && i < m->gen->nfields; i++)
        if (strcmp(m->gen->fields[i].name, name) == 0)
            return (void **)(void *)((char *)m + m->gen->fields[i].offset);
    return NULL;
}

/* A part that is a tensor given as an option: a copy, which belongs to this module alone and has no
 * history. Absent if the option is. */
static bool made_given(tn_module *m, const tni_part_text *t, const char *name, void **field) {
    char option[64];
    const tn_param *p;
    tn_tensor *given;
    snprintf(option, sizeof option, "%.*s", t->given.n, t->given.at);
    /* The row names an option of its own schema. */
    p = tni_option(m, option);
    if (!p || p->type != TN_T_TENSOR)
        return tni_row_text_error(m->row->parts, t->given, "expected an option that is a tensor");
    memcpy(&given, (char *)tni_options(m) + p->offset, sizeof given);
    if (given) {
        given = tnp_clone(tnp_detach(given), (tn_memory_format)0);
        if (!given) return false;
    }
    return tn_part_give_at(NULL, 0, m, (tn_part_kind)t->kind, name, (tn_tensor **)(void *)field,
                           given);
}

/* Makes one part as its text says: given, absent by its condition, a child, or a
 * tensor of sizes. */
static bool made_part(tn_module *m, const tni_part_text *t) {
    char name[64], dtype[24];
    int64_t size[TN_MAX_DIMS];
    tni_figure wanted = {TNI_FIGURE_INT, 1, 0};
    tn_dtype type = TN_NO_DTYPE;
    const char *why = NULL;
    int n, star, most;
    void **field;
    /* Names of built-in rows are short; a longer one of a user's row is cut. */
    snprintf(name, sizeof name, "%.*s", t->name.n, t->name.at);
    snprintf(dtype, sizeof dtype, "%.*s", t->dtype.n, t->dtype.at);
    field = made_field(m, name);
    if (t->given.n) return made_given(m, t, name, field);
    if (t->condition.n && !tni_expression(t->condition, tni_option_number, m, &wanted, &why))
        return tni_row_text_error(m->row->parts, t->condition, why);
    /* Registered all the same: an absent part keeps its name and its place in the order,
     * as torch's None. */
    if (!tni_figure_true(wanted))
        return tni_part_new(m, (tn_part_kind)t->kind, name, field) != NULL;
    if (t->kind == TNI_SPAN_CHILD)
        return tn_part_child_at(NULL, 0, m, name, (tn_module **)(void *)field, made_child(m, t));
    if (t->dtype.n && (type = tn_dtype_named(dtype)) == TN_NO_DTYPE)
        return tni_row_text_error(m->row->parts, t->dtype, "this dtype does not exist");
    if (!tni_sizes_of(m, m->row->parts, t->items, size, &n, &star, &most)) return false;
    if (star >= 0)
        return tni_row_text_error(m->row->parts, t->items, "a part must not have * or ?");
    return tn_part_tensor_at(NULL, 0, m, (tn_part_kind)t->kind, name, (tn_tensor **)(void *)field,
                             type, tn_ints_of(size, n));
}

TN_PRIV bool tni_parts_make(tn_module *m) {
    const char *at = m->row->parts, *why = NULL;
    tni_part_text t;
    int more = 0;
    if (!at) return true;
    /* Parts are made in the order of the text: the order of state dicts and of draws. */
    while ((more = tni_part_next(&at, &t, &why)) > 0)
        if (!made_part(m, &t)) return false;
    if (more == 0) return true;
    tni_span rest = {at, (int)strlen(at)};
    return tni_row_text_error(m->row->parts, rest, why);
}

TN_API tn_module *tn_module_named_at(const char *file, int line, const char *type,
                                     const tn_value *values, int nvalues) {
    const tn_mrow *row = tn_mrow_named(type);
    const tn_mgen *gen = row ? tni_mgen_of(row) : NULL;
    tni_args args;
    if (!tn_ok()) return NULL;
    if (!gen || gen->make->args_size > sizeof args.at) {
        tn_error_set(TN_INVALID, file, line, "module class \"%s\" does not exist%s",
                     type ? type : "NULL", TNI_OR_NOT_BUILT);
        return NULL;
    }
    /* Values become the argument struct, checked against the schema. */
    if (!tn_bind(file, line, gen->type, gen->make, values, nvalues, true, args.at)) return NULL;
    return tn_module_make(file, line, row, args.at);
}
