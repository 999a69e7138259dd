/* matmul.c - products of matrices: matmul with torch's broadcasting, addmm, and what is composed
 * of them.
 *
 * One plan (batches of m x k times k x n, any strides) serves all; kernels/gemm.h fixes the order
 * of additions. Floats and doubles are multiplied where they lie; a complex product is four real
 * ones; 16-bit floats are widened to float matrix by matrix and rounded once; integers wrap. */
#include "../gen/rows.h"
#include "dims.h"
#include "lanes.h"

/* --- the plan --------------------------------------------------------------------------------- */

/* Result c is row-major: batch after batch of m x n. Strides in elements; a batch stride of 0
 * repeats. */
typedef struct mm_plan {
    int64_t m, n, k, batches;
    int64_t a_row, a_col, b_row, b_col;
    int nbatch;
    int64_t size[TN_MAX_DIMS], a_batch[TN_MAX_DIMS], b_batch[TN_MAX_DIMS];
    int ndim; /* of the result */
    int64_t result[TN_MAX_DIMS + 2];
} mm_plan;

/* a as a batch of matrices: a vector is a row on the left, a column on the right. */
static void mm_matrix(const tn_tensor *t, bool left, int64_t *rows, int64_t *cols, int64_t *row,
                      int64_t *col) {
    const int d = t->ndim;
    if (d > 1)
        *rows = t->size[d - 2], *cols = t->size[d - 1], *row = t->stride[d - 2],
        *col = t->stride[d - 1];
    else if (left)
        *rows = 1, *cols = t->size[0], *row = 0, *col = t->stride[0];
    else
        *rows = t->size[0], *cols = 1, *row = t->stride[0], *col = 0;
}

/* Batch stride of dimension d (from the left) among nbatch broadcast ones; 0 where t repeats. */
static int64_t mm_batch_stride(const tn_tensor *t, int nbatch, int d) {
    const int at = d - (nbatch - (t->ndim - 2));
    return t->ndim > 2 && at >= 0 && t->size[at] != 1 ? t->stride[at] : 0;
}

/* Batches that share b and lie row under row in a are one taller matrix. */
static void mm_fold(mm_plan *p) {
    while (p->nbatch > 0) {
        const int d = p->nbatch - 1;
        if (p->b_batch[d] != 0 || (p->m > 1 && p->a_batch[d] != p->m * p->a_row)) break;
        if (p->m == 1) p->a_row = p->a_batch[d];
        p->m *= p->size[d];
        p->nbatch = d;
    }
    p->batches = 1;
    for (int d = 0; d < p->nbatch; d++) p->batches *= p->size[d];
}

/* Fills p for a * b; false when shapes do not fit. Vectors lose their dimension in the result. */
static bool mm_plan_of(mm_plan *p, const tn_tensor *a, const tn_tensor *b) {
    int64_t inner;
    tni_shape s;
    if (a->ndim == 0 || b->ndim == 0) return false;
    mm_matrix(a, true, &p->m, &p->k, &p->a_row, &p->a_col);
    mm_matrix(b, false, &inner, &p->n, &p->b_row, &p->b_col);
    s.ndim = 0;
    if (inner != p->k || (a->ndim > 2 && !tni_broadcast(&s, a->ndim - 2, a->size)) ||
        (b->ndim > 2 && !tni_broadcast(&s, b->ndim - 2, b->size)))
        return false;
    p->nbatch = p->ndim = s.ndim;
    for (int d = 0; d < s.ndim; d++) {
        p->size[d] = p->result[d] = s.size[d];
        p->a_batch[d] = mm_batch_stride(a, s.ndim, d);
        p->b_batch[d] = mm_batch_stride(b, s.ndim, d);
    }
    if (a->ndim > 1) p->result[p->ndim++] = p->m;
    if (b->ndim > 1) p->result[p->ndim++] = p->n;
    mm_fold(p);
    return true;
}

static int64_t mm_offset(const mm_plan *p, const int64_t *stride, int64_t batch) {
    int64_t at = 0;
    for (int d = p->nbatch - 1; d >= 0; d--)
        at += batch % p->size[d] * stride[d], batch /= p->size[d];
    return at;
}

/* --- float and double ------------------------------------------------------------------------- */

/* A product on threads: a grid of regions of c for each batch, or several small matrices a task. */
typedef struct mm_job {
    const mm_plan *plan;
    tn_context *context;
    void (*gemm)(const tni_gemm *), (*row)(const tni_gemm *), (*column)(const tni_gemm *),
        (*dot)(const tni_gemm *);
    tni_gemm g; /* of batch 0 */
    const int64_t *a_batch, *b_batch;
    int64_t bytes;      /* of an element */
    int64_t width;      /* factor of a_batch and b_batch: 2 for parts of complex numbers */
    int64_t c_batch;    /* step of c */
    int64_t rows, cols; /* of a region */
    int64_t grid_rows, grid_cols; /* regions */
    int64_t group;                /* matrices a task, where the grid is 1 x 1 */
    int64_t height;               /* of packed panels */
    void (*pack)(const tni_gemm *, int64_t, void *);
    char *packed;
} mm_job;

/* A task has MM_WORK multiply-adds at least, unless there are fewer tasks than MM_TASKS. */
enum { MM_WORK = 1 << 18, MM_TASKS = 16 };

/* Products so small that their elements are made one by one: a panel would cost more. m n cannot
 * wrap, it counts elements of the result. */
