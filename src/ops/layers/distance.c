/* distance.c - distances and angles between vectors, pair by pair. */
#include "loss.h"
#include "../../cpu/drive.h"
#include "../../api/ops/elementwise.h"
#include "../../api/ops/layers.h"
#include "../../api/ops/reduction.h"
#include "../../api/ops/shape.h"
#include "../../call/rowform.h"

static bool pairwise_distance_compose(tn_frame *f) {
    TN_ARGS(pairwise_distance, a, f);
    const int64_t last = -1;
    tn_tensor *d = tnp_add_scalar(tnp_sub(a->x1, a->x2, 1), tn_float(a->eps), 1);
    return (f->out[0] = tnp_norm(d, tn_float(a->p), tni_ints(&last, 1), a->keepdim, TN_NO_DTYPE)) !=
           NULL;
}
/* The p-norm of x1 - x2 + eps along the last dimension. */
TN_OPERATOR(pairwise_distance,
            "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool "
            "keepdim=False) -> Tensor",
            TN_DOC(.shapes = "x1, x2 (*, D), broadcast together -> (*), or (*, 1) with keepdim",
                   .example = "tn_pairwise_distance(x, y)",
                   .python = "nn.functional.pairwise_distance"),
            .compose = pairwise_distance_compose,
            .sample = "(4,3) (4,3) | (3) (2,3) 1 0.0 True | (2,5) (2,1) 3 | () () | (0,3) (0,3) | "
                      "(2,4) (2,4) inf | (2,4) (2,4) 0.25 | (3,40) (3,40)")

/* x over its length along dim, which counts as at least eps. */
static tn_tensor *cosine_direction(tn_tensor *x, int64_t dim, double eps) {
    tn_tensor *length = tnp_linalg_vector_norm(x, 2, tni_ints(&dim, 1), true, TN_NO_DTYPE);
    return tnp_div(x, tni_at_least(length, eps));
}
static bool cosine_similarity_compose(tn_frame *f) {
    TN_ARGS(cosine_similarity, a, f);
    tn_tensor *x[2] = {a->x1, a->x2};
    const int dtype = (int)tn_promote((tn_dtype)a->x1->dtype, (tn_dtype)a->x2->dtype);
    tni_shape s;
    /* Floats keep their dtypes, as in torch; both get the common shape, where dim counts. */
    if (!dtype) return tni_no_common_type(f, x, 2);
    if (!tni_is_float(dtype))
        return tn_fail(f, TN_TYPE, "expected a common dtype that is floating, got %s",
                       tni_dtype(dtype)->text);
    if (!tni_broadcast_all(f, &s, x, 2)) return false;
    for (int k = 0; k < 2; k++) {
        if (!tni_is_float(x[k]->dtype)) x[k] = tnp_to_dtype(x[k], (tn_dtype)dtype, false, false);
        x[k] = tnp_expand(x[k], tni_ints(s.size, s.ndim), false);
        x[k] = x[k] ? cosine_direction(x[k], a->dim, a->eps) : NULL;
    }
    return (f->out[0] = tnp_sum(tnp_mul(x[0], x[1]), tni_ints(&a->dim, 1), false, TN_NO_DTYPE)) !=
           NULL;
}
/* x1 . x2 / (|x1| |x2|) along dim of the shape to which both broadcast, where each length counts as
 * at least eps. */
TN_OPERATOR(
    cosine_similarity,
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    TN_DOC(.shapes = "x1, x2 (*), broadcast together -> (*) without dim",
           .example = "tn_cosine_similarity(x, y)", .python = "nn.functional.cosine_similarity"),
    .autocast = TN_WIDE_CUDA, .compose = cosine_similarity_compose,
    .sample = "(4,3) (4,3) | (2,3) (3) -1 | (2,3,4) (2,1,4) 0 0.001 | () () 0 | (0,3) (0,3) | "
              "(3,40) (3,40)")
