/* wordpiece.c - prints what the tokenizer of examples/sentences makes of letters, and tries its
 * ends: bytes that are no UTF-8, long words, few places. sentences.py prints the same letters. */
#include "wordpiece.h"

#include <stdio.h>

static void show(int first, int last) {
    for (int c = first; c <= last; c++) {
        char text[8] = "a", *end = encode(text + 1, c), *words;
        memcpy(end, "b", 2);
        if (c == 0x2028 || c == 0x2029 || c == 0x2065 || !(words = words_of(text))) continue;
        printf("%x", (unsigned)c);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) printf(" %s", word);
        putchar('\n');
        free(words);
    }
}

int main(void) {
    static const char *const odd[] = {
        "\xff", "\xc3", "\xc0\xaf", "\xe2\x82", "\xf0\x9f\x98", "\xf5\x80\x80\x80", "a\xcc"};
    show(1, 0x17f);
    show(0x300, 0x36f);
    show(0x2000, 0x206f);
    show(0x3000, 0x3011);
    for (size_t i = 0; i < sizeof odd / sizeof *odd;
         i++) { /* bytes that are no UTF-8 end nowhere else */
        char *words = words_of(odd[i]);
        if (!words || strlen(words) > 3) return 1;
        free(words);
    }
    char text[] = "b\r\na\n", word[2 + MOST_LETTERS] = "";
    vocabulary v;
    int64_t ids[4] = {0, 0, 0, 7};
    memset(word, 'a', MOST_LETTERS + 1);
    if (!vocabulary_new(&v, text) || v.n != 2 || number_of(&v, "a") != 1 ||
        number_of(&v, "c") != -1)
        return 2;
    if (wordpiece(&v, word, ids, 0, 3) != 1 || ids[0] != -1)
        return 3; /* too long: [UNK], -1 here */
    if (tokenize(&v, "b a b a b a", ids, 3) != 3 || ids[1] != 0 || ids[3] != 7) return 4;
    free(v.at);
    return 0;
}
