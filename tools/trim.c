/* trim.c - tensor.h and tensor_nn.h with what a program uses, and no more (docs/trim.md).
 *
 *     cc -O1 trim.c -o trim         (with trim_cut.h and trim_cxx.h beside it)
 *     ./trim -o small tensor.h tensor_nn.h -- *.c      writes small/tensor.h, small/tensor_nn.h
 *
 *   --also NAME    keeps this operator, class, function or option, too; in C++ also + and the like;
 *                  TN_EXPORT: reads the sources as compiled with -DTN_EXPORT
 *   --inference    without gradients: a call that would be recorded is refused
 *   --list         prints each operator and class that is kept, and the chain of names by which
 *                  it is needed
 *   --c++          the sources are C++ (so are those named .cc, .cpp, .cxx, .hpp)
 *
 * It reads nothing but the packed headers, the sources and what they include by "..". From the
 * sources' identifiers all items of the headers that are mentioned are reached; operators, modules
 * and the rooms behind them are left out unless reached. A mention too many costs bytes; one too
 * few does not compile. Only a name in a string is seen by neither compiler nor linker: a string
 * that is an operator's name is a mention, and so is a word in one that is a class. */
#include "trim_cxx.h"

/* --- what sources name ------------------------------------------------------------------------ */

static list row_items, class_items; /* TN_OPERATOR; TN_MODULE and TN_OPTIMIZER */

/* The first string of a row: its schema. */
static const char *schema_of(const item *i) { return strchr(i->at, '"') + 1; }
static int row_name(const item *i) { /* tni_row_add */
    for (int k = 0; k < i->defines.n; k++) {
        const char *t = names[i->defines.at[k]].text;
        if (starts(t, "tni_row_") || starts(t, "tni_module_") || starts(t, "tni_optimizer_"))
            return i->defines.at[k];
    }
    return 0;
}

static void find_rows(void) {
    for (int k = 0; k < nitems; k++) {
        item *i = &items[k];
        if (i->kind != CODE || !row_name(i) || !is_upper(i->at, name_length(i->at)) ||
            i->at[name_length(i->at)] != '(' || !memchr(i->at, '"', (size_t)(i->end - i->at)))
            continue;
        const char *row = names[row_name(i)].text;
        push(starts(row, "tni_row_") ? &row_items : &class_items, k);
    }
}

static void reach(int id, int why, bool cxx, bool called) {
    names[id].by_cxx |= cxx;
    names[id].called |= called;
    if (names[id].reached) return;
    names[id].reached = true;
    names[id].why = why;
}

static bool is_reached(const char *word) { return names[name_of(word, strlen(word))].reached; }

/* Operators whose name, C's or torch's, with or without overload, is this text. */
static void reach_rows(const char *s, size_t n, int why) {
    if (n && s[n - 1] == '_') n--;
    for (int k = 0; k < row_items.n; k++) {
        const item *i = &items[row_items.at[k]];
        const char *schema = schema_of(i), *row = names[row_name(i)].text + strlen("tni_row_");
        if (is(s, n, row) || (strncmp(schema, s, n) == 0 && (schema[n] == '(' || schema[n] == '.')))
            reach(row_name(i), why, false, false);
    }
}

/* Classes that are a word of this text. */
static void reach_classes(const char *p, const char *end, int why) {
    for (size_t n; p < end; p += n ? n : 1) {
        n = name_length(p);
        for (int k = 0; n && k < class_items.n; k++) {
            const item *i = &items[class_items.at[k]];
            if (strncmp(schema_of(i), p, n) == 0 && schema_of(i)[n] == '(')
                reach(row_name(i), why, false, false);
        }
    }
}

/* Conditions of TNI_IF that are within this text, in any case of letters. */
static void say_conditions(const char *s) {
    for (int id = 1; id < nnames; id++) {
        const char *word = names[id].text;
        for (const char *p = s; names[id].condition && *p && !names[id].said; p++) {
            size_t n = 0;
            while (word[n] && tolower((unsigned char)p[n]) == word[n]) n++;
            names[id].said = !word[n];
        }
    }
}

static bool all_cxx; /* --c++ */
static void read_source(const char *path, bool must, bool cxx);

