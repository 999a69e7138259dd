/* calls.c - every row by name with arguments drawn at random: a result or an error, never a report
 * of a sanitizer, an internal error or a call that does not end.
 *
 *     calls [SEED [COUNT [ROW]]]
 *
 * Sizes, dims, indices and lists come from {-2 .. 5, 2^16, 2^31, 2^32 + 1, 2^62, INT64_MIN,
 * INT64_MAX, ..}, tensors from all dtypes and layouts, results go to out= at times, what is
 * differentiable is differentiated. Memory is capped at 64 MiB. A call that asks for more than
 * SECONDS is a failure. */
#define _XOPEN_SOURCE 700 /* alarm */
#include "../../src/api/ops.h"
#include "../../src/call/call.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POOL = 4, VALUES = 24, INTS = 20, RESULTS = 64, SECONDS = 60 };

static uint64_t state;
static int64_t below(int64_t n) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int64_t)((z ^ z >> 31) % (uint64_t)n);
}

static int64_t some_int(void) {
    static const int64_t values[] = {-1,
                                     -2,
                                     7,
                                     17,
                                     65536,
                                     -65536,
                                     INT64_C(1) << 31,
                                     (INT64_C(1) << 31) - 1,
                                     -(INT64_C(1) << 31),
                                     INT64_C(1) << 32,
                                     (INT64_C(1) << 32) + 1,
                                     INT64_C(1) << 40,
                                     INT64_C(1) << 61,
                                     INT64_C(1) << 62,
                                     -(INT64_C(1) << 62),
                                     INT64_MIN,
                                     INT64_MIN + 1,
                                     INT64_MAX};
    return below(3) ? below(6) - 1 : values[below((int64_t)(sizeof values / sizeof *values))];
}

static double some_float(void) {
    static const double values[] = {0, -0.0, 1e300, -1e300, 1e-320, HUGE_VAL, -HUGE_VAL, NAN, -1};
    return below(3) ? (double)below(100) / 50 : values[below(9)];
}

static tn_tensor *some_tensor(void) {
    static const tn_dtype dtypes[] = {TN_F32, TN_F32,  TN_F32, TN_F64, TN_F64,   TN_I64, TN_I64,
                                      TN_I32, TN_BOOL, TN_U8,  TN_F16, TN_BF16,  TN_C64, TN_C128,
                                      TN_I8,  TN_I16,  TN_U16, TN_U64, TN_F8E4M3};
    const tn_dtype dtype = dtypes[below(19)];
    int64_t size[6];
    int ndim = (int)below(below(10) ? 4 : 6);
    tn_tensor *t;
    for (int i = 0; i < ndim; i++) size[i] = below(12) ? 1 + below(5) : 0;
    t = tn_randint_low(below(4) ? 0 : -3, 4, tn_ints_of(size, ndim));
    if (t && dtype != TN_I64) t = tn_to_dtype(t, dtype);
    if (t && ndim > 1 && !below(3)) t = tn_transpose(t, 0, ndim - 1);
    if (t && ndim > 0 && size[0] > 1 && !below(5)) t = tn_slice(t, .dim = -1, .start = 1);
    if (t && ndim > 0 && ndim < 6 && !below(8)) {
        int64_t wide[7] = {3};
        for (int i = 0; i < ndim; i++) wide[i + 1] = tn_size(t, i);
        t = tn_expand(t, tn_ints_of(wide, ndim + 1));
    }
    if (t && !below(60)) t = tn_to(t, TN_META);
    if (t && dtype >= TN_F16 && dtype <= TN_C128 && !below(3)) t = tn_requires_grad(tn_detach(t));
    tn_error_take(NULL);
    return t ? t : tn_ones(TN_DIMS(2, 2));
}

/* --- one call --------------------------------------------------------------------------------- */

typedef struct call {
    const tn_row *row;
    uint64_t seed;
    tn_tensor *pool[POOL];
    tn_value value[VALUES];
    int n;
    int64_t ints[VALUES][INTS];
    double floats[VALUES][4];
    tn_tensor *list[VALUES][4];
} call;

static void draw_ints(call *c, tn_value *v) {
    int64_t *at = c->ints[c->n];
    int64_t n = below(8) ? below(5) : below(INTS);
    v->type = TN_T_INTS;
    if (below(3) == 0) { /* a shape that there is */
        tn_ints s = tn_shape(c->pool[0]);
        n = s.n;
        for (int64_t i = 0; i < n; i++) at[i] = s.at[i];
    } else {
        for (int64_t i = 0; i < n; i++) at[i] = some_int();
    }
    v->as.ints = tn_ints_of(at, below(30) ? n : -1);
}

static void draw_list(call *c, tn_value *v, const tn_param *p) {
    int64_t n = below(4);
    v->type = TN_T_TENSORS;
    for (int64_t i = 0; i < n; i++)
        c->list[c->n][i] = below(3)                            ? c->pool[0]
                           : p->flags & TN_P_HOLES && below(2) ? NULL
                                                               : c->pool[below(POOL)];
    v->as.tensors = tn_tensors_of(c->list[c->n], below(20) ? n : -1);
}

static tn_scalar some_scalar(void) {
    switch (below(4)) {
    case 0: return tn_float(some_float());
    case 1: return below(6) ? tn_float(1.5) : tn_complex(1, 2);
    default: return tn_int(some_int());
    }
}

