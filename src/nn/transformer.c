/* transformer.c - the layers of a Transformer (Vaswani et al. 2017, Attention Is All You Need), of
 * MultiheadAttention, Linear, LayerNorm and Dropout. A stack of them is a sequential. */
#include "nn.h"
#include "../api/ops/elementwise.h"

/* The dropout of what attention from x to memory gives. */
static tn_tensor *transformer_attend(tn_mframe *f, tn_module *attention, tn_module *dropout,
                                     tn_tensor *x, tn_tensor *memory, tn_tensor *mask,
                                     tn_tensor *padding, bool is_causal) {
    tn_nn_multihead_attention_forward_args a;
    tn_tensor *y;
    if (!x) return NULL;
    memset(&a, 0, sizeof a);
    a.module = attention;
    a.query = x;
    a.key = a.value = memory ? memory : x;
    a.attn_mask = mask;
    a.key_padding_mask = padding;
    a.average_attn_weights = true;
    a.is_causal = is_causal;
    y = tn_nn_multihead_attention_forward_at(f->path.file, f->path.line, &a).attn_output;
    return y ? tni_forward_child(f, dropout, y) : NULL;
}

/* The network of two Linear that each position goes through. */
static tn_tensor *transformer_feed(tn_mframe *f, tn_module *linear1, tn_module *dropout,
                                   tn_module *linear2, tn_module *last, tn_activation activation,
                                   tn_tensor *x) {
    x = x ? tni_forward_child(f, linear1, x) : NULL;
    if (x) x = activation == TN_ACTIVATION_GELU ? tnp_gelu(x, TN_APPROXIMATE_NONE) : tnp_relu(x);
    if (x) x = tni_forward_child(f, dropout, x);
    if (x) x = tni_forward_child(f, linear2, x);
    return x ? tni_forward_child(f, last, x) : NULL;
}

/* A part reads the norm of x with norm_first, else x. */
static tn_tensor *transformer_before(tn_mframe *f, tn_module *norm, bool norm_first, tn_tensor *x) {
    return x && norm_first ? tni_forward_child(f, norm, x) : x;
}
/* The residue: x + y, whose norm is taken without norm_first. */
static tn_tensor *transformer_behind(tn_mframe *f, tn_module *norm, bool norm_first, tn_tensor *x,
                                     tn_tensor *y) {
    tn_tensor *sum = x && y ? tnp_add(x, y, 1) : NULL;
    return sum && !norm_first ? tni_forward_child(f, norm, sum) : sum;
}

static bool transformer_encoder_layer_forward(tn_mframe *f) {
    TN_FORWARD(transformer_encoder_layer, s, a, f);
    const bool first = s->o.norm_first;
    tn_tensor *x = a->src, *y = transformer_before(f, s->norm1, first, x);
    y = transformer_attend(f, s->self_attn, s->dropout1, y, NULL, a->src_mask,
                           a->src_key_padding_mask, a->is_causal);
    x = transformer_behind(f, s->norm1, first, x, y);
    y = transformer_before(f, s->norm2, first, x);
    y = transformer_feed(f, s->linear1, s->dropout, s->linear2, s->dropout2, s->o.activation, y);
    return (f->out[0] = transformer_behind(f, s->norm2, first, x, y)) != NULL;
}
/* Self-attention, then a network of two Linear, each with a residue and a LayerNorm. Masks are
 * those of MultiheadAttention. */