enum { MM_FEW = 16, MM_FEW_WORK = 64 };
static bool mm_is_few(const tni_gemm *g) {
    return g->m * g->n <= MM_FEW && g->k <= MM_FEW_WORK && g->m * g->n * g->k <= MM_FEW_WORK &&
           !g->panel;
}
static void mm_few(const mm_job *j, const tni_gemm *whole) {
    const int64_t m = whole->m, n = whole->n;
    tni_gemm g = *whole;
    TNI_PATH(gemm_few);
    g.m = g.n = 1;
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < n; k++) {
            g.a = (const char *)whole->a + i * g.a_row * j->bytes;
            g.b = (const char *)whole->b + k * g.b_col * j->bytes;
            g.c = (char *)whole->c + (i * g.c_row + k * g.c_col) * j->bytes;
            j->dot(&g);
        }
}

static void mm_region(const mm_job *j, const tni_gemm *whole, int64_t row, int64_t col) {
    tni_gemm g = *whole;
    const int64_t i = row * j->rows, k = col * j->cols;
    const int64_t down = g.panel ? i / j->height * g.panel : i * g.a_row;
    g.m = g.m - i < j->rows ? g.m - i : j->rows;
    g.n = g.n - k < j->cols ? g.n - k : j->cols;
    g.a = (const char *)g.a + down * j->bytes;
    g.b = (const char *)g.b + k * g.b_col * j->bytes;
    g.c = (char *)g.c + (i * g.c_row + k * g.c_col) * j->bytes;
    if (g.m == 1 && g.n == 1) {
        TNI_PATH(gemm_dot);
        j->dot(&g);
        return;
    }
    if (mm_is_few(&g)) {
        mm_few(j, &g);
        return;
    }
    if (g.m == 1 && (g.b_col == 1 || g.b_row == 1) && g.c_col == 1 && g.n >= 16 && !g.panel) {
        g.n &= ~(int64_t)15;
        if (g.b_col == 1)
            TNI_PATH(gemm_row);
        else
            TNI_PATH(gemm_column);
        (g.b_col == 1 ? j->row : j->column)(&g);
        g.b = (const char *)g.b + g.n * g.b_col * j->bytes;
        g.c = (char *)g.c + g.n * j->bytes;
        g.n = (whole->n - k < j->cols ? whole->n - k : j->cols) - g.n;
        if (g.n == 0) return;
    }
    TNI_PATH(gemm_tiles);
    j->gemm(&g);
}

static void mm_task(void *arg, int64_t i) {
    const mm_job *j = (const mm_job *)arg;
    const int64_t grid = j->grid_rows * j->grid_cols, first = i / grid * j->group,
                  region = i % grid;
    for (int64_t batch = first; batch < first + j->group && batch < j->plan->batches; batch++) {
        tni_gemm g = j->g;
        if (tni_stopped()) return;
        g.a = (const char *)g.a + mm_offset(j->plan, j->a_batch, batch) * j->width * j->bytes;
        g.b = (const char *)g.b + mm_offset(j->plan, j->b_batch, batch) * j->width * j->bytes;
        g.c = (char *)g.c + batch * j->c_batch * j->bytes;
        mm_region(j, &g, region / j->grid_cols, region % j->grid_cols);
    }
}

static void mm_pack_task(void *arg, int64_t i) {
    const mm_job *j = (const mm_job *)arg;
    j->pack(&j->g, i * j->height, j->packed + i * j->height * j->g.k * j->bytes);
}

static int64_t mm_round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* Cuts c into regions whose rows of a stay in the second cache, and further while tasks are few
 * and large. */
static void mm_cut(mm_job *j) {
    const int64_t m = j->g.m, n = j->g.n, k = j->g.k, batches = j->plan->batches;
    int64_t rows = (m + 191) / 192, cols = (n + 511) / 512;
    while (batches * rows * cols < MM_TASKS && m * n / (rows * cols) * k > 2 * MM_WORK) {
        if (n / cols > 32 && (n / cols >= m / rows || m / rows <= 16))
            cols *= 2;
        else if (m / rows > 16)
            rows *= 2;
        else
            break;
    }
    j->rows = rows > 1 ? mm_round_up((m + rows - 1) / rows, j->height) : m;
    j->cols = cols > 1 ? mm_round_up((n + cols - 1) / cols, 32) : n;
    j->grid_rows = (m + j->rows - 1) / j->rows;
    j->grid_cols = (n + j->cols - 1) / j->cols;
    j->group = 1;
    if (j->grid_rows * j->grid_cols == 1) j->group = MM_WORK / (m * n * k) + 1;
}

static void mm_clear(char *c, int64_t rows, int64_t n, int64_t row, int64_t col, int64_t bytes) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t q = 0; q < n; q++) memset(c + (i * row + q * col) * bytes, 0, (size_t)bytes);
}

/* Where a lies across its rows and is read often, it is packed once. */
static bool mm_packs(int64_t m, int64_t n, int64_t k, int64_t a_col, int64_t batches) {
    return a_col != 1 && batches == 1 && n >= 192 && m * k >= 1 << 12 && m * k <= 1 << 25;
}
static int64_t mm_packed_bytes(tn_context *c, const mm_plan *p, int64_t bytes) {
    const int64_t height = c->kernels->gemm_panel_f32();
    return mm_packs(p->m, p->n, p->k, p->a_col, p->batches)
               ? mm_round_up(p->m, height) * p->k * bytes
               : 0;
}

