/* cxx_calls.c - a call of each function, method and class of C++ with one option alone in braces:
 * src/gen/options.inl and options_nn.inl, which tests/cxx compiles. */
#include "optable.h"

#include <string.h>

static const char *value_text(const tni_schema_param *p) {
    static const struct {
        const char *type, *value;
    } values[] = {{"tensor_ref ", "x"},     {"tensor_list ", "{x, x}"},
                  {"int_or_list ", "{0}"},  {"size_list ", "{1}"},
                  {"float_list ", "{1.0}"}, {"flag ", "true"},
                  {"integer ", "1"},        {"double ", "1.0"},
                  {"number ", "2"},         {"tn_generator *", "nullptr"},
                  {"const char *", "\"a\""}};
    const char *type = type_cxx(p);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (!strcmp(type, values[i].type)) return values[i].value;
    return text_format("%s%.*s()", !strncmp(type, "module", 6) ? "tn::" : "", (int)strlen(type) - 1,
                       type);
}

/* The required arguments, of which those in `numbers` are numbers, each followed by a comma. */
static char *given_text(const row *r, uint32_t numbers, bool method) {
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    for (int i = method; i < r->s.nparam; i++) {
        const tni_schema_param *p = &r->s.param[i];
        if (p->flags & TN_P_DEFAULT) continue;
        put(&t, "%s, ", i < 32 && numbers >> i & 1 ? "2" : value_text(p));
    }
    return t.at;
}

/* head: text before the arguments; tail: after the braces. */
static void put_calls(text *to, const row *r, const char *head, const char *tail) {
    if (r->forms & TN_OUT)
        put(to, "%s{.out = %s}%s\n", head,
            r->s.nresults == 1   ? "x"
            : r->s.nresults == 2 ? "{x, x}"
                                 : "{x, x, x}",
            tail);
    for (int i = 0; i < r->s.nparam; i++) {
        const tni_schema_param *p = &r->s.param[i];
        if (p->flags & TN_P_DEFAULT)
            put(to, "%s{.%.*s = %s}%s\n", head, p->name.n, p->name.at, value_text(p), tail);
    }
}

void put_option_calls(text *to, const row *r, const form *f, const char *name, bool method) {
    if (!f->numbers && method)
        put_calls(to, r, text_format("(void)x.%s(%s", name, given_text(r, 0, true)), ");");
    put_calls(to, r, text_format("(void)tn::%s(%s", name, given_text(r, f->numbers, false)), ");");
}

void put_option_classes(text *to, const row *r, const char *name) {
    put_calls(to, r, text_format("{ tn::%s m(%s", name, given_text(r, 0, false)), "); (void)m; }");
}
