/* create.c - new tensors from nothing: constants, ranges, unit matrices, grids. */
#include "../../call/arguments.h"
#include "../../api/device.h"
#include "../../cpu/walk.h"
#include "../shape/copy.h"
#include "../shape/geometry.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

/* --- constants -------------------------------------------------------------------------------- */

/* Where the result lives. A device that is not given is that of `like`, or without one (NULL) the
 * thread's default. */
static bool create_on(tn_frame *f, tn_device_id device, const tn_tensor *like) {
    if (device == TN_NO_DEVICE) {
        device = like ? like->device : tni_state(f->block)->device;
        if (!device) return true; /* the CPU, where a call without tensors begins */
    }
    return device == f->device || tni_frame_place(f, device);
}
/* What the three groups of rows announce, if dtype and device are not given: a new tensor has the
 * default dtype; one like self has self's dtype, sizes and order of dimensions; one made from self
 * (new_..) has its dtype and device, and sizes of the call. */
static bool create_new(tn_frame *f, tn_ints size, tn_dtype dtype, tn_device_id device) {
    if (!tni_sizes_given(f, size, "size") || !create_on(f, device, NULL)) return false;
    /* That of a given tensor where none is asked for. */
    if (!dtype && f->ngiven) dtype = (tn_dtype)f->given[0]->dtype;
    return tn_announce(f, 0, dtype ? dtype : tni_tensors(f->block->context)->default_dtype,
                       (int)size.n, size.at);
}
static bool create_like(tn_frame *f, tn_dtype dtype, tn_device_id device) {
    const tn_tensor *self = f->in[0];
    tni_shape s;
    if (!create_on(f, device, self)) return false;
    /* The order of dimensions, dense: gaps and overlaps are not copied. */
    tni_copy_strides(&s, self);
    return tn_announce_strided(f, 0, dtype ? dtype : (tn_dtype)self->dtype, s.ndim, s.size,
                               s.stride);
}
static bool create_of(tn_frame *f, tn_ints size, tn_dtype dtype, tn_device_id device) {
    const tn_tensor *self = f->in[0];
    if (!tni_sizes_given(f, size, "size") || !create_on(f, device, self)) return false;
    return tn_announce(f, 0, dtype ? dtype : (tn_dtype)self->dtype, (int)size.n, size.at);
}
static void zeros_run(tn_frame *f) { tni_fill(f->out[0], tn_int(0)); }
static void ones_run(tn_frame *f) { tni_fill(f->out[0], tn_int(1)); }

static bool empty_check(tn_frame *f) {
    TN_ARGS(empty, a, f);
    return create_new(f, a->size, a->dtype, a->device);
}
/* A tensor whose elements are not initialised. */
TN_OPERATOR(empty, "empty(int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_empty(TN_DIMS(2, 3), .dtype = TN_I64)"),
            .forms = TN_OUT, .check = empty_check, .run = tni_run_nothing,
            .sample = "[0] | [2,0] dtype=int64")

/* s: the sizes, with strides that are dense if dimensions lie in memory in the order of layout. */
static bool create_order(tn_frame *f, tn_ints size, tn_ints layout, tni_shape *s) {
    bool seen[TN_MAX_DIMS] = {false};
    int64_t step = 1;
    if (!tni_sizes_given(f, size, "size") || !tni_dims_given(f, layout, "physical_layout"))
        return false;
    if (size.n != layout.n)
        return tn_fail(f, TN_INVALID,
                       "Number of dimensions in size does not match the length of the "
                       "physical_layout: %lld is not equal to %lld",
                       (long long)size.n, (long long)layout.n);
    s->ndim = (int)size.n;
    for (int i = s->ndim - 1; i >= 0; i--) {
        const int64_t d = layout.at[i];
        if (d < 0 || d >= size.n)
            return tn_fail(f, TN_INVALID,
                           "Dimension out of range (expected to be between 0 and %d, but got %lld "
                           "at index %d)",
                           s->ndim - 1, (long long)d, i);
        if (seen[d]) return tn_fail(f, TN_INVALID, "Duplicate dim not allowed");
        seen[d] = true;
        s->size[d] = size.at[d];
        s->stride[d] = step;
        if (!tni_mul(step, size.at[d] > 1 ? size.at[d] : 1, &step))
            return tn_fail(f, TN_INVALID, "the sizes are too large");
    }
    return true;
}
static bool empty_permuted_check(tn_frame *f) {
    TN_ARGS(empty_permuted, a, f);
    tni_shape s;
    return create_order(f, a->size, a->physical_layout, &s) && create_on(f, a->device, NULL) &&
           tn_announce_strided(f, 0,
                               a->dtype ? a->dtype : tni_tensors(f->block->context)->default_dtype,
                               s.ndim, s.size, s.stride);
}
/* A tensor whose elements are not initialised, and whose dimensions lie in memory in the order of
 * physical_layout, the outermost first. */
