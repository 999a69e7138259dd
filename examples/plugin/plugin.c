/* plugin.c - a plugin that brings an operator: cubic(x, slope) = x^3 + slope x, with its gradient.
 * It has no library inside but calls that of the program that loads it. */
#define TN_IMPORT
#include "tensor.h"

/* The arguments as the schema has them: tensor.h says the order at TN_ARGS. */
typedef struct tn_cubic_args {
    tn_tensor *self;
    double slope;
} tn_cubic_args;
static const tn_member cubic_members[] = {
    TN_MEMBER(tn_cubic_args, self), TN_MEMBER(tn_cubic_args, slope), {NULL, 0, 0}};

static bool cubic_check(tn_frame *f) { /* makes all errors, says what the result is */
    const tn_tensor *x = f->in[0];
    if (tn_dtype_of(x) != TN_F32) return tn_fail(f, TN_TYPE, "expected float32");
    if (!tn_is_contiguous(x)) return tn_fail(f, TN_INVALID, "expected a contiguous tensor");
    return tn_announce_like(f, 0, x, TN_F32);
}

static void cubic_run(tn_frame *f) { /* writes every element; cannot fail */
    TN_ARGS(cubic, a, f);
    const float *x = tn_data(f->in[0]), slope = (float)a->slope;
    float *y = tn_data(f->out[0]);
    for (int64_t i = 0, n = tn_numel(f->in[0]); i < n; i++) y[i] = x[i] * (x[i] * x[i] + slope);
}

static void cubic_grad(tn_gradient *g) { /* dx = dy (3 x^2 + slope), of operators */
    TN_ARGS(cubic, a, g);
    tn_tensor *slope = tn_add_scalar(tn_mul_scalar(tn_square(g->in[0]), 3), a->slope);
    tn_give(g, 0, tn_mul(g->incoming[0], slope));
}

static tn_row cubic = {.name = "cubic",
                       .schema = "cubic(Tensor self, float slope) -> Tensor",
                       .needs = "self:self", /* the gradient of self reads self */
                       .check = cubic_check,
                       .run = cubic_run,
                       .grad = cubic_grad,
                       .members = cubic_members};

/* False without an error if the host has another version of tensor.h; else with one. */
bool plugin_begin(const tn_exports *host);
bool plugin_begin(const tn_exports *host) { return tn_import(host) && tn_register(&cubic); }
