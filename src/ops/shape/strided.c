/* strided.c - views by explicit strides, the history of views that were written, and the parts of
 * complex numbers.
 *
 * Cold: no loop over elements (base/cold_begin.inl). */
#include "geometry.h"
#include "../indexing/index.h"
#include "../../call/arguments.h"
#include "../../cpu/walk.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

/* --- by strides ------------------------------------------------------------------------------- */

/* The lists of a call by strides: of one length, with strides and offset that stay within TNI_MOST,
 * so that products with sizes do not overflow further on. */
static bool as_strided_list(tn_frame *f, tn_ints size, tn_ints stride, int64_t offset) {
    char text[160];
    if (!tni_sizes_given(f, size, "size") || !tni_dims_given(f, stride, "stride")) return false;
    if (size.n != stride.n)
        return tn_fail(f, TN_INVALID, "mismatch in length of strides and shape");
    for (int64_t i = 0; i < stride.n; i++) {
        int64_t reach;
        if (!tni_mul(stride.at[i], size.at[i] > 1 ? size.at[i] : 1, &reach) || reach > TNI_MOST)
            return tn_fail(f, TN_INVALID, "as_strided: a stride of %lld is too large",
                           (long long)stride.at[i]);
        if (stride.at[i] < 0)
            return tn_fail(
                f, TN_INVALID,
                "as_strided: Negative strides are not supported at the moment, got strides: %s",
                tni_shape_text(text, sizeof text, (int)stride.n, stride.at));
    }
    return (offset >= 0 && offset <= TNI_MOST) ||
           tn_fail(f, TN_INVALID, "Tensor: invalid storage offset %lld", (long long)offset);
}
/* Elements from `offset` on that a geometry needs, 0 when it is empty; false: too many. */
static bool as_strided_extent(const tni_geometry *v, int64_t *extent) {
    int64_t last = v->offset, step;
    *extent = 0;
    for (int i = 0; i < v->ndim; i++)
        if (v->size[i] == 0) return true;
    for (int i = 0; i < v->ndim; i++)
        if (!tni_mul(v->size[i] - 1, v->stride[i], &step) || !tni_add(last, step, &last))
            return false;
    return tni_add(last, 1, extent);
}
/* Whether the geometry stays within `room` elements from the start of the memory. */
static bool as_strided_inside(tn_frame *f, const tni_geometry *v, int64_t room) {
    int64_t extent;
    char size[160], stride[160];
    if (as_strided_extent(v, &extent) && extent <= room) return true;
    return tn_fail(f, TN_INVALID,
                   "setStorage: sizes %s, strides %s, storage offset %lld are out of bounds for "
                   "storage of %lld "
                   "elements",
                   tni_shape_text(size, sizeof size, v->ndim, v->size),
                   tni_shape_text(stride, sizeof stride, v->ndim, v->stride), (long long)v->offset,
                   (long long)room);
}

/* Input and view of a strided call as geometries over one flat stretch of `extent` elements. If one
 * of them is complex and the other real (a view by real, view_as_real, view_as_complex), the
 * elements are real ones: self_pairs and view_pairs say whose last dimension is a pair. */
typedef struct strided_map {
    tni_geometry self, view;
    bool self_pairs, view_pairs;
    int64_t extent;
} strided_map;

