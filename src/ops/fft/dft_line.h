/* dft_line.h - how ops/fft/dft.c transforms a line, or lines side by side: roots, stages, lines as
 * matrices, large lines, Bluestein's convolution. */
#ifndef TNI_OPS_DFT_LINE_H
#define TNI_OPS_DFT_LINE_H

enum {
    DFT_SIDE = 16,      /* lines, or columns of a line, side by side at most: 64 bytes of them */
    DFT_ROOM = 1 << 15, /* elements that stay in the cache */
    DFT_PART = 1 << 10, /* elements of some columns of a line, which stay in the nearest cache */
    DFT_SPLIT = 64,     /* the least length of a line whose columns pay, */
    DFT_TALL = 8192,    /* and of one that has as many neighbours as a vector has numbers */
    DFT_MANY = 256,     /* roots at a time */
    DFT_GAP = 320       /* bytes between planes, so that their rows share fewer places of a cache */
};

/* The roots of a length. */
typedef struct dft_table {
    char *re, *im;
    int64_t n;
} dft_table;
/* What a call knows of its length: its tables are in shared scratch. */
typedef struct dft_plan {
    const tni_kernels *kernels;
    bool narrow, of, to;   /* f32; a line is pairs of real numbers, of what comes in or goes out */
    int64_t bytes;         /* of a number */
    int64_t n, b, m, side; /* elements, or pairs b; transformed: length m, columns side by side */
    int64_t gap;           /* numbers between planes */
    int64_t rows, large;   /* of a line, and of a large one, as a matrix; 0: it is none */
    dft_table roots, columns; /* of m, or of the columns of a large line; of a matrix's columns */
    dft_table across, turn;   /* of the rows of a large line; of n, where pairs are transformed */
    dft_table chirp, filter;  /* Bluestein's alone */
    dft_table part;           /* of a large line: what dft_twist needs */
    dft_fine fine;
} dft_plan;
typedef struct dft_note {
    int64_t m;
    int32_t rows, large, side;
    bool of, to;
} dft_note;
/* The kernel of the plan's type. */
#define DFT_K(p, name) \
    ((p)->narrow ? TNI_K((p)->kernels, name##_f32) : TNI_K((p)->kernels, name##_f64))

static char *dft_at(const dft_plan *p, char *at, int64_t i) { return at + i * p->bytes; }
static int64_t dft_gap(int64_t side, int64_t bytes) { return side > 1 ? DFT_GAP / bytes : 0; }
static int64_t dft_half(const dft_plan *p) { return p->m * p->side + p->gap; }
static double dft_get(const dft_plan *p, const char *at) {
    float f;
    double d;
    if (!p->narrow) return memcpy(&d, at, sizeof d), d;
    return memcpy(&f, at, sizeof f), (double)f;
}
static void dft_put(const dft_plan *p, char *at, double v) {
    const float f = (float)v;
    if (p->narrow)
        memcpy(at, &f, sizeof f);
    else
        memcpy(at, &v, sizeof v);
}

/* --- roots ------------------------------------------------------------------------------------ */

/* The first `count` roots of n from cosines c and sines s of its first eighth: the bits are those
 * of dft_root. */
#define DFT_TURN(S, T)                                                                   \
    static void dft_turn_##S(T *re, T *im, int64_t n, int64_t count, const double *c,    \
                             const double *s) {                                          \
        n /= 8;                                                                          \
        for (int turn = 0; turn < 8; turn++, re += n, im += n, count -= n)               \
            for (int64_t k = 0; k < n && k < count; k++) {                               \
                const int64_t at = turn & 1 ? n - k : k;                                 \
                const double a = turn & 1 ? s[at] : c[at], b = turn & 1 ? c[at] : s[at]; \
                re[k] = (T)(turn < 2 ? a : turn < 4 ? -b : turn < 6 ? -a : b);           \
                im[k] = (T)(turn < 2 ? -b : turn < 4 ? -a : turn < 6 ? b : a);           \
            }                                                                            \
    }
DFT_TURN(f32, float)
DFT_TURN(f64, double)
#undef DFT_TURN
/* Roots k[i] of n to places at[i] of t: as dft_root has them, DFT_MANY at a time. */
static void dft_fill_some(const dft_plan *p, const dft_table *t, const int64_t *k, int64_t n,
                          int64_t first, int64_t count) {
    double c[DFT_MANY] = {0}, s[DFT_MANY];
    int turn[DFT_MANY];
    for (int64_t i = 0; i < count; i++) {
        const int64_t part = 8 * k[i];
        turn[i] = (int)(part / n);
        c[i] = (double)(turn[i] & 1 ? (turn[i] + 1) * n - part : part - turn[i] * n);
    }
    TNI_K(p->kernels, dft_angles_f64)(c, (double)n, count, c, s);
    for (int64_t i = 0; i < count; i++) {
        double re, im;
        dft_turned(turn[i], c[i], s[i], &re, &im);
        dft_put(p, dft_at(p, t->re, first + i), re);
        dft_put(p, dft_at(p, t->im, first + i), im);
    }
}
/* The first `count` roots of t->n. room: 2 (n / 8 + 1) numbers. */
static void dft_fill(const dft_plan *p, const dft_table *t, int64_t count, double *room) {
    const int64_t n = t->n, half = n % 4 && count == n ? n / 2 + 1 : count;
    double *sine = room + n / 8 + 1;
    int64_t k[DFT_MANY];
    if (n % 8) { /* those behind half mirror the others */
        for (int64_t first = 0; first < half; first += DFT_MANY) {
            const int64_t some = half - first < DFT_MANY ? half - first : (int64_t)DFT_MANY;
            for (int64_t i = 0; i < some; i++) k[i] = first + i;
            dft_fill_some(p, t, k, n, first, some);
        }
        for (int64_t i = half; i < count; i++) {
            dft_put(p, dft_at(p, t->re, i), dft_get(p, dft_at(p, t->re, n - i)));
            dft_put(p, dft_at(p, t->im, i), -dft_get(p, dft_at(p, t->im, n - i)));
        }
        return;
    }
    for (int64_t i = 0; i <= n / 8; i++) room[i] = (double)(8 * i);
    TNI_K(p->kernels, dft_angles_f64)(room, (double)n, n / 8 + 1, room, sine);
    if (p->narrow)
        dft_turn_f32((float *)(void *)t->re, (float *)(void *)t->im, n, count, room, sine);
    else
        dft_turn_f64((double *)(void *)t->re, (double *)(void *)t->im, n, count, room, sine);
}
/* The factors of the stages of a matrix's columns, stage after stage, in the order of columns. */
#define DFT_COLUMNS(S, T)                                                                    \
    static void dft_columns_##S(const dft_plan *p, const T *wr, const T *wi, T *re, T *im) { \
        for (int64_t done = 1, r; done < p->rows; done *= r) {                               \
            r = dft_next_radix(p->m / done);                                                 \
            for (int64_t k = 1; k < r; k++)                                                  \
                for (int64_t i = 0, at = 0; i < p->m / (r * done); i++, at += k * done) {    \
                    *re++ = wr[at];                                                          \
                    *im++ = wi[at];                                                          \
                }                                                                            \
        }                                                                                    \
    }
