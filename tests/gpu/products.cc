/* products.cc - products of matrices on a GPU as programs get them, by cuBLASLt where it is
 * installed: each element against the sum in double by loops of this file, within the bound of the
 * error of a sum of k products in any order (Higham, Accuracy and Stability, 3.1): gamma(k) of the
 * accumulator times |a| |b|, and a rounding to the dtype of the result; with a summand in front of
 * the product a second one, for the library may round the product before it adds.
 * In emulation, where the library's calls are taken literally by loops, few small ones.
 *
 *     products          0 if all are; the last line but one says whether the library was used */
#include "../../src/api/cuda.h"
#include "../../src/api/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

static int passed, failed;
static tn_device_id device;

typedef std::vector<double> numbers;

static tn_ints dims(const std::vector<int64_t> &of) { return tn_ints_of(of.data(), of.size()); }
/* Random numbers of a shape and dtype on the device, and what they are after rounding. */
static tn_tensor *drawn(const std::vector<int64_t> &shape, tn_dtype dtype, numbers *v) {
    tn_tensor *host =
        tnp_to(tnp_randn(dims(shape), NULL, TN_F64, TN_CPU), TN_CPU, dtype, false, false);
    v->resize((size_t)tn_numel(host));
    if (!tn_read_f64(host, v->data(), (int64_t)v->size())) v->clear();
    return tnp_to(host, device, TN_NO_DTYPE, false, false);
}

struct product {
    int64_t batches, m, n, k;
    bool turn_a, turn_b, bias;
    double beta;
};

/* Half the distance of 1 from the next number. */
static double unit(tn_dtype dtype) {
    switch (dtype) {
    case TN_F64: return ldexp(1, -53);
    case TN_F32: return ldexp(1, -24);
    case TN_F16: return ldexp(1, -11);
    default: return ldexp(1, -8);
    }
}

/* The worst error of c over its bound. */
static double worst(const product &p, tn_dtype dtype, const numbers &a, const numbers &b,
                    const numbers &front, const numbers &c) {
    const double sum_unit = dtype == TN_F64 ? ldexp(1, -53) : ldexp(1, -24);
    double most = 0;
    for (int64_t batch = 0; batch < p.batches; batch++)
        for (int64_t i = 0; i < p.m; i++)
            for (int64_t j = 0; j < p.n; j++) {
                const double *x = &a[(size_t)(batch * p.m * p.k)],
                             *y = &b[(size_t)(batch * p.k * p.n)];
                double sum = 0, size = 0, alone;
                for (int64_t q = 0; q < p.k; q++) {
                    const double t = x[p.turn_a ? q * p.m + i : i * p.k + q] *
                                     y[p.turn_b ? j * p.k + q : q * p.n + j];
                    sum += t;
                    size += fabs(t);
                }
                alone = front.empty() ? 0 : fabs(sum);
                if (!front.empty()) {
                    const double t = p.beta * front[(size_t)(p.bias ? j : i * p.n + j)];
                    sum += t;
                    size += fabs(t);
                }
                const double bound = ((double)p.k + 4) * sum_unit * size +
                                     unit(dtype) * (fabs(sum) + alone) +
                                     (dtype == TN_F16 ? 6e-8 : 0),
                             error = fabs(c[(size_t)((batch * p.m + i) * p.n + j)] - sum) / bound;
                if (!(error <= most)) most = error >= 0 ? error : INFINITY; /* NaN is the worst */
            }
    return most;
}

static tn_tensor *computed(const product &p, tn_tensor *a, tn_tensor *b, tn_tensor *front) {
    const bool batched = p.batches > 1;
    if (p.turn_a) a = tnp_transpose(a, -2, -1);
    if (p.turn_b) b = tnp_transpose(b, -2, -1);
    if (front) return tnp_addmm(front, a, b, p.beta, 1);
    return batched ? tnp_bmm(a, b) : tnp_mm(a, b);
}

static void check(const product &p, tn_dtype dtype) {
    numbers x, y, z, got;
    const bool batched = p.batches > 1;
    TN_SCOPE {
        std::vector<int64_t> sa = {p.turn_a ? p.k : p.m, p.turn_a ? p.m : p.k},
                             sb = {p.turn_b ? p.n : p.k, p.turn_b ? p.k : p.n}, sc = {p.m, p.n};
        tn_tensor *a, *b, *c, *front = NULL;
        tn_error_info e;
        double most = INFINITY;
        if (batched) sa.insert(sa.begin(), p.batches), sb.insert(sb.begin(), p.batches);
        a = drawn(sa, dtype, &x);
        b = drawn(sb, dtype, &y);
        if (p.bias) sc = {p.n};
        if (p.beta != 0) front = drawn(sc, dtype, &z);
        c = computed(p, a, b, front);
        if (c) {
            got.resize((size_t)tn_numel(c));
            if (tn_read_f64(c, got.data(), (int64_t)got.size()))
                most = worst(p, dtype, x, y, z, got);
        }
        most <= 1 ? passed++ : failed++;
        if (!(most <= 1))
            printf("FAILED %s %lld x (%lld, %lld, %lld)%s%s%s beta %g: %.3g of the bound: %s\n",
                   tn_dtype_name(dtype), (long long)p.batches, (long long)p.m, (long long)p.k,
                   (long long)p.n, p.turn_a ? " a'" : "", p.turn_b ? " b'" : "",
                   p.bias ? " bias" : "", p.beta, most, tn_error_take(&e) ? e.message : "");
    }
}

/* Whether the process has the library's file. */
static bool library_used(void) {
    char line[1000];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) found = found || strstr(line, "libcublasLt");
    if (f) fclose(f);
    return found;
}

int main(void) {
    static const int64_t sizes[][3] = {{2, 2, 1},       {3, 5, 7},       {16, 16, 16},
                                       {64, 64, 64},    {33, 65, 129},   {128, 256, 64},
                                       {255, 257, 300}, {10, 784, 1000}, {512, 384, 640}};
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
    char why[200] = "";
#ifdef TNC_EMULATION
    setenv("TN_CUDA_EXACT", "0", 0);
    setenv("EMU_BLAS", "1", 0);
    setenv("EMU_BLAS_PLANS", "8", 0);
#endif
    const tn_backend *backend = tn_cuda_backend(why, sizeof why);
    if (!backend || !tn_backend_add(backend)) {
        printf("%s\n0 passed, 1 failed\n", why);
        return 1;
    }
    device = tn_device("cuda:0");
    for (tn_dtype dtype : dtypes)
        for (const auto &s : sizes) {
#ifdef TNC_EMULATION
            if (s[0] * s[1] * s[2] > 300000) continue;
#endif
            for (int turned = 0; turned < 4; turned++) {
                product p = {1, s[0], s[1], s[2], (turned & 1) != 0, (turned & 2) != 0, false, 0};
                check(p, dtype);
                p.beta = 0.5;
                check(p, dtype);
                p.beta = 1;
                p.bias = true;
                check(p, dtype);
                if (s[0] * s[1] * s[2] > 3000000) continue;
                p.beta = 0;
                p.bias = false;
                p.batches = 5;
                check(p, dtype);
            }
        }
#ifdef TNC_EMULATION
    setenv("EMU_BLAS", "3", 1); /* plans want more workspace than was asked for */
    check({1, 64, 64, 64, false, false, false, 0}, TN_F32);
    check({1, 10, 784, 100, true, false, false, 0.5}, TN_F64);
#endif
    printf("cuBLASLt %s\n", library_used() ? "was used" : "was not there");
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
