// main.cpp - the C++ half: calls overloads with default arguments instead of keyword macros; scopes are guards.
//
//     cc -O2 -I. -c examples/mixed/model.c && c++ -O2 -I. examples/mixed/main.cpp model.o -o mixed -lm -pthread
#include "model.h"

#include <cstdio>

int main() {
    tn_manual_seed(3);
    bool ok = false;
    tn_module *m = model_new();
    TN_SCOPE {
        tn_tensor *x = tn_rand({128, 2});
        tn_tensor *y = tn_mul(tn_select(x, 1, 0), tn_select(x, 1, 1)); // the network learns a product
        double first = model_learn(m, x, tn_unsqueeze(y, 1), 1), last = model_learn(m, x, tn_unsqueeze(y, 1), 400);
        std::printf("loss %.4f, then %.6f\n", first, last);
        tn_tensor *sum = tn_sum(tn_add(x, 1), {0}, true); // numbers and lists instead of keywords
        ok = tn_ok() && last < first / 10 && tn_ndim(sum) == 2;
    }
    tn_module_free(m);
    tn_error_print();
    tn_context_free(nullptr);
    return ok ? 0 : 1;
}
