/* vectors.c - special values in what reads whole vectors: NaN, zeros, infinities, denormals and the
 * largest numbers at every index of 1 to 67 elements, alone, in pairs and everywhere, give what a
 * scalar loop in long double gives, in every layout, with the same bits by every instruction set.
 *
 *     vectors [step=N] [rows.h]      only every N-th length from 4 on
 *
 * The other elements are quarters between 0.25 and 2, so sums of them are exact in any order and
 * a wrong value is a wrong rule, not a rounding. */
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../rows.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 67, SPECIALS = 9, ROWS = 3, LAYOUTS = 4, TOP = 3 };
typedef tn_tensor T;
typedef long double real;

static double special(int i, tn_dtype dtype) {
    const bool single = dtype == TN_F32;
    const double values[SPECIALS] = {NAN,
                                     0.0,
                                     -0.0,
                                     HUGE_VAL,
                                     -HUGE_VAL,
                                     single ? (double)FLT_MIN / 8 : DBL_MIN / 8,
                                     single ? -(double)FLT_MIN / 8 : -DBL_MIN / 8,
                                     single ? (double)FLT_MAX : DBL_MAX,
                                     single ? -(double)FLT_MAX : -DBL_MAX};
    return values[i];
}
static double plain(int i) { return 0.25 * (1 + (i * 5) % 8); }

/* --- scalar models: x[0..n-1] to y ------------------------------------------------------------ */

/* Whether a stands before b in rising order: NaN after all, equals by place. */
static bool before(real a, real b) { return isnan(b) ? !isnan(a) : a < b; }
static bool beyond(real a, real b) { return isnan(a) ? !isnan(b) : a > b; }
static int place_of(const real *x, int n, bool (*better)(real, real)) {
    int at = 0;
    for (int i = 1; i < n; i++)
        if (!isnan(x[at]) && (isnan(x[i]) || better(x[i], x[at]))) at = i;
    return at;
}
static bool below(real a, real b) { return a < b; }
static bool above(real a, real b) { return a > b; }
static real sum_of(const real *x, int n) {
    real s = 0;
    for (int i = 0; i < n; i++) s += x[i];
    return s;
}
static void m_sum(const real *x, int n, real *y) { *y = sum_of(x, n); }
static void m_mean(const real *x, int n, real *y) { *y = sum_of(x, n) / n; }
static void m_prod(const real *x, int n, real *y) {
    *y = 1;
    for (int i = 0; i < n; i++) *y *= x[i];
}
static void m_max(const real *x, int n, real *y) { *y = x[place_of(x, n, above)]; }
static void m_min(const real *x, int n, real *y) { *y = x[place_of(x, n, below)]; }
static void m_argmax(const real *x, int n, real *y) { *y = place_of(x, n, above); }
static void m_argmin(const real *x, int n, real *y) { *y = place_of(x, n, below); }
static void m_any(const real *x, int n, real *y) {
    *y = 0;
    for (int i = 0; i < n; i++) *y = *y != 0 || x[i] != 0;
}
static void m_count(const real *x, int n, real *y) {
    *y = 0;
    for (int i = 0; i < n; i++) *y += x[i] != 0;
}
static void m_all(const real *x, int n, real *y) {
    *y = 1;
    for (int i = 0; i < n; i++) *y = *y != 0 && x[i] != 0;
}
static void m_logsumexp(const real *x, int n, real *y) {
    real m = x[place_of(x, n, above)], s = 0;
    if (isinf(m)) m = 0;
    for (int i = 0; i < n; i++) s += expl(x[i] - m);
    *y = m + logl(s);
}
static void m_softmax(const real *x, int n, real *y) {
    const real m = x[place_of(x, n, above)];
    real s = 0;
    for (int i = 0; i < n; i++) s += y[i] = expl(x[i] - m);
    for (int i = 0; i < n; i++) y[i] /= s;
}
static void m_log_softmax(const real *x, int n, real *y) {
    const real m = x[place_of(x, n, above)];
    real s = 0;
    for (int i = 0; i < n; i++) s += expl(x[i] - m);
    for (int i = 0; i < n; i++) y[i] = x[i] - m - logl(s);
}
static void m_cumsum(const real *x, int n, real *y) {
    real s = 0;
    for (int i = 0; i < n; i++) y[i] = s += x[i];
}
static void m_cumprod(const real *x, int n, real *y) {
    real p = 1;
    for (int i = 0; i < n; i++) y[i] = p *= x[i];
}
/* x among itself as it stands: bisection, where a comparison with NaN is false. */
static void bisected(const real *x, int n, bool right, real *y) {
    for (int i = 0; i < n; i++) {
        int low = 0, high = n;
        while (low < high) {
            const int middle = (low + high) / 2;
            const bool behind = right ? x[middle] > x[i] : x[middle] >= x[i];
            if (behind)
                high = middle;
            else
                low = middle + 1;
        }
        y[i] = low;
    }
}
static void m_search(const real *x, int n, real *y) { bisected(x, n, false, y); }
static void m_search_right(const real *x, int n, real *y) { bisected(x, n, true, y); }
static void m_norm(const real *x, int n, real *y) {
    *y = 0;
    for (int i = 0; i < n; i++) *y += x[i] * x[i];
    *y = sqrtl(*y);
}
static void m_norm1(const real *x, int n, real *y) {
    *y = 0;
    for (int i = 0; i < n; i++) *y += fabsl(x[i]);
}
static void m_var(const real *x, int n, real *y) {
    const real mean = sum_of(x, n) / n;
    *y = 0;
    for (int i = 0; i < n; i++) *y += (x[i] - mean) * (x[i] - mean);
    *y /= n - 1;
}
/* The mean beside a variance is NaN where an element is infinite, wherever it stands (torch's
 * depends on the place). */
