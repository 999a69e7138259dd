/* optional.c - what trim keeps where the sources name it. MORE and TRAIN are more options, from the
 * compiler's command, so that no word of this text names them. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor.h"
#include "tensor_nn.h"

#include <stdio.h>

static void said(const char *what) {
    tn_error_info e;
    if (tn_error_take(&e))
        printf("%s: %d %.*s\n", what, (int)e.code, (int)strcspn(e.message, "\n"), e.message);
    else
        printf("%s: no error\n", what);
}
static void train(tn_module *m, tn_tensor *x, tn_tensor *y) {
    tn_tensor *both[2] = {x, y};
    tn_dataset *set = tn_dataset_tensors(tn_tensors_of(both, 2));
    tn_loader *loader = tn_loader_new(set, .batch_size = 2);
    tn_optimizer *sgd = tn_optim_sgd(tn_parameters(m), .lr = 0.5);
    tn_train(m, sgd, loader, .epochs = 1 TRAIN), said("train");
    tn_loader_free(loader), tn_dataset_free(set), tn_optimizer_free(sgd);
}

int main(void) {
    tn_manual_seed(0);
    tn_tensor *x = tn_randn(TN_DIMS(4, 1, 3, 3)), *y = tn_zeros(TN_DIMS(4), .dtype = TN_I64);
    tn_module *conv = tn_nn_conv2d(1, 2, TN_DIMS(3, 3), .padding = TN_DIMS(1, 1) MORE);
    said("conv");
    if (conv) tn_print(tn_forward(conv, x));
    tn_module_free(conv);
    tn_module *net = tn_sequential(tn_nn_flatten(), tn_nn_linear(9, 2));
    train(net, x, y);
    tn_print(tn_forward(net, x));
    tn_module_free(net);
    return tn_error_print();
}
