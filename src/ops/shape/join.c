/* join.c - tensors behind each other, repeated, reversed, rotated.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "copy.h"
#include "geometry.h"
#include "../../call/arguments.h"
#include "../../cpu/walk.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

/* --- cat, stack ------------------------------------------------------------------------------- */

/* torch's old rule: a 1-D tensor without elements fits everything. */
static bool join_skips(const tn_tensor *t) { return t->ndim == 1 && t->size[0] == 0; }

/* The common dtype, and the first tensor that counts for shapes: the others must match it. */
static bool cat_common(tn_frame *f, tn_dtype *dtype, const tn_tensor **first) {
    if (f->nin == 0)
        return tn_fail(f, TN_INVALID, "torch.cat(): expected a non-empty list of Tensors");
    *dtype = TN_NO_DTYPE;
    *first = NULL;
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        if (t->ndim == 0)
            return tn_fail(f, TN_INVALID,
                           "zero-dimensional tensor (at position %d) cannot be concatenated", i);
        *dtype = *dtype ? tn_promote(*dtype, (tn_dtype)t->dtype) : (tn_dtype)t->dtype;
        if (!*dtype) return tn_fail(f, TN_TYPE, "cat: the tensors have no common dtype");
        if (!*first && !join_skips(t)) *first = t;
    }
    if (!*first) *first = f->in[0];
    return true;
}
/* s becomes the result's shape: first's sizes, and along d the sum of all tensors' sizes. */
static bool cat_sizes(tn_frame *f, const tn_tensor *first, int d, tni_shape *s) {
    char has[160], wants[160];
    s->ndim = first->ndim;
    memcpy(s->size, first->size, sizeof(int64_t) * (size_t)s->ndim);
    s->size[d] = 0;
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        bool fits = t->ndim == s->ndim;
        if (join_skips(t)) continue;
        /* Equal in all dimensions but d. */
        for (int k = 0; fits && k < s->ndim; k++) fits = k == d || t->size[k] == first->size[k];
        if (!fits)
            return tn_fail(
                f, TN_INVALID,
                "Sizes of tensors must match except in dimension %d. Expected %s but got %s for "
                "tensor number %d in the list",
                d, tni_shape_text(wants, sizeof wants, first->ndim, first->size),
                tni_shape_text(has, sizeof has, t->ndim, t->size), i);
        if (!tni_add(s->size[d], t->size[d], &s->size[d]))
            return tn_fail(f, TN_INVALID, "the result is too large");
    }
    return true;
}
/* Whether all tensors are channels-last: then the result is as well. */
static bool cat_is_channels_last(const tn_frame *f, const tn_tensor *first) {
    for (int i = 0; i < f->nin; i++)
        if (f->in[i]->ndim != first->ndim || !tni_like_channels_last(f->in[i])) return false;
    return true;
}
static bool cat_check(tn_frame *f) {
    TN_ARGS(cat, a, f);
    const tn_tensor *first = NULL;
    tn_dtype dtype = TN_NO_DTYPE;
    tni_shape s;
    int d;
    TN_NOTE(tni_dim_note, note, f);
    if (!cat_common(f, &dtype, &first)) return false;
    /* torch takes any dim where every tensor has shape (0). */
    if (join_skips(first))
        d = 0;
    else if (!tni_dim_of(f, first->ndim, a->dim, &d))
        return false;
    if (!cat_sizes(f, first, d, &s)) return false;
    note->dim = d;
    return cat_is_channels_last(f, first)
               ? tni_announce_images(f, 0, dtype, s.ndim, s.size, first, true)
               : tn_announce(f, 0, dtype, s.ndim, s.size);
}
static void cat_run(tn_frame *f) {
    tn_tensor *out = f->out[0], part;
    int64_t at = out->offset;
    TN_NOTE(tni_dim_note, note, f);
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        if (t->numel == 0) continue;
        /* The part of out that t fills: t's sizes in out's strides, from place `at` on. */
        tni_stack_view(&part, out, t->ndim, t->size, out->stride, at);
        tni_copy_elements(f->block, &part, t);
        at += t->size[note->dim] * out->stride[note->dim];
    }
}
/* Each tensor's gradient is the piece of what came in at which it lies. */
static void cat_grad(tn_gradient *g) {
    TN_ARGS(cat, a, g);
    int64_t at = 0;
    int d = tni_dim(g->out[0]->ndim, a->dim);
    for (int i = 0; i < g->nin; i++) {
        int64_t n = join_skips(g->in[i]) ? 0 : g->in[i]->size[d];
        /* A skipped tensor has shape (0), whatever the result's. */
        if (g->want[i] && join_skips(g->in[i]))
            tn_give(g, i, tni_zeros_of(g->incoming[0], 1, &n));
        else if (g->want[i])
            tn_give(g, i, tnp_slice(g->incoming[0], d, at, at + n, 1));
        at += n;
    }
}
/* The tensors one behind the other along dim. Their other sizes must agree; dtypes are promoted. */
TN_OPERATOR(cat, "cat(Tensor[] tensors, int dim=0) -> Tensor",
            TN_DOC(.shapes = "tensors (n1, m), (n2, m) -> (n1 + n2, m)",
                   .example = "tn_cat(TN_LIST(x, y), .dim = 0)"),
            .forms = TN_OUT | TN_MOVES | TN_LEADING, .autocast = TN_WIDEST_CPU, .check = cat_check,
            .run = cat_run, .grad = cat_grad,
            .sample = "{(2,3),(1,3)} | {(2,3),(2,1),(2,2)} dim=1 | {(4)} | {(2,0),(2,3)} dim=-1 | "
                      "{(0),(2,3)} | {(2,3):f32,(1,3):i64} | "
                      "{(40,9),(3,9)}")

