/* objects_groups.h - objects.c: groups of ranks, models of several ranks, batches. */
#ifndef TESTS_EDGES_OBJECTS_GROUPS_H
#define TESTS_EDGES_OBJECTS_GROUPS_H

#include "../../src/api/sparse.h"

static void nobody_leaves(void *state) { (void)state; }
static void make_groups(thing *a) {
    static tn_group_backend b = {.version = TN_GROUP_VERSION, .bytes = sizeof b, .kind = "none"};
    b.leave = nobody_leaves;
    a->t[0] = tn_take(counting(2, 2));
    a->group[0] = tn_group_threads(1);
    a->group[1] = tn_group_join(a->group[0], 0);
    a->group[2] = tn_group_split(a->group[1], 0);
    a->group[3] = tn_group_new(&b, NULL, 1, 3);
}
static void end_groups(thing *a) {
    tn_group *const before = tn_group_use(a->group[2]);
    CHECK(tn_distributed_all_reduce(a->t[0]) && tn_group_rank(a->group[3]) == 1);
    tn_group_use(before);
    for (int i = 0; i < 4; i++) {
        CHECK(a->group[i] != NULL);
        tn_group_free(a->group[i]);
    }
    end_tensors(a);
}

static void make_parallel(thing *a) {
    a->t[0] = tn_take(counting(2, 3));
    a->m = tn_sequential(tn_nn_linear(3, 2), tn_nn_batch_norm1d(2));
    a->p = tn_data_parallel(a->m);
}
static void end_parallel(thing *a) {
    TN_SCOPE {
        CHECK(a->p && tn_backward(tn_sum(tn_forward(a->m, a->t[0]))));
        CHECK(tn_grad_of(tn_parameters(a->m).at[0]) != NULL);
    }
    tn_module_free(a->m); /* held by p, too */
    tn_parallel_free(a->p);
    end_tensors(a);
}

/* --- batches and sparse tensors --------------------------------------------------------------- */

static tn_tensor *sparse_kept(void) { /* it keeps its parts, which its scope has freed */
    const int64_t at[4] = {0, 1, 2, 0}, ends[3] = {0, 1, 2};
    tn_tensor *kept = NULL;
    TN_SCOPE {
        tn_tensor *values = counting(2, 2), *indices = tn_from_i64(at, TN_DIMS(2, 2)), *parts[3];
        tn_tensor *one = tn_sparse_coo(indices, tn_select(values, 0, 1), TN_DIMS(3, 3)), *rows;
        kept = tn_take(tn_sparse_coo(indices, tn_select(values, 0, 0), TN_DIMS(3, 3)));
        CHECK(tn_set_coalesced(one, true) && tn_sparse_set(kept, one));
        parts[0] = tn_from_i64(ends, TN_DIMS(3));
        parts[1] = tn_select(indices, 0, 0);
        parts[2] = tn_select(values, 0, 1);
        rows = tn_sparse_new(TN_SPARSE_CSR, tn_tensors_of(parts, 3), TN_DIMS(2, 3));
        CHECK(tn_sparse_layout(rows) == TN_SPARSE_CSR && !tn_set_coalesced(rows, true));
    }
    CHECK(tn_sparse_layout(kept) == TN_SPARSE_COO && tn_is_coalesced(kept));
    TN_SCOPE
        CHECK(tn_item(tn_select(tn_sparse_part(kept, 1), 0, 1)) == 3);
    CHECK(!tn_sparse_part(kept, 2));
    return kept;
}

static bool summed(tn_tensor *const *in, tn_tensor **out, void *user) {
    (void)user;
    return (out[0] = tn_add(in[0], tn_batch_each(in[0]))) != NULL;
}
static void make_batches(thing *a) { /* results are the caller's, samples go with their scope */
    a->t[0] = tn_take(counting(2, 2));
    CHECK(tn_vmap(summed, tn_tensors_of(&a->t[0], 1), NULL, &a->t[1], 1, NULL, TN_RANDOM_ERROR));
    tn_take(a->t[1]);
    CHECK(tn_vmap_begin(2, TN_RANDOM_ERROR));
    TN_SCOPE {
        tn_tensor *t = tn_batched(a->t[0], 0);
        CHECK(tn_is_batched(t) && tn_owners(tn_batch_whole(t)) > 0 &&
              tn_batch_depth(t) == tn_vmap_depth());
        a->t[2] = tn_take(tn_unbatched(tn_neg(t), 1));
    }
    CHECK(tn_vmap_end());
    a->t[3] = sparse_kept();
}

#endif
