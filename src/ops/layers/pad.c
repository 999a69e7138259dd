/* pad.c - borders around a tensor: of a number, or of its own elements, mirrored, repeated or
 * wrapped around.
 *
 * A list of padding has two numbers for each dimension, before and behind, the last dimension
 * first. All is copies of whole pieces, so every device has it; the gradients fold the borders back
 * onto what they were copied from. */
#include "../../call/arguments.h"
#include "../shape/copy.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

typedef enum pad_way { PAD_CONSTANT, PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR } pad_way;

/* What is added before and behind dimension d; negative: what is left out. */
static int64_t pad_at(tn_ints pad, int ndim, int d, bool behind) {
    const int64_t i = 2 * (int64_t)(ndim - 1 - d) + behind;
    return i < pad.n ? pad.at[i] : 0;
}
/* Pairs of numbers for at most all dimensions of self. */
static bool pad_given(tn_frame *f, const tn_tensor *self, tn_ints pad, const char *name) {
    if (pad.n < 0 || (pad.n && !pad.at))
        return tn_fail(f, TN_INVALID, "argument '%s': expected a list", name);
    if (pad.n % 2 != 0) return tn_fail(f, TN_INVALID, "Padding length must be divisible by 2");
    return pad.n <= 2 * (int64_t)self->ndim ||
           tn_fail(f, TN_INVALID,
                   "Padding length should be less than or equal to two times the input dimension "
                   "but got padding length %lld and input of dimension %d",
                   (long long)pad.n, self->ndim);
}
/* What is left of n elements where padding is negative; false: less than nothing. */
static bool pad_left(int64_t n, int64_t before, int64_t behind, int64_t *left) {
    return tni_add(n, before < 0 ? before : 0, left) &&
           tni_add(*left, behind < 0 ? behind : 0, left) && *left >= 0;
}
/* s becomes self's shape with its padding. */
static bool pad_sizes(tn_frame *f, const tn_tensor *self, tn_ints pad, tni_shape *s) {
    s->ndim = self->ndim;
    for (int d = 0; d < s->ndim; d++) {
        const int64_t before = pad_at(pad, s->ndim, d, false),
                      behind = pad_at(pad, s->ndim, d, true);
        if (!pad_left(self->size[d], before, behind, &s->size[d]))
            return tn_fail(f, TN_INVALID,
                           "padding %lld and %lld leaves out more than the %lld elements of "
                           "dimension %d",
                           (long long)before, (long long)behind, (long long)self->size[d], d);
        if (!tni_add(s->size[d], before > 0 ? before : 0, &s->size[d]) ||
            !tni_add(s->size[d], behind > 0 ? behind : 0, &s->size[d]))
            return tn_fail(f, TN_INVALID, "the result is too large");
    }
    return true;
}
/* Announces the result: channels-last as self, or row-major. */
static bool pad_announce(tn_frame *f, tni_shape *s, bool keeps) {
    const tn_tensor *self = f->in[0];
    return keeps ? tni_announce_images(f, 0, (tn_dtype)self->dtype, s->ndim, s->size, self, true)
                 : tn_announce(f, 0, (tn_dtype)self->dtype, s->ndim, s->size);
}

/* --- by a number ------------------------------------------------------------------------------ */

/* The piece of t that padding keeps or makes: v is the place of self in the result with sign 1, and
 * of the result in self with sign -1. */
