/* dqn.c - learns to balance a pole on a cart by trying, from nothing but when it fell.
 *
 * A network tells how much reward follows each of two pushes. The cart takes the better one, or at
 * first often any one, and remembers what came of it; from moments of its memory the network learns
 * that an action is worth its reward plus what the next state is worth to a slow copy of itself
 * (V. Mnih et al., Human-level control through deep reinforcement learning, 2015).
 * examples/python/dqn.py is the same program and prints the same figures.
 *
 *     cc -O2 -I. examples/dqn.c -o dqn -lm -pthread && ./dqn */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 24000, FIRST = 500, BATCH = 128, HIDDEN = 64, LONGEST = 500, REPORT = 2000 };

/* --- the cart and its pole -------------------------------------------------------------------- */

typedef struct cart {
    double place, speed, angle, turn; /* m, m/s, rad, rad/s */
} cart;

static cart cart_start(void) {
    cart c = {0};
    TN_SCOPE {
        tn_tensor *t = tn_uniform_(tn_empty(TN_DIMS(4)), .from = -0.05, .to = 0.05);
        const float *at = (const float *)tn_data(t);
        if (at) c = (cart){at[0], at[1], at[2], at[3]};
    }
    return c;
}
/* A fiftieth of a second with a push of 10 N to the right or left: the equations of A. Barto,
 * R. Sutton and C. Anderson, 1983. False once the pole has fallen or the cart is off its track. */
static bool cart_move(cart *c, bool right) {
    const double gravity = 9.8, pole = 0.1, total = 1.1, half = 0.5, time = 0.02;
    const double sine = sin(c->angle), cosine = cos(c->angle);
    const double push = ((right ? 10 : -10) + pole * half * c->turn * c->turn * sine) / total;
    const double swing =
        (gravity * sine - cosine * push) / (half * (4.0 / 3 - pole * cosine * cosine / total));
    c->place += time * c->speed;
    c->speed += time * (push - pole * half * swing * cosine / total);
    c->angle += time * c->turn;
    c->turn += time * swing;
    return fabs(c->place) < 2.4 && fabs(c->angle) < 0.21;
}
static void cart_look(const cart *c, float *seen) {
    seen[0] = (float)c->place;
    seen[1] = (float)c->speed;
    seen[2] = (float)c->angle;
    seen[3] = (float)c->turn;
}
static void cart_draw(const cart *c) {
    char line[] = "[                                                 ]";
    char *at = line + 25 + lrint(9 * c->place); /* the track has 5 m */
    at[-1] = at[1] = '=';
    at[0] = c->angle > 0.02 ? '/' : c->angle < -0.02 ? '\\' : '|';
    puts(line);
}

/* --- what it remembers ------------------------------------------------------------------------ */

static struct {
    float before[STEPS][4], after[STEPS][4], alive[STEPS];
    int64_t action[STEPS];
} memory;

/* --- learning --------------------------------------------------------------------------------- */

static tn_module *net_new(void) {
    return tn_sequential(tn_nn_linear(4, HIDDEN), tn_nn_relu(), tn_nn_linear(HIDDEN, HIDDEN),
                         tn_nn_relu(), tn_nn_linear(HIDDEN, 2));
}
static int best(tn_module *net, const cart *c) {
    int action = 0;
    float seen[4];
    cart_look(c, seen);
    tn_inference_mode
        TN_SCOPE
            action = (int)tn_item_int(tn_argmax(tn_forward(net, tn_from_f32(seen, TN_DIMS(4)))));
    return action;
}
/* The better action, or by chance any: at first always, later one in fifty. */
static int choose(tn_module *net, const cart *c, int step) {
    const double any = fmax(0.02, 1 - step / 3000.0);
    if (tn_item(tn_rand(TN_DIMS(1))) < any) return (int)tn_item_int(tn_randint(2, TN_DIMS(1)));
    return best(net, c);
}
/* Moves the cart and remembers what came of it. False once it has fallen. */
static bool live(tn_module *net, cart *c, int step) {
    const int action = choose(net, c, step);
    cart_look(c, memory.before[step]);
    const bool alive = cart_move(c, action);
    cart_look(c, memory.after[step]);
    memory.action[step] = action;
    memory.alive[step] = alive;
    return alive;
}
/* How far the network's word is from the truth at remembered moments: a step gives 0.01, and what
 * follows counts 0.99, so that a pole which never falls is worth 1. */
static tn_tensor *loss_of(tn_module *net, tn_module *slow, int remembered) {
    tn_tensor *before = tn_wrap(memory.before, TN_DIMS(STEPS, 4), TN_F32, NULL);
    tn_tensor *after = tn_wrap(memory.after, TN_DIMS(STEPS, 4), TN_F32, NULL);
    tn_tensor *alive = tn_wrap(memory.alive, TN_DIMS(STEPS), TN_F32, NULL);
    tn_tensor *action = tn_wrap(memory.action, TN_DIMS(STEPS, 1), TN_I64, NULL);
    tn_tensor *at = tn_randint(remembered, TN_DIMS(BATCH)), *goal = NULL;
    tn_no_grad {
        tn_tensor *worth =
            tn_amax(tn_forward(slow, tn_index_select(after, 0, at)), .dim = TN_DIMS(1));
        goal = tn_mul_scalar(tn_mul(worth, tn_index_select(alive, 0, at)), 0.99);
        goal = tn_add_scalar(goal, 0.01);
    }
    tn_tensor *said = tn_forward(net, tn_index_select(before, 0, at));
    said = tn_squeeze_dim(tn_gather(said, 1, tn_index_select(action, 0, at)), 1);
    return tn_smooth_l1_loss(said, goal);
}

/* The mean length of the episodes of the last report. */
static double learn(tn_module *net) {
    tn_module *slow = tn_module_copy(net);
    tn_optimizer *opt = tn_optim_adam(tn_parameters(net), .lr = 5e-4);
    cart c = cart_start();
    int length = 0, episodes = 0, lengths = 0;
    double mean = 0;
    for (int step = 0; step < STEPS && tn_ok(); step++)
        TN_SCOPE {
            const bool alive = live(net, &c, step);
            length++;
            if (!alive || length == LONGEST) {
                episodes++;
                lengths += length;
                length = 0;
                c = cart_start();
            }
            if (step >= FIRST) {
                tn_tensor *loss = loss_of(net, slow, step + 1);
                tn_optimizer_zero_grad(opt);
                tn_backward(loss);
                tn_optimizer_step(opt);
                tn_module_copy_from(slow, net, 0.005);
            }
            if ((step + 1) % REPORT == 0) {
                mean = episodes ? (double)lengths / episodes : length;
                printf("step %5d  %3d episodes of %5.1f steps\n", step + 1, episodes, mean);
                episodes = lengths = 0;
            }
        }
    tn_optimizer_free(opt);
    tn_module_free(slow);
    return mean;
}

/* An episode from a pole that leans by 9 degrees, without chance: its length. */
static int play(tn_module *net) {
    cart c = {0, 0, 0.16, 0};
    int length = 0;
    for (bool alive = true; alive && length < LONGEST && tn_ok(); length++) {
        if (length < 120 && length % 10 == 0) cart_draw(&c);
        alive = cart_move(&c, best(net, &c));
    }
    return length;
}

int main(void) {
    tn_manual_seed(1);
    tn_module *net = net_new();
    const double mean = learn(net);
    const int length = play(net);
    printf("caught: the leaning pole stays up for %d steps of at most %d\n", length, LONGEST);
    tn_module_free(net);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    return failed || mean < 100;
}
