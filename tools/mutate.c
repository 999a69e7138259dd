/* mutate.c - small faults put into a C source, one at a time, to see whether tests notice.
 *
 *     mutate FILE list [SEED]    every mutant: rank, id, line, kind, "FILE -- line -- this => that"
 *     mutate FILE ID             the source with that one fault, with as many lines as before
 *
 * Faults: another operator, another constant, a negated condition, a deleted statement, another
 * value returned, break for continue, two arguments swapped. Fields are separated by tabs. The rank
 * is a hash of the seed and of the fault's own text: sorted by it, the first n are a random sample
 * that edits elsewhere do not change. Comments, strings, the preprocessor's lines and declared
 * sizes are left alone. Sources are those that clang-format leaves: a binary operator has a space
 * on either side. Not every mutant compiles, and some mean the same. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { WORD, NUMBER, TEXT, SIGN } kind;

typedef struct token {
    kind kind;
    int at, length, line;
    int braces, parens; /* how deep it stands */
} token;

typedef struct mutant {
    int at, length, line;
    const char *kind;
    char *after;
} mutant;

static char *source;
static token *tokens;
static int ntokens;
static mutant *mutants;
static int nmutants;

static void *grown(void *list, int n, size_t each) {
    if (n & (n - 1)) return list;
    list = realloc(list, (n ? (size_t)n * 2 : 1) * each);
    if (!list) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return list;
}

/* --- tokens ----------------------------------------------------------------------------------- */

