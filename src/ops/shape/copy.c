/* copy.c - the same elements somewhere else: clones, conversions, copies in place, joins, and
 * other orders.
 *
 * Elements are moved as bytes where no conversion is asked for; tni_copy_elements (drive.c) does
 * the rest.
 * Hot: small calls run through it (base/cold_begin.inl). */
#include "copy.h"
#include "geometry.h"
#include "../../call/arguments.h"
#include "../../cpu/drive.h"
#include "../../cpu/walk.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../call/whole.h"

/* --- clone, contiguous ------------------------------------------------------------------------ */

/* self's strides if it fills its memory without gaps, else dense ones in its
 * order of dimensions. */
TN_PRIV void tni_copy_strides(tni_shape *s, const tn_tensor *self) {
    s->ndim = self->ndim;
    memcpy(s->size, self->size, sizeof(int64_t) * (size_t)s->ndim);
    if (tni_is_dense(self))
        memcpy(s->stride, self->stride, sizeof(int64_t) * (size_t)s->ndim);
    else
        tni_like_strides(s, &self, 1);
}

/* self's sizes with the strides of a memory format, where preserve and None keep self's
 * order of dimensions. */
static bool copy_format(tn_frame *f, const tn_tensor *self, tn_memory_format format, tni_shape *s) {
    int n = self->ndim, last = format == TN_MEMORY_FORMAT_CHANNELS_LAST ? 4 : 5;
    s->ndim = n;
    memcpy(s->size, self->size, sizeof(int64_t) * (size_t)n);
    if ((int)format == 0 || format == TN_MEMORY_FORMAT_PRESERVE_FORMAT)
        tni_copy_strides(s, self);
    else
        tni_row_major(n, s->size, s->stride);
    if (format != TN_MEMORY_FORMAT_CHANNELS_LAST && format != TN_MEMORY_FORMAT_CHANNELS_LAST_3D)
        return true;
    /* Both channels_last formats name the number of dimensions that they are for. */
    if (n != last)
        return tn_fail(f, TN_INVALID, "required rank %d tensor to use channels_last format", last);
    tni_channels_last(n, s->size, s->stride);
    return true;
}

TN_PRIV tn_tensor *tni_images_as(tn_tensor *t, const tn_tensor *like) {
    if (!t || t->ndim != like->ndim || !tni_like_channels_last(like)) return t;
    return tnp_clone(t, t->ndim == 4 ? TN_MEMORY_FORMAT_CHANNELS_LAST
                                     : TN_MEMORY_FORMAT_CHANNELS_LAST_3D);
}

static bool clone_check(tn_frame *f) {
    TN_ARGS(clone, a, f);
    tni_shape s;
    return copy_format(f, f->in[0], a->memory_format, &s) &&
           tn_announce_strided(f, 0, (tn_dtype)f->in[0]->dtype, s.ndim, s.size, s.stride);
}
static void copy_run(tn_frame *f) { tni_copy_elements(f->block, f->out[0], f->in[0]); }
static void copy_pass_grad(tn_gradient *g) { tn_give(g, 0, g->incoming[0]); }
/* Formats of images count dimensions, so these are made one by one. */
static tn_tensor *clone_batched(tn_frame *f, tn_tensor *const *whole) {
    TN_ARGS(clone, a, f);
    if (a->memory_format > TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT) return NULL;
    return tnp_clone(whole[0], a->memory_format);
}
/* A copy with its own memory, in self's order of dimensions or in the given memory format. */
TN_OPERATOR(
    clone, "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_clone(x)"), .forms = TN_OUT | TN_MOVES,
    .check = clone_check, .run = copy_run, .grad = copy_pass_grad,
    .sample = "(2,3) | () | (0,3) | (2,3,4,2) memory_format=channels_last | (2,3):i64 | (300)",
    .batched = TN_BATCHED(clone_batched))