/* The geometry of complex elements as one of real ones: a pair as the last dimension. */
static void strided_pairs(tni_geometry *v) {
    for (int i = 0; i < v->ndim; i++) v->stride[i] *= 2;
    v->offset *= 2;
    tni_geometry_insert(v, v->ndim, 2, 1);
}
static void strided_map_of(strided_map *m, const tn_tensor *self, tn_ints self_stride,
                           int64_t self_offset, tn_ints size, tn_ints stride, int64_t offset,
                           int view_dtype) {
    int64_t low, end[2];
    tni_geometry_of(&m->self, self);
    if (self_stride.n == self->ndim)
        for (int i = 0; i < self->ndim; i++) m->self.stride[i] = self_stride.at[i];
    m->self.offset = self_offset;
    m->view.ndim = (int)size.n;
    for (int i = 0; i < m->view.ndim; i++) {
        m->view.size[i] = size.at[i];
        m->view.stride[i] = stride.at[i];
    }
    m->view.offset = offset == TN_NONE ? self_offset : offset;
    m->self_pairs = tni_is_complex(self->dtype) && !tni_is_complex(view_dtype);
    m->view_pairs = tni_is_complex(view_dtype) && !tni_is_complex(self->dtype);
    if (m->self_pairs) strided_pairs(&m->self);
    if (m->view_pairs) strided_pairs(&m->view);
    low = m->self.offset < m->view.offset ? m->self.offset : m->view.offset;
    m->self.offset -= low;
    m->view.offset -= low;
    if (!as_strided_extent(&m->self, &end[0]) || !as_strided_extent(&m->view, &end[1]))
        end[0] = end[1] = 0;
    m->extent = end[0] > end[1] ? end[0] : end[1];
}
static tn_tensor *strided_part(tn_tensor *flat, const tni_geometry *v, bool pairs) {
    static const int64_t one[1] = {1};
    tn_tensor *t =
        flat ? tnp_as_strided(flat, tni_ints(v->size, v->ndim), tni_ints(v->stride, v->ndim),
                              flat->offset + v->offset, tni_ints(one, 1), flat->offset)
             : NULL;
    return t && pairs ? tnp_view_as_complex(tnp_contiguous(t)) : t;
}
static tn_tensor *strided_real(tn_tensor *t, bool pairs) {
    return t && pairs ? tnp_view_as_real(tnp_contiguous(t)) : t;
}

static bool strided_shows_twice(const tn_tensor *flat, const tni_geometry *v) { /* an element */
    tn_tensor shape;
    tni_stack_view(&shape, flat, v->ndim, v->size, v->stride, 0);
    return tni_overlaps_itself(&shape);
}
/* d written at v, summed where v shows an element twice. */
static tn_tensor *strided_sum(tni_block *b, tn_tensor *flat, tn_tensor *d, const tni_geometry *v) {
    if (!flat || !d) return NULL;
    if (!strided_shows_twice(flat, v)) return tni_place_at(b, flat, d, v);
    return tnp_as_strided_scatter(flat, d, tni_ints(v->size, v->ndim), tni_ints(v->stride, v->ndim),
                                  flat->offset + v->offset, tn_no_dims(), 0, true);
}

/* The share of each of self's elements of the flat stretch: an element that self
 * shows several times is one number, whose gradient they share. */
static tn_tensor *strided_shares(tni_block *b, tn_tensor *flat, const strided_map *m) {
    tn_tensor *part, *times;
    if (!flat) return NULL;
    part = strided_part(flat, &m->self, false);
    if (part && strided_shows_twice(flat, &m->self)) {
        times = tnp_ones_like(part, TN_NO_DTYPE, TN_NO_DEVICE);
        times = strided_sum(b, tni_zeros_of(flat, 1, &m->extent), times, &m->self);
        times = strided_part(times, &m->self, false);
        part = times ? tnp_div(part, times) : NULL;
    }
    return part && m->self_pairs ? tnp_view_as_complex(tnp_contiguous(part)) : part;
}

/* Passes self's layout on to the gradient. */
static bool as_strided_self(tn_frame *f, const tn_tensor *self, tn_ints stride, int64_t offset) {
    tni_geometry v;
    tni_geometry_of(&v, self);
    if (!as_strided_list(f, tni_sizes(self),
                         stride.n >= 0 ? stride : tni_ints(self->stride, self->ndim), offset))
        return false;
    for (int i = 0; i < self->ndim && stride.n >= 0; i++) v.stride[i] = stride.at[i];
    v.offset = offset;
    return (stride.n < 0 && offset == 0) ||
           as_strided_inside(f, &v, self->storage->bytes / tni_dtype_size(self));
}

