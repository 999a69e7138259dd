/* conv.cuh - a convolution as its kernels see it, for all three rows:
 *
 *     c (m, p) = bias (m) + sum over k of a (m, k) b (k, p)
 *
 * of      m   k                    p                         a       b      c
 * output  o   (c, i, j)            (image, y, x)             weight  input  output
 * input   c   (o, i, j) of phase   (image, y, x) of phase    weight  grad   gradient of input
 * weight  o   (image, y, x)        (c, i, j)                 grad    input  gradient of weight
 *
 * k and p are numbers of three digits. What b holds for both lies at the sum of two offsets, in the
 * sums of two rows and columns; outside of b's planes it is 0. A phase of the input's gradient is
 * the elements of one remainder by the stride: they have the same taps. */
#ifndef TNC_CUDA_CONV_CUH
#define TNC_CUDA_CONV_CUH

#include "elements.cuh"

enum { TNC_CONV_BLOCK = TN_PRODUCT_BLOCK }; /* terms of a chain */

/* Digits of a number and what they step by: in a (of k) or c (of p), and in b. */
struct tnc_conv_digits {
    int64_t middle, inner; /* how many values these have */
    int64_t step[3];
    int64_t outer; /* of the first digit in b; the others choose row and column */
    int32_t y, x, y_step, x_step;
};
struct tnc_conv_place {
    int64_t other, b; /* offsets in a or c, and in b */
    int32_t y, x;
};
struct tnc_conv_phase {
    int64_t k, p; /* how many */
    int64_t a, c; /* where the first lies */
    tnc_conv_digits of_k, of_p;
};
/* One dimension of the input's gradient; a phase has every `every`-th tap. */
struct tnc_conv_axis {
    int64_t n, taps, stride, pad, dilation, every, phases;
};

struct tnc_conv {
    const char *a, *b, *bias; /* bias: NULL: zeros */
    char *c;
    int64_t m, groups, phases;
    int64_t a_m, a_group, b_group, c_m, c_group, bias_step; /* all steps count elements */
    int64_t row, col;                                       /* of b, whose planes are h x w */
    int32_t h, w;
    uint8_t dtype;
    bool turned; /* the input's gradient: phases come from y and x */
    bool swap;   /* of complex numbers: b is the first factor */
    bool conj;   /* the factor that is no gradient is conjugate */
    tnc_conv_phase phase;
    tnc_conv_axis y, x;
    int64_t a_y, a_x; /* turned: steps of taps in a */
    /* the weight's gradient: where its chains end; else images is 0. Pixels of an image are `lines`
     * lines of this width */
    tn_conv_blocks cut;
    int64_t lines, width;
    /* split > 1: block first + s goes to element s * elements + i of parts of the arithmetic's
     * type, of `split` blocks at a time; else a job has all blocks */
    int64_t blocks, split, first, elements;
    int64_t m_tiles, p_tiles, jobs;
};

TNC_FN tnc_conv_place tnc_conv_place_of(const tnc_conv &v, const tnc_conv_digits &d, int64_t i) {
    const int64_t q = i / d.inner, x = i - q * d.inner, outer = q / d.middle,
                  y = q - outer * d.middle;
    tnc_conv_place to;
    to.y = d.y + (int32_t)y * d.y_step;
    to.x = d.x + (int32_t)x * d.x_step;
    to.other = outer * d.step[0] + y * d.step[1] + x * d.step[2];
    to.b = outer * d.outer + to.y * v.row + to.x * v.col;
    return to;
}
/* Whether b has an element at row y, column x. */
TNC_FN bool tnc_conv_inside(const tnc_conv &v, int32_t y, int32_t x) {
    return (uint32_t)y < (uint32_t)v.h && (uint32_t)x < (uint32_t)v.w;
}

/* Phase r of an axis: its first tap, the number of taps and of elements, and where in b the first
 * of both meet. */
