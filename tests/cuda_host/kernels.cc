/* kernels.cc - the CUDA backend in emulation, where sizes, dtypes or places that rows' samples do
 * not have choose a kernel or its way: the CPU's bits. */
#include "../../src/api/cuda.h"
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>
#include <vector>

static tn_device_id cuda;

static tn_tensor *up(tn_tensor *x) { return tnp_to(x, cuda, TN_NO_DTYPE, false, false); }
static bool same(tn_tensor *here, tn_tensor *there) {
    tn_tensor *x = tnp_contiguous(here),
              *y = tnp_contiguous(tnp_to(there, TN_CPU, TN_NO_DTYPE, false, false));
    return x && y && tn_numel(x) == tn_numel(y) && tn_dtype_of(x) == tn_dtype_of(y) &&
           memcmp(tn_data(x), tn_data(y),
                  (size_t)(tn_numel(x) * (int64_t)tn_dtype_bytes(tn_dtype_of(x)))) == 0;
}

/* --- poolings --------------------------------------------------------------------------------- */

/* Dilated windows that miss the input have the least number of their dtype. */
static void windows_without_elements_have_the_least_number(void) {
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16, TN_I8,
                                      TN_U8,  TN_I16, TN_I32, TN_I64};
    static const double least[] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY,        INT8_MIN,
                                   0,         INT16_MIN, INT32_MIN, (double)INT64_MIN};
    const int64_t size[4] = {1, 2, 2, 3}, kernel[3] = {1, 1, 2}, pad[3] = {0, 0, 1},
                  one[3] = {1, 1, 1}, dilation[3] = {1, 1, 4};
    const tn_ints k = tn_ints_of(kernel + 1, 2), p = tn_ints_of(pad + 1, 2), s = tn_ints_of(one, 2),
                  d = tn_ints_of(dilation + 1, 2);
    for (int i = 0; i < 9; i++)
        TN_SCOPE {
            tn_tensor *x = tnp_reshape(tnp_arange(tn_int(12), dtypes[i], TN_CPU),
                                       tn_ints_of(size, 4)),
                      *y = tnp_max_pool2d(x, k, s, p, d, false);
            double v[4] = {0};
            CHECK(y && tn_numel(y) == 4 && tn_read_f64(y, v, 4));
            CHECK(v[0] == least[i] && v[3] == least[i]);
            CHECK(same(y, tnp_max_pool2d(up(x), k, s, p, d, false)));
            const auto here = tnp_max_pool2d_with_indices(x, k, s, p, d, false),
                       there = tnp_max_pool2d_with_indices(up(x), k, s, p, d, false);
            CHECK(same(y, here.result) && same(y, there.result));
            CHECK(same(here.indices, there.indices));
            y = tnp_max_pool3d(x, tn_ints_of(kernel, 3), tn_ints_of(one, 3), tn_ints_of(pad, 3),
                               tn_ints_of(dilation, 3), false);
            CHECK(y && tn_read_f64(y, v, 4) && v[2] == least[i]);
        }
}

/* --- copies ----------------------------------------------------------------------------------- */

/* Parts of rows: neighbours are moved together only where all of them lie so that a wide access is
 * aligned, which the emulation checks. */
static void parts_of_rows_are_copied_and_filled(void) {
    static const tn_dtype dtypes[] = {TN_U8, TN_I16, TN_F32, TN_F64, TN_C128};
    for (int i = 0; i < 5; i++)
        for (int64_t wide = 16; wide < 22; wide++)
            for (int64_t from = 0; from < 5; from++)
                TN_SCOPE {
                    const int64_t shape[2] = {3, wide};
                    tn_tensor *all = tnp_reshape(
                                  tnp_to_dtype(tnp_arange(tn_int(3 * wide), TN_I64, TN_CPU),
                                               dtypes[i], false, false),
                                  tn_ints_of(shape, 2)),
                              *there = up(all), *x = tnp_narrow(all, 1, from, 16 - from),
                              *y = tnp_narrow(there, 1, from, 16 - from);
                    CHECK(same(x, tnp_clone(y, TN_MEMORY_FORMAT_PRESERVE_FORMAT)));
                    CHECK(tnp_fill_(x, tn_int(7)) && tnp_fill_(y, tn_int(7)) && same(all, there));
                    CHECK(tnp_copy_(y, tnp_neg(y)) && tnp_copy_(x, tnp_neg(x)));
                    CHECK(same(all, there));
                }
}