/* A view of all of self, when `same`; else a row-major copy. */
static bool copy_or_view(tn_frame *f, bool same, tn_dtype dtype) {
    tn_tensor *self = f->in[0];
    tni_geometry v;
    TN_NOTE(tni_copy_note, note, f);
    /* run reads the note, since the result does not say which it is. */
    note->copies = !same;
    if (note->copies) return tn_announce(f, 0, dtype, self->ndim, self->size);
    tni_geometry_of(&v, self);
    return tni_announce_geometry(f, 0, &v);
}
static void copy_unless_view_run(tn_frame *f) {
    TN_NOTE(tni_copy_note, note, f);
    if (note->copies) copy_run(f);
}
static bool contiguous_check(tn_frame *f) {
    return copy_or_view(f, tni_is_row_major(f->in[0]->ndim, f->in[0]->size, f->in[0]->stride),
                        (tn_dtype)f->in[0]->dtype);
}
/* self in row-major order: a view if it already is, else a copy. */
TN_OPERATOR(contiguous, "contiguous(Tensor(a) self) -> Tensor(a)",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_contiguous(tn_t(x))"),
            .forms = TN_MOVES | TN_LEADING, .check = contiguous_check, .run = copy_unless_view_run,
            .grad = copy_pass_grad, .sample = "(2,3) | () | (0,3)", .node = "CloneBackward0")

/* --- to --------------------------------------------------------------------------------------- */

/* A conversion to dtype, which may be TN_NO_DTYPE: self's; on the device that the frame has. */
static bool to_check(tn_frame *f, tn_dtype dtype, bool copy) {
    tn_tensor *self = f->in[0];
    tni_shape s;
    TN_NOTE(tni_copy_note, note, f);
    if (tni_dtype((int)dtype)->bytes == 0) dtype = (tn_dtype)self->dtype;
    if (!copy && (int)dtype == self->dtype && f->device == self->device)
        return copy_or_view(f, true, dtype);
    note->copies = true;
    return copy_format(f, self, (tn_memory_format)0, &s) &&
           tn_announce_strided(f, 0, dtype, s.ndim, s.size, s.stride);
}
static bool to_dtype_check(tn_frame *f) {
    TN_ARGS(to_dtype, a, f);
    return to_check(f, a->dtype, a->copy);
}
/* self converted to dtype. Integers wrap; floats lose their fraction as integers and round to the
 * nearest, ties to even, as smaller floats; complex numbers lose their imaginary part as real ones.
 * A view if nothing changes, unless copy is set. */
TN_OPERATOR(to_dtype,
            "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False) "
            "-> Tensor(a)",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_to_dtype(x, TN_F64)"),
            .forms = TN_MOVES | TN_LEADING, .check = to_dtype_check, .run = copy_unless_view_run,
            .grad = copy_pass_grad,
            .sample = "(2,3) float32 | (2,3) float64 | (2,3) int32 | (2,3):i64 uint8 | (2,3):bool "
                      "float16 | () bfloat16 copy=True | "
                      "(0) bool | (2,3):c128 complex64 | (7):i64 float32",
            .node = "ToCopyBackward0")

/* The incoming gradient on the device of input i. */
static tn_tensor *copy_across(tn_gradient *g, int i) {
    tn_tensor *d = g->incoming[0];
    if (d && d->device != g->in[i]->device)
        d = tnp_to(d, g->in[i]->device, TN_NO_DTYPE, false, false);
    return d;
}

