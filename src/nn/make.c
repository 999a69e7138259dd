/* make.c - making and freeing modules: options, parts by call, parts by text, ownership.
 *
 * Errors go one way: a step that fails marks the module as broken, frees what it was given, and
 * tn_module_finish frees the rest. */
#include "nn.h"

/* --- errors ----------------------------------------------------------------------------------- */

TN_PRIV bool tni_nn_error(tn_code code, const char *format, ...) {
    char text[1000];
    tn_path *p = tn_path_current();
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    while (p && p->caller) p = p->caller;
    return tn_error_set(code, p ? p->file : NULL, p ? p->line : 0, "%s", text);
}

static void make_step_text(const tn_path *path, char *to, size_t room) {
    snprintf(to, room, "%s", ((const tni_step *)(const void *)path)->type);
}

TN_PRIV void tni_step_begin(tni_step *s, const char *file, int line, const char *type) {
    s->path.text = make_step_text;
    s->path.file = file;
    s->path.line = line;
    s->type = type ? type : "module";
    tn_path_push(&s->path);
}
TN_PRIV void tni_place_begin(tni_step *s, const char *file, int line) {
    if (!tn_path_current()) tni_step_begin(s, file, line, "");
}
TN_PRIV void tni_step_end(tni_step *s) { tn_path_pop(&s->path); }

/* --- options ---------------------------------------------------------------------------------- */

static const tn_param make_call_param[] = {{"input", TN_T_TENSOR, 0, 0, 0, 0, NULL}};
static tn_tensor *const make_call_defaults[1] = {NULL};
static const char *const make_call_result[] = {"output"};
static const tn_gen make_call = {make_call_param,
                                 make_call_defaults,
                                 make_call_result,
                                 NULL,
                                 1,
                                 1,
                                 1,
                                 0,
                                 sizeof(tn_tensor *),
                                 UINT16_MAX,
                                 0,
                                 0,
                                 {0}};

TN_PRIV const tn_gen *tni_call_of(const tn_module *m) {
    return m->gen && m->gen->call ? m->gen->call : &make_call;
}

TN_PRIV void *tni_options(const tn_module *m) {
    return m->gen && m->gen->make ? (char *)(uintptr_t)m + m->gen->options : NULL;
}

static const tn_param *make_option(const tn_module *m, tni_span name) {
    const tn_gen *gen = m->gen ? m->gen->make : NULL;
    for (int i = 0; gen && i < gen->nparam; i++)
        if (tni_span_is(name, gen->param[i].name)) return &gen->param[i];
    return NULL;
}
TN_PRIV const tn_param *tni_option(const tn_module *m, const char *name) {
    tni_span s = {name, (int)strlen(name)};
    return make_option(m, s);
}

TN_PRIV bool tni_option_ints(const tn_module *m, tni_span name, tn_ints *to) {
    const tn_param *p = make_option(m, name);
    if (!p || p->type != TN_T_INTS) return false;
    memcpy(to, (char *)tni_options(m) + p->offset, sizeof *to);
    return true;
}

static tni_figure make_int(int64_t v) {
    tni_figure f = {v == TN_NONE ? TNI_FIGURE_NONE : TNI_FIGURE_INT, v, 0};
    return f;
}
static tni_figure make_float(double v, bool given) {
    tni_figure f = {given ? TNI_FIGURE_FLOAT : TNI_FIGURE_NONE, 0, v};
    return f;
}

/* A number in an int list: one number stands for all. A list that is absent is None. */
static bool make_list_number(tn_ints list, int64_t index, tni_figure *to) {
    *to = make_int(TN_NONE);
    if (list.n < 0) return true;
    if (index < 0 || (index >= list.n && list.n != 1))
        return index < 0 && list.n == 1 ? *to = make_int(list.at[0]), true : false;
    *to = make_int(list.at[list.n == 1 ? 0 : index]);
    return true;
}

