/* vae.c - learns digits without their labels, and then draws digits that nobody wrote.
 *
 * One network reads a picture and says which codes of four numbers it may have, as a middle and a
 * spread; another draws a picture from a code of these. That codes near 0 are cheap makes every
 * code near 0 a digit (D. Kingma and M. Welling, Auto-encoding variational Bayes, 2014).
 * examples/python/vae.py is the same program and prints the same figures.
 *
 *     cc -O2 -I. examples/vae.c -o vae -lm -pthread && ./vae */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <stdio.h>

enum {
    SIDE = 8,
    PIXELS = SIDE * SIDE,
    HIDDEN = 64,
    LATENT = 4,
    BATCH = 128,
    STEPS = 2000,
    SHOWN = 4
};

typedef struct vae {
    tn_module *all, *encode, *mu, *logvar, *decode; /* all: the others, for their parameters */
} vae;

static vae vae_new(void) {
    vae m;
    m.encode = tn_sequential(tn_nn_linear(PIXELS, HIDDEN), tn_nn_tanh());
    m.mu = tn_nn_linear(HIDDEN, LATENT);
    m.logvar = tn_nn_linear(HIDDEN, LATENT);
    m.decode =
        tn_sequential(tn_nn_linear(LATENT, HIDDEN), tn_nn_tanh(), tn_nn_linear(HIDDEN, PIXELS));
    m.all = tn_nn_module_list(TN_MODULES(m.encode, m.mu, m.logvar, m.decode));
    return m;
}

/* The loss of pictures (N, PIXELS) is the sum of how far they are from what their codes draw, and
 * how far the codes are from the normal distribution; each a mean over the pictures. */
typedef struct losses {
    tn_tensor *rebuilt, *code;
} losses;
static losses losses_of(const vae *m, tn_tensor *x) {
    const double n = (double)tn_size(x, 0);
    tn_tensor *h = tn_forward(m->encode, x);
    tn_tensor *mu = tn_forward(m->mu, h), *logvar = tn_forward(m->logvar, h);
    tn_tensor *spread = tn_exp(tn_mul_scalar(logvar, 0.5));
    tn_tensor *code = tn_add(mu, tn_mul(tn_randn_like(mu), spread));
    tn_tensor *drawn = tn_forward(m->decode, code);
    tn_tensor *apart = tn_binary_cross_entropy_with_logits(drawn, x, .reduction = TN_REDUCTION_SUM);
    tn_tensor *terms = tn_sub(tn_sub(tn_add_scalar(logvar, 1), tn_square(mu)), tn_exp(logvar));
    const losses l = {tn_div_scalar(apart, n),
                      tn_div_scalar(tn_mul_scalar(tn_sum(terms), -0.5), n)};
    return l;
}

static double learn(const vae *m, tn_tensor *pictures) {
    tn_optimizer *opt = tn_optim_adam(tn_parameters(m->all), .lr = 3e-3);
    double rebuilt = 0;
    for (int step = 1; step <= STEPS && tn_ok(); step++)
        TN_SCOPE {
            tn_tensor *some = tn_randint(tn_size(pictures, 0), TN_DIMS(BATCH));
            const losses l = losses_of(m, tn_index_select(pictures, 0, some));
            tn_optimizer_zero_grad(opt);
            tn_backward(tn_add(l.rebuilt, l.code));
            tn_optimizer_step(opt);
            rebuilt = tn_item(l.rebuilt);
            if (step <= 60 ? step % 20 == 0 : step % 500 == 0)
                printf("step %4d: rebuilt %.2f, code %.2f\n", step, rebuilt, tn_item(l.code));
        }
    tn_optimizer_free(opt);
    return rebuilt;
}

/* Prints pictures (n, PIXELS) of 0..1 side by side, two letters for a pixel. */
static void show(tn_tensor *pictures) {
    const int n = (int)tn_size(pictures, 0);
    const float *at = (const float *)tn_data(pictures);
    for (int y = 0; at && y < SIDE; y++, putchar('\n'))
        for (int i = 0; i < n; i++, printf("  "))
            for (int x = 0; x < SIDE; x++) {
                const char ink = " .:+*#%@"[(int)(7.99 * at[(i * SIDE + y) * SIDE + x])];
                printf("%c%c", ink, ink);
            }
}

/* Digits of drawn codes, and digits between the codes of two pictures. */
static void draw(const vae *m, tn_tensor *pictures) {
    tn_no_grad {
        puts("from codes that were drawn:");
        show(tn_sigmoid(tn_forward(m->decode, tn_randn(TN_DIMS(SHOWN, LATENT)))));
        puts("on the way from a 0 to a 1:");
        tn_tensor *two = tn_forward(m->mu, tn_forward(m->encode, tn_narrow(pictures, 0, 0, 2)));
        tn_tensor *way = tn_unsqueeze(tn_linspace(0, 1, SHOWN), 1);
        tn_tensor *code = tn_lerp(tn_narrow(two, 0, 0, 1), tn_narrow(two, 0, 1, 1), way);
        show(tn_sigmoid(tn_forward(m->decode, code)));
    }
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "examples/fashion/digits/images-idx3-ubyte";
    double rebuilt = 0;
    tn_manual_seed(3);
    const vae m = vae_new();
    TN_SCOPE {
        tn_tensor *bytes = tn_load_idx(path); /* (N, SIDE, SIDE), white is 16 */
        tn_tensor *pictures = tn_flatten(tn_div_scalar(bytes, 16), .start_dim = 1);
        rebuilt = learn(&m, pictures);
        if (tn_ok()) draw(&m, pictures);
    }
    tn_module_free(m.all);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    return failed || rebuilt > 25;
}
