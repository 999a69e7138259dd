/* view.c - other shapes and strides over the same memory: what costs no copy, and reshape, which
 * may.
 *
 * A view is a geometry (sizes, strides, offset) computed from its input's. A view that leaves
 * elements out has the
 * gradient that puts what comes in at the same geometry of zeros; the geometry is computed once
 * more, over the input's
 * shape in row-major order. */
#include "dims.h"

TN_PRIV void tni_run_nothing(tn_frame *f) { (void)f; }

/* The gradient of a view that leaves elements out; v was computed from g->in[0]. */
static void view_give(tn_gradient *g, const tni_geometry *v) {
    tn_tensor *d = g->incoming[0], *self = g->in[0];
    tn_give(g, 0, tni_place_at(g->block, tni_zeros_of(d, self->ndim, self->size), d, v));
}

/* The gradient of a view of all elements in their order. */
static void view_reshape_grad(tn_gradient *g) {
    tn_give(g, 0, tnp_reshape(g->incoming[0], tni_sizes(g->in[0])));
}
static void view_pass_grad(tn_gradient *g) { tn_give(g, 0, g->incoming[0]); }

/* --- order of dimensions ---------------------------------------------------------------------- */

static bool transpose_check(tn_frame *f) {
    TN_ARGS(transpose, a, f);
    tn_tensor *self = f->in[0];
    int i, k;
    tni_geometry v;
    if (!tni_dim_of(f, self->ndim, a->dim0, &i) || !tni_dim_of(f, self->ndim, a->dim1, &k))
        return false;
    tni_geometry_of(&v, self);
    if (self->ndim) {
        v.size[i] = self->size[k], v.stride[i] = self->stride[k];
        v.size[k] = self->size[i], v.stride[k] = self->stride[i];
    }
    return tni_announce_geometry(f, 0, &v);
}
static void transpose_grad(tn_gradient *g) {
    TN_ARGS(transpose, a, g);
    tn_give(g, 0, tnp_transpose(g->incoming[0], a->dim0, a->dim1));
}
/* The same elements with two dimensions exchanged. A view.
 * self (.., n, .., m, ..) -> (.., m, .., n, ..)   tn_transpose(x, 0, 1) */
TN_OPERATOR(transpose, "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
            .check = transpose_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = transpose_grad,
            .sample = "(2,3,4) 0 2 | (3,2) -1 -2 | (0,4) 0 1 | () 0 -1 | (2,3):i64 1 1")

static bool t_check(tn_frame *f) {
    tn_tensor *self = f->in[0];
    tni_geometry v;
    if (self->ndim > 2)
        return tn_fail(f, TN_INVALID, "t() expects a tensor with <= 2 dimensions, but self is %dD",
                       self->ndim);
    tni_geometry_of(&v, self);
    for (int i = 0; i < v.ndim; i++)
        v.size[i] = self->size[v.ndim - 1 - i], v.stride[i] = self->stride[v.ndim - 1 - i];
    return tni_announce_geometry(f, 0, &v);
}
static void t_grad(tn_gradient *g) { tn_give(g, 0, tnp_t(g->incoming[0])); }
/* Transpose of a matrix; a vector or a number stays. A view.   self (n, m) -> (m, n)   tn_t(w) */
TN_OPERATOR(t, "t(Tensor(a) self) -> Tensor(a)", .check = t_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = t_grad, .sample = "(2,3) | (3) | () | (0,2)")

