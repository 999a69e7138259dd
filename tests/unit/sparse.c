/* sparse.c - sparse tensors in C: gradients of embeddings, their sums, operators that refuse them,
 * and memory that runs out. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/api/sparse.h"
#include "../../src/api/vmap.h"
#include "../check.h"

static bool refused(tn_code code, const char *text) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    const bool there = tn_error_take(&e) && e.code == code && strstr(e.message, text);
    if (!there) printf("    got %s\n", e.message);
    return there;
}
static tn_tensor *numbers(int64_t rows, int64_t columns) {
    return tn_clone(tn_reshape(tn_arange(rows * columns, .dtype = TN_F32), TN_DIMS(rows, columns)));
}
static tn_tensor *dense_of(tn_tensor *t) {
    return tn_sparse_to_dense(tn_sparse_part(t, 0), tn_sparse_part(t, 1), tn_shape(t));
}

/* --- gradients -------------------------------------------------------------------------------- */

static tn_tensor *tokens(void) {
    const int64_t at[4] = {1, 3, 3, 0};
    return tn_from_i64(at, TN_DIMS(2, 2));
}
static tn_tensor *loss(tn_tensor *table) {
    tn_tensor *y = tn_embedding(table, tokens(), .padding_idx = 0, .sparse = true);
    return tn_sum(tn_mul(y, y));
}
static void an_embedding_has_a_sparse_gradient(void) {
    TN_SCOPE {
        tn_tensor *table = tn_requires_grad(numbers(5, 2)), *g, *again[1];
        CHECK(tn_backward(loss(table)));
        g = tn_grad_of(table);
        CHECK(tn_sparse_layout(g) == TN_SPARSE_COO && !tn_is_coalesced(g) && !tn_data(g));
        CHECK_EQ(tn_size(tn_sparse_part(g, 0), 1), 3); /* the padding row has none */
        CHECK_EQ(tn_item(tn_sum(dense_of(g))), 2 * (2 + 3 + 2 * (6 + 7)));
        CHECK(tn_backward(loss(table))); /* added: side by side */
        CHECK_EQ(tn_size(tn_sparse_part(tn_grad_of(table), 0), 1), 6);
        CHECK(tn_backward(tn_sum(table))); /* and to a dense one */
        g = tn_grad_of(table);
        CHECK(tn_sparse_layout(g) == TN_STRIDED);
        CHECK_EQ(tn_item(tn_sum(g)), 10 + 4 * (2 + 3 + 2 * (6 + 7)));
        CHECK(tn_backward(loss(table))); /* the other way round */
        CHECK(tn_sparse_layout(tn_grad_of(table)) == TN_STRIDED);
        CHECK(tn_grads(TN_LIST(loss(table)), TN_LIST(table), again, NULL));
        CHECK(tn_sparse_layout(again[0]) == TN_SPARSE_COO);
        /* A row of the tape gets a dense one. */
        tn_zero_grad(table);
        CHECK(tn_backward(loss(tn_mul(table, tn_ones(TN_DIMS(5, 2))))));
        CHECK(tn_sparse_layout(tn_grad_of(table)) == TN_STRIDED);
        CHECK(tn_error_print() == 0);
    }
}

/* As torch: where more places stand there than the table has elements, each stands once. */
static void sums_of_sparse_gradients_are_bounded(void) {
    TN_SCOPE {
        tn_tensor *table = tn_requires_grad(numbers(5, 1)), *g;
        for (int i = 1; i <= 20; i++) {
            CHECK(tn_backward(tn_sum(tn_embedding(table, tokens(), .sparse = true))));
            g = tn_grad_of(table);
            CHECK(tn_sparse_layout(g) == TN_SPARSE_COO && tn_size(tn_sparse_part(g, 0), 1) <= 5);
            CHECK(tn_is_coalesced(g) == (tn_size(tn_sparse_part(g, 0), 1) == 3));
            CHECK_EQ(tn_item(tn_select(dense_of(g), 0, 3)), 2 * i);
            CHECK_EQ(tn_item(tn_sum(dense_of(g))), 4 * i);
        }
    }
}

