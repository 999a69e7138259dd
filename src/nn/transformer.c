/* transformer.c - the layers of a Transformer (Vaswani et al. 2017, Attention Is All You Need), of
 * MultiheadAttention, Linear, LayerNorm and Dropout, stacks of them, and both stacks together. */
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

/* --- stacks ----------------------------------------------------------------------------------- */

enum { TRANSFORMER_LAYERS = 1 << 16 }; /* more layers than a stack has by intention */

/* The parts of a stack: "layers", so many copies of the layer, and "norm", if it is given. */
static bool transformer_stack(tn_module *m, const tn_mrow *row, tn_module *layer, int64_t layers,
                              tn_module *norm) {
    tn_module *list;
    if (!layer || layer->row != row)
        return tni_nn_error(TN_INVALID, "the layer must be a %s", tni_mgen_of(row)->type);
    if (layers > TRANSFORMER_LAYERS)
        return tni_nn_error(TN_INVALID, "num_layers: expected at most %d, got %lld",
                            TRANSFORMER_LAYERS, (long long)layers);
    list = tni_module_list();
    if (!tn_part_child_at(NULL, 0, m, "layers", NULL, list)) return false;
    for (int64_t i = 0; i < layers; i++)
        if (!tn_module_append_at(NULL, 0, list, tn_module_copy_at(NULL, 0, layer))) return false;
    return !norm || tn_part_child_at(NULL, 0, m, "norm", NULL, tn_module_hold(norm));
}
/* The layers of a stack, and the norm of what they give. */
static const tn_module *transformer_layers(const tn_module *m) { return tn_part_child_of(m, 0); }
static bool transformer_end(tn_mframe *f, tn_tensor *x) {
    tn_module *norm = x && f->m->nparts > 1 ? tn_part_child_of(f->m, 1) : NULL;
    return (f->out[0] = norm ? tni_forward_child(f, norm, x) : x) != NULL;
}
/* What the next layer gave takes the place of x, which is freed unless it came from outside. */
static tn_tensor *transformer_next(const tn_tensor *outside, tn_tensor *x, tn_tensor *y) {
    if (y && x != outside && y != x) tn_free(x);
    return y;
}

static bool transformer_encoder_build(tn_module *m) {
    TN_SELF(transformer_encoder, s, m);
    return transformer_stack(m, &tni_module_transformer_encoder_layer, s->o.encoder_layer,
                             s->o.num_layers, s->o.norm);
}
static bool transformer_encoder_forward(tn_mframe *f) {
    TN_FORWARD(transformer_encoder, s, a, f);
    const tn_module *layers = transformer_layers(&s->base);
    tn_tensor *x = a->src;
    for (int i = 0; x && i < layers->nparts; i++) {
        const tn_nn_transformer_encoder_layer_forward_args next = {
            a->mask, a->src_key_padding_mask, a->is_causal, tn_part_child_of(layers, i), x};
        x = transformer_next(
            a->src, x,
            tn_nn_transformer_encoder_layer_forward_at(f->path.file, f->path.line, &next));
    }
    return transformer_end(f, x);
}
/* num_layers copies of a layer, one after the other, and a norm behind them. The layer and the norm
 * are taken. enable_nested_tensor and mask_check are torch's and change nothing. */
TN_MODULE(transformer_encoder,
          "TransformerEncoder(Module encoder_layer, int num_layers, Module? norm=None, bool "
          "enable_nested_tensor=True, bool mask_check=True)",
          TN_DOC(.shapes = "src as the layer's -> the same",
                 .example = "tn_nn_transformer_encoder("
                            "tn_nn_transformer_encoder_layer(64, 4, .dropout = 0), 6)"),
          .call = "(Tensor src, Tensor? mask=None, Tensor? src_key_padding_mask=None, bool "
                  "is_causal=False) -> Tensor",
          .build = transformer_encoder_build, .forward = transformer_encoder_forward,
          .sample = "num_layers=2: (3,2,4)")