/* A source's directive: its macros, what it includes. cxx: for a compiler of C++. */
static void read_directive(const char *path, const char *p, const char *end, bool cxx) {
    const char *word = skip_space(p + 1), *slash = strrchr(path, '/');
    char other[1024], file[512];
    if (starts(word, "define")) take_macro(word + 6, end);
    if (sscanf(word, "include \"%500[^\"]\"", file) != 1 || strstr(file, "tensor.h") ||
        strstr(file, "tensor_nn.h"))
        return;
    snprintf(other, sizeof other, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, file);
    read_source(other, false, cxx);
}

/* What stands under TN_EXPORT, which has other modules call the program, is read where a source
 * defines TN_EXPORT or with --also TN_EXPORT. */
static struct apart {
    const char *at, *end, *path;
    bool cxx;
} * apart;
static int napart;
static bool exports;

/* Whether this directive asks for TN_EXPORT: 1, for its absence: -1, neither: 0. */
static int asks_export(const char *word, const char *end) {
    static const char *const forms[] = {"ifndef TN_EXPORT",      "if !defined(TN_EXPORT)",
                                        "if !defined TN_EXPORT", "ifdef TN_EXPORT",
                                        "if defined(TN_EXPORT)", "if defined TN_EXPORT"};
    for (int k = 0; k < 6; k++) {
        const char *rest = word + strlen(forms[k]);
        if (!starts(word, forms[k]) || is_name(*rest)) continue;
        return skip_space(rest) >= end - 1 ? (k < 3 ? -1 : 1) : 0; /* nothing behind it */
    }
    return 0;
}

/* Behind the directive, comment, string or character at p. */
static const char *after_piece(const char *start, const char *p) {
    if (is_directive(start, p)) return after_directive(p);
    if (is_comment(p)) return after_comment(p);
    if (*p == '"' || (*p == '\'' && p > start && !is_name(p[-1]))) return after_string(p);
    return p + 1;
}

/* Keeps n bytes of a source apart and blanks them there. */
static void keep_apart(const char *path, bool cxx, char *from, size_t n) {
    text part = {NULL, 0, 0};
    add_string(&part, "\n");
    add(&part, from, n);
    apart = (struct apart *)grown(apart, (size_t)(napart + 1) * sizeof *apart);
    apart[napart].at = part.at, apart[napart].end = part.at + part.n;
    apart[napart].cxx = cxx;
    apart[napart++].path = path;
    memset(from, ' ', n);
    if (n) from[n - 1] = '\n';
}

/* Keeps apart what stands under TN_EXPORT in [start, end): behind #ifdef up to #else, behind the
 * #else of #ifndef. */
static void set_apart(const char *path, bool cxx, char *start, const char *end) {
    int deep = 0, at_depth = 0, asked = 0; /* of the #if that asks for TN_EXPORT */
    char *from = NULL;
    for (const char *p = start, *next; p < end; p = next) {
        next = after_piece(start, p);
        if (!is_directive(start, p)) continue;
        const char *word = skip_space(p + 1);
        const bool ends = starts(word, "endif"), other = starts(word, "el");
        const bool begins = starts(word, "if");
        deep += begins;
        if (begins && !at_depth) {
            asked = asks_export(word, next);
            if (asked) at_depth = deep;
            if (asked > 0) from = start + (next - start);
        } else if ((ends || other) && at_depth && at_depth == deep) {
            if (from) keep_apart(path, cxx, from, (size_t)(p - from));
            from = other && asked < 0 ? start + (next - start) : NULL;
            if (ends) at_depth = 0;
        }
        deep -= ends;
    }
}

/* Reads text of a source; a '\n' stands before it and it stays: macros point into it. */
static void read_text(const char *path, int id, const char *start, const char *end, bool cxx) {
    text expanded = {NULL, 0, 0};
    list found = {NULL, 0, 0};
    for (const char *p = start; p < end;) {
        const char *from = p;
        if (is_directive(start, p)) {
            exports |= starts(skip_space(p + 1), "define TN_EXPORT");
            read_directive(path, p, after_directive(p), cxx);
            p = starts(skip_space(p + 1), "define") ? p + 1 : after_directive(p);
        } else if (is_comment(p))
            p = after_comment(p);
        else if (*p == '"') {
            p = after_string(p);
            reach_rows(from + 1, (size_t)(p - from) - 2, id);
            reach_classes(from + 1, p - 1, id);
        } else if (*p == '\'' && p > start && !is_name(p[-1]))
            p = after_string(p);
        else
            p++;
    }
    add_string(&expanded, " ");
    expand(&expanded, start, end, 0);
    mention_all(&found, NULL, start + 1, end);
    const int written = found.n; /* what stands there; the others, macros may have joined */
    mention_all(&found, NULL, expanded.at + 1, expanded.at + expanded.n);
    for (int k = 0; k < found.n; k++) {
        name *f = &names[found.at[k]];
        f->times += k < written ? 1 : -1;
        reach(found.at[k], id, f->times < 0, f->times < 0); /* the others: find_uses */
    }
    for (int k = 0; k < found.n; k++) names[found.at[k]].times = 0;
    if (cxx) tokens_of(start + 1, end, false);
    say_conditions(start);
}

