/* parallel.c - training on several ranks: the same weights on all, those of one rank on the whole
 * batch within rounding, the same bits in every run; parts that no gradient reaches, gradients that
 * add up, buffers, ranks whose models differ or that stop. */
#include "../../src/api/modules.h"
#include "../../src/api/ops.h"
#include "../../src/api/parallel.h"
#include "../check.h"

#include <math.h>
#include <sched.h>
#include <stdint.h>

enum { BATCH = 24, IN = 6, OUT = 3, STEPS = 12, WEIGHTS = 6 * 16 + 16 + 16 * 3 + 3, RANKS = 4 };

static bool failed_with(tn_code code, const char *part) {
    tn_error_info e;
    bool right;
    if (!tn_error_take(&e)) return printf("no error: %s\n", part), false;
    right = e.code == code && strstr(e.message, part);
    if (!right) printf("    \"%s\" (%s)\n", e.message, tn_code_name(e.code));
    return right;
}

/* Items from .. from + n - 1 of the data, the same for all ranks. */
static tn_tensor *items(int64_t from, int64_t n, int64_t width, double phase) {
    tn_tensor *t = tn_empty(TN_DIMS(n, width));
    float *at = (float *)tn_data(t);
    for (int64_t i = 0; i < n * width; i++)
        at[i] = (float)sin(phase + 0.37 * (double)(from * width + i));
    return t;
}
static tn_module *net_of(uint64_t seed) {
    tn_generator *g = tn_generator_new(seed);
    tn_module *net = tn_sequential(tn_nn_linear(IN, 16), tn_nn_tanh(), tn_nn_linear(16, OUT));
    tn_tensors p = tn_parameters(net);
    tn_no_grad {
        for (int64_t i = 0; i < p.n; i++)
            tn_copy_(p.at[i], tn_mul_scalar(tn_randn(tn_shape(p.at[i]), .generator = g), 0.3));
    }
    tn_generator_free(g);
    return net;
}
static void weights_of(tn_module *net, float *to) {
    tn_tensors p = tn_parameters(net);
    for (int64_t i = 0; i < p.n; to += tn_numel(p.at[i++]))
        memcpy(to, tn_data(p.at[i]), (size_t)tn_numel(p.at[i]) * sizeof *to);
}
static bool step(tn_module *net, int64_t from, int64_t n) {
    bool ok = false;
    TN_SCOPE {
        tn_tensor *y = tn_forward(net, items(from, n, IN, 0));
        ok = tn_backward(tn_mse_loss(y, items(from, n, OUT, 1)));
    }
    return ok;
}

/* --- the same as one rank --------------------------------------------------------------------- */

typedef struct run {
    int64_t bucket_bytes;
    float weights[RANKS][WEIGHTS];
} run;
static bool trains(int32_t r, void *user) {
    run *to = (run *)user;
    const int32_t n = tn_group_size(tn_group_current());
    tn_module *net = net_of(5 + (uint64_t)r); /* rank 0's go to all */
    tn_parallel *all = tn_data_parallel(net, .bucket_bytes = to->bucket_bytes);
    tn_optimizer *opt = tn_optim_sgd(tn_parameters(net), .lr = 0.1, .momentum = 0.9);
    bool ok = all && opt;
    for (int i = 0; ok && i < STEPS; i++) {
        for (int k = 0; k < (r * 5 + i * 3) % 7; k++) sched_yield();
        tn_optimizer_zero_grad(opt);
        ok = step(net, r * (BATCH / n), BATCH / n) && tn_optimizer_step(opt);
    }
    weights_of(net, to->weights[r]);
    tn_optimizer_free(opt);
    tn_parallel_free(all);
    tn_module_free(net);
    return ok;
}
static run whole, parts, again;
static void ranks_have_the_weights_of_one_rank_on_the_whole_batch(void) {
    CHECK(tn_group_spawn(1, trains, &whole));
    for (int32_t n = 2; n <= RANKS; n++) {
        if (BATCH % n) continue;
        for (int64_t bucket = 0; bucket < 300; bucket += 70) {
            double worst = 0;
            parts.bucket_bytes = bucket;
            again.bucket_bytes = bucket;
            CHECK(tn_group_spawn(n, trains, &parts) && tn_group_spawn(n, trains, &again));
            for (int32_t r = 0; r < n; r++) {
                CHECK(!memcmp(parts.weights[r], parts.weights[0], sizeof parts.weights[0]));
                CHECK(!memcmp(parts.weights[r], again.weights[r], sizeof parts.weights[0]));
            }
            for (int i = 0; i < WEIGHTS; i++)
                worst =
                    fmax(worst, fabs((double)parts.weights[0][i] - (double)whole.weights[0][i]));
            /* A gradient's rounding is 2^-24 of numbers near 1, and momentum keeps ten steps. */
            CHECK(worst > 0 && worst < STEPS * 10 * ldexp(1, -24));
        }
    }
    CHECK(!tn_error_print());
}