DFT_COLUMNS(f32, float)
DFT_COLUMNS(f64, double)
#undef DFT_COLUMNS
static void dft_fill_columns(const dft_plan *p) {
    void *wr = p->roots.re, *wi = p->roots.im, *re = p->columns.re, *im = p->columns.im;
    if (p->narrow)
        dft_columns_f32(p, (const float *)wr, (const float *)wi, (float *)re, (float *)im);
    else
        dft_columns_f64(p, (const double *)wr, (const double *)wi, (double *)re, (double *)im);
}
static int64_t dft_large_side(const dft_plan *p) { return DFT_TWIST / p->bytes; }
/* Two tables of the roots of a large length, and what neighbours of a row are multiplied by. */
static void dft_fill_large(const dft_plan *p) {
    const int64_t side = dft_large_side(p);
    for (int64_t k = 0; k < dft_coarse(p->m); k++)
        dft_root(k * DFT_FINE, p->m, &p->fine.coarse_re[k], &p->fine.coarse_im[k]);
    for (int64_t k = 0; k < DFT_FINE; k++)
        dft_root(k, p->m, &p->fine.fine_re[k], &p->fine.fine_im[k]);
    for (int64_t k = 0; k < p->large; k++)
        for (int64_t q = 0; q < side; q++) {
            double re, im;
            dft_fine_root(&p->fine, k * q, &re, &im);
            dft_put(p, dft_at(p, p->part.re, k * side + q), re);
            dft_put(p, dft_at(p, p->part.im, k * side + q), im);
        }
}

/* --- stages ----------------------------------------------------------------------------------- */

