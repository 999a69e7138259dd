/* view.c - other shapes and strides over the same memory without a copy; and reshape.
 *
 * A view is a geometry (sizes, strides, offset) computed from its input's. A view that leaves
 * elements out has the gradient that puts what comes in at the same geometry of zeros; the
 * geometry is computed once more, over the input's shape in row-major order. */
#include "geometry.h"
#include "../../call/arguments.h"
#include "../../api/ops/shape.h"
#include "../../call/whole.h"

/* The gradient of a view of all elements in their order: the same elements in self's shape. */
static void view_reshape_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_reshape(g->incoming[0], tni_sizes(g->in[0])));
}
/* The gradient of expand as it comes: the engine sums it to self's shape. */
static void view_pass_grad(tn_gradient *g) { tn_give(g, 0, g->incoming[0]); }

static bool detach_check(tn_frame *f) {
    tni_geometry v;
    tni_geometry_of(&v, f->in[0]);
    return tni_announce_geometry(f, 0, &v);
}
/* A view of the same memory without history: gradients do not flow through it to self. */
TN_OPERATOR(detach, "detach(Tensor(a) self) -> Tensor(a)",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_detach(x)"), .check = detach_check,
            .run = tni_run_nothing, .quick = tni_view_short, .grad = tn_grad_zero,
            .sample = "(2,3) | ()")

/* --- order of dimensions ---------------------------------------------------------------------- */

static bool transpose_check(tn_frame *f) {
    TN_ARGS(transpose, a, f);
    tn_tensor *self = f->in[0];
    int i, k;
    tni_geometry v;
    if (!tni_dim_of(f, self->ndim, a->dim0, &i) || !tni_dim_of(f, self->ndim, a->dim1, &k))
        return false;
    tni_geometry_of(&v, self);
    /* A 0-dim tensor allows the dimensions 0 and -1, but has nothing to exchange. */
    if (self->ndim) {
        v.size[i] = self->size[k];
        v.stride[i] = self->stride[k];
        v.size[k] = self->size[i];
        v.stride[k] = self->stride[i];
    }
    return tni_announce_geometry(f, 0, &v);
}
static void transpose_grad(tn_gradient *g) {
    TN_ARGS(transpose, a, g);
    tn_give(g, 0, tnp_transpose(g->incoming[0], a->dim0, a->dim1));
}
/* The same elements with two dimensions exchanged. A view. */
TN_OPERATOR(transpose, "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
            TN_DOC(.shapes = "self (.., n, .., m, ..) -> (.., m, .., n, ..)",
                   .example = "tn_transpose(x, 0, 1)"),
            .forms = TN_LEADING, .check = transpose_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = transpose_grad,
            .sample = "(2,3,4) 0 2 | (3,2) -1 -2 | (0,4) 0 1 | () 0 -1 | (2,3):i64 1 1")

static bool t_check(tn_frame *f) {
    tn_tensor *self = f->in[0];
    tni_geometry v;
    if (self->ndim > 2)
        return tn_fail(f, TN_INVALID, "t() expects a tensor with <= 2 dimensions, but self is %dD",
                       self->ndim);
    tni_geometry_of(&v, self);
    /* The dimensions in reverse; a vector has one. */
    for (int i = 0; i < v.ndim; i++) {
        v.size[i] = self->size[v.ndim - 1 - i];
        v.stride[i] = self->stride[v.ndim - 1 - i];
    }
    return tni_announce_geometry(f, 0, &v);
}
static void t_grad(tn_gradient *g) { tn_give(g, 0, tnp_t(g->incoming[0])); }
static tn_tensor *t_batched(tn_frame *f, tn_tensor *const *whole) {
    return f->in[0]->ndim == 2 ? tnp_transpose(whole[0], -2, -1) : NULL;
}
/* The transpose of a matrix; vectors and 0-dim tensors stay as they are. A view. */
TN_OPERATOR(t, "t(Tensor(a) self) -> Tensor(a)",
            TN_DOC(.shapes = "self (n, m) -> (m, n)", .example = "tn_t(w)"), .check = t_check,
            .run = tni_run_nothing, .quick = tni_view_short, .grad = t_grad,
            .sample = "(2,3) | (3) | () | (0,2)", .batched = TN_BATCHED(t_batched))