static bool transformer_decoder_build(tn_module *m) {
    TN_SELF(transformer_decoder, s, m);
    return transformer_stack(m, &tni_module_transformer_decoder_layer, s->o.decoder_layer,
                             s->o.num_layers, s->o.norm);
}
static bool transformer_decoder_forward(tn_mframe *f) {
    TN_FORWARD(transformer_decoder, s, a, f);
    const tn_module *layers = transformer_layers(&s->base);
    tn_tensor *x = a->tgt;
    for (int i = 0; x && i < layers->nparts; i++) {
        const tn_nn_transformer_decoder_layer_forward_args next = {a->tgt_mask,
                                                                   a->memory_mask,
                                                                   a->tgt_key_padding_mask,
                                                                   a->memory_key_padding_mask,
                                                                   a->tgt_is_causal,
                                                                   a->memory_is_causal,
                                                                   tn_part_child_of(layers, i),
                                                                   x,
                                                                   a->memory};
        x = transformer_next(
            a->tgt, x,
            tn_nn_transformer_decoder_layer_forward_at(f->path.file, f->path.line, &next));
    }
    return transformer_end(f, x);
}
/* num_layers copies of a layer, each of which sees memory, and a norm behind them. The layer and
 * the norm are taken. */
TN_MODULE(transformer_decoder,
          "TransformerDecoder(Module decoder_layer, int num_layers, Module? norm=None)",
          TN_DOC(.shapes = "tgt, memory as the layer's -> tgt's",
                 .example = "tn_nn_transformer_decoder("
                            "tn_nn_transformer_decoder_layer(64, 4, .dropout = 0), 6)"),
          .call = "(Tensor tgt, Tensor memory, Tensor? tgt_mask=None, Tensor? memory_mask=None, "
                  "Tensor? tgt_key_padding_mask=None, Tensor? memory_key_padding_mask=None, bool "
                  "tgt_is_causal=False, bool memory_is_causal=False) -> Tensor",
          .build = transformer_decoder_build, .forward = transformer_decoder_forward,
          .sample = "num_layers=2: (3,2,4) (5,2,4)")

/* --- encoder and decoder ---------------------------------------------------------------------- */

