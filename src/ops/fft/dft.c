/* dft.c - one discrete Fourier transform after another along a dimension: dft.
 *
 * Lengths whose prime factors are at most DFT_RADIX go through Stockham's autosort (W. Cochran et
 * al., "What is the fast Fourier transform?", 1967), radix 4 first; other lengths through a
 * convolution of a power of two (L. Bluestein, 1970). Neighbours are transformed side by side; so
 * are parts of one long line, whose first stages are those of its columns as a matrix, and whose
 * others those of its rows. All is computed in f64, and what is computed is the same in each of
 * these ways, so neither threads nor vectors change a bit.
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "../../call/arguments.h"
#include "../../cpu/matrix.h"
#include "../../kernels/kernels.h"
#include "../../api/ops/fft.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"
#include "../../base/rounded_begin.inl"

enum {
    DFT_SIDE = 8,       /* lines, or columns of a line, side by side */
    DFT_ROOM = 1 << 15, /* elements that stay in the cache */
    DFT_PART = 1 << 10, /* elements of some columns of a line, which stay in the nearest cache */
    DFT_SPLIT = 64      /* the least length of a line whose columns pay */
};

#define TNI_DFT static TNI_UNUSED
#include "../../simd/dft_stages.inl"
#undef TNI_DFT

/* What a call knows of its length: in shared scratch. chirp and filter: Bluestein's alone. */
typedef struct dft_plan {
    const tni_kernels *kernels;
    dft_roots roots;
    int64_t n, m, side;              /* transformed: length m, columns side by side */
    int64_t rows;                    /* of a line as a matrix, a power of 4; 0: it is none */
    double *columns_re, *columns_im; /* roots of the columns' stages, of a matrix alone */
    double *chirp_re, *chirp_im, *filter_re, *filter_im;
} dft_plan;

typedef struct dft_note {
    int64_t n, m, side, rows;
} dft_note;

/* All by dft_root, or, where eighths of the circle are whole, by the first one: the bits are the
 * same. */
static void dft_fill_roots(const dft_plan *p) {
    const dft_roots *w = &p->roots;
    const int64_t n = w->n / 8;
    double c, s;
    if (w->n % 8) {
        for (int64_t k = 0; k < w->n; k++) dft_root(k, w->n, &w->re[k], &w->im[k]);
        return;
    }
    TNI_K(p->kernels, dft_eighth_f64)(w->re, w->im, w->n);
    c = w->re[n], s = w->im[n];
    for (int64_t k = 0; k < n; k++) w->im[k] = -w->im[k];
    /* The sine and cosine at the end of the first eighth are those of no other place in it. */
    for (int turn = 1; turn < 8; turn++) {
        double *re = w->re + turn * n, *im = w->im + turn * n;
        const bool half = turn & 1;
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = half ? n - k : k;
            const double x = at == n ? c : w->re[at], y = at == n ? s : -w->im[at];
            const double a = half ? y : x, b = half ? x : y;
            re[k] = turn < 2 ? a : turn < 4 ? -b : turn < 6 ? -a : b;
            im[k] = turn < 2 ? -b : turn < 4 ? -a : turn < 6 ? b : a;
        }
    }
}
/* The factors of the stages of a matrix's columns, stage after stage, in the order of columns. */
static void dft_fill_columns(const dft_plan *p) {
    double *re = p->columns_re, *im = p->columns_im;
    for (int64_t done = 1; done < p->rows; done *= 4)
        for (int64_t k = 1; k < 4; k++)
            for (int64_t i = 0, at = 0; i < p->m / (4 * done); i++, at += k * done) {
                *re++ = p->roots.re[at];
                *im++ = p->roots.im[at];
            }
}

/* --- stages ----------------------------------------------------------------------------------- */

/* Planes of rows `step` apart, the imaginary ones `apart` behind the real ones. */
typedef struct dft_place {
    double *at;
    int64_t step, apart;
} dft_place;
/* The stages of a transform of length n of `side` columns, from x to y; room: as many rows twice.
 * `before`: what earlier stages have done of the whole. */