static void pad_piece(tn_tensor *v, const tn_tensor *t, tn_ints pad, const int64_t *size,
                      int sign) {
    int64_t offset = t->offset;
    for (int d = 0; d < t->ndim; d++) {
        const int64_t before = pad_at(pad, t->ndim, d, false) * sign;
        if (before > 0) offset += before * t->stride[d];
    }
    tni_stack_view(v, t, t->ndim, size, t->stride, offset);
}
/* Sizes of the part of self that is in the result; false: there is none. */
static bool pad_kept(const tn_tensor *self, tn_ints pad, int64_t *size) {
    bool some = true;
    for (int d = 0; d < self->ndim; d++) {
        const int64_t before = pad_at(pad, self->ndim, d, false),
                      behind = pad_at(pad, self->ndim, d, true);
        some = pad_left(self->size[d], before, behind, &size[d]) && some && size[d] > 0;
    }
    return some;
}
static bool constant_pad_nd_check(tn_frame *f) {
    TN_ARGS(constant_pad_nd, a, f);
    const tn_tensor *self = f->in[0];
    int64_t size[TN_MAX_DIMS];
    tn_tensor kept;
    tni_shape s;
    bool crops = true;
    if (!pad_given(f, self, a->pad, "pad") || !pad_sizes(f, self, a->pad, &s)) return false;
    if (a->value.kind > TN_KIND_NONE && !tni_fill_check(f, a->value, self->dtype)) return false;
    for (int64_t i = 0; i < a->pad.n; i++) crops = crops && a->pad.at[i] <= 0;
    if (!crops) return pad_announce(f, &s, true);
    /* A piece of self, cloned: it keeps self's order of dimensions. */
    pad_kept(self, a->pad, size);
    pad_piece(&kept, self, a->pad, size, -1);
    tni_copy_strides(&s, &kept);
    return tn_announce_strided(f, 0, (tn_dtype)self->dtype, s.ndim, s.size, s.stride);
}
static void constant_pad_nd_run(tn_frame *f) {
    TN_ARGS(constant_pad_nd, a, f);
    tn_tensor *self = f->in[0], *out = f->out[0], from, to;
    int64_t size[TN_MAX_DIMS];
    const bool some = pad_kept(self, a->pad, size);
    if (out->numel == 0) return;
    if (!some || memcmp(size, out->size, sizeof(int64_t) * (size_t)out->ndim))
        tni_fill(out, a->value.kind > TN_KIND_NONE ? a->value : tn_int(0));
    if (!some) return;
    pad_piece(&to, out, a->pad, size, 1);
    pad_piece(&from, self, a->pad, size, -1);
    tni_copy_elements(f->block, &to, &from);
}
/* What was added goes, and zeros come where something was left out. */
static void constant_pad_nd_grad(tn_gradient *g) {
    TN_ARGS(constant_pad_nd, a, g);
    int64_t back[2 * TN_MAX_DIMS];
    for (int64_t i = 0; i < a->pad.n; i++) back[i] = -a->pad.at[i];
    tn_give(g, 0, tnp_constant_pad_nd(g->incoming[0], tni_ints(back, a->pad.n), tn_int(0)));
}
/* self with elements of value, 0 by default, around it: pad[0] before and pad[1] behind the last
 * dimension, pad[2] and pad[3] around the one before, and so on. Negative numbers leave elements
 * out. Images that are channels-last stay so. */
TN_OPERATOR(constant_pad_nd,
            "constant_pad_nd(Tensor self, int[] pad, Scalar? value=None) -> Tensor",
            TN_DOC(.shapes = "self (n, m), pad of 4 -> (pad[2] + n + pad[3], pad[0] + m + pad[1])",
                   .example = "tn_constant_pad_nd(x, TN_DIMS(1, 1), .value = TN_NUM(2))",
                   .differs = "parameter value: None stands for 0"),
            .forms = TN_OUT | TN_MOVES | TN_LEADING, .check = constant_pad_nd_check,
            .run = constant_pad_nd_run, .grad = constant_pad_nd_grad,
            .sample = "(2,3) [1,2] | (2,3,4) [1,-1,0,2] 0.5 | (3,4) [-1,1] 2 | (3,4) [-1,-1,-1,0] "
                      "| () [] | (0,3) "
                      "[1,1] | (35) [3,0] -1 | (2,3,4,2) [1,1,2,0] | (2,3) [-2,-1] | "
                      "(2,3):i64 [0,2,1,0] 7 | (1,2,2,3,2) [1,0,0,1,2,1,0,0,1,1] 2")

/* --- by its own elements ---------------------------------------------------------------------- */