static void read_source(const char *path, bool must, bool cxx) {
    static list read[2]; /* each once, by a compiler of C and of C++ */
    const int id = name_of(path, strlen(path));
    const char *dot = strrchr(path, '.');
    cxx = cxx || all_cxx || !dot || strcmp(dot, ".c") != 0;
    if (holds(&read[1], id) || (!cxx && holds(&read[0], id))) return;
    push(&read[cxx], id);
    text file = read_file(path, must), t = {NULL, 0, 0};
    add_string(&t, "\n"); /* what stands before is looked at, too */
    add(&t, file.at, file.n);
    free(file.at);
    cxx_sources |= dot && (starts(dot, ".cc") || starts(dot, ".cpp") || starts(dot, ".cxx") ||
                           starts(dot, ".hpp") || is(dot, strlen(dot), ".C"));
    set_apart(names[id].text, cxx, t.at, t.at + t.n);
    read_text(path, id, t.at, t.at + t.n, cxx);
}

/* What was set apart, where the program exports its functions. */
static void read_apart(void) {
    for (int k = 0; k < napart && exports; k++) {
        const struct apart *a = &apart[k];
        read_text(a->path, name_of(a->path, strlen(a->path)), a->at, a->end, a->cxx);
    }
}

/* --- the closure ------------------------------------------------------------------------------ */

/* A member that no operator has the name of, defined behind its class: CLASS::NAME(..). Its class
 * may be all that calls it. */
static bool is_helper(const item *i) {
    const char *word = names[i->defines.at[0]].text, *at = within(i->at, i->end, word);
    return at && at - i->at > 2 && at[-1] == ':' && at[-2] == ':' &&
           !names[joined("tni_row_", word, strlen(word), "")].items.n;
}

/* Is the name in this item of C++ its operator's own, and no class's: softmax in the method softmax
 * and in the macro tn_softmax? */
static bool is_own(const item *i, int id) {
    if (!i->row_in_cxx && i->kind != MACRO) return false;
    const char *word = names[i->defines.at[0]].text;
    return strcmp(i->row_in_cxx ? word : starts(word, "tn_") ? word + 3 : "", names[id].text) == 0;
}

/* The item is in the header; what it mentions is reached. */
static bool keep(int k) {
    item *i = &items[k];
    const int row = i->kind == CODE ? row_name(i) : 0;
    const int why = row ? row : i->drops || i->kind == MACRO ? i->defines.at[0] : 0;
    if (i->kept || (i->drops && i->cxx && !cxx_sources)) return false;
    if (i->row_in_cxx && !names[i->defines.at[0]].called && !is_helper(i))
        return false; /* another's name */
    if (i->class_in_cxx && !names[i->defines.at[0]].by_cxx) return false;
    i->kept = true;
    for (int m = 0; m < i->mentions.n; m++)
        reach(i->mentions.at[m], why, i->cxx && !is_own(i, i->mentions.at[m]), false);
    for (int m = 0; m < i->calls.n; m++)
        reach(i->calls.at[m], why, !is_own(i, i->calls.at[m]), true);
    if (starts(names[row].text, "tni_module_"))
        for (const char *p = i->at, *s = p; p < i->end; s = p) { /* the classes of its .parts */
            p = *p == '"' ? after_string(p) : p + 1;
            if (p > s + 1) reach_classes(s, p, why);
        }
    return true;
}