static void m_mean_beside(const real *x, int n, real *y) {
    m_mean(x, n, y);
    if (isinf(*y)) *y = NAN;
}
static void m_std(const real *x, int n, real *y) { m_var(x, n, y), *y = sqrtl(*y); }
/* Places in a stable order. */
static void order_of(const real *x, int n, bool (*first)(real, real), int *at) {
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && first(x[i], x[at[k - 1]]); k--) at[k] = at[k - 1];
        at[k] = i;
    }
}
static void sorted(const real *x, int n, bool down, bool places, int room, real *y) {
    int at[LONGEST];
    order_of(x, n, down ? beyond : before, at);
    for (int i = 0; i < n && i < room; i++) y[i] = places ? at[i] : x[at[i]];
}
static void m_sort(const real *x, int n, real *y) { sorted(x, n, false, false, n, y); }
static void m_sort_down(const real *x, int n, real *y) { sorted(x, n, true, false, n, y); }
static void m_argsort(const real *x, int n, real *y) { sorted(x, n, false, true, n, y); }
static void m_argsort_down(const real *x, int n, real *y) { sorted(x, n, true, true, n, y); }
static void m_topk(const real *x, int n, real *y) { sorted(x, n, true, false, TOP, y); }
static void m_topk_places(const real *x, int n, real *y) { sorted(x, n, true, true, TOP, y); }
static void m_least(const real *x, int n, real *y) { sorted(x, n, false, false, TOP, y); }
static void m_product(const real *x, int n, real *y) { /* by (1, 2, 1, 2, ..) */
    *y = 0;
    for (int i = 0; i < n; i++) *y += x[i] * (1 + i % 2);
}

/* --- the rows: along dimension 1 of (rows, n) or (rows, n, 1, 1) ------------------------------ */

