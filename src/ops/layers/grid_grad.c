/* grid_grad.c - the gradients of grid_sample: compositions of taps, so that gradients of any order
 * follow. */
#include "grid.h"
#include "../shape/geometry.h"
#include "../../call/arguments.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/indexing.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"

/* One dimension of n elements: the taps that a place reads, their numbers as floats, their weights
 * and the slopes of these by the position; how far the position moves for a step of the grid, and
 * moves, by which that is multiplied: 0 where a clamped position stands still, -1 where it is
 * mirrored; NULL: 1 everywhere. Tensors (N, L). */
enum { GRID_TAPS = 4 };
typedef struct grid_axis {
    int64_t n;
    int taps;
    double scale;
    tn_tensor *at[GRID_TAPS], *weight[GRID_TAPS], *slope[GRID_TAPS], *moves;
} grid_axis;

/* --- places ----------------------------------------------------------------------------------- */

/* times x + more. */
static tn_tensor *grid_line(tn_tensor *x, double times, double more) {
    return tnp_add_scalar(tnp_mul_scalar(x, tn_float(times)), tn_float(more), 1);
}
static tn_tensor *grid_product(tn_tensor *a, tn_tensor *b) { return a ? tnp_mul(a, b) : b; }
/* 1 where the condition holds, else `other`. */
static tn_tensor *grid_choice(const tn_tensor *like, tn_tensor *condition, double other) {
    return tnp_to_dtype(tnp_where_scalars(condition, tn_float(1), tn_float(other)),
                        (tn_dtype)like->dtype, false, false);
}
/* Positions beyond the ends, mirrored at these as often as it takes; *moves: which way. */
static tn_tensor *grid_mirror(tn_tensor *p, int64_t n, bool align_corners, tn_tensor **moves) {
    const double low = align_corners ? 0 : -0.5, span = (double)(align_corners ? n - 1 : n);
    tn_tensor *in, *rest, *odd, *even, *ahead;
    if (!p || span <= 0) return *moves = tnp_mul_scalar(p, tn_float(0));
    in = tnp_add_scalar(p, tn_float(-low), 1);
    ahead = grid_choice(p, tnp_ge_scalar(in, tn_float(0)), -1);
    in = tnp_abs(in);
    rest = tnp_fmod_scalar(in, tn_float(span));
    odd = tnp_remainder_scalar(tnp_floor(tnp_div_scalar(in, tn_float(span))), tn_float(2));
    even = tnp_eq_scalar(odd, tn_float(0));
    *moves = tnp_mul(ahead, grid_choice(p, even, -1));
    return tnp_where(even, tnp_add_scalar(rest, tn_float(low), 1), grid_line(rest, -1, span + low));
}
/* A position as padding_mode wants it: zeros leave it where it is. Clamped ones do not move. */
static tn_tensor *grid_inside(tn_tensor *p, int64_t n, const tn_grid_sample_args *a,
                              tn_tensor **moves) {
    tn_tensor *within;
    *moves = NULL;
    if (a->padding_mode == TN_GRID_PADDING_ZEROS || !p) return p;
    if (a->padding_mode == TN_GRID_PADDING_REFLECTION)
        p = grid_mirror(p, n, a->align_corners, moves);
    if (!p) return NULL;
    within =
        tnp_logical_and(tnp_gt_scalar(p, tn_float(0)), tnp_lt_scalar(p, tn_float((double)(n - 1))));
    *moves = grid_product(*moves, grid_choice(p, within, 0));
    return tnp_clamp(p, tn_float(0), tn_float((double)(n - 1)));
}

/* --- taps ------------------------------------------------------------------------------------- */

