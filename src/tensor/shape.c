/* shape.c - sizes and strides: counts, broadcasting, torch's order of dimensions, exact overlap
 * tests.
 *
 * Sizes and strides are in elements where nothing else is said; strides are not negative. Nothing
 * here
 * allocates or sets errors. */
#include "tensor.h"

/* --- counts and layouts ----------------------------------------------------------------------- */

TN_PRIV bool tni_numel_of(int ndim, const int64_t *size, int64_t *numel) {
    int64_t n = 1, all = 1; /* `all` skips zeros, so that no stride of an empty tensor overflows */
    for (int i = 0; i < ndim; i++) {
        if (size[i] < 0 || !tni_mul(all, size[i] ? size[i] : 1, &all)) return false;
        if (!size[i]) n = 0;
    }
    *numel = n ? all : 0;
    return all <= TNI_MOST;
}

TN_PRIV void tni_row_major(int ndim, const int64_t *size, int64_t *stride) {
    int64_t step = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        stride[i] = step;
        if (size[i] > 1 && !tni_mul(step, size[i], &step)) step = TNI_MOST; /* no header takes it */
    }
}

TN_PRIV bool tni_is_row_major(int ndim, const int64_t *size, const int64_t *stride) {
    int64_t step = 1;
    bool fits = true;
    for (int i = ndim - 1; i >= 0; i--) {
        /* Any strides of an empty tensor are row-major, and so are those of a dimension of 1. */
        if (size[i] == 0) return true;
        if (size[i] == 1) continue;
        fits = fits && stride[i] == step;
        step *= size[i];
    }
    return fits;
}

TN_PRIV bool tni_is_dense(const tn_tensor *t) {
    int order[TN_MAX_DIMS], n = 0;
    int64_t step = 1;
    if (tni_is_row_major(t->ndim, t->size, t->stride)) return true;
    for (int i = 0; i < t->ndim; i++) { /* insertion sort by stride */
        int k = n;
        if (t->size[i] == 1) continue;
        for (; k > 0 && t->stride[order[k - 1]] > t->stride[i]; k--) order[k] = order[k - 1];
        order[k] = i;
        n++;
    }
    /* Dense: from the smallest stride on, each dimension begins where the one before ends. */
    for (int k = 0; k < n; k++) {
        if (t->stride[order[k]] != step) return false;
        step *= t->size[order[k]];
    }
    return true;
}

/* Sizes align at the right. The test comes first, so a refusal leaves s as it was. */
TN_PRIV bool tni_broadcast(tni_shape *s, int ndim, const int64_t *size) {
    for (int i = ndim - 1, at = s->ndim - 1; i >= 0 && at >= 0; i--, at--)
        if (size[i] != s->size[at] && size[i] != 1 && s->size[at] != 1) return false;
    /* s grows by dimensions of 1 on its left. */
    if (ndim > s->ndim) {
        int more = ndim - s->ndim;
        for (int i = ndim - 1; i >= 0; i--) s->size[i] = i < more ? 1 : s->size[i - more];
        s->ndim = ndim;
    }
    for (int i = 0, at = s->ndim - ndim; i < ndim; i++, at++) {
        if (size[i] != 1) s->size[at] = size[i];
    }
    return true;
}

/* --- strides of a pointwise result ------------------------------------------------------------ */

/* Strides of NHWC, of NDHWC for five dimensions. */
TN_PRIV void tni_channels_last(int ndim, const int64_t *size, int64_t *stride) {
    int64_t step = size[1];
    stride[1] = 1;
    for (int d = ndim - 1; d > 1; d--) {
        stride[d] = step;
        step *= size[d];
    }
    stride[0] = step;
}

/* NHWC in memory: torch asks for it before it looks at strides in general. */
static bool shape_is_channels_last(const tn_tensor *t) {
    int64_t stride[4];
    if (t->ndim != 4) return false;
    tni_channels_last(4, t->size, stride);
    for (int d = 0; d < 4; d++)
        if (t->size[d] != 1 && t->stride[d] != stride[d]) return false;
    return true;
}

/* torch's rule for what keeps a format without being dense: strides rise from the channels over the
 * last dimension to the first, those of size 1 too, so that images that were permuted and
 * unsqueezed are none. */
