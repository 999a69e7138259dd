/* dft.c - one discrete Fourier transform after another along a dimension: dft.
 *
 * Lengths whose prime factors are at most DFT_RADIX go through Stockham's autosort (W. Cochran et
 * al., "What is the fast Fourier transform?", 1967), radix 4 first; other lengths through a
 * convolution of a power of two (L. Bluestein, 1970). Neighbours are transformed side by side; so
 * are parts of one line, whose first stages are those of its columns as a matrix, and whose others
 * those of its rows: what is computed is the same in each of these ways. A line beyond DFT_LARGE
 * takes two passes over memory, of columns and of rows, with twiddles between (D. Bailey, "FFTs in
 * external or hierarchical memory", 1990). An even number of real numbers is a line of half as many
 * pairs (C. Van Loan, "Computational frameworks for the fast Fourier transform", 1992, 4.3).
 *
 * All is computed in the dtype's own precision; neither threads nor vectors change a bit.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "../../call/arguments.h"
#include "../../cpu/matrix.h"
#include "../../kernels/kernels.h"
#include "../../api/ops/creation.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/fft.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../base/rounded_begin.inl"
#define TNI_DFT static TNI_UNUSED
#include "../../simd/dft_roots.inl"
#undef TNI_DFT
#include "dft_line.h"

/* --- the row ---------------------------------------------------------------------------------- */

static int64_t dft_count_lines(const tn_tensor *t, int d) {
    int64_t lines = 1;
    for (int e = 0; e < t->ndim; e++) lines *= e == d ? 1 : t->size[e];
    return lines;
}
/* Lines side by side, if they are many and their elements are apart; else one at a time, as a
 * matrix with about as many rows as columns. */
