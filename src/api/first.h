/* tensor.h - tensors, operators and gradients for C and C++, in one file.
 *
 * Do this: in ONE C or C++ file write
 *     #define TENSOR_IMPLEMENTATION
 *     #include "tensor.h"
 * and in all others a plain #include "tensor.h". gcc, clang, mingw compile it once, in some 20 s:
 *   cc -O2 program.c -lm -pthread
 * This whole program finds the line through noisy points:
 *
 *     #define TENSOR_IMPLEMENTATION
 *     #include "tensor.h"
 *     #include <stdio.h>
 *     int main(void) {
 *         tn_tensor *x = tn_randn(TN_DIMS(100, 1)), *noise = tn_randn(TN_DIMS(100, 1));
 *         tn_tensor *line = tn_add_scalar(tn_mul_scalar(x, 3), 2); // 3 x + 2
 *         tn_tensor *y = tn_add(line, noise, .alpha = 0.1);
 *         tn_tensor *w = tn_requires_grad(tn_zeros(TN_DIMS(1, 1)));
 *         tn_tensor *b = tn_requires_grad(tn_zeros(TN_DIMS(1)));
 *         for (int step = 0; step < 100; step++) TN_SCOPE { // releases what was made inside
 *             tn_backward(tn_mse_loss(tn_linear(x, w, .bias = b), y));
 *             tn_no_grad {
 *                 tn_sub_(w, tn_grad_of(w), .alpha = 0.1);
 *                 tn_sub_(b, tn_grad_of(b), .alpha = 0.1);
 *             }
 *             tn_zero_grad(w);
 *             tn_zero_grad(b);
 *         }
 *         printf("y = %.2f x + %.2f\n", tn_item(w), tn_item(b));
 *         return tn_error_print(); // says what went wrong, where, and with which shapes
 *     }
 *
 * Names and defaults are PyTorch's: required arguments come first, options are keywords (.alpha). A
 * seed gives PyTorch's random numbers. A call that fails returns NULL and leaves an error; until
 * tn_error_take clears it every operator returns NULL, so one check at the end is enough. Tensors
 * made outside of TN_SCOPE are yours to tn_free; those here live until the program ends. In C++
 * each operator is an overloaded function with default arguments. Macros before the include are
 * options: chapter [1].
 *
 * Prefixes: you call tn_ functions; a tnp_ function is an operator with all arguments in order, for
 * libraries and bindings; TN_ and TENSOR_ names are constants and macros. tni_, TNI_ and TN_PRIV
 * are private and change without notice.
 *
 * Licence: MIT or public domain, at your choice (at the end of this file). */