TN_PRIV bool tni_like_channels_last(const tn_tensor *t) {
    int64_t least = 0;
    if ((t->ndim != 4 && t->ndim != 5) || t->stride[1] == 0) return false;
    /* In the order 1, last .. 2, 0: channels, the innermost image dimension, ..., images. */
    for (int k = 0; k < t->ndim; k++) {
        int d = k == 0 ? 1 : k == t->ndim - 1 ? 0 : t->ndim - k;
        if (t->size[d] == 0 || t->stride[d] < least) return false;
        if (d == 0 && least == t->stride[1]) return false; /* N111: row-major */
        least = t->size[d] > 1 ? t->stride[d] * t->size[d] : t->stride[d];
    }
    return true;
}

/* Operands of one shape: row-major, channels-last, or the strides they share. False: neither. */
static bool shape_common_strides(tni_shape *s, const tn_tensor *const *operands, int n) {
    /* What all operands have in common; torch asks in this order. */
    bool contiguous = true, channels = true, dense = true;
    for (int k = 0; k < n; k++) {
        const tn_tensor *t = operands[k];
        if (t->ndim != s->ndim || memcmp(t->size, s->size, sizeof(int64_t) * (size_t)s->ndim))
            return false;
        contiguous = contiguous && tni_is_row_major(t->ndim, t->size, t->stride);
        channels = channels && shape_is_channels_last(t);
        dense = dense && tni_is_dense(t);
        for (int i = 0; dense && i < s->ndim; i++) dense = t->stride[i] == operands[0]->stride[i];
    }
    if (contiguous) {
        tni_row_major(s->ndim, s->size, s->stride);
        return true;
    }
    if (channels) {
        tni_channels_last(4, s->size, s->stride);
        return true;
    }
    /* All have the first one's strides, without gaps. */
    if (!dense || !n) return false;
    memcpy(s->stride, operands[0]->stride, sizeof(int64_t) * (size_t)s->ndim);
    return true;
}

/* The stride of t along dimension d of s, 0 where t is broadcast. */
static int64_t shape_stride_in(const tni_shape *s, const tn_tensor *t, int d) {
    int at = d - (s->ndim - t->ndim);
    return at < 0 || (t->size[at] == 1 && s->size[d] != 1) ? 0 : t->stride[at];
}

/* TensorIterator's comparison: > 0 when dimension a must lie further out than b, < 0 further in,
 * 0: undecided. */
static int shape_compare(const tni_shape *s, const tn_tensor *const *operands, int n, int a,
                         int b) {
    for (int k = 0; k < n; k++) {
        int64_t x = shape_stride_in(s, operands[k], a), y = shape_stride_in(s, operands[k], b);
        /* Broadcast along one of them: this operand does not tell. Equal strides leave it
         * to the sizes. */
        if (x == 0 || y == 0) continue;
        if (x != y) return x < y ? -1 : 1;
        if (s->size[a] > s->size[b]) return 1;
    }
    return 0;
}

TN_PRIV void tni_like_strides(tni_shape *s, const tn_tensor *const *operands, int n) {
    int order[TN_MAX_DIMS] = {0}; /* innermost first */
    bool row_major = true;
    int64_t step = 1;
    /* The frequent cases need no sorting. */
    if (shape_common_strides(s, operands, n)) return;
    for (int i = 0; i < s->ndim; i++) order[i] = s->ndim - 1 - i;
    for (int i = 1; i < s->ndim; i++) { /* insertion sort that steps over undecided neighbours */
        for (int at = i, k = i - 1; k >= 0; k--) {
            int c = shape_compare(s, operands, n, order[k], order[at]), swap = order[k];
            if (c < 0) break;
            if (c > 0) {
                order[k] = order[at];
                order[at] = swap;
                at = k;
            }
        }
    }
    /* In the usual order: tni_row_major, which steps over sizes of 0. */
    for (int i = 0; i < s->ndim; i++) row_major = row_major && order[i] == s->ndim - 1 - i;
    if (row_major) {
        tni_row_major(s->ndim, s->size, s->stride);
        return;
    }
    /* Dense strides in the order found. */
    for (int i = 0; i < s->ndim; i++) {
        s->stride[order[i]] = step;
        step *= s->size[order[i]];
    }
}

/* --- overlap ---------------------------------------------------------------------------------- */

