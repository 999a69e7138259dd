/* cxx.c - rows in C++: functions of namespace tn, methods of tn::tensor, C's names; with default
 * arguments, numbers in a tensor's place, options by name. */
#include "optable.h"

#include <stdlib.h>
#include <string.h>

/* Required parameters first, then options. */
static int signature(const row *r, int *order) {
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < r->s.nparam; i++)
            if (!(r->s.param[i].flags & TN_P_DEFAULT) == !pass) order[n++] = i;
    return n;
}

static bool wrapped(const tni_schema_param *p) {
    return strcmp(type_of(p), type_cxx(p)) != 0;
} /* a class with .value */

static bool takes_number(const row *r, int position) { /* a pointer, or a list */
    int order[TNI_PARAMS], n = signature(r, order);
    const char *type = position < n ? type_cxx(&r->s.param[order[position]]) : "";
    return strchr(type, '*') || !strcmp(type, "int_or_list ");
}

/* A literal 0 fits an int as well as a pointer, and a number a list: where another overload has
 * one, a number of C's own types is a template. A Scalar has rules of its own. */
static bool must_be_exact(const table *all, const row *r, const char *name, int position, int i) {
    const tni_schema_param *p = &r->s.param[i];
    if (types[p->type].traits != TN_TYPE_NUMBER || p->flags & (TN_P_MAYBE | TN_P_DEFAULT))
        return false;
    for (int k = 0; k < all->n; k++)
        if (all->row[k] != r && !strcmp(all->row[k]->base, name) &&
            takes_number(all->row[k], position))
            return true;
    return false;
}

/* torch's namespaces below torch: linalg_cholesky is tn::linalg::cholesky. */
static const char *const spaces[] = {"linalg", "special", "fft", "nn", "optim", NULL};
static const char *space_of(const char *name) { /* NULL: tn itself */
    for (int i = 0; spaces[i]; i++) {
        const size_t n = strlen(spaces[i]);
        if (!strncmp(name, spaces[i], n) && name[n] == '_') return spaces[i];
    }
    return NULL;
}
static const char *space_end(const char *name) {
    const char *space = space_of(name);
    return space ? name + strlen(space) + 1 : name;
}

/* A function of C++ for a form of a row. */
typedef struct overload {
    const table *all;
    const row *r;
    const form *f;
    const char *name; /* within its namespace */
    bool method;      /* self is the object */
    bool options;     /* required parameters and a struct */
    bool constructs;  /* of a class of a module or optimizer */
    uint32_t either;  /* parameters that are a tensor or a number */
} overload;

/* One function takes tensors and numbers, unless self is the number: then it is no method, and two
 * numbers would fit. */
static uint32_t either_of(const row *r) {
    uint32_t all = 0;
    for (int k = 0; k < r->nform; k++)
        if (!(r->form[k].numbers & 1)) all |= r->form[k].numbers;
    return all;
}
static bool stands_alone(const form *f) { return !f->numbers || f->numbers & 1; }

static const char *trimmed(const char *type) { /* without the blank at the end */
    const size_t n = strlen(type);
    return text_copy(type, n - (n && type[n - 1] == ' '));
}

static bool has_defaults(const row *r) {
    for (int i = 0; i < r->s.nparam; i++)
        if (r->s.param[i].flags & TN_P_DEFAULT) return true;
    return false;
}

static bool is_many(const row *r) { return r->s.nresults > 1; }
/* The struct of r's options; one for all rows that have out alone. */
static const char *options_type(const row *r) {
    if (!has_defaults(r) && r->s.nresults == 1) return "out_options";
    return text_format("%s_options", space_end(r->name));
}

static bool form_has_options(const row *r, const form *f) {
    return !f->inplace && (has_defaults(r) || (r->forms & TN_OUT));
}
/* out is the one option: a default argument serves calls with and without it. */
static bool form_has_out_alone(const row *r, const form *f) {
    return form_has_options(r, f) && !has_defaults(r);
}

