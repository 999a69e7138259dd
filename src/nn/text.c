/* text.c - a module as torch prints it. */
#include "nn.h"

#include <stdlib.h>

/* The shortest decimal that reads back as v, in Python's spelling: 0.1, 1e-05, 3.0. */
TN_PRIV void tni_float_text(char *text, size_t room, double v) {
    char digits[40], *e, *c;
    int precision = 1, exponent, count;
    if (v != v || v - v != 0) {
        snprintf(text, room, "%s", v != v ? "nan" : v > 0 ? "inf" : "-inf");
        return;
    }
    do snprintf(digits, sizeof digits, "%.*e", precision - 1, v);
    while (strtod(digits, NULL) != v && precision++ < 17);
    for (c = digits; *c; c++) /* a host's locale may write a comma */
        if (*c == ',') *c = '.';
    e = strchr(digits, 'e');
    exponent = atoi(e + 1);
    count = precision - 1;
    if (exponent < -4 || exponent >= 16) {
        snprintf(text, room, "%.*se%s%02d", (int)(e - digits), digits, exponent < 0 ? "-" : "+",
                 abs(exponent));
        return;
    }
    count -= exponent;
    snprintf(text, room, "%.*f", count > 1 ? count : 1, v);
    for (c = text; *c; c++)
        if (*c == ',') *c = '.';
}

/* --- options ---------------------------------------------------------------------------------- */

/* An item of a row's `repr`: [?]name[[count]][=]['] */
typedef struct repr_item {
    tni_span name;
    bool unless_default, named, quoted, tuple;
    int count; /* of a tuple, where one number stands for all; 0: as many as there are */
} repr_item;

static bool repr_item_next(tni_span *list, repr_item *t) {
    tni_span s;
    if (!tni_item_next(list, &s)) return false;
    memset(t, 0, sizeof *t);
    t->unless_default = s.at[0] == '?';
    s.at += t->unless_default;
    s.n -= t->unless_default;
    for (; s.n > 0; s.n--) {
        char last = s.at[s.n - 1];
        if (last == '=')
            t->named = true;
        else if (last == '\'')
            t->quoted = true;
        else if (last == ']')
            t->tuple = true;
        else if (last >= '0' && last <= '9' && t->tuple)
            t->count = last - '0';
        else if (last != '[')
            break;
    }
    t->name = s;
    return true;
}

static void repr_int(tni_buffer *b, int64_t v) {
    if (v == TN_NONE)
        tni_buffer_text(b, "None");
    else
        tni_buffer_text(b, "%lld", (long long)v);
}

static void repr_float(tni_buffer *b, double v) {
    char text[48];
    tni_float_text(text, sizeof text, v);
    tni_buffer_text(b, "%s", text);
}

static void repr_ints(tni_buffer *b, tn_ints list, const repr_item *t) {
    int64_t n = t->count && list.n == 1 ? t->count : list.n; /* one number stands for all */
    if (list.n < 0) {
        tni_buffer_text(b, "None");
    } else if (list.n == 1 && !t->tuple) {
        repr_int(b, list.at[0]);
    } else {
        for (int64_t i = 0; i < n; i++) {
            tni_buffer_text(b, "%s", i ? ", " : "(");
            repr_int(b, list.at[list.n == 1 ? 0 : i]);
        }
        tni_buffer_text(b, n == 0 ? "()" : n == 1 ? ",)" : ")");
    }
}

static void repr_maybe(tni_buffer *b, const tn_param *p, const char *at) {
    tn_maybe v = {0, TN_GIVEN};
    if (p->flags & TN_P_MAYBE)
        memcpy(&v, at, sizeof v);
    else
        memcpy(&v.value, at, sizeof v.value);
    if (v.given == TN_GIVEN)
        repr_float(b, v.value);
    else
        tni_buffer_text(b, "None");
}

