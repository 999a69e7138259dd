/* cxx.c - src/api/ops/overloads.h, and those of modules: overloads with default arguments, numbers
 * in a tensor's place, options by name. */
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

static bool is_pointer(const row *r, int position) {
    int order[TNI_PARAMS], n = signature(r, order);
    return position < n && strchr(type_cxx(&r->s.param[order[position]]), '*') != NULL;
}

/* A literal 0 fits an int as well as a pointer: where another overload has a pointer, a number of
 * C's own types is a template. A Scalar is a tn_number, which has rules of its own. */
static bool must_be_exact(const table *all, const row *r, const char *name, int position, int i) {
    const tni_schema_param *p = &r->s.param[i];
    if (types[p->type].traits != TN_TYPE_NUMBER || p->flags & (TN_P_MAYBE | TN_P_DEFAULT))
        return false;
    for (int k = 0; k < all->n; k++)
        if (all->row[k] != r && !strcmp(all->row[k]->base, name) &&
            is_pointer(all->row[k], position))
            return true;
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
    text head = {NULL, 0, 0}, params = {NULL, 0, 0}, line = {NULL, 0, 0}, classes = {NULL, 0, 0},
         check = {NULL, 0, 0};
    for (int k = 0; k < n; k++) {
        int i = order[k];
        const tni_schema_param *p = &r->s.param[i];
        char *name = text_word(p->name);
        bool option = (p->flags & TN_P_DEFAULT) != 0, number = i < 32 && o->f->numbers >> i & 1;
        bool exact = !number && must_be_exact(o->all, r, o->name, k, i);
        values[i] =
            text_format(option && o->options ? "o.%s%s" : "%s%s", name, wrapped(p) ? ".value" : "");
        if (option && o->options) continue;
        put(&params, "%s", params.n ? ", " : "");
        if (number || exact) {
            put(&classes, "%sclass N%d", classes.n ? ", " : "", i);
            put(&check, "%stypename tni_is_number<N%d>::type * = nullptr", check.n ? ", " : "", i);
            put(&params, "N%d %s", i, name);
            values[i] =
                number ? text_format("tni_is_number<N%d>::scalar(%s)", i, name)
                       : text_format("(%.*s)%s", (int)strlen(type_of(p)) - 1, type_of(p), name);
        } else {
            put(&params, "%s%s", type_cxx(p), name);
            if (option) put(&params, " = %s", default_of(p, SPELL_CXX, ""));
        }
    }
    if (o->options) put(&params, "%stn_%s_options o", params.n ? ", " : "", r->name);
    put(&params, "%stn_site at = tn_site::here()", params.n ? ", " : "");
    if (check.n) put(&params, ", %s", check.at);
    /* The body of a template that nobody calls is not compiled: an include takes a quarter less. */
    put(&head, "template <%s> ", classes.n ? classes.at : "class = void");
    put(&head, "inline %stn_%s(%s) {", r->result_type, o->name, params.at);
    put_wrapped(to, head.at, 4, "");
    put(&line, "    const tn_%s_args a = {", r->name);
    put_initialisers(&line, &r->s, o->options && out_null(r) ? "o.out" : out_null(r), o->f->numbers,
                     values);
    put(&line, "};");
    put_wrapped(to, line.at, 8, "");
    put(to, "    return tn_%s%s_at(at.file, at.line, &a);\n}\n", r->name,
        o->f->inplace ? "_inplace" : "");
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

void put_cxx_row(text *to, const table *all, const row *r) {
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

void put_cxx_options(text *to, const table *all, const row *r) {
    text t = {NULL, 0, 0};
    if (r->forms & TN_OUT) put(&t, "    %sout = {};\n", r->result_type);
    for (int i = 0; i < r->s.nparam; i++) {
        const tni_schema_param *p = &r->s.param[i];
        if (p->flags & TN_P_DEFAULT)
            put(&t, "    %s%.*s = %s;\n", type_cxx(p), p->name.n, p->name.at,
                default_of(p, SPELL_CXX, ""));
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
    put(to, "\n#if defined(__cplusplus) && !defined(TN_NO_OVERLOADS)\nTNI_NAMESPACE_BEGIN\n");
    for (int i = 0; i < all->n; i++) put_cxx_row(to, all, all->row[i]);
    put(to, "#if __cplusplus >= 202002L /* options by name: tn_sum(x, {.keepdim = true}) */\n");
    for (int i = 0; i < all->n; i++) put_cxx_options(to, all, all->row[i]);
    put(to, "#endif\nTNI_NAMESPACE_END\n#endif\n");
}
