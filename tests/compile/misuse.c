/* misuse.c - a function around a row of misuse.txt, which is CALL. */
#include "tensor_nn.h"

void misuse(tn_tensor *x, tn_tensor *y, tn_tensor *z, tn_module *net, tn_dataset *set,
            const double *doubles, float (*rows)[3]);
void misuse(tn_tensor *x, tn_tensor *y, tn_tensor *z, tn_module *net, tn_dataset *set,
            const double *doubles, float (*rows)[3]) {
    (void)x, (void)y, (void)z, (void)net, (void)set, (void)doubles, (void)rows;
    CALL;
}