static const int64_t one[] = {1};
#define DIM tn_ints_of(one, 1)
static T *r_sum(T *x) { return tnp_sum(x, DIM, false, TN_NO_DTYPE); }
static T *r_mean(T *x) { return tnp_mean(x, DIM, false, TN_NO_DTYPE); }
static T *r_prod(T *x) { return tnp_prod(x, 1, false, TN_NO_DTYPE); }
static T *r_amax(T *x) { return tnp_amax(x, DIM, false); }
static T *r_amin(T *x) { return tnp_amin(x, DIM, false); }
static T *r_max(T *x) { return tnp_max_dim(x, 1, false).values; }
static T *r_max_at(T *x) { return tnp_max_dim(x, 1, false).indices; }
static T *r_min(T *x) { return tnp_min_dim(x, 1, false).values; }
static T *r_min_at(T *x) { return tnp_min_dim(x, 1, false).indices; }
static T *r_aminmax(T *x) { return tnp_aminmax(x, 1, false).max; }
static T *r_argmax(T *x) { return tnp_argmax(x, 1, false); }
static T *r_argmin(T *x) { return tnp_argmin(x, 1, false); }
static T *r_count(T *x) { return tnp_count_nonzero(x, DIM); }
static T *r_any(T *x) { return tnp_any_dims(x, DIM, false); }
static T *r_all(T *x) { return tnp_all_dims(x, DIM, false); }
static T *r_logsumexp(T *x) { return tnp_logsumexp(x, DIM, false); }
static T *r_softmax(T *x) { return tnp_softmax(x, 1, TN_NO_DTYPE); }
static T *r_log_softmax(T *x) { return tnp_log_softmax(x, 1, TN_NO_DTYPE); }
static T *r_cumsum(T *x) { return tnp_cumsum(x, 1, TN_NO_DTYPE); }
static T *r_cumprod(T *x) { return tnp_cumprod(x, 1, TN_NO_DTYPE); }
static T *r_norm(T *x) { return tnp_linalg_vector_norm(x, 2, DIM, false, TN_NO_DTYPE); }
static T *r_norm1(T *x) { return tnp_norm(x, tn_float(1), DIM, false, TN_NO_DTYPE); }
static T *r_var(T *x) { return tnp_var(x, DIM, tn_none(), false); }
static T *r_var_mean(T *x) { return tnp_var_mean(x, DIM, tn_none(), false).mean; }
static T *r_std(T *x) { return tnp_std(x, DIM, tn_none(), false); }
static T *r_sort(T *x) { return tnp_sort(x, 1, false).values; }
static T *r_sort_down(T *x) { return tnp_sort(x, 1, true).values; }
static T *r_sort_at(T *x) { return tnp_sort(x, 1, false).indices; }
static T *r_argsort(T *x) { return tnp_argsort(x, 1, true); }
static int64_t top_of(const T *x) { return x->size[1] < TOP ? x->size[1] : TOP; }
static T *r_topk(T *x) { return tnp_topk(x, top_of(x), 1, true, true).values; }
static T *r_topk_at(T *x) { return tnp_topk(x, top_of(x), 1, true, true).indices; }
static T *r_least(T *x) { return tnp_topk(x, top_of(x), 1, false, true).values; }
static T *ones_and_twos(const T *x) { /* 1, 2, 1, 2, .. */
    T *w = tnp_empty(tn_ints_of(&x->size[1], 1), (tn_dtype)x->dtype, TN_NO_DEVICE);
    for (int64_t i = 0; i < x->size[1]; i++)
        tni_element_set((char *)tn_data(w) + i * tni_dtype_size(w), w->dtype, tn_int(1 + i % 2));
    return w;
}
static T *flat(T *x) { return x->ndim == 2 ? x : tnp_select(tnp_select(x, -1, 0), -1, 0); }
static T *r_search(T *x) { return tnp_searchsorted(flat(x), flat(x), false, false, NULL, NULL); }
static T *r_search_right(T *x) {
    return tnp_searchsorted(flat(x), flat(x), true, false, "right", NULL);
}
static T *r_mv(T *x) { return tnp_mv(flat(x), ones_and_twos(x)); }
static T *r_matmul(T *x) {
    T *w = ones_and_twos(x), *pair[2];
    pair[0] = pair[1] = w;
    return tnp_select(tnp_matmul(flat(x), tnp_stack(tn_tensors_of(pair, 2), 1)), 1, 1);
}
static T *r_linear(T *x) {
    return tnp_squeeze_dim(tnp_linear(flat(x), tnp_unsqueeze(ones_and_twos(x), 0), NULL), 1);
}
static T *whole(T *x, T *(*f)(T *)) { /* a row of the whole tensor, a vector at a time */
    T *part[ROWS];
    for (int r = 0; r < ROWS; r++) part[r] = f(tnp_select(x, 0, r));
    return tnp_stack(tn_tensors_of(part, ROWS), 0);
}
static T *r_max_all(T *x) { return whole(x, tnp_max); }
static T *r_min_all(T *x) { return whole(x, tnp_min); }
static T *r_any_all(T *x) { return whole(x, tnp_any); }
static T *r_all_all(T *x) { return whole(x, tnp_all); }
static T *sum_all(T *x) { return tnp_sum(x, tn_no_dims(), false, TN_NO_DTYPE); }
static T *r_sum_all(T *x) { return whole(x, sum_all); }
static T *dot_self(T *x) { return tnp_dot(tnp_flatten(x, 0, -1), tnp_ones_like(x, 0, 0)); }
static T *r_dot(T *x) { return x->ndim == 2 ? whole(x, dot_self) : r_sum(x); }