/* --- sorts ------------------------------------------------------------------------------------ */

/* Numbers with many that are equal, NaN, infinities and both zeros among them. */
static tn_tensor *mixed(int64_t rows, int64_t n, tn_dtype dtype) {
    std::vector<double> v((size_t)(rows * n));
    const int64_t size[2] = {rows, n};
    uint64_t seed = 77;
    for (size_t i = 0; i < v.size(); i++) {
        static const double special[] = {(double)NAN, INFINITY, -INFINITY, -0.0, 0.0};
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int k = (int)(seed >> 40) % 1000;
        v[i] = k < 10 && (dtype == TN_F32 || dtype == TN_F16) ? special[k % 5]
               : k < 500                                      ? k % 7
                         : (double)(int64_t)(seed >> 48) - 32768;
    }
    tn_tensor *wide = tn_from(v.data(), tn_ints_of(size, 2), TN_F64);
    return tnp_to_dtype(wide, dtype, false, false);
}
/* Rows that are merged, and rows that are sorted by one digit, by two and by four. */
static void rows_of_any_length_are_sorted(void) {
    static const struct {
        tn_dtype dtype;
        int64_t rows, n;
    } cases[] = {{TN_U8, 3, 2049},  {TN_I8, 1, 5000},   {TN_BOOL, 2, 4096}, {TN_I16, 2, 4111},
                 {TN_F16, 1, 6145}, {TN_BF16, 1, 9000}, {TN_F32, 1, 33001}, {TN_I32, 1, 17000},
                 {TN_I64, 1, 4500}, {TN_F64, 2, 2500},  {TN_F32, 2, 3000},  {TN_U8, 1, 200000}};
    for (const auto &z : cases)
        for (int down = 0; down < 2; down++)
            TN_SCOPE {
                tn_tensor *x = mixed(z.rows, z.n, z.dtype);
                const auto here = tnp_sort(x, -1, down), there = tnp_sort(up(x), -1, down);
                CHECK(same(here.values, there.values) && same(here.indices, there.indices));
                if (down || z.dtype == TN_BOOL) continue;
                const auto mode = tnp_mode(x, -1, false), found = tnp_mode(up(x), -1, false);
                CHECK(same(mode.values, found.values) && same(mode.indices, found.indices));
                const auto most = tnp_topk(x, z.n - 5, -1, true, true),
                           least = tnp_topk(up(x), z.n - 5, -1, true, true);
                CHECK(same(most.values, least.values) && same(most.indices, least.indices));
            }
}
/* Additions to 300 places and to 70; a wrong one is left out, and told. */
static void additions_of_many_places_keep_their_order(void) {
    for (int i = 0; i < 2; i++)
        TN_SCOPE {
            const int64_t n = 9001, size = i ? 70 : 300;
            tn_tensor *x = tnp_randn(tn_ints_of(&n, 1), NULL, TN_F32, TN_CPU),
                      *to = tnp_zeros(tn_ints_of(&size, 1), TN_F32, TN_CPU),
                      *k = tnp_randint_low(0, size, tn_ints_of(&n, 1), NULL, TN_I64, TN_CPU), *y;
            CHECK(same(tnp_index_add(to, 0, k, x, 1), tnp_index_add(up(to), 0, up(k), up(x), 1)));
            CHECK(same(tnp_scatter_add(to, 0, k, x), tnp_scatter_add(up(to), 0, up(k), up(x))));
            std::vector<int64_t> wrong((size_t)n);
            std::vector<float> zero((size_t)n);
            tn_error_info e;
            CHECK(tn_read_f32(x, zero.data(), n));
            memcpy(wrong.data(), tn_data(k), (size_t)n * sizeof wrong[0]);
            for (size_t p = 0; p < 99; p++) {
                zero[7 * p] = 0;
                wrong[7 * p] = size + 5;
            }
            y = tnp_scatter_add(up(to), 0, up(tn_from(wrong.data(), tn_ints_of(&n, 1), TN_I64)),
                                up(x));
            CHECK(!tn_device_wait(cuda) && tn_error_take(&e) && e.code == TN_INDEX);
            x = tn_from(zero.data(), tn_ints_of(&n, 1), TN_F32);
            CHECK(same(tnp_scatter_add(to, 0, k, x), y));
        }
}

