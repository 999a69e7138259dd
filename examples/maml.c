/* maml.c - learns how to learn: weights from which two steps on ten points fit a sine never seen.
 *
 * A task is a sine of random height and phase. The weights are moved by the gradient of the loss
 * after two steps of gradient descent, so it goes through these steps and needs second
 * derivatives (C. Finn et al., Model-agnostic meta-learning, 2017). examples/python/maml.py is the
 * same program; its first 40 steps print the same figures.
 *
 *     cc -O2 -I. examples/maml.c -o maml -lm -pthread && ./maml */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <stdio.h>
#include <string.h>

enum { WEIGHTS = 6, HIDDEN = 24, POINTS = 10, INNER = 2, TASKS = 4, STEPS = 3000, TRIED = 200 };
static const double PI = 3.14159265358979323846, RATE = 0.02;

/* --- the network: a list of weights, so that other weights can take their place --------------- */

static tn_tensor *network(tn_tensor *x, tn_tensor *const *w) {
    tn_tensor *h = tn_tanh(tn_add(tn_matmul(x, w[0]), w[1]));
    h = tn_tanh(tn_add(tn_matmul(h, w[2]), w[3]));
    return tn_add(tn_matmul(h, w[4]), w[5]);
}
static tn_tensor *apart(tn_tensor *x, tn_tensor *y, tn_tensor *const *w) {
    return tn_mean(tn_square(tn_sub(network(x, w), y)));
}
/* The caller frees them. */
static void weights_new(tn_tensor **w) {
    const tn_ints shape[WEIGHTS] = {TN_DIMS(1, HIDDEN), TN_DIMS(HIDDEN),    TN_DIMS(HIDDEN, HIDDEN),
                                    TN_DIMS(HIDDEN),    TN_DIMS(HIDDEN, 1), TN_DIMS(1)};
    for (int i = 0; i < WEIGHTS; i++)
        TN_SCOPE {
            tn_tensor *scale = tn_rsqrt(tn_full(TN_DIMS(1), i == 0 ? 1 : HIDDEN));
            tn_tensor *drawn = tn_randn(shape[i]);
            drawn = i % 2 ? tn_zeros(shape[i]) : tn_mul(drawn, scale); /* biases begin at 0 */
            w[i] = tn_hold(tn_requires_grad(drawn));
        }
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* Points (POINTS, 1) to adapt to, and others to be judged by. */
typedef struct task {
    tn_tensor *x, *y, *x_test, *y_test;
} task;
static task task_new(void) {
    tn_tensor *height = tn_add_scalar(tn_mul_scalar(tn_rand(TN_DIMS(1)), 2), 0.5);
    tn_tensor *phase = tn_mul_scalar(tn_rand(TN_DIMS(1)), PI);
    tn_tensor *x = tn_sub_scalar(tn_mul_scalar(tn_rand(TN_DIMS(2 * POINTS, 1)), 10), 5);
    tn_tensor *y = tn_mul(height, tn_sin(tn_add(x, phase)));
    const task t = {tn_narrow(x, 0, 0, POINTS), tn_narrow(y, 0, 0, POINTS),
                    tn_narrow(x, 0, POINTS, POINTS), tn_narrow(y, 0, POINTS, POINTS)};
    return t;
}
/* The loss on the task's other points: of w, or after `steps` steps from them. */
static tn_tensor *adapted(const task *t, tn_tensor *const *w, int steps) {
    const tn_grads_options through = {.create_graph = true};
    tn_tensor *now[WEIGHTS], *slope[WEIGHTS];
    memcpy(now, w, sizeof now);
    while (steps-- > 0) {
        tn_tensor *loss = apart(t->x, t->y, now);
        if (!tn_grads(TN_LIST(loss), tn_tensors_of(now, WEIGHTS), slope, &through)) return NULL;
        for (int i = 0; i < WEIGHTS; i++) now[i] = tn_sub(now[i], tn_mul_scalar(slope[i], RATE));
    }
    return apart(t->x_test, t->y_test, now);
}

/* --- learning --------------------------------------------------------------------------------- */

static void learn(tn_tensor *const *w) {
    tn_optimizer *opt = tn_optim_adam(tn_tensors_of(w, WEIGHTS), .lr = 2e-3);
    double sum = 0;
    for (int step = 1, told = 0; step <= STEPS && tn_ok(); step++)
        TN_SCOPE {
            tn_tensor *total = NULL;
            for (int i = 0; i < TASKS; i++) {
                const task t = task_new();
                tn_tensor *loss = adapted(&t, w, INNER);
                total = total ? tn_add(total, loss) : loss;
            }
            tn_optimizer_zero_grad(opt);
            tn_backward(tn_div_scalar(total, TASKS));
            tn_optimizer_step(opt);
            sum += tn_item(total) / TASKS;
            if (step % (step <= 40 ? 10 : 500)) continue;
            printf("step %4d: loss after adapting %.4f, mean of %d\n", step, sum / (step - told),
                   step - told);
            sum = 0;
            told = step;
        }
    tn_optimizer_free(opt);
}
/* The mean loss on sines never seen, after so many steps. */
static double judged(tn_tensor *const *w, int steps) {
    double sum = 0;
    for (int i = 0; i < TRIED && tn_ok(); i++)
        TN_SCOPE {
            const task t = task_new();
            sum += tn_item(adapted(&t, w, steps));
        }
    return sum / TRIED;
}

int main(void) {
    tn_tensor *w[WEIGHTS] = {0};
    double loss[INNER + 1] = {0};
    tn_manual_seed(7);
    weights_new(w);
    learn(w);
    for (int i = 0; i <= INNER; i++) loss[i] = judged(w, i);
    printf("on new sines: %.2f, after one step %.2f, after two %.2f\n", loss[0], loss[1], loss[2]);
    for (int i = 0; i < WEIGHTS; i++) tn_free(w[i]);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    return failed || loss[INNER] > loss[0] / 4;
}
