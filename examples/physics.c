/* physics.c - trains a network to solve an equation: u'' = -u, u(0) = 0, u'(0) = 1 on 0..pi. The
 * solution is sin.
 *
 * The loss says how far the network's second derivative is from -u at points of the interval. The
 * network never sees a value of the solution (M. Raissi et al., Physics-informed neural networks,
 * 2019).
 *
 *     cc -O2 -I. examples/physics.c -o physics -lm -pthread && ./physics */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 64, STEPS = 1500 };

/* u(x) = x + x^2 net(x), so that both conditions at 0 hold for any network. */
static tn_tensor *solution(tn_module *net, tn_tensor *x) {
    return tn_add(x, tn_mul(tn_mul(x, x), tn_forward(net, x)));
}

/* dy/dx for each element, as a tensor that can be differentiated again. */
static tn_tensor *derivative(tn_tensor *y, tn_tensor *x) {
    tn_grads_options o = {NULL, true, true, false};
    tn_tensor *d = NULL;
    return tn_grads(TN_LIST(tn_sum(y)), TN_LIST(x), &d, &o) ? d : NULL;
}

static tn_tensor *residual(tn_module *net, tn_tensor *x) {
    tn_tensor *u = solution(net, x), *second = derivative(derivative(u, x), x);
    return tn_mean(tn_square(tn_add(second, u)));
}

int main(void) {
    tn_manual_seed(1);
    tn_module *net = tn_sequential(tn_nn_linear(1, 24), tn_nn_tanh(), tn_nn_linear(24, 24),
                                   tn_nn_tanh(), tn_nn_linear(24, 1));
    tn_optimizer *opt = tn_optim_adam(tn_parameters(net), .lr = 3e-3);
    tn_tensor *x = NULL;
    double worst = 0;
    TN_SCOPE
        x = tn_hold(tn_requires_grad(tn_unsqueeze(tn_linspace(0, 3.14159265358979, POINTS), 1)));
    for (int step = 0; step < STEPS && tn_ok(); step++)
        TN_SCOPE {
            tn_tensor *loss = residual(net, x);
            tn_optimizer_zero_grad(opt);
            tn_zero_grad(x);
            tn_backward(loss);
            tn_optimizer_step(opt);
            if (step % 250 == 0) printf("step %4d  residual %.2e\n", step, tn_item(loss));
        }
    TN_SCOPE {
        tn_tensor *error = tn_max(tn_abs(tn_sub(solution(net, x), tn_sin(x))));
        worst = tn_item(error);
        printf("largest difference from sin: %.1e\n", worst);
    }
    tn_free(x);
    tn_optimizer_free(opt);
    tn_module_free(net);
    bool ok = tn_ok() && worst < 0.02;
    tn_error_print();
    tn_context_free(NULL);
    return ok ? 0 : 1;
}
