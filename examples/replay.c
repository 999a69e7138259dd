/* replay.c - records one step of a small network and replays it 10,000 times on new input, without
 * an allocation.
 *
 * A controller reads eight sensors and sets two motors, thousands of times a second. Its shapes
 * never change, so the calls of one step are recorded: a replay runs their loops again on the same
 * tensors and skips what a call does otherwise, such as checking arguments and making results. The
 * program runs both ways on the same input, compares every bit, and prints how much faster the
 * replay was.
 *
 *     cc -O2 -I. examples/replay.c -o replay -lm -pthread && ./replay */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SENSORS = 8, MOTORS = 2, STEPS = 10000, WARM_UP = 3 };

static float sensor[SENSORS]; /* the memory of the network's input */
static float called[STEPS][MOTORS], replayed[STEPS][MOTORS];

static void sense(tn_tensor *input, int step) {
    for (int i = 0; i < SENSORS; i++) sensor[i] = (float)sin(0.01 * step * (i + 1));
    tn_touch(input); /* its memory was written directly */
}
static void drive(float *to, const tn_tensor *motors) {
    const float *from = (const float *)tn_data(motors);
    if (from) memcpy(to, from, MOTORS * sizeof *to);
}

/* Every call made anew, as any program makes them. Seconds. */
static double run_calls(tn_module *net, tn_tensor *input, int steps) {
    const double start = tn_now();
    for (int step = 0; step < steps; step++)
        TN_SCOPE {
            sense(input, step);
            drive(called[step], tn_forward(net, input));
        }
    return tn_now() - start;
}

/* The recorded calls again. In the block an allocation is an error. Seconds. */
static double run_replays(tn_recording *recording, tn_tensor *input, tn_tensor *motors) {
    const double start = tn_now();
    tn_expect_no_alloc {
        for (int step = 0; step < STEPS; step++) {
            sense(input, step);
            if (!tn_replay(recording)) return 0;
            drive(replayed[step], motors);
        }
    }
    return tn_now() - start;
}

int main(void) {
    tn_manual_seed(3);
    tn_set_inference_mode(true);
    tn_module *net = tn_sequential(tn_nn_linear(SENSORS, 32), tn_nn_tanh(), tn_nn_linear(32, 32),
                                   tn_nn_tanh(), tn_nn_linear(32, MOTORS));
    tn_tensor *input = tn_wrap(sensor, TN_DIMS(SENSORS), TN_F32, NULL), *motors = NULL;
    run_calls(net, input, WARM_UP);

    /* The recording keeps every tensor of the step; the program keeps the result to read it. */
    tn_record_begin();
    TN_SCOPE {
        motors = tn_keep(tn_forward(net, input));
    }
    tn_recording *recording = tn_record_end();

    const long long before = tn_memory().allocations;
    const double replays = run_replays(recording, input, motors);
    const long long allocations = tn_memory().allocations - before;
    const double calls = run_calls(net, input, STEPS);
    const bool same = memcmp(called, replayed, sizeof called) == 0;
    printf("%d steps, allocations while replaying: %lld\n", STEPS, allocations);
    printf("calls and replays: %s\n", same ? "the same bits" : "DIFFERENT");
    if (replays > 0) printf("a replay is %.2f times as fast as the calls\n", calls / replays);

    tn_recording_free(recording);
    tn_free(motors);
    tn_free(input);
    tn_module_free(net);
    const bool ok = tn_ok() && same && allocations == 0;
    return tn_error_print() || !ok;
}
