/* conv_words.c - convolutions whose padding is a word: valid is none, same makes the output as long
 * as the input. What is odd of same stands on the right. */
#include "../../api/ops/layers.h"
#include "../../api/ops/shape.h"
#include "../../call/arguments.h"
#include "../../call/rowform.h"

#include <string.h>

typedef struct conv_word {
    tn_tensor *input, *weight;
    tn_ints stride, dilation;
    const char *word;
    int dims;
} conv_word;

/* Padding on both sides, and the input with what the right side has more of; NULL with an error. */
static tn_tensor *conv_word_padded(tn_frame *f, const conv_word *v, int64_t both[3]) {
    int64_t stride[3], dilation[3], more[6] = {0, 0, 0, 0, 0, 0};
    bool odd = false;
    if (!tni_each_of(f, v->stride, "stride", v->dims, 1, stride) ||
        !tni_each_of(f, v->dilation, "dilation", v->dims, 1, dilation))
        return NULL;
    for (int i = 0; i < v->dims; i++) {
        const int64_t kernel = v->weight->size[2 + i];
        int64_t total;
        if (stride[i] != 1) {
            tn_fail(f, TN_INVALID, "padding='same' is not supported for strided convolutions");
            return NULL;
        }
        if (!tni_mul(dilation[i], kernel > 0 ? kernel - 1 : 0, &total)) {
            tn_fail(f, TN_MEMORY, "dilation %lld is too large", (long long)dilation[i]);
            return NULL;
        }
        both[i] = total / 2;
        more[2 * (v->dims - 1 - i) + 1] = total % 2;
        odd = odd || total % 2;
    }
    return odd ? tnp_constant_pad_nd(v->input, tni_ints(more, 2 * v->dims), tn_int(0)) : v->input;
}
/* The input and the padding on both sides that the word means; NULL with an error. Tensors of other
 * dimensions are refused by the convolution. */
static tn_tensor *conv_word_input(tn_frame *f, const conv_word *v, int64_t both[3]) {
    const bool same = v->word && !strcmp(v->word, "same");
    memset(both, 0, 3 * sizeof *both);
    if (!same && (!v->word || strcmp(v->word, "valid"))) {
        tn_fail(f, TN_INVALID, "Invalid padding string %s, should be one of {'same', 'valid'}",
                v->word ? v->word : "");
        return NULL;
    }
    const int more = v->input->ndim - v->dims;
    return same && v->weight->ndim == v->dims + 2 && (more == 1 || more == 2)
               ? conv_word_padded(f, v, both)
               : v->input;
}
#define CONV_WORDS(name, dims)                                                               \
    static bool name##_padding_compose(tn_frame *f) {                                        \
        TN_ARGS(name##_padding, a, f);                                                       \
        const conv_word v = {a->input, a->weight, a->stride, a->dilation, a->padding, dims}; \
        int64_t both[3];                                                                     \
        tn_tensor *x = conv_word_input(f, &v, both);                                         \
        if (!x) return false;                                                                \
        f->out[0] = tnp_##name(x, a->weight, a->bias, a->stride, tni_ints(both, dims),       \
                               a->dilation, a->groups);                                      \
        return f->out[0] != NULL;                                                            \
    }

CONV_WORDS(conv1d, 1)
/* conv1d with no padding (valid), or with as much as makes the output as long as the input
 * (same). */
TN_OPERATOR(conv1d_padding,
            "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str "
            "padding='valid', int[1] dilation=1, int groups=1) -> Tensor",
            TN_DOC(.shapes = "input (N, C, L) or (C, L), weight (O, C / groups, k), bias (O) -> "
                             "(N, O, L') or (O, L')",
                   .example = "tn_conv1d_padding(x, w, .padding = \"same\")"),
            .autocast = TN_LOWER, .compose = conv1d_padding_compose,
            .sample = "(2,3,7) (4,3,3) (4) padding=same | (1,2,6) (3,2,4) None [1] same [2] | "
                      "(2,6) (3,2,2) (3) [2] valid")

CONV_WORDS(conv2d, 2)
/* conv2d with no padding (valid), or with as much as makes the output as large as the input
 * (same). */
TN_OPERATOR(conv2d_padding,
            "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str "
            "padding='valid', int[2] dilation=1, int groups=1) -> Tensor",
            TN_DOC(.shapes = "input (N, C, H, W) or (C, H, W), weight (O, C / groups, kH, kW), "
                             "bias (O) -> (N, O, H', W') or (O, H', W')",
                   .example = "tn_conv2d_padding(x, w, .padding = \"same\")"),
            .autocast = TN_LOWER, .compose = conv2d_padding_compose,
            .sample = "(2,3,5,6) (4,3,3,2) (4) padding=same | (1,2,6,5) (3,2,4,3) None [1] same "
                      "[2,1] | (4,6,5) (2,2,2,2) (2) [2,1] valid groups=2")

CONV_WORDS(conv3d, 3)
/* conv3d with no padding (valid), or with as much as makes the output as large as the input
 * (same). */
TN_OPERATOR(conv3d_padding,
            "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str "
            "padding='valid', int[3] dilation=1, int groups=1) -> Tensor",
            TN_DOC(.shapes = "input (N, C, D, H, W) or (C, D, H, W), weight (O, C / groups, kD, "
                             "kH, kW), bias (O) -> (N, O, D', H', W') or (O, D', H', W')",
                   .example = "tn_conv3d_padding(x, w, .padding = \"same\")"),
            .autocast = TN_LOWER, .compose = conv3d_padding_compose,
            .sample = "(1,2,3,4,3) (2,2,2,3,1) (2) padding=same | (2,3,4,3) (1,2,2,1,2) None [1] "
                      "same [1,2,2] | (1,1,4,3,3) (2,1,2,2,2) (2) [2,1,1] valid")
#undef CONV_WORDS
