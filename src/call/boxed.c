/* boxed.c - calls by name with tagged values, for bindings, files and tests; the table of rows.
 *
 * One walk over a row's parameters serves every row: values are bound by position and keyword into
 * an argument struct that starts as the row's defaults. */
#include "call.h"
#include "schema.h"

enum { BOXED_ARGS = TNI_ARGS_BYTES, BOXED_LISTS = 16 };

typedef struct boxed_call {
    const tn_row *row;
    const tn_gen *gen;
    char *args;     /* the struct being filled */
    uint64_t bound; /* bit a parameter */
    int64_t *one;   /* storage of lists made from one number; NULL: a number is no list */
    int nones;
    char reason[160];
    union {
        double align;
        char bytes[BOXED_ARGS];
    } room;
    int64_t one_room[BOXED_LISTS];
} boxed_call;

static bool boxed_no(boxed_call *c, const char *format, ...) TNI_PRINTF(2, 3);
static bool boxed_no(boxed_call *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(c->reason, sizeof c->reason, format, list);
    va_end(list);
    return false;
}

static void boxed_put(boxed_call *c, size_t offset, const void *value, size_t bytes) {
    memcpy(c->args + offset, value, bytes);
}

static bool boxed_scalar(const tn_value *v, tn_scalar *s) {
    if (v->type == TN_T_SCALAR)
        *s = v->as.scalar;
    else if (v->type == TN_T_INT)
        *s = tn_int(v->as.integer);
    else if (v->type == TN_T_FLOAT)
        *s = tn_float(v->as.real);
    else if (v->type == TN_T_BOOL)
        *s = tn_bool(v->as.boolean);
    else
        return false;
    return true;
}

static double boxed_real(tn_scalar s) {
    return s.kind == TN_KIND_INT || s.kind == TN_KIND_BOOL ? (double)s.integer : s.real;
}

static bool boxed_number(boxed_call *c, const tn_param *p, const tn_value *v) {
    tn_scalar s = tn_none();
    double d;
    bool none = v->type == 0;
    if (!none && !boxed_scalar(v, &s)) return boxed_no(c, "'%s' wants a number", p->name);
    if (none && !(p->flags & TN_P_OPTIONAL))
        return boxed_no(c, "'%s' wants a number, not None", p->name);
    if (p->flags & TN_P_MAYBE) {
        tn_maybe m = tn_no_float();
        if (!none) m = tn_some(boxed_real(s));
        boxed_put(c, p->offset, &m, sizeof m);
    } else if (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE)) {
        boxed_put(c, p->offset, &s, sizeof s);
    } else {
        if (s.kind == TN_KIND_COMPLEX) return boxed_no(c, "'%s' wants a real number", p->name);
        d = boxed_real(s);
        boxed_put(c, p->offset, &d, sizeof d);
    }
    return true;
}

static bool boxed_int(boxed_call *c, const tn_param *p, const tn_value *v) {
    int64_t i = TN_NONE;
    if (v->type == TN_T_INT)
        i = v->as.integer;
    else if (v->type == TN_T_BOOL)
        i = v->as.boolean;
    else if (v->type == TN_T_SCALAR &&
             (v->as.scalar.kind == TN_KIND_BOOL || v->as.scalar.kind == TN_KIND_INT))
        i = v->as.scalar.integer;
    else if ((v->type && !(v->type == TN_T_SCALAR && v->as.scalar.kind == TN_KIND_NONE)) ||
             !(p->flags & TN_P_OPTIONAL))
        return boxed_no(c, "'%s' wants an int", p->name);
    boxed_put(c, p->offset, &i, sizeof i);
    return true;
}

