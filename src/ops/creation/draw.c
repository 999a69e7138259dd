/* draw.c - draws by elements: poisson, binomial, gamma and Dirichlet numbers, by torch's methods.
 *
 * Elements are drawn in row-major order by one thread, from the words that torch takes; equal seeds
 * give torch's numbers, except where its libm decides a comparison by the last bit. Logarithms are
 * those of the library's own loops. */
#include "random.h"
#include "../../cpu/drive.h"
#include "../../cpu/walk.h"
#include "../../gen/rows.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/reduction.h"
#include "../../call/arguments.h"
#include "../../call/rowform.h"

/* One number by the loop of a pointwise row, in f64. */
static double draw_by(tni_loop loop, double x) {
    double room[TNI_VECTOR_BYTES / sizeof(double)] = {0};
    const char *in = (const char *)room;
    const int64_t step = TNI_VECTOR_BYTES;
    room[0] = x;
    loop((char *)room, &in, &step, 1, NULL);
    return room[0];
}
#define DRAW_LOOP(name) tni_loops_##name[f->block->context->kernels->isa][TNI_IN_F64]
static double draw_log(const tn_frame *f, double x) { return draw_by(DRAW_LOOP(log), x); }

/* The numbers of n tensors of one shape in row-major order, by `draw` to the last of them. */
static void draw_each(tn_frame *f, const tn_tensor *const *operands, int n,
                      double (*draw)(tn_frame *f, const double *x)) {
    const tn_tensor *out = operands[n - 1];
    tni_walk w;
    tni_walk_start(&w, out->ndim, out->size, operands, n);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n && !tni_stopped_at(i); i++) {
            double x[2], y;
            for (int k = 0; k < n - 1; k++)
                tni_lanes_load(&x[k], TN_F64, w.at[k] + i * w.row[k], 1, operands[k]->dtype, 1);
            y = draw(f, x);
            tni_lanes_save(w.at[n - 1] + i * w.row[n - 1], 1, out->dtype, &y, TN_F64, 1);
        }
}
static bool draw_floating(tn_frame *f, const tn_tensor *x) {
    return (tni_is_float(x->dtype) && tni_dtype(x->dtype)->computes) ||
           tn_fail(f, TN_UNSUPPORTED, "expected a floating dtype, got %s",
                   tni_dtype(x->dtype)->text);
}
/* As torch, most draws are of these two alone. */
static bool draw_full(tn_frame *f, const tn_tensor *x) {
    return x->dtype == TN_F32 || x->dtype == TN_F64 ||
           tn_fail(f, TN_UNSUPPORTED, "expected float32 or float64, got %s",
                   tni_dtype(x->dtype)->text);
}
static bool draw_check(tn_frame *f) {
    const tn_tensor *x = f->in[0];
    return draw_floating(f, x) && tn_announce(f, 0, (tn_dtype)x->dtype, x->ndim, x->size);
}

/* --- poisson ---------------------------------------------------------------------------------- */

/* For lambda from 10 on: W. Hoermann, "The transformed rejection method for generating Poisson
 * random variables", 1993, algorithm PTRS. */