static int line_end(int at) {
    while (source[at] && !(source[at] == '\n' && source[at - 1] != '\\')) at++;
    return at;
}
static int comment_end(int at) {
    const char *end = source[at + 1] == '/' ? strchr(source + at, '\n') : strstr(source + at, "*/");
    if (!end) return at + (int)strlen(source + at);
    return (int)(end - source) + (source[at + 1] == '*' ? 2 : 0);
}
static int text_end(int at) {
    char quote = source[at++];
    while (source[at] && source[at] != quote) at += source[at] == '\\' ? 2 : 1;
    return at + 1;
}
static int word_end(int at) {
    bool number = isdigit((unsigned char)source[at]) != 0;
    while (isalnum((unsigned char)source[at]) || source[at] == '_' ||
           (number &&
            (source[at] == '.' || (strchr("+-", source[at]) && strchr("eEpP", source[at - 1])))))
        at++;
    return at;
}
static int sign_end(int at) {
    static const char *const signs[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                        "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                        "*=",  "/=",  "%=",  "&=", "|=", "^="};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(source + at, signs[i], strlen(signs[i])) == 0)
            return at + (int)strlen(signs[i]);
    return at + 1;
}

static void add_token(kind k, int at, int end, int line, int *braces, int *parens) {
    char c = source[at];
    tokens = (token *)grown(tokens, ntokens, sizeof *tokens);
    if (k == SIGN) {
        *braces -= c == '}';
        *parens -= c == ')' || c == ']';
    }
    token t = {k, at, end - at, line, *braces, *parens};
    if (k == SIGN) {
        *braces += c == '{';
        *parens += c == '(' || c == '[';
    }
    tokens[ntokens++] = t;
}

static void read_tokens(void) {
    int line = 1, braces = 0, parens = 0;
    bool fresh = true; /* nothing but blanks since the line began */
    for (int at = 0, end; source[at]; at = end) {
        char c = source[at];
        end = at + 1;
        if (c == '\n' || isspace((unsigned char)c))
            fresh = fresh || c == '\n';
        else if (c == '#' && fresh)
            end = line_end(at);
        else if (c == '/' && (source[at + 1] == '/' || source[at + 1] == '*'))
            end = comment_end(at);
        else if (c == '"' || c == '\'')
            add_token(TEXT, at, end = text_end(at), line, &braces, &parens), fresh = false;
        else if (isdigit((unsigned char)c))
            add_token(NUMBER, at, end = word_end(at), line, &braces, &parens), fresh = false;
        else if (isalpha((unsigned char)c) || c == '_')
            add_token(WORD, at, end = word_end(at), line, &braces, &parens), fresh = false;
        else
            add_token(SIGN, at, end = sign_end(at), line, &braces, &parens), fresh = false;
        for (int i = at; i < end; i++) line += source[i] == '\n';
    }
}

/* Token i is that text; also for indices outside. */
static bool is(int i, const char *text) {
    return i >= 0 && i < ntokens && strlen(text) == (size_t)tokens[i].length &&
           strncmp(source + tokens[i].at, text, (size_t)tokens[i].length) == 0;
}
static bool among(int i, const char *const *words) {
    for (; *words; words++)
        if (is(i, *words)) return true;
    return false;
}
static bool is_kind(int i, kind k) { return i >= 0 && i < ntokens && tokens[i].kind == k; }
static bool is_keyword(int i) {
    static const char *const words[] = {
        "return", "if",      "else",   "while",    "for",    "do",    "switch",   "case",
        "sizeof", "goto",    "break",  "continue", "static", "const", "struct",   "union",
        "enum",   "typedef", "extern", "int",      "char",   "void",  "unsigned", NULL};
    return among(i, words);
}
static int token_end(int i) { return tokens[i].at + tokens[i].length; }

/* The bracket that closes the one at i. */
static int closing(int i) {
    for (int k = i + 1; k < ntokens; k++)
        if (tokens[k].parens == tokens[i].parens && (is(k, ")") || is(k, "]"))) return k;
    return ntokens - 1;
}

/* --- mutants ---------------------------------------------------------------------------------- */

/* The text in [at, end) becomes before + its part [from, to) + behind. */
static void add(const char *what, int line, int at, int end, const char *before, int from, int to,
                const char *behind) {
    size_t size = strlen(before) + (size_t)(to - from) + strlen(behind) + 1;
    mutant m = {at, end - at, line, what, (char *)malloc(size)};
    mutants = (mutant *)grown(mutants, nmutants, sizeof *mutants);
    if (!m.after) exit(1);
    snprintf(m.after, size, "%s%.*s%s", before, to - from, source + from, behind);
    mutants[nmutants++] = m;
}
static void replace(const char *what, int i, const char *with) {
    add(what, tokens[i].line, tokens[i].at, token_end(i), with, 0, 0, "");
}

static void add_signs(int i) {
    static const struct {
        const char *sign, *to[2];
    } other[] = {
        {"<", {"<=", ">="}}, {">", {">=", "<="}}, {"<=", {"<", ">"}}, {">=", {">", "<"}},
        {"==", {"!="}},      {"!=", {"=="}},      {"&&", {"||"}},     {"||", {"&&"}},
        {"+", {"-"}},        {"-", {"+"}},        {"*", {"/"}},       {"/", {"*"}},
        {"%", {"*"}},        {"&", {"|"}},        {"|", {"&"}},       {"^", {"|"}},
        {"<<", {">>"}},      {">>", {"<<"}},      {"+=", {"-="}},     {"-=", {"+="}},
        {"*=", {"/="}},      {"/=", {"*="}},      {"%=", {"*="}},     {"&=", {"|="}},
        {"|=", {"&="}},      {"^=", {"|="}},      {"<<=", {">>="}},   {">>=", {"<<="}},
        {"++", {"--"}},      {"--", {"++"}},
    };
    bool spaced = source[tokens[i].at - 1] == ' ' && isspace((unsigned char)source[token_end(i)]);
    if (tokens[i].kind != SIGN) return;
    if (!spaced && (is(i, "!") || is(i, "~") || is(i, "-"))) replace("unary", i, "");
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (is(i, other[k].sign) && (spaced || is(i, "++") || is(i, "--")))
            for (int n = 0; n < 2 && other[k].to[n]; n++) replace("operator", i, other[k].to[n]);
}

/* `type name[16]`: one more is nothing that a test could see. */
static bool is_declared_size(int i) {
    return is(i - 1, "[") && is(i + 1, "]") && is_kind(i - 2, WORD) &&
           (is(i - 3, "*") || (is_kind(i - 3, WORD) && !is(i - 3, "return")));
}

static void add_constants(int i) {
    int at = tokens[i].at, end = token_end(i), line = tokens[i].line;
    if (is(i, "true")) replace("constant", i, "false");
    if (is(i, "false")) replace("constant", i, "true");
    if (tokens[i].kind != NUMBER || is_declared_size(i)) return;
    if (is(i, "0") || is(i, "0u"))
        replace("constant", i, "1");
    else if (is(i, "1") || is(i, "1u"))
        replace("constant", i, "0");
    else {
        add("constant", line, at, end, "(", at, end, " + 1)");
        add("constant", line, at, end, "(", at, end, " - 1)");
    }
}

static void add_conditions(int i) {
    if (!((is(i, "if") || is(i, "while")) && is(i + 1, "("))) return;
    int end = closing(i + 1);
    if (is(i + 2, "0") && end == i + 3) return; /* do { } while (0) */
    add("condition", tokens[i].line, token_end(i + 1), tokens[end].at, "!(", token_end(i + 1),
        tokens[end].at, ")");
}

static void add_jumps(int i) {
    if (is(i, "break") && is(i + 1, ";")) replace("jump", i, "continue"), replace("jump", i, "");
    if (is(i, "continue") && is(i + 1, ";")) replace("jump", i, "break");
    if (is(i, "goto")) add("jump", tokens[i].line, tokens[i].at, token_end(i + 1), "", 0, 0, "");
    if (!is(i, "return")) return;
    if (is(i + 1, ";")) {
        replace("jump", i, "");
        return;
    }
    int end = i + 1;
    while (end < ntokens && !is(end, ";")) end++;
    if (end == i + 2 && (is(i + 1, "0") || is(i + 1, "1") || is(i + 1, "true") ||
                         is(i + 1, "false") || is(i + 1, "NULL")))
        return;
    add("return", tokens[i].line, tokens[i + 1].at, tokens[end].at, "0", 0, 0, "");
}

static bool starts_statement(int i) {
    static const char *const ends[] = {";", "{", "}", "else", "do", ")", ":", NULL};
    static const char *const next[] = {"(",  "[",  ".",  "->", "=",  "+=", "-=",  "*=",  "/=", "%=",
                                       "&=", "|=", "^=", "++", "--", "<<", "<<=", ">>=", NULL};
    if (!tokens[i].braces || tokens[i].parens || !among(i - 1, ends)) return false;
    if (is(i, "*") || is(i, "++") || is(i, "--")) return !is(i - 1, ")");
    return tokens[i].kind == WORD && !is_keyword(i) && among(i + 1, next);
}

static void add_deletion(int i) {
    int end = i;
    if (!starts_statement(i)) return;
    while (end < ntokens && !is(end, ";")) {
        if (is(end, "{") || is(end, "}")) return;
        end++;
    }
    if (end < ntokens && tokens[end].parens == 0)
        add("statement", tokens[i].line, tokens[i].at, tokens[end].at, "", 0, 0, "");
}

static void add_swaps(int i) {
    static const char *const symmetric[] = {"strcmp", "strncmp", "memcmp", NULL};
    if (!tokens[i].braces || tokens[i].kind != WORD || is_keyword(i) || !is(i + 1, "(")) return;
    int end = closing(i + 1), first = i + 2, second = 0;
    if (among(i, symmetric)) return;
    for (int k = i + 2; k <= end; k++) {
        bool top = tokens[k].parens == tokens[i + 1].parens + 1 && is(k, ",");
        if (!top && k != end) continue;
        if (second) {
            char head[1000];
            snprintf(head, sizeof head, "%.*s, ", token_end(k - 1) - tokens[second].at,
                     source + tokens[second].at);
            add("arguments", tokens[first].line, tokens[first].at, token_end(k - 1), head,
                tokens[first].at, token_end(second - 2), "");
            first = second;
        }
        second = k + 1;
    }
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_plain(FILE *to, const char *text, int n) {
    bool blank = false, any = false;
    for (int i = 0; i < n; i++) {
        if (!isspace((unsigned char)text[i])) {
            if (blank && any) fputc(' ', to);
            fputc(text[i], to);
            any = true;
        }
        blank = isspace((unsigned char)text[i]) != 0;
    }
}

/* How many mutants of this line before m have the same text before and after. */
static int twins(int m) {
    int n = 0;
    for (int k = m - 1; k >= 0 && mutants[k].line == mutants[m].line; k--)
        n +=
            mutants[k].length == mutants[m].length &&
            strcmp(mutants[k].after, mutants[m].after) == 0 &&
            strncmp(source + mutants[k].at, source + mutants[m].at, (size_t)mutants[m].length) == 0;
    return n;
}

static void print_name(FILE *to, const char *path, int m) {
    int begin = mutants[m].at, end = begin, n = twins(m);
    while (begin > 0 && source[begin - 1] != '\n') begin--;
    while (source[end] && source[end] != '\n') end++;
    fprintf(to, "%s -- ", path);
    print_plain(to, source + begin, end - begin);
    fprintf(to, " -- ");
    print_plain(to, source + mutants[m].at, mutants[m].length);
    if (n) fprintf(to, " #%d", n + 1);
    fprintf(to, " => ");
    print_plain(to, mutants[m].after, (int)strlen(mutants[m].after));
}

static uint64_t rank_of(const char *name, uint64_t seed) {
    uint64_t z = 0xcbf29ce484222325u ^ seed * 0x9e3779b97f4a7c15u; /* FNV-1a, then splitmix64 */
    for (; *name; name++) z = (z ^ (unsigned char)*name) * 0x100000001b3u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int print_list(const char *path, uint64_t seed) {
    FILE *scratch = tmpfile();
    static char name[1 << 16];
    if (!scratch) return 1;
    for (int m = 0; m < nmutants; m++) {
        rewind(scratch);
        print_name(scratch, path, m);
        fputc(0, scratch);
        rewind(scratch);
        size_t n = fread(name, 1, sizeof name - 1, scratch);
        name[n] = 0;
        printf("%016llx\t%d\t%d\t%s\t%s\n", (unsigned long long)rank_of(name, seed), m + 1,
               mutants[m].line, mutants[m].kind, name);
    }
    fclose(scratch);
    return 0;
}

static void print_mutant(const mutant *m) {
    int lost = 0;
    for (int i = 0; i < m->length; i++) lost += source[m->at + i] == '\n';
    for (const char *s = m->after; *s; s++) lost -= *s == '\n';
    fwrite(source, 1, (size_t)m->at, stdout);
    fputs(m->after, stdout);
    while (lost-- > 0) putchar('\n');
    fputs(source + m->at + m->length, stdout);
}

static bool read_source(const char *path) {
    FILE *f = fopen(path, "rb");
    int n = 0, c;
    while (f && (c = getc(f)) != EOF) {
        source = (char *)grown(source, n, 1);
        source[n++] = (char)c;
    }
    source = (char *)grown(source, n, 1);
    source[n] = 0;
    if (f) fclose(f);
    return f && n > 0;
}

int main(int argc, char **argv) {
    if (argc < 3 || !read_source(argv[1])) {
        fprintf(stderr, "mutate FILE list [SEED] | mutate FILE ID\n");
        return 2;
    }
    read_tokens();
    for (int i = 1; i < ntokens; i++) {
        add_signs(i);
        add_constants(i);
        add_conditions(i);
        add_jumps(i);
        add_deletion(i);
        add_swaps(i);
    }
    if (strcmp(argv[2], "list") == 0)
        return print_list(argv[1], argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
    int id = atoi(argv[2]);
    if (id < 1 || id > nmutants) {
        fprintf(stderr, "%s has mutants 1 to %d\n", argv[1], nmutants);
        return 2;
    }
    print_mutant(&mutants[id - 1]);
    return 0;
}
