/* streams.c - what is drawn, and what is left of the generator after each call, is torch's: random
 * programs over three generators (streams.txt, written by streams.py).
 *
 *     streams FILE */
#include "../../src/api/nn.h"
#include "../../src/api/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct draw {
    char op[24], type[8], layout, kind, a[32], b[32], values[32], state[12];
    int which;
    int64_t n;
} draw;

static const char *const types[] = {"f64", "f32", "f16", "bf16", "i64", "i32",
                                    "i16", "i8",  "u8",  "bool", "c64", "c128"};
static const tn_dtype dtypes[] = {TN_F64, TN_F32, TN_F16, TN_BF16, TN_I64, TN_I32,
                                  TN_I16, TN_I8,  TN_U8,  TN_BOOL, TN_C64, TN_C128};
static tn_generator *generators[4];
static uint8_t saved[TN_GENERATOR_BYTES];

static tn_dtype dtype_named(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], name) == 0) return dtypes[i];
    return TN_NO_DTYPE;
}

static uint64_t fnv(const void *data, size_t n, uint64_t h) {
    const uint8_t *at = (const uint8_t *)data;
    for (size_t i = 0; i < n; i++) h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}
static const uint64_t fnv_start = 0xcbf29ce484222325u;

/* The bytes without the kept normal number, whose last bits are libm's; so reads streams.py. */
static void state_text(const tn_generator *g, char *to, size_t room) {
    enum { NORMAL = 24 + 8 * 624 + 8 };
    uint8_t state[TN_GENERATOR_BYTES];
    uint64_t h;
    tn_generator_state(g, state);
    h = fnv(state, NORMAL, fnv_start);
    h = fnv(state + NORMAL + 8, TN_GENERATOR_BYTES - NORMAL - 8, h);
    snprintf(to, room, "%08x", (unsigned)(h >> 32));
}

static bool same_values(const draw *d, tn_tensor *t) {
    tn_tensor *dense = tnp_contiguous(t);
    char text[32];
    int64_t n = tn_numel(t);
    double sum = 0, most = 0, wanted = strtod(d->values, NULL);
    if (!dense) return false;
    if (d->kind == '=') {
        size_t bytes = (size_t)n * (size_t)tn_dtype_bytes(tn_dtype_of(t));
        uint64_t h = fnv(n ? tn_data(dense) : NULL, bytes, fnv_start);
        snprintf(text, sizeof text, "%016llx", (unsigned long long)h);
        return strcmp(text, d->values) == 0;
    }
    for (int64_t i = 0; i < n; i++) {
        double w = (double)(i * 40503 % 97 + 1) / 97, v = ((const double *)tn_data(dense))[i];
        sum += v * w;
        most += fabs(v * w);
    }
    return fabs(sum - wanted) <= 1e-12 * most + 1e-13 * fabs(wanted);
}

static tn_tensor *blank(const draw *d, tn_dtype dtype) {
    int64_t twice = 2 * d->n, two[] = {2, d->n / 2}, tall[] = {d->n / 2, 2};
    switch (d->layout) {
    case '0': return tnp_zeros(tn_ints_of(&twice, 0), dtype, TN_CPU);
    case 't': return tnp_transpose(tnp_zeros(tn_ints_of(two, 2), dtype, TN_CPU), 0, 1);
    case 'm': return tnp_zeros(tn_ints_of(tall, 2), dtype, TN_CPU);
    case 's': return tnp_slice(tnp_zeros(tn_ints_of(&twice, 1), dtype, TN_CPU), 0, 0, INT64_MAX, 2);
    default: return tnp_zeros(tn_ints_of(&d->n, 1), dtype, TN_CPU);
    }
}

static tn_tensor *chances(const draw *d, tn_dtype dtype) {
    tn_tensor *t = tnp_zeros(tn_ints_of(&d->n, 1), TN_F64, TN_CPU);
    for (int64_t i = 0; i < d->n; i++) ((double *)tn_data(t))[i] = (double)(i % 11) / 10;
    return tn_to_dtype(t, dtype);
}

static tn_tensor *drawn_init(const draw *d, tn_dtype dtype, double a) {
    tn_tensor *t = blank(d, dtype);
    bool normal = strstr(d->op, "normal") != NULL;
    if (d->op[0] == 'x')
        return normal ? tn_nn_init_xavier_normal_(t, a) : tn_nn_init_xavier_uniform_(t, a);
    return normal ? tn_nn_init_kaiming_normal_(t, a, TN_FAN_IN, TN_INIT_LEAKY_RELU)
                  : tn_nn_init_kaiming_uniform_(t, a, TN_FAN_IN, TN_INIT_LEAKY_RELU);
}