/* Planes of rows `step` apart, the imaginary ones `apart` behind the real ones. */
typedef struct dft_place {
    char *at;
    int64_t step, apart;
} dft_place;
/* The radix of the next stage; 16: of two stages at once. */
static int64_t dft_next(int64_t rest) { return rest % 16 ? dft_next_radix(rest) : 16; }
static int dft_stage_count(int64_t n) {
    int count = 0;
    for (; n > 1; n /= dft_next(n)) count++;
    return count;
}
/* The stages of a transform of length n of `side` columns, from x to y; room: as many rows twice.
 * `before`: what earlier stages have done of the whole. */
static void dft_stages(const dft_plan *p, const dft_table *w, int64_t n, int64_t side,
                       int64_t before, dft_place x, dft_place y, const dft_place *room) {
    tni_dft_stage s;
    int64_t rest = n, done = 1;
    memset(&s, 0, sizeof s);
    s.re = s.root_re = w->re, s.im = s.root_im = w->im, s.n = w->n;
    for (int i = 0; rest > 1; i ^= 1) {
        dft_place to = room[i];
        s.r = dft_next(rest);
        s.m = rest / s.r;
        if (s.m == 1) to = y;
        s.wide = done, s.side = side, s.p_step = before * done;
        if (x.step == side && to.step == side) s.wide = 1, s.side = done * side;
        s.x_step = s.wide == 1 && done > 1 ? s.side : x.step;
        s.y_step = s.wide == 1 && done > 1 ? s.side : to.step;
        s.xr = x.at, s.xi = dft_at(p, x.at, x.apart);
        s.yr = to.at, s.yi = dft_at(p, to.at, to.apart);
        DFT_K(p, dft_stage)(&s);
        x = to;
        rest = s.m;
        done *= s.r;
    }
}
/* Transforms `side` columns of length m in plane pairs x; y is room. True: the result is in y. */
static bool dft_columns(const dft_plan *p, char *x, char *y) {
    const int64_t half = dft_half(p);
    dft_place room[2] = {{y, p->side, half}, {x, p->side, half}};
    const bool flipped = dft_stage_count(p->m) & 1;
    dft_stages(p, &p->roots, p->m, p->side, 1, room[1], room[!flipped], room);
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
/* n rows of `side` numbers, as columns from `to` on, each n numbers. */
#define DFT_FLIP(S, T)                                                     \
    static void dft_flip_##S(const T *x, int64_t n, int64_t side, T *to) { \
        for (int64_t c = 0; c < side; c++, to += n)                        \
            for (int64_t k = 0; k < n; k++) to[k] = x[k * side + c];       \
    }
DFT_FLIP(f32, float)
DFT_FLIP(f64, double)
#undef DFT_FLIP
static void dft_flip(const dft_plan *p, const void *x, int64_t n, int64_t side, char *to) {
    if (p->narrow)
        dft_flip_f32((const float *)x, n, side, (float *)(void *)to);
    else
        dft_flip_f64((const double *)x, n, side, (double *)(void *)to);
}
/* The stages of columns `first` on, of `rows` elements each, and the result as rows of y. */
static void dft_down(const dft_plan *p, int64_t first, int64_t side, char *x, char *y, char *room) {
    const int64_t half = p->rows * side, columns = p->m / p->rows;
    char *to = room;
    tni_dft_stage s;
    int64_t table = first;
    memset(&s, 0, sizeof s);
    s.xr = dft_at(p, x, first), s.xi = dft_at(p, x, p->m + first);
    s.x_step = columns;
    s.side = side, s.y_step = side, s.each = true, s.p_step = columns;
    s.n = p->m, s.root_re = p->roots.re, s.root_im = p->roots.im;
    for (s.wide = 1; s.wide < p->rows; s.wide *= s.r) {
        s.r = dft_next_radix(p->m / s.wide);
        s.m = p->rows / (s.r * s.wide);
        s.k_step = s.m * columns;
        s.re = dft_at(p, p->columns.re, table), s.im = dft_at(p, p->columns.im, table);
        s.yr = to, s.yi = dft_at(p, to, half);
        DFT_K(p, dft_stage)(&s);
        table += (s.r - 1) * s.k_step;
        s.xr = s.yr, s.xi = s.yi, s.x_step = side;
        to = to == room ? dft_at(p, room, 2 * half) : room;
    }
    dft_flip(p, s.xr, p->rows, side, dft_at(p, y, first * p->rows));
    dft_flip(p, s.xi, p->rows, side, dft_at(p, y, first * p->rows + p->m));
}
/* Transforms the line in the plane pair x, by way of y. */
static void dft_matrix(const dft_plan *p, char *x, char *y, char *room) {
    const int64_t columns = p->m / p->rows, down = dft_part(p->rows, columns),
                  along = dft_part(columns, p->rows);
    for (int64_t c = 0; c < columns; c += down)
        dft_down(p, c, columns - c < down ? columns - c : down, x, y, room);
    for (int64_t c = 0; c < p->rows; c += along) {
        const int64_t side = p->rows - c < along ? p->rows - c : along, half = columns * side;
        const dft_place from = {dft_at(p, y, c), p->rows, p->m},
                        to = {dft_at(p, x, c), p->rows, p->m},
                        both[2] = {{room, side, half}, {dft_at(p, room, 2 * half), side, half}};
        dft_stages(p, &p->roots, columns, side, p->rows, from, to, both);
    }
}

