/* large.cc - factorizations of more than 48 columns, which go by blocks, larger resamplings,
 * transforms and convolutions in emulation: each has the CPU's bits. The samples of the rows are
 * smaller. */
#include "../../src/api/cuda.h"
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <initializer_list>
#include <math.h>

static tn_device_id cuda;

/* Normal numbers of shape (batch, m, n). */
static tn_tensor *numbers(int64_t batch, int64_t m, int64_t n, tn_dtype dtype) {
    const bool complex = dtype == TN_C64 || dtype == TN_C128;
    const int64_t size[3] = {batch, m, n};
    const tn_dtype real = dtype == TN_C64 ? TN_F32 : dtype == TN_C128 ? TN_F64 : dtype;
    tn_tensor *x = tnp_randn(tn_ints_of(size, 3), NULL, real, TN_CPU), *y;
    if (!complex) return x;
    y = tnp_to_dtype(tnp_randn(tn_ints_of(size, 3), NULL, real, TN_CPU), dtype, false, false);
    x = tnp_to_dtype(x, dtype, false, false);
    return tnp_add(x, tnp_mul_scalar(y, tn_complex(0, 1)), 1);
}
static tn_tensor *up(tn_tensor *x) { return tnp_to(x, cuda, TN_NO_DTYPE, false, false); }
static tn_tensor *down(tn_tensor *x) { return tnp_to(x, TN_CPU, TN_NO_DTYPE, false, false); }
static bool same(tn_tensor *here, tn_tensor *there) {
    tn_tensor *x = tnp_contiguous(here), *y = tnp_contiguous(down(there));
    return x && y && tn_numel(x) == tn_numel(y) &&
           memcmp(tn_data(x), tn_data(y),
                  (size_t)(tn_numel(x) * (int64_t)tn_dtype_bytes(tn_dtype_of(x)))) == 0;
}
/* Hermitian and positive definite. */
static tn_tensor *definite(tn_tensor *x) {
    const int64_t n = tn_size(x, -1);
    tn_tensor *y = tnp_matmul(x, tnp_transpose(tnp_conj(x), -2, -1));
    return tnp_add(y, tnp_mul_scalar(tnp_eye(n, tn_dtype_of(x), TN_CPU), tn_float(5)), 1);
}

static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_C64, TN_C128};