TN_PRIV bool tni_option_number(void *module, tni_span name, int64_t index, tni_figure *to) {
    const tn_module *m = (const tn_module *)module;
    const tn_param *p = make_option(m, name);
    const char *at = p ? (const char *)tni_options(m) + p->offset : NULL;
    if (!p || (index >= 0) != (p->type == TN_T_INTS && index >= 0)) return false;
    switch (p->type) {
    case TN_T_INT: {
        int64_t v;
        memcpy(&v, at, sizeof v);
        return *to = make_int(v), true;
    }
    case TN_T_BOOL: return *to = make_int(*(const bool *)at), true;
    case TN_T_ENUM:
    case TN_T_DTYPE:
    case TN_T_DEVICE: {
        int32_t v;
        memcpy(&v, at, sizeof v);
        return *to = make_int(v ? v : TN_NONE), true;
    }
    case TN_T_FLOAT:
    case TN_T_SCALAR: {
        tn_maybe v = {0, TN_GIVEN};
        if (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE)) return false;
        if (p->flags & TN_P_MAYBE)
            memcpy(&v, at, sizeof v);
        else
            memcpy(&v.value, at, sizeof v.value);
        return *to = make_float(v.value, v.given == TN_GIVEN), true;
    }
    case TN_T_INTS: {
        tn_ints list;
        memcpy(&list, at, sizeof list);
        return make_list_number(list, index, to);
    }
    case TN_T_TENSOR:
    case TN_T_STRING: { /* present or not */
        void *v;
        memcpy(&v, at, sizeof v);
        return *to = make_int(v ? 1 : TN_NONE), true;
    }
    default: return false;
    }
}

static int32_t make_small_option(const tn_module *m, const char *name, int type) {
    const tn_param *p = tni_option(m, name);
    int32_t v = 0;
    if (p && p->type == type) memcpy(&v, (char *)tni_options(m) + p->offset, sizeof v);
    return v;
}
TN_PRIV tn_dtype tni_dtype_option(const tn_module *m) {
    int32_t v = make_small_option(m, "dtype", TN_T_DTYPE);
    return v ? (tn_dtype)v : tn_default_dtype();
}
TN_PRIV tn_device_id tni_device_option(const tn_module *m) {
    int32_t v = make_small_option(m, "device", TN_T_DEVICE);
    return v ? v : TN_CPU;
}

/* --- checking options ------------------------------------------------------------------------- */

static bool make_bad(const tn_param *p, const char *what) {
    return tni_nn_error(TN_INVALID, "%s: %s", p->name, what);
}

static bool make_check_list(const tn_param *p, const void *at) {
    tn_ints list; /* all lists are a pointer and a count */
    memcpy(&list, at, sizeof list);
    if (list.n < 0)
        return (p->flags & TN_P_OPTIONAL) || make_bad(p, "a list is expected, got None");
    if (!list.at) return make_bad(p, "a list is expected, got zeros");
    if (list.n > INT32_MAX)
        return tni_nn_error(TN_INVALID, "%s: a list of %lld", p->name, (long long)list.n);
    if (p->count > 0 && list.n != 1 && list.n != p->count)
        return tni_nn_error(TN_INVALID, "%s: expected 1 or %d numbers, got %lld", p->name, p->count,
                            (long long)list.n);
    if (p->type != TN_T_MODULES && p->type != TN_T_TENSORS) return true;
    for (int64_t i = 0; i < list.n; i++) /* all pointers have one representation */
        if (!((tn_module *const *)(const void *)list.at)[i])
            return tni_nn_error(TN_INVALID, "%s[%lld] is NULL", p->name, (long long)i);
    return true;
}