/* v is self with dimension order[i] as dimension i. */
static void permute_to(tni_geometry *v, const tn_tensor *self, const int *order) {
    tni_geometry_of(v, self);
    for (int i = 0; i < self->ndim; i++) {
        v->size[i] = self->size[order[i]];
        v->stride[i] = self->stride[order[i]];
    }
}
static bool permute_check(tn_frame *f) {
    TN_ARGS(permute, a, f);
    tn_tensor *self = f->in[0];
    bool seen[TN_MAX_DIMS] = {false};
    int order[TN_MAX_DIMS];
    tni_geometry v;
    if (!tni_dims_given(f, a->dims, "dims")) return false;
    if (a->dims.n != self->ndim)
        return tn_fail(f, TN_INVALID,
                       "number of dimensions in the tensor input does not match the length of the "
                       "desired ordering of "
                       "dimensions i.e. input.dim() = %d is not equal to len(dims) = %lld",
                       self->ndim, (long long)a->dims.n);
    /* Every dimension exactly once. */
    for (int i = 0; i < self->ndim; i++) {
        if (!tni_dim_of(f, self->ndim, a->dims.at[i], &order[i])) return false;
        if (seen[order[i]])
            return tn_fail(f, TN_INVALID, "permute(): duplicate dims are not allowed.");
        seen[order[i]] = true;
    }
    permute_to(&v, self, order);
    return tni_announce_geometry(f, 0, &v);
}
static void permute_grad(tn_gradient *g) {
    TN_ARGS(permute, a, g);
    /* The inverse permutation. */
    int64_t back[TN_MAX_DIMS];
    for (int i = 0; i < (int)a->dims.n; i++) back[tni_dim((int)a->dims.n, a->dims.at[i])] = i;
    tn_give(g, 0, tnp_permute(g->incoming[0], tni_ints(back, a->dims.n)));
}
static tn_tensor *permute_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(permute, a, f);
    int64_t dims[TN_MAX_DIMS + 1] = {0};
    if (a->dims.n >= TN_MAX_DIMS) return NULL;
    for (int64_t i = 0; i < a->dims.n; i++)
        dims[i + 1] = a->dims.at[i] < 0 ? a->dims.at[i] : a->dims.at[i] + 1;
    return tnp_permute(whole[0], tni_ints(dims, a->dims.n + 1));
}
/* Dimension dims[i] of self becomes dimension i. A view. */
TN_OPERATOR(permute, "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
            TN_DOC(.shapes = "self (N, C, H, W) -> (N, H, W, C) for dims 0, 2, 3, 1",
                   .example = "tn_permute(x, TN_DIMS(0, 2, 3, 1))"),
            .check = permute_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = permute_grad,
            .sample = "(2,3,4) [2,0,1] | (2,3,4,2) [0,-2,-1,1] | (3) [0] | () [] | (2,0,3) [1,0,2]",
            .batched = TN_BATCHED(permute_batched))

/* order[d] becomes the dimension of self that goes to place d. */
static bool movedim_order(tn_frame *f, const tn_movedim_args *a, int ndim, int *order) {
    bool from[TN_MAX_DIMS] = {false}, to[TN_MAX_DIMS] = {false};
    if (!tni_dims_given(f, a->source, "source") ||
        !tni_dims_given(f, a->destination, "destination"))
        return false;
    if (a->source.n != a->destination.n)
        return tn_fail(
            f, TN_INVALID,
            "movedim: Invalid source or destination dims: %lld source dims, %lld destination dims",
            (long long)a->source.n, (long long)a->destination.n);
    for (int64_t i = 0; i < a->source.n; i++) {
        int s, d;
        if (!tni_dim_of(f, ndim, a->source.at[i], &s) ||
            !tni_dim_of(f, ndim, a->destination.at[i], &d))
            return false;
        /* A dimension moves once, and a place is taken once. */
        if (from[s] || to[d])
            return tn_fail(f, TN_INVALID, "movedim: repeated dim in `%s`",
                           from[s] ? "source" : "destination");
        from[s] = to[d] = true;
        order[d] = s;
    }
    /* The places left over take the dimensions left over, in their order. */
    for (int d = 0, s = 0; d < ndim; d++) {
        if (to[d]) continue;
        while (from[s]) s++;
        order[d] = s++;
    }
    return true;
}
/* A permutation, with its gradient. */
static bool movedim_compose(tn_frame *f) {
    TN_ARGS(movedim, a, f);
    int order[TN_MAX_DIMS];
    int64_t dims[TN_MAX_DIMS];
    int n = f->in[0]->ndim;
    if (!movedim_order(f, a, n, order)) return false;
    for (int i = 0; i < n; i++) dims[i] = order[i];
    return (f->out[0] = tnp_permute(f->in[0], tni_ints(dims, n))) != NULL;
}
/* Dimension source[i] goes to place destination[i]; the others keep their order. A view. */
TN_OPERATOR(movedim,
            "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
            TN_DOC(.shapes = "self (a, b, c) -> (b, c, a)",
                   .example = "tn_movedim(x, TN_DIMS(0), TN_DIMS(-1))"),
            .compose = movedim_compose,
            .sample = "(2,3,4) [0] [-1] | (2,3,4,2) [0,2] [2,1] | (3) [0] [0]")