static bool as_strided_check(tn_frame *f) {
    TN_ARGS(as_strided, a, f);
    tn_tensor *self = f->in[0];
    int64_t offset = a->storage_offset == TN_NONE ? self->offset : a->storage_offset;
    tni_geometry v;
    if (!as_strided_list(f, a->size, a->stride, offset) ||
        !as_strided_self(f, self, a->self_stride, a->self_offset))
        return false;
    v.ndim = (int)a->size.n;
    v.offset = offset;
    for (int i = 0; i < v.ndim; i++) {
        v.size[i] = a->size.at[i];
        v.stride[i] = a->stride.at[i];
    }
    /* The view may reach all of self's memory, not only self's elements. */
    if (!as_strided_inside(f, &v, self->storage->bytes / tni_dtype_size(self))) return false;
    /* A gradient sees self's sizes but not its strides; as_strided_short passes them on. */
    if (f->recording && a->self_stride.n < 0 &&
        !(self->flags & TNI_CONTIGUOUS && self->offset == 0))
        return tn_fail(
            f, TN_AUTOGRAD,
            "as_strided of a tensor that requires grad and is a view or not row-major needs "
            ".self_stride and .self_offset, or tn_clone first");
    return tni_announce_geometry(f, 0, &v);
}
static void as_strided_grad(tn_gradient *g) {
    TN_ARGS(as_strided, a, g);
    tn_tensor *d = g->incoming[0];
    strided_map m;
    strided_map_of(&m, g->in[0], a->self_stride, a->self_offset, a->size, a->stride,
                   a->storage_offset, d->dtype);
    d = strided_real(d, m.view_pairs);
    if (d)
        tn_give(g, 0,
                strided_shares(g->block,
                               strided_sum(g->block, tni_zeros_of(d, 1, &m.extent), d, &m.view),
                               &m));
}
/* The gradient sees no more of self than its sizes: a call that is recorded has the rest. */
static bool as_strided_short(const tn_row *row, unsigned how, const char *file, int line,
                             const void *args, void *results) {
    tn_as_strided_args a = *(const tn_as_strided_args *)args;
    const tn_tensor *x = a.self;
    const bool plain = x && x->flags & TNI_CONTIGUOUS && x->offset == 0;
    if (x && x->flags & TNI_REQUIRES && a.self_stride.n < 0 && !plain) {
        a.self_stride = tni_ints(x->stride, x->ndim);
        a.self_offset = x->offset;
    }
    return tni_view_short(row, how, file, line, &a, results);
}
/* A view of self's memory, whatever self's shape: element `index` is at storage_offset +
 * sum(stride[i] * index[i]). self_stride and self_offset tell the gradient how self lay in that
 * memory, by default as it lies now. */
TN_OPERATOR(as_strided,
            "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None, *, "
            "int[]? self_stride=None, "
            "int self_offset=0) -> Tensor(a)",
            TN_DOC(.shapes = "self (*) -> size",
                   .example = "tn_as_strided(x, TN_DIMS(3, 2), TN_DIMS(1, 1))"),
            .check = as_strided_check, .run = tni_run_nothing, .quick = as_strided_short,
            .grad = as_strided_grad,
            .sample = "(6) [2,3] [3,1] | (3,4) [2,2] [1,4] 5 | (6) [3,2] [1,1] | (4) [] [] 2 | (3) "
                      "[0,2] [1,1] | (2) [3] [0]")

/* The geometry of all pieces of `size` along a dimension, `step` apart; f NULL: checked before. A
 * tensor without dimensions counts as one with a single element. */