TN_OPERATOR(empty_permuted,
            "empty_permuted(int[] size, int[] physical_layout, *, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "-> size",
                   .example = "tn_empty_permuted(TN_DIMS(2, 3, 4, 5), TN_DIMS(0, 2, 3, 1))"),
            .forms = TN_OUT, .check = empty_permuted_check, .run = tni_run_nothing,
            .sample = "[0] [0] | [2,0,3] [0,2,1] dtype=int64")

static bool zeros_check(tn_frame *f) {
    TN_ARGS(zeros, a, f);
    return create_new(f, a->size, a->dtype, a->device);
}
/* All elements 0, of the default dtype unless one is given. */
TN_OPERATOR(zeros, "zeros(int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_zeros(TN_DIMS(2, 3))"),
            .forms = TN_OUT | TN_MOVES, .check = zeros_check, .run = zeros_run,
            .sample = "[2,3] | [] dtype=int64 | [0,2] | [3] dtype=bool | [2] dtype=complex64")

static bool ones_check(tn_frame *f) {
    TN_ARGS(ones, a, f);
    return create_new(f, a->size, a->dtype, a->device);
}
/* All elements 1, of the default dtype unless one is given. */
TN_OPERATOR(ones, "ones(int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_ones(TN_DIMS(2, 3))"),
            .forms = TN_OUT | TN_MOVES, .check = ones_check, .run = ones_run,
            .sample = "[2,3] | [] dtype=int64 | [0,2] | [3] dtype=bool | [3] dtype=bfloat16")

/* The dtype of a number where none is given: bool, int64, the default one, or its complex one. */
static tn_dtype create_dtype(tn_frame *f, tn_scalar s, tn_dtype dtype) {
    tn_dtype usual = tni_tensors(f->block->context)->default_dtype;
    if (dtype) return dtype;
    if (f->ngiven) return (tn_dtype)f->given[0]->dtype;
    /* torch's rule for a fill value without a dtype. */
    if (s.kind == TN_KIND_BOOL) return TN_BOOL;
    if (s.kind == TN_KIND_INT) return TN_I64;
    return s.kind == TN_KIND_COMPLEX ? tni_complex_of((int)usual) : usual;
}
static bool full_check(tn_frame *f) {
    TN_ARGS(full, a, f);
    tn_dtype dtype = create_dtype(f, a->fill_value, a->dtype);
    return tni_fill_check(f, a->fill_value, (int)dtype) && create_new(f, a->size, dtype, a->device);
}
static void full_run(tn_frame *f) {
    TN_ARGS(full, a, f);
    tni_fill(f->out[0], a->fill_value);
}
/* All elements fill_value: int64 for an int, the default dtype for a float. */
TN_OPERATOR(
    full,
    "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
    TN_DOC(.shapes = "-> size", .example = "tn_full(TN_DIMS(2, 3), 0.5)"),
    .forms = TN_OUT | TN_MOVES, .check = full_check, .run = full_run,
    .sample = "[2,3] 0.5 | [2] 7 | [] True | [3] -2 dtype=float16 | [2,2] 3 dtype=uint8 | [0] 1.5")

static bool empty_like_check(tn_frame *f) {
    TN_ARGS(empty_like, a, f);
    return create_like(f, a->dtype, a->device);
}
/* Not initialised, with self's sizes, dtype and order of dimensions. */
TN_OPERATOR(empty_like,
            "empty_like(Tensor self, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_empty_like(x)"),
            .forms = TN_SHAPE_ONLY | TN_LEADING, .check = empty_like_check, .run = tni_run_nothing,
            .grad = tn_grad_zero, .sample = "(0) | (2,0) dtype=int64")

static bool zeros_like_check(tn_frame *f) {
    TN_ARGS(zeros_like, a, f);
    return create_like(f, a->dtype, a->device);
}
/* All elements 0, with self's sizes, dtype and order of dimensions. */
TN_OPERATOR(zeros_like,
            "zeros_like(Tensor self, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_zeros_like(x)"),
            .forms = TN_SHAPE_ONLY | TN_MOVES | TN_LEADING, .check = zeros_like_check,
            .run = zeros_run, .grad = tn_grad_zero,
            .sample = "(2,3) | (2) dtype=int64 | () | (0):bool")

