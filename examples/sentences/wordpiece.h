/* wordpiece.h - text as numbers of a vocabulary: BERT's tokenizer for Latin letters.
 *
 * Upper case and accents are removed, also those of combining marks, and words are parted at spaces
 * and punctuation; then each word becomes the longest pieces that the vocabulary has, ## before all
 * but the first (Y. Wu et al., Google's neural machine translation system, 2016, section 4.1).
 *
 * Letters are folded up to U+017F; those of other scripts and of Vietnamese stay as they are.
 * Chinese letters are words of their own. Punctuation and spaces are those of ASCII, Latin-1, the
 * general block U+2000 and Chinese. A byte that is no UTF-8 is left out. */
#ifndef WORDPIECE_H
#define WORDPIECE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- letters ---------------------------------------------------------------------------------- */

typedef int range[2]; /* first, last */
static const range spaces[] = {{9, 10},          {13, 13},         {32, 32},
                               {0xa0, 0xa0},     {0x2000, 0x200a}, {0x202f, 0x202f},
                               {0x205f, 0x205f}, {0x3000, 0x3000}};
static const range dropped[] = {{0, 31},          {0x7f, 0x9f},     {0xad, 0xad},
                                {0x300, 0x36f},   {0x200b, 0x200f}, {0x202a, 0x202e},
                                {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfffd, 0xfffd}};
static const range alone[] = {
    {'!', '/'},       {':', '@'},       {'[', '`'},       {'{', '~'},       {0xa1, 0xa1},
    {0xa7, 0xa7},     {0xab, 0xab},     {0xb6, 0xb7},     {0xbb, 0xbb},     {0xbf, 0xbf},
    {0x2010, 0x2027}, {0x2030, 0x2043}, {0x2045, 0x2051}, {0x2053, 0x205e}, {0x3001, 0x3003},
    {0x3008, 0x3011}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x2fa1f}};
#define IN(c, ranges) in_ranges(c, ranges, (int)(sizeof(ranges) / sizeof *(ranges)))

static bool in_ranges(int c, const range *r, int n) {
    for (int i = 0; i < n; i++)
        if (c >= r[i][0] && c <= r[i][1]) return true;
    return false;
}

/* From U+00C0 on: the letter without its accent; . itself, + the next, ^ that 32 places on. */
static const char latin[] = "aaaaaa^ceeeeiiii^nooooo.^uuuuy^.aaaaaa.ceeeeiiii.nooooo..uuuuy.y"
                            "aaaaaaccccccccdd+.eeeeeeeeeegggggggghh+.iiiiiiiii.+.jjkk.llllll+"
                            ".+.nnnnnn.+.oooooo+.rrrrrrsssssssstttt+.uuuuuuuuuuuuwwyyyzzzzzz.";
static int lower(int c) {
    if (c >= 'A' && c <= 'Z') return c + 32;
    if (c < 0xc0 || c > 0x17f) return c;
    const char to = latin[c - 0xc0];
    return to == '.' ? c : to == '+' ? c + 1 : to == '^' ? c + 32 : to;
}

/* The next letter of UTF-8, U+FFFD for a byte that begins none. */
static int decode(const char **at) {
    const unsigned char *s = (const unsigned char *)*at;
    const int more = s[0] < 0x80 ? 0 : s[0] < 0xc2 ? -1 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    int c = more < 1 ? s[0] : s[0] & (0x3f >> more);
    *at += 1;
    if (more < 0 || s[0] > 0xf4) return 0xfffd;
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0xfffd;
        c = c << 6 | (s[i] & 0x3f);
    }
    *at += more;
    return c;
}
static char *encode(char *to, int c) {
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const int marks[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(marks[more] | c >> 6 * more);
    for (int i = more - 1; i >= 0; i--) *to++ = (char)(0x80 | (c >> 6 * i & 0x3f));
    return to;
}

/* The words of a text with one space behind each; NULL without memory. The caller frees it. */
static char *words_of(const char *text) {
    char *words = malloc(3 * strlen(text) + 2),
         *to = words; /* a letter alone has two spaces more */
    while (words && *text) {
        const int c = decode(&text);
        if (IN(c, spaces))
            *to++ = ' ';
        else if (IN(c, alone)) {
            *to++ = ' ';
            to = encode(to, c);
            *to++ = ' ';
        } else if (!IN(c, dropped))
            to = encode(to, lower(c));
    }
    if (words) memcpy(to, " ", 2);
    return words;
}

/* --- pieces ----------------------------------------------------------------------------------- */

typedef struct entry {
    const char *word;
    int64_t id;
} entry;
typedef struct vocabulary {
    entry *at; /* sorted by word */
    size_t n;
} vocabulary;

static int by_word(const void *a, const void *b) {
    return strcmp(((const entry *)a)->word, ((const entry *)b)->word);
}
/* The lines of the text, which is changed and must live on. False without memory. */
static bool vocabulary_new(vocabulary *v, char *text) {
    size_t lines = 1;
    for (const char *at = text; *at; at++) lines += *at == '\n';
    v->n = 0;
    v->at = malloc(lines * sizeof *v->at);
    for (char *end; v->at && *text; text = end) {
        end = text + strcspn(text, "\n");
        if (*end) *end++ = 0;
        text[strcspn(text, "\r")] = 0;
        v->at[v->n].word = text;
        v->at[v->n].id = (int64_t)v->n;
        v->n++;
    }
    if (v->at) qsort(v->at, v->n, sizeof *v->at, by_word);
    return v->at != NULL;
}
/* The number of a word, -1 if it is none. */
static int64_t number_of(const vocabulary *v, const char *word) {
    const entry key = {word, 0}, *e = bsearch(&key, v->at, v->n, sizeof key, by_word);
    return e ? e->id : -1;
}

enum { MOST_LETTERS = 100 }; /* of a word; a longer one is unknown */

/* Appends the pieces of a word to the n numbers at ids, [UNK] if a part of it is no piece: how many
 * there are then. Those that are more than `most` are left out. */
static int wordpiece(const vocabulary *v, const char *word, int64_t *ids, int n, int most) {
    char piece[2 + 4 * MOST_LETTERS + 1] = "##";
    int64_t found[MOST_LETTERS], id = -1;
    int letters = 0, pieces = 0;
    for (const char *at = word; *at; decode(&at)) letters++;
    for (const char *at = word; *at && letters <= MOST_LETTERS; pieces++) {
        size_t length = strlen(at);
        for (id = -1; length && id < 0; length -= id < 0) {
            memcpy(piece + 2, at, length);
            piece[2 + length] = 0;
            id = number_of(v, at == word ? piece + 2 : piece);
        }
        if (pieces == MOST_LETTERS) id = -1; /* pieces of less than a letter */
        if (id < 0) break;
        found[pieces] = id;
        at += length;
    }
    if (id < 0) {
        found[0] = number_of(v, "[UNK]");
        pieces = 1;
    }
    for (int i = 0; i < pieces && n < most; i++) ids[n++] = found[i];
    return n;
}

/* The numbers of a text, [CLS] first and [SEP] last, at most `most`; 0 without memory. */
static int tokenize(const vocabulary *v, const char *text, int64_t *ids, int most) {
    char *words = words_of(text);
    int n = 0;
    if (!words) return 0;
    ids[n++] = number_of(v, "[CLS]");
    for (char *word = words, *end; *word; word = end + 1) {
        end = strchr(word, ' ');
        *end = 0;
        if (*word) n = wordpiece(v, word, ids, n, most - 1);
    }
    ids[n++] = number_of(v, "[SEP]");
    free(words);
    return n;
}
#endif
