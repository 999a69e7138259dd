/* make_text.c - what a row says in text about its making: parts with sizes and conditions, children
 * with arguments; rows by class name. */
#include "nn.h"

/* --- sizes ------------------------------------------------------------------------------------ */

static bool make_text_error(const char *what, tni_span at, const char *why) {
    return tni_nn_error(TN_INVALID, "the row's text \"%s\" at \"%.*s\": %s", what, at.n, at.at,
                        why);
}

static bool make_text_size(tn_module *m, const char *what, tni_span item, int64_t *size, int *n) {
    tni_figure v;
    tn_ints list;
    const char *why = NULL;
    if (tni_option_ints(m, item, &list) && list.n >= 0) {
        if (list.n > TN_MAX_DIMS - *n) return make_text_error(what, item, "too many dimensions");
        for (int64_t i = 0; i < list.n; i++) size[(*n)++] = list.at[i];
        return true;
    }
    if (*n == TN_MAX_DIMS) return make_text_error(what, item, "too many dimensions");
    if (tni_span_is(item, "_")) return size[(*n)++] = -1, true;
    if (!tni_expression(item, tni_option_number, m, &v, &why))
        return make_text_error(what, item, why);
    if (v.kind != TNI_FIGURE_INT) return make_text_error(what, item, "is no integer");
    if (v.value < 0)
        return tni_nn_error(TN_INVALID, "%.*s is %lld: a size may not be negative", item.n, item.at,
                            (long long)v.value);
    size[(*n)++] = v.value;
    return true;
}

TN_PRIV bool tni_sizes_of(tn_module *m, const char *what, tni_span items, int64_t *size, int *n,
                          int *star, int *most) {
    tni_span item;
    *n = *most = 0;
    *star = -1;
    while (tni_item_next(&items, &item)) {
        const bool any = tni_span_is(item, "*");
        if (*star < 0 && (any || tni_span_is(item, "?")))
            *star = *n, *most = any ? TN_MAX_DIMS : 1;
        else if (!make_text_size(m, what, item, size, n))
            return false;
    }
    return true;
}

/* --- children --------------------------------------------------------------------------------- */

static bool make_text_put(const tn_param *p, char *args, tni_figure v) {
    char *at = args + p->offset;
    if (v.kind == TNI_FIGURE_NONE && !(p->flags & TN_P_OPTIONAL)) return false;
    if (p->type == TN_T_INT && v.kind != TNI_FIGURE_FLOAT) {
        int64_t i = v.kind == TNI_FIGURE_NONE ? TN_NONE : v.value;
        memcpy(at, &i, sizeof i);
    } else if (p->type == TN_T_BOOL && v.kind == TNI_FIGURE_INT) {
        bool b = v.value != 0;
        memcpy(at, &b, sizeof b);
    } else if (p->type == TN_T_FLOAT) {
        double x = v.kind == TNI_FIGURE_FLOAT ? v.real : (double)v.value;
        tn_maybe some = v.kind == TNI_FIGURE_NONE ? tn_no_float() : tn_some(x);
        if (p->flags & TN_P_MAYBE)
            memcpy(at, &some, sizeof some);
        else
            memcpy(at, &x, sizeof x);
    } else if ((p->type == TN_T_ENUM || p->type == TN_T_DTYPE || p->type == TN_T_DEVICE) &&
               v.kind == TNI_FIGURE_INT) {
        int32_t code = (int32_t)v.value;
        memcpy(at, &code, sizeof code);
    } else {
        return false;
    }
    return true;
}

/* The options dtype and device of a parent are its children's, too. */
static void make_text_inherit(const tn_module *m, const tn_gen *gen, char *args) {
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        bool dtype = p->type == TN_T_DTYPE && strcmp(p->name, "dtype") == 0;
        bool device = p->type == TN_T_DEVICE && strcmp(p->name, "device") == 0;
        int32_t v = dtype ? (int32_t)tni_dtype_option(m) : (int32_t)tni_device_option(m);
        if (dtype || device) memcpy(args + p->offset, &v, sizeof v);
    }
}

/* Fills args from "expr, name=expr". */
static bool make_text_args(tn_module *m, const char *what, tni_span items, const tn_gen *gen,
                           char *args) {
    tni_span item, name, value;
    const char *why = NULL;
    for (int k = 0; tni_item_next(&items, &item); k++) {
        const tn_param *p = NULL;
        tni_figure v;
        tni_item_split(item, &name, &value);
        for (int i = 0; name.n && i < gen->nparam; i++)
            if (tni_span_is(name, gen->param[i].name)) p = &gen->param[i];
        if (!name.n && k < gen->nparam) p = &gen->param[k];
        if (!p) return make_text_error(what, item, "no such option");
        if (!tni_expression(value, tni_option_number, m, &v, &why))
            return make_text_error(what, item, why);
        if (!make_text_put(p, args, v))
            return make_text_error(what, item, "a value of the wrong kind");
    }
    return true;
}

