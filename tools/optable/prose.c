/* prose.c - a comment of a header as Markdown: paragraphs, lists, code. */
#include "chapters.h"

#include <ctype.h>
#include <string.h>

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* A name of the library at `at`, with the arguments of a call; 0: none. */
static size_t code_length(const char *at) {
    static const char *const prefixes[] = {"tn_", "tnp_", "tni_", "TN_", "TNI_", "TENSOR_"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !n; i++)
        if (starts(at, prefixes[i])) n = strlen(prefixes[i]);
    if (!n) return 0;
    while (is_name(at[n]) || (at[n] == '.' && is_name(at[n + 1]))) n++;
    if (at[n] != '(') return n;
    int depth = 0;
    for (size_t k = n; at[k]; k++) {
        depth += at[k] == '(';
        depth -= at[k] == ')';
        if (!depth) return k + 1;
    }
    return n;
}

/* A paragraph on one line, in which four blanks begin an example. */
static char *marked(const char *s) {
    text t = {NULL, 0, 0};
    put(&t, "%s", "");
    for (bool word = false; *s; word = is_name(*s), s++) {
        size_t code = word ? 0 : code_length(s);
        if (*s == '`') code = strcspn(s + 1, "`") + 2;
        if (*s == '`') {
            put(&t, "%.*s", (int)code, s);
        } else if (code) {
            put(&t, "`%.*s`", (int)code, s);
        } else if (*s == '\t') { /* see paragraph */
            const size_t n = strcspn(s + 1, "\t");
            put(&t, " `%.*s`", (int)n, s + 1);
            code = n + 1 + (s[n + 1] == '\t');
        } else {
            put(&t, *s == '<' ? "&lt;" : *s == '*' ? "\\*" : "%c", *s);
        }
        if (code) s += code - 1;
    }
    return t.at;
}

/* Breaks a line at blanks to 120 columns. */
static void put_filled(text *t, const char *s, int indent) {
    const size_t room = 120 - (size_t)indent;
    while (strlen(s) > room) {
        size_t at = room;
        while (at && s[at] != ' ') at--;
        if (!at) at = strcspn(s, " ");
        if (!s[at]) break;
        put(t, "%.*s\n%*s", (int)at, s, indent, "");
        s += at + 1;
    }
    put(t, "%s\n", s);
}

/* Adds a line of a paragraph; what stands behind four blanks is between tabs. */
static void gather(text *t, const char *line, size_t n) {
    char *copy = text_copy(line, n), *gap = strstr(copy, "    ");
    if (t->n) put(t, " ");
    if (gap) {
        *gap = 0;
        gap += 1 + strspn(gap + 1, " ");
        put(t, "%s\t%s\t", copy, gap);
    } else {
        put(t, "%s", copy);
    }
}

static void put_paragraph(text *to, text *t, bool inside) {
    if (!t->n) return;
    put_filled(to, marked(t->at), inside ? 2 : 0);
    memset(t, 0, sizeof *t);
}

void put_prose(text *to, const char *s) {
    text paragraph = {NULL, 0, 0};
    bool code = false, entry = false, blank = true;
    size_t cut = 0; /* blanks before a block of code */
    for (size_t n; *s; s += n + (s[n] != 0)) {
        n = strcspn(s, "\n");
        const size_t indent = strspn(s, " ");
        const bool in_entry = entry && indent == 2, is_code = indent >= 2 && !in_entry;
        if (code && !is_code && n) put(to, "```\n\n"), code = false;
        if (!n) {
            put_paragraph(to, &paragraph, entry);
            if (!blank && !code) put(to, "\n");
            entry = false;
        } else if (is_code) {
            put_paragraph(to, &paragraph, entry);
            if (!code) put(to, "%s```%s\n", blank ? "" : "\n", indent > 3 ? "c" : "");
            if (!code) cut = indent;
            code = true, entry = false;
            if (cut > indent) cut = indent;
            put(to, "%.*s\n", (int)(n - cut), s + cut);
        } else if (starts(s, "- ")) {
            put_paragraph(to, &paragraph, entry);
            if (!entry && !blank) put(to, "\n");
            entry = true;
            gather(&paragraph, s, n);
        } else {
            if (entry && !in_entry)
                put_paragraph(to, &paragraph, true), put(to, "\n"), entry = false;
            gather(&paragraph, s + indent, n - indent);
        }
        blank = !n;
    }
    put_paragraph(to, &paragraph, entry);
    put(to, code ? "```\n\n" : "\n");
}
