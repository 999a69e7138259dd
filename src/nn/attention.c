/* attention.c - MultiheadAttention, composed of products and a softmax as torch's own. */
#include "nn.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/indexing.h"
#include "../api/ops/linalg.h"
#include "../api/ops/reduction.h"
#include "../api/ops/shape.h"

#include <math.h>

static bool multihead_attention_build(tn_module *m) {
    TN_SELF(multihead_attention, s, m);
    if (s->o.num_heads < 1 || s->o.embed_dim < 1 || s->o.embed_dim % s->o.num_heads)
        return tni_nn_error(TN_INVALID, "embed_dim (%lld) must be a multiple of num_heads (%lld)",
                            (long long)s->o.embed_dim, (long long)s->o.num_heads);
    /* torch prints out_proj under this class name, a Linear that its quantization leaves alone. */
    s->out_proj->type = "NonDynamicallyQuantizableLinear";
    return true;
}

/* torch's order of draws: out_proj drew its weight when it was made as a child; in_proj_weight
 * draws after it, within Xavier's bound. The biases begin at 0 and draw nothing. */
static bool multihead_attention_reset(tn_module *m) {
    TN_SELF(multihead_attention, s, m);
    TN_SELF(linear, o, s->out_proj);
    if (!tn_nn_init_xavier_uniform_(s->in_proj_weight, 1)) return false;
    return !s->in_proj_bias ||
           (tn_nn_init_constant_(s->in_proj_bias, 0) && tn_nn_init_constant_(o->bias, 0));
}

/* The sizes of a call, in torch's letters: L target and S source positions, N sequences, E
 * features, H heads of E / H features each. query is (L, N, E), key and value are (S, N, E). */
typedef struct mha_sizes {
    int64_t l, s, n, e, heads, head;
} mha_sizes;

/* A bool mask (true: not seen) as numbers to add to scores, 0 and -inf; other masks as they are. */
static tn_tensor *mha_mask(tn_tensor *mask, tn_tensor *like) {
    tn_tensor *zero;
    if (!mask || tn_dtype_of(mask) != TN_BOOL) return mask;
    /* exp(-inf) is 0, so a hidden key has no weight; a row that hides all keys gives
     * NaN, as torch. */
    zero = tnp_zeros(tn_shape(mask), tn_dtype_of(like), tn_device_of(like));
    return tnp_masked_fill_scalar(zero, mask, tn_float(-HUGE_VAL));
}

/* t as the first ndim of the four sizes; the others are ignored. */
static tn_tensor *mha_reshape(tn_tensor *t, int ndim, int64_t a, int64_t b, int64_t c, int64_t d) {
    int64_t size[4];
    size[0] = a;
    size[1] = b;
    size[2] = c;
    size[3] = d;
    return tnp_reshape(t, tn_ints_of(size, ndim));
}

/* The mask that is_causal promises, (L, S): query i sees keys 0..i, so all above the
 * diagonal is hidden. */
static tn_tensor *mha_causal(const mha_sizes *z, tn_tensor *like) {
    int64_t size[2];
    size[0] = z->l;
    size[1] = z->s;
    return mha_mask(tnp_triu(tnp_ones(tn_ints_of(size, 2), TN_BOOL, tn_device_of(like)), 1), like);
}

/* Integers are refused: 1 would mean "see" to some, "hide" to others. */
static bool mha_mask_is_known(const tn_tensor *mask, const char *name) {
    return !mask || tn_dtype_of(mask) == TN_BOOL || tni_dtype_kind(tn_dtype_of(mask)) == 'f' ||
           tni_nn_error(TN_TYPE, "only bool and floating types of %s are supported", name);
}

/* attn_mask (L, S) or (N * H, L, S) and key_padding_mask (N, S) in one mask that fits (N * H,
 * L, S). */
