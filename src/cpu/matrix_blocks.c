/* matrix_blocks.c - products and triangular systems of matrices in scratch, block by block.
 *
 * Factorizations are recursive: half of the columns, then a product that brings the other half up
 * to date. So nearly all work is done by the library's own product (kernels/gemm.h), which adds in
 * an order that depends on sizes alone. */
#include "matrix.h"

/* --- products --------------------------------------------------------------------------------- */

/* A task has at most so many rows and columns of the product. */
enum { BLOCK_ROWS = 256, BLOCK_COLS = 96, BLOCK_WORK = 1 << 18 };

typedef struct block_job {
    tni_gemm g;
    int bytes;
    const tni_kernels *k;
    int64_t tall; /* tasks of one strip of columns */
} block_job;

/* c is a column and both factors are read along theirs: a dot for each number. */
static void block_dots(const block_job *j, const tni_gemm *g) {
    double (*dot)(const void *, const void *, int64_t) =
        j->bytes == 8 ? TNI_K(j->k, column_dot_f64) : TNI_K(j->k, column_dot_f32);
    for (int64_t i = 0; i < g->n; i++) {
        const double sum = dot((const char *)g->b + i * g->b_col * j->bytes, g->a, g->k);
        double *wide = (double *)g->c + i;
        float *narrow = (float *)g->c + i;
        if (j->bytes == 8)
            *wide = g->add ? fma(sum, g->alpha, *wide) : sum;
        else
            *narrow = (float)(g->add ? fma(sum, g->alpha, (double)*narrow) : sum);
    }
}
/* One row of c: by the kernel that walks along b, if b's rows lie together. */
static void block_run(const block_job *j, tni_gemm *g) {
    const bool wide = j->bytes == 8;
    if (g->m == 1 && g->b_row == 1 && g->a_col == 1) {
        block_dots(j, g);
        return;
    }
    if (g->m == 1 && (g->b_col == 1 || g->b_row == 1) && g->n >= 16) {
        tni_gemm rest = *g;
        const int64_t n = g->n & ~(int64_t)15;
        g->n = n;
        if (g->b_col == 1)
            (wide ? TNI_K(j->k, gemm_row_f64) : TNI_K(j->k, gemm_row_f32))(g);
        else
            (wide ? TNI_K(j->k, gemm_column_major_f64) : TNI_K(j->k, gemm_column_major_f32))(g);
        if (rest.n == n) return;
        rest.n -= n;
        rest.b = (const char *)rest.b + n * rest.b_col * j->bytes;
        rest.c = (char *)rest.c + n * j->bytes;
        *g = rest;
    }
    (wide ? TNI_K(j->k, gemm_f64) : TNI_K(j->k, gemm_f32))(g);
}
static void block_task(void *arg, int64_t i) {
    const block_job *j = (const block_job *)arg;
    const int64_t row = i / j->tall * BLOCK_COLS, col = i % j->tall * BLOCK_ROWS;
    tni_gemm g = j->g;
    g.m = g.m - row < BLOCK_COLS ? g.m - row : (int64_t)BLOCK_COLS;
    g.n = g.n - col < BLOCK_ROWS ? g.n - col : (int64_t)BLOCK_ROWS;
    g.a = (const char *)g.a + row * g.a_row * j->bytes;
    g.b = (const char *)g.b + col * g.b_col * j->bytes;
    g.c = (char *)g.c + (row * g.c_row + col) * j->bytes;
    block_run(j, &g);
}