static double poisson_large(tn_frame *f, double lambda) {
    const double root = sqrt(lambda), log_lambda = draw_log(f, lambda);
    const double b = fma(2.53, root, 0.931), a = fma(0.02483, b, -0.059);
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (int64_t i = 0; !tni_stopped_at(i); i++) {
        const double u = tni_random_u53(f->generator) - 0.5, v = tni_random_u53(f->generator);
        const double us = 0.5 - fabs(u), k = floor(fma(2 * a / us + b, u, lambda + 0.43));
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (draw_log(f, v) + draw_log(f, inverse) - draw_log(f, a / (us * us) + b) <=
            fma(k, log_lambda, -lambda) - draw_by(DRAW_LOOP(lgamma), k + 1))
            return k;
    }
    return 0;
}
/* Below 10: how many uniform numbers are multiplied before their product falls to e^-lambda. */
static double poisson_draw(tn_frame *f, const double *x) {
    double product = 1, least, k = 0;
    if (x[0] >= 10) return poisson_large(f, x[0]);
    if (x[0] == 0) return 0;
    least = draw_by(DRAW_LOOP(exp), -x[0]);
    while ((product *= tni_random_u53(f->generator)) > least) k++;
    return k;
}
/* The rates are data: all are checked before one number is drawn. */
static bool poisson_look(tn_frame *f) {
    const tn_tensor *p = f->in[0];
    tni_walk w;
    tni_walk_start(&w, p->ndim, p->size, &p, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            double v;
            tni_lanes_load(&v, TN_F64, w.at[0] + i * w.row[0], 1, p->dtype, 1);
            if (!(v >= 0))
                return tn_fail(f, TN_INVALID,
                               "invalid Poisson rate, expected rate to be non-negative");
        }
    return true;
}
static void poisson_run(tn_frame *f) {
    const tn_tensor *operands[2];
    operands[0] = f->in[0];
    operands[1] = f->out[0];
    draw_each(f, operands, 2, poisson_draw);
}
/* Numbers of the Poisson distribution, each of the rate that self's element says. */
TN_OPERATOR(poisson, "poisson(Tensor self, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*), floating", .example = "tn_poisson(x)",
                   .differs = "gradcheck: the gradient is zero, as torch's"),
            .check = draw_check, .look = poisson_look, .run = poisson_run,
            .grad = tni_random_zero_grad, .domain = "self:0..20",
            .sample = "(2,3) | (35):f64 | () | (0) | (300):f64 | (20):f16")

/* --- binomial --------------------------------------------------------------------------------- */

/* log k! less Stirling's formula for it. */
static double binomial_tail(double k) {
    static const double first[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                   0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                   0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                   0.00833056343336287};
    double s;
    if (k <= 9) return first[(int)k];
    s = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / s) / s) / (k + 1);
}
/* n p from 10 on: W. Hoermann, "The generation of binomial random variates", 1993, algorithm
 * BTRS. */
static double binomial_large(tn_frame *f, double n, double p) {
    const double spread = sqrt(n * p * (1 - p)), b = fma(2.53, spread, 1.15);
    const double a = fma(0.01, p, fma(0.0248, b, -0.0873)), c = fma(n, p, 0.5);
    const double v_r = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread;
    const double m = floor((n + 1) * p);
    for (int64_t i = 0; !tni_stopped_at(i); i++) {
        const double u = tni_random_u53(f->generator) - 0.5;
        double v = tni_random_u53(f->generator), bound;
        const double us = 0.5 - fabs(u), k = floor(fma(2 * a / us + b, u, c));
        if (k < 0 || k > n) continue;
        if (us >= 0.07 && v <= v_r) return k;
        v = draw_log(f, v * alpha / (a / (us * us) + b));
        bound = (m + 0.5) * draw_log(f, (m + 1) / (odds * (n - m + 1)));
        bound = fma(n + 1, draw_log(f, (n - m + 1) / (n - k + 1)), bound);
        bound = fma(k + 0.5, draw_log(f, odds * (n - k + 1) / (k + 1)), bound);
        bound += binomial_tail(m) + binomial_tail(n - m) - binomial_tail(k) - binomial_tail(n - k);
        if (v <= bound) return k;
    }
    return 0;
}
/* How many gaps of the geometric distribution fit into n: L. Devroye, "Non-uniform random variate
 * generation", 1986, X.4.3. */