/* What a function returns: detail::as_objects or as_c, its parameter K, says how. */
static const char *result_cxx(const overload *o) {
    const char *type = o->r->result_type;
    const size_t n = strlen(type) - 1;
    if (!strcmp(type, "tn_tensor *")) return "typename K::one ";
    if (!strcmp(type, "tn_list ")) return "typename K::list ";
    if (!is_many(o->r)) return type;
    return text_format("typename K::template many<%.*s>::type ", (int)n, type);
}

/* The parameters of o, with a class for each number among them, and values: the initialiser of each
 * member of the argument struct. */
/* A float as the first option, where a struct of options could stand as well: {} means the struct,
 * not 0. Integers and bools are classes that are not made of {}. */
static bool meets_struct(const overload *o, const tni_schema_param *p, bool seen) {
    const unsigned kept = tn_type_kept(p->type, p->flags);
    return !seen && (p->flags & TN_P_DEFAULT) && (o->constructs || form_has_options(o->r, o->f)) &&
           kept == TN_T_FLOAT;
}
/* A list of numbers, of which an option has its own copy. */
static bool keeps_list(const tni_schema_param *p) {
    return p->type == TN_T_INTS || p->type == TN_T_FLOATS;
}

/* A function whose first option is a list of numbers. g++ takes {.dim = {0}} for such a list as
 * well, so the function with a struct has self in its own type, which wins over a conversion. */
static bool meets_list(const overload *o) {
    int order[TNI_PARAMS], n = signature(o->r, order), k = 0;
    if (o->constructs || o->method || !n ||
        strcmp(type_cxx(&o->r->s.param[order[0]]), "tensor_ref "))
        return false;
    while (k < n && !(o->r->s.param[order[k]].flags & TN_P_DEFAULT)) k++;
    return k < n && keeps_list(&o->r->s.param[order[k]]);
}
static void put_parameters(const overload *o, text *params, text *classes, text *check,
                           char **values) {
    int order[TNI_PARAMS], n = signature(o->r, order);
    bool seen = false; /* an option */
    const bool own = o->options && meets_list(o);
    for (int k = 0; k < n; k++) {
        int i = order[k];
        const tni_schema_param *p = &o->r->s.param[i];
        char *name = text_word(p->name);
        bool option = (p->flags & TN_P_DEFAULT) != 0, number = i < 32 && o->f->numbers >> i & 1;
        bool exact = !number && must_be_exact(o->all, o->r, o->name, k, i);
        /* A parameter that is called as its class, threshold's, would hide it. */
        if (o->constructs && !(option && o->options) && !strcmp(name, o->name))
            name = text_format("%s_", name);
        values[i] =
            text_format(option && o->options ? "o.%s%s" : "%s%s", name, wrapped(p) ? ".value" : "");
        if (o->method && i == 0) values[i] = "p_";
        if ((option && o->options) || (o->method && i == 0)) continue;
        put(params, "%s", params->n ? ", " : "");
        if (own && !k) {
            put(classes, ", class S, class = detail::refers<S>");
            put(params, "const S &%s", name);
            values[i] = text_format("tensor_ref(%s).value", name);
        } else if (i < 32 && o->either >> i & 1) {
            put(params, "tensor_or_number %s", name);
        } else if (number || exact) {
            put(classes, ", class N%d", i);
            put(check, ", typename is_number<N%d>::type * = nullptr", i);
            put(params, "N%d %s", i, name);
            values[i] = number       ? text_format("is_number<N%d>::scalar(%s)", i, name)
                        : wrapped(p) ? text_format("%s(%s).value", trimmed(type_cxx(p)), name)
                                     : text_format("(%s)%s", trimmed(type_of(p)), name);
        } else {
            const bool meets = meets_struct(o, p, seen);
            if (meets) values[i] = text_format("%s.value", name);
            put(params, meets ? "first_option<%.*s> %s" : "%.*s%s",
                (int)strlen(type_cxx(p)) - meets, type_cxx(p), name);
            seen = seen || option;
            if (option) put(params, " = %s", default_of(p, SPELL_CXX, ""));
        }
    }
    if (o->options) put(params, "%s%s o", params->n ? ", " : "", options_type(o->r));
    if (o->options && form_has_out_alone(o->r, o->f)) put(params, " = {}");
}