/* --- parts without a gradient ----------------------------------------------------------------- */

static bool uses_some(int32_t r, void *user) {
    tn_tensor *w[3];
    tn_data_parallel_args args;
    memset(&args, 0, sizeof args);
    for (int i = 0; i < 3; i++) w[i] = tn_requires_grad(tn_full(TN_DIMS(2), i + 1. + r));
    args.parameters = tn_tensors_of(w, 3);
    tn_parallel *all = tn_data_parallel_at(__FILE__, __LINE__, &args);
    CHECK(all && ((float *)tn_data(w[2]))[1] == 3); /* rank 0's */
    /* w[0] on all, w[1] on rank 1 alone, w[2] on none. */
    tn_tensor *loss = tn_sum(tn_mul(w[0], w[0]));
    if (r == 1) loss = tn_add(loss, tn_sum(tn_mul_scalar(w[1], 6)));
    if (!tn_backward(loss)) return false;
    CHECK(((float *)tn_data(tn_grad_of(w[0])))[0] == 2);
    CHECK(tn_grad_of(w[1]) && ((float *)tn_data(tn_grad_of(w[1])))[1] == 2);
    CHECK(tn_grad_of(w[2]) == NULL);
    /* tn_grads changes no .grad and exchanges nothing; the next backward is as ever. */
    tn_tensor *grad[1], *other = tn_sum(tn_mul(w[0], w[0]));
    CHECK(tn_grads(tn_tensors_of(&other, 1), tn_tensors_of(w, 1), grad, NULL));
    for (int i = 0; i < 3; i++) tn_zero_grad(w[i]);
    if (!tn_backward(tn_sum(tn_mul_scalar(w[2], r)))) return false;
    CHECK(((float *)tn_data(tn_grad_of(w[2])))[0] == 1 && !tn_grad_of(w[0]));
    tn_parallel_free(all);
    (void)user;
    return true;
}
static void a_gradient_that_some_rank_has_is_the_mean_on_all(void) {
    CHECK(tn_group_spawn(3, uses_some, NULL) && !tn_error_print());
}

static bool adds_up(int32_t r, void *user) {
    tn_tensor *w = tn_requires_grad(tn_ones(TN_DIMS(2)));
    tn_data_parallel_args args;
    memset(&args, 0, sizeof args);
    args.parameters = tn_tensors_of(&w, 1);
    tn_parallel *all = tn_data_parallel_at(__FILE__, __LINE__, &args);
    CHECK(tn_parallel_set_sync(all, false));
    for (int i = 0; i < 2; i++)
        if (!tn_backward(tn_sum(tn_mul_scalar(w, r + 1)))) return false;
    CHECK(((float *)tn_data(tn_grad_of(w)))[0] == (float)(2 * (r + 1)));
    CHECK(!tn_parallel_set_sync(all, true));
    if (!tn_backward(tn_sum(tn_mul_scalar(w, r + 1)))) return false;
    CHECK(((float *)tn_data(tn_grad_of(w)))[0] == 4.5f); /* 3 (1 + 2) / 2 */
    if (!tn_backward(tn_sum(w))) return false;           /* and adds on */
    CHECK(((float *)tn_data(tn_grad_of(w)))[0] == 5.5f);
    tn_parallel_free(all);
    if (!tn_backward(tn_sum(tn_mul_scalar(w, r)))) return false; /* alone again */
    CHECK(((float *)tn_data(tn_grad_of(w)))[0] == 5.5f + (float)r);
    (void)user;
    return true;
}
static void gradients_add_up_until_they_are_exchanged(void) {
    CHECK(tn_group_spawn(2, adds_up, NULL) && !tn_error_print());
}

/* --- buffers ---------------------------------------------------------------------------------- */

