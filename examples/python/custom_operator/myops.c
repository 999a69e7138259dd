/* myops.c - an operator written in C for Python: log(exp(a) + exp(b)) without overflow.
 *
 *     cc -shared -fPIC -O2 $(python3 -m tensorh --cflags) myops.c -o myops.so -lm
 *
 * or, where a program runs, torch.utils.cpp_extension.load("myops", "myops.c"). */
#include "tensorh.h"

#include <math.h>

static bool smooth_max_check(tn_frame *f) {
    tn_tensor *a = f->in[0], *b = f->in[1];
    if (tn_dtype_of(a) != TN_F32 || tn_dtype_of(b) != TN_F32)
        return tn_fail(f, TN_TYPE, "expected float32");
    if (!tn_is_contiguous(a) || !tn_is_contiguous(b) || tn_numel(a) != tn_numel(b))
        return tn_fail(f, TN_INVALID, "expected contiguous tensors of the same shape");
    return tn_announce_like(f, 0, a, TN_F32);
}

static void smooth_max_run(tn_frame *f) {
    const float *a = (const float *)tn_data(f->in[0]), *b = (const float *)tn_data(f->in[1]);
    float *to = (float *)tn_data(f->out[0]);
    for (int64_t i = 0; i < tn_numel(f->in[0]); i++) {
        float most = fmaxf(a[i], b[i]), least = fminf(a[i], b[i]);
        to[i] = most + log1pf(expf(least - most));
    }
}

/* d/da = exp(a - result), d/db = exp(b - result) */
static void smooth_max_grad(tn_gradient *g) {
    for (int k = 0; k < 2; k++)
        if (g->want[k])
            tn_give(g, k, tnp_mul(g->incoming[0], tnp_exp(tnp_sub(g->in[k], g->out[0], 1))));
}

static tn_row smooth_max = {.name = "smooth_max",
                            .schema = "smooth_max(Tensor self, Tensor other) -> Tensor",
                            .forms = TN_OUT,
                            .needs = "self:self,result other:other,result",
                            .check = smooth_max_check,
                            .run = smooth_max_run,
                            .grad = smooth_max_grad};

TN_PYTHON_MODULE(myops, &smooth_max)