static void dft_stages(const dft_plan *p, int64_t n, int64_t side, int64_t before, dft_place x,
                       dft_place y, const dft_place *room) {
    tni_dft_stage s;
    int64_t rest = n, done = 1;
    memset(&s, 0, sizeof s);
    s.re = p->roots.re, s.im = p->roots.im, s.n = p->m;
    for (int i = 0; rest > 1; i ^= 1) {
        dft_place to = room[i];
        s.r = dft_next_radix(rest);
        s.m = rest / s.r;
        if (s.m == 1) to = y;
        s.wide = done, s.side = side, s.p_step = before * done;
        if (x.step == side && to.step == side) s.wide = 1, s.side = done * side;
        s.x_step = s.wide == 1 && done > 1 ? s.side : x.step;
        s.y_step = s.wide == 1 && done > 1 ? s.side : to.step;
        s.xr = x.at, s.xi = x.at + x.apart;
        s.yr = to.at, s.yi = to.at + to.apart;
        TNI_K(p->kernels, dft_stage_f64)(&s);
        x = to;
        rest = s.m;
        done *= s.r;
    }
}
/* Transforms `side` columns of length m in plane pairs x; y is room. True: the result is in y. */
static bool dft_columns(const dft_plan *p, int64_t side, double *x, double *y) {
    const int64_t half = p->m * side;
    dft_place room[2] = {{y, side, half}, {x, side, half}};
    bool flipped = false;
    for (int64_t rest = p->m; rest > 1; rest /= dft_next_radix(rest)) flipped = !flipped;
    dft_stages(p, p->m, side, 1, room[1], room[!flipped], room);
    return flipped;
}

/* --- a line as a matrix ----------------------------------------------------------------------- */

/* So many columns of n elements at a time. */
static int64_t dft_part(int64_t n, int64_t columns) {
    const int64_t side = n < DFT_PART / DFT_SIDE ? DFT_PART / n : (int64_t)DFT_SIDE;
    return side < columns ? side : columns;
}
/* The room that dft_matrix needs: rows of real and imaginary parts of some columns, twice. */
static int64_t dft_matrix_room(int64_t m, int64_t rows) {
    const int64_t down = rows ? rows * dft_part(rows, m / rows) : 0,
                  along = rows ? m / rows * dft_part(m / rows, rows) : 0;
    return 4 * (down > along ? down : along);
}
/* Has the cache fetch a part of rows that comes next. */
static void dft_ahead(const double *at, int64_t rows, int64_t step, int64_t apart) {
#if defined(__GNUC__) && !defined(__TINYC__)
    for (int64_t k = 0; k < rows; k++) {
        __builtin_prefetch(at + k * step);
        __builtin_prefetch(at + k * step + apart);
    }
#else
    (void)at, (void)rows, (void)step, (void)apart;
#endif
}
/* The stages of columns `first` on, of `rows` elements each, and the result as rows of y. */
static void dft_down(const dft_plan *p, int64_t first, int64_t side, const double *x, double *y,
                     double *room) {
    const int64_t half = p->rows * side, columns = p->m / p->rows;
    const double *re = p->columns_re + first, *im = p->columns_im + first;
    double *to = room;
    tni_dft_stage s;
    memset(&s, 0, sizeof s);
    s.xr = x + first, s.xi = x + p->m + first;
    s.x_step = columns;
    s.r = 4, s.side = side, s.y_step = side, s.each = true, s.p_step = columns;
    for (s.wide = 1; s.wide < p->rows; s.wide *= 4) {
        s.m = p->rows / (4 * s.wide);
        s.k_step = s.m * columns;
        s.re = re, s.im = im;
        s.yr = to, s.yi = to + half;
        TNI_K(p->kernels, dft_stage_f64)(&s);
        re += 3 * s.k_step, im += 3 * s.k_step;
        s.xr = s.yr, s.xi = s.yi, s.x_step = side;
        to = to == room ? room + 2 * half : room;
    }
    for (int64_t c = 0; c < side; c++) {
        double *yr = y + (first + c) * p->rows, *yi = yr + p->m;
        for (int64_t k = 0; k < p->rows; k++) {
            yr[k] = s.xr[k * side + c];
            yi[k] = s.xi[k * side + c];
        }
    }
}
/* Transforms the line in the plane pair x, by way of y. */
static void dft_matrix(const dft_plan *p, double *x, double *y, double *room) {
    const int64_t columns = p->m / p->rows, down = dft_part(p->rows, columns),
                  along = dft_part(columns, p->rows);
    const bool large = p->m > DFT_ROOM;
    TNI_PATH(dft_matrix);
    for (int64_t c = 0; c < columns; c += down) {
        if (large && c + down < columns) dft_ahead(x + c + down, p->rows, columns, p->m);
        dft_down(p, c, columns - c < down ? columns - c : down, x, y, room);
    }
    for (int64_t c = 0; c < p->rows; c += along) {
        const int64_t side = p->rows - c < along ? p->rows - c : along, half = columns * side;
        const dft_place from = {y + c, p->rows, p->m}, to = {x + c, p->rows, p->m},
                        both[2] = {{room, side, half}, {room + 2 * half, side, half}};
        if (large && c + along < p->rows) dft_ahead(y + c + along, columns, p->rows, p->m);
        dft_stages(p, columns, side, p->rows, from, to, both);
    }
}
/* Transforms what is in x; y and room are room. Returns where the result is: x or y. */
static double *dft_transform(const dft_plan *p, double *x, double *y, double *room) {
    if (!p->rows) return dft_columns(p, p->side, x, y) ? y : x;
    dft_matrix(p, x, y, room);
    return x;
}

