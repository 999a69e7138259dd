/* fourier.c - Fourier transforms beside their sums in long double; and a line has the same bits
 * alone, among others, with its elements apart, and by scalar code, whichever way its length and
 * their number choose: lines side by side, groups, two stages at once, matrices, Bluestein. */
#include "../../src/api/ops.h"
#include "../../src/api/tensor.h"
#include "../check.h"

#include <float.h>
#include <math.h>

enum { LINES = 17, LONGEST = 4096, SUMMED = 1024, NUMBERS = 2 * LINES * LONGEST };

static tn_context *by_set[2]; /* scalar, and the best that there is */
static double given[NUMBERS], all[2][NUMBERS], line[NUMBERS], other[NUMBERS];
static const int lengths[] = {1,  2,  3,  7,   8,   12,  15,  16,  17,  31,  32,   35,   37,
                              48, 64, 97, 128, 144, 243, 256, 257, 512, 720, 1024, 2048, 4096};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Numbers of -1..1 as pairs of that dtype. */
static void give(int count, tn_dtype dtype) {
    uint64_t s = 12345;
    for (int i = 0; i < count; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        given[i] = ldexp((double)(s >> 33), -30) - 1;
        if (dtype == TN_C64) given[i] = (double)(float)given[i];
    }
}
static tn_tensor *pairs(const double *from, int lines, int n, tn_dtype dtype) {
    tn_tensor *x = tn_from_f64(from, TN_DIMS(lines, n, 2));
    return tn_to_dtype(tn_view_as_complex(x), dtype);
}
static void read_pairs(tn_tensor *y, double *to, int count) {
    tn_tensor *x = y ? tn_view_as_real(tn_contiguous(y)) : NULL;
    CHECK(x && tn_read_f64(x, to, count));
}

/* The largest error of all[1], the transform of n pairs, over its largest part. */
static double worst_of(int n) {
    static long double c[SUMMED], s[SUMMED];
    long double worst = 0, most = 0;
    for (int k = 0; k < n; k++)
        c[k] = cosl(2 * acosl(-1) * k / n), s[k] = sinl(2 * acosl(-1) * k / n);
    for (int k = 0; k < n; k++) {
        long double re = 0, im = 0;
        for (int i = 0, at = 0; i < n; i++, at = (at + k) % n) {
            re += given[2 * i] * c[at] + given[2 * i + 1] * s[at];
            im += given[2 * i + 1] * c[at] - given[2 * i] * s[at];
        }
        worst = fmaxl(worst, fmaxl(fabsl(re - all[1][2 * k]), fabsl(im - all[1][2 * k + 1])));
        most = fmaxl(most, fmaxl(fabsl(re), fabsl(im)));
    }
    return (double)(worst / most);
}
static void values_are_those_of_sums(void) {
    const bool wide = LDBL_MANT_DIG > DBL_MANT_DIG; /* else C has no better f64 than ours */
    for (int narrow = wide ? 0 : 1; narrow < 2; narrow++) {
        const tn_dtype d = narrow ? TN_C64 : TN_C128;
        double worst = 0;
        for (int k = 0; k < LENGTHS && lengths[k] <= SUMMED; k++)
            TN_SCOPE {
                const int n = lengths[k];
                give(2 * n, d);
                read_pairs(tn_fft_fft(pairs(given, 1, n, d)), all[1], 2 * n);
                worst = fmax(worst, worst_of(n) / (narrow ? FLT_EPSILON : DBL_EPSILON));
            }
        printf("    %s: %.2f units of the largest\n", narrow ? "complex64" : "complex128", worst);
        CHECK(worst < 3);
    }
}
/* The lines of all[0] are those of transforms one by one, and of elements apart. */
static void ways_agree(int n, int lines, tn_dtype d, bool inverse) {
    const int count = 2 * lines * n;
    tn_tensor *x = pairs(given, lines, n, d), *t = tn_contiguous(tn_transpose(x, 0, 1)), *y;
    for (int q = 0; q < lines; q++) {
        tn_tensor *one = tn_narrow(x, 0, q, 1);
        y = inverse ? tn_fft_ifft(one) : tn_fft_fft(one);
        read_pairs(y, line, 2 * n);
        CHECK(memcmp(line, all[0] + 2 * q * n, sizeof *line * (size_t)(2 * n)) == 0);
    }
    y = inverse ? tn_fft_ifft(t, .dim = 0) : tn_fft_fft(t, .dim = 0);
    read_pairs(tn_transpose(y, 0, 1), line, count);
    CHECK(memcmp(line, all[0], sizeof *line * (size_t)count) == 0);
}
static void lines_have_the_same_bits_in_all_ways(void) {
    static const int many[] = {3, 8, 16, LINES};
    for (int k = 0; k < LENGTHS; k++)
        for (int i = 0; i < 16; i++) {
            const int n = lengths[k], lines = many[i / 4], count = 2 * lines * n;
            const tn_dtype d = i & 1 ? TN_C64 : TN_C128;
            give(count, d);
            for (int set = 0; set < 2; set++) {
                tn_context_use(by_set[set]);
                TN_SCOPE {
                    tn_tensor *x = pairs(given, lines, n, d);
                    read_pairs(i & 2 ? tn_fft_ifft(x) : tn_fft_fft(x), all[set], count);
                    if (set == 0) ways_agree(n, lines, d, i & 2);
                }
                tn_context_use(NULL);
            }
            CHECK(memcmp(all[0], all[1], sizeof **all * (size_t)count) == 0);
        }
}
/* The transform of n of each real line of x, (lines, n), has the bits that it has where elements of
 * a line lie apart, in two planes of as many lines: groups of neighbours that a plane ends. Its
 * second half mirrors the first. Back likewise. */