static bool ones_like_check(tn_frame *f) {
    TN_ARGS(ones_like, a, f);
    return create_like(f, a->dtype, a->device);
}
/* All elements 1, with self's sizes, dtype and order of dimensions. */
TN_OPERATOR(ones_like,
            "ones_like(Tensor self, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_ones_like(x)"),
            .forms = TN_SHAPE_ONLY | TN_MOVES | TN_LEADING, .check = ones_like_check,
            .run = ones_run, .grad = tn_grad_zero,
            .sample = "(2,3) | (2) dtype=int64 | () | (0):bool")

static bool full_like_check(tn_frame *f) {
    TN_ARGS(full_like, a, f);
    tn_dtype dtype = a->dtype ? a->dtype : (tn_dtype)f->in[0]->dtype;
    return tni_fill_check(f, a->fill_value, (int)dtype) && create_like(f, dtype, a->device);
}
static void full_like_run(tn_frame *f) {
    TN_ARGS(full_like, a, f);
    tni_fill(f->out[0], a->fill_value);
}
/* All elements fill_value, with self's sizes, dtype and order of dimensions. */
TN_OPERATOR(full_like,
            "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*)", .example = "tn_full_like(x, 0.5)"),
            .forms = TN_SHAPE_ONLY | TN_MOVES | TN_LEADING, .check = full_like_check,
            .run = full_like_run, .grad = tn_grad_zero,
            .sample = "(2,3) 0.5 | (2) 3 dtype=int64 | () -1 | (0):bool True")

static bool new_empty_check(tn_frame *f) {
    TN_ARGS(new_empty, a, f);
    return create_of(f, a->size, a->dtype, a->device);
}
/* Not initialised, with self's dtype and device. */
TN_OPERATOR(
    new_empty,
    "new_empty(Tensor self, int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
    TN_DOC(.shapes = "-> size", .example = "tn_new_empty(x, TN_DIMS(3))"), .forms = TN_SHAPE_ONLY,
    .check = new_empty_check, .run = tni_run_nothing, .grad = tn_grad_zero,
    .sample = "(2) [0] | () [2,0] dtype=int64")

static bool new_zeros_check(tn_frame *f) {
    TN_ARGS(new_zeros, a, f);
    return create_of(f, a->size, a->dtype, a->device);
}
/* All elements 0, with self's dtype and device. */
TN_OPERATOR(
    new_zeros,
    "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
    TN_DOC(.shapes = "-> size", .example = "tn_new_zeros(x, TN_DIMS(3))"),
    .forms = TN_SHAPE_ONLY | TN_MOVES | TN_LEADING | TN_LEADING, .check = new_zeros_check,
    .run = zeros_run, .grad = tn_grad_zero,
    .sample = "(2) [3] | () [2,2] dtype=int64 | (2):bool []")

static bool new_ones_check(tn_frame *f) {
    TN_ARGS(new_ones, a, f);
    return create_of(f, a->size, a->dtype, a->device);
}
/* All elements 1, with self's dtype and device. */
TN_OPERATOR(
    new_ones,
    "new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
    TN_DOC(.shapes = "-> size", .example = "tn_new_ones(x, TN_DIMS(3))"),
    .forms = TN_SHAPE_ONLY | TN_MOVES | TN_LEADING, .check = new_ones_check, .run = ones_run,
    .grad = tn_grad_zero, .sample = "(2) [3] | () [2,2] dtype=int64 | (2):bool []")

static bool new_full_check(tn_frame *f) {
    TN_ARGS(new_full, a, f);
    tn_dtype dtype = a->dtype ? a->dtype : (tn_dtype)f->in[0]->dtype;
    return tni_fill_check(f, a->fill_value, (int)dtype) && create_of(f, a->size, dtype, a->device);
}
static void new_full_run(tn_frame *f) {
    TN_ARGS(new_full, a, f);
    tni_fill(f->out[0], a->fill_value);
}
/* All elements fill_value, with self's dtype and device. */
TN_OPERATOR(new_full,
            "new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None, "
            "Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> size", .example = "tn_new_full(x, TN_DIMS(3), 2)"),
            .forms = TN_SHAPE_ONLY | TN_MOVES | TN_LEADING, .check = new_full_check,
            .run = new_full_run, .grad = tn_grad_zero,
            .sample = "(2) [3] 0.5 | () [2,2] 3 dtype=int64 | (2):bool [] True")