/* What o hands on: the call of C's function with a struct; a method's is that of the function. The
 * call depends on K and has no variable, so that a compiler reads it and does no more. */
static void put_function_body(text *to, const overload *o, char *const *values) {
    const row *r = o->r;
    const bool out = o->options && (r->forms & TN_OUT) && !o->f->inplace;
    const char *none = r->s.nresults == 1 ? "nullptr" : "{}";
    text line = {NULL, 0, 0};
    put(&line, "    return K::%s(tn_%s%s_at, at, {", o->f->inplace ? "write" : "call", r->name,
        o->f->inplace ? "_inplace" : "");
    put_initialisers(&line, &r->s,
                     out                 ? "o.out.value"
                     : r->forms & TN_OUT ? none
                                         : NULL,
                     o->f->numbers, o->either, values);
    put(&line, "}%s);", !out ? "" : r->s.nresults == 1 ? ", o.out" : ", o.out.value");
    put_wrapped(to, line.at, 8, "");
    put(to, "}\n");
}
static void put_method_body(text *to, const overload *o) {
    int order[TNI_PARAMS], n = signature(o->r, order);
    text line = {NULL, 0, 0};
    put(&line, "    return tn::%s<K>(p_", o->name);
    for (int k = 0; k < n; k++) {
        const tni_schema_param *p = &o->r->s.param[order[k]];
        if (order[k] && !(o->options && (p->flags & TN_P_DEFAULT)))
            put(&line, ", %s", text_word(p->name));
    }
    put(&line, "%s, at);", o->options ? ", o" : "");
    put_wrapped(to, line.at, 8, "");
    put(to, "}\n");
}

/* windows.h has macros min and max with arguments, which brackets keep out. */
static const char *declared(const char *name) {
    return !strcmp(name, "min") || !strcmp(name, "max") ? text_format("(%s)", name) : name;
}