/* Padding of the last 1 to 3 dimensions, behind one or two others. */
static bool pad_dims(tn_frame *f, const tn_tensor *self, tn_ints pad, pad_way mode) {
    char has[160];
    const int dims = (int)(pad.n / 2);
    bool fits = true;
    if (pad.n < 2 || pad.n > 6 || self->ndim < dims + 1 || self->ndim > dims + 2)
        return tn_fail(f, TN_UNSUPPORTED,
                       "Padding size %lld is not supported for %dD input tensor. Supported "
                       "combinations for non-constant padding are size 2 for 2D or 3D, size 4 for "
                       "3D or 4D, size 6 for 4D or 5D input",
                       (long long)pad.n, self->ndim);
    for (int d = self->ndim - dims - 1; d < self->ndim; d++) fits = fits && self->size[d] > 0;
    if (fits || mode == PAD_CIRCULAR) return true;
    return tn_fail(f, TN_INVALID,
                   "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other "
                   "non-zero dimensions for input, but got %s",
                   dims + 1, dims + 2, tni_shape_text(has, sizeof has, self->ndim, self->size));
}
/* A border is copied from what is there: no wider than that. */
static bool pad_edges_check(tn_frame *f, tn_ints pad, pad_way mode) {
    const tn_tensor *self = f->in[0];
    char has[160];
    tni_shape s;
    if (!pad_given(f, self, pad, "padding") || !pad_dims(f, self, pad, mode)) return false;
    for (int64_t i = 0; i < pad.n; i++) {
        const int d = self->ndim - 1 - (int)(i / 2);
        if (pad.at[i] < 0)
            return tn_fail(f, TN_INVALID, "padding %s must not be negative",
                           tni_shape_text(has, sizeof has, (int)pad.n, pad.at));
        if (mode == PAD_CIRCULAR && pad.at[i] > self->size[d])
            return tn_fail(f, TN_INVALID, "Padding value causes wrapping around more than once.");
        if (mode == PAD_REFLECT && pad.at[i] >= self->size[d])
            return tn_fail(f, TN_INVALID,
                           "Padding size should be less than the corresponding input dimension, "
                           "but got padding %lld and %lld at dimension %d of input %s",
                           (long long)pad.at[i & ~1], (long long)pad.at[i | 1], d,
                           tni_shape_text(has, sizeof has, self->ndim, self->size));
    }
    return pad_sizes(f, self, pad, &s) && pad_announce(f, &s, mode != PAD_CIRCULAR);
}

/* The part of the result that is written so far: sizes and offset. */
typedef struct pad_part {
    tn_frame *f;
    int64_t size[TN_MAX_DIMS], offset;
} pad_part;
/* count places along d, from place `to` on, become those from `from` on, or all the one at `from`.
 * Places count from the part's first, so those before it are negative. */
static void pad_copy(const pad_part *p, int d, int64_t to, int64_t from, int64_t count, bool one) {
    tn_tensor *out = p->f->out[0], there, here;
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS];
    if (count == 0) return;
    memcpy(size, p->size, sizeof(int64_t) * (size_t)out->ndim);
    memcpy(stride, out->stride, sizeof(int64_t) * (size_t)out->ndim);
    size[d] = count;
    if (one) stride[d] = 0;
    tni_stack_view(&there, out, out->ndim, size, out->stride, p->offset + to * out->stride[d]);
    tni_stack_view(&here, out, out->ndim, size, stride, p->offset + from * out->stride[d]);
    tni_copy_elements(p->f->block, &there, &here);
}
/* self in the middle, then the borders of one dimension after the other, each as long as what the
 * dimensions before have made. */
static void pad_edges_run(tn_frame *f, tn_ints pad, pad_way mode) {
    tn_tensor *self = f->in[0], *out = f->out[0], middle;
    const int ndim = self->ndim;
    pad_part p;
    if (out->numel == 0) return;
    p.f = f;
    p.offset = out->offset;
    memcpy(p.size, self->size, sizeof(int64_t) * (size_t)ndim);
    for (int d = 0; d < ndim; d++) p.offset += pad_at(pad, ndim, d, false) * out->stride[d];
    tni_stack_view(&middle, out, ndim, p.size, out->stride, p.offset);
    tni_copy_elements(f->block, &middle, self);
    for (int d = ndim - 1; d >= ndim - (int)(pad.n / 2); d--) {
        const int64_t n = p.size[d], before = pad_at(pad, ndim, d, false),
                      behind = pad_at(pad, ndim, d, true);
        if (mode == PAD_REPLICATE) {
            pad_copy(&p, d, -before, 0, before, true);
            pad_copy(&p, d, n, n - 1, behind, true);
        } else if (mode == PAD_CIRCULAR) {
            pad_copy(&p, d, -before, n - before, before, false);
            pad_copy(&p, d, n, 0, behind, false);
        } else { /* a mirror: place by place */
            for (int64_t i = 1; i <= before; i++) pad_copy(&p, d, -i, i, 1, false);
            for (int64_t i = 1; i <= behind; i++) pad_copy(&p, d, n - 1 + i, n - 1 - i, 1, false);
        }
        p.offset -= before * out->stride[d];
        p.size[d] = out->size[d];
    }
}

