/* hogwild.c - processes train one network in shared memory, without a lock.
 *
 * Each process steps on the weights as it finds them; what another writes meanwhile is simply
 * there, and a step that is lost matters little (B. Recht et al., Hogwild!, 2011). The weights are
 * memory that mmap shares with the children of fork; examples/python/hogwild.py does the same.
 *
 *     cc -O2 -I. examples/hogwild.c -o hogwild -lm -pthread && ./hogwild */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIXELS = 64, HIDDEN = 256, CLASSES = 10, BATCH = 64, STEPS = 8000, PROCESSES = 2 };

/* --- a network whose weights lie in memory of the program ------------------------------------- */

enum { HIDDEN_WEIGHT, HIDDEN_BIAS, OUT_WEIGHT, OUT_BIAS, WEIGHTS };
typedef struct shared_weights {
    float hidden_weight[HIDDEN][PIXELS], hidden_bias[HIDDEN];
    float out_weight[CLASSES][HIDDEN], out_bias[CLASSES];
} shared_weights;

/* Tensors over the memory, which begin as torch's Linear does. */
static void weights_new(tn_tensor **w, shared_weights *at) {
    float *const data[WEIGHTS] = {at->hidden_weight[0], at->hidden_bias, at->out_weight[0],
                                  at->out_bias};
    const tn_ints shape[WEIGHTS] = {TN_DIMS(HIDDEN, PIXELS), TN_DIMS(HIDDEN),
                                    TN_DIMS(CLASSES, HIDDEN), TN_DIMS(CLASSES)};
    for (int i = 0; i < WEIGHTS; i++)
        TN_SCOPE {
            const double bound = i < OUT_WEIGHT ? 1 / sqrt(PIXELS) : 1 / sqrt(HIDDEN);
            tn_tensor *t = tn_wrap(data[i], shape[i], TN_F32, NULL);
            w[i] = tn_hold(tn_requires_grad(tn_uniform_(t, .from = -bound, .to = bound)));
        }
}
static tn_tensor *network(tn_tensor *x, tn_tensor *const *w) {
    tn_tensor *h = tn_relu(tn_linear(x, w[HIDDEN_WEIGHT], .bias = w[HIDDEN_BIAS]));
    return tn_linear(h, w[OUT_WEIGHT], .bias = w[OUT_BIAS]);
}

/* --- processes -------------------------------------------------------------------------------- */

typedef struct digits {
    tn_tensor *images, *labels; /* (N, PIXELS), (N) */
} digits;

/* What a process does. */
static void work(const digits *seen, tn_tensor *const *w, int steps, int seed) {
    tn_set_threads(1);
    tn_manual_seed((uint64_t)seed);
    tn_optimizer *opt = tn_optim_sgd(tn_tensors_of(w, WEIGHTS), .lr = 0.1);
    while (steps-- > 0 && tn_ok())
        TN_SCOPE {
            tn_tensor *some = tn_randint(tn_size(seen->images, 0), TN_DIMS(BATCH));
            tn_tensor *scores = network(tn_index_select(seen->images, 0, some), w);
            tn_tensor *loss = tn_cross_entropy(scores, tn_index_select(seen->labels, 0, some));
            tn_optimizer_zero_grad(opt);
            tn_backward(loss);
            tn_optimizer_step(opt);
        }
    tn_optimizer_free(opt);
}
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
/* Trains in at most PROCESSES processes, STEPS in all; the seconds that it took, or an error. */
static double train(const digits *seen, tn_tensor *const *w, int processes) {
    const double began = now();
    pid_t child[PROCESSES];
    int started = 0, status;
    for (; started < processes; started++) {
        child[started] = fork();
        if (child[started] < 0) break;
        if (child[started] == 0) {
            work(seen, w, STEPS / processes, started);
            _exit(tn_error_print());
        }
    }
    if (started < processes)
        tn_error_set(TN_UNSUPPORTED, __FILE__, __LINE__, "fork: %s", strerror(errno));
    for (int i = 0; i < started; i++)
        if (waitpid(child[i], &status, 0) < 0 || status != 0)
            tn_error_set(TN_UNSUPPORTED, __FILE__, __LINE__, "process %d has failed", i);
    return now() - began;
}
static double percent_right(const digits *unseen, tn_tensor *const *w) {
    double right = 0;
    tn_no_grad {
        tn_tensor *guess = tn_argmax(network(unseen->images, w), .dim = 1);
        right = tn_item(tn_mean(tn_to_dtype(tn_eq(guess, unseen->labels), TN_F64)));
    }
    return 100 * right;
}

/* --- the race --------------------------------------------------------------------------------- */

static digits digits_part(const digits *all, int64_t begin, int64_t n) {
    const digits d = {tn_narrow(all->images, 0, begin, n), tn_narrow(all->labels, 0, begin, n)};
    return d;
}
static digits digits_load(const char *folder) {
    char path[1000];
    digits d = {0};
    snprintf(path, sizeof path, "%s/images-idx3-ubyte", folder);
    tn_tensor *bytes = tn_load_idx(path); /* (N, 8, 8), white is 16 */
    d.images = tn_flatten(tn_div_scalar(bytes, 16), .start_dim = 1);
    snprintf(path, sizeof path, "%s/labels-idx1-ubyte", folder);
    if (tn_ok()) d.labels = tn_to_dtype(tn_load_idx(path), TN_I64);
    return d;
}

int main(int argc, char **argv) {
    shared_weights *memory =
        mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double seconds[PROCESSES + 1] = {0}, least = 100;
    if (memory == MAP_FAILED) return perror("mmap"), 1;
    TN_SCOPE {
        const digits all = digits_load(argc > 1 ? argv[1] : "examples/fashion/digits");
        const int64_t n = tn_ok() ? tn_size(all.images, 0) : 0;
        const digits seen = digits_part(&all, 0, n * 4 / 5);
        const digits unseen = digits_part(&all, n * 4 / 5, n - n * 4 / 5);
        for (int processes = 1; processes <= PROCESSES && tn_ok(); processes++) {
            tn_tensor *w[WEIGHTS];
            tn_manual_seed(1);
            weights_new(w, memory);
            seconds[processes] = train(&seen, w, processes);
            const double right = percent_right(&unseen, w);
            if (right < least) least = right;
            printf("%d x %d steps: %.2f s, %.1f %% right\n", processes, STEPS / processes,
                   seconds[processes], right);
            for (int i = 0; i < WEIGHTS; i++) tn_free(w[i]);
        }
    }
    if (tn_ok()) printf("two processes are %.2f times as fast as one\n", seconds[1] / seconds[2]);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    munmap(memory, sizeof *memory);
    return failed || least < 85;
}