static void dft_choose(dft_note *note, int64_t lines, int64_t step, int64_t bytes) {
    const int64_t m = note->m, most = 2 * DFT_ROOM / m, full = DFT_TWIST / bytes;
    note->rows = 0;
    note->large = (int32_t)dft_large_rows(m);
    note->side = (int32_t)(note->large || most < 1 ? 1 : most < full ? most : full);
    if (note->side > lines) note->side = lines < 1 ? 1 : (int32_t)lines;
    if (note->large || (step != 1 && note->side > 4)) return;
    if (m < (note->side == full ? DFT_TALL : DFT_SPLIT)) return;
    note->rows = 1;
    for (int64_t r, rest = m; rest > 1; rest /= r) {
        r = dft_next_radix(rest);
        if (note->rows * r > m / (note->rows * r)) break;
        note->rows *= (int32_t)r;
    }
    if (note->rows == 1)
        note->rows = 0;
    else
        note->side = 1;
}
/* Numbers of 8 bytes that tables take before room for planes, and for making tables. */
static int64_t dft_tables(const dft_note *note, int64_t b, int64_t bytes) {
    const int64_t m = note->m;
    int64_t numbers = DFT_JOB + (note->of || note->to ? b + 2 : 0) + (m != b ? 2 * m + 2 * b : 0);
    if (note->large)
        return numbers + 2 * (note->large + m / note->large) + 2 * note->large * (64 / bytes) +
               2 * (dft_coarse(m) + DFT_FINE);
    return numbers + 2 * m + (note->rows ? 2 * m : 0);
}
static bool dft_room(tn_frame *f, const dft_note *note, int64_t b, int64_t lines, int64_t bytes) {
    const int64_t m = note->m, longest = m > 2 * b ? m : 2 * b,
                  rows = note->large ? m / note->large : 0;
    int64_t shared = longest / 4 + 2;
    if ((m != b || note->large) && shared < 4 * m) shared = 4 * m;
    if (!tn_scratch(f, dft_tables(note, b, bytes) + shared, 8)) return false;
    if (note->large) return tn_scratch_each(f, 4 * rows * (64 / bytes) + 2 * note->large, bytes);
    return tni_scratch_each(
        f, (lines + note->side - 1) / note->side,
        4 * (m * note->side + dft_gap(note->side, bytes)) + dft_matrix_room(m, note->rows), bytes);
}
static bool dft_check(tn_frame *f) {
    TN_ARGS(dft, a, f);
    const tn_tensor *x = f->in[0];
    int64_t size[TN_MAX_DIMS], numel, b, lines, bytes;
    int d;
    TN_NOTE(dft_note, note, f);
    const int dtype = x->dtype, real = tni_is_complex(dtype) ? (int)tni_real_of(dtype) : dtype;
    if (real != TN_F32 && real != TN_F64)
        return tn_fail(f, TN_UNSUPPORTED, "Unsupported dtype %s",
                       real == TN_F16    ? "Half"
                       : real == TN_BF16 ? "BFloat16"
                                         : tni_dtype(dtype)->text);
    if (!x->ndim)
        return tn_fail(f, TN_INDEX, "Dimension specified as %lld but tensor has no dimensions",
                       (long long)a->dim);
    if (!tni_dim_of(f, x->ndim, a->dim, &d)) return false;
    if (a->n < 1 || a->count < 0 || a->n > INT64_MAX / 4096)
        return tn_fail(f, TN_INVALID, "Invalid number of data points (%lld) specified",
                       (long long)(a->count < 0 ? a->count : a->n));
    if (a->hermitian && x->size[d] > a->n / 2 + 1)
        return tn_fail(f, TN_INVALID,
                       "half of a Hermitian signal of length %lld has no more than "
                       "%lld elements, not %lld",
                       (long long)a->n, (long long)(a->n / 2 + 1), (long long)x->size[d]);
    memcpy(size, x->size, sizeof *size * (size_t)x->ndim);
    size[d] = a->count;
    if (!tni_numel_of(x->ndim, size, &numel))
        return tn_fail(f, TN_INVALID, "the result is too large");
    note->to = a->hermitian && a->n % 2 == 0;
    note->of = !a->hermitian && dtype == real && a->n % 2 == 0;
    b = note->of || note->to ? a->n / 2 : a->n;
    note->m = dft_inner(b);
    lines = dft_count_lines(x, d);
    bytes = real == TN_F32 ? 4 : 8;
    dft_choose(note, lines, x->stride[d], bytes);
    return tn_announce(f, 0, a->hermitian ? (tn_dtype)real : tni_complex_of(real), x->ndim, size) &&
           dft_room(f, note, b, lines, bytes);
}
static dft_table dft_take(char **at, int64_t n, int64_t count) {
    dft_table t;
    t.n = n, t.re = *at, t.im = t.re + 8 * count;
    *at += 16 * count;
    return t;
}
static double *dft_take_f64(char **at, int64_t count) {
    double *t = (double *)(void *)*at;
    *at += 8 * count;
    return t;
}
/* The plan with its tables in shared scratch, which are not made yet; room behind them. */
static char *dft_plan_of(tn_frame *f, dft_plan *p) {
    TN_ARGS(dft, a, f);
    TN_NOTE(dft_note, note, f);
    char *at = (char *)f->scratch + 8 * DFT_JOB;
    const int dtype = f->in[0]->dtype;
    memset(p, 0, sizeof *p);
    p->kernels = f->block->context->kernels;
    p->narrow = dtype == TN_F32 || dtype == TN_C64;
    p->bytes = p->narrow ? 4 : 8;
    p->of = note->of, p->to = note->to;
    p->n = a->n, p->b = p->of || p->to ? a->n / 2 : a->n, p->m = note->m;
    p->side = note->side, p->gap = dft_gap(p->side, p->bytes), p->rows = note->rows,
    p->large = note->large;
    if (p->of || p->to) p->turn = dft_take(&at, p->n, p->b / 2 + 1);
    if (p->m != p->b) {
        p->chirp = dft_take(&at, p->b, p->b);
        p->filter = dft_take(&at, p->m, p->m);
    }
    if (!p->large) {
        p->roots = dft_take(&at, p->m, p->m);
        if (p->rows) p->columns = dft_take(&at, p->m, p->m);
        return at;
    }
    p->roots = dft_take(&at, p->large, p->large);
    p->across = dft_take(&at, p->m / p->large, p->m / p->large);
    p->part = dft_take(&at, p->m, p->large * dft_large_side(p));
    p->fine.coarse_re = dft_take_f64(&at, dft_coarse(p->m));
    p->fine.coarse_im = dft_take_f64(&at, dft_coarse(p->m));
    p->fine.fine_re = dft_take_f64(&at, DFT_FINE);
    p->fine.fine_im = dft_take_f64(&at, DFT_FINE);
    return at;
}
/* Where line i of t along d begins, in numbers. */
static int64_t dft_line(const tn_tensor *t, int d, int64_t i) {
    int64_t at = 0;
    for (int e = t->ndim - 1; e >= 0; e--)
        if (e != d) {
            at += i % t->size[e] * t->stride[e];
            i /= t->size[e];
        }
    return tni_is_complex(t->dtype) ? 2 * at : at;
}
/* The same of lines first on, which are a step apart along the last of the other dimensions. */
static void dft_lines(const tn_tensor *t, int d, int64_t first, int64_t lines, int64_t *line) {
    const int e = t->ndim - 1 - (d == t->ndim - 1);
    const int64_t size = e < 0 ? 1 : t->size[e],
                  step = e < 0 ? 0 : (1 + tni_is_complex(t->dtype)) * t->stride[e];
    int64_t left = 0, at = 0;
    for (int64_t q = 0; q < lines; q++, left--, at += step) {
        if (!left) {
            at = dft_line(t, d, first + q);
            left = size - (first + q) % size;
        }
        line[q] = at;
    }
}
/* Lines first on of t, at `line`: elements one after another. By pointers, since a copy of a struct
 * that was just written waits for all of it. */
