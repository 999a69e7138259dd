/* schema_tables.c - what optable writes for a built-in row, made at run time: parameters, defaults,
 * names and needs in one block. */
#include "types.h"

typedef struct schema_block { /* pieces of one block: counted with base NULL first, then carved */
    char *base;
    size_t used;
} schema_block;

static void *schema_carve(schema_block *b, size_t bytes) {
    void *at = b->base ? b->base + b->used : NULL;
    b->used += (bytes + 15) / 16 * 16;
    return at;
}

static const char *schema_copy(schema_block *b, tni_word w) {
    char *to = (char *)schema_carve(b, (size_t)w.n + 1);
    if (to) {
        memcpy(to, w.at, (size_t)w.n);
        to[w.n] = 0;
    }
    return to;
}

/* Writes p's default at its place in the default struct, and what it points at into the block. */
static void schema_store(schema_block *b, const tni_schema_param *p, char *args) {
    const tni_type *type = &tni_types[tn_type_kept(p->type, p->flags)];
    const size_t behind = sizeof(int64_t) * (size_t)p->value.n + (size_t)p->value.string.n + 1;
    void *to = TN_TYPES_BEHIND >> p->type & 1 ? schema_carve(b, behind) : NULL;
    if (args && type->store) type->store(&p->value, args + p->offset, to);
}

static void schema_params(const tni_schema *s, schema_block *b, tn_gen *g) {
    /* In the first pass param and defaults are NULL, and only sizes are added up. */
    tn_param *param = (tn_param *)schema_carve(b, sizeof(tn_param) * (size_t)(s->nparam + 1));
    char *defaults = (char *)schema_carve(b, s->args_size);
    if (defaults) memset(defaults, 0, s->args_size);
    for (int i = 0; i < s->nparam; i++) {
        const tni_schema_param *p = &s->param[i];
        const char *name = schema_copy(b, p->name);
        if (p->flags & TN_P_DEFAULT) schema_store(b, p, defaults);
        if (!param) continue;
        param[i].name = name;
        param[i].type = p->type;
        param[i].flags = p->flags;
        param[i].offset = (uint16_t)p->offset;
        param[i].number_offset = (uint16_t)p->number_offset;
        param[i].count = p->count;
        param[i].words = p->words ? p->words->words : NULL;
    }
    if (g) {
        g->param = param;
        g->defaults = defaults;
    }
}

/* Fills g, or counts alone when b has no base. The block's first piece is the tn_gen. */
static tn_gen *schema_tables(const tni_schema *s, const tn_row *row, const uint64_t *masks,
                             schema_block *b) {
    tn_gen *g = (tn_gen *)schema_carve(b, sizeof *g);
    tni_word saves[TNI_SCHEMA_RESULTS];
    /* Each piece is carved in the same order in both passes; the first only counts. */
    int slot[TNI_PARAMS], nfixed, nslots = tni_schema_slots(s, slot, &nfixed);
    int nsaves = tni_words(row->saves, saves, TNI_SCHEMA_RESULTS);
    uint64_t *needs = (uint64_t *)schema_carve(b, sizeof *needs * (size_t)(nslots + 1));
    const char **names =
        (const char **)schema_carve(b, sizeof *names * (size_t)(s->nresults + nsaves + 1));
    /* Names of results, then of saves, ended by NULL. */
    schema_params(s, b, g);
    for (int k = 0; k < s->nresults + nsaves; k++) {
        const char *name = schema_copy(b, k < s->nresults ? s->result[k] : saves[k - s->nresults]);
        if (names) names[k] = name;
    }
    /* Counting ends here. */
    if (!g) return NULL;
    if (nslots) memcpy(needs, masks, sizeof *needs * (size_t)nslots);
    names[s->nresults + nsaves] = NULL;
    g->result_names = names;
    g->needs = needs;
    g->nparam = (uint16_t)s->nparam;
    g->nfixed = (uint16_t)nfixed;
    g->nresults = (uint16_t)s->nresults;
    g->nsaves = (uint16_t)nsaves;
    g->args_size = (uint16_t)s->args_size;
    g->out_offset = s->out_offset == SIZE_MAX ? UINT16_MAX : (uint16_t)s->out_offset;
    g->props = tni_schema_props(s) | (row->verdict ? (uint32_t)TN_PROP_VERDICT : 0u) |
               (row->forms & TN_IMAGES ? (uint32_t)TN_PROP_IMAGES : 0u);
    g->loops = NULL;
    for (int i = 0; i < TNI_FIXED; i++) g->fixed[i] = (uint16_t)(i < nfixed ? slot[i] : 0);
    return g;
}

static bool schema_build(const tni_schema *s, const tn_row *row, const uint64_t *masks,
                         tni_schema_get get, void *user, tn_gen **gen, size_t *bytes, char *error,
                         size_t room) {
    schema_block b = {NULL, 0};
    /* Once to count, once to fill. */
    schema_tables(s, row, masks, &b);
    *bytes = b.used;
    b.base = (char *)get(user, b.used);
    b.used = 0;
    if (!b.base) {
        snprintf(error, room, "out of memory for its tables");
        return false;
    }
    *gen = schema_tables(s, row, masks, &b);
    return true;
}

TN_PRIV bool tni_schema_gen(const tn_row *row, tni_schema_get get, void *user, tn_gen **gen,
                            size_t *bytes, char *error, size_t room) {
    tni_schema s;
    uint64_t masks[TNI_PARAMS];
    /* Parsed, laid out, checked; then the tables are written. */
    if (!tni_schema_parse(&s, row->schema, error, room)) return false;
    tni_schema_layout(&s, row->forms);
    if (row->verdict && tni_schema_props(&s) & TN_PROP_MUTATED) {
        snprintf(error, room, "a row with a verdict must not write an argument");
        return false;
    }
    return tni_schema_limits(&s, row->forms, error, room) &&
           tni_schema_needs(&s, row->saves, row->needs, masks, error, room) &&
           schema_build(&s, row, masks, get, user, gen, bytes, error, room);
}

typedef struct schema_made {
    tn_gen gen; /* first: what the user sees */
    tni_block *b;
    tn_gen *made;
    size_t bytes;
} schema_made;

static void *schema_get(void *user, size_t bytes) {
    return tni_need((tni_block *)user, (int64_t)bytes);
}

TN_API tn_gen *tn_schema_new(const char *schema) {
    tni_block *b = tni_here();
    schema_made *g;
    tn_row row;
    char error[200];
    /* The row that the schema stands for has neither forms nor a gradient. */
    if (!b || b->failed) return NULL;
    if (!(g = (schema_made *)tni_need(b, (int64_t)sizeof *g))) return NULL;
    memset(&row, 0, sizeof row);
    row.name = row.schema = schema;
    g->b = b;
    if (schema && tni_schema_gen(&row, schema_get, b, &g->made, &g->bytes, error, sizeof error)) {
        g->gen = *g->made;
        return &g->gen;
    }
    tni_put(b, b, g, (int64_t)sizeof *g);
    tni_error(b, TN_INVALID, "schema \"%.200s\": %s", schema ? schema : "NULL",
              schema ? error : "missing");
    return NULL;
}

TN_API void tn_schema_free(tn_gen *gen) {
    schema_made *g = (schema_made *)(void *)gen;
    tni_block *b = gen ? tni_here() : NULL;
    if (!b) return;
    tni_put(b, g->b, g->made, (int64_t)g->bytes);
    tni_put(b, g->b, g, (int64_t)sizeof *g);
}
