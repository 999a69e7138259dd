/* blas.cu - products of matrices by cuBLASLt: the one file that knows it. The library is opened
 * when it is first needed; without it, and in exact mode, products.cu has its own kernels.
 *
 * A call is column-major, D (m x n) = alpha op(A) op(B) + beta C [+ bias along m]. Ours is
 * row-major, so it computes the transpose: A is our b, B our a. Plans (descriptors and algorithm)
 * are made once for each shape, and kept until others are needed more. */
#include "plans.cuh"
#include "products.cuh"

#if !defined(TNC_EMULATED) && !defined(_WIN32)
#include <dlfcn.h>
#endif

/* --- calls ------------------------------------------------------------------------------------ */

struct tnc_blas_call {
    int64_t m, n, k, lda, ldb, ldc, ldd, batches, step_a, step_b, step_d; /* C: step 0 */
    int64_t align_a, align_b, align_c, align_d;                           /* at most 256 bytes */
    int64_t device, dtype, turn_a, turn_b, biased; /* turned: op(A) is the transpose */
};
struct tnc_blas_data {
    const char *a, *b, *c, *bias;
    char *d;
    double alpha, beta;
};

static int64_t blas_alignment(const char *at) {
    int64_t most = 256;
    while ((uintptr_t)at % (uintptr_t)most) most /= 2;
    return most;
}
/* A matrix of so many rows, which lie `row` apart, and columns: its leading dimension, where its
 * rows (*turned: its columns) are dense. 0: neither is. */
static int64_t blas_leading(int64_t rows, int64_t cols, int64_t row, int64_t col, int64_t *turned) {
    *turned = 0;
    if (col == 1 && (row >= cols || rows == 1)) return rows == 1 ? cols : row;
    *turned = 1;
    if (row == 1 && (col >= rows || cols == 1)) return cols == 1 ? rows : col;
    return 0;
}
/* What stands in front of the product: nothing, a vector along the rows, or a whole matrix. */
static bool blas_front(const tnc_product *p, tnc_blas_call *c, tnc_blas_data *d) {
    c->ldc = c->ldd;
    d->c = p->c;
    c->align_c = c->align_d;
    if (!p->start) return true;
    if (p->batches > 1 || p->start_col != 1) return false;
    if (p->start_row == 0) {
        c->biased = 1;
        d->bias = p->start;
        return p->beta == 1 && p->dtype != TN_F64;
    }
    if (p->start_row < p->n) return false;
    c->ldc = p->start_row;
    d->c = p->start;
    d->beta = p->beta;
    c->align_c = blas_alignment(d->c);
    return true;
}
/* The product as a call; false: it is none. Vectors are left to products.cu. */
static bool blas_call_of(const tn_frame *f, const tnc_product *p, tnc_blas_call *c,
                         tnc_blas_data *d) {
    memset(c, 0, sizeof *c);
    memset(d, 0, sizeof *d);
    if (p->parts > 1 || p->k == 0 || p->m == 1 || p->n == 1 || p->nbatch > 1 ||
        p->batches > INT32_MAX)
        return false;
    if (p->dtype != TN_F32 && p->dtype != TN_F64 && p->dtype != TN_F16 && p->dtype != TN_BF16)
        return false;
    c->device = tn_frame_device(f);
    c->dtype = p->dtype;
    c->m = p->n;
    c->n = p->m;
    c->k = p->k;
    c->lda = blas_leading(p->k, p->n, p->b_row, p->b_col, &c->turn_a);
    c->ldb = blas_leading(p->m, p->k, p->a_row, p->a_col, &c->turn_b);
    c->ldd = p->n;
    c->batches = p->batches;
    c->step_a = p->nbatch ? p->b_batch[0] : 0;
    c->step_b = p->nbatch ? p->a_batch[0] : 0;
    c->step_d = p->nbatch ? p->c_batch : 0;
    if (!c->lda || !c->ldb || c->step_a < 0 || c->step_b < 0) return false;
    d->a = p->b;
    d->b = p->a;
    d->d = p->c;
    d->alpha = p->alpha;
    c->align_a = blas_alignment(d->a);
    c->align_b = blas_alignment(d->b);
    c->align_d = blas_alignment(d->d);
    return blas_front(p, c, d);
}

