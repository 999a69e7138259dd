/* use.c - a caller: keyword calls in right use, nested, with options, give no warning. C and C++.
 */
#include "tensor.h"

#ifndef USE
#define USE use_main
#endif
#ifdef __cplusplus
extern "C"
#endif
    int
    USE(void);

int USE(void) {
    int wrong = 0;
    TN_SCOPE {
        const float two[4] = {1, 2, 3, 4};
        const int64_t shape[2] = {2, 2}, zero[1] = {0};
        tn_tensor *x = tn_from_f32(two, tn_ints_of(shape, 2)), *y, *s;
#ifdef __cplusplus
        y = tn_add(tn_matmul(x, x), x, 2);
        s = tn_sum(tn_mul(y, y), tn_ints_of(zero, 1), true);
#else
        y = tn_add(tn_matmul(x, x), x, .alpha = 2);
        s = tn_sum(tn_mul(y, y), .dim = tn_ints_of(zero, 1), .keepdim = true);
#endif
        wrong += tn_size(s, 0) != 1 || tn_size(s, 1) != 2;
        wrong += tn_item(tn_select(tn_select(s, 0, 0), 0, 0)) != 9 * 9 + 21 * 21.0;
    }
    return wrong + tn_error_print();
}