/* --- Bluestein -------------------------------------------------------------------------------- */

/* chirp_k = exp(-pi i k^2 / n), and the transform of its conjugate, over m. */
static void dft_fill_chirp(dft_plan *p, double *room) {
    const int64_t n = p->n, m = p->m;
    double *x = room, *y = room + 2 * m, *from;
    memset(x, 0, sizeof *x * (size_t)(2 * m));
    for (int64_t k = 0, square = 0; k < n; k++) { /* square: k^2 modulo 2 n */
        dft_root(square, 2 * n, &p->chirp_re[k], &p->chirp_im[k]);
        square = (square + 2 * k + 1) % (2 * n);
        x[k] = p->chirp_re[k];
        x[m + k] = -p->chirp_im[k];
        if (k) x[m - k] = x[k], x[2 * m - k] = x[m + k];
    }
    from = dft_columns(p, 1, x, y) ? y : x;
    for (int64_t k = 0; k < m; k++) {
        p->filter_re[k] = from[k] / (double)m;
        p->filter_im[k] = from[m + k] / (double)m;
    }
}
/* Rows below end times chirp; `end` on are 0. */
static void dft_times_chirp(const dft_plan *p, double *x) {
    const int64_t half = p->m * p->side;
    for (int64_t k = 0; k < p->n; k++)
        for (int64_t q = k * p->side; q < (k + 1) * p->side; q++) {
            const double re = x[q] * p->chirp_re[k] - x[half + q] * p->chirp_im[k];
            x[half + q] = x[q] * p->chirp_im[k] + x[half + q] * p->chirp_re[k];
            x[q] = re;
        }
}
static double *dft_convolve(const dft_plan *p, double *x, double *y, double *room) {
    const int64_t half = p->m * p->side;
    double *at, *to;
    dft_times_chirp(p, x);
    at = dft_transform(p, x, y, room);
    to = at == x ? y : x;
    /* The inverse transform is the forward one with the planes exchanged. */
    for (int64_t k = 0; k < p->m; k++)
        for (int64_t q = k * p->side; q < (k + 1) * p->side; q++) {
            const double re = at[q] * p->filter_re[k] - at[half + q] * p->filter_im[k];
            const double im = at[q] * p->filter_im[k] + at[half + q] * p->filter_re[k];
            to[q] = im;
            to[half + q] = re;
        }
    at = dft_transform(p, to, at, room);
    for (int64_t q = 0; q < half; q++) {
        const double re = at[half + q];
        at[half + q] = at[q];
        at[q] = re;
    }
    dft_times_chirp(p, at);
    return at;
}

/* --- the row ---------------------------------------------------------------------------------- */