/* c = [c +] alpha * a * b for every batch; j->g holds that of batch 0. */
static void mm_begin(tn_context *context, const mm_plan *p, mm_job *j, bool f64) {
    const tni_kernels *k = context->kernels;
    j->plan = p;
    j->context = context;
    j->bytes = f64 ? 8 : 4;
    j->gemm = f64 ? k->gemm_f64 : k->gemm_f32;
    j->dot = f64 ? k->gemm_dot_f64 : k->gemm_dot_f32;
    j->column = f64 ? k->gemm_column_major_f64 : k->gemm_column_major_f32;
    j->row = f64 ? k->gemm_row_f64 : k->gemm_row_f32;
    j->pack = f64 ? k->gemm_pack_a_f64 : k->gemm_pack_a_f32;
    j->height = f64 ? k->gemm_panel_f64() : k->gemm_panel_f32();
    j->a_batch = p->a_batch, j->b_batch = p->b_batch;
}

/* A column is the row of the transposed product. */
static void mm_turn(const mm_plan *p, mm_job *j) {
    const tni_gemm g = j->g;
    tni_gemm *t = &j->g;
    TNI_PATH(gemm_turned);
    t->m = 1, t->n = g.m;
    t->a = g.b, t->a_row = 0, t->a_col = g.b_row;
    t->b = g.a, t->b_row = g.a_col, t->b_col = g.a_row;
    t->c_row = 0, t->c_col = g.c_row;
    j->a_batch = p->b_batch, j->b_batch = p->a_batch;
}

static void mm_real(tn_context *context, const mm_plan *p, mm_job *j, bool f64, void *packed) {
    tni_gemm *g = &j->g;
    int64_t tasks;
    mm_begin(context, p, j, f64);
    if (p->batches == 0 || g->m == 0 || g->n == 0) return;
    if (g->k == 0) {
        TNI_PATH(gemm_nothing);
        for (int64_t i = 0; i < p->batches && !g->add; i++)
            mm_clear((char *)g->c + i * j->c_batch * j->bytes, g->m, g->n, g->c_row, g->c_col,
                     j->bytes);
        return;
    }
    if (p->batches == 1 && mm_is_few(g)) {
        mm_few(j, g);
        return;
    }
    if (g->n == 1 && g->m > 1) mm_turn(p, j);
    mm_cut(j);
    if (j->group > 1 && p->batches > 1) TNI_PATH(gemm_groups);
    if (j->grid_rows * j->grid_cols > 1) TNI_PATH(gemm_grid);
    tasks = (p->batches + j->group - 1) / j->group * j->grid_rows * j->grid_cols;
    if (packed && mm_packs(g->m, g->n, g->k, g->a_col, p->batches)) {
        TNI_PATH(gemm_packed);
        j->packed = (char *)packed;
        tni_parallel(context, (g->m + j->height - 1) / j->height, mm_pack_task, j);
        g->a = packed;
        g->panel = j->height * g->k;
    }
    if (tasks > 1) TNI_PATH(gemm_threads);
    tni_parallel(context, tasks, mm_task, j);
}

/* --- the other dtypes ------------------------------------------------------------------------- */

static tni_gemm mm_gemm_of(const mm_plan *p, const void *a, const void *b, void *c, double alpha,
                           bool add) {
    tni_gemm g;
    g.m = p->m, g.n = p->n, g.k = p->k;
    g.a = a, g.b = b, g.c = c;
    g.a_row = p->a_row, g.a_col = p->a_col, g.b_row = p->b_row, g.b_col = p->b_col;
    g.c_row = p->n, g.c_col = 1;
    g.panel = 0, g.alpha = alpha, g.add = add;
    return g;
}

/* (ar + i ai)(br + i bi): real and imaginary part are two real products each, in this order. */
static void mm_complex(tn_context *context, const mm_plan *p, const tni_gemm *whole, bool f64) {
    const int64_t bytes = f64 ? 8 : 4;
    TNI_PATH(gemm_complex);
    for (int part = 0; part < 4; part++) { /* re += ar br, re -= ai bi, im += ar bi, im += ai br */
        mm_job j;
        const int ai = part & 1, ci = part >> 1, bi = ai ^ ci;
        j.g = *whole;
        j.g.a = (const char *)whole->a + ai * bytes;
        j.g.b = (const char *)whole->b + bi * bytes;
        j.g.c = (char *)whole->c + ci * bytes;
        j.g.a_row *= 2, j.g.a_col *= 2, j.g.b_row *= 2, j.g.b_col *= 2, j.g.c_row *= 2,
            j.g.c_col *= 2;
        if (part == 1) j.g.alpha = -j.g.alpha;
        if (ai) j.g.add = true;
        j.width = 2;
        j.c_batch = 2 * p->m * p->n;
        mm_real(context, p, &j, f64, NULL);
    }
}

/* A matrix of 16-bit floats to float, or back, a line at a time; lines run along the dimension of
 * unit stride. */
typedef struct mm_convert {
    char *half;
    float *wide;
    int64_t lines, n, line, step; /* strides of half in elements */
    int dtype;
    bool back;
} mm_convert;

enum { MM_LINES = 16 };

static void mm_convert_task(void *arg, int64_t i) {
    const mm_convert *v = (const mm_convert *)arg;
    for (int64_t l = i * MM_LINES; l < (i + 1) * MM_LINES && l < v->lines; l++) {
        if (v->back)
            tni_lanes_save(v->half + l * v->line * 2, v->step * 2, v->dtype, v->wide + l * v->n,
                           TN_F32, v->n);
        else
            tni_lanes_load(v->wide + l * v->n, TN_F32, v->half + l * v->line * 2, v->step * 2,
                           v->dtype, v->n);
    }
}