/* --- scans ------------------------------------------------------------------------------------ */

/* Lines of one tile, of several, and more lines than a block has; along either dimension. */
static void lines_of_any_length_are_scanned(void) {
    static const int64_t sizes[][2] = {{1, 1}, {35, 31}, {33, 64}, {3, 65}, {9, 128}, {17, 600}};
    const int64_t wide[2] = {2, 4500}; /* integers in three pieces a line */
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_C64, TN_I32};
    for (const auto &size : sizes)
        for (tn_dtype dtype : dtypes)
            TN_SCOPE {
                const tn_ints shape = tn_ints_of(size, 2);
                tn_tensor *x = tnp_to_dtype(tnp_randn(shape, NULL, TN_F64, TN_CPU), dtype, false,
                                            false),
                          *w = tnp_to_dtype(tnp_rand(shape, NULL, TN_F64, TN_CPU), dtype, false,
                                            false),
                          *y = tnp_transpose(x, 0, 1);
                for (int d = 0; d < 2; d++) {
                    CHECK(same(tnp_cumsum(x, d, TN_NO_DTYPE), tnp_cumsum(up(x), d, TN_NO_DTYPE)));
                    CHECK(same(tnp_cumprod(x, d, TN_NO_DTYPE), tnp_cumprod(up(x), d, TN_NO_DTYPE)));
                    CHECK(same(tnp_cumsum(y, d, TN_NO_DTYPE),
                               tnp_cumsum(tnp_transpose(up(x), 0, 1), d, TN_NO_DTYPE)));
                    for (int back = 0; back < 2 && dtype != TN_I32; back++)
                        CHECK(same(tnp_linear_recurrence(x, w, d, back),
                                   tnp_linear_recurrence(up(x), up(w), d, back)));
                }
            }
    TN_SCOPE {
        tn_tensor *x = tnp_randint_low(-9, 9, tn_ints_of(wide, 2), NULL, TN_I64, TN_CPU);
        CHECK(same(tnp_cumsum(x, 1, TN_NO_DTYPE), tnp_cumsum(up(x), 1, TN_NO_DTYPE)));
        x = tnp_bitwise_or_scalar(x, tn_int(1));
        CHECK(same(tnp_cumprod(x, 1, TN_NO_DTYPE), tnp_cumprod(up(x), 1, TN_NO_DTYPE)));
    }
}

/* Extremes of lines of one piece and of three, with equal ones and NaN; along either dimension. */
static void extremes_run_as_on_the_cpu(void) {
    static const struct {
        tn_dtype dtype;
        int64_t rows, n;
    } cases[] = {{TN_F32, 3, 33},   {TN_F16, 2, 2048}, {TN_F32, 2, 4500},
                 {TN_I32, 2, 4097}, {TN_U8, 1, 2049},  {TN_F64, 5, 7}};
    for (const auto &z : cases)
        TN_SCOPE {
            tn_tensor *x = mixed(z.rows, z.n, z.dtype), *on = up(x);
            for (int64_t d = z.n > 100; d < 2; d++) {
                const auto most = tnp_cummax(x, d), found = tnp_cummax(on, d),
                           least = tnp_cummin(x, d), there = tnp_cummin(on, d);
                CHECK(same(most.values, found.values) && same(most.indices, found.indices));
                CHECK(same(least.values, there.values) && same(least.indices, there.indices));
            }
        }
    TN_SCOPE { /* no two NaN are equal */
        const int64_t n = 300;
        tn_tensor *x = tnp_full(tn_ints_of(&n, 1), tn_float((double)NAN), TN_F32, TN_CPU);
        const auto here = tnp_mode(x, 0, false), there = tnp_mode(up(x), 0, false);
        CHECK(same(here.indices, there.indices));
    }
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Columns of one block of 64 rows, of a few, of more than a tree's 8 threads, and of two trees. */
static void columns_of_any_length_are_reduced(void) {
    static const int64_t sizes[][2] = {{64, 5},   {65, 33},  {199, 3},   {520, 40},
                                       {577, 31}, {1100, 2}, {2113, 33}, {17000, 2}};
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_I32};
    const int64_t zero = 0;
    const tn_ints d = tn_ints_of(&zero, 1);
    for (const auto &size : sizes)
        for (tn_dtype dtype : dtypes)
            TN_SCOPE {
                tn_tensor *x = tnp_to_dtype(tnp_randn(tn_ints_of(size, 2), NULL, TN_F64, TN_CPU),
                                            dtype, false, false),
                          *on = up(x);
                CHECK(same(tnp_sum(x, d, false, TN_NO_DTYPE), tnp_sum(on, d, false, TN_NO_DTYPE)));
                CHECK(same(tnp_argmax(x, 0, false), tnp_argmax(on, 0, false)));
                if (dtype == TN_I32) continue;
                CHECK(same(tnp_var(x, d, tn_int(1), false), tnp_var(on, d, tn_int(1), false)));
                x = tnp_slice(x, 0, 1, TN_NONE, 2); /* rows further apart */
                on = tnp_slice(on, 0, 1, TN_NONE, 2);
                CHECK(
                    same(tnp_mean(x, d, false, TN_NO_DTYPE), tnp_mean(on, d, false, TN_NO_DTYPE)));
            }
}
/* A matrix by a vector, batches of them among which lanes of a warp change, more than a block of k,
 * and numbers of terms that no warp shares. */
