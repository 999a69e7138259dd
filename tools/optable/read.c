/* read.c - what a scanned row means, and all errors of rows: schema, fields, needs, forms, names,
 * sample. */
#include "optable.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool row_inplace_only(const row *r) {
    return (r->forms & TN_INPLACE) && r->s.base && r->s.name.at[r->s.base - 1] == '_';
}

bool is_number_parameter(const tni_schema_param *p) {
    return (types[p->type].traits & TN_TYPE_NUMBER) != 0;
}

void read_fields(const row *r, const char *const *order) {
    int last = -1;
    for (int i = 0; i < r->nfields; i++) {
        const char *name = r->fields[i].name;
        int at = 0;
        while (order[at] && strcmp(order[at], name)) at++;
        if (!order[at])
            fault(r->file, r->line, "%s: a row has no field '%s'", r->name, r->fields[i].name);
        else if (at <= last)
            fault(r->file, r->line, "%s: .%s stands behind .%s: C++ wants the order of the struct",
                  r->name, name, order[last]);
        else
            last = at;
    }
    if (!r->comment) fault(r->file, r->line, "%s: no comment directly above the row", r->name);
}

char *read_text(const row *r, const char *name) {
    const char *value = row_field(r, name);
    char *string = scan_string(value);
    if (value && !string) fault(r->file, r->line, "%s: .%s must be a string", r->name, name);
    return string;
}

/* What a reader is told of every row. A module without forward has no shapes, and an optimizer. */
void read_doc_fields(row *r) {
    bool shapes = r->kind == ROW_OPERATOR || (r->kind == ROW_MODULE && row_field(r, "forward"));
    r->shapes = read_text(r, "shapes");
    r->example = read_text(r, "example");
    r->differs = read_text(r, "differs");
    r->oracle = r->kind == ROW_OPERATOR ? read_text(r, "oracle") : NULL;
    if (shapes && !r->shapes)
        fault(r->file, r->line, "%s: TN_DOC lacks .shapes = \"self (n, m) -> (m, n)\"", r->name);
    if (!r->example)
        fault(r->file, r->line, "%s: TN_DOC lacks .example, a call in C", r->name);
    else if (!strstr(r->example, r->name))
        fault(r->file, r->line, "%s: .example calls another row: %s", r->name, r->example);
}

/* Where Python has the row below torch: a namespace that its schema's name begins with, then what
 * TN_DOC says in .python. */
static void read_places(row *r) {
    static const char *const spaces[] = {"fft", "linalg", "special"};
    const char *name = text_word(r->s.name), *more = read_text(r, "python");
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        const size_t n = strlen(spaces[i]);
        if (!strncmp(name, spaces[i], n) && name[n] == '_')
            put(&t, "%s.%.*s%s", spaces[i], (int)strcspn(name + n + 1, "."), name + n + 1,
                more ? " " : "");
    }
    if (more) put(&t, "%s", more);
    r->places = t.at;
    for (const char *at = more; at && *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        const char *dot = memchr(at, '.', n);
        if (!dot || dot == at || dot + 1 == at + n)
            fault(r->file, r->line, "%s: .python: '%.*s' is no \"namespace.name\"", r->name, (int)n,
                  at);
        at += n;
    }
}

static void read_forms(row *r) {
    static const struct {
        const char *name;
        uint32_t bit;
    } names[] = {
        {"TN_OUT", TN_OUT},         {"TN_INPLACE", TN_INPLACE}, {"TN_SHAPE_ONLY", TN_SHAPE_ONLY},
        {"TN_ALIAS", TN_ALIAS},     {"TN_MOVES", TN_MOVES},     {"TN_ACROSS", TN_ACROSS},
        {"TN_LEADING", TN_LEADING}, {"TN_DRAWS", TN_DRAWS},     {"TN_IMAGES", TN_IMAGES}};
    const size_t count = sizeof names / sizeof *names;
    const char *at = row_field(r, "forms");
    while (at && *at) {
        size_t skip = strspn(at, " |"), n = strcspn(at + skip, " |"), i = 0;
        while (i < count && (n != strlen(names[i].name) || memcmp(at + skip, names[i].name, n)))
            i++;
        if (n && i == count)
            fault(r->file, r->line, "%s: .forms: '%.*s' is no form", r->name, (int)n, at + skip);
        else if (n)
            r->forms |= names[i].bit;
        at += skip + n;
    }
}