static void dft_move_of(tni_dft_move *v, const tn_tensor *t, int d, int64_t first, int64_t lines,
                        int64_t side, int64_t *line) {
    const bool pairs = tni_is_complex(t->dtype);
    dft_lines(t, d, first, lines, line);
    v->data = tni_bytes_at(t), v->line = line, v->lines = lines, v->side = side;
    v->step = (1 + pairs) * t->stride[d], v->apart = pairs;
    v->scale = v->im_scale = 1;
}
/* Loads the elements below n, from k on, to planes at re and im: as pairs of real numbers where
 * `pairs`, of which an odd last one has no second. */
static void dft_load(const dft_plan *p, tni_dft_move *v, bool pairs, int64_t n, char *re,
                     char *im) {
    v->re = re, v->im = im, v->n = n;
    if (pairs) v->n = n / 2, v->apart = v->step, v->step *= 2;
    DFT_K(p, dft_load)(v);
    if (pairs && !v->step) /* all are the same number: apart is 0, too */
        memcpy(im, re, (size_t)(v->n * v->side * p->bytes));
    if (!pairs || n % 2 == 0) return;
    v->data = dft_at(p, (char *)v->data, n / 2 * v->step);
    v->re = dft_at(p, re, n / 2 * v->side), v->im = dft_at(p, im, n / 2 * v->side);
    v->n = 1, v->apart = 0;
    DFT_K(p, dft_load)(v);
}
/* The number of column q of line q of what is half of a Hermitian signal: the real part of element
 * k, where it has that one. */
static void dft_load_middle(const dft_plan *p, const tni_dft_move *v, int64_t k, bool has,
                            char *im) {
    for (int64_t q = 0; q < v->side; q++) {
        const char *from =
            has && q < v->lines ? dft_at(p, (char *)v->data, v->line[q] + k * v->step) : NULL;
        dft_put(p, dft_at(p, im, q), from ? dft_get(p, from) : 0.0);
    }
}
/* Of an odd n: rows n - k are conjugates of rows k, and row 0 is real. */
static void dft_mirror(const dft_plan *p, int64_t have, char *re, char *im) {
    const int64_t side = p->side;
    for (int64_t q = 0; q < side; q++) dft_put(p, dft_at(p, im, q), 0);
    for (int64_t k = 1; k < have; k++)
        for (int64_t q = 0; q < side; q++) {
            const int64_t from = k * side + q, to = (p->n - k) * side + q;
            dft_put(p, dft_at(p, re, to), dft_get(p, dft_at(p, re, from)));
            dft_put(p, dft_at(p, im, to), -dft_get(p, dft_at(p, im, from)));
        }
}
static void dft_clear(const dft_plan *p, char *at, int64_t from) {
    memset(dft_at(p, at, from), 0, (size_t)((p->m * p->side - from) * p->bytes));
}
/* Of an even number of real elements: those from the middle on, which are conjugates of rows
 * before. v: how element 0 and its row are stored. */