static bool stack_compose(tn_frame *f) {
    TN_ARGS(stack, a, f);
    tn_tensor *room, **part;
    int64_t n = f->nin;
    char has[160], wants[160];
    if (n == 0) return tn_fail(f, TN_INVALID, "stack expects a non-empty TensorList");
    for (int i = 1; i < f->nin; i++)
        if (!tni_same_shape(f->in[i], f->in[0]))
            return tn_fail(f, TN_INVALID,
                           "stack expects each tensor to be equal size, but got %s at entry 0 and "
                           "%s at entry %d",
                           tni_shape_text(wants, sizeof wants, f->in[0]->ndim, f->in[0]->size),
                           tni_shape_text(has, sizeof has, f->in[i]->ndim, f->in[i]->size), i);
    /* n pointers in the memory of a tensor of the scope, which frees it on every way out. */
    room = tni_new(f->block, TN_I64, 1, &n);
    if (!room) return false;
    part = (tn_tensor **)room->storage->data;
    /* A view of each with the new dimension, then cat along it. */
    for (int i = 0; i < f->nin; i++)
        if (!(part[i] = tnp_unsqueeze(f->in[i], a->dim))) return false;
    return (f->out[0] = tnp_cat(tn_tensors_of(part, n), a->dim)) != NULL;
}
/* Tensors of one shape, one behind the other along a new dimension. */
TN_OPERATOR(
    stack, "stack(Tensor[] tensors, int dim=0) -> Tensor",
    TN_DOC(.shapes = "tensors (3), (3) -> (2, 3)", .example = "tn_stack(TN_LIST(x, y))"),
    .forms = TN_OUT, .autocast = TN_WIDEST_CPU, .compose = stack_compose,
    .sample = "{(2,3),(2,3)} | {(2,3),(2,3),(2,3)} dim=1 | {(2),(2)} dim=-1 | {(),()} | {(0),(0)}",
    .node = "StackBackward0")

/* --- repeat ----------------------------------------------------------------------------------- */

/* self and its repetitions as one shape: sizes (r0, s0, r1, s1, ..) without each r that is 1.
 * repeated[i]: dimension i is an r. Returns how many dimensions that makes; -1: too many. */