static bool has_word(const char *in, const char *word) {
    size_t n = strlen(word);
    for (const char *at = strstr(in, word); at; at = strstr(at + 1, word))
        if (!isalnum((unsigned char)at[n]) && at[n] != '_' && at[-1] != '_' &&
            !isalnum((unsigned char)at[-1]))
            return true;
    return false;
}

/* The loop that is made of a row of these rules: the others concern its check, look and run. */
static pointwise pointwise_of(const char *rules) {
    return has_word(rules, "TN_GIVES_BOOL")   ? POINTWISE_GIVES_BOOL
           : has_word(rules, "TN_TAKES_MASK") ? POINTWISE_TAKES_MASK
           : has_word(rules, "TN_GIVES_REAL") ? POINTWISE_GIVES_REAL
                                              : POINTWISE_LOOP;
}

static void read_pointwise(row *r) {
    const char *value = row_field(r, "TN_POINTWISE"), *kind = "FfICcB";
    char *part[3] = {NULL, NULL, NULL};
    if (!value) return;
    const int n = scan_parts(value, part, 3);
    if (n < 2 || n > 3) {
        fault(r->file, r->line, "%s: TN_POINTWISE(KINDS, expression) or (KINDS, expression, rules)",
              r->name);
        return;
    }
    r->kinds = part[0];
    r->expression = part[1];
    r->rules = part[2];
    r->pointwise = pointwise_of(n == 3 ? text_format(" %s", part[2]) : " ");
    for (const char *at = r->kinds; *at; at++) {
        kind = strchr(kind, *at);
        if (!kind) {
            fault(r->file, r->line,
                  "%s: kinds '%s': letters of FICB in this order, f for F and c for C", r->name,
                  r->kinds);
            return;
        }
        kind++;
    }
    if (!r->nfixed || r->nfixed > 3 || r->nslots != r->nfixed)
        fault(r->file, r->line, "%s: a pointwise row has 1 to 3 tensors", r->name);
    read_expression(r);
}

static void read_functions(const row *r) {
    bool check = row_field(r, "check") != NULL, compose = row_field(r, "compose") != NULL;
    if (compose + check + (r->pointwise != POINTWISE_NO) != 1)
        fault(r->file, r->line, "%s: a row has one of .check, .compose and TN_POINTWISE", r->name);
    if (compose && (row_field(r, "grad") || row_field(r, "needs") || row_field(r, "saves")))
        fault(r->file, r->line, "%s: the gradient of a composed row comes by composition", r->name);
    if (row_field(r, "verdict") && (!check || tni_schema_props(&r->s) & TN_PROP_MUTATED))
        fault(r->file, r->line,
              "%s: a row with .verdict has .check and .run and writes no argument", r->name);
}

/* What C or C++ would refuse is left to the compiler; this it would not: names with "__" or "_" at
 * an end. */
static void read_name(const row *r, const char *what, const char *name) {
    size_t n = strlen(name);
    if (name[0] == '_' || (n && name[n - 1] == '_') || strstr(name, "__"))
        fault(r->file, r->line,
              "%s: the %s '%s' makes a reserved name; a row is called `fill`, its schema `fill_`",
              r->name, what, name);
}

/* C++ has no room for a struct and overloads of one name: var_mean returns tn_var_mean_results. */
static void read_struct_names(const table *t) {
    for (int i = 0; i < t->n; i++)
        for (int k = 0; t->row[i]->s.nresults > 1 && k < t->n; k++)
            if (!strcmp(t->row[i]->result_type, text_format("tn_%s ", t->row[k]->name)))
                t->row[i]->result_type = text_format("tn_%s_results ", t->row[k]->name);
}