/* v is self with dimension order[i] as dimension i. */
static void permute_to(tni_geometry *v, const tn_tensor *self, const int *order) {
    tni_geometry_of(v, self);
    for (int i = 0; i < self->ndim; i++)
        v->size[i] = self->size[order[i]], v->stride[i] = self->stride[order[i]];
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
    int64_t back[TN_MAX_DIMS];
    for (int i = 0; i < (int)a->dims.n; i++) back[tni_dim((int)a->dims.n, a->dims.at[i])] = i;
    tn_give(g, 0, tnp_permute(g->incoming[0], tni_ints(back, a->dims.n)));
}
/* Dimension dims[i] of self becomes dimension i. A view.   tn_permute(x, TN_DIMS(0, 2, 3, 1)) */
TN_OPERATOR(permute, "permute(Tensor(a) self, int[] dims) -> Tensor(a)", .check = permute_check,
            .run = tni_run_nothing, .quick = tni_view_short, .grad = permute_grad,
            .sample = "(2,3,4) [2,0,1] | (2,3,4,2) [0,-2,-1,1] | (3) [0] | () [] | (2,0,3) [1,0,2]")

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
        if (from[s] || to[d])
            return tn_fail(f, TN_INVALID, "movedim: repeated dim in `%s`",
                           from[s] ? "source" : "destination");
        from[s] = to[d] = true;
        order[d] = s;
    }
    for (int d = 0, s = 0; d < ndim; d++) {
        if (to[d]) continue;
        while (from[s]) s++;
        order[d] = s++;
    }
    return true;
}
static bool movedim_compose(tn_frame *f) {
    TN_ARGS(movedim, a, f);
    int order[TN_MAX_DIMS];
    int64_t dims[TN_MAX_DIMS];
    int n = f->in[0]->ndim;
    if (!movedim_order(f, a, n, order)) return false;
    for (int i = 0; i < n; i++) dims[i] = order[i];
    return (f->out[0] = tnp_permute(f->in[0], tni_ints(dims, n))) != NULL;
}
/* Dimension source[i] goes to place destination[i]; the others keep their order. A view.
 * self (a, b, c) -> (b, c, a)   tn_movedim(x, TN_DIMS(0), TN_DIMS(-1)) */
TN_OPERATOR(movedim,
            "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
            .compose = movedim_compose,
            .sample = "(2,3,4) [0] [-1] | (2,3,4,2) [0,2] [2,1] | (3) [0] [0]")

/* --- sizes of one ----------------------------------------------------------------------------- */

static bool squeeze_check(tn_frame *f) {
    tni_geometry v;
    tni_geometry_of(&v, f->in[0]);
    for (int d = v.ndim - 1; d >= 0; d--)
        if (v.size[d] == 1) tni_geometry_remove(&v, d);
    return tni_announce_geometry(f, 0, &v);
}
/* Without its dimensions of size 1. A view.   self (1, 3, 1) -> (3)   tn_squeeze(x) */
TN_OPERATOR(squeeze, "squeeze(Tensor(a) self) -> Tensor(a)", .check = squeeze_check,
            .run = tni_run_nothing, .quick = tni_view_short, .grad = view_reshape_grad,
            .sample = "(1,3,1,2) | (1,1) | (2) | () | (1,0)")

static bool squeeze_dim_check(tn_frame *f) {
    TN_ARGS(squeeze_dim, a, f);
    tni_geometry v;
    int d;
    tni_geometry_of(&v, f->in[0]);
    if (!tni_dim_of(f, v.ndim, a->dim, &d)) return false;
    if (v.ndim && v.size[d] == 1) tni_geometry_remove(&v, d);
    return tni_announce_geometry(f, 0, &v);
}
/* Without dimension dim if its size is 1. A view.   self (2, 1) -> (2)   tn_squeeze_dim(x, 1) */
TN_OPERATOR(squeeze_dim, "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
            .check = squeeze_dim_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = view_reshape_grad, .sample = "(1,3,1) 2 | (1,3) -1 | () 0 | (1,0) 0",
            .node = "SqueezeBackward1")

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
    for (d = v.ndim - 1; d >= 0; d--)
        if (gone[d] && v.size[d] == 1) tni_geometry_remove(&v, d);
    return tni_announce_geometry(f, 0, &v);
}
/* Without those of the given dimensions whose size is 1. A view.
 * tn_squeeze_dims(x, TN_DIMS(0, -1)) */
TN_OPERATOR(squeeze_dims, "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
            .check = squeeze_dims_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = view_reshape_grad, .sample = "(1,3,1) [0,-1] | (1,3,1) [1] | (1,2) [] | () [0]",
            .node = "SqueezeBackward2")

static bool unsqueeze_check(tn_frame *f) {
    TN_ARGS(unsqueeze, a, f);
    tni_geometry v;
    int d;
    tni_geometry_of(&v, f->in[0]);
    if (v.ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID, "more than %d dimensions", TN_MAX_DIMS);
    if (!tni_dim_of(f, v.ndim + 1, a->dim, &d)) return false;
    tni_geometry_insert(&v, d, 1, d < v.ndim ? v.size[d] * v.stride[d] : 1);
    return tni_announce_geometry(f, 0, &v);
}
/* A dimension of size 1 before dimension dim (behind the last for -1). A view.
 * self (3) -> (3, 1)   tn_unsqueeze(x, -1) */