/* SQUARES: the largest numbers overflow inside, or do so in some orders, as in torch. */
enum { VECTOR = 1, FEW = 2, SQUARES = 4, SUMS = 8 };
static const struct rule {
    const char *name;
    T *(*run)(T *x);
    void (*model)(const real *x, int n, real *y);
    int flags;
} rules[] = {{"sum", r_sum, m_sum, SUMS},
             {"sum", r_sum_all, m_sum, SUMS},
             {"mean", r_mean, m_mean, SUMS},
             {"prod", r_prod, m_prod, SQUARES},
             {"amax", r_amax, m_max, 0},
             {"amin", r_amin, m_min, 0},
             {"max", r_max_all, m_max, 0},
             {"min", r_min_all, m_min, 0},
             {"max_dim", r_max, m_max, 0},
             {"max_dim", r_max_at, m_argmax, 0},
             {"min_dim", r_min, m_min, 0},
             {"min_dim", r_min_at, m_argmin, 0},
             {"aminmax", r_aminmax, m_max, 0},
             {"argmax", r_argmax, m_argmax, 0},
             {"argmin", r_argmin, m_argmin, 0},
             {"count_nonzero", r_count, m_count, 0},
             {"any_dims", r_any, m_any, 0},
             {"all_dims", r_all, m_all, 0},
             {"any", r_any_all, m_any, 0},
             {"all", r_all_all, m_all, 0},
             {"logsumexp", r_logsumexp, m_logsumexp, 0},
             {"softmax", r_softmax, m_softmax, VECTOR},
             {"log_softmax", r_log_softmax, m_log_softmax, VECTOR},
             {"cumsum", r_cumsum, m_cumsum, VECTOR | SUMS},
             {"cumprod", r_cumprod, m_cumprod, VECTOR | SQUARES},
             {"searchsorted", r_search, m_search, VECTOR},
             {"searchsorted", r_search_right, m_search_right, VECTOR},
             {"linalg_vector_norm", r_norm, m_norm, SQUARES},
             {"norm", r_norm1, m_norm1, SUMS},
             {"var", r_var, m_var, SQUARES},
             {"std", r_std, m_std, SQUARES},
             {"var_mean", r_var_mean, m_mean_beside, SQUARES},
             {"sort", r_sort, m_sort, VECTOR},
             {"sort", r_sort_down, m_sort_down, VECTOR},
             {"sort", r_sort_at, m_argsort, VECTOR},
             {"argsort", r_argsort, m_argsort_down, VECTOR},
             {"topk", r_topk, m_topk, FEW},
             {"topk", r_topk_at, m_topk_places, FEW},
             {"topk", r_least, m_least, FEW},
             {"dot", r_dot, m_sum, SUMS},
             {"mv", r_mv, m_product, SUMS},
             {"matmul", r_matmul, m_product, SUMS},
             {"linear", r_linear, m_product, SUMS}};