/* Row-major but with the elements along d as neighbours. */
static void dft_strides(int ndim, int d, const int64_t *size, int64_t *stride) {
    int64_t step = size[d] > 1 ? size[d] : 1;
    stride[d] = 1;
    for (int e = ndim - 1; e >= 0; e--) {
        if (e == d) continue;
        stride[e] = step;
        step *= size[e] > 1 ? size[e] : 1;
    }
}
static int64_t dft_lines(const tn_tensor *t, int d) {
    int64_t lines = 1;
    for (int e = 0; e < t->ndim; e++) lines *= e == d ? 1 : t->size[e];
    return lines;
}
/* Lines side by side, if they are many and their elements are apart; else one at a time, as a
 * matrix with about as many rows as columns where 16 divides its length. */
static void dft_choose(dft_note *note, int64_t lines, int64_t step) {
    note->rows = 0;
    note->side = note->m > DFT_ROOM / DFT_SIDE ? DFT_ROOM / note->m : (int64_t)DFT_SIDE;
    if (note->side > lines) note->side = lines;
    if (note->side < 1) note->side = 1;
    if (note->m < DFT_SPLIT || note->m % 16 || (step != 1 && note->side == DFT_SIDE)) return;
    note->side = 1;
    note->rows = 4;
    while (note->m % (4 * note->rows) == 0 && 4 * note->rows <= note->m / (4 * note->rows))
        note->rows *= 4;
}
static bool dft_check(tn_frame *f) {
    TN_ARGS(dft, a, f);
    const tn_tensor *x = f->in[0];
    int64_t size[TN_MAX_DIMS], stride[TN_MAX_DIMS], numel, shared, each, tasks;
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
                       (long long)a->n);
    memcpy(size, x->size, sizeof *size * (size_t)x->ndim);
    size[d] = a->count;
    if (!tni_numel_of(x->ndim, size, &numel))
        return tn_fail(f, TN_INVALID, "the result is too large");
    note->n = a->n;
    note->m = dft_inner(a->n);
    dft_choose(note, dft_lines(x, d), x->stride[d]);
    /* Roots, filter, chirp and room to make them; then two plane pairs a worker. */
    shared = note->m == note->n ? 2 * note->m : 8 * note->m + 2 * note->n;
    if (note->rows) shared += 2 * note->m;
    each = 4 * note->m * note->side + dft_matrix_room(note->m, note->rows);
    tasks = (dft_lines(x, d) + note->side - 1) / note->side;
    dft_strides(x->ndim, d, size, stride);
    return tn_announce_strided(f, 0, tni_complex_of(real), x->ndim, size, stride) &&
           tn_scratch(f, shared, 8) && tni_scratch_each(f, tasks, each, 8);
}
/* The plan in shared scratch; room behind it where it is made. */
static dft_plan dft_plan_of(tn_frame *f, double **room) {
    TN_NOTE(dft_note, note, f);
    double *at = (double *)f->scratch;
    dft_plan p;
    p.kernels = f->block->context->kernels;
    p.n = note->n, p.m = note->m, p.side = note->side, p.rows = note->rows;
    if (p.rows) { /* fewer than m: 3 / 4 + 3 / 16 + .. */
        p.columns_re = at, p.columns_im = at + p.m;
        at += 2 * p.m;
    } else {
        p.columns_re = p.columns_im = NULL;
    }
    p.roots.n = p.m, p.roots.re = at, p.roots.im = at + p.m;
    p.filter_re = at + 2 * p.m, p.filter_im = at + 3 * p.m;
    p.chirp_re = at + 4 * p.m, p.chirp_im = p.chirp_re + p.n;
    *room = p.chirp_im + p.n;
    return p;
}
/* Where line i of t along d begins, in elements. */
static int64_t dft_line(const tn_tensor *t, int d, int64_t i) {
    int64_t at = 0;
    for (int e = t->ndim - 1; e >= 0; e--)
        if (e != d) {
            at += i % t->size[e] * t->stride[e];
            i /= t->size[e];
        }
    return at;
}
/* n elements of lines that begin at `line`, `step` apart, to planes with `side` columns, and
 * back. */
