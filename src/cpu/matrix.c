/* matrix.c - matrices of a batch in a worker's scratch: column-major planes of real numbers.
 *
 * A factorization touches an element n times, so a copy in and out costs little, and whatever the
 * strides of a tensor are, there is one text of the algorithm. Sums along columns are fixed chains
 * of fma (kernels/matrix.h), so results depend on sizes alone. */
#include "matrix.h"

/* --- for check -------------------------------------------------------------------------------- */

TN_PRIV bool tni_matrix_fits(tn_frame *f, const tn_tensor *t, const char *name, bool square) {
    const int d = t->ndim;
    if (d < 2) {
        const bool plain = !strcmp(name, "self") || !strcmp(name, "input");
        return tn_fail(f, TN_INVALID, "The input%s%s must have at least 2 dimensions, got %d",
                       plain ? "" : " tensor ", plain ? "" : name, d);
    }
    if (square && t->size[d - 1] != t->size[d - 2])
        return tn_fail(f, TN_INVALID,
                       "argument '%s' must be batches of square matrices, but they are %lld by "
                       "%lld matrices",
                       name, (long long)t->size[d - 2], (long long)t->size[d - 1]);
    if (t->dtype != TN_F32 && t->dtype != TN_F64 && !tni_is_complex(t->dtype))
        return tn_fail(f, TN_TYPE, "%s: argument '%s' is %s",
                       tni_is_float(t->dtype)
                           ? "Low precision dtypes not supported"
                           : "Expected a floating point or complex tensor as input",
                       name, tni_dtype(t->dtype)->text);
    return true;
}

TN_PRIV const char *tni_scalar_type(int dtype) {
    static const char words[][14] = {"Bool",  "Byte",   "Char",         "Short",
                                     "Int",   "Long",   "Half",         "BFloat16",
                                     "Float", "Double", "ComplexFloat", "ComplexDouble"};
    return dtype >= TN_BOOL && dtype <= TN_C128 ? words[dtype - TN_BOOL] : tni_dtype(dtype)->text;
}
/* "double" of TN_F64. */
static const char *matrix_alias(int dtype) {
    const char *alias = tni_dtype_alias(dtype);
    return *alias ? alias : tni_dtype(dtype)->text;
}

TN_PRIV bool tni_out_takes(tn_frame *f, int k, const char *name, int dtype) {
    const tn_tensor *t = k < f->ngiven ? f->given[k] : NULL;
    if (!t || tni_can_cast(dtype, t->dtype)) return true;
    if (!name)
        return tn_fail(f, TN_TYPE, "Expected out tensor to have dtype %s, but got %s instead",
                       matrix_alias(dtype), matrix_alias(t->dtype));
    return tn_fail(f, TN_TYPE,
                   "Expected %s to be safely castable from %s dtype, but got %s with dtype %s",
                   name, tni_scalar_type(dtype), name, tni_scalar_type(t->dtype));
}