/* Whether as many constructors are in progress as levels are allowed: a row may name itself. */
static bool make_text_deep(void) {
    const tn_path *p = tn_path_current(), *last = p;
    int depth = 0;
    for (; p && p->text == last->text && depth < TN_MODULE_DEPTH; p = p->caller) depth++;
    return depth == TN_MODULE_DEPTH;
}

static tn_module *make_text_child(tn_module *m, const tni_part_text *t) {
    char type[64];
    tni_args args;
    const tn_mrow *row;
    const tn_mgen *gen;
    if (make_text_deep()) {
        make_text_error(m->row->parts, t->type, "children are nested too deeply");
        return NULL;
    }
    snprintf(type, sizeof type, "%.*s", t->type.n, t->type.at);
    row = tn_mrow_named(type);
    gen = row ? tni_mgen_of(row) : NULL;
    if (!gen || gen->make->args_size > sizeof args.at) {
        make_text_error(m->row->parts, t->type, "no such class");
        return NULL;
    }
    memcpy(args.at, gen->make->defaults, gen->make->args_size);
    make_text_inherit(m, gen->make, args.at);
    if (!make_text_args(m, m->row->parts, t->items, gen->make, args.at)) return NULL;
    return tn_module_make(NULL, 0, row, args.at);
}

/* --- parts ------------------------------------------------------------------------------------ */

static void **make_text_field(tn_module *m, const char *name) {
    for (uint32_t i = 0; m->gen && i < m->gen->nfields; i++)
        if (strcmp(m->gen->fields[i].name, name) == 0)
            return (void **)(void *)((char *)m + m->gen->fields[i].offset);
    return NULL;
}

/* A copy of a tensor given as an option becomes a part; absent when the option is. */
static bool make_text_given(tn_module *m, const tni_part_text *t, const char *name, void **field) {
    char option[64];
    const tn_param *p;
    tn_tensor *given;
    snprintf(option, sizeof option, "%.*s", t->given.n, t->given.at);
    p = tni_option(m, option);
    if (!p || p->type != TN_T_TENSOR)
        return make_text_error(m->row->parts, t->given, "no option that is a tensor");
    memcpy(&given, (char *)tni_options(m) + p->offset, sizeof given);
    if (given && !(given = tnp_clone(tnp_detach(given), (tn_memory_format)0)))
        return false; /* of this module alone */
    return tn_part_give_at(NULL, 0, m, (tn_part_kind)t->kind, name, (tn_tensor **)(void *)field,
                           given);
}

static bool make_text_part(tn_module *m, const tni_part_text *t) {
    char name[64], dtype[24];
    int64_t size[TN_MAX_DIMS];
    tni_figure wanted = {TNI_FIGURE_INT, 1, 0};
    tn_dtype type = TN_NO_DTYPE;
    const char *why = NULL;
    int n, star, most;
    void **field;
    snprintf(name, sizeof name, "%.*s", t->name.n, t->name.at);
    snprintf(dtype, sizeof dtype, "%.*s", t->dtype.n, t->dtype.at);
    field = make_text_field(m, name);
    if (t->given.n) return make_text_given(m, t, name, field);
    if (t->condition.n && !tni_expression(t->condition, tni_option_number, m, &wanted, &why))
        return make_text_error(m->row->parts, t->condition, why);
    if (!tni_figure_true(wanted))
        return tni_part_new(m, (tn_part_kind)t->kind, name, field) != NULL;
    if (t->kind == TNI_SPAN_CHILD)
        return tn_part_child_at(NULL, 0, m, name, (tn_module **)(void *)field,
                                make_text_child(m, t));
    if (t->dtype.n && (type = tn_dtype_named(dtype)) == TN_NO_DTYPE)
        return make_text_error(m->row->parts, t->dtype, "no such dtype");
    if (!tni_sizes_of(m, m->row->parts, t->items, size, &n, &star, &most)) return false;
    if (star >= 0) return make_text_error(m->row->parts, t->items, "a part has no * and no ?");
    return tn_part_tensor_at(NULL, 0, m, (tn_part_kind)t->kind, name, (tn_tensor **)(void *)field,
                             type, tn_ints_of(size, n));
}

TN_PRIV bool tni_parts_make(tn_module *m) {
    const char *at = m->row->parts, *why = NULL;
    tni_part_text t;
    int more = 0;
    if (!at) return true;
    while ((more = tni_part_next(&at, &t, &why)) > 0)
        if (!make_text_part(m, &t)) return false;
    if (more == 0) return true;
    tni_span rest = {at, (int)strlen(at)};
    return make_text_error(m->row->parts, rest, why);
}

/* --- rows by class name ----------------------------------------------------------------------- */

/* A row registered at run time. */
typedef struct make_entry {
    tn_ending ending; /* first: with the context, whose memory it is */
    tn_mgen gen;
    const tn_mrow *row;
    struct make_entry *next;
    char type[64];
} make_entry;
static make_entry *make_entries;

TN_PRIV const tn_mgen *tni_mgen_of(const tn_mrow *row) {
    if (row->gen) return row->gen;
    for (make_entry *e = make_entries; e; e = e->next)
        if (e->row == row) return &e->gen;
    return NULL;
}