static bool boxed_ints(boxed_call *c, const tn_param *p, const tn_value *v) {
    tn_ints l = {NULL, -1};
    if (v->type == TN_T_INTS)
        l = v->as.ints;
    else if (v->type == TN_T_INT && p->type == TN_T_INTS && c->one && c->nones < BOXED_LISTS) {
        c->one[c->nones] = v->as.integer;
        l.at = &c->one[c->nones++];
        l.n = 1;
    } else if (v->type == TN_T_FLOATS && p->type == TN_T_FLOATS) {
        boxed_put(c, p->offset, &v->as.floats, sizeof v->as.floats);
        return true;
    } else if (v->type || !(p->flags & TN_P_OPTIONAL)) {
        return boxed_no(c, "'%s' wants a list of numbers", p->name);
    }
    boxed_put(c, p->offset, &l, sizeof l);
    return true;
}

static bool boxed_tensor(boxed_call *c, const tn_param *p, const tn_value *v) {
    tn_scalar s;
    tn_tensor *none = NULL;
    if (v->type == TN_T_TENSOR && v->as.tensor)
        boxed_put(c, p->offset, &v->as.tensor, sizeof v->as.tensor);
    else if (p->flags & TN_P_NUMBER && boxed_scalar(v, &s)) {
        boxed_put(c, p->offset, &none, sizeof none);
        boxed_put(c, p->number_offset, &s, sizeof s);
    } else if (v->type == 0 && p->flags & TN_P_OPTIONAL)
        boxed_put(c, p->offset, &none, sizeof none);
    else
        return boxed_no(c, "'%s' wants a tensor", p->name);
    return true;
}

static bool boxed_word(boxed_call *c, const tn_param *p, const tn_value *v) {
    int32_t i = 0;
    int64_t whole = v->type == TN_T_ENUM || v->type == TN_T_INT ? v->as.integer : 0;
    if (whole < 0 || whole > INT32_MAX)
        return boxed_no(c, "'%s' has no choice of number %lld", p->name, (long long)whole);
    if (v->type == TN_T_STRING && p->words && v->as.string) {
        for (int k = 0; p->words[k]; k++)
            if (strcmp(p->words[k], v->as.string) == 0) i = k + 1;
        if (!i) return boxed_no(c, "'%s' has no choice '%.40s'", p->name, v->as.string);
    } else if (v->type == TN_T_ENUM || v->type == TN_T_INT)
        i = (int32_t)whole;
    else if (v->type || !(p->flags & TN_P_OPTIONAL))
        return boxed_no(c, "'%s' wants a word", p->name);
    boxed_put(c, p->offset, &i, sizeof i);
    return true;
}

static bool boxed_bind(boxed_call *c, int i, const tn_value *v) {
    const tn_param *p = &c->gen->param[i];
    int32_t code = 0;
    if (c->bound >> i & 1) return boxed_no(c, "'%s' is given twice", p->name);
    c->bound |= (uint64_t)1 << i;
    switch (p->type) {
    case TN_T_TENSOR: return boxed_tensor(c, p, v);
    case TN_T_TENSORS:
        if (v->type != TN_T_TENSORS) return boxed_no(c, "'%s' wants a list of tensors", p->name);
        boxed_put(c, p->offset, &v->as.tensors, sizeof v->as.tensors);
        return true;
    case TN_T_INT: return boxed_int(c, p, v);
    case TN_T_FLOAT:
    case TN_T_SCALAR: return boxed_number(c, p, v);
    case TN_T_BOOL:
        if (v->type != TN_T_BOOL) return boxed_no(c, "'%s' wants a bool", p->name);
        boxed_put(c, p->offset, &v->as.boolean, sizeof v->as.boolean);
        return true;
    case TN_T_INTS:
    case TN_T_FLOATS: return boxed_ints(c, p, v);
    case TN_T_ENUM: return boxed_word(c, p, v);
    case TN_T_DTYPE:
        if (v->type && v->type != TN_T_DTYPE) return boxed_no(c, "'%s' wants a dtype", p->name);
        code = v->type ? (int32_t)v->as.dtype : 0;
        boxed_put(c, p->offset, &code, sizeof code);
        return true;
    case TN_T_DEVICE:
        if (v->type && v->type != TN_T_DEVICE) return boxed_no(c, "'%s' wants a device", p->name);
        code = v->type ? v->as.device : 0;
        boxed_put(c, p->offset, &code, sizeof code);
        return true;
    case TN_T_GENERATOR:
        if (v->type && v->type != TN_T_GENERATOR)
            return boxed_no(c, "'%s' wants a generator", p->name);
        if (v->type) boxed_put(c, p->offset, &v->as.generator, sizeof v->as.generator);
        return true;
    case TN_T_STRING:
        if (v->type && v->type != TN_T_STRING) return boxed_no(c, "'%s' wants a string", p->name);
        if (v->type) boxed_put(c, p->offset, &v->as.string, sizeof v->as.string);
        return true;
    default: return boxed_no(c, "'%s' cannot be given here", p->name);
    }
}

