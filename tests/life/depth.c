/* depth.c - depth is limited by memory only: long chains, many uses of one tensor, diamonds, views
 * of views, nested modules are built, differentiated once and twice, and freed in a thread whose
 * stack has 256 KiB. That the work grows as the graph does is counted: gradients of the program's
 * own functions that run, blocks of memory; nothing is timed. */
#include "life.h"

enum { STACK = 256 * 1024 };

/* Length of the long chains, and of what costs more a node. */
static int64_t chain_length(void) { return life_depth() ? 1000000 : 100000; }
static int64_t fan_length(void) { return life_depth() ? 100000 : 20000; }

static tn_tensor *number(double v) {
    return tn_requires_grad(tn_full(TN_DIMS(1), v, .dtype = TN_F64));
}
static double value(tn_tensor *t) { return t ? tn_item(t) : -12345; }

/* y, of which nothing but the tape knows any more. */
static tn_tensor *onward(tn_tensor *y, tn_tensor *next) {
    tn_free(y);
    return next;
}

/* --- measured programs ------------------------------------------------------------------------ */

static int64_t nodes_run; /* gradients of functions of this file */

typedef struct program {
    const char *name;
    void (*run)(int64_t n);
    int64_t n, mallocs, nodes;
} program;

static void *program_main(void *arg) {
    program *p = (program *)arg;
    int64_t before;
    tn_context_options o = life_options(1);
    tn_context *c = life_begin(&o);
    TN_SCOPE { /* what is made once */
        tn_backward(tn_mul_scalar(number(1), 2));
    }
    before = life_mallocs, nodes_run = 0;
    p->run(p->n);
    p->mallocs = life_mallocs - before, p->nodes = nodes_run;
    life_end(c);
    return NULL;
}
static program program_run(const char *name, void (*run)(int64_t), int64_t n) {
    program p = {name, run, n, 0, 0};
    life_thread(program_main, &p, STACK);
    return p;
}

/* Twice the size is twice the work: exactly so many blocks, but for those that grow by doubling. */
static double blocks_a_node;
static void linear(const char *name, void (*run)(int64_t), int64_t n) {
    program half = program_run(name, run, n / 2), all = program_run(name, run, n);
    if (!CHECK(all.mallocs <= 2 * half.mallocs + 64) || !CHECK(all.nodes <= 2 * half.nodes + 1))
        printf("    %s: %lld and %lld blocks, %lld and %lld nodes\n", name, (long long)half.mallocs,
               (long long)all.mallocs, (long long)half.nodes, (long long)all.nodes);
    if ((double)all.mallocs / (double)n > blocks_a_node)
        blocks_a_node = (double)all.mallocs / (double)n;
}

/* --- chains ----------------------------------------------------------------------------------- */

static void chain_backward(int64_t n) {
    TN_SCOPE {
        tn_tensor *x = number(2), *y = tn_mul_scalar(x, 3);
        for (int64_t i = 1; i < n; i++) y = onward(y, tn_add_scalar(y, 1));
        CHECK(tn_backward(y));
        CHECK(value(tn_grad_of(x)) == 3);
        CHECK(value(tn_detach(y)) == 6 + (double)(n - 1));
    }
}
static void chain_freed(int64_t n) {
    TN_SCOPE {
        tn_tensor *y = tn_mul_scalar(number(1), 1);
        for (int64_t i = 1; i < n; i++) y = onward(y, tn_mul(y, y));
        CHECK(value(tn_detach(y)) == 1);
    }
}
/* g = J^T v is linear in the seed v, so its gradient runs through as many nodes again. */
static void chain_twice(int64_t n) {
    TN_SCOPE {
        tn_tensor *x = number(1), *v = number(5), *y = tn_mul_scalar(x, 1), *g[1], *h[1];
        tn_grads_options o = {&v, true, true, false};
        for (int64_t i = 1; i < n; i++) y = onward(y, tn_neg(y));
        CHECK(tn_grads(TN_LIST(y), TN_LIST(x), g, &o));
        CHECK(value(tn_detach(g[0])) == (n % 2 ? 5 : -5));
        CHECK(tn_grads(TN_LIST(g[0]), TN_LIST(v), h, NULL));
        CHECK(value(h[0]) == (n % 2 ? 1 : -1));
    }
}
/* In place: each write hangs another node before the same tensor. */
static void chain_written(int64_t n) {
    TN_SCOPE {
        tn_tensor *x = number(1), *y = tn_mul_scalar(x, 1);
        for (int64_t i = 1; i < n; i++) tn_add_scalar_(y, 1);
        CHECK(tn_backward(y));
        CHECK(value(tn_grad_of(x)) == 1);
    }
}
/* All results live until the scope ends. */
static void chain_kept(int64_t n) {
    TN_SCOPE {
        tn_tensor *x = number(1), *y = tn_mul_scalar(x, 1);
        for (int64_t i = 1; i < n; i++) y = tn_neg(y);
        CHECK(tn_backward(y));
    }
}