/* a x^3 + b x^2 + c x + d. */
static tn_tensor *grid_polynomial(tn_tensor *x, double a, double b, double c, double d) {
    tn_tensor *y = grid_line(x, a, b);
    y = tnp_add_scalar(tnp_mul(y, x), tn_float(c), 1);
    return tnp_add_scalar(tnp_mul(y, x), tn_float(d), 1);
}
/* Tap i of the cubic convolution with A = -0.75, `part` behind tap 1. */
static void grid_cubic(grid_axis *x, int i, tn_tensor *part) {
    const double a = -0.75, sign = i < 2 ? 1 : -1;
    tn_tensor *d = i < 2 ? tnp_add_scalar(part, tn_float(1 - i), 1) : grid_line(part, -1, i - 1);
    if (i == 0 || i == 3) {
        x->weight[i] = grid_polynomial(d, a, -5 * a, 8 * a, -4 * a);
        x->slope[i] = grid_polynomial(d, 0, sign * 3 * a, sign * -10 * a, sign * 8 * a);
    } else {
        x->weight[i] = grid_polynomial(d, a + 2, -(a + 3), 0, 1);
        x->slope[i] = grid_polynomial(d, 0, sign * 3 * (a + 2), sign * -2 * (a + 3), 0);
    }
}
static void grid_taps(grid_axis *x, tn_tensor *c, int64_t n, const tn_grid_sample_args *a) {
    tn_tensor *p, *first, *part, *still;
    x->n = n;
    x->moves = NULL;
    x->scale = a->align_corners ? (double)(n - 1) / 2 : (double)n / 2;
    x->taps = a->mode == TN_GRID_MODE_NEAREST ? 1 : a->mode == TN_GRID_MODE_BILINEAR ? 2 : 4;
    /* NaN and positions that are far away stand where the forward puts them (grid_place.inl). */
    if (a->mode != TN_GRID_MODE_BICUBIC && a->padding_mode != TN_GRID_PADDING_ZEROS)
        c = tnp_masked_fill_scalar(c, tnp_isnan(c), tn_float(-1));
    p = tnp_mul_scalar(tnp_add_scalar(c, tn_float(1), 1), tn_float(x->scale));
    if (!a->align_corners) p = tnp_add_scalar(p, tn_float(-0.5), 1);
    p = tnp_clamp(p, tn_float(-(double)(1 << 30)), tn_float(1 << 30));
    if (a->mode != TN_GRID_MODE_BICUBIC) p = grid_inside(p, n, a, &x->moves);
    if (a->mode == TN_GRID_MODE_NEAREST) {
        x->at[0] = tnp_round(p);
        x->weight[0] = x->slope[0] = NULL;
        return;
    }
    first = tnp_floor(p);
    part = tnp_sub(p, first, 1);
    if (a->mode == TN_GRID_MODE_BILINEAR) {
        x->at[0] = first;
        x->at[1] = tnp_add_scalar(first, tn_float(1), 1);
        x->weight[0] = tnp_sub(x->at[1], p, 1);
        x->weight[1] = part;
        x->slope[0] = tnp_full_like(first, tn_float(-1), TN_NO_DTYPE, TN_NO_DEVICE);
        x->slope[1] = tnp_full_like(first, tn_float(1), TN_NO_DTYPE, TN_NO_DEVICE);
        return;
    }
    for (int i = 0; i < 4; i++) {
        x->at[i] = grid_inside(tnp_add_scalar(first, tn_float(i - 1), 1), n, a, &still);
        grid_cubic(x, i, part);
    }
}
/* Numbers of elements in a plane, of taps tap[] of all dimensions; `none` where one is outside. */
static tn_tensor *grid_flat(const grid_axis *axis, int dims, const int tap[3], int64_t none) {
    tn_tensor *flat = NULL, *inside = NULL;
    for (int k = dims - 1; k >= 0; k--) {
        tn_tensor *at = axis[k].at[tap[k]];
        tn_tensor *in = tnp_logical_and(tnp_ge_scalar(at, tn_float(0)),
                                        tnp_le_scalar(at, tn_float((double)(axis[k].n - 1))));
        at = tnp_to_dtype(tnp_where_scalar(in, at, tn_float(0)), TN_I64, false, false);
        flat = flat ? tnp_add(tnp_mul_scalar(flat, tn_int(axis[k].n)), at, 1) : at;
        inside = inside ? tnp_logical_and(inside, in) : in;
    }
    return tnp_where_scalar(inside, flat, tn_int(none));
}

/* --- gradients -------------------------------------------------------------------------------- */

/* What the gradients are made of, and the sums so far: x, of planes with a 0 behind each, (N, C, n
 * + 1); d (N, C, L); by[k] (N, L). */
typedef struct grid_sums {
    tn_tensor *x, *d, *to_x, *by[3];
    grid_axis axis[3];
    int dims;
    int64_t none;
} grid_sums;