/* --- sizes of one ----------------------------------------------------------------------------- */

static bool squeeze_check(tn_frame *f) {
    tni_geometry v;
    tni_geometry_of(&v, f->in[0]);
    /* From the last one on, so that the numbers of the others hold. */
    for (int d = v.ndim - 1; d >= 0; d--)
        if (v.size[d] == 1) tni_geometry_remove(&v, d);
    return tni_announce_geometry(f, 0, &v);
}
/* Sizes of the result for all samples; false: too many dimensions. */
static bool view_whole_sizes(const tn_frame *f, const tn_tensor *whole, int64_t *sizes) {
    const tn_tensor *y = f->out[0];
    sizes[0] = whole->size[0];
    memcpy(sizes + 1, y->size, (size_t)y->ndim * sizeof *sizes);
    return y->ndim < TN_MAX_DIMS;
}
static tn_tensor *squeeze_batched(tn_frame *f, tn_tensor *const *whole) {
    int64_t sizes[TN_MAX_DIMS + 1];
    view_whole_sizes(f, whole[0], sizes);
    return tnp_view(whole[0], tni_ints(sizes, f->out[0]->ndim + 1));
}
/* self without its dimensions of size 1. A view. */
TN_OPERATOR(squeeze, "squeeze(Tensor(a) self) -> Tensor(a)",
            TN_DOC(.shapes = "self (1, 3, 1) -> (3)", .example = "tn_squeeze(x)"),
            .check = squeeze_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = view_reshape_grad, .sample = "(1,3,1,2) | (1,1) | (2) | () | (1,0)",
            .batched = TN_BATCHED(squeeze_batched))

static bool squeeze_dim_check(tn_frame *f) {
    TN_ARGS(squeeze_dim, a, f);
    tni_geometry v;
    int d;
    tni_geometry_of(&v, f->in[0]);
    if (!tni_dim_of(f, v.ndim, a->dim, &d)) return false;
    /* A dimension of another size stays: torch does not refuse it. */
    if (v.ndim && v.size[d] == 1) tni_geometry_remove(&v, d);
    return tni_announce_geometry(f, 0, &v);
}
/* self without dimension dim if its size is 1, else all of self. A view. */
TN_OPERATOR(squeeze_dim, "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
            TN_DOC(.shapes = "self (2, 1) -> (2)", .example = "tn_squeeze_dim(x, 1)"),
            .forms = TN_LEADING, .check = squeeze_dim_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = view_reshape_grad,
            .sample = "(1,3,1) 2 | (1,3) -1 | () 0 | (1,0) 0", .node = "SqueezeBackward1")

static bool squeeze_dims_check(tn_frame *f) {
    TN_ARGS(squeeze_dims, a, f);
    bool gone[TN_MAX_DIMS + 1] = {false};
    tni_geometry v;
    int d;
    tni_geometry_of(&v, f->in[0]);
    if (!tni_dims_given(f, a->dim, "dim")) return false;
    for (int64_t i = 0; i < a->dim.n; i++) {
        if (!tni_dim_of(f, v.ndim, a->dim.at[i], &d)) return false;
        if (gone[d])
            return tn_fail(f, TN_INVALID, "dim %d appears multiple times in the list of dims", d);
        gone[d] = true;
    }
    /* From the last one on, so that the numbers of the others hold. */
    for (d = v.ndim - 1; d >= 0; d--)
        if (gone[d] && v.size[d] == 1) tni_geometry_remove(&v, d);
    return tni_announce_geometry(f, 0, &v);
}
/* self without those of the given dimensions whose size is 1. A view. */
TN_OPERATOR(squeeze_dims, "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
            TN_DOC(.shapes = "self (1, 3, 1) -> (3)",
                   .example = "tn_squeeze_dims(x, TN_DIMS(0, -1))"),
            .forms = TN_LEADING, .check = squeeze_dims_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = view_reshape_grad,
            .sample = "(1,3,1) [0,-1] | (1,3,1) [1] | (1,2) [] | () [0]",
            .node = "SqueezeBackward2")

