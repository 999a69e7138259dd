/* product.c - products of complex numbers, and what the gradient of prod reads. */
#include "reduction.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"

/* Products of complex numbers: one chain a result, in f64, in the order of the dimensions. */
typedef struct prod_job {
    const tn_tensor *x;
    tn_tensor *out;
    tn_context *context;
    bool gone[TN_MAX_DIMS];
    int64_t n; /* elements a result */
} prod_job;

static void prod_task(void *arg, int64_t i) {
    const prod_job *j = (const prod_job *)arg;
    const tn_tensor *x = j->x;
    const int64_t bytes = tni_dtype_size(x);
    int64_t index[TN_MAX_DIMS] = {0}, rest = i;
    const char *at = x->numel ? tni_bytes_at(x) : NULL;
    /* i counts results over the dimensions that stay; index walks over those that go. */
    double product[2] = {1, 0}, factor[2];
    for (int d = x->ndim - 1; d >= 0; d--)
        if (!j->gone[d]) {
            at += rest % x->size[d] * x->stride[d] * bytes;
            rest /= x->size[d];
        }
    for (int64_t e = 0; e < j->n; e++) {
        /* A chain cannot be split, so it polls now and then. */
        if (tni_stopped_at(e)) return;
        tni_lanes_load(factor, TN_F64, at, bytes / 2, (int)tni_real_of(x->dtype), 2);
        tni_complex_times(product, factor);
        /* On to the next element of this product: the innermost dimension that goes first. */
        for (int d = x->ndim - 1; d >= 0; d--) {
            if (!j->gone[d]) continue;
            at += x->stride[d] * bytes;
            if (++index[d] < x->size[d]) break;
            at -= x->stride[d] * x->size[d] * bytes;
            index[d] = 0;
        }
    }
    tni_element_set(tni_bytes_at(j->out) + i * tni_dtype_size(j->out), j->out->dtype,
                    tn_complex(product[0], product[1]));
}

TN_PRIV void tni_prod_complex(tn_frame *f, tn_ints dim) {
    prod_job j;
    /* A task a result. */
    j.x = f->in[0];
    j.out = f->out[0];
    j.context = f->block->context;
    j.n = (int64_t)tni_dims_count(j.x, dim);
    tni_dims_gone(j.x, dim, j.gone);
    tni_lanes_spread(f->block->context, j.out->numel, j.x->numel, prod_task, &j);
}

/* Product along d of the elements before each one; after each one of x that was flipped. */
static tn_tensor *prod_before(tn_tensor *x, int d) {
    tn_tensor *part[2];
    if (!x) return NULL;
    /* 1, x_0, ..., x_(n-2): their running products. */
    part[0] = tnp_ones_like(tnp_narrow(x, d, 0, 1), TN_NO_DTYPE, TN_NO_DEVICE);
    part[1] = tnp_narrow(x, d, 0, x->size[d] - 1);
    return tnp_cumprod(tnp_cat(tn_tensors_of(part, 2), d), d, TN_NO_DTYPE);
}

/* In double precision: a product of some may be beyond that of all. */
TN_PRIV tn_tensor *tni_prod_others(tn_tensor *x, int d) {
    const int64_t dim = d;
    const tn_ints flip = tn_ints_of(&dim, 1);
    tn_tensor *others;
    int own;
    if (!x) return NULL;
    own = x->dtype;
    x = tnp_to_dtype(x, tni_is_complex(own) ? TN_C128 : TN_F64, false, false);
    others = tnp_flip(prod_before(tnp_flip(x, flip), d), flip);
    others = tnp_to_dtype(tnp_mul(prod_before(x, d), others), (tn_dtype)own, false, false);
    return tni_is_complex(own) ? tnp_conj(others) : others;
}