/* No name that the rows add to C may stand in api/ or come from two rows. */
static void read_symbols(const table *t) {
    text api = {NULL, 0, 0};
    char **paths;
    int n = file_list("src/api", ".h", &paths);
    put(&api, " ");
    for (int i = 0; i < n; i++)
        if (!strstr(paths[i], "/ops") && !strstr(paths[i], "/modules.h"))
            put(&api, "%s ", scan_tidy(file_read(paths[i])));
    for (int i = 0; i < t->n; i++) {
        const row *r = t->row[i];
        for (int k = 0; k < r->nform; k++) {
            char *name = text_format("tn_%s", r->form[k].name);
            if (has_word(api.at, name))
                fault(r->file, r->line, "%s: the name %s is taken in src/api", r->name, name);
            for (int j = 0; j < i; j++)
                for (int l = 0; l < t->row[j]->nform; l++)
                    if (!strcmp(t->row[j]->form[l].name, r->form[k].name))
                        fault(r->file, r->line, "%s: the name %s is a form of %s", r->name, name,
                              t->row[j]->name);
        }
    }
}

static bool tensor_remains(const row *r, uint32_t numbers) {
    for (int i = 0; i < r->s.nparam; i++) {
        const tni_schema_param *p = &r->s.param[i];
        if ((p->type == TN_T_TENSOR || p->type == TN_T_TENSORS) && !(p->flags & TN_P_DEFAULT) &&
            !(numbers >> i & 1))
            return true;
    }
    return false;
}

void add_form(row *r, uint32_t numbers, const char *suffix) {
    bool own = r->s.name.at[r->s.base - 1] == '_';
    if (!tensor_remains(r, numbers) && numbers) return;
    for (int inplace = 0; inplace < 2; inplace++) {
        form *f = &r->form[r->nform];
        if (inplace ? !(r->forms & TN_INPLACE) || (numbers & 1) : row_inplace_only(r)) continue;
        f->numbers = numbers;
        f->inplace = inplace;
        f->name = text_format("%s%s%s", r->name, suffix, inplace || own ? "_" : "");
        r->nform++;
    }
}

/* add, add_scalar; with two operands that may be numbers: where, where_scalar (the last),
 * where_scalar_self, where_scalars. */
static void read_all_forms(row *r) {
    uint32_t all = 0;
    int last = -1, count = 0;
    for (int i = 0; i < r->s.nparam && i < 32; i++)
        if (r->s.param[i].flags & TN_P_NUMBER) {
            all |= 1u << i;
            last = i;
            count++;
        }
    add_form(r, 0, "");
    for (int i = last; i >= 0; i--)
        if (all >> i & 1)
            add_form(r, 1u << i,
                     i == last ? "_scalar"
                               : text_format("_scalar_%s", text_word(r->s.param[i].name)));
    if (count > 1) add_form(r, all, "_scalars");
}

void read_result_type(row *r) {
    text t = {NULL, 0, 0};
    if (r->s.returns_list)
        put(&t, "tn_list ");
    else if (r->s.nresults == 0)
        put(&t, "bool ");
    else if (r->s.nresults == 1)
        put(&t, "tn_tensor *");
    else {
        put(&t, "tn");
        for (int i = 0; i < r->s.nresults; i++)
            put(&t, "_%.*s", r->s.result[i].n, r->s.result[i].at);
        put(&t, " ");
    }
    r->result_type = t.at;
}

bool read_schema(row *r) {
    char error[200];
    if (!tni_schema_parse(&r->s, r->schema_text, error, sizeof error)) {
        fault(r->file, r->line, "%s: schema: %s\n    %s", r->name, error, r->schema_text);
        return false;
    }
    tni_schema_layout(&r->s, r->forms);
    r->nslots = tni_schema_slots(&r->s, r->slot, &r->nfixed);
    r->base = text_copy(r->s.name.at, (size_t)r->s.base);
    while (*r->base == '_') r->base++;
    if (*r->base && r->base[strlen(r->base) - 1] == '_') r->base[strlen(r->base) - 1] = 0;
    if (r->kind != ROW_OPERATOR) return r->nslots = 0, true;
    if (tni_schema_limits(&r->s, r->forms, error, sizeof error)) return true;
    fault(r->file, r->line, "%s: %s", r->name, error);
    return false;
}