static std::mutex blas_lock; /* of all below, and of a descriptor's bias until its launch */

#ifdef TNC_EMULATED
/* --- in emulation ----------------------------------------------------------------------------- */

/* The call taken literally, in double: tests see strides, transpositions, leading dimensions. */
__global__ void tnc_blas_loops(tnc_blas_call c, tnc_blas_data d, int bytes, char *workspace,
                               int64_t room) {
    const int dtype = (int)c.dtype;
    for (int64_t i = TNC_FIRST(); i < room; i += TNC_STEP()) workspace[i] = 0;
    for (int64_t i = TNC_FIRST(); i < c.m * c.n * c.batches; i += TNC_STEP()) {
        const int64_t r = i % c.m, q = i / c.m % c.n, batch = i / c.m / c.n;
        double sum = 0;
        for (int64_t k = 0; k < c.k; k++) {
            const int64_t a = batch * c.step_a + (c.turn_a ? k + r * c.lda : r + k * c.lda),
                          b = batch * c.step_b + (c.turn_b ? q + k * c.ldb : k + q * c.ldb);
            sum += tnc_load_real<double>(d.a + a * bytes, dtype) *
                   tnc_load_real<double>(d.b + b * bytes, dtype);
        }
        sum *= d.alpha;
        if (d.beta != 0)
            sum += d.beta * tnc_load_real<double>(d.c + (r + q * c.ldc) * bytes, dtype);
        if (c.biased) sum += tnc_load_real<double>(d.bias + r * bytes, dtype);
        tnc_store_real(d.d + (batch * c.step_d + r + q * c.ldd) * bytes, dtype, sum);
    }
}
struct blas_plan {
    tnc_blas_call call;
    int64_t workspace; /* bytes */
};
/* Whether it is there. */
static bool blas_handle(int64_t) { return emu_number("EMU_BLAS", 0) != 0; }
static bool blas_make(blas_plan *p, const tnc_blas_call *c) {
    p->call = *c;
    p->workspace = 64;
    return true;
}
static void blas_drop(blas_plan *p) { memset(p, 0, sizeof *p); }
#else
/* --- the library ------------------------------------------------------------------------------ */

/* As in cublasLt.h of CUDA 12 and 13. */
typedef struct blas_handle *blas_handle_t;
typedef struct blas_opaque *blas_opaque_t; /* a descriptor, layout or preference */
struct blas_algorithm {
    uint64_t data[8];
};
struct blas_heuristic {
    blas_algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};
enum {
    BLAS_R_32F = 0,
    BLAS_R_64F = 1,
    BLAS_R_16F = 2,
    BLAS_R_16BF = 14,
    BLAS_COMPUTE_32F = 68,
    BLAS_COMPUTE_64F = 70,
    BLAS_COMPUTE_TF32 = 77,
    BLAS_TRANSPOSED = 1,
    BLAS_LAYOUT_BATCHES = 5,
    BLAS_LAYOUT_STEP = 6,
    BLAS_DESC_TURN_A = 3,
    BLAS_DESC_TURN_B = 4,
    BLAS_DESC_EPILOGUE = 7,
    BLAS_DESC_BIAS = 8,
    BLAS_EPILOGUE_BIAS = 4,
    BLAS_PREFER_WORKSPACE = 1,
    BLAS_PREFER_ALIGN_A = 5, /* b, c, d: one more each */
    BLAS_WORKSPACE = 32 << 20
};

