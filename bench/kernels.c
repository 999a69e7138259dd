/* kernels.c - what the large operators cost: matrix products, the convolutions of examples/fashion,
 * a pass over a million numbers. Twin of kernels.py, case by case. `kernels THREADS` prints a line
 * "name us" a case. */
#define _POSIX_C_SOURCE 200809L
#include "tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 7, MILLION = 1000000 };

static double now(void) { /* us */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int rising(const void *l, const void *r) {
    const double *d = (const double *)l, *e = (const double *)r;
    return (*d > *e) - (*d < *e);
}

/* Prints `name` and the microseconds of one call: the median of batches of at least 15 ms. */
#define MEASURE(name, call)                              \
    do {                                                 \
        if (!wanted(argc, argv, name)) break;            \
        double batch[BATCHES], start;                    \
        long calls = 1;                                  \
        TN_SCOPE {                                       \
            (void)!(call);                               \
        }                                                \
        for (;; calls *= 2) {                            \
            start = now();                               \
            for (long turn = 0; turn < calls; turn++)    \
                TN_SCOPE {                               \
                    (void)!(call);                       \
                }                                        \
            if (now() - start > 15e3) break;             \
        }                                                \
        for (int at = 0; at < BATCHES; at++) {           \
            start = now();                               \
            for (long turn = 0; turn < calls; turn++)    \
                TN_SCOPE {                               \
                    (void)!(call);                       \
                }                                        \
            batch[at] = (now() - start) / (double)calls; \
        }                                                \
        qsort(batch, BATCHES, sizeof *batch, rising);    \
        printf("%s %.3f\n", name, batch[BATCHES / 2]);   \
        fflush(stdout);                                  \
    } while (0)

/* All cases, or those whose name begins with one of the words after the number of threads. */
static bool wanted(int argc, char **argv, const char *name) {
    bool found = argc <= 2;
    for (int i = 2; i < argc; i++) found = found || strncmp(name, argv[i], strlen(argv[i])) == 0;
    return found && tn_ok();
}

static void products(int argc, char **argv) {
    static const int64_t size[][3] = {{64, 64, 64},       {256, 256, 256}, {512, 512, 512},
                                      {1024, 1024, 1024}, {37, 41, 53},    {64, 3136, 128},
                                      {32, 1024, 4096},   {1, 1024, 1024}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        TN_SCOPE { /* a (m, k), b (k, n) */
            char name[64];
            const int64_t m = size[i][0], k = size[i][1], n = size[i][2];
            tn_tensor *a = tn_randn(TN_DIMS(m, k)), *b = tn_randn(TN_DIMS(k, n));
            snprintf(name, sizeof name, "matmul_%dx%dx%d", (int)m, (int)k, (int)n);
            MEASURE(name, tn_matmul(a, b));
        }
}

static void convolutions(int argc, char **argv) {
    tn_tensor *x = tn_randn(TN_DIMS(64, 1, 28, 28)), *w = tn_randn(TN_DIMS(32, 1, 3, 3)),
              *b = tn_randn(TN_DIMS(32));
    tn_tensor *x2 = tn_randn(TN_DIMS(64, 32, 14, 14)), *w2 = tn_randn(TN_DIMS(64, 32, 3, 3)),
              *b2 = tn_randn(TN_DIMS(64));
    tn_tensor *g = tn_randn(TN_DIMS(64, 32, 28, 28)), *g2 = tn_randn(TN_DIMS(64, 64, 14, 14));
    MEASURE("conv1", tn_conv2d(x, w, .bias = b, .padding = TN_DIMS(1)));
    MEASURE("conv1_weight_grad",
            tn_conv2d_weight_grad(g, x, TN_DIMS(32, 1, 3, 3), .padding = TN_DIMS(1)));
    MEASURE("conv2", tn_conv2d(x2, w2, .bias = b2, .padding = TN_DIMS(1)));
    MEASURE("conv2_weight_grad",
            tn_conv2d_weight_grad(g2, x2, TN_DIMS(64, 32, 3, 3), .padding = TN_DIMS(1)));
    MEASURE("conv2_input_grad",
            tn_conv2d_input_grad(g2, w2, TN_DIMS(64, 32, 14, 14), .padding = TN_DIMS(1)));
    MEASURE("max_pool", tn_max_pool2d(g, TN_DIMS(2)));
    MEASURE("relu_64x32x28x28", tn_relu(g));
}

static void passes(int argc, char **argv) {
    tn_tensor *a = tn_randn(TN_DIMS(MILLION)), *b = tn_randn(TN_DIMS(MILLION)),
              *m = tn_randn(TN_DIMS(1000, 1000));
    MEASURE("add_1M", tn_add(a, b));
    MEASURE("add_transposed_1M", tn_add(m, tn_transpose(m, 0, 1)));
    MEASURE("exp_1M", tn_exp(a));
    MEASURE("sum_1M", tn_sum(a));
    MEASURE("sum_rows_1M", tn_sum(m, .dim = TN_DIMS(1)));
    MEASURE("sum_columns_1M", tn_sum(m, .dim = TN_DIMS(0)));
    MEASURE("softmax_1000x1000", tn_softmax(m, 1));
    MEASURE("randn_1M", tn_randn(TN_DIMS(MILLION)));
}

int main(int argc, char **argv) {
    tn_set_threads(argc > 1 ? atoi(argv[1]) : 2);
    tn_manual_seed(1);
    TN_SCOPE
        products(argc, argv);
    TN_SCOPE
        convolutions(argc, argv);
    TN_SCOPE
        passes(argc, argv);
    return tn_error_print();
}