struct tnc_conv_turn {
    int64_t tap, taps, places;
    int32_t at, step;
};
TNC_FN tnc_conv_turn tnc_conv_turn_of(const tnc_conv_axis &x, int64_t r) {
    tnc_conv_turn t;
    t.tap = 0;
    while (t.tap < x.every && t.tap < x.taps && (t.tap * x.dilation - x.pad - r) % x.stride)
        t.tap++;
    t.taps = t.tap < x.every && t.tap < x.taps ? (x.taps - 1 - t.tap) / x.every + 1 : 0;
    t.places = (x.n - r + x.stride - 1) / x.stride;
    t.at = (int32_t)((r + x.pad - t.tap * x.dilation) / x.stride);
    t.step = (int32_t)(-x.every * x.dilation / x.stride);
    return t;
}
TNC_FN void tnc_conv_phase_of(const tnc_conv &v, int64_t number, tnc_conv_phase *to) {
    *to = v.phase;
    if (!v.turned) return;
    const int64_t r = number / v.x.phases, s = number % v.x.phases;
    const tnc_conv_turn y = tnc_conv_turn_of(v.y, r), x = tnc_conv_turn_of(v.x, s);
    to->k *= y.taps * x.taps;
    to->p *= y.places * x.places;
    to->a = y.tap * v.a_y + x.tap * v.a_x;
    to->c = r * v.x.n + s;
    to->of_k.middle = y.taps;
    to->of_k.inner = x.taps;
    to->of_k.step[1] = v.y.every * v.a_y;
    to->of_k.step[2] = v.x.every * v.a_x;
    to->of_k.y = y.at;
    to->of_k.x = x.at;
    to->of_k.y_step = y.step;
    to->of_k.x_step = x.step;
    to->of_p.middle = y.places;
    to->of_p.inner = x.places;
}

/* Terms [*begin, *end) of block b, of `blocks`. */
TNC_FN int64_t tnc_conv_blocks(const tnc_conv &v, int64_t k) {
    return v.cut.images ? v.blocks : (k + TNC_CONV_BLOCK - 1) / TNC_CONV_BLOCK;
}
TNC_FN void tnc_conv_block_of(const tnc_conv &v, int64_t k, int64_t b, int64_t *begin,
                              int64_t *end) {
    if (!v.cut.images) {
        *begin = b * TNC_CONV_BLOCK;
        *end = k - *begin < TNC_CONV_BLOCK ? k : *begin + TNC_CONV_BLOCK;
        return;
    }
    const tn_conv_blocks &c = v.cut;
    const int64_t round = c.images * v.lines, each = (round + c.lines - 1) / c.lines * c.pieces,
                  r = b / each, i = b % each, line = r * round + i / c.pieces * c.lines,
                  piece = i % c.pieces * c.piece;
    int64_t last = line + c.lines;
    if (last > (r + 1) * round) last = (r + 1) * round;
    *begin = line * v.width + piece;
    *end = last * v.width;
    if (*end > k) *end = k;
    if (c.pieces > 1 && v.width - piece > c.piece) *end = *begin + c.piece;
}

/* An element of memory type E as T, and back; 16-bit ones by their dtype. */
template <class T, class E>
struct tnc_conv_of {
    TNC_FN T get(const char *at, int64_t i, int) { return (T)((const E *)at)[i]; }
};
template <>
struct tnc_conv_of<float, uint16_t> {
    TNC_FN float get(const char *at, int64_t i, int dtype) {
        const uint16_t h = ((const uint16_t *)at)[i];
        return dtype == TN_BF16 ? tnc_from_bf16(h) : tnc_from_f16(h);
    }
};
TNC_FN void tnc_conv_store(char *at, int64_t i, int dtype, float v) {
    if (dtype == TN_F32)
        ((float *)at)[i] = v;
    else
        ((uint16_t *)at)[i] = dtype == TN_BF16 ? tnc_to_bf16(v) : tnc_to_f16(v);
}
TNC_FN void tnc_conv_store(char *at, int64_t i, int, double v) { ((double *)at)[i] = v; }
/* A finished chain, or the sum of all. */
template <class T>
TNC_FN void tnc_conv_put(const tnc_conv &v, int64_t part, int64_t i, T x) {
    if (v.split > 1)
        ((T *)v.c)[part * v.elements + i] = x;
    else
        tnc_conv_store(v.c, i, v.dtype, x);
}

#endif