static void a_chain_of_a_million_nodes(void) {
    linear("chain, backward", chain_backward, chain_length());
    linear("chain, freed", chain_freed, chain_length());
    linear("chain, kept", chain_kept, chain_length() / 2);
    linear("chain, written in place", chain_written, chain_length());
}
static void a_chain_of_a_million_nodes_twice(void) {
    linear("chain, double backward", chain_twice, chain_length());
}

/* --- many uses -------------------------------------------------------------------------------- */

static void fan_of_a_leaf(int64_t n) {
    TN_SCOPE {
        tn_tensor *x = number(1), *y = tn_mul_scalar(x, 0);
        for (int64_t i = 1; i < n; i++) y = onward(y, tn_add(y, x));
        CHECK(tn_backward(y));
        CHECK(value(tn_grad_of(x)) == (double)(n - 1));
    }
}
static void fan_of_a_node(int64_t n) {
    TN_SCOPE { /* h is used n times; second derivative of (n h)^2 by x: 18 n^2 */
        tn_tensor *x = number(1), *h = tn_mul_scalar(x, 3), *y = tn_mul_scalar(h, 1), *g[1], *k[1];
        tn_grads_options o = {NULL, true, true, false};
        for (int64_t i = 1; i < n; i++) y = onward(y, tn_add(y, h));
        y = tn_mul(y, y);
        CHECK(tn_grads(TN_LIST(y), TN_LIST(x), g, &o));
        CHECK(tn_grads(TN_LIST(g[0]), TN_LIST(x), k, NULL));
        CHECK(value(k[0]) == 18 * (double)n * (double)n);
    }
}
static void joined(int64_t n, bool stacked) {
    tn_tensor **list = (tn_tensor **)malloc((size_t)n * sizeof *list);
    TN_SCOPE {
        tn_tensor *x = number(2), *g[1], *h[1], *y;
        tn_grads_options o = {NULL, true, true, false};
        for (int64_t i = 0; i < n; i++) list[i] = i % 2 ? x : tn_mul_scalar(x, 2);
        y = stacked ? tn_stack(tn_tensors_of(list, n)) : tn_cat(tn_tensors_of(list, n));
        CHECK(y && tn_size(y, 0) == n);
        y = tn_sum(tn_mul(y, y)); /* n/2 x^2 + n/2 4 x^2, derivatives 5 n x and 5 n */
        CHECK(tn_grads(TN_LIST(y), TN_LIST(x), g, &o));
        CHECK(value(tn_detach(g[0])) == 10 * (double)n);
        CHECK(tn_grads(TN_LIST(g[0]), TN_LIST(x), h, NULL));
        CHECK(value(h[0]) == 5 * (double)n);
    }
    free(list);
}
static void fan_into_cat(int64_t n) { joined(n, false); }
static void fan_into_stack(int64_t n) { joined(n, true); }

static void a_leaf_and_a_node_are_used_often(void) {
    linear("leaf used often", fan_of_a_leaf, fan_length());
    linear("node used often", fan_of_a_node, fan_length());
}
static void a_node_has_many_inputs(void) {
    linear("cat", fan_into_cat, fan_length());
    linear("stack", fan_into_stack, fan_length());
}

/* --- diamonds --------------------------------------------------------------------------------- */

static bool mean_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f, (void)nin;
    out[0] = tn_mul_scalar(tn_add(in[0], in[1]), 0.5);
    return out[0] != NULL;
}
static bool mean_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    (void)f;
    nodes_run++;
    grad_in[0] = tn_mul_scalar(grad_out[0], 0.5);
    grad_in[1] = tn_mul_scalar(grad_out[0], 0.5);
    return tn_ok();
}
static const tn_function_row mean_row = {"mean_of_two", 1, mean_forward, mean_backward, NULL};

/* 2^n paths lead from the end to x, over n nodes. */
static void diamonds(int64_t n) {
    TN_SCOPE {
        tn_tensor *x = number(3), *y = tn_mul_scalar(x, 1);
        for (int64_t i = 0; i < n; i++) {
            tn_tensor *next = NULL;
            CHECK(tn_function_call(&mean_row, TN_LIST(y, y), NULL, &next));
            y = onward(y, next);
        }
        CHECK(tn_backward(y));
        CHECK(value(tn_grad_of(x)) == 1);
        CHECK_EQ(nodes_run, n); /* each once */
    }
}
static void diamonds_of_operators(int64_t n) { /* and twice: y = x, so y^2 has 2 x and 2 */
    TN_SCOPE {
        tn_tensor *x = number(3), *y = tn_mul_scalar(x, 1), *g[1], *h[1];
        tn_grads_options o = {NULL, true, true, false};
        for (int64_t i = 0; i < n; i++) y = onward(y, tn_mul_scalar(tn_add(y, y), 0.5));
        y = tn_mul(y, y);
        CHECK(tn_grads(TN_LIST(y), TN_LIST(x), g, &o) && value(tn_detach(g[0])) == 6);
        CHECK(tn_grads(TN_LIST(g[0]), TN_LIST(x), h, NULL) && value(h[0]) == 2);
    }
}
static void diamonds_have_many_paths_and_few_nodes(void) {
    linear("diamonds", diamonds, fan_length());
    linear("diamonds, double backward", diamonds_of_operators, fan_length());
}