static int repeat_pairs(const tn_tensor *self, tn_ints repeats, int64_t *size, bool *repeated) {
    int n = 0, more = (int)repeats.n - self->ndim;
    for (int i = 0; i < (int)repeats.n; i++) {
        /* New dimensions in front are repetitions alone, even of 1. */
        if (repeats.at[i] != 1 || i < more) {
            if (n == TN_MAX_DIMS) return -1;
            repeated[n] = true;
            size[n++] = repeats.at[i];
        }
        if (i < more) continue;
        if (n == TN_MAX_DIMS) return -1;
        repeated[n] = false;
        size[n++] = self->size[i - more];
    }
    return n;
}
static bool repeat_check(tn_frame *f) {
    TN_ARGS(repeat, a, f);
    tn_tensor *self = f->in[0];
    int64_t size[TN_MAX_DIMS], pairs[TN_MAX_DIMS];
    bool repeated[TN_MAX_DIMS];
    int n = (int)a->repeats.n, more;
    if (!tni_dims_given(f, a->repeats, "repeats")) return false;
    more = n - self->ndim;
    if (more < 0)
        return tn_fail(f, TN_INVALID,
                       "Number of dimensions of repeat dims can not be smaller than number of "
                       "dimensions of tensor");
    /* Missing dimensions in front count as 1. */
    for (int i = 0; i < n; i++) {
        if (a->repeats.at[i] < 0)
            return tn_fail(f, TN_INVALID, "repeats: %lld is negative", (long long)a->repeats.at[i]);
        if (!tni_mul(a->repeats.at[i], i < more ? 1 : self->size[i - more], &size[i]))
            return tn_fail(f, TN_INVALID, "the result is too large");
    }
    /* run copies in the shape of pairs, which must have no more dimensions than a tensor may. */
    if (repeat_pairs(self, a->repeats, pairs, repeated) < 0)
        return tn_fail(f, TN_UNSUPPORTED,
                       "repeat: expected at most %d repeated and unrepeated dimensions together",
                       TN_MAX_DIMS);
    return tn_announce(f, 0, (tn_dtype)self->dtype, n, size);
}
static void repeat_run(tn_frame *f) {
    TN_ARGS(repeat, a, f);
    tn_tensor *self = f->in[0], *out = f->out[0], to, from;
    int64_t size[TN_MAX_DIMS], to_stride[TN_MAX_DIMS], from_stride[TN_MAX_DIMS];
    bool repeated[TN_MAX_DIMS];
    int n = repeat_pairs(self, a->repeats, size, repeated), d = 0;
    if (out->numel == 0) return;
    tni_row_major(n, size, to_stride);
    /* self in that shape: stride 0 along each repetition. out in it is row-major. */
    for (int i = 0; i < n; i++) from_stride[i] = repeated[i] ? 0 : self->stride[d++];
    tni_stack_view(&to, out, n, size, to_stride, out->offset);
    tni_stack_view(&from, self, n, size, from_stride, self->offset);
    tni_copy_elements(f->block, &to, &from);
}
/* The sum over the repetitions: reshaped to pairs, summed along each r. */
static void repeat_grad(tn_gradient *g) {
    TN_ARGS(repeat, a, g);
    int64_t size[TN_MAX_DIMS], dims[TN_MAX_DIMS];
    bool repeated[TN_MAX_DIMS];
    int n = repeat_pairs(g->in[0], a->repeats, size, repeated), k = 0;
    tn_tensor *d = tnp_reshape(g->incoming[0], tni_ints(size, n));
    for (int i = 0; i < n; i++)
        if (repeated[i]) dims[k++] = i;
    if (k) d = tnp_sum(d, tni_ints(dims, k), false, TN_NO_DTYPE);
    tn_give(g, 0, d);
}
static tn_tensor *repeat_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(repeat, a, f);
    int64_t times[TN_MAX_DIMS + 1] = {1};
    tn_tensor *x = tni_whole_align(whole[0], f->in[0]->ndim, (int)a->repeats.n);
    if (!x || a->repeats.n >= TN_MAX_DIMS) return NULL;
    memcpy(times + 1, a->repeats.at, (size_t)a->repeats.n * sizeof *times);
    return tnp_repeat(x, tni_ints(times, a->repeats.n + 1));
}
/* self repeated repeats[i] times along dimension i; more repeats than dimensions add
 * dimensions in front. */
TN_OPERATOR(
    repeat, "repeat(Tensor self, int[] repeats) -> Tensor",
    TN_DOC(.shapes = "self (2, 3) -> (4, 3)", .example = "tn_repeat(x, TN_DIMS(2, 1))"),
    .forms = TN_OUT | TN_MOVES, .check = repeat_check, .run = repeat_run, .grad = repeat_grad,
    .sample =
        "(2,3) [2,1] | (3) [2,2] | () [3] | (2,3) [1,1] | (2,3) [0,1] | (0) [2] | (2) [3,1,2]",
    .batched = TN_BATCHED(repeat_batched))

/* --- flip, roll ------------------------------------------------------------------------------- */