static void mm_convert_run(tn_context *context, mm_convert *v) {
    tni_parallel(context, (v->lines + MM_LINES - 1) / MM_LINES, mm_convert_task, v);
}

/* Widens rows x cols; *row and *col become the strides of the float copy. */
static void mm_widen(tn_context *context, const void *from, float *to, int64_t rows, int64_t cols,
                     int64_t *row, int64_t *col, int dtype) {
    const bool across = *row == 1 && *col != 1;
    mm_convert v;
    if (across) TNI_PATH(gemm_half_across);
    v.half = (char *)from; /* only read */
    v.wide = to;
    v.lines = across ? cols : rows, v.n = across ? rows : cols;
    v.line = across ? *col : *row, v.step = across ? *row : *col;
    v.dtype = dtype, v.back = false;
    mm_convert_run(context, &v);
    *row = across ? 1 : cols, *col = across ? rows : 1;
}

static void mm_half(tn_context *context, const mm_plan *p, const tni_gemm *whole, int dtype,
                    float *scratch) {
    float *a = scratch, *b = a + mm_round_up(p->m * p->k, 16),
          *c = b + mm_round_up(p->k * p->n, 16);
    mm_plan one = *p;
    one.nbatch = 0, one.batches = 1;
    TNI_PATH(gemm_half);
    for (int64_t i = 0; i < p->batches; i++) {
        mm_job j;
        mm_convert v;
        const char *from_a = (const char *)whole->a + mm_offset(p, p->a_batch, i) * 2;
        const char *from_b = (const char *)whole->b + mm_offset(p, p->b_batch, i) * 2;
        j.g = *whole;
        j.g.a = a, j.g.b = b, j.g.c = c;
        mm_widen(context, from_a, a, p->m, p->k, &j.g.a_row, &j.g.a_col, dtype);
        mm_widen(context, from_b, b, p->k, p->n, &j.g.b_row, &j.g.b_col, dtype);
        v.half = (char *)whole->c + i * p->m * p->n * 2, v.wide = c;
        v.lines = p->m, v.n = v.line = p->n, v.step = 1, v.dtype = dtype;
        v.back = false;
        if (whole->add) mm_convert_run(context, &v);
        j.width = 1, j.c_batch = 0;
        mm_real(context, &one, &j, false, NULL);
        v.back = true;
        mm_convert_run(context, &v);
    }
}

/* Integers: c = [c +] alpha * a * b along rows of c, in 64 bits, of which the low ones are kept:
 * wrapping. */
typedef struct mm_integers {
    const mm_plan *plan;
    tni_gemm g;
} mm_integers;

#define MM_INTEGER(name, T)                                                                        \
    static void mm_task_##name(void *arg, int64_t i) {                                             \
        const mm_integers *j = (const mm_integers *)arg;                                           \
        const mm_plan *p = j->plan;                                                                \
        const T *a = (const T *)j->g.a + mm_offset(p, p->a_batch, i / p->m) + i % p->m * p->a_row; \
        const T *b = (const T *)j->g.b + mm_offset(p, p->b_batch, i / p->m);                       \
        T *c = (T *)j->g.c + i * p->n;                                                             \
        for (int64_t n = 0; n < p->n && !j->g.add; n++) c[n] = 0;                                  \
        for (int64_t k = 0; k < p->k; k++) {                                                       \
            const uint64_t x = (uint64_t)(int64_t)j->g.alpha * (uint64_t)a[k * p->a_col];          \
            const T *y = b + k * p->b_row;                                                         \
            for (int64_t n = 0; n < p->n; n++)                                                     \
                c[n] = (T)((uint64_t)c[n] + x * (uint64_t)y[n * p->b_col]);                        \
        }                                                                                          \
    }
MM_INTEGER(u8, uint8_t)
MM_INTEGER(i8, int8_t)
MM_INTEGER(i16, int16_t)
MM_INTEGER(i32, int32_t)
MM_INTEGER(i64, int64_t)
#undef MM_INTEGER

static void mm_integer(tn_context *context, const mm_plan *p, const tni_gemm *g, int dtype) {
    mm_integers j;
    void (*task)(void *, int64_t) = dtype == TN_U8    ? mm_task_u8
                                    : dtype == TN_I8  ? mm_task_i8
                                    : dtype == TN_I16 ? mm_task_i16
                                    : dtype == TN_I32 ? mm_task_i32
                                                      : mm_task_i64;
    j.plan = p;
    j.g = *g;
    TNI_PATH(gemm_integers);
    if (p->m * p->n * p->k * p->batches < MM_WORK)
        for (int64_t i = 0; i < p->batches * p->m; i++) task(&j, i);
    else {
        TNI_PATH(gemm_integers_threads);
        tni_parallel(context, p->batches * p->m, task, &j);
    }
}

/* c = [c +] alpha * a * b */
static void mm_run(tn_context *context, const mm_plan *p, int dtype, const void *a, const void *b,
                   void *c, double alpha, bool add, void *scratch) {
    const tni_gemm g = mm_gemm_of(p, a, b, c, alpha, add);
    if (p->m * p->n * p->batches == 0) return; /* of any dtype */
    if (dtype == TN_F32 || dtype == TN_F64) {
        mm_job j;
        j.g = g;
        j.width = 1;
        j.c_batch = p->m * p->n;
        mm_real(context, p, &j, dtype == TN_F64, scratch);
    } else if (tni_is_complex(dtype)) {
        mm_complex(context, p, &g, dtype == TN_C128);
    } else if (tni_is_float(dtype)) {
        mm_half(context, p, &g, dtype, (float *)scratch);
    } else {
        mm_integer(context, p, &g, dtype);
    }
}

