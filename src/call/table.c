/* table.c - rows by name: those of the library, and those registered in a context at run time. */
#include "../gen/rows.h"
#include "../kernels/kernels.h"
#include "call.h"
#include "schema.h"

/* Rows registered in a context, newest first: each is complete before it is linked, and stays. */
typedef struct tni_rows {
    struct tni_rows *next;
    tn_row *row;
    tn_gen *gen;
    size_t gen_bytes;
    int64_t index;
} tni_rows;

static tni_rows *table_registered(void) {
    tni_block *b = tni_here();
    return b ? tni_load(&b->context->rows) : NULL;
}

TN_API int64_t tn_row_count(void) {
    tni_rows *r = table_registered();
    return TNI_ROW_COUNT + (r ? r->index + 1 : 0);
}

TN_API const tn_row *tn_row_at(int64_t i) {
    if (i < 0) return NULL;
    if (i < TNI_ROW_COUNT) return tni_row_list[i];
    for (tni_rows *r = table_registered(); r; r = r->next)
        if (r->index == i - TNI_ROW_COUNT) return r->row;
    return NULL;
}

static bool table_is(const tn_row *row, const char *name) {
    size_t n = strlen(name);
    if (strcmp(row->name, name) == 0) return true;
    return strncmp(row->schema, name, n) == 0 && row->schema[n] == '(';
}

TN_PRIV const tn_row *tni_row_find(const char *name) {
    for (tni_rows *r = table_registered(); r; r = r->next)
        if (table_is(r->row, name)) return r->row;
    for (int i = 0; i < TNI_ROW_COUNT; i++)
        if (table_is(tni_row_list[i], name)) return tni_row_list[i];
    return NULL;
}

TN_API const tn_row *tn_row_named(const char *name) { return name ? tni_row_find(name) : NULL; }

static void *table_get(void *user, size_t bytes) {
    return tni_need((tni_block *)user, (int64_t)bytes);
}

static void table_leave(tn_context *c) {
    while (c->rows) {
        tni_rows *r = c->rows;
        c->rows = r->next;
        r->row->gen = NULL; /* its memory goes with the context */
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
    tni_lock(&c->rows_lock);
    taken = table_taken(r->row, torch, room);
    if (!taken) {
        r->index = c->rows ? c->rows->index + 1 : 0;
        r->next = c->rows;
        r->row->gen = r->gen;
        r->row->index = (uint32_t)(TNI_ROW_COUNT + r->index);
        tni_store(&c->rows, r);
    }
    tni_unlock(&c->rows_lock);
    return taken;
}

TN_API bool tn_register(tn_row *row) {
    tni_block *b = tni_here();
    tni_rows *r;
    const char *taken;
    char error[200], torch[80];
    if (!b || b->failed) return false;
    if (!row || !row->name || !row->schema)
        return tni_error(b, TN_INVALID, "tn_register: a row needs a name and a schema");
    if (row->gen)
        return tni_error(b, TN_INVALID,
                         "tn_register: '%.60s' is registered in a context that still lives",
                         row->name);
    if (!row->compose && (!row->check || !row->run))
        return tni_error(b, TN_INVALID, "tn_register: '%.60s' needs check and run, or compose",
                         row->name);
    r = (tni_rows *)tni_need(b, (int64_t)sizeof *r);
    if (!r) return false;
    r->row = row;
    if (!tni_schema_gen(row, table_get, b, &r->gen, &r->gen_bytes, error, sizeof error)) {
        tni_put(b, b, r, (int64_t)sizeof *r);
        return tni_error(b, TN_INVALID, "tn_register: '%.60s': %s", row->name, error);
    }
    tni_context_at_end(b->context, table_leave);
    taken = table_link(b->context, r, torch, sizeof torch);
    if (!taken) return true;
    tni_put(b, b, r->gen, (int64_t)r->gen_bytes);
    tni_put(b, b, r, (int64_t)sizeof *r);
    return tni_error(b, TN_INVALID, "tn_register: there is an operator '%.60s'", taken);
}

/* --- a context is ready for operators --------------------------------------------------------- */

/* What a thread that has ended left open: its scopes, its recording. */
static void table_adopt(tni_block *b) {
    tni_end(b, 0);
    tni_record_drop(b);
}

TN_PRIV bool tni_context_ready(tn_context *c) {
    c->adopt = table_adopt;
    c->kernels = tni_kernels_of(c->isa);
    while (!c->kernels && !c->options.isa && c->isa > TNI_ISA_SCALAR)
        c->kernels = tni_kernels_of(--c->isa);
    c->default_dtype = TN_F32;
    tni_context_at_end(c, tni_tensors_at_end);
    return c->kernels != NULL;
}