/* --- ranges ----------------------------------------------------------------------------------- */

/* A rule of n values: over int64 for integer dtypes, else over doubles. */
/* Value i of n. fma rounds once, the same with any instruction set; an exact product needs none. */
static double range_at(const tn_range_plan *r, int64_t i, int64_t n) {
    if (r->exact) return r->start + r->step * (double)i;
    if (r->both_ends && i >= n / 2) return fma(-r->step, (double)(n - 1 - i), r->end);
    return fma(r->step, (double)i, r->start);
}
/* The same in int64; as unsigned numbers, which wrap without undefined behaviour. */
static int64_t range_whole_at(const tn_range_plan *r, int64_t i) {
    return (int64_t)((uint64_t)r->first + (uint64_t)i * (uint64_t)r->by);
}
/* Elements [from, to) of the range. The two common dtypes in dense memory have plain loops. */
static void range_part(tn_tensor *out, const tn_range_plan *r, int64_t from, int64_t to) {
    const int64_t n = out->numel, bytes = tni_dtype_size(out), step = out->stride[0] * bytes;
    char *at = tni_bytes_at(out);
    if (out->dtype == TN_F32 && step == bytes)
        for (int64_t i = from; i < to; i++) ((float *)(void *)at)[i] = (float)range_at(r, i, n);
    else if (out->dtype == TN_I64 && r->whole && step == bytes)
        for (int64_t i = from; i < to; i++) ((int64_t *)(void *)at)[i] = range_whole_at(r, i);
    else
        for (int64_t i = from; i < to; i++)
            tni_element_set(at + i * step, out->dtype,
                            r->whole ? tn_int(range_whole_at(r, i)) : tn_float(range_at(r, i, n)));
}
/* The whole range, in blocks between which a request to stop is polled. */
static void range_write(tn_frame *f) {
    enum { RANGE_BLOCK = 1 << 14 }; /* elements between two polls */
    tn_tensor *out = f->out[0];
    const int64_t n = out->numel;
    tn_range_plan r;
    tn_range_plan_of(&r, f, 0);
    for (int64_t i = 0; i < n && !tni_stopped(); i += RANGE_BLOCK)
        range_part(out, &r, i, n - i < RANGE_BLOCK ? n : i + RANGE_BLOCK);
}

static double range_real(tn_scalar s) { return tni_exact(s).real; }
/* An int64 of a number, as torch casts the bounds of an int64 range. */
static int64_t range_whole(tn_scalar s) {
    int64_t v;
    tni_element_set(&v, TN_I64, tni_exact(s));
    return v;
}
static bool range_is_whole(tn_scalar s) { return s.kind == TN_KIND_INT || s.kind == TN_KIND_BOOL; }

/* ceil((end - start) / step) in integers; the bounds fit the sign of step. */
static uint64_t range_count(int64_t start, int64_t end, int64_t step) {
    uint64_t distance =
        step > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;
    uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return distance / by + (distance % by != 0);
}
/* What the arange rows have in common, with torch's errors; announces ceil((end - start)
 * / step) values. */
static bool range_check(tn_frame *f, tn_scalar start, tn_scalar end, tn_scalar step, tn_dtype dtype,
                        tn_device_id device) {
    bool whole = range_is_whole(start) && range_is_whole(end) && range_is_whole(step);
    double from = range_real(start), to = range_real(end), by = range_real(step), count;
    int64_t n;
    if (start.kind == TN_KIND_COMPLEX || end.kind == TN_KIND_COMPLEX ||
        step.kind == TN_KIND_COMPLEX)
        return tn_fail(f, TN_TYPE, "arange: a bound must not be complex");
    if (!dtype && f->ngiven) dtype = (tn_dtype)f->given[0]->dtype;
    if (!dtype) dtype = whole ? TN_I64 : tni_tensors(f->block->context)->default_dtype;
    if (dtype == TN_BOOL || tni_is_complex((int)dtype))
        return tn_fail(f, TN_TYPE, "\"arange_cpu\" not implemented for '%s'", tn_dtype_name(dtype));
    if (by == 0) return tn_fail(f, TN_INVALID, "step must be nonzero");
    if (from - from != 0 || to - to != 0 || by != by)
        return tn_fail(f, TN_INVALID, "unsupported range: %g -> %g", from, to);
    if (by > 0 ? to < from : to > from)
        return tn_fail(f, TN_INVALID, "upper bound and lower bound inconsistent with step sign");
    /* As doubles, which is exact up to 2^53; int64 bounds are counted in integers. */
    count = ceil((to - from) / by);
    if (dtype == TN_I64 && whole) {
        uint64_t exact = range_count(range_whole(start), range_whole(end), range_whole(step));
        count = (double)exact;
        n = exact > INT64_MAX ? INT64_MAX : (int64_t)exact;
    } else
        n = count < 9e18 ? (int64_t)count : INT64_MAX;
    if (!(count < 9e18)) return tn_fail(f, TN_INVALID, "invalid size, possible overflow?");
    return create_on(f, device, NULL) && tn_announce(f, 0, dtype, 1, &n);
}
/* Both forms of the rule are set; the result's dtype chooses. */
static void range_given(tn_range_plan *r, tn_scalar start, tn_scalar step) {
    r->start = range_real(start);
    r->step = range_real(step);
    r->first = range_whole(start);
    r->by = range_whole(step);
}