TN_PRIV bool tni_batches_fit(tn_frame *f, tni_shape *s, const tn_tensor *a, const char *name_a,
                             const tn_tensor *b, const char *name_b) {
    char one[128], other[128];
    if (a->dtype != b->dtype)
        return tn_fail(f, TN_TYPE, "%s is %s, but %s is %s", name_a, tni_dtype(a->dtype)->text,
                       name_b, tni_dtype(b->dtype)->text);
    s->ndim = 0;
    if (!tni_broadcast(s, a->ndim - 2, a->size) || !tni_broadcast(s, b->ndim - 2, b->size))
        return tn_fail(f, TN_INVALID, "the batches of %s %s and %s %s cannot be broadcast", name_a,
                       tni_shape_text(one, sizeof one, a->ndim, a->size), name_b,
                       tni_shape_text(other, sizeof other, b->ndim, b->size));
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
    tni_planes p = {{NULL, NULL},     m, n, m, (int)matrix_bytes(dtype), f->block->context->kernels,
                    f->block->context};
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

/* Where item i of t begins. */
TN_PRIV char *tni_batch_at(const tn_tensor *t, int inner, const tn_tensor *like, int64_t i) {
    /* Counts i down over like's batches from the right; `own` is the same dimension of t. */
    int64_t at = 0;
    for (int d = like->ndim - 3; d >= 0; d--) {
        const int own = d - (like->ndim - 2 - (t->ndim - inner));
        if (own >= 0 && t->size[own] != 1) at += i % like->size[d] * t->stride[own];
        i /= like->size[d];
    }
    return tni_bytes_at(t) + at * tni_dtype_size(t);
}

TN_PRIV int64_t tni_batch_of(const tn_tensor *t, const tn_tensor *x, int64_t i, int64_t q) {
    int64_t at = 0, scale = 1;
    for (int d = x->ndim - 3; d >= 0; d--) {
        /* A dimension that t has takes its digit of i, another one a digit of q. */
        const int own = d - (x->ndim - t->ndim);
        int64_t *from = own >= 0 && t->size[own] != 1 ? &i : &q;
        at += *from % x->size[d] * scale;
        *from /= x->size[d];
        scale *= x->size[d];
    }
    return at;
}

/* One matrix on its way between a tensor and planes: the bytes between rows and between columns
 * there, in tiles that stay in the cache on both sides. */
typedef struct matrix_way {
    char *at;
    int64_t row, column, m, n;
    bool conjugated;
} matrix_way;
enum { MATRIX_TILE = 16 };

#define MATRIX_MOVE(name, T, S)                                                                    \
    static void matrix_in_##name(const tni_planes *p, const matrix_way *w, int64_t r0, int64_t c0, \
                                 int64_t r1, int64_t c1) {                                         \
        for (int64_t c = c0; c < c1; c++) {                                                        \
            T *re = (T *)(void *)p->at[0] + c * p->ld, *im = (T *)(void *)p->at[1];                \
            const char *at = w->at + c * w->column;                                                \
            for (int64_t r = r0; r < r1; r++) re[r] = *(const S *)(const void *)(at + r * w->row); \
            if (!im) continue;                                                                     \
            for (int64_t r = r0; r < r1; r++) {                                                    \
                const S v = ((const S *)(const void *)(at + r * w->row))[1];                       \
                im[c * p->ld + r] = w->conjugated ? -v : v;                                        \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void matrix_out_##name(const tni_planes *p, const matrix_way *w, int64_t r0,            \
                                  int64_t c0, int64_t r1, int64_t c1) {                            \
        for (int64_t r = r0; r < r1; r++) {                                                        \
            const T *re = (const T *)(const void *)p->at[0] + r,                                   \
                    *im = (const T *)(const void *)p->at[1];                                       \
            char *at = w->at + r * w->row;                                                         \
            for (int64_t c = c0; c < c1; c++)                                                      \
                *(S *)(void *)(at + c * w->column) = (S)re[c * p->ld];                             \
            if (!im) continue;                                                                     \
            for (int64_t c = c0; c < c1; c++) {                                                    \
                const S v = (S)im[c * p->ld + r];                                                  \
                ((S *)(void *)(at + c * w->column))[1] = w->conjugated ? -v : v;                   \
            }                                                                                      \
        }                                                                                          \
    }
MATRIX_MOVE(f32, float, float)
MATRIX_MOVE(f64, double, double)
MATRIX_MOVE(wide, double, float)
#undef MATRIX_MOVE

static void matrix_tiles(const tni_planes *p, const matrix_way *w,
                         void (*move)(const tni_planes *, const matrix_way *, int64_t, int64_t,
                                      int64_t, int64_t)) {
    for (int64_t c = 0; c < w->n; c += MATRIX_TILE)
        for (int64_t r = 0; r < w->m; r += MATRIX_TILE)
            move(p, w, r, c, w->m - r < MATRIX_TILE ? w->m : r + MATRIX_TILE,
                 w->n - c < MATRIX_TILE ? w->n : c + MATRIX_TILE);
}

/* Matrix i of t; a transposition exchanges rows and columns. */
static matrix_way matrix_way_of(const tn_tensor *t, const tn_tensor *like, int64_t i, int how) {
    const int last = t->ndim - 1, down = how & TNI_TRANSPOSED ? last : last - 1,
              across = last + last - 1 - down;
    matrix_way w;
    w.at = tni_batch_at(t, 2, like, i);
    w.row = t->stride[down] * tni_dtype_size(t);
    w.column = t->stride[across] * tni_dtype_size(t);
    w.m = t->size[down];
    w.n = t->size[across];
    w.conjugated = how == TNI_ADJOINT;
    return w;
}

TN_PRIV void tni_planes_load(const tni_planes *p, const tn_tensor *t, const tn_tensor *like,
                             int64_t i, int how) {
    matrix_way w = matrix_way_of(t, like, i, how);
    w.m = p->m;
    w.n = p->n;
    matrix_tiles(p, &w,
                 p->bytes == 4                 ? matrix_in_f32
                 : matrix_bytes(t->dtype) == 8 ? matrix_in_f64
                                               : matrix_in_wide);
}

TN_PRIV void tni_planes_store(const tni_planes *p, tn_tensor *t, int64_t i, int how) {
    const matrix_way w = matrix_way_of(t, t, i, how);
    matrix_tiles(p, &w,
                 p->bytes == 4                 ? matrix_out_f32
                 : matrix_bytes(t->dtype) == 8 ? matrix_out_f64
                                               : matrix_out_wide);
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
    return p->at[part] + (i + j * p->ld) * p->bytes;
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

static bool matrix_converged(tn_frame *f, const tn_tensor *t, const char *why) {
    const int64_t n = t->ndim ? t->size[t->ndim - 1] : 1;
    for (int64_t i = 0; i < t->numel; i++) {
        const tn_scalar v = tni_element(tni_bytes_at(t) + i * tni_dtype_size(t), t->dtype);
        if (v.real == v.real) continue;
        if (t->ndim < 2) return tn_fail(f, TN_LINALG, "%s", why);
        return tn_fail(f, TN_LINALG, "(Batch element %lld): %s", (long long)(i / n), why);
    }
    return true;
}
TN_PRIV bool tni_converged(tn_frame *f, const tn_tensor *t, const char *why) {
    tn_tensor *here;
    bool ok;
    if (!(t->flags & TNI_DEVICE)) return matrix_converged(f, t, why);
    here = tni_device_down(f->block, t);
    ok = here && matrix_converged(f, here, why);
    if (here) tni_drop(f->block, here);
    return ok;
}
