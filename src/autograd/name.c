/* name.c - recorded calls by the names that torch has for them: "AddBackward0".
 *
 * The name follows from the row's schema; where torch has another one, the row says it in .node,
 * with conditions where it depends on the arguments (docs/rows.md). */
#include "autograd.h"

/* Of ASCII: in a Turkish locale toupper('i') is no I. */
static char name_upper(char c) { return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c); }

/* "max_pool2d(..)" as "MaxPool2DBackward0". */
static void name_of_schema(const char *schema, char *to, size_t room) {
    char name[96] = "";
    size_t n = 0;
    bool upper = true;
    for (const char *c = schema; *c && *c != '.' && *c != '(' && n < sizeof name; c++) {
        if (*c != '_') name[n++] = upper ? name_upper(*c) : *c;
        upper = *c == '_' || (*c >= '0' && *c <= '9');
    }
    snprintf(to, room, "%.*sBackward0", (int)n, name);
}

static bool name_is(const char *at, size_t n, const char *word) {
    return strlen(word) == n && memcmp(at, word, n) == 0;
}

/* Whether input i is None, a number, or a tensor of so many dimensions. */
static bool name_tensor_is(const tni_slot *s, const char *value, size_t n) {
    const bool none = s->kind == TNI_SLOT_ABSENT, number = s->kind == TNI_SLOT_NUMBER;
    if (name_is(value, n, "None")) return none;
    if (name_is(value, n, "number")) return none || number;
    return !none && !number && n == 1 && *value - '0' == s->ndim;
}

/* A list or an integer; the tape keeps the arguments. */
static bool name_value_is_none(const tni_node *h, const tn_param *p) {
    const char *at = (const char *)((const int64_t *)(const void *)h + h->args_at) + p->offset;
    int64_t integer;
    tn_ints list;
    if (p->type == TN_T_INT) {
        memcpy(&integer, at, sizeof integer);
        return integer == TN_NONE;
    }
    if (p->type != TN_T_INTS) return false;
    memcpy(&list, at, sizeof list);
    return list.n < 0;
}

/* One condition: "exponent=number". */
static bool name_holds(const tni_node *h, const char *at, size_t n) {
    const tn_gen *gen = h->row->gen;
    const char *is = (const char *)memchr(at, '=', n);
    const size_t name = is ? (size_t)(is - at) : n;
    const tn_param *p = is ? tn_param_named(gen, at, name) : NULL;
    if (!p) return false;
    for (int k = 0; k < gen->nfixed; k++)
        if (tn_gen_tensor(gen, k) == p) return name_tensor_is(&h->slot[k], is + 1, n - name - 1);
    return name_is(is + 1, n - name - 1, "None") && name_value_is_none(h, p);
}

/* Writes the name of this alternative, up to " | ", if its conditions hold. */
static bool name_alternative(const tni_node *h, const char *at, char *to, size_t room) {
    const size_t name = strcspn(at, " ");
    for (const char *c = at + name; *c == ' ' && c[1] != '|';) {
        const size_t n = strcspn(++c, " ");
        if (!name_holds(h, c, n)) return false;
        c += n;
    }
    snprintf(to, room, "%.*s", (int)name, at);
    return true;
}

TN_API void tn_history_text(const tn_history *h, char *text, size_t room) {
    if (!room) return;
    text[0] = 0;
    if (!h) return;
    if (!strchr(h->row->schema, '(')) { /* a custom function has its own name */
        snprintf(text, room, "%s", h->row->name);
        return;
    }
    const tn_row *row = h->named.as ? h->named.as : h->row;
    for (const char *at = row->node; at; at = strstr(at, " | "), at = at ? at + 3 : NULL)
        if (name_alternative(h, at, text, room)) return;
    name_of_schema(row->schema, text, room);
}
