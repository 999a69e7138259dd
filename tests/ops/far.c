/* far.c - gradients outside of the domains that gradcheck stays in: elements drawn from -6..6
 * (0.2..6 where a function has no value there). Wherever two Richardson differences of different
 * steps agree, that is, wherever the function is smooth, the gradient agrees with them; next to
 * kinks and jumps nothing is asked.
 *
 *     far [rows.h] */
#include "../rows.h"
#include "sample.h"

#include <stdio.h>

enum { OUTS = 40, MOST = 200 };

static int64_t passed, failed, rough;

static double weight(int64_t i) { /* in 0.5..1.5, either sign */
    const uint64_t h = sample_hash((uint64_t)i + 77);
    return (0.5 + (double)(h >> 11) * 0x1p-53) * (h & 1 ? 1 : -1);
}

/* The sum of the outputs' elements, each with its weight; NULL: none has a gradient, or the
 * call is refused. */
static tn_tensor *weighed(sample *s, bool *finite) {
    tn_tensor *out[OUTS], *sum = NULL;
    int n = 0;
    int64_t number = 0;
    *finite = true;
    tn_manual_seed(5);
    if (!sample_call(s, TN_PLAIN, out, OUTS, &n)) return NULL;
    for (int k = 0; k < n; k++) {
        tn_tensor *w, *term;
        if (!out[k] || out[k]->dtype != TN_F64) continue;
        w = tni_new(tni_here(), TN_F64, out[k]->ndim, out[k]->size);
        if (!w) return NULL;
        for (int64_t i = 0; i < w->numel; i++)
            ((double *)(void *)w->storage->data)[i] = weight(number++);
        term = tnp_sum(tnp_mul(out[k], w), tn_ints_of(NULL, -1), false, TN_NO_DTYPE);
        sum = sum && term ? tnp_add(sum, term, 1) : term;
    }
    if (sum) {
        const double v = tnp_item(sum);
        *finite = v - v == 0;
    }
    return sum;
}

/* The derivative along *at by central differences, extrapolated: error O(h^4). false where it
 * has no value. */
static bool slope(sample *s, double *at, double h, double *to) {
    const double was = *at;
    double d[2];
    bool ok = true, finite;
    for (int level = 0; ok && level < 2; level++, h /= 2) {
        double v[2] = {0, 0};
        for (int side = 0; ok && side < 2; side++) {
            TN_SCOPE {
                tn_tensor *sum;
                *at = was + (side ? -h : h);
                sum = weighed(s, &finite);
                ok = sum && finite;
                if (ok) v[side] = tnp_item(sum);
            }
        }
        d[level] = (v[0] - v[1]) / (2 * h);
    }
    *at = was;
    tn_error_take(NULL);
    *to = (4 * d[1] - d[0]) / 3;
    return ok;
}

/* One element; gradients are `got` there. */
static void check_element(sample *s, int t, int64_t i, double got) {
    double *at = (double *)(void *)s->tensor[t]->storage->data + i;
    const double h = 1e-3 * (fabs(*at) > 1 ? fabs(*at) : 1);
    double coarse, fine, most;
    bool smooth;
    tn_set_grad_mode(false);
    smooth = slope(s, at, h, &coarse) && slope(s, at, h / 3, &fine);
    tn_set_grad_mode(true);
    most = smooth ? 1e-6 * (fabs(fine) > 1 ? fabs(fine) : 1) : 0;
    if (!smooth || fabs(coarse - fine) > most) {
        rough++;
        return;
    }
    if (fabs(got - fine) <= 4 * most) {
        passed++;
        return;
    }
    failed++;
    printf("FAILED far %s [%s] tensor %d, element %lld = %.6g: the gradient is %.10g, differences "
           "give %.10g\n",
           s->row->name, s->text, t, (long long)i, *at, got, fine);
}

static void draw(sample *s, const bool *moved, double lo, double hi, int round) {
    for (int t = 0; t < s->ntensors; t++)
        for (int64_t i = 0; moved[t] && i < s->tensor[t]->numel; i++) {
            const uint64_t h = sample_hash((uint64_t)(round * 131 + t) << 20 | (uint64_t)i);
            ((double *)(void *)s->tensor[t]->storage->data)[i] =
                lo + (hi - lo) * (double)(h >> 11) * 0x1p-53;
        }
}

static void check_sample(const tn_row *row, int number, int round) {
    static sample s;
    bool moved[SAMPLE_TENSORS], finite = false;
    tn_tensor *sum = NULL;
    int n = 0;
    if (!sample_make(&s, row, number, TN_F64, false) || sample_has_no_difference(&s)) return;
    for (int t = 0; t < s.ntensors; t++) {
        moved[t] = s.tensor[t]->dtype == TN_F64 && s.tensor[t]->numel <= MOST && !s.structure[t] &&
                   !sample_is_written(&s, t) && !sample_is_refused(&s, t);
        if (moved[t]) s.tensor[t]->flags |= TNI_REQUIRES | TNI_LEAF, n++;
    }
    if (!n) return;
    for (int wide = 0; wide < 2 && !(sum && finite); wide++) {
        draw(&s, moved, wide ? 0.2 : -6, 6, round);
        sum = weighed(&s, &finite);
    }
    if (!sum || !finite || !tn_needs_grad(sum) || !tn_backward(sum)) return;
    for (int t = 0; t < s.ntensors; t++) {
        tn_tensor *g = s.tensor[t]->grad ? tnp_contiguous(s.tensor[t]->grad) : NULL;
        for (int64_t i = 0; moved[t] && i < s.tensor[t]->numel; i++)
            check_element(&s, t, i, g ? ((const double *)(const void *)tni_bytes_at(g))[i] : 0);
        tn_zero_grad(s.tensor[t]);
    }
}

int main(int argc, char **argv) {
    int rows = 0;
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int64_t r = 0; r < tn_row_count(); r++) {
        const tn_row *row = tn_row_at(r);
        const int64_t before = passed;
        if (!rows_take(0, r)) continue;
        if ((!row->grad && !row->compose) || row->grad == tn_grad_zero || sample_draws(row))
            continue;
        for (int i = 0; i < sample_count(row); i++)
            for (int round = 0; round < 2; round++) {
                TN_SCOPE {
                    check_sample(row, i, round);
                }
                tn_error_take(NULL);
            }
        rows += passed > before;
    }
    printf("promise 7: %d rows at points outside of their domains: %lld derivatives agree with "
           "differences where these "
           "converge (%lld beside kinks)\n",
           rows, (long long)passed, (long long)rough);
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