TN_OPERATOR(unsqueeze, "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", .check = unsqueeze_check,
            .run = tni_run_nothing, .quick = tni_view_short, .grad = view_reshape_grad,
            .sample = "(2,3) 0 | (2,3) 1 | (2,3) -1 | () 0 | (0) -2")

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
        if (want == -1) want = have;
        if (want < 0 || (have != 1 && have != want))
            return tn_fail(f, TN_INVALID,
                           "The expanded size of the tensor (%lld) must match the existing size "
                           "(%lld) at non-singleton "
                           "dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                           (long long)want, (long long)have, i,
                           tni_shape_text(wants, sizeof wants, n, a->size.at),
                           tni_shape_text(has, sizeof has, self->ndim, self->size));
        v.size[i] = want;
        v.stride[i] = have == want ? stride : 0;
    }
    return tni_announce_geometry(f, 0, &v);
}
/* Sizes of 1 repeated to size, without a copy; -1 keeps a size; new dimensions come in front. A
 * view.
 * self (3, 1) -> (2, 3, 4)   tn_expand(x, TN_DIMS(2, 3, 4)) */
TN_OPERATOR(expand, "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
            .check = expand_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = view_pass_grad,
            .sample = "(3,1) [2,3,4] | (1,3) [2,-1] | () [2] | (2) [2] | (1) [0] | () []")

static bool expand_as_compose(tn_frame *f) {
    return (f->out[0] = tnp_expand(f->in[0], tni_sizes(f->in[1]), false)) != NULL;
}
/* self expanded to the sizes of other. A view.   tn_expand_as(bias, x) */
TN_OPERATOR(expand_as, "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
            .compose = expand_as_compose, .sample = "(3,1) (2,3,4) | () (2)")

static bool broadcast_to_compose(tn_frame *f) {
    TN_ARGS(broadcast_to, a, f);
    return (f->out[0] = tnp_expand(f->in[0], a->size, false)) != NULL;
}
/* self expanded to size. A view.   tn_broadcast_to(x, TN_DIMS(4, 3)) */
TN_OPERATOR(broadcast_to, "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)",
            .compose = broadcast_to_compose, .sample = "(3,1) [2,3,4] | () [2]")

/* --- pieces along a dimension ----------------------------------------------------------------- */

static bool slice_to(tn_frame *f, const tn_slice_args *a, const tn_tensor *self, tni_geometry *v) {
    int64_t start = a->start == TN_NONE ? 0 : a->start,
            end = a->end == TN_NONE ? INT64_MAX : a->end, n;
    int d;
    if (f && !self->ndim)
        return tn_fail(f, TN_INVALID, "slice() cannot be applied to a 0-dim tensor.");
    if (!f)
        d = tni_dim(self->ndim, a->dim);
    else if (!tni_dim_of(f, self->ndim, a->dim, &d))
        return false;
    if (a->step <= 0) return tn_fail(f, TN_INVALID, "slice step must be positive");
    n = self->size[d];
    if (start < 0) start = start < -n ? 0 : start + n;
    if (end < 0) end = end < -n ? 0 : end + n;
    if (start > n) start = n;
    end = end < start ? start : end > n ? n : end;
    tni_geometry_of(v, self);
    v->offset += start * v->stride[d];
    v->size[d] = (end - start) / a->step + ((end - start) % a->step != 0);
    if (!tni_mul(v->stride[d], a->step, &v->stride[d]) || v->stride[d] > TNI_MOST)
        v->stride[d] = self->stride[d]; /* of one place at most */
    return true;
}
static bool slice_check(tn_frame *f) {
    TN_ARGS(slice, a, f);
    tni_geometry v;
    return slice_to(f, a, f->in[0], &v) && tni_announce_geometry(f, 0, &v);
}
static void slice_grad(tn_gradient *g) {
    TN_ARGS(slice, a, g);
    tni_geometry v;
    if (slice_to(NULL, a, g->in[0], &v)) view_give(g, &v);
}
/* self[start:end:step] along dim; negative places count from the end, what is too large is cut. A
 * view.
 * self (.., n, ..) -> (.., ceil((end - start) / step), ..)   tn_slice(x, .dim = 1, .start = 2,
 * .step = 2) */
