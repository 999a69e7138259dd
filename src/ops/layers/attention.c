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
    scores = tnp_add(scores, seen, 1);
    return scores ? tnp_to_dtype(scores, (tn_dtype)a->query->dtype, false, false) : NULL;
}
static bool attention_mask_fits(tn_frame *f, const tn_scaled_dot_product_attention_args *a) {
    const int mask = a->attn_mask ? a->attn_mask->dtype : (int)TN_BOOL, query = a->query->dtype;
    return mask == TN_BOOL || mask == TN_F32 || mask == query ||
           tn_fail(f, TN_TYPE,
                   "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                   "attn_mask.dtype: %s and query.dtype: %s instead.",
                   tni_dtype(mask)->text, tni_dtype(query)->text);
}

/* key or value for the query's heads, dimension -3: each of its own heads serves as many of them in
 * turn. J. Ainslie et al., GQA: Training Generalized Multi-Query Transformer Models, 2023. */
static tn_tensor *attention_heads(tn_frame *f, tn_tensor *t, const tn_tensor *query) {
    const int n = t->ndim;
    int64_t size[TN_MAX_DIMS + 1], heads;
    if (n < 3 || query->ndim < 3) {
        tn_fail(f, TN_INDEX,
                "Dimension out of range (expected to be in range of [-2, 1], but got -3)");
        return NULL;
    }
    if (n == TN_MAX_DIMS) return t;
    heads = query->size[query->ndim - 3];
    if (t->size[n - 3] == heads) return t;
    if (t->size[n - 3] < 1 || heads % t->size[n - 3]) {
        tn_fail(f, TN_INVALID,
                "Number of heads in key and value must divide the number of heads in query");
        return NULL;
    }
    for (int i = 0; i < n; i++) size[i < n - 2 ? i : i + 1] = t->size[i];
    size[n - 2] = heads / t->size[n - 3];
    t = tnp_expand(tnp_unsqueeze(t, n - 2), tni_ints(size, n + 1), false);
    for (int i = n - 2; i < n; i++) size[i] = size[i + 1];
    size[n - 3] = heads;
    return tnp_reshape(t, tni_ints(size, n));
}

static bool scaled_dot_product_attention_compose(tn_frame *f) {
    TN_ARGS(scaled_dot_product_attention, a, f);
    tn_tensor *key = a->key, *value = a->value;
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
    if (!attention_mask_fits(f, a)) return false;
    if (a->dropout_p < 0 || a->dropout_p > 1)
        return tn_fail(f, TN_INVALID, "dropout_p is %g, expected a value in [0, 1]", a->dropout_p);
    if (a->enable_gqa) {
        key = attention_heads(f, key, a->query);
        value = key ? attention_heads(f, value, a->query) : NULL;
        if (!value) return false;
    }
    /* scores (*, L, S) = query scale key^T; scaling the query first costs L E instead of
     * L S products. */
    scores = tnp_matmul(tnp_mul_scalar(a->query, tn_float(scale)), tnp_transpose(key, -2, -1));
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
    f->out[0] = tnp_matmul(weights, value);
    if (!f->out[0] && generator) *generator = before; /* the numbers drawn are not published */
    return f->out[0] != NULL;
}
/* softmax(query key^T * scale + mask) value. scale None means 1 / sqrt(E). attn_mask is bool, true
 * where a position may be seen, or floating and added to the scores. A row that sees nothing gives
 * zeros, as in torch. enable_gqa: key and value may have fewer heads, dimension -3, than query, of
 * which each serves several. */
TN_OPERATOR(scaled_dot_product_attention,
            "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
            "attn_mask=None, float dropout_p=0.0, "
            "bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
            TN_DOC(.shapes = "query (*, L, E), key (*, S, E), value (*, S, Ev), attn_mask (*, L, "
                             "S) -> (*, L, Ev)",
                   .example = "tn_scaled_dot_product_attention(q, k, v, .is_causal = true)",
                   .python = "nn.functional.scaled_dot_product_attention"),
            .forms = TN_OUT, .autocast = TN_LOWER, .compose = scaled_dot_product_attention_compose,
            .sample = "(2,3,4) (2,5,4) (2,5,6) | (3,4) (3,4) (3,4) is_causal=True | (1,2,3,4) "
                      "(1,2,3,4) (1,2,3,4) (3,3) scale=0.3 | (1,4,3,2) (1,2,3,2) (1,2,3,2) "
                      "enable_gqa=True")