static bool normalises(int32_t r, void *user) {
    const bool keep = *(bool *)user;
    tn_module *net = tn_nn_batch_norm1d(2);
    tn_parallel *all = tn_data_parallel(net, .keep_buffers = keep);
    tn_tensor *mean = tn_module_tensor(net, "running_mean");
    const float *at = (const float *)tn_data(mean);
    CHECK(tn_forward(net, tn_full(TN_DIMS(4, 2), 10. * r)) != NULL);
    CHECK(at[0] == (float)r); /* each its own, till the next forward */
    CHECK(tn_forward(net, tn_full(TN_DIMS(4, 2), 10. * r)) != NULL);
    CHECK(fabs((double)at[0] - (keep ? r * 1.9 : r)) < 1e-6);
    tn_module_train(net, false);
    CHECK(tn_forward(net, tn_ones(TN_DIMS(4, 2))) != NULL); /* evaluation exchanges nothing */
    CHECK(fabs((double)at[0] - (keep ? r * 1.9 : r)) < 1e-6);
    if (!keep) CHECK(tn_parallel_share(all) && at[0] == 0);
    tn_parallel_free(all);
    tn_module_free(net);
    return true;
}
static void buffers_are_those_of_rank_0_while_training(void) {
    bool keep = false;
    CHECK(tn_group_spawn(3, normalises, &keep) && !tn_error_print());
    keep = true;
    CHECK(tn_group_spawn(3, normalises, &keep) && !tn_error_print());
}

/* --- what goes wrong -------------------------------------------------------------------------- */

static bool differs(int32_t r, void *user) {
    tn_module *net = r ? tn_nn_linear(3, 2, .bias = false) : tn_nn_linear(3, 2);
    tn_module *turned = r ? tn_nn_linear(3, 2, .bias = false) : tn_nn_linear(2, 3, .bias = false);
    CHECK(!tn_data_parallel(net) &&
          failed_with(TN_INVALID, "they have 1 to 2 parameters of 6 to 8 elements"));
    CHECK(!tn_data_parallel(turned) &&
          failed_with(TN_INVALID, "calls broadcast(src=0) of float32"));
    CHECK(!tn_data_parallel(turned, .bucket_bytes = -1) && failed_with(TN_INVALID, "negative"));
    CHECK(!tn_data_parallel((tn_module *)NULL) && failed_with(TN_INVALID, "expected a module"));
    tn_module_free(net);
    tn_module_free(turned);
    (void)user;
    return true;
}
static void models_that_differ_are_refused_on_all_ranks(void) {
    CHECK(tn_group_spawn(2, differs, NULL) && !tn_error_print());
}

static bool stops(int32_t r, void *user) {
    tn_module *net = net_of(1);
    tn_parallel *all = tn_data_parallel(net);
    tn_tensors p = tn_parameters(net);
    CHECK(all && step(net, r, 4));
    if (r == 1) {
        tn_parallel_free(all);
        tn_module_free(net);
        return true;
    }
    tn_module_zero_grad(net);
    CHECK(!step(net, r, 4) && failed_with(TN_INTERNAL, "rank 1 has left the group"));
    CHECK(tn_grad_of(p.at[0]) != NULL); /* this rank's own */
    tn_parallel_free(all);
    tn_module_free(net);
    (void)user;
    return true;
}
static void a_rank_that_stops_is_an_error_of_backward(void) {
    CHECK(tn_group_spawn(3, stops, NULL) && !tn_error_print());
}

static void alone_it_changes_nothing(void) {
    static float with[WEIGHTS], without[WEIGHTS];
    for (int i = 0; i < 2; i++) {
        tn_module *net = net_of(9);
        tn_parallel *all = i ? tn_data_parallel(net) : NULL;
        tn_optimizer *opt = tn_optim_sgd(tn_parameters(net), .lr = 0.1);
        for (int k = 0; k < 3; k++) {
            tn_optimizer_zero_grad(opt);
            CHECK(step(net, 0, 8) && tn_optimizer_step(opt));
        }
        weights_of(net, i ? with : without);
        tn_optimizer_free(opt);
        tn_parallel_free(all);
        tn_module_free(net);
    }
    CHECK(!memcmp(with, without, sizeof with));
    tn_parallel_free(NULL);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(ranks_have_the_weights_of_one_rank_on_the_whole_batch),
        CHECK_TEST(a_gradient_that_some_rank_has_is_the_mean_on_all),
        CHECK_TEST(gradients_add_up_until_they_are_exchanged),
        CHECK_TEST(buffers_are_those_of_rank_0_while_training),
        CHECK_TEST(models_that_differ_are_refused_on_all_ranks),
        CHECK_TEST(a_rank_that_stops_is_an_error_of_backward),
        CHECK_TEST(alone_it_changes_nothing),
    };
    return CHECK_MAIN(tests, argc, argv);
}
