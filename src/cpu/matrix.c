/* matrix.c - matrices of a batch in a worker's scratch: column-major planes of real numbers.
 *
 * A factorization touches an element n times, so a copy in and out costs little, and whatever the
 * strides of a tensor are, there is one text of the algorithm. Sums along columns are fixed chains
 * of fma (kernels/matrix.h), so results depend on sizes alone. */
#include "matrix.h"

/* --- for check -------------------------------------------------------------------------------- */

TN_PRIV bool tni_matrix_fits(tn_frame *f, const tn_tensor *t, const char *name, bool square) {
    char shape[128];
    const int d = t->ndim;
    if (d < 2)
        return tn_fail(f, TN_INVALID, "argument '%s' has %d dimensions, expected at least 2", name,
                       d);
    if (square && t->size[d - 1] != t->size[d - 2])
        return tn_fail(f, TN_INVALID, "argument '%s': expected a batch of square matrices, got %s",
                       name, tni_shape_text(shape, sizeof shape, d, t->size));
    if (t->dtype != TN_F32 && t->dtype != TN_F64 && !tni_is_complex(t->dtype))
        return tn_fail(f, TN_TYPE,
                       "argument '%s' is %s, expected float32, float64, complex64 or complex128",
                       name, tni_dtype(t->dtype)->text);
    return true;
}

/* Bytes of a real part, and how many parts an element has. */
static int64_t matrix_bytes(int dtype) { return dtype == TN_F32 || dtype == TN_C64 ? 4 : 8; }
static int64_t matrix_parts(int dtype) { return tni_is_complex(dtype) ? 2 : 1; }

TN_PRIV bool tni_planes_ask(tn_frame *f, int dtype, int64_t m, int64_t n, int64_t p, int64_t q,
                            int64_t more) {
    int64_t first, second, both;
    if (!tni_mul(m, n, &first) || !tni_mul(p, q, &second) || !tni_add(first, second, &both) ||
        !tni_add(both, more, &both))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_scratch_each(f, both, matrix_bytes(dtype) * matrix_parts(dtype));
}

/* --- in and out ------------------------------------------------------------------------------- */

TN_PRIV tni_planes tni_planes_in(tn_frame *f, void **scratch, int dtype, int64_t m, int64_t n) {
    /* The planes lie one behind the other; *scratch moves behind the last one. */
    tni_planes p = {{NULL, NULL}, m, n, (int)matrix_bytes(dtype), f->block->context->kernels};
    char *at = (char *)*scratch;
    for (int64_t part = 0; part < matrix_parts(dtype); part++) {
        p.at[part] = at;
        at += m * n * p.bytes;
    }
    *scratch = at;
    return p;
}

TN_PRIV int64_t tni_batches(const tn_tensor *t) {
    int64_t n = 1;
    for (int d = 0; d < t->ndim - 2; d++) n *= t->size[d];
    return n;
}

/* Where matrix i of t begins; t's batches are broadcast to like's. */
static char *matrix_at(const tn_tensor *t, const tn_tensor *like, int64_t i) {
    /* Counts i down over like's batches from the right; `own` is the same dimension of t. */
    int64_t at = 0;
    for (int d = like->ndim - 3; d >= 0; d--) {
        const int own = d - (like->ndim - t->ndim);
        if (own >= 0 && t->size[own] != 1) at += i % like->size[d] * t->stride[own];
        i /= like->size[d];
    }
    return tni_bytes_at(t) + at * tni_dtype_size(t);
}

/* Real (0) or imaginary (1) part of the element at `at`. */
static double matrix_part(const char *at, int dtype, int part) {
    const void *v = at;
    return matrix_bytes(dtype) == 4 ? (double)((const float *)v)[part] : ((const double *)v)[part];
}
static void matrix_part_set(char *at, int dtype, int part, double x) {
    void *v = at;
    if (matrix_bytes(dtype) == 4)
        ((float *)v)[part] = (float)x;
    else
        ((double *)v)[part] = x;
}

TN_PRIV void tni_planes_load(const tni_planes *p, const tn_tensor *t, const tn_tensor *like,
                             int64_t i, int how) {
    /* down: the dimension of t that runs along the plane's columns, which a
     * transposition exchanges. */
    const int last = t->ndim - 1, down = how & TNI_TRANSPOSED ? last : last - 1;
    const int64_t row = t->stride[down] * tni_dtype_size(t),
                  column = t->stride[last + last - 1 - down] * tni_dtype_size(t);
    const char *from = matrix_at(t, like, i);
    for (int64_t c = 0; c < p->n; c++)
        for (int64_t r = 0; r < p->m; r++) {
            const char *at = from + r * row + c * column;
            tni_pair v = {matrix_part(at, t->dtype, 0), 0};
            if (p->at[1]) v.im = matrix_part(at, t->dtype, 1);
            if (how == TNI_ADJOINT) v.im = -v.im;
            tni_planes_set(p, r, c, v);
        }
}