static void repr_small(tni_buffer *b, const tn_param *p, const char *at, const char *quote) {
    int32_t v;
    memcpy(&v, at, sizeof v);
    if (v == 0)
        tni_buffer_text(b, "None");
    else if (p->type == TN_T_ENUM)
        tni_buffer_text(b, "%s%s%s", quote, p->words[v - 1], quote);
    else if (p->type == TN_T_DTYPE)
        tni_buffer_text(b, "torch.%s", tn_dtype_name((tn_dtype)v));
    else
        tni_buffer_text(b, "%s", tn_device_name(v));
}

static void repr_value(tni_buffer *b, const tn_module *m, const tn_param *p, const repr_item *t) {
    const char *at = (const char *)tni_options(m) + p->offset;
    int64_t v;
    tn_ints list;
    const char *string;
    switch (p->type) {
    case TN_T_INT:
        memcpy(&v, at, sizeof v);
        repr_int(b, v);
        break;
    case TN_T_BOOL: tni_buffer_text(b, *(const bool *)at ? "True" : "False"); break;
    case TN_T_FLOAT:
    case TN_T_SCALAR: repr_maybe(b, p, at); break;
    case TN_T_INTS:
        memcpy(&list, at, sizeof list);
        repr_ints(b, list, t);
        break;
    case TN_T_STRING:
        memcpy(&string, at, sizeof string);
        tni_buffer_text(b, string ? "'%s'" : "None", string ? string : "");
        break;
    case TN_T_ENUM:
    case TN_T_DTYPE:
    case TN_T_DEVICE: repr_small(b, p, at, t->quoted ? "'" : ""); break;
    default: tni_buffer_text(b, "..."); break;
    }
}

static bool repr_list_same(tn_ints a, tn_ints b) {
    int64_t n = a.n > b.n ? a.n : b.n;
    if (a.n < 0 || b.n < 0) return a.n == b.n;
    for (int64_t i = 0; i < n; i++) /* one number stands for all */
        if ((a.n != 1 && i >= a.n) || (b.n != 1 && i >= b.n) ||
            a.at[a.n == 1 ? 0 : i] != b.at[b.n == 1 ? 0 : i])
            return false;
    return true;
}

static bool repr_is_default(const tn_module *m, const tn_param *p) {
    const char *at = (const char *)tni_options(m) + p->offset;
    const char *usual = (const char *)m->gen->make->defaults + p->offset;
    tn_maybe a, b;
    tn_ints x, y;
    switch (p->type) {
    case TN_T_BOOL: return *(const bool *)at == *(const bool *)usual;
    case TN_T_ENUM:
    case TN_T_DTYPE:
    case TN_T_DEVICE: return memcmp(at, usual, sizeof(int32_t)) == 0;
    case TN_T_FLOAT:
        if (!(p->flags & TN_P_MAYBE)) return memcmp(at, usual, sizeof(double)) == 0;
        memcpy(&a, at, sizeof a);
        memcpy(&b, usual, sizeof b);
        return a.given == b.given &&
               (a.given != TN_GIVEN || memcmp(&a.value, &b.value, sizeof(double)) == 0);
    case TN_T_INTS:
        memcpy(&x, at, sizeof x);
        memcpy(&y, usual, sizeof y);
        return repr_list_same(x, y);
    case TN_T_INT: return memcmp(at, usual, sizeof(int64_t)) == 0;
    default: return memcmp(at, usual, sizeof(void *)) == 0; /* a pointer */
    }
}

static void repr_options(tni_buffer *b, const tn_module *m) {
    tni_span list = {m->row->repr, m->row->repr ? (int)strlen(m->row->repr) : 0};
    repr_item t;
    bool first = true;
    if (!m->gen || !m->gen->make) return;
    while (repr_item_next(&list, &t)) {
        const tn_gen *gen = m->gen->make;
        const tn_param *p = NULL;
        for (int i = 0; i < gen->nparam && !p; i++)
            if (tni_span_is(t.name, gen->param[i].name)) p = &gen->param[i];
        if (!p || (t.unless_default && repr_is_default(m, p))) continue;
        tni_buffer_text(b, "%s", first ? "" : ", ");
        if (t.named) tni_buffer_text(b, "%s=", p->name);
        repr_value(b, m, p, &t);
        first = false;
    }
}

