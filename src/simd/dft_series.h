/* dft_series.h - sine / x - 1, over x^2, and cosine of 0 to pi / 4: their series in x^2, the
 * highest power first. */
#ifndef TNI_SIMD_DFT_SERIES_H
#define TNI_SIMD_DFT_SERIES_H

enum { TNI_DFT_SINES = 8, TNI_DFT_COSINES = 10 };
#define TNI_DFT_SINE                                                                          \
    {                                                                                         \
        1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800, \
            1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6                                    \
    }
#define TNI_DFT_COSINE                                                                            \
    {                                                                                             \
        -1.0 / 6402373705728000.0, 1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600, \
            -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0                          \
    }
#define TNI_DFT_EIGHTH 0.78539816339744830961566 /* pi / 4 */

#endif