/* The product of the weights of taps tap[], where dimension `slope` has its slope instead. */
static tn_tensor *grid_weight(const grid_sums *s, const int tap[3], int slope) {
    tn_tensor *w = NULL;
    for (int k = 0; k < s->dims; k++) {
        const grid_axis *x = &s->axis[k];
        tn_tensor *one = k == slope ? x->slope[tap[k]] : x->weight[tap[k]];
        w = one ? grid_product(w, one) : w;
    }
    return w;
}
/* What taps tap[] add. */
static bool grid_add(grid_sums *s, const int tap[3]) {
    const int64_t channel_dim = 1;
    tn_tensor *flat = tnp_unsqueeze(grid_flat(s->axis, s->dims, tap, s->none), 1), *v,
              *w = grid_weight(s, tap, -1);
    if (!flat || !s->d) return false;
    flat = tnp_expand(flat, tni_sizes(s->d), false);
    if (s->to_x) {
        v = w ? tnp_mul(s->d, tnp_unsqueeze(w, 1)) : s->d;
        s->to_x = tnp_scatter_add(s->to_x, 2, flat, v);
        if (!s->to_x) return false;
    }
    if (!s->x || !s->axis[0].slope[0]) return true;
    v = tnp_sum(tnp_mul(s->d, tnp_gather(s->x, 2, flat, false)), tni_ints(&channel_dim, 1), false,
                TN_NO_DTYPE);
    for (int k = 0; k < s->dims; k++) {
        tn_tensor *part = tnp_mul(v, grid_weight(s, tap, k));
        s->by[k] = s->by[k] ? tnp_add(s->by[k], part, 1) : part;
        if (!s->by[k]) return false;
    }
    return true;
}
static bool grid_add_all(grid_sums *s) {
    int tap[3] = {0, 0, 0};
    for (bool more = true; more;) {
        if (!grid_add(s, tap)) return false;
        /* The next of all combinations. */
        more = false;
        for (int k = 0; k < s->dims && !more; k++) {
            more = ++tap[k] < s->axis[k].taps;
            if (!more) tap[k] = 0;
        }
    }
    return true;
}
/* The grid's: along each dimension, in the grid's shape. */
static tn_tensor *grid_of_sums(grid_sums *s, tn_tensor *grid) {
    if (!s->axis[0].slope[0]) return tnp_zeros_like(grid, TN_NO_DTYPE, TN_NO_DEVICE);
    for (int k = 0; k < s->dims; k++) {
        s->by[k] = tnp_mul_scalar(s->by[k], tn_float(s->axis[k].scale));
        if (s->axis[k].moves) s->by[k] = tnp_mul(s->by[k], s->axis[k].moves);
        if (!s->by[k]) return NULL;
    }
    return tnp_reshape(tnp_stack(tn_tensors_of(s->by, s->dims), 2), tni_sizes(grid));
}
static tn_tensor *grid_wide(tn_tensor *t) { /* 16-bit floats are computed in float */
    return t && tni_dtype_size(t) == 2 ? tnp_to_dtype(t, TN_F32, false, false) : t;
}
static void grid_give(tn_gradient *g, int i, tn_tensor *t, tn_dtype dtype) {
    tn_give(g, i, t && t->dtype != (int)dtype ? tnp_to_dtype(t, dtype, false, false) : t);
}
TN_PRIV void tni_grid_sample_grad(tn_gradient *g) {
    TN_ARGS(grid_sample, a, g);
    tn_tensor *x = g->in[0], *grid = g->in[1], *places, *pair[2], *whole;
    const tn_dtype dtype = (tn_dtype)x->dtype;
    const int dims = x->ndim - 2;
    grid_sums s;
    int64_t count = 1;
    memset(&s, 0, sizeof s);
    s.dims = dims;
    s.none = 1;
    for (int i = 0; i < dims; i++) {
        s.none *= x->size[2 + i]; /* of tensors: the products are checked */
        count *= grid->size[1 + i];
    }
    const int64_t flat[3] = {x->size[0], count, dims}, zero[3] = {x->size[0], x->size[1], 1},
                  planes[3] = {x->size[0], x->size[1], s.none},
                  sums[3] = {x->size[0], x->size[1], s.none + 1},
                  out[3] = {x->size[0], x->size[1], count};
    grid = grid_wide(grid);
    s.d = tnp_reshape(grid_wide(g->incoming[0]), tni_ints(out, 3));
    places = tnp_reshape(grid, tni_ints(flat, 3));
    if (!s.d || !places) return;
    /* The grid says x, y, z; dimension k of axis is the k-th from the last. */
    for (int k = 0; k < dims; k++)
        grid_taps(&s.axis[k], tnp_select(places, 2, k), x->size[dims + 1 - k], a);
    if (g->want[1]) {
        pair[0] = tnp_reshape(grid_wide(x), tni_ints(planes, 3));
        pair[1] = tni_zeros_of(s.d, 3, zero);
        s.x = pair[0] && pair[1] ? tnp_cat(tn_tensors_of(pair, 2), 2) : NULL;
        if (!s.x) return;
    }
    if (g->want[0] && !(s.to_x = tni_zeros_of(s.d, 3, sums))) return;
    if (!grid_add_all(&s)) return;
    if (g->want[0]) {
        whole = tnp_reshape(tnp_slice(s.to_x, 2, 0, s.none, 1), tni_sizes(x));
        grid_give(g, 0, whole, dtype);
    }
    if (g->want[1]) grid_give(g, 1, grid_of_sums(&s, grid), dtype);
}