static void matrices_by_vectors_have_the_bits(void) {
    static const int64_t sizes[][3] = {{1, 33, 31}, {1, 70, 385}, {3, 11, 64}, {5, 7, 801}};
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_BF16, TN_C64, TN_I64};
    for (const auto &z : sizes)
        for (tn_dtype dtype : dtypes)
            TN_SCOPE {
                const int64_t left[3] = {z[0], z[1], z[2]}, right[3] = {z[0], z[2], 1};
                tn_tensor *a = tnp_to_dtype(tnp_randn(tn_ints_of(left, 3), NULL, TN_F64, TN_CPU),
                                            dtype, false, false),
                          *v = tnp_to_dtype(tnp_randn(tn_ints_of(right, 3), NULL, TN_F64, TN_CPU),
                                            dtype, false, false);
                CHECK(same(tnp_matmul(a, v), tnp_matmul(up(a), up(v))));
                a = tnp_transpose(a, 1, 2);
                v = tnp_transpose(v, 1, 2);
                CHECK(same(tnp_matmul(v, a),
                           tnp_matmul(up(v), tnp_transpose(up(tnp_transpose(a, 1, 2)), 1, 2))));
            }
}

/* --- closeness -------------------------------------------------------------------------------- */

/* Of elements that are 5 apart: 5 is still close, the number before it is not. */
static void pairs_as_far_apart_as_atol_are_close(void) {
    static const tn_dtype dtypes[] = {TN_F32, TN_I64, TN_C64, TN_C128};
    const int64_t one = 1;
    for (tn_dtype dtype : dtypes)
        TN_SCOPE {
            const bool complex = dtype == TN_C64 || dtype == TN_C128;
            const tn_scalar far = complex ? tn_complex(3, -4) : tn_int(5);
            tn_tensor *x = tnp_full(tn_ints_of(&one, 1), far, dtype, TN_CPU),
                      *y = tnp_zeros_like(x, TN_NO_DTYPE, TN_NO_DEVICE);
            for (int less = 0; less < 2; less++) {
                tn_tensor *on = tnp_isclose(up(x), up(y), 0, less ? nextafter(5, 0) : 5, false);
                double close = -1;
                CHECK(on && tn_read_f64(on, &close, 1) && close == !less);
            }
        }
}

int main(void) {
    static const check_test tests[] = {
        CHECK_TEST(windows_without_elements_have_the_least_number),
        CHECK_TEST(parts_of_rows_are_copied_and_filled),
        CHECK_TEST(rows_of_any_length_are_sorted),
        CHECK_TEST(lines_of_any_length_are_scanned),
        CHECK_TEST(extremes_run_as_on_the_cpu),
        CHECK_TEST(additions_of_many_places_keep_their_order),
        CHECK_TEST(columns_of_any_length_are_reduced),
        CHECK_TEST(matrices_by_vectors_have_the_bits),
        CHECK_TEST(pairs_as_far_apart_as_atol_are_close),
    };
    char why[200] = "";
    const tn_backend *backend = tn_cuda_backend(why, sizeof why);
    if (!backend || !tn_backend_add(backend)) {
        printf("%s\n0 passed, 1 failed\n", why);
        return 1;
    }
    cuda = tn_device("cuda:0");
    return CHECK_MAIN(tests, 1, NULL);
}
