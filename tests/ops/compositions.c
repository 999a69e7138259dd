/* compositions.c - see compositions.h. Formulas are those of the rows' comments; no formula calls
 * a row that computes more than one step of it. */
#include "compositions.h"

#include <math.h>

typedef tn_tensor T;

static T *add(T *a, T *b) { return tnp_add(a, b, 1); }
static T *sub(T *a, T *b) { return tnp_sub(a, b, 1); }
static T *mul(T *a, T *b) { return tnp_mul(a, b); }
static T *adds(T *a, double k) { return tnp_add_scalar(a, tn_float(k), 1); }
static T *muls(T *a, double k) { return tnp_mul_scalar(a, tn_float(k)); }
static T *pows(T *a, double k) { return tnp_pow_scalar(a, tn_float(k)); }
static T *sums(T *a, tn_ints dim, bool keep) { return tnp_sum(a, dim, keep, TN_NO_DTYPE); }
static T *sum1(T *a, int64_t dim, bool keep) { return sums(a, tn_ints_of(&dim, 1), keep); }
static double count(const T *t) { return t ? (double)t->numel : 1; }

/* Elements that are added to one of sum(t, dim). */
static double count_dims(const T *t, tn_ints dim) {
    double n = 1;
    if (dim.n <= 0) return count(t);
    for (int64_t i = 0; i < dim.n; i++) n *= (double)t->size[(dim.at[i] + t->ndim) % t->ndim];
    return n;
}
static T *means(T *t, tn_ints dim, bool keep) {
    return muls(sums(t, dim, keep), 1 / count_dims(t, dim));
}
static T *reduced(T *t, tn_reduction r) {
    if (!t || r == TN_REDUCTION_NONE) return t;
    return muls(sums(t, tn_no_dims(), false), r == TN_REDUCTION_MEAN ? 1 / count(t) : 1);
}

#define FORMULA(name)                                \
    static T *name##_of(const tn_##name##_args *a);  \
    static T *name##_formula(const void *args) {     \
        return name##_of((const tn_##name##_args *)args); \
    }                                                \
    static T *name##_of(const tn_##name##_args *a)

/* --- along rows ------------------------------------------------------------------------------- */

