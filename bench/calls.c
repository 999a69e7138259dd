/* calls.c - what a call costs: tensors of four floats, where the work itself is next to nothing.
 *
 * Twin of calls.cpp: the same cases under the same names, the same loops. `calls` prints a line
 * "name ns" a case; `calls N` runs each case twice with N calls, for callgrind to count the second.
 * Compared by run.py. */
#define _POSIX_C_SOURCE 200809L
#include "tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static tn_tensor *a, *b, *p, *q, *x, *w, *bias, *m, *last;

/* Each call in a scope of its own, so that what it made is gone before the next, as in C++. */
#define CASE(name, call)                 \
    void case_##name(long calls);        \
    void case_##name(long calls) {       \
        for (long i = 0; i < calls; i++) \
            TN_SCOPE {                   \
                (void)!(call);           \
            }                            \
    }
CASE(add, tn_add(a, b))
CASE(add_recording, tn_add(p, b))
CASE(mul_sum_backward, tn_backward(tn_sum(tn_mul(p, q))))
CASE(linear, tn_linear(x, w, .bias = bias))
CASE(transpose, last = tn_transpose(m, 0, 1))
CASE(add_in_place, tn_add_(a, b))

static const struct {
    const char *name;
    void (*run)(long calls);
} cases[] = {{"add", case_add},
             {"add_recording", case_add_recording},
             {"mul_sum_backward", case_mul_sum_backward},
             {"linear", case_linear},
             {"transpose", case_transpose},
             {"add_in_place", case_add_in_place}};
enum { CASES = sizeof cases / sizeof *cases, BATCHES = 15 };

static double now(void) { /* ns */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int rising(const void *l, const void *r) {
    const double *d = (const double *)l, *e = (const double *)r;
    return (*d > *e) - (*d < *e);
}

/* ns a call: the median of batches of about 3 ms. */
static double measure(void (*run)(long calls)) {
    double batch[BATCHES];
    long calls = 100;
    for (;; calls *= 2) {
        double start = now();
        run(calls);
        if (now() - start > 3e6) break;
    }
    for (int k = 0; k < BATCHES; k++) {
        double start = now();
        run(calls);
        batch[k] = (now() - start) / (double)calls;
    }
    qsort(batch, BATCHES, sizeof *batch, rising);
    return batch[BATCHES / 2];
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 0;
    const float small[4] = {1e-6f, 2e-6f, 3e-6f, 4e-6f};
    tn_manual_seed(1);
    a = tn_randn(TN_DIMS(4)), b = tn_from_f32(small, TN_DIMS(4));
    p = tn_requires_grad(tn_randn(TN_DIMS(4))), q = tn_requires_grad(tn_randn(TN_DIMS(4)));
    x = tn_randn(TN_DIMS(1, 4)), w = tn_randn(TN_DIMS(4, 4)), bias = tn_randn(TN_DIMS(4)),
    m = tn_randn(TN_DIMS(2, 2));
    for (int k = 0; k < CASES; k++)
        if (count)
            cases[k].run(count), cases[k].run(count);
        else
            printf("%s %.3f\n", cases[k].name, measure(cases[k].run));
    cases[0].run(0); /* callgrind closes a case as the next begins */
    return tn_error_print();
}
