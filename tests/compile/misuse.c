/* misuse.c - calls that must not compile: CASE 0 does, and each other number alone does not. */
#include "tensor.h"

#if CASE == 0
#define TRY() tn_sum(x, .dim = TN_DIMS(0), .keepdim = true), tn_add(x, x, .alpha = 3)
#elif CASE == 1 /* an option without its name */
#define TRY() tn_sum(x, 0)
#elif CASE == 2
#define TRY() tn_add(x, x, 3)
#elif CASE == 3 /* a number where a tensor is required */
#define TRY() tn_add(x, 3)
#elif CASE == 4 /* a required argument is missing */
#define TRY() tn_add(x)
#elif CASE == 5 /* no such option */
#define TRY() tn_sum(x, .keepdims = 1)
#elif CASE == 6 /* a number where a list is expected */
#define TRY() tn_sum(x, .dim = 0)
#elif CASE == 7
#define TRY() tn_conv2d(x, x, .padding = 1)
#elif CASE == 8 /* a plain number where it may be none */
#define TRY() tn_clamp(x, .min = 0)
#elif CASE == 9 /* a pointer to something else */
#define TRY() tn_relu("x")
#elif CASE == 10 /* an array of another element type */
#define TRY() tn_from_f32((const double *)0, TN_DIMS(1))
#elif CASE == 11 /* out= is a tensor */
#define TRY() tn_add(x, x, .out = 1)
#endif

void misuse(tn_tensor *x);
void misuse(tn_tensor *x) { (void)x, TRY(); }
