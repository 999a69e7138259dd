/* muon.c - Muon (K. Jordan et al., 2024) as torch.optim: the momentum of a matrix, made nearly
 * orthogonal by Newton and Schulz's iteration in bfloat16. */
#include "optim.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/linalg.h"
#include "../api/ops/reduction.h"
#include "../api/ops/shape.h"

#include <math.h>

static bool muon_check(const void *options) {
    const tn_optim_muon_args *o = (const tn_optim_muon_args *)options;
    if (o->ns_steps >= 100)
        return tni_nn_error(TN_INVALID, "ns_steps is %lld, expected fewer than 100",
                            (long long)o->ns_steps);
    return tni_option_should(o->lr >= 0, "Learning rate", ">= 0", o->lr) &&
           tni_option_should(o->momentum >= 0, "momentum", ">= 0", o->momentum) &&
           tni_option_should(o->weight_decay >= 0, "weight decay", ">= 0", o->weight_decay);
}
static tn_tensor *muon_begin(const void *options, const tn_tensor *p, int k) {
    (void)options, (void)k;
    if (tn_ndim(p) != 2)
        tni_nn_error(TN_INVALID, "a parameter has %d dimensions, expected 2", (int)tn_ndim(p));
    else
        return tnp_zeros(tn_shape(p), tn_dtype_of(p), tn_device_of(p));
    return NULL;
}

/* t as bfloat16 has it, float32: products of such numbers are rounded once, as torch's. */
static tn_tensor *muon_rounded(tn_tensor *t) {
    return tnp_to_dtype(tnp_to_dtype(t, TN_BF16, false, false), TN_F32, false, false);
}
/* A matrix near g whose singular values are near 1, float32. */
static tn_tensor *muon_orthogonal(const tn_optim_muon_args *o, tn_tensor *g) {
    const tn_floats c = o->ns_coefficients;
    const bool tall = g && tn_shape(g).at[0] > tn_shape(g).at[1];
    tn_tensor *x = muon_rounded(tall ? tnp_t(g) : g), *norm;
    norm = muon_rounded(tnp_linalg_vector_norm(x, 2, tn_empty_dims(), false, TN_NO_DTYPE));
    norm = muon_rounded(tnp_clamp_min_scalar(norm, tn_float(o->eps)));
    x = muon_rounded(tnp_div(x, norm));
    /* x = a x + (b G + c G G) x, G = x x^T */
    for (int64_t k = 0; k < o->ns_steps; k++) {
        tn_tensor *gram = muon_rounded(tnp_mm(x, tnp_t(x)));
        gram = muon_rounded(tnp_addmm(gram, gram, gram, c.at[1], c.at[2]));
        x = muon_rounded(tnp_addmm(x, gram, x, c.at[0], 1));
    }
    return tall ? tnp_t(x) : x;
}
/* lr by the shape of the matrix. */
static double muon_rate(const tn_optim_muon_args *o, tn_ints shape) {
    const double m = (double)shape.at[0], n = (double)shape.at[1];
    switch (o->adjust_lr_fn) {
    case TN_ADJUST_LR_MATCH_RMS_ADAMW: return o->lr * (0.2 * sqrt(m > n ? m : n));
    case TN_ADJUST_LR_SPECTRAL_UNCLAMPED: return o->lr * sqrt(m / n);
    default: return o->lr * sqrt(m > n ? m / n : 1);
    }
}

/* All is computed beside the parameters first; then one call writes it. */
static bool muon_step(tn_ostep *s) {
    /* The numbers' room holds what is written and what it becomes. */
    tn_tensor **to = (tn_tensor **)(void *)s->number, **from = to + 2 * s->n;
    for (int64_t i = 0; i < s->n; i++) {
        const tn_optim_muon_args *o = (const tn_optim_muon_args *)s->options[i];
        const double keeps = 1 - fma(o->lr, o->weight_decay, 0);
        tn_tensor *g = s->grad[i], *p = s->param[i], *buffer, *update;
        buffer = tnp_lerp_scalar(s->state[0][i], g, tn_float(1 - o->momentum));
        update = o->nesterov ? tnp_lerp_scalar(g, buffer, tn_float(o->momentum)) : buffer;
        /* A matrix without elements has no shape to turn. */
        update = tn_numel(p) ? muon_orthogonal(o, update) : update;
        to[2 * i] = p;
        to[2 * i + 1] = s->state[0][i];
        from[2 * i] =
            tnp_add(tnp_mul_scalar(p, tn_float(keeps)),
                    tnp_to_dtype(update, tn_dtype_of(p), false, false), -muon_rate(o, tn_shape(p)));
        from[2 * i + 1] = buffer;
        if (!from[2 * i]) return false;
    }
    return tni_step_assign(to, from, 2 * s->n);
}
/* b = lerp(b, g, 1 - momentum); u = b or, nesterov, lerp(g, b, momentum); u becomes nearly
 * orthogonal in ns_steps steps of x = a x + (b G + c G^2) x, G = x x^T, from x = u / max(|u|, eps);
 * p *= 1 - lr weight_decay; p -= r u, where r is lr sqrt(max(1, m / n)) or, adjust_lr_fn, 0.2 lr
 * sqrt(max(m, n)) or lr sqrt(m / n) for a matrix of m rows and n columns. */
TN_OPTIMIZER(muon,
             "Muon(Tensor[] params, float lr=0.001, float weight_decay=0.1, float momentum=0.95, "
             "bool nesterov=True, float[3] ns_coefficients=[3.4445, -4.775, 2.0315], float "
             "eps=1e-07, int ns_steps=5, AdjustLr? adjust_lr_fn=None)",
             TN_DOC(.example = "tn_optim_muon(TN_LIST(weight), .lr = 0.02)"),
             .state = "momentum_buffer", .check = muon_check, .begin = muon_begin,
             .step = muon_step)
