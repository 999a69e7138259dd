/* pieces.c - pieces of a tensor along a dimension, one or a list of them, as views. The gradient
 * puts what comes in at the same geometry of zeros.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "geometry.h"
#include "../../call/arguments.h"
#include "../../api/ops/shape.h"

/* --- pieces along a dimension ----------------------------------------------------------------- */

/* The geometry of a slice of self. f NULL: for a gradient, whose forward has
 * checked the arguments. */
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
    /* Positions from the end become positions from the start; those outside are cut to
     * 0..n, as Python's. */
    if (start < 0) start = start < -n ? 0 : start + n;
    if (end < 0) end = end < -n ? 0 : end + n;
    if (start > n) start = n;
    end = end < start ? start : end > n ? n : end;
    tni_geometry_of(v, self);
    v->offset += start * v->stride[d];
    /* ceil((end - start) / step) without an overflow. */
    v->size[d] = (end - start) / a->step + ((end - start) % a->step != 0);
    if (!tni_mul(v->stride[d], a->step, &v->stride[d]) || v->stride[d] > TNI_MOST)
        v->stride[d] = self->stride[d]; /* such a step leaves one place at most: never used */
    return true;
}
static bool slice_check(tn_frame *f) {
    TN_ARGS(slice, a, f);
    tni_geometry v;
    return slice_to(f, a, f->in[0], &v) && tni_announce_geometry(f, 0, &v);
}
/* The geometry once more, over self's shape in row-major order: what came in goes there. */
static void slice_grad(tn_gradient *g) {
    TN_ARGS(slice, a, g);
    tni_geometry v;
    if (slice_to(NULL, a, g->in[0], &v)) tni_geometry_give(g, &v);
}
/* self[start:end:step] along dim. Negative positions count from the end; those beyond the end are
 * cut to it. A view. */
TN_OPERATOR(slice,
            "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) "
            "-> Tensor(a)",
            TN_DOC(.shapes = "self (.., n, ..) -> (.., ceil((end - start) / step), ..)",
                   .example = "tn_slice(x, .dim = 1, .start = 2, .step = 2)"),
            .forms = TN_LEADING, .check = slice_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = slice_grad,
            .sample = "(5,3) | (5,3) 0 1 4 2 | (2,6) 1 -4 -1 | (2,6) -1 4 100 3 | (4) 0 3 1 | (4) "
                      "0 -9 None 3 | (0,2) 0 0 1")

/* The same for narrow, which refuses what slice cuts. */
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
    /* torch's bounds: a start of n is allowed, for an empty piece. */
    if (f && (start < -n || start > n))
        return tn_fail(f, TN_INDEX,
                       "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
                       (long long)-n, (long long)n, (long long)start);
    if (start < 0) start += n;
    /* The piece must lie inside; slice would cut it. */
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
    if (narrow_to(NULL, a, g->in[0], &v)) tni_geometry_give(g, &v);
}
/* `length` positions along dim, beginning at start. A view. */
TN_OPERATOR(narrow, "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
            TN_DOC(.shapes = "self (.., n, ..) -> (.., length, ..)",
                   .example = "tn_narrow(x, 0, 2, 3)"),
            .forms = TN_LEADING, .check = narrow_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = narrow_grad,
            .sample = "(5,3) 0 1 3 | (2,6) -1 -4 2 | (4) 0 4 0 | (3) 0 0 3",
            .node = "SliceBackward0")

/* The geometry of one position along dim; f as in slice_to. */
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
    /* The position becomes part of the offset, and the dimension goes. */
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
    if (select_to(NULL, a, g->in[0], &v)) tni_geometry_give(g, &v);
}
/* The part of self at one position along dim, without that dimension. A view. */
TN_OPERATOR(select, "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
            TN_DOC(.shapes = "self (n, m) -> (m)", .example = "tn_select(x, 0, -1)"),
            .forms = TN_LEADING, .check = select_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = select_grad,
            .sample = "(5,3) 0 1 | (2,3,4) 1 -1 | (2,3,4) -1 0 | (4) 0 3 | (2,0) 0 1")

/* The geometry of a diagonal; f as in slice_to. One step along it is a step
 * along both dimensions. */