TN_OPERATOR(slice,
            "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) "
            "-> Tensor(a)",
            .check = slice_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = slice_grad,
            .sample = "(5,3) | (5,3) 0 1 4 2 | (2,6) 1 -4 -1 | (2,6) -1 4 100 3 | (4) 0 3 1 | (4) "
                      "0 -9 None 3 | (0,2) 0 0 1")

static bool narrow_to(tn_frame *f, const tn_narrow_args *a, const tn_tensor *self,
                      tni_geometry *v) {
    int64_t start = a->start, n;
    int d;
    if (f && !self->ndim)
        return tn_fail(f, TN_INVALID, "narrow() cannot be applied to a 0-dim tensor.");
    if (f && !tni_dim_of(f, self->ndim, a->dim, &d)) return false;
    if (f && a->length < 0) return tn_fail(f, TN_INVALID, "narrow(): length must be non-negative.");
    d = tni_dim(self->ndim, a->dim);
    n = self->size[d];
    if (f && (start < -n || start > n))
        return tn_fail(f, TN_INDEX,
                       "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
                       (long long)-n, (long long)n, (long long)start);
    if (start < 0) start += n;
    if (f && a->length > n - start)
        return tn_fail(f, TN_INVALID, "start (%lld) + length (%lld) exceeds dimension size (%lld).",
                       (long long)start, (long long)a->length, (long long)n);
    tni_geometry_of(v, self);
    v->size[d] = a->length;
    v->offset += start * v->stride[d];
    return true;
}
static bool narrow_check(tn_frame *f) {
    TN_ARGS(narrow, a, f);
    tni_geometry v;
    tni_geometry_of(&v, f->in[0]);
    return narrow_to(f, a, f->in[0], &v) && tni_announce_geometry(f, 0, &v);
}
static void narrow_grad(tn_gradient *g) {
    TN_ARGS(narrow, a, g);
    tni_geometry v;
    if (narrow_to(NULL, a, g->in[0], &v)) view_give(g, &v);
}
/* `length` places along dim, from start on. A view.   self (.., n, ..) -> (.., length, ..)
 * tn_narrow(x, 0, 2, 3) */
TN_OPERATOR(narrow, "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
            .check = narrow_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = narrow_grad, .sample = "(5,3) 0 1 3 | (2,6) -1 -4 2 | (4) 0 4 0 | (3) 0 0 3",
            .node = "SliceBackward0")

static bool select_to(tn_frame *f, const tn_select_args *a, const tn_tensor *self,
                      tni_geometry *v) {
    int d;
    if (f && !self->ndim)
        return tn_fail(f, TN_INDEX, "select() cannot be applied to a 0-dim tensor.");
    if (!f)
        d = tni_dim(self->ndim, a->dim);
    else if (!tni_dim_of(f, self->ndim, a->dim, &d))
        return false;
    if (f && (a->index < -self->size[d] || a->index >= self->size[d])) {
        char text[160];
        return tn_fail(
            f, TN_INDEX, "select(): index %lld out of range for tensor of size %s at dimension %d",
            (long long)a->index, tni_shape_text(text, sizeof text, self->ndim, self->size), d);
    }
    tni_geometry_of(v, self);
    v->offset += (a->index < 0 ? a->index + self->size[d] : a->index) * self->stride[d];
    tni_geometry_remove(v, d);
    return true;
}
static bool select_check(tn_frame *f) {
    TN_ARGS(select, a, f);
    tni_geometry v;
    return select_to(f, a, f->in[0], &v) && tni_announce_geometry(f, 0, &v);
}
static void select_grad(tn_gradient *g) {
    TN_ARGS(select, a, g);
    tni_geometry v;
    if (select_to(NULL, a, g->in[0], &v)) view_give(g, &v);
}
/* The part at one place of dim, without that dimension. A view.   self (n, m) -> (m)
 * tn_select(x, 0, -1) */