TN_PRIV void tni_planes_store(const tni_planes *p, tn_tensor *t, int64_t i, int how) {
    const int last = t->ndim - 1, down = how & TNI_TRANSPOSED ? last : last - 1;
    const int64_t rows = t->size[down], columns = t->size[last + last - 1 - down],
                  row = t->stride[down] * tni_dtype_size(t),
                  column = t->stride[last + last - 1 - down] * tni_dtype_size(t);
    char *to = matrix_at(t, t, i);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++) {
            char *at = to + r * row + c * column;
            const tni_pair v = tni_planes_get(p, r, c);
            matrix_part_set(at, t->dtype, 0, v.re);
            if (p->at[1]) matrix_part_set(at, t->dtype, 1, how == TNI_ADJOINT ? -v.im : v.im);
        }
}

TN_PRIV void tni_planes_clear(const tni_planes *p, bool below) {
    const tni_pair zero = {0, 0};
    for (int64_t c = 0; c < p->n; c++) {
        /* Rows [first, end) of column c: below the diagonal, or above it. */
        const int64_t first = below ? c + 1 : 0, end = below ? p->m : c < p->m ? c : p->m;
        for (int64_t r = first; r < end; r++) tni_planes_set(p, r, c, zero);
    }
}

/* --- columns ---------------------------------------------------------------------------------- */

static char *column_at(const tni_planes *p, int part, int64_t i, int64_t j) {
    return p->at[part] + (i + j * p->m) * p->bytes;
}

TN_PRIV void tni_column_add(const tni_planes *y, int64_t jy, const tni_planes *x, int64_t jx,
                            int64_t i, int64_t end, tni_pair a) {
    /* (xr + i xi)(ar + i ai): four real columns, the real part's first. */
    void (*add)(void *, const void *, double, int64_t) =
        y->bytes == 4 ? TNI_K(y->k, column_add_f32) : TNI_K(y->k, column_add_f64);
    const int64_t n = end - i;
    if (n <= 0) return;
    add(column_at(y, 0, i, jy), column_at(x, 0, i, jx), a.re, n);
    if (!y->at[1]) return;
    add(column_at(y, 0, i, jy), column_at(x, 1, i, jx), -a.im, n);
    add(column_at(y, 1, i, jy), column_at(x, 1, i, jx), a.re, n);
    add(column_at(y, 1, i, jy), column_at(x, 0, i, jx), a.im, n);
}

TN_PRIV tni_pair tni_column_dot(const tni_planes *x, int64_t jx, const tni_planes *y, int64_t jy,
                                int64_t i) {
    /* conj(x) y = (xr yr + xi yi) + i (xr yi - xi yr). */
    double (*dot)(const void *, const void *, int64_t) =
        y->bytes == 4 ? TNI_K(y->k, column_dot_f32) : TNI_K(y->k, column_dot_f64);
    const int64_t n = x->m - i;
    const char *xr = column_at(x, 0, i, jx), *yr = column_at(y, 0, i, jy), *xi, *yi;
    tni_pair sum = {0, 0};
    /* A real matrix has no second plane. */
    sum.re = dot(xr, yr, n);
    if (!y->at[1]) return sum;
    xi = column_at(x, 1, i, jx);
    yi = column_at(y, 1, i, jy);
    sum.re += dot(xi, yi, n);
    sum.im = dot(xr, yi, n) - dot(xi, yr, n);
    return sum;
}

TN_PRIV tni_pair tni_pair_div(tni_pair a, tni_pair b) {
    tni_pair c;
    /* Divides by the larger part of b first, so that no square of a part is made (Smith). */
    if (b.im == 0) {
        c.re = a.re / b.re;
        c.im = a.im / b.re;
    } else if (fabs(b.re) >= fabs(b.im)) {
        const double ratio = b.im / b.re, under = fma(b.im, ratio, b.re);
        c.re = fma(a.im, ratio, a.re) / under;
        c.im = fma(-a.re, ratio, a.im) / under;
    } else {
        const double ratio = b.re / b.im, under = fma(b.re, ratio, b.im);
        c.re = fma(a.re, ratio, a.im) / under;
        c.im = fma(a.im, ratio, -a.re) / under;
    }
    return c;
}