static bool holds_now(int condition) {
    const name *n = &names[condition];
    return n->said || (n->reached && (starts(n->text, "tni_") || starts(n->text, "operator ")));
}
/* Reaches what kept items mention under conditions that hold; false: nothing new. */
static bool reach_conditional(void) {
    bool more = false;
    for (int k = 0; k < nitems; k++)
        for (int m = 0; items[k].kept && m < items[k].when.n; m += 2) {
            const int id = items[k].when.at[m + 1];
            if (names[id].reached || !holds_now(items[k].when.at[m])) continue;
            reach(id, row_name(&items[k]), items[k].cxx, false);
            more = true;
        }
    return more;
}

static void close_all(void) {
    for (int k = 0; k < nitems; k++) {
        const item *i = &items[k];
        for (int d = 0; d < i->defines.n; d++) push(&names[i->defines.at[d]].items, k);
    }
    for (int k = 0; k < nitems; k++)
        if (items[k].kind == DIRECTIVE ||
            (items[k].kind == CODE && !items[k].drops && (cxx_sources || !items[k].cxx)))
            keep(k);
    for (bool more = true; more;) {
        more = false;
        for (int id = 1; id < nnames; id++)
            for (int k = 0; names[id].reached && k < names[id].items.n; k++)
                more |= keep(names[id].items.at[k]);
        if (!more) more = reach_conditional();
    }
}

/* --- the trimmed header ----------------------------------------------------------------------- */

/* Blanks two fields of all rows. */
static void blank_fields(char *p, const char *const fields[2]) {
    const char *rows[] = {"\nTN_OPERATOR(", "\nTN_MODULE(", "\nTN_OPTIMIZER("};
    for (char *next; *p; p = next) {
        int k = 0;
        next = (char *)end_of_line(p + 1) - 1;
        if (next <= p) break;
        while (k < 3 && !starts(p, rows[k])) k++;
        if (k == 3) continue;
        char *open = strchr(p, '('), *from = NULL;
        const char *close = after_bracket(open, open, open + strlen(open));
        size_t n;
        for (const char *at = open + 1; (at = token(open, at, close, &n)) < close; at += n) {
            if (*at == '(' || *at == '{') at = after_bracket(open, at, close), n = 0;
            if (n != 1 || (*at != ',' && at != close - 1)) continue;
            char *to = open + (at - open);
            if (from) memset(from, ' ', (size_t)(to - from));
            from = NULL;
            const char *field = skip_space(at + 1);
            const size_t length = 1 + name_length(field + 1);
            if (starts(skip_space(field + length), "= tn_grad_zero")) continue; /* detach */
            for (int f = 0; f < 2; f++)
                if (is(field, length, fields[f])) from = to;
        }
        next = open + (close - open) - 1;
    }
}

/* Which items stand in the header: the kept, their comments where users read, conditions that hold
 * something. */
static bool *chosen(const header *h) {
    bool *stand = (bool *)grown(NULL, (size_t)(nitems + 1) * sizeof *stand);
    int open[NESTED], nopen = 0, comment = -1;
    bool full[NESTED];
    for (int k = h->first; k < h->last; k++) {
        const item *i = &items[k];
        const char *word = i->kind == DIRECTIVE ? skip_space(i->at + 1) : "";
        const bool other = i->cxx && !cxx_sources && i->kind == CODE; /* C++ that nobody compiles */
        stand[k] = i->kind == COMMENT ? k == h->first || starts(i->at, "/* src/")
                                      : (!i->drops && !other) || i->kept;
        if (i->kind == COMMENT) {
            if (is_public(i) && !stand[k]) comment = k;
            continue;
        }
        if (stand[k] && comment >= 0 && i->kind != DIRECTIVE) stand[comment] = true;
        comment = -1;
        if (starts(word, "if") && nopen < NESTED) {
            open[nopen] = k, full[nopen++] = false;
        } else if (starts(word, "endif") && nopen) {
            nopen--;
            if (full[nopen] && nopen) full[nopen - 1] = true;
            for (int d = open[nopen]; d <= k && !full[nopen]; d++)
                if (items[d].kind != COMMENT) stand[d] = false;
        } else if (!starts(word, "el") && stand[k] && nopen) {
            full[nopen - 1] = true;
        }
    }
    return stand;
}

/* A line of a macro. A static function that the macro makes may have lost its callers, so compilers
 * are told not to warn. */
