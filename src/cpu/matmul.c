/* matmul.c - products of matrices of any dtype.
 *
 * One plan (batches of m x k times k x n, any strides) serves all; kernels/gemm.h fixes the order
 * of additions. Floats and doubles are multiplied where they lie; a complex product is four real
 * ones; 16-bit floats are widened to float matrix by matrix and rounded once; integers wrap. */
#include "matmul.h"
#include "lanes.h"

enum { MM_TASKS = 16 }; /* tasks of a product that has the work for them */

/* --- float and double ------------------------------------------------------------------------- */

/* A product on threads: a grid of regions of c for each batch, or several small matrices a task. */
typedef struct mm_job {
    const tni_matmul_plan *plan;
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

/* Products so small that their elements are made one by one: a panel would cost more. m n cannot
 * wrap, it counts elements of the result. */
enum { MM_FEW = 16, MM_FEW_WORK = 64 };
static bool mm_is_few(const tni_gemm *g) {
    return g->m * g->n <= MM_FEW && g->k <= MM_FEW_WORK && g->m * g->n * g->k <= MM_FEW_WORK &&
           !g->panel && !g->start;
}
static void mm_few(const mm_job *j, const tni_gemm *whole) {
    const int64_t m = whole->m, n = whole->n;
    tni_gemm g = *whole;
    /* Each element is a 1 x n by n x 1 product. */
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

/* Region (row, col) of the grid over c. Every kernel adds the products of an element in the order
 * of gemm.h, so the choice between them changes no bit. */
static void mm_region(const mm_job *j, const tni_gemm *whole, int64_t row, int64_t col) {
    tni_gemm g = *whole;
    const int64_t i = row * j->rows, k = col * j->cols;
    /* A packed a moves on by panels of j->height rows. */
    const int64_t down = g.panel ? i / j->height * g.panel : i * g.a_row;
    g.m = g.m - i < j->rows ? g.m - i : j->rows;
    g.n = g.n - k < j->cols ? g.n - k : j->cols;
    g.a = (const char *)g.a + down * j->bytes;
    g.b = (const char *)g.b + k * g.b_col * j->bytes;
    g.c = (char *)g.c + (i * g.c_row + k * g.c_col) * j->bytes;
    if (g.start) g.start = (const char *)g.start + k * j->bytes;
    /* From the smallest shape to the largest: one element, a few, a row, tiles. */
    if (g.m == 1 && g.n == 1 && !g.start) {
        TNI_PATH(gemm_dot);
        j->dot(&g);
        return;
    }
    if (mm_is_few(&g)) {
        mm_few(j, &g);
        return;
    }
    if (g.m == 1 && (g.b_col == 1 || g.b_row == 1) && g.c_col == 1 && g.n >= 16 && !g.panel &&
        !g.start) {
        /* The row kernels take multiples of 16 columns; tiles make the rest below. */
        g.n &= ~(int64_t)15;
        if (g.b_col == 1)
            TNI_PATH(gemm_row);
        else
            TNI_PATH(gemm_column);
        /* Then on to the columns that are left. */
        (g.b_col == 1 ? j->row : j->column)(&g);
        g.b = (const char *)g.b + g.n * g.b_col * j->bytes;
        g.c = (char *)g.c + g.n * j->bytes;
        g.n = (whole->n - k < j->cols ? whole->n - k : j->cols) - g.n;
        if (g.n == 0) return;
    }
    TNI_PATH(gemm_tiles);
    j->gemm(&g);
}

/* Task i: a region of one matrix, or the only region of each of `group` matrices. */
static void mm_task(void *arg, int64_t i) {
    const mm_job *j = (const mm_job *)arg;
    const int64_t grid = j->grid_rows * j->grid_cols, first = i / grid * j->group,
                  region = i % grid;
    for (int64_t batch = first; batch < first + j->group && batch < j->plan->batches; batch++) {
        /* Each batch moves the three matrices by its own offsets. */
        tni_gemm g = j->g;
        if (tni_stopped()) return;
        g.a =
            (const char *)g.a + tni_matmul_offset(j->plan, j->a_batch, batch) * j->width * j->bytes;
        g.b =
            (const char *)g.b + tni_matmul_offset(j->plan, j->b_batch, batch) * j->width * j->bytes;
        g.c = (char *)g.c + batch * j->c_batch * j->bytes;
        mm_region(j, &g, region / j->grid_cols, region % j->grid_cols);
    }
}

/* Panel i of a, into its place. */
static void mm_pack_task(void *arg, int64_t i) {
    const mm_job *j = (const mm_job *)arg;
    j->pack(&j->g, i * j->height, j->packed + i * j->height * j->g.k * j->bytes);
}

static int64_t mm_round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* Cuts c into regions whose rows of a stay in the second cache, and further while tasks are few
 * and large. */
static void mm_cut(mm_job *j) {
    const int64_t m = j->g.m, n = j->g.n, k = j->g.k, batches = j->plan->batches;
    /* 192 rows of a k-block of floats are 288 KB, 512 columns of one row of b are 2 KB. */
    int64_t rows = (m + 191) / 192, cols = (n + 511) / 512;
    while (batches * rows * cols < MM_TASKS && m * n / (rows * cols) * k > 2 * TNI_MATMUL_WORK) {
        /* Halve the longer side, but leave at least 32 columns or 16 rows for the tiles. */
        if (n / cols > 32 && (n / cols >= m / rows || m / rows <= 16))
            cols *= 2;
        else if (m / rows > 16)
            rows *= 2;
        else
            break;
    }
    /* Regions begin at whole panels, and at whole tiles of columns. */
    j->rows = rows > 1 ? mm_round_up((m + rows - 1) / rows, j->height) : m;
    j->cols = cols > 1 ? mm_round_up((n + cols - 1) / cols, 32) : n;
    j->grid_rows = (m + j->rows - 1) / j->rows;
    j->grid_cols = (n + j->cols - 1) / j->cols;
    j->group = 1;
    /* Small matrices: as many in a task as make up its work. */
    if (j->grid_rows * j->grid_cols == 1) j->group = TNI_MATMUL_WORK / (m * n * k) + 1;
}

/* Zeros to `rows` x n elements of c. */
static void mm_clear(char *c, int64_t rows, int64_t n, int64_t row, int64_t col, int64_t bytes) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t q = 0; q < n; q++) memset(c + (i * row + q * col) * bytes, 0, (size_t)bytes);
}

