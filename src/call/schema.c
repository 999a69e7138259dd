/* schema.c - the schema parser and the layout of argument structs. Tables: schema_tables.c. */
#include "schema.h"
#include "../base/real.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- words ------------------------------------------------------------------------------------ */

static const char *const schema_reduction[] = {"none", "mean", "sum", NULL};
static const char *const schema_batch_reduction[] = {"none", "mean", "sum", "batchmean", NULL};
static const char *const schema_approximate[] = {"none", "tanh", NULL};
static const char *const schema_activation[] = {"relu", "gelu", NULL};
static const char *const schema_nonlinearity[] = {"tanh", "relu", NULL};
static const char *const schema_rounding[] = {"trunc", "floor", NULL};
static const char *const schema_format[] = {"contiguous_format", "preserve_format", "channels_last",
                                            "channels_last_3d", NULL};
static const char *const schema_padding[] = {"zeros", "reflect", "replicate", "circular", NULL};
static const char *const schema_reduce_op[] = {"sum",  "avg", "product", "min", "max",
                                               "band", "bor", "bxor",    NULL};
static const char *const schema_resize[] = {"nearest",   "nearest_exact", "linear", "bilinear",
                                            "trilinear", "bicubic",       "area",   NULL};
static const char *const schema_rule[] = {"adagrad", "rmsprop", "adadelta", "adamax", "nadam",
                                          "radam",   "rprop",   "asgd",     "assign", NULL};
static const char *const schema_adjust[] = {"original", "match_rms_adamw", "spectral_unclamped",
                                            NULL};
static const char *const schema_grid_mode[] = {"bilinear", "nearest", "bicubic", NULL};
static const char *const schema_grid_padding[] = {"zeros", "border", "reflection", NULL};
static const char *const schema_bag_mode[] = {"sum", "mean", "max", NULL};
static const tni_enum schema_enums[] = {{"Reduction", schema_reduction},
                                        {"Approximate", schema_approximate},
                                        {"Nonlinearity", schema_nonlinearity},
                                        {"Activation", schema_activation},
                                        {"Rounding", schema_rounding},
                                        {"MemoryFormat", schema_format},
                                        {"PaddingMode", schema_padding},
                                        {"ReduceOp", schema_reduce_op},
                                        {"ResizeMode", schema_resize},
                                        {"BatchReduction", schema_batch_reduction},
                                        {"OptimizerRule", schema_rule},
                                        {"AdjustLr", schema_adjust},
                                        {"GridMode", schema_grid_mode},
                                        {"GridPadding", schema_grid_padding},
                                        {"BagMode", schema_bag_mode},
                                        {NULL, NULL}};

TN_PRIV const tni_enum *tni_enums(void) { return schema_enums; }

TN_PRIV bool tni_word_is(tni_word w, const char *text) {
    return (size_t)w.n == strlen(text) && !memcmp(w.at, text, (size_t)w.n);
}

static bool schema_same(tni_word a, tni_word b) {
    return a.n == b.n && !memcmp(a.at, b.at, (size_t)a.n);
}

TN_PRIV int tni_words(const char *text, tni_word *words, int max) {
    int n = 0;
    for (const char *at = text ? text : ""; *at;) {
        /* Words lie between blanks and commas. */
        size_t skip = strspn(at, " ,"), length = strcspn(at + skip, " ,");
        if (length && n == max) return -1;
        if (length) {
            words[n].at = at + skip;
            words[n++].n = (int)length;
        }
        at += skip + length;
    }
    return n;
}

/* --- values of defaults ----------------------------------------------------------------------- */

static int64_t schema_dtype(tni_word w) {
    static const struct {
        const char *name, *alias;
        tn_dtype dtype;
    } names[] = {
#define SCHEMA_DTYPE(NAME, text, bytes, kind, alias, ...) {#text, #alias, TN_##NAME},
        TN_DTYPES(SCHEMA_DTYPE)
#undef SCHEMA_DTYPE
    };
    /* By name or alias, as torch writes both ("float32", "float"). */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (tni_word_is(w, names[i].name) || tni_word_is(w, names[i].alias)) return names[i].dtype;
    return 0;
}

