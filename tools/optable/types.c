/* types.c - a parameter in C: its type, its default in macro, static object and C++ signature,
 * struct members. */
#include "optable.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const type_names types[] = {{"0", "", "", ""},
#define TYPE_NAMES(NAME, text, list, c, cxx, lies, traits, way) {"TN_T_" #NAME, text, c, cxx},
                            TN_TYPES(TYPE_NAMES)
#undef TYPE_NAMES
};

const char *type_of(const tni_schema_param *p) {
    if (p->type == TN_T_ENUM) return text_format("tn_%s ", text_snake(p->words->name));
    return types[tn_type_kept(p->type, p->flags)].c;
}

const char *type_cxx(const tni_schema_param *p) {
    bool own = p->type == TN_T_ENUM || (p->flags & (TN_P_MAYBE | TN_P_DOUBLE));
    return own ? type_of(p) : types[p->type].cxx;
}

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

static char *list_text(const tni_schema_param *p) {
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    for (int i = 0; i < p->value.n; i++)
        put(&t, "%s%s", i ? ", " : "",
            p->type == TN_T_INTS ? int_text(p->value.ints[i]) : real_text(p->value.floats[i]));
    return t.at;
}

static const char *default_list(const tni_schema_param *p, spelling how, const char *prefix) {
    bool ints = p->type == TN_T_INTS;
    const tni_default *v = &p->value;
    if (how == SPELL_STATIC) {
        if (v->none) return "{NULL, -1}";
        return text_format("{tni_list_%s_%.*s, %d}", prefix, p->name.n, p->name.at, v->n);
    }
    if (how == SPELL_CXX) {
        if (v->none) return ints ? "tn_dims()" : "tn_doubles()";
        return v->n ? text_format("{%s}", list_text(p)) : "tn_dims(tn_empty_dims())";
    }
    if (v->none) return ints ? "TN_NO_DIMS" : "((tn_floats){NULL, -1})";
    if (!v->n) return "TN_EMPTY_DIMS";
    return text_format(ints ? "TN_DIMS(%s)" : "TN_FLOATS(%s)", list_text(p));
}

static const char *default_enum(const tni_schema_param *p) {
    return text_format("TN_%s_%s", text_upper(text_snake(p->words->name)),
                       text_upper(p->words->words[p->value.integer - 1]));
}

static const char *default_dtype(const tni_schema_param *p) {
#define DTYPE_NAME(NAME, ...) "TN_" #NAME,
    static const char *const names[] = {"TN_NO_DTYPE", TN_DTYPES(DTYPE_NAME)};
#undef DTYPE_NAME
    return names[p->value.none ? 0 : p->value.integer];
}

static const char *default_absent(const tni_schema_param *p,
                                  spelling how) { /* None, but of lists */
    if (p->type == TN_T_INT) return "TN_NONE";
    if (p->type == TN_T_FLOAT && how != SPELL_STATIC) return "TN_NO_FLOAT";
    if (p->type == TN_T_FLOAT) return "{0, TN_ABSENT}";
    if (p->type == TN_T_SCALAR)
        return how == SPELL_STATIC ? "{TN_KIND_NONE, 0, 0, 0}"
               : how == SPELL_CXX  ? "tn_number()"
                                   : "TN_NO_NUM";
    if (p->type == TN_T_MODULES)
        return how == SPELL_STATIC ? "{NULL, -1}" : "tn_modules_of(NULL, -1)";
    if (p->type == TN_T_TENSORS)
        return how == SPELL_STATIC ? "{NULL, -1}"
               : how == SPELL_CXX  ? "tn_tensor_list()"
                                   : "tn_tensors_of(NULL, -1)";
    if (how == SPELL_MACRO) return "";
    if (p->type == TN_T_DTYPE) return "TN_NO_DTYPE";
    if (p->type == TN_T_DEVICE) return "TN_NO_DEVICE";
    if (p->type == TN_T_ENUM) return text_format("(%s)0", type_of(p));
    return how == SPELL_CXX ? "nullptr" : "NULL";
}

char *default_of(const tni_schema_param *p, spelling how, const char *prefix) {
    const tni_default *v = &p->value;
    const char *t = "";
    bool zero = how == SPELL_MACRO;
    if (p->type == TN_T_INTS || p->type == TN_T_FLOATS)
        t = default_list(p, how, prefix);
    else if (v->none)
        t = default_absent(p, how);
    else if (p->type == TN_T_BOOL)
        t = v->integer ? "true" : zero ? "" : "false";
    else if (p->type == TN_T_INT)
        t = v->integer || !zero ? int_text(v->integer) : "";
    else if (p->flags & TN_P_MAYBE)
        t = text_format(how == SPELL_STATIC ? "{%s, TN_GIVEN}" : "TN_SOME(%s)", real_text(v->real));
    else if (p->type == TN_T_FLOAT || p->type == TN_T_SCALAR)
        t = v->real != 0 || !zero ? real_text(v->real) : "";
    else if (p->type == TN_T_DTYPE)
        t = default_dtype(p);
    else if (p->type == TN_T_ENUM)
        t = default_enum(p);
    else if (p->type == TN_T_STRING)
        t = text_format("\"%.*s\"", v->string.n, v->string.at);
    return text_copy(t, strlen(t));
}

