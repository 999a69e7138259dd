/* autocast.c - calls whose inputs are cast first: products of matrices and convolutions to half
 * precision, calls that lose too much in it to float32. The lists are those of torch's autocast of
 * the CPU; what it promotes to the widest dtype, the rows promote themselves. Weights are cast at
 * each call, as nothing is kept of a block. */
#include "call.h"
#include "../api/autograd.h"
#include "../api/ops/shape.h"

/* Rows by their names, in order. A composed row that is in neither list casts in what it calls. */
static const char *const cast_half[] = {"addmm",
                                        "bmm",
                                        "conv1d",
                                        "conv2d",
                                        "conv3d",
                                        "conv_transpose1d",
                                        "conv_transpose2d",
                                        "conv_transpose3d",
                                        "linear",
                                        "linear_rows",
                                        "matmul",
                                        "mm",
                                        "prelu",
                                        "scaled_dot_product_attention"};
static const char *const cast_single[] = {"adaptive_avg_pool3d",
                                          "adaptive_max_pool3d",
                                          "avg_pool3d",
                                          "binary_cross_entropy",
                                          "binary_cross_entropy_with_logits",
                                          "cholesky_inverse",
                                          "cholesky_solve",
                                          "cosine_embedding_loss",
                                          "cross_entropy",
                                          "fft_fft",
                                          "fft_fft2",
                                          "fft_fftn",
                                          "fft_hfft",
                                          "fft_hfft2",
                                          "fft_hfftn",
                                          "fft_ifft",
                                          "fft_ifft2",
                                          "fft_ifftn",
                                          "fft_ihfft",
                                          "fft_ihfft2",
                                          "fft_ihfftn",
                                          "fft_irfft",
                                          "fft_irfft2",
                                          "fft_irfftn",
                                          "fft_rfft",
                                          "fft_rfft2",
                                          "fft_rfftn",
                                          "fractional_max_pool2d",
                                          "fractional_max_pool3d",
                                          "geqrf",
                                          "hinge_embedding_loss",
                                          "huber_loss",
                                          "inverse",
                                          "kl_div",
                                          "l1_loss",
                                          "linalg_cholesky",
                                          "linalg_cholesky_ex",
                                          "linalg_det",
                                          "linalg_eigh",
                                          "linalg_eigvalsh",
                                          "linalg_householder_product",
                                          "linalg_inv",
                                          "linalg_inv_ex",
                                          "linalg_lstsq",
                                          "linalg_matrix_rank",
                                          "linalg_matrix_sqrth",
                                          "linalg_polar",
                                          "linalg_qr",
                                          "linalg_solve",
                                          "linalg_svd",
                                          "linalg_svdvals",
                                          "linalg_tensorinv",
                                          "linalg_tensorsolve",
                                          "local_response_norm",
                                          "lu_solve",
                                          "margin_ranking_loss",
                                          "max_pool3d",
                                          "max_unpool1d",
                                          "max_unpool2d",
                                          "max_unpool3d",
                                          "mse_loss",
                                          "multi_margin_loss",
                                          "multilabel_margin_loss",
                                          "nanquantile",
                                          "nanquantile_scalar",
                                          "nll_loss",
                                          "orgqr",
                                          "ormqr",
                                          "pinverse",
                                          "poisson_nll_loss",
                                          "prod",
                                          "quantile",
                                          "quantile_scalar",
                                          "reflection_pad",
                                          "replication_pad",
                                          "smooth_l1_loss",
                                          "soft_margin_loss",
                                          "stft",
                                          "svd",
                                          "triangular_solve",
                                          "triplet_margin_loss",
                                          "view_as_complex"};

/* Composed rows that compute as they are. */
static const char *const cast_none[] = {"dot", "mv"};

static bool cast_lists(const char *const *names, size_t n, const char *name) {
    size_t low = 0;
    while (low < n) {
        const size_t middle = low + (n - low) / 2;
        const int order = strcmp(names[middle], name);
        if (order == 0) return true;
        if (order < 0)
            low = middle + 1;
        else
            n = middle;
    }
    return false;
}

enum cast_rule { CAST_WITHIN, CAST_HALF, CAST_SINGLE, CAST_NONE };

