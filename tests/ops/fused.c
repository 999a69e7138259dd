/* fused.c - fused against composed: the value and the gradients of a row are those of its formula
 * in primitive rows, and what a row's `.fused` gives is what its `.grad` gives.
 *
 *     fused [rows.h]
 *
 * In f64: value, gradient and gradient of the gradient within 1e-12 (1e-10 the last) of the
 * largest element. In f32, against the formula in f64 of the same numbers: each step rounds to
 * 2^-24, sums of n elements are trees of log2 n such steps, so 16 + 2 log2 n units of 2^-23 of the
 * largest element; where k terms are added to an element they may cancel, and their errors grow
 * as sqrt k (Higham and Mary 2019, A new approach to probabilistic rounding error analysis). */
#include "../rows.h"
#include "compositions.h"

#include <math.h>
#include <stdio.h>

enum { OUTS = 40 };

static int64_t passed, failed;
typedef struct tally {
    int64_t rows, samples, first, second;
} tally;

static bool check(bool ok, const sample *s, const char *what, double error) {
    ok ? passed++ : failed++;
    if (!ok)
        printf("FAILED fused %s [%s] %s: %s, %g\n", s->row->name, s->text, tn_dtype_name(s->dtype),
               what, error);
    return ok;
}

/* The largest difference, relative to the largest element or 1; NULL is zero. */
static double difference(tn_tensor *a, tn_tensor *b) {
    tn_tensor *x = a ? tnp_to_dtype(a, TN_F64, false, false) : NULL;
    tn_tensor *y = b ? tnp_to_dtype(b, TN_F64, false, false) : NULL;
    double most = 1, worst = 0;
    if (x) x = tnp_contiguous(x);
    if (y) y = tnp_contiguous(y);
    if (!x && !y) return tn_ok() ? 0 : HUGE_VAL;
    if (x && y && !tni_same_shape(x, y)) return HUGE_VAL;
    for (int64_t i = 0; i < (x ? x : y)->numel; i++) {
        const double v = x ? ((double *)tn_data(x))[i] : 0, w = y ? ((double *)tn_data(y))[i] : 0;
        if (v != v && w != w) continue;
        if (!(fabs(v - w) <= worst)) worst = fabs(v - w);
        if (worst != worst) return HUGE_VAL;
        if (fabs(w) > most && isfinite(w)) most = fabs(w);
    }
    return worst / most;
}

/* --- one side of the comparison --------------------------------------------------------------- */

typedef struct side {
    tn_tensor *y, *once[SAMPLE_TENSORS], *fused[SAMPLE_TENSORS], *twice[SAMPLE_TENSORS];
} side;

/* Weights that are no pattern of the row's. */
static tn_tensor *weights(const tn_tensor *like, int seed) {
    tn_tensor *w = tnp_empty(tni_sizes(like), (tn_dtype)like->dtype, TN_NO_DEVICE);
    for (int64_t i = 0; w && i < w->numel; i++)
        tni_element_set((char *)tn_data(w) + i * tni_dtype_size(w), w->dtype,
                        tn_float(sin(0.7 * (double)i + seed)));
    return w;
}
static tn_tensor *weighted(tn_tensor *t, int seed) {
    return tnp_sum(tnp_mul(t, weights(t, seed)), tn_no_dims(), false, TN_NO_DTYPE);
}

static bool differentiate(side *d, tn_tensor **leaf, int n) {
    tn_grads_options o = {NULL, true, false, true};
    tn_tensor *loss, *again = NULL;
    for (int i = 0; i < n; i++) d->once[i] = d->fused[i] = d->twice[i] = NULL;
    if (!d->y || !tn_needs_grad(d->y)) return d->y != NULL;
    loss = weighted(d->y, 1);
    if (!tn_grads(tn_tensors_of(&loss, 1), tn_tensors_of(leaf, n), d->fused, &o)) return false;
    o.create_graph = true;
    if (!tn_grads(tn_tensors_of(&loss, 1), tn_tensors_of(leaf, n), d->once, &o)) return false;
    for (int i = 0; i < n; i++)
        if (d->once[i] && tn_needs_grad(d->once[i])) {
            tn_tensor *part = weighted(d->once[i], 2 + i);
            again = again ? tnp_add(again, part, 1) : part;
        }
    o.create_graph = false;
    return !again || tn_grads(tn_tensors_of(&again, 1), tn_tensors_of(leaf, n), d->twice, &o);
}

