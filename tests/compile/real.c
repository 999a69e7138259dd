/* real.c - a small real program, the same for every C, compiler and target: learns, saves,
 * loads, goes on. Prints a checksum of the values it ends with; the files and the checksum are the
 * same everywhere.
 *
 *     real save DIR    learns 4 steps, saves DIR/state and DIR/values, learns 4 more
 *     real load DIR    loads DIR/state, learns the 4 others; reads DIR/values and says whether they
 *                      are those that this machine computes */
#ifndef APART /* the library is another object */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#endif
#include "tensor.h"
#include "tensor_nn.h"

#include <stdio.h>
#include <string.h>

/* FNV-1a of the elements in row-major order, each from its low byte on. */
static uint64_t sum_of(uint64_t h, tn_tensor *t) {
    const uint16_t one = 1;
    const bool little = *(const unsigned char *)&one == 1;
    const int parts = tn_dtype_of(t) == TN_C64 ? 2 : 1;
    const int bytes = tn_dtype_bytes(tn_dtype_of(t)) / parts;
    tn_tensor *flat = tnp_contiguous(t);
    const unsigned char *at = (const unsigned char *)tn_data(flat);
    for (int64_t i = 0; at && i < tn_numel(t) * parts; i++)
        for (int k = 0; k < bytes; k++)
            h = (h ^ at[i * bytes + (little ? k : bytes - 1 - k)]) * 0x100000001b3u;
    return h;
}

typedef struct world {
    tn_module *net;
    tn_optimizer *optimizer;
    tn_state state;
} world;

static world world_new(void) {
    world w;
    memset(&w, 0, sizeof w);
    tn_manual_seed(5);
    w.net = tn_sequential(tn_nn_conv2d(1, 6, TN_DIMS(3)), tn_nn_relu(),
                          tn_nn_max_pool2d(TN_DIMS(2)), tn_nn_flatten(), tn_nn_linear(54, 20),
                          tn_nn_layer_norm(TN_DIMS(20)), tn_nn_gelu(), tn_nn_dropout(),
                          tn_nn_linear(20, 3));
    w.optimizer = tn_optim_adamw(tn_parameters(w.net), .lr = 0.01);
    w.state.model = w.net, w.state.optimizer = w.optimizer;
    w.state.generator = tn_default_generator();
    return w;
}
static void world_free(world *w) {
    tn_optimizer_free(w->optimizer);
    tn_module_free(w->net);
}

static void learn(world *w, int steps) {
    for (int i = 0; i < steps; i++)
        TN_SCOPE {
            tn_tensor *x = tnp_randn(TN_DIMS(5, 1, 8, 8), NULL, TN_F32, TN_CPU);
            tn_tensor *y = tnp_randint(3, TN_DIMS(5), NULL, TN_I64, TN_CPU);
            tn_optimizer_zero_grad(w->optimizer);
            tn_backward(tn_cross_entropy(tn_forward(w->net, x), y));
            tn_optimizer_step(w->optimizer);
        }
}

/* One value of each dtype that files know, in the scope of the caller. */
enum { VALUES = 11 };
static void values_of(tn_named *at) {
    static const tn_dtype dtype[VALUES] = {TN_F64, TN_F32, TN_F16, TN_BF16, TN_I64, TN_I32,
                                           TN_I16, TN_I8,  TN_U8,  TN_BOOL, TN_C64};
    tn_tensor *x, *size;
    tn_manual_seed(6);
    x = tnp_randn(TN_DIMS(3, 7), NULL, TN_F64, TN_CPU);
    size = tnp_mul_scalar(tnp_abs(tnp_tanh(x)), tn_float(100));
    for (int i = 0; i < VALUES; i++) {
        const bool whole = i >= 4 && i < 10;
        tn_tensor *wide = dtype[i] == TN_C64 ? tnp_mul_scalar(x, tn_complex(3, -2)) : x;
        at[i].name = tn_dtype_name(dtype[i]);
        at[i].tensor = tnp_to_dtype(whole ? size : wide, dtype[i], false, false);
    }
}

static int values_differ(const char *path, bool write) {
    int wrong = 0;
    TN_SCOPE {
        tn_named at[VALUES];
        values_of(at);
        if (write) {
            wrong = !tn_safetensors_save(path, at, VALUES);
        } else {
            tn_named_list l = tn_safetensors_load(path);
            for (int i = 0; i < VALUES; i++) {
                tn_tensor *t = tn_named_find(l, at[i].name);
                if (t && sum_of(1, t) == sum_of(1, at[i].tensor)) continue;
                wrong++;
                printf("%s is another one\n", at[i].name);
            }
            tn_named_free(l);
        }
    }
    return wrong;
}

int main(int argc, char **argv) {
    char state[1000], values[1000];
    bool save = argc == 3 && strcmp(argv[1], "save") == 0;
    uint64_t h = 0xcbf29ce484222325u;
    int wrong = argc != 3;
    snprintf(state, sizeof state, "%s/state", argc == 3 ? argv[2] : "");
    snprintf(values, sizeof values, "%s/values", argc == 3 ? argv[2] : "");
    world w = world_new();
    if (save) learn(&w, 4);
    wrong += !(save ? tn_checkpoint_save(state, &w.state) : tn_checkpoint_load(state, &w.state));
    learn(&w, 4);
    TN_SCOPE {
        tn_named_list l = tn_module_state_dict(w.net);
        for (int64_t i = 0; i < l.n; i++) h = sum_of(h, l.at[i].tensor);
    }
    world_free(&w);
    wrong += values_differ(values, save);
    printf("%08lx%08lx\n", (unsigned long)(h >> 32), (unsigned long)(h & 0xffffffffu));
    wrong += tn_error_print();
    tn_context_free(NULL);
    return wrong != 0;
}