static void real_ways_agree(tn_tensor *x, tn_tensor *half, int lines, int n) {
    tn_tensor *t[2], *y, *z;
    for (int back = 0; back < 2; back++) {
        tn_tensor *from = back ? half : x;
        const int count = n * (back ? lines : 2 * lines);
        t[0] = t[1] = tn_transpose(from, 0, 1);
        y = tn_dft(from, 1, n, n, .inverse = back, .hermitian = back);
        z = tn_dft(tn_stack(tn_tensors_of(t, 2)), 1, n, n, .inverse = back, .hermitian = back);
        CHECK(y && tn_read_f64(back ? y : tn_view_as_real(y), other, count));
        for (int k = 1; k < n && !back; k++) {
            CHECK(other[2 * k] == other[2 * (n - k)]);
            CHECK(other[2 * k + 1] == -other[2 * (n - k) + 1]);
        }
        for (int i = 0; i < 2 && z; i++) {
            tn_tensor *plane = tn_contiguous(tn_transpose(tn_select(z, 0, i), 0, 1));
            CHECK(tn_read_f64(back ? plane : tn_view_as_real(plane), line, count));
            CHECK(memcmp(line, other, sizeof *line * (size_t)count) == 0);
        }
    }
}
/* Real lines of even length, and back, whose pairs are half as many. */
static void real_lines_have_the_same_bits(void) {
    for (int k = 0; k < LENGTHS; k++)
        for (int i = 0; i < 4; i++) {
            const int n = 2 * lengths[k] <= LONGEST ? 2 * lengths[k] : LONGEST;
            const int lines = i & 1 ? 16 : LINES, half = n / 2 + 1;
            const tn_dtype d = i & 2 ? TN_C64 : TN_C128;
            give(2 * lines * n, d);
            for (int set = 0; set < 2; set++) {
                tn_context_use(by_set[set]);
                TN_SCOPE {
                    tn_tensor *x = tn_contiguous(tn_real(pairs(given, lines, n, d)));
                    tn_tensor *y = tn_fft_rfft(x), *back = tn_fft_irfft(y, .n = n);
                    read_pairs(y, all[set], 2 * lines * half);
                    read_pairs(tn_fft_rfft(tn_narrow(x, 0, 2, 1)), line, 2 * half);
                    CHECK(memcmp(line, all[set] + 4 * half, sizeof *line * (size_t)(2 * half)) ==
                          0);
                    CHECK(tn_item(tn_max(tn_abs(tn_sub(back, x)))) < (i & 2 ? 2e-6 : 4e-15));
                    if (set == 0 || k % 4 == 1) real_ways_agree(x, y, lines, n);
                }
                tn_context_use(NULL);
            }
            CHECK(memcmp(all[0], all[1], sizeof **all * (size_t)(2 * lines * half)) == 0);
        }
}

static const check_test tests[] = {CHECK_TEST(values_are_those_of_sums),
                                   CHECK_TEST(lines_have_the_same_bits_in_all_ways),
                                   CHECK_TEST(real_lines_have_the_same_bits)};

int main(int argc, char **argv) {
    tn_context_options o;
    int status;
    memset(&o, 0, sizeof o);
    by_set[1] = tn_context_new(&o);
    o.isa = "scalar";
    by_set[0] = tn_context_new(&o);
    status = CHECK_MAIN(tests, argc, argv);
    tn_context_free(by_set[0]);
    tn_context_free(by_set[1]);
    return status;
}