static int leaves_of(sample *s, tn_dtype dtype, tn_tensor **leaf) {
    int n = 0;
    for (int t = 0; t < s->ntensors; t++) {
        bool written = false; /* running statistics */
        for (int v = 0; v < s->nvalues; v++)
            for (int p = 0; p < s->row->gen->nparam; p++)
                written =
                    written ||
                    (s->row->gen->param[p].flags & TN_P_MUTATED &&
                     s->value[v].type == TN_T_TENSOR && s->value[v].as.tensor == s->tensor[t] &&
                     (s->value[v].name ? !strcmp(s->value[v].name, s->row->gen->param[p].name)
                                       : v == p));
        if (written || s->tensor[t]->dtype != dtype) continue;
        s->tensor[t]->flags |= TNI_REQUIRES | TNI_LEAF;
        leaf[n++] = s->tensor[t];
    }
    return n;
}

/* --- a row and its formula -------------------------------------------------------------------- */

static tn_tensor *formula_of(const composition *c, sample *s) {
    union {
        double align;
        char at[TNI_ARGS_BYTES];
    } args;
    char reason[200];
    if (!tni_bind_values(s->row->gen, s->value, s->nvalues, true, args.at, reason, sizeof reason))
        return NULL;
    return c->formula(args.at);
}

/* The numbers of `from` in `to`, a sample of the same text in f64. */
static void same_numbers(sample *to, const sample *from) {
    for (int t = 0; t < to->ntensors; t++)
        for (int64_t i = 0; i < to->tensor[t]->numel; i++)
            tni_element_set(
                (char *)tn_data(to->tensor[t]) + i * tni_dtype_size(to->tensor[t]),
                to->tensor[t]->dtype,
                tni_element((char *)tn_data(from->tensor[t]) + i * tni_dtype_size(from->tensor[t]),
                            from->tensor[t]->dtype));
}

/* Of a gradient whose elements are sums of k terms each. */
static double unit_of(double unit, tn_dtype dtype, const tn_tensor *terms, const tn_tensor *g) {
    const double k = g && g->numel ? (double)terms->numel / (double)g->numel : 1;
    return dtype == TN_F32 && k > 1 ? unit * sqrt(k) : unit;
}

static void compare(const sample *s, const side *r, const side *f, int n, double unit, tally *sum) {
    bool first = true, second = true;
    double e = difference(r->y, f->y);
    if (!check(e <= unit, s, "the value differs from the formula's", e)) return;
    for (int i = 0; i < n; i++) {
        const double u = unit_of(unit, s->dtype, r->y, f->once[i]);
        e = difference(r->once[i], f->once[i]);
        first = check(e <= u, s, "the gradient differs from the formula's", e) && first;
        e = difference(r->fused[i], f->once[i]);
        first = check(e <= u, s, "the fused gradient differs from the formula's", e) && first;
        e = difference(r->twice[i], f->twice[i]);
        second =
            check(e <= 100 * u, s, "the second gradient differs from the formula's", e) && second;
    }
    sum->samples++, sum->first += first, sum->second += second;
}

