/* words.c - does the vocabulary of src/simd have the words of a pointwise expression, for each kind
 * of the row? The compiler would refuse the row once for each dtype and instruction set. */
#include "optable.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH = 16 };

/* Is this condition of a preprocessor's line true where the words of a kind are defined? Conditions
 * that do not ask for the type hold, so that the words of all instruction sets are there. */
static bool holds(const char *line, bool floating) {
    if (strstr(line, "!defined(")) return false; /* of a guard that stops the compiler */
    if (strstr(line, "TNI_FLOATING")) return floating;
    if (strstr(line, "defined(TNI_TYPE_")) return floating == (strstr(line, "TNI_TYPE_F") != NULL);
    return true;
}

static bool is_word(const char *at) { return (*at == 'V' || *at == 'M') && at[1] == '_'; }

static size_t name_length(const char *at) {
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
    return n;
}

/* Adds " V_NAME " for each word that a file defines. */
static void words_of_file(text *words, const char *path, bool floating) {
    bool on[DEPTH] = {true};
    int depth = 0;
    const char *at = file_read(path);
    if (!at) fault(path, 1, "cannot read");
    while (at && *at) {
        const char *next = strchr(at, '\n');
        char *line = text_copy(at, next ? (size_t)(next - at) : strlen(at));
        if (!strncmp(line, "#if", 3) && depth + 1 < DEPTH) {
            on[depth + 1] = on[depth] && holds(line, floating);
            depth++;
        } else if (!strncmp(line, "#elif", 5) && depth)
            on[depth] = on[depth - 1] && holds(line, floating);
        else if (!strncmp(line, "#else", 5) && depth)
            on[depth] = on[depth - 1] && !on[depth];
        else if (!strncmp(line, "#endif", 6) && depth)
            depth--;
        else if (on[depth] && !strncmp(line, "#define ", 8) && is_word(line + 8))
            put(words, " %.*s ", (int)name_length(line + 8), line + 8);
        at = next ? next + 1 : NULL;
    }
}

typedef struct vocabulary {
    char letter;
    bool floating;
    const char *what, *files[3];
} vocabulary;
static const vocabulary vocabularies[] = {
    {'F', true, "floats", {"src/simd/vocabulary.h", "src/simd/scalar.h", NULL}},
    {'f', true, "floats", {"src/simd/vocabulary.h", "src/simd/scalar.h", "src/simd/special.h"}},
    {'I', false, "integers", {"src/simd/vocabulary.h", "src/simd/scalar.h", NULL}},
    {'C', false, "complex numbers", {"src/simd/complex.h", NULL, NULL}},
    {'c', false, "complex numbers", {"src/simd/complex.h", NULL, NULL}},
    {'B', false, "bools", {"src/simd/vocabulary.h", "src/simd/scalar.h", "src/simd/bool.h"}},
};
enum { VOCABULARIES = sizeof vocabularies / sizeof *vocabularies };

static const char *words_of(int k) {
    static text words[VOCABULARIES];
    if (!words[k].at) {
        put(&words[k], " ");
        for (int i = 0; i < 3 && vocabularies[k].files[i]; i++)
            words_of_file(&words[k], vocabularies[k].files[i], vocabularies[k].floating);
    }
    return words[k].at;
}

void read_expression(const row *r) {
    for (int k = 0; k < VOCABULARIES; k++) {
        const vocabulary *v = &vocabularies[k];
        if (!strchr(r->kinds, v->letter)) continue;
        for (const char *at = r->expression; *at;) {
            size_t n = name_length(at);
            char *word = text_format(" %.*s ", (int)n, at);
            if (is_word(at) && !strstr(words_of(k), word)) {
                fault(r->file, r->line, "%s: the vocabulary has no word%sfor %s: %s", r->name, word,
                      v->what, v->files[0]);
                return;
            }
            at += n ? n : 1;
        }
    }
}