static T *soft(T *x, int64_t dim) {
    T *e = x->ndim ? tnp_exp(sub(x, tnp_detach(tnp_amax(x, tn_ints_of(&dim, 1), true)))) : NULL;
    return e ? tnp_div(e, sum1(e, dim, true)) : tnp_div(x, x);
}
static T *log_soft(T *x, int64_t dim) { /* x - max - log sum exp(x - max) */
    T *y = x->ndim ? sub(x, tnp_detach(tnp_amax(x, tn_ints_of(&dim, 1), true))) : sub(x, x);
    return x->ndim ? sub(y, tnp_log(sum1(tnp_exp(y), dim, true))) : y;
}
FORMULA(softmax) { return a->self->numel && !a->dtype ? soft(a->self, a->dim) : NULL; }
FORMULA(log_softmax) { return a->self->numel && !a->dtype ? log_soft(a->self, a->dim) : NULL; }
FORMULA(logsumexp) {
    T *m = tnp_detach(tnp_amax(a->self, a->dim, true));
    T *y = tnp_log(sums(tnp_exp(sub(a->self, m)), a->dim, true));
    y = add(y, m);
    return a->keepdim ? y : sums(y, a->dim, false); /* drops dimensions of one element */
}
enum { CHAIN = 130 };
FORMULA(linear_recurrence) { /* one element after the other, from either end */
    T *x = a->input, *y = NULL, *part[CHAIN];
    const int64_t n = x->ndim ? x->size[(a->dim + x->ndim) % x->ndim] : 0;
    if (!x->numel || n < 1 || n > CHAIN) return NULL;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = a->reverse ? n - 1 - i : i;
        T *one = tnp_select(x, a->dim, at);
        y = i ? add(one, mul(tnp_select(a->factor, a->dim, a->reverse ? at + 1 : at), y)) : one;
        part[at] = y;
    }
    return tnp_stack(tn_tensors_of(part, n), a->dim);
}
FORMULA(cumprod) {
    T *x = a->self, *part[CHAIN];
    const int64_t n = x->ndim ? x->size[(a->dim + x->ndim) % x->ndim] : 0;
    if (!x->numel || n < 1 || n > CHAIN || a->dtype) return NULL;
    for (int64_t i = 0; i < n; i++) {
        T *one = tnp_select(x, a->dim, i);
        part[i] = i ? mul(part[i - 1], one) : one;
    }
    return tnp_stack(tn_tensors_of(part, n), a->dim);
}
FORMULA(cumsum) { /* (i, j) of a lower triangle of ones */
    T *x = a->self, *ones;
    const int64_t dim = x->ndim ? (a->dim + x->ndim) % x->ndim : 0;
    if (!x->ndim || !x->numel || a->dtype || tni_is_complex(x->dtype)) return NULL;
    ones = tnp_ones(TN_DIMS(x->size[dim], x->size[dim]), (tn_dtype)x->dtype, TN_NO_DEVICE);
    x = tnp_unsqueeze(tnp_transpose(x, dim, -1), -1); /* (.., n, 1) */
    x = tnp_squeeze_dim(tnp_matmul(tnp_tril(ones, 0), x), -1);
    return tnp_transpose(x, dim, -1);
}
static T *variance(T *x, tn_ints dim, double correction, bool keep) {
    T *d = sub(x, means(x, dim, true));
    return muls(sums(mul(d, d), dim, keep), 1 / fmax(0, count_dims(x, dim) - correction));
}
static double number(tn_scalar s, double otherwise) {
    return s.kind == TN_KIND_INT     ? (double)s.integer
           : s.kind == TN_KIND_FLOAT ? s.real
                                     : otherwise;
}
FORMULA(mean) {
    if (!a->self->numel || a->dtype || !tni_is_float(a->self->dtype)) return NULL;
    return means(a->self, a->dim, a->keepdim);
}
static tn_ints all_dims(const T *x, tn_ints dim) { /* an absent list of a 0-dim or whole tensor */
    static const int64_t every[] = {0, 1, 2, 3, 4, 5, 6, 7};
    return dim.n > 0 ? dim : tn_ints_of(every, x->ndim);
}
FORMULA(var) {
    return variance(a->self, all_dims(a->self, a->dim), number(a->correction, 1), a->keepdim);
}
FORMULA(std) {
    return tnp_sqrt(
        variance(a->self, all_dims(a->self, a->dim), number(a->correction, 1), a->keepdim));
}
static T *vector_norm(T *x, double p, tn_ints dim, bool keep) {
    if (!x->numel || !(p > 0) || !isfinite(p)) return NULL;
    return pows(sums(pows(tnp_abs(x), p), dim, keep), 1 / p);
}
FORMULA(norm) {
    if (a->dtype) return NULL;
    return vector_norm(a->self, number(a->p, 2), all_dims(a->self, a->dim), a->keepdim);
}
FORMULA(linalg_vector_norm) {
    if (a->dtype) return NULL;
    return vector_norm(a->self, a->ord, all_dims(a->self, a->dim), a->keepdim);
}

/* --- norms ------------------------------------------------------------------------------------ */

static T *affine(T *x, T *weight, T *bias) {
    if (weight) x = mul(x, weight);
    return bias ? add(x, bias) : x;
}
FORMULA(layer_norm) {
    static const int64_t last[] = {-1, -2, -3, -4};
    const tn_ints dim = tn_ints_of(last, a->normalized_shape.n);
    T *x = a->input;
    if (!x->numel) return NULL;
    x = mul(sub(x, means(x, dim, true)), pows(adds(variance(x, dim, 0, true), a->eps), -0.5));
    return affine(x, a->weight, a->bias);
}
static T *channels(T *t, int ndim) { /* (C) -> (C, 1, ..) */
    for (int d = 2; t && d < ndim; d++) t = tnp_unsqueeze(t, -1);
    return t;
}
FORMULA(batch_norm) {
    static const int64_t others[] = {0, 2, 3, 4};
    T *x = a->input, *m, *v;
    const tn_ints dim = tn_ints_of(others, x->ndim - 1);
    if (!x->numel) return NULL;
    m = a->training ? means(x, dim, true) : channels(a->running_mean, x->ndim);
    v = a->training ? variance(x, dim, 0, true) : channels(a->running_var, x->ndim);
    x = mul(sub(x, m), pows(adds(v, a->eps), -0.5));
    return affine(x, channels(a->weight, x->ndim), channels(a->bias, x->ndim));
}

