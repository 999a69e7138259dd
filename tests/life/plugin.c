/* plugin.c - a library that has tensor.h inside, for unload.c: it uses what leaves traces in a
 * process (threads, keys, memory, an error, a file) and takes all of it back. */
#define TENSOR_IMPLEMENTATION
#define TENSOR_STATIC
#include "../../tensor.h"

double plugin_use(const char *path);
void plugin_end(void);

/* 0 when something failed. */
double plugin_use(const char *path) {
    double sum = 0;
    tn_set_threads(3);
    tn_manual_seed(1);
    TN_SCOPE {
        tn_tensor *a = tn_requires_grad(tn_randn(TN_DIMS(130, 130)));
        tn_tensor *y = tn_sum(tn_tanh(tn_matmul(a, a)));
        if (!tn_backward(y)) return 0;
        if (tn_matmul(a, tn_ones(TN_DIMS(3, 3))) || !tn_error_take(NULL)) return 0;
        if (path) {
            tn_named all[1] = {{"a", a}};
            if (!tn_profile_begin() || !tn_safetensors_save(path, all, 1)) return 0;
            tn_named_list l = tn_safetensors_load(path);
            tn_named_free(l);
            if (l.n != 1 || !tn_profile_end(path)) return 0;
        }
        sum = tn_item(tn_sum(tn_grad_of(a))) + tn_item(y);
    }
    return tn_ok() ? sum : 0;
}
void plugin_end(void) { tn_context_free(NULL); }