static bool unfold_to(tn_frame *f, const tn_unfold_args *a, const tn_tensor *self,
                      tni_geometry *v) {
    int64_t n = 1, stride = 1, step;
    int d = 0;
    if (f && !tni_dim_of(f, self->ndim, a->dimension, &d)) return false;
    if (self->ndim) {
        d = tni_dim(self->ndim, a->dimension);
        n = self->size[d];
        stride = self->stride[d];
    }
    if (f && a->size < 0)
        return tn_fail(f, TN_INVALID, "size is %lld but must be >= 0", (long long)a->size);
    if (f && a->size > n)
        return tn_fail(f, TN_INVALID,
                       "maximum size for tensor at dimension %d is %lld but size is %lld", d,
                       (long long)n, (long long)a->size);
    if (f && a->step <= 0)
        return tn_fail(f, TN_INVALID, "step is %lld but must be > 0", (long long)a->step);
    if (f && self->ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_UNSUPPORTED, "a view of the pieces must have at most %d dimensions",
                       TN_MAX_DIMS);
    tni_geometry_of(v, self);
    if (self->ndim) {
        v->size[d] = (n - a->size) / a->step + 1;
        /* The stride of a single piece is never used and may be too large for one. */
        if (tni_mul(stride, a->step, &step) && step <= TNI_MOST) v->stride[d] = step;
    }
    tni_geometry_insert(v, v->ndim, a->size, stride);
    return true;
}
static bool unfold_check(tn_frame *f) {
    TN_ARGS(unfold, a, f);
    tni_geometry v;
    return unfold_to(f, a, f->in[0], &v) && tni_announce_geometry(f, 0, &v);
}
/* Pieces may overlap: their elements' gradients are summed. */
static void unfold_grad(tn_gradient *g) {
    TN_ARGS(unfold, a, g);
    tn_tensor *d = g->incoming[0], *self = g->in[0];
    tni_geometry v;
    int64_t n = 1;
    for (int i = 0; i < self->ndim; i++) n *= self->size[i];
    if (d && unfold_to(NULL, a, self, &v))
        tn_give(g, 0,
                tnp_reshape(strided_sum(g->block, tni_zeros_of(d, 1, &n), d, &v), tni_sizes(self)));
}
/* All pieces of `size` along a dimension, `step` apart, as a last dimension. A view, which shows an
 * element several times if step is less than size. */
TN_OPERATOR(unfold, "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
            TN_DOC(.shapes = "self (.., n, ..) -> (.., (n - size) / step + 1, .., size)",
                   .example = "tn_unfold(x, 0, 2, 1)"),
            .forms = TN_LEADING, .check = unfold_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = unfold_grad,
            .sample =
                "(7) 0 3 2 | (3,5) 1 2 1 | (2,5,3) -2 2 3 | (35) 0 4 4 | () 0 1 1 | () -1 0 2 "
                "| (0,3) 1 2 1 | (4) 0 0 1")