static void cholesky_by_blocks_has_the_bits(void) {
    for (int i = 0; i < 8; i++)
        TN_SCOPE {
            const bool upper = i & 1;
            /* One matrix of the batch is not definite: its factor stops on the way. */
            tn_tensor *x = numbers(2, 101, 101, dtypes[i / 2]), *y = definite(x), *pair[2], *all;
            pair[0] = tnp_narrow(x, 0, 0, 1);
            pair[1] = tnp_narrow(y, 0, 1, 1);
            all = tnp_cat(tn_tensors_of(pair, 2), 0);
            const tn_L_info here = tnp_linalg_cholesky_ex(all, upper, false),
                            there = tnp_linalg_cholesky_ex(up(all), upper, false);
            CHECK(same(here.L, there.L) && same(here.info, there.info));
        }
}
static void triangular_systems_by_blocks_have_the_bits(void) {
    for (int i = 0; i < 32; i++)
        TN_SCOPE {
            const bool left = i & 1, upper = i & 2, unit = i & 4;
            tn_tensor *a = definite(numbers(2, 67, 67, dtypes[i / 8])),
                      *b = numbers(2, left ? 67 : 20, left ? 20 : 67, dtypes[i / 8]);
            CHECK(same(tnp_linalg_solve_triangular(a, b, upper, left, unit),
                       tnp_linalg_solve_triangular(up(a), up(b), upper, left, unit)));
        }
}
static void lu_by_blocks_has_the_bits(void) {
    static const int64_t sizes[][2] = {{100, 100}, {60, 101}, {101, 60}};
    for (int i = 0; i < 12; i++)
        TN_SCOPE {
            tn_tensor *a = numbers(2, sizes[i % 3][0], sizes[i % 3][1], dtypes[i / 3]),
                      *b = numbers(2, 100, 30, dtypes[i / 3]);
            const tn_LU_pivots_info here = tnp_linalg_lu_factor_ex(a, true, false),
                                    there = tnp_linalg_lu_factor_ex(up(a), true, false);
            CHECK(same(here.LU, there.LU) && same(here.pivots, there.pivots));
            if (i % 3) continue;
            CHECK(same(tnp_linalg_solve(a, b, true), tnp_linalg_solve(up(a), up(b), true)));
            CHECK(
                same(tnp_linalg_inv_ex(a, false).inverse, tnp_linalg_inv_ex(up(a), false).inverse));
            CHECK(same(tnp_linalg_lu_solve(here.LU, here.pivots, b, true, true),
                       tnp_linalg_lu_solve(there.LU, there.pivots, up(b), true, true)));
        }
}
static void reflections_by_blocks_have_the_bits(void) {
    /* Also single columns, and 97, of which the CPU cuts one off. */
    static const int64_t sizes[][2] = {{70, 70}, {60, 90}, {200, 129}, {200, 40}},
                         columns[] = {35, 1, 97};
    for (int i = 0; i < 16; i++)
        TN_SCOPE {
            tn_tensor *a = numbers(2, sizes[i % 4][0], sizes[i % 4][1], dtypes[i / 4]),
                      *b = numbers(2, sizes[i % 4][0], columns[i % 3], dtypes[i / 4]);
            const tn_Q_R here = tnp_linalg_qr(a, i % 2 ? "complete" : "reduced"),
                         there = tnp_linalg_qr(up(a), i % 2 ? "complete" : "reduced");
            const tn_a_tau packed = tnp_geqrf(a), other = tnp_geqrf(up(a));
            CHECK(same(here.Q, there.Q) && same(here.R, there.R));
            CHECK(same(packed.a, other.a) && same(packed.tau, other.tau));
            CHECK(same(tnp_ormqr(packed.a, packed.tau, b, true, true),
                       tnp_ormqr(other.a, other.tau, up(b), true, true)));
            if (sizes[i % 4][0] < sizes[i % 4][1]) continue;
            CHECK(same(tnp_linalg_householder_product(packed.a, packed.tau),
                       tnp_linalg_householder_product(other.a, other.tau)));
        }
}
/* Stages of every radix, lengths of large primes, and lines in two passes. */
static void transforms_of_any_length_have_the_bits(void) {
    static const int64_t lengths[] = {1, 2, 210, 256, 961, 1000, 37, 1009, 36864, 65536, 20011};
    static const tn_dtype real[] = {TN_F32, TN_F64}, complex[] = {TN_C64, TN_C128};
    for (int i = 0; i < 22; i++)
        TN_SCOPE {
            const int64_t n = lengths[i / 2];
            tn_tensor *x = numbers(1, 3, n, complex[i % 2]), *y = numbers(1, 2, n, real[i % 2]),
                      *z = tnp_slice(x, 1, 0, n / 2 + 1, 1);
            CHECK(same(tnp_fft_fft(x, TN_NONE, -1, NULL), tnp_fft_fft(up(x), TN_NONE, -1, NULL)));
            CHECK(same(tnp_fft_ifft(x, TN_NONE, -1, NULL), tnp_fft_ifft(up(x), TN_NONE, -1, NULL)));
            CHECK(same(tnp_fft_rfft(y, n + 1, -1, NULL), tnp_fft_rfft(up(y), n + 1, -1, NULL)));
            CHECK(same(tnp_fft_ihfft(y, 2 * n, -1, NULL), tnp_fft_ihfft(up(y), 2 * n, -1, NULL)));
            CHECK(same(tnp_fft_irfft(z, n, -1, NULL), tnp_fft_irfft(up(z), n, -1, NULL)));
            CHECK(same(tnp_fft_hfft(x, 2 * n, -1, NULL), tnp_fft_hfft(up(x), 2 * n, -1, NULL)));
        }
}
/* Lines of more than 2048 elements, whose sums the CPU cuts. */
static void long_lines_are_resampled_with_the_bits(void) {
    static const int64_t sizes[][2] = {{5000, 3}, {5000, 4100}, {3000, 7001}};
    static const tn_resize_mode modes[] = {TN_RESIZE_MODE_LINEAR, TN_RESIZE_MODE_AREA};
    for (int i = 0; i < 6; i++)
        TN_SCOPE {
            tn_tensor *x = numbers(1, 2, sizes[i / 2][0], TN_F32),
                      *d = numbers(1, 2, sizes[i / 2][1], TN_F32);
            const tn_ints size = tn_ints_of(&sizes[i / 2][1], 1);
            const int64_t all[3] = {1, 2, sizes[i / 2][0]};
            const tn_floats none = {NULL, -1};
            const bool antialias = modes[i % 2] == TN_RESIZE_MODE_LINEAR;
            CHECK(same(tnp_resample(x, size, none, modes[i % 2], false, antialias),
                       tnp_resample(up(x), size, none, modes[i % 2], false, antialias)));
            CHECK(same(tnp_resample_input_grad(d, tn_ints_of(all, 3), 1, none, modes[i % 2], false,
                                               antialias),
                       tnp_resample_input_grad(up(d), tn_ints_of(all, 3), 1, none, modes[i % 2],
                                               false, antialias)));
        }
}