static bool arange_check(tn_frame *f) {
    TN_ARGS(arange, a, f);
    return range_check(f, tn_int(0), a->end, tn_int(1), a->dtype, a->device);
}
static void arange_run(tn_frame *f) { range_write(f); }
/* The numbers 0, 1, .. below end: int64 for an int, the default dtype for a float. */
TN_OPERATOR(arange, "arange(Scalar end, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> (ceil(end))", .example = "tn_arange(5)"), .forms = TN_OUT,
            .check = arange_check, .run = arange_run,
            .sample = "5 | 2.5 | 0 | 4 dtype=float16 | 300 dtype=int32")

static bool arange_start_check(tn_frame *f) {
    TN_ARGS(arange_start, a, f);
    return range_check(f, a->start, a->end, tn_int(1), a->dtype, a->device);
}
static void arange_start_run(tn_frame *f) { range_write(f); }
/* The numbers start, start + 1, .. below end. */
TN_OPERATOR(arange_start,
            "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "-> (ceil(end - start))", .example = "tn_arange_start(2, 10)"),
            .forms = TN_OUT, .check = arange_start_check, .run = arange_start_run,
            .sample = "1 5 | -2.5 2 | 3 3")

static bool arange_start_step_check(tn_frame *f) {
    TN_ARGS(arange_start_step, a, f);
    return range_check(f, a->start, a->end, a->step, a->dtype, a->device);
}
static void arange_start_step_run(tn_frame *f) { range_write(f); }
/* The numbers start, start + step, .. up to end, which is not included. */
TN_OPERATOR(arange_start_step,
            "arange.start_step(Scalar start, Scalar end, Scalar step, *, ScalarType? dtype=None, "
            "Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> (ceil((end - start) / step))",
                   .example = "tn_arange_start_step(10, 0, -3)",
                   .differs = "parameter step: without a step it is the row arange_start"),
            .forms = TN_OUT, .check = arange_start_step_check, .run = arange_start_step_run,
            .sample = "10 0 -3 | 0 1 0.25 | 1 8 3 dtype=float64 | 0.5 3 1 dtype=int64")

/* The dtype of evenly spaced numbers: the one asked for, else the default, complex if a bound is.
 * TN_NO_DTYPE with an error. */
static tn_dtype spaced_dtype(tn_frame *f, tn_scalar start, tn_scalar end, tn_dtype dtype,
                             int64_t steps) {
    const tn_dtype real = tni_tensors(f->block->context)->default_dtype,
                   complex = real == TN_F64 ? TN_C128 : TN_C64;
    if (steps < 0) {
        tn_fail(f, TN_INVALID, "number of steps must be non-negative");
        return TN_NO_DTYPE;
    }
    if (!dtype && f->ngiven) dtype = (tn_dtype)f->given[0]->dtype;
    if (start.kind != TN_KIND_COMPLEX && end.kind != TN_KIND_COMPLEX) {
        if (!dtype) dtype = real;
    } else if (!dtype) {
        dtype = complex;
    } else if (!tni_is_complex((int)dtype)) {
        tn_fail(f, TN_INVALID, "inferred dtype %s can't be safely cast to passed dtype %s",
                tn_dtype_name(complex), tn_dtype_name(dtype));
        return TN_NO_DTYPE;
    }
    if (dtype != TN_BOOL || steps < 2) return dtype;
    tn_fail(f, TN_UNSUPPORTED, "\"%s_cpu\" not implemented for 'Bool'", f->row->name);
    return TN_NO_DTYPE;
}