static bool as_strided_scatter_check(tn_frame *f) {
    TN_ARGS(as_strided_scatter, a, f);
    tn_tensor *self = f->in[0], *src = f->in[1];
    tni_geometry v, whole;
    int64_t room;
    char has[160], wants[160];
    if (!as_strided_list(f, a->size, a->stride,
                         a->storage_offset == TN_NONE ? 0 : a->storage_offset) ||
        !as_strided_self(f, self, a->self_stride, a->self_offset))
        return false;
    v.ndim = (int)a->size.n;
    v.offset = a->storage_offset == TN_NONE ? 0 : a->storage_offset - self->offset;
    for (int i = 0; i < v.ndim; i++) {
        v.size[i] = a->size.at[i];
        v.stride[i] = a->stride.at[i];
    }
    if (src->ndim != v.ndim || memcmp(src->size, v.size, sizeof(int64_t) * (size_t)v.ndim))
        return tn_fail(f, TN_INVALID,
                       "expected src to have a size equal to the slice of self. src size = %s, "
                       "slice size = %s",
                       tni_shape_text(has, sizeof has, src->ndim, src->size),
                       tni_shape_text(wants, sizeof wants, v.ndim, v.size));
    if (src->dtype != self->dtype)
        return tn_fail(f, TN_TYPE, "expected src of dtype %s, got %s", tni_dtype(self->dtype)->text,
                       tni_dtype(src->dtype)->text);
    if (a->accumulate && !tni_dtype(self->dtype)->computes)
        return tn_fail(f, TN_TYPE, "arithmetic in dtype %s is not supported; convert it first",
                       tni_dtype(self->dtype)->text);
    /* src must lie within self, not only within its memory. */
    tni_geometry_of(&whole, self);
    whole.offset = 0;
    if (v.offset < 0)
        return tn_fail(f, TN_INVALID, "storage offset %lld is before the start of self",
                       (long long)a->storage_offset);
    if (!as_strided_extent(&whole, &room)) room = 0;
    if (!as_strided_inside(f, &v, room) ||
        !tn_announce_strided(f, 0, (tn_dtype)self->dtype, self->ndim, self->size, self->stride))
        return false;
    /* Gaps of a given out may belong to other tensors, which src would overwrite. */
    if (!f->ngiven || f->out[0] != f->given[0] || tni_is_dense(self)) return true;
    return tn_fail(f, TN_INVALID,
                   "self and out have gaps between their elements that src may overwrite; pass a "
                   "contiguous out");
}
/* Adds src in row-major order. */
static void strided_add(const tn_tensor *at, const tn_tensor *src) {
    const tn_tensor *pair[2];
    tni_walk w;
    if (!src->numel) return;
    pair[0] = at;
    pair[1] = src;
    tni_walk_start(&w, at->ndim, at->size, pair, 2);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        tni_add_row(w.at[0], w.row[0], w.at[1], w.row[1], w.n, at->dtype);
}
static void as_strided_scatter_run(tn_frame *f) {
    TN_ARGS(as_strided_scatter, a, f);
    tn_tensor *out = f->out[0], at;
    int64_t offset = a->storage_offset == TN_NONE ? 0 : a->storage_offset - f->in[0]->offset;
    /* A copy of self, then src over its geometry, counted from out's first element. */
    tni_copy_elements(f->block, out, f->in[0]);
    tni_stack_view(&at, out, (int)a->size.n, a->size.at, a->stride.at, out->offset + offset);
    if (a->accumulate)
        strided_add(&at, f->in[1]);
    else
        tni_copy_elements(f->block, &at, f->in[1]);
}
/* self's part is what came in, zero where src was written; src's part stands there. */
static void as_strided_scatter_grad(tn_gradient *g) {
    TN_ARGS(as_strided_scatter, a, g);
    tn_tensor *d = g->incoming[0], *flat;
    strided_map m;
    if (a->accumulate) tn_give(g, 0, d);
    if (a->accumulate && !g->want[1]) return;
    strided_map_of(&m, g->in[0], a->self_stride, a->self_offset, a->size, a->stride,
                   a->storage_offset, g->in[1]->dtype);
    d = strided_real(d, m.self_pairs);
    flat = d ? tni_place_at(g->block, tni_zeros_of(d, 1, &m.extent), d, &m.self) : NULL;
    if (!flat) return;
    if (g->want[1]) tn_give(g, 1, strided_part(flat, &m.view, m.view_pairs));
    if (!g->want[0] || a->accumulate) return;
    if (g->want[1]) flat = tnp_clone(flat, (tn_memory_format)0); /* what was given shows it */
    tn_give(g, 0,
            strided_part(
                tni_place_at(g->block, flat, tni_zeros_of(d, m.view.ndim, m.view.size), &m.view),
                &m.self, m.self_pairs));
}
/* The samples of self are as far apart in the view as they are in memory. */
static tn_tensor *as_strided_scatter_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(as_strided_scatter, a, f);
    const tn_tensor *self = f->in[0];
    const int64_t n = whole[whole[0] ? 0 : 1]->size[0],
                  from = a->storage_offset == TN_NONE ? 0 : a->storage_offset - self->offset;
    int64_t size[TN_MAX_DIMS + 1], stride[TN_MAX_DIMS + 1];
    tn_tensor *x = tni_whole_each(f, whole, 0, n), *src = tni_whole_each(f, whole, 1, n);
    if (!x || !src || a->size.n >= TN_MAX_DIMS || !(self->flags & TNI_CONTIGUOUS)) return NULL;
    x = tnp_contiguous(x);
    if (!x) return NULL;
    size[0] = n;
    stride[0] = x->stride[0];
    memcpy(size + 1, a->size.at, (size_t)a->size.n * sizeof *size);
    memcpy(stride + 1, a->stride.at, (size_t)a->size.n * sizeof *stride);
    return tnp_as_strided_scatter(x, src, tni_ints(size, a->size.n + 1),
                                  tni_ints(stride, a->size.n + 1), x->offset + from,
                                  tni_ints(x->stride, x->ndim), x->offset, a->accumulate);
}
/* A copy of self with src written to the places that as_strided would view, or added to them with
 * accumulate, in row-major order. */