/* --- a large line ----------------------------------------------------------------------------- */

/* What the tasks of a large line read, at the beginning of shared scratch. Pairs of numbers in the
 * tensors themselves stand for planes where they are given. */
typedef struct dft_job {
    dft_plan plan;
    char *x, *y;     /* planes: what is transformed and then the result; between the passes */
    char *from, *to; /* pairs, or NULL */
    bool turned;     /* their real and imaginary parts are exchanged */
    double scale, im_scale;
} dft_job;
enum { DFT_JOB = (sizeof(dft_job) + 63) / 64 * 8 }; /* numbers of 8 bytes */

/* Some columns of pairs in a tensor and planes at `room`: elements `step` apart. */
static tni_dft_move dft_pairs(const dft_job *j, char *data, int64_t *line, int64_t first,
                              int64_t side, int64_t n, int64_t step, char *room) {
    const dft_plan *p = &j->plan;
    tni_dft_move v;
    for (int64_t q = 0; q < side; q++) line[q] = 2 * (first + q);
    v.data = data, v.line = line;
    v.re = dft_at(p, room, j->turned ? n * side : 0);
    v.im = dft_at(p, room, j->turned ? 0 : n * side);
    v.step = 2 * step, v.apart = 1, v.n = n, v.lines = v.side = side;
    v.scale = j->scale, v.im_scale = j->im_scale;
    return v;
}
static void dft_large_down(tn_frame *f, int64_t i, void *scratch) {
    const dft_job *j = (const dft_job *)f->scratch;
    const dft_plan *p = &j->plan;
    const int64_t most = dft_large_side(p), first = i * most, rows = p->large,
                  columns = p->m / rows, side = columns - first < most ? columns - first : most;
    const int64_t half = rows * side;
    char *base = (char *)scratch, *room = dft_at(p, base, 2 * rows);
    dft_place both[2] = {{room, side, half}, {dft_at(p, room, 2 * half), side, half}};
    const int last = (dft_stage_count(rows) - 1) & 1;
    int64_t line[DFT_SIDE];
    tni_dft_twist t;
    dft_place from = {dft_at(p, j->x, first), columns, p->m};
    if (j->from) {
        const tni_dft_move v = dft_pairs(j, j->from, line, first, side, rows, columns, both[1].at);
        DFT_K(p, dft_load)(&v);
        from = both[1];
    }
    for (int64_t k = 0; k < rows; k++) {
        double re, im;
        dft_fine_root(&p->fine, k * first, &re, &im);
        dft_put(p, dft_at(p, base, k), re);
        dft_put(p, dft_at(p, base, rows + k), im);
    }
    dft_stages(p, &p->roots, rows, side, 1, from, both[last], both);
    t.xr = both[last].at, t.xi = dft_at(p, both[last].at, half);
    t.base_re = base, t.base_im = dft_at(p, base, rows);
    t.part_re = p->part.re, t.part_im = p->part.im, t.part_step = most;
    t.yr = dft_at(p, j->y, first * rows), t.yi = dft_at(p, j->y, p->m + first * rows);
    t.rows = rows, t.side = side;
    DFT_K(p, dft_twist)(&t);
}
static void dft_large_along(tn_frame *f, int64_t i, void *scratch) {
    const dft_job *j = (const dft_job *)f->scratch;
    const dft_plan *p = &j->plan;
    const int64_t most = dft_large_side(p), first = i * most, rows = p->large,
                  columns = p->m / rows, side = rows - first < most ? rows - first : most;
    const int64_t half = columns * side;
    char *room = (char *)scratch;
    dft_place both[2] = {{room, side, half}, {dft_at(p, room, 2 * half), side, half}};
    const int last = (dft_stage_count(columns) - 1) & 1;
    const dft_place from = {dft_at(p, j->y, first), rows, p->m},
                    to = {dft_at(p, j->x, first), rows, p->m};
    int64_t line[DFT_SIDE];
    dft_stages(p, &p->across, columns, side, 1, from, j->to ? both[last] : to, both);
    if (j->to) {
        const tni_dft_move v = dft_pairs(j, j->to, line, first, side, columns, rows, both[last].at);
        DFT_K(p, dft_store)(&v);
    }
}
/* The line of the job: planes x to planes x, or to and from pairs. */
static void dft_large(tn_frame *f, const dft_plan *p) {
    const int64_t side = dft_large_side(p), columns = p->m / p->large;
    tn_each(f, (columns + side - 1) / side, tni_effort(100.0 * (double)(p->large * side)),
            dft_large_down);
    tn_each(f, (p->large + side - 1) / side, tni_effort(100.0 * (double)(columns * side)),
            dft_large_along);
}
/* Transforms what is in x; y and room are room. Returns where the result is: x or y. */
static char *dft_transform(tn_frame *f, const dft_plan *p, char *x, char *y, char *room) {
    if (p->large) {
        dft_job *j = (dft_job *)f->scratch;
        j->x = x, j->y = y;
        dft_large(f, p);
        return x;
    }
    if (!p->rows) return dft_columns(p, x, y) ? y : x;
    dft_matrix(p, x, y, room);
    return x;
}