TN_OPERATOR(select, "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
            .check = select_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = select_grad,
            .sample = "(5,3) 0 1 | (2,3,4) 1 -1 | (2,3,4) -1 0 | (4) 0 3 | (2,0) 0 1")

static bool diagonal_to(tn_frame *f, const tn_diagonal_args *a, const tn_tensor *self,
                        tni_geometry *v) {
    int64_t offset = a->offset, rows, cols, n, step;
    int i, k;
    if (f && (!tni_dim_of(f, self->ndim, a->dim1, &i) || !tni_dim_of(f, self->ndim, a->dim2, &k)))
        return false;
    i = tni_dim(self->ndim, a->dim1), k = tni_dim(self->ndim, a->dim2);
    if (f && i == k)
        return tn_fail(f, TN_INVALID, "diagonal dimensions cannot be identical %lld, %lld",
                       (long long)a->dim1, (long long)a->dim2);
    tni_geometry_of(v, self);
    rows = self->size[i], cols = self->size[k];
    if (offset >= 0)
        n = cols - offset < rows ? cols - (offset > cols ? cols : offset) : rows;
    else
        n = rows + offset < cols ? (offset < -rows ? 0 : rows + offset) : cols;
    if (n > 0) v->offset += offset >= 0 ? offset * self->stride[k] : -offset * self->stride[i];
    tni_geometry_remove(v, i > k ? i : k);
    tni_geometry_remove(v, i > k ? k : i);
    n = n > 0 ? n : 0;
    step = self->stride[i] + self->stride[k]; /* where it matters, one within self */
    tni_geometry_insert(v, v->ndim, n, n > 1 || step <= TNI_MOST ? step : self->stride[i]);
    return true;
}
static bool diagonal_check(tn_frame *f) {
    TN_ARGS(diagonal, a, f);
    tni_geometry v;
    return diagonal_to(f, a, f->in[0], &v) && tni_announce_geometry(f, 0, &v);
}
static void diagonal_grad(tn_gradient *g) {
    TN_ARGS(diagonal, a, g);
    tni_geometry v;
    if (diagonal_to(NULL, a, g->in[0], &v)) view_give(g, &v);
}
/* The diagonal of dim1 and dim2, `offset` places to the right, as last dimension. A view.
 * self (n, m) -> (min(n, m - offset))   tn_diagonal(x, .offset = 1) */
TN_OPERATOR(diagonal, "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
            .check = diagonal_check, .run = tni_run_nothing, .quick = tni_view_short,
            .grad = diagonal_grad,
            .sample = "(3,4) | (3,4) 2 | (3,4) -1 | (2,3,4) 1 -1 1 | (2,3) 5 | (0,3)")

/* --- lists of pieces -------------------------------------------------------------------------- */

/* dim from 0; -1: an error. */
static int split_dim(tn_frame *f, const char *name, int64_t dim) {
    int d = -1;
    if (!f->in[0]->ndim)
        tn_fail(f, TN_INVALID, "%s expects at least a 1-dimensional tensor", name);
    else if (!tni_dim_of(f, f->in[0]->ndim, dim, &d))
        d = -1;
    return d;
}
/* n pieces of `each` places, the last one what remains; or of the sizes given. */
static bool split_announce(tn_frame *f, int d, int64_t n, int64_t each, const int64_t *sizes) {
    tn_tensor *self = f->in[0];
    int64_t at = 0;
    if (!tn_announce_count(f, n)) return false;
    for (int k = 0; k < (int)n; k++) {
        int64_t rest = self->size[d] - at, size = sizes ? sizes[k] : each < rest ? each : rest;
        tni_geometry v;
        tni_geometry_of(&v, self);
        v.size[d] = size;
        v.offset += at * self->stride[d];
        at += size;
        if (!tni_announce_geometry(f, k, &v)) return false;
    }
    return true;
}
/* All incoming gradients behind each other, zeros for those that nobody used. */
static tn_tensors split_incoming(tn_gradient *g) {
    for (int k = 0; k < g->nout; k++)
        if (!tn_incoming(g, k)) return tn_tensors_of(g->incoming, -1);
    return tn_tensors_of(g->incoming, g->nout);
}
static void split_give(tn_gradient *g, int64_t dim) {
    tn_tensors pieces = split_incoming(g);
    if (pieces.n > 0) tn_give(g, 0, tnp_cat(pieces, dim));
}