/* It requires grad if its values do, and gets theirs at its places. */
static void a_leaf_has_the_gradient_of_its_values(void) {
    TN_SCOPE {
        const int64_t at[4] = {0, 1, 2, 0};
        tn_tensor *x = numbers(3, 2), *s, *y, *g[1];
        s = tn_sparse_coo(tn_from_i64(at, TN_DIMS(2, 2)), tn_ones(TN_DIMS(2)), TN_DIMS(2, 3));
        CHECK(!tn_needs_grad(s) && tn_requires_grad(s) && tn_needs_grad(s) && tn_is_leaf(s));
        y = tn_sparse_mm(tn_sparse_part(s, 0), tn_sparse_part(s, 1), 2, x);
        CHECK(tn_grads(TN_LIST(tn_sum(y)), TN_LIST(s), g, NULL));
        CHECK(tn_sparse_layout(g[0]) == TN_SPARSE_COO && tn_size(g[0], 1) == 3);
        CHECK_EQ(tn_item(tn_select(tn_sparse_part(g[0], 1), 0, 0)), 9);
        CHECK(tn_detach_(s) && !tn_needs_grad(s));
    }
}

/* --- errors ----------------------------------------------------------------------------------- */

static void operators_refuse_it_by_name(void) {
    TN_SCOPE {
        const int64_t at[2] = {0, 1};
        tn_tensor *values = tn_ones(TN_DIMS(2)), *x = numbers(2, 2), *s, *list[2];
        s = tn_sparse_coo(tn_from_i64(at, TN_DIMS(1, 2)), values, TN_DIMS(2));
        CHECK(!tn_exp(s) && refused(TN_UNSUPPORTED, "'self' has layout sparse_coo, of which exp"));
        CHECK(!tn_add(x, s) && refused(TN_UNSUPPORTED, "'other' has layout sparse_coo"));
        list[0] = x;
        list[1] = s;
        CHECK(!tn_cat(tn_tensors_of(list, 2)) && refused(TN_UNSUPPORTED, "of which cat"));
        CHECK(!tn_zeros_like(s) && refused(TN_UNSUPPORTED, "sparse_coo"));
        CHECK(!tn_view(s, TN_DIMS(1, 2)) && refused(TN_UNSUPPORTED, "sparse_coo"));
        CHECK(!tn_exp(values, .out = s) && refused(TN_UNSUPPORTED, "out has layout sparse_coo"));
        CHECK(tn_item(s) == 0 && refused(TN_INVALID, ""));
        CHECK(!tn_swap_data(s, values) && refused(TN_UNSUPPORTED, "is sparse"));
        CHECK(!tn_set_grad(s, values) && refused(TN_UNSUPPORTED, "its values"));
        CHECK(!tn_sparse_set(s, values) && refused(TN_INVALID, "both must be sparse"));
        CHECK(!tn_sparse_coo(NULL, values, TN_DIMS(2)) && refused(TN_INVALID, "NULL"));
        CHECK(!tn_sparse_coo(s, values, TN_DIMS(2)) && refused(TN_UNSUPPORTED, "is sparse"));
        CHECK(tn_vmap_begin(2, TN_RANDOM_ERROR));
        CHECK(!tn_batched(s, 0) && refused(TN_UNSUPPORTED, "sparse_coo"));
        CHECK(tn_vmap_end());
    }
}

/* Each list of sizes is bounded before it is copied. */
static void sizes_are_bounded(void) {
    TN_SCOPE {
        int64_t ones[1000];
        const int64_t large[3] = {INT64_MAX, 2, 1}, below[2] = {-1, 3};
        tn_tensor *none = tn_zeros(TN_DIMS(0)), *many, *two, *three;
        tn_ints all;
        many = tn_zeros(TN_DIMS(1000, 0), .dtype = TN_I64);
        two = tn_zeros(TN_DIMS(2, 0), .dtype = TN_I64);
        three = tn_zeros(TN_DIMS(3, 0), .dtype = TN_I64);
        for (int i = 0; i < 1000; i++) ones[i] = 1;
        all = tn_ints_of(ones, 1000);
        CHECK(!tn_sparse_softmax(many, none, all, 0) && refused(TN_INVALID, "too large"));
        CHECK(!tn_sparse_coalesce(many, none, all).values && refused(TN_INVALID, "too large"));
        CHECK(!tn_sparse_to_dense(many, none, all) && refused(TN_INVALID, "too large"));
        all = tn_ints_of(large, 3);
        CHECK(!tn_sparse_softmax(three, none, all, 2) && refused(TN_INVALID, "too large"));
        CHECK(!tn_sparse_coalesce(three, none, all).values && refused(TN_INVALID, "too large"));
        all = tn_ints_of(below, 2);
        CHECK(!tn_sparse_softmax(two, none, all, 0) && refused(TN_INVALID, "negative"));
    }
}