/* --- Bluestein -------------------------------------------------------------------------------- */

/* chirp_k = exp(-pi i k^2 / n), and the transform of its conjugate, over m. One column. */
static void dft_fill_chirp(tn_frame *f, const dft_plan *plan, char *room) {
    dft_plan one = *plan;
    const int64_t n = one.b, m = one.m;
    char *x = room, *y = dft_at(&one, room, 2 * m), *from;
    one.side = 1, one.gap = 0, one.rows = 0;
    memset(x, 0, (size_t)(2 * m * one.bytes));
    for (int64_t k = 0, square = 0; k < n;) { /* square: k^2 modulo 2 n */
        const int64_t some = n - k < DFT_MANY ? n - k : (int64_t)DFT_MANY;
        int64_t at[DFT_MANY];
        for (int64_t i = 0; i < some; i++, k++) {
            at[i] = square;
            square += 2 * k + 1;
            square -= square < 2 * n ? 0 : 2 * n;
        }
        dft_fill_some(&one, &one.chirp, at, 2 * n, k - some, some);
    }
    for (int64_t k = 0; k < n; k++) {
        const double c = dft_get(&one, dft_at(&one, one.chirp.re, k)),
                     s = dft_get(&one, dft_at(&one, one.chirp.im, k));
        dft_put(&one, dft_at(&one, x, k), c);
        dft_put(&one, dft_at(&one, x, m + k), -s);
        if (!k) continue;
        dft_put(&one, dft_at(&one, x, m - k), c);
        dft_put(&one, dft_at(&one, x, 2 * m - k), -s);
    }
    from = dft_transform(f, &one, x, y, NULL);
    for (int64_t k = 0; k < m; k++) {
        const double re = dft_get(&one, dft_at(&one, from, k)),
                     im = dft_get(&one, dft_at(&one, from, m + k));
        dft_put(&one, dft_at(&one, one.filter.re, k), re / (double)m);
        dft_put(&one, dft_at(&one, one.filter.im, k), im / (double)m);
    }
}
/* Rows of the planes x times those of t to planes y; exchanged: parts of x, or of y, are. */
static void dft_times(const dft_plan *p, const dft_table *w, int64_t n, char *x, char *y,
                      bool x_turned, bool y_turned) {
    const int64_t half = dft_half(p);
    tni_dft_times t;
    t.xr = dft_at(p, x, x_turned ? half : 0), t.xi = dft_at(p, x, x_turned ? 0 : half);
    t.yr = dft_at(p, y, y_turned ? half : 0), t.yi = dft_at(p, y, y_turned ? 0 : half);
    t.wr = w->re, t.wi = w->im, t.n = n, t.side = p->side;
    DFT_K(p, dft_times)(&t);
}
static char *dft_convolve(tn_frame *f, const dft_plan *p, char *x, char *y, char *room) {
    char *at, *to;
    dft_times(p, &p->chirp, p->b, x, x, false, false);
    at = dft_transform(f, p, x, y, room);
    to = at == x ? y : x;
    /* The inverse transform is the forward one with the planes exchanged. */
    dft_times(p, &p->filter, p->m, at, to, false, true);
    at = dft_transform(f, p, to, at, room);
    dft_times(p, &p->chirp, p->b, at, at, true, false);
    return at;
}

#endif