/* The functions that are used. */
#define BLAS_FUNCTIONS(X)                                                                          \
    X(Create, (blas_handle_t *))                                                                   \
    X(MatmulDescCreate, (blas_opaque_t *, int compute, int scale))                                 \
    X(MatmulDescSetAttribute, (blas_opaque_t, int, const void *, size_t))                          \
    X(MatmulDescDestroy, (blas_opaque_t))                                                          \
    X(MatrixLayoutCreate, (blas_opaque_t *, int type, uint64_t rows, uint64_t cols, int64_t ld))   \
    X(MatrixLayoutSetAttribute, (blas_opaque_t, int, const void *, size_t))                        \
    X(MatrixLayoutDestroy, (blas_opaque_t))                                                        \
    X(MatmulPreferenceCreate, (blas_opaque_t *))                                                   \
    X(MatmulPreferenceSetAttribute, (blas_opaque_t, int, const void *, size_t))                    \
    X(MatmulPreferenceDestroy, (blas_opaque_t))                                                    \
    X(MatmulAlgoGetHeuristic,                                                                      \
      (blas_handle_t, blas_opaque_t, blas_opaque_t, blas_opaque_t, blas_opaque_t, blas_opaque_t,   \
       blas_opaque_t, int, blas_heuristic *, int *))                                               \
    X(Matmul, (blas_handle_t, blas_opaque_t, const void *alpha, const void *, blas_opaque_t,       \
               const void *, blas_opaque_t, const void *beta, const void *, blas_opaque_t, void *, \
               blas_opaque_t, const blas_algorithm *, void *, size_t, cudaStream_t))
struct blas_library {
#define BLAS_MEMBER(name, parameters) int(*name) parameters;
    BLAS_FUNCTIONS(BLAS_MEMBER)
#undef BLAS_MEMBER
};

static blas_library blas;
static blas_handle_t blas_handles[TNC_DEVICES];

/* Opens the library; false: there is none, or it lacks a function. */
static bool blas_open(void) {
#if defined _WIN32 || defined __HIP__
    return false;
#else
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
    void *at = NULL;
    bool whole = true;
    for (int i = 0; i < 2 && !at; i++) at = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!at) return false;
#define BLAS_FIND(name, parameters)                \
    {                                              \
        void *found = dlsym(at, "cublasLt" #name); \
        memcpy(&blas.name, &found, sizeof found);  \
        whole = whole && found;                    \
    }
    BLAS_FUNCTIONS(BLAS_FIND)
#undef BLAS_FIND
    return whole;
#endif
}
static bool blas_handle(int64_t device) {
    static const bool there = blas_open();
    if (!there) return false;
    if (!blas_handles[device] && (cudaSetDevice((int)device) || blas.Create(&blas_handles[device])))
        blas_handles[device] = NULL;
    return blas_handles[device] != NULL;
}

enum { BLAS_A, BLAS_B, BLAS_C, BLAS_D, BLAS_SIDES };
struct blas_plan {
    blas_opaque_t desc, layout[BLAS_SIDES];
    blas_heuristic best;
    int64_t workspace; /* bytes */
};