/* --- the tree --------------------------------------------------------------------------------- */

static void repr_module(tni_buffer *b, const tn_module *m, int indent);

static void repr_child(tni_buffer *b, const tn_module *m, int i, int indent) {
    const tn_module *child = tn_part_child_of(m, i);
    if (child)
        repr_module(b, child, indent);
    else
        tni_buffer_text(b, "None");
}

static int repr_next_child(const tn_module *m, int i) {
    while (i < m->nparts && m->part[i].kind != TN_CHILD) i++;
    return i;
}

/* The number of children from i on that print the same; *one gets the text. */
static int repr_equal(const tn_module *m, int i, int indent, tni_buffer *one, int *last) {
    int n = 1;
    repr_child(one, m, i, indent);
    *last = i;
    for (int k = repr_next_child(m, i + 1); k < m->nparts && !one->failed;
         k = repr_next_child(m, k + 1), n++) {
        tni_buffer other = {NULL, 0, 0, false};
        bool same;
        repr_child(&other, m, k, indent);
        if (other.failed) one->failed = true;
        same = !other.failed && other.n == one->n && memcmp(other.at, one->at, (size_t)one->n) == 0;
        tni_buffer_free(&other);
        if (!same) break;
        *last = k;
    }
    return n;
}

static void repr_children(tni_buffer *b, const tn_module *m, int indent) {
    bool list = m->row->repr && strcmp(m->row->repr, "[]") == 0;
    for (int i = repr_next_child(m, 0), last; i < m->nparts && !b->failed;
         i = repr_next_child(m, last + 1)) {
        tni_buffer one = {NULL, 0, 0, false};
        int n = 1;
        last = i;
        tni_buffer_text(b, "%*s(%s", 2 * indent, "", m->part[i].name);
        if (list) n = repr_equal(m, i, indent, &one, &last);
        if (n > 1)
            tni_buffer_text(b, "-%s): %d x ", m->part[last].name, n);
        else
            tni_buffer_text(b, "): ");
        if (list && one.n)
            tni_buffer_add(b, one.at, one.n);
        else
            repr_child(b, m, i, indent);
        if (one.failed) b->failed = true;
        tni_buffer_text(b, "\n");
        tni_buffer_free(&one);
    }
}

static void repr_module(tni_buffer *b, const tn_module *m, int indent) {
    bool children = repr_next_child(m, 0) < m->nparts;
    tni_buffer_text(b, "%s(", m->type);
    if (!children) {
        repr_options(b, m);
    } else {
        int64_t before = b->n;
        tni_buffer_text(b, "\n%*s", 2 * (indent + 1), "");
        int64_t start = b->n;
        repr_options(b, m);
        if (b->n == start) b->n = before;
        tni_buffer_text(b, "\n");
        repr_children(b, m, indent + 1);
        tni_buffer_text(b, "%*s", 2 * indent, "");
    }
    tni_buffer_text(b, ")");
}

static char *repr_text(const tn_module *m) {
    tni_buffer b = {NULL, 0, 0, false};
    char *text = NULL;
    if (!m) return tni_nn_error(TN_INVALID, "module is NULL"), (char *)NULL;
    repr_module(&b, m, 0);
    if (!b.failed) text = tni_text_copy(b.at, (size_t)b.n);
    tni_buffer_free(&b);
    return text;
}

TN_API char *tn_module_text_at(const char *file, int line, const tn_module *m) {
    tni_step step;
    char *text;
    if (!tn_ok()) return NULL;
    tni_place_begin(&step, file, line);
    text = repr_text(m);
    tni_step_end(&step);
    return text;
}

TN_API bool tn_module_print_at(const char *file, int line, const tn_module *m) {
    tni_step step;
    char *text;
    bool ok;
    if (!tn_ok()) return false;
    tni_place_begin(&step, file, line);
    text = repr_text(m);
    ok = text && puts(text) >= 0;
    if (text && !ok) tni_nn_error(TN_FILE, "stdout cannot be written");
    tni_text_free(text);
    tni_step_end(&step);
    return ok;
}
