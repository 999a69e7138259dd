/* texts.c - the text of a tensor is torch's: random tensors under random print options, against
 * hashes of torch's texts (texts.txt, written by texts.py).
 *
 *     texts FILE [show] */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOLS = 24, VALUES = 12 };

typedef struct text_case {
    char type[8], pool[16], how, usual[8];
    unsigned long long seed;
    tn_print_options options;
    int ndim;
    long long size[5];
    int length;
    unsigned hash;
} text_case;

static struct {
    char name[16];
    int n;
    double value[VALUES];
} pools[POOLS];
static int npools;

static uint64_t mixed(uint64_t x) {
    uint64_t z = x += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static unsigned hash_of(const char *text) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++) h = (h ^ (uint8_t)*text) * 0x100000001b3u;
    return (unsigned)(h >> 32);
}

static tn_dtype dtype_of(const char *name) {
    static const char *const names[] = {"f64", "f32", "f16", "bf16", "i64", "i32",
                                        "i16", "i8",  "u8",  "bool", "c64", "c128",
                                        "u16", "u32", "u64", "f8",   "f8e5"};
    static const tn_dtype dtypes[] = {TN_F64, TN_F32, TN_F16, TN_BF16,   TN_I64,   TN_I32,
                                      TN_I16, TN_I8,  TN_U8,  TN_BOOL,   TN_C64,   TN_C128,
                                      TN_U16, TN_U32, TN_U64, TN_F8E4M3, TN_F8E5M2};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return dtypes[i];
    return TN_NO_DTYPE;
}

static tn_tensor *numbers(const text_case *c, int ndim, const int64_t *size) {
    tn_dtype dtype = dtype_of(c->type);
    bool pairs = c->type[0] == 'c';
    tn_tensor *t = tnp_empty(tn_ints_of(size, ndim), pairs ? TN_C128 : TN_F64, TN_CPU);
    int64_t n = tn_numel(t) * (pairs ? 2 : 1);
    int k = 0;
    while (k < npools - 1 && strcmp(pools[k].name, c->pool) != 0) k++;
    for (int64_t i = 0; i < n; i++)
        ((double *)tn_data(t))[i] =
            pools[k].value[mixed(c->seed + (uint64_t)i) % (uint64_t)pools[k].n];
    return dtype == tn_dtype_of(t) ? t : tn_to_dtype(t, dtype);
}

static tn_tensor *made(const text_case *c) {
    int64_t size[5], first = c->ndim ? c->size[0] : 1;
    int last = c->ndim - 1;
    tn_tensor *t;
    for (int i = 0; i < 5; i++) size[i] = c->size[i];
    switch (c->how) {
    case 'm': return tnp_empty(tn_ints_of(size, c->ndim), dtype_of(c->type), TN_META);
    case 't':
        size[0] = size[last], size[last] = first;
        return tnp_transpose(numbers(c, c->ndim, size), 0, -1);
    case 's': size[last] *= 2; return tnp_slice(numbers(c, c->ndim, size), -1, 0, INT64_MAX, 2);
    case 'b':
        size[0] = 1, t = numbers(c, c->ndim, size), size[0] = first;
        return tnp_expand(t, tn_ints_of(size, c->ndim), false);
    default: t = numbers(c, c->ndim, size);
    }
    if (c->how != 'c') t = tn_requires_grad(tnp_detach(t));
    return c->how == 'a' ? tnp_add(t, t, 1) : t;
}

static bool read_case(const char *line, text_case *c) {
    tn_print_options *o = &c->options;
    return sscanf(line, "%7s %15s %llu %c %7s %d %d %d %d %d %d %lld %lld %lld %lld %lld %d %x",
                  c->type, c->pool, &c->seed, &c->how, c->usual, &o->precision, &o->threshold,
                  &o->edgeitems, &o->linewidth, &o->sci_mode, &c->ndim, &c->size[0], &c->size[1],
                  &c->size[2], &c->size[3], &c->size[4], &c->length, &c->hash) == 18;
}

static bool same_text(const char *line, int number, bool show) {
    text_case c;
    bool good = false;
    memset(&c, 0, sizeof c);
    if (!read_case(line, &c)) return printf("line %d: not a case: %s", number, line), false;
    tn_set_default_dtype(dtype_of(c.usual));
    TN_SCOPE {
        char *text = tn_to_text(made(&c), &c.options);
        good = text && (int)strlen(text) == c.length && hash_of(text) == c.hash;
        if (!good) printf("line %d: %s%s\n", number, line, text && show ? text : "");
        if (text) tn_alloc_free(text, strlen(text) + 1);
    }
    if (!tn_ok()) tn_error_print();
    return good;
}

static void read_pool(const char *line) {
    int at = 0, n = 0;
    if (npools == POOLS || sscanf(line, "pool %15s%n", pools[npools].name, &n) != 1) return;
    at = n;
    while (pools[npools].n < VALUES && line[at] == ' ') {
        char *end;
        pools[npools].value[pools[npools].n++] = strtod(line + at, &end);
        at = (int)(end - line);
    }
    npools++;
}

int main(int argc, char **argv) {
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    char line[400];
    int number = 0, passed = 0, failed = 0;
    if (!f) return printf("0 passed, 1 failed\n"), 1;
    while (fgets(line, sizeof line, f)) {
        number++;
        if (line[0] == '#') continue;
        if (!strncmp(line, "pool", 4))
            read_pool(line);
        else if (same_text(line, number, argc > 2))
            passed++;
        else
            failed++;
    }
    fclose(f);
    printf("texts: %d tensors\n%d passed, %d failed\n", passed + failed, passed, failed);
    return failed || !passed;
}