/* false: left to its default. */
static bool draw(call *c, const tn_param *p) {
    tn_value *v = &c->value[c->n];
    if (p->flags & TN_P_DEFAULT && below(3)) return false;
    memset(v, 0, sizeof *v);
    v->name = p->name;
    v->type = p->type;
    switch (p->type) {
    case TN_T_TENSOR:
        if (p->flags & TN_P_OPTIONAL && below(3)) return false;
        if (p->flags & TN_P_NUMBER && below(2))
            v->type = TN_T_SCALAR, v->as.scalar = some_scalar();
        else
            v->as.tensor = c->pool[below(3) ? c->n % POOL : below(POOL)];
        break;
    case TN_T_TENSORS: draw_list(c, v, p); break;
    case TN_T_INT: v->as.integer = some_int(); break;
    case TN_T_FLOAT: v->as.real = some_float(); break;
    case TN_T_BOOL: v->as.boolean = below(2) != 0; break;
    case TN_T_SCALAR: v->as.scalar = some_scalar(); break;
    case TN_T_INTS: draw_ints(c, v); break;
    case TN_T_FLOATS:
        for (int i = 0; i < 4; i++) c->floats[c->n][i] = some_float();
        v->as.floats.at = c->floats[c->n], v->as.floats.n = below(4);
        break;
    case TN_T_DTYPE: v->as.dtype = (tn_dtype)below(19); break;
    case TN_T_DEVICE: v->as.device = (tn_device_id)below(4); break;
    case TN_T_ENUM: v->as.integer = below(6); break;
    case TN_T_STRING: v->as.string = below(2) ? "xy" : "ij"; break;
    default: return false;
    }
    return true;
}

static void draw_call(call *c) {
    const tn_gen *gen = c->row->gen;
    c->n = 0;
    for (int i = 0; i < POOL; i++) c->pool[i] = some_tensor();
    if (below(2)) { /* two of one shape */
        c->pool[1] = tn_ones_like(c->pool[0]);
        if (!c->pool[1]) tn_error_take(NULL), c->pool[1] = c->pool[0];
    }
    for (int i = 0; i < gen->nparam && c->n < VALUES - 1; i++) c->n += draw(c, &gen->param[i]);
    if (c->row->forms & TN_OUT && !below(5)) {
        tn_value *v = &c->value[c->n++];
        memset(v, 0, sizeof *v);
        v->name = "out";
        v->type = TN_T_TENSOR;
        v->as.tensor = c->pool[below(POOL)];
    }
}

/* What was made is differentiated and printed, so that wrong strides or sizes are touched. */
static void use(tn_tensor **result, int n) {
    for (int i = 0; i < n; i++) {
        if (!result[i] || tn_device_of(result[i]) != TN_CPU) continue;
        if (tn_needs_grad(result[i])) {
            tn_tensor *square = tn_mul(result[i], result[i]);
            if (square && tni_is_complex(square->dtype)) square = tn_real(square);
            if (square) tn_backward(tn_sum(square), .create_graph = below(4) == 0);
            tn_error_take(NULL);
        }
        if (tn_numel(result[i]) < 1000) tn_clone(result[i]);
        tn_error_take(NULL);
    }
}

static const char *at_row = "";
static uint64_t at_seed;
static void hangs(int signal_number) {
    (void)signal_number;
    fprintf(stderr, "a call does not end: calls %llu 1 %s\n", (unsigned long long)at_seed, at_row);
    _exit(3);
}

static bool one_call(uint64_t seed, const char *only) {
    static call c;
    tn_tensor *result[RESULTS];
    tn_error_info e;
    char text[400] = "";
    int n = 0;
    bool in_place, ok = true;
    state = seed;
    c.row = only ? tn_row_named(only) : tn_row_at(below(tn_row_count()));
    at_row = c.row->name, at_seed = seed;
    TN_SCOPE {
        bool was = tn_set_grad_mode(below(3) != 0);
        draw_call(&c);
        in_place = c.row->forms & TN_INPLACE && !below(3);
        alarm(SECONDS);
        if (tn_call_row(__FILE__, __LINE__, c.row, in_place ? TN_IN_PLACE : TN_PLAIN, c.value, c.n,
                        result, RESULTS, &n))
            use(result, n);
        else
            ok = tn_error_take(&e) && e.code != TN_INTERNAL,
            snprintf(text, sizeof text, "%s", e.message);
        alarm(0);
        tn_set_grad_mode(was);
        /* after create_graph a leaf and its .grad hold each other, as torch's do */
        for (int i = 0; i < POOL; i++) tn_zero_grad(c.pool[i]);
    }
    if (ok && tn_memory().live_tensors) {
        snprintf(text, sizeof text, "tensors are left");
        ok = false;
    }
    if (!ok) printf("FAILED calls %llu 1 %s: %s\n", (unsigned long long)seed, c.row->name, text);
    return ok;
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int64_t count = argc > 2 ? strtoll(argv[2], NULL, 10) : 10000, passed = 0, failed = 0;
    tn_context_options o;
    tn_context *context;
    memset(&o, 0, sizeof o);
    o.memory_cap = 64 << 20;
    o.threads = -1;
    o.no_cache = true;
    context = tn_context_new(&o);
    tn_context_use(context);
    signal(SIGALRM, hangs);
    for (int64_t i = 0; i < count && failed < 10; i++)
        if (one_call(seed + (uint64_t)i, argc > 3 ? argv[3] : NULL))
            passed++;
        else
            failed++;
    tn_context_free(context);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