static bool split_check(tn_frame *f) {
    TN_ARGS(split, a, f);
    int64_t each = a->split_size, size;
    const int d = split_dim(f, "split", a->dim);
    if (d < 0) return false;
    size = f->in[0]->size[d];
    if (each < 0)
        return tn_fail(f, TN_INVALID,
                       "split expects split_size be non-negative, but got split_size=%lld",
                       (long long)each);
    if (each == 0 && size != 0)
        return tn_fail(
            f, TN_INVALID,
            "split_size can only be 0 if dimension size is 0, but got dimension size of %lld",
            (long long)size);
    return split_announce(f, d, size ? size / each + (size % each != 0) : 1, each, NULL);
}
static void split_grad(tn_gradient *g) {
    TN_ARGS(split, a, g);
    split_give(g, a->dim);
}
/* Pieces of split_size along dim, the last one perhaps smaller. Views.
 * self (5, 3) -> (2, 3), (2, 3), (1, 3)   tn_split(x, 2) */
TN_OPERATOR(split, "split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
            .check = split_check, .run = tni_run_nothing, .grad = split_grad,
            .sample = "(5,3) 2 | (2,6) 3 dim=1 | (2,6) 9 dim=-1 | (0,2) 1 | (0) 0")

static bool split_with_sizes_check(tn_frame *f) {
    TN_ARGS(split_with_sizes, a, f);
    int64_t sum = 0;
    char text[160];
    const int d = split_dim(f, "split_with_sizes", a->dim);
    if (d < 0) return false;
    if (a->split_sizes.n < 0 || !a->split_sizes.at)
        return tn_fail(f, TN_INVALID, "argument 'split_sizes' is not a list");
    for (int64_t i = 0; i < a->split_sizes.n; i++)
        if (a->split_sizes.at[i] < 0 || !tni_add(sum, a->split_sizes.at[i], &sum))
            return tn_fail(
                f, TN_INVALID,
                "split_with_sizes expects split_sizes have only non-negative entries, but got "
                "split_sizes[%lld]=%lld",
                (long long)i, (long long)a->split_sizes.at[i]);
    if (sum != f->in[0]->size[d])
        return tn_fail(
            f, TN_INVALID,
            "split_with_sizes expects split_sizes to sum exactly to %lld (input tensor's size at "
            "dimension %d), but got split_sizes=%s",
            (long long)f->in[0]->size[d], d,
            tni_shape_text(text, sizeof text, (int)(a->split_sizes.n > 64 ? 64 : a->split_sizes.n),
                           a->split_sizes.at));
    return split_announce(f, d, a->split_sizes.n, 0, a->split_sizes.at);
}
static void split_with_sizes_grad(tn_gradient *g) {
    TN_ARGS(split_with_sizes, a, g);
    split_give(g, a->dim);
}
/* Pieces of the given sizes along dim. Views.   self (5, 3) -> (1, 3), (4, 3)
 * tn_split_with_sizes(x, TN_DIMS(1, 4)) */
TN_OPERATOR(split_with_sizes,
            "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
            .check = split_with_sizes_check, .run = tni_run_nothing, .grad = split_with_sizes_grad,
            .sample = "(5,3) [1,4] | (2,6) [3,0,3] dim=1 | (0,2) [0]")

static bool chunk_check(tn_frame *f) {
    TN_ARGS(chunk, a, f);
    int64_t size, each;
    const int d = split_dim(f, "chunk", a->dim);
    if (d < 0) return false;
    if (a->chunks <= 0)
        return tn_fail(f, TN_INVALID, "chunk expects `chunks` to be greater than 0, got: %lld",
                       (long long)a->chunks);
    size = f->in[0]->size[d];
    each = size / a->chunks + (size % a->chunks != 0);
    return split_announce(f, d, size ? size / each + (size % each != 0) : a->chunks, each, NULL);
}
static void chunk_grad(tn_gradient *g) {
    TN_ARGS(chunk, a, g);
    split_give(g, a->dim);
}
/* At most `chunks` pieces of equal size along dim, the last one perhaps smaller. Views.
 * tn_chunk(qkv, 3, .dim = -1) */