static bool diagonal_to(tn_frame *f, const tn_diagonal_args *a, const tn_tensor *self,
                        tni_geometry *v) {
    int64_t offset = a->offset, rows, cols, n, step;
    int i, k;
    if (f && (!tni_dim_of(f, self->ndim, a->dim1, &i) || !tni_dim_of(f, self->ndim, a->dim2, &k)))
        return false;
    i = tni_dim(self->ndim, a->dim1);
    k = tni_dim(self->ndim, a->dim2);
    if (f && i == k)
        return tn_fail(f, TN_INVALID, "diagonal dimensions cannot be identical %lld, %lld",
                       (long long)a->dim1, (long long)a->dim2);
    tni_geometry_of(v, self);
    rows = self->size[i];
    cols = self->size[k];
    /* Its length: the shorter side of what the offset leaves of the matrix, at least 0. `offset`
     * may be any number; no sum here overflows. */
    if (offset >= 0)
        n = cols - offset < rows ? cols - (offset > cols ? cols : offset) : rows;
    else
        n = rows + offset < cols ? (offset < -rows ? 0 : rows + offset) : cols;
    if (n > 0) v->offset += offset >= 0 ? offset * self->stride[k] : -offset * self->stride[i];
    tni_geometry_remove(v, i > k ? i : k);
    tni_geometry_remove(v, i > k ? k : i);
    n = n > 0 ? n : 0;
    /* With n > 1 the step stays within self; else it is never used and may be too large
     * for a stride. */
    step = self->stride[i] + self->stride[k];
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
    if (diagonal_to(NULL, a, g->in[0], &v)) tni_geometry_give(g, &v);
}
/* The diagonal of dim1 and dim2, moved right by `offset`, as the last dimension. A view. */
TN_OPERATOR(diagonal, "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
            TN_DOC(.shapes = "self (n, m) -> (min(n, m - offset))",
                   .example = "tn_diagonal(x, .offset = 1)"),
            .forms = TN_LEADING, .check = diagonal_check, .run = tni_run_nothing,
            .quick = tni_view_short, .grad = diagonal_grad,
            .sample = "(3,4) | (3,4) 2 | (3,4) -1 | (2,3,4) 1 -1 1 | (2,3) 5 | (0,3)")

/* --- lists of pieces -------------------------------------------------------------------------- */

/* dim counted from 0; -1 with an error. */
static int split_dim(tn_frame *f, const char *name, int64_t dim, tn_code code) {
    int d = -1;
    if (!f->in[0]->ndim)
        tn_fail(f, code, "%s expects at least a 1-dimensional tensor", name);
    else if (!tni_dim_of(f, f->in[0]->ndim, dim, &d))
        d = -1;
    return d;
}
/* Announces n views along d: pieces of `each` places, the last one what remains, or of
 * the sizes given. */
