/* types.c - a parameter's type in C and C++, members and initialisers of an argument struct, flags.
 * How a value is spelled is in ways.c. */
#include "optable.h"

#include <string.h>

const type_names types[] = {{"0", "", "", "", 0},
#define TYPE_NAMES(NAME, text, list, c, cxx, lies, traits, way) \
    {"TN_T_" #NAME, text, c, cxx, traits},
                            TN_TYPES(TYPE_NAMES)
#undef TYPE_NAMES
};

const char *type_of(const tni_schema_param *p) {
    if (p->type == TN_T_ENUM) return text_format("tn_%s ", text_snake(p->words->name));
    return types[tn_type_kept(p->type, p->flags)].c;
}

const char *type_cxx(const tni_schema_param *p) {
    bool own = p->type == TN_T_ENUM || (p->flags & (TN_P_MAYBE | TN_P_DOUBLE));
    /* One number stands for all sizes of a fixed count, and for a list of one. */
    const bool dim = p->name.n == 3 && !strncmp(p->name.at, "dim", 3);
    if (p->type == TN_T_INTS)
        return p->count > 1 || (p->count == 1 && !dim) ? "size_list " : "int_or_list ";
    /* A module that a constructor takes; a forward's own is the pointer. */
    if (p->type == TN_T_MODULE && !(p->name.n == 6 && !strncmp(p->name.at, "module", 6)))
        return "module_ref ";
    return own ? type_of(p) : types[p->type].cxx;
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
                      uint32_t either, char *const *values) {
    int order[2 * TNI_PARAMS], n = tni_schema_order(s, order);
    const char *comma = "";
    if (out) put(t, "%s", out), comma = ", ";
    for (int i = 0; i < n; i++, comma = ", ") {
        int k = order[i] % TNI_PARAMS;
        const tni_schema_param *p = &s->param[k];
        const char *value = values ? values[k] : text_word(p->name);
        bool number = (p->flags & TN_P_NUMBER) && k < 32 && numbers >> k & 1;
        if (order[i] >= TNI_PARAMS && k < 32 && either >> k & 1)
            put(t, "%s%s.number", comma, text_word(p->name));
        else if (order[i] >= TNI_PARAMS)
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
    static const char *const names[] = {"TN_PROP_LISTS",
                                        "TN_PROP_GENERATOR",
                                        "TN_PROP_MUTATED",
                                        "TN_PROP_INTS",
                                        "TN_PROP_RETURNS_LIST",
                                        "TN_PROP_WORDS",
                                        "TN_PROP_DOUBLE",
                                        "TN_PROP_TRUTH",
                                        "TN_PROP_VERDICT",
                                        "TN_PROP_IMAGES",
                                        NULL};
    return bits_text(props, names);
}