TN_API int64_t tn_mrow_count(void) {
    int64_t n = 0;
    while (tni_mrows()[n]) n++;
    return n;
}
TN_API const tn_mrow *tn_mrow_at(int64_t i) {
    return i >= 0 && i < tn_mrow_count() ? tni_mrows()[i] : NULL;
}

TN_API const tn_mrow *tn_mrow_named(const char *type) {
    if (!type) return NULL;
    for (const tn_mrow *const *r = tni_mrows(); *r; r++)
        if (strcmp((*r)->gen->type, type) == 0) return *r;
    for (make_entry *e = make_entries; e; e = e->next)
        if (strcmp(e->type, type) == 0) return e->row;
    return NULL;
}

static void make_entry_end(tn_ending *e) { tn_module_forget(((make_entry *)(void *)e)->row); }
static void make_entry_free(make_entry *e) {
    tn_ending_remove(&e->ending);
    if (e->gen.make) tn_schema_free((tn_gen *)(uintptr_t)e->gen.make);
    if (e->gen.call) tn_schema_free((tn_gen *)(uintptr_t)e->gen.call);
    tn_alloc_free(e, sizeof *e);
}

/* Tables of `first` followed by `rest`: the parser wants a name before a call's "(" and an arrow
 * after a constructor. */
static tn_gen *make_schema(const char *first, const char *rest) {
    char text[800];
    if (snprintf(text, sizeof text, "%s%s", first, rest) >= (int)sizeof text) {
        tni_nn_error(TN_INVALID, "the row's schema is too long");
        return NULL;
    }
    return tn_schema_new(text);
}

/* The options of a struct of one's own follow the module at once, whatever the size of a word. */
typedef char make_module_is_of_eights[sizeof(tn_module) % 8 ? -1 : 1];

static make_entry *make_entry_new(const tn_mrow *row) {
    size_t n = strcspn(row->schema, "(");
    make_entry *e = (make_entry *)tn_alloc(sizeof *e);
    if (!e) return NULL;
    memset(e, 0, sizeof *e);
    snprintf(e->type, sizeof e->type, "%.*s", (int)n, row->schema);
    e->row = row;
    e->gen.type = e->type;
    e->gen.options = (uint32_t)((sizeof(tn_module) + 7) / 8 * 8);
    e->gen.make = make_schema(row->schema, " -> ()");
    if (e->gen.make && row->call) e->gen.call = make_schema("forward", row->call);
    if (e->gen.make && (!row->call || e->gen.call)) return e;
    make_entry_free(e);
    return NULL;
}

static bool make_parts_parse(const char *text) {
    const char *at = text, *why = NULL;
    tni_part_text t;
    int more = 1;
    while (at && (more = tni_part_next(&at, &t, &why)) > 0) continue;
    if (more >= 0) return true;
    tni_span rest = {at, (int)strlen(at)};
    return make_text_error(text, rest, why);
}

static bool make_register(const tn_mrow *row) {
    make_entry *e;
    if (!row || !row->name || !row->schema)
        return tni_nn_error(TN_INVALID, "no row, or a row without a schema");
    if (strcspn(row->schema, "(") >= sizeof e->type)
        return tni_nn_error(TN_INVALID, "the class name is too long");
    if (row->gen || tni_mgen_of(row))
        return tni_nn_error(TN_INVALID, "the row is registered already");
    if (!make_parts_parse(row->parts)) return false;
    e = make_entry_new(row);
    if (!e) return false;
    if (tn_mrow_named(e->type)) {
        tni_nn_error(TN_INVALID, "there is a class \"%s\" already", e->type);
        make_entry_free(e);
        return false;
    }
    e->next = make_entries;
    make_entries = e;
    e->ending.end = make_entry_end;
    tn_ending_add(&e->ending);
    return true;
}

TN_API bool tn_module_register_at(const char *file, int line, const tn_mrow *row) {
    tni_step step;
    bool ok;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, row && row->name ? row->name : NULL);
    ok = make_register(row);
    tni_step_end(&step);
    return ok;
}

TN_API void tn_module_forget(const tn_mrow *row) {
    for (make_entry **at = &make_entries; *at; at = &(*at)->next) {
        make_entry *e = *at;
        if (e->row != row) continue;
        *at = e->next;
        make_entry_free(e);
        return;
    }
}

TN_API tn_module *tn_module_named_at(const char *file, int line, const char *type,
                                     const tn_value *values, int nvalues) {
    const tn_mrow *row = tn_mrow_named(type);
    const tn_mgen *gen = row ? tni_mgen_of(row) : NULL;
    tni_args args;
    if (!tn_ok()) return NULL;
    if (!gen || gen->make->args_size > sizeof args.at) {
        tn_error_set(TN_INVALID, file, line, "no module class \"%s\"", type ? type : "NULL");
        return NULL;
    }
    if (!tn_bind(file, line, gen->type, gen->make, values, nvalues, true, args.at)) return NULL;
    return tn_module_make(file, line, row, args.at);
}