TN_OPERATOR(
    as_strided_scatter,
    "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? "
    "storage_offset=None, *, "
    "int[]? self_stride=None, int self_offset=0, bool accumulate=False) -> Tensor",
    TN_DOC(.shapes = "self (*), src size -> self's",
           .example = "tn_as_strided_scatter(x, src, TN_DIMS(2), TN_DIMS(1))",
           .differs = "grad of tensor 0: torch keeps a gradient where self was overwritten"),
    .forms = TN_OUT, .check = as_strided_scatter_check, .run = as_strided_scatter_run,
    .grad = as_strided_scatter_grad,
    .sample =
        "(6) (2,2) [2,2] [3,1] | (3,4) (2,2) [2,2] [1,4] 5 | (4) () [] [] 2 | (3) (0) [0] [1] | "
        "(6) (3,2) [3,2] [1,1] accumulate=True | (3,40) (3,35) [3,35] [0,1] 2 accumulate=True | "
        "(2) (3) [3] [0] accumulate=True",
    .node = "torch::autograd::CopySlices", .batched = TN_BATCHED(as_strided_scatter_batched))

static void strided_pass_grad(tn_gradient *g) { tn_give(g, 0, g->incoming[0]); }

/* --- complex parts ---------------------------------------------------------------------------- */

/* The view v of f->in[0] in elements of another dtype. */
static bool complex_view(tn_frame *f, const tni_geometry *v, tn_dtype dtype) {
    if (tni_dtype_left_out((int)dtype)) return tni_dtype_error(f->block, (int)dtype);
    if (!tni_announce_geometry(f, 0, v)) return false;
    f->out[0]->dtype = (uint8_t)dtype;
    return true;
}
/* Real (0) or imaginary (1) parts as a view: every other element of the pairs. */
static bool complex_part(tn_frame *f, int part) {
    tn_tensor *self = f->in[0];
    tni_geometry v;
    tni_geometry_of(&v, self);
    if (!tni_is_complex(self->dtype)) return tni_announce_geometry(f, 0, &v);
    if (v.ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_UNSUPPORTED, "a view of the parts must have at most %d dimensions",
                       TN_MAX_DIMS - 1);
    /* The pair's dimension is dropped again; its element `part` is the offset. */
    strided_pairs(&v);
    v.ndim--;
    v.offset += part;
    return complex_view(f, &v, tni_real_of(self->dtype));
}
static bool real_check(tn_frame *f) { return complex_part(f, 0); }
/* The real part, as a view; of a real tensor the tensor itself, as a view. */
TN_OPERATOR(real, "real(Tensor(a) self) -> Tensor(a)",
            TN_DOC(.shapes = "self (*) complex -> (*) real", .example = "tn_real(z)"),
            .check = real_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = strided_pass_grad, .sample = "(2,3) | (2,3):c128 | ():c128 | (0):c128")

