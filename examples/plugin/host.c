/* host.c - loads a plugin, trains through its operator by name, and unloads it.
 *
 *     cc -O2 -shared -fPIC -I. examples/plugin/plugin.c -o plugin.so
 *     cc -O2 -I. examples/plugin/host.c -o host -lm -ldl -pthread && ./host ./plugin.so */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#define TN_EXPORT
#include "tensor_nn.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static tn_tensor *cubic(tn_tensor *x, double slope) {
    tn_value in[] = {{.type = TN_T_TENSOR, .as.tensor = x},
                     {.type = TN_T_FLOAT, .name = "slope", .as.real = slope}};
    tn_tensor *y = NULL;
    int count;
    tn_call_named(__FILE__, __LINE__, "cubic", in, 2, &y, 1, &count);
    return y;
}

/* Finds the line below the cubic: a weight of 0.8, a bias of 0.3. */
static void train(float *line) {
    tn_manual_seed(0);
    tn_module *net = tn_nn_linear(1, 1);
    tn_optimizer *adam = tn_optim_adam(tn_parameters(net), .lr = 0.02);
    tn_tensor *x = tn_reshape(tn_linspace(-1, 1, 64), TN_DIMS(64, 1));
    tn_tensor *y = cubic(tn_add_scalar(tn_mul_scalar(x, 0.8), 0.3), 0.5);
    for (int step = 0; step < 500; step++)
        TN_SCOPE {
            tn_optimizer_zero_grad(adam);
            tn_backward(tn_mse_loss(cubic(tn_forward(net, x), 0.5), y));
            tn_optimizer_step(adam);
        }
    printf("cubic(2, 0.5) = %g\n", tn_item(cubic(tn_tensor_of(TN_DIMS(1), 2.0), 0.5)));
    tn_read_f32(tn_module_tensor(net, "weight"), &line[0], 1);
    tn_read_f32(tn_module_tensor(net, "bias"), &line[1], 1);
    tn_optimizer_free(adam);
    tn_module_free(net);
}

int main(int argc, char **argv) {
    void *library = dlopen(argc > 1 ? argv[1] : "./plugin.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "plugin_begin") : NULL;
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    bool (*plugin_begin)(const tn_exports *);
    memcpy(&plugin_begin, &symbol, sizeof symbol);

    /* Operators belong to the context in which they are registered, and end with it: here one that
     * lives as long as the plugin. */
    tn_context *apart = tn_context_new(NULL), *before = tn_context_use(apart);
    float line[2] = {0, 0};
    bool failed = !plugin_begin(tn_exported());
    if (failed && tn_ok()) fprintf(stderr, "the plugin has another version of tensor.h\n");
    if (!failed)
        TN_SCOPE
            train(line);
    failed |= tn_error_print(); /* before its context ends */
    tn_context_use(before);
    tn_context_free(apart);
    dlclose(library); /* now nothing points into it */

    if (!failed) printf("%.3f x + %.3f\n", (double)line[0], (double)line[1]);
    return failed;
}