static void add_macro_line(text *to, const char *p, const char *end) {
    static const char word[] = "static ";
    const size_t n = sizeof word - 1;
    for (const char *at = p; at + n < end; at++) {
        if (memcmp(at, word, n) != 0 || strchr("\"_", at[-1]) || starts(at + n, "TNI_UNUSED"))
            continue;
        add(to, p, (size_t)(at - p) + n);
        add_string(to, "TNI_UNUSED ");
        p = at + n;
    }
    add(to, p, (size_t)(end - p));
}

/* Writes an item. Of the lists of all rows and of all symbols (TN_EXPORT), what is reached. */
static void add_item(text *to, const item *i, int *all, int *reached) {
    const bool symbols = i->kind == MACRO && starts(skip_space(i->at + 7), "TNI_SYMBOLS");
    const char *p = i->at;
    if (i->kind == CODE && i->drops && starts(p, "static ") && !starts(p, "static TNI_UNUSED")) {
        add_string(to, "static TNI_UNUSED "); /* what only seems to be mentioned is no warning */
        p += 7;
    }
    if (symbols) *all = *reached = 0;
    for (const char *end, *at; p < i->end; p = end) {
        end = end_of_line(p) < i->end ? end_of_line(p) : i->end;
        size_t n = listed(p, &at);
        if (symbols && p > i->at) at = skip_space(p) + 2, n = name_length(at), ++*all;
        const char *op = compound(p);
        const bool stands =
            (!n || names[name_of(at, n)].reached) && (!op || names[operator_at(op)].reached);
        *reached += symbols && n && stands;
        if (stands && i->kind == MACRO)
            add_macro_line(to, p, end);
        else if (stands)
            add(to, p, (size_t)(end - p));
    }
    if (symbols && to->at[to->n - 2] == '\\')
        to->at[to->n - 2] = ' '; /* the last one goes on no more */
    if (to->at[to->n - 1] != '\n') add_string(to, "\n");
}

/* The number of symbols in the functions that hand them over. */
static void count_symbols(text *t, size_t from, int all, int reached) {
    char old[16], new_count[16];
    const int n = snprintf(old, sizeof old, " %d", all);
    snprintf(new_count, sizeof new_count, " %*d", n - 1, reached);
    for (char *at = t->at + from; all && (at = strstr(at, old)) != NULL; at += n)
        memcpy(at, new_count, (size_t)n);
}

static void write_header(const header *h, text *to) {
    bool *stand = chosen(h);
    int all = 0, reached = 0;
    for (int k = h->first; k < h->last; k++) {
        const size_t from = to->n;
        if (!stand[k]) continue;
        add_item(to, &items[k], &all, &reached);
        if (items[k].kind == CODE && strstr(to->at + from, "TNI_SYMBOLS("))
            count_symbols(to, from, all, reached);
        if (k != h->first || strstr(h->path, "_nn")) continue;
        add_string(to, "#define TNI_TRIMMED 1\n");
        if (inference) add_string(to, "#define TNI_INFERENCE_ONLY 1\n");
        if (napart && !exports)
            add_string(to,
                       "#ifdef TN_EXPORT\n#error \"this tensor.h is trimmed for a program without "
                       "TN_EXPORT: run trim again with --also TN_EXPORT\"\n#endif\n");
        if (!is_reached("tn_backend_add"))
            add_string(to, "#ifndef TN_NO_DEVICES\n#define TN_NO_DEVICES\n#endif\n");
        if (!is_reached("tn_record_begin")) add_string(to, "#define TNI_REPLAYS 0\n");
        if (!is_reached("tn_profile_begin_at")) add_string(to, "#define TNI_PROFILES 0\n");
        for (int id = 1; id < nnames; id++) {
            if (!names[id].condition || holds_now(id)) continue;
            add_string(to, "#define TNI_NAMES_");
            add_string(to, names[id].text);
            add_string(to, " 0\n");
        }
    }
    free(stand);
}

/* Another layout: what was trimmed apart does not link. `hash` is that of all headers. */
static void rename_layout(text *t, unsigned long long hash) {
    char *at = strstr(t->at, "_layout_"), old[13], new_hash[13];
    if (!at) fail("this is no packed header: it has no layout");
    snprintf(old, sizeof old, "%.12s", at + 8);
    snprintf(new_hash, sizeof new_hash, "%012llx", hash & 0xffffffffffffULL);
    for (at = t->at; (at = strstr(at, old)) != NULL; at += 12) memcpy(at, new_hash, 12);
}