static void dft_store_mirror(const dft_plan *p, const tni_dft_move *v, int64_t last,
                             const double *middle) {
    const int64_t from = p->n - last + 1;
    tni_dft_move w;
    for (int64_t q = 0; q < v->lines; q++) {
        char *y = dft_at(p, (char *)v->data, v->line[q] + p->b * v->step);
        dft_put(p, y, middle[q] * v->scale);
        dft_put(p, dft_at(p, y, 1), 0);
    }
    if (last < p->b + 2) return;
    w = *v;
    w.data = dft_at(p, (char *)v->data, (last - 1) * v->step);
    w.re = dft_at(p, (char *)v->re, from * v->side);
    w.im = dft_at(p, (char *)v->im, from * v->side);
    w.n = p->b - from, w.step = -v->step, w.im_scale = -v->im_scale;
    DFT_K(p, dft_store)(&w);
}
/* Zeros behind element n. */
static void dft_store_zeros(const dft_plan *p, const tni_dft_move *v, int64_t count) {
    for (int64_t k = p->n; k < count; k++)
        for (int64_t q = 0; q < v->lines; q++) {
            char *y = dft_at(p, (char *)v->data, v->line[q] + k * v->step);
            memset(y, 0, (size_t)((1 + v->apart) * p->bytes));
        }
}
/* Loads lines to planes at one, and packs those of a real result. */
static void dft_enter(tn_frame *f, const dft_plan *p, int64_t first, int64_t lines, char *one) {
    TN_ARGS(dft, a, f);
    const tn_tensor *x = f->in[0];
    const int d = tni_dim(x->ndim, a->dim);
    int64_t line[DFT_SIDE], in = x->size[d] < p->n ? x->size[d] : p->n, rows;
    const int64_t half = dft_half(p);
    const bool turned = a->inverse && !p->of && !p->to;
    char *re = dft_at(p, one, turned ? half : 0), *im = dft_at(p, one, turned ? 0 : half);
    tni_dft_move v;
    const bool has = p->to && in > p->b;
    tni_dft_half h;
    if (has) in = p->b;
    dft_move_of(&v, x, d, first, lines, p->side, line);
    rows = p->of ? (in + 1) / 2 : in;
    dft_clear(p, re, lines < p->side ? 0 : rows * p->side);
    dft_clear(p, im, lines < p->side ? 0 : rows * p->side);
    dft_load(p, &v, p->of, in, re, im);
    if (a->hermitian && !p->to) dft_mirror(p, in, re, im);
    if (!p->to) return;
    dft_load_middle(p, &v, p->b, has, im);
    h.xr = re, h.xi = im, h.re = p->turn.re, h.im = p->turn.im, h.m = p->b, h.side = p->side;
    h.sign = a->inverse ? -1 : 1;
    DFT_K(p, dft_pack)(&h);
}
/* Stores what is in planes at `at`, of real numbers after it is unpacked. */
static void dft_leave(tn_frame *f, const dft_plan *p, int64_t first, int64_t lines, char *at) {
    TN_ARGS(dft, a, f);
    tn_tensor *y = f->out[0];
    const int d = tni_dim(y->ndim, a->dim);
    int64_t line[DFT_SIDE], n = a->count < p->n ? a->count : p->n;
    const int64_t half = dft_half(p);
    const bool turned = a->inverse && !p->of && !p->to;
    char *re = dft_at(p, at, turned ? half : 0), *im = dft_at(p, at, turned ? 0 : half);
    double middle[DFT_SIDE] = {0};
    tni_dft_move v;
    dft_move_of(&v, y, d, first, lines, p->side, line);
    v.scale = v.im_scale = p->narrow ? (double)(float)a->scale : a->scale;
    if (p->of) {
        tni_dft_half h;
        h.xr = re, h.xi = im, h.re = p->turn.re, h.im = p->turn.im, h.m = p->b, h.side = p->side;
        h.sign = 1;
        DFT_K(p, dft_unpack)(&h);
        for (int64_t q = 0; q < lines; q++) middle[q] = dft_get(p, dft_at(p, im, q));
        for (int64_t q = 0; q < p->side; q++) dft_put(p, dft_at(p, im, q), 0);
        if (n > p->b) n = p->b;
        if (a->inverse) v.im_scale = -v.scale;
    }
    v.re = re, v.im = im, v.n = n;
    if (p->of && a->count > p->b)
        dft_store_mirror(p, &v, a->count < p->n ? a->count : p->n, middle);
    dft_store_zeros(p, &v, a->count);
    if (p->to) v.apart = v.step, v.step *= 2, v.n = n / 2;
    DFT_K(p, dft_store)(&v);
    if (!p->to || n % 2 == 0) return;
    v.data = dft_at(p, (char *)v.data, n / 2 * v.step);
    v.re = dft_at(p, re, n / 2 * p->side);
    v.n = 1, v.apart = 0;
    DFT_K(p, dft_store)(&v);
}
static void dft_task(tn_frame *f, int64_t i, void *scratch) {
    const dft_plan *p = &((const dft_job *)f->scratch)->plan;
    TN_ARGS(dft, a, f);
    const int64_t first = i * p->side, half = dft_half(p),
                  left = dft_count_lines(f->in[0], tni_dim(f->in[0]->ndim, a->dim)) - first,
                  lines = left < p->side ? left : p->side;
    char *one = (char *)scratch, *two = dft_at(p, one, 2 * half), *room = dft_at(p, two, 2 * half);
    if (p->rows) TNI_PATH(dft_matrix);
    dft_enter(f, p, first, lines, one);
    one = p->m == p->b ? dft_transform(f, p, one, two, room) : dft_convolve(f, p, one, two, room);
    dft_leave(f, p, first, lines, one);
}
/* The same of a large line, whose parts are tasks. Where pairs are all neighbours they come from
 * and go to the tensors themselves. */