/* The question of whether strided sets meet is: has sum(step[i] * x[i]) = want a solution with 0 <=
 * x[i] <= most[i]? Integer programming in general; a search over the larger steps that stops as
 * soon as the smaller ones reach every multiple of their divisor in their range decides views in a
 * few tries. */
enum { SHAPE_TERMS = 2 * TN_MAX_DIMS + 1, SHAPE_TRIES = 1 << 20 };

typedef struct shape_equation {
    int n;
    int tries; /* left; at 0 the answer is the safe one: they meet */
    int64_t step[SHAPE_TERMS], most[SHAPE_TERMS]; /* step > 0, falling once shape_order ran */
    int64_t reach[SHAPE_TERMS + 1];               /* largest sum of terms i.. */
    int64_t divisor[SHAPE_TERMS + 1];             /* greatest common divisor of steps i.. */
    bool full[SHAPE_TERMS + 1]; /* terms i.. reach every multiple of the divisor up to reach */
} shape_equation;

static void shape_term(shape_equation *e, int64_t step, int64_t most) {
    int k = e->n;
    /* A term that is always 0 says nothing. Terms of one step are one term. */
    if (most <= 0 || step == 0) return;
    for (int i = 0; i < e->n; i++) {
        if (e->step[i] == step) {
            e->most[i] += most;
            return;
        }
    }
    /* Insertion by falling step. */
    for (; k > 0 && e->step[k - 1] < step; k--) {
        e->step[k] = e->step[k - 1];
        e->most[k] = e->most[k - 1];
    }
    e->step[k] = step;
    e->most[k] = most;
    e->n++;
}

static int64_t shape_gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Fills reach, divisor and full; false when a sum overflows. */
static bool shape_sums(shape_equation *e) {
    e->reach[e->n] = 0;
    e->divisor[e->n] = 0;
    e->full[e->n] = true;
    /* From the smallest step upwards: term i with all that come after it. */
    for (int i = e->n - 1; i >= 0; i--) {
        int64_t part;
        if (!tni_mul(e->step[i], e->most[i], &part) ||
            !tni_add(part, e->reach[i + 1], &e->reach[i]))
            return false;
        e->divisor[i] = shape_gcd(e->step[i], e->divisor[i + 1]);
        /* the multiples of the old divisor below shift by steps of the new term without a gap */
        e->full[i] = e->full[i + 1] &&
                     e->divisor[i] == (i + 1 < e->n ? e->divisor[i + 1] : e->step[i]) &&
                     e->step[i] - e->divisor[i] <= e->reach[i + 1];
    }
    return true;
}

/* The smallest x >= from with step * x = want modulo m, and in *every how far the next one lies;
 * want is a multiple of the greatest common divisor of step and m. */
static int64_t shape_congruent(int64_t step, int64_t want, int64_t m, int64_t from,
                               int64_t *every) {
    int64_t a = step % m, b = m, x = 1, y = 0, product = 0;
    while (b) { /* extended Euclid: a = step * x modulo m at the end, x within m */
        int64_t q = a / b, r = a % b, z = x - q * y;
        a = b;
        b = r;
        x = y;
        y = z;
    }
    *every = m / a;
    x %= *every;
    if (x < 0) x += *every;
    for (int64_t k = want / a % *every; k;
         k >>= 1) { /* product = x * want / a modulo every, by doubling */
        if (k & 1) product = product >= *every - x ? product - (*every - x) : product + x;
        x = x >= *every - x ? x - (*every - x) : x + x;
    }
    return product >= from ? product : product + (from - product + *every - 1) / *every * *every;
}

static bool shape_meets(shape_equation *e, int i, int64_t want) {
    int64_t low, high, x, every = 1;
    /* Out of reach, or no multiple of what the steps are multiples of. */
    if (want < 0 || want > e->reach[i] || (e->divisor[i] ? want % e->divisor[i] : want) != 0)
        return false;
    if (e->full[i] || e->tries <= 0) return true;
    /* x of term i must leave a rest that the terms behind it reach: between low and high, and in
     * one residue class modulo their divisor. */
    low = want > e->reach[i + 1] ? (want - e->reach[i + 1] + e->step[i] - 1) / e->step[i] : 0;
    high = want / e->step[i] < e->most[i] ? want / e->step[i] : e->most[i];
    x = shape_congruent(e->step[i], want, e->divisor[i + 1], low, &every);
    for (; x <= high; x += every) {
        if (shape_meets(e, i + 1, want - e->step[i] * x)) return true;
        if (--e->tries <= 0) return true;
    }
    return false;
}