static bool flip_check(tn_frame *f) {
    TN_ARGS(flip, a, f);
    tn_tensor *self = f->in[0];
    bool seen[TN_MAX_DIMS] = {false};
    tni_shape s;
    if (!tni_dims_given(f, a->dims, "dims")) return false;
    for (int64_t i = 0; i < a->dims.n; i++) {
        int d;
        if (!tni_dim_of(f, self->ndim, a->dims.at[i], &d)) return false;
        if (seen[d])
            return tn_fail(f, TN_INVALID, "dim %d appears multiple times in the list of dims", d);
        seen[d] = true;
    }
    /* As torch, the result keeps self's order of dimensions. */
    tni_copy_strides(&s, self);
    return tn_announce_strided(f, 0, (tn_dtype)self->dtype, s.ndim, s.size, s.stride);
}
static void flip_run(tn_frame *f) {
    TN_ARGS(flip, a, f);
    tn_tensor *self = f->in[0], *out = f->out[0], back;
    const tn_tensor *pair[2];
    int64_t stride[TN_MAX_DIMS], offset = self->offset, bytes = tni_dtype_size(out);
    tni_walk w;
    if (out->numel == 0) return;
    memcpy(stride, self->stride, sizeof(int64_t) * (size_t)self->ndim);
    for (int64_t i = 0; i < a->dims.n && self->ndim; i++) {
        int d = tni_dim(self->ndim, a->dims.at[i]);
        /* The walk begins at the dimension's last element and goes backwards. */
        offset += (self->size[d] - 1) * stride[d];
        stride[d] = -stride[d];
    }
    /* Negative strides exist on this header alone; no tensor of the user's has them. */
    tni_stack_view(&back, self, self->ndim, self->size, stride, offset);
    pair[0] = out;
    pair[1] = &back;
    tni_walk_start(&w, out->ndim, out->size, pair, 2);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        tni_move_row(w.at[0], w.row[0], w.at[1], w.row[1], w.n, bytes);
}
static void flip_grad(tn_gradient *g) {
    TN_ARGS(flip, a, g);
    tn_give(g, 0, tnp_flip(g->incoming[0], a->dims));
}
/* A copy with the order of elements reversed along the given dimensions. */
TN_OPERATOR(flip, "flip(Tensor self, int[] dims) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_flip(x, TN_DIMS(0))"),
            .forms = TN_OUT | TN_LEADING, .check = flip_check, .run = flip_run, .grad = flip_grad,
            .sample = "(3) [0] | (2,3) [1] | (2,3) [0,-1] | (2,3,4) [1] | () [] | (2,3) [] | (0,2) "
                      "[0] | (5):i16 [0]")

/* t rolled along one dimension: its last `shift` places come first. A shift may be negative or
 * larger than the size. */
static tn_tensor *roll_one(tn_tensor *t, int64_t shift, int64_t dim) {
    tn_tensor *part[2];
    int64_t n, at;
    if (!t) return NULL;
    if (t->ndim == 0 || t->numel == 0) return tnp_clone(t, (tn_memory_format)0);
    n = t->size[tni_dim(t->ndim, dim)];
    at = (n - shift % n) % n;
    part[0] = tnp_slice(t, dim, at, TN_NONE, 1);
    part[1] = tnp_slice(t, dim, 0, at, 1);
    return part[0] && part[1] ? tnp_cat(tn_tensors_of(part, 2), dim) : NULL;
}
static bool roll_compose(tn_frame *f) {
    TN_ARGS(roll, a, f);
    static const int64_t all[1] = {-1};
    tn_tensor *t = f->in[0];
    int d;
    if (!tni_dims_given(f, a->shifts, "shifts") || !tni_dims_given(f, a->dims, "dims"))
        return false;
    if (a->shifts.n == 0) return tn_fail(f, TN_INVALID, "`shifts` required");
    /* Without dims: as a vector, then in the old shape. */
    if (a->dims.n == 0 && a->shifts.n == 1) {
        t = roll_one(tnp_reshape(t, tni_ints(all, 1)), a->shifts.at[0], 0);
        return (f->out[0] = tnp_reshape(t, tni_sizes(f->in[0]))) != NULL;
    }
    if (a->shifts.n != a->dims.n)
        return tn_fail(f, TN_INVALID, "shifts and dimensions must align. shifts: %lld, dims:%lld",
                       (long long)a->shifts.n, (long long)a->dims.n);
    if (f->in[0]->ndim == 0)
        return tn_fail(f, TN_INDEX, "Dimension specified as %lld but tensor has no dimensions",
                       (long long)a->dims.at[0]);
    /* One dimension after the other; each is a cat of two slices. */
    for (int64_t i = 0; i < a->dims.n; i++) {
        if (!tni_dim_of(f, f->in[0]->ndim, a->dims.at[i], &d)) return false;
        t = roll_one(t, a->shifts.at[i], d);
        if (!t) return false;
    }
    return (f->out[0] = t) != NULL;
}
/* Elements moved by shifts[i] places along dims[i]; those that leave at one end come in at the
 * other. Without dims the flattened tensor is rolled. */
TN_OPERATOR(
    roll, "roll(Tensor self, int[] shifts, int[] dims=[]) -> Tensor",
    TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_roll(x, TN_DIMS(1), .dims = TN_DIMS(0))"),
    .forms = TN_OUT, .compose = roll_compose,
    .sample = "(5) [2] [0] | (2,3) [1] | (2,3) [-1,4] [0,1] | (2,3) [0] [1] | (0,2) [1] [0]",
    .node = "RollBackward0")