static bool to_device_check(tn_frame *f) {
    TN_ARGS(to, a, f);
    tn_device_id device = a->device == TN_NO_DEVICE ? f->in[0]->device : a->device;
    const bool meta = (f->in[0]->flags & (TNI_META | TNI_BATCHED)) == TNI_META;
    /* A plan has its tensors of the CPU there. */
    if (meta && device == TN_CPU && tni_is_planning(f->block)) device = TN_META;
    if (meta && !tni_without_data(f->block, device))
        return tn_fail(f, TN_UNSUPPORTED, "Cannot copy out of meta tensor; no data!");
    /* A meta result has no data; the door then leaves run out. */
    if (!tni_frame_place(f, device) || !to_check(f, a->dtype, a->copy)) return false;
    /* A result that nobody waits for lies where the device writes by itself. */
    return !a->non_blocking || f->device != TN_CPU || !(f->in[0]->flags & TNI_DEVICE) ||
           tni_pin_result(f->block, f->out[0], f->in[0]->device);
}
static void to_device_run(tn_frame *f) {
    TN_ARGS(to, a, f);
    TN_NOTE(tni_copy_note, note, f);
    if (note->copies && a->non_blocking)
        tni_copy_later(f->block, f->out[0], f->in[0]);
    else if (note->copies)
        copy_run(f);
}
static void to_device_grad(tn_gradient *g) { tn_give(g, 0, copy_across(g, 0)); }
/* self on another device, and converted to dtype if one is given. A view if nothing changes. With
 * non_blocking nobody waits for copies between a device and pinned memory (tn_pin). */