static int blas_type(int64_t dtype) {
    switch (dtype) {
    case TN_F64: return BLAS_R_64F;
    case TN_F16: return BLAS_R_16F;
    case TN_BF16: return BLAS_R_16BF;
    default: return BLAS_R_32F;
    }
}
static bool blas_layout(blas_opaque_t *to, const tnc_blas_call *c, int64_t rows, int64_t cols,
                        int64_t ld, int64_t step) {
    const int32_t batches = (int32_t)c->batches;
    return !blas.MatrixLayoutCreate(to, blas_type(c->dtype), (uint64_t)rows, (uint64_t)cols, ld) &&
           !blas.MatrixLayoutSetAttribute(*to, BLAS_LAYOUT_BATCHES, &batches, sizeof batches) &&
           !blas.MatrixLayoutSetAttribute(*to, BLAS_LAYOUT_STEP, &step, sizeof step);
}
static bool blas_describe(blas_plan *p, const tnc_blas_call *c) {
    const bool f64 = c->dtype == TN_F64;
    const int compute = f64                                ? BLAS_COMPUTE_64F
                        : c->dtype == TN_F32 && tnc_tf32() ? BLAS_COMPUTE_TF32
                                                           : BLAS_COMPUTE_32F;
    const int32_t turned = BLAS_TRANSPOSED, biased = BLAS_EPILOGUE_BIAS;
    if (blas.MatmulDescCreate(&p->desc, compute, f64 ? BLAS_R_64F : BLAS_R_32F)) return false;
    if (c->turn_a && blas.MatmulDescSetAttribute(p->desc, BLAS_DESC_TURN_A, &turned, sizeof turned))
        return false;
    if (c->turn_b && blas.MatmulDescSetAttribute(p->desc, BLAS_DESC_TURN_B, &turned, sizeof turned))
        return false;
    if (c->biased &&
        blas.MatmulDescSetAttribute(p->desc, BLAS_DESC_EPILOGUE, &biased, sizeof biased))
        return false;
    return blas_layout(&p->layout[BLAS_A], c, c->turn_a ? c->k : c->m, c->turn_a ? c->m : c->k,
                       c->lda, c->step_a) &&
           blas_layout(&p->layout[BLAS_B], c, c->turn_b ? c->n : c->k, c->turn_b ? c->k : c->n,
                       c->ldb, c->step_b) &&
           blas_layout(&p->layout[BLAS_C], c, c->m, c->n, c->ldc, c->step_d) &&
           blas_layout(&p->layout[BLAS_D], c, c->m, c->n, c->ldd, c->step_d);
}
/* The library's own choice of an algorithm, for pointers of such alignments. */
static bool blas_choose(blas_plan *p, const tnc_blas_call *c) {
    const int64_t align[BLAS_SIDES] = {c->align_a, c->align_b, c->align_c, c->align_d};
    const uint64_t workspace = BLAS_WORKSPACE;
    blas_opaque_t prefer = NULL;
    int found = 0;
    bool ok = !blas.MatmulPreferenceCreate(&prefer) &&
              !blas.MatmulPreferenceSetAttribute(prefer, BLAS_PREFER_WORKSPACE, &workspace,
                                                 sizeof workspace);
    for (int i = 0; i < BLAS_SIDES; i++) {
        const uint32_t bytes = (uint32_t)align[i];
        ok = ok && !blas.MatmulPreferenceSetAttribute(prefer, BLAS_PREFER_ALIGN_A + i, &bytes,
                                                      sizeof bytes);
    }
    ok = ok &&
         !blas.MatmulAlgoGetHeuristic(blas_handles[c->device], p->desc, p->layout[BLAS_A],
                                      p->layout[BLAS_B], p->layout[BLAS_C], p->layout[BLAS_D],
                                      prefer, 1, &p->best, &found) &&
         found == 1 && p->best.state == 0;
    if (prefer) blas.MatmulPreferenceDestroy(prefer);
    p->workspace = (int64_t)p->best.workspace;
    return ok;
}
static void blas_drop(blas_plan *p) {
    if (p->desc) blas.MatmulDescDestroy(p->desc);
    for (int i = 0; i < BLAS_SIDES; i++)
        if (p->layout[i]) blas.MatrixLayoutDestroy(p->layout[i]);
    memset(p, 0, sizeof *p);
}
static bool blas_make(blas_plan *p, const tnc_blas_call *c) {
    return blas_describe(p, c) && blas_choose(p, c);
}
#undef BLAS_FUNCTIONS
#endif

/* --- plans ------------------------------------------------------------------------------------ */

static tnc_plans<tnc_blas_call, blas_plan> blas_plans;

static int64_t blas_most(void) {
#ifdef TNC_EMULATED
    return emu_number("EMU_BLAS_PLANS", 1 << 14);
#else
    return 1 << 14;
#endif
}
/* The call's plan; NULL: it has none. Where other threads' calls have driven out the one that
 * prepare found, run makes it anew, and it may want more workspace. */