/* Gradients are dense or COO. */
static tn_tensor *by_rows(void) {
    const int64_t ends[3] = {0, 1, 2}, at[2] = {1, 0};
    tn_tensor *parts[3];
    parts[0] = tn_from_i64(ends, TN_DIMS(3));
    parts[1] = tn_from_i64(at, TN_DIMS(2));
    parts[2] = tn_ones(TN_DIMS(2));
    return tn_sparse_new(TN_SPARSE_CSR, tn_tensors_of(parts, 3), TN_DIMS(2, 2));
}
static tn_tensor *to_rows(tn_tensor *grad, void *user) {
    (void)grad, (void)user;
    return by_rows();
}
static bool same_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f, (void)nin;
    return (out[0] = tn_clone(in[0])) != NULL;
}
static bool rows_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    (void)f, (void)grad_out;
    return (grad_in[0] = by_rows()) != NULL;
}
static void gradients_by_rows_are_refused(void) {
    static const tn_function_row row = {"Rows", 1, same_forward, rows_back, NULL};
    TN_SCOPE {
        tn_tensor *w = tn_requires_grad(numbers(2, 2)), *y = NULL;
        CHECK(!tn_backward(w, .gradient = by_rows()) && refused(TN_UNSUPPORTED, "sparse_csr"));
        y = tn_mul(w, w);
        CHECK(!tn_backward(y, .gradient = by_rows()) && refused(TN_UNSUPPORTED, "sparse_csr"));
        CHECK(!tn_set_grad(w, by_rows()) && refused(TN_UNSUPPORTED, "sparse_csr"));
        CHECK(tn_function_call(&row, tn_tensors_of(&w, 1), NULL, &y));
        CHECK(!tn_backward(tn_sum(y)) && refused(TN_UNSUPPORTED, "sparse_csr"));
        y = tn_mul(w, w);
        CHECK(tn_hook_add(y, to_rows, NULL, NULL));
        CHECK(!tn_backward(tn_sum(y)) && refused(TN_UNSUPPORTED, "sparse_csr"));
        CHECK(!tn_set_grad(w, tn_empty(TN_DIMS(2, 2), .device = TN_META)) &&
              refused(TN_INVALID, "device"));
        CHECK(!tn_grad_of(w));
    }
}

/* --- memory that runs out --------------------------------------------------------------------- */

static int64_t left = -1;
static void *failing_alloc(size_t bytes, void *user) {
    (void)user;
    if (left == 0) return NULL;
    if (left > 0) left--;
    return malloc(bytes ? bytes : 1);
}
static void failing_free(void *p, size_t bytes, void *user) {
    (void)bytes, (void)user;
    free(p);
}
static void each_allocation_may_fail(void) {
    tn_context_options o;
    tn_context *c;
    int64_t failures = 0;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = true;
    o.allocator.alloc = failing_alloc;
    o.allocator.free = failing_free;
    tn_context_use(c = tn_context_new(&o));
    TN_SCOPE {
        tn_tensor *table = tn_requires_grad(numbers(5, 2));
        for (bool done = false; !done; failures += !done)
            TN_SCOPE {
                tn_zero_grad(table);
                left = failures;
                done = tn_backward(loss(table)) && tn_backward(loss(table));
                left = -1;
                CHECK(done || refused(TN_MEMORY, ""));
                CHECK(failures < 5000);
                done = done || failures >= 5000;
            }
        CHECK_EQ(tn_size(tn_sparse_part(tn_grad_of(table), 0), 1), 6);
    }
    CHECK(failures > 50);
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_use(NULL);
    tn_context_free(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(an_embedding_has_a_sparse_gradient),
        CHECK_TEST(a_leaf_has_the_gradient_of_its_values),
        CHECK_TEST(sums_of_sparse_gradients_are_bounded),
        CHECK_TEST(operators_refuse_it_by_name),
        CHECK_TEST(sizes_are_bounded),
        CHECK_TEST(gradients_by_rows_are_refused),
        CHECK_TEST(each_allocation_may_fail),
    };
    const int failed = CHECK_MAIN(tests, argc, argv);
    return failed || tn_memory().live_tensors != 0;
}