#define DFT_ELEMENTS(S, T)                                                                       \
    static void dft_load_##S(const T *x, const int64_t *line, int64_t lines, int64_t step,       \
                             int64_t n, int64_t side, double *re, double *im, bool pairs) {      \
        for (int64_t k = 0; k < n && pairs; k++)                                                 \
            for (int64_t q = 0; q < lines; q++) {                                                \
                const T *at = x + 2 * (line[q] + k * step);                                      \
                re[k * side + q] = (double)at[0];                                                \
                im[k * side + q] = (double)at[1];                                                \
            }                                                                                    \
        for (int64_t k = 0; k < n && !pairs; k++)                                                \
            for (int64_t q = 0; q < lines; q++) {                                                \
                re[k * side + q] = (double)x[line[q] + k * step];                                \
                im[k * side + q] = 0;                                                            \
            }                                                                                    \
    }                                                                                            \
    static void dft_store_##S(T *y, const int64_t *line, int64_t lines, int64_t step, int64_t n, \
                              int64_t side, double scale, const double *re, const double *im) {  \
        for (int64_t k = 0; k < n; k++)                                                          \
            for (int64_t q = 0; q < lines; q++) {                                                \
                T *at = y + 2 * (line[q] + k * step);                                            \
                at[0] = (T)(re[k * side + q] * scale);                                           \
                at[1] = (T)(im[k * side + q] * scale);                                           \
            }                                                                                    \
    }                                                                                            \
    /* The same of one line whose elements are neighbours. */                                    \
    static void dft_load_row_##S(const T *x, int64_t n, double *re, double *im, bool pairs) {    \
        for (int64_t k = 0; k < n && pairs; k++) {                                               \
            re[k] = (double)x[2 * k];                                                            \
            im[k] = (double)x[2 * k + 1];                                                        \
        }                                                                                        \
        for (int64_t k = 0; k < n && !pairs; k++) {                                              \
            re[k] = (double)x[k];                                                                \
            im[k] = 0;                                                                           \
        }                                                                                        \
    }                                                                                            \
    static void dft_store_row_##S(T *y, int64_t n, double scale, const double *re,               \
                                  const double *im) {                                            \
        for (int64_t k = 0; k < n; k++) {                                                        \
            y[2 * k] = (T)(re[k] * scale);                                                       \
            y[2 * k + 1] = (T)(im[k] * scale);                                                   \
        }                                                                                        \
    }