void put_default_arrays(text *t, const tni_schema *s, const char *prefix) {
    for (int i = 0; i < s->nparam; i++) {
        const tni_schema_param *p = &s->param[i];
        if ((p->type != TN_T_INTS && p->type != TN_T_FLOATS) || !(p->flags & TN_P_DEFAULT) ||
            p->value.none)
            continue;
        put(t, "static const %s tni_list_%s_%.*s[] = {%s};\n",
            p->type == TN_T_INTS ? "int64_t" : "double", prefix, p->name.n, p->name.at,
            p->value.n ? list_text(p) : "0");
    }
}

/* Members of one type share a line: "tn_tensor *self, *other;". */
static void put_member(text *t, char **last, const char *type, const char *name) {
    size_t n = strlen(type);
    const char *star = type[n - 1] == '*' ? "*" : "";
    if (*last && !strcmp(*last, type))
        put(t, ", %s%s", star, name);
    else
        put(t, "%s    %s%s", *last ? ";\n" : "", type, name);
    *last = text_copy(type, n);
}

void put_members(text *t, const tni_schema *s, const char *out) {
    int order[2 * TNI_PARAMS], n = tni_schema_order(s, order);
    char *last = NULL;
    if (out) put_member(t, &last, out, "out");
    if (out) last = text_copy("out", 3);
    for (int i = 0; i < n; i++) {
        const tni_schema_param *p = &s->param[order[i] % TNI_PARAMS];
        char *name = text_word(p->name);
        if (order[i] < TNI_PARAMS)
            put_member(t, &last, type_of(p), name);
        else
            put_member(t, &last, "tn_scalar ", text_format("%s_number", name));
    }
    if (!tni_schema_has_required(s)) put_member(t, &last, "int32_t ", "tni_last");
    put(t, ";\n");
}

void put_initialisers(text *t, const tni_schema *s, const char *out, uint32_t numbers,
                      char *const *values) {
    int order[2 * TNI_PARAMS], n = tni_schema_order(s, order);
    const char *comma = "";
    if (out) put(t, "%s", out), comma = ", ";
    for (int i = 0; i < n; i++, comma = ", ") {
        int k = order[i] % TNI_PARAMS;
        const tni_schema_param *p = &s->param[k];
        const char *value = values ? values[k] : text_word(p->name);
        bool number = (p->flags & TN_P_NUMBER) && k < 32 && numbers >> k & 1;
        if (order[i] >= TNI_PARAMS)
            put(t, "%s%s", comma, number ? value : "{0, 0, 0, 0}");
        else
            put(t, "%s%s", comma, number ? "NULL" : value);
    }
    if (!tni_schema_has_required(s)) put(t, "%s0", comma);
}

const char *out_null(const row *r) {
    if (!(r->forms & TN_OUT)) return NULL;
    return r->s.nresults == 1   ? "NULL"
           : r->s.nresults == 2 ? "{NULL, NULL}"
           : r->s.nresults == 3 ? "{NULL, NULL, NULL}"
                                : "{NULL, NULL, NULL, NULL}";
}

static const char *bits_text(unsigned bits, const char *const *names) {
    text t = {NULL, 0, 0};
    for (int i = 0; names[i]; i++)
        if (bits >> i & 1) put(&t, "%s%s", t.n ? " | " : "", names[i]);
    return t.n ? t.at : "0";
}

const char *flags_text(unsigned flags) {
    static const char *const names[] = {"TN_P_OPTIONAL", "TN_P_DEFAULT", "TN_P_KEYWORD",
                                        "TN_P_NUMBER",   "TN_P_MUTATED", "TN_P_DOUBLE",
                                        "TN_P_MAYBE",    "TN_P_HOLES",   NULL};
    return bits_text(flags, names);
}
const char *props_text(uint32_t props) {
    static const char *const names[] = {"TN_PROP_LISTS",        "TN_PROP_GENERATOR",
                                        "TN_PROP_MUTATED",      "TN_PROP_INTS",
                                        "TN_PROP_RETURNS_LIST", "TN_PROP_WORDS",
                                        "TN_PROP_DOUBLE",       "TN_PROP_TRUTH",
                                        "TN_PROP_VERDICT",      NULL};
    return bits_text(props, names);
}