/* The conditions of .node are on parameters. */
static void check_node(const row *r) {
    const char *node = read_text(r, "node");
    for (const char *at = node; at && (at = strchr(at, '=')) != NULL; at++) {
        const char *from = at;
        bool known = false;
        while (from > node && from[-1] != ' ') from--;
        for (int i = 0; i < r->s.nparam; i++)
            known = known || tni_word_is(r->s.param[i].name, text_copy(from, (size_t)(at - from)));
        if (!known) fault(r->file, r->line, "%s: .node: no parameter at '%s'", r->name, from);
    }
}

static bool read_row(row *r) {
    static const char *const order[] = {
        "shapes", "example", "differs", "oracle", "python",  "forms",        "autocast", "saves",
        "needs",  "check",   "look",    "run",    "verdict", "TN_POINTWISE", "quick",    "compose",
        "grad",   "fused",   "domain",  "sample", "node",    "batched",      NULL};
    char error[200];
    int before = faults;
    read_forms(r);
    if (!read_schema(r)) return false;
    read_fields(r, order);
    read_doc_fields(r);
    read_places(r);
    r->saves = read_text(r, "saves");
    r->needs = read_text(r, "needs");
    r->domain = read_text(r, "domain");
    r->sample = read_text(r, "sample");
    check_node(r);
    read_pointwise(r);
    read_functions(r);
    read_name(r, "row", r->name);
    for (int i = 0; i < r->s.nparam; i++) read_name(r, "parameter", text_word(r->s.param[i].name));
    for (int i = 0; i < r->s.nresults; i++) read_name(r, "result", text_word(r->s.result[i]));
    read_all_forms(r);
    read_result_type(r);
    r->nsaves = tni_words(r->saves, r->save, TNI_SCHEMA_RESULTS);
    if (r->nsaves < 0 || r->s.nresults + r->nsaves > TNI_RESULTS)
        fault(r->file, r->line, "%s: more than %d results and saves", r->name, TNI_RESULTS);
    if (!tni_schema_needs(&r->s, r->saves, r->needs, r->masks, error, sizeof error))
        fault(r->file, r->line, "%s: .%s", r->name, error);
    if (r->sample)
        read_sample(r);
    else if (!options.no_sample_check)
        fault(r->file, r->line, "%s: a row needs a .sample: nothing would test it", r->name);
    return faults == before;
}

static int by_row(const void *a, const void *b) {
    return strcmp((*(row *const *)a)->name, (*(row *const *)b)->name);
}

void read_rows(table *t, table *sorted) {
    int kept = 0, loops = 0;
    for (int i = 0; i < t->n; i++)
        if (read_row(t->row[i])) t->row[kept++] = t->row[i];
    t->n = kept;
    sorted->n = kept;
    sorted->row = (row **)tool_get(sizeof *t->row * (size_t)(kept + 1));
    if (kept) memcpy(sorted->row, t->row, sizeof *t->row * (size_t)kept);
    t = sorted;
    if (kept) qsort(t->row, (size_t)kept, sizeof *t->row, by_row);
    for (int i = 0; i < kept; i++) {
        t->row[i]->index = i;
        if (t->row[i]->pointwise) t->row[i]->loop = loops++;
        if (i && !strcmp(t->row[i]->name, t->row[i - 1]->name))
            fault(t->row[i]->file, t->row[i]->line, "%s: another row of this name is at %s:%d",
                  t->row[i]->name, t->row[i - 1]->file, t->row[i - 1]->line);
        for (int k = 0; k < i; k++)
            if (t->row[k]->s.name.n == t->row[i]->s.name.n &&
                !memcmp(t->row[k]->s.name.at, t->row[i]->s.name.at, (size_t)t->row[i]->s.name.n))
                fault(t->row[i]->file, t->row[i]->line,
                      "%s: the row %s has the same name in its schema", t->row[i]->name,
                      t->row[k]->name);
    }
    read_symbols(t);
    read_struct_names(t);
}