TN_OPERATOR(chunk, "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
            .check = chunk_check, .run = tni_run_nothing, .grad = chunk_grad,
            .sample = "(5,3) 2 | (2,6) 3 dim=-1 | (5) 4 | (0,2) 3 | (2) 5",
            .node = "SplitBackward0")

static bool unbind_check(tn_frame *f) {
    TN_ARGS(unbind, a, f);
    tn_tensor *self = f->in[0];
    const int d = split_dim(f, "unbind", a->dim);
    if (d < 0 || !tn_announce_count(f, self->size[d])) return false;
    for (int k = 0; k < f->nout; k++) {
        tni_geometry v;
        tni_geometry_of(&v, self);
        v.offset += k * self->stride[d];
        tni_geometry_remove(&v, d);
        if (!tni_announce_geometry(f, k, &v)) return false;
    }
    return true;
}
static void unbind_grad(tn_gradient *g) {
    TN_ARGS(unbind, a, g);
    tn_tensors pieces = split_incoming(g);
    if (pieces.n > 0) tn_give(g, 0, tnp_stack(pieces, tni_dim(g->in[0]->ndim, a->dim)));
}
/* The parts at each place of dim, without that dimension. Views.   self (2, 3) -> (3), (3)
 * tn_unbind(x) */
TN_OPERATOR(unbind, "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]", .check = unbind_check,
            .run = tni_run_nothing, .grad = unbind_grad,
            .sample = "(2,3) | (2,3) 1 | (2,3,4) dim=-2 | (3) | (2,0)")

/* --- view and reshape ------------------------------------------------------------------------- */

/* sizes with -1 replaced, so that they hold as many elements as self. */
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
    if (infer >= 0 && known == 0)
        return tn_fail(f, TN_INVALID,
                       "cannot reshape tensor of %lld elements into shape %s because the "
                       "unspecified dimension "
                       "size -1 can be any value and is ambiguous",
                       (long long)self->numel,
                       tni_shape_text(text, sizeof text, (int)l.n, l.at) + 0);
    if (known < 0 || (infer < 0 ? known != self->numel : self->numel % known != 0))
        return tn_fail(f, TN_INVALID, "shape '%s' is invalid for input of size %lld",
                       tni_shape_text(text, sizeof text, (int)l.n, l.at), (long long)self->numel);
    if (infer >= 0) size[infer] = self->numel / known;
    return true;
}

/* Strides with which the sizes in v show self's elements in their order; false: no strides do.
 * Dimensions of self are
 * taken in runs that lie in memory as one; each run must be a product of new sizes. */
static TNI_NOINLINE bool reshape_search(tni_geometry *v, const tn_tensor *self) {
    int64_t step = self->ndim ? self->stride[self->ndim - 1] : 1, run = 1, made = 1;
    int d = v->ndim - 1;
    if (self->numel == 0 || self->ndim == 0) {
        tni_row_major(v->ndim, v->size, v->stride);
        if (self->ndim == v->ndim &&
            !memcmp(self->size, v->size, sizeof(int64_t) * (size_t)v->ndim))
            memcpy(v->stride, self->stride, sizeof(int64_t) * (size_t)v->ndim);
        return true;
    }
    for (int i = self->ndim - 1; i >= 0; i--) {
        run *= self->size[i];
        if (i > 0 && (self->size[i - 1] == 1 || self->stride[i - 1] == run * step)) continue;
        for (; d >= 0 && (made < run || v->size[d] == 1); d--)
            v->stride[d] = made * step, made *= v->size[d];
        if (made != run) return false;
        if (i > 0) step = self->stride[i - 1], run = made = 1;
    }
    return d < 0;
}
TNI_INLINE bool reshape_strides(tni_geometry *v, const tn_tensor *self) {
    if (TNI_UNLIKELY(!(self->flags & TNI_CONTIGUOUS) || !self->numel || !self->ndim ||
                     self->stride[self->ndim - 1] != 1))
        return reshape_search(v, self);
    tni_flat_strides(v->ndim, v->size, v->stride); /* of a single run */
    return true;
}

