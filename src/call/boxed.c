/* boxed.c - calls by name with tagged values, for bindings, files and tests; the table of rows.
 *
 * One walk over a row's parameters serves every row: values are bound by position and keyword into
 * an argument struct that starts as the row's defaults. */
#include "../api/extend.h"
#include "types.h"

enum { BOXED_ARGS = TNI_ARGS_BYTES };

typedef struct boxed_call {
    tni_taken to;
    const tn_row *row;
    const tn_gen *gen;
    uint64_t bound; /* bit a parameter */
    union {
        double align;
        char bytes[BOXED_ARGS];
    } room;
    int64_t one_room[TNI_TAKEN_LISTS];
} boxed_call;

/* The reason why values do not fit, kept for the error; false. */
static bool boxed_no(boxed_call *c, const char *format, ...) TNI_PRINTF(2, 3);
static bool boxed_no(boxed_call *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(c->to.reason, sizeof c->to.reason, format, list);
    va_end(list);
    return false;
}

/* Value v to parameter i, converted by its type's way. */
static bool boxed_bind(boxed_call *c, int i, const tn_value *v) {
    const tn_param *p = &c->gen->param[i];
    if (c->bound >> i & 1) return boxed_no(c, "argument '%s' is given twice", p->name);
    c->bound |= (uint64_t)1 << i;
    return tni_types[p->type].take(&c->to, p, v);
}

/* out= is one tensor, or a list of as many as the row has results. */
static bool boxed_out(boxed_call *c, unsigned how, const tn_value *v) {
    const tn_gen *gen = c->gen;
    if (gen->out_offset == UINT16_MAX || how & TN_IN_PLACE)
        return boxed_no(c, "out= is not supported");
    /* Pointers are copied into the struct, where the door reads them. */
    if (v->type == TN_T_TENSOR && gen->nresults == 1)
        memcpy(c->to.args + gen->out_offset, &v->as.tensor, sizeof v->as.tensor);
    else if (v->type == TN_T_TENSORS && v->as.tensors.at && v->as.tensors.n == gen->nresults)
        memcpy(c->to.args + gen->out_offset, v->as.tensors.at,
               (size_t)gen->nresults * sizeof(tn_tensor *));
    else
        return boxed_no(c, "out= expects %d tensors", gen->nresults);
    return true;
}

/* Binds the values to the parameters of c->gen; if `all`, none that is required may be missing. */
static bool boxed_values(boxed_call *c, unsigned how, const tn_value *values, int n, bool all) {
    const tn_gen *gen = c->gen;
    int at = 0;
    c->bound = 0;
    c->to.nones = 0;
    for (int i = 0; i < n; i++) {
        /* By keyword, or the next one by position; out= is no parameter. */
        const tn_param *named = NULL;
        if (c->row && values[i].name && strcmp(values[i].name, "out") == 0) {
            if (values[i].type && !boxed_out(c, how, &values[i])) return false;
            continue;
        }
        if (values[i].name && !(named = tn_param_named(gen, values[i].name, SIZE_MAX)))
            return boxed_no(c, "argument '%.40s' does not exist", values[i].name);
        if (!values[i].name && (at >= gen->nparam || gen->param[at].flags & TN_P_KEYWORD))
            return boxed_no(c, "takes %d positional arguments, got more", at);
        if (!boxed_bind(c, named ? (int)(named - gen->param) : at++, &values[i])) return false;
    }
    /* Parameters without a value must have a default. */
    for (int i = 0; all && i < gen->nparam; i++)
        if (!(c->bound >> i & 1) && tn_param_is_required(&gen->param[i]))
            return boxed_no(c, "argument '%s' is missing", gen->param[i].name);
    return true;
}

static bool boxed_fill(boxed_call *c, unsigned how, const tn_value *values, int n) {
    /* The struct begins as the defaults, over which the values are written. */
    c->gen = c->row->gen;
    c->to.args = c->room.bytes;
    c->to.one = c->one_room;
    if (c->gen->args_size > BOXED_ARGS)
        return boxed_no(c, "the arguments are too large for a call by name");
    memcpy(c->to.args, c->gen->defaults, c->gen->args_size);
    return boxed_values(c, how, values, n, true);
}

TN_PRIV bool tni_bind_values(const tn_gen *gen, const tn_value *values, int nvalues,
                             bool with_defaults, void *args, char *reason, size_t room) {
    /* The same for any schema: a module's options, an optimizer's. */
    boxed_call c;
    c.row = NULL;
    c.gen = gen;
    c.to.args = (char *)args;
    c.to.one = NULL;
    if (with_defaults) memcpy(args, gen->defaults, gen->args_size);
    if (boxed_values(&c, TN_PLAIN, values, nvalues, with_defaults)) return true;
    snprintf(reason, room, "%s", c.to.reason);
    return false;
}

/* An error that no door has placed. */
static bool boxed_error(tni_block *b, const char *file, int line, tn_code code, const char *format,
                        ...) TNI_PRINTF(5, 6);
static bool boxed_error(tni_block *b, const char *file, int line, tn_code code, const char *format,
                        ...) {
    /* Error outside an operator call: set its file and line here, report at once. */
    va_list list;
    if (!b->work && !b->place_hold) {
        b->place_file = file;
        b->place_line = line;
    }
    va_start(list, format);
    tni_error_list(b, code, format, list);
    va_end(list);
    if (!b->work && !b->place_hold) tni_error_tell(b);
    return false;
}