static double binomial_small(tn_frame *f, double n, double p) {
    const double fails = draw_by(DRAW_LOOP(log1p), -p);
    double sum = 0, k = 0;
    for (int64_t i = 0; !tni_stopped_at(i); i++, k++) {
        sum += ceil(draw_log(f, tni_random_u53(f->generator)) / fails);
        if (sum > n) break;
    }
    return k;
}
static double binomial_draw(tn_frame *f, const double *x) {
    const double n = x[0], p = x[1], q = p > 0.5 ? 1 - p : p;
    double k;
    if (n <= 0 || p <= 0) return 0;
    if (p >= 1) return n;
    if (p != p || n != n) return (double)NAN;
    k = n * q >= 10 ? binomial_large(f, n, q) : binomial_small(f, n, q);
    return p > 0.5 ? n - k : k;
}
static bool binomial_check(tn_frame *f) {
    const tn_tensor *n = f->in[0], *p = f->in[1];
    tn_tensor *pair[2];
    tni_shape s;
    for (int k = 0; k < 2; k++)
        if (!tni_is_float(f->in[k]->dtype) || !tni_dtype(f->in[k]->dtype)->computes)
            return tn_fail(f, TN_TYPE,
                           "binomial only supports floating-point dtypes for %s, got: %s",
                           k ? "prob" : "count", tni_dtype(f->in[k]->dtype)->text);
    if (n->dtype != p->dtype)
        return tn_fail(f, TN_TYPE, "Found dtype %s but expected %s", tni_dtype(p->dtype)->text,
                       tni_dtype(n->dtype)->text);
    if (!draw_full(f, n)) return false;
    pair[0] = f->in[0];
    pair[1] = f->in[1];
    return tni_broadcast_all(f, &s, pair, 2) &&
           tn_announce(f, 0, (tn_dtype)n->dtype, s.ndim, s.size);
}
static void binomial_run(tn_frame *f) {
    const tn_tensor *operands[3];
    operands[0] = f->in[0];
    operands[1] = f->in[1];
    operands[2] = f->out[0];
    draw_each(f, operands, 3, binomial_draw);
}
/* Numbers of the binomial distribution: successes in count trials of probability prob. NaN where
 * one of them is. */
TN_OPERATOR(binomial, "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "count (*), prob (*) -> broadcast, floating",
                   .example = "tn_binomial(x, p)",
                   .differs = "gradcheck: the gradient is zero, as torch's"),
            .check = binomial_check, .run = binomial_run, .grad = tn_grad_zero,
            .domain = "count:0..40 prob:0..1",
            .sample = "(2,3) (2,3) | (35):f64 (35):f64 | () () | (0) (0) | (2,3) (3) | (300):f64 "
                      "():f64")

/* --- gamma ------------------------------------------------------------------------------------ */

/* G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", 2000. narrow: alpha is
 * computed with as a float, as torch does for float32. */
#include "../../base/rounded_begin.inl"
static double gamma_number(tn_frame *f, double alpha, bool narrow) {
    double scale = 1, third = (double)(1.0f / 3.0f), d, c;
    if (alpha != alpha) return alpha;
    if (alpha < 1) { /* as alpha + 1, times u^(1 / alpha) */
        double power = 1 - tni_random_u53(f->generator);
        if (alpha == 0) return 0;
        TNI_K(f->block->context->kernels, power_f64)
        (&power, 1, narrow ? (double)(1.0f / (float)alpha) : 1 / alpha);
        scale = power;
        alpha = narrow ? (double)((float)alpha + 1.0f) : alpha + 1;
    }
    d = narrow ? (double)((float)alpha - 1.0f / 3.0f) : alpha - third;
    if (!(d > 0)) return (double)NAN;
    c = 1 / sqrt(9 * d);
    for (int64_t i = 0; !tni_stopped_at(i); i++) {
        double x, y, v, u, square;
        do {
            x = tni_random_normal(f);
            y = 1 + c * x;
        } while (y <= 0 && !tni_stopped_at(i));
        v = y * y * y;
        u = 1 - tni_random_u53(f->generator);
        square = x * x;
        if (u < 1 - (double)0.0331f * square * square ||
            draw_log(f, u) < 0.5 * square + d * (1 - v + draw_log(f, v)))
            return scale * d * v;
    }
    return 0;
}
#include "../../base/rounded_end.inl"
/* The smallest normal number of a dtype: draws are not 0. */
static double gamma_least(int dtype) {
    return dtype == TN_F64 ? 2.2250738585072014e-308 : 1.1754943508222875e-38;
}
static double gamma_draw(tn_frame *f, const double *x) {
    const int dtype = f->out[0]->dtype;
    const double y = gamma_number(f, x[0], dtype != TN_F64), least = gamma_least(dtype);
    return y < least ? least : y;
}
static bool gamma_check(tn_frame *f) { return draw_full(f, f->in[0]) && draw_check(f); }
static void gamma_run(tn_frame *f) {
    const tn_tensor *operands[2];
    operands[0] = f->in[0];
    operands[1] = f->out[0];
    draw_each(f, operands, 2, gamma_draw);
}
static void gamma_move(tn_gradient *g) {
    tn_give(g, 0, tnp_mul(g->incoming[0], tnp_standard_gamma_grad(g->in[0], g->out[0])));
}
/* Numbers of the gamma distribution of rate 1, each of the shape that self's element says; NaN
 * below 0. The gradient is that of the number whose probability stays (_standard_gamma_grad). */