static void put_overload(text *to, const overload *o) {
    char *values[TNI_PARAMS];
    text head = {NULL, 0, 0}, params = {NULL, 0, 0}, classes = {NULL, 0, 0}, check = {NULL, 0, 0};
    put_parameters(o, &params, &classes, &check, values);
    /* The body of a template that nobody calls is not compiled: an include takes a quarter less. */
    const bool use = result_is_all(o->r, o->f->inplace) && !(o->options && o->r->forms & TN_OUT);
    put(&head, "template <class K = as_objects%s> %s", classes.n ? classes.at : "",
        use ? "TN_USE_RESULT " : "");
    /* g++ takes {.dim = {0}} for a list as well: of two methods the less qualified one wins. */
    const bool yields = !o->options && form_has_options(o->r, o->f);
    put(&head, "%s%s%s(%s%ssite at = site()%s)%s%s {", o->method ? "" : "inline ", result_cxx(o),
        declared(o->name), params.n ? params.at : "", params.n ? ", " : "", check.n ? check.at : "",
        o->method ? " const" : "", o->method && yields ? " volatile" : "");
    put_wrapped(to, head.at, 4, "");
    if (o->method)
        put_method_body(to, o);
    else
        put_function_body(to, o, values);
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

/* Is torch's short name free for this row: no row before it takes the same required arguments under
 * it. */
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

/* The name of a form: torch's, or C's where rows before have taken that with the same arguments. */
static char *cxx_name(const table *all, const row *r, const form *f) {
    const bool bar = f->name[strlen(f->name) - 1] == '_';
    const char *name = text_format("%s%s", r->base, bar ? "_" : "");
    return text_format("%s", space_end(base_is_free(all, r) ? name : f->name));
}

static bool is_method(const row *r) {
    const tni_schema_param *p = &r->s.param[0];
    return r->s.nparam && p->type == TN_T_TENSOR && !strcmp(text_word(p->name), "self") &&
           !(p->flags & TN_P_OPTIONAL) && !space_of(r->name);
}

/* The functions of a form: with options one by one, and in a struct. */
static void put_form(text *to, const table *all, const row *r, const form *f, bool method) {
    overload o = {all, r, f, cxx_name(all, r, f), method, false, false, 0};
    if (!f->numbers) o.either = either_of(r);
    if (!form_has_out_alone(r, f)) put_overload(to, &o);
    o.options = true;
    if (form_has_options(r, f)) put_overload(to, &o);
}

/* The members of a row's struct of options; out first, as in C. */
static char *options_members(const row *r) {
    text t = {NULL, 0, 0};
    const char *out =
        r->s.nresults == 1 ? "tensor_ref" : text_format("results_ref<%s>", trimmed(r->result_type));
    if (r->forms & TN_OUT) put(&t, "    TNI_OPTION(%s, out, %s())\n", out, out);
    for (int i = 0; i < r->s.nparam; i++) {
        const tni_schema_param *p = &r->s.param[i];
        if (!(p->flags & TN_P_DEFAULT)) continue;
        const char *value = default_of(p, SPELL_CXX, "");
        put(&t, "    TNI_OPTION(%s%s, %.*s, %s)\n", keeps_list(p) ? "kept_" : "",
            trimmed(type_cxx(p)), p->name.n, p->name.at, value);
    }
    return t.at;
}
static bool has_options(const row *r) { return has_defaults(r) || (r->forms & TN_OUT); }

/* The first row of this namespace with the same options. */
static const row *same_options(const table *all, const row *r) {
    const char *space = space_of(r->name), *members = options_members(r);
    for (int i = 0; i < all->n && all->row[i] != r; i++)
        if (has_options(all->row[i]) && space_of(all->row[i]->name) == space &&
            !strcmp(options_members(all->row[i]), members))
            return all->row[i];
    return r;
}

/* The options of a row: a struct, or another name of one before. */
void put_options(text *to, const table *all, const row *r) {
    if (!strcmp(options_type(r), "out_options")) return; /* of cxx.h */
    const char *type = options_type(r);
    const row *first = same_options(all, r);
    if (first != r)
        put(to, "typedef %s %s;\n", options_type(first), type);
    else
        put(to, "struct %s {\n    typedef %s self_;\n%s};\n", type, type, options_members(r));
}

/* A row as functions. */
void put_cxx_row(text *to, const table *all, const row *r) {
    const char *space = space_of(r->name);
    if (space) put(to, "namespace %s {\n", space);
    if (has_options(r)) put_options(to, all, r);
    for (int k = 0; k < r->nform; k++)
        if (stands_alone(&r->form[k])) put_form(to, all, r, &r->form[k], false);
    if (space) put(to, "}\n");
}

/* C's names: the same functions with results as in C. */
void put_cxx_names(text *to, const table *all, const row *r) {
    for (int k = 0; k < r->nform; k++) {
        const char *space = space_of(r->name);
        put_wrapped(to,
                    text_format("#define tn_%s(...) tn::%s%s%s<tn::detail::as_c>(__VA_ARGS__)",
                                r->form[k].name, space ? space : "", space ? "::" : "",
                                cxx_name(all, r, &r->form[k])),
                    4, " \\");
    }
}

/* Row r as a constructor of the class of its row, and a forward as the call of an object. */
void put_cxx_constructor(text *to, const row *r, bool named) {
    static const table none = {NULL, 0};
    overload o = {&none, r, &r->form[0], space_end(r->name), false, named, true, 0};
    char *values[TNI_PARAMS];
    text params = {NULL, 0, 0}, classes = {NULL, 0, 0}, check = {NULL, 0, 0}, line = {NULL, 0, 0};
    if (named && !has_defaults(r)) return;
    put_parameters(&o, &params, &classes, &check, values);
    /* g++ takes {.padding = 1} for the list {1} as well: a constructor that is no template wins. */
    put_wrapped(to,
                text_format("    %sexplicit %s(%s%ssite at = site::here()) {",
                            !named && has_defaults(r) ? "template <class Z = void> " : "", o.name,
                            params.n ? params.at : "", params.n ? ", " : ""),
                8, "");
    put(&line, "        const tn_%s_args a = {", r->name);
    put_initialisers(&line, &r->s, out_null(r), 0, 0, values);
    put(&line, "};");
    put_wrapped(to, line.at, 12, "");
    put(to, "        this->made(tn_%s_at(at.file, at.line, &a));\n    }\n", r->name);
}
void put_cxx_call(text *to, const row *r, bool named) {
    static const table none = {NULL, 0};
    overload o = {&none, r, &r->form[0], space_end(r->name), true, named, false, 0};
    char *values[TNI_PARAMS];
    text params = {NULL, 0, 0}, classes = {NULL, 0, 0}, check = {NULL, 0, 0}, body = {NULL, 0, 0};
    if (named && !has_defaults(r)) return;
    put_parameters(&o, &params, &classes, &check, values);
    values[0] = text_format("this->p_"); /* the module */
    put_wrapped(to,
                text_format("    %soperator()(%s%ssite at = site::here()) const {", result_cxx(&o),
                            params.n ? params.at : "", params.n ? ", " : ""),
                8, "");
    put_function_body(&body, &o, values);
    for (const char *at = body.at, *end; *at; at = end + 1) { /* a line */
        end = strchr(at, '\n');
        put(to, "    %.*s\n", (int)(end - at), at);
    }
}

/* The results of r in objects, if it has several. */
void put_cxx_results(text *to, const row *r) {
    text made = {NULL, 0, 0}, lent = {NULL, 0, 0};
    if (r->s.nresults < 2) return;
    const char *c = text_copy(r->result_type, strlen(r->result_type) - 1), *name = c + 3;
    put(to, "struct %s {\n    tensor ", name);
    for (int i = 0; i < r->s.nresults; i++) {
        const tni_word w = r->s.result[i];
        put(to, "%s%.*s", i ? ", " : "", w.n, w.at);
        put(&made, "%stensor::take(c.%.*s)", i ? ", " : "", w.n, w.at);
        put(&lent, "%stensor(c.%.*s)", i ? ", " : "", w.n, w.at);
    }
    put(to, ";\n};\ntemplate <>\nstruct detail::in_objects<%s> {\n    typedef %s type;\n", c, name);
    put_wrapped(to, text_format("    static type made(const %s &c) {", c), 8, "");
    put_wrapped(to, text_format("        type r = {%s};", made.at), 12, "");
    put(to, "        return r;\n    }\n");
    put_wrapped(to, text_format("    static type borrowed(const %s &c) {", c), 8, "");
    put_wrapped(to, text_format("        type r = {%s};", lent.at), 12, "");
    put(to, "        return r;\n    }\n};\n");
}

/* "tensor " where the text of a header says it by K. */
static const char *result_shown(const row *r) {
    if (!strcmp(r->result_type, "tn_tensor *")) return "tensor ";
    if (!strcmp(r->result_type, "tn_list ")) return "tensors ";
    return is_many(r) ? r->result_type + strlen("tn_") : r->result_type;
}

static void put_shown(text *to, const overload *o) { /* "(integer dim, flag keepdim = false)" */
    int order[TNI_PARAMS], n = signature(o->r, order);
    const char *before = "";
    put(to, "(");
    for (int k = o->method; k < n; k++) {
        const int i = order[k];
        const tni_schema_param *p = &o->r->s.param[i];
        const char *type = type_cxx(p);
        if (i < 32 && o->f->numbers >> i & 1) type = "number ";
        if (i < 32 && o->either >> i & 1) type = "tensor_or_number ";
        put(to, "%s%s%.*s", before, type, p->name.n, p->name.at);
        if (p->flags & TN_P_DEFAULT)
            put(to, " = %s", p->value.none ? "none" : default_of(p, SPELL_CXX, ""));
        before = ", ";
    }
    put(to, ")\n");
}

void put_cxx_signatures(text *to, const table *all, const row *r, const char *next) {
    static const form made = {NULL, 0, false};
    const overload constructor = {all, r, &made, r->name, false, false, true, 0};
    const char *space = space_of(r->name), *before = "";
    if (r->kind != ROW_OPERATOR) {
        put(to, "tn::%s::%s", r->kind == ROW_MODULE ? "nn" : "optim", r->name);
        put_shown(to, &constructor);
    }
    for (int k = 0; k < r->nform; k++) {
        const form *f = &r->form[k];
        overload o = {all, r, f, cxx_name(all, r, f), is_method(r) && !f->numbers, false, false, 0};
        if (!stands_alone(f)) continue;
        if (!f->numbers) o.either = either_of(r);
        put(to, "%s%s%s%s%s%s", before, result_shown(r),
            o.method ? "x." : "tn::", space ? space : "", space ? "::" : "", o.name);
        put_shown(to, &o);
        before = next;
    }
}

/* A call with each option of r, for the tests. */
static void put_row_calls(text *to, const table *all, const row *r) {
    const char *space = space_of(r->name);
    for (int k = 0; k < r->nform; k++) {
        const form *f = &r->form[k];
        if (!stands_alone(f) || !form_has_options(r, f)) continue;
        put_option_calls(
            to, r, f,
            text_format("%s%s%s", space ? space : "", space ? "::" : "", cxx_name(all, r, f)),
            is_method(r));
    }
}

static void write_functions(const table *all) {
    text t = {NULL, 0, 0}, calls = {NULL, 0, 0};
    put_head(&t, "overloads", "C++: every operator as a function, with default arguments",
             "OVERLOADS");
    put(&t, "#include \"../cxx.h\"\n#include \"../ops.h\"\n\n"
            "#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)\n"
            "TNI_TN_BEGIN\n");
    for (int i = 0; i < all->n; i++) put_cxx_row(&t, all, all->row[i]);
    put(&t, "TNI_TN_END\n\n/* C's names: results are as in C. */\n");
    for (int i = 0; i < all->n; i++) put_cxx_names(&t, all, all->row[i]);
    put(&t, "#endif\n\n#endif\n");
    file_write("src/api/ops/overloads.h", &t);
    put(&calls, "/* options.inl - C++: each function and method with one option, for tests/cxx.\n"
                " * Generated by tools/optable from src/ops; `make headers` writes it again. */\n");
    for (int i = 0; i < all->n; i++) put_row_calls(&calls, all, all->row[i]);
    file_write("src/gen/options.inl", &calls);
}

/* One class: where it is split into classes on each other, each name is looked up in all of them,
 * which costs more than the walk through the members of one that is not complete. */
static void write_methods(const table *all) {
    text t = {NULL, 0, 0};
    put_head(&t, "methods", "C++: every operator that takes a tensor self as a method", "METHODS");
    put(&t, "#include \"overloads.h\"\n\n"
            "#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)\nTNI_TN_BEGIN\n"
            "/* The operators as methods of tn::tensor. */\n"
            "class methods : public detail::handle {\n  public:\n");
    for (int i = 0; i < all->n; i++) {
        const row *r = all->row[i];
        for (int k = 0; is_method(r) && k < r->nform; k++)
            if (!r->form[k].numbers) put_form(&t, all, r, &r->form[k], true);
    }
    put(&t, "};\nTNI_TN_END\n#endif\n\n#endif\n");
    file_write("src/api/ops/methods.h", &t);
}

static bool results_seen(const table *t, int i) {
    for (int k = 0; k < i; k++)
        if (!strcmp(t->row[k]->result_type, t->row[i]->result_type)) return true;
    return false;
}

static void write_results(const table *all) {
    text t = {NULL, 0, 0};
    put_head(&t, "results", "C++: several results of an operator", "RESULTS");
    put(&t, "#include \"../cxx_operators.h\"\n\n"
            "#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)\nTNI_TN_BEGIN\n");
    for (int i = 0; i < all->n; i++)
        if (!results_seen(all, i)) put_cxx_results(&t, all->row[i]);
    put(&t, "TNI_TN_END\n#endif\n\n#endif\n");
    file_write("src/api/ops/results.h", &t);
}

void write_cxx(const table *all) {
    write_functions(all);
    write_methods(all);
    write_results(all);
}