/* --- checks ----------------------------------------------------------------------------------- */

static bool mm_check_dtypes(tn_frame *f, const tn_tensor *a, const tn_tensor *b) {
    if (a->dtype != b->dtype)
        return tn_fail(f, TN_TYPE, "both must have the same dtype, got %s and %s",
                       tni_dtype(a->dtype)->text, tni_dtype(b->dtype)->text);
    if (!tni_dtype(a->dtype)->computes)
        return tn_fail(f, TN_TYPE, "there is no product of %s matrices", tni_dtype(a->dtype)->text);
    return true;
}

/* Checks both operands, fills p and asks for scratch. */
static bool mm_check(tn_frame *f, mm_plan *p, const tn_tensor *a, const tn_tensor *b) {
    char x[160], y[160];
    int64_t ak, bk, kn, mn;
    if (!mm_check_dtypes(f, a, b)) return false;
    if (!mm_plan_of(p, a, b))
        return tn_fail(f, TN_INVALID, "shapes %s and %s cannot be multiplied",
                       tni_shape_text(x, sizeof x, a->ndim, a->size),
                       tni_shape_text(y, sizeof y, b->ndim, b->size));
    if (a->dtype == TN_BOOL && p->m * p->n * p->batches != 0) /* as torch: an empty one passes */
        return tn_fail(f, TN_TYPE, "there is no product of bool matrices");
    if (a->dtype == TN_F16 || a->dtype == TN_BF16) {
        if (!tni_mul(p->m, p->k, &ak) || !tni_mul(p->k, p->n, &kn) || !tni_mul(p->m, p->n, &mn) ||
            !tni_add(ak, kn, &bk) || !tni_add(bk, mn, &bk) || !tni_add(bk, 48, &bk))
            return tn_fail(f, TN_MEMORY, "the product is too large");
        return tn_scratch(f, bk, 4);
    }
    if (a->dtype == TN_F32 || a->dtype == TN_F64)
        return tn_scratch(f, mm_packed_bytes(f->block->context, p, tni_dtype_size(a)), 1);
    return true;
}

static tn_tensor *mm_conj(tn_tensor *t) { return t && tni_is_complex(t->dtype) ? tnp_conj(t) : t; }
/* Conjugate transpose: what the gradient of a product multiplies with. */
static tn_tensor *mm_adjoint(tn_tensor *t) { return mm_conj(tnp_transpose(t, -2, -1)); }

/* --- matmul ----------------------------------------------------------------------------------- */

static bool matmul_check(tn_frame *f) {
    mm_plan p;
    return mm_check(f, &p, f->in[0], f->in[1]) &&
           tn_announce(f, 0, (tn_dtype)f->in[0]->dtype, p.ndim, p.result);
}
static void matmul_run(tn_frame *f) {
    mm_plan p;
    if (!mm_plan_of(&p, f->in[0], f->in[1])) return;
    mm_run(f->block->context, &p, f->in[0]->dtype, tni_bytes_at(f->in[0]), tni_bytes_at(f->in[1]),
           tni_bytes_at(f->out[0]), 1, false, f->scratch);
}
/* t (..., m, n) as (rows, n): what a matrix shared by all batches is multiplied with in its
 * gradient */
static tn_tensor *matmul_flat(tn_tensor *t, int64_t n) {
    const int64_t size[2] = {-1, n};
    return t->ndim == 2 ? t : tnp_reshape(t, tni_ints(size, 2));
}
/* dA = dC B^H, dB = A^H dC, where vectors are matrices of one row (left) or one column (right) */
static void matmul_grad(tn_gradient *g) {
    tn_tensor *a = g->in[0], *b = g->in[1], *d = g->incoming[0];
    const bool row = a->ndim == 1, column = b->ndim == 1;
    if (row && column) {
        if (g->want[0]) tn_give(g, 0, tnp_mul(d, mm_conj(b)));
        if (g->want[1]) tn_give(g, 1, tnp_mul(d, mm_conj(a)));
        return;
    }
    if (row) d = tnp_unsqueeze(d, -2);
    if (column) d = tnp_unsqueeze(d, -1);
    if (g->want[0])
        tn_give(g, 0, tnp_matmul(d, column ? mm_conj(tnp_unsqueeze(b, 0)) : mm_adjoint(b)));
    if (!g->want[1]) return;
    if (row) a = tnp_unsqueeze(a, 0);
    if (!a || !d) return; /* an error is set */
    if (b->ndim == 2 && a->ndim > 2 && b->numel > 0)
        a = matmul_flat(a, b->size[0]), d = matmul_flat(d, b->size[1]);
    d = tnp_matmul(mm_adjoint(a), d);
    tn_give(g, 1, column ? tnp_squeeze_dim(d, -1) : d);
}
/* Matrix product with torch's rules: 1-D operands are a row on the left and a column on the
 * right, the leading dimensions are batches and broadcast; equal dtypes, not bool.
 * self (*, m, k), other (*, k, n) -> (*, m, n)   tn_matmul(x, w) */
