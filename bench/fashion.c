/* fashion.c - the training step of examples/fashion on random pictures: batch 64, Adam.
 *
 * Twin of fashion.py. `fashion STEPS THREADS` prints "name value" lines: step (median, ms),
 * loss_first, loss_last (of one seed, so that both programs are seen to do the same work), and
 * memory in MB as run.py explains. */
#define _POSIX_C_SOURCE 200809L
#include "tensor_nn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH = 64, WARM = 5, MOST = 1000 };

static double now(void) { /* ms */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int rising(const void *l, const void *r) {
    const double *d = (const double *)l, *e = (const double *)r;
    return (*d > *e) - (*d < *e);
}

/* MB of a line of /proc/self/status; 0 where there is none. */
static double memory(const char *name) {
    char line[256];
    double kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0) kb = strtod(line + strlen(name), NULL);
    if (f) fclose(f);
    return kb / 1024;
}

static void forget_peak(void) { /* VmHWM begins again at what is resident now */
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) fputs("5", f), fclose(f);
}

static double step(tn_module *net, tn_optimizer *adam, tn_tensor *x, tn_tensor *y) {
    double loss = 0;
    tn_optimizer_zero_grad(adam);
    TN_SCOPE {
        tn_tensor *l = tn_cross_entropy(tn_forward(net, x), y);
        tn_backward(l);
        loss = tn_item(l);
    }
    tn_optimizer_step(adam);
    return loss;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 20, threads = argc > 2 ? atoi(argv[2]) : 2;
    double time[MOST], first = 0, last = 0;
    if (steps < 1 || steps > MOST) return fputs("1 to 1000 steps\n", stderr), 2;
    tn_set_threads(threads);
    tn_manual_seed(1);
    tn_module *net = tn_sequential(tn_nn_conv2d(1, 32, TN_DIMS(3), .padding = TN_DIMS(1)),
                                   tn_nn_relu(), tn_nn_max_pool2d(TN_DIMS(2)),
                                   tn_nn_conv2d(32, 64, TN_DIMS(3), .padding = TN_DIMS(1)),
                                   tn_nn_relu(), tn_nn_max_pool2d(TN_DIMS(2)), tn_nn_flatten(),
                                   tn_nn_linear(3136, 128), tn_nn_relu(), tn_nn_linear(128, 10));
    tn_tensor *x = tn_randn(TN_DIMS(BATCH, 1, 28, 28)), *y = tn_randint(10, TN_DIMS(BATCH));
    tn_optimizer *adam = tn_optim_adam(tn_parameters(net), .lr = 1e-3);
    forget_peak();
    double resident = memory("VmRSS:"), anonymous = memory("RssAnon:");
    for (int k = -WARM; k < steps && tn_ok(); k++) {
        double start = now(), loss = step(net, adam, x, y);
        if (k >= 0) time[k] = now() - start;
        if (k == -WARM) first = loss;
        last = loss;
    }
    double peak = memory("VmHWM:"), own = peak - memory("RssFile:") - memory("RssShmem:");
    if (!tn_ok()) return tn_error_print();
    qsort(time, (size_t)steps, sizeof *time, rising);
    printf("step %.4f\npeak %.3f\nown %.3f\nloss_first %.6f\nloss_last %.6f\n", time[steps / 2],
           peak - resident, own - anonymous, first, last);
    tn_optimizer_free(adam);
    tn_module_free(net);
    tn_context_free(NULL);
    return 0;
}
