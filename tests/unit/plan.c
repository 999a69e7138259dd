/* plan.c - a plan's peak is that of the real step: each program runs twice, on meta and with data,
 * in a context of its own. */
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/plan.h"
#include "../check.h"

#define MARGIN 5 /* % that a plan may be off */

static bool starved; /* the allocator has no more */
static void *starving_alloc(size_t bytes, void *user) {
    (void)user;
    return starved ? NULL : malloc(bytes);
}
static void starving_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    free(at);
}
/* A context whose thread has its first memory. */
static tn_context *begin(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.allocator.alloc = starving_alloc;
    o.allocator.free = starving_free;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    tn_manual_seed(1);
    tn_free(tn_zeros(TN_DIMS(1)));
    return c;
}
static void end(tn_context *c) {
    CHECK(!tn_error_print());
    tn_context_use(NULL);
    tn_context_free(c);
}
static bool refused(tn_code code, const char *text) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    const bool there = tn_error_take(&e) && e.code == code && strstr(e.message, text);
    if (!there) printf("    got %s\n", e.message);
    return there;
}

/* --- the programs: each makes a model and takes two steps ------------------------------------- */

static void steps(tn_module *net, tn_optimizer *opt, tn_tensor *(*loss)(tn_module *net)) {
    for (int i = 0; i < 2; i++) {
        TN_SCOPE
            tn_backward(loss(net));
        tn_optimizer_step(opt);
        tn_optimizer_zero_grad(opt);
    }
    tn_optimizer_free(opt);
    tn_module_free(net);
}

static tn_tensor *labels(int64_t n) { return tn_zeros(TN_DIMS(n), .dtype = TN_I64); }

static tn_module *mlp(void) {
    return tn_sequential(tn_nn_linear(256, 512), tn_nn_relu(), tn_nn_linear(512, 512), tn_nn_gelu(),
                         tn_nn_linear(512, 10));
}
static tn_tensor *mlp_loss(tn_module *net) {
    return tn_cross_entropy(tn_forward(net, tn_randn(TN_DIMS(512, 256))), labels(512));
}
static void mlp_with_sgd(void) {
    tn_module *net = mlp();
    steps(net, tn_optim_sgd(tn_parameters(net), .lr = 0.1, .momentum = 0.9), mlp_loss);
}
static void mlp_with_adam(void) {
    tn_module *net = mlp();
    steps(net, tn_optim_adam(tn_parameters(net), .lr = 1e-3), mlp_loss);
}

/* The network of examples/fashion. */
static tn_tensor *cnn_loss(tn_module *net) {
    tn_tensor *x = tn_rand(TN_DIMS(64, 1, 28, 28));
    return tn_cross_entropy(tn_forward(net, x), labels(64));
}
static void cnn_with_adam(void) {
    tn_module *net = tn_sequential(tn_nn_conv2d(1, 32, TN_DIMS(3), .padding = TN_DIMS(1)),
                                   tn_nn_relu(), tn_nn_max_pool2d(TN_DIMS(2)),
                                   tn_nn_conv2d(32, 64, TN_DIMS(3), .padding = TN_DIMS(1)),
                                   tn_nn_relu(), tn_nn_max_pool2d(TN_DIMS(2)), tn_nn_flatten(),
                                   tn_nn_linear(64 * 49, 128), tn_nn_relu(), tn_nn_linear(128, 10));
    steps(net, tn_optim_adam(tn_parameters(net), .lr = 1e-3), cnn_loss);
}

static tn_tensor *lstm_loss(tn_module *net) {
    tn_tensor *x = tn_randn(TN_DIMS(20, 32, 64));
    return tn_mean(tn_square(tn_nn_lstm_forward(net, x).output));
}
static void lstm_with_sgd(void) {
    tn_module *net = tn_nn_lstm(64, 128, .num_layers = 2);
    steps(net, tn_optim_sgd(tn_parameters(net), .lr = 0.1), lstm_loss);
}