static bool make_check_option(const tn_param *p, const char *args) {
    const char *at = args + p->offset;
    switch (p->type) {
    case TN_T_TENSOR:
    case TN_T_MODULE:
    case TN_T_STRING: {
        const void *v;
        memcpy(&v, at, sizeof v);
        return v || (p->flags & TN_P_OPTIONAL) || make_bad(p, "is NULL");
    }
    case TN_T_INTS:
    case TN_T_FLOATS:
    case TN_T_TENSORS:
    case TN_T_MODULES: return make_check_list(p, at);
    case TN_T_INT: {
        int64_t v;
        memcpy(&v, at, sizeof v);
        return v != TN_NONE || (p->flags & TN_P_OPTIONAL) ||
               make_bad(p, "an integer is expected, got None");
    }
    case TN_T_FLOAT: {
        tn_maybe v = {0, TN_GIVEN};
        if (p->flags & TN_P_MAYBE) memcpy(&v, at, sizeof v);
        return v.given == TN_GIVEN || v.given == TN_ABSENT ||
               make_bad(p, "TN_SOME(x) or TN_NO_FLOAT is expected");
    }
    case TN_T_ENUM: {
        int32_t v, n = 0;
        memcpy(&v, at, sizeof v);
        while (p->words && p->words[n]) n++;
        return (v > 0 && v <= n) || (v == 0 && (p->flags & TN_P_OPTIONAL)) ||
               make_bad(p, "an unknown word");
    }
    default: return true;
    }
}

static bool make_check_options(const tn_gen *gen, const void *args) {
    if (!args) return tni_nn_error(TN_INVALID, "no arguments");
    for (int i = 0; i < gen->nparam; i++)
        if (!make_check_option(&gen->param[i], (const char *)args)) return false;
    return true;
}

/* Bytes behind the struct for copies of lists and strings; each begins at a multiple of 8. */
static int64_t make_list_bytes(const tn_param *p, const void *at) {
    tn_ints list;
    if (p->type == TN_T_STRING) {
        const char *text;
        memcpy(&text, at, sizeof text);
        return text ? ((int64_t)strlen(text) + 8) / 8 * 8 : 0;
    }
    if (p->type != TN_T_INTS && p->type != TN_T_FLOATS) return 0;
    memcpy(&list, at, sizeof list);
    return list.n > 0 ? list.n * 8 : 0;
}

/* Copies the arguments into `o`, their lists behind the struct. */
static void make_copy_options(tn_module *m, const void *args, char *behind) {
    const tn_gen *gen = m->gen->make;
    char *o = (char *)tni_options(m);
    memcpy(o, args, gen->args_size);
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        int64_t bytes = make_list_bytes(p, o + p->offset);
        const void *from;
        if (bytes == 0) continue;
        memcpy(&from, o + p->offset, sizeof from);
        memcpy(behind, from,
               p->type == TN_T_STRING ? strlen((const char *)from) + 1 : (size_t)bytes);
        memcpy(o + p->offset, &behind, sizeof behind);
        behind += bytes;
    }
}

/* What was borrowed for the making must not be seen later. */
static void make_forget_borrowed(tn_module *m) {
    static const char zero[sizeof(tn_modules)] = {0};
    const tn_gen *gen = m->gen->make;
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        size_t bytes = p->type == TN_T_TENSOR || p->type == TN_T_MODULE || p->type == TN_T_GENERATOR
                           ? sizeof(void *)
                       : p->type == TN_T_TENSORS || p->type == TN_T_MODULES ? sizeof(tn_modules)
                                                                            : 0;
        memcpy((char *)tni_options(m) + p->offset, zero, bytes);
    }
}

/* --- beginning and end ------------------------------------------------------------------------ */

static tn_module *make_new(const tn_mrow *row, const tn_mgen *gen, int64_t behind) {
    tn_module *m;
    size_t bytes = (row->size + 7) / 8 * 8 + (size_t)behind;
    if (row->size < sizeof(tn_module) ||
        (gen && gen->make && row->size < (size_t)gen->options + gen->make->args_size)) {
        tni_nn_error(TN_INVALID, "the row's size (%lld) is too small for its struct",
                     (long long)row->size);
        return NULL;
    }
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
        tni_nn_error(TN_INVALID, "no row, or a row without a name");
    else
        m = make_new(row, tni_mgen_of(row), 0);
    tni_step_end(&step);
    return m;
}