/* One real product. Columns of c are rows of c^T = b^T a^T, which the kernel writes. */
static void block_real(const tni_planes *c, int pc, const tni_planes *a, int pa, int how_a,
                       const tni_planes *b, int pb, int how_b, double alpha, bool add) {
    const bool ta = how_a != TNI_AS_IS, tb = how_b != TNI_AS_IS;
    block_job j;
    j.g.start = NULL;
    j.g.m = c->n;
    j.g.n = c->m;
    j.g.k = ta ? a->m : a->n;
    j.g.a = b->at[pb];
    j.g.a_row = tb ? 1 : b->ld;
    j.g.a_col = tb ? b->ld : 1;
    j.g.b = a->at[pa];
    j.g.b_row = ta ? 1 : a->ld;
    j.g.b_col = ta ? a->ld : 1;
    j.g.c = c->at[pc];
    j.g.c_row = c->ld;
    j.g.c_col = 1;
    j.g.panel = 0;
    j.g.alpha = alpha;
    j.g.add = add;
    j.bytes = c->bytes;
    j.k = c->k;
    j.tall = (c->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
    if (c->m * c->n * j.g.k < 2 * BLOCK_WORK)
        block_run(&j, &j.g);
    else
        tni_parallel(c->context, j.tall * ((c->n + BLOCK_COLS - 1) / BLOCK_COLS), block_task, &j);
}

static void block_clear(const tni_planes *c) {
    for (int part = 0; part < 2 && c->at[part]; part++)
        for (int64_t k = 0; k < c->n; k++)
            memset(c->at[part] + k * c->ld * c->bytes, 0, (size_t)(c->m * c->bytes));
}

TN_PRIV void tni_planes_product(const tni_planes *c, const tni_planes *a, int how_a,
                                const tni_planes *b, int how_b, double alpha, bool add) {
    /* (ar + i ai)(br + i bi), with the sign of a conjugated part turned. */
    const double a_sign = how_a == TNI_ADJOINT ? -1 : 1, b_sign = how_b == TNI_ADJOINT ? -1 : 1;
    if (c->m < 1 || c->n < 1) return;
    if ((how_a == TNI_AS_IS ? a->n : a->m) < 1) {
        if (!add) block_clear(c);
        return;
    }
    block_real(c, 0, a, 0, how_a, b, 0, how_b, alpha, add);
    if (a->at[1] && b->at[1])
        block_real(c, 0, a, 1, how_a, b, 1, how_b, -alpha * a_sign * b_sign, true);
    if (!c->at[1]) return;
    if (!add) {
        const tni_planes imaginary = {{c->at[1], NULL}, c->m, c->n,      c->ld,
                                      c->bytes,         c->k, c->context};
        block_clear(&imaginary);
    }
    if (b->at[1]) block_real(c, 1, a, 0, how_a, b, 1, how_b, alpha * b_sign, true);
    if (a->at[1]) block_real(c, 1, a, 1, how_a, b, 0, how_b, alpha * a_sign, true);
}

TN_PRIV void tni_planes_copy(const tni_planes *to, const tni_planes *from) {
    for (int part = 0; part < 2 && to->at[part]; part++)
        for (int64_t k = 0; k < to->n; k++)
            memcpy(to->at[part] + k * to->ld * to->bytes,
                   from->at[part] + k * from->ld * from->bytes, (size_t)(to->m * to->bytes));
}
TN_PRIV void tni_columns_exchange(const tni_planes *p, int64_t i, int64_t j) {
    for (int64_t r = 0; r < p->m; r++) {
        const tni_pair v = tni_planes_get(p, r, i);
        tni_planes_set(p, r, i, tni_planes_get(p, r, j));
        tni_planes_set(p, r, j, v);
    }
}
TN_PRIV void tni_rows_exchange(const tni_planes *p, int64_t i, int64_t j) {
    for (int64_t c = 0; c < p->n && i != j; c++) {
        const tni_pair v = tni_planes_get(p, i, c);
        tni_planes_set(p, i, c, tni_planes_get(p, j, c));
        tni_planes_set(p, j, c, v);
    }
}
TN_PRIV void tni_planes_unit(const tni_planes *p) {
    block_clear(p);
    for (int64_t i = 0; i < p->m && i < p->n; i++) tni_planes_set(p, i, i, tni_re_im(1, 0));
}

/* --- triangular systems ----------------------------------------------------------------------- */

/* Column after column of x: what is known of x goes from the rest. */
static void solve_columns(const tni_planes *t, const tni_planes *x, bool upper, bool unit) {
    /* From the last row upwards if t is upper, else from the first down: x[j] is known when its
     * column of t is subtracted from the rows that are left. */
    for (int64_t c = 0; c < x->n; c++)
        for (int64_t step = 0; step < x->m; step++) {
            const int64_t j = upper ? x->m - 1 - step : step;
            tni_pair v = tni_planes_get(x, j, c), minus;
            if (!unit) {
                tni_planes_set(x, j, c, tni_pair_div(v, tni_planes_get(t, j, j)));
                v = tni_planes_get(x, j, c); /* as rounded */
            }
            minus.re = -v.re;
            minus.im = -v.im;
            if (upper)
                tni_column_add(x, c, t, j, 0, j, minus);
            else
                tni_column_add(x, c, t, j, j + 1, x->m, minus);
        }
}

/* Rows of x as columns: so many at a time, of a triangle of so many columns at most. */
enum { TURNED_COLUMNS = 64, TURNED_SIDE = 16 };

/* x *= 1 / head, element by element a division. */
static void divide_column(const tni_planes *x, int64_t j, tni_pair head) {
    if (x->at[1]) {
        for (int64_t i = 0; i < x->m; i++)
            tni_planes_set(x, i, j, tni_pair_div(tni_planes_get(x, i, j), head));
    } else if (x->bytes == 8) {
        double *v = (double *)(void *)x->at[0] + j * x->ld;
        for (int64_t i = 0; i < x->m; i++) v[i] /= head.re;
    } else {
        float *v = (float *)(void *)x->at[0] + j * x->ld;
        for (int64_t i = 0; i < x->m; i++) v[i] = (float)((double)v[i] / head.re);
    }
}

/* x[:, j] -= x[:, k] t(k, j) of what is known, from the first column on or from the last. */
static void solve_right_columns(const tni_planes *x, const tni_planes *t, int how, bool unit,
                                bool down) {
    for (int64_t step = 0; step < x->n; step++) {
        const int64_t j = down ? x->n - 1 - step : step;
        for (int64_t s = 0; s < step; s++) {
            const int64_t k = down ? x->n - 1 - s : s;
            tni_pair v = how == TNI_AS_IS ? tni_planes_get(t, k, j) : tni_planes_get(t, j, k);
            v.re = -v.re;
            v.im = how == TNI_ADJOINT ? v.im : -v.im;
            if (v.re != 0 || v.im != 0) tni_column_add(x, j, x, k, 0, x->m, v);
        }
        if (!unit) {
            tni_pair head = tni_planes_get(t, j, j);
            if (how == TNI_ADJOINT) head.im = -head.im;
            divide_column(x, j, head);
        }
    }
}

/* to = from^T */
static void turn_planes(const tni_planes *to, const tni_planes *from) {
    for (int part = 0; part < 2 && to->at[part]; part++)
        for (int64_t r = 0; r < to->m; r++) {
            const char *column = from->at[part] + r * from->ld * from->bytes;
            char *row = to->at[part] + r * to->bytes;
            for (int64_t c = 0; c < to->n; c++)
                memcpy(row + c * to->ld * to->bytes, column + c * to->bytes, (size_t)to->bytes);
        }
}
/* A small triangle and many columns: x^T t^T = b^T along long columns. */
static void solve_turned(const tni_planes *t, const tni_planes *x, bool upper, bool unit) {
    double room[2][TURNED_COLUMNS * TURNED_SIDE];
    for (int64_t c = 0; c < x->n; c += TURNED_COLUMNS) {
        const int64_t n = x->n - c < TURNED_COLUMNS ? x->n - c : (int64_t)TURNED_COLUMNS;
        const tni_planes some = tni_planes_part(x, 0, c, x->m, n);
        tni_planes turned = some;
        turned.at[0] = (char *)room[0];
        if (x->at[1]) turned.at[1] = (char *)room[1];
        turned.m = n;
        turned.n = x->m;
        turned.ld = TURNED_COLUMNS;
        turn_planes(&turned, &some);
        solve_right_columns(&turned, t, TNI_TRANSPOSED, unit, upper);
        turn_planes(&some, &turned);
    }
}

static void solve_halves(const tni_planes *t, const tni_planes *x, bool upper, bool unit) {
    const int64_t n = t->n, half = n / 2, k = x->n;
    const tni_planes head = tni_planes_part(t, 0, 0, half, half),
                     tail = tni_planes_part(t, half, half, n - half, n - half),
                     low = tni_planes_part(t, half, 0, n - half, half),
                     high = tni_planes_part(t, 0, half, half, n - half),
                     first = tni_planes_part(x, 0, 0, half, k),
                     last = tni_planes_part(x, half, 0, n - half, k);
    if (n <= TURNED_SIDE) {
        if (k < 8)
            solve_columns(t, x, upper, unit);
        else
            solve_turned(t, x, upper, unit);
        return;
    }
    solve_halves(upper ? &tail : &head, upper ? &last : &first, upper, unit);
    if (upper)
        tni_planes_product(&first, &high, TNI_AS_IS, &last, TNI_AS_IS, -1, true);
    else
        tni_planes_product(&last, &low, TNI_AS_IS, &first, TNI_AS_IS, -1, true);
    solve_halves(upper ? &head : &tail, upper ? &first : &last, upper, unit);
}
TN_PRIV void tni_planes_solve(const tni_planes *t, const tni_planes *x, bool upper, bool unit) {
    if (t->n <= TNI_COLUMNS_ALONE)
        solve_columns(t, x, upper, unit);
    else
        solve_halves(t, x, upper, unit);
}

TN_PRIV void tni_planes_solve_right(const tni_planes *x, const tni_planes *t, int how, bool unit) {
    const int64_t n = x->n, half = n / 2;
    tni_planes first, last, head, tail, other;
    if (n <= TURNED_SIDE) {
        solve_right_columns(x, t, how, unit, false);
        return;
    }
    first = tni_planes_part(x, 0, 0, x->m, half);
    last = tni_planes_part(x, 0, half, x->m, n - half);
    head = tni_planes_part(t, 0, 0, half, half);
    tail = tni_planes_part(t, half, half, n - half, n - half);
    other = how == TNI_AS_IS ? tni_planes_part(t, 0, half, half, n - half)
                             : tni_planes_part(t, half, 0, n - half, half);
    tni_planes_solve_right(&first, &head, how, unit);
    tni_planes_product(&last, &first, TNI_AS_IS, &other, how, -1, true);
    tni_planes_solve_right(&last, &tail, how, unit);
}
