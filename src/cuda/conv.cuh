/* conv.cuh - a convolution as its kernels see it, for all three rows of images and of volumes:
 *
 *     c (m, p) = bias (m) + sum over k of a (m, k) b (k, p)
 *
 * of      m   k                      p                           a       b      c
 * output  o   (c, h, i, j)           (image, z, y, x)            weight  input  output
 * input   c   (o, h, i, j) of phase  (image, z, y, x) of phase   weight  grad   gradient of input
 * weight  o   (image, z, y, x)       (c, h, i, j)                grad    input  gradient of weight
 *
 * Images are volumes of one plane. k and p are numbers of four digits. What b holds for both lies
 * at the sum of two offsets, in the sums of two planes, rows and columns; outside of b's volumes it
 * is 0. A phase of the input's gradient is the elements of one remainder by the stride: they have
 * the same taps. Taps along the depth are channels to the CPU: a phase has all of them, and where
 * one meets no plane, b is 0, too. */
#ifndef TNC_CUDA_CONV_CUH
#define TNC_CUDA_CONV_CUH

#include "elements.cuh"

enum {
    TNC_CONV_BLOCK = TN_PRODUCT_BLOCK, /* terms of a chain */
    TNC_CONV_OUTSIDE = -(1 << 30)      /* a plane so far outside that no sum is inside */
};

/* Digits of a number and what they step by: in a (of k) or c (of p), and in b. */
struct tnc_conv_digits {
    int64_t size[3]; /* how many values those behind the first have */
    int64_t step[4];
    int64_t outer; /* of the first digit in b; the others choose plane, row and column */
    int32_t at[3], by[3];
    int32_t every; /* of planes only multiples of it are in b, and are divided by it */
};
struct tnc_conv_place {
    int64_t other, b; /* offsets in a or c, and in b */
    int32_t at[3];
};
struct tnc_conv_phase {
    int64_t k, p; /* how many */
    int64_t a, c; /* where the first lies */
    tnc_conv_digits of_k, of_p;
};
/* One dimension of the input's gradient; a phase has every `every`-th tap, or `all`. */
struct tnc_conv_axis {
    int64_t n, taps, stride, pad, dilation, every, phases;
    int64_t a, c; /* steps of a tap in a, of an element in c */
    bool all;
};

struct tnc_conv {
    const char *a, *b, *bias; /* bias: NULL: zeros */
    char *c;
    int64_t m, groups, phases;
    int64_t a_m, a_group, b_group, c_m, bias_step; /* all steps count elements */
    int64_t step[3];                               /* of b's planes, rows and columns */
    int32_t size[3];
    uint8_t dtype;
    bool turned; /* the input's gradient: phases come from the axes */
    bool swap;   /* of complex numbers: b is the first factor */
    bool conj;   /* the factor that is no gradient is conjugate */
    tnc_conv_phase phase;
    tnc_conv_axis axis[3];
    /* the weight's gradient: where its chains end; else images is 0. No round goes over the end of
     * a span, which is so many planes and has so many blocks */
    tn_conv_blocks cut;
    int64_t span, span_blocks;
    /* split > 1: block first + s goes to element s * elements + i of parts of the arithmetic's
     * type, of `split` blocks at a time; else a job has all blocks */
    int64_t blocks, split, first, elements;
    int64_t m_tiles, p_tiles, jobs;
};

/* The plane of b at value z of a digit. */
TNC_FN int32_t tnc_conv_plane(const tnc_conv_digits &d, int64_t z) {
    const int32_t at = d.at[0] + (int32_t)z * d.by[0];
    if (d.every == 1) return at;
    return at % d.every ? (int32_t)TNC_CONV_OUTSIDE : at / d.every;
}
/* Where plane, row and column of b lie. */
TNC_FN int64_t tnc_conv_offset(const tnc_conv &v, const int32_t *at) {
    const int32_t plane = at[0] == TNC_CONV_OUTSIDE ? 0 : at[0];
    return plane * v.step[0] + at[1] * v.step[1] + at[2] * v.step[2];
}
TNC_FN tnc_conv_place tnc_conv_place_of(const tnc_conv &v, const tnc_conv_digits &d, int64_t i) {
    tnc_conv_place to;
    int64_t digit[3];
    to.other = 0;
    for (int k = 2; k >= 0; k--) {
        const int64_t q = i / d.size[k];
        digit[k] = i - q * d.size[k];
        to.other += digit[k] * d.step[k + 1];
        i = q;
    }
    to.other += i * d.step[0];
    to.at[0] = tnc_conv_plane(d, digit[0]);
    for (int k = 1; k < 3; k++) to.at[k] = d.at[k] + (int32_t)digit[k] * d.by[k];
    to.b = i * d.outer + tnc_conv_offset(v, to.at);
    return to;
}
/* Whether b has an element at the sum of two places. */
TNC_FN bool tnc_conv_inside(const tnc_conv &v, const int32_t *one, const int32_t *other) {
    bool inside = true;
    for (int k = 0; k < 3; k++) /* without branches */
        inside = inside & ((uint32_t)(one[k] + other[k]) < (uint32_t)v.size[k]);
    return inside;
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
    t.taps = x.taps;
    t.places = (x.n - r + x.stride - 1) / x.stride;
    t.at = (int32_t)(r + x.pad);
    t.step = (int32_t)-x.dilation;
    if (x.all) return t; /* digits' `every` divides them */
    while (t.tap < x.every && t.tap < x.taps && (t.tap * x.dilation - x.pad - r) % x.stride)
        t.tap++;
    t.taps = t.tap < x.every && t.tap < x.taps ? (x.taps - 1 - t.tap) / x.every + 1 : 0;
    t.at = (int32_t)((r + x.pad - t.tap * x.dilation) / x.stride);
    t.step = (int32_t)(-x.every * x.dilation / x.stride);
    return t;
}
TNC_FN void tnc_conv_phase_of(const tnc_conv &v, int64_t number, tnc_conv_phase *to) {
    *to = v.phase;
    if (!v.turned) return;
    for (int k = 2; k >= 0; k--) {
        const tnc_conv_axis &x = v.axis[k];
        const int64_t r = number % x.phases;
        const tnc_conv_turn t = tnc_conv_turn_of(x, r);
        number /= x.phases;
        to->k *= t.taps;
        to->p *= t.places;
        to->a += t.tap * x.a;
        to->c += r * x.c;
        to->of_k.size[k] = t.taps;
        to->of_k.step[k + 1] = x.every * x.a;
        to->of_k.at[k] = t.at;
        to->of_k.by[k] = t.step;
        to->of_p.size[k] = t.places;
    }
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
    const int64_t height = v.phase.of_k.size[1], width = v.phase.of_k.size[2],
                  round = c.images * height, each = (round + c.lines - 1) / c.lines * c.pieces,
                  span = b / v.span_blocks, i = b % v.span_blocks, r = i / each, j = i % each,
                  line = r * round + j / c.pieces * c.lines, piece = j % c.pieces * c.piece;
    int64_t last = line + c.lines;
    if (last > (r + 1) * round) last = (r + 1) * round;
    if (last > v.span * height) last = v.span * height;
    *begin = (span * v.span * height + line) * width + piece;
    *end = (span * v.span * height + last) * width;
    if (c.pieces > 1 && width - piece > c.piece) *end = *begin + c.piece;
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