/* The last steps of the making. */
static bool make_end(tn_module *m) {
    bool mode;
    int64_t mark;
    if (!tni_expect_make(m)) return false;
    mark = tn_scope_begin();
    mode = tn_set_grad_mode(false);
    m->finished = !m->row->reset || m->row->reset(m);
    tn_set_grad_mode(mode);
    tn_scope_end(mark);
    if (!m->finished && tn_ok()) tni_nn_error(TN_INTERNAL, "reset failed without an error");
    return m->finished && tn_ok();
}

TN_API tn_module *tn_module_finish_at(const char *file, int line, tn_module *m) {
    tni_step step;
    bool ok;
    if (!m || m->finished) return m;
    tni_step_begin(&step, file, line, m->type);
    if (m->broken && tn_ok())
        tni_nn_error(TN_INVALID, "a step of its making failed, and the error was taken");
    ok = !m->broken && tn_ok() && make_end(m);
    if (!ok) tn_module_free(m);
    tni_step_end(&step);
    return ok ? m : NULL;
}

static tn_module *make_build(const tn_mrow *row, const void *args) {
    const tn_mgen *gen = tni_mgen_of(row);
    int64_t behind = 0, mark;
    tn_module *m;
    bool ok;
    if (!gen || !gen->make) {
        tni_nn_error(TN_INVALID, "a row without a schema, or not registered: it is made by calls");
        return NULL;
    }
    if (!make_check_options(gen->make, args)) return NULL;
    for (int i = 0; i < gen->make->nparam; i++)
        behind +=
            make_list_bytes(&gen->make->param[i], (const char *)args + gen->make->param[i].offset);
    m = make_new(row, gen, behind);
    if (!m) return NULL;
    make_copy_options(m, args, (char *)m + (row->size + 7) / 8 * 8);
    mark = tn_scope_begin();
    ok = tni_parts_make(m) && (!row->build || row->build(m)) && !m->broken;
    tn_scope_end(mark);
    if (!ok && tn_ok()) tni_nn_error(TN_INTERNAL, "build failed without an error");
    make_forget_borrowed(m);
    if (ok && tn_ok() && make_end(m)) return m;
    tn_module_free(m);
    return NULL;
}

/* Frees the modules among the arguments of a constructor. */
static void make_release_given(const tn_gen *gen, const char *args) {
    for (int i = 0; gen && args && i < gen->nparam; i++) {
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
        tni_nn_error(TN_INVALID, "no row");
    else if (tn_ok())
        m = make_build(row, args);
    make_release_given(gen ? gen->make : NULL, (const char *)args);
    tni_step_end(&step);
    return m;
}

TN_API tn_module *tn_module_hold(tn_module *m) {
    if (m) m->count++;
    return m;
}

TN_API void tn_module_free(tn_module *m) {
    if (!m || --m->count > 0) return;
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

static bool make_broken(tn_module *m) {
    if (!m->finished) m->broken = true;
    return false;
}

static bool make_name_fits(const tn_module *m, const char *name) {
    if (!name || !*name || strchr(name, '.'))
        return tni_nn_error(TN_INVALID, "a part's name may not be empty or hold a dot: \"%s\"",
                            name ? name : "NULL");
    for (int i = 0; i < m->nparts; i++)
        if (strcmp(m->part[i].name, name) == 0)
            return tni_nn_error(TN_INVALID, "there is a part \"%s\" already", name);
    return true;
}

static bool make_field_fits(const tn_module *m, const char *name, const void *field) {
    uintptr_t at = (uintptr_t)field, from = (uintptr_t)m;
    if (!field || (at >= from + sizeof *m && at <= from + (uintptr_t)m->bytes - sizeof(void *)))
        return true;
    return tni_nn_error(TN_INVALID, "the field of part \"%s\" lies outside of the module's struct",
                        name);
}

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
    *tni_part_place(m, m->nparts - 1) = NULL;
    return p;
}

TN_PRIV char tni_dtype_kind(tn_dtype dtype) {
    switch (dtype) {
#define MAKE_KIND(NAME, text, bytes, kind) \
    case TN_##NAME: return #kind[0];
        TN_DTYPES(MAKE_KIND)
#undef MAKE_KIND
    default: return 0;
    }
}

/* A new zero tensor in the current scope. */
static tn_tensor *make_tensor(const tn_module *m, tn_part_kind kind, tn_dtype dtype,
                              tn_ints shape) {
    tn_dtype type = dtype == TN_NO_DTYPE ? tni_dtype_option(m) : dtype;
    tn_tensor *t = tnp_zeros(shape, type, tni_device_option(m));
    bool records = tni_dtype_kind(type) == 'f' || tni_dtype_kind(type) == 'c';
    return t && kind == TN_PARAM && records ? tn_requires_grad_at(NULL, 0, t, true) : t;
}

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
           tni_nn_error(TN_INVALID, "a part's kind is TN_PARAM, TN_BUFFER or TN_TRANSIENT");
}