static int boxed_param(const tn_gen *gen, const char *name) {
    for (int i = 0; i < gen->nparam; i++)
        if (strcmp(gen->param[i].name, name) == 0) return i;
    return -1;
}

static bool boxed_out(boxed_call *c, unsigned how, const tn_value *v) {
    const tn_gen *gen = c->gen;
    if (gen->out_offset == UINT16_MAX || how & TN_IN_PLACE) return boxed_no(c, "there is no out=");
    if (v->type == TN_T_TENSOR && gen->nresults == 1)
        boxed_put(c, gen->out_offset, &v->as.tensor, sizeof v->as.tensor);
    else if (v->type == TN_T_TENSORS && v->as.tensors.at && v->as.tensors.n == gen->nresults)
        boxed_put(c, gen->out_offset, v->as.tensors.at,
                  (size_t)gen->nresults * sizeof(tn_tensor *));
    else
        return boxed_no(c, "out wants %d tensors", gen->nresults);
    return true;
}

/* Binds the values to the parameters of c->gen; what is required must be there when `all`. */
static bool boxed_values(boxed_call *c, unsigned how, const tn_value *values, int n, bool all) {
    const tn_gen *gen = c->gen;
    int at = 0;
    c->bound = 0;
    c->nones = 0;
    for (int i = 0; i < n; i++) {
        int p = at;
        if (c->row && values[i].name && strcmp(values[i].name, "out") == 0) {
            if (values[i].type && !boxed_out(c, how, &values[i])) return false;
            continue;
        }
        if (values[i].name && (p = boxed_param(gen, values[i].name)) < 0)
            return boxed_no(c, "there is no argument '%.40s'", values[i].name);
        if (!values[i].name && (at >= gen->nparam || gen->param[at].flags & TN_P_KEYWORD))
            return boxed_no(c, "takes %d positional arguments, more are given", at);
        if (!values[i].name) at++;
        if (!boxed_bind(c, p, &values[i])) return false;
    }
    for (int i = 0; all && i < gen->nparam; i++)
        if (!(c->bound >> i & 1) && !(gen->param[i].flags & TN_P_DEFAULT) &&
            gen->param[i].type != TN_T_GENERATOR)
            return boxed_no(c, "argument '%s' is missing", gen->param[i].name);
    return true;
}

static bool boxed_fill(boxed_call *c, unsigned how, const tn_value *values, int n) {
    c->gen = c->row->gen;
    c->args = c->room.bytes;
    c->one = c->one_room;
    if (c->gen->args_size > BOXED_ARGS)
        return boxed_no(c, "its arguments are too large for a call by name");
    memcpy(c->args, c->gen->defaults, c->gen->args_size);
    return boxed_values(c, how, values, n, true);
}

TN_PRIV bool tni_bind_values(const tn_gen *gen, const tn_value *values, int nvalues,
                             bool with_defaults, void *args, char *reason, size_t room) {
    boxed_call c;
    c.row = NULL;
    c.gen = gen;
    c.args = (char *)args;
    c.one = NULL;
    if (with_defaults) memcpy(args, gen->defaults, gen->args_size);
    if (boxed_values(&c, TN_PLAIN, values, nvalues, with_defaults)) return true;
    snprintf(reason, room, "%s", c.reason);
    return false;
}

