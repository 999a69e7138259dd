/* native.c - the page's training on this machine: the same calls, and so the same bits.
 *
 *     native RATE STEPS     prints the hash of the first layer's weights, and the held-out accuracy
 *
 * page.py asks the page for both. */
#include "page.c"

#include <stdio.h>
#include <stdlib.h>

/* FNV-1a over little-endian words, as page.py has it */
static uint32_t hash(const float *at, int n) {
    uint32_t h = 2166136261u;
    for (int i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, &at[i], sizeof word);
        h = (h ^ word) * 16777619u;
    }
    return h;
}

int main(int argc, char **argv) {
    if (argc != 3 || !page_reset(1)) return 1;
    const double rate = strtod(argv[1], NULL);
    for (int step = atoi(argv[2]); step > 0; step--)
        if (page_train(rate) < 0) break;
    const float part = page_test();
    printf("%08x %.6f\n", (unsigned)hash(page_weights(), page_hidden() * PIXELS), (double)part);
    return tn_error_print();
}