static bool unsqueeze_check(tn_frame *f) {
    TN_ARGS(unsqueeze, a, f);
    tni_geometry v;
    int d;
    tni_geometry_of(&v, f->in[0]);
    if (v.ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID, "expected at most %d dimensions", TN_MAX_DIMS);
    if (!tni_dim_of(f, v.ndim + 1, a->dim, &d)) return false;
    /* The stride of a dimension of size 1 is never used; torch's value, for code
     * that prints strides. */
    tni_geometry_insert(&v, d, 1, d < v.ndim ? v.size[d] * v.stride[d] : 1);
    return tni_announce_geometry(f, 0, &v);
}
static tn_tensor *unsqueeze_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(unsqueeze, a, f);
    return tnp_unsqueeze(whole[0], a->dim < 0 ? a->dim : a->dim + 1);
}
/* A new dimension of size 1 before dimension dim; -1 puts it last. A view. */
TN_OPERATOR(unsqueeze, "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
            TN_DOC(.shapes = "self (3) -> (3, 1)", .example = "tn_unsqueeze(x, -1)"),
            .check = unsqueeze_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = view_reshape_grad, .sample = "(2,3) 0 | (2,3) 1 | (2,3) -1 | () 0 | (0) -2",
            .batched = TN_BATCHED(unsqueeze_batched))

/* --- expand ----------------------------------------------------------------------------------- */

static bool expand_check(tn_frame *f) {
    TN_ARGS(expand, a, f);
    tn_tensor *self = f->in[0];
    int n = (int)a->size.n, more;
    char has[160], wants[160];
    tni_geometry v;
    if (!tni_dims_given(f, a->size, "size")) return false;
    more = n - self->ndim;
    if (more < 0)
        return tn_fail(f, TN_INVALID,
                       "the number of sizes provided (%d) must be greater or equal to the number "
                       "of dimensions in the "
                       "tensor (%d)",
                       n, self->ndim);
    v.ndim = n;
    v.offset = self->offset;
    /* From the last dimension on: a new one in front gets its stride from the one behind it. */
    for (int i = n - 1; i >= 0; i--) {
        int64_t want = a->size.at[i], have = i >= more ? self->size[i - more] : 1;
        int64_t stride = i >= more   ? self->stride[i - more]
                         : i + 1 < n ? v.size[i + 1] * v.stride[i + 1]
                                     : 0;
        if (want == -1 && i < more)
            return tn_fail(f, TN_INVALID,
                           "The expanded size of the tensor (-1) isn't allowed in a leading, "
                           "non-existing dimension %d",
                           i);
        /* A size of -1 stays as it is. */
        if (want == -1) want = have;
        /* Only sizes of 1 can be repeated. */
        if (want < 0 || (have != 1 && have != want))
            return tn_fail(f, TN_INVALID,
                           "The expanded size of the tensor (%lld) must match the existing size "
                           "(%lld) at non-singleton "
                           "dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                           (long long)want, (long long)have, i,
                           tni_shape_text(wants, sizeof wants, n, a->size.at),
                           tni_shape_text(has, sizeof has, self->ndim, self->size));
        v.size[i] = want;
        /* A stride of 0 shows the one element again and again. */
        v.stride[i] = have == want ? stride : 0;
    }
    return tni_announce_geometry(f, 0, &v);
}
static tn_tensor *expand_batched(tn_frame *f, tn_tensor *const *whole) {
    int64_t sizes[TN_MAX_DIMS + 1];
    tn_tensor *x = tni_whole_align(whole[0], f->in[0]->ndim, f->out[0]->ndim);
    return x && view_whole_sizes(f, whole[0], sizes)
               ? tnp_expand(x, tni_ints(sizes, f->out[0]->ndim + 1), false)
               : NULL;
}
/* Dimensions of size 1 repeated to the given size without a copy; -1 keeps a size. New dimensions
 * come in front. A view. */
