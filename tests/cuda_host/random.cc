/* random.cc - numbers that a device draws by itself (TN_CUDA_EXACT=0), in emulation: the words of
 * Philox against known answers and the host's, and each row's distribution by its moments.
 *
 *     random            0 if all is as it must be */
#include "../../src/cuda/random.cuh"
#include "../../src/api/ops.h"

#include <stdlib.h>

#include <algorithm>
#include <vector>

/* The host's (tensor/generator.c). */
extern "C" void tni_philox(uint64_t key, uint64_t subsequence, uint64_t offset, uint32_t to[4]);

static int passed, failed;
static tn_device_id device;

static void report(bool ok, const char *what) {
    tn_error_info e;
    ok ? passed++ : failed++;
    if (ok) return;
    printf("FAILED %s\n", what);
    if (tn_error_take(&e)) printf("    %s: %s\n", tn_code_name(e.code), e.message);
}

/* --- words ------------------------------------------------------------------------------------ */

__global__ void words_kernel(tn_draw draw, uint64_t i, uint32_t *to) { tnc_philox(draw, i, to); }

static bool words_are(uint64_t key, uint64_t number, uint64_t i, const uint32_t *want) {
    const tn_draw draw = {key, number};
    cudaStream_t s;
    uint32_t *at, got[4] = {0, 0, 0, 0};
    if (cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) ||
        cudaMalloc((void **)&at, sizeof got))
        return false;
    TNC_LAUNCH_PLAIN((words_kernel), 1, 1, s, draw, i, at);
    cudaMemcpyAsync(got, at, sizeof got, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);
    cudaFree(at);
    cudaStreamDestroy(s);
    return memcmp(got, want, sizeof got) == 0;
}