TN_MODULE(
    transformer_encoder_layer,
    "TransformerEncoderLayer(int d_model, int nhead, int dim_feedforward=2048, float dropout=0.1, "
    "Activation activation=relu, float layer_norm_eps=1e-05, bool batch_first=False, bool "
    "norm_first=False, bool bias=True)",
    TN_DOC(.shapes = "src (S, N, d_model), or (N, S, d_model) with batch_first -> the same",
           .example = "tn_nn_transformer_encoder_layer(64, 4, .norm_first = true)"),
    .parts = "child self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, "
             "batch_first=batch_first); "
             "child linear1 = Linear(d_model, dim_feedforward, bias=bias); "
             "child dropout = Dropout(dropout); "
             "child linear2 = Linear(dim_feedforward, d_model, bias=bias); "
             "child norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias); "
             "child norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias); "
             "child dropout1 = Dropout(dropout); child dropout2 = Dropout(dropout)",
    .call = "(Tensor src, Tensor? src_mask=None, Tensor? src_key_padding_mask=None, bool "
            "is_causal=False) -> Tensor",
    .takes = "src(*, d_model)", .draws = "dropout", .forward = transformer_encoder_layer_forward,
    .sample = "4 2 6 0.0: (3,2,4) | 4 2 6 0.0 norm_first=True activation=gelu batch_first=True: "
              "(2,3,4) (3,3)")

static bool transformer_decoder_layer_forward(tn_mframe *f) {
    TN_FORWARD(transformer_decoder_layer, s, a, f);
    const bool first = s->o.norm_first;
    tn_tensor *x = a->tgt, *y = transformer_before(f, s->norm1, first, x);
    y = transformer_attend(f, s->self_attn, s->dropout1, y, NULL, a->tgt_mask,
                           a->tgt_key_padding_mask, a->tgt_is_causal);
    x = transformer_behind(f, s->norm1, first, x, y);
    y = transformer_before(f, s->norm2, first, x);
    y = transformer_attend(f, s->multihead_attn, s->dropout2, y, a->memory, a->memory_mask,
                           a->memory_key_padding_mask, a->memory_is_causal);
    x = transformer_behind(f, s->norm2, first, x, y);
    y = transformer_before(f, s->norm3, first, x);
    y = transformer_feed(f, s->linear1, s->dropout, s->linear2, s->dropout3, s->o.activation, y);
    return (f->out[0] = transformer_behind(f, s->norm3, first, x, y)) != NULL;
}
/* Self-attention, attention to an encoder's output, then a network of two Linear, each with a
 * residue and a LayerNorm. */
TN_MODULE(
    transformer_decoder_layer,
    "TransformerDecoderLayer(int d_model, int nhead, int dim_feedforward=2048, float dropout=0.1, "
    "Activation activation=relu, float layer_norm_eps=1e-05, bool batch_first=False, bool "
    "norm_first=False, bool bias=True)",
    TN_DOC(.shapes = "tgt (T, N, d_model), memory (S, N, d_model), or N first with batch_first -> "
                     "tgt's",
           .example = "tn_nn_transformer_decoder_layer(64, 4, .norm_first = true)"),
    .parts = "child self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, "
             "batch_first=batch_first); "
             "child multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, "
             "bias=bias, batch_first=batch_first); "
             "child linear1 = Linear(d_model, dim_feedforward, bias=bias); "
             "child dropout = Dropout(dropout); "
             "child linear2 = Linear(dim_feedforward, d_model, bias=bias); "
             "child norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias); "
             "child norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias); "
             "child norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias); "
             "child dropout1 = Dropout(dropout); child dropout2 = Dropout(dropout); "
             "child dropout3 = Dropout(dropout)",
    .call = "(Tensor tgt, Tensor memory, Tensor? tgt_mask=None, Tensor? memory_mask=None, Tensor? "
            "tgt_key_padding_mask=None, Tensor? memory_key_padding_mask=None, bool "
            "tgt_is_causal=False, bool memory_is_causal=False) -> Tensor",
    .takes = "tgt(*, d_model); memory(*, d_model)", .draws = "dropout",
    .forward = transformer_decoder_layer_forward,
    .sample = "4 2 6 0.0: (3,2,4) (5,2,4) | 4 2 6 0.0 norm_first=True activation=gelu "
              "batch_first=True: (2,3,4) (2,5,4)")