static bool one_sample(const composition *c, const tn_row *row, int i, tn_dtype dtype, tally *sum) {
    sample s, like;
    side r, f;
    tn_tensor *leaf[SAMPLE_TENSORS], *leaf64[SAMPLE_TENSORS], *out[OUTS];
    int n, count = 0;
    double unit = 1e-12, steps = 1;
    if (!sample_make(&s, row, i, dtype, false) || !sample_make(&like, row, i, TN_F64, false))
        return false;
    same_numbers(&like, &s);
    n = leaves_of(&s, dtype, leaf);
    if (leaves_of(&like, TN_F64, leaf64) != n || n == 0) return false; /* an f32 of its own */
    f.y = formula_of(c, &like);
    if (!f.y) return check(tn_ok(), &s, "the formula fails", 0) && false;
    for (int t = 0; t < s.ntensors; t++)
        if ((double)s.tensor[t]->numel > steps) steps = (double)s.tensor[t]->numel;
    if (dtype == TN_F32) unit = (16 + 2 * log2(steps)) * 0x1p-23;
    if (!check(sample_call(&s, TN_PLAIN, out, OUTS, &count) && count > 0, &s, "the call fails", 0))
        return false;
    r.y = out[0];
    if (!check(differentiate(&r, leaf, n) && differentiate(&f, leaf64, n), &s, "no gradient", 0))
        return false;
    compare(&s, &r, &f, n, unit, sum);
    return true;
}

/* --- a row's `.fused` and its `.grad` --------------------------------------------------------- */

static bool one_fused(const tn_row *row, int i, tn_dtype dtype, tally *sum) {
    sample s;
    side r;
    tn_tensor *leaf[SAMPLE_TENSORS], *out[OUTS];
    int n, count = 0;
    double steps = 1, unit = 1e-12;
    if (!sample_make(&s, row, i, dtype, false)) return false;
    n = leaves_of(&s, dtype, leaf);
    if (!n || !sample_call(&s, TN_PLAIN, out, OUTS, &count)) return false;
    r.y = out[0];
    if (!check(differentiate(&r, leaf, n), &s, "no gradient", 0)) return false;
    for (int t = 0; t < s.ntensors; t++)
        if ((double)s.tensor[t]->numel > steps) steps = (double)s.tensor[t]->numel;
    if (dtype == TN_F32) unit = (16 + 2 * log2(steps)) * 0x1p-23;
    for (int k = 0; k < n; k++) {
        const double e = difference(r.fused[k], r.once[k]);
        check(e <= unit_of(unit, dtype, r.y, r.once[k]), &s, ".fused differs from .grad", e);
    }
    sum->samples++;
    return true;
}

typedef bool (*part_fn)(const tn_row *row, int i, tn_dtype dtype, tally *sum);
static const composition *stated;
static bool by_formula(const tn_row *row, int i, tn_dtype dtype, tally *sum) {
    return one_sample(stated, row, i, dtype, sum);
}

static void each_sample(const tn_row *row, part_fn part, tally *sum) {
    bool any = false;
    for (int i = 0; i < sample_count(row); i++)
        for (int single = 0; single < 2; single++)
            TN_SCOPE {
                any = part(row, i, single ? TN_F32 : TN_F64, sum) || any;
                if (tn_error_print()) failed++;
            }
    sum->rows += any;
    if (!any) printf("FAILED fused %s: no sample could be compared\n", row->name), failed++;
}

int main(int argc, char **argv) {
    tally formulas = {0, 0, 0, 0}, kernels = {0, 0, 0, 0};
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    for (stated = compositions; stated->row; stated++) {
        const tn_row *row = tn_row_named(stated->row);
        if (row && rows_take(0, row->gen->index)) each_sample(row, by_formula, &formulas);
        if (!row) printf("FAILED fused: there is no row %s\n", stated->row), failed++;
    }
    for (int64_t r = 0; r < tn_row_count(); r++)
        if (tn_row_at(r)->fused && rows_take(0, r)) each_sample(tn_row_at(r), one_fused, &kernels);
    printf("promise 7: %lld rows against their formulas in primitive rows, value and both orders: "
           "%lld samples, %lld + %lld gradients equal; %lld rows with a fused gradient against "
           "their own, %lld samples\n",
           (long long)formulas.rows, (long long)formulas.samples, (long long)formulas.first,
           (long long)formulas.second, (long long)kernels.rows, (long long)kernels.samples);
    tn_context_free(NULL);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