enum { RULES = sizeof rules / sizeof *rules };

/* --- one tensor ------------------------------------------------------------------------------- */

static tn_context *by_set[2]; /* scalar, and the best that there is */
static int64_t checked, failed;

/* (ROWS, n) with x in row 1 and plain numbers in the others: row-major, transposed, every second
 * element, and (ROWS, n, 1, 1) with n innermost in memory. */
static T *laid(const double *x, int n, tn_dtype dtype, int layout) {
    const int64_t rows = ROWS;
    T *t = layout == 1   ? tnp_empty(TN_DIMS(n, rows), dtype, TN_NO_DEVICE)
           : layout == 2 ? tnp_empty(TN_DIMS(rows, 2 * n), dtype, TN_NO_DEVICE)
                         : tnp_empty(TN_DIMS(rows, n), dtype, TN_NO_DEVICE);
    if (layout == 1) t = tnp_transpose(t, 0, 1);
    if (layout == 2) t = tnp_slice(t, 1, 0, TN_NONE, 2);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < n; i++)
            tni_element_set(tni_bytes_at(t) +
                                (r * t->stride[0] + i * t->stride[1]) * tni_dtype_size(t),
                            (int)dtype, tn_float(r == 1 ? x[i] : plain(i + r)));
    return layout == 3 ? tnp_unsqueeze(tnp_unsqueeze(t, -1), -1) : t;
}

static int outputs(const struct rule *r, int n) {
    return r->flags & VECTOR ? n : r->flags & FEW ? (n < TOP ? n : TOP) : 1;
}

static bool near(double got, real due, tn_dtype dtype) {
    const double d = dtype == TN_F32 ? (double)(float)due : (double)due;
    const double unit = dtype == TN_F32 ? 0x1p-19 : 0x1p-48;
    if (isnan(d)) return isnan(got);
    if (isinf(d)) return got == d;
    return fabs(got - d) <= unit * fmax(1, fabs(d)) || got == d;
}

static void rule_on(const struct rule *r, const double *x, int n, tn_dtype dtype, int layout) {
    double got[2][ROWS * LONGEST];
    real in[LONGEST], due[LONGEST];
    const int m = outputs(r, n);
    for (int set = 0; set < 2; set++) {
        tn_context_use(by_set[set]);
        TN_SCOPE {
            T *y = r->run(laid(x, n, dtype, layout));
            if (!y || !tn_read_f64(y, got[set], (int64_t)ROWS * m))
                failed++, printf("FAILED values: %s fails\n", r->name), tn_error_print();
        }
    }
    tn_context_use(NULL);
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < n; i++)
            in[i] = row == 1 ? (dtype == TN_F32 ? (real)(float)x[i] : (real)x[i])
                             : (real)plain(i + row);
        r->model(in, n, due);
        for (int i = 0; i < m; i++, checked++)
            for (int set = 0; set < 2; set++) {
                const double a = got[set][row * m + i], b = got[0][row * m + i];
                const bool same = memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
                if (same && near(a, due[i], dtype)) continue;
                if (++failed < 40)
                    printf("FAILED values: %s of %s, %d elements, layout %d, set %d: row %d gives "
                           "%.9g at %d, not %.9Lg (x[0] %g, x[n-1] %g)\n",
                           r->name, tn_dtype_name(dtype), n, layout, set, row, a, i, due[i], x[0],
                           x[n - 1]);
                return;
            }
    }
}

