/* game.c - evaluates a network in every frame of a game, on the game's own allocator and job system
 * and without an allocation a frame.
 *
 * A thousand creatures feel where their food is and turn as the network says. The library takes its
 * memory from the game and runs its work on the game's job system. After the first frames it asks
 * for no more memory; the program counts the requests to show it.
 *
 *     cc -O2 -I. examples/game.c -o game -lm -pthread && ./game */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CREATURES = 1000, FRAMES = 120 };

static long allocations, jobs;

static void *game_alloc(size_t bytes, void *user) {
    (void)user;
    allocations++;
    return malloc(bytes);
}
static void game_free(void *at, size_t bytes, void *user) {
    (void)bytes;
    (void)user;
    free(at);
}
/* The game's job system; this one simply runs one job after the other. */
static void game_run(void (*task)(void *arg, int64_t i), void *arg, int64_t count, void *user) {
    (void)user;
    jobs += (long)count;
    for (int64_t i = 0; i < count; i++) task(arg, i);
}

static float state[CREATURES][4]; /* x, y, direction of the food */
static float place[CREATURES][2];

static void sense(void) {
    for (int i = 0; i < CREATURES; i++) {
        state[i][0] = place[i][0], state[i][1] = place[i][1];
        state[i][2] = -place[i][0], state[i][3] = -place[i][1]; /* the food is at the origin */
    }
}

/* One frame: sense, think, move. False on an error. */
static bool frame(tn_module *brain, tn_tensor *input) {
    bool ok = false;
    TN_SCOPE {
        sense();
        tn_touch(input); /* its memory was written directly */
        tn_tensor *turn = tn_forward(brain, input);
        const float *move = (const float *)tn_data(turn);
        for (int i = 0; move && i < CREATURES; i++)
            for (int d = 0; d < 2; d++)
                place[i][d] += 0.05f * (move[2 * i + d] - 0.5f * place[i][d]);
        ok = move != NULL;
    }
    return ok;
}

int main(void) {
    tn_context_options o = {0};
    o.allocator.alloc = game_alloc;
    o.allocator.free = game_free;
    o.jobs.run = game_run;
    o.jobs.threads = 2; /* the library splits work for so many */
    tn_context *game = tn_context_new(&o);
    tn_context_use(game);
    tn_set_inference_mode(true);
    tn_manual_seed(5);
    tn_module *brain =
        tn_sequential(tn_nn_linear(4, 32), tn_nn_tanh(), tn_nn_linear(32, 2), tn_nn_tanh());
    tn_tensor *input = tn_wrap(state, TN_DIMS(CREATURES, 4), TN_F32, NULL);
    long before = 0;
    bool ok = true;
    for (int i = 0; i < CREATURES; i++) place[i][0] = (float)sin(i), place[i][1] = (float)cos(i);
    for (int f = 0; f < FRAMES && ok; f++) {
        if (f == 3) before = allocations;
        ok = frame(brain, input);
    }
    printf("%d frames, %ld jobs; allocations after the third frame: %ld\n", FRAMES, jobs,
           allocations - before);
    ok = ok && allocations == before;
    tn_free(input);
    tn_module_free(brain);
    tn_error_print();
    tn_context_free(game);
    return ok ? 0 : 1;
}