/* Degrees and squarings that differ within a batch; one matrix is not finite. */
static void exponentials_of_a_batch_have_the_bits(void) {
    for (int i = 0; i < 4; i++)
        TN_SCOPE {
            const double sizes[] = {1e-3, 0.05, 0.2, 0.4, 1, 30, 60, INFINITY};
            const int64_t shape[3] = {8, 1, 1};
            tn_tensor *scale = tnp_empty(tn_ints_of(shape, 3), TN_F64, TN_CPU), *x;
            memcpy(tn_data(scale), sizes, sizeof sizes);
            x = tnp_mul(numbers(8, 7, 7, dtypes[i]), tnp_to_dtype(scale, dtypes[i], false, false));
            CHECK(same(tnp_linalg_matrix_exp(x), tnp_linalg_matrix_exp(up(x))));
        }
}
/* (images, channels, depth, rows, columns, output channels, size of the kernel, columns of it) */
static void volumes_are_convolved_with_the_bits(void) {
    static const int64_t sizes[][8] = {{2, 16, 4, 9, 11, 20, 3, 3},
                                       {2, 3, 3, 2, 801, 2, 1, 3},
                                       {2, 3, 3, 2, 801, 5, 1, 2},
                                       {1, 1, 1, 5, 7, 1, 1, 1}};
    for (int i = 0; i < 16; i++)
        TN_SCOPE {
            const int64_t *z = sizes[i % 4], x_size[5] = {z[0], z[1], z[2], z[3], z[4]},
                          w_size[5] = {z[5], z[1], z[6], z[6], z[7]},
                          stride[3] = {1 + i / 8, 1, 1 + (i + i / 4) % 2},
                          pad[3] = {z[6] / 2, 0, 1}, one = 1;
            const tn_ints by = tn_ints_of(stride, 3), around = tn_ints_of(pad, 3),
                          dilation = tn_ints_of(&one, 1), all = tn_ints_of(x_size, 5),
                          taps = tn_ints_of(w_size, 5);
            tn_tensor *x = tnp_reshape(numbers(z[0], z[1], z[2] * z[3] * z[4], dtypes[i / 4]), all),
                      *w =
                          tnp_reshape(numbers(z[5], z[1], z[6] * z[6] * z[7], dtypes[i / 4]), taps),
                      *y = tnp_conv3d(x, w, NULL, by, around, dilation, 1);
            CHECK(same(y, tnp_conv3d(up(x), up(w), NULL, by, around, dilation, 1)));
            CHECK(same(tnp_conv3d_input_grad(y, w, all, by, around, dilation, 1),
                       tnp_conv3d_input_grad(up(y), up(w), all, by, around, dilation, 1)));
            CHECK(same(tnp_conv3d_weight_grad(y, x, taps, by, around, dilation, 1),
                       tnp_conv3d_weight_grad(up(y), up(x), taps, by, around, dilation, 1)));
        }
}

