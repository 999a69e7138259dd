/* sample.c - does a row's sample fit its schema? The grammar: samples separated by " | ", each a
 * list of `[name=]value`, positional in schema order; values:
 *
 *     (2,3) ():f64 (4)<3     a tensor, its dtype, bound of random integers     {(2,3),(4,3)}  a
 *                            list of tensors
 *     (4,4):pd (9):bool<0.2  a structure of tests/ops/elements.h; how many are true
 *     [1,-1] [0.5]           lists of numbers      3 0.5 True False None       mean float64   a
 *                            word */
#include "optable.h"

#include <string.h>

static int parameter_named(const row *r, const char *name, size_t n) {
    for (int i = 0; i < r->s.nparam; i++)
        if ((size_t)r->s.param[i].name.n == n && !memcmp(r->s.param[i].name.at, name, n)) return i;
    return -1;
}

static void read_item(const row *r, const char *item, int *position, uint64_t *given) {
    size_t n = strcspn(item, "=([{");
    bool keyword = item[n] == '=';
    int i = keyword ? parameter_named(r, item, n) : (*position)++;
    const char *value = keyword ? item + n + 1 : item;
    if (i < 0 || i >= r->s.nparam)
        fault(r->file, r->line, "%s: .sample: no parameter for '%s'", r->name, item);
    else if (*given >> i & 1)
        fault(r->file, r->line, "%s: .sample: '%s' is given twice", r->name, item);
    else if (!sample_fits(&r->s.param[i], value))
        fault(r->file, r->line, "%s: .sample: '%s' does not fit '%.*s'", r->name, value,
              r->s.param[i].name.n, r->s.param[i].name.at);
    if (i >= 0 && i < r->s.nparam) *given |= (uint64_t)1 << i;
}

void read_sample(const row *r) {
    for (const char *at = r->sample; *at;) {
        uint64_t given = 0;
        int position = 0;
        while (*at && *at != '|') {
            size_t n = strcspn(at, " |");
            if (n) read_item(r, text_copy(at, n), &position, &given);
            at += n ? n : 1;
        }
        for (int i = 0; i < r->s.nparam; i++)
            if (!(r->s.param[i].flags & TN_P_DEFAULT) && !(given >> i & 1))
                fault(r->file, r->line, "%s: .sample: a sample lacks '%.*s'", r->name,
                      r->s.param[i].name.n, r->s.param[i].name.at);
        if (*at) at++;
    }
}