TN_OPERATOR(to,
            "to.device(Tensor(a) self, Device? device, ScalarType? dtype=None, bool "
            "non_blocking=False, bool copy=False) "
            "-> Tensor(a)",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_to(x, tn_device(\"meta\"))",
                   .differs = "parameter dtype: one row for torch's overloads with and without it"),
            .forms = TN_MOVES | TN_ACROSS | TN_LEADING, .check = to_device_check,
            .run = to_device_run, .grad = to_device_grad,
            .sample = "(2,3) None | (2,3) None float32 | () None int64 copy=True",
            .node = "ToCopyBackward0")

/* --- in place: copy_, fill_, zero_ ------------------------------------------------------------ */

/* The result of a row that writes self, whatever its strides. */
static bool copy_self(tn_frame *f) {
    tn_tensor *self = f->in[0];
    return tn_announce_strided(f, 0, (tn_dtype)self->dtype, self->ndim, self->size, self->stride);
}
static bool copy_check(tn_frame *f) {
    tn_tensor *self = f->in[0], *src = f->in[1];
    char has[160], wants[160];
    tni_shape s;
    s.ndim = self->ndim;
    memcpy(s.size, self->size, sizeof(int64_t) * (size_t)s.ndim);
    /* src must broadcast to self, which broadcasting must not enlarge. */
    if (!tni_broadcast(&s, src->ndim, src->size) || s.ndim != self->ndim ||
        memcmp(s.size, self->size, sizeof(int64_t) * (size_t)s.ndim))
        return tn_fail(f, TN_INVALID, "src of shape %s does not broadcast to self's %s",
                       tni_shape_text(has, sizeof has, src->ndim, src->size),
                       tni_shape_text(wants, sizeof wants, self->ndim, self->size));
    return copy_self(f);
}
static void copy_into_run(tn_frame *f) {
    tn_tensor *to = f->out[0], *src = f->in[1], wide;
    int64_t stride[TN_MAX_DIMS];
    int more = to->ndim - src->ndim;
    if (to->numel == 0 || src == to) return;
    /* src as self's shape: stride 0 along the dimensions in which it broadcasts. */
    for (int d = 0; d < to->ndim; d++)
        stride[d] =
            d < more || (src->size[d - more] == 1 && to->size[d] != 1) ? 0 : src->stride[d - more];
    tni_stack_view(&wide, src, to->ndim, to->size, stride, src->offset);
    if (tni_bytes_at(&wide) == tni_bytes_at(to) && wide.dtype == to->dtype &&
        !memcmp(stride, to->stride, sizeof(int64_t) * (size_t)to->ndim))
        return; /* the same elements in the same order: nothing moves */
    tni_copy_elements(f->block, to, &wide);
}
static tn_tensor *copy_zeros(tn_tensor *like) {
    return tnp_zeros_like(like, TN_NO_DTYPE, TN_NO_DEVICE);
}
static void copy_grad(tn_gradient *g) {
    if (g->want[0]) tn_give(g, 0, copy_zeros(g->incoming[0]));
    if (g->want[1]) tn_give(g, 1, copy_across(g, 1));
}
/* Overwrites self with src, broadcast and converted to self's dtype. */
TN_OPERATOR(copy, "copy_(Tensor self, Tensor src) -> Tensor",
            TN_DOC(.shapes = "self (*), src broadcast to it -> self", .example = "tn_copy_(x, y)"),
            .forms = TN_INPLACE | TN_ALIAS | TN_MOVES | TN_ACROSS, .check = copy_check,
            .run = copy_into_run, .grad = copy_grad,
            .sample = "(2,3) (2,3) | (2,3) (3) | (2,3) () | (2,3) (2,3):i64 | (2,3):i64 (2,1):f64 "
                      "| (0,2) (2)",
            .node = "torch::autograd::CopyBackwards")

/* torch's check of a fill value: within the dtype's range, where infinities and NaN of floats are
 * allowed. A complex value must be real for a real dtype. */
static bool copy_fits(tn_frame *f, tn_scalar s, int dtype) {
    const double largest = tni_dtype(dtype)->largest;
    double least = -largest - (tni_is_int(dtype) && tni_dtype(dtype)->is_signed), v = s.real;
    bool whole = s.kind == TN_KIND_INT || s.kind == TN_KIND_BOOL;
    if (whole && dtype == TN_I64) return true;
    if (!tni_is_int(dtype) && v - v != 0) return true; /* an infinity or NaN is itself */
    if (s.kind == TN_KIND_COMPLEX && s.imaginary != 0 && !tni_is_complex(dtype))
        return tn_fail(f, TN_INVALID, "value cannot be converted to type %s without overflow",
                       tni_dtype(dtype)->text);
    if (s.kind == TN_KIND_COMPLEX && fabs(s.imaginary) > largest &&
        s.imaginary - s.imaginary == 0 && tni_is_complex(dtype))
        v = HUGE_VAL; /* its imaginary part is too large */
    /* largest of int64, 2^63 - 1, rounds up to 2^63 as a double, which does not fit. */
    if (v >= least && (dtype == TN_I64 ? v < largest : v <= largest)) return true;
    return tn_fail(f, TN_INVALID, "value cannot be converted to type %s without overflow",
                   tni_dtype(dtype)->text);
}
TN_PRIV bool tni_fill_check(tn_frame *f, tn_scalar value, int dtype) {
    if (value.kind <= TN_KIND_NONE || value.kind > TN_KIND_COMPLEX)
        return tn_fail(f, TN_INVALID, "the fill value must be a number");
    return copy_fits(f, tni_exact(value), dtype);
}
TN_PRIV void tni_fill(tn_tensor *t, tn_scalar value) {
    char unit[16];
    const tn_tensor *to = t;
    tni_walk w;
    /* One element is converted, then repeated. */
    tni_element_set(unit, t->dtype, tni_exact(value));
    if (t->numel == 0) return;
    if (TNI_UNLIKELY(t->flags & TNI_DEVICE)) {
        tni_across_fill(t, unit);
        return;
    }
    tni_walk_start(&w, t->ndim, t->size, &to, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        tni_fill_row(w.at[0], w.row[0], unit, w.n, tni_dtype_size(t));
}

static bool fill_check(tn_frame *f) {
    TN_ARGS(fill, a, f);
    return tni_fill_check(f, a->value, f->in[0]->dtype) && copy_self(f);
}
static void fill_run(tn_frame *f) {
    TN_ARGS(fill, a, f);
    tni_fill(f->out[0], a->value);
}
static void fill_grad(tn_gradient *g) { tn_give(g, 0, copy_zeros(g->incoming[0])); }
/* Sets every element of self to value. */
TN_OPERATOR(fill, "fill_.Scalar(Tensor self, Scalar value) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_fill_(x, 0.5)"),
            .forms = TN_INPLACE | TN_MOVES | TN_LEADING, .check = fill_check, .run = fill_run,
            .grad = fill_grad,
            .sample = "(2,3) 0.5 | (2,3):i64 -3 | (3):bool True | () 2 | (0) 1 | (2,3):f16 0.1",
            .node = "FillBackward2")

static void zero_run(tn_frame *f) { tni_fill(f->out[0], tn_int(0)); }
/* Sets every element of self to 0. */
TN_OPERATOR(zero, "zero_(Tensor self) -> Tensor",
            TN_DOC(.shapes = "self (*) -> self", .example = "tn_zero_(x)"),
            .forms = TN_INPLACE | TN_MOVES | TN_LEADING, .check = copy_self, .run = zero_run,
            .grad = fill_grad, .sample = "(2,3) | (2,3):i64 | (3):bool | () | (0)")

/* --- conj ------------------------------------------------------------------------------------- */

/* A real tensor is its own conjugate: a view, as `to` without a change. */
static bool conj_check(tn_frame *f) {
    tn_tensor *self = f->in[0];
    tni_shape s;
    TN_NOTE(tni_copy_note, note, f);
    if (!tni_is_complex(self->dtype)) return copy_or_view(f, true, (tn_dtype)self->dtype);
    note->copies = true;
    return copy_format(f, self, (tn_memory_format)0, &s) &&
           tn_announce_strided(f, 0, (tn_dtype)self->dtype, s.ndim, s.size, s.stride);
}
static void conj_run(tn_frame *f) {
    tn_tensor *out = f->out[0];
    const tn_tensor *to = out;
    tni_walk w;
    TN_NOTE(tni_copy_note, note, f);
    if (!note->copies || out->numel == 0) return;
    tni_copy_elements(f->block, out, f->in[0]);
    tni_walk_start(&w, out->ndim, out->size, &to, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        /* The second part of each pair changes its sign; zeros and NaN as well. */
        for (int64_t i = 0; i < w.n; i++) {
            char *at = w.at[0] + i * w.row[0];
            if (out->dtype == TN_C64)
                ((float *)(void *)at)[1] = -((float *)(void *)at)[1];
            else
                ((double *)(void *)at)[1] = -((double *)(void *)at)[1];
        }
}
static void conj_grad(tn_gradient *g) { tn_give(g, 0, tnp_conj(g->incoming[0])); }
/* The complex conjugate, as a new tensor; of a real tensor a view. */
TN_OPERATOR(conj, "conj(Tensor(a) self) -> Tensor(a)",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_conj(z)"), .forms = TN_LEADING,
            .check = conj_check, .run = conj_run, .grad = conj_grad,
            .sample = "(2,3) | (2,3):c128 | ():c64 | (0):c128")

/* --- triangles -------------------------------------------------------------------------------- */

static bool triangle_check(tn_frame *f, const char *name) {
    if (f->in[0]->ndim < 2)
        return tn_fail(f, TN_INVALID, "%s: input tensor must have at least 2 dimensions", name);
    if (f->inplace) return copy_self(f);
    return tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, f->in[0]->ndim, f->in[0]->size);
}
/* One matrix of rows x cols. lower keeps the columns of each row up to the diagonal, else those
 * from the diagonal on are kept. Steps from one row or column to the next are in bytes. */
typedef struct copy_triangle {
    int64_t rows, cols, diagonal, bytes, to_row, to_col, from_row, from_col;
    bool lower;
} copy_triangle;
/* Copies what is kept, unless it is in place, and fills the rest with zeros. */
static void triangle_matrix(const copy_triangle *m, char *to, const char *from) {
    static const char zero[16] = {0};
    for (int64_t r = 0; r < m->rows; r++, to += m->to_row, from += m->from_row) {
        /* The columns left of `cut` belong to the lower triangle. The bounds come first, so that no
         * sum with a huge diagonal overflows. */
        int64_t cut = m->diagonal > m->cols    ? m->cols
                      : m->diagonal < -m->rows ? 0
                                               : r + m->diagonal + m->lower,
                keep, zeros;
        cut = cut < 0 ? 0 : cut > m->cols ? m->cols : cut;
        /* First columns of the part that is kept and of the part that becomes 0. */
        keep = m->lower ? 0 : cut;
        zeros = m->lower ? cut : 0;
        if (to != from && (m->lower ? cut : m->cols - cut) > 0)
            tni_move_row(to + keep * m->to_col, m->to_col, from + keep * m->from_col, m->from_col,
                         m->lower ? cut : m->cols - cut, m->bytes);
        if ((m->lower ? m->cols - cut : cut) > 0)
            tni_fill_row(to + zeros * m->to_col, m->to_col, zero, m->lower ? m->cols - cut : cut,
                         m->bytes);
    }
}
static void triangle_run(tn_frame *f, int64_t diagonal, bool lower) {
    /* heads: both tensors without the two dimensions of the matrices, to walk over matrices */
    tn_tensor *x = f->in[0], *out = f->out[0], heads[2];
    const tn_tensor *pair[2];
    int n = out->ndim;
    copy_triangle m;
    tni_walk w;
    if (out->numel == 0) return;
    m.lower = lower;
    m.diagonal = diagonal;
    m.bytes = tni_dtype_size(out);
    /* The last two dimensions are the matrix. */
    m.rows = out->size[n - 2];
    m.cols = out->size[n - 1];
    m.to_row = out->stride[n - 2] * m.bytes;
    m.to_col = out->stride[n - 1] * m.bytes;
    m.from_row = x->stride[n - 2] * m.bytes;
    m.from_col = x->stride[n - 1] * m.bytes;
    for (int k = 0; k < 2; k++) {
        const tn_tensor *t = k ? x : out;
        tni_stack_view(&heads[k], t, n - 2, t->size, t->stride, t->offset);
        pair[k] = &heads[k];
    }
    tni_walk_start(&w, n - 2, out->size, pair, 2);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++)
            triangle_matrix(&m, w.at[0] + i * w.row[0], w.at[1] + i * w.row[1]);
}
static bool tril_check(tn_frame *f) { return triangle_check(f, "tril"); }
static void tril_run(tn_frame *f) {
    TN_ARGS(tril, a, f);
    triangle_run(f, a->diagonal, true);
}
static void tril_grad(tn_gradient *g) {
    TN_ARGS(tril, a, g);
    tn_give(g, 0, tnp_tril(g->incoming[0], a->diagonal));
}
/* The lower triangle of each matrix: elements above the diagonal become 0. A positive `diagonal`
 * keeps that many diagonals more. */