/* --- views ------------------------------------------------------------------------------------ */

static void views_of_views(int64_t n) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(2, 3))), *y = tn_mul_scalar(x, 1), *v = y;
        for (int64_t i = 0; i < n; i++) {
            tn_tensor *next = tn_transpose(v, 0, 1);
            if (i % 2) tn_free(v);
            v = next;
        }
        CHECK(tn_mul_scalar_(v, 4) == v); /* seen by the base through all of them */
        CHECK(tn_backward(tn_add(tn_sum(v), tn_sum(y))));
        CHECK(value(tn_sum(tn_grad_of(x))) == 2 * 4 * 6);
    }
}
static void views_freed_from_the_base(int64_t n) {
    tn_tensor **v = (tn_tensor **)malloc((size_t)n * sizeof *v);
    v[0] = tn_ones(TN_DIMS(2, 3));
    for (int64_t i = 1; i < n; i++) v[i] = tn_transpose(v[i - 1], 0, 1);
    for (int64_t i = 0; i < n; i++) tn_free(v[i]);
    free(v);
}
static void views_of_views_may_be_deep(void) {
    linear("views of views", views_of_views, fan_length());
    linear("views, base first", views_freed_from_the_base, fan_length());
}

/* --- modules and scopes ----------------------------------------------------------------------- */

static void modules_nested(int64_t n) {
    tn_module *m = tn_nn_linear(2, 2), *copy = NULL;
    for (int64_t i = 1; i < n && m; i++) m = tn_sequential(m);
    CHECK((m == NULL) == (n > TN_MODULE_DEPTH));
    if (!m) {
        CHECK(life_taken() == TN_INVALID); /* refused, and all is freed */
        return;
    }
    TN_SCOPE {
        tn_tensor *y = tn_forward(m, tn_ones(TN_DIMS(1, 2)));
        CHECK(y && tn_backward(tn_sum(y)));
        CHECK(tn_parameters(m).n == 2);
        copy = tn_module_copy(m);
        CHECK(copy != NULL && tn_sequential(tn_module_hold(copy)) == NULL);
        CHECK(life_taken() == TN_INVALID); /* a copy is as high */
        tn_error_take(NULL);
        char *text = tn_module_text(m);
        CHECK(text != NULL);
        if (text) tn_alloc_free(text, strlen(text) + 1);
    }
    tn_module_free(copy);
    tn_module_free(m);
}
static void modules_in_a_row(int64_t n) {
    tn_module **list = (tn_module **)malloc((size_t)n * sizeof(tn_module *)), *m;
    for (int64_t i = 0; i < n; i++) list[i] = tn_nn_relu();
    m = tn_nn_sequential(tn_modules_of(list, n));
    TN_SCOPE {
        tn_tensor *x = number(2), *y = tn_forward(m, x);
        CHECK(y && tn_backward(y) && value(tn_grad_of(x)) == 1);
    }
    tn_module_free(m);
    free(list);
}
static void modules_are_nested_and_many(void) {
    linear("modules in a row", modules_in_a_row, 2000);
    program_run("modules nested", modules_nested, TN_MODULE_DEPTH);
    program_run("modules nested too deeply", modules_nested, TN_MODULE_DEPTH + 1);
}
static void scopes_nested(int64_t n) {
    int64_t mark = tn_scope_begin();
    for (int64_t i = 1; i < n; i++) {
        (void)!tn_mul_scalar(number(1), 2);
        if (tn_scope_begin() < 0) break;
    }
    CHECK(tn_ok());
    tn_scope_end(mark);
}
static void scopes_are_nested(void) { linear("scopes", scopes_nested, 60000); }

static const check_test tests[] = {
    CHECK_TEST(a_chain_of_a_million_nodes),
    CHECK_TEST(a_chain_of_a_million_nodes_twice),
    CHECK_TEST(a_leaf_and_a_node_are_used_often),
    CHECK_TEST(a_node_has_many_inputs),
    CHECK_TEST(diamonds_have_many_paths_and_few_nodes),
    CHECK_TEST(views_of_views_may_be_deep),
    CHECK_TEST(modules_are_nested_and_many),
    CHECK_TEST(scopes_are_nested),
};

int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    if (argc > 1) return failed;
    printf("promise 11: chain of %lld nodes, %lld uses of one tensor, %lld inputs of one node, "
           "%lld diamonds, %lld views of views: build, backward, double backward, free in a stack "
           "of %d KiB; nodes run and blocks of memory grow linearly, at most %.1f blocks a node\n",
           (long long)chain_length(), (long long)fan_length(), (long long)fan_length(),
           (long long)fan_length(), (long long)fan_length(), STACK / 1024, blocks_a_node);
    return failed;
}