/* --- pointwise -------------------------------------------------------------------------------- */

static T *sigmoid_by_exp(T *x) { return pows(adds(tnp_exp(tnp_neg(x)), 1), -1); }
static T *phi(T *x) { return muls(adds(tnp_erf(muls(x, sqrt(0.5))), 1), 0.5); }
static T *where_positive(T *x, T *yes, T *no) {
    return tnp_where(tnp_gt_scalar(x, tn_float(0)), yes, no);
}
FORMULA(sigmoid) { return sigmoid_by_exp(a->self); }
FORMULA(tanh) { return adds(muls(sigmoid_by_exp(muls(a->self, 2)), 2), -1); }
FORMULA(silu) { return mul(a->self, sigmoid_by_exp(a->self)); }
FORMULA(relu) { return where_positive(a->self, a->self, muls(a->self, 0)); }
FORMULA(leaky_relu) {
    return where_positive(a->self, a->self, muls(a->self, a->negative_slope));
}
static T *gelu_by_tanh(T *x) {
    T *inner = muls(add(x, muls(pows(x, 3), 0.044715)), 2 * sqrt(2 / 3.14159265358979323846));
    return mul(x, sigmoid_by_exp(inner));
}
FORMULA(gelu_erf) { return mul(a->self, phi(a->self)); }
FORMULA(gelu_tanh) { return gelu_by_tanh(a->self); }
FORMULA(gelu) {
    return a->approximate == TN_APPROXIMATE_TANH ? gelu_by_tanh(a->self)
                                                 : mul(a->self, phi(a->self));
}
FORMULA(softsign) { return tnp_div(a->self, adds(tnp_abs(a->self), 1)); }
FORMULA(softplus) {
    T *x = muls(a->self, a->beta), *soft_part = muls(tnp_log(adds(tnp_exp(x), 1)), 1 / a->beta);
    return tnp_where(tnp_gt_scalar(x, tn_float(a->threshold)), a->self, soft_part);
}
FORMULA(elu) {
    T *low = muls(adds(tnp_exp(muls(a->self, a->input_scale)), -1), a->alpha * a->scale);
    return where_positive(a->self, muls(a->self, a->scale), low);
}
FORMULA(square) { return mul(a->self, a->self); }
FORMULA(reciprocal) { return pows(a->self, -1); }
FORMULA(rsqrt) { return pows(tnp_sqrt(a->self), -1); }
FORMULA(addcmul) { return add(a->self, muls(mul(a->tensor1, a->tensor2), a->value)); }
FORMULA(addcdiv) { return add(a->self, muls(tnp_div(a->tensor1, a->tensor2), a->value)); }
FORMULA(expm1) { return adds(tnp_exp(a->self), -1); }
FORMULA(log1p) { return tnp_log(adds(a->self, 1)); }
FORMULA(sinh) { return muls(sub(tnp_exp(a->self), tnp_exp(tnp_neg(a->self))), 0.5); }
FORMULA(cosh) { return muls(add(tnp_exp(a->self), tnp_exp(tnp_neg(a->self))), 0.5); }
FORMULA(tan) { return tnp_div(tnp_sin(a->self), tnp_cos(a->self)); }

/* --- products --------------------------------------------------------------------------------- */