static bool view_check(tn_frame *f) {
    TN_ARGS(view, a, f);
    tni_geometry v;
    if (!reshape_sizes(f, a->size, "size", f->in[0], v.size)) return false;
    v.ndim = (int)a->size.n;
    v.offset = f->in[0]->offset;
    if (!reshape_strides(&v, f->in[0]))
        return tn_fail(f, TN_INVALID,
                       "view size is not compatible with input tensor's size and stride (at least "
                       "one dimension "
                       "spans across two contiguous subspaces). Use tn_reshape(...) instead.");
    return tni_announce_geometry(f, 0, &v);
}
/* The same elements in their order with other sizes; one may be -1, it follows. A view: an error
 * where strides cannot
 * show it.   self (2, 6) -> (3, 4)   tn_view(x, TN_DIMS(3, -1)) */
TN_OPERATOR(
    view, "view(Tensor(a) self, int[] size) -> Tensor(a)", .check = view_check,
    .run = tni_run_nothing, .quick = tni_view_short, .grad = view_reshape_grad,
    .sample = "(2,6) [3,4] | (2,6) [-1] | (4,3) [2,2,-1,1] | (1) [] | () [1,1] | (0,2) [2,0,3]")

/* A view, or a row-major copy; a copy is marked in note[0]. */
static bool reshape_announce(tn_frame *f, tni_geometry *v) {
    tn_tensor *self = f->in[0];
    v->offset = self->offset;
    f->note[0] = !reshape_strides(v, self);
    return f->note[0] ? tn_announce(f, 0, (tn_dtype)self->dtype, v->ndim, v->size)
                      : tni_announce_geometry(f, 0, v);
}
static void reshape_run(tn_frame *f) {
    tn_tensor *self = f->in[0], to;
    int64_t stride[TN_MAX_DIMS];
    if (!f->note[0]) return;
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
/* The same elements in their order with other sizes; one may be -1, it follows. A view where
 * strides can show it, else
 * a copy.   self (2, 6) -> (3, 4)   tn_reshape(x, TN_DIMS(3, -1)) */
TN_OPERATOR(
    reshape, "reshape(Tensor(a) self, int[] shape) -> Tensor(a)", .check = reshape_check,
    .run = reshape_run, .quick = tni_reshape_short, .grad = view_reshape_grad,
    .sample = "(2,6) [3,4] | (2,6) [-1] | (4,3) [2,2,-1,1] | (1) [] | () [1,1] | (0,2) [2,0,3]",
    .node = "ViewBackward0")

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
    if (self->ndim && first == last) {
        f->note[0] = 0;
        tni_geometry_of(&v, self);
        return tni_announce_geometry(f, 0, &v);
    }
    if (self->ndim == 0) v.size[n++] = 1;
    for (int i = 0; i < self->ndim; i++) {
        if (i <= first || i > last)
            v.size[n++] = self->size[i];
        else
            v.size[first] *= self->size[i];
    }
    v.ndim = n;
    return reshape_announce(f, &v);
}
/* The dimensions from start_dim to end_dim as one. A view where it can be.
 * self (2, 3, 4) -> (2, 12)   tn_flatten(x, .start_dim = 1) */
TN_OPERATOR(flatten,
            "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
            .check = flatten_check, .run = reshape_run, .quick = tni_reshape_short,
            .grad = view_reshape_grad,
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
        return tn_fail(f, TN_INVALID, "unflatten: a result of %d + %lld dimensions", self->ndim - 1,
                       (long long)a->sizes.n);
    tni_stack_view(&one, self, 1, self->size + d, self->stride + d, 0);
    if (!reshape_sizes(f, a->sizes, "sizes", &one, part)) return false;
    tni_geometry_of(&v, self);
    tni_geometry_remove(&v, d);
    for (int i = 0; i < (int)a->sizes.n; i++) tni_geometry_insert(&v, d + i, part[i], 0);
    return reshape_announce(f, &v);
}
/* Dimension dim as several; one size may be -1. A view.   self (2, 12) -> (2, 3, 4)
 * tn_unflatten(x, 1, TN_DIMS(3, 4)) */
TN_OPERATOR(unflatten, "unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
            .check = unflatten_check, .run = reshape_run, .quick = tni_reshape_short,
            .grad = view_reshape_grad,
            .sample = "(2,12) 1 [3,4] | (6,2) 0 [-1,3] | (4) -1 [2,2] | (2,0) 1 [3,0]",
            .node = "ViewBackward0")