static bool linspace_check(tn_frame *f) {
    TN_ARGS(linspace, a, f);
    const tn_dtype dtype = spaced_dtype(f, a->start, a->end, a->dtype, a->steps);
    /* linspace with one step gives start. */
    return dtype && create_on(f, a->device, NULL) && tn_announce(f, 0, dtype, 1, &a->steps);
}
static void linspace_given(tn_range_plan *r, const tn_linspace_args *a, bool whole, int part) {
    const tn_scalar start = tni_exact(a->start), end = tni_exact(a->end);
    r->both_ends = a->steps > 1;
    r->start = part ? start.imaginary : start.real;
    r->end = part ? end.imaginary : end.real;
    /* torch casts the bounds to the dtype first. */
    if (whole) {
        r->start = (double)range_whole(a->start);
        r->end = (double)range_whole(a->end);
    }
    r->step = a->steps > 1 ? (r->end - r->start) / (double)(a->steps - 1) : 0;
}
/* Complex numbers: both parts by the rule of reals. */
static void linspace_complex(tn_frame *f) {
    tn_tensor *out = f->out[0];
    const int64_t n = out->numel, step = out->stride[0] * tni_dtype_size(out);
    tn_range_plan part[2];
    tn_range_plan_of(&part[0], f, 0);
    tn_range_plan_of(&part[1], f, 1);
    for (int64_t i = 0; i < n && !tni_stopped(); i++)
        tni_element_set(tni_bytes_at(out) + i * step, out->dtype,
                        tn_complex(range_at(&part[0], i, n), range_at(&part[1], i, n)));
}
static void linspace_run(tn_frame *f) {
    if (tni_is_complex(f->out[0]->dtype))
        linspace_complex(f);
    else
        range_write(f);
}
/* `steps` values from start to end, both included, evenly spaced. */
TN_OPERATOR(linspace,
            "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Device? "
            "device=None) -> Tensor",
            TN_DOC(.shapes = "-> (steps)", .example = "tn_linspace(0, 1, 5)"), .forms = TN_OUT,
            .check = linspace_check, .run = linspace_run,
            .sample = "0 1 5 | -2 2 4 dtype=float64 | 3 1 1 | 0 1 0 | 0 10 5 dtype=int64 | "
                      "0 1 4 dtype=complex64")

static bool logspace_compose(tn_frame *f) {
    TN_ARGS(logspace, a, f);
    const tn_dtype dtype = spaced_dtype(f, a->start, a->end, a->dtype, a->steps);
    const tn_dtype wide = tni_is_complex((int)dtype) ? TN_C128 : TN_F64;
    tn_scalar start = a->start, end = a->end;
    if (!dtype) return false;
    if (tni_is_int((int)dtype)) { /* torch casts the bounds to the dtype first */
        start = tn_int(range_whole(start));
        end = tn_int(range_whole(end));
    }
    f->out[0] = tnp_to_dtype(
        tnp_pow_scalar_self(tn_float(a->base), tnp_linspace(start, end, a->steps, wide, a->device)),
        dtype, false, false);
    return f->out[0] != NULL;
}
/* base to the power of `steps` numbers from start to end, both included, evenly spaced. */
TN_OPERATOR(logspace,
            "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? "
            "dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> (steps)", .example = "tn_logspace(0, 2, 3)",
                   .differs = "result 0 [base=0.0 dtype=complex64]: 0 to a complex power is 0, "
                              "as in pow; torch's vectors give NaN"),
            .forms = TN_OUT, .compose = logspace_compose,
            .sample = "0 1 5 | -2 2 4 dtype=float64 | 3 1 1 | 0 1 0 | 0 3 4 2.0 dtype=int64 | "
                      "0 1 4 0.5 dtype=complex64 | 0.5 2.5 7 base=3.0 dtype=float64")