static tn_tensor *drawn(const draw *d) {
    tn_dtype dtype = dtype_named(d->type);
    tn_generator *g = d->which ? generators[d->which] : NULL;
    tn_ints size = tn_ints_of(&d->n, d->layout != '0');
    double a = strtod(d->a, NULL), b = strtod(d->b, NULL);
    int64_t low = strtoll(d->a, NULL, 10), high = strtoll(d->b, NULL, 10);
    const char *op = d->op;
    if (!strcmp(op, "rand")) return tnp_rand(size, g, dtype, TN_NO_DEVICE);
    if (!strcmp(op, "randn")) return tnp_randn(size, g, dtype, TN_NO_DEVICE);
    if (!strcmp(op, "rand_like")) return tnp_rand_like(blank(d, dtype), g);
    if (!strcmp(op, "randn_like")) return tnp_randn_like(blank(d, dtype), g);
    if (!strcmp(op, "uniform")) return tnp_uniform_(blank(d, dtype), a, b, g);
    if (!strcmp(op, "normal")) return tnp_normal_(blank(d, dtype), a, b, g);
    if (!strcmp(op, "exponential")) return tnp_exponential_(blank(d, dtype), a, g);
    if (!strcmp(op, "randint"))
        return low ? tnp_randint_low(low, high, size, g, dtype, TN_NO_DEVICE)
                   : tnp_randint(high, size, g, dtype, TN_NO_DEVICE);
    if (!strcmp(op, "randperm")) return tnp_randperm(d->n, g, dtype, TN_NO_DEVICE);
    if (!strcmp(op, "bernoulli")) return tnp_bernoulli(chances(d, dtype), g);
    if (!strcmp(op, "bernoulli_float")) return tnp_bernoulli_float_(blank(d, dtype), a, g);
    if (!strcmp(op, "dropout"))
        return tnp_dropout(tnp_add_scalar(blank(d, dtype), tn_int(1), 1), a, b == 1);
    return drawn_init(d, dtype, a);
}

/* seed, save, restore, fork: the generator that was touched; NULL: d draws. */
static tn_generator *handled(const draw *d) {
    tn_generator *g = generators[d->which];
    if (!strcmp(d->op, "seed")) {
        if (d->which)
            tn_generator_seed(g, strtoull(d->a, NULL, 10));
        else
            tn_manual_seed(strtoull(d->a, NULL, 10));
        return g;
    }
    if (!strcmp(d->op, "save")) return tn_generator_state(g, saved), g;
    if (!strcmp(d->op, "restore")) return tn_generator_set_state(g, saved) ? g : NULL;
    if (!strcmp(d->op, "fork")) {
        uint8_t state[TN_GENERATOR_BYTES];
        tn_generator_state(g, state);
        tn_generator_free(generators[3]);
        generators[3] = tn_generator_new(77);
        return tn_generator_set_state(generators[3], state) ? generators[3] : NULL;
    }
    return NULL;
}

static bool step(const char *line, int number) {
    draw d;
    char text[12];
    bool good = true;
    tn_generator *g;
    memset(&d, 0, sizeof d);
    if (sscanf(line, "%23s %d %7s %c %lld %31s %31s %c %31s %11s", d.op, &d.which, d.type,
               &d.layout, (long long *)&d.n, d.a, d.b, &d.kind, d.values, d.state) != 10)
        return printf("line %d: not a step: %s", number, line), false;
    g = handled(&d);
    if (!g) {
        TN_SCOPE {
            tn_tensor *t = drawn(&d);
            good = t && tn_dtype_of(t) == dtype_named(d.type) && same_values(&d, t);
        }
        g = generators[d.which];
    }
    if (!good) printf("line %d: values: %s", number, line);
    if (!tn_ok()) tn_error_print();
    state_text(g, text, sizeof text);
    if (strcmp(text, d.state) == 0) return good;
    return printf("line %d: state %s: %s", number, text, line), false;
}

int main(int argc, char **argv) {
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    char line[300];
    int number = 0, passed = 0, failed = 0;
    unsigned long long seed;
    if (!f) return printf("0 passed, 1 failed\n"), 1;
    generators[0] = generators[1] = tn_default_generator();
    generators[2] = tn_generator_new(0), generators[3] = tn_generator_new(0);
    while (fgets(line, sizeof line, f)) {
        number++;
        if (line[0] == '#') continue;
        if (sscanf(line, "program %llu", &seed) != 1) {
            if (step(line, number))
                passed++;
            else
                failed++;
            continue;
        }
        tn_manual_seed(seed);
        tn_generator_seed(generators[2], seed + 1), tn_generator_seed(generators[3], seed + 2);
    }
    fclose(f);
    tn_generator_free(generators[2]), tn_generator_free(generators[3]);
    printf("streams: %d calls\n%d passed, %d failed\n", passed + failed, passed, failed);
    return failed || !passed;
}