DFT_ELEMENTS(f32, float)
DFT_ELEMENTS(f64, double)
#undef DFT_ELEMENTS
/* Lines of a tensor side by side in planes. */
typedef struct dft_lines_at {
    int64_t line[DFT_SIDE], lines, step, side;
} dft_lines_at;
static void dft_load(const tn_tensor *x, const dft_lines_at *l, int64_t n, double *re, double *im) {
    const bool pairs = tni_is_complex(x->dtype), row = l->side == 1 && l->step == 1;
    const char *from = tni_bytes_at(x);
    const float *f = (const float *)(const void *)from;
    const double *d = (const double *)(const void *)from;
    const int64_t at = row ? l->line[0] * (1 + pairs) : 0;
    const bool narrow = x->dtype == TN_F32 || x->dtype == TN_C64;
    if (row && narrow)
        dft_load_row_f32(f + at, n, re, im, pairs);
    else if (row)
        dft_load_row_f64(d + at, n, re, im, pairs);
    else if (narrow)
        dft_load_f32(f, l->line, l->lines, l->step, n, l->side, re, im, pairs);
    else
        dft_load_f64(d, l->line, l->lines, l->step, n, l->side, re, im, pairs);
}
static void dft_store(tn_tensor *y, const dft_lines_at *l, int64_t n, double scale,
                      const double *re, const double *im) {
    const bool row = l->side == 1 && l->step == 1;
    char *to = tni_bytes_at(y);
    float *f = (float *)(void *)to;
    double *d = (double *)(void *)to;
    if (row && y->dtype == TN_C64)
        dft_store_row_f32(f + 2 * l->line[0], n, scale, re, im);
    else if (row)
        dft_store_row_f64(d + 2 * l->line[0], n, scale, re, im);
    else if (y->dtype == TN_C64)
        dft_store_f32(f, l->line, l->lines, l->step, n, l->side, scale, re, im);
    else
        dft_store_f64(d, l->line, l->lines, l->step, n, l->side, scale, re, im);
}
/* Zeros from element n on to the last of a line of the result. */
static void dft_end(tn_tensor *y, const dft_lines_at *l, int64_t n, int64_t count) {
    const int64_t bytes = tni_dtype_size(y);
    for (int64_t q = 0; q < l->lines; q++)
        for (int64_t k = n; k < count; k++)
            memset(tni_bytes_at(y) + (l->line[q] + k * l->step) * bytes, 0, (size_t)bytes);
}
static dft_lines_at dft_lines_of(const tn_tensor *t, int d, int64_t first, int64_t lines,
                                 int64_t side) {
    dft_lines_at l;
    l.lines = lines, l.step = t->stride[d], l.side = side;
    for (int64_t q = 0; q < lines; q++) l.line[q] = dft_line(t, d, first + q);
    return l;
}
static void dft_task(tn_frame *f, int64_t i, void *scratch) {
    TN_ARGS(dft, a, f);
    tn_tensor *x = f->in[0], *y = f->out[0];
    double *room, *one = (double *)scratch, *at;
    const dft_plan p = dft_plan_of(f, &room);
    const int d = tni_dim(x->ndim, a->dim);
    const int64_t half = p.m * p.side, first = i * p.side, left = dft_lines(x, d) - first;
    const int64_t lines = left < p.side ? left : p.side;
    const int64_t in = x->size[d] < p.n ? x->size[d] : p.n, out = a->count < p.n ? a->count : p.n;
    double *two = one + 2 * half;
    const int64_t re = a->inverse ? half : 0, im = half - re, side = p.side;
    dft_lines_at l = dft_lines_of(x, d, first, lines, side);
    const int64_t filled = lines < side ? 0 : in * side; /* behind it the planes are 0 */
    memset(one + filled, 0, sizeof *one * (size_t)(half - filled));
    memset(one + half + filled, 0, sizeof *one * (size_t)(half - filled));
    /* The inverse: real and imaginary planes exchanged before and after. */
    dft_load(x, &l, in, one + re, one + im);
    room = two + 2 * half;
    at = p.m == p.n ? dft_transform(&p, one, two, room) : dft_convolve(&p, one, two, room);
    l = dft_lines_of(y, d, first, lines, side);
    dft_store(y, &l, out, a->scale, at + re, at + im);
    dft_end(y, &l, out, a->count);
}
static void dft_run(tn_frame *f) {
    TN_ARGS(dft, a, f);
    double *room;
    dft_plan p = dft_plan_of(f, &room);
    const int64_t lines = dft_lines(f->in[0], tni_dim(f->in[0]->ndim, a->dim));
    if (!f->out[0]->numel) return;
    dft_fill_roots(&p);
    if (p.rows) dft_fill_columns(&p);
    if (p.m != p.n) dft_fill_chirp(&p, room);
    tn_each(f, (lines + p.side - 1) / p.side, tni_effort(100.0 * (double)(p.m * p.side)), dft_task);
}
/* The transform the other way, with the lengths exchanged. */
static void dft_grad(tn_gradient *g) {
    TN_ARGS(dft, a, g);
    const tn_tensor *x = g->in[0];
    const int64_t size = x->size[tni_dim(x->ndim, a->dim)];
    tn_tensor *t = tnp_dft(g->incoming[0], a->dim, a->n, size, !a->inverse, a->scale);
    tn_give(g, 0, t && !tni_is_complex(x->dtype) ? tnp_real(t) : t);
}
/* The discrete Fourier transform of length n along dim, times scale: self is cropped or gets zeros
 * behind it to have n elements, and the result likewise to have count. */
TN_OPERATOR(dft,
            "dft(Tensor self, int dim, int n, int count, bool inverse=False, float scale=1.0) -> "
            "Tensor",
            TN_DOC(.shapes = "self (*) -> (*) complex, float32, float64 or complex",
                   .example = "tn_dft(x, -1, 8, 8)"),
            .forms = TN_OUT | TN_LEADING, .check = dft_check, .run = dft_run, .grad = dft_grad,
            .sample = "(8):c64 0 8 8 | (3,12) -1 12 7 | (2,37):c64 1 37 37 inverse=True | "
                      "(2,5,3) 1 6 4 scale=0.5 | (0,3) 1 3 3 | (35) 0 35 18 | (3,4) 0 2 3 True")

#include "../../base/rounded_end.inl"