/* Whether a is packed once: where it lies across its rows and is read often. Packing copies m x k
 * elements, which at least 192 columns of b must pay for; tiny matrices stay as they are, and very
 * large ones would need too much scratch. */
static bool mm_packs(int64_t m, int64_t n, int64_t k, int64_t a_col, int64_t batches) {
    return a_col != 1 && batches == 1 && n >= 192 && m * k >= 1 << 12 && m * k <= 1 << 25;
}
TN_PRIV int64_t tni_matmul_packed_bytes(tn_context *c, const tni_matmul_plan *p, int64_t bytes) {
    const int64_t height = TNI_K(c->kernels, gemm_panel_f32)();
    return mm_packs(p->m, p->n, p->k, p->a_col, p->batches)
               ? mm_round_up(p->m, height) * p->k * bytes
               : 0;
}

/* c = [c +] alpha * a * b for every batch; j->g holds that of batch 0. */
static void mm_begin(tn_context *context, const tni_matmul_plan *p, mm_job *j, bool f64) {
    const tni_kernels *k = context->kernels;
    j->plan = p;
    j->context = context;
    j->bytes = f64 ? 8 : 4;
    j->gemm = f64 ? TNI_K(k, gemm_f64) : TNI_K(k, gemm_f32);
    j->dot = f64 ? TNI_K(k, gemm_dot_f64) : TNI_K(k, gemm_dot_f32);
    j->column = f64 ? TNI_K(k, gemm_column_major_f64) : TNI_K(k, gemm_column_major_f32);
    j->row = f64 ? TNI_K(k, gemm_row_f64) : TNI_K(k, gemm_row_f32);
    j->pack = f64 ? TNI_K(k, gemm_pack_a_f64) : TNI_K(k, gemm_pack_a_f32);
    j->height = f64 ? TNI_K(k, gemm_panel_f64)() : TNI_K(k, gemm_panel_f32)();
    /* mm_turn may exchange the two. */
    j->a_batch = p->a_batch;
    j->b_batch = p->b_batch;
}