TN_API void tn_range_plan_of(tn_range_plan *p, const tn_frame *f, int part) {
    const bool whole = tni_is_int(f->out[0]->dtype);
    double end;
    memset(p, 0, sizeof *p);
    if (f->row->run == linspace_run) {
        linspace_given(p, (const tn_linspace_args *)f->args, whole, part);
        return;
    }
    p->whole = whole;
    if (f->row->run == arange_run) {
        range_given(p, tn_int(0), tn_int(1));
    } else if (f->row->run == arange_start_run) {
        TN_ARGS(arange_start, a, f);
        range_given(p, a->start, tn_int(1));
    } else {
        TN_ARGS(arange_start_step, a, f);
        range_given(p, a->start, a->step);
    }
    /* Whole numbers whose largest stays below 2^53, about 9.007e15: a double holds each exactly. */
    end = fma(fabs(p->step), (double)f->out[0]->numel, fabs(p->start));
    p->exact = floor(p->start) == p->start && floor(p->step) == p->step && end < 9e15;
}

/* --- unit matrices, one_hot ------------------------------------------------------------------- */

/* An n x m result of the default dtype unless one is given. */
static bool eye_announce(tn_frame *f, int64_t n, int64_t m, tn_dtype dtype, tn_device_id device) {
    int64_t size[2];
    size[0] = n;
    size[1] = m;
    if (n < 0 || m < 0)
        return tn_fail(f, TN_INVALID, "%c must be greater or equal to 0, got %lld",
                       n < 0 ? 'n' : 'm', (long long)(n < 0 ? n : m));
    if (!dtype && f->ngiven) dtype = (tn_dtype)f->given[0]->dtype;
    return create_on(f, device, NULL) &&
           tn_announce(f, 0, dtype ? dtype : tni_tensors(f->block->context)->default_dtype, 2,
                       size);
}
static void eye_run(tn_frame *f) {
    tn_tensor *out = f->out[0], diagonal;
    int64_t n, step;
    if (!out->numel) return;
    tni_fill(out, tn_int(0));
    n = out->size[0] < out->size[1] ? out->size[0] : out->size[1];
    /* The diagonal as a vector: one step along it is one along both dimensions. */
    step = out->stride[0] + out->stride[1];
    tni_stack_view(&diagonal, out, 1, &n, &step, out->offset);
    tni_fill(&diagonal, tn_int(1));
}
static bool eye_check(tn_frame *f) {
    TN_ARGS(eye, a, f);
    return eye_announce(f, a->n, a->n, a->dtype, a->device);
}
/* A square matrix with ones on the diagonal and zeros elsewhere. */
TN_OPERATOR(eye, "eye(int n, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> (n, n)", .example = "tn_eye(3)"), .forms = TN_OUT | TN_MOVES,
            .check = eye_check, .run = eye_run, .sample = "3 | 1 | 0 | 2 dtype=int64")
static bool eye_m_check(tn_frame *f) {
    TN_ARGS(eye_m, a, f);
    return eye_announce(f, a->n, a->m, a->dtype, a->device);
}
/* An n x m matrix with ones on the diagonal and zeros elsewhere. */
TN_OPERATOR(eye_m, "eye.m(int n, int m, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
            TN_DOC(.shapes = "-> (n, m)", .example = "tn_eye_m(3, 4)"), .forms = TN_OUT | TN_MOVES,
            .check = eye_m_check, .run = eye_run, .sample = "3 4 | 4 2 | 0 3 | 2 2 dtype=bool")

static bool one_hot_check(tn_frame *f) {
    TN_ARGS(one_hot, a, f);
    tn_tensor *self = f->in[0];
    int64_t size[TN_MAX_DIMS];
    if (self->dtype != TN_I64)
        return tn_fail(f, TN_TYPE,
                       "one_hot is only applicable to index tensor of type LongTensor.");
    if (self->ndim == TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID, "expected at most %d dimensions", TN_MAX_DIMS);
    if (a->num_classes < -1)
        return tn_fail(f, TN_INVALID, "num_classes must be -1 or non-negative");
    /* Without elements there is no largest class. */
    if (self->numel == 0 && a->num_classes <= 0)
        return tn_fail(f, TN_INVALID, "Can not infer total number of classes from empty tensor.");
    memcpy(size, self->size, sizeof(int64_t) * (size_t)self->ndim);
    size[self->ndim] = a->num_classes; /* -1 is TN_UNKNOWN: look counts */
    return tn_announce(f, 0, TN_I64, self->ndim + 1, size);
}
/* Checks the class numbers, which run uses as places, and finds the largest. */
static bool one_hot_look(tn_frame *f) {
    TN_ARGS(one_hot, a, f);
    const tn_tensor *self = f->in[0];
    int64_t largest = -1;
    tni_walk w;
    if (self->numel == 0) return true;
    tni_walk_start(&w, self->ndim, self->size, &self, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            int64_t v = *(const int64_t *)(const void *)(w.at[0] + i * w.row[0]);
            if (v < 0) return tn_fail(f, TN_INVALID, "Class values must be non-negative.");
            if (a->num_classes != -1 && v >= a->num_classes)
                return tn_fail(f, TN_INVALID, "Class values must be smaller than num_classes.");
            if (v > largest) largest = v;
        }
    /* largest + 1 classes; with an explicit num_classes the count is not used. */
    if (largest == INT64_MAX) return tn_fail(f, TN_INVALID, "the result is too large");
    f->count = largest + 1;
    return true;
}
static void one_hot_run(tn_frame *f) {
    const tn_tensor *self = f->in[0];
    tn_tensor *out = f->out[0];
    int64_t classes = out->size[out->ndim - 1], *to = (int64_t *)(void *)tni_bytes_at(out);
    tni_walk w;
    if (out->numel == 0) return;
    tni_fill(out, tn_int(0));
    /* A row of `classes` places for each element; the result is new and dense. */
    tni_walk_start(&w, self->ndim, self->size, &self, 1);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++, to += classes)
            to[*(const int64_t *)(const void *)(w.at[0] + i * w.row[0])] = 1;
}
/* Each class number as a vector with a 1 at that class and 0 elsewhere. num_classes -1 means the
 * largest class plus one. */