/* (.., m, k) (.., k, n): the sum over k of (.., m, k, 1) (.., 1, k, n) */
static T *product(T *x, T *y) {
    if (x->numel * y->size[y->ndim - 1] > 100000) return NULL;
    return sum1(mul(tnp_unsqueeze(x, -1), tnp_unsqueeze(y, -3)), -2, false);
}
static T *plus_scaled(T *x, double k, T *y) { return x && y ? add(muls(x, k), y) : NULL; }
FORMULA(matmul) {
    T *x = a->self, *y = a->other;
    const bool row = x->ndim == 1, column = y->ndim == 1;
    if (row) x = tnp_unsqueeze(x, 0);
    if (column) y = tnp_unsqueeze(y, -1);
    x = product(x, y);
    if (x && column) x = tnp_squeeze_dim(x, -1);
    return x && row ? tnp_squeeze_dim(x, column ? -1 : -2) : x;
}
FORMULA(mm) { return product(a->self, a->mat2); }
FORMULA(bmm) { return product(a->self, a->mat2); }
FORMULA(mv) { return sum1(mul(a->self, a->vec), -1, false); }
FORMULA(dot) { return sum1(mul(a->self, a->tensor), -1, false); }
FORMULA(addmm) {
    T *p = product(a->mat1, a->mat2);
    return p ? plus_scaled(a->self, a->beta, muls(p, a->alpha)) : NULL;
}
static T *affine_map(T *x, T *weight, T *bias) {
    const bool flat = x->ndim == 1;
    T *y;
    if (weight->ndim == 1) y = sum1(mul(x, weight), -1, false);
    else y = product(flat ? tnp_unsqueeze(x, 0) : x, tnp_t(weight));
    if (y && flat && weight->ndim > 1) y = tnp_squeeze_dim(y, 0);
    return y && bias ? add(y, bias) : y;
}
FORMULA(linear) { return affine_map(a->input, a->weight, a->bias); }
FORMULA(linear_rows) { return affine_map(a->input, a->weight, a->bias); }
/* t (N, G, S, E) with as many heads as q (N, H, L, E): H / G copies of each, side by side. */
static T *heads_of(T *t, const T *q) {
    const int64_t copies = q->size[1] / t->size[1];
    const int64_t wide[5] = {t->size[0], t->size[1], copies, t->size[2], t->size[3]};
    const int64_t size[4] = {t->size[0], q->size[1], t->size[2], t->size[3]};
    return tnp_reshape(tnp_expand(tnp_unsqueeze(t, 2), tn_ints_of(wide, 5), false),
                       tn_ints_of(size, 4));
}
FORMULA(scaled_dot_product_attention) {
    const double scale =
        a->scale.given == TN_GIVEN ? a->scale.value
                                   : 1 / sqrt((double)a->query->size[a->query->ndim - 1]);
    const bool groups = a->enable_gqa && a->query->ndim == 4;
    T *key = groups ? heads_of(a->key, a->query) : a->key, *seen;
    T *value = groups ? heads_of(a->value, a->query) : a->value;
    T *score = muls(product(a->query, tnp_transpose(key, -1, -2)), scale);
    if (a->attn_mask) score = add(score, a->attn_mask);
    if (a->is_causal) {
        seen = tnp_tril(tnp_ones_like(tnp_detach(score), TN_NO_DTYPE, TN_NO_DEVICE), 0);
        score = tnp_where_scalar(tnp_gt_scalar(seen, tn_float(0)), score, tn_float(-1e30));
    }
    return product(soft(score, -1), value);
}

/* --- windows ---------------------------------------------------------------------------------- */