/* largest: one of the specials is a largest number, whose sums and squares overflow. */
static void all_rules(const double *x, int n, tn_dtype dtype, bool largest, bool twice) {
    for (int r = 0; r < RULES; r++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            if (!rows_take(0, tn_row_named(rules[r].name)->gen->index)) continue;
            if (largest && rules[r].flags & SQUARES) continue;
            if (largest && twice && rules[r].flags & SUMS) continue;
            if (n == 1 && rules[r].flags & SQUARES) continue; /* divides by 0 */
            rule_on(&rules[r], x, n, dtype, layout);
        }
}

static void length(int n, tn_dtype dtype) {
    double x[LONGEST];
    for (int v = 0; v < SPECIALS; v++) {
        for (int k = 0; k < n; k++) {
            const int w = (v * 7 + k) % SPECIALS, other = (k * 5 + n / 2) % n;
            for (int i = 0; i < n; i++) x[i] = plain(i);
            x[k] = special(v, dtype);
            all_rules(x, n, dtype, v > 6, false);
            if (k % 3 || other == k) continue;
            x[other] = special(w, dtype); /* a second one elsewhere */
            all_rules(x, n, dtype, v > 6 || w > 6, true);
        }
        for (int i = 0; i < n; i++) x[i] = special(v, dtype);
        all_rules(x, n, dtype, v > 6, true);
    }
}

/* Rows of one floating tensor that give fewer elements: each has a rule above. */
static int64_t without_rule(void) {
    int64_t n = 0;
    for (int64_t i = 0; i < tn_row_count(); i++) {
        const tn_row *row = tn_row_at(i);
        bool known = false;
        tn_value v[2];
        T *out[8];
        int count = 0;
        if (!rows_take(0, i) || row->rules || row->gen->nfixed != 1) continue;
        for (int r = 0; r < RULES; r++) known = known || strcmp(rules[r].name, row->name) == 0;
        for (int with_dim = 0; with_dim < 2 && !known; with_dim++)
            TN_SCOPE {
                memset(v, 0, sizeof v);
                v[0].type = TN_T_TENSOR, v[0].as.tensor = tnp_ones(TN_DIMS(3, 5), TN_F32, 0);
                v[1].type = TN_T_INTS, v[1].name = "dim", v[1].as.ints = DIM;
                if (tn_call_row("values", 1, row, TN_PLAIN, v, 1 + with_dim, out, 8, &count) &&
                    count && out[0] && out[0]->numel < 15 && out[0]->storage->data &&
                    out[0]->storage != v[0].as.tensor->storage)
                    known = true, n++,
                    printf("short 9: no scalar model of %s in tests/ops/vectors.c\n", row->name);
                tn_error_take(NULL);
            }
    }
    return n;
}

int main(int argc, char **argv) {
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    int rows = 0, step = 1;
    tn_context_options o;
    if (!rows_begin(argc, argv, tables)) return 1;
    for (int a = 1; a < argc; a++)
        if (strncmp(argv[a], "step=", 5) == 0) step = atoi(argv[a] + 5);
    memset(&o, 0, sizeof o);
    o.threads = -1;
    by_set[1] = tn_context_new(&o);
    o.isa = "scalar";
    by_set[0] = tn_context_new(&o);
    for (int n = 1; n <= LONGEST && failed < 400; n += n < 4 || step < 2 ? 1 : step)
        length(n, TN_F32), length(n, TN_F64);
    for (int r = 0; r < RULES; r++)
        rows += rows_take(0, tn_row_named(rules[r].name)->gen->index) &&
                (r == 0 || strcmp(rules[r].name, rules[r - 1].name) != 0);
    printf("vectors: %d rows, %lld results, %lld rows without a model\n", rows, (long long)checked,
           (long long)without_rule());
    tn_context_free(by_set[0]);
    tn_context_free(by_set[1]);
    tn_context_free(NULL);
    printf("%d passed, %lld failed\n", rows, (long long)failed);
    return failed != 0;
}