static bool mha_masks(const mha_sizes *z, const tn_nn_multihead_attention_forward_args *a,
                      tn_tensor *q, tn_tensor **mask) {
    tn_tensor *attn = mha_mask(a->attn_mask, q), *pad = mha_mask(a->key_padding_mask, q);
    const tn_tensor *given = a->attn_mask;
    char got[TN_MAX_DIMS * 22 + 40];
    *mask = NULL;
    if (!mha_mask_is_known(a->key_padding_mask, "key_padding_mask") ||
        !mha_mask_is_known(given, "attn_mask"))
        return false;
    if (!given && a->is_causal)
        return tni_nn_error(TN_INVALID, "Need attn_mask if specifying the is_causal hint.");
    /* (L, S) holds for all heads of all sequences; (N * H, L, S) has one mask for each of them. */
    if (given && !(tn_ndim(given) == 2 && tn_size(given, 0) == z->l && tn_size(given, 1) == z->s) &&
        !(tn_ndim(given) == 3 && tn_size(given, 0) == z->n * z->heads &&
          tn_size(given, 1) == z->l && tn_size(given, 2) == z->s))
        return tni_nn_error(
            TN_INVALID, "attn_mask: expected (%lld, %lld) or (%lld, %lld, %lld), got %s",
            (long long)z->l, (long long)z->s, (long long)(z->n * z->heads), (long long)z->l,
            (long long)z->s, tni_nn_shape_text(got, sizeof got, given));
    /* As torch: the hint replaces attn_mask only if there is no other mask and no weights
     * are asked for. */
    if (a->is_causal && !a->need_weights && !pad) {
        *mask = mha_causal(z, q);
        return *mask != NULL;
    }
    if (pad) {
        int64_t wide[4];
        /* (S) is of a query without a batch. */
        if (!(tn_ndim(pad) == 2 && tn_size(pad, 0) == z->n && tn_size(pad, 1) == z->s) &&
            !(tn_ndim(pad) == 1 && z->n == 1 && tn_size(pad, 0) == z->s))
            return tni_nn_error(TN_INVALID, "key_padding_mask: expected (%lld, %lld), got %s",
                                (long long)z->n, (long long)z->s,
                                tni_nn_shape_text(got, sizeof got, pad));
        /* (N, S) -> (N, 1, 1, S) -> (N, H, 1, S) -> (N * H, 1, S): each head of a sequence hides
         * the same keys from all its queries. */
        wide[0] = z->n;
        wide[1] = z->heads;
        wide[2] = 1;
        wide[3] = z->s;
        pad = tnp_expand(mha_reshape(pad, 4, z->n, 1, 1, z->s), tn_ints_of(wide, 4), false);
        pad = mha_reshape(pad, 3, z->n * z->heads, 1, z->s, 0);
        if (!pad) return false;
    }
    /* Converting attn_mask failed. Below, NULL is right only where neither mask was given. */
    if (a->attn_mask && !attn) return false;
    *mask = attn && pad ? tnp_add(attn, pad, 1) : attn ? attn : pad;
    return *mask != NULL || (!attn && !pad);
}

/* x (T, N, E) through its third of the projection, as (N * H, T, E / H). */
static tn_tensor *mha_project(const tn_nn_multihead_attention_self *s, const mha_sizes *z,
                              int third, tn_tensor *x) {
    /* in_proj_weight (3 E, E) stacks the weights of query, key and value. */
    int64_t from = third * z->e, to = from + z->e;
    tn_tensor *w = tnp_slice(s->in_proj_weight, 0, from, to, 1);
    tn_tensor *b = s->in_proj_bias ? tnp_slice(s->in_proj_bias, 0, from, to, 1) : NULL;
    tn_tensor *y = w && (b || !s->in_proj_bias) ? tnp_linear(x, w, b) : NULL;
    /* (T, N, E) is (T, N * H, E / H) in the same memory; transposing brings the heads
     * to the front. */
    return tnp_transpose(mha_reshape(y, 3, tn_size(x, 0), z->n * z->heads, z->head, 0), 0, 1);
}

/* softmax(q k^T / sqrt(d) + mask), with dropout: (N * H, L, S). */
static tn_tensor *mha_weights(const tn_nn_multihead_attention_self *s, const mha_sizes *z,
                              tn_tensor *q, tn_tensor *k, tn_tensor *mask) {
    /* The query is scaled before the product, as torch does where it returns weights; scaling the
     * product would round otherwise. */
    tn_tensor *scaled = tnp_mul_scalar(q, tn_float(sqrt(1.0 / (double)z->head)));
    tn_tensor *w = tnp_matmul(scaled, tnp_transpose(k, -2, -1));
    if (mask) w = tnp_add(w, mask, 1);
    w = tnp_softmax(w, -1, TN_NO_DTYPE);
    return s->base.training && s->o.dropout > 0 ? tnp_dropout(w, s->o.dropout, true) : w;
}

/* The attention weights as torch returns them: w (N * H, L, S) as (N, H, L, S), or (N, L, S) as the
 * mean over heads; without N for a single sequence. */
static tn_tensor *mha_report(const mha_sizes *z, tn_tensor *w, bool average, bool batched) {
    tn_tensor *all = mha_reshape(w, 4, z->n, z->heads, z->l, z->s);
    int64_t dim = 1;
    if (average && all) all = tnp_mean(all, tn_ints_of(&dim, 1), false, TN_NO_DTYPE);
    return all && !batched ? tnp_squeeze_dim(all, 0) : all;
}

