/* grouped.c - products of matrices in groups, whose ends a tensor gives: grouped_mm. */
#include "../../call/arguments.h"
#include "../../call/rowform.h"
#include "../../cpu/matmul.h"
#include "../indexing/index.h"
#include "../../api/ops/linalg.h"
#include "../../api/ops/shape.h"

/* --- checks ----------------------------------------------------------------------------------- */

static bool grouped_options(tn_frame *f) {
    TN_ARGS(grouped_mm, a, f);
    const tn_tensor *x = a->mat_a, *w = a->mat_b;
    if (!tni_is_float(x->dtype))
        return tn_fail(f, TN_TYPE,
                       "Expected mat_a to be Float32, BFloat16 or Float16 matrix, got %s",
                       tni_dtype(x->dtype)->text);
    if (x->dtype != w->dtype)
        return tn_fail(f, TN_TYPE, "Expected mat_a and mat_b to have the same dtype, got %s and %s",
                       tni_dtype(x->dtype)->text, tni_dtype(w->dtype)->text);
    if (a->bias) return tn_fail(f, TN_INVALID, "Bias not supported yet");
    return a->out_dtype == TN_NO_DTYPE || a->out_dtype == (tn_dtype)x->dtype ||
           tn_fail(f, TN_TYPE, "Grouped gemm output dtype must match `mat_a` dtype");
}
/* The number of groups, or -1 with an error. */
static int64_t grouped_count(tn_frame *f) {
    TN_ARGS(grouped_mm, a, f);
    const tn_tensor *x = a->mat_a, *w = a->mat_b, *offs = a->offs;
    const bool x2 = x->ndim == 2, w2 = w->ndim == 2;
    const char *wrong = NULL;
    if (!x2 && x->ndim != 3)
        wrong = "mat_a has to be 2 or 3d";
    else if (!w2 && w->ndim != 3)
        wrong = "mat_b has to be 2 or 3d";
    else if ((x2 || w2) != (offs != NULL))
        wrong = "Have to provide offsets if there is a 2d matrix, or no offset if both matrices "
                "are 3d";
    else if (!(x2 && w2) && x->size[x->ndim - 1] != w->size[w->ndim - 2])
        wrong = "contraction dimension of mat_a and mat_b must match";
    else if (x2 && w2 && x->size[1] != w->size[0])
        wrong = "contraction dimension of mat_a and mat_b must match";
    else if (offs && offs->ndim != 1)
        wrong = "offs has to be 1D";
    else if (offs && offs->dtype != TN_I32)
        wrong = "Offsets have to be int32";
    else if (!offs && x->size[0] != w->size[0])
        wrong = "batched dimension has to match";
    else if (offs && !(x2 && w2) && offs->size[0] != (x2 ? w : x)->size[0])
        wrong = "matrix batch sizes have to match";
    if (wrong) return tn_fail(f, TN_INVALID, "%s", wrong), -1;
    return offs ? offs->size[0] : x->size[0];
}
/* What a product of all rows and columns at once needs is enough for each group. */
static bool grouped_scratch(tn_frame *f, int64_t m, int64_t k, int64_t n) {
    const int dtype = f->in[0]->dtype;
    const bool half = dtype == TN_F16 || dtype == TN_BF16;
    const bool columns = f->in[0]->ndim == 3 && f->in[1]->ndim == 2; /* of one wide result */
    const int64_t bytes = half ? 4 : tni_dtype_size(f->in[0]);
    int64_t tall, mn, all = 0;
    bool fits = true;
    if (half)
        fits = tni_matmul_half_floats(m, k, n, &all);
    else if (f->in[0]->stride[f->in[0]->ndim - 1] != 1) /* an operand is packed */
        fits = tni_add(m, 64, &tall) && tni_mul(tall, k, &all);
    if (!fits || !tni_mul(m, n, &mn) || !tni_add(all, 64, &all) ||
        !tni_add(all, columns ? mn : 0, &all))
        return tn_fail(f, TN_MEMORY, "the product is too large");
    return tn_scratch(f, all, bytes);
}
static bool grouped_mm_check(tn_frame *f) {
    const tn_tensor *x = f->in[0], *w = f->in[1];
    int64_t size[3];
    if (!grouped_options(f)) return false;
    size[0] = grouped_count(f);
    if (size[0] < 0) return false;
    size[1] = x->size[x->ndim - 2];
    size[2] = w->size[w->ndim - 1];
    const bool one = x->ndim != w->ndim; /* the groups lie beside each other in one matrix */
    return tn_announce(f, 0, (tn_dtype)x->dtype, one ? 2 : 3, one ? size + 1 : size) &&
           grouped_scratch(f, size[1], x->size[x->ndim - 1], size[2]);
}
static int64_t grouped_end(const tn_tensor *offs, int64_t g) {
    return g < 0 ? 0
                 : tni_index_at((const char *)tni_bytes_at(offs) + g * offs->stride[0] * 4, TN_I32);
}
static bool grouped_mm_look(tn_frame *f) {
    const tn_tensor *x = f->in[0], *w = f->in[1], *offs = f->in[2];
    if (!offs) return true;
    const int64_t all = x->ndim == 3 ? w->size[1] : w->ndim == 3 ? x->size[0] : x->size[1];
    for (int64_t g = 0; g < offs->size[0]; g++) {
        const int64_t begin = grouped_end(offs, g - 1), end = grouped_end(offs, g);
        if (end < begin || end > all)
            return tn_fail(f, TN_INVALID,
                           "offs must not fall, and lie in 0..%lld, but %lld follows %lld",
                           (long long)all, (long long)end, (long long)begin);
    }
    return true;
}

