/* run.c - runs in C a network that was trained in torch, and compares its answers with torch's.
 *
 *     python examples/from_torch/train.py           trains, and writes the two files anew
 *     cc -O2 -I. examples/from_torch/run.c -o run -lm -pthread && ./run examples/from_torch
 *
 * The two files in this folder are those that train.py wrote with torch 2.15 on an x86-64 CPU. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <math.h>
#include <stdio.h>

/* train.py's network: the places in tn_sequential are the names of the state dict. */
static tn_module *net_new(void) {
    return tn_sequential(tn_nn_conv2d(1, 16, TN_DIMS(3), .padding = TN_DIMS(1)),
                         tn_nn_batch_norm2d(16), tn_nn_gelu(), tn_nn_max_pool2d(TN_DIMS(2)),
                         tn_nn_conv2d(16, 32, TN_DIMS(3), .padding = TN_DIMS(1)),
                         tn_nn_batch_norm2d(32), tn_nn_gelu(), tn_nn_max_pool2d(TN_DIMS(2)),
                         tn_nn_flatten(), tn_nn_linear(128, 10));
}

/* Compares the network's answers with those in the file; the largest difference, NaN on failure. */
static double compare(tn_module *net, tn_named_list check) {
    double largest = NAN;
    tn_inference_mode
        TN_SCOPE {
            tn_tensor *expected = tn_named_find(check, "output");
            tn_tensor *labels = tn_named_find(check, "label");
            tn_tensor *output = tn_forward(net, tn_named_find(check, "input"));
            tn_tensor *right = tn_eq(tn_argmax(output, .dim = 1), labels);
            const double n = (double)tn_size(output, 0);
            largest = tn_item(tn_max(tn_abs(tn_sub(output, expected))));
            if (tn_ok()) printf("reads %g of %g digits\n", tn_item(tn_sum(right)), n);
        }
    return tn_ok() ? largest : NAN;
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "examples/from_torch";
    char path[1000];
    tn_module *net = net_new();
    snprintf(path, sizeof path, "%s/net.safetensors", folder);
    if (tn_module_load_file(net, path)) tn_module_train(net, false);
    snprintf(path, sizeof path, "%s/check.safetensors", folder);
    tn_named_list check = tn_safetensors_load(path);
    const double largest = compare(net, check);
    if (tn_ok()) printf("largest difference from torch: %.1e\n", largest);
    tn_named_free(check);
    tn_module_free(net);
    return tn_error_print() || !(largest < 1e-5);
}