typedef struct window {
    int64_t size[2], stride[2], padding[2], dilation[2];
} window;
static void pair_of(tn_ints l, const int64_t *otherwise, int64_t *to) {
    for (int k = 0; k < 2; k++)
        to[k] = l.n > 0 ? l.at[l.n == 1 ? 0 : k] : otherwise ? otherwise[k] : 1;
}
static T *padded(T *x, int64_t dim, int64_t n, double with) {
    int64_t size[8];
    T *part[3];
    if (n == 0) return x;
    for (int d = 0; d < x->ndim; d++) size[d] = x->size[d];
    size[x->ndim + dim] = n;
    part[0] = part[2] = tnp_full(tn_ints_of(size, x->ndim), tn_float(with), (tn_dtype)x->dtype,
                                 TN_NO_DEVICE);
    part[1] = x;
    return tnp_cat(tn_tensors_of(part, 3), dim);
}
/* x (.., H, W), padded, where the windows have their place (i, j): (.., H', W') */
static T *place(T *x, const window *w, int64_t i, int64_t j) {
    for (int k = 0; k < 2; k++) {
        const int64_t dim = k - 2, from = (k ? j : i) * w->dilation[k];
        const int64_t n =
            (x->size[x->ndim + dim] - w->dilation[k] * (w->size[k] - 1) - 1) / w->stride[k] + 1;
        x = tnp_slice(x, dim, from, from + (n - 1) * w->stride[k] + 1, w->stride[k]);
    }
    return x;
}
FORMULA(conv2d) { /* the sum over (i, j) of a product over channels at each place */
    T *x = a->input, *y = NULL, *bias;
    window w;
    if (!x->numel || x->numel > 2000 || a->groups != 1 || x->ndim != 4) return NULL;
    w.size[0] = a->weight->size[2], w.size[1] = a->weight->size[3];
    pair_of(a->stride, NULL, w.stride);
    pair_of(a->padding, NULL, w.padding);
    pair_of(a->dilation, NULL, w.dilation);
    x = padded(padded(x, -2, w.padding[0], 0), -1, w.padding[1], 0);
    for (int64_t i = 0; i < w.size[0]; i++)
        for (int64_t j = 0; j < w.size[1]; j++) { /* (N, 1, C, H', W') (O, C, 1, 1) over C */
            T *k = tnp_select(tnp_select(a->weight, -1, j), -1, i);
            T *p = tnp_unsqueeze(place(x, &w, i, j), 1);
            p = sum1(mul(p, tnp_unsqueeze(tnp_unsqueeze(k, -1), -1)), 2, false);
            y = y ? add(y, p) : p;
        }
    bias = a->bias ? tnp_unsqueeze(tnp_unsqueeze(a->bias, -1), -1) : NULL;
    return bias ? add(y, bias) : y;
}
FORMULA(avg_pool2d) {
    T *x = a->self, *y = NULL;
    window w = {{0, 0}, {0, 0}, {0, 0}, {1, 1}};
    if (!x->numel || a->ceil_mode || !a->count_include_pad) return NULL;
    pair_of(a->kernel_size, NULL, w.size);
    pair_of(a->stride, w.size, w.stride);
    pair_of(a->padding, NULL, w.padding);
    x = padded(padded(x, -2, w.padding[0], 0), -1, w.padding[1], 0);
    for (int64_t i = 0; i < w.size[0]; i++)
        for (int64_t j = 0; j < w.size[1]; j++)
            y = y ? add(y, place(x, &w, i, j)) : place(x, &w, i, j);
    return muls(y, 1 / (double)(a->divisor_override == TN_NONE ? w.size[0] * w.size[1]
                                                               : a->divisor_override));
}
FORMULA(max_pool2d) {
    T *x = a->self, *y = NULL;
    window w;
    if (!x->numel || a->ceil_mode || x->numel > 300) return NULL;
    pair_of(a->kernel_size, NULL, w.size);
    pair_of(a->stride, w.size, w.stride);
    pair_of(a->padding, NULL, w.padding);
    pair_of(a->dilation, NULL, w.dilation);
    x = padded(padded(x, -2, w.padding[0], -1e30), -1, w.padding[1], -1e30);
    for (int64_t i = 0; i < w.size[0]; i++)
        for (int64_t j = 0; j < w.size[1]; j++) {
            T *p = place(x, &w, i, j);
            y = y ? tnp_where(tnp_gt(p, y), p, y) : p;
        }
    return y;
}

/* --- losses ----------------------------------------------------------------------------------- */