/* t with `more` added to places at.. along d. */
static tn_tensor *pad_add(tn_tensor *t, int d, int64_t at, tn_tensor *more) {
    tn_tensor *part[3];
    if (!t || !more) return NULL;
    part[0] = tnp_slice(t, d, 0, at, 1);
    part[1] = tnp_add(tnp_slice(t, d, at, at + more->size[d], 1), more, 1);
    part[2] = tnp_slice(t, d, at + more->size[d], t->size[d], 1);
    return part[0] && part[1] && part[2] ? tnp_cat(tn_tensors_of(part, 3), d) : NULL;
}
/* What is given to the places that a border was copied from, in their order. */
static tn_tensor *pad_folded(tn_tensor *border, int d, pad_way mode) {
    const int64_t dim[1] = {d};
    if (mode == PAD_REFLECT) return tnp_flip(border, tni_ints(dim, 1));
    return mode == PAD_REPLICATE ? tnp_sum(border, tni_ints(dim, 1), true, TN_NO_DTYPE) : border;
}
/* Each border's gradient is added where its elements come from, and the border goes; the last
 * dimension that was padded is the first. */
static void pad_edges_grad(tn_gradient *g, tn_ints pad, pad_way mode) {
    tn_tensor *d = g->incoming[0];
    const int ndim = g->in[0]->ndim;
    for (int i = ndim - (int)(pad.n / 2); i < ndim && d; i++) {
        const int64_t n = g->in[0]->size[i], before = pad_at(pad, ndim, i, false),
                      behind = pad_at(pad, ndim, i, true);
        tn_tensor *inner = tnp_slice(d, i, before, before + n, 1);
        if (before > 0)
            inner = pad_add(inner, i,
                            mode == PAD_REFLECT     ? 1
                            : mode == PAD_REPLICATE ? 0
                                                    : n - before,
                            pad_folded(tnp_slice(d, i, 0, before, 1), i, mode));
        if (behind > 0)
            inner =
                pad_add(inner, i,
                        mode == PAD_REFLECT     ? n - 1 - behind
                        : mode == PAD_REPLICATE ? n - 1
                                                : 0,
                        pad_folded(tnp_slice(d, i, before + n, before + n + behind, 1), i, mode));
        d = inner;
    }
    tn_give(g, 0, d);
}

/* check, run and gradient of one of the three rows. */
#define PAD_ROW(name, MODE)                          \
    static bool name##_check(tn_frame *f) {          \
        TN_ARGS(name, a, f);                         \
        return pad_edges_check(f, a->padding, MODE); \
    }                                                \
    static void name##_run(tn_frame *f) {            \
        TN_ARGS(name, a, f);                         \
        pad_edges_run(f, a->padding, MODE);          \
    }                                                \
    static void name##_grad(tn_gradient *g) {        \
        TN_ARGS(name, a, g);                         \
        pad_edges_grad(g, a->padding, MODE);         \
    }

PAD_ROW(reflection_pad, PAD_REFLECT)
/* self with its own elements around it, mirrored at the first and last one, which are not repeated:
 * c b | a b c | b a. As mode reflect of pad, but no number is negative. */
TN_OPERATOR(reflection_pad, "reflection_pad(Tensor self, int[] padding) -> Tensor",
            TN_DOC(.shapes = "self (N, C, L) or (C, L), padding of 2 -> (N, C, padding[0] + L + "
                             "padding[1]); of 4 and 6: 2 and 3 dimensions",
                   .example = "tn_reflection_pad(x, TN_DIMS(1, 1))",
                   .differs = "signature: torch has a function for each number of dimensions"),
            .forms = TN_OUT | TN_MOVES, .autocast = TN_WIDE_CPU, .check = reflection_pad_check,
            .run = reflection_pad_run, .grad = reflection_pad_grad,
            .sample = "(1,2,5) [2,3] | (2,4) [0,3] | (2,3,4) [1,2,2,1] | (1,2,3,4) [3,0,0,2] | "
                      "(2,3,2,4) [1,1,1,0,2,1] | (1,1,2,3,4) [2,1,0,2,1,1] | (0,2,3) [1,2] | "
                      "(1,35) [34,20] | (1,2,3):i64 [1,2]",
            .node = "ReflectionPad1DBackward0 self=2 | ReflectionPad1DBackward0 self=3 | "
                    "ReflectionPad2DBackward0 self=4 | ReflectionPad3DBackward0")

