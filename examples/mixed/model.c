/* model.c - the C half of a program in two languages: compiles the library and owns the model. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "model.h"

tn_module *model_new(void) {
    return tn_sequential(tn_nn_linear(2, 16), tn_nn_tanh(), tn_nn_linear(16, 1));
}

double model_learn(tn_module *m, tn_tensor *x, tn_tensor *y, int steps) {
    tn_optimizer *opt = tn_optim_adam(tn_parameters(m), .lr = 0.02);
    double loss = 0;
    for (int i = 0; i < steps && tn_ok(); i++)
        TN_SCOPE {
            tn_tensor *l = tn_mse_loss(tn_forward(m, x), y);
            tn_optimizer_zero_grad(opt);
            tn_backward(l);
            tn_optimizer_step(opt);
            loss = tn_item(l);
        }
    tn_optimizer_free(opt);
    return loss;
}