/* --- the loop --------------------------------------------------------------------------------- */

/* A header of group g of t: its rows or columns (d: 0 or 1) from begin to end, or matrix g. */
typedef struct grouped_part {
    tn_tensor t;
    int64_t size[2], stride[2];
} grouped_part;
static void grouped_part_of(grouped_part *p, const tn_tensor *t, int d, int64_t g, int64_t begin,
                            int64_t end) {
    const int i = t->ndim - 2;
    int64_t offset = t->offset;
    for (int k = 0; k < 2; k++) {
        p->size[k] = t->size[i + k];
        p->stride[k] = t->stride[i + k];
    }
    if (t->ndim == 3) {
        offset += g * t->stride[0];
    } else {
        offset += begin * p->stride[d];
        p->size[d] = end - begin;
    }
    tni_stack_view(&p->t, t, 2, p->size, p->stride, offset);
}
/* A group's columns of the result, which lie apart, are made in scratch and copied. */
static void grouped_mm_run(tn_frame *f) {
    const tn_tensor *x = f->in[0], *w = f->in[1], *offs = f->in[2];
    tn_tensor *out = f->out[0];
    const int64_t bytes = tni_dtype_size(x), wide = out->size[out->ndim - 1];
    const int64_t groups = offs ? offs->size[0] : x->size[0];
    const bool columns = x->ndim == 3 && w->ndim == 2;
    char *const to = (char *)tni_bytes_at(out);
    if (!out->numel) return;
    /* What lies behind the last group is 0. */
    if (out->ndim == 2) memset(to, 0, (size_t)(out->numel * bytes));
    for (int64_t g = 0; g < groups; g++) {
        const int64_t begin = offs ? grouped_end(offs, g - 1) : 0,
                      end = offs ? grouped_end(offs, g) : 0;
        grouped_part a, b;
        tni_matmul_plan p;
        char *at;
        grouped_part_of(&a, x, w->ndim == 3 ? 0 : 1, g, begin, end);
        grouped_part_of(&b, w, x->ndim == 3 ? 1 : 0, g, begin, end);
        if (!tni_matmul_plan_of(&p, &a.t, &b.t) || p.m * p.n == 0) continue;
        at = columns          ? (char *)f->scratch
             : out->ndim == 2 ? to + begin * wide * bytes
                              : to + g * p.m * p.n * bytes;
        tni_matmul_run(
            f->block->context, &p, x->dtype, tni_bytes_at(&a.t), tni_bytes_at(&b.t), at, 1, false,
            columns ? (char *)f->scratch + (p.m * p.n * bytes + 63) / 64 * 64 : f->scratch);
        for (int64_t i = 0; columns && i < p.m; i++)
            memcpy(to + (i * wide + begin) * bytes, at + i * p.n * bytes, (size_t)(p.n * bytes));
    }
}

static void grouped_mm_grad(tn_gradient *g) {
    tn_tensor *d = g->incoming[0], *offs = g->in[2];
    if (g->want[0])
        tn_give(g, 0, tnp_grouped_mm(d, tnp_transpose(g->in[1], -2, -1), offs, NULL, TN_NO_DTYPE));
    if (g->want[1])
        tn_give(g, 1, tnp_grouped_mm(tnp_transpose(g->in[0], -2, -1), d, offs, NULL, TN_NO_DTYPE));
}
/* One product a group. A tensor of three dimensions has a matrix for each; one of two is cut where
 * offs says that groups end: the rows of mat_a, or the columns of mat_b, if the other has three
 * dimensions; if both have two, the columns of mat_a and the rows of mat_b, and each group gives a
 * matrix. What lies behind the last end is 0 in the result. A bias is refused, as in torch. */
TN_OPERATOR(
    grouped_mm,
    "_grouped_mm(Tensor mat_a, Tensor mat_b, *, Tensor? offs=None, Tensor? bias=None, ScalarType? "
    "out_dtype=None) -> Tensor",
    TN_DOC(.shapes = "mat_a (M, K) or (G, M, K), mat_b (K, N) or (G, K, N), offs (G) int32 -> (M, "
                     "N) if one has two dimensions, else (G, M, N), floating",
           .example = "tn_grouped_mm(x, weight, .offs = tokens)",
           .differs =
               "parameter offs: by keyword, as in nn.functional | parameter bias: the same | "
               "parameter out_dtype: the same",
           .python = "nn.functional.grouped_mm"),
    .needs = "mat_a:mat_b,offs mat_b:mat_a,offs", .check = grouped_mm_check,
    .look = grouped_mm_look, .run = grouped_mm_run, .grad = grouped_mm_grad,
    .sample = "(8,16) (3,16,8) offs=(3):i32:ascending<9 | (3,8,16) (16,24) "
              "offs=(3):i32:ascending<25 | (8,24) (24,16) offs=(2):i32:ascending<25 | (2,8,16) "
              "(2,16,8) | (0,8) (2,8,8) offs=(2):i32:ascending<1 | (7,3) (2,3,5) "
              "offs=(2):i32:ascending<6 | (2,5,3) (3,7) offs=(2):i32:ascending<6 | (200,70) "
              "(2,70,210) offs=(2):i32:ascending<201 | (0,4,8) (0,8,4)")
