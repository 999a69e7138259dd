/* gan.c - two networks play against each other until one of them draws like the data.
 *
 * The data are points of eight heaps on a circle. The critic learns to give them more than it gives
 * the points of the generator; the generator learns to be given more. The critic's slope between
 * both is held near 1 by a penalty on its gradient, whose own gradient needs second derivatives
 * (I. Gulrajani et al., Improved training of Wasserstein GANs, 2017).
 * examples/python/gan_gp.py is the same program and prints the same figures.
 *
 *     cc -O2 -I. examples/gan.c -o gan -lm -pthread && ./gan */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 2000, CRITIC_STEPS = 3, BATCH = 128, HIDDEN = 64, HEAPS = 8, NOISE = 4 };

static tn_module *net_new(int in, int out) {
    return tn_sequential(tn_nn_linear(in, HIDDEN), tn_nn_leaky_relu(), tn_nn_linear(HIDDEN, HIDDEN),
                         tn_nn_leaky_relu(), tn_nn_linear(HIDDEN, HIDDEN), tn_nn_leaky_relu(),
                         tn_nn_linear(HIDDEN, out));
}

/* The middles of the heaps, (HEAPS, 2), and points around them, (n, 2). */
static tn_tensor *middles(void) {
    tn_tensor *angle = tn_mul_scalar(tn_arange(HEAPS), 2 * 3.14159265358979 / HEAPS);
    return tn_mul_scalar(tn_stack(TN_LIST(tn_cos(angle), tn_sin(angle)), .dim = 1), 2);
}
static tn_tensor *data_draw(int n) {
    tn_tensor *middle = tn_index_select(middles(), 0, tn_randint(HEAPS, TN_DIMS(n)));
    return tn_add(middle, tn_mul_scalar(tn_randn(TN_DIMS(n, 2)), 0.1));
}
static tn_tensor *generate(tn_module *generator, int n) {
    return tn_forward(generator, tn_randn(TN_DIMS(n, NOISE)));
}

/* How far the critic's slope is from 1, squared, at places between true and false points. */
static tn_tensor *penalty(tn_module *critic, tn_tensor *truth, tn_tensor *fake) {
    const tn_grads_options o = {.create_graph = true};
    tn_tensor *between = tn_lerp(truth, fake, tn_rand(TN_DIMS(BATCH, 1))), *slope = NULL;
    between = tn_requires_grad(tn_detach(between));
    if (!tn_grads(TN_LIST(tn_sum(tn_forward(critic, between))), TN_LIST(between), &slope, &o))
        return NULL;
    slope = tn_linalg_vector_norm(slope, .dim = TN_DIMS(1));
    return tn_mean(tn_square(tn_sub_scalar(slope, 1)));
}

static void step(tn_optimizer *opt, tn_tensor *loss) {
    tn_optimizer_zero_grad(opt);
    tn_backward(loss);
    tn_optimizer_step(opt);
}
static void learn(tn_module *generator, tn_module *critic) {
    tn_optimizer *make =
        tn_optim_adam(tn_parameters(generator), .lr = 1e-3, .betas = TN_FLOATS(0.5, 0.9));
    tn_optimizer *judge =
        tn_optim_adam(tn_parameters(critic), .lr = 1e-3, .betas = TN_FLOATS(0.5, 0.9));
    for (int i = 1; i <= STEPS && tn_ok(); i++)
        TN_SCOPE {
            double gap = 0; /* what the critic gives to data more than to points */
            for (int k = 0; k < CRITIC_STEPS; k++) {
                tn_tensor *truth = data_draw(BATCH), *fake = tn_detach(generate(generator, BATCH));
                tn_tensor *lead =
                    tn_sub(tn_mean(tn_forward(critic, truth)), tn_mean(tn_forward(critic, fake)));
                step(judge, tn_sub(penalty(critic, truth, fake), lead));
                gap = tn_item(lead);
            }
            step(make, tn_neg(tn_mean(tn_forward(critic, generate(generator, BATCH)))));
            if (i % 250 == 0) printf("step %4d  distance %.4f\n", i, gap);
        }
    tn_optimizer_free(make);
    tn_optimizer_free(judge);
}

/* --- pictures --------------------------------------------------------------------------------- */

enum { PICTURES = 3, LINES = 13, COLUMNS = 25, SHOWN = 500 };
static char picture[LINES][PICTURES * COLUMNS];

static void draw(tn_tensor *points, int place) { /* the square -2.6..2.6 */
    const float *at = (const float *)tn_data(points);
    for (int i = 0; at && i < SHOWN; i++) {
        const int x = (int)lrint(12 + 4.5 * at[2 * i]), y = (int)lrint(6 - 2.25 * at[2 * i + 1]);
        if (x < 0 || x >= COLUMNS || y < 0 || y >= LINES) continue;
        char *to = &picture[y][place * COLUMNS + x];
        *to = *to == ' ' ? '.' : *to == '.' ? 'o' : '@'; /* one point, two, more */
    }
}
/* Prints how many heaps have points, and how many points lie in one; the share of these. */
static double count(tn_tensor *points) {
    tn_tensor *in = tn_lt_scalar(tn_cdist(points, middles()), 0.4); /* (SHOWN, HEAPS) */
    const double heaps = tn_item(tn_sum(tn_amax(in, .dim = TN_DIMS(0)))),
                 share = tn_item(tn_sum(in)) / SHOWN;
    printf("%.0f %% of the points lie in %.0f of %d heaps\n", 100 * share, heaps, HEAPS);
    return heaps == HEAPS ? share : 0;
}

int main(void) {
    double share = 0;
    tn_manual_seed(1);
    memset(picture, ' ', sizeof picture);
    tn_module *generator = net_new(NOISE, 2), *critic = net_new(2, 1);
    TN_SCOPE
        draw(generate(generator, SHOWN), 0);
    learn(generator, critic);
    tn_no_grad
        TN_SCOPE {
            tn_tensor *points = generate(generator, SHOWN);
            draw(points, 1);
            draw(data_draw(SHOWN), 2);
            share = count(points);
        }
    printf("%16s%25s%24s\n", "at first", "learnt", "data");
    for (int i = 0; i < LINES; i++) printf("%.*s\n", PICTURES * COLUMNS, picture[i]);
    tn_module_free(generator);
    tn_module_free(critic);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    return failed || share < 0.8;
}