static void dft_run_large(tn_frame *f, dft_job *j, int64_t i, char *one) {
    TN_ARGS(dft, a, f);
    const dft_plan *p = &j->plan;
    const tn_tensor *x = f->in[0], *y = f->out[0];
    const int d = tni_dim(x->ndim, a->dim);
    const bool pairs = tni_is_complex(x->dtype) ? !a->hermitian : p->of,
               whole = p->m == p->b && x->stride[d] == 1 && x->size[d] >= p->n;
    char *two = dft_at(p, one, 2 * p->m), *at;
    TNI_PATH(dft_large);
    j->turned = a->inverse && !p->of && !p->to;
    j->scale = j->im_scale = a->scale;
    j->from = pairs && whole ? dft_at(p, tni_bytes_at(x), dft_line(x, d, i)) : NULL;
    j->to =
        p->m == p->b && (p->to || !(p->of || a->hermitian)) && a->count >= p->n && y->stride[d] == 1
            ? dft_at(p, tni_bytes_at(y), dft_line(y, d, i))
            : NULL;
    if (!j->from) dft_enter(f, p, i, 1, one);
    at = p->m == p->b ? dft_transform(f, p, one, two, NULL) : dft_convolve(f, p, one, two, NULL);
    if (j->to) {
        int64_t line[1];
        tni_dft_move v;
        dft_move_of(&v, y, d, i, 1, 1, line);
        dft_store_zeros(p, &v, a->count);
    } else if (!tni_stopped()) {
        dft_leave(f, p, i, 1, at);
    }
}
static void dft_run(tn_frame *f) {
    TN_ARGS(dft, a, f);
    dft_job *j = (dft_job *)f->scratch;
    const dft_plan *p = &j->plan;
    const int64_t lines = dft_count_lines(f->in[0], tni_dim(f->in[0]->ndim, a->dim));
    char *room;
    if (!f->out[0]->numel) return;
    memset(j, 0, sizeof *j);
    room = dft_plan_of(f, &j->plan);
    dft_fill(p, &p->roots, p->roots.n, (double *)(void *)room);
    if (p->large) dft_fill(p, &p->across, p->across.n, (double *)(void *)room);
    if (p->turn.n) dft_fill(p, &p->turn, p->b / 2 + 1, (double *)(void *)room);
    if (p->rows) dft_fill_columns(p);
    if (p->large) dft_fill_large(p);
    if (p->m != p->b) dft_fill_chirp(f, p, room);
    if (!p->large) {
        tn_each(f, (lines + p->side - 1) / p->side, tni_effort(100.0 * (double)(p->m * p->side)),
                dft_task);
        return;
    }
    for (int64_t i = 0; i < lines && !tni_stopped(); i++) dft_run_large(f, j, i, room);
}