TN_OPERATOR(expand, "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
            TN_DOC(.shapes = "self (3, 1) -> (2, 3, 4)",
                   .example = "tn_expand(x, TN_DIMS(2, 3, 4))"),
            .check = expand_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = view_pass_grad,
            .sample = "(3,1) [2,3,4] | (1,3) [2,-1] | () [2] | (2) [2] | (1) [0] | () []",
            .batched = TN_BATCHED(expand_batched))

static bool expand_as_compose(tn_frame *f) {
    return (f->out[0] = tnp_expand(f->in[0], tni_sizes(f->in[1]), false)) != NULL;
}
/* self expanded to the sizes of other. A view. */
TN_OPERATOR(expand_as, "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
            TN_DOC(.shapes = "self (3), other (4, 3) -> (4, 3)", .example = "tn_expand_as(b, x)"),
            .compose = expand_as_compose, .sample = "(3,1) (2,3,4) | () (2)")

static bool broadcast_to_compose(tn_frame *f) {
    TN_ARGS(broadcast_to, a, f);
    return (f->out[0] = tnp_expand(f->in[0], a->size, false)) != NULL;
}
/* self expanded to size. A view. */
TN_OPERATOR(broadcast_to, "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)",
            TN_DOC(.shapes = "self (3) -> (4, 3)", .example = "tn_broadcast_to(x, TN_DIMS(4, 3))"),
            .compose = broadcast_to_compose, .sample = "(3,1) [2,3,4] | () [2]")

/* --- view and reshape ------------------------------------------------------------------------- */

/* The list l with -1 replaced, so that the sizes hold as many elements as self. known is the
 * product of the other sizes; -1: too large. */
static bool reshape_sizes(tn_frame *f, tn_ints l, const char *name, const tn_tensor *self,
                          int64_t *size) {
    int64_t known = 1;
    int infer = -1;
    char text[200];
    if (!tni_dims_given(f, l, name)) return false;
    for (int i = 0; i < (int)l.n && known >= 0; i++) {
        const int64_t n = size[i] = l.at[i];
        if (TNI_LIKELY(n >= 0)) {
            if (!tni_mul(known, n, &known)) known = -1;
        } else if (n == -1 && infer >= 0) {
            return tn_fail(f, TN_INVALID, "only one dimension can be inferred");
        } else if (n < -1) {
            return tn_fail(f, TN_INVALID, "invalid shape dimension %lld", (long long)n);
        } else {
            infer = i;
        }
    }
    /* 0 elements with another size of 0: -1 could be any number. */
    if (infer >= 0 && known == 0)
        return tn_fail(f, TN_INVALID,
                       "cannot reshape tensor of %lld elements into shape %s because the "
                       "unspecified dimension "
                       "size -1 can be any value and is ambiguous",
                       (long long)self->numel, tni_shape_text(text, sizeof text, (int)l.n, l.at));
    if (known < 0 || (infer < 0 ? known != self->numel : self->numel % known != 0))
        return tn_fail(f, TN_INVALID, "shape '%s' is invalid for input of size %lld",
                       tni_shape_text(text, sizeof text, (int)l.n, l.at), (long long)self->numel);
    /* What is left for -1. */
    if (infer >= 0) size[infer] = self->numel / known;
    return true;
}

/* Strides with which the sizes in v show self's elements in their order; false: no strides do.
 * Dimensions of self are taken from the last one in runs that lie in memory as one; each run must
 * be a product of new sizes. */
static TNI_NOINLINE bool reshape_search(tni_geometry *v, const tn_tensor *self) {
    int64_t step = self->ndim ? self->stride[self->ndim - 1] : 1, run = 1, made = 1;
    int d = v->ndim - 1;
    /* Without elements any strides do; torch keeps self's for the same sizes. */
    if (self->numel == 0 || self->ndim == 0) {
        tni_row_major(v->ndim, v->size, v->stride);
        if (self->ndim == v->ndim &&
            !memcmp(self->size, v->size, sizeof(int64_t) * (size_t)v->ndim))
            memcpy(v->stride, self->stride, sizeof(int64_t) * (size_t)v->ndim);
        return true;
    }
    for (int i = self->ndim - 1; i >= 0; i--) {
        /* The run grows while the dimension before goes on where it ends. */
        run *= self->size[i];
        if (i > 0 && (self->size[i - 1] == 1 || self->stride[i - 1] == run * step)) continue;
        /* New sizes from the last one until they fill the run; sizes of 1 fit everywhere. */
        for (; d >= 0 && (made < run || v->size[d] == 1); d--) {
            v->stride[d] = made * step;
            made *= v->size[d];
        }
        if (made != run) return false;
        /* The next run begins with the strides of its last dimension. */
        if (i > 0) {
            step = self->stride[i - 1];
            run = made = 1;
        }
    }
    return d < 0;
}
/* The same; row-major self is a single run, so any sizes fit. */
TNI_INLINE bool reshape_strides(tni_geometry *v, const tn_tensor *self) {
    if (TNI_UNLIKELY(!(self->flags & TNI_CONTIGUOUS) || !self->numel || !self->ndim ||
                     self->stride[self->ndim - 1] != 1))
        return reshape_search(v, self);
    tni_flat_strides(v->ndim, v->size, v->stride);
    return true;
}

