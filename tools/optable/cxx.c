/* cxx.c - the C++ half of ops.h: overloads with default arguments, numbers in a tensor's place, options by name. */
#include "optable.h"

#include <stdlib.h>
#include <string.h>

static const char *const cxx_types =
    "\n#ifdef __cplusplus\n"
    "#include <initializer_list>\n"
    "#ifndef TNI_NAMESPACE\n#define TNI_NAMESPACE tn_inline\n#endif\n"
    "/* C++: overloads under torch's names, with default arguments: tn_max(x, 1), tn_add(x, 2), tn_sum(x, {0, 2}). The\n"
    " * parameter types below live for the time of the call. */\n"
    "inline namespace TNI_NAMESPACE {\n"
    "struct tn_site { /* where the call stands */\n"
    "    const char *file;\n    int line;\n"
    "#if defined(__GNUC__) || (defined(_MSC_VER) && _MSC_VER >= 1926)\n"
    "    static tn_site here(const char *f = __builtin_FILE(), int l = __builtin_LINE()) {\n"
    "#else\n    static tn_site here(const char *f = nullptr, int l = 0) {\n#endif\n"
    "        tn_site s = {f, l};\n        return s;\n    }\n};\n"
    "struct tn_dims { /* {2, 3}; made of nothing: None */\n"
    "    tn_ints value;\n"
    "    tn_dims() : value(tn_no_dims()) {}\n"
    "    tn_dims(tn_ints l) : value(l) {}\n"
    "    tn_dims(std::initializer_list<int64_t> l) : value(tn_empty_dims()) {\n"
    "        if (l.size()) value = tn_ints_of(l.begin(), (int64_t)l.size());\n    }\n};\n"
    "struct tn_doubles {\n"
    "    tn_floats value;\n"
    "    tn_doubles() { value.at = nullptr, value.n = -1; }\n"
    "    tn_doubles(tn_floats l) : value(l) {}\n"
    "    tn_doubles(std::initializer_list<double> l) { value.at = l.begin(), value.n = (int64_t)l.size(); }\n};\n"
    "struct tn_tensor_list {\n"
    "    tn_tensors value;\n"
    "    tn_tensor_list() : value(tn_tensors_of(nullptr, -1)) {}\n"
    "    tn_tensor_list(tn_tensors l) : value(l) {}\n"
    "    tn_tensor_list(std::initializer_list<tn_tensor *> l) : value(tn_tensors_of(l.begin(), (int64_t)l.size())) {}\n"
    "};\n"
    "/* What counts as a number: these exact types, so that a literal 0 is one and no null pointer. */\n"
    "template <class N> struct tni_is_number {};\n"
    "#define TNI_NUMBER_TYPE(N, make)                                                                          \\\n"
    "    template <> struct tni_is_number<N> {                                                                 \\\n"
    "        typedef N type;                                                                                   \\\n"
    "        static tn_scalar scalar(N v) { return make; }                                                     \\\n"
    "    };\n"
    "TNI_NUMBER_TYPE(bool, tn_bool(v))\nTNI_NUMBER_TYPE(char, tn_int(v))\n"
    "TNI_NUMBER_TYPE(signed char, tn_int(v))\nTNI_NUMBER_TYPE(unsigned char, tn_int(v))\n"
    "TNI_NUMBER_TYPE(short, tn_int(v))\nTNI_NUMBER_TYPE(unsigned short, tn_int(v))\n"
    "TNI_NUMBER_TYPE(int, tn_int(v))\nTNI_NUMBER_TYPE(unsigned, tn_int(v))\n"
    "TNI_NUMBER_TYPE(long, tn_int(v))\nTNI_NUMBER_TYPE(long long, tn_int(v))\n"
    "TNI_NUMBER_TYPE(unsigned long, tn_int((int64_t)v))\nTNI_NUMBER_TYPE(unsigned long long, tn_int((int64_t)v))\n"
    "TNI_NUMBER_TYPE(float, tn_float((double)v))\nTNI_NUMBER_TYPE(double, tn_float(v))\n"
    "TNI_NUMBER_TYPE(tn_scalar, v)\n"
    "#undef TNI_NUMBER_TYPE\n"
    "struct tn_number { /* made of nothing: None */\n"
    "    tn_scalar value;\n"
    "    tn_number() : value(tn_none()) {}\n"
    "    template <class N> tn_number(N v, typename tni_is_number<N>::type * = nullptr)\n"
    "        : value(tni_is_number<N>::scalar(v)) {}\n};\n"
    "#ifndef TN_DIMS\n#define TN_DIMS(...) (tn_dims({__VA_ARGS__}))\n#endif\n"
    "#ifndef TN_LIST\n#define TN_LIST(...) (tn_tensor_list({__VA_ARGS__}))\n#endif\n"
    "#ifndef TN_FLOATS\n#define TN_FLOATS(...) (tn_doubles({__VA_ARGS__}))\n#endif\n";