/* An error that no door has placed. */
static bool boxed_error(tni_block *b, const char *file, int line, tn_code code, const char *format,
                        ...) TNI_PRINTF(5, 6);
static bool boxed_error(tni_block *b, const char *file, int line, tn_code code, const char *format,
                        ...) {
    va_list list;
    if (!b->frame && !b->place_hold) b->place_file = file, b->place_line = line;
    va_start(list, format);
    tni_error_list(b, code, format, list);
    va_end(list);
    if (!b->frame && !b->place_hold) tni_error_tell(b);
    return false;
}

static bool boxed_misfit(tni_block *b, const char *file, int line, const tn_row *row,
                         const char *reason) {
    return boxed_error(b, file, line, TN_TYPE, "%s: %s\n  schema: %s", row->name, reason,
                       row->schema);
}

static bool boxed_run(tni_block *b, boxed_call *c, unsigned how, const char *file, int line,
                      tn_tensor **results, int room, int *count) {
    const tn_gen *gen = c->gen;
    size_t base = strcspn(c->row->schema, ".(");
    if (base && c->row->schema[base - 1] == '_' && c->row->forms & TN_INPLACE)
        how = TN_IN_PLACE; /* `fill_` has no other form */
    if (gen->props & TN_PROP_RETURNS_LIST) {
        tn_list l;
        if (!tn_call(c->row, how, file, line, c->args, &l)) return false;
        *count = (int)l.n;
        if (l.n > room) {
            tn_list_free(l);
            return boxed_error(b, file, line, TN_INVALID, "%s: %d results, room for %d",
                               c->row->name, (int)l.n, room);
        }
        for (int64_t i = 0; i < l.n; i++) results[i] = l.at[i];
        tn_free(l.holder);
        return true;
    }
    if (gen->nresults > room)
        return boxed_error(b, file, line, TN_INVALID, "%s: room for %d results", c->row->name,
                           room);
    if (!tn_call(c->row, how, file, line, c->args, results)) return false;
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
    c.row = row;
    if (boxed_fill(&c, how, values, nvalues))
        return boxed_run(b, &c, how, file, line, results, room, count);
    return boxed_misfit(b, file, line, row, c.reason);
}

static bool boxed_base_is(const tn_row *row, const char *name, size_t n) {
    size_t base = strcspn(row->schema, ".(");
    return base == n && strncmp(row->schema, name, n) == 0;
}

TN_API bool tn_call_named(const char *file, int line, const char *name, const tn_value *values,
                          int nvalues, tn_tensor **results, int room, int *count) {
    boxed_call c;
    const tn_row *row = tn_row_named(name);
    size_t n = name ? strlen(name) : 0;
    unsigned how = TN_PLAIN;
    bool others = false;
    tni_block *b = tni_here();
    c.reason[0] = 0;
    *count = 0;
    if (!b || b->failed) return false;
    c.row = row;
    if (row && boxed_fill(&c, how, values, nvalues))
        return boxed_run(b, &c, how, file, line, results, room, count);
    for (int pass = 0; pass < 2 && n; pass++) {
        for (int64_t i = 0; i < tn_row_count(); i++) {
            c.row = tn_row_at(i);
            if (c.row == row || (how & TN_IN_PLACE && !(c.row->forms & TN_INPLACE))) continue;
            if (!boxed_base_is(c.row, name, n) &&
                !(how && strncmp(c.row->name, name, n) == 0 && !c.row->name[n]))
                continue;
            others = true;
            if (boxed_fill(&c, how, values, nvalues))
                return boxed_run(b, &c, how, file, line, results, room, count);
        }
        if (n < 2 || name[n - 1] != '_') break;
        n--;
        how = TN_IN_PLACE;
    }
    if (row && !others) return boxed_misfit(b, file, line, row, c.reason);
    if (c.reason[0])
        return boxed_error(b, file, line, TN_TYPE, "%s: no overload fits; the last: %s", name,
                           c.reason);
    return boxed_error(b, file, line, TN_INVALID, "there is no operator '%.60s'",
                       name ? name : "(NULL)");
}