static bool view_check(tn_frame *f) {
    TN_ARGS(view, a, f);
    tni_geometry v;
    if (!reshape_sizes(f, a->size, "size", f->in[0], v.size)) return false;
    v.ndim = (int)a->size.n;
    v.offset = f->in[0]->offset;
    /* view must not copy: where no strides fit it is an error, and reshape copies instead. */
    if (!reshape_strides(&v, f->in[0]))
        return tn_fail(f, TN_INVALID,
                       "view size is not compatible with input tensor's size and stride (at least "
                       "one dimension "
                       "spans across two contiguous subspaces). Use tn_reshape(...) instead.");
    return tni_announce_geometry(f, 0, &v);
}
static tn_tensor *view_batched(tn_frame *f, tn_tensor *const *whole) {
    int64_t sizes[TN_MAX_DIMS + 1];
    return view_whole_sizes(f, whole[0], sizes)
               ? tnp_view(whole[0], tni_ints(sizes, f->out[0]->ndim + 1))
               : NULL;
}
/* The same elements in the same order with other sizes, one of which may be -1 and is computed.
 * Always a view: an error if no strides can describe it. */
TN_OPERATOR(
    view, "view(Tensor(a) self, int[] size) -> Tensor(a)",
    TN_DOC(.shapes = "self (2, 6) -> (3, 4)", .example = "tn_view(x, TN_DIMS(3, -1))"),
    .check = view_check, .run = tni_run_nothing, .quick = tni_view_short, .grad = view_reshape_grad,
    .sample = "(2,6) [3,4] | (2,6) [-1] | (4,3) [2,2,-1,1] | (1) [] | () [1,1] | (0,2) [2,0,3]",
    .batched = TN_BATCHED(view_batched))

/* A view, or a row-major copy; the note tells run which. */
static bool reshape_announce(tn_frame *f, tni_geometry *v) {
    tn_tensor *self = f->in[0];
    TN_NOTE(tni_copy_note, note, f);
    v->offset = self->offset;
    /* The memory decides: a view if strides can show it, else a copy. */
    note->copies = !reshape_strides(v, self);
    return note->copies ? tn_announce(f, 0, (tn_dtype)self->dtype, v->ndim, v->size)
                        : tni_announce_geometry(f, 0, v);
}
/* The copy: out's memory seen in self's shape, since the order of elements is the same. */
static void reshape_run(tn_frame *f) {
    tn_tensor *self = f->in[0], to;
    int64_t stride[TN_MAX_DIMS];
    TN_NOTE(tni_copy_note, note, f);
    if (!note->copies) return;
    tni_row_major(self->ndim, self->size, stride);
    tni_stack_view(&to, f->out[0], self->ndim, self->size, stride, f->out[0]->offset);
    tni_copy_elements(f->block, &to, self);
}
static bool reshape_check(tn_frame *f) {
    TN_ARGS(reshape, a, f);
    tni_geometry v;
    v.ndim = (int)a->shape.n;
    return reshape_sizes(f, a->shape, "shape", f->in[0], v.size) && reshape_announce(f, &v);
}
/* Where no view of one sample is, the samples are copied as a whole. */
static tn_tensor *reshape_batched(tn_frame *f, tn_tensor *const *whole) {
    int64_t sizes[TN_MAX_DIMS + 1];
    return view_whole_sizes(f, whole[0], sizes)
               ? tnp_reshape(whole[0], tni_ints(sizes, f->out[0]->ndim + 1))
               : NULL;
}
/* The same elements in the same order with other sizes, one of which may be -1 and is computed. A
 * view if strides can describe it, else a copy. */