PAD_ROW(replication_pad, PAD_REPLICATE)
/* self with its first and last elements repeated around it: a a | a b c | c c. As mode replicate of
 * pad, but no number is negative. */
TN_OPERATOR(replication_pad, "replication_pad(Tensor self, int[] padding) -> Tensor",
            TN_DOC(.shapes = "self (N, C, L) or (C, L), padding of 2 -> (N, C, padding[0] + L + "
                             "padding[1]); of 4 and 6: 2 and 3 dimensions",
                   .example = "tn_replication_pad(x, TN_DIMS(1, 1))",
                   .differs = "signature: torch has a function for each number of dimensions"),
            .forms = TN_OUT | TN_MOVES, .autocast = TN_WIDE_CPU, .check = replication_pad_check,
            .run = replication_pad_run, .grad = replication_pad_grad,
            .sample = "(1,2,5) [2,9] | (2,4) [0,3] | (2,3,4) [1,2,2,1] | (1,2,3,4) [3,0,0,2] | "
                      "(2,3,2,4) [1,1,1,0,2,1] | (1,1,2,1,4) [2,1,0,2,1,1] | (0,2,3) [1,2] | "
                      "(1,35) [34,20] | (1,2,3):i64 [1,2]",
            .node = "ReplicationPad1DBackward0 self=2 | ReplicationPad1DBackward0 self=3 | "
                    "ReplicationPad2DBackward0 self=4 | ReplicationPad3DBackward0")

PAD_ROW(circular_pad, PAD_CIRCULAR)
/* self as one period of what is around it: b c | a b c | a b. As mode circular of pad, but no
 * number is negative. The result is row-major. */
TN_OPERATOR(circular_pad, "circular_pad(Tensor self, int[] padding) -> Tensor",
            TN_DOC(.shapes = "self (N, C, L) or (C, L), padding of 2 -> (N, C, padding[0] + L + "
                             "padding[1]); of 4 and 6: 2 and 3 dimensions",
                   .example = "tn_circular_pad(x, TN_DIMS(1, 1))",
                   .differs = "signature: torch's is pad alone"),
            .forms = TN_OUT | TN_MOVES, .check = circular_pad_check, .run = circular_pad_run,
            .grad = circular_pad_grad,
            .sample = "(1,2,5) [2,5] | (2,4) [0,3] | (2,3,4) [1,2,2,1] | (1,2,3,4) [3,0,0,2] | "
                      "(2,3,2,4) [1,1,1,0,2,1] | (1,1,2,1,4) [2,1,0,1,1,1] | (0,2,3) [1,2] | "
                      "(1,35) [34,20] | (1,2,3):bool [1,2]")
#undef PAD_ROW

/* --- all modes -------------------------------------------------------------------------------- */