/* Keys over several tiles, in a few runs and in many; segments and groups that are long. */
static void runs_segments_and_groups_have_the_bits(void) {
    static const tn_dtype floats[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
    static const char *const ways[] = {"sum", "mean", "prod", "max", "min"};
    const int64_t n = 10001;
    for (int i = 0; i < 4; i++)
        TN_SCOPE {
            tn_tensor *key = tnp_randint_low(0, i % 2 ? 5 : 100000, tn_ints_of(&n, 1), NULL, TN_I64,
                                             TN_CPU),
                      *sorted = tnp_sort(key, -1, false).values, *every;
            every = i / 2 ? tnp_slice(sorted, 0, 1, TN_NONE, 2) : sorted;
            for (tn_tensor *x : {every, key}) {
                const tn_values_group here = tnp_sparse_distinct(x),
                                      there = tnp_sparse_distinct(up(x));
                CHECK(same(here.values, there.values) && same(here.group, there.group));
            }
        }
    for (int i = 0; i < 20; i++)
        TN_SCOPE {
            const int32_t end[4] = {30, 30, 300, 500};
            const int64_t four = 4;
            tn_tensor *x = numbers(3, 500, 400, floats[i / 5]),
                      *y = numbers(3, 400, 70, floats[i / 5]),
                      *offs = tnp_from(end, tn_ints_of(&four, 1), TN_I32, TN_CPU),
                      *a = tnp_select(x, 0, 0), *b = tnp_select(y, 0, 0),
                      *segments = tnp_narrow(offs, 0, 0, 3);
            CHECK(same(
                tnp_segment_reduce(a, ways[i % 5], NULL, NULL, offs, 0, false, tn_none()),
                tnp_segment_reduce(up(a), ways[i % 5], NULL, NULL, up(offs), 0, false, tn_none())));
            if (i % 5) continue;
            CHECK(same(tnp_grouped_mm(a, y, segments, NULL, TN_NO_DTYPE),
                       tnp_grouped_mm(up(a), up(y), up(segments), NULL, TN_NO_DTYPE)));
            CHECK(same(tnp_grouped_mm(x, y, NULL, NULL, TN_NO_DTYPE),
                       tnp_grouped_mm(up(x), up(y), NULL, NULL, TN_NO_DTYPE)));
            segments =
                tnp_mul_scalar(tnp_ones_like(segments, TN_NO_DTYPE, TN_NO_DEVICE), tn_int(60));
            CHECK(same(tnp_grouped_mm(x, b, segments, NULL, TN_NO_DTYPE),
                       tnp_grouped_mm(up(x), up(b), up(segments), NULL, TN_NO_DTYPE)));
        }
}

int main(void) {
    static const check_test tests[] = {
        CHECK_TEST(cholesky_by_blocks_has_the_bits),
        CHECK_TEST(triangular_systems_by_blocks_have_the_bits),
        CHECK_TEST(lu_by_blocks_has_the_bits),
        CHECK_TEST(reflections_by_blocks_have_the_bits),
        CHECK_TEST(transforms_of_any_length_have_the_bits),
        CHECK_TEST(long_lines_are_resampled_with_the_bits),
        CHECK_TEST(exponentials_of_a_batch_have_the_bits),
        CHECK_TEST(runs_segments_and_groups_have_the_bits),
        CHECK_TEST(volumes_are_convolved_with_the_bits),
    };
    char why[200] = "";
    setenv("EMU_GUARD", "0", 0); /* the lane has it elsewhere; here are many launches */
    const tn_backend *backend = tn_cuda_backend(why, sizeof why);
    if (!backend || !tn_backend_add(backend)) {
        printf("%s\n0 passed, 1 failed\n", why);
        return 1;
    }
    cuda = tn_device("cuda:0");
    return CHECK_MAIN(tests, 1, NULL);
}
