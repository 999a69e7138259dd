/* ways.c - the values of parameters in the generator: how a default is spelled in C, C++ and JSON
 * (which is how Python has it), and what a sample may say. One entry for each way of TN_TYPES, at
 * the end; a new type that shares a way needs no edit here. */
#include "optable.h"

#include "../../tests/ops/elements.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- defaults --------------------------------------------------------------------------------- */

static char *real_text(double v) {
    if (v > -1e15 && v < 1e15 && v == (double)(int64_t)v) return text_format("%.0f", v);
    if (v - v != 0) return text_format(v < 0 ? "-HUGE_VAL" : "HUGE_VAL");
    for (int digits = 1; digits <= 17; digits++) {
        char *t = text_format("%.*g", digits, v);
        if (strtod(t, NULL) == v) return t;
    }
    return text_format("%.17g", v);
}

static char *int_text(int64_t v) {
    return text_format(v >= -INT_MAX && v <= INT_MAX ? "%lld" : "INT64_C(%lld)", (long long)v);
}

/* The items of a list's default, between commas. */
static char *items_text(const tni_default *v, char *(*item)(const tni_default *v, int i)) {
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    for (int i = 0; i < v->n; i++) put(&t, "%s%s", i ? ", " : "", item(v, i));
    return t.at;
}
static char *whole_item(const tni_default *v, int i) { return int_text(v->ints[i]); }
static char *real_item(const tni_default *v, int i) { return real_text(v->floats[i]); }

/* A list is "macro(items)" in a macro. The object of defaults points at an array of its own. */
static const char *list_text(const tni_schema_param *p, spelling how, const char *prefix,
                             const char *macro, const char *items) {
    if (how == SPELL_STATIC)
        return text_format("{tni_list_%s_%.*s, %d}", prefix, p->name.n, p->name.at, p->value.n);
    if (!p->value.n) return how == SPELL_CXX ? "int_list()" : "TN_EMPTY_DIMS";
    return how == SPELL_CXX ? text_format("{%s}", items) : text_format("%s(%s)", macro, items);
}
static const char *wholes_text(const tni_schema_param *p, spelling how, const char *prefix) {
    return list_text(p, how, prefix, "TN_DIMS", items_text(&p->value, whole_item));
}
static const char *reals_text(const tni_schema_param *p, spelling how, const char *prefix) {
    return list_text(p, how, prefix, "TN_FLOATS", items_text(&p->value, real_item));
}

static const char *truth_text(const tni_schema_param *p, spelling how, const char *prefix) {
    (void)prefix;
    return p->value.integer ? "true" : how == SPELL_MACRO ? "" : "false";
}
static const char *whole_text(const tni_schema_param *p, spelling how, const char *prefix) {
    (void)prefix;
    return how == SPELL_MACRO && !p->value.integer ? "" : int_text(p->value.integer);
}
static const char *float_text(const tni_schema_param *p, spelling how, const char *prefix) {
    (void)prefix;
    return how == SPELL_MACRO && p->value.real == 0 ? "" : real_text(p->value.real);
}
static const char *maybe_text(const tni_schema_param *p, spelling how, const char *prefix) {
    (void)prefix;
    return text_format(how == SPELL_STATIC ? "{%s, TN_GIVEN}" : "TN_SOME(%s)",
                       real_text(p->value.real));
}
static const char *dtype_text(const tni_schema_param *p, spelling how, const char *prefix) {
#define DTYPE_NAME(NAME, ...) "TN_" #NAME,
    static const char *const names[] = {"TN_NO_DTYPE", TN_DTYPES(DTYPE_NAME)};
#undef DTYPE_NAME
    (void)how, (void)prefix;
    return names[p->value.integer];
}
static const char *word_text(const tni_schema_param *p, spelling how, const char *prefix) {
    (void)how, (void)prefix;
    return text_format("TN_%s_%s", text_upper(text_snake(p->words->name)),
                       text_upper(p->words->words[p->value.integer - 1]));
}
static const char *string_text(const tni_schema_param *p, spelling how, const char *prefix) {
    (void)how, (void)prefix;
    return text_format("\"%.*s\"", p->value.string.n, p->value.string.at);
}

/* --- defaults in JSON ------------------------------------------------------------------------- */

static void truth_json(text *t, const tni_schema_param *p) {
    put(t, p->value.integer ? "true" : "false");
}
static void whole_json(text *t, const tni_schema_param *p) {
    put(t, "%lld", (long long)p->value.integer);
}
static void put_json_real(text *t, double v) {
    if (v - v != 0)
        put(t, v < 0 ? "-Infinity" : "Infinity");
    else
        put(t, "%.17g", v);
}
static void real_json(text *t, const tni_schema_param *p) { put_json_real(t, p->value.real); }
static void wholes_json(text *t, const tni_schema_param *p) {
    put(t, "[");
    for (int i = 0; i < p->value.n; i++)
        put(t, "%s%lld", i ? ", " : "", (long long)p->value.ints[i]);
    put(t, "]");
}
static void reals_json(text *t, const tni_schema_param *p) {
    put(t, "[");
    for (int i = 0; i < p->value.n; i++) {
        put(t, i ? ", " : "");
        put_json_real(t, p->value.floats[i]);
    }
    put(t, "]");
}
static void quoted_json(text *t, const tni_schema_param *p) {
    put_quoted(t, text_word(p->value.string));
}
static void dtype_json(text *t, const tni_schema_param *p) {
    put_quoted(t, dtype_text(p, SPELL_STATIC, ""));
}