static bool imag_check(tn_frame *f) {
    if (!tni_is_complex(f->in[0]->dtype))
        return tn_fail(f, TN_TYPE, "imag is not implemented for tensors with non-complex dtypes.");
    return complex_part(f, 1);
}
/* i times what comes in: pairs of 0 and the gradient. */
static void imag_grad(tn_gradient *g) {
    tn_tensor *pair[2];
    pair[1] = g->incoming[0];
    pair[0] = tnp_zeros_like(pair[1], TN_NO_DTYPE, TN_NO_DEVICE);
    if (pair[0]) tn_give(g, 0, tnp_view_as_complex(tnp_stack(tn_tensors_of(pair, 2), -1)));
}
/* The imaginary part of a complex tensor, as a view. */
TN_OPERATOR(imag, "imag(Tensor(a) self) -> Tensor(a)",
            TN_DOC(.shapes = "self (*) complex -> (*) real", .example = "tn_imag(z)"),
            .check = imag_check, .run = tni_run_nothing, .quick = tni_view_short, .grad = imag_grad,
            .sample = "(2,3):c128 | ():c128 | (0):c128")

static bool view_as_real_check(tn_frame *f) {
    tn_tensor *self = f->in[0];
    tni_geometry v;
    if (!tni_is_complex(self->dtype))
        return tn_fail(f, TN_TYPE, "view_as_real is only supported for complex tensors");
    if (self->ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID, "expected at most %d dimensions", TN_MAX_DIMS);
    tni_geometry_of(&v, self);
    /* Two real elements for each complex one. */
    strided_pairs(&v);
    return complex_view(f, &v, tni_real_of(self->dtype));
}
static void view_as_real_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_view_as_complex(tnp_contiguous(g->incoming[0])));
}
/* The real and imaginary parts as a new last dimension of size 2. A view. */
TN_OPERATOR(view_as_real, "view_as_real(Tensor(a) self) -> Tensor(a)",
            TN_DOC(.shapes = "self (*) complex -> (*, 2) real", .example = "tn_view_as_real(z)"),
            .check = view_as_real_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = view_as_real_grad, .sample = "(2,3):c128 | ():c128 | (0):c128")

static bool view_as_complex_check(tn_frame *f) {
    tn_tensor *self = f->in[0];
    int last = self->ndim - 1;
    tni_geometry v;
    if (self->dtype != TN_F32 && self->dtype != TN_F64)
        return tn_fail(
            f, TN_TYPE,
            "view_as_complex is only supported for float and double tensors, but got a tensor of "
            "scalar type: %s",
            tni_dtype(self->dtype)->text);
    if (last < 0) return tn_fail(f, TN_INVALID, "Input tensor must have one or more dimensions");
    if (self->size[last] != 2)
        return tn_fail(f, TN_INVALID, "Tensor must have a last dimension of size 2");
    /* A pair lies side by side and begins at a whole complex element. */
    if (self->stride[last] != 1)
        return tn_fail(f, TN_INVALID, "Tensor must have a last dimension with stride 1");
    if (self->offset % 2)
        return tn_fail(f, TN_INVALID, "Tensor must have a storage_offset divisible by 2");
    tni_geometry_of(&v, self);
    /* The last dimension becomes the element; strides count pairs. */
    v.ndim = last;
    v.offset /= 2;
    for (int i = 0; i < last; i++) {
        if (v.stride[i] % 2 && v.size[i] != 1)
            return tn_fail(f, TN_INVALID,
                           "Tensor must have a stride divisible by 2 for all but last dimension");
        v.stride[i] /= 2;
    }
    return complex_view(f, &v, tni_complex_of(self->dtype));
}
static void view_as_complex_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_view_as_real(g->incoming[0]));
}
/* The pairs in the last dimension as complex numbers. A view. */
TN_OPERATOR(view_as_complex, "view_as_complex(Tensor(a) self) -> Tensor(a)",
            TN_DOC(.shapes = "self (*, 2) float32 or float64 -> (*)",
                   .example = "tn_view_as_complex(x)"),
            .autocast = TN_WIDE_CPU, .check = view_as_complex_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = view_as_complex_grad, .sample = "(3,2) | (2) | (0,2)")

