/* embedded.c - a program that carries its model. Compiled without MODEL it writes one to the path
 * of its argument; compiled with -DMODEL="net.h" it computes with the array `net` and opens no
 * file. Both print the output of the model, and the second how many tensors lie in the array. */
#include "tensor.h"
#include "tensor_nn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static tn_module *net_new(void) {
    return tn_sequential(tn_nn_linear(4, 8), tn_nn_batch_norm1d(8), tn_nn_tanh(),
                         tn_nn_linear(8, 2));
}
static void net_print(tn_module *m) {
    tn_module_train(m, false);
    TN_SCOPE { tn_print(tn_forward(m, tn_tensor_of(TN_DIMS(1, 4), 1, -2, 0.5, 3))); }
}

#ifdef MODEL
#include MODEL
static int opened;
static int no_open(const char *path, int flags, int mode, void *user) {
    (void)path, (void)flags, (void)mode, (void)user;
    opened++;
    errno = ENOENT;
    return -1;
}
int main(void) {
    tn_context_options o;
    int64_t borrowed = -1;
    memset(&o, 0, sizeof o);
    o.files.open = no_open;
    tn_context_use(tn_context_new(&o));
    tn_module *m = net_new();
    if (tn_module_load_memory(m, net, net_bytes, .borrow = true, .borrowed = &borrowed))
        net_print(m);
    printf("%lld borrowed, %d files opened\n", (long long)borrowed, opened);
    tn_module_free(m);
    return tn_error_print();
}
#else
int main(int argc, char **argv) {
    tn_module *m;
    tn_manual_seed(11);
    m = net_new();
    TN_SCOPE { tn_forward(m, tn_randn(TN_DIMS(16, 4))); } /* running statistics */
    net_print(m);
    if (argc > 1) tn_module_save_file(m, argv[1]);
    tn_module_free(m);
    return tn_error_print();
}
#endif
