/* rows.c - module rows by class name: those of the library, and those registered at run time with
 * tables made of their schemas. Makes no module. */
#include "nn.h"

/* The tables of a row without `call`, (Tensor input) -> Tensor: one parameter, one result. */
static const tn_param rows_call_param[] = {{"input", TN_T_TENSOR, 0, 0, 0, 0, NULL}};
static tn_tensor *const rows_call_defaults[1] = {NULL};
static const char *const rows_call_result[] = {"output"};
static const tn_gen rows_call = {rows_call_param,
                                 rows_call_defaults,
                                 rows_call_result,
                                 NULL,
                                 1,
                                 1,
                                 1,
                                 0,
                                 sizeof(tn_tensor *),
                                 UINT16_MAX,
                                 0,
                                 0,
                                 {0},
                                 0};

TN_PRIV const tn_gen *tni_call_of(const tn_module *m) {
    return m->gen && m->gen->call ? m->gen->call : &rows_call;
}

/* A row registered at run time. The list has no lock: no other thread may
 * make modules meanwhile. */
typedef struct rows_entry {
    tn_ending ending; /* first: with the context, whose memory it is */
    tn_mgen gen;
    const tn_mrow *row;
    struct rows_entry *next;
    char type[64];
} rows_entry;
static rows_entry *rows_registered;

TN_PRIV const tn_mgen *tni_mgen_of(const tn_mrow *row) {
    if (row->gen) return row->gen;
    /* A user's row is constant, so its tables are found here and not through the row. */
    for (rows_entry *e = rows_registered; e; e = e->next)
        if (e->row == row) return &e->gen;
    return NULL;
}

/* The generated table ends in NULL and holds the rows that this program was built with. */
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
    /* Built-in classes first; rows_register refuses their names for others. */
    for (const tn_mrow *const *r = tni_mrows(); *r; r++)
        if (strcmp((*r)->gen->type, type) == 0) return *r;
    for (rows_entry *e = rows_registered; e; e = e->next)
        if (strcmp(e->type, type) == 0) return e->row;
    return NULL;
}

/* The context ends, and with it the memory of the entry. */
static void rows_entry_end(tn_ending *e) { tn_module_forget(((rows_entry *)(void *)e)->row); }
static void rows_entry_free(rows_entry *e) {
    tn_ending_remove(&e->ending);
    if (e->gen.make) tn_schema_free((tn_gen *)(uintptr_t)e->gen.make);
    if (e->gen.call) tn_schema_free((tn_gen *)(uintptr_t)e->gen.call);
    tn_alloc_free(e, sizeof *e);
}

/* Tables of the text `first` followed by `rest`, since the parser wants a name before a call's "("
 * and an arrow after a constructor. NULL with an error. */
static tn_gen *rows_schema(const char *first, const char *rest) {
    char text[800];
    if (snprintf(text, sizeof text, "%s%s", first, rest) >= (int)sizeof text) {
        tni_nn_error(TN_INVALID, "the row's schema is too long");
        return NULL;
    }
    return tn_schema_new(text);
}

/* The options of a separate struct follow the module at once, whatever the size of a word. */
typedef char rows_module_is_of_eights[sizeof(tn_module) % 8 ? -1 : 1];

/* An entry with the tables of the row's schema and call, not yet in the list; NULL
 * with an error. */
static rows_entry *rows_entry_new(const tn_mrow *row) {
    size_t n = strcspn(row->schema, "(");
    rows_entry *e = (rows_entry *)tn_alloc(sizeof *e);
    if (!e) return NULL;
    memset(e, 0, sizeof *e);
    snprintf(e->type, sizeof e->type, "%.*s", (int)n, row->schema);
    e->row = row;
    e->gen.type = e->type;
    /* A multiple of 8 on 32-bit machines too, whose argument structs hold doubles and int64_t. */
    e->gen.options = (uint32_t)((sizeof(tn_module) + 7) / 8 * 8);
    e->gen.make = rows_schema(row->schema, " -> ()");
    if (e->gen.make && row->call) e->gen.call = rows_schema("forward", row->call);
    if (e->gen.make && (!row->call || e->gen.call)) return e;
    rows_entry_free(e);
    return NULL;
}

/* Whether the parts can be read; their expressions need a module's options and wait until
 * one is made. */
static bool rows_parts_parse(const char *text) {
    const char *at = text, *why = NULL;
    tni_part_text t;
    int more = 1;
    while (at && (more = tni_part_next(&at, &t, &why)) > 0) continue;
    if (more >= 0) return true;
    tni_span rest = {at, (int)strlen(at)};
    return tni_row_text_error(text, rest, why);
}

/* Everything that can fail comes first, then the entry joins the list. */
static bool rows_register(const tn_mrow *row) {
    rows_entry *e;
    if (!row || !row->name || !row->schema)
        return tni_nn_error(TN_INVALID, "expected a row with a schema");
    /* The name is kept in e->type, up to the "(" of the schema. */
    if (strcspn(row->schema, "(") >= sizeof e->type)
        return tni_nn_error(TN_INVALID, "the class name is too long");
    if (row->gen || tni_mgen_of(row))
        return tni_nn_error(TN_INVALID, "the row is already registered");
    /* Texts that do not parse are refused here and not when a module is made. */
    if (!rows_parts_parse(row->parts)) return false;
    e = rows_entry_new(row);
    if (!e) return false;
    if (tn_mrow_named(e->type)) {
        tni_nn_error(TN_INVALID, "class \"%s\" already exists", e->type);
        rows_entry_free(e);
        return false;
    }
    /* From here on the row is found; its entry ends with the context. */
    e->next = rows_registered;
    rows_registered = e;
    e->ending.end = rows_entry_end;
    tn_ending_add(&e->ending);
    return true;
}

TN_API bool tn_module_register_at(const char *file, int line, const tn_mrow *row) {
    tni_step step;
    bool ok;
    if (!tn_ok()) return false;
    tni_step_begin(&step, file, line, row && row->name ? row->name : NULL);
    ok = rows_register(row);
    tni_step_end(&step);
    return ok;
}

TN_API void tn_module_forget(const tn_mrow *row) {
    /* Modules of the row point at its tables, so they must be freed before. */
    for (rows_entry **at = &rows_registered; *at; at = &(*at)->next) {
        rows_entry *e = *at;
        if (e->row != row) continue;
        *at = e->next;
        rows_entry_free(e);
        return;
    }
}