/* The counter's low half is i, its high half the number of the draw (Random123, kat_vectors). */
static void known_answers(void) {
    static const struct {
        uint64_t key, number, i;
        uint32_t want[4];
    } known[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {~(uint64_t)0,
         ~(uint64_t)0,
         ~(uint64_t)0,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822,
         0x0370734413198a2e,
         0x85a308d3243f6a88,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (const auto &k : known)
        report(words_are(k.key, k.number, k.i, k.want), "known answers of Philox4x32-10");
    for (uint64_t i = 0; i < 50; i++) {
        uint32_t want[4];
        const uint64_t key = i * 0x9e3779b97f4a7c15u, number = i * i;
        tni_philox(key, number, i << 31, want);
        report(words_are(key, number, i << 31, want), "the host's words");
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

static std::vector<double> read(tn_tensor *t) {
    std::vector<double> v;
    if (!t) return v;
    v.resize((size_t)tn_numel(t));
    if (!tn_read_f64(t, v.data(), (int64_t)v.size())) v.clear();
    return v;
}
static double mean_of(const std::vector<double> &v, double power, double about) {
    double sum = 0;
    for (double x : v) sum += pow(x - about, power);
    return sum / (double)v.size();
}
static bool near(double got, double want, double by) { return fabs(got - want) <= by; }

static tn_ints dims(int64_t n) {
    static thread_local int64_t size;
    size = n;
    return tn_ints_of(&size, 1);
}
static tn_tensor *uniform(int64_t n, tn_dtype dtype = TN_F32, tn_generator *g = NULL) {
    return tnp_rand(dims(n), g, dtype, device);
}
static tn_tensor *constant(int64_t n, double v) {
    return tnp_full(dims(n), tn_float(v), TN_NO_DTYPE, device);
}

enum { N = 40001 }; /* odd: the last words serve fewer elements */
static tn_tensor *empty(tn_dtype dtype) { return tnp_empty(dims(N), dtype, device); }

/* Whether the moments of v are those of the distribution, within 6 standard errors or what the
 * dtype's rounding adds. */
static void moments(const std::vector<double> &v, double mean, double variance, double fourth,
                    double rounding, const char *what) {
    const double n = (double)v.size(), m = v.empty() ? 0 : mean_of(v, 1, 0),
                 s = v.empty() ? 0 : mean_of(v, 2, mean);
    if (v.empty() || !near(m, mean, 6 * sqrt(variance / n) + rounding) ||
        !near(s, variance, 6 * sqrt((fourth - variance * variance) / n) + rounding)) {
        printf("    mean %g for %g, variance %g for %g\n", m, mean, s, variance);
        report(false, what);
        return;
    }
    report(true, what);
}
static void bounds(const std::vector<double> &v, double least, double below, const char *what) {
    bool ok = !v.empty();
    for (double x : v) ok = ok && x >= least && x < below;
    report(ok, what);
}

/* Neighbours, of which words and pairs are made, do not follow each other. */
static void independent(const std::vector<double> &v, double mean, double variance,
                        const char *what) {
    bool ok = !v.empty();
    for (size_t lag = 1; ok && lag <= 8; lag++) {
        double sum = 0;
        for (size_t i = 0; i + lag < v.size(); i++) sum += (v[i] - mean) * (v[i + lag] - mean);
        ok = near(sum / (double)(v.size() - lag) / variance, 0, 6 / sqrt((double)v.size()));
    }
    report(ok, what);
}

static void continuous(void) {
    static const tn_dtype dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
    for (tn_dtype dtype : dtypes) {
        const double rounding = dtype == TN_F16 ? 1e-3 : dtype == TN_BF16 ? 8e-3 : 0;
        const std::vector<double> u = read(uniform(N, dtype)),
                                  n = read(tnp_randn(dims(N), NULL, dtype, device));
        moments(u, 0.5, 1 / 12., 1 / 80., rounding, "rand: moments");
        bounds(u, 0, 1, "rand: 0 <= u < 1");
        independent(u, 0.5, 1 / 12., "rand: neighbours");
        moments(n, 0, 1, 3, rounding, "randn: moments");
        independent(n, 0, 1, "randn: neighbours");
        report(near(mean_of(n, 3, 0), 0, 6 * sqrt(15. / N) + rounding) &&
                   near(mean_of(n, 4, 0), 3, 6 * sqrt(96. / N) + 10 * rounding),
               "randn: third and fourth moment");
        bounds(read(tnp_uniform_(empty(dtype), -2, -1, NULL)), -2, -1, "uniform: bounds");
        moments(read(tnp_normal_(empty(dtype), 3, 0.5, NULL)), 3, 0.25, 3 / 16., 2 * rounding,
                "normal: moments");
        moments(read(tnp_exponential_(empty(dtype), 2, NULL)), 0.5, 0.25, 9 / 16., rounding,
                "exponential: moments");
    }
}

static void discrete(void) {
    const std::vector<double> few =
                                  read(tnp_randint_low(-3, 7, dims(N), NULL, TN_NO_DTYPE, device)),
                              many = read(tnp_randint((int64_t)1 << 40, dims(N), NULL, TN_NO_DTYPE,
                                                      device)),
                              bytes = read(tnp_random_(empty(TN_U8), NULL));
    std::vector<int> count(10);
    bounds(few, -3, 7, "randint_low: bounds");
    bounds(many, 0, (double)((int64_t)1 << 40), "randint: bounds");
    moments(few, 1.5, 8.25, 120.8625, 0, "randint_low: moments");
    for (double v : few) count[(size_t)(v + 3)]++;
    for (int c : count) report(near(c, N / 10., 6 * sqrt(N * 0.09)), "randint_low: each number");
    moments(bytes, 127.5, 65535 / 12., (3 * 65536. - 7) * 65535 / 240, 0,
            "random: moments of bytes");
    moments(read(tnp_bernoulli_float_(empty(TN_F32), 0.3, NULL)), 0.3, 0.21,
            0.3 * pow(0.7, 4) + 0.7 * pow(0.3, 4), 0, "bernoulli_float: moments");
    moments(read(tnp_bernoulli(constant(N, 0.2), NULL)), 0.2, 0.16,
            0.2 * pow(0.8, 4) + 0.8 * pow(0.2, 4), 0, "bernoulli: moments");
    report(!tnp_bernoulli(constant(5, 1.5), NULL) && tn_error_take(NULL),
           "bernoulli: what is no probability");
}

/* Each of n numbers once; of few numbers each order as often as the others. */
static void permutations(void) {
    static const int64_t sizes[] = {0, 1, 2, 3, 1000, 1024, 1025, 5000};
    std::vector<int> order(27);
    for (int64_t n : sizes) {
        std::vector<double> p = read(tnp_randperm(n, NULL, TN_NO_DTYPE, device)), sorted = p;
        bool ok = (int64_t)p.size() == n, moved = n < 1000;
        std::sort(sorted.begin(), sorted.end());
        for (size_t i = 0; ok && i < p.size(); i++) {
            ok = sorted[i] == (double)i;
            moved = moved || p[i] != (double)i;
        }
        report(ok && moved, "randperm: each number once, in another order");
    }
    for (int i = 0; i < 1200; i++) {
        const std::vector<double> p = read(tnp_randperm(3, NULL, TN_I32, device));
        if (p.size() == 3) order[(size_t)(9 * p[0] + 3 * p[1] + p[2])]++;
    }
    for (int k : {5, 7, 11, 15, 19, 21})
        report(near(order[(size_t)k], 200, 6 * sqrt(200 * 5 / 6.)), "randperm: each order");
}

static void dropouts(void) {
    tn_tensor *x = constant(N, 1), *y;
    tn_backward_args back;
    std::vector<double> kept, grad;
    tn_requires_grad(x);
    y = tnp_dropout(x, 0.25, true);
    kept = read(tnp_detach(y));
    moments(kept, 1, 1 / 3., 7 / 27., 1e-6, "dropout: moments");
    for (double v : kept)
        if (v != 0 && v != (double)(float)(1 / 0.75)) {
            report(false, "dropout: 0 or 1 / (1 - p)");
            break;
        }
    memset(&back, 0, sizeof back);
    back.t = tnp_sum(y, TN_NO_DIMS, false, TN_NO_DTYPE);
    report(tn_backward_at(NULL, 0, &back) && tn_grad_of(x), "dropout: has a gradient");
    report((grad = read(tn_grad_of(x))) == kept, "dropout: passes the gradient where it kept");
    bounds(read(tnp_dropout(tnp_detach(x), 1, true)), 0, 1e-30, "dropout: p = 1 keeps nothing");
}

/* Pieces of a walk begin with either of two neighbours, whose words are made together. */
static void dropouts_by_pieces(void) {
    const int64_t size[2] = {51, 40};
    tn_tensor *all = tnp_reshape(constant(51 * 40, 1), tn_ints_of(size, 2)),
              *part = tnp_narrow(all, 1, 1, 37);
    tn_manual_seed(9);
    const std::vector<double> strided = read(tnp_dropout(part, 0.5, true));
    tn_manual_seed(9);
    part = tnp_clone(part, TN_MEMORY_FORMAT_CONTIGUOUS_FORMAT);
    report(strided.size() == 51 * 37 && strided == read(tnp_dropout(part, 0.5, true)),
           "dropout: strides do not change what is kept");
}

/* --- streams ---------------------------------------------------------------------------------- */

static void streams(void) {
    uint8_t state[TN_GENERATOR_BYTES];
    std::vector<double> a, b, c, long_one;
    tn_generator *own = tn_generator_new(5);
    tn_manual_seed(5);
    a = read(uniform(100));
    tn_generator_state(tn_default_generator(), state);
    b = read(uniform(100));
    report(a != b, "two draws differ");
    tn_manual_seed(5);
    report(read(uniform(100)) == a, "a seed gives its numbers again");
    report(read(uniform(100)) == b, "and those after them");
    report(tn_generator_set_state(tn_default_generator(), state) && read(uniform(100)) == b,
           "a state tells the number of draws");
    report(read(uniform(100, TN_F32, own)) == a, "an own generator of that seed gives them, too");
    tn_manual_seed(5);
    long_one = read(uniform(N));
    long_one.resize(100);
    report(long_one == a, "a longer draw begins alike");
    tn_manual_seed(5);
    c = read(tnp_rand(dims(100), NULL, TN_F32, TN_CPU));
    tn_manual_seed(5);
    read(uniform(100));
    report(read(tnp_rand(dims(100), NULL, TN_F32, TN_CPU)) == c,
           "a draw on the device leaves the CPU's numbers alone");
    tn_generator_free(own);
}

int main() {
    char why[200] = "";
    const tn_backend *cuda;
    setenv("TN_CUDA_EXACT", "0", 1);
    setenv("EMU_PIECE", "41", 1); /* elements: rows of 37 and lines of 51 * 37 are cut apart */
    cuda = tn_cuda_backend(why, sizeof why);
    if (!cuda || !tn_backend_add(cuda)) return puts(why), 1;
    device = tn_device("cuda:0");
    tn_manual_seed(2026);
    known_answers();
    continuous();
    discrete();
    permutations();
    dropouts();
    dropouts_by_pieces();
    streams();
    tn_context_free(NULL);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