/* A column is the row of the transposed product. */
static void mm_turn(const tni_matmul_plan *p, mm_job *j) {
    const tni_gemm g = j->g;
    tni_gemm *t = &j->g;
    TNI_PATH(gemm_turned);
    /* (a b)^T = b^T a^T: a and b trade places, and rows and columns of each. */
    t->m = 1;
    t->n = g.m;
    t->a = g.b;
    t->a_row = 0;
    t->a_col = g.b_row;
    t->b = g.a;
    t->b_row = g.a_col;
    t->b_col = g.a_row;
    t->c_row = 0;
    t->c_col = g.c_row;
    j->a_batch = p->b_batch;
    j->b_batch = p->a_batch;
}

static void mm_real(tn_context *context, const tni_matmul_plan *p, mm_job *j, bool f64,
                    void *packed) {
    tni_gemm *g = &j->g;
    int64_t tasks;
    mm_begin(context, p, j, f64);
    if (p->batches == 0 || g->m == 0 || g->n == 0) return;
    /* No products: c is zero, or stays as it is when products are added to it. */
    if (g->k == 0) {
        TNI_PATH(gemm_nothing);
        for (int64_t i = 0; i < p->batches && !g->add; i++)
            mm_clear((char *)g->c + i * j->c_batch * j->bytes, g->m, g->n, g->c_row, g->c_col,
                     j->bytes);
        return;
    }
    /* Before any cutting, which would cost more than the product. */
    if (p->batches == 1 && mm_is_few(g)) {
        mm_few(j, g);
        return;
    }
    if (g->n == 1 && g->m > 1 && !g->start) mm_turn(p, j);
    /* The turn comes before the cut, which looks at the shape. */
    mm_cut(j);
    if (j->group > 1 && p->batches > 1) TNI_PATH(gemm_groups);
    if (j->grid_rows * j->grid_cols > 1) TNI_PATH(gemm_grid);
    /* A task for each region, or for each group of matrices. */
    tasks = (p->batches + j->group - 1) / j->group * j->grid_rows * j->grid_cols;
    if (packed && mm_packs(g->m, g->n, g->k, g->a_col, p->batches)) {
        TNI_PATH(gemm_packed);
        /* Packing is done before the product begins; the product then reads panels instead of a. */
        j->packed = (char *)packed;
        tni_parallel(context, (g->m + j->height - 1) / j->height, mm_pack_task, j);
        g->a = packed;
        g->panel = j->height * g->k;
    }
    if (tasks > 1) TNI_PATH(gemm_threads);
    tni_parallel(context, tasks, mm_task, j);
}

/* --- the other dtypes ------------------------------------------------------------------------- */

/* The product of batch 0; c is row-major. */
static tni_gemm mm_gemm_of(const tni_matmul_plan *p, const void *a, const void *b, void *c,
                           double alpha, bool add) {
    tni_gemm g;
    g.m = p->m;
    g.n = p->n;
    g.k = p->k;
    g.a = a;
    g.b = b;
    g.c = c;
    g.a_row = p->a_row;
    g.a_col = p->a_col;
    g.b_row = p->b_row;
    g.b_col = p->b_col;
    g.c_row = p->n;
    g.c_col = 1;
    g.panel = 0;
    g.alpha = alpha;
    g.add = add;
    g.start = NULL;
    return g;
}

/* (ar + i ai)(br + i bi): real and imaginary part are two real products each, in this order. */
static void mm_complex(tn_context *context, const tni_matmul_plan *p, const tni_gemm *whole,
                       bool f64) {
    const int64_t bytes = f64 ? 8 : 4;
    TNI_PATH(gemm_complex);
    for (int part = 0; part < 4; part++) { /* re += ar br, re -= ai bi, im += ar bi, im += ai br */
        mm_job j;
        const int ai = part & 1, ci = part >> 1, bi = ai ^ ci;
        /* Real and imaginary parts alternate in memory: a part is a real matrix with
         * doubled steps. */
        j.g = *whole;
        j.g.a = (const char *)whole->a + ai * bytes;
        j.g.b = (const char *)whole->b + bi * bytes;
        j.g.c = (char *)whole->c + ci * bytes;
        j.g.a_row *= 2;
        j.g.a_col *= 2;
        j.g.b_row *= 2;
        j.g.b_col *= 2;
        j.g.c_row *= 2;
        j.g.c_col *= 2;
        /* i i = -1; the second product of each part is added to the first. */
        if (part == 1) j.g.alpha = -j.g.alpha;
        if (ai) j.g.add = true;
        j.width = 2;
        j.c_batch = 2 * p->m * p->n;
        mm_real(context, p, &j, f64, NULL);
    }
}