static bool shape_solve(shape_equation *e, int64_t want) {
    e->tries = SHAPE_TRIES;
    return !shape_sums(e) || shape_meets(e, 0, want);
}

TN_PRIV bool tni_extent(const tn_tensor *t, int64_t *bytes) {
    int64_t last = 0, step;
    if (t->numel == 0) {
        *bytes = 0;
        return true;
    }
    /* The last element's place bounds the extent: strides are not negative. */
    for (int i = 0; i < t->ndim; i++)
        if (t->stride[i] < 0 || !tni_mul(t->size[i] - 1, t->stride[i], &step) ||
            !tni_add(last, step, &last))
            return false;
    return tni_add(last, 1, &last) && tni_bytes(last, tni_dtype_size(t), bytes);
}

/* Element a(x) begins at A + sum(s x), b(y) at B + sum(r y); bytes meet when A + sum(s x) + p = B
 * + sum(r y) + q.
 * With y and q counted from their ends all signs are one. */
TN_PRIV bool tni_overlap(const tn_tensor *a, const tn_tensor *b) {
    int64_t wa = tni_dtype_size(a), wb = tni_dtype_size(b), ea, eb, apart;
    shape_equation e;
    /* No bytes, no overlap: empty, without data, in other memory. */
    if (!a->numel || !b->numel || !a->storage || !b->storage || a->device != b->device)
        return false;
    if (!a->storage->data || !b->storage->data) return false;
    if (!tni_extent(a, &ea) || !tni_extent(b, &eb)) return a->storage == b->storage;
    /* Extents that do not meet decide most calls. */
    apart = (int64_t)((intptr_t)tni_bytes_at(b) - (intptr_t)tni_bytes_at(a)); /* B - A */
    if (apart >= ea || apart <= -eb) return false;
    /* Unknowns: the indices of a, those of b counted from their ends, and the bytes within
     * two elements. */
    e.n = 0;
    for (int i = 0; i < a->ndim; i++) shape_term(&e, a->stride[i] * wa, a->size[i] - 1);
    for (int i = 0; i < b->ndim; i++) shape_term(&e, b->stride[i] * wb, b->size[i] - 1);
    shape_term(&e, 1, wa - 1 + wb - 1);
    return shape_solve(&e, apart + eb - 1);
}

/* Two index vectors x != y meet when sum(s (x - y)) = 0. Let k be the dimension of the largest
 * stride where they
 * differ, d = x - y > 0 there: s_k + s_k (d_k - 1) + sum over smaller of s_j d_j = 0, d_j from
 * -(n_j - 1) on. */
TN_PRIV bool tni_overlaps_itself(const tn_tensor *t) {
    int order[TN_MAX_DIMS], n = 0;
    int64_t reach = 0, part;
    bool clear = true;
    if (t->numel <= 1 || t->flags & TNI_CONTIGUOUS) return false;
    for (int i = 0; i < t->ndim; i++) { /* by rising stride */
        int k = n;
        if (t->size[i] == 1) continue;
        if (t->stride[i] == 0) return true;
        for (; k > 0 && t->stride[order[k - 1]] > t->stride[i]; k--) order[k] = order[k - 1];
        order[k] = i;
        n++;
    }
    /* clear: each stride exceeds all that smaller ones reach, so no two elements can meet. */
    for (int k = 0; k < n; k++) {
        int d = order[k];
        clear = clear && t->stride[d] > reach;
        if (!tni_mul(t->stride[d], t->size[d] - 1, &part) || !tni_add(reach, part, &reach))
            return true;
    }
    /* One equation for each dimension that may be the largest where x and y differ. */
    for (int k = n - 1; k > 0 && !clear; k--) {
        int d = order[k];
        int64_t want = -t->stride[d];
        shape_equation e;
        e.n = 0;
        shape_term(&e, t->stride[d], t->size[d] - 2);
        for (int j = 0; j < k; j++) {
            /* d_j runs from -most to most; shifted by most it is a term of 0 .. 2 most. */
            int64_t most = t->size[order[j]] - 1;
            shape_term(&e, t->stride[order[j]], 2 * most);
            want += t->stride[order[j]] * most;
        }
        if (shape_solve(&e, want)) return true;
    }
    return false;
}