TN_OPERATOR(
    tril, "tril(Tensor self, int diagonal=0) -> Tensor",
    TN_DOC(.shapes = "self (*, n, m) -> (*, n, m)", .example = "tn_tril(x)"),
    .forms = TN_OUT | TN_INPLACE | TN_LEADING, .check = tril_check, .run = tril_run,
    .grad = tril_grad,
    .sample = "(3,4) | (3,4) 1 | (4,3) -2 | (2,3,3) | (2,3) 9 | (2,3) -9 | (0,3) | (3,3):bool")

static bool triu_check(tn_frame *f) { return triangle_check(f, "triu"); }
static void triu_run(tn_frame *f) {
    TN_ARGS(triu, a, f);
    triangle_run(f, a->diagonal, false);
}
static void triu_grad(tn_gradient *g) {
    TN_ARGS(triu, a, g);
    tn_give(g, 0, tnp_triu(g->incoming[0], a->diagonal));
}
/* The upper triangle of each matrix: elements below the diagonal become 0. A positive `diagonal`
 * zeroes that many diagonals more. */
TN_OPERATOR(
    triu, "triu(Tensor self, int diagonal=0) -> Tensor",
    TN_DOC(.shapes = "self (*, n, m) -> (*, n, m)", .example = "tn_triu(x, .diagonal = 1)"),
    .forms = TN_OUT | TN_INPLACE | TN_LEADING, .check = triu_check, .run = triu_run,
    .grad = triu_grad,
    .sample = "(3,4) | (3,4) 1 | (4,3) -2 | (2,3,3) | (2,3) 9 | (2,3) -9 | (0,3) | (3,3):bool")
