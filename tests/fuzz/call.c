/* call.c - a call by name in words: the operator on the first line, then an argument a line,
 *
 *     [name=]value    None True False 3 0.5 [1,2] [0.5] 'word' %dtype-number
 *                     (2,3) a tensor, (2,3):dtype-number, {(2) two tensors of that shape
 *
 * A result or an error within 8 MiB, and nothing is left. */
#include "fuzz.h"

#include "../../src/api/extend.h"
#include "../../src/api/ops.h"

enum { LINES = 10, ITEMS = 8, RESULTS = 64 };

static int64_t ints[LINES][ITEMS];
static double floats[LINES][ITEMS];
static tn_tensor *pairs[LINES][2];

/* Numbers up to a sign that ends them; how many. */
static int numbers(const char *at, int64_t *whole, double *real) {
    int n = 0;
    while (n < ITEMS && *at && !strchr(")]}", *at)) {
        char *end;
        if (real)
            real[n] = strtod(at, &end);
        else
            whole[n] = strtoll(at, &end, 10);
        if (end == at) break;
        n++;
        at = end + (*end == ',');
    }
    return n;
}

static tn_tensor *tensor_of(const char *at) {
    int64_t size[ITEMS], numel = 1;
    int n = numbers(at, size, NULL);
    const char *colon = strchr(at, ':');
    int dtype = colon ? (int)(strtoul(colon + 1, NULL, 10) % 18) : 0;
    for (int i = 0; i < n; i++) {
        size[i] = size[i] < 0 ? 0 : size[i] % 7;
        numel *= size[i] ? size[i] : 1;
        if (numel > 1000) size[i] = 1, numel = 1000;
    }
    return dtype ? tn_ones(tn_ints_of(size, n), .dtype = (tn_dtype)dtype)
                 : tn_randn(tn_ints_of(size, n));
}

static void value_of(tn_value *v, char *text, int i) {
    char *equal = strchr(text, '='), *at = equal ? equal + 1 : text;
    memset(v, 0, sizeof *v);
    if (equal) *equal = 0, v->name = text;
    if (*at == '(') {
        v->type = (v->as.tensor = tensor_of(at + 1)) ? TN_T_TENSOR : 0;
    } else if (*at == '{') {
        for (int k = 0; k < 2; k++) pairs[i][k] = tensor_of(at + 1 + (at[1] == '('));
        v->type = TN_T_TENSORS, v->as.tensors = tn_tensors_of(pairs[i], 2);
    } else if (*at == '[' && strchr(at, '.')) {
        v->type = TN_T_FLOATS, v->as.floats.at = floats[i];
        v->as.floats.n = numbers(at + 1, NULL, floats[i]);
    } else if (*at == '[') {
        v->type = TN_T_INTS, v->as.ints = tn_ints_of(ints[i], numbers(at + 1, ints[i], NULL));
    } else if (*at == '\'') {
        v->type = TN_T_STRING, v->as.string = at + 1;
    } else if (*at == '%') {
        v->type = TN_T_DTYPE, v->as.dtype = (tn_dtype)(strtoul(at + 1, NULL, 10) % 18);
    } else if (*at == 'T' || *at == 'F') {
        v->type = TN_T_BOOL, v->as.boolean = *at == 'T';
    } else if (strchr(at, '.')) {
        v->type = TN_T_FLOAT, v->as.real = strtod(at, NULL);
    } else if (*at && *at != 'N') {
        v->type = TN_T_INT, v->as.integer = strtoll(at, NULL, 10);
    }
}

/* Reads the first and the last element, where there is one. */
static bool readable(const tn_tensor *t) {
    volatile const char *at = (const char *)tn_data(t);
    int64_t last = 0;
    if (!t || tn_numel(t) == 0 || !at) return true;
    for (int i = 0; i < tn_ndim(t); i++) last += (tn_shape(t).at[i] - 1) * tn_strides(t).at[i];
    last = (last + 1) * tn_dtype_bytes(tn_dtype_of(t)) - 1;
    return at[0] + at[last] < 1000;
}

static bool one(const uint8_t *data, size_t size) {
    tn_context *old = tn_context_current(), *own = fuzz_enter(8 << 20);
    char *line[LINES + 1];
    tn_value values[LINES];
    tn_tensor *results[RESULTS];
    int n = 0, count;
    bool ok = false;
    fuzz_lines(data, size, line, LINES + 1);
    TN_SCOPE {
        for (int i = 1; i <= LINES && *line[i]; i++) value_of(&values[n++], line[i], i - 1);
        ok = tn_call_named(NULL, 0, line[0], values, n, results, RESULTS, &count);
        for (int k = 0; ok && k < count && k < RESULTS; k++) MUST(readable(results[k]), "a result");
        if (!ok) fuzz_error();
    }
    fuzz_leave(own);
    tn_context_use(old);
    fuzz_lines_free(line, LINES + 1);
    return ok;
}

/* --- mutation: an operator that there is, and values of the kinds that it takes --------------- */

#ifndef FUZZ_REPLAY
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static const char *some_value(int type) {
    static const char *const tensors[] = {
        "(2,3)", "()",    "(0,3)",     "(3)",        "(2,3):6",  "(1,2,4,4)", "(2,2)",
        "(3):1", "(3):2", "(2,1,3,3)", "(2,3,4):10", "(2,3):11", "(4,4):12",  "(5):6"};
    static const char *const whole[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "3",
                                        "64",
                                        "4294967297",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "65536"};
    static const char *const lists[] = {
        "[]",    "[0]",   "[1,1]", "[2,3]",          "[-1]",
        "[0,1]", "[1,0]", "[3,3]", "[2147483648,4]", "[4294967296,4294967296]"};
    static const char *const others[] = {"None", "True",     "False",  "0.5",   "1.e300",
                                         "-0.",  "'mean",    "'sum",   "'none", "%9",
                                         "%6",   "[0.5,2.]", "{(2,3)", "{()"};
    int k = fuzz_below(10);
    if (!fuzz_below(8)) type = 0;
    switch (type) {
    case TN_T_TENSOR: return tensors[fuzz_below(14)];
    case TN_T_TENSORS: return others[12 + fuzz_below(2)];
    case TN_T_INT: return whole[k];
    case TN_T_INTS: return lists[k];
    case TN_T_BOOL: return others[1 + fuzz_below(2)];
    case TN_T_FLOAT:
    case TN_T_SCALAR: return others[3 + fuzz_below(3)];
    case TN_T_DTYPE: return others[9 + fuzz_below(2)];
    default: return others[fuzz_below(14)];
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    char text[1024];
    const tn_row *row;
    int n;
    fuzz_seed(seed);
    if (most < sizeof text || fuzz_below(3)) return LLVMFuzzerMutate(data, size, most);
    row = tn_row_at(fuzz_below((int)tn_row_count()));
    n = snprintf(text, sizeof text, "%s%s", row->name,
                 row->forms & TN_INPLACE && !fuzz_below(4) ? "_" : "");
    for (int i = 0; i < row->gen->nparam && i < LINES && n < 900; i++) {
        const tn_param *p = &row->gen->param[i];
        if (p->flags & TN_P_DEFAULT && fuzz_below(2)) continue;
        n += snprintf(text + n, sizeof text - (size_t)n, "\n%s=%s", p->name, some_value(p->type));
    }
    memcpy(data, text, (size_t)n);
    return (size_t)n;
}
#endif

const fuzz_target fuzz_this = {"call", NULL, one};