static blas_plan *blas_plan_of(const tnc_blas_call *c) {
    return blas_handle(c->device) ? blas_plans.find(*c, blas_most(), blas_make, blas_drop) : NULL;
}

/* Whether prepare has asked for as much workspace as the plan wants now. */
static bool blas_has_room(const tn_frame *f, const blas_plan *p) {
    return p->workspace <= (int64_t)f->scratch_bytes;
}
#ifdef TNC_EMULATED
static bool blas_ready(const tnc_blas_call *c, int64_t *bytes) {
    std::lock_guard<std::mutex> hold(blas_lock);
    blas_plan *p = blas_plan_of(c);
    if (!p) return false;
    *bytes = p->workspace;
    if (emu_number("EMU_BLAS", 0) == 3) p->workspace += 64;
    if ((int64_t)blas_plans.all->size() > blas_most())
        emu_stop("%lld plans of products are kept", (long long)blas_plans.all->size());
    if (c->lda < (c->turn_a ? c->k : c->m) || c->ldb < (c->turn_b ? c->n : c->k) || c->ldc < c->m ||
        c->ldd < c->m)
        emu_stop("a leading dimension is too small for %lld rows", (long long)c->m);
    return true;
}
static bool blas_go(const tn_frame *f, const tnc_blas_call *c, const tnc_blas_data *d) {
    std::lock_guard<std::mutex> hold(blas_lock);
    const blas_plan *p = blas_plan_of(c);
    if (!p || !blas_has_room(f, p)) return false;
    TNC_LAUNCH_PLAIN(tnc_blas_loops, tnc_blocks(c->m * c->n * c->batches, 128), 128, tnc_stream(f),
                     p->call, *d, tnc_dtype_bytes((int)c->dtype), (char *)f->scratch, p->workspace);
    return emu_number("EMU_BLAS", 0) != 2; /* 2: refuses what it took */
}
#else
static bool blas_ready(const tnc_blas_call *c, int64_t *bytes) {
    std::lock_guard<std::mutex> hold(blas_lock);
    const blas_plan *p = blas_plan_of(c);
    if (!p) return false;
    *bytes = p->workspace;
    return true;
}
static bool blas_go(const tn_frame *f, const tnc_blas_call *c, const tnc_blas_data *d) {
    std::lock_guard<std::mutex> hold(blas_lock);
    const blas_plan *p = blas_plan_of(c);
    if (!p || !blas_has_room(f, p) || cudaSetDevice((int)c->device)) return false;
    const float alpha = (float)d->alpha, beta = (float)d->beta;
    const bool f64 = c->dtype == TN_F64;
    if (c->biased && blas.MatmulDescSetAttribute(p->desc, BLAS_DESC_BIAS, &d->bias, sizeof d->bias))
        return false;
    return !blas.Matmul(blas_handles[c->device], p->desc, f64 ? (const void *)&d->alpha : &alpha,
                        d->a, p->layout[BLAS_A], d->b, p->layout[BLAS_B],
                        f64 ? (const void *)&d->beta : &beta, d->c, p->layout[BLAS_C], d->d,
                        p->layout[BLAS_D], &p->best.algorithm, f->scratch, (size_t)p->workspace,
                        tnc_stream(f));
}
#endif

/* --- for products.cu -------------------------------------------------------------------------- */

TNC_PRIV bool tnc_blas_takes(const tn_frame *f, const tnc_product *p, int64_t *bytes) {
    tnc_blas_call c;
    tnc_blas_data d;
    *bytes = 0;
    return !tnc_exact() && blas_call_of(f, p, &c, &d) && blas_ready(&c, bytes);
}
TNC_PRIV bool tnc_blas_run(const tn_frame *f, const tnc_product *p) {
    tnc_blas_call c;
    tnc_blas_data d;
    return blas_call_of(f, p, &c, &d) && blas_go(f, &c, &d);
}
