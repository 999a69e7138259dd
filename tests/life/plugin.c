/* plugin.c - a library for unload.c, with tensor.h inside or, with TN_IMPORT, over the host's: it
 * uses what leaves traces in a process (threads, keys, memory, an error, a file) and takes all of
 * it back. */
#ifndef TN_IMPORT
#define TENSOR_IMPLEMENTATION
#define TENSOR_STATIC
#endif
#include "../../tensor.h"

#include <string.h>

double plugin_use(const char *path);
double plugin_apart(void);
void plugin_end(void);
#ifdef TN_IMPORT
bool plugin_import(const tn_exports *host);
bool plugin_import(const tn_exports *host) { return tn_import(host); }
#endif

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
/* The same in a context of its own, as several threads may at a time. */
double plugin_apart(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    tn_context *own = tn_context_new(&o), *before = tn_context_use(own);
    const double sum = own ? plugin_use(NULL) : 0;
    tn_context_use(before);
    tn_context_free(own);
    return sum;
}
void plugin_end(void) { tn_context_free(NULL); }