static bool boxed_misfit(tni_block *b, const char *file, int line, const tn_row *row,
                         const char *reason) {
    return boxed_error(b, file, line, TN_TYPE, "%s: %s\n  schema: %s", row->name, reason,
                       row->schema);
}

static bool boxed_too_many(tni_block *b, const char *file, int line, const tn_row *row, int64_t n,
                           int room) {
    return boxed_error(b, file, line, TN_INVALID,
                       "%s: got %lld results, but there is room for only %d", row->name,
                       (long long)n, room);
}

/* Calls with the bound arguments. *count, 0 so far: results that are in results[]. */
static bool boxed_run(tni_block *b, boxed_call *c, unsigned how, const char *file, int line,
                      tn_tensor **results, int room, int *count) {
    const tn_gen *gen = c->gen;
    size_t name_length = strcspn(c->row->schema, ".(");
    /* a schema named foo_ exists only in place */
    if (name_length && c->row->schema[name_length - 1] == '_' && c->row->forms & TN_INPLACE)
        how = TN_IN_PLACE;
    if (gen->props & TN_PROP_RETURNS_LIST) {
        tn_list l;
        if (!tn_call(c->row, how, file, line, c->to.args, &l)) return false;
        /* Too many results: none is handed out. */
        if (l.n > room) {
            tn_list_free(l);
            return boxed_too_many(b, file, line, c->row, l.n, room);
        }
        for (int64_t i = 0; i < l.n; i++) results[i] = l.at[i];
        *count = (int)l.n;
        tn_free(l.holder); /* frees the array, not its members */
        return true;
    }
    /* Results of a known number go straight into results[]. */
    if (gen->nresults > room) return boxed_too_many(b, file, line, c->row, gen->nresults, room);
    if (!tn_call(c->row, how, file, line, c->to.args, results)) return false;
    *count = gen->nresults;
    return true;
}

TN_API bool tn_call_row(const char *file, int line, const tn_row *row, unsigned how,
                        const tn_value *values, int nvalues, tn_tensor **results, int room,
                        int *count) {
    boxed_call c;
    tni_block *b = tni_here();
    *count = 0;
    if (!b || b->failed) return false;
    /* Bound, then called; values that do not fit are the error, with the schema. */
    c.row = row;
    if (boxed_fill(&c, how, values, nvalues))
        return boxed_run(b, &c, how, file, line, results, room, count);
    return boxed_misfit(b, file, line, row, c.to.reason);
}

static bool boxed_base_is(const tn_row *row, const char *name, size_t n) {
    size_t name_length = strcspn(row->schema, ".(");
    return name_length == n && strncmp(row->schema, name, n) == 0;
}

TN_API bool tn_call_named(const char *file, int line, const char *name, const tn_value *values,
                          int nvalues, tn_tensor **results, int room, int *count) {
    /* First the row of exactly this name, if its parameters fit. */
    boxed_call c;
    const tn_row *row = name ? tni_row_find(name) : NULL;
    size_t n = name ? strlen(name) : 0;
    unsigned how = TN_PLAIN;
    bool others = false;
    tni_block *b = tni_here();
    c.to.reason[0] = 0;
    *count = 0;
    if (!b || b->failed) return false;
    c.row = row;
    if (row && boxed_fill(&c, how, values, nvalues))
        return boxed_run(b, &c, how, file, line, results, room, count);
    /* Every overload of the name in turn; then, for "add_", the in-place forms of "add". */
    for (int pass = 0; pass < 2 && n; pass++) {
        for (int64_t i = 0; i < tn_row_count(); i++) {
            c.row = tn_row_at(i);
            /* Rows without an in-place form cannot be meant by "add_". */
            if (c.row == row || (how & TN_IN_PLACE && !(c.row->forms & TN_INPLACE))) continue;
            if (!boxed_base_is(c.row, name, n) &&
                !(how && strncmp(c.row->name, name, n) == 0 && !c.row->name[n]))
                continue;
            others = true;
            if (boxed_fill(&c, how, values, nvalues))
                return boxed_run(b, &c, how, file, line, results, room, count);
        }
        /* Once more without the underscore. */
        if (n < 2 || name[n - 1] != '_') break;
        n--;
        how = TN_IN_PLACE;
    }
    /* The error names what was tried: the one row, the last overload, or nothing. */
    if (row && !others) return boxed_misfit(b, file, line, row, c.to.reason);
    if (c.to.reason[0])
        return boxed_error(b, file, line, TN_TYPE,
                           "%s: no overload matches; the last one tried: %s", name, c.to.reason);
    return boxed_error(b, file, line, TN_INVALID, "operator '%.60s' does not exist%s",
                       name ? name : "(NULL)", TNI_OR_NOT_BUILT);
}

TN_API bool tn_bind(const char *file, int line, const char *what, const tn_gen *gen,
                    const tn_value *values, int nvalues, bool with_defaults, void *args) {
    tni_block *b = tni_here();
    char reason[200];
    if (!b || b->failed) return false;
    tni_place_set(b, file, line);
    if (tni_bind_values(gen, values, nvalues, with_defaults, args, reason, sizeof reason))
        return true;
    return tni_error(b, TN_TYPE, "%s: %s", what, reason);
}