FORMULA(mse_loss) { return reduced(pows(sub(a->input, a->target), 2), a->reduction); }
FORMULA(l1_loss) {
    T *d = sub(a->input, a->target);
    return reduced(where_positive(d, d, tnp_neg(d)), a->reduction);
}
static T *huber(T *d, double delta) { /* d^2 / 2 below delta, else delta (|d| - delta / 2) */
    T *size = where_positive(d, d, tnp_neg(d));
    return tnp_where(tnp_lt_scalar(size, tn_float(delta)), muls(mul(d, d), 0.5),
                     muls(adds(size, -delta / 2), delta));
}
FORMULA(huber_loss) { return reduced(huber(sub(a->input, a->target), a->delta), a->reduction); }
FORMULA(smooth_l1_loss) {
    if (a->beta <= 0) return NULL;
    return reduced(muls(huber(sub(a->input, a->target), a->beta), 1 / a->beta), a->reduction);
}
static T *one_minus(T *t) { return adds(tnp_neg(t), 1); }
FORMULA(binary_cross_entropy) {
    T *y = add(mul(a->target, tnp_log(a->input)),
               mul(one_minus(a->target), tnp_log(one_minus(a->input))));
    return reduced(tnp_neg(a->weight ? mul(y, a->weight) : y), a->reduction);
}
FORMULA(binary_cross_entropy_with_logits) {
    T *p = sigmoid_by_exp(a->input), *yes = mul(a->target, tnp_log(p)), *y;
    if (a->pos_weight) yes = mul(yes, a->pos_weight);
    y = tnp_neg(add(yes, mul(one_minus(a->target), tnp_log(one_minus(p)))));
    return reduced(a->weight ? mul(y, a->weight) : y, a->reduction);
}
FORMULA(kl_div) {
    T *t = a->log_target ? tnp_exp(a->target) : a->target;
    t = mul(t, sub(a->log_target ? a->target : tnp_log(t), a->input));
    if (a->reduction != TN_BATCH_REDUCTION_BATCHMEAN)
        return reduced(t, (tn_reduction)a->reduction);
    return muls(reduced(t, TN_REDUCTION_SUM), a->input->ndim ? 1 / (double)a->input->size[0] : 1);
}
/* -sum over C of target(n, c) weight(c) y(n, c), target in even parts by smoothing; y (N, C) */
static T *nll(T *y, T *target, T *weight, int64_t ignore, tn_reduction r, double smoothing) {
    const int64_t n = y->size[1];
    T *kept, *share, *one;
    if (y->ndim != 2 || y->numel > 3000) return NULL;
    if (tni_is_float(target->dtype)) {
        one = adds(muls(target, 1 - smoothing), smoothing / (double)n);
        if (weight) one = mul(one, weight);
        y = tnp_neg(sum1(mul(one, y), 1, false));
        return r == TN_REDUCTION_MEAN ? muls(reduced(y, TN_REDUCTION_SUM), 1 / (double)y->numel)
                                      : reduced(y, r);
    }
    kept = tnp_to_dtype(tnp_ne_scalar(target, tn_int(ignore)), (tn_dtype)y->dtype, false, false);
    one = tnp_to_dtype(tnp_one_hot(tnp_clamp_min_scalar(target, tn_int(0)), n), (tn_dtype)y->dtype,
                       false, false);
    one = mul(one, tnp_unsqueeze(kept, 1));
    share = sum1(weight ? mul(one, weight) : one, 1, false); /* w of the class */
    one = add(muls(one, 1 - smoothing), muls(tnp_unsqueeze(kept, 1), smoothing / (double)n));
    if (weight) one = mul(one, weight);
    y = tnp_neg(sum1(mul(one, y), 1, false));
    if (r != TN_REDUCTION_MEAN) return reduced(y, r);
    return tnp_div(sum1(y, 0, false), sum1(share, 0, false));
}
FORMULA(nll_loss) {
    return nll(a->input, a->target, a->weight, a->ignore_index, a->reduction, 0);
}
FORMULA(cross_entropy) {
    if (a->input->ndim != 2) return NULL;
    return nll(log_soft(a->input, 1), a->target, a->weight, a->ignore_index, a->reduction,
               a->label_smoothing);
}

#define STATED(name) {#name, name##_formula}
const composition compositions[] = {
    STATED(softmax), STATED(log_softmax), STATED(logsumexp), STATED(cumsum), STATED(cumprod),
    STATED(linear_recurrence), STATED(mean),
    STATED(var), STATED(std), STATED(norm), STATED(linalg_vector_norm), STATED(layer_norm),
    STATED(batch_norm), STATED(sigmoid), STATED(tanh), STATED(silu), STATED(relu),
    STATED(leaky_relu), STATED(gelu_erf), STATED(gelu_tanh), STATED(gelu), STATED(softsign),
    STATED(softplus), STATED(elu), STATED(square), STATED(reciprocal), STATED(rsqrt),
    STATED(addcmul), STATED(addcdiv), STATED(expm1), STATED(log1p), STATED(sinh), STATED(cosh),
    STATED(tan), STATED(matmul), STATED(mm), STATED(bmm), STATED(mv), STATED(dot), STATED(addmm),
    STATED(linear), STATED(linear_rows), STATED(scaled_dot_product_attention), STATED(conv2d),
    STATED(avg_pool2d), STATED(max_pool2d), STATED(mse_loss), STATED(l1_loss), STATED(huber_loss),
    STATED(smooth_l1_loss), STATED(binary_cross_entropy),
    STATED(binary_cross_entropy_with_logits), STATED(kl_div), STATED(nll_loss),
    STATED(cross_entropy), {NULL, NULL}};