/* norm, attention, dropout, norm, feed forward, around two residuals. */
enum { WIDTH = 128, HEADS = 4, LENGTH = 64, BATCH = 8 };
static tn_tensor *heads(tn_tensor *x) {
    tn_tensor *t = tn_reshape(x, TN_DIMS(BATCH, LENGTH, HEADS, WIDTH / HEADS));
    return tn_transpose(t, 1, 2);
}
static tn_tensor *through(const tn_module *net, const char *child, tn_tensor *x) {
    return tn_forward(tn_module_child(net, child), x);
}
static tn_tensor *block_loss(tn_module *net) {
    tn_tensor *x = tn_randn(TN_DIMS(BATCH, LENGTH, WIDTH));
    tn_tensor *h = through(net, "0", x), *qkv = through(net, "1", h);
    tn_tensor *q = heads(tn_slice(qkv, .dim = 2, .end = WIDTH));
    tn_tensor *k = heads(tn_slice(qkv, .dim = 2, .start = WIDTH, .end = 2 * WIDTH));
    tn_tensor *v = heads(tn_slice(qkv, .dim = 2, .start = 2 * WIDTH));
    tn_tensor *a = tn_scaled_dot_product_attention(q, k, v, .dropout_p = 0.1);
    a = tn_reshape(tn_transpose(a, 1, 2), TN_DIMS(BATCH, LENGTH, WIDTH));
    x = tn_add(x, through(net, "3", through(net, "2", a)));
    return tn_mean(tn_square(tn_add(x, through(net, "4", x))));
}
static void block_with_adamw(void) {
    tn_module *feed =
        tn_sequential(tn_nn_layer_norm(TN_DIMS(WIDTH)), tn_nn_linear(WIDTH, 4 * WIDTH),
                      tn_nn_gelu(), tn_nn_linear(4 * WIDTH, WIDTH), tn_nn_dropout(.p = 0.1));
    tn_module *net = tn_sequential(tn_nn_layer_norm(TN_DIMS(WIDTH)), tn_nn_linear(WIDTH, 3 * WIDTH),
                                   tn_nn_linear(WIDTH, WIDTH), tn_nn_dropout(.p = 0.1), feed);
    steps(net, tn_optim_adamw(tn_parameters(net), .lr = 1e-3), block_loss);
}

/* --- a plan and the real run ------------------------------------------------------------------ */

static int64_t real_peak(void (*program)(void)) {
    tn_context *c = begin();
    const int64_t before = tn_memory().bytes_used;
    tn_memory_reset_peak();
    program();
    const int64_t peak = tn_memory().bytes_peak - before;
    end(c);
    return peak;
}
static tn_plan planned(void (*program)(void)) {
    tn_plan plan;
    tn_context *c = begin();
    CHECK(tn_plan_begin());
    tn_with_device(TN_META) { program(); }
    CHECK(tn_plan_end(&plan, 1));
    end(c);
    return plan;
}
static int64_t parts_sum(const tn_plan *plan) {
    int64_t sum = plan->rest;
    for (int i = 0; i < plan->nparts; i++) sum += plan->part[i].bytes;
    return sum;
}
static void compare(const char *name, void (*program)(void)) {
    const tn_plan plan = planned(program);
    const int64_t real = real_peak(program);
    const double off = 100 * ((double)plan.peak - (double)real) / (double)real;
    printf("    %s: planned %lld, real %lld: %+.2f %%\n", name, (long long)plan.peak,
           (long long)real, off);
    CHECK(off > -MARGIN && off < MARGIN);
    /* What is named is the whole, and nothing is alive that the program has freed. */
    CHECK_EQ(parts_sum(&plan), plan.tensor_peak);
    CHECK(plan.tensor_peak <= plan.peak && plan.tensor_peak > plan.peak / 2);
    CHECK_EQ(plan.end, 0);
    if (getenv("TN_PLAN_SHOW"))
        for (int i = 0; i < plan.nparts; i++)
            printf("      %9lld %3lld x %s %s, %s:%d\n", (long long)plan.part[i].bytes,
                   (long long)plan.part[i].count, plan.part[i].shape, plan.part[i].what,
                   plan.part[i].file, plan.part[i].line);
}
static void an_mlp_takes_what_its_plan_says(void) {
    compare("MLP, SGD", mlp_with_sgd);
    compare("MLP, Adam", mlp_with_adam);
}
static void a_cnn_takes_what_its_plan_says(void) { compare("CNN, Adam", cnn_with_adam); }
static void an_lstm_takes_what_its_plan_says(void) { compare("LSTM, SGD", lstm_with_sgd); }
static void a_transformer_takes_what_its_plan_says(void) {
    compare("transformer block, AdamW", block_with_adamw);
}

