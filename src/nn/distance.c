/* distance.c - distances and angles of pairs of vectors as modules. */
#include "nn.h"
#include "../api/ops/layers.h"

static bool cosine_similarity_forward(tn_mframe *f) {
    TN_FORWARD(cosine_similarity, s, a, f);
    return (f->out[0] = tnp_cosine_similarity(a->x1, a->x2, s->o.dim, s->o.eps)) != NULL;
}
/* x1 . x2 / (|x1| |x2|) along dim, where each length counts as at least eps. */
TN_MODULE(cosine_similarity, "CosineSimilarity(int dim=1, float eps=1e-08)",
          TN_DOC(.shapes = "x1, x2 (*), broadcast together -> (*) without dim",
                 .example = "tn_nn_cosine_similarity(.dim = -1)"),
          .call = "(Tensor x1, Tensor x2) -> Tensor", .forward = cosine_similarity_forward,
          .sample = ": (4,3) (4,3) | 0 0.1: (4) (4)")

static bool pairwise_distance_forward(tn_mframe *f) {
    TN_FORWARD(pairwise_distance, s, a, f);
    return (f->out[0] = tnp_pairwise_distance(a->x1, a->x2, s->o.p, s->o.eps, s->o.keepdim)) !=
           NULL;
}
/* The p-norm of x1 - x2 + eps along the last dimension. */
TN_MODULE(pairwise_distance, "PairwiseDistance(float p=2.0, float eps=1e-06, bool keepdim=False)",
          TN_DOC(.shapes = "x1, x2 (*, D), broadcast together -> (*), or (*, 1) with keepdim",
                 .example = "tn_nn_pairwise_distance(.p = 1)"),
          .call = "(Tensor x1, Tensor x2) -> Tensor", .forward = pairwise_distance_forward,
          .sample = ": (4,3) (4,3) | 1 0.0 True: (4) (4)")