static bool schema_decimal(tni_word w, bool whole, int64_t *integer, double *real) {
    char text[64], *end = NULL;
    const int number = errno;
    if (w.n >= (int)sizeof text) return false;
    memcpy(text, w.at, (size_t)w.n);
    text[w.n] = 0;
    /* An integer first; what is left behind its digits makes it a real number. */
    if (tni_word_is(w, "inf") || tni_word_is(w, "-inf")) {
        if (whole) return false;
        return tni_real(text, real);
    }
    /* Whole numbers must fit 64 bits; others are read as doubles. */
    errno = 0;
    *integer = (int64_t)strtoll(text, &end, 10);
    const bool too_large = errno == ERANGE;
    errno = number;
    if (whole && too_large) return false;
    if (!*end) {
        *real = (double)*integer;
        return true;
    }
    if (whole) return false;
    return tni_real(text, real);
}

static bool schema_read_whole(tni_schema_param *p, tni_word w) {
    return schema_decimal(w, true, &p->value.integer, &p->value.real);
}
static bool schema_read_real(tni_schema_param *p, tni_word w) {
    return schema_decimal(w, false, &p->value.integer, &p->value.real);
}

static bool schema_read_truth(tni_schema_param *p, tni_word w) {
    p->value.integer = tni_word_is(w, "True");
    return p->value.integer || tni_word_is(w, "False");
}

static bool schema_read_number(tni_schema_param *p, tni_word w) {
    p->flags |= TN_P_DOUBLE;
    p->value.real = tni_word_is(w, "True");
    return p->value.real != 0 || tni_word_is(w, "False") || schema_read_real(p, w);
}

static bool schema_read_list(tni_schema_param *p, tni_word w) {
    tni_word items[TNI_LIST_DEFAULT];
    char inside[96];
    bool whole = p->type == TN_T_INTS;
    if (w.at[0] != '[') { /* one number repeats */
        p->value.n = 1;
        return schema_decimal(w, whole, &p->value.ints[0], &p->value.floats[0]);
    }
    if (w.n < 2 || w.n - 2 >= (int)sizeof inside || w.at[w.n - 1] != ']') return false;
    memcpy(inside, w.at + 1, (size_t)w.n - 2);
    inside[w.n - 2] = 0;
    p->value.n = tni_words(inside, items, TNI_LIST_DEFAULT);
    for (int i = 0; i < p->value.n; i++)
        if (!schema_decimal(items[i], whole, &p->value.ints[i], &p->value.floats[i])) return false;
    return p->value.n >= 0;
}

static bool schema_read_dtype(tni_schema_param *p, tni_word w) {
    p->value.integer = schema_dtype(w);
    return p->value.integer != 0;
}

static bool schema_read_string(tni_schema_param *p, tni_word w) {
    if (w.n >= 2 && (w.at[0] == '"' || w.at[0] == '\'') && w.at[w.n - 1] == w.at[0]) {
        w.at++;
        w.n -= 2;
    }
    p->value.string = w;
    return true;
}
static bool schema_read_word(tni_schema_param *p, tni_word w) {
    schema_read_string(p, w);
    /* The value of a word is its number in the list, from 1. */
    for (int i = 0; p->words->words[i]; i++)
        if (tni_word_is(p->value.string, p->words->words[i])) {
            p->value.integer = i + 1;
            return true;
        }
    return false;
}

/* The ways of TN_TYPES; of those without a reader the default can be None alone. */
#define SCHEMA_WAY_TENSOR NULL
#define SCHEMA_WAY_TENSORS NULL
#define SCHEMA_WAY_MODULE NULL
#define SCHEMA_WAY_MODULES NULL
#define SCHEMA_WAY_GENERATOR NULL
#define SCHEMA_WAY_DEVICE NULL
#define SCHEMA_WAY_WHOLE schema_read_whole
#define SCHEMA_WAY_REAL schema_read_real
#define SCHEMA_WAY_MAYBE schema_read_real
#define SCHEMA_WAY_TRUTH schema_read_truth
#define SCHEMA_WAY_NUMBER schema_read_number
#define SCHEMA_WAY_WHOLES schema_read_list
#define SCHEMA_WAY_REALS schema_read_list
#define SCHEMA_WAY_DTYPE schema_read_dtype
#define SCHEMA_WAY_STRING schema_read_string
#define SCHEMA_WAY_WORD schema_read_word

#define SCHEMA_PADDED(NAME, text, list, c, cxx, lies, traits, way) \
    struct schema_padded_##NAME {                                  \
        char first;                                                \
        lies value;                                                \
    };