/* --- gradients -------------------------------------------------------------------------------- */

/* t with the elements that stand for two in a half of n times factor: all but the first, and the
 * last of an even n. */
static tn_tensor *dft_weighed(tn_tensor *t, int dim, int64_t n, double factor) {
    int64_t size[TN_MAX_DIMS], have;
    tn_tensor *part[3];
    bool middle;
    if (!t) return NULL;
    have = t->size[dim];
    middle = n % 2 == 0 && have == n / 2 + 1 && have > 1;
    if (have < 2) return t;
    for (int e = 0; e < t->ndim; e++) size[e] = 1;
    const tn_dtype real = tni_is_complex(t->dtype) ? tni_real_of(t->dtype) : (tn_dtype)t->dtype;
    part[0] = part[2] = tnp_ones(tni_ints(size, t->ndim), real, t->device);
    size[dim] = have - 1 - middle;
    part[1] = tnp_full(tni_ints(size, t->ndim), tn_float(factor), real, t->device);
    if (!part[0] || !part[1]) return NULL;
    return tnp_mul(t, tnp_cat(tn_tensors_of(part, 2 + middle), dim));
}
/* The transform the other way, with the lengths exchanged. */
static void dft_grad(tn_gradient *g) {
    TN_ARGS(dft, a, g);
    const tn_tensor *x = g->in[0];
    const int d = tni_dim(x->ndim, a->dim);
    const int64_t size = x->size[d];
    const bool real = !tni_is_complex(x->dtype), half = real && a->count <= a->n / 2 + 1;
    tn_tensor *t = g->incoming[0];
    if (a->hermitian) {
        t = tnp_dft(t, a->dim, a->n, size, !a->inverse, a->scale, false);
        t = dft_weighed(t, d, a->n, 2);
    } else if (half) { /* its real part alone */
        t = dft_weighed(t, d, a->n, 0.5);
        tn_give(g, 0, tnp_dft(t, a->dim, a->n, size, !a->inverse, a->scale, true));
        return;
    } else {
        t = tnp_dft(t, a->dim, a->n, size, !a->inverse, a->scale, false);
    }
    tn_give(g, 0, t && real ? tnp_real(t) : t);
}
/* The discrete Fourier transform of length n along dim, times scale: self is cropped or gets zeros
 * behind it to have n elements, and the result likewise to have count. With hermitian, self is the
 * first half of a signal whose other half mirrors it, n / 2 + 1 elements at most, and the result is
 * real. */
TN_OPERATOR(dft,
            "dft(Tensor self, int dim, int n, int count, bool inverse=False, float scale=1.0, bool "
            "hermitian=False) -> Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex, or real with hermitian; float32, float64 or "
                             "complex",
                   .example = "tn_dft(x, -1, 8, 8)"),
            .forms = TN_OUT | TN_LEADING, .check = dft_check, .run = dft_run, .grad = dft_grad,
            .sample = "(8):c64 0 8 8 | (3,12) -1 12 7 | (2,37):c64 1 37 37 inverse=True | "
                      "(2,5,3) 1 6 4 scale=0.5 | (0,3) 1 3 3 | (35) 0 35 18 | (3,4) 0 2 3 True | "
                      "(2,5):c64 1 8 8 hermitian=True | (3,6):c64 -1 11 9 True 0.5 True | (2,4) 0 "
                      "5 5 hermitian=True | (30):c64 0 74 75 hermitian=True | (2,2):c64 1 36864 9 "
                      "| (17,35):c64 1 "
                      "35 35 inverse=True")

#include "../../base/rounded_end.inl"