/* --- what counts ------------------------------------------------------------------------------ */

static tn_tensor *shape_of(int64_t n) { return tn_empty(TN_DIMS(n), .device = TN_META); }

static void parts_name_operator_shape_and_line(void) {
    tn_context *c = begin();
    tn_plan plan;
    CHECK(tn_plan_begin());
    TN_SCOPE {
        tn_tensor *x = shape_of(1000), *y[3];
        for (int i = 0; i < 3; i++) y[i] = tn_exp(x);
        const int line = __LINE__ - 1;
        tn_tensor *view = tn_reshape(y[0], TN_DIMS(10, 100)); /* takes nothing */
        tn_free(tn_hold(shape_of(5)));
        CHECK(tn_plan_end(&plan, 1) && view);
        CHECK_EQ(plan.tensor_peak, 4 * 4000 + 64);
        CHECK_EQ(plan.end, 4 * 4000);
        CHECK(plan.nparts == 3 && plan.rest == 0);
        CHECK(plan.part[0].bytes == 12000 && plan.part[0].count == 3);
        CHECK_TEXT(plan.part[0].what, "exp");
        CHECK_TEXT(plan.part[0].shape, "float32 (1000)");
        CHECK_TEXT(plan.part[0].file, __FILE__);
        CHECK_EQ(plan.part[0].line, line);
        CHECK_TEXT(plan.part[1].what, "empty");
    }
    end(c);
}

static void only_what_lives_at_the_peak_is_named(void) {
    tn_context *c = begin();
    tn_plan plan;
    CHECK(tn_plan_begin());
    TN_SCOPE
        shape_of(3000);
    TN_SCOPE {
        shape_of(2000);
        shape_of(2001);
    }
    TN_SCOPE
        shape_of(3500);
    CHECK(tn_plan_end(&plan, 1));
    CHECK_EQ(plan.tensor_peak, 4 * 4001);
    CHECK(plan.nparts == 2 && plan.part[0].bytes == 4 * 2001 && plan.part[1].bytes == 4 * 2000);
    CHECK_EQ(plan.end, 0);
    end(c);
}

static void parts_beyond_the_room_are_the_rest(void) {
    tn_context *c = begin();
    tn_plan plan;
    CHECK(tn_plan_begin());
    TN_SCOPE
        for (int i = 0; i < 40; i++) shape_of(1000 + i);
    CHECK(tn_plan_end(&plan, 1));
    CHECK_EQ(plan.nparts, TN_PLAN_PARTS);
    CHECK(plan.part[0].bytes == 4 * 1039 && plan.part[15].bytes == 4 * 1024);
    CHECK_EQ(parts_sum(&plan), plan.tensor_peak);
    CHECK_EQ(plan.rest, 4 * (24 * 1000 + 23 * 24 / 2));
    end(c);
}

static void tensors_with_data_count_and_have_no_part(void) {
    tn_context *c = begin();
    tn_plan plan;
    CHECK(tn_plan_begin());
    TN_SCOPE {
        (void)!tn_zeros(TN_DIMS(100000), .dtype = TN_F32, .device = TN_CPU);
        shape_of(10);
    }
    CHECK(tn_plan_end(&plan, 1));
    CHECK_EQ(plan.tensor_peak, 64);
    CHECK(plan.peak >= 400000 && plan.peak < 410000);
    end(c);
}