TN_API bool tn_part_tensor_at(const char *file, int line, tn_module *m, tn_part_kind kind,
                              const char *name, tn_tensor **field, tn_dtype dtype, tn_ints shape) {
    tni_step step;
    bool ok;
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
    if (ok && t) *tni_part_place(m, m->nparts - 1) = tn_retain(t);
    tni_step_end(&step);
    return ok || make_broken(m);
}

static bool make_child_fits(const tn_module *m, const char *name, const tn_module *child) {
    if (!child) return tni_nn_error(TN_INVALID, "child \"%s\" is NULL", name ? name : "");
    if (!child->finished)
        return tni_nn_error(TN_INVALID, "child \"%s\" was not finished", name ? name : "");
    if (child == m || (m->level && tni_tree_contains(child, m)))
        return tni_nn_error(TN_INVALID, "child \"%s\" would make a cycle", name ? name : "");
    return true;
}

/* A level that was changed, to be put back. */
typedef struct make_level {
    tn_module *m;
    uint8_t before;
} make_level;

/* Puts m and all below it under `level` levels at least, which a module below another always is:
 * one that lies as deep already is not entered. */
static bool make_lower(tni_buffer *changed, tn_module *m, int level) {
    make_level was = {m, m->level};
    if (level <= m->level) return true;
    if (level >= TN_MODULE_DEPTH)
        return tni_nn_error(TN_INVALID, "modules are nested deeper than %d levels",
                            (int)TN_MODULE_DEPTH);
    if (!tni_buffer_add(changed, &was, sizeof was)) return false;
    m->level = (uint8_t)level;
    for (int i = 0; i < m->nparts; i++) {
        tn_module *child = tn_part_child_of(m, i);
        if (child && !make_lower(changed, child, level + 1)) return false;
    }
    return true;
}

static bool make_child(tn_module *m, const char *name, tn_module **field, tn_module *child) {
    tni_buffer changed = {NULL, 0, 0, false};
    bool ok = make_child_fits(m, name, child) && make_lower(&changed, child, m->level + 1) &&
              tni_part_new(m, TN_CHILD, name, (void **)(void *)field);
    make_level *was = (make_level *)(void *)changed.at;
    for (int64_t i = changed.n / (int64_t)sizeof *was; !ok && i-- > 0;)
        was[i].m->level = was[i].before;
    tni_buffer_free(&changed);
    if (ok) *tni_part_place(m, m->nparts - 1) = child;
    return ok;
}

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
    snprintf(name, sizeof name, "%d", m ? (int)m->nparts : 0);
    return tn_part_child_at(file, line, m, name, NULL, child);
}