TN_OPERATOR(matmul, "matmul(Tensor self, Tensor other) -> Tensor", .forms = TN_OUT,
            .needs = "self:other other:self", .check = matmul_check, .run = matmul_run,
            .grad = matmul_grad,
            .sample = "(3,4) (4,5) | (7,33) (33,19) | (2,3,4) (4,5) | (2,1,3,4) (3,4,2) | (4) (4) "
                      "| (4) (4,3) | (4) (2,4,3) | "
                      "(3,4) (4) | (2,3,4) (4) | (1,6) (6,40) | (5,400) (400,7) | (40,110) "
                      "(110,200) | (0,3) (3,2) | "
                      "(2,0) (0,3) | (2,3,2) (2,2,0)",
            .node = "DotBackward0 self=1 other=1 | MvBackward0 self=2 other=1 | MmBackward0 self=2 "
                    "other=2 | BmmBackward0 self=3 other=3")

/* --- addmm ------------------------------------------------------------------------------------ */

static bool addmm_check(tn_frame *f) {
    TN_ARGS(addmm, given, f);
    const tn_tensor *self = f->in[0], *a = f->in[1], *b = f->in[2];
    char has[160], wants[160];
    mm_plan p;
    tni_shape s;
    if (a->ndim != 2 || b->ndim != 2)
        return tn_fail(f, TN_INVALID, "mat1 and mat2 must have 2 dimensions, got %d and %d",
                       a->ndim, b->ndim);
    if (!mm_check(f, &p, a, b)) return false;
    if (self->dtype != a->dtype)
        return tn_fail(f, TN_TYPE, "self and mat1 must have the same dtype, got %s and %s",
                       tni_dtype(self->dtype)->text, tni_dtype(a->dtype)->text);
    if (!tni_double_fits(f, "beta", given->beta, self->dtype) ||
        !tni_double_fits(f, "alpha", given->alpha, self->dtype))
        return false;
    s.ndim = 2, s.size[0] = p.result[0], s.size[1] = p.result[1];
    if (!tni_broadcast(&s, self->ndim, self->size) || s.ndim != 2 || s.size[0] != p.result[0] ||
        s.size[1] != p.result[1])
        return tn_fail(f, TN_INVALID, "self of shape %s does not broadcast to %s",
                       tni_shape_text(has, sizeof has, self->ndim, self->size),
                       tni_shape_text(wants, sizeof wants, 2, p.result));
    return tn_announce(f, 0, (tn_dtype)a->dtype, 2, p.result);
}
static int64_t mm_wrapped(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
/* out = beta * self, self broadcast to rows x cols; beta 0 does not read self. */
static void addmm_start(const tn_tensor *self, double beta, tn_tensor *out, int64_t rows,
                        int64_t cols) {
    enum { CHUNK = 256 };
    double room[CHUNK];
    float *f = (float *)room;
    int64_t *k = (int64_t *)room;
    const int dtype = (int)tni_real_of(out->dtype), compute = tni_lanes_compute(out->dtype),
              d = self->ndim;
    const int64_t bytes = tni_dtype_size(out), part = tni_dtype(dtype)->bytes;
    const int64_t row = d > 1 && self->size[d - 2] != 1 ? self->stride[d - 2] * bytes : 0;
    const int64_t col = d > 0 && self->size[d - 1] != 1 ? self->stride[d - 1] * bytes : 0;
    if (beta == 1 && dtype == compute && (col == bytes || cols == 1)) { /* as it is */
        TNI_PATH(addmm_copied);
        for (int64_t i = 0; i < rows; i++)
            memmove(tni_bytes_at(out) + i * cols * bytes, tni_bytes_at(self) + i * row,
                    (size_t)(cols * bytes));
        return;
    }
    for (int64_t i = 0; i < rows * bytes / part; i++) /* of complex numbers, each part by itself */
        for (int64_t j = 0; j < cols; j += CHUNK) {
            const int64_t n = cols - j < CHUNK ? cols - j : (int64_t)CHUNK, r = i % rows,
                          at = i / rows * part;
            if (beta == 0)
                memset(room, 0, sizeof room);
            else
                tni_lanes_load(room, compute, tni_bytes_at(self) + r * row + j * col + at, col,
                               dtype, n);
            for (int64_t q = 0; q < n && beta != 1; q++) {
                if (compute == TN_F32)
                    f[q] *= (float)beta;
                else if (compute == TN_F64)
                    room[q] *= beta;
                else
                    k[q] = mm_wrapped(k[q], (int64_t)beta);
            }
            tni_lanes_save(tni_bytes_at(out) + (r * cols + j) * bytes + at, bytes, dtype, room,
                           compute, n);
        }
}
static void addmm_run(tn_frame *f) {
    TN_ARGS(addmm, a, f);
    tn_tensor *out = f->out[0];
    mm_plan p;
    if (!mm_plan_of(&p, f->in[1], f->in[2])) return;
    addmm_start(f->in[0], a->beta, out, p.result[0], p.result[1]);
    mm_run(f->block->context, &p, out->dtype, tni_bytes_at(f->in[1]), tni_bytes_at(f->in[2]),
           tni_bytes_at(out), a->alpha, true, f->scratch);
}
static void addmm_grad(tn_gradient *g) {
    TN_ARGS(addmm, a, g);
    tn_tensor *d = g->incoming[0], *scaled = d;
    if (g->want[0]) tn_give(g, 0, a->beta == 1 ? d : tnp_mul_scalar(d, tn_float(a->beta)));
    if (a->alpha != 1 && (g->want[1] || g->want[2])) scaled = tnp_mul_scalar(d, tn_float(a->alpha));
    if (g->want[1]) tn_give(g, 1, tnp_matmul(scaled, mm_adjoint(g->in[2])));
    if (g->want[2]) tn_give(g, 2, tnp_matmul(mm_adjoint(g->in[1]), scaled));
}
/* beta * self + alpha * mat1 mat2, self broadcast; beta 0 ignores self, even NaN.
 * self (m, n) or broadcast to it, mat1 (m, k), mat2 (k, n) -> (m, n)   tn_addmm(bias, x, w,
 * .alpha = 2) */
TN_OPERATOR(
    addmm,
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    .forms = TN_OUT, .needs = "mat1:mat2 mat2:mat1", .check = addmm_check, .run = addmm_run,
    .grad = addmm_grad,
    .sample = "(5) (4,3) (3,5) | (4,5) (4,3) (3,5) beta=3 alpha=2 | () (1,6) (6,40) beta=0 | (4,1) "
              "(4,400) (400,3) | "
              "(48,64) (48,40) (40,64) | (3) (2,0) (0,3)")

/* --- composed products ------------------------------------------------------------------------ */

static bool mm_dims(tn_frame *f, const tn_tensor *a, int da, const tn_tensor *b, int db) {
    if (a->ndim == da && b->ndim == db) return true;
    return tn_fail(f, TN_INVALID, "expected tensors of %d and %d dimensions, got %d and %d", da, db,
                   a->ndim, b->ndim);
}

static bool mm_compose(tn_frame *f) {
    return mm_dims(f, f->in[0], 2, f->in[1], 2) &&
           (f->out[0] = tnp_matmul(f->in[0], f->in[1])) != NULL;
}
/* Product of two matrices, without broadcasting.   self (m, k), mat2 (k, n) -> (m, n)   tn_mm(a,
 * b) */
TN_OPERATOR(mm, "mm(Tensor self, Tensor mat2) -> Tensor", .forms = TN_OUT, .compose = mm_compose,
            .sample = "(3,4) (4,5) | (0,4) (4,2)")

static bool bmm_compose(tn_frame *f) {
    const tn_tensor *a = f->in[0], *b = f->in[1];
    if (!mm_dims(f, a, 3, b, 3)) return false;
    if (a->size[0] != b->size[0])
        return tn_fail(f, TN_INVALID, "batches differ: %lld and %lld matrices",
                       (long long)a->size[0], (long long)b->size[0]);
    return (f->out[0] = tnp_matmul(f->in[0], f->in[1])) != NULL;
}
/* Products of equally many matrices.
 * self (b, m, k), mat2 (b, k, n) -> (b, m, n)   tn_bmm(q, kt) */
TN_OPERATOR(bmm, "bmm(Tensor self, Tensor mat2) -> Tensor", .forms = TN_OUT, .compose = bmm_compose,
            .sample = "(2,3,4) (2,4,5) | (20,7,9) (20,9,17) | (0,3,4) (0,4,5)")

static bool mv_compose(tn_frame *f) {
    return mm_dims(f, f->in[0], 2, f->in[1], 1) &&
           (f->out[0] = tnp_matmul(f->in[0], f->in[1])) != NULL;
}
/* Matrix times vector.   self (m, k), vec (k) -> (m)   tn_mv(a, x) */
TN_OPERATOR(mv, "mv(Tensor self, Tensor vec) -> Tensor", .forms = TN_OUT, .compose = mv_compose,
            .sample = "(3,4) (4) | (50,390) (390)")

static bool dot_compose(tn_frame *f) {
    return mm_dims(f, f->in[0], 1, f->in[1], 1) &&
           (f->out[0] = tnp_matmul(f->in[0], f->in[1])) != NULL;
}
/* Sum of the products of two vectors, neither conjugated.   self (n), tensor (n) -> ()
 * tn_dot(x, y) */
TN_OPERATOR(dot, "dot(Tensor self, Tensor tensor) -> Tensor", .forms = TN_OUT,
            .compose = dot_compose, .sample = "(4) (4) | (0) (0) | (400) (400) | (3100) (3100)")

/* --- linear ----------------------------------------------------------------------------------- */

/* input (m, k) times the transpose of weight (n, k) */
static void linear_view(tn_tensor *t, const tn_tensor *weight, int64_t *dims) {
    memset(t, 0, offsetof(tn_tensor, dims));
    dims[0] = weight->size[1], dims[1] = weight->size[0], dims[2] = weight->stride[1],
    dims[3] = weight->stride[0];
    t->dtype = weight->dtype, t->ndim = 2, t->size = dims, t->stride = dims + 2;
}
static bool linear_rows_check(tn_frame *f) {
    const tn_tensor *x = f->in[0], *w = f->in[1], *bias = f->in[2];
    int64_t dims[4];
    char has[160];
    mm_plan p;
    tn_tensor wt;
    if (!mm_dims(f, x, 2, w, 2)) return false;
    linear_view(&wt, w, dims);
    if (!mm_check(f, &p, x, &wt)) return false;
    if (bias && bias->dtype != x->dtype)
        return tn_fail(f, TN_TYPE, "bias and input must have the same dtype, got %s and %s",
                       tni_dtype(bias->dtype)->text, tni_dtype(x->dtype)->text);
    if (bias &&
        (bias->ndim > 1 || (bias->ndim == 1 && bias->size[0] != w->size[0] && bias->size[0] != 1)))
        return tn_fail(f, TN_INVALID, "expected bias (%lld), got %s", (long long)w->size[0],
                       tni_shape_text(has, sizeof has, bias->ndim, bias->size));
    return tn_announce(f, 0, (tn_dtype)x->dtype, 2, p.result);
}
static void linear_rows_run(tn_frame *f) {
    tn_tensor *out = f->out[0];
    int64_t dims[4];
    tn_tensor wt;
    mm_plan p;
    linear_view(&wt, f->in[1], dims);
    if (!mm_plan_of(&p, f->in[0], &wt)) return;
    if (f->in[2]) addmm_start(f->in[2], 1, out, p.result[0], p.result[1]);
    mm_run(f->block->context, &p, out->dtype, tni_bytes_at(f->in[0]), tni_bytes_at(f->in[1]),
           tni_bytes_at(out), 1, f->in[2] != NULL, f->scratch);
}
static void linear_rows_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0];
    if (g->want[0]) tn_give(g, 0, tnp_matmul(d, mm_conj(g->in[1])));
    if (g->want[1]) tn_give(g, 1, tnp_matmul(tnp_transpose(d, 0, 1), mm_conj(g->in[0])));
    if (g->in[2] && g->want[2]) tn_give(g, 2, d);
}
/* linear of one batch of rows; the gradient of weight comes in its own layout.
 * input (m, k), weight (n, k), bias (n) -> (m, n) */