TN_OPERATOR(
    reshape, "reshape(Tensor(a) self, int[] shape) -> Tensor(a)",
    TN_DOC(.shapes = "self (2, 6) -> (3, 4)", .example = "tn_reshape(x, TN_DIMS(3, -1))"),
    .forms = TN_MOVES, .check = reshape_check, .run = reshape_run, .quick = tni_reshape_short,
    .grad = view_reshape_grad,
    .sample = "(2,6) [3,4] | (2,6) [-1] | (4,3) [2,2,-1,1] | (1) [] | () [1,1] | (0,2) [2,0,3]",
    .node = "ViewBackward0", .batched = TN_BATCHED(reshape_batched))

static bool flatten_check(tn_frame *f) {
    TN_ARGS(flatten, a, f);
    tn_tensor *self = f->in[0];
    int first, last, n = 0;
    tni_geometry v;
    if (!tni_dim_of(f, self->ndim, a->start_dim, &first) ||
        !tni_dim_of(f, self->ndim, a->end_dim, &last))
        return false;
    if (first > last)
        return tn_fail(f, TN_INVALID,
                       "flatten() has invalid args: start_dim cannot come after end_dim");
    /* Nothing to merge: a view of self as it is. */
    if (self->ndim && first == last) {
        TN_NOTE(tni_copy_note, note, f);
        note->copies = false;
        tni_geometry_of(&v, self);
        return tni_announce_geometry(f, 0, &v);
    }
    if (self->ndim == 0) v.size[n++] = 1;
    /* The sizes from first to last are multiplied into v.size[first]. */
    for (int i = 0; i < self->ndim; i++) {
        if (i <= first || i > last)
            v.size[n++] = self->size[i];
        else
            v.size[first] *= self->size[i];
    }
    v.ndim = n;
    return reshape_announce(f, &v);
}
/* The dimensions from start_dim to end_dim merged into one. A view if possible, else a copy. */
TN_OPERATOR(flatten,
            "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
            TN_DOC(.shapes = "self (2, 3, 4) -> (2, 12)",
                   .example = "tn_flatten(x, .start_dim = 1)"),
            .forms = TN_MOVES | TN_LEADING, .check = flatten_check, .run = reshape_run,
            .quick = tni_reshape_short, .grad = view_reshape_grad,
            .sample = "(2,3,4) | (2,3,4) 1 | (2,3,4) 0 1 | (3) | () | (0,3) | (2,3) 1 1",
            .node = "ViewBackward0")

static bool unflatten_check(tn_frame *f) {
    TN_ARGS(unflatten, a, f);
    tn_tensor *self = f->in[0], one;
    int64_t part[TN_MAX_DIMS];
    int d;
    tni_geometry v;
    if (!tni_dim_of(f, self->ndim, a->dim, &d) || !tni_dims_given(f, a->sizes, "sizes"))
        return false;
    if (a->sizes.n == 0) return tn_fail(f, TN_INVALID, "unflatten: sizes must be non-empty");
    if (self->ndim == 0 || self->ndim - 1 + a->sizes.n > TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID,
                       "unflatten: a result of %d + %lld dimensions is not supported",
                       self->ndim - 1, (long long)a->sizes.n);
    /* Dimension d alone as a tensor, for the rules of reshape. */
    tni_stack_view(&one, self, 1, self->size + d, self->stride + d, 0);
    if (!reshape_sizes(f, a->sizes, "sizes", &one, part)) return false;
    tni_geometry_of(&v, self);
    tni_geometry_remove(&v, d);
    /* The strides are set by reshape_announce. */
    for (int i = 0; i < (int)a->sizes.n; i++) tni_geometry_insert(&v, d + i, part[i], 0);
    return reshape_announce(f, &v);
}
/* Dimension dim split into several; one of their sizes may be -1 and is computed. A view. */
TN_OPERATOR(unflatten, "unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
            TN_DOC(.shapes = "self (2, 12) -> (2, 3, 4)",
                   .example = "tn_unflatten(x, 1, TN_DIMS(3, 4))"),
            .forms = TN_MOVES | TN_LEADING, .check = unflatten_check, .run = reshape_run,
            .quick = tni_reshape_short, .grad = view_reshape_grad,
            .sample = "(2,12) 1 [3,4] | (6,2) 0 [-1,3] | (4) -1 [2,2] | (2,0) 1 [3,0]",
            .node = "ViewBackward0")