/* Any input as (T, N, E): a single sequence (T, E) becomes a batch of one. */
static tn_tensor *attention_time_first(tn_tensor *t, bool batched, bool batch_first) {
    if (!batched) return tnp_unsqueeze(t, 1);
    return batch_first ? tnp_transpose(t, 0, 1) : t;
}

/* `.takes` has checked the last size of each; here their numbers of dimensions. */
static bool mha_fits(const mha_sizes *z, const tn_tensor *q, const tn_tensor *k,
                     const tn_tensor *v) {
    if (tn_ndim(k) != tn_ndim(q) || tn_ndim(v) != tn_ndim(q) ||
        (tn_ndim(q) != 2 && tn_ndim(q) != 3))
        return tni_nn_error(TN_INVALID,
                            "query, key and value must all have 2 or all have 3 dimensions");
    return z->e > 0;
}

static bool multihead_attention_forward(tn_mframe *f) {
    TN_FORWARD(multihead_attention, s, a, f);
    mha_sizes z = {0, 0, 0, s->o.embed_dim, s->o.num_heads, s->o.embed_dim / s->o.num_heads};
    bool batched = tn_ndim(a->query) == 3;
    tn_tensor *q, *k, *v, *w, *y, *mask;
    if (!mha_fits(&z, a->query, a->key, a->value)) return false;
    /* Bring all inputs to (T, N, E) and read the sizes off them. */
    q = attention_time_first(a->query, batched, s->o.batch_first);
    k = attention_time_first(a->key, batched, s->o.batch_first);
    v = attention_time_first(a->value, batched, s->o.batch_first);
    if (!q || !k || !v) return false;
    z.l = tn_size(q, 0);
    z.s = tn_size(k, 0);
    z.n = tn_size(q, 1);
    if (tn_size(k, 1) != z.n || tn_size(v, 1) != z.n || tn_size(v, 0) != z.s)
        return tni_nn_error(TN_INVALID,
                            "key and value must have the query's batch size and the same length");
    if (!mha_masks(&z, a, q, &mask)) return false;
    /* w (N * H, L, S); y (N * H, L, E / H), whose heads are then put side by side: (L, N, E). */
    w = mha_weights(s, &z, mha_project(s, &z, 0, q), mha_project(s, &z, 1, k), mask);
    y = tnp_matmul(w, mha_project(s, &z, 2, v));
    y = mha_reshape(tnp_transpose(y, 0, 1), 3, z.l, z.n, z.e, 0);
    if (!y) return false;
    /* out_proj mixes the heads. It is called as a module, so its hooks run. */
    y = tni_forward_child(f, s->out_proj, y);
    /* Back to the layout of the inputs. */
    if (y && batched && s->o.batch_first) y = tnp_transpose(y, 0, 1);
    f->out[0] = y && !batched ? tnp_squeeze_dim(y, 1) : y;
    f->out[1] =
        f->out[0] && a->need_weights ? mha_report(&z, w, a->average_attn_weights, batched) : NULL;
    return f->out[0] && (f->out[1] || !a->need_weights);
}
/* Attention of num_heads heads. A mask is added to the scores, or bool: true is not seen. is_causal
 * says that attn_mask is the causal one, which is then made here where no weights are asked for.
 * attn_output_weights is NULL without need_weights. */
TN_MODULE(
    multihead_attention,
    "MultiheadAttention(int embed_dim, int num_heads, float dropout=0.0, bool bias=True, "
    "bool batch_first=False)",
    TN_DOC(.shapes = "query (L, N, E), key, value (S, N, E) -> (L, N, E), (N, L, S); with "
                     "batch_first (N, L, E), (N, S, E) -> (N, L, E), (N, L, S)",
           .example = "tn_nn_multihead_attention(64, 4)"),
    .parts = "in_proj_weight(3 * embed_dim, embed_dim); in_proj_bias(3 * embed_dim) if bias; "
             "child out_proj = Linear(embed_dim, embed_dim, bias=bias)",
    .call =
        "(Tensor query, Tensor key, Tensor value, Tensor? key_padding_mask=None, bool "
        "need_weights=True, "
        "Tensor? attn_mask=None, bool average_attn_weights=True, bool is_causal=False) -> (Tensor "
        "attn_output, Tensor attn_output_weights)",
    .takes = "query(*, embed_dim); key(*, embed_dim); value(*, embed_dim)", .draws = "dropout",
    .build = multihead_attention_build, .reset = multihead_attention_reset,
    .forward = multihead_attention_forward,
    .sample =
        "4 2: (3,2,4) (5,2,4) (5,2,4) | 6 3 bias=False batch_first=True: (2,3,6) (2,3,6) (2,3,6)")