TN_TYPES(SCHEMA_PADDED)

/* What a schema says of each type. */
static const struct schema_known {
    const char *text;
    uint8_t list; /* the type of text[], 0: none */
    uint8_t bytes, align;
    bool (*read)(tni_schema_param *p, tni_word w);
} schema_types[TN_TYPE_COUNT] = {{"", 0, 0, 1, NULL},
#define SCHEMA_TYPE(NAME, text, list, c, cxx, lies, traits, way) \
    {text, list, sizeof(lies), offsetof(struct schema_padded_##NAME, value), SCHEMA_WAY_##way},
                                 TN_TYPES(SCHEMA_TYPE)};

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct schema_reader {
    const char *text, *at;
    tni_schema *s;
    bool keyword;
    char *error;
    size_t room;
} schema_reader;

static bool schema_fail(schema_reader *r, const char *what, tni_word word) {
    snprintf(r->error, r->room, "column %d: %s%s%.*s%s", (int)(r->at - r->text) + 1, what,
             word.n ? " '" : "", word.n, word.n ? word.at : "", word.n ? "'" : "");
    return false;
}
static bool schema_error(schema_reader *r, const char *what) {
    tni_word none = {NULL, 0};
    return schema_fail(r, what, none);
}

static bool schema_take(schema_reader *r, const char *token) {
    size_t n = strlen(token);
    while (*r->at == ' ') r->at++;
    if (strncmp(r->at, token, n)) return false;
    r->at += n;
    return true;
}

static tni_word schema_name(schema_reader *r, const char *more) {
    /* Letters, digits, '_' and the characters of `more`; n is 0 if there is no name. */
    tni_word w = {r->at, 0};
    while (*r->at == ' ') r->at++;
    w.at = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_' || (*r->at && strchr(more, *r->at)))
        r->at++;
    w.n = (int)(r->at - w.at);
    return w;
}

static bool schema_type_named(schema_reader *r, tni_schema_param *p, uint8_t *list) {
    const char *start = r->at;
    tni_word w = schema_name(r, "");
    const bool symbolic = tni_word_is(w, "SymInt"); /* an int */
    /* A type of the list, else the name of an enum. */
    for (int i = 1; i < TN_TYPE_COUNT; i++)
        if (i != TN_T_ENUM && (symbolic ? i == TN_T_INT : tni_word_is(w, schema_types[i].text))) {
            p->type = (uint8_t)i;
            *list = schema_types[i].list;
            return true;
        }
    for (const tni_enum *e = schema_enums; e->name; e++)
        if (tni_word_is(w, e->name)) {
            p->type = TN_T_ENUM;
            p->words = e;
            return true;
        }
    r->at = start;
    return schema_fail(r, "unknown type", w);
}

/* after '(': "a!)" is true, "a)" is false; at stays behind ')' */
static bool schema_alias(schema_reader *r) {
    bool mutated = false;
    while (*r->at && *r->at != ')') mutated = *r->at++ == '!' || mutated;
    if (*r->at) r->at++;
    return mutated;
}

/* Everything of a parameter before its name. */
static bool schema_type(schema_reader *r, tni_schema_param *p) {
    uint8_t list = 0;
    p->count = -1;
    if (!schema_type_named(r, p, &list)) return false;
    if (p->type == TN_T_TENSOR && schema_take(r, "|Scalar")) p->flags |= TN_P_NUMBER;
    if (p->type == TN_T_TENSOR && schema_take(r, "(") && schema_alias(r)) p->flags |= TN_P_MUTATED;
    /* "?" before "[" means elements that may be absent, behind "]" a list that may. */
    bool question = schema_take(r, "?");
    if (schema_take(r, "[")) {
        if (!list) return schema_error(r, "lists of this type are not supported");
        if (question) p->flags |= p->type == TN_T_TENSOR ? TN_P_HOLES : 0;
        if (question && p->type != TN_T_TENSOR)
            return schema_error(r, "only a list of tensors may have absent elements");
        p->type = list;
        /* "[2]" says how many elements one number stands for. */
        if (isdigit((unsigned char)*r->at)) p->count = 0;
        for (; isdigit((unsigned char)*r->at); r->at++) {
            int count = 10 * p->count + (*r->at - '0');
            if (count > INT16_MAX) return schema_error(r, "the list's count is too large");
            p->count = (int16_t)count;
        }
        if (!schema_take(r, "]")) return schema_error(r, "']' expected");
        question = schema_take(r, "?");
    }
    if (question) p->flags |= TN_P_OPTIONAL;
    if (question && p->type == TN_T_FLOAT) p->flags |= TN_P_MAYBE;
    if (question && p->type == TN_T_BOOL)
        return schema_error(r, "bool? is not supported: use an enum");
    return true;
}

/* --- a default -------------------------------------------------------------------------------- */

static bool schema_default_is(tni_schema_param *p, tni_word w) {
    if (tni_word_is(w, "None")) {
        p->value.none = true;
        return (p->flags & TN_P_OPTIONAL) != 0;
    }
    bool (*read)(tni_schema_param *, tni_word) = schema_types[tn_type_kept(p->type, p->flags)].read;
    return read && read(p, w);
}

static bool schema_default(schema_reader *r, tni_schema_param *p) {
    tni_word w = {r->at, 0};
    int depth = 0;
    /* To the next comma or parenthesis that is in no quotes and no list. */
    for (char quote = 0; *r->at && (quote || depth || (*r->at != ',' && *r->at != ')')); r->at++) {
        if (quote ? *r->at == quote : *r->at == '"' || *r->at == '\'')
            quote = quote ? (char)0 : *r->at;
        else if (!quote && *r->at == '[')
            depth++;
        else if (!quote && *r->at == ']')
            depth--;
    }
    /* Without blanks at its end, read by the parameter's type. */
    w.n = (int)(r->at - w.at);
    while (w.n && w.at[w.n - 1] == ' ') w.n--;
    p->flags |= TN_P_DEFAULT;
    if (w.n && schema_default_is(p, w)) return true;
    r->at = w.at;
    return schema_fail(r, "this default does not match the parameter's type:", w);
}

/* --- parameters, results ---------------------------------------------------------------------- */

static bool schema_append(schema_reader *r, const tni_schema_param *p) {
    /* The last of a parameter's checks, which need all of it. */
    tni_schema *s = r->s;
    if (s->nparam == TNI_PARAMS) return schema_error(r, "too many parameters");
    for (int i = 0; i < s->nparam; i++)
        if (schema_same(s->param[i].name, p->name))
            return schema_fail(r, "two parameters are named", p->name);
    if ((p->flags & TN_P_NUMBER) && (p->flags & (TN_P_DEFAULT | TN_P_OPTIONAL)))
        return schema_fail(r, "Tensor|Scalar must be required:", p->name);
    s->param[s->nparam++] = *p;
    return true;
}

static bool schema_tuple(schema_reader *r) { /* behind '(': "Tensor h, Tensor c)? hx=None" */
    tni_schema_param member[TNI_SCHEMA_RESULTS], whole;
    int n = 0;
    do {
        if (n == TNI_SCHEMA_RESULTS) return schema_error(r, "too many elements in a tuple");
        memset(&member[n], 0, sizeof member[n]);
        if (!schema_type(r, &member[n])) return false;
        member[n].name = schema_name(r, "");
        if (!member[n].name.n) return schema_error(r, "an element of a tuple needs a name");
        n++;
    } while (schema_take(r, ","));
    /* What stands behind the parenthesis holds for all members. */
    memset(&whole, 0, sizeof whole);
    if (!schema_take(r, ")")) return schema_error(r, "')' expected");
    if (schema_take(r, "?")) whole.flags |= TN_P_OPTIONAL;
    whole.name = schema_name(r, "");
    if (!whole.name.n) return schema_error(r, "a tuple needs a name");
    if (schema_take(r, "=")) {
        if (!(whole.flags & TN_P_OPTIONAL) || !schema_take(r, "None"))
            return schema_error(
                r, "the default of a tuple must be None, and its type must end in '?'");
        whole.flags |= TN_P_DEFAULT;
    }
    /* Members are parameters of their own; the tuple's name groups them. */
    for (int i = 0; i < n; i++) {
        member[i].group = whole.name;
        member[i].flags =
            (uint8_t)(member[i].flags | whole.flags | (r->keyword ? TN_P_KEYWORD : 0));
        member[i].value.none = (whole.flags & TN_P_DEFAULT) != 0;
        if (!schema_append(r, &member[i])) return false;
    }
    return true;
}

static bool schema_param(schema_reader *r) {
    /* "*" begins the keywords, "(" a tuple; otherwise type, name and perhaps a default. */
    tni_schema_param p;
    if (schema_take(r, "*")) {
        if (r->keyword) return schema_error(r, "a second '*'");
        r->keyword = true;
        return true;
    }
    if (schema_take(r, "(")) return schema_tuple(r);
    memset(&p, 0, sizeof p);
    if (!schema_type(r, &p)) return false;
    /* Behind the type: a name, and perhaps "=". */
    p.name = schema_name(r, "");
    if (!p.name.n) return schema_error(r, "a parameter needs a name");
    if (r->keyword) p.flags |= TN_P_KEYWORD;
    if (schema_take(r, "=") && !schema_default(r, &p)) return false;
    return schema_append(r, &p);
}

static bool schema_result(schema_reader *r, tni_word group) {
    /* A result is parsed as a parameter without default. */
    tni_schema *s = r->s;
    tni_schema_param p;
    memset(&p, 0, sizeof p);
    if (!schema_type(r, &p)) return false;
    if (p.type == TN_T_TENSORS)
        s->returns_list = true;
    else if (p.type == TN_T_BOOL)
        s->returns_truth = true;
    else if (p.type != TN_T_TENSOR)
        return schema_error(r, "a result must be a Tensor, a Tensor[] or a bool");
    if (s->nresults == TNI_SCHEMA_RESULTS) return schema_error(r, "too many results");
    s->result_group[s->nresults] = group;
    s->result[s->nresults++] = schema_name(r, "");
    return true;
}

static bool schema_results_in(schema_reader *r, int depth) { /* behind '(' */
    tni_word none = {NULL, 0};
    if (schema_take(r, ")")) return true;
    do {
        int first = r->s->nresults;
        if (schema_take(r, "(")) {
            if (depth || !schema_results_in(r, 1))
                return depth ? schema_error(r, "tuples can be nested only once") : false;
            tni_word group = schema_name(r, "");
            for (int i = first; i < r->s->nresults; i++) r->s->result_group[i] = group;
        } else if (!schema_result(r, none))
            return false;
    } while (schema_take(r, ","));
    return schema_take(r, ")") || schema_error(r, "')' expected");
}

static bool schema_results(schema_reader *r) {
    tni_schema *s = r->s;
    tni_word none = {NULL, 0}, only = {"result", 6};
    /* One result may go without a name, several may not. */
    s->has_results = true;
    if (!(schema_take(r, "(") ? schema_results_in(r, 0) : schema_result(r, none))) return false;
    if (s->nresults == 1 && !s->result[0].n) s->result[0] = only;
    for (int i = 0; i < s->nresults; i++) {
        if (!s->result[i].n) return schema_error(r, "several results need names");
        for (int k = 0; k < i; k++)
            if (schema_same(s->result[i], s->result[k]))
                return schema_fail(r, "two results are named", s->result[i]);
    }
    if ((s->returns_list || s->returns_truth) && s->nresults != 1)
        return schema_error(r, "a list or a bool must be the only result");
    return true;
}

TN_PRIV bool tni_schema_parse(tni_schema *s, const char *text, char *error, size_t room) {
    schema_reader r = {text, text, s, false, error, room};
    const char *dot;
    memset(s, 0, sizeof *s);
    s->name = schema_name(&r, ".");
    /* name "add.Tensor" is base "add" and its overload. */
    dot = (const char *)memchr(s->name.at, '.', (size_t)s->name.n);
    s->base = dot ? (int)(dot - s->name.at) : s->name.n;
    if (!schema_take(&r, "(")) return schema_error(&r, "'(' expected");
    if (!schema_take(&r, ")")) {
        do
            if (!schema_param(&r)) return false;
        while (schema_take(&r, ","));
        if (!schema_take(&r, ")")) return schema_error(&r, "',' or ')' expected");
    }
    if (schema_take(&r, "->") && !schema_results(&r)) return false;
    schema_take(&r, "");
    if (*r.at) return schema_error(&r, "unexpected text after the end");
    tni_schema_layout(s, 0);
    return true;
}

/* --- layout ----------------------------------------------------------------------------------- */

TN_PRIV bool tni_schema_has_required(const tni_schema *s) {
    /* The order of the struct's members: options, required parameters, then the numbers that may
     * stand in a tensor's place. */
    for (int i = 0; i < s->nparam; i++)
        if (!(s->param[i].flags & TN_P_DEFAULT)) return true;
    return false;
}

TN_PRIV int tni_schema_order(const tni_schema *s, int *order) {
    /* Single tensors first, then the lists: the order of a call's inputs. */
    int n = 0;
    for (int i = 0; i < s->nparam; i++)
        if (s->param[i].flags & TN_P_DEFAULT) order[n++] = i;
    for (int i = 0; i < s->nparam; i++)
        if (!(s->param[i].flags & TN_P_DEFAULT)) order[n++] = i;
    for (int i = 0; i < s->nparam; i++)
        if (s->param[i].flags & TN_P_NUMBER) order[n++] = TNI_PARAMS + i;
    return n;
}

static size_t schema_place(size_t *end, size_t *align, unsigned type) {
    const struct schema_known *t = &schema_types[type];
    const size_t at = (*end + t->align - 1) / t->align * t->align;
    if (t->align > *align) *align = t->align;
    *end = at + t->bytes;
    return at;
}

TN_PRIV void tni_schema_layout(tni_schema *s, uint32_t forms) {
    int order[2 * TNI_PARAMS], n = tni_schema_order(s, order);
    /* Members as a C compiler lays them out: out pointers, options, required ones, numbers. */
    size_t end = 0, align = 1;
    s->out_offset = SIZE_MAX;
    for (int i = 0; (forms & TN_OUT) && i < s->nresults; i++) {
        size_t at = schema_place(&end, &align, TN_T_TENSOR);
        if (!i) s->out_offset = at;
    }
    for (int i = 0; i < n; i++) {
        tni_schema_param *p = &s->param[order[i] % TNI_PARAMS];
        if (order[i] < TNI_PARAMS)
            p->offset = schema_place(&end, &align, tn_type_kept(p->type, p->flags));
        else
            p->number_offset = schema_place(&end, &align, TN_T_SCALAR);
    }
    if (!tni_schema_has_required(s)) schema_place(&end, &align, TN_T_ENUM); /* tni_last */
    s->args_size = (end + align - 1) / align * align;
}

/* --- slots, needs ----------------------------------------------------------------------------- */

TN_PRIV uint32_t tni_schema_props(const tni_schema *s) {
    uint32_t props = 0;
    int others = 0;
    if (s->returns_list) props |= TN_PROP_RETURNS_LIST;
    if (s->returns_truth) props |= TN_PROP_TRUTH;
    for (int i = 0; i < s->nparam; i++) {
        const tni_schema_param *p = &s->param[i];
        /* What the door branches on, from the types of the parameters. */
        if (p->type == TN_T_TENSORS) props |= TN_PROP_LISTS;
        if (p->type == TN_T_GENERATOR) props |= TN_PROP_GENERATOR;
        if (TN_TYPES_BEHIND >> p->type & 1) props |= TN_PROP_INTS;
        if (TN_TYPES_GAPS >> tn_type_kept(p->type, p->flags) & 1) props |= TN_PROP_WORDS;
        if (p->flags & TN_P_MUTATED) props |= TN_PROP_MUTATED;
        if (p->type != TN_T_TENSOR) others++;
    }
    /* A single double behind the tensors: the short way reads it directly. */
    if (others == 1 && s->param[s->nparam - 1].flags & TN_P_DOUBLE) props |= TN_PROP_DOUBLE;
    return props;
}

TN_PRIV int tni_schema_slots(const tni_schema *s, int *slot, int *nfixed) {
    int n = 0;
    for (int i = 0; i < s->nparam; i++)
        if (s->param[i].type == TN_T_TENSOR) slot[n++] = i;
    *nfixed = n;
    for (int i = 0; i < s->nparam; i++)
        if (s->param[i].type == TN_T_TENSORS) slot[n++] = i;
    return n;
}

/* The bit of a name among inputs, results and saves; 0: none of them. */
static uint64_t schema_bit(const tni_schema *s, tni_word name, const tni_word *saves, int nsaves) {
    int slot[TNI_PARAMS], nfixed, n = tni_schema_slots(s, slot, &nfixed);
    for (int i = 0; i < n && i < 32; i++)
        if (schema_same(s->param[slot[i]].name, name)) return (uint64_t)1 << i;
    for (int k = 0; k < s->nresults; k++)
        if (schema_same(s->result[k], name)) return (uint64_t)1 << (32 + k);
    for (int k = 0; k < nsaves; k++)
        if (schema_same(saves[k], name)) return (uint64_t)1 << (32 + s->nresults + k);
    return 0;
}

static bool schema_need(const tni_schema *s, tni_word item, const tni_word *saves, int nsaves,
                        uint64_t *masks, int *target, char *error, size_t room) {
    int slot[TNI_PARAMS], nfixed, n = tni_schema_slots(s, slot, &nfixed);
    const char *colon = (const char *)memchr(item.at, ':', (size_t)item.n);
    tni_word name = item;
    uint64_t bit;
    /* "self:other": the gradient of self reads other; the slot stays for the items
     * behind commas. */
    if (colon) {
        tni_word who = {item.at, (int)(colon - item.at)};
        name.at = colon + 1;
        name.n = item.n - who.n - 1;
        for (*target = 0; *target < n && !schema_same(s->param[slot[*target]].name, who);)
            ++*target;
        if (*target == n) {
            snprintf(error, room, "needs: no tensor is named '%.*s'", who.n, who.at);
            return false;
        }
    }
    /* Without a slot the item is for all of them. */
    bit = schema_bit(s, name, saves, nsaves);
    if (!bit) {
        snprintf(error, room, "needs: no input, result or save is named '%.*s'", name.n, name.at);
        return false;
    }
    for (int i = 0; i < n; i++)
        if (*target < 0 || *target == i) masks[i] |= bit;
    return true;
}

TN_PRIV bool tni_schema_needs(const tni_schema *s, const char *saves, const char *needs,
                              uint64_t *masks, char *error, size_t room) {
    tni_word names[TNI_SCHEMA_RESULTS];
    int slot[TNI_PARAMS], nfixed, n = tni_schema_slots(s, slot, &nfixed);
    int nsaves = tni_words(saves, names, TNI_SCHEMA_RESULTS), target = -1;
    if (nsaves < 0 || s->nresults + nsaves > TNI_RESULTS) {
        snprintf(error, room, "saves: more than %d together with the results", TNI_RESULTS);
        return false;
    }
    for (int i = 0; i < n; i++) masks[i] = 0;
    for (const char *at = needs ? needs : "";
         *at;) { /* "self:other,result indices": a space ends the slot's list */
        size_t length = strcspn(at, " ,");
        tni_word item = {at, (int)length};
        if (length && !schema_need(s, item, names, nsaves, masks, &target, error, room))
            return false;
        at += length;
        if (*at == ' ') target = -1;
        if (*at) at++;
    }
    return true;
}

TN_PRIV bool tni_schema_limits(const tni_schema *s, uint32_t forms, char *error, size_t room) {
    /* What a row may have, so that frames and masks of fixed size are enough. */
    int slot[TNI_PARAMS], nfixed, numbers = 0;
    tni_schema_slots(s, slot, &nfixed);
    for (int i = 0; i < s->nparam; i++) numbers += (s->param[i].flags & TN_P_NUMBER) != 0;
    /* The first limit that is broken becomes the error. */
    bool list = s->returns_list, tensor = s->nparam && s->param[0].type == TN_T_TENSOR;
    const char *what = NULL;
    if (!s->name.n)
        what = "no name";
    else if (nfixed > TNI_FIXED)
        what = "more than 8 tensors outside lists";
    else if (numbers > TNI_NUMBERS)
        what = "more than 3 Tensor|Scalar";
    else if (s->args_size > TNI_ARGS_BYTES)
        what = "too many arguments for a call's frame";
    else if (!s->has_results)
        what = "expected '->' and the results";
    else if (s->nresults > TNI_RESULTS)
        what = "more than 6 results";
    else if ((forms & TN_OUT) && list)
        what = "a list result cannot have out=";
    else if ((forms & TN_OUT) && (s->nresults < 1 || s->nresults > 4))
        what = "out= takes 1 to 4 results";
    else if ((forms & TN_INPLACE) && (list || s->nresults != 1 || !tensor))
        what = "an in-place form needs a tensor as first parameter and exactly one result";
    if (what) snprintf(error, room, "%s", what);
    return !what;
}