/* --- as another dtype ------------------------------------------------------------------------- */

/* n elements, or a step of n, of narrower elements: r for each. */
static bool wider_step(int64_t *n, int64_t r) { return tni_mul(*n, r, n) && *n <= TNI_MOST; }
/* v becomes self's geometry in elements of `to`, whose size may differ along the last dimension. */
static bool view_dtype_to(tn_frame *f, tni_geometry *v, int from, int to) {
    const int64_t has = tni_dtype(from)->bytes, wants = tni_dtype(to)->bytes;
    const int64_t r = has > wants ? has / wants : wants / has;
    const char *old = tni_dtype(from)->text, *text = tni_dtype(to)->text;
    const int last = v->ndim - 1;
    if (r == 1) return true;
    if (last < 0)
        return tn_fail(f, TN_INVALID,
                       "self.dim() cannot be 0 to view %s as %s (different element sizes)", old,
                       text);
    if (v->stride[last] != 1)
        return tn_fail(f, TN_INVALID,
                       "self.stride(-1) must be 1 to view %s as %s (different element sizes), but "
                       "is %lld",
                       old, text, (long long)v->stride[last]);
    if (has > wants) {
        bool fits = tni_mul(v->size[last], r, &v->size[last]) && wider_step(&v->offset, r);
        for (int i = 0; i < last; i++) fits = fits && wider_step(&v->stride[i], r);
        return fits || tn_fail(f, TN_INVALID, "a stride or the offset is too large for %s", text);
    }
    if (v->size[last] % r)
        return tn_fail(f, TN_INVALID,
                       "self.size(-1) must be divisible by %lld to view %s as %s (different "
                       "element sizes), but is %lld",
                       (long long)r, old, text, (long long)v->size[last]);
    if (v->offset % r)
        return tn_fail(
            f, TN_INVALID,
            "self.storage_offset() must be divisible by %lld to view %s as %s (different "
            "element sizes), but is %lld",
            (long long)r, old, text, (long long)v->offset);
    for (int i = 0; i < last; i++) {
        if (v->stride[i] % r)
            return tn_fail(f, TN_INVALID,
                           "self.stride(%d) must be divisible by %lld to view %s as %s "
                           "(different element sizes), but is %lld",
                           i, (long long)r, old, text, (long long)v->stride[i]);
        v->stride[i] /= r;
    }
    v->size[last] /= r;
    v->offset /= r;
    return true;
}
static bool view_dtype_check(tn_frame *f) {
    TN_ARGS(view_dtype, a, f);
    tni_geometry v;
    tni_geometry_of(&v, f->in[0]);
    return view_dtype_to(f, &v, f->in[0]->dtype, (int)a->dtype) && complex_view(f, &v, a->dtype);
}
/* The same bytes as elements of another dtype: a view. If their sizes differ, the last dimension,
 * whose stride must be 1, becomes longer or shorter. It has no history: no gradient flows through
 * it to self. */
TN_OPERATOR(view_dtype, "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
            TN_DOC(.shapes = "self (*, n) -> (*, n self's bytes / dtype's bytes)",
                   .example = "tn_view_dtype(x, TN_I32)"),
            .check = view_dtype_check, .run = tni_run_nothing, .grad = tn_grad_zero,
            .sample =
                "(2,3) int8 | (2,4) bool | (2,4) uint8 | ():f32 int32 | (0,4) float32 | (35):i64 "
                "uint8 | (3):c64 float32 | (4):bool uint8 | (2,4):f32 int64")
