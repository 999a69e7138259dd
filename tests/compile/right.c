/* right.c - calls beside those of misuse.txt that compile without a warning, and evaluate each
 * argument once. */
#include "tensor_nn.h"

#include <stdio.h>

static int calls;
static int64_t next(int64_t n) { return calls++, n; }
static tn_tensor *seen(tn_tensor *t) { return calls++, t; }
static tn_module *made(tn_module *m) { return calls++, m; }
static const float *from(const float *at) { return calls++, at; }

static int failed;
#define EVALUATED(n, ...)                                         \
    do {                                                          \
        calls = 0;                                                \
        if (!(__VA_ARGS__) || calls != (n) || tn_error_print()) { \
            printf("%s: %d evaluations\n", #__VA_ARGS__, calls);  \
            failed = 1;                                           \
        }                                                         \
    } while (0)

int main(void) {
    static const float v[2][3] = {{1, 2, 3}, {4, 5, 6}};
    static const int64_t six[1] = {6};
    const tn_ints flat = tn_ints_of(six, 1);
    TN_SCOPE {
        tn_tensor *x = tn_from_f32(&v[0][0], flat), *out = tn_zeros(TN_DIMS(6));
        tn_module *net = NULL;
        EVALUATED(2, tn_zeros(TN_DIMS(next(2), next(3))));
        EVALUATED(2, tn_cat(TN_LIST(seen(x), seen(x))));
        EVALUATED(2, tn_add(seen(x), seen(x)));
        EVALUATED(2, tn_add_scalar(seen(x), next(1)));
        EVALUATED(3, tn_tensor_of(TN_DIMS(next(2)), next(1), next(2)));
        EVALUATED(1, tn_from_f32(from(&v[0][0]), flat));
        EVALUATED(4, net = tn_sequential(made(tn_nn_linear(next(6), next(2))), made(tn_nn_relu())));
        tn_module_free(net);
#if defined(__OPTIMIZE__) && defined(__GNUC__)
        if (tn_from_f32(&v[1][0], flat) || !tn_error_take(NULL)) /* three are left */
            printf("elements behind an array\n"), failed = 1;
#endif
#ifndef __cplusplus
        EVALUATED(1, tn_from_f32((const float[]){1, 2, 3}, TN_DIMS(next(3))));
        EVALUATED(1, tn_from_f64((double[]){1, (double)next(2)}, TN_DIMS(2)));
        EVALUATED(0, tn_from_i64((int64_t[]){1, 2, 3}, TN_DIMS(3)));
        EVALUATED(0, tn_from(v, TN_DIMS(2, 3), TN_F32));
        /* results that may be dropped */
        tn_add(x, x, .alpha = 3, .out = out);
        tn_sum(tn_add(x, x, .alpha = 0.5), .dim = TN_DIMS(0), .out = tn_zeros(TN_EMPTY_DIMS));
#endif
        tn_add_(out, x);
    }
    return tn_error_print() || failed;
}