/* Required parameters first, then options. */
static int signature(const row *r, int *order) {
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < r->s.nparam; i++)
            if (!(r->s.param[i].flags & TN_P_DEFAULT) == !pass) order[n++] = i;
    return n;
}

static bool wrapped(const tni_schema_param *p) { /* a class with .value */
    return p->type == TN_T_INTS || p->type == TN_T_FLOATS || p->type == TN_T_TENSORS ||
           (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE));
}

static bool is_pointer(const row *r, int position) {
    int order[TNI_PARAMS], n = signature(r, order);
    return position < n && strchr(type_cxx(&r->s.param[order[position]]), '*') != NULL;
}

/* A literal 0 fits an int as well as a pointer: where another overload has a pointer, an int is a template. */
static bool must_be_exact(const table *all, const row *r, const char *name, int position, int i) {
    const tni_schema_param *p = &r->s.param[i];
    bool scalar = p->type == TN_T_INT || p->type == TN_T_FLOAT || p->type == TN_T_BOOL ||
                  (p->type == TN_T_SCALAR && (p->flags & TN_P_DOUBLE));
    if (!scalar || (p->flags & (TN_P_MAYBE | TN_P_DEFAULT))) return false;
    for (int k = 0; k < all->n; k++)
        if (all->row[k] != r && !strcmp(all->row[k]->base, name) && is_pointer(all->row[k], position)) return true;
    return false;
}

typedef struct overload {
    const table *all;
    const row *r;
    const form *f;
    const char *name; /* without tn_ */
    bool options;     /* C++20: required parameters and a struct */
} overload;

static void put_overload(text *to, const overload *o) {
    const row *r = o->r;
    int order[TNI_PARAMS], n = signature(r, order);
    char *values[TNI_PARAMS];
    text head = {NULL, 0, 0}, params = {NULL, 0, 0}, line = {NULL, 0, 0}, types = {NULL, 0, 0}, check = {NULL, 0, 0};
    for (int k = 0; k < n; k++) {
        int i = order[k];
        const tni_schema_param *p = &r->s.param[i];
        char *name = text_word(p->name);
        bool option = (p->flags & TN_P_DEFAULT) != 0, number = i < 32 && o->f->numbers >> i & 1;
        bool exact = !number && must_be_exact(o->all, r, o->name, k, i);
        values[i] = text_format(option && o->options ? "o.%s%s" : "%s%s", name, wrapped(p) ? ".value" : "");
        if (option && o->options) continue;
        put(&params, "%s", params.n ? ", " : "");
        if (number || exact) {
            put(&types, "%sclass N%d", types.n ? ", " : "", i);
            put(&check, "%stypename tni_is_number<N%d>::type * = nullptr", check.n ? ", " : "", i);
            put(&params, "N%d %s", i, name);
            values[i] = number ? text_format("tni_is_number<N%d>::scalar(%s)", i, name)
                               : text_format("(%.*s)%s", (int)strlen(type_of(p)) - 1, type_of(p), name);
        } else {
            put(&params, "%s%s", type_cxx(p), name);
            if (option) put(&params, " = %s", default_of(p, SPELL_CXX, ""));
        }
    }
    if (o->options) put(&params, "%stn_%s_options o", params.n ? ", " : "", r->name);
    put(&params, "%stn_site at = tn_site::here()", params.n ? ", " : "");
    if (check.n) put(&params, ", %s", check.at);
    if (types.n) put(&head, "template <%s> ", types.at);
    put(&head, "inline %stn_%s(%s) {", r->result_type, o->name, params.at);
    put_wrapped(to, head.at, 4, "");
    put(&line, "    const tn_%s_args a = {", r->name);
    put_initialisers(&line, &r->s, o->options && out_null(r) ? "o.out" : out_null(r), o->f->numbers, values);
    put(&line, "};");
    put_wrapped(to, line.at, 8, "");
    put(to, "    return tn_%s%s_at(at.file, at.line, &a);\n}\n", r->name, o->f->inplace ? "_inplace" : "");
}

