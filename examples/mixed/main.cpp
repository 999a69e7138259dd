// main.cpp - the C++ half: tensors are objects with operators; C's functions take them by get().
//
//     cc -O2 -I. -c examples/mixed/model.c && c++ -O2 -I. examples/mixed/main.cpp model.o -o mixed -lm -pthread
#include "model.h"

#include <cstdio>

int main() {
    tn_manual_seed(3);
    bool ok = false;
    tn_module *m = model_new();
    {
        tn::tensor x = tn::rand({128, 2});
        tn::tensor y = (x[{tn::slice(), 0}] * x[{tn::slice(), 1}]).unsqueeze(1); // the network learns a product
        double first = model_learn(m, x.get(), y.get(), 1), last = model_learn(m, x.get(), y.get(), 400);
        std::printf("loss %.4f, then %.6f\n", first, last);
        tn_tensor *sum = tn_sum(x + 1, {0}, true); // a function of C takes objects; its result is C's
        ok = tn_ok() && last < first / 10 && tn_ndim(sum) == 2;
        tn_free(sum);
    }
    tn_module_free(m);
    tn_error_print();
    tn_context_free(nullptr);
    return ok ? 0 : 1;
}
