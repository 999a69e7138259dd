/* table.c - rows by name: those of the library, and those registered in a context at run time. */
#include "../gen/rows.h"
#include "../kernels/kernels.h"
#include "call.h"
#include "schema.h"

/* Rows registered in a context, newest first: each is complete before it is linked, and stays until
 * tn_unregister. */
typedef struct tni_rows {
    struct tni_rows *next;
    tni_block *owner; /* of its memory */
    tn_row *row;
    tn_gen *gen;
    size_t gen_bytes;
    int64_t index;
} tni_rows;

static tni_rows *table_registered(void) {
    tni_block *b = tni_here();
    return b ? tni_load(&tni_library(b->context)->rows) : NULL;
}

TN_API int64_t tn_row_count(void) {
    tni_rows *r = table_registered();
    int64_t count;
    tni_row_list(&count);
    return count + (r ? r->index + 1 : 0);
}

TN_API const tn_row *tn_row_at(int64_t i) {
    int64_t count;
    const tn_row *const *list = tni_row_list(&count);
    /* The library's rows have the first numbers, registered ones those behind. */
    if (i < 0) return NULL;
    if (i < count) return list[i];
    for (tni_rows *r = table_registered(); r; r = r->next)
        if (r->index == i - count) return r->row;
    return NULL;
}

/* By the library's name or the schema's, which has the overload. */
static bool table_is(const tn_row *row, const char *name) {
    size_t n = strlen(name);
    if (strcmp(row->name, name) == 0) return true;
    return strncmp(row->schema, name, n) == 0 && row->schema[n] == '(';
}

TN_PRIV const tn_row *tni_row_find(const char *name) {
    int64_t count;
    /* Registered rows first; the list of the library's ends with NULL. */
    for (tni_rows *r = table_registered(); r; r = r->next)
        if (table_is(r->row, name)) return r->row;
    for (const tn_row *const *row = tni_row_list(&count); *row; row++)
        if (table_is(*row, name)) return *row;
    return NULL;
}

TN_API const tn_row *tn_row_named(const char *name) {
    const tn_row *row = name ? tni_row_find(name) : NULL;
    if (TNI_TRIMMED && name && !row)
        tni_error_apart(tni_here(), TN_UNSUPPORTED, "operator '%.60s' does not exist%s", name,
                        TNI_OR_NOT_BUILT);
    return row;
}

static void *table_get(void *user, size_t bytes) {
    return tni_need((tni_block *)user, (int64_t)bytes);
}

static void table_leave(tn_context *c) {
    while (tni_library(c)->rows) {
        tni_rows *r = tni_library(c)->rows;
        tni_library(c)->rows = r->next;
        r->row->gen = NULL; /* its memory goes with the context */
        r->row->uses = 0;
    }
}

/* Which name of row, its own or torch's (made in the room given), there is already; or NULL. */
static const char *table_taken(const tn_row *row, char *torch, size_t room) {
    snprintf(torch, room, "%.*s", (int)strcspn(row->schema, "("), row->schema);
    return tni_row_find(row->name) ? row->name : tni_row_find(torch) ? torch : NULL;
}

/* Links r; or the name that is taken. */
static const char *table_link(tn_context *c, tni_rows *r, char *torch, size_t room) {
    const char *taken;
    tni_lock(&tni_library(c)->rows_lock);
    /* Under the lock, so of two rows of one name only one is linked. Readers take no lock: the row
     * is complete before it is stored. */
    taken = table_taken(r->row, torch, room);
    if (!taken) {
        r->index = tni_library(c)->rows ? tni_library(c)->rows->index + 1 : 0;
        r->next = tni_library(c)->rows;
        r->row->gen = r->gen;
        r->row->uses = 1;
        r->gen->index = (uint32_t)(TNI_ROW_COUNT + r->index);
        tni_store(&tni_library(c)->rows, r);
    }
    tni_unlock(&tni_library(c)->rows_lock);
    return taken;
}

/* --- members of an argument struct ------------------------------------------------------------ */

/* Where the schema puts a member of this name, and its bytes; false if nowhere. */
static bool table_member(const tn_gen *g, const char *name, tn_member *to) {
#define TABLE_BYTES(NAME, text, list, c, cxx, lies, traits, way) sizeof(lies),
    static const size_t bytes[] = {0, TN_TYPES(TABLE_BYTES)};
#undef TABLE_BYTES
    for (int i = 0; i < g->nparam; i++) {
        const tn_param *p = &g->param[i];
        const size_t n = strlen(p->name);
        if (strncmp(p->name, name, n) != 0) continue;
        if (p->flags & TN_P_NUMBER && strcmp(name + n, "_number") == 0) {
            to->offset = p->number_offset, to->bytes = sizeof(tn_scalar);
            return true;
        }
        if (name[n]) continue;
        to->offset = p->offset, to->bytes = (uint16_t)bytes[tn_type_kept(p->type, p->flags)];
        return true;
    }
    if (strcmp(name, "out") != 0 || g->out_offset == UINT16_MAX) return false;
    to->offset = g->out_offset, to->bytes = (uint16_t)(g->nresults * sizeof(void *));
    return true;
}