TN_OPERATOR(standard_gamma, "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*), floating", .example = "tn_standard_gamma(x)",
                   .differs = "gradcheck: a draw with the same random numbers moves otherwise | "
                              "grad: torch's has 3 to 9 digits, this one 14"),
            .needs = "self:self,result", .check = gamma_check, .run = gamma_run, .grad = gamma_move,
            .domain = "self:0.1..9", .sample = "(2,3) | (35):f64 | () | (0) | (300):f64 | (20):f32")

/* --- dirichlet -------------------------------------------------------------------------------- */

static bool dirichlet_check(tn_frame *f) {
    return gamma_check(f) && tn_scratch(f, f->in[0]->numel, sizeof(double));
}
/* Gamma numbers in double, each over the sum of its row, within (0, 1) of the dtype. */
static void dirichlet_run(tn_frame *f) {
    const tn_tensor *x = f->in[0], *out = f->out[0];
    const int dtype = out->dtype;
    const int64_t n = x->ndim ? x->size[x->ndim - 1] : 1, bytes = tni_dtype_size(out);
    const double least = gamma_least(dtype), most = 1 - ldexp(1, dtype == TN_F64 ? -53 : -24);
    double *gamma = (double *)f->scratch;
    tni_walk w;
    tni_walk_start(&w, x->ndim, x->size, &x, 1);
    for (int64_t r = 0, at = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n && !tni_stopped_at(i); i++, at++) {
            double alpha, y;
            tni_lanes_load(&alpha, TN_F64, w.at[0] + i * w.row[0], bytes, dtype, 1);
            y = gamma_number(f, alpha, false);
            gamma[at] = y < gamma_least(TN_F64) ? gamma_least(TN_F64) : y;
        }
    for (int64_t r = 0; r < x->numel && !tni_stopped(); r += n) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += gamma[r + i];
        for (int64_t i = 0; i < n; i++) {
            double y = gamma[r + i] / sum;
            y = y < least ? least : y > most ? most : y;
            tni_lanes_save(tni_bytes_at(out) + (r + i) * bytes, bytes, dtype, &y, TN_F64, 1);
        }
    }
}
/* By the marginals, which are beta numbers. */
static void dirichlet_move(tn_gradient *g) {
    tn_tensor *a = g->in[0], *x = g->out[0], *d = g->incoming[0], *total = a, *mean;
    tn_ints last = TN_DIMS(-1);
    mean = tnp_mul(x, d);
    if (a->ndim) {
        total = tnp_sum(a, last, true, TN_NO_DTYPE);
        mean = tnp_sum(mean, last, true, TN_NO_DTYPE);
    }
    tn_give(g, 0, tnp_mul(tnp_dirichlet_grad(x, a, total), tnp_sub(d, mean, 1)));
}
/* Numbers of the Dirichlet distribution: each row of the last dimension is positive and adds up to
 * 1. self has the concentrations. The gradient is that of the numbers whose probabilities stay
 * (_dirichlet_grad). */
TN_OPERATOR(sample_dirichlet, "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
            TN_DOC(.shapes = "self (.., n) -> (.., n), floating",
                   .example = "tn_sample_dirichlet(x)",
                   .differs = "gradcheck: a draw with the same random numbers moves otherwise | "
                              "grad: torch has none, but in its distributions"),
            .needs = "self:self,result", .check = dirichlet_check, .run = dirichlet_run,
            .grad = dirichlet_move, .domain = "self:0.1..9",
            .sample = "(2,3) | (35):f64 | () | (0,3) | (9,30):f64 | (4,5):f32")
#undef DRAW_LOOP