/* --- samples ---------------------------------------------------------------------------------- */

static bool number_fits(const char *value, bool whole) {
    char *end;
    if (whole)
        (void)strtoll(value, &end, 10);
    else
        (void)strtod(value, &end);
    return end != value && !*end;
}

static bool tensor_fits(const char *value) {
    static const char dtypes[] = " f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool c64 c128 ";
    const char *end = *value == '(' ? strchr(value, ')') : NULL;
    int64_t size[TN_MAX_DIMS];
    int ndim = 0, structure = 0;
    if (!end || strspn(value + 1, "0123456789,") != (size_t)(end - value - 1)) return false;
    for (const char *at = value + 1; at < end && ndim < TN_MAX_DIMS; at++)
        size[ndim++] = strtoll(at, (char **)(uintptr_t)&at, 10);
    for (end++; *end == ':'; end += strcspn(end, ":<")) {
        const char *word = text_copy(end + 1, strcspn(end + 1, ":<"));
        const int named = elements_structure_named(word);
        if (!named && !strstr(dtypes, text_format(" %s ", word))) return false;
        structure = named ? named : structure;
        end++;
    }
    return elements_fit(structure, ndim, size) &&
           (!*end || (*end == '<' && number_fits(end + 1, false)));
}

/* "[1,-1]" or "{(2),(3)}": each member by its own rule. */
static bool list_fits(const char *value, char open, char close, bool (*fits)(const char *, bool),
                      bool whole) {
    size_t n = strlen(value);
    if (n < 2 || value[0] != open || value[n - 1] != close) return false;
    for (const char *at = value + 1; at < value + n - 1;) {
        int depth = 0;
        const char *end = at;
        while (end < value + n - 1 && (depth || *end != ',')) {
            depth += (*end == '(') - (*end == ')');
            end++;
        }
        if (!fits(text_copy(at, (size_t)(end - at)), whole)) return false;
        at = end + 1;
    }
    return true;
}
static bool member_fits(const char *value, bool holes) {
    return tensor_fits(value) || (holes && !strcmp(value, "None"));
}

static bool truth_fits(const tni_schema_param *p, const char *value) {
    (void)p;
    return !strcmp(value, "True") || !strcmp(value, "False");
}
static bool whole_fits(const tni_schema_param *p, const char *value) {
    (void)p;
    return number_fits(value, true);
}
static bool real_fits(const tni_schema_param *p, const char *value) {
    (void)p;
    return number_fits(value, false);
}
static bool scalar_fits(const tni_schema_param *p, const char *value) {
    return truth_fits(p, value) || number_fits(value, false);
}
static bool operand_fits(const tni_schema_param *p, const char *value) {
    return tensor_fits(value) || ((p->flags & TN_P_NUMBER) && scalar_fits(p, value));
}
static bool operands_fit(const tni_schema_param *p, const char *value) {
    return list_fits(value, '{', '}', member_fits, (p->flags & TN_P_HOLES) != 0);
}
static bool wholes_fit(const tni_schema_param *p, const char *value) {
    return whole_fits(p, value) || list_fits(value, '[', ']', number_fits, true);
}
static bool reals_fit(const tni_schema_param *p, const char *value) {
    return real_fits(p, value) || list_fits(value, '[', ']', number_fits, false);
}
static bool name_fits(const tni_schema_param *p, const char *value) {
    (void)p;
    return isalpha((unsigned char)*value) != 0;
}
static bool word_fits(const tni_schema_param *p, const char *value) {
    for (int i = 0; p->words->words[i]; i++)
        if (!strcmp(p->words->words[i], value)) return true;
    return false;
}

/* --- the table -------------------------------------------------------------------------------- */

typedef struct way {
    const char *none[SPELLINGS]; /* None; without: 0 of the type */
    const char *required;        /* see required_text; without: 0 of the type */
    /* A default that is not None; without: there is none. */
    const char *(*value)(const tni_schema_param *p, spelling how, const char *prefix);
    void (*json)(text *t, const tni_schema_param *p);
    /* Of a list: the type of an item in C, and its text. */
    const char *array;
    char *(*item)(const tni_default *v, int i);
    /* Whether a value of a sample is one; without: None alone is. */
    bool (*fits)(const tni_schema_param *p, const char *value);
} way;