static bool split_announce(tn_frame *f, int d, int64_t n, int64_t each, const int64_t *sizes) {
    tn_tensor *self = f->in[0];
    int64_t at = 0;
    if (!tn_announce_count(f, n)) return false;
    /* `at` is the first place of piece k. */
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
/* All incoming gradients, with zeros for those that nobody used; n = -1 with an error. */
static tn_tensors split_incoming(tn_gradient *g) {
    for (int k = 0; k < g->nout; k++)
        if (!tn_incoming(g, k)) return tn_tensors_of(g->incoming, -1);
    return tn_tensors_of(g->incoming, g->nout);
}
/* self's gradient is the pieces' gradients, joined again. */
static void split_give(tn_gradient *g, int64_t dim) {
    tn_tensors pieces = split_incoming(g);
    if (pieces.n > 0) tn_give(g, 0, tnp_cat(pieces, dim));
}

static bool split_check(tn_frame *f) {
    TN_ARGS(split, a, f);
    int64_t each = a->split_size, size;
    const int d = split_dim(f, "split", a->dim, TN_INVALID);
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
    /* An empty dimension gives one empty piece, as torch. */
    return split_announce(f, d, size ? size / each + (size % each != 0) : 1, each, NULL);
}
static void split_grad(tn_gradient *g) {
    TN_ARGS(split, a, g);
    split_give(g, a->dim);
}
/* Pieces of split_size along dim; the last one may be smaller. Views. */
TN_OPERATOR(split, "split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
            TN_DOC(.shapes = "self (5, 3) -> (2, 3), (2, 3), (1, 3)", .example = "tn_split(x, 2)"),
            .forms = TN_LEADING, .check = split_check, .run = tni_run_nothing, .grad = split_grad,
            .sample = "(5,3) 2 | (2,6) 3 dim=1 | (2,6) 9 dim=-1 | (0,2) 1 | (0) 0")

static bool split_with_sizes_check(tn_frame *f) {
    TN_ARGS(split_with_sizes, a, f);
    int64_t sum = 0;
    char text[160];
    const int d = split_dim(f, "split_with_sizes", a->dim, TN_INVALID);
    if (d < 0) return false;
    if (a->split_sizes.n < 0 || !a->split_sizes.at)
        return tn_fail(f, TN_INVALID, "argument 'split_sizes': expected a list");
    /* No size is negative, and their sum does not overflow. */
    for (int64_t i = 0; i < a->split_sizes.n; i++)
        if (a->split_sizes.at[i] < 0 || !tni_add(sum, a->split_sizes.at[i], &sum))
            return tn_fail(
                f, TN_INVALID,
                "split_with_sizes expects split_sizes have only non-negative entries, but got "
                "split_sizes[%lld]=%lld",
                (long long)i, (long long)a->split_sizes.at[i]);
    /* The pieces cover the dimension exactly. */
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
/* Pieces of the given sizes along dim. Views. */
TN_OPERATOR(split_with_sizes,
            "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
            TN_DOC(.shapes = "self (5, 3) -> (1, 3), (4, 3)",
                   .example = "tn_split_with_sizes(x, TN_DIMS(1, 4))"),
            .forms = TN_LEADING, .check = split_with_sizes_check, .run = tni_run_nothing,
            .grad = split_with_sizes_grad,
            .sample = "(5,3) [1,4] | (2,6) [3,0,3] dim=1 | (0,2) [0]")

static bool chunk_check(tn_frame *f) {
    TN_ARGS(chunk, a, f);
    int64_t size, each;
    const int d = split_dim(f, "chunk", a->dim, TN_INVALID);
    if (d < 0) return false;
    if (a->chunks <= 0)
        return tn_fail(f, TN_INVALID, "chunk expects `chunks` to be greater than 0, got: %lld",
                       (long long)a->chunks);
    size = f->in[0]->size[d];
    /* ceil(size / chunks); pieces of that size may be fewer than asked for. */
    each = size / a->chunks + (size % a->chunks != 0);
    return split_announce(f, d, size ? size / each + (size % each != 0) : a->chunks, each, NULL);
}
static void chunk_grad(tn_gradient *g) {
    TN_ARGS(chunk, a, g);
    split_give(g, a->dim);
}
/* At most `chunks` pieces of equal size along dim; the last one may be smaller. Views. */
TN_OPERATOR(chunk, "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]",
            TN_DOC(.shapes = "self (5, 3) -> (2, 3), (2, 3), (1, 3) for 3 chunks",
                   .example = "tn_chunk(x, 3, .dim = -1)"),
            .forms = TN_LEADING, .check = chunk_check, .run = tni_run_nothing, .grad = chunk_grad,
            .sample = "(5,3) 2 | (2,6) 3 dim=-1 | (5) 4 | (0,2) 3 | (2) 5",
            .node = "SplitBackward0")

static bool unbind_check(tn_frame *f) {
    TN_ARGS(unbind, a, f);
    tn_tensor *self = f->in[0];
    const int d = split_dim(f, "unbind", a->dim, TN_INDEX);
    if (d < 0 || !tn_announce_count(f, self->size[d])) return false;
    for (int k = 0; k < f->nout; k++) {
        tni_geometry v;
        tni_geometry_of(&v, self);
        v.offset += k * self->stride[d];
        /* One position: its dimension goes, as in select. */
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
/* The part at each position along dim, without that dimension. Views. */
TN_OPERATOR(unbind, "unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]",
            TN_DOC(.shapes = "self (2, 3) -> (3), (3)", .example = "tn_unbind(x)"),
            .forms = TN_LEADING, .check = unbind_check, .run = tni_run_nothing, .grad = unbind_grad,
            .sample = "(2,3) | (2,3) 1 | (2,3,4) dim=-2 | (3) | (2,0)")