static bool same_signature(const row *a, const row *b) { /* of what is required */
    int one[TNI_PARAMS], two[TNI_PARAMS], n = signature(a, one), m = signature(b, two);
    for (int k = 0;; k++) {
        bool ends = k == n || (a->s.param[one[k]].flags & TN_P_DEFAULT) != 0;
        bool stops = k == m || (b->s.param[two[k]].flags & TN_P_DEFAULT) != 0;
        if (ends || stops) return ends && stops;
        if (strcmp(type_cxx(&a->s.param[one[k]]), type_cxx(&b->s.param[two[k]]))) return false;
    }
}

/* Is torch's short name free for this row: no row before it takes the same required arguments under it. */
static bool base_is_free(const table *all, const row *r) {
    for (int k = 0; k < all->n; k++) {
        const row *other = all->row[k];
        if (other == r || strcmp(other->base, r->base)) continue;
        if (same_signature(other, r) && (!strcmp(other->name, other->base) || k < r->index) &&
            strcmp(r->name, r->base))
            return false;
    }
    return true;
}

static void put_row(text *to, const table *all, const row *r) {
    for (int k = 0; k < r->nform; k++) {
        const form *f = &r->form[k];
        bool bar = f->name[strlen(f->name) - 1] == '_';
        char *base = text_format("%s%s", r->base, bar ? "_" : "");
        overload o = {all, r, f, f->name, false};
        put_overload(to, &o);
        o.name = base;
        if (strcmp(base, f->name) && base_is_free(all, r)) put_overload(to, &o);
    }
}

static void put_options(text *to, const table *all, const row *r) {
    text t = {NULL, 0, 0};
    if (r->forms & TN_OUT) put(&t, "    %sout = {};\n", r->result_type);
    for (int i = 0; i < r->s.nparam; i++) {
        const tni_schema_param *p = &r->s.param[i];
        if (p->flags & TN_P_DEFAULT)
            put(&t, "    %s%.*s = %s;\n", type_cxx(p), p->name.n, p->name.at, default_of(p, SPELL_CXX, ""));
    }
    if (!t.n) return;
    put(to, "struct tn_%s_options {\n%s};\n", r->name, t.at);
    for (int k = 0; k < r->nform; k++) {
        const form *f = &r->form[k];
        bool bar = f->name[strlen(f->name) - 1] == '_';
        overload o = {all, r, f, f->name, true};
        o.name = base_is_free(all, r) ? text_format("%s%s", r->base, bar ? "_" : "") : f->name;
        put_overload(to, &o);
    }
}

void put_cxx(text *to, const table *all) {
    put(to, "%s", cxx_types);
    for (int i = 0; i < all->n; i++) put_row(to, all, all->row[i]);
    put(to, "#if __cplusplus >= 202002L /* options by name: tn_sum(x, {.keepdim = true}) */\n");
    for (int i = 0; i < all->n; i++) put_options(to, all, all->row[i]);
    put(to, "#endif\n} // namespace\n#endif\n");
}