/* The norm behind a stack. */
static tn_module *transformer_norm(const tn_nn_transformer_self *s) {
    const int64_t d = s->o.d_model;
    return tnp_nn_layer_norm(tn_ints_of(&d, 1), s->o.layer_norm_eps, true, s->o.bias, s->o.dtype,
                             s->o.device);
}
/* The encoder that is given, or one of new layers; the same of the decoder. */
static tn_module *transformer_new_encoder(const tn_nn_transformer_self *s) {
    tn_module *layer;
    if (s->o.custom_encoder) return tn_module_hold(s->o.custom_encoder);
    layer = tnp_nn_transformer_encoder_layer(
        s->o.d_model, s->o.nhead, s->o.dim_feedforward, s->o.dropout, s->o.activation,
        s->o.layer_norm_eps, s->o.batch_first, s->o.norm_first, s->o.bias, s->o.dtype, s->o.device);
    return tnp_nn_transformer_encoder(layer, s->o.num_encoder_layers, transformer_norm(s), true,
                                      true, s->o.dtype, s->o.device);
}
static tn_module *transformer_new_decoder(const tn_nn_transformer_self *s) {
    tn_module *layer;
    if (s->o.custom_decoder) return tn_module_hold(s->o.custom_decoder);
    layer = tnp_nn_transformer_decoder_layer(
        s->o.d_model, s->o.nhead, s->o.dim_feedforward, s->o.dropout, s->o.activation,
        s->o.layer_norm_eps, s->o.batch_first, s->o.norm_first, s->o.bias, s->o.dtype, s->o.device);
    return tnp_nn_transformer_decoder(layer, s->o.num_decoder_layers, transformer_norm(s),
                                      s->o.dtype, s->o.device);
}
static bool transformer_build(tn_module *m) {
    TN_SELF(transformer, s, m);
    const tn_module *encoder = s->o.custom_encoder, *decoder = s->o.custom_decoder;
    if ((encoder && encoder->row != &tni_module_transformer_encoder) ||
        (decoder && decoder->row != &tni_module_transformer_decoder))
        return tni_nn_error(TN_INVALID, "custom_encoder and custom_decoder must be a "
                                        "TransformerEncoder and a TransformerDecoder");
    return tn_part_child_at(NULL, 0, m, "encoder", NULL, transformer_new_encoder(s)) &&
           tn_part_child_at(NULL, 0, m, "decoder", NULL, transformer_new_decoder(s));
}
/* All matrices within Xavier's bound, as torch. */
static bool transformer_reset(tn_module *m) {
    tn_named_list all = tn_module_parameters(m);
    bool ok = tn_ok();
    for (int64_t i = 0; ok && i < all.n; i++)
        if (tn_ndim(all.at[i].tensor) > 1)
            ok = tn_nn_init_xavier_uniform_(all.at[i].tensor, 1) != NULL;
    tn_named_free(all);
    return ok;
}
static bool transformer_fits(const tn_nn_transformer_self *s, const tn_tensor *src,
                             const tn_tensor *tgt) {
    const int at = s->o.batch_first ? 0 : 1;
    if (tn_ndim(src) == 3 && tn_ndim(tgt) == 3 && tn_size(src, at) != tn_size(tgt, at))
        return tni_nn_error(TN_INVALID, "the batch number of src and tgt must be equal");
    return true;
}
static bool transformer_forward(tn_mframe *f) {
    TN_FORWARD(transformer, s, a, f);
    tn_nn_transformer_encoder_forward_args first = {a->src_mask, a->src_key_padding_mask,
                                                    a->src_is_causal, tn_part_child_of(&s->base, 0),
                                                    a->src};
    tn_nn_transformer_decoder_forward_args second = {a->tgt_mask,
                                                     a->memory_mask,
                                                     a->tgt_key_padding_mask,
                                                     a->memory_key_padding_mask,
                                                     a->tgt_is_causal,
                                                     a->memory_is_causal,
                                                     tn_part_child_of(&s->base, 1),
                                                     a->tgt,
                                                     NULL};
    if (!transformer_fits(s, a->src, a->tgt)) return false;
    second.memory = tn_nn_transformer_encoder_forward_at(f->path.file, f->path.line, &first);
    if (!second.memory) return false;
    f->out[0] = tn_nn_transformer_decoder_forward_at(f->path.file, f->path.line, &second);
    return f->out[0] != NULL;
}
/* An encoder and a decoder that sees what it gives. custom_encoder and custom_decoder are taken. */
TN_MODULE(
    transformer,
    "Transformer(int d_model=512, int nhead=8, int num_encoder_layers=6, int num_decoder_layers=6, "
    "int dim_feedforward=2048, float dropout=0.1, Activation activation=relu, Module? "
    "custom_encoder=None, Module? custom_decoder=None, float layer_norm_eps=1e-05, bool "
    "batch_first=False, bool norm_first=False, bool bias=True)",
    TN_DOC(.shapes = "src (S, N, d_model), tgt (T, N, d_model), or N first with batch_first -> "
                     "tgt's",
           .example = "tn_nn_transformer(.d_model = 64, .nhead = 4, .num_encoder_layers = 2)"),
    .call = "(Tensor src, Tensor tgt, Tensor? src_mask=None, Tensor? tgt_mask=None, Tensor? "
            "memory_mask=None, Tensor? src_key_padding_mask=None, Tensor? "
            "tgt_key_padding_mask=None, Tensor? memory_key_padding_mask=None, bool "
            "src_is_causal=False, bool tgt_is_causal=False, bool memory_is_causal=False) -> Tensor",
    .takes = "src(*, d_model); tgt(*, d_model)", .draws = "dropout", .build = transformer_build,
    .reset = transformer_reset, .forward = transformer_forward,
    .sample = "4 2 1 2 6 0.0: (3,2,4) (5,2,4) | 4 2 2 1 6 0.0 norm_first=True activation=gelu "
              "batch_first=True: (2,3,4) (2,5,4) src_mask=(3,3)")
