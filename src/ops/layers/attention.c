/* attention.c - scaled dot-product attention, composed of products and a softmax. */
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/linalg.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* Scores that may not be seen become -inf. attn_mask says where one may look if it is bool, and is
 * added if it is floating; is_causal hides what comes after (the upper triangle). */
static tn_tensor *attention_mask(tn_frame *f, const tn_scaled_dot_product_attention_args *a,
                                 tn_tensor *scores) {
    int64_t size[2];
    tn_tensor *seen = a->attn_mask;
    if (a->is_causal) {
        size[0] = tn_size(scores, -2);
        size[1] = tn_size(scores, -1);
        seen = tnp_tril(tnp_ones(tn_ints_of(size, 2), TN_BOOL, f->device), 0);
    }
    if (!seen) return scores;
    if (seen->dtype == TN_BOOL)
        return tnp_masked_fill_scalar(scores, tnp_logical_not(seen), tn_float(-INFINITY));
    return tnp_add(scores, seen, 1);
}

static bool scaled_dot_product_attention_compose(tn_frame *f) {
    TN_ARGS(scaled_dot_product_attention, a, f);
    const int64_t last = -1;
    /* scale: given, or 1 / sqrt(E); of width 0 any number does. */
    double width = a->query->ndim ? (double)a->query->size[a->query->ndim - 1] : 1;
    double scale = a->scale.given == TN_GIVEN ? a->scale.value : width > 0 ? 1 / sqrt(width) : 1;
    tn_tensor *scores, *weights, *blind = NULL;
    tn_generator before, *generator = NULL;
    if (a->query->ndim < 2 || a->key->ndim < 2 || a->value->ndim < 2)
        return tn_fail(f, TN_INVALID, "query, key and value must have at least 2 dimensions");
    if (a->is_causal && a->attn_mask)
        return tn_fail(f, TN_INVALID, "expected attn_mask or is_causal, got both");
    if (a->dropout_p < 0 || a->dropout_p > 1)
        return tn_fail(f, TN_INVALID, "dropout_p is %g, expected a value in [0, 1]", a->dropout_p);
    /* scores (*, L, S) = query scale key^T; scaling the query first costs L E instead of
     * L S products. */
    scores = tnp_matmul(tnp_mul_scalar(a->query, tn_float(scale)), tnp_transpose(a->key, -2, -1));
    if (!scores) return false;
    scores = attention_mask(f, a, scores);
    /* A row of -inf alone would be NaN in the softmax: it is computed from zeros and gets
     * weights of 0. */
    if (a->attn_mask) {
        blind = tnp_all_dims(tnp_eq_scalar(scores, tn_float(-INFINITY)), tni_ints(&last, 1), true);
        scores = tnp_masked_fill_scalar(scores, blind, tn_int(0));
    }
    weights = tnp_softmax(scores, -1, TN_NO_DTYPE);
    if (blind) weights = tnp_masked_fill_scalar(weights, blind, tn_int(0));
    if (a->dropout_p > 0) {
        /* Dropout draws from the generator, which must be as before if the call fails behind it. */
        if (!(generator = tni_generator_default(f->block))) return false;
        before = *generator;
        weights = tnp_dropout(weights, a->dropout_p, true);
    }
    f->out[0] = tnp_matmul(weights, a->value);
    if (!f->out[0] && generator) *generator = before; /* the numbers drawn are not published */
    return f->out[0] != NULL;
}
/* softmax(query key^T * scale + mask) value. scale None means 1 / sqrt(E). attn_mask is bool, true
 * where a position may be seen, or floating and added to the scores. A row that sees nothing gives
 * zeros, as in torch. */
TN_OPERATOR(scaled_dot_product_attention,
            "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
            "attn_mask=None, float dropout_p=0.0, "
            "bool is_causal=False, *, float? scale=None) -> Tensor",
            TN_DOC(.shapes = "query (*, L, E), key (*, S, E), value (*, S, Ev), attn_mask (*, L, "
                             "S) -> (*, L, Ev)",
                   .example = "tn_scaled_dot_product_attention(q, k, v, .is_causal = true)",
                   .python = "nn.functional.scaled_dot_product_attention"),
            .forms = TN_OUT, .compose = scaled_dot_product_attention_compose,
            .sample = "(2,3,4) (2,5,4) (2,5,6) | (3,4) (3,4) (3,4) is_causal=True | (1,2,3,4) "
                      "(1,2,3,4) (1,2,3,4) (3,3) scale=0.3")