TN_OPERATOR(one_hot, "one_hot(Tensor self, int num_classes=-1) -> Tensor",
            TN_DOC(.shapes = "self (*) int64 -> (*, classes) int64",
                   .example = "tn_one_hot(t, .num_classes = 10)",
                   .python = "nn.functional.one_hot"),
            .forms = TN_LEADING, .check = one_hot_check, .look = one_hot_look, .run = one_hot_run,
            .sample = "(5):i64<4 num_classes=4 | (2,3):i64<3 | ():i64<2 3 | (0):i64 2")

/* --- meshgrid --------------------------------------------------------------------------------- */

static bool meshgrid_compose(tn_frame *f) {
    TN_ARGS(meshgrid, a, f);
    int64_t size[TN_MAX_DIMS], shape[TN_MAX_DIMS];
    bool xy = a->indexing && !strcmp(a->indexing, "xy");
    int n = f->nin;
    tn_tensor **in = f->in;
    if (n == 0) return tn_fail(f, TN_INVALID, "meshgrid expects a non-empty TensorList");
    if (n > TN_MAX_DIMS)
        return tn_fail(f, TN_INVALID, "meshgrid: expected at most %d tensors", TN_MAX_DIMS);
    if (a->indexing && !xy && strcmp(a->indexing, "ij"))
        return tn_fail(f, TN_INVALID,
                       "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: %s",
                       a->indexing);
    for (int i = 0; i < n; i++) {
        if (in[i]->ndim > 1)
            return tn_fail(
                f, TN_INVALID,
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got %d dimensions",
                in[i]->ndim);
        size[i] = in[i]->numel;
    }
    /* A list of n results, which are views of the inputs. */
    if (!tn_announce_count(f, n)) return false;
    /* "xy" exchanges the first two dimensions of the grid, as for pictures. */
    if (xy && n > 1) {
        shape[0] = size[0];
        size[0] = size[1];
        size[1] = shape[0];
    }
    for (int i = 0; i < n; i++) {
        /* Tensor i varies along dimension d and is repeated along the others. */
        int d = xy && i < 2 && n > 1 ? 1 - i : i;
        tn_tensor *t;
        for (int k = 0; k < n; k++) shape[k] = 1;
        shape[d] = size[d];
        t = tnp_reshape(in[i], tni_ints(shape, n));
        f->out[i] = t ? tnp_expand(t, tni_ints(size, n), false) : NULL;
        if (!f->out[i]) return false;
    }
    return true;
}
/* The coordinates of a grid: result i repeats tensor i along all other dimensions. Views. */
TN_OPERATOR(
    meshgrid, "meshgrid.indexing(Tensor[] tensors, *, str? indexing=None) -> Tensor[]",
    TN_DOC(.shapes = "tensors (n), (m) -> (n, m), (n, m); \"xy\": (m, n)",
           .example = "tn_meshgrid(TN_LIST(x, y))",
           .differs = "parameter indexing: one row for torch's overloads with and without it"),
    .compose = meshgrid_compose,
    .sample = "{(2),(3)} | {(2),(3),(4)} indexing=xy | {(),(2)} | {(0),(2)} indexing=ij")