static void plans_do_not_mix(void) {
    tn_context *c = begin();
    tn_plan plan;
    tn_tensor *before = shape_of(5000), *between;
    CHECK(tn_plan_begin());
    between = shape_of(6000);
    tn_free(before); /* was there when the plan began */
    CHECK(tn_plan_end(&plan, 1));
    CHECK(plan.tensor_peak == 24000 && plan.end == 24000);
    CHECK(tn_plan_begin());
    tn_tensor *t = shape_of(100);
    tn_free(between); /* of the plan before */
    CHECK(tn_plan_end(&plan, 1));
    CHECK(plan.tensor_peak == 448 && plan.end == 448);
    tn_free(t);
    end(c);
}

static void a_plan_of_many_steps_takes_the_memory_of_one(void) {
    tn_context *c = begin();
    tn_plan plan;
    int64_t before = 0;
    CHECK(tn_plan_begin());
    for (int i = 0; i < 2000; i++) {
        TN_SCOPE
            for (int k = 0; k < 20; k++) shape_of(1000);
        if (i == 20) before = tn_memory().allocations;
    }
    CHECK_EQ(tn_memory().allocations, before);
    CHECK(tn_plan_end(&plan, 1));
    CHECK(plan.tensor_peak == 80000 && plan.part[0].count == 20);
    end(c);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void begin_and_end_come_in_pairs(void) {
    tn_context *c = begin();
    tn_plan plan;
    CHECK(!tn_plan_end(&plan, 1) && refused(TN_INVALID, "tn_plan_end: no plan is in progress"));
    CHECK(tn_plan_begin());
    CHECK(!tn_plan_begin() && refused(TN_INVALID, "tn_plan_begin: a plan is already in progress"));
    CHECK(tn_plan_end(NULL, 0));
    CHECK(!tn_plan_end(NULL, 0) && refused(TN_INVALID, "no plan is in progress"));
    end(c);
    /* A context may end with a plan in progress. */
    c = begin();
    CHECK(tn_plan_begin() && shape_of(10));
    end(c);
}

static void what_needs_data_is_refused_by_name(void) {
    tn_context *c = begin();
    tn_plan plan;
    CHECK(tn_plan_begin());
    TN_SCOPE {
        tn_tensor *x = shape_of(1000);
        CHECK(!tn_nonzero(x));
        CHECK(!tn_plan_end(&plan, 1)); /* the step has failed */
        CHECK(refused(TN_UNSUPPORTED, "nonzero(") && plan.tensor_peak == 4000);
        CHECK(tn_plan_begin() && tn_plan_end(&plan, 1) && plan.peak == 0);
        CHECK(tn_item(shape_of(1)) == 0 && refused(TN_UNSUPPORTED, "tn_item"));
    }
    end(c);
}

static void without_memory_the_call_fails(void) {
    tn_context *c = begin();
    tn_plan plan;
    CHECK(tn_plan_begin());
    TN_SCOPE {
        starved = true;
        for (int i = 0; i < 5000 && tn_ok(); i++) shape_of(1000);
        starved = false;
        CHECK(!tn_plan_end(&plan, 1) && refused(TN_MEMORY, "out of memory"));
        CHECK(parts_sum(&plan) == plan.tensor_peak);
    }
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(an_mlp_takes_what_its_plan_says),
        CHECK_TEST(a_cnn_takes_what_its_plan_says),
        CHECK_TEST(an_lstm_takes_what_its_plan_says),
        CHECK_TEST(a_transformer_takes_what_its_plan_says),
        CHECK_TEST(parts_name_operator_shape_and_line),
        CHECK_TEST(only_what_lives_at_the_peak_is_named),
        CHECK_TEST(parts_beyond_the_room_are_the_rest),
        CHECK_TEST(tensors_with_data_count_and_have_no_part),
        CHECK_TEST(plans_do_not_mix),
        CHECK_TEST(a_plan_of_many_steps_takes_the_memory_of_one),
        CHECK_TEST(begin_and_end_come_in_pairs),
        CHECK_TEST(what_needs_data_is_refused_by_name),
        CHECK_TEST(without_memory_the_call_fails),
    };
    return CHECK_MAIN(tests, argc, argv);
}