static bool pad_way_of(tn_frame *f, const char *word, pad_way *mode) {
    static const char *const words[4] = {"constant", "reflect", "replicate", "circular"};
    for (int i = 0; i < 4; i++)
        if (word && !strcmp(word, words[i])) {
            *mode = (pad_way)i;
            return true;
        }
    return tn_fail(f, TN_UNSUPPORTED, "Unrecognised padding mode %s", word ? word : "None");
}
/* Whether something is left of each dimension: before a period is padded, after a mirror is. */
static bool pad_leaves(tn_frame *f, const tn_tensor *x, tn_ints pad, pad_way mode) {
    for (int d = x->ndim - (int)(pad.n / 2); d < x->ndim; d++) {
        const int64_t before = pad_at(pad, x->ndim, d, false),
                      behind = pad_at(pad, x->ndim, d, true);
        int64_t left;
        if (mode == PAD_CIRCULAR && !pad_left(x->size[d], before, behind, &left))
            return tn_fail(f, TN_INVALID,
                           "Negative padding value is resulting in an empty dimension");
        if (mode == PAD_CIRCULAR) continue;
        if (!tni_add(x->size[d], before, &left) || !tni_add(left, behind, &left))
            return tn_fail(f, TN_INVALID, "padding %lld and %lld is too large", (long long)before,
                           (long long)behind);
        if (left < 1)
            return tn_fail(f, TN_INVALID,
                           "dimension %d of size %lld is too small for padding %lld and %lld: the "
                           "output's size would be %lld",
                           d, (long long)x->size[d], (long long)before, (long long)behind,
                           (long long)left);
    }
    return true;
}
/* The view of x without what negative padding leaves out. */
static tn_tensor *pad_cropped(tn_tensor *x, tn_ints less) {
    const int ndim = x ? x->ndim : 0;
    for (int d = 0; d < ndim && x; d++) {
        const int64_t before = pad_at(less, ndim, d, false), behind = pad_at(less, ndim, d, true);
        if (before < 0 || behind < 0) x = tnp_narrow(x, d, -before, x->size[d] + before + behind);
    }
    return x;
}
/* A copy of a view, channels-last as it, or row-major. */
static tn_tensor *pad_dense(tn_tensor *x) {
    return x && tni_like_channels_last(x) ? tni_images_as(x, x)
                                          : tnp_clone(x, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
}
static tn_tensor *pad_edges(tn_tensor *x, tn_ints pad, pad_way mode) {
    if (mode == PAD_REFLECT) return tnp_reflection_pad(x, pad);
    return mode == PAD_REPLICATE ? tnp_replication_pad(x, pad) : tnp_circular_pad(x, pad);
}
static bool pad_compose(tn_frame *f) {
    TN_ARGS(pad, a, f);
    tn_tensor *x = f->in[0];
    int64_t more[6] = {0}, less[6] = {0};
    bool crops = false;
    pad_way mode = PAD_CONSTANT;
    if (!pad_way_of(f, a->mode, &mode) || !pad_given(f, x, a->pad, "pad")) return false;
    if (mode == PAD_CONSTANT) {
        f->out[0] = tnp_constant_pad_nd(
            x, a->pad, a->value.given == TN_GIVEN ? tn_float(a->value.value) : tn_int(0));
        return f->out[0] != NULL;
    }
    if (a->value.given == TN_GIVEN && a->value.value != 0)
        return tn_fail(f, TN_INVALID, "Padding mode \"%s\" doesn't take in value argument",
                       a->mode);
    if (!pad_dims(f, x, a->pad, mode) || !pad_leaves(f, x, a->pad, mode)) return false;
    for (int64_t i = 0; i < a->pad.n; i++) {
        more[i] = a->pad.at[i] > 0 ? a->pad.at[i] : 0;
        less[i] = a->pad.at[i] < 0 ? a->pad.at[i] : 0;
        crops = crops || less[i] < 0;
    }
    /* A mirror shows what is left out; a period is what is left. */
    if (crops && mode == PAD_CIRCULAR) x = pad_cropped(x, tni_ints(less, a->pad.n));
    x = pad_edges(x, tni_ints(more, a->pad.n), mode);
    if (crops && mode != PAD_CIRCULAR) x = pad_dense(pad_cropped(x, tni_ints(less, a->pad.n)));
    return (f->out[0] = x) != NULL;
}
/* The input with pad[0] elements before and pad[1] behind the last dimension, pad[2] and pad[3]
 * around the one before, and so on; negative numbers leave elements out. Mode constant pads with
 * value (0) and takes any number of dimensions. The others pad the last 1 to 3 dimensions with the
 * input's own elements: reflect mirrors them at the ends, replicate repeats the ends, circular
 * begins again at the other end. */
TN_OPERATOR(pad, "pad(Tensor input, int[] pad, str mode='constant', float? value=None) -> Tensor",
            TN_DOC(.shapes = "input (*, L) -> (*, pad[0] + L + pad[1])",
                   .example = "tn_pad(x, TN_DIMS(1, 1), .mode = \"reflect\")",
                   .python = "nn.functional.pad"),
            .compose = pad_compose,
            .sample = "(2,3) [1,2] | (1,2,5) [2,-1] mode=reflect | (1,2,5) [-2,3] mode=circular | "
                      "(2,3,4) [1,-2,-1,2] mode=replicate | (2,3):i64 [1,0] constant 2.0 | () [] | "
                      "(0,2,3) [1,1] mode=circular | (1,35) [-3,3] mode=reflect")