#define WAY_TENSOR .none = {"", "NULL", "tensor_ref()"}, .required = "NULL", .fits = operand_fits
#define WAY_GENERATOR .none = {"", "NULL", "nullptr"}, .required = "NULL"
#define WAY_MODULE .none = {"", "NULL", "nullptr"}, .required = "NULL"
#define WAY_STRING                                                             \
    .none = {"", "NULL", "nullptr"}, .required = "NULL", .value = string_text, \
    .json = quoted_json, .fits = name_fits
#define WAY_TENSORS                                                                              \
    .none = {"tn_tensors_of(NULL, -1)", "{NULL, -1}", "tensor_list()"}, .required = "{NULL, 0}", \
    .fits = operands_fit
#define WAY_MODULES                                                               \
    .none = {"tn_modules_of(NULL, -1)", "{NULL, -1}", "tn_modules_of(NULL, -1)"}, \
    .required = "{NULL, 0}"
#define WAY_WHOLE                                                                    \
    .none = {"TN_NONE", "TN_NONE", "TN_NONE"}, .required = "0", .value = whole_text, \
    .json = whole_json, .fits = whole_fits
#define WAY_REAL .required = "0", .value = float_text, .json = real_json, .fits = real_fits
#define WAY_MAYBE                                                                   \
    .none = {"TN_NO_FLOAT", "{0, TN_ABSENT}", "TN_NO_FLOAT"}, .required = "{0, 0}", \
    .value = maybe_text, .json = real_json, .fits = real_fits
#define WAY_TRUTH .required = "0", .value = truth_text, .json = truth_json, .fits = truth_fits
#define WAY_NUMBER /* a default makes a REAL of it */                                         \
    .none = {"TN_NO_NUM", "{TN_KIND_NONE, 0, 0, 0}", "number()"}, .required = "{0, 0, 0, 0}", \
    .fits = scalar_fits
#define WAY_WHOLES                                                                           \
    .none = {"TN_NO_DIMS", "{NULL, -1}", "int_list(tn_no_dims())"}, .required = "{NULL, 0}", \
    .value = wholes_text, .json = wholes_json, .array = "int64_t", .item = whole_item,       \
    .fits = wholes_fit
#define WAY_REALS                                                                               \
    .none = {"((tn_floats){NULL, -1})", "{NULL, -1}", "float_list()"}, .required = "{NULL, 0}", \
    .value = reals_text, .json = reals_json, .array = "double", .item = real_item,              \
    .fits = reals_fit
#define WAY_DTYPE                                                                        \
    .none = {"", "TN_NO_DTYPE", "TN_NO_DTYPE"}, .value = dtype_text, .json = dtype_json, \
    .fits = name_fits
#define WAY_DEVICE .none = {"", "TN_NO_DEVICE", "TN_NO_DEVICE"}, .required = "0"
#define WAY_WORD .none = {""}, .value = word_text, .json = quoted_json, .fits = word_fits

static const way ways[TN_TYPE_COUNT] = {{.required = ""},
#define WAY_OF(NAME, text, list, c, cxx, lies, traits, way) {WAY_##way},
                                        TN_TYPES(WAY_OF)
#undef WAY_OF
};
static const way *way_of(const tni_schema_param *p) {
    return &ways[tn_type_kept(p->type, p->flags)];
}
static const char *zero_of(const tni_schema_param *p) { return text_format("(%s)0", type_of(p)); }

char *default_of(const tni_schema_param *p, spelling how, const char *prefix) {
    const way *w = way_of(p);
    const char *t = p->value.none ? w->none[how] : w->value ? w->value(p, how, prefix) : "";
    if (!t) t = zero_of(p);
    return text_copy(t, strlen(t));
}

char *required_text(const tni_schema_param *p) {
    const char *t = way_of(p)->required ? way_of(p)->required : zero_of(p);
    return text_copy(t, strlen(t));
}

void put_json_default(text *t, const tni_schema_param *p) {
    if (p->value.none)
        put(t, "null");
    else
        way_of(p)->json(t, p);
}

void put_default_arrays(text *t, const tni_schema *s, const char *prefix) {
    for (int i = 0; i < s->nparam; i++) {
        const tni_schema_param *p = &s->param[i];
        const way *w = way_of(p);
        if (!w->array || !(p->flags & TN_P_DEFAULT) || p->value.none) continue;
        put(t, "static const %s tni_list_%s_%.*s[] = {%s};\n", w->array, prefix, p->name.n,
            p->name.at, p->value.n ? items_text(&p->value, w->item) : "0");
    }
}

/* By the type of the schema: a Scalar with a default also takes True. */
bool sample_fits(const tni_schema_param *p, const char *value) {
    if (!strcmp(value, "None")) return (p->flags & TN_P_OPTIONAL) != 0;
    return ways[p->type].fits && ways[p->type].fits(p, value);
}