/* A matrix of 16-bit floats to float, or back, by lines along the dimension of unit stride. */
typedef struct mm_convert {
    char *half;
    float *wide;
    int64_t lines, n, line, step; /* strides of half in elements */
    int dtype;
    bool back;
} mm_convert;

/* Lines of a task. */
enum { MM_LINES = 16 };

static void mm_convert_task(void *arg, int64_t i) {
    /* Lines of the wide copy lie one behind the other. */
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
    /* Lines run along the dimension whose elements are neighbours. */
    const bool across = *row == 1 && *col != 1;
    mm_convert v;
    if (across) TNI_PATH(gemm_half_across);
    v.half = (char *)from; /* only read */
    v.wide = to;
    v.lines = across ? cols : rows;
    v.n = across ? rows : cols;
    v.line = across ? *col : *row;
    v.step = across ? *row : *col;
    v.dtype = dtype;
    v.back = false;
    mm_convert_run(context, &v);
    *row = across ? 1 : cols;
    *col = across ? rows : 1;
}

/* Matrix by matrix: a and b widened into scratch, their product there, rounded into c. Each matrix
 * uses all threads, so scratch is that of one. */
static void mm_half(tn_context *context, const tni_matmul_plan *p, const tni_gemm *whole, int dtype,
                    float *scratch) {
    /* 16 floats are a cache line: a, b and c begin at one each. */
    float *a = scratch, *b = a + mm_round_up(p->m * p->k, 16),
          *c = b + mm_round_up(p->k * p->n, 16);
    tni_matmul_plan one = *p;
    one.nbatch = 0;
    one.batches = 1;
    TNI_PATH(gemm_half);
    for (int64_t i = 0; i < p->batches; i++) {
        mm_job j;
        mm_convert v;
        /* The steps are those of the 16-bit matrices until mm_widen changes them. */
        const char *from_a = (const char *)whole->a + tni_matmul_offset(p, p->a_batch, i) * 2;
        const char *from_b = (const char *)whole->b + tni_matmul_offset(p, p->b_batch, i) * 2;
        j.g = *whole;
        j.g.a = a;
        j.g.b = b;
        j.g.c = c;
        /* Strides become those of the copies. */
        mm_widen(context, from_a, a, p->m, p->k, &j.g.a_row, &j.g.a_col, dtype);
        mm_widen(context, from_b, b, p->k, p->n, &j.g.b_row, &j.g.b_col, dtype);
        v.half = (char *)whole->c + i * p->m * p->n * 2;
        v.wide = c;
        v.lines = p->m;
        v.n = v.line = p->n;
        v.step = 1;
        v.dtype = dtype;
        v.back = false;
        /* What is in c already is widened as well, and the product is added to it in float. */
        if (whole->add) mm_convert_run(context, &v);
        j.width = 1;
        j.c_batch = 0;
        mm_real(context, &one, &j, false, NULL);
        /* The only rounding to 16 bits. */
        v.back = true;
        mm_convert_run(context, &v);
    }
}

TN_PRIV void tni_matmul_from(tn_context *context, const tni_matmul_plan *p, int dtype,
                             const void *a, const void *b, void *c, const void *start) {
    mm_job j;
    j.g = mm_gemm_of(p, a, b, c, 1, false);
    j.g.start = start;
    j.width = 1;
    j.c_batch = p->m * p->n;
    mm_real(context, p, &j, dtype == TN_F64, NULL);
}

/* c = [c +] alpha * a * b */
TN_PRIV void tni_matmul_run(tn_context *context, const tni_matmul_plan *p, int dtype, const void *a,
                            const void *b, void *c, double alpha, bool add, void *scratch) {
    const tni_gemm g = mm_gemm_of(p, a, b, c, alpha, add);
    if (p->m * p->n * p->batches == 0) return; /* of any dtype */
    /* By the dtype: directly, as parts, widened, or wrapping. */
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
        tni_matmul_integers(context, p, &g, dtype);
    }
}