/* The members in the schema's order, for a message. */
static void table_order(const tn_gen *g, char *to, size_t room) {
    size_t used = 0;
    to[0] = 0;
    if (g->out_offset != UINT16_MAX) used = (size_t)snprintf(to, room, "out");
    for (unsigned at = 0; at < g->args_size && used < room; at++)
        for (int i = 0; i < g->nparam && used < room; i++) {
            const tn_param *p = &g->param[i];
            const bool number = p->flags & TN_P_NUMBER && p->number_offset == at;
            if (p->offset != at && !number) continue;
            used += (size_t)snprintf(to + used, room - used, "%s%s%s", used ? ", " : "", p->name,
                                     number ? "_number" : "");
        }
}

static bool table_has(const tn_row *row, const char *name, const char *end) {
    const tn_member *m = row->members;
    const size_t n = strlen(name);
    while (m->name && (strncmp(m->name, name, n) != 0 || strcmp(m->name + n, end) != 0)) m++;
    return m->name != NULL;
}

/* Whether the members that a row names are those of its schema; if not, error says why. */
static bool table_members(const tn_row *row, const tn_gen *g, char *error, size_t room) {
    const char *what = NULL, *name = NULL;
    char order[160];
    for (const tn_member *m = row->members; m && m->name && !what; m++) {
        tn_member is = {NULL, 0, 0};
        name = m->name;
        if (!table_member(g, name, &is))
            what = "is not in the schema";
        else if (is.offset != m->offset || is.bytes != m->bytes)
            what = "is misplaced or of another type";
    }
    for (int i = 0; row->members && i < g->nparam && !what; i++) {
        name = g->param[i].name;
        if (!table_has(row, name, "") ||
            (g->param[i].flags & TN_P_NUMBER && !table_has(row, name, "_number")))
            what = "is missing";
    }
    if (!what) return true;
    table_order(g, order, sizeof order);
    snprintf(error, room, "member '%.40s' of its arguments %s; the order is %s", name, what, order);
    return false;
}

/* --- register --------------------------------------------------------------------------------- */

static void table_put(tni_block *b, tni_rows *r) {
    if (r->gen) tni_put(b, r->owner, r->gen, (int64_t)r->gen_bytes);
    tni_put(b, r->owner, r, (int64_t)sizeof *r);
}

TN_API bool tn_register(tn_row *row) {
    tni_block *b = tni_here();
    tni_rows *r;
    const char *taken;
    char error[300], torch[80];
    /* What a row must have is checked before anything is made. */
    if (!b || b->failed) return false;
    if (!row || !row->name || !row->schema)
        return tni_error(b, TN_INVALID, "tn_register: a row needs a name and a schema");
    /* A row can be in one context at a time: gen is its only link. */
    if (row->gen)
        return tni_error(
            b, TN_INVALID,
            "tn_register: '%.60s' is already registered in a context that still exists", row->name);
    if (!row->compose && (!row->check || !row->run))
        return tni_error(b, TN_INVALID, "tn_register: '%.60s' needs check and run, or compose",
                         row->name);
    /* A verdict stands behind run, which composed rows lack and pointwise rows share. */
    if (row->verdict && (row->compose || row->rules))
        return tni_error(b, TN_INVALID,
                         "tn_register: '%.60s' must not combine a verdict with compose or rules",
                         row->name);
    /* The row's tables are made from its schema, as optable makes those of the library. */
    r = (tni_rows *)tni_need(b, (int64_t)sizeof *r);
    if (!r) return false;
    r->row = row;
    r->owner = b;
    r->gen = NULL;
    if (!tni_schema_gen(row, table_get, b, &r->gen, &r->gen_bytes, error, sizeof error) ||
        !table_members(row, r->gen, error, sizeof error)) {
        table_put(b, r);
        return tni_error(b, TN_INVALID, "tn_register: '%.60s': %s", row->name, error);
    }
    /* Its gen belongs to this context, at whose end the row may be registered again. */
    tni_context_at_end(b->context, table_leave);
    /* Linked unless the name is taken, in which case all goes back. */
    taken = table_link(b->context, r, torch, sizeof torch);
    if (!taken) return true;
    table_put(b, r);
    return tni_error(b, TN_INVALID, "tn_register: an operator '%.60s' already exists", taken);
}

/* Takes row's entry out of the list; newer rows have one number less then. NULL: there is none. */
static tni_rows *table_unlink(tn_context *c, const tn_row *row) {
    tni_call_context *l = tni_library(c);
    tni_rows *r, *before = NULL;
    tni_lock(&l->rows_lock);
    for (r = l->rows; r && r->row != row; r = r->next) before = r;
    if (r && before)
        tni_store(&before->next, r->next);
    else if (r)
        tni_store(&l->rows, r->next);
    for (tni_rows *newer = r ? l->rows : NULL; newer && newer != r->next; newer = newer->next) {
        newer->index--;
        newer->gen->index--;
    }
    tni_unlock(&l->rows_lock);
    return r;
}

TN_API bool tn_unregister(tn_row *row) {
    tni_block *b = tni_here();
    tni_rows *r;
    if (!b) return false;
    if (row && row->gen && tni_load(&row->uses) > 1)
        return tni_error(b, TN_INVALID,
                         "tn_unregister: '%.60s' has %lld recorded calls whose results live",
                         row->name, (long long)tni_load(&row->uses) - 1);
    if (!row || !(r = table_unlink(b->context, row)))
        return tni_error(b, TN_INVALID,
                         "tn_unregister: '%.60s' is not registered in the current context",
                         row && row->name ? row->name : "");
    row->gen = NULL;
    row->uses = 0;
    table_put(b, r);
    return true;
}