static unsigned long long hash_of(const text *t, unsigned long long hash) {
    for (size_t i = 0; i < t->n; i++) hash = (hash ^ (unsigned char)t->at[i]) * 0x100000001b3ULL;
    return hash;
}

static void write_file(const char *folder, const char *path, const text *t) {
    const char *slash = strrchr(path, '/');
    char to[1024];
    snprintf(to, sizeof to, "%s/%s", folder, slash ? slash + 1 : path);
    FILE *out = fopen(to, "wb");
    if (!out || fwrite(t->at, 1, t->n, out) != t->n || fclose(out))
        fail("%s cannot be written: make the folder first", to);
}

static void print_list(const list *l) {
    for (int k = 0; k < l->n; k++) {
        const int row = row_name(&items[l->at[k]]);
        if (!items[l->at[k]].kept) continue;
        printf("%s", names[row].text);
        for (int id = names[row].why, deep = 0; id && deep < 40; id = names[id].why, deep++)
            printf(" <- %s", names[id].text);
        printf("\n");
    }
}

int main(int argc, char **argv) {
    enum { HEADERS = 4 };
    static const char *const gradients[2] = {".grad", ".fused"}, *const for_tests[2] = {".sample",
                                                                                        ".domain"};
    header headers[HEADERS];
    list uses = {NULL, 0, 0};
    text out[HEADERS];
    const char *folder = NULL;
    bool lists = false;
    int n = 0, k = 1, first = 0;
    unsigned long long hash = 0xcbf29ce484222325ULL;
    for (; k < argc && strcmp(argv[k], "--") != 0; k++) {
        if (strcmp(argv[k], "-o") == 0 && k + 1 < argc)
            folder = argv[++k];
        else if (strcmp(argv[k], "--also") == 0 && k + 1 < argc)
            first = ++k;
        else if (strcmp(argv[k], "--inference") == 0)
            inference = true;
        else if (strcmp(argv[k], "--list") == 0)
            lists = true;
        else if (strcmp(argv[k], "--c++") == 0)
            cxx_sources = all_cxx = true;
        else if (argv[k][0] == '-' || n == HEADERS)
            fail("unknown argument '%s'", argv[k]);
        else
            headers[n++].path = argv[k];
    }
    if (!n || k + 1 >= argc || (!folder && !lists))
        fail("usage: trim [-o FOLDER] [--list] [--also NAME]... [--inference] [--c++] tensor.h "
             "[tensor_nn.h] -- SOURCES");
    for (int i = 0; i < n; i++) {
        headers[i].text = read_file(headers[i].path, true);
        if (inference) blank_fields(headers[i].text.at, gradients);
    }
    for (int i = 0; i < 3 * n; i++)
        find_macros(&headers[i % n]); /* a macro of a macro of one that joins */
    for (int i = 0; i < n; i++) scan(&headers[i]);
    find_rows();
    for (int i = 1; first && i < k; i++) {
        if (strcmp(argv[i], "--also") != 0) continue;
        const char *also = argv[++i];
        reach(name_of(also, strlen(also)), 0, true, true);
        reach_rows(also, strlen(also), 0);
        reach_classes(also, also + strlen(also), 0);
        say_conditions(also);
        reach(joined("operator ", also, strlen(also), ""), 0, true, true);
        reach(joined("unary ", also, strlen(also), ""), 0, true, true);
    }
    exports = is_reached("TN_EXPORT");
    while (++k < argc) read_source(argv[k], true, false);
    read_apart();
    if (cxx_sources) find_uses(&uses);
    for (int u = 0; u < uses.n; u++) reach(uses.at[u], name_of("sources", 7), true, true);
    for (int i = 0; i < n && !names[name_of("sample", 6)].reached; i++)
        blank_fields(headers[i].text.at, for_tests);
    close_all();
    if (lists) print_list(&row_items), print_list(&class_items);
    for (int i = 0; i < n && folder; i++) {
        out[i] = (text){NULL, 0, 0};
        write_header(&headers[i], &out[i]);
        hash = hash_of(&out[i], hash);
    }
    for (int i = 0; i < n && folder; i++) {
        rename_layout(&out[i], hash);
        write_file(folder, headers[i].path, &out[i]);
    }
    return 0;
}