static enum cast_rule cast_rule_of(const char *name) {
    if (cast_lists(cast_half, sizeof cast_half / sizeof *cast_half, name)) return CAST_HALF;
    if (cast_lists(cast_single, sizeof cast_single / sizeof *cast_single, name)) return CAST_SINGLE;
    return cast_lists(cast_none, sizeof cast_none / sizeof *cast_none, name) ? CAST_NONE
                                                                             : CAST_WITHIN;
}

/* Floating tensors of the CPU but for float64. */
static bool cast_applies(const tn_tensor *t, tn_dtype to) {
    return t && !tni_is_freed(t) && tni_is_float(t->dtype) && t->dtype != TN_F64 &&
           t->dtype != to && !(t->flags & TNI_DEVICE);
}

static tn_tensor *cast_argument(const tn_gen *gen, const void *args, int i) {
    tn_tensor *t;
    memcpy(&t, (const char *)args + tn_gen_tensor(gen, i)->offset, sizeof t);
    return t;
}

/* The call with cast inputs, which are calls of rows themselves, so that gradients follow. */
static bool cast_call(tni_block *b, const tn_row *row, const char *file, int line, const void *args,
                      tn_dtype to, tn_tensor **results) {
    union {
        int64_t align;
        char bytes[TNI_ARGS_BYTES];
    } own;
    const tn_gen *gen = row->gen;
    const int64_t mark = tni_begin(b);
    bool ok = mark >= 0;
    memcpy(own.bytes, args, gen->args_size);
    for (int i = 0; ok && i < gen->nfixed; i++) {
        tn_tensor *t = cast_argument(gen, args, i);
        if (!cast_applies(t, to)) continue;
        t = tnp_to_dtype(t, to, false, false);
        ok = t != NULL;
        memcpy(own.bytes + tn_gen_tensor(gen, i)->offset, &t, sizeof t);
    }
    ok = ok && tn_call(row, TN_PLAIN, file, line, own.bytes, results);
    for (int k = 0; k < gen->nresults; k++)
        if (!ok)
            results[k] = NULL;
        else if (results[k])
            tni_move(b, results[k], mark);
    if (mark >= 0) tni_end(b, mark);
    return ok;
}

static bool cast_or_call(tni_block *b, const tn_row *row, unsigned how, bool given,
                         const char *file, int line, const void *args, void *results, bool *ok) {
    const tn_gen *gen = row->gen;
    const enum cast_rule rule = b->failed ? CAST_WITHIN : cast_rule_of(row->name);
    const tn_dtype autocast = (tn_dtype)b->autocast,
                   to = how != TN_PLAIN || given || rule == CAST_NONE ? TN_NO_DTYPE
                        : rule == CAST_HALF                           ? autocast
                                                                      : TN_F32;
    bool any = false;
    if (rule == CAST_WITHIN) return false;
    for (int i = 0; to && i < gen->nfixed; i++)
        any = any || cast_applies(cast_argument(gen, args, i), to);
    if (!any && !row->compose) return false;
    /* What the call makes is not cast again. */
    tn_set_autocast(TN_NO_DTYPE);
    *ok = any ? cast_call(b, row, file, line, args, to, (tn_tensor **)results)
              : tni_call_long(row, how, file, line, args, results);
    tn_set_autocast(autocast);
    return true;
}

/* --- the mode --------------------------------------------------------------------------------- */

TN_API tn_dtype tn_set_autocast(tn_dtype dtype) {
    tni_block *b = tni_here();
    const tn_dtype before = b ? (tn_dtype)b->autocast : TN_NO_DTYPE;
    if (!b) return before;
    tni_calls(b)->autocast = cast_or_call;
    b->autocast = (uint8_t)(dtype == TN_BF16 || dtype == TN_F16 ? dtype : TN_NO_DTYPE);
    tni_hook_set(b, TNI_HOOK_CAST, b->autocast != 0);
    return before;
}
TN_API tn_dtype tn_autocast(void) {
    const tni_block *b = tni_here();
    return b ? (tn_dtype)b->autocast : TN_NO_DTYPE;
}
