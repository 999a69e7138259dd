/* orthogonal.c - orthogonal polynomials, by simd/math_orthogonal.h. Their gradients are refused:
 * torch has none. The degree is cut to an integer; of a negative one the polynomial is 0.
 * Hermite's, Laguerre's and Legendre's take time for each degree, and are NaN beyond 2^20. */
#include "../../api/ops/elementwise.h"
#include "../../call/rowform.h"

/* Chebyshev's polynomial of the first kind of degree n. */
TN_OPERATOR(special_chebyshev_polynomial_t,
            "special_chebyshev_polynomial_t(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_chebyshev_polynomial_t_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_CHEBYSHEV_T(x, n)), .domain = "x:1.1..1.9 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* Chebyshev's polynomial of the second kind of degree n. */
TN_OPERATOR(special_chebyshev_polynomial_u,
            "special_chebyshev_polynomial_u(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_chebyshev_polynomial_u_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_CHEBYSHEV_U(x, n)), .domain = "x:1.1..1.9 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* Chebyshev's polynomial of the third kind of degree n. */
TN_OPERATOR(special_chebyshev_polynomial_v,
            "special_chebyshev_polynomial_v(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_chebyshev_polynomial_v_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_CHEBYSHEV_V(x, n)), .domain = "x:1.1..1.9 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* Chebyshev's polynomial of the fourth kind of degree n. */
TN_OPERATOR(special_chebyshev_polynomial_w,
            "special_chebyshev_polynomial_w(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_chebyshev_polynomial_w_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_CHEBYSHEV_W(x, n)), .domain = "x:1.1..1.9 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* Chebyshev's polynomial of the first kind of degree n, at 2 x - 1. */
TN_OPERATOR(special_shifted_chebyshev_polynomial_t,
            "special_shifted_chebyshev_polynomial_t(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_shifted_chebyshev_polynomial_t_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_CHEBYSHEV_T(V_SUB(V_ADD(x, x), V_ONE), n)),
            .domain = "x:1.1..1.9 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* Chebyshev's polynomial of the second kind of degree n, at 2 x - 1. */
TN_OPERATOR(special_shifted_chebyshev_polynomial_u,
            "special_shifted_chebyshev_polynomial_u(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_shifted_chebyshev_polynomial_u_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_CHEBYSHEV_U(V_SUB(V_ADD(x, x), V_ONE), n)),
            .domain = "x:1.1..1.9 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* Chebyshev's polynomial of the third kind of degree n, at 2 x - 1. */
TN_OPERATOR(special_shifted_chebyshev_polynomial_v,
            "special_shifted_chebyshev_polynomial_v(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_shifted_chebyshev_polynomial_v_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_CHEBYSHEV_V(V_SUB(V_ADD(x, x), V_ONE), n)),
            .domain = "x:1.1..1.9 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* Chebyshev's polynomial of the fourth kind of degree n, at 2 x - 1. */
TN_OPERATOR(special_shifted_chebyshev_polynomial_w,
            "special_shifted_chebyshev_polynomial_w(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_shifted_chebyshev_polynomial_w_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_CHEBYSHEV_W(V_SUB(V_ADD(x, x), V_ONE), n)),
            .domain = "x:1.1..1.9 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* The physicist's Hermite polynomial of degree n. */
TN_OPERATOR(special_hermite_polynomial_h,
            "special_hermite_polynomial_h(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_hermite_polynomial_h_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_HERMITE_H(x, n)), .domain = "x:4.1..5 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* The probabilist's Hermite polynomial of degree n. */
TN_OPERATOR(special_hermite_polynomial_he,
            "special_hermite_polynomial_he(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_hermite_polynomial_he_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_HERMITE_HE(x, n)), .domain = "x:6.1..7 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* Laguerre's polynomial of degree n. */
TN_OPERATOR(special_laguerre_polynomial_l,
            "special_laguerre_polynomial_l(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_laguerre_polynomial_l_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_LAGUERRE_L(x, n)), .domain = "x:-3..-1 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")

/* Legendre's polynomial of degree n. */
TN_OPERATOR(special_legendre_polynomial_p,
            "special_legendre_polynomial_p(Tensor|Scalar x, Tensor|Scalar n) -> Tensor",
            TN_DOC(.shapes = "(*), (*) -> broadcast, floating",
                   .example = "tn_special_legendre_polynomial_p_scalar(x, 3)"),
            .forms = TN_OUT, TN_POINTWISE(f, V_LEGENDRE_P(x, n)), .domain = "x:1.1..1.9 n:0..5",
            .sample = "(35) (35) | (2,3) (3) | (9) 2 | 2 (9) | () () | (0) 2 | (4) (4):i64<9")