TN_OPERATOR(
    linear_rows, "linear_rows(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    .forms = TN_OUT, .needs = "input:weight weight:input", .check = linear_rows_check,
    .run = linear_rows_run, .grad = linear_rows_grad,
    .sample = "(3,4) (5,4) (5) | (3,4) (5,4) | (64,100) (40,100) (40) | (7,390) (1,390) (1)",
    .node = "MmBackward0 bias=None | AddmmBackward0")

/* Rows of a contiguous input are one batch; any other goes through matmul. */
static bool linear_compose(tn_frame *f) {
    tn_tensor *x = f->in[0], *w = f->in[1], *bias = f->in[2], *y;
    char has[160];
    int64_t flat[2] = {-1, 0}, size[TN_MAX_DIMS];
    if (w->ndim != 2 && (w->ndim != 1 || bias))
        return tn_fail(f, TN_INVALID, "weight must have 2 dimensions, or 1 without bias, got %d",
                       w->ndim);
    if (x->ndim == 0 || x->size[x->ndim - 1] != w->size[w->ndim - 1])
        return tn_fail(f, TN_INVALID, "expected input (*, %lld), got %s",
                       (long long)w->size[w->ndim - 1],
                       tni_shape_text(has, sizeof has, x->ndim, x->size));
    if (w->ndim == 1) return (f->out[0] = tnp_matmul(x, w)) != NULL;
    if (x->ndim == 2) return (f->out[0] = tnp_linear_rows(x, w, bias)) != NULL;
    if (x->ndim == 1 || !(x->flags & TNI_CONTIGUOUS) || x->numel == 0) {
        y = tnp_matmul(x, tnp_transpose(w, 0, 1));
        return (f->out[0] = bias ? tnp_add(y, bias, 1) : y) != NULL;
    }
    flat[1] = x->size[x->ndim - 1];
    memcpy(size, x->size, (size_t)x->ndim * sizeof *size);
    size[x->ndim - 1] = w->size[0];
    y = tnp_linear_rows(tnp_reshape(x, tni_ints(flat, 2)), w, bias);
    return (f->out[0] = tnp_reshape(y, tni_ints(size, x->ndim))) != NULL;
}
/* Whether a call of linear is one of linear_rows of which nothing is odd or wrong. */
static bool linear_is_rows(const tni_block *b, const tn_linear_args *a) {
    const tn_tensor *x = a->input, *w = a->weight, *bias = a->bias;
    unsigned odd = TNI_META | TNI_GHOST | TNI_STACK;
    if (a->out || !x || !w || x->ndim != 2 || w->ndim != 2 || x->size[1] != w->size[1] ||
        x->dtype != w->dtype || x->dtype == TN_BOOL || !tni_dtype(x->dtype)->computes ||
        x->owner->context != b->context || w->owner->context != b->context)
        return false;
    odd &= (unsigned)x->flags | w->flags | (bias ? bias->flags : 0u);
    return !odd && (!bias || (bias->ndim == 1 && bias->size[0] == w->size[0] &&
                              bias->dtype == x->dtype && bias->owner->context == b->context));
}
/* Such a call needs no scope of its own. */
static bool linear_short(const tn_row *row, unsigned how, const char *file, int line,
                         const void *args, void *results) {
    const tn_linear_args *a = (const tn_linear_args *)args;
    const tni_block *b = tni_here();
    if (b && how == TN_PLAIN && !tni_load_relaxed(&b->hooks) && linear_is_rows(b, a)) {
        const tn_linear_rows_args same = {NULL, a->bias, a->input, a->weight};
        TNI_PATH(linear_short);
        return tni_call_long(&tni_row_linear_rows, TN_PLAIN, file, line, &same, results);
    }
    return tni_call_long(row, how, file, line, args, results);
}
/* input weight^T + bias.   input (*, in), weight (out, in), bias (out) -> (*, out)   tn_linear(x,
 * w, .bias = b) */
TN_OPERATOR(linear, "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
            .forms = TN_OUT, .quick = linear_short, .compose = linear_compose,
            .sample = "(3,4) (5,4) (5) | (3,4) (5,4) | (4) (5,4) (5) | (2,3,4) (5,4) (5) | (2,3,4) "
                      "(4) | (64,100) (40,100) (40)")
