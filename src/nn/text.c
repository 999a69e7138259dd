/* text.c - a module as torch prints it. */
#include "nn.h"

/* --- options ---------------------------------------------------------------------------------- */

/* An item of a row's `repr`: [?]name[[count]][=]['] */
typedef struct repr_item {
    tni_span name;
    bool unless_default, named, quoted, tuple;
    int count; /* of a tuple, where one number stands for all; 0: as many as there are */
} repr_item;

/* Cuts the next item off the list and reads its marks: "?" in front, the others from the end. */
static bool repr_item_next(tni_span *list, repr_item *t) {
    tni_span s;
    if (!tni_item_next(list, &s)) return false;
    memset(t, 0, sizeof *t);
    /* "?name": shown unless it is the default. */
    t->unless_default = s.at[0] == '?';
    s.at += t->unless_default;
    s.n -= t->unless_default;
    /* What is left when no mark is found at the end is the name. */
    for (; s.n > 0; s.n--) {
        char last = s.at[s.n - 1];
        /* "name=" shows the name, "name'" quotes, "name[]" is a tuple, "name[2]" one of 2. */
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

/* "3" for a list of one number, "(3, 3)" for others, as the row's item wants it; None if absent. */
static void repr_ints(tni_buffer *b, tn_ints list, const repr_item *t) {
    int64_t n = t->count && list.n == 1 ? t->count : list.n; /* one number stands for all */
    const char *between = "(";
    if (list.n < 0) {
        tni_buffer_text(b, "None");
    } else if (list.n == 1 && !t->tuple) {
        tni_buffer_text(b, "%lld", (long long)list.at[0]);
    } else {
        for (int64_t i = 0; i < n; i++, between = ", ")
            tni_buffer_text(b, "%s%lld", between, (long long)list.at[list.n == 1 ? 0 : i]);
        tni_buffer_text(b, n == 0 ? "()" : n == 1 ? ",)" : ")");
    }
}

/* One option's value. Quotes go around words such as gelu's approximate, not around None. */
static void repr_value(tni_buffer *b, const tn_module *m, const tn_param *p, const repr_item *t) {
    const void *options = tni_options(m);
    tn_scalar s;
    tn_ints list;
    /* torch prints the option's repr, which has quotes; None has none. */
    bool quoted = t->quoted && tn_param_number(p, options, &s) && s.kind != TN_KIND_NONE;
    if (tni_option_ints(m, t->name, &list)) {
        repr_ints(b, list, t);
        return;
    }
    /* Measured, then written. */
    int64_t n = (int64_t)tn_param_text(NULL, 0, p, options, true);
    char *text = (char *)tn_alloc((size_t)n + 1);
    if (!text) {
        b->failed = true;
        return;
    }
    tn_param_text(text, (size_t)n + 1, p, options, true);
    if (p->type == TN_T_FLOATS && n >= 2 && text[0] == '[') { /* 2.0 or (2.0, 1.5) */
        const bool several = strchr(text, ',') != NULL;
        text[0] = several ? '(' : ' ';
        text[n - 1] = several ? ')' : 0;
        tni_buffer_text(b, "%s", text + !several);
    } else
        tni_buffer_text(b, quoted ? "'%s'" : "%s", text);
    tn_alloc_free(text, (size_t)n + 1);
}

/* "in_features=3, bias=True": the items of row->repr that the module has and that are
 * to be shown. */
static void repr_options(tni_buffer *b, const tn_module *m) {
    tni_span list = {m->row->repr, m->row->repr ? (int)strlen(m->row->repr) : 0};
    repr_item t;
    bool first = true;
    if (!m->gen || !m->gen->make) return;
    while (repr_item_next(&list, &t)) {
        const tn_gen *gen = m->gen->make;
        const tn_param *p = tn_param_named(gen, t.name.at, (size_t)t.name.n);
        /* "?" leaves out an option that has its default. */
        if (!p || (t.unless_default && tn_param_same(p, tni_options(m), gen->defaults))) continue;
        tni_buffer_text(b, "%s", first ? "" : ", ");
        if (t.named) tni_buffer_text(b, "%s=", p->name);
        repr_value(b, m, p, &t);
        first = false;
    }
}

/* --- the tree --------------------------------------------------------------------------------- */

static void repr_module(tni_buffer *b, const tn_module *m, int indent);

/* The text of part i, a child; None where it is absent. */
static void repr_child(tni_buffer *b, const tn_module *m, int i, int indent) {
    const tn_module *child = tn_part_child_of(m, i);
    if (child)
        repr_module(b, child, indent);
    else
        tni_buffer_text(b, "None");
}

/* The first child at part i or behind it; m->nparts if there is none. */
static int repr_next_child(const tn_module *m, int i) {
    while (i < m->nparts && m->part[i].kind != TN_CHILD) i++;
    return i;
}

/* The number of children from i on that print the same, for a list's "(0-2): 3 x Linear(..)". *last
 * is the last of them, and `one` gets the text that they share. */
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

/* The lines of all children. A row whose repr is "[]" prints equal neighbours once. */
static void repr_children(tni_buffer *b, const tn_module *m, int indent) {
    bool list = m->row->repr && strcmp(m->row->repr, "[]") == 0;
    for (int i = repr_next_child(m, 0), last; i < m->nparts && !b->failed;
         i = repr_next_child(m, last + 1)) {
        tni_buffer one = {NULL, 0, 0, false};
        int n = 1;
        last = i;
        /* "(0): " for one child, "(0-2): 3 x " for a run of equal ones. */
        tni_buffer_text(b, "%*s(%s", 2 * indent, "", m->part[i].name);
        if (list) n = repr_equal(m, i, indent, &one, &last);
        if (n > 1)
            tni_buffer_text(b, "-%s): %d x ", m->part[last].name, n);
        else
            tni_buffer_text(b, "): ");
        /* A list's child is in `one` already; printing it again would take time exponential
         * in the depth. */
        if (list && one.n)
            tni_buffer_add(b, one.at, one.n);
        else
            repr_child(b, m, i, indent);
        if (one.failed) b->failed = true;
        tni_buffer_text(b, "\n");
        tni_buffer_free(&one);
    }
}

/* "Class(options)" on one line without children; else the options on a line, if there are any, and
 * a line for each child, indented by two spaces a level. */
static void repr_module(tni_buffer *b, const tn_module *m, int indent) {
    /* Options stand on the class's line only if nothing follows below it. */
    bool children = repr_next_child(m, 0) < m->nparts;
    tni_buffer_text(b, "%s(", m->type);
    if (!children) {
        repr_options(b, m);
    } else {
        int64_t before = b->n;
        tni_buffer_text(b, "\n%*s", 2 * (indent + 1), "");
        int64_t start = b->n;
        repr_options(b, m);
        /* No option was printed: takes the line back. */
        if (b->n == start) b->n = before;
        tni_buffer_text(b, "\n");
        repr_children(b, m, indent + 1);
        tni_buffer_text(b, "%*s", 2 * indent, "");
    }
    tni_buffer_text(b, ")");
}

/* The whole text, freed with tni_text_free; NULL with an error. */
static char *repr_text(const tn_module *m) {
    tni_buffer b = {NULL, 0, 0, false};
    char *text = NULL;
    if (!m) {
        tni_nn_error(TN_INVALID, "module is NULL");
        return NULL;
    }
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
    /* puts adds the newline; a closed stdout is an error. */
    ok = text && puts(text) >= 0;
    if (text && !ok) tni_nn_error(TN_FILE, "cannot write to stdout");
    tni_text_free(text);
    tni_step_end(&step);
    return ok;
}
