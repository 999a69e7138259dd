/* objects.cpp - what the objects of C++ cost beside C's pointers: c = a + b * 2 of four floats, both ways, in no scope and
 * in one. run.sh counts the instructions of a round.
 *
 *     objects MODE ROUNDS     MODE: c, cxx, c_scope, cxx_scope */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

static void c_round(tn_tensor *a, tn_tensor *b) {
    tn_tensor *t = tn_mul_scalar(b, 2);
    tn_tensor *c = tn_add(a, t);
    tn_free(t);
    tn_free(c);
}
static void cxx_round(const tn::tensor &a, const tn::tensor &b) { tn::tensor c = a + b * 2; }

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const bool cxx = strncmp(argv[1], "cxx", 3) == 0, scope = strstr(argv[1], "_scope") != NULL;
    tn::tensor a = tn::ones({4}), b = tn::ones({4});
    const int64_t mark = scope ? tn_scope_begin() : 0;
    for (int i = atoi(argv[2]); i > 0; i--)
        if (cxx)
            cxx_round(a, b);
        else
            c_round(a.get(), b.get());
    if (scope) tn_scope_end(mark);
    return tn_error_print();
}
